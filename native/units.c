/* Maps of units for Python: arrays, checked, to a table in a capsule, which many readers may look at. */

#include "given.h"
#include "units.h"

#include <stdlib.h>

static const char *const NAME = "lexirecall._native.units";

enum { NUM_MAPPED = 7 };
enum { QUERY_IDS, QUERY_BORDERS, DOCUMENT_IDS, DOCUMENT_BORDERS, OWNERS, OFFSETS, UNITS };

static void table_free_capsule(PyObject *capsule)
{
    UnitTable *table = PyCapsule_GetPointer(capsule, NAME);
    units_free(table);
    free(table);
}

static size_t num_words(const Py_buffer *view)
{
    return (size_t)view->len / sizeof(int64_t);
}

/* Whether the arrays have lengths that belong together, and ascend where they must. */
static int fits(const Py_buffer *views)
{
    for (int i = 0; i < NUM_MAPPED; i++)
        if (i != QUERY_IDS && i != DOCUMENT_IDS &&
            ((uintptr_t)views[i].buf % sizeof(int64_t) || (size_t)views[i].len % sizeof(int64_t)))
            return refuse("an array does not hold whole words");
    size_t num_documents = num_words(&views[OWNERS]), num_queries = num_words(&views[QUERY_BORDERS]);
    if (!num_queries || num_words(&views[DOCUMENT_BORDERS]) != num_documents + 1 || num_words(&views[OFFSETS]) != num_documents + 1)
        return refuse("the arrays of the map do not have the same length");
    if (!are_borders(views[QUERY_BORDERS].buf, num_queries, views[QUERY_IDS].len) ||
        !are_borders(views[DOCUMENT_BORDERS].buf, num_documents + 1, views[DOCUMENT_IDS].len) ||
        !are_borders(views[OFFSETS].buf, num_documents + 1, (int64_t)num_words(&views[UNITS])))
        return refuse("the borders of the map do not ascend");
    return 1;
}

static Field id_between(const Py_buffer *ids, const Py_buffer *borders, size_t number)
{
    const int64_t *border = (const int64_t *)borders->buf + number;
    return (Field){(const char *)ids->buf + border[0], (size_t)(border[1] - border[0])};
}

static UnitsPut fill(UnitTable *table, const Py_buffer *views, uint64_t key)
{
    size_t num_documents = num_words(&views[OWNERS]), num_queries = num_words(&views[QUERY_BORDERS]) - 1;
    const int64_t *owners = views[OWNERS].buf, *offsets = views[OFFSETS].buf, *units = views[UNITS].buf;
    if (!units_clear(table, key, num_queries, num_documents))
        return UNITS_NO_MEMORY;
    for (size_t q = 0; q < num_queries; q++) {
        Field id = id_between(&views[QUERY_IDS], &views[QUERY_BORDERS], q);
        int64_t put = ids_put(&table->queries, id.start, id.length);
        if (put != (int64_t)q)
            return put < 0 ? UNITS_NO_MEMORY : UNITS_AGAIN;
    }
    for (size_t i = 0; i < num_documents; i++) {
        Field document = id_between(&views[DOCUMENT_IDS], &views[DOCUMENT_BORDERS], i);
        UnitsPut put = units_put(table, owners[i], document, units + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
        if (put != UNITS_PUT)
            return put;
    }
    return UNITS_PUT;
}

static PyObject *table_of(const Py_buffer *views, uint64_t key)
{
    UnitTable *table = calloc(1, sizeof *table);
    PyObject *capsule = table ? PyCapsule_New(table, NAME, table_free_capsule) : NULL;
    UnitsPut put;
    if (!capsule) {
        free(table);
        return table ? NULL : PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    put = fill(table, views, key);
    Py_END_ALLOW_THREADS
    if (put == UNITS_PUT)
        return capsule;
    Py_DECREF(capsule);
    if (put == UNITS_NO_MEMORY)
        return PyErr_NoMemory();
    refuse("a document or a query is in the map twice");
    return NULL;
}

PyObject *native_new_units(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *s[NUM_MAPPED], *capsule = NULL;
    Py_buffer views[NUM_MAPPED];
    unsigned long long key;
    int num_views = 0;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOK", &s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &s[6], &key))
        return NULL;
    while (num_views < NUM_MAPPED && PyObject_GetBuffer(s[num_views], &views[num_views], PyBUF_SIMPLE) == 0)
        num_views++;
    if (num_views == NUM_MAPPED && fits(views))
        capsule = table_of(views, key);
    while (num_views)
        PyBuffer_Release(&views[--num_views]);
    return capsule;
}

int units_given(PyObject *source, const UnitTable **table)
{
    *table = source == Py_None ? NULL : PyCapsule_GetPointer(source, NAME);
    return source == Py_None || *table;
}

/* Tables for Python: a reader of runs or of judgments in a capsule, which is fed with streams of Arrow. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "arrow.h"
#include "tables.h"

#include <stdlib.h>

enum { NUM_VIEWS = 7 };

/* Either a reader of runs, or one of judgments; and what they look at. */
typedef struct {
    TableReader *reader;
    JudgmentTable judgments;
    PyObject *arguments; /* with the names of columns */
    Py_buffer views[NUM_VIEWS];
    int num_views;
    int is_busy; /* another thread feeds it */
} Handle;

static const char *const NAME = "lexirecall._native.table";

static void handle_free(PyObject *capsule)
{
    Handle *handle = PyCapsule_GetPointer(capsule, NAME);
    if (handle->reader)
        table_free(handle->reader);
    if (handle->judgments.reader)
        judgments_free(handle->judgments.reader);
    for (int i = 0; i < handle->num_views; i++)
        PyBuffer_Release(&handle->views[i]);
    Py_DECREF(handle->arguments);
    free(handle);
}

static size_t count_in(const Handle *handle, int view)
{
    return (size_t)handle->views[view].len / sizeof(int64_t);
}

/* Whether these are offsets: from 0, never descending, so many, and the last is the end. */
static int are_offsets(const int64_t *offsets, size_t count, size_t wanted, size_t end)
{
    if (count != wanted || offsets[0] != 0 || offsets[count - 1] < 0 || (size_t)offsets[count - 1] != end)
        return 0;
    for (size_t i = 1; i < count; i++)
        if (offsets[i] < offsets[i - 1])
            return 0;
    return 1;
}

/* Whether the arrays of judgments fit each other. */
static int judgments_fit(const Handle *handle, const Judged *judged)
{
    size_t num_requests = judged->num_requests, num_items = count_in(handle, 6);
    if (!are_offsets(judged->request_borders, count_in(handle, 1), num_requests + 1, (size_t)handle->views[0].len) ||
        !are_offsets(judged->offsets, count_in(handle, 2), num_requests + 1, num_items) ||
        !are_offsets(judged->item_borders, count_in(handle, 5), num_items + 1, (size_t)handle->views[4].len))
        return 0;
    for (size_t q = 0; q < num_requests; q++)
        if (judged->num_tracked[q] < 0 || judged->num_tracked[q] > judged->offsets[q + 1] - judged->offsets[q])
            return 0;
    return 1;
}

static int look_at(Handle *handle, PyObject *const *sources, Judged *judged)
{
    for (int i = 0; i < NUM_VIEWS; i++) {
        if (PyObject_GetBuffer(sources[i], &handle->views[i], PyBUF_SIMPLE) < 0)
            return 0;
        handle->num_views++;
    }
    *judged = (Judged){
        .num_requests = count_in(handle, 3),
        .request_ids = handle->views[0].buf,
        .request_borders = handle->views[1].buf,
        .offsets = handle->views[2].buf,
        .num_tracked = handle->views[3].buf,
        .item_ids = handle->views[4].buf,
        .item_borders = handle->views[5].buf,
        .grades = handle->views[6].buf,
    };
    if (judgments_fit(handle, judged))
        return 1;
    PyErr_SetString(PyExc_ValueError, "the arrays of judgments do not fit each other");
    return 0;
}

static PyObject *handle_new(Handle **handle, PyObject *arguments)
{
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        return PyErr_NoMemory();
    (*handle)->arguments = Py_NewRef(arguments);
    PyObject *capsule = PyCapsule_New(*handle, NAME, handle_free);
    if (!capsule) {
        Py_DECREF(arguments);
        free(*handle);
    }
    return capsule;
}

/* The capsule if there is a reader in it; otherwise nothing, and an error. */
static PyObject *made(PyObject *capsule, int is_made)
{
    if (is_made)
        return capsule;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    Py_DECREF(capsule);
    return NULL;
}

PyObject *native_new_table(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *s[NUM_VIEWS];
    Judged judged;
    TableSettings settings = {0};
    unsigned long long key;
    int ties;
    const char **names = settings.names;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOKippzsss", &s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &s[6], &key, &ties,
                          &settings.float32, &settings.is_rank, &names[SYSTEM], &names[REQUEST], &names[ITEM],
                          &names[NUMBER]))
        return NULL;
    settings.key = key;
    settings.ties = (TieRule)ties;
    Handle *handle;
    PyObject *capsule = handle_new(&handle, arguments);
    if (!capsule)
        return NULL;
    if (look_at(handle, s, &judged))
        handle->reader = table_new(&judged, &settings);
    return made(capsule, handle->reader != NULL);
}

PyObject *native_new_judgment_table(PyObject *module, PyObject *arguments)
{
    (void)module;
    JudgmentTable table = {0};
    unsigned long long key;
    const char **names = table.names;
    if (!PyArg_ParseTuple(arguments, "Kpssz", &key, &table.whole_only, &names[REQUEST], &names[ITEM], &names[NUMBER]))
        return NULL;
    Handle *handle;
    PyObject *capsule = handle_new(&handle, arguments);
    if (!capsule)
        return NULL;
    handle->judgments = table;
    handle->judgments.reader = judgments_new(&(Settings){.key = key});
    return made(capsule, handle->judgments.reader != NULL);
}

/* The handle in a capsule, if nobody else uses it now. */
static Handle *handle_of(PyObject *capsule)
{
    Handle *handle = PyCapsule_GetPointer(capsule, NAME);
    if (!handle || !handle->is_busy)
        return handle;
    PyErr_SetString(PyExc_RuntimeError, "the table is being read by another thread");
    return NULL;
}

static PyObject *status_of(Status status)
{
    return status == READ_NO_MEMORY ? PyErr_NoMemory() : PyLong_FromLong(status);
}

PyObject *native_feed_table(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *table, *given;
    Status status;
    if (!PyArg_ParseTuple(arguments, "OO", &table, &given))
        return NULL;
    Handle *handle = handle_of(table);
    struct ArrowArrayStream *stream = handle ? PyCapsule_GetPointer(given, "arrow_array_stream") : NULL;
    if (!stream)
        return NULL;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the stream has been used up");
        return NULL;
    }
    handle->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS
    status = handle->reader ? table_feed(handle->reader, stream) : judgment_table_feed(&handle->judgments, stream);
    Py_END_ALLOW_THREADS
    handle->is_busy = 0;
    return status_of(status);
}

PyObject *native_finish_table(PyObject *module, PyObject *table)
{
    (void)module;
    Status status;
    Handle *handle = handle_of(table);
    if (!handle)
        return NULL;
    handle->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS
    status = handle->reader ? table_finish(handle->reader) : judgments_finish(handle->judgments.reader);
    Py_END_ALLOW_THREADS
    handle->is_busy = 0;
    return status_of(status);
}

static PyObject *bytes_of(const Buffer *buffer)
{
    return PyBytes_FromStringAndSize(buffer->data ? buffer->data : "", (Py_ssize_t)buffer->used);
}

static PyObject *names_of(const IdSet *systems)
{
    PyObject *names = PyList_New((Py_ssize_t)systems->count);
    for (size_t i = 0; names && i < systems->count; i++) {
        size_t length;
        const char *id = id_of(systems, i, &length);
        PyObject *name = PyUnicode_DecodeUTF8(id, (Py_ssize_t)length, NULL);
        if (!name || PyList_SetItem(names, (Py_ssize_t)i, name) < 0) {
            Py_DECREF(names);
            return NULL;
        }
    }
    return names;
}

/* The same, if it reads what is asked for: runs, or judgments. */
static Handle *handle_reading(PyObject *table, int reads_runs)
{
    Handle *handle = handle_of(table);
    if (!handle || (handle->reader != NULL) == reads_runs)
        return handle;
    PyErr_SetString(PyExc_TypeError, reads_runs ? "this is a table of judgments" : "this is a table of runs");
    return NULL;
}

PyObject *native_table(PyObject *module, PyObject *table)
{
    (void)module;
    Handle *handle = handle_reading(table, 1);
    if (!handle)
        return NULL;
    const TableResult *result = table_result(handle->reader);
    return Py_BuildValue("NNNNL", names_of(&result->systems), bytes_of(&result->found),
                         bytes_of(&result->num_retrieved), bytes_of(&result->num_unjudged),
                         (long long)result->num_rows);
}

PyObject *native_judgment_table(PyObject *module, PyObject *table)
{
    (void)module;
    Handle *handle = handle_reading(table, 0);
    if (!handle)
        return NULL;
    const Judgments *result = judgments_result(handle->judgments.reader);
    return Py_BuildValue("NNNNNNNLL", bytes_of(&result->request_ids), bytes_of(&result->request_borders),
                         bytes_of(&result->offsets), bytes_of(&result->num_positive), bytes_of(&result->item_ids),
                         bytes_of(&result->item_borders), bytes_of(&result->grades), (long long)result->num_repeated,
                         (long long)handle->judgments.num_rows);
}

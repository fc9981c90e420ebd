/* Tables for Python: a reader of runs or of judgments in a capsule, which is fed with streams of Arrow. */

#include "arrow.h"
#include "given.h"
#include "tables.h"

#include <stdlib.h>

/* Either a reader of runs, or one of judgments; and what they look at. */
typedef struct {
    TableReader *reader;
    JudgmentTable judgments;
    PyObject *arguments; /* with the names of columns */
    GivenJudgments given;
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
    judgments_release(&handle->given);
    Py_DECREF(handle->arguments);
    free(handle);
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

PyObject *native_new_table(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *s[NUM_JUDGED];
    TableSettings settings = {0};
    unsigned long long key;
    int ties;
    const char **names = settings.names;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOKippzsss", &s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &s[6], &s[7], &key, &ties,
                          &settings.float32, &settings.is_rank, &names[RUN], &names[QUERY], &names[DOCUMENT],
                          &names[NUMBER]))
        return NULL;
    if (!ties_given(ties, &settings.ties))
        return NULL;
    settings.key = key;
    Handle *handle;
    PyObject *capsule = handle_new(&handle, arguments);
    if (!capsule)
        return NULL;
    if (judgments_given(&handle->given, s))
        handle->reader = table_new(&handle->given.judged, &settings);
    return made(capsule, handle->reader != NULL);
}

PyObject *native_new_judgment_table(PyObject *module, PyObject *arguments)
{
    (void)module;
    JudgmentTable table = {0};
    unsigned long long key;
    const char **names = table.names;
    if (!PyArg_ParseTuple(arguments, "Kpssz", &key, &table.whole_only, &names[QUERY], &names[DOCUMENT], &names[NUMBER]))
        return NULL;
    Handle *handle;
    PyObject *capsule = handle_new(&handle, arguments);
    if (!capsule)
        return NULL;
    handle->judgments = table;
    handle->judgments.reader = judgments_new(&(Settings){.key = key});
    return made(capsule, handle->judgments.reader != NULL);
}

/* The handle in a capsule, if nobody else uses it now; end_use says that it is free again. */
static Handle *handle_of(PyObject *capsule)
{
    Handle *handle = PyCapsule_GetPointer(capsule, NAME);
    return handle && begin_use(capsule, &handle->is_busy) ? handle : NULL;
}

/* The same, if it reads what is asked for: runs, or judgments. */
static Handle *handle_reading(PyObject *table, int reads_runs)
{
    Handle *handle = handle_of(table);
    if (!handle || (handle->reader != NULL) == reads_runs)
        return handle;
    end_use(table, &handle->is_busy);
    PyErr_SetString(PyExc_TypeError, reads_runs ? "this is a table of judgments" : "this is a table of runs");
    return NULL;
}

PyObject *native_feed_table(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *table, *given;
    Status status;
    if (!PyArg_ParseTuple(arguments, "OO", &table, &given))
        return NULL;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(given, "arrow_array_stream");
    if (!stream)
        return NULL;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the stream has been used up");
        return NULL;
    }
    Handle *handle = handle_of(table);
    if (!handle)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = handle->reader ? table_feed(handle->reader, stream) : judgment_table_feed(&handle->judgments, stream);
    Py_END_ALLOW_THREADS
    end_use(table, &handle->is_busy);
    return status_of(status);
}

PyObject *native_finish_table(PyObject *module, PyObject *table)
{
    (void)module;
    Status status;
    Handle *handle = handle_of(table);
    if (!handle)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = handle->reader ? table_finish(handle->reader) : judgments_finish(handle->judgments.reader);
    Py_END_ALLOW_THREADS
    end_use(table, &handle->is_busy);
    return status_of(status);
}

PyObject *native_forget_ranking(PyObject *module, PyObject *table)
{
    (void)module;
    Handle *handle = handle_reading(table, 1);
    if (!handle)
        return NULL;
    int64_t row = table_forget(handle->reader);
    end_use(table, &handle->is_busy);
    return PyLong_FromLongLong((long long)row);
}

PyObject *native_repeated_rows(PyObject *module, PyObject *table)
{
    (void)module;
    Handle *handle = handle_reading(table, 1);
    if (!handle)
        return NULL;
    PyObject *rows = as_bytes(&table_result(handle->reader)->repeated);
    if (rows)
        table_take_repeated(handle->reader);
    end_use(table, &handle->is_busy);
    return rows;
}

static PyObject *names_of(const IdSet *runs)
{
    PyObject *names = PyList_New((Py_ssize_t)runs->count);
    for (size_t i = 0; names && i < runs->count; i++) {
        size_t length;
        const char *id = id_of(runs, i, &length);
        PyObject *name = PyUnicode_DecodeUTF8(id, (Py_ssize_t)length, NULL);
        if (!name || PyList_SetItem(names, (Py_ssize_t)i, name) < 0) {
            Py_DECREF(names);
            return NULL;
        }
    }
    return names;
}

PyObject *native_table(PyObject *module, PyObject *table)
{
    (void)module;
    Handle *handle = handle_reading(table, 1);
    if (!handle)
        return NULL;
    const TableResult *result = table_result(handle->reader);
    PyObject *given =
        Py_BuildValue("NNNNL", names_of(&result->runs), as_bytes(&result->found), as_bytes(&result->num_retrieved),
                      as_bytes(&result->num_unjudged), (long long)result->num_rows);
    end_use(table, &handle->is_busy);
    return given;
}

PyObject *native_judgment_table(PyObject *module, PyObject *table)
{
    (void)module;
    Handle *handle = handle_reading(table, 0);
    if (!handle)
        return NULL;
    const Judgments *result = judgments_result(handle->judgments.reader);
    PyObject *given =
        Py_BuildValue("NNNNNNNLL", as_bytes(&result->query_ids), as_bytes(&result->query_borders),
                      as_bytes(&result->offsets), as_bytes(&result->num_positive), as_bytes(&result->document_ids),
                      as_bytes(&result->document_borders), as_bytes(&result->grades), (long long)result->num_repeated,
                      (long long)handle->judgments.num_rows);
    end_use(table, &handle->is_busy);
    return given;
}

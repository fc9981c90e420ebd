/* The Python module lexirecall._native: buffers in, bytes out. Written for the stable interface of CPython 3.11;
 * for free-threaded interpreters, which do not have it, the same is built with the interface of their version. */

#include "dicts.h"
#include "given.h"
#include "matrices.h"
#include "reader.h"
#include "statistics.h"
#include "tables.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* A reader of a run or of judgments, what it looks at, and the thread state that lets it ask Python for a number. */
typedef struct {
    Reader *reader;
    JudgmentReader *judgments;
    GivenJudgments given;
    Py_buffer powers;
    PyThreadState *thread;
    int is_busy; /* another thread uses it */
} Handle;

static const char *const NAME = "lexirecall._native.reader";

static void handle_free(PyObject *capsule)
{
    Handle *handle = PyCapsule_GetPointer(capsule, NAME);
    if (handle->reader)
        reader_free(handle->reader);
    if (handle->judgments)
        judgments_free(handle->judgments);
    judgments_release(&handle->given);
    PyBuffer_Release(&handle->powers);
    free(handle);
}

/* A number as text.number_of reads it: inf, and the rare decimals that need many digits; no underscores. */
static int python_number(void *context, const char *text, size_t length, double *value)
{
    Handle *handle = context;
    if (memchr(text, '_', length))
        return 0;
    PyEval_RestoreThread(handle->thread);
    PyObject *bytes = PyBytes_FromStringAndSize(text, (Py_ssize_t)length);
    PyObject *number = bytes ? PyFloat_FromString(bytes) : NULL;
    if (number)
        *value = PyFloat_AsDouble(number);
    int is_number = number != NULL;
    PyErr_Clear();
    Py_XDECREF(number);
    Py_XDECREF(bytes);
    handle->thread = PyEval_SaveThread();
    return is_number;
}

static int look_at_powers(Handle *handle, PyObject *source, Settings *settings)
{
    if (PyObject_GetBuffer(source, &handle->powers, PyBUF_SIMPLE) < 0)
        return 0;
    settings->powers = handle->powers.buf;
    return 1;
}

static PyObject *handle_new(Handle **handle)
{
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(*handle, NAME, handle_free);
    if (!capsule)
        free(*handle);
    return capsule;
}

PyDoc_STRVAR(new_run_doc, "new_run(query_ids, query_borders, offsets, num_tracked, document_ids, document_borders, grades,\n"
                          "    units, powers, key, ties, float32, strict, longest_line, careful, finder)\n\nReturn a reader of one run.");

static PyObject *native_new_run(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *sources[NUM_JUDGED], *powers;
    Settings settings = {.slow_number = python_number};
    unsigned long long key;
    int ties;
    Py_ssize_t longest_line;
    const char *finder;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOOKippnpz", &sources[0], &sources[1], &sources[2], &sources[3], &sources[4],
                          &sources[5], &sources[6], &sources[7], &powers, &key, &ties, &settings.float32, &settings.strict,
                          &longest_line, &settings.careful, &finder))
        return NULL;
    if (!(settings.find_blanks = blank_finder(finder)))
        return PyErr_Format(PyExc_ValueError, "this machine has no finder %s", finder);
    if (!ties_given(ties, &settings.ties))
        return NULL;
    Handle *handle;
    PyObject *capsule = handle_new(&handle);
    if (!capsule)
        return NULL;
    settings.key = key;
    settings.longest_line = (size_t)longest_line;
    settings.context = handle;
    if (judgments_given(&handle->given, sources) && look_at_powers(handle, powers, &settings))
        handle->reader = reader_new(&handle->given.judged, &settings);
    return made(capsule, handle->reader != NULL);
}

PyDoc_STRVAR(new_judgments_doc, "new_judgments(powers, key, longest_line)\n\nReturn a reader of judgments.");

static PyObject *native_new_judgments(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *powers;
    Settings settings = {.slow_number = python_number};
    unsigned long long key;
    Py_ssize_t longest_line;
    if (!PyArg_ParseTuple(arguments, "OKn", &powers, &key, &longest_line))
        return NULL;
    Handle *handle;
    PyObject *capsule = handle_new(&handle);
    if (!capsule)
        return NULL;
    settings.key = key;
    settings.longest_line = (size_t)longest_line;
    settings.context = handle;
    if (look_at_powers(handle, powers, &settings))
        handle->judgments = judgments_new(&settings);
    return made(capsule, handle->judgments != NULL);
}

/* The handle in a capsule, if nobody else uses it now; end_use says that it is free again. */
static Handle *handle_in(PyObject *capsule)
{
    Handle *handle = PyCapsule_GetPointer(capsule, NAME);
    return handle && begin_use(capsule, &handle->is_busy) ? handle : NULL;
}

PyDoc_STRVAR(feed_doc, "feed(reader, block)\n\nTake the next block; return 0, or why reading has stopped.");

static PyObject *native_feed(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    Py_buffer block;
    if (!PyArg_ParseTuple(arguments, "Oy*", &capsule, &block))
        return NULL;
    Handle *handle = handle_in(capsule);
    PyObject *result = NULL;
    if (handle) {
        handle->thread = PyEval_SaveThread();
        Status status = handle->reader ? reader_feed(handle->reader, block.buf, (size_t)block.len)
                                       : judgments_feed(handle->judgments, block.buf, (size_t)block.len);
        PyEval_RestoreThread(handle->thread);
        end_use(capsule, &handle->is_busy);
        result = status_of(status);
    }
    PyBuffer_Release(&block);
    return result;
}

PyDoc_STRVAR(finish_doc, "finish(reader)\n\nSay that there is no more; return 0, or why reading has stopped.");

static PyObject *native_finish(PyObject *module, PyObject *capsule)
{
    (void)module;
    Handle *handle = handle_in(capsule);
    if (!handle)
        return NULL;
    handle->thread = PyEval_SaveThread();
    Status status = handle->reader ? reader_finish(handle->reader) : judgments_finish(handle->judgments);
    PyEval_RestoreThread(handle->thread);
    end_use(capsule, &handle->is_busy);
    return status_of(status);
}

/* The same, if it reads what is asked for: a run, or judgments. */
static Handle *handle_of(PyObject *capsule, int reads_run)
{
    Handle *handle = handle_in(capsule);
    if (!handle || (handle->reader != NULL) == reads_run)
        return handle;
    end_use(capsule, &handle->is_busy);
    PyErr_SetString(PyExc_TypeError, reads_run ? "this is a reader of judgments" : "this is a reader of a run");
    return NULL;
}

PyDoc_STRVAR(run_doc, "run(reader)\n\nReturn (found, num_retrieved, unjudged, num_extra, number, num_lines, line, query).");

static PyObject *native_run(PyObject *module, PyObject *capsule)
{
    (void)module;
    Handle *handle = handle_of(capsule, 1);
    if (!handle)
        return NULL;
    const Result *result = reader_result(handle->reader);
    PyObject *given =
        Py_BuildValue("NNNLLLNL", as_bytes(&result->found), as_bytes(&result->num_retrieved),
                      as_bytes(&result->unjudged), (long long)result->num_extra, (long long)result->number,
                      (long long)result->num_lines, as_bytes(&result->line), (long long)result->query);
    end_use(capsule, &handle->is_busy);
    return given;
}

/* The same, and frees the buffer, so that memory is not needed twice. */
static PyObject *taken(Buffer *buffer)
{
    PyObject *bytes = as_bytes(buffer);
    free(buffer->data);
    *buffer = (Buffer){0};
    return bytes;
}

PyDoc_STRVAR(judgments_doc, "judgments(reader)\n\nReturn (query_ids, query_borders, offsets, num_positive, document_ids,\n"
                            "document_borders, grades, num_repeated, number).");

static PyObject *native_judgments(PyObject *module, PyObject *capsule)
{
    (void)module;
    Handle *handle = handle_of(capsule, 0);
    if (!handle)
        return NULL;
    Judgments *result = judgments_result(handle->judgments);
    PyObject *given =
        Py_BuildValue("NNNNNNNLL", taken(&result->query_ids), taken(&result->query_borders),
                      taken(&result->offsets), taken(&result->num_positive), taken(&result->document_ids),
                      taken(&result->document_borders), taken(&result->grades), (long long)result->num_repeated,
                      (long long)result->number);
    end_use(capsule, &handle->is_busy);
    return given;
}

PyDoc_STRVAR(decimal_doc, "decimal(text, powers)\n\nRead a plain decimal number; return None if it needs more care.");

static PyObject *native_decimal(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer text, powers;
    double value;
    if (!PyArg_ParseTuple(arguments, "y*y*", &text, &powers))
        return NULL;
    int done = decimal_number(text.buf, (size_t)text.len, powers.buf, &value);
    PyBuffer_Release(&text);
    PyBuffer_Release(&powers);
    return done ? PyFloat_FromDouble(value) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"new_run", native_new_run, METH_VARARGS, new_run_doc},
    {"new_judgments", native_new_judgments, METH_VARARGS, new_judgments_doc},
    {"feed", native_feed, METH_VARARGS, feed_doc},
    {"finish", native_finish, METH_O, finish_doc},
    {"run", native_run, METH_O, run_doc},
    {"judgments", native_judgments, METH_O, judgments_doc},
    {"new_units", native_new_units, METH_VARARGS, NEW_UNITS_DOC},
    {"run_of_dict", native_run_of_dict, METH_VARARGS, RUN_OF_DICT_DOC},
    {"judgments_of_dict", native_judgments_of_dict, METH_VARARGS, JUDGMENTS_OF_DICT_DOC},
    {"decimal", native_decimal, METH_VARARGS, decimal_doc},
    {"count_scores", native_count_scores, METH_VARARGS, COUNT_SCORES_DOC},
    {"count_before", native_count_before, METH_VARARGS, COUNT_BEFORE_DOC},
    {"exact_sums", native_exact_sums, METH_VARARGS, EXACT_SUMS_DOC},
    {"pair_sums", native_pair_sums, METH_VARARGS, PAIR_SUMS_DOC},
    {"permuted_sums", native_permuted_sums, METH_VARARGS, PERMUTED_SUMS_DOC},
    {"new_table", native_new_table, METH_VARARGS, NEW_TABLE_DOC},
    {"new_judgment_table", native_new_judgment_table, METH_VARARGS, NEW_JUDGMENT_TABLE_DOC},
    {"feed_table", native_feed_table, METH_VARARGS, FEED_TABLE_DOC},
    {"finish_table", native_finish_table, METH_O, FINISH_TABLE_DOC},
    {"forget_ranking", native_forget_ranking, METH_O, FORGET_RANKING_DOC},
    {"repeated_rows", native_repeated_rows, METH_O, REPEATED_ROWS_DOC},
    {"table", native_table, METH_O, TABLE_DOC},
    {"judgment_table", native_judgment_table, METH_O, JUDGMENT_TABLE_DOC},
    {NULL, NULL, 0, NULL},
};

/* No state of the module changes, a capsule is used by one thread at a time, and dicts and lists are locked while they
 * are read: Python need not lock the interpreter for it. Interpreters that always do have no such slot. */
static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "lexirecall._native", .m_doc = "The fast reader, and counts over scores.", .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}

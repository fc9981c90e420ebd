/* What Python gives to every reader, checked here, and what it gets back. */

#include "given.h"
#include "units.h"

int refuse(const char *why)
{
    PyErr_SetString(PyExc_ValueError, why);
    return 0;
}

int are_borders(const int64_t *borders, size_t count, int64_t end)
{
    int ascending = borders[0] >= 0 && borders[count - 1] <= end;
    for (size_t i = 1; i < count; i++)
        ascending &= borders[i - 1] <= borders[i];
    return ascending;
}

static int fits(const GivenJudgments *given)
{
    const Judged *judged = &given->judged;
    const Py_buffer *views = given->views;
    const size_t word = sizeof(int64_t), borders = (judged->num_queries + 1) * word;
    const size_t num_documents = (size_t)views[6].len / sizeof(double);
    for (int i = 0; i < NUM_ARRAYS; i++)
        if (i != 0 && i != 4 && ((uintptr_t)views[i].buf % word || (size_t)views[i].len % word))
            return refuse("an array does not hold whole words");
    if ((size_t)views[1].len != borders || (size_t)views[2].len != borders ||
        (size_t)views[5].len != (num_documents + 1) * word)
        return refuse("the arrays of the judgments do not have the same length");
    if (!are_borders(judged->query_borders, judged->num_queries + 1, views[0].len) ||
        !are_borders(judged->document_borders, num_documents + 1, views[4].len) ||
        !are_borders(judged->offsets, judged->num_queries + 1, (int64_t)num_documents))
        return refuse("the borders of the judgments do not ascend");
    for (size_t q = 0; q < judged->num_queries; q++)
        if (judged->num_tracked[q] < 0 || judged->num_tracked[q] > judged->offsets[q + 1] - judged->offsets[q])
            return refuse("more documents are tracked than judged");
    return 1;
}

int judgments_given(GivenJudgments *given, PyObject *const *sources)
{
    for (int i = 0; i < NUM_ARRAYS; i++) {
        if (PyObject_GetBuffer(sources[i], &given->views[i], PyBUF_SIMPLE) < 0)
            return 0;
        given->num_views++;
    }
    given->judged = (Judged){
        .num_queries = (size_t)given->views[3].len / sizeof(int64_t),
        .query_ids = given->views[0].buf,
        .query_borders = given->views[1].buf,
        .offsets = given->views[2].buf,
        .num_tracked = given->views[3].buf,
        .document_ids = given->views[4].buf,
        .document_borders = given->views[5].buf,
        .grades = given->views[6].buf,
    };
    if (!units_given(sources[NUM_ARRAYS], &given->judged.units))
        return 0;
    given->units = Py_NewRef(sources[NUM_ARRAYS]);
    return fits(given);
}

void judgments_release(GivenJudgments *given)
{
    for (int i = 0; i < given->num_views; i++)
        PyBuffer_Release(&given->views[i]);
    given->num_views = 0;
    Py_CLEAR(given->units);
}

int ties_given(int ties, TieRule *rule)
{
    if (ties < TIES_TREC || ties > TIES_BEST) {
        PyErr_Format(PyExc_ValueError, "there is no rule for ties with the number %d", ties);
        return 0;
    }
    *rule = (TieRule)ties;
    return 1;
}

int begin_use(PyObject *capsule, int *is_busy)
{
    int was_busy;
    BEGIN_LOCKED(capsule);
    was_busy = *is_busy;
    *is_busy = 1;
    END_LOCKED();
    if (was_busy)
        PyErr_SetString(PyExc_RuntimeError, "this is being read by another thread");
    return !was_busy;
}

void end_use(PyObject *capsule, int *is_busy)
{
    BEGIN_LOCKED(capsule);
    *is_busy = 0;
    END_LOCKED();
}

PyObject *as_bytes(const Buffer *buffer)
{
    return PyBytes_FromStringAndSize(buffer->data ? buffer->data : "", (Py_ssize_t)buffer->used);
}

PyObject *made(PyObject *capsule, int is_made)
{
    if (is_made)
        return capsule;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    Py_DECREF(capsule);
    return NULL;
}

PyObject *status_of(Status status)
{
    return status == READ_NO_MEMORY ? PyErr_NoMemory() : PyLong_FromLong(status);
}

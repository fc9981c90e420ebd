/* Matrices of scores: arrays of numpy, checked, for the counts of counts.c. */

#include "matrices.h"
#include "counts.h"

enum { NUM_MATRIX_VIEWS = 8 };

/* A matrix of scores and arrays beside it, of which the last `num_written` are written to. */
typedef struct {
    Py_buffer views[NUM_MATRIX_VIEWS];
    int num_views;
    Matrix matrix;
} Given;

static void given_release(Given *given)
{
    for (int i = 0; i < given->num_views; i++)
        PyBuffer_Release(&given->views[i]);
}

static int given_views(Given *given, PyObject *const *sources, int count, int num_written)
{
    for (int i = 0; i < count; i++) {
        int flags = i < count - num_written ? PyBUF_SIMPLE : PyBUF_WRITABLE;
        if (PyObject_GetBuffer(sources[i], &given->views[i], flags) < 0)
            return 0;
        given->num_views++;
    }
    return 1;
}

static size_t num_whole(const Given *given, int view)
{
    return (size_t)given->views[view].len / sizeof(int64_t);
}

/* Whether there is a score for each row and document; divides, because a product can be more than a size can hold. */
static int scores_fit(const Given *given)
{
    const Matrix *matrix = &given->matrix;
    const size_t each = matrix->is_double ? sizeof(double) : sizeof(float), bytes = (size_t)given->views[0].len;
    if (bytes % each || (size_t)matrix->scores % each)
        return 0;
    if (!matrix->num_rows)
        return bytes == 0;
    return bytes / each % matrix->num_rows == 0 && bytes / each / matrix->num_rows == matrix->num_documents;
}

/* The first five views are scores, offsets and documents of what is wanted, and of what is excluded. */
static int given_matrix(Given *given, Py_ssize_t num_documents, int is_double, int most_bytes)
{
    Matrix *matrix = &given->matrix;
    matrix->scores = given->views[0].buf;
    matrix->is_double = is_double;
    matrix->most_bytes = most_bytes;
    matrix->num_documents = (size_t)num_documents;
    matrix->wanted = (Marked){given->views[1].buf, given->views[2].buf};
    matrix->excluded = (Marked){given->views[3].buf, given->views[4].buf};
    matrix->num_rows = num_whole(given, 1) ? num_whole(given, 1) - 1 : 0;
    if (num_documents >= 0 && num_whole(given, 1) == num_whole(given, 3) && num_whole(given, 1) > 0 && scores_fit(given) &&
        marks_fit(matrix, num_whole(given, 2), num_whole(given, 4)))
        return 1;
    PyErr_SetString(PyExc_ValueError, "the marks do not fit the scores");
    return 0;
}

static int given_sizes(const Given *given, const size_t *sizes)
{
    for (int i = 5; i < given->num_views; i++)
        if ((size_t)given->views[i].len != sizes[i - 5]) {
            PyErr_SetString(PyExc_ValueError, "an array does not have a place for each document");
            return 0;
        }
    return 1;
}

/* Both counts take a matrix and three arrays: counts of scores write to all of them, and those of what comes before to
 * the last. */
static PyObject *counted(PyObject *arguments, int is_before)
{
    PyObject *s[NUM_MATRIX_VIEWS];
    Py_ssize_t num_documents;
    int is_double, most_bytes;
    if (!PyArg_ParseTuple(arguments, "OnpiOOOOOOO", &s[0], &num_documents, &is_double, &most_bytes, &s[1], &s[2], &s[3],
                          &s[4], &s[5], &s[6], &s[7]))
        return NULL;
    Given given = {0};
    int done = given_views(&given, s, NUM_MATRIX_VIEWS, is_before ? 1 : 3) &&
               given_matrix(&given, num_documents, is_double, most_bytes);
    if (done) {
        const size_t places = (size_t)given.views[2].len;
        const size_t of_scores[] = {places, places, given.matrix.num_rows * sizeof(int64_t)};
        const size_t of_before[] = {places, given.matrix.num_documents * sizeof(int32_t), places};
        done = given_sizes(&given, is_before ? of_before : of_scores);
    }
    if (done) {
        Py_BEGIN_ALLOW_THREADS
        if (is_before)
            count_before(&given.matrix, given.views[5].buf, given.views[6].buf, given.views[7].buf);
        else
            count_scores(&given.matrix, given.views[5].buf, given.views[6].buf, given.views[7].buf);
        Py_END_ALLOW_THREADS
    }
    given_release(&given);
    return done ? Py_NewRef(Py_None) : NULL;
}

PyObject *native_count_scores(PyObject *module, PyObject *arguments)
{
    (void)module;
    return counted(arguments, 0);
}

PyObject *native_count_before(PyObject *module, PyObject *arguments)
{
    (void)module;
    return counted(arguments, 1);
}

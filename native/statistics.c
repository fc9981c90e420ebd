/* Statistics of rows of numbers: arrays of numpy, checked, for exactsums.c, pairsums.c and permutedsums.c. */

#include "statistics.h"
#include "rows.h"

/* The length of each row, or -1 with an exception if the numbers are not as many rows of doubles, aligned. */
static Py_ssize_t length_of_rows(const Py_buffer *rows, Py_ssize_t num_rows)
{
    const Py_ssize_t num = rows->len / (Py_ssize_t)sizeof(double);
    const int is_whole = rows->len % (Py_ssize_t)sizeof(double) == 0 && (size_t)rows->buf % sizeof(double) == 0;
    if (is_whole && num_rows > 0 && num % num_rows == 0)
        return num / num_rows;
    refuse("the numbers are not as many rows");
    return -1;
}

/* Whether there is room for as many numbers of eight bytes for each row; otherwise 0, with an exception. */
static int has_room(const Py_buffer *view, Py_ssize_t each, Py_ssize_t num_rows)
{
    const Py_ssize_t num = view->len / 8;
    if (view->len % 8 == 0 && (size_t)view->buf % 8 == 0 && num % num_rows == 0 && num / num_rows == each)
        return 1;
    return refuse("an array does not have a place for each row");
}

PyObject *native_exact_sums(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer rows, parts;
    Py_ssize_t num_rows;
    if (!PyArg_ParseTuple(arguments, "y*nw*", &rows, &num_rows, &parts))
        return NULL;
    const Py_ssize_t length = length_of_rows(&rows, num_rows);
    const int fits = length >= 0 && has_room(&parts, NUM_PARTS, num_rows);
    int done = 0;
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        done = exact_sums(rows.buf, (size_t)num_rows, (size_t)length, parts.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&parts);
    return fits ? PyBool_FromLong(done) : NULL;
}

static PyObject *outcome_of_sums(int done)
{
    if (done == 1)
        return Py_NewRef(Py_None);
    if (done == 0)
        return PyErr_NoMemory();
    refuse("a row does not ascend, is not finite, or does not have such a place");
    return NULL;
}

PyObject *native_pair_sums(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer rows, places, sums;
    Py_ssize_t num_rows;
    if (!PyArg_ParseTuple(arguments, "y*ny*w*", &rows, &num_rows, &places, &sums))
        return NULL;
    const Py_ssize_t length = length_of_rows(&rows, num_rows), num_places = places.len / 8;
    const int fits = length >= 0 && has_room(&places, num_places, 1) && has_room(&sums, num_places, num_rows);
    int done = 0;
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        done = pair_sums(rows.buf, (size_t)num_rows, (size_t)length, places.buf, (size_t)num_places, sums.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&places);
    PyBuffer_Release(&sums);
    return fits ? outcome_of_sums(done) : NULL;
}

/* Whether rows, orders and sums have the same queries, runs and columns; otherwise 0, with an exception. */
static int permuted_fits(const Py_buffer *views, Permuted *permuted, Py_ssize_t num_queries, Py_ssize_t num_runs,
                         Py_ssize_t block)
{
    if (num_queries < 1 || num_runs < 1 || block < 1)
        return refuse("there are no queries, runs or blocks");
    const Py_ssize_t of_query = length_of_rows(&views[0], num_queries), width = of_query / num_runs;
    if (of_query < 0 || !has_room(&views[1], num_runs, num_queries) || !has_room(&views[2], width, num_runs) ||
        !has_room(&views[3], width, num_runs))
        return 0;
    if (of_query != width * num_runs)
        return refuse("the numbers are not as many rows");
    *permuted = (Permuted){views[0].buf, views[1].buf, (size_t)num_queries, (size_t)num_runs, (size_t)width,
                           (size_t)block};
    return 1;
}

PyObject *native_permuted_sums(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer views[4];
    Py_ssize_t num_queries, num_runs, block;
    if (!PyArg_ParseTuple(arguments, "y*y*nnnw*w*", &views[0], &views[1], &num_queries, &num_runs, &block, &views[2],
                          &views[3]))
        return NULL;
    Permuted permuted;
    const int fits = permuted_fits(views, &permuted, num_queries, num_runs, block);
    int done = 0;
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        done = permuted_sums(&permuted, views[2].buf, views[3].buf);
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; i < 4; i++)
        PyBuffer_Release(&views[i]);
    if (fits && !done)
        refuse("an order names a run that there is not");
    return done ? Py_NewRef(Py_None) : NULL;
}

/* Statistics of rows of numbers: what Python calls. */
#ifndef LEXIRECALL_STATISTICS_H
#define LEXIRECALL_STATISTICS_H

#include "given.h"

#define EXACT_SUMS_DOC \
    "exact_sums(rows, num_rows, parts)\n\n" \
    "Write the exact sum of each row as four floats that add up to it; return False if it cannot be done here."
#define PAIR_SUMS_DOC \
    "pair_sums(rows, num_rows, places, sums)\n\n" \
    "Write the sums d_i + d_j, i <= j, of each row that are at these places in ascending order."
#define PERMUTED_SUMS_DOC \
    "permuted_sums(columns, orders, num_queries, num_runs, block, partial, sums)\n\n" \
    "Add up, over the queries, the numbers that each run gets in these orders."

PyObject *native_exact_sums(PyObject *module, PyObject *arguments);
PyObject *native_pair_sums(PyObject *module, PyObject *arguments);
PyObject *native_permuted_sums(PyObject *module, PyObject *arguments);

#endif

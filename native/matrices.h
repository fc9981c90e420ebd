/* Matrices of scores: what Python calls. */
#ifndef LEXIRECALL_MATRICES_H
#define LEXIRECALL_MATRICES_H

#include <Python.h>

#define COUNT_SCORES_DOC \
    "count_scores(scores, num_items, is_double, most_bytes, offsets, items, excluded_offsets, excluded_items,\n" \
    "    above, tied, num_nan)\n\n" \
    "Count, for each item, the scores of its row that are higher, and those that are equal."
#define COUNT_BEFORE_DOC \
    "count_before(scores, num_items, is_double, most_bytes, offsets, items, excluded_offsets, excluded_items,\n" \
    "    tied, order, before)\n\n" \
    "Count, for each item that is tied, the equal scores of its row of a higher order."

PyObject *native_count_scores(PyObject *module, PyObject *arguments);
PyObject *native_count_before(PyObject *module, PyObject *arguments);

#endif

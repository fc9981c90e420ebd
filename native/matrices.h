/* Matrices of scores: what Python calls. */
#ifndef LEXIRECALL_MATRICES_H
#define LEXIRECALL_MATRICES_H

#include <Python.h>

#define COUNT_SCORES_DOC \
    "count_scores(scores, num_documents, is_double, most_bytes, offsets, documents, excluded_offsets, excluded_documents,\n" \
    "    above, tied, num_nan)\n\n" \
    "Count, for each document, the scores of its row that are higher, and those that are equal."
#define COUNT_BEFORE_DOC \
    "count_before(scores, num_documents, is_double, most_bytes, offsets, documents, excluded_offsets, excluded_documents,\n" \
    "    tied, order, before)\n\n" \
    "Count, for each document that is tied, the equal scores of its row of a higher order."

PyObject *native_count_scores(PyObject *module, PyObject *arguments);
PyObject *native_count_before(PyObject *module, PyObject *arguments);

#endif

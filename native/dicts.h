/* Judgments and runs that are Python objects, straight into the ranking: what module.c offers of it.
 *
 * Belongs here: dicts and lists of the plain types that nearly all ids and numbers have. formats/memory.py defines what
 * they mean and what is wrong with them; whatever is not plain is left to it.
 */
#ifndef LEXIRECALL_DICTS_H
#define LEXIRECALL_DICTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "parts.h"

/* UNKNOWN is for the reader in Python; RAISED comes with an exception. */
typedef enum { TAKEN, UNKNOWN, RAISED } Outcome;

/* The types besides Python's own that are read here: tuples of types. */
typedef struct {
    PyObject *dicts, *arrays, *texts, *wholes, *numbers;
} Plain;

/* An id as bytes, which live as long as the object and this struct do. */
typedef struct {
    const char *text;
    size_t length;
    char digits[24];
} Id;

/* These return 0, without an exception, for what is not plain. Of numbers, NaN is not. */
int id_from(const Plain *plain, PyObject *object, Id *id);
int number_from(const Plain *plain, PyObject *object, double *number);
int is_dict(const Plain *plain, PyObject *object);
int is_among(PyObject *types, PyObject *object);

/* For PyArg_ParseTuple's O&: a tuple of those tuples. */
int plain_from(PyObject *types, void *plain);

Outcome no_memory(void);

PyObject *native_run_of_dict(PyObject *module, PyObject *arguments);
PyObject *native_judgments_of_dict(PyObject *module, PyObject *arguments);

#define RUN_OF_DICT_DOC                                                                                                 \
    "run_of_dict(run, plain_types, query_ids, query_borders, offsets, num_tracked, document_ids, document_borders, grades,\n" \
    "    units, key, ties, float32)\n\nReturn (found, num_retrieved, num_unjudged) of {query: {document: score}} or {query:\n"  \
    "[document, ...]}; None if something in it is not plain."
#define JUDGMENTS_OF_DICT_DOC                                                                                           \
    "judgments_of_dict(grades, plain_types, key)\n\nReturn (query_ids, query_borders, offsets, num_positive,\n"      \
    "document_ids, document_borders, grades) of {query: {document: grade}}; None if something in it is not plain."

#endif

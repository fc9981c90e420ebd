/* What Python gives to every reader, and what it gets back: judgments as arrays, bytes, capsules. */
#ifndef LEXIRECALL_GIVEN_H
#define LEXIRECALL_GIVEN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "parts.h"

enum { NUM_ARRAYS = 7, NUM_JUDGED = 8 };

/* Judgments in arrays, which are held until they are released. */
typedef struct {
    Py_buffer views[NUM_ARRAYS];
    int num_views;
    PyObject *units;
    Judged judged;
} GivenJudgments;

/* Takes query_ids, query_borders, offsets, num_tracked, document_ids, document_borders and grades, and the units in which
 * places are counted; returns 0, with an exception, if they do not fit each other. */
int judgments_given(GivenJudgments *given, PyObject *const *sources);
void judgments_release(GivenJudgments *given);

/* Whether `count` borders ascend from 0 or more up to at most `end`. */
int are_borders(const int64_t *borders, size_t count, int64_t end);

/* Returns 0, with an exception. */
int refuse(const char *why);

/* Whether there is such a rule for ties; otherwise 0, with an exception. */
int ties_given(int ties, TieRule *rule);

/* Python without a lock of the interpreter: there, an object is locked while it is looked at, and what comes out of it is
 * held, because another thread may change it. Elsewhere these do nothing. A block between the two must not be left. */
#ifdef Py_GIL_DISABLED
#define BEGIN_LOCKED(object) Py_BEGIN_CRITICAL_SECTION(object)
#define END_LOCKED() Py_END_CRITICAL_SECTION()
#define HOLD(object) Py_INCREF(object)
#define LET_GO(object) Py_DECREF(object)
#else
#define BEGIN_LOCKED(object) { (void)(object)
#define END_LOCKED() }
#define HOLD(object) ((void)0)
#define LET_GO(object) ((void)0)
#endif

/* Whether nobody else uses what is in a capsule; then it is in use until end_use. Otherwise 0, with an exception. */
int begin_use(PyObject *capsule, int *is_busy);
void end_use(PyObject *capsule, int *is_busy);

PyObject *as_bytes(const Buffer *buffer);

/* The capsule if there is a reader in it; otherwise nothing, and an error. */
PyObject *made(PyObject *capsule, int is_made);

/* A status as a number; without memory, nothing and an error. */
PyObject *status_of(Status status);

#endif

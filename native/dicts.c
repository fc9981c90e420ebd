/* Runs as dicts of dicts or of lists: each ranking in turn, as the reader of text takes one request after the other. */

#include "dicts.h"
#include "given.h"

#include <stdlib.h>

typedef struct {
    GivenJudgments given;
    Plain plain;
    int float32;
    IdSet requests; /* those judged first, then the others */
    Ranking ranking;
    int64_t credit; /* on how many rows it may still be tried in vain whether scores descend */
    Buffer found;         /* as in Result */
    Buffer num_retrieved; /* as in Result */
} Taken;

static Outcome put_requests(Taken *taken)
{
    const Judged *judged = &taken->given.judged;
    const int64_t unanswered = -1;
    if (!ids_clear(&taken->requests, judged->num_requests))
        return no_memory();
    for (size_t q = 0; q < judged->num_requests; q++) {
        const int64_t *borders = judged->request_borders + q;
        int64_t put = ids_put(&taken->requests, judged->request_ids + borders[0], (size_t)(borders[1] - borders[0]));
        if (put < 0 || !buffer_append(&taken->num_retrieved, &unanswered, sizeof unanswered))
            return no_memory();
        if ((size_t)put != q) {
            PyErr_SetString(PyExc_ValueError, "a request is judged twice");
            return RAISED;
        }
    }
    return TAKEN;
}

static void let_go(Taken *taken)
{
    judgments_release(&taken->given);
    ids_free(&taken->requests);
    ranking_free(&taken->ranking);
    buffer_free(&taken->found);
    buffer_free(&taken->num_retrieved);
}

/* ---- Rankings ---- */

static Outcome take_row(Taken *taken, int64_t request, PyObject *item, double score)
{
    Id id;
    if (!id_from(&taken->plain, item, &id))
        return UNKNOWN;
    if ((size_t)request >= taken->given.judged.num_requests)
        return TAKEN;
    const double *grades = taken->given.judged.grades + taken->given.judged.offsets[request];
    return ranking_add(&taken->ranking, id.text, id.length, score, grades) ? TAKEN : no_memory();
}

static double score_of(const Taken *taken, double score)
{
    return taken->float32 ? (double)(float)score : score;
}

/* Takes a row below the last one, or says in `is_below` that it is not. */
static Outcome take_below(Taken *taken, PyObject *item, PyObject *value, double *last, int *is_below)
{
    Ranking *ranking = &taken->ranking;
    Id id;
    double score;
    if (!number_from(&taken->plain, value, &score) || !id_from(&taken->plain, item, &id))
        return UNKNOWN;
    score = score_of(taken, score);
    *is_below = PyUnicode_CheckExact(item) && !(ranking->rows && !(score < *last));
    *last = score;
    return !*is_below || ranking_add_below(ranking, id.text, id.length, score) ? TAKEN : no_memory();
}

/* The keys of a dict differ, and so do the ids if all are text. While the scores descend, only judged items must be
 * known; if they do not, there are no rows afterwards, and the ranking is to be taken in the other way. */
static Outcome take_descending(Taken *taken, PyObject *listed)
{
    Ranking *ranking = &taken->ranking;
    PyObject *item, *value;
    Py_ssize_t at = 0;
    double last = 0;
    int is_below = 1;
    Outcome outcome = TAKEN;
    while (outcome == TAKEN && is_below && PyDict_Next(listed, &at, &item, &value)) {
        HOLD(item);
        HOLD(value);
        outcome = take_below(taken, item, value, &last, &is_below);
        LET_GO(value);
        LET_GO(item);
    }
    if (outcome != TAKEN)
        return outcome;
    taken->credit += is_below ? (int64_t)ranking->rows : -(int64_t)ranking->rows;
    if (!is_below)
        ranking->rows = ranking->seen.used = 0;
    return TAKEN;
}

static Outcome take_scored_row(Taken *taken, int64_t request, PyObject *item, PyObject *value)
{
    double score;
    return number_from(&taken->plain, value, &score) ? take_row(taken, request, item, score_of(taken, score)) : UNKNOWN;
}

static Outcome take_scored(Taken *taken, int64_t request, PyObject *listed)
{
    PyObject *item, *value;
    Py_ssize_t at = 0;
    Outcome outcome = TAKEN;
    if ((size_t)request < taken->given.judged.num_requests && taken->credit >= 0) {
        outcome = take_descending(taken, listed);
        if (outcome != TAKEN || taken->ranking.rows)
            return outcome;
    }
    while (outcome == TAKEN && PyDict_Next(listed, &at, &item, &value)) {
        HOLD(item);
        HOLD(value);
        outcome = take_scored_row(taken, request, item, value);
        LET_GO(value);
        LET_GO(item);
    }
    return outcome;
}

/* An item of a list or a tuple; where another thread may have made the list shorter, perhaps NULL. */
static PyObject *item_at(PyObject *listed, Py_ssize_t place)
{
    if (PyTuple_CheckExact(listed))
        return PyTuple_GetItem(listed, place);
#ifdef Py_GIL_DISABLED
    PyObject *item = PyList_GetItemRef(listed, place);
    if (!item)
        PyErr_Clear();
    return item;
#else
    return PyList_GetItem(listed, place);
#endif
}

/* Without scores, the order given is the order meant. */
static Outcome take_listed(Taken *taken, int64_t request, PyObject *listed)
{
    int is_list = PyList_CheckExact(listed);
    Py_ssize_t count = is_list ? PyList_Size(listed) : PyTuple_Size(listed);
    Outcome outcome = TAKEN;
    for (Py_ssize_t i = 0; outcome == TAKEN && i < count; i++) {
        PyObject *item = item_at(listed, i);
        outcome = item ? take_row(taken, request, item, -(double)i) : UNKNOWN;
        if (item && is_list)
            LET_GO(item);
    }
    return outcome;
}

static Outcome take_array(Taken *taken, int64_t request, PyObject *array)
{
    PyObject *listed = PyObject_CallMethod(array, "tolist", NULL);
    if (!listed)
        return RAISED;
    Outcome outcome = PyList_CheckExact(listed) ? take_listed(taken, request, listed) : UNKNOWN;
    Py_DECREF(listed);
    return outcome;
}

static Outcome take_locked(Taken *taken, int64_t request, PyObject *listed)
{
    Outcome outcome;
    BEGIN_LOCKED(listed);
    outcome = take_scored(taken, request, listed);
    END_LOCKED();
    return outcome;
}

static Outcome take_rows(Taken *taken, int64_t request, PyObject *listed)
{
    if (is_dict(&taken->plain, listed))
        return take_locked(taken, request, listed);
    if (PyList_CheckExact(listed) || PyTuple_CheckExact(listed))
        return take_listed(taken, request, listed);
    return is_among(taken->plain.arrays, listed) ? take_array(taken, request, listed) : UNKNOWN;
}

/* Begins a ranking; a request that was there before, under the same text, is for Python to refuse. */
static Outcome open_ranking(Taken *taken, PyObject *name, int64_t *request)
{
    const Judged *judged = &taken->given.judged;
    size_t known = taken->requests.count;
    Id id;
    if (!id_from(&taken->plain, name, &id))
        return UNKNOWN;
    *request = ids_put(&taken->requests, id.text, id.length);
    if (*request < 0)
        return no_memory();
    if ((size_t)*request >= judged->num_requests)
        return (size_t)*request == known ? TAKEN : UNKNOWN;
    if (((const int64_t *)(const void *)taken->num_retrieved.data)[*request] >= 0)
        return UNKNOWN;
    const int64_t *borders = judged->item_borders + judged->offsets[*request];
    int made = ranking_clear(&taken->ranking, (size_t)judged->num_tracked[*request]);
    for (int64_t i = 0; made && i < judged->num_tracked[*request]; i++)
        made = ranking_track(&taken->ranking, judged->item_ids + borders[i], (size_t)(borders[i + 1] - borders[i]));
    return made ? TAKEN : no_memory();
}

static Outcome close_ranking(Taken *taken, int64_t request)
{
    Ranking *ranking = &taken->ranking;
    if ((size_t)request >= taken->given.judged.num_requests)
        return TAKEN;
    if (ranking->duplicate >= 0)
        return UNKNOWN;
    int64_t *num_places = (int64_t *)(void *)taken->num_retrieved.data + request;
    int done = ranking_found(ranking, &taken->given.judged, request, request, &taken->found, num_places);
    return done ? TAKEN : no_memory();
}

static Outcome take_ranking(Taken *taken, PyObject *name, PyObject *listed)
{
    int64_t request;
    Outcome outcome = open_ranking(taken, name, &request);
    if (outcome == TAKEN)
        outcome = take_rows(taken, request, listed);
    return outcome == TAKEN ? close_ranking(taken, request) : outcome;
}

/* Looks for a signal between rankings: its handler is Python, so nothing borrowed may be kept across it. */
static Outcome take_run(Taken *taken, PyObject *run)
{
    PyObject *name, *listed;
    Py_ssize_t at = 0;
    Outcome outcome = TAKEN;
    BEGIN_LOCKED(run);
    while (outcome == TAKEN && PyDict_Next(run, &at, &name, &listed)) {
        Py_INCREF(name);
        Py_INCREF(listed);
        outcome = take_ranking(taken, name, listed);
        Py_DECREF(name);
        Py_DECREF(listed);
        if (outcome == TAKEN && PyErr_CheckSignals() < 0)
            outcome = RAISED;
    }
    END_LOCKED();
    return outcome;
}

static PyObject *result_of(const Taken *taken)
{
    Py_ssize_t num_unjudged = (Py_ssize_t)(taken->requests.count - taken->given.judged.num_requests);
    return Py_BuildValue("NNn", as_bytes(&taken->found), as_bytes(&taken->num_retrieved), num_unjudged);
}

PyObject *native_run_of_dict(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *s[NUM_JUDGED];
    unsigned long long key;
    int ties;
    Taken taken = {0};
    if (!PyArg_ParseTuple(arguments, "OO&OOOOOOOOKip", &run, plain_from, &taken.plain, &s[0], &s[1], &s[2], &s[3],
                          &s[4], &s[5], &s[6], &s[7], &key, &ties, &taken.float32))
        return NULL;
    if (!ties_given(ties, &taken.ranking.ties))
        return NULL;
    if (!is_dict(&taken.plain, run))
        return Py_NewRef(Py_None);
    taken.requests.key = taken.ranking.items.key = key;
    Outcome outcome = RAISED;
    if (judgments_given(&taken.given, s))
        outcome = put_requests(&taken);
    taken.ranking.units = taken.given.judged.units;
    taken.credit = taken.ranking.units ? -1 : 1000; /* in units, all rows are needed */
    if (outcome == TAKEN)
        outcome = take_run(&taken, run);
    PyObject *result = outcome == TAKEN ? result_of(&taken) : outcome == UNKNOWN ? Py_NewRef(Py_None) : NULL;
    let_go(&taken);
    return result;
}

/* Runs as dicts of dicts or of lists: each ranking in turn, as the reader of text takes one query after the other. */

#include "dicts.h"
#include "given.h"

#include <stdlib.h>

typedef struct {
    GivenJudgments given;
    Plain plain;
    int float32;
    IdSet queries; /* those judged first, then the others */
    Ranking ranking;
    int64_t credit; /* on how many rows it may still be tried in vain whether scores descend */
    Buffer found;         /* as in Result */
    Buffer num_retrieved; /* as in Result */
} Taken;

static Outcome put_queries(Taken *taken)
{
    const Judged *judged = &taken->given.judged;
    const int64_t unanswered = -1;
    if (!ids_clear(&taken->queries, judged->num_queries))
        return no_memory();
    for (size_t q = 0; q < judged->num_queries; q++) {
        const int64_t *borders = judged->query_borders + q;
        int64_t put = ids_put(&taken->queries, judged->query_ids + borders[0], (size_t)(borders[1] - borders[0]));
        if (put < 0 || !buffer_append(&taken->num_retrieved, &unanswered, sizeof unanswered))
            return no_memory();
        if ((size_t)put != q) {
            PyErr_SetString(PyExc_ValueError, "a query is judged twice");
            return RAISED;
        }
    }
    return TAKEN;
}

static void let_go(Taken *taken)
{
    judgments_release(&taken->given);
    ids_free(&taken->queries);
    ranking_free(&taken->ranking);
    buffer_free(&taken->found);
    buffer_free(&taken->num_retrieved);
}

/* ---- Rankings ---- */

static Outcome take_row(Taken *taken, int64_t query, PyObject *document, double score)
{
    Id id;
    if (!id_from(&taken->plain, document, &id))
        return UNKNOWN;
    if ((size_t)query >= taken->given.judged.num_queries)
        return TAKEN;
    const double *grades = taken->given.judged.grades + taken->given.judged.offsets[query];
    return ranking_add(&taken->ranking, id.text, id.length, score, grades) ? TAKEN : no_memory();
}

static double score_of(const Taken *taken, double score)
{
    return taken->float32 ? (double)(float)score : score;
}

/* Takes a row below the last one, or says in `is_below` that it is not. */
static Outcome take_below(Taken *taken, PyObject *document, PyObject *value, double *last, int *is_below)
{
    Ranking *ranking = &taken->ranking;
    Id id;
    double score;
    if (!number_from(&taken->plain, value, &score) || !id_from(&taken->plain, document, &id))
        return UNKNOWN;
    score = score_of(taken, score);
    *is_below = PyUnicode_CheckExact(document) && !(ranking->rows && !(score < *last));
    *last = score;
    return !*is_below || ranking_add_below(ranking, id.text, id.length, score) ? TAKEN : no_memory();
}

/* The keys of a dict differ, and so do the ids if all are text. While the scores descend, only judged documents must be
 * known; if they do not, there are no rows afterwards, and the ranking is to be taken in the other way. */
static Outcome take_descending(Taken *taken, PyObject *listed)
{
    Ranking *ranking = &taken->ranking;
    PyObject *document, *value;
    Py_ssize_t at = 0;
    double last = 0;
    int is_below = 1;
    Outcome outcome = TAKEN;
    while (outcome == TAKEN && is_below && PyDict_Next(listed, &at, &document, &value)) {
        HOLD(document);
        HOLD(value);
        outcome = take_below(taken, document, value, &last, &is_below);
        LET_GO(value);
        LET_GO(document);
    }
    if (outcome != TAKEN)
        return outcome;
    taken->credit += is_below ? (int64_t)ranking->rows : -(int64_t)ranking->rows;
    if (!is_below)
        ranking->rows = ranking->seen.used = 0;
    return TAKEN;
}

static Outcome take_scored_row(Taken *taken, int64_t query, PyObject *document, PyObject *value)
{
    double score;
    return number_from(&taken->plain, value, &score) ? take_row(taken, query, document, score_of(taken, score)) : UNKNOWN;
}

static Outcome take_scored(Taken *taken, int64_t query, PyObject *listed)
{
    PyObject *document, *value;
    Py_ssize_t at = 0;
    Outcome outcome = TAKEN;
    if ((size_t)query < taken->given.judged.num_queries && taken->credit >= 0) {
        outcome = take_descending(taken, listed);
        if (outcome != TAKEN || taken->ranking.rows)
            return outcome;
    }
    while (outcome == TAKEN && PyDict_Next(listed, &at, &document, &value)) {
        HOLD(document);
        HOLD(value);
        outcome = take_scored_row(taken, query, document, value);
        LET_GO(value);
        LET_GO(document);
    }
    return outcome;
}

/* A document of a list or a tuple; where another thread may have made the list shorter, perhaps NULL. */
static PyObject *document_at(PyObject *listed, Py_ssize_t place)
{
    if (PyTuple_CheckExact(listed))
        return PyTuple_GetItem(listed, place);
#ifdef Py_GIL_DISABLED
    PyObject *document = PyList_GetItemRef(listed, place);
    if (!document)
        PyErr_Clear();
    return document;
#else
    return PyList_GetItem(listed, place);
#endif
}

/* Without scores, the order given is the order meant. */
static Outcome take_listed(Taken *taken, int64_t query, PyObject *listed)
{
    int is_list = PyList_CheckExact(listed);
    Py_ssize_t count = is_list ? PyList_Size(listed) : PyTuple_Size(listed);
    Outcome outcome = TAKEN;
    for (Py_ssize_t i = 0; outcome == TAKEN && i < count; i++) {
        PyObject *document = document_at(listed, i);
        outcome = document ? take_row(taken, query, document, -(double)i) : UNKNOWN;
        if (document && is_list)
            LET_GO(document);
    }
    return outcome;
}

static Outcome take_array(Taken *taken, int64_t query, PyObject *array)
{
    PyObject *listed = PyObject_CallMethod(array, "tolist", NULL);
    if (!listed)
        return RAISED;
    Outcome outcome = PyList_CheckExact(listed) ? take_listed(taken, query, listed) : UNKNOWN;
    Py_DECREF(listed);
    return outcome;
}

static Outcome take_locked(Taken *taken, int64_t query, PyObject *listed)
{
    Outcome outcome;
    BEGIN_LOCKED(listed);
    outcome = take_scored(taken, query, listed);
    END_LOCKED();
    return outcome;
}

static Outcome take_rows(Taken *taken, int64_t query, PyObject *listed)
{
    if (is_dict(&taken->plain, listed))
        return take_locked(taken, query, listed);
    if (PyList_CheckExact(listed) || PyTuple_CheckExact(listed))
        return take_listed(taken, query, listed);
    return is_among(taken->plain.arrays, listed) ? take_array(taken, query, listed) : UNKNOWN;
}

/* Begins a ranking; a query that was there before, under the same text, is for Python to refuse. */
static Outcome open_ranking(Taken *taken, PyObject *name, int64_t *query)
{
    const Judged *judged = &taken->given.judged;
    size_t known = taken->queries.count;
    Id id;
    if (!id_from(&taken->plain, name, &id))
        return UNKNOWN;
    *query = ids_put(&taken->queries, id.text, id.length);
    if (*query < 0)
        return no_memory();
    if ((size_t)*query >= judged->num_queries)
        return (size_t)*query == known ? TAKEN : UNKNOWN;
    if (((const int64_t *)(const void *)taken->num_retrieved.data)[*query] >= 0)
        return UNKNOWN;
    const int64_t *borders = judged->document_borders + judged->offsets[*query];
    int made = ranking_clear(&taken->ranking, (size_t)judged->num_tracked[*query]);
    for (int64_t i = 0; made && i < judged->num_tracked[*query]; i++)
        made = ranking_track(&taken->ranking, judged->document_ids + borders[i], (size_t)(borders[i + 1] - borders[i]));
    return made ? TAKEN : no_memory();
}

static Outcome close_ranking(Taken *taken, int64_t query)
{
    Ranking *ranking = &taken->ranking;
    if ((size_t)query >= taken->given.judged.num_queries)
        return TAKEN;
    if (ranking->duplicate >= 0)
        return UNKNOWN;
    int64_t *num_places = (int64_t *)(void *)taken->num_retrieved.data + query;
    int done = ranking_found(ranking, &taken->given.judged, query, query, &taken->found, num_places);
    return done ? TAKEN : no_memory();
}

static Outcome take_ranking(Taken *taken, PyObject *name, PyObject *listed)
{
    int64_t query;
    Outcome outcome = open_ranking(taken, name, &query);
    if (outcome == TAKEN)
        outcome = take_rows(taken, query, listed);
    return outcome == TAKEN ? close_ranking(taken, query) : outcome;
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
    Py_ssize_t num_unjudged = (Py_ssize_t)(taken->queries.count - taken->given.judged.num_queries);
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
    taken.queries.key = taken.ranking.documents.key = key;
    Outcome outcome = RAISED;
    if (judgments_given(&taken.given, s))
        outcome = put_queries(&taken);
    taken.ranking.units = taken.given.judged.units;
    taken.credit = taken.ranking.units ? -1 : 1000; /* in units, all rows are needed */
    if (outcome == TAKEN)
        outcome = take_run(&taken, run);
    PyObject *result = outcome == TAKEN ? result_of(&taken) : outcome == UNKNOWN ? Py_NewRef(Py_None) : NULL;
    let_go(&taken);
    return result;
}

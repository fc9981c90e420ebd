/* Judgments as dicts of dicts: to arrays with the documents of each query together, as judgments.c makes of text. */

#include "dicts.h"
#include "given.h"

typedef struct {
    Plain plain;
    Judgments result;
    IdSet queries;
    IdSet documents;   /* of the current query */
    Buffer grades; /* double for each of them */
} Judging;

static int append_end(Buffer *borders, size_t end)
{
    int64_t border = (int64_t)end;
    return buffer_append(borders, &border, sizeof border);
}

/* Reads a document; two of the same text are for Python to refuse, and so is a grade without end. */
static Outcome take_document(Judging *judging, PyObject *document, PyObject *value)
{
    Id id;
    double grade;
    size_t known = judging->documents.count;
    if (!id_from(&judging->plain, document, &id) || !number_from(&judging->plain, value, &grade) || grade - grade != 0)
        return UNKNOWN;
    int64_t put = ids_put(&judging->documents, id.text, id.length);
    if (put < 0 || !buffer_append(&judging->grades, &grade, sizeof grade))
        return no_memory();
    return (size_t)put == known ? TAKEN : UNKNOWN;
}

/* Reads the documents of one query. */
static Outcome take_documents(Judging *judging, PyObject *judged)
{
    PyObject *document, *value;
    Py_ssize_t at = 0, size = PyDict_Size(judged);
    Outcome outcome = TAKEN;
    judging->grades.used = 0;
    if (size < 0 || !ids_clear(&judging->documents, (size_t)size))
        return no_memory();
    BEGIN_LOCKED(judged);
    while (outcome == TAKEN && PyDict_Next(judged, &at, &document, &value)) {
        HOLD(document);
        HOLD(value);
        outcome = take_document(judging, document, value);
        LET_GO(value);
        LET_GO(document);
    }
    END_LOCKED();
    return outcome;
}

/* Lays out the documents of one query, those with positive grades first. */
static Outcome lay_out(Judging *judging)
{
    Judgments *result = &judging->result;
    const double *grades = (const double *)(const void *)judging->grades.data;
    int64_t num_positive = 0;
    for (int positive = 1; positive >= 0; positive--)
        for (size_t i = 0; i < judging->documents.count; i++) {
            if ((grades[i] > 0) != positive)
                continue;
            size_t length;
            const char *document = id_of(&judging->documents, i, &length);
            num_positive += positive;
            if (!buffer_append(&result->document_ids, document, length) ||
                !append_end(&result->document_borders, result->document_ids.used) ||
                !buffer_append(&result->grades, &grades[i], sizeof grades[i]))
                return no_memory();
        }
    if (!append_end(&result->offsets, result->grades.used / sizeof(double)) ||
        !buffer_append(&result->num_positive, &num_positive, sizeof num_positive))
        return no_memory();
    return TAKEN;
}

static Outcome take_query(Judging *judging, PyObject *name, PyObject *judged)
{
    Judgments *result = &judging->result;
    size_t known = judging->queries.count;
    Id id;
    if (!is_dict(&judging->plain, judged) || !id_from(&judging->plain, name, &id))
        return UNKNOWN;
    int64_t put = ids_put(&judging->queries, id.text, id.length);
    if (put < 0 || !buffer_append(&result->query_ids, id.text, id.length) ||
        !append_end(&result->query_borders, result->query_ids.used))
        return no_memory();
    if ((size_t)put != known)
        return UNKNOWN;
    Outcome outcome = take_documents(judging, judged);
    return outcome == TAKEN ? lay_out(judging) : outcome;
}

static Outcome take_queries(Judging *judging, PyObject *grades)
{
    Judgments *result = &judging->result;
    PyObject *name, *judged;
    Py_ssize_t at = 0;
    Outcome outcome = TAKEN;
    if (!ids_clear(&judging->queries, 64) || !append_end(&result->query_borders, 0) ||
        !append_end(&result->document_borders, 0) || !append_end(&result->offsets, 0))
        return no_memory();
    BEGIN_LOCKED(grades);
    while (outcome == TAKEN && PyDict_Next(grades, &at, &name, &judged)) {
        HOLD(name);
        HOLD(judged);
        outcome = take_query(judging, name, judged);
        LET_GO(judged);
        LET_GO(name);
    }
    END_LOCKED();
    return outcome;
}

static PyObject *result_of(const Judgments *result)
{
    return Py_BuildValue("NNNNNNN", as_bytes(&result->query_ids), as_bytes(&result->query_borders),
                         as_bytes(&result->offsets), as_bytes(&result->num_positive), as_bytes(&result->document_ids),
                         as_bytes(&result->document_borders), as_bytes(&result->grades));
}

static void let_go(Judging *judging)
{
    Judgments *result = &judging->result;
    Buffer *buffers[] = {&result->query_ids, &result->query_borders, &result->offsets, &result->num_positive,
                         &result->document_ids,    &result->document_borders,    &result->grades,  &judging->grades};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    ids_free(&judging->queries);
    ids_free(&judging->documents);
}

PyObject *native_judgments_of_dict(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *grades;
    unsigned long long key;
    Judging judging = {0};
    if (!PyArg_ParseTuple(arguments, "OO&K", &grades, plain_from, &judging.plain, &key))
        return NULL;
    if (!is_dict(&judging.plain, grades))
        return Py_NewRef(Py_None);
    judging.queries.key = judging.documents.key = key;
    Outcome outcome = take_queries(&judging, grades);
    PyObject *result = outcome == TAKEN     ? result_of(&judging.result)
                       : outcome == UNKNOWN ? Py_NewRef(Py_None)
                                            : NULL;
    let_go(&judging);
    return result;
}

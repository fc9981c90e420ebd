/* Rows of runs to rankings: the rows of a ranking must come together. */

#include "arrow.h"

#include <stdlib.h>

struct TableReader {
    Judged judged;
    TableSettings settings;
    TableResult result;
    Status status;
    IdSet queries;   /* those judged first, then the others */
    IdSet unanswered; /* pairs of a run and a query that nobody judged */
    int64_t run, query; /* the current ones; -1 before the first */
    int64_t first_row;       /* of the current ranking, among all rows */
    Ranking ranking;
};

static Status stop(TableReader *reader, Status status)
{
    if (reader->status == READ_ON)
        reader->status = status;
    return reader->status;
}

static int is_judged(const TableReader *reader)
{
    return reader->query >= 0 && (size_t)reader->query < reader->judged.num_queries;
}

static int64_t *lengths_of(const TableReader *reader)
{
    return (int64_t *)(void *)reader->result.num_retrieved.data;
}

/* The number of the current ranking. */
static size_t ranking_number(const TableReader *reader)
{
    return (size_t)reader->run * reader->judged.num_queries + (size_t)reader->query;
}

/* Counts a query that nobody judged, once for its run. */
static int count_unjudged(TableReader *reader)
{
    int64_t pair[] = {reader->run, reader->query};
    size_t known = reader->unanswered.count;
    int64_t number = ids_put(&reader->unanswered, (const char *)pair, sizeof pair);
    if (number < 0)
        return 0;
    ((int64_t *)(void *)reader->result.num_unjudged.data)[reader->run] += (size_t)number == known;
    return 1;
}

/* Says where a ranking with a document that is listed twice can be read again, by somebody who knows what that means. */
static int hand_back(TableReader *reader, int64_t end)
{
    int64_t rows[] = {reader->first_row, end, reader->run, reader->query};
    lengths_of(reader)[ranking_number(reader)] = 0; /* it has been there */
    return buffer_append(&reader->result.repeated, rows, sizeof rows);
}

/* Ends the current ranking before a row: says where its judged documents are. */
static Status close_ranking(TableReader *reader, int64_t end)
{
    Ranking *ranking = &reader->ranking;
    int done = 1;
    if (is_judged(reader) && ranking->duplicate >= 0)
        done = hand_back(reader, end);
    else if (is_judged(reader))
        done = ranking_found(ranking, &reader->judged, reader->query, (int64_t)ranking_number(reader),
                             &reader->result.found, lengths_of(reader) + ranking_number(reader));
    else if (reader->query >= 0)
        done = count_unjudged(reader);
    return done ? READ_ON : stop(reader, READ_NO_MEMORY);
}

/* Begins a ranking: the documents to be looked for are the first of its ids. */
static Status open_ranking(TableReader *reader)
{
    const Judged *judged = &reader->judged;
    if (!is_judged(reader))
        return READ_ON;
    if (lengths_of(reader)[ranking_number(reader)] >= 0)
        return stop(reader, READ_INTERLEAVED);
    const int64_t *borders = judged->document_borders + judged->offsets[reader->query];
    int64_t num_tracked = judged->num_tracked[reader->query];
    int made = ranking_clear(&reader->ranking, (size_t)num_tracked);
    for (int64_t i = 0; made && i < num_tracked; i++)
        made = ranking_track(&reader->ranking, judged->document_ids + borders[i], (size_t)(borders[i + 1] - borders[i]));
    return made ? READ_ON : stop(reader, READ_NO_MEMORY);
}

/* Makes room for the rankings of one more run, none of them answered yet. */
static int add_run(TableReader *reader)
{
    const int64_t nobody = -1, none = 0;
    for (size_t q = 0; q < reader->judged.num_queries; q++)
        if (!buffer_append(&reader->result.num_retrieved, &nobody, sizeof nobody))
            return 0;
    return buffer_append(&reader->result.num_unjudged, &none, sizeof none);
}

static int64_t run_at(TableReader *reader, Column *columns, size_t row)
{
    Field name;
    size_t known = reader->result.runs.count;
    if (!reader->settings.names[RUN])
        return 0;
    if (!cell_text(&columns[RUN], row, &name)) {
        stop(reader, READ_BAD_LINE);
        return -1;
    }
    int64_t run = ids_put(&reader->result.runs, name.start, name.length);
    if (run >= 0 && ((size_t)run < known || add_run(reader)))
        return run;
    stop(reader, READ_NO_MEMORY);
    return -1;
}

/* Goes on to the ranking of a row, which may be the current one. */
static Status turn_to(TableReader *reader, Column *columns, size_t row)
{
    Field id;
    int64_t run = run_at(reader, columns, row);
    if (run < 0)
        return reader->status;
    if (!cell_text(&columns[QUERY], row, &id))
        return stop(reader, READ_BAD_LINE);
    int64_t query = ids_put(&reader->queries, id.start, id.length);
    if (query < 0)
        return stop(reader, READ_NO_MEMORY);
    if (query == reader->query && run == reader->run)
        return READ_ON;
    const int64_t number = reader->result.num_rows - 1;
    if (close_ranking(reader, number) != READ_ON)
        return reader->status;
    reader->run = run;
    reader->query = query;
    reader->first_row = number;
    return open_ranking(reader);
}

static int is_next(const TableReader *reader, Column *columns, size_t row)
{
    return row == 0 || !cell_repeats(&columns[QUERY], row) ||
           (reader->settings.names[RUN] && !cell_repeats(&columns[RUN], row));
}

static Status read_row(void *context, Column *columns, size_t row)
{
    TableReader *reader = context;
    Field document;
    reader->result.num_rows++;
    if (is_next(reader, columns, row) && turn_to(reader, columns, row) != READ_ON)
        return reader->status;
    double score = cell_number(&columns[NUMBER], row);
    score = reader->settings.is_rank ? -score : score;
    if (reader->settings.float32)
        score = (double)(float)score;
    if (score != score || !cell_text(&columns[DOCUMENT], row, &document)) /* NaN cannot be ordered */
        return stop(reader, READ_BAD_LINE);
    if (!is_judged(reader))
        return READ_ON;
    const double *grades = reader->judged.grades + reader->judged.offsets[reader->query];
    if (!ranking_add(&reader->ranking, document.start, document.length, score, grades))
        return stop(reader, READ_NO_MEMORY);
    return READ_ON;
}

Status table_feed(TableReader *reader, struct ArrowArrayStream *stream)
{
    if (reader->status == READ_ON)
        stop(reader, each_row(stream, reader->settings.names, read_row, reader));
    return reader->status;
}

Status table_finish(TableReader *reader)
{
    if (reader->status == READ_ON)
        close_ranking(reader, reader->result.num_rows);
    if (reader->status == READ_ON) {
        reader->run = reader->query = -1;
        reader->first_row = reader->result.num_rows;
    }
    return reader->status;
}

int64_t table_forget(TableReader *reader)
{
    if (reader->status == READ_BAD_LINE)
        reader->status = READ_ON;
    reader->run = reader->query = -1;
    return reader->result.num_rows = reader->first_row;
}

void table_take_repeated(TableReader *reader)
{
    reader->result.repeated.used = 0;
}

const TableResult *table_result(const TableReader *reader)
{
    return &reader->result;
}

TableReader *table_new(const Judged *judged, const TableSettings *settings)
{
    TableReader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->judged = *judged;
    reader->settings = *settings;
    reader->run = reader->query = -1;
    reader->ranking.ties = settings->ties;
    reader->ranking.units = judged->units;
    reader->queries.key = reader->unanswered.key = settings->key;
    reader->result.runs.key = reader->ranking.documents.key = settings->key;
    int made = ids_clear(&reader->queries, judged->num_queries) &&
               ids_clear(&reader->unanswered, 0) && ids_clear(&reader->result.runs, 0) &&
               (settings->names[RUN] || add_run(reader));
    for (size_t q = 0; made && q < judged->num_queries; q++) {
        const int64_t *borders = judged->query_borders + q;
        const char *id = judged->query_ids + borders[0];
        made = ids_put(&reader->queries, id, (size_t)(borders[1] - borders[0])) == (int64_t)q;
    }
    if (made)
        return reader;
    table_free(reader);
    return NULL;
}

void table_free(TableReader *reader)
{
    TableResult *result = &reader->result;
    Buffer *buffers[] = {&result->found, &result->num_retrieved, &result->num_unjudged, &result->repeated};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    ids_free(&reader->queries);
    ids_free(&reader->unanswered);
    ids_free(&result->runs);
    ranking_free(&reader->ranking);
    free(reader);
}

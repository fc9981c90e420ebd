/* Rows of runs to rankings: the rows of a ranking must come together. */

#include "arrow.h"

#include <stdlib.h>

struct TableReader {
    Judged judged;
    TableSettings settings;
    TableResult result;
    Status status;
    IdSet requests;   /* those judged first, then the others */
    IdSet unanswered; /* pairs of a system and a request that nobody judged */
    int64_t system, request; /* the current ones; -1 before the first */
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
    return reader->request >= 0 && (size_t)reader->request < reader->judged.num_requests;
}

static int64_t *lengths_of(const TableReader *reader)
{
    return (int64_t *)(void *)reader->result.num_retrieved.data;
}

/* The number of the current ranking. */
static size_t ranking_number(const TableReader *reader)
{
    return (size_t)reader->system * reader->judged.num_requests + (size_t)reader->request;
}

/* Counts a request that nobody judged, once for its system. */
static int count_unjudged(TableReader *reader)
{
    int64_t pair[] = {reader->system, reader->request};
    size_t known = reader->unanswered.count;
    int64_t number = ids_put(&reader->unanswered, (const char *)pair, sizeof pair);
    if (number < 0)
        return 0;
    ((int64_t *)(void *)reader->result.num_unjudged.data)[reader->system] += (size_t)number == known;
    return 1;
}

/* Says where a ranking with an item that is listed twice can be read again, by somebody who knows what that means. */
static int hand_back(TableReader *reader, int64_t end)
{
    int64_t rows[] = {reader->first_row, end, reader->system, reader->request};
    lengths_of(reader)[ranking_number(reader)] = 0; /* it has been there */
    return buffer_append(&reader->result.repeated, rows, sizeof rows);
}

/* Ends the current ranking before a row: says where its judged items are. */
static Status close_ranking(TableReader *reader, int64_t end)
{
    Ranking *ranking = &reader->ranking;
    int done = 1;
    if (is_judged(reader) && ranking->duplicate >= 0)
        done = hand_back(reader, end);
    else if (is_judged(reader))
        done = ranking_found(ranking, &reader->judged, reader->request, (int64_t)ranking_number(reader),
                             &reader->result.found, lengths_of(reader) + ranking_number(reader));
    else if (reader->request >= 0)
        done = count_unjudged(reader);
    return done ? READ_ON : stop(reader, READ_NO_MEMORY);
}

/* Begins a ranking: the items to be looked for are the first of its ids. */
static Status open_ranking(TableReader *reader)
{
    const Judged *judged = &reader->judged;
    if (!is_judged(reader))
        return READ_ON;
    if (lengths_of(reader)[ranking_number(reader)] >= 0)
        return stop(reader, READ_INTERLEAVED);
    const int64_t *borders = judged->item_borders + judged->offsets[reader->request];
    int64_t num_tracked = judged->num_tracked[reader->request];
    int made = ranking_clear(&reader->ranking, (size_t)num_tracked);
    for (int64_t i = 0; made && i < num_tracked; i++)
        made = ranking_track(&reader->ranking, judged->item_ids + borders[i], (size_t)(borders[i + 1] - borders[i]));
    return made ? READ_ON : stop(reader, READ_NO_MEMORY);
}

/* Makes room for the rankings of one more system, none of them answered yet. */
static int add_system(TableReader *reader)
{
    const int64_t nobody = -1, none = 0;
    for (size_t q = 0; q < reader->judged.num_requests; q++)
        if (!buffer_append(&reader->result.num_retrieved, &nobody, sizeof nobody))
            return 0;
    return buffer_append(&reader->result.num_unjudged, &none, sizeof none);
}

static int64_t system_at(TableReader *reader, Column *columns, size_t row)
{
    Field name;
    size_t known = reader->result.systems.count;
    if (!reader->settings.names[SYSTEM])
        return 0;
    if (!cell_text(&columns[SYSTEM], row, &name)) {
        stop(reader, READ_BAD_LINE);
        return -1;
    }
    int64_t system = ids_put(&reader->result.systems, name.start, name.length);
    if (system >= 0 && ((size_t)system < known || add_system(reader)))
        return system;
    stop(reader, READ_NO_MEMORY);
    return -1;
}

/* Goes on to the ranking of a row, which may be the current one. */
static Status turn_to(TableReader *reader, Column *columns, size_t row)
{
    Field id;
    int64_t system = system_at(reader, columns, row);
    if (system < 0)
        return reader->status;
    if (!cell_text(&columns[REQUEST], row, &id))
        return stop(reader, READ_BAD_LINE);
    int64_t request = ids_put(&reader->requests, id.start, id.length);
    if (request < 0)
        return stop(reader, READ_NO_MEMORY);
    if (request == reader->request && system == reader->system)
        return READ_ON;
    const int64_t number = reader->result.num_rows - 1;
    if (close_ranking(reader, number) != READ_ON)
        return reader->status;
    reader->system = system;
    reader->request = request;
    reader->first_row = number;
    return open_ranking(reader);
}

static int is_next(const TableReader *reader, Column *columns, size_t row)
{
    return row == 0 || !cell_repeats(&columns[REQUEST], row) ||
           (reader->settings.names[SYSTEM] && !cell_repeats(&columns[SYSTEM], row));
}

static Status read_row(void *context, Column *columns, size_t row)
{
    TableReader *reader = context;
    Field item;
    reader->result.num_rows++;
    if (is_next(reader, columns, row) && turn_to(reader, columns, row) != READ_ON)
        return reader->status;
    double score = cell_number(&columns[NUMBER], row);
    score = reader->settings.is_rank ? -score : score;
    if (reader->settings.float32)
        score = (double)(float)score;
    if (score != score || !cell_text(&columns[ITEM], row, &item)) /* NaN cannot be ordered */
        return stop(reader, READ_BAD_LINE);
    if (!is_judged(reader))
        return READ_ON;
    const double *grades = reader->judged.grades + reader->judged.offsets[reader->request];
    if (!ranking_add(&reader->ranking, item.start, item.length, score, grades))
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
        reader->system = reader->request = -1;
        reader->first_row = reader->result.num_rows;
    }
    return reader->status;
}

int64_t table_forget(TableReader *reader)
{
    if (reader->status == READ_BAD_LINE)
        reader->status = READ_ON;
    reader->system = reader->request = -1;
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
    reader->system = reader->request = -1;
    reader->ranking.ties = settings->ties;
    reader->ranking.units = judged->units;
    reader->requests.key = reader->unanswered.key = settings->key;
    reader->result.systems.key = reader->ranking.items.key = settings->key;
    int made = ids_clear(&reader->requests, judged->num_requests) &&
               ids_clear(&reader->unanswered, 0) && ids_clear(&reader->result.systems, 0) &&
               (settings->names[SYSTEM] || add_system(reader));
    for (size_t q = 0; made && q < judged->num_requests; q++) {
        const int64_t *borders = judged->request_borders + q;
        const char *id = judged->request_ids + borders[0];
        made = ids_put(&reader->requests, id, (size_t)(borders[1] - borders[0])) == (int64_t)q;
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
    ids_free(&reader->requests);
    ids_free(&reader->unanswered);
    ids_free(&result->systems);
    ranking_free(&reader->ranking);
    free(reader);
}

/* Queries: where one begins and ends, and what a row adds to it. */

#include "queries.h"

#include <string.h>

Status stop(Reader *reader, Status status)
{
    if (reader->status == READ_ON)
        reader->status = status;
    return reader->status;
}

Status stop_with(Reader *reader, Status status, const char *text, size_t length)
{
    reader->result.line.used = 0;
    return stop(reader, buffer_append(&reader->result.line, text, length) ? status : READ_NO_MEMORY);
}

/* Says where the judged documents of the current query are, with all its rows at hand. */
static Status close_ranking(Reader *reader, int64_t *num_places)
{
    int64_t query = reader->query;
    Ranking *ranking = &reader->ranking;
    if (ranking->duplicate >= 0) {
        size_t length;
        const char *document = id_of(&ranking->documents, (size_t)ranking->duplicate, &length);
        reader->result.query = query;
        return stop_with(reader, READ_DUPLICATE, document, length);
    }
    int done = ranking_found(ranking, &reader->judged, query, query, &reader->result.found, num_places);
    return done ? READ_ON : READ_NO_MEMORY;
}

Status close_query(Reader *reader)
{
    if (!is_judged(reader))
        return READ_ON;
    int64_t *num_places = (int64_t *)(void *)reader->result.num_retrieved.data + reader->query;
    Status status = reader->settings.careful ? close_ranking(reader, num_places)
                                             : descending_close(&reader->descending, &reader->result.found);
    if (status != READ_ON)
        return stop(reader, status);
    if (!reader->settings.careful)
        *num_places = (int64_t)reader->descending.rows;
    reader->closed.data[reader->query] = 1;
    return READ_ON;
}

/* Begins a query: the documents to be looked for are the first of its ids. */
static Status open_query(Reader *reader, const char *id, size_t length)
{
    const Judged *judged = &reader->judged;
    int64_t query = ids_put(&reader->queries, id, length);
    reader->query_id.used = 0;
    if (query < 0 || !buffer_append(&reader->query_id, id, length))
        return stop(reader, READ_NO_MEMORY);
    reader->query_word = reader->query_mask = 0;
    memcpy(&reader->query_word, id, length < 8 ? length : 8);
    memset(&reader->query_mask, 0xFF, length < 8 ? length : 8);
    reader->query = query;
    if ((size_t)query >= judged->num_queries)
        return READ_ON;
    if (reader->closed.data[query])
        return stop(reader, READ_INTERLEAVED);
    if (!reader->settings.careful)
        return descending_open(&reader->descending, judged, query) ? READ_ON : stop(reader, READ_NO_MEMORY);
    const int64_t *borders = judged->document_borders + judged->offsets[query];
    int made = ranking_clear(&reader->ranking, (size_t)judged->num_tracked[query]);
    for (int64_t i = 0; made && i < judged->num_tracked[query]; i++)
        made = ranking_track(&reader->ranking, judged->document_ids + borders[i], (size_t)(borders[i + 1] - borders[i]));
    return made ? READ_ON : stop(reader, READ_NO_MEMORY);
}

static Status refuse(Reader *reader, const Row *row)
{
    return stop_with(reader, READ_BAD_LINE, row->line, row->length);
}

static Status next_query(Reader *reader, Field id)
{
    Status status = close_query(reader);
    return status == READ_ON ? open_query(reader, id.start, id.length) : status;
}

/* Adds a row to the ranking that keeps all of them. */
static Status take_carefully(Reader *reader, const Row *row, int is_same)
{
    double score;
    if (!score_value(&reader->settings, row->score, &score))
        return refuse(reader, row);
    if (!is_same && next_query(reader, row->query) != READ_ON)
        return reader->status;
    if (!is_judged(reader))
        return READ_ON;
    const double *grades = reader->judged.grades + reader->judged.offsets[reader->query];
    int added = ranking_add(&reader->ranking, row->document.start, row->document.length, score, grades);
    return added ? READ_ON : stop(reader, READ_NO_MEMORY);
}

Status take(Reader *reader, const Row *row, int is_same)
{
    Descending *descending = &reader->descending;
    Step step = STEP_DOWN;
    if (reader->settings.careful)
        return take_carefully(reader, row, is_same);
    if (is_same)
        step = score_next(&descending->score, &reader->settings, row->score, row->readable);
    else if (!score_first(&descending->score, &reader->settings, row->score, row->readable))
        step = STEP_NONE;
    if (step == STEP_NONE)
        return refuse(reader, row);
    if (!is_same && next_query(reader, row->query) != READ_ON)
        return reader->status;
    if (!is_judged(reader))
        return READ_ON;
    if (step == STEP_UP)
        return stop(reader, READ_AGAIN);
    Status status = descending_add(descending, row->document, step == STEP_LEVEL, &reader->result.found);
    return status == READ_ON ? status : stop(reader, status);
}


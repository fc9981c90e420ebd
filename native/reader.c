/* The reader: blocks to lines, lines to requests. */

#include "reader.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

struct Reader {
    Judged judged;
    Settings settings;
    Result result;
    Status status;
    IdSet requests;    /* those judged first, then the others */
    Buffer closed;     /* a byte for each judged request: its lines have ended */
    Lines lines;
    int64_t request;   /* the current one, -1 before the first */
    Buffer request_id;
    Ranking ranking;
};

static Status stop(Reader *reader, Status status)
{
    if (reader->status == READ_ON)
        reader->status = status;
    return reader->status;
}

static Status stop_with(Reader *reader, Status status, const char *text, size_t length)
{
    reader->result.line.used = 0;
    return stop(reader, buffer_append(&reader->result.line, text, length) ? status : READ_NO_MEMORY);
}

/* Ends the current request: says where its judged items are. */
static Status close_request(Reader *reader)
{
    int64_t request = reader->request;
    Ranking *ranking = &reader->ranking;
    if (request < 0 || (size_t)request >= reader->judged.num_requests)
        return READ_ON;
    if (ranking->duplicate >= 0) {
        size_t length;
        const char *item = id_of(&ranking->items, (size_t)ranking->duplicate, &length);
        reader->result.request = request;
        return stop_with(reader, READ_DUPLICATE, item, length);
    }
    if (!ranking_order(ranking))
        return stop(reader, READ_NO_MEMORY);
    const Seen *seen = seen_of(ranking);
    for (size_t i = 0; i < num_seen(ranking); i++) {
        int64_t item = reader->judged.offsets[request] + seen[i].entry;
        int64_t row[] = {request, seen[i].position, item, seen[i].block_start, seen[i].block_size};
        if (!buffer_append(&reader->result.found, row, sizeof row))
            return stop(reader, READ_NO_MEMORY);
    }
    ((int64_t *)(void *)reader->result.num_retrieved.data)[request] = (int64_t)ranking->rows;
    reader->closed.data[request] = 1;
    return READ_ON;
}

/* Begins a request: the items to be looked for are the first of its ids. */
static Status open_request(Reader *reader, const char *id, size_t length)
{
    const Judged *judged = &reader->judged;
    int64_t request = ids_put(&reader->requests, id, length);
    reader->request_id.used = 0;
    if (request < 0 || !buffer_append(&reader->request_id, id, length))
        return stop(reader, READ_NO_MEMORY);
    reader->request = request;
    if ((size_t)request >= judged->num_requests)
        return READ_ON;
    if (reader->closed.data[request])
        return stop(reader, READ_INTERLEAVED);
    const int64_t *borders = judged->item_borders + judged->offsets[request];
    int made = ranking_clear(&reader->ranking, (size_t)judged->num_tracked[request]);
    for (int64_t i = 0; made && i < judged->num_tracked[request]; i++)
        made = ranking_track(&reader->ranking, judged->item_ids + borders[i], (size_t)(borders[i + 1] - borders[i]));
    return made ? READ_ON : stop(reader, READ_NO_MEMORY);
}

static int score_of(const Settings *settings, Field field, double *score)
{
    if (!number_of(settings, field, score))
        return 0;
    if (settings->float32)
        *score = (double)(float)*score;
    return *score == *score; /* NaN cannot be ordered */
}

static int is_whole_number(Field field)
{
    size_t at = field.start[0] == '+' || field.start[0] == '-';
    size_t first = at;
    while (at < field.length && (unsigned char)(field.start[at] - '0') < 10)
        at++;
    return at == field.length && at > first;
}

/* Whether a line has the fields of a run. Fields after the tag are ignored, unless they may be there because an id
 * holds a blank: then the rank is not a number, or the score is where the tag should be. */
static int has_fields(const Settings *settings, const Field *fields, int count)
{
    double score;
    if (count <= 6)
        return count >= 5;
    return !settings->strict && is_whole_number(fields[3]) && !number_of(settings, fields[5], &score);
}

static Status read_line(void *context, const char *line, size_t length, const char *readable)
{
    Reader *reader = context;
    Field fields[MOST_FIELDS];
    double score;
    skip_byte_order_mark(reader->lines.number, &line, &length);
    int count = split(line, length, readable, fields);
    if (count == 0 || (count > 0 && fields[0].start[0] == '#'))
        return READ_ON;
    reader->result.num_lines++;
    if (!has_fields(&reader->settings, fields, count) || !score_of(&reader->settings, fields[4], &score))
        return stop_with(reader, READ_BAD_LINE, line, length);
    reader->result.num_extra += count > 6;
    if (reader->request < 0 || fields[0].length != reader->request_id.used ||
        memcmp(fields[0].start, reader->request_id.data, fields[0].length) != 0)
        if (close_request(reader) != READ_ON || open_request(reader, fields[0].start, fields[0].length) != READ_ON)
            return reader->status;
    if ((size_t)reader->request >= reader->judged.num_requests)
        return READ_ON;
    const double *grades = reader->judged.grades + reader->judged.offsets[reader->request];
    if (!ranking_add(&reader->ranking, fields[2].start, fields[2].length, score, grades))
        return stop(reader, READ_NO_MEMORY);
    return READ_ON;
}

Status reader_feed(Reader *reader, const char *block, size_t length)
{
    if (reader->status == READ_ON)
        stop(reader, each_line(&reader->lines, block, length, read_line, reader));
    reader->result.number = reader->lines.number;
    return reader->status;
}

Status reader_finish(Reader *reader)
{
    if (reader->status == READ_ON)
        stop(reader, last_line(&reader->lines, read_line, reader));
    reader->result.number = reader->lines.number;
    if (reader->status == READ_ON)
        close_request(reader);
    reader->request = -1;
    if (reader->requests.count > reader->judged.num_requests)
        reader->result.num_unjudged = reader->requests.count - reader->judged.num_requests;
    return reader->status;
}

const Result *reader_result(const Reader *reader)
{
    return &reader->result;
}

Reader *reader_new(const Judged *judged, const Settings *settings)
{
    Reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->judged = *judged;
    reader->settings = *settings;
    reader->lines.longest = settings->longest_line;
    reader->requests.key = reader->ranking.items.key = settings->key;
    reader->request = -1;
    reader->ranking.ties = settings->ties;
    const int64_t unanswered = -1;
    int made = ids_clear(&reader->requests, judged->num_requests);
    for (size_t q = 0; made && q < judged->num_requests; q++) {
        const int64_t *borders = judged->request_borders + q;
        const char *id = judged->request_ids + borders[0];
        made = ids_put(&reader->requests, id, (size_t)(borders[1] - borders[0])) == (int64_t)q &&
               buffer_append(&reader->result.num_retrieved, &unanswered, sizeof unanswered) &&
               buffer_append(&reader->closed, "", 1);
    }
    if (made)
        return reader;
    reader_free(reader);
    return NULL;
}

void reader_free(Reader *reader)
{
    Buffer *buffers[] = {&reader->result.found, &reader->result.num_retrieved, &reader->result.line,
                         &reader->closed,       &reader->lines.unfinished,     &reader->request_id};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    ids_free(&reader->requests);
    ranking_free(&reader->ranking);
    free(reader);
}

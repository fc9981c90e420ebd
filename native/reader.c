/* The reader: blocks to lines, lines to rows of a query.
 *
 * Most lines are six fields with single blanks between them: these are cut where the index of blanks says. All others
 * are split by lines.c. */

#include "queries.h"

#include <stdlib.h>
#include <string.h>

static int is_current(const Reader *reader, Field id)
{
    return reader->query >= 0 && id.length == reader->query_id.used &&
           memcmp(id.start, reader->query_id.data, id.length) == 0;
}

/* The same for an id with at least eight bytes to read, most often without a call. */
static inline int is_current_word(const Reader *reader, Field id)
{
    uint64_t word;
    memcpy(&word, id.start, sizeof word);
    if (reader->query < 0 || id.length != reader->query_id.used || (word ^ reader->query_word) & reader->query_mask)
        return 0;
    return id.length <= 8 || memcmp(id.start, reader->query_id.data, id.length) == 0;
}

/* Reads a line of any kind. */
static Status read_line(void *context, const char *line, size_t length, const char *readable)
{
    Reader *reader = context;
    Field fields[MOST_FIELDS] = {{0}}; /* a line may have fewer */
    skip_byte_order_mark(reader->lines.number, &line, &length);
    int count = split(line, length, readable, fields);
    if (count == 0 || (count > 0 && fields[0].start[0] == '#'))
        return READ_ON;
    const Row row = {fields[0], fields[2], fields[4], line, length, readable};
    reader->result.num_lines++;
    if (!has_run_fields(&reader->settings, fields, count))
        return stop_with(reader, READ_BAD_LINE, line, length);
    reader->result.num_extra += count > 6;
    return take(reader, &row, is_current(reader, fields[0]));
}

/* How many of the next blanks make a line of six fields with single blanks between them; 0 if it is not one. Such a
 * line may end with a carriage return. */
static inline size_t regular_line(const char *text, size_t start, const uint16_t *places, size_t left)
{
    if (left < 6 || text[start] == '#' || places[0] == start)
        return 0;
    for (int i = 0; i < 5; i++)
        if (text[places[i]] == '\n' || places[i + 1] == places[i] + 1)
            return 0;
    if (text[places[5]] == '\n')
        return 6;
    int is_return = text[places[5]] == '\r' && left > 6 && places[6] == places[5] + 1 && text[places[6]] == '\n';
    return is_return ? 7 : 0;
}

static inline Field field_between(const char *text, size_t blank, size_t next)
{
    return (Field){text + blank + 1, next - blank - 1};
}

/* Reads a line of six fields, cut at these places. */
static inline void read_regular(Reader *reader, const char *text, size_t start, const uint16_t *places, size_t length, const char *end)
{
    const Row row = {{text + start, places[0] - start}, field_between(text, places[1], places[2]),
                     field_between(text, places[3], places[4]), text + start, length, end};
    reader->lines.number++;
    reader->result.num_lines++;
    take(reader, &row, is_current_word(reader, row.query)); /* such a line has twelve bytes at least */
}

/* Whether all lines that end within a part of a block have six fields with single blanks between them, and none is a
 * comment: every sixth blank is a newline, and no other. */
static int is_regular(const Reader *reader, const char *text)
{
    const Blanks *blanks = &reader->blanks;
    size_t num_newlines = blanks->num_newlines, found = 0, start = 0;
    if (blanks->has_nul || blanks->has_pairs || reader->lines.number == 0 || reader->lines.longest < INDEXED ||
        6 * num_newlines > blanks->count)
        return 0;
    for (const uint16_t *last = blanks->places + 5; found < num_newlines; last += 6, found++) {
        if (text[*last] != '\n' || text[start] == '#')
            return 0;
        start = *last + (size_t)1;
    }
    return 1;
}

/* How many of such lines have the current query. */
static size_t num_current(const Reader *reader, const char *text, size_t start, const uint16_t *places, size_t most)
{
    size_t count = 0;
    for (; count < most && is_current_word(reader, (Field){text + start, places[0] - start}); count++, places += 6)
        start = places[5] + (size_t)1;
    return count;
}

/* How many of such lines have a score that is not above that of the line before; and the step to the one that has. */
static size_t num_ordered(Reader *reader, const char *text, Lined lined, const char *end, Step *step)
{
    Score *last = &reader->descending.score;
    size_t count = 0;
    for (*step = STEP_DOWN; *step == STEP_DOWN || *step == STEP_LEVEL;) {
        count += scores_descend(last, text, lined_from(lined, count), end);
        if (count == lined.count)
            break;
        const uint16_t *places = lined.places + 6 * count;
        *step = score_next(last, &reader->settings, field_between(text, places[3], places[4]), end);
        lined.is_level[count] = *step == STEP_LEVEL;
        count += *step == STEP_DOWN || *step == STEP_LEVEL;
    }
    return count;
}

/* Reads such lines of the current query, many at a time as long as scores do not ascend. */
static void read_current(Reader *reader, const char *text, const uint16_t *places, size_t count, const char *end)
{
    unsigned char is_level[MOST_LINES];
    for (Lined left = {places, is_level, count}; left.count && reader->status == READ_ON;) {
        Step step;
        Lined rows = {left.places, is_level, num_ordered(reader, text, left, end, &step)};
        reader->lines.number += (int64_t)rows.count;
        reader->result.num_lines += (int64_t)rows.count;
        if (is_judged(reader))
            stop(reader, descending_add_rows(&reader->descending, text, rows, &reader->result.found));
        left.places += 6 * rows.count;
        left.count -= rows.count;
        if (left.count == 0 || reader->status != READ_ON)
            return;
        reader->lines.number++;
        reader->result.num_lines++;
        if (step == STEP_NONE)
            stop_with(reader, READ_BAD_LINE, text + left.places[-1] + 1, (size_t)(left.places[5] - left.places[-1] - 1));
        else if (is_judged(reader))
            stop(reader, READ_AGAIN);
        left.places += 6;
        left.count--;
    }
}

/* Reads such lines; returns where the next one begins. */
static const char *read_regular_part(Reader *reader, const char *text, const char *end)
{
    const uint16_t *places = reader->blanks.places;
    size_t start = 0;
    for (size_t left = reader->blanks.num_newlines; left && reader->status == READ_ON;) {
        size_t count = start && !reader->settings.careful ? num_current(reader, text, start, places, left) : 0;
        if (count) {
            read_current(reader, text, places, count, end);
        } else {
            count = 1;
            read_regular(reader, text, start, places, places[5] - start, end);
        }
        places += 6 * count;
        left -= count;
        start = places[-1] + (size_t)1;
    }
    return text + start;
}

/* Reads the lines that end within a part of a block; returns where the next one begins. */
static const char *read_part(Reader *reader, const char *text, const char *end)
{
    const Blanks *blanks = &reader->blanks;
    size_t start = 0, at = 0;
    while (reader->status == READ_ON) {
        const uint16_t *places = blanks->places + at;
        size_t left = blanks->count - at, used = 0;
        if (!blanks->has_nul && reader->lines.number > 0)
            used = regular_line(text, start, places, left);
        size_t last = used ? used - 1 : 0;
        while (!used && last < left && text[places[last]] != '\n')
            last++;
        if (last == left)
            break;
        size_t length = places[last] - start;
        if (used && length <= reader->lines.longest) {
            read_regular(reader, text, start, places, length, end);
        } else {
            reader->lines.number++;
            stop(reader, length > reader->lines.longest ? READ_LONG_LINE : read_line(reader, text + start, length, end));
        }
        start = places[last] + (size_t)1;
        at += last + 1;
    }
    return text + start;
}

/* Reads up to the end of a line, or of the block, without the index: what an earlier block has begun, and long lines. */
static const char *read_slowly(Reader *reader, const char *block, const char *end)
{
    const char *newline = memchr(block, '\n', (size_t)(end - block));
    const char *next = newline ? newline + 1 : end;
    stop(reader, each_line(&reader->lines, block, (size_t)(next - block), read_line, reader));
    if (!descending_keep(&reader->descending))
        stop(reader, READ_NO_MEMORY);
    return next;
}

Status reader_feed(Reader *reader, const char *block, size_t length)
{
    const char *end = block + length;
    if (has_lone_return(&reader->lines, block, length))
        stop(reader, READ_AGAIN); /* in Python, which says where it is */
    while (reader->status == READ_ON && block < end) {
        const char *next = block;
        if (reader->lines.unfinished.used == 0) {
            size_t part = (size_t)(end - block);
            reader->settings.find_blanks(block, part < INDEXED ? part : INDEXED, &reader->blanks);
            if (is_regular(reader, block))
                next = read_regular_part(reader, block, end);
            if (next == block)
                next = read_part(reader, block, end);
        }
        block = next == block ? read_slowly(reader, block, end) : next;
    }
    if (reader->status == READ_ON && !descending_keep(&reader->descending))
        stop(reader, READ_NO_MEMORY);
    reader->result.number = reader->lines.number;
    return reader->status;
}

/* Gives the ids of queries without judgments. */
static int name_unjudged(Reader *reader)
{
    int done = 1;
    reader->result.unjudged.used = reader->result.num_unjudged = 0;
    for (size_t q = reader->judged.num_queries; done && q < reader->queries.count; q++) {
        size_t length;
        const char *id = id_of(&reader->queries, q, &length);
        done = buffer_append(&reader->result.unjudged, id, length) && buffer_append(&reader->result.unjudged, "\n", 1);
        reader->result.num_unjudged++;
    }
    return done;
}

Status reader_finish(Reader *reader)
{
    if (reader->status == READ_ON)
        stop(reader, last_line(&reader->lines, read_line, reader));
    reader->result.number = reader->lines.number;
    if (reader->status == READ_ON)
        close_query(reader);
    reader->query = -1;
    if (!name_unjudged(reader))
        stop(reader, READ_NO_MEMORY);
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
    reader->settings.careful |= judged->units != NULL; /* all rows are needed */
    reader->ranking.units = judged->units;
    reader->lines.longest = settings->longest_line;
    if (!settings->find_blanks)
        reader->settings.find_blanks = blank_finder(NULL);
    reader->queries.key = reader->ranking.documents.key = settings->key;
    reader->descending.key = reader->descending.ranking.documents.key = settings->key;
    reader->query = -1;
    reader->ranking.ties = reader->descending.ranking.ties = settings->ties;
    const int64_t unanswered = -1;
    int made = ids_clear(&reader->queries, judged->num_queries);
    for (size_t q = 0; made && q < judged->num_queries; q++) {
        const int64_t *borders = judged->query_borders + q;
        const char *id = judged->query_ids + borders[0];
        made = ids_put(&reader->queries, id, (size_t)(borders[1] - borders[0])) == (int64_t)q &&
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
                         &reader->closed,       &reader->lines.unfinished,     &reader->query_id,
                         &reader->result.unjudged};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    ids_free(&reader->queries);
    ranking_free(&reader->ranking);
    descending_free(&reader->descending);
    free(reader);
}

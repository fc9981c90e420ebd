/* Judgments: lines of query, ignored, document, grade; to arrays with the documents of each query together. */

#include "parts.h"

#include <stdlib.h>

/* One line of the current query; its document ends at `end` in the bytes of all documents. */
typedef struct {
    double grade;
    size_t end;
} Line;

struct JudgmentReader {
    Settings settings;
    Judgments result;
    Status status;
    Lines lines;
    IdSet queries;  /* all so far; the last of them is the current one */
    IdSet documents;     /* of the current query, once its lines end */
    Buffer document_ids; /* bytes, in the order of lines */
    Buffer judged;   /* Line */
    Buffer first;    /* size_t for each document: its line */
};

static Status stop(JudgmentReader *reader, Status status)
{
    return reader->status = status;
}

static const Line *lines_of(const JudgmentReader *reader)
{
    return (const Line *)(const void *)reader->judged.data;
}

static const char *document_of(const JudgmentReader *reader, size_t line, size_t *length)
{
    size_t start = line ? lines_of(reader)[line - 1].end : 0;
    *length = lines_of(reader)[line].end - start;
    return reader->document_ids.data + start;
}

static int emit(Judgments *result, const char *document, size_t length, double grade)
{
    int64_t end;
    if (!buffer_append(&result->document_ids, document, length))
        return 0;
    end = (int64_t)result->document_ids.used;
    return buffer_append(&result->document_borders, &end, sizeof end) && buffer_append(&result->grades, &grade, sizeof grade);
}

/* Recognizes the documents of the current query: a line that repeats an earlier one is left out and counted. */
static Status tell_apart(JudgmentReader *reader)
{
    const Line *lines = lines_of(reader);
    size_t num_lines = reader->judged.used / sizeof *lines, length;
    reader->first.used = 0;
    if (!ids_clear(&reader->documents, num_lines))
        return READ_NO_MEMORY;
    for (size_t line = 0; line < num_lines; line++) {
        const char *document = document_of(reader, line, &length);
        size_t known = reader->documents.count;
        int64_t number = ids_put(&reader->documents, document, length);
        if (number < 0)
            return READ_NO_MEMORY;
        if ((size_t)number == known) {
            if (!buffer_append(&reader->first, &line, sizeof line))
                return READ_NO_MEMORY;
        } else if (lines[((const size_t *)(const void *)reader->first.data)[number]].grade != lines[line].grade) {
            return READ_DUPLICATE;
        } else {
            reader->result.num_repeated++;
        }
    }
    return READ_ON;
}

/* Ends the current query: lays out its documents, those with positive grades first. */
static Status close_query(JudgmentReader *reader)
{
    Judgments *result = &reader->result;
    int64_t num_positive = 0;
    size_t length;
    Status status = tell_apart(reader);
    const size_t *first = (const size_t *)(const void *)reader->first.data;
    for (int positive = 1; positive >= 0; positive--)
        for (size_t i = 0; status == READ_ON && i < reader->documents.count; i++) {
            double grade = lines_of(reader)[first[i]].grade;
            if ((grade > 0) != positive)
                continue;
            const char *document = document_of(reader, first[i], &length);
            num_positive += positive;
            status = emit(result, document, length, grade) ? READ_ON : READ_NO_MEMORY;
        }
    int64_t end = (int64_t)(result->grades.used / sizeof(double));
    if (!buffer_append(&result->offsets, &end, sizeof end) ||
        !buffer_append(&result->num_positive, &num_positive, sizeof num_positive))
        status = READ_NO_MEMORY;
    reader->judged.used = reader->document_ids.used = 0;
    return status;
}

/* Begins a query, which must be new. */
static Status open_query(JudgmentReader *reader, const char *id, size_t length)
{
    Judgments *result = &reader->result;
    size_t known = reader->queries.count;
    int64_t query = ids_put(&reader->queries, id, length);
    if (query < 0 || !buffer_append(&result->query_ids, id, length))
        return READ_NO_MEMORY;
    if ((size_t)query < known)
        return READ_INTERLEAVED;
    int64_t end = (int64_t)result->query_ids.used;
    return buffer_append(&result->query_borders, &end, sizeof end) ? READ_ON : READ_NO_MEMORY;
}

static int is_current(const JudgmentReader *reader, Field id)
{
    size_t length;
    if (!reader->queries.count)
        return 0;
    const char *current = id_of(&reader->queries, reader->queries.count - 1, &length);
    return length == id.length && memcmp(current, id.start, length) == 0;
}

/* Takes one judgment; the status stays once it is not READ_ON. */
Status judgments_add(JudgmentReader *reader, Field query, Field document, double grade)
{
    if (!is_current(reader, query)) {
        if (reader->queries.count && stop(reader, close_query(reader)) != READ_ON)
            return reader->status;
        if (stop(reader, open_query(reader, query.start, query.length)) != READ_ON)
            return reader->status;
    }
    if (!buffer_append(&reader->document_ids, document.start, document.length))
        return stop(reader, READ_NO_MEMORY);
    Line judged = {.grade = grade, .end = reader->document_ids.used};
    return buffer_append(&reader->judged, &judged, sizeof judged) ? READ_ON : stop(reader, READ_NO_MEMORY);
}

Status judgments_stop(JudgmentReader *reader, Status status)
{
    return reader->status == READ_ON ? stop(reader, status) : reader->status;
}

static Status read_line(void *context, const char *line, size_t length, const char *readable)
{
    JudgmentReader *reader = context;
    Field fields[MOST_FIELDS];
    skip_byte_order_mark(reader->lines.number, &line, &length);
    int count = split(line, length, readable, fields);
    if (count == 0 || (count > 0 && fields[0].start[0] == '#'))
        return READ_ON;
    double grade;
    if (count != 4 || !number_of(&reader->settings, fields[3], &grade) || grade - grade != 0)
        return stop(reader, READ_BAD_LINE); /* the last holds for infinity and NaN */
    return judgments_add(reader, fields[0], fields[2], grade);
}

Status judgments_feed(JudgmentReader *reader, const char *block, size_t length)
{
    if (reader->status == READ_ON && has_lone_return(&reader->lines, block, length))
        stop(reader, READ_BAD_LINE);
    if (reader->status == READ_ON)
        stop(reader, each_line(&reader->lines, block, length, read_line, reader));
    return reader->status;
}

Status judgments_finish(JudgmentReader *reader)
{
    if (reader->status == READ_ON)
        stop(reader, last_line(&reader->lines, read_line, reader));
    reader->result.number = reader->lines.number;
    if (reader->status == READ_ON && reader->queries.count)
        stop(reader, close_query(reader));
    return reader->status;
}

Judgments *judgments_result(JudgmentReader *reader)
{
    return &reader->result;
}

JudgmentReader *judgments_new(const Settings *settings)
{
    JudgmentReader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    const int64_t zero = 0;
    Judgments *result = &reader->result;
    reader->settings = *settings;
    reader->lines.longest = settings->longest_line;
    reader->queries.key = reader->documents.key = settings->key;
    if (ids_clear(&reader->queries, 64) && buffer_reserve(&reader->document_ids, 1) &&
        buffer_append(&result->offsets, &zero, sizeof zero) &&
        buffer_append(&result->document_borders, &zero, sizeof zero) &&
        buffer_append(&result->query_borders, &zero, sizeof zero))
        return reader;
    judgments_free(reader);
    return NULL;
}

void judgments_free(JudgmentReader *reader)
{
    Judgments *result = &reader->result;
    Buffer *buffers[] = {&result->query_ids,  &result->query_borders, &result->offsets,  &result->num_positive,
                         &result->document_ids,     &result->document_borders,    &result->grades,   &reader->document_ids,
                         &reader->judged,       &reader->first,           &reader->lines.unfinished};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    ids_free(&reader->queries);
    ids_free(&reader->documents);
    free(reader);
}

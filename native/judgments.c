/* Judgments: lines of request, ignored, item, grade; to arrays with the items of each request together. */

#include "parts.h"

#include <stdlib.h>

/* One line; its item ends there in the bytes of all items. */
typedef struct {
    double grade;
    size_t end;
    uint32_t request;
} Line;

struct JudgmentReader {
    Settings settings;
    Judgments result;
    Status status;
    int64_t number;
    IdSet requests;
    Buffer unfinished;
    Buffer items; /* bytes of all items, in the order of lines */
    Buffer lines; /* Line */
};

static Status stop(JudgmentReader *reader, Status status)
{
    return reader->status = status;
}

static Status read_line(void *context, const char *line, size_t length, const char *readable)
{
    JudgmentReader *reader = context;
    const Settings *settings = &reader->settings;
    Field fields[MOST_FIELDS];
    skip_byte_order_mark(++reader->number, &line, &length);
    int count = split(line, length, readable, fields);
    if (count == 0 || (count > 0 && fields[0].start[0] == '#'))
        return READ_ON;
    Line judged;
    if (count != 4 || !number_of(settings, fields[3], &judged.grade) || judged.grade - judged.grade != 0)
        return stop(reader, READ_BAD_LINE); /* the last is true of infinity and NaN */
    int64_t request = ids_put(&reader->requests, fields[0].start, fields[0].length);
    if (request < 0 || !buffer_append(&reader->items, fields[2].start, fields[2].length))
        return stop(reader, READ_NO_MEMORY);
    judged.request = (uint32_t)request;
    judged.end = reader->items.used;
    return buffer_append(&reader->lines, &judged, sizeof judged) ? READ_ON : stop(reader, READ_NO_MEMORY);
}

Status judgments_feed(JudgmentReader *reader, const char *block, size_t length)
{
    if (reader->status == READ_ON && !each_line(&reader->unfinished, block, length, read_line, reader))
        stop(reader, READ_NO_MEMORY);
    return reader->status;
}

/* The lines of each request together, in the order in which they came: where those of request q begin is in starts[q]. */
static size_t *group_lines(const JudgmentReader *reader, size_t *starts)
{
    const Line *lines = (const Line *)(const void *)reader->lines.data;
    size_t num_lines = reader->lines.used / sizeof *lines, num_requests = reader->requests.count;
    size_t *grouped = malloc((num_lines + 1) * sizeof *grouped);
    if (!grouped)
        return NULL;
    for (size_t i = 0; i < num_lines; i++)
        starts[lines[i].request + 1]++;
    for (size_t q = 0; q < num_requests; q++)
        starts[q + 1] += starts[q];
    for (size_t i = 0; i < num_lines; i++)
        grouped[starts[lines[i].request]++] = i;
    for (size_t q = num_requests; q > 0; q--) /* each start has moved to the end of its lines */
        starts[q] = starts[q - 1];
    starts[0] = 0;
    return grouped;
}

static const char *item_of(const JudgmentReader *reader, size_t line, size_t *length)
{
    const Line *lines = (const Line *)(const void *)reader->lines.data;
    size_t start = line ? lines[line - 1].end : 0;
    *length = lines[line].end - start;
    return reader->items.data + start;
}

static int emit(Judgments *result, const char *item, size_t length, double grade)
{
    int64_t end;
    if (!buffer_append(&result->item_ids, item, length))
        return 0;
    end = (int64_t)result->item_ids.used;
    return buffer_append(&result->item_borders, &end, sizeof end) && buffer_append(&result->grades, &grade, sizeof grade);
}

/* Lays out one request: items with positive grades first. A line that repeats an earlier one is left out and counted. */
static Status lay_out(JudgmentReader *reader, const size_t *grouped, size_t count, IdSet *ids)
{
    const Line *lines = (const Line *)(const void *)reader->lines.data;
    Judgments *result = &reader->result;
    int64_t num_positive = 0;
    size_t length;
    if (!ids_clear(ids, count))
        return READ_NO_MEMORY;
    size_t *first = malloc((count + 1) * sizeof *first); /* the line of each item */
    Status status = first ? READ_ON : READ_NO_MEMORY;
    for (size_t i = 0; status == READ_ON && i < count; i++) {
        const char *item = item_of(reader, grouped[i], &length);
        size_t known = ids->count;
        int64_t number = ids_put(ids, item, length);
        if (number < 0)
            status = READ_NO_MEMORY;
        else if ((size_t)number == known)
            first[number] = grouped[i];
        else if (lines[grouped[i]].grade != lines[first[number]].grade)
            status = READ_DUPLICATE;
        else
            result->num_repeated++;
    }
    for (int positive = 1; positive >= 0; positive--)
        for (size_t i = 0; status == READ_ON && i < ids->count; i++)
            if ((lines[first[i]].grade > 0) == positive) {
                const char *item = item_of(reader, first[i], &length);
                num_positive += positive;
                if (!emit(result, item, length, lines[first[i]].grade))
                    status = READ_NO_MEMORY;
            }
    free(first);
    int64_t end = (int64_t)(result->grades.used / sizeof(double));
    if (!buffer_append(&result->offsets, &end, sizeof end) ||
        !buffer_append(&result->num_positive, &num_positive, sizeof num_positive))
        status = READ_NO_MEMORY;
    return status;
}

static Status lay_out_all(JudgmentReader *reader)
{
    const int64_t zero = 0;
    Judgments *result = &reader->result;
    size_t num_requests = reader->requests.count;
    size_t *starts = calloc(num_requests + 1, sizeof *starts);
    size_t *grouped = starts ? group_lines(reader, starts) : NULL;
    IdSet ids = {.key = reader->settings.key};
    Status status = grouped && buffer_append(&result->offsets, &zero, sizeof zero) &&
                            buffer_append(&result->item_borders, &zero, sizeof zero) &&
                            buffer_append(&result->request_borders, &zero, sizeof zero)
                        ? READ_ON
                        : READ_NO_MEMORY;
    for (size_t q = 0; status == READ_ON && q < num_requests; q++) {
        size_t length;
        const char *id = id_of(&reader->requests, q, &length);
        status = lay_out(reader, grouped + starts[q], starts[q + 1] - starts[q], &ids);
        if (!buffer_append(&result->request_ids, id, length))
            status = READ_NO_MEMORY;
        int64_t end = (int64_t)result->request_ids.used;
        if (!buffer_append(&result->request_borders, &end, sizeof end))
            status = READ_NO_MEMORY;
    }
    ids_free(&ids);
    free(grouped);
    free(starts);
    return status;
}

Status judgments_finish(JudgmentReader *reader)
{
    if (reader->status == READ_ON)
        last_line(&reader->unfinished, read_line, reader);
    if (reader->status == READ_ON)
        stop(reader, lay_out_all(reader));
    return reader->status;
}

const Judgments *judgments_result(const JudgmentReader *reader)
{
    return &reader->result;
}

JudgmentReader *judgments_new(const Settings *settings)
{
    JudgmentReader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->settings = *settings;
    reader->requests.key = settings->key;
    if (ids_clear(&reader->requests, 64))
        return reader;
    free(reader);
    return NULL;
}

void judgments_free(JudgmentReader *reader)
{
    Judgments *result = &reader->result;
    Buffer *buffers[] = {&result->request_ids,  &result->request_borders, &result->offsets, &result->num_positive, &result->item_ids,
                         &result->item_borders, &result->grades,          &reader->items,   &reader->lines,        &reader->unfinished};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    ids_free(&reader->requests);
    free(reader);
}

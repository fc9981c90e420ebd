/* The slow twin of the reader: what judgments and runs mean, said with loops over everything.
 *
 * It shares no code with the reader, and knows nothing of blocks, hashes, orders or decimals. */
#ifndef LEXIRECALL_FUZZ_SLOW_TWIN_H
#define LEXIRECALL_FUZZ_SLOW_TWIN_H

#include "../native/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *start;
    size_t length;
} Text;

static inline void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "this does not hold: %s\n", what);
        abort();
    }
}

static inline int same(Text a, Text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.start, b.start, a.length) == 0);
}

/* A number as strtod reads it, with nothing after it. */
static inline int slow_number(void *context, const char *text, size_t length, double *value)
{
    (void)context;
    char *copy = malloc(length + 1), *end;
    expect(copy != NULL, "there is memory");
    memcpy(copy, text, length);
    copy[length] = 0;
    *value = strtod(copy, &end);
    int is_number = end == copy + length;
    free(copy);
    return is_number;
}

/* ---- Lines ---- */

/* What a line of either kind says; `number` is the score or the grade. */
typedef struct {
    Text query, document;
    double number;
    int has_more; /* fields than a line needs */
} Row;

typedef enum { NOTHING, A_ROW, NONSENSE, TOO_LONG } Meaning;
typedef enum { OF_JUDGMENTS, OF_A_RUN } Kind;

static inline int is_blank(char byte)
{
    return byte != 0 && strchr(" \t\n\v\f\r", byte) != NULL;
}

/* Cuts off the next field; an empty one means that there are no more. */
static inline Text next_field(Text *line)
{
    while (line->length && is_blank(*line->start))
        line->start++, line->length--;
    Text field = {line->start, 0};
    while (line->length && !is_blank(*line->start))
        line->start++, line->length--, field.length++;
    return field;
}

/* Whether a field is digits, perhaps after one sign. */
static inline int is_rank(Text field)
{
    size_t digits = 0, signs = strchr("+-", *field.start) != NULL;
    for (size_t i = signs; i < field.length; i++)
        digits += strchr("0123456789", field.start[i]) != NULL;
    return digits > 0 && digits + signs == field.length;
}

/* Whether this many fields (here are the first six) make a line; more than six do not if an id may hold a blank. */
static inline int are_fields(const Text *fields, size_t count, Kind kind, int strict)
{
    double number;
    if (kind == OF_JUDGMENTS)
        return count == 4;
    if (count == 5 || count == 6)
        return 1;
    return count > 6 && !strict && is_rank(fields[3]) && !slow_number(NULL, fields[5].start, fields[5].length, &number);
}

static inline Meaning meaning_of(Text line, Kind kind, const Settings *settings, Row *row)
{
    Text fields[6] = {{NULL, 0}}, field;
    size_t count = 0;
    if (line.length && memchr(line.start, 0, line.length))
        return NONSENSE;
    for (; (field = next_field(&line)).length; count++)
        if (count < 6)
            fields[count] = field;
    if (count == 0 || *fields[0].start == '#')
        return NOTHING;
    if (!are_fields(fields, count, kind, settings->strict))
        return NONSENSE;
    row->has_more = count > 6;
    row->query = fields[0];
    row->document = fields[2];
    field = fields[kind == OF_A_RUN ? 4 : 3];
    if (!slow_number(NULL, field.start, field.length, &row->number) || isnan(row->number))
        return NONSENSE;
    if (kind == OF_JUDGMENTS)
        return isfinite(row->number) ? A_ROW : NONSENSE;
    row->number = settings->float32 ? (double)(float)row->number : row->number;
    return A_ROW;
}

/* Cuts off the next line; the first one loses its byte order mark. */
static inline Text next_line(Text *text, int is_first)
{
    const char *newline = memchr(text->start, '\n', text->length);
    Text line = {text->start, newline ? (size_t)(newline - text->start) : text->length};
    size_t taken = line.length + (newline != NULL);
    text->start += taken;
    text->length -= taken;
    if (is_first && line.length >= 3 && memcmp(line.start, "\xEF\xBB\xBF", 3) == 0)
        line = (Text){line.start + 3, line.length - 3};
    return line;
}

/* All rows up to the first line that cannot be read, or is too long. */
typedef struct {
    Row *rows;
    size_t count;
    int64_t num_lines, nonsense; /* the number of that line, or 0 */
    Status refusal;              /* what it makes of the file */
    Text line;
} Rows;

static inline Rows rows_of(Text text, Kind kind, const Settings *settings)
{
    Rows all = {.rows = malloc((text.length / 8 + 1) * sizeof(Row))}; /* no row is shorter, its newline included */
    expect(all.rows != NULL, "there is memory");
    while (text.length && !all.nonsense) {
        const char *start = text.start;
        all.line = next_line(&text, all.num_lines++ == 0);
        int is_long = (size_t)(all.line.start + all.line.length - start) > settings->longest_line;
        Meaning meaning = is_long ? TOO_LONG : meaning_of(all.line, kind, settings, &all.rows[all.count]);
        all.count += meaning == A_ROW;
        all.nonsense = meaning == NONSENSE || meaning == TOO_LONG ? all.num_lines : 0;
        all.refusal = meaning == TOO_LONG ? READ_LONG_LINE : READ_BAD_LINE;
    }
    return all;
}

/* Whether a carriage return has neither a newline nor another one behind it, as old Macs ended lines. */
static inline int is_of_old_macs(Text text)
{
    for (size_t i = 0; i + 1 < text.length; i++)
        if (text.start[i] == '\r' && text.start[i + 1] != '\r' && text.start[i + 1] != '\n')
            return 1;
    return 0;
}

/* ---- Judgments ---- */

static inline Text id_at(const char *ids, const int64_t *borders, size_t index)
{
    return (Text){ids + borders[index], (size_t)(borders[index + 1] - borders[index])};
}

/* The place of a query in the judgments, or -1. */
static inline int64_t query_at(const Judged *judged, Text query)
{
    for (size_t q = 0; q < judged->num_queries; q++)
        if (same(query, id_at(judged->query_ids, judged->query_borders, q)))
            return (int64_t)q;
    return -1;
}

/* The place of a tracked document of a query in the judgments, or -1. */
static inline int64_t document_at(const Judged *judged, int64_t query, Text document)
{
    for (int64_t i = judged->offsets[query]; i < judged->offsets[query] + judged->num_tracked[query]; i++)
        if (same(document, id_at(judged->document_ids, judged->document_borders, (size_t)i)))
            return i;
    return -1;
}

/* The first row of the same query and document. */
static inline size_t first_such(const Row *rows, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (same(rows[i].query, rows[row].query) && same(rows[i].document, rows[row].document))
            return i;
    return row;
}

/* The status that judgments should have: a query must not contradict itself, and its rows must be together. */
static inline Status status_of_judgments(const Rows *all)
{
    const Row *rows = all->rows;
    size_t start = 0;
    for (size_t i = 0; i <= all->count; i++) {
        int is_end = i == all->count;
        if (is_end && all->nonsense)
            return all->refusal;
        if (!is_end && i > 0 && same(rows[i].query, rows[i - 1].query))
            continue;
        for (size_t j = start; j < i; j++)
            if (rows[first_such(rows, j)].number != rows[j].number)
                return READ_DUPLICATE;
        for (size_t j = 0; !is_end && j < i; j++)
            if (same(rows[j].query, rows[i].query))
                return READ_INTERLEAVED;
        start = i;
    }
    return READ_ON;
}

/* Judgments hold the documents of each row once, in the order of the file, those with positive grades before the others. */
static inline void check_judgments(
    Text text, const Settings *settings, Status status, const Judged *judged, int64_t num_repeated)
{
    if (is_of_old_macs(text)) {
        expect(status != READ_ON, "judgments with line ends of old Macs are not read");
        return;
    }
    Rows all = rows_of(text, OF_JUDGMENTS, settings);
    int64_t repeated = 0, document = 0;
    for (size_t i = 0; i < all.count; i++)
        repeated += first_such(all.rows, i) != i;
    expect(status == status_of_judgments(&all), "judgments are read or refused as they should be");
    for (size_t q = 0; status == READ_ON && q < judged->num_queries; q++) {
        expect(judged->offsets[q] == document, "the documents of a query begin where those of the last one ended");
        for (int positive = 1; positive >= 0; positive--)
            for (size_t i = 0; i < all.count; i++) {
                const Row *row = &all.rows[i];
                if (query_at(judged, row->query) != (int64_t)q || first_such(all.rows, i) != i ||
                    (row->number > 0) != positive)
                    continue;
                expect(same(row->document, id_at(judged->document_ids, judged->document_borders, (size_t)document)), "documents are in order");
                expect(row->number == judged->grades[document++], "grades are those of the file");
            }
        expect(judged->offsets[q + 1] == document, "a query has no other documents");
    }
    expect(status != READ_ON || document + repeated == (int64_t)all.count, "no row is lost");
    expect(status != READ_ON || repeated == num_repeated, "repeated lines are counted");
    free(all.rows);
}

/* ---- Runs ---- */

static inline double gain_of(const Judged *judged, int64_t query, Text document)
{
    int64_t at = document_at(judged, query, document);
    return at >= 0 && judged->grades[at] > 0 ? judged->grades[at] : 0;
}

static inline int id_descends(Text a, Text b)
{
    int order = memcmp(a.start, b.start, a.length < b.length ? a.length : b.length);
    return order ? order > 0 : a.length > b.length;
}

/* Whether a row comes before another one with the same score. */
static inline int precedes(const Judged *judged, int64_t query, TieRule rule, const Row *a, const Row *b)
{
    if (rule == TIES_INPUT)
        return a < b;
    double gain_a = gain_of(judged, query, a->document), gain_b = gain_of(judged, query, b->document);
    if (rule != TIES_TREC && gain_a != gain_b)
        return rule == TIES_WORST ? gain_a < gain_b : gain_a > gain_b;
    return id_descends(a->document, b->document);
}

/* What should happen with a run: how far it is read, and why no further. */
typedef struct {
    Status status;
    size_t row; /* the one that it is about */
} Outcome;

static inline Outcome outcome_of(const Rows *all, const Judged *judged)
{
    size_t start = 0;
    for (size_t i = 0; i <= all->count; i++) {
        int is_end = i == all->count;
        if (is_end && all->nonsense)
            return (Outcome){all->refusal, i};
        if (!is_end && i > 0 && same(all->rows[i].query, all->rows[i - 1].query))
            continue;
        for (size_t j = start; j < i && query_at(judged, all->rows[start].query) >= 0; j++)
            if (first_such(all->rows, j) != j)
                return (Outcome){READ_DUPLICATE, j};
        for (size_t j = 0; !is_end && j < start; j++)
            if (same(all->rows[j].query, all->rows[i].query) && query_at(judged, all->rows[i].query) >= 0)
                return (Outcome){READ_INTERLEAVED, i};
        start = i;
    }
    return (Outcome){READ_ON, 0};
}

/* Checks one judged document that was retrieved against a count of the rows above it. */
static inline void check_found(const Rows *all, const Judged *judged, TieRule rule, const int64_t *found)
{
    int64_t query = found[0], above = 0, equal = 0, before = 0;
    Text id = id_at(judged->query_ids, judged->query_borders, (size_t)query);
    Text document = id_at(judged->document_ids, judged->document_borders, (size_t)found[2]);
    const Row *row = NULL;
    for (size_t i = 0; i < all->count; i++)
        if (same(all->rows[i].query, id) && same(all->rows[i].document, document))
            row = &all->rows[i];
    expect(row != NULL, "what is found is in the run");
    for (size_t i = 0; i < all->count; i++) {
        const Row *other = &all->rows[i];
        if (!same(other->query, id))
            continue;
        above += other->number > row->number;
        equal += other->number == row->number;
        before += other->number == row->number && other != row && precedes(judged, query, rule, other, row);
    }
    expect(found[3] == above && found[4] == equal, "tied blocks are counted right");
    expect(found[1] == above + before + 1, "the position is one more than the number of rows before");
}

static inline size_t num_unjudged_of(const Rows *all, const Judged *judged)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        size_t j = 0;
        while (!same(all->rows[j].query, all->rows[i].query))
            j++;
        count += j == i && query_at(judged, all->rows[i].query) < 0;
    }
    return count;
}

/* Everything that a result says. */
static inline void check_run(Text text, const Judged *judged, const Settings *settings, Status status, const Result *result)
{
    Rows all = rows_of(text, OF_A_RUN, settings);
    Outcome outcome = outcome_of(&all, judged);
    Text line = {result->line.data, result->line.used};
    expect(status == outcome.status, "the run is read or refused as it should be");
    if (status == READ_BAD_LINE)
        expect(result->number == all.nonsense && same(line, all.line), "the line that cannot be read is handed back");
    if (status == READ_LONG_LINE)
        expect(result->number == all.nonsense, "the line that is too long is named");
    if (status == READ_DUPLICATE)
        expect(result->query == query_at(judged, all.rows[outcome.row].query) && same(line, all.rows[outcome.row].document),
               "the first document that is listed twice is handed back");
    if (status == READ_ON) {
        const int64_t *found = (const int64_t *)(const void *)result->found.data;
        const int64_t *num_retrieved = (const int64_t *)(const void *)result->num_retrieved.data;
        size_t num_found = result->found.used / (5 * sizeof *found), num_tracked = 0;
        for (size_t i = 0; i < num_found; i++)
            check_found(&all, judged, settings->ties, found + 5 * i);
        for (size_t q = 0; q < judged->num_queries; q++) {
            int64_t rows = 0;
            for (size_t i = 0; i < all.count; i++)
                if (query_at(judged, all.rows[i].query) == (int64_t)q) {
                    rows++;
                    num_tracked += document_at(judged, (int64_t)q, all.rows[i].document) >= 0;
                }
            expect(num_retrieved[q] == (rows ? rows : -1), "the rows of a query are counted");
        }
        expect(num_found == num_tracked, "every tracked document of the run is found");
        expect(result->num_unjudged == num_unjudged_of(&all, judged), "queries without judgments are counted");
        expect(result->number == all.num_lines, "lines are counted");
        int64_t num_extra = 0;
        for (size_t i = 0; i < all.count; i++)
            num_extra += all.rows[i].has_more;
        expect(result->num_extra == num_extra, "lines with more fields are counted");
    }
    free(all.rows);
}

#endif

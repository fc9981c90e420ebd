/* The fast reader: the text of a run, block by block, to the positions of its judged documents.
 *
 * Plain C, to be tested and fuzzed without Python; module.c makes a Python module of it. It understands lines
 * as formats/trec.py does. If a line makes no sense, it stops and hands the line back, to be explained there.
 */
#ifndef LEXIRECALL_READER_H
#define LEXIRECALL_READER_H

#include "blanks.h"

#include <stddef.h>
#include <stdint.h>

typedef struct UnitTable UnitTable;

/* The judgments, as arrays that the caller keeps alive. Documents of query q lie at offsets[q] to offsets[q + 1]; only
 * the first num_tracked[q] of them are looked for. */
typedef struct {
    size_t num_queries;
    const char *query_ids;
    const int64_t *query_borders; /* num_queries + 1 */
    const int64_t *offsets;         /* num_queries + 1 */
    const int64_t *num_tracked;     /* num_queries */
    const char *document_ids;
    const int64_t *document_borders;
    const double *grades;
    const UnitTable *units; /* in which places are counted, or NULL: in documents */
} Judged;

typedef enum { TIES_TREC, TIES_INPUT, TIES_WORST, TIES_BEST } TieRule;

/* Reads a number that is not a plain decimal, exactly as Python does; returns 0 if it is not a number. */
typedef int (*SlowNumber)(void *context, const char *text, size_t length, double *value);

typedef struct {
    TieRule ties;
    int float32;               /* round scores to float32 first */
    int strict;                /* refuse fields after the tag of a run */
    int careful;               /* keep ids and scores, for scores in any order and documents that are listed twice */
    FindBlanks find_blanks;    /* NULL for the fastest */
    size_t longest_line;       /* bytes, without the newline */
    uint64_t key;              /* secret of the hash: nobody can choose ids that collide */
    const uint64_t *powers;    /* of ten, from POWER_MIN to POWER_MAX: 128 bits each, high word first */
    SlowNumber slow_number;
    void *context;
} Settings;

enum { POWER_MIN = -342, POWER_MAX = 308 };

typedef enum {
    READ_ON,           /* all is well */
    READ_BAD_LINE,     /* `line` makes no sense; it is line number `number` */
    READ_DUPLICATE,    /* `line` is a document that query `query` of the judgments lists twice */
    READ_INTERLEAVED,  /* the lines of a query are not together */
    READ_LONG_LINE,    /* line number `number` is longer than a line may be */
    READ_NO_MEMORY,
    READ_AGAIN         /* the scores of a query do not descend, or a document may be listed twice: be careful */
} Status;

/* A buffer that grows. */
typedef struct {
    char *data;
    size_t used, room;
} Buffer;

typedef struct Reader Reader;

Reader *reader_new(const Judged *judged, const Settings *settings);
void reader_free(Reader *reader);

/* Takes the next block of the file, or its end; the status stays once it is not READ_ON. */
Status reader_feed(Reader *reader, const char *block, size_t length);
Status reader_finish(Reader *reader);

/* What came out: five int64 for each judged document that was retrieved: query, position, document, where its block of tied
 * documents begins and how large that is; ascending by position within a query. */
typedef struct {
    Buffer found;
    Buffer num_retrieved; /* int64 for each query, -1 if it was not answered */
    size_t num_unjudged;  /* queries without judgments */
    Buffer unjudged;      /* their ids, each with a newline behind it */
    int64_t number;       /* the line last looked at */
    int64_t num_lines;    /* lines that are neither empty nor comments */
    int64_t num_extra;    /* lines with fields after the tag */
    Buffer line;          /* what the status is about */
    int64_t query;
} Result;

const Result *reader_result(const Reader *reader);

/* Judgments, as arrays: what Judged is made of, in buffers that the caller may take and free. Any status other than
 * READ_ON says that they cannot be read here: a bad line, a document with two grades, or a scattered query. */
typedef struct {
    Buffer query_ids, query_borders, offsets, num_positive, document_ids, document_borders, grades;
    int64_t num_repeated; /* lines that repeat an earlier one */
    int64_t number;       /* the line last looked at */
} Judgments;

typedef struct JudgmentReader JudgmentReader;

JudgmentReader *judgments_new(const Settings *settings);
void judgments_free(JudgmentReader *reader);
Status judgments_feed(JudgmentReader *reader, const char *block, size_t length);
Status judgments_finish(JudgmentReader *reader);
Judgments *judgments_result(JudgmentReader *reader);

/* Reads a plain decimal number; returns 0 if it is not one, or if its last bit needs more care. */
int decimal_number(const char *text, size_t length, const uint64_t *powers, double *value);

#endif

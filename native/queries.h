/* The reader of a run: what it knows between two blocks, and what its rows do. */
#ifndef LEXIRECALL_QUERIES_H
#define LEXIRECALL_QUERIES_H

#include "blanks.h"
#include "descending.h"
#include "parts.h"
#include "scores.h"

struct Reader {
    Judged judged;
    Settings settings;
    Result result;
    Status status;
    IdSet queries;    /* those judged first, then the others */
    Buffer closed;     /* a byte for each judged query: its lines have ended */
    Lines lines;
    int64_t query;   /* the current one, -1 before the first */
    Buffer query_id;
    uint64_t query_word, query_mask; /* its first eight bytes, as they lie in memory */
    Descending descending;
    Ranking ranking;   /* instead, if careful */
    Blanks blanks;
};

/* What counts of a line. */
typedef struct {
    Field query, document, score;
    const char *line;
    size_t length;
    const char *readable;
} Row;

/* Stops reading, unless that has happened before; with a text that says where. */
Status stop(Reader *reader, Status status);
Status stop_with(Reader *reader, Status status, const char *text, size_t length);

/* Adds a row to the ranking of its query, which may be the same as that of the row before. */
Status take(Reader *reader, const Row *row, int is_same);

/* Ends the current query. */
Status close_query(Reader *reader);

static inline int is_judged(const Reader *reader)
{
    return reader->query >= 0 && (size_t)reader->query < reader->judged.num_queries;
}

#endif

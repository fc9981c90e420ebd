/* What the parts of the reader share. */
#ifndef LEXIRECALL_PARTS_H
#define LEXIRECALL_PARTS_H

#include "reader.h"

#include <string.h>

/* A part of a text. */
typedef struct {
    const char *start;
    size_t length;
} Field;

/* Buffers: these return 0 without memory. */
int buffer_grow(Buffer *buffer, size_t more);
void buffer_free(Buffer *buffer);

static inline int buffer_reserve(Buffer *buffer, size_t more)
{
    return more <= buffer->room - buffer->used || buffer_grow(buffer, more);
}

static inline int buffer_append(Buffer *buffer, const void *data, size_t length)
{
    if (!buffer_reserve(buffer, length))
        return 0;
    if (length)
        memcpy(buffer->data + buffer->used, data, length);
    buffer->used += length;
    return 1;
}

enum { FOUND_TOGETHER = 32 };

/* Sets of ids, numbered in the order in which they came. */
typedef struct {
    uint32_t hash;
    uint32_t number; /* plus one; 0 is an empty slot */
} Slot;

typedef struct {
    Slot *slots;
    size_t mask, room; /* slots in use are mask + 1, never more than half of them filled */
    size_t count;
    Buffer bytes;
    Buffer ends; /* size_t for each id */
    uint64_t key;
} IdSet;

int ids_clear(IdSet *set, size_t expected);
int64_t ids_put(IdSet *set, const char *id, size_t length);
int64_t ids_find(const IdSet *set, const char *id, size_t length);
void ids_find_each(const IdSet *set, const Field *ids, size_t count, int64_t *numbers); /* of at most FOUND_TOGETHER */
const char *id_of(const IdSet *set, size_t number, size_t *length);
void ids_free(IdSet *set);

/* Which units the documents of a map stand for; a document may be there once for each query, or once for all. */
struct UnitTable {
    IdSet queries;        /* none if the map holds for all */
    IdSet documents;           /* in front of each id its query: eight bytes, the number of that, or 0 */
    Buffer offsets, units; /* int64: the units of document i lie at offsets[i] to offsets[i + 1] */
    Buffer name;           /* room for one of them */
};

/* How the scores of a ranking have come so far. While they descend, the line number is the position. */
typedef enum { STRICTLY_DESCENDING, DESCENDING, UNORDERED } Order;

/* A judged document that was retrieved. */
typedef struct {
    double score, gain;
    uint32_t row, entry; /* its line within the query, its number among the ids */
    int64_t position, block_start, block_size;
} Seen;

typedef struct {
    TieRule ties;
    IdSet documents;                 /* those tracked first, then the others as they came */
    size_t num_tracked;
    Buffer listed;               /* a byte for each tracked document: it has been there */
    size_t rows;
    Buffer scores;               /* double for each row */
    Buffer entries;              /* uint32 for each row: the number of its document */
    Buffer seen;                 /* Seen, in the order of rows until ranking_order */
    Order order;
    int64_t duplicate;           /* the number of the first document listed twice, or -1 */
    Buffer spare, groups, block; /* room for putting it in order */
    const UnitTable *units;      /* if places are counted in them: then every row is seen */
    IdSet brought;               /* units of which a document has appeared */
    Buffer names;                /* of some documents, as `units` has them */
} Ranking;

/* These return 0 without memory. */
int ranking_clear(Ranking *ranking, size_t num_tracked);
int ranking_track(Ranking *ranking, const char *document, size_t length);
int ranking_add(Ranking *ranking, const char *document, size_t length, double score, const double *grades);
int ranking_add_below(Ranking *ranking, const char *document, size_t length, double score);
int ranking_order(Ranking *ranking);
void ranking_free(Ranking *ranking);
Seen *seen_of(const Ranking *ranking);
size_t num_seen(const Ranking *ranking);

/* Puts a ranking in order and says where its judged documents are, in rows as Result has them, whose first word is
 * `number`; and how many places there are. `ranking->units` are those of the judgments. */
int ranking_found(Ranking *ranking, const Judged *judged, int64_t query, int64_t number, Buffer *found, int64_t *places);

/* Begins a table, and adds one more document with its units, unless it is there already. */
typedef enum { UNITS_PUT, UNITS_AGAIN, UNITS_NO_MEMORY } UnitsPut;
int units_clear(UnitTable *table, uint64_t key, size_t num_queries, size_t num_documents);
UnitsPut units_put(UnitTable *table, int64_t query, Field document, const int64_t *units, size_t count);
void units_free(UnitTable *table);

static inline int is_blank(char byte)
{
    return byte == ' ' || (unsigned char)(byte - '\t') <= '\r' - '\t';
}

/* Lines: at most seven fields are kept, one more than a line may have. */
enum { MOST_FIELDS = 7 };

int split(const char *line, size_t length, const char *readable, Field *fields);

/* Takes one judgment, of a line or of a row; and a reason to stop, if there is none yet. */
Status judgments_add(JudgmentReader *reader, Field query, Field document, double grade);
Status judgments_stop(JudgmentReader *reader, Status status);

/* A number of a field, quickly if it is a plain decimal; returns 0 if it is not one. */
int number_of(const Settings *settings, Field field, double *value);

/* Whether a line has the fields of a run. */
int has_run_fields(const Settings *settings, const Field *fields, int count);

/* Takes a byte order mark, which says nothing in UTF-8, off the first line. */
void skip_byte_order_mark(int64_t number, const char **line, size_t *length);

/* Where a text is cut into lines. */
typedef struct {
    Buffer unfinished; /* the line that the last block broke off */
    int64_t number;    /* of the line last looked at */
    size_t longest;    /* bytes that a line may have */
    int ends_in_return;
} Lines;

/* Whether the next block has a carriage return with neither a newline nor another one behind it, as old Macs ended
 * lines: then the file is not what it seems to be. */
int has_lone_return(Lines *lines, const char *block, size_t length);

/* Gives each line of a block to `read` until it returns a status other than READ_ON, and returns that status. Blank
 * lines are only counted if that is cheaper. A line that the block breaks off is kept for the next block; at the end,
 * last_line gives it. */
typedef Status (*ReadLine)(void *context, const char *line, size_t length, const char *readable);
Status each_line(Lines *lines, const char *block, size_t length, ReadLine read, void *context);
Status last_line(Lines *lines, ReadLine read, void *context);

#endif

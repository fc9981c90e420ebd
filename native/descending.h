/* A ranking whose scores descend from line to line, as those of nearly all runs do. */
#ifndef LEXIRECALL_DESCENDING_H
#define LEXIRECALL_DESCENDING_H

#include "blanks.h"
#include "hash.h"
#include "parts.h"
#include "scores.h"

/* A row of the current block of equal scores. Its id lies in the text, or is kept if that text is gone. */
typedef struct {
    const char *id;
    size_t kept_at, length;
    int64_t entry; /* its number among the documents looked for, or -1 */
} Tied;

typedef struct {
    uint64_t key;
    Slot *slots;          /* of the documents looked for */
    size_t mask, room;
    Buffer filter;        /* a bit for each of many values of a hash: a document looked for may have it */
    uint64_t filter_mask;
    const char *document_ids;
    const int64_t *borders;
    const double *grades;
    int64_t query, first_document;
    Buffer listed;        /* a byte for each document looked for: it has been there */
    Buffer hashes;        /* of all other documents, to see whether one comes twice */
    Buffer sorted, table; /* room for that */
    size_t rows;
    Score score;          /* of the last row */
    Tied *block;          /* the rows with that score */
    size_t size, most;    /* of the block, and what it has room for */
    Buffer kept;          /* ids of the first `num_kept` of them */
    size_t num_kept, num_judged;
    Ranking ranking;      /* puts a block in order */
} Descending;

/* Begins the ranking of a query; the documents looked for are the first ones judged. */
int descending_open(Descending *descending, const Judged *judged, int64_t query);

/* Adds a row whose score is in descending->score already: on the same level as the row before, or below it. Returns
 * READ_AGAIN if the document has been there before. */
static inline Status descending_add(Descending *descending, Field document, int is_level, Buffer *found);

/* Adds rows of a text whose scores do not ascend. */
Status descending_add_rows(Descending *descending, const char *text, Lined rows, Buffer *found);

/* Keeps what lies in a text that is about to go. Returns 0 without memory. */
int descending_keep(Descending *descending);

/* Ends the ranking. Returns READ_AGAIN if a document may be there twice. */
Status descending_close(Descending *descending, Buffer *found);
void descending_free(Descending *descending);

/* Whether two of these hashes are equal; 1 also if that cannot be told, and -1 without memory. */
int has_repeat(const uint64_t *hashes, size_t count, Buffer *sorted, Buffer *table);

/* ---- What is done for each line, to be compiled into the loop over lines ---- */

/* Ends the current block of equal scores, and makes room for one more row of it. These return 0 without memory. */
int descending_close_block(Descending *descending, Buffer *found);
int descending_grow(Descending *descending);

/* The number of a document among those looked for, or -1. */
static inline int64_t entry_of(const Descending *descending, Field document, uint64_t hash)
{
    const uint32_t wanted = short_hash(hash);
    for (size_t at = wanted & descending->mask; descending->slots[at].number; at = (at + 1) & descending->mask) {
        if (descending->slots[at].hash != wanted)
            continue;
        const int64_t *border = descending->borders + (descending->slots[at].number - 1);
        size_t length = (size_t)(border[1] - border[0]);
        if (length == document.length && memcmp(descending->document_ids + border[0], document.start, length) == 0)
            return (int64_t)descending->slots[at].number - 1;
    }
    return -1;
}

static inline Status descending_add(Descending *descending, Field document, int is_level, Buffer *found)
{
    uint64_t hash = id_hash(document.start, document.length, descending->key);
    int64_t entry = entry_of(descending, document, hash);
    if (!is_level) {
        if ((descending->num_judged || descending->num_kept) && !descending_close_block(descending, found))
            return READ_NO_MEMORY;
        descending->size = 0;
    }
    if (descending->rows >= INT32_MAX || (descending->size == descending->most && !descending_grow(descending)))
        return READ_NO_MEMORY;
    if (entry < 0) {
        if (!buffer_append(&descending->hashes, &hash, sizeof hash))
            return READ_NO_MEMORY;
    } else {
        if (descending->listed.data[entry])
            return READ_AGAIN;
        descending->listed.data[entry] = 1;
        descending->num_judged++;
    }
    Tied *row = descending->block + descending->size++;
    row->id = document.start;
    row->length = document.length;
    row->entry = entry;
    descending->rows++;
    return READ_ON;
}

#endif

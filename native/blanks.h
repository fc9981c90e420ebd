/* Where the blanks of a text are, found many bytes at a time. */
#ifndef LEXIRECALL_BLANKS_H
#define LEXIRECALL_BLANKS_H

#include <stddef.h>
#include <stdint.h>

enum {
    INDEXED = 1 << 13,   /* bytes that are looked at together, few enough to stay in the nearest cache */
    MOST_LINES = INDEXED / 12 + 1, /* six fields and six blanks each */
    MOST_AT_ONCE = 64    /* places that may be written beyond the last one that counts */
};

typedef struct {
    size_t count, num_newlines;
    int has_nul, has_pairs; /* two blanks side by side, or one at the beginning */
    uint16_t places[INDEXED + MOST_AT_ONCE];
} Blanks;

/* Finds the blanks among the first `length` bytes, at most INDEXED of them. The finders differ only in speed. */
typedef void (*FindBlanks)(const char *text, size_t length, Blanks *blanks);

/* A finder by its name (plain, sse2, avx2, neon), or NULL if this machine does not have it; the fastest for no name. */
FindBlanks blank_finder(const char *name);

#endif

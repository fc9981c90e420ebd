/* Scores of consecutive lines. */
#ifndef LEXIRECALL_SCORES_H
#define LEXIRECALL_SCORES_H

#include "parts.h"

enum { SHORT_SCORE = 16 }; /* bytes of a score that is compared as text */

/* The score of the line before. */
typedef struct {
    size_t length;      /* of its text if that can decide, else 0 */
    uint64_t words[2];  /* its text, first byte on top */
    uint64_t digits[2]; /* a mask of the bytes that are digits */
    uint64_t others[2]; /* a mask of its other bytes */
    int has_value;
    double value;
} Score;

typedef enum { STEP_DOWN, STEP_LEVEL, STEP_UP, STEP_NONE } Step; /* the last: it is not a number that can be ordered */

/* The number of a score; returns 0 if it is not one, or NaN. */
int score_value(const Settings *settings, Field field, double *value);

/* The first score of a request, and how each of the others compares to the one before it; it takes the place of that.
 * `readable` says how far memory may be read. */
int score_first(Score *score, const Settings *settings, Field field, const char *readable);
Step score_next(Score *last, const Settings *settings, Field field, const char *readable);

#endif

/* Scores of consecutive lines. */
#ifndef LEXIRECALL_SCORES_H
#define LEXIRECALL_SCORES_H

#include "blanks.h"
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
static inline Step score_next(Score *last, const Settings *settings, Field field, const char *readable);

/* How many scores of lines do not ascend, as far as their texts alone decide; the last of them takes the place of the
 * one before. Notes which are on the same level as the one before. */
size_t scores_descend(Score *last, const char *text, Lined lines, const char *readable);

/* The same by numbers. */
Step score_compare(Score *last, const Settings *settings, Field field, const char *readable);

/* ---- What is done for each line, to be compiled into the loop over lines ---- */

#define EACH_BYTE(byte) ((byte) * (uint64_t)0x0101010101010101)

/* Eight bytes as a word with the first one on top, so that words are ordered as texts. */
static inline uint64_t load_text(const char *bytes)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    return (uint64_t)byte[0] << 56 | (uint64_t)byte[1] << 48 | (uint64_t)byte[2] << 40 | (uint64_t)byte[3] << 32 |
           (uint64_t)byte[4] << 24 | (uint64_t)byte[5] << 16 | (uint64_t)byte[6] << 8 | byte[7];
}

/* The text of a score as two words. What is behind it in memory comes along, as far as that may be read. */
static inline void load_score(Field field, const char *readable, uint64_t *words)
{
    char copy[SHORT_SCORE] = {0};
    const char *text = field.start;
    if (readable - text < SHORT_SCORE) {
        memcpy(copy, text, field.length);
        text = copy;
    }
    words[0] = load_text(text);
    words[1] = load_text(text + 8);
}

/* Not 0 if a byte under the mask is not a digit. */
static inline uint64_t non_digits(uint64_t word, uint64_t mask)
{
    const uint64_t upper = EACH_BYTE(0xF0) & mask, zeros = EACH_BYTE(0x30) & mask;
    return ((word & upper) ^ zeros) | ((((word & mask) + (EACH_BYTE(0x06) & mask)) & upper) ^ zeros);
}

static inline Step score_next(Score *last, const Settings *settings, Field field, const char *readable)
{
    uint64_t words[2], differing;
    if (field.length != last->length)
        return score_compare(last, settings, field, readable);
    load_score(field, readable, words);
    words[0] &= last->digits[0] | last->others[0];
    differing = (words[0] ^ last->words[0]) & last->others[0];
    uint64_t odd = non_digits(words[0], last->digits[0]);
    int first = 0; /* the word that decides */
    if (field.length > 8) {
        words[1] &= last->digits[1] | last->others[1];
        differing |= (words[1] ^ last->words[1]) & last->others[1];
        odd |= non_digits(words[1], last->digits[1]);
        first = words[0] == last->words[0];
    }
    if (differing || odd)
        return score_compare(last, settings, field, readable);
    uint64_t now = words[first], before = last->words[first];
    last->words[0] = words[0];
    if (field.length > 8)
        last->words[1] = words[1];
    last->has_value = 0;
    return now < before ? STEP_DOWN : now == before ? STEP_LEVEL : STEP_UP;
}

#endif

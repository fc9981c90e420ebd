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

/* Lines of six fields with single blanks between them: where these and the newlines are, and whether the score of a line
 * is that of the line before. */
typedef struct {
    const uint16_t *places;
    unsigned char *is_level;
    size_t count;
} Lined;

static inline Lined lined_from(Lined lines, size_t first)
{
    return (Lined){lines.places + 6 * first, lines.is_level + first, lines.count - first};
}

typedef enum { STEP_DOWN, STEP_LEVEL, STEP_UP, STEP_NONE } Step; /* the last: it is not a number that can be ordered */

/* The number of a score; returns 0 if it is not one, or NaN. */
int score_value(const Settings *settings, Field field, double *value);

/* The first score of a query, and how each of the others compares to the one before it; it takes the place of that.
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

/* How the text of a score compares to the one before, if that has a shape; both are cut to it. STEP_NONE if the texts
 * cannot decide: the bytes that are not digits differ, or a digit is none. */
static inline Step compare_texts(const Score *shape, const uint64_t *before, uint64_t *now)
{
    uint64_t odd = 0;
    for (int i = 0; i < 2; i++) {
        now[i] &= shape->digits[i] | shape->others[i];
        odd |= (now[i] ^ before[i]) & shape->others[i];
        odd |= non_digits(now[i], shape->digits[i]);
    }
    const int first = now[0] == before[0]; /* the word that decides */
    if (odd)
        return STEP_NONE;
    return now[first] < before[first] ? STEP_DOWN : now[first] == before[first] ? STEP_LEVEL : STEP_UP;
}

static inline Step score_next(Score *last, const Settings *settings, Field field, const char *readable)
{
    uint64_t words[2];
    if (field.length != last->length)
        return score_compare(last, settings, field, readable);
    load_score(field, readable, words);
    Step step = compare_texts(last, last->words, words);
    if (step == STEP_NONE)
        return score_compare(last, settings, field, readable);
    last->words[0] = words[0];
    last->words[1] = words[1];
    last->has_value = 0;
    return step;
}

#endif

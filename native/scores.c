/* Scores, compared as they are written: a number is made only if the text cannot decide.
 *
 * Two scores of the same length, with digits in the same places and the same bytes elsewhere, are ordered as their
 * texts are. With few enough digits, different texts are different numbers too. */

#include "parts.h"
#include "scores.h"

enum { DIGITS_OF_DOUBLE = 15, DIGITS_OF_FLOAT = 6 }; /* so many decimal digits survive rounding */

/* Notes where the digits are, if the text alone can decide about the next score; a sign would turn the order round. */
static void note_shape(Score *score, Field field, const char *readable, int float32)
{
    int num_digits = 0;
    score->length = 0;
    score->digits[0] = score->digits[1] = score->others[0] = score->others[1] = 0;
    if (field.length > SHORT_SCORE)
        return;
    for (size_t i = 0; i < field.length; i++) {
        int is_digit = (unsigned char)(field.start[i] - '0') < 10;
        if (!is_digit && field.start[i] != '.')
            return;
        (is_digit ? score->digits : score->others)[i / 8] |= (uint64_t)0xFF << (56 - 8 * (i % 8));
        num_digits += is_digit;
    }
    if (num_digits > (float32 ? DIGITS_OF_FLOAT : DIGITS_OF_DOUBLE))
        return;
    score->length = field.length;
    load_score(field, readable, score->words);
    for (int i = 0; i < 2; i++)
        score->words[i] &= score->digits[i] | score->others[i];
}

int score_value(const Settings *settings, Field field, double *value)
{
    if (!number_of(settings, field, value))
        return 0;
    if (settings->float32)
        *value = (double)(float)*value;
    return *value == *value; /* NaN cannot be ordered */
}

int score_first(Score *score, const Settings *settings, Field field, const char *readable)
{
    if (!score_value(settings, field, &score->value))
        return 0;
    score->has_value = 1;
    note_shape(score, field, readable, settings->float32);
    return 1;
}

/* The number of a score of which only the text was needed so far. */
static double value_of(const Score *score, const Settings *settings)
{
    double value = score->value;
    char text[SHORT_SCORE];
    if (score->has_value)
        return value;
    for (size_t i = 0; i < SHORT_SCORE; i++)
        text[i] = (char)(score->words[i / 8] >> (56 - 8 * (i % 8)));
    score_value(settings, (Field){text, score->length}, &value); /* few digits and a point are always a number */
    return value;
}

Step score_compare(Score *last, const Settings *settings, Field field, const char *readable)
{
    double before = value_of(last, settings);
    if (!score_first(last, settings, field, readable))
        return STEP_NONE;
    return last->value < before ? STEP_DOWN : last->value == before ? STEP_LEVEL : STEP_UP;
}

size_t scores_descend(Score *last, const char *text, Lined lines, const char *readable)
{
    const Score shape = *last;
    uint64_t before[2] = {shape.words[0], shape.words[1]};
    size_t row = 0;
    for (const uint16_t *places = lines.places; shape.length && row < lines.count; row++, places += 6) {
        const char *score = text + places[3] + 1;
        if ((size_t)(places[4] - places[3] - 1) != shape.length || readable - score < SHORT_SCORE)
            break;
        uint64_t now[2] = {load_text(score), load_text(score + 8)};
        Step step = compare_texts(&shape, before, now);
        if (step != STEP_DOWN && step != STEP_LEVEL)
            break;
        lines.is_level[row] = step == STEP_LEVEL;
        before[0] = now[0];
        before[1] = now[1];
    }
    last->words[0] = before[0];
    last->words[1] = before[1];
    last->has_value = last->has_value && row == 0;
    return row;
}

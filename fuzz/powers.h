/* The table of powers of ten for the reader, made with long arithmetic and without the package. */
#ifndef LEXIRECALL_FUZZ_POWERS_H
#define LEXIRECALL_FUZZ_POWERS_H

#include "../native/reader.h"

enum { NUM_POWERS = POWER_MAX - POWER_MIN + 1, NUM_WORDS = 64, NUM_BITS = 32 * NUM_WORDS };

/* A whole number of 2048 bits, lowest word first. */
typedef struct {
    uint32_t words[NUM_WORDS];
} Whole;

static void times_ten(Whole *number)
{
    uint64_t carry = 0;
    for (int i = 0; i < NUM_WORDS; i++) {
        carry += (uint64_t)number->words[i] * 10;
        number->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void divide_by_ten(Whole *number)
{
    uint64_t rest = 0;
    for (int i = NUM_WORDS - 1; i >= 0; i--) {
        rest = rest << 32 | number->words[i];
        number->words[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
}

static int bit_of(const Whole *number, int bit)
{
    return bit >= 0 && (number->words[bit / 32] >> (bit % 32) & 1);
}

/* The highest 128 bits, as two words. */
static void highest_bits(const Whole *number, uint64_t *high_and_low)
{
    int top = NUM_BITS - 1;
    while (!bit_of(number, top))
        top--;
    for (int i = 0; i < 128; i++)
        high_and_low[i / 64] = high_and_low[i / 64] << 1 | (uint64_t)bit_of(number, top - i);
}

/* Rounding down each time a number is divided by ten is rounding down once. */
static const uint64_t *powers_of_ten(void)
{
    static uint64_t table[2 * NUM_POWERS];
    if (table[0])
        return table;
    Whole up = {{1}}, down = {{0}};
    for (int power = 0; power <= POWER_MAX; power++, times_ten(&up))
        highest_bits(&up, table + 2 * (power - POWER_MIN));
    down.words[NUM_WORDS - 1] = (uint32_t)1 << 31;
    for (int power = -1; power >= POWER_MIN; power--) {
        divide_by_ten(&down);
        highest_bits(&down, table + 2 * (power - POWER_MIN));
    }
    return table;
}

#endif

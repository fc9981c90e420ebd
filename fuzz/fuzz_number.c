/* Fuzzes decimal_number: every number that it reads has exactly the bits that strtod gives.
 *
 * The input is tried as text. Random text is seldom close to the middle between two doubles. So the first bytes are
 * also taken as digits and an exponent, and as a double that is written with more digits than it needs. */

#include "../native/reader.h"
#include "powers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *text, double ours, double theirs)
{
    fprintf(stderr, "'%s' was read as %a, but is %a\n", text, ours, theirs);
    abort();
}

/* The text is copied to a place where reading one byte too many is noticed. */
static void check_text(const char *text, size_t length)
{
    char *exact = malloc(length ? length : 1), *terminated = malloc(length + 1);
    if (!exact || !terminated)
        abort();
    memcpy(exact, text, length);
    memcpy(terminated, text, length);
    terminated[length] = 0;
    double ours = 0;
    if (decimal_number(exact, length, powers_of_ten(), &ours)) {
        char *end;
        double theirs = strtod(terminated, &end);
        if (end != terminated + length || memcmp(&ours, &theirs, sizeof ours) != 0)
            fail(terminated, ours, theirs);
    }
    free(exact);
    free(terminated);
}

static void check_digits(uint64_t digits, int exponent)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%" PRIu64 "e%d", digits, exponent);
    check_text(text, (size_t)length);
}

static void check_double(double value, int precision)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%.*e", precision, value);
    check_text(text, (size_t)length);
    if (fabs(value) < 1e17 && fabs(value) > 1e-17) {
        length = snprintf(text, sizeof text, "%.*f", precision, value);
        check_text(text, (size_t)length);
    }
}

/* The middle between two neighbours, as exactly as 19 digits can say it, and the numbers next to it. */
static void check_middle(double value)
{
    long double middle = ((long double)value + (long double)nextafter(value, INFINITY)) / 2;
    char text[64];
    snprintf(text, sizeof text, "%.18Le", middle);
    const char *point = strchr(text, '.'), *letter = strchr(text, 'e');
    if (!point || !letter)
        return; /* infinite */
    uint64_t digits = (uint64_t)(text[point - text - 1] - '0');
    for (const char *at = point + 1; at < letter; at++)
        digits = 10 * digits + (uint64_t)(*at - '0');
    int exponent = atoi(letter + 1) - 18;
    for (int step = -1; step <= 1; step++)
        check_digits(digits + (uint64_t)(int64_t)step, exponent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t bits;
    double value;
    check_text((const char *)data, size);
    if (size < 10)
        return 0;
    memcpy(&bits, data, sizeof bits);
    memcpy(&value, data, sizeof value);
    int exponent = (data[8] | data[9] << 8) % 700 - 370;
    check_digits(bits, exponent);
    check_digits(bits >> (data[9] % 64), exponent % 30);
    if (isfinite(value)) {
        for (int precision = 14; precision <= 19; precision++)
            check_double(value, precision);
        check_middle(value);
    }
    return 0;
}

/* Decimal numbers, read exactly. */

#include "reader.h"

#include <string.h>

typedef struct {
    uint64_t high, low;
} Wide;

static Wide multiply(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)cross;
    return (Wide){a1 * b1 + (cross >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

static int leading_zeros(uint64_t value)
{
    int zeros = 0;
    for (int step = 32; step; step /= 2)
        if (!(value >> (64 - step))) {
            value <<= step;
            zeros += step;
        }
    return zeros;
}

/* digits · 10^power, rounded correctly, from a 128-bit approximation of the power (Lemire 2021, "Number parsing at a
 * gigabyte per second"); returns 0 in the rare cases that the approximation cannot decide. */
static int scale(uint64_t digits, int power, const uint64_t *powers, double *value)
{
    const uint64_t *ten = powers + 2 * (power - POWER_MIN);
    int zeros = leading_zeros(digits);
    digits <<= zeros;
    int64_t exponent = ((217706 * (int64_t)power) >> 16) + 64 + 1023 - zeros; /* 217706 / 2^16 is log2(10) */
    Wide product = multiply(digits, ten[0]);
    if ((product.high & 0x1FF) == 0x1FF && product.low + digits < digits) {
        Wide rest = multiply(digits, ten[1]);
        uint64_t low = product.low + rest.high;
        if (low < product.low)
            product.high++;
        product.low = low;
        if ((product.high & 0x1FF) == 0x1FF && low + 1 == 0 && rest.low + digits < digits)
            return 0;
    }
    int top = (int)(product.high >> 63);
    uint64_t mantissa = product.high >> (top + 9);
    exponent -= 1 ^ top;
    if (product.low == 0 && (product.high & 0x1FF) == 0 && (mantissa & 3) == 1)
        return 0; /* half-way between two doubles */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> 53) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent < 1 || exponent >= 0x7FF)
        return 0; /* subnormal or infinite */
    uint64_t bits = (mantissa & 0xFFFFFFFFFFFFFu) | (uint64_t)exponent << 52;
    memcpy(value, &bits, sizeof bits);
    return 1;
}

/* A decimal as it is read: digits · 10^power. */
typedef struct {
    uint64_t digits; /* wrong if there are more than nineteen that count */
    int power;
} Decimal;

static size_t take_digits(const char **text, const char *end, Decimal *number)
{
    const char *start = *text;
    unsigned digit;
    for (; *text < end && (digit = (unsigned char)(**text - '0')) < 10; ++*text)
        number->digits = 10 * number->digits + digit;
    return (size_t)(*text - start);
}

/* Whether more than nineteen digits count, that is, from the first that is not zero. */
static int has_too_many_digits(const char *text, size_t count)
{
    while (count && (*text == '0' || *text == '.')) {
        count -= *text == '0';
        text++;
    }
    return count > 19;
}

static int take_exponent(const char **text, const char *end, Decimal *number)
{
    if (*text == end || (**text != 'e' && **text != 'E'))
        return 1;
    ++*text;
    int negative = *text < end && **text == '-';
    *text += *text < end && (**text == '-' || **text == '+');
    const char *start = *text;
    int power = 0;
    for (; *text < end && (unsigned char)(**text - '0') < 10 && power < 100000; ++*text)
        power = 10 * power + (**text - '0');
    number->power += negative ? -power : power;
    return *text > start;
}

int decimal_number(const char *text, size_t length, const uint64_t *powers, double *value)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *end = text + length;
    int negative = text < end && *text == '-';
    text += text < end && (*text == '-' || *text == '+');
    Decimal number = {0, 0};
    const char *start = text;
    size_t before = take_digits(&text, end, &number), behind = 0;
    if (text < end && *text == '.') {
        text++;
        behind = take_digits(&text, end, &number);
    }
    if (before + behind == 0 || before + behind > 1000)
        return 0;
    if (before + behind > 19 && has_too_many_digits(start, before + behind))
        return 0;
    number.power = -(int)behind;
    if (!take_exponent(&text, end, &number) || text != end)
        return 0;
    if (number.digits == 0)
        *value = 0.0;
    else if (number.digits <= (uint64_t)1 << 53 && number.power >= -22 && number.power <= 22) /* both are exact */
        *value = number.power < 0 ? (double)number.digits / exact[-number.power] : (double)number.digits * exact[number.power];
    else if (number.power < POWER_MIN || number.power > POWER_MAX || !scale(number.digits, number.power, powers, value))
        return 0;
    if (negative)
        *value = -*value;
    return 1;
}

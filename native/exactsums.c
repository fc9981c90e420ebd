/* Exact sums of rows of numbers.
 *
 * A number far above all others cuts them: what is left of x after adding it and taking it away again is x to a multiple
 * of its last digit. Such multiples add up without rounding, in any order, and so do, digit after digit, the rests.
 * (Rump, Ogita and Oishi, Accurate floating-point summation I, 2008.)
 */

#include "rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LANES = 4, FEWEST_CUTS = 2, DIGITS = 53, LARGEST_EXPONENT = 900 };

/* The largest size; anything if there is one that is not a number. */
static double largest_of(const double *row, size_t count)
{
    double largest[LANES] = {0};
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(row[i]);
        largest[i % LANES] = size > largest[i % LANES] ? size : largest[i % LANES];
    }
    const double one = fmax(largest[0], largest[1]), other = fmax(largest[2], largest[3]);
    return fmax(one, other);
}

/* Cuts each number at some places and adds the cuts to their sums, in lanes; returns whether nothing is left. */
static inline int cut(const double *restrict row, size_t count, const double *restrict above, int num_cuts,
                      double *restrict sums)
{
    double left[LANES] = {0};
    for (size_t i = 0; i < count; i += LANES) {
        double x[LANES] = {0};
        if (i + LANES <= count)
            for (int lane = 0; lane < LANES; lane++)
                x[lane] = row[i + (size_t)lane];
        else
            for (size_t at = i; at < count; at++)
                x[at - i] = row[at];
        for (int k = 0; k < num_cuts; k++)
            for (int lane = 0; lane < LANES; lane++) {
                const double high = (x[lane] + above[k]) - above[k];
                x[lane] -= high;
                sums[k * LANES + lane] += high;
            }
        for (int lane = 0; lane < LANES; lane++)
            left[lane] += fabs(x[lane]);
    }
    return (left[0] + left[1]) + (left[2] + left[3]) == 0;
}

/* Makes the first of two numbers their sum, and the second what rounding took from it. */
static void two_sum(double *x, double *y)
{
    const double sum = *x + *y, of_y = sum - *x;
    *y = (*x - (sum - of_y)) + (*y - of_y);
    *x = sum;
}

/* Adds up the lanes, and then moves what fits into the first parts; parts that are 0 are the last. */
static void write_parts(const double *sums, double *parts, size_t stride)
{
    double cuts[NUM_PARTS];
    for (int k = 0; k < NUM_PARTS; k++)
        cuts[k] = (sums[k * LANES] + sums[k * LANES + 1]) + (sums[k * LANES + 2] + sums[k * LANES + 3]);
    for (int pass = 1; pass < NUM_PARTS; pass++)
        for (int k = NUM_PARTS - 1; k > 0; k--)
            two_sum(&cuts[k - 1], &cuts[k]);
    for (int k = 0; k < NUM_PARTS; k++)
        parts[(size_t)k * stride] = cuts[k];
}

static int exact_sum(const double *row, size_t count, int room, double *parts, size_t stride)
{
    const double largest = largest_of(row, count);
    if (!(largest < ldexp(1.0, LARGEST_EXPONENT)))
        return 0;
    int exponent;
    frexp(largest, &exponent);
    double above[NUM_PARTS], sums[NUM_PARTS * LANES] = {0};
    for (int k = 0; k < NUM_PARTS; k++)
        above[k] = ldexp(1.0, exponent + room + k * (room - DIGITS));
    if (!cut(row, count, above, FEWEST_CUTS, sums)) { /* most numbers need no more */
        memset(sums, 0, sizeof sums);
        if (!cut(row, count, above, NUM_PARTS, sums))
            return 0;
    }
    write_parts(sums, parts, stride);
    return 1;
}

int exact_sums(const double *rows, size_t num_rows, size_t num_columns, double *parts)
{
    int room = 1; /* bits that as many numbers, and two more, can add to a sum */
    while ((num_columns + 1) >> room)
        room++;
    if (FLT_EVAL_METHOD || room > DIGITS / 2) /* with more digits than a double has, nothing is cut */
        return 0;
    for (size_t r = 0; r < num_rows; r++)
        if (!exact_sum(rows + r * num_columns, num_columns, room, parts + r, num_rows))
            return 0;
    return 1;
}

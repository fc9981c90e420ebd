/* Sums of pairs: those at some places in ascending order, without making all n(n + 1)/2 of them.
 *
 * In a row that ascends, so do the sums d_i + d_j for each i: those that may be wanted are d_i with the d_j from first[i]
 * to last[i]. A few of them, evenly spread, say about where the one wanted is; going once along the row says how many
 * sums are below a value. So two values, on both sides of the one wanted, leave few.
 */

#include "rows.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 320, NUM_SAMPLED = 32, MARGIN = 2 };

typedef struct {
    const double *row;
    size_t n;
    uint32_t *first, *last, *lower, *upper; /* n each; the last two to try */
    size_t below, left;                     /* sums before those that may be wanted, and these */
    size_t num_made;                        /* of them, if they were made */
    double made[FEW];
} Search;

static void swap(uint32_t **x, uint32_t **y)
{
    uint32_t *const kept = *x;
    *x = *y;
    *y = kept;
}

static size_t count(const uint32_t *ends, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += ends[i] - (uint32_t)i;
    return total;
}

/* Sets below[i] behind the last j with a sum below `low`, and up_to[i] behind the last with one up to `high`. Each step
 * goes on by one i or back by one j, without a branch that could not be foreseen; both ways together take the time of
 * one. */
static void bound(const double *row, size_t n, double low, double high, uint32_t *below, uint32_t *up_to)
{
    size_t i = 0, end_i = n, j = 0, end_j = n;
    for (size_t step = 0; step < n; step++) {
        below[i] = (uint32_t)end_i;
        up_to[j] = (uint32_t)end_j;
        const size_t is_low = row[i] + row[end_i - 1] >= low, is_high = row[j] + row[end_j - 1] > high;
        end_i -= is_low;
        i += !is_low;
        end_j -= is_high;
        j += !is_high;
    }
    for (; i < n; i++)
        below[i] = (uint32_t)i;
    for (; j < n; j++)
        up_to[j] = (uint32_t)j;
}

/* Takes as many sums, evenly spread over those that may be wanted, in ascending order. */
static void sample(const Search *search, double *sampled)
{
    const size_t step = search->left / NUM_SAMPLED;
    size_t next = step / 2, before = 0, taken = 0;
    for (size_t i = 0; i < search->n && taken < NUM_SAMPLED; i++) {
        const size_t here = search->last[i] - search->first[i];
        for (; next < before + here && taken < NUM_SAMPLED; next += step) {
            const double sum = search->row[i] + search->row[search->first[i] + (next - before)];
            size_t at = taken++;
            for (; at > 0 && sampled[at - 1] > sum; at--)
                sampled[at] = sampled[at - 1];
            sampled[at] = sum;
        }
        before += here;
    }
}

/* Leaves out what is on the other sides of two values than the place; returns whether it is between them. */
static int divide(Search *search, size_t place, double low, double high)
{
    const size_t end = search->below + search->left;
    bound(search->row, search->n, low, high, search->lower, search->upper);
    const size_t lower = count(search->lower, search->n), upper = count(search->upper, search->n);
    const int is_above = upper <= place, is_below = place < lower;
    if (!is_below)
        swap(&search->first, is_above ? &search->upper : &search->lower);
    if (!is_above)
        swap(&search->last, is_below ? &search->lower : &search->upper);
    search->below = is_below ? search->below : is_above ? upper : lower;
    search->left = (is_above ? end : is_below ? lower : upper) - search->below;
    return !is_above && !is_below;
}

/* Leaves few sums; returns 1, with the value, if all that are left are equal. */
static int narrow(Search *search, size_t place, double *value)
{
    int is_slow = 0;
    while (search->left > FEW) {
        double sampled[NUM_SAMPLED];
        sample(search, sampled);
        const size_t before = search->left, at = (place - search->below) / (before / NUM_SAMPLED + 1);
        const size_t margin = is_slow ? 0 : MARGIN; /* one value that is itself left out, or found, always helps */
        const double low = sampled[at > margin ? at - margin : 0];
        const double high = sampled[at + margin < NUM_SAMPLED ? at + margin : NUM_SAMPLED - 1];
        if (divide(search, place, low, high) && low == high) {
            *value = low;
            return 1;
        }
        is_slow = search->left > before / 2;
    }
    return 0;
}

static void make(Search *search)
{
    search->num_made = 0;
    for (size_t i = 0; i < search->n; i++)
        for (size_t j = search->first[i]; j < search->last[i]; j++)
            search->made[search->num_made++] = search->row[i] + search->row[j];
}

/* The number at one place in ascending order, of numbers that change places (Hoare, Algorithm 65: Find, 1961). */
static double select_at(double *numbers, size_t num, size_t place)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)num - 1, wanted = (ptrdiff_t)place;
    while (low < high) {
        const double middle = numbers[wanted];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (numbers[i] < middle)
                i++;
            while (numbers[j] > middle)
                j--;
            if (i <= j) {
                const double kept = numbers[i];
                numbers[i++] = numbers[j];
                numbers[j--] = kept;
            }
        }
        if (j < wanted)
            low = i;
        if (wanted < i)
            high = j;
    }
    return numbers[place];
}

static double sum_at(Search *search, size_t place)
{
    double value;
    if (search->num_made && place < search->below + search->num_made)
        return select_at(search->made, search->num_made, place - search->below);
    search->num_made = 0;
    for (size_t i = 0; i < search->n; i++) /* what was below the last place is below this one */
        search->last[i] = (uint32_t)search->n;
    search->left = search->n * (search->n + 1) / 2 - search->below;
    if (narrow(search, place, &value))
        return value;
    make(search);
    return select_at(search->made, search->num_made, place - search->below);
}

static int row_fits(const double *row, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!(row[i - 1] <= row[i]))
            return 0;
    return isfinite(2 * row[0]) && isfinite(2 * row[n - 1]);
}

static int places_fit(const int64_t *places, size_t num_places, size_t n)
{
    for (size_t k = 0; k < num_places; k++)
        if (places[k] < (k ? places[k - 1] : 0) || (uint64_t)places[k] >= (uint64_t)n * (n + 1) / 2)
            return 0;
    return 1;
}

int pair_sums(const double *rows, size_t num_rows, size_t num_columns, const int64_t *places, size_t num_places,
              double *sums)
{
    const size_t n = num_columns;
    if (FLT_EVAL_METHOD || n >= UINT32_MAX / 2 || n >= SIZE_MAX / 5 / sizeof(uint32_t) || !places_fit(places, num_places, n))
        return -1;
    Search *search = malloc(sizeof *search);
    uint32_t *ends = malloc(4 * n * sizeof *ends + 1);
    int done = search && ends;
    for (size_t r = 0; r < num_rows && done == 1; r++) {
        search->row = rows + r * n;
        search->n = n;
        search->first = ends;
        search->last = ends + n;
        search->lower = ends + 2 * n;
        search->upper = ends + 3 * n;
        search->below = search->num_made = 0;
        if (!n || !row_fits(search->row, n)) {
            done = -1;
            break;
        }
        for (size_t i = 0; i < n; i++)
            search->first[i] = (uint32_t)i;
        for (size_t k = 0; k < num_places; k++)
            sums[k * num_rows + r] = sum_at(search, (size_t)places[k]);
    }
    free(ends);
    free(search);
    return done;
}

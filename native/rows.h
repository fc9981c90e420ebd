/* Rows of numbers: what tests of pairs ask of the differences of each pair.
 *
 * Plain C, to be tested without Python. sums.py and statistics/signed_ranks.py define what is computed, and do the same
 * in numpy. What cannot be computed here, to the bit, is left to them.
 */
#ifndef LEXIRECALL_ROWS_H
#define LEXIRECALL_ROWS_H

#include <stddef.h>
#include <stdint.h>

enum { NUM_PARTS = 4 }; /* floats that add up to an exact sum */

/* The exact sum of each row: part k of row r goes to parts[k * num_rows + r]. Returns 0 if some row has numbers of too
 * many different sizes, or some that are too large. */
int exact_sums(const double *rows, size_t num_rows, size_t num_columns, double *parts);

/* The sums d_i + d_j, i <= j, of each row, which ascends: the one at place k in ascending order for each k of `places`,
 * which ascend too; that of row r goes to sums[k * num_rows + r]. Returns 0 if there is no memory, 1 if it is done, and
 * -1 if a row or the places do not ascend, a place is not below n(n + 1)/2, or a sum is not finite. */
int pair_sums(const double *rows, size_t num_rows, size_t num_columns, const int64_t *places, size_t num_places,
              double *sums);

/* The numbers of a query, num_columns times one for each run, are handed out in another order: adds to column k of
 * `sums`, at run s, the numbers of run orders[q * num_runs + s] for all queries q; `block` queries at a time
 * have a sum of their own, in `partial`. Returns 0 if an order names a run that there is not. */
typedef struct {
    const double *columns;
    const int64_t *orders;
    size_t num_queries, num_runs, num_columns, block;
} Permuted;

int permuted_sums(const Permuted *permuted, double *partial, double *sums);

#endif

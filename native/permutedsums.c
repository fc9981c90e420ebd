/* Sums over queries of what runs get when their numbers are handed out in other orders. */

#include "rows.h"

#include <string.h>

static int add_query(const Permuted *permuted, size_t query, double *restrict partial)
{
    const size_t num_runs = permuted->num_runs, num_columns = permuted->num_columns;
    const int64_t *order = permuted->orders + query * num_runs;
    const double *columns = permuted->columns + query * num_runs * num_columns;
    uint64_t highest = 0;
    for (size_t s = 0; s < num_runs; s++)
        highest = (uint64_t)order[s] > highest ? (uint64_t)order[s] : highest;
    if (highest >= num_runs)
        return 0;
    for (size_t k = 0; k < num_columns; k++)
        for (size_t s = 0; s < num_runs; s++)
            partial[k * num_runs + s] += columns[k * num_runs + (size_t)order[s]];
    return 1;
}

int permuted_sums(const Permuted *permuted, double *partial, double *sums)
{
    const size_t num = permuted->num_runs * permuted->num_columns;
    for (size_t start = 0; start < permuted->num_queries; start += permuted->block) {
        const size_t left = permuted->num_queries - start, end = left < permuted->block ? left : permuted->block;
        memset(partial, 0, num * sizeof *partial);
        for (size_t q = start; q < start + end; q++)
            if (!add_query(permuted, q, partial))
                return 0;
        for (size_t i = 0; i < num; i++)
            sums[i] += partial[i];
    }
    return 1;
}

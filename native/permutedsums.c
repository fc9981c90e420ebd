/* Sums over requests of what systems get when their numbers are handed out in other orders. */

#include "rows.h"

#include <string.h>

static int add_request(const Permuted *permuted, size_t request, double *restrict partial)
{
    const size_t num_systems = permuted->num_systems, num_columns = permuted->num_columns;
    const int64_t *order = permuted->orders + request * num_systems;
    const double *columns = permuted->columns + request * num_systems * num_columns;
    uint64_t highest = 0;
    for (size_t s = 0; s < num_systems; s++)
        highest = (uint64_t)order[s] > highest ? (uint64_t)order[s] : highest;
    if (highest >= num_systems)
        return 0;
    for (size_t k = 0; k < num_columns; k++)
        for (size_t s = 0; s < num_systems; s++)
            partial[k * num_systems + s] += columns[k * num_systems + (size_t)order[s]];
    return 1;
}

int permuted_sums(const Permuted *permuted, double *partial, double *sums)
{
    const size_t num = permuted->num_systems * permuted->num_columns;
    for (size_t start = 0; start < permuted->num_requests; start += permuted->block) {
        const size_t left = permuted->num_requests - start, end = left < permuted->block ? left : permuted->block;
        memset(partial, 0, num * sizeof *partial);
        for (size_t q = start; q < start + end; q++)
            if (!add_request(permuted, q, partial))
                return 0;
        for (size_t i = 0; i < num; i++)
            sums[i] += partial[i];
    }
    return 1;
}

/* Repeats: whether two hashes are equal, with tables that stay in the nearest cache. */

#include "descending.h"

enum { MOST_IN_TABLE = 2048, PER_PART = 1024 };

/* Whether any two of at most MOST_IN_TABLE hashes are equal; the table holds numbers, plus one, and is four times as
 * large. It takes the lowest bits of a hash, because all hashes of a part have the highest in common. */
static int has_repeat_among(const uint64_t *hashes, size_t count, uint16_t *table)
{
    size_t size = 64;
    while (size < 4 * count)
        size *= 2;
    memset(table, 0, size * sizeof *table);
    for (size_t i = 0; i < count; i++) {
        size_t at = hashes[i] & (size - 1);
        for (; table[at]; at = (at + 1) & (size - 1))
            if (hashes[table[at] - 1] == hashes[i])
                return 1;
        table[at] = (uint16_t)(i + 1);
    }
    return 0;
}

/* Sorts hashes by their highest bits into parts; returns where each part ends. */
static size_t *part(const uint64_t *hashes, size_t count, int bits, uint64_t *parted, size_t *ends)
{
    const size_t num_parts = (size_t)1 << bits;
    memset(ends, 0, num_parts * sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[hashes[i] >> (64 - bits)]++;
    size_t start = 0;
    for (size_t i = 0; i < num_parts; i++) {
        size_t size = ends[i];
        ends[i] = start;
        start += size;
    }
    for (size_t i = 0; i < count; i++)
        parted[ends[hashes[i] >> (64 - bits)]++] = hashes[i];
    return ends;
}

int has_repeat(const uint64_t *hashes, size_t count, Buffer *sorted, Buffer *table)
{
    int bits = 0;
    while (count >> bits > PER_PART)
        bits++;
    table->used = sorted->used = 0;
    if (!buffer_reserve(table, 4 * MOST_IN_TABLE * sizeof(uint16_t)))
        return -1;
    uint16_t *numbers = (uint16_t *)(void *)table->data;
    if (bits == 0)
        return has_repeat_among(hashes, count, numbers);
    if (!buffer_reserve(sorted, count * sizeof *hashes + ((size_t)1 << bits) * sizeof(size_t)))
        return -1;
    uint64_t *parted = (uint64_t *)(void *)sorted->data;
    size_t *ends = part(hashes, count, bits, parted, (size_t *)(void *)(parted + count)), start = 0;
    for (size_t i = 0; i < (size_t)1 << bits; start = ends[i++])
        if (ends[i] - start > MOST_IN_TABLE || has_repeat_among(parted + start, ends[i] - start, numbers))
            return 1;
    return 0;
}

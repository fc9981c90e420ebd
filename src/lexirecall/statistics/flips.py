"""Flips: sign patterns over the queries, all of them or a sample, in blocks of bounded memory.

Belongs here: the patterns that `randomization` and `max_t` try. Not here: what they are multiplied with.
"""

from collections.abc import Iterator

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray

_BLOCK = 2**20  # numbers per block, which then needs tens of megabytes at most


def slices(num_rows: int, num_columns: int, block: int | None = None) -> Iterator[slice]:
    """Cut the rows of a matrix into blocks of bounded size.

    >>> list(slices(5, 4, block=8))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    size = max(1, (block or _BLOCK) // max(num_columns, 1))
    return (slice(start, start + size) for start in range(0, num_rows, size))


def all_flips(num_queries: int) -> Iterator[FloatArray]:
    """Give all 2^Q sign patterns, in blocks [B, Q]."""
    for rows in slices(2**num_queries, num_queries):
        patterns = np.arange(rows.start, min(rows.stop, 2**num_queries))
        yield _signs(patterns[:, None] >> np.arange(num_queries) & 1 == 1)


def random_flips(num_queries: int, num_resamples: int, seed: int) -> Iterator[FloatArray]:
    """Give sign patterns from a seed, in blocks [B, Q], the same for blocks of any size.

    They come from the raw bits of a named generator: numpy promises never to change these, but not what it makes of
    them.
    """
    bits = np.random.PCG64(seed)
    num_words = -(-num_queries // 64)
    for rows in slices(num_resamples, num_queries):
        num_rows = min(rows.stop, num_resamples) - rows.start
        # Little-endian, so that a seed gives the same signs on every machine.
        drawn = bits.random_raw(num_rows * num_words).astype("<u8").view(np.uint8).reshape(num_rows, -1)
        yield _signs(np.unpackbits(drawn, axis=1, count=num_queries, bitorder="little") == 1)


def _signs(is_flipped: BoolArray) -> FloatArray:
    return np.where(is_flipped, -1.0, 1.0)

"""Signed ranks: the middle of differences that Wilcoxon's test implies, and how far from it the true one may be.

Belongs here: the pseudomedian and its interval, and the distribution of the rank sum. Not here: the test (`paired`).

The pseudomedian (Hodges and Lehmann) is the median of the N = n(n + 1)/2 Walsh averages (d_i + d_j)/2, i <= j, of the n
differences that are not 0. If the k-th lowest and the k-th highest of them are the ends of the interval, it holds every
middle that the test does not reject: as many averages are below 0 as the ranks of the negative differences add up to.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.reader import reader_in_use

MOST_EXACT_RANKS = 50  # up to so many untied queries the distribution of rank sums is exact, as in scipy
_BLOCK = 2**22  # averages held at once
_MOST_AT_ONCE = 2**19  # averages of one pair; of more, only those near the one wanted are made


def pseudomedians(
    values: FloatArray, *, alpha: float = 0.05, progress: Progress | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the pseudomedian of the differences other than 0, [P, Q], and where its interval begins and ends, [P].

    k is the least number with 2 P(W <= k) >= alpha for the rank sum W, exact up to 50 differences, and normal beyond.
    Without a difference all three are 0. There is no interval (nan) if the differences are too few for any p below
    alpha.

    >>> middle, low, high = pseudomedians(np.array([[0.1, 0.3, 0.2, 0.0, 0.4, 0.6, 1.0]]))
    >>> middle.round(4).tolist(), low.round(4).tolist(), high.round(4).tolist()
    ([0.4], [0.1], [1.0])
    """
    results = np.zeros((3, len(values)))
    numbers = np.count_nonzero(values, axis=1)
    for n in np.unique(numbers[numbers > 0]).tolist():
        places = _places(n, alpha)
        for rows in _blocks(np.flatnonzero(numbers == n), n):
            differences = values[rows]
            results[:, rows] = _walsh_averages(np.sort(differences[differences != 0].reshape(-1, n), axis=1), places)
            if progress is not None:
                progress.advance(len(rows))
    return results[0], results[1], results[2]


@lru_cache(maxsize=1)
def rank_sum_chances() -> FloatArray:
    """Return how likely the ranks 1 … n with a plus add up to w or less, if each sign is a coin, [n, w].

    >>> rank_sum_chances()[3, :4].tolist()  # of 8 ways: none; 1; 2; 3, or 1 and 2
    [0.125, 0.25, 0.375, 0.625]
    """
    chances = np.zeros((MOST_EXACT_RANKS + 1, MOST_EXACT_RANKS * (MOST_EXACT_RANKS + 1) // 2 + 1))
    chances[0, 0] = 1
    for n in range(1, MOST_EXACT_RANKS + 1):
        chances[n] = chances[n - 1] / 2
        chances[n, n:] += chances[n - 1, :-n] / 2
    return np.cumsum(chances, axis=1)


def _places(n: int, alpha: float) -> tuple[int, int]:
    """Return which of the averages, from either end, are in the middle, and which end the interval; 0 if none do.

    >>> _places(5, 0.05), _places(6, 0.05), _places(100, 0.05)
    ((8, 0), (11, 1), (2525, 1955))
    """
    from scipy.special import ndtri

    total = n * (n + 1) // 2
    if n <= MOST_EXACT_RANKS:
        end = int(np.searchsorted(rank_sum_chances()[n], alpha / 2))
    else:
        end = int(np.ceil(total / 2 + ndtri(alpha / 2) * np.sqrt(total * (2 * n + 1) / 12)))
    return (total + 1) // 2, end


def _blocks(rows: IntArray, n: int) -> Iterator[IntArray]:
    size = max(1, _BLOCK // (n * (n + 1) // 2))
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _walsh_averages(rows: FloatArray, places: tuple[int, int]) -> FloatArray:
    """Return the middle and the ends of the averages of each row, which ascends, [3, P]."""
    n = rows.shape[1]
    total = n * (n + 1) // 2
    wanted = np.array([place for k in places if k for place in (k - 1, total - k)])  # from below and from above
    sums = _sums_at(rows, wanted)
    # .3 - .2 and .2 - .1 are not the same float: a sum of 1e-17 is 0
    sums = np.where(np.abs(sums) <= TOLERANCE * np.abs(rows).max(axis=1), 0.0, sums)
    middle, ends = (sums[0] + sums[1]) / 4, sums[2:] / 2
    return np.stack([middle, *(ends if len(ends) else np.full((2, len(rows)), np.nan))])


def _sums_at(rows: FloatArray, wanted: IntArray) -> FloatArray:
    """Return the sums d_i + d_j, i <= j, at these places in ascending order, of each row, [K, P]."""
    with np.errstate(over="ignore"):
        # The ends with themselves make the extreme sums: if these do not overflow, none does.
        is_finite = np.isfinite(2 * rows[:, [0, -1]]).all()
    if is_finite and reader_in_use() == "native":
        return _native_sums(rows, wanted)
    return (_sums_of_all if rows.shape[1] * (rows.shape[1] + 1) // 2 <= _MOST_AT_ONCE else _sums_of_many)(rows, wanted)


def _native_sums(rows: FloatArray, wanted: IntArray) -> FloatArray:
    from lexirecall import _native

    places, place = np.unique(wanted, return_inverse=True)
    sums = np.empty((len(places), len(rows)))
    _native.pair_sums(np.ascontiguousarray(rows), len(rows), places, sums)
    return sums[place]


def _sums_of_all(rows: FloatArray, wanted: IntArray) -> FloatArray:
    """Return the same by making all sums."""
    i, j = np.triu_indices(rows.shape[1])
    sums = rows[:, i] + rows[:, j]
    sums.partition(np.unique(wanted), axis=1)
    return sums[:, wanted].T


def _sums_of_many(rows: FloatArray, wanted: IntArray) -> FloatArray:
    """Return the same without making all sums."""
    return np.array([[_sum_at(row, place) for row in rows] for place in wanted.tolist()])


def _sum_at(row: FloatArray, place: int) -> float:
    """Return the sum at one place: halve the range of values until few sums are left in it, and look at those."""
    # Throughout, at most `place` sums are up to low and more are up to high: the one wanted is between.
    low, high = np.nextafter(2 * row[0], -np.inf), 2 * row[-1]
    first, last = _num_up_to(row, low), _num_up_to(row, high)
    while (last - first).sum() > 16 * len(row):
        middle = low + (high - low) / 2
        if middle in (low, high):  # neighbouring floats: all the sums that are left are equal
            return float(high)
        num = _num_up_to(row, middle)
        if num.sum() > place:
            high, last = middle, num
        else:
            low, first = middle, num
    i = np.repeat(np.arange(len(row)), last - first)
    j = i + np.arange(len(i)) - np.repeat(np.cumsum(last - first) - last, last - first)
    place -= int(first.sum())
    return float(np.partition(row[i] + row[j], place)[place])


def _num_up_to(row: FloatArray, most: float) -> IntArray:
    """Count for each i the j >= i with d_i + d_j <= most as floats, by bisection; the row ascends."""
    n = len(row)
    low, high = np.arange(n) - 1, np.full(n, n)  # the last j that fits is at least low and below high
    while (high - low > 1).any():
        middle = (low + high) // 2
        fits = row + row[np.maximum(middle, 0)] <= most
        low, high = np.where(fits & (high - low > 1), middle, low), np.where(fits | (high - low <= 1), high, middle)
    return low + 1 - np.arange(n)

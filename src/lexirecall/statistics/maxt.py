"""Max-T: all pairs of runs at once, by sign flips that all pairs have in common.

Belongs here: the step-down test of the largest statistic. Not here: the patterns of signs (`flips`), pairs by
themselves (`paired`), all runs in one layout (`hsd`).

If two runs are equally good, their difference on a query might as well have the other sign. One sign for each query
flips the differences of all pairs together, so pairs that depend on each other do so in every resample. The test stays
valid while other pairs differ: it needs no more than that the differences of equally good runs are symmetric about 0.

The statistic of a pair is |sum d| / sqrt(sum d²), 0 if all differences are 0. No flip changes sum d². So differences
divided by sqrt(sum d²) and multiplied by signs are the statistics of all resamples: one matrix product. Statistics that
are equal but added up in another order differ by 1e-16 sum|d| / sqrt(sum d²) and a few times that, and the quotient is
at most sqrt(Q). So a statistic within 1e-12 sqrt(Q) of the observed one is as large.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.statistics.differences import Differences  # noqa: F401 - in the examples
from lexirecall.statistics.flips import all_flips, random_flips, slices
from lexirecall.statistics.paired import check_count
from lexirecall.statistics.portions import PairDifferences, portions_of

MAX_T = "max-t"
"""Its name among the tests."""
_BLOCK = 2**22  # statistics at a time: 32 MB


@dataclass(frozen=True)
class MaxT:
    """P pairs of runs tested together; the reader, not the test, draws the line."""

    pvalues: FloatArray
    """How likely so large a statistic is among this pair and those with smaller ones, if none of them differs, [P]."""
    statistics: FloatArray
    """|sum d| / sqrt(sum d²), [P]."""
    num_resamples: int
    """How many sign patterns were tried, all of them or a sample."""
    method: str
    """The test, in words."""


def max_t(
    differences: PairDifferences, *, num_resamples: int = 10_000, seed: int = 0, show_progress: bool | None = None
) -> MaxT:
    """Test all pairs together by the step-down max-T procedure of Westfall and Young.

    The pairs are taken in the order of their statistics, the largest first. Each is compared with the maximum over
    itself and the pairs after it, in every resample: p = (b + 1)/(B + 1) if b maxima of B are as large. The observed
    signs are one more pattern, so p is never 0 (Phipson & Smyth 2010). If there are at most `num_resamples` patterns
    in all, each is tried once, and p = b/2^Q. No p is below that of a pair with a larger statistic. The chance of any
    false difference is then at most alpha, and no correction is needed. p is nan for a pair without a common query.

    >>> values = np.array([[0.3, 0.2, 0.4, 0.3, 0.1, 0.2], [0.1, -0.2, 0.2, 0.1, -0.1, 0.1]])
    >>> test = max_t(Differences(np.array([0, 0]), np.array([1, 2]), values, np.ones((2, 6), bool)))
    >>> test.statistics.round(3).tolist(), test.pvalues.tolist(), test.num_resamples
    ([2.287, 0.577], [0.0625, 0.78125], 64)
    >>> test.method
    'step-down max-T, all 64 sign patterns'
    """
    check_count("num_resamples", num_resamples, 1)
    check_count("seed", seed, 0)
    compared = differences.compared
    num_patterns = 2 ** int(compared.sum())
    if num_patterns <= num_resamples:
        tried, added, how = num_patterns, 0, f"all {num_patterns:,} sign patterns"
        queries, flips = np.flatnonzero(compared), all_flips(int(compared.sum()))
    else:
        tried, added, how = num_resamples, 1, f"{num_resamples:,} sign patterns"
        queries, flips = np.arange(len(compared)), random_flips(len(compared), num_resamples, seed)
    statistics = _statistics(differences, queries)
    with Progress("flipping signs", tried, shown=show_progress) as progress:
        counts = _count_maxima(differences, queries, statistics, flips, progress)
    pvalues = np.empty(len(statistics))
    largest_first = _ascending(statistics)[::-1]
    pvalues[largest_first] = np.maximum.accumulate((counts[largest_first] + added) / (tried + added))
    pvalues[differences.num_requests == 0] = np.nan
    return MaxT(pvalues, statistics, tried, f"step-down max-T, {how}")


def _count_maxima(
    differences: PairDifferences,
    queries: IntArray,
    statistics: FloatArray,
    flips: Iterator[FloatArray],
    progress: Progress,
) -> IntArray:
    """Count the patterns, given in blocks [B, Q], whose maximum up to each pair is as large, [P].

    The pairs are gone through in the order of their statistics, the smallest first.
    """
    num_pairs, num_requests = len(statistics), len(queries)
    ascending = _ascending(statistics)
    least = statistics - TOLERANCE * np.sqrt(num_requests)
    counts = np.zeros(num_pairs, np.int64)
    for block in flips:
        largest = np.zeros(len(block))
        for rows in slices(num_pairs, max(num_requests, len(block)), _BLOCK):
            pairs = ascending[rows]
            flipped = _normed(differences.at(pairs).values[:, queries]) @ block.T
            np.abs(flipped, out=flipped)
            np.maximum(flipped[0], largest, out=flipped[0])
            np.maximum.accumulate(flipped, axis=0, out=flipped)
            counts[pairs] += np.count_nonzero(flipped >= least[pairs, None], axis=1)
            largest = flipped[-1].copy()
        progress.advance(len(block))
    return counts


def _statistics(differences: PairDifferences, queries: IntArray) -> FloatArray:
    """Return |sum d| / sqrt(sum d²), [P]."""
    statistics = np.empty(len(differences.a))
    for pairs, portion in portions_of(differences):
        statistics[pairs] = np.abs(_normed(portion.values[:, queries]).sum(axis=1))
    return statistics


def _ascending(statistics: FloatArray) -> IntArray:
    """Return the pairs in the order of their statistics; equal ones as given."""
    return np.argsort(statistics, kind="stable")


def _normed(values: FloatArray) -> FloatArray:
    """Return the differences of each pair divided by sqrt(sum d²), [P, Q]; 0 if all are 0."""
    # Squares of deep exposures, such as .5^600, would be 0.
    scaled = values / _or_one(np.abs(values).max(axis=1, initial=0.0))
    return np.asarray(scaled / _or_one(np.sqrt((scaled**2).sum(axis=1))))


def _or_one(divisors: FloatArray) -> FloatArray:
    """Return divisors as a column, 1 for 0."""
    return np.where(divisors == 0, 1.0, divisors)[:, None]

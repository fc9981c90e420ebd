"""Interaction: whether the difference between two runs varies from one group of queries to another.

Belongs here: the permutation test of all groups of one pair. Not here: what groups there are (lexirecall.groups), the
differences within a group (`paired`), corrections for many pairs (`corrections`).

If the difference d between two runs does not depend on the group, each query might as well be in another one. So the
groups are handed out to the queries at random, as large as they are, and b is the sum of squares between groups, sum_g
n_g (mean of d in g - mean of d)², in each of these ways. The means of small groups with a large spread are far apart
although nothing varies but the spread. So b is compared with what it is on average if only the spreads s_g differ, w =
sum_g (1 - n_g/n) s_g² (Brown and Forsythe, The small sample behavior of some statistics which test the equality of
several means, 1974); of two groups, b/w is the square of Welch's t. The statistic is b/(b + w), which has the same
order and is bounded. One that is within 1e-12 of the observed one is as large: sums may be added up in another order.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, factorial, prod

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.statistics.flips import slices
from lexirecall.statistics.paired import check_count
from lexirecall.statistics.portions import PairDifferences

_BLOCK = 2**20  # statistics, or places of queries, at a time


@dataclass(frozen=True, slots=True, eq=False)
class Interaction:
    """P pairs of runs; the reader, not the test, draws the line."""

    pvalues: FloatArray
    """How likely so large a statistic is if the difference does not vary by group, [P]; nan below two groups."""
    shares: FloatArray
    """The share of the squares that is between groups, b / sum (d - mean)², [P]: 0 if all groups have the same mean, 1
    if nothing else varies; nan if all differences are equal."""
    num_queries: IntArray
    """How many queries with a group each pair has, [P]."""
    num_groups: IntArray
    """How many groups these are in, [P]."""
    leasts: FloatArray
    """The least p that a pair could have, [P]."""
    num_resamples: int
    """How many ways to hand out the groups were tried for a pair, at most."""


def interactions(
    differences: PairDifferences,
    group_of: IntArray,
    *,
    num_resamples: int = 10_000,
    seed: int = 0,
    show_progress: bool | None = False,
) -> Interaction:
    """Test, for each pair, whether its difference varies by group; `group_of` is that of each query, -1 without one.

    p = (b + 1)/(B + 1) if b of B random ways to hand out the groups have a statistic as large; the observed one counts,
    so p is never 0 (Phipson & Smyth 2010). If there are at most `num_resamples` ways in all, each is tried once. The
    same numbers are drawn for all pairs that are compared on the same queries.

    >>> from lexirecall.statistics.differences import Differences
    >>> values = np.array([[0.3, 0.2, 0.4, 0.3, -0.1, -0.2, 0.0, -0.1]])
    >>> differences = Differences(np.array([0]), np.array([1]), values, np.ones((1, 8), bool))
    >>> test = interactions(differences, np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> test.shares.round(3).tolist(), test.pvalues.round(4).tolist(), test.num_resamples  # 2 of 70
    ([0.889], [0.0286], 70)
    """
    check_count("num_resamples", num_resamples, 1)
    check_count("seed", seed, 0)
    num_pairs = len(differences.a)
    pvalues, shares, leasts = (np.full(num_pairs, np.nan) for _ in range(3))
    num_queries, num_groups = (np.zeros(num_pairs, np.int64) for _ in range(2))
    alike = [(pairs, np.flatnonzero(queries)) for pairs, queries in differences.alike(group_of >= 0)]
    tried = 0
    with Progress("handing out groups", num_resamples * len(alike), shown=show_progress) as progress:
        for pairs, queries in alike:
            sizes = list(Counter(group_of[queries].tolist()).values())
            num_queries[pairs], num_groups[pairs] = len(queries), len(sizes)
            if len(sizes) > 1:
                labels = np.unique(group_of[queries], return_inverse=True)[1].reshape(-1)
                for part in slices(len(pairs), differences.num_queries, _BLOCK):
                    values = _normed(differences.at(pairs[part]).values[:, queries])
                    observed, pvalues[pairs[part]], number = _tested(values, labels, num_resamples, seed)
                    shares[pairs[part]] = np.where(values.any(axis=1), observed, np.nan)
                leasts[pairs], tried = least_p(sizes, num_resamples), max(tried, number)
            progress.advance(num_resamples)
    return Interaction(pvalues, shares, num_queries, num_groups, leasts, tried)


def least_p(sizes: Sequence[int], num_resamples: int) -> float:
    """Return the least p of groups of these sizes: groups of the same size may change places without a difference.

    >>> least_p([4, 4], 10_000), least_p([30, 40], 9_999)
    (0.02857142857142857, 0.0001)
    """
    same = prod(factorial(number) for number in Counter(sizes).values())
    num_ways = ways(sizes)
    return same / num_ways if num_ways <= num_resamples else 1 / (num_resamples + 1)


def ways(sizes: Sequence[int]) -> int:
    """Return in how many ways groups of these sizes can be handed out.

    >>> ways([4, 4]), ways([1, 1, 2])
    (70, 12)
    """
    return prod(comb(sum(sizes[: k + 1]), size) for k, size in enumerate(sizes))


def _tested(values: FloatArray, labels: IntArray, num_resamples: int, seed: int) -> tuple[FloatArray, FloatArray, int]:
    """Return the shares and p of normed values, [P, n], and how many ways were tried."""
    sizes = np.bincount(labels)
    (shares,), (observed,) = _statistics(values, labels[None, :], sizes)
    num_ways = ways(sizes.tolist())
    if num_ways <= num_resamples:
        added, tried, blocks = 0, num_ways, _all_ways(sizes.tolist())
    else:
        added, tried, blocks = 1, num_resamples, _random_ways(labels, num_resamples, seed)
    counts = np.zeros(len(values), np.int64)
    for block in blocks:
        for rows in slices(len(values), max(len(block), len(labels)), _BLOCK):
            _, statistics = _statistics(values[rows], block, sizes)
            counts[rows] += (statistics >= observed[rows] - TOLERANCE).sum(axis=0)
    return shares, (counts + added) / (tried + added), tried


def _normed(values: FloatArray) -> FloatArray:
    """Return values, [P, n], less their mean, over the root of the sum of their squares; 0 if all are equal."""
    scaled = values / _or_one(np.abs(values).max(axis=1, initial=0.0))  # squares of small numbers would be 0
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    centred[np.ptp(scaled, axis=1) <= TOLERANCE] = 0.0
    return np.asarray(centred / _or_one(np.sqrt((centred**2).sum(axis=1))))


def _or_one(divisors: FloatArray) -> FloatArray:
    return np.where(divisors == 0, 1.0, divisors)[:, None]


def _statistics(values: FloatArray, labels: IntArray, sizes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return b and b/(b + w) of normed values for each way to hand out the groups, [B, n]: [B, P]."""
    between, within = (np.zeros((len(labels), len(values))) for _ in range(2))
    squares = values.T**2
    for group, size in enumerate(sizes.tolist()):
        is_in = (labels == group).astype(float)
        own = (is_in @ values.T) ** 2 / size
        between += own
        spread = np.maximum(is_in @ squares - own, 0.0) / max(size - 1, 1)
        within += (1 - size / len(values.T)) * spread
    return between, between / np.where(between + within > 0, between + within, 1.0)


def _random_ways(labels: IntArray, num_resamples: int, seed: int) -> Iterator[IntArray]:
    """Give the groups in random orders, in blocks [B, n]; the same for blocks of any size.

    The orders are those of raw words of a named generator, which numpy promises never to change.
    """
    bits = np.random.PCG64(seed)
    size = max(1, _BLOCK // len(labels))
    for start in range(0, num_resamples, size):
        number = min(size, num_resamples - start)
        words = bits.random_raw(number * len(labels)).reshape(number, len(labels))
        yield labels[np.argsort(words, axis=1, kind="stable")]


def _all_ways(sizes: Sequence[int]) -> Iterator[IntArray]:
    """Give every way to hand out groups of these sizes once, in blocks."""
    size, block = max(1, _BLOCK // sum(sizes)), []
    for way in _every_way(list(sizes)):
        block.append(way)
        if len(block) == size:
            yield np.array(block)
            block = []
    if block:
        yield np.array(block)


def _every_way(left: list[int]) -> Iterator[tuple[int, ...]]:
    """Give the ways to hand out what is left of each group, one query after the other."""
    if not any(left):
        yield ()
    for group, number in enumerate(left):
        if number:
            rest = [*left[:group], number - 1, *left[group + 1 :]]
            yield from ((group, *way) for way in _every_way(rest))

"""Interaction: whether the difference between two runs varies from one group of queries to another.

Belongs here: the permutation test of all groups of one pair. Not here: what groups there are (lexirecall.groups), the
differences within a group (`paired`), corrections for many pairs (`corrections`).

If the difference d between two runs does not depend on the group, each query might as well be in another one. So the
groups are handed out to the queries at random, as large as they are, and in each of these ways the means m_g of the
groups are compared by Welch and James: sum_g w_g (m_g - m_w)², w_g = n_g / max(s_g², s²/100), where m_w is the mean of
the m_g weighted by w_g, s_g² the variance within a group and s² that of all differences (Welch, On the comparison of
several mean values, 1951; permuted: Janssen, Studentized permutation tests for non-i.i.d. hypotheses, 1997). The means
of a small group with a large spread are far from the others although nothing varies but the spread: its weight is
small. Without the floor, a few equal differences would have any weight. Groups of fewer than FEWEST queries have no
spread worth the name and are left out. A statistic that is within rounding of the observed one is as large: sums may be
added up in another order.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from math import comb, factorial, inf, prod

import numpy as np

from lexirecall.errors import check_count
from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.statistics.flips import slices
from lexirecall.statistics.portions import PairDifferences

MOST_ADDITIONS = 10**9
"""How many differences are added up for the pairs that are compared on the same queries: seconds, not hours."""
FEWEST = 5
"""How many queries a group needs to be tested."""
_FLOOR = 0.01  # the least variance of a group, as a share of that of all differences
_ROUNDING = 1e-9
_OF_DRAWING = 9  # additions that take as long as drawing the place of one query
_BLOCK = 2**20  # statistics, or places of queries, at a time


@dataclass(frozen=True, slots=True, eq=False)
class Interaction:
    """P pairs of runs; the reader, not the test, draws the line."""

    pvalues: FloatArray
    """How likely so large a statistic is if the difference does not vary by group, [P]; nan below two groups, and if
    all differences are equal."""
    shares: FloatArray
    """The share of the squares that is between groups, sum_g n_g (m_g - mean)² / sum (d - mean)², [P]: 0 if all groups
    have the same mean, 1 if nothing else varies; nan where there is no p."""
    num_queries: IntArray
    """How many queries in a group that is tested each pair has, [P]."""
    num_groups: IntArray
    """How many groups these are in, [P]."""
    num_small: IntArray
    """How many groups are left out because they have fewer than FEWEST of the pair's queries, [P]."""
    leasts: FloatArray
    """The least p that a pair could have, [P]; nan where there is no p."""
    num_resamples: int
    """How many ways to hand out the groups were tried for a pair, at most."""
    is_bounded: bool
    """Whether these are fewer than was asked for, because of MOST_ADDITIONS."""


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
    same numbers are drawn for all pairs that are compared on the same queries, and fewer if that took more than
    MOST_ADDITIONS.

    >>> from lexirecall.statistics.differences import Differences
    >>> values = np.array([[0.3, 0.2, 0.4, 0.3, 0.1, -0.1, -0.2, 0.0, -0.1, 0.0]])
    >>> differences = Differences(np.array([0]), np.array([1]), values, np.ones((1, 10), bool))
    >>> test = interactions(differences, np.repeat([0, 1], 5))
    >>> test.shares.round(3).tolist(), test.pvalues.round(4).tolist(), test.num_resamples  # 2 of 252
    ([0.783], [0.0079], 252)
    """
    check_count("num_resamples", num_resamples, 1)
    check_count("seed", seed, 0)
    num_pairs = len(differences.a)
    pvalues, shares, leasts = (np.full(num_pairs, np.nan) for _ in range(3))
    num_queries, num_groups, num_small = (np.zeros(num_pairs, np.int64) for _ in range(3))
    alike = list(differences.alike(group_of >= 0))
    tried, is_bounded = 0, False
    with Progress("handing out groups", num_resamples * len(alike), shown=show_progress) as progress:
        for pairs, compared in alike:
            sizes = np.bincount(group_of[compared])
            num_small[pairs] = ((sizes > 0) & (sizes < FEWEST)).sum()
            queries = np.flatnonzero(compared)[sizes[group_of[compared]] >= FEWEST]
            labels = np.unique(group_of[queries], return_inverse=True)[1].reshape(-1)
            sizes = np.bincount(labels)
            num_queries[pairs], num_groups[pairs] = len(queries), len(sizes)
            if len(sizes) > 1:
                most = min(num_resamples, max(1, MOST_ADDITIONS // (len(queries) * (len(pairs) + _OF_DRAWING))))
                is_bounded |= most < num_resamples and ways(sizes.tolist(), most) > most
                for part in slices(len(pairs), differences.total_queries, _BLOCK):
                    values = _normed(differences.at(pairs[part]).values[:, queries])
                    observed, found, number = _tested(values, labels, most, seed)
                    varies = values.any(axis=1)
                    shares[pairs[part]] = np.where(varies, observed, np.nan)
                    pvalues[pairs[part]] = np.where(varies, found, np.nan)
                    leasts[pairs[part]] = np.where(varies, least_p(sizes.tolist(), most), np.nan)
                    tried = max(tried, number)
            progress.advance(num_resamples)
    return Interaction(
        pvalues=pvalues, shares=shares, num_queries=num_queries, num_groups=num_groups, num_small=num_small,
        leasts=leasts, num_resamples=tried, is_bounded=is_bounded,
    )  # fmt: skip


def least_p(sizes: Sequence[int], num_resamples: int) -> float:
    """Return the least p of groups of these sizes: groups of the same size may change places without a difference.

    >>> least_p([4, 4], 10_000), least_p([30, 40], 9_999)
    (0.02857142857142857, 0.0001)
    """
    num_ways = ways(sizes, num_resamples)
    if num_ways > num_resamples:
        return 1 / (num_resamples + 1)
    return prod(factorial(number) for number in Counter(sizes).values()) / num_ways


def ways(sizes: Sequence[int], most: float = inf) -> int:
    """Return in how many ways groups of these sizes can be handed out; some number above `most` if there are more.

    >>> ways([4, 4]), ways([1, 1, 2])
    (70, 12)
    """
    number = 1
    for total, size in zip(accumulate(sizes), sizes, strict=True):
        number *= comb(total, size)
        if number > most:
            break
    return number


def _tested(values: FloatArray, labels: IntArray, num_resamples: int, seed: int) -> tuple[FloatArray, FloatArray, int]:
    """Return the shares and p of normed values, [P, n], and how many ways were tried."""
    sizes = np.bincount(labels)
    (shares,), (observed,) = _statistics(values, _members(labels[None, :]), sizes)
    as_large = observed - _ROUNDING * (1 + observed)
    num_ways = ways(sizes.tolist(), num_resamples)
    if num_ways <= num_resamples:
        added, tried, blocks = 0, num_ways, _all_ways(sizes.tolist())
    else:
        added, tried, blocks = 1, num_resamples, _random_ways(labels, num_resamples, seed)
    counts = np.zeros(len(values), np.int64)
    for block in blocks:
        for rows in slices(len(values), block.size, _BLOCK):
            _, statistics = _statistics(values[rows], block, sizes)
            counts[rows] += (statistics >= as_large[rows]).sum(axis=0)
    return shares, (counts + added) / (tried + added), tried


def _normed(values: FloatArray) -> FloatArray:
    """Return values, [P, n], less their mean, over their standard deviation; 0 if all are equal."""
    scaled = values / _or_one(np.abs(values).max(axis=1, initial=0.0))  # squares of small numbers would be 0
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    centred[np.ptp(scaled, axis=1) <= TOLERANCE] = 0.0
    return np.asarray(centred / _or_one(centred.std(axis=1, ddof=1)))


def _or_one(divisors: FloatArray) -> FloatArray:
    return np.where(divisors == 0, 1.0, divisors)[:, None]


def _members(labels: IntArray) -> IntArray:
    """Return the queries of each way, [B, n], in the order of their groups."""
    return np.argsort(labels, axis=1, kind="stable")


def _statistics(values: FloatArray, members: IntArray, sizes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the share between groups and the statistic of normed values for each way, [B, n]: both [B, P]."""
    starts, numbers = offsets_of(sizes)[:-1], sizes[:, None]
    handed_out = values.T[members]  # [B, n, P]
    means = np.add.reduceat(handed_out, starts, axis=1) / numbers
    squares = np.add.reduceat(np.square(handed_out, out=handed_out), starts, axis=1)
    between = numbers * means**2
    weights = numbers / np.maximum((squares - between) / np.maximum(numbers - 1, 1), _FLOOR)
    middle = (weights * means).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    shares = between.sum(axis=1) / (values.shape[1] - 1)
    return shares, (weights * (means - middle) ** 2).sum(axis=1)


def _random_ways(labels: IntArray, num_resamples: int, seed: int) -> Iterator[IntArray]:
    """Give the queries in the order of the groups that they get at random, in blocks [B, n], whatever their size.

    The orders are those of raw words of a named generator, which numpy promises never to change.
    """
    bits, in_order = np.random.PCG64(seed), _members(labels[None, :])[0]
    size = max(1, _BLOCK // len(labels))
    for start in range(0, num_resamples, size):
        number = min(size, num_resamples - start)
        words = bits.random_raw(number * len(labels)).reshape(number, len(labels))
        drawn = np.empty(words.shape, np.int64)
        np.put_along_axis(drawn, np.argsort(words, axis=1), np.arange(len(labels))[None, :], axis=1)
        yield drawn[:, in_order]


def _all_ways(sizes: Sequence[int]) -> Iterator[IntArray]:
    """Give every way to hand out groups of these sizes once, as the queries in the order of their groups, in blocks."""
    every = _every_way(list(sizes))
    while block := list(islice(every, max(1, _BLOCK // sum(sizes)))):
        yield _members(np.array(block))


def _every_way(left: list[int]) -> Iterator[tuple[int, ...]]:
    """Give the ways to hand out what is left of each group, one query after the other."""
    if not any(left):
        yield ()
    for group, number in enumerate(left):
        if number:
            rest = [*left[:group], number - 1, *left[group + 1 :]]
            yield from ((group, *way) for way in _every_way(rest))

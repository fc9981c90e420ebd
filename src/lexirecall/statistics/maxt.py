"""Max-T: all pairs of runs at once, by resamples that all pairs have in common.

Belongs here: the step-down test of the largest statistic, of signs and of values. Not here: the patterns of signs
(`flips`), resamples of the queries (`bootstrap`), pairs by themselves (`paired`), all runs in one layout (`hsd`).

Of signs: if two runs are equally good, each might as well have won where it lost. One sign for each query flips the
differences of all pairs together, so pairs that depend on each other do so in every resample. The statistic of a pair
is |sum d| / sqrt(sum d²), 0 if all differences are 0. No flip changes sum d². So differences divided by sqrt(sum d²)
and multiplied by signs are the statistics of all resamples: one matrix product. Statistics that are equal but added up
in another order differ by 1e-16 sum|d| / sqrt(sum d²) and a few times that, and the quotient is at most sqrt(Q). So a
statistic within 1e-12 sqrt(Q) of the observed one is as large.

Of values that is not so: where differences are skewed, other signs make other differences, even if the means are equal.
So queries are drawn with replacement, differences are centred by their mean, and each mean is divided by the standard
error of its own resample, which follows the skew (Romano and Wolf, Stepwise multiple testing as formalized data
snooping, Econometrica 73, 2005). Pairs whose means rest on too few queries stand outside: a resample without these
queries has hardly any error, and its statistic would be the largest of all.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from lexirecall.errors import check_count
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.statistics.attainable import resamples_needed
from lexirecall.statistics.bootstrap import on_grid, resampled_counts
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.flips import all_flips, random_flips, slices
from lexirecall.statistics.portions import PairDifferences, portions_of

MAX_T = "max-t"
"""Its name among the tests."""
_BLOCK = 2**22  # statistics at a time: 32 MB
_NEARLY_CONSTANT = 1e-3  # a variance that is less of the mean square is computed again, without cancellation
_DEGENERATE = 1e-9  # an error of a resample that is less of that of the sample is none
_AS_LARGE = 1 - 1e-9  # statistics of values are wrong by less
Statistics = Callable[[IntArray, FloatArray], FloatArray]
"""From pairs and a block of resamples, [B, Q], to their statistics, [P, B]."""


@dataclass(frozen=True)
class MaxT:
    """P pairs of runs tested together; the reader, not the test, draws the line."""

    pvalues: FloatArray
    """How likely so large a statistic is among this pair and those with smaller ones, if none of them differs, [P]; nan
    for pairs that stand outside."""
    statistics: FloatArray
    """|sum d| / sqrt(sum d²) of signs, |mean| / standard error of values, [P]; nan for pairs that stand outside."""
    num_resamples: int
    """How many sign patterns or samples were tried."""
    method: str
    """The test, in words."""
    reach: FloatArray
    """Of values, [P]: the means ± this hold all true differences at once with the chance 1 - alpha; nan of signs."""


def max_t(
    differences: PairDifferences,
    *,
    num_resamples: int | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = None,
) -> MaxT:
    """Test all pairs together by a step-down procedure: by common sign flips of signs, by a bootstrap of values.

    The pairs are taken in the order of their statistics, the largest first. Each is compared with the maximum over
    itself and the pairs after it, in every resample: p = (b + 1)/(B + 1) if b maxima of B are as large. The observed
    sample is one more of them, so p is never 0 (Phipson & Smyth 2010). If there are at most `num_resamples` patterns of
    signs in all, each is tried once, and p = b/2^Q. No p is below that of a pair with a larger statistic. The chance of
    any false difference is then at most alpha, and no correction is needed. p is nan for a pair without a common query.
    Values are tested as in `max_t_of_values`.

    >>> values = np.array([[1.0, 1, 1, 1, 1, 1], [1, -1, 1, 1, -1, 1]])
    >>> test = max_t(Differences(np.array([0, 0]), np.array([1, 2]), values, np.ones((2, 6), bool), is_signs=True))
    >>> test.statistics.round(3).tolist(), test.pvalues.tolist(), test.num_resamples
    ([2.449, 0.816], [0.0625, 0.6875], 64)
    >>> test.method
    'step-down max-T, all 64 sign patterns'
    """
    if not differences.is_signs:
        (test,) = max_t_of_values(
            [differences], num_resamples=num_resamples, seed=seed, alpha=alpha, show_progress=show_progress
        )
        return test
    num_resamples = resamples_needed(1, alpha=alpha) if num_resamples is None else num_resamples
    check_count("num_resamples", num_resamples, 1)
    check_count("seed", seed, 0)
    compared = differences.compared
    num_patterns = 2 ** int(compared.sum())
    if num_patterns <= num_resamples:
        # All patterns hold the observed one; to a sample it is added (Phipson & Smyth 2010).
        tried, added, how = num_patterns, 0, f"all {num_patterns:,} sign patterns"
        queries, flips = np.flatnonzero(compared), all_flips(int(compared.sum()))
    else:
        tried, added, how = num_resamples, 1, f"{num_resamples:,} sign patterns"
        queries, flips = np.arange(len(compared)), random_flips(len(compared), num_resamples, seed)
    statistics = _statistics(differences, queries)

    def flipped(pairs: IntArray, block: FloatArray) -> FloatArray:
        return np.abs(_normed(differences.at(pairs).values[:, queries]) @ block.T)

    # Rows of length 1 add up to sqrt(Q) at most (Cauchy-Schwarz): rounding is a share of that.
    least = statistics - TOLERANCE * np.sqrt(len(queries))
    with Progress("flipping signs", tried, shown=show_progress) as progress:
        counts, _ = _count_maxima(statistics, least, flipped, flips, len(queries), progress)
    pvalues = _stepped_down(statistics, (counts + added) / (tried + added))
    pvalues[differences.num_queries == 0] = np.nan
    return MaxT(pvalues, statistics, tried, f"step-down max-T, {how}", np.full(len(pvalues), np.nan))


def max_t_of_values(
    families: Sequence[PairDifferences],
    *,
    num_resamples: int | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = None,
) -> list[MaxT]:
    """Test the pairs of several measures together, by samples of the queries that all of them have in common.

    T = |mean| / (sd / sqrt(n)). Of each sample, drawn with replacement, T* = |mean*| / sqrt((sum w x²/n - mean*²) /
    (n - 1)), where w says how often each query is drawn, x are the differences without their mean, and mean* is sum w
    x/n. If that error is none, T* is 0 if mean* is, otherwise infinite. Pairs with fewer than 8 effective queries, with
    equal differences, or with a query that only one run has a value on, stand outside: in no maximum, and without p.

    The reach is c times the standard error of a pair, c being the ceil((1 - alpha)(B + 1))-th smallest maximum over
    all pairs; infinite if there are too few samples.

    >>> values = np.array([[0.3, 0.2, 0.4, 0.3, 0.1, 0.2, 0.5, 0.2, 0.3], [0.1, -0.2, 0.2, 0.1, -0.1, 0.1, 0.2, 0, 0]])
    >>> family = Differences(np.array([0, 0]), np.array([1, 2]), values, np.ones((2, 9), bool))
    >>> [test] = max_t_of_values([family], num_resamples=999)
    >>> test.statistics.round(3).tolist(), test.pvalues.tolist(), test.reach.round(3).tolist()
    ([6.934, nan], [0.001, nan], [0.102, nan])
    """
    num_resamples = resamples_needed(1, alpha=alpha) if num_resamples is None else num_resamples
    check_count("num_resamples", num_resamples, 1)
    check_count("seed", seed, 0)
    pooled = _PairPool.of(families)
    statistics = np.abs(pooled.means) / pooled.errors

    samples = resampled_counts(len(pooled.queries), num_resamples, seed)
    with Progress("resampling", num_resamples, shown=show_progress) as progress:
        counts, maxima = _count_maxima(
            statistics, _AS_LARGE * statistics, pooled.resampled, samples, len(pooled.queries), progress
        )
    pvalues = _stepped_down(statistics, (counts + 1) / (num_resamples + 1))
    at = math.ceil(round((1 - alpha) * (num_resamples + 1), 6))
    critical = np.sort(maxima)[at - 1] if at <= len(maxima) else np.inf
    columns = (pooled.split(column) for column in (pvalues, statistics, critical * pooled.errors))
    method = f"step-down max-T, {num_resamples:,} bootstrap samples"
    return [MaxT(p, t, num_resamples, method, reach) for p, t, reach in zip(*columns, strict=True)]


def stand_outside(differences: PairDifferences) -> BoolArray:
    """Tell which pairs of values no statistic of the mean is made of, [P]."""
    is_constant = differences.have_one_size & (
        np.maximum(differences.wins, differences.losses) == differences.num_queries
    )
    is_constant |= ~(differences.deviations > 0)  # squares of the smallest floats are 0
    return np.asarray(~differences.has_steady_mean | (differences.num_one_sided > 0) | is_constant)


@dataclass(frozen=True)
class _PairPool:
    """The pairs of several measures that are tested together, K in all."""

    families: Sequence[PairDifferences]
    inside: Sequence[IntArray]
    """Of each measure, the pairs that do not stand outside."""
    starts: IntArray
    """The number of the first pair of each measure."""
    queries: IntArray
    """On which any pair is compared; these are drawn."""
    means: FloatArray
    """[K]."""
    errors: FloatArray
    """The standard error of each mean, [K]."""

    @classmethod
    def of(cls, families: Sequence[PairDifferences]) -> "_PairPool":
        inside = [np.flatnonzero(~stand_outside(family)) for family in families]
        starts = np.array([0, *accumulate(len(pairs) for pairs in inside)])
        queries = np.flatnonzero(np.any([family.compared for family in families], axis=0))
        insiders = [*zip(families, inside, strict=True)]
        means = np.concatenate([family.means[pairs] for family, pairs in insiders])
        errors = [family.deviations[pairs] / np.sqrt(family.num_queries[pairs]) for family, pairs in insiders]
        return cls(
            families=families, inside=inside, starts=starts, queries=queries, means=means, errors=np.concatenate(errors)
        )

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Return what is known of the pairs of each measure, nan where they stand outside."""
        columns = [np.full(len(family.a), np.nan) for family in self.families]
        for column, pairs, start in zip(columns, self.inside, self.starts, strict=False):
            column[pairs] = values[start : start + len(pairs)]
        return columns

    def resampled(self, pairs: IntArray, counts: FloatArray) -> FloatArray:
        """Return the statistics of some pairs in some samples, [P, B]."""
        statistics = np.empty((len(pairs), len(counts)))
        owners = np.searchsorted(self.starts, pairs, side="right") - 1
        for m in np.unique(owners).tolist():
            rows = np.flatnonzero(owners == m)
            among = self.families[m].at(self.inside[m][pairs[rows] - self.starts[m]])
            known = self.means[pairs[rows]], self.errors[pairs[rows]]
            statistics[rows] = _studentized(among.on(self.queries), *known, counts)
        return statistics


def _studentized(differences: Differences, means: FloatArray, errors: FloatArray, counts: FloatArray) -> FloatArray:
    """Return |mean*| / error* of the centred differences in each sample, [P, B]."""
    counted, values = differences.counted, differences.values
    scale = np.ldexp(1.0, -np.frexp(np.abs(values).max(axis=1, initial=0.0))[1])[:, None]  # tiny squares would be 0
    centred = np.where(counted, values - means[:, None], 0.0) * scale
    # Sums of numbers on a grid are exact: neither the order of pairs nor the size of a block shows.
    centred = on_grid(centred.T).T
    numbers = np.full((1, 1), float(counts.shape[1])) if counted.all() else np.maximum(counted @ counts.T, 1.0)
    drawn = centred @ counts.T / numbers
    squares = on_grid((centred**2).T).T @ counts.T / numbers
    variances = squares - drawn**2
    rows, samples = np.nonzero(variances <= _NEARLY_CONSTANT * squares)
    for part in slices(len(rows), counts.shape[1]):
        weights = counts[samples[part]] * counted[rows[part]]
        again = centred[rows[part]] - drawn[rows[part], samples[part], None]
        n = np.broadcast_to(numbers, drawn.shape)[rows[part], samples[part]]
        variances[rows[part], samples[part]] = (weights * again**2).sum(axis=1) / n
    spreads = np.sqrt(variances / np.maximum(numbers - 1, 1.0))
    np.abs(drawn, out=drawn)
    is_degenerate = spreads <= _DEGENERATE * (errors[:, None] * scale)
    is_none = drawn <= TOLERANCE * (np.abs(values).max(axis=1, initial=0.0)[:, None] * scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = drawn / spreads
    statistics[is_degenerate] = np.where(is_none[is_degenerate], 0.0, np.inf)
    return np.asarray(statistics)


def _stepped_down(statistics: FloatArray, pvalues: FloatArray) -> FloatArray:
    """Raise each p to those of the pairs with larger statistics."""
    largest_first = _ascending(statistics)[::-1]
    stepped = np.empty(len(statistics))
    stepped[largest_first] = np.maximum.accumulate(pvalues[largest_first])
    return stepped


def _count_maxima(
    statistics: FloatArray,
    least: FloatArray,
    resampled: Statistics,
    blocks: Iterable[FloatArray],
    num_queries: int,
    progress: Progress,
) -> tuple[IntArray, FloatArray]:
    """Count the resamples whose maximum up to each pair is `least` or more, [P]; return the maxima over all, [B].

    The pairs are gone through in the order of their statistics, the smallest first.
    """
    num_pairs, ascending = len(statistics), _ascending(statistics)
    counts, maxima = np.zeros(num_pairs, np.int64), [np.zeros(0)]
    for block in blocks:
        largest = np.zeros(len(block))
        for rows in slices(num_pairs, max(num_queries, len(block)), _BLOCK):
            pairs = ascending[rows]
            found = resampled(pairs, block)
            # Pairs ascend by statistic: the running maximum, carried from block to block, is over this pair and those
            # with smaller ones, as stepping down needs.
            np.maximum(found[0], largest, out=found[0])
            np.maximum.accumulate(found, axis=0, out=found)
            counts[pairs] += np.count_nonzero(found >= least[pairs, None], axis=1)
            # A view would keep the whole block in memory as long as the maxima.
            largest = found[-1].copy()
        maxima.append(largest)
        progress.advance(len(block))
    return counts, np.concatenate(maxima)


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

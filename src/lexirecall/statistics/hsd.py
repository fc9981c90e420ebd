"""Honestly significant differences: all pairs of runs at once, without a need for a correction afterwards.

Belongs here: Tukey's HSD on the layout of runs and queries, and its randomized form. Not here: the distribution behind
it (`studentized_range`), pairs by themselves (`paired`).

Every run answers every query: a query on which some run has no value (nan) is left out for all of them, and counted.
Both tests ask how far apart the best and the worst of all runs are likely to be by chance, and compare every pair with
that. So the chance of any false difference, not of each one, is alpha, as long as no run is better than another. Once
some runs differ, it can be larger: the spread of all runs is then not that of those which are equal. The order of the
runs makes no difference to the result of a pair.

Means and residuals come from exact sums. Still, responses are floats, wrong by about 1e-16 of what they mean, and the
sums of permutations are rounded, by that times the number of terms at worst. So differences of means, and residuals,
within 1e-12 of the largest value of the layout are taken as 0. That is more than rounding does to thousands of queries,
and less than any measure can mean. It is a share of the largest value and not of the mean or the spread, because
rounding is proportional to it: responses that cancel out have means of 0, and equal ones a spread of 0, up to rounding.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

import numpy as np

from lexirecall.errors import DataError, UsageError, check_count, counted, listed
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.reader import reader_in_use
from lexirecall.statistics.attainable import FEWEST_RESAMPLES
from lexirecall.statistics.paired import check_chance
from lexirecall.statistics.studentized_range import critical_value, sf
from lexirecall.sums import ExactSums

_BLOCK = 2**15  # rows gathered at once: with a few measures they stay in the cache
_BETWEEN_REPORTS = 100  # permutations


@dataclass(frozen=True)
class HSD:
    """All P pairs of runs under one measure, tested together; the reader, not the test, draws the line."""

    a: IntArray
    """The first run of each pair, [P]."""
    b: IntArray
    """The second, which comes after it."""
    differences: FloatArray
    """Mean response of the first minus that of the second, [P]; exactly 0 if they are equal up to rounding."""
    pvalues: FloatArray
    """How likely any two runs are to differ by so much if none is better, [P]; nan where it is not defined."""
    lows: FloatArray
    """Where the interval of the difference begins, [P]; all P intervals hold at once with the chance 1 - alpha."""
    highs: FloatArray
    """Where it ends, [P]."""
    num_queries: int
    """How many queries were used."""
    num_left_out: int
    """How many were not, because some run has no value there."""
    mse: float
    """Mean square of what neither the run nor the query explains; nan for permutations, which do not need it."""
    df: int
    """Its degrees of freedom, (S-1)(Q-1); 0 for permutations."""
    num_resamples: int
    """How many permutations were drawn; 0 if none."""
    method: str
    """The test, in words."""


def tukey_hsd(responses: FloatArray, *, alpha: float = 0.05) -> HSD:
    """Test all pairs of S runs on Q queries, [S, Q], by Tukey's HSD on the two-way layout, without the query effect.

    MSE = sum (x_sq - mean_s - mean_q + mean)² / ((S-1)(Q-1)), q_ab = |mean_a - mean_b| / sqrt(MSE/Q), and p is the
    chance that the studentized range of S groups with (S-1)(Q-1) degrees of freedom exceeds q_ab. The interval is
    difference ± critical value · sqrt(MSE/Q). Below two queries p is nan. If MSE is 0, p is 1 for equal means and 0,
    its limit, for others.

    >>> test = tukey_hsd(np.array([[3.0, 5, 6, 6], [1, 4, 2, 5], [2, 3, 4, 7]]))
    >>> test.differences.tolist(), test.mse, test.df
    ([2.0, 1.0, -1.0], 1.0, 6)
    >>> test.pvalues.round(4).tolist()
    [0.0674, 0.3923, 0.3923]
    """
    check_chance("alpha", alpha)
    layout = _TwoWay.of(responses)
    num_runs, num_queries = layout.values.shape
    df = (num_runs - 1) * max(num_queries - 1, 0)
    a, b = np.triu_indices(num_runs, 1)
    differences = layout.differences(a, b)
    pvalues, reach = np.full(len(a), np.nan), np.nan
    if df > 0:
        error = layout.deviation / np.sqrt(num_queries)
        with np.errstate(divide="ignore", invalid="ignore"):  # with an error of 0 any difference is infinitely large
            q = np.where(differences == 0, 0.0, np.abs(differences) / error)
        pvalues, reach = sf(q, num_runs, df), critical_value(alpha, num_runs, df) * error
    lows, highs = layout.interval(differences, reach)
    return HSD(
        a=a, b=b, differences=differences, pvalues=pvalues, lows=lows, highs=highs, num_queries=num_queries,
        num_left_out=layout.num_left_out,
        mse=layout.deviation * layout.deviation if df > 0 else np.nan, df=df, num_resamples=0,
        method="Tukey HSD, runs × queries",
    )  # fmt: skip


def randomized_tukey_hsd(
    responses: Sequence[FloatArray],
    *,
    names: Sequence[str],
    num_resamples: int | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = None,
) -> list[HSD]:
    """Test all pairs of S runs on Q queries, [S, Q] for each of several measures, by permutation.

    If no run is better, the responses to a query might as well have come from the runs in any other order. So they are
    permuted within each query, in the same way for all measures. p_ab = (1 + #{max - min >= |mean_a - mean_b|}) /
    (1 + B), where max and min are the largest and smallest mean of each of the B permutations. It is never 0, because
    the observed order is one more of them (Phipson & Smyth 2010). A max - min that falls short by 1e-12 of the largest
    response counts: the same responses added in another order may. The runs are permuted in the order of their names,
    in whatever order they are given.

    The interval is difference ± the max - min that only the admissible number of permutations exceed. It excludes 0 if
    and only if p < alpha, and is unbounded if there are too few permutations for any p below alpha. If no number of
    permutations is given, it is 10,000.

    >>> one = np.array([[3.0, 5, 6, 6], [1, 4, 2, 5], [2, 3, 4, 7]])
    >>> [test] = randomized_tukey_hsd([one], names=["x", "y", "z"], num_resamples=999)
    >>> test.differences.tolist(), test.pvalues.tolist()
    ([2.0, 1.0, -1.0], [0.105, 0.638, 0.638])
    """
    check_chance("alpha", alpha)
    if num_resamples is None:
        num_resamples = FEWEST_RESAMPLES
    check_count("num_resamples", num_resamples, 1)
    check_count("seed", seed, 0)
    rows = _by_name(names)
    layouts = [_TwoWay.of(response, len(names)).taken(rows) for response in responses]
    _check_same_queries(layouts)
    spreads = _permuted_spreads(layouts, num_resamples, seed, show_progress=show_progress)
    places = np.argsort(rows)
    return [_compare(layout, spreads[:, m], places, alpha) for m, layout in enumerate(layouts)]


def permutations_within_queries(num_queries: int, num_runs: int, seed: int) -> Iterator[IntArray]:
    """Give orders of the runs, independent for each query and all equally likely, [Q, S], without end.

    They come from the raw bits of a named generator: numpy promises never to change these, but not what it makes of
    them. Each run draws a number. Its index replaces the last bits, and the numbers are sorted. More than 50 random
    bits are left for any thousand runs, so equal numbers, which keep their order, are too rare to matter.

    >>> next(permutations_within_queries(2, 4, seed=0)).tolist()
    [[3, 2, 1, 0], [2, 3, 0, 1]]
    """
    bits = np.random.PCG64(seed)
    runs = np.arange(num_runs, dtype=np.uint64)
    index_bits = np.uint64(2 ** num_runs.bit_length() - 1)
    while True:
        drawn = bits.random_raw(num_queries * num_runs).reshape(num_queries, num_runs)
        drawn &= ~index_bits
        drawn |= runs
        drawn.sort(axis=1)
        drawn &= index_bits
        yield drawn.view(np.int64)


@dataclass(frozen=True)
class _TwoWay:
    """The responses of S runs to Q queries, [S, Q], and which queries have a response of every run, [Q]."""

    responses: FloatArray
    is_complete: BoolArray

    @classmethod
    def of(cls, responses: FloatArray, num_runs: int | None = None) -> "_TwoWay":
        responses = np.asarray(responses, float)
        if responses.ndim != 2 or len(responses) != (num_runs or len(responses)):
            wanted = f"[{num_runs or 'S'}, Q], runs × queries"
            raise UsageError(f"responses have the shape {list(responses.shape)}, but must be {wanted}")
        if len(responses) < 2:
            raise UsageError(f"there is {counted(len(responses), 'run')}, but HSD compares two or more")
        if num_infinite := np.count_nonzero(np.isinf(responses)):
            raise DataError(f"infinite responses: {num_infinite:,}", remedy="give nan where a run has no value")
        return cls(responses, np.asarray(~np.isnan(responses).any(axis=0)))

    def taken(self, rows: IntArray) -> "_TwoWay":
        return _TwoWay(self.responses[rows], self.is_complete)

    @property
    def num_left_out(self) -> int:
        return int(np.count_nonzero(~self.is_complete))

    @cached_property
    def values(self) -> FloatArray:
        """The responses to the queries in use, [S, Q']; each row in one piece, with a mean of its own."""
        return np.ascontiguousarray(self.responses[:, self.is_complete])

    @cached_property
    def noise(self) -> float:
        """What cannot be told from 0."""
        return float(TOLERANCE * np.abs(self.values).max(initial=0.0))

    @cached_property
    def deviation(self) -> float:
        """sqrt(MSE), from x_sq - mean_s - mean_q + mean; 0 if it is 0 up to rounding. Needs two queries."""
        num_runs, num_queries = self.values.shape
        centered = self.values - ExactSums.of(self.values).rounded() / num_runs
        residuals = centered - (ExactSums.of(centered.T).rounded() / num_queries)[:, None]
        # Squares of deep exposures, such as .5^600, would be 0; a power of two scales without rounding.
        scale = np.ldexp(1.0, int(np.frexp(np.abs(residuals).max())[1]) - 1)
        squares = math.fsum(((residuals / scale) ** 2).flat) / ((num_runs - 1) * (num_queries - 1))
        deviation = float(scale * np.sqrt(squares))
        return deviation if deviation > self.noise else 0.0

    def differences(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the mean response of a minus that of b; nan without queries."""
        sums = ExactSums.of(self.values.T).parts
        with np.errstate(invalid="ignore"):
            # Subtract the exact sums, not their rounded means: a small difference of large means keeps its digits.
            differences = ExactSums.of(np.concatenate([sums[:, a], -sums[:, b]])).rounded() / self.values.shape[1]
        return np.where(np.abs(differences) <= self.noise, 0.0, differences)

    def interval(self, differences: FloatArray, reach: float) -> tuple[FloatArray, FloatArray]:
        """Return the differences ± how far they reach; an end that cannot be told from 0 is 0."""
        ends = differences - reach, differences + reach
        low, high = (np.where(np.abs(end) <= self.noise, 0.0, end) for end in ends)
        return low, high


def _check_same_queries(layouts: Sequence[_TwoWay]) -> None:
    if len(sizes := {len(layout.is_complete) for layout in layouts}) > 1:
        problem = f"the measures have different numbers of queries: {listed(map(str, sorted(sizes)))}"
        raise UsageError(problem, remedy="give nan where a run has no value")


def _by_name(names: Sequence[str]) -> IntArray:
    """Return the runs in the order of their names, which must differ."""
    rows = sorted(range(len(names)), key=names.__getitem__)
    if shared := {names[x] for x, y in pairwise(rows) if names[x] == names[y]}:
        raise UsageError(f"several runs are named {listed(sorted(shared))}", remedy="give each run its own name")
    return np.array(rows, np.int64)


def _permuted_spreads(
    layouts: Sequence[_TwoWay], num_resamples: int, seed: int, *, show_progress: bool | None
) -> FloatArray:
    """Return max - min of the runs' sums over the queries, for each permutation and each measure, [B, M]."""
    spreads = np.empty((num_resamples, len(layouts)))
    if not layouts:
        return spreads
    num_runs, num_queries = layouts[0].responses.shape
    # What a measure leaves out adds 0 to its sums.
    values = np.stack([np.where(layout.is_complete, layout.responses, 0.0) for layout in layouts])
    summed = (_native_sums if reader_in_use() == "native" and num_queries else _sums)(values)
    orders = permutations_within_queries(num_queries, num_runs, seed)
    with Progress("permuting", num_resamples, shown=show_progress) as progress:
        for number, order in enumerate(islice(orders, num_resamples), 1):
            sums = summed(order)
            spreads[number - 1] = sums.max(axis=1) - sums.min(axis=1)
            if number % _BETWEEN_REPORTS == 0:
                progress.advance(_BETWEEN_REPORTS)
    return spreads


def _sums(values: FloatArray) -> Callable[[IntArray], FloatArray]:
    """Return what adds up the values, [M, S, Q], that the runs get in the order of each query, [Q, S]: [M, S]."""
    num_measures, num_runs, num_queries = values.shape
    # A row for each query and run holds all measures: one lookup serves them all.
    rows = np.ascontiguousarray(values.transpose(2, 1, 0)).reshape(-1, num_measures)
    starts, size = num_runs * np.arange(num_queries)[:, None], _num_at_once(num_runs)

    def summed(orders: IntArray) -> FloatArray:
        sums = np.zeros((num_runs, num_measures))
        for start in range(0, num_queries, size):
            chosen = starts[start : start + size] + orders[start : start + size]
            sums += rows.take(chosen, axis=0).sum(axis=0)
        return sums.T

    return summed


def _native_sums(values: FloatArray) -> Callable[[IntArray], FloatArray]:
    """Return what does the same in C, where numbers are added in the same order."""
    from lexirecall import _native

    columns = np.ascontiguousarray(values.transpose(2, 0, 1))
    num_runs = columns.shape[2]

    def summed(orders: IntArray) -> FloatArray:
        partial, sums = np.zeros((2, *columns.shape[1:]))
        _native.permuted_sums(columns, orders, *orders.shape, _num_at_once(num_runs), partial, sums)
        return np.asarray(sums)

    return summed


def _num_at_once(num_runs: int) -> int:
    return max(1, _BLOCK // num_runs)


def _compare(layout: _TwoWay, spreads: FloatArray, places: IntArray, alpha: float) -> HSD:
    """Compare every pair with the permuted sums; places says where each run is in the layout."""
    num_runs, num_queries = layout.values.shape
    num_resamples = len(spreads)
    a, b = np.triu_indices(num_runs, 1)
    differences = layout.differences(places[a], places[b])
    pvalues, reach = np.full(len(a), np.nan), np.nan
    if num_queries > 0:
        ascending = np.sort(spreads) / num_queries
        num_as_large = num_resamples - np.searchsorted(ascending, np.abs(differences) - layout.noise)
        pvalues, reach = (num_as_large + 1) / (num_resamples + 1), _reach(ascending, alpha)
    lows, highs = layout.interval(differences, reach)
    return HSD(
        a=a, b=b, differences=differences, pvalues=pvalues, lows=lows, highs=highs, num_queries=num_queries,
        num_left_out=layout.num_left_out,
        mse=np.nan, df=0, num_resamples=num_resamples, method=f"randomized Tukey HSD, {num_resamples:,} permutations",
    )  # fmt: skip


def _reach(ascending: FloatArray, alpha: float) -> float:
    """Return the spread that a difference must exceed, by more than rounding, to have p < alpha."""
    num_resamples = len(ascending)
    num_admissible = np.count_nonzero(np.arange(1, num_resamples + 2) / (num_resamples + 1) < alpha)
    return float(ascending[-num_admissible]) if num_admissible else np.inf


def _by_layout(responses: Sequence[FloatArray], *, alpha: float) -> list[HSD]:
    return [tukey_hsd(values, alpha=alpha) for values in responses]


LAYOUTS: dict[str, Callable[..., list[HSD]]] = {"hsd": _by_layout, "randomized-hsd": randomized_tukey_hsd}
"""The tests of all runs at once, for the responses to each of several measures."""

"""Pairs over queries: how far apart two runs are in the median, in a quantile or in their worst queries.

Belongs here: differences of such numbers, and their paired bootstrap. Not here: the numbers of one run (`over`), mean
differences and their tests (`paired`).

Each run has its own number: the tail of a run is the mean of its own worst queries, which need not be those of the
other run. A pair is compared on the queries on which both runs have a value. The queries are resampled, the same ones
for both runs and for all pairs, and the interval is the percentile interval of the resampled differences.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.progress import Progress
from lexirecall.statistics.bootstrap import check_resamples, collected, percentile_interval, resampled_counts
from lexirecall.statistics.differences import of_same_queries
from lexirecall.statistics.over import Over, over_queries, resampled_over
from lexirecall.statistics.paired import check_count

_KEPT = 2**22  # resampled numbers that are kept at a time: 32 MB


@dataclass(frozen=True, slots=True, eq=False)
class OverPairs:
    """P pairs of runs; positive if the first is better."""

    differences: FloatArray
    """[P]; nan without a common query, and where both numbers are infinite."""
    lows: FloatArray
    """Where the percentile interval begins, [P]; nan without one, as where resamples have no difference because both
    numbers are infinite."""
    highs: FloatArray
    num_queries: IntArray
    """On how many queries each pair is compared, [P]."""
    num_left_out: IntArray
    """How many resamples have no difference and are left out of the interval, [P]."""


def compare_over(
    values: FloatArray,
    over: Over,
    a: IntArray,
    b: IntArray,
    *,
    direction: int = 1,
    num_resamples: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = False,
) -> OverPairs:
    """Compare pairs of runs, a and b, by one number over the queries, from their values, [S, Q].

    A minimum has no interval, because resampling is not valid there.

    >>> values = np.array([[0.1, 0.5, 0.9, 0.8], [0.3, 0.2, 0.9, 1.0]])
    >>> made = compare_over(values, Over.parse("tail:0.5"), np.array([0]), np.array([1]), num_resamples=99)
    >>> made.differences.round(4).tolist(), made.lows.round(4).tolist(), made.highs.round(4).tolist()
    ([0.05], [-0.2], [0.3])
    """
    check_resamples(num_resamples, alpha)
    check_count("seed", seed, 0)
    is_defined = ~np.isnan(values)
    made = OverPairs(*(np.full(len(a), np.nan) for _ in range(3)), *(np.zeros(len(a), np.int64) for _ in range(2)))
    alike = list(of_same_queries(is_defined, a, b))
    num_parts = sum(len(list(_parts(a[pairs], b[pairs], num_resamples))) for pairs, _ in alike)
    total = num_resamples * num_parts if over.is_resampled else 0
    with Progress("resampling pairs", total, shown=show_progress) as progress:
        for pairs, queries in alike:
            own = np.where(queries, values, np.nan)[:, is_defined.any(axis=0)]
            numbers = over_queries(own[:, :, None], over, directions=np.array([direction]))[:, 0]
            made.differences[pairs] = _less(direction * numbers, a[pairs], b[pairs])
            made.num_queries[pairs] = queries.sum()
            for part in _parts(a[pairs], b[pairs], num_resamples) if over.is_resampled else ():
                which = pairs[part]
                resampled = _resampled(own, over, direction, a[which], b[which], num_resamples, seed, progress)
                made.lows[which], made.highs[which] = percentile_interval(resampled, alpha)
                made.num_left_out[which] = np.isnan(resampled).sum(axis=1)
    # Where both runs can be infinite, what resamples lack a difference is not by chance.
    is_endless = np.asarray(np.isinf(values).any(axis=1))
    is_open = ~np.isfinite(made.differences) | (is_endless[a] & is_endless[b] & (made.num_left_out > 0))
    made.lows[is_open] = made.highs[is_open] = np.nan
    return made


def _parts(a: IntArray, b: IntArray, num_resamples: int) -> Iterator[IntArray]:
    """Give the pairs in parts, so that the resampled numbers of their runs and pairs can be kept."""
    width = max(1, _KEPT // num_resamples)
    num_blocks = int(max(a.max(initial=0), b.max(initial=0))) // width + 1
    block_of = a // width * num_blocks + b // width  # the runs of a part are in two blocks of this width
    for block in np.unique(block_of):
        members = np.flatnonzero(block_of == block)
        yield from (members[start : start + width] for start in range(0, len(members), width))


def _resampled(
    values: FloatArray,
    over: Over,
    direction: int,
    a: IntArray,
    b: IntArray,
    num_resamples: int,
    seed: int,
    progress: Progress,
) -> FloatArray:
    """Return the differences of some pairs in all resamples, [P, B]."""
    runs, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    directions, none = np.full(len(runs), direction), np.zeros(len(runs), bool)
    numbers_of = resampled_over(values[runs].T, over, directions, none)
    numbers = collected(numbers_of, resampled_counts(values.shape[1], num_resamples, seed), progress)
    first, second = places.reshape(2, -1)
    return _less(direction * numbers, first, second)


def _less(numbers: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    with np.errstate(invalid="ignore"):  # of two infinite numbers there is no difference
        return np.asarray(numbers[a] - numbers[b])

"""Studentized: intervals of means and of tail means, from resamples that are each measured by their own spread.

Belongs here: the bootstrap-t interval. Not here: the draws (`bootstrap`), which numbers have an interval (verbs).

The tail mean of n values is that of the k = ceil(q n) worst; the mean is the tail of all. Each value moves it by its
influence ψ (`over.tail_influence`), and its standard error is se = sd(ψ)/sqrt(n). Of B resamples with their own tail*
and se*, T* = (tail* - tail)/se*, and with the j-th smallest and the j-th largest of them, j = (B + 1) alpha/2 rounded
down, the interval is from tail - T*_(B+1-j) se to tail - T*_(j) se (Efron and Tibshirani, An Introduction to the
Bootstrap, 1993, section 12.5). Percentiles of tail* itself are too narrow where values are few or skewed.
"""

import math
from collections.abc import Callable

import numpy as np

from lexirecall.errors import check_count
from lexirecall.judgments import FloatArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.statistics.bootstrap import (
    Resampled,
    check_resamples,
    collected,
    on_grid,
    percentile_interval,
    resampled_counts,
)
from lexirecall.statistics.hall import FEWEST, of_each_number
from lexirecall.statistics.queryaggregate import FEWEST_IN_TAIL, QueryAggregate, tail_influence

NUM_RESAMPLES = 9_999
"""Unless the user sets the number."""
_KEPT = 2**23  # numbers of resamples that are kept at a time: 64 MB
_EQUAL = 1e-6  # of se: what is left of se* by rounding where a resample has equal values
_MEAN = QueryAggregate("mean", "mean")


def studentized_intervals(
    values: FloatArray,
    over: QueryAggregate = _MEAN,
    *,
    num_resamples: int = NUM_RESAMPLES,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = False,
) -> tuple[FloatArray, FloatArray]:
    """Return where the interval of the mean, or of the tail mean, of each column [n, C] begins and ends, [C].

    The lowest values are the worst. A value of nan is left out, and n is the number of the others. There is no
    interval, but nan, where there are fewer than 8 values, or fewer than 5 in the tail, where all of these are equal,
    and where a value is infinite. An end is infinite if the resamples do not limit it. (Where a
    tail shows one value only, usually the least, nothing says how much better others could be: on real runs hardly any
    interval of such a tail held.)

    >>> one = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.3, 0.9])[:, None]
    >>> [end.round(2).tolist() for end in studentized_intervals(one)]
    [[0.03], [0.86]]
    """
    check_resamples(num_resamples, alpha)
    check_count("seed", seed, 0)
    lows, highs = np.full((2, values.shape[1]), np.nan)
    width = max(1, _KEPT // num_resamples)
    parts = [
        (columns[start : start + width], numbers[start : start + width])
        for columns, numbers in of_each_number(np.where(np.isinf(values).any(axis=0), np.nan, values))
        if numbers.shape[1] >= FEWEST and (over.kind == "mean" or over.num_of(numbers.shape[1]) >= FEWEST_IN_TAIL)
        for start in range(0, len(columns), width)
    ]
    with Progress("resampling", num_resamples * len(parts), shown=show_progress) as progress:
        for columns, numbers in parts:
            n, k = numbers.shape[1], numbers.shape[1] if over.kind == "mean" else over.num_of(numbers.shape[1])
            worst = np.sort(numbers, axis=1)[:, :k]
            is_spread = np.ptp(worst, axis=1) > TOLERANCE * np.abs(numbers).max(axis=1)
            if not is_spread.any():
                continue
            which, rows, tails = columns[is_spread], numbers[is_spread], worst[is_spread].mean(axis=1)
            errors = tail_influence(rows.T, k).std(axis=0, ddof=1) / math.sqrt(n)
            resampled = _means(rows, tails, errors) if k == n else _tails(rows, k, tails, errors)
            statistics = collected(resampled, resampled_counts(n, num_resamples, seed), progress)
            least, most = percentile_interval(statistics, alpha)
            lows[which], highs[which] = tails - most * errors, tails - least * errors
    return lows, highs


def _means(values: FloatArray, means: FloatArray, errors: FloatArray) -> Resampled:
    """Return what gives T* of the mean of each row, [C, n], in each resample."""
    n, centred = values.shape[1], (values - means[:, None]).T
    first, second = on_grid(centred), on_grid(centred**2)  # so that the sums do not depend on the size of a block

    def statistics(counts: FloatArray) -> FloatArray:
        moved = counts @ first / n
        variances = (counts @ second / n - moved**2) / (n - 1)
        return _studentized(moved, np.sqrt(np.maximum(variances, 0.0)), errors)

    return statistics


def _tails(values: FloatArray, k: int, tails: FloatArray, errors: FloatArray) -> Resampled:
    """Return what gives T* of the tail mean of each row, [C, n], in each resample."""
    columns = [_tail(*row, k) for row in zip(values, tails, strict=True)]

    def statistics(counts: FloatArray) -> FloatArray:
        results = [column(np.ascontiguousarray(counts.T)) for column in columns]
        moved, spreads = (np.stack(parts, axis=1) for parts in zip(*results, strict=True))
        return _studentized(moved, spreads, errors)

    return statistics


def _tail(values: FloatArray, tail: float, k: int) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
    """Return what gives tail* - tail and se* of one row, [n], from how often each value is drawn, [n, B]."""
    order = np.argsort(values, kind="stable")
    ascending, n = values[order], len(values)

    def resampled(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows = k + 5 * math.isqrt(k) + 10  # of a resample, about as many values are among the first rows
        while True:
            drawn = draws[order[:rows]]
            cumulative = np.cumsum(drawn, axis=0)
            if rows >= n or (cumulative[-1] > k).all():
                break
            rows *= 2
        # There is one: k < n (a tail of all values is a mean, taken by `_means`), and n are drawn.
        limits = ascending[np.count_nonzero(cumulative <= k, axis=0)]  # the next value beyond the tail
        below = np.minimum(ascending[:rows, None] - limits, 0.0)
        sums, squares = (drawn * below).sum(axis=0), (drawn * below**2).sum(axis=0)
        variances = (squares - sums**2 / n) / (n - 1)
        return limits + sums / k - tail, np.sqrt(np.maximum(variances, 0.0)) * math.sqrt(n) / k

    return resampled


def _studentized(moved: FloatArray, spreads: FloatArray, errors: FloatArray) -> FloatArray:
    """Return T* of each resample, [B, C]: infinite where the resample has no spread, but another number."""
    is_equal = spreads <= _EQUAL * errors
    is_still = np.abs(moved) <= _EQUAL * errors
    quotients = moved / np.where(is_equal, 1.0, spreads)
    return np.where(is_equal, np.where(is_still, 0.0, np.copysign(np.inf, moved)), quotients)

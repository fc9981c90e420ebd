"""Pairs over queries: how far apart two runs are in the median, in a quantile or in their worst queries.

Belongs here: differences of such numbers, and the interval and the test of differences of tails. Not here: the numbers
of one run (`over`), mean differences and their tests (`paired`).

Each run has its own number: the tail of a run is the mean of its own worst queries, which need not be those of the
other run. A pair is compared on the n queries on which both runs have a value. With the influence ψ of each query on
the tail of each run (`over.tail_influence`), the standard error of a difference of tails of k queries is
sd(ψ_A - ψ_B)/sqrt(n), and Student's t has k degrees of freedom: what is far from the tail says nothing about it.
Differences of medians and quantiles, and of minima, have no interval that holds. The median of the differences on each
query has one, by order statistics (`over.quantile_intervals`); it is another number than the difference of the medians.
"""

import math
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.statistics.differences import of_same_queries
from lexirecall.statistics.flips import slices
from lexirecall.statistics.queryaggregate import (
    FEWEST_IN_TAIL,
    QueryAggregate,
    over_queries,
    quantile_intervals,
    tail_influence,
)
from lexirecall.statistics.tails import t_limit, t_pvalues


@dataclass(frozen=True, slots=True, eq=False)
class OverPairs:
    """P pairs of runs; positive if the first is better."""

    differences: FloatArray
    """[P]; nan without a common query, and where both numbers are infinite."""
    lows: FloatArray
    """Where the interval of a difference of tails, or of an estimate, begins, [P]; nan without one, infinite if it is
    open."""
    highs: FloatArray
    estimates: FloatArray
    """Of medians: the median of the differences on each query, [P]; nan of other numbers."""
    pvalues: FloatArray
    """Of the test that two tails are equal, two-sided, [P]; nan where there is no interval."""
    num_queries: IntArray
    """On how many queries each pair is compared, [P]."""


def compare_over(
    values: FloatArray, over: QueryAggregate, a: IntArray, b: IntArray, *, direction: int = 1, alpha: float = 0.05
) -> OverPairs:
    """Compare pairs of runs, a and b, by one number over the queries, from their values, [S, Q].

    Tails of 5 queries or more have an interval, unless every query has the same influence on both. That of medians is
    the interval of the median of the differences on each query.

    >>> values = np.array([[0.1, 0.5, 0.9, 0.8, 0.3, 0.7, 0.4, 0.6], [0.3, 0.2, 0.9, 1.0, 0.4, 0.6, 0.7, 0.8]])
    >>> made = compare_over(values, QueryAggregate.parse("tail:0.625"), np.array([0]), np.array([1]))
    >>> made.differences.round(4).tolist(), made.lows.round(4).tolist(), made.highs.round(4).tolist()
    ([-0.06], [-0.3375], [0.2175])
    """
    differences, lows, highs, estimates, pvalues = np.full((5, len(a)), np.nan)
    result = OverPairs(
        differences=differences, lows=lows, highs=highs, estimates=estimates, pvalues=pvalues,
        num_queries=np.zeros(len(a), np.int64),
    )  # fmt: skip
    for pairs, queries in of_same_queries(~np.isnan(values), a, b):
        worths = direction * values[:, queries]
        numbers = direction * over_queries(
            values[:, queries][:, :, None], over, directions=np.array([direction])
        )[:, 0]  # fmt: skip
        with np.errstate(invalid="ignore"):  # of two infinite numbers there is no difference
            result.differences[pairs] = numbers[a[pairs]] - numbers[b[pairs]]
        result.num_queries[pairs] = n = int(queries.sum())
        if over.kind == "median" and n > 0:
            paired = _paired(worths, a[pairs], b[pairs])
            result.estimates[pairs] = over_queries(paired.T[:, :, None], over)[:, 0]
            result.lows[pairs], result.highs[pairs] = quantile_intervals(paired, over, alpha=alpha)
        if over.kind == "tail" and n > 1 and (k := over.num_of(n)) >= FEWEST_IN_TAIL:
            errors = _errors(tail_influence(worths.T, k), a[pairs], b[pairs])
            largest = np.abs(np.where(np.isfinite(worths), worths, 0.0)).max()
            has_error = (errors > TOLERANCE * largest) & np.isfinite(result.differences[pairs])
            errors = np.where(has_error, errors, np.nan)
            reach = t_limit(alpha, k) * errors
            result.lows[pairs] = result.differences[pairs] - reach
            result.highs[pairs] = result.differences[pairs] + reach
            statistics = np.abs(result.differences[pairs][has_error] / errors[has_error])
            result.pvalues[pairs[has_error]] = t_pvalues(statistics, np.full(len(statistics), k))
    return result


def _paired(values: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return the difference of each pair on each query, [n, P]; of two that are infinite there is none: 0."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(values[a] - values[b], nan=0.0, posinf=np.inf, neginf=-np.inf).T


def _errors(influence: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return the standard error of the difference of each pair, [P], from the influence of each query, [n, S]."""
    errors = np.empty(len(a))
    with np.errstate(invalid="ignore"):
        for part in slices(len(a), len(influence)):
            differences = influence[:, a[part]] - influence[:, b[part]]
            errors[part] = differences.std(axis=0, ddof=1) / math.sqrt(len(influence))
    return errors

"""Leximin: one order of runs from their values on every query, the worst query first.

Belongs here: the order by sorted values. Not here: the orders that follow from preferences between pairs (`aggregate`).

The worst queries of two runs are compared, each run's own; if they are equally bad, the next worst, and so on. The
first difference decides. It is to queries what LexiRecall is to documents.
"""

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.statistics.aggregate import Order, shared_ranks

LEXIMIN = "leximin"


def order_by_leximin(values: FloatArray, direction: int = 1) -> Order:
    """Put runs in order by their sorted values, [S, Q], the worst first; runs with equal values share a rank.

    `direction` is 1 where higher values are better and -1 where lower ones are; an infinite value is the worst. The
    score is the value of each run's worst query, nan where that is infinite.

    >>> order_by_leximin(np.array([[0.9, 0.1, 0.9], [0.2, 0.1, 0.2], [0.1, 0.2, 0.2]])).ranks.tolist()
    [1, 2, 2]
    """
    ranks = _ranks_of_rows(worst_first(values, direction))
    worst = direction * np.where(np.isfinite(values), direction * values, -np.inf).min(axis=1, initial=np.inf)
    return Order(LEXIMIN, np.where(np.isfinite(worst), worst, np.nan), ranks)


def worst_first(values: FloatArray, direction: int = 1) -> IntArray:
    """Return the place of each value among all, 1 for the best, in each row the worst first, [S, Q].

    Values that are equal up to rounding have the same place, and so have all that are infinite.

    >>> worst_first(np.array([[0.5, 0.3], [0.1 + 0.2, 0.3]])).tolist()
    [[2, 1], [2, 2]]
    """
    places = np.full(values.shape, values.size + 1, np.int64)
    is_finite = np.isfinite(values)
    places[is_finite] = shared_ranks(direction * values[is_finite])
    return np.asarray(-np.sort(-places, axis=1))


def deciding_query(places: IntArray) -> int:
    """Return how many of their worst queries must be compared, at most, to tell neighbours in the order apart.

    Neighbours with equal values throughout do not count; it is 0 if all runs are equal.

    >>> deciding_query(np.array([[3, 1, 1], [3, 2, 2], [4, 1, 1]]))
    2
    """
    in_order = places[_best_first(places)]
    differs = in_order[1:] != in_order[:-1]
    is_different = differs.any(axis=1)
    return int((differs[is_different].argmax(axis=1) + 1).max(initial=0)) if is_different.any() else 0


def _best_first(places: IntArray) -> IntArray:
    """Return the rows in the order of their first difference, the smaller first."""
    return np.lexsort(places.T[::-1]) if places.size else np.arange(len(places))


def _ranks_of_rows(places: IntArray) -> IntArray:
    """Rank rows by their first difference; equal rows share the best of their ranks."""
    in_order = _best_first(places)
    is_first = np.ones(len(places), bool)
    is_first[1:] = (places[in_order[1:]] != places[in_order[:-1]]).any(axis=1)
    ranks = np.empty(len(places), np.int64)
    ranks[in_order] = np.maximum.accumulate(np.where(is_first, np.arange(1, len(places) + 1), 1))
    return ranks

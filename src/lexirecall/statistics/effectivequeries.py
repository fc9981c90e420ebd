"""Effective queries: on which queries the difference between two runs rests.

Belongs here: the fewest queries that carry a mean difference, and the queries in a tail. Not here: names, and tables
(verbs.decidingqueries).
"""

import math

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.statistics.queryaggregate import QueryAggregate


def deciding_queries(differences: FloatArray) -> IntArray:
    """Return the fewest queries without which the sum of the differences is 0 or has the other sign.

    These are the largest differences in the direction of the sum, the largest first; equal ones are in the order given.
    Sums are exact. No query decides a sum of 0.

    >>> deciding_queries(np.array([0.5, -0.25, 0.125, 0.25, -0.25])).tolist()
    [0]
    >>> deciding_queries(np.array([0.25, 0.25, 0.0])).tolist(), deciding_queries(np.array([1.0, -1.0])).tolist()
    ([0, 1], [])
    """
    sign = np.sign(math.fsum(differences.tolist()))
    ahead = sign * differences
    order = np.argsort(-ahead, kind="stable")
    sorted_differences = ahead[order].tolist()
    low, high = 0, int((ahead > 0).sum()) if sign else 0  # without all that are ahead, nothing is
    while low < high:
        middle = (low + high) // 2
        if math.fsum(sorted_differences[middle:]) > 0:
            low = middle + 1
        else:
            high = middle
    return order[:low]


def worst_queries(values: FloatArray, tail: QueryAggregate) -> IntArray:
    """Return the queries in a tail, those with the lowest values, the lowest first; equal ones are as given.

    >>> worst_queries(np.array([0.5, 0.0, 1.0, 0.0]), QueryAggregate.parse("tail:0.3")).tolist()
    [1, 3]
    """
    number = tail.num_taken(np.array([len(values)])).item()
    return np.argsort(values, kind="stable")[:number]

"""Over: what the values of many queries become as one number, and how much that depends on the queries.

Belongs here: the mean, the median, the minimum, quantiles and the mean of the worst queries, the intervals of
quantiles, and what a tail moves by. Not here: intervals of means (`hall`) and of tails (`studentized`), groups of
queries and tables (verbs).

Of n values: `median` is the middle one, or the mean of the middle two; `min` the least; `quantile:q` the ceil(q n)-th
smallest; `tail:q` the mean of the ceil(q n) worst, which are the highest where lower is better. ceil is taken in exact
decimals. A value of nan is left out. An infinite value, such as the depth of a document that was never found, is left
out of a mean too, but it has its place in the order of the values, and counts there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.recall_level import needed_for_recall
from lexirecall.statistics.hall import of_each_number
from lexirecall.sums import ExactSums
from lexirecall.text import number_of

FORMS = ("mean", "median", "min", "quantile:Q", "tail:Q")
"""What may be asked for."""
_WITH_SHARE = ("quantile", "tail")
FEWEST_IN_TAIL = 5
"""A tail of fewer queries has no interval that holds what it says."""


@dataclass(frozen=True, slots=True)
class QueryAggregate:
    """How the values of many queries become one number.

    >>> QueryAggregate.parse("tail:0.1")
    QueryAggregate(text='tail:0.1', kind='tail', share=0.1)
    """

    text: str
    """As typed."""
    kind: str
    """mean, median, min, quantile or tail."""
    share: float = 1.0
    """Of a quantile or tail: above 0, and at most 1."""

    @classmethod
    def parse(cls, text: str) -> "QueryAggregate":
        """Read one of FORMS."""
        return cls.parse_all([text])[0]

    @classmethod
    def parse_all(cls, texts: Iterable[str]) -> "tuple[QueryAggregate, ...]":
        """Read several; raise one error about all that are wrong, or if one is there twice.

        >>> QueryAggregate.parse_all(["mean", "tail:2", "worst"])
        Traceback (most recent call last):
        lexirecall.errors.UsageError: over: cannot read 'tail:2' (the share must be above 0 and at most 1), 'worst'
          choose from mean, median, min, quantile:Q, tail:Q; Q is a share such as 0.1
        """
        aggregates, wrong = [], []
        for text in texts:
            found = _read(text)
            if isinstance(found, str):
                wrong.append(f"{text!r}{found}")
            else:
                aggregates.append(cls(text, *found))
        if wrong:
            raise UsageError(
                f"over: cannot read {', '.join(wrong)}",
                remedy=f"choose from {', '.join(FORMS)}; Q is a share such as 0.1",
            )
        _check_distinct(aggregates)
        return tuple(aggregates)

    @property
    def meaning(self) -> tuple[str, float]:
        """What is asked for, however it is written."""
        return self.kind, self.share

    def num_taken(self, numbers: IntArray) -> IntArray:
        """Return ceil(share · n) of each number n.

        >>> QueryAggregate.parse("tail:0.07").num_taken(np.array([100, 1, 0])).tolist()
        [7, 1, 0]
        """
        return needed_for_recall(self.share, numbers)

    def num_of(self, n: int) -> int:
        """Return ceil(share · n): on how many of n queries a tail rests."""
        return int(self.num_taken(np.array([n]))[0])

    def __str__(self) -> str:
        return self.text


def _read(text: str) -> tuple[str, float] | str:
    """Return the kind and the share, or why there are none."""
    kind, colon, share = str(text).partition(":")
    if kind in _WITH_SHARE:
        try:
            number = number_of(share)
        except ValueError:
            return " (the share is not a number)" if colon else f" (write {kind}:0.1, for example)"
        return (kind, number) if 0 < number <= 1 else " (the share must be above 0 and at most 1)"
    return (kind, 1.0) if text in FORMS else ""


def _check_distinct(overs: Sequence[QueryAggregate]) -> None:
    seen: dict[tuple[str, float], QueryAggregate] = {}
    for over in overs:
        twin = seen.setdefault(over.meaning, over)
        if twin is not over:
            same = twin.text == over.text
            problem = f"{over.text!r} is given twice" if same else f"{twin.text!r} and {over.text!r} are the same"
            raise UsageError(f"over: {problem}", remedy="leave one of them out")


def over_queries(
    values: FloatArray, over: QueryAggregate, *, directions: IntArray | None = None, is_sum: BoolArray | None = None
) -> FloatArray:
    """Return one number for each of S runs × M measures, of their values on Q queries, [S, Q, M].

    `directions` are 1 where higher is better, and -1 where lower is, [M]. `is_sum` says where the mean is a sum, [M].
    The number is nan if there is no value, and infinite if it falls on one that is.

    >>> values = np.array([0.0, 0.5, np.nan, 1.0, 0.25]).reshape(1, 5, 1)
    >>> overs = QueryAggregate.parse_all(["mean", "median", "min", "quantile:0.75", "tail:0.5"])
    >>> [over_queries(values, over).item() for over in overs]
    [0.4375, 0.375, 0.0, 0.5, 0.125]
    """
    num_measures = values.shape[2]
    directions = np.ones(num_measures, np.int64) if directions is None else np.asarray(directions)
    if over.kind == "mean":
        return _mean(values, np.zeros(num_measures, bool) if is_sum is None else is_sum)
    if over.kind == "tail":
        return directions * _tail(np.sort(directions * values, axis=1), over)
    ascending = np.sort(values, axis=1)  # nan is last
    numbers = np.count_nonzero(~np.isnan(values), axis=1)
    if over.kind == "median":
        return (_at(ascending, (numbers + 1) // 2) + _at(ascending, numbers // 2 + 1)) / 2
    return _at(ascending, np.minimum(numbers, 1) if over.kind == "min" else over.num_taken(numbers))


def _mean(values: FloatArray, is_sum: BoolArray) -> FloatArray:
    is_finite = np.isfinite(values)
    numbers = np.count_nonzero(is_finite, axis=1)
    sums = ExactSums.of(np.where(is_finite, values, 0.0).transpose(1, 0, 2)).rounded()
    return np.where(numbers > 0, sums / np.maximum(np.where(is_sum, 1, numbers), 1), np.nan)


def _tail(ascending: FloatArray, over: QueryAggregate) -> FloatArray:
    """Return the mean of the first share of each column, by one division of an exact sum."""
    taken = over.num_taken(np.count_nonzero(~np.isnan(ascending), axis=1))
    is_taken = np.arange(ascending.shape[1])[:, None] < taken[:, None, :]
    is_endless = is_taken & np.isinf(ascending)
    sums = ExactSums.of(np.where(is_taken & ~is_endless, ascending, 0.0).transpose(1, 0, 2)).rounded()
    means = np.where(taken > 0, sums / np.maximum(taken, 1), np.nan)
    return np.where(is_endless.any(axis=1), -np.inf, means)  # the worst is the lowest here


def _at(ascending: FloatArray, k: IntArray) -> FloatArray:
    """Return the k-th of each column, counted from 1, [S, M]; nan where k is 0, or beyond the values."""
    if ascending.shape[1] == 0:
        return np.full(k.shape, np.nan)
    last = ascending.shape[1] - 1
    found = np.take_along_axis(ascending, np.clip(k - 1, 0, last)[:, None, :], axis=1)[:, 0]
    return np.where((k > 0) & (k - 1 <= last), found, np.nan)


# Intervals


def tail_influence(values: FloatArray, k: int) -> FloatArray:
    """Return by how much each value moves the mean of the k lowest of its column, [n, C], up to a constant.

    It is ψ = min(x - x_(k+1), 0)/(k/n): a value beyond the tail moves nothing. The tail of all values is their mean.

    >>> tail_influence(np.array([[0.25], [1.0], [0.5], [0.75]]), 2).T.tolist()
    [[-1.0, 0.0, -0.5, 0.0]]
    """
    n = len(values)
    beyond = min(k, n - 1)  # of all values there is none beyond, and the highest does as well
    limits = np.partition(values, beyond, axis=0)[beyond]
    with np.errstate(invalid="ignore"):  # infinity less infinity: there is no interval
        return np.asarray(np.minimum(values - limits, 0.0) / (k / n))


def quantile_intervals(
    values: FloatArray, over: QueryAggregate, *, alpha: float = 0.05
) -> tuple[FloatArray, FloatArray]:
    """Return where the interval of the median or quantile of each column, [n, C], begins and ends, [C].

    It is from one of the ordered values to another, and holds the quantile at least as often as it says, whatever the
    values are. An end is infinite where there are too few values for it. A value of nan is left out. Where both ends
    are missing there is no interval, but nan.

    >>> quantile_intervals(np.arange(1.0, 11)[:, None], QueryAggregate.parse("median"))
    (array([2.]), array([9.]))
    """
    lows, highs = np.full((2, values.shape[1]), np.nan)
    share = 0.5 if over.kind == "median" else over.share
    for columns, rows in of_each_number(values):
        n = rows.shape[1]
        low, high = quantile_places(n, share, alpha)
        if low > 0 or high <= n:
            ascending = np.sort(rows, axis=1)
            lows[columns] = ascending[:, low - 1] if low > 0 else -np.inf
            highs[columns] = ascending[:, high - 1] if high <= n else np.inf
    return lows, highs


def quantile_places(n: int, share: float, alpha: float) -> tuple[int, int]:
    """Return between which of n ordered values a quantile is, counted from 1; 0 and n + 1 are beyond them.

    X = Bin(n, share) values lie below it, or at it: l is the largest with P(X <= l - 1) <= alpha/2, and u the smallest
    with P(X <= u - 1) >= 1 - alpha/2.

    >>> quantile_places(10, 0.5, 0.05), quantile_places(10, 0.9, 0.05)
    ((2, 9), (7, 11))
    """
    from scipy.special import bdtr  # imports scipy, which few evaluations need

    at_most = np.concatenate([[0.0], bdtr(np.arange(n + 1), n, share)])  # P(X <= 0 - 1), P(X <= 1 - 1), …
    at_most[-1] = 1.0
    return int(np.count_nonzero(at_most <= alpha / 2)) - 1, int(np.argmax(at_most >= 1 - alpha / 2))


def overs_of(texts: Sequence[str]) -> tuple[QueryAggregate, ...]:
    """Return what is asked for; the mean if nothing is.

    >>> [str(over) for over in overs_of(())]
    ['mean']
    """
    return QueryAggregate.parse_all(texts or ("mean",))

"""Over: what the values of many queries become as one number, and how much that depends on the queries.

Belongs here: the mean, the median, the minimum, quantiles and the mean of the worst queries, and their resamples. Not
here: the draws and the intervals (`bootstrap`), groups of queries and tables (verbs).

Of n values: `median` is the middle one, or the mean of the middle two; `min` the least; `quantile:q` the ceil(q n)-th
smallest; `tail:q` the mean of the ceil(q n) worst, which are the highest where lower is better. ceil is taken in exact
decimals. A value of nan is left out. An infinite value, such as the depth of a document that was never found, is left
out of a mean too, but it has its place in the order of the values, and counts there.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.recall_level import needed_for_recall
from lexirecall.statistics.bootstrap import Resampled, ResampledMeans, bootstrap_columns, on_grid, resampled_means
from lexirecall.sums import ExactSums
from lexirecall.text import number_of

FORMS = ("mean", "median", "min", "quantile:Q", "tail:Q")
"""What may be asked for."""
_WITH_SHARE = ("quantile", "tail")


@dataclass(frozen=True, slots=True)
class Over:
    """How the values of many queries become one number.

    >>> Over.parse("tail:0.1")
    Over(text='tail:0.1', kind='tail', share=0.1)
    """

    text: str
    """As typed."""
    kind: str
    """mean, median, min, quantile or tail."""
    share: float = 1.0
    """Of a quantile or tail: above 0, and at most 1."""

    @classmethod
    def parse(cls, text: str) -> "Over":
        """Read one of FORMS."""
        return cls.parse_all([text])[0]

    @classmethod
    def parse_all(cls, texts: Iterable[str]) -> "tuple[Over, ...]":
        """Read several; raise one error about all that are wrong, or if one is there twice.

        >>> Over.parse_all(["mean", "tail:2", "worst"])
        Traceback (most recent call last):
        lexirecall.errors.UsageError: over: cannot read 'tail:2' (the share must be above 0 and at most 1), 'worst'
          choose from mean, median, min, quantile:Q, tail:Q; Q is a share such as 0.1
        """
        made, wrong = [], []
        for text in texts:
            found = _read(text)
            if isinstance(found, str):
                wrong.append(f"{text!r}{found}")
            else:
                made.append(cls(text, *found))
        if wrong:
            raise UsageError(
                f"over: cannot read {', '.join(wrong)}",
                remedy=f"choose from {', '.join(FORMS)}; Q is a share such as 0.1",
            )
        _check_distinct(made)
        return tuple(made)

    @property
    def meaning(self) -> tuple[str, float]:
        """What is asked for, however it is written."""
        return self.kind, self.share

    @property
    def is_resampled(self) -> bool:
        """Whether the bootstrap is valid; it is not for a minimum."""
        return self.kind != "min"

    def num_taken(self, numbers: IntArray) -> IntArray:
        """Return ceil(share · n) of each number n.

        >>> Over.parse("tail:0.07").num_taken(np.array([100, 1, 0])).tolist()
        [7, 1, 0]
        """
        return needed_for_recall(self.share, numbers)

    def num_resting(self, number: int) -> int:
        """Return on how many of n queries the number rests: those in the tail, or on the smaller side of a quantile.

        >>> Over.parse("tail:0.1").num_resting(50), Over.parse("quantile:0.9").num_resting(50)
        (5, 6)
        """
        taken = int(self.num_taken(np.array([number]))[0])
        return min(taken, number - taken + 1) if self.kind == "quantile" else taken

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


def _check_distinct(overs: Sequence[Over]) -> None:
    seen: dict[tuple[str, float], Over] = {}
    for over in overs:
        twin = seen.setdefault(over.meaning, over)
        if twin is not over:
            same = twin.text == over.text
            problem = f"{over.text!r} is given twice" if same else f"{twin.text!r} and {over.text!r} are the same"
            raise UsageError(f"over: {problem}", remedy="leave one of them out")


def over_queries(
    values: FloatArray, over: Over, *, directions: IntArray | None = None, is_sum: BoolArray | None = None
) -> FloatArray:
    """Return one number for each of S runs × M measures, of their values on Q queries, [S, Q, M].

    `directions` are 1 where higher is better, and -1 where lower is, [M]. `is_sum` says where the mean is a sum, [M].
    The number is nan if there is no value, and infinite if it falls on one that is.

    >>> values = np.array([0.0, 0.5, np.nan, 1.0, 0.25]).reshape(1, 5, 1)
    >>> overs = Over.parse_all(["mean", "median", "min", "quantile:0.75", "tail:0.5"])
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


def _tail(ascending: FloatArray, over: Over) -> FloatArray:
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


# Resamples


def bootstrap_over(
    values: FloatArray,
    over: Over,
    *,
    directions: IntArray | None = None,
    is_sum: BoolArray | None = None,
    num_resamples: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = False,
) -> ResampledMeans:
    """Return the percentile interval of each number of `over_queries`; an end is infinite if it falls there.

    >>> values = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]).reshape(1, 6, 1)
    >>> resampled = bootstrap_over(values, Over.parse("median"), num_resamples=999)
    >>> resampled.lows.round(4).tolist(), resampled.highs.round(4).tolist()
    ([[0.1]], [[0.9]])
    """
    num_systems, _, num_measures = values.shape
    tiled = np.tile(np.ones(num_measures, np.int64) if directions is None else directions, num_systems)
    sums = np.tile(np.zeros(num_measures, bool) if is_sum is None else is_sum, num_systems)
    if over.kind == "mean":
        values = np.where(np.isinf(values), np.nan, values)
    return bootstrap_columns(
        values,
        lambda cells, part: resampled_over(cells, over, tiled[part], sums[part]),
        num_resamples=num_resamples,
        seed=seed,
        alpha=alpha,
        show_progress=show_progress,
    )


def resampled_over(values: FloatArray, over: Over, directions: IntArray, is_sum: BoolArray) -> Resampled:
    """Return what gives the number of each column of values, [Q, C], in each resample.

    >>> values = np.array([[0.0], [1.0], [2.0]])
    >>> resampled = resampled_over(values, Over.parse("tail:0.5"), np.array([1]), np.array([False]))
    >>> resampled(np.array([[1.0, 1, 1], [0, 1, 2]])).tolist()
    [[0.5], [1.5]]
    """
    if not over.is_resampled:
        raise UsageError("resampling is not valid for a minimum", remedy="take a quantile or a tail, such as tail:0.1")
    if over.kind == "mean":
        return resampled_means(values, is_sum)
    make = {"median": _resampled_median, "quantile": _resampled_quantile, "tail": _resampled_tail}[over.kind]
    signs = directions if over.kind == "tail" else np.ones_like(directions)  # only a tail begins with the worst
    columns = [make(_Sorted.of(sign * column), over) for column, sign in zip(values.T, signs.tolist(), strict=True)]

    def resampled(counts: FloatArray) -> FloatArray:
        turned = np.ascontiguousarray(counts.T, np.int32)
        return np.asarray(signs * np.stack([column(turned) for column in columns], axis=1), float)

    return resampled


_Draws = npt.NDArray[np.int32]
_OfDraws = Callable[[_Draws], FloatArray]
"""From how often each query is drawn, [Q, B], to the number of each resample, [B]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """One column of values, ascending, and which query each belongs to."""

    values: FloatArray
    queries: IntArray
    without: IntArray
    """The queries without a value."""

    @classmethod
    def of(cls, values: FloatArray) -> "_Sorted":
        order, number = np.argsort(values, kind="stable"), np.count_nonzero(~np.isnan(values))  # nan is last
        return cls(values[order[:number]], order[:number], order[number:])

    @property
    def num_queries(self) -> int:
        return len(self.queries) + len(self.without)

    def numbers(self, draws: _Draws) -> IntArray:
        """Return how many values each resample has, [B]."""
        return np.asarray(self.num_queries - draws[self.without].sum(axis=0, dtype=np.int64))

    def cumulative(self, draws: _Draws, k: IntArray) -> _Draws:
        """Return how many values of each resample are among the first 1, 2, …, [n, B], until all have k of them."""
        most = int(k.max(initial=0))
        n = most + 5 * math.isqrt(most) + 10  # of a resample, about n are among the first n
        while True:
            made = np.cumsum(draws[self.queries[:n]], axis=0, dtype=np.int32)
            if n >= len(self.queries) or (made[-1] >= k).all():
                return made
            n *= 2

    def at(self, cumulative: _Draws, k: IntArray) -> FloatArray:
        """Return the k-th value of each resample, [B]; nan where there is none."""
        places = np.count_nonzero(cumulative < k, axis=0)
        return np.append(self.values, np.nan)[np.where(k > 0, places, len(self.values))]


def _resampled_median(own: _Sorted, _over: Over) -> _OfDraws:
    def medians(draws: _Draws) -> FloatArray:
        numbers = own.numbers(draws)
        lower, upper = (numbers + 1) // 2, np.minimum(numbers // 2 + 1, numbers)
        cumulative = own.cumulative(draws, upper)
        return np.asarray((own.at(cumulative, lower) + own.at(cumulative, upper)) / 2)

    return medians


def _resampled_quantile(own: _Sorted, over: Over) -> _OfDraws:
    needed = over.num_taken(np.arange(own.num_queries + 1))

    def quantiles(draws: _Draws) -> FloatArray:
        k = needed[own.numbers(draws)]
        return own.at(own.cumulative(draws, k), k)

    return quantiles


def _for_draws(terms: FloatArray, number: int) -> FloatArray:
    """Round terms, [n, 1], so that all sums of as many as are drawn are exact: that may be more than there are."""
    return on_grid(terms, number * np.abs(terms).max(axis=0, initial=0.0))


def _resampled_tail(own: _Sorted, over: Over) -> _OfDraws:
    needed = over.num_taken(np.arange(own.num_queries + 1))
    is_endless = np.isinf(own.values)
    terms = np.where(is_endless, 0.0, own.values)[:, None]
    coarse = _for_draws(terms, own.num_queries)
    parts = np.concatenate([coarse, _for_draws(terms - coarse, own.num_queries), is_endless[:, None]], axis=1)

    def tails(draws: _Draws) -> FloatArray:
        k = needed[own.numbers(draws)]
        cumulative = np.minimum(own.cumulative(draws, k), k)
        taken = np.diff(cumulative, axis=0, prepend=0).astype(float)
        high, low, num_endless = parts[: len(taken)].T @ taken  # whole numbers times values on a grid: exact
        means = np.where(k > 0, (high + low) / np.maximum(k, 1), np.nan)
        return np.where(num_endless > 0, -np.inf, means)

    return tails


def overs_of(texts: Sequence[str]) -> tuple[Over, ...]:
    """Return what is asked for; the mean if nothing is.

    >>> [str(over) for over in overs_of(())]
    ['mean']
    """
    return Over.parse_all(texts or ("mean",))

"""A measure: one record with its name, its formula, its reference, and what it needs.

Belongs here: the record, and how a formula runs over all rankings at once. Not here: its name and settings (row), the
formulas themselves (the other modules of this package, one row each) and the reading of names (lexirecall.names).

Most rows are recall-level measures, sum_i e(p_i) z(i, m): give `exposure` e and `weight` z. The first argument of e is
the position, that of z the recall level. They ask for anything else by the name of an argument: `m` (relevant
documents), `n` (corpus size, nan if unknown), or a setting of the measure such as `cutoff`. Either may return
`Ratio(a, b)` for a/b. Where the b of z is m or a number, the sum of e(p_i) a is divided by it once, so a ratio of
counts is exact. The few measures that are not such a sum give `function`, from a projection to an array
[runs, queries]. Your own may give `of_positions`, from the positions p_1 … p_m of one ranking to a number. Documents
that were not retrieved are then at the bottom of the corpus, or at infinity if its size is unknown.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.bottom import corpus_size_of, sum_over_missing
from lexirecall.measures.ratio import Ratio, product
from lexirecall.measures.row import Row
from lexirecall.positions import Projection

Formula = Callable[..., Any]

TOLERANCE = 1e-12
"""Values count as equal if they differ by no more than this share of the larger one: floats of equal sums may."""


@dataclass(frozen=True, eq=False, repr=False)
class Measure(Row):
    """A row of the table of measures; calling it with settings, or `@`, gives the measure with these settings.

    >>> from lexirecall.measures import AP, P, RBP
    >>> P(rel=2) @ 10, RBP(p=0.5), AP(rel=1)
    (P(rel=2)@10, RBP(p=0.5), AP(rel=1))
    >>> AP.of([1, 3, 7])
    0.6984126984126983
    >>> Half = Measure("Half", "exposure halves every ten positions", lambda p: 0.5 ** (p / 10), lambda i, m: 1 / m)
    >>> round(Half.of([1, 11], num_relevant=4), 4)
    0.3499
    """

    exposure: Formula | None = None
    weight: Formula | None = None
    function: Formula | None = field(default=None, kw_only=True)
    of_positions: Callable[[FloatArray], float] | None = field(default=None, kw_only=True)
    expected: Formula | Literal["same"] | None = field(default=None, kw_only=True)
    """For `function`: the mean over all orders of tied documents, where it has a closed form."""

    limits: tuple[float, float] = field(default=(0, 1), kw_only=True)
    """The lowest and the highest possible value."""
    rewards_moving_up: bool = field(default=True, kw_only=True)
    """Whether no value gets worse when a relevant document changes places with a non-relevant one above it."""
    counts_list: bool = field(default=False, kw_only=True)
    """Whether the length of the list matters: if not, an unjudged document at its end changes nothing."""
    compared_by: Formula | None = field(default=None, kw_only=True)
    """From a projection to finite numbers, [S, Q], the higher the better, that order the rankings of a query. For
    measures whose values can be too small to show differences that the measure sees."""

    def __post_init__(self) -> None:
        super().__post_init__()
        formulas = (self.exposure and self.weight, self.function, self.of_positions)
        if sum(formula is not None for formula in formulas) != 1 or (self.exposure is None) != (self.weight is None):
            raise UsageError(f"{self.name}: give exposure and weight, or function, or of_positions")

    @property
    def formulas(self) -> tuple[object, ...]:
        """The functions that compute it."""
        return self.exposure, self.weight, self.function, self.of_positions, self.compared_by

    @property
    def has_closed_form(self) -> bool:
        """Whether its mean over all orders of tied documents has a closed form."""
        return self.exposure is not None or self.expected is not None

    def scores(self, projection: Projection, among: BoolArray | None = None) -> FloatArray:
        """Return the value of every ranking, [S, Q]; queries without relevant documents get 0.

        `among` tells a `function` that looks at more than one ranking at a time which of them count, [S, Q].
        """
        self.require_settings()
        self.require_allowed(projection)
        if self.needs_providers and projection.source.providers is None:
            raise UsageError(
                f"{self} needs a map of documents to providers", remedy="give --providers FILE, or providers= in Python"
            )
        if self.needs_size and projection.source.corpus_size is None:
            raise UsageError(
                f"{self} needs the corpus size", remedy="give --corpus-size N, or a file with a size for each query"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            values = [
                self._scores(part, None if among is None else among[:, queries])
                for queries, part in projection.portions()
            ]
        return values[0] if len(values) == 1 else np.concatenate(values, axis=1)

    def _scores(self, projection: Projection, among: BoolArray | None) -> FloatArray:
        has_ties = projection.source.conventions.ties == "expected"
        if self.exposure is not None:
            return self._sum_over_recall_levels(projection)
        if has_ties:
            self.require_closed_form()
        if self.of_positions is not None:
            return _one_by_one(self.of_positions, projection)
        function = self.expected if has_ties and callable(self.expected) else self.function
        assert function is not None  # noqa: S101 - __post_init__ has seen to it
        return np.asarray(ask(function, projection, {"among": among, **self.values}), dtype=float)

    def worth(self, values: FloatArray) -> FloatArray:
        """Return values as rankings are compared by: more is better, and what is undefined is the worst, -inf.

        A value is undefined if it falls on a document that was not retrieved and n is unknown. It is worse than every
        other one, and equal to those that are undefined too. Where there is nothing to compare it is nan.

        >>> from lexirecall.measures import LAST_REL
        >>> LAST_REL.worth(np.array([9.0, np.inf])).tolist()
        [-9.0, -inf]
        """
        worth = self.direction * values
        is_undefined = np.isneginf(worth) | (self.corpus == "if missing")
        return np.where(np.isfinite(worth), worth, np.where(is_undefined, -np.inf, np.nan))

    def order(self, projection: Projection) -> FloatArray | None:
        """Return what orders the rankings where it is not their values, [S, Q], the higher the better.

        Over all orders of tied documents the means are compared, and those are the values.
        """
        if self.compared_by is None or projection.source.conventions.ties == "expected":
            return None
        keys = [ask(self.compared_by, part, self.values) for _, part in projection.portions()]
        return np.asarray(keys[0] if len(keys) == 1 else np.concatenate(keys, axis=1), dtype=float)

    def _sum_over_recall_levels(self, projection: Projection) -> FloatArray:
        """Compute sum_i e(p_i) z(i, m), over what was retrieved and what was not, and divide once."""
        n = corpus_size_of(projection)
        m_of_document, levels = projection.num_relevant_of_document, projection.recall_levels
        n_of_document = np.nan if projection.source.corpus_size is None else projection.per_document_of_query(n)
        weights, divisor = self._weights(levels, m_of_document, n_of_document)
        divisors = np.maximum(projection.num_relevant, 1) if divisor is m_of_document else divisor
        sees_missing = self.sees_missing(sees_bottom=projection.sees_bottom)
        if projection.source.conventions.ties == "expected":
            from lexirecall.measures.tieexpectation import (
                TieExpectation,
            )  # not on top: most rankings are put in one order

            expected = TieExpectation(projection, n, self._exposures, weights)
            if not sees_missing and expected.are_counts:
                return expected.quotients(divisors)
            terms = expected.terms(self._bottom if sees_missing else lambda level, m, n: 0.0)
        else:
            terms = product(self._exposures(projection.positions, m_of_document, n_of_document), weights)
        retrieved = projection.sum(terms)
        return (retrieved + self._tail(projection) if sees_missing else retrieved) / divisors

    def sums_over(
        self, positions: FloatArray, levels: IntArray, counts: BoolArray, m: IntArray, n: float
    ) -> FloatArray:
        """Return sum_i e(p_i) z(i, m) of J rankings whose relevant documents are among K positions, [J].

        `counts` tells which of the positions are theirs, and `levels` is i there, [J, K]. For what was not retrieved,
        give its place at the bottom, or leave it out where it contributes nothing. The terms are not added up in the
        order of `scores`, so that the last digits may differ.

        >>> from lexirecall.measures import AP
        >>> positions, counts = np.array([1.0, 4.0]), np.array([[True, True], [False, True]])
        >>> AP.sums_over(positions, counts.cumsum(axis=1), counts, np.array([2, 1]), np.nan).tolist()
        [0.75, 0.25]
        """
        of_each = m[:, None]
        weights, divisor = self._weights(levels, of_each, n)
        terms = product(self._exposures(positions, of_each, n), weights)
        sums = np.where(counts, terms, 0.0).sum(axis=1)
        return np.asarray(sums / (np.maximum(m, 1) if divisor is of_each else divisor))

    def sees_missing(self, *, sees_bottom: bool) -> bool:
        """Tell whether what was not retrieved contributes, if other measures see the bottom of the corpus or not."""
        return self.corpus != "ignored" or (sees_bottom and not self.is_cut)

    def _exposures(self, positions: FloatArray, m: Any, n: Any) -> Any:
        """Return e of each position, numbers or a Ratio."""
        cutoff = self.cutoff_in(n)
        exposures = ask(self.exposure, positions, {**self.values, "cutoff": cutoff, "m": m, "n": n})
        if isinstance(exposures, Ratio):
            return exposures if cutoff is None else Ratio(exposures.over * (positions <= cutoff), exposures.under)
        exposures = np.asarray(exposures)
        return exposures if cutoff is None else np.where(positions <= cutoff, exposures, np.zeros_like(exposures))

    def _weights(self, levels: IntArray, m: Any, n: Any) -> tuple[Any, Any]:
        """Return w and d of z(i, m) = w/d, if d is m or one number; z and 1 if it is something else, or not a Ratio."""
        z = ask(self.weight, levels, {**self.values, "m": m, "n": n})
        if isinstance(z, Ratio) and (z.under is m or np.ndim(z.under) == 0):
            return z.over, z.under
        return np.asarray(z), 1

    def _bottom(self, level: int, m: int, n: float) -> float:
        """Exposure of the i-th relevant document if it was not retrieved."""
        position = np.inf if np.isnan(n) else n - m + level
        return float(np.asarray(self._exposures(np.array([position]), m, np.array([n])))[0])

    def _tail(self, projection: Projection) -> FloatArray:
        """Add up what the missing documents contribute from the bottom of the corpus, [S, Q], before the division."""
        return sum_over_missing(
            projection,
            lambda places, levels, m, n: product(self._exposures(places, m, n), self._weights(levels, m, n)[0]),
        )

    def of(
        self, positions: Sequence[int] | IntArray, num_relevant: int | None = None, *, corpus_size: int | None = None
    ) -> float:
        """Return the value of one ranking, from the positions of its relevant documents.

        >>> from lexirecall.measures import TSE
        >>> TSE.of([2, 3, 8]), TSE.of([2, 3, 8], num_relevant=6), TSE.of([2, 3, 8], num_relevant=6, corpus_size=1000)
        (0.125, 0.0, 0.001)
        """
        level = self.level(1)
        projection = Projection.of_vectors([positions], num_relevant, level=level, corpus_size=corpus_size)
        return float(self.scores(projection)[0, 0])


def is_equal(x: FloatArray, y: FloatArray) -> BoolArray:
    """Tell where two values count as equal: (1, 2, 4, 12) and (1, 3, 4, 6) have the same AP, but not in floats.

    >>> is_equal(np.array([0.1 + 0.2, 1e-20]), np.array([0.3, 0.0])).tolist()
    [True, False]
    """
    with np.errstate(invalid="ignore"):  # infinity less infinity
        gaps = np.abs(x - y)
    return np.asarray(((gaps <= TOLERANCE * np.maximum(np.abs(x), np.abs(y))) & (gaps < np.inf)) | (x == y))


def ask(function: Formula | None, first: Any, available: Mapping[str, Any]) -> Any:
    """Call a formula with its first argument and those others that it asks for by name."""
    assert function is not None  # noqa: S101 - callers have seen to it
    return function(first, **{name: available[name] for name in _asked(function) if name in available})


@lru_cache(maxsize=1024)
def _asked(function: Formula) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)[1:]
    except ValueError:  # numpy's compiled functions have no signature
        return ()


def _one_by_one(function: Callable[[FloatArray], float], projection: Projection) -> FloatArray:
    runs, queries = projection.source.shape
    values = np.zeros((runs, queries))
    for s, q in np.ndindex(runs, queries):
        if projection.num_relevant[q]:
            values[s, q] = function(projection.vector(s, q, imputed=True))
    return values

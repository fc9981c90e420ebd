"""A preference: one record with its name, its definition and its reference.

Belongs here: the record, and any measure as a preference. Not here: how rankings are compared (`orders`, `by_level`).

Positive means that the first ranking is preferred; every preference p obeys p(x, y) == -p(y, x).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import SMALLEST_GRADE, BoolArray, FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.measures.measure import ask
from lexirecall.measures.row import Row
from lexirecall.positions import Projection

if TYPE_CHECKING:
    from lexirecall.preferences.contrasts import Blocks, Contrasts
    from lexirecall.preferences.pairs import Pairs


@dataclass(frozen=True, eq=False, repr=False)
class Preference(Row):
    """A row of the table of preferences; calling it with settings gives the preference with these settings.

    >>> from lexirecall.preferences import LEXI_RECALL, RPP
    >>> LEXI_RECALL.of([2, 4, 9], [1, 5, 9])  # 9 ties, so 4 < 5 decides
    1.0
    >>> LEXI_RECALL.of([900, 901], [1], num_relevant=2)  # the second ranking misses a document
    1.0
    >>> RPP.of([1, 5, 6], [2, 3, 7]), RPP(weight="inverse")
    (0.3333333333333333, RPP(weight='inverse'))
    """

    blocks: "Callable[..., Blocks] | None" = field(default=None, kw_only=True)
    """From a projection to all pairs of runs, in blocks of queries; on a query in no block all runs tie."""
    sized: bool = field(default=False, kw_only=True)
    """Whether its values have a size as well as a sign."""
    transitive: bool = field(default=True, kw_only=True)
    """Whether it orders any number of rankings: if it prefers x to y and y to z, it prefers x to z."""
    measure: Measure | None = field(default=None, kw_only=True)
    """The measure that this preference is made from, instead of blocks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.blocks is None) == (self.measure is None):
            raise UsageError(f"{self.name}: give blocks, or a measure")

    @property
    def formulas(self) -> tuple[object, ...]:
        """The function that computes it."""
        return (self.blocks, self.measure)

    @property
    def is_sized(self) -> bool:
        """Whether its values have a size, with these settings."""
        return self.sized or self.values.get("size", "sign") != "sign"

    @property
    def needs(self) -> tuple[str, ...]:
        """What it is computed from, beyond the positions of the relevant documents."""
        return (*super().needs, "two or more runs")

    def level(self, default: float) -> float:
        """Return the lowest grade that this preference takes as relevant."""
        if self.measure is not None:
            return self.measure.level(default)
        return SMALLEST_GRADE if self.settings.get("graded") else super().level(default)

    def _compared(self, projection: Projection, among: BoolArray | None) -> "tuple[Blocks, BoolArray, BoolArray]":
        """Return all pairs in blocks, where there is something to compare, and where it has a size, [S, Q]."""
        self.require_allowed(projection)
        everyone = np.ones(projection.source.shape, bool) if among is None else among
        if self.measure is not None:
            from lexirecall.preferences.contrasts import ValueDifferences  # not on top: one run is not compared

            worth = self.measure.worth(self.measure.scores(projection, among))
            has_worth = everyone & ~np.isnan(worth)
            differences = ValueDifferences(np.where(has_worth, worth, 0.0), self.measure.order(projection))
            return differences, has_worth, has_worth & np.isfinite(worth)
        if projection.source.conventions.ties == "expected":
            self.require_closed_form()
        return ask(self.blocks, projection, self.values), everyone, everyone

    def pairs(self, projection: Projection, among: BoolArray | None = None, *, with_empty: bool = False) -> "Pairs":
        """Compare each pair of runs on every query that has relevant documents.

        `among` says which runs take part on which queries, [S, Q]; all do if it is not given. `with_empty` also counts
        queries without relevant documents, as ties.
        """
        return self.contrasts(projection, among, with_empty=with_empty).held()

    def contrasts(
        self, projection: Projection, among: BoolArray | None = None, *, with_empty: bool = False
    ) -> "Contrasts":
        """Return what compares any of the pairs of `pairs`, some at a time, without holding all of them."""
        from lexirecall.preferences.contrasts import Contrasts

        compared, taking_part, has_size = self._compared(projection, among)
        if not with_empty:
            taking_part = taking_part & Policies(level=projection.level).eligible(projection.source)
        names = projection.source.runs, projection.source.queries
        # Over all orders of tied documents a share of queries is no longer 1 or 0 for each.
        is_averaged = self.measure is not None and projection.source.conventions.ties == "expected"
        is_sized = self.is_sized or is_averaged
        is_steady = self.measure is None or self.measure.is_steady
        return Contrasts.of(
            str(self), *names, compared, taking_part, is_sized=is_sized, has_size=has_size, is_steady=is_steady
        )

    def scores(self, projection: Projection, among: BoolArray | None = None) -> FloatArray:
        """Return the win rate of each run on each query, (wins + ties/2)/(S - 1), [S, Q]; 1/2 if none is relevant."""
        from lexirecall.preferences.pairs import win_rates

        return win_rates(*self._compared(projection, among)[:2])

    def of(
        self,
        x: Sequence[int] | IntArray,
        y: Sequence[int] | IntArray,
        num_relevant: int | None = None,
        *,
        corpus_size: int | None = None,
    ) -> float:
        """Compare two rankings, each given by the positions of its relevant documents. Leave out missing ones.

        The result is infinite where a measure has a value for one of them only, and 0 where it has none for either:
        LastRel has none for a missing document in a corpus of unknown size. It is nan where nothing can be compared.
        """
        projection = Projection.of_vectors([x, y], num_relevant, level=self.level(1), corpus_size=corpus_size)
        pairs = self.pairs(projection)
        return float(pairs.values[0, 1, 0]) if pairs.taking_part.all() else np.nan


def preference_of(measure: Measure) -> Preference:
    """Return the preference that a measure induces: direction · (μ(x) - μ(y)), in the order of `compared_by` if given.

    Values count as equal if they differ by no more than 1e-12 of the larger one: many position vectors have exactly
    equal values whose floats differ in the last digit. A difference that `compared_by` shows but that is too small for
    a float has the smallest float as its size. A measure that is 1 or 0 for every query gives signs.

    >>> from lexirecall.measures import AP
    >>> AP.of([1, 2, 4, 12]) - AP.of([1, 3, 4, 6]), preference_of(AP).of([1, 2, 4, 12], [1, 3, 4, 6])
    (1.1102230246251565e-16, 0.0)
    """
    return Preference(
        str(measure),
        measure.title,
        measure=measure,
        sized=not measure.is_share,
        graded=True,  # the measure has its own level
        formula=measure.formula,
        reference=measure.reference,
        history=measure.history,
        use=measure.use,
        misses=measure.misses,
        defaults=measure.defaults,
        needs_judged=measure.needs_judged,
        needs_providers=measure.needs_providers,
        needs_units=measure.needs_units,
        coincides=measure.coincides,
        corpus=measure.corpus,
    )

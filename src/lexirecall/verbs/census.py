"""Census: judgments and runs in numbers, which is all that a manifest and its notes say of them.

Belongs here: the counts, the manifest made of them, and the check that there is something to measure. Not here: the
values (evaluate), the sentences about the counts (notes).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.errors import DataError, listed, plain
from lexirecall.judgments import SMALLEST_GRADE, IntArray
from lexirecall.manifest import Conventions, Manifest, Note, Policies
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.tracks import Mismatch

if TYPE_CHECKING:
    from lexirecall.units import UnitCount

NAMED = 5
"""How many queries a note names."""


@dataclass(frozen=True, slots=True)
class Census:
    """What there is, and what was left out; counts of runs are in the order of the runs."""

    name: str
    """What messages call the judgments."""
    runs: tuple[str, ...]
    conventions: Conventions
    corpus_size: Any
    """One number, {query: number}, or None."""
    num_queries: int
    num_judged: int
    num_positive: int
    num_repeated: int
    """Repeated judgments."""
    highest_grade: float
    has_grades: bool
    empty: dict[float, tuple[int, Sequence[str]]]
    """For each level, ascending, how many queries are not eligible at it, and the first of them."""
    has_query_all: bool
    """Whether a query has the name of the means."""
    answered: IntArray
    unanswered: IntArray
    """Of each run, the judged queries that would have a value if it had answered them."""
    retrieved: IntArray
    found: IntArray
    """Of each run, the retrieved documents of a positive grade."""
    unjudged: Sequence[int]
    """Of each run, the queries without judgments."""
    duplicates: Sequence[int]
    """Of each run, the lines that repeat a document."""
    extra: Sequence[int]
    """Of each run, the lines with fields after the tag."""
    mismatches: tuple[Mismatch, ...] = ()
    """Of the runs that retrieve no judged document."""
    units: "UnitCount | None" = None
    """What there is of units, if they are what must be found; positive and found are then of units."""
    remarks: tuple[str, ...] = ()
    """On how the judgments were read."""

    @classmethod
    def of(cls, positions: Positions, policies: Policies, rows: Iterable[Evaluable] = ()) -> "Census":
        """Count what there is in positions, at the levels of what is computed, or at that of the policies."""
        sought, units = positions.sought(SMALLEST_GRADE), positions.unit_count
        levels = sorted({row.level(policies.level) for row in rows}) or [policies.level]
        is_eligible = {level: replace(policies, level=level).eligible(positions) for level in levels}
        unanswered = ~positions.answered & is_eligible[levels[0]]
        empty = {level: np.flatnonzero(~is_in) for level, is_in in is_eligible.items()}
        judgments = sought.judgments if units is not None and units.judged == "units" else positions.judgments
        return cls(
            name=judgments.name,
            runs=positions.runs,
            conventions=positions.conventions,
            corpus_size=_sizes(positions),
            num_queries=len(positions.queries),
            num_judged=len(judgments.grades),
            num_positive=int(sought.judgments.num_positive.sum()),
            num_repeated=judgments.num_repeated,
            highest_grade=float(judgments.grades.max(initial=-1)),
            has_grades=judgments.has_grades,
            empty={level: (len(q), [positions.queries[i] for i in q[:NAMED]]) for level, q in empty.items()},
            has_query_all="all" in positions.queries,
            answered=positions.answered.sum(axis=1),
            unanswered=unanswered.sum(axis=1),
            retrieved=positions.num_retrieved.sum(axis=1),
            found=sought.num_found.sum(axis=1),
            unjudged=positions.num_unjudged,
            duplicates=positions.num_duplicates,
            extra=positions.num_extra,
            mismatches=positions.mismatches,
            units=units,
            remarks=judgments.remarks,
        )

    def per_run(self, counts: Iterable[int], most: int = 4) -> str:
        """Name the runs for which there is something to count."""
        return listed((f"{name} {count:,}" for name, count in zip(self.runs, counts, strict=True) if count), most)

    def check_relevant(self, measures: Sequence[Evaluable], level: float) -> None:
        """Raise if no measure that looks at the level finds anything relevant."""
        looking = [row for row in measures if not row.uses_grades] or measures
        levels = {row.level(level) for row in looking}
        if all(self.empty[grade][0] == self.num_queries for grade in levels):
            raise DataError(
                f"{self.name}: no query has a relevant document, and nothing can be measured: "
                f"the highest grade is {plain(self.highest_grade)} and the level is {plain(min(levels))}",
                remedy="lower the level, or check that the grades are what they should be",
            )

    def manifest(
        self,
        measures: Iterable[Evaluable],
        policies: Policies,
        notes: Iterable[Note],
        providers: dict[str, Any] | None = None,
    ) -> Manifest:
        """Return the record of an evaluation, with what it says of `providers`."""
        return Manifest(
            conventions={**asdict(self.conventions), **asdict(policies), "corpus_size": self.corpus_size},
            measures=tuple(_measure_record(measure) for measure in measures),
            qrels={
                "queries": self.num_queries,
                "judged": self.num_judged,
                "positive": self.num_positive,
                "repeated": self.num_repeated,
                **({} if self.units is None else self.units.record()),
                **(providers or {}),
            },
            runs=tuple(self._run_record(s) for s in range(len(self.runs))),
            notes=tuple(notes),
        )

    def _run_record(self, s: int) -> dict[str, Any]:
        return {
            "name": self.runs[s],
            "answered": int(self.answered[s]),
            "unanswered": self.num_queries - int(self.answered[s]),
            "without_judgments": self.unjudged[s],
            "duplicates_left_out": self.duplicates[s],
            "lines_with_extra_fields": self.extra[s],
            "retrieved": int(self.retrieved[s]),
            "positive_retrieved": int(self.found[s]),
            "positive_imputed": self.num_positive - int(self.found[s]),
        }


def _sizes(positions: Positions) -> Any:
    if positions.corpus_size is None:
        return None
    sizes = dict(zip(positions.queries, positions.corpus_size.tolist(), strict=True))
    return next(iter(sizes.values())) if len(set(sizes.values())) == 1 else sizes


def _measure_record(measure: Evaluable) -> dict[str, Any]:
    better = "higher" if measure.direction > 0 else "lower"
    return {"name": str(measure), "title": measure.title, "formula": measure.formula, "better": better}

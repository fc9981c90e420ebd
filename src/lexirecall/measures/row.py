"""A row of a table: what measures and preferences have in common, their names and their settings.

Belongs here: the name, the settings and what is said of a row. Not here: what it computes (measure, preferences) and
the reading of names (lexirecall.names).
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, SupportsIndex

import numpy as np

from lexirecall.errors import UsageError, listed
from lexirecall.judgments import SMALLEST_GRADE, BoolArray
from lexirecall.measures.parameter import CUTOFF, CUTOFF_OR_SHARE, LEVEL, RECALL, Parameter, Share
from lexirecall.measures.references import REFERENCES
from lexirecall.notebook import CellPart, NotebookDisplay, facts
from lexirecall.positions import Positions, Projection

ABOUT = ("history", "use", "misses", "defaults")
"""The fields in which a row explains itself, in a sentence or two each."""


@dataclass(frozen=True, eq=False, repr=False)
class Row(NotebookDisplay):
    """A named row; calling it with settings, or `@`, gives the row with these settings."""

    _table: ClassVar[Mapping[str, "Row"]] = {}
    """The rows that a name may mean."""
    name: str
    title: str
    formula: str = field(default="", kw_only=True)
    reference: str = field(default="", kw_only=True)
    history: str = field(default="", kw_only=True)
    """Who introduced it, and when."""
    use: str = field(default="", kw_only=True)
    """When to use it."""
    misses: str = field(default="", kw_only=True)
    """What it does not see."""
    defaults: str = field(default="", kw_only=True)
    """Why its settings have the defaults they have."""
    direction: Literal[1, -1] = field(default=1, kw_only=True)
    """1 if higher is better, -1 if lower is."""
    corpus: Literal["ignored", "optional", "if missing", "required"] = field(default="ignored", kw_only=True)
    """What the corpus size n is for. Where it is ignored, a document that was not retrieved contributes nothing.
    Elsewhere it contributes what it would at the bottom of the corpus, or at infinity if n is unknown."""
    at: Literal["", "cutoff", "recall", "share"] = field(default="", kw_only=True)
    """What `@` sets: a share is one of the corpus."""
    needs_at: bool = field(default=False, kw_only=True)
    takes_share: bool = field(default=False, kw_only=True)
    """Whether the cut-off may be a share of the corpus, as in R@10%: k = floor(0.1 n) for each query."""
    cuts: bool = field(default=False, kw_only=True)
    """Has a cut-off of its own, as Rprec has m, and so never sees what was not retrieved."""
    at_range: Parameter | None = field(default=None, kw_only=True)
    parameters: Mapping[str, Parameter] = field(default_factory=dict, kw_only=True)
    graded: bool = field(default=False, kw_only=True)
    """Uses the grades themselves: the relevance level does not apply unless `rel` is among its settings."""
    needs_judged: bool = field(default=False, kw_only=True)
    """Needs the judged non-relevant documents as well as the relevant ones."""
    needs_providers: bool = field(default=False, kw_only=True)
    """Needs a map of documents to their providers."""
    needs_units: bool = field(default=False, kw_only=True)
    """Needs a map of documents to the units that they serve."""
    coincides: bool = field(default=False, kw_only=True)
    """Is also defined where one document serves two units of a query, so that two positions are one."""
    needs_distinct: bool = field(default=False, kw_only=True)
    """Is not defined for any two equal positions. Others are if units are counted and a unit is served late."""
    is_share: bool = field(default=False, kw_only=True)
    """Is 1 or 0 for every query, by its definition: the mean is a share of queries, and has an exact interval."""
    is_steady: bool = field(default=True, kw_only=True)
    """Has a mean that tests and intervals suit. They suit none that a rare query makes, however many seem to."""
    sparse: bool = field(default=False, kw_only=True)
    """Has a value on some queries only, and not the same ones for each run, by its definition. No value is missing."""
    total: Literal["mean", "sum"] = field(default="mean", kw_only=True)
    decimals: int = field(default=4, kw_only=True)
    """How a table shows it."""
    trec: tuple[str, ...] = field(default=(), kw_only=True)
    """trec_eval's names: without and with a cut-off."""
    trec_parameter: str = field(default="", kw_only=True)
    """The setting that a number after trec_eval's name means, where it is not a cut-off."""
    aliases: tuple[str, ...] = field(default=(), kw_only=True)
    exclusive: Mapping[tuple[str, ...], str] = field(default_factory=dict, kw_only=True)
    """Settings that exclude each other, and why."""
    settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        if self.direction not in (1, -1):
            raise UsageError(f"{self.name}: direction is {self.direction!r}, but must be 1 or -1")

    @property
    def about(self) -> dict[str, str]:
        """What it says of itself in sentences, by field; empty where it says nothing."""
        return {name: getattr(self, name) for name in ABOUT}

    @property
    def offered(self) -> dict[str, Parameter]:
        """All the settings this row takes."""
        at: dict[str, Parameter] = {}
        if self.at:
            cutoff = CUTOFF_OR_SHARE if self.takes_share else CUTOFF
            at[self.at] = self.at_range or (cutoff if self.at == "cutoff" else RECALL)
        return {**self.parameters, **({} if self.graded else {"rel": LEVEL}), **at}

    def __call__(self, **settings: Any) -> Self:
        """Return the row with these settings."""
        offered = self.offered
        for name in settings.keys() - offered.keys():
            what = f"takes {', '.join(offered)}" if offered else "takes no settings"
            raise UsageError(f"{self.name} has no setting {name!r}: it {what}")
        checked = {name: offered[name].check(f"{self.name}: {name}", value) for name, value in settings.items()}
        merged = {**self.settings, **checked}
        kept = {name: merged[name] for name in offered if name in merged and merged[name] != offered[name].default}
        for names, reason in self.exclusive.items():
            if len(chosen := [f"{name}={kept[name]!r}" for name in names if name in kept]) > 1:
                raise UsageError(f"{self.name}: {' and '.join(chosen)} exclude each other, because {reason}")
        return replace(self, settings=kept)

    def __matmul__(self, value: float) -> Self:
        if not self.at:
            raise UsageError(f"{self.name} takes no cut-off: write {self.name}, not {self.name}@{value}")
        return self.__call__(**{self.at: value})

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value!r}" for name, value in self.settings.items() if name != self.at)
        at = self.settings.get(self.at)
        return self.name + (f"({inside})" if inside else "") + ("" if at is None else f"@{at!r}")

    __repr__ = __str__

    def _parts(self) -> Iterable[CellPart]:
        texts = {"formula": self.formula, "better": "higher" if self.direction > 0 else "lower", **self.about}
        source = REFERENCES.get(self.reference, self.reference)
        return [facts(str(self), self.title, texts | {"needs": ", ".join(self.needs), "reference": source})]

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle a row of the table by its name: formulas are mostly functions without one."""
        attributes, in_table = vars(self), vars(self._table.get(self.name, self))
        is_known = self.name in self._table and attributes | {"settings": {}} == in_table | {"settings": {}}
        packages = {
            str(getattr(formula, "__module__", "")).partition(".")[0]
            for formula in self.formulas
            if formula is not None
        }
        # cloudpickle, which joblib and Spark use, takes functions of others along, with or without a name
        takes_functions = "cloudpickle" in sys._getframe(1).f_globals.get("__name__", "")
        if is_known and (packages <= {"lexirecall", "numpy"} or not takes_functions):
            return _of_table, (type(self), self.name, dict(self.settings))
        return super().__reduce_ex__(protocol)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and str(self) == str(other) and self.formulas == other.formulas

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(str(self))

    @property
    def formulas(self) -> tuple[object, ...]:
        """The functions that compute it: two rows of one name with different ones are not equal."""
        return ()

    @property
    def values(self) -> dict[str, Any]:
        """The settings in force: those given, and the defaults of the others."""
        return {name: self.settings.get(name, parameter.default) for name, parameter in self.offered.items()}

    def cutoff_in(self, n: Any) -> Any:
        """Return the cut-off as a number, or numbers if n is an array; None if there is none.

        >>> from lexirecall.names import parse_measure
        >>> parse_measure("R@10%").cutoff_in(np.array([90, 200])).tolist(), parse_measure("R@10").cutoff_in(90)
        ([9, 20], 10)
        """
        cutoff = self.settings.get("cutoff")
        return cutoff.of(n) if isinstance(cutoff, Share) else cutoff

    @property
    def needs_size(self) -> bool:
        """Whether it cannot be computed without the corpus size, with these settings."""
        return self.corpus == "required" or isinstance(self.settings.get("cutoff"), Share)

    @property
    def is_cut(self) -> bool:
        """Whether it looks at the top of a list only, where a document that was not retrieved never is."""
        return self.cuts or "cutoff" in self.settings

    @property
    def uses_grades(self) -> bool:
        """Whether it uses the grades themselves, with these settings, and not the level."""
        return self.graded and "rel" not in self.settings

    @property
    def needs(self) -> tuple[str, ...]:
        """What it is computed from, beyond the positions of the relevant documents."""
        facts = {
            "grades": self.uses_grades and not self.needs_judged,
            "judged non-relevant documents": self.needs_judged,
            "providers": self.needs_providers,
            "units": self.needs_units,
            f"n ({'required' if self.needs_size else self.corpus})": self.needs_size or self.corpus != "ignored",
        }
        return tuple(fact for fact, holds in facts.items() if holds)

    def level(self, default: float) -> float:
        """Return the lowest grade that this row takes as relevant."""
        if self.uses_grades:
            return SMALLEST_GRADE
        level = self.settings.get("rel", "level")
        return default if level == "level" else float(level)

    def due(self, positions: Positions, level: float) -> BoolArray:
        """Tell which queries should have a value, [Q]: those with a relevant document, of a provider if needed."""
        if self.needs_providers and positions.providers is not None:
            return positions.providers.reach(positions.judgments, self.level(level))
        return positions.num_relevant(self.level(level)) > 0

    def allows(self, projection: Projection) -> bool:
        """Tell whether it is defined for these positions: some of units may coincide.

        If a document serves two units, they may, whatever the runs are. If units are counted, a document takes no place
        where its unit appeared before, although it is the first that serves it: its position is that of another unit.
        """
        served = projection.source.served
        if self.coincides or served is None or served.origin.units is None:
            return True
        if served.origin.units.can_coincide(projection.level):
            return False
        return not (self.needs_distinct and _has_equal_positions(projection))

    def require_allowed(self, projection: Projection) -> None:
        """Raise if it is not defined for these positions, or needs units and there are none."""
        if self.needs_units and projection.source.served is None:
            raise UsageError(
                f"{self} needs a map of documents to units",
                remedy="give --units FILE, or --units @subtopics for judgments of subtopics; units= in Python",
            )
        if not self.allows(projection):
            raise coinciding([str(self)])

    def require_settings(self) -> Self:
        """Return the row, or raise if it cannot be computed without a cut-off."""
        if self.needs_at and self.at not in self.settings:
            example = {"cutoff": 10, "recall": 0.95, "share": 0.1}[self.at]
            raise UsageError(f"{self.name} needs a {self.at}: write it as {self.name}@{example}")
        return self

    @property
    def has_closed_form(self) -> bool:
        """Whether its mean over all orders of tied documents has a closed form."""
        return False

    def require_closed_form(self) -> None:
        """Raise if its mean over all orders of tied documents has no closed form."""
        if not self.has_closed_form:
            raise UsageError(
                f"the mean of {self} over all orders of tied documents has no closed form",
                remedy="leave it out, or choose another tie rule: trec, input, worst or best",
            )


def _of_table(kind: type[Row], name: str, settings: dict[str, Any]) -> Row:
    """Return a row of the table that was pickled by its name."""
    row = kind._table.get(name)
    if row is None:
        problem = f"the measure {name!r} was pickled by its name, and has not been registered in this process"
        raise UsageError(problem, remedy="call lexirecall.register in a module that the process imports")
    return replace(row, settings=settings) if settings else row


def _has_equal_positions(projection: Projection) -> bool:
    positions, rankings = projection.found.positions, projection.found.segments.owners
    return bool(((np.diff(positions) == 0) & (np.diff(rankings) == 0)).any())


def coinciding(names: list[str]) -> UsageError:
    """Return the error of measures that are not defined where positions coincide.

    >>> print(coinciding(["AP", "P@5"]))
    AP, P@5 cannot be computed: two units of a query can be at one position, because one document serves both
      leave them out (R, All, Depth, TSE, RR, LexiRecall and others count each unit), or map each document to one unit
    """
    which = "it" if len(names) == 1 else "them"
    return UsageError(
        f"{listed(names, 20)} cannot be computed: two units of a query can be at one position, because one document "
        "serves both",
        remedy=f"leave {which} out (R, All, Depth, TSE, RR, LexiRecall and others count each unit), or map each "
        "document to one unit",
    )

"""A measure: one record with its name, its formula, its reference, and what it needs.

Belongs here: the record, its settings, and how a formula runs over all rankings at once. Not here: the formulas
themselves (the other modules of this package, one row each) and the reading of names (lexirecall.names).
Imports numpy, errors, judgments, manifest, positions and this package's `expected` and `parameter`.

Most rows are recall-level measures, sum_i e(p_i) z(i, m): give `exposure` e and `weight` z. The first argument of each
is the position, or the recall level; anything else is asked for by the name of the argument: `m` (relevant items),
`n` (corpus size, nan if unknown), or a setting of the measure such as `cutoff`. The few that are no such sum give
`function`, from a projection to an array [systems, requests]; a user's own may give `of_positions`, from the
positions p_1 … p_m of one ranking to a number (what was not retrieved is at the bottom of the corpus, or at infinity
if its size is unknown).
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.measures.expected import expected_exposures
from lexirecall.measures.parameter import CUTOFF, LEVEL, RECALL, Parameter
from lexirecall.positions import Positions, Projection, Segments, SystemPositions, Tracks

Formula = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Measure:
    """A row of the table of measures; calling it with settings, or `@`, gives the measure with these settings.

    >>> from lexirecall.measures import AP, P, RBP
    >>> P(rel=2) @ 10, RBP(p=0.5), AP(rel=1)
    (P(rel=2)@10, RBP(p=0.5), AP(rel=1))
    >>> AP.of([1, 3, 7])
    0.6984126984126984
    >>> Half = Measure("Half", "exposure halves every ten positions", lambda p: 0.5 ** (p / 10), lambda i, m: 1 / m)
    >>> round(Half.of([1, 11], num_relevant=4), 4)
    0.3499
    """

    name: str
    title: str
    exposure: Formula | None = None
    weight: Formula | None = None
    formula: str = ""
    reference: str = ""
    direction: Literal[1, -1] = 1
    """1 if higher is better, -1 if lower is."""
    corpus: Literal["ignored", "optional", "if missing", "required"] = "ignored"
    """What the corpus size n is for. Where it is ignored, an item that was not retrieved contributes nothing; elsewhere
    what it would at the bottom of the corpus, and at infinity if n is unknown."""
    at: Literal["", "cutoff", "recall"] = ""
    """What `@` sets."""
    needs_at: bool = False
    at_range: Parameter | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    function: Formula | None = None
    of_positions: Callable[[FloatArray], float] | None = None
    expected: Formula | Literal["same"] | None = None
    """For `function`: the mean over all orders of tied items, where it has a closed form."""
    graded: bool = False
    """Uses the grades themselves, so that the relevance level does not apply."""
    needs_judged: bool = False
    """Needs the judged non-relevant items beside the relevant ones."""
    total: Literal["mean", "sum"] = "mean"
    decimals: int = 4
    """How a table shows it."""
    trec: tuple[str, ...] = ()
    """trec_eval's names: without and with a cut-off."""
    trec_parameter: str = ""
    """The setting that a number after trec_eval's name means, where it is no cut-off."""
    aliases: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        formulas = (self.exposure and self.weight, self.function, self.of_positions)
        if sum(formula is not None for formula in formulas) != 1 or (self.exposure is None) != (self.weight is None):
            raise UsageError(f"{self.name}: give exposure and weight, or function, or of_positions")
        if self.direction not in (1, -1):
            raise UsageError(f"{self.name}: direction is {self.direction!r}, but must be 1 or -1")

    @property
    def offered(self) -> dict[str, Parameter]:
        """All the settings this measure takes."""
        at: dict[str, Parameter] = {}
        if self.at:
            at[self.at] = self.at_range or (CUTOFF if self.at == "cutoff" else RECALL)
        return {**self.parameters, **({} if self.graded else {"rel": LEVEL}), **at}

    def __call__(self, **settings: Any) -> "Measure":
        """Return the measure with these settings."""
        offered = self.offered
        for name in settings.keys() - offered.keys():
            what = f"takes {', '.join(offered)}" if offered else "takes no settings"
            raise UsageError(f"{self.name} has no setting {name!r}: it {what}")
        checked = {name: offered[name].check(f"{self.name}: {name}", value) for name, value in settings.items()}
        merged = {**self.settings, **checked}
        kept = {name: merged[name] for name in offered if name in merged and merged[name] != offered[name].default}
        return replace(self, settings=kept)

    def __matmul__(self, value: float) -> "Measure":
        if not self.at:
            raise UsageError(f"{self.name} takes no cut-off: write {self.name}, not {self.name}@{value}")
        return self(**{self.at: value})

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value!r}" for name, value in self.settings.items() if name != self.at)
        at = self.settings.get(self.at)
        return self.name + (f"({inside})" if inside else "") + ("" if at is None else f"@{at!r}")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other) and self._formulas == other._formulas

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def _formulas(self) -> tuple[object, ...]:
        return self.exposure, self.weight, self.function, self.of_positions

    @property
    def needs(self) -> tuple[str, ...]:
        """What it is computed from, beyond the positions of the relevant items."""
        facts = {
            "grades": self.graded and not self.needs_judged,
            "judged non-relevant items": self.needs_judged,
            f"n ({self.corpus})": self.corpus != "ignored",
        }
        return tuple(fact for fact, holds in facts.items() if holds)

    def level(self, default: float) -> float:
        """Return the grade from which an item is relevant to this measure."""
        smallest_positive = 5e-324
        return smallest_positive if self.graded else self.settings.get("rel", default)

    def require_settings(self) -> "Measure":
        """Return the measure, or raise if it cannot be computed without a cut-off."""
        if self.needs_at and self.at not in self.settings:
            example = 10 if self.at == "cutoff" else 0.95
            raise UsageError(f"{self.name} needs a {self.at}: write it as {self.name}@{example}")
        return self

    def scores(self, projection: Projection) -> FloatArray:
        """Return the value of every ranking, [S, Q]; requests without relevant items get 0."""
        self.require_settings()
        if self.corpus == "required" and projection.source.corpus_size is None:
            raise UsageError(
                f"{self} needs the corpus size", remedy="give --corpus-size N, or a file of one per request"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._scores(projection)

    def _scores(self, projection: Projection) -> FloatArray:
        has_ties = projection.source.conventions.ties == "expected"
        if self.exposure is not None:
            return self._sum_over_recall_levels(projection)
        if has_ties and self.expected is None:
            raise UsageError(
                f"the mean of {self} over all orders of tied items has no closed form",
                remedy="leave it out, or choose another tie rule: trec, input, worst or best",
            )
        if self.of_positions is not None:
            return _one_by_one(self.of_positions, projection)
        function = self.expected if has_ties and callable(self.expected) else self.function
        assert function is not None  # noqa: S101 - __post_init__ has seen to it
        return np.asarray(ask(function, projection, self._values), dtype=float)

    @property
    def _values(self) -> dict[str, Any]:
        """The settings in force: those given, and the defaults of the others."""
        return {name: self.settings.get(name, parameter.default) for name, parameter in self.offered.items()}

    def _sum_over_recall_levels(self, projection: Projection) -> FloatArray:
        """Compute sum_i e(p_i) z(i, m), over what was retrieved and what was not."""
        n = _corpus_size(projection)
        m_of_item, levels = projection.num_relevant_of_item, projection.recall_levels
        n_of_item = np.nan if projection.source.corpus_size is None else projection.per_item_of_request(n)
        if projection.source.conventions.ties == "expected":
            exposures = expected_exposures(self._exposures, projection, n, bottom=self._bottom)
        else:
            exposures = self._exposures(projection.positions, m_of_item, n_of_item)
        retrieved = projection.sum(_product(exposures, self._weights(levels, m_of_item, n_of_item)))
        return retrieved if self.corpus == "ignored" else retrieved + self._tail(projection, n)

    def _exposures(self, positions: FloatArray, m: Any, n: Any) -> FloatArray:
        exposures = np.asarray(ask(self.exposure, positions, {**self._values, "m": m, "n": n}), dtype=float)
        cutoff = self.settings.get("cutoff")
        return exposures if cutoff is None else np.where(positions <= cutoff, exposures, 0.0)

    def _weights(self, levels: IntArray, m: Any, n: Any) -> FloatArray:
        return np.asarray(ask(self.weight, levels, {**self._values, "m": m, "n": n}), dtype=float)

    def _bottom(self, level: int, m: int, n: float) -> float:
        """Exposure of the i-th relevant item if it was not retrieved."""
        if self.corpus == "ignored":
            return 0.0
        position = np.inf if np.isnan(n) else n - m + level
        return float(self._exposures(np.array([position]), m, np.array([n]))[0])

    def _tail(self, projection: Projection, n: FloatArray) -> FloatArray:
        """Add up what the missing items contribute from the bottom of the corpus, [S, Q]."""
        requests = Segments(np.concatenate([[0], np.cumsum(projection.num_relevant)]))
        levels, owners = requests.ordinals, requests.owners
        m, n = projection.num_relevant[owners], n[owners]
        positions = np.where(np.isnan(n), np.inf, n - m + levels)
        terms = _product(self._exposures(positions, m, n), self._weights(levels, m, n))
        num_found = projection.found.segments.sizes.reshape(projection.source.shape)
        return np.array([requests.sum(np.where(levels > found[owners], terms, 0.0)) for found in num_found])

    def of(
        self, positions: list[int] | IntArray, num_relevant: int | None = None, *, corpus_size: int | None = None
    ) -> float:
        """Return the value of one ranking, from the positions of its relevant items.

        >>> from lexirecall.measures import TSE
        >>> TSE.of([2, 3, 8]), TSE.of([2, 3, 8], num_relevant=6), TSE.of([2, 3, 8], num_relevant=6, corpus_size=1000)
        (0.125, 0.0, 0.001)
        """
        found = np.unique([p for p in positions if float(p).is_integer() and p > 0]).astype(np.int64)
        m = len(found) if num_relevant is None else num_relevant
        if m < len(found) or len(found) < len(positions):
            raise UsageError(f"{m} relevant items cannot be at the positions {list(positions)}")
        level = self.level(1)
        judgments = Judgments.from_grades({b"": {str(i).encode(): max(level, 1.0) for i in range(m)}})
        tracks = Tracks(Segments(np.array([0, len(found)])), found, np.arange(len(found)))
        empty = Tracks(Segments(np.array([0, 0])), found[:0], found[:0])
        retrieved = found[-1:] if len(found) else np.array([0])
        system = SystemPositions("", np.array([True]), retrieved, tracks, empty)
        sizes = None if corpus_size is None else np.array([corpus_size])
        source = Positions.stack(judgments, [system], Conventions(), sizes)
        return float(self.scores(source.at_level(level))[0, 0])


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


def _product(exposures: FloatArray, weights: FloatArray) -> FloatArray:
    """Multiply e by z; where z is 0 the position does not matter, even if it is at infinity."""
    return np.where(weights != 0, exposures * weights, 0.0)


def _corpus_size(projection: Projection) -> FloatArray:
    """Return n of each request, nan where it is unknown."""
    n = projection.source.corpus_size
    return np.full(len(projection.num_relevant), np.nan) if n is None else n.astype(float)


def _one_by_one(function: Callable[[FloatArray], float], projection: Projection) -> FloatArray:
    systems, requests = projection.source.shape
    values = np.zeros((systems, requests))
    for s, q in np.ndindex(systems, requests):
        if projection.num_relevant[q]:
            values[s, q] = function(projection.vector(s, q, imputed=True))
    return values

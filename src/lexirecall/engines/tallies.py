"""Tallies: what the values of many requests add up to, in portions that can be put together in any order.

Belongs here: sums and counts over requests, exact, so that no order and no portion shows in them. Not here: values
(verbs), the engine that has the portions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.preferences import Preference
from lexirecall.verbs.averages import exact_parts, mean_of
from lexirecall.verbs.evaluate import values_of
from lexirecall.verbs.notes import undefined_counts
from lexirecall.verbs.rank import compared_pairs

_NAMED = 5  # how many requests without relevant items are named


@dataclass(frozen=True, slots=True)
class Task:
    """What is computed, and how requests count."""

    measures: tuple[Evaluable, ...]
    policies: Policies = field(default_factory=Policies)

    @property
    def levels(self) -> list[float]:
        """The levels of the measures, ascending."""
        return sorted({row.level(self.policies.level) for row in self.measures})

    def values(self, positions: Positions) -> tuple[FloatArray, IntArray]:
        """Return the values, [S, Q, M], and how many requests should have one, [S, M]."""
        return values_of(positions, self.measures, self.policies)


class Sums:
    """Exact sums of numbers in the cells of a table.

    >>> sums = Sums()
    >>> sums.add((0, 0), [1e16, 1.0])
    >>> sums.add((0, 0), [1.0, -1e16])
    >>> sums.mean((0, 0), 4)
    0.5
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[int, ...], list[float]] = {}

    def add(self, cell: tuple[int, ...], numbers: Iterable[float]) -> None:
        """Add numbers to a cell."""
        self._parts[cell] = exact_parts([*self._parts.get(cell, ()), *numbers])

    def merge(self, other: "Sums") -> None:
        """Add the sums of another table."""
        for cell, parts in other._parts.items():
            self.add(cell, parts)

    def mean(self, cell: tuple[int, ...], count: int, total: str = "mean") -> float:
        """Return the mean of the numbers in a cell, of which there are `count`, or their sum; nan if there are none."""
        return mean_of(self._parts.get(cell, ()), count, total)


@dataclass(slots=True)
class Tally:
    """What the notes, the manifest and the means need to know of all requests, added up over some of them."""

    sums: Sums = field(default_factory=Sums)
    """Of the values, for each system and measure."""
    numbers: dict[str, IntArray] = field(default_factory=dict)
    """Counts that add up: `counts` and `num_due` [S, M], `missing` and `due` [M], `runs` [S, 4], `qrels` [3]."""
    empty: dict[float, tuple[int, list[str]]] = field(default_factory=dict)
    """For each level, how many requests have nothing relevant, and the first of them by name."""
    highest_grade: float = -1.0
    largest: tuple[int, str, int, int, int] = (0, "", 0, 0, 0)
    """The largest corpus needed, for which request and system, the items retrieved and those relevant but missing."""

    @classmethod
    def of(cls, positions: Positions, task: Task) -> "Tally":
        """Evaluate some requests and add up."""
        tally = cls(
            numbers=_census(positions, task),
            empty={level: _without_relevant(positions, level) for level in task.levels},
            highest_grade=float(positions.judgments.grades.max(initial=-1)),
            largest=_largest_corpus(positions),
        )
        if positions.corpus_size is None or tally.largest[0] <= positions.corpus_size.min():
            tally._add_values(positions, task)
        return tally

    def _add_values(self, positions: Positions, task: Task) -> None:
        values, num_due = task.values(positions)
        defined = ~np.isnan(values)
        for s, c in np.ndindex(num_due.shape):
            self.sums.add((s, c), values[s, defined[s, :, c], c].tolist())
        undefined = undefined_counts(positions, task.measures, values, task.policies)
        self.numbers |= {
            "counts": defined.sum(axis=1),
            "num_due": num_due,
            "missing": np.array([missing for _, missing, _ in undefined]),
            "due": np.array([due for _, _, due in undefined]),
        }

    def merge(self, other: "Tally") -> None:
        """Add what another one has seen."""
        self.sums.merge(other.sums)
        self.numbers = _merged(self.numbers, other.numbers)
        for level, (number, names) in other.empty.items():
            seen, known = self.empty.get(level, (0, []))
            self.empty[level] = seen + number, sorted([*known, *names])[:_NAMED]
        self.highest_grade = max(self.highest_grade, other.highest_grade)
        self.largest = max(self.largest, other.largest)

    def means(self, measures: tuple[Evaluable, ...]) -> FloatArray:
        """Return the mean of each measure for each system, or the sum for counts, [S, M]; nan without a value."""
        counts = self.numbers["counts"]
        means = np.full(counts.shape, np.nan)
        for s, c in np.ndindex(counts.shape):
            means[s, c] = self.sums.mean((s, c), int(counts[s, c]), measures[c].total)
        return means


def _census(positions: Positions, task: Task) -> dict[str, IntArray]:
    judgments, answered = positions.judgments, positions.answered
    has_relevant = judgments.num_relevant(task.levels[0]) > 0
    per_run = answered, ~answered & has_relevant, positions.num_retrieved, positions.num_found
    return {
        "runs": np.stack([counts.sum(axis=1) for counts in per_run], axis=1),
        "qrels": np.array([len(positions.requests), len(judgments.grades), judgments.num_positive.sum()]),
    }


def _without_relevant(positions: Positions, level: float) -> tuple[int, list[str]]:
    empty = np.flatnonzero(positions.judgments.num_relevant(level) == 0).tolist()
    return len(empty), sorted(positions.requests[q] for q in empty)[:_NAMED]


def _largest_corpus(positions: Positions) -> tuple[int, str, int, int, int]:
    missing = positions.judgments.num_positive - positions.num_found
    needed = positions.num_retrieved + missing
    if not needed.size:
        return 0, "", 0, 0, 0
    s, q = divmod(int(needed.argmax()), needed.shape[1])
    return (
        int(needed[s, q]),
        positions.requests[q],
        s,
        int(positions.num_retrieved[s, q]),
        int(missing[s, q]),
    )


def _merged(x: dict[str, IntArray], y: dict[str, IntArray]) -> dict[str, IntArray]:
    return {name: x[name] + y[name] if name in x and name in y else x.get(name, y.get(name)) for name in {*x, *y}}  # type: ignore[misc]


@dataclass(slots=True)
class PairTally:
    """How often each system is preferred to each other one, added up over some requests."""

    sums: Sums = field(default_factory=Sums)
    """Of the preferences, for each preference and pair."""
    numbers: dict[str, IntArray] = field(default_factory=dict)
    """`wins` and `requests`, [K, S, S]."""

    @classmethod
    def of(cls, positions: Positions, preferences: tuple[Preference, ...], task: Task) -> "PairTally":
        """Compare all systems on some requests and add up."""
        tally = cls()
        compared = [compared_pairs(positions, preference, task.policies) for preference in preferences]
        tally.numbers = {
            "wins": np.array([pairs.wins for pairs in compared]),
            "requests": np.array([pairs.num_requests for pairs in compared]),
        }
        for k, pairs in enumerate(compared):
            for a, b in _pairs(len(positions.systems)):
                tally.sums.add((k, a, b), pairs.values[a, b].tolist())
        return tally

    def merge(self, other: "PairTally") -> None:
        """Add what another one has seen."""
        self.sums.merge(other.sums)
        self.numbers = _merged(self.numbers, other.numbers)

    def rows(self, systems: tuple[str, ...], preferences: tuple[Preference, ...]) -> Iterator[dict[str, Any]]:
        """Give one row for each preference and pair, named as in a comparison; positive says that a is better."""
        wins, requests = (self.numbers[name].tolist() for name in ("wins", "requests"))
        for k, preference in enumerate(preferences):
            for a, b in _pairs(len(systems)):
                won, lost, both = wins[k][a][b], wins[k][b][a], requests[k][a][b]
                mean = self.sums.mean((k, a, b), both) if both else None
                names = {"a": systems[a], "b": systems[b], "measure": str(preference)}
                counts = {"wins": won, "ties": both - won - lost, "losses": lost, "requests": both}
                yield {**names, "mean": mean, **counts}


def _pairs(num_systems: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for a in range(num_systems) for b in range(a + 1, num_systems))

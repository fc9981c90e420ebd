"""Digest: the few numbers of a study that its summary uses, and which differences between them are more than chance.

Belongs here: one number for each measure and question, from one collection or as the median over several, with its
interval; and whether one measure exceeds another.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from lexirecall.meta.data import LABELS
from lexirecall.meta.halves import QUANTITIES

HALF = 0.5
ENOUGH = 0.9
"""The share of decisions that must stay for a measure to survive the loss of labels."""
FEW = 0.05
"""A measure that decides a smaller share of the comparisons says too little to survive anything."""
TablesOfRows = Mapping[str, Sequence[Mapping[str, Any]]]
Interval = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Fact:
    """One number of a measure on one collection, with its interval if there is one."""

    collection: str
    measure: str
    quantity: str
    value: float | None
    interval: Interval = (None, None)


@dataclass(frozen=True, slots=True)
class Digest:
    """For each measure and quantity, its values on some collections."""

    measures: tuple[str, ...]
    values: Mapping[tuple[str, str], Sequence[float]]
    """By measure and quantity; what is not defined is left out."""
    intervals: Mapping[tuple[str, str], Sequence[Interval]] = field(default_factory=dict)
    """Of the same values."""
    differences: Mapping[tuple[str, str, str], Sequence[Interval]] = field(default_factory=dict)
    """The intervals of the difference between two measures on each collection, by quantity and measures."""
    over: tuple[str, ...] = ()
    """What these intervals are over."""

    def value(self, measure: str, quantity: str) -> float | None:
        """Return the median over the collections; None if no collection has a value.

        >>> Digest(("AP",), {("AP", "ties"): (0.1, 0.2, 0.6)}).value("AP", "ties")
        0.2
        """
        values = self.values.get((measure, quantity))
        return float(median(values)) if values else None

    def interval(self, measure: str, quantity: str) -> Interval:
        """Return the interval on one collection, or the lowest and the highest value of several.

        >>> Digest(("AP",), {("AP", "ties"): (0.1, 0.2, 0.6)}).interval("AP", "ties")
        (0.1, 0.6)
        """
        values = self.values.get((measure, quantity), ())
        if len(values) > 1:
            return min(values), max(values)
        return next(iter(self.intervals.get((measure, quantity), ())), (None, None))

    def defined(self, quantity: str) -> dict[str, float]:
        """Return the measures that have the quantity, with their values, the highest first.

        >>> Digest(("AP", "RR"), {("AP", "ties"): [0.1], ("RR", "ties"): [0.4]}).defined("ties")
        {'RR': 0.4, 'AP': 0.1}
        """
        values = {name: value for name in self.measures if (value := self.value(name, quantity)) is not None}
        return dict(sorted(values.items(), key=lambda document: -document[1]))

    def exceeds(self, quantity: str, a: str, b: str) -> bool:
        """Tell whether the first measure has more of a quantity than the second, beyond chance.

        Of several collections, the interval of the difference is above 0 in most and below 0 in none.

        >>> digest = Digest(("AP", "RR"), {}, differences={("ties", "AP", "RR"): [(-0.3, -0.1)]})
        >>> digest.exceeds("ties", "RR", "AP"), digest.exceeds("ties", "AP", "RR")
        (True, False)
        """
        intervals = [
            *self.differences.get((quantity, a, b), ()),
            *((_less(high), _less(low)) for low, high in self.differences.get((quantity, b, a), ())),
        ]
        above = sum(low is not None and low > 0 for low, _ in intervals)
        below = any(high is not None and high < 0 for _, high in intervals)
        return not below and 2 * above > len(intervals)


def _less(value: float | None) -> float | None:
    return None if value is None else -value


def panels(data: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the panel of each collection, in order: its depth label, after its task if any collection has one.

    >>> ml, web = {"collection": "ml", "label": "shallow"}, {"collection": "web", "label": "deep"}
    >>> panels([{**ml, "task": ""}, {**web, "task": ""}])
    {'web': 'deep', 'ml': 'shallow'}
    >>> panels([{**ml, "task": "toys"}, {**web, "task": ""}, {**web, "task": "toys", "collection": "new"}])
    {'new': 'toys, deep', 'ml': 'toys, shallow', 'web': 'other, deep'}
    """
    tasks = list(dict.fromkeys(row["task"] for row in data))
    rows = sorted(data, key=lambda row: (tasks.index(row["task"]), LABELS.index(row["label"])))
    return {
        row["collection"]: f"{row['task'] or 'other'}, {row['label']}" if any(tasks) else row["label"] for row in rows
    }


def digests(tables: TablesOfRows) -> tuple[Digest, dict[str, Digest]]:
    """Return the digest of all collections, and one for each panel."""
    names = panels(tables["data"])
    by_panel = {
        panel: _gathered(tables, {name for name, its_panel in names.items() if its_panel == panel})
        for panel in dict.fromkeys(names.values())
    }
    return _gathered(tables, set(names)), by_panel


def _gathered(tables: TablesOfRows, among: set[str]) -> Digest:
    measures = tuple(dict.fromkeys(row["measure"] for row in tables["ties"]))
    values: dict[tuple[str, str], list[float]] = {}
    intervals: dict[tuple[str, str], list[Interval]] = {}
    for fact in _facts(tables):
        if fact.value is not None and fact.collection in among:
            values.setdefault((fact.measure, fact.quantity), []).append(fact.value)
            intervals.setdefault((fact.measure, fact.quantity), []).append(fact.interval)
    differences: dict[tuple[str, str, str], list[Interval]] = {}
    contrasts = [row for row in tables["contrasts"] if row["collection"] in among]
    for row in contrasts:
        differences.setdefault((row["quantity"], row["a"], row["b"]), []).append((row["low"], row["high"]))
    return Digest(measures, values, intervals, differences, tuple(dict.fromkeys(row["over"] for row in contrasts)))


def _facts(tables: TablesOfRows) -> Iterator[Fact]:
    yield from _columns(tables["ties"], "ties", "compared")
    yield from _columns(tables["agreement"], "agreement", "separated", "by_definition")
    yield from _columns(tables["sensitivity"], "sign", "hsd", "hsd_signs", "paired")
    for row in tables["correlation"]:
        interval = row["tau_low"], row["tau_high"]
        yield Fact(row["collection"], row["b"], f"tau with {row['a']}", row["tau"], interval)
    yield from _columns(tables["halves"], *QUANTITIES)
    for row in tables["degradation"]:
        if row["removed"] == HALF and row["removal"] == "uniform":
            yield from _columns([row], agreement_untied="half_kept")
        elif row["removed"] == HALF:
            yield from _columns([row], agreement_untied="rare_kept")
    yield from _survivals(tables["degradation"])


def _columns(rows: Iterable[Mapping[str, Any]], *columns: str, **renamed: str) -> Iterator[Fact]:
    """Give the values of some columns with their intervals, under their own names or others."""
    for row in rows:
        for column, quantity in {**{name: name for name in columns}, **renamed}.items():
            interval = row.get(f"{column}_low"), row.get(f"{column}_high")
            yield Fact(row["collection"], row["measure"], quantity, row[column], interval)


def _survivals(rows: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    """Give the largest share of labels that can be removed at random while enough decisions stay, beyond chance.

    It is what the lower ends of the intervals say. A measure that decides few comparisons survives nothing.
    """
    kept: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        decides_few = row["separated"] < FEW * row["compared"]
        if row["removal"] == "uniform" and row["agreement_untied_low"] is not None and not decides_few:
            key = row["collection"], row["measure"]
            kept.setdefault(key, []).append((row["removed"], row["agreement_untied_low"]))
    for (collection, measure), shares in kept.items():
        lost = [removed for removed, low in sorted(shares) if low < ENOUGH]
        survived = [removed for removed, _ in shares if not lost or removed < lost[0]]
        yield Fact(collection, measure, "survives", max(survived, default=0.0))

"""Digest: the few numbers of a study that its summary uses.

Belongs here: one number for each measure and question, from one collection or as the median over several.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from lexirecall.meta.data import LABELS

HALF = 0.5
ENOUGH = 0.9
"""The share of decisions that must stay for a measure to survive the loss of labels."""
TablesOfRows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Digest:
    """For each measure and quantity, its values on some collections."""

    measures: tuple[str, ...]
    values: Mapping[tuple[str, str], Sequence[float]]
    """By measure and quantity; what is not defined is left out."""

    def value(self, measure: str, quantity: str) -> float | None:
        """Return the median over the collections; None if no collection has a value.

        >>> Digest(("AP",), {("AP", "ties"): (0.1, 0.2, 0.6)}).value("AP", "ties")
        0.2
        """
        values = self.values.get((measure, quantity))
        return float(median(values)) if values else None

    def defined(self, quantity: str) -> dict[str, float]:
        """Return the measures that have the quantity, with their values, the highest first.

        >>> Digest(("AP", "RR"), {("AP", "ties"): [0.1], ("RR", "ties"): [0.4]}).defined("ties")
        {'RR': 0.4, 'AP': 0.1}
        """
        values = {name: value for name in self.measures if (value := self.value(name, quantity)) is not None}
        return dict(sorted(values.items(), key=lambda item: -item[1]))


def percent(share: float | None) -> str:
    """Return a share as people read it; only nothing is shown as 0 %, and only everything as 100 %.

    >>> [percent(x) for x in (0.1674, 0.0, 0.0002, 0.9999, 1.0, None)]
    ['16.7 %', '0 %', '< 0.1 %', '> 99.9 %', '100 %', '-']
    """
    if share is None:
        return "-"
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %" if 0 < share < 1 else f"{100 * share:.0f} %"


def digests(tables: TablesOfRows) -> tuple[Digest, dict[str, Digest]]:
    """Return the digest of all collections, and one for each depth label, the deepest first."""
    measures = tuple(dict.fromkeys(row["measure"] for row in tables["ties"]))
    facts = list(_facts(tables))
    labels = {row["collection"]: row["label"] for row in tables["data"]}
    by_label = {
        label: _gathered(measures, [fact for fact in facts if labels[fact[0]] == label])
        for label in LABELS
        if label in labels.values()
    }
    return _gathered(measures, facts), by_label


Fact = tuple[str, str, str, float | None]
"""Collection, measure, quantity and value."""


def _gathered(measures: tuple[str, ...], facts: Sequence[Fact]) -> Digest:
    values: dict[tuple[str, str], list[float]] = {}
    for _, measure, quantity, value in facts:
        if value is not None:
            values.setdefault((measure, quantity), []).append(value)
    return Digest(measures, values)


def _facts(tables: TablesOfRows) -> Iterator[Fact]:
    quantities = {"ties": ("ties",), "agreement": ("agreement",), "sensitivity": ("paired", "hsd", "t", "sign")}
    for table, names in quantities.items():
        for row in tables[table]:
            yield from ((row["collection"], row["measure"], name, row[name]) for name in names)
    for row in tables["degradation"]:
        if row["removed"] == HALF:
            key = row["collection"], row["measure"]
            if row["removal"] == "uniform":
                yield *key, "half_ties", row["ties"]
                yield *key, "half_kept", row["agreement_untied"]
            else:
                yield *key, "rare_kept", row["agreement_untied"]
    yield from _survivals(tables["degradation"])


def _survivals(rows: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    """Give the largest share of labels that can be removed at random while enough decisions stay."""
    kept: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        if row["removal"] == "uniform" and row["agreement_untied"] is not None:
            kept.setdefault((row["collection"], row["measure"]), []).append((row["removed"], row["agreement_untied"]))
    for (collection, measure), shares in kept.items():
        lost = [removed for removed, agreement in sorted(shares) if agreement < ENOUGH]
        survived = [removed for removed, _ in shares if not lost or removed < lost[0]]
        yield collection, measure, "survives", max(survived, default=0.0)

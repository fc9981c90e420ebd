"""Serving: which document puts a unit where it is, and which others would have served it.

Belongs here: the step back from units to the documents that serve them. Not here: where units are (units), words about
it (explanation), the page.
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.errors import listed
from lexirecall.judgments import Judgments
from lexirecall.positions import Positions, Projection
from lexirecall.text import to_text

FEW = 3
"""How many documents a sentence names."""


@dataclass(frozen=True, slots=True)
class ServedUnit:
    """How one ranking serves one unit.

    >>> str(ServedUnit("c1", ("c2",))), str(ServedUnit(None, ("c1", "c2"), needs_all=True))
    ('c1 (or c2)', 'missing, needs c1, c2')
    """

    by: str | None
    """The document that puts it where it is; None if it was not found."""
    others: tuple[str, ...]
    """The other documents that would have served it, or those that it needs together with that one."""
    needs_all: bool = False

    def __str__(self) -> str:
        if self.by is None:
            return f"missing, {self.wanted}"
        return (
            f"{self.by} ({'with' if self.needs_all else 'or'} {listed(self.others, FEW)})" if self.others else self.by
        )

    @property
    def wanted(self) -> str:
        """What would serve a unit that was not found."""
        return f"{'needs' if self.needs_all else 'served by'} {listed(self.others, FEW)}"


def judgments_of_documents(positions: Positions) -> Judgments:
    """Return the judgments that name documents, also if what must be found are units."""
    return positions.judgments if positions.served is None else positions.served.origin.judgments


def documents_of_units(projection: Projection, q: int) -> dict[int, list[int]]:
    """Return the documents that count for each unit of a query at the level, in the order of the judgments.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["b"]}, units={"a": "U", "b": "U", "c": "V"})
    >>> documents_of_units(positions.at_level(1), 0)
    {0: [0, 1], 1: [2]}
    """
    served = projection.source.served
    if served is None or served.origin.units is None:
        return {}
    units, (first, last) = served.origin.units, served.origin.judgments.offsets[q : q + 2].tolist()
    pairs = np.arange(units.offsets[first], units.offsets[last])
    documents = np.repeat(np.arange(first, last), np.diff(units.offsets[first : last + 1]))
    counts = units.serves(pairs, projection.level)
    found: dict[int, list[int]] = {}
    for unit, document in zip(units.units[pairs][counts].tolist(), documents[counts].tolist(), strict=True):
        found.setdefault(unit, []).append(document)
    return found


def servings_of(projection: Projection, s: int, q: int, units: list[int]) -> tuple[ServedUnit, ...]:
    """Return how a ranking serves these units, the found ones first; nothing if documents must be found.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["b"]}, units={"a": "U", "b": "U", "c": "V"})
    >>> [str(serving) for serving in servings_of(positions.at_level(1), 0, 0, [0, 1])]
    ['b (or a)', 'missing, served by c']
    """
    source = projection.source
    if source.served is None or source.served.origin.units is None or projection.served_by is None:
        return ()
    origin, needs_all = source.served.origin, source.served.origin.units.needs_all
    start, stop = projection.found.segments.offsets[s * len(source.queries) + q :][:2]
    by = dict(zip(units, projection.served_by[start:stop].tolist(), strict=False))
    of_unit = documents_of_units(projection, q)

    def name(document: int) -> str:
        return to_text(origin.judgments.documents[document])

    return tuple(
        ServedUnit(
            name(by[unit]) if unit in by else None,
            tuple(name(document) for document in of_unit.get(unit, []) if document != by.get(unit)),
            bool(needs_all[unit]),
        )
        for unit in units
    )

"""Counting: places counted in units instead of documents.

Belongs here: the rule by which a document takes a place or none. Not here: the order of rankings (ranking), where units
are (units).

A document takes a place if it brings a unit of which no document has appeared in its ranking, or is of no unit;
otherwise it takes none, and is where the last one that did is.
"""

import numpy as np

from lexirecall.formats.ranking import RankedLines, place_all
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.providers import members
from lexirecall.units.unitmap import UnitMap


def place_by_units(
    lines: RankedLines, slots: IntArray, units: UnitMap, grades: FloatArray, ties: str
) -> tuple[IntArray, IntArray, IntArray]:
    """Find the judged documents as `place` does, places counted in units; also rankings, and how many places each has.

    `slots` are those of the documents of the lines in the map, -1 for documents that are not there.

    >>> units = UnitMap.of_columns([b"a", b"b", b"c"], [b"U", b"U", b"V"])
    >>> lines = RankedLines(np.zeros(4, int), np.array([4.0, 3, 2, 1]), np.array([-1, 0, -1, 1]), lambda x, _: x)
    >>> rows, rankings, num_places = place_by_units(lines, np.array([0, 1, -1, 2]), units, np.ones(2), "trec")
    >>> rows[:, 1].tolist(), num_places.tolist()
    ([1, 3], [3])
    """
    every = place_all(lines, grades, ties)
    rankings, line = every[:, 0], every[:, 2]
    takes_place = _brings(rankings, slots[line], units)
    total = np.cumsum(takes_place)
    starts = np.flatnonzero(np.diff(rankings, prepend=-1) != 0)
    before = np.repeat(total[starts] - takes_place[starts], np.diff(np.append(starts, len(rankings))))
    places = total - before
    rows = np.column_stack([rankings, places, lines.judged[line], np.zeros_like(places), np.ones_like(places)])
    ends = np.append(starts[1:], len(rankings)) - 1
    return rows[lines.judged[line] >= 0], rankings[starts], places[ends] if len(places) else places


def _brings(rankings: IntArray, slots: IntArray, units: UnitMap) -> IntArray:
    """Tell which lines, in the order of their rankings, take a place: 1, or 0."""
    mapped = np.flatnonzero(slots >= 0)
    numbers = units.units[members(units.offsets, slots[mapped])]
    rows = np.repeat(mapped, np.diff(units.offsets)[slots[mapped]])
    _, first = np.unique(rankings[rows] * len(units.names) + numbers, return_index=True)
    takes = slots < 0
    takes[rows[first]] = True
    return np.asarray(takes, np.int64)

"""Counting: places counted in units instead of items.

Belongs here: the rule by which an item takes a place or none. Not here: the order of rankings (ranking), where units
are (units).

An item takes a place if it brings a unit of which no item has appeared in its ranking, or is of no unit; otherwise it
takes none, and is where the last one that did is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexirecall.formats.ranking import RankedLines, place
from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.providers import members


@dataclass(frozen=True, slots=True)
class UnitCodes:
    """The units of lines as numbers; those of line i are codes[offsets[i] : offsets[i + 1]]."""

    offsets: IntArray
    codes: IntArray

    @classmethod
    def of(cls, units: Iterable[Sequence[bytes]]) -> "UnitCodes":
        """Give the units of lines numbers.

        >>> codes = UnitCodes.of([(b"U",), (), (b"V", b"U")])
        >>> codes.offsets.tolist(), codes.codes.tolist()
        ([0, 1, 1, 3], [0, 1, 0])
        """
        numbers: dict[bytes, int] = {}
        sizes, codes = [], []
        for names in units:
            sizes.append(len(names))
            codes += [numbers.setdefault(name, len(numbers)) for name in names]
        return cls(offsets_of(np.array(sizes, np.int64)), np.array(codes, np.int64))

    def take(self, which: IntArray) -> "UnitCodes":
        """Return the units of some lines, in this order."""
        sizes = np.diff(self.offsets)[which]
        return UnitCodes(offsets_of(sizes), self.codes[members(self.offsets, which)])


def place_by_units(
    lines: RankedLines, units: UnitCodes, grades: FloatArray, ties: str
) -> tuple[IntArray, IntArray, IntArray]:
    """Find the judged items as `place` does, places counted in units; also rankings, and how many places each has.

    >>> lines = RankedLines(np.zeros(4, int), np.array([4.0, 3, 2, 1]), np.array([-1, 0, -1, 1]), lambda x, _: x)
    >>> units = UnitCodes.of([(b"U",), (b"U",), (), (b"V",)])
    >>> rows, rankings, num_places = place_by_units(lines, units, np.ones(2), "trec")
    >>> rows[:, 1].tolist(), num_places.tolist()
    ([1, 3], [3])
    """
    gains = np.where(lines.judged >= 0, np.append(grades, 0.0)[lines.judged], 0.0)
    every = place(replace(lines, judged=np.arange(len(lines.judged))), gains, ties)
    rankings, line = every[:, 0], every[:, 2]
    takes_place = _brings(rankings, units.take(line))
    total = np.cumsum(takes_place)
    starts = np.flatnonzero(np.diff(rankings, prepend=-1) != 0)
    before = np.repeat(total[starts] - takes_place[starts], np.diff(np.append(starts, len(rankings))))
    places = total - before
    rows = np.column_stack([rankings, places, lines.judged[line], np.zeros_like(places), np.ones_like(places)])
    ends = np.append(starts[1:], len(rankings)) - 1
    return rows[lines.judged[line] >= 0], rankings[starts], places[ends] if len(places) else places


def _brings(rankings: IntArray, units: UnitCodes) -> IntArray:
    """Tell which lines, in the order of their rankings, take a place: 1, or 0."""
    sizes = np.diff(units.offsets)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    _, first = np.unique(rankings[rows] * (units.codes.max(initial=0) + 1) + units.codes, return_index=True)
    takes = sizes == 0
    takes[rows[first]] = True
    return np.asarray(takes, np.int64)

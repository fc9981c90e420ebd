"""Units: what must be found, where that is not the items themselves.

Belongs here: the units of judged items as arrays, and where they are in rankings. Not here: the map as it was given
(unitmap), which of both the judgments name (judged), reading (formats), places counted in units (formats.counting).

A unit is a document of which chunks are retrieved, a fact that several passages support, a patent family. It is where
the first item that serves it is (`any`), or the last of those that it needs together (`all`). If items are judged, a
unit has the highest grade of its items, and those below the level do not serve it. If units are judged, every item that
the map has for a unit serves it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments, offsets_of
from lexirecall.providers import members
from lexirecall.segments import Segments
from lexirecall.text import to_text
from lexirecall.tracks import Tracks

EXAMPLES = 3
ByUnit = Mapping[bytes, Mapping[bytes, Mapping[bytes, float]]]
"""{request: {unit: {item: grade}}}"""


@dataclass(frozen=True, slots=True)
class UnitCount:
    """Units in numbers, which is all that a manifest and its notes say of them."""

    name: str
    judged: str
    """Whether the judgments name items or units."""
    num_units: int
    """With a positive grade."""
    num_pairs: int
    """Of such a unit and an item that may serve it."""
    num_unmapped: int
    """Judged items of a positive grade that stand for no unit."""
    unmapped: tuple[str, ...]
    """The first of them."""

    def record(self) -> dict[str, object]:
        """Return what a manifest says of the map."""
        return {
            "unit_map": self.name,
            "judged_ids": self.judged,
            "units": self.num_units,
            "documents_of_units": self.num_pairs,
            "without_unit": self.num_unmapped,
        }

    @classmethod
    def of(
        cls, name: str, judged: str, judgments: Judgments, items: Judgments, offsets: IntArray, units: IntArray
    ) -> "UnitCount":
        """Count the judged units, and the items that serve them or stand for none."""
        unmapped = np.flatnonzero((items.grades > 0) & (np.diff(offsets) == 0))
        examples = dict.fromkeys(items.items[i] for i in islice(unmapped.tolist(), 100))
        return cls(
            name,
            judged,
            int(judgments.num_positive.sum()),
            int((judgments.grades[units] > 0).sum()),
            len(unmapped),
            tuple(map(to_text, islice(examples, EXAMPLES))),
        )

    def __add__(self, other: "UnitCount") -> "UnitCount":
        return replace(
            self,
            num_units=self.num_units + other.num_units,
            num_pairs=self.num_pairs + other.num_pairs,
            num_unmapped=self.num_unmapped + other.num_unmapped,
            unmapped=tuple(sorted({*self.unmapped, *other.unmapped}))[:EXAMPLES],
        )


@dataclass(frozen=True, slots=True)
class WholeMap:
    """What holds of all requests together, for units of which only a portion is here."""

    is_one_to_one: bool
    highest_shared: float
    """The highest level at which an item serves two units of a request; below every grade if none ever does."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of the judged items; those of item i are units[offsets[i] : offsets[i + 1]]."""

    judgments: Judgments
    """The units of each request with their grades, as if they were its items."""
    offsets: IntArray
    units: IntArray
    """Index into the units of the judgments."""
    grades: FloatArray
    """Of each item and unit: the highest level at which the item serves the unit."""
    needs_all: BoolArray
    """Of each unit: whether all its items are needed."""
    count: UnitCount
    whole: WholeMap | None = None
    """If these are the units of a portion of the requests."""

    @classmethod
    def of(
        cls,
        units: ByUnit,
        items: Judgments,
        needs_all: Iterable[tuple[bytes, bytes]] = (),
        *,
        name: str = "units",
        judged: str = "items",
    ) -> "Units":
        """Build the arrays from {request: {unit: {item: grade}}}; `items` has these items, and may have others.

        >>> items = Judgments.from_grades({b"q": {b"a": 1, b"b": 2, b"c": 0}})
        >>> units = Units.of({b"q": {b"U": {b"a": 1, b"b": 2}, b"V": {b"b": 2}}}, items)
        >>> units.judgments.grades.tolist(), units.offsets.tolist(), units.units.tolist()
        ([2.0, 2.0], [0, 1, 3, 3], [0, 0, 1])
        """
        grades = {
            request: {unit: max(by_item.values()) for unit, by_item in units.get(request, {}).items()}
            for request in items.request_ids
        }
        judgments = replace(
            Judgments.from_grades(grades, name=items.name, request_type=items.request_type),
            num_repeated=items.num_repeated,
            has_grades=items.has_grades,
        )
        which: list[int] = []
        serving: list[int] = []
        levels: list[float] = []
        for q, request in enumerate(items.request_ids):
            of_item, of_unit = items.lookup(q), judgments.lookup(q)
            for unit, by_item in units.get(request, {}).items():
                serving += map(of_item.__getitem__, by_item)
                levels += by_item.values()
                which += [of_unit[unit]] * len(by_item)
        order = np.lexsort((which, serving))
        numbers, per_item = np.array(which, np.int64)[order], np.bincount(serving, minlength=len(items.grades))
        marked = np.zeros(len(judgments.grades), bool)
        index = judgments.index
        marked[[judgments.lookup(index[request])[unit] for request, unit in needs_all]] = True
        offsets = offsets_of(per_item)
        count = UnitCount.of(name, judged, judgments, items, offsets, numbers)
        return cls(judgments, offsets, numbers, np.array(levels, np.float64)[order], marked, count)

    @property
    def is_one_to_one(self) -> bool:
        """Whether every unit has one item and every item one unit: then units are items by another name."""
        if self.whole is not None:
            return self.whole.is_one_to_one
        per_item, per_unit = np.diff(self.offsets), np.bincount(self.units, minlength=len(self.needs_all))
        return bool((per_item <= 1).all() and (per_unit == 1).all())

    def can_coincide(self, level: float) -> bool:
        """Tell whether an item serves two relevant units of a request, which then may be at one position."""
        if self.whole is not None:
            return level <= self.whole.highest_shared
        serves = np.minimum(self.grades, self.judgments.grades[self.units]) >= level
        return bool((np.diff(offsets_of(serves.astype(np.int64))[self.offsets]) > 1).any())

    def serves(self, pairs: IntArray, level: float) -> BoolArray:
        """Tell which pairs of item and unit count at a level; below it, a unit is where its best items are."""
        return np.asarray(self.grades[pairs] >= np.minimum(level, self.judgments.grades[self.units[pairs]]))

    def located(self, tracks: Tracks, level: float, *, positive: bool) -> tuple[Tracks, IntArray]:
        """Return where the units are, those of a positive grade or the others, and which item puts each there."""
        sizes = np.diff(self.offsets)[tracks.items]
        pairs, rows = members(self.offsets, tracks.items), np.repeat(np.arange(len(sizes)), sizes)
        kept = self.serves(pairs, level) & ((self.judgments.grades[self.units[pairs]] > 0) == positive)
        pairs, rows = pairs[kept], rows[kept]
        rankings, units = tracks.segments.owners[rows], self.units[pairs]
        chosen = self._deciding(rankings * len(self.needs_all) + units, units, level)
        rankings, units, rows = rankings[chosen], units[chosen], rows[chosen]
        order = np.lexsort((units, tracks.positions[rows], rankings))
        segments = Segments(offsets_of(np.bincount(rankings, minlength=len(tracks.segments.sizes))))
        rows = rows[order]
        return Tracks(segments, tracks.positions[rows], units[order]), tracks.items[rows]

    def _deciding(self, keys: IntArray, units: IntArray, level: float) -> IntArray:
        """Return which rows decide where a unit is, the first or the last; keys tell ranking and unit."""
        _, first = np.unique(keys, return_index=True)
        if not self.needs_all.any():
            return first
        _, last, found = np.unique(keys[::-1], return_index=True, return_counts=True)
        last, of = len(keys) - 1 - last, units[first]
        needed = np.bincount(self.units[self.serves(np.arange(len(self.units)), level)], minlength=len(self.needs_all))
        is_whole = ~self.needs_all[of] | (found == needed[of])
        return np.asarray(np.where(self.needs_all[of], last, first)[is_whole], np.int64)

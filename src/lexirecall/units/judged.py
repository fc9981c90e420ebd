"""Judged: whether judgments name items or units, and the judgments of items that follow.

Belongs here: the step from judgments and a map to the items that readers look for and the units that these serve.

It is decided over the relevant ids. If all of them are units, units are judged. If none of them is a unit and nothing
else, items are: those outside the map serve no unit, and are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.providers import members
from lexirecall.segments import Segments
from lexirecall.units import EXAMPLES, Pairing, Units, laid_out
from lexirecall.units.unitmap import UnitMap, numbered

SUBTOPICS = "@subtopics"
"""Given in place of a map: the units are in the judgments, as the subtopics of TREC's diversity tasks are."""
_SAY_WHICH = "say which they are: --judged items or --judged units, or judged= in Python"


def units_of_judgments(judgments: Judgments, units: UnitMap, conventions: Conventions) -> tuple[Judgments, Units]:
    """Return the judgments of items, which readers look for, and the units that these serve.

    >>> units = UnitMap.of_columns([b"c1", b"c2"], [b"d", b"d"])
    >>> items, found = units_of_judgments(Judgments.from_grades({b"q": {b"d": 1}}), units, Conventions())
    >>> list(items.items), list(found.judgments.items)
    ([b'c1', b'c2'], [b'd'])
    """
    itself = conventions.unmapped == "itself"
    ids = _Resolved.of(judgments, units)
    judged = conventions.judged or ids.counts(judgments, units).judged(units.name, judgments.name, itself=itself)
    if judged == "items":
        items, pairs = judgments, _pairs_of_items(ids, judgments, units, itself=itself)
    else:
        items, pairs = _pairs_of_units(ids, judgments, units, itself=itself)
    by_default = conventions.unit_rule == "all"

    def needs_all(request: bytes, unit: bytes) -> bool:
        return units.needs_all.get((None if units.is_common else request, unit), by_default)

    rule = needs_all if units.needs_all else by_default
    return items, Units.of_pairs(items, pairs, rule, name=units.name, judged=judged)


@dataclass(frozen=True, slots=True)
class _Resolved:
    """The judged ids, and what each of them is in the map of units."""

    texts: list[bytes]
    requests: IntArray
    slots: IntArray
    """As an item, -1 if it is none."""
    numbers: IntArray
    """As a unit with items for this request, -1 if it is none."""

    @classmethod
    def of(cls, judgments: Judgments, units: UnitMap) -> "_Resolved":
        texts, borders = list(judgments.items), judgments.offsets.tolist()
        owners = Segments(judgments.offsets).owners
        if units.is_common:
            slots = units.slots_of(b"", texts)
            return cls(texts, owners, slots, slots if units.is_identity else units.numbers_of(b"", texts))
        requests, slots, numbers = list(judgments.request_ids), np.full(len(texts), -1), np.full(len(texts), -1)
        for q, request in enumerate(requests):
            own = slice(borders[q], borders[q + 1])
            slots[own] = units.slots_of(request, texts[own])
            numbers[own] = units.numbers_of(request, texts[own])
        return cls(texts, owners, slots, numbers)

    def counts(self, judgments: Judgments, units: UnitMap) -> "IdCounts":
        """Count the relevant ids."""
        relevant, is_item, is_unit = judgments.grades > 0, self.slots >= 0, self.numbers >= 0
        neither, both = relevant & ~is_item & ~is_unit, relevant & is_item & is_unit
        masks = (relevant, relevant & is_item, relevant & is_unit, neither)
        total, num_items, num_units, num_neither = (int(mask.sum()) for mask in masks)
        one = _differing(self, both, judgments, units) if both.any() else None
        return IdCounts(total, num_items, num_units, num_neither, one, self.first(neither), units.items[:EXAMPLES])

    def first(self, mask: BoolArray, most: int = EXAMPLES) -> list[bytes]:
        """Return the first ids under a mask."""
        return list(islice(compress(self.texts, mask.tolist()), most))


def _pairs_of_items(ids: _Resolved, judgments: Judgments, units: UnitMap, *, itself: bool) -> Pairing:
    mapped = np.flatnonzero(ids.slots >= 0)
    sizes = np.diff(units.offsets)[ids.slots[mapped]]
    items, numbers = np.repeat(mapped, sizes), units.units[members(units.offsets, ids.slots[mapped])]
    names = units.names
    if itself and len(mapped) < len(ids.slots):
        alone = np.flatnonzero(ids.slots < 0)
        names, own = _with_names(units, [ids.texts[i] for i in alone.tolist()])
        items, numbers = np.concatenate([items, alone]), np.concatenate([numbers, own])
        order = np.argsort(items, kind="stable")
        items, numbers = items[order], numbers[order]
    return Pairing(items, numbers, judgments.grades[items], names, units.is_identity and len(mapped) == len(ids.slots))


def _with_names(units: UnitMap, more: Sequence[bytes]) -> tuple[list[bytes], IntArray]:
    """Return the names of units with more, and the number of each of these."""
    numbers = dict(units.numbers)
    own = [numbers.setdefault(name, len(numbers)) for name in more]
    return list(numbers), np.array(own, np.int64)


def _pairs_of_units(ids: _Resolved, judgments: Judgments, units: UnitMap, *, itself: bool) -> tuple[Judgments, Pairing]:
    """Return judgments of the items of the judged units, each with the highest grade of its units, and the pairs."""
    without = (ids.numbers < 0) & (judgments.grades > 0)
    if without.any() and not itself:
        owners = (judgments.requests[q] for q in ids.requests[without].tolist())
        total = int(without.sum())
        raise without_items(units.name, list(zip(owners, ids.first(without, total), strict=True)), total)
    rows: list[IntArray] = []
    slots: list[IntArray] = []
    for q, request in enumerate(judgments.request_ids):
        own = np.arange(*judgments.offsets[q : q + 2])
        own = own[ids.numbers[own] >= 0]
        if len(own):
            offsets, of_unit = units.by_unit[None if units.is_common else request]
            rows.append(np.repeat(own, np.diff(offsets)[ids.numbers[own]]))
            slots.append(of_unit[members(offsets, ids.numbers[own])])
    row, slot = (np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in (rows, slots))
    items, names = [units.items[s] for s in slot.tolist()], units.names
    numbers = ids.numbers[row]
    if itself:
        alone = np.flatnonzero(ids.numbers < 0)
        texts = [ids.texts[i] for i in alone.tolist()]
        names, own = _with_names(units, texts)
        row, numbers, items = np.concatenate([row, alone]), np.concatenate([numbers, own]), [*items, *texts]
    different, which = numbered(items)
    grades = judgments.grades[row]
    made, at = laid_out(ids.requests[row], which, grades, list(different), judgments)
    return made, Pairing(at, numbers, grades, names)


@dataclass(frozen=True, slots=True)
class Subtopics:
    """Judgments of pairs of unit and item, by column."""

    requests: list[bytes]
    units: list[bytes]
    items: list[bytes]
    grades: list[float]
    request_type: str = "text"
    num_repeated: int = 0
    """How many judgments repeat an earlier one."""
    has_grades: bool = True
    empty: tuple[bytes, ...] = ()
    """Requests without any judgment."""


def units_of_subtopics(
    given: Subtopics, name: str, conventions: Conventions
) -> tuple[Judgments, Units, UnitMap | None]:
    """Return judgments of items, their units and the map of both, from judgments of pairs of unit and item.

    There is a map if a unit is relevant.

    >>> given = Subtopics([b"q"] * 3, [b"1", b"1", b"2"], [b"a", b"b", b"b"], [1.0, 0.0, 1.0])
    >>> items, units, unit_map = units_of_subtopics(given, "qrels", Conventions())
    >>> items.lookup(0), units.judgments.grades.tolist(), units.grades.tolist(), unit_map.units_of(b"q", b"b")
    ({b'a': 0, b'b': 1}, [1.0, 1.0], [1.0, 0.0, 1.0], [b'2'])
    """
    empty: dict[bytes, dict[bytes, float]] = {request: {} for request in (*given.requests, *given.empty)}
    like = replace(
        Judgments.from_grades(empty, name=name, num_repeated=given.num_repeated, request_type=given.request_type),
        has_grades=given.has_grades,
    )
    (_, request), (items_named, item), (units_named, unit) = map(numbered, (given.requests, given.items, given.units))
    grades: FloatArray = np.array(given.grades, np.float64)
    items, at = laid_out(request, item, grades, list(items_named), like)
    pairs = Pairing(at, unit, grades, list(units_named))
    found = Units.of_pairs(items, pairs, conventions.unit_rule == "all", name=SUBTOPICS)
    positive = (grades > 0).tolist()
    requests, units, served = (
        list(compress(column, positive)) for column in (given.requests, given.units, given.items)
    )
    return items, found, UnitMap.of_columns(served, units, requests, name=name) if any(positive) else None


def without_items(name: str, without: Sequence[tuple[str, str | bytes]], total: int) -> DataError:
    """Return the error about relevant units, the first of them given as request and unit, that no item serves."""
    which = listed((f"{shown(unit)} of query {shown(request)}" for request, unit in without), EXAMPLES, total)
    return DataError(
        f"{name}: {counted(total, 'relevant unit')} without a document, so it could never be found: {which}",
        remedy="add the documents to the map, or remove the judgments; --unmapped itself takes the ids for documents",
    )


@dataclass(frozen=True, slots=True)
class IdCounts:
    """How many of the relevant ids a map has as items, as units, and as neither; whoever counted."""

    total: int
    items: int
    units: int
    neither: int
    ambiguous: str | bytes | None
    """One that means one thing as an item and another as a unit."""
    strangers: Sequence[str | bytes]
    """The first that are neither."""
    of_map: Sequence[str | bytes]
    """The first items of the map."""

    def judged(self, map_name: str, qrels_name: str, *, itself: bool) -> str:
        """Return whether the relevant ids are items or units; raise if that cannot be told.

        With `itself`, those that are neither are units of their own.

        >>> IdCounts(3, 0, 3, 0, None, (), ()).judged("units", "qrels", itself=False)
        'units'
        """
        if not self.total:
            return "items"
        # an id outside the map may be an item that serves no unit, but not a unit, unless it serves itself
        as_items = self.items > 0 and self.items + self.neither == self.total
        as_units = self.units > 0 and self.units + (self.neither if itself else 0) == self.total
        fits = [name for name, fit in (("items", as_items), ("units", as_units)) if fit]
        if len(fits) == 1 or (fits and self.ambiguous is None):
            return fits[0]
        if self.ambiguous is not None and fits:
            problem = f"the judged ids are both documents and units of the map, as {shown(self.ambiguous)} is"
            raise UsageError(f"{map_name}: {problem}", remedy=_SAY_WHICH)
        raise self._neither(map_name, qrels_name)

    def _neither(self, map_name: str, qrels_name: str) -> DataError | UsageError:
        if self.neither == self.total:
            theirs, ours = (listed(map(shown, ids), EXAMPLES) for ids in (self.of_map, self.strangers))
            return DataError(
                f"{map_name}: none of the relevant ids is in the map: it has documents such as {theirs}, "
                f"{qrels_name} has {ours}",
                remedy="are the ids written the same way, and is it the right file?",
            )
        parts = [_part(self.items, "a document of the map", "documents of the map")]
        parts += [_part(self.units, "a unit of it", "units of it"), _part(self.neither, "neither", "neither")]
        example = f", such as {shown(self.strangers[0])}" if self.strangers else ""
        said = f"the {counted(self.total, 'relevant id')} in {qrels_name}"
        return UsageError(f"{map_name}: of {said}, {', '.join(parts)}{example}", remedy=_SAY_WHICH)


def _differing(ids: _Resolved, both: BoolArray, judgments: Judgments, units: UnitMap) -> bytes | None:
    """Return an id that means one thing as an item and another as a unit; None if each is the only item of itself."""
    at = np.flatnonzero(both)
    slots, numbers = ids.slots[at], ids.numbers[at]
    stands_for_itself = (np.diff(units.offsets)[slots] == 1) & (units.units[units.offsets[slots]] == numbers)
    if not stands_for_itself.all():
        return ids.texts[int(at[np.argmin(stands_for_itself)])]
    sizes = {key: np.diff(offsets) for key, (offsets, _) in units.by_unit.items()}
    for i in at.tolist():
        key = None if units.is_common else judgments.request_ids[ids.requests[i]]
        if sizes[key][ids.numbers[i]] != 1:
            return ids.texts[i]
    return None


def _part(number: int, one: str, several: str) -> str:
    return f"1 is {one}" if number == 1 else f"{number:,} are {several}"

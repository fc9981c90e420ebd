"""The map of units as it was given: which units each item stands for.

Belongs here: the map as arrays, and what is wrong with one. Not here: reading it (formats).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from lexirecall.errors import FormatError, shown
from lexirecall.judgments import IntArray, offsets_of
from lexirecall.providers import members


@dataclass(frozen=True)
class UnitMap:
    """Which units items stand for; a slot is an item, of one request if the map is for each."""

    slots: Mapping[bytes | None, Mapping[bytes, int]]
    """For each request the slots of its items; under None, those for all requests."""
    items: Sequence[bytes]
    """Of each slot."""
    names: Sequence[bytes]
    """Of the units, by their number."""
    offsets: IntArray
    units: IntArray
    """Those of slot s are units[offsets[s] : offsets[s + 1]]."""
    needs_all: Mapping[tuple[bytes | None, bytes], bool]
    """Whether a unit needs all its items, for units of which the map says so."""
    name: str = "units"
    """What messages call it."""

    @classmethod
    def of_columns(
        cls,
        items: Sequence[bytes],
        units: Sequence[bytes],
        requests: Sequence[bytes] | None = None,
        rules: Sequence[str] | None = None,
        *,
        name: str = "units",
    ) -> "UnitMap":
        """Build the map from columns; a pair that is given again changes nothing.

        >>> units = UnitMap.of_columns([b"c1", b"c2", b"c2"], [b"d", b"d", b"e"])
        >>> units.units_of(b"q", b"c2"), units.units_of(b"q", b"c3"), units.num_slots
        ([b'd', b'e'], [], 2)
        """
        if not len(items):
            raise FormatError(name, None, "the map is empty", remedy="it says which unit each document stands for")
        index: dict[bytes | None, dict[bytes, int]] = {}
        known: list[bytes] = []
        at = _slots(items, requests, index, known)
        numbers: dict[bytes, int] = {}
        codes = np.fromiter((numbers.setdefault(unit, len(numbers)) for unit in units), np.int64, len(units))
        pairs = np.unique(at * len(numbers) + codes)
        sizes = np.bincount(pairs // len(numbers), minlength=len(known))
        needs_all = _rules(units, requests, rules, name)
        made = cls(index, known, tuple(numbers), offsets_of(sizes), pairs % len(numbers), needs_all, name)
        made.check_cycles()
        return made

    @property
    def is_common(self) -> bool:
        """Whether it holds for all requests."""
        return None in self.slots

    @property
    def num_slots(self) -> int:
        """How many items it has, of all requests together."""
        return len(self.items)

    def of(self, request: bytes) -> Mapping[bytes, int]:
        """Return the slots of the items of a request."""
        return self.slots.get(None if self.is_common else request, {})

    def slots_of(self, request: bytes, items: Sequence[bytes]) -> list[int]:
        """Return the slot of each item, -1 for items outside the map."""
        return list(map(self.of(request).get, items, repeat(-1)))

    def units_of(self, request: bytes, item: bytes) -> list[bytes]:
        """Return the units that an item stands for."""
        slot = self.of(request).get(item)
        if slot is None:
            return []
        return [self.names[unit] for unit in self.units[self.offsets[slot] : self.offsets[slot + 1]].tolist()]

    @cached_property
    def numbers(self) -> Mapping[bytes, int]:
        """The number of each unit, by its name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def by_unit(self) -> Mapping[bytes | None, tuple[IntArray, IntArray]]:
        """For each request, or for all, the slots of each unit: offsets, by the number of the unit, and slots."""
        return {key: self._inverse(np.fromiter(of.values(), np.int64, len(of))) for key, of in self.slots.items()}

    def _inverse(self, slots: IntArray) -> tuple[IntArray, IntArray]:
        units = self.units[members(self.offsets, slots)]
        order = np.argsort(units, kind="stable")
        owners = np.repeat(slots, np.diff(self.offsets)[slots])
        return offsets_of(np.bincount(units, minlength=len(self.names))), owners[order]

    def check_cycles(self) -> None:
        """Raise if names go round in a circle: a stands for b, and b for a."""
        for slots in self.slots.values():
            both = [item for item in slots if item in self.numbers]
            at = np.array([slots[item] for item in both], np.int64)
            numbers = np.array([self.numbers[item] for item in both], np.int64)
            others = (np.diff(self.offsets)[at] > 1) | (self.units[self.offsets[at]] != numbers)
            left = {self.items[slot] for slot in at[others].tolist()}
            if around := _circle({item: self._ways(item, slots[item], left) for item in left}):
                problem = f"the names go round in a circle: {' is in '.join(map(shown, around))}"
                remedy = "a unit and the documents that serve it need different names"
                raise FormatError(self.name, None, problem, remedy=remedy)

    def _ways(self, item: bytes, slot: int, among: set[bytes]) -> list[bytes]:
        names = (self.names[unit] for unit in self.units[self.offsets[slot] : self.offsets[slot + 1]].tolist())
        return [name for name in names if name in among and name != item]


def _slots(
    items: Sequence[bytes],
    requests: Sequence[bytes] | None,
    index: dict[bytes | None, dict[bytes, int]],
    known: list[bytes],
) -> IntArray:
    """Return the slot of each row, and note new ones in the index and among the known items."""
    if requests is None:
        slots = index.setdefault(None, {})
        at = np.fromiter((slots.setdefault(item, len(slots)) for item in items), np.int64, len(items))
        known += slots
        return at
    rows = []
    for request, item in zip(requests, items, strict=True):
        slots = index.setdefault(request, {})
        if item not in slots:
            slots[item] = len(known)
            known.append(item)
        rows.append(slots[item])
    return np.array(rows, np.int64)


def _rules(
    units: Sequence[bytes], requests: Sequence[bytes] | None, rules: Sequence[str] | None, name: str
) -> dict[tuple[bytes | None, bytes], bool]:
    """Return which units need all their items; raise if a unit is given both rules."""
    needs_all: dict[tuple[bytes | None, bytes], bool] = {}
    keys: Sequence[bytes | None] = [None] * len(units) if requests is None else requests
    for key, unit, rule in zip(keys, units, rules or (), strict=False):
        if needs_all.setdefault((key, unit), rule == "all") != (rule == "all"):
            raise FormatError(
                name, None, f"unit {shown(unit)} is marked both any and all", remedy="give a unit one rule"
            )
    return needs_all


def _circle(ways: Mapping[bytes, Sequence[bytes]]) -> list[bytes]:
    """Return names that lead back to the first of them, nothing if there are none.

    >>> _circle({b"a": [b"b"], b"b": [b"c"], b"c": [b"b"]})
    [b'b', b'c', b'b']
    """
    done: set[bytes] = set()
    for start in sorted(ways):
        path: dict[bytes, Iterator[bytes]] = {start: iter(ways[start])} if start not in done else {}
        while path:
            here = next(reversed(path))
            there = next((each for each in path[here] if each not in done), None)
            if there is None:
                done.add(here)
                path.pop(here)
            elif there in path:
                return [*path, there][list(path).index(there) :]
            else:
                path[there] = iter(ways[there])
    return []

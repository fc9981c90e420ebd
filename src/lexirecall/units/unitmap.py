"""The map of units as it was given: which units each item stands for.

Belongs here: the map as arrays, and what is wrong with one. Not here: reading it (formats).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from lexirecall.errors import FormatError, shown
from lexirecall.judgments import BoolArray, IntArray, offsets_of
from lexirecall.providers import members


@dataclass(frozen=True, eq=False)
class UnitMap:
    """Which units items stand for; a slot is an item, of one request if the map is for each."""

    slots: Mapping[bytes | None, Mapping[bytes, int]]
    """For each request the slots of its items; under None, those for all requests."""
    items: Sequence[bytes]
    """Of each slot."""
    names: Sequence[bytes]
    """Of the units, by their number."""
    numbers: Mapping[bytes, int]
    """The number of each unit, by its name."""
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
        by_name, codes = numbered(units) if requests is not None or units != items else (index[None], at)
        names = known if by_name is index.get(None) else list(by_name)
        if len(known) == len(at):  # each item has one unit: nothing to sort
            pairs, sizes = codes, np.ones(len(at), np.int64)
        else:
            keys = np.unique(at * len(names) + codes)
            pairs, sizes = keys % len(names), np.bincount(keys // len(names), minlength=len(known))
        rule = _rules(units, requests, rules, name)
        made = cls(index, known, names, by_name, offsets_of(sizes), pairs, rule, name)
        if names is not known:  # or each item stands for itself
            made.check_cycles()
        return made

    @property
    def is_common(self) -> bool:
        """Whether it holds for all requests."""
        return None in self.slots

    @property
    def is_identity(self) -> bool:
        """Whether each item stands for itself, and only for itself, for all requests."""
        return self.names is self.items

    @property
    def num_slots(self) -> int:
        """How many items it has, of all requests together."""
        return len(self.items)

    def of(self, request: bytes) -> Mapping[bytes, int]:
        """Return the slots of the items of a request."""
        return self.slots.get(None if self.is_common else request, {})

    def slots_of(self, request: bytes, items: Sequence[bytes]) -> IntArray:
        """Return the slot of each item, -1 for items outside the map."""
        return np.fromiter(map(self.of(request).get, items, repeat(-1)), np.int64, len(items))

    def numbers_of(self, request: bytes, units: Sequence[bytes]) -> IntArray:
        """Return the number of each unit that has an item for a request, -1 for all others."""
        numbers = np.fromiter(map(self.numbers.get, units, repeat(-1)), np.int64, len(units))
        if self.is_common:
            return numbers
        if request not in self.by_unit:
            return np.full(len(units), -1)
        return np.where((numbers >= 0) & (np.diff(self.by_unit[request][0])[numbers] > 0), numbers, -1)

    def units_of(self, request: bytes, item: bytes) -> list[bytes]:
        """Return the units that an item stands for."""
        slot = self.of(request).get(item)
        if slot is None:
            return []
        return [self.names[unit] for unit in self.units[self.offsets[slot] : self.offsets[slot + 1]].tolist()]

    @cached_property
    def by_unit(self) -> Mapping[bytes | None, tuple[IntArray, IntArray]]:
        """For each request, or for all, the slots of each unit: offsets, by the number of the unit, and slots."""
        return {key: self._inverse(np.fromiter(of.values(), np.int64, len(of))) for key, of in self.slots.items()}

    def _inverse(self, slots: IntArray) -> tuple[IntArray, IntArray]:
        units = self.units[members(self.offsets, slots)]
        order = np.argsort(units, kind="stable")
        owners = np.repeat(slots, np.diff(self.offsets)[slots])
        return offsets_of(np.bincount(units, minlength=len(self.names))), owners[order]

    @property
    def owners(self) -> IntArray:
        """Of each slot, the number of its request, as they follow each other in `slots`; 0 if it is for all."""
        owners = np.zeros(self.num_slots, np.int64)
        for number, slots in enumerate(() if self.is_common else self.slots.values()):
            owners[np.fromiter(slots.values(), np.int64, len(slots))] = number
        return owners

    @property
    def shares(self) -> BoolArray:
        """Of each slot, whether another item stands for one of its units; if none does, it always brings a unit.

        >>> UnitMap.of_columns([b"a", b"b", b"b", b"c"], [b"U", b"U", b"V", b"W"]).shares.tolist()
        [True, True, False]
        """
        sizes = np.diff(self.offsets)
        if self.is_common:
            is_shared = np.bincount(self.units, minlength=len(self.names))[self.units] > 1
        else:
            keys = np.repeat(self.owners, sizes) * len(self.names) + self.units
            _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
            is_shared = counts[which] > 1
        return np.asarray(np.bincount(np.repeat(np.arange(len(sizes)), sizes), is_shared, len(sizes)) > 0)

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
        index[None], at = numbered(items)
        known += index[None]
        return at
    rows = []
    for request, item in zip(requests, items, strict=True):
        slots = index.setdefault(request, {})
        if item not in slots:
            slots[item] = len(known)
            known.append(item)
        rows.append(slots[item])
    return np.array(rows, np.int64)


def numbered(texts: Sequence[bytes]) -> tuple[dict[bytes, int], IntArray]:
    """Give the different texts numbers, in the order in which they appear; return also the number of each text.

    >>> index, numbers = numbered([b"b", b"a", b"b"])
    >>> index, numbers.tolist()
    ({b'b': 0, b'a': 1}, [0, 1, 0])
    """
    index = dict(zip(texts, range(len(texts)), strict=True))
    if len(index) == len(texts):
        return index, np.arange(len(texts))
    index = dict(zip(index, range(len(index)), strict=True))
    return index, np.fromiter(map(index.__getitem__, texts), np.int64, len(texts))


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

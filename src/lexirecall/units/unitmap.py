"""The map of units as it was given: which units each document stands for.

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
    """Which units documents stand for; a slot is a document, of one query if the map is for each."""

    slots: Mapping[bytes | None, Mapping[bytes, int]]
    """For each query the slots of its documents; under None, those for all queries."""
    documents: Sequence[bytes]
    """Of each slot."""
    names: Sequence[bytes]
    """Of the units, by their number."""
    numbers: Mapping[bytes, int]
    """The number of each unit, by its name."""
    offsets: IntArray
    units: IntArray
    """Those of slot s are units[offsets[s] : offsets[s + 1]]."""
    needs_all: Mapping[tuple[bytes | None, bytes], bool]
    """Whether a unit needs all its documents, for units of which the map says so."""
    name: str = "units"
    """What messages call it."""

    @classmethod
    def of_columns(
        cls,
        documents: Sequence[bytes],
        units: Sequence[bytes],
        queries: Sequence[bytes] | None = None,
        rules: Sequence[str] | None = None,
        *,
        name: str = "units",
    ) -> "UnitMap":
        """Build the map from columns; a pair that is given again changes nothing.

        >>> units = UnitMap.of_columns([b"c1", b"c2", b"c2"], [b"d", b"d", b"e"])
        >>> units.units_of(b"q", b"c2"), units.units_of(b"q", b"c3"), units.num_slots
        ([b'd', b'e'], [], 2)
        """
        if not len(documents):
            raise FormatError(name, None, "the map is empty", remedy="it says which unit each document stands for")
        index: dict[bytes | None, dict[bytes, int]] = {}
        known: list[bytes] = []
        at = _slots(documents, queries, index, known)
        by_name, codes = numbered(units) if queries is not None or units != documents else (index[None], at)
        names = known if by_name is index.get(None) else list(by_name)
        if len(known) == len(at):  # each document has one unit: nothing to sort
            pairs, sizes = codes, np.ones(len(at), np.int64)
        else:
            keys = np.unique(at * len(names) + codes)
            pairs, sizes = keys % len(names), np.bincount(keys // len(names), minlength=len(known))
        rule = _rules(units, queries, rules, name)
        unit_map = cls(
            slots=index, documents=known, names=names, numbers=by_name, offsets=offsets_of(sizes), units=pairs,
            needs_all=rule, name=name,
        )  # fmt: skip
        if names is not known:  # or each document stands for itself
            unit_map.check_cycles()
        return unit_map

    @property
    def is_common(self) -> bool:
        """Whether it holds for all queries."""
        return None in self.slots

    @property
    def is_identity(self) -> bool:
        """Whether each document stands for itself, and only for itself, for all queries."""
        return self.names is self.documents

    @property
    def num_bytes(self) -> int:
        """How large it is, about: its ids, and 16 bytes for each of its pairs and documents."""
        return sum(map(len, self.documents)) + sum(map(len, self.names)) + 16 * (len(self.units) + len(self.documents))

    @property
    def num_slots(self) -> int:
        """How many documents it has, of all queries together."""
        return len(self.documents)

    def of(self, query: bytes) -> Mapping[bytes, int]:
        """Return the slots of the documents of a query."""
        return self.slots.get(None if self.is_common else query, {})

    def slots_of(self, query: bytes, documents: Sequence[bytes]) -> IntArray:
        """Return the slot of each document, -1 for documents outside the map."""
        return np.fromiter(map(self.of(query).get, documents, repeat(-1)), np.int64, len(documents))

    def numbers_of(self, query: bytes, units: Sequence[bytes]) -> IntArray:
        """Return the number of each unit that has a document for a query, -1 for all others."""
        numbers = np.fromiter(map(self.numbers.get, units, repeat(-1)), np.int64, len(units))
        if self.is_common:
            return numbers
        if query not in self.by_unit:
            return np.full(len(units), -1)
        return np.where((numbers >= 0) & (np.diff(self.by_unit[query][0])[numbers] > 0), numbers, -1)

    def units_of(self, query: bytes, document: bytes) -> list[bytes]:
        """Return the units that a document stands for."""
        slot = self.of(query).get(document)
        if slot is None:
            return []
        return [self.names[unit] for unit in self.units[self.offsets[slot] : self.offsets[slot + 1]].tolist()]

    @cached_property
    def by_unit(self) -> Mapping[bytes | None, tuple[IntArray, IntArray]]:
        """For each query, or for all, the slots of each unit: offsets, by the number of the unit, and slots."""
        return {key: self._inverse(np.fromiter(of.values(), np.int64, len(of))) for key, of in self.slots.items()}

    def _inverse(self, slots: IntArray) -> tuple[IntArray, IntArray]:
        units = self.units[members(self.offsets, slots)]
        order = np.argsort(units, kind="stable")
        owners = np.repeat(slots, np.diff(self.offsets)[slots])
        return offsets_of(np.bincount(units, minlength=len(self.names))), owners[order]

    @property
    def owners(self) -> IntArray:
        """Of each slot, the number of its query, as they follow each other in `slots`; 0 if it is for all."""
        owners = np.zeros(self.num_slots, np.int64)
        for number, slots in enumerate(() if self.is_common else self.slots.values()):
            owners[np.fromiter(slots.values(), np.int64, len(slots))] = number
        return owners

    @property
    def shares(self) -> BoolArray:
        """Of each slot, whether another document stands for one of its units; if none does, it always brings a unit.

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
            both = [document for document in slots if document in self.numbers]
            at = np.array([slots[document] for document in both], np.int64)
            numbers = np.array([self.numbers[document] for document in both], np.int64)
            others = (np.diff(self.offsets)[at] > 1) | (self.units[self.offsets[at]] != numbers)
            left = {self.documents[slot] for slot in at[others].tolist()}
            if around := _circle({document: self._ways(document, slots[document], left) for document in left}):
                problem = f"the names go round in a circle: {' is in '.join(map(shown, around))}"
                remedy = "a unit and the documents that serve it need different names"
                raise FormatError(self.name, None, problem, remedy=remedy)

    def _ways(self, document: bytes, slot: int, among: set[bytes]) -> list[bytes]:
        names = (self.names[unit] for unit in self.units[self.offsets[slot] : self.offsets[slot + 1]].tolist())
        return [name for name in names if name in among and name != document]


def _slots(
    documents: Sequence[bytes],
    queries: Sequence[bytes] | None,
    index: dict[bytes | None, dict[bytes, int]],
    known: list[bytes],
) -> IntArray:
    """Return the slot of each row, and note new ones in the index and among the known documents."""
    if queries is None:
        index[None], at = numbered(documents)
        known += index[None]
        return at
    rows = []
    for query, document in zip(queries, documents, strict=True):
        slots = index.setdefault(query, {})
        if document not in slots:
            slots[document] = len(known)
            known.append(document)
        rows.append(slots[document])
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
    units: Sequence[bytes], queries: Sequence[bytes] | None, rules: Sequence[str] | None, name: str
) -> dict[tuple[bytes | None, bytes], bool]:
    """Return which units need all their documents; raise if a unit is given both rules."""
    needs_all: dict[tuple[bytes | None, bytes], bool] = {}
    keys: Sequence[bytes | None] = [None] * len(units) if queries is None else queries
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
            there = next((name for name in path[here] if name not in done), None)
            if there is None:
                done.add(here)
                path.pop(here)
            elif there in path:
                return [*path, there][list(path).index(there) :]
            else:
                path[there] = iter(ways[there])
    return []

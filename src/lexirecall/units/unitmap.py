"""The map of units as it was given: which units each item stands for.

Belongs here: the map, and what is wrong with one. Not here: reading it (formats).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lexirecall.errors import FormatError, shown

MapRow = tuple[bytes | None, bytes, bytes, str]
"""A request, or None for all; an item; a unit that it stands for; the rule of the unit, any or all, or nothing."""
UnitsOfItems = Mapping[bytes, tuple[bytes, ...]]
"""The units of each item."""


@dataclass(frozen=True, slots=True)
class UnitMap:
    """Which units items stand for, as it was given."""

    tables: Mapping[bytes | None, UnitsOfItems]
    """For each request; under None, for all of them."""
    needs_all: Mapping[tuple[bytes | None, bytes], bool]
    """Whether a unit needs all its items, for units of which the map says so."""
    name: str = "units"
    """What messages call it."""
    _inverse: dict[bytes | None, dict[bytes, list[bytes]]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_rows(cls, rows: Iterable[MapRow], name: str = "units") -> "UnitMap":
        """Build the map; a pair that is given again changes nothing.

        >>> units = UnitMap.of_rows([(None, b"c1", b"d", ""), (None, b"c2", b"d", ""), (None, b"c2", b"e", "all")])
        >>> units.of(b"q")[b"c2"], units.items_of(b"q")[b"d"]
        ((b'd', b'e'), [b'c1', b'c2'])
        """
        tables: dict[bytes | None, dict[bytes, tuple[bytes, ...]]] = {}
        needs_all: dict[tuple[bytes | None, bytes], bool] = {}
        for request, item, unit, rule in rows:
            table = tables.setdefault(request, {})
            known = table.get(item)
            if known is None:
                table[item] = (unit,)
            elif unit not in known:
                table[item] = (*known, unit)
            if rule and needs_all.setdefault((request, unit), rule == "all") != (rule == "all"):
                raise FormatError(
                    name, None, f"unit {shown(unit)} is marked both any and all", remedy="give a unit one rule"
                )
        if not tables:
            raise FormatError(name, None, "the map is empty", remedy="it says which unit each document stands for")
        for table in tables.values():
            _check_cycles(table, name)
        return cls(tables, needs_all, name)

    @property
    def is_common(self) -> bool:
        """Whether it holds for all requests."""
        return None in self.tables

    def key(self, request: bytes) -> bytes | None:
        """Return under which key the table of a request is."""
        return None if self.is_common else request

    def of(self, request: bytes) -> UnitsOfItems:
        """Return the units of each item, for a request."""
        return self.tables.get(self.key(request), {})

    def items_of(self, request: bytes) -> Mapping[bytes, Sequence[bytes]]:
        """Return the items of each unit, for a request."""
        if (key := self.key(request)) not in self._inverse:
            inverse: dict[bytes, list[bytes]] = {}
            for item, units in self.of(request).items():
                for unit in units:
                    inverse.setdefault(unit, []).append(item)
            self._inverse[key] = inverse
        return self._inverse[key]


def _check_cycles(table: UnitsOfItems, name: str) -> None:
    """Raise if names go round in a circle: a stands for b, and b for a."""
    units = {unit for names in table.values() for unit in names}
    left = {item: [unit for unit in table[item] if unit != item and unit in table] for item in table if item in units}
    done: set[bytes] = set()
    for start, ways in left.items():
        path: dict[bytes, Iterator[bytes]] = {start: iter(ways)} if start not in done else {}
        while path:
            here = next(reversed(path))
            if (there := next((each for each in path[here] if each not in done), None)) is None:
                done.add(here)
                path.pop(here)
            elif there in path:
                around = [*path, there][list(path).index(there) :]
                raise FormatError(
                    name,
                    None,
                    f"the names go round in a circle: {' is in '.join(map(shown, around))}",
                    remedy="a unit and the documents that serve it need different names",
                )
            else:
                path[there] = iter(left.get(there, ()))

"""Judged: whether judgments name items or units, and the judgments of items that follow.

Belongs here: the step from judgments and a map to the items that readers look for and the units that these serve.

It is decided over the relevant ids. If all of them are items of the map, items are judged; if all are units, units are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.units import EXAMPLES, ByUnit, Units
from lexirecall.units.unitmap import UnitMap

SUBTOPICS = "@subtopics"
"""Given in place of a map: the units are in the judgments, as the subtopics of TREC's diversity tasks are."""
_SAY_WHICH = "say which they are: --judged items or --judged units, or judged= in Python"
_Serving = dict[bytes, dict[bytes, dict[bytes, float]]]


def units_of_judgments(judgments: Judgments, units: UnitMap, conventions: Conventions) -> tuple[Judgments, Units]:
    """Return the judgments of items, which readers look for, and the units that these serve.

    >>> units = UnitMap.of_rows([(None, b"c1", b"d", ""), (None, b"c2", b"d", "")])
    >>> items, found = units_of_judgments(Judgments.from_grades({b"q": {b"d": 1}}), units, Conventions())
    >>> list(items.items), list(found.judgments.items)
    ([b'c1', b'c2'], [b'd'])
    """
    stands_for_itself = conventions.unmapped == "itself"
    judged = conventions.judged or IdCounts.of(judgments, units).judged(
        units.name, judgments.name, stands_for_itself=stands_for_itself
    )
    if judged == "items":
        items, served = judgments, _of_judged_items(judgments, units, stands_for_itself=stands_for_itself)
    else:
        items, served = _of_judged_units(judgments, units, stands_for_itself=stands_for_itself)
    by_default = conventions.unit_rule == "all"
    needs_all = (
        (request, unit)
        for request, by_unit in served.items()
        for unit in by_unit
        if units.needs_all.get((units.key(request), unit), by_default)
    )
    return items, Units.of(served, items, needs_all, name=units.name, judged=judged)


def _of_judged_items(judgments: Judgments, units: UnitMap, *, stands_for_itself: bool) -> _Serving:
    served: _Serving = {}
    for q, request in enumerate(judgments.request_ids):
        table, by_unit = units.of(request), served.setdefault(request, {})
        for item, index in judgments.lookup(q).items():
            for unit in table.get(item, (item,) if stands_for_itself else ()):
                by_unit.setdefault(unit, {})[item] = float(judgments.grades[index])
    return served


def _of_judged_units(judgments: Judgments, units: UnitMap, *, stands_for_itself: bool) -> tuple[Judgments, _Serving]:
    """Return the items of the judged units, each with the highest grade of its units, and whom they serve."""
    served: _Serving = {}
    without: list[tuple[bytes, bytes]] = []
    for q, request in enumerate(judgments.request_ids):
        items_of, by_unit = units.items_of(request), served.setdefault(request, {})
        for unit, index in judgments.lookup(q).items():
            grade = float(judgments.grades[index])
            if items := items_of.get(unit, (unit,) if stands_for_itself else ()):
                by_unit[unit] = dict.fromkeys(items, grade)
            elif grade > 0:
                without.append((request, unit))
    if without:
        raise without_items(units.name, without, len(without))
    return replace(_items_of(served, judgments), request_type=judgments.request_type), served


def _items_of(served: ByUnit, judgments: Judgments) -> Judgments:
    grades: dict[bytes, dict[bytes, float]] = {}
    for request, by_unit in served.items():
        best = grades.setdefault(request, {})
        for by_item in by_unit.values():
            for item, grade in by_item.items():
                best[item] = max(grade, best.get(item, grade))
    made = Judgments.from_grades(grades, name=judgments.name, num_repeated=judgments.num_repeated)
    return replace(made, has_grades=judgments.has_grades)


@dataclass(frozen=True, slots=True)
class Subtopics:
    """Judgments of pairs of unit and item."""

    graded: ByUnit
    request_type: str = "text"


def units_of_subtopics(given: Subtopics, name: str, conventions: Conventions) -> tuple[Judgments, Units, UnitMap]:
    """Return the judgments of items, their units and the map of both, from judgments of pairs of unit and item.

    >>> given = Subtopics({b"q": {b"1": {b"a": 1, b"b": 0}, b"2": {b"b": 1}}})
    >>> items, units, unit_map = units_of_subtopics(given, "qrels", Conventions())
    >>> items.lookup(0), units.judgments.grades.tolist(), units.grades.tolist(), unit_map.of(b"q")
    ({b'a': 0, b'b': 1}, [1.0, 1.0], [1.0, 0.0, 1.0], {b'a': (b'1',), b'b': (b'2',)})
    """
    empty = Judgments.from_grades({}, name=name)
    items = replace(_items_of(given.graded, empty), request_type=given.request_type)
    pairs = [
        (request, unit, item, grade)
        for request, by_unit in given.graded.items()
        for unit, by_item in by_unit.items()
        for item, grade in by_item.items()
    ]
    unit_map = UnitMap.of_rows(((request, item, unit, "") for request, unit, item, grade in pairs if grade > 0), name)
    needs_all = {(request, unit) for request, unit, *_ in pairs} if conventions.unit_rule == "all" else ()
    return items, Units.of(given.graded, items, needs_all, name=SUBTOPICS), unit_map


def without_items(name: str, without: Sequence[tuple[str, str] | tuple[bytes, bytes]], total: int) -> DataError:
    """Return the error about relevant units, of which some are given as request and unit, that no item serves."""
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
    """One that is both, and not just a unit that is its only item."""
    strangers: Sequence[str | bytes]
    """The first that are neither."""
    of_map: Sequence[str | bytes]
    """The first items of the map."""

    @classmethod
    def of(cls, judgments: Judgments, units: UnitMap) -> "IdCounts":
        """Count the relevant ids."""
        ambiguous, strangers, total, num_items, num_units = [], [], 0, 0, 0
        for q, request in enumerate(judgments.request_ids):
            table, items_of = units.of(request), units.items_of(request)
            for each, index in judgments.lookup(q).items():
                if not judgments.grades[index] > 0:
                    continue
                is_item, is_unit = each in table, each in items_of
                total, num_items, num_units = total + 1, num_items + is_item, num_units + is_unit
                if is_item and is_unit and not (table[each] == (each,) and list(items_of[each]) == [each]):
                    ambiguous.append(each)
                if not is_item and not is_unit:
                    strangers.append(each)
        of_map = [*islice(next(iter(units.tables.values())), EXAMPLES)]
        one = ambiguous[0] if ambiguous else None
        return cls(total, num_items, num_units, len(strangers), one, strangers[:EXAMPLES], of_map)

    def judged(self, map_name: str, qrels_name: str, *, stands_for_itself: bool) -> str:
        """Return whether the relevant ids are items or units; raise if that cannot be told.

        >>> IdCounts(3, 0, 3, 0, None, (), ()).judged("units", "qrels", stands_for_itself=False)
        'units'
        """
        known = self.total - self.neither if stands_for_itself else self.total
        fits = [name for name, number in (("items", self.items), ("units", self.units)) if number == known]
        if len(fits) == 1 or (fits and self.ambiguous is None):
            return fits[0]
        if fits and self.ambiguous is not None:
            raise UsageError(
                f"{map_name}: the judged ids are both documents and units of the map, as {shown(self.ambiguous)} is",
                remedy=_SAY_WHICH,
            )
        raise self._neither(map_name, qrels_name)

    def _neither(self, map_name: str, qrels_name: str) -> DataError | UsageError:
        theirs, ours = (listed(map(shown, ids), EXAMPLES) for ids in (self.of_map, self.strangers))
        if self.neither == self.total:
            return DataError(
                f"{map_name}: none of the relevant ids is in the map: it has documents such as {theirs}, "
                f"{qrels_name} has {ours}",
                remedy="are the ids written the same way, and is it the right file?",
            )
        rest = f", {self.neither:,} are neither, such as {shown(self.strangers[0])}" if self.strangers else ""
        return UsageError(
            f"{map_name}: of {counted(self.total, 'relevant id')}, {self.items:,} are documents of the map and "
            f"{self.units:,} are units of it{rest}",
            remedy=_SAY_WHICH,
        )

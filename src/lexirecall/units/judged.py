"""Judged: whether judgments name items or units, and the judgments of items that follow.

Belongs here: the step from judgments and a map to the items that readers look for and the units that these serve.

It is decided over the relevant ids. If all of them are items of the map, items are judged; if all are units, units are.
"""

from collections.abc import Mapping, Sequence
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
    judged = conventions.judged or _judged_as(judgments, units, stands_for_itself=stands_for_itself)
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
        raise _without_items(units.name, without)
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


def _without_items(name: str, without: Sequence[tuple[bytes, bytes]]) -> DataError:
    which = listed((f"{shown(unit)} of query {shown(request)}" for request, unit in without), EXAMPLES)
    return DataError(
        f"{name}: {counted(len(without), 'relevant unit')} without a document, so it could never be found: {which}",
        remedy="add the documents to the map, or remove the judgments; --unmapped itself takes the ids for documents",
    )


def _judged_as(judgments: Judgments, units: UnitMap, *, stands_for_itself: bool) -> str:
    """Return whether the relevant ids are items or units of the map; raise if that cannot be told."""
    num = {"items": 0, "units": 0, "neither": 0}
    total, ambiguous, strangers = 0, [], []
    for q, request in enumerate(judgments.request_ids):
        table, items_of = units.of(request), units.items_of(request)
        for each, index in judgments.lookup(q).items():
            if not judgments.grades[index] > 0:
                continue
            is_item, is_unit = each in table, each in items_of
            total += 1
            num["items"] += is_item
            num["units"] += is_unit
            if is_item and is_unit and not (table[each] == (each,) and list(items_of[each]) == [each]):
                ambiguous.append(each)
            if not is_item and not is_unit:
                strangers.append(each)
    known = total - len(strangers) if stands_for_itself else total
    fits = [reading for reading in ("items", "units") if num[reading] == known]
    if len(fits) == 1 or (fits and not ambiguous):
        return fits[0]
    if fits:
        raise UsageError(
            f"{units.name}: the judged ids are both documents and units of the map, as {shown(ambiguous[0])} is",
            remedy=_SAY_WHICH,
        )
    raise _neither(judgments, units, total, num, strangers)


def _neither(
    judgments: Judgments, units: UnitMap, total: int, num: Mapping[str, int], strangers: Sequence[bytes]
) -> DataError | UsageError:
    if len(strangers) == total:
        theirs = listed(map(shown, islice(next(iter(units.tables.values())), EXAMPLES)), EXAMPLES)
        ours = listed(map(shown, strangers[:EXAMPLES]), EXAMPLES)
        return DataError(
            f"{units.name}: none of the relevant ids is in the map: it has documents such as {theirs}, "
            f"{judgments.name} has {ours}",
            remedy="are the ids written the same way, and is it the right file?",
        )
    rest = f", {len(strangers):,} are neither, such as {shown(strangers[0])}" if strangers else ""
    return UsageError(
        f"{units.name}: of {counted(total, 'relevant id')}, {num['items']:,} are documents of the map and "
        f"{num['units']:,} are units of it{rest}",
        remedy=_SAY_WHICH,
    )

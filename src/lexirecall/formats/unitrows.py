"""Unit rows: maps of units, and judgments of pairs of unit and item, in text, mappings and tables.

Belongs here: what their lines, keys and rows mean. Not here: what becomes of a map (units).

    map of units  [request]  item  unit  [any|all]              subtopics  request  unit  item  grade

Of three fields the first is the request, unless the third is `any` or `all` on every line.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from lexirecall.errors import FormatError, plain, shown
from lexirecall.formats.frames import RoleTable
from lexirecall.formats.idtypes import type_of_column, type_of_keys
from lexirecall.formats.memory import QRELS_SHAPE, SUBTOPICS_SHAPE, UNITS_SHAPE, grade_of, id_in
from lexirecall.formats.source import Source
from lexirecall.formats.trec import damage_first, grade_in, lines, wrong_fields
from lexirecall.units.judged import Subtopics
from lexirecall.units.unitmap import MapRow, UnitMap

_RULES = ("any", "all")
_FORMS = "document unit, query document unit, or either of them with any or all at the end"


def read_units(source: Source) -> UnitMap:
    """Read a map of units."""
    with damage_first(source):
        numbered = list(lines(source))
        width = len(numbered[0][1])
        for number, fields in numbered:
            if not 2 <= len(fields) <= 4 or len(fields) != width:
                wanted = width if 2 <= width <= 4 else 2
                raise wrong_fields(source, number, "unit", wanted, _FORMS, fields, "")
        has_rule = width == 4 or (width == 3 and all(fields[2] in (b"any", b"all") for _, fields in numbered))
        has_request = width - has_rule == 3
        return UnitMap.of_rows(_rows(source, numbered, has_request=has_request, has_rule=has_rule), source.name)


def _rows(
    source: Source, numbered: Iterable[tuple[int, list[bytes]]], *, has_request: bool, has_rule: bool
) -> Iterator[MapRow]:
    for number, fields in numbered:
        request = fields[0] if has_request else None
        item, unit = fields[has_request : has_request + 2]
        rule = fields[-1].decode(errors="replace") if has_rule else ""
        if has_rule and rule not in _RULES:
            problem = f"the rule of a unit is {shown(rule)}, but must be any or all"
            raise FormatError(source.name, number, problem, remedy=f"lines are {_FORMS}")
        yield request, item, unit, rule


def units_from_mapping(content: Mapping[Any, Any], name: str) -> UnitMap:
    """Take a map from {item: unit}, {item: [unit, …]}, or one of these for each request.

    >>> units_from_mapping({"q": {"c1": "d1", 2: ["d1", "d2"]}}, "units").of(b"q")
    {b'c1': (b'd1',), b'2': (b'd1', b'd2')}
    """
    are_tables = {isinstance(value, Mapping) for value in content.values()}
    if len(are_tables) > 1:
        raise FormatError(name, None, "some values are mappings and some are not", remedy=UNITS_SHAPE)
    if are_tables == {True}:
        rows = (row for key, table in content.items() for row in _rows_of_table(table, id_in(key, name), name))
        return UnitMap.of_rows(rows, name)
    return UnitMap.of_rows(_rows_of_table(content, None, name), name)


def _rows_of_table(table: Mapping[Any, Any], request: bytes | None, name: str) -> Iterator[MapRow]:
    for item, units in table.items():
        is_single = isinstance(units, (str, bytes)) or not isinstance(units, Iterable)
        if isinstance(units, Mapping):
            raise FormatError(name, None, f"the units of document {item!r} are a mapping", remedy=UNITS_SHAPE)
        for unit in (units,) if is_single else units:
            if unit is None or not id_in(unit, name).strip():
                problem = f"document {item!r}: {shown(repr(unit))} is not the name of a unit"
                raise FormatError(name, None, problem, remedy="leave out documents that stand for no unit")
            yield request, id_in(item, name), id_in(unit, name), ""


def units_from_table(table: RoleTable) -> UnitMap:
    """Take a map from rows of item and unit, and of request and rule if there are such columns."""
    columns = table.columns
    item, unit = _texts(table, "item"), _texts(table, "unit")
    request: Iterable[bytes | None] = _texts(table, "request") if columns.request else [None] * len(item)
    rules = [text.decode() for text in _texts(table, "rule")] if columns.rule else [""] * len(item)
    for row, rule in enumerate(rules):
        if columns.rule and rule not in _RULES:
            problem = f"the rule of a unit is {shown(rule)}, but must be any or all"
            raise table.error(row, problem, remedy="name another column, as in --columns units.rule=...")
    return UnitMap.of_rows(zip(request, item, unit, rules, strict=True), table.name)


def _texts(table: RoleTable, role: str) -> list[bytes]:
    ids = table.ids(role)
    texts = [text.encode() for text in ids.texts()]
    return [texts[code] for code in ids.codes.tolist()]


Graded = dict[bytes, dict[bytes, dict[bytes, float]]]
"""{request: {unit: {item: grade}}}"""


def read_subtopics(source: Source) -> Subtopics:
    """Read judgments in which the second column names the unit."""
    with damage_first(source):
        graded: Graded = {}
        for number, fields in lines(source):
            if len(fields) != 4:
                raise wrong_fields(source, number, "qrels", 4, "query subtopic document grade", fields, "")
            request, unit, item, text = fields
            grade = grade_in(text, source, number)
            if graded.setdefault(request, {}).setdefault(unit, {}).setdefault(item, grade) != grade:
                first = plain(graded[request][unit][item])
                raise FormatError(source.name, number, _judged_twice(request, unit, item, first, grade), remedy=_KEEP)
        return Subtopics(graded)


_KEEP = "keep one of the two"


def _judged_twice(request: bytes, unit: bytes, item: bytes, first: str, second: float) -> str:
    what = f"document {shown(item)} of query {shown(request)}, subtopic {shown(unit)},"
    return f"{what} has grade {plain(second)} here and {first} before"


def subtopics_from_mapping(content: Mapping[Any, Any], name: str) -> Subtopics:
    """Take judgments from {request: {unit: {item: grade}}}."""
    graded: Graded = {}
    for request, by_unit in content.items():
        for unit, by_item in _mapping(by_unit, request, name).items():
            of_unit = graded.setdefault(id_in(request, name), {}).setdefault(id_in(unit, name), {})
            for item, grade in _mapping(by_item, request, name).items():
                of_unit[id_in(item, name)] = grade_of(grade, request, item, name)
    if not graded:
        raise FormatError(name, None, "the judgments are empty", remedy=SUBTOPICS_SHAPE)
    return Subtopics(graded, type_of_keys(content))


def _mapping(value: Any, request: Any, name: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        problem = f"query {request!r}: {shown(repr(value))} is not a mapping"
        raise FormatError(name, None, problem, remedy=f"{SUBTOPICS_SHAPE}; without @subtopics {QRELS_SHAPE}")
    return value


def subtopics_from_table(table: RoleTable) -> Subtopics:
    """Take judgments from rows of request, unit, item and grade."""
    grades = np.ones(len(table.frame)) if table.columns.grade is None else table.numbers("grade")
    if not np.isfinite(grades).all():
        row = int(np.argmin(np.isfinite(grades)))
        raise table.error(row, f"the grade is not finite: {grades[row]}", remedy="write a plain number")
    graded: Graded = {}
    columns = (_texts(table, role) for role in ("request", "unit", "item"))
    for row, (request, unit, item, grade) in enumerate(zip(*columns, grades.tolist(), strict=True)):
        if graded.setdefault(request, {}).setdefault(unit, {}).setdefault(item, grade) != grade:
            first = plain(graded[request][unit][item])
            raise table.error(row, _judged_twice(request, unit, item, first, grade), remedy=_KEEP)
    return Subtopics(graded, type_of_column(table.present("request")))

"""Unit rows: maps of units, and judgments of pairs of unit and document, in text, mappings and tables.

Belongs here: what their lines, keys and rows mean. Not here: what becomes of a map (units).

    map of units  [query]  document  unit  [any|all]              subtopics  query  unit  document  grade

Of three fields the first is the query, unless the third is `any` or `all` on every line.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from lexirecall.errors import FormatError, is_several, plain, shown
from lexirecall.formats.idtypes import type_of_column, type_of_keys
from lexirecall.formats.labels import grades_of_rows
from lexirecall.formats.lines import LONE_RETURN
from lexirecall.formats.memory import QRELS_SHAPE, SUBTOPICS_SHAPE, UNITS_SHAPE, grade_of, id_in
from lexirecall.formats.roletable import RoleTable
from lexirecall.formats.source import BYTE_ORDER_MARK, Source
from lexirecall.formats.trec import damage_first, grade_in, lines, wrong_fields
from lexirecall.units.judged import Subtopics
from lexirecall.units.unitmap import UnitMap

_RULES = ("any", "all")
_ARE_BLANK = bytes(byte in b" \t\r\n\v\f" for byte in range(256))
_FORMS = "document unit, query document unit, or either of them with any or all at the end"


def read_units(source: Source) -> UnitMap:
    """Read a map of units."""
    with damage_first(source):
        columns = _columns(source)
        has_rule = len(columns) == 4 or (len(columns) == 3 and {*columns[2]} <= {b"any", b"all"})
        rules = [rule.decode(errors="replace") for rule in columns.pop()] if has_rule else None
        if rules and (wrong := next((row for row, rule in enumerate(rules) if rule not in _RULES), None)) is not None:
            number = next(islice((number for number, _ in lines(source)), wrong, None))
            raise FormatError(source.name, number, _not_a_rule(rules[wrong]), remedy=f"lines are {_FORMS}")
        queries = columns.pop(0) if len(columns) == 3 else None
        documents, units = columns
        return UnitMap.of_columns(documents, units, queries, rules, name=source.name)


def _columns(source: Source) -> list[list[bytes]]:
    """Return the fields of all lines by column; each line has the same number. The quick way first."""
    text = source.read_whole()
    is_plain = b"#" not in text and b"\0" not in text and not LONE_RETURN.search(text)
    if is_plain and not text.startswith(BYTE_ORDER_MARK):
        widths = _widths(text)
        if len(widths) == 1 and 2 <= (width := widths[0]) <= 4:
            words = text.split()
            return [words[column::width] for column in range(width)]
    read = list(lines(source))
    width = len(read[0][1])
    for number, fields in read:
        if not 2 <= len(fields) <= 4 or len(fields) != width:
            raise wrong_fields(source, number, "unit", width if 2 <= width <= 4 else 2, _FORMS, fields, "")
    return [list(column) for column in zip(*(fields for _, fields in read), strict=True)]


def _widths(text: bytes) -> list[int]:
    r"""Return the different numbers of fields that lines have, blank lines left out.

    >>> _widths(b"a b\n\n c d e\r\nf\tg")
    [2, 3]
    """
    text += b"\n"
    is_blank = np.frombuffer(text.translate(_ARE_BLANK), bool)
    ends = np.flatnonzero(is_blank[1:] > is_blank[:-1]) + 1  # of fields
    newlines = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    counts = np.diff(np.searchsorted(ends, newlines, side="right"), prepend=0)
    widths: list[int] = np.flatnonzero(np.bincount(counts)).tolist()
    return [width for width in widths if width]


def _not_a_rule(rule: str) -> str:
    return f"the rule of a unit is {shown(rule)}, but must be any or all"


def units_from_mapping(content: Mapping[Any, Any], name: str) -> UnitMap:
    """Take a map from {document: unit}, {document: [unit, …]}, or one of these for each query.

    >>> units_from_mapping({"q": {"c1": "d1", 2: ["d1", "d2"]}}, "units").units_of(b"q", b"2")
    [b'd1', b'd2']
    """
    are_tables = {isinstance(value, Mapping) for value in content.values()}
    if len(are_tables) > 1:
        raise FormatError(name, None, "some values are mappings and some are not", remedy=UNITS_SHAPE)
    if are_tables == {True}:
        rows = [(id_in(key, name), *pair) for key, table in content.items() for pair in _pairs_in(table, name)]
        queries, documents, units = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
        return UnitMap.of_columns(documents, units, queries, name=name)
    pairs = list(_pairs_in(content, name))
    documents, units = (list(column) for column in zip(*pairs, strict=True)) if pairs else ([], [])
    return UnitMap.of_columns(documents, units, name=name)


def _pairs_in(table: Mapping[Any, Any], name: str) -> Iterator[tuple[bytes, bytes]]:
    for document, units in table.items():
        if isinstance(units, Mapping):
            raise FormatError(name, None, f"the units of document {document!r} are a mapping", remedy=UNITS_SHAPE)
        for unit in units if is_several(units) else (units,):
            if unit is None or not id_in(unit, name).strip():
                problem = f"document {document!r}: {shown(repr(unit))} is not the name of a unit"
                raise FormatError(name, None, problem, remedy="leave out documents that stand for no unit")
            yield id_in(document, name), id_in(unit, name)


def units_from_table(table: RoleTable) -> UnitMap:
    """Take a map from rows of document and unit, and of query and rule if there are such columns."""
    queries = _texts(table, "query") if table.columns.query else None
    rules = [text.decode() for text in _texts(table, "rule")] if table.columns.rule else None
    for row, rule in enumerate(rules or ()):
        if rule not in _RULES:
            remedy = "name another column, as in --columns units.rule=..."
            raise table.error(row, _not_a_rule(rule), remedy=remedy)
    return UnitMap.of_columns(_texts(table, "document"), _texts(table, "unit"), queries, rules, name=table.name)


def _texts(table: RoleTable, role: str) -> list[bytes]:
    ids = table.ids(role)
    texts = [text.encode() for text in ids.texts()]
    return [texts[code] for code in ids.codes.tolist()]


class _PairJudgments:
    """Judgments of pairs of unit and document, one by one; a pair that is given again must have the same grade."""

    def __init__(self) -> None:
        self.grades: dict[tuple[bytes, bytes, bytes], float] = {}
        self.num_taken = 0

    def contradicts(self, pair: tuple[bytes, bytes, bytes], grade: float) -> str:
        """Take a judgment; say what is wrong if it contradicts an earlier one."""
        self.num_taken += 1
        first = self.grades.setdefault(pair, grade)
        if first == grade:
            return ""
        query, unit, document = pair
        what = f"document {shown(document)} of query {shown(query)}, subtopic {shown(unit)},"
        return f"{what} has grade {plain(grade)} here and {plain(first)} before"

    def subtopics(self, query_type: str = "text") -> Subtopics:
        """Return all of them."""
        queries, units, documents = (list(column) for column in zip(*self.grades, strict=True))
        num_repeated = self.num_taken - len(self.grades)
        return Subtopics(
            queries=queries, units=units, documents=documents, grades=list(self.grades.values()), query_type=query_type,
            num_repeated=num_repeated,
        )  # fmt: skip


def read_subtopics(source: Source) -> Subtopics:
    """Read judgments in which the second column names the unit."""
    judged = _PairJudgments()
    with damage_first(source):
        for number, fields in lines(source):
            if len(fields) != 4:
                raise wrong_fields(source, number, "qrels", 4, "query subtopic document grade", fields, "")
            query, unit, document, text = fields
            if problem := judged.contradicts((query, unit, document), grade_in(text, source, number)):
                raise FormatError(source.name, number, problem, remedy=_KEEP)
    return judged.subtopics()


_KEEP = "keep one of the two"


def subtopics_from_mapping(content: Mapping[Any, Any], name: str) -> Subtopics:
    """Take judgments from {query: {unit: {document: grade}}}."""
    judged = _PairJudgments()
    for query, by_unit in content.items():
        for unit, by_document in _mapping(by_unit, query, name).items():
            for document, grade in _mapping(by_document, query, name).items():
                pair = id_in(query, name), id_in(unit, name), id_in(document, name)
                if problem := judged.contradicts(pair, grade_of(grade, query, document, name)):
                    raise FormatError(name, None, problem, remedy=_KEEP)
    if not judged.grades:
        raise FormatError(name, None, "the judgments are empty", remedy=SUBTOPICS_SHAPE)
    empty = tuple(id_in(query, name) for query, by_unit in content.items() if not any(by_unit.values()))
    return replace(judged.subtopics(type_of_keys(content)), empty=empty)


def _mapping(value: Any, query: Any, name: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        problem = f"query {query!r}: {shown(repr(value))} is not a mapping"
        raise FormatError(name, None, problem, remedy=f"{SUBTOPICS_SHAPE}; without @subtopics {QRELS_SHAPE}")
    return value


def subtopics_from_table(table: RoleTable) -> Subtopics:
    """Take judgments from rows of query, unit, document and grade."""
    grades, judged = grades_of_rows(table), _PairJudgments()
    pairs = zip(_texts(table, "query"), _texts(table, "unit"), _texts(table, "document"), strict=True)
    for row, (pair, grade) in enumerate(zip(pairs, grades.tolist(), strict=True)):
        if problem := judged.contradicts(pair, grade):
            raise table.error(row, problem, remedy=_KEEP)
    has_grades = table.columns.grade is not None
    return replace(judged.subtopics(type_of_column(table.present("query"))), has_grades=has_grades)

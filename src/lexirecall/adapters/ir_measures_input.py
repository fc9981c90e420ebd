"""Judgments and runs in the forms that ir_measures takes: dicts of dicts, data frames, and rows with fields.

Belongs here: reading these. Not here: ir_measures itself.
"""

from collections.abc import Iterable, Mapping, Sized
from itertools import islice
from typing import Any

from lexirecall.errors import FormatError, shown
from lexirecall.formats.dicts import load_mapping, project_mapping
from lexirecall.formats.frames import Frame, is_frame
from lexirecall.formats.idtypes import as_given
from lexirecall.formats.labels import judgments_from_table
from lexirecall.formats.rankedlist import DuplicateDocument
from lexirecall.formats.roletable import RoleTable, open_frame
from lexirecall.formats.rows import project_table
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.tracks import RunPositions

Content = Mapping[Any, Any] | Frame


def content_of(data: Any, value: str) -> Content:
    """Return a frame or a mapping as it is, and rows with fields, in any order, as {query: {document: value}}.

    A document listed twice in one ranking is an error, and so is one judged twice with different grades.

    >>> from ir_measures import ScoredDoc
    >>> content_of([ScoredDoc("q1", "a", 2.0), ScoredDoc("q2", "b", 1.0), ScoredDoc("q1", "c", 1.0)], "score")
    {'q1': {'a': 2.0, 'c': 1.0}, 'q2': {'b': 1.0}}
    """
    if isinstance(data, Mapping) or is_frame(data):
        return {} if isinstance(data, Sized) and not len(data) else data
    what = "the run" if value == "score" else "qrels"
    remedy = f"give a dict of dicts, a data frame, or rows with the fields query_id, doc_id and {value}"
    if isinstance(data, str) or not isinstance(data, Iterable):
        raise FormatError(what, None, f"cannot be read from {shown(repr(data))}", remedy=remedy)
    grouped: dict[Any, dict[Any, Any]] = {}
    for row in data:
        try:
            query, document, number = row.query_id, row.doc_id, getattr(row, value)
        except AttributeError:
            raise FormatError(what, None, f"this row lacks a field: {shown(repr(row))}", remedy=remedy) from None
        documents = grouped.setdefault(query, {})
        if document in documents and (value == "score" or documents[document] != number):
            raise _listed_twice(what, query, document)
        documents[document] = number
    return grouped


def _listed_twice(what: str, query: Any, document: Any) -> FormatError:
    problem = f"document {_quoted(document)} of query {_quoted(query)} is listed twice"
    return FormatError(what, None, problem, remedy="keep one of them")


def _quoted(identifier: Any) -> str:
    return shown(identifier if isinstance(identifier, bytes) else str(identifier))


def _table(frame: Any, kind: str, value: str) -> RoleTable:
    """Open a frame; if it has the columns of ir_measures, other columns do not matter."""
    import narwhals as nw

    native = nw.from_native(frame)
    expected = ["query_id", "doc_id", value]
    if set(expected) <= set(native.collect_schema().names()):
        frame = native.select(*expected).to_native()
    return open_frame(frame, kind, name="the run" if kind == "run" else kind)


def judgments_of(qrels: Any) -> tuple[Judgments | None, list[Any]]:
    """Return the judgments, or None if they are empty, and the ids of their queries as they were given.

    >>> judgments_of({7: {"a": 1}, "q": {}})[1], judgments_of([])
    ([7, 'q'], (None, []))
    """
    content = content_of(qrels, "relevance")
    if isinstance(content, Mapping):
        return (load_mapping(content, "qrels"), list(content)) if content else (None, [])
    judgments = judgments_from_table(_table(content, "qrels", "relevance"))
    return judgments, as_given(judgments.queries, judgments.query_type)


def regraded(judgments: Judgments, gains: Mapping[float, float]) -> Judgments:
    """Return the judgments with the grades of a map replaced, as ir_measures does for the gains of nDCG.

    >>> regraded(load_mapping({"q": {"a": 0, "b": 2}}, "qrels"), {0: 1}).grades.tolist()
    [2.0, 1.0]
    """
    grades = [gains.get(grade, grade) for grade in judgments.grades.tolist()]
    judged = zip(judgments.documents, grades, strict=True)
    sizes = zip(judgments.query_ids, (judgments.offsets[1:] - judgments.offsets[:-1]).tolist(), strict=True)
    return Judgments.from_grades({query: dict(islice(judged, size)) for query, size in sizes})


def project_run(
    content: Content, name: str, judgments: Judgments, conventions: Conventions, *, needs_judged: bool
) -> RunPositions:
    """Find the positions of the judged documents in one run, which may answer none of the queries."""
    if not isinstance(content, Mapping):
        table = _table(content, "run", "score")
        return project_table(table, name, judgments, conventions, needs_judged=needs_judged, is_given=True)[0]
    try:
        return project_mapping(content, name, name, judgments, conventions, needs_judged=needs_judged)
    except DuplicateDocument as error:  # in a ranked list, or ids that are the same text
        raise _listed_twice(name, error.query, error.document) from None

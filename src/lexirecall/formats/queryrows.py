"""Query rows: from rows, each about one query, to judgments and rankings.

Belongs here: which key of a row holds what, and the two sides that rows may have. Not here: the forms of rows
(rowforms), ids of queries (queryids), JSON text (jsontext), what becomes of {query: documents} (dicts).

A row may hold the relevant documents, the retrieved ones, or both. Where several keys may be meant, the user is asked.
A row in which a side is missing or null says nothing about that side; an empty list says that there is no document.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lexirecall.errors import FormatError, counted, listed, shown
from lexirecall.formats.columns import Given
from lexirecall.formats.dicts import load_mapping
from lexirecall.formats.jsontext import JsonRows, PlacedRow
from lexirecall.formats.memory import ID_SHAPE
from lexirecall.formats.queryids import QueryIds, query_ids
from lexirecall.formats.rowforms import WITHIN, RowForm, document_keys, found_at, paths_to, value_at
from lexirecall.judgments import Judgments
from lexirecall.text import id_of

_CALLED = {"qrels": "relevant", "run": "retrieved"}
_VALUES = {"qrels": "grade", "run": "score"}


@dataclass(frozen=True, eq=False)
class QueryRows:
    """The rows of one file, and the names of keys that the user gave."""

    rows: JsonRows
    role: str
    """What the file was given as: `qrels` or a `run`; it may be both."""
    run_name: str = "run"
    columns: Given = None
    within: str = ""
    """The key of the list that the rows were in, if a row of the file holds many."""
    leaves_run: bool = False
    """Whether the rows hold a run that is not read."""
    _known: dict[tuple[str, bool], dict[str, RowForm]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, rows: JsonRows, role: str, run_name: str = "run", columns: Given = None) -> "QueryRows":
        """Take the rows of a file; if each of them holds many, take these.

        >>> from lexirecall.formats.jsontext import rows_of
        >>> made = QueryRows.of(rows_of([{"query": "why?", "expected_ids": ["a"], "retrieved_ids": ["b"]}], "x"), "run")
        >>> made.judged, made.ranked
        ({'why?': {'a': 1}}, {'why?': ['b']})
        """
        for key in WITHIN:
            if all(isinstance(row.content.get(key), list) for row in rows.rows):
                return cls(rows._replace(rows=tuple(_inner(rows, key))), role, run_name, columns, key)
        return cls(rows, role, run_name, columns)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.rows.name

    def holds(self, role: str) -> bool:
        """Tell whether the rows hold `qrels` or a `run`, perhaps under more than one key."""
        return self._given(role, "document") is not None or bool(self._paths(role))

    def judgments(self) -> Judgments:
        """Return the judgments; what readers of results should know about the rows comes with them."""
        num_repeated = sum(len(ids) - len({*ids}) for _, ids in self._judged if isinstance(ids, list))
        judgments = load_mapping(self.judged, self.name)
        return replace(judgments, num_repeated=num_repeated, remarks=tuple(self._remarks()))

    @cached_property
    def judged(self) -> dict[Any, Mapping[Any, Any]]:
        """{query: {document: grade}}, all grades 1 unless the rows have grades."""
        return {
            query: documents if isinstance(documents, Mapping) else dict.fromkeys(documents, 1)
            for query, documents in self._judged
        }

    @cached_property
    def _judged(self) -> list[tuple[Any, Any]]:
        return self._side("qrels")

    @cached_property
    def ranked(self) -> dict[Any, Any]:
        """{query: [document, …]}, or {query: {document: score}} if the rows have scores."""
        if self.ids.are_numbers and not self.holds("qrels"):
            problem = f"the rows have no id of their query, and {self.ids.why}"
            raise FormatError(self.name, None, problem, remedy=f"name a key of ids, as in {_option('query')}")
        return dict(self._side("run"))

    @cached_property
    def ids(self) -> QueryIds:
        """The id of the query of each row."""
        forms = [form for role in _CALLED for form in self._paths(role).values()]
        return query_ids(self.rows, forms, self._given(self.role, "query"))

    @cached_property
    def _contents(self) -> list[Mapping[str, Any]]:
        return [row.content for row in self.rows.rows]

    def _paths(self, role: str, *, are_texts: bool = False) -> dict[str, RowForm]:
        """Return the paths by which the rows may hold a side, looked for once."""
        if (role, are_texts) not in self._known:
            self._known[role, are_texts] = paths_to(self._contents, role, self.within, are_texts=are_texts)
        return self._known[role, are_texts]

    def _given(self, role: str, what: str) -> str | None:
        """Return the name of a key that the user gave; one that is for any file is for what this file was given as."""
        columns = self.columns or {}
        return columns.get(f"{role}.{what}") or (columns.get(what) if role == self.role else None)

    def _side(self, role: str) -> list[tuple[Any, Any]]:
        """Return the documents of each query, as a list, or with a value for each."""
        path, values = self._documents(role), self._given(role, _VALUES[role])
        rows, ids = self.rows.rows, self.ids.ids
        found = [(row, query, value_at(row.content, path)) for row, query in zip(rows, ids, strict=True)]
        key = self._document_key(path, [documents for _, _, documents in found if isinstance(documents, list)], role)
        side = [
            (row, query, self._listed(row, documents, path, key))
            for row, query, documents in found
            if documents is not None
        ]
        if values is None:
            return [(query, documents) for _, query, documents in side]
        return [(query, self._valued(row, documents, values, _VALUES[role])) for row, query, documents in side]

    def _documents(self, role: str) -> str:
        """Return the path of the documents of a side; raise unless there is exactly one that may be meant."""
        if (path := self._given(role, "document")) is not None:
            if not any(True for content in self._contents for _ in found_at(content, path)):
                problem = f"no row has the key {shown(path)}"
                raise FormatError(self.name, None, problem, remedy=f"the keys are {self._keys()}")
            return path
        found = self._paths(role)
        if len(found) == 1:
            return next(iter(found))
        raise self._several(role, [*found]) if found else self._none(role)

    def _several(self, role: str, paths: Sequence[str]) -> FormatError:
        problem = f"the {_CALLED[role]} documents may be under {' or '.join(map(shown, paths))}"
        remedy = f"say which, as in {_option(f'{role}.document', paths[0])}"
        return FormatError(self.name, None, problem, remedy=remedy)

    def _none(self, role: str) -> FormatError:
        if texts := [*self._paths(role, are_texts=True)]:
            problem = f"the {_CALLED[role]} documents under {shown(texts[0])} are texts, not ids"
            sides = {role: texts[0], **{side: path for side in _CALLED if (path := self._texts(side)) is not None}}
            option = ",".join(f"{side}.document={path}" for side, path in sides.items())
            remedy = f"to take equal texts for the same document, say --columns {option}, or columns= in Python"
            return FormatError(self.name, None, problem, remedy=remedy)
        problem = f"found no {_CALLED[role]} documents in rows with the keys {self._keys()}"
        return FormatError(self.name, None, problem, remedy=f"name the key, as in {_option(f'{role}.document')}")

    def _texts(self, role: str) -> str | None:
        """Return the path of the texts of a side that has no ids."""
        paths = self._paths(role, are_texts=True)
        return None if self.holds(role) else next(iter(paths), None)

    def _keys(self) -> str:
        return listed(dict.fromkeys(key for content in self._contents for key in content), most=12)

    def _document_key(self, path: str, lists: Sequence[list[Any]], role: str) -> str:
        """Return the key of the ids of documents that are objects; raise if it cannot be told."""
        objects = [document for documents in lists for document in documents if isinstance(document, dict)]
        keys = document_keys(objects) if objects else [""]
        if len(keys) == 1:
            return keys[0]
        if keys:
            raise self._several(role, [f"{path}[].{key}" for key in keys])
        example = next((document for document in objects if not document_keys([document])), objects[0])
        problem = f"the documents under {shown(path)} have no key of ids in common, such as {shown(repr(example))}"
        remedy = f"name it, as in {_option(f'{role}.document', f'{path}[].KEY')}"
        raise FormatError(self.name, None, problem, remedy=remedy)

    def _listed(self, row: PlacedRow, documents: Any, path: str, key: str) -> Any:
        """Return the ids of a row, as a list or with their values; raise if there is anything else."""
        if isinstance(documents, Mapping):
            return documents
        if not isinstance(documents, list):
            problem = f"expected a list of documents under {shown(path)}, found {shown(repr(documents))}"
            raise self.rows.error(row, problem, remedy="write a list of ids, or {document: number}")
        ids = [document[key] if isinstance(document, dict) else document for document in documents]
        for document in ids:
            if type(document) is not str:
                try:
                    id_of(document)
                except (TypeError, ValueError):
                    problem = f"{shown(repr(document))} under {shown(path)} is not a document id"
                    raise self.rows.error(row, problem, remedy=ID_SHAPE) from None
        return ids

    def _valued(self, row: PlacedRow, ids: Any, path: str, what: str) -> dict[Any, Any]:
        """Return the documents of a row with their grades or scores, which are in a list of their own."""
        values = value_at(row.content, path)
        if not isinstance(ids, list) or not isinstance(values, list) or len(values) != len(ids):
            problem = f"expected a {what} under {shown(path)} for each document, found {shown(repr(values))}"
            raise self.rows.error(row, problem, remedy="both are lists of the same length")
        valued: dict[Any, Any] = {}
        for document, value in zip(ids, values, strict=True):
            if document in valued and (what == "score" or valued[document] != value):
                problem = f"document {shown(str(document))} has two {what}s"
                raise self.rows.error(row, problem, remedy="remove one of them")
            valued[document] = value
        return valued

    def _remarks(self) -> Iterator[str]:
        if self.ids.are_numbers:
            yield (
                f"{self.name}: the rows have no id of their query, and {self.ids.why}: each query is called by the "
                "number of its row (--columns query=KEY names a key of ids)"
            )
        if self.leaves_run:
            yield f"{self.name} holds a run too, which is left out because other runs are given"
        if num_missing := len(self.rows.rows) - len(self.judged):
            path = shown(self._documents("qrels"))
            yield f"{self.name}: {counted(num_missing, 'row')} without {path}: the query is not judged"


def _inner(rows: JsonRows, key: str) -> Iterator[PlacedRow]:
    """Give the rows within rows; a query is called by the id of the outer row, if all have one, and its place in it."""
    outer_ids = [row.content.get("sample_id") for row in rows.rows]
    for row, outer in zip(rows.rows, outer_ids, strict=True):
        for number, inner in enumerate(row.content[key], 1):
            if not isinstance(inner, Mapping):
                problem = f"expected objects under {shown(key)}, found {shown(repr(inner))}"
                raise rows.error(row, problem)
            id_field = {} if None in outer_ids else {"question_id": f"{outer}:{number}"}
            yield PlacedRow(row.number, {**id_field, **inner})


def _option(role: str, path: str = "KEY") -> str:
    return f"columns={{{role!r}: {path!r}}} or --columns {role}={path}"

"""Row forms: how tools write a row with a query, the documents that it needs and those that were retrieved.

Belongs here: the one table of such forms, and finding keys in a row. Not here: JSON text (jsontext), what becomes of
rows (queryrows).

A form is known by its keys. A path leads to a key: `outputs.documents` is the key `documents` within `outputs`,
`hits[].id` is the key `id` of each object in the list `hits`, `answer[].citations[]` is all that is in these lists, and
`*` stands for any part of a key. A new form is one row of the table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

JsonObject = Mapping[str, Any]


class RowForm(NamedTuple):
    """How one tool writes its rows; an empty path for what they do not have."""

    name: str
    judged: str = ""
    """The path of the relevant documents."""
    ranked: str = ""
    """The path of the retrieved documents, the best one first."""
    query: str = ""
    """The path of an id of the query; without one, the usual keys are tried."""
    text: str = ""
    """The path of the words of the query."""
    told_by: tuple[str, ...] = ()
    """Paths that a row of this form has, because the others are common words."""
    within: str = ""
    """The key of the list of rows, if a row of the file holds many of them."""
    has_texts: bool = False
    """Whether documents are their texts, which are ids only if the user says so."""

    def path(self, role: str) -> str:
        """Return the path of the documents of `qrels` or of a `run`."""
        return self.judged if role == "qrels" else self.ranked


FORMS = (
    RowForm("ragas", "reference_context_ids", "retrieved_context_ids", text="user_input"),
    RowForm("ragas", "reference_contexts", "retrieved_contexts", text="user_input", has_texts=True),
    RowForm("LlamaIndex", "expected_ids", "retrieved_ids", text="query"),
    RowForm("LangSmith", "reference_outputs.*", "outputs.*", text="inputs.*", told_by=("inputs",)),
    RowForm("DeepEval", "context", "retrieval_context", text="input", told_by=("input",), has_texts=True),
    RowForm(
        "LongMemEval",
        "answer_session_ids",
        "retrieval_results.ranked_items[].corpus_id",
        query="question_id",
        text="question",
    ),
    RowForm("LoCoMo", "evidence", "*_context", text="question", within="qa"),
    RowForm("TREC RAG 2024", "", "references", query="topic_id", text="topic", told_by=("run_id", "topic_id")),
    RowForm(
        "TREC RAG 2025",
        "",
        "references",
        query="metadata.narrative_id",
        text="metadata.narrative",
        told_by=("metadata.narrative_id",),
    ),
)
"""The forms of rows that are known by their keys."""

WITHIN = tuple(dict.fromkeys(form.within for form in FORMS if form.within))
"""Keys under which a row of a file may hold many rows."""
QUERY_IDS = ("question_id", "query_id", "qid", "topic_id", "example_id", "case_id", "id", "_id")
"""Usual keys of the id of a query; the first one present counts."""
QUERY_TEXTS = ("user_input", "query", "question", "input", "topic", "inputs.*")
"""Usual keys of the words of a query."""
DOCUMENT_IDS = ("id", "_id", "doc_id", "docid", "docno", "document_id", "corpus_id", "node_id", "chunk_id")
"""Usual keys of the id of a document that is an object."""


def found_at(content: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Give what a path leads to, with the path itself: more than one if it has a `*`, nothing if there is no such key.

    >>> list(found_at({"hits": [{"id": 7}, {"id": 8}], "gpt-3.5_context": []}, "hits[].id"))
    [('hits[].id', [7, 8])]
    >>> list(found_at({"hits": [], "gpt-3.5_context": ["a"]}, "*_context"))
    [('gpt-3.5_context', ['a'])]
    """
    if not isinstance(content, dict):
        return
    if path in content:  # a key may have dots of its own
        yield path, content[path]
        return
    if "." not in path:
        yield from _matching(content, path)
        return
    for place in (place for place, sign in enumerate(path) if sign == "."):
        head, rest = path[:place], path[place + 1 :]
        if head.endswith("[]") and (objects := content.get(head[:-2])) is not None:
            yield path, _within(objects, rest)
            return
        if head in content:
            yield from ((f"{head}.{more}", value) for more, value in found_at(content[head], rest))
            return


def _within(value: Any, path: str) -> Any:
    """Return what a path leads to from each object of a list, as one list; if something is no list, that itself."""
    if not isinstance(value, list):
        return value
    if not path.endswith("[]"):
        return [value_at(element, path) for element in value]
    parts = [value_at(element, path) if isinstance(element, dict) else element for element in value]
    odd = [part for part in parts if not (part is None or isinstance(part, list))]
    return odd[0] if odd else [element for part in parts for element in part or ()]


def _matching(content: JsonObject, pattern: str) -> Iterator[tuple[str, Any]]:
    if pattern.endswith("[]") and content.get(pattern[:-2]) is not None:
        yield pattern, content[pattern[:-2]]
    elif "*" in pattern:
        yield from ((key, value) for key, value in content.items() if fnmatchcase(key, pattern))


def value_at(content: JsonObject, path: str) -> Any:
    """Return what a path leads to; None if it leads nowhere.

    >>> value_at({"inputs": {"question": "why?"}}, "inputs.question")
    'why?'
    """
    return next((value for _, value in found_at(content, path)), None)


def paths_to(rows: Iterable[JsonObject], role: str, within: str = "", *, are_texts: bool = False) -> dict[str, RowForm]:
    """Return the paths by which rows may hold the documents of a role, with the form that each belongs to.

    `within` is the key of the list that they were in; `are_texts` asks for texts instead of ids.

    >>> list(paths_to([{"query": "a", "expected_ids": ["x"], "retrieved_ids": ["x"]}], "run"))
    ['retrieved_ids']
    """
    sought = [form for form in FORMS if form.path(role) and form.within == within]
    found: dict[str, RowForm] = {}
    for row in rows:
        for form in [form for form in sought if _may_lead(form.path(role), row)]:
            if all(value_at(row, key) is not None for key in form.told_by):
                for path, value in found_at(row, form.path(role)):
                    is_it = _are_texts(value, form) if are_texts else _may_be_documents(path, value, form, role)
                    if is_it and path not in found:
                        found[path] = form
                        sought = [other for other in sought if other is not form or "*" in form.path(role)]
    return found


def _may_lead(path: str, row: JsonObject) -> bool:
    """Tell whether a row has the first key of a path; nearly all rows and forms need no further look."""
    first = path.partition(".")[0].removesuffix("[]")
    return first in row or "*" in first


def _are_texts(value: Any, form: RowForm) -> bool:
    return form.has_texts and isinstance(value, list) and any(isinstance(element, str) for element in value)


def _may_be_documents(path: str, value: Any, form: RowForm, role: str) -> bool:
    """Tell whether a value may be documents by their ids; where many keys will do, it must look like them."""
    are_objects = isinstance(value, list) and any(
        isinstance(element, dict) and document_keys([element]) for element in value
    )
    if form.has_texts:
        return are_objects
    if form.path(role).endswith(".*"):
        return are_objects or (isinstance(value, list) and path.lower().endswith("ids"))
    return isinstance(value, list) or (value is not None and "*" not in form.path(role))


def document_keys(objects: Sequence[JsonObject]) -> list[str]:
    """Return the usual keys of ids that all of some documents have.

    >>> document_keys([{"id": "a", "page_content": "..."}, {"id": "b", "doc_id": "c"}])
    ['id']
    """
    return [key for key in DOCUMENT_IDS if all(document.get(key) is not None for document in objects)]


def is_row(content: JsonObject) -> bool:
    """Tell whether an object is a row by itself, and not {query: documents} or a list of rows under a key.

    >>> is_row({"query": "a", "expected_ids": ["x"]}), is_row({"q1": ["a", "b"]})
    (True, False)
    """
    if any(paths_to([content], role, are_texts=are) for role in ("qrels", "run") for are in (False, True)):
        return True
    return not rows_within(content).keys().isdisjoint(WITHIN)


def rows_within(content: JsonObject) -> dict[str, list[Any]]:
    """Return the lists of objects that an object has, by key; {query: [document, …]} has none.

    >>> list(rows_within({"version": 2, "data": [{"query": "a"}], "tags": ["x"]}))
    ['data']
    """
    return {
        key: value
        for key, value in content.items()
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
    }

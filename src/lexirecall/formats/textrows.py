"""Text rows: ids and the words they stand for, one line at a time.

Belongs here: what a line of JSON or of tabs says, and whether it is about a query or a document. Not here: which texts
are kept (texts).

A line is a JSON object, or an id, a tab and the text; the first character of the file tells. Keys and columns are found
by their usual names, as those of tables are. A row with a title and a text has both.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lexirecall.errors import FormatError, listed, shown
from lexirecall.formats.columns import USUAL, Given, check_given, spelling
from lexirecall.formats.jsontext import object_on
from lexirecall.formats.lines import numbered_lines
from lexirecall.formats.source import BYTE_ORDER_MARK, PARQUET, Source
from lexirecall.text import id_of, to_text, to_valid_text

SHAPE = 'a line is {"id": ..., "text": ...}, or an id, a tab and the text'
_ANYONES = ("_id", "id")  # names of ids that do not say whose
_IDS = {
    "query": ("query_id", "qid", "topic_id", "question_id", "query_no", "query_number"),
    "document": (
        *(name for name in USUAL["document"] if name != "item"),
        "passage_id", "pid", "chunk_id", "segment_id",
    ),
}  # fmt: skip
"""Not all the names of columns: the user and the session of a document are not its id."""
_NAMED = {
    "query": re.compile(r"quer|topic|question"),
    "document": re.compile(r"corpus|doc|passage|collection|chunk|segment|article|product"),
}


class TextRow(NamedTuple):
    """A line of a file of texts."""

    number: int
    role: str | None
    """Whether the id is that of a `query` or an `document`; None if the line does not tell."""
    id: bytes
    content: Any
    """The text, or the cells or the object that hold it."""
    keys: Sequence[Any] = ()
    """Where in the content the title and the text are."""

    def text(self, name: str) -> str:
        """Put the title before the text, unless the text begins with it; empty if there is neither.

        >>> TextRow(1, None, b"d1", {"title": "Bears", "text": "They attack."}, ("title", "text")).text("corpus.jsonl")
        'Bears: They attack.'
        """
        if not self.keys:
            return _plain(self.content, name, self.number)
        title, text = "", ""
        for key in self.keys:
            title, text = text, _plain(self.content[key], name, self.number)
        return f"{title}: {text}" if title and text and not text.startswith(title) else text or title


class _Keys(NamedTuple):
    role: str | None
    id: Any
    texts: tuple[Any, ...]


def text_rows(
    source: Source, role: str | None = None, named_columns: Given = None, *, told_by_name: bool = True
) -> Iterator[TextRow]:
    """Give the rows of a file; `named_columns` are the names of columns.

    `role` says what the ids name, if that is known. Otherwise the key of the id tells, or else the name of the file.
    """
    check_given(named_columns)
    head = source.head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if head.startswith((b"[", PARQUET)):
        found = "a JSON list" if head.startswith(b"[") else "a Parquet file"
        raise FormatError(source.name, None, f"texts are read line by line, but this is {found}", remedy=SHAPE)
    hint = role_by_name(source.path) if role is None and told_by_name else role
    finder = _Finder(source.name, role, hint, named_columns)
    return _json_rows(source, finder) if head.startswith(b"{") else _tabbed_rows(source, finder)


def role_by_name(path: str) -> str | None:
    """Tell by the name of a file whether its ids are those of queries or of documents.

    >>> role_by_name("beir/queries.jsonl"), role_by_name("docs/corpus.jsonl.gz"), role_by_name("texts.tsv")
    ('query', 'document', None)
    """
    name = Path(path).name.lower()
    found = [role for role, pattern in _NAMED.items() if pattern.search(name)]
    return found[0] if len(found) == 1 else None


def _json_rows(source: Source, finder: "_Finder") -> Iterator[TextRow]:
    known: dict[tuple[str, ...], _Keys] = {}
    for number, line in numbered_lines(source):
        content = object_on(to_text(line), source.name, number, remedy=SHAPE)
        names = tuple(content)
        keys = known.get(names)
        if keys is None:
            keys = known[names] = finder.keys(names, number)
        yield TextRow(number, keys.role, _id(content[keys.id], source, number), content, keys.texts)


def _tabbed_rows(source: Source, finder: "_Finder") -> Iterator[TextRow]:
    header: _Keys | None = None
    for place, (number, line) in enumerate(numbered_lines(source)):
        identifier, tab, text = line.partition(b"\t")
        if not tab:
            raise FormatError(source.name, number, f"found no tab in {shown(line)}", remedy=SHAPE)
        if place == 0 and (header := finder.header(line)) is not None:
            continue
        if header is None:
            yield TextRow(number, finder.hint, identifier.strip(), text)
            continue
        cells = line.split(b"\t")
        if len(cells) <= max(header.id, *header.texts):
            problem = f"the header has more columns than this line: {shown(line)}"
            raise FormatError(source.name, number, problem, remedy="write every column on every line")
        yield TextRow(number, header.role, cells[header.id].strip(), cells, header.texts)


class _Finder(NamedTuple):
    """Finds the id, the title and the text among the names of a row."""

    source: str
    role: str | None
    """Whose ids are looked for, if that is known."""
    hint: str | None
    """Whose they are if their name does not tell."""
    named_columns: Given

    def header(self, line: bytes) -> _Keys | None:
        """Return where ids and texts are if a first line names columns."""
        names = [to_text(cell).strip() for cell in line.split(b"\t")]
        try:
            keys = self.keys(names, 1)
        except FormatError:
            return None
        return _Keys(keys.role, names.index(keys.id), tuple(map(names.index, keys.texts)))

    def keys(self, names: Sequence[str], number: int) -> _Keys:
        """Find all of them, or say what is missing."""
        roles = ("query", "document") if self.role is None else (self.role,)
        found = {role: name for role in roles if (name := self._named(names, role, number)) is not None}
        if len(found) > 1 and self.hint is None:
            what = " and ".join(map(repr, found.values()))
            remedy = "say whose text it is: --texts queries=FILE or documents=FILE"
            raise FormatError(self.source, number, f"the row has ids of a query and a document: {what}", remedy=remedy)
        role = self.hint if len(found) != 1 else next(iter(found))
        neutral = (name for usual in _ANYONES for name in names if spelling(name) == usual)
        key = found.get(role or "") or next(neutral, None)
        texts = self._texts(names, number)
        if key is None or not texts:
            raise self._not_found("id" if key is None else "text", names, number)
        return _Keys(role, key, texts)

    def _named(self, names: Sequence[str], role: str, number: int) -> str | None:
        """Return the name of a role: the one given for texts, the one given for any file, or a usual one."""
        columns = self.named_columns or {}
        wanted = columns.get(f"texts.{role}")
        if wanted is not None and wanted not in names:
            problem = f"found no {wanted!r} among {listed(map(shown, names), 12)}"
            raise FormatError(self.source, number, problem, remedy="check --columns")
        wanted = wanted or columns.get(role)
        if wanted in names:
            return wanted
        by_spelling = {spelling(name): name for name in reversed(names)}
        return next((by_spelling[name] for name in _IDS.get(role, USUAL[role]) if name in by_spelling), None)

    def _texts(self, names: Sequence[str], number: int) -> tuple[str, ...]:
        """Return the names of the title and the text; if a text is given, of that alone."""
        text = self._named(names, "text", number)
        if text is not None and text in ((self.named_columns or {}).get(name) for name in ("text", "texts.text")):
            return (text,)
        titles = (name for name in names if spelling(name) == "title")
        return tuple(name for name in (next(titles, None), text) if name is not None)

    def _not_found(self, what: str, names: Sequence[str], number: int) -> FormatError:
        usual = (*_ANYONES, *_IDS["query"][:2], *_IDS["document"]) if what == "id" else USUAL["text"]
        option = f"--columns texts.{'document' if what == 'id' else 'text'}=..."
        problem = f"found no {what} among {listed(map(shown, names), 12)}"
        remedy = f"name it, as in {option}, or call it one of {listed(usual, 9)}"
        return FormatError(self.source, number, problem, remedy=remedy)


def _id(value: Any, source: Source, number: int) -> bytes:
    try:
        return id_of(value)
    except (TypeError, ValueError):
        problem = f"not an id: {shown(repr(value))}"
        raise FormatError(source.name, number, problem, remedy="ids are text or whole numbers") from None


def _plain(value: Any, name: str, number: int) -> str:
    """Return a text, which may be written in pieces, without blanks around it."""
    if isinstance(value, bytes):
        return to_valid_text(to_text(value)).strip()
    if value is None or isinstance(value, str):
        return to_valid_text(value or "").strip()
    if isinstance(value, list) and all(isinstance(piece, str) for piece in value):
        return to_valid_text(" ".join(value)).strip()
    raise FormatError(name, number or None, f"not a text: {shown(repr(value))}", remedy=SHAPE)

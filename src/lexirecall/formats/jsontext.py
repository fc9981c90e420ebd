"""JSON text: one value, or one row on each line.

Belongs here: from bytes to Python objects, and where each row is in its file. Not here: what objects and rows mean
(memory, rowforms).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lexirecall.errors import FormatError, shown
from lexirecall.formats.source import BYTE_ORDER_MARK, Source
from lexirecall.trees import MoreText, json_tree


class PlacedRow(NamedTuple):
    """An object, and where it is."""

    number: int
    """Its line, or its number within a list, from 1."""
    content: Mapping[str, Any]


class JsonRows(NamedTuple):
    """Objects that are written on a line each, or in a list."""

    name: str
    """What messages call the file."""
    rows: tuple[PlacedRow, ...]
    are_lines: bool

    def place(self, row: PlacedRow) -> str:
        """Say where a row is."""
        return f"{'line' if self.are_lines else 'row'} {row.number:,}"

    def error(self, row: PlacedRow, problem: str, *, remedy: str = "") -> FormatError:
        """Return the error about a row."""
        if self.are_lines:
            return FormatError(self.name, row.number, problem, remedy=remedy)
        return FormatError(self.name, None, f"row {row.number:,}: {problem}", remedy=remedy)


def load_json(source: Source, shape: str) -> Mapping[str, Any]:
    """Read a JSON object; messages say what its shape should be. A key that is given twice is refused."""
    return _mapping(json_tree(_text(source), source.name, remedy=shape, are_data=True), source.name, shape)


def load_json_or_rows(source: Source, shape: str) -> Mapping[str, Any] | JsonRows:
    """Read a JSON object, a list of objects, or an object on each line."""
    text = _text(source)
    try:
        content = json_tree(text, source.name, remedy=shape, are_data=True)
    except MoreText:
        return _lines(text, source.name)
    if isinstance(content, list) and content and all(isinstance(row, Mapping) for row in content):
        return rows_of(content, source.name)
    return _mapping(content, source.name, shape)


def rows_of(content: list[Any], name: str) -> JsonRows:
    """Return the objects of a list, numbered.

    >>> rows_of([{"query": "a"}], "rows.json").rows[0].number
    1
    """
    return JsonRows(name, tuple(PlacedRow(number, row) for number, row in enumerate(content, 1)), are_lines=False)


def _text(source: Source) -> bytes:
    return source.read_whole().removeprefix(BYTE_ORDER_MARK)


def _lines(text: bytes, name: str) -> JsonRows:
    lines = enumerate(text.decode(errors="surrogatepass").split("\n"), 1)  # splitlines would cut at marks within a text
    rows = (PlacedRow(number, object_on(line, name, number)) for number, line in lines if line.strip())
    return JsonRows(name, tuple(rows), are_lines=True)


def object_on(line: str, name: str, number: int, *, remedy: str = "") -> Mapping[str, Any]:
    """Return the object that a line of JSON lines is.

    >>> object_on('{"query": "a"}', "rows.jsonl", 1)
    {'query': 'a'}
    """
    remedy = remedy or "in JSON lines, each line is one object"
    content = json_tree(line, name, number, remedy=remedy, are_data=True)
    if not isinstance(content, Mapping):
        raise FormatError(name, number, f"expected a JSON object, found {shown(line)}", remedy=remedy)
    return content


def _mapping(content: Any, name: str, shape: str) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        found = "a list" if isinstance(content, list) else f"a {type(content).__name__}"
        raise FormatError(name, None, f"expected a JSON object, found {found}", remedy=shape)
    return content

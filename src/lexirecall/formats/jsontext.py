"""JSON text: one value, or one row on each line.

Belongs here: from bytes to Python objects, and where each row is in its file. Not here: what objects and rows mean
(memory, rowforms).
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from lexirecall.errors import FormatError, shown
from lexirecall.formats.source import BYTE_ORDER_MARK, Source


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
    content = _whole(_text(source), source.name, shape)
    if isinstance(content, json.JSONDecodeError):
        raise FormatError(source.name, content.lineno, f"not valid JSON: {content.msg}", remedy=shape)
    return _mapping(content, source.name, shape)


def load_json_or_rows(source: Source, shape: str) -> Mapping[str, Any] | JsonRows:
    """Read a JSON object, a list of objects, or an object on each line."""
    text = _text(source)
    content = _whole(text, source.name, shape)
    if isinstance(content, json.JSONDecodeError):
        if content.msg != "Extra data":
            raise FormatError(source.name, content.lineno, f"not valid JSON: {content.msg}", remedy=shape)
        return _lines(text, source.name)
    if isinstance(content, list) and content and all(isinstance(each, Mapping) for each in content):
        return rows_of(content, source.name)
    return _mapping(content, source.name, shape)


def rows_of(content: list[Any], name: str) -> JsonRows:
    """Return the objects of a list, numbered.

    >>> rows_of([{"query": "a"}], "rows.json").rows[0].number
    1
    """
    return JsonRows(name, tuple(PlacedRow(number, each) for number, each in enumerate(content, 1)), are_lines=False)


def _text(source: Source) -> bytes:
    return source.read_whole().removeprefix(BYTE_ORDER_MARK)


def _whole(text: bytes, name: str, shape: str) -> Any:
    """Return the value that a text is, or the error that says where JSON ends."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, name, None))
    except json.JSONDecodeError as error:
        return error
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text: {error.reason}"
        raise FormatError(name, None, problem, remedy="convert it to UTF-8") from None
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, or brackets in brackets
        raise FormatError(name, None, f"not valid JSON: {error}", remedy=shape) from None


def _lines(text: bytes, name: str) -> JsonRows:
    rows = []
    for number, line in enumerate(
        text.decode(errors="surrogatepass").split("\n"), 1
    ):  # splitlines would cut at marks within a text
        if line.strip():
            rows.append(PlacedRow(number, object_on(line, name, number, refuses_repeats=True)))
    return JsonRows(name, tuple(rows), are_lines=True)


def object_on(
    line: str, name: str, number: int, *, refuses_repeats: bool = False, remedy: str = ""
) -> Mapping[str, Any]:
    """Return the object that a line of JSON lines is; a key that is given twice is refused where it matters.

    >>> object_on('{"query": "a"}', "rows.jsonl", 1)
    {'query': 'a'}
    """
    remedy = remedy or "in JSON lines, each line is one object"
    hook = (lambda pairs: _unique(pairs, name, number)) if refuses_repeats else None
    try:
        content = json.loads(line, object_pairs_hook=hook)
    except (ValueError, RecursionError) as error:
        what = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise FormatError(name, number, f"not valid JSON: {what}: {shown(line)}", remedy=remedy) from None
    if not isinstance(content, Mapping):
        raise FormatError(name, number, f"expected a JSON object, found {shown(line)}", remedy=remedy)
    return content


def _mapping(content: Any, name: str, shape: str) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        found = "a list" if isinstance(content, list) else f"a {type(content).__name__}"
        raise FormatError(name, None, f"expected a JSON object, found {found}", remedy=shape)
    return content


def _unique(pairs: list[tuple[str, Any]], name: str, line: int | None) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise FormatError(name, line, f"the key {shown(twice)} occurs twice in one object", remedy="keep one of them")
    return content

"""Cells: how a CSV file is divided into rows and cells, as every engine must understand it.

Belongs here: the header of CSV, and finding the line that is wrong. Not here: reading large files, which libraries do
faster (tablefiles, duckdb, engines).

The rules: one separator (tab, comma or semicolon) and one line end (LF, CRLF or CR) for the whole file, both taken from
the first line; a quotation mark encloses a whole cell, in which it is doubled, and only there are other line ends;
every row has as many cells as the header; empty lines are skipped; blanks around a cell do not count, not even within
quotation marks, because not every library tells those apart. A file that breaks a rule is refused, because libraries
would read it differently.
"""

import io
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from typing import NamedTuple

from lexirecall.errors import FormatError, counted, shown
from lexirecall.formats.columns import Given, find_columns, has_usual_columns
from lexirecall.formats.source import BYTE_ORDER_MARK, SUFFIXES, Source
from lexirecall.formats.values import BLANKS

_SEPARATORS = "\t,;"
_BLOCK = 1 << 20
_QUOTED = r'"(?:[^"]++|"")*+"'
_CELL = _QUOTED + r'|[^"\r\n{separator}]*+'


class Header(NamedTuple):
    """The first line of a CSV file: the names of its columns, and how the rows below it are written."""

    separator: str
    names: tuple[str, ...]
    line_end: str = "\n"
    r"""What ends a line: "\r", or "\n", before which there may be a "\r" as well."""


def csv_header(source: Source, kind: str, columns: Given) -> Header | None:
    """Return the header of a file if it has one: a first line with usual names of columns, or with those given."""
    headers = possible_headers(source.head)
    for header in headers:
        if has_usual_columns(header.names) or (columns and _has_given(header, kind, columns)):
            return header
    name = source.path
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    if headers and name.lower().endswith(".csv") and not source.head.lstrip().startswith((b"{", b"[")):
        find_columns(headers[0].names, kind, columns, source=source.name)  # says what is missing
    return None


def possible_headers(head: bytes) -> list[Header]:
    r"""Split the first line at each of the separators that it has.

    >>> possible_headers(b'qid;"doc, no" ;score\r007;a;1\r')
    []
    >>> possible_headers(b'qid; "doc;no"\r')
    []
    >>> possible_headers(b'qid ;"doc;no"\r')
    [Header(separator=';', names=('qid', 'doc;no'), line_end='\r')]
    """
    try:
        line, line_end = _first_line(head.removeprefix(BYTE_ORDER_MARK))
    except UnicodeDecodeError:
        return []
    if "\0" in line:
        return []
    found = ((separator, _split(line, separator)) for separator in _SEPARATORS if separator in line)
    return [
        Header(separator, tuple(name.strip(BLANKS) for name in cells), line_end)
        for separator, cells in found
        if cells is not None
    ]


def _first_line(text: bytes) -> tuple[str, str]:
    """Return the first line, in which a quoted name may hold line ends, and what ends it."""
    for end in re.finditer(rb"\r?\n|\r", text):
        if text.count(b'"', 0, end.start()) % 2 == 0:
            return text[: end.start()].decode(), "\r" if end[0] == b"\r" else "\n"
    return text.decode(), "\n"


def _has_given(header: Header, kind: str, columns: Given) -> bool:
    try:
        find_columns(header.names, kind, columns, source="")
    except FormatError:
        return False
    return True


def _split(row: str, separator: str) -> list[str] | None:
    """Return the cells of a row, or None if a quotation mark does not enclose a whole cell, or none a line end."""
    if not any(sign in row for sign in '"\r\n'):
        return row.split(separator)
    cell = _CELL.format(separator=separator)
    if not re.fullmatch(rf"(?:{cell})(?:{separator}(?:{cell}))*+", row):
        return None
    cells = re.findall(rf"(?:^|{separator})({cell})", row)
    return [text[1:-1].replace('""', '"') if text.startswith('"') else text for text in cells]


def rows(source: Source, header: Header) -> Generator[tuple[int, str], None, None]:
    """Give all rows except the header, empty ones too, as they are written, and the line on which each begins."""
    with (
        source.open() as stream,
        io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline=header.line_end) as text,
    ):
        parts: list[str] = []
        start, is_open = 1, False
        for number, line in enumerate(_lines(text, source), 1):
            start = start if is_open else number
            is_open ^= line.count('"') % 2 == 1
            parts.append(line)
            if not is_open:
                if start > 1:  # below the header
                    yield start, "".join(parts).rstrip("\r\n")
                parts = []
    if is_open:
        problem = f"a quotation mark is never closed: {shown(parts[0])}"
        raise FormatError(source.name, start, problem, remedy="close it; within a quoted cell, write it twice")


def _lines(text: io.TextIOWrapper, source: Source) -> Iterator[str]:
    for number, line in enumerate(text, 1):
        try:
            line.isascii() or line.encode()
        except UnicodeEncodeError:
            problem = f"not UTF-8 text: {line.rstrip(BLANKS).encode(errors='surrogateescape')[:80]!r}"
            raise FormatError(source.name, number, problem, remedy="convert it to UTF-8") from None
        yield line


def cells_of_rows(source: Source, header: Header) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Give the cells of each row below the header, without blanks around them, and its line; raise if a rule is broken.

    Empty lines are skipped, and so are rows in which every cell is empty.
    """
    for line, row in rows(source, header):
        cells = _split(row, header.separator)
        if row and (cells is None or len(cells) != len(header.names)):
            raise _broken_rule(source, header, line, row)
        stripped = tuple(cell.strip(BLANKS) for cell in cells or ())
        if any(stripped):
            yield line, stripped


def check_rows(source: Source, header: Header) -> None:
    """Raise if a row breaks a rule of CSV, and say on which line."""
    cell, separator = _CELL.format(separator=header.separator), header.separator
    is_good = re.compile(rf"(?:{cell})(?:{separator}(?:{cell})){{{len(header.names) - 1}}}+").fullmatch
    for line, row in rows(source, header):
        if row and not is_good(row):
            raise _broken_rule(source, header, line, row)


def _broken_rule(source: Source, header: Header, line: int, row: str) -> FormatError:
    cells = _split(row, header.separator)
    if cells is None and re.search("[\r\n]", re.sub(_QUOTED, "", row)):
        problem = f"a line end of another kind is within the row: {shown(row)}"
        remedy = "end all lines alike, and put a cell that has line ends in quotation marks"
        return FormatError(source.name, line, problem, remedy=remedy)
    if cells is None:
        problem = f"a quotation mark is inside a cell: {shown(row)}"
        remedy = "put the whole cell in quotation marks, blanks too, and double the marks inside it"
        return FormatError(source.name, line, problem, remedy=remedy)
    found, expected = counted(len(cells), "cell"), len(header.names)
    problem = f"the row has {found}, but the header has {expected:,}: {shown(row)}"
    is_short = len(cells) < expected
    remedy = "is the file cut off? Write every cell" if is_short else "quote each cell that holds the separator"
    return FormatError(source.name, line, problem, remedy=remedy)


def check_quotes(source: Source, header: Header) -> None:
    """Raise if a row breaks a rule of CSV, in a file with marks or line ends on which libraries differ.

    It is read to its end first, so that what unpacks to far more than its size costs no more than that.
    """
    is_doubtful = re.compile(rb'"|\n' if header.line_end == "\r" else rb'"|\r[^\r\n]').search
    found, last = False, b""
    with source.open() as stream:
        for block in iter(lambda: stream.read(_BLOCK), b""):
            found = found or is_doubtful(last + block) is not None
            last = block[-1:]
    if found:
        check_rows(source, header)


def line_of(source: Source, header: Header, row: int) -> int:
    """Return the line on which a row begins; rows count from 0, and a cell may hold line ends."""
    with closing(rows(source, header)) as numbered_rows:
        line, _ = next(islice(numbered_rows, row, None))
    return line

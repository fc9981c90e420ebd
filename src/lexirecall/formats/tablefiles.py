"""Table files: Parquet and CSV, and folders of Parquet.

Belongs here: recognizing a file that holds a table, and reading the columns that are needed of it. Not here: unpacking
(source), what columns and rows mean (columns, frames, rows). Imports errors and this package's columns, frames and
source; and polars late, which reads them (extra `frames`).

As all files, these are recognized by their content: Parquet by its first bytes, CSV by a first line that names columns,
separated by tabs, commas or semicolons. Every cell of a CSV file is text, so that the id 007 stays 007.
"""

import contextlib
import csv
import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexirecall.errors import FormatError, UsageError
from lexirecall.formats.columns import Given, find_columns, has_usual_columns
from lexirecall.formats.frames import Frame, Table, is_frame, open_frame, used_columns
from lexirecall.formats.source import BYTE_ORDER_MARK, SUFFIXES, Source

PARQUET = b"PAR1\x15"  # the fifth byte begins the first page, or the footer; a request may be called PAR1
_MAGIC = b"PAR1"
_SEPARATORS = "\t,;"
_LONGEST_HEADER = 1 << 16


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a CSV file."""

    separator: str
    names: list[str]


def open_table_file(source: Source, kind: str, given: Given = None) -> Table | None:
    """Open a file that holds a table of a `run`, `qrels` or `providers`; None if it holds something else."""
    if Path(source.path).is_dir():
        return _open_folder(source, kind, given)
    with source.open() as stream:
        head = stream.read(_LONGEST_HEADER)
    if head.startswith(PARQUET):
        return _open_parquet(source, kind, given)
    header = csv_header(head, source, kind, given)
    return None if header is None else _open_csv(source, header, kind, given)


def may_hold_table(run: object) -> bool:
    """Tell whether something may be a table of several systems: a frame, a folder, or a file that looks like one.

    A pipe cannot be looked into without taking what it holds, so that the answer is yes.
    """
    if not isinstance(run, (str, os.PathLike)):
        return is_frame(run)
    path = os.fspath(run)
    try:
        if path == "-" or not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return True
        with Source(path).open() as stream:
            head = stream.read(_LONGEST_HEADER)
    except (OSError, FormatError):
        return False  # whoever reads it will say what is wrong
    return head.startswith(PARQUET) or any(len(names) > 1 and has_usual_columns(names) for _, names in _split(head))


def csv_header(head: bytes, source: Source, kind: str, given: Given) -> Header | None:
    """Return the header of a file that begins so: a first line with usual names of columns, or with those given."""
    lines = _split(head)
    for separator, names in lines:
        if has_usual_columns(names) or (given and _has_given(names, kind, given)):
            return Header(separator, names)
    name = source.path
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    if lines and name.lower().endswith(".csv") and not head.lstrip().startswith((b"{", b"[")):
        find_columns(lines[0][1], kind, given, source=source.name)  # says what is missing
    return None


def _split(head: bytes) -> list[tuple[str, list[str]]]:
    """Split the first line at each of the separators that it has."""
    first = head.removeprefix(BYTE_ORDER_MARK).split(b"\n", 1)[0].rstrip(b"\r")
    try:
        line = first.decode()
    except UnicodeDecodeError:
        return []
    if "\0" in line:
        return []
    return [(each, next(csv.reader([line], delimiter=each))) for each in _SEPARATORS if each in line]


def _has_given(names: list[str], kind: str, given: Given) -> bool:
    try:
        find_columns(names, kind, given, source="")
    except FormatError:
        return False
    return True


def _open_folder(source: Source, kind: str, given: Given) -> Table:
    """Take the Parquet files in a folder and below as one table; folders such as system=bm25 are columns of it."""
    files = [path for path in sorted(Path(source.path).rglob("*")) if path.is_file() and _is_parquet(path)]
    if not files:
        remedy = "name a file, or a folder of Parquet files"
        raise FormatError(source.name, None, "is a directory, without Parquet files", remedy=remedy)
    pl = _polars(source)
    below = [path.relative_to(source.path).parts[:-1] for path in files]
    keys = {part.split("=", 1)[0]: pl.String for parts in below for part in parts if "=" in part}
    with _said_of(source):
        return _finished(
            pl.scan_parquet(files, glob=False, hive_partitioning=bool(keys), hive_schema=keys or None),
            source, kind, given,
        )  # fmt: skip


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return not path.name.startswith((".", "_")) and file.read(len(PARQUET)) == PARQUET


def _open_parquet(source: Source, kind: str, given: Given) -> Table:
    pl = _polars(source)
    content = _content(source)
    with _said_of(source):
        _check_whole(content)
        if isinstance(content, str):
            return _finished(pl.scan_parquet(content, glob=False), source, kind, given)
        columns = find_columns([*pl.read_parquet_schema(content)], kind, given, source=source.name)
        content.seek(0)
        return _finished(pl.read_parquet(content, columns=used_columns(columns, kind)), source, kind, given)


def _check_whole(content: Any) -> None:
    """Raise unless Parquet ends as it begins."""
    with Path(content).open("rb") if isinstance(content, str) else contextlib.nullcontext(content) as file:
        file.seek(-len(_MAGIC), io.SEEK_END)
        end = file.read()
        file.seek(0)
    if end != _MAGIC:
        raise EOFError


def _open_csv(source: Source, header: Header, kind: str, given: Given) -> Table:
    pl = _polars(source)
    columns = find_columns(header.names, kind, given, source=source.name)
    with _said_of(source):
        cells = pl.read_csv(
            _content(source), separator=header.separator, infer_schema_length=0, glob=False,
            columns=used_columns(columns, kind),
        )  # fmt: skip
        is_empty = cells.select(pl.all_horizontal(pl.all().is_null())).to_series()
        table = _finished(cells.filter(~is_empty), source, kind, given)
    rows = (~is_empty).arg_true()  # empty lines are passed over
    return Table(table.frame, table.columns, table.name, lambda row: _line_of(source, header, rows[row]))


def _line_of(source: Source, header: Header, row: int) -> int:
    """Return the line on which a row begins; a cell may hold line ends."""
    with source.open() as stream, io.TextIOWrapper(stream, newline="") as text:
        reader = csv.reader(text, delimiter=header.separator)
        for _ in range(row + 1):  # the header is no row
            next(reader)
        return reader.line_num + 1


def _finished(frame: Frame, source: Source, kind: str, given: Given) -> Table:
    table = open_frame(frame, kind, given, name=source.name)
    if source.advance is not None and not source.is_packed:
        source.advance(source.size)
    return table


def _content(source: Source) -> Any:
    """Return the path of a plain file, which need not be held in memory, or what is unpacked or piped in."""
    if not source.is_packed and source.path != "-" and Path(source.path).is_file():
        return source.path
    with source.open() as stream:
        return io.BytesIO(stream.read())


def _polars(source: Source) -> Any:
    try:
        import polars as pl
    except ModuleNotFoundError:
        problem = f"{source.name}: polars is not installed, which reads Parquet and CSV files"
        raise UsageError(problem, remedy="pip install 'lexirecall[frames]'") from None
    return pl


@contextlib.contextmanager
def _said_of(source: Source) -> Iterator[None]:
    """Turn what polars raises while it reads a file into an error about that file."""
    try:
        yield
    except EOFError:
        raise FormatError(source.name, None, "the Parquet file is truncated", remedy="copy it again") from None
    except (FormatError, UsageError):
        raise
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # where a file is damaged polars may also panic, which is no Exception
        reason = str(error).split("\n", 1)[0][:200]
        raise FormatError(source.name, None, f"the table cannot be read: {reason}", remedy="is it damaged?") from None

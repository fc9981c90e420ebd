"""Table files: Parquet and CSV, and folders of them.

Belongs here: reading the columns that are needed of such files. Not here: what a file is (kinds), unpacking (source),
which files a folder holds (folders), rows and cells of CSV (cells), what columns and rows mean (columns, frames, rows).
polars reads them, and is imported late (extra `frames`).

Like all files, these are recognized by their content: Parquet by its first bytes, CSV by a first line that names
columns, separated by tabs, commas or semicolons. Every cell of a CSV file is text, so the id 007 stays 007.
"""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lexirecall.errors import FormatError, UsageError
from lexirecall.formats.cells import (
    Header,
    check_quotes,
    check_rows,
    csv_header,
    line_of,
    possible_headers,
)
from lexirecall.formats.columns import Columns, Given, find_columns, has_usual_columns
from lexirecall.formats.folders import check_end
from lexirecall.formats.roletable import RoleTable, open_frame, used_columns
from lexirecall.formats.source import FileType, Source
from lexirecall.formats.unpacking import MOST_UNPACKED, ROOM
from lexirecall.formats.values import BLANKS
from lexirecall.installing import how_to_install

if TYPE_CHECKING:
    from lexirecall.formats.frames import Frame

_MOST_BYTES = 1 << 24  # of a file whose unused columns are read
_ROW = 24  # bytes of a query, a document and a score in memory, at least
_ALIKE = "write the files of a folder with the same columns and types"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what writers of partitions put in place of a missing value


@dataclass(frozen=True)
class TableFiles:
    """The files of one table: a file, or those of a folder."""

    name: str
    """What messages call them."""
    paths: tuple[str, ...]
    header: Header | None
    """The header that all of them have, if they are CSV; None for Parquet."""
    folder: str | None = None

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the columns that come from folders such as run=bm25."""
        return tuple(dict.fromkeys(key for path in self.paths for key in self.partition(path)))

    def columns(self, kind: str, named_columns: Given) -> Columns:
        """Find the columns that a `run`, `qrels` or `providers` need, in the first file and in the folders."""
        columns = [*parquet_types(self.paths[0])] if self.header is None else [*self.header.names]
        names = [*columns, *(key for key in self.keys if self.header is not None or key not in columns)]
        return find_columns(names, kind, named_columns, source=self.name)

    def partition(self, path: str) -> dict[str, str | None]:
        """Return the values of such columns in one of the files, None for a missing value."""
        parts = Path(path).relative_to(self.folder).parts[:-1] if self.folder is not None else ()
        pairs = ((key, value) for key, sign, value in (part.partition("=") for part in parts) if sign)
        return {key: None if value == _NO_VALUE else unquote(value) for key, value in pairs}


def common_header(paths: tuple[str, ...], kind: str, named_columns: Given) -> Header | None:
    """Return the header of all the CSV files in a folder; None if they are Parquet."""
    first: Header | None = None
    for path in paths:
        with Source(path) as source:
            if source.type is FileType.PARQUET:
                return None
            headers = possible_headers(source.head)
            known = (
                candidate
                for candidate in headers
                if candidate == first or (first is None and has_usual_columns(candidate.names))
            )
            header = next(known, None) or csv_header(source, kind, named_columns) or next(iter(headers), None)
        if header is None or (first is not None and header != first):
            problem = "the file has no header" if first is None else f"the header differs from that of {paths[0]}"
            raise FormatError(path, 1, problem, remedy="all files of a folder need the same first line")
        first = header
    return first


@dataclass(frozen=True)
class UnopenedTable:
    """A table in files that is read as a whole once somebody asks for it."""

    files: TableFiles
    source: Source
    kind: str
    named_columns: Given

    @cached_property
    def table(self) -> RoleTable:
        """The whole table."""
        return open_tables(self.files, self.source, self.kind, self.named_columns)

    def splits(self, columns: Columns) -> str:
        """Say which unused column of a Parquet file may name runs; what is large is not read for that."""
        if self.files.header is not None or self.files.folder is not None or self.source.size > _MOST_BYTES:
            return ""
        types, used = parquet_types(self.source.path), used_columns(columns, self.kind)
        has_texts = any("str" in kind.lower() for name, kind in types.items() if name not in used)
        return self.table.splits() if has_texts else ""


def open_tables(files: TableFiles, source: Source, kind: str, named_columns: Given = None) -> RoleTable:
    """Open a file, or a folder, of a table of a `run`, `qrels` or `providers`."""
    if files.header is not None:
        table = _open_csv(files, files.header, source, kind, named_columns)
    elif files.folder is not None:
        table = _open_folder(files, kind, named_columns)
    else:
        table = _open_parquet(source, kind, named_columns)
    advance_whole(source)
    return table


def advance_whole(source: Source) -> None:
    """Show that a file has been read, if the libraries that read it do not show how far they are."""
    if source.advance is not None and not source.is_packed:
        source.advance(source.size)


def _open_folder(files: TableFiles, kind: str, named_columns: Given) -> RoleTable:
    """Take the Parquet files of a folder as one table; folders such as run=bm25 are columns of it."""
    pl = polars_for(files.name)
    schema = dict.fromkeys(files.keys, pl.String)
    check_alike(files, files.columns(kind, named_columns), kind)

    for path in files.paths:
        _check_size(path, path)

    def scan(paths: list[str]) -> Any:
        return pl.scan_parquet(paths, glob=False, hive_partitioning=bool(schema), hive_schema=schema or None)

    try:
        with _said_of(files.name):
            return open_frame(scan([*files.paths]), kind, named_columns, name=files.name)
    except FormatError as error:
        for path in files.paths:  # one of them may be to blame
            with _said_of(path):
                open_frame(scan([path]), kind, named_columns, name=path)
        raise error from None


def check_alike(files: TableFiles, columns: Columns, kind: str) -> None:
    """Raise if a file of a folder of Parquet has columns that the first lacks, or used ones of another type."""
    first, *others = files.paths
    types = parquet_types(first) if others else {}
    for path in others:
        file_types = parquet_types(path)
        for name in file_types:
            if name not in types and name not in files.keys:
                problem = f"the column {name!r} is not in {first}"
                raise FormatError(path, None, problem, remedy=_ALIKE)
        for name in used_columns(columns, kind):
            if name in types and name not in file_types and name not in files.keys:
                raise FormatError(path, None, f"the column {name!r} of {first} is missing", remedy=_ALIKE)
            # a column without any value is of type Null, which goes with every other type
            if name in file_types and file_types[name] not in (types[name], "Null", "null"):
                problem = f"the column {name!r} has the type {file_types[name]}, but {types[name]} in {first}"
                raise FormatError(path, None, problem, remedy=_ALIKE)


def parquet_types(path: str) -> dict[str, str]:
    """Return the columns of a Parquet file and the names of their types, as its writer meant them."""
    with _said_of(path):
        try:
            import polars as pl

            schema = pl.scan_parquet(path, glob=False, hive_partitioning=False).collect_schema()
            return {name: str(kind) for name, kind in schema.items()}
        except ModuleNotFoundError:
            from pyarrow import parquet

            return {field.name: str(field.type) for field in parquet.read_schema(path)}


def _open_parquet(source: Source, kind: str, named_columns: Given) -> RoleTable:
    pl = polars_for(source.name)
    import polars.selectors as cs

    content = content_of(source)
    with _said_of(source.name):
        check_whole(content, source.name)
        _check_size(content, source.name)
        if isinstance(content, str):
            scanned = pl.scan_parquet(content, glob=False)
            if kind == "run" and source.size <= _MOST_BYTES:
                used = used_columns(
                    find_columns(scanned.collect_schema().names(), kind, named_columns, source=source.name), kind
                )
                scanned = scanned.select(pl.col(used), (cs.string() | cs.categorical()) - cs.by_name(used)).collect()
            return open_frame(scanned, kind, named_columns, name=source.name)
        columns = find_columns([*pl.read_parquet_schema(content)], kind, named_columns, source=source.name)
        content.seek(0)
        table: Frame = pl.read_parquet(content, columns=used_columns(columns, kind))
        return open_frame(table, kind, named_columns, name=source.name)


def check_whole(content: Any, name: str) -> None:
    """Raise unless Parquet, a path or what is unpacked, ends as it begins."""
    with Path(content).open("rb") if isinstance(content, str) else contextlib.nullcontext(content) as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(size - 4, 0))
        check_end(name, size, file.read())
        file.seek(0)


def _check_size(content: Any, name: str) -> None:
    """Raise if Parquet, a path or what is unpacked, holds far more rows than any table of its size."""
    pl = polars_for(name)
    with _said_of(name):
        num_rows = pl.scan_parquet(content, glob=False, hive_partitioning=False).select(pl.len()).collect().item()
    size = Path(content).stat().st_size if isinstance(content, str) else content.seek(0, io.SEEK_END)
    if not isinstance(content, str):
        content.seek(0)
    check_rows_of_size(num_rows, size, name)


def check_rows_of_size(num_rows: int, size: int, name: str) -> None:
    """Raise if there are far more rows than in any table of a size in bytes."""
    if num_rows * _ROW > max(ROOM, MOST_UNPACKED * size):
        problem = f"{num_rows:,} rows in {size:,} bytes unpack to more than {MOST_UNPACKED:,} times that"
        raise FormatError(name, None, problem, remedy="are they all the same? Write them as text, if you trust them")


def _open_csv(files: TableFiles, header: Header, source: Source, kind: str, named_columns: Given) -> RoleTable:
    """Take the cells of CSV files as one table of texts."""
    pl = polars_for(files.name)
    used = used_columns(find_columns([*header.names, *files.keys], kind, named_columns, source=files.name), kind)
    sources = [source] if files.folder is None else [Source(path) for path in files.paths]
    is_small = kind == "run" and files.folder is None and source.size <= _MOST_BYTES
    others = [name for name in header.names if is_small and name not in used and header.names.count(name) == 1]
    parts, rows = [], []
    for file in sources:
        cells, kept = _cells(file, header, [name for name in used if name in header.names], others)
        values = files.partition(file.path) if files.folder is not None else {}
        missing = {key: pl.lit(values.get(key), pl.String) for key in used if key not in header.names}
        parts.append(cells.with_columns(**missing).select(*used, *others))
        rows.append(kept)
    table = open_frame(pl.concat(parts), kind, named_columns, name=files.name)

    def place(row: int) -> tuple[str, int]:
        part = 0
        while row >= len(rows[part]):
            row, part = row - len(rows[part]), part + 1
        return sources[part].name, line_of(sources[part], header, rows[part][row])

    return replace(table, place_of=place)


def _cells(source: Source, header: Header, used: list[str], others: list[str]) -> tuple[Any, Any]:
    """Return the columns that are used, without blanks around cells; and which rows they are, empty ones left out."""
    pl = polars_for(source.name)
    check_quotes(source, header)
    places = sorted({*(header.names.index(name) for name in [*used, *others]), len(header.names) - 1})
    try:
        with _said_of(source.name):
            content = content_of(source)
            if isinstance(content, str) and any(
                sign in content for sign in "*?["
            ):  # polars 1.20 takes it for a pattern
                content = io.BytesIO(Path(content).read_bytes())
            cells = pl.read_csv(
                content, separator=header.separator, infer_schema_length=0, glob=False, columns=places,
                eol_char=header.line_end,
            )  # fmt: skip
    except FormatError:
        check_rows(source, header)  # knows the line
        raise
    cells.columns = [str(place) for place in places]
    nothing = pl.all_horizontal(pl.all().is_null())
    if cells.filter(~nothing)[:, -1].null_count():  # the last cell of a row is empty, or it is not there
        check_rows(source, header)
    chosen = cells.select(
        pl.col(str(header.names.index(name))).str.strip_chars(BLANKS).replace("", None).alias(name)
        for name in [*used, *others]
    )
    is_kept = ~chosen.select(pl.all_horizontal(pl.col(used).is_null())).to_series()
    return chosen.filter(is_kept), is_kept.arg_true()


def content_of(source: Source) -> Any:
    """Return the path of a plain file, which need not be held in memory, or what is unpacked or piped in."""
    if not source.is_packed and source.is_regular:
        return source.path
    return io.BytesIO(source.read_whole())


def polars_for(name: str) -> Any:
    """Return the library that reads tables; raise if it is not installed, and name the file that needs it."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        problem = f"{name}: reading tables needs polars, which is not installed"
        raise UsageError(problem, remedy=how_to_install("frames")) from None
    return pl


@contextlib.contextmanager
def _said_of(name: str) -> Iterator[None]:
    """Turn what polars raises while it reads a file into an error about that file."""
    try:
        yield
    except (FormatError, UsageError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # polars may panic on a damaged file, and that is not an Exception
        reason = str(error).split("\n", 1)[0][:200]
        raise FormatError(name, None, f"the table cannot be read: {reason}", remedy="is it damaged?") from None

"""Tables that DuckDB reads: Parquet and CSV, files and folders, relations and frames.

Belongs here: what SQL reads them, and which columns they have. Not here: the plan, and who runs it. Imports errors,
formats and this package's plan and duckdb_session.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexirecall.engines.duckdb_session import Session
from lexirecall.engines.plan import Plan, literal
from lexirecall.errors import FormatError, UsageError
from lexirecall.formats.cells import csv_header
from lexirecall.formats.columns import Given, find_columns
from lexirecall.formats.folders import PARQUET
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.source import Source

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
_FLOATS = ("FLOAT", "DOUBLE", "DECIMAL")
_IDS = ("VARCHAR", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
        "UBIGINT", "UHUGEINT", "ENUM", "UUID", *_FLOATS)  # fmt: skip
_STREAMING = "text and JSON are read line by line anyway, in little memory: leave out the engine"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of runs."""

    label: str
    """What messages call it."""
    source: str
    """What SQL selects from."""
    name: str
    """What the system is called if no column says so."""
    is_given: bool = False
    """Whether the name was given with the table, and so goes before what the table says."""
    is_cheap: bool = False
    """Whether it may be read again and again: Parquet gives only the columns that are asked for."""

    def rows(self, session: Session, plan: Plan, given: Given) -> tuple[str, str | None]:
        """Return the query for its rows, and the column of systems if there is one."""
        with session.explained(self.label):
            described = session.connection.execute(f"DESCRIBE SELECT * FROM {self.source}").fetchall()
        types = {str(name): str(kind).upper() for name, kind, *_ in described}
        columns = find_columns(list(types), "run", given, source=self.label)
        for column in filter(None, (columns.request, columns.item, columns.system)):
            if not types[column].startswith(_IDS) or types[column].endswith("]"):
                problem = f"the column {column!r} has the type {types[column]}, of which there are no ids"
                raise FormatError(self.label, None, problem, remedy="ids are text or whole numbers; convert it first")
        floats = frozenset(name for name, kind in types.items() if kind.startswith(_FLOATS))
        name = None if columns.system and not self.is_given else self.name
        return plan.rows(self.source, columns, floats, name), columns.system


def open_table(session: Session, named: NamedRun, given: Given) -> Table:
    """Open a run that is a table: a file, a folder, a relation or a frame."""
    if isinstance(named.run, Mapping):
        raise UsageError(f"run {named.name!r} is a mapping, which is in memory", remedy="leave out the engine")
    if not isinstance(named.run, (str, os.PathLike)):
        return _of_object(session, named)
    path = os.fspath(named.run)
    if Path(path).is_dir():
        files, options = _files_of(path), ", hive_partitioning = true, hive_types_autocast = false"
    else:
        files, options = [path], ""
    with Source(files[0]).open() as stream:
        head = stream.read(1 << 16)
    names = f"[{', '.join(literal(_escaped(file)) for file in files)}]{options}"
    if head.startswith(PARQUET):
        source = f"read_parquet({names}, binary_as_string = true)"
        return Table(named.label, source, named.name, is_given=named.is_given, is_cheap=True)
    return Table(named.label, f"read_csv({names}, {_csv_options(head, files[0], given)})", named.name, named.is_given)


def _of_object(session: Session, named: NamedRun) -> Table:
    """Let DuckDB scan a relation or a frame where it is."""
    view = f"lexirecall_source_{len(session.registered)}"
    try:
        session.register(view, named.run)
    except session.errors:
        if type(named.run).__name__ != "DuckDBPyRelation":
            problem = f"run {named.name!r} is a {type(named.run).__name__}, which DuckDB cannot read"
            raise UsageError(problem, remedy="leave out the engine") from None
        raise UsageError(
            f"run {named.name!r} is a relation of another connection", remedy="give that connection too: connection=..."
        ) from None
    return Table(named.label, view, named.name, named.is_given)


def _files_of(folder: str) -> list[str]:
    """Return the files that a folder has of one kind; those whose names begin with . or _ are not part of a table."""
    found = [path for path in sorted(Path(folder).rglob("*")) if path.is_file() and path.name[0] not in "._"]
    files = [path for path in found if _begins(path, PARQUET)]
    for suffix in _CSV:
        files = files or [path for path in found if path.name.endswith(suffix)]
    if not files:
        problem = "is a directory, without Parquet or CSV files"
        raise FormatError(folder, None, problem, remedy="name a file, or a folder of Parquet files")
    return [str(path) for path in files]


def _begins(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _escaped(path: str) -> str:
    """Return a path that DuckDB takes for itself, not for a pattern.

    >>> _escaped("runs/[a]*.csv")
    'runs/[[]a][*].csv'
    """
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)


def _csv_options(head: bytes, path: str, given: Given) -> str:
    """Return how DuckDB is to read a CSV file, or raise if the first line is no header."""
    header = csv_header(head, Source(path), "run", given)
    if header is None:
        problem = "is neither Parquet nor CSV with a first line that names columns of requests and items"
        raise FormatError(path, None, problem, remedy=_STREAMING)
    return (
        f"all_varchar = true, header = true, delim = {literal(header.separator)}, quote = '\"', escape = '\"', "
        f"compression = {literal(_packing(path))}"
    )


def _packing(path: str) -> str:
    for magic, kind in _PACKED.items():
        if _begins(Path(path), magic):
            return kind
    if _begins(Path(path), b"BZh") or _begins(Path(path), b"\xfd7zXZ"):
        raise FormatError(path, None, "DuckDB does not unpack bz2 and xz", remedy="pack it as gz or zst, or as Parquet")
    return "none"


def hand_over(session: Session, name: str, columns: Mapping[str, Any]) -> None:
    """Append rows, given as arrays by name, to a table; texts are arrays of objects."""
    session.connection.register("lexirecall_rows_in_memory", dict(columns))
    names = ", ".join(columns)
    try:
        with session.explained("judgments"):
            session.connection.execute(f"INSERT INTO {name} ({names}) SELECT {names} FROM lexirecall_rows_in_memory")
    finally:
        session.connection.unregister("lexirecall_rows_in_memory")

"""Tables that DuckDB reads: Parquet and CSV, files and folders, relations and frames.

Belongs here: what SQL reads them, and which columns they have. Not here: the plan, and who runs it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from lexirecall.errors import FormatError, UsageError
from lexirecall.formats.casts import DUCKDB, literal
from lexirecall.formats.cells import Header, check_quotes, check_rows
from lexirecall.formats.columns import Given, find_columns
from lexirecall.formats.duckdb.session import Session
from lexirecall.formats.enginefiles import DUCKDB as FILES
from lexirecall.formats.kinds import is_rows
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.plan import UNITS, Plan
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import TableFiles
from lexirecall.formats.values import check_kind, kind_of
from lexirecall.units.unitmap import UnitMap

BLOCK = 1 << 18
"""How many rows are Python objects at a time."""
_PACKINGS = {"": "none", "gz": "gzip", "zst": "zstd"}


@dataclass(frozen=True, slots=True)
class DuckdbTable:
    """A table of runs."""

    label: str
    """What messages call it."""
    source: str
    """What SQL selects from."""
    name: str
    """What the system is called if no column names it."""
    is_given: bool = False
    """Whether the name was given with the table, and so takes precedence over those in the table."""
    is_cheap: bool = False
    """Whether it may be read again and again: Parquet gives only the columns that are asked for."""
    files: TableFiles | None = None

    @property
    def header(self) -> Header | None:
        """The header, if it is CSV."""
        return None if self.files is None else self.files.header

    def rows(self, session: Session, plan: Plan, given: Given) -> tuple[str, str | None]:
        """Return the query for its rows, and the column of systems if there is one."""
        with self.explained(session):
            kinds = _kinds(session, self.source)
            names = self._names(session)
        columns = find_columns(names or [*kinds], "run", given, source=self.label)
        for role, column in columns.roles("run").items():
            if column is not None:
                self._check_told_apart(session, column, names, [*kinds])
                check_kind(kinds[column], role, column, self.label)
        name = None if columns.system and not self.is_given else self.name
        are_cells = self.header is not None
        query = plan.rows(self.source, columns, kinds, name, label=literal(self.label), are_cells=are_cells)
        return query, columns.system

    def _names(self, session: Session) -> list[str]:
        """Return the names of the columns in the files, if it is files."""
        if self.files is None:
            return []
        own = _parquet_names(session, self.files.paths[0]) if self.header is None else [*self.header.names]
        return [*own, *(key for key in self.files.keys if self.header is not None or key not in own)]

    def _check_told_apart(self, session: Session, column: str, names: Sequence[str], known: Sequence[str]) -> None:
        """Raise if DuckDB calls a column by another name, in any file."""
        _check_told_apart(column, names, known, self.label)
        if self.files is None or self.header is not None or len({name.lower() for name in names}) == len(names):
            return
        for path in self.files.paths[1:]:
            with session.explained(path):
                kinds = _kinds(session, f"read_parquet({literal(_escaped(path))})")
                _check_told_apart(column, _parquet_names(session, path), [*kinds], path)

    @contextmanager
    def explained(self, session: Session) -> Iterator[None]:
        """Turn errors of DuckDB into ours; the line of CSV, and the file of a folder, are looked for."""
        try:
            with session.explained(self.label):
                yield
        except FormatError:
            for path in self.files.paths if self.files is not None else ():
                if self.header is not None:
                    check_rows(Source(path), self.header)
                else:
                    with session.explained(path):
                        read = f"SELECT max(hash(t)) FROM read_parquet({literal(_escaped(path))}) AS t"
                        session.connection.execute(read).fetchall()
            raise


def _kinds(session: Session, source: str) -> dict[str, str]:
    """Return what each column of a source holds."""
    described = session.connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {str(name): kind_of(str(kind)) for name, kind, *_ in described}


def _parquet_names(session: Session, path: str) -> list[str]:
    """Return the columns of a Parquet file, as it calls them."""
    query = f"SELECT name, num_children FROM parquet_schema({literal(_escaped(path))})"
    _, *fields = session.connection.execute(query).fetchall()
    names, within = [], 0  # a column that is nested is followed by what it holds
    for name, num_children in fields:
        if within:
            within -= 1
        else:
            names.append(str(name))
        within += num_children or 0
    return names


def _check_told_apart(column: str, names: Sequence[str], known: Sequence[str], source: str) -> None:
    """Raise if DuckDB calls a column by another name: to DuckDB, `score` and `Score` are the same."""
    if column in names and known[names.index(column)] != column:
        problem = f"DuckDB cannot find the column {column!r}, because another name differs only in case"
        raise FormatError(source, None, problem, remedy="rename one, or leave out the engine")


def open_table(session: Session, named: NamedRun, given: Given) -> DuckdbTable:
    """Open a run that is a table: a file, a folder, a relation or a frame."""
    if isinstance(named.run, Mapping):
        raise UsageError(f"run {named.name!r} is a mapping, which is already in memory", remedy="leave out the engine")
    if is_rows(named.run):
        raise UsageError(f"run {named.name!r} is JSON, which is read into memory", remedy="leave out the engine")
    if not isinstance(named.run, (str, os.PathLike)):
        return _of_object(session, named, given)
    files = FILES.files(named.run, "run", given)
    read = f"read_parquet({_names(files, files.paths)})" if files.header is None else _csv(files, files.header)
    return DuckdbTable(named.label, read, named.name, named.is_given, files.header is None, files)


def _csv(files: TableFiles, header: Header) -> str:
    """Return what reads CSV: cells as they are, because DuckDB would guess, and go on after an odd row."""
    for path in files.paths:
        check_quotes(Source(path), header)
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(header.names)))
    options = (
        f"auto_detect = false, columns = {{{columns}}}, header = true, delim = {literal(header.separator)}, "
        "quote = '\"', escape = '\"'"
    )
    names = [f"c{place} AS {DUCKDB.name(name)}" for place, name in enumerate(_told_apart(header.names))]
    names += [DUCKDB.name(key) for key in files.keys]
    parts: dict[str, list[str]] = {}
    for path in files.paths:
        parts.setdefault(_packing(path), []).append(path)
    reads = (
        f"SELECT {', '.join(names)} FROM read_csv({_names(files, paths)}, {options}, compression = '{packing}')"
        for packing, paths in parts.items()
    )
    return f"({' UNION ALL '.join(reads)})"


def _told_apart(names: Sequence[str]) -> list[str]:
    """Return a name for each column: its own, unless DuckDB takes it for that of an earlier one.

    >>> _told_apart(["qid", "score", "Score"])
    ['qid', 'score', 'lexirecall 2']
    """
    lower = [name.lower() for name in names]
    return [
        name if name and lower.index(name.lower()) == place else f"lexirecall {place}"
        for place, name in enumerate(names)
    ]


def _names(files: TableFiles, paths: Sequence[str]) -> str:
    options = "" if files.folder is None else ", hive_partitioning = true, hive_types_autocast = false"
    return f"[{', '.join(literal(_escaped(path)) for path in paths)}]{options}"


def _of_object(session: Session, named: NamedRun, given: Given) -> DuckdbTable:
    """Let DuckDB scan a relation or a frame where it is."""
    lazy = getattr(named.run, "collect_schema", None)  # polars warns if its columns are asked for
    names = lazy().names() if lazy else getattr(named.run, "column_names", getattr(named.run, "columns", ()))
    if len({str(name).lower() for name in names}) < len(names):  # DuckDB gives them other names
        find_columns([str(name) for name in names], "run", given, source=named.label)
    view = f"lexirecall_source_{len(session.registered)}"
    try:
        session.register(view, named.run)
    except session.errors:
        if type(named.run).__name__ != "DuckDBPyRelation":
            problem = f"run {named.name!r} is of type {type(named.run).__name__}, which DuckDB cannot read"
            raise UsageError(problem, remedy="leave out the engine") from None
        raise UsageError(
            f"run {named.name!r} is a relation of another connection",
            remedy="pass that connection too: engine_options={'connection': ...}",
        ) from None
    return DuckdbTable(named.label, view, named.name, named.is_given)


def _escaped(path: str) -> str:
    """Return a path that DuckDB takes for itself, not for a pattern.

    >>> _escaped("runs/[a]*.csv")
    'runs/[[]a][*].csv'
    """
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)


def _packing(path: str) -> str:
    """Return DuckDB's name for the packing of a file."""
    with Source(path) as source:
        return _PACKINGS[source.packing]


def text_of(identifier: bytes) -> str | None:
    """Return an id as text, None if it is not UTF-8: such an id cannot be in a table."""
    try:
        return identifier.decode()
    except UnicodeDecodeError:
        return None


def hand_over_units(session: Session, units: UnitMap, numbers: Mapping[bytes, int]) -> None:
    """Give DuckDB a map of units as the view of the plan: item, unit, and the number of its request."""
    session.table(UNITS, "request INTEGER, item VARCHAR, unit INTEGER")
    rows = (
        (None if key is None else numbers[key], text_of(item), unit)
        for key, slots in units.slots.items()
        if key is None or key in numbers
        for item, slot in slots.items()
        for unit in units.units[units.offsets[slot] : units.offsets[slot + 1]].tolist()
    )
    while block := [*islice(rows, BLOCK)]:
        requests, items, of = zip(*block, strict=True)
        columns = {"item": np.array(items, object), "unit": np.array(of)}
        hand_over(session, UNITS, columns if units.is_common else {"request": np.array(requests), **columns})


def hand_over(session: Session, name: str, columns: Mapping[str, Any]) -> None:
    """Append rows, given as arrays by name, to a table; texts are arrays of objects."""
    session.connection.register("lexirecall_rows_in_memory", dict(columns))
    names = ", ".join(columns)
    try:
        with session.explained("judgments"):
            session.connection.execute(f"INSERT INTO {name} ({names}) SELECT {names} FROM lexirecall_rows_in_memory")
    finally:
        session.connection.unregister("lexirecall_rows_in_memory")

"""Tables that DuckDB reads: Parquet and CSV, files and folders, relations and frames.

Belongs here: what SQL reads them, which columns they have, and where a row is. Not here: their order.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby

from lexirecall.errors import FormatError, UsageError
from lexirecall.formats.cells import Header, check_quotes, check_rows, rows
from lexirecall.formats.columns import Columns, Given, find_columns
from lexirecall.formats.duckdb.session import Session, literal, quoted
from lexirecall.formats.enginefiles import DUCKDB as FILES
from lexirecall.formats.enginefiles import check_outside
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.roletable import LOOKED_AT, open_frame, used_columns
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import TableFiles
from lexirecall.formats.values import BLANKS, check_kind, kind_of

PLACE = "lexirecall_place"
"""The column that says which row of a table a row is, from 0."""
_ROWS = "lexirecall_rows"
_PACKINGS = {"": "none", "gz": "gzip", "zst": "zstd"}
_BLANKS = " || ".join(f"chr({ord(sign)})" for sign in BLANKS)


@dataclass(frozen=True, slots=True)
class DuckdbTable:
    """A table of runs, and the session that reads it."""

    session: Session
    label: str
    """What messages call it."""
    source: str
    """What SQL selects from."""
    columns: Columns
    types: Mapping[str, str]
    """The types of the columns, by the names that SQL knows."""
    named_columns: Given = None
    files: TableFiles | None = None

    @property
    def used(self) -> list[str]:
        """The columns that are needed, each once."""
        return used_columns(self.columns, "run")

    def kind(self, name: str) -> str:
        """Return what a column holds."""
        return kind_of(self.types[name])

    def rows(self, *, with_places: bool) -> str:
        """Return what SQL selects rows from: the used columns as c0, c1 …, and PLACE if it is wanted.

        Parquet may be read again and again, because it gives only the columns that are asked for; all else is read
        once, and kept on disk if it is large.
        """
        cells = ", ".join(f"{self._cell(name)} AS c{at}" for at, name in enumerate(self.used))
        place = f", row_number() OVER () - 1 AS {PLACE}" if with_places else ""
        query = f"SELECT {cells}{place} FROM {self.source}"
        if self.files is not None and self.files.header is None:
            return f"({query})"
        if self.files is not None:  # a row in which nothing is used is an empty line
            is_there = ", ".join(f"c{at}" for at in range(len(self.used)))
            query = f"SELECT * FROM ({query}) WHERE coalesce({is_there}) IS NOT NULL"
        name = f"{_ROWS}_with_places" if with_places else _ROWS
        if name not in self.session.made:
            with self.explained():
                self.session.make(name, query, label=f"reading {self.label}", source=self.label)
        return name

    def _cell(self, name: str) -> str:
        cell = quoted(name)
        if self.files is not None and self.files.header is not None:  # few have blanks: looking for them costs less
            has_blanks = f"substr({cell}, 1, 1) <= ' ' OR substr({cell}, -1, 1) <= ' '"
            return f"NULLIF(CASE WHEN {has_blanks} THEN trim({cell}, {_BLANKS}) ELSE {cell} END, '')"
        return f"CAST({cell} AS VARCHAR)" if self.kind(name) == "text" else cell

    def place(self, row: int) -> tuple[str, int | str]:
        """Say where a row is: the file and the line of CSV, otherwise its number."""
        if self.files is None or self.files.header is None:
            return self.label, f"row {row:,}"
        for path in self.files.paths:
            source = Source(path)
            with closing(rows(source, self.files.header)) as lines:
                for line, text in lines:
                    if text and not row:
                        return source.name, line
                    row -= bool(text)  # an empty line is not a row
        raise AssertionError("a row is in none of the files")

    def splits(self) -> str:
        """Say which column that is not used may name runs; only the first rows are looked at."""
        unused = [name for name in self.types if self.kind(name) == "text" and name not in self.used]
        if not unused:
            return ""
        names = ", ".join(map(quoted, [*self.used, *unused]))
        with self.explained():
            looked_at = self.session.table(
                f"SELECT {names} FROM {self.source} LIMIT {LOOKED_AT}", label=f"looking at {self.label}",
                source=self.label,
            )  # fmt: skip
        return open_frame(looked_at, "run", self.named_columns, name=self.label).splits()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say more of an error of DuckDB: the line of CSV, and the file of a folder, are looked for."""
        try:
            yield
        except FormatError:
            for path in self.files.paths if self.files is not None else ():
                if self.files is not None and self.files.header is not None:
                    check_rows(Source(path), self.files.header)
                else:
                    with self.session.explained(path):
                        # a hash of the whole row, so that every column is unpacked, also the damaged one
                        read = f"SELECT max(hash(t)) FROM read_parquet({literal(_escaped(path))}) AS t"
                        self.session.connection.execute(read).fetchall()
            raise


def _names_in(session: Session, files: TableFiles) -> list[str]:
    """Return the names of the columns in files and in the names of folders."""
    columns = _parquet_names(session, files.paths[0]) if files.header is None else [*files.header.names]
    return [*columns, *(key for key in files.keys if files.header is not None or key not in columns)]


def _types(session: Session, source: str) -> dict[str, str]:
    """Return the type of each column of a source."""
    described = session.connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {str(name): str(kind) for name, kind, *_ in described}


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


def open_table(session: Session, named: NamedRun, named_columns: Given) -> DuckdbTable:
    """Open a run that is a table: a file, a folder, a relation or a frame."""
    check_outside(named)
    if not isinstance(named.run, Source):
        return _opened(session, named.label, _registered(session, named, named_columns), named_columns)
    files = FILES.files(named.run, "run", named_columns)
    read = f"read_parquet({_names(files, files.paths)})" if files.header is None else _csv(files, files.header)
    return _opened(session, named.label, read, named_columns, files)


def _opened(
    session: Session, label: str, source: str, named_columns: Given, files: TableFiles | None = None
) -> DuckdbTable:
    """Find the columns, and refuse what cannot serve."""
    table = DuckdbTable(session, label, source, columns=Columns(), types={}, named_columns=named_columns, files=files)
    with table.explained(), session.explained(label):
        types = _types(session, source)
    names = _names_in(session, files) if files is not None else []
    columns = find_columns(names or [*types], "run", named_columns, source=label)
    for role, column in columns.roles("run").items():
        if column is not None:
            _check_told_apart(column, names, [*types], label)
            check_kind(kind_of(types[column]), role, column, label)
    if files is not None and files.header is None and len({name.lower() for name in names}) < len(names):
        for path in files.paths[1:]:
            with session.explained(path):
                there = [*_types(session, f"read_parquet({literal(_escaped(path))})")]
                file_columns = _parquet_names(session, path)
            for column in used_columns(columns, "run"):
                _check_told_apart(column, file_columns, there, path)
    return replace(table, columns=columns, types=types)


def _csv(files: TableFiles, header: Header) -> str:
    """Return what reads CSV: cells as they are, because DuckDB would guess, and go on after an odd row."""
    for path in files.paths:
        check_quotes(Source(path), header)
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(header.names)))
    options = (
        f"auto_detect = false, columns = {{{columns}}}, header = true, delim = {literal(header.separator)}, "
        "quote = '\"', escape = '\"'"
    )
    names = [f"c{place} AS {quoted(name)}" for place, name in enumerate(_told_apart(header.names))]
    names += [quoted(key) for key in files.keys]
    reads = (
        f"SELECT {', '.join(names)} FROM read_csv({_names(files, [*paths])}, {options}, compression = '{packing}')"
        for packing, paths in groupby(files.paths, _packing)  # in the order of the files
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


def _registered(session: Session, named: NamedRun, named_columns: Given) -> str:
    """Let DuckDB scan a relation or a frame where it is; return its name."""
    lazy = getattr(named.run, "collect_schema", None)  # polars warns if its columns are asked for
    names = lazy().names() if lazy else getattr(named.run, "column_names", getattr(named.run, "columns", ()))
    if len({str(name).lower() for name in names}) < len(names):  # DuckDB gives them other names
        find_columns([str(name) for name in names], "run", named_columns, source=named.label)
    view = f"lexirecall_source_{len(session.registered)}"
    problem = f"run {named.name!r} is of type {type(named.run).__name__}, which DuckDB cannot read"
    remedy = "leave out the engine"
    if type(named.run).__name__ == "DuckDBPyRelation":
        problem = f"run {named.name!r} is a relation of another connection"
        remedy = "pass that connection too: engine_options={'connection': ...}"
    try:
        with session.explained(named.label):
            session.register(view, named.run)
    except FormatError:
        raise UsageError(problem, remedy=remedy) from None
    return view


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

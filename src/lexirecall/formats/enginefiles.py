"""Files for engines: which files of a table DuckDB and Spark are given, and what they do not read.

Belongs here: what is refused before an engine begins, in the same words for each. Not here: reading (duckdb, engines).

The types of Parquet columns are taken from the file itself: an engine that does not know a type, such as a duration,
may take it for numbers, and it looks at only one file of a folder.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexirecall.errors import FormatError, UsageError, listed
from lexirecall.formats.columns import Given
from lexirecall.formats.kinds import is_positions, is_rows, table_files
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.source import Source, source_of
from lexirecall.formats.tablefiles import TableFiles, check_alike, check_whole, parquet_types
from lexirecall.formats.values import check_kind, kind_of
from lexirecall.paths import is_pipe

_STREAMING = "leave out the engine: it reads only tables, and text needs little memory without it"


def check_outside(run: NamedRun) -> None:
    """Raise if a run is in memory, in a form of which no engine makes a table."""
    if isinstance(run.run, Mapping):
        raise in_memory(run, "a mapping, which is already in memory")
    if is_rows(run.run):
        raise in_memory(run, "JSON, which is read into memory")


def in_memory(run: NamedRun, what: str) -> UsageError:
    """Return the error about a run that needs no engine."""
    return UsageError(f"run {run.name!r} is {what}", remedy="leave out the engine")


@dataclass(frozen=True, slots=True)
class FileEngine:
    """An engine, as messages call it, and which files it reads."""

    name: str
    packings: tuple[str, ...]
    """Of CSV."""
    suffixes: tuple[str, ...] = ()
    """Suffixes by which it takes a file for packed; without them it looks at the content."""
    tells_case: bool = True
    """Whether it reads Parquet with names of columns that differ only in case."""

    def files(self, path: str | os.PathLike[str], kind: str, columns: Given) -> TableFiles:
        """Return the files of a table of a `run` or of `qrels`, or raise and say why the engine does not read it."""
        name = os.fspath(path)
        if is_pipe(path):
            problem = f"is not a file, and {self.name} reads a table more than once"
            raise FormatError(name, None, problem, remedy="write it to a file, or leave out the engine")
        with source_of(path) as source:
            if is_positions(source):
                problem = f"is a positions file, which {self.name} does not read"
                raise FormatError(name, None, problem, remedy="leave out the engine: nothing is left to be read")
            files = table_files(source, kind, columns)
        if files is None:
            problem = "is neither Parquet nor CSV with a first line that names columns of queries and documents"
            raise FormatError(name, None, problem, remedy=_STREAMING)
        if files.header is None:
            self.check_parquet(files, kind, columns)
        else:
            files.columns(kind, columns)  # raises if two of them share a name
            for file in files.paths:
                self._check_packing(file)
        return files

    def check_parquet(self, files: TableFiles, kind: str, columns: Given) -> None:
        """Raise if Parquet is packed as a whole, or damaged, or its columns cannot serve."""
        for path in files.paths if files.folder is None else ():
            with Source(path) as source:
                if source.packing:
                    problem = f"is packed, and {self.name} does not unpack Parquet"
                    raise FormatError(path, None, problem, remedy="unpack it, or leave out the engine")
            check_whole(path, path)
        types = parquet_types(files.paths[0])
        found = files.columns(kind, columns)
        names = [*{*types, *files.keys}]
        if not self.tells_case and (alike := sorted(name for name in names if _is_double(name, names))):
            problem = f"{self.name} cannot tell the columns {listed(map(repr, alike))} apart: they differ only in case"
            raise FormatError(files.name, None, problem, remedy="rename one, or leave out the engine")
        for role, column in found.roles(kind).items():
            if column in types and column not in files.keys:
                check_kind(kind_of(types[column]), role, column, files.name)
        check_alike(files, found, kind)

    def _check_packing(self, path: str) -> None:
        """Raise if CSV is packed in a way that the engine does not unpack, or that its name does not say."""
        with Source(path) as source:
            packing = source.packing
        if packing and packing not in self.packings:
            problem = f"is packed as {packing}, which {self.name} does not unpack"
            raise FormatError(path, None, problem, remedy=f"pack it as {' or '.join(self.packings)}, or write Parquet")
        suffix = next((suffix for suffix in self.suffixes if path.endswith(f".{suffix}")), "")
        if self.suffixes and suffix != packing:
            problem = f"is {f'packed as {packing}' if packing else 'not packed'}, but {self.name} goes by the name"
            remedy = f"call it {Path(path).name}.{packing}" if packing else f"rename it, without .{suffix}"
            raise FormatError(path, None, problem, remedy=remedy)


DUCKDB = FileEngine("DuckDB", ("gz", "zst"))
SPARK = FileEngine("Spark", ("gz", "bz2", "zst"), ("gz", "bz2", "zst", "lz4", "snappy", "deflate"), tells_case=False)


def _is_double(name: str, names: Sequence[str]) -> bool:
    return [other.lower() for other in names].count(name.lower()) > 1

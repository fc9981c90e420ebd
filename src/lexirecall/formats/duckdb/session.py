"""A DuckDB session: settings that keep it within memory, queries with progress, and nothing left behind.

Belongs here: how queries are run. Not here: which ones (plan), what they read (tables).
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, FormatError, UsageError, hint_at
from lexirecall.fields import names_of
from lexirecall.formats.casts import literal
from lexirecall.installing import how_to_install
from lexirecall.progress import Progress

MEMORY_LIMIT = "600MB"
_MOST_THREADS = 8  # each wants memory of its own
_STEPS = 1000
_REMEDY = "write them as memory_limit=2GB, threads=4"
_PAUSE = 0.1  # seconds between two looks at a query


def duckdb_library() -> Any:
    """Import DuckDB, or say how to install it."""
    try:
        return import_module("duckdb")
    except ModuleNotFoundError:
        raise UsageError("duckdb is not installed", remedy=how_to_install("duckdb")) from None


@dataclass(frozen=True, slots=True)
class Settings:
    """A connection that is lent to us; or how much our own may take, and where it spills."""

    connection: Any = None
    memory_limit: str | None = None
    threads: int | str | None = None
    temp_directory: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.connection is not None and not hasattr(self.connection, "execute"):
            problem = f"connection is {self.connection!r}, but must be a DuckDB connection"
            raise UsageError(problem, remedy="in Python, duckdb.connect() returns one")
        if self.threads is not None and not str(self.threads).isdecimal():  # DuckDB rounds 1.5 to 2
            raise UsageError(f"threads is {self.threads!r}, but must be a whole number", remedy=_REMEDY)
        if self.connection is not None and (self.memory_limit, self.threads, self.temp_directory) != (None, None, None):
            raise UsageError(
                "memory_limit, threads and temp_directory do not apply to your own connection",
                remedy="set them in it: connection.execute(\"SET memory_limit = '2GB'\")",
            )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Take those that are given by name.

        >>> Settings.of({"memory": "2GB"})
        Traceback (most recent call last):
        lexirecall.errors.UsageError: engine_options has no 'memory'
          did you mean 'memory_limit'?
        """
        for name in options:
            if name not in names_of(cls):
                raise UsageError(f"engine_options has no {name!r}", remedy=hint_at(name, names_of(cls)))
        settings = cls(**options)
        if options and settings.connection is None:
            with open_session(settings):  # raises if DuckDB does not take the values
                pass
        return settings

    def with_default_connection(self, runs: Iterable[object]) -> Self:
        """Take DuckDB's default connection if there are relations, which belong to a connection, and none is given."""
        if self.connection is None and any(type(run).__name__ == "DuckDBPyRelation" for run in runs):
            return replace(self, connection=duckdb_library().connect(":default:"))
        return self


class Session:
    """A connection with what this package has put into it."""

    def __init__(self, connection: Any, *, show_progress: bool | None = False) -> None:
        self.connection = connection
        self.errors: Any = duckdb_library().Error
        self._shown = show_progress
        self._made: dict[str, str] = {}
        self.registered: list[str] = []

    def view(self, name: str, query: str) -> None:
        """Let a name stand for a query."""
        self._made[name] = "VIEW"
        self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {query}")

    def table(self, name: str, columns: str) -> None:
        """Make an empty table."""
        self._made[name] = "TABLE"
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")

    def register(self, name: str, content: Any) -> None:
        """Let a name stand for something in memory: arrays by name, a relation, a frame."""
        self.connection.register(name, content)
        self.registered.append(name)

    def answer(self, label: str, query: str, *, source: str) -> dict[str, npt.NDArray[Any]]:
        """Run a query that may take long; `source` is what it reads, as messages call it."""
        with Progress(label, _STEPS, shown=self._shown) as progress, ThreadPoolExecutor(1) as pool:
            running = pool.submit(self._fetch, query)
            try:
                done = 0
                while not wait([running], timeout=_PAUSE).done:
                    now = int(self.connection.query_progress() * _STEPS / 100)  # below 0 if it is not known
                    progress.advance(max(now - done, 0))
                    done = max(now, done)
            except BaseException:  # the user's interruption; once is not enough if the query has not begun yet
                while not running.done():
                    self.connection.interrupt()
                    wait([running], timeout=_PAUSE)
                raise
            return self._result(running, source)

    def _fetch(self, query: str) -> dict[str, npt.NDArray[Any]]:
        columns: dict[str, npt.NDArray[Any]] = self.connection.execute(query).fetchnumpy()
        return columns

    def _result(self, running: Any, source: str) -> dict[str, npt.NDArray[Any]]:
        with self.explained(source):
            columns = running.result()
        return {name: values if values.dtype == object else np.asarray(values) for name, values in columns.items()}

    @contextmanager
    def explained(self, source: str) -> Iterator[None]:
        """Turn errors of DuckDB into ours."""
        try:
            yield
        except self.errors as error:
            text = str(error).strip().split("\n")[0]
            if type(error).__name__ == "OutOfMemoryException":
                raise DataError(
                    f"{source}: the memory limit is too small: {text}",
                    remedy="raise memory_limit or lower threads in --engine-options",
                ) from None
            raise FormatError(source, None, f"DuckDB cannot read it: {text}", remedy="is it damaged?") from None

    def drop(self, *names: str) -> None:
        """Forget tables and views."""
        for name in names:
            if kind := self._made.pop(name, None):
                self.connection.execute(f"DROP {kind} IF EXISTS temp.{name}")

    def keep(self, name: str) -> None:
        """Leave a table to whoever owns the connection."""
        del self._made[name]

    def close(self) -> None:
        """Leave the connection as it was."""
        with suppress(self.errors):  # in a transaction that has failed, nothing can be dropped, and nothing stays
            self.drop(*reversed(self._made))
        for name in self.registered:
            with suppress(self.errors):
                self.connection.unregister(name)


@contextmanager
def open_session(settings: Settings, *, show_progress: bool | None = False) -> Iterator[Session]:
    """Open a session of our own, within the memory limit; or use a connection as it is set, and clean up after us."""
    if settings.connection is not None:
        lent = Session(settings.connection, show_progress=show_progress)
        try:
            yield lent
        finally:
            lent.close()
        return
    with _temporary_folder(settings.temp_directory) as folder:
        own = _connected(folder, settings)
        try:
            yield Session(own, show_progress=show_progress)
        finally:
            own.close()  # before its folder goes


def _temporary_folder(within: Any) -> "tempfile.TemporaryDirectory[str]":
    try:
        return tempfile.TemporaryDirectory(prefix="lexirecall-", dir=within)
    except (OSError, TypeError) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
        problem = f"temp_directory is {str(within)!r}: {reason}"
        raise UsageError(problem, remedy="name an existing folder that you can write to") from None


def _connected(folder: str, settings: Settings) -> Any:
    library = duckdb_library()
    values = {
        "memory_limit": MEMORY_LIMIT if settings.memory_limit is None else settings.memory_limit,
        "threads": min(os.cpu_count() or 1, _MOST_THREADS) if settings.threads is None else settings.threads,
        "temp_directory": folder,
    }
    connection = library.connect()
    for name, value in values.items():
        try:
            connection.execute(f"SET {name} = {literal(str(value))}")
        except library.Error as error:
            connection.close()
            problem = f"{name} is {value!r}: {str(error).splitlines()[0]}"
            raise UsageError(problem, remedy=_REMEDY) from None
    connection.execute("SET preserve_insertion_order = false")  # nothing here goes by it, and it takes memory
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    return connection

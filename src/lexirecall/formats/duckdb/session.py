"""A DuckDB session: settings that keep it within memory, queries with progress, and nothing left behind.

Belongs here: how queries are run. Not here: which ones, what they read (tables).

What a query gives comes as batches of Arrow, one after the other: `execute` would hold all of it in memory.
"""

import os
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from lexirecall.errors import DataError, FormatError, UsageError, hint_at
from lexirecall.fields import names_of
from lexirecall.installing import how_to_install
from lexirecall.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY_LIMIT = "600MB"
_MOST_THREADS = 8  # each wants memory of its own
_STEPS = 1000
_REMEDY = "write them as memory_limit=2GB, threads=4"
_PAUSE = 0.1  # seconds between two looks at a query
_BATCH = 1 << 16


def duckdb_library() -> Any:
    """Import DuckDB, and pyarrow, by which it gives rows; or say how to install them."""
    for name in ("pyarrow", "duckdb"):
        try:
            library = import_module(name)
        except ModuleNotFoundError:
            raise UsageError(f"{name} is not installed", remedy=how_to_install("duckdb")) from None
    return library


def literal(text: str) -> str:
    """Return text as SQL writes it.

    >>> literal("Reilly's")
    "'Reilly''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a name as SQL wants it.

    >>> quoted('my "own" column')
    '"my ""own"" column"'
    """
    return '"' + name.replace('"', '""') + '"'


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

    def with_default_connection(self, run: object) -> Self:
        """Take DuckDB's default connection for a relation, which belongs to a connection, if none is given."""
        if self.connection is None and type(run).__name__ == "DuckDBPyRelation":
            return replace(self, connection=duckdb_library().connect(":default:"))
        return self


class Session:
    """A connection with what this package has put into it."""

    def __init__(self, connection: Any, *, show_progress: bool | None = False) -> None:
        self.connection = connection
        library = duckdb_library()
        arrow = import_module("pyarrow")
        self.errors: Any = (library.Error, arrow.ArrowException, OSError)
        self._shown = show_progress
        self.made: list[str] = []
        self.registered: list[str] = []

    def make(self, name: str, query: str, *, label: str, source: str) -> None:
        """Keep the rows of a query as a table, on disk if they are many; `source` is what it reads, for messages."""
        with self._asked(label, source) as asked:
            asked.answer(self.connection.execute, f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")
        self.made.append(name)

    def register(self, name: str, content: Any) -> None:
        """Let a name stand for something in memory: a relation, a frame, a table of Arrow."""
        self.connection.register(name, content)
        self.registered.append(name)

    def stream(self, query: str, *, label: str, source: str) -> "Generator[pa.RecordBatch, None, None]":
        """Give the rows of a query; the next batch is made while somebody looks at this one."""
        with self._asked(label, source) as asked:
            reader = asked.answer(lambda: self.connection.sql(query).to_arrow_reader(_BATCH))
            coming = asked.begin(next, reader, None)
            try:
                while (batch := asked.finish(coming)) is not None:
                    coming = asked.begin(next, reader, None)
                    yield batch
            finally:
                wait([coming])  # the other thread may still be reading, and the reader must not be closed under it
                reader.close()

    def table(self, query: str, *, label: str, source: str) -> "pa.Table":
        """Return the rows of a query, which are few."""
        with self._asked(label, source) as asked:
            rows: pa.Table = asked.answer(lambda: self.connection.sql(query).to_arrow_table())
            return rows

    @contextmanager
    def _asked(self, label: str, source: str) -> "Iterator[_WaitingThread]":
        with (
            self.explained(source),
            Progress(label, _STEPS, shown=self._shown) as progress,
            ThreadPoolExecutor(1) as pool,
        ):
            yield _WaitingThread(self.connection, pool, progress)

    @contextmanager
    def explained(self, source: str) -> Iterator[None]:
        """Turn errors of DuckDB into ours."""
        try:
            yield
        except self.errors as error:
            text = str(error).strip().split("\n")[0]
            if "Resource In Use Error" in text:
                problem = "your DuckDB connection has a result of which not all is fetched"
                raise UsageError(problem, remedy="fetch the rest, or pass another connection") from None
            if "Out of Memory Error" in text:  # whatever the class: errors in the midst of a stream are of Arrow
                raise DataError(
                    f"{source}: the memory limit is too small: {text}",
                    remedy="raise memory_limit or lower threads in --engine-options",
                ) from None
            raise FormatError(source, None, f"DuckDB cannot read it: {text}", remedy="is it damaged?") from None

    def check_order(self) -> None:
        """Raise if the owner of the connection gave up the order of rows."""
        if not self.connection.execute("SELECT current_setting('preserve_insertion_order')").fetchall()[0][0]:
            raise UsageError(
                "ties='input' and duplicates='first' go by the order of rows, which your connection does not keep",
                remedy="SET preserve_insertion_order = true in it, or choose another rule",
            )

    def close(self) -> None:
        """Leave the connection as it was."""
        with suppress(self.errors):  # in a transaction that has failed, nothing can be dropped, and nothing stays
            for name in self.made:
                self.connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
        for name in self.registered:
            with suppress(self.errors):
                self.connection.unregister(name)


class _WaitingThread:
    """A thread that waits for DuckDB, and this one, which shows how far it is and can be interrupted."""

    def __init__(self, connection: Any, pool: ThreadPoolExecutor, progress: Progress) -> None:
        self._connection, self._pool, self._progress = connection, pool, progress
        self._done = 0

    def begin(self, ask: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Ask for something in the other thread."""
        return self._pool.submit(ask, *arguments)

    def answer(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        """Ask for something, and wait."""
        return self.finish(self.begin(ask, *arguments))

    def finish(self, running: "Future[Any]") -> Any:
        """Wait for what was asked."""
        try:
            while not wait([running], timeout=_PAUSE).done:
                now = int(self._connection.query_progress() * _STEPS / 100)  # below 0 if it is not known
                self._progress.advance(max(now - self._done, 0))
                self._done = max(now, self._done)
        except BaseException:  # the user's interruption; once is not enough if the query has not begun yet
            while not running.done():
                self._connection.interrupt()
                wait([running], timeout=_PAUSE)
            raise
        return running.result()


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
        connection = _connected(folder, settings)
        try:
            yield Session(connection, show_progress=show_progress)
        finally:
            connection.close()  # before its folder goes


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
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    return connection

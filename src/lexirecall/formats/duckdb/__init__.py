"""DuckDB: runs in tables that are larger than memory, on one machine.

Belongs here: rows in the order of their runs and queries, and sort keys as a table. Not here: what rows mean
(sortedrows), how queries are run (session), what they read (tables).

DuckDB only sorts. It does so by numbers, which take half the time of texts: each run and each query has one, in the
order in which they appear.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Self

from lexirecall.errors import FormatError
from lexirecall.fields import taken, takes
from lexirecall.formats import Given, Qrels, Runs, project
from lexirecall.formats.columns import check_one_run
from lexirecall.formats.duckdb.session import Settings, literal, open_session, quoted
from lexirecall.formats.duckdb.tables import PLACE, DuckdbTable, open_table
from lexirecall.formats.forms import no_whole_lists
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.roletable import RoleTable
from lexirecall.formats.rows import noted
from lexirecall.formats.sortedrows import SortedRankings, read_sorted, runs_of
from lexirecall.formats.sortkeys import check_single, keys_of
from lexirecall.formats.tableruns import TableRun
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions, Sources
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["sort_keys"]

_KEYS, _VALUES = "lexirecall_keys", "lexirecall_values"
_MOST_NUMBERED = 1 << 20
"""Of more queries than this, the texts are not held in memory, and rows are sorted by them."""


@dataclass(frozen=True, slots=True)
class DuckdbRun:
    """A table of one run or of several, which DuckDB sorts."""

    table: DuckdbTable
    name: str
    """For a table that names no runs."""
    is_given: bool
    """Whether that name takes precedence over those in the table."""

    @classmethod
    def check(cls, _conventions: Conventions, sources: Sources) -> None:
        """Raise if DuckDB does not take its settings."""
        Settings.of(sources.engine_options or {})

    @classmethod
    @contextmanager
    def opened(cls, run: NamedRun, conventions: Conventions, sources: Sources) -> Iterator[Self]:
        """Give the form of a run, which can be read until the end."""
        settings = Settings.of(sources.engine_options or {}).with_default_connection(run.run)
        with open_session(settings, show_progress=sources.show_progress) as session:
            if _goes_by_places(conventions):
                session.check_order()
            yield cls(open_table(session, run, sources.columns), run.name, run.is_given)

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[RunPositions]:
        """Find where the judged documents are, in limited memory; if something is odd, once more to name the row."""
        with_places = _goes_by_places(conventions)
        try:
            read = self._read(judgments, conventions, units, needs_judged, with_places=with_places, in_haste=True)
        except FormatError:
            read = self._read(judgments, conventions, units, needs_judged, with_places=True, in_haste=False)
        if not read.num_rows:
            raise FormatError(self.table.label, None, "the table has no rows", remedy="is it the right one?")
        return noted(runs_of(read, judgments, conventions, needs_judged=needs_judged), self.table.splits())

    def _read(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, needs_judged: bool, *,
        with_places: bool, in_haste: bool,
    ) -> SortedRankings:  # fmt: skip
        def place_of(rows: "pa.Table", row: int) -> tuple[str, int | str]:
            return self.table.place(rows.column(PLACE)[row].as_py())

        try:
            with closing(self._sorted(with_places=with_places, in_haste=in_haste)) as batches:
                return read_sorted(
                    batches,
                    self.table.columns,
                    self.name,
                    judgments,
                    conventions,
                    units,
                    needs_judged=needs_judged,
                    is_given=self.is_given,
                    label=self.table.label,
                    place_of=place_of if with_places else None,
                )
        except FormatError as error:
            if error.way_on is not None and (splits := self.table.splits()):  # a row is there twice: of two runs?
                error.advise(splits)
            raise

    def _sorted(self, *, with_places: bool, in_haste: bool) -> "Generator[pa.RecordBatch, None, None]":
        """Give the rows of each run and query together, in the order in which these appear.

        In haste, Arrow reads numbers that are texts; what it cannot read, others may.
        """
        import pyarrow as pa

        table, used = self.table, self.table.used
        rows = table.rows(with_places=with_places)
        keys = [used.index(name) for name in (table.columns.run, table.columns.query) if name]
        texts = {at: self._numbered(rows, at) for at in keys}
        numbered = {at: values for at, values in texts.items() if values is not None}
        joins = "".join(f" LEFT JOIN {_VALUES}{at} AS v{at} ON v{at}.value = r.c{at}" for at in numbered)
        cells = [f"v{at}.number" if at in numbered else f"r.c{at}" for at in range(len(used))]
        places = [PLACE] * with_places
        order = ", ".join([*(cells[at] for at in keys), *places])
        query = f"SELECT {', '.join([*cells, *places])} FROM {rows} AS r{joins} ORDER BY {order}"
        names = [*used, *places]
        scores = used.index(table.columns.order) if in_haste and table.kind(table.columns.order) == "text" else None
        stream = table.session.stream(query, label=f"finding positions in {table.label}", source=table.label)
        with table.explained(), closing(stream):
            for batch in stream:
                columns = [*batch.columns]
                for at, values in numbered.items():
                    columns[at] = _with_texts(values, columns[at])
                if scores is not None:
                    columns[scores] = self._as_numbers(columns[scores])
                yield pa.RecordBatch.from_arrays(columns, names)

    def _as_numbers(self, texts: "pa.Array") -> "pa.Array":
        import pyarrow as pa

        try:
            return texts.cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise FormatError(self.table.label, None, str(error)) from None

    def _numbered(self, rows: str, at: int) -> "pa.Array | None":
        """Give the values of a column numbers as they appear; return them, or None if it is sorted as it is.

        Runs have numbers because they are to be in that order.
        """
        table, name = self.table, self.table.used[at]
        is_of_runs = name == table.columns.run
        if not (is_of_runs or table.kind(name) == "text"):
            return None
        numbers, label = f"{_VALUES}{at}", f"counting {'runs' if is_of_runs else 'queries'} in {table.label}"
        with table.explained():
            table.session.make(
                numbers,
                "SELECT value, CAST(row_number() OVER (ORDER BY first) - 1 AS INTEGER) AS number FROM ("
                f"SELECT value, min(place) AS first FROM (SELECT c{at} AS value, row_number() OVER () AS place "
                f"FROM {rows}) GROUP BY value)",
                label=label,
                source=table.label,
            )
            most = "" if is_of_runs else f"WHERE number <= {_MOST_NUMBERED} "
            values = table.session.table(
                f"SELECT value FROM {numbers} {most}ORDER BY number", label=label, source=table.label
            )
        if is_of_runs and self.is_given:
            check_one_run(name, len(values), table.label)
        return None if most and len(values) > _MOST_NUMBERED else values.column(0).combine_chunks()

    def documents(self, run: str, query: bytes) -> Iterable[bytes]:
        """Give the documents in the rows of one run and query."""
        table = self.table
        column, value = table.columns.query, literal(query.decode())
        wanted = f"encode({value})" if table.kind(column) == "bytes" else f"TRY_CAST({value} AS {table.types[column]})"
        if table.kind(column) == "text":
            wanted = value
        rows = table.session.table(
            f"SELECT * FROM {table.rows(with_places=False)} AS r WHERE r.c{table.used.index(column)} = {wanted}",
            label=f"looking for examples in {table.label}",
            source=table.label,
        )
        import narwhals as nw

        found = RoleTable(nw.from_native(rows.rename_columns(table.used), eager_only=True), table.columns, table.label)
        return TableRun(found, self.name, self.is_given).documents(run, query)

    def lists(self, _judgments: Judgments, _conventions: Conventions, *, needs_scores: bool = False) -> NoReturn:  # noqa: ARG002
        """Refuse: whole lists are what an engine is there to avoid."""
        raise no_whole_lists("duckdb")


def _goes_by_places(conventions: Conventions) -> bool:
    return conventions.ties == "input" or conventions.duplicates == "first"


def _with_texts(values: "pa.Array", numbers: "pa.Array") -> "pa.Array":
    """Return the values with these numbers, texts as categories."""
    import pyarrow as pa

    if not pa.types.is_string(values.type):
        return values.take(numbers)
    codes = numbers.dictionary_encode()
    return pa.DictionaryArray.from_arrays(codes.indices, values.take(codes.dictionary))


@takes(Conventions)
def sort_keys(
    connection: Any,
    qrels: Qrels,
    runs: Runs,
    *,
    level: float = 1,
    name: str = "sort_keys",
    columns: Given = None,
    show_progress: bool | None = False,
    **options: Any,
) -> Any:
    """Make a temporary table (run, query, sort_key) in a connection, and return it as a relation.

    `a.sort_key < b.sort_key`, for one query, says that LexiRecall prefers a. The keys are those of
    `lexirecall.exact.sort_key`; every run has one for each query with a document of grade `level` or more. Queries
    have their type in the judgments. Everything is checked as in `lexirecall.project`, and `options` are its options.
    An existing table of this `name` is replaced.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> run = connection.sql("SELECT 'q' AS qid, unnest(['x', 'a']) AS docno, unnest([0.9, 0.7]) AS score")
    >>> [(run, key.hex(" ", 4)) for run, _, key in
    ...     sort_keys(connection, {"q": {"a": 1, "b": 1}}, {"bm25": run}).fetchall()]
    [('bm25', 'ffffffff 00000002')]

    Reference: DiazEM25, for the order.
    """
    check_single(taken(Conventions, {**options}))
    positions = project(
        qrels, runs, columns=columns, show_progress=show_progress, engine="duckdb",
        engine_options={"connection": connection}, **options,
    )  # fmt: skip
    connection.register(_KEYS, keys_of(positions, level))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS FROM {_KEYS}")
    connection.unregister(_KEYS)
    return connection.sql(f"SELECT * FROM temp.{quoted(name)}")

"""Spark: runs whose rows a cluster sorts and reads, for tables that are too large for one machine.

Belongs here: a table of Spark as a form of runs, and sort keys as a frame of Spark. Not here: the session
(spark_session), files (spark_files), how rows are sorted (spark_rows), what a worker does (spark_worker).

One job: all workers find positions at once, and keep them on their disks. Then they come to the driver part by part,
and are from there on what they are for every other input.
"""

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote, urlsplit

import numpy as np

from lexirecall.engines.spark_faults import every_row, explained, quietly
from lexirecall.engines.spark_files import SparkTable, open_table
from lexirecall.engines.spark_rows import SparkRows, columns_of
from lexirecall.engines.spark_session import check_libraries, check_settings, match_python, pyspark, session
from lexirecall.engines.spark_worker import PART, FoundPart, Task
from lexirecall.errors import FormatError, LexirecallError, UsageError
from lexirecall.formats import Given, project
from lexirecall.formats.assembly import assemble
from lexirecall.formats.columns import check_one_run
from lexirecall.formats.forms import no_whole_lists
from lexirecall.formats.ids import changes
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.roletable import LOOKED_AT, RoleTable, open_frame
from lexirecall.formats.rows import noted
from lexirecall.formats.sortkeys import check_single, keys_of
from lexirecall.formats.values import kind_of
from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.manifest import Conventions, Sources
from lexirecall.segments import Segments
from lexirecall.tracks import RunPositions, Tracks

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from lexirecall.formats.wholelists import RunLists
    from lexirecall.units.unitmap import UnitMap

__all__ = ["session", "sort_keys"]

_AT_ONCE = 64 << 20  # bytes of positions that come to the driver together


@dataclass(frozen=True, slots=True)
class SparkRun:
    """SparkRows of one run or of many in Spark."""

    table: SparkTable
    rows: SparkRows
    named_columns: Given
    name: str
    """For a table that names no runs."""
    is_given: bool
    """Whether that name takes precedence over those in the table."""
    label: str

    @classmethod
    def check(cls, conventions: Conventions, sources: Sources) -> None:
        """Refuse what goes by the order of rows, and settings that Spark does not have."""
        for option, value in (("ties", "input"), ("duplicates", "first")):
            if getattr(conventions, option) == value:
                raise UsageError(
                    f"{option}={value!r} goes by the order of rows, but a table has no order",
                    remedy="choose another rule, or leave out the engine",
                )
        check_settings(sources)

    @classmethod
    @contextmanager
    def opened(cls, run: NamedRun, conventions: Conventions, sources: Sources) -> Iterator[Self]:
        """Give a frame of Spark, or a table in files, as a run."""
        cls.check(conventions, sources)
        check_libraries()
        table = open_table(run, sources)
        match_python(table.frame.sparkSession)
        with explained(run.label):
            rows = SparkRows.of(table.frame, sources.columns, run.label, num_cells=table.num_cells)
        with explained():
            yield cls(table, rows, sources.columns, name=run.name, is_given=run.is_given, label=run.label)

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: "UnitMap | None", *, needs_judged: bool
    ) -> list[RunPositions]:
        """Find where the judged documents are, on all workers at once."""
        with every_row(self.table.frame):
            try:
                parts = self._parts(self.rows, judgments, conventions, units, needs_judged=needs_judged)
            except LexirecallError:  # of several errors, which one depends on the order in which rows arrive
                parts = self._in_full(judgments, conventions, units, needs_judged=needs_judged)
            names = self._names(parts)
            splits = self._splits()
        return noted(_runs_of(parts, names, judgments, conventions, needs_judged=needs_judged), splits)

    def _in_full(
        self, judgments: Judgments, conventions: Conventions, units: "UnitMap | None", *, needs_judged: bool
    ) -> list[FoundPart]:
        """Read the rows in full order, so that the same error comes each time, with its place if it has one."""
        table = self.table
        rows = SparkRows.of(
            table.frame, self.named_columns, self.label, num_cells=table.num_cells, has_places=table.is_parquet
        )
        try:
            return self._parts(rows, judgments, conventions, units, needs_judged=needs_judged, in_full=True)
        except LexirecallError as error:
            if error.way_on is not None and (splits := self._splits()):  # a row is there twice: of two runs?
                error.advise(splits)
            raise

    def _splits(self) -> str:
        """Say which column that is not used may name runs; only some rows are looked at."""
        frame, used = self.table.frame, self.rows.names.values()
        known = [name for name, kind in frame.dtypes if name in used or kind_of(kind) == "text"]
        looked_at = [name for name in known if known.count(name) == 1]
        if set(looked_at) <= set(used):
            return ""
        places = [frame.columns.index(name) for name in looked_at]
        numbered = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
        needed = [f"c{frame.columns.index(name)}" for name in used]
        rows = numbered.select(*(f"c{place}" for place in places)).dropna(subset=needed).limit(LOOKED_AT)
        return open_frame(rows.toArrow().rename_columns(looked_at), "run", self.named_columns, name=self.label).splits()

    def _parts(
        self, rows: SparkRows, judgments: Judgments, conventions: Conventions, units: "UnitMap | None", *,
        needs_judged: bool, in_full: bool = False,
    ) -> list[FoundPart]:  # fmt: skip
        """Let the workers read the rows; what they find stays on their disks until it is fetched."""
        shared = None if units is None else self.table.frame.sparkSession.sparkContext.broadcast(units)
        files = self.table.files if in_full and self.table.is_parquet else None
        task = Task(
            columns=rows.columns, name=self.name, label=self.label, conventions=conventions, units=shared,
            needs_judged=needs_judged, files=files,
        )  # fmt: skip
        frame = rows.sorted_with(judgments, in_full=in_full).mapInArrow(task.parts, PART)
        frame = frame.persist(pyspark("storagelevel").StorageLevel.DISK_ONLY)
        try:
            return [*_fetched(frame)]
        finally:
            with quietly():
                frame.unpersist()
                if shared is not None:
                    shared.destroy()

    def documents(self, run: str, query: bytes) -> Iterable[bytes]:
        """Give the documents in the rows of one run and query."""
        names_it = self.rows.columns.run is not None and not self.is_given
        rows = self.rows.of_ranking(run if names_it else None, query)
        table = rows.select("document").distinct().toArrow()
        return (text.encode() for text in _texts(table, "document", self.label))

    def lists(self, judgments: Judgments, conventions: Conventions, *, needs_scores: bool = False) -> "list[RunLists]":  # noqa: ARG002
        """Refuse: the rows of a ranking are nowhere together but on a worker."""
        raise no_whole_lists("spark")

    def _names(self, parts: Sequence[FoundPart]) -> dict[str, str]:
        """Return the runs in the order in which they first appear in the table, and what each is to be called."""
        if not sum(part.num_rows for part in parts):
            raise FormatError(self.label, None, "the table has no rows", remedy="is it the right one?")
        found = dict.fromkeys(run for part in parts for run in part.runs)
        if self.is_given and self.rows.columns.run is not None:
            check_one_run(self.rows.names["run"], len(found), self.label)
        if self.is_given or len(found) == 1:
            return {run: self.name if self.is_given else run for run in found}
        first: dict[str, tuple[int | str, int, int]] = {}
        table = _first_rows(self.rows.frame.select("run"), are_files=self.table.paths is not None).toArrow()
        files = {path: place for place, path in enumerate(self.table.files)}
        columns = (table["file"].to_pylist(), table["row"].to_pylist())
        for name, file, row in zip(_texts(table, "run", self.label), *columns, strict=True):
            place = (files.get(unquote(urlsplit(file).path), file), row["start"], row["number"])
            first[name] = min(place, first.get(name, place))
        return {name: name for name in sorted(first, key=first.__getitem__)}


def _fetched(frame: "DataFrame") -> Iterator[FoundPart]:
    """Let all workers find what they are asked for, then give it part by part; raise if one has met an error."""
    # All workers run for this sum, and keep their parts; toLocalIterator alone would run one partition after the other.
    ((size,),) = frame.selectExpr("coalesce(sum(length(part)), 0)").collect()
    errors = []
    for row in frame.coalesce(1 + size // _AT_ONCE).toLocalIterator():
        part = pickle.loads(row.part)  # noqa: S301 - our own workers made it
        if isinstance(part, LexirecallError):
            errors.append(part)
        elif not errors:
            yield part
    if errors:  # workers are not in any order: the same one each time, and as in memory a repeated row comes last
        error = min(errors, key=lambda fault: (fault.way_on is not None, str(fault)))
        error.offer_only("best")  # which does not go by the order of rows
        raise error


def _first_rows(runs: "DataFrame", *, are_files: bool) -> "DataFrame":
    """Return where each run is first found in each file; Spark does not read files in the order of their names."""
    functions = pyspark("sql.functions")
    number = functions.monotonically_increasing_id().alias("number")
    file, start = functions.lit(""), functions.lit(0).alias("start")
    if are_files:
        file, start = functions.input_file_name(), functions.input_file_block_start().alias("start")
    placed = runs.select("run", file.alias("file"), functions.struct(start, number).alias("row"))
    return placed.groupBy("run", "file").agg(functions.min("row").alias("row"))


def _texts(table: "pa.Table", role: str, label: str) -> list[str]:
    """Return the ids in a column that is called by its role."""
    import narwhals as nw

    ids = RoleTable(nw.from_native(table, eager_only=True), columns_of([role]), label).ids(role)
    texts = ids.texts()
    return [texts[code] for code in ids.codes.tolist()]


def _runs_of(
    parts: list[FoundPart],
    names: Mapping[str, str],
    judgments: Judgments,
    conventions: Conventions,
    *,
    needs_judged: bool,
) -> list[RunPositions]:
    """Put together what the workers have found, for the runs in this order, which are then called so.

    Each part is let go of once it is taken: both must not be held.
    """
    width = len(judgments.queries)
    number_of = {name: number for number, name in enumerate(names)}
    num_retrieved = np.full((len(names), width), -1)
    num_unjudged, num_duplicates = np.zeros((2, len(names)), np.int64)
    sizes = np.zeros(len(names) * width, np.int64)
    rankings = []
    for part in parts:
        runs = np.array([number_of[name] for name in part.runs])
        num_retrieved[np.ix_(runs, part.queries)] = part.num_retrieved
        num_unjudged[runs] += part.num_unjudged
        num_duplicates[runs] += part.num_duplicates
        of, query, *_ = part.found
        ranking = runs[of] * width + query
        starts = np.flatnonzero(changes(ranking))
        rankings.append((ranking[starts], np.diff(starts, append=len(ranking))))
        sizes[rankings[-1][0]] += rankings[-1][1]
    offsets = offsets_of(sizes)
    columns = np.zeros((4 if conventions.ties == "expected" else 2, offsets[-1]), np.int64)
    _fill(columns, offsets, parts, rankings, judgments)

    def tracks_of(run: int) -> Tracks:
        bounds = offsets[run * width : (run + 1) * width + 1]
        return Tracks(Segments(bounds - bounds[0]), *columns[:, bounds[0] : bounds[-1]])

    return [
        assemble(
            name,
            judgments,
            conventions,
            tracks_of(s),
            num_retrieved[s],
            needs_judged=needs_judged,
            num_unjudged=int(num_unjudged[s]),
            num_duplicates=int(num_duplicates[s]),
        )
        for s, name in enumerate(names.values())
    ]


def _fill(
    columns: IntArray,
    offsets: IntArray,
    parts: list[FoundPart],
    rankings: list[tuple[IntArray, IntArray]],
    judgments: Judgments,
) -> None:
    """Put what was found where its ranking is, given which rankings each part has, and how much of each."""
    free = offsets[1:].copy()
    while parts:
        part, (ranking, counts) = parts.pop(), rankings.pop()
        free[ranking] -= counts  # the part before may have the beginning of a ranking
        at = np.arange(counts.sum()) + np.repeat(free[ranking] - np.cumsum(counts) + counts, counts)
        _, query, position, document, *block = part.found
        for column, values in zip(columns, (position, judgments.offsets[query] + document, *block), strict=True):
            column[at] = values


def sort_keys(
    qrels: "DataFrame",
    runs: "DataFrame | Mapping[str, DataFrame]",
    *,
    columns: Given = None,
    level: float = 1,
    ties: str = "trec",
    score_dtype: str = "float64",
    duplicates: str = "error",
) -> "DataFrame":
    """Return run, query, sort_key: bytes; the smaller key is the better ranking of a query by LexiRecall.

    The keys are those of `lexirecall.exact.sort_key`, for every run and every query with a relevant document, answered
    or not. They are made here, from positions, and handed to Spark; queries have their type in the judgments.

    >>> sort_keys(qrels, runs).orderBy("query", "sort_key")  # doctest: +SKIP
    DataFrame[run: string, query: string, sort_key: binary]
    """
    options: dict[str, Any] = {"ties": ties, "score_dtype": score_dtype, "duplicates": duplicates}
    check_single(Conventions(**options))
    table = keys_of(project(qrels, runs, columns=columns, engine="spark", **options), level)
    with explained():
        return qrels.sparkSession.createDataFrame(table)

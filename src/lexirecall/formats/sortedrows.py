"""Sorted rows: the rows of runs as an engine streams them, those of each ranking together, to positions.

Belongs here: reading such a stream once, ranking by ranking. Not here: how an engine sorts, what rows mean (rows), the
order of a ranking (ranking, or the compiled reader).

The stream is cut into portions of whole rankings, so that whatever must be looked at again is still there: the memory
is that of a batch and of one ranking. The compiled reader takes the portions. It hands back the rankings that list a
document twice; `rows` reads them, with the judgments of their queries only. From the first type or value that it does
not know, portions become text and floats before it reads them, and whatever cannot become that is an error.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lexirecall.errors import FormatError, shown
from lexirecall.formats.arrow import TableReading, new_table, read_in
from lexirecall.formats.assembly import SortedRankings, runs_of
from lexirecall.formats.columns import Columns, check_one_run
from lexirecall.formats.roletable import RoleTable
from lexirecall.formats.rows import read_rows
from lexirecall.judgments import IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.providers import members
from lexirecall.reader import reader_in_use
from lexirecall.units.unitmap import UnitMap

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["SortedRankings", "read_sorted", "runs_of", "whole_rankings"]

_BAD_LINE = 1  # as in reader.h

PlaceOf = Callable[["pa.Table", int], tuple[str, int | str]]
"""Says where a row of some rows of the stream is from: a file, and a line of it, or words such as `row 7`."""


def read_sorted(
    batches: "Iterable[pa.RecordBatch]",
    columns: Columns,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None = None,
    *,
    needs_judged: bool,
    is_given: bool,
    label: str,
    place_of: PlaceOf | None = None,
) -> SortedRankings:
    """Read the rows of runs, those of each run and query together; there may be none.

    `name` is for rows that name no run; if it `is_given`, it takes precedence over the one run that they name. `label`
    is what messages call the rows, unless an engine knows the place of each.
    """
    stream = _Stream(
        columns=columns, name=name, judgments=judgments, conventions=conventions, units=units,
        needs_judged=needs_judged, label=label, place_of=place_of,
    )  # fmt: skip
    portions = whole_rankings(batches, columns)
    read = stream.read_compiled(portions) if reader_in_use() == "native" else stream.read_readable(portions)
    if columns.run is None or not is_given:
        return read
    check_one_run(columns.run, len(read.runs), label)
    return read._replace(runs=[name] * len(read.runs))


def whole_rankings(batches: "Iterable[pa.RecordBatch]", columns: Columns) -> "Iterator[pa.Table]":
    """Cut a stream anew, so that no ranking is in two parts; the last one of a batch waits for the next batch."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    for batch in batches:
        if not len(batch):
            continue
        start = _start_of_last(batch, columns)
        if start or (held and not _is_same(held[-1], len(held[-1]) - 1, batch, 0, columns)):
            yield pa.Table.from_batches([*held, batch.slice(0, start)])
            held = []
        held.append(batch.slice(start))
    if held:
        yield pa.Table.from_batches(held)


def _start_of_last(batch: "pa.RecordBatch", columns: Columns) -> int:
    """Return the first row of the last ranking: a search by halves, because the rows of each are together."""
    low, high = 0, len(batch) - 1
    while low < high:
        middle = (low + high) // 2
        if _is_same(batch, middle, batch, len(batch) - 1, columns):
            high = middle
        else:
            low = middle + 1
    return high


def _is_same(one: "pa.RecordBatch", row: int, other: "pa.RecordBatch", at: int, columns: Columns) -> bool:
    """Tell whether two rows are of the same ranking."""
    keys = (key for key in (columns.run, columns.query) if key)
    return all(_cell(one, key, row).equals(_cell(other, key, at)) for key in keys)


def _cell(batch: "pa.RecordBatch", column: str, row: int) -> Any:
    import pyarrow as pa

    cell = batch.column(column)[row]
    return cell.value if isinstance(cell, pa.DictionaryScalar) else cell  # each batch has a dictionary of its own


class _Stream(NamedTuple):
    """How to read the rows of a stream."""

    columns: Columns
    name: str
    judgments: Judgments
    conventions: Conventions
    units: UnitMap | None
    needs_judged: bool
    label: str
    place_of: PlaceOf | None

    def read_compiled(self, portions: "Iterator[pa.Table]") -> SortedRankings:
        """Give all rows to the compiled reader, and to the readable one what it hands back."""
        from lexirecall import _native

        known = self._known
        table = new_table(known, self.judgments, self.conventions, self.units, needs_judged=self.needs_judged)
        answers = _Answers(len(self.judgments.queries))
        start, is_decoded = 0, False
        for rows in portions:
            status = _feed(_native, table, self._decoded(rows) if is_decoded else self._as_they_are(rows))
            if status == _BAD_LINE and not is_decoded:
                is_decoded = True  # what follows is most likely of the same types
                first = _native.forget_ranking(table)
                status = _feed(_native, table, self._decoded(rows.slice(first - start)))
            if status:
                raise self._interleaved()
            repeated = np.frombuffer(_native.repeated_rows(table), np.int64).reshape(-1, 4)
            if len(repeated):
                runs = list(dict.fromkeys(repeated[:, 2].tolist()))
                answers.add(runs, *self._placed(_slices(rows, repeated[:, :2] - start), np.unique(repeated[:, 3])))
            start += len(rows)
        return answers.added_to(read_in(table, known, self.name))

    def read_readable(self, portions: "Iterator[pa.Table]") -> SortedRankings:
        """Give all rows to the readable reader."""
        index, width, num_rows = self.judgments.index, len(self.judgments.queries), 0
        runs = {} if self.columns.run else {self.name: 0}
        answers = _Answers(width)
        for rows in portions:
            self._decoded(rows)  # says what is wrong with a value
            texts = self._table(rows).ids("query").texts()
            known = {index[query] for text in texts if (query := text.encode()) in index}
            placed, *of = self._placed(rows, np.array(sorted(known), np.int64))
            answers.add([runs.setdefault(name, len(runs)) for name in placed.runs], placed, *of)
            num_rows += len(rows)
        if answers.num_repeated:
            raise self._interleaved()
        none = np.zeros(len(runs), np.int64)
        unanswered = np.full(len(runs) * width, -1)
        return answers.added_to(
            SortedRankings(
                runs=[*runs],
                found=np.zeros((0, 5), np.int64),
                num_retrieved=unanswered,
                num_unjudged=none,
                num_duplicates=none,
                num_rows=num_rows,
            )
        )

    def _placed(self, rows: "pa.Table", queries: IntArray) -> tuple[SortedRankings, IntArray, IntArray]:
        """Read rows with the judgments of some queries, so that it takes no time for each judgment that there is."""
        few, documents = _of_queries(self.judgments, queries)
        rest: TableReading = {"needs_judged": self.needs_judged, "is_given": False}
        placed = read_rows(self._table(rows), self.name, few, self.conventions, self.units, **rest)
        return placed, queries, documents

    @property
    def _known(self) -> Columns:
        """The columns as the compiled reader is given them: each is called as its role, even if two are the same."""
        score, run = self.columns.score and "score", self.columns.run and "run"
        return Columns("query", "document", score, None if score else "rank", run=run)

    def _as_they_are(self, rows: "pa.Table") -> "pa.Table":
        import pyarrow as pa

        return pa.table({role: rows.column(name) for role, name in self.columns.roles("run").items() if name})

    def _decoded(self, rows: "pa.Table") -> "pa.Table":
        """Return the same as text and floats; raise if a value cannot serve."""
        import pyarrow as pa

        table = self._table(rows, lambda row: self._ids_of(rows, row))
        columns = {}
        for role, name in self.columns.roles("run").items():
            if role in ("score", "rank"):
                columns[role] = pa.array(table.numbers(role))
            elif name:
                ids = table.ids(role)
                texts = ids.values.to_native().cast(pa.large_string()).combine_chunks()
                self._check_text(texts, rows, role)
                columns[role] = pa.DictionaryArray.from_arrays(pa.array(ids.codes), texts)
        return pa.table(columns)

    def _check_text(self, texts: Any, rows: "pa.Table", role: str) -> None:
        """Raise if some texts are not what their type says, as Spark may give them."""
        import pyarrow as pa

        try:
            texts.validate(full=True)
        except pa.ArrowInvalid:
            name = getattr(self.columns, role)
            place = rows.column_names.index(name)
            self._table(rows.set_column(place, name, rows.column(name).cast(pa.binary()))).ids(role)
            raise

    def _table(self, rows: "pa.Table", otherwise: Callable[[int], str] = lambda _: "") -> RoleTable:
        """Return rows for the readable reader; if no engine knows their places, `otherwise` says which one it is."""
        import narwhals as nw

        def place(row: int) -> tuple[str, int | str]:
            return (self.label, otherwise(row)) if self.place_of is None else self.place_of(rows, row)

        return RoleTable(nw.from_native(rows, eager_only=True), self.columns, self.label, place_of=place)

    def _ids_of(self, rows: "pa.Table", row: int) -> str:
        named = {"run": self.columns.run, "query": self.columns.query, "document": self.columns.document}
        cells = {word: rows.column(name)[row].as_py() for word, name in named.items() if name}
        return ", ".join(f"{word} {shown(str(cell))}" for word, cell in cells.items() if cell is not None)

    def _interleaved(self) -> FormatError:
        return FormatError(
            self.label, None, "the rows of a query of a run are not together", remedy="sort them by run and query"
        )


def _feed(native: Any, table: Any, rows: "pa.Table") -> int:
    """Feed whole rankings."""
    return int(native.feed_table(table, rows.__arrow_c_stream__()) or native.finish_table(table))


def _slices(rows: "pa.Table", borders: IntArray) -> "pa.Table":
    """Return the rows between borders, [n, 2]; what follows each other is one slice."""
    import pyarrow as pa

    is_first = np.append(True, borders[1:, 0] != borders[:-1, 1])
    starts, stops = borders[is_first, 0], borders[np.append(is_first[1:], True), 1]
    return pa.concat_tables([rows.slice(start, stop - start) for start, stop in zip(starts, stops, strict=True)])


def _of_queries(judgments: Judgments, queries: IntArray) -> tuple[Judgments, IntArray]:
    """Return the judgments of some queries, and which of all judged documents theirs are."""
    documents = members(judgments.offsets, queries)
    sizes = np.diff(judgments.offsets)[queries]
    few = Judgments(
        queries=tuple(judgments.queries[q] for q in queries.tolist()),
        query_ids=PackedIds.pack([judgments.query_ids[q] for q in queries.tolist()]),
        offsets=offsets_of(sizes),
        documents=PackedIds.pack([judgments.documents[document] for document in documents.tolist()]),
        grades=judgments.grades[documents],
        num_positive=judgments.num_positive[queries],
        name=judgments.name,
    )
    return few, documents


class _Answers:
    """What the readable reader says of rankings, with the numbers that runs, queries and documents have elsewhere."""

    def __init__(self, num_queries: int) -> None:
        self._num_queries = num_queries
        self._found: list[IntArray] = []
        self._lengths: list[IntArray] = []
        self._counts: list[IntArray] = []

    def add(self, runs: Sequence[int], placed: SortedRankings, queries: IntArray, documents: IntArray) -> None:
        """Add rankings of some runs and queries, whose judged documents are these ones."""
        numbers = np.add.outer(np.array(runs, np.int64) * self._num_queries, queries).ravel()
        found = placed.found.copy()
        found[:, 0], found[:, 2] = numbers[found[:, 0]], documents[found[:, 2]]
        answered = placed.num_retrieved >= 0
        self._found.append(found)
        self._lengths.append(np.column_stack([numbers[answered], placed.num_retrieved[answered]]))
        self._counts.append(np.column_stack([runs, placed.num_unjudged, placed.num_duplicates]))

    @property
    def num_repeated(self) -> int:
        """How many rankings have been there before."""
        rankings = np.concatenate([np.zeros(0, np.int64), *(lengths[:, 0] for lengths in self._lengths)])
        return len(rankings) - len(np.unique(rankings))

    def added_to(self, read: SortedRankings) -> SortedRankings:
        """Return all of this with what was read otherwise."""
        if not self._counts:
            return read  # without a copy
        rankings, lengths = np.concatenate(self._lengths).T
        runs, *counts = np.concatenate(self._counts).T
        num_retrieved = read.num_retrieved.copy()
        num_retrieved[rankings] = lengths
        unjudged, duplicates = (np.bincount(runs, count, len(read.runs)).astype(np.int64) for count in counts)
        return read._replace(
            found=np.concatenate([read.found, *self._found]),
            num_retrieved=num_retrieved,
            num_unjudged=read.num_unjudged + unjudged,
            num_duplicates=read.num_duplicates + duplicates,
        )

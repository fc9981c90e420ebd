"""Spark's workers: the judgments and the sorted rows of a partition, turned into positions by the one reader.

Belongs here: what comes to a worker, and what goes back to the driver. Not here: how rows come to be sorted
(spark_rows), what they mean (formats.sortedrows). Nothing here needs pyspark.
"""

import pickle
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np

from lexirecall.errors import LexirecallError
from lexirecall.formats.assembly import SortedRankings
from lexirecall.formats.columns import Columns
from lexirecall.formats.sortedrows import read_sorted
from lexirecall.judgments import IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.text import to_text

if TYPE_CHECKING:
    import pyarrow as pa

PART = "part binary"
"""What a worker gives, as Spark writes a schema."""
JUDGED = ("number", "first", "id", "documents", "sizes", "grades")
"""The columns of a piece of the judgments of a query: the number of the query, which of its documents is the first, its
id; the documents' ids one after the other, how long each is, and their grades. They are null in the rows of runs."""
PLACE = "place"
"""The column that says where a row is: its `file_path` and `row_index`, if an error is to say so."""
_MOST = 1 << 20  # documents found that go into one row


class FoundPart(NamedTuple):
    """Some of what a worker has found. Queries have the numbers that the driver gave them."""

    runs: tuple[str, ...]
    found: tuple[IntArray, ...]
    """Of each document its run, query, position, and place among the judged documents of the query; and start and
    size of its block, if tied documents have no order. Those of a ranking follow each other, their positions ascend."""
    queries: IntArray
    """All queries of the partition, [Q]."""
    num_retrieved: IntArray
    """[S, Q], -1 where there is no ranking."""
    num_unjudged: IntArray
    num_duplicates: IntArray
    num_rows: int


class Task(NamedTuple):
    """How to read the rows of a partition."""

    columns: Columns
    name: str
    label: str
    conventions: Conventions
    units: Any
    """A map of units as Spark has broadcast it, or None."""
    needs_judged: bool
    files: Mapping[str, str] | None = None
    """What messages call each file, if rows come with their places."""

    def parts(self, batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        """Read a partition, and give what was found, or the error that was, as bytes."""
        import pyarrow as pa

        for part in self._parts(batches):
            yield pa.RecordBatch.from_pydict({"part": pa.array([pickle.dumps(part)], pa.binary())})

    def _parts(self, batches: "Iterator[pa.RecordBatch]") -> Iterator[FoundPart | LexirecallError]:
        queries, judgments, rows = _judgments_in(batches)
        names = [name for name in self.columns.roles("run").values() if name]
        names += [] if self.files is None else [PLACE]
        try:
            read = read_sorted(
                (batch.select(names) for batch in rows), self.columns, self.name, judgments, self.conventions,
                None if self.units is None else self.units.value,
                needs_judged=self.needs_judged, is_given=False, label=self.label,
                place_of=None if self.files is None else self._place,
            )  # fmt: skip
        except LexirecallError as error:
            yield error  # of which Spark would know the text only
        else:
            if read.num_rows:
                yield from _packed(read, queries, judgments, has_blocks=self.conventions.ties == "expected")

    def _place(self, rows: "pa.Table", row: int) -> tuple[str, str]:
        place = rows.column(PLACE)[row].as_py()
        path = unquote(urlsplit(place["file_path"]).path)
        return (self.files or {}).get(path, path), f"row {place['row_index']:,}"


def _judgments_in(batches: "Iterator[pa.RecordBatch]") -> "tuple[IntArray, Judgments, Iterator[pa.RecordBatch]]":
    """Return the judgments of a partition, which come first, with the numbers of their queries; and the rows."""
    import pyarrow as pa

    pieces: list[pa.RecordBatch] = []
    rows: Iterator[pa.RecordBatch] = iter(())
    for batch in batches:
        count = len(batch) - batch.column("number").null_count
        pieces.append(batch.slice(0, count).select([*JUDGED]))
        if count < len(batch):
            rows = chain([batch.slice(count)], batches)
            break
    if not pieces:
        return np.zeros(0, np.int64), Judgments.from_grades({}), rows
    # Spark sorts judgments by query only: the pieces of one come in any order
    table = pa.Table.from_batches(pieces).sort_by([("number", "ascending"), ("first", "ascending")])
    number, _, query_ids, documents, sizes, grades = (table.column(name).to_pylist() for name in JUDGED)
    queries, starts = np.unique(np.array(number, np.int64), return_index=True)
    lengths = np.frombuffer(b"".join(sizes), np.int32).astype(np.int64)
    graded = np.frombuffer(b"".join(grades), np.float64)
    counts = np.add.reduceat([len(buffer) // 4 for buffer in sizes], starts) if len(starts) else np.zeros(0, np.int64)
    offsets = offsets_of(counts)
    ids = [query_ids[start] for start in starts.tolist()]
    judgments = Judgments(
        queries=tuple(map(to_text, ids)),
        query_ids=PackedIds.pack(ids),
        offsets=offsets,
        documents=PackedIds(b"".join(documents), offsets_of(lengths)),
        grades=graded,
        num_positive=np.diff(np.append(0, np.cumsum(graded > 0))[offsets]),
    )
    return queries, judgments, rows


def _packed(read: SortedRankings, queries: IntArray, judgments: Judgments, *, has_blocks: bool) -> Iterator[FoundPart]:
    """Give what was read, a few bytes for each document, in portions; what is counted comes with the first."""
    # stable, so that the positions of each ranking still ascend
    ranking, position, document, *block = read.found[np.argsort(read.found[:, 0], kind="stable")].T
    run, query = np.divmod(ranking, max(len(queries), 1))
    columns = (run, queries[query], position, document - judgments.offsets[query], *(block if has_blocks else ()))
    lengths = read.num_retrieved.reshape(len(read.runs), len(queries))
    counts = (read.num_unjudged, read.num_duplicates, read.num_rows)
    for begin in range(0, max(len(ranking), 1), _MOST):
        found = tuple(_small(column[begin : begin + _MOST]) for column in columns)
        yield FoundPart(tuple(read.runs), found, _small(queries), _small(lengths), *counts)
        queries, lengths, counts = queries[:0], lengths[:, :0], (0 * read.num_unjudged, 0 * read.num_duplicates, 0)


def _small(numbers: IntArray) -> IntArray:
    """Return numbers in 32 bits if they fit; none is below -1."""
    return numbers.astype(np.int32) if not numbers.size or numbers.max() < 2**31 else numbers

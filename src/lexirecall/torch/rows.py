"""Rows: the positions of many queries as one table of whole numbers, which can be put together in any order.

Belongs here: the way from positions to rows and back. Not here: who keeps them or sends them to other processes
(metric).

A row is a judged document of a query, those of a positive grade first; a query without one has a row without a
document. The rows of a query are next to each other, so tables of several batches or processes are joined by writing
one below the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lexirecall.errors import DataError, UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.text import to_bytes
from lexirecall.tracks import RunPositions, Tracks

FIRST, QUERY, DOCUMENT, GRADE, POSITION, BLOCK_START, BLOCK_SIZE, SIZE = range(8)
"""The columns: in the first row of a query 1 + the number of its process; the query's number; a document's index, -1
if there is none; the bits of its grade; its position; the documents above its block of tied ones; the size of the
block; and n of the query."""
WIDTH = 8


def rows_of(
    positions: Positions, queries: IntArray | None, index_of: Callable[[bytes], int], process: int = 0
) -> IntArray:
    """Return the rows of one run that retrieves every document, [R, 8]; queries without numbers have -1 there.

    >>> from lexirecall import project
    >>> qrels, run = {"q": {"1": 1, "4": 2, "0": 0}, "r": {}}, {"q": ["4", "0", "1"], "r": ["2"]}
    >>> rows = rows_of(project(qrels, run, needs_judged=True, corpus_size=6), np.array([70, 71]), int)
    >>> rows[:, [FIRST, QUERY, DOCUMENT, POSITION, SIZE]].tolist()
    [[1, 70, 4, 1, 6], [0, 70, 1, 3, 6], [0, 70, 0, 2, 6], [1, 71, -1, -1, 6]]
    """
    tracks = [track for track in (positions.found, positions.others) if track is not None]
    owners = np.concatenate([track.segments.owners for track in tracks])
    sizes = np.bincount(owners, minlength=len(positions.queries))
    heights = np.maximum(sizes, 1)
    rows = np.full((int(heights.sum()), WIDTH), -1, np.int64)
    rows[:, FIRST] = 0
    rows[offsets_of(heights)[:-1], FIRST] = 1 + process
    rows[:, QUERY] = -1 if queries is None else np.repeat(queries, heights)
    if positions.corpus_size is not None:
        rows[:, SIZE] = np.repeat(positions.corpus_size, heights)
    cells = np.concatenate([_cells(track, positions.judgments, index_of) for track in tracks])
    rows[np.repeat(sizes > 0, heights), DOCUMENT : BLOCK_SIZE + 1] = cells[np.argsort(owners, kind="stable")]
    return rows


def _cells(tracks: Tracks, judgments: Judgments, index_of: Callable[[bytes], int]) -> IntArray:
    """Return what rows hold of each document: the columns from DOCUMENT to BLOCK_SIZE."""
    ids = list(judgments.documents)
    indices = np.array([index_of(ids[document]) for document in tracks.documents.tolist()], np.int64)
    none = np.full(len(indices), -1)
    starts, sizes = (none if block is None else block for block in (tracks.block_starts, tracks.block_sizes))
    grades = judgments.grades[tracks.documents].view(np.int64)
    return np.column_stack([indices, grades, tracks.positions, starts, sizes])


@dataclass(frozen=True, slots=True)
class GatheredRows:
    """What tables of rows hold, put together."""

    positions: Positions
    num_repeated: int
    """Queries left out because they were there before: samplers repeat some, so that every process has as many."""
    num_differing: int
    """Of these, how many have other positions: what two processes compute may differ in its last bits."""


def gathered(rows: IntArray, *, name: str, ties: str, document_ids: Sequence[str] | None) -> GatheredRows:
    """Return the positions that rows hold; queries with a number are sorted by it, the others get one as they come.

    Documents of a query are in the order of their indices, so that two runs have the same judgments.

    >>> rows = np.array([[1, 9, 4, 0, 3, -1, -1, 6], [1, 7, 2, 0, 1, -1, -1, 6], [1, 9, 4, 0, 3, -1, -1, 6]])
    >>> rows[:, GRADE] = np.ones(3).view(np.int64)
    >>> found = gathered(rows, name="run", ties="trec", document_ids=None)
    >>> found.positions.queries, found.positions.found.positions.tolist(), found.num_repeated
    (('7', '9'), [1, 3], 1)
    """
    starts = np.append(np.flatnonzero(rows[:, FIRST]), len(rows))
    parts = [rows[start:stop] for start, stop in pairwise(starts.tolist())]
    numbered, num_differing = _numbered(parts)
    table = np.concatenate([np.empty((0, WIDTH), np.int64), *numbered.values()])
    queries = np.cumsum(table[:, FIRST] > 0) - 1
    held, owners = table[table[:, DOCUMENT] >= 0], queries[table[:, DOCUMENT] >= 0]
    grades = held[:, GRADE].copy().view(np.float64)
    order = np.lexsort((held[:, DOCUMENT], grades <= 0, owners))
    judgments = _judgments(list(numbered), held[order, DOCUMENT], grades[order], owners, document_ids)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    n = np.array([part[0, SIZE] for part in numbered.values()], np.int64)
    found, others = (_tracks(held, numbers, judgments, which) for which in (grades > 0, grades <= 0))
    run = RunPositions(name, np.ones(len(n), bool), n, found, others)
    positions = Positions.stack(judgments, [run], Conventions(ties=ties), n)
    return GatheredRows(positions, len(parts) - len(numbered), num_differing)


def _numbered(parts: list[IntArray]) -> tuple[dict[int, IntArray], int]:
    """Return the rows of each query by its number, each query once, and how many of the others differ.

    A query may differ if another process has it too. In the same process, it is from another epoch.
    """
    has_number = [bool(part[0, QUERY] >= 0) for part in parts]
    if not any(has_number):
        return dict(enumerate(parts)), 0
    if not all(has_number):
        raise UsageError(
            "some batches have query_ids, and others do not", remedy="give query_ids with every batch, or with none"
        )
    numbered: dict[int, IntArray] = {}
    num_differing = 0
    for part in parts:
        number = int(part[0, QUERY])
        first = numbered.setdefault(number, part)
        if np.array_equal(first[:, DOCUMENT:], part[:, DOCUMENT:]):
            continue
        if first[0, FIRST] == part[0, FIRST] or _judged(first) != _judged(part):
            raise DataError(
                f"query {number} was given twice, with different scores or relevant documents",
                remedy="give every query its own number, and reset the metric before the next epoch",
            )
        num_differing += 1
    return dict(sorted(numbered.items())), num_differing


def _judged(part: IntArray) -> set[tuple[int, ...]]:
    return set(map(tuple, part[:, [DOCUMENT, GRADE, SIZE]].tolist()))


def _judgments(
    numbers: list[int], indices: IntArray, grades: FloatArray, owners: IntArray, document_ids: Sequence[str] | None
) -> Judgments:
    queries = [str(number) for number in numbers]
    documents = [str(index) if document_ids is None else document_ids[index] for index in indices.tolist()]
    return Judgments(
        queries=tuple(queries),
        query_ids=PackedIds.pack(list(map(to_bytes, queries))),
        offsets=offsets_of(np.bincount(owners, minlength=len(queries))),
        documents=PackedIds.pack(list(map(to_bytes, documents))),
        grades=grades,
        num_positive=np.bincount(owners[grades > 0], minlength=len(queries)),
        name="the relevant documents",
        query_type="int64",
    )


def _tracks(held: IntArray, numbers: IntArray, judgments: Judgments, which: BoolArray) -> Tracks:
    """Return the tracks of some of the documents; they are in the order of their positions."""
    blocks = (held[:, BLOCK_START], held[:, BLOCK_SIZE]) if (held[:, BLOCK_SIZE] > 0).any() else (None, None)
    return Tracks(Segments(judgments.offsets), held[:, POSITION], numbers, *blocks).filter(which)

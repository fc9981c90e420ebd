"""Rows: the positions of many queries as one table of whole numbers, which can be put together in any order.

Belongs here: the way from positions to rows and back. Not here: who keeps them or sends them to other processes
(metric).

A row is a judged item of a request, those of a positive grade first; a request without one has a row without an item.
The rows of a request are next to each other, so tables of several batches or processes are joined by writing one below
the other.
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
from lexirecall.tracks import SystemPositions, Tracks

FIRST, REQUEST, ITEM, GRADE, POSITION, BLOCK_START, BLOCK_SIZE, SIZE = range(8)
"""The columns: in the first row of a request 1 + the number of its process; the request's number; an item's index, -1
if there is none; the bits of its grade; its position; the items above its block of tied ones; the size of the block;
and n of the request."""
WIDTH = 8


def rows_of(
    positions: Positions, requests: IntArray | None, index_of: Callable[[bytes], int], process: int = 0
) -> IntArray:
    """Return the rows of one system that retrieves every item, [R, 8]; requests without numbers have -1 there.

    >>> from lexirecall import project
    >>> qrels, run = {"q": {"1": 1, "4": 2, "0": 0}, "r": {}}, {"q": ["4", "0", "1"], "r": ["2"]}
    >>> rows = rows_of(project(qrels, run, needs_judged=True, corpus_size=6), np.array([70, 71]), int)
    >>> rows[:, [FIRST, REQUEST, ITEM, POSITION, SIZE]].tolist()
    [[1, 70, 4, 1, 6], [0, 70, 1, 3, 6], [0, 70, 0, 2, 6], [1, 71, -1, -1, 6]]
    """
    tracks = [each for each in (positions.found, positions.others) if each is not None]
    owners = np.concatenate([each.segments.owners for each in tracks])
    sizes = np.bincount(owners, minlength=len(positions.requests))
    heights = np.maximum(sizes, 1)
    rows = np.full((int(heights.sum()), WIDTH), -1, np.int64)
    rows[:, FIRST] = 0
    rows[offsets_of(heights)[:-1], FIRST] = 1 + process
    rows[:, REQUEST] = -1 if requests is None else np.repeat(requests, heights)
    if positions.corpus_size is not None:
        rows[:, SIZE] = np.repeat(positions.corpus_size, heights)
    cells = np.concatenate([_cells(each, positions.judgments, index_of) for each in tracks])
    rows[np.repeat(sizes > 0, heights), ITEM : BLOCK_SIZE + 1] = cells[np.argsort(owners, kind="stable")]
    return rows


def _cells(tracks: Tracks, judgments: Judgments, index_of: Callable[[bytes], int]) -> IntArray:
    """Return what rows hold of each item: the columns from ITEM to BLOCK_SIZE."""
    ids = list(judgments.items)
    indices = np.array([index_of(ids[item]) for item in tracks.items.tolist()], np.int64)
    none = np.full(len(indices), -1)
    starts, sizes = (none if block is None else block for block in (tracks.block_starts, tracks.block_sizes))
    grades = judgments.grades[tracks.items].view(np.int64)
    return np.column_stack([indices, grades, tracks.positions, starts, sizes])


@dataclass(frozen=True, slots=True)
class Gathered:
    """What tables of rows hold, put together."""

    positions: Positions
    num_repeated: int
    """Requests left out because they were there before: samplers repeat some, so that every process has as many."""
    num_differing: int
    """Of these, how many have other positions: what two processes compute may differ in its last bits."""


def gathered(rows: IntArray, *, name: str, ties: str, item_ids: Sequence[str] | None) -> Gathered:
    """Return the positions that rows hold; requests with a number are sorted by it, the others get one as they come.

    Items of a request are in the order of their indices, so that two systems have the same judgments.

    >>> rows = np.array([[1, 9, 4, 0, 3, -1, -1, 6], [1, 7, 2, 0, 1, -1, -1, 6], [1, 9, 4, 0, 3, -1, -1, 6]])
    >>> rows[:, GRADE] = np.ones(3).view(np.int64)
    >>> found = gathered(rows, name="run", ties="trec", item_ids=None)
    >>> found.positions.requests, found.positions.found.positions.tolist(), found.num_repeated
    (('7', '9'), [1, 3], 1)
    """
    starts = np.append(np.flatnonzero(rows[:, FIRST]), len(rows))
    parts = [rows[start:stop] for start, stop in pairwise(starts.tolist())]
    numbered, num_differing = _numbered(parts)
    table = np.concatenate([np.empty((0, WIDTH), np.int64), *numbered.values()])
    requests = np.cumsum(table[:, FIRST] > 0) - 1
    held, owners = table[table[:, ITEM] >= 0], requests[table[:, ITEM] >= 0]
    grades = held[:, GRADE].copy().view(np.float64)
    order = np.lexsort((held[:, ITEM], grades <= 0, owners))
    judgments = _judgments(list(numbered), held[order, ITEM], grades[order], owners, item_ids)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    n = np.array([part[0, SIZE] for part in numbered.values()], np.int64)
    found, others = (_tracks(held, numbers, judgments, which) for which in (grades > 0, grades <= 0))
    system = SystemPositions(name, np.ones(len(n), bool), n, found, others)
    positions = Positions.stack(judgments, [system], Conventions(ties=ties), n)
    return Gathered(positions, len(parts) - len(numbered), num_differing)


def _numbered(parts: list[IntArray]) -> tuple[dict[int, IntArray], int]:
    """Return the rows of each request by its number, each request once, and how many of the others differ.

    A request may differ if another process has it too. In the same process, it is from another epoch.
    """
    has_number = [bool(part[0, REQUEST] >= 0) for part in parts]
    if not any(has_number):
        return dict(enumerate(parts)), 0
    if not all(has_number):
        raise UsageError(
            "some batches have query_ids, and others do not", remedy="give query_ids with every batch, or with none"
        )
    numbered: dict[int, IntArray] = {}
    num_differing = 0
    for part in parts:
        number = int(part[0, REQUEST])
        first = numbered.setdefault(number, part)
        if np.array_equal(first[:, ITEM:], part[:, ITEM:]):
            continue
        if first[0, FIRST] == part[0, FIRST] or _judged(first) != _judged(part):
            raise DataError(
                f"query {number} was given twice, with different scores or relevant documents",
                remedy="give every query its own number, and reset the metric before the next epoch",
            )
        num_differing += 1
    return dict(sorted(numbered.items())), num_differing


def _judged(part: IntArray) -> set[tuple[int, ...]]:
    return set(map(tuple, part[:, [ITEM, GRADE, SIZE]].tolist()))


def _judgments(
    numbers: list[int], indices: IntArray, grades: FloatArray, owners: IntArray, item_ids: Sequence[str] | None
) -> Judgments:
    requests = [str(number) for number in numbers]
    items = [str(index) if item_ids is None else item_ids[index] for index in indices.tolist()]
    return Judgments(
        requests=tuple(requests),
        request_ids=PackedIds.pack(list(map(to_bytes, requests))),
        offsets=offsets_of(np.bincount(owners, minlength=len(requests))),
        items=PackedIds.pack(list(map(to_bytes, items))),
        grades=grades,
        num_positive=np.bincount(owners[grades > 0], minlength=len(requests)),
        name="the relevant documents",
        request_type="int64",
    )


def _tracks(held: IntArray, numbers: IntArray, judgments: Judgments, which: BoolArray) -> Tracks:
    """Return the tracks of some of the items; they are in the order of their positions."""
    blocks = (held[:, BLOCK_START], held[:, BLOCK_SIZE]) if (held[:, BLOCK_SIZE] > 0).any() else (None, None)
    return Tracks(Segments(judgments.offsets), held[:, POSITION], numbers, *blocks).filter(which)

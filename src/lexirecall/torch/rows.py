"""Rows: the positions of many queries as one table of whole numbers, which can be put together in any order.

Belongs here: the way from positions to rows and back. Not here: who keeps them or sends them to other processes
(metric).

A row is a relevant item of a request; a request without one has a row without an item. The rows of a request are next
to each other, so tables of several batches or processes are joined by writing one below the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lexirecall.errors import DataError
from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.text import to_bytes
from lexirecall.tracks import SystemPositions, Tracks

FIRST, REQUEST, ITEM, GRADE, POSITION, BLOCK_START, BLOCK_SIZE, SIZE = range(8)
"""The columns: 1 in the first row of a request, its number, an item's index (-1 if there is none), the bits of its
grade, its position, the items above its block of tied ones, the size of the block, and n of the request."""
WIDTH = 8


def rows_of(positions: Positions, requests: IntArray | None, index_of: Callable[[bytes], int]) -> IntArray:
    """Return the rows of one system, [R, 8]; requests without numbers have -1 there.

    >>> from lexirecall import project
    >>> positions = project({"q": {"1": 1, "4": 2}, "r": {"5": 0}}, {"q": ["4", "0", "1"], "r": ["2"]}, corpus_size=6)
    >>> rows = rows_of(positions, np.array([70, 71]), int)
    >>> rows[:, [FIRST, REQUEST, ITEM, POSITION, SIZE]].tolist()
    [[1, 70, 4, 1, 6], [0, 70, 1, 3, 6], [1, 71, -1, -1, 6]]
    """
    found, judgments = positions.found, positions.judgments
    sizes = found.segments.sizes
    heights = np.maximum(sizes, 1)
    rows = np.full((int(heights.sum()), WIDTH), -1, np.int64)
    rows[:, FIRST] = 0
    rows[offsets_of(heights)[:-1], FIRST] = 1
    rows[:, REQUEST] = -1 if requests is None else np.repeat(requests, heights)
    has_item = np.repeat(sizes > 0, heights)
    rows[has_item, ITEM] = [index_of(judgments.items[item]) for item in found.items.tolist()]
    rows[has_item, GRADE] = judgments.grades[found.items].view(np.int64)
    rows[has_item, POSITION] = found.positions
    if found.block_starts is not None and found.block_sizes is not None:
        rows[has_item, BLOCK_START], rows[has_item, BLOCK_SIZE] = found.block_starts, found.block_sizes
    if positions.corpus_size is not None:
        rows[:, SIZE] = np.repeat(positions.corpus_size, heights)
    return rows


@dataclass(frozen=True, slots=True)
class Gathered:
    """What tables of rows hold, put together."""

    positions: Positions
    num_repeated: int
    """Requests left out because they were there before: samplers repeat some, so that every process has as many."""


def gathered(rows: IntArray, *, name: str, ties: str, item_ids: Sequence[str] | None) -> Gathered:
    """Return the positions that rows hold; requests with a number are sorted by it, the others get one as they come.

    >>> rows = np.array([[1, 9, 4, 0, 3, -1, -1, 6], [1, 7, 2, 0, 1, -1, -1, 6], [1, 9, 4, 0, 3, -1, -1, 6]])
    >>> rows[:, GRADE] = np.ones(3).view(np.int64)
    >>> found = gathered(rows, name="run", ties="trec", item_ids=None)
    >>> found.positions.requests, found.positions.found.positions.tolist(), found.num_repeated
    (('7', '9'), [1, 3], 1)
    """
    starts = np.append(np.flatnonzero(rows[:, FIRST]), len(rows))
    parts = [rows[start:stop] for start, stop in pairwise(starts.tolist())]
    numbered = _numbered(parts)
    table = np.concatenate([np.empty((0, WIDTH), np.int64), *numbered.values()])
    judged = {str(number).encode(): _judged(part, item_ids) for number, part in numbered.items()}
    judgments = Judgments.from_grades(judged, name="the relevant documents", request_type="int64")
    n = np.array([part[0, SIZE] for part in numbered.values()], np.int64)
    system = SystemPositions(name, np.ones(len(n), bool), n, _tracks(table, judgments), _no_tracks(len(n)))
    return Gathered(Positions.stack(judgments, [system], Conventions(ties=ties), n), len(parts) - len(numbered))


def _numbered(parts: list[IntArray]) -> dict[int, IntArray]:
    """Return the rows of each request by its number, each request once."""
    if not any((part[:, REQUEST] >= 0).any() for part in parts):
        return dict(enumerate(parts))
    numbered: dict[int, IntArray] = {}
    for part in parts:
        number = int(part[0, REQUEST])
        if not np.array_equal(numbered.setdefault(number, part), part):
            raise DataError(
                f"query {number} was given twice, with different scores or relevant documents",
                remedy="give every query its own number, and reset the metric before the next epoch",
            )
    return dict(sorted(numbered.items()))


def _judged(part: IntArray, item_ids: Sequence[str] | None) -> dict[bytes, float]:
    found = part[part[:, ITEM] >= 0]
    ids = [str(item) if item_ids is None else item_ids[item] for item in found[:, ITEM].tolist()]
    return dict(zip(map(to_bytes, ids), np.ascontiguousarray(found[:, GRADE]).view(np.float64).tolist(), strict=True))


def _tracks(table: IntArray, judgments: Judgments) -> Tracks:
    """Return the tracks of the items, which the judgments have in the order of the rows."""
    found = table[table[:, ITEM] >= 0]
    has_blocks = len(found) > 0 and found[0, BLOCK_SIZE] > 0
    return Tracks(
        Segments(judgments.offsets),
        found[:, POSITION].copy(),
        np.arange(len(found)),
        found[:, BLOCK_START].copy() if has_blocks else None,
        found[:, BLOCK_SIZE].copy() if has_blocks else None,
    )


def _no_tracks(num_rankings: int) -> Tracks:
    return Tracks(Segments(np.zeros(num_rankings + 1, np.int64)), np.array([], np.int64), np.array([], np.int64))

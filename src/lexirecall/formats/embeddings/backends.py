"""Backends: who multiplies vectors, and compares scores with thresholds.

Belongs here: what a backend does, and products of queries with a block of a corpus in numpy. Not here: products in
torch (tensors) and on a GPU (gpu), which blocks and thresholds (counting).

The score of a pair comes from the product of its block. All products of a job have the same shape: short blocks are
filled up with zeros. A sum of products is computed in an order that depends on shape and place, not on other vectors,
so that a vector at the same place of another block has the same score, to the bit.

Similarities: `dot` is q·c. `cosine` is the dot product of the vectors divided by their lengths; a zero vector has 0.
`l2` is q·c - |c|²/2. That has the order of -|q - c|², because |q|² is the same for all documents, and one rounding
less. Scores are float32, or float64 if the vectors of queries are. Half precision is converted first, which loses
nothing, whereas scores of half precision would tie by the thousand; int8 is multiplied by its scale.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lexirecall.formats.embeddings.shards import Shard, is_tensor
from lexirecall.formats.rowcounts import VECTOR
from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.reader import reader_in_use

BLOCK = 4096  # documents that are multiplied at a time, unless the caller says otherwise
TILE = 1024  # queries that are multiplied at a time
COMPARED = 2**22  # scores that are compared at a time where ties are named
FEW = 24  # thresholds of a query that are compared one by one; more are found in sorted scores


Equal = tuple[IntArray, IntArray]
"""Numbers of thresholds, and columns with the same score."""


class NotFinite(Exception):  # noqa: N818 - it becomes an error once ids are known
    """A score is NaN or infinite; arguments are the row of the query and the column in the block."""


@dataclass(frozen=True, slots=True)
class KnownScores:
    """Scores in a block that are known already, and hold instead of its own."""

    rows: IntArray
    columns: IntArray
    scores: FloatArray


class Backend(Protocol):
    """Scores of all queries, row by row, against one block at a time; rows that are asked for ascend."""

    @property
    def block(self) -> int:
        """How many documents are multiplied at a time."""

    @property
    def kind(self) -> str:
        """What scores depend on, beside the vectors: those of two kinds cannot be compared to the bit."""

    @property
    def has_scored(self) -> bool:
        """Whether a block was loaded."""

    @property
    def scores_copies_alike(self) -> bool:
        """Whether a score never depends on the place of a vector; asked after the first block is loaded."""

    def load(self, vectors: Any, scales: Any) -> Any:
        """Take the vectors of a block to where products are computed."""

    def own(self, picked: Shard, places: IntArray, rows: IntArray, documents: IntArray) -> FloatArray:
        """Return the scores of pairs of a row and a picked document, as in the product of the document's own block.

        `places` says where each picked document is, counted from the start of a block.
        """

    def count(
        self, block: Any, size: int, known: KnownScores, rows: IntArray, thresholds: FloatArray
    ) -> tuple[Any, Any]:
        """Count, for each threshold of a row, how many of the first `size` columns are above it, and how many equal."""

    def equal(
        self, block: Any, size: int, known: KnownScores, rows: IntArray, thresholds: FloatArray
    ) -> Iterator[Equal]:
        """Give thresholds of rows, by their numbers, and columns that are equal to them, some at a time."""


@dataclass(frozen=True, slots=True)
class LoadedBlock:
    """A block as the products take it."""

    vectors: Any
    penalties: Any
    """|c|²/2 of each, for l2; otherwise None."""


class NumpyBackend:
    """Products by BLAS.

    >>> backend = NumpyBackend(np.array([[1.0, 2.0]], np.float32), None, "dot", block=2)
    >>> backend.products(backend.load(np.array([[3.0, 4.0]], np.float32), None), 0).tolist()
    [[11.0, 0.0]]
    """

    scores_copies_alike = False

    def __init__(self, queries: Any, scales: Any, similarity: str, block: int) -> None:
        self.similarity = similarity
        self.has_scored = False
        self.block = block
        self.num_queries = len(queries)
        self.tile = min(self.tallest(), len(queries))
        self.dtype = self.wide(queries)
        self.queries = self.prepared(queries, scales, -(-len(queries) // self.tile) * self.tile)
        self.make_room()

    @property
    def kind(self) -> str:
        """What scores depend on, beside the vectors."""
        return f"{self.dtype} by numpy, {self.block} at a time"

    # what numpy and torch write differently

    def tallest(self) -> int:
        """Return how many queries are multiplied at a time, at most."""
        return TILE

    def wide(self, vectors: Any) -> Any:
        """Return the type of products."""
        return np.float64 if vectors.dtype == np.float64 else np.float32

    def lift(self, array: npt.NDArray[Any]) -> Any:
        """Take an array of numpy to where products are computed."""
        return array

    def lower(self, array: Any) -> Any:
        """Take an array back to numpy."""
        return array

    def zeros(self, rows: int, width: int) -> Any:
        """Return vectors of zeros."""
        return np.zeros((rows, width), self.dtype)

    def converted(self, vectors: Any) -> Any:
        """Return vectors in the type of products."""
        plain = vectors.detach().cpu().double().numpy() if is_tensor(vectors) else np.asarray(vectors)
        return plain.astype(self.dtype, copy=False)

    def make_room(self) -> None:
        """Allocate what all products are written to, with thresholds beside them: new memory would cost more."""
        self._room = np.empty((self.tile, self.block + FEW), self.dtype)

    def compared(self, scores: Any, rows: IntArray, thresholds: FloatArray) -> tuple[IntArray, IntArray]:
        """Count scores above each threshold, and equal to it."""
        limits, ordinals = thresholds.astype(self.dtype), ordinals_of(rows)
        if ordinals.max(initial=0) >= FEW:
            return _found_in_order(scores, rows, limits)
        if reader_in_use() == "native":
            return self._compared_in_c(scores.shape[1], rows, ordinals, limits)
        above, tied = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        for pair, (row, limit) in enumerate(zip(rows.tolist(), limits, strict=True)):
            above[pair], tied[pair] = np.count_nonzero(scores[row] > limit), np.count_nonzero(scores[row] == limit)
        return above, tied

    def _compared_in_c(
        self, size: int, rows: IntArray, ordinals: IntArray, limits: npt.NDArray[Any]
    ) -> tuple[IntArray, IntArray]:
        """Compare scores with thresholds that are written beside them; these are then not counted."""
        from lexirecall import _native

        self._room[:, size:] = -np.inf  # below every threshold: columns without a document, thresholds of the last tile
        self._room[rows, self.block + ordinals] = limits
        offsets, none = np.searchsorted(rows, np.arange(self.tile + 1)), np.zeros(self.tile + 1, np.int64)
        above, tied, num_nan = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64), none[1:].copy()
        matrix = self._room, self._room.shape[1], self.dtype == np.float64, VECTOR
        _native.count_scores(*matrix, offsets, self.block + ordinals, none, none[:0], above, tied, num_nan)
        beside = self._room[rows, size:]
        above -= np.count_nonzero(beside > limits[:, None], axis=1)
        tied -= np.count_nonzero(beside == limits[:, None], axis=1)
        return above, tied

    def products(self, block: LoadedBlock, first: int) -> Any:
        """Return the scores of the tile of queries that begins with a row, against the whole block."""
        scores = self._room[:, : self.block]
        with np.errstate(all="ignore"):  # what is not a number is reported with the ids of query and document
            np.matmul(self.queries[first : first + self.tile], block.vectors.T, out=scores)
            if block.penalties is not None:
                scores -= block.penalties
        return scores

    # what both do

    def prepared(self, vectors: Any, scales: Any, size: int) -> Any:
        """Return vectors as they are multiplied, filled up with zeros to a number of rows."""
        with np.errstate(all="ignore"):  # scores that are not finite are reported with the ids of query and document
            wide = self.converted(vectors)
            if scales is not None:
                wide = wide * self.converted(self.lift(np.atleast_1d(np.asarray(scales, np.float64))))[:, None]
            if self.similarity == "cosine":
                wide = _directions(wide)
        if len(wide) == size:
            return wide
        filled = self.zeros(size, wide.shape[1])
        filled[: len(wide)] = wide
        return filled

    def load(self, vectors: Any, scales: Any) -> LoadedBlock:
        """Take the vectors of a block to where products are computed."""
        self.has_scored = True
        wide = self.prepared(vectors, scales, self.block)
        with np.errstate(over="ignore"):
            return LoadedBlock(wide, (wide * wide).sum(1) / 2 if self.similarity == "l2" else None)

    def own(self, picked: Shard, places: IntArray, rows: IntArray, documents: IntArray) -> FloatArray:
        """Return the scores of pairs of a row and a picked document, as in the product of the document's own block.

        Each document is put at its own column, and many blocks into one product. That is the same sum, because it
        depends on shape and place only.
        """
        scores, columns = np.empty(len(rows)), places % self.block
        for layer in _layers(columns):
            block = self.load(*picked.spread(layer, columns[layer], self.block))
            here = np.flatnonzero(np.isin(documents, layer))
            here = here[np.argsort(rows[here], kind="stable")]
            for first, at in self._tiles(rows[here]):
                pairs = here[at]
                found = self.products(block, first)[
                    self.lift(rows[pairs] - first), self.lift(columns[documents[pairs]])
                ]
                scores[pairs] = self.lower(found)
        return scores

    def count(
        self, block: LoadedBlock, size: int, known: KnownScores, rows: IntArray, thresholds: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Count, for each threshold of a row, how many of the first `size` columns are above it, and how many equal."""
        above, tied = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        for first, at in self._tiles(rows):
            scores = self._scores(block, size, known, first)
            above[at], tied[at] = self.compared(scores, rows[at] - first, thresholds[at])
        return above, tied

    def equal(
        self, block: LoadedBlock, size: int, known: KnownScores, rows: IntArray, thresholds: FloatArray
    ) -> Iterator[Equal]:
        """Give thresholds of rows, by their numbers, and columns that are equal to them, some at a time."""
        for first, at in self._tiles(rows):
            scores = self._scores(block, size, known, first)
            for start in range(at.start, at.stop, step := max(1, COMPARED // size)):
                some = slice(start, min(start + step, at.stop))
                limits = self.converted(self.lift(thresholds[some]))[:, None]
                which, columns = np.nonzero(self.lower(scores[self.lift(rows[some] - first)] == limits))
                yield start + which, columns

    def _tiles(self, rows: IntArray) -> Iterator[tuple[int, slice]]:
        """Give the first row of each tile in which there are rows, and where these are; rows ascend."""
        for number, at in _slices_by(rows // self.tile):
            yield number * self.tile, at

    def _scores(self, block: LoadedBlock, size: int, known: KnownScores, first: int) -> Any:
        scores = self.products(block, first)[:, :size]
        here = (known.rows >= first) & (known.rows < first + self.tile)
        if here.any():
            at = self.lift(known.rows[here] - first), self.lift(known.columns[here])
            scores[at] = self.converted(self.lift(known.scores[here]))
        asked = scores[: self.num_queries - first]  # rows that fill up the last tile are zeros: times infinity, NaN
        if not float(asked.max()) < np.inf:  # -inf is below every threshold, and these are finite
            row, column = np.argwhere(~(self.lower(asked) < np.inf))[0].tolist()
            raise NotFinite(first + row, column)
        return scores


def _directions(wide: Any) -> Any:
    """Divide vectors by their lengths. Where a square is too large or too small, it is made of a scaled vector."""
    squares = (wide * wide).sum(1)
    limit = 2.0**900 if "64" in str(wide.dtype) else 2.0**100
    is_odd = ~((squares > 1 / limit) & (squares < limit))
    if bool(is_odd.any()):
        some = wide[is_odd]
        sums = abs(some).sum(1)
        wide = wide + 0  # a copy: these may be the vectors that were given
        wide[is_odd] = some / (sums + (sums == 0) + (sums - sums))[:, None]  # NaN if the sum is infinite
        squares = (wide * wide).sum(1)
    return wide / (squares**0.5 + (squares == 0))[:, None]


def _layers(columns: IntArray) -> Iterator[IntArray]:
    """Give documents in groups of which each has every column at most once."""
    order = np.argsort(columns, kind="stable")
    ordinals = np.empty(len(columns), np.int64)
    ordinals[order] = ordinals_of(columns[order])
    for ordinal in range(int(ordinals.max()) + 1):
        yield np.flatnonzero(ordinals == ordinal)


def ordinals_of(rows: IntArray) -> IntArray:
    """Return which one of its row each entry is, from 0; rows ascend."""
    return np.arange(len(rows)) - np.searchsorted(rows, rows)


def _found_in_order(scores: npt.NDArray[Any], rows: IntArray, limits: npt.NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Count scores above each threshold, and equal to it, in the sorted scores of each row."""
    above, tied = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for row, at in _slices_by(rows):
        ascending = np.sort(scores[row])
        right = np.searchsorted(ascending, limits[at], side="right")
        above[at] = len(ascending) - right
        tied[at] = right - np.searchsorted(ascending, limits[at], side="left")
    return above, tied


def _slices_by(numbers: IntArray) -> Iterator[tuple[int, slice]]:
    """Give each number of an ascending array, and where it is."""
    different, counts = np.unique(numbers, return_counts=True)
    borders = offsets_of(counts)
    for number, start, stop in zip(different.tolist(), borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        yield number, slice(start, stop)

"""Marks: some documents of each query, as people who have score matrices name them.

Belongs here: masks, grades, sparse matrices and lists of indices, and what is wrong with them. Not here: what is done
with the documents (scores).
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, UsageError, counted, shown
from lexirecall.formats.arrays import ROOM, array_of, on_host
from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of

SHAPES = (
    "give a mask or grades as an array of the shape of the scores, a scipy.sparse matrix, or a list with the indices "
    "of each query's documents"
)


_LARGEST = np.uint64(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class Axes:
    """What the rows and columns of a matrix of scores are called."""

    queries: Sequence[str]
    document_ids: Sequence[bytes] | None
    """None: by their indices."""
    num_documents: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and documents."""
        return len(self.queries), self.num_documents

    def document(self, index: int) -> bytes:
        """Return the id of a document."""
        return str(index).encode() if self.document_ids is None else self.document_ids[index]

    def place(self, query: int, document: int) -> str:
        """Say which query and document, for a message."""
        return f"query {self.queries[query]!r}, document {shown(self.document(document))}"


@dataclass(frozen=True, slots=True)
class Marks:
    """Documents of each query; those of query q lie at offsets[q]:offsets[q + 1]."""

    offsets: IntArray
    documents: IntArray
    grades: FloatArray
    """1 where only the documents are given."""

    @property
    def owners(self) -> IntArray:
        """The query of each document."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def part(self, start: int, stop: int) -> "Marks":
        """Return the documents of some queries."""
        first, last = self.offsets[start], self.offsets[stop]
        return Marks(self.offsets[start : stop + 1] - first, self.documents[first:last], self.grades[first:last])

    def ordered(self, order: IntArray) -> "Marks":
        """Return the documents of each query in another order, or fewer of them."""
        sizes = np.bincount(self.owners[order], minlength=len(self.offsets) - 1)
        return Marks(offsets_of(sizes), self.documents[order], self.grades[order])

    def mask(self, num_documents: int) -> BoolArray:
        """Return them as a mask, [Q, n]."""
        mask = np.zeros((len(self.offsets) - 1, num_documents), bool)
        mask[self.owners, self.documents] = True
        return mask

    def keys(self, num_documents: int) -> IntArray:
        """Return a number for each pair of query and document."""
        return self.owners * num_documents + self.documents


def marks_of(documents: Any, axes: Axes, role: str) -> Marks:
    """Take the documents of each query in any of their forms; `role` is what messages call them.

    A mask marks what is true. Of grades, and of any other matrix, 0 marks nothing; in a sparse one, a 0 that is stored
    is a grade.

    >>> axes = Axes(["q", "r"], None, 3)
    >>> marks = marks_of(np.array([[0, 2, 1], [0, 0, 3]]), axes, "relevant")
    >>> marks.offsets.tolist(), marks.documents.tolist(), marks.grades.tolist()
    ([0, 2, 3], [1, 2, 2], [2.0, 1.0, 3.0])
    >>> marks_of([[1, 2], []], axes, "relevant").documents.tolist()
    [1, 2]
    """
    if hasattr(documents, "tocsr"):
        marks = _of_sparse(documents, axes, role)
    elif len(getattr(documents, "shape", ())) == 2:
        marks = _of_matrix(documents, axes, role)
    else:
        marks = _of_lists(documents, axes, role)
    if len(wrong := np.flatnonzero(~np.isfinite(marks.grades))):
        place = axes.place(int(marks.owners[wrong[0]]), int(marks.documents[wrong[0]]))
        raise DataError(f"{role}: {place}: the grade is not finite", remedy="give a plain number")
    return marks


def _check_shape(shape: tuple[int, ...], axes: Axes, role: str) -> None:
    if tuple(shape) != axes.shape:
        problem = f"{role} has the shape {list(shape)}, but the scores have {list(axes.shape)}"
        raise UsageError(problem, remedy=SHAPES)


def _of_sparse(matrix: Any, axes: Axes, role: str) -> Marks:
    _check_shape(matrix.shape, axes, role)
    _grades(np.empty(0, matrix.dtype), role)  # the type by itself: as floats, complex numbers would pass
    # a copy, because what is given stays as it is; of floats, because sums of small integers overflow
    rows = matrix.astype(bool if matrix.dtype == bool else np.float64).tocsr()
    rows.sum_duplicates()
    offsets, documents = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return Marks(offsets, documents, _grades(rows.data, role))


def _of_matrix(values: Any, axes: Axes, role: str) -> Marks:
    matrix, namespace = array_of(values, role)
    _check_shape(matrix.shape, axes, role)
    num_rows, parts = max(1, ROOM // (8 * axes.num_documents)), []
    for start in range(0, axes.shape[0], num_rows):
        block = matrix[start : start + num_rows, :]
        rows, documents = namespace.nonzero(block != 0)
        parts.append((start + on_host(rows), on_host(documents), _grades(on_host(block[rows, documents]), role)))
    owners, columns, grades = map(np.concatenate, zip(*parts, strict=True))
    return Marks(offsets_of(np.bincount(owners, minlength=axes.shape[0])), columns.astype(np.int64), grades)


def _grades(values: Any, role: str) -> FloatArray:
    """Return grades as floats; raise if they are not real numbers."""
    kind = values.dtype.kind
    if kind == "c" or kind in "SUMm":
        raise UsageError(f"{role} is of type {values.dtype}, but must be numbers", remedy=SHAPES)
    try:
        grades: FloatArray = values.astype(np.float64)
    except (TypeError, ValueError):  # objects of which one is not a number
        raise UsageError(f"{role} holds something that is not a number", remedy=SHAPES) from None
    return grades


def _of_lists(rows: Any, axes: Axes, role: str) -> Marks:
    if isinstance(rows, (str, bytes, dict, Set)) or not hasattr(rows, "__len__"):
        raise UsageError(f"{role} is of type {type(rows).__name__}", remedy=SHAPES)
    lists = [_indices(row, axes.queries[q], role) for q, row in zip(range(axes.shape[0]), rows, strict=False)]
    if len(rows) != axes.shape[0]:
        problem = f"{role} has a length of {len(rows):,}, but the scores are of {counted(axes.shape[0], 'query')}"
        raise UsageError(problem, remedy=SHAPES)
    documents = np.concatenate([np.zeros(0, np.int64), *lists])
    marks = Marks(offsets_of(np.fromiter(map(len, lists), np.int64, len(lists))), documents, np.ones(len(documents)))
    if len(wrong := np.flatnonzero((documents < 0) | (documents >= axes.num_documents))):
        query = axes.queries[int(marks.owners[wrong[0]])]
        problem = (
            f"{role}: query {query!r} names the document at index {documents[wrong[0]]}, which is not in the corpus"
        )
        raise DataError(problem, remedy=f"indices are columns of the scores, from 0 to {axes.num_documents - 1}")
    return marks


def _indices(indices: Any, query: str, role: str) -> npt.NDArray[np.int64]:
    """Return the indices of one query: a list, an array or a set of them, or a single one."""
    is_array = isinstance(indices, np.ndarray)
    if is_array and indices.ndim == 1 and indices.dtype == np.int64:  # asked first, because there may be many
        return indices  # type: ignore[no-any-return]
    try:
        values = np.atleast_1d(indices if is_array else on_host(list(indices) if isinstance(indices, Set) else indices))
    except ValueError:  # lists of different lengths within the list
        values = np.empty((1, 1), object)
    if not values.size:
        return np.zeros(0, np.int64)
    if values.ndim > 1 or values.dtype.kind not in "iu":
        what = "a mask" if values.dtype.kind == "b" else shown(repr(indices))
        raise UsageError(f"{role}: query {query!r} has {what} in place of a list of indices", remedy=SHAPES)
    return np.minimum(values, _LARGEST).astype(np.int64) if values.dtype == np.uint64 else values.astype(np.int64)


def check_different(marks: Marks, axes: Axes, role: str) -> None:
    """Raise if a document is named twice for a query."""
    keys = np.sort(marks.keys(axes.num_documents))
    if len(twice := np.flatnonzero(keys[1:] == keys[:-1])):
        place = axes.place(*divmod(int(keys[twice[0]]), axes.num_documents))
        raise DataError(f"{role}: {place} is named twice", remedy="name it once; a mask must be an array, not a list")

"""Row counts: how many scores of a row are above, or equal to, those of some of its documents.

Belongs here: counting over matrices of scores in blocks of rows: by the compiled kernel, by a sort where it is missing
or many documents of a row are asked for, or by the library of an array that lies on a device. Not here: what is counted
for (scores), what becomes of counts (scorecounts).

What is excluded from a row is not counted, whatever its score. Scores of numpy are compared as they would be in a run:
as floats. -inf and inf are scores like others, -0.0 equals 0.0, and NaN cannot be compared.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError
from lexirecall.formats.arrays import ROOM, like, on_host
from lexirecall.formats.marks import Axes, Marks
from lexirecall.judgments import BoolArray, IntArray
from lexirecall.reader import reader_in_use

MANY = 256
"""Judged documents of a row, on average, from which a sort of the row takes less time than comparing each with all."""
VECTOR = 32
"""Bytes of the vectors that the kernel in C may compare at a time, if the processor has such."""
_WIDEST = 16  # bytes that are needed at a time for each score that is compared


@dataclass(frozen=True, slots=True)
class NativeRows:
    """Some rows of scores, as floats of 4 or 8 bytes one after the other, and the kernel in C."""

    scores: Any
    namespace: Any
    judged: Marks
    excluded: Marks

    def counts(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return for each judged document how many scores are higher, and how many the same; for each row the NaN."""
        from lexirecall import _native

        above, tied = np.empty((2, len(self.judged.documents)), np.int64)
        num_nan = np.empty(len(self.scores), np.int64)
        _native.count_scores(*self._matrix, above, tied, num_nan)
        return above, tied, num_nan

    def before(self, tied: IntArray, order: IntArray) -> IntArray:
        """Return for each judged document how many of the same score are of a higher order."""
        from lexirecall import _native

        before = np.empty(len(tied), np.int64)
        _native.count_before(*self._matrix, tied, order.astype(np.int32), before)
        return before

    @property
    def _matrix(self) -> tuple[Any, ...]:
        scores, judged, excluded = self.scores, self.judged, self.excluded
        is_double = scores.dtype == np.float64
        marks = judged.offsets, judged.documents, excluded.offsets, excluded.documents
        return scores, scores.shape[1], is_double, VECTOR, *marks


@dataclass(frozen=True, slots=True)
class SortedRows:
    """The same in numpy, by a sort of each row, however many of its documents are asked for."""

    scores: Any
    namespace: Any
    judged: Marks
    excluded: Marks

    def counts(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return for each judged document how many scores are higher, and how many the same; for each row the NaN."""
        above, tied = np.zeros((2, len(self.judged.documents)), np.int64)
        for row, part, kept in self._rows():
            thresholds, ascending = row[self.judged.documents[part]], np.sort(row[kept])
            last = np.searchsorted(ascending, thresholds, side="right")
            above[part] = len(ascending) - last
            tied[part] = last - np.searchsorted(ascending, thresholds)
        return above, tied, np.count_nonzero(self.scores != self.scores, axis=1)

    def before(self, tied: IntArray, order: IntArray) -> IntArray:
        """Return for each judged document how many of the same score are of a higher order."""
        before = np.zeros(len(tied), np.int64)
        places = np.empty(self.scores.shape[1], np.int64)
        for row, part, kept in self._rows():
            at = np.flatnonzero(tied[part] > 1) + part.start
            if len(at):
                documents = self.judged.documents[at]
                blocks = kept[np.isin(row[kept], row[documents])]
                ascending = blocks[np.lexsort((order[blocks], row[blocks]))]
                places[ascending] = np.arange(len(ascending))
                before[at] = np.searchsorted(row[ascending], row[documents], side="right") - 1 - places[documents]
        return before

    def _rows(self) -> Iterator[tuple[Any, slice, IntArray]]:
        """Give each row with judged documents, where these lie, and the documents that are not excluded."""
        every, is_in = np.arange(self.scores.shape[1]), np.ones(self.scores.shape[1], bool)
        for q in np.flatnonzero(np.diff(self.judged.offsets)).tolist():
            excluded = self.excluded.part(q, q + 1).documents
            is_in[excluded] = False
            kept = np.flatnonzero(is_in) if len(excluded) else every
            is_in[excluded] = True
            yield self.scores[q], slice(*self.judged.offsets[q : q + 2].tolist()), kept


@dataclass(frozen=True, slots=True)
class ArrayRows:
    """The same for arrays of any library, on the device where they are: only counts leave it."""

    scores: Any
    namespace: Any
    judged: Marks
    excluded: Marks

    def counts(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return for each judged document how many scores are higher, and how many the same; for each row the NaN."""
        above, tied = np.zeros((2, len(self.judged.documents)), np.int64)
        only_in = self._only_in()
        for some, rows, thresholds in self._chunks(np.arange(len(above))):
            above[some] = self._number(only_in(rows > thresholds, some))
            tied[some] = self._number(only_in(rows == thresholds, some))
        return above, tied, self._number(self.scores != self.scores)

    def before(self, tied: IntArray, order: IntArray) -> IntArray:
        """Return for each judged document how many of the same score are of a higher order."""
        before = np.zeros(len(tied), np.int64)
        only_in, every = self._only_in(), self._like(order)
        for some, rows, thresholds in self._chunks(np.flatnonzero(tied > 1)):
            is_first = every[None, :] > self._like(order[self.judged.documents[some]])[:, None]
            before[some] = self._number(only_in((rows == thresholds) & is_first, some))
        return before

    def _chunks(self, wanted: IntArray) -> Iterator[tuple[IntArray, Any, Any]]:
        """Give some of the judged documents at a time, with the scores of their rows, and their own."""
        step = max(1, ROOM // (_WIDEST * self.scores.shape[1]))
        for start in range(0, len(wanted), step):
            some = wanted[start : start + step]
            owners = self._like(self.judged.owners[some])
            thresholds = self.scores[owners, self._like(self.judged.documents[some])]
            yield some, self.scores[owners, :], thresholds[:, None]

    def _only_in(self) -> Callable[[Any, IntArray], Any]:
        """Return a function that takes what is excluded out of flags for the rows of some judged documents."""
        if not len(self.excluded.documents):
            return lambda flags, _: flags
        is_in: BoolArray = ~self.excluded.mask(self.scores.shape[1])
        owners = self.judged.owners
        return lambda flags, some: flags & self._like(is_in[owners[some]])

    def _number(self, flags: Any) -> IntArray:
        numbers: IntArray = on_host(self.namespace.count_nonzero(flags, axis=1)).astype(np.int64)
        return numbers

    def _like(self, values: Any) -> Any:
        return like(values, self.scores, self.namespace)


def count_rows(
    scores: Any, namespace: Any, judged: Marks, excluded: Marks, order: Callable[[], IntArray], axes: Axes
) -> tuple[IntArray, IntArray, IntArray | None]:
    """Return for each judged document how many scores are above, how many equal, and how many of these come before.

    `order` is asked for only if there are ties. None comes before where there are none.

    >>> judged, nothing = (Marks(np.array([0, k]), np.arange(k), np.ones(k)) for k in (2, 0))
    >>> scores, axes = np.array([[0.5, 0.7, 0.5]]), Axes(["q"], None, 3)
    >>> above, tied, before = count_rows(scores, np, judged, nothing, lambda: np.arange(3), axes)
    >>> above.tolist(), tied.tolist(), before.tolist()
    ([1, 0], [2, 1], [1, 0])
    """
    as_floats, order = _floats(scores, namespace), cache(order)
    parts, num_rows = [], max(1, ROOM // (8 * max(1, axes.num_documents)))
    for start in range(0, len(axes.queries), num_rows):
        stop = min(start + num_rows, len(axes.queries))
        wanted = judged.part(start, stop)
        rows = _kernel(namespace, wanted)(as_floats(scores[start:stop]), namespace, wanted, excluded.part(start, stop))
        above, tied, num_nan = rows.counts()
        if num_nan.any():
            _check_numbers(rows, num_nan, start, axes)
        parts.append((above, tied, rows.before(tied, order()) if (tied > 1).any() else np.zeros_like(above)))
    above, tied, before = map(np.concatenate, zip(*parts, strict=True))
    return above, tied, before if (tied > 1).any() else None


def _kernel(namespace: Any, wanted: Marks) -> type[NativeRows | SortedRows | ArrayRows]:
    """Return how to count in some rows."""
    if namespace is not np:
        return ArrayRows
    is_many = len(wanted.documents) > MANY * (len(wanted.offsets) - 1)
    return SortedRows if is_many or reader_in_use() == "python" else NativeRows


def _floats(scores: Any, namespace: Any) -> Callable[[Any], Any]:
    """Return a function that makes floats of a block of scores; what is compared alike stays as it is."""
    if namespace is not np:
        if namespace.isdtype(scores.dtype, (namespace.int64, namespace.uint64)):
            return lambda block: namespace.astype(block, namespace.float64)
        if namespace.isdtype(scores.dtype, "real floating") and namespace.finfo(scores.dtype).bits < 16:
            return lambda block: namespace.astype(block, namespace.float32)  # a byte is stored, and not compared
        if namespace.isdtype(scores.dtype, ("real floating", "integral", "bool")):
            return lambda block: block
    elif scores.dtype.kind in "fiub":
        is_narrow = scores.dtype.itemsize <= (4 if scores.dtype.kind == "f" else 2)  # a float has 24 bits for integers
        dtype = np.float32 if is_narrow else np.float64
        return lambda block: np.require(block, dtype, ("C", "A"))  # what is in a file may lie at any byte
    raise UsageError(f"the scores are of type {scores.dtype}, but must be numbers", remedy="convert them to float32")


def _check_numbers(rows: NativeRows | SortedRows | ArrayRows, num_nan: IntArray, start: int, axes: Axes) -> None:
    """Raise if a score is NaN, unless it is excluded."""
    for row in np.flatnonzero(num_nan).tolist():
        is_nan = np.isnan(on_host(rows.scores[row, :]))
        is_nan[rows.excluded.part(row, row + 1).documents] = False
        if is_nan.any():
            raise DataError(
                f"{axes.place(start + row, int(is_nan.argmax()))}: the score is NaN",
                remedy="NaN cannot be ordered: give a number, such as -inf, or exclude the document",
            )

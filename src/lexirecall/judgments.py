"""Judgments: for each query, which documents were judged and with which grade.

Belongs here: the judgments as arrays, ready to be compared with rankings. Not here: reading them (formats).

An id is text; it is kept and compared as bytes. A positive grade says how relevant a document is, 0 that it is not,
a negative one that it was in the pool and not judged. The level from which a grade counts as relevant is not a
property of the judgments: it is a mask that each measure may choose.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.notebook import CellPart, NotebookDisplay, facts
from lexirecall.text import to_text

# as numpy.typing has them, which takes long to import
IntArray = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
FloatArray = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
BoolArray = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]

_AT_ONCE = 2**18
SMALLEST_GRADE = 5e-324
"""The level at which every positive grade counts as relevant."""


@dataclass(frozen=True, slots=True)
class PackedIds:
    """Many ids in one buffer, as the compiled reader needs them.

    >>> ids = PackedIds.pack([b"a", b"", b"xyz"])
    >>> list(ids), ids[2]
    ([b'a', b'', b'xyz'], b'xyz')
    """

    buffer: bytes
    offsets: IntArray

    @classmethod
    def pack(cls, ids: list[bytes]) -> "PackedIds":
        """Put ids one after the other."""
        return cls(b"".join(ids), offsets_of(np.fromiter(map(len, ids), np.int64, len(ids))))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        return self.buffer[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.slice(0, len(self)))

    def slice(self, start: int, stop: int) -> list[bytes]:
        """Return the ids from start up to stop."""
        borders = self.offsets[start : stop + 1].tolist()
        return [self.buffer[a:b] for a, b in pairwise(borders)]


@dataclass(frozen=True, slots=True, repr=False)
class Judgments(NotebookDisplay):
    """The judged documents of Q queries; those of query q lie at offsets[q]:offsets[q + 1], positive grades first."""

    queries: tuple[str, ...]
    query_ids: PackedIds
    offsets: IntArray
    documents: PackedIds
    grades: FloatArray
    num_positive: IntArray
    name: str = "qrels"
    """What messages call them."""
    num_repeated: int = 0
    """Lines that repeat an earlier judgment with the same grade."""
    has_grades: bool = True
    """Whether the input had grades; if not, every judged document has grade 1."""
    query_type: str = "text"
    """What the query ids were before they became text: text, or a type of numbers such as int64."""
    remarks: tuple[str, ...] = ()
    """What readers of results should know about how they were read."""
    corpus_size: IntArray | None = None
    """n of each query, [Q], if what they were read from knows it."""
    _lookups: dict[int, dict[bytes, int]] = field(default_factory=dict, repr=False, compare=False)
    _num_relevant: dict[float, IntArray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        size = f"{counted(len(self.queries), 'query')}, {counted(len(self.grades), 'judged document')}"
        return f"<Judgments: {size} of {self.name}>"

    def _parts(self) -> Iterable[CellPart]:
        positive = f"{len(self.grades):,}, {int(self.num_positive.sum()):,} of a positive grade"
        return [facts("Judgments", self.name, {"queries": f"{len(self.queries):,}", "judged documents": positive})]

    @classmethod
    def from_grades(
        cls,
        grades: Mapping[bytes, Mapping[bytes, float]],
        *,
        name: str = "qrels",
        num_repeated: int = 0,
        query_type: str = "text",
    ) -> "Judgments":
        """Build the arrays from a mapping of query to document to grade.

        >>> judgments = Judgments.from_grades({b"q": {b"a": 0, b"b": 2, b"c": -1, b"d": 1}})
        >>> list(judgments.documents), judgments.grades.tolist(), judgments.num_positive.tolist()
        ([b'b', b'd', b'a', b'c'], [2.0, 1.0, 0.0, -1.0], [2])
        """
        documents: list[bytes] = []
        values: list[float] = []
        num_positive = []
        for judged in grades.values():
            positive = {document: grade for document, grade in judged.items() if grade > 0}
            others = {document: grade for document, grade in judged.items() if not grade > 0}
            num_positive.append(len(positive))
            for part in (positive, others):
                documents += part.keys()
                values += part.values()
        sizes = np.fromiter(map(len, grades.values()), np.int64, len(grades))
        return cls(
            queries=tuple(map(to_text, grades)),
            query_ids=PackedIds.pack(list(grades)),
            offsets=offsets_of(sizes),
            documents=PackedIds.pack(documents),
            grades=np.array(values, np.float64),
            num_positive=np.array(num_positive, np.int64),
            name=name,
            num_repeated=num_repeated,
            query_type=query_type,
        )

    @property
    def index(self) -> dict[bytes, int]:
        """The index of each query, by the bytes of its id."""
        return {query: q for q, query in enumerate(self.query_ids)}

    def lookup(self, query: int) -> dict[bytes, int]:
        """Return the index in `documents` and `grades` of each judged document of a query."""
        if query not in self._lookups:
            start, stop = self.offsets[query], self.offsets[query + 1]
            self._lookups[query] = dict(zip(self.documents.slice(start, stop), range(start, stop), strict=True))
        return self._lookups[query]

    def between(self, start: int, stop: int) -> "Judgments":
        """Return those of the queries from start up to stop.

        >>> list(Judgments.from_grades({b"q": {b"a": 1}, b"r": {b"b": 1, b"c": 0}}).between(1, 2).documents)
        [b'b', b'c']
        """
        borders = self.offsets[start : stop + 1]
        here = slice(borders[0], borders[-1])
        return replace(
            self,
            queries=self.queries[start:stop],
            query_ids=PackedIds(self.query_ids.buffer, self.query_ids.offsets[start : stop + 1]),
            offsets=borders - borders[0],
            documents=PackedIds(self.documents.buffer, self.documents.offsets[here.start : here.stop + 1]),
            grades=self.grades[here],
            num_positive=self.num_positive[start:stop],
            corpus_size=None if self.corpus_size is None else self.corpus_size[start:stop],
            _lookups={},  # else `replace` would share those of the whole
        )

    def num_relevant(self, level: float) -> IntArray:
        """Count the relevant documents m of each query, [Q]; what was counted once is kept, and cannot be written to.

        >>> Judgments.from_grades({b"q": {b"a": 1, b"b": 2}, b"r": {b"c": 0}}).num_relevant(2).tolist()
        [1, 0]
        """
        if level not in self._num_relevant:
            counts = counts_of(self.grades >= level, self.offsets)
            counts.setflags(write=False)
            self._num_relevant[level] = counts
        return self._num_relevant[level]


def counts_of(mask: BoolArray, offsets: IntArray) -> IntArray:
    """Count the values under a mask in each segment, without a number for each value.

    >>> counts_of(np.array([True, False, True, True]), np.array([0, 0, 3, 4, 4])).tolist()
    [0, 2, 1, 0]
    """
    num_segments = len(offsets) - 1
    counts = np.zeros(num_segments, np.int64)
    width = max(1, num_segments * _AT_ONCE // max(1, len(mask)))
    for start in range(0, num_segments, width):
        borders = offsets[start : start + width + 1]
        under = np.flatnonzero(mask[borders[0] : borders[-1]])
        counts[start : start + width] = np.diff(np.searchsorted(under, borders - borders[0]))
    return counts


def offsets_of(sizes: IntArray) -> IntArray:
    """Return where segments of these sizes begin and end, one after the other.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets

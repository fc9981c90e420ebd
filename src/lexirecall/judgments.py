"""Judgments: for each request, which items were judged and with which grade.

Belongs here: the judgments as arrays, ready to be compared with rankings. Not here: reading them (formats).

An id is text; it is kept and compared as bytes. A positive grade says how relevant an item is, 0 that it is not,
a negative one that it was in the pool and not judged. The level from which a grade counts as relevant is not a
property of the judgments: it is a mask that each measure may choose.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.notebook import CellPart, Displayed, facts
from lexirecall.text import to_text

# as numpy.typing has them, which takes long to import
IntArray = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
FloatArray = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
BoolArray = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]

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
class Judgments(Displayed):
    """The judged documents of Q queries; those of query q lie at offsets[q]:offsets[q + 1], positive grades first."""

    requests: tuple[str, ...]
    request_ids: PackedIds
    offsets: IntArray
    items: PackedIds
    grades: FloatArray
    num_positive: IntArray
    name: str = "qrels"
    """What messages call them."""
    num_repeated: int = 0
    """Lines that repeat an earlier judgment with the same grade."""
    has_grades: bool = True
    """Whether the input had grades; if not, every judged document has grade 1."""
    request_type: str = "text"
    """What the query ids were before they became text: text, or a type of numbers such as int64."""
    remarks: tuple[str, ...] = ()
    """What readers of results should know about how they were read."""
    corpus_size: IntArray | None = None
    """n of each query, [Q], if what they were read from knows it."""
    _lookups: dict[int, dict[bytes, int]] = field(default_factory=dict, repr=False, compare=False)
    _num_relevant: dict[float, IntArray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        size = f"{counted(len(self.requests), 'query')}, {counted(len(self.grades), 'judged document')}"
        return f"<Judgments: {size} of {self.name}>"

    def _parts(self) -> Iterable[CellPart]:
        positive = f"{len(self.grades):,}, {int(self.num_positive.sum()):,} of a positive grade"
        return [facts("Judgments", self.name, {"queries": f"{len(self.requests):,}", "judged documents": positive})]

    @classmethod
    def from_grades(
        cls,
        grades: Mapping[bytes, Mapping[bytes, float]],
        *,
        name: str = "qrels",
        num_repeated: int = 0,
        request_type: str = "text",
    ) -> "Judgments":
        """Build the arrays from a mapping of query to document to grade.

        >>> judgments = Judgments.from_grades({b"q": {b"a": 0, b"b": 2, b"c": -1, b"d": 1}})
        >>> list(judgments.items), judgments.grades.tolist(), judgments.num_positive.tolist()
        ([b'b', b'd', b'a', b'c'], [2.0, 1.0, 0.0, -1.0], [2])
        """
        items: list[bytes] = []
        values: list[float] = []
        num_positive = []
        for judged in grades.values():
            positive = {item: grade for item, grade in judged.items() if grade > 0}
            others = {item: grade for item, grade in judged.items() if not grade > 0}
            num_positive.append(len(positive))
            for part in (positive, others):
                items += part.keys()
                values += part.values()
        sizes = np.fromiter(map(len, grades.values()), np.int64, len(grades))
        return cls(
            requests=tuple(map(to_text, grades)),
            request_ids=PackedIds.pack(list(grades)),
            offsets=offsets_of(sizes),
            items=PackedIds.pack(items),
            grades=np.array(values, np.float64),
            num_positive=np.array(num_positive, np.int64),
            name=name,
            num_repeated=num_repeated,
            request_type=request_type,
        )

    @property
    def index(self) -> dict[bytes, int]:
        """The index of each query, by the bytes of its id."""
        return {request: q for q, request in enumerate(self.request_ids)}

    def lookup(self, request: int) -> dict[bytes, int]:
        """Return the index in `items` and `grades` of each judged document of a query."""
        if request not in self._lookups:
            start, stop = self.offsets[request], self.offsets[request + 1]
            self._lookups[request] = dict(zip(self.items.slice(start, stop), range(start, stop), strict=True))
        return self._lookups[request]

    def num_relevant(self, level: float) -> IntArray:
        """Count the relevant documents m of each query, [Q]; what was counted once is kept, and cannot be written to.

        >>> Judgments.from_grades({b"q": {b"a": 1, b"b": 2}, b"r": {b"c": 0}}).num_relevant(2).tolist()
        [1, 0]
        """
        if level not in self._num_relevant:
            counts = np.diff(np.searchsorted(np.flatnonzero(self.grades >= level), self.offsets))
            counts.setflags(write=False)
            self._num_relevant[level] = counts
        return self._num_relevant[level]


def offsets_of(sizes: IntArray) -> IntArray:
    """Return where segments of these sizes begin and end, one after the other.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets

"""Units: what must be found, where that is not the documents themselves.

Belongs here: the units of judged documents as arrays, and where they are in rankings. Not here: the map as it was given
(unitmap), which of both the judgments name (judged), reading (formats), places counted in units (formats.counting).

A unit is a document of which chunks are retrieved, a fact that several passages support, a patent family. It is where
the first document that serves it is (`any`), or the last of those that it needs together (`all`). If documents are
judged, a unit has the highest grade of its documents, and those below the level do not serve it. If units are judged,
every document that the map has for a unit serves it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments, PackedIds, offsets_of
from lexirecall.providers import members
from lexirecall.segments import Segments
from lexirecall.text import to_text
from lexirecall.tracks import Tracks

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class UnitCount:
    """Units in numbers, which is all that a manifest and its notes say of them."""

    name: str
    judged: str
    """Whether the judgments name documents or units."""
    num_units: int
    """With a positive grade."""
    num_pairs: int
    """Of such a unit and a document that may serve it."""
    num_unmapped: int
    """Judged documents of a positive grade that stand for no unit."""
    unmapped: tuple[str, ...]
    """The first of them."""

    def record(self) -> dict[str, object]:
        """Return what a manifest says of the map."""
        return {
            "unit_map": self.name,
            "judged_ids": self.judged,
            "units": self.num_units,
            "documents_of_units": self.num_pairs,
            "without_unit": self.num_unmapped,
        }


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs of a judged document and a unit that it may serve."""

    documents: IntArray
    """Index into the judgments of documents."""
    units: IntArray
    """Number of the unit, by which `names` has it."""
    grades: FloatArray
    """The highest level at which the document serves the unit."""
    names: Sequence[bytes]
    are_documents: bool = False
    """Whether each judged document, in its order, serves the unit of its own name and no other."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of the judged documents; those of document i are units[offsets[i] : offsets[i + 1]]."""

    judgments: Judgments
    """The units of each query with their grades, as if they were its documents."""
    offsets: IntArray
    units: IntArray
    """Index into the units of the judgments."""
    grades: FloatArray
    """Of each document and unit: the highest level at which the document serves the unit."""
    needs_all: BoolArray
    """Of each unit: whether all its documents are needed."""
    count: UnitCount

    @classmethod
    def of_pairs(
        cls,
        documents: Judgments,
        pairs: "Pairing",
        needs_all: Callable[[bytes, bytes], bool] | bool = False,
        *,
        name: str = "units",
        judged: str = "documents",
    ) -> "Units":
        """Build the arrays from pairs of judged document and unit.

        >>> documents = Judgments.from_grades({b"q": {b"a": 1, b"b": 2, b"c": 0}})
        >>> pairs = Pairing(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1.0, 2, 2]), [b"U", b"V"])
        >>> units = Units.of_pairs(documents, pairs)
        >>> units.judgments.grades.tolist(), units.offsets.tolist(), units.units.tolist()
        ([2.0, 2.0], [0, 1, 3, 3], [0, 0, 1])
        """
        if pairs.are_documents:  # which are laid out already
            judgments, which, order = documents, pairs.documents, pairs.documents
        else:
            queries = np.searchsorted(documents.offsets, pairs.documents, side="right") - 1
            judgments, which = laid_out(queries, pairs.units, pairs.grades, pairs.names, documents)
            order = np.lexsort((which, pairs.documents))
        offsets = offsets_of(np.bincount(pairs.documents, minlength=len(documents.grades)))
        marked = np.full(len(judgments.grades), needs_all is True)
        if callable(needs_all):
            owners = Segments(judgments.offsets).owners.tolist()
            named = zip((judgments.query_ids[q] for q in owners), judgments.documents, strict=True)
            marked = np.fromiter((needs_all(*pair) for pair in named), bool, len(marked))
        count = _count(name, judged, judgments, documents, offsets, which)
        return cls(
            judgments=judgments, offsets=offsets, units=which[order], grades=pairs.grades[order], needs_all=marked,
            count=count,
        )  # fmt: skip

    @property
    def is_one_to_one(self) -> bool:
        """Whether every unit has one document and every document one unit: then units are documents by another name."""
        per_document, per_unit = np.diff(self.offsets), np.bincount(self.units, minlength=len(self.needs_all))
        return bool((per_document <= 1).all() and (per_unit == 1).all())

    def can_coincide(self, level: float) -> bool:
        """Tell whether a document serves two relevant units of a query, which then may be at one position."""
        serves = np.minimum(self.grades, self.judgments.grades[self.units]) >= level
        return bool((np.diff(offsets_of(serves.astype(np.int64))[self.offsets]) > 1).any())

    def serves(self, pairs: IntArray, level: float) -> BoolArray:
        """Tell which pairs of document and unit count at a level; below it, a unit is where its best documents are."""
        return np.asarray(self.grades[pairs] >= np.minimum(level, self.judgments.grades[self.units[pairs]]))

    def located(self, tracks: Tracks, level: float, *, positive: bool) -> tuple[Tracks, IntArray]:
        """Return where the units are, those of a positive grade or the others, and which document puts each there."""
        sizes = np.diff(self.offsets)[tracks.documents]
        pairs, rows = members(self.offsets, tracks.documents), np.repeat(np.arange(len(sizes)), sizes)
        kept = self.serves(pairs, level) & ((self.judgments.grades[self.units[pairs]] > 0) == positive)
        pairs, rows = pairs[kept], rows[kept]
        rankings, units = tracks.segments.owners[rows], self.units[pairs]
        chosen = self._deciding(rankings * len(self.needs_all) + units, units, level)
        rankings, units, rows = rankings[chosen], units[chosen], rows[chosen]
        segments = Segments(offsets_of(np.bincount(rankings, minlength=len(tracks.segments.sizes))))
        positions = tracks.positions[rows]
        if not _is_ascending(rankings, positions):
            order = np.lexsort((units, positions, rankings))
            units, rows, positions = units[order], rows[order], positions[order]
        return Tracks(segments, positions, units), tracks.documents[rows]

    def _deciding(self, keys: IntArray, units: IntArray, level: float) -> IntArray:
        """Return which rows decide where a unit is, the first or the last; keys tell ranking and unit."""
        if self.is_one_to_one:
            return np.arange(len(keys))
        # rows ascend by ranking and position, so the first row of a key is the highest, the last the lowest
        _, first = np.unique(keys, return_index=True)
        if not self.needs_all.any():
            return first
        _, last, found = np.unique(keys[::-1], return_index=True, return_counts=True)
        last, of = len(keys) - 1 - last, units[first]
        needed = np.bincount(self.units[self.serves(np.arange(len(self.units)), level)], minlength=len(self.needs_all))
        is_whole = ~self.needs_all[of] | (found == needed[of])
        return np.asarray(np.where(self.needs_all[of], last, first)[is_whole], np.int64)


def _is_ascending(rankings: IntArray, positions: IntArray) -> bool:
    """Tell whether rankings ascend, and positions within each, no two of which are equal."""
    steps = np.diff(rankings)
    return bool(((steps > 0) | ((steps == 0) & (np.diff(positions) > 0))).all())


def laid_out(
    queries: IntArray, numbers: IntArray, grades: FloatArray, names: Sequence[bytes], like: Judgments
) -> tuple[Judgments, IntArray]:
    """Return judgments of numbered things, each with its highest grade, and where each row is in them.

    >>> like = Judgments.from_grades({b"q": {}})
    >>> made, where = laid_out(np.zeros(3, int), np.array([1, 0, 1]), np.array([0.0, 1, 0]), [b"x", b"y"], like)
    >>> list(made.documents), made.grades.tolist(), where.tolist()
    ([b'x', b'y'], [1.0, 0.0], [1, 0, 1])
    """
    keys = queries * max(len(names), 1) + numbers
    first = inverse = np.arange(len(keys))
    best, ordered = grades, np.sort(keys)
    if (ordered[1:] == ordered[:-1]).any():
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        best = np.full(len(first), -np.inf)
        np.maximum.at(best, inverse, grades)
    owners = queries[first]
    in_order = owners * 2 + ~(best > 0)
    order = np.arange(len(first)) if (np.diff(in_order) >= 0).all() else np.lexsort((first, in_order))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    judgments = replace(
        like,
        offsets=offsets_of(np.bincount(owners, minlength=len(like.queries))),
        documents=PackedIds.pack([names[number] for number in numbers[first][order].tolist()]),
        grades=best[order],
        num_positive=np.bincount(owners, best > 0, len(like.queries)).astype(np.int64),
        _lookups={},  # else `replace` would share those of other documents
    )
    return judgments, place[inverse]


def _count(
    name: str, judged: str, judgments: Judgments, documents: Judgments, offsets: IntArray, units: IntArray
) -> UnitCount:
    unmapped = np.flatnonzero((documents.grades > 0) & (np.diff(offsets) == 0))
    examples = dict.fromkeys(documents.documents[i] for i in islice(unmapped.tolist(), 100))
    return UnitCount(
        name=name,
        judged=judged,
        num_units=int(judgments.num_positive.sum()),
        num_pairs=int((judgments.grades[units] > 0).sum()),
        num_unmapped=len(unmapped),
        unmapped=tuple(map(to_text, islice(examples, EXAMPLES))),
    )

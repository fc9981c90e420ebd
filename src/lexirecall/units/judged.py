"""Judged: whether judgments name documents or units, and the judgments of documents that follow.

Belongs here: the step from judgments and a map to the documents that readers look for and the units that these serve.

It is decided over the relevant ids. If all of them are units, units are judged. If none of them is a unit and nothing
else, documents are: those outside the map serve no unit, and are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.providers import members
from lexirecall.segments import Segments
from lexirecall.units import EXAMPLES, Pairing, Units, laid_out
from lexirecall.units.unitmap import UnitMap, numbered

SUBTOPICS = "@subtopics"
"""Given in place of a map: the units are in the judgments, as the subtopics of TREC's diversity tasks are."""
_SAY_WHICH = "say which they are: --judged documents or --judged units, or judged= in Python"


def units_of_judgments(judgments: Judgments, units: UnitMap, conventions: Conventions) -> tuple[Judgments, Units]:
    """Return the judgments of documents, which readers look for, and the units that these serve.

    >>> units = UnitMap.of_columns([b"c1", b"c2"], [b"d", b"d"])
    >>> documents, found = units_of_judgments(Judgments.from_grades({b"q": {b"d": 1}}), units, Conventions())
    >>> list(documents.documents), list(found.judgments.documents)
    ([b'c1', b'c2'], [b'd'])
    """
    itself = conventions.unmapped == "itself"
    ids = _ResolvedIds.of(judgments, units)
    judged = conventions.judged or ids.counts(judgments, units).judged(units.name, judgments.name, itself=itself)
    if judged == "documents":
        documents, pairs = judgments, _pairs_of_documents(ids, judgments, units, itself=itself)
    else:
        documents, pairs = _pairs_of_units(ids, judgments, units, itself=itself)
    by_default = conventions.unit_rule == "all"

    def needs_all(query: bytes, unit: bytes) -> bool:
        return units.needs_all.get((None if units.is_common else query, unit), by_default)

    rule = needs_all if units.needs_all else by_default
    return documents, Units.of_pairs(documents, pairs, rule, name=units.name, judged=judged)


@dataclass(frozen=True, slots=True)
class _ResolvedIds:
    """The judged ids, and what each of them is in the map of units."""

    texts: list[bytes]
    queries: IntArray
    slots: IntArray
    """As a document, -1 if it is none."""
    numbers: IntArray
    """As a unit with documents for this query, -1 if it is none."""

    @classmethod
    def of(cls, judgments: Judgments, units: UnitMap) -> "_ResolvedIds":
        texts, borders = list(judgments.documents), judgments.offsets.tolist()
        owners = Segments(judgments.offsets).owners
        if units.is_common:
            slots = units.slots_of(b"", texts)
            return cls(texts, owners, slots, slots if units.is_identity else units.numbers_of(b"", texts))
        queries, slots, numbers = list(judgments.query_ids), np.full(len(texts), -1), np.full(len(texts), -1)
        for q, query in enumerate(queries):
            entries = slice(borders[q], borders[q + 1])
            slots[entries] = units.slots_of(query, texts[entries])
            numbers[entries] = units.numbers_of(query, texts[entries])
        return cls(texts, owners, slots, numbers)

    def counts(self, judgments: Judgments, units: UnitMap) -> "IdCounts":
        """Count the relevant ids."""
        relevant, is_document, is_unit = judgments.grades > 0, self.slots >= 0, self.numbers >= 0
        neither, both = relevant & ~is_document & ~is_unit, relevant & is_document & is_unit
        masks = (relevant, relevant & is_document, relevant & is_unit, neither)
        total, num_documents, num_units, num_neither = (int(mask.sum()) for mask in masks)
        one = _differing(self, both, judgments, units) if both.any() else None
        return IdCounts(
            total=total, documents=num_documents, units=num_units, neither=num_neither, ambiguous=one,
            strangers=self.first(neither), of_map=units.documents[:EXAMPLES],
        )  # fmt: skip

    def first(self, mask: BoolArray, most: int = EXAMPLES) -> list[bytes]:
        """Return the first ids under a mask."""
        return list(islice(compress(self.texts, mask.tolist()), most))


def _pairs_of_documents(ids: _ResolvedIds, judgments: Judgments, units: UnitMap, *, itself: bool) -> Pairing:
    mapped = np.flatnonzero(ids.slots >= 0)
    sizes = np.diff(units.offsets)[ids.slots[mapped]]
    documents, numbers = np.repeat(mapped, sizes), units.units[members(units.offsets, ids.slots[mapped])]
    names = units.names
    if itself and len(mapped) < len(ids.slots):
        alone = np.flatnonzero(ids.slots < 0)
        names, added = _with_names(units, [ids.texts[i] for i in alone.tolist()])
        documents, numbers = np.concatenate([documents, alone]), np.concatenate([numbers, added])
        order = np.argsort(documents, kind="stable")
        documents, numbers = documents[order], numbers[order]
    return Pairing(
        documents, numbers, judgments.grades[documents], names, units.is_identity and len(mapped) == len(ids.slots)
    )


def _with_names(units: UnitMap, more: Sequence[bytes]) -> tuple[list[bytes], IntArray]:
    """Return the names of units with more, and the number of each of these."""
    numbers = dict(units.numbers)
    added = [numbers.setdefault(name, len(numbers)) for name in more]
    return list(numbers), np.array(added, np.int64)


def _pairs_of_units(
    ids: _ResolvedIds, judgments: Judgments, units: UnitMap, *, itself: bool
) -> tuple[Judgments, Pairing]:
    """Return judgments of the judged units' documents, each with the highest grade of its units, and the pairs."""
    without = (ids.numbers < 0) & (judgments.grades > 0)
    if without.any() and not itself:
        owners = (judgments.queries[q] for q in ids.queries[without].tolist())
        total = int(without.sum())
        raise without_documents(units.name, list(zip(owners, ids.first(without, total), strict=True)), total)
    rows: list[IntArray] = []
    slots: list[IntArray] = []
    for q, query in enumerate(judgments.query_ids):
        entries = np.arange(*judgments.offsets[q : q + 2])
        entries = entries[ids.numbers[entries] >= 0]
        if len(entries):
            offsets, of_unit = units.by_unit[None if units.is_common else query]
            rows.append(np.repeat(entries, np.diff(offsets)[ids.numbers[entries]]))
            slots.append(of_unit[members(offsets, ids.numbers[entries])])
    row, slot = (np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in (rows, slots))
    documents, names = [units.documents[s] for s in slot.tolist()], units.names
    numbers = ids.numbers[row]
    if itself:
        alone = np.flatnonzero(ids.numbers < 0)
        texts = [ids.texts[i] for i in alone.tolist()]
        names, added = _with_names(units, texts)
        row, numbers, documents = np.concatenate([row, alone]), np.concatenate([numbers, added]), [*documents, *texts]
    different, which = numbered(documents)
    grades = judgments.grades[row]
    judged, at = laid_out(ids.queries[row], which, grades, list(different), judgments)
    return judged, Pairing(at, numbers, grades, names)


@dataclass(frozen=True, slots=True)
class Subtopics:
    """Judgments of pairs of unit and document, by column."""

    queries: list[bytes]
    units: list[bytes]
    documents: list[bytes]
    grades: list[float]
    query_type: str = "text"
    num_repeated: int = 0
    """How many judgments repeat an earlier one."""
    has_grades: bool = True
    empty: tuple[bytes, ...] = ()
    """Queries without any judgment."""


def units_of_subtopics(
    subtopics: Subtopics, name: str, conventions: Conventions
) -> tuple[Judgments, Units, UnitMap | None]:
    """Return judgments of documents, their units and the map of both, from judgments of pairs of unit and document.

    There is a map if a unit is relevant.

    >>> given = Subtopics([b"q"] * 3, [b"1", b"1", b"2"], [b"a", b"b", b"b"], [1.0, 0.0, 1.0])
    >>> documents, units, unit_map = units_of_subtopics(given, "qrels", Conventions())
    >>> documents.lookup(0), units.judgments.grades.tolist(), units.grades.tolist(), unit_map.units_of(b"q", b"b")
    ({b'a': 0, b'b': 1}, [1.0, 1.0], [1.0, 0.0, 1.0], [b'2'])
    """
    empty: dict[bytes, dict[bytes, float]] = {query: {} for query in (*subtopics.queries, *subtopics.empty)}
    like = replace(
        Judgments.from_grades(empty, name=name, num_repeated=subtopics.num_repeated, query_type=subtopics.query_type),
        has_grades=subtopics.has_grades,
    )
    (_, query), (documents_named, document), (units_named, unit) = map(
        numbered, (subtopics.queries, subtopics.documents, subtopics.units)
    )
    grades: FloatArray = np.array(subtopics.grades, np.float64)
    documents, at = laid_out(query, document, grades, list(documents_named), like)
    pairs = Pairing(at, unit, grades, list(units_named))
    found = Units.of_pairs(documents, pairs, conventions.unit_rule == "all", name=SUBTOPICS)
    positive = (grades > 0).tolist()
    queries, units, served = (
        list(compress(column, positive)) for column in (subtopics.queries, subtopics.units, subtopics.documents)
    )
    return documents, found, UnitMap.of_columns(served, units, queries, name=name) if any(positive) else None


def without_documents(name: str, without: Sequence[tuple[str, str | bytes]], total: int) -> DataError:
    """Return the error about relevant units, the first of them given as query and unit, that no document serves."""
    which = listed((f"{shown(unit)} of query {shown(query)}" for query, unit in without), EXAMPLES, total)
    return DataError(
        f"{name}: {counted(total, 'relevant unit')} without a document, so it could never be found: {which}",
        remedy="add the documents to the map, or remove the judgments; --unmapped itself takes the ids for documents",
    )


@dataclass(frozen=True, slots=True)
class IdCounts:
    """How many of the relevant ids a map has as documents, as units, and as neither; whoever counted."""

    total: int
    documents: int
    units: int
    neither: int
    ambiguous: str | bytes | None
    """One that means one thing as a document and another as a unit."""
    strangers: Sequence[str | bytes]
    """The first that are neither."""
    of_map: Sequence[str | bytes]
    """The first documents of the map."""

    def judged(self, map_name: str, qrels_name: str, *, itself: bool) -> str:
        """Return whether the relevant ids are documents or units; raise if that cannot be told.

        With `itself`, those that are neither are units of their own.

        >>> IdCounts(3, 0, 3, 0, None, (), ()).judged("units", "qrels", itself=False)
        'units'
        """
        if not self.total:
            return "documents"
        # an id outside the map may be a document that serves no unit, but not a unit, unless it serves itself
        as_documents = self.documents > 0 and self.documents + self.neither == self.total
        as_units = self.units > 0 and self.units + (self.neither if itself else 0) == self.total
        fits = [name for name, fit in (("documents", as_documents), ("units", as_units)) if fit]
        if len(fits) == 1 or (fits and self.ambiguous is None):
            return fits[0]
        if self.ambiguous is not None and fits:
            problem = f"the judged ids are both documents and units of the map, as {shown(self.ambiguous)} is"
            raise UsageError(f"{map_name}: {problem}", remedy=_SAY_WHICH)
        raise self._neither(map_name, qrels_name)

    def _neither(self, map_name: str, qrels_name: str) -> DataError | UsageError:
        if self.neither == self.total:
            theirs, ours = (listed(map(shown, ids), EXAMPLES) for ids in (self.of_map, self.strangers))
            return DataError(
                f"{map_name}: none of the relevant ids is in the map: it has documents such as {theirs}, "
                f"{qrels_name} has {ours}",
                remedy="are the ids written the same way, and is it the right file?",
            )
        parts = [_part(self.documents, "a document of the map", "documents of the map")]
        parts += [_part(self.units, "a unit of it", "units of it"), _part(self.neither, "neither", "neither")]
        example = f", such as {shown(self.strangers[0])}" if self.strangers else ""
        relevant = f"the {counted(self.total, 'relevant id')} in {qrels_name}"
        return UsageError(f"{map_name}: of {relevant}, {', '.join(parts)}{example}", remedy=_SAY_WHICH)


def _differing(ids: _ResolvedIds, both: BoolArray, judgments: Judgments, units: UnitMap) -> bytes | None:
    """Return an id that means one thing as a document and another as a unit; None if each is only its own document."""
    at = np.flatnonzero(both)
    slots, numbers = ids.slots[at], ids.numbers[at]
    stands_for_itself = (np.diff(units.offsets)[slots] == 1) & (units.units[units.offsets[slots]] == numbers)
    if not stands_for_itself.all():
        return ids.texts[int(at[np.argmin(stands_for_itself)])]
    sizes = {key: np.diff(offsets) for key, (offsets, _) in units.by_unit.items()}
    for i in at.tolist():
        key = None if units.is_common else judgments.query_ids[ids.queries[i]]
        if sizes[key][ids.numbers[i]] != 1:
            return ids.texts[i]
    return None


def _part(number: int, one: str, several: str) -> str:
    return f"1 is {one}" if number == 1 else f"{number:,} are {several}"

"""Positions files in the place of runs: the positions are there already, and must be those that are asked for.

Belongs here: recognizing such a file, the check that its judgments and conventions are the given ones, and its runs as
readers hand them over. Not here: the layout of the file (positions.file).

The judgments must hold the same queries, documents and grades; their order may differ. Conventions that only say what
serves a unit do not change where documents are, so they may differ too. The corpus size of a file holds for all runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.errors import DataError, FormatError, UsageError, plain, shown
from lexirecall.formats.columns import check_one_run
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import advance_whole, content_of
from lexirecall.formats.wholelists import RunLists
from lexirecall.judgments import IntArray, Judgments, PackedIds
from lexirecall.manifest import OF_UNITS, Conventions
from lexirecall.positions import Positions
from lexirecall.positions.file import from_parquet, holds_positions
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap

_AGAIN = "evaluate it with the judgments that it was made with, or project the runs again"


def is_positions_file(source: Source) -> bool:
    """Tell whether Parquet is a positions file; only the end of a plain file is read."""
    content = content_of(source)
    if not isinstance(content, str):
        return holds_positions(content)
    with Path(content).open("rb") as file:
        return holds_positions(file)


def read_positions(source: Source) -> Positions:
    """Read a positions file."""
    positions = from_parquet(content_of(source), source.name)
    advance_whole(source)
    return positions


@dataclass(frozen=True, slots=True)
class PositionsRun:
    """The runs of a positions file."""

    positions: Positions
    name: str
    is_given: bool
    """Whether that name takes precedence over the one in the file."""
    label: str
    """What messages call it."""

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[RunPositions]:
        """Return the positions as they are, if they are those that are asked for."""
        self._check(conventions, units, needs_judged=needs_judged)
        queries, documents = correspondence(self.positions.judgments, judgments, self.label)
        names = self.positions.runs
        if self.is_given:
            check_one_run("run", len(names), self.label)
            names = (self.name,)
        return [self._run(s, name, queries, documents, keeps_others=needs_judged) for s, name in enumerate(names)]

    def documents(self, _run: str, _query: bytes) -> Iterable[bytes]:
        """Give nothing: the documents without a judgment are not known."""
        return ()

    def lists(
        self, _judgments: Judgments, _conventions: Conventions, *, needs_scores: bool = False,  # noqa: ARG002 - a form's
    ) -> list[RunLists]:  # fmt: skip
        """Refuse: there are no lists."""
        problem = "a positions file holds where the judged documents are, but whole lists are needed here"
        raise FormatError(self.label, None, problem, remedy="give the run itself")

    def _check(self, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool) -> None:
        if units is not None or conventions.count != "documents":
            problem = f"{self.label}: positions in units cannot be counted from a positions file, which holds no lists"
            raise UsageError(problem, remedy="leave out --count units (count='units' in Python), or give the runs")
        check_rules(self.positions.conventions, conventions, self.label)
        if needs_judged and self.positions.others is None:
            problem = "the file holds only relevant documents, but a measure needs the judged non-relevant ones too"
            raise FormatError(self.label, None, problem, remedy="lexirecall project, or needs_judged=True, keeps them")

    def _run(self, s: int, name: str, queries: IntArray, documents: IntArray, *, keeps_others: bool) -> RunPositions:
        positions = self.positions
        rankings, others = s * len(queries) + queries, positions.others if keeps_others else None
        mismatch = next((candidate for candidate in positions.mismatches if candidate.run == positions.runs[s]), None)
        return RunPositions(
            name=name,
            answered=positions.answered[s][queries],
            num_retrieved=positions.num_retrieved[s][queries],
            found=positions.found.of_rankings(rankings, documents),
            others=None if others is None else others.of_rankings(rankings, documents),
            num_unjudged=_at(positions.num_unjudged, s),
            num_duplicates=_at(positions.num_duplicates, s),
            num_extra=_at(positions.num_extra, s),
            mismatch=None if mismatch is None else replace(mismatch, run=name),
            corpus_size=None if positions.corpus_size is None else positions.corpus_size[queries],
        )


def check_rules(file_conventions: Conventions, conventions: Conventions, label: str) -> None:
    """Raise if a file was made with other conventions than are given; those about units say nothing about places.

    >>> check_rules(Conventions(depth=9), Conventions(ties="best"), "model.parquet")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: model.parquet: the file was made with ties='trec', not 'best'; depth=9, not None
      give --depth 9 and leave out --ties, or project the runs again
    """
    ours, theirs = asdict(file_conventions), asdict(conventions)
    differing = [name for name in ours if ours[name] != theirs[name] and name not in OF_UNITS]
    if differing:
        what = "; ".join(f"{name}={ours[name]!r}, not {theirs[name]!r}" for name in differing)
        remedy = f"{_as_it_was({name: ours[name] for name in differing})}, or project the runs again"
        raise UsageError(f"{label}: the file was made with {what}", remedy=remedy)


def _as_it_was(rules: Mapping[str, Any]) -> str:
    """Say which options make conventions what they were."""
    done: dict[str, list[str]] = {"give": [], "leave out": []}
    for name, value in rules.items():
        flag, is_default = f"--{name.replace('_', '-')}", value == getattr(Conventions(), name)
        done["leave out" if is_default else "give"].append(flag if is_default or value is True else f"{flag} {value}")
    return " and ".join(f"{verb} {' '.join(flags)}" for verb, flags in done.items() if flags)


def _at(counts: Sequence[int], s: int) -> int:
    return counts[s] if counts else 0


def correspondence(stored: Judgments, judgments: Judgments, label: str) -> tuple[IntArray, IntArray]:
    """Return which stored query each given one is, and which given document each stored one is; raise if they differ.

    >>> stored = Judgments.from_grades({b"q": {b"a": 1}, b"r": {b"b": 2, b"c": 1}})
    >>> judgments = Judgments.from_grades({b"r": {b"c": 1, b"b": 2}, b"q": {b"a": 1}})
    >>> queries, documents = correspondence(stored, judgments, "model.parquet")
    >>> queries.tolist(), documents.tolist()
    ([1, 0], [2, 1, 0])
    """
    if _is_same(stored, judgments):
        return np.arange(len(stored.queries)), np.arange(len(stored.grades))
    place, there = stored.index, judgments.index
    of_file, of_given = "in the file", f"in {judgments.name}"
    _refuse_missing(place, there, "query", label, (of_file, of_given))
    documents = np.empty(len(stored.grades), np.int64)
    for query, q in place.items():
        ours, theirs = stored.lookup(q), judgments.lookup(there[query])
        what = f"query {shown(query)}: document"
        _refuse_missing(ours, theirs, what, label, (of_file, of_given))
        for document, i in ours.items():
            documents[i] = theirs[document]
            one, other = stored.grades[i], judgments.grades[theirs[document]]
            if one != other:
                grades = f"has grade {plain(one)} {of_file}, but {plain(other)} {of_given}"
                raise _differing(label, f"{what} {shown(document)} {grades}")
    return np.array([place[query] for query in judgments.query_ids], np.int64), documents


def _refuse_missing(
    ours: dict[bytes, int], theirs: dict[bytes, int], what: str, label: str, where: tuple[str, str]
) -> None:
    for one, other, here in ((ours, theirs, where[0]), (theirs, ours, where[1])):
        if only := [key for key in one if key not in other]:
            raise _differing(label, f"{what} {shown(only[0])} is judged only {here}", len(only) - 1)


def _differing(label: str, what: str, more: int = 0) -> DataError:
    rest = f" (and {more:,} more)" if more else ""
    return DataError(f"{label}: the file was made with other judgments: {what}{rest}", remedy=_AGAIN)


def _is_same(one: Judgments, other: Judgments) -> bool:
    def same_ids(ours: PackedIds, theirs: PackedIds) -> bool:
        return ours.buffer == theirs.buffer and np.array_equal(ours.offsets, theirs.offsets)

    arrays = ((one.offsets, other.offsets), (one.grades, other.grades))
    is_same_in_numbers = all(np.array_equal(ours, theirs) for ours, theirs in arrays)
    return is_same_in_numbers and same_ids(one.query_ids, other.query_ids) and same_ids(one.documents, other.documents)

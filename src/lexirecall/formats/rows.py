"""Rows: from the rows of runs in a table to positions, with arrays only.

Belongs here: what the rows of runs mean. Not here: those of judgments (labels), columns of frames (frames), the order
of a ranking (ranking).

The order of rows matters only for ties="input" and duplicates="first". Ids are looked at as text only where
scores are equal.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexirecall.errors import FallbackOption, FormatError, shown
from lexirecall.formats.arrow import TableReading, batches_of, project_batches
from lexirecall.formats.assembly import SortedRankings, runs_of
from lexirecall.formats.columns import check_one_run
from lexirecall.formats.counting import place_by_units
from lexirecall.formats.ids import Ids, by_appearance, changes
from lexirecall.formats.ranking import RankedLines, place, place_all, repeated, rounded
from lexirecall.formats.roletable import RoleTable
from lexirecall.formats.wholelists import RunLists
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap

_LEAVE_ONE = FallbackOption("duplicates", {"first": "the first row", "best": "the highest score"})


def project_table(
    table: RoleTable,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None = None,
    *,
    needs_judged: bool,
    is_given: bool,
) -> list[RunPositions]:
    """Turn the rows of one run or of many into positions; `name` is for a table that names none.

    If it `is_given`, by whoever gave the table, it takes precedence over the table's own. The compiled reader takes
    what it can; this one reads the rest, and says what is wrong.
    """
    rest: TableReading = {"needs_judged": needs_judged, "is_given": is_given}
    if (batches := batches_of(table.frame)) is not None:
        runs = project_batches(batches, table.columns, name, judgments, conventions, units, **rest)
        if runs is not None:
            return noted(runs, table.splits())
    return project_rows(table, name, judgments, conventions, units, **rest)


def noted(runs: list[RunPositions], splits: str) -> list[RunPositions]:
    """Return the runs with what to say of a column of their table that nobody used."""
    return [replace(run, remark=f"{run.name}: {splits}") for run in runs[:1] if splits] + runs[bool(splits) :]


def project_rows(
    table: RoleTable,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None = None,
    *,
    needs_judged: bool,
    is_given: bool,
) -> list[RunPositions]:
    """Do the same with arrays, for rows in any order and columns of every type."""
    read = read_rows(table, name, judgments, conventions, units, needs_judged=needs_judged, is_given=is_given)
    return noted(runs_of(read, judgments, conventions, needs_judged=needs_judged), table.splits())


def read_rows(
    table: RoleTable,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None = None,
    *,
    needs_judged: bool,
    is_given: bool,
) -> SortedRankings:
    """Put rows in any order into rankings, and find the judged documents."""
    read = _read_rows(table, name, judgments, conventions, is_given=is_given)
    wants_all = needs_judged or conventions.judged_only
    found, lengths = read.kept.places(conventions, len(read.names), units, wants_all=wants_all)
    num_unjudged = np.array([len(queries) for queries in read.unjudged])
    num_retrieved = np.where(lengths == 0, -1, lengths)
    return SortedRankings(
        runs=read.names, found=found, num_retrieved=num_retrieved, num_unjudged=num_unjudged,
        num_duplicates=read.num_duplicates, num_rows=len(table.frame),
    )  # fmt: skip


def lists_of_rows(
    table: RoleTable,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    *,
    is_given: bool,
    needs_scores: bool = False,
) -> list[RunLists]:
    """Put the rows of one run or of many into the order of their rankings; ranks are not scores."""
    read = _read_rows(table, name, judgments, conventions, is_given=is_given)
    lists, scores = read.kept.lists(conventions, len(read.names))
    has_scores = needs_scores and table.columns.score is not None
    return [
        RunLists(run, lists[s], read.unjudged[s], int(read.num_duplicates[s]), scores=scores[s] if has_scores else {})
        for s, run in enumerate(read.names)
    ]


class _RunRows(NamedTuple):
    """The rows of judged queries, each document of a ranking once, and what was met on the way, for each run."""

    names: list[str]
    kept: "Rows"
    unjudged: list[frozenset[bytes]]
    num_duplicates: IntArray


def _read_rows(
    table: RoleTable, name: str, judgments: Judgments, conventions: Conventions, *, is_given: bool
) -> _RunRows:
    names, runs = _runs(table, name, is_given=is_given)
    queries = table.ids("query")
    judged = judgments.index
    number_of = np.array([judged.get(text.encode(), -1) for text in queries.texts()], np.int64)
    numbers, scores = number_of[queries.codes], _scores(table)
    table.present("document")  # also for queries that nobody judged
    rows = np.flatnonzero(numbers >= 0)
    width = len(judgments.queries)
    every = len(rows) == len(numbers)
    kept = Rows(
        table=table,
        judgments=judgments,
        rows=rows,
        groups=runs * width + numbers if every else runs[rows] * width + numbers[rows],
        documents=table.ids("document", None if every else rows),
        scores=scores if every else scores[rows],
    )
    kept, left_out = kept.without_duplicates(conventions.duplicates)
    num_duplicates = np.bincount(left_out // width, minlength=len(names))
    return _RunRows(names, kept, _unjudged(runs, queries, numbers, len(names)), num_duplicates)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of runs for judged queries; a group is one run's ranking of one query, run · Q + query."""

    table: RoleTable
    judgments: Judgments
    rows: IntArray
    """Where they are in the table."""
    groups: IntArray
    documents: Ids
    scores: FloatArray

    def without_duplicates(self, rule: str) -> "tuple[Rows, IntArray]":
        """Keep the first row of each document of a ranking, or the best, or refuse; return also the others' groups."""
        keys = self.groups * len(self.documents.values) + self.documents.codes
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            return self, np.zeros(0, np.int64)
        again, first = repeated(keys, self.scores, rule)
        if rule == "error":
            raise self._listed_twice(int(np.argmax(again)), first)
        kept = np.flatnonzero(~again)
        ids = Ids(self.documents.codes[kept], self.documents.values)
        rows = Rows(
            table=self.table, judgments=self.judgments, rows=self.rows[kept], groups=self.groups[kept], documents=ids,
            scores=self.scores[kept],
        )  # fmt: skip
        return rows, self.groups[again]

    def _listed_twice(self, row: int, first: IntArray) -> FormatError:
        query = self.judgments.queries[self.groups[row] % len(self.judgments.queries)]
        what = f"document {shown(self.documents.text(row))} of query {shown(query)}"
        earlier = self.table.place(int(self.rows[first[row]]))
        splits = self.table.splits()
        return self.table.error(
            int(self.rows[row]),
            f"{what} is listed twice{earlier and f', first {earlier}'}",
            remedy=f"{splits}; otherwise remove one of them" if splits else "remove one of them",
            way_on=_LEAVE_ONE,
        )

    def places(
        self, conventions: Conventions, num_runs: int, units: UnitMap | None, *, wants_all: bool
    ) -> tuple[IntArray, IntArray]:
        """Find where the judged documents are, those with a positive grade or all, and how long each ranking is."""
        lines = self._lines(conventions, wants_all=wants_all)
        num_rankings, grades = num_runs * len(self.judgments.queries), self.judgments.grades
        if units is None:
            lengths = np.bincount(self.groups, minlength=num_rankings)
            return place(lines, grades, conventions.ties), lengths
        found, rankings, num_places = place_by_units(lines, self._slots(units), units, grades, conventions.ties)
        lengths = np.zeros(num_rankings, np.int64)
        lengths[rankings] = num_places
        return found, lengths

    def lists(
        self, conventions: Conventions, num_runs: int
    ) -> tuple[list[dict[bytes, list[bytes]]], list[dict[bytes, FloatArray]]]:
        """Return for each run the documents of its rankings, in order, by query, and likewise their scores."""
        lines = self._lines(conventions, wants_all=conventions.ties in ("worst", "best"))
        rankings, _, order, *_ = place_all(lines, self.judgments.grades, conventions.ties).T
        texts = [text.encode() for text in self.documents.texts()]
        documents = [texts[code] for code in self.documents.codes[order].tolist()]
        borders = [*np.flatnonzero(changes(rankings)).tolist(), len(rankings)]
        found: list[dict[bytes, list[bytes]]] = [{} for _ in range(num_runs)]
        scores: list[dict[bytes, FloatArray]] = [{} for _ in range(num_runs)]
        ordered = self.scores[order]
        for start, stop in pairwise(borders):
            run, number = divmod(int(rankings[start]), len(self.judgments.queries))
            query = self.judgments.query_ids[number]
            found[run][query], scores[run][query] = documents[start:stop], ordered[start:stop]
        return found, scores

    def _lines(self, conventions: Conventions, *, wants_all: bool) -> RankedLines:
        return RankedLines(
            rankings=self.groups,
            scores=rounded(self.scores, conventions.score_dtype),
            judged=self._judged(wants_all=wants_all),
            ranks=lambda lines, _: self.documents.ranks(self.documents.codes[lines]),
        )

    def _slots(self, units: UnitMap) -> IntArray:
        """Return the slot of each row in the map; each pair of query and document is looked up once."""
        texts = [text.encode() for text in self.documents.texts()]
        queries = self.groups % len(self.judgments.queries) * (not units.is_common)
        pairs, which = np.unique(queries * len(texts) + self.documents.codes, return_inverse=True)
        tables = [units.of(query) for query in self.judgments.query_ids]
        slots = (tables[pair // len(texts)].get(texts[pair % len(texts)], -1) for pair in pairs.tolist())
        return np.fromiter(slots, np.int64, len(pairs))[which]

    def _judged(self, *, wants_all: bool) -> IntArray:
        """Return for each row where its document is in the judgments, -1 if it is not there."""
        judgments, width = self.judgments, len(self.documents.values)
        tracked = np.flatnonzero(judgments.grades > 0) if not wants_all else np.arange(len(judgments.grades))
        code = _codes_of_judged(judgments, self.documents, tracked)
        tracked, code = tracked[code >= 0], code[code >= 0]
        keys = (np.searchsorted(judgments.offsets, tracked, side="right") - 1) * width + code
        order = np.argsort(keys)
        keys, tracked = keys[order], tracked[order]
        is_candidate = np.zeros(width, bool)
        is_candidate[code] = True
        rows = np.flatnonzero(is_candidate[self.documents.codes])
        theirs = self.groups[rows] % len(judgments.queries) * width + self.documents.codes[rows]
        places = np.searchsorted(keys, theirs)
        hits = np.append(keys, -1)[places] == theirs
        judged = np.full(len(self.groups), -1, np.int64)
        judged[rows[hits]] = tracked[places[hits]]
        return judged


def _runs(table: RoleTable, name: str, *, is_given: bool) -> tuple[list[str], IntArray]:
    """Return the runs in the order in which they appear, and which one each row is of."""
    if table.columns.run is None:
        return [name], np.zeros(len(table.frame), np.int64)
    numbers, names = by_appearance(table.ids("run"))
    if not is_given:
        return names, numbers
    check_one_run(table.columns.run, len(names), table.name)
    return [name], numbers


def _scores(table: RoleTable) -> FloatArray:
    """Return the scores; where there are none, the first rank is the highest score."""
    role = "rank" if table.columns.score is None else "score"
    scores = table.numbers(role)
    return -scores if role == "rank" else scores


def _codes_of_judged(judgments: Judgments, documents: Ids, tracked: IntArray) -> IntArray:
    """Return the number that each tracked judged document has among the ids of a table, -1 if it has none."""
    numbers: dict[bytes, int] = {}
    which = np.array([numbers.setdefault(judgments.documents[j], len(numbers)) for j in tracked.tolist()], np.int64)
    texts = [_valid_text(document) for document in numbers]
    is_text = np.array([text is not None for text in texts], bool)
    codes = np.full(len(texts), -1, np.int64)
    codes[is_text] = documents.find([text for text in texts if text is not None])
    return codes[which]


def _valid_text(document: bytes) -> str | None:
    try:
        return document.decode()
    except UnicodeDecodeError:  # no table has it
        return None


def _unjudged(runs: IntArray, queries: Ids, numbers: IntArray, num_runs: int) -> list[frozenset[bytes]]:
    """Return the queries of each run for which there are no judgments."""
    rows = np.flatnonzero(numbers < 0)
    pairs = np.unique(runs[rows] * len(queries.values) + queries.codes[rows])
    found: list[set[bytes]] = [set() for _ in range(num_runs)]
    if len(pairs):
        texts = queries.texts()
        for pair in pairs.tolist():
            found[pair // len(texts)].add(texts[pair % len(texts)].encode())
    return [frozenset(unjudged) for unjudged in found]

"""DuckDB: the plan on one machine, for tables that are larger than memory.

Belongs here: positions and sort keys by DuckDB. Not here: the queries (plan), how they are run (session),
what they read (tables).

A table is looked at twice. First as it is: is every row complete, which systems and which requests are there? Then with
numbers instead of the texts of systems and requests, which takes a third off the time for sorting. What comes back is
where the judged items are; the rest is done by the same code as for files.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from lexirecall.fields import taken, takes
from lexirecall.formats import Given, Qrels, Runs, check_common, load_judgments
from lexirecall.formats.assembly import assemble
from lexirecall.formats.casts import DUCKDB, duplicate_error, no_rows, row_error
from lexirecall.formats.columns import check_one_system
from lexirecall.formats.duckdb.session import Session, Settings, open_session
from lexirecall.formats.duckdb.tables import BLOCK, DuckdbTable, hand_over, hand_over_units, open_table, text_of
from lexirecall.formats.mismatch import EXAMPLES, finds_judged, mismatch_of
from lexirecall.formats.naming import NamedRun, check_names, name_runs
from lexirecall.formats.plan import IDS_AND_SCORE, JUDGMENTS, PLACED, PROBLEMS, RUNS, Plan
from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.manifest import Conventions, Sources
from lexirecall.segments import Segments
from lexirecall.tracks import SystemPositions, Tracks
from lexirecall.units.unitmap import UnitMap

__all__ = ["sort_keys"]

_REQUESTS, _SYSTEMS, _JUDGED, _EVERY, _ROWS = (
    f"lexirecall_{name}" for name in ("requests", "systems", "judged", "every_judged", "rows")
)
_JUDGED_COLUMNS = "request INTEGER, item VARCHAR, grade DOUBLE, place BIGINT"
_PLACED_COLUMNS = (
    "system INTEGER, request INTEGER, place BIGINT, grade DOUBLE, times BIGINT, line BIGINT, position BIGINT"
)
_TYPES = {
    "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint8": "UTINYINT",
    "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT", "float32": "REAL", "float64": "DOUBLE",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DuckdbReader:
    """Reads runs, by a plan and with settings."""

    plan: Plan
    settings: Settings
    sources: Sources

    @classmethod
    def of(cls, conventions: Conventions, sources: Sources, *, needs_judged: bool) -> Self:
        """Return the reader, or refuse what it cannot do."""
        plan = Plan(conventions, DUCKDB, keeps_others=needs_judged)
        return cls(plan, Settings.of(sources.engine_options or {}), sources)

    def read(self, judgments: Judgments, named: list[NamedRun], units: UnitMap | None) -> list[SystemPositions]:
        """Find where the judged items are in every run, in limited memory."""
        settings = self.settings.with_default_connection(run.run for run in named)
        with open_session(settings, show_progress=self.sources.show_progress) as opened:
            plan = self.plan
            if units is not None:
                hand_over_units(opened, units, judgments.index)
                plan = replace(plan, unit_keys=("item",) if units.is_common else ("request", "item"))
            tables = _tables(opened, named, judgments, plan, self.sources.columns)
            return [system for table in tables for system in table.positions()]


@takes(Conventions)
def sort_keys(
    connection: Any,
    qrels: Qrels,
    runs: Runs,
    *,
    level: float = 1,
    name: str = "sort_keys",
    columns: Given = None,
    show_progress: bool | None = False,
    **options: Any,
) -> Any:
    """Make a temporary table (run, query, sort_key) in a connection, and return it as a relation.

    `a.sort_key < b.sort_key`, for one query, says that LexiRecall prefers a. The keys are those of
    `lexirecall.exact.sort_key`; every run has one for each query with a document of grade `level` or more. Queries
    have their type in the judgments. Everything is checked as in `lexirecall.project`, and `options` are its options.
    Only the judgments come into Python. An existing table of this `name` is replaced.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> run = connection.sql("SELECT 'q' AS qid, unnest(['x', 'a']) AS docno, unnest([0.9, 0.7]) AS score")
    >>> [(run, key.hex(" ", 4)) for run, _, key in
    ...     sort_keys(connection, {"q": {"a": 1, "b": 1}}, {"bm25": run}).fetchall()]
    [('bm25', 'ffffffff 00000002')]

    Reference: DiazEM25, for the order.
    """
    plan = Plan(taken(Conventions, options), DUCKDB)
    plan.conventions.check_units(None)
    query, target = plan.sort_keys(level), DUCKDB.name(name)
    judgments = load_judgments(qrels, columns)
    with open_session(Settings(connection), show_progress=show_progress) as opened:
        opened.table(target, f"run VARCHAR, query {_TYPES.get(judgments.request_type, 'VARCHAR')}, sort_key BLOB")
        for table in _tables(opened, name_runs(runs, columns), judgments, plan, columns):
            table.check_common()
            opened.answer(
                f"sort keys of {table.label}",
                f"INSERT INTO {target} SELECT s.system, q.request, k.sort_key FROM ({query}) AS k "
                f"JOIN {_SYSTEMS} AS s ON s.number = k.system JOIN {_REQUESTS} AS q ON q.number = k.request",
                source=table.label,
            )
        opened.keep(target)
    return connection.sql(f"SELECT * FROM temp.{target}")


def _tables(
    opened: Session, named: list[NamedRun], judgments: Judgments, plan: Plan, columns: Given
) -> Iterator["NumberedTable"]:
    """Give one table after another, checked, as the views that the plan is written over."""
    tables = [open_table(opened, run, columns) for run in named]
    _hand_over(opened, judgments, wants_all=plan.keeps_others or plan.conventions.judged_only)
    found: list[tuple[str, str]] = []
    for table in tables:
        given, column = table.rows(opened, plan, columns)
        query = given if table.is_cheap else _staged(opened, table, given)
        opened.view(RUNS, query)
        opened.view(JUDGMENTS, f"SELECT request FROM {_REQUESTS} WHERE request IS NOT NULL")
        _check_rows(opened, table, plan, given)
        systems = _systems(opened, table, column)
        found += [(system, table.label) for system in systems]
        check_names(found)
        unjudged = opened.answer(f"looking for queries in {table.label}", plan.unjudged(), source=table.label)
        _number(opened, query, systems)
        numbered = NumberedTable(opened, table.label, judgments, plan, systems, _by_name(unjudged, systems))
        numbered.check_duplicates()
        if plan.unit_keys:
            opened.table(PLACED, _PLACED_COLUMNS)
            placed = f"INSERT INTO {PLACED} {plan.placed()}"
            opened.answer(f"counting units in {table.label}", placed, source=table.label)
        yield numbered
        opened.drop(RUNS, _ROWS, PLACED)


def _hand_over(opened: Session, judgments: Judgments, *, wants_all: bool) -> None:
    """Give DuckDB the requests and the judged items, with numbers; ids that are not UTF-8 cannot be in a table."""
    opened.table(_REQUESTS, "request VARCHAR, number INTEGER")
    names = np.array([text_of(request) for request in judgments.request_ids], object)
    hand_over(opened, _REQUESTS, {"request": names, "number": np.arange(len(names))})
    opened.table(_JUDGED, _JUDGED_COLUMNS)
    # each request has a row without an item: it is known even if none of its items is wanted
    hand_over(opened, _JUDGED, {"request": np.arange(len(names))})
    _hand_over_items(opened, _JUDGED, judgments, wants_all=wants_all)


def _hand_over_items(opened: Session, table: str, judgments: Judgments, *, wants_all: bool) -> None:
    owners = Segments(judgments.offsets).owners
    for start in range(0, len(owners), BLOCK):
        stop = min(start + BLOCK, len(owners))
        wanted = np.ones(stop - start, bool) if wants_all else judgments.grades[start:stop] > 0
        if wanted.any():
            texts = np.array([text_of(item) for item in judgments.items.slice(start, stop)], object)
            places = np.arange(start, stop)[wanted]
            grades = judgments.grades[places]
            columns = {"request": owners[places], "item": texts[wanted], "grade": grades, "place": places}
            hand_over(opened, table, columns)


def _staged(opened: Session, table: DuckdbTable, query: str) -> str:
    """Keep the rows of a table that is costly to read, on disk if they are many."""
    opened.table(_ROWS, "system VARCHAR, request VARCHAR, item VARCHAR, score DOUBLE")
    with table.explained(opened):
        rows = f"INSERT INTO {_ROWS} SELECT {IDS_AND_SCORE} FROM ({query}) AS given"
        opened.answer(f"reading {table.label}", rows, source=table.label)
    return f"SELECT * FROM {_ROWS}"


def _check_rows(opened: Session, table: DuckdbTable, plan: Plan, given: str) -> None:
    """Raise if rows lack something; `given` selects the rows as they came in, with the reason."""
    with table.explained(opened):
        counts = opened.answer(f"checking {table.label}", plan.problems(), source=table.label)
    num_rows = int(counts["num_rows"][0])
    if num_rows == 0:
        raise no_rows(table.label)
    for problem, (role, _) in PROBLEMS.items():
        if number := int(counts[problem][0]):
            opened.view(RUNS, given)
            example = opened.answer("looking for an example", plan.example(problem), source=table.label)["example"][0]
            raise row_error(role, number, num_rows, [*example])


def _systems(opened: Session, table: DuckdbTable, column: str | None) -> list[str]:
    """Return the systems of a table, in the order of their names."""
    if column is None:
        return [table.name]
    if not table.is_given:
        query = f"SELECT DISTINCT system FROM {RUNS} ORDER BY system"
        return [str(name) for name in opened.answer("looking for runs", query, source=table.label)["system"]]
    query = f"SELECT count(DISTINCT {DUCKDB.name(column)}) AS number FROM {table.source}"
    number = opened.answer("looking for runs", query, source=table.label)["number"][0]
    check_one_system(column, int(number), table.label)
    return [table.name]


def _by_name(unjudged: Any, systems: list[str]) -> list[int]:
    counts = dict(zip(unjudged["system"], unjudged["num_unjudged"], strict=True))
    return [int(counts.get(system, 0)) for system in systems]


def _number(opened: Session, query: str, systems: list[str]) -> None:
    """Let the views hold numbers instead of the texts of systems and requests, and only judged requests."""
    opened.table(_SYSTEMS, "system VARCHAR, number INTEGER")
    hand_over(opened, _SYSTEMS, {"system": np.array(systems, object), "number": np.arange(len(systems))})
    opened.view(
        RUNS,
        f"SELECT s.number AS system, q.number AS request, r.item, r.score FROM ({query}) AS r "
        f"JOIN {_SYSTEMS} AS s ON s.system = r.system JOIN {_REQUESTS} AS q ON q.request = r.request",
    )
    opened.view(JUDGMENTS, f"SELECT request, item, grade, place FROM {_JUDGED}")


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """A table in the session's views, in which systems and requests are numbers."""

    session: Session
    label: str
    judgments: Judgments
    plan: Plan
    systems: list[str]
    num_unjudged: list[int]

    def check_duplicates(self) -> None:
        """Raise if an item is listed twice for a request, unless a rule says which to take."""
        if self.plan.conventions.duplicates != "error":
            return
        what = f"looking for duplicates in {self.label}"
        if not len(self._answer(what, self.plan.repeated())["key"]):
            return
        twice = self._answer(what, self.plan.duplicates())
        if len(twice["item"]):
            request, system = self.judgments.requests[twice["request"][0]], self.systems[twice["system"][0]]
            raise duplicate_error(self.label, system, request, twice["item"][0], int(twice["times"][0]))

    def check_common(self) -> None:
        """Raise if a system answers no judged request."""
        nothing = self._tracks(*(np.zeros(0, np.int64) for _ in range(3)))
        rankings = zip(self.systems, self._lengths()[0], strict=True)
        systems = [SystemPositions(name, lengths >= 0, lengths, nothing, None) for name, lengths in rankings]
        check_common(self.judgments, systems)

    def positions(self) -> list[SystemPositions]:
        """Return where the judged items are, for each system."""
        lengths, num_repeated = self._lengths()
        names = ("system", "place", *self.plan.columns_of_positions)
        query = f"SELECT {', '.join(names)} FROM ({self.plan.positions()}) AS positions"
        found = self._answer(f"finding positions in {self.label}", query)
        columns = {name: found[name].astype(np.int64, copy=False) for name in names}
        requests = np.searchsorted(self.judgments.offsets, columns["place"], side="right") - 1
        lines = columns.pop("line", columns["position"])  # of two items at one place, the one above comes first
        order = np.lexsort((lines, requests, columns["system"]))
        systems, items, positions, *blocks = (column[order] for column in columns.values())
        borders = np.searchsorted(systems, np.arange(len(self.systems) + 1))
        assembled = [
            assemble(
                name,
                self.judgments,
                self.plan.conventions,
                self._tracks(requests[order][start:stop], *(part[start:stop] for part in (positions, items, *blocks))),
                lengths[s],
                needs_judged=self.plan.keeps_others,
                num_unjudged=self.num_unjudged[s],
                num_duplicates=int(num_repeated[s]),
            )
            for s, (name, start, stop) in enumerate(zip(self.systems, borders[:-1], borders[1:], strict=True))
        ]
        return assembled if all(map(finds_judged, assembled)) else self._marked(assembled, lengths)

    def _marked(self, systems: list[SystemPositions], lengths: IntArray) -> list[SystemPositions]:
        """Mark the systems that retrieve no judged item, of any grade and at any depth."""
        self.session.table(_EVERY, _JUDGED_COLUMNS)
        _hand_over_items(self.session, _EVERY, self.judgments, wants_all=True)
        matched = self._answer(f"looking for judged documents in {self.label}", self.plan.matched(_EVERY))["system"]
        self.session.drop(_EVERY)
        return [
            system
            if s in matched
            else replace(system, mismatch=mismatch_of(system.name, lengths[s], self.judgments, partial(self._items, s)))
            for s, system in enumerate(systems)
        ]

    def _items(self, system: int, request: int) -> list[bytes]:
        query = (
            f"SELECT item FROM {RUNS} WHERE system = {system} AND request = {request} ORDER BY item LIMIT {EXAMPLES}"
        )
        return [item.encode() for item in self._answer("looking for examples", query)["item"]]

    def _answer(self, label: str, query: str) -> dict[str, Any]:
        return self.session.answer(label, query, source=self.label)

    def _tracks(self, requests: IntArray, *parts: IntArray) -> Tracks:
        sizes = np.bincount(requests, minlength=len(self.judgments.requests))
        return Tracks(Segments(offsets_of(sizes)), *parts)

    def _lengths(self) -> tuple[IntArray, IntArray]:
        """Return the length of each ranking, [S, Q], -1 if there is none; and how many rows each system lost."""
        counts = self._answer(f"counting documents in {self.label}", self.plan.lengths())
        lengths = np.full((len(self.systems), len(self.judgments.requests)), -1, np.int64)
        lengths[counts["system"], counts["request"]] = counts["num_retrieved"]
        repeated = np.bincount(counts["system"], counts["num_repeated"], len(self.systems))
        return lengths, repeated.astype(np.int64)

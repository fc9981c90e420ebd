"""Spark's tables: from the user's data frames to one row for each judged request.

Belongs here: checking runs and judgments, and gathering where the judged items are. Not here: what is computed from
it (spark), the plan itself (plan).

Only counts, names of systems and examples for messages come to the driver.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from lexirecall.engines.batches import UnitsOfBatches
from lexirecall.engines.spark_frames import FRAME, numbered, rows_of_frame, select
from lexirecall.engines.spark_units import Serving, UnitTable, is_subtopics, served_units
from lexirecall.engines.spark_workspace import Workspace, check_frame
from lexirecall.errors import DataError, FormatError, UsageError, shown
from lexirecall.formats import nothing_in_common
from lexirecall.formats.casts import SPARK, Column, duplicate_error, no_rows, row_error
from lexirecall.formats.columns import NO_GRADES, NO_GRADES_REMEDY, Given, find_columns
from lexirecall.formats.plan import JUDGMENTS, PLACED, PROBLEMS, RUNS, UNITS, Plan
from lexirecall.formats.values import NUMBER_REMEDY
from lexirecall.judgments import IntArray
from lexirecall.providers import EXAMPLES
from lexirecall.units import UnitCount

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lexirecall.engines.spark_units import SparkUnits

    Frames: TypeAlias = "DataFrame | Mapping[str, DataFrame] | RunRows"

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_FEW = 500_000  # judgments that every executor is sent, some 50 MB; then the runs need not be shuffled
_IDS = {"qrels": ("request", "item"), "subtopics": ("request", "unit", "item")}  # what a judgment is about
_GRADE_PROBLEMS = {
    "no_request": ("request", "request IS NULL"),
    "no_item": ("item", "item IS NULL"),
    "no_unit": ("unit", "unit IS NULL"),
    "no_grade": ("grade", "grade IS NULL OR isnan(grade)"),
    "not_finite": ("grade", "abs(grade) = CAST('Infinity' AS DOUBLE)"),
    "not_whole": ("grade", "must_be_whole AND grade <> floor(grade)"),
}


@dataclass(frozen=True, slots=True)
class RunRows:
    """The rows of runs in the form that the plan needs, from tables that name the systems."""

    frame: "DataFrame"


@dataclass(frozen=True, slots=True)
class Tables:
    """Runs and judgments in the form that the plan needs, checked; and what was counted on the way."""

    workspace: Workspace
    plan: Plan
    runs: "DataFrame"
    judgments: "DataFrame"
    lengths: "DataFrame"
    """How long the ranking of each system for each judged request is: system, request, num_retrieved, num_repeated."""
    systems: tuple[str, ...]
    num_unjudged: tuple[int, ...]
    num_duplicates: tuple[int, ...]
    num_repeated: int
    has_grades: bool
    request_type: str
    """What Spark calls the type of the requests' ids in the judgments, if they are numbers; else string."""
    owners: "DataFrame | None" = None
    """The providers of each item that has any: item, owners."""
    units: UnitTable | None = None
    placed: "DataFrame | None" = None
    """The rows with their places in units, if places are counted so."""
    serving: Serving | None = None
    """Which units the judged items serve, if units must be found."""

    def query(self, text: str) -> "DataFrame":
        """Run a query of the plan."""
        return _query(self.workspace, text, self.runs, self.judgments, self.placed)

    def sizes(self, of_requests: Callable[[Sequence[str]], IntArray]) -> dict[str, int]:
        """Return the corpus size of each judged request; their names come to the driver for this."""
        requests = [row.request for row in self.judgments.select("request").distinct().collect()]
        return dict(zip(requests, of_requests(requests).tolist(), strict=True))

    def units_of_batches(self) -> UnitsOfBatches | None:
        """Return what holds for the units of all batches, if units must be found."""
        if self.units is None or self.serving is None:
            return None
        return self.serving.of_batches(self.workspace, self.units.name)

    def named_units(self, count: UnitCount | None) -> UnitCount | None:
        """Return the count of units with the names of items that stand for none; the workers do not know any."""
        if count is None or self.serving is None or not count.num_unmapped:
            return count
        return replace(count, unmapped=self.serving.unmapped())

    def gathered(self) -> "DataFrame":
        """Return one row for each judged request, as `batches` needs it."""
        numbers = [f"CAST({name} AS INT) AS {name}" for name in ("place", *self.plan.columns_of_positions)]
        found = (
            f"SELECT system, request, collect_list(struct({', '.join(numbers)})) AS found "
            f"FROM ({self.plan.positions()}) AS placed GROUP BY system, request"
        )
        judged, owned = "j.place, j.grade" if self.serving is None else "j.place, j.grade, j.units", ""
        if self.owners is not None:
            judged, owned = f"{judged}, o.owners", "LEFT JOIN {owners} AS o ON o.item = j.item AND j.grade > 0 "
        return self.workspace.sql(
            "SELECT j.request, j.judged, a.rankings FROM "
            f"(SELECT j.request, collect_list(struct({judged})) FILTER (WHERE j.item IS NOT NULL) AS judged "
            f"FROM {{judgments}} AS j {owned}"
            "GROUP BY j.request) AS j "
            "LEFT JOIN (SELECT l.request, collect_list(struct(l.system, l.num_retrieved, f.found)) AS rankings "
            "FROM {lengths} AS l LEFT JOIN {found} AS f ON f.system = l.system AND f.request = l.request "
            "GROUP BY l.request) AS a ON a.request = j.request",
            judgments=self.judgments,
            lengths=self.lengths,
            found=self.query(found),
            **({} if self.owners is None else {"owners": self.owners}),
        )


def _query(
    workspace: Workspace, text: str, runs: "DataFrame", judgments: "DataFrame", placed: "DataFrame | None" = None
) -> "DataFrame":
    """Run a query of the plan over these; the names of its views occur nowhere else in its text."""
    named = text.replace(RUNS, "{runs}").replace(JUDGMENTS, "{judgments}").replace(PLACED, "{placed}")
    return workspace.sql(named, runs=runs, judgments=judgments, **({} if placed is None else {"placed": placed}))


def _placed_in_units(
    workspace: Workspace, plan: Plan, runs: "DataFrame", judgments: "DataFrame", units: UnitTable | None
) -> "DataFrame | None":
    """Return the rows with their places in units, held, if places are counted so."""
    if units is None or not plan.unit_keys:
        return None
    text = plan.placed().replace(RUNS, "{runs}").replace(JUDGMENTS, "{judgments}").replace(UNITS, "{units}")
    return workspace.hold(workspace.sql(text, runs=runs, judgments=judgments, units=units.frame))


def prepare(
    workspace: Workspace,
    qrels: "DataFrame",
    runs: "Frames",
    columns: Given,
    plan: Plan,
    units: "SparkUnits" = None,
) -> Tables:
    """Bring the user's frames into the form that the plan needs, and check them."""
    rows, names = _rows(workspace, runs, columns, plan)
    kind = "subtopics" if is_subtopics(units) else "qrels"
    graded, has_grades = _grades(workspace, qrels, columns, kind)
    judged, num_judged, num_repeated = _judged(workspace, graded, kind)
    unit_map, served = served_units(workspace, judged, units, columns, plan.conventions)
    items, number = (judged, num_judged) if served is None else (served.items, served.items.count())
    judgments = _placed(workspace, items, number)
    if unit_map is not None and plan.conventions.count == "units":
        plan = replace(plan, unit_keys=unit_map.keys)
    census = workspace.hold(_census(workspace, rows))
    _check_runs(workspace, plan, rows, judgments, census)
    systems = _systems(census, names)
    placed = _placed_in_units(workspace, plan, rows, judgments, unit_map)
    lengths, num_unjudged = _lengths(workspace, plan, rows, judgments, census, placed)
    num_duplicates = _num_duplicates(workspace, plan, lengths)
    return Tables(
        workspace=workspace,
        plan=plan,
        runs=rows,
        judgments=judgments,
        lengths=lengths,
        systems=systems,
        num_unjudged=tuple(num_unjudged.get(system, 0) for system in systems),
        num_duplicates=tuple(num_duplicates.get(system, 0) for system in systems),
        num_repeated=num_repeated,
        has_grades=has_grades,
        request_type=_request_type(qrels, columns),
        units=unit_map,
        placed=placed,
        serving=served,
    )


def _rows(
    workspace: Workspace, runs: "Frames", columns: Given, plan: Plan
) -> "tuple[DataFrame, tuple[str, ...] | None]":
    """Return the rows of all systems, and their names if they were given."""
    if isinstance(runs, RunRows):
        return runs.frame, None
    if not isinstance(runs, Mapping):
        return rows_of_frame(workspace, runs, columns, plan, "run"), None
    if not runs:
        raise UsageError("no runs to evaluate")
    frames = [
        rows_of_frame(workspace, frame, columns, plan, str(name), ignores_systems=True) for name, frame in runs.items()
    ]
    return reduce(lambda x, y: x.unionAll(y), frames), tuple(map(str, runs))


def _request_type(qrels: "DataFrame", columns: Given) -> str:
    kind = dict(qrels.dtypes)[find_columns(qrels.columns, "qrels", columns, source="qrels").request]
    return kind if kind in _NUMBERS else "string"


def _grades(workspace: Workspace, qrels: "DataFrame", columns: Given, kind: str) -> "tuple[DataFrame, bool]":
    """Return request, item, grade and, of subtopics, unit of all rows, their faults, and whether there are grades."""
    check_frame(qrels, "the frame of judgments")
    found = find_columns(qrels.columns, kind, columns, source="qrels")
    own, kinds, places = numbered(qrels, found.roles(kind), "qrels", "qrels")
    given = {role: Column(name, kinds[name]) for role, name in places.items()}
    grade = given["grade"].number(SPARK) if "grade" in given else "CAST(1 AS DOUBLE)"
    faults = ", ".join(f"{column.fault(SPARK)} AS {role}_fault" for role, column in given.items())
    ids = ", ".join(f"{given[role].id(SPARK)} AS {role}" for role in _IDS[kind])
    rows = (
        f"SELECT {ids}, {grade} AS grade, {str(found.is_score_graded).lower()} AS must_be_whole, {faults} FROM {FRAME}"
    )
    return select(workspace, rows, own), found.grade is not None or kind == "subtopics"


def _judged(workspace: Workspace, graded: "DataFrame", kind: str) -> "tuple[DataFrame, int, int]":
    """Return what is judged, and its grade; how many judgments that is; and how many are repeated."""
    ids = ", ".join(_IDS[kind])
    problems = {name: each for name, each in _GRADE_PROBLEMS.items() if each[0] in (*_IDS[kind], "grade")}
    counts = ", ".join(f"count_if({condition}) AS {name}" for name, (_, condition) in problems.items())
    pairs = workspace.hold(
        workspace.sql(
            f"SELECT {ids}, min(grade) AS grade, max(grade) AS highest, count(*) AS times, {counts} "
            f"FROM {{graded}} GROUP BY {ids}",
            graded=graded,
        )
    )
    sums = ", ".join(f"sum({name}) AS {name}" for name in problems)
    total = workspace.sql(
        f"SELECT count(*) AS pairs, sum(times) AS num_rows, {sums} FROM {{pairs}}", pairs=pairs
    ).collect()[0]
    if not total["pairs"]:
        raise no_rows("qrels")
    for name in problems:
        if total[name]:
            raise _bad_judgments(workspace, graded, name, total)
    if (pair := pairs.where("grade <> highest").first()) is not None:
        which = f"document {shown(pair.item)} of query {shown(pair.request)}"
        problem = f"{which} is judged twice, with the grades {pair.grade:g} and {pair.highest:g}"
        raise FormatError("qrels", None, problem, remedy="keep one of them")
    num_repeated = 0 if kind == "subtopics" else total["num_rows"] - total["pairs"]
    return pairs.select(*_IDS[kind], "grade"), total["pairs"], num_repeated


def _placed(workspace: Workspace, judged: "DataFrame", number: int) -> "DataFrame":
    """Return the judgments of items with their places."""
    # positive grades first, as in Judgments; their order is any, but always the same
    placed = (
        "SELECT *, row_number() OVER (PARTITION BY request ORDER BY item IS NULL, grade > 0 DESC, item) AS place "
        "FROM {judged}"
    )
    judgments = workspace.hold(workspace.sql(placed, judged=judged))
    return judgments.hint("broadcast") if number <= _FEW else judgments


def _bad_judgments(workspace: Workspace, graded: "DataFrame", name: str, counts: Any) -> FormatError:
    """Return the error about rows of judgments that lack something."""
    role, condition = _GRADE_PROBLEMS[name]
    packed = f"struct('qrels', CAST(NULL AS STRING), request, item, 'grade', {role}_fault, grade)"
    text = f"SELECT min({packed}) FILTER (WHERE {condition}) AS example FROM {{graded}}"
    *example, grade = workspace.sql(text, graded=graded).collect()[0].example
    said = {
        "not_finite": (f"the grade is not finite: {grade}", NUMBER_REMEDY),
        "not_whole": (f"{NO_GRADES}: {grade}", NO_GRADES_REMEDY),
    }
    return row_error(role, counts[name], counts["num_rows"], example, said.get(name))


def _census(workspace: Workspace, rows: "DataFrame") -> "DataFrame":
    """Count, for each system and request, the rows, and those that lack something: all in one reading."""
    counts = ", ".join(f"count_if({condition}) AS {name}" for name, (_, condition) in PROBLEMS.items())
    text = f"SELECT system, request, count(*) AS num_rows, {counts} FROM {{rows}} GROUP BY system, request"
    return workspace.sql(text, rows=rows)


def _systems(census: "DataFrame", names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the systems in the order given, or by name, because a table has no order."""
    if names is not None:
        return names
    return tuple(sorted(row.system for row in census.select("system").distinct().collect()))


def _check_runs(
    workspace: Workspace, plan: Plan, rows: "DataFrame", judgments: "DataFrame", census: "DataFrame"
) -> None:
    sums = ", ".join(f"sum({name}) AS {name}" for name in ("num_rows", *PROBLEMS))
    counts = workspace.sql(f"SELECT {sums} FROM {{census}}", census=census).collect()[0]
    if not counts.num_rows:
        raise no_rows("run")
    for name, (role, _) in PROBLEMS.items():
        if counts[name]:
            example = _query(workspace, plan.example(name), rows, judgments).collect()[0].example
            raise row_error(role, counts[name], counts.num_rows, example)
    if plan.conventions.duplicates == "error" and _may_repeat(workspace, plan, rows, judgments):
        repeated = _query(workspace, plan.duplicates(), rows, judgments).collect()
        if repeated:
            twice = repeated[0]
            one = rows.where((rows.system == twice.system) & (rows.request == twice.request)).select("source").first()
            label = twice.system if one is None else one.source
            raise duplicate_error(label, twice.system, twice.request, twice.item, twice.times)


def _may_repeat(workspace: Workspace, plan: Plan, rows: "DataFrame", judgments: "DataFrame") -> bool:
    """Tell whether two rows of judged requests have one hash, as `Plan.repeated` does.

    Nearly all hashes differ, so adding up before the shuffle does not help: without it this takes half the time.
    """
    key = plan.dialect.hashed.format(columns="system, request, item")
    keys = f"SELECT {key} AS key FROM {RUNS} WHERE request IN (SELECT request FROM {JUDGMENTS}) DISTRIBUTE BY key"
    text = f"SELECT count(*) AS times FROM (SELECT key FROM ({keys}) GROUP BY key HAVING count(*) > 1)"
    return bool(_query(workspace, text, rows, judgments).collect()[0].times)


def _lengths(
    workspace: Workspace,
    plan: Plan,
    rows: "DataFrame",
    judgments: "DataFrame",
    census: "DataFrame",
    placed: "DataFrame | None",
) -> "tuple[DataFrame, dict[str, int]]":
    """Return how long each ranking of a judged request is, and how many requests of each system have no judgments."""
    # not NOT IN: Spark compares that with every row if there are too many judgments to broadcast
    strangers = (
        f"SELECT r.system, count(*) AS num_unjudged FROM {RUNS} AS r "
        f"LEFT ANTI JOIN {JUDGMENTS} AS j ON r.request = j.request GROUP BY r.system"
    )
    unjudged = {row.system: row.num_unjudged for row in _query(workspace, strangers, census, judgments).collect()}
    if plan.conventions.duplicates != "error" or placed is not None:
        return _query(workspace, plan.lengths(), rows, judgments, placed), unjudged
    text = (
        "SELECT system, request, num_rows AS num_retrieved, CAST(0 AS BIGINT) AS num_repeated "
        f"FROM {RUNS} WHERE request IN (SELECT request FROM {JUDGMENTS})"
    )
    return _query(workspace, text, census, judgments), unjudged


def _num_duplicates(workspace: Workspace, plan: Plan, lengths: "DataFrame") -> dict[str, int]:
    if plan.conventions.duplicates == "error":
        return {}
    text = "SELECT system, sum(num_repeated) AS num_repeated FROM {lengths} GROUP BY system"
    return {row.system: row.num_repeated for row in workspace.sql(text, lengths=lengths).collect()}


def no_common_request(strangers: list[str], judgments: "DataFrame") -> DataError:
    """Return the error about systems that answer none of the judged requests."""
    examples = judgments.select("request").distinct().orderBy("request").take(EXAMPLES)
    return nothing_in_common(strangers, [row.request for row in examples])

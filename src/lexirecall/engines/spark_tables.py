"""Spark's tables: from the user's data frames to one row for each judged request.

Belongs here: checking runs and judgments, and gathering where the judged items are. Not here: what is computed from
it (spark), the plan itself (plan).

Only counts, names of systems and examples for messages come to the driver.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from lexirecall.engines.spark_frames import FRAME, numbered, rows_of_frame, select
from lexirecall.engines.spark_workspace import Workspace, check_frame
from lexirecall.errors import DataError, FormatError, UsageError, shown
from lexirecall.formats import nothing_in_common
from lexirecall.formats.casts import SPARK, Column, duplicate_error, no_rows, row_error
from lexirecall.formats.columns import NO_GRADES, NO_GRADES_REMEDY, Given, find_columns
from lexirecall.formats.plan import JUDGMENTS, PROBLEMS, RUNS, Plan
from lexirecall.formats.values import NUMBER_REMEDY
from lexirecall.judgments import IntArray
from lexirecall.providers import EXAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Frames: TypeAlias = "DataFrame | Mapping[str, DataFrame] | RunRows"

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_FEW = 500_000  # judgments that every executor is sent, some 50 MB; then the runs need not be shuffled
_GRADE_PROBLEMS = {
    "no_request": ("request", "request IS NULL"),
    "no_item": ("item", "item IS NULL"),
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

    def query(self, text: str) -> "DataFrame":
        """Run a query of the plan."""
        return _query(self.workspace, text, self.runs, self.judgments)

    def sizes(self, of_requests: Callable[[Sequence[str]], IntArray]) -> dict[str, int]:
        """Return the corpus size of each judged request; their names come to the driver for this."""
        requests = [row.request for row in self.judgments.select("request").distinct().collect()]
        return dict(zip(requests, of_requests(requests).tolist(), strict=True))

    def gathered(self) -> "DataFrame":
        """Return one row for each judged request, as `batches` needs it."""
        has_blocks = self.plan.conventions.ties == "expected"
        numbers = ["position", "place", *(["block_start", "block_size"] if has_blocks else [])]
        numbers = [f"CAST({name} AS INT) AS {name}" for name in numbers]
        found = (
            f"SELECT system, request, collect_list(struct({', '.join(numbers)})) AS found "
            f"FROM ({self.plan.positions()}) AS placed GROUP BY system, request"
        )
        judged, owned = "j.place, j.grade", ""
        if self.owners is not None:
            judged, owned = f"{judged}, o.owners", "LEFT JOIN {owners} AS o ON o.item = j.item AND j.grade > 0 "
        return self.workspace.sql(
            "SELECT j.request, j.judged, a.rankings FROM "
            f"(SELECT j.request, collect_list(struct({judged})) AS judged FROM {{judgments}} AS j {owned}"
            "GROUP BY j.request) AS j "
            "LEFT JOIN (SELECT l.request, collect_list(struct(l.system, l.num_retrieved, f.found)) AS rankings "
            "FROM {lengths} AS l LEFT JOIN {found} AS f ON f.system = l.system AND f.request = l.request "
            "GROUP BY l.request) AS a ON a.request = j.request",
            judgments=self.judgments,
            lengths=self.lengths,
            found=self.query(found),
            **({} if self.owners is None else {"owners": self.owners}),
        )


def _query(workspace: Workspace, text: str, runs: "DataFrame", judgments: "DataFrame") -> "DataFrame":
    """Run a query of the plan over these two; the names of its views occur nowhere else in its text."""
    named = text.replace(RUNS, "{runs}").replace(JUDGMENTS, "{judgments}")
    return workspace.sql(named, runs=runs, judgments=judgments)


def prepare(workspace: Workspace, qrels: "DataFrame", runs: "Frames", columns: Given, plan: Plan) -> Tables:
    """Bring the user's frames into the form that the plan needs, and check them."""
    rows, names = _rows(workspace, runs, columns, plan)
    graded, has_grades = _grades(workspace, qrels, columns)
    judgments, num_repeated = _judgments(workspace, graded)
    census = workspace.hold(_census(workspace, rows))
    _check_runs(workspace, plan, rows, judgments, census)
    systems = _systems(census, names)
    lengths, num_unjudged = _lengths(workspace, plan, rows, judgments, census)
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


def _grades(workspace: Workspace, qrels: "DataFrame", columns: Given) -> "tuple[DataFrame, bool]":
    """Return request, item and grade of all rows, and their faults, and whether there are grades."""
    check_frame(qrels, "the frame of judgments")
    found = find_columns(qrels.columns, "qrels", columns, source="qrels")
    own, kinds, places = numbered(qrels, found.roles("qrels"), "qrels", "qrels")
    given = {role: Column(name, kinds[name]) for role, name in places.items()}
    grade = given["grade"].number(SPARK) if "grade" in given else "CAST(1 AS DOUBLE)"
    faults = ", ".join(f"{column.fault(SPARK)} AS {role}_fault" for role, column in given.items())
    rows = (
        f"SELECT {given['request'].id(SPARK)} AS request, {given['item'].id(SPARK)} AS item, {grade} AS grade, "
        f"{str(found.is_score_graded).lower()} AS must_be_whole, {faults} FROM {FRAME}"
    )
    return select(workspace, rows, own), found.grade is not None


def _judgments(workspace: Workspace, graded: "DataFrame") -> "tuple[DataFrame, int]":
    """Return request, item, grade and place, and how many judgments are repeated."""
    counts = ", ".join(f"count_if({condition}) AS {name}" for name, (_, condition) in _GRADE_PROBLEMS.items())
    pairs = workspace.hold(
        workspace.sql(
            f"SELECT request, item, min(grade) AS grade, max(grade) AS highest, count(*) AS times, {counts} "
            "FROM {graded} GROUP BY request, item",
            graded=graded,
        )
    )
    sums = ", ".join(f"sum({name}) AS {name}" for name in _GRADE_PROBLEMS)
    total = workspace.sql(
        f"SELECT count(*) AS pairs, sum(times) AS num_rows, {sums} FROM {{pairs}}", pairs=pairs
    ).collect()[0]
    if not total["pairs"]:
        raise no_rows("qrels")
    for name in _GRADE_PROBLEMS:
        if total[name]:
            raise _bad_judgments(workspace, graded, name, total)
    if (pair := pairs.where("grade <> highest").first()) is not None:
        which = f"document {shown(pair.item)} of query {shown(pair.request)}"
        problem = f"{which} is judged twice, with the grades {pair.grade:g} and {pair.highest:g}"
        raise FormatError("qrels", None, problem, remedy="keep one of them")
    # positive grades first, as in Judgments; their order is any, but always the same
    placed = (
        "SELECT request, item, grade, "
        "row_number() OVER (PARTITION BY request ORDER BY grade > 0 DESC, item) AS place FROM {pairs}"
    )
    judgments = workspace.hold(workspace.sql(placed, pairs=pairs))
    if total["pairs"] <= _FEW:
        judgments = judgments.hint("broadcast")
    return judgments, total["num_rows"] - total["pairs"]


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
    workspace: Workspace, plan: Plan, rows: "DataFrame", judgments: "DataFrame", census: "DataFrame"
) -> "tuple[DataFrame, dict[str, int]]":
    """Return how long each ranking of a judged request is, and how many requests of each system have no judgments."""
    # not NOT IN: Spark compares that with every row if there are too many judgments to broadcast
    strangers = (
        f"SELECT r.system, count(*) AS num_unjudged FROM {RUNS} AS r "
        f"LEFT ANTI JOIN {JUDGMENTS} AS j ON r.request = j.request GROUP BY r.system"
    )
    unjudged = {row.system: row.num_unjudged for row in _query(workspace, strangers, census, judgments).collect()}
    if plan.conventions.duplicates != "error":
        return _query(workspace, plan.lengths(), rows, judgments), unjudged
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

"""Evaluate: the value of every measure for every run and query.

Belongs here: the verb. Not here: its result (scores), formulas (measures), layout (tables).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.aggregation import Aggregation, Resampling
from lexirecall.errors import UsageError, listed
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs, load_group_map
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import READING, Note, Policies
from lexirecall.measures.row import coinciding
from lexirecall.names import Evaluable, Names
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import Preference
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.bootstrapped import Bootstrapped, check_bootstrap, conventions_of
from lexirecall.verbs.given import asked_of, positions_of
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.tally import Tally

if TYPE_CHECKING:
    from lexirecall.groups import Groups


@takes(Resampling, Aggregation, Policies, *READING)
def evaluate(
    qrels: Qrels | Positions, runs: Runs | None = None, measures: Names | None = None, **options: Any
) -> Scores:
    """Evaluate runs against judgments, or positions that were made before.

    `qrels` is a file or {query: {document: grade}}. `runs` is one run, several, or {name: run}; a run is a file,
    {query: {document: score}} or {query: [document, …]}. Positions, from `project`, replace both: one reading serves
    many calls. A document is relevant if its grade is at least `level`. `options` have the names that they have on the
    command line. `providers` says who provides the documents: a file of lines `document provider`,
    {document: provider} or {document: [provider, …]}. Without `measures`, the default measures of the command line are
    computed. The value of a preference such as LexiRecall is the win rate against the other runs. `bootstrap` is how
    often to resample the queries, from `seed`, for the 95 % interval of each mean and win rate. `over` names what is
    computed instead of the mean over queries: "median", "min", "quantile:0.9", "tail:0.1", or several of these. `by`
    says which group each query is in: a file of lines `query group`, {query: group}, a table, or the name of a column
    in a data frame of judgments. The numbers of each group of at least `min_queries` are then given too. Rows of JSON
    may hold judgments and a run; then `runs` may be left out.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> runs = {"early": {"q1": ["a", "x", "y", "b"], "q2": ["c"]}, "late": {"q1": ["x", "a", "b"], "q2": ["z", "c"]}}
    >>> print(evaluate(qrels, runs, ["LexiRecall", "TSE", "AP", "LastRel"]))
    run    LexiRecall (win rate)     TSE      AP  LastRel
    early                 0.5000  0.6250  0.8750      2.5
    late                  0.5000  0.4167  0.5417      2.5
    <BLANKLINE>
    win rate: against the other run of this table
    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 2}}, {"q": ["b", "x", "a"]})
    >>> evaluate(positions, measures=["AP", "AP(rel=2)"]).to_dict()
    {'run': {'AP': 0.8333333333333333, 'AP(rel=2)': 1.0}}
    """
    policies, resampling = taken(Policies, options), taken(Resampling, options)
    aggregation = taken(Aggregation, options)
    check_bootstrap(resampling)
    group_map = read_aggregation(aggregation, qrels, options)
    asked = asked_of(qrels, measures, options)
    positions = positions_of(qrels, runs, asked, options)
    num_systems, ties = positions.shape[0], positions.conventions.ties
    refused = refused_of(positions, asked, policies)
    rows, left_out = computable(num_systems, ties, asked, is_default=measures is None, refused=refused)
    valued = Valued.of(positions, rows, policies)
    tally = Tally.of(positions, rows, policies, valued.values, valued.num_due)
    averages = tally.averages(rows, policies, left_out=left_out)
    request_type = positions.judgments.request_type
    origin = None if positions.providers is None else (positions, policies)
    scores = Scores(averages, positions.requests, valued.values, positions.frame_library, request_type, origin)
    show_progress = options.get("show_progress", False)
    if not aggregation.is_asked:
        return with_intervals(scores, resampling, show_progress=show_progress)
    groups = groups_of(group_map, positions.requests)
    averages = with_breakdown(averages, valued, aggregation, groups, resampling, show_progress=show_progress)
    return replace(scores, averages=averages)


def with_intervals(
    scores: Scores, resampling: Resampling, *, alpha: float = 0.05, show_progress: bool | None = False
) -> Scores:
    """Return scores with an interval of each mean, if resamples are asked for; the manifest records them."""
    if resampling.bootstrap is None:
        return scores
    made = Bootstrapped.of(scores.values, scores.measures, resampling, alpha=alpha, show_progress=show_progress)
    manifest = replace(
        scores.manifest,
        conventions={**scores.manifest.conventions, **conventions_of(resampling)},
        notes=(*scores.notes, *made.notes),
    )
    return replace(scores, averages=replace(scores.averages, bootstrapped=made, manifest=manifest))


def read_aggregation(
    asked: Aggregation, qrels: Qrels | Positions, options: Mapping[str, Any]
) -> tuple[dict[bytes, bytes], str] | None:
    """Check what values are to be aggregated over, and read the groups if there are any, before anything else."""
    if asked.over:
        from lexirecall.statistics.over import Over  # not on top: most evaluations do without it

        Over.parse_all(asked.over)
    return None if asked.by is None else load_group_map(asked.by, options.get("columns"), qrels=qrels)


def groups_of(group_map: tuple[dict[bytes, bytes], str] | None, requests: Sequence[str]) -> "Groups | None":
    """Return the groups of the judged queries, if there is a map of them."""
    if group_map is None:
        return None
    from lexirecall.groups import Groups  # not on top: most evaluations do without it

    return Groups.from_map(group_map[0], requests, name=group_map[1])


def with_breakdown(
    averages: Averages,
    valued: "Valued",
    asked: Aggregation,
    groups: "Groups | None",
    resampling: Resampling,
    *,
    alpha: float = 0.05,
    show_progress: bool | None = False,
) -> Averages:
    """Return averages with the numbers that are asked for instead of the means; the manifest records them."""
    from lexirecall.verbs.breakdown import breakdown_of  # not on top: most evaluations do without it
    from lexirecall.verbs.breakdown_notes import recorded

    made = breakdown_of(
        averages.runs, averages.measures, valued.placed, valued.is_due, asked, groups,
        resampling=resampling, alpha=alpha, show_progress=show_progress,
    )  # fmt: skip
    manifest = recorded(averages.manifest, made, asked)
    manifest = replace(manifest, conventions={**manifest.conventions, **conventions_of(resampling)})
    return replace(averages, breakdown=made, manifest=manifest)


@dataclass(frozen=True, slots=True, eq=False)
class Valued:
    """The values of some requests, which may be computed in any portions: those of one do not touch another."""

    measures: tuple[Evaluable, ...]
    values: FloatArray
    """[S, Q, M]; nan where undefined."""
    is_due: BoolArray
    """Which values there should be, [S, Q, M]."""
    among: BoolArray
    """Which rankings count, [S, Q]."""

    @classmethod
    def of(cls, positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> "Valued":
        """Compute them."""
        level, among = policies.level, policies.among(positions.answered)
        projections = {each: positions.at_level(each) for each in {row.level(level) for row in measures}}
        values = np.full((*positions.shape, len(measures)), np.nan)
        is_due = np.zeros(values.shape, bool)
        for c, row in enumerate(measures):
            projection = projections[row.level(level)]
            column = _column(row, projection, among)
            counts_empty = policies.counts_empty(row)
            has_none = projection.num_relevant == 0
            if not counts_empty:
                column[:, has_none] = np.nan
            due = row.due(positions, level) | (has_none & counts_empty)
            is_due[:, :, c] = ~np.isnan(column) if row.sparse else due
            values[:, :, c] = column
        return cls(tuple(measures), values, is_due, among)

    @property
    def num_due(self) -> IntArray:
        """How many requests should have a value, [S, M]."""
        return np.asarray(self.is_due.sum(axis=1))

    @property
    def placed(self) -> FloatArray:
        """The values, infinite where they are undefined because an item was not retrieved, [S, Q, M].

        Such a value is worse than every other. Values that nobody expects stay nan.
        """
        placed, is_missing = self.values.copy(), np.isnan(self.values) & self.is_due & self.among[:, :, None]
        for c, row in enumerate(self.measures):
            if row.corpus == "if missing":
                placed[is_missing[:, :, c], c] = -row.direction * np.inf
        return placed


def values_of(positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> tuple[FloatArray, IntArray]:
    """Return the values, [S, Q, M], nan where undefined; and how many requests should have one, [S, M]."""
    valued = Valued.of(positions, measures, policies)
    return valued.values, valued.num_due


def refused_of(positions: Positions, rows: Sequence[Evaluable], policies: Policies) -> list[Evaluable]:
    """Return the measures that are not defined for these positions; only positions of units may coincide."""
    if positions.unit_count is None:
        return []
    return [row for row in rows if not row.allows(positions.at_level(row.level(policies.level)))]


def computable(
    num_systems: int, ties: str, rows: Sequence[Evaluable], *, is_default: bool, refused: Sequence[Evaluable] = ()
) -> tuple[tuple[Evaluable, ...], list[Note]]:
    """Leave out preferences where there is one run only, and of the default measures those that are not defined here.

    These have no closed form over tied documents, or are `refused` because positions of units may coincide.
    """
    if refused and not is_default:
        raise coinciding([str(row) for row in refused])
    kept: list[Evaluable] = []
    left_out: dict[str, list[str]] = {}
    for row in rows:
        if num_systems == 1 and isinstance(row, Preference):
            left_out.setdefault("compares runs, and there is one only", []).append(str(row))
        elif ties == "expected" and is_default and not row.has_closed_form:
            left_out.setdefault("has no closed form over the orders of tied documents", []).append(str(row))
        elif row in refused:
            left_out.setdefault("is not defined where a document serves two units", []).append(str(row))
        else:
            kept.append(row)
    notes = [Note("left out", f"{listed(names, 9)} {why}: left out", len(names)) for why, names in left_out.items()]
    if not kept:
        why = "; ".join(note.text for note in notes) or "there are no measures to compute"
        raise UsageError(why, remedy="give two or more runs, or a measure such as AP or TSE")
    return tuple(kept), notes


def _column(row: Evaluable, projection: Projection, among: BoolArray) -> FloatArray:
    """Return the values of one measure, [S, Q]; of the rankings that count only."""
    column = np.array(row.scores(projection, among), dtype=float)
    column[~np.isfinite(column) | ~among] = np.nan
    return column

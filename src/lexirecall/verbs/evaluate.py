"""Evaluate: the value of every measure for every run and query.

Belongs here: the verb. Not here: its result (scores), formulas (measures), layout (tables).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.aggregation import Aggregation, Certainty, Resampling
from lexirecall.errors import UsageError, listed
from lexirecall.fields import among, taken, takes
from lexirecall.formats import Qrels, Runs, at_hand, load_group_map
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import READING, Note, Policies, Sources
from lexirecall.measures import Measure
from lexirecall.measures.row import coinciding
from lexirecall.names import Evaluable, Names
from lexirecall.positions import Positions
from lexirecall.preferences import Preference
from lexirecall.sums import ExactSums
from lexirecall.verbs.averages import Averages, means_of
from lexirecall.verbs.census import Census
from lexirecall.verbs.notes import notes_on, notes_on_providers
from lexirecall.verbs.resamples import check_bootstrap, conventions_of
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.subject import asked_of, positions_of

if TYPE_CHECKING:
    from lexirecall.groups import Groups
    from lexirecall.measures.providers import ProviderExposure


@takes(Certainty, Aggregation, Policies, *READING, warns=True)
def evaluate(
    qrels: Qrels | Positions, runs: Runs | None = None, measures: Names | None = None, **options: Any
) -> Scores:
    """Evaluate runs against judgments, or positions that were made before.

    `qrels` is a file or {query: {document: grade}}. `runs` is one run, several, or {name: run}; a run is a file,
    {query: {document: score}} or {query: [document, …]}. Positions, from `project`, replace both: one reading serves
    many calls. A document is relevant if its grade is at least `level`. `options` have the names that they have on the
    command line. `providers` says who provides the documents: a file of lines `document provider`, {document: provider}
    or {document: [provider, …]}. Without `measures`, the default measures of the command line are computed. The value
    of a preference such as LexiRecall is the win rate against the other runs. `interval` adds the 95 % interval of each
    number, and `bootstrap` makes those of means from so many resamples of the queries, from `seed`. `over` names what
    is computed instead of the mean over queries: "median", "min", "quantile:0.9", "tail:0.1", or several of these. `by`
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
    policies, certainty = taken(Policies, options), taken(Certainty, options)
    aggregation = taken(Aggregation, options)
    check_bootstrap(certainty)
    group_map = read_aggregation(aggregation, qrels, options)
    asked = asked_of(qrels, measures, options)
    positions = positions_of(qrels, runs, asked, options)
    scores, valued = scores_of(positions, asked, policies, is_default=measures is None)
    show_progress = options.get("show_progress", False)
    if not aggregation.is_asked:
        return with_intervals(scores, certainty, show_progress=show_progress)
    groups = groups_of(group_map, positions.queries)
    averages = with_breakdown(scores.averages, valued, aggregation, groups, certainty, show_progress=show_progress)
    return replace(scores, averages=averages)


def scores_of(
    positions: Positions, asked: Sequence[Evaluable], policies: Policies, *, is_default: bool = False
) -> tuple[Scores, "QueryValues"]:
    """Return the scores of measures that have been read and checked, and the values that these are made from.

    >>> from lexirecall import project
    >>> from lexirecall.names import parse_measures
    >>> scores, _ = scores_of(project({"q": {"a": 1}}, {"q": ["x", "a"]}), parse_measures("RR"), Policies())
    >>> scores.values.tolist()
    [[[0.5]]]
    """
    rows, left_out = computable(positions, asked, policies, is_default=is_default)
    valued = QueryValues.of(positions, rows, policies)
    averages = averages_of(positions, rows, policies, valued, left_out)
    query_type = positions.judgments.query_type
    origin = None if positions.providers is None else (positions, policies)
    return Scores(
        averages=averages,
        queries=positions.queries,
        values=valued.values,
        frame_library=positions.frame_library,
        query_type=query_type,
        origin=origin,
    ), valued


def with_intervals(
    scores: Scores, resampling: Resampling, *, alpha: float = 0.05, show_progress: bool | None = False
) -> Scores:
    """Return scores with the intervals of the means, if they are asked for; the manifest records them."""
    if not resampling.has_intervals:
        return scores
    from lexirecall.verbs.intervals import Intervals  # not on top: most evaluations do without it

    intervals = Intervals.of(scores.values, scores.measures, resampling, alpha=alpha, show_progress=show_progress)
    manifest = replace(
        scores.manifest,
        conventions={**scores.manifest.conventions, **conventions_of(resampling)},
        notes=(*scores.notes, *intervals.notes),
    )
    return replace(scores, averages=replace(scores.averages, intervals=intervals, manifest=manifest))


def read_aggregation(
    asked: Aggregation, qrels: Qrels | Positions, options: Mapping[str, Any]
) -> tuple[dict[bytes, bytes], str] | None:
    """Check what values are to be aggregated over, and read the groups if there are any, before anything else."""
    if asked.over:
        from lexirecall.statistics.queryaggregate import QueryAggregate  # not on top: most evaluations do without it

        QueryAggregate.parse_all(asked.over)
    if asked.by is None:
        return None
    by = at_hand(asked.by, Sources(**among(Sources, options)))
    return load_group_map(by, options.get("columns"), qrels=qrels)


def groups_of(group_map: tuple[dict[bytes, bytes], str] | None, queries: Sequence[str]) -> "Groups | None":
    """Return the groups of the judged queries, if there is a map of them."""
    if group_map is None:
        return None
    from lexirecall.groups import Groups  # not on top: most evaluations do without it

    return Groups.from_map(group_map[0], queries, name=group_map[1])


def with_breakdown(
    averages: Averages,
    valued: "QueryValues",
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

    breakdown = breakdown_of(
        averages.runs, averages.measures, valued.placed, valued.is_due, asked, groups,
        resampling=resampling, alpha=alpha, show_progress=show_progress,
    )  # fmt: skip
    manifest = recorded(averages.manifest, breakdown, asked)
    manifest = replace(manifest, conventions={**manifest.conventions, **conventions_of(resampling)})
    return replace(averages, breakdown=breakdown, manifest=manifest)


@dataclass(frozen=True, slots=True, eq=False)
class QueryValues:
    """The values of some queries, which may be computed in any portions: those of one do not touch another."""

    measures: tuple[Evaluable, ...]
    values: FloatArray
    """[S, Q, M]; nan where undefined."""
    is_due: BoolArray
    """Which values there should be, [S, Q, M]."""
    is_undefined: BoolArray
    """Which values fall on a document that was not retrieved, and are worse than all others, [S, Q, M]."""

    @classmethod
    def of(cls, positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> "QueryValues":
        """Compute them, a portion of the queries at a time."""
        values = np.full((*positions.shape, len(measures)), np.nan)
        is_due, is_undefined = np.zeros((2, *values.shape), bool)
        for here, part in positions.portions():
            projections = {level: part.at_level(level) for level in {row.level(policies.level) for row in measures}}
            for c, row in enumerate(measures):
                cells = np.s_[:, here, c]
                rankings = policies.counted(part, row)
                scores = np.array(row.scores(projections[row.level(policies.level)], rankings), dtype=float)
                values[cells] = np.where(np.isfinite(scores) & rankings, scores, np.nan)
                is_due[cells] = ~np.isnan(values[cells]) if row.sparse else _due(row, part, policies)
                if isinstance(row, Measure):
                    is_undefined[cells] = np.isneginf(row.worth(scores)) & is_due[cells] & rankings
        return cls(tuple(measures), values, is_due, is_undefined)

    @property
    def num_due(self) -> IntArray:
        """How many queries should have a value, [S, M]."""
        return np.asarray(self.is_due.sum(axis=1))

    def undefined(self, positions: Positions, policies: Policies) -> IntArray:
        """Count, for each measure and run, the values that are undefined, and how many there should be, [M, S, 2].

        A value should be there if the query has relevant documents and is answered or imputed.
        """
        counts = []
        for c, row in enumerate(self.measures):
            due = row.due(positions, policies.level) & policies.counted(positions, row)
            missing = due & np.isnan(self.values[:, :, c]) & (not row.sparse)
            counts.append(np.stack([missing.sum(axis=1), due.sum(axis=1)], axis=1))
        return np.array(counts, np.int64).reshape(len(self.measures), -1, 2)

    @property
    def placed(self) -> FloatArray:
        """The values, infinite where they are undefined because a document was not retrieved, [S, Q, M].

        Such a value is worse than every other. Values that nobody expects stay nan.
        """
        directions = np.array([row.direction for row in self.measures], float)
        return np.where(self.is_undefined, -directions * np.inf, self.values)


def _due(row: Evaluable, positions: Positions, policies: Policies) -> BoolArray:
    """Tell which queries should have a value in a mean, [Q]: those that count and have what the measure needs."""
    has_none = positions.num_relevant(row.level(policies.level)) == 0  # which need nothing to count as 0
    return np.asarray(policies.eligible(positions, row) & (row.due(positions, policies.level) | has_none))


def averages_of(
    positions: Positions,
    rows: Sequence[Evaluable],
    policies: Policies,
    valued: QueryValues,
    left_out: Iterable[Note] = (),
) -> Averages:
    """Return the means of the values with their record, or raise if there is nothing to measure.

    The notes begin with what was `left_out` of the measures. Sums are exact: the order of the queries does not show.
    """
    census = Census.of(positions, policies, rows)
    census.check_relevant(rows, policies.level)
    notes = [*left_out, *notes_on(census, rows, valued.undefined(positions, policies), policies)]
    audits: tuple[ProviderExposure, ...] = ()
    record: dict[str, Any] = {}
    if positions.providers is not None:
        from lexirecall.verbs.owners import Owners  # not on top: few runs have a map of providers

        owners = Owners.of(positions, rows, policies)
        audits, record = owners.audits, owners.record()
        notes += notes_on_providers(owners)
    counts = (~np.isnan(valued.values)).sum(axis=1)
    sums = [ExactSums.of(np.nan_to_num(values).T).rounded() for values in np.moveaxis(valued.values, 2, 0)]
    means = means_of(np.stack(sums, axis=1), counts, rows)
    manifest = census.manifest(rows, policies, notes, record)
    exposures = next(iter(audits), None)
    return Averages(
        runs=census.runs, measures=tuple(rows), means=means, counts=counts, num_due=valued.num_due, manifest=manifest,
        exposures=exposures,
    )  # fmt: skip


def computable(
    positions: Positions, rows: Sequence[Evaluable], policies: Policies, *, is_default: bool
) -> tuple[tuple[Evaluable, ...], list[Note]]:
    """Leave out preferences where there is one run only, and of the default measures those that are not defined here.

    These have no closed form over tied documents, or are refused because positions of units may coincide.
    """
    has_units, is_expected = positions.unit_count is not None, positions.conventions.ties == "expected"
    refused = [row for row in rows if has_units and not row.allows(positions.at_level(row.level(policies.level)))]
    if refused and not is_default:
        raise coinciding([str(row) for row in refused])
    kept: list[Evaluable] = []
    left_out: dict[str, list[str]] = {}
    for row in rows:
        if len(positions.runs) == 1 and isinstance(row, Preference):
            left_out.setdefault("compares runs, and there is one only", []).append(str(row))
        elif is_expected and is_default and not row.has_closed_form:
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

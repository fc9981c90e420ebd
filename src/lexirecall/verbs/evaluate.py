"""Evaluate: the value of every measure for every run and request.

Belongs here: the verb. Not here: its result (scores), formulas (measures), layout (tables).
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, listed, plain
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import READING, Manifest, Note, Policies
from lexirecall.measures.row import SMALLEST_GRADE
from lexirecall.names import Evaluable, Names
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import Preference
from lexirecall.verbs.given import asked_measures, has_providers, positions_of
from lexirecall.verbs.notes import notes_on
from lexirecall.verbs.scores import Scores


@takes(Policies, *READING)
def evaluate(
    qrels: Qrels | Positions, runs: Runs | None = None, measures: Names | None = None, **options: Any
) -> Scores:
    """Evaluate runs against judgments, or positions that were made before.

    `qrels` is a file or {request: {document: grade}}; `runs` is one run, several, or {name: run}, and a run is a
    file, {request: {document: score}} or {request: [document, …]}. Positions, from `project`, stand in the place of
    both, so that one reading serves many calls. A grade of at least `level` is relevant. `options` have the names that
    the command line has; of these `providers` says whose the documents are: a file of lines `document provider`,
    {document: provider} or {document: [provider, …]}. Without `measures`, those of the command line are computed. The
    value of a preference such as LexiRecall is the win rate against the other runs.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> runs = {"early": {"q1": ["a", "x", "y", "b"], "q2": ["c"]}, "late": {"q1": ["x", "a", "b"], "q2": ["z", "c"]}}
    >>> print(evaluate(qrels, runs, ["LexiRecall", "TSE", "AP", "LastRel"]))
    run    LexiRecall     TSE      AP  LastRel
    early      0.5000  0.6250  0.8750      2.5
    late       0.5000  0.4167  0.5417      2.5
    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 2}}, {"q": ["b", "x", "a"]})
    >>> evaluate(positions, measures=["AP", "AP(rel=2)"]).to_dict()
    {'run': {'AP': 0.8333333333333333, 'AP(rel=2)': 1.0}}
    """
    policies = taken(Policies, options)
    asked = asked_measures(measures, has_providers=has_providers(qrels, options))
    positions = positions_of(qrels, runs, asked, options)
    num_systems, ties = positions.shape[0], positions.conventions.ties
    rows, left_out = computable(num_systems, ties, asked, is_default=measures is None)
    _check_relevant(positions, rows, policies.level)
    values, num_due = values_of(positions, rows, policies)
    manifest = _manifest(positions, rows, values, policies, left_out)
    origin = positions.frame_library, positions.judgments.request_type
    return Scores(positions.systems, positions.requests, rows, values, num_due, manifest, *origin)


def values_of(positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> tuple[FloatArray, IntArray]:
    """Return the values, [S, Q, M], nan where undefined; and how many requests should have one, [S, M].

    Requests may be computed in any portions: those of one do not touch those of another, and the numbers add up.
    """
    level, among = policies.level, policies.among(positions.answered)
    projections = {each: positions.at_level(each) for each in {row.level(level) for row in measures}}
    values = np.full((*positions.shape, len(measures)), np.nan)
    num_due = np.zeros((positions.shape[0], len(measures)), np.int64)
    for c, row in enumerate(measures):
        projection = projections[row.level(level)]
        column = _column(row, projection, among)
        counts_empty = policies.counts_empty(row)
        has_none = projection.num_relevant == 0
        if not counts_empty:
            column[:, has_none] = np.nan
        due = row.due(positions, level) | (has_none & counts_empty)
        num_due[:, c] = (~np.isnan(column)).sum(axis=1) if row.sparse else due.sum()
        values[:, :, c] = column
    return values, num_due


def computable(
    num_systems: int, ties: str, rows: Sequence[Evaluable], *, is_default: bool
) -> tuple[tuple[Evaluable, ...], list[Note]]:
    """Leave out preferences where there is one run only, and of the default measures those without a closed form."""
    has_one_run = num_systems == 1
    drops_open_forms = ties == "expected" and is_default
    kept: list[Evaluable] = []
    left_out: dict[str, list[str]] = {}
    for row in rows:
        if has_one_run and isinstance(row, Preference):
            left_out.setdefault("compares runs, and there is one only", []).append(str(row))
        elif drops_open_forms and not row.has_closed_form:
            left_out.setdefault("has no closed form over the orders of tied items", []).append(str(row))
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


def _check_relevant(positions: Positions, measures: Sequence[Evaluable], level: float) -> None:
    """Raise if no measure that looks at the level finds anything relevant."""
    judgments = positions.judgments
    levels = deciding_levels(measures, level)
    if not any(judgments.num_relevant(each).any() for each in levels):
        raise nothing_relevant(judgments.name, judgments.grades.max(initial=-1), min(levels))


def deciding_levels(measures: Sequence[Evaluable], level: float) -> set[float]:
    """Return the levels at which something must be relevant: those of the measures that look at the level."""
    return {row.level(level) for row in [row for row in measures if not row.uses_grades] or measures}


def nothing_relevant(name: str, highest_grade: float, level: float) -> DataError:
    """Say that no request has a relevant item."""
    return DataError(
        f"{name}: no request has a relevant item, so that nothing can be measured: "
        f"the highest grade is {plain(highest_grade)} and the level is {plain(level)}",
        remedy="lower the level, or check that the grades are what they should be",
    )


def _manifest(
    positions: Positions,
    measures: tuple[Evaluable, ...],
    values: FloatArray,
    policies: Policies,
    left_out: Sequence[Note],
) -> Manifest:
    judgments = positions.judgments
    n = positions.corpus_size
    sizes = None if n is None else dict(zip(positions.requests, n.tolist(), strict=True))
    if sizes and len(set(sizes.values())) == 1:
        sizes = next(iter(sizes.values()))
    found = positions.num_found
    return Manifest(
        conventions={**asdict(positions.conventions), **asdict(policies), "corpus_size": sizes},
        measures=tuple(measure_record(measure) for measure in measures),
        qrels={
            "requests": len(positions.requests),
            "judged": len(judgments.grades),
            "positive": int(judgments.num_positive.sum()),
            "repeated": judgments.num_repeated,
            **_provider_record(positions),
        },
        runs=tuple(
            {
                "name": name,
                "answered": int(positions.answered[s].sum()),
                "unanswered": int((~positions.answered[s]).sum()),
                "without_judgments": positions.num_unjudged[s],
                "duplicates_left_out": positions.num_duplicates[s],
                "lines_with_extra_fields": positions.num_extra[s],
                "retrieved": int(positions.num_retrieved[s].sum()),
                "positive_retrieved": int(found[s].sum()),
                "positive_imputed": int((judgments.num_positive - found[s]).sum()),
            }
            for s, name in enumerate(positions.systems)
        ),
        notes=(*left_out, *notes_on(positions, measures, values, policies)),
    )


def _provider_record(positions: Positions) -> dict[str, Any]:
    if (providers := positions.providers) is None:
        return {}
    without = providers.without(positions.judgments, SMALLEST_GRADE)
    return {"provider_map": providers.name, "providers": len(providers.names), "without_provider": len(without)}


def measure_record(measure: Evaluable) -> dict[str, Any]:
    """Return what a manifest says of a measure."""
    better = "higher" if measure.direction > 0 else "lower"
    return {"name": str(measure), "title": measure.title, "formula": measure.formula, "better": better}

"""Evaluate: the value of every measure for every run and request.

Belongs here: the verb. Not here: its result (scores), formulas (measures), layout (tables).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Unpack

import numpy as np

from lexirecall.errors import DataError, UsageError, choice, listed, plain
from lexirecall.formats import Qrels, Reading, Runs, project
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import NO_RELEVANT_POLICIES, REQUEST_POLICIES, Manifest, Note
from lexirecall.measures.row import SMALLEST_GRADE
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import Preference
from lexirecall.verbs.notes import notes_on, warn_of_optimism
from lexirecall.verbs.scores import Scores

DEFAULT_MEASURES = ("LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR")
PROVIDER_MEASURES = ("WorstProvider", "WorstProviderOverall")
"""Those that come after the default ones where there is a map of providers."""


def evaluate(
    qrels: Qrels,
    runs: Runs,
    measures: Names | None = None,
    *,
    level: float = 1,
    queries: str = "all",
    no_relevant: str = "skip",
    **reading: Unpack[Reading],
) -> Scores:
    """Evaluate runs against judgments.

    `qrels` is a file or {request: {document: grade}}; `runs` is one run, several, or {name: run}, and a run is a
    file, {request: {document: score}} or {request: [document, …]}. A grade of at least `level` is relevant. `reading`
    are the keywords of `project`, which the command line offers under the same names; of these `providers` says whose
    the documents are: a file of lines `document provider`, {document: provider} or {document: [provider, …]}. Without
    `measures`, those of the command line are computed. The value of a preference such as LexiRecall is the win rate
    against the other runs.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> runs = {"early": {"q1": ["a", "x", "y", "b"], "q2": ["c"]}, "late": {"q1": ["x", "a", "b"], "q2": ["z", "c"]}}
    >>> print(evaluate(qrels, runs, ["LexiRecall", "TSE", "AP", "LastRel"]))
    run    LexiRecall     TSE      AP  LastRel
    early      0.5000  0.6250  0.8750      2.5
    late       0.5000  0.4167  0.5417      2.5
    """
    warn_of_optimism(reading)
    projected = partial(project, qrels, runs, **reading)
    return score_by(projected, measures, reading, level=level, queries=queries, no_relevant=no_relevant)


def score_by(
    projected: Callable[..., Positions],
    measures: Names | None,
    reading: Reading,
    *,
    level: float,
    queries: str,
    no_relevant: str,
) -> Scores:
    """Check what is asked for, project with what that needs, and compute it; `projected` takes `needs_judged`."""
    check_policies(level, queries, no_relevant)
    positions, rows = project_asked(projected, measures, reading)
    return score(positions, rows, level=level, queries=queries, no_relevant=no_relevant)


def project_asked(
    projected: Callable[..., Positions], measures: Names | None, reading: Reading
) -> tuple[Positions, list[Evaluable] | None]:
    """Project with what the measures need; return them too, None for the default ones, which depend on the runs."""
    rows = asked_measures(measures, has_providers=reading.get("providers") is not None)
    positions = projected(needs_judged=any(row.needs_judged for row in rows))
    return positions, None if measures is None else rows


def score(
    positions: Positions,
    measures: Names | None = None,
    *,
    level: float = 1,
    queries: str = "all",
    no_relevant: str = "skip",
) -> Scores:
    """Compute measures from positions, as `evaluate` does from files; one projection serves many calls.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 2}}, {"q": ["b", "x", "a"]})
    >>> score(positions, ["AP", "AP(rel=2)"]).to_dict()
    {'run': {'AP': 0.8333333333333333, 'AP(rel=2)': 1.0}}
    """
    check_policies(level, queries, no_relevant)
    asked = asked_measures(measures, has_providers=positions.providers is not None)
    num_systems, ties = positions.shape[0], positions.conventions.ties
    parsed, left_out = computable(num_systems, ties, asked, is_default=measures is None)
    _check_relevant(positions, parsed, level)
    values, num_due = values_of(positions, parsed, level=level, queries=queries, no_relevant=no_relevant)
    policies = {"level": level, "queries": queries, "no_relevant": no_relevant}
    manifest = _manifest(positions, parsed, values, policies, left_out)
    origin = positions.frame_library, positions.judgments.request_type
    return Scores(positions.systems, positions.requests, parsed, values, num_due, manifest, *origin)


def values_of(
    positions: Positions, measures: Sequence[Evaluable], *, level: float, queries: str, no_relevant: str
) -> tuple[FloatArray, IntArray]:
    """Return the values, [S, Q, M], nan where undefined; and how many requests should have one, [S, M].

    Requests may be computed in any portions: those of one do not touch those of another, and the numbers add up.
    """
    projections = {each: positions.at_level(each) for each in {row.level(level) for row in measures}}
    values = np.full((*positions.shape, len(measures)), np.nan)
    num_due = np.zeros((positions.shape[0], len(measures)), np.int64)
    for c, row in enumerate(measures):
        projection = projections[row.level(level)]
        column = _column(row, projection, queries)
        counts_as_zero = no_relevant == "zero" and row.direction > 0 and not row.sparse
        has_none = projection.num_relevant == 0
        if not counts_as_zero:
            column[:, has_none] = np.nan
        due = row.due(positions, level) | (has_none & counts_as_zero)
        num_due[:, c] = (~np.isnan(column)).sum(axis=1) if row.sparse else due.sum()
        values[:, :, c] = column
    return values, num_due


def asked_measures(measures: Names | None, *, has_providers: bool) -> list[Evaluable]:
    """Return the measures that are asked for, or the default ones."""
    default = (*DEFAULT_MEASURES, *PROVIDER_MEASURES) if has_providers else DEFAULT_MEASURES
    return parse_names(default if measures is None else measures)


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


def _column(row: Evaluable, projection: Projection, queries: str) -> FloatArray:
    """Return the values of one measure, [S, Q]; with queries="intersection", of what is answered only."""
    answered = projection.source.answered if queries == "intersection" else None
    column = np.array(row.scores(projection, answered), dtype=float)
    column[~np.isfinite(column)] = np.nan
    if answered is not None:
        column[~answered] = np.nan
    return column


def check_policies(level: float, queries: str, no_relevant: str) -> None:
    """Raise unless these are policies that there are."""
    choice("queries", queries, REQUEST_POLICIES)
    choice("no_relevant", no_relevant, NO_RELEVANT_POLICIES)
    if not 0 < level < np.inf:
        raise UsageError(f"level is {level}, but must be above 0", remedy="a grade of 0 means not relevant")


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
    policies: dict[str, Any],
    left_out: Sequence[Note],
) -> Manifest:
    judgments = positions.judgments
    n = positions.corpus_size
    sizes = None if n is None else dict(zip(positions.requests, n.tolist(), strict=True))
    if sizes and len(set(sizes.values())) == 1:
        sizes = next(iter(sizes.values()))
    found = positions.num_found
    return Manifest(
        conventions={**asdict(positions.conventions), **policies, "corpus_size": sizes},
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
        notes=(*left_out, *notes_on(positions, measures, values, **policies)),
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

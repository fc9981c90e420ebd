"""Charts of results: what a notebook shows below the table of a result.

Belongs here: which charts a result has. Not here: what draws them (runs, queries, curves), the cell (notebook).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from lexirecall.page import Report
from lexirecall.page.charts.bars import Bar, bars
from lexirecall.page.charts.curves import recall_curves
from lexirecall.page.charts.queries import draw_strips
from lexirecall.page.charts.runs import difference_intervals, leaderboard, pair_matrix
from lexirecall.statistics.aggregate import METHODS
from lexirecall.svg import Drawing
from lexirecall.svg.axes import brief
from lexirecall.tables import number
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.explanation import QueryExplanation, Side
from lexirecall.verbs.rank import Ranking
from lexirecall.verbs.scores import Scores

MOST_RUNS = 30
"""The most runs that have a bar each."""
MOST_PANELS = 9
"""The most measures that have a panel each."""


def drawings_of(result: object) -> list[Drawing]:
    """Return the charts of a result; none if it has none, or too many runs for them.

    >>> from lexirecall import evaluate
    >>> [chart.label for chart in drawings_of(evaluate({"q": {"a": 1}}, {"x": {"q": ["a"]}}, ["RR"]))]
    ['Means of 1 run. RR: x 1.0000']
    """
    return next((draw(result) for kind, draw in DRAWN.items() if isinstance(result, kind)), [])


def _of_scores(scores: Scores) -> list[Drawing]:
    """Draw the means, unless the table has other numbers over queries."""
    if scores.averages.breakdown is not None or len(scores.runs) > MOST_RUNS:
        return []
    return [leaderboard(scores, scores.measures[:MOST_PANELS])]


def _of_comparison(comparison: Comparison) -> list[Drawing]:
    """Draw the means, and what differs under the first measure: all pairs, if the runs are too many for bars."""
    if comparison.parts is not None:
        return []
    if len(comparison.runs) > MOST_RUNS:
        return [pair_matrix(comparison)]
    measures = comparison.averages.measures[:MOST_PANELS]
    return [leaderboard(comparison, measures), difference_intervals(comparison)]


def _of_ranking(ranking: Ranking) -> list[Drawing]:
    method = METHODS[ranking.method]
    rows = list(ranking.rows())
    if len(rows) > MOST_RUNS or any(row["score"] is None or not np.isfinite(row["score"]) for row in rows):
        return []
    drawn = [Bar(row["run"], row["score"], number(row["score"], method.decimals), i) for i, row in enumerate(rows)]
    values = ", ".join(f"{brief(bar.name)} {bar.text}" for bar in drawn)
    return [bars(drawn, method.title, f"{method.title}: {values}")]


def _of_query(query: QueryExplanation) -> list[Drawing]:
    sides = query.a, query.b
    documents = [document for side in sides for document in _found(side, query.level)]
    return [draw_strips([_list_of(side) for side in sides], documents, query.id)]


def _list_of(side: Side) -> dict[str, Any]:
    missing = f"{len(side.missing):,} missing" if side.missing else ""
    return {"run": side.run, "retrieved": side.num_retrieved, "missing": missing}


def _found(side: Side, level: int | None) -> list[dict[str, Any]]:
    places = enumerate(side.positions[np.isfinite(side.positions)].tolist(), 1)
    return [{"run": side.run, "position": int(place), "decides": i == level} for i, place in places]


def _of_report(report: Report) -> list[Drawing]:
    findings = report.findings
    curves = recall_curves(findings.positions, findings.best_first, policies=findings.policies)
    return [*_of_scores(findings.scores), curves]


DRAWN: dict[type, Callable[[Any], list[Drawing]]] = {
    Scores: _of_scores,
    Comparison: _of_comparison,
    Ranking: _of_ranking,
    QueryExplanation: _of_query,
    Report: _of_report,
}
"""What draws each kind of result."""

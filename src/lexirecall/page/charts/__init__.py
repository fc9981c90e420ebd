"""Charts: what a report shows, as drawings for papers and notebooks.

Belongs here: the list of charts, with one module for each subject. Each function takes a comparison, scores or
positions and returns a `Drawing`, which shows itself in a notebook; `lexirecall.plots.drawing_files` turns it into SVG,
PDF and PNG. Not here: scales, axes and marks (svg).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lexirecall.page.charts.measures import (
    agreement_and_ties,
    depths_needed,
    draw_recall,
    draw_shares,
    recall_curves,
)
from lexirecall.page.charts.requests import request_differences, request_strips
from lexirecall.page.charts.systems import difference_intervals, leaderboard, pair_matrix
from lexirecall.page.findings import Findings
from lexirecall.preferences import Preference
from lexirecall.svg import COLORS, Drawing
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.explain import explain

__all__ = [
    "agreement_and_ties", "charts_of", "depths_needed", "difference_intervals", "leaderboard", "page_charts",
    "pair_matrix", "recall_curves", "request_differences", "request_strips",
]  # fmt: skip


def charts_of(findings: Findings) -> dict[str, Drawing]:
    """Return all charts by the name of their file; charts of one pair or query show what separates the two best runs.

    >>> from lexirecall import project
    >>> from lexirecall.manifest import Policies
    >>> from lexirecall.verbs.testing import Testing
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["z", "a"]}})
    >>> list(charts_of(Findings.of(positions, "RR", Testing(), Policies())))
    ['leaderboard', 'query', 'recall', 'depth']
    """
    positions, policies = findings.positions, findings.policies
    names = [positions.systems[s] for s in findings.places]
    drawn = {"leaderboard": leaderboard(findings.comparison or findings.scores)}
    if findings.comparison is not None:
        drawn |= _charts_of_pairs(findings, findings.comparison, names[0], names[1])
    drawn |= {
        "query": request_strips(positions, _telling_request(findings), names[: len(COLORS)], level=policies.level),
        "recall": recall_curves(positions, names, policies=policies),
        "depth": depths_needed(positions, names, policies=policies),
    }
    return drawn


def page_charts(payload: Mapping[str, Any]) -> dict[str, str]:
    """Return the charts of the page that do not depend on what its reader chooses, as SVG in the colours of the page.

    They show what the payload holds under `systems`, `labels`, `recall` and `study`. Charts with nothing to show are
    left out: those of the measures, if there is only one run.

    >>> from lexirecall import report
    >>> page = report({"q": {"a": 1, "b": 1}}, {"x": {"q": ["z", "a"]}}, output=None)
    >>> list(page_charts(page.payload))
    ['recall']
    """
    names = (f"{letters} {name}" for letters, name in zip(payload["labels"], payload["systems"], strict=True))
    recall = payload["recall"]
    drawn = {
        "recall": draw_recall(recall["depths"], list(zip(names, recall["mean"], strict=True))),
        "agreement": draw_shares(payload["study"], "agreement"),
        "ties": draw_shares(payload["study"], "tied"),
    }
    return {name: drawing.to_svg("page") for name, drawing in drawn.items() if drawing is not None}


def _charts_of_pairs(findings: Findings, comparison: Comparison, a: str, b: str) -> dict[str, Drawing]:
    with_values = [row for row in findings.scores.measures if not isinstance(row, Preference)]
    measure = str((with_values or findings.scores.measures)[0])
    return {
        "pairs": pair_matrix(comparison),
        "intervals": difference_intervals(comparison),
        "differences": request_differences(findings.positions, a, b, measure, policies=findings.policies),
        "measures": agreement_and_ties(findings.positions, findings.scores.measures, policies=findings.policies),
    }


def _telling_request(findings: Findings) -> str:
    """Return the request that tells the two best systems apart most clearly, or the first if none does."""
    policies = findings.policies
    a, b = (findings.places * 2)[:2]
    pair = findings.positions.systems[a], findings.positions.systems[b]
    explained = explain(findings.positions, pair=pair, level=policies.level, queries=policies.queries)
    if explained.queries:
        return explained.queries[0].id
    return findings.positions.requests[int(np.flatnonzero(findings.projection.num_relevant)[0])]

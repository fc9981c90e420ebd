"""Charts: what a report shows, as drawings for papers and notebooks.

Belongs here: the list of charts, whose rows are in one module for each subject. Each function takes a comparison,
scores or positions and returns a `Drawing`, which shows itself in a notebook; `lexirecall.plots.drawing_files` turns it
into SVG, PDF and PNG. Not here: scales, axes and marks (svg).
"""

from collections.abc import Mapping
from typing import Any

from lexirecall.page.charts import curves, measures, queries, runs, tail
from lexirecall.page.charts.curves import recall_by_share, recall_curves
from lexirecall.page.charts.measures import agreement_and_ties, depths_needed
from lexirecall.page.charts.queries import query_differences, query_strips
from lexirecall.page.charts.runs import difference_intervals, leaderboard, pair_matrix
from lexirecall.page.charts.tail import sorted_values
from lexirecall.page.findings import Findings
from lexirecall.svg import Drawing

__all__ = [
    "CHARTS",
    "agreement_and_ties",
    "charts_of",
    "depths_needed",
    "difference_intervals",
    "leaderboard",
    "page_charts",
    "pair_matrix",
    "query_differences",
    "query_strips",
    "recall_by_share",
    "recall_curves",
    "sorted_values",
]  # fmt: skip

CHARTS = (*runs.CHARTS, *queries.CHARTS, *tail.CHARTS, *curves.CHARTS, *measures.CHARTS)
"""Every chart, in the order in which they are written."""


def charts_of(findings: Findings) -> dict[str, Drawing]:
    """Return all charts by the name of their file; charts of one pair or query show what separates the two best runs.

    >>> from lexirecall import project
    >>> from lexirecall.manifest import Policies
    >>> from lexirecall.verbs.testing import Testing
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["z", "a"]}})
    >>> list(charts_of(Findings.of(positions, "RR", Testing(), Policies())))
    ['leaderboard', 'query', 'recall', 'depth']
    """
    drawn = {chart.name: chart.of_findings(findings) for chart in CHARTS if chart.of_findings}
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def page_charts(findings: Findings, payload: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the charts of the page that do not depend on what its reader chooses, as SVG in the colours of the page.

    Those that a script of the page places are drawn from the payload: `runs`, `labels`, `recall` and `study`. The
    others have the section at the end of which they are shown, and a title. Charts with nothing to show are left out:
    those of the measures, if there is only one run.

    >>> from lexirecall import report
    >>> page = report({"q": {"a": 1, "b": 1}}, {"x": {"q": ["z", "a"]}}, output=None)
    >>> list(page_charts(page.findings, page.payload))
    ['recall']
    """
    shown = {}
    for chart in CHARTS:
        drawing = None
        if chart.of_payload is not None:
            drawing = chart.of_payload(payload)
        elif chart.section and chart.of_findings is not None:
            drawing = chart.of_findings(findings)
        if drawing is not None:
            shown[chart.name] = {"svg": drawing.to_svg("page"), "section": chart.section, "title": chart.title}
    return shown

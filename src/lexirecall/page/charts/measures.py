"""Charts of measures: how deep one must read, and how the measures behave on these data.

Belongs here: drawings over all queries.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.manifest import Policies
from lexirecall.names import Names
from lexirecall.page.charts.bars import ROW, Bar, bars
from lexirecall.page.charts.chart import Chart, of_comparison
from lexirecall.page.charts.curves import percent_text
from lexirecall.page.charts.queries import run_index
from lexirecall.page.findings import Findings, agreements, with_lexirecall
from lexirecall.page.recall import RECALLS, median_depths
from lexirecall.positions import Positions
from lexirecall.svg import SHAPES, Drawing, Element, in_columns, of_run, point, text
from lexirecall.svg.axes import (
    BELOW,
    Area,
    axis_below,
    brief,
    legend,
    names_beside,
    room_for,
)
from lexirecall.svg.scales import Bands, Logarithmic
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.subject import asked_measures

PANELS = {
    "agreement": "share of decisions on which LexiRecall takes the same side",
    "tied": "share of tied pairs of rankings",
}
"""What is drawn for every measure, by its key in the rows of `agreements`."""


def depths_needed(
    positions: Positions, runs: Sequence[str] | None = None, *, policies: Policies | None = None
) -> Drawing:
    """Draw the median depth at which 75, 95 and 100 % of the relevant documents are found, for each run.

    A point is left out if half of the lists or more end before that.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> depths_needed(positions).label
    'Median depth needed for 75 %, 95 % and 100 % of the relevant documents, for 2 runs'
    """
    names = positions.runs if runs is None else runs
    rows = depth_rows(positions, names, policies=policies)
    recalls = [_share(recall) for recall in RECALLS]
    frame = Area(room_for(names) + 12, 4, 320, ROW * max(len(names), 3))
    x = Logarithmic(max([2.0, *(row["depth"] for row in rows)]), frame.left, frame.right)
    bands = Bands(len(names), frame.top, ROW)
    marks: list[list[Element]] = [[] for _ in names]
    for row in rows:
        i, k = names.index(row["run"]), recalls.index(row["recall"])
        tip = (
            f"{brief(row['run'])}: {row['recall']} within {row['depth']:,g}, reached in {percent_text(row['reached'])}"
        )
        at = x(row["depth"]), bands(i) + 5 * (k - 1)  # beside each other, where two are equal
        marks[i].append(point(*at, SHAPES[k], f"series-{k}", radius=3, title=tip))
    entries = [[point(0, 0, SHAPES[k], f"series-{k}"), text(10, 0, recall)] for k, recall in enumerate(recalls)]
    key = text(frame.right + 24, frame.top + 6, "recall", bold=True), *legend(frame.right + 30, frame.top + 24, entries)
    around = *axis_below(frame, x, "median depth needed"), *names_beside(frame, bands, names), *key
    shares = f"{', '.join(recalls[:-1])} and {recalls[-1]} of the relevant documents"
    label = f"Median depth needed for {shares}, for {counted(len(names), 'run')}"
    drawn = (of_run(i, *elements) for i, elements in enumerate(marks) if elements)
    return Drawing(frame.right + 84, frame.bottom + BELOW, (*around, *drawn), label)


def _share(recall: float) -> str:
    return f"{100 * recall:.0f} %"


def depth_rows(positions: Positions, runs: Sequence[str], *, policies: Policies | None = None) -> list[dict[str, Any]]:
    """Give one row for each run and recall: the median depth, and the share of lists that reach it.

    A row with an infinite depth is left out.
    """
    policies = policies or Policies()
    projection, rankings = positions.at_level(policies.level), policies.counted(positions)
    rows = []
    for recall in RECALLS:
        medians, shares = median_depths(projection, recall, rankings)
        for name in runs:
            s = run_index(positions, name)
            row = {"run": name, "recall": _share(recall), "reached": float(shares[s])}
            rows += [{**row, "depth": float(medians[s])}] if np.isfinite(medians[s]) else []
    return rows


def agreement_and_ties(
    positions: Positions, measures: Names | None = None, *, policies: Policies | None = None
) -> Drawing:
    """Draw, for each measure, its agreement with LexiRecall and its share of ties, pooled over pairs and queries.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> len(agreement_and_ties(positions, ["AP", "RR"]).elements)
    2
    """
    asked = with_lexirecall(asked_measures(measures, has_providers=positions.providers is not None))
    rows = list(agreements(positions, asked, policies or Policies()))
    panels = [panel for column in PANELS if (panel := draw_shares(rows, column)) is not None]
    return in_columns(panels, 2, ". ".join(panel.label for panel in panels), gap=32)


def draw_shares(rows: Iterable[Mapping[str, Any]], column: str) -> Drawing | None:
    """Draw one of the `PANELS`, or return None if no measure has a value. By chance, half of the decisions agree.

    >>> draw_shares([{"measure": "AP", "tied": 0.25}], "tied").label
    'share of tied pairs of rankings: AP 25.0 %'
    """
    shown = [Bar(row["measure"], row[column], percent_text(row[column])) for row in rows if row[column] is not None]
    label = f"{PANELS[column]}: {', '.join(f'{row.name} {row.text}' for row in shown)}"
    chance = 0.5 if column == "agreement" else None
    return bars(shown, PANELS[column], label, width=280, is_share=True, line_at=chance) if shown else None


def _measures(findings: Findings, _comparison: Comparison) -> Drawing:
    return agreement_and_ties(findings.positions, findings.scores.measures, policies=findings.policies)


def _depth(findings: Findings) -> Drawing:
    return depths_needed(findings.positions, findings.best_first, policies=findings.policies)


CHARTS = (
    Chart("measures", of_comparison(_measures)),
    Chart("depth", _depth),
    Chart("agreement", of_payload=lambda payload: draw_shares(payload["study"], "agreement")),
    Chart("ties", of_payload=lambda payload: draw_shares(payload["study"], "tied")),
)
"""The charts of measures, and of the depth that a recall needs."""

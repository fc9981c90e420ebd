"""Chart of the tail: the values of two runs, each from its own worst query to its own best one.

Belongs here: that drawing, for files. Not here: the same for a pair that a reader of the page chooses (assets).
"""

from collections.abc import Sequence

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.page.charts.chart import Chart, of_comparison
from lexirecall.page.findings import Findings
from lexirecall.preferences import Preference
from lexirecall.svg import Drawing, Element, bar, line, text
from lexirecall.svg.axes import BELOW, Area, axis_below, axis_beside, brief, legend, room_beside
from lexirecall.svg.scales import Linear
from lexirecall.tables import number
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.decidingqueries import TAIL
from lexirecall.verbs.scores import Scores

_INKS: tuple[tuple[str, tuple[float, ...]], ...] = (("side-a", ()), ("side-b", (6, 3)))


def sorted_values(scores: Scores, a: str, b: str, measure: str) -> Drawing:
    """Draw the values of two runs on every query, each run from its worst query to its best; the tail is shaded.

    >>> from lexirecall import evaluate
    >>> runs = {"x": {"q": ["a"], "r": ["b", "a"]}, "y": {"q": ["b", "a"], "r": ["b", "a"]}}
    >>> sorted_values(evaluate({"q": {"a": 1}, "r": {"a": 1}}, runs, "RR"), "x", "y", "RR").label
    'RR of each query, from worst to best. x from 0.5000 to 1.0000; y from 0.5000 to 0.5000'
    """
    k = [str(row) for row in scores.measures].index(measure)
    row = scores.measures[k]
    columns = [(name, _worst_first(scores.values[scores.runs.index(name), :, k], row.direction)) for name in (a, b)]
    y = Linear.over([value for _, values in columns for value in values.tolist()], 260, 44)
    frame = Area(room_beside(y, measure), 44, 460, 216)
    x = Linear(0, 1, frame.left, frame.right, is_share=True)
    end = x(TAIL.share)
    shaded = bar(frame.left, frame.top, end - frame.left, frame.height, "muted", fill_opacity=0.15)
    tail = text(end + 4, frame.top + 8, f"worst {100 * TAIL.share:.0f} %")
    lines = [
        line(_steps(values, x, y), ink, dash=dash, stroke_width=1.8)
        for (_, values), (ink, dash) in zip(columns, _INKS, strict=True)
    ]
    axes = *axis_below(frame, x, "share of queries, from worst to best"), *axis_beside(frame, y, measure)
    ends = "; ".join(f"{brief(name)} from {_ends(values, row.decimals)}" for name, values in columns)
    label = f"{measure} of each query, from worst to best. {ends}"
    return Drawing(frame.right + 24, frame.bottom + BELOW, (shaded, *axes, tail, *lines, *_key((a, b))), label)


def _worst_first(values: FloatArray, direction: int) -> FloatArray:
    return np.asarray(direction * np.sort(direction * values[np.isfinite(values)]))


def _steps(values: FloatArray, x: Linear, y: Linear) -> list[tuple[float, float]]:
    """Return the corners of a staircase with one step for each value."""
    edges = [x(i / max(len(values), 1)) for i in range(len(values) + 1)]
    return [(edges[i + j], y(value)) for i, value in enumerate(values.tolist()) for j in (0, 1)]


def _ends(values: FloatArray, decimals: int) -> str:
    return " to ".join(number(float(value), decimals) for value in values[[0, -1]]) if len(values) else "no value"


def _key(names: Sequence[str]) -> tuple[Element, ...]:
    entries = [
        [line([(0, 0), (24, 0)], ink, dash=dash, stroke_width=1.8), text(30, 0, name, limit=400)]
        for name, (ink, dash) in zip(names, _INKS, strict=True)
    ]
    return legend(12, 12, entries)


def _tail(findings: Findings, _comparison: Comparison) -> Drawing | None:
    """Draw the two best runs under the first measure that has a value for one ranking, if there is one."""
    with_values = [str(row) for row in findings.scores.measures if not isinstance(row, Preference)]
    a, b = findings.best_first[:2]
    return sorted_values(findings.scores, a, b, with_values[0]) if with_values else None


CHARTS = (Chart("tail", of_comparison(_tail)),)
"""The chart of the tail."""

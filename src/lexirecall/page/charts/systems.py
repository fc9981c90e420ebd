"""Charts of systems: their means, by how much they differ, and every two of them.

Belongs here: drawings of a comparison.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, listed
from lexirecall.judgments import FloatArray
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.page.findings import best_first
from lexirecall.plots import COLORS, altair, data, label
from lexirecall.tables import number
from lexirecall.text import visible
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.comparison import Comparison, MeasureComparison
from lexirecall.verbs.scores import Scores

ROW = 22
"""Pixels from one system to the next."""
MOST_LABELLED = 16
"""Systems up to which a matrix has numbers in its cells."""


def leaderboard(result: Comparison | Scores, measures: Names | None = None) -> Any:
    """Draw the mean of each system as a bar, in a panel for each measure; of a comparison the best system first.

    >>> from lexirecall import evaluate
    >>> scores = evaluate({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}, ["RR", "AP"])
    >>> len(leaderboard(scores).to_dict()["concat"])
    2
    """
    averages = result.averages
    order = range(len(averages.systems)) if isinstance(result, Scores) else best_first(result)
    chosen = averages.measures if measures is None else parse_names(measures)
    panels = (_means(averages, _index(averages.measures, row), order) for row in chosen)
    return altair().concat(*panels, columns=3)


def _means(averages: Averages, c: int, order: Sequence[int]) -> Any:
    alt, measure = altair(), averages.measures[c]
    means = averages.means[:, c].tolist()
    names = [label(averages.systems[s]) for s in order]
    drawn = zip(names, (means[s] for s in order), strict=True)
    rows = [
        {"run": name, "mean": mean, "label": number(mean, measure.decimals)}
        for name, mean in drawn
        if np.isfinite(mean)
    ]
    base = alt.Chart(data(rows), width=180, height=ROW * len(names)).encode(
        x=alt.X("mean:Q", title=str(measure), axis=alt.Axis(tickCount=4)),
        y=alt.Y("run:N", sort=names, scale=alt.Scale(domain=names), title=None),
    )
    return base.mark_bar(color=COLORS[0], size=14) + base.mark_text(align="left", dx=3).encode(text="label:N")


def difference_intervals(comparison: Comparison, measure: str | None = None) -> Any:
    """Draw by how much each system differs from the baseline, or from the best, with the interval of the comparison.

    Left of the line is worse; filled points differ significantly. The measure is the first if none is named.

    >>> from lexirecall import compare
    >>> runs = {"x": {"q": ["a"], "r": ["a"]}, "y": {"q": ["b", "a"], "r": ["c", "b", "a"]}}
    >>> chart = difference_intervals(compare({"q": {"a": 1}, "r": {"a": 1}}, runs, ["RR"]))
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rule', 'rule', 'point']
    """
    alt, compared, places = altair(), _compared(comparison, measure), best_first(comparison)
    reference = places[0] if comparison.baseline is None else comparison.baseline
    order = [label(comparison.systems[s]) for s in places if s != reference]
    title = f"{compared.measure}: difference from {visible(comparison.systems[reference])}"
    base = alt.Chart(data(difference_rows(comparison, compared, reference))).encode(
        y=alt.Y("run:N", sort=order, title=None, axis=alt.Axis(labelLimit=240)),
    )
    whiskers = base.mark_rule(color=COLORS[0]).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    zero = alt.Chart(data([{"zero": 0}])).mark_rule(color="#888", strokeDash=[3, 3]).encode(x="zero:Q")
    filled = alt.condition("datum.significant", alt.value(COLORS[0]), alt.value("white"))
    points = base.mark_point(size=44, opacity=1, stroke=COLORS[0]).encode(x="difference:Q", fill=filled)
    return alt.layer(whiskers, zero, points).properties(width=320, height=ROW * len(order))


def difference_rows(comparison: Comparison, compared: MeasureComparison, reference: int) -> list[dict[str, Any]]:
    """Give one row for each other system: its difference from the reference, with the ends of its interval."""
    differences, significant = _square(comparison, compared)
    lows, highs = (np.full_like(differences, np.nan) for _ in range(2))
    lows[compared.a, compared.b], lows[compared.b, compared.a] = compared.lows, -compared.highs
    highs[compared.a, compared.b], highs[compared.b, compared.a] = compared.highs, -compared.lows
    return [
        {
            "run": label(name),
            "difference": float(differences[s, reference]),
            "low": _finite(lows[s, reference]),
            "high": _finite(highs[s, reference]),
            "significant": bool(significant[s, reference]),
        }
        for s, name in enumerate(comparison.systems)
        if np.isfinite(differences[s, reference])
    ]


def pair_matrix(comparison: Comparison, measure: str | None = None) -> Any:
    """Draw the difference of every two systems, row less column, best first; a star where it is significant.

    The measure is the first if none is named.

    >>> from lexirecall import compare
    >>> comparison = compare({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}, ["RR"])
    >>> [layer["mark"]["type"] for layer in pair_matrix(comparison).to_dict()["layer"]]
    ['rect', 'text']
    """
    alt, compared = altair(), _compared(comparison, measure)
    rows = matrix_rows(comparison, compared)
    names = [label(comparison.systems[s]) for s in best_first(comparison)]
    has_room = len(names) <= MOST_LABELLED
    width, height = (48, ROW) if has_room else (12, 12)
    base = alt.Chart(data(rows), width=width * len(names), height=height * len(names)).encode(
        x=alt.X("column:N", sort=names, title=None, axis=alt.Axis(labelAngle=-45, orient="top", labelOverlap=False)),
        y=alt.Y("row:N", sort=names, title=None, axis=alt.Axis(labelOverlap=False)),
    )
    most = max((abs(row["difference"]) for row in rows), default=0.0) or 1.0
    scale = alt.Scale(domain=[-most, 0, most], range=[COLORS[1], "#FFFFFF", COLORS[0]], interpolate="rgb")
    heat = base.mark_rect().encode(color=alt.Color("difference:Q", scale=scale, title=str(compared.measure)))
    ink = alt.condition(f"abs(datum.difference) > {0.8 * most}", alt.value("white"), alt.value("black"))
    marks = base.mark_text(fontSize=9).encode(text="label:N" if has_room else "star:N", color=ink)
    return heat + marks


def matrix_rows(comparison: Comparison, compared: MeasureComparison) -> list[dict[str, Any]]:
    """Give one row for each cell: row less column, and how it is labelled."""
    differences, significant = _square(comparison, compared)
    cells = []
    for s, t in np.argwhere(np.isfinite(differences)).tolist():
        star, difference = "*" * bool(significant[s, t]), float(differences[s, t])
        names = {"row": label(comparison.systems[s]), "column": label(comparison.systems[t])}
        cells.append({**names, "difference": difference, "label": f"{difference:+.3f}{star}", "star": star})
    return cells


def _square(comparison: Comparison, compared: MeasureComparison) -> tuple[FloatArray, Any]:
    """Return the tested difference of every two systems, [S, S], nan where there is none; and which are significant."""
    size = len(comparison.systems)
    differences = np.full((size, size), np.nan)
    differences[compared.a, compared.b], differences[compared.b, compared.a] = compared.responses, -compared.responses
    better = compared.better(size, comparison.alpha)
    return differences, better | better.T


def _compared(comparison: Comparison, measure: str | None) -> MeasureComparison:
    if measure is None:
        return comparison.measures[0]
    rows = [each.measure for each in comparison.measures]
    return comparison.measures[_index(rows, *parse_names(measure))]


def _index(rows: Sequence[Evaluable], row: Evaluable) -> int:
    if row not in rows:
        raise UsageError(f"{row} was not computed", remedy=f"choose from {listed(map(str, rows), 20)}")
    return list(rows).index(row)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

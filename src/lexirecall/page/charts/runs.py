"""Charts of runs: their means, by how much they differ, and each pair of them.

Belongs here: drawings of a comparison.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, counted, listed
from lexirecall.judgments import FloatArray
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.page.charts.bars import ROW, Bar, bars
from lexirecall.page.charts.chart import Chart, of_comparison
from lexirecall.svg import (
    SIZE,
    Drawing,
    Element,
    bar,
    element,
    in_columns,
    of_run,
    point,
    rule,
    text,
    text_width,
)
from lexirecall.svg.axes import BELOW, LABEL_LIMIT, Area, axis_below, brief, end_of, names_beside, room_for
from lexirecall.svg.scales import Bands, Linear
from lexirecall.tables import number
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.measurecomparison import MeasureComparison
from lexirecall.verbs.scores import Scores

MOST_LABELLED = 16
"""The most runs for which a matrix has numbers in its cells."""
STARRED = 12
"""Pixels of a cell with room for a star; smaller cells have a dot."""


def leaderboard(result: Comparison | Scores, measures: Names | None = None) -> Drawing:
    """Draw the mean of each run as a bar, in a panel for each measure; for a comparison, the best run first.

    >>> from lexirecall import evaluate
    >>> scores = evaluate({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}, ["RR", "AP"])
    >>> leaderboard(scores).label
    'Means of 2 runs. RR: x 1.0000, y 0.5000. AP: x 1.0000, y 0.5000'
    """
    averages = result.averages
    order = range(len(averages.runs)) if isinstance(result, Scores) else result.order.best_first
    chosen = averages.measures if measures is None else parse_names(measures)
    panels = [_means(averages, _index(averages.measures, row), order) for row in chosen]
    labels = ". ".join(panel.label for panel in panels)
    return in_columns(panels, 3, f"Means of {counted(len(averages.runs), 'run')}. {labels}")


def _means(averages: Averages, c: int, order: Sequence[int]) -> Drawing:
    measure, means = averages.measures[c], averages.means[:, c].tolist()
    rows = [
        Bar(averages.runs[s], means[s], number(means[s], measure.decimals), run=i)
        if np.isfinite(means[s])
        else Bar(averages.runs[s], None)
        for i, s in enumerate(order)
    ]
    values = ", ".join(f"{brief(row.name)} {row.text}" for row in rows if row.value is not None)
    return bars(rows, str(measure), f"{measure}: {values}")


def difference_intervals(comparison: Comparison, measure: str | None = None) -> Drawing:
    """Draw by how much each run differs from the baseline, or from the best run, with the interval of all pairs.

    Left of the line is worse; filled points differ significantly. Without `measure`, the first one is drawn. Of several
    baselines, the one that was named first is meant.

    >>> from lexirecall import compare
    >>> runs = {"x": {"q": ["a"], "r": ["a"]}, "y": {"q": ["b", "a"], "r": ["c", "b", "a"]}}
    >>> difference_intervals(compare({"q": {"a": 1}, "r": {"a": 1}}, runs, ["RR"])).label
    'RR: difference from x. y -0.5833'
    """
    compared, places = _compared(comparison, measure), comparison.order.best_first
    reference = (*comparison.baselines, places[0])[0]
    rows = {row["run"]: row for row in difference_rows(comparison, compared, reference)}
    others = [(i, comparison.runs[s]) for i, s in enumerate(places) if s != reference]
    names = [name for _, name in others]
    frame = Area(room_for(names) + 12, 4, 320, ROW * len(names))
    drawn = [row[end] for row in rows.values() for end in ("low", "difference", "high") if row[end] is not None]
    x, bands = Linear.over(drawn, frame.left, frame.right), Bands(len(names), frame.top, ROW)
    marks = [of_run(i, *_interval(rows[name], x, bands(k))) for k, (i, name) in enumerate(others) if name in rows]
    what = "difference" if compared.family.layout is None else "difference of responses"
    title = f"{compared.measure}: {what} from {brief(comparison.runs[reference])}"
    zero = rule(x(0), frame.top, x(0), frame.bottom, "muted", dash="3 3")
    around = *axis_below(frame, x, title), *names_beside(frame, bands, names), zero
    differences = ", ".join(f"{brief(name)} {_said(rows[name], compared)}" for name in names if name in rows)
    return Drawing(end_of(frame, title), frame.bottom + BELOW, (*around, *marks), f"{title}. {differences}")


def _interval(row: dict[str, Any], x: Linear, y: float) -> Iterator[Element]:
    if row["low"] is not None and row["high"] is not None:
        yield rule(x(row["low"]), y, x(row["high"]), y, "series-0")
    fill = "series-0" if row["significant"] else "paper"
    yield point(x(row["difference"]), y, "circle", "series-0", fill=fill)


def _said(row: dict[str, Any], compared: MeasureComparison) -> str:
    difference = number(row["difference"], compared.measure.decimals)
    return f"{difference} (significant)" if row["significant"] else difference


def difference_rows(comparison: Comparison, compared: MeasureComparison, reference: int) -> list[dict[str, Any]]:
    """Give one row for each other run: its difference from the reference, with the ends of its interval."""
    differences, significant = _square(comparison, compared)
    lows, highs = (np.full_like(differences, np.nan) for _ in range(2))
    shown = compared.family.layout or compared.family
    lows[compared.a, compared.b], lows[compared.b, compared.a] = shown.lows, -shown.highs
    highs[compared.a, compared.b], highs[compared.b, compared.a] = shown.highs, -shown.lows
    return [
        {
            "run": name,
            "difference": float(differences[s, reference]),
            "low": _finite(lows[s, reference]),
            "high": _finite(highs[s, reference]),
            "significant": bool(significant[s, reference]),
        }
        for s, name in enumerate(comparison.runs)
        if np.isfinite(differences[s, reference])
    ]


def pair_matrix(comparison: Comparison, measure: str | None = None) -> Drawing:
    """Draw the difference between each pair of runs, row less column, best first, with a star if it is significant.

    With many runs the cells are small and have a dot instead of a star, and some names are left out. Without
    `measure`, the first one is drawn.

    >>> from lexirecall import compare
    >>> comparison = compare({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}, ["RR"])
    >>> pair_matrix(comparison).label
    'RR: row less column, for every pair of 2 runs, best first; significantly different: 0 of 1 pair'
    """
    compared = _compared(comparison, measure)
    rows = matrix_rows(comparison, compared)
    names = [comparison.runs[s] for s in comparison.order.best_first]
    has_room = len(names) <= MOST_LABELLED
    width, height = (48, ROW) if has_room else (_small(len(names)),) * 2
    size = None if has_room else 9
    room = room_for(names, size or SIZE)
    frame = Area(room + 12, (0.72 if has_room else 1) * room + 16, width * len(names), height * len(names))
    across, down = Bands(len(names), frame.left, width), Bands(len(names), frame.top, height)
    most = max((abs(row["difference"]) for row in rows), default=0.0) or 1.0
    places = {name: i for i, name in enumerate(names)}
    cells = [mark for row in rows for mark in _cell(row, across, down, places, most, "label" if has_room else "star")]
    above = [
        text(across(i), frame.top - 8, names[i], angle=-45 if has_room else -90, size=size, limit=LABEL_LIMIT)
        for i in across.labelled((size or SIZE) + 1)
    ]
    aside = max(24, 0.72 * room * has_room)  # where the last slanted name ends
    mark = "*" if width >= STARRED else "\N{BULLET}"
    key = _ramp(frame.right + aside, frame.top + 8, most, [str(compared.measure), f"{mark} significant"])
    stars = sum(bool(row["star"]) for row in rows) // 2
    label = (
        f"{compared.measure}: row less column, for every pair of {counted(len(names), 'run')}, best first; "
        f"significantly different: {stars:,} of {counted(len(rows) // 2, 'pair')}"
    )
    end = frame.right + aside + max(80, text_width(str(compared.measure)) * 1.1 + 8)
    elements = *names_beside(frame, down, names, size), *above, *cells, *key
    return Drawing(end, max(frame.bottom + 8, frame.top + 140), elements, label)


def _small(count: int) -> float:
    """Return the width of a cell without a number."""
    return min(STARRED, max(720 // count, 5))


def _cell(
    row: dict[str, Any], across: Bands, down: Bands, places: dict[str, int], most: float, written: str
) -> Iterator[Element]:
    """Give one cell, with a stronger colour for a larger difference, and its text."""
    x, y = across(places[row["column"]]), down(places[row["row"]])
    share = abs(row["difference"]) / most
    side = "side-a" if row["difference"] > 0 else "side-b"
    corner = x - across.step / 2, y - down.step / 2
    yield bar(*corner, across.step, down.step, side, fill_opacity=round(share, 2))
    ink = "paper" if share > 0.8 else "ink"
    if row["star"] and across.step < STARRED:
        yield element("circle", cx=x, cy=y, r=1, fill=ink)
    elif row[written]:
        yield text(x, y, row[written], anchor="middle", size=9, ink=ink)


def _ramp(x: float, y: float, most: float, words: Sequence[str]) -> Iterator[Element]:
    """Give the legend of differences: the measure, the colours from the most to the least, and what the mark means."""
    yield text(x, y, words[0], bold=True)
    yield text(x, y + 112, words[1])
    for k in range(21):
        share = 1 - k / 10
        side = "side-a" if share > 0 else "side-b"
        yield bar(x, y + 12 + 4 * k, 14, 4, side, fill_opacity=round(abs(share), 2))
    for k, value in ((0, most), (10, 0.0), (20, -most)):
        yield text(x + 20, y + 14 + 4 * k, f"{value:+.3f}" if value else "0")


def matrix_rows(comparison: Comparison, compared: MeasureComparison) -> list[dict[str, Any]]:
    """Give one row for each cell: row less column, and how it is labelled."""
    differences, significant = _square(comparison, compared)
    cells = []
    for s, t in np.argwhere(np.isfinite(differences)).tolist():
        star, difference = "*" * bool(significant[s, t]), float(differences[s, t])
        names = {"row": comparison.runs[s], "column": comparison.runs[t]}
        written = f"{difference:+.3f}" if difference else "0.000"  # without a sign, on either side
        cells.append({**names, "difference": difference, "label": f"{written}{star}", "star": star})
    return cells


def _square(comparison: Comparison, compared: MeasureComparison) -> tuple[FloatArray, Any]:
    """Return the difference of each pair of runs, [S, S], nan if not tested; and which are significant.

    It is that of the means; with HSD that of the responses, because those are significant or not.
    """
    size, layout = len(comparison.runs), compared.family.layout
    differences, shown = np.full((size, size), np.nan), compared.means if layout is None else layout.differences
    differences[compared.a, compared.b], differences[compared.b, compared.a] = shown, -shown
    better = compared.better(size, comparison.alpha)
    return differences, better | better.T


def _compared(comparison: Comparison, measure: str | None) -> MeasureComparison:
    if measure is None:
        return comparison.measures[0]
    rows = [compared.measure for compared in comparison.measures]
    return comparison.measures[_index(rows, *parse_names(measure))]


def _index(rows: Sequence[Evaluable], row: Evaluable) -> int:
    if row not in rows:
        raise UsageError(f"{row} was not computed", remedy=f"choose from {listed(map(str, rows), 20)}")
    return list(rows).index(row)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


CHARTS = (
    Chart("leaderboard", lambda findings: leaderboard(findings.comparison or findings.scores)),
    Chart("pairs", of_comparison(lambda _, comparison: pair_matrix(comparison))),
    Chart("intervals", of_comparison(lambda _, comparison: difference_intervals(comparison))),
)
"""The charts of a comparison."""

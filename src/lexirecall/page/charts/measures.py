"""Charts of recall and of measures: how deep one must read, and how the measures behave on these data.

Belongs here: drawings over all requests.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.manifest import Policies
from lexirecall.names import Names
from lexirecall.page.charts.bars import ROW, Bar, bars
from lexirecall.page.charts.chart import Chart, of_comparison
from lexirecall.page.charts.requests import system_index
from lexirecall.page.findings import Findings, agreements, with_lexirecall
from lexirecall.page.recall import RECALLS, depths_to, mean_recall, median_depths
from lexirecall.positions import Positions
from lexirecall.svg import COLORS, DASHES, SHAPES, Drawing, Element, in_columns, line, of_system, point, text
from lexirecall.svg.axes import (
    BELOW,
    Area,
    axis_below,
    axis_beside,
    brief,
    legend,
    names_beside,
    room_beside,
    room_for,
)
from lexirecall.svg.scales import Bands, Linear, Logarithmic
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.given import asked_measures

PANELS = {
    "agreement": "share of decisions on which LexiRecall takes the same side",
    "tied": "share of tied pairs of rankings",
}
"""What is drawn for every measure, by its key in the rows of `agreements`."""


def recall_curves(
    positions: Positions, systems: Sequence[str] | None = None, *, policies: Policies | None = None
) -> Drawing:
    """Draw the mean recall of runs by depth of the list: the first ten in colour, the others in grey.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> recall_curves(positions).label
    'Mean recall by depth. At depth 5: x 100.0 %, y 100.0 %'
    """
    chosen = positions.systems if systems is None else systems
    policies = policies or Policies()
    depths = depths_to(int(positions.num_retrieved.max(initial=1)))
    means = mean_recall(positions.at_level(policies.level), depths, positions.counted(policies))
    curves = (means[system_index(positions, name)].tolist() for name in chosen)
    return draw_recall(
        depths, [(name, [_known(mean) for mean in curve]) for name, curve in zip(chosen, curves, strict=True)]
    )


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def draw_recall(depths: Sequence[int], curves: Sequence[tuple[str, Sequence[float | None] | None]]) -> Drawing:
    """Draw the mean recall of each system at these depths; draw nothing for a system without means.

    >>> draw_recall([1, 2], [("x", [0.5, 1.0])]).label
    'Mean recall by depth. At depth 2: x 100.0 %'
    """
    y = Linear(0, 1, 270, 10, is_share=True)
    frame = Area(room_beside(y, "mean recall"), 10, 460, 260)
    x = Logarithmic(depths[-1], frame.left, frame.right)
    known = [(i, name, [mean for mean in means or [] if mean is not None]) for i, (name, means) in enumerate(curves)]
    known = [(i, name, means) for i, name, means in known if means]
    places = {i: [(x(depth), y(mean)) for depth, mean in zip(depths, means, strict=True)] for i, _, means in known}
    grey = [
        of_system(i, line(places[i], "muted", title=brief(name), stroke_opacity=0.35))
        for i, name, _ in known[len(COLORS) :]
    ]
    coloured = [
        of_system(
            i,
            line(places[i], f"series-{k}", dash=DASHES[k], stroke_width=1.8),
            *_points(k, name, places[i], depths, means),
        )
        for k, (i, name, means) in enumerate(known[: len(COLORS)])
    ]
    key, width = _key([(i, name) for i, name, _ in known], frame.right + 24)
    axes = *axis_below(frame, x, "depth of the list"), *axis_beside(frame, y, "mean recall")
    last = ", ".join(f"{brief(name)} {_percent(means[-1])}" for _, name, means in known[: len(COLORS)])
    label = f"Mean recall by depth. At depth {depths[-1]:,}: {last}"
    height = max(frame.bottom + BELOW, 20 + 16 * len(key))
    return Drawing(frame.right + 24 + width, height, (*axes, *grey, *coloured, *key), label)


def _points(
    k: int, name: str, places: Sequence[tuple[float, float]], depths: Sequence[int], means: Sequence[float]
) -> Iterable[Element]:
    for (x, y), depth, mean in zip(places, depths, means, strict=True):
        yield point(x, y, SHAPES[k], f"series-{k}", radius=3, title=f"{brief(name)}: {_percent(mean)} within {depth:,}")


def _key(systems: Sequence[tuple[int, str]], x: float) -> tuple[tuple[Element, ...], float]:
    """Return the legend of systems, the first ten by name, and its width."""
    entries = []
    for k, (i, name) in enumerate(systems[: len(COLORS)]):
        sample = line([(0, 0), (24, 0)], f"series-{k}", dash=DASHES[k], stroke_width=1.8)
        shape = point(12, 0, SHAPES[k], f"series-{k}", radius=3)
        entries.append([of_system(i, sample, shape, text(30, 0, name, limit=180))])
    names = [name for _, name in systems[: len(COLORS)]]
    if others := len(systems) - len(entries):
        names.append(f"{others:,} more")
        entries.append([line([(0, 0), (24, 0)], "muted", stroke_opacity=0.35), text(30, 0, names[-1])])
    return legend(x, 18, entries), 34 + room_for(names)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def depths_needed(
    positions: Positions, systems: Sequence[str] | None = None, *, policies: Policies | None = None
) -> Drawing:
    """Draw the median depth at which 75, 95 and 100 % of the relevant documents are found, for each run.

    A point is left out if half of the lists or more end before that.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> depths_needed(positions).label
    'Median depth needed for 75 %, 95 % and 100 % of the relevant documents, for 2 runs'
    """
    names = positions.systems if systems is None else systems
    rows = depth_rows(positions, names, policies=policies)
    recalls = [_share(recall) for recall in RECALLS]
    frame = Area(room_for(names) + 12, 4, 320, ROW * max(len(names), 3))
    x = Logarithmic(max([2.0, *(row["depth"] for row in rows)]), frame.left, frame.right)
    bands = Bands(len(names), frame.top, ROW)
    marks: list[list[Element]] = [[] for _ in names]
    for row in rows:
        i, k = names.index(row["run"]), recalls.index(row["recall"])
        tip = f"{brief(row['run'])}: {row['recall']} within {row['depth']:,g}, reached in {_percent(row['reached'])}"
        at = x(row["depth"]), bands(i) + 5 * (k - 1)  # beside each other, where two are equal
        marks[i].append(point(*at, SHAPES[k], f"series-{k}", radius=3, title=tip))
    entries = [[point(0, 0, SHAPES[k], f"series-{k}"), text(10, 0, each)] for k, each in enumerate(recalls)]
    key = text(frame.right + 24, frame.top + 6, "recall", bold=True), *legend(frame.right + 30, frame.top + 24, entries)
    around = *axis_below(frame, x, "median depth needed"), *names_beside(frame, bands, names), *key
    said = f"{', '.join(recalls[:-1])} and {recalls[-1]} of the relevant documents"
    label = f"Median depth needed for {said}, for {counted(len(names), 'run')}"
    drawn = (of_system(i, *each) for i, each in enumerate(marks) if each)
    return Drawing(frame.right + 84, frame.bottom + BELOW, (*around, *drawn), label)


def _share(recall: float) -> str:
    return f"{100 * recall:.0f} %"


def depth_rows(
    positions: Positions, systems: Sequence[str], *, policies: Policies | None = None
) -> list[dict[str, Any]]:
    """Give one row for each system and recall: the median depth, and the share of lists that reach it.

    A row with an infinite depth is left out.
    """
    policies = policies or Policies()
    projection, rankings = positions.at_level(policies.level), positions.counted(policies)
    rows = []
    for recall in RECALLS:
        medians, shares = median_depths(projection, recall, rankings)
        for name in systems:
            s = system_index(positions, name)
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
    shown = [Bar(row["measure"], row[column], _percent(row[column])) for row in rows if row[column] is not None]
    label = f"{PANELS[column]}: {', '.join(f'{row.name} {row.text}' for row in shown)}"
    chance = 0.5 if column == "agreement" else None
    return bars(shown, PANELS[column], label, width=280, is_share=True, line_at=chance) if shown else None


def _recall_of_page(payload: Mapping[str, Any]) -> Drawing:
    names = (f"{letters} {name}" for letters, name in zip(payload["labels"], payload["systems"], strict=True))
    recall = payload["recall"]
    return draw_recall(recall["depths"], list(zip(names, recall["mean"], strict=True)))


def _measures(findings: Findings, _comparison: Comparison) -> Drawing:
    return agreement_and_ties(findings.positions, findings.scores.measures, policies=findings.policies)


def _recall(findings: Findings) -> Drawing:
    return recall_curves(findings.positions, findings.best_first, policies=findings.policies)


def _depth(findings: Findings) -> Drawing:
    return depths_needed(findings.positions, findings.best_first, policies=findings.policies)


CHARTS = (
    Chart("measures", of_comparison(_measures)),
    Chart("recall", _recall, of_payload=_recall_of_page),
    Chart("depth", _depth),
    Chart("agreement", of_payload=lambda payload: draw_shares(payload["study"], "agreement")),
    Chart("ties", of_payload=lambda payload: draw_shares(payload["study"], "tied")),
)
"""The charts of measures, and of what is found by depth."""

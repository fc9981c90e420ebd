"""Charts of recall and of measures: how deep one must read, and how the measures behave on these data.

Belongs here: drawings over all requests.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexirecall.manifest import Policies
from lexirecall.names import Names
from lexirecall.page.charts.requests import ROW, system_index
from lexirecall.page.findings import agreements, with_lexirecall
from lexirecall.page.recall import RECALLS, depths_to, mean_recall, median_depths
from lexirecall.plots import COLORS, altair, bars, data, label, lines, series_scales
from lexirecall.positions import Positions
from lexirecall.verbs.given import asked_measures


def recall_curves(
    positions: Positions, systems: Sequence[str] | None = None, *, policies: Policies | None = None
) -> Any:
    """Draw the mean recall of up to ten systems over the depth of the list; without names, of the first ten.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> [layer["mark"]["type"] for layer in recall_curves(positions).to_dict()["layer"]]
    ['line', 'point']
    """
    chosen = positions.systems[: len(COLORS)] if systems is None else systems
    policies = policies or Policies()
    depths = depths_to(int(positions.num_retrieved.max(initial=1)))
    means = mean_recall(positions.at_level(policies.level), depths, positions.counted(policies))
    rows = [
        {"run": label(name), "depth": depth, "recall": recall}
        for name in chosen
        for depth, recall in zip(depths, means[system_index(positions, name)].tolist(), strict=True)
        if np.isfinite(recall)
    ]
    return lines(
        rows, x="depth", y="recall", series="run", names=[*map(label, chosen)], x_title="depth of the list",
        y_title="mean recall", log_x=True, size=(400, 260),
    )  # fmt: skip


def depths_needed(
    positions: Positions, systems: Sequence[str] | None = None, *, policies: Policies | None = None
) -> Any:
    """Draw the median depth at which 75, 95 and 100 % of what is relevant are found, for each system.

    There is no point where half of the lists or more end before that.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> depths_needed(positions).to_dict()["mark"]["type"]
    'point'
    """
    alt = altair()
    names = positions.systems if systems is None else systems
    labels = [f"{100 * recall:.0f} %" for recall in RECALLS]
    scales = series_scales(labels)
    shown, across = [*map(label, names)], alt.Scale(type="log", domainMin=1)
    return (
        alt.Chart(data(depth_rows(positions, names, policies=policies)), width=320, height=ROW * len(names))
        .mark_point(filled=True, size=50, opacity=1)
        .encode(
            x=alt.X("depth:Q", scale=across, title="median depth needed"),
            y=alt.Y("run:N", sort=shown, scale=alt.Scale(domain=shown), title=None, axis=alt.Axis(labelLimit=240)),
            color=alt.Color("recall:N", scale=scales["color"], sort=labels, title="recall"),
            shape=alt.Shape("recall:N", scale=scales["shape"], sort=labels, title="recall"),
        )
    )


def depth_rows(
    positions: Positions, systems: Sequence[str], *, policies: Policies | None = None
) -> list[dict[str, Any]]:
    """Give one row for each system and recall: the median depth, left out if infinite, and how many lists reach it."""
    policies = policies or Policies()
    projection, counted = positions.at_level(policies.level), positions.counted(policies)
    rows = []
    for recall in RECALLS:
        medians, shares = median_depths(projection, recall, counted)
        for name in systems:
            s = system_index(positions, name)
            row = {"run": label(name), "recall": f"{100 * recall:.0f} %", "reached": float(shares[s])}
            rows += [{**row, "depth": float(medians[s])}] if np.isfinite(medians[s]) else []
    return rows


def agreement_and_ties(positions: Positions, measures: Names | None = None, *, policies: Policies | None = None) -> Any:
    """Draw, for each measure, its agreement with LexiRecall and its share of ties, pooled over pairs and requests.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> len(agreement_and_ties(positions, ["AP", "RR"]).to_dict()["hconcat"])
    2
    """
    titles = {
        "agreement": "share of decisions on which LexiRecall takes the same side",
        "tied": "share of tied pairs of rankings",
    }
    asked = with_lexirecall(asked_measures(measures, has_providers=positions.providers is not None))
    rows = list(agreements(positions, asked, policies or Policies()))
    panels = []
    for column, title in titles.items():
        defined = [{**row, "measure": label(row["measure"])} for row in rows if row[column] is not None]
        order = [row["measure"] for row in defined]
        size = (280, ROW * len(order))
        panels.append(bars(defined, x=column, y="measure", order=order, x_title=title, domain=(0, 1), size=size))
    return altair().hconcat(*panels)

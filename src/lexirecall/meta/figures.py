"""Figures: the tables of a study as charts.

Belongs here: which chart shows what. One collection is shown as bars, several as boxes by task and depth label, as in
the paper. The loss of labels is shown as lines with bands.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from lexirecall.meta.degradation import REMOVALS
from lexirecall.meta.digest import TablesOfRows, panels
from lexirecall.plots import altair, bars, boxes, label, lines
from lexirecall.svg import COLORS
from lexirecall.text import visible

_BARS = {
    "agreement": ("agreement", "agreement", "agreement with LexiRecall"),
    "ties": ("ties", "ties", "share of ties"),
    "sensitivity-sign": ("sensitivity", "sign", "share of pairs told apart (sign test)"),
    "sensitivity-hsd-signs": ("sensitivity", "hsd_signs", "share of pairs told apart (HSD on signs)"),
    "sensitivity-paired": ("sensitivity", "paired", "share of pairs told apart (own test)"),
    "sensitivity-hsd": ("sensitivity", "hsd", "share of pairs told apart (HSD)"),
    "halves-direction": ("halves", "same_direction", "share of pairs ordered alike by two halves of the queries"),
    "halves-significance": ("halves", "both_significant", "share of pairs told apart by both halves of the queries"),
}
"""Table, column and axis title of each figure."""
_DEGRADED = {
    "degradation-ties": ("ties", "share of ties"),
    "degradation-agreement": ("agreement", "share decided as with all labels"),
    "degradation-agreement-untied": ("agreement_untied", "share of decisions that stay"),
}
_REMOVAL = {"uniform": "removed at random", "frequency": "removed by frequency"}


def charts(tables: TablesOfRows) -> dict[str, Any]:
    """Return the charts by the name of their file; only those that have numbers."""
    drawn, names = {}, panels(tables["data"])
    for name, (table, column, title) in _BARS.items():
        if rows := _defined(tables[table], column, names):
            drawn[name] = _compared(rows, column, title, is_one=len(names) == 1)
    for name, (column, title) in _DEGRADED.items():
        if rows := _defined(tables["degradation"], column, names):
            drawn[name] = _degraded(rows, column, title)
    return drawn


def _defined(rows: Sequence[Mapping[str, Any]], column: str, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows that have a value, with their panels and without the names of collections."""
    wanted = ("measure", "removal", "removed", column, f"{column}_low", f"{column}_high")
    keys = [key for key in wanted if rows and key in rows[0]]
    order = {name: place for place, name in enumerate(names)}
    defined = sorted((row for row in rows if row[column] is not None), key=lambda row: order[row["collection"]])
    return [
        {key: row[key] for key in keys}
        | {"panel": label(names[row["collection"]]), "task": visible(row["task"]), "measure": label(row["measure"])}
        for row in defined
    ]


def _compared(rows: Sequence[Mapping[str, Any]], column: str, title: str, *, is_one: bool) -> Any:
    order = list(dict.fromkeys(row["measure"] for row in rows))
    if is_one:
        size = (320, 22 * len(order))
        return bars(rows, x=column, y="measure", order=order, x_title=title, domain=(0, 1), size=size,
                    ends=(f"{column}_low", f"{column}_high") if f"{column}_low" in rows[0] else None)  # fmt: skip
    drawn = [
        boxes(task_rows, x="measure", y=column, order=order, y_title=title, column="panel", columns=_panels(task_rows))
        for task_rows in _by_task(rows)
    ]
    return drawn[0] if len(drawn) == 1 else altair().vconcat(*drawn).resolve_scale(y="shared")


def _panels(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["panel"] for row in rows))


def _by_task(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return the rows of each task: its depths are side by side, and the tasks below each other."""
    return [[row for row in rows if row["task"] == task] for task in dict.fromkeys(row["task"] for row in rows)]


def _degraded(rows: Sequence[Mapping[str, Any]], column: str, title: str) -> Any:
    """Draw a panel for each panel of collections and way of removal, with bands of the intervals over queries."""
    alt = altair()
    names = list(dict.fromkeys(row["measure"] for row in rows))[: len(COLORS)]
    every = _panels(rows)

    def panel(removal: str, name: str) -> Any:
        panel_rows = [row for row in rows if row["panel"] == name and row["removal"] == removal]
        return lines(
            _means(panel_rows, "removed", column, names), x="removed", y=column, series="measure", names=names,
            x_title="share of labels removed", y_title=title, size=(240, 200), band=("low", "high"),
            title=_REMOVAL[removal] if len(every) == 1 else f"{name}, {_REMOVAL[removal]}",
        )  # fmt: skip

    if len(every) == 1:
        return alt.hconcat(*(panel(removal, every[0]) for removal in REMOVALS)).resolve_scale(y="shared")
    rows_of_panels = (
        alt.hconcat(*(panel(removal, name) for name in _panels(task_rows)))
        for task_rows in _by_task(rows)
        for removal in REMOVALS
    )
    return alt.vconcat(*(row.resolve_scale(y="shared") for row in rows_of_panels)).resolve_scale(y="shared")


def _means(rows: Sequence[Mapping[str, Any]], x: str, column: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the means over collections, and of the ends of their intervals; without intervals, the value itself."""
    groups: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["measure"] in names:
            groups.setdefault((row["measure"], row[x]), []).append(row)
    return [
        {"measure": name, x: at, column: fmean(row[column] for row in group)}
        | {end: fmean(_end(row, column, end) for row in group) for end in ("low", "high")}
        for (name, at), group in groups.items()
    ]


def _end(row: Mapping[str, Any], column: str, end: str) -> float:
    found = row[f"{column}_{end}"]
    return float(row[column] if found is None else found)

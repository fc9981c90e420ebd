"""Figures: the tables of a study as charts.

Belongs here: which chart shows what. One collection is shown as bars, several as boxes by depth label, as in the paper.
The loss of labels is shown as lines.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from lexirecall.meta.data import LABELS
from lexirecall.meta.degradation import REMOVALS
from lexirecall.meta.digest import TablesOfRows
from lexirecall.plots import altair, bars, boxes, label, lines
from lexirecall.svg import COLORS

_BARS = {
    "agreement": ("agreement", "agreement", "agreement with LexiRecall"),
    "ties": ("ties", "ties", "share of ties"),
    "sensitivity-paired": ("sensitivity", "paired", "share of pairs told apart (paired)"),
    "sensitivity-hsd": ("sensitivity", "hsd", "share of pairs told apart (HSD)"),
}
"""Table, column and axis title of each figure."""
_LINES = {
    "degradation-ties": ("ties", "share of ties"),
    "degradation-agreement": ("agreement", "share decided as with all labels"),
    "degradation-agreement-untied": ("agreement_untied", "share of decisions that stay"),
}
_REMOVAL = {"uniform": "removed at random", "frequency": "removed by frequency"}


def charts(tables: TablesOfRows) -> dict[str, Any]:
    """Return the charts by the name of their file; only those that have numbers."""
    drawn = {}
    for name, (table, column, title) in _BARS.items():
        if rows := _defined(tables[table], column):
            drawn[name] = _compared(rows, column, title, is_one=len(tables["data"]) == 1)
    for name, (column, title) in _LINES.items():
        if rows := _defined(tables["degradation"], column):
            drawn[name] = _degraded(rows, column, title)
    return drawn


def _defined(rows: Sequence[Mapping[str, Any]], column: str) -> list[dict[str, Any]]:
    """Return the rows that have a value, without the names of collections, which may hold anything."""
    keys = [key for key in ("label", "measure", "removal", "removed", column) if rows and key in rows[0]]
    defined = ({key: row[key] for key in keys} for row in rows if row[column] is not None)
    return [{**row, "measure": label(row["measure"])} for row in defined]


def _compared(rows: Sequence[Mapping[str, Any]], column: str, title: str, *, is_one: bool) -> Any:
    order = list(dict.fromkeys(row["measure"] for row in rows))
    if is_one:
        size = (320, 22 * len(order))
        return bars(rows, x=column, y="measure", order=order, x_title=title, domain=(0, 1), size=size)
    labels = [label for label in LABELS if any(row["label"] == label for row in rows)]
    return boxes(rows, x="measure", y=column, order=order, y_title=title, column="label", columns=labels)


def _degraded(rows: Sequence[Mapping[str, Any]], column: str, title: str) -> Any:
    """Draw a panel for each depth label and way of removal; a line is the mean over the collections of the label."""
    alt = altair()
    names = list(dict.fromkeys(row["measure"] for row in rows))[: len(COLORS)]
    labels = [label for label in LABELS if any(row["label"] == label for row in rows)]

    def panel(removal: str, label: str) -> Any:
        own = [row for row in rows if row["label"] == label and row["removal"] == removal]
        return lines(
            _means(own, column, names), x="removed", y=column, series="measure", names=names,
            x_title="share of labels removed", y_title=title, size=(240, 200),
            title=_REMOVAL[removal] if len(labels) == 1 else f"{label}, {_REMOVAL[removal]}",
        )  # fmt: skip

    if len(labels) == 1:
        return alt.hconcat(*(panel(removal, labels[0]) for removal in REMOVALS)).resolve_scale(y="shared")
    rows_of_panels = (alt.hconcat(*(panel(removal, label) for label in labels)) for removal in REMOVALS)
    return alt.vconcat(*(row.resolve_scale(y="shared") for row in rows_of_panels)).resolve_scale(y="shared")


def _means(rows: Sequence[Mapping[str, Any]], column: str, names: Sequence[str]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, float], list[float]] = {}
    for row in rows:
        if row["measure"] in names:
            groups.setdefault((row["measure"], row["removed"]), []).append(row[column])
    return [{"measure": name, "removed": removed, column: fmean(own)} for (name, removed), own in groups.items()]

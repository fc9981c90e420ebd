"""Layout: the tables of a study as they go into a paper.

Belongs here: which numbers a reader sees together, rounded, with their intervals. Not here: the numbers for programs,
which are all in the rows; how a table becomes Markdown or LaTeX (tables).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lexirecall.meta.digest import TablesOfRows, panels
from lexirecall.meta.halves import QUANTITIES
from lexirecall.tables import Table, number, whole
from lexirecall.verbs.averages import with_interval

DECIMALS = 3
_SHOWN: dict[str, tuple[str, ...]] = {
    "data": ("queries", "runs", "teams", "relevant", "retrieved", "recall"),
    "agreement": ("measure", "agreement", "separated", "pairs", "queries"),
    "ties": ("measure", "ties", "compared", "pairs", "queries"),
    "correlation": ("a", "b", "tau", "runs", "queries"),
    "sensitivity": ("measure", "sign", "hsd_signs", "test", "paired", "hsd", "pairs", "queries"),
    "halves": ("measure", *QUANTITIES, "splits", "queries", "pairs"),
    "degradation": (
        "removal", "removed", "measure", "ties", "agreement", "agreement_untied", "labels", "samples", "pairs",
        "queries",
    ),
    "contrasts": ("quantity", "a", "b", "difference", "over", "queries"),
}  # fmt: skip
"""The columns that people see; those of an interval are shown beside their number."""
_TEXTS = ("collection", "panel", "measure", "a", "b", "quantity", "removal", "test", "over")


def laid_out(tables: TablesOfRows, name: str) -> Table:
    """Return one of the tables for people: panel by panel, numbers rounded, intervals in brackets.

    >>> row = {"collection": "web", "task": "", "label": "deep", "measure": "AP", "compared": 9, "pairs": 3}
    >>> row |= {"queries": 3, "ties": 0.25, "ties_low": 0.1, "ties_high": 0.4}
    >>> print(laid_out({"data": [row], "ties": [row]}, "ties").to_text())
    panel  collection  measure                  ties  compared  pairs  queries
    deep   web         AP       0.250 [0.100, 0.400]         9      3        3
    """
    names = panels(tables["data"])
    order = list(names)
    rows = sorted(tables[name], key=lambda row: order.index(row["collection"]))
    header = ("panel", "collection", *_SHOWN[name])
    cells = tuple((names[row["collection"]], row["collection"], *_cells(row, _SHOWN[name])) for row in rows)
    texts = frozenset(c for c, column in enumerate(header) if column in _TEXTS)
    return Table(tuple(column.replace("_", " ") for column in header), cells, numbers_from=0, texts=texts)


def _cells(row: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    return [_cell(row, column) for column in columns]


def _cell(row: Mapping[str, Any], column: str) -> str:
    if column == "agreement" and row.get("by_definition") and row[column] is not None:
        return f"{_text(row[column])} by definition"
    ends = ("low", "high") if column == "difference" else (f"{column}_low", f"{column}_high")
    return with_interval(_text(row[column]), *(_text(row.get(end)) for end in ends))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return number(value, DECIMALS)
    return whole(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)

"""Lines that coincide: drawn once, with the names of all of them.

Belongs here: finding them. Not here: drawing (plots).
"""

from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 0.004
"""Values closer than this are one line: in a drawing 220 points high, from 0 to 1, a line is wider than that."""


def coinciding(
    rows: Sequence[Mapping[str, Any]], value: str, names: Sequence[str], series: str = "measure"
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows with lines that coincide everywhere merged, and the names of the lines that remain.

    A line joins the first before it that it coincides with. The rows of all series must come in the same order.

    >>> rows = [{"measure": "AP", "tied": 0.5}, {"measure": "LR", "tied": 0.501}, {"measure": "TSE", "tied": 1.0}]
    >>> coinciding(rows, "tied", ["AP", "LR", "TSE"])
    ([{'measure': 'AP, LR', 'tied': 0.5}, {'measure': 'TSE', 'tied': 1.0}], ['AP, LR', 'TSE'])
    """
    values = {name: [row[value] for row in rows if row[series] == name] for name in names}
    groups: dict[str, list[str]] = {}
    for name in names:
        first = next((other for other in groups if _is_same(values[other], values[name])), name)
        groups.setdefault(first, []).append(name)
    labels = {first: ", ".join(group) for first, group in groups.items()}
    kept = [{**row, series: labels[row[series]]} for row in rows if row[series] in labels]
    return kept, list(labels.values())


def _is_same(x: Sequence[float], y: Sequence[float]) -> bool:
    return all(abs(a - b) < WIDTH for a, b in zip(x, y, strict=True))

"""Figure: leximin, which compares two sorted vectors from the bottom up.

Belongs here: the paper's example and its drawing.
"""

from collections.abc import Sequence
from typing import Any

from lexirecall import theory
from lexirecall.paper.drawing import INK, MOVED, WHITE, Sheet, Word, column
from lexirecall.paper.exhibit import Exhibit
from lexirecall.tables import Table

X, Y = (0.50, 0.25, 0.12, 0.04, 0.01), (0.90, 0.40, 0.07, 0.04, 0.01)
"""The last three values of each are the paper's; above them y is ahead, and still does not win."""
SIGNS = {1: ">", 0: "=", -1: "<"}
UNSEEN = "#B0B0B0"
"""The colour of values that no longer matter."""
VERDICTS = {">": "x is preferred", "<": "y is preferred", "=": "a tie"}
HIGH, WIDE, TOP = 24, 60, 36
COLUMNS = {"x": 66, "y": 186}


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Compare the vectors of the example.

    >>> [row["sign"] for row in exhibit(0).rows]
    [None, None, '>', '=', '=']

    Reference: DiazEM25, lexicographic recall.
    """
    rows = compared(X, Y)
    decides = next(row for row in rows if row["sign"])
    return Exhibit(
        name="leximin",
        title="leximin: two sorted vectors, compared from the bottom up",
        columns=("level", "x", "y", "sign"),
        rows=tuple(rows),
        table=Table(
            ("level", "x", "", "y"), tuple((str(row["level"]), *_line(row)) for row in rows), texts=frozenset({2})
        ),
        charts={"leximin": lambda: chart(rows)},
        remarks=(
            f"The lowest values tie. The first pair that differs, {decides['x']:.2f} {decides['sign']} "
            f"{decides['y']:.2f}, decides: {VERDICTS[SIGNS[theory.leximin(X, Y)]]}. The values above it do not "
            "matter.",
        ),
    )


def _line(row: dict[str, Any]) -> tuple[str, str, str]:
    return f"{row['x']:.2f}", row["sign"] or "", f"{row['y']:.2f}"


def compared(x: Sequence[float], y: Sequence[float]) -> list[dict[str, Any]]:
    """Return the sorted vectors, level by level, with the sign of each comparison that leximin makes.

    >>> [row["sign"] for row in compared([3, 1], [2, 2])], [row["sign"] for row in compared([1, 2], [2, 1])]
    ([None, '<'], ['=', '='])
    """
    pairs = list(zip(sorted(x, reverse=True), sorted(y, reverse=True), strict=True))
    last = max((k for k, (a, b) in enumerate(pairs) if a != b), default=0)
    return [
        {"level": k + 1, "x": a, "y": b, "sign": SIGNS[theory.leximin([a], [b])] if k >= last else None}
        for k, (a, b) in enumerate(pairs)
    ]


def chart(rows: list[dict[str, Any]]) -> Any:
    """Draw the two vectors as columns, and between them how each pair compares, if leximin compares it.

    >>> len(chart(compared(X, Y)).to_dict()["layer"])
    5
    """
    ys = [TOP + HIGH * k for k in range(len(rows))]
    sheet = Sheet(226, ys[-1] + 42)
    signs = [row["sign"] for row in rows if row["sign"]]
    decides = len(rows) - len(signs)
    fills = [MOVED if k == decides else WHITE for k in range(len(rows))]
    middle = sum(COLUMNS.values()) / 2
    colors = [INK if row["sign"] else UNSEEN for row in rows]
    values: list[Word] = [
        (at, y, f"{row[side]:.2f}", color)
        for side, at in COLUMNS.items()
        for row, y, color in zip(rows, ys, colors, strict=True)
    ]
    heads = [(at, TOP - 24, side) for side, at in COLUMNS.items()]
    return sheet.layered(
        sheet.boxes([box for at in COLUMNS.values() for box in column(at, ys, fills)], (WIDE, HIGH)),
        sheet.texts(values, fontSize=13),
        sheet.texts(column(middle, ys[decides:], signs), fontSize=15, fontWeight="bold"),
        sheet.texts([*heads, (middle, ys[-1] + 28, VERDICTS[signs[0]])], fontSize=13),
        sheet.arrows([(16, ys[-1] + 8, 16, ys[decides] - 8)], strokeWidth=1.5),
    )

"""Our numbers beside the paper's: a table with two lines for each of its rows, and the same for programs.

Belongs here: the layout of values that are compared with the paper's. Not here: the values.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from lexirecall.paper.exhibit import PaperValue
from lexirecall.tables import Table, number

Cells = Mapping[int, Mapping[str, PaperValue]]
"""The values, by the number at the head of a row, and by column."""
COLUMNS = ("measure", "value", "paper", "tolerance", "differs")
"""The columns of the rows for programs, after the number at the head."""


def beside(corner: str, cells: Cells) -> Table:
    """Lay out what we find above what the paper prints; ! where they differ by more than the tolerance.

    >>> print(beside("m", {10: {"Rprec": PaperValue(0.8257, 0.825), "TSE": PaperValue(0.0053, 0.005)}}).to_text())
    m           Rprec       TSE
    10  ours   0.8257 !  0.0053
        paper   0.825     0.005
    <BLANKLINE>
    ! farther apart than rounding, or chance in two samples, explains
    """
    rows: list[tuple[str, ...]] = []
    marks: dict[tuple[int, int], str] = {}
    for key, held in cells.items():
        marks |= {(len(rows), column): "!" for column, value in enumerate(held.values(), 2) if value.differs}
        rows.append((f"{key:,}", "ours", *(number(value.ours, value.decimals) for value in held.values())))
        rows.append(("", "paper", *map(_printed, held.values())))
    header = (corner, "", *next(iter(cells.values())))
    footnote = "! farther apart than rounding, or chance in two samples, explains" if marks else ""
    return Table(header, tuple(rows), numbers_from=2, marks=marks, footnote=footnote)


def _printed(value: PaperValue) -> str:
    return "" if value.theirs is None else f"{value.theirs:.{value.paper_decimals}f}"


def rows_of(corner: str, cells: Cells) -> tuple[dict[str, Any], ...]:
    """Return a row for each value, for programs.

    >>> rows_of("m", {10: {"Rprec": PaperValue(0.8257, 0.825)}})
    ({'m': 10, 'measure': 'Rprec', 'value': 0.8257, 'paper': 0.825, 'tolerance': 0.0005, 'differs': True},)
    """
    return tuple(
        {corner: key} | dict(zip(COLUMNS, (name, v.ours, v.theirs, v.tolerance, v.differs), strict=True))
        for key, held in cells.items()
        for name, v in held.items()
    )


def tolerance_of_shares(ours: float, theirs: float, sample_size: int) -> float:
    """Return how far apart the shares of two independent samples of one size may be, if one share is rounded.

    It is 3.5 σ of their difference, sqrt(2 p (1 - p) / N) for the mean p of the two, and .0005.

    >>> round(tolerance_of_shares(0.55, 0.55, 10_000), 4), tolerance_of_shares(0.0, 0.0, 10_000)
    (0.0251, 0.0005)
    """
    share = (ours + theirs) / 2
    return 3.5 * sqrt(2 * share * (1 - share) / sample_size) + 0.0005

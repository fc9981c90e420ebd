"""Hasse diagrams: how the two orders on the sets of five relevant documents are drawn.

Belongs here: where the sets are placed, how they look, the lines between them and the legend. Not here: which set is
above which (partial_order).

A set that can be reached upwards is at least as well off. A full line means that a document sinks by one; a dashed line
means one document less.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexirecall.paper.drawing import INK, WHITE, Box, Line, Sheet, column, named

Levels = tuple[int, ...]
"""A set of relevant documents, counted from the top, ascending."""
Point = tuple[float, float]

# Chosen by hand: every line goes down, few cross, and none passes behind a set that it does not join.
GRIDS: dict[str, dict[str, Point]] = {
    "users": {
        "1": (0, 0.7), "2": (0, 1.7), "3": (0, 3.7), "4": (0, 5.7), "5": (0, 8),
        "12": (1, 0.7), "13": (1, 1.7), "23": (1, 2.7), "14": (2, 2.7), "24": (2, 3.7), "34": (2, 4.7),
        "15": (3, 3.7), "25": (3, 4.7), "35": (3, 5.7), "45": (3, 6.9),
        "123": (4.75, 0), "124": (4.75, 1), "125": (4.75, 2), "134": (5.75, 2), "135": (4.9, 3), "145": (4.9, 4),
        "234": (5.9, 3), "235": (5.9, 4), "245": (5.9, 5), "345": (5.9, 6),
        "1234": (7.1, 1.4), "1235": (7.1, 2.4), "1245": (7.1, 3.4), "1345": (7.1, 4.4), "2345": (7.1, 5.4),
        "12345": (8.1, 4.4),
    },
    "providers": {
        "1": (0, 10), "2": (0, 11), "3": (0, 12), "4": (0, 13), "5": (0, 14),
        "12": (1.5, 6), "13": (1.5, 7), "14": (1, 8), "23": (2, 8), "15": (1, 9), "24": (2, 9), "25": (1, 10),
        "34": (2, 10), "35": (1.5, 11), "45": (1.5, 12),
        "123": (3.2, 3), "124": (3.2, 4), "125": (2.7, 5), "134": (3.7, 5), "135": (2.7, 6), "234": (3.7, 6),
        "145": (2.7, 7), "235": (3.7, 7), "245": (3.2, 8), "345": (3.2, 9),
        "1234": (4.6, 1), "1235": (4.6, 2), "1245": (4.6, 3), "1345": (4.6, 4), "2345": (4.6, 5),
        "12345": (5.5, 0),
    },
}  # fmt: skip
STEPS = {"users": (42, 50), "providers": (46, 34)}
"""Pixels from column to column, and from row to row."""
NODE = (37.0, 18.0)
MARGIN = (24, 16)
LEGENDS = {"users": (196, 378), "providers": (6, 12)}
"""Where there is room for the legend."""
LINE = 17


@dataclass(frozen=True, slots=True)
class Look:
    """How a set is drawn."""

    fill: str = WHITE
    color: str = INK
    rim: str = "plain"
    """Or "double", or "dashed"."""


PLAIN = Look()


def places(order: str) -> dict[Levels, Point]:
    """Return where the middle of each set is, in pixels from the top left.

    >>> places("providers")[1, 2, 3, 4, 5], len(places("users"))
    ((277.0, 16), 31)
    """
    across, down = STEPS[order]
    return {
        tuple(map(int, name)): (MARGIN[0] + across * column, MARGIN[1] + down * row)
        for name, (column, row) in GRIDS[order].items()
    }


def diagram(
    order: str,
    covers: Iterable[tuple[Levels, Levels]],
    fewer: str,
    looks: Mapping[Levels, Look] | None = None,
    legend: Sequence[tuple[Look, str]] = (),
) -> Any:
    """Draw an order from its covers; `fewer` says what the dashed lines mean, `legend` what the looks mean.

    >>> diagram("users", [((1,), (2,))], "without its first document").to_dict()["height"]
    432
    """
    at = places(order)
    right, bottom = max(x for x, _ in at.values()), max(y for _, y in at.values())
    end = LEGENDS[order][1] + LINE * (len(legend) + 3)
    sheet = Sheet(round(right + MARGIN[0]), round(max(bottom + MARGIN[1], end)))
    looks = looks or {}
    joined = [((*at[x], *at[y]), len(x) > len(y)) for x, y in covers]
    return sheet.layered(
        *_lines(sheet, joined),
        *_nodes(sheet, [(point, looks.get(levels, PLAIN)) for levels, point in at.items()], NODE),
        sheet.texts(
            [(*point, named(levels), looks.get(levels, PLAIN).color) for levels, point in at.items()], fontSize=11
        ),
        *_legend(sheet, LEGENDS[order], fewer, legend),
    )


def _lines(sheet: Sheet, joined: Sequence[tuple[Line, bool]]) -> list[Any]:
    """Draw lines; a dashed line means one document less."""
    style = {"color": "#555555", "strokeWidth": 1.1}
    return [
        sheet.lines([line for line, is_fewer in joined if not is_fewer], **style),
        sheet.lines([line for line, is_fewer in joined if is_fewer], strokeDash=[4, 3], **style),
    ]


def _nodes(sheet: Sheet, drawn: Sequence[tuple[Point, Look]], size: tuple[float, float]) -> list[Any]:
    """Draw the shapes of sets; a double rim is a second rim around the first."""
    wide, high = size
    style = {"stroke": INK, "cornerRadius": high / 2}
    rims: dict[str, list[Box]] = {"plain": [], "double": [], "dashed": []}
    for point, look in drawn:
        rims[look.rim].append((*point, look.fill))
    layers = [
        (rims["double"], sheet.boxes(rims["double"], (wide + 6, high + 6), **style | {"cornerRadius": high / 2 + 3})),
        (rims["dashed"], sheet.boxes(rims["dashed"], size, **style, strokeDash=[3, 2])),
        (drawn, sheet.boxes([*rims["plain"], *rims["double"]], size, **style)),
    ]
    return [layer for rows, layer in layers if rows]


def _legend(sheet: Sheet, corner: Point, fewer: str, entries: Sequence[tuple[Look, str]]) -> list[Any]:
    """Say what the lines and the looks mean."""
    left, top = corner
    texts = ["at least as well off", "a document sinks by one", fewer, *(text for _, text in entries)]
    ys = [top + LINE * k for k in range(len(texts))]
    samples = [((left, y, left + 26, y), y == ys[2]) for y in ys[1:3]]
    keys = [((left + 13, y), look) for y, (look, _) in zip(ys[3:], entries, strict=True)]
    return [
        sheet.arrows([(left + 13, top + 6, left + 13, top - 6)]),
        *_lines(sheet, samples),
        *(_nodes(sheet, keys, (22, 10)) if keys else []),
        sheet.texts(column(left + 34, ys, texts), align="left", fontSize=11),
    ]

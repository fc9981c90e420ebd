"""Drawing: what the schematics are made of: cells, words, lines and arrows, placed to the pixel.

Belongs here: pieces that more than one schematic needs. Not here: what is drawn.

A sheet counts pixels from its top left corner, rightwards and downwards. A relevant item is a dark cell with white
letters, any other a white one with a grey rim: that survives a grey printer.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lexirecall.plots import COLORS, altair, data

RELEVANT = COLORS[0]
MOVED = COLORS[4]
"""Of a relevant item that the drawing is about: lighter than the others, in grey too."""
PALE = "#CFE3F1"
"""Of a relevant item that was not retrieved."""
WHITE, INK, RIM = "#FFFFFF", "#222222", "#8A8A8A"
HEAD = 6.0
"""How long the head of an arrow is."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of so many pixels; what is put on it is a layer of a chart.

    >>> sheet = Sheet(100, 50)
    >>> box = {"x": 50, "y": 25, "text": "a cell"}
    >>> chart = sheet.layered(sheet.boxes([box], (20, 20)), sheet.texts([box]))
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rect', 'text']
    """

    width: int
    height: int

    def _on(self, rows: Iterable[Row], *, ends: bool) -> Any:
        alt = altair()
        across, down = alt.Scale(domain=[0, self.width], nice=False), alt.Scale(domain=[self.height, 0], nice=False)
        x, y = alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=down, axis=None)
        return alt.Chart(data(rows)).encode(x, y, **({"x2": "x2:Q", "y2": "y2:Q"} if ends else {}))

    def boxes(self, rows: Iterable[Row], size: tuple[float, float], **style: Any) -> Any:
        """Put boxes around their centres x, y, white or with their own `fill`."""
        wide, high = size[0] / 2, size[1] / 2
        corners = [
            {"fill": WHITE, **row}
            | {"x": row["x"] - wide, "x2": row["x"] + wide, "y": row["y"] - high, "y2": row["y"] + high}
            for row in rows
        ]
        fill = altair().Fill("fill:N", scale=None)
        return self._on(corners, ends=True).mark_rect(**{"stroke": RIM, "strokeWidth": 1, **style}).encode(fill)

    def texts(self, rows: Iterable[Row], **style: Any) -> Any:
        """Write `text` around x, y, in ink or its own `color`."""
        color = altair().Color("color:N", scale=None)
        marked = self._on([{"color": INK, **row} for row in rows], ends=False).mark_text(
            **{"fontSize": 12, "baseline": "middle", **style}
        )
        return marked.encode(color, text="text:N")

    def lines(self, rows: Iterable[Row], **style: Any) -> Any:
        """Draw lines from x, y to x2, y2."""
        return self._on(rows, ends=True).mark_rule(**{"color": RIM, "strokeWidth": 1, **style})

    def arrows(self, rows: Iterable[Row], **style: Any) -> Any:
        """Draw lines from x, y to x2, y2, with a head there."""
        alt = altair()
        look = {"color": INK, "strokeWidth": 1, **style}
        aimed = [_aimed(row) for row in rows]
        heads = self._on([{**row, "x": row["x2"], "y": row["y2"]} for row in aimed], ends=False)
        angle = alt.Angle("angle:Q", scale=None)
        return self.lines(aimed, **look) + heads.mark_point(
            shape="triangle", filled=True, size=HEAD**2, color=look["color"], opacity=1
        ).encode(angle)

    def layered(self, *layers: Any) -> Any:
        """Return the layers, one above the other, as a chart."""
        return altair().layer(*layers).properties(width=self.width, height=self.height)


def _aimed(row: Row) -> dict[str, Any]:
    """Return an arrow's line, shortened by half its head, and which way it points, clockwise from the top."""
    across, down = row["x2"] - row["x"], row["y2"] - row["y"]
    left = 1 - HEAD / 2 / math.hypot(across, down)
    angle = math.degrees(math.atan2(across, -down))
    return {**row, "x2": row["x"] + left * across, "y2": row["y"] + left * down, "angle": angle}


def cells(x: float, ys: Iterable[float], fills: Iterable[str]) -> list[dict[str, Any]]:
    """Return a column of cells, one for each y, to be put on a sheet as boxes.

    >>> cells(10, [5, 15], [WHITE, RELEVANT])
    [{'x': 10, 'y': 5, 'fill': '#FFFFFF'}, {'x': 10, 'y': 15, 'fill': '#0072B2'}]
    """
    return [{"x": x, "y": y, "fill": fill} for y, fill in zip(ys, fills, strict=True)]


def letters(boxes: Iterable[Row], texts: Iterable[object]) -> list[dict[str, Any]]:
    """Return what is to be written into boxes: white on the dark ones.

    >>> letters(cells(10, [5, 15], [WHITE, RELEVANT]), ["a", "b"])[1]
    {'x': 10, 'y': 15, 'text': 'b', 'color': '#FFFFFF'}
    """
    return [
        {"x": box["x"], "y": box["y"], "text": str(text), "color": WHITE if box["fill"] == RELEVANT else INK}
        for box, text in zip(boxes, texts, strict=True)
    ]


def named(levels: Iterable[int]) -> str:
    """Return the short name of a set of relevant items, counted from the top.

    >>> named((1, 3, 5))
    '135'
    """
    return "".join(map(str, levels))

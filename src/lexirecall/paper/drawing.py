"""Drawing: the pieces of the schematics: cells, words, lines and arrows, placed to the pixel.

Belongs here: pieces that more than one schematic needs. Not here: what is drawn.

A sheet counts pixels from its top left corner, rightwards and downwards. A relevant document is a dark cell with white
letters. Any other document is a white cell with a grey rim, so a grey printer keeps them apart.

    box  (x, y, fill)     word  (x, y, text) or (x, y, text, color)     line  (x, y, x2, y2)

Boxes and words are placed by their middles.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from lexirecall.plots import altair, data
from lexirecall.svg import COLORS

RELEVANT = COLORS[0]
MOVED = COLORS[4]
"""The colour of a relevant document that the drawing is about: lighter than the others, in grey too."""
PALE = "#CFE3F1"
"""The colour of a relevant document that was not retrieved."""
WHITE, INK, RIM = "#FFFFFF", "#222222", "#8A8A8A"
HEAD = 6.0
"""The length of an arrow's head."""
Box = tuple[float, float, str]
Word = tuple[float, float, str] | tuple[float, float, str, str]
Line = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a given size in pixels; each thing on it is a layer of a chart.

    >>> sheet = Sheet(100, 50)
    >>> chart = sheet.layered(sheet.boxes([(50, 25, WHITE)], (20, 20)), sheet.texts([(50, 25, "a cell")]))
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rect', 'text']
    """

    width: int
    height: int

    def _on(self, columns: str, rows: Iterable[tuple[Any, ...]]) -> Any:
        alt = altair()
        names = columns.split()
        across, down = alt.Scale(domain=[0, self.width], nice=False), alt.Scale(domain=[self.height, 0], nice=False)
        x, y = alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=down, axis=None)
        ends = {end: f"{end}:Q" for end in ("x2", "y2") if end in names}
        return alt.Chart(data(dict(zip(names, row, strict=True)) for row in rows)).encode(x, y, **ends)

    def boxes(self, boxes: Iterable[Box], size: tuple[float, float], **style: Any) -> Any:
        """Draw boxes of one size."""
        wide, high = size[0] / 2, size[1] / 2
        corners = [(x - wide, y - high, x + wide, y + high, fill) for x, y, fill in boxes]
        marked = self._on("x y x2 y2 fill", corners).mark_rect(**{"stroke": RIM, "strokeWidth": 1, **style})
        return marked.encode(altair().Fill("fill:N", scale=None))

    def texts(self, words: Iterable[Word], **style: Any) -> Any:
        """Write words, in ink or in their own colour."""
        colored = [(*word, INK)[:4] for word in words]
        marked = self._on("x y text color", colored).mark_text(**{"fontSize": 12, "baseline": "middle", **style})
        return marked.encode(altair().Color("color:N", scale=None), text="text:N")

    def lines(self, lines: Iterable[Line], **style: Any) -> Any:
        """Draw lines."""
        return self._on("x y x2 y2", lines).mark_rule(**{"color": RIM, "strokeWidth": 1, **style})

    def arrows(self, lines: Iterable[Line], **style: Any) -> Any:
        """Draw lines with a head at their end."""
        look = {"color": INK, "strokeWidth": 1, **style}
        aimed = [_aimed(*line) for line in lines]
        heads = self._on("x y angle", [(*line[2:], angle) for line, angle in aimed]).mark_point(
            shape="triangle", filled=True, size=HEAD**2, color=look["color"], opacity=1
        )
        return self.lines([line for line, _ in aimed], **look) + heads.encode(altair().Angle("angle:Q", scale=None))

    def layered(self, *layers: Any) -> Any:
        """Return the layers, one above the other, as a chart."""
        return altair().layer(*layers).properties(width=self.width, height=self.height)


def _aimed(x: float, y: float, x2: float, y2: float) -> tuple[Line, float]:
    """Return an arrow's line, shortened by half its head, and its direction, clockwise from the top."""
    across, down = x2 - x, y2 - y
    left = 1 - HEAD / 2 / math.hypot(across, down)
    return (x, y, x + left * across, y + left * down), math.degrees(math.atan2(across, -down))


def column(x: float, ys: Iterable[float], marks: Iterable[object]) -> list[Box]:
    """Return a column of boxes by their fills, or of words by their texts, one for each y.

    >>> column(10, [5, 15], [WHITE, RELEVANT])
    [(10, 5, '#FFFFFF'), (10, 15, '#0072B2')]
    """
    return [(x, y, str(mark)) for y, mark in zip(ys, marks, strict=True)]


def ranking(x: float, ys: Iterable[float], positions: Collection[float], moved: float | None = None) -> list[Box]:
    """Return the cells of a ranking, from the top, with its relevant documents at these positions; one may have moved.

    >>> [fill == WHITE for _, _, fill in ranking(10, [5, 15, 25], [1, 3])]
    [False, True, False]
    """
    ys = list(ys)
    places = range(1, len(ys) + 1)
    return column(x, ys, (MOVED if i == moved else RELEVANT if i in positions else WHITE for i in places))


def letters(boxes: Iterable[Box], texts: Iterable[object]) -> list[Word]:
    """Return the words to write into boxes: white on dark ones.

    >>> letters(column(10, [5, 15], [WHITE, RELEVANT]), ["a", "b"])[1]
    (10, 15, 'b', '#FFFFFF')
    """
    return [
        (x, y, str(text), WHITE if fill == RELEVANT else INK) for (x, y, fill), text in zip(boxes, texts, strict=True)
    ]


def named(levels: Iterable[int]) -> str:
    """Return the short name of a set of relevant documents, counted from the top.

    >>> named((1, 3, 5))
    '135'
    """
    return "".join(map(str, levels))

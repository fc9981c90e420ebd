"""SVG: drawings as text, which browsers, papers and notebooks show alike; no other package is needed.

Belongs here: elements, text, marks, and how they become SVG. Not here: where things are drawn (`scales`), what
surrounds them (`axes`), and what is drawn (charts).

A drawing names its colours; the theme says what they are: `file` writes them on white, `page` writes the variables of
a page's style sheet, which follow its light and dark setting. Text is made visible and escaped in `_escaped` alone.

>>> bar = element("rect", x=0, y=0, width=1 / 3, height=9, fill="series-0")
>>> print(Drawing(10, 9, (bar,), "a third").to_svg("page").partition(">")[2])
<rect x="0" y="0" width="0.33" height="9" fill="var(--series-0)"/></svg>
"""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from lexirecall.text import visible

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F", "#8C564B", "#332288")
"""Okabe and Ito's colours, without the yellow that is too pale on paper, and a few more."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 4], [3, 6], [6, 2, 1, 2], [12, 2])
OUTLINES = {
    "circle": (),
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "triangle-up": ((-1.1, 1), (0, -1.1), (1.1, 1)),
    "cross": ((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
              (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    "diamond": ((0, -1.4), (1.1, 0), (0, 1.4), (-1.1, 0)),
    "triangle-down": ((-1.1, -1), (0, 1.1), (1.1, -1)),
    "triangle-right": ((-1, -1.1), (1.1, 0), (-1, 1.1)),
    "triangle-left": ((1, -1.1), (-1.1, 0), (1, 1.1)),
    "stroke": ((-1.4, -0.35), (1.4, -0.35), (1.4, 0.35), (-1.4, 0.35)),
    "arrow": ((0, -1.4), (1.2, 0), (0.4, 0), (0.4, 1.2), (-0.4, 1.2), (-0.4, 0), (-1.2, 0)),
}  # fmt: skip
"""The corners of the shapes of points, around 0; a circle has none."""
SHAPES = tuple(OUTLINES)
INKS = {
    "ink": "#000000", "muted": "#666666", "line": "#E5E5E5", "paper": "#FFFFFF", "side-a": COLORS[0],
    "side-b": COLORS[1], **{f"series-{i}": color for i, color in enumerate(COLORS)},
}  # fmt: skip
"""The colours by name, as files use them."""
SIZE = 11
"""Pixels of ordinary text."""
FONT = "Helvetica, Arial, sans-serif"
_NOT_XML = {"\ufffe": "\\ufffe", "\uffff": "\\uffff"}  # XML must not contain them
_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[]{}/\\ -\"`*"), frozenset("mwMWGOQ@%&+=<>~—…")
_MOST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Element:
    """An element of SVG. Numbers in attributes are rounded, None is left out; fill and stroke are names of inks."""

    tag: str
    attributes: tuple[tuple[str, object], ...]
    children: tuple["Element | str", ...]

    def parts(self, theme: str) -> Iterator[str]:
        """Give the text of the element, piece by piece."""
        yield f"<{self.tag}"
        for name, value in self.attributes:
            if value is not None:
                yield f' {name}="{_attribute(name, value, theme)}"'
        if not self.children:
            yield "/>"
            return
        yield ">"
        for child in self.children:
            yield from [_escaped(child)] if isinstance(child, str) else child.parts(theme)
        yield f"</{self.tag}>"


def element(tag: str, *children: Element | str, **attributes: object) -> Element:
    """Return an element; write a hyphen in the name of an attribute as an underscore.

    >>> "".join(element("text", "a < b", text_anchor="end", dy=None).parts("file"))
    '<text text-anchor="end">a &lt; b</text>'
    """
    return Element(tag, tuple((name.replace("_", "-"), value) for name, value in attributes.items()), children)


def _attribute(name: str, value: object, theme: str) -> str:
    if name in ("fill", "stroke") and value != "none":
        color = INKS[str(value)]
        return color if theme == "file" else f"var(--{value})"
    return _number(float(value)) if isinstance(value, (int, float)) else _escaped(str(value))


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"nothing can be drawn at {value}")
    return f"{round(value, 2) + 0.0:.10g}"  # the sum turns -0 into 0


def _escaped(text: str) -> str:
    return escape("".join(_NOT_XML.get(character, character) for character in visible(text)))


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing: its size, its elements, and what it shows in words, for those who do not see it."""

    width: float
    height: float
    elements: tuple[Element, ...]
    label: str

    def to_svg(self, theme: str = "file") -> str:
        """Return the drawing as the text of an SVG file, or of an element of a page (theme `page`).

        >>> Drawing(4, 2, (), "nothing").to_svg("page")[:64]
        '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2" vie'
        """
        if theme not in ("file", "page"):
            raise ValueError(f"the themes are file and page, not {theme}")
        width, height = math.ceil(self.width), math.ceil(self.height)
        white = element("rect", width=width, height=height, fill="paper")
        ground = (element("title", self.label), white) if theme == "file" else ()
        root = element(
            "svg", *ground, *self.elements, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
            viewBox=f"0 0 {width} {height}", role="img", aria_label=self.label, font_family=FONT, font_size=SIZE,
        )  # fmt: skip
        return "".join(root.parts(theme))

    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook."""
        return self.to_svg()


def in_columns(drawings: Sequence[Drawing], columns: int, label: str, gap: float = 16) -> Drawing:
    """Return one drawing made of several, in rows of `columns` drawings, aligned by column.

    >>> in_columns([Drawing(30, 10, (), "a"), Drawing(50, 20, (), "b")], 2, "both", gap=5).width
    85
    """
    rows = [drawings[i : i + columns] for i in range(0, len(drawings), columns)]
    widths = [max(drawing.width for drawing in drawings[c::columns]) for c in range(min(columns, len(drawings)))]
    parts, top = [], 0.0
    for row in rows:
        for c, drawing in enumerate(row):
            parts.append(shifted(drawing.elements, sum(widths[:c]) + c * gap, top))
        top += max(drawing.height for drawing in row) + gap
    return Drawing(sum(widths) + max(len(widths) - 1, 0) * gap, max(top - gap, 0), tuple(parts), label)


def shifted(elements: Iterable[Element], x: float, y: float) -> Element:
    """Return elements, shifted by x and y."""
    return element("g", *elements, transform=f"translate({_number(x)} {_number(y)})")


def of_run(index: int, *elements: Element) -> Element:
    """Return the marks of a run, identified by its place on the page."""
    return element("g", *elements, data_run=index)


# Text


def text_width(content: str, size: float = SIZE) -> float:
    """Estimate the width of a text in pixels, as it is shown; rather too large than too small.

    >>> text_width("ill") < text_width("abc") < text_width("MWM")
    True
    """
    return size * sum(map(_ems, visible(content)))


def _ems(character: str) -> float:
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 1.02
    if character.isascii():
        return 0.73 if character.isupper() else 0.57
    if unicodedata.combining(character):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(character) in "WF" else 0.75


def fitted(content: str, limit: float, size: float = SIZE) -> str:
    """Return as much of a text as fits into `limit` pixels, visible, with an ellipsis where it is cut.

    >>> fitted("bm25.run", 180), fitted("x" * 99, 40)
    ('bm25.run', 'xxxx…')
    """
    shown = visible(content)
    if text_width(shown, size) <= limit:
        return shown
    room, end = limit - text_width("…", size), 0
    while end < len(shown) and (room := room - size * _ems(shown[end])) >= 0:
        end += 1
    return f"{shown[:end]}…"


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str | None = None,
    ink: str = "ink",
    size: float | None = None,
    angle: float = 0,
    limit: float = math.inf,
    bold: bool = False,
) -> Element:
    """Return a line of text, centred vertically at y; if it is cut, a tooltip shows all of it.

    >>> "".join(text(1, 2, "<b>", anchor="end").parts("page"))
    '<text x="1" y="2" dy="0.35em" text-anchor="end" fill="var(--ink)">&lt;b&gt;</text>'
    """
    cut = fitted(content, limit, size or SIZE)
    whole = visible(content)
    title = () if cut == whole else (element("title", whole[:_MOST_TITLE] + "…" * (len(whole) > _MOST_TITLE)),)
    turned = f"rotate({_number(angle)} {_number(x)} {_number(y)})" if angle else None
    return element(
        "text", cut, *title, x=x, y=y, dy="0.35em", text_anchor=anchor, fill=ink, font_size=size, transform=turned,
        font_weight="bold" if bold else None,
    )  # fmt: skip


# Marks


def rule(x1: float, y1: float, x2: float, y2: float, ink: str, *, dash: str | None = None) -> Element:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=ink, stroke_dasharray=dash)


def bar(x: float, y: float, width: float, height: float, ink: str, **look: object) -> Element:
    """Return a rectangle; width and height may be negative."""
    left, top = min(x, x + width), min(y, y + height)
    return element("rect", x=left, y=top, width=abs(width), height=abs(height), fill=ink, **look)


def line(
    points: Iterable[tuple[float, float]], ink: str, *, dash: Sequence[float] = (), title: str = "", **look: object
) -> Element:
    """Return a line through points, with a tooltip if `title` is given."""
    dashes = " ".join(map(_number, dash)) if dash and dash[1] else None
    places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
    tooltip = (element("title", title),) if title else ()
    return element("polyline", *tooltip, points=places, fill="none", stroke=ink, stroke_dasharray=dashes, **look)


def point(
    x: float, y: float, shape: str, ink: str, *, fill: str | None = None, radius: float = 3.5, title: str = ""
) -> Element:
    """Return a point of one of the `SHAPES`, with a tooltip if `title` is given.

    >>> "".join(point(5, 5, "square", "ink", radius=2).parts("file"))
    '<polygon points="3,3 7,3 7,7 3,7" fill="#000000" stroke="#000000"/>'
    """
    children, paints = (element("title", title),) if title else (), {"fill": fill or ink, "stroke": ink}
    if not OUTLINES[shape]:
        return element("circle", *children, cx=x, cy=y, r=radius, **paints)
    corners = " ".join(f"{_number(x + radius * i)},{_number(y + radius * j)}" for i, j in OUTLINES[shape])
    return element("polygon", *children, points=corners, **paints)

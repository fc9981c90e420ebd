"""Axes: what surrounds the data of a chart and makes them readable.

Belongs here: the frame, its axes with grid and titles, names of rows, and legends. Not here: how numbers
become pixels (`scales`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lexirecall.svg import SIZE, Element, fitted, rule, shifted, text, text_width
from lexirecall.svg.scales import Bands, Linear, Logarithmic

TITLE = 12
"""Pixels of the title of an axis."""
LABEL_LIMIT = 180
"""Pixels beyond which the name of a run or a measure is cut."""


@dataclass(frozen=True, slots=True)
class Area:
    """The rectangle in which data are drawn."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right end."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower end."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The middle, from left to right."""
        return self.left + self.width / 2


BELOW = 42
"""Pixels that an axis with a title needs below its frame."""


def axis_below(frame: Area, scale: Linear | Logarithmic, title: str) -> tuple[Element, ...]:
    """Return the grid, the labels and the title of a horizontal axis; `end_of` says how far the title extends."""
    ticks = [(scale(value), label) for value, label in scale.labelled()]
    return (
        *(rule(x, frame.top, x, frame.bottom, "line") for x, _ in ticks),
        rule(frame.left, frame.bottom, frame.right, frame.bottom, "muted"),
        *(text(x, frame.bottom + 12, label, anchor="middle") for x, label in ticks),
        text(frame.middle, frame.bottom + 30, title, anchor="middle", size=TITLE, limit=2 * frame.middle),
    )


def end_of(frame: Area, title: str, room: float = 24) -> float:
    """Return the right end of what is drawn: the frame plus `room`, or the title below it if that is wider."""
    return max(frame.right + room, frame.middle + min(text_width(title, TITLE) / 2, frame.middle))


def axis_beside(frame: Area, scale: Linear, title: str = "") -> tuple[Element, ...]:
    """Return the grid, the labels and the title, if any, of a vertical axis; the title is cut to fit beside it."""
    ticks = [(scale(value), label) for value, label in scale.ticks(5)]
    turned = frame.left - room_beside(scale, title) + 9, frame.top + frame.height / 2
    limit = frame.height + 2 * frame.top
    return (
        *(rule(frame.left, y, frame.right, y, "line") for y, _ in ticks),
        rule(frame.left, frame.top, frame.left, frame.bottom, "muted"),
        *(text(frame.left - 6, y, label, anchor="end") for y, label in ticks),
        *([text(*turned, title, anchor="middle", size=TITLE, angle=-90, limit=limit)] if title else []),
    )


def room_beside(scale: Linear, title: str) -> float:
    """Return the pixels that a vertical axis needs left of its frame, with or without a title."""
    return (26 if title else 10) + max(text_width(label) for _, label in scale.ticks(5))


def names_beside(frame: Area, bands: Bands, names: Sequence[str], size: float | None = None) -> tuple[Element, ...]:
    """Return the names of rows, left of the frame, as many as there is room for."""
    kept = bands.labelled((size or SIZE) + 1)
    return tuple(text(frame.left - 6, bands(i), names[i], anchor="end", size=size, limit=LABEL_LIMIT) for i in kept)


def room_for(names: Iterable[str], size: float = SIZE) -> int:
    """Return the width of the longest name, as shown, in whole pixels: that keeps edges sharp."""
    return math.ceil(max((min(text_width(name, size), LABEL_LIMIT) for name in names), default=0))


def brief(name: str) -> str:
    """Return a name as the axes show it, for use in sentences."""
    return fitted(name, LABEL_LIMIT)


def legend(x: float, y: float, entries: Iterable[Sequence[Element]], step: float = 16) -> tuple[Element, ...]:
    """Return the entries of a legend below each other, each drawn around (0, 0)."""
    return tuple(shifted(entry, x, y + i * step) for i, entry in enumerate(entries))

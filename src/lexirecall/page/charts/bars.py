"""Bars: one horizontal bar for each name, with its value beside it.

Belongs here: the panel that several charts are made of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lexirecall.svg import Drawing, Element, bar, of_run, rule, text, text_width
from lexirecall.svg.axes import BELOW, TITLE, Area, axis_below, end_of, names_beside, room_for
from lexirecall.svg.scales import Bands, Linear

ROW = 22
"""Pixels from one row to the next."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its length, None for no bar, and the text at its end."""

    name: str
    value: float | None
    text: str = ""
    run: int | None = None
    """The place of the run on the page, for a bar that belongs to one."""


def bars(
    rows: Sequence[Bar],
    title: str,
    label: str,
    *,
    width: float = 180,
    is_share: bool = False,
    line_at: float | None = None,
) -> Drawing:
    """Draw bars from 0, on an axis that ends at a tick, or at 1 for shares; with a dashed line at `line_at`.

    >>> bars([Bar("AP", 0.5, "50 %"), Bar("RR", None)], "ties", "Ties: AP 50 %", is_share=True).height
    90.0
    """
    left = max(room_for(row.name for row in rows) + 12, (text_width(title, TITLE) - width) / 2)
    frame = Area(left, 4.0, width, ROW * max(len(rows), 1))
    ends = frame.left, frame.right
    values = [row.value for row in rows if row.value is not None]
    scale = Linear(0, 1, *ends, is_share=True) if is_share else Linear.over(values, *ends)
    bands = Bands(len(rows), frame.top, ROW)
    drawn = [element for i, row in enumerate(rows) for element in _bar(row, scale, bands(i))]
    across = (
        [] if line_at is None else [rule(scale(line_at), frame.top, scale(line_at), frame.bottom, "muted", dash="4 3")]
    )
    beyond = max((text_width(row.text) for row in rows), default=0.0) + 8
    names = names_beside(frame, bands, [row.name for row in rows])
    return Drawing(
        end_of(frame, title, max(beyond, 16)),
        frame.bottom + BELOW,
        (*axis_below(frame, scale, title), *across, *names, *drawn),
        label,
    )


def _bar(row: Bar, scale: Linear, y: float) -> list[Element]:
    if row.value is None:
        return []
    start, end = scale(0), scale(row.value)
    marks = bar(start, y - 7, end - start, 14, "series-0"), text(max(start, end) + 4, y, row.text)
    return [*marks] if row.run is None else [of_run(row.run, *marks)]

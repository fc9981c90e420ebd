"""Drawings: scales put numbers where they belong, ticks are round, and no text becomes markup or is cut in silence."""

import math
from itertools import pairwise
from xml.etree.ElementTree import Element as Read

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from drawn import SVG, numbers, read_back, texts
from lexirecall.svg import (
    COLORS,
    DASHES,
    INKS,
    OUTLINES,
    SHAPES,
    Drawing,
    Element,
    bar,
    element,
    fitted,
    in_columns,
    line,
    of_run,
    point,
    text,
    text_width,
)
from lexirecall.svg.axes import Area, axis_below, axis_beside, end_of, names_beside, room_beside, room_for
from lexirecall.svg.scales import Bands, Linear, Logarithmic
from lexirecall.text import visible
from report_fixture import HOSTILE, INHERITED

NUMBERS = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-9)
SPANS = st.tuples(NUMBERS, NUMBERS).filter(lambda ends: ends[1] - ends[0] > 1e-6 * max(map(abs, ends)))


def parsed(*elements: Element, theme: str = "file", label: str = "a drawing") -> Read:
    return read_back(Drawing(400, 300, elements, label), theme)


# Scales


@given(span=SPANS, share=st.floats(0, 1))
def test_a_linear_scale_keeps_proportions(span: tuple[float, float], share: float) -> None:
    low, high = span
    scale = Linear(low, high, 300, 20)
    assert [scale(low), scale(high)] == pytest.approx([300, 20])
    assert scale(low + share * (high - low)) == pytest.approx(300 - 280 * share, abs=1e-3)


@given(values=st.lists(NUMBERS, max_size=5))
def test_a_scale_over_numbers_reaches_from_a_tick_to_a_tick_around_all_of_them_and_zero(values: list[float]) -> None:
    scale = Linear.over(values, 0, 100)
    for value in [0.0, *values]:
        assert -1e-6 <= scale(value) <= 100 + 1e-6
    ticks = [value for value, _ in scale.ticks(5)]
    assert 0.0 in ticks
    span = scale.high - scale.low
    assert span <= 2 * (max([0.0, *values]) - min([0.0, *values])) + 1e-12 or span == 1.0  # no room is wasted


@given(span=SPANS, count=st.integers(1, 12))
def test_ticks_are_round_evenly_spaced_and_written_in_full(span: tuple[float, float], count: int) -> None:
    scale = Linear(*span, 0, 500)
    ticks = scale.ticks(count)
    values = [value for value, _ in ticks]
    assert values == pytest.approx(naive.round_numbers(*span, count), rel=1e-9, abs=1e-12 * max(map(abs, span)))
    assert len(values) <= count + 1
    gaps = [b - a for a, b in pairwise(values)]
    assert all(gap == pytest.approx(gaps[0], rel=1e-6) for gap in gaps)
    for value, label in ticks:
        assert float(label.replace("\N{MINUS SIGN}", "-").replace(",", "")) == pytest.approx(
            value, rel=1e-9, abs=1e-300
        )


def test_three_steps_of_a_tenth_are_three_tenths() -> None:
    assert [value for value, _ in Linear(0, 0.7, 0, 1).ticks(7)] == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert [label for _, label in Linear(0, 1, 0, 1, is_share=True).ticks(5)] == [
        "0 %", "20 %", "40 %", "60 %", "80 %", "100 %",
    ]  # fmt: skip


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0], [5e-324]])
def test_nothing_and_next_to_nothing_have_a_scale(values: list[float]) -> None:
    assert Linear.over(values, 0, 100) == Linear(0, 1, 0, 100)


@given(high=st.integers(1, 10**8), position=st.integers(1, 10**8))
def test_a_logarithmic_scale_is_linear_in_the_logarithm(high: int, position: int) -> None:
    scale = Logarithmic(high, 50, 450)
    end = max(high, 2)
    assert [scale(1), scale(end)] == pytest.approx([50, 450])
    position = min(position, end)
    assert scale(position) == pytest.approx(Linear(0, math.log10(end), 50, 450)(math.log10(position)))
    assert [value for value, _ in scale.ticks()] == naive.one_two_five(end)


def boxes(scale: Linear | Logarithmic) -> list[tuple[float, float]]:
    """Return the ends of the labels beside a scale, from left to right."""
    halves = [(scale(value), text_width(label) / 2) for value, label in scale.labelled()]
    return sorted((at - half, at + half) for at, half in halves)


@given(span=SPANS, width=st.integers(60, 900))
def test_labels_of_a_linear_axis_do_not_overlap(span: tuple[float, float], width: int) -> None:
    ends = boxes(Linear(*span, 0, width))
    assert len(ends) <= 2 or all(right < left for (_, right), (left, _) in pairwise(ends))


@given(high=st.integers(1, 10**12), width=st.integers(60, 900))
def test_labels_of_a_logarithmic_axis_do_not_overlap_and_begin_with_one(high: int, width: int) -> None:
    scale = Logarithmic(high, 0, width)
    assert all(right < left for (_, right), (left, _) in pairwise(boxes(scale)))
    assert scale.labelled()[0] == (1, "1")


@given(count=st.integers(1, 200), step=st.floats(3, 40))
def test_names_of_bands_do_not_overlap(count: int, step: float) -> None:
    bands = Bands(count, 10, step)
    assert bands(0) == 10 + step / 2
    kept = [*bands.labelled(12)]
    assert kept[0] == 0
    assert all(bands(b) - bands(a) >= 12 - 1e-9 for a, b in pairwise(kept))
    assert len(kept) == count or step < 12


# Text


@pytest.mark.parametrize("theme", ["file", "page"])
@pytest.mark.parametrize("name", [*HOSTILE, *INHERITED, "\ufffe\uffff", "]]>", "&amp;", "var(--ink)", "\udce9"])
def test_every_name_is_shown_as_text(name: str, theme: str) -> None:
    root = parsed(text(1, 2, name), of_run(3, point(1, 1, "circle", "ink", title=name)), theme=theme, label=name)
    shown = visible(name).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
    assert texts(root) == [shown]
    assert root.attrib["aria-label"] == shown
    assert root.find(f"{SVG}g/{SVG}circle/{SVG}title").text == shown  # type: ignore[union-attr]
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {"svg", "title", "rect", "text", "g", "circle"}


@given(content=st.text(max_size=60), limit=st.floats(20, 300))
def test_what_is_cut_fits_and_says_all_of_itself(content: str, limit: float) -> None:
    cut = fitted(content, limit)
    assert text_width(cut) <= limit
    whole = visible(content)
    (drawn,) = parsed(text(0, 0, content, limit=limit)).iter(f"{SVG}text")
    if cut == whole:
        assert len(drawn) == 0
    else:
        assert cut.endswith("…")
        assert whole.startswith(cut[:-1])
        assert fitted(content, text_width(content)) == whole
        assert drawn[0].tag == f"{SVG}title"


HELVETICA = {
    **dict.fromkeys("0123456789abdeghnopquL", 0.556), **dict.fromkeys("ckJsvxyz", 0.5),
    **dict.fromkeys("tfI. ,:/", 0.278), **dict.fromkeys("ABEKPSVXY", 0.667), **dict.fromkeys("CDHNRUw", 0.722),
    **dict.fromkeys("GOQ", 0.778),
    "m": 0.833, "M": 0.833, "W": 0.944, "i": 0.222, "j": 0.222, "l": 0.222, "r": 0.333, "-": 0.333, "F": 0.611,
    "T": 0.611, "Z": 0.611, "_": 0.556, "%": 0.889, "@": 1.015, "+": 0.584, "(": 0.333, ")": 0.333,
}  # fmt: skip
"""How wide characters of Helvetica are, in ems."""


@given(content=st.text(alphabet=sorted(HELVETICA), min_size=1, max_size=60))
def test_text_is_never_wider_than_estimated_nor_half_as_wide(content: str) -> None:
    true = 11 * sum(HELVETICA[character] for character in content)
    assert true <= text_width(content) <= 2 * true


# Drawings


def test_a_page_gets_variables_and_a_file_gets_colours_on_white() -> None:
    marks = (bar(0, 0, 4, 4, "series-3"), line([(0, 0), (1, 1)], "muted", dash=DASHES[1]))
    page = Drawing(9, 9, marks, "two marks").to_svg("page")
    assert 'fill="var(--series-3)"' in page
    assert 'stroke="var(--muted)"' in page
    assert "#" not in page.replace("http://www.w3.org/2000/svg", "")
    file = parsed(*marks)
    ground, drawn = file.iter(f"{SVG}rect")
    assert (ground.attrib["fill"], drawn.attrib["fill"]) == ("#FFFFFF", COLORS[3])
    assert file.find(f"{SVG}title").text == "a drawing"  # type: ignore[union-attr]
    assert file.find(f"{SVG}polyline").attrib["stroke-dasharray"] == "6 3"  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="the themes are file and page, not dark"):
        Drawing(9, 9, marks, "two marks").to_svg("dark")


def test_a_notebook_shows_the_file() -> None:
    drawing = Drawing(9, 9, (), "nothing")
    assert drawing._repr_svg_() == drawing.to_svg("file")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_has_no_place_is_not_drawn_somewhere(value: float) -> None:
    with pytest.raises(ValueError, match="nothing can be drawn at"):
        Drawing(9, 9, (bar(0, 0, value, 1, "ink"),), "a bar").to_svg()


def test_an_ink_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="red"):
        Drawing(9, 9, (bar(0, 0, 1, 1, "red"),), "a bar").to_svg("page")


def test_bars_that_grow_to_the_left_or_upwards_are_turned_round() -> None:
    root = parsed(bar(10, 20, -4, -6, "ink"))
    drawn = [*root.iter(f"{SVG}rect")][1]
    assert numbers(drawn, "x", "y", "width", "height") == [6, 14, 4, 6]


def test_small_negative_numbers_are_not_minus_nothing() -> None:
    assert "".join(element("g", x=-0.001, y=-0.5, z=1e6).parts("file")) == '<g x="0" y="-0.5" z="1000000"/>'


def test_every_series_differs_in_colour_dash_and_shape() -> None:
    assert len({*COLORS}) == len({tuple(dash) for dash in DASHES}) == len({*OUTLINES.values()}) == len(SHAPES) == 10
    assert {f"series-{i}" for i in range(10)} < INKS.keys()


def test_panels_stand_beside_and_below_each_other() -> None:
    sizes = [(30, 10), (50, 20), (40, 5)]
    both = in_columns([Drawing(*size, (bar(0, 0, 1, 1, "ink"),), "") for size in sizes], 2, "three", gap=8)
    assert (both.width, both.height) == (40 + 8 + 50, 20 + 8 + 5)
    places = [group.attrib["transform"] for group in read_back(both).iter(f"{SVG}g")]
    assert places == ["translate(0 0)", "translate(48 0)", "translate(0 28)"]


def test_axes_stay_within_what_they_ask_for() -> None:
    y = Linear.over([-123456.0, 0.25], 200, 10)
    frame = Area(room_beside(y, "a title"), 10, 300, 190)
    x = Logarithmic(1000, frame.left, frame.right)
    title = "a title that is wider than the frame " * 3
    root = parsed(*axis_below(frame, x, title), *axis_beside(frame, y, title))
    for each in root.iter(f"{SVG}text"):
        at, width = float(each.attrib["x"]), text_width(each.text or "", float(each.attrib.get("font-size", 11)))
        left = {"middle": at - width / 2, "end": at - width}[each.attrib["text-anchor"]]
        if "transform" not in each.attrib:
            assert left >= -1e-6
            assert left + width <= end_of(frame, title) + 1e-6
        else:
            assert at >= 6
            assert width <= frame.height + 2 * frame.top


def test_names_beside_a_frame_have_room() -> None:
    names = ["short", "W" * 90]
    frame = Area(room_for(names) + 12, 0, 100, 44)
    root = parsed(*names_beside(frame, Bands(2, 0, 22), names))
    ends = [(float(each.attrib["x"]), text_width(each.text or "")) for each in root.iter(f"{SVG}text")]
    assert all(width <= at for at, width in ends)
    assert [float(each.attrib["y"]) for each in root.iter(f"{SVG}text")] == [11, 33]

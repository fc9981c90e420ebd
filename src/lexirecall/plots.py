"""Plots: charts for papers, in colours that everybody can tell apart and that survive a grey printer.

Belongs here: the kinds of charts that altair draws, for studies and the paper, and how charts and drawings become
files. Not here: what is plotted.

Series differ in colour, dash and shape at once. Data are rows: mappings of names to values, without data frames.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.installing import how_to_install
from lexirecall.svg import COLORS, DASHES, SHAPES, Drawing
from lexirecall.text import visible

FORMATS = ("svg", "pdf", "png")
_INHERITED = {
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
    "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
}  # fmt: skip
Records = Sequence[Mapping[str, Any]]


def altair() -> Any:
    """Return the library, or say how to install it."""
    try:
        import_module("vl_convert")
        return import_module("altair")
    except ModuleNotFoundError:
        raise UsageError("figures need altair and vl-convert", remedy=how_to_install("plots")) from None


def is_available() -> bool:
    """Tell whether figures can be drawn."""
    try:
        altair()
    except UsageError:
        return False
    return True


def data(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return rows as the data of a chart."""
    return altair().Data(values=[dict(row) for row in rows])


def label(name: str) -> str:
    """Return the text by which a chart knows a run, a query or a measure.

    Vega uses such texts as keys of JavaScript objects. A name that every object inherits would be found even if it was
    never set. Such a name gets a trailing blank, which no drawing shows; different names stay different.

    >>> label("bm25"), label("constructor"), label("constructor ")
    ('bm25', 'constructor ', 'constructor  ')
    """
    shown = visible(name)
    return f"{shown} " if shown.rstrip(" ") in _INHERITED else shown


def series_scales(names: Sequence[str]) -> dict[str, Any]:
    """Return the scales of colour, dash and shape for named series; the same names get the same scales in every chart.

    >>> sorted(series_scales(["AP", "TSE"]))
    ['color', 'shape', 'strokeDash']
    """
    alt = altair()
    count = len(names)
    if count > len(COLORS):
        raise UsageError(f"{count} series are too many to tell apart", remedy=f"draw at most {len(COLORS)}")
    ranges = {"color": COLORS, "strokeDash": DASHES, "shape": SHAPES}
    return {channel: alt.Scale(domain=list(names), range=list(values[:count])) for channel, values in ranges.items()}


def lines(
    rows: Records,
    *,
    x: str,
    y: str,
    series: str,
    names: Sequence[str],
    x_title: str,
    y_title: str,
    title: str = "",
    log_x: bool = False,
    points: bool = True,
    ticks: Sequence[float] = (),
    band: tuple[str, str] | None = None,
    size: tuple[int, int] = (320, 220),
) -> Any:
    """Draw one line for each series, with a band between two columns if they are named, and ticks where asked for.

    >>> rows = [{"f": 0.0, "ties": 0.1, "measure": "AP"}, {"f": 0.5, "ties": 0.2, "measure": "AP"}]
    >>> chart = lines(rows, x="f", y="ties", series="measure", names=["AP"], x_title="share", y_title="ties")
    >>> chart.to_dict()["mark"]["type"] if "mark" in chart.to_dict() else len(chart.to_dict()["layer"])
    2
    """
    alt = altair()
    scales = series_scales(names)
    legend = alt.Legend(title=None, symbolStrokeWidth=0 if points else 1.6)  # dashes would fray the shapes
    base = alt.Chart(data(rows), title=title, width=size[0], height=size[1]).encode(
        x=alt.X(
            f"{x}:Q",
            title=x_title,
            scale=alt.Scale(type="log", nice=False) if log_x else alt.Scale(nice=False, zero=False),
            axis=alt.Axis(values=list(ticks)) if ticks else alt.Undefined,
        ),
        y=alt.Y(f"{y}:Q", title=y_title),
        color=alt.Color(f"{series}:N", scale=scales["color"], sort=list(names), legend=legend),
    )
    line = base.mark_line(strokeWidth=1.6).encode(
        strokeDash=alt.StrokeDash(f"{series}:N", scale=scales["strokeDash"], sort=list(names), legend=legend)
    )
    if band:
        low, high = band
        area = base.mark_area(opacity=0.15).encode(y=alt.Y(f"{low}:Q", title=y_title), y2=alt.Y2(f"{high}:Q"))
        line = area + line
    if not points:
        return line
    return line + base.mark_point(filled=True, size=36, opacity=1).encode(
        shape=alt.Shape(f"{series}:N", scale=scales["shape"], sort=list(names), legend=legend)
    )


def bars(
    rows: Records,
    *,
    x: str,
    y: str,
    order: Sequence[str],
    x_title: str,
    title: str = "",
    domain: tuple[float, float] | None = None,
    ends: tuple[str, str] | None = None,
    size: tuple[int, int] = (320, 180),
) -> Any:
    """Draw one horizontal bar for each name in `order`, with its value beside it, and the ends of an interval if named.

    >>> chart = bars([{"measure": "AP", "share": 0.5}], x="share", y="measure", order=["AP"], x_title="share")
    >>> len(chart.to_dict()["layer"])
    2
    """
    alt = altair()
    scale = alt.Scale(domain=list(domain)) if domain else alt.Undefined
    base = alt.Chart(data(rows), title=title, width=size[0], height=size[1]).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=scale),
        y=alt.Y(f"{y}:N", sort=list(order), title=None),
    )
    drawn = base.mark_bar(color=COLORS[0], size=14)
    at = alt.X(f"{x}:Q", title=x_title, scale=scale)
    if ends:
        low, high = ends
        known = alt.datum[low] != None  # noqa: E711 - an expression of Vega, in which None is null
        drawn += base.transform_filter(known).mark_rule().encode(x=alt.X(f"{low}:Q", title=x_title), x2=f"{high}:Q")
        base = base.transform_calculate(end=f"max(datum['{high}'], datum['{x}'])")
        at = alt.X("end:Q", title=x_title, scale=scale)
    return drawn + base.mark_text(align="left", dx=3).encode(x=at, text=alt.Text(f"{x}:Q", format=".3f"))


def boxes(
    rows: Records,
    *,
    x: str,
    y: str,
    order: Sequence[str],
    y_title: str,
    column: str | None = None,
    columns: Sequence[str] = (),
    title: str = "",
    size: tuple[int, int] = (220, 220),
) -> Any:
    """Draw one box for each name in `order` over several collections, with points, in one panel for each of `columns`.

    >>> rows = [{"measure": "AP", "ties": t, "label": "deep"} for t in (0.1, 0.2, 0.4)]
    >>> boxes(rows, x="measure", y="ties", order=["AP"], y_title="ties").to_dict()["layer"][0]["mark"]["type"]
    'boxplot'
    """
    alt = altair()
    base = alt.Chart(width=size[0], height=size[1]).encode(
        x=alt.X(f"{x}:N", sort=list(order), title=None, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y(f"{y}:Q", title=y_title),
    )
    box = base.mark_boxplot(extent="min-max", size=18, color="#BBBBBB", median={"color": "black"})
    layered = box + base.mark_point(filled=True, size=20, color=COLORS[0], opacity=0.8)
    if column is None:
        return layered.properties(data=data(rows), title=title)
    header = alt.Column(f"{column}:N", sort=list(columns), title=None)
    return layered.facet(column=header, data=data(rows), title=title)


def styled(chart: Any) -> Any:
    """Return the chart in the style of all our figures: plain, dark on white, no frame."""
    return (
        chart.configure(font="Helvetica, Arial, sans-serif", background="white")
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=11, titleFontSize=12, titleFontWeight="normal", gridColor="#E5E5E5", tickColor="#888"
        )
        .configure_title(fontSize=13, fontWeight="bold", anchor="start")
        .configure_legend(labelFontSize=11, symbolSize=60, symbolOpacity=1)
        .configure_header(labelFontSize=12, labelFontWeight="bold")
    )


def to_files(chart: Any, stem: str) -> dict[str, bytes]:
    """Return a chart as files in every format, by name.

    >>> chart = bars([{"measure": "AP", "share": 0.5}], x="share", y="measure", order=["AP"], x_title="share")
    >>> sorted(to_files(chart, "ties"))
    ['ties.pdf', 'ties.png', 'ties.svg']
    """
    convert = import_module("vl_convert")
    spec = json.dumps(styled(chart).to_dict())
    return {
        f"{stem}.svg": convert.vegalite_to_svg(spec).encode(),
        f"{stem}.pdf": convert.vegalite_to_pdf(spec),
        f"{stem}.png": convert.vegalite_to_png(spec, scale=2),
    }


def drawing_files(drawing: Drawing, stem: str) -> dict[str, bytes]:
    """Return a drawing as files, by name: as SVG, and as PDF and PNG if vl-convert is installed.

    >>> sorted(drawing_files(Drawing(40, 20, (), "nothing"), "empty"))[-1]
    'empty.svg'
    """
    svg = drawing.to_svg("file")
    files = {f"{stem}.svg": svg.encode()}
    if has_converter():
        convert = import_module("vl_convert")
        files |= {f"{stem}.pdf": convert.svg_to_pdf(svg), f"{stem}.png": convert.svg_to_png(svg, scale=2)}
    return files


def has_converter() -> bool:
    """Tell whether a drawing can become PDF and PNG."""
    try:
        import_module("vl_convert")
    except ModuleNotFoundError:
        return False
    return True

"""Notebook: results as a notebook shows them, with their notes and charts.

Belongs here: how the parts of a result become the HTML, Markdown and LaTeX of a cell. Not here: what the parts are (the
results), how a table is laid out (tables), what is drawn (page.charts).

A result gives its parts in the order in which they are read: sentences, tables, and tables with a title. A text of
several lines is laid out already, and stays as it is. Colours are those of the notebook, so that they follow its light
or dark theme; there is no script and no style sheet, and nothing has an id that could occur twice.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Union

from lexirecall.equality import FieldEquality
from lexirecall.text import visible

if TYPE_CHECKING:
    from lexirecall.tables import Table

ROWS = 60
"""The most rows of a table."""
_INK = "var(--jp-content-font-color1, currentColor)"
_MUTED = "var(--jp-content-font-color2, var(--vscode-descriptionForeground, var(--pst-color-text-muted, #767676)))"
_LINE = "var(--jp-border-color2, rgba(128, 128, 128, 0.4))"
_PAPER = "var(--jp-layout-color0, var(--vscode-editor-background, var(--pst-color-background, #fff)))"
# Each can be told from white and from black: a cell does not know whether its theme is light or dark.
_SERIES = "#2b8cc4", "#d55e00", "#009e73", "#cc79a7", "#c98500", "#4a9fd8", _INK, "#808080", "#a0695d", "#7d6fd6"
_COLORS = {
    "ink": _INK, "muted": _MUTED, "line": _LINE, "paper": _PAPER, "side-a": _SERIES[0], "side-b": _SERIES[1],
    **{f"series-{i}": color for i, color in enumerate(_SERIES)},
}  # fmt: skip


class TitledTable(NamedTuple):
    """A table with a title."""

    title: str
    table: "Table"


CellPart = Union[str, "Table", TitledTable]


def facts(kind: str, name: str, texts: Mapping[str, str]) -> "Table":
    """Lay out what there is to say about one thing; what is empty is left out.

    >>> print(facts("AP", "average precision", {"formula": "sum", "reference": ""}).to_text())
    AP       average precision
    formula  sum
    """
    from lexirecall.tables import Table  # not on top: only notebooks ask for it

    return Table((kind, name), tuple((fact, text) for fact, text in texts.items() if text), numbers_from=2)


class NotebookDisplay(FieldEquality):
    """What shows itself in a notebook: by its parts, and by what charts are drawn from, if there are any."""

    __slots__ = ()

    def _parts(self) -> Iterable[CellPart]:
        raise NotImplementedError

    def _pictured(self) -> object:
        return None

    def _repr_html_(self) -> str:
        return _written(self, HTML)


class DisplayedResult(NotebookDisplay):
    """A result: what it prints is its text, and there are the forms that notebooks are exported to.

    >>> from lexirecall import evaluate
    >>> scores = evaluate({"q": {"a": 1}}, {"x": {"q": ["b", "a"]}}, ["RR"])
    >>> print(scores._repr_mimebundle_(include={"text/markdown"})["text/markdown"])
    | run | RR |
    | --- | ---: |
    | x | 0.5000 |
    """

    __slots__ = ()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        kinds = ("text/plain", *WRITERS)
        wanted = [kind for kind in kinds if (not include or kind in include) and kind not in (exclude or ())]
        return {kind: _written(self, WRITERS[kind]) if kind in WRITERS else str(self) for kind in wanted}


class Writer(NamedTuple):
    """A form of cells: how it writes each part, and what it does with all of them."""

    sentence: Callable[[str], str]
    laid_out: Callable[[str], str]
    table: Callable[[str, "Table"], str]
    note: Callable[[str], str]
    whole: Callable[[list[str], object], str]
    """Takes what was written, and what charts are drawn from."""


def _written(result: NotebookDisplay, writer: Writer) -> str:
    written = [_part(part, writer) for part in result._parts()]
    notes = [writer.note(visible(note.text)) for note in getattr(result, "notes", ())]
    return writer.whole([*written, *notes], result._pictured())


def _part(part: CellPart, writer: Writer) -> str:
    if isinstance(part, str):
        return writer.laid_out(part) if "\n" in part else writer.sentence(visible(part))
    title, table = part if isinstance(part, TitledTable) else ("", part)
    return writer.table(title, table.first(ROWS))


# HTML


def _html_text(text: str, tag: str = "p") -> str:
    from html import escape  # not on top: only notebooks ask for it

    return f"<{tag}>{escape(text)}</{tag}>"


def _html_note(text: str) -> str:
    return f"<p><small>{_html_text(f'note: {text}', 'span')}</small></p>"


def _html_whole(written: list[str], pictured: object) -> str:
    charts = [f'<div style="margin: 1em 0">{svg}</div>' for svg in _charts(pictured)]
    colors = " ".join(f"--{name}: {color};" for name, color in _COLORS.items()) if charts else ""
    return f'<div style="overflow-x: auto; {colors}">{"".join([*written, *charts])}</div>'


def _charts(pictured: object) -> Iterator[str]:
    """Give the charts as SVG, in the colours of the cell."""
    if pictured is None:
        return
    from lexirecall.page.charts.ofresults import drawings_of  # stands below the results, and needs much

    yield from (drawing.to_svg("page") for drawing in drawings_of(pictured))


HTML = Writer(
    _html_text,
    lambda text: _html_text(text, "pre"),
    lambda title, table: table.to_html(title, styled=True),
    _html_note,
    _html_whole,
)


# Markdown and LaTeX, which have no charts


def _markdown_text(text: str) -> str:
    from lexirecall.tables import markdown

    return markdown(text)


def _markdown_table(title: str, table: "Table") -> str:
    return f"{_markdown_text(title)}\n\n{table.to_markdown()}" if title else table.to_markdown()


def _latex_text(text: str) -> str:
    from lexirecall.tables import latex

    return latex(text)


def _latex_table(title: str, table: "Table") -> str:
    return f"{_latex_text(title)}\n\n{table.to_latex()}" if title else table.to_latex()


def _joined(written: list[str], _pictured: object) -> str:
    return "\n\n".join(written)


WRITERS = {
    "text/html": HTML,
    "text/markdown": Writer(
        _markdown_text,
        lambda text: f"```text\n{text}\n```",
        _markdown_table,
        lambda text: _markdown_text(f"note: {text}"),
        _joined,
    ),
    "text/latex": Writer(
        _latex_text,
        lambda text: f"\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}",
        _latex_table,
        lambda text: _latex_text(f"note: {text}"),
        _joined,
    ),
}
"""The forms of a result beside its text, by their media types."""

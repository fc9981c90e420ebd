r"""Tables: results as text that people read, paste and parse.

Belongs here: layout, number formats and escaping, for terminal, Markdown, LaTeX, HTML and delimited files.
Not here: what the numbers are.

A number that would show as a false zero gets an exponent; an undefined number is a dash.

>>> table = Table(("run", "AP"), (("bm25_a", "0.2500"), ("dense", "0.3000")), best=frozenset({(1, 1)}))
>>> print(table.to_text())
run         AP
bm25_a  0.2500
dense   0.3000
>>> print(table.to_latex())
\begin{tabular}{lr}
\toprule
run & AP \\
\midrule
bm25\_a & 0.2500 \\
dense & \textbf{0.3000} \\
\bottomrule
\end{tabular}
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from lexirecall.errors import choice, counted
from lexirecall.text import isolated, visible

# What a spreadsheet takes for a formula. A sign alone is not one: `-` is the name of a run from stdin. A leading
# apostrophe turns it into text. Some spreadsheets also accept the wide forms of the signs.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20](?s:.)")
_CELL = '(?:\\A|[{0}\n])"?((?<=")(?:[^"]+|"")*|[^{0}\n]*)'
# What GitHub and GitLab make links, pictures or formulas of in text that is not code.
_LINKED = re.compile(
    r"""(?<!\w)@\w | @[^\s@]*\.\w  # a mention; an address of mail
    | \#\w | \bGH-\d | [!&%]\d | ~[\w"] | %[a-z"] | \*iteration: | \[\w+:  # an issue, and all that GitLab refers to
    | \b(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b  # a commit
    | :// | \bwww\. | \$ | :[\w+-]+:  # an address, a formula, an emoji
    | [{\[]\+.*\+[}\]] | [{\[]-.*-[}\]]  # what is inserted or deleted""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def number(value: float, decimals: int = 4, mark: str = ",") -> str:
    """Format a value for people, with a mark between thousands; for programs there is none.

    >>> number(0.25), number(0.00001234), number(0.0), number(35123.4567, 1), number(17, 0), number(math.nan)
    ('0.2500', '1.2e-05', '0.0000', '35,123.5', '17', '-')
    """
    if math.isnan(value):
        return "-"
    return f"{value:.1e}" if 0 < abs(value) < 0.5 * 10.0**-decimals else f"{value:{mark}.{decimals}f}"


def whole(value: int | None) -> str:
    """Format a count or a position for a table.

    >>> whole(1234), whole(None)
    ('1,234', '-')
    """
    return "-" if value is None else f"{value:,}"


def percent(share: float | None) -> str:
    """Return a share as people read it; only nothing is shown as 0 %, and only everything as 100 %.

    >>> [percent(x) for x in (0.1674, 0.0, 0.0002, 0.9999, 1.0, None)]
    ['16.7 %', '0 %', '< 0.1 %', '> 99.9 %', '100 %', '-']
    """
    if share is None:
        return "-"
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %" if 0 < share < 1 else f"{100 * share:.0f} %"


def defined(value: float) -> float | None:
    """Return a number as rows have it: None if it is not finite.

    >>> defined(0.5), defined(3), defined(math.nan), defined(math.inf)
    (0.5, 3, None, None)
    """
    if not math.isfinite(value):
        return None
    return float(value) if isinstance(value, float) else value  # a plain one, also if it is numpy's


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text, and how to lay them out."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()
    """The cells to emphasize, by row and column."""
    numbers_from: int = 1
    """The columns from here on are numbers, except `texts`."""
    texts: frozenset[int] = frozenset()
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """What is written beside cells in small raised letters."""
    footnote: str = ""

    def _is_number(self, column: int) -> bool:
        return column >= self.numbers_from and column not in self.texts

    def to_text(self, *, bold: bool = False) -> str:
        """Lay the columns out for a terminal."""
        rows = [tuple(map(visible, row)) for row in (self.header, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        marks = [max((len(mark) + 1 for (_, c), mark in self.marks.items() if c == column), default=0)
                 for column in range(len(widths))]  # fmt: skip
        lines = [self._line(r - 1, row, widths, marks, bold=bold) for r, row in enumerate(rows)]
        return "\n".join([*lines, *(["", self.footnote] if self.footnote else [])])

    def _line(self, r: int, row: Sequence[str], widths: Sequence[int], marks: Sequence[int], *, bold: bool) -> str:
        cells = []
        for c, (cell, width) in enumerate(zip(row, widths, strict=True)):
            aligned = cell.rjust(width) if self._is_number(c) else cell.ljust(width)
            emphasized = bold and ((r, c) in self.best or r < 0)
            # without marks, words from right to left would take the numbers after them along
            written = f"\x1b[1m{isolated(cell)}\x1b[0m" if emphasized else isolated(cell)
            shown = aligned.replace(cell, written) if cell else aligned
            mark = f" {self.marks[r, c]}" if (r, c) in self.marks else ""
            cells.append(shown + mark.ljust(marks[c]))
        return "  ".join(cells).rstrip()

    def to_markdown(self) -> str:
        """Return a pipe table, best values bold."""
        rule = ["---:" if self._is_number(c) else "---" for c in range(len(self.header))]
        rows = [[markdown(cell, in_table=True) for cell in self.header], rule]
        rows += [
            [self._cell(r, c, markdown(cell, in_table=True), "**{}**", "<sup>{}</sup>") for c, cell in enumerate(row)]
            for r, row in self._cells
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([*lines, *(["", markdown(self.footnote)] if self.footnote else [])])

    def to_latex(self) -> str:
        """Return a booktabs tabular, best values bold."""
        columns = "".join("r" if self._is_number(c) else "l" for c in range(len(self.header)))
        rows = [
            [self._cell(r, c, latex(cell), r"\textbf{{{}}}", r"$^{{\mathrm{{{}}}}}$") for c, cell in enumerate(row)]
            for r, row in self._cells
        ]
        body = [" & ".join(row) + r" \\" for row in rows]
        head = " & ".join(map(latex, self.header)) + r" \\"
        begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
        note = [f"% {visible(self.footnote)}"] if self.footnote else []
        return "\n".join([begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", end, *note])

    def to_html(self, title: str = "", *, styled: bool = False) -> str:
        """Return an HTML table, best values strong; `styled` also aligns it, and tells which cells head others."""
        import html

        def shown(text: str) -> str:
            return html.escape(visible(text))

        caption = f"<caption>{shown(title)}</caption>" if title else ""
        head = "".join(self._html_cell(-1, c, shown(cell), styled=styled) for c, cell in enumerate(self.header))
        body = ""
        for r, row in self._cells:
            marks = (
                self._cell(r, c, shown(cell), "<strong>{}</strong>", "<sup>{}</sup>") for c, cell in enumerate(row)
            )
            body += f"<tr>{''.join(self._html_cell(r, c, cell, styled=styled) for c, cell in enumerate(marks))}</tr>"
        note = f"<p><small>{shown(self.footnote)}</small></p>" if self.footnote else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"

    def _html_cell(self, r: int, c: int, cell: str, *, styled: bool) -> str:
        if not styled:
            return f"<td>{cell}</td>" if r >= 0 else f"<th>{cell}</th>"
        align = "text-align: right" if self._is_number(c) else "text-align: left"
        if r >= 0 and (c or self._is_number(c)):
            return f'<td style="{align}">{cell}</td>'
        scope, weight = ("col", "") if r < 0 else ("row", "; font-weight: normal")
        return f'<th scope="{scope}" style="{align}{weight}">{cell}</th>'

    def first(self, count: int) -> "Table":
        """Return the first rows; if there are more, the footnote says how many.

        >>> Table(("run",), (("a",), ("b",), ("c",)), footnote="sorted").first(1).footnote
        '2 more rows; sorted'
        """
        if (more := len(self.rows) - count) <= 0:
            return self
        rest = counted(more, "more row")
        return replace(self, rows=self.rows[:count], footnote="; ".join(filter(None, (rest, self.footnote))))

    @property
    def _cells(self) -> Iterable[tuple[int, tuple[str, ...]]]:
        return enumerate(self.rows)

    def _cell(self, r: int, c: int, cell: str, strong: str, raised: str) -> str:
        shown = strong.format(cell) if (r, c) in self.best else cell
        return shown + (raised.format(self.marks[r, c]) if (r, c) in self.marks else "")


def markdown(text: str, *, in_table: bool = False) -> str:
    r"""Return Markdown that shows a text as it is: escaped, or as code if GitHub or GitLab would make a link of it.

    A backslash does not prevent mentions (@name), references (#12, or the hash of a commit), addresses and emoji,
    which are looked for in the escaped text, but never in code.

    >>> print(markdown("bm25_a"), markdown("R@10"), markdown("@bm25_a"), markdown("see #12"))
    bm25\_a R@10 `@bm25_a` `see #12`
    """
    shown = visible(text)
    if _LINKED.search(shown) and not _NUMBER.fullmatch(shown):
        return markdown_code(shown, in_table=in_table)
    return "".join(f"\\{character}" if character in "\\|*_`<>[]&#~" else character for character in shown)


def markdown_code(text: str, *, in_table: bool = False) -> str:
    r"""Return Markdown that shows a text as code, in which nothing has a meaning.

    >>> print(markdown_code("a*b"), markdown_code("a`b"), markdown_code("`"), markdown_code("a|b", in_table=True))
    `a*b` ``a`b`` `` ` `` `a\|b`
    """
    shown = visible(text)
    if in_table:  # where a bar ends the cell, in code too, unless a backslash is before it
        shown = shown.replace("|", r"\|")
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    ends = shown[:1] + shown[-1:]
    padding = " " if not shown or "`" in ends or ends == "  " else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def latex(text: str) -> str:
    r"""Return LaTeX that shows a text as it is.

    >>> print(latex("bm25_a & 5 %"))
    bm25\_a \& 5 \%
    """
    return "".join(_LATEX.get(character, character) for character in visible(text))


def to_delimited(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], delimiter: str, *, raw: bool = False
) -> str:
    r"""Return rows as delimited text with a header; None is an empty field.

    Text that a spreadsheet would run as a formula gets a leading apostrophe, unless `raw` is set. Numbers stay as they
    are. Such text that already starts with an apostrophe gets another one, so no two cells become the same.

    >>> print(to_delimited([{"run": "a,b", "value": None}, {"run": "=1+1", "value": -0.5}], ("run", "value"), ","))
    run,value
    "a,b",
    '=1+1,-0.5
    """
    lines = [columns, *([row[column] for column in columns] for row in rows)]
    return "\n".join(delimiter.join(_field(value, delimiter, raw=raw) for value in line) for line in lines)


def num_apostrophes(text: str, form: str) -> int:
    r"""Count the cells of a tsv or csv that have a leading apostrophe to keep spreadsheets from running them.

    >>> num_apostrophes("run,value\n'=1+1,-0.5", "csv")
    1
    """
    delimiter = FORMATS[form].delimiter if form in FORMATS else ""
    if not delimiter or "'" not in text:
        return 0
    cells = re.finditer(_CELL.format(delimiter), text)
    return sum(cell[1].startswith("'") and _FORMULA.match(cell[1]) is not None for cell in cells)


def _field(value: Any, delimiter: str, *, raw: bool) -> str:
    text = "" if value is None else str(value)
    if not raw and isinstance(value, str) and _FORMULA.match(text):
        text = f"'{text}"
    if any(character in text for character in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


def to_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one JSON object per line; None is null.

    >>> to_jsonl([{"run": "a", "value": None}])
    '{"run": "a", "value": null}'
    """
    import json  # not on top, nor html: most results are tables of text

    return "\n".join(json.dumps(row, allow_nan=False) for row in rows)


class Format(NamedTuple):
    """A format of results: made from a table for people, from rows for programs."""

    of_table: Callable[[Table, bool], str] | None = None
    """Takes a table, and whether the best values are bold on a terminal."""
    of_rows: Callable[[Iterable[Mapping[str, Any]]], str] | None = None
    delimiter: str = ""
    """The separator of fields, for delimited text that spreadsheets open."""


FORMATS = {
    "table": Format(lambda table, bold: table.to_text(bold=bold)),
    "tsv": Format(delimiter="\t"),
    "csv": Format(delimiter=","),
    "jsonl": Format(of_rows=to_jsonl),
    "markdown": Format(lambda table, _: table.to_markdown()),
    "latex": Format(lambda table, _: table.to_latex()),
    "html": Format(lambda table, _: table.to_html()),
}
FOR_PEOPLE = tuple(name for name, form in FORMATS.items() if form.of_table)


def render(
    form: str,
    table: Table,
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    bold: bool = False,
    raw: bool = False,
) -> str:
    """Return a result in one of FORMATS: the table for people, the rows for programs.

    `raw` writes text to tsv and csv unchanged, even if a spreadsheet would run it.
    """
    choice("format", form, FORMATS)
    chosen = FORMATS[form]
    if chosen.of_table:
        return chosen.of_table(table, bold)
    return chosen.of_rows(rows) if chosen.of_rows else to_delimited(rows, columns, chosen.delimiter, raw=raw)

"""Tables: numbers that do not mislead, and ids that stay text in every format."""

import csv
import html.parser
import io
import json
import math
import re
from collections.abc import Callable
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import compare, evaluate, explain, rank
from lexirecall.cli import COMMANDS, group
from lexirecall.errors import UsageError
from lexirecall.tables import FOR_PEOPLE, FORMATS, Table, markdown, num_apostrophes, number, render, to_delimited
from lexirecall.text import visible
from lexirecall.verbs.comparison import VIEWS
from rendered import rendered
from strategies import quick

ODD = [
    "plain", "with blank", "a|b", "*a*", "_a_", "`a`", "<b>", "[a](b)", "a\\b", "a&b", "&lt;", "100%", "$x$", "#1",
    "{x}", "~a", "a^b", '"quoted"', "'single'", "a,b", "a\tb", "a\nb", "a\rb", "a\r\nb", "", " ", "é", "日本", "😀",
    "-", "=1+1",
]  # fmt: skip
HOSTILE = ["\x1b[31mred", "\x07", "\x9b31m", "a\u202eb", "a\u2066b", "\u200f", "a\x00b", "\x7f", "a\u2028b", "a\u2029b"]


# Numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.2500"), (1.0, "1.0000"), (0.0, "0.0000"), (0.00005, "0.0001"), (0.0000499, "5.0e-05"),
        (1.234e-300, "1.2e-300"), (5e-324, "4.9e-324"), (-0.00001, "-1.0e-05"), (-0.5, "-0.5000"), (math.nan, "-"),
    ],
)  # fmt: skip
def test_a_number_has_four_decimals_or_an_exponent(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6))
def test_a_number_is_shown_to_within_its_last_digit(value: float) -> None:
    assert float(number(value, mark="")) == pytest.approx(value, rel=0.051, abs=0 if abs(value) < 0.00005 else 0.000051)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_only_zero_is_shown_as_zero(value: float) -> None:
    assert (float(number(value, mark="")) == 0) == (value == 0)


@pytest.mark.parametrize("form", [*FORMATS, "trec"])
def test_thousands_have_marks_for_people_and_none_for_programs(form: str) -> None:
    ranked = {"q": [f"d{i}" for i in range(12_345)]}
    said = evaluate({"q": {"d12344": 1}}, {"a": ranked}, ["LastRel"]).render(form)
    marks = "12,345" if form in FOR_PEOPLE else "12345"
    assert marks in said.replace("{,}", ",")
    assert form in FOR_PEOPLE or "12,345" not in said


# Escaping


def example(text: str, *, best: bool = False) -> Table:
    return Table(("run", "AP"), ((text, "0.5000"), ("other", "0.2500")), frozenset({(0, 1)} if best else ()))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", FOR_PEOPLE)
def test_an_id_cannot_draw_on_the_terminal(form: str, text: str) -> None:
    shown = render(form, example(text), [], ())
    assert not set(shown) & set("\x00\x07\x1b\x7f\x9b\u200f\u2028\u2029\u202e\u2066")
    assert shown.isprintable() or shown.replace("\n", "").isprintable()


def test_visible_text_is_left_as_it_is() -> None:
    for text in ("bm25.run", "Größe", "日本語", "😀", r"a\b", "a b"):
        assert visible(text) == text


@pytest.mark.parametrize("text", ODD + HOSTILE)
@pytest.mark.parametrize("form", FOR_PEOPLE)
def test_an_id_stays_on_its_line(form: str, text: str) -> None:
    shown = render(form, example(text), [], ())
    assert len(shown.splitlines()) == len(render(form, example("plain"), [], ()).splitlines())


PLAIN = {"table_open", "thead_open", "tbody_open", "tr_open", "th_open", "td_open", "inline", "text", "code_inline"}
PLAIN |= {kind.replace("_open", "_close") for kind in PLAIN}
LINKED = [
    "@name", "see @org/team", "a@b.example", "(a.b@c.example)", "#12", "org/repo#12", "GH-12", "!12", "&12", "%12",
    '%"a b"', "~bug", "$12", "$x$", "$$x$$", "0123456789abcdef0123456789abcdef01234567", "abc1234", ":tada:", ":+1:",
    "http://a.example", "www.a.example", "ftp://a.example", "irc://a.example", "{+a+}", "[-a-]", "[issue:1]",
    "@`a`", "``@a`", "@a|b", "@a\\|b", "@a\\\\|b", "@a\\", " @a ", "`@a", "@a<b>", "@a\u202eb", "*iteration:1",
]  # fmt: skip


def assert_stays_text(text: str) -> None:
    """Check that a cell with the text shows it, and that no other cell changes."""
    shown = rendered(example(text).to_markdown())
    assert shown.kinds <= PLAIN
    assert shown.linked_later == {}
    assert shown.cells[2].strip() == visible(text).strip()
    assert shown.cells[:2] + shown.cells[3:] == ("run", "AP", "0.5000", "other", "0.2500")


@pytest.mark.parametrize("text", [*ODD, *HOSTILE, *LINKED, "&lt;", "&amp;", "&#60;"])
def test_in_markdown_an_id_stays_text(text: str) -> None:
    assert_stays_text(text)


@quick(200)
@given(st.text("@#!&%~$:/.|\\`*_<>[](){}+-^= \t\n\u202eaw7é", max_size=12))
def test_in_markdown_any_id_stays_text(text: str) -> None:
    assert_stays_text(text)


@pytest.mark.parametrize(
    "text", ["bm25_a", "R@10", "FR94-1", "a*b", "100%", "nDCG@10", "1234567", "0.1234567", "C#", "a&b"]
)
def test_in_markdown_usual_ids_are_not_code(text: str) -> None:
    assert "`" not in markdown(text)


@pytest.mark.parametrize("text", ODD)
def test_in_latex_an_id_stays_text(text: str) -> None:
    row = example(text, best=True).to_latex().splitlines()[4]
    cell, value = re.split(r"(?<!\\) ?& ", row)
    assert value == r"\textbf{0.5000} \\"
    named = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<", "textgreater": ">"}
    rest = re.sub(r"\\(text\w+)\{\}", lambda match: named[match[1]], cell)
    assert not re.search(r"(?<!\\)[&%$#_{}]", re.sub(r"\\text\w+\{\}", "", cell))
    assert re.sub(r"\\([&%$#_{}])", r"\1", rest).strip() == visible(text).strip()


class Cells(html.parser.HTMLParser):
    """Collects the tags and the text of each cell, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - the parser's signature
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        self.cells[-1] += data


@pytest.mark.parametrize("text", ODD)
def test_in_html_an_id_stays_text(text: str) -> None:
    page = Cells(Table(("run", "<AP>"), ((text, "0.5000"),), frozenset({(0, 1)})).to_html())
    assert page.cells == ["run", "<AP>", visible(text), "0.5000"]
    assert page.tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "strong"]


def test_columns_are_aligned_and_bold_does_not_shift_them() -> None:
    table = Table(("run", "AP"), (("a", "0.5000"), ("longer", "10.0000")), frozenset({(1, 1)}))
    assert table.to_text() == "run          AP\na        0.5000\nlonger  10.0000"
    assert re.sub(r"\x1b\[\d+m", "", table.to_text(bold=True)) == table.to_text()
    assert "\x1b[1m10.0000\x1b[0m" in table.to_text(bold=True)


# Delimited text and JSON


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6) | st.sampled_from(ODD)


def read_delimited(text: str, delimiter: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


READERS: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "tsv": lambda text: read_delimited(text, "\t"),
    "csv": lambda text: read_delimited(text, ","),
    "jsonl": lambda text: [{key: value or "" for key, value in json.loads(line).items()} for line in text.split("\n")],
}
"""Of every format for programs a way to read it back; what is undefined is an empty text."""


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in FOR_PEOPLE])
@given(ids=st.lists(TEXT, min_size=1, max_size=5))
def test_what_is_for_programs_can_be_read_back(form: str, ids: list[str]) -> None:
    assert form in READERS, f"{form} cannot be read back: add a way to READERS in tests/test_tables.py"
    rows = [{"run": text, "query": text, "value": None} for text in ids]
    text = render(form, example("a table is for people"), rows, ("run", "query", "value"), raw=True)
    assert READERS[form](text) == [{"run": text, "query": text, "value": ""} for text in ids]


SIGNS = "=+-@\t\r"
FORMULAS = st.builds("{}{}{}".format, st.sampled_from(["", "'", "''"]), st.sampled_from([*SIGNS, ""]), TEXT)


@given(st.lists(FORMULAS, min_size=1, max_size=5), st.sampled_from([f for f in FORMATS if FORMATS[f].delimiter]))
def test_no_spreadsheet_runs_an_id_and_nothing_else_changes(ids: list[str], form: str) -> None:
    delimiter = FORMATS[form].delimiter
    text = to_delimited([{"run": each, "value": -0.5} for each in ids], ("run", "value"), delimiter)
    (_, *cells) = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    changed = 0
    for before, (after, value) in zip(ids, cells, strict=True):
        assert value == "-0.5"
        assert len(after) < 2 or after[0] not in SIGNS
        if before != after:
            assert after == f"'{before}"
            assert before.lstrip("'")[0] in SIGNS + "\n＝＋－＠"
            changed += 1
    assert len(set(ids)) == len({after for after, _ in cells})
    assert num_apostrophes(text, form) == changed


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\ta", "\ra", "=cmd|' /C calc'!A0", "-2+3+cmd", "＝1+1"])
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    (_, (cell,)) = csv.reader(io.StringIO(to_delimited([{"run": text}], ("run",), ",")))
    assert cell == f"'{text}"
    assert num_apostrophes(to_delimited([{"run": text}], ("run",), "\t"), "tsv") == 1


@pytest.mark.parametrize("value", ["-", "=", "a=b", "1-2", " =1", "'a", "'", "", -0.05, -1, True, None, 1e-9])
def test_whatever_else_is_written_as_it_is(value: Any) -> None:
    assert to_delimited([{"x": value}], ("x",), ",") == to_delimited([{"x": value}], ("x",), ",", raw=True)


def test_a_long_cell_is_counted_too() -> None:
    text = to_delimited([{"x": "=" + '"' * 200_000}, {"x": "a\n'=b"}], ("x",), ",")
    assert num_apostrophes(text, "csv") == 1


@pytest.mark.parametrize("form", [form for form in FORMATS if not FORMATS[form].delimiter])
def test_only_what_spreadsheets_open_is_changed(form: str) -> None:
    scores = evaluate({"=q": {"a": 1}}, {"=r": {"=q": ["a"]}}, ["AP"])
    assert scores.render(form, per_query=True) == scores.render(form, per_query=True, raw=True)
    assert "'=" not in scores.render(form, per_query=True)


@pytest.mark.parametrize("form", READERS)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_values_for_programs_keep_every_digit(form: str, value: float) -> None:
    (row,) = READERS[form](render(form, example("a"), [{"value": value}], ("value",)))
    assert float(row["value"] or 0) == value


QRELS = {text: {"a": 1} for text in (*ODD, *HOSTILE)}
RUNS: dict[str, Any] = {
    name: dict.fromkeys(QRELS, ranking)
    for name, ranking in {"plain": ["a", "b"], "with blank": ["b", "a"], HOSTILE[0]: ["a"]}.items()
}
RESULTS: dict[str, Callable[[str], str]] = {
    "eval": lambda form: evaluate(QRELS, RUNS, ["AP"]).render(form),
    "eval per query": lambda form: evaluate(QRELS, RUNS, ["AP"]).render(form, per_query=True),
    "rank": lambda form: rank(QRELS, RUNS).render(form),
    "explain": lambda form: explain(QRELS, [RUNS["plain"], RUNS["with blank"]]).render(form),
    **{view: lambda form, view=view: compare(QRELS, RUNS, ["AP"]).render(form, view=view) for view in VIEWS},  # type: ignore[misc]
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("result", RESULTS)
def test_every_result_is_written_in_every_format(form: str, result: str) -> None:
    text = RESULTS[result](form)
    if form in FOR_PEOPLE:
        assert text
        assert text.replace("\n", "").isprintable()
    else:
        assert READERS[form](text)


def test_every_format_is_offered_by_every_command_that_has_formats() -> None:
    # A gate is a verdict and several tables: it has formats of its own.
    commands = [group.get_command(click.Context(group), name) for name in COMMANDS if name != "gate"]
    options = [option for command in commands if command for option in command.params if option.name == "form"]
    assert len(options) > 4
    for option in options:
        assert isinstance(option.type, click.Choice)
        assert {*FORMATS} <= {*option.type.choices}


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="format is 'xml', but must be one of table"):
        render("xml", example("a"), [], ())

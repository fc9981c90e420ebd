"""What notebooks show: every result as tables, notes and charts, in all forms, with nothing that could run."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

import lexirecall
from lexirecall import notebook
from lexirecall.labels.stops import evaluate_stops
from lexirecall.manifest import Note
from lexirecall.notebook import DisplayedResult, NotebookDisplay
from lexirecall.results import Discoveries, PolicyScores
from lexirecall.tables import Table

EVIL = "<script>alert(1)</script>"
QRELS = {f"q{i}": {f"{EVIL}{i}": 1, "b": 1, "c": 0} for i in range(8)}
RUNS = {
    f"old & {EVIL}": {query: [*judged, "x"] for query, judged in QRELS.items()},
    "new": {query: ["x", "y", "b"] for query in QRELS},
}
OLD, NEW = RUNS.values()
EXPLAINED = lexirecall.explain(QRELS, RUNS)
RESULTS: dict[str, NotebookDisplay] = {
    "scores": lexirecall.evaluate(QRELS, RUNS),
    "scores over groups": lexirecall.evaluate(QRELS, RUNS, ["AP"], over=["mean", "min"]),
    "comparison": lexirecall.compare(QRELS, RUNS),
    "comparison over groups": lexirecall.compare(QRELS, RUNS, ["AP"], over=["min"]),
    "ranking": lexirecall.rank(QRELS, RUNS),
    "explanation": EXPLAINED,
    "explanation of a measure": lexirecall.explain(QRELS, RUNS, measure="AP"),
    "explanation of a query": EXPLAINED.query("q1"),
    "gate": lexirecall.gate(QRELS, NEW, baseline=OLD),
    "funnel": lexirecall.funnel(QRELS, RUNS),
    "unjudged": lexirecall.unjudged(QRELS, RUNS),
    "certificates": (certified := lexirecall.certify(corpus_size=9000, read=2000, found=190, sample=1000, relevant=1)),
    "certificate": certified[0],
    "stops": evaluate_stops(QRELS, OLD, stops=2),
    "fused": lexirecall.fuse(QRELS, RUNS, ["AP"], folds=2),
    "study": lexirecall.study({EVIL: lexirecall.project(QRELS, RUNS)}, measures=["AP"], num_samples=1),
    "report": lexirecall.report(QRELS, RUNS, output=None),
    "providers": lexirecall.evaluate(QRELS, OLD, ["AP"], providers={"b": EVIL}).providers(min_queries=1),
    "discoveries": Discoveries.of(lexirecall.project(QRELS, RUNS)),
    "policies": PolicyScores.of(lexirecall.project(QRELS, {f"{EVIL}#1": OLD, f"{EVIL}#2": NEW}), ["AP"]),
    "positions": lexirecall.project(QRELS, RUNS),
    "judgments": lexirecall.load_judgments(QRELS),
    "measure": lexirecall.parse_measure("AP"),
    "preference": lexirecall.parse_preference("LexiRecall"),
}
WITH_CHARTS = {
    "scores": 1, "comparison": 2, "ranking": 1, "explanation": 1, "explanation of a query": 1, "fused": 2, "report": 2,
}  # fmt: skip
WITHOUT_IDS = {"certificates", "certificate", "stops", "judgments", "measure", "preference"}
every_result = pytest.mark.parametrize("name", RESULTS)
every_printed = pytest.mark.parametrize(
    "name", [name for name, made in RESULTS.items() if isinstance(made, DisplayedResult)]
)


class Elements(HTMLParser):
    """Reads a page, checks that every element ends where it should, and keeps what there is of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.all.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def html_of(result: NotebookDisplay) -> Elements:
    return Elements(result._repr_html_())


def kinds_returned() -> set[str]:
    """Return the names of what the verbs return."""
    verbs = [getattr(lexirecall, name) for name in lexirecall.__all__ if name.islower()]
    return {str(getattr(verb, "__annotations__", {}).get("return")).split(".")[-1].strip("'>") for verb in verbs}


def test_everything_that_a_verb_returns_is_shown() -> None:
    shown = {type(made).__name__ for made in RESULTS.values()}
    assert kinds_returned() - {"~Registered"} - {"Collection", "SimulatedCollection"} <= shown


def test_every_result_that_prints_itself_is_shown() -> None:
    printing = {
        name
        for name in lexirecall.results.__all__
        if "render" in dir(kind := getattr(lexirecall.results, name)) and not issubclass(kind, DisplayedResult)
    }
    assert printing == set()


@every_result
def test_a_cell_is_well_formed_and_nothing_in_it_runs_or_is_fetched(name: str) -> None:
    cell = html_of(RESULTS[name])
    allowed = {
        "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "sup", "p", "small", "span", "pre",
        "svg", "g", "rect", "text", "line", "polyline", "polygon", "circle", "title",
    }  # fmt: skip
    assert {tag for tag, _ in cell.all} <= allowed
    names = {attribute for _, attributes in cell.all for attribute in attributes}
    assert not names & {"id", "href", "src"}
    assert not any(attribute.startswith("on") for attribute in names)


@every_result
def test_ids_are_text(name: str) -> None:
    written = RESULTS[name]._repr_html_()
    assert "<script" not in written
    assert ("&lt;script&gt;" in written) == (name not in WITHOUT_IDS)


@every_result
def test_numbers_are_on_the_right_and_headings_say_what_they_head(name: str) -> None:
    cells = [(tag, attributes) for tag, attributes in html_of(RESULTS[name]).all if tag in ("td", "th")]
    assert all(attributes.get("scope") in ("row", "col") for tag, attributes in cells if tag == "th")
    assert {(attributes["style"] or "").split(";")[0] for _, attributes in cells} <= {
        "text-align: left",
        "text-align: right",
    }


@every_result
def test_charts_are_below_the_tables_and_said_in_words(name: str) -> None:
    written = RESULTS[name]._repr_html_()
    drawn = [attributes for tag, attributes in Elements(written).all if tag == "svg"]
    assert len(drawn) == WITH_CHARTS.get(name, 0)
    assert all(attributes["aria-label"] and attributes["role"] == "img" for attributes in drawn)
    if drawn:
        assert written.rindex("</table>") < written.index("<svg")
        used = set(re.findall(r"var\(--((?:ink|muted|line|paper|side|series)[-\w]*)\)", written))
        assert used <= set(re.findall(r"--([-\w]+): ", written))


@every_printed
def test_a_result_has_every_form_that_is_asked_for(name: str) -> None:
    result: Any = RESULTS[name]
    bundle = result._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/html", "text/markdown", "text/latex"]
    assert bundle["text/plain"] == str(result)
    assert bundle["text/html"] == result._repr_html_()
    assert result._repr_mimebundle_(include=["text/html"]) == {"text/html": bundle["text/html"]}
    assert list(result._repr_mimebundle_(exclude={"text/html", "text/latex"})) == ["text/plain", "text/markdown"]


def test_a_measure_has_its_formula_and_its_name_stays_its_text() -> None:
    assert "sum_i" in "".join(html_of(lexirecall.parse_measure("AP@10")).words)
    assert not hasattr(lexirecall.parse_measure("AP"), "_repr_mimebundle_")


def test_a_long_table_ends_with_how_many_rows_it_leaves_out() -> None:
    runs = {f"run {i:02}": OLD for i in range(64)}
    cell = html_of(lexirecall.evaluate(QRELS, runs, ["AP"]))
    assert sum(tag == "tr" for tag, _ in cell.all) == 1 + notebook.ROWS
    assert "4 more rows" in cell.words
    assert not any(tag == "svg" for tag, _ in cell.all)  # bars of so many runs would fill screens


def test_a_comparison_of_many_runs_has_the_chart_of_all_pairs() -> None:
    compared = lexirecall.compare(QRELS, {f"run {i:02}": OLD for i in range(31)}, ["AP"])
    labels = [attributes["aria-label"] or "" for tag, attributes in html_of(compared).all if tag == "svg"]
    assert [label.split(",")[0] for label in labels] == ["AP: row less column"]


class Laid(DisplayedResult):
    """A result of every kind of part."""

    notes = (Note("a note", f"{EVIL} 100 %"),)

    def __str__(self) -> str:
        return "laid"

    def _parts(self) -> list[notebook.CellPart]:
        table = Table(("run", "x"), ((EVIL, "1"),), footnote="below")
        return ["a_b\x1b", "two\n  lines", table, notebook.TitledTable("A & B", table)]


def test_every_part_has_its_place_in_every_form() -> None:
    bundle = Laid()._repr_mimebundle_()
    assert bundle["text/plain"] == "laid"
    table = "| run | x |\n| --- | ---: |\n| \\<script\\>alert(1)\\</script\\> | 1 |\n\nbelow"
    note = "note: \\<script\\>alert(1)\\</script\\> 100 %"
    parts = [r"a\_b\\x1b", "```text\ntwo\n  lines\n```", table, r"A \& B", table, note]
    assert bundle["text/markdown"] == "\n\n".join(parts)
    latex = bundle["text/latex"].split("\n\n")
    assert latex[:2] == [r"a\_b\textbackslash{}x1b", "\\begin{verbatim}\ntwo\n  lines\n\\end{verbatim}"]
    assert latex[-1] == r"note: \textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{} 100 \%"
    order = ["a_b", "<pre>two\n  lines</pre>", "<table><thead>", "<caption>A &amp; B</caption>", "note: &lt;script&gt;"]
    places = [bundle["text/html"].index(each) for each in order]
    assert places == sorted(places)


def test_results_need_neither_charts_nor_html_until_they_are_shown() -> None:
    code = """
import sys, lexirecall
scores = lexirecall.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])
assert not {"html", "IPython", "lexirecall.page", "lexirecall.svg"} & sys.modules.keys(), sys.modules.keys()
scores._repr_html_()
assert "lexirecall.page.charts.ofresults" in sys.modules and "IPython" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)

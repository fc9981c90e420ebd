"""The report in a real browser: it renders, sorts, filters and links, for the keyboard and for hostile names too."""

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest

from browsing import AXE, patient
from lexirecall import compare, evaluate, explain, funnel, report, unjudged
from lexirecall.gates.funnelfates import LOSSES
from lexirecall.page import Report
from lexirecall.page.html import fill
from lexirecall.plots import _INHERITED
from lexirecall.tables import number
from lexirecall.text import visible
from lexirecall.texts import shortened
from lexirecall.verbs import exposures
from report_fixture import (
    DEMO,
    HOSTILE,
    HOSTILE_TEXTS,
    INHERITED,
    demo_report,
    hostile_report,
    hostile_texts_report,
    inherited_report,
    large_payload,
)

SECTIONS = ("evaluated", "leaderboard", "by", "pairs", "pair", "query", "worst", "recall", "measures")
COMPLETE = "html[data-state=complete]"
# Resolves when everything is drawn and nothing is put off: a filter waits until nobody types any more. What is cleared
# away a minute later, such as the address of a saved file, is not waited for.
AT_REST = """
    const due = new Set(), { setTimeout: later, clearTimeout: never } = window;
    window.setTimeout = (work, wait, ...rest) => {
      const id = later((...given) => { due.delete(id); work(...given); }, wait, ...rest);
      if (!(wait >= 10_000)) due.add(id);
      return id;
    };
    window.clearTimeout = (id) => { due.delete(id); never(id); };
    const isAtRest = () => !due.size && document.documentElement.dataset.state === "complete";
    window.atRest = () => new Promise((done) => {
      const look = () => isAtRest() ? done() : later(look, 5);
      requestAnimationFrame(() => later(look)); // after the events that are on their way
    });
"""
COMPARISON = compare(DEMO.qrels, DEMO.runs)
GROUPS = {query: "few <b>" if i > 26 else ("odd", "even")[i % 2] for i, query in enumerate(DEMO.qrels)}
UNITS = {document: f"U<i>{sum(map(ord, document)) % 400}" for own in DEMO.qrels.values() for document in own}
ORDER = ("deep.run", "precise.run", "shallow.run", "random.run")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write each kind of page once, when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")

    def file(kind: str) -> Path:
        path = folder / f"{kind}.html"
        if not path.exists():
            path.write_text(KINDS[kind](), encoding="utf-8")
        return path

    return file


def large_page() -> str:
    made = demo_report()
    return fill(large_payload(made.payload), made.findings.leaderboard)


def long_page() -> str:
    """Return a page with names that were not cut before."""
    made = demo_report()
    names = {"runs": ["r" * 10_000, *ORDER[1:]], "queries": ["q" * 10_000, *made.payload["queries"][1:]]}
    documents = [[f"{document}{'d' * 10_000}" for document in own] for own in made.payload["relevant"][:1]]
    payload = made.payload | names | {"relevant": documents + made.payload["relevant"][1:]}
    return fill(payload, made.findings.leaderboard)


def partial_page() -> str:
    """Return a page that holds pairs and rankings of the best runs only."""
    made = demo_report()
    payload = made.payload | {
        key: [*made.payload[key][:2], None, None] for key in ("found", "retrieved", "absent")
    }  # of the other two nothing is known but their means
    payload["values"] = [[*column[:2], None, None] for column in payload["values"]]
    pairs = payload["pairs"]
    columns = [{key: column[:1] for key, column in each.items()} for each in pairs["by_measure"]]
    payload["pairs"] = {"a": pairs["a"][:1], "b": pairs["b"][:1], "by_measure": columns}
    return fill(payload, made.findings.leaderboard)


def drawing(label: str, runs: int) -> str:
    """Return a drawing as it comes with the data: a mark for each run, in colours of the page."""
    marks = "".join(
        f'<g data-run="{s}"><rect x="{10 * s}" width="8" height="{s + 1}" fill="var(--series-{s})"/></g>'
        for s in range(runs)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100" width="200" height="100" role="img" '
        f'aria-label="{label}, from the best system to the worst one">{marks}'
        '<text y="90" fill="var(--muted)">&lt;b&gt; &amp; co</text></svg>'
    )


def page_with_drawings(drawings: dict[str, str] | None, section: str = "", title: str = "") -> str:
    """Return the page of the demo with these drawings; None for a page without the key."""
    made = demo_report()
    payload = {key: value for key, value in made.payload.items() if key != "charts"}
    charts = {key: {"svg": text, "section": section, "title": title} for key, text in (drawings or {}).items()}
    given = {} if drawings is None else {"charts": charts}
    return fill(payload | given, made.findings.leaderboard)


def drawn_page() -> str:
    runs = {"recall": len(ORDER), "agreement": 0, "ties": 0}
    return page_with_drawings({key: drawing(f"The drawing of {key}", count) for key, count in runs.items()})


def measures_page() -> str:
    """Return a page with measures named like properties that JavaScript objects inherit."""
    made = demo_report(measures=["LexiRecall", "AP", "RR", "R@1000"])
    names = dict(zip(("AP", "RR", "R@1000"), INHERITED, strict=False))
    measures = [each | {"name": names.get(each["name"], each["name"])} for each in made.payload["measures"]]
    study = [each | {"measure": names.get(each["measure"], each["measure"])} for each in made.payload["study"]]
    return fill(made.payload | {"measures": measures, "study": study}, made.findings.leaderboard)


def formula_page() -> str:
    runs = {"=1+1": {"=HYPERLINK(1)": ["-d"]}, '@sum,"x"': {"=HYPERLINK(1)": ["x", "-d"]}}
    return report({"=HYPERLINK(1)": {"-d": 1}}, runs, output=None).html()


KINDS: dict[str, Callable[[], str]] = {
    "demo": lambda: demo_report().html(),
    "drawn": drawn_page,
    "added": lambda: page_with_drawings({"mine": drawing("My own chart", len(ORDER))}, "worst", "My <i>own</i> chart"),
    "undrawn": lambda: page_with_drawings(None),
    "damaged": lambda: page_with_drawings({"recall": "<svg><g", "__proto__": "x"}),
    "hostile": lambda: hostile_report().html(),
    "texts": lambda: hostile_texts_report(measures=["LexiRecall", "AP"]).html(),
    "unit texts": lambda: hostile_texts_report(units=UNITS, measures=["LexiRecall"]).html(),
    "inherited": lambda: inherited_report().html(),
    "large": large_page,
    "long": long_page,
    "partial": partial_page,
    "baseline": lambda: demo_report(measures=["AP", "LastRel", "RPP"], baseline="precise.run").html(),
    "hsd": lambda: demo_report(measures=["LexiPrecision(size='rr')", "LexiRecall"], test="hsd").html(),
    "sparse": lambda: demo_report(depth=1, queries="intersection", corpus_size=10_000).html(),
    "sizes": lambda: demo_report(corpus_size={query: 10_000 + i for i, query in enumerate(DEMO.qrels)}).html(),
    "measures": measures_page,
    "formulas": formula_page,
    "owned": lambda: owned_report().html(),
    "funnel": lambda: funnel_report().html(),
    "unjudged": lambda: unjudged_report().html(),
    "groups": lambda: demo_report(by=GROUPS, over=("mean", "tail:0.1"), min_queries=4, bootstrap=99).html(),
    "units": lambda: demo_report(units=UNITS, measures=["LexiRecall", "R@10", "RR"]).html(),
    "single": lambda: replace_runs({"only.run": DEMO.runs["deep.run"]}),
}


def owned_report() -> Report:
    """Return a page with a map of providers, whose names are hostile."""
    documents = sorted({document for judged in DEMO.qrels.values() for document in judged})
    owners = {document: HOSTILE[1 + number % 7] for number, document in enumerate(documents)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exposures, "FEW", 5)  # so that there are intervals to look at
        return demo_report(providers=owners, bootstrap=99)


STAGES = {f"{HOSTILE[0]}@30": DEMO.runs["deep.run"], f"{HOSTILE[3]}@10": DEMO.runs["precise.run"]}


def funnel_report() -> Report:
    """Return a page with a funnel, of which the stages have hostile names, and the documents hostile texts."""
    documents = sorted({document for judged in DEMO.qrels.values() for document in judged})
    texts = {"documents": {document: HOSTILE[number % 7] for number, document in enumerate(documents)}}
    return demo_report(funnel=funnel(DEMO.qrels, STAGES, texts=texts))


def unjudged_report() -> Report:
    """Return a page about missing labels, of runs with hostile names, and of another order than on the page."""
    runs = {HOSTILE[number]: run for number, run in enumerate(DEMO.runs.values())}
    return demo_report(unjudged=unjudged(DEMO.qrels, runs, ["LexiRecall", "R@10", "AP"], rate=0.1, samples=20))


def replace_runs(runs: dict[str, Any]) -> str:
    return report(DEMO.qrels, runs, output=None).html()


@dataclass
class Opened:
    """A page in the browser, and what it did that it should not."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def check(self) -> None:
        """Fail if the page reported an error, opened a dialog, or asked for anything but itself."""
        assert self.complaints == []
        assert len(self.requests) == 1
        assert self.requests[0].startswith("file:")

    def wait(self) -> None:
        """Wait until everything that was asked for is drawn."""
        self.page.evaluate("atRest()")

    def go(self, fragment: str) -> None:
        """Write into the address bar."""
        self.page.evaluate("hash => { location.hash = hash; }", fragment)
        self.wait()

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_text_contents()]

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.text_content()).strip()

    def count(self, selector: str) -> int:
        return int(self.page.locator(selector).count())

    @property
    def fragment(self) -> str:
        return str(self.page.evaluate("location.hash"))

    @property
    def focused(self) -> str:
        return str(self.page.evaluate("document.activeElement.id"))


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def launch(browser: Any, files: Callable[[str], Path]) -> Open:
    """Open a kind of page, and keep a record of what it does that it should not."""

    def open_page(kind: str = "demo", fragment: str = "", width: int = 1400, **options: Any) -> Opened:
        page = patient(browser.new_page(viewport={"width": width, "height": 900}, **options))
        page.add_init_script(f"{{{AT_REST}}}")
        opened = Opened(page)
        page.on("console", lambda message: opened.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", opened.refuse)
        page.on("request", lambda request: opened.requests.append(request.url))
        page.goto(files(kind).as_uri() + fragment)
        page.wait_for_selector(COMPLETE)
        return opened

    return open_page


@pytest.fixture
def show(launch: Open) -> Iterator[Open]:
    """Open pages for one test, and complain at its end if one of them asked for anything or reported an error."""
    pages: list[Opened] = []

    def open_page(*arguments: Any, **options: Any) -> Opened:
        pages.append(launch(*arguments, **options))
        return pages[-1]

    yield open_page
    for opened in pages:
        opened.page.close()
        opened.check()


@pytest.fixture(scope="module")
def look(launch: Open) -> Open:
    """Open a kind of page once for all tests that only read it."""
    return cache(launch)


# Rendering


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_renders_without_complaints_and_without_the_network(look: Open, kind: str) -> None:
    opened = look(kind)
    opened.check()
    assert opened.count("#trouble:visible") == 0
    assert opened.count("section .body:empty") == 0
    assert (
        re.findall(r"\b(?:undefined(?! values)|NaN|null|false|Infinity)\b|\[object", opened.page.inner_text("main"))
        == []
    )


def test_the_sections_stand_in_their_order(look: Open) -> None:
    opened = look("demo")
    assert opened.page.evaluate("[...document.querySelectorAll('main > section')].map(each => each.id)") == [
        section for section in SECTIONS if section != "by"
    ]
    assert opened.texts("main > section > h2")[0] == "What was evaluated"
    assert opened.count("h1") == 1


def test_the_policy_of_the_page_forbids_the_network(browser: Any, files: Callable[[str], Path]) -> None:
    page = patient(browser.new_page())
    page.goto(files("demo").as_uri())
    violated = page.evaluate(
        """() => new Promise(resolve => {
            document.addEventListener("securitypolicyviolation", event => resolve(event.effectiveDirective));
            new Image().src = "https://example.org/x.png";
        })"""
    )
    assert violated == "img-src"
    page.close()


def test_a_damaged_page_says_so(browser: Any, files: Callable[[str], Path], tmp_path: Path) -> None:
    damaged = re.sub(r'(id="payload">.{99})[^<]*', r"\1", files("demo").read_text(encoding="utf-8"))
    (tmp_path / "damaged.html").write_text(damaged, encoding="utf-8")
    page = patient(browser.new_page())
    page.goto((tmp_path / "damaged.html").as_uri())
    page.wait_for_selector("#trouble:visible")
    assert "cannot be shown" in page.text_content("#trouble")
    page.close()


def test_without_scripts_the_leaderboard_is_left(browser: Any, files: Callable[[str], Path]) -> None:
    page = patient(browser.new_page(java_script_enabled=False))
    page.goto(files("demo").as_uri())
    assert "a deep.run" in page.text_content("noscript table")
    assert page.locator("main > section:visible").count() == 0
    page.close()


def test_conventions_are_said_in_words_and_what_was_left_out_is_listed(look: Open) -> None:
    words = " ".join(look("sparse").texts("#evaluated .conventions > div"))
    assert "only the first 1 document of each ranking counts" in words
    assert "10,000 documents; relevant ones not retrieved are placed at the bottom" in words
    sizes = " ".join(look("sizes").texts("#evaluated .conventions > div"))
    assert "10,000 to 10,029 documents, depending on the query; relevant ones not retrieved" in sizes
    assert not re.search(r"\b(score_dtype|judged_only|no_relevant|num_resamples)\b", words)
    assert "Holm" in words
    assert "Holm" not in " ".join(look("hsd").texts("#evaluated .conventions > div"))  # all runs at once
    assert look("hostile").texts("#evaluated .remarks li") != []


@pytest.mark.parametrize("kind", ["demo", "undrawn", "partial", "baseline", "sparse", "single"])
def test_a_page_says_run_query_and_document(look: Open, kind: str) -> None:
    words = look(kind).page.evaluate(
        """() => {
            const page = document.documentElement.cloneNode(true);
            // Notes, and the titles of measures, are not written by the page.
            const others = "script, style, noscript, .remarks, table.words";
            page.querySelectorAll(others).forEach(each => each.remove());
            page.querySelectorAll(".sort").forEach(each => each.removeAttribute("title"));
            const names = ["aria-label", "aria-description", "title", "placeholder"];
            const attributes = [...page.querySelectorAll("*")]
                .flatMap(each => names.map(name => each.getAttribute(name)));
            return [page.textContent, ...attributes.filter(Boolean)].join("\\n");
        }"""
    )
    assert re.findall(r".{0,40}(?:system|request|item|topic)s?\b.{0,40}", words, re.IGNORECASE) == []
    assert re.search(r"\bquer(y|ies)\b", words)


def test_charts_have_marks(look: Open) -> None:
    opened = look("drawn")
    assert opened.count("#pair .chart .bar") == len(DEMO.qrels)
    assert opened.count("#worst .chart .bar") == len(DEMO.qrels)
    assert opened.count("#recall .chart g[data-run]") == len(ORDER)
    assert opened.count("#measures .chart svg[role=img]") == 2
    assert opened.count("#query .strip path.dots") == len(ORDER)


def test_the_tail_has_a_line_for_each_run_and_its_values_in_a_table(show: Open) -> None:
    opened = show(fragment="#a=deep.run&b=precise.run&m=AP")
    assert opened.count("#pair svg path.steps") == 2
    told = opened.text("#pair h3:has-text('Where the tail differs') + .note")
    scores = evaluate(DEMO.qrels, DEMO.runs, ["AP"])
    values = {run: sorted(scores.values[s, :, 0].tolist()) for s, run in enumerate(scores.runs)}
    means = [f"{number(sum(values[run][:3]) / 3)} (3 queries)" for run in ("deep.run", "precise.run")]
    assert f"deep.run has a mean of {means[0]} and precise.run of {means[1]}" in told
    opened.page.locator("#pair summary", has_text="The values that are drawn").click()
    with opened.page.expect_download() as started:
        opened.page.locator("#pair details button.save").first.click()
    rows = [*csv.DictReader(started.value.path().read_text(encoding="utf-8").splitlines())]
    for run in ("deep.run", "precise.run"):
        assert [float(row[f"value of {run}"]) for row in rows] == pytest.approx(values[run], rel=1e-4)
    opened.page.fill("#filter-queries", "nothing is called so")
    opened.wait()
    assert opened.count("#pair svg path.steps:visible") == 0


def test_groups_are_those_of_eval_and_only_there_if_asked_for(show: Open) -> None:
    opened = show("groups", "#a=deep.run&b=precise.run&m=AP")
    options: dict[str, Any] = {"by": GROUPS, "over": ("mean", "tail:0.1"), "min_queries": 4, "bootstrap": 99}
    expected = evaluate(DEMO.qrels, DEMO.runs, ["AP"], **options).to_dict()
    for o, over in enumerate(("mean", "tail:0.1")):
        opened.page.locator("#by select").nth(1).select_option(str(o))
        rows = [[cell.strip() for cell in row.locator("th, td").all_text_contents()] for row in
                opened.page.locator("#by tbody tr").all()]  # fmt: skip
        worst_first = sorted(("odd", "even"), key=lambda group: sum(expected[r][group][over]["AP"] for r in ORDER))
        assert [row[0] for row in rows] == ["all queries", *worst_first]
        for row in rows:
            group = None if row[0] == "all queries" else row[0]
            assert [cell.split("[")[0] for cell in row[2:]] == [number(expected[r][group][over]["AP"]) for r in ORDER]
            has_interval = over == "mean"  # a tenth of so few queries are fewer than five
            assert all(cell.endswith("]") == has_interval for cell in row[2:])
    assert "1 group with fewer than 4 queries (3 queries together) is not shown" in opened.text("#by .note")
    assert "mean of the worst 10 %" in opened.texts("#leaderboard tbody th")
    assert show().count("#by, nav a[href='#by']") == 0


def test_a_page_of_units_says_which_document_serves_each(show: Open) -> None:
    opened = show("units", "#a=deep.run&b=precise.run")
    assert "What must be found are units" in opened.text("#evaluated .units")
    assert "Positions count documents." in opened.text("#evaluated .units")
    query = opened.text("#query h3").removeprefix("Query ")
    explained = explain(DEMO.qrels, DEMO.runs, units=UNITS, pair=("deep.run", "precise.run")).query(query)
    table = opened.page.locator("#query table", has_text="Level by level")
    served = [
        [cell.strip() for cell in row.locator("td").all_text_contents()] for row in table.locator("tbody tr").all()
    ]
    for row in served:
        serving = explained.a.servings[int(row[0]) - 1]
        assert row[3].split(" or ")[0] == (serving.by or "–")
        assert all(other in row[3] for other in serving.others[:3] if serving.by)
    assert "documents that serve it" in opened.texts("#query thead th")
    assert "Units: " not in " ".join(show().texts("#evaluated .conventions > div"))


# Leaderboard


def test_the_leaderboard_is_that_of_compare(look: Open) -> None:
    opened, table = look("demo"), COMPARISON.table()
    rows = opened.page.evaluate(
        """() => [...document.querySelectorAll(".leaderboard tbody tr")].map(row =>
            [...row.querySelectorAll(".value")].map(cell => [
                cell.firstChild.textContent, cell.querySelector("sup").textContent, !!cell.querySelector("strong")]))"""
    )
    as_python = [[(float(text), mark, best) for text, mark, best in row] for row in rows]
    assert as_python == [
        [(float(cell), table.marks.get((r, c), ""), (r, c) in table.best) for c, cell in enumerate(row) if c]
        for r, row in enumerate(table.rows)
    ]
    assert opened.texts(".leaderboard tbody th .id") == [*ORDER]


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_the_order(show: Open) -> None:
    opened = show()
    names = [str(each.measure) for each in COMPARISON.measures]
    means = dict(zip(COMPARISON.runs, COMPARISON.averages.means[:, names.index("AP")].tolist(), strict=True))
    ascending = sorted(ORDER, key=lambda run: means[run])
    heading = opened.page.locator(".leaderboard thead th", has_text="AP")
    heading.locator("button").click()
    assert opened.texts(".leaderboard tbody th .id") == ascending[::-1]
    assert heading.get_attribute("aria-sort") == "descending"
    opened.page.keyboard.press("Enter")  # the button has kept the focus
    assert opened.texts(".leaderboard tbody th .id") == ascending
    assert heading.get_attribute("aria-sort") == "ascending"
    assert opened.count(".leaderboard [aria-sort]:not([aria-sort=none])") == 1


def test_of_a_measure_to_be_small_the_smallest_comes_first(show: Open) -> None:
    opened = show("baseline")
    opened.page.locator(".leaderboard thead th", has_text="LastRel").locator("button").click()
    texts = opened.texts(".leaderboard tbody .value:nth-child(4)")
    shown = [float(text.rstrip("+−")) for text in texts if text != "–"]  # signs compare with the baseline
    assert shown == sorted(shown)


# Filters


def test_the_filter_of_runs_leaves_those_that_match(show: Open) -> None:
    opened = show("drawn")
    opened.page.fill("#filter-runs", "DEEP, rand")
    opened.wait()
    kept = ["deep.run", "random.run"]
    assert opened.texts(".leaderboard tbody th .id") == kept
    assert opened.texts(".matrix tbody th .id") == kept
    assert opened.count("#recall .chart g[data-run]:not([opacity])") == 2  # the others are pale
    assert opened.texts("#recall .table:visible tbody th .id") == kept
    assert opened.text("#filter-status") == "2 of 4 runs shown"
    opened.page.fill("#filter-runs", "nothing is called so")
    opened.wait()
    assert "No run matches" in opened.text("#leaderboard .body")
    opened.page.fill("#filter-runs", "")
    opened.wait()
    assert opened.count(".leaderboard tbody tr") == 4


def test_the_filter_of_queries_leaves_those_that_match_and_enter_opens_the_first(show: Open) -> None:
    opened = show()
    opened.page.fill("#filter-queries", "2")
    opened.wait()
    matching = [query for query in DEMO.qrels if "2" in query]
    assert opened.count("#pair .chart .bar") == len(matching)
    assert {*matching} <= {*opened.texts("#query .choice select option")}
    assert opened.text("#filter-status") == f"{len(matching)} of {len(DEMO.qrels)} queries shown"
    opened.page.press("#filter-queries", "Enter")
    opened.wait()
    assert opened.text("#query h3") == f"Query {matching[0]}"
    assert opened.focused == "h-query"


# Pairs


def pair_of(a: str, b: str, measure: str = "LexiRecall") -> dict[str, Any]:
    """Return what `compare` says of two runs, the first against the second."""
    row = next(row for row in COMPARISON.rows() if {row["a"], row["b"]} == {a, b} and row["measure"] == measure)
    if row["a"] == a:
        return row
    return row | {"mean": -row["mean"], "wins": row["losses"], "losses": row["wins"]}


def cell(a: str, b: str) -> str:
    return f".matrix tbody tr:nth-child({ORDER.index(a) + 1}) td:nth-child({ORDER.index(b) + 2})"


@pytest.mark.parametrize(("a", "b"), [("precise.run", "shallow.run"), ("shallow.run", "precise.run")])
def test_a_click_on_a_cell_shows_the_pair(show: Open, a: str, b: str) -> None:
    opened, pair = show(), pair_of(a, b)
    opened.page.click(cell(a, b))
    opened.wait()
    assert opened.fragment == f"#a={a}&b={b}"
    assert opened.focused == "h-pair"
    told = f"{a} is better on {pair['wins']} of 30 queries, {b} on {pair['losses']}, and {pair['ties']} tie"
    assert told in opened.text("#pair .lead")
    shown = opened.texts("#pair tr.chosen td")
    assert shown[0].replace("−", "-").removeprefix("+") == number(pair["mean"])
    assert [float(p.removeprefix("< ")) for p in shown[2:4]] == [
        pytest.approx(max(pair[key], 0.001), abs=5e-4) for key in ("p", "p_corrected")
    ]
    assert shown[4:] == [str(pair[key]) for key in ("wins", "ties", "losses")]


def test_the_matrix_has_the_means_of_compare_and_marks_what_is_significant(look: Open) -> None:
    opened = look("demo")
    for a in ORDER:
        for b in ORDER:
            if a != b:
                pair, shown = pair_of(a, b), opened.page.locator(cell(a, b))
                assert float(shown.text_content().replace("−", "-").rstrip("*")) == pytest.approx(
                    pair["mean"], abs=0.05
                )
                assert shown.text_content().endswith("*") == (pair["p_corrected"] < 0.05)
                assert f"{a} against {b}" in shown.get_attribute("aria-description")


def test_the_matrix_is_one_stop_for_the_keyboard_and_arrows_move_within(show: Open) -> None:
    opened = show()
    assert opened.count(".matrix td[tabindex='0']") == 1
    opened.page.focus(".matrix td[tabindex='0']")  # deep.run against precise.run
    for key in ("End", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowDown"):
        opened.page.keyboard.press(key)
    told = str(opened.page.evaluate("document.activeElement.ariaDescription"))
    assert told.startswith("precise.run against shallow.run")
    assert opened.count(".matrix td[tabindex='0']") == 1
    opened.page.keyboard.press("Enter")
    opened.wait()
    assert opened.fragment == "#a=precise.run&b=shallow.run"
    assert opened.focused == "h-pair"


def test_the_measure_of_a_pair_can_be_chosen(show: Open) -> None:
    opened = show()
    opened.page.locator("#pair .choice", has_text="Measure").locator("select").select_option(label="AP")
    opened.wait()
    pair = pair_of("deep.run", "precise.run", "AP")
    assert opened.fragment == "#m=AP"
    assert opened.texts("#pair tr.chosen th") == ["AP"]
    assert opened.text("#pairs select option:checked") == "AP"
    assert f"is better on {pair['wins']} of 30" in opened.text("#pair .lead")
    assert "Difference per query in AP" in opened.text("#pair h3")


def test_the_two_runs_of_a_pair_are_swapped_and_never_the_same(show: Open) -> None:
    opened = show()
    opened.page.click("#pair button:has-text('swap')")
    opened.wait()
    assert opened.fragment == "#a=precise.run&b=deep.run"
    opened.page.locator("#pair .choice", has_text="Run A").locator("select").select_option("0")
    opened.wait()
    assert opened.fragment == "#a=deep.run&b=precise.run"


def test_the_queries_that_decide_are_those_of_explain(show: Open) -> None:
    opened = show("demo", "#a=precise.run&b=shallow.run")
    runs = {name: DEMO.runs[name] for name in ("precise.run", "shallow.run")}
    explanation = explain(DEMO.qrels, runs)
    button = opened.page.locator("#pair .more:visible")
    button.click()
    shown = opened.texts("#pair .deciding tbody th")
    assert shown == [query.id for query in explanation.queries]
    reasons = opened.texts("#pair .reasons tbody td")
    counts = [count for reason, pair in explanation.counts.items() for count in pair if reason != "tie"]
    assert [int(text) for text in reasons] == counts


def test_a_bar_leads_to_its_query(show: Open) -> None:
    opened = show()
    opened.page.locator("#pair .chart .bar").nth(3).click()
    opened.wait()
    assert opened.fragment.startswith("#q=")
    assert opened.focused == "h-query"


def test_bars_are_one_stop_for_the_keyboard_and_arrows_move_within(show: Open) -> None:
    opened = show()
    assert opened.count("#pair .bar[tabindex='0']") == 1
    opened.page.focus("#pair .bar[tabindex='0']")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home", "ArrowRight"):
        opened.page.keyboard.press(key)
    label = str(opened.page.evaluate("document.activeElement.ariaLabel"))
    assert opened.text(".tip") == label
    assert opened.count("#pair .bar[tabindex='0']") == 1
    opened.page.keyboard.press("Enter")
    opened.wait()
    query = label.removeprefix("query ").partition(":")[0]
    assert opened.fragment == f"#q={query}"
    assert opened.focused == "h-query"


def test_bars_are_those_of_the_differences(show: Open) -> None:
    opened = show("demo", "#m=AP")
    values = evaluate(DEMO.qrels, DEMO.runs, ["AP"]).to_dict(per_query=True)
    deep, precise = values["deep.run"], values["precise.run"]
    expected = sorted((deep[query]["AP"] - precise[query]["AP"] for query in DEMO.qrels), reverse=True)
    texts = opened.page.evaluate("[...document.querySelectorAll('#pair .bar')].map(each => each.ariaLabel)")
    shown = [float(re.sub(r".*?: (\S+) \(.*", r"\1", text).replace("−", "-")) for text in texts]
    assert shown == pytest.approx(expected, abs=1e-4)
    boxes = opened.page.evaluate(
        """() => [...document.querySelectorAll("#pair .bar")].map(each =>
            [...["y", "height"]].map(key => Number(each.getAttribute(key))))"""
    )
    above = [(y, height) for (y, height), value in zip(boxes, expected, strict=True) if value > 0.01]
    zero = above[0][0] + above[0][1]
    scale = above[0][1] / expected[0]
    for (y, height), value in zip(boxes, expected, strict=True):
        if abs(value) > 0.01:
            assert height == pytest.approx(abs(value) * scale, abs=0.2)
            assert (y + height if value > 0 else y) == pytest.approx(zero, abs=0.2)


def test_charts_follow_the_width_of_the_window(show: Open) -> None:
    opened = show("demo", width=1400)
    wide = opened.page.evaluate("document.querySelector('#pair .chart svg').viewBox.baseVal.width")
    opened.page.set_viewport_size({"width": 700, "height": 900})
    narrower = "wide => document.querySelector('#pair .chart svg').viewBox.baseVal.width < wide / 1.5"
    opened.page.wait_for_function(narrower, arg=wide)
    assert opened.count("#pair .chart .bar") == len(DEMO.qrels)


@pytest.mark.parametrize(("kind", "words"), [("undrawn", ""), ("damaged", "This drawing is damaged")])
def test_without_a_drawing_its_table_is_left(look: Open, kind: str, words: str) -> None:
    opened = look(kind)
    assert opened.count("#recall svg, #measures svg") == 0
    assert opened.count("#recall .chart:visible") == bool(words)
    assert words in opened.text("#recall")
    assert opened.count("#measures tbody tr") == 7
    assert opened.count("#recall .table:visible tbody tr") == len(ORDER)


def test_a_drawing_that_names_a_section_is_shown_at_its_end(show: Open) -> None:
    opened = show("added")
    assert opened.text("#worst > h3") == "My <i>own</i> chart"
    assert opened.count("#worst > .chart:last-child g[data-run]") == len(ORDER)
    name, _ = saved(opened, "#worst > .chart .save")
    assert name == "my-i-own-i-chart.svg"


# Files


def saved(opened: Opened, button: str) -> tuple[str, str]:
    """Return the name and the text of the file that a button gives."""
    with opened.page.expect_download() as download:
        opened.page.locator(button).first.click()
    text = Path(download.value.path()).read_bytes().decode()
    return download.value.suggested_filename, text


def test_every_chart_and_table_saves_itself(look: Open) -> None:
    opened = look("drawn")
    assert opened.count(".chart:not(:has(.save))") == 0
    assert opened.count(".save[aria-label^='save SVG']") == 7
    assert opened.page.evaluate(
        """[...document.querySelectorAll("table")].filter(each =>
            !each.closest(".table, .scroll")?.parentElement.querySelector(".save")).length"""
    ) == 0  # fmt: skip


@pytest.mark.parametrize(("section", "scheme"), [("pair", "dark"), ("recall", "light")])
def test_a_saved_chart_is_a_drawing_in_literal_colours_on_white(show: Open, section: str, scheme: str) -> None:
    opened = show("drawn", color_scheme=scheme)
    name, text = saved(opened, f"#{section} .chart .save")
    assert name == {"pair": "lexirecall-deep-run-less-precise-run.svg", "recall": "recall-by-depth.svg"}[section]
    drawing = ET.fromstring(text.encode())  # noqa: S314 # our own file
    namespace = {"svg": "http://www.w3.org/2000/svg"}
    paper, *rects = drawing.findall(".//svg:rect", namespace)
    assert (paper.get("fill"), paper.get("width")) == ("#ffffff", drawing.get("width"))
    assert len(rects) >= {"pair": len(DEMO.qrels), "recall": len(ORDER)}[section]
    colours = {"pair": ["0, 114, 178", "179, 80, 0"], "recall": ["0, 114, 178", "213, 94, 0", "0, 158, 115"]}[section]
    assert {rect.get("fill") for rect in rects} >= {f"rgb({colour})" for colour in colours}  # those of light pages
    assert "var(" not in text
    assert not re.search("tabindex|onclick|<script|class=", text)


def test_a_saved_diagram_of_groups_looks_as_on_the_page(show: Open) -> None:
    name, text = saved(show(color_scheme="dark"), "#leaderboard .chart .save")
    assert name == "groups-under-lexirecall.svg"
    drawing = ET.fromstring(text.encode())  # noqa: S314 # our own file
    texts = drawing.findall(".//{http://www.w3.org/2000/svg}text")
    assert {"deep.run", "random.run"} <= {str(each.text).partition(" ")[2] for each in texts}
    assert {each.get("fill") for each in texts} <= {"rgb(28, 33, 40)", "rgb(86, 96, 107)"}  # dark ink, on white


def test_a_saved_table_has_every_row_and_numbers_that_programs_read(show: Open) -> None:
    opened = show()
    name, text = saved(opened, "#pair .deciding ~ .save, #pair .table:has(.deciding) .save")
    assert name == "the-queries-that-decide-the-clearest-first.csv"
    rows = list(csv.DictReader(text.splitlines()))
    explanation = explain(DEMO.qrels, {name: DEMO.runs[name] for name in ORDER[:2]})
    assert [row["query"] for row in rows] == [each.id for each in explanation.queries]
    assert [int(row["A finds"]) for row in rows] == [each.a.num_found for each in explanation.queries]
    assert text.count("\r\n") == text.count("\n") == len(rows) + 1


def test_the_saved_leaderboard_has_letters_and_values_apart(show: Open) -> None:
    opened, table = show(), COMPARISON.table()
    rows = list(csv.reader(saved(opened, "#leaderboard .save")[1].splitlines()))
    assert COMPARISON.averages is not None
    for r, (row, expected) in enumerate(zip(rows[1:], table.rows, strict=True)):
        assert row[1] == expected[0]
        assert [float(cell) for cell in row[2::2]] == [
            pytest.approx(float(cell), abs=1e-4) for cell in expected[1:]
        ]  # fmt: skip
        assert row[3::2] == [table.marks.get((r, c), "") for c in range(1, len(table.header))]


def test_a_saved_name_cannot_be_run_by_a_spreadsheet(show: Open) -> None:
    opened = show("formulas")
    rows = list(csv.reader(saved(opened, "#leaderboard .save")[1].splitlines()))
    assert sorted(row[1] for row in rows[1:]) == ["a =1+1", 'b @sum,"x"']
    rows = list(csv.reader(saved(opened, "#worst .table .save")[1].splitlines()))
    assert [row[0] for row in rows[1:]] == ["'=HYPERLINK(1)"]


def test_the_saved_matrix_has_every_pair(show: Open) -> None:
    rows = list(csv.DictReader(saved(show("large"), "#pairs .save")[1].splitlines()))
    assert len(rows) == 110 * 109
    rows = list(csv.DictReader(saved(show(), "#pairs .save")[1].splitlines()))
    for row in rows:
        pair = pair_of(row["row"], row["column"])
        assert float(row["difference"]) == pytest.approx(pair["mean"], rel=1e-3)
        assert float(row["p"]) == pytest.approx(pair["p_corrected"], rel=1e-3)
        assert int(row["wins"]) == pair["wins"]


def test_the_saved_strips_have_every_position(show: Open) -> None:
    rows = list(csv.DictReader(saved(show("demo", "#q=1"), "#query .table:has(.strips) .save")[1].splitlines()))
    side = explain(DEMO.qrels, {"a": DEMO.runs["random.run"], "b": DEMO.runs["deep.run"]}).query("1").a
    row = next(row for row in rows if "random.run" in row["run"])
    assert [float(text) for text in row["positions"].split()] == [*side.found.values()]
    assert row["documents missed"].split() == list(side.missing)


# Queries


def test_a_click_on_a_query_shows_it(show: Open) -> None:
    opened = show("demo", "#a=precise.run&b=random.run")
    link = opened.page.locator("#pair tbody th a").nth(5)
    query = link.text_content()
    link.click()
    opened.wait()
    assert opened.fragment == f"#a=precise.run&b=random.run&q={query}"
    assert opened.text("#query h3") == f"Query {query}"
    assert opened.focused == "h-query"


@pytest.mark.parametrize(("a", "b"), [("deep.run", "precise.run"), ("random.run", "shallow.run")])
def test_the_sentence_of_a_query_is_that_of_explain(show: Open, a: str, b: str) -> None:
    opened = show()
    explanation = explain(DEMO.qrels, {a: DEMO.runs[a], b: DEMO.runs[b]})
    for query in explanation.queries:
        opened.page.evaluate("hash => { location.hash = hash; }", f"#a={a}&b={b}&q={query.id}")
        opened.page.wait_for_function(
            "text => document.querySelector('#query h3').textContent === text", arg=f"Query {query.id}"
        )
        assert opened.text("#query .sentence") == query.sentence()


def test_a_strip_has_every_position_and_marks_the_deciding_level(show: Open) -> None:
    a, b = "deep.run", "precise.run"
    explanation = explain(DEMO.qrels, {a: DEMO.runs[a], b: DEMO.runs[b]})
    explained = next(each for each in explanation.queries if each.preferred == a and len(each.b.missing) == 2)
    opened = show("demo", f"#a={a}&b={b}&q={explained.id}")
    for row, side in enumerate((explained.a, explained.b)):
        path = opened.page.locator("#query .strip path.dots").nth(row).get_attribute("d")
        assert path.count("M") == side.num_found
    level = explained.level or 0
    position = f"{explained.a.positions[level - 1]:,.0f}"
    assert opened.texts("#query .pointer") == [f"level {level} at {position}", f"level {level} missing"]
    assert opened.texts("#query tr.chosen td")[:2] == [str(level), position]
    assert opened.texts("#query .strips tr.side-b td:last-child .id") == list(explained.b.missing)


def test_the_documents_that_a_run_misses_are_all_there(show: Open) -> None:
    opened = show("demo", "#q=1")
    side = explain(DEMO.qrels, {"a": DEMO.runs["random.run"], "b": DEMO.runs["deep.run"]}).query("1").a
    row = opened.page.locator("#query .strips tbody tr", has_text="random.run")
    row.locator("summary").click()
    row.locator("details > div .id").first.wait_for()
    assert row.locator("details > div .id").all_text_contents() == list(side.missing)


def test_previous_and_next_go_through_the_queries_that_are_shown(show: Open) -> None:
    opened = show("demo", "#q=3")
    for button, query in (("Next", "4"), ("Previous", "3"), ("Previous", "2")):
        opened.page.click(f"#query button[aria-label^={button}]")
        opened.wait()
        assert opened.text("#query h3") == f"Query {query}"


def test_worst_off_queries_come_first(show: Open) -> None:
    opened = show()
    opened.page.locator("#worst select").select_option(label="b precise.run")
    opened.wait()
    assert COMPARISON.scores is not None
    recall = COMPARISON.scores.values[COMPARISON.runs.index("precise.run"), :, 2]  # R@1000 of lists of a thousand
    shown = [float(text.removesuffix(" %")) for text in opened.texts("#worst tbody .value")]
    assert shown == pytest.approx([round(100 * value, 1) for value in sorted(recall)[: len(shown)]], abs=0.051)
    opened.page.locator("#worst tbody a").first.click()
    opened.wait()
    assert opened.focused == "h-query"


# Addresses


def test_an_address_opens_what_it_names(show: Open) -> None:
    opened = show("demo", "#a=shallow.run&b=random.run")
    assert opened.focused == "h-pair"
    assert opened.text("#pair .lead").startswith("Under LexiRecall, shallow.run is better on")
    opened.go("#q=12")
    assert opened.text("#query h3") == "Query 12"
    assert opened.focused == "h-query"
    assert "deep.run is better" in opened.text("#pair .lead")  # what is not named is as on opening
    opened.page.go_back()
    opened.wait()
    assert opened.text("#pair .lead").startswith("Under LexiRecall, shallow.run is better on")


def test_state_and_address_survive_opening_the_page_again(show: Open) -> None:
    opened = show()
    opened.page.click(cell("random.run", "precise.run"))
    opened.wait()
    opened.page.locator("#pair tbody th a").nth(2).click()
    opened.wait()
    again = show("demo", opened.fragment)
    for selector in ("#pair .lead", "#query h3", "#query .sentence"):
        assert again.text(selector) == opened.text(selector)
    assert again.focused == "h-query"


def test_an_address_of_a_section_leaves_the_pair_and_the_query(show: Open) -> None:
    opened = show("demo", "#a=shallow.run&b=random.run&q=12")
    for fragment in ("#leaderboard", "#main"):
        opened.go(fragment)
        assert opened.text("#query h3") == "Query 12"
        assert "shallow.run" in opened.text("#pair .lead")
    opened.page.click("nav a[href='#recall']")
    assert opened.focused == "h-recall"
    assert opened.fragment == "#main"


def test_an_address_that_names_nothing_here_says_so_and_a_broken_one_does_no_harm(show: Open) -> None:
    opened = show("demo", "#q=no-such-query&a=%E0%A4%A")
    assert "no-such-query" in opened.text("#filter-status")
    assert opened.text("#query h3").startswith("Query ")


# Hostile names


def test_hostile_names_stay_text(show: Open) -> None:
    opened = show("hostile")
    expected = sorted(f"r{visible(name)[:39]}" for name in HOSTILE)
    shown = sorted(text.removesuffix("…")[:40] for text in opened.texts(".leaderboard tbody th .id"))
    assert [text[:39] for text in shown] == [text[:39] for text in expected]
    assert opened.count("main script, main img") == 0
    assert opened.text("h1") == visible("</title><script>alert(4)</script>\u202e")
    assert "\u202e" not in opened.page.evaluate("document.body.innerText")
    for name in HOSTILE[:-1]:
        opened.go(f"#q={quote('q' + name, safe='')}")
        assert opened.text("#query h3") == visible(f"Query q{name}")


def test_hostile_texts_stay_text_and_are_those_of_their_ids(show: Open) -> None:
    opened = show("texts")
    assert opened.count("main script, main img") == 0
    queries = list(DEMO.qrels)
    for i, text in enumerate(HOSTILE_TEXTS):
        opened.go(f"#q={queries[i]}")
        assert opened.text("#query .query-text") == shortened(text)
        shown = dict(zip(opened.texts("#query .columns tbody th"), opened.texts("#query td .text"), strict=True))
        documents = sorted({document for judged in DEMO.qrels.values() for document in judged})
        expected = {each: shortened(HOSTILE_TEXTS[documents.index(each) % len(HOSTILE_TEXTS)]) for each in shown}
        assert shown == expected
    body = opened.page.evaluate("document.body.innerText")
    assert not {"\u202e", "\u0007", "\u2028"} & set(body)
    assert opened.count("#worst td .text") == 10
    assert opened.count("#pair .deciding td .text") == 12
    assert shortened(HOSTILE_TEXTS[0]) in " ".join(opened.texts("#query select option"))


def test_the_filter_of_queries_finds_words(show: Open) -> None:
    opened = show("texts")
    opened.page.fill("#filter-queries", "${ALERT(7)}")
    opened.wait()
    assert opened.text("#filter-status") == f"1 of {len(DEMO.qrels)} queries shown"


def test_texts_of_units_are_those_of_the_documents_that_serve_them(show: Open) -> None:
    opened = show("unit texts")
    documents = sorted({document for judged in DEMO.qrels.values() for document in judged})
    rows = opened.page.locator("#query .columns table", has_text="documents that serve it").locator("tbody tr").all()
    assert rows
    for row in rows:
        server = str(row.locator("td .id").first.text_content())
        expected = shortened(HOSTILE_TEXTS[documents.index(server) % len(HOSTILE_TEXTS)])
        assert row.locator(".text").text_content() == expected


def test_names_that_objects_inherit_are_drawn_as_any_other(show: Open) -> None:
    opened = show("inherited")
    assert sorted(opened.texts(".leaderboard tbody th .id")) == sorted(INHERITED)
    for section in ("pair", "worst"):
        assert opened.count(f"#{section} .chart .bar") == len(INHERITED)
    for name in INHERITED:
        opened.go(f"#q={name}")
        assert opened.text("#query h3") == f"Query {name}"
        assert sorted(opened.texts("#query .strips tbody th .id")) == sorted(INHERITED)


def test_measures_that_are_called_as_what_objects_inherit_are_measures(show: Open) -> None:
    opened, plain = show("measures"), show()
    for name, measure in zip(INHERITED, ("AP", "RR", "R@1000"), strict=False):
        opened.go(f"#m={name}")
        plain.go(f"#m={quote(measure)}")
        for selector in ("#pair tr.chosen td", "#pair .chart:has(.bar) text"):
            assert opened.texts(selector) == plain.texts(selector)
        assert opened.texts("#pair tr.chosen th") == [name]
        told = [str(each.page.evaluate("document.querySelector('#pair .bar').ariaLabel")) for each in (opened, plain)]
        assert told[0] == told[1]
    assert opened.texts("#measures tbody th") == ["LexiRecall", *INHERITED[:3]]


def test_every_name_that_objects_inherit_is_known(show: Open) -> None:
    assert set(show().page.evaluate("Object.getOwnPropertyNames(Object.prototype)")) == _INHERITED


def test_a_long_name_is_cut_and_its_title_has_it_whole(show: Open) -> None:
    opened = show("long", f"#q={'q' * 10_000}&a={'r' * 10_000}&b=precise.run")
    heading = opened.page.locator("#query h3 .id")
    assert len(heading.text_content()) == 80
    assert heading.get_attribute("title") == "q" * 10_000
    assert max(len(text) for text in opened.texts("main .id")) <= 80
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1400


# Colours, sizes and paper


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_run_and_the_button_turns_them(show: Open, scheme: str) -> None:
    opened = show(color_scheme=scheme)
    lightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((x, y) => x + +y, 0)"
    label = "getComputedStyle(document.querySelector('#pair .chart text')).fill"
    before, before_label = opened.page.evaluate(lightness), opened.page.evaluate(label)
    assert (before > 384) == (scheme == "light")
    opened.page.click("#theme")
    assert (opened.page.evaluate(lightness) > 384) != (scheme == "light")
    assert opened.page.evaluate(label) != before_label  # charts turn with the page


@pytest.mark.parametrize("kind", ["demo", "hostile", "texts", "large"])
def test_on_a_phone_only_tables_scroll_sideways(show: Open, kind: str) -> None:
    opened = show(kind, width=400)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 400


def test_on_paper_there_are_no_controls_and_nothing_is_cut(show: Open) -> None:
    opened = show(color_scheme="dark")
    opened.page.emulate_media(media="print")
    assert opened.count(".filters:visible, nav:visible, .controls:visible, .more:visible, #theme:visible") == 0
    assert opened.page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


# For everybody


def test_everything_has_a_name_for_those_who_do_not_see_it(look: Open) -> None:
    opened = look("drawn")
    assert opened.page.locator("table:not(:has(caption))").count() == 0
    charts = opened.page.locator(".chart svg")
    assert charts.count() == 7
    for chart in charts.all():
        assert chart.get_attribute("role") in ("img", "group")  # a group has bars, each with a name of its own
        assert len(chart.get_attribute("aria-label")) > 40
    unnamed = opened.page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter(each =>
            !(each.ariaLabel || each.textContent.trim() || each.labels?.length)).length"""
    )
    assert unnamed == 0


@pytest.mark.parametrize("kind", ["demo", "single", "baseline", "texts"])
def test_every_column_has_a_heading(show: Open, kind: str) -> None:
    assert (
        show(kind).page.evaluate("[...document.querySelectorAll('th')].filter(each => !each.textContent.trim()).length")
        == 0
    )


def test_whatever_has_the_focus_shows_it(show: Open) -> None:
    opened = show()
    for _ in range(12):
        opened.page.keyboard.press("Tab")
        style = opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style == "solid", opened.page.evaluate("document.activeElement.outerHTML")


# Large pages


def test_a_large_page_draws_what_can_be_read_and_more_when_asked(show: Open) -> None:
    opened = show("large")
    assert opened.count(".matrix.terse tbody td") == 110 * 110
    assert opened.page.evaluate("document.querySelectorAll('*').length") < 30_000
    assert opened.count("#pair .chart .bar") <= 249
    assert opened.count(".leaderboard tbody tr") == 40
    opened.page.click("#leaderboard .more")
    assert opened.count(".leaderboard tbody tr") == 90


def test_what_a_page_does_not_hold_is_said(show: Open) -> None:
    opened = show("partial", "#a=shallow.run&b=random.run&q=28")
    assert "does not hold a test" in opened.text("#pair .note")
    assert "does not hold the rankings" in opened.text("#query .note")
    assert opened.texts("#query .strips tbody th .id") == ["deep.run", "precise.run"]


# What a reader should know


def test_the_headline_comes_first_and_the_conventions_are_folded(show: Open) -> None:
    opened, payload = show(), demo_report().payload
    assert opened.page.evaluate("document.querySelector('#evaluated .body').firstElementChild.className") == "headline"
    told = opened.text("#evaluated .headline")
    for sentence in payload["headline"]:
        for part in sentence:
            assert str(part.get("text", "")).strip() in told
    assert told.startswith("deep.run has the highest win rate under LexiRecall, ")
    assert opened.count("#evaluated .conventions:visible") == 0
    opened.page.click("#evaluated summary:has-text('Conventions')")
    assert opened.count("#evaluated .conventions:visible") == 1


# Groups


@pytest.mark.parametrize("kind", ["demo", "large"])
def test_groups_are_those_of_the_payload(show: Open, kind: str) -> None:
    opened = show(kind)
    payload = demo_report().payload if kind == "demo" else large_payload(demo_report().payload)
    order, groups = payload["group_order"][0], payload["groups"][0]
    assert opened.count(".groups .mark") == len(order)
    labels = [mark.get_attribute("aria-label") for mark in opened.page.locator(".groups .mark").all()]
    for place, (label, s) in enumerate(zip(labels, order, strict=True), 1):
        assert label.startswith(f"{place}. {payload['runs'][s]}: {number(payload['means'][s][0])}, ")
    assert opened.count(".groups .joined") == sum(last > first for first, last in groups)
    opened.page.click("#leaderboard summary:has-text('as a table')")
    while opened.count("#leaderboard .more:visible") > (kind == "large"):
        opened.page.locator("#leaderboard .more:visible").last.click()
    rows = opened.page.locator("#leaderboard details:has(summary:has-text('as a table')) tbody tr").all()
    places = [row.locator("td").first.inner_text() for row in rows]
    assert places == [f"{a + 1} to {b + 1}" if a < b else str(a + 1) for a, b in groups]


def test_groups_follow_the_measure_and_fit_on_the_screen(show: Open) -> None:
    opened = show("large")
    box = opened.page.locator("svg.groups").bounding_box()
    assert box["width"] <= opened.page.viewport_size["width"]
    assert box["height"] <= 600
    opened.page.locator("#leaderboard select").select_option("4")
    opened.wait()
    assert "under AP," in opened.page.locator("svg.groups").get_attribute("aria-label")


def test_groups_are_one_stop_for_the_keyboard_and_say_whose_mark_has_the_focus(show: Open) -> None:
    opened = show("large")
    assert opened.count(".groups [tabindex='0']") == 1
    opened.page.focus(".groups .mark")
    for key, place in (("ArrowRight", 1), ("PageDown", 11), ("End", 109), ("ArrowRight", 109), ("Home", 0)):
        opened.page.keyboard.press(key)
        assert opened.page.evaluate("document.activeElement.dataset.place") == str(place)
        assert opened.text(".tip").startswith(f"{place + 1}. system{place:03}: ")


def test_there_is_a_note_instead_of_groups_where_not_every_pair_is_tested(show: Open) -> None:
    opened = show("baseline")
    assert opened.count("svg.groups") == 0
    assert "With a baseline" in opened.text("#leaderboard .body")


# Many runs


def test_many_runs_have_counts_and_letters_when_asked_and_the_table_stays_on_the_screen(show: Open) -> None:
    opened = show("large")
    marks = opened.texts(".leaderboard tbody tr:first-child sup")
    assert set(marks) == {"> 109"}
    for is_pressed in ("true", "false"):
        opened.page.click("button.letters")
        opened.wait()
        assert opened.page.locator("button.letters").get_attribute("aria-pressed") == is_pressed
        scroll = opened.page.locator(".scroll:has(> .leaderboard)")
        assert scroll.evaluate("(each) => each.scrollWidth <= each.clientWidth")
        shown = set(opened.texts(".leaderboard tbody tr:first-child sup"))
        assert shown == ({"s100-s109"} if is_pressed == "true" else {"> 109"})


def test_a_large_matrix_is_zoomed_and_keeps_its_keyboard(show: Open) -> None:
    opened = show("large")
    width = "document.querySelector('.matrix tbody td').getBoundingClientRect().width"
    before = opened.page.evaluate(width)
    for _ in range(4):
        opened.page.click(".zoom button:last-child")
    opened.wait()
    assert opened.page.evaluate(width) > 3 * before
    assert opened.page.locator(".zoom button:last-child").get_attribute("aria-disabled") == "true"
    assert re.fullmatch(r"[+−]?\.?\d+\*?", opened.text(".matrix tbody tr:first-child td:nth-child(9)"))
    opened.page.focus(".matrix td[tabindex='0']")
    opened.page.keyboard.press("ArrowRight")
    assert opened.page.evaluate("document.activeElement.cellIndex") == 3
    for _ in range(4):
        opened.page.click(".zoom button:first-child")
    assert opened.page.evaluate(width) == before
    assert show("demo").count(".zoom:visible") == 0


def test_enter_in_the_filter_of_runs_goes_to_the_row(show: Open) -> None:
    opened = show("large")
    opened.page.fill("#filter-runs", "system087")
    opened.page.keyboard.press("Enter")
    opened.wait()
    assert opened.page.evaluate("document.activeElement.matches('.leaderboard tbody tr')")
    assert "system087" in opened.page.evaluate("document.activeElement.textContent")


def test_paper_has_every_row_and_column(show: Open) -> None:
    opened = show("large")
    opened.page.pdf()  # as a reader prints
    assert opened.count(".more:not([hidden])") == 0
    assert opened.count(".leaderboard tbody tr") == 110
    assert opened.count("#evaluated details tbody tr") == 110
    assert opened.count("details[open]") == 0  # folded again
    opened.page.emulate_media(media="print")
    opened.page.set_viewport_size({"width": 718, "height": 1000})  # A4 less the margins
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    wide = opened.page.evaluate(
        "[...document.querySelectorAll('table')].filter(each => each.getBoundingClientRect().right > 719)"
        ".map(each => each.caption.textContent)"
    )
    assert wide == []


# Rules of accessibility


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["demo", "single", "baseline", "hostile", "texts", "large"])
def test_axe_finds_no_fault(show: Open, kind: str, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci")
    opened = show(kind, color_scheme=scheme)
    opened.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    opened.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = opened.page.evaluate("axe.run({ resultTypes: ['violations'] })")
    faults = {each["id"]: [node["html"][:200] for node in each["nodes"][:3]] for each in found["violations"]}
    assert faults == {}


# Stages


def test_the_stages_of_a_funnel_are_those_of_python(show: Open) -> None:
    opened, made = show("funnel"), funnel(DEMO.qrels, STAGES)
    names = [visible(stage.name) for stage in made.stages]
    assert opened.texts("#funnel .table:nth-of-type(1) tbody th .id") == names
    last = opened.texts("#funnel .table:nth-of-type(1) tbody tr:last-child td")
    stage, preference = made.stages[-1], made.preference(1)
    assert preference is not None
    shown = [number(stage.recall), number(stage.all), f"{preference:.4f}".replace("-", "\u2212")]
    assert last[:5] == [*shown, str(stage.better), str(stage.worse)]
    assert opened.texts("#funnel .table:nth-of-type(2) tbody tr:last-child td") == [
        f"{count:,}" for count in (*stage.lost.values(), stage.found, stage.entered)
    ]
    lost = opened.page.locator("#funnel .table:nth-of-type(3) tbody tr")
    assert lost.count() == 20
    first = made.losses[0]
    assert first.query in lost.first.text_content()
    assert LOSSES[first.kind] in lost.first.text_content()
    assert opened.count("#funnel td .text") > 0
    assert opened.count("#funnel img, #funnel script") == 0


def test_a_query_of_the_funnel_leads_to_its_section(show: Open) -> None:
    opened = show("funnel")
    link = opened.page.locator("#funnel .table:nth-of-type(3) tbody a").first
    query = link.text_content()
    link.click()
    opened.wait()
    assert opened.text("#query h3") == f"Query {query}"


def test_a_page_without_a_funnel_has_no_section_of_stages(look: Open) -> None:
    assert look().count("#funnel, nav a[href='#funnel']") == 0
    assert look("funnel").count("nav a[href='#funnel']") == 1


# Missing labels


def test_what_depends_on_missing_labels_is_that_of_python(show: Open) -> None:
    opened = show("unjudged")
    runs = {HOSTILE[number]: run for number, run in enumerate(DEMO.runs.values())}
    made = unjudged(DEMO.qrels, runs, ["LexiRecall", "R@10", "AP"], rate=0.1, samples=20)
    assert opened.texts("#unjudged .body > p:not(.note)")[: len(made.sentences())] == [
        visible(sentence) for sentence in made.sentences()
    ]
    assert opened.texts("#unjudged .table:nth-of-type(1) tbody th .id") == [visible(name) for name in made.runs]
    first, bounds = made.labels[0], [each for each in made.bounds if each.run == made.runs[0]]
    cells = opened.texts("#unjudged .table:nth-of-type(1) tbody tr:first-child td")
    assert cells[:2] == [f"{first.retrieved:,}", f"{first.unjudged:,}"]
    shown = [f"{number(each.value)} ({number(each.low)} to {number(each.high)})" for each in bounds]
    assert cells[3:] == shown
    pairs = [row for row in made.rows() if row["kind"] == "pair"]
    cells = opened.texts("#unjudged .table:nth-of-type(2) tbody tr:first-child td")
    assert cells[2:5] == [f"{pairs[0][name]:,}" for name in ("decided", "tied", "safe")]
    assert opened.count("#unjudged .range .now") == len(made.bounds)
    assert opened.count("#unjudged img, #unjudged script") == 0


def test_a_page_without_missing_labels_has_no_section_of_them(look: Open) -> None:
    assert look().count("#unjudged, nav a[href='#unjudged']") == 0
    assert look("unjudged").count("nav a[href='#unjudged']") == 1


# Recall by share of the corpus


def test_a_switch_shows_recall_by_share_of_the_corpus(show: Open) -> None:
    opened = show("sizes")
    buttons = "#recall [role=group] button"
    assert opened.texts(buttons) == ["Depth of the list", "Share of the corpus"]
    assert "by depth" in opened.page.locator("#recall svg").first.get_attribute("aria-label")
    opened.page.locator(buttons).nth(1).click()
    assert "by share of the corpus" in opened.page.locator("#recall svg").first.get_attribute("aria-label")
    pressed = [button.get_attribute("aria-pressed") for button in opened.page.locator(buttons).all()]
    assert pressed == ["false", "true"]
    opened.page.locator("#recall summary").click()
    heads = opened.texts("#recall details thead th")
    assert heads[:4] == ["run", "1 %", "2 %", "5 %"]
    names = opened.texts("#recall details tbody th")
    assert names[-2:] == ["ideal", "random order"]
    assert opened.texts("#recall details tbody tr:last-child td")[3] == "10.0 %"


def test_without_a_corpus_size_there_is_no_switch(look: Open) -> None:
    opened = look()
    assert opened.count("#recall [role=group] button") == 0
    assert opened.texts("#recall details tbody th")[-1] == "ideal"


# Providers


def test_providers_are_sorted_searched_and_chosen_by_run(show: Open) -> None:
    opened, made = show("owned"), owned_report().payload["providers"]
    names = [visible(name) for name in made["names"]]
    for s, run in enumerate(ORDER[:2]):
        opened.page.select_option("#providers select", str(s))
        own = made["runs"][s]
        assert opened.texts("#providers tbody th .id") == [names[c] for c in own["provider"]]
        assert opened.text("#providers caption") == f"Providers of relevant documents in {run}"
        ends = [own[end][0] for end in ("ratio_low", "ratio_high", "low", "high")]
        low, high, *others = map(number, ends)
        assert opened.texts("#providers tbody tr:first-child .interval") == [
            f"[{low}, {high}]",
            f"[{', '.join(others)}]",
        ]
        assert opened.texts("#providers tbody td:nth-child(6)") == [number(p) for p in own["p_corrected"]]
    heading = opened.page.locator("#providers thead th", has_text="merit")
    heading.locator("button").click()
    merits = [int(text.replace(",", "")) for text in opened.texts("#providers tbody td:nth-child(4)")]
    assert merits == sorted(made["runs"][1]["merit"])
    opened.page.keyboard.press("Enter")  # the button has kept the focus
    assert heading.get_attribute("aria-sort") == "descending"
    opened.page.fill("#providers input", "IMG")
    assert opened.texts("#providers tbody th .id") == [visible(HOSTILE[1])]
    opened.page.fill("#providers input", "nobody")
    assert opened.text("#providers .note:not(.controls + .note)").startswith("No provider matches.")


def test_a_page_without_a_map_has_no_section_of_providers(look: Open) -> None:
    assert look().count("#providers, nav a[href='#providers']") == 0
    assert look("owned").count("nav a[href='#providers']") == 1

"""The report: the page shows what the other verbs compute, and nothing in the data can become code."""

import datetime as dt
import re
import sys
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from command import Outcome
from lexirecall import compare, evaluate, explain, project, report, simulate_collection, study
from lexirecall.errors import DataError, UsageError
from lexirecall.installing import how_to_install
from lexirecall.judgments import Judgments, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.page import Report, html
from lexirecall.page.charts import difference_intervals, leaderboard, query_strips, recall_curves
from lexirecall.page.charts.measures import depth_rows
from lexirecall.page.charts.queries import query_difference_rows, strip_rows
from lexirecall.page.charts.runs import difference_rows, matrix_rows
from lexirecall.page.limits import Limits, select
from lexirecall.page.recall import RECALLS
from lexirecall.plots import FORMATS
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.texts import shortened
from lexirecall.tracks import RunPositions, Tracks
from strategies import LEVELS, Collection, collections, costly, quick

Command = Callable[..., Outcome]

SIMULATED = simulate_collection(7, num_queries=12)
GOOD = {name: text.encode() for name, text in SIMULATED.to_trec().items()}
RUNS = sorted(name for name in GOOD if name.endswith(".run"))
NEW_YEAR = dt.date(2026, 1, 1)
STAND_IN = {
    "template.html": "<title>{{TITLE}}</title><style>{{STYLE}}</style><noscript>{{NOSCRIPT}}</noscript>"
    '<script id="payload">{{DATA}}</script><script>{{SCRIPT}}</script>\n',
    "style.css": "p { color: red }",
    **dict.fromkeys((f"{name}.js" for name in html.MODULES), ""),
    "start.js": "say('{{TITLE}} </script> <!-- <script>')",
}
HOSTILE = (
    "<script>alert(1)</script>", "</script>", "<!-- <script>", "'\"`&quot;", "\u202egnp.exe\u2066", "{{DATA}}",
    "a\\u003c", "\u2028line", "'; DROP TABLE x; --", "javascript:alert(1)", "<img src=x onerror=alert(1)>",
)  # fmt: skip


@pytest.fixture(scope="module")
def simulated() -> Report:
    return report(SIMULATED.qrels, SIMULATED.runs, output=None, date=NEW_YEAR)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the files of the page by small ones."""
    monkeypatch.setattr(html, "asset", STAND_IN.__getitem__)


def data_of(text: str) -> Any:
    """Return the payload of a page."""
    match = re.search(r'id="payload">([^<]*)</script>', text)
    assert match
    return html.unpack(match[1])


# What the page says, beside the other verbs


def reported(collection: Collection, level: float, **options: Any) -> tuple[Any, Positions]:
    positions = project(collection.qrels, collection.runs)
    assume(positions.judgments.num_relevant(level).any())
    made = report(positions, output=None, level=level, date=NEW_YEAR, **options)
    return html.unpack(html.pack(made.payload)), positions


small_collections = collections(max_runs=4)
every_level = st.sampled_from(LEVELS)
every_policy = st.sampled_from(["all", "intersection"])


def close(expected: list[float | None], share: float = 1e-4) -> list[Any]:
    """Return what is equal to these numbers within this share; None is equal to None only."""
    return [None if number is None else pytest.approx(number, rel=share) for number in expected]


def positions_in(packed: list[int]) -> list[int]:
    return list(accumulate(packed[::2]))


@given(collection=small_collections, level=every_level)
@costly(100)
def test_positions_and_documents_unpack_to_those_of_the_rankings(collection: Collection, level: float) -> None:
    page, positions = reported(collection, level, measures=["RR"])
    projection = positions.at_level(level)
    for q, query in enumerate(page["queries"]):
        judged = collection.qrels[query]
        assert sorted(page["relevant"][q]) == sorted(document for document, grade in judged.items() if grade >= level)
        for s, run in enumerate(page["runs"]):
            at = positions.runs.index(run), positions.queries.index(query)
            vector = projection.vector(*at)
            packed = page["found"][s][q]
            assert positions_in(packed) == vector[np.isfinite(vector)].tolist()
            order = naive.ranked([*collection.runs[run].get(query, {}).items()], judged)
            documents = [page["relevant"][q][d] for d in packed[1::2]]
            assert documents == [document for document in order if judged.get(document, 0) >= level]
            assert page["retrieved"][s][q] == len(order)


@given(collection=small_collections, level=every_level, queries=every_policy)
@costly(40)
def test_means_and_values_are_those_of_evaluate(collection: Collection, level: float, queries: str) -> None:
    page, _ = reported(collection, level, queries=queries)
    scores = evaluate(collection.qrels, collection.runs, level=level, queries=queries)
    means, values = scores.to_dict(), scores.to_dict(per_query=True)
    names = [measure["name"] for measure in page["measures"]]
    assert names == [*map(str, scores.measures)]
    for s, run in enumerate(page["runs"]):
        assert page["means"][s] == close([means[run][name] for name in names], 1e-12)
        for m, name in enumerate(names):
            expected = [values[run][query][name] for query in page["queries"]]
            assert page["values"][m][s] == close(expected)


def orient(row: dict[str, Any], first: str) -> dict[str, Any]:
    """Return a row of `compare` as said by its other side, unless it is said by the first already."""
    if row["a"] == first:
        return row
    negative = {key: None if row[key] is None else -row[key] for key in ("mean", "low_all", "high_all")}
    return {
        **row, "mean": negative["mean"], "low_all": negative["high_all"], "high_all": negative["low_all"],
        "wins": row["losses"], "losses": row["wins"],
    }  # fmt: skip


def check_pairs(page: Any, rows: dict[tuple[Any, ...], dict[str, Any]], *, may_be_untested: bool = False) -> int:
    """Compare the pairs of a page with the rows of `compare`; return how many were not tested."""
    untested = 0
    for place, (a, b) in enumerate(zip(page["pairs"]["a"], page["pairs"]["b"], strict=True)):
        names = page["runs"][a], page["runs"][b]
        for measure, column in zip(page["measures"], page["pairs"]["by_measure"], strict=True):
            row = rows.get((frozenset(names), measure["name"]))
            if row is None:
                assert may_be_untested
                assert column["p"][place] is column["low"][place] is column["high"][place] is None
                untested += 1
                continue
            expected = orient(row, names[0])
            assert [column[key][place] for key in ("wins", "ties", "losses")] == [
                expected[key] for key in ("wins", "ties", "losses")
            ]
            shown = [column[key][place] for key in ("mean", "low", "high", "p")]
            assert shown == close([expected[key] for key in ("mean", "low_all", "high_all", "p_corrected")], 1e-3)
    return untested


def rows_by_pair(comparison: Any) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {(frozenset((row["a"], row["b"])), row["measure"]): row for row in comparison.rows()}


@given(collection=small_collections, level=every_level, queries=every_policy)
@costly(40)
def test_pairs_marks_and_order_are_those_of_compare(collection: Collection, level: float, queries: str) -> None:
    assume(len(collection.runs) > 1)
    page, positions = reported(collection, level, queries=queries)
    comparison = compare(positions, level=level, queries=queries)
    check_pairs(page, rows_by_pair(comparison))
    number = len(page["runs"])
    assert len(page["pairs"]["a"]) == number * (number - 1) // 2
    table = comparison.table()
    expected = [f"{label} {name}" for label, name in zip(page["labels"], page["runs"], strict=True)]
    assert [row[0] for row in table.rows] == expected
    for r in range(number):
        assert page["marks"][r] == [table.marks.get((r, c), "") for c in range(1, len(table.header))]
        assert page["best"][r] == [(r, c) in table.best for c in range(1, len(table.header))]
    assert sorted(page["ranks"]) == page["ranks"]


@given(collection=small_collections, level=every_level, queries=every_policy)
@costly(40)
def test_recall_curves_and_depths_are_those_of_the_definition(
    collection: Collection, level: float, queries: str
) -> None:
    page, positions = reported(collection, level, queries=queries)
    depths = page["recall"]["depths"]
    assert depths[-1] >= positions.num_retrieved.max()
    assert all(a < b for a, b in pairwise(depths))
    for s, name in enumerate(page["runs"]):
        run = collection.runs[name]
        cases = []
        for query, judged in collection.qrels.items():
            order = naive.ranked([*run.get(query, {}).items()], judged)
            case = naive.Case(naive.grades_shown(order, judged), judged, level)
            cases += [case] if case.m and (queries == "all" or query in run) else []
        expected = [fmean(naive.recall(case, depth) for case in cases) if cases else None for depth in depths]
        assert page["recall"]["mean"][s] == close(expected)
        for row in page["depth_needed"]:
            needed = [naive.depth_at_recall(case, row["recall"]) for case in cases]
            middle = median(needed) if needed else np.inf
            assert row["median"][s] == (None if np.isinf(middle) else middle)
            share = fmean(np.isfinite(needed)) if needed else None
            assert [row["reached"][s]] == close([share])


def test_agreement_and_ties_are_those_of_a_study(simulated: Report) -> None:
    names = [measure["name"] for measure in simulated.payload["measures"]]
    made = study({"x": simulated.findings.positions}, measures=names, num_samples=1)
    tied = {row["measure"]: row["ties"] for row in made.tables["ties"]}
    agreed: dict[str, Any] = {row["measure"]: row["agreement"] for row in made.tables["agreement"]}
    assert [row["measure"] for row in simulated.payload["study"]] == names
    for row in simulated.payload["study"]:
        assert (row["tied"], row["agreement"]) == (tied[row["measure"]], agreed.get(row["measure"]))


def test_a_baseline_is_tested_alone_but_every_pair_is_counted() -> None:
    page = report(SIMULATED.qrels, SIMULATED.runs, ["AP", "LexiRecall"], output=None, baseline="deep.run").payload
    with_baseline = compare(SIMULATED.qrels, SIMULATED.runs, ["AP", "LexiRecall"], baseline="deep.run")
    untested = check_pairs(page, rows_by_pair(with_baseline), may_be_untested=True)
    assert untested == 2 * 3
    assert page["runs"][page["baseline"]] == "deep.run"
    everything = rows_by_pair(compare(SIMULATED.qrels, SIMULATED.runs, ["AP", "LexiRecall"]))
    for place, (a, b) in enumerate(zip(page["pairs"]["a"], page["pairs"]["b"], strict=True)):
        names = page["runs"][a], page["runs"][b]
        for measure, column in zip(page["measures"], page["pairs"]["by_measure"], strict=True):
            row = orient(everything[frozenset(names), measure["name"]], names[0])
            assert column["wins"][place] == row["wins"]
            assert column["mean"][place] == pytest.approx(row["mean"], rel=1e-3)


def test_the_response_that_hsd_compares_is_given_beside_the_mean() -> None:
    page = report(SIMULATED.qrels, SIMULATED.runs, ["AP", "LexiRecall"], output=None, test="hsd").payload
    rows = rows_by_pair(compare(SIMULATED.qrels, SIMULATED.runs, ["AP", "LexiRecall"], test="hsd"))
    of_preference = page["pairs"]["by_measure"][1]
    for place, (a, b) in enumerate(zip(page["pairs"]["a"], page["pairs"]["b"], strict=True)):
        names = page["runs"][a], page["runs"][b]
        row = rows[frozenset(names), "LexiRecall"]
        sign = 1 if row["a"] == names[0] else -1
        assert of_preference["response"][place] == pytest.approx(sign * row["response"], rel=1e-3)
        ends = sorted(sign * row[end] for end in ("response_low", "response_high"))
        assert [of_preference[end][place] for end in ("response_low", "response_high")] == close(ends, 1e-3)
        assert of_preference["p_raw"][place] == pytest.approx(row["p"], rel=1e-3)
    without = report(SIMULATED.qrels, SIMULATED.runs, ["AP"], output=None).payload["pairs"]["by_measure"]
    assert not any("response" in columns for columns in without)


def test_the_manifest_says_how_it_was_done_and_what_was_left_out() -> None:
    qrels = {**SIMULATED.qrels, "none": {"x": 0}}
    sizes = {query: 10_000 + place for place, query in enumerate(qrels)}
    made = report(qrels, SIMULATED.runs, output=None, corpus_size=sizes, seed=3, test="randomization", num_resamples=99)
    page = made.payload
    conventions = page["manifest"]["conventions"]
    assert conventions["corpus_size"] == "10,000 to 10,012 documents, depending on the query"
    assert (conventions["seed"], conventions["num_resamples"], conventions["ties"]) == (3, 99, "trec")
    assert page["manifest"]["qrels"]["name"] == "qrels"
    assert [run["name"] for run in page["manifest"]["runs"]] == page["runs"]
    texts = [note["text"] for note in page["manifest"]["notes"]]
    assert texts[0].startswith("1 query without a relevant document (none)")
    assert texts[-1].startswith("99 resamples")
    assert page["left_out"] == ["1 query without a relevant document: not shown one by one."]
    assert "none" not in page["queries"]
    assert [note.text for note in made.notes][-1] == page["left_out"][0]


def test_a_query_that_only_some_measures_value_is_said_to_be_left_out() -> None:
    runs = {"x": {"q": ["a"], "r": ["b"]}, "y": {"q": ["c", "a"], "r": ["c", "b"]}}
    page = report({"q": {"a": 2}, "r": {"b": 1}}, runs, ["nDCG"], output=None, level=2).payload
    assert page["queries"] == ["q"]
    assert page["left_out"][0].endswith("Some measures have a value for them, and count it in the mean.")


def test_lexirecall_is_always_there_but_does_not_lead_unless_it_is_asked_to() -> None:
    page = report(SIMULATED.qrels, SIMULATED.runs, "AP RR", output=None).payload
    assert [measure["name"] for measure in page["measures"]] == ["AP", "RR", "LexiRecall"]
    order = [row[0].split()[1] for row in compare(SIMULATED.qrels, SIMULATED.runs, "AP").table().rows]
    assert page["runs"] == order


def test_a_single_run_has_a_page_without_pairs() -> None:
    made = report(SIMULATED.qrels, SIMULATED.runs["deep.run"], output=None)
    page = made.payload
    assert (page["runs"], page["labels"], page["ranks"], page["study"]) == (["run"], ["a"], [1], [])
    assert page["pairs"]["a"] == page["pairs"]["b"] == page["pairs"]["by_measure"][0]["p"] == []
    assert len(page["pairs"]["by_measure"]) == len(page["measures"]) == len(page["means"][0])
    assert not any(measure["is_preference"] for measure in page["measures"])
    assert list(made.charts()) == ["leaderboard", "query", "recall", "depth"]
    with pytest.raises(UsageError, match="there is only one run"):
        report(SIMULATED.qrels, SIMULATED.runs["deep.run"], output=None, baseline="run")
    with pytest.raises(UsageError, match=r"'deep\.run', but there is only one run"):
        report(SIMULATED.qrels, SIMULATED.runs["deep.run"], output=None, baseline=["deep.run"])
    with pytest.raises(UsageError, match="compares runs, and there is one only"):
        report(SIMULATED.qrels, SIMULATED.runs["deep.run"], "LexiRecall", output=None)


def test_the_page_shows_one_baseline() -> None:
    with pytest.raises(UsageError, match=r"shows one baseline, but 2 are named: (.*)\n.*compare takes several"):
        report(SIMULATED.qrels, SIMULATED.runs, ["AP"], output=None, baseline=sorted(SIMULATED.runs)[:2])


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(UsageError, match="no single order"):
        report(SIMULATED.qrels, SIMULATED.runs, output=None, ties="expected")
    with pytest.raises(UsageError, match="not retrieved"):
        report(SIMULATED.qrels, SIMULATED.runs, output=None, imputation="optimistic")
    with pytest.raises(DataError, match="the highest grade is 2 and the level is 3"):
        report(SIMULATED.qrels, SIMULATED.runs, ["AP(rel=1)"], output=None, level=3)


# Hostile names


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    judged = {name: 1, f"{name}2": 1}
    runs = {name: {name: [f"{name}2", "x", name]}, "tame": {name: ["x", name]}}
    text = report({name: judged}, runs, ["RR"], output=None, title=name, date=NEW_YEAR).html()
    page = data_of(text)
    assert (page["title"], page["queries"], page["relevant"]) == (name, [name], [[*judged]])
    assert page["runs"] == [name, "tame"]
    assert {run["name"] for run in page["manifest"]["runs"]} == {name, "tame"}
    tame = report(
        {"q": {"a": 1, "b": 1}}, {"x": {"q": ["b", "x", "a"]}, "tame": {"q": ["x", "a"]}}, ["RR"], output=None
    ).html()
    assert text.count("<") == tame.count("<")  # no element more than without it
    assert "\u202e" not in text
    assert "\u2028" not in text


@pytest.mark.usefixtures("stand_in")
def test_texts_are_held_once_and_those_that_do_not_fit_are_counted() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "c": 1}}
    runs = {"q1": ["a"], "q2": ["c"]}
    texts = {"queries": {"q1": "one"}, "documents": {"a": "the a " * 99, "b": "the b"}}
    page = report(qrels, runs, "RR", output=None, texts=texts)
    short = shortened("the a " * 99)
    assert page.payload["texts"] == {
        "words": ["one", short, "the b"], "queries": [0, -1], "documents": [[1, 2], [1, -1]],
    }  # fmt: skip
    assert page.payload["left_out"] == ["1 of 2 queries has no text.", "1 of 3 documents has no text."]
    small = report(qrels, runs, "RR", output=None, texts=texts, limits=Limits(text_characters=9))
    assert small.payload["texts"]["documents"] == [[-1, 1], [-1, -1]]
    assert small.payload["left_out"][-1] == "2 texts: left out, because the page would be too large."
    assert "texts" not in report(qrels, runs, "RR", output=None).payload


def test_long_names_are_cut_and_counted_and_stay_different() -> None:
    long, other = "d" * 10_000, "d" * 10_001
    runs = {long: {long: [long], other: [long]}, other: {long: ["x", long], other: [long]}}
    made = report({long: {long: 1}, other: {long: 1}}, runs, ["RR"], output=None)
    page = made.payload
    assert page["runs"] == page["queries"] == ["d" * 200 + "…", "d" * 200 + "… (2)"]
    assert page["left_out"] == ["6 names longer than 200 characters: cut, with an ellipsis."]
    assert "d" * 201 not in made.html()


def test_names_that_are_not_unicode_are_shown_by_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"q\xff 0 caf\xe9 1\n")
    (tmp_path / "run").write_bytes(b"q\xff Q0 caf\xe9 1 1 x\n")
    page = report(tmp_path / "qrels", tmp_path / "run", output=None).payload
    assert (page["queries"], page["relevant"]) == (["q\\xff"], [["caf\\xe9"]])
    assert html.unpack(html.pack(page))["queries"] == ["q\\xff"]


# The file


@pytest.mark.usefixtures("stand_in")
def test_the_same_input_and_date_give_the_same_bytes(simulated: Report) -> None:
    again = report(SIMULATED.qrels, SIMULATED.runs, output=None, date=NEW_YEAR)
    other = report(SIMULATED.qrels, SIMULATED.runs, output=None, date=dt.date(2026, 1, 2))
    assert again.html() == simulated.html() != other.html()
    assert data_of(again.html())["date"] == "2026-01-01"


@pytest.mark.usefixtures("stand_in")
def test_code_cannot_end_the_element_it_stands_in_and_is_not_searched_for_placeholders(simulated: Report) -> None:
    text = simulated.html()
    assert "say('{{TITLE}} <\\/script> <\\!-- <script>')" in text
    assert text.lower().count("</script>") == 2
    assert data_of(text) == html.unpack(html.pack(simulated.payload))


@pytest.mark.usefixtures("stand_in")
def test_readers_without_javascript_get_the_leaderboard(simulated: Report) -> None:
    table = re.search(r"<noscript>(.*)</noscript>", simulated.html(), re.DOTALL)
    assert table
    assert table[1] == compare(SIMULATED.qrels, SIMULATED.runs).table().to_html()


def test_the_template_has_a_place_for_everything() -> None:
    template = html.asset("template.html")
    assert set(re.findall(r"\{\{(\w+)\}\}", template)) == {"TITLE", "STYLE", "SCRIPT", "DATA", "NOSCRIPT"}
    assert "default-src 'none'" in template


def test_the_modules_are_joined_without_a_word_of_importing_and_every_one_is_there() -> None:
    joined = html.script()
    assert not re.search(r"^\s*(import|export)\b", joined, re.MULTILINE)
    assert not re.search(r"\bimport\s*\(|\beval\b|\bnew Function\b", joined)
    folder = Path(html.__file__).parent / "assets"
    assert sorted(path.stem for path in folder.glob("*.js")) == sorted(html.MODULES)


def test_a_name_at_the_top_of_a_module_is_that_of_no_other() -> None:
    declared = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+|[\[{][^=]*)", re.MULTILINE)
    names = [name for module in html.MODULES for name in declared.findall(html.asset(f"{module}.js"))]
    assert len(names) > 100
    assert all(name.isidentifier() for name in names)  # one name for each declaration, so that none hides
    assert [name for name in names if names.count(name) > 1] == []


def large_positions(num_runs: int, num_queries: int, num_relevant: int) -> Positions:
    """Return rankings in which every relevant document but one in ten is found among the first thousand, at random."""
    rng = np.random.default_rng(0)
    judgments = Judgments.from_grades(
        {
            str(q).encode(): {f"LA{rng.integers(10**6):06}-{i:04}".encode(): 1 for i in range(num_relevant)}
            for q in range(num_queries)
        }
    )
    num_found = num_relevant * 9 // 10
    segments = Segments(offsets_of(np.full(num_queries, num_found)))
    everyone, retrieved = np.ones(num_queries, bool), np.full(num_queries, 1000)
    runs = []
    for s in range(num_runs):
        places = np.sort(rng.random((num_queries, 1000)).argpartition(num_found)[:, :num_found] + 1)
        documents = rng.random((num_queries, num_relevant)).argsort()[:, :num_found] + judgments.offsets[:-1, None]
        found = Tracks(segments, places.ravel(), documents.ravel())
        runs.append(RunPositions(f"run{s}", everyone, retrieved, found, None))
    return Positions.stack(judgments, runs, Conventions())


def test_a_page_of_twenty_runs_and_250_queries_stays_below_2_megabytes() -> None:
    made = report(large_positions(20, 250, 70), output=None)
    assert made.payload["left_out"] == []
    assert len(made.html().encode()) < 2_000_000


def test_the_page_of_the_demo_stays_below_250_kilobytes() -> None:
    demo = simulate_collection(0)
    assert len(report(demo.qrels, demo.runs, output=None).html().encode()) <= 250_000


# What is left out of large pages


def test_what_does_not_fit_is_left_out_and_said() -> None:
    positions = large_positions(8, 40, 10)
    limits = Limits(positions=1000, values=2000, pair_values=250, fewest_runs=2)
    page = report(positions, measures=["AP"], output=None, limits=limits).payload
    assert [rankings is not None for rankings in page["found"]] == [True] * 2 + [False] * 6
    assert page["retrieved"][2:] == page["absent"][2:] == page["values"][0][2:] == [None] * 6
    assert len(page["runs"]) == len(page["means"]) == len(page["recall"]["mean"]) == 8
    assert max(page["pairs"]["b"]) == 5
    assert len(page["pairs"]["a"]) == len(page["pairs"]["by_measure"][1]["p"]) == 15
    assert page["left_out"] == [
        "Values and positions for each query are shown for the best 2 runs, not for the other 6.",
        "Pairs are shown for the best 6 of 8 runs.",
    ]


def test_queries_are_thinned_only_if_a_few_runs_do_not_fit() -> None:
    positions = large_positions(3, 40, 10)
    everything = report(positions, measures=["AP"], output=None).payload
    page = report(positions, measures=["AP"], output=None, limits=Limits(positions=500)).payload
    assert page["queries"] == everything["queries"][::3]
    assert page["relevant"] == everything["relevant"][::3]
    assert page["found"][0] == everything["found"][0][::3]
    assert (page["means"], page["recall"]) == (everything["means"], everything["recall"])
    assert page["left_out"] == [
        "Of the 40 queries, 14 at regular intervals are shown one by one. Means, tests and curves cover all of them."
    ]


@given(
    found=st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=1, max_size=9),
    positions=st.integers(1, 2000),
    values=st.integers(1, 200),
    pair_values=st.integers(1, 900),
)
@quick(200)
def test_what_is_chosen_fits_and_nothing_that_fits_is_left_out(
    found: list[list[int]], positions: int, values: int, pair_values: int
) -> None:
    limits = Limits(positions, values, pair_values)
    numbers = np.array(found)
    chosen = select(numbers, np.zeros(3, np.int64), 2, limits)
    per_run = numbers[:, chosen.queries].sum(axis=1)

    def fits(count: int) -> bool:
        return bool(per_run[:count].sum() <= positions and count * len(chosen.queries) * 2 <= values)

    assert chosen.num_detailed == 1 or fits(chosen.num_detailed)
    assert chosen.num_detailed == len(found) or not fits(chosen.num_detailed + 1)
    num_pairs = [count * (count - 1) // 2 for count in (chosen.num_paired, chosen.num_paired + 1)]
    assert num_pairs[0] * 16 <= pair_values
    assert chosen.num_paired == len(found) or num_pairs[1] * 16 > pair_values


# Charts


def test_the_matrix_and_the_intervals_draw_the_rows_of_compare() -> None:
    comparison = compare(SIMULATED.qrels, SIMULATED.runs, ["AP", "RR"])
    rows = {(row["a"], row["b"]): row for row in comparison.rows() if row["measure"] == "AP"}
    cells = {(cell["row"], cell["column"]): cell for cell in matrix_rows(comparison, comparison.measures[0])}
    assert len(cells) == 2 * len(rows) == 12
    for (a, b), row in rows.items():
        assert cells[a, b]["difference"] == row["mean"] == -cells[b, a]["difference"]
        assert (cells[a, b]["star"] == "*") == (row["p_corrected"] < 0.05)
    reference = comparison.runs.index("deep.run")
    drawn = {row["run"]: row for row in difference_rows(comparison, comparison.measures[0], reference)}
    assert drawn.keys() == {"precise.run", "random.run", "shallow.run"}
    for name, row in drawn.items():
        theirs = orient(rows.get((name, "deep.run")) or rows["deep.run", name], name)
        assert (row["difference"], row["low"], row["high"]) == (theirs["mean"], theirs["low_all"], theirs["high_all"])


def test_the_tail_of_each_run_is_the_mean_of_its_own_worst_queries() -> None:
    made = report(SIMULATED.qrels, SIMULATED.runs, ["AP", "LastRel"], output=None, corpus_size=10_000)
    tail = made.payload["tail"]
    assert tail["share"] == 0.1
    for s, run in enumerate(made.payload["runs"]):
        of_run = made.findings.scores.values[made.findings.positions.runs.index(run)].T.tolist()
        for k, values in enumerate(of_run[:2]):
            worst = [
                sign * value for sign in (1 - 2 * k,) for value in naive.worst_share([sign * v for v in values], "0.1")
            ]
            assert tail["sizes"][s][k] == len(worst)
            assert tail["means"][s][k] == pytest.approx(sum(worst) / len(worst))


def test_groups_of_queries_are_those_of_eval() -> None:
    by = {query: ("x", "y", "z")[i % 3] if i else "alone" for i, query in enumerate(SIMULATED.qrels)}
    options: dict[str, Any] = {"by": by, "over": ("median", "tail:0.5"), "min_queries": 2}
    made = report(SIMULATED.qrels, SIMULATED.runs, ["AP", "LastRel"], output=None, **options)
    page, expected = made.payload["breakdown"], evaluate(SIMULATED.qrels, SIMULATED.runs, ["AP", "LastRel"], **options)
    numbers = expected.to_dict()
    for part in page["parts"]:
        for o, over in enumerate(page["overs"]):
            for s, run in enumerate(made.payload["runs"]):
                assert part["numbers"][o][s][:2] == [numbers[run][part["group"]][over][m] for m in ("AP", "LastRel")]
    for o, over in enumerate(page["overs"]):
        in_order = [page["parts"][place]["group"] for place in page["orders"][o][0]]
        sums = [sum(of_run[group][over]["AP"] for of_run in numbers.values()) for group in in_order]
        assert sums == sorted(sums)
    assert (page["withheld"], page["without"]) == ({"groups": 1, "queries": 1}, 0)
    assert {note.kind for note in expected.notes} <= {note.kind for note in made.notes}
    assert made.payload["manifest"]["conventions"]["over"] == ["median", "tail:0.5"]
    assert "breakdown" not in report(SIMULATED.qrels, SIMULATED.runs, output=None).payload


def test_differences_on_queries_are_those_of_the_values(simulated: Report) -> None:
    positions = simulated.findings.positions
    values = evaluate(SIMULATED.qrels, SIMULATED.runs, ["AP"]).to_dict(per_query=True)
    rows = query_difference_rows(positions, "deep.run", "precise.run", "AP")
    assert [row["difference"] for row in rows] == sorted((row["difference"] for row in rows), reverse=True)
    assert {row["query"] for row in rows} == {*SIMULATED.qrels}
    for row in rows:
        expected = values["deep.run"][row["query"]]["AP"] - values["precise.run"][row["query"]]["AP"]
        assert row["difference"] == pytest.approx(expected)


def test_a_strip_marks_what_decides_between_two_runs(simulated: Report) -> None:
    positions = simulated.findings.positions
    names = positions.runs[0], positions.runs[1]
    explained = explain(positions, pair=names).queries[0]
    lists, documents = strip_rows(positions, explained.id, names)
    assert [row["run"] for row in lists] == [*names]
    assert explained.level is not None
    for side in (explained.a, explained.b):
        own = [document for document in documents if document["run"] == side.run]
        assert [document["position"] for document in own] == [*side.found.values()]
        expected = [explained.level] if explained.level <= len(own) else []
        assert [i for i, document in enumerate(own, 1) if document["decides"]] == expected
    assert not any(document["decides"] for document in strip_rows(positions, explained.id)[1])


def test_depths_that_are_never_reached_are_not_drawn(simulated: Report) -> None:
    rows = depth_rows(simulated.findings.positions, simulated.payload["runs"])
    for share, column in zip(RECALLS, simulated.payload["depth_needed"], strict=True):
        drawn = {row["run"]: row["depth"] for row in rows if row["recall"] == f"{100 * share:.0f} %"}
        medians = dict(zip(simulated.payload["runs"], column["median"], strict=True))
        assert drawn == {name: depth for name, depth in medians.items() if depth is not None}


def test_names_that_no_chart_knows_are_refused(simulated: Report) -> None:
    positions = simulated.findings.positions
    comparison = simulated.findings.comparison
    assert comparison is not None
    with pytest.raises(UsageError, match=r"P@3 was not computed\n.*choose from LexiRecall"):
        leaderboard(comparison, ["P@3"])
    with pytest.raises(UsageError, match="P@3 was not computed"):
        difference_intervals(comparison, "P@3")
    with pytest.raises(UsageError, match="there is no query 'x'"):
        query_strips(positions, "x")
    with pytest.raises(UsageError, match="no run is called 'x'"):
        recall_curves(positions, ["x"])


def test_a_run_that_answers_with_an_empty_list_is_compared_and_one_that_does_not_answer_is_not() -> None:
    runs: dict[str, Any] = {"x": {"q": ["a"], "r": []}, "y": {"q": ["b"]}}
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    page = report(qrels, runs, ["RR"], output=None, queries="intersection").payload
    assert (page["runs"], page["absent"]) == (["x", "y"], [[], [1]])
    assert report(qrels, runs, ["RR"], output=None).payload["absent"] == [[], []]


def test_a_baseline_and_an_intersection_can_be_drawn() -> None:
    runs = {"x": {"q": ["a"]}, "y": {"r": ["a"]}, "z": {"q": ["b", "a"], "r": ["b", "a"]}}
    made = report({"q": {"a": 1}, "r": {"a": 1}}, runs, ["RR"], output=None, baseline="y", queries="intersection")
    assert made.payload["runs"][:2] == ["x", "y"]  # which have no query in common
    assert sorted(made.charts()) == [
        "depth", "differences", "intervals", "leaderboard", "measures", "pairs", "query", "recall", "tail",
    ]  # fmt: skip


# The command


@pytest.fixture
def quick_command(command: Command, stand_in: None) -> Command:
    return command


def test_the_command_writes_the_page_and_says_where(quick_command: Command, tmp_path: Path) -> None:
    outcome = quick_command("report", "qrels.txt", *RUNS, "--title", "Mine & <yours>")
    assert (outcome.code, outcome.out) == (0, "")
    assert re.search(r"^note: the page is in report.html \(0\.\d MB\)", outcome.err, re.MULTILINE)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Mine &amp; &lt;yours&gt;</title>" in text
    assert data_of(text)["runs"] == [row[0].split()[1] for row in compare_rows(tmp_path)]


def compare_rows(folder: Path) -> Any:
    return compare(folder / "qrels.txt", [folder / run for run in RUNS]).table().rows


def test_the_command_passes_its_options_on(quick_command: Command, tmp_path: Path) -> None:
    options = ("-m", "AP", "--baseline", "deep.run", "--test", "wilcoxon", "--correction", "bh", "--alpha", "0.1")
    outcome = quick_command("report", "qrels.txt", *RUNS, *options, "--seed", "5", "--level", "2", "-o", "page.html")
    assert outcome.code == 0
    page = data_of((tmp_path / "page.html").read_text())
    assert (page["alpha"], page["runs"][page["baseline"]]) == (0.1, "deep.run")
    assert [(row["name"], row["correction"]) for row in page["measures"]] == [("AP", "bh"), ("LexiRecall", "bh")]
    assert "wilcoxon" in page["measures"][0]["test"].lower()
    assert (page["manifest"]["conventions"]["seed"], page["manifest"]["conventions"]["level"]) == (5, 2)
    assert page["title"] == "4 runs on qrels.txt"


def test_a_page_can_go_to_stdout_and_a_run_come_from_stdin(quick_command: Command, tmp_path: Path) -> None:
    outcome = quick_command("report", "qrels.txt", "-", "deep.run", "-o", "-", stdin=GOOD["precise.run"])
    assert outcome.code == 0
    assert data_of(outcome.out)["runs"] == ["deep.run", "-"]
    assert not (tmp_path / "-").exists()
    outcome = quick_command("report", "-", "-", stdin=GOOD["qrels.txt"])
    assert (outcome.code, "only one file can be read from stdin" in outcome.err) == (2, True)


def test_a_single_run_gets_its_page_from_the_command(quick_command: Command, tmp_path: Path) -> None:
    outcome = quick_command("report", "qrels.txt", "deep.run")
    assert outcome.code == 0
    assert "LexiRecall compares runs, and there is one only" in outcome.err
    assert data_of((tmp_path / "report.html").read_text())["pairs"]["a"] == []


def test_charts_are_written_in_every_format(quick_command: Command, tmp_path: Path) -> None:
    outcome = quick_command("report", "qrels.txt", *RUNS, "--plots", "new/figures")
    assert outcome.code == 0
    assert "the charts are in new/figures" in outcome.err
    names = ("depth", "differences", "intervals", "leaderboard", "measures", "pairs", "query", "recall", "tail")
    written = {path.name: path.read_bytes() for path in (tmp_path / "new/figures").iterdir()}
    assert written.keys() == {f"{name}.{form}" for name in names for form in FORMATS}
    starts = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    assert all(content.startswith(starts[name.split(".")[1]]) for name, content in written.items())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("qrels.txt",), 2, "no runs are given"),
        (("qrels.txt", "missing.run"), 1, "missing.run"),
        (("qrels.txt", "bad.run", "deep.run"), 1, "bad.run:1"),
        (("qrels.txt", *RUNS, "-m", "AQ"), 2, "unknown measure 'AQ'"),
        (("qrels.txt", *RUNS, "--baseline", "x"), 2, "no run is called 'x'"),
        (("qrels.txt", *RUNS, "--ties", "expected"), 2, "no single order"),
        (("qrels.txt", *RUNS, "--imputation", "optimistic"), 2, "optimistic"),
        (("qrels.txt", *RUNS, "--alpha", "2"), 2, "alpha"),
        (("qrels.txt", *RUNS, "--level", "9"), 1, "level is 9"),
        (("qrels.txt", *RUNS, "-o", "."), 2, "is a folder"),
        (("qrels.txt", *RUNS, "-o", "no/such/page.html"), 1, "cannot be written"),
        (("qrels.txt", *RUNS, "--plots", "qrels.txt"), 2, "exists and is not a folder"),
        (("qrels.txt", "deep.run", "--plots", "qrels.txt/figures"), 1, "cannot be created"),
    ],
)
def test_what_goes_wrong_leaves_nothing_behind(
    quick_command: Command, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    files = {"bad.run": b"nonsense\n"}
    outcome = quick_command("report", *arguments, **files)
    assert outcome.code == code
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert {path.name for path in tmp_path.iterdir()} == {*GOOD, *files}


def test_without_the_extra_there_are_page_and_charts_and_a_word_about_the_other_formats(
    quick_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, module, None)
    assert quick_command("report", "qrels.txt", *RUNS).code == 0  # the page draws itself
    outcome = quick_command("report", "qrels.txt", *RUNS, "--plots", "figures")
    assert outcome.code == 0
    assert how_to_install("plots") in outcome.err


@pytest.mark.usefixtures("stand_in")
def test_charts_can_be_written_without_a_page(tmp_path: Path) -> None:
    report(SIMULATED.qrels, SIMULATED.runs["deep.run"], ["AP"], output=None, plots=tmp_path / "figures")
    assert len(list((tmp_path / "figures").iterdir())) == 4 * len(FORMATS)


@pytest.mark.usefixtures("stand_in")
def test_a_page_that_cannot_be_written_takes_the_charts_with_it(tmp_path: Path) -> None:
    made = report(SIMULATED.qrels, SIMULATED.runs["deep.run"], ["AP"], output=None)
    with pytest.raises(Exception, match="cannot be written"):
        made.write(tmp_path / "missing/page.html", tmp_path / "figures")
    assert list((tmp_path / "figures").iterdir()) == []


def test_the_plan_of_positions_is_the_plan_of_files(simulated: Report) -> None:
    made = report(simulated.findings.positions, output=None, date=NEW_YEAR)
    assert made.payload == simulated.payload

"""What is said of unjudged documents: bounds, safe decisions, lists to fill in, and what is refused."""

import csv
import io
import json
import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import compare, evaluate, load_judgments, project, unjudged
from lexirecall.errors import DataError, LexirecallError, UsageError
from lexirecall.labels import forecasts, missing, wholeruns
from lexirecall.labels.flips import RULES
from lexirecall.labels.missingresult import KINDS
from lexirecall.labels.missingtables import COLUMNS
from lexirecall.labels.unjudgedoptions import VIEWS
from lexirecall.labels.wholeruns import compare_with_safe
from lexirecall.measures import MEASURES
from lexirecall.preferences import PREFERENCES
from lexirecall.results import Unjudged
from lexirecall.tables import FORMATS, percent
from pages import DOCS

DOCUMENTS = "abcde"
rankings = st.permutations(DOCUMENTS).flatmap(
    lambda documents: st.integers(0, len(documents)).map(lambda size: documents[:size])
)
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1, 0, 1]), max_size=4)
Qrels = dict[str, dict[str, int]]
RunsGiven = dict[str, dict[str, list[str]]]


def simulated(num_queries: int = 12, seed: int = 1) -> tuple[Qrels, RunsGiven, Qrels]:
    """Return judgments of some documents, three runs, and judgments of all the others."""
    rng = random.Random(seed)  # noqa: S311 - nothing is secret
    documents = [f"d{i}" for i in range(30)]
    queries = [f"q{q}" for q in range(num_queries)]
    qrels = {
        query: {each: rng.choice([0, 0, 1]) for each in rng.sample(documents, 10)} | {"d0": 1} for query in queries
    }
    runs = {name: {query: rng.sample(documents, 15) for query in qrels} for name in ("bm25", "dense", "fused")}
    new = {
        query: {each: rng.choice([0, 0, 1]) for each in documents if each not in own} for query, own in qrels.items()
    }
    return qrels, runs, new


QRELS, RUNS, NEW = simulated()
GOOD = {"qrels.txt": b"q 0 a 1\n", "one.run": b"q Q0 a 1 1 x\n", "two.run": b"q Q0 b 1 1 y\n"}


@pytest.fixture(scope="module")
def made() -> Unjudged:
    return unjudged(QRELS, RUNS, rate=0.3, samples=50)


def rows_of(result: Unjudged, kind: str) -> list[dict[str, Any]]:
    return [row for row in result.rows() if row["kind"] == kind]


def test_values_and_comparisons_are_those_of_evaluate_and_compare(made: Unjudged) -> None:
    values = {(row["run"], row["measure"]): row["value"] for row in evaluate(QRELS, RUNS, ["R@100", "AP"]).rows()}
    assert {(row["run"], row["measure"]): row["value"] for row in rows_of(made, "bound")} == values
    found = {(row["a"], row["b"], row["measure"]): row for row in rows_of(made, "pair")}
    for row in compare(QRELS, RUNS, ["LexiRecall", "R@100", "AP"]).rows():
        own = found[row["a"], row["b"], row["measure"]]
        assert (own["mean"], own["p_corrected"]) == (row["mean"], row["p_corrected"])
        assert own["decided"] == row["wins"] + row["losses"]


def test_how_much_is_judged_is_counted_within_depths() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": -1}, "r": {"x": 1}}
    run = {"q": ["a", "b", "c", "d", *(f"e{i}" for i in range(8))], "r": ["x"]}
    [row] = rows_of(unjudged(qrels, {"one": run}, "AP"), "run")
    assert (row["retrieved"], row["unjudged"]) == (13, 10)
    assert row["judged"] == pytest.approx(3 / 13)
    assert row["judged@10"] == pytest.approx(3 / 11)
    assert row["judged@100"] is None


@given(st.lists(st.tuples(grades, rankings), min_size=1, max_size=2), st.sampled_from(["AP", "R@2", "RR", "nDCG"]))
def test_bounds_of_a_mean_are_reached_by_labels_of_all_queries_together(given_queries: Any, measure: str) -> None:
    qrels = {f"q{q}": {"z": 1, **judged} for q, (judged, _) in enumerate(given_queries)}
    run = {f"q{q}": ranking for q, (_, ranking) in enumerate(given_queries)}
    if not any(run.values()):
        return
    missing = [(q, document) for q, ranking in run.items() for document in ranking if qrels[q].get(document, -1) < 0]
    values = []
    for labels in product([False, True], repeat=len(missing)):
        new = {q: dict(own) for q, own in qrels.items()}
        for (q, document), is_relevant in zip(missing, labels, strict=True):
            new[q][document] = int(is_relevant)
        values.append(evaluate(new, {"one": run}, [measure]).averages.means[0, 0])
    [row] = rows_of(unjudged(qrels, {"one": run}, measure), "bound")
    assert (row["low"], row["high"]) == pytest.approx((min(values), max(values)))


@given(grades, rankings, rankings)
def test_a_decision_is_safe_exactly_if_no_labels_reverse_it(judged: dict[str, int], one: Any, two: Any) -> None:
    qrels, runs = {"q": {"z": 1, **judged}}, {"one": {"q": one}, "two": {"q": two}}
    [row] = compare_with_safe(qrels, runs, "LexiRecall").rows()
    known = {"z", *(document for document, grade in judged.items() if grade > 0)}
    missing = dict.fromkeys({*one, *two} - {document for document, grade in judged.items() if grade >= 0}, 0.5)
    wins = {naive.lexirecall_sign(known | labels, one, two) for labels, _ in naive.likely_labellings(missing)}
    now = row["wins"] - row["losses"]
    assert (row["decided"], row["safe"]) == (abs(now), int(now != 0 and -now not in wins))


def test_a_comparison_with_safe_decisions_is_otherwise_the_same() -> None:
    plain, safe = compare(QRELS, RUNS), compare_with_safe(QRELS, RUNS)
    assert [{**row, "decided": 0, "safe": 0} for row in plain.rows()] == [
        {**row, "decided": 0, "safe": 0} for row in safe.rows()
    ]
    assert plain.render("table") == safe.render("table")
    assert "safe" not in plain.render("table", view="pairs")
    assert "safe" in safe.render("table", view="pairs").splitlines()[0]
    unknown = {row["measure"] for row in safe.rows() if row["safe"] is None}
    assert unknown == {"Rprec", "AP", "nDCG"}
    assert [row["safe"] for row in safe.rows() if row["measure"] == "LexiRecall"] == [
        row["safe"] for row in rows_of(unjudged(QRELS, RUNS, "LexiRecall"), "pair")
    ]


def test_the_safe_decisions_go_beside_a_comparison_of_the_same_runs(made: Unjudged) -> None:
    comparison = made.beside(compare(QRELS, RUNS, ["LexiRecall", "AP", "RR"]))
    counts = {row["measure"]: (row["decided"], row["safe"]) for row in comparison.rows() if row["b"] == "fused"}
    assert counts["AP"][1] is None
    assert counts["RR"] == (None, None)  # it was not asked for
    assert isinstance(counts["LexiRecall"][1], int)
    with pytest.raises(UsageError, match="other runs"):
        made.beside(compare(QRELS, {name: RUNS[name] for name in ("dense", "bm25")}))
    with pytest.raises(UsageError, match="other pairs"):
        made.beside(compare(QRELS, RUNS, "LexiRecall", baseline="dense"))


def test_with_a_baseline_there_are_the_pairs_with_it_only() -> None:
    pairs = rows_of(unjudged(QRELS, RUNS, "LexiRecall", baseline="dense"), "pair")
    assert [(row["a"], row["b"]) for row in pairs] == [("bm25", "dense"), ("dense", "fused")]


def test_every_row_has_its_kind_and_the_columns_of_its_kind(made: Unjudged) -> None:
    results = [
        made,
        unjudged(QRELS, RUNS, rate=0.3, samples=20, judge=5),
        unjudged(QRELS, RUNS, rate=0.3, samples=20, judged_with=NEW),
    ]
    seen = set()
    for row in (row for result in results for row in result.rows()):
        kind, *columns = row
        assert kind == "kind"
        assert tuple(columns) == COLUMNS[row["kind"]]
        seen.add(row["kind"])
    assert seen == set(COLUMNS) == {kind for kinds in KINDS.values() for kind in kinds}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_printed_in_every_format(made: Unjudged, form: str, view: str) -> None:
    if view in ("judge", "hindsight"):
        with pytest.raises(UsageError, match=r"ask for one|new judgments"):
            made.render(form, view=view)
        return
    text = made.render(form, view=view)
    assert "bm25" in text
    if form == "jsonl":
        assert {json.loads(line)["kind"] for line in text.splitlines()} == {*KINDS[view]}
    if form in ("csv", "tsv"):
        lines = list(csv.DictReader(io.StringIO(text), delimiter="," if form == "csv" else "\t"))
        assert len(lines) == len(list(made.rows(view)))


def test_a_sentence_says_what_is_safe_and_what_survives() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 0} for i in range(10)}
    runs = {name: {query: [*ids] for query in qrels} for name, ids in {"new": "abc", "old": "xya"}.items()}
    said = unjudged(qrels, runs, "LexiRecall", rate=0.01).sentences()
    assert said[0] == "33.3 % of the documents that 2 runs retrieve are unjudged."
    assert said[2] == (
        "LexiRecall: of 10 decided queries none is safe, whatever is judged; to reverse one it takes 2 of 2 unjudged "
        "documents that either run retrieves (medians)."
    )
    assert "new stays better than old in 100 %, and the difference stays significant in 100 %" in said[3]
    assert said[3].startswith("LexiRecall: less than 0.01 of them are expected to be reversed; in 500")
    everything = {query: {**own, "x": 0, "y": 0} for query, own in qrels.items()}
    assert unjudged(everything, runs, rate=0.01).sentences() == [
        "Every document that 2 runs retrieve is judged: no label is missing."
    ]


def test_frames_hold_every_row(made: Unjudged) -> None:
    frame = made.to_polars()
    assert frame.height == len(list(made.rows()))
    assert frame.filter(pl.col("kind") == "pair").height == 9
    qrels = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1, 0]})
    run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "x"], "score": [2.0, 1.0]})
    assert isinstance(unjudged(qrels, {"one": run}, "AP").to_frame(), pl.DataFrame)


# Lists to fill in


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_list_that_is_filled_in_is_read_as_judgments(tmp_path: Path, form: str) -> None:
    texts = {"documents": {f"d{i}": f"the words, of {i}" for i in range(30)}}
    text = unjudged(QRELS, RUNS, rate=0.3, samples=20, judge=6, texts=texts).render(form)
    path = tmp_path / f"judge.{form}"
    path.write_text(text)
    with pytest.raises(LexirecallError, match=rf"judge.{form}:[12]: the grade is missing or NaN"):
        load_judgments(path)
    if form == "jsonl":
        asked = [json.loads(line) for line in text.splitlines()]
        filled = "\n".join(json.dumps({**row, "grade": i % 2}) for i, row in enumerate(asked))
    else:
        separator = "," if form == "csv" else "\t"
        asked = list(csv.DictReader(io.StringIO(text), delimiter=separator))
        stream = io.StringIO()
        writer = csv.DictWriter(stream, asked[0], delimiter=separator)
        writer.writeheader()
        writer.writerows({**row, "grade": i % 2} for i, row in enumerate(asked))
        filled = stream.getvalue()
    path.write_text(filled)
    found = load_judgments(path)
    expected: dict[str, dict[str, int]] = {}
    for i, row in enumerate(asked):
        expected.setdefault(row["query_id"], {})[row["doc_id"]] = i % 2
        assert row["document_text"].startswith("the words, of ")
        assert row["doc_id"] not in QRELS[row["query_id"]]
    assert project(found, RUNS).found.positions.tolist() == project(expected, RUNS).found.positions.tolist()
    [first, *_] = rows_of(unjudged(QRELS, RUNS, "LexiRecall", rate=0.3, samples=20, judged_with=path), "hindsight")
    assert (first["judged_since"], first["relevant"]) == (6, 3)


def test_a_list_names_no_document_twice_and_no_judged_one() -> None:
    rows = rows_of(unjudged(QRELS, RUNS, rate=0.3, samples=20, judge=10**6), "judge")
    named = [(row["query_id"], row["doc_id"]) for row in rows]
    missing = {(q, d) for run in RUNS.values() for q, ids in run.items() for d in ids if d not in QRELS[q]}
    assert len(named) == len(set(named))
    assert set(named) == missing


def test_where_everything_is_judged_there_is_nothing_to_list() -> None:
    qrels, runs = {"q": {"a": 1, "b": 0}}, {"one": {"q": ["a"]}, "two": {"q": ["b"]}}
    result = unjudged(qrels, runs, rate=0.1, judge=5)
    assert result.render() == "Every document that a run retrieves is judged: there is nothing to judge."
    assert result.render("csv") == "query_id,doc_id,grade,weight,position,runs,reason"


# In hindsight


def test_in_hindsight_no_safe_decision_is_reversed() -> None:
    qrels = {query: dict(own) for query, own in QRELS.items()}
    result = unjudged(qrels, RUNS, ["LexiRecall", "R@5"], rate=0.3, samples=50, judged_with=NEW)
    assert [row["safe_reversed"] for row in rows_of(result, "hindsight")] == [0, 0]
    assert "unjudged documents were judged since" in str(result)


def test_grades_that_changed_and_documents_elsewhere_are_told() -> None:
    query = next(iter(QRELS))
    changed = {query: {**NEW[query], "d0": 0, "nowhere": 1}}
    notes = {
        note.kind: note.text for note in unjudged(QRELS, RUNS, "R@5", rate=0.3, samples=5, judged_with=changed).notes
    }
    assert notes["changed grade"].startswith(f"1 grade changed in the new judgments (d0 of query {query} from 1 to 0)")
    assert "no run retrieves" in notes["relevant elsewhere"]


# What is left out, and refused


def test_without_a_stated_chance_nothing_is_expected() -> None:
    result, stated = unjudged(QRELS, RUNS), unjudged(QRELS, RUNS, rate=0.3)
    assert {row["kind"] for row in result.rows()} == {"run", "bound", "pair", "query"}
    sampled = ("reversals", "exact", "same_order", "stays", "turns", "arises")
    for row, other in zip(rows_of(result, "pair"), rows_of(stated, "pair"), strict=True):
        assert {**row, "samples": 500} == {**other, **dict.fromkeys(sampled)}
    assert {row["chance"] for row in rows_of(result, "query")} == {None}
    assert result.tables("pairs")["Pairs of runs"].header[-1] == "significant"
    assert not re.search("expect|chance|likely|sampled|tau", str(result))
    assert str(stated).splitlines()[1].startswith("Experimental: each unjudged document is taken to be relevant with")


def test_how_many_labels_are_expected_is_a_matter_of_their_number() -> None:
    [row] = rows_of(unjudged(QRELS, RUNS, "AP", rate=0.5, samples=1), "labels")
    missing = {(q, d) for run in RUNS.values() for q, ids in run.items() for d in ids if d not in QRELS[q]}
    assert (row["unjudged"], row["expected"]) == (len(missing), len(missing) / 2)
    assert row["expected_low"] < row["expected"] < row["expected_high"]


def test_a_query_that_may_become_relevant_is_told() -> None:
    qrels, runs = {"q": {"a": 1}, "empty": {"b": 0}}, {"one": {"q": ["a"], "empty": ["x"]}, "two": {"q": ["b", "a"]}}
    result = unjudged(qrels, runs, "AP", rate=0.5, samples=10)
    [note] = [note for note in result.notes if note.kind == "may become relevant"]
    assert note.count == 1
    assert "(empty)" in note.text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"judged_only": True}, "judged_only, which leaves them out"),
        ({"ties": "worst"}, "labels would change the order of equal scores"),
        ({"ties": "best"}, "labels would change the order of equal scores"),
        ({"ties": "expected"}, "no single order"),
        ({"imputation": "optimistic"}, "invents positions"),
        ({"units": {"a": "u"}}, "a label is of a document"),
        ({"providers": {"a": "p"}}, "no measure of them"),
        ({"engine": "duckdb"}, "whole lists are needed"),
        ({"measures": "bpref infAP"}, "Bpref, infAP"),
        ({"measures": "nope"}, "unknown measure"),
        ({"rate": 1.5}, "between 0 and 1"),
        ({"rate": float("nan")}, "between 0 and 1"),
        ({"samples": 0, "rate": 0.1}, "samples is 0"),
        ({"samples": 9}, "samples needs the chance"),
        ({"judged_with": QRELS}, "judged_with needs the chance"),
        ({"seed": -1}, "seed is -1"),
        ({"judge": 0}, "judge is 0"),
        ({"baseline": "none"}, "no run is called"),
        ({"texts": {"documents": {"a": "x"}}}, "nothing is listed"),
    ],
)
def test_nonsense_is_refused_with_the_reason(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        unjudged(QRELS, RUNS, **options)


def test_positions_and_missing_runs_are_refused(tmp_path: Path) -> None:
    positions = project(QRELS, RUNS)
    with pytest.raises(UsageError, match="do not hold the documents without a judgment"):
        unjudged(positions)
    with pytest.raises(UsageError, match="no runs are given"):
        unjudged(QRELS)
    positions.save(tmp_path / "kept.parquet")
    with pytest.raises(LexirecallError, match="positions"):
        unjudged(QRELS, tmp_path / "kept.parquet")
    with pytest.raises(DataError, match="no query in common"):
        unjudged(QRELS, {"one": {"other": ["a"]}})


def test_one_run_has_bounds_and_no_pairs() -> None:
    result = unjudged(QRELS, {"bm25": RUNS["bm25"]})
    assert {row["kind"] for row in result.rows()} == {"run", "bound"}
    with pytest.raises(UsageError, match="only one run"):
        unjudged(QRELS, {"bm25": RUNS["bm25"]}, judge=3)


def test_new_judgments_that_judge_nothing_new_are_an_error() -> None:
    with pytest.raises(DataError, match="judges none of the"):
        unjudged(QRELS, RUNS, "AP", rate=0.3, samples=5, judged_with=QRELS)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("", "add --show pairs"),
        ("--show power", "add --show pairs"),
        ("--show pairs --over median", "leave --over and --by out"),
        ("--show pairs --engine duckdb", "whole lists are needed to label unjudged documents"),
        ("--show pairs --ties best", "labels would change the order"),
        ("-f pref_eval", "--safe does not work with -f pref_eval"),
    ],
)
def test_safe_decisions_are_refused_where_there_are_none(command: Command, more: str, says: str) -> None:
    done = command("compare", *GOOD, "--safe", *more.split())
    assert done.code == 2
    assert says in done.err


def test_the_same_seed_gives_the_same_result() -> None:
    texts = [
        unjudged(QRELS, RUNS, rate=0.3, samples=30, seed=seed).render("jsonl", view="queries") for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_numbers_are_those_of_a_share_of_the_samples(made: Unjudged) -> None:
    for row in rows_of(made, "pair"):
        shares = [row[name] for name in ("same_order", "stays", "turns", "arises") if row[name] is not None]
        assert all(0 <= share <= 1 and np.isclose(share * 50, round(share * 50)) for share in shares)
        assert (row["stays"] is None) == (row["turns"] is None) != (row["arises"] is None)
        assert row["exact"] == (row["measure"] == "R@100")


def test_progress_ends_at_its_total(reported: Callable[..., list[Any]]) -> None:
    reports = reported(missing, wholeruns, forecasts)
    unjudged(QRELS, RUNS, rate=0.3, samples=5)
    totals, done = {}, {}
    for report in reports:
        if isinstance(report, tuple):
            label, total, shown = report
            assert shown is False
            totals[label], done[label] = total, 0
        else:
            done[label] += report
    assert set(totals) == {"sampling labels", "finding bounds", "counting flips"}
    assert done == totals


def every_bounded_row() -> list[str]:
    """Return the names of all measures and preferences that are not refused, with a cut-off where they need one."""
    ends = {"cutoff": "@4", "recall": "@0.5", "share": "@0.3", "": ""}
    measures = [row for row in MEASURES.values() if row.rewards_moving_up]
    rows = [row for row in [*measures, *PREFERENCES.values()] if not (row.needs_judged or row.needs_providers)]
    return [row.name + ends[row.at] for row in rows if not row.needs_units]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("policy", [{}, {"queries": "intersection"}, {"no_relevant": "zero"}, {"level": 2}])
def test_under_every_measure_bounds_hold_the_value_and_no_sample_reverses_what_is_safe(
    seed: int, policy: dict[str, Any]
) -> None:
    rng = random.Random(seed)  # noqa: S311 - nothing is secret
    documents = [f"d{i}" for i in range(12)]
    qrels = {f"q{q}": {each: rng.choice([-1, 0, 1, 2]) for each in rng.sample(documents, 5)} for q in range(5)}
    qrels["q0"]["never"] = 2
    runs = {name: {query: rng.sample(documents, rng.randint(1, 12)) for query in qrels} for name in "abc"}
    del runs["b"]["q3"]
    result = unjudged(qrels, runs, every_bounded_row(), rate=0.3, samples=20, corpus_size=100, **policy)
    bounds, decisions = rows_of(result, "bound"), rows_of(result, "query")
    assert all(row["low"] - 1e-12 <= row["value"] <= row["high"] + 1e-12 for row in bounds)
    safe = [row for row in decisions if row["reversible"] is False]
    assert len({row["measure"] for row in safe}) > 2
    assert all(row["chance"] == 0 for row in safe)
    assert any(row["chance"] > 0 for row in decisions if row["reversible"])


def test_the_page_names_the_measures_with_exact_flip_numbers() -> None:
    [line] = [line for line in (DOCS / "unjudged.md").read_text().splitlines() if line.startswith("| flip numbers")]
    assert set(re.findall(r"\w+", line.split(" for ")[1].split(";")[0])) - {"and"} == set(RULES)


def test_a_measure_without_a_value_has_no_order_of_runs() -> None:
    qrels, runs = {"q": {"never": 1, "a": 1}}, {"one": {"q": ["a", "x"]}, "two": {"q": ["y"]}}
    result = unjudged(qrels, runs, "LastRel", rate=0.5, samples=10)
    assert rows_of(result, "order") == []
    assert [row["value"] for row in rows_of(result, "bound")] == [None, None]
    assert result.sentences()[-1] == "LastRel: one and two have no query with a value for both."


@pytest.mark.parametrize(("rate", "stays", "turns", "same", "reversals"), [(0, 1, 0, 1, 0), (1, 0, 1, 0, 10)])
def test_a_significant_difference_stays_or_turns_round(
    rate: float, stays: float, turns: float, same: float, reversals: float
) -> None:
    """If x and y are relevant, old finds three of four documents, and new two."""
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 0} for i in range(10)}
    runs = {name: {query: [*ids] for query in qrels} for name, ids in {"new": "abc", "old": "xya"}.items()}
    result = unjudged(qrels, runs, ["LexiRecall", "R@3"], rate=rate, samples=3)
    for row in rows_of(result, "pair"):
        found = (row["stays"], row["turns"], row["same_order"], row["reversals"])
        assert found == pytest.approx((stays, turns, same, reversals))
        assert row["arises"] is None
    assert [row["stays_best"] for row in rows_of(result, "order")] == [same, same]
    said = "turns round significantly in 100 %" in " ".join(result.sentences())
    assert said == bool(turns)


def test_the_best_run_has_the_lowest_mean_where_lower_is_better() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(4)}
    runs = {name: {query: [*ids] for query in qrels} for name, ids in {"late": "xyab", "early": "abxy"}.items()}
    (row,) = rows_of(unjudged(qrels, runs, "LastRel", rate=0, samples=3), "order")
    assert (row["best"], row["stays_best"], row["tau"]) == ("early", 1, 1)


def test_the_table_of_pairs_says_whether_what_is_significant_or_not_stays_so(made: Unjudged) -> None:
    table = made.tables()["Pairs of runs"]
    for row, cells in zip(rows_of(made, "pair"), table.rows, strict=True):
        verdict = row["stays"] if cells[-4] == "yes" else None if row["arises"] is None else 1 - row["arises"]
        assert cells[-1] == percent(verdict)


def test_only_the_reasons_for_judging_are_texts_in_the_list() -> None:
    for texts in (None, {"documents": {"d1": "one"}}):
        table = unjudged(QRELS, RUNS, rate=0.3, samples=5, judge=3, texts=texts).tables("judge")["To judge next"]
        assert [table.header[at] for at in table.texts] == ["reason"]


def test_differences_that_become_significant_in_more_than_5_percent_are_counted(made: Unjudged) -> None:
    text = " ".join(made.sentences())
    for measure in ("LexiRecall", "R@100", "AP"):
        arises = [row["arises"] for row in rows_of(made, "pair") if row["measure"] == measure]
        assert None not in arises  # none is significant
        assert f"{sum(share > 0.05 for share in arises)} of {len(arises)} differences become significant" in text
    assert re.search(r"[1-9] of \d+ differences become", text)


def test_the_table_of_queries_says_never_exactly_where_no_labels_reverse() -> None:
    qrels = {"judged": {"a": 1, "b": 0, "c": 0}, "unjudged": {"a": 1}}
    runs = {name: {key: [*ids] for key in qrels} for name, ids in {"one": "a", "two": "bc"}.items()}
    result = unjudged(qrels, runs, "R@2", rate=0.5, samples=3)
    table = result.tables("queries")["Decisions"]
    says = {cells[0]: cells[table.header.index("flip")] == "never" for cells in table.rows}
    assert says == {row["query"]: row["reversible"] is False for row in rows_of(result, "query")}
    assert says == {"judged": True, "unjudged": False}


def test_one_document_may_be_asked_for() -> None:
    assert len(rows_of(unjudged(QRELS, RUNS, rate=0.3, samples=5, judge=1), "judge")) == 1


def test_the_command_says_the_least_that_may_be_asked_for(command: Command) -> None:
    done = command("unjudged", "qrels.txt", "one.run", "two.run", "--judge", "0")
    assert done.code == 2
    assert "'--judge': 0 is not in the range 1<=x" in done.err

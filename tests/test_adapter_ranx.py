"""ranx's interface against the real package: its objects, its numbers, and our answer where it is wrong.

Its functions are compiled when they are first called, which takes a minute for these few. Without that they are the
same functions in Python, so conftest.py switches the compiler off; `make test-long` leaves it on.
"""

import importlib
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexirecall.adapters.ranx import RanxReport, compare, evaluate, from_ranx, to_ranx_qrels, to_ranx_run
from lexirecall.adapters.ranx_metrics import read_metric
from lexirecall.errors import DataError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore:.*unsafe cast:Warning")  # numba's, of ranx's functions

METRICS = ["map@5", "mrr", "ndcg@5", "recall@5", "precision@5-l2"]
Grades = dict[str, dict[str, int]]
Ranked = dict[str, dict[str, float]]


def collection(seed: int = 3, num_queries: int = 12) -> tuple[Grades, list[Ranked]]:
    """Make judgments and two runs without equal scores, some queries short, some with nothing relevant."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    documents = [f"d{i}" for i in range(15)]
    qrels = {f"q{i}": {d: chance.choice((0, 0, 1, 2)) for d in documents[:8]} for i in range(num_queries)}
    qrels["q3"] = dict.fromkeys(documents[:8], 0)
    runs = [
        {q: {d: chance.random() for d in chance.sample(documents, chance.randint(1, 15))} for q in qrels}
        for _ in range(2)
    ]
    return qrels, runs


@pytest.fixture(scope="module")
def ranx() -> Any:
    return importlib.import_module("ranx")


def test_objects_of_ranx_go_in_and_out(ranx: Any) -> None:
    qrels, runs = collection()
    judged, ranked = ranx.Qrels(qrels), ranx.Run(runs[0], name="bm25")
    assert (from_ranx(judged), from_ranx(ranked)) == (qrels, runs[0])
    assert from_ranx(to_ranx_qrels(qrels, name="mine")) == qrels
    made = to_ranx_run(runs[0], name="bm25")
    assert (from_ranx(made), made.name) == (runs[0], "bm25")
    assert from_ranx(to_ranx_run({7: ["b", "a"]})) == {"7": {"b": 2.0, "a": 1.0}}


def test_values_and_p_are_those_of_ranx(ranx: Any) -> None:
    qrels, runs = collection()
    judged, ranked = ranx.Qrels(qrels), [ranx.Run(run, name=name) for run, name in zip(runs, ("x", "y"), strict=True)]
    theirs, ours = (function(judged, ranked, METRICS, max_p=0.05) for function in (ranx.compare, compare))
    found, expected = ours.to_dict(), theirs.to_dict()
    assert found.keys() == expected.keys()
    assert (found["metrics"], found["model_names"], found["stat_test"]) == (METRICS, ["x", "y"], "student")
    for name, other in (("x", "y"), ("y", "x")):
        for metric in METRICS:
            assert found[name]["scores"][metric] == pytest.approx(expected[name]["scores"][metric], abs=1e-12)
            assert found[name]["comparisons"][other][metric] == pytest.approx(
                expected[name]["comparisons"][other][metric]
            )
            assert found[name]["win_tie_loss"][other][metric] == expected[name]["win_tie_loss"][other][metric]
    assert list(ours.to_dataframe()) == list(theirs.to_dataframe())
    one = evaluate(judged, ranked[0], "mrr", return_mean=False)
    assert dict(zip(from_ranx(judged), one, strict=True)) == pytest.approx(dict(ranked[0].scores["mrr"]))


ONLY_RANX = [
    f"{name}{cut}{level}"
    for name in ("hits", "hit_rate", "f1", "dcg", "dcg_burges", "precision", "recall")
    for cut in ("", "@1", "@4", "@20")
    for level in ("", "-l2")
]


def test_every_cut_and_level_of_its_own_metrics_is_as_in_ranx_on_a_thousand_rankings(ranx: Any) -> None:
    """Scores differ: its order of equal ones is its own."""
    qrels, (run, _) = collection(seed=11, num_queries=1000)
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), ONLY_RANX, return_mean=False)
    ours = evaluate(qrels, run, ONLY_RANX, return_mean=False)
    order = [list(qrels).index(q) for q in ranx.Qrels(qrels).get_query_ids()]
    for metric in ONLY_RANX:
        assert ours[metric][order] == pytest.approx(theirs[metric], rel=1e-12, abs=1e-12), metric


def test_metrics_that_are_no_rows_are_those_of_their_definitions() -> None:
    qrels, run = {"q": {"a": 2, "b": 1, "c": 3, "d": 0}, "r": {"a": 1}}, {"q": ["x", "a", "d", "b"], "r": []}
    names = ["hits", "hits@2", "hit_rate", "f1@2", "dcg", "dcg@2", "dcg_burges", "dcg-l2"]
    found = evaluate(qrels, run, names, return_mean=False)
    b = 1 / np.log2(5)
    assert [found[name][0] for name in names] == pytest.approx(
        [2, 1, 1, 2 / 5, 2 / np.log2(3) + b, 2 / np.log2(3), 3 / np.log2(3) + b, 2 / np.log2(3)]
    )
    assert [found[name][1] for name in names] == [0] * len(names)


def test_hits_count_what_was_retrieved_even_if_the_size_of_the_corpus_is_known() -> None:
    assert evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a"]}, ["hits", "hit_rate"], corpus_size=9) == {
        "hits": 1.0,
        "hit_rate": 1.0,
    }


def test_tied_documents_are_shared_out_where_a_mean_has_a_closed_form() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert evaluate(qrels, run, ["hits@1", "f1@1"], ties="expected") == {"hits@1": 0.5, "f1@1": 0.5}
    with pytest.raises(UsageError, match="the mean of DCG over all orders of tied documents has no closed form"):
        evaluate(qrels, run, "dcg", ties="expected")


def test_runs_are_compared_by_its_own_metrics_as_in_ranx(ranx: Any) -> None:
    qrels, runs = collection()
    judged, ranked = ranx.Qrels(qrels), [ranx.Run(run, name=name) for run, name in zip(runs, ("x", "y"), strict=True)]
    metrics = ["hits@5", "dcg", "f1@3"]
    found, expected = (function(judged, ranked, metrics).to_dict() for function in (compare, ranx.compare))
    for metric in metrics:
        assert found["x"]["scores"][metric] == pytest.approx(expected["x"]["scores"][metric])
        assert found["x"]["comparisons"]["y"][metric] == pytest.approx(expected["x"]["comparisons"]["y"][metric])


ARRAYS = ["hits", "precision@2", "recall", "f1@3", "map", "mrr@2", "ndcg@3", "dcg", "r-precision", "rbp.80"]


def tables(num_queries: int = 12) -> tuple[list[Any], list[Any]]:
    """Make pairs of id and number, sorted as ranx needs them; the lengths of the rankings differ."""
    chance = np.random.default_rng(4)
    qrels = [np.column_stack([chance.permutation(9)[:5], np.ones(5)]) for _ in range(num_queries)]
    run = [
        np.column_stack([chance.permutation(9)[:size], np.linspace(1, 0.1, size)])
        for size in chance.integers(1, 9, num_queries)
    ]
    return qrels, run


def test_arrays_are_evaluated_as_in_ranx(ranx: Any) -> None:
    qrels, run = tables()
    theirs = ranx.evaluate(qrels, run, ARRAYS, return_mean=False)
    ours = evaluate(qrels, run, ARRAYS, return_mean=False)
    for metric in ARRAYS:
        assert ours[metric] == pytest.approx(theirs[metric]), metric
    square = np.array([table[:1] for table in run])
    assert evaluate(np.array(qrels), square, "mrr") == pytest.approx(ranx.evaluate(np.array(qrels), square, "mrr"))


def test_lists_that_ranx_makes_of_dicts_are_taken(ranx: Any) -> None:
    """Their ids are hashes in floats, of which no whole number is lost."""
    qrels, (run, _) = collection()
    judged, ranked = ranx.Qrels(qrels).to_typed_list(), ranx.Run(run).to_typed_list()
    assert evaluate(judged, ranked, ["map", "ndcg@5"]) == pytest.approx(evaluate(qrels, run, ["map", "ndcg@5"]))


def test_arrays_are_rankings_in_the_order_given() -> None:
    qrels, run = np.array([[[12, 1.0], [25, 0.0]]]), np.array([[[25, 0.1], [12, 0.9]]])
    assert evaluate(qrels, run, "mrr") == 0.5
    assert evaluate(qrels, [np.empty((0, 2))], "mrr") == 0.0
    assert evaluate(np.array([[[12, 1.0], [12, 1.0]]]), run, "recall") == 1.0  # one document, as in any judgments


def test_arrays_that_cannot_be_matched_are_errors() -> None:
    table = np.array([[1.0, 1.0]])
    with pytest.raises(UsageError, match=r"one of judgments and run has arrays, .* the other is a dict"):
        evaluate([table], {"q": ["a"]}, "mrr")
    with pytest.raises(DataError, match="the judgments have 2 queries, and the run has 1"):
        evaluate([table, table], [table], "mrr")
    with pytest.raises(UsageError, match=r"run: query 0 has the shape \(1,\)"):
        evaluate([table], np.array([[1.0]]), "mrr")
    with pytest.raises(DataError, match=r"query 0 give document 1 two grades: 1\.0, 0\.0"):
        evaluate([np.array([[1.0, 1.0], [1.0, 0.0]])], [table], "mrr")


def test_tests_have_the_labels_of_ranx(ranx: Any) -> None:
    from ranx.data_structures.report import stat_test_labels

    made = report()
    assert {name: made.get_stat_test_label(name) for name in stat_test_labels} == stat_test_labels
    assert made.get_stat_test_label("wilcoxon") == "wilcoxon"
    with pytest.raises(UsageError, match="stat_test is 'anova'"):
        made.get_stat_test_label("anova")


def test_what_only_ranx_does_is_reached_by_converting(ranx: Any) -> None:
    qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
    bm25 = {"q1": {"d2": 0.9, "d1": 0.4}, "q2": {"d3": 0.7, "d1": 0.6}}
    dense = {"q1": {"d1": 0.8, "d9": 0.3, "d2": 0.1}, "q2": {"d9": 0.5, "d3": 0.2}}
    runs = [to_ranx_run(bm25, name="bm25"), to_ranx_run(dense, name="dense")]
    fused = ranx.fuse(runs=runs, norm="min-max", method="sum")
    fused.name = "fused"
    assert compare(qrels, [*runs, fused], ["LexiRecall", "map"]).model_names == ["bm25", "dense", "fused"]


def test_nothing_that_is_passed_in_is_changed_unless_asked_for(ranx: Any) -> None:
    run = ranx.Run({"q": {"a": 1.0}}, name="x")
    assert evaluate(ranx.Qrels({"q": {"a": 1}, "r": {"b": 1}}), run, "mrr") == 0.5
    assert (from_ranx(run), run.mean_scores) == ({"q": {"a": 1.0}}, {})
    evaluate({"q": {"a": 1}, "r": {"b": 1}}, run, "mrr", save_results_in_run=True)
    assert (run.mean_scores, dict(run.scores)) == ({"mrr": 0.5}, {"mrr": {"q": 1.0, "r": 0.0}})


def test_queries_are_matched_by_id() -> None:
    assert evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": {"b": 1.0}, "q1": {"a": 1.0}}, "mrr") == 1.0


def test_the_randomization_test_gives_the_same_p_again_and_never_0() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(30)}
    runs = {"good": {q: ["a"] for q in qrels}, "bad": {q: ["x", "a"] for q in qrels}}
    found = {
        compare(qrels, runs, "mrr", stat_test="fisher", n_permutations=999).to_dict()["good"]["comparisons"]["bad"][
            "mrr"
        ]
        for _ in range(3)
    }
    assert found == {0.001}


def test_rbp_is_binary() -> None:
    assert evaluate({"q": {"a": 3, "b": 3, "c": 3}}, {"q": ["a", "b", "c"]}, "rbp.50") == 0.875


def test_fractions_of_grades_are_kept_and_never_go_to_ranx() -> None:
    qrels = {"q": {"a": 0.9, "b": 1.9}}
    assert evaluate(qrels, {"q": ["a", "b"]}, "mrr") == 0.5
    assert evaluate(qrels, {"q": ["a", "b"]}, "ndcg") == pytest.approx(
        (0.9 + 1.9 / np.log2(3)) / (1.9 + 0.9 / np.log2(3))
    )
    with pytest.raises(DataError, match=r"the grade 0\.9 is a fraction, which ranx cuts off"):
        to_ranx_qrels(qrels)


class Named(dict[str, Any]):
    name = "bm25"


def test_two_runs_of_one_name_are_an_error() -> None:
    run = Named(q=["a"])
    with pytest.raises(UsageError, match="two runs have the same name: 'bm25'"):
        compare({"q": {"a": 1}}, [run, run], "mrr")


def test_runs_without_a_name_are_numbered() -> None:
    assert compare({"q": {"a": 1}}, [{"q": ["a"]}, {"q": ["b"]}], "mrr").model_names == ["run_1", "run_2"]


def test_equal_scores_are_ordered_by_one_rule() -> None:
    documents = [f"d{i:02}" for i in range(30)]
    for order in (documents, documents[::-1]):
        assert evaluate({"q": {"d00": 1}}, {"q": dict.fromkeys(order, 1.0)}, "mrr") == 1 / 30


def test_frames_of_any_number_type_are_taken() -> None:
    qrels = pd.DataFrame({"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": np.array([0, 1], np.int32)})
    run = pd.DataFrame({"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": np.array([0.9, 0.1], np.float32)})
    columns = {"query": "q_id", "qrels.grade": "score"}
    assert evaluate(qrels, run, "mrr", columns=columns) == 0.5


@pytest.mark.ranx
def test_an_empty_ranking_is_the_worst_case() -> None:
    assert evaluate({"q": {"a": 1}}, {"q": {}}, ["map", "mrr"]) == {"map": 0.0, "mrr": 0.0}
    with pytest.raises(DataError, match="there is no document in the"):
        to_ranx_run({"q": {}})


def test_a_report_has_room_for_more_runs_than_letters() -> None:
    report = compare({"q": {"a": 1}, "r": {"a": 1}}, [{"q": ["a"]}] * 30, "rbp.05")
    assert "ad run_30" in str(report)
    assert report.to_latex().count("run\\_") == 30


def test_bpref_of_an_unanswered_query_is_0() -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"c": 1, "d": 0}}
    assert evaluate(qrels, {"q": ["a"]}, "bpref") == 0.5


def test_runs_that_are_the_same_have_p_1() -> None:
    qrels, (run, _) = collection()
    report = compare(qrels, {"x": run, "y": dict(run)}, ["map"])
    assert report.to_dict()["x"]["comparisons"] == {"y": {"map": 1.0}}


@pytest.mark.parametrize("metric", ["rbp@10", "rbp@80-l2"])
def test_what_means_something_else_is_refused_with_a_hint(metric: str) -> None:
    with pytest.raises(UsageError, match="of ranx is not offered\n  "):
        read_metric(metric)
    with pytest.raises(UsageError, match="unknown measure"):
        read_metric("hitz@5")


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("hit_rate@5", "Success@5"), ("precision", "SetP"), ("precision@5", "P@5"), ("recall", "SetR"), ("f1", "SetF"),
        ("f1-l2", "SetF(rel=2)"), ("r-precision", "Rprec"), ("rbp.95", "RBP(p=0.95)"), ("mrr@10", "RR@10"),
        ("map@10-l2", "AP(rel=2)@10"), ("ndcg_burges@10", "nDCG(dcg='exp-log2')@10"), ("bpref", "Bpref"),
        ("hits", "Hits"), ("hits@5-l2", "Hits(rel=2)@5"), ("hit_rate", "HitRate"), ("f1@5", "F1@5"),
        ("dcg@10", "DCG@10"), ("dcg-l2", "DCG(rel=2)"), ("dcg_burges@3", "DCGBurges@3"),
        ("rbp.95-l2", "RBP(p=0.95,rel=2)"), ("dcgrpp", "RPP(weight='dcg')"), ("LexiRecall", "LexiRecall"),
    ],
)  # fmt: skip
def test_metrics_of_ranx_are_read(metric: str, name: str) -> None:
    assert str(read_metric(metric)) == name


def test_no_level_goes_with_gains_and_one_metric_is_one() -> None:
    with pytest.raises(UsageError, match="nDCG-l2 would keep the grades from 2 on"):
        read_metric("ndcg@10-l2")
    with pytest.raises(UsageError, match="names 2 metrics"):
        read_metric("P.5,10")
    with pytest.raises(UsageError, match="no metric is given"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, [])


def test_the_same_measure_under_two_names_has_both() -> None:
    assert evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["map", "AP"]) == {"map": 0.5, "AP": 0.5}


def test_a_preference_needs_more_than_one_run() -> None:
    with pytest.raises(UsageError, match="a single run has no value: LexiRecall"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["map", "LexiRecall"])


def test_means_come_with_their_deviation_or_as_the_values_of_queries() -> None:
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}, "none": {"a": 0}}, {"q": ["a"], "r": ["x", "a"], "none": ["a"]}
    assert evaluate(qrels, run, "mrr") == 0.5
    assert evaluate(qrels, run, "mrr", no_relevant="skip") == 0.75
    assert evaluate(qrels, run, ["mrr"], return_mean=False).tolist() == [1.0, 0.5, 0.0]
    assert evaluate(qrels, run, "mrr", return_std=True) == {"mean": 0.5, "std": pytest.approx(np.std([1, 0.5, 0]))}
    assert np.isnan(evaluate({"q": {"a": 1}}, {"q": ["b"]}, "LastRel"))


def test_queries_that_do_not_match_are_an_error_if_wanted() -> None:
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"]}
    with pytest.raises(DataError, match="only one of them has r"):
        evaluate(qrels, run, "mrr", make_comparable=False)
    with pytest.raises(DataError, match="only one of them has r"):
        compare(qrels, [run, run], "mrr", make_comparable=False)
    assert evaluate({"q": {"a": 1}}, run, "mrr", make_comparable=False) == 1.0


def test_that_holds_for_files_too(tmp_path: Path) -> None:
    qrels, run, whole = (str(tmp_path / name) for name in ("qrels", "run", "whole"))
    Path(qrels).write_text("q 0 a 1\nr 0 a 1\n")
    Path(run).write_text("q Q0 a 1 1 t\nz Q0 a 1 1 t\n")
    Path(whole).write_text("q Q0 a 1 1 t\nr Q0 a 1 1 t\n")
    for call in (lambda: evaluate(qrels, run, "mrr", make_comparable=False),
                 lambda: compare(qrels, {"x": run, "y": whole}, "mrr", make_comparable=False)):  # fmt: skip
        with pytest.raises(DataError, match="1 query only in the judgments and 1 query only in the runs"):
            call()
    assert evaluate(qrels, whole, "mrr", make_comparable=False) == 1.0


def report() -> RanxReport:
    qrels, runs = collection(num_queries=10)
    return compare(qrels, runs, ["map", "LexiRecall", "LastRel"], stat_test="student", correction="holm")


def test_a_report_has_what_a_report_of_ranx_has(tmp_path: Path) -> None:
    made = report()
    assert made.metrics == ["map", "LexiRecall", "LastRel"]
    assert str(made) == str(made.comparison)
    assert "\\begin{tabular}" in made.to_latex()
    assert made.get_stat_test_label(made.stat_test) in made.to_latex()
    assert "<table" in made._repr_html_()
    assert made.to_dataframe()["model_names"].tolist() == ["run_1", "run_2"]
    made.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == made.to_dict()
    assert {each.method for each in made.comparison.measures} == {"paired t"}


def test_tukeys_test_and_ours_can_be_asked_for_and_others_cannot() -> None:
    qrels, runs = collection()
    assert compare(qrels, runs, "map", stat_test="tukey").comparison.measures[0].method.startswith("Tukey")
    assert compare(qrels, runs, "map", stat_test="wilcoxon").comparison.measures[0].method.startswith("Wilcoxon")
    with pytest.raises(UsageError, match="stat_test is 'anova', but must be one of student, fisher, tukey"):
        compare(qrels, runs, "map", stat_test="anova")


def test_a_run_for_ranx_is_a_mapping() -> None:
    with pytest.raises(UsageError, match="the run is a str, but must be a mapping"):
        to_ranx_run("bm25.run")


def test_without_ranx_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ranx", None)
    with pytest.raises(UsageError, match="ranx is not installed\n  pip install ranx"):
        to_ranx_run({"q": ["a"]})
    assert evaluate({"q": {"a": 1}}, {"q": ["a"]}, "map") == 1.0

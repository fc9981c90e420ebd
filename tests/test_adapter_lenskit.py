"""The LensKit adapter, against the real package: metrics, comparisons of runs, and what LensKit leaves to its users."""

import doctest
import importlib.util
import math
import os
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lexirecall
from lexirecall.errors import DataError, UnknownMeasure, UsageError

pytest.importorskip("lenskit", reason="LensKit is not installed")

from lenskit.data import ItemList, ItemListCollection, UserIDKey
from lenskit.metrics import RBP, MeasurementCollector, Recall, RecipRank, RunAnalysis

from lexirecall.adapters import lenskit as adapter
from lexirecall.adapters.lenskit import (
    TSE,
    LexirecallMetric,
    LexiRecallPercentile,
    RecallAtK,
    project,
)
from lexirecall.verbs.scores import Scores
from pages import DOCS, run_page

ROOT = DOCS.parent
MEASURES = [
    "TSE",
    "R@5",
    "AP",
    "nDCG",
    "nDCG@3",
    "RR",
    "P@5",
    "Rprec",
    "RBP",
    "bpref",
    "SetP",
    "NumRet",
    "ERR(max_grade=5)@5",
]
WITH_SIZE = ["LexiRecallPercentile", "LexiRecallBits", "LastRel", "SL3", "RE", "TSE(e='linear')"]
CORPUS = 60

Lists = dict[Any, ItemList]
Dicts = dict[str, Any]


def evaluated(
    outputs: Any, test: Any, measures: Any = None, *, level: float = 1, queries: str = "all", **options: Any
) -> Scores:
    """Evaluate lists, as a user does in two steps."""
    found = project(outputs, test, level=level, needs_judged=True, **options)
    return lexirecall.evaluate(found, measures=measures, level=level, queries=queries)


def collection(lists: Lists, key: Any = UserIDKey) -> ItemListCollection:
    return ItemListCollection.from_dict(lists, key)


def ranked(*items: Any, **fields: Any) -> ItemList:
    return ItemList(list(items), ordered=True, **fields)


def item_of(kind: str) -> Callable[[Any], Any]:
    return int if kind == "integers" else lambda number: f"i{number}"


def random_run(rng: np.random.Generator, kind: str, users: range) -> tuple[ItemListCollection, Dicts]:
    """Return a run of LensKit's and the same as dicts: lists are ordered, scored with ties, empty or missing."""
    lists: Lists = {}
    same: Dicts = {}
    for user in users:
        style = rng.choice(["ordered", "scored", "empty", "missing"], p=[0.5, 0.3, 0.1, 0.1])
        ids = list(map(item_of(kind), rng.choice(40, int(rng.integers(1, 20)), replace=False)))
        if style == "ordered":  # scores do not matter then
            lists[user], same[str(user)] = ItemList(ids, ordered=True, scores=rng.random(len(ids))), ids
        elif style == "scored":
            scores = rng.integers(0, 5, len(ids)).astype(np.float32)
            lists[user], same[str(user)] = ItemList(ids, scores=scores), dict(zip(ids, scores.tolist(), strict=True))
        elif style == "empty":
            lists[user], same[str(user)] = ItemList([], ordered=True), []
    return collection(lists), same


def random_test(rng: np.random.Generator, kind: str, users: range, *, rated: bool) -> tuple[ItemListCollection, Dicts]:
    lists: Lists = {}
    same: Dicts = {}
    for user in users:
        ids = list(map(item_of(kind), rng.choice(40, int(rng.integers(0, 8)), replace=False)))
        stars = rng.integers(1, 6, len(ids)).astype(float)
        lists[user] = ItemList(ids, rating=stars) if rated and ids else ItemList(ids)
        same[str(user)] = dict(zip(ids, stars.tolist() if rated else [1.0] * len(ids), strict=True))
    return collection(lists), same


def close(ours: Any, theirs: Any) -> bool:
    return math.isclose(ours, theirs, rel_tol=1e-12) or (math.isnan(ours) and math.isnan(theirs))


every_kind = pytest.mark.parametrize("kind", ["integers", "text"])
every_seed = pytest.mark.parametrize("seed", range(4))


@every_seed
@every_kind
@pytest.mark.parametrize(("rated", "level"), [(True, 4), (True, 1), (False, 1)])
def test_runs_are_evaluated_compared_and_ranked_as_the_same_runs_in_dicts(
    seed: int, kind: str, rated: bool, level: int
) -> None:
    rng = np.random.default_rng(seed)
    test, qrels = random_test(rng, kind, range(30), rated=rated)
    both = {name: random_run(rng, kind, range(5, 40)) for name in ("x", "y", "z")}
    outputs, runs = ({name: pair[side] for name, pair in both.items()} for side in (0, 1))
    names = ["LexiRecall", "RPP", *MEASURES, *WITH_SIZE]
    ours = evaluated(outputs, test, names, level=level, corpus_size=CORPUS)
    theirs = lexirecall.evaluate(qrels, runs, names, level=level, corpus_size=CORPUS)
    np.testing.assert_array_equal(ours.values, theirs.values)
    assert ours.queries == theirs.queries
    noted, expected_notes = ({note.kind: note.count for note in each.notes} for each in (ours, theirs))
    assert noted == expected_notes | ({} if rated else {"no grades": test.total_items()})
    compared = lexirecall.compare(
        project(outputs, test, level=level), measures=names[:5], level=level, baseline="y", test="randomization", seed=1
    )
    expected = lexirecall.compare(qrels, runs, names[:5], level=level, baseline="y", test="randomization", seed=1)
    assert list(compared.rows()) == list(expected.rows())
    order = lexirecall.rank(project(outputs, test, level=level), method="borda", level=level, queries="intersection")
    assert (
        order.to_dict() == lexirecall.rank(qrels, runs, method="borda", level=level, queries="intersection").to_dict()
    )


@every_seed
@every_kind
def test_a_list_metric_has_the_value_that_its_measure_has_for_this_user(seed: int, kind: str) -> None:
    rng = np.random.default_rng(100 + seed)
    test, qrels = random_test(rng, kind, range(20), rated=True)
    output, run = random_run(rng, kind, range(20))
    metrics = [LexirecallMetric(name, level=4, corpus_size=CORPUS) for name in [*MEASURES, *WITH_SIZE]]
    found = RunAnalysis(*metrics).measure(output, test).list_metrics()
    scores = lexirecall.evaluate(qrels, {"x": run}, [m.measure for m in metrics], corpus_size=CORPUS)
    assert list(found.columns) == [metric.label for metric in metrics]
    assert len(found) == len(run)
    for user, row in found.iterrows():
        expected = scores.values[0, scores.queries.index(str(user))]
        assert all(map(close, row.tolist(), expected.tolist())), user


def test_labels_are_canonical_names() -> None:
    metrics = [
        TSE(),
        TSE(10, e="dcg"),
        RecallAtK(20),
        LexiRecallPercentile(9, level=4),
        LexirecallMetric("ndcg_cut_10"),
    ]
    assert [m.label for m in metrics] == ["TSE", "TSE(e='dcg')@10", "R@20", "LexiRecallPercentile(rel=4)", "nDCG@10"]


@pytest.mark.parametrize(
    ("metric", "label"),
    [
        (LexirecallMetric("RBP"), "RBP(p=0.8)"),
        (LexirecallMetric("RBP@10", level=4), "RBP(p=0.8,rel=4)@10"),
        (LexirecallMetric("RBP(p=0.5)"), "RBP(p=0.5)"),
        (LexirecallMetric("RBP", label="our RBP"), "our RBP"),
        (LexirecallMetric("AP", label="mine"), "mine"),
        (TSE(3, label="mine"), "mine"),
        (RecallAtK(3, label="mine"), "mine"),
        (LexiRecallPercentile(9, label="mine"), "mine"),
    ],
)
def test_a_label_may_be_given_and_is_none_of_lenskits_own(metric: LexirecallMetric, label: str) -> None:
    assert metric.label == label
    analysis = RunAnalysis(RBP(), RBP(10), metric)
    test = collection({1: ItemList(["a"], rating=[5.0])})
    outputs = collection({1: ItemList(["x", "a"], ordered=True)})
    assert list(analysis.measure(outputs, test).list_metrics().columns) == ["RBP", "RBP@10", label]


def test_a_metric_beside_its_namesake_keeps_its_own_value() -> None:
    """LensKit's p is 0.85, ours 0.8; the relevant items are at 2 and 3."""
    test, outputs = collection({1: ItemList(["a", "b"])}), collection({1: ranked("x", "a", "b")})
    result = RunAnalysis(RBP(), LexirecallMetric("RBP", label="our RBP")).measure(outputs, test)
    assert result.list_metrics().loc[1].to_dict() == pytest.approx(
        {"RBP": 0.15 * (0.85 + 0.85**2), "our RBP": 0.2 * (0.8 + 0.8**2)}
    )
    assert result.list_summary().loc["our RBP", "mean"] == pytest.approx(0.288)


@pytest.mark.parametrize("label", ["", 5])
def test_a_label_is_text(label: Any) -> None:
    with pytest.raises(UsageError, match=f"label is {label!r}, but must be text"):
        LexirecallMetric("RBP", label=label)


def test_users_without_relevant_items_are_left_out_of_the_means_of_an_analysis() -> None:
    test = collection({1: ItemList(["a"], rating=[5.0]), 2: ItemList(["a"], rating=[1.0])})
    output = collection({1: ranked("x", "a"), 2: ranked("a"), 3: ranked("a")})  # 3 has no test data
    result = RunAnalysis(LexirecallMetric("RR", level=4), RecipRank()).measure(output, test)
    assert result.list_metrics()["RR(rel=4)"].isna().tolist() == [False, True, True]
    assert result.list_summary().loc["RR(rel=4)", "mean"] == 0.5
    assert result.global_metrics()["RR(rel=4)"] == 0.5


def test_an_empty_list_has_the_worst_value() -> None:
    assert TSE().measure_list(ItemList([]), ItemList(["a"])) == 0
    assert LexiRecallPercentile(5).measure_list(ItemList([]), ItemList(["a"])) == 0
    assert LexirecallMetric("LastRel", corpus_size=5).measure_list(ItemList([]), ItemList(["a", "b"])) == 5
    assert math.isnan(LexirecallMetric("LastRel").measure_list(ItemList([]), ItemList(["a"])))  # nobody knows n


def test_a_list_may_be_measured_against_one_test_list_after_the_other() -> None:
    output, first, second = ranked("a", "b"), ItemList(["a"]), ItemList(["b"])
    metric = LexirecallMetric("RR")
    assert [metric.measure_list(output, test) for test in (first, second, first)] == [1, 0.5, 1]
    assert [metric.measure_list(other, first) for other in (output, ranked("b", "a"))] == [1, 0.5]


def test_a_collector_takes_a_metric_as_a_class_or_an_instance() -> None:
    collector = MeasurementCollector()
    collector.add_metric(TSE)
    collector.add_metric(RecallAtK(1), "recall at the top")
    collector.measure_list(ranked("a", "b"), ItemList(["a", "b"]), user_id=1)
    assert collector.list_metrics().loc[1].to_dict() == {"TSE": 0.5, "recall at the top": 0.5}


def test_recall_divides_by_all_relevant_items_where_lenskit_divides_by_the_cutoff() -> None:
    output, test = ranked("a", "x"), ItemList(["a", "b", "c", "d"])
    assert Recall(2).measure_list(output, test) == 0.5
    assert RecallAtK(2).measure_list(output, test) == 0.25


# What LensKit 2025.8.1 gets wrong


def test_an_item_that_is_listed_twice_is_an_error_and_not_a_recall_of_two() -> None:
    twice, test = ranked("a", "x", "a"), ItemList(["a"])
    assert Recall().measure_list(twice, test) == 2.0
    for metric in (TSE(), RecallAtK(5), LexirecallMetric("AP")):
        with pytest.raises(DataError, match="item 'a' is listed twice"):
            metric.measure_list(twice, test)
    with pytest.raises(DataError, match="item 'a' is listed twice"):
        TSE().measure_list(ItemList(["a", "x", "a"], scores=[1.0, 2.0, 3.0]), test)
    with pytest.raises(DataError, match="knn: item 'a' is listed twice in the list for '7'"):
        project({"knn": collection({7: twice}), "pop": collection({7: ranked("a")})}, collection({7: test}))
    scores = evaluated({"knn": collection({7: twice})}, collection({7: test}), "R@5", duplicates="first")
    assert scores.to_dict() == {"knn": {"R@5": 1.0}}


def test_users_without_a_list_count_as_worst_case_and_users_without_test_data_are_ignored() -> None:
    test = collection({1: ItemList(["a"]), 2: ItemList(["a"])})
    output = collection({1: ranked("a"), 3: ranked("a")})
    assert (
        RunAnalysis(RecipRank()).measure(collection({1: ranked("a")}), test).list_summary().loc["RecipRank", "mean"]
        == 1
    )
    scores = evaluated({"run": output}, test, ["RR"])
    assert scores.to_dict() == {"run": {"RR": 0.5}}
    notes = " ".join(note.text for note in scores.notes)
    assert "does not answer (of 2: run 1)" in notes
    assert "without judgments (run 1)" in notes


def test_an_empty_list_is_an_answer() -> None:
    test = collection({1: ItemList(["a"]), 2: ItemList(["a"])})
    output = collection({1: ranked("a"), 2: ItemList([], ordered=True)})
    assert project({"run": output}, test).answered.tolist() == [[True, True]]
    assert evaluated({"run": output}, test, ["RR"], queries="intersection").to_dict() == {"run": {"RR": 0.5}}


# Lists, keys and grades


def test_the_order_of_an_ordered_list_goes_before_its_scores() -> None:
    test = ItemList(["a"])
    assert LexirecallMetric("RR").measure_list(ranked("x", "a", scores=[0.1, 0.9]), test) == 0.5
    assert LexirecallMetric("RR").measure_list(ItemList(["x", "a"], scores=[0.1, 0.9]), test) == 1


def test_an_item_without_a_score_is_not_retrieved() -> None:
    output, test = ItemList(["a", "b", "x"], scores=[np.nan, 0.5, 0.7]), ItemList(["a", "b"])
    assert LexirecallMetric("NumRet").measure_list(output, test) == len(output.top_n())
    vector = project({"run": collection({1: output})}, collection({1: test})).at_level(1).vector(0, 0)
    assert vector.tolist() == [2, np.inf]


def test_an_unordered_list_without_scores_has_no_order() -> None:
    lists = collection({"u": ItemList(["a", "b"])})
    with pytest.raises(DataError, match="not ordered and has no scores"):
        TSE().measure_list(ItemList(["a", "b"]), ItemList(["a"]))
    with pytest.raises(DataError, match="run: the list for 'u' is not ordered"):
        evaluated({"run": lists}, lists)


def test_ranks_that_contradict_the_order_are_an_error() -> None:
    output = ranked("a", "b", "c", rank=[1, 3, 2])
    with pytest.raises(DataError, match="ranks do not ascend"):
        TSE().measure_list(output, ItemList(["a"]))


def test_keys_of_several_fields_are_matched_by_name_and_cannot_be_confused() -> None:
    test = collection({("a|b", "c"): ItemList([1]), ("a", "b|c"): ItemList([2])}, ("user_id", "seq"))
    output = collection({("c", "a|b"): ranked(1), ("b|c", "a"): ranked(9, 2)}, ("seq", "user_id"))
    found = evaluated({"run": output}, test, ["RR"])
    assert found.queries == ("a\\|b|c", "a|b\\|c")
    assert found.values[0, :, 0].tolist() == [1, 0.5]


def test_runs_may_have_more_key_fields_than_the_test_data_if_these_tell_lists_apart() -> None:
    test = collection({1: ItemList(["a"]), 2: ItemList(["a"])})
    one = collection({("knn", 1): ranked("a"), ("knn", 2): ranked("b", "a")}, ("model", "user_id"))
    two = collection({("knn", 1): ranked("a"), ("top", 1): ranked("b", "a")}, ("model", "user_id"))
    assert evaluated({"knn": one}, test, ["RR"]).to_dict() == {"knn": {"RR": 0.75}}
    with pytest.raises(DataError, match="two has two lists for '1'"):
        evaluated({"two": two}, test, ["RR"])
    with pytest.raises(DataError, match=r"no field 'user_id'.*\n.*rename_key"):
        evaluated({"run": collection({1: ranked("a")}, "id")}, test)


def test_ids_of_different_types_are_compared_as_text() -> None:
    test = collection({np.int64(1): ItemList([10, 20])})
    output = collection({"1": ranked("20", "10")})
    assert evaluated({"run": output}, test, ["TSE"]).to_dict() == {"run": {"TSE": 0.5}}
    assert TSE().measure_list(ranked("20", "10"), ItemList([10, 20])) == 0.5


def test_corpus_sizes_may_be_given_by_key() -> None:
    test = collection({1: ItemList(["a"]), 2: ItemList(["b"])})
    output = collection({1: ranked("x"), 2: ranked("x")})
    found = evaluated({"run": output}, test, ["LastRel"], corpus_size={1: 10, (2,): 20})
    assert found.values[0, :, 0].tolist() == [10, 20]
    with pytest.raises(DataError, match="too small"):
        LexirecallMetric("LastRel", corpus_size=1).measure_list(ranked("x"), ItemList(["a"]))


def test_grades_come_from_rating_or_gain_or_the_field_that_is_named() -> None:
    output = ranked("x", "a", "b")
    for fields in ({"rating": [5.0, 1.0]}, {"gain": [5.0, 1.0]}):
        assert LexirecallMetric("R@5", level=4).measure_list(output, ItemList(["a", "z"], **fields)) == 1
    named = ItemList(["a", "b"], rating=[1.0, 5.0], stars=[5.0, 1.0])
    assert LexirecallMetric("RR", level=4, field="stars").measure_list(output, named) == 0.5
    assert LexirecallMetric("RR", level=4).measure_list(output, named) == pytest.approx(1 / 3)
    with pytest.raises(DataError, match="no field 'stars'"):
        TSE(field="stars").measure_list(output, ItemList(["a"]))
    with pytest.raises(DataError, match="test list for '2' has no field 'rating'"):
        evaluated({"run": collection({1: output})}, collection({1: named, 2: ItemList(["a"])}))


def test_without_grades_every_item_is_relevant_at_any_level() -> None:
    test = ItemList(["a", "b"])
    assert RecallAtK(1, level=4).measure_list(ranked("a"), test) == 0.5
    found = evaluated({"run": collection({1: ranked("a")})}, collection({1: test}), ["R@1"], level=4)
    assert found.to_dict() == {"run": {"R@1": 0.5}}
    assert "no grades" in [note.kind for note in found.notes]


def test_an_item_may_be_in_the_test_data_twice_with_one_grade_only() -> None:
    output = {"run": collection({1: ranked("a")})}
    found = evaluated(output, collection({1: ItemList(["a", "a"], rating=[4.0, 4.0])}), ["R@1"])
    assert found.to_dict() == {"run": {"R@1": 1.0}}
    assert "repeated judgments" in [note.kind for note in found.notes]
    with pytest.raises(DataError, match="item 'a' of '1' the grades 4 and 5"):
        evaluated(output, collection({1: ItemList(["a", "a"], rating=[4.0, 5.0])}))


def test_results_convert_to_pandas_with_the_users_as_they_were() -> None:
    found = evaluated({"run": collection({7: ranked("a")})}, collection({7: ItemList(["a"])}), ["RR"])
    assert (found.frame_library, found.query_type) == ("pandas", "int64")


# Wrong usage


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: LexirecallMetric("nDGC@10"), UnknownMeasure, "did you mean"),
        (lambda: LexirecallMetric("LexiRecall"), UsageError, "compares two rankings"),
        (lambda: LexirecallMetric("R"), UsageError, "needs a cutoff"),
        (lambda: LexirecallMetric("LexiRecallBits"), UsageError, "corpus_size"),
        (lambda: LexirecallMetric("WorstProvider"), UsageError, "providers"),
        (lambda: LexiRecallPercentile(0), UsageError, "corpus_size is 0"),
        (lambda: TSE(level=0), UsageError, "level is 0"),
        (lambda: TSE(0), UsageError, "cutoff"),
        (lambda: evaluated({}, collection({1: ItemList(["a"])})), UsageError, "runs by name"),
        (lambda: evaluated({"x": {1: ["a"]}}, collection({1: ItemList(["a"])})), UsageError, "x is a dict"),
        (lambda: evaluated({"x": {}}, {1: ["a"]}), UsageError, "test data is a dict"),
        (
            lambda: lexirecall.rank(project({"x": collection({1: ranked("a")})}, collection({1: ItemList(["a"])}))),
            UsageError,
            "one run",
        ),
        (
            lambda: evaluated({"x": collection({1: ItemList([])})}, collection({1: ItemList(["a"])})),
            DataError,
            "no rec",
        ),
        (
            lambda: evaluated({"x": collection({2: ranked("a")})}, collection({1: ItemList(["a"])})),
            DataError,
            "common",
        ),
    ],
)
def test_wrong_usage_is_named(make: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make()


# LensKit 2026: we read its interface, but did not run it


class Mean:
    """A stand-in for LensKit's accumulator, which leaves nan out."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def add(self, value: float) -> None:
        self.values += [] if math.isnan(value) else [value]

    def accumulate(self) -> dict[str, float]:
        return {"mean": sum(self.values) / len(self.values)}


class ListMetric2026(ABC):
    """A stand-in for the base class of 2026: no `summarize`, and accumulators instead."""

    default: float | None = 0.0

    @abstractmethod
    def measure_list(self, output: Any, test: Any, /) -> float: ...

    def extract_list_metrics(self, data: float, /) -> float:
        return data

    def create_accumulator(self) -> Mean:
        return Mean()


def test_metrics_fit_the_interface_of_2026(monkeypatch: pytest.MonkeyPatch) -> None:
    newer: Any = ModuleType("lenskit.metrics")
    newer.ListMetric = ListMetric2026
    monkeypatch.setitem(sys.modules, "lenskit.metrics", newer)
    spec = importlib.util.spec_from_file_location("adapter_on_2026", str(adapter.__file__))
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    metric = module.TSE(level=4)
    accumulator = metric.create_accumulator()
    for test in (ItemList(["a"], rating=[5.0]), ItemList(["a"], rating=[1.0])):
        measured = metric.measure_list(ranked("x", "a"), test)
        accumulator.add(measured)
        assert metric.extract_list_metrics(measured) is measured
    assert accumulator.accumulate() == {"mean": 0.5}


# Documentation and example


def test_examples_in_docstrings_print_what_they_say() -> None:
    assert doctest.testmod(adapter).failed == 0


def test_the_code_of_the_page_runs_and_says_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    run_page(DOCS / "lenskit.md", {})
    printed = capsys.readouterr().out
    for shown in re.findall(r"```text\n(.*?)```", (DOCS / "lenskit.md").read_text(), re.DOTALL):
        for line in shown.splitlines():
            pattern = r"\s+".join(re.escape(word) for word in line.split()).replace(re.escape("..."), ".*")
            assert re.search(pattern, printed), line


def test_the_example_for_recommender_engineers_runs() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/recommender.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "What the numbers show" in done.stdout
    assert "popular wins" in done.stdout


def test_the_example_says_what_is_missing_without_lenskit(tmp_path: Path) -> None:
    (tmp_path / "lenskit.py").write_text("raise ModuleNotFoundError('No module named lenskit', name='lenskit')")
    done = subprocess.run(
        [sys.executable, ROOT / "examples/recommender.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 2
    assert "pip install lenskit" in done.stderr
    assert "Traceback" not in done.stderr
    importing = [sys.executable, "-c", "import lexirecall.adapters.lenskit"]
    done = subprocess.run(
        importing, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False
    )
    assert "UsageError: lenskit is not installed\n  pip install lenskit" in done.stderr

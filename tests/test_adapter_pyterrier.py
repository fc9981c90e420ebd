"""Inside PyTerrier: measures and tests for pt.Experiment, and comparing what it takes; without Java throughout.

What needs PyTerrier itself is skipped where it is not installed.
"""

import math
import random
import subprocess
import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

import lexirecall
from lexirecall.adapters import pyterrier as adapter
from lexirecall.adapters.ir_measures import LexiRecallAgainst
from lexirecall.adapters.pyterrier import TSE, LastRel, compare, randomization, sign_test
from lexirecall.errors import DataError, UsageError
from lexirecall.measures import MEASURES
from pages import DOCS, run_page

NUM_QUERIES = 12


@pytest.fixture
def pt() -> Any:
    return pytest.importorskip("pyterrier", reason="PyTerrier is not installed")


def nested(frame: pd.DataFrame, value: str) -> dict[str, dict[str, float]]:
    rows = zip(frame["qid"], frame["docno"], frame[value], strict=True)
    result: dict[str, dict[str, float]] = {}
    for query, document, number in rows:
        result.setdefault(query, {})[document] = number
    return result


def make_frames(seed: int) -> tuple[pd.DataFrame, pd.DataFrame, list[pd.DataFrame]]:
    """Topics, judgments and three runs' results: ties, short lists, and queries without answer or relevant one."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    queries, documents = [str(number) for number in range(NUM_QUERIES)], [f"d{number}" for number in range(30)]
    topics = pd.DataFrame({"qid": queries, "query": "words"})
    judged = [
        (query, document, draw.choice([0, 1, 1, 2])) for query in queries[:-1] for document in draw.sample(documents, 8)
    ]
    judged += [(queries[-1], document, 0) for document in documents[:3]]
    runs = []
    for _ in range(3):
        rows = [
            (query, document, float(draw.randint(0, 20)))
            for query in queries[draw.randint(0, 1) :]
            for document in draw.sample(documents, draw.randint(3, 25))
        ]
        frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
        frame["rank"] = frame.groupby("qid")["score"].rank(method="first", ascending=False).astype(int) - 1
        runs.append(frame)
    return topics, pd.DataFrame(judged, columns=["qid", "docno", "label"]), runs


# pt.Experiment


@pytest.mark.parametrize("ours_comes_first", [True, False])
def test_measures_are_in_pyterrier_whichever_is_imported_first_without_java(pt: Any, ours_comes_first: bool) -> None:
    order = sorted(["lexirecall.adapters.pyterrier", "pyterrier"], reverse=not ours_comes_first)
    code = f"import {order[0]}, {order[1]}; import pyterrier as pt; from pyterrier.measures import TSE, LastRel, AP\n"
    code += "print(TSE @ 1000, LastRel(n=9), pt.measures.LexiRecallBits, pt.java.started())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["TSE@1000", "LastRel(n=9)", "LexiRecallBits", "False"]


@pytest.mark.parametrize("seed", range(3))
def test_an_experiment_has_the_means_of_evaluate(pt: Any, seed: int) -> None:
    topics, qrels, runs = make_frames(seed)
    measures = [TSE, TSE(e="dcg") @ 10, TSE(rel=2, n=1000), ir_measures.AP, ir_measures.RR]
    table = pt.Experiment(runs, topics, qrels, measures, names=["a", "b", "c"])
    named = dict(zip("abc", (nested(run, "score") for run in runs), strict=True))
    for name in ("TSE", "TSE(e='dcg')@10", "AP", "RR"):
        scores = lexirecall.evaluate(nested(qrels, "label"), named, name, no_relevant="zero")
        assert table[name].tolist() == pytest.approx(scores.means[:, 0].tolist(), rel=1e-12)
    scores = lexirecall.evaluate(nested(qrels, "label"), named, "TSE(rel=2)", no_relevant="zero", corpus_size=1000)
    assert table["TSE(rel=2,n=1000)"].tolist() == pytest.approx(scores.means[:, 0].tolist(), rel=1e-12)


def test_an_experiment_has_no_mean_where_a_value_is_undefined_and_one_with_the_corpus_size(pt: Any) -> None:
    topics, qrels, runs = make_frames(2)
    topics = topics.head(NUM_QUERIES - 1)  # each of which has relevant documents
    with pytest.warns(UserWarning, match=r"^LastRel has no value on \d+ of 11 queries"):
        table = pt.Experiment([runs[0]], topics, qrels, [LastRel, LastRel(n=1000)], names=["a"])
    assert math.isnan(table["LastRel"][0])
    judged = nested(qrels[qrels["qid"].isin(topics["qid"])], "label")
    expected = lexirecall.evaluate(judged, nested(runs[0], "score"), "LastRel", corpus_size=1000).means[0, 0]
    assert table["LastRel(n=1000)"][0] == pytest.approx(expected)


def test_an_experiment_in_batches_by_a_transformer_gives_the_same(pt: Any) -> None:
    topics, qrels, runs = make_frames(3)
    source = pt.Transformer.from_df(runs[0])
    whole = pt.Experiment([runs[0]], topics, qrels, [TSE], names=["a"])
    parts = pt.Experiment([source], topics, qrels, [TSE], names=["a"], batch_size=4, validate="ignore")
    assert parts["TSE"].tolist() == pytest.approx(whole["TSE"].tolist())


def test_preference_against_the_baseline_is_tested_by_the_sign_test(pt: Any) -> None:
    topics, qrels, runs = make_frames(4)
    against = LexiRecallAgainst(pt.model.to_ir_measures(runs[0]), name="a")
    table = pt.Experiment(runs, topics, qrels, [against], names=["a", "b", "c"], baseline=0, test=sign_test)
    rows = list(compare(runs, topics, qrels, ["LexiRecall"], names=["a", "b", "c"], baseline=0).rows())
    for run, row in zip(("b", "c"), rows, strict=True):
        found = table.set_index("name").loc[run]
        assert (row["a"], row["b"]) == ("a", run)
        wins, losses = found["LexiRecall against a +"], found["LexiRecall against a -"]
        assert (wins, losses) == (row["losses"], row["wins"])
        assert found["LexiRecall against a p-value"] == pytest.approx(row["p"], rel=1e-12)
        assert found["LexiRecall against a"] == pytest.approx((wins - losses) / NUM_QUERIES)


def test_randomization_takes_the_place_of_the_t_test(pt: Any) -> None:
    topics, qrels, runs = make_frames(5)
    table = pt.Experiment(runs[:2], topics, qrels, [TSE], names=["a", "b"], baseline=0, test=randomization(seed=7))
    named = {name: nested(run, "score") for name, run in zip("ab", runs, strict=False)}
    tested = lexirecall.compare(
        nested(qrels, "label"), named, ["TSE"], test="randomization", seed=7, no_relevant="zero", correction="none"
    )
    assert table["TSE p-value"][1] == pytest.approx(next(tested.rows())["p"], rel=1e-12)
    assert table["TSE p-value"][1] > 0


def test_transformers_are_compared_as_their_results_are(pt: Any) -> None:
    topics, qrels, runs = make_frames(6)
    sources = [pt.Transformer.from_df(run) for run in runs]
    by_transformer = compare(sources, topics, qrels, ["LexiRecall", "TSE"], names=["a", "b", "c"])
    by_frame = compare(dict(zip("abc", runs, strict=True)), topics, qrels, ["LexiRecall", "TSE"])
    assert list(by_transformer.rows()) == list(by_frame.rows())
    assert not pt.java.started()


# Tests of significance


def test_the_same_data_and_seed_have_the_same_p() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 0.2, 50), rng.normal(0.45, 0.2, 50)
    assert randomization(seed=3)(a, b) == randomization(seed=3)(a, b)
    assert randomization(seed=3)(a, b)[1] != randomization(seed=4)(a, b)[1]
    assert randomization(num_resamples=99)(a, a + 1)[1] == 1 / 100  # never 0
    assert randomization()(a, b)[0] == pytest.approx((a - b).mean())


def test_differences_by_rounding_are_ties() -> None:
    assert sign_test([0.1 + 0.2, 0.5], [0.3, 0.4]) == (0.5, 1.0)
    assert randomization()([0.1 + 0.2], [0.3]) == (0.0, 1.0)


def test_queries_without_a_value_are_left_out() -> None:
    values, baseline = [1.0, 1, 1, 1, 1, 1, math.nan, 0], [0.0, 0, 0, 0, 0, 0, 0, math.nan]
    assert sign_test(values, baseline) == (1.0, 2 / 2**6)
    assert randomization()(values, baseline) == (1.0, 2 / 2**6)
    assert all(map(math.isnan, sign_test([math.nan], [0.0])))


def test_ties_can_be_split() -> None:
    values = [1, 1, 1, 1, 1, 1, 0, 0]
    assert partial(sign_test, ties="split")(values, [0] * 8)[1] == pytest.approx(18 / 2**8)


@pytest.mark.parametrize("test", [sign_test, randomization()], ids=["sign", "randomization"])
def test_lists_of_different_lengths_are_refused(test: Any) -> None:
    with pytest.raises(UsageError, match=r"two lists of the same length, but these are \(2,\) and \(1,\)"):
        test([1, 2], [1])


# Comparing frames


def test_a_comparison_is_that_of_the_runs_on_the_topics_asked() -> None:
    topics, qrels, runs = make_frames(7)
    few = topics.head(5)
    measures: list[Any] = ["LexiRecall", TSE, ir_measures.nDCG @ 10, MEASURES["AP"]]
    comparison = compare(runs, few, qrels, measures, names=["a", "b", "c"], correction="none")
    named = dict(zip("abc", (nested(run, "score") for run in runs), strict=True))
    judged = {query: grades for query, grades in nested(qrels, "label").items() if query in set(few["qid"])}
    names = ["LexiRecall", "TSE", "nDCG@10", "AP"]
    assert list(comparison.rows()) == list(lexirecall.compare(judged, named, names, correction="none").rows())
    everything = compare(runs, few, qrels, measures, names=["a", "b", "c"], filter_by_topics=False)
    assert next(everything.rows())["queries"] == NUM_QUERIES - 1  # all but the one without relevant documents
    assert type(comparison.to_pandas()) is pd.DataFrame
    assert comparison.render(view="pairs").startswith("a  b  measure ")


@pytest.mark.parametrize("baseline", [[0, 2], ["b", "d"], ("b", 2)])
def test_several_baselines_are_places_or_names(baseline: Any) -> None:
    topics, qrels, runs = make_frames(9)
    given = [*runs, runs[0].assign(score=-runs[0]["score"])]
    compared = compare(given, topics, qrels, ["AP", "LexiRecall"], names=["b", "c", "d", "e"], baseline=baseline)
    pairs = [(row["a"], row["b"]) for row in compared.rows() if row["measure"] == "AP"]
    assert pairs == [("b", "c"), ("b", "d"), ("b", "e"), ("c", "d"), ("d", "e")]
    named = dict(zip("bcde", (nested(run, "score") for run in given), strict=True))
    judged = nested(qrels, "label")
    assert list(compared.rows()) == list(
        lexirecall.compare(judged, named, ["AP", "LexiRecall"], baseline=["b", "d"]).rows()
    )
    with pytest.raises(UsageError, match="baseline is 4, but must be from 0 to 3"):
        compare(given, topics, qrels, ["AP"], baseline=[0, 4])


def test_several_baselines_are_those_of_several_experiments(pt: Any) -> None:
    topics, qrels, runs = make_frames(10)
    options: dict[str, Any] = {"names": ["a", "b", "c"], "test": randomization(seed=0)}
    tables = {s: pt.Experiment(runs, topics, qrels, [TSE], baseline=s, **options) for s in (0, 1)}
    rows = {
        (row["a"], row["b"]): row["p"]
        for row in compare(
            runs, topics, qrels, [TSE], names=["a", "b", "c"], baseline=[0, 1], test="randomization", no_relevant="zero"
        ).rows()
    }
    assert rows.keys() == {("a", "b"), ("a", "c"), ("b", "c")}
    for (a, b), p in rows.items():
        assert tables["ab".index(a)]["TSE p-value"]["abc".index(b)] == pytest.approx(p)


def test_frames_need_no_topics_and_no_names() -> None:
    _, qrels, runs = make_frames(8)
    rows = list(compare(runs, None, qrels, ["LexiRecall"], baseline="run2").rows())
    assert [(row["a"], row["b"]) for row in rows] == [("run1", "run2"), ("run2", "run3")]
    assert {row["measure"] for row in compare(runs, None, qrels).rows()} >= {"LexiRecall", "TSE", "AP"}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"names": ["a", "b"]}, "there are 3 transformers or data frames, but 2 names"),
        ({"names": ["a", "b", "a"]}, r"two runs have the same name: 'a' \(number 1 and number 3\)"),
        ({"baseline": 3}, "baseline is 3, but must be from 0 to 2, or a name"),
        ({"baseline": "d"}, "no run is called 'd'"),
        ({"runs": ["bm25", "dense"]}, "'bm25' is a str, but must be a transformer or a data frame"),
        ({"topics": ["1", "2"]}, "topics and qrels are not data frames with a column 'qid'"),
        ({"measures": [LastRel(n=10)]}, r"LastRel\(n=10\) sets n for one measure only\n  give corpus_size="),
        ({"measures": [LexiRecallAgainst({})]}, "each pair of runs is compared anyway\n  write 'LexiRecall'"),
        ({"measures": ["TSEE"]}, "did you mean 'TSE'"),
    ],
)
def test_what_cannot_be_compared_is_refused(changed: dict[str, Any], problem: str) -> None:
    topics, qrels, runs = make_frames(9)
    arguments = {"runs": runs, "topics": topics, "qrels": qrels, "measures": ["LexiRecall"]} | changed
    with pytest.raises(UsageError, match=problem):
        compare(**arguments)


def test_a_transformer_needs_topics(pt: Any) -> None:
    _, qrels, runs = make_frames(9)
    with pytest.raises(UsageError, match="is a transformer, which needs topics"):
        compare([pt.Transformer.from_df(runs[0]), runs[1]], None, qrels, ["TSE"], names=["a", "b"])


def test_topics_that_nobody_judged_are_an_error() -> None:
    _, qrels, runs = make_frames(9)
    with pytest.raises(DataError, match="no query is both among the topics and judged"):
        compare(runs, pd.DataFrame({"qid": ["other"]}), qrels)


def test_a_name_that_is_no_measure_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'lexirecall.adapters.pyterrier' has no attribute 'TSEE'"):
        adapter.TSEE  # noqa: B018


@pytest.mark.filterwarnings("ignore:LastRel.* has no value on 1 of 12 queries")
def test_the_code_of_the_page_runs(pt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    topics, qrels, runs = make_frames(3)
    systems = dict(zip(("BM25", "DPH", "splade"), map(pt.Transformer.from_df, runs), strict=True))
    monkeypatch.setattr(pt, "terrier", SimpleNamespace(Retriever=lambda _index, wmodel: systems[wmodel]))
    names = {"index": None, "topics": topics, "qrels": qrels, "splade": systems["splade"]}
    run_page(DOCS / "pyterrier.md", names)
    assert names["comparison"].runs == ("bm25", "dph", "splade")

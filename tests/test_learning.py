"""Trials of learning: the losses that are compared, their statistics, and the sentences of the page."""

import learning
import numpy as np
import pytest
from learning_fusion import LOSSES, ListNet, RankNet, held_out
from learning_outcomes import means, outcomes
from learning_page import conclusions_of, summaries, write

from lexirecall import project, simulate_collection
from lexirecall.learn.baselines import BASELINES, BEST_RUN


@pytest.mark.parametrize("loss", [RankNet(), ListNet()])
def test_gradients_are_those_of_finite_differences(loss: RankNet | ListNet) -> None:
    rng = np.random.default_rng(1)
    scores, counts = rng.normal(0, 2, 9), rng.uniform(1, 5, 6)
    _, by_relevant, by_others = loss.value_and_gradient(scores[:3], scores[3:], counts)

    def value(at: np.ndarray) -> float:
        return loss.value_and_gradient(at[:3], at[3:], counts)[0]

    steps = 1e-5 * np.eye(9)
    slopes = [(value(scores + step) - value(scores - step)) / 2e-5 for step in steps]
    assert [*by_relevant, *by_others] == pytest.approx(slopes, abs=1e-7)


def test_every_way_ranks_the_same_documents_of_held_out_queries() -> None:
    collection = simulate_collection(2, num_queries=8, corpus_size=500)
    positions, chosen = held_out(collection.qrels, collection.runs, 1, folds=4, discount=0.9)
    assert positions.runs == (*LOSSES, *BASELINES, BEST_RUN)
    assert len(positions.queries) == 8
    assert {*chosen} == {*LOSSES}
    assert [text.count("λ") for text in chosen.values()] == [4, 4, 4]  # one for each fold
    assert chosen["ordered"].count("δ 0.9") == 4


def test_differences_count_where_both_have_a_value_and_p_is_corrected_for_all() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(4)}
    good, bad = ({query: list(documents) for query in qrels} for documents in ("ab", "xab"))
    trials = [project(qrels, {"good": good, "bad": {**bad, "q0": ["a", "x"]}}) for _ in range(2)]
    rows = outcomes(trials, [("good", "bad")], ["LastRel", "LexiRecall"], by_seed=False)
    assert [row["difference"] for row in rows] == [1, 1]
    assert [row["units"] for row in rows] == [3, 4]  # LastRel of q0 is not defined
    assert all(row["p_corrected"] >= row["p"] for row in rows)
    [row] = outcomes(trials, [("bad", "good")], ["AP"], by_seed=True)
    assert row["units"] == 2
    assert row["difference"] < 0


def test_sentences_say_what_was_found_and_what_was_not() -> None:
    numbers = {"low": -0.1, "high": 0.3, "seeds": [0.1], "units": 9}
    rows = [
        {"model": "ordered 0.9", "other": "softmax", "measure": "AP", "difference": 0.1, "p_corrected": 0.2, **numbers},
        {"model": "ordered 0.9", "other": "softmax", "measure": "LastRel", "difference": -12.0, "p_corrected": 0.0004}
        | numbers,
        {"model": "RankNet", "other": "softmax", "measure": "AP", "difference": 0.1, "p_corrected": 0.01, **numbers},
    ]
    result = {"data": "Films", "outcomes": rows}
    [sentence] = conclusions_of(result)
    assert sentence == "ordered 0.9 beside softmax: worse in LastRel (-12.0); no difference found in AP."
    [headline] = summaries([result])
    assert headline.startswith("The ordered loss beside softmax: by LexiRecall it is better in 0 of 0")
    assert headline.endswith("by AP it is better in 0 of 1, and worse in 0.")


def test_a_mean_of_fewer_queries_is_not_shown() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(4)}
    runs = {"whole": {query: ["a", "b"] for query in qrels}, "cut": {query: ["a"] for query in qrels}}
    rows = means([project(qrels, runs)], ["LastRel", "AP"])
    assert [row["mean"] for row in rows] == [2, 1, None, 0.5]


def test_the_page_is_made_of_what_was_measured() -> None:
    assert learning.PAGE.read_text(encoding="utf-8") == write(learning.read_results())

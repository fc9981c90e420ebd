"""The comparison of losses: the same folds for all, and rows for a page."""

import numpy as np
import pytest
from learning_fusion import LOSSES, ListNet, RankNet, run

from lexirecall import simulate_collection
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


def test_every_way_has_its_means_and_is_compared_with_the_ordered_loss() -> None:
    collection = simulate_collection(2, num_requests=8, corpus_size=500)
    rows = run(collection.qrels, collection.runs, 1, name="small", measures=["AP"], folds=4, discount=0.9)
    ways = [*LOSSES, *BASELINES, BEST_RUN]
    assert [row["run"] for row in rows if row["kind"] == "mean"] == ways
    assert [(row["a"], row["b"]) for row in rows if row["kind"] == "pair"] == [("ordered", way) for way in ways[1:]]
    assert [len(row["settings"]) for row in rows if row["kind"] == "fit"] == [4, 4, 4]
    assert {(row["collection"], row["seed"]) for row in rows} == {("small", 1)}

"""The ordered loss beside its obvious twin, and its gradient beside finite differences; features and baselines."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall.errors import UsageError
from lexirecall.formats.listing import load_lists
from lexirecall.learn.baselines import BASELINES
from lexirecall.learn.candidates import MOST_SAMPLED, MOST_TOP, candidates_of, learnable
from lexirecall.learn.features import FEATURES, shares_of_scores
from lexirecall.learn.featureweights import TrainingQuery, fit
from lexirecall.learn.orderedobjective import OrderedObjective
from lexirecall.learn.rankings import places_by
from strategies import quick

values = st.floats(-8, 8).map(lambda value: round(value, 3))
counts = st.floats(0.5, 40)
runs = st.lists(
    st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 5).map(float), max_size=7), min_size=2, max_size=4
)


@quick(60)
@given(
    relevant=st.lists(values, min_size=1, max_size=6),
    others=st.lists(st.tuples(values, counts), max_size=8),
    discount=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    temperature=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_the_loss_is_that_of_its_twin(
    relevant: list[float], others: list[tuple[float, float]], discount: float, temperature: float
) -> None:
    loss = OrderedObjective(discount, temperature)
    scores, number = np.array([score for score, _ in others]), np.array([count for _, count in others])
    made, by_relevant, by_others = loss.value_and_gradient(np.array(relevant), scores, number)
    assert made == pytest.approx(
        naive.ordered_loss(relevant, scores.tolist(), number.tolist(), discount, temperature), abs=1e-9
    )
    assert (by_relevant.shape, by_others.shape) == ((len(relevant),), (len(others),))


def differences(function: Callable[[np.ndarray], float], at: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Return the slope in each direction, from both sides."""
    steps = np.eye(len(at)) * step
    return np.array([(function(at + each) - function(at - each)) / (2 * step) for each in steps])


@quick(40)
@given(
    seed=st.integers(0, 10**6), m=st.integers(1, 5), size=st.integers(1, 7), discount=st.sampled_from([0.0, 0.5, 1.0])
)
def test_the_gradient_is_that_of_finite_differences(seed: int, m: int, size: int, discount: float) -> None:
    rng = np.random.default_rng(seed)
    relevant, others, number = rng.normal(0, 3, m), rng.normal(0, 3, size), rng.uniform(0.5, 9, size)
    loss = OrderedObjective(discount)
    _, by_relevant, by_others = loss.value_and_gradient(relevant, others, number)
    of_relevant = differences(lambda own: loss.value_and_gradient(own, others, number)[0], relevant)
    of_others = differences(lambda own: loss.value_and_gradient(relevant, own, number)[0], others)
    assert by_relevant == pytest.approx(of_relevant, abs=1e-6)
    assert by_others == pytest.approx(of_others, abs=1e-6)


def test_a_discount_of_0_is_the_last_relevant_document_alone_and_1_the_mean() -> None:
    relevant, others, number = np.array([2.0, -1.0, 0.5]), np.array([0.0, 1.0]), np.array([1.0, 5.0])
    logs = [np.log(naive.soft_position(score, others.tolist(), number.tolist(), 1.0)) for score in relevant]
    assert OrderedObjective(0).value_and_gradient(relevant, others, number)[0] == pytest.approx(max(logs))
    assert OrderedObjective(1).value_and_gradient(relevant, others, number)[0] == pytest.approx(np.mean(logs))


def test_a_count_is_as_good_as_copies() -> None:
    relevant = np.array([0.3, -0.2])
    once = OrderedObjective(0.7).value_and_gradient(relevant, np.array([1.0, 0.0]), np.array([3.0, 1.0]))[0]
    copies = OrderedObjective(0.7).value_and_gradient(relevant, np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4))[0]
    assert once == pytest.approx(copies)


def test_scores_that_are_far_apart_do_not_overflow() -> None:
    far: Any = np.array([900.0, -900.0], np.float32)
    value, by_relevant, by_others = OrderedObjective().value_and_gradient(far, far, np.ones_like(far))
    assert np.isfinite([value, *by_relevant, *by_others]).all()


@pytest.mark.parametrize(
    "wrong", [{"discount": -0.1}, {"discount": float("nan")}, {"temperature": 0.0}, {"temperature": float("inf")}]
)
def test_a_wrong_discount_or_temperature_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(wrong))} is ") as refused:
        OrderedObjective(**wrong)
    assert ("finite" in str(refused.value)) == ("temperature" in wrong)


# Minimising it


def simple(seed: int) -> list[TrainingQuery]:
    """Return queries whose first feature tells what is relevant, and whose second one is noise."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(8):
        features = rng.random((20, 2))
        features[:4, 0] += 1
        made.append(TrainingQuery(features.astype(np.float32), 4, np.ones(16, np.float32)))
    return made


def test_the_fit_is_a_minimum() -> None:
    queries, loss = simple(1), OrderedObjective(0.9)
    weights = fit(queries, loss, 0.01)

    def objective(own: np.ndarray) -> float:
        losses = [
            naive.ordered_loss((f @ own)[:m].tolist(), (f @ own)[m:].tolist(), number.tolist(), 0.9)
            for f, m, number in queries
        ]
        return float(np.mean(losses)) + 0.01 / 2 * float(own @ own)

    around = [
        weights + step for step in np.random.default_rng(0).normal(0, 0.3, (30, 2)) if (weights + step >= 0).all()
    ]
    assert min(map(objective, around)) >= objective(weights) - 1e-4
    assert weights[0] > 3 * weights[1]


def test_weights_are_below_0_only_if_that_is_allowed() -> None:
    flipped = [
        own._replace(features=own.features * np.array([-1, 1], np.float32) + np.array([2, 0], np.float32))
        for own in simple(2)
    ]
    assert (fit(flipped, OrderedObjective(), 0.01) >= 0).all()
    assert fit(flipped, OrderedObjective(), 0.01, allow_negative=True)[0] < -1


# What is learnt from


@quick(40)
@given(rankings=runs)
def test_baselines_are_those_of_their_twins(rankings: list[dict[str, float]]) -> None:
    union = {document for run in rankings for document in run}
    given_runs = {f"r{i}": {"q": run, "p": {"a": 1.0}} for i, run in enumerate(rankings)}
    first = next(candidates_of(load_lists({"q": {"a": 1}, "p": {"a": 1}}, given_runs, needs_scores=True)))
    for name, fused in BASELINES.items():
        made = dict(
            zip((document.decode() for document in first.documents), fused(first.places, first.shares), strict=True)
        )
        assert made == pytest.approx(naive.fused_scores(rankings, name), abs=1e-8) if union else not made


@quick(40)
@given(rankings=runs, seed=st.integers(0, 99))
def test_candidates_are_ranked_as_a_run_with_these_scores(rankings: list[dict[str, float]], seed: int) -> None:
    given_runs = {f"r{i}": {"q": run, "p": {"a": 1.0}} for i, run in enumerate(rankings)}
    first = next(candidates_of(load_lists({"q": {"a": 1}, "p": {"a": 1}}, given_runs, needs_scores=True)))
    scores = np.random.default_rng(seed).integers(0, 3, len(first.documents)).astype(float)
    order = sorted(zip(scores, first.documents, strict=True), reverse=True)
    assert [first.documents[at] for at in np.argsort(places_by(scores))] == [document for _, document in order]


def test_features_are_between_0_and_1_and_fall_with_the_rank() -> None:
    places = np.arange(1, 51)
    shares = shares_of_scores(-places.astype(float))
    for name, feature in FEATURES.items():
        made = feature(places, shares, 50)
        assert made[0] == 1, name
        assert ((made >= 0) & (made <= 1)).all(), name
        assert (np.diff(made) <= 0).all(), name
        assert made[-1] > 0 or name == "score"


def test_equal_weights_on_reciprocal_ranks_are_reciprocal_rank_fusion() -> None:
    lists = load_lists({"q": {"a": 1}}, {"one": {"q": ["a", "b", "c"]}, "two": {"q": ["c", "d"]}}, needs_scores=True)
    [own] = candidates_of(lists)
    summed = own.features(("reciprocal",), np.array([3, 2])).sum(axis=1)
    assert np.argsort(-summed).tolist() == np.argsort(-BASELINES["RRF"](own.places, own.shares)).tolist()


def test_the_sample_stands_for_all_documents_and_holds_the_top_ones() -> None:
    size = MOST_TOP + 3 * MOST_SAMPLED + 7
    run = {"q": [f"d{i:05}" for i in range(size)]}
    [own] = candidates_of(load_lists({"q": {"d00003": 1, "d01999": 1}}, {"one": run, "two": run}, needs_scores=True))
    rrf = BASELINES["RRF"](own.places, own.shares)
    relevant, others, number = own.sampled(1, rrf, np.random.default_rng(5))
    assert len(relevant) == 2
    assert number.sum() == size - 2
    assert len(others) == len({*others.tolist()}) == MOST_TOP + MOST_SAMPLED
    assert not {*others.tolist()} & {*relevant.tolist()}
    assert sorted(own.places[0, others])[:MOST_TOP] == [*range(1, 4), *range(5, MOST_TOP + 2)]
    again = learnable(own, ("log",), np.array([size, size]), 1, rrf, 3)
    assert np.array_equal(again.features, learnable(own, ("log",), np.array([size, size]), 1, rrf, 3).features)


def test_a_small_list_is_learnt_from_whole() -> None:
    [own] = candidates_of(
        load_lists({"q": {"a": 1}}, {"one": {"q": ["a", "b"]}, "two": {"q": ["c"]}}, needs_scores=True)
    )
    relevant, others, number = own.sampled(1, BASELINES["RRF"](own.places, own.shares), np.random.default_rng(0))
    assert (len(relevant), len(others), number.tolist()) == (1, 2, [1.0, 1.0])

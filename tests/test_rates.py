"""How likely unjudged documents are relevant: the estimate is what its definition says, and forecasts what is there."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall.errors import DataError, UsageError
from lexirecall.formats.listing import load_lists
from lexirecall.labels.pools import LabelPool, pools_of
from lexirecall.labels.rates import EstimatedRates, estimated_rates, fitted, joint_depths, stated_rate
from strategies import quick

DOCUMENTS = "abcdefghij"
NAMES = ("one", "two", "three")
Qrels = dict[str, dict[str, float]]
Runs = dict[str, dict[str, list[str]]]

rankings = st.permutations(DOCUMENTS).flatmap(
    lambda documents: st.integers(0, len(documents)).map(lambda size: documents[:size])
)
judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0]), min_size=1)
queries = st.tuples(judged, *[rankings] * 3)


def made_of(drawn: list[Any]) -> tuple[Qrels, Runs]:
    qrels = {f"q{q}": own[0] for q, own in enumerate(drawn)}
    runs = {name: {f"q{q}": [*own[1 + s]] for q, own in enumerate(drawn)} for s, name in enumerate(NAMES)}
    return qrels, runs


def estimate(qrels: Qrels, runs: Runs, level: float = 1) -> tuple[EstimatedRates, list[LabelPool]]:
    lists = load_lists(qrels, runs)
    return estimated_rates(lists, level), list(pools_of(lists))


def test_a_stated_rate_is_that_of_every_unjudged_document() -> None:
    lists = load_lists({"q": {"a": 1, "b": -1}}, {"one": {"q": ["x", "a", "b", "y"]}})
    (pool,) = pools_of(lists)
    assert stated_rate(0.25).chances(pool).tolist() == [0.25, 0.0, 0.25, 0.25]
    assert [stated_rate(rate).chances(pool)[0] for rate in (0, 1)] == [0.0, 1.0]


@pytest.mark.parametrize("rate", [-0.01, 1.01, 2, float("nan"), float("inf")])
def test_a_rate_that_is_no_chance_is_refused(rate: float) -> None:
    with pytest.raises(UsageError, match="must be between 0 and 1"):
        stated_rate(rate)


@quick(50)
@given(st.lists(st.tuples(*[st.integers(0, 2000)] * 4).filter(any), min_size=1, max_size=6))
def test_a_joint_depth_is_that_of_one_run(places: list[tuple[int, ...]]) -> None:
    made = joint_depths(np.array(places).T)
    assert made == pytest.approx([naive.joint_depth(place for place in own if place) for own in places])


@quick(60)
@given(st.lists(queries, min_size=1, max_size=4), st.sampled_from([1, 2]))
def test_the_estimate_is_the_most_likely_one(drawn: list[Any], level: float) -> None:
    qrels, runs = made_of(drawn)
    documents = naive.rate_documents(qrels, [runs[name] for name in NAMES], level)
    assume(any(each[4] is False for each in documents))
    rates, pools = estimate(qrels, runs, level)
    point = [rates.intercept, rates.slope, *rates.levels]
    best = naive.rate_likelihood(documents, point[0], point[1], point[2:])
    assert rates.slope <= 0
    moved = [k for k in range(len(point)) if k != 1 or rates.slope < 0]  # a slope of 0 may be a limit
    for k in moved:
        for step in (-0.01, 0.01):
            other = [each + step * (k == at) for at, each in enumerate(point)]
            assert naive.rate_likelihood(documents, other[0], other[1], other[2:]) < best + 1e-9
    if rates.slope == 0:
        assert naive.rate_likelihood(documents, point[0], 0.0 - 0.01, point[2:]) < best + 1e-9
    check_chances(rates, pools, documents, list(qrels))


def check_chances(rates: EstimatedRates, pools: list[LabelPool], documents: list[Any], names: list[str]) -> None:
    """Check the chances of every document against the definition."""

    def odds(depth: float, weights: list[float]) -> float:
        levels = sum(u * w for u, w in zip(rates.levels, weights, strict=True))
        return float(np.exp(rates.intercept + rates.slope * np.log(depth) + levels))

    for pool, name in zip(pools, names, strict=True):
        own = {each[1]: each for each in documents if each[0] == name}
        known = [each for each in own.values() if each[4] is not None]
        expected = sum(odds(each[2], each[3]) / (1 + odds(each[2], each[3])) for each in known)
        factor = (sum(each[4] for each in known) + 3) / (expected + 3)
        for document, chance in zip(pool.documents, rates.chances(pool), strict=True):
            _, _, depth, weights, relevant = own[document.decode()]
            raised = factor * odds(depth, weights)
            assert chance == pytest.approx(raised / (1 + raised) if relevant is None else 0.0, abs=1e-9)


def test_few_documents_and_documents_of_one_kind_have_an_estimate() -> None:
    qrels: Qrels = {"q": {"a": 1, "b": 0}}
    rates, (pool,) = estimate(qrels, {"one": {"q": ["a", "x", "b", "y"]}})
    assert 0.2 < rates.chances(pool)[1] < 0.8
    rates, (pool,) = estimate({"q": {"b": 0}}, {"one": {"q": ["x", "b"]}})
    assert 0 < rates.chances(pool)[0] <= 0.5
    everything = np.ones((1, 50)), np.ones(50, bool), np.ones(50), np.zeros(1)
    assert np.isfinite(fitted(*everything)).all()


def test_a_rate_that_would_rise_with_depth_is_the_same_at_all_depths() -> None:
    ranking = [f"d{i}" for i in range(40)]
    qrels: Qrels = {"q": {f"d{i}": float(i >= 20) for i in range(0, 40, 2)}}
    rates, (pool,) = estimate(qrels, {"one": {"q": ranking}})
    chances = rates.chances(pool)[pool.is_unjudged]
    assert rates.slope == 0
    assert chances == pytest.approx([chances[0]] * 20)
    assert 0.4 < chances[0] < 0.6


@pytest.mark.parametrize("qrels", [{"q": {"a": 1.0}}, {"q": {"z": 0.0}}, {"q": {"a": 1.0, "b": -1.0}}])
def test_judgments_without_anything_that_is_not_relevant_are_refused(qrels: Qrels) -> None:
    with pytest.raises(DataError, match="nothing says which unjudged ones") as caught:
        estimate(qrels, {"one": {"q": ["a", "b", "c"]}})
    assert "state one chance for all" in str(caught.value)


def drawn_collection(seed: int) -> tuple[Qrels, Qrels, Runs]:
    """Draw two runs, the better one first, of which all documents to 40 and a half of the others are judged."""
    rng = np.random.default_rng(seed)
    full: Qrels = {}
    runs: Runs = {"good": {}, "bad": {}}
    for q in range(60):
        scores = rng.normal(size=300)
        relevant = rng.random(300) < 1 / (1 + np.exp(2.5 - 1.2 * scores))
        full[f"q{q}"] = {f"d{i}": float(relevant[i]) for i in range(300)}
        for name, noise in (("good", 0.3), ("bad", 2.0)):
            order = np.argsort(-(scores + noise * rng.normal(size=300)))[:150]
            runs[name][f"q{q}"] = [f"d{i}" for i in order.tolist()]
    kept = {
        q: {d: g for d, g in own.items() if rng.random() < 0.5 or any(d in run[q][:40] for run in runs.values())}
        for q, own in full.items()
    }
    return full, kept, runs


@pytest.mark.parametrize("seed", [1, 2])
def test_it_forecasts_what_is_there(seed: int) -> None:
    """Half of the documents below 40 lack a label, at random; more of what the better run alone has is relevant."""
    full, kept, runs = drawn_collection(seed)
    rates, pools = estimate(kept, runs)
    expected, relevant = np.zeros(3), np.zeros(3)
    for pool in pools:
        chances = rates.chances(pool)
        truth = np.array([full[f"q{pool.query}"][document.decode()] for document in pool.documents]) * pool.is_unjudged
        sides = (pool.places > 0) & ~(pool.places > 0)[::-1]
        for k, side in enumerate((np.ones(len(chances), bool), *sides)):
            expected[k] += chances[side].sum()
            relevant[k] += truth[side].sum()
    assert expected[0] == pytest.approx(relevant[0], abs=3 * np.sqrt(relevant[0]))
    assert expected[1] > 1.5 * expected[2]
    assert relevant[1] > 1.5 * relevant[2]
    assert rates.levels[0] > rates.levels[1]

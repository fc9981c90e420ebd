"""Stochastic rankers: probabilities against all orders, the theorem on optimal rankers, and sampled rankings."""

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import LexirecallError, Measure, parse_measure
from lexirecall.errors import DataError, UsageError
from lexirecall.theory import (
    WorstCase,
    expected_exposure,
    expected_exposure_of_positions,
    expected_utility,
    position_probabilities,
    worst_case_deterministic,
    worst_case_stochastic,
)
from strategies import quick

Exposure = Callable[[int], float]
Weight = Callable[[int, int], float]


def ideal(m: int) -> float:
    return sum(1 / math.log2(k + 1) for k in range(1, m + 1))


def all_levels(i: int, m: int) -> float:
    return 1.0


def first_level(i: int, m: int) -> float:
    return float(i == 1)


def mean_of_levels(i: int, m: int) -> float:
    return 1 / m


def share_of_ideal(i: int, m: int) -> float:
    return 1 / ideal(m)


TOP_HEAVY: dict[str, tuple[Exposure, Weight]] = {
    "AP": (lambda p: 1 / p, lambda i, m: i / m),
    "RR": (lambda p: 1 / p, first_level),
    "nDCG": (lambda p: 1 / math.log2(p + 1), share_of_ideal),
    "RBP": (lambda p: 0.2 * 0.8 ** (p - 1), all_levels),
    "RBP(p=0.5)": (lambda p: 0.5**p, all_levels),
    "TSE": (lambda p: 1 / p, lambda i, m: float(i == m)),
    "TSE(e='dcg')": (lambda p: 1 / math.log2(p + 1), lambda i, m: float(i == m)),
}
OTHERS: dict[str, tuple[Exposure, Weight]] = {
    "R@3": (lambda p: float(p <= 3), mean_of_levels),
    "Success@2": (lambda p: float(p <= 2), first_level),
    "AP@2": (lambda p: 1 / p * (p <= 2), lambda i, m: i / m),
    "nDCG@3": (lambda p: 1 / math.log2(p + 1) * (p <= 3), lambda i, m: share_of_ideal(i, min(m, 3))),
}


@pytest.mark.parametrize("m", range(1, 7))
def test_positions_are_as_likely_as_in_all_orders_of_the_documents(m: int) -> None:
    for j in range(1, m + 1):
        ours = position_probabilities(j, m)
        assert ours.shape == (j, m)
        for i, k in np.ndindex(j, m):
            assert ours[i, k] == pytest.approx(float(naive.position_probability(i + 1, j, k + 1, m)), abs=1e-15)


@quick(50)
@given(j=st.integers(1, 1500), m=st.integers(1, 1500))
def test_positions_are_as_likely_as_the_binomials_say(j: int, m: int) -> None:
    j = min(j, m)
    i = (j + 1) // 2
    exact = [math.comb(k - 1, i - 1) * math.comb(m - k, j - i) / math.comb(m, j) for k in range(1, m + 1)]
    ours = position_probabilities(j, m)
    assert ours[i - 1].tolist() == pytest.approx(exact, rel=1e-9, abs=1e-300)
    assert ours.sum(axis=1).tolist() == pytest.approx([1] * j)
    assert ours.sum(axis=0).tolist() == pytest.approx([j / m] * m)  # every place is as likely to be wanted


@pytest.mark.parametrize("name", [*TOP_HEAVY, *OTHERS])
@pytest.mark.parametrize("m", [1, 2, 3, 5, 6])
def test_expected_utility_is_the_mean_over_all_orders_of_the_documents(name: str, m: int) -> None:
    e, z = (TOP_HEAVY | OTHERS)[name]
    by_size = [naive.expected_utility(e, z, j, m) for j in range(1, m + 1)]
    assert [expected_utility(name, j, m) for j in range(1, m + 1)] == pytest.approx(by_size)
    worst = worst_case_stochastic(name, m)
    assert worst.value == pytest.approx(min(by_size))
    assert worst.sizes == tuple(j for j, u in enumerate(by_size, 1) if u == pytest.approx(min(by_size), rel=1e-11))


def test_expected_utility_where_exposure_depends_on_how_many_documents_are_wanted() -> None:
    """Rprec: of j wanted documents among m, each is among the first j with probability j/m."""
    assert [expected_utility("Rprec", j, 5) for j in range(1, 6)] == pytest.approx([j / 5 for j in range(1, 6)])
    assert worst_case_stochastic("Rprec", 5).value == pytest.approx(1 / 5)
    assert worst_case_stochastic("Rprec", 5).sizes == (1,)


@pytest.mark.parametrize("name", [*TOP_HEAVY, *OTHERS])
@pytest.mark.parametrize("m", range(1, 9))
def test_worst_case_of_one_order_is_the_minimum_over_all_users(name: str, m: int) -> None:
    e, z = (TOP_HEAVY | OTHERS)[name]
    assert worst_case_deterministic(name, m).value == pytest.approx(naive.worst_case(e, z, m))


@pytest.mark.parametrize("name", TOP_HEAVY)
@pytest.mark.parametrize("m", range(1, 13))
def test_the_worst_off_user_of_a_deterministic_ranker_wants_the_last_document_only(name: str, m: int) -> None:
    """Theorem: for a top-heavy measure with z(1, 1) = 1 the worst case of any optimal ranking is e(m)."""
    e, _ = TOP_HEAVY[name]
    worst = worst_case_deterministic(name, m)
    assert worst.value == pytest.approx(e(m))
    assert worst.sizes == (tuple(range(1, m + 1)) if name.startswith("TSE") else (1,))


@pytest.mark.parametrize("name", TOP_HEAVY)
@pytest.mark.parametrize("m", range(1, 13))
def test_the_optimal_stochastic_ranker_serves_its_worst_off_user_no_worse(name: str, m: int) -> None:
    """Theorem (optimal rankings). Who wants everything gains nothing by another order, so that TSE stays the same."""
    random, fixed = worst_case_stochastic(name, m).value, worst_case_deterministic(name, m).value
    assert random >= fixed * (1 - 1e-12)
    assert (random > fixed * (1 + 1e-12)) == (m > 1 and not name.startswith("TSE"))


@quick(60)
@given(
    steps=st.lists(st.floats(0.001, 1), min_size=1, max_size=12),
    weights=st.lists(st.floats(0, 1), min_size=12, max_size=12),
)
def test_for_any_decreasing_exposure_the_stochastic_ranker_is_no_worse(
    steps: list[float], weights: list[float]
) -> None:
    e = np.cumsum(steps[::-1])[::-1]
    measure = Measure(
        "Any",
        "any weights, with z(1, 1) = 1",
        lambda p: e[p.astype(int) - 1],
        lambda i: np.array([1.0, *weights])[i - 1],
    )
    fixed, random = (worst(measure, len(steps)) for worst in (worst_case_deterministic, worst_case_stochastic))
    assert fixed.value == pytest.approx(e[-1])  # more documents wanted only add to what z(1, ·) = 1 gives
    assert random.value >= fixed.value * (1 - 1e-12)
    by_size = [expected_utility(measure, j, len(steps)) for j in range(1, len(steps) + 1)]
    assert random.value == pytest.approx(min(by_size))


@pytest.mark.parametrize(("name", "mean"), [("AP", 7.485470860550345e-3), ("RR", 7.485470860550345e-3), ("RBP", 1e-3)])
def test_the_worst_case_of_a_thousand_documents_is_the_mean_exposure(name: str, mean: float) -> None:
    """Who wants one document finds it anywhere: H_1000/1000 for e(i) = 1/i, and (1 - .8^1000)/1000 for RBP."""
    worst = worst_case_stochastic(name, 1000)
    assert worst.value == pytest.approx(mean)
    assert worst.sizes == (1,)
    assert sum(1 / k for k in range(1, 1001)) / 1000 == pytest.approx(7.485470860550345e-3)


def test_where_lower_is_better_the_worst_case_is_the_highest_value() -> None:
    assert worst_case_deterministic("SL1", 5) == WorstCase(4, (1,))
    assert worst_case_stochastic("SL1", 5).value == pytest.approx(2)
    assert worst_case_stochastic("LastRel", 5) == WorstCase(5, (5,))


def test_linear_exposure_needs_the_corpus_size() -> None:
    assert worst_case_deterministic("TSE(e=linear)", 5, corpus_size=20).value == pytest.approx(15 / 20)
    assert worst_case_stochastic("WSS@1", 4, corpus_size=10).value == pytest.approx(1 - 4 / 10)
    for name in ("TSE(e=linear)", "WSS@1"):
        with pytest.raises(UsageError, match="needs the corpus size"):
            worst_case_deterministic(name, 5)


# Sampled rankings


relevant_documents = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)
sampled_rankings = st.lists(
    st.permutations("abcdefgh").flatmap(lambda documents: st.integers(0, 8).map(lambda k: documents[:k])),
    min_size=1,
    max_size=5,
)


@quick(100)
@given(rankings=sampled_rankings, relevant=relevant_documents, n=st.none() | st.integers(14, 20))
def test_expected_exposure_is_the_mean_over_the_rankings(
    rankings: list[list[str]], relevant: list[str], n: int | None
) -> None:
    result = expected_exposure(rankings, relevant, "dcg", corpus_size=n)
    exact = naive.expected_exposures(rankings, relevant, lambda p: 1 / math.log2(p + 1), n)
    assert result.documents == tuple(relevant)
    assert result.exposures == pytest.approx(exact)
    assert result.worst == pytest.approx(min(exact))
    assert result.worst_off == tuple(
        document for document, seen in zip(relevant, exact, strict=True) if seen == pytest.approx(min(exact), rel=1e-9)
    )
    assert result.num_samples == len(rankings)


def test_all_orders_of_the_relevant_documents_give_what_theory_says() -> None:
    """The optimal stochastic ranker, sampled completely: every document is as exposed as a user of one expects."""
    rankings = [[*order, "x"] for order in permutations("abcd")]
    result = expected_exposure(rankings, ["a", "b", "c", "d"])
    assert result.worst == pytest.approx(worst_case_stochastic("RR", 4).value)
    assert result.worst_off == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("exposure", "expected"),
    [("ap", (1 + 1 / 3) / 2), ("rbp", 0.2 * (1 + 0.8**2) / 2), ("linear", (0.9 + 0.7) / 2), (lambda i: i * 2, 4)],
)
def test_the_exposure_can_be_named_or_given(exposure: Any, expected: float) -> None:
    result = expected_exposure([["a"], ["x", "y", "a"]], ["a"], exposure, corpus_size=10)
    assert result.exposures == pytest.approx((expected,))
    assert expected_exposure([["a"]], ["a"], "rbp", p=0.5).exposures == (0.5,)


def test_missing_documents_share_the_bottom_of_the_corpus() -> None:
    """Of three, a is found; b and c are 9th and 10th, or 10th and 9th."""
    result = expected_exposure([["a", "x"]], ["a", "b", "c"], corpus_size=10)
    shared = (1 / 9 + 1 / 10) / 2
    assert result.exposures == pytest.approx((1, shared, shared))
    assert result.worst_off == ("b", "c")
    assert expected_exposure([["a", "x"]], ["a", "b", "c"]).exposures == (1, 0, 0)


def test_a_function_that_knows_no_infinity_is_not_asked_for_it() -> None:
    assert expected_exposure([["a"]], ["a", "b"], lambda i: 1 - i / 10).exposures == (0.9, 0)


def test_positions_say_the_same_as_lists() -> None:
    lists = expected_exposure([["a", "b"], ["x", "b"]], ["a", "b"], corpus_size=9)
    assert expected_exposure_of_positions([[1, 2], [math.inf, 2]], ["a", "b"], corpus_size=9) == lists


def test_ids_are_compared_as_text() -> None:
    assert expected_exposure([[7, 8], np.array([8, 7])], ["7"]).exposures == (0.75,)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: expected_exposure(["ab"], ["a"]), "'ab' is not a list of documents"),
        (lambda: expected_exposure([{"a": 1}], ["a"]), "is not a list of documents"),  # type: ignore[list-item]
        (lambda: expected_exposure([["a"]], "ab"), "the relevant documents: 'ab' is not a list"),
        (lambda: expected_exposure([["a", "b", "a"]], ["a"]), "ranking 1: 'a' is listed twice"),
        (lambda: expected_exposure([["a"]], ["a", "a"]), "the relevant documents: 'a' is listed twice"),
        (lambda: expected_exposure([], ["a"]), "the shape"),
        (lambda: expected_exposure([["a"]], []), "the shape"),
        (lambda: expected_exposure([["a"]], ["a"], "log"), "exposure is 'log'"),
        (lambda: expected_exposure([["a"]], ["a"], "linear"), "needs the corpus size"),
        (
            lambda: expected_exposure([["a", "x"]], ["a", "b"], corpus_size=2),
            "too small for its 2 documents and 1 relevant",
        ),
        (lambda: expected_exposure_of_positions([[1, 2, 3]], ["a", "b"]), "the shape"),
        (lambda: expected_exposure_of_positions([[1, 1]], ["a", "b"]), "cannot be at the positions"),
        (lambda: expected_exposure_of_positions([[0, 1]], ["a", "b"]), "cannot be at the positions"),
        (lambda: expected_exposure_of_positions([[1.5, 1]], ["a", "b"]), "cannot be at the positions"),
        (lambda: expected_exposure_of_positions([[math.nan, 1]], ["a", "b"]), "cannot be at the positions"),
        (lambda: expected_exposure_of_positions([[-math.inf, 1]], ["a", "b"]), "cannot be at the positions"),
        (lambda: expected_exposure_of_positions([[9, math.inf]], ["a", "b"], corpus_size=9), "too small"),
        (lambda: position_probabilities(0, 3), "from 1 to 3"),
        (lambda: position_probabilities(4, 3), "from 1 to 3"),
        (lambda: expected_utility("AP", 4, 3), "from 1 to 3"),
        (lambda: worst_case_stochastic("AP", 0), "must be a whole number"),
        (lambda: worst_case_stochastic("AP", 5, corpus_size=4), "5 relevant documents do not fit in a corpus of 4"),
        (lambda: worst_case_deterministic("SetP", 3), "not of the form"),
        (lambda: worst_case_deterministic("R", 3), "needs a cutoff"),
        (lambda: worst_case_deterministic(parse_measure("Bpref"), 3), "not of the form"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], Any], problem: str) -> None:
    with pytest.raises(LexirecallError, match=problem) as caught:
        call()
    assert isinstance(caught.value, (UsageError, DataError))


def test_a_measure_whose_exposure_grows_with_depth_has_no_known_worst_case() -> None:
    deeper = Measure("Deeper", "grows", lambda i: i, np.ones_like)
    negative = Measure("Negative", "takes away", lambda i: 1 / i, lambda i: 1.0 - i)
    for measure in (deeper, negative):
        with pytest.raises(UsageError, match="exposure falls with depth and no weight is negative"):
            worst_case_deterministic(measure, 3)

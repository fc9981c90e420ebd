"""Policies: probabilities, users and preferences against every ranking, their limits, and how sure samples are."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall import LexirecallError, Measure
from lexirecall.errors import DataError, UsageError
from lexirecall.names import parse_measures
from lexirecall.theory import (
    PlackettLuce,
    expected_exposure,
    expected_preference,
    expected_user_utilities,
    expected_utility,
    user_utilities,
    worst_case_deterministic,
    worst_case_stochastic,
    worst_off_user,
)
from lexirecall.theory.expectations import Utility, chosen_and_tried
from strategies import costly, quick
from table import all_measures, is_sum, needs_size

DOCUMENTS = "abcdefgh"
TOP_HEAVY = ("AP", "RR", "nDCG", "RBP", "RBP(p=0.5)")
TRIED = list(dict.fromkeys([*parse_measures([*TOP_HEAVY, "TSE(e='dcg')", "R@2"]), *filter(is_sum, all_measures())]))
ONE = ("AP", "RR", "nDCG", "nDCG@3", "RBP", "RBP(p=0.5)", "R@3", "P@2", "Success@2", "AP@4")
ALL = ("TSE", "TSE(e='dcg')", "TSE@3", "LastRel", "All@3")

scores = st.lists(st.floats(-4, 4), min_size=1, max_size=5)
rankings = st.lists(
    st.permutations(DOCUMENTS).flatmap(lambda documents: st.integers(0, 8).map(lambda k: documents[:k])),
    min_size=1,
    max_size=5,
)
relevant_documents = st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=4, unique=True)


def value_by(measure: Measure) -> Callable[[naive.Case], float]:
    return lambda case: naive.value(measure.name, measure.settings, case)


def named(values: list[float]) -> tuple[PlackettLuce, dict[str, float]]:
    return PlackettLuce(values, list(DOCUMENTS[: len(values)])), dict(zip(DOCUMENTS, values, strict=False))


# The policy


@given(values=scores, temperature=st.floats(0.5, 20))
@quick(50)
def test_a_ranking_is_as_likely_as_its_draws_one_after_the_other(values: list[float], temperature: float) -> None:
    policy = PlackettLuce(values, list(DOCUMENTS[: len(values)]), temperature)
    expected = naive.plackett_luce(dict(zip(DOCUMENTS, values, strict=False)), temperature)
    assert [*map(tuple, policy.rankings().tolist())] == [*expected]
    assert policy.probabilities().tolist() == pytest.approx([*expected.values()])
    assert policy.probabilities().sum() == pytest.approx(1)
    for ranking, chance in expected.items():
        assert policy.log_probability(ranking) == pytest.approx(math.log(chance))


@given(values=scores, length=st.integers(0, 5))
@quick(50)
def test_the_beginning_of_a_ranking_is_as_likely_as_all_rankings_that_begin_so(
    values: list[float], length: int
) -> None:
    policy, by_document = named(values)
    begun = tuple(by_document)[:length]
    total = sum(chance for order, chance in naive.plackett_luce(by_document).items() if order[: len(begun)] == begun)
    assert policy.log_probability(begun) == pytest.approx(math.log(total), abs=1e-12)


def test_the_probability_of_scores_far_apart_is_finite() -> None:
    policy = PlackettLuce([1000.0, 0.0, -1000.0])
    assert policy.log_probability([0, 1, 2]) == 0
    assert policy.log_probability([2, 1, 0]) == -4000 + 1000  # 2 before the others, then 1 before 0
    assert policy.probabilities().tolist() == [1, 0, 0, 0, 0, 0]


def test_rankings_are_drawn_as_often_as_they_are_likely() -> None:
    """Chi-squared with 23 degrees of freedom: above 49.7 once in a thousand seeds."""
    policy = PlackettLuce([1.0, 0.5, 0.0, -1.0])
    drawn = policy.sample(20000, seed=5)
    assert drawn.shape == (20000, 4)
    every, counts = np.unique(drawn, axis=0, return_counts=True)
    assert every.tolist() == policy.rankings().tolist()
    expected = 20000 * policy.probabilities()
    assert ((counts - expected) ** 2 / expected).sum() < 49.7


def test_the_same_seed_draws_the_same_rankings_however_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = PlackettLuce(np.linspace(0, 1, 9), [f"d{i}" for i in range(9)])
    drawn = policy.sample(50, seed=3)
    assert policy.sample(50, seed=np.random.default_rng(3)).tolist() == drawn.tolist()
    assert policy.sample(50, seed=4).tolist() != drawn.tolist()
    monkeypatch.setattr("lexirecall.theory.policies._AT_A_TIME", 20)
    assert policy.sample(50, seed=3).tolist() == drawn.tolist()
    worst = worst_off_user(policy, ["d0", "d5"], num_samples=50, seed=3)
    assert worst == worst_off_user(drawn, ["d0", "d5"])


# Users


@given(measure=st.sampled_from(TRIED), values=scores, data=st.data())
@costly(400)
def test_exact_expectations_are_sums_over_every_ranking(measure: Measure, values: list[float], data: Any) -> None:
    policy, by_document = named(values)
    relevant = data.draw(st.lists(st.sampled_from(sorted(by_document)), min_size=1, unique=True))
    n = 9 if needs_size(measure) else None
    users = expected_user_utilities(policy, relevant, measure, corpus_size=n)
    chances = [*naive.plackett_luce(by_document).items()]
    expected = naive.user_expectations(chances, relevant, value_by(measure), n)
    assert users.means.tolist() == pytest.approx(expected, abs=1e-12)
    assert users.is_exact
    assert not users.errors.any()
    worst = worst_off_user(policy, relevant, measure, corpus_size=n)
    by_worth = [measure.direction * value for value in expected]
    assert worst.value == pytest.approx(measure.direction * min(by_worth), abs=1e-12)
    assert (worst.error, worst.is_exact) == (0, True)
    wanted = [users.documents_of(mask) for mask, worth in enumerate(by_worth, 1) if worth <= min(by_worth) + 1e-15]
    assert {*wanted} & {*worst.users}


@given(measure=st.sampled_from(TRIED), drawn=rankings, relevant=relevant_documents, n=st.none() | st.integers(16, 30))
@costly(1200)
def test_sampled_expectations_are_means_over_the_rankings(
    measure: Measure, drawn: list[list[str]], relevant: list[str], n: int | None
) -> None:
    assume(n or not needs_size(measure))
    users = expected_user_utilities(drawn, relevant, measure, corpus_size=n)
    chances = [(ranking, 1 / len(drawn)) for ranking in drawn]
    expected = naive.user_expectations(chances, relevant, value_by(measure), n)
    assert users.means.tolist() == pytest.approx(expected, abs=1e-12)
    assert users.num_samples == len(drawn)
    each = np.array([naive.user_expectations([(r, 1.0)], relevant, value_by(measure), n) for r in drawn])
    if len(drawn) > 1 and np.isfinite(each).all():
        errors = each.std(axis=0, ddof=1) / math.sqrt(len(drawn))
        assert users.errors.tolist() == pytest.approx(errors.tolist(), abs=1e-7)
    else:
        assert np.isnan(users.errors).any()


@given(measure=st.sampled_from(TRIED), drawn=rankings, relevant=relevant_documents, n=st.none() | st.integers(16, 30))
@costly(1200)
def test_who_can_be_worst_off_is_proved_so_that_few_users_are_looked_at(
    measure: Measure, drawn: list[list[str]], relevant: list[str], n: int | None
) -> None:
    """The minimum over one document each, or over everything, is that over all users, of any rankings."""
    assume(n or not needs_size(measure))
    utility = Utility.of(measure, n)
    places = np.array([naive.places_in(ranking, relevant) for ranking in drawn])
    chances = [(ranking, 1 / len(drawn)) for ranking in drawn]
    expected = naive.user_expectations(chances, relevant, value_by(measure), n)
    found = utility.of_worst(utility.worst(places), places).mean(axis=0)
    good = [measure.direction * value for value in expected]
    assert min(measure.direction * found) == pytest.approx(min(good), abs=1e-12)


@pytest.mark.parametrize(("name", "who"), [*((name, "one") for name in ONE), *((name, "all") for name in ALL)])
def test_for_these_measures_nobody_else_can_be_worst_off(name: str, who: str) -> None:
    assert Utility.of(name, 100).worst(np.array([[2.0, 9, 4, 50], [1.0, 3, 7, np.inf]])) == who


@pytest.mark.parametrize("name", ["Rprec", "SL1", "SL3", "RE", "Reached(r=0.5)@4", "Depth@0.5"])
def test_for_other_measures_everyone_is_looked_at(name: str) -> None:
    assert Utility.of(name, 100).worst(np.array([[2.0, 9, 4, 50], [1.0, 3, 7, np.inf]])) == "any"


@given(drawn=rankings, relevant=relevant_documents, name=st.sampled_from(["AP", "Rprec", "nDCG", "R@3"]))
@quick(100)
def test_the_worst_off_is_chosen_on_one_half_and_tried_on_the_other(
    drawn: list[list[str]], relevant: list[str], name: str
) -> None:
    assume(len(relevant) > 1)
    worst = worst_off_user(drawn, relevant, name)
    (measure,) = parse_measures(name)
    halves = [drawn[0::2], drawn[1::2] or drawn]
    chosen, tried = (
        naive.user_expectations([(r, 1 / len(half)) for r in half], relevant, value_by(measure)) for half in halves
    )
    may_be_chosen = [other for one, other in zip(chosen, tried, strict=True) if one <= min(chosen) + 1e-12]
    assert any(worst.value == pytest.approx(value, abs=1e-12) for value in may_be_chosen)
    if len(may_be_chosen) == 1:
        assert worst.value == pytest.approx(naive.tried_on_the_other_half(drawn, relevant, value_by(measure)))


def test_where_nobody_else_can_be_worst_off_every_ranking_counts() -> None:
    drawn = [["a", "b"], ["x", "y", "b", "a"], ["a", "x", "b"]]
    assert worst_off_user(drawn, ["a", "b"], "TSE").value == pytest.approx((1 / 2 + 1 / 4 + 1 / 3) / 3)
    assert worst_off_user(drawn, ["a"], "AP").value == pytest.approx((1 + 1 / 4 + 1) / 3)


def test_a_document_is_as_exposed_as_its_only_user_expects() -> None:
    """For AP, the worst-off user of any rankings is that of the document with the least exposure."""
    drawn = [["a", "b", "x"], ["b", "a"], ["a", "x", "b"], ["x", "a"]]
    users = expected_user_utilities(drawn, ["a", "b"])
    exposed = expected_exposure(drawn, ["a", "b"])
    assert tuple(users.means[:2]) == pytest.approx(exposed.exposures)
    assert users.means.min() == pytest.approx(exposed.worst)


def test_hundreds_of_relevant_documents_need_no_enumeration() -> None:
    policy = PlackettLuce(np.linspace(2, 0, 400))
    worst = worst_off_user(policy, range(300), num_samples=40)
    assert len(worst.users[0]) == 1
    assert len(worst_off_user(policy, range(300), "TSE", num_samples=40).users[0]) == 300
    with pytest.raises(UsageError, match=r"300 relevant documents have 2\^300 - 1 users: enumeration stops at 12"):
        worst_off_user(policy, range(300), "Rprec", num_samples=40)


# Limits


@pytest.mark.parametrize("name", [*TOP_HEAVY, "TSE", "Rprec", "R@2"])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_high_equal_scores_of_the_relevant_documents_make_the_optimal_stochastic_ranker(name: str, m: int) -> None:
    """SPEC 8: what a user can expect depends on how many documents it wants."""
    policy = PlackettLuce([60.0] * m + [0.0, 0.0, 0.0])
    users = expected_user_utilities(policy, range(m), name)
    expected = [expected_utility(name, len(users.documents_of(mask)), m) for mask in range(1, 2**m)]
    assert users.means.tolist() == pytest.approx(expected)
    assert worst_off_user(policy, range(m), name).value == pytest.approx(worst_case_stochastic(name, m).value)


@pytest.mark.parametrize("name", [*TOP_HEAVY, "TSE", "Rprec", "SL1"])
def test_scores_far_apart_make_one_ranking(name: str) -> None:
    policy = PlackettLuce([300.0, 200, 100, 0])
    users = expected_user_utilities(policy, [0, 1, 2], name)
    assert users.means.tolist() == pytest.approx(user_utilities(name, [1, 2, 3]).utilities.tolist())
    assert worst_off_user(policy, [0, 1, 2], name).value == pytest.approx(worst_case_deterministic(name, 3).value)
    assert worst_off_user([[5, 0, 7, 1]], [0, 1], name).value == user_utilities(name, [2, 4]).worst.utility


def test_a_temperature_without_end_makes_every_ranking_equally_likely() -> None:
    policy = PlackettLuce([3.0, 1.0, 0.0, -2.0], temperature=math.inf)
    assert policy.probabilities().tolist() == pytest.approx([1 / 24] * 24)
    users = expected_user_utilities(policy, [0, 3])
    assert users.means[:2].tolist() == pytest.approx([(1 + 1 / 2 + 1 / 3 + 1 / 4) / 4] * 2)


# Preferences


@given(one=scores, data=st.data(), name=st.sampled_from(["LexiRecall", "LexiPrecision", "RPP", "AP"]))
@costly(60)
def test_the_expected_preference_is_that_over_every_pair_of_rankings(one: list[float], data: Any, name: str) -> None:
    other = data.draw(st.lists(st.floats(-4, 4), min_size=len(one), max_size=len(one)))
    relevant = data.draw(st.lists(st.sampled_from(DOCUMENTS[: len(one)]), min_size=1, unique=True))
    (a, of_a), (b, of_b) = named(one), named(other)
    result = expected_preference(a, b, relevant, name)
    rules: dict[str, Callable[[list[float], list[float]], float]] = {
        "LexiRecall": naive.lexirecall,
        "LexiPrecision": naive.lexiprecision,
        "RPP": naive.rpp,
        "AP": lambda x, y: round(sum(i / p for i, p in enumerate(x, 1)) - sum(i / p for i, p in enumerate(y, 1)), 9),
    }
    first, second = ([*naive.plackett_luce(each).items()] for each in (of_a, of_b))
    wins, losses = naive.expected_sign(first, second, relevant, rules[name])
    assert (result.wins, result.losses) == pytest.approx((wins, losses), abs=1e-12)
    assert result.value == pytest.approx(wins - losses, abs=1e-12)
    assert (result.error, result.is_exact) == (0, True)
    back = expected_preference(b, a, relevant, name)
    assert (back.value, back.wins) == pytest.approx((-result.value, result.losses))


@given(a=rankings, b=rankings, relevant=relevant_documents)
@quick(100)
def test_the_preference_between_samples_is_the_mean_over_all_pairs_with_its_jackknife(
    a: list[list[str]], b: list[list[str]], relevant: list[str]
) -> None:
    def mean(one: list[list[str]], other: list[list[str]]) -> float:
        first, second = ([(r, 1 / len(each)) for r in each] for each in (one, other))
        wins, losses = naive.expected_sign(first, second, relevant, naive.lexirecall)
        return wins - losses

    def jackknife(values: list[float]) -> float:
        return (len(values) - 1) / len(values) * sum((v - sum(values) / len(values)) ** 2 for v in values)

    result = expected_preference(a, b, relevant)
    assert result.value == pytest.approx(mean(a, b), abs=1e-12)
    if len(a) > 1 < len(b):
        left_out = [mean([*a[:i], *a[i + 1 :]], b) for i in range(len(a))]
        others = [mean(a, [*b[:i], *b[i + 1 :]]) for i in range(len(b))]
        assert result.error == pytest.approx(math.sqrt(jackknife(left_out) + jackknife(others)), abs=1e-9)
    else:
        assert math.isnan(result.error)


# How sure samples are


def test_samples_agree_with_what_is_exact_within_their_error() -> None:
    policy = PlackettLuce([1.0, 0.3, 0.0, -0.5, -1.0], list("abcde"))
    exact = expected_user_utilities(policy, ["a", "b", "c"], "nDCG")
    sampled = expected_user_utilities(policy.sample(4000, seed=1), ["a", "b", "c"], "nDCG")
    assert (np.abs(sampled.means - exact.means) <= 4 * sampled.errors).all()
    other = PlackettLuce([0.0] * 5, list("abcde"))
    certain = expected_preference(policy, other, ["a", "b"])
    drawn = expected_preference(policy.sample(400, seed=2), other.sample(300, seed=3), ["a", "b"])
    assert abs(drawn.value - certain.value) <= 4 * drawn.error
    half = expected_preference(policy, other.sample(300, seed=3), ["a", "b"])
    assert 0 < half.error < drawn.error
    assert not half.is_exact


def test_a_ranking_without_a_value_loses_to_one_that_has_one() -> None:
    assert expected_preference([["a"]], [["x"]], ["a"], "LastRel").value == 1
    assert expected_preference([["x"]], [["y"]], ["a"], "LastRel").value == 0


def test_the_lowest_of_many_means_is_too_low_and_the_other_half_is_not() -> None:
    """Equal scores: all users of one document can expect the same, 0.4567, whoever seems worst off."""
    policy = PlackettLuce([0.0] * 5)
    true = worst_off_user(policy, range(5)).value
    assert true == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5)
    drawn = [policy.sample(20, seed=seed) for seed in range(300)]
    naively = [expected_user_utilities(each, range(5)).means.min() for each in drawn]
    tried = [worst_off_user(each, range(5)) for each in drawn]
    assert np.mean(naively) < true - 0.05
    mean, error = np.mean([each.value for each in tried]), np.std([each.value for each in tried]) / math.sqrt(300)
    assert abs(mean - true) < 3 * error < 0.03


def test_errors_cover_the_truth_about_as_often_as_they_should() -> None:
    """Of 300 intervals of two errors to each side, about 95 % should cover; samples of 40 are a little short."""
    policy, other = PlackettLuce([1.0, 0.5, 0.0, 0.0]), PlackettLuce([0.0, 0.5, 1.0, 0.0])
    exact = expected_preference(policy, other, [0, 1]).value
    everyone = expected_user_utilities(policy, [0, 1]).means
    of_user = covered = 0
    for seed in range(300):
        mine, theirs = policy.sample(40, seed=2 * seed), other.sample(40, seed=2 * seed + 1)
        duel = expected_preference(mine, theirs, [0, 1])
        covered += abs(duel.value - exact) <= 2 * duel.error
        worst = worst_off_user(mine, [0, 1])
        of_user += abs(worst.value - everyone[int(worst.users[0][0])]) <= 2 * worst.error
    assert 270 <= covered <= 297
    assert 260 <= of_user <= 297


def test_one_ranking_has_no_error_and_serves_for_choice_and_trial() -> None:
    worst = worst_off_user([["x", "a", "b"]], ["a", "b"])
    assert worst.value == pytest.approx(1 / 3)
    assert worst.users == (("b",),)
    assert math.isnan(worst.error)
    members, values = chosen_and_tried(Utility.of("AP"), np.array([[2.0, 3.0]]))
    assert members == (1,)
    assert values.tolist() == pytest.approx([1 / 3])


def test_what_no_ranking_shows_is_worth_nothing_or_as_much_as_the_bottom() -> None:
    drawn = [["a"], ["x", "a"]]
    assert worst_off_user(drawn, ["a", "b", "c"]).value == 0
    assert worst_off_user(drawn, ["a", "b", "c"], "TSE", corpus_size=50).value == 1 / 50
    assert worst_off_user(drawn, ["a", "b", "c"], "LastRel", corpus_size=50).value == 50
    assert worst_off_user(drawn, ["a", "b", "c"], "LastRel").value == math.inf
    assert worst_off_user([["a", "b"], ["b", "a"], ["a"], ["a", "b"]], ["a", "b"], "SL1").value == math.inf


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: PlackettLuce([]), "one or more finite numbers"),
        (lambda: PlackettLuce([1.0, math.nan]), "one or more finite numbers"),
        (lambda: PlackettLuce([[1.0]]), "one or more finite numbers"),  # type: ignore[list-item]
        (lambda: PlackettLuce([1.0], temperature=0), "temperature is 0, but must be above 0"),
        (lambda: PlackettLuce([1.0], temperature=math.nan), "temperature is nan"),
        (lambda: PlackettLuce([1e300, 0], temperature=1e-30), "too far apart for the temperature"),
        (lambda: PlackettLuce([1.0, 2.0], ["a"]), "1 id for 2 scores"),
        (lambda: PlackettLuce([1.0, 2.0], ["a", "a"]), "document_ids: 'a' is listed twice"),
        (lambda: PlackettLuce([1.0]).sample(0), "the number of samples is 0"),
        (lambda: PlackettLuce([0.0] * 9).rankings(), "9! rankings: enumeration stops at 8 documents"),
        (lambda: PlackettLuce([0.0, 0.0]).log_probability([0, 5, 7]), "does not rank '5', '7'"),
        (lambda: PlackettLuce([0.0, 0.0]).log_probability([0, 0]), "listed twice"),
        (lambda: worst_off_user(PlackettLuce([0.0, 0.0]), ["a", 0, "b"]), "does not rank 'a', 'b'"),
        (lambda: worst_off_user(PlackettLuce([0.0, 0.0]), [1], corpus_size=1), "corpus size 1 is too small"),
        (lambda: worst_off_user([], ["a"]), "one or more rankings that it drew"),
        (lambda: worst_off_user("abc", ["a"]), "one or more rankings that it drew, not 'abc'"),
        (lambda: worst_off_user(["abc"], ["a"]), "'abc' is not a list of documents"),
        (lambda: worst_off_user([["a"]], []), "there are no relevant documents"),
        (lambda: worst_off_user([["a", "a"]], ["a"]), "ranking 1: 'a' is listed twice"),
        (lambda: worst_off_user([["a"]], ["a"], "SetP"), "not of the form"),
        (lambda: worst_off_user([["a"]], ["a"], "WSS@0.95"), "needs the corpus size"),
        (lambda: expected_user_utilities([["a"]], range(13)), r"2\^13 - 1 users: enumeration stops at 12"),
        (lambda: expected_user_utilities([["a"]], ["a"]).documents_of(2), "the mask is 2, but must be from 1 to 1"),
        (lambda: expected_preference([["a"]], [["x"]], ["a"], "AP TSE"), "names 2 preferences"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], Any], problem: str) -> None:
    with pytest.raises(LexirecallError, match=problem) as caught:
        call()
    assert isinstance(caught.value, (UsageError, DataError))

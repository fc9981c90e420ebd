"""Forecasts in hindsight: what was judged since, what became of decisions, and that no safe one is ever reversed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall import load_judgments, project
from lexirecall.errors import DataError
from lexirecall.formats.listing import load_lists
from lexirecall.labels.hindsight import Decided, Hindsight, brier_score, in_hindsight, number_interval, reliability
from lexirecall.labels.pools import Labelling, pools_of
from lexirecall.labels.rates import Rates, stated_rate
from lexirecall.manifest import Conventions, Policies
from lexirecall.names import parse_names, parse_preference
from lexirecall.verbs.rank import contrasted
from strategies import quick

ITEMS = "abcdefgh"
NAMES = ("one", "two", "three")
PAIRS = np.array([0, 0, 1]), np.array([1, 2, 2])
Qrels = dict[str, dict[str, float]]
Runs = dict[str, dict[str, list[str]]]

rankings = st.permutations(ITEMS).flatmap(lambda items: st.integers(0, len(items)).map(lambda size: items[:size]))
old_grades = st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([-1.0, 0.0, 1.0, 2.0]), max_size=5)
new_grades = st.dictionaries(st.sampled_from(ITEMS + "yz"), st.sampled_from([-1.0, 0.0, 1.0, 2.0]), max_size=8)
queries = st.lists(st.tuples(old_grades, new_grades, *[rankings] * 3), min_size=1, max_size=4)


def hindsight(
    old: Qrels, new: Qrels, runs: Runs, measure: str = "LexiRecall", rates: Rates | None = None, samples: int = 20
) -> Hindsight:
    lists = load_lists(old, runs)
    (row,) = parse_names(measure)
    return in_hindsight(
        list(pools_of(lists)), rates or stated_rate(0.3), row, Labelling(tuple(runs), Conventions()), Policies(),
        judgments=lists.judgments, new=load_judgments(new), pairs=PAIRS, samples=samples, seed=0,
    )  # fmt: skip


def drawn_collection(drawn: list[Any]) -> tuple[Qrels, Qrels, Runs]:
    """Make two sets of judgments and runs; `z0` and `n0` make every query count, and are in no run."""
    old = {f"q{q}": {"z0": 1.0, **own[0]} for q, own in enumerate(drawn)}
    new = {f"q{q}": {"n0": 0.0, **own[1]} for q, own in enumerate(drawn)}
    runs = {name: {f"q{q}": [*own[2 + s]] for q, own in enumerate(drawn)} for s, name in enumerate(NAMES)}
    return old, new, runs


def judged(grades: dict[str, float]) -> dict[str, float]:
    return {item: grade for item, grade in grades.items() if grade >= 0}


@quick(80)
@given(queries, st.sampled_from(["LexiRecall", "R@3", "TSE", "LexiPrecision", "AP", "nDCG"]))
def test_decisions_are_those_of_both_judgments(drawn: list[Any], measure: str) -> None:
    old, new, runs = drawn_collection(drawn)
    opened = {q: {item for run in runs.values() for item in run[q]} - judged(old[q]).keys() for q in old}
    since = {q: opened[q] & judged(new[q]).keys() for q in old}
    assume(any(since.values()))
    made = hindsight(old, new, runs, measure)
    merged = {q: {**judged(new[q]), **judged(old[q])} for q in old}

    def signs(qrels: Qrels) -> Any:
        return np.sign(contrasted(project(qrels, runs), parse_preference(measure), Policies()).between(*PAIRS))

    before, after = signs({q: judged(own) for q, own in old.items()}), signs(merged)
    assert made.num_decisions == np.count_nonzero(before)
    assert made.num_reversed == np.count_nonzero((after == -before) & (before != 0))
    assert made.num_settled == np.count_nonzero((before == 0) & (after != 0))
    assert made.total.judged == sum(map(len, since.values()))
    assert made.total.relevant == sum(new[q][item] >= 1 for q in old for item in since[q])
    assert made.total.expected == pytest.approx(0.3 * made.total.judged)
    assert made.num_unjudged == sum(map(len, opened.values()))
    assert made.num_elsewhere == sum(
        grade >= 1 for q in old for item, grade in new[q].items() if item not in opened[q] | judged(old[q]).keys()
    )
    assert set(made.changed) == {
        (q, item, old[q][item], grade)
        for q in old
        for item, grade in judged(new[q]).items()
        if old[q].get(item, -1) >= 0 and old[q][item] != grade
    }


@quick(80)
@given(queries, st.sampled_from(["LexiRecall", "R@3", "TSE", "RR", "All@4", "LexiPrecision"]), st.data())
def test_no_safe_decision_is_ever_reversed(drawn: list[Any], measure: str, data: st.DataObject) -> None:
    old, _, runs = drawn_collection(drawn)
    labels = st.sampled_from([0.0, 1.0])
    new = {q: {item: data.draw(labels) for item in sorted({i for run in runs.values() for i in run[q]})} for q in old}
    assume(any(own.keys() - judged(old[q]).keys() for q, own in new.items()))
    made = hindsight(old, new, runs, measure)
    assert made.num_safe is not None
    assert made.num_safe_reversed == 0


def test_a_measure_without_flip_numbers_has_no_safe_decisions() -> None:
    made = hindsight({"q": {"a": 1}}, {"q": {"b": 1}}, {name: {"q": ["a", "b"]} for name in NAMES}, "AP")
    assert (made.num_safe, made.num_safe_reversed) == (None, None)
    assert "no label can reverse" not in " ".join(made.sentences())


@pytest.mark.parametrize("rate", [0, 1])
@pytest.mark.parametrize("measure", ["LexiRecall", "R@3", "AP"])
def test_forecasts_that_are_certain_and_right_have_no_error(rate: int, measure: str) -> None:
    old, _, runs = drawn_collection([({"a": 1.0}, {}, list("abc"), list("cde"), list("fgab"))])
    new: Qrels = {"q0": dict.fromkeys("bcdefg", float(rate))}
    made = hindsight(old, new, runs, measure, stated_rate(rate))
    assert made.brier == pytest.approx(0, abs=1e-24)
    assert made.num_reversed == pytest.approx(made.expected_reversed)
    assert {row.up_to for row in made.reliability} <= {0.0, 1.0}
    assert (made.total.low, made.total.high, made.total.relevant) == (6 * rate,) * 3
    assert made.num_queries_within == len(made.queries) == 1


@quick(40)
@given(st.lists(st.sampled_from([0.0, 0.01, 0.3, 0.5, 0.99, 1.0]), max_size=9))
def test_the_interval_of_a_number_is_that_of_all_outcomes(chances: list[float]) -> None:
    low, high = number_interval(np.array(chances, float))
    masses = naive.number_chances(chances)
    upto = [sum(masses[: k + 1]) for k in range(len(masses))]
    assert low == next(k for k, mass in enumerate(upto) if mass >= 0.025 - 1e-12)
    assert high == next(k for k, mass in enumerate(upto) if mass >= 0.975 - 1e-12)


def test_the_interval_of_many_is_that_of_a_normal_number() -> None:
    low, high = number_interval(np.full(20_000, 0.1))
    assert (low, high) == pytest.approx((2000 - 1.96 * 42.43, 2000 + 1.96 * 42.43), abs=2)


def test_decisions_are_counted_by_their_chances_and_errors_are_between_queries() -> None:
    signs = np.array([[1, 1, -1, 0], [1, -1, 1, 1]], np.int8)
    after = np.array([[-1, 1, 1, 1], [-1, -1, 0, 1]], np.int8)
    chances = np.array([[0.3, 0.4, 0.3, np.nan], [0.3, 0.3, 0.0, 0.0]])
    decided = Decided(signs, chances, after)
    never, likely = reliability(decided)
    assert (never.up_to, never.decisions, never.reversed) == (0.0, 2, 0)
    assert (likely.above, likely.up_to, likely.decisions, likely.reversed) == (0.2, 0.5, 5, 3)
    assert likely.expected == pytest.approx(0.32)
    by_query = [(2, 2), (0, 2), (1, 1)]
    assert likely.error == pytest.approx(sum((x - 0.6 * n) ** 2 for x, n in by_query) ** 0.5 / 5)
    assert decided.num_settled == 1
    assert brier_score(decided) == pytest.approx((2 * 0.7**2 + 0.4**2 + 0.7**2 + 0.3**2) / 7)


def test_it_says_what_became_of_the_forecasts() -> None:
    runs: Runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "w", "a"]}, "three": {"q": ["b"]}}
    new: Qrels = {"q": {"a": 2, "y": 1, "w": 1, "v": 1, "b": 0}, "other": {"a": 1}}
    made = hindsight({"q": {"a": 1, "b": 0}}, new, runs, samples=50)
    assert list(made.sentences()) == [
        "Of 3 unjudged documents 2 were judged since, and 2 of these are relevant; 0.6 were expected (95 % interval "
        "0 to 2). The number is in its own interval on 1 of 1 query.",
        f"Of 3 decisions by LexiRecall 1 were reversed, and {made.expected_reversed:.1f} were expected to be; 0 ties "
        "were decided.",
        "Of 2 decisions that no label can reverse 0 were reversed.",
        "1 judged document got another grade, such as a of query q: 1, now 2. The old grades were kept.",
        "1 relevant document was added that no run retrieves.",
    ]
    forecast, *bins = made.rows()
    assert (forecast["kind"], forecast["relevant"], forecast["changed"]) == ("forecast", 2, 1)
    assert {row["kind"] for row in bins} == {"reliability"}
    assert sum(row["decisions"] for row in bins) == forecast["decisions"] == 3


@pytest.mark.parametrize("new", [{"q": {"a": 1}}, {"q": {"v": 1, "x": -1}}, {"other": {"x": 1}}])
def test_new_judgments_of_nothing_that_was_unjudged_are_refused(new: Qrels) -> None:
    runs: Runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "a"]}, "three": {"q": ["x"]}}
    with pytest.raises(DataError, match="judges none of the 2 unjudged documents") as caught:
        hindsight({"q": {"a": 1}}, new, runs)
    assert "have none yet" in str(caught.value)

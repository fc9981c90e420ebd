"""Forecasts in hindsight: what was judged since, what became of decisions, and that no safe one is ever reversed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall import compare, project, unjudged
from lexirecall.errors import DataError
from lexirecall.labels.hindsight import Hindsight
from lexirecall.labels.rates import stated_rate
from lexirecall.manifest import Policies
from lexirecall.names import parse_preference
from lexirecall.verbs.rank import contrasted
from strategies import quick

DOCUMENTS = "abcdefgh"
NAMES = ("one", "two", "three")
PAIRS = np.array([0, 0, 1]), np.array([1, 2, 2])
Qrels = dict[str, dict[str, float]]
Runs = dict[str, dict[str, list[str]]]

rankings = st.permutations(DOCUMENTS).flatmap(
    lambda documents: st.integers(0, len(documents)).map(lambda size: documents[:size])
)
old_grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1.0, 0.0, 1.0, 2.0]), max_size=5)
new_grades = st.dictionaries(st.sampled_from(DOCUMENTS + "yz"), st.sampled_from([-1.0, 0.0, 1.0, 2.0]), max_size=8)
queries = st.lists(st.tuples(old_grades, new_grades, *[rankings] * 3), min_size=1, max_size=4)


def hindsight(old: Qrels, new: Qrels, runs: Runs, measure: str = "LexiRecall", rate: float = 0.3) -> Hindsight:
    (made,) = unjudged(old, runs, measure, rate=rate, samples=20, judged_with=new).hindsight
    return made


def drawn_collection(drawn: list[Any]) -> tuple[Qrels, Qrels, Runs]:
    """Make two sets of judgments and runs; `z0` and `n0` make every query count, and are in no run."""
    old = {f"q{q}": {"z0": 1.0, **own[0]} for q, own in enumerate(drawn)}
    new = {f"q{q}": {"n0": 0.0, **own[1]} for q, own in enumerate(drawn)}
    runs = {name: {f"q{q}": [*own[2 + s]] for q, own in enumerate(drawn)} for s, name in enumerate(NAMES)}
    return old, new, runs


def judged(grades: dict[str, float]) -> dict[str, float]:
    return {document: grade for document, grade in grades.items() if grade >= 0}


@quick(80)
@given(queries, st.sampled_from(["LexiRecall", "R@3", "TSE", "LexiPrecision", "AP", "nDCG"]))
def test_decisions_are_those_of_both_judgments(drawn: list[Any], measure: str) -> None:
    old, new, runs = drawn_collection(drawn)
    opened = {q: {document for run in runs.values() for document in run[q]} - judged(old[q]).keys() for q in old}
    since = {q: opened[q] & judged(new[q]).keys() for q in old}
    assume(any(since.values()))
    made = hindsight(old, new, runs, measure)
    merged = {q: {**judged(new[q]), **judged(old[q])} for q in old}

    def signs(qrels: Qrels) -> Any:
        return np.sign(contrasted(project(qrels, runs), parse_preference(measure), Policies()).between(*PAIRS))

    before, after = signs({q: judged(own) for q, own in old.items()}), signs(merged)
    assert made.num_decisions == np.count_nonzero(before)
    assert np.nansum(made.is_reversed) == np.count_nonzero((after == -before) & (before != 0))
    assert (np.isnan(made.is_reversed) == (before == 0)).all()
    assert made.num_judged == sum(map(len, since.values()))
    assert made.relevant == sum(new[q][document] >= 1 for q in old for document in since[q])
    assert made.expected[0] == pytest.approx(0.3 * made.num_judged)
    assert made.num_unjudged == sum(map(len, opened.values()))
    assert made.num_elsewhere == sum(
        grade >= 1
        for q in old
        for document, grade in new[q].items()
        if document not in opened[q] | judged(old[q]).keys()
    )
    now, then = (compare(each, runs, measure).measures[0] for each in ({q: judged(o) for q, o in old.items()}, merged))
    better, same = np.sign(np.nan_to_num(now.tested)), np.sign(now.tested) == np.sign(then.tested)
    assert made.is_kept[0][better != 0].tolist() == same[better != 0].astype(float).tolist()
    assert np.isnan(made.is_kept[0][better == 0]).all()
    assert set(made.changed) == {
        (q, document, old[q][document], grade)
        for q in old
        for document, grade in judged(new[q]).items()
        if old[q].get(document, -1) >= 0 and old[q][document] != grade
    }


@quick(80)
@given(queries, st.sampled_from(["LexiRecall", "R@3", "TSE", "RR", "All@4", "LexiPrecision"]), st.data())
def test_no_safe_decision_is_ever_reversed(drawn: list[Any], measure: str, data: st.DataObject) -> None:
    old, _, runs = drawn_collection(drawn)
    labels = st.sampled_from([0.0, 1.0])
    new = {
        q: {document: data.draw(labels) for document in sorted({i for run in runs.values() for i in run[q]})}
        for q in old
    }
    assume(any(own.keys() - judged(old[q]).keys() for q, own in new.items()))
    made = hindsight(old, new, runs, measure)
    assert made.safe_reversed == 0


def test_a_measure_without_flip_numbers_has_no_safe_decisions() -> None:
    made = hindsight({"q": {"a": 1}}, {"q": {"b": 1}}, {name: {"q": ["a", "b"]} for name in NAMES}, "AP")
    assert made.num_safe is made.safe_reversed is None


@pytest.mark.parametrize("rate", [0, 1])
@pytest.mark.parametrize("measure", ["LexiRecall", "R@3", "AP"])
def test_forecasts_that_are_certain_and_right_have_no_error(rate: int, measure: str) -> None:
    old, _, runs = drawn_collection([({"a": 1.0}, {}, list("abc"), list("cde"), list("fgab"))])
    new: Qrels = {"q0": dict.fromkeys("bcdefg", float(rate))}
    made = hindsight(old, new, runs, measure, rate)
    assert np.allclose(made.reversals, made.is_reversed, equal_nan=True)
    assert np.allclose(made.kept, made.is_kept, equal_nan=True)
    assert (*made.expected, made.relevant) == (6 * rate,) * 4


@quick(40)
@given(st.integers(0, 9), st.sampled_from([0.0, 0.01, 0.3, 0.5, 0.99, 1.0]))
def test_the_interval_of_a_number_is_that_of_all_outcomes(num: int, rate: float) -> None:
    expected, low, high = stated_rate(rate).number(num)
    masses = naive.number_chances([rate] * num)
    upto = [sum(masses[: k + 1]) for k in range(len(masses))]
    assert expected == pytest.approx(num * rate)
    assert low == next(k for k, mass in enumerate(upto) if mass >= 0.025 - 1e-12)
    assert high == next(k for k, mass in enumerate(upto) if mass >= 0.975 - 1e-12)


def test_it_says_what_became_of_the_forecasts() -> None:
    runs: Runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "w", "a"]}, "three": {"q": ["b"]}}
    new: Qrels = {"q": {"a": 2, "y": 1, "w": 1, "v": 1, "b": 0}, "other": {"a": 1}}
    made = unjudged({"q": {"a": 1, "b": 0}}, runs, "LexiRecall", rate=0.3, samples=50, judged_with=new)
    expected = np.nansum(made.hindsight[0].reversals)
    order, significance = np.nansum(made.hindsight[0].kept, axis=1)
    assert made.sentences("hindsight") == [
        "Experimental: 2 of 3 unjudged documents were judged since, and 2 of these are relevant; 0.6 were expected, "
        "0 to 2 with a chance of 95 %.",
        f"LexiRecall: 1 of 3 decisions reversed (safe ones: 0 of 2), {expected:.1f} expected; order kept by 2 of 3 "
        f"pairs, {order:.1f} expected; significance kept by 3 of 3 pairs, {significance:.1f} expected.",
    ]
    [row] = made.rows("hindsight")
    assert (row["decisions"], row["reversed"], row["safe"], row["safe_reversed"], row["relevant"]) == (3, 1, 2, 0, 2)
    assert {note.kind for note in made.notes} >= {"changed grade", "relevant elsewhere"}


@pytest.mark.parametrize("new", [{"q": {"a": 1}}, {"q": {"v": 1, "x": -1}}, {"other": {"x": 1}}])
def test_new_judgments_of_nothing_that_was_unjudged_are_refused(new: Qrels) -> None:
    runs: Runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "a"]}, "three": {"q": ["x"]}}
    with pytest.raises(DataError, match="judges none of the 2 unjudged documents") as caught:
        hindsight({"q": {"a": 1}}, new, runs)
    assert "have none yet" in str(caught.value)

"""Sampled labels lead to what judgments with these labels lead to, and chances are those of all labellings."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import compare, evaluate, parse_preference
from lexirecall.formats.listing import load_lists
from lexirecall.judgments import FloatArray
from lexirecall.labels import forecasts
from lexirecall.labels.forecasts import (
    LabellingSamples,
    exact_reversals,
    forecast_order,
    forecast_pairs,
    grade_of,
    sample,
)
from lexirecall.labels.pools import Labelling, LabelPool, pools_of
from lexirecall.labels.rates import Rates, stated_rate
from lexirecall.labels.reversals import chance_of_more, recall_reversals
from lexirecall.manifest import Conventions, Policies
from lexirecall.measures import AP
from lexirecall.names import Evaluable, parse_measure, parse_names
from lexirecall.statistics.portions import pairs_of
from lexirecall.verbs.rank import contrasted
from lexirecall.verbs.testing import Testing

DOCUMENTS = "abcdefgh"
NAMES = ("one", "two", "three")
MEASURES = ("LexiRecall", "AP", "R@3", "nDCG", "TSE", "R(rel=2)@4")
Qrels = dict[str, dict[str, int]]
RunsGiven = dict[str, dict[str, list[str]]]

rankings = st.permutations(DOCUMENTS).flatmap(
    lambda documents: st.integers(0, len(documents)).map(lambda size: documents[:size])
)
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0, 1, 2]), max_size=4)
queries = st.tuples(grades, *[rankings] * 3, st.sets(st.sampled_from(DOCUMENTS)))
collections = st.lists(queries, min_size=2, max_size=7)


@dataclass(frozen=True)
class ByDocument(Rates):
    """Chances that are given for each document of each query."""

    given: list[dict[str, float]]

    def chances(self, pool: LabelPool) -> FloatArray:
        return np.array([self.given[pool.query].get(document.decode(), 0.0) for document in pool.documents])


def collection(drawn_queries: list[Any]) -> tuple[Qrels, RunsGiven]:
    """Make judgments and runs; `z`, which nobody retrieves, makes the first query count, the others need not."""
    qrels = {f"q{q}": {"z": 2 if q == 0 else 0, **judged} for q, (judged, *_) in enumerate(drawn_queries)}
    runs = {name: {f"q{q}": [*own[1 + s]] for q, own in enumerate(drawn_queries)} for s, name in enumerate(NAMES)}
    return qrels, runs


def forecast_of(
    qrels: Qrels, runs: RunsGiven, rates: Any, row: Evaluable, *, num_samples: int, policies: Policies | None = None
) -> tuple[LabellingSamples, Any, Any]:
    """Return the samples of one measure, the comparison now, and what is forecast of its pairs."""
    policies = policies or Policies()
    pools = list(pools_of(load_lists(qrels, runs)))
    labelling = Labelling(tuple(runs), Conventions())
    [sampled] = sample(pools, rates, [row], labelling, policies, num_samples=num_samples, seed=1)
    now = compare(qrels, runs, [row], **asdict(policies)).measures[0]
    signs = np.zeros((len(now.a), len(pools)), np.int8)
    nothing = labelling.positions(pools, [np.zeros((1, len(pool.documents)), bool) for pool in pools])
    signs[:] = np.sign(contrasted(nothing, parse_preference(row), policies).between(now.a, now.b))
    return sampled, now, forecast_pairs(sampled, now, signs, Testing())


counted = st.builds(
    Policies, queries=st.sampled_from(["all", "intersection"]), no_relevant=st.sampled_from(["skip", "zero"])
)


@given(st.sampled_from(MEASURES), collections, counted, st.sets(st.integers(0, 6)))
def test_labels_that_are_certain_lead_to_what_judgments_with_them_lead_to(
    name: str, given_queries: list[Any], policies: Policies, unanswered: set[int]
) -> None:
    """A chance of 1 labels a document, a chance of 0 does not: every sample is one known labelling."""
    qrels, runs = collection(given_queries)
    runs["one"] = {
        query: own for query, own in runs["one"].items() if int(query[1:]) not in unanswered or query == "q0"
    }
    [row] = parse_names(name)
    labels = [dict.fromkeys(own[-1], 1.0) for own in given_queries]
    sampled, now, made = forecast_of(qrels, runs, ByDocument(labels), row, num_samples=2, policies=policies)
    retrieved = [{document for run in runs.values() for document in run.get(query, ())} for query in qrels]
    grade = 2 if "rel=2" in name else 1
    new = {
        query: {**dict.fromkeys({*labels[q]} & retrieved[q], grade), **own}
        for q, (query, own) in enumerate(qrels.items())
    }
    then = compare(new, runs, [row], **asdict(policies)).measures[0]
    is_significant, same = then.is_significant(0.05), np.sign(now.tested) == np.sign(then.tested)
    is_decided = np.nan_to_num(now.tested) != 0
    assert made.same_order[is_decided].tolist() == same[is_decided].astype(float).tolist()
    assert np.isnan(made.same_order[~is_decided]).all()
    assert made.significant.tolist() == (is_significant & same & is_decided).astype(float).tolist()
    assert made.turned.tolist() == (is_significant & ~(same & is_decided)).astype(float).tolist()
    expected = evaluate(new, runs, [row], **asdict(policies)).averages.means[:, 0]
    assert (row.direction * sampled.means)[:, 1] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", MEASURES)
def test_without_a_chance_nothing_changes(name: str) -> None:
    qrels, runs = collection([({"a": 1, "b": 2}, "xab", "axb", "bya", set())] * 7)
    [row] = parse_names(name)
    sampled, now, made = forecast_of(qrels, runs, stated_rate(0), row, num_samples=3)
    assert np.nansum(made.reversals) == 0
    assert made.same_order[now.tested != 0].tolist() == [1.0] * int((now.tested != 0).sum())
    assert (made.significant + made.turned).tolist() == now.is_significant(0.05).astype(float).tolist()
    order = forecast_order(sampled, row.direction * evaluate(qrels, runs, [row]).averages.means[:, 0])
    assert order.stays_best == 1.0
    assert order.taus[~np.isnan(order.taus)] == pytest.approx(1.0)


small = st.tuples(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0, 1]), max_size=3),
    *[st.permutations("abcdef").flatmap(lambda documents: st.integers(0, 6).map(lambda size: documents[:size]))] * 2,
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=6, max_size=6),
)


@given(small, st.integers(1, 7))
def test_reversals_of_recall_have_the_chance_of_all_labellings_that_reverse_it(case: Any, cutoff: int) -> None:
    judged, one, two, given_chances = case
    lists = load_lists({"q": {"z": 1, **judged}}, {"one": {"q": one}, "two": {"q": two}})
    [pool] = pools_of(lists)
    chances = dict(zip("abcdef", given_chances, strict=True))
    made = recall_reversals(
        pool,
        np.array([chances[document.decode()] for document in pool.documents]),
        cutoff,
        1,
        (np.array([0]), np.array([1])),
    )
    relevant = {document for document, grade in judged.items() if grade > 0}
    asked = {document: chances[document] for document in {*one, *two} - judged.keys()}
    sign = naive.recall_sign(cutoff)
    if sign(relevant, one, two) == 0:
        assert np.isnan(made[0])
    else:
        assert made[0] == pytest.approx(naive.reversal_chance(sign, relevant, one, two, asked), abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.floats(0, 1)), min_size=1, max_size=5),
    st.integers(0, 9),
)
def test_the_chance_of_more_is_that_of_the_sums_of_binomials(kinds: list[tuple[int, int, float]], limit: int) -> None:
    """Convolve document by document: a slow twin of the Fourier transform."""
    up, down, chances = map(np.array, zip(*kinds, strict=True))
    masses, middle = np.ones(1), 0
    for counts, is_up in ((up, True), (down, False)):
        for count, chance in zip(counts.tolist(), chances.tolist(), strict=True):
            for _ in range(count):
                masses = np.convolve(masses, [1 - chance, chance] if is_up else [chance, 1 - chance])
                middle += 0 if is_up else 1
    found = chance_of_more(up[None].astype(float), down[None].astype(float), chances, np.array([limit]))
    assert found[0] == pytest.approx(masses[middle + limit + 1 :].sum(), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("LexiRecall", naive.lexirecall_sign),
        ("R@2", naive.recall_sign(2)),
        *((name, naive.value_sign(name, -1)) for name in ("LastRel", "SL1", "SL3", "RE", "ATD")),
    ],
)
def test_sampled_chances_of_reversal_come_near_those_of_all_labellings(name: str, sign: Any) -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 0}, "r": {"a": 1}}
    runs = {"one": {"q": [*"abxy"], "r": [*"xa"]}, "two": {"q": [*"yvawb"], "r": [*"axy"]}}
    if name not in ("LexiRecall", "R@2"):  # the second run lacks b, and has no value
        runs["two"] = {"q": [*"yvxaw"], "r": [*"xyw"]}
    chances = [{"x": 0.3, "y": 0.4, "v": 0.5, "w": 0.2}, {"x": 0.5, "y": 0.3}]
    [row] = parse_names(name)
    num_samples = 4000
    _, _, made = forecast_of(qrels, runs, ByDocument(chances), row, num_samples=num_samples)
    for q, (query, own) in enumerate(zip(qrels, chances, strict=True)):
        relevant = {document for document, grade in qrels[query].items() if grade > 0}
        if sign(relevant, runs["one"][query], runs["two"][query]) == 0:
            assert np.isnan(made.reversals[0, q])
            continue
        expected = naive.reversal_chance(sign, relevant, runs["one"][query], runs["two"][query], own)
        error = forecasts.standard_error(expected, num_samples)
        assert abs(made.reversals[0, q] - expected) <= 4 * error + 1e-12


def test_exact_chances_take_the_place_of_samples_for_recall_only() -> None:
    qrels, runs = collection([({"a": 1}, "ab", "xy", "y", set())] * 2)
    pools, pairs = list(pools_of(load_lists(qrels, runs))), pairs_of(3)
    signs = np.array([[1, 1], [1, 1], [0, 0]], np.int8)
    made = exact_reversals(pools, stated_rate(0.5), parse_measure("R@2"), Policies(), pairs, signs)
    assert made is not None
    expected = np.array([[0.125] * 2, [0.0] * 2, [np.nan] * 2])  # x and y, and not b
    assert made == pytest.approx(expected, nan_ok=True)
    assert exact_reversals(pools, stated_rate(0.5), AP, Policies(), pairs, signs) is None


def test_labels_are_drawn_for_unjudged_documents_only_and_as_often_as_their_chance_says() -> None:
    [pool] = pools_of(load_lists({"q": {"a": 1, "b": 0}}, {"one": {"q": [*"abxy"]}}))
    rates = ByDocument([{"a": 1.0, "x": 0.2, "y": 0.7}])
    labels = rates.draw(pool, 5000, seed=3)
    assert labels[:, pool.documents.index(b"a")].sum() == 0
    shares = labels.mean(axis=0)
    assert shares[1:].tolist() == pytest.approx([0.2, 0.7], abs=4 * 0.007)
    assert (rates.draw(pool, 5000, seed=3) == labels).all()
    assert (rates.draw(pool, 5000, seed=4) != labels).any()


def test_new_labels_have_the_level_of_the_measure_as_their_grade() -> None:
    rows = parse_names("AP R(rel=3)@5 nDCG LexiRecall")
    assert [grade_of(row, 2) for row in rows] == [2, 3, 2, 2]


def test_how_many_differences_are_tested_together_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = collection([({"a": 1}, "axb", "xyab", "ya", set())] * 6)
    [row] = parse_names("AP")
    whole = forecast_of(qrels, runs, stated_rate(0.3), row, num_samples=20)[2]
    monkeypatch.setattr(forecasts, "_DIFFERENCES", 1)
    parts = forecast_of(qrels, runs, stated_rate(0.3), row, num_samples=20)[2]
    assert whole == parts

"""Measures of reviews: against ASReview Insights, by hand, and what a share of a corpus is."""

import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall import evaluate, parse_measure, project, unjudged
from lexirecall.errors import UsageError
from lexirecall.measures.parameter import Share
from lexirecall.results import Discoveries
from strategies import quick

IN_ASREVIEW: list[tuple[list[int], int, dict[str, float]]] = [
    ([15, 18, 20], 20, {
        "RRF@0.1": 0.0, "AsreviewERF@0.1": 0.0, "RRF@0.25": 0.0, "AsreviewERF@0.25": -0.333333333333, "RRF@0.5": 0.0,
        "AsreviewERF@0.5": -0.333333333333, "RRF@1": 1.0, "AsreviewERF@1": 0.0, "AsreviewWSS@0.5": -0.5,
        "AsreviewTNR@0.5": 0.176471, "AsreviewWSS@0.8": -0.35, "AsreviewTNR@0.8": 0.058824, "AsreviewWSS@0.95": -0.35,
        "AsreviewTNR@0.95": 0.058824, "AsreviewWSS@1": -0.15, "AsreviewTNR@1": 0.0, "ATD": 17.666666666667,
        "Loss": 0.921568627451,
    }),
    ([12, 13, 29, 31, 33], 37, {
        "RRF@0.1": 0.0, "AsreviewERF@0.1": 0.0, "RRF@0.25": 0.0, "AsreviewERF@0.25": -0.2, "RRF@0.5": 0.4,
        "AsreviewERF@0.5": 0.0, "RRF@1": 1.0, "AsreviewERF@1": 0.0, "AsreviewWSS@0.5": -0.027027027027,
        "AsreviewTNR@0.5": 0.65625, "AsreviewWSS@0.8": -0.108108108108, "AsreviewTNR@0.8": 0.15625,
        "AsreviewWSS@0.95": -0.108108108108, "AsreviewTNR@0.95": 0.15625, "AsreviewWSS@1": 0.027027027027,
        "AsreviewTNR@1": 0.125, "ATD": 23.6, "Loss": 0.64375,
    }),
    ([13, 19, 24, 39, 58, 79, 81], 100, {
        "RRF@0.1": 0.0, "AsreviewERF@0.1": -0.142857142857, "RRF@0.25": 0.428571428571,
        "AsreviewERF@0.25": 0.142857142857, "RRF@0.5": 0.571428571429, "AsreviewERF@0.5": 0.142857142857,
        "RRF@1": 1.0, "AsreviewERF@1": 0.0, "AsreviewWSS@0.5": 0.13, "AsreviewTNR@0.5": 0.774194,
        "AsreviewWSS@0.8": 0.07, "AsreviewTNR@0.8": 0.430108, "AsreviewWSS@0.95": 0.0, "AsreviewTNR@0.95": 0.215054,
        "AsreviewWSS@1": 0.12, "AsreviewTNR@1": 0.204301, "ATD": 44.714285714286, "Loss": 0.437788018433,
    }),
    ([11, 24, 102, 116, 138, 153, 163, 168, 178, 208, 228, 247], 250, {
        "RRF@0.1": 0.166666666667, "AsreviewERF@0.1": 0.083333333333, "RRF@0.25": 0.166666666667,
        "AsreviewERF@0.25": -0.083333333333, "RRF@0.5": 0.333333333333, "AsreviewERF@0.5": -0.166666666667,
        "RRF@1": 1.0, "AsreviewERF@1": 0.0, "AsreviewWSS@0.5": -0.148, "AsreviewTNR@0.5": 0.382353,
        "AsreviewWSS@0.8": 0.0, "AsreviewTNR@0.8": 0.289916, "AsreviewWSS@0.95": -0.036, "AsreviewTNR@0.95": 0.088235,
        "AsreviewWSS@1": -0.028, "AsreviewTNR@1": 0.012605, "ATD": 144.666666666667, "Loss": 0.580532212885,
    }),
    ([48], 61, {
        "RRF@0.1": 0.0, "AsreviewERF@0.1": 0.0, "RRF@0.25": 0.0, "AsreviewERF@0.25": 0.0, "RRF@0.5": 0.0,
        "AsreviewERF@0.5": 0.0, "RRF@1": 1.0, "AsreviewERF@1": 0.0, "AsreviewTNR@0.5": 0.0, "AsreviewTNR@0.8": 0.0,
        "AsreviewTNR@0.95": 0.0, "AsreviewWSS@1": -0.262295081967, "AsreviewTNR@1": 0.216667, "ATD": 48.0,
        "Loss": 0.783333333333,
    }),
    ([1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12], 12, {
        "RRF@0.1": 0.090909090909, "AsreviewERF@0.1": 0.090909090909, "RRF@0.25": 0.272727272727,
        "AsreviewERF@0.25": 0.090909090909, "RRF@0.5": 0.454545454545, "AsreviewERF@0.5": 0.0, "RRF@1": 1.0,
        "AsreviewERF@1": 0.0, "AsreviewWSS@0.5": 0.0, "AsreviewTNR@0.5": 0.0, "AsreviewWSS@0.8": 0.0,
        "AsreviewTNR@0.8": 0.0, "AsreviewWSS@0.95": 0.0, "AsreviewTNR@0.95": 0.0, "AsreviewWSS@1": 0.0,
        "AsreviewTNR@1": 0.0, "ATD": 6.727272727273, "Loss": 0.727272727273,
    }),
]  # fmt: skip
"""Positions, corpus sizes, and what asreview-insights 1.6.1 prints for them, in twelve decimals."""


@pytest.mark.parametrize(("positions", "n", "values"), IN_ASREVIEW)
def test_values_are_those_of_asreview_insights(positions: list[int], n: int, values: dict[str, float]) -> None:
    ours = {name: parse_measure(name).of(positions, corpus_size=n) for name in values}
    assert ours == pytest.approx(values, abs=1e-11)


@st.composite
def reviews(draw: st.DrawFn) -> tuple[list[int], int]:
    """A whole ranking: the positions of its relevant documents, and its length."""
    n = draw(st.integers(2, 60))
    return sorted(draw(st.sets(st.integers(1, n), min_size=1, max_size=n - 1))), n


@quick(200)
@given(reviews(), st.sampled_from([0.07, 0.1, 0.29, 0.5, 0.9, 0.95, 1]))
def test_values_are_those_of_the_installed_asreview_insights(review: tuple[list[int], int], r: float) -> None:
    """Where its index is not before the first: it then takes the last value, and ours are 0."""
    theirs = pytest.importorskip("asreviewcontrib.insights.metrics")
    (positions, n), m = review, len(review[0])
    labels = [int(p in positions) for p in range(1, n + 1)]

    def ours(name: str) -> float:
        return parse_measure(name).of(positions, corpus_size=n)

    assert ours(f"RRF@{r}") == pytest.approx(theirs._recall(labels, r))
    assert ours(f"AsreviewTNR@{r}") == pytest.approx(theirs._tnr(labels, r))
    if math.floor(r * n + 1e-9):
        assert ours(f"AsreviewERF@{r}") == pytest.approx(theirs._erf(labels, r))
    if math.floor(r * m + 1e-9):
        assert ours(f"AsreviewWSS@{r}") == pytest.approx(theirs._wss(labels, r))


@quick(100)
@given(reviews(), st.integers(1, 1000))
def test_a_share_of_the_corpus_is_a_cut_off(review: tuple[list[int], int], thousandths: int) -> None:
    """R@r% is R@floor(r n), All and the others alike; RRF is the same, and ERF that less what chance finds."""
    positions, n = review
    k, percent = thousandths * n // 1000, thousandths / 10

    def value(name: str) -> float:
        return parse_measure(name).of(positions, corpus_size=n)

    for row in ("R", "All", "Success", "Reached"):
        assert value(f"{row}@{percent}%") == (value(f"{row}@{k}") if k else 0), row
    assert value(f"RRF@{thousandths / 1000}") == value(f"R@{percent}%")
    assert value(f"ERF@{thousandths / 1000}") == pytest.approx(value(f"R@{percent}%") - k / n)


def test_each_query_has_its_own_share() -> None:
    qrels = {"small": {"a": 1, "b": 1}, "large": {"a": 1, "b": 1}}
    run = {"small": [*"ab"], "large": [*"ab"]}
    scores = evaluate(qrels, run, ["R@10%"], corpus_size={"small": 10, "large": 20})
    assert [row["value"] for row in scores.rows(per_query=True) if row["query"] != "all"] == [0.5, 1.0]


def test_a_share_is_counted_in_exact_decimals() -> None:
    """29 % of 100 are 29, and 28 in floats; 10 % of 9 are none."""
    assert Share(29).of(100) == 29 != int(0.29 * 100)
    assert Share(10).of(np.array([9, 10, 19, 20])).tolist() == [0, 1, 1, 2]
    assert parse_measure("R@10%").of([1], corpus_size=9) == 0
    assert parse_measure("ERF@0.1").of([1], corpus_size=9) == 0


@pytest.mark.parametrize("name", ["R@10%", "All@5%", "RRF@0.1", "ERF@0.1", "TNR@0.95", "Loss", "AsreviewWSS@0.95"])
def test_what_depends_on_the_corpus_size_says_that_it_needs_it(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name.partition('@')[0]}.* needs the corpus size") as caught:
        parse_measure(name).of([1, 2])
    assert "--corpus-size" in str(caught.value)
    assert "n (required)" in parse_measure(name).needs


def test_a_missing_document_is_not_found_by_any_share_but_costs_time() -> None:
    """As with R@k, even where the share reaches the bottom; for the mean time, the corpus has it at its end."""
    assert parse_measure("R@100%").of([1], 2, corpus_size=10) == 0.5
    assert parse_measure("ATD").of([1], 2, corpus_size=10) == (1 + 10) / 2
    assert math.isinf(parse_measure("ATD").of([1], 2))
    assert parse_measure("TNR@1").of([1], 2, corpus_size=10) == 0


@quick(100)
@given(reviews())
def test_the_loss_is_the_recall_error_of_the_records_that_are_not_relevant(review: tuple[list[int], int]) -> None:
    """And 1 - Linear is the mean time to discovery as a share of the corpus."""
    (positions, n), m = review, len(review[0])
    case = naive.complete(tuple(positions), n)
    assert parse_measure("Loss").of(positions, corpus_size=n) == pytest.approx(naive.recall_error(case) / (n - m))
    time = parse_measure("ATD").of(positions, corpus_size=n)
    assert 1 - parse_measure("Linear").of(positions, corpus_size=n) == pytest.approx(time / n)


@pytest.mark.parametrize("recall", [0.5, 0.95, 1])
@quick(50)
@given(review=reviews())
def test_tnr_is_wss_between_its_worst_and_its_best_value(recall: float, review: tuple[list[int], int]) -> None:
    """Kusa and others 2023: (WSS - min) / (max - min), over all rankings of the corpus."""
    (positions, n), m = review, len(review[0])

    def wss(ranking: Any) -> float:
        return parse_measure(f"WSS@{recall}").of([*ranking], corpus_size=n)

    best, worst = wss(range(1, m + 1)), wss(range(n - m + 1, n + 1))
    tnr = parse_measure(f"TNR@{recall}").of(positions, corpus_size=n)
    assert tnr == pytest.approx((wss(positions) - worst) / (best - worst))


def test_tied_records_count_in_the_mean_over_their_orders() -> None:
    """Half of the orders of two tied records have the relevant one first; a tenth of ten is one record."""
    positions = project({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, corpus_size=10, ties="expected")
    values = {name: next(evaluate(positions, measures=[name]).rows())["value"] for name in ("R@10%", "ERF@0.1", "ATD")}
    assert values == pytest.approx({"R@10%": 0.5, "ERF@0.1": 0.5 - 0.1, "ATD": 1.5})


def test_missing_labels_mean_the_same_at_a_share_as_at_the_cut_off_that_it_is() -> None:
    """30 % of 10 documents are 3: bounds and flip numbers are those of R@3; the forecast of a share is sampled."""
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(4)}
    runs = {"one": {query: [*"axbyz"] for query in qrels}, "two": {query: [*"xyazb"] for query in qrels}}
    shared, cut = (unjudged(qrels, runs, name, rate=0.1, corpus_size=10) for name in ("R@30%", "R@3"))

    def told(made: Any) -> list[dict[str, Any]]:
        left_out = ("measure", "reversals", "exact", "same_order", "stays", "arises")
        rows = (row for row in made.rows() if row["kind"] in ("run", "bound", "pair"))
        return [{name: value for name, value in row.items() if name not in left_out} for row in rows]

    assert told(shared) == told(cut)
    none = unjudged(qrels, runs, "R@5%", rate=0.1, corpus_size=10)
    assert [row["decided"] for row in none.rows() if row["kind"] == "pair"] == [0]


# The time to discovery of each document


@quick(60)
@given(st.lists(st.lists(st.sampled_from("abcdxyz"), unique=True), min_size=1, max_size=3))
def test_discoveries_are_the_places_of_each_relevant_document(lists: list[list[str]]) -> None:
    judged, n = {"a": 1.0, "b": 2.0, "c": 0.0, "d": 1.0}, 12
    runs = {f"run{s}": {"q": order} for s, order in enumerate(lists)}
    assume(any(lists))
    made = Discoveries.of(project({"q": judged}, runs, corpus_size=n))
    expected = {
        (document, run): (rankings["q"].index(document) + 1 if document in rankings["q"] else None)
        for document in "abd"
        for run, rankings in runs.items()
    }
    rows = list(made.rows())
    assert {(row["document"], row["run"]): row["position"] for row in rows} == expected
    for row in rows:
        places = [place for (document, _), place in expected.items() if document == row["document"] and place]
        assert row["missed"] == len(runs) - len(places)
        assert row["mean"] == (pytest.approx(fmean(places)) if places else None)
        assert row["share"] == (None if row["position"] is None else pytest.approx(row["position"] / n))
    order = [(-row["missed"], -(row["mean"] or math.inf)) for row in rows[:: len(runs)]]
    assert order == sorted(order)


def test_discoveries_follow_the_level_and_need_one_order() -> None:
    positions = project({"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]})
    assert [row["document"] for row in Discoveries.of(positions, 2).rows()] == ["b"]
    assert "share" not in Discoveries.of(positions).table().header
    tied = project({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ties="expected")
    with pytest.raises(UsageError, match="needs one order of tied documents"):
        Discoveries.of(tied)


def test_discoveries_of_units_are_those_of_what_must_be_found() -> None:
    runs = {"one": {"q": ["x", "b", "a"]}, "two": {"q": ["c", "a"]}}
    units = {"a": "U", "b": "U", "c": "V"}
    made = Discoveries.of(project({"q": {"a": 1, "b": 1, "c": 1}}, runs, units=units))
    assert made.documents == (("q", "V"), ("q", "U"))
    assert made.positions.tolist() == [[np.inf, 1], [2, 2]]

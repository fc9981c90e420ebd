"""Exact intervals of shares of queries, and where `eval` shows them."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from lexirecall import evaluate
from lexirecall.measures import MEASURES
from lexirecall.statistics import share_interval
from strategies import quick


def queries(found: int, missed: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Return judgments and a run that finds everything for some queries, and half for the others."""
    qrels = {f"q{number}": {"a": 1, "b": 1} for number in range(found + missed)}
    return qrels, {query: ["a", "b"] if number < found else ["a"] for number, query in enumerate(qrels)}


@quick(60)
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.05, 0.2]))
def test_the_interval_is_that_of_clopper_and_pearson(share: tuple[int, int], alpha: float) -> None:
    (low,), (high,) = share_interval(np.array(share[:1]), np.array(share[1:]), alpha=alpha)
    theirs = binomtest(*share).proportion_ci(1 - alpha, method="exact")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 50])
def test_without_a_success_or_a_failure_one_end_is_that_of_the_shares(n: int) -> None:
    low, high = share_interval(np.array([0, n]), np.array([n, n]))
    assert (low[0], high[1]) == (0, 1)
    assert high[0] == pytest.approx(1 - 0.025 ** (1 / n))
    assert low[1] == pytest.approx(0.025 ** (1 / n))
    assert np.isnan(share_interval(np.array([0]), np.array([0]))).all()


def test_the_interval_covers_the_share_at_least_as_often_as_it_says() -> None:
    n = 23
    low, high = share_interval(np.arange(n + 1), np.full(n + 1, n))
    for p in np.linspace(0.01, 0.99, 37):
        assert binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum() >= 0.95


def test_all_rows_whose_values_are_0_or_1_say_so() -> None:
    assert {row.name for row in MEASURES.values() if row.is_share} == {"All", "Reached", "Success"}


def test_tables_show_the_interval_of_a_share_and_what_it_is() -> None:
    scores = evaluate(*queries(85, 15), ["R@2", "All@2", "Success@1"])
    for form in ("table", "markdown", "latex"):
        text = scores.render(form).replace("\\", "").replace("{[}", "[").replace("{]}", "]")  # both escape brackets
        assert "0.8500 [0.7647, 0.9135]" in text
        assert "1.0000 [0.9638, 1.0000]" in text
        assert "0.9250 [" not in text
    assert "[low, high]: 95 % interval of a share of queries, exact (Clopper and Pearson)" in scores.render()
    assert "0.8500 [0.7647, 0.9135]" in scores.render(per_query=True)
    assert "0.85 [0.76, 0.91]" in scores.with_digits(2).render()


@pytest.mark.parametrize(
    ("found", "missed", "ends"),
    [(0, 1, (0, 0.975)), (1, 0, (0.025, 1)), (0, 30, (0, 0.11570)), (30, 0, (0.88430, 1))],
)
def test_one_query_and_all_or_no_successes_have_an_interval(found: int, missed: int, ends: tuple[float, float]) -> None:
    assert evaluate(*queries(found, missed), ["All@2"]).intervals() == {"run": {"All@2": pytest.approx(ends, abs=1e-5)}}


@pytest.mark.parametrize("options", [{"interval": True}, {"bootstrap": 99}])
def test_a_share_has_its_exact_interval_whichever_way_intervals_are_asked_for(options: dict[str, Any]) -> None:
    given: tuple[Any, ...] = (*queries(20, 5), ["R@2", "All@2"])
    assert {tuple(row) for row in evaluate(*given).rows(per_query=True)} == {("run", "query", "measure", "value")}
    scores = evaluate(*given, **options)
    _, share = scores.rows()
    assert (
        (share["low"], share["high"]) == scores.intervals()["run"]["All@2"] == pytest.approx((0.593, 0.9317), abs=1e-4)
    )
    assert all(row["low"] is None for row in scores.rows(per_query=True) if row["query"] != "all")
    assert json.loads(scores.render("jsonl").splitlines()[1]) == share
    assert "0.8000 [0.5930, 0.9317]" in scores.render()
    assert "; of a share of queries, exact (Clopper and Pearson)" in scores.render()


def test_over_all_orders_of_tied_documents_a_mean_is_not_a_share() -> None:
    scores = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 1.0}}, ["All@1"], ties="expected")
    assert scores.means.tolist() == [[0.5]]
    assert scores.intervals() == {"run": {}}
    assert "[" not in scores.render()


def test_shares_of_groups_have_their_own_intervals_and_a_minimum_has_none() -> None:
    qrels, run = queries(24, 6)
    groups = {query: "even" if number % 2 else "odd" for number, query in enumerate(qrels)}
    scores = evaluate(qrels, run, ["R@2", "All@2"], over=["mean", "min"], by=groups, interval=True)
    rows = {(row["group"], row["over"], row["measure"]): (row["low"], row["high"]) for row in scores.rows()}
    every = binomtest(24, 30).proportion_ci(method="exact")
    half = binomtest(12, 15).proportion_ci(method="exact")
    assert rows[None, "mean", "All@2"] == pytest.approx((every.low, every.high))
    assert rows["even", "mean", "All@2"] == rows["odd", "mean", "All@2"] == pytest.approx((half.low, half.high))
    assert rows["odd", "min", "All@2"] == (None, None)
    text = evaluate(qrels, run, ["R@2", "All@2"], over=["mean", "min"], by=groups).render()
    assert f"0.8000 [{half.low:.4f}, {half.high:.4f}]" in text
    assert "[low, high]: 95 % interval of a share of queries, exact (Clopper and Pearson)" in text
    assert "low" not in next(evaluate(qrels, run, ["R@2"], by=groups).rows())
    backwards = evaluate(qrels, {"b": run, "a": run}, ["All@2"], by=groups, interval=True).sorted_by("name")
    assert backwards.runs == ("a", "b")
    assert next(backwards.rows())["low"] == pytest.approx(every.low)


def test_queries_without_a_value_do_not_count() -> None:
    qrels = {"q1": {"a": 1}, "none": {"a": 0}}
    run = {"q1": ["a"], "none": ["a"]}
    assert evaluate(qrels, run, ["All@1"]).intervals()["run"]["All@1"] == pytest.approx((0.025, 1))
    zero = evaluate(qrels, run, ["All@1"], no_relevant="zero")
    assert zero.intervals()["run"]["All@1"] == pytest.approx((0.012579, 0.987421), abs=1e-6)


def test_scipy_is_imported_only_if_a_measure_is_a_share() -> None:
    code = (
        "import sys; from lexirecall import evaluate; made = evaluate({'q': {'a': 1}}, {'q': ['a']}, [sys.argv[1]]);"
        "made.render(); print('scipy' in sys.modules)"
    )
    found = {
        name: subprocess.run([sys.executable, "-c", code, name], check=True, capture_output=True, text=True).stdout
        for name in ("R@1", "All@1")
    }
    assert found == {"R@1": "False\n", "All@1": "True\n"}

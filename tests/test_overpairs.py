"""Differences of numbers over queries: each run has its own worst queries, and each query moves both tails."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import naive
from lexirecall.statistics.differences import of_same_queries
from lexirecall.statistics.overpairs import OverPairs, compare_over
from lexirecall.statistics.queryaggregate import QueryAggregate
from strategies import quick

NAMES = ("mean", "median", "min", "quantile:0.5", "quantile:0.9", "tail:0.1", "tail:0.6", "tail:1")
VALUES = (0.0, 0.25, 0.5, 0.75, 1.0, 17.0, math.nan)
ALPHA = 0.2
Table = list[list[float]]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Values of some runs on some queries; a query may lack a value."""
    num_queries = draw(st.integers(1, 12))
    row = st.lists(st.sampled_from(VALUES), min_size=num_queries, max_size=num_queries)
    return draw(st.lists(row, min_size=2, max_size=4))


def compared(table: Table, name: str, direction: int = 1) -> OverPairs:
    a, b = np.triu_indices(len(table), 1)
    return compare_over(np.array(table), QueryAggregate.parse(name), a, b, direction=direction, alpha=ALPHA)


def common(x: list[float], y: list[float]) -> Table:
    """Return the values of two runs on the queries that both have."""
    pairs = [(p, q) for p, q in zip(x, y, strict=True) if not (math.isnan(p) or math.isnan(q))]
    return [[pair[i] for pair in pairs] for i in (0, 1)]


@given(table=tables(), name=st.sampled_from(NAMES), direction=st.sampled_from([1, -1]))
@quick(150)
def test_a_difference_is_that_of_the_two_numbers_and_tails_are_tested(table: Table, name: str, direction: int) -> None:
    made = compared(table, name, direction)
    for i, (a, b) in enumerate(zip(*np.triu_indices(len(table), 1), strict=True)):
        x, y = common(table[a], table[b])
        numbers = [naive.over_queries(name, own, direction) for own in (x, y)]
        difference = float(direction * (numbers[0] - numbers[1]))
        assert made.differences[i] == pytest.approx(difference, nan_ok=True, abs=1e-12)
        assert made.num_queries[i] == len(x)
        found = made.lows[i], made.highs[i], made.pvalues[i]
        k = math.ceil(Fraction(name.partition(":")[2] or "0") * len(x)) if name.startswith("tail") else 0
        worst, other = ([direction * value for value in own] for own in (x, y))
        error = 0.0 if k < 5 else naive.tail_difference_error(worst, other, k)
        if name == "median" and x:
            paired = [direction * (p - q) for p, q in zip(x, y, strict=True)]
            low, high = naive.quantile_interval(paired, Fraction(1, 2), Fraction(1, 5))
            assert made.estimates[i] == pytest.approx(naive.over_queries("median", paired))
            assert found[:2] == ((low, high) if math.isfinite(low) else pytest.approx((math.nan,) * 2, nan_ok=True))
        elif error < 1e-12:
            assert np.isnan(found).all()
        else:
            reach = stats.t.ppf(1 - ALPHA / 2, k) * error
            p = 2 * stats.t.sf(abs(difference) / error, k)
            assert found == pytest.approx((difference - reach, difference + reach, p), abs=1e-9)


@given(table=tables())
@quick(60)
def test_every_pair_is_in_one_part_with_its_queries(table: Table) -> None:
    a, b = np.triu_indices(len(table), 1)
    is_defined = ~np.isnan(np.array(table))
    seen = []
    for pairs, queries in of_same_queries(is_defined, a, b):
        seen += pairs.tolist()
        assert (queries == (is_defined[a[pairs]] & is_defined[b[pairs]])).all()
    assert sorted(seen) == list(range(len(a)))


def test_each_run_has_its_own_worst_queries() -> None:
    made = compared([[0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0]], "tail:0.25")
    assert made.differences.tolist() == [0.0]


def test_runs_whose_tails_move_alike_have_no_interval() -> None:
    made = compared([[0.1, 0.2, 0.7, 0.3, 0.6], [0.2, 0.3, 0.8, 0.4, 0.7]], "tail:1")
    assert made.differences.item() == pytest.approx(-0.1)
    assert np.isnan([made.lows, made.highs, made.pvalues]).all()


def test_a_document_that_neither_run_found_is_no_difference_in_the_median_of_differences() -> None:
    deep = [3.0, math.inf, 5.0, 6.0, 7.0]
    made = compared([deep, [4.0, math.inf, 6.0, math.inf, 9.0]], "median", -1)
    assert made.estimates.tolist() == [1.0]  # of 0, 1, 1, 2 and one that is infinite


def test_an_infinite_number_makes_the_difference_infinite_or_undefined() -> None:
    deep = [3.0, math.inf, 5.0, 6.0, 7.0]
    made = compared([deep, [3.0, 4.0, 5.0, 6.0, 9.0], deep], "tail:1", -1)
    assert made.differences.tolist() == pytest.approx([-math.inf, math.nan, math.inf], nan_ok=True)
    assert np.isnan([made.lows, made.highs, made.pvalues]).all()

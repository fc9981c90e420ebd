"""Differences of numbers over queries: each run has its own worst queries, and both are resampled together."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall.errors import UsageError
from lexirecall.statistics import overpairs
from lexirecall.statistics.differences import of_same_queries
from lexirecall.statistics.over import Over
from lexirecall.statistics.overpairs import OverPairs, compare_over
from strategies import quick
from test_bootstrap import draws

NAMES = ("mean", "median", "min", "quantile:0.5", "quantile:0.9", "tail:0.1", "tail:0.35", "tail:1")
VALUES = (0.0, 0.25, 0.5, 0.75, 1.0, 17.0, math.nan)
ALPHA = Fraction(1, 5)
Table = list[list[float]]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Values of some runs on some queries; a query may lack a value."""
    num_queries = draw(st.integers(1, 6))
    row = st.lists(st.sampled_from(VALUES), min_size=num_queries, max_size=num_queries)
    return draw(st.lists(row, min_size=2, max_size=4))


def compared(table: Table, name: str, direction: int = 1, num_resamples: int = 29) -> OverPairs:
    a, b = np.triu_indices(len(table), 1)
    values = np.array(table)
    return compare_over(
        values, Over.parse(name), a, b, direction=direction, num_resamples=num_resamples, alpha=float(ALPHA)
    )


def common(x: list[float], y: list[float]) -> Table:
    """Return the values of two runs on the queries that both have; the others are nan."""
    both = [not (math.isnan(p) or math.isnan(q)) for p, q in zip(x, y, strict=True)]
    return [[value if is_there else math.nan for value, is_there in zip(own, both, strict=True)] for own in (x, y)]


@given(table=tables(), name=st.sampled_from(NAMES), direction=st.sampled_from([1, -1]))
@quick(150)
def test_a_difference_is_that_of_the_two_numbers_and_so_is_its_interval(
    table: Table, name: str, direction: int
) -> None:
    made = compared(table, name, direction)
    drawable = [q for q in range(len(table[0])) if not all(math.isnan(own[q]) for own in table)]
    for k, (a, b) in enumerate(zip(*np.triu_indices(len(table), 1), strict=True)):
        x, y = common(table[a], table[b])
        numbers = [naive.over_queries(name, own, direction) for own in (x, y)]
        assert made.differences[k] == pytest.approx(
            float(direction * (numbers[0] - numbers[1])), nan_ok=True, abs=1e-12
        )
        assert made.num_queries[k] == sum(not math.isnan(value) for value in x)
        resampled: list[Fraction | None] = []
        for drawn in draws(len(drawable), 29, 0):
            tails = [naive.over_queries(name, [own[drawable[q]] for q in drawn], direction) for own in (x, y)]
            is_there = not any(math.isnan(tail) for tail in tails)
            resampled.append(Fraction(direction * (tails[0] - tails[1])) if is_there else None)
        ends = None if name == "min" else naive.percentile_ends(resampled, ALPHA)
        expected = (math.nan, math.nan) if ends is None else tuple(map(float, ends))
        assert (made.lows[k], made.highs[k]) == pytest.approx(expected, nan_ok=True, abs=1e-12)


@given(table=tables(), name=st.sampled_from(NAMES))
@quick(60)
def test_memory_does_not_show(table: Table, name: str) -> None:
    whole = compared(table, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overpairs, "_KEPT", 29)
        parts = compared(table, name)
    np.testing.assert_array_equal(whole.lows, parts.lows)
    np.testing.assert_array_equal(whole.highs, parts.highs)


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


def test_a_run_against_itself_has_no_difference_in_any_resample() -> None:
    made = compared([[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]], "tail:0.5", num_resamples=99)
    assert (made.differences.item(), made.lows.item(), made.highs.item()) == (0, 0, 0)


def test_an_infinite_number_makes_the_difference_infinite_or_undefined() -> None:
    deep = [3.0, math.inf, 5.0]
    made = compared([deep, [3.0, 4.0, 5.0], deep], "tail:0.5", -1)
    assert made.differences.tolist() == pytest.approx([-math.inf, math.nan, math.inf], nan_ok=True)
    assert made.num_left_out[1] > 0
    assert np.isnan([made.lows, made.highs]).all()


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(UsageError, match="too few for a 95 % interval"):
        compare_over(np.ones((2, 3)), Over.parse("median"), np.array([0]), np.array([1]), num_resamples=38)

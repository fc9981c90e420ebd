"""Intervals of means and tails from resamples that are each measured by their own spread."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray
from lexirecall.statistics import bootstrap, mean_intervals, studentized, studentized_intervals
from lexirecall.statistics.queryaggregate import QueryAggregate
from strategies import quick
from test_bootstrap import draws

ALPHA = Fraction(1, 10)
VALUES = (0.0, 0.1, 0.2, 0.3, 1 / 3, 0.7, 1.0, 17.0)
MEAN = QueryAggregate.parse("mean")


def columns(size: int) -> st.SearchStrategy[list[float]]:
    return st.lists(st.sampled_from(VALUES), min_size=size, max_size=size)


def ends(
    column: list[float], over: QueryAggregate = MEAN, num_resamples: int = 59, seed: int = 0
) -> tuple[float, float]:
    low, high = studentized_intervals(
        np.array(column)[:, None], over, num_resamples=num_resamples, seed=seed, alpha=float(ALPHA)
    )
    return float(low[0]), float(high[0])


def simulated(shape: tuple[int, ...], seed: int = 0) -> FloatArray:
    return np.random.Generator(np.random.PCG64(seed)).random(shape)


@given(
    st.integers(8, 13).flatmap(columns), st.sampled_from(["mean", "tail:0.5", "tail:0.65", "tail:1"]), st.integers(0, 9)
)
@quick(80)
def test_the_ends_are_those_of_the_definition(column: list[float], name: str, seed: int) -> None:
    over, n = QueryAggregate.parse(name), len(column)
    k = n if name == "mean" else math.ceil(Fraction(name[5:]) * n)
    found = ends(column, over, seed=seed)
    if k < 5 or len(set(sorted(column)[:k])) == 1:
        assert np.isnan(found).all()
    else:
        expected = naive.studentized_interval(column, k, draws(n, 59, seed), ALPHA)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_many_queries_are_resampled_like_few() -> None:
    column = simulated((150,)).round(2).tolist()
    expected = naive.studentized_interval(column, 15, draws(150, 59, 0), ALPHA)
    assert ends(column, QueryAggregate.parse("tail:0.1")) == pytest.approx(expected)


def test_queries_without_a_value_are_as_if_they_were_not_there() -> None:
    values = simulated((20, 3))
    values[[2, 7], 1] = np.nan
    made = studentized_intervals(values, num_resamples=99)
    alone = studentized_intervals(np.delete(values[:, 1:2], [2, 7], axis=0), num_resamples=99)
    assert [end[1] for end in made] == [end[0] for end in alone]


@pytest.mark.parametrize("name", ["mean", "tail:0.3"])
def test_neither_blocks_nor_the_other_columns_show(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    values, over = simulated((31, 6)), QueryAggregate.parse(name)
    whole = studentized_intervals(values, over, num_resamples=500)
    monkeypatch.setattr(bootstrap, "_BLOCK", 31 * 7)
    monkeypatch.setattr(studentized, "_KEPT", 500 * 4)
    cut = studentized_intervals(values[:, ::-1], over, num_resamples=500)
    assert [end[::-1].tolist() for end in cut] == [end.tolist() for end in whole]


def test_negative_values_have_the_mirrored_interval_of_a_mean() -> None:
    values = simulated((20, 4))
    (low, high), mirrored = (studentized_intervals(x, num_resamples=200) for x in (values, -values))
    np.testing.assert_allclose(mirrored, [-high, -low], rtol=1e-12)


def test_what_has_no_interval() -> None:
    few, equal, endless = np.arange(7.0), np.ones(9), np.append(np.arange(9.0), -np.inf)
    for column in (few, equal, endless):
        assert np.isnan(studentized_intervals(column[:, None], num_resamples=99)).all()
    alike = np.append(np.zeros(6), [0.1, 0.3, 0.4, 0.9])[:, None]  # what lies beyond them is no measure of the tail
    assert np.isnan(studentized_intervals(alike, QueryAggregate.parse("tail:0.6"), num_resamples=99)).all()
    tails = studentized_intervals(simulated((40, 1)), QueryAggregate.parse("tail:0.1"), num_resamples=99)
    assert np.isnan(tails).all()  # four queries
    assert not np.isnan(
        studentized_intervals(simulated((50, 1)), QueryAggregate.parse("tail:0.1"), num_resamples=99)
    ).any()


def test_resamples_of_equal_values_leave_an_end_open() -> None:
    """Of 8 values one differs, and it is missing from a third of the resamples."""
    low, high = ends([0.0] * 7 + [1.0])
    assert (low, high) == (low, math.inf)
    assert math.isfinite(low)


def test_intervals_hold_the_mean_about_as_often_as_they_say() -> None:
    """Of 1,000 samples of 20 exponential values; percentile intervals hold it in 90 to 91 %."""
    values = -np.log(simulated((20, 1_000), seed=2))
    for low, high in (studentized_intervals(values, num_resamples=999), mean_intervals(values)):
        assert 0.93 < ((low < 1) & (high > 1)).mean() < 0.975


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(UsageError, match="too few for a 95 % interval"):
        studentized_intervals(simulated((9, 1)), num_resamples=38)

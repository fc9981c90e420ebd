"""Hall's interval of a mean and one-sided p, beside the cubic solved by halving."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import naive
from lexirecall.statistics.hall import FEWEST, chance_of_worse, mean_intervals

values = st.lists(st.integers(-50, 50).map(lambda x: x / 16), min_size=FEWEST, max_size=30).filter(
    lambda drawn: len({*drawn}) > 1
)


@given(values, st.sampled_from([0.01, 0.05, 0.3]))
def test_the_ends_are_where_the_cubic_is_a_limit_of_t(drawn: list[float], alpha: float) -> None:
    low, high = (end.item() for end in mean_intervals(np.array(drawn)[:, None], alpha=alpha))
    limit = special.stdtrit(len(drawn) - 1, 1 - alpha / 2)
    assert low == pytest.approx(naive.hall_limit(drawn, limit), rel=1e-6, abs=1e-6)
    assert high == pytest.approx(naive.hall_limit(drawn, -limit), rel=1e-6, abs=1e-6)


@given(values)
def test_p_is_that_of_the_transformed_statistic(drawn: list[float]) -> None:
    mean, deviation, skewness = naive.sample_moments(drawn)
    statistic = math.sqrt(len(drawn)) * naive.hall_transform(mean / deviation, skewness, len(drawn))
    assert chance_of_worse(np.array(drawn)) == pytest.approx(special.stdtr(len(drawn) - 1, statistic), abs=1e-9)


def test_symmetric_values_have_the_interval_of_t() -> None:
    x = np.array([-3.0, -2, -1, -0.5, 0.5, 1, 2, 3])
    low, high = (end.item() for end in mean_intervals(x[:, None]))
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 7, x.mean(), stats.sem(x)))
    assert chance_of_worse(x + 0.5) == pytest.approx(stats.ttest_1samp(x + 0.5, 0, alternative="less").pvalue)


def test_there_is_no_interval_of_few_or_equal_values() -> None:
    columns = np.array([[0.3] * 9, [*range(7), np.nan, np.nan], [*range(8), np.nan]]).T
    lows, highs = mean_intervals(columns)
    assert np.isnan(lows).tolist() == np.isnan(highs).tolist() == [True, True, False]
    assert math.isnan(chance_of_worse(np.array([1.0, 2.0])))
    assert math.isnan(chance_of_worse(np.array([0.1, 0.3 - 0.2, 0.1])))  # equal up to rounding


def test_it_holds_the_mean_of_skewed_values_where_t_does_not() -> None:
    """Ten exponential values: t covers about 90 of 100."""
    drawn = np.random.default_rng(0).exponential(size=(10, 20_000))
    lows, highs = mean_intervals(drawn)
    assert ((lows <= 1) & (highs >= 1)).mean() > 0.93
    reach = special.stdtrit(9, 0.975) * drawn.std(axis=0, ddof=1) / math.sqrt(10)
    assert (np.abs(drawn.mean(axis=0) - 1) <= reach).mean() < 0.91

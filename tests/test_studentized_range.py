"""The studentized range: against t, against other rules and other people's integrals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import naive
from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray
from lexirecall.statistics.studentized_range import LEAST_ALPHA, critical_value, sf
from strategies import quick

DEGREES = (1, 2, 7, 30, 109, 1999, 27_032, 10**6, math.inf)
CASES = [(k, df) for k in (2, 3, 10, 110, 2000) for df in DEGREES]


def at(q: float, k: int, df: float) -> float:
    return float(sf(np.array([q]), k, df)[0])


def spanning(df: float, num_values: int, longest: float = 12) -> FloatArray:
    """Return values of q whose chances go from 1 to 1e-12 and less, whatever the tail."""
    y = np.linspace(0.1, longest, num_values)
    return y if math.isinf(df) else np.sqrt(2 * df * np.expm1(y**2 / (2 * df)))


def gauss(low: float, high: float, num_panels: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of Gauss and Legendre's rule of 20 points on each panel."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    middles = low + (np.arange(num_panels)[:, None] + 0.5) * (high - low) / num_panels
    half = (high - low) / num_panels / 2
    return (middles + half * nodes).ravel(), np.tile(half * weights, num_panels)


def by_another_rule(q: float, k: int, df: float) -> float:
    """Integrate the definition on both axes far beyond where it matters, with many more nodes, of another kind."""
    if math.isinf(df):
        s, weights = np.ones(1), np.ones(1)
    else:
        furthest = math.log1p(q**2 / (2 * df)) / 2 + 60 / df + math.sqrt(60 / df)
        t, weights = gauss(-furthest, math.sqrt(60 / df), 30 + int(2 * furthest))
        log_constant = math.log(2) + df / 2 * math.log(df / 2) - special.gammaln(df / 2)
        s, weights = np.exp(t), weights * np.exp(log_constant + df * t - df * np.exp(2 * t) / 2)
    z, z_weights = gauss(-11, 19, 20)
    w = q * s[:, None]
    ratio = np.minimum(special.ndtr(z - w) / special.ndtr(z), 1.0)
    with np.errstate(divide="ignore"):
        inner = -np.expm1((k - 1) * np.log1p(-ratio))
    inner *= k * np.exp((k - 1) * special.log_ndtr(z) - z**2 / 2) / math.sqrt(2 * math.pi)
    return float(weights @ inner @ z_weights)


@pytest.mark.parametrize("df", DEGREES)
def test_with_two_groups_it_is_student_s_t(df: float) -> None:
    q = spanning(df, 200, 30)  # down to 1e-98
    expected = special.erfc(q / 2) if math.isinf(df) else 2 * special.stdtr(df, -q / math.sqrt(2))
    assert expected[-1] < 1e-90
    np.testing.assert_allclose(sf(q, 2, df), expected, rtol=1e-11)


@pytest.mark.parametrize(("k", "df"), [case for case in CASES if case[0] > 2])
def test_another_rule_with_many_more_nodes_gives_the_same(k: int, df: float) -> None:
    q = spanning(df, 5)
    expected = [by_another_rule(each, k, df) for each in q]
    assert expected[-1] < 1e-9
    tolerance = 1e-11 if df < 10_000 else 1e-9  # the constant of its density loses digits: log Γ(10^6/2) is 6e6
    np.testing.assert_allclose(sf(q, k, df), expected, rtol=tolerance)


@pytest.mark.parametrize(
    ("q", "k", "df", "expected"),
    [
        (3.5, 3, 10, 0.0771033108384118227),
        (25.0, 3, 10, 1.96108175400633646e-8),
        (0.3, 4, 5, 0.996188601255431421),
        (40.0, 5, 1, 0.0463580142182830381),
        (5.2, 110, 27_032, 0.392393294136294893),
        (9.5, 110, 27_032, 1.12162983832661816e-7),
        (11.0, 110, 109, 2.59227716277907990e-8),
        (6.9, 2000, 1999, 0.441418926989519507),
        (10.4, 3, 10**6, 5.77900323894173856e-13),
        (11.0, 20, math.inf, 1.39785903173865135e-12),
        (7.0, 3, 6, 0.00617507416525248022),
        (1e6, 5, 2, 6.15658306870513818e-12),
        (30.0, 2000, 7, 2.168931994711707e-4),
    ],
)
def test_chances_agree_with_integrals_in_thirty_digits(q: float, k: int, df: float, expected: float) -> None:
    """The numbers are from mpmath: Gauss and Legendre's rule on both axes, its estimated error below 1e-13 of each."""
    assert at(q, k, df) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(("q", "k", "df"), [(3.5, 3, 10), (0.3, 4, 5), (6.0, 30, 50), (3.0, 10, 300), (5.0, 8, 3)])
def test_chances_agree_with_the_slow_twin(q: float, k: int, df: int) -> None:
    assert at(q, k, df) == pytest.approx(naive.studentized_range_tail(q, k, df), rel=1e-10, abs=0)


@pytest.mark.parametrize("df", [1, 5, 30, 1000])
@pytest.mark.parametrize("k", [2, 3, 10, 50])
def test_chances_agree_with_scipy(k: int, df: int) -> None:
    """Scipy's are 1 - cdf, and so good to 1e-12 in absolute terms; from 100,000 on it takes df as infinite."""
    q = np.array([0.5, 3, 6, 20])
    np.testing.assert_allclose(sf(q, k, df), stats.studentized_range.sf(q, k, df), rtol=1e-11, atol=2e-12)


@quick(40)
@given(st.integers(2, 2000), st.floats(1, 1e6), st.floats(0.01, 30), st.floats(0.01, 30))
def test_the_tail_falls_with_q_and_rises_with_the_number_of_groups(k: int, df: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert at(high, k, df) <= at(low, k, df) * (1 + 1e-11) <= 1 + 1e-11
    assert at(low, k, df) <= at(low, k + 1, df) * (1 + 1e-11)


def test_no_chance_is_above_1() -> None:
    for k in (2, 110, 2000):
        for df in DEGREES:
            assert sf(np.linspace(0, 4, 100), k, df).max() == 1


def test_many_degrees_of_freedom_approach_infinitely_many() -> None:
    q = np.linspace(0, 12, 50)
    np.testing.assert_allclose(sf(q, 7, 1e12), sf(q, 7, math.inf), rtol=1e-8)


@pytest.mark.parametrize("df", [1, 10, math.inf])
def test_chances_at_the_ends_are_exact(df: float) -> None:
    q = np.array([-math.inf, -1, 0, math.inf, math.nan, 1e300])
    np.testing.assert_array_equal(sf(q[:5], 4, df), [1, 1, 1, 0, math.nan])
    assert 0 <= sf(q, 4, df)[5] < 1e-200
    assert sf(np.zeros((0,)), 4, df).shape == (0,)


# Critical values


@pytest.mark.parametrize(
    ("alpha", "k", "df", "printed"),
    [
        (0.05, 2, math.inf, 2.772), (0.05, 3, 10, 3.877), (0.05, 5, 20, 4.232), (0.01, 4, 12, 5.502),
        (0.05, 10, math.inf, 4.474), (0.05, 3, 2, 8.331), (0.01, 10, 60, 5.447),
    ],
)  # fmt: skip
def test_critical_values_are_those_of_printed_tables(alpha: float, k: int, df: float, printed: float) -> None:
    assert critical_value(alpha, k, df) == pytest.approx(printed, abs=1e-3)


@pytest.mark.parametrize(("k", "df"), [(2, 1), (2, 30), (3, 10), (110, 109), (110, 27_032), (2000, math.inf)])
@pytest.mark.parametrize("alpha", [0.999, 0.5, 0.05, 1e-4, 1e-12, LEAST_ALPHA])
def test_a_critical_value_is_exceeded_with_the_chance_alpha(alpha: float, k: int, df: float) -> None:
    assert at(critical_value(alpha, k, df), k, df) == pytest.approx(alpha, rel=1e-10, abs=0)


@pytest.mark.parametrize(
    ("k", "df", "problem"),
    [
        (1, 10, "k is 1, but must be a whole number of groups, at least 2"),
        (2.5, 10, "k is 2.5"),
        (3, 0, "df is 0, but must be at least 1; infinity is allowed"),
        (3, math.nan, "df is nan"),
    ],
)
def test_impossible_shapes_are_refused(k: int, df: float, problem: str) -> None:
    for call in (lambda: sf(np.ones(1), k, df), lambda: critical_value(0.05, k, df)):
        with pytest.raises(UsageError, match=problem):
            call()


@pytest.mark.parametrize("alpha", [0, 1, -1, math.nan, LEAST_ALPHA / 10])
def test_impossible_chances_are_refused(alpha: float) -> None:
    with pytest.raises(UsageError, match="alpha is"):
        critical_value(alpha, 3, 10)

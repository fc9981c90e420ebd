"""Tails: the special functions of small comparisons beside scipy's, over all that they are used for."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from lexirecall.statistics import tails
from lexirecall.statistics.tails import (
    MOST_DEGREES,
    MOST_TRIALS,
    MOST_WITHOUT_SCIPY,
    binomial_chances,
    normal_quantile,
    t_limit,
    t_pvalues,
)
from strategies import quick

DEGREES = np.arange(1, MOST_DEGREES + 1)
SIZES = np.concatenate([np.linspace(0.001, 5, 120), np.linspace(1.74, 1.76, 21), np.logspace(0.7, 5, 60)])


@pytest.mark.parametrize("df", DEGREES[::7])
def test_chances_of_t_are_those_of_scipy(df: int) -> None:
    """To 1e-12, which leaves room for what rounding does to scipy's where t is small."""
    ours, theirs = t_pvalues(SIZES, np.full(len(SIZES), df)), 2 * special.stdtr(df, -SIZES)
    is_known = theirs > 1e-280
    np.testing.assert_allclose(ours[is_known], theirs[is_known], rtol=1e-12)


def test_one_and_two_degrees_have_closed_forms() -> None:
    """P(|T| > t) is 1 - 2 atan(t)/π and 1 - t/sqrt(2 + t²)."""
    t = np.concatenate([[0.0, 1e-8], np.linspace(0.01, 20, 200)])
    np.testing.assert_allclose(t_pvalues(t, np.full(len(t), 1)), 2 * np.arctan2(1, t) / np.pi, rtol=1e-14)
    root = np.sqrt(2 + t**2)
    np.testing.assert_allclose(t_pvalues(t, np.full(len(t), 2)), 2 / (root * (root + t)), rtol=2e-14)


def test_limits_of_chances() -> None:
    t, df = np.array([0.0, np.inf, np.nan, 1.0, 1.0]), np.array([3, 3, 3, 0, -1])
    np.testing.assert_array_equal(t_pvalues(t, df), [1, 0, np.nan, np.nan, np.nan])
    assert math.isnan(t_limit(0.05, 0))


@quick(50)
@given(t=st.floats(0, 50), df=st.integers(1, MOST_DEGREES), more=st.floats(1e-6, 5))
def test_a_larger_t_is_less_likely_whatever_is_beside_it(t: float, df: int, more: float) -> None:
    pair = t_pvalues(np.array([t, t + more]), np.array([df, df]))
    assert 0 <= pair[1] <= pair[0] <= 1
    beside = t_pvalues(np.array([1.0, t, 300.0]), np.array([MOST_DEGREES + 5, df, 1]))
    assert beside[1] == pair[0]


def test_the_fraction_has_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    t = np.concatenate([np.linspace(0, 6, 200), [1.7499999, 1.75]])
    made = [t_pvalues(t, np.full(len(t), df)) for df in (1, 2, 9, MOST_DEGREES)]
    monkeypatch.setattr(tails, "_STEPS", 400)
    again = [t_pvalues(t, np.full(len(t), df)) for df in (1, 2, 9, MOST_DEGREES)]
    np.testing.assert_allclose(made, again, rtol=1e-15)


@pytest.mark.parametrize("df", [*DEGREES[::13], MOST_DEGREES, MOST_DEGREES + 1, 10**6])
@pytest.mark.parametrize("chance", [0.5, 0.1, 0.05, 0.01, 1e-4])
def test_limits_of_t_are_exceeded_with_their_chance(chance: float, df: int) -> None:
    """Where scipy is asked, as exactly as its inverse was before 1.14."""
    found = 2 * special.stdtr(df, -t_limit(chance, int(df)))
    assert found == pytest.approx(chance, rel=1e-12 if df <= MOST_DEGREES else 1e-7)


@pytest.mark.parametrize("chance", [1e-300, 1e-20, 1e-5, 0.0005, 0.005, 0.025, 0.05, 0.1, 0.3, 0.49, 0.5, 0.7, 0.999])
def test_normal_quantiles_are_those_of_scipy(chance: float) -> None:
    assert normal_quantile(chance) == pytest.approx(special.ndtri(chance), rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("trials", [0, 1, 2, 7, 50, 199, MOST_TRIALS, MOST_TRIALS + 1, 1000])
def test_binomial_chances_are_exact_or_those_of_scipy(trials: int) -> None:
    most = np.arange(trials // 2 + 1)
    made = binomial_chances(most, np.full(len(most), trials))
    exact = [float(Fraction(sum(math.comb(trials, j) for j in range(k + 1)), 2**trials)) for k in most.tolist()]
    if trials <= MOST_TRIALS:
        assert made.tolist() == exact
    np.testing.assert_allclose(made, exact, rtol=1e-10)


def test_a_small_comparison_does_not_import_scipy() -> None:
    script = """
import sys
from lexirecall import compare
qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(9)}
runs = {name: {q: [*"xyz"[: k + i % 2], "a", "b"] for i, q in enumerate(qrels)} for k, name in enumerate("uvw")}
print(compare(qrels, runs))
sys.exit("scipy" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("number", [MOST_DEGREES + 1, 323, 1406, 6980, MOST_WITHOUT_SCIPY])
def test_without_scipy_more_is_computed_here(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as scipy, to what rounding does over so many factors."""
    monkeypatch.setattr(tails, "_has_scipy", lambda: False)
    t = np.concatenate([np.linspace(0, 12, 100), [1.7499999, 1.75]])
    df, fewer = np.full(len(t), number), np.array([0, number // 3, number * 49 // 100, number // 2])
    np.testing.assert_allclose(t_pvalues(t, df), 2 * special.stdtr(df, -t), rtol=2e-12)
    np.testing.assert_allclose(2 * special.stdtr(number, -t_limit.__wrapped__(0.05, number)), 0.05, rtol=5e-12)
    chances = binomial_chances(fewer, np.full(4, number))
    np.testing.assert_allclose(chances, special.bdtr(fewer.astype(float), number, 0.5), rtol=1e-10)
    made = t_pvalues(t, df)
    monkeypatch.setattr(tails, "_MORE_STEPS", 1200)
    np.testing.assert_allclose(t_pvalues(t, df), made, rtol=1e-14)

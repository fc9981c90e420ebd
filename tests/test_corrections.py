"""Corrections: by hand, by published examples, by their definitions, and against statsmodels."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall.errors import UsageError
from lexirecall.statistics.corrections import CORRECTIONS, correct
from strategies import costly, quick

every_method = pytest.mark.parametrize("method", CORRECTIONS)
pvalues = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.04, 0.5, 1.0])), max_size=12)

# Benjamini and Hochberg 1995, section 4: fifteen comparisons of two treatments of a heart attack
FIFTEEN = (
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0
)  # fmt: skip


@pytest.mark.parametrize(("method", "num_rejected"), [("none", 9), ("bh", 4), ("holm", 3), ("bonferroni", 3)])
def test_of_the_published_fifteen_as_many_are_rejected_as_published(method: str, num_rejected: int) -> None:
    rejected = correct(FIFTEEN, method) <= 0.05
    assert rejected.tolist() == [True] * num_rejected + [False] * (15 - num_rejected)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        ("holm", [0.03, 0.06, 0.06, 0.02]),  # 3 × .01; 2 × .03, and no less for .04; 4 × .005
        ("bh", [0.02, 0.04, 0.04, 0.02]),  # 4/2 × .01, 4/4 × .04, 4/3 × .03, 4/1 × .005
        ("none", [0.01, 0.04, 0.03, 0.005]),
    ],
)
def test_four_p_values_by_hand(method: str, expected: list[float]) -> None:
    assert correct([0.01, 0.04, 0.03, 0.005], method).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")])
@costly(30)  # statsmodels collects garbage at every call of one of them
@given(given=pvalues.filter(len))
def test_corrections_are_those_of_statsmodels(ours: str, theirs: str, given: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    assert correct(given, ours).tolist() == pytest.approx(multitest.multipletests(given, method=theirs)[1], abs=1e-15)


@pytest.mark.parametrize(("method", "twin"), [("holm", naive.rejected_by_holm), ("bh", naive.rejected_by_bh)])
@quick(200)
@given(given=st.lists(st.integers(0, 1000), max_size=9), level=st.integers(1, 999))
def test_what_is_below_the_level_is_what_the_procedure_rejects(
    method: str, twin: object, given: list[int], level: int
) -> None:
    """p-values in thousandths and levels half way between, so that no comparison hangs on rounding."""
    assert callable(twin)
    numbers, alpha = [number / 1000 for number in given], (level + 0.5 / 27720) / 1000
    assert (correct(numbers, method) <= alpha).tolist() == twin(numbers, alpha)


@every_method
@quick(100)
@given(given=pvalues)
def test_adjusted_p_values_keep_order_and_bounds(method: str, given: list[float]) -> None:
    adjusted = correct(given, method)
    assert ((adjusted >= np.array(given)) & (adjusted <= 1)).all()
    places = np.argsort(given, kind="stable")
    assert (np.diff(adjusted[places]) >= 0).all()
    shuffled = np.random.default_rng(len(given)).permutation(len(given))
    assert correct(np.array(given)[shuffled], method).tolist() == adjusted[shuffled].tolist()
    equal = {p: {value for q, value in zip(given, adjusted.tolist(), strict=True) if q == p} for p in given}
    assert all(len(values) == 1 for values in equal.values())


def test_the_largest_p_value_is_not_lowered_by_rounding() -> None:
    largest = 0.7812962200962452
    assert 6 * largest / 6 < largest
    assert correct([0, 0, 0, 0, 0, largest], "bh")[5] == largest


@quick(100)
@given(given=pvalues)
def test_bonferroni_is_the_strictest_and_none_the_mildest(given: list[float]) -> None:
    by_method = [correct(given, method) for method in ("none", "bh", "holm", "bonferroni")]
    for milder, stricter in pairwise(by_method):
        assert (milder <= stricter + 1e-15).all()


@every_method
@quick(50)
@given(given=st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=10))
def test_undefined_p_values_stay_and_are_not_counted(method: str, given: list[float]) -> None:
    numbers = np.array(given, dtype=float)
    defined = ~np.isnan(numbers)
    adjusted = correct(given, method)
    assert np.isnan(adjusted[~defined]).all()
    assert adjusted[defined].tolist() == correct(numbers[defined], method).tolist()


@every_method
def test_any_shape_is_kept_and_the_input_is_not_touched(method: str) -> None:
    given = np.array([[0.01, np.nan, 0.03], [0.2, 0.002, 0.5]])
    before = given.copy()
    adjusted = correct(given, method)
    assert adjusted.ravel().tolist() == pytest.approx(correct(given.ravel(), method).tolist(), nan_ok=True)
    assert adjusted.shape == (2, 3)
    np.testing.assert_array_equal(given, before)
    assert correct(given.T, method).T.tolist() == [[pytest.approx(x, nan_ok=True) for x in row] for row in adjusted]
    assert correct([], method).tolist() == []
    assert correct(np.zeros((0, 3)), method).shape == (0, 3)
    assert float(correct(0.03, method)) == 0.03
    assert not np.shares_memory(adjusted, given)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.inf, 2])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(UsageError, match="is not a p-value"):
        correct([0.1, wrong], "holm")


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(UsageError, match="correction is 'fdr', but must be one of holm, bonferroni, bh, none"):
        correct([0.1], "fdr")

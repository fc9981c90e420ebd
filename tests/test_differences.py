"""Differences: on how many queries they rest, whatever their scale and order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall.statistics import differences as module
from lexirecall.statistics.differences import Differences
from strategies import quick

NUMBERS = st.lists(st.integers(-50, 50) | st.sampled_from([0, 1]), min_size=1, max_size=40)


def of_rows(*rows: list[float]) -> Differences:
    values, index = np.array(rows, dtype=float), np.arange(len(rows))
    return Differences(index, index + 1, values, np.ones(values.shape, bool))


@quick(200)
@given(numbers=NUMBERS)
def test_the_effective_number_of_queries_is_its_definition(numbers: list[int]) -> None:
    expected = naive.effective_queries(numbers)
    found = of_rows([*map(float, numbers)]).effective[0]
    assert math.isnan(found) if expected is None else found == pytest.approx(float(expected), rel=1e-14)


@quick(100)
@given(numbers=NUMBERS, exponent=st.integers(-1070, 1000))
def test_it_does_not_depend_on_the_scale(numbers: list[int], exponent: int) -> None:
    """Exposures such as .5^600 have squares that no float holds."""
    row = [*map(float, numbers)]
    np.testing.assert_array_equal(
        of_rows(row).effective, of_rows([math.ldexp(each, exponent) for each in row]).effective
    )


@quick(100)
@given(numbers=st.lists(st.floats(-1, 1), min_size=2, max_size=30), exponent=st.integers(-600, 0))
def test_the_order_does_not_show(numbers: list[float], exponent: int) -> None:
    scaled = [math.ldexp(each, exponent) for each in numbers]
    here, reverse = of_rows([*scaled, 0.0, 0.0]), of_rows([0.0, 0.0, *reversed(scaled)])
    for name in ("effective", "means", "deviations"):
        np.testing.assert_array_equal(getattr(here, name), getattr(reverse, name))


def test_one_query_that_decides_counts_as_one_and_equal_ones_all() -> None:
    rows = [0.7] + [0.0] * 49, [0.2] * 50, [0.0] * 50, [0.7, 0.01, 0.01, 0.01] + [0.0] * 46
    np.testing.assert_allclose(of_rows(*rows).effective, [1, 50, np.nan, 3], rtol=2e-3)


def test_signs_suit_differences_of_one_size_and_those_that_rest_on_few_queries() -> None:
    cases = {
        "one size": [0.2, -0.2, 0.2] * 10,
        "one size up to rounding": [0.3 - 0.2, 0.2 - 0.1, -0.1] * 10,
        "two sizes": [0.1, 0.2, -0.1] * 10,
        "seven requests": [0.01 * i for i in range(1, 8)] + [0.0] * 23,
        "nothing": [0.0] * 30,
    }
    pairs = of_rows(*cases.values())
    assert pairs.have_one_size.tolist() == [name.startswith("one size") for name in cases]
    assert pairs.is_by_signs.tolist() == [True, True, False, True, True]


@quick(50)
@given(numbers=NUMBERS)
def test_sizes_are_equal_if_there_is_one(numbers: list[int]) -> None:
    sizes = {abs(number) for number in numbers if number}
    assert of_rows([*map(float, numbers)]).have_one_size.tolist() == [len(sizes) == 1]


def test_blocks_of_pairs_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(9, 20)).tolist()
    whole = of_rows(*rows).effective
    monkeypatch.setattr(module, "_BLOCK", 40)
    np.testing.assert_array_equal(of_rows(*rows).effective, whole)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (3, 0)])
def test_no_pairs_or_no_queries_are_no_error(shape: tuple[int, int]) -> None:
    index = np.arange(shape[0])
    nothing = Differences(index, index + 1, np.zeros(shape), np.ones(shape, bool))
    assert nothing.effective.shape == shape[:1]
    assert np.isnan(nothing.effective).all()

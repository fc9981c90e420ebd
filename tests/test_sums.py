"""Exact sums are those of fractions, rounded once, in whatever order and portions the numbers come."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall.sums import ExactSums

NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from([1.0, -1.0, 1e16, -1e16, 0.1, 5e-324, 2.0**-53, -(2.0**-54)])
COLUMNS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=30)


def naive(columns: list[tuple[float, ...]]) -> list[float]:
    return [float(sum(map(Fraction, column), Fraction())) for column in zip(*columns, strict=True)] or [0.0] * 3


def table(columns: list[tuple[float, ...]]) -> np.ndarray:
    return np.array(columns, float).reshape(len(columns), 3)


@given(COLUMNS)
def test_a_sum_is_rounded_once(columns: list[tuple[float, ...]]) -> None:
    assert ExactSums.of(table(columns)).rounded().tolist() == naive(columns)


@given(COLUMNS, st.randoms(use_true_random=False))
def test_the_order_does_not_show(columns: list[tuple[float, ...]], random: Random) -> None:
    expected = ExactSums.of(table(columns)).rounded().tolist()
    random.shuffle(columns)
    assert ExactSums.of(table(columns)).rounded().tolist() == expected


def test_many_cells_are_added_up_in_blocks() -> None:
    rng = np.random.default_rng(1)
    numbers = rng.standard_normal((30, 70, 90)) * 2.0 ** rng.integers(-90, 90, (30, 70, 90))
    numbers[:, 3, 5] *= 2.0 ** np.linspace(-400, 400, 30).round()  # where two parts are not enough
    sums = ExactSums.of(numbers)
    assert len(sums.parts) > 2
    expected = [[float(sum(map(Fraction, column))) for column in row.T] for row in numbers.transpose(1, 0, 2)]
    assert sums.rounded().tolist() == expected


@pytest.mark.filterwarnings("error")
def test_a_sum_that_is_too_large_is_infinite_and_leaves_the_others_alone() -> None:
    numbers = np.array([[1e308, 1.0], [1e308, 2.0]])
    assert ExactSums.of(numbers).rounded().tolist() == [np.inf, 3.0]
    assert ExactSums.grouped(numbers, np.array([1, 1]), 2).rounded().tolist() == [[0.0, 0.0], [np.inf, 3.0]]


def test_the_sum_of_nothing_is_zero() -> None:
    assert ExactSums.of(np.zeros((0, 2, 3))).rounded().tolist() == np.zeros((2, 3)).tolist()
    assert ExactSums.of(np.zeros((3, 0))).rounded().shape == (0,)


@given(COLUMNS, st.data())
def test_sums_of_groups_are_those_of_their_numbers(columns: list[tuple[float, ...]], data: st.DataObject) -> None:
    groups = data.draw(st.lists(st.integers(0, 4), min_size=len(columns), max_size=len(columns)))
    found = ExactSums.grouped(table(columns), np.array(groups, np.int64), 5).rounded().tolist()
    assert found == [naive([row for row, own in zip(columns, groups, strict=True) if own == g]) for g in range(5)]

"""What C computes for rows of numbers is what numpy computes, to the bit; a wrong caller gets an exception."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import sums
from lexirecall.reader import VARIABLE, is_built
from lexirecall.statistics import hsd, signed_ranks
from lexirecall.statistics.differences import Moments
from lexirecall.sums import ExactSums
from strategies import quick

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built: there was no C compiler")

SIZES = st.floats(-1e300, 1e300) | st.floats(-1, 1) | st.sampled_from([0.1, -0.1, 2.0**-53, 5e-324, 1e16, -1e16])
NUMBERS = st.floats(-1e3, 1e3) | st.integers(-3, 3).map(float) | st.sampled_from([5e-324, 1e300, -1e-300, 0.1])


@quick(200)
@given(st.lists(st.lists(SIZES, min_size=7, max_size=7), min_size=1, max_size=40))
def test_sums_are_rounded_once(rows: list[list[float]]) -> None:
    table = np.array(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "_MANY", 0)
        found = ExactSums.of(table), ExactSums.of(np.asfortranarray(table))
    expected = [float(sum(map(Fraction, column))) for column in zip(*rows, strict=True)]
    assert [each.rounded().tolist() for each in found] == [expected] * 2


@pytest.mark.parametrize("spread", [0, 20, 60, 400])
@pytest.mark.parametrize("num_columns", [1, 3, 4, 5, 249, 1025])
def test_sums_of_many_rows_are_those_of_numpy(num_columns: int, spread: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(num_columns + spread)
    rows = rng.standard_normal((70, num_columns)) * 2.0 ** rng.integers(-spread, spread + 1, (70, num_columns))
    rows[3], rows[4, :] = 0, 1
    monkeypatch.setattr(sums, "_MANY", 0)
    found = ExactSums.of(rows.T).rounded().tolist()
    assert spread > 20 or sums._native_parts(rows.T) is not None
    monkeypatch.setenv(VARIABLE, "python")
    assert found == ExactSums.of(rows.T).rounded().tolist()


@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e300])
def test_numbers_that_cannot_be_cut_are_left_to_numpy(odd: float) -> None:
    numbers = np.ones((60, 20))
    numbers[3, 4] = odd
    assert sums._native_parts(numbers) is None
    assert ExactSums.of(np.zeros((60, 20))).parts.shape == (0, 20)


@pytest.mark.parametrize("exponent", [0, -990, -1005, -1070, 1005])
def test_moments_have_the_scale_of_their_pair(exponent: int) -> None:
    """A product with a power of two, and ldexp where there is no such float."""
    values = np.ldexp(np.array([[0.5, -0.25, 0.0], [0.0, 0.0, 0.0]]), exponent)
    assert Moments.of(values).concentration[0] == (5 / 16) ** 2 / (17 / 256)


@quick(200)
@given(st.lists(NUMBERS.filter(bool), min_size=1, max_size=60), st.data())
def test_sums_of_pairs_are_at_their_places(numbers: list[float], data: st.DataObject) -> None:
    row, every = np.sort(numbers), sorted(2 * each for each in naive.walsh_averages(numbers))
    wanted = np.array(data.draw(st.lists(st.integers(0, len(every) - 1), min_size=1, max_size=6)))
    given = np.stack([row, -row[::-1]])
    expected = signed_ranks._sums_of_all(given, wanted)
    np.testing.assert_array_equal(signed_ranks._native_sums(given, wanted), expected)
    np.testing.assert_array_equal(signed_ranks._sums_of_many(given, wanted), expected)


@pytest.mark.parametrize("size", [24, 25, 26, 100, 249, 1200])
@pytest.mark.parametrize("kind", ["distinct", "heavy", "rounded", "signs", "constant", "two scales"])
def test_sums_of_pairs_of_long_rows_are_those_of_numpy(size: int, kind: str) -> None:
    values = np.random.default_rng(size).normal(0.2, 1, (3, size))
    kinds = {
        "heavy": values**9,
        "rounded": np.round(values, 1) + 1e-9,
        "signs": np.copysign(1, values),
        "constant": np.full_like(values, 0.1),
        "two scales": np.where(values > 0, values, values * 1e-300),
    }
    rows = np.sort(kinds.get(kind, values), axis=1)
    total = size * (size + 1) // 2
    wanted = np.array([total // 2, total // 2 + 1, 0, total - 1, total // 3, total // 2])
    np.testing.assert_array_equal(signed_ranks._native_sums(rows, wanted), signed_ranks._sums_of_all(rows, wanted))


@pytest.mark.filterwarnings("error")
def test_sums_that_are_not_finite_are_left_to_numpy() -> None:
    rows = np.array([[-1.0, 1e308, 1.5e308]])
    with np.errstate(over="ignore"):
        assert signed_ranks._sums_at(rows, np.array([0, 5])).tolist() == [[-2.0], [np.inf]]


def test_a_wrong_caller_gets_an_exception() -> None:
    from lexirecall import _native

    rows, places, found = np.arange(6.0).reshape(2, 3), np.array([0, 5]), np.empty((2, 2))
    _native.pair_sums(rows, 2, places, found)
    assert found.tolist() == [[0.0, 6.0], [4.0, 10.0]]
    for wrong in (rows[:, ::-1].copy(), np.full((2, 3), np.nan), np.full((2, 3), 1e308)):
        with pytest.raises(ValueError, match="ascend"):
            _native.pair_sums(wrong, 2, places, found)
    for wrong in (np.array([5, 0]), np.array([-1, 0]), np.array([0, 6])):
        with pytest.raises(ValueError, match="such a place"):
            _native.pair_sums(rows, 2, wrong, found)
    for arguments in ((rows, 0, places, found), (rows, -2, places, found), (rows, 4, places, found)):
        with pytest.raises(ValueError, match="as many rows"):
            _native.pair_sums(*arguments)
    for arguments in ((rows, 2, places, found[:1]), (rows, 2, places[:1], found), (rows, 3, places, found)):
        with pytest.raises(ValueError, match="a place for each row"):
            _native.pair_sums(*arguments)
    for parts in (np.empty((3, 2)), np.empty((4, 3)), np.empty(7)):
        with pytest.raises(ValueError, match="a place for each row"):
            _native.exact_sums(rows, 2, parts)
    with pytest.raises((ValueError, TypeError, BufferError)):
        _native.exact_sums(rows.tobytes(), 2, b"0" * 64)
    with pytest.raises(ValueError, match="as many rows"):
        _native.exact_sums(rows.tobytes()[:-1], 2, np.empty((4, 2)))


@pytest.mark.parametrize("block", [1, 7, 2**15])
@pytest.mark.parametrize(("num_measures", "num_runs", "num_queries"), [(1, 2, 1), (3, 5, 40), (7, 50, 9), (2, 9, 0)])
def test_permuted_sums_are_those_of_numpy(
    num_measures: int, num_runs: int, num_queries: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(block).random((num_measures, num_runs, num_queries))
    responses, names = list(values), [str(s) for s in range(num_runs)]
    monkeypatch.setattr(hsd, "_BLOCK", block)
    ours = hsd.randomized_tukey_hsd(responses, names=names, num_resamples=30)
    monkeypatch.setenv(VARIABLE, "python")
    for one, other in zip(ours, hsd.randomized_tukey_hsd(responses, names=names, num_resamples=30), strict=True):
        np.testing.assert_array_equal(one.pvalues, other.pvalues)
        np.testing.assert_array_equal(one.lows, other.lows)


def test_a_wrong_order_gets_an_exception() -> None:
    from lexirecall import _native

    columns, orders = np.arange(12.0).reshape(2, 2, 3), np.array([[2, 1, 0], [0, 1, 2]])
    partial, sums = np.zeros((2, 2, 3))
    _native.permuted_sums(columns, orders, 2, 3, 1, partial, sums)
    assert sums.tolist() == [[8.0, 8.0, 8.0], [14.0, 14.0, 14.0]]
    for wrong in (orders + 1, orders - 1):
        with pytest.raises(ValueError, match="names a run"):
            _native.permuted_sums(columns, wrong, 2, 3, 1, partial, sums)
    for numbers in ((0, 3, 1), (2, 0, 1), (2, 3, 0), (-2, 3, 1)):
        with pytest.raises(ValueError, match="there are no"):
            _native.permuted_sums(columns, orders, *numbers, partial, sums)
    for arguments in (
        (columns[:1], orders, 2, 3, 1, partial, sums),
        (columns.ravel()[:10].copy(), orders, 2, 3, 1, partial[:1], sums[:1]),
        (columns, orders[:1], 2, 3, 1, partial, sums),
        (columns, orders, 3, 2, 1, partial, sums),
        (columns, orders, 2, 3, 1, partial[:1], sums),
        (columns, orders, 2, 3, 1, partial, sums[:1]),
    ):
        with pytest.raises(ValueError, match=r"for each row|as many rows"):
            _native.permuted_sums(*arguments)

"""Honestly significant differences: a layout by hand, t, slow twins, every permutation, and what chance alone finds."""

import math
from collections.abc import Callable
from itertools import combinations, islice
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall.errors import DataError, UsageError
from lexirecall.judgments import FloatArray
from lexirecall.statistics import hsd
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.hsd import HSD, permutations_within_queries, randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.paired import paired_t, randomization
from lexirecall.statistics.studentized_range import critical_value, sf
from strategies import quick

BY_HAND = np.array([[3.0, 5, 6, 6], [1, 4, 2, 5], [2, 3, 4, 7]])
NAMES = ("delta", "alpha", "Beta", "gamma", "eps", "zeta")


def randomized(responses: Any, **settings: Any) -> HSD:
    """Return the randomized test of one measure."""
    names = settings.pop("names", NAMES[: len(responses)])
    [test] = randomized_tukey_hsd([np.asarray(responses, float)], names=names, **{"num_resamples": 199, **settings})
    return test


both = pytest.mark.parametrize("method", [tukey_hsd, randomized])


def matrix(test: HSD, column: FloatArray, sign: int = 1) -> FloatArray:
    """Lay what is said of pairs out as a square; of a pair the other way round, times the sign."""
    size = int(test.b.max()) + 1
    square = np.zeros((size, size))
    square[test.a, test.b], square[test.b, test.a] = column, sign * column
    return square


def drawn(num_runs: int, num_queries: int, seed: int = 0, spread: float = 0.3) -> FloatArray:
    """Return responses in which queries differ much, and runs by as much as asked for."""
    rng = np.random.default_rng(seed)
    runs, queries = rng.normal(size=(num_runs, 1)), rng.normal(size=(1, num_queries))
    return np.asarray(rng.normal(size=(num_runs, num_queries)) + spread * runs + 5 * queries)


@st.composite
def layouts(draw: st.DrawFn) -> FloatArray:
    """Small layouts of tenths, in which much is equal, or of any floats."""
    shape = draw(st.tuples(st.integers(2, 5), st.integers(2, 5)))
    number = draw(st.sampled_from([st.integers(0, 10).map(lambda tenths: tenths / 10), st.floats(-100, 100)]))
    return np.array(draw(st.lists(number, min_size=math.prod(shape), max_size=math.prod(shape)))).reshape(shape)


# Tukey's


def test_tukey_by_hand() -> None:
    """Three runs, four queries.

        3 5 6 6 | 5       0  0  1 -1
        1 4 2 5 | 3       0  1 -1  0      squares: 6, over (3-1)(4-1) = 6 degrees of freedom
        2 3 4 7 | 4       0 -1  0  1
        2 4 4 6 | 4

    So MSE = 1, a mean has the error sqrt(1/4), and q = 2/.5, 1/.5, 1/.5.
    """
    test = tukey_hsd(BY_HAND)
    assert (test.mse, test.df, test.num_queries, test.num_left_out, test.num_resamples) == (1, 6, 4, 0, 0)
    assert list(zip(test.a, test.b, test.differences, strict=True)) == [(0, 1, 2), (0, 2, 1), (1, 2, -1)]
    expected = [naive.studentized_range_tail(q, 3, 6) for q in (4, 2, 2)]
    assert expected == pytest.approx([0.0674, 0.3923, 0.3923], abs=5e-5)
    np.testing.assert_allclose(test.pvalues, expected, rtol=1e-9)
    reach = 4.339 / 2  # the printed critical value for 5%, 3 groups and 6 degrees of freedom
    np.testing.assert_allclose(test.lows, [2 - reach, 1 - reach, -1 - reach], atol=5e-4)
    np.testing.assert_allclose(test.highs, [2 + reach, 1 + reach, -1 + reach], atol=5e-4)


@quick(100)
@given(layouts())
def test_tukey_agrees_with_rational_arithmetic(responses: FloatArray) -> None:
    means, mse = naive.two_way(responses.tolist())
    test = tukey_hsd(responses)
    largest = np.abs(responses).max()
    assume(largest == 0 or largest > 1e-100)  # otherwise its square is not a float
    assert test.mse == pytest.approx(float(mse), rel=1e-9, abs=2e-24 * largest**2)
    pairs = combinations(range(len(responses)), 2)
    assert test.differences == pytest.approx([float(means[a] - means[b]) for a, b in pairs], abs=2e-12 * largest)
    assume(mse > 1e-12 * largest**2)
    q = np.abs(test.differences) / math.sqrt(mse / responses.shape[1])
    np.testing.assert_allclose(test.pvalues, sf(q, len(responses), test.df), rtol=2e-7)  # of 1e-9 in mse


def test_tukey_of_two_runs_is_the_paired_t_test() -> None:
    responses = drawn(2, 30)
    one = Differences(np.array([0]), np.array([1]), responses[:1] - responses[1:], np.ones((1, 30), bool))
    test, t = tukey_hsd(responses, alpha=0.1), paired_t(one, alpha=0.1)
    np.testing.assert_allclose(test.pvalues, t.pvalues, rtol=1e-10)
    np.testing.assert_allclose([test.lows, test.highs], [t.lows, t.highs], rtol=1e-9)


def test_tukey_removes_the_effect_of_queries() -> None:
    responses = drawn(6, 40)
    other = tukey_hsd(responses + 1000 * np.random.default_rng(1).normal(size=40))
    np.testing.assert_allclose(tukey_hsd(responses).pvalues, other.pvalues, rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001])
def test_tukey_decides_as_the_integral_does_however_near(alpha: float) -> None:
    """Differences are moved until q is at the critical value, or off it by a part in 10^9 or less."""
    base = drawn(4, 10, spread=0)
    base -= base.mean(axis=1, keepdims=True)
    reach = critical_value(alpha, 4, 27) * math.sqrt(tukey_hsd(base).mse / 10)
    seen = set()
    for off in (-1e-9, -1e-11, 1e-11, 1e-9):
        responses = base + np.array([[reach * (1 + off)], [0], [0], [0]])
        test = tukey_hsd(responses, alpha=alpha)
        exact = sf(np.abs(test.differences) / math.sqrt(test.mse / 10), 4, 27)
        np.testing.assert_array_equal(test.pvalues < alpha, exact < alpha)
        np.testing.assert_array_equal(test.pvalues[:3], exact[:3])  # near alpha they are integrated
        seen |= set((test.pvalues[:3] < alpha).tolist())
    assert seen == {True, False}


@quick(100)
@given(layouts(), st.sampled_from([0.5, 0.05]))
def test_an_interval_of_tukey_lacks_zero_if_p_is_below_alpha(responses: FloatArray, alpha: float) -> None:
    test = tukey_hsd(responses, alpha=alpha)
    assume((np.abs(test.pvalues - alpha) > 1e-6).all())
    is_apart = (test.lows > 0) | (test.highs < 0)
    np.testing.assert_array_equal(is_apart, test.pvalues < alpha)


def test_without_residuals_runs_are_equal_or_certainly_different() -> None:
    """a_s + b_q in decimals that no float holds: what is left of them is rounding."""
    responses = np.array([0.1, 0.7, 0.1])[:, None] + np.array([0.2, 1 / 3, 1e-3, 0.6, 0.05])
    residuals = responses - responses.mean(axis=1, keepdims=True) - responses.mean(axis=0) + responses.mean()
    assert np.abs(residuals).max() > 0
    test = tukey_hsd(responses)
    assert test.mse == 0
    assert test.pvalues.tolist() == [0, 1, 0]
    np.testing.assert_allclose(test.lows, [-0.6, 0, 0.6], atol=1e-15)
    np.testing.assert_array_equal(test.lows, test.highs)


def test_a_small_effect_is_not_taken_for_rounding() -> None:
    responses = 1 + 1e-9 * drawn(3, 30, spread=3)
    np.testing.assert_allclose(tukey_hsd(responses).pvalues, tukey_hsd(drawn(3, 30, spread=3)).pvalues, rtol=1e-3)
    assert tukey_hsd(responses).mse > 0


# What holds for both


@both
def test_runs_that_are_equal_up_to_rounding_have_p_1(method: Any) -> None:
    base = drawn(1, 50)[0]
    other = drawn(1, 50, seed=1)[0]
    equal = [base, base, np.nextafter(base, np.inf), other]
    test = method(equal)
    is_equal = test.b < 3
    assert test.differences[is_equal].tolist() == [0, 0, 0]
    assert test.pvalues[is_equal].tolist() == [1, 1, 1]
    assert (test.differences[~is_equal] != 0).all()


@both
@pytest.mark.parametrize("value", [0.0, 0.1, -7.3])
def test_if_all_runs_are_equal_all_p_are_1(method: Any, value: float) -> None:
    for responses in (np.full((4, 9), value), value + np.tile(drawn(1, 9), (4, 1))):
        assert method(responses).pvalues.tolist() == [1] * 6


@both
@pytest.mark.parametrize("scale", [2.0**-900, 2.0**500])
def test_the_unit_of_the_responses_does_not_matter(method: Any, scale: float) -> None:
    test, scaled = method(drawn(5, 20)), method(scale * drawn(5, 20))
    np.testing.assert_array_equal(scaled.pvalues, test.pvalues)
    np.testing.assert_array_equal(scaled.highs, scale * test.highs)


@both
def test_means_that_cancel_out_are_equal(method: Any) -> None:
    """0.1 + 0.2 - 0.3 is not 0, and no tolerance relative to it would say so."""
    test = method([[0.1, 0.2, -0.3], [-0.3, 0.2, 0.1], [0.2, -0.3, 0.1], [5, 5, 5]])
    assert test.differences[[0, 1, 3]].tolist() == [0, 0, 0]
    assert test.pvalues[[0, 1, 3]].tolist() == [1, 1, 1]


@both
@quick(60)
@given(layouts(), st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_nothing(method: Any, responses: FloatArray, random: Any) -> None:
    order = random.sample(range(len(responses)), len(responses))
    names = NAMES[: len(responses)]
    settings: list[dict[str, Any]] = [{}, {}]
    if method is randomized:
        settings = [{"names": names, "num_resamples": 49}, {"names": [names[s] for s in order], "num_resamples": 49}]
    one, other = method(responses, **settings[0]), method(responses[order], **settings[1])
    square = np.ix_(order, order)
    np.testing.assert_array_equal(matrix(one, one.differences, -1)[square], matrix(other, other.differences, -1))
    np.testing.assert_array_equal(matrix(one, one.pvalues)[square], matrix(other, other.pvalues))
    np.testing.assert_array_equal(matrix(one, one.highs - one.lows)[square], matrix(other, other.highs - other.lows))
    assert one.mse == other.mse or math.isnan(one.mse)


@quick(60)
@given(layouts(), st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_nothing_in_tukey(responses: FloatArray, random: Any) -> None:
    order = random.sample(range(responses.shape[1]), responses.shape[1])
    one, other = tukey_hsd(responses), tukey_hsd(responses[:, order])
    for name in ("differences", "pvalues", "lows", "highs", "mse"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@quick(60)
@given(layouts(), st.integers(1, 40), st.integers(0, 9))
def test_the_order_of_additions_changes_no_p(responses: FloatArray, block: int, seed: int) -> None:
    """Sums of the same tenths differ in their last digits if some of them are added up first."""
    whole = randomized(responses, num_resamples=49, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hsd, "_BLOCK", block)
        parts = randomized(responses, num_resamples=49, seed=seed)
    np.testing.assert_array_equal(parts.pvalues, whole.pvalues)


def test_intervals_have_no_stray_digits() -> None:
    """Spreads of tenths over five queries are fiftieths, and so are the ends."""
    test = randomized(np.random.default_rng(3).integers(0, 11, size=(4, 5)) / 10)
    for ends in (test.differences, test.lows, test.highs):
        np.testing.assert_allclose(ends, np.round(50 * ends) / 50, rtol=0, atol=1e-15)


@both
def test_queries_without_a_value_for_some_run_are_left_out_and_counted(method: Any) -> None:
    responses = drawn(4, 12)
    responses[1, 3] = responses[2, [3, 7]] = np.nan
    test, without = method(responses), tukey_hsd(np.delete(responses, [3, 7], axis=1))
    assert (test.num_queries, test.num_left_out) == (10, 2)
    np.testing.assert_array_equal(test.differences, without.differences)
    if method is tukey_hsd:
        np.testing.assert_array_equal(test.pvalues, without.pvalues)


@both
def test_without_a_query_nothing_is_known(method: Any) -> None:
    for responses in (np.empty((3, 0)), np.full((3, 2), np.nan)):
        test = method(responses)
        assert test.num_queries == 0
        assert np.isnan([test.differences, test.pvalues, test.lows, test.highs]).all()


def test_one_query_has_no_variance_but_permutations() -> None:
    one = np.array([[1.0, np.nan], [2, 1], [3, 1]])
    tukey, permuted = tukey_hsd(one), randomized(one)
    assert tukey.differences.tolist() == permuted.differences.tolist() == [-1, -2, -1]
    assert np.isnan([tukey.pvalues, tukey.lows, tukey.highs]).all()
    assert math.isnan(tukey.mse)
    assert tukey.df == 0
    # The best and the worst are 2 apart whatever the order.
    assert permuted.pvalues.tolist() == [1, 1, 1]


@both
@pytest.mark.parametrize(
    ("responses", "error", "problem"),
    [
        (np.ones((1, 5)), UsageError, "there is 1 run, but HSD compares two or more"),
        (np.array([[1, np.inf], [1, -np.inf]]), DataError, "infinite responses: 2"),
    ],
)
def test_impossible_layouts_are_refused(
    method: Any, responses: FloatArray, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        method(responses)


def test_a_layout_has_two_dimensions() -> None:
    with pytest.raises(UsageError, match=r"responses have the shape \[3\], but must be \[S, Q\], runs × queries"):
        tukey_hsd(np.ones(3))


@both
@pytest.mark.parametrize("alpha", [0, 1, math.nan])
def test_impossible_chances_are_refused(method: Any, alpha: float) -> None:
    with pytest.raises(UsageError, match="alpha is"):
        method(BY_HAND, alpha=alpha)


# The randomized test


@quick(60)
@given(layouts(), st.integers(0, 5))
def test_permutations_agree_with_the_slow_twin(responses: FloatArray, seed: int) -> None:
    num_runs, num_queries = responses.shape
    names = "abcdef"[:num_runs]
    test = randomized(responses, names=names, num_resamples=20, seed=seed)
    draws = [orders.tolist() for orders in islice(permutations_within_queries(num_queries, num_runs, seed), 20)]
    means = [fmean(row) for row in responses.tolist()]
    counts = [
        naive.num_as_spread(responses.tolist(), means[a] - means[b], draws) for a, b in zip(test.a, test.b, strict=True)
    ]
    assert test.pvalues.tolist() == [(count + 1) / 21 for count in counts]


def test_sampled_permutations_approach_all_of_them() -> None:
    layout = [[0.9, 0.4, 0.8], [0.2, 0.3, 0.7], [0.4, 0.1, 0.3]]
    every = list(naive.all_permutations_within(3, 3))
    assert len(every) == 6**3
    test = randomized(layout, num_resamples=20_000)
    for difference, pvalue in zip(test.differences, test.pvalues, strict=True):
        expected = naive.num_as_spread(layout, difference, every) / len(every)
        assert 0 < expected < 1
        assert pvalue == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 20_000))


@pytest.mark.parametrize("num_runs", [2, 3, 4])
def test_all_orders_are_equally_likely(num_runs: int) -> None:
    num_draws = 24_000
    draws = np.concatenate(list(islice(permutations_within_queries(num_draws // 10, num_runs, seed=1), 10)))
    _, counts = np.unique(draws, axis=0, return_counts=True)
    num_orders = math.factorial(num_runs)
    assert len(counts) == num_orders
    expected = num_draws / num_orders
    assert (np.abs(counts - expected) < 4 * math.sqrt(expected)).all()


def test_many_runs_are_permuted_too() -> None:
    for num_runs in (127, 128, 129, 2000):
        order = next(permutations_within_queries(3, num_runs, seed=0))
        np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(num_runs), (3, 1)))
        assert not (np.diff(order, axis=1) == 1).all(axis=1).any()


def test_of_two_runs_it_is_the_sign_flip_test() -> None:
    responses = drawn(2, 10) + np.array([[0.7], [0]])
    one = Differences(np.array([0]), np.array([1]), responses[:1] - responses[1:], np.ones((1, 10), bool))
    [exact] = randomization(one, num_resamples=2**10).pvalues
    assert 0.001 < exact < 0.5
    [sampled] = randomized(responses, num_resamples=9_999).pvalues
    assert sampled == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9_999))


def test_p_is_never_0() -> None:
    responses = drawn(4, 30) + 100 * np.arange(4)[:, None]
    assert randomized(responses, num_resamples=99).pvalues.min() == 1 / 100


def test_a_seed_gives_the_same_and_another_one_something_else() -> None:
    responses = drawn(5, 20)
    pvalues = randomized(responses, seed=3).pvalues
    np.testing.assert_array_equal(randomized(responses, seed=3).pvalues, pvalues)
    assert (randomized(responses, seed=4).pvalues != pvalues).any()


def test_a_measure_has_the_same_p_whatever_is_tested_beside_it() -> None:
    """The permutations are common, also where a measure leaves queries out."""
    with_gaps = drawn(5, 20, seed=2)
    with_gaps[2, 4] = with_gaps[3, 0] = np.nan
    measures = [drawn(5, 20), with_gaps, drawn(5, 20, seed=3)]
    together = randomized_tukey_hsd(measures, names=NAMES[:5], num_resamples=99)
    assert [test.num_left_out for test in together] == [0, 2, 0]
    for test, responses in zip(together, measures, strict=True):
        np.testing.assert_array_equal(test.pvalues, randomized(responses, num_resamples=99).pvalues)
    orders = [
        np.delete(order, [0, 4], axis=0).tolist() for order in islice(permutations_within_queries(20, 5, seed=0), 99)
    ]
    in_order = with_gaps[np.argsort(NAMES[:5])]
    layout = np.delete(in_order, [0, 4], axis=1).tolist()
    counts = [naive.num_as_spread(layout, difference, orders) for difference in together[1].differences]
    assert together[1].pvalues.tolist() == [(count + 1) / 100 for count in counts]


def test_no_measure_has_no_result() -> None:
    assert randomized_tukey_hsd([], names=["x", "y"]) == []


@pytest.mark.parametrize("alpha", [0.3, 0.07, 0.05, 0.01])
@pytest.mark.parametrize("num_resamples", [99, 100, 199])
def test_a_randomized_interval_lacks_zero_exactly_if_p_is_below_alpha(alpha: float, num_resamples: int) -> None:
    """Also where (1 + b)/(1 + B) is alpha itself, as 7/100 is."""
    seen = set()
    for seed in range(20):
        test = randomized(drawn(5, 15, seed=seed), num_resamples=num_resamples, alpha=alpha, seed=seed)
        is_apart = (test.lows > 0) | (test.highs < 0)
        np.testing.assert_array_equal(is_apart, test.pvalues < alpha)
        seen |= set(is_apart.tolist())
    assert seen == ({True, False} if 1 / (num_resamples + 1) < alpha else {False})


def test_rounding_does_not_part_an_interval_from_its_p() -> None:
    """One of two runs is better by a tenth on three queries, as it is by chance in a quarter of all cases."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        worse = rng.integers(0, 10, size=3)
        test = randomized(np.array([worse, worse + 1]) / 10)
        assert test.pvalues[0] > 0.05
        assert (test.lows[0], test.highs[0]) == (pytest.approx(-0.2), 0)


def test_too_few_permutations_bound_nothing() -> None:
    test = randomized(drawn(3, 20) + 100 * np.arange(3)[:, None], num_resamples=19)
    assert test.pvalues.min() == 0.05
    assert np.isneginf(test.lows).all()
    assert np.isposinf(test.highs).all()


def test_many_queries_are_gathered_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = randomized(drawn(5, 40))
    monkeypatch.setattr(hsd, "_BLOCK", 17)  # three queries at a time
    np.testing.assert_array_equal(randomized(drawn(5, 40)).pvalues, whole.pvalues)


def test_progress_counts_the_permutations(reported: Callable[..., list[Any]]) -> None:
    reports = reported(hsd)
    randomized(BY_HAND, num_resamples=250, show_progress=False)
    assert reports == [("permuting", 250, False), 100, 100]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"names": ["x", "y", "x"]}, "several runs are named x"),
        ({"names": ["x", "y"]}, r"responses have the shape \[3, 4\], but must be \[2, Q\]"),
        ({"num_resamples": 0}, "num_resamples is 0, but must be a whole number of at least 1"),
        ({"num_resamples": 10.0}, "num_resamples is 10.0"),
        ({"seed": -1}, "seed is -1, but must be a whole number of at least 0"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        randomized(BY_HAND, **settings)


def test_measures_need_the_same_queries() -> None:
    with pytest.raises(UsageError, match="the measures have different numbers of queries: 3, 4"):
        randomized_tukey_hsd([BY_HAND, BY_HAND[:, :3]], names=["x", "y", "z"])


# What chance alone finds


def smallest(tests: list[HSD]) -> FloatArray:
    return np.array([test.pvalues.min() for test in tests])


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_without_any_difference_tukey_finds_one_as_often_as_alpha_says(alpha: float) -> None:
    layouts = np.random.default_rng(5).normal(size=(2000, 5, 12)) + 5 * np.random.default_rng(6).normal(
        size=(2000, 1, 12)
    )
    found = (smallest([tukey_hsd(layout) for layout in layouts]) < alpha).mean()
    assert found == pytest.approx(alpha, abs=3 * math.sqrt(alpha * (1 - alpha) / 2000))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_without_any_difference_permutations_find_one_as_often_as_alpha_says(alpha: float) -> None:
    """Skewed responses, with queries of very different spread: nothing that Tukey's test assumes."""
    rng = np.random.default_rng(7)
    layouts = rng.exponential(size=(1000, 5, 12)) * 10 ** rng.uniform(-1, 1, size=(1000, 1, 12))
    tests = randomized_tukey_hsd(list(layouts), names=NAMES[:5], num_resamples=999)
    assert (smallest(tests) <= alpha).mean() == pytest.approx(alpha, abs=3 * math.sqrt(alpha * (1 - alpha) / 1000))

"""Paired tests: against scipy, against enumeration, and what holds for every one of them."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtri

import naive
from lexirecall.errors import UsageError
from lexirecall.reader import VARIABLE
from lexirecall.statistics import flips, paired, portions, signed_ranks
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.paired import (
    ADDED_UP,
    TESTS,
    PairedTests,
    default_test,
    effect_sizes,
    paired_t,
    randomization,
    sign_test,
    wilcoxon,
)
from lexirecall.statistics.proportions import preference_interval
from strategies import costly, quick

NORMAL = "asymptotic" if "asymptotic" in str(stats.wilcoxon.__doc__) else "approx"  # its name in scipy before 1.13
every_test = pytest.mark.parametrize("name", TESTS)


def of_rows(*rows: Sequence[float | None], is_signs: bool = False) -> Differences:
    """Differences of pairs, None where a query is not compared."""
    given = np.array(rows, dtype=float).reshape(len(rows), -1)
    counted = ~np.isnan(given)
    index = np.arange(len(rows))
    return Differences(index, index + 1, np.where(counted, given, 0.0), counted, is_signs)


def of_scores(scores: np.ndarray[Any, np.dtype[np.float64]]) -> Differences:
    """Differences of all pairs of runs, [S, Q]; nan where a run takes no part."""
    a, b = np.triu_indices(len(scores), 1)
    values = scores[a] - scores[b]
    return Differences(a, b, np.where(np.isnan(values), 0.0, values), ~np.isnan(values))


def swapped(differences: Differences) -> Differences:
    return Differences(
        differences.b, differences.a, -differences.values, differences.counted, is_signs=differences.is_signs
    )


@st.composite
def whole_rows(draw: st.DrawFn, most: int = 60, largest: int = 60) -> list[list[int | None]]:
    """Some pairs on the same queries, in whole numbers: with many ties or with few, and queries left out."""
    num_queries = draw(st.integers(1, most))
    bound = draw(st.sampled_from([1, 3, largest]))
    value = st.integers(-bound, bound)
    row = st.lists(st.one_of(value, value, value, st.none()), min_size=num_queries, max_size=num_queries)
    return draw(st.lists(row, min_size=1, max_size=4))


def tenths(rows: list[list[int | None]]) -> Differences:
    """The same as scores would give them: 0.30000000000000004, not 0.3."""
    return of_rows(*([None if number is None else number * 0.1 for number in row] for row in rows))


def present(row: list[int | None]) -> list[int]:
    return [number for number in row if number is not None]


# Against scipy and against definitions


@costly(200)
@given(rows=whole_rows(), alpha=st.sampled_from([0.05, 0.01, 0.3]))
def test_paired_t_is_that_of_scipy(rows: list[list[int | None]], alpha: float) -> None:
    ours = paired_t(tenths(rows), alpha=alpha)
    for pair, row in enumerate(rows):
        numbers = present(row)
        if len(set(numbers)) < 2:
            continue  # without spread; see the degenerate cases
        theirs = stats.ttest_rel(np.array(numbers) * 0.1, np.zeros(len(numbers)))
        interval = theirs.confidence_interval(1 - alpha)
        assert ours.pvalues[pair] == pytest.approx(theirs.pvalue, rel=1e-9)
        # scipy 1.11 knows its quantiles to 8 digits, of which an end near 0 shows the last ones
        assert (ours.lows[pair], ours.highs[pair]) == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-6)


@quick(200)
@given(rows=whole_rows())
def test_wilcoxon_is_that_of_scipy_without_the_zeros(rows: list[list[int | None]]) -> None:
    ours = wilcoxon(tenths(rows))
    for pair, row in enumerate(rows):
        untied = [number for number in present(row) if number]
        has_ties = len({abs(number) for number in untied}) < len(untied)
        if untied and (len(untied) > 13 or not has_ties):
            method = NORMAL if has_ties or len(untied) > 50 else "exact"
            assert ours.pvalues[pair] == pytest.approx(stats.wilcoxon(untied, method=method).pvalue, abs=1e-12)
        elif untied and len(untied) <= 10:
            assert ours.pvalues[pair] == pytest.approx(float(naive.signed_rank_pvalue(untied)), abs=1e-14)


@pytest.mark.parametrize("size", [1, 2, 13, 14, 49, 50, 51, 300])
@pytest.mark.parametrize("step", [1, 2])
def test_wilcoxon_is_exact_as_far_as_it_says(size: int, step: int) -> None:
    """Sizes 1, 2, 3 … or 1, 1, 3, 3, …: exact up to 50 without ties and up to 13 with them."""
    numbers = [((-1) ** (place % 3)) * (place // step * step + 1) for place in range(size)]
    has_ties = len({abs(number) for number in numbers}) < size
    pvalue = wilcoxon(tenths([[*numbers, 0]])).pvalues[0]
    if has_ties and size <= 13:
        assert pvalue == pytest.approx(float(naive.signed_rank_pvalue(numbers)), abs=1e-15)
    else:
        method = NORMAL if has_ties or size > 50 else "exact"
        assert pvalue == pytest.approx(stats.wilcoxon(numbers, method=method).pvalue, abs=1e-12)


@quick(60)
@given(numbers=st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_wilcoxon_is_its_definition_where_differences_are_few(numbers: list[int]) -> None:
    ours = wilcoxon(tenths([[*numbers]])).pvalues[0]
    assert ours == pytest.approx(float(naive.signed_rank_pvalue(numbers)), abs=1e-14)


def test_sizes_that_differ_by_rounding_share_their_rank() -> None:
    """.3 - .2 < .2 - .1 < .4 - .3 as floats, which says nothing about the runs."""
    scores = np.array([[0.3, 0.2, 0.3, 0.9], [0.2, 0.1, 0.4, 0.1]])
    assert len({*np.abs(scores[0] - scores[1]).tolist()}) == 4
    assert wilcoxon(of_scores(scores)).pvalues[0] == float(naive.signed_rank_pvalue([1, 1, -1, 8]))


@costly(200)
@given(rows=whole_rows(), ties=st.sampled_from(["drop", "split"]), alpha=st.sampled_from([0.05, 0.01, 0.3]))
def test_sign_test_is_the_binomial_test(rows: list[list[int | None]], ties: str, alpha: float) -> None:
    differences = tenths(rows)
    ours = sign_test(differences, ties=ties, alpha=alpha)
    assert ours.method == "sign test"
    for pair, row in enumerate(rows):
        signs = [*map(np.sign, present(row))]
        halves = signs.count(0) // 2 if ties == "split" else 0
        wins, losses = signs.count(1) + halves, signs.count(-1) + halves
        if not signs:
            assert math.isnan(ours.pvalues[pair])
            continue
        split = signs.count(0) if ties == "split" else 0
        exact = naive.sign_test_pvalue(signs.count(1), signs.count(-1), split)
        assert ours.pvalues[pair] == pytest.approx(float(exact), rel=1e-12)
        if wins + losses:
            assert ours.pvalues[pair] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


@quick(150)
@given(rows=whole_rows(), alpha=st.sampled_from([0.05, 0.2]))
def test_the_interval_of_the_sign_test_is_tangos_of_one_size_and_by_t_where_many_queries_decide(
    rows: list[list[int | None]], alpha: float
) -> None:
    differences = tenths(rows)
    by_t = paired_t(differences, alpha=alpha)
    for one in (sign_test(differences, alpha=alpha), randomization(differences, alpha=alpha, num_resamples=20)):
        for pair, row in enumerate(rows):
            values = present(row)
            sizes, found = {abs(d) for d in values} - {0}, (one.lows[pair], one.highs[pair])
            if len(sizes) == 1 and sum(d != 0 for d in values) >= 8:
                wins, losses = sum(d > 0 for d in values), sum(d < 0 for d in values)
                ends = naive.tango(wins, losses, len(values), -ndtri(alpha / 2))
                assert found == pytest.approx([min(sizes) / 10 * end for end in ends], abs=1e-9)
            elif not sizes or naive.effective_queries(values) < 8:  # type: ignore[operator]
                assert np.isnan(found).all()
            else:
                assert found == (by_t.lows[pair], by_t.highs[pair])


@costly(100)
@given(rows=whole_rows(), alpha=st.sampled_from([0.05, 0.2, 0.6]))
def test_an_interval_by_t_lacks_zero_exactly_if_p_is_below_alpha(rows: list[list[int | None]], alpha: float) -> None:
    """Also if all differences are equal: then there is an interval only if p is below alpha."""
    test = paired_t(tenths(rows), alpha=alpha)
    assume(not np.isclose(test.pvalues, alpha, atol=1e-9).any())
    lacks_zero = (test.lows > 1e-12) | (test.highs < -1e-12)
    assert lacks_zero.tolist() == (test.pvalues < alpha).tolist()
    assert not test.disagrees(alpha)[np.abs(test.lows) > 1e-12].any()


# The pseudomedian


@quick(150)
@given(rows=whole_rows())
def test_the_estimate_of_wilcoxon_is_the_median_of_walsh_averages(rows: list[list[int | None]]) -> None:
    ours = wilcoxon(tenths(rows))
    for pair, row in enumerate(rows):
        numbers = [number * 0.1 for number in present(row)]
        if numbers:
            assert ours.estimates[pair] == pytest.approx(naive.pseudomedian(numbers), abs=1e-12)
        else:
            assert math.isnan(ours.estimates[pair])


@quick(60)
@given(
    numbers=st.lists(st.integers(1, 500), min_size=1, max_size=7, unique=True),
    signs=st.lists(st.sampled_from([-1, 1]), min_size=7, max_size=7),
    alpha=st.sampled_from([0.05, 0.2, 0.3, 0.6]),
)
def test_the_interval_of_wilcoxon_holds_every_middle_that_is_not_rejected(
    numbers: list[int], signs: list[int], alpha: float
) -> None:
    signed = [number * sign for number, sign in zip(numbers, signs, strict=False)]
    expected = naive.middles_not_rejected(signed, alpha)
    ours = wilcoxon(of_rows([*map(float, signed), 0.0]), alpha=alpha)
    assert (ours.lows[0], ours.highs[0]) == pytest.approx(expected or (math.nan, math.nan), nan_ok=True)


@quick(100)
@given(
    numbers=st.lists(st.integers(1, 10_000), min_size=1, max_size=70, unique=True),
    signs=st.integers(0, 2**70),
    alpha=st.sampled_from([0.0625, 0.05, 0.01, 0.3]),
)
def test_it_lacks_zero_exactly_if_p_is_below_alpha_without_equal_sizes(
    numbers: list[int], signs: int, alpha: float
) -> None:
    """Where p is exact, and beyond 50 differences, where it is normal."""
    row = [number * (0.1 if signs >> place & 1 else -0.1) for place, number in enumerate(numbers)]
    test = wilcoxon(of_rows(row, [-each for each in row]), alpha=alpha)
    assume(not np.isclose(test.pvalues[0], alpha, atol=1e-12) or len(row) <= 50)
    lacks_zero = (test.lows > 0) | (test.highs < 0)
    assert lacks_zero.tolist() == (test.pvalues < alpha).tolist()
    assert not test.disagrees(alpha).any()


@pytest.mark.parametrize("size", [1, 2, 3, 17, 50, 51, 120])
@pytest.mark.parametrize("kind", ["distinct", "rounded", "signs", "constant"])
def test_averages_are_found_without_making_all_of_them(size: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(size).normal(0.2, 1, (4, size))
    rounded = {"rounded": np.round(values, 1), "signs": np.sign(values), "constant": np.full_like(values, 0.1)}
    values = rounded.get(kind, values)
    whole = signed_ranks.pseudomedians(values)
    monkeypatch.setenv(VARIABLE, "python")
    np.testing.assert_array_equal(signed_ranks.pseudomedians(values), whole)
    monkeypatch.setattr(signed_ranks, "_MOST_AT_ONCE", 0)
    np.testing.assert_array_equal(signed_ranks.pseudomedians(values), whole)
    places = np.unique([0, size // 2, size * (size + 1) // 2 - 1])
    expected = [sorted(2 * each for each in naive.walsh_averages([*filter(None, row)])) for row in values.tolist()]
    for row, sums in zip(np.sort(values, axis=1), expected, strict=True):
        if row.all():
            assert [signed_ranks._sum_at(row, place) for place in places] == [sums[place] for place in places]


def test_averages_that_differ_from_zero_by_rounding_are_zero() -> None:
    """.3 - .2 and -(.2 - .1) add up to 1e-17."""
    row = [0.3 - 0.2, 0.1 - 0.2]
    assert sum(row) != 0
    assert wilcoxon(of_rows(row)).estimates[0] == 0


@pytest.mark.parametrize("alpha", [0.05, 0.01, "attained"])
@pytest.mark.parametrize("n", [8, 20, 50, 51, 60, 249])
def test_the_ends_of_the_interval_are_where_p_reaches_alpha(n: int, alpha: float | str) -> None:
    """Where the negative ranks add up to k, p is not below alpha, and with one less it is; alpha may be such a p."""
    level = 2 * signed_ranks.rank_sum_chances()[8, 3] if isinstance(alpha, str) else alpha
    end = signed_ranks._places(n, level)[1]
    below, at = (wilcoxon(of_rows(ranks_with(n, total))).pvalues[0] for total in (end - 1, end))
    assert below < level <= at


def ranks_with(n: int, total: int) -> list[float]:
    """The ranks 1 … n, of which negative ones add up to the total."""
    row = []
    for rank in range(n, 0, -1):
        is_negative = rank <= total
        total -= rank * is_negative
        row.append(-float(rank) if is_negative else float(rank))
    assert total == 0
    return row


def test_only_wilcoxon_of_sizes_has_an_estimate() -> None:
    rows = [1.0, -1.0, 1.0, 1.0]
    assert not np.isnan(wilcoxon(of_rows(rows)).estimates).any()
    assert np.isnan(wilcoxon(of_rows(rows, is_signs=True)).estimates).all()
    assert all(np.isnan(TESTS[name](of_rows(rows)).estimates).all() for name in TESTS if name != "wilcoxon")


# The interval of a mean preference


@costly(80)
@given(
    counts=st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)),
    alpha=st.sampled_from([0.05, 0.01, 0.3]),
)
def test_the_interval_of_a_mean_preference_is_that_of_the_score_test(
    counts: tuple[int, int, int], alpha: float
) -> None:
    wins, losses, n = counts[0], counts[1], sum(counts)
    assume(n)
    expected = naive.tango(wins, losses, n, float(stats.norm.isf(alpha / 2)))
    low, high = preference_interval(np.array([wins]), np.array([losses]), np.array([n]), alpha=alpha)
    assert (low[0], high[0]) == pytest.approx(expected, abs=1e-9)
    assert -1 <= low[0] <= (wins - losses) / n <= high[0] <= 1


@quick(200)
@given(counts=st.tuples(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300)))
def test_it_lacks_zero_exactly_if_mcnemars_test_rejects(counts: tuple[int, int, int]) -> None:
    """So the number of ties does not decide; and the ends are mirrored exactly."""
    wins, losses = counts[:2]
    assume(wins + losses)
    given = np.array([wins, losses]), np.array([losses, wins]), np.full(2, sum(counts))
    low, high = preference_interval(*given)
    assert (low[0], high[0]) == (-high[1], -low[1])
    score = (wins - losses) ** 2 / (wins + losses)
    assert ((low[0] > 0) or (high[0] < 0)) == (score > stats.norm.isf(0.025) ** 2)


@pytest.mark.parametrize("n", [1, 10, 500])
def test_without_a_win_or_a_loss_the_interval_is_not_empty(n: int) -> None:
    z = stats.norm.isf(0.025)
    low, high = preference_interval(np.array([0]), np.array([0]), np.array([n]))
    assert (low[0], high[0]) == pytest.approx((-(z**2) / (n + z**2), z**2 / (n + z**2)), rel=1e-12)


@every_test
def test_signs_have_the_interval_of_the_mean_preference_under_every_test(name: str) -> None:
    differences = of_rows([1.0] * 9 + [-1.0] * 2, [1.0] * 5 + [0.0] * 6, [None] * 11, is_signs=True)
    test = TESTS[name](differences)
    expected = preference_interval(np.array([9, 5, 0]), np.array([2, 0, 0]), np.array([11, 11, 0]))
    np.testing.assert_array_equal((test.lows, test.highs), expected)
    assert np.isnan(test.lows[2])


def test_the_interval_of_a_mean_preference_covers_as_often_as_it_says() -> None:
    """Half of the queries tied, three of four others won: 95% ± 3.5 standard errors of 4,000 samples."""
    chances = np.random.default_rng(5).multinomial(50, [0.375, 0.125, 0.5], size=4000)
    low, high = preference_interval(chances[:, 0], chances[:, 1], np.full(4000, 50))
    share = ((low <= 0.25) & (high >= 0.25)).mean()
    assert abs(share - 0.95) < 3.5 * math.sqrt(0.05 * 0.95 / 4000)


def test_a_test_tells_where_its_interval_disagrees() -> None:
    """9:2 has p .035 by the score test and .065 by the binomial test; ties change neither."""
    won = [1.0] * 9 + [-1.0] * 2
    rows: list[list[float | None]] = [[*won, 0.0], [1.0] * 12, [1.0, -1.0] * 6, [None] * 12]
    test = sign_test(of_rows(*rows, is_signs=True))
    assert test.pvalues[0] == pytest.approx(0.0654, abs=1e-4)
    assert test.lows[0] > 0
    assert test.disagrees(0.05).tolist() == [True, False, False, False]
    assert test.disagrees(0.1).tolist() == [False] * 4
    unknown = np.full(1, np.nan)
    assert PairedTests(np.array([0.01]), unknown, unknown, 0, "", unknown, unknown > 0).disagrees(0.05).tolist() == [
        False
    ]


@pytest.mark.parametrize("n", [2, 5, 6, 40, 2000])
def test_equal_differences_are_as_rare_as_flips_of_their_signs(n: int) -> None:
    """t would be infinite. An interval without width would be as sure as that."""
    test = paired_t(of_rows([0.25] * n, [-0.25] * n))
    assert test.pvalues.tolist() == [2.0 ** (1 - n)] * 2
    expected = [0.25, -0.25] if 2.0 ** (1 - n) < 0.05 else [math.nan] * 2
    np.testing.assert_array_equal((test.lows, test.highs), [expected, expected])


@quick(100)
@given(rows=whole_rows(most=8))
def test_exact_randomization_is_the_share_of_all_flips(rows: list[list[int | None]]) -> None:
    """In tenths: .1 + .2 and .3 are equal sums, though not equal floats."""
    assume(any(present(row) for row in rows))
    compared = sum(any(number is not None for number in column) for column in zip(*rows, strict=True))
    ours = randomization(tenths(rows))
    assert ours.method == "sign-flip randomization, exact"
    assert ours.num_resamples == 2**compared
    for pair, row in enumerate(rows):
        if present(row):
            assert ours.pvalues[pair] == float(naive.share_of_flips(present(row)))


def test_randomization_is_exact_up_to_the_number_of_resamples() -> None:
    row: list[float | None] = [1.0, 2.0, 3.0, -1.0, None]
    assert randomization(of_rows(row), num_resamples=16).method == "sign-flip randomization, exact"
    sampled = randomization(of_rows(row), num_resamples=15)
    assert (sampled.method, sampled.num_resamples) == ("sign-flip randomization, 15 samples", 15)


# Randomization by samples


def scores_of(seed: int, num_runs: int, num_queries: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.1, (num_runs, 1))
    scores = np.round(rng.normal(0.5, 0.2, (num_runs, num_queries)) + quality, 2)
    return np.where(rng.random(scores.shape) < 0.05, np.nan, scores)


def test_sampled_randomization_comes_near_the_exact_one() -> None:
    differences = of_scores(scores_of(1, 12, 15))
    exact = randomization(differences, num_resamples=2**15)
    sampled = randomization(differences, num_resamples=20_000)
    assert exact.method.endswith("exact")
    assert sampled.method.endswith("20,000 samples")
    error = np.sqrt(exact.pvalues * (1 - exact.pvalues) / 20_000) + 1 / 20_000
    assert (np.abs(sampled.pvalues - exact.pvalues) <= 4 * error).all()
    assert (sampled.pvalues != exact.pvalues).any()


def test_sampled_randomization_is_never_certain() -> None:
    """(b + 1)/(B + 1): the observed signs are one of the ways to flip them."""
    differences = of_rows([1.0] * 40, [0.0] * 39 + [1.0])
    assert randomization(differences, num_resamples=99).pvalues.tolist() == [1 / 100, 1]


def test_flips_are_the_bits_of_the_generator() -> None:
    """One query after another, 64 to a word, so that p-values last as long as numpy's promise for raw bits."""
    differences = of_scores(scores_of(2, 3, 70))
    generator = np.random.PCG64(7)
    extreme = np.zeros(3, int)
    for _ in range(50):
        word = int(generator.random_raw()) | int(generator.random_raw()) << 64
        signs = np.array([-1 if word >> query & 1 else 1 for query in range(70)])
        sums = np.abs(differences.values @ signs)
        extreme += sums >= np.abs(differences.values.sum(axis=1)) - 1e-9
    assert randomization(differences, num_resamples=50, seed=7).pvalues.tolist() == ((extreme + 1) / 51).tolist()


def test_a_seed_gives_the_same_p_again_and_another_seed_another() -> None:
    differences = of_scores(scores_of(3, 5, 30))
    first, again, other = (randomization(differences, num_resamples=500, seed=seed) for seed in (0, 0, 1))
    assert first.pvalues.tolist() == again.pvalues.tolist() != other.pvalues.tolist()


def test_the_flips_of_a_query_do_not_depend_on_which_others_are_compared() -> None:
    """So the same flips serve every measure, even one that is not defined on all queries."""
    scores = scores_of(4, 2, 40)
    scores[:, 5:9] = 0.5
    tied = of_scores(scores)
    scores[:, 5:9] = np.nan
    undefined = of_scores(scores)
    ours = [randomization(one, num_resamples=300).pvalues[0] for one in (tied, undefined)]
    assert tied.num_queries[0] > undefined.num_queries[0]
    assert ours[0] == ours[1] < 1


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_the_size_of_blocks_changes_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = of_scores(scores_of(5, 7, 33)), of_scores(scores_of(6, 7, 6))

    def pvalues() -> list[list[float]]:
        sampled = randomization(wide, num_resamples=77)
        return [test.pvalues.tolist() for test in (sampled, randomization(narrow), wilcoxon(wide), wilcoxon(narrow))]

    whole, averages = pvalues(), signed_ranks.pseudomedians(wide.values)
    monkeypatch.setattr(flips, "_BLOCK", size)
    monkeypatch.setattr(signed_ranks, "_BLOCK", size)
    monkeypatch.setattr(paired, "_RANKED", size)
    monkeypatch.setattr(portions, "_PORTION", size)
    assert pvalues() == whole
    np.testing.assert_array_equal(signed_ranks.pseudomedians(wide.values), averages)


@pytest.mark.parametrize("num_resamples", [300, 2**12])
def test_flips_and_averages_are_reported_as_they_are_made(
    num_resamples: int, monkeypatch: pytest.MonkeyPatch, reported: Callable[..., list[Any]]
) -> None:
    """All of them, and in blocks: sampled, or every pattern of eleven queries."""
    for module in (flips, signed_ranks):
        monkeypatch.setattr(module, "_BLOCK", 1000)
    differences = of_scores(np.nan_to_num(scores_of(7, 6, 11)))
    reports = reported(paired)
    for test, label in (
        (partial(randomization, num_resamples=num_resamples), "flipping signs"),
        (wilcoxon, "averaging"),
    ):
        reports.clear()
        test(differences)
        (named, total, _), *units = reports
        assert (named, sum(units)) == (label, total)
        assert len(units) > 1


# What holds for every test


@every_test
@quick(60)
@given(rows=whole_rows(most=20))
def test_exchanging_two_runs_keeps_p_and_mirrors_the_interval(name: str, rows: list[list[int | None]]) -> None:
    differences = tenths(rows)
    ours, theirs = TESTS[name](differences), TESTS[name](swapped(differences))
    np.testing.assert_array_equal(ours.pvalues, theirs.pvalues)
    np.testing.assert_array_equal(ours.lows, -theirs.highs)
    np.testing.assert_array_equal(ours.highs, -theirs.lows)
    np.testing.assert_array_equal(ours.estimates, -theirs.estimates)
    np.testing.assert_array_equal(differences.means, -swapped(differences).means)


@every_test
def test_the_order_of_runs_does_not_matter(name: str) -> None:
    scores = scores_of(8, 9, 40)
    order = np.random.default_rng(9).permutation(9)
    ours, theirs = of_scores(scores), of_scores(scores[order])
    expected = dict(zip(map(frozenset, zip(ours.a, ours.b, strict=True)), TESTS[name](ours).pvalues, strict=True))
    for a, b, pvalue in zip(theirs.a, theirs.b, TESTS[name](theirs).pvalues, strict=True):
        assert pvalue == expected[frozenset((order[a], order[b]))]


@every_test
@quick(60)
@given(rows=whole_rows(most=20))
def test_p_is_a_probability_and_the_interval_holds_the_mean(name: str, rows: list[list[int | None]]) -> None:
    differences = tenths(rows)
    test = TESTS[name](differences)
    defined = ~np.isnan(test.pvalues)
    assert ((test.pvalues >= 0) & (test.pvalues <= 1))[defined].all()
    means = test.estimates if name == "wilcoxon" else differences.means
    known = ~np.isnan(test.lows)
    assert ((test.lows <= means + 1e-12) & (means <= test.highs + 1e-12))[known].all()


@every_test
def test_tests_of_pairs_do_not_look_at_each_other(name: str) -> None:
    rows: list[list[float | None]] = [[0.1] * 20, [0.1, -0.2] * 10, [0.3, None, 0.1, -0.1] * 5, [None] * 20]
    together = TESTS[name](of_rows(*rows)).pvalues
    for row, pvalue in zip(rows[:3], together[:3], strict=True):
        assert TESTS[name](of_rows(row)).pvalues[0] == pvalue


@every_test
def test_degenerate_cases_are_defined(name: str) -> None:
    """Identical runs, no query in common, one query, all differences equal."""
    test = TESTS[name](of_rows([0.0] * 8, [None] * 8, [0.5] + [None] * 7, [0.0] + [None] * 7, [0.1] * 8, [-0.1] * 8))
    needs_variance = name == "t"
    one = np.nan if needs_variance else 1.0
    expected = [1.0, np.nan, one, one, 2 / 2**8, 2 / 2**8]
    np.testing.assert_array_equal(test.pvalues, expected)
    by_wins = name in ("sign", "randomization")  # no interval of a mean without a difference
    assert (str(test.lows[0]), str(test.highs[0])) == (("nan", "nan") if by_wins else ("0.0", "0.0"))  # not -0.0
    assert np.isnan([test.lows[1], test.highs[1]]).all()
    assert test.lows[4] == -test.highs[5]
    assert np.isnan([test.lows[2], test.highs[2]]).all()
    assert test.highs[4] == pytest.approx(0.1)
    assert test.lows[4] == pytest.approx(0.1 * naive.tango(8, 0, 8, -ndtri(0.025))[0] if by_wins else 0.1)


@every_test
@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (3, 0)])
def test_no_pairs_or_no_queries_are_no_error(name: str, shape: tuple[int, int]) -> None:
    index = np.arange(shape[0])
    test = TESTS[name](Differences(index, index + 1, np.zeros(shape), np.ones(shape, bool)))
    assert test.pvalues.shape == test.lows.shape == test.highs.shape == shape[:1]
    assert np.isnan(test.pvalues).all()


@every_test
def test_a_test_says_what_it_is(name: str) -> None:
    test = TESTS[name](of_rows([1.0, -2.0, 3.0]))
    words = {"t": "paired t", "wilcoxon": "Wilcoxon signed rank", "sign": "sign test"}
    assert test.method == words.get(name, "sign-flip randomization, exact")
    assert test.num_resamples == (8 if name == "randomization" else 0)


@every_test
@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5, math.nan])
def test_alpha_is_above_0_and_below_1(name: str, alpha: float) -> None:
    with pytest.raises(UsageError, match=r"alpha is .*, but must be above 0 and below 1"):
        TESTS[name](of_rows([1.0, 2.0]), alpha=alpha)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"num_resamples": 0}, "num_resamples is 0, but must be a whole number of at least 1"),
        ({"num_resamples": 1e4}, "num_resamples is 10000.0"),
        ({"seed": -1}, "seed is -1, but must be a whole number of at least 0"),
        ({"seed": None}, "seed is None"),
    ],
)
def test_counts_are_whole_numbers(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        randomization(of_rows([1.0, 2.0]), **arguments)


def test_ties_are_dropped_or_split() -> None:
    with pytest.raises(UsageError, match="ties is 'half', but must be one of drop, split"):
        sign_test(of_rows([1.0, 2.0]), ties="half")


def test_of_an_odd_number_of_ties_one_is_dropped() -> None:
    even, odd = of_rows([1.0] * 7 + [0.0] * 4), of_rows([1.0] * 7 + [0.0] * 5)
    assert sign_test(even, ties="split").pvalues == sign_test(odd, ties="split").pvalues
    assert sign_test(even, ties="split").pvalues[0] == pytest.approx(float(naive.sign_test_pvalue(9, 2)))
    assert sign_test(odd).pvalues[0] == 2 / 2**7


# Effect sizes, and which test for what


def test_the_default_test_is_the_sign_test_for_signs_and_t_for_sizes() -> None:
    assert default_test(of_rows([1.0, -1.0], is_signs=True)) == "sign"
    assert default_test(of_rows([1.0, -1.0])) == "t"


def test_effect_sizes_are_the_mean_by_the_spread() -> None:
    rows: list[list[float | None]] = [[1.0, 2.0, 3.0], [0.0] * 3, [0.1] * 3, [-0.1] * 3, [1.0, None, None], [None] * 3]
    np.testing.assert_array_equal(effect_sizes(of_rows(*rows)), [2, 0, np.inf, -np.inf, np.nan, np.nan])


def test_effect_sizes_of_signs_are_the_probability_of_superiority() -> None:
    rows: list[list[float | None]] = [[1.0, 0.0, -1.0, 1.0], [0.0] * 4, [1.0, None, None, None], [None] * 4]
    np.testing.assert_array_equal(effect_sizes(of_rows(*rows, is_signs=True)), [0.625, 0.5, 1, np.nan])


# Errors, over many samples in which nothing differs


@pytest.mark.parametrize(("name", "least"), [("t", 0.034), ("wilcoxon", 0.034), ("randomization", 0.034), ("sign", 0)])
def test_alarms_are_as_rare_as_alpha_says(name: str, least: float) -> None:
    """2,000 pairs that do not differ: 5% ± 3.5 standard errors; the sign test is discrete, and rarer."""
    values = np.random.default_rng(11).normal(size=(2000, 30))
    differences = of_rows(*values.tolist())
    settings = {"num_resamples": 1000} if name == "randomization" else {}
    share = (TESTS[name](differences, **settings).pvalues < 0.05).mean()
    assert least <= share <= 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize("name", ["t", "wilcoxon", "sign"])
def test_holm_keeps_the_chance_of_any_false_alarm_below_alpha(name: str) -> None:
    """400 collections of 20 equal runs and 50 queries; without a correction, most raise a false alarm."""
    rng = np.random.default_rng(12)
    alarms = {"holm": 0, "none": 0}
    for _ in range(400):
        pvalues = TESTS[name](of_scores(rng.normal(size=(20, 50)))).pvalues
        for method in alarms:
            alarms[method] += int((correct(pvalues, method) < 0.05).any())
    assert alarms["holm"] / 400 <= 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / 400)
    assert alarms["holm"] > 0 or name == "sign"
    assert alarms["none"] / 400 > 0.5


SIZES = st.one_of(st.none(), st.floats(-1, 1), st.sampled_from([0.1, 1 / 3, 1e-20, 1e6, 0.0]))


@pytest.mark.parametrize("name", ADDED_UP)
@given(rows=st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=20), data=st.data())
def test_the_order_of_queries_does_not_show(
    name: str, rows: list[tuple[float | None, ...]], data: st.DataObject
) -> None:
    whole = of_rows(*zip(*rows, strict=True))
    summary = of_rows(*zip(*data.draw(st.permutations(rows)), strict=True))
    expected, found = TESTS[name](whole), TESTS[name](summary)
    for which in ("pvalues", "lows", "highs"):
        np.testing.assert_array_equal(getattr(found, which), getattr(expected, which))
    np.testing.assert_array_equal(effect_sizes(summary), effect_sizes(whole))
    np.testing.assert_array_equal(summary.deviations, whole.deviations)

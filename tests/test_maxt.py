"""Max-T: a family by hand, the slow twin with every pattern and with drawn ones, and what holds for any family."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall.errors import UsageError
from lexirecall.statistics import maxt
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.maxt import MaxT, max_t, max_t_of_values
from lexirecall.statistics.paired import randomization
from strategies import quick


def of_rows(rows: Any, counted: Any = None, unit: float = 1.0, *, is_signs: bool = True) -> Differences:
    """Whatever their sizes, the differences are flipped as signs are, unless they are values."""
    values = np.array(rows, float) * unit
    index = np.arange(len(values))
    return Differences(index, index + 1, values, np.ones(values.shape, bool) if counted is None else counted, is_signs)


def of_scores(
    num_runs: int, num_queries: int, seed: int = 0, spread: float = 0.3, *, is_signs: bool = True
) -> Differences:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(num_runs, num_queries)) + spread * rng.normal(size=(num_runs, 1))
    a, b = np.triu_indices(num_runs, 1)
    return Differences(a, b, scores[a] - scores[b], np.ones((len(a), num_queries), bool), is_signs)


@st.composite
def families(draw: st.DrawFn, most: int = 7) -> list[list[int]]:
    """A few pairs on the same queries, in whole numbers: much is equal, and some pairs are alike or opposite."""
    num_queries, bound = draw(st.integers(1, most)), draw(st.sampled_from([1, 3, 50]))
    row = st.lists(st.integers(-bound, bound), min_size=num_queries, max_size=num_queries)
    rows = draw(st.lists(row, min_size=1, max_size=4))
    return [*rows, [-d for d in rows[0]]] if draw(st.booleans()) else rows


def expected(rows: list[list[int]], patterns: list[tuple[int, ...]], added: int, test: MaxT) -> list[float]:
    counts = naive.max_t_counts(rows, patterns)
    pvalues = [Fraction(count + added, len(patterns) + added) for count in counts]
    return [float(p) for p in naive.step_down(pvalues, test.statistics.tolist())]


def test_a_family_by_hand() -> None:
    """Two pairs on two queries. (3, 4): 7/5. (1, 0): 1/1, whatever the signs.

    The first has |±3 ± 4| = 7, 1, 1, 7 of 5; the larger of both is 7/5, 1, 1, 7/5: p = 2/4. The second has always 1.
    """
    test = max_t(of_rows([[3, 4], [1, 0]]))
    assert test.statistics.tolist() == pytest.approx([7 / 5, 1])
    assert (test.pvalues.tolist(), test.num_resamples) == ([0.5, 1], 4)
    assert test.method == "step-down max-T, all 4 sign patterns"


@quick(150)
@given(families())
def test_all_patterns_agree_with_the_slow_twin(rows: list[list[int]]) -> None:
    test = max_t(of_rows(rows, unit=0.1))  # 0.30000000000000004, not 0.3
    patterns = list(product((1, -1), repeat=len(rows[0])))
    assert test.pvalues.tolist() == expected(rows, patterns, 0, test)


@quick(60)
@given(families(most=70), st.integers(0, 3))
def test_drawn_patterns_agree_with_the_slow_twin(rows: list[list[int]], seed: int) -> None:
    """They are the bits of the generator, 64 queries to a word."""
    num_queries = len(rows[0])
    test = max_t(of_rows(rows, unit=0.1), num_resamples=1 if num_queries < 5 else 20, seed=seed)
    if test.num_resamples == 2**num_queries:
        return
    bits, patterns = np.random.PCG64(seed), []
    for _ in range(test.num_resamples):
        word = sum(int(bits.random_raw()) << 64 * k for k in range(-(-num_queries // 64)))
        patterns.append(tuple(-1 if word >> query & 1 else 1 for query in range(num_queries)))
    assert test.pvalues.tolist() == expected(rows, patterns, 1, test)


def test_of_a_single_pair_it_is_the_randomization_test() -> None:
    for num_queries in (9, 40):
        one = of_scores(2, num_queries)
        assert max_t(one).pvalues.tolist() == randomization(one, num_resamples=10_000).pvalues.tolist()


def test_no_pair_is_surer_than_by_itself() -> None:
    family = of_scores(5, 30)
    alone = randomization(family, num_resamples=10_000).pvalues
    together = max_t(family).pvalues
    assert (together >= alone).all()
    assert (together > alone).any()


@quick(60)
@given(families(), st.randoms(use_true_random=False))
def test_neither_the_order_of_pairs_nor_their_direction_matters(rows: list[list[int]], random: Any) -> None:
    order = random.sample(range(len(rows)), len(rows))
    turned = [[-d for d in rows[k]] if random.random() < 0.5 else rows[k] for k in order]
    test, other = max_t(of_rows(rows, unit=0.1)), max_t(of_rows(turned, unit=0.1))
    assert other.pvalues.tolist() == test.pvalues[order].tolist()


@quick(60)
@given(families(), st.randoms(use_true_random=False))
def test_the_order_of_queries_does_not_matter_if_all_patterns_are_tried(rows: list[list[int]], random: Any) -> None:
    order = random.sample(range(len(rows[0])), len(rows[0]))
    test, other = max_t(of_rows(rows, unit=0.1)), max_t(of_rows(np.array(rows)[:, order], unit=0.1))
    assert other.pvalues.tolist() == test.pvalues.tolist()


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**500, 1e-200])
def test_the_unit_of_a_pair_does_not_matter(scale: float) -> None:
    family = of_scores(4, 20)
    units = np.where(np.arange(6) % 2 == 0, scale, 1.0)[:, None]
    scaled = Differences(family.a, family.b, family.values * units, family.counted, is_signs=True)
    assert max_t(scaled).pvalues.tolist() == max_t(family).pvalues.tolist()


def test_a_pair_that_surely_differs_leaves_the_others_as_they_are() -> None:
    """Step-down: what is found first is not in the maximum of what is tested next."""
    family = of_scores(3, 12, spread=0)
    sure = np.vstack([family.values, np.ones(12)])
    test = max_t(of_rows(sure))
    assert test.pvalues[3] == 2 / 2**12
    np.testing.assert_array_equal(test.pvalues[:3], max_t(of_rows(family.values)).pvalues)


def test_pairs_that_tie_everywhere_have_p_1_and_those_without_a_query_none() -> None:
    counted = np.ones((3, 8), bool)
    counted[2] = False
    test = max_t(of_rows([[1.0] * 8, [0.0] * 8, [0.0] * 8], counted))
    assert test.pvalues[:2].tolist() == [2 / 2**8, 1]
    assert np.isnan(test.pvalues[2])
    assert test.statistics[1] == 0


def test_a_single_query_is_no_evidence() -> None:
    assert max_t(of_rows([[0.5], [0.1]])).pvalues.tolist() == [1, 1]


def test_nothing_to_test_has_no_result() -> None:
    assert max_t(of_rows(np.empty((0, 3)))).pvalues.tolist() == []
    assert np.isnan(max_t(of_rows(np.empty((2, 0)))).pvalues).all()


def test_p_is_never_0_and_a_seed_gives_the_same_again() -> None:
    family = of_scores(4, 40, spread=9)
    assert max_t(family, num_resamples=99).pvalues.min() == 1 / 100
    near = of_scores(4, 40)
    first, again, other = (max_t(near, num_resamples=500, seed=seed).pvalues.tolist() for seed in (3, 3, 4))
    assert first == again != other


def test_the_size_of_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = max_t(of_scores(6, 33), num_resamples=300).pvalues
    for size in (1, 700, 5000):
        monkeypatch.setattr(maxt, "_BLOCK", size)
        np.testing.assert_array_equal(max_t(of_scores(6, 33), num_resamples=300).pvalues, whole)
    monkeypatch.setattr("lexirecall.statistics.flips._BLOCK", 1000)
    np.testing.assert_array_equal(max_t(of_scores(6, 33), num_resamples=300).pvalues, whole)


def test_progress_counts_the_patterns(monkeypatch: pytest.MonkeyPatch, reported: Callable[..., list[Any]]) -> None:
    reports = reported(maxt)
    monkeypatch.setattr("lexirecall.statistics.flips._BLOCK", 3000)
    max_t(of_scores(3, 30), num_resamples=250, show_progress=False)
    assert reports == [("flipping signs", 250, False), 100, 100, 50]


@pytest.mark.parametrize(
    ("settings", "problem"), [({"num_resamples": 0}, "num_resamples is 0"), ({"seed": -1}, "seed")]
)
def test_impossible_settings_are_refused(settings: dict[str, int], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        max_t(of_scores(2, 5), **settings)  # type: ignore[arg-type]


# Values


def drawn_of(num_queries: int, num_samples: int, seed: int) -> list[list[int]]:
    bits = np.random.PCG64(seed)
    words = iter(lambda: int(bits.random_raw()), None)
    return [naive.drawn_below(num_queries, num_queries, words) for _ in range(num_samples)]


@st.composite
def value_families(draw: st.DrawFn) -> list[list[int | None]]:
    """A few pairs in whole numbers on the same queries, on some of which some are not compared."""
    num_queries = draw(st.integers(8, 14))
    cells = draw(st.sampled_from([st.integers(-9, 20), st.one_of(st.none(), st.integers(-9, 20))]))
    return draw(st.lists(st.lists(cells, min_size=num_queries, max_size=num_queries), min_size=1, max_size=4))


def is_inside(row: list[int | None]) -> bool:
    values = [d for d in row if d is not None]
    return len(set(values)) > 1 and (naive.effective_queries(values) or 0) >= 8


@quick(150)
@given(value_families(), st.integers(0, 3))
def test_a_bootstrap_of_values_agrees_with_the_slow_twin(rows: list[list[int | None]], seed: int) -> None:
    counted = np.array([[d is not None for d in row] for row in rows])
    values = np.array([[0 if d is None else d for d in row] for row in rows], float)
    test = max_t(of_rows(values, counted, 0.1, is_signs=False), num_resamples=30, seed=seed)
    inside = [k for k, row in enumerate(rows) if is_inside(row)]
    assert np.isnan(test.pvalues).tolist() == [k not in inside for k in range(len(rows))]
    compared = np.flatnonzero(counted.any(axis=0)).tolist()
    draws = [[compared[q] for q in drawn] for drawn in drawn_of(len(compared), 30, seed)]
    counts = naive.studentized_counts([rows[k] for k in inside], draws)
    pvalues = naive.step_down([Fraction(count + 1, 31) for count in counts], test.statistics[inside].tolist())
    assert test.pvalues[inside].tolist() == [float(p) for p in pvalues]


def test_intervals_of_values_reach_as_far_as_the_largest_statistics_of_samples() -> None:
    """Of 19 samples and alpha .1 it is the 18th smallest maximum; of 18 samples there are too few."""
    family = of_scores(3, 20, is_signs=False)
    errors = family.deviations / np.sqrt(20)
    maxima = []
    for drawn in drawn_of(20, 19, seed=0):
        samples = (family.values - family.means[:, None])[:, drawn]
        maxima.append((np.abs(samples.mean(axis=1)) / (samples.std(axis=1, ddof=1) / np.sqrt(20))).max())
    test = max_t(family, num_resamples=19, alpha=0.1)
    np.testing.assert_allclose(test.reach, sorted(maxima)[17] * errors)
    assert np.isinf(max_t(family, num_resamples=18, alpha=0.05).reach).all()


def test_pairs_that_few_queries_decide_stand_outside_and_take_no_power_from_the_others() -> None:
    family = of_scores(4, 30, is_signs=False)
    sparse, equal, tied = np.zeros((3, 30))
    sparse[:3], equal[:] = 0.5, 0.1
    more = of_rows([*family.values, sparse, equal, tied], is_signs=False)
    test = max_t(more, num_resamples=300)
    np.testing.assert_array_equal(test.pvalues[:6], max_t(family, num_resamples=300).pvalues)
    assert np.isnan([test.pvalues[6:], test.statistics[6:], test.reach[6:]]).all()


def test_several_measures_are_in_one_maximum() -> None:
    one, two = of_scores(4, 30, seed=1, is_signs=False), of_scores(3, 30, seed=2, is_signs=False)
    together = max_t_of_values([one, two], num_resamples=300)
    stacked = max_t(of_rows([*one.values, *two.values], is_signs=False), num_resamples=300)
    assert [len(each.pvalues) for each in together] == [6, 3]
    for name in ("pvalues", "statistics", "reach"):
        joined = np.concatenate([getattr(each, name) for each in together])
        np.testing.assert_array_equal(joined, getattr(stacked, name))


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**500, 1e-100])
def test_neither_unit_nor_order_nor_direction_of_a_pair_of_values_matters(scale: float) -> None:
    family = of_scores(4, 20, is_signs=False)
    units = np.where(np.arange(6) % 2 == 0, -scale, 1.0)[::-1, None]
    other = max_t(of_rows(family.values[::-1] * units, is_signs=False), num_resamples=200)
    assert other.pvalues[::-1].tolist() == max_t(family, num_resamples=200).pvalues.tolist()


def test_the_size_of_blocks_changes_no_number_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = max_t(of_scores(6, 33, is_signs=False), num_resamples=300)
    monkeypatch.setattr(maxt, "_BLOCK", 700)
    monkeypatch.setattr("lexirecall.statistics.bootstrap._BLOCK", 1000)
    blocks = max_t(of_scores(6, 33, is_signs=False), num_resamples=300)
    np.testing.assert_array_equal(blocks.pvalues, whole.pvalues)
    np.testing.assert_array_equal(blocks.reach, whole.reach)


def test_no_values_to_test_have_no_result() -> None:
    assert max_t(of_rows(np.empty((0, 3)), is_signs=False)).pvalues.tolist() == []
    assert np.isnan(max_t(of_rows(np.empty((2, 0)), is_signs=False)).pvalues).all()
    assert np.isnan(max_t(of_rows(np.ones((2, 9)), is_signs=False)).pvalues).all()

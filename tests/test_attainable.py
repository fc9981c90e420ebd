"""The least p that a test can have: against the tests themselves, at their most extreme."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall.statistics.attainable import least_attainable, resamples_needed, resampling_note
from lexirecall.statistics.corrections import CORRECTIONS, correct
from lexirecall.statistics.differences import Differences, of_pairs
from lexirecall.statistics.hsd import randomized_tukey_hsd
from lexirecall.statistics.paired import TESTS, randomization
from strategies import costly, quick

PAIRWISE = tuple(TESTS)


def won_everywhere(num_queries: int, num_pairs: int, *, sizes: bool) -> Differences:
    """Pairs whose first run wins every query, by different sizes or by one."""
    row = np.arange(1.0, num_queries + 1) if sizes else np.ones(num_queries)
    values, index = np.tile(row, (num_pairs, 1)), np.arange(num_pairs)
    return Differences(index, index + 1, values, np.ones(values.shape, bool))


@costly(60)
@given(
    name=st.sampled_from([name for name in PAIRWISE if name != "t"]),
    num_queries=st.integers(1, 60),
    num_pairs=st.integers(1, 40),
    correction=st.sampled_from([*CORRECTIONS]),
    sizes=st.booleans(),
)
def test_no_test_has_a_lower_p_and_one_has_this(
    name: str, num_queries: int, num_pairs: int, correction: str, sizes: bool
) -> None:
    """Every run but the worst wins everywhere: the p of all pairs is the least, and so is that corrected."""
    options = {"num_resamples": 200} if name == "randomization" else {}
    tested = TESTS[name](won_everywhere(num_queries, num_pairs, sizes=sizes), **options)
    found = least_attainable(name, num_queries, num_pairs, correction=correction, num_resamples=200)
    corrected = correct(tested.pvalues, correction)
    assert corrected.min() >= found.least * (1 - 1e-12)
    if name != "wilcoxon" or num_queries <= (50 if sizes else 13):  # beyond that it is normal, and not as low
        drawn_by_chance = name == "randomization" and 7 < num_queries < 20  # a pattern may be drawn that is as extreme
        assert drawn_by_chance or corrected.min() == pytest.approx(found.least, rel=1e-9)
    assert found.is_possible == (found.least < 0.05)


@pytest.mark.parametrize(("num_runs", "needed"), [(2, 6), (3, 7), (8, 11), (126, 19)])
def test_so_many_untied_queries_it_takes_with_the_sign_test_and_holm(num_runs: int, needed: int) -> None:
    num_pairs = num_runs * (num_runs - 1) // 2
    too_few = least_attainable("sign", needed - 1, num_pairs, correction="holm")
    assert (too_few.is_possible, too_few.needed_queries, too_few.needed_resamples) == (False, needed, None)
    assert f"it takes {needed} untied queries" in too_few.note
    enough = least_attainable("sign", needed, num_pairs, correction="holm")
    assert (enough.is_possible, enough.needed_queries, enough.note) == (True, None, "")


@quick(200)
@given(
    name=st.sampled_from([*PAIRWISE, "hsd", "randomized-hsd", "max-t"]),
    num_queries=st.integers(0, 80),
    num_pairs=st.integers(1, 10_000),
    correction=st.sampled_from([*CORRECTIONS]),
    alpha=st.sampled_from([0.05, 0.01, 0.001, 0.3]),
    num_resamples=st.integers(1, 100_000),
)
def test_what_is_needed_is_enough_and_one_less_is_not(
    name: str, num_queries: int, num_pairs: int, correction: str, alpha: float, num_resamples: int
) -> None:
    def least(num_queries: int, num_resamples: int) -> float:
        options = {"correction": correction, "alpha": alpha, "num_resamples": num_resamples}
        return least_attainable(name, num_queries, num_pairs, **options).least  # type: ignore[arg-type]

    found = least_attainable(
        name, num_queries, num_pairs, correction=correction, alpha=alpha, num_resamples=num_resamples
    )
    if found.is_possible:
        assert found.least < alpha
        return
    assert found.note.startswith("no difference can be significant: ")
    queries, resamples = found.needed_queries, found.needed_resamples
    assert queries or resamples
    assert least(queries or num_queries, resamples or num_resamples) < alpha
    if queries and queries > 1:
        assert not least(queries - 1, 10**9 if name != "randomized-hsd" else num_resamples) < alpha
    if resamples and resamples > 1:
        assert not least(2000, resamples - 1) < alpha


def test_the_note_says_why_and_what_would_do() -> None:
    start = "no difference can be significant: "
    assert least_attainable("t", 1, 3, correction="holm").note == (
        f"{start}the paired t test has no p on 1 query; it takes 2 queries"
    )
    assert least_attainable("randomization", 50, 7875, correction="holm", num_resamples=10_000).note == (
        f"{start}on 50 queries and 10,000 resamples the p of randomization, corrected for 7,875 pairs, is at least "
        "0.787 (alpha 0.05); it takes 157,500 resamples"
    )
    assert least_attainable("randomization", 5, 3, correction="holm", num_resamples=10_000).note == (
        f"{start}on 5 queries the p of randomization, corrected for 3 pairs, is at least 0.188 (alpha 0.05); "
        "it takes 7 untied queries"
    )
    assert least_attainable("max-t", 50, 7875, correction="holm", num_resamples=19).note == (
        f"{start}on 50 queries and 19 resamples the p of max-T is at least 0.05 (alpha 0.05); it takes 20 resamples"
    )


def test_the_tests_of_all_pairs_at_once_are_not_corrected() -> None:
    for name in ("hsd", "randomized-hsd", "max-t"):
        one, many = (least_attainable(name, 50, n, correction="holm", num_resamples=999) for n in (1, 7875))
        assert one == many
    assert least_attainable("hsd", 2, 7875, correction="holm").least == 0
    layout = np.tile(np.arange(3.0)[:, None], 60)
    [test] = randomized_tukey_hsd([layout], names=[*"abc"], num_resamples=99)
    assert test.pvalues.min() == least_attainable("randomized-hsd", 60, 3, num_resamples=99).least


@quick(200)
@given(num_pairs=st.integers(1, 200_000), correction=st.sampled_from([*CORRECTIONS]), alpha=st.floats(1e-4, 0.5))
def test_the_least_corrected_p_is_at_most_half_of_alpha(num_pairs: int, correction: str, alpha: float) -> None:
    number = resamples_needed(num_pairs, correction=correction, alpha=alpha)
    least = least_attainable("randomization", 100, num_pairs, correction=correction, num_resamples=number).least
    assert 10_000 <= number <= 2_000_000
    assert least <= alpha / 2 or number == 2_000_000
    assert ("set the number yourself" in resampling_note(number, num_pairs, correction=correction, alpha=alpha)) == (
        least > alpha / 2
    )
    if number > 10_000 and least <= alpha / 2:  # and not many more than that
        factor = least * (number + 1)
        assert factor / (number - 1) > alpha / 2 * (1 - 1e-9)


def test_randomization_takes_as_many_resamples_as_the_correction_needs() -> None:
    """600 pairs at .05 need 24,000 with Holm; a comparison with a baseline corrects for fewer."""
    values = np.random.default_rng(0).normal(size=(600, 20))
    index = np.arange(600)
    differences = Differences(index, index + 1, values, np.ones(values.shape, bool))
    taken = {
        correction: randomization(differences, correction=correction).num_resamples for correction in ("holm", "bh")
    }
    assert taken == {"holm": 24_000, "bh": 10_000}
    asked = randomization(of_pairs(differences, index < 300), correction="holm")
    assert (asked.num_resamples, asked.method) == (12_000, "sign-flip randomization, 12,000 samples")
    assert randomization(differences, correction="holm", num_resamples=7).num_resamples == 7


def test_all_patterns_are_tried_where_they_are_fewer() -> None:
    """2^14 is more than 10,000, but not more than 600 pairs need."""
    many = won_everywhere(14, 600, sizes=True)
    assert randomization(many, correction="holm").method == "sign-flip randomization, exact"
    assert randomization(many, correction="bh").method == "sign-flip randomization, 10,000 samples"


@pytest.mark.parametrize(("num_resamples", "drawn", "least"), [(16, 0, 1 / 8), (15, 15, 1 / 16)])
def test_as_many_resamples_as_patterns_are_all_of_them(num_resamples: int, drawn: int, least: float) -> None:
    found = least_attainable("randomization", 4, num_resamples=num_resamples)
    assert (found.num_resamples, found.least) == (drawn, least)


def test_without_queries_there_is_no_p() -> None:
    assert all(math.isnan(least_attainable(name, 0, num_resamples=99).least) for name in (*PAIRWISE, "max-t"))

"""Ties by chance: closed forms against all placements, the paper's figures, and what is sampled."""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, parse_preference
from lexirecall.errors import UsageError
from lexirecall.measures import AP, MEASURES, TSE
from lexirecall.theory import (
    TieProbability,
    chance,
    exact_tie_probability,
    hypergeometric,
    log2_tie_probability_lexirecall,
    tie_probability,
    tie_probability_at_level,
    tie_probability_lexirecall,
    tie_probability_recall,
    tie_probability_tse,
)
from strategies import quick
from test_orientation import WITH_SETTINGS

PLACED = [(m, n) for n in range(1, 9) for m in range(1, n + 1)]
Look = Callable[[tuple[int, ...]], object]


def found_in(k: int) -> Look:
    return lambda positions: sum(p <= k for p in positions)


def at(level: int, k: float = math.inf) -> Look:
    return lambda positions: positions[level] if positions[level] <= k else None


LOOKS: dict[str, Look] = {
    "TSE": at(-1), "TSE(e='rbp')": at(-1), "TSE(e='linear')": at(-1), "TSE@3": at(-1, 3), "TSE(e='linear')@9": at(-1),
    "SL3": at(-1), "LastRel": at(-1), "RR": at(0), "RR@2": at(0, 2), "SL1": at(0),
    "R@1": found_in(1), "R@3": found_in(3), "R@20": found_in(20), "P@3": found_in(3),
    "Rprec": lambda positions: sum(p <= len(positions) for p in positions),
    "Success@2": lambda positions: positions[0] <= 2,
    "Depth@0.5": lambda positions: positions[math.ceil(len(positions) / 2) - 1],
    "WSS@0.75": lambda positions: positions[math.ceil(len(positions) * 3 / 4) - 1],
    "LexiRecall": lambda positions: positions,
    "LexiPrecision": lambda positions: positions,
    "LexiRecallPercentile": lambda positions: positions,
    "LexiRecallBits": lambda positions: positions,
    "MetricLexiRecall": lambda positions: positions,
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_closed_forms_equal_the_share_of_all_pairs_of_placements(name: str) -> None:
    for m, n in PLACED:
        share = naive.tie_probability(LOOKS[name], m, n)
        ours = tie_probability(name, m, n)
        assert exact_tie_probability(name, m, n) == share, (m, n)
        assert ours.value == pytest.approx(float(share), rel=1e-14), (m, n)
        assert (ours.method, ours.error, ours.num_pairs) == ("closed form", 0, 0)


def test_a_measure_without_a_value_for_some_rankings_has_no_chance_of_ties() -> None:
    with pytest.raises(UsageError, match=r"^Accuracy@3 has no finite value for the positions \[4\] of 6"):
        tie_probability("Accuracy@3", 1, 6)


@pytest.mark.parametrize("measure", [m for m in WITH_SETTINGS if not m.sparse], ids=str)
@pytest.mark.parametrize("m", range(1, 7))
def test_every_measure_ties_as_often_as_its_values_are_equal(measure: Measure, m: int) -> None:
    def value(positions: tuple[int, ...]) -> float:
        return round(naive.value(measure.name, measure.settings, naive.complete(positions, 6)), 10)

    assert exact_tie_probability(measure, m, 6) == naive.tie_probability(value, m, 6)


@pytest.mark.parametrize(("m", "n"), [(4, 12), (3, 30), (2, 100)])
def test_average_precision_is_enumerated_as_exact_fractions_would_be(m: int, n: int) -> None:
    """Floats that should be equal differ in the last digit; the tolerance tells them from those that should not."""
    values = Counter(sum(Fraction(i, p) for i, p in enumerate(placed, 1)) for placed in naive.placements(m, n))
    tied = sum(count**2 for count in values.values())
    assert exact_tie_probability("AP", m, n) == Fraction(tied, comb(n, m) ** 2)
    assert tie_probability("AP", m, n) == TieProbability(tied / comb(n, m) ** 2, "enumerated")
    assert tied > comb(n, m)


@quick(40)
@given(m=st.integers(1, 30), level=st.integers(1, 30), extra=st.integers(0, 300))
def test_a_sum_over_the_relevant_documents_replaces_the_sum_over_the_corpus(m: int, level: int, extra: int) -> None:
    n, i = m + extra, min(level, m)
    tied = sum((comb(p - 1, i - 1) * comb(n - p, m - i)) ** 2 for p in range(1, n + 1))
    assert tie_probability_at_level(i, m, n) == tied / comb(n, m) ** 2


@pytest.mark.parametrize(("m", "n"), [(10, 2000), (50, 2000), (1999, 2000), (10, 10**5), (1, 10**5)])
def test_total_search_efficiency_in_large_corpora_is_rounded_once(m: int, n: int) -> None:
    tied, binomial = 0, 1  # C(p-1, m-1)
    for p in range(m, n + 1):
        tied += binomial**2
        binomial = binomial * p // (p - m + 1)
    assert tie_probability_tse(m, n) == tied / comb(n, m) ** 2


@quick(100)
@given(k=st.integers(1, 2000), m=st.integers(1, 2000), n=st.integers(1, 2000))
def test_the_ratios_of_neighbours_give_the_hypergeometric_distribution(k: int, m: int, n: int) -> None:
    k, m = min(k, n), min(m, n)
    exact = [comb(k, i) * comb(n - k, m - i) / comb(n, m) for i in range(m + 1)]
    assert hypergeometric(k, m, n).tolist() == pytest.approx(exact, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(("k", "m", "n"), [(1000, 50, 10**6), (10**6, 50, 10**8), (500_000, 700, 10**6), (7, 300, 300)])
def test_recall_in_large_corpora_agrees_with_integers(k: int, m: int, n: int) -> None:
    exact = exact_tie_probability(MEASURES["R"] @ k, m, n)
    assert tie_probability_recall(k, m, n) == pytest.approx(float(exact), rel=1e-12)


def test_nothing_overflows_in_a_corpus_of_a_hundred_millions() -> None:
    assert 0.09 < tie_probability_recall(1000, 10**6, 10**8) < 0.0903
    assert tie_probability_tse(10, 10**15) == pytest.approx(100 / (10**15 * 19))  # m²/n ∫ x^(2m-2) dx


# The paper's tables; Rprec at n = 10^3 is .8257 and R@1000 at m = 10, n = 10^6 is .9803, where it prints .825 and .981


@pytest.mark.parametrize(
    ("n", "tse", "recall", "rprec"),
    [(10**3, ".005", "1.000", ".826"), (10**4, ".001", ".313", ".980"), (10**5, ".000", ".826", ".998"),
     (10**6, ".000", ".980", "1.000")],
)  # fmt: skip
def test_the_papers_table_over_corpus_sizes(n: int, tse: str, recall: str, rprec: str) -> None:
    names = {"TSE": tse, "R@1000": recall, "Rprec": rprec, "AP": ".000", "LexiRecall": ".000"}
    assert {name: rounded(tie_probability(name, 10, n).value) for name in names} == names


@pytest.mark.parametrize(
    ("m", "recall", "rprec"),
    [(1, ".998", "1.000"), (5, ".990", "1.000"), (10, ".980", "1.000"), (25, ".952", ".999"), (50, ".907", ".995")],
)
def test_the_papers_table_over_numbers_of_relevant_documents(m: int, recall: str, rprec: str) -> None:
    names = {"TSE": ".000", "R@1000": recall, "Rprec": rprec, "AP": ".000", "LexiRecall": ".000"}
    assert {name: rounded(tie_probability(name, m, 10**6).value) for name in names} == names


def rounded(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def test_where_the_paper_is_off_in_the_third_digit() -> None:
    assert round(tie_probability_recall(10, 10, 10**3), 4) == 0.8257
    assert round(tie_probability_recall(1000, 10, 10**6), 4) == 0.9803


# Total orders


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 10), (5, 10), (50, 10**6), (70, 528_155)])
def test_lexirecall_ties_one_placement_in_all(m: int, n: int) -> None:
    assert tie_probability_lexirecall(m, n) == tie_probability("lexirecall", m, n).value == 1 / comb(n, m)
    assert exact_tie_probability("LexiPrecision(size='rr')", m, n) == Fraction(1, comb(n, m))
    assert log2_tie_probability_lexirecall(m, n) == pytest.approx(-math.log2(comb(n, m)), rel=1e-14, abs=0)


def test_beyond_floats_the_logarithm_goes_on() -> None:
    assert tie_probability_lexirecall(1000, 10**6) == 0
    assert log2_tie_probability_lexirecall(1000, 10**6) == pytest.approx(-math.log2(comb(10**6, 1000)), rel=1e-14)
    assert log2_tie_probability_lexirecall(999_000, 10**6) == log2_tie_probability_lexirecall(1000, 10**6)


def test_the_preference_of_a_measure_ties_as_the_measure_does() -> None:
    assert tie_probability(parse_preference("TSE"), 3, 50) == tie_probability(TSE, 3, 50)


# Sampling


FOUND_IN_3 = Measure("FoundIn3", "recall at 3, unknown to the table", lambda i: i <= 3, lambda i, m: 0 * i + 1 / m)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samples_agree_with_the_closed_form_within_twice_their_error(seed: int) -> None:
    sampled = tie_probability(FOUND_IN_3, 10, 60, num_pairs=2000, rng=seed)
    assert (sampled.method, sampled.num_pairs) == ("sampled", 2000)
    assert 0.01 < sampled.error < 0.025  # 1.96 · sqrt(.4 · .6 / 2000) is .021
    assert abs(sampled.value - tie_probability_recall(3, 10, 60)) < 2 * sampled.error


def test_the_same_seed_gives_the_same_samples() -> None:
    first, again, generator, other = (
        tie_probability(FOUND_IN_3, 10, 60, num_pairs=500, rng=rng) for rng in (7, 7, np.random.default_rng(7), 8)
    )
    assert first == again == generator != other


@pytest.mark.parametrize("constant", [True, False])
def test_the_error_of_samples_that_all_agree_is_not_zero(constant: bool) -> None:
    """If none of N pairs tie, or all, Wilson's interval is z²/(N + z²) wide."""
    measure = Measure("Own", "constant, or not", of_positions=lambda p: 1.0 if constant else float(p @ p**0.5))
    sampled = tie_probability(measure, 10, 1000, num_pairs=100)
    assert sampled.value == constant
    assert sampled.error == pytest.approx(3.8415 / 103.8415, rel=1e-4)


def test_samples_are_drawn_in_parts_if_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance, "MOST_POSITIONS", 700)  # 35 pairs of ten documents at a time
    sampled = tie_probability(FOUND_IN_3, 10, 60, num_pairs=2000)
    assert sampled.num_pairs == 2000
    assert abs(sampled.value - tie_probability_recall(3, 10, 60)) < 2 * sampled.error


def test_a_measure_that_is_only_called_tse_is_enumerated() -> None:
    own = Measure("TSE", "not the one in the table", of_positions=lambda p: float(p[0]))
    assert tie_probability(own, 3, 8).method == "enumerated"
    assert exact_tie_probability(own, 3, 8) == exact_tie_probability("RR", 3, 8)


# What is refused


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: tie_probability("RPP", 2, 5), "tie probability of RPP is not available"),
        (lambda: tie_probability("Bpref", 2, 5), "judged non-relevant documents"),
        (lambda: tie_probability("R", 2, 5), "needs a cutoff"),
        (lambda: tie_probability(MEASURES["Depth"], 2, 5), "needs a recall"),
        (lambda: tie_probability("AP", 6, 5), "6 relevant documents do not fit in a corpus of 5"),
        (lambda: tie_probability("AP", 10, 1000, num_pairs=0), "num_pairs is 0"),
        (lambda: exact_tie_probability(AP, 10, 1000), "too many placements"),
        (lambda: tie_probability_at_level(0, 3, 5), "from 1 to 3"),
        (lambda: tie_probability_at_level(4, 3, 5), "from 1 to 3"),
        (lambda: tie_probability_recall(0, 3, 5), "must be a whole number"),
        (lambda: tie_probability_tse(0, 5), "must be a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        call()


def test_a_measure_without_a_value_is_refused_and_the_placement_named() -> None:
    broken = Measure("Broken", "undefined at times", of_positions=lambda p: math.nan if p[0] == 2 else 1.0)
    with pytest.raises(UsageError, match=r"Broken has no finite value for the positions \[2, 3\] of 4"):
        tie_probability(broken, 2, 4)

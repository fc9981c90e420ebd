"""Possible users and providers of one ranking: all at once against one at a time, and what is refused."""

import doctest
import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, parse_measure
from lexirecall.errors import UsageError
from lexirecall.exposure import EXPOSURES
from lexirecall.measures import AP, MEASURES, RBP, RPREC, TSE
from lexirecall.names import parse_measures
from lexirecall.theory import (
    is_top_heavy,
    leximin,
    provider_utilities,
    top_heavy_counterexample,
    user_utilities,
    worst_case_provider,
    worst_case_user,
)
from strategies import costly, quick
from table import all_measures, is_sum, needs_size

DOCS = Path(__file__).parents[1] / "docs"
TOP_HEAVY = (
    "AP", "RR", "nDCG", "nDCG(dcg='exp-log2')", "RBP", "RBP(p=0.5)", "TSE", "TSE(e='dcg')", "TSE(e='rbp')",
    "TSE(e='linear')", "WSS@1",
)  # fmt: skip
NOT_TOP_HEAVY = (
    "AP@5", "RR@2", "nDCG@3", "RBP@4", "TSE@5", "R@3", "P@3", "Success@2", "Rprec", "SL1", "SL3", "LastRel", "RE",
    "Depth@0.5", "WSS@0.5",
)  # fmt: skip
TRIED = list(dict.fromkeys([*parse_measures(TOP_HEAVY), *filter(is_sum, all_measures())]))


@dataclass(frozen=True)
class Ranking:
    """Positions of what was retrieved, and how much was not."""

    found: list[int]
    missing: int
    corpus_size: int | None

    @property
    def m(self) -> int:
        return len(self.found) + self.missing

    def placed(self, *, at_bottom: bool) -> tuple[float, ...]:
        n = self.corpus_size
        is_known = at_bottom and n is not None
        return (*self.found, *(n - i if is_known and n else math.inf for i in reversed(range(self.missing))))


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    found = sorted(draw(st.sets(st.integers(1, 12), max_size=5)))
    missing = draw(st.integers(0 if found else 1, 2))
    extra = draw(st.none() | st.integers(0, 9))
    return Ranking(found, missing, None if extra is None else max(found, default=0) + missing + extra)


def enumerated(ranking: Ranking, measure: Measure) -> list[float]:
    """The value of the measure for each user, from the list of grades that the user sees."""
    placed = ranking.placed(at_bottom=measure.corpus != "ignored")
    users = [tuple(placed[i - 1] for i in levels) for levels in naive.nonempty_sets(ranking.m)]
    cases = [naive.case_of_user(wanted, ranking.corpus_size) for wanted in users]
    return [naive.value(measure.name, measure.settings, case) for case in cases]


# Enumeration


@pytest.mark.parametrize("measure", TRIED, ids=str)
@given(ranking=rankings())
@costly(40)
def test_the_utilities_of_all_users_are_those_of_each_user_alone(measure: Measure, ranking: Ranking) -> None:
    assume(ranking.corpus_size or not needs_size(measure))
    users = user_utilities(measure, ranking.found, ranking.m, corpus_size=ranking.corpus_size)
    assert len(users) == 2**ranking.m - 1
    assert users.utilities.tolist() == pytest.approx(enumerated(ranking, measure), abs=1e-12)


@pytest.mark.parametrize("measure", TRIED, ids=str)
@given(ranking=rankings())
@costly(20)
def test_the_user_who_wants_everything_has_the_value_of_the_ranking(measure: Measure, ranking: Ranking) -> None:
    assume(ranking.corpus_size or not needs_size(measure))
    users = user_utilities(measure, ranking.found, ranking.m, corpus_size=ranking.corpus_size)
    expected = measure.of(ranking.found, ranking.m, corpus_size=ranking.corpus_size)
    assert users.utilities[-1] == pytest.approx(expected, abs=1e-12)


def test_a_function_of_positions_is_called_for_each_user() -> None:
    median = Measure("Median", "median position", of_positions=lambda p: float(p[(len(p) - 1) // 2]), direction=-1)
    users = user_utilities(median, [2, 5], 3, corpus_size=40)
    assert users.utilities.tolist() == [2, 5, 2, 40, 2, 5, 5]
    assert users.worst.levels == (3,)
    assert users.best.levels == (1,)


def test_a_set_of_documents_is_named_by_its_bit_mask() -> None:
    users = user_utilities("AP", [7, 1, 3])
    assert users.masks.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert [users.member(mask).levels for mask in users.masks] == naive.nonempty_sets(3)
    assert users.member(6).positions == (3, 7)
    assert users.member(6).utility == pytest.approx((1 / 3 + 2 / 7) / 2)


def test_the_worst_off_has_the_highest_value_where_lower_is_better() -> None:
    users = user_utilities("LastRel", [2, 3, 8])
    assert (users.worst.utility, users.best.utility) == (8, 2)


def test_missing_documents_stay_where_the_whole_ranking_has_them() -> None:
    """Who wants only the first of the two missing documents finds it at 99, as everyone does."""
    users = user_utilities("LastRel", [4], 3, corpus_size=100)
    assert users.positions.tolist() == [4, 99, 100]
    assert users.member(0b010).utility == 99


@pytest.mark.parametrize("name", ["AP", "nDCG", "RR", "RBP"])
def test_what_was_not_retrieved_has_no_utility_whatever_the_corpus_size(name: str) -> None:
    for corpus_size in (None, 100):
        users = user_utilities(name, [4], 2, corpus_size=corpus_size)
        assert users.worst == users.member(0b10)
        assert users.worst.utility == worst_case_user(name, [4], 2, corpus_size=corpus_size) == 0


def test_what_was_not_retrieved_is_not_seen_even_if_the_exposure_never_vanishes() -> None:
    patient = Measure("Patient", "sees half of everything", lambda i: 0.5 + 0.5 / i, np.ones_like)
    assert user_utilities(patient, [1], 2).utilities.tolist() == [1, 0, 1]
    assert worst_case_user(patient, [1], 2) == 0
    for exposure in (patient, replace(patient, corpus="optional"), patient.exposure):
        assert exposure is not None
        assert provider_utilities(exposure, [1], 2).utilities.tolist() == [1, 0, 1]
        assert worst_case_provider(exposure, [1], 2) == 0
        assert worst_case_provider(exposure, [1], 2, corpus_size=5) == 0.6


def test_twenty_relevant_documents_are_enumerated() -> None:
    positions = list(range(2, 62, 3))
    users, providers = user_utilities("nDCG", positions), provider_utilities("dcg", positions)
    assert len(users) == len(providers) == 2**20 - 1
    assert users.worst.levels == providers.worst.levels == (20,)
    assert providers.best.levels == tuple(range(1, 21))


@given(ranking=rankings(), name=st.sampled_from(list(EXPOSURES)))
@quick(100)
def test_the_exposures_of_all_providers_are_sums_over_their_documents(ranking: Ranking, name: str) -> None:
    n = ranking.corpus_size
    assume(n or not needs_size(TSE(e=name)))
    placed = ranking.placed(at_bottom=True)
    seen = [naive.EXPOSURES[name](p, p=0.8, n=n) for p in placed]
    expected = [sum(seen[i - 1] for i in levels) for levels in naive.nonempty_sets(ranking.m)]
    providers = provider_utilities(name, ranking.found, ranking.m, corpus_size=n)
    assert providers.utilities.tolist() == pytest.approx(expected, abs=1e-12)
    assert worst_case_provider(name, ranking.found, ranking.m, corpus_size=n) == pytest.approx(min(expected), abs=1e-12)


@pytest.mark.parametrize("exposure", ["rbp", RBP, TSE(e="rbp"), lambda i: 0.2 * 0.8 ** (i - 1)])
def test_an_exposure_is_a_name_a_measure_or_a_function(exposure: Any) -> None:
    providers = provider_utilities(exposure, [1, 3], 3)
    assert providers.utilities.tolist() == pytest.approx([0.2, 0.128, 0.328, 0, 0.2, 0.128, 0.328])


def test_the_exposure_of_ndcg_is_that_of_dcg() -> None:
    at = [1, 4, 9]
    assert (
        provider_utilities(MEASURES["nDCG"], at).utilities.tolist() == provider_utilities("dcg", at).utilities.tolist()
    )


# The closed form


@pytest.mark.parametrize("name", TOP_HEAVY)
@given(ranking=rankings())
@quick(60)
def test_the_closed_form_is_what_enumeration_finds(name: str, ranking: Ranking) -> None:
    n = ranking.corpus_size
    assume(n or not needs_size(parse_measure(name)))
    worst = user_utilities(name, ranking.found, ranking.m, corpus_size=n).worst.utility
    assert worst_case_user(name, ranking.found, ranking.m, corpus_size=n) == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Rprec", r"e\(2\) = 0 is not above e\(3\) = 0"),
        ("R@1000", r"e\(1\) = 1 is not above e\(2\) = 1"),
        ("AP@100", r"e\(101\) = 0 is not above e\(102\) = 0"),
        ("SL3", "lower values are better"),
        ("WSS@0.5", r"e\(12\) = -0.5 is negative"),
    ],
)
def test_the_closed_form_is_refused_where_it_does_not_hold(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=rf"^the closed form .* {name}: {why}\n.*user_utilities\(…\).worst"):
        worst_case_user(name, [1, 2], corpus_size=500)


def test_the_worst_case_of_r_precision_is_0_where_its_own_exposure_is_1() -> None:
    assert RPREC.of([1, 2]) == 1
    assert user_utilities("Rprec", [1, 2]).worst.utility == 0


def test_the_closed_form_is_refused_unless_the_weight_of_a_single_document_is_1() -> None:
    double = Measure("Double", "exposure too large by two", lambda i: 2 / i, lambda i, m: i / m / 2)
    assert is_top_heavy(double)
    assert user_utilities(double, [1, 4]).worst.utility == 1 / 4
    with pytest.raises(UsageError, match=r"z\(1, 1\) = 0.5 is not 1"):
        worst_case_user(double, [1, 4])


@pytest.mark.parametrize("exposure", [lambda i: i, lambda i: 2.5 - i])
def test_the_worst_provider_in_closed_form_needs_an_exposure_that_falls_and_is_not_negative(exposure: Any) -> None:
    with pytest.raises(UsageError, match=r"must not grow with depth or be negative.*\n.*provider_utilities\(…\).worst"):
        worst_case_provider(exposure, [1, 2, 3])
    assert provider_utilities(exposure, [1, 2, 3]).worst.utility == min(exposure(1), exposure(3))


# Top-heaviness


@st.composite
def weight_tables(draw: st.DrawFn, most: int = 3) -> dict[tuple[int, int], Fraction]:
    """Any weights that are not negative."""
    numbers = st.integers(0, 4).map(lambda number: Fraction(number, 4))
    return {(i, m): draw(numbers) for m in range(1, most + 1) for i in range(1, m + 1)}


@given(weights=weight_tables(), steps=st.lists(st.integers(1, 3), min_size=6, max_size=6))
@quick(300)
def test_top_heaviness_is_its_definition(weights: dict[tuple[int, int], Fraction], steps: list[int]) -> None:
    exposures = [Fraction(sum(steps[i:])) for i in range(6)]
    measure = Measure(
        "Drawn",
        "from tables of exposures and weights",
        lambda i: np.array([float(exposures[int(p) - 1]) for p in i.ravel()]).reshape(i.shape),
        lambda i, m: np.array([float(weights[int(level), int(m[0])]) for level in i]),
    )
    placements = [placement for m in (1, 2, 3) for placement in combinations(range(1, 7), m)]
    expected = naive.is_top_heavy(lambda p: exposures[p - 1], lambda i, m: weights[i, m], placements)
    found = top_heavy_counterexample(measure, max_relevant=3, corpus_size=6)
    assert (found is None) == expected == is_top_heavy(measure, max_relevant=3, corpus_size=6)
    if found is not None:
        assert measure.of(found.positions) < measure.of(found.positions[found.dropped :])


@pytest.mark.parametrize("name", TOP_HEAVY)
def test_top_heavy_measures_are_found_to_be(name: str) -> None:
    assert top_heavy_counterexample(name) is None


@pytest.mark.parametrize("name", NOT_TOP_HEAVY)
def test_other_measures_are_found_not_to_be_top_heavy(name: str) -> None:
    assert not is_top_heavy(name)


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        (Measure("A", "", lambda i, m: 1 / (i + m), lambda i, m: i / m), "e depends on m"),
        (Measure("B", "", lambda i: 1 / i, lambda i: 2.0 - i), r"z\(3, 3\) = -1 is not 0 or more"),
        (Measure("C", "", lambda i: 1 / i, lambda _, m: m**-3.0), r"\(1, 2\) have the value 0.1875, but 0.5 without"),
        (replace(AP, direction=-1), "lower values are better"),
    ],
    ids=["exposure of m", "negative weight", "weight that falls too fast", "direction"],
)
def test_a_counterexample_says_what_is_wrong(measure: Measure, problem: str) -> None:
    found = top_heavy_counterexample(measure)
    assert found is not None
    assert re.search(problem, found.problem)


# Leximin


fractions = st.integers(0, 4).map(lambda number: Fraction(number, 3))


@given(x=st.lists(fractions, min_size=4, max_size=4), y=st.lists(fractions, min_size=4, max_size=4))
@quick(300)
def test_leximin_is_its_definition(x: list[Fraction], y: list[Fraction]) -> None:
    assert leximin(x, y) == naive.leximin(x, y) == -leximin(y, x)


def test_leximin_does_not_round() -> None:
    tiny = Fraction(1, 10**40)
    assert leximin([1 + tiny, 2], [1, 3]) == 1
    assert leximin([10**40 + 1], [10**40]) == 1
    assert float(10**40 + 1) == float(10**40)


def test_leximin_counts_floats_as_equal_up_to_the_tolerance() -> None:
    x, y = [0.1 + 0.2, 0.5], [0.3, 0.6]
    assert leximin(x, y) == 1
    assert leximin(x, y, tolerance=1e-12) == -1


# What cannot be answered


@pytest.mark.parametrize("function", [user_utilities, worst_case_user])
@pytest.mark.parametrize("measure", [m for m in all_measures() if not is_sum(m)], ids=str)
def test_a_measure_without_exposure_and_weight_is_refused(function: Any, measure: Measure) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(str(measure))} has no exposure e and weight z"):
        function(measure, [1, 2], corpus_size=9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: user_utilities("AP", range(1, 22)),
            r"21 relevant documents have 2\^21 - 1 sets.*20 documents\n.*worst_case",
        ),
        (lambda: provider_utilities("ap", range(1, 22)), "enumeration stops at 20"),
        (lambda: user_utilities("AP", []), r"0 relevant documents cannot be at the positions \[\]"),
        (lambda: user_utilities("AP", [1, 2], 1), r"1 relevant document cannot be"),
        (lambda: user_utilities("AP", [3, 3]), r"cannot be at the positions \[3, 3\]"),
        (lambda: worst_case_user("AP", [0]), r"cannot be at the positions \[0\]"),
        (lambda: worst_case_user("AP", [1.5]), r"cannot be at the positions \[1.5\]"),  # type: ignore[list-item]
        (lambda: worst_case_provider("ap", [8], 3, corpus_size=9), "cannot fit in a corpus of 9"),
        (lambda: user_utilities("AP", [10], corpus_size=9), "cannot fit in a corpus of 9"),
        (lambda: worst_case_user("TSE(e=linear)", [1]), "linear exposure 1 - i/n needs the corpus size"),
        (lambda: user_utilities("WSS@1", [1]), "WSS@1 needs the corpus size"),
        (lambda: worst_case_provider("sqrt", [1]), "exposure is 'sqrt', but must be one of ap, dcg, rbp, linear"),
        (lambda: user_utilities(MEASURES["R"], [1]), "R needs a cutoff"),
        (lambda: user_utilities("AP", [1, 2]).member(0), "the mask is 0, but must be from 1 to 3"),
        (lambda: user_utilities("AP", [1, 2]).member(4), "the mask is 4"),
        (lambda: is_top_heavy("AP", max_relevant=5, corpus_size=4), "5 relevant documents do not fit in a corpus of 4"),
        (lambda: leximin([1, 2], [1]), "not of lengths 2 and 1"),
        (lambda: leximin([math.nan], [1]), "undefined"),
    ],
)
def test_an_impossible_question_is_refused(call: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def test_the_page_on_robustness_is_true() -> None:
    result = doctest.testfile(str(DOCS / "robustness.md"), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0

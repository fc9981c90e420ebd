"""The paper's theorems on robustness and leximin as properties, each named by its statement; and their conditions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, parse_preference, project
from lexirecall.judgments import FloatArray
from lexirecall.measures import ALL, AP, LINEAR, MEASURES, NDCG, RBP, RR, SUCCESS, TSE
from lexirecall.preferences import PREFERENCES, preference_of
from lexirecall.theory import (
    is_top_heavy,
    leximin,
    provider_utilities,
    user_utilities,
    worst_case_provider,
    worst_case_user,
)
from strategies import costly, quick

Placement = tuple[int, ...]
LEXI_RECALL = PREFERENCES["LexiRecall"]


@dataclass(frozen=True)
class Exact:
    """A recall-level measure in fractions."""

    e: Callable[[int], Fraction]
    z: Callable[[int, int], Fraction]

    def users(self, positions: Placement) -> list[Fraction]:
        return naive.users(self.e, self.z, positions)

    def in_floats(self) -> Measure:
        """The same as a measure of the package."""
        return Measure(
            "InFloats",
            "a measure of fractions",
            lambda i: elementwise(i, lambda p: self.e(int(p))),
            lambda i, m: elementwise(i, lambda level: self.z(int(level), int(m[0]))),
        )


def elementwise(array: FloatArray, function: Callable[[float], Fraction]) -> FloatArray:
    return np.array([float(function(value)) for value in array.ravel()]).reshape(array.shape)


def placements(n: int, sizes: Sequence[int]) -> list[Placement]:
    """All of so many relevant documents in a corpus of n."""
    return [placement for m in sizes for placement in combinations(range(1, n + 1), m)]


def reciprocal(p: int) -> Fraction:
    return Fraction(1, p)


@cache
def logarithmic(p: int) -> Fraction:
    """1/log2(p + 1) as the fraction that a float is: it decreases as strictly, and its sums are exact."""
    return Fraction(1 / math.log2(p + 1))


SMALL = 9
EXACT = {
    "AP": Exact(reciprocal, Fraction),
    "RR": Exact(reciprocal, lambda i, _: Fraction(i == 1)),
    "RBP": Exact(lambda p: Fraction(1, 5) * Fraction(4, 5) ** (p - 1), lambda *_: Fraction(1)),
    "nDCG": Exact(logarithmic, lambda _, m: 1 / sum(map(logarithmic, range(1, m + 1)), Fraction())),
    "linear": Exact(lambda p: 1 - Fraction(p, SMALL), lambda _, m: Fraction(1, m)),
    "TSE": Exact(reciprocal, lambda i, m: Fraction(i == m)),
}
EXPOSURE_OF = ((AP, "ap"), (RR, "ap"), (NDCG, "dcg"), (RBP, "rbp"), (LINEAR, "linear"), (TSE, "ap"))
every_exact = pytest.mark.parametrize("name", EXACT)
positions = st.sets(st.integers(1, 60), min_size=1, max_size=7).map(sorted)


@st.composite
def falling_exposures(draw: st.DrawFn, depth: int = 12) -> Callable[[int], Fraction]:
    """Any strictly decreasing e, down to 0 or not."""
    steps = draw(st.lists(st.integers(1, 9), min_size=depth - 1, max_size=depth - 1))
    last = draw(st.integers(0, 3))
    values = [Fraction(last + sum(steps[p:]), 7) for p in range(depth)]
    return lambda p: values[p - 1]


@st.composite
def top_heavy_measures(draw: st.DrawFn, *, first_counts: bool = False, most: int = 5) -> Exact:
    """Any e, and weights whose sums Z over the first k levels obey Z_m(k) >= Z_(m-1)(k-1).

    By partial summation that is top-heaviness for every e at once. `first_counts` makes z(1, m) positive.
    """
    gains = st.integers(0, 3).map(lambda number: Fraction(number, 4))
    sums = {(0, m): Fraction() for m in range(most + 1)} | {(1, 1): Fraction(1)}
    for m in range(2, most + 1):
        for k in range(1, m + 1):
            least = Fraction(1, 8) if first_counts and k == 1 else Fraction()
            sums[k, m] = max(sums[k - 1, m], sums[k - 1, m - 1]) + least + draw(gains)
    return Exact(draw(falling_exposures()), lambda i, m: sums[i, m] - sums[i - 1, m])


# The worst case


@pytest.mark.parametrize(("measure", "exposure"), EXPOSURE_OF, ids=str)
@given(p=positions)
@quick(60)
def test_worst_case_over_users_equals_total_search_efficiency(measure: Measure, exposure: str, p: list[int]) -> None:
    """min over non-empty u of R of μ(u) = e(p_m)."""
    n = 80 if exposure == "linear" else None
    worst = user_utilities(measure, p, corpus_size=n).worst
    assert worst.utility == pytest.approx(TSE(e=exposure).of(p, corpus_size=n), abs=1e-15)
    assert worst_case_user(measure, p, corpus_size=n) == pytest.approx(worst.utility, abs=1e-15)
    assert worst.levels[-1] == len(p)


@pytest.mark.parametrize(("measure", "exposure"), EXPOSURE_OF, ids=str)
@given(p=st.sets(st.integers(1, 60), max_size=5).map(sorted), missing=st.integers(1, 3))
@quick(40)
def test_with_the_papers_imputation_the_worst_case_is_total_search_efficiency_also_where_documents_were_missed(
    measure: Measure, exposure: str, p: list[int], missing: int
) -> None:
    """min over non-empty u of R of μ(u) = e(n), each user being someone with judgments of their own."""
    n, m = 80, len(p) + missing
    documents = {place: f"d{place}" for place in (*p, *range(n - missing + 1, n + 1))}
    ranking = {"q": [documents.get(place, f"x{place}") for place in range(1, 61)]}
    needs = [dict.fromkeys(wanted, 1) for size in range(1, m + 1) for wanted in combinations(documents.values(), size)]
    users = project(
        {f"u{number}": need for number, need in enumerate(needs)},
        {f"u{number}": ranking["q"] for number in range(len(needs))},
        corpus_size=n,
        imputation="paper",
    )
    efficiency = TSE(e=exposure).of(p, m, corpus_size=n)
    assert measure.scores(users.at_level(1)).min() == pytest.approx(efficiency, rel=1e-12, abs=1e-15)
    enumerated = user_utilities(measure, p, m, corpus_size=n, imputation="paper").worst.utility
    assert enumerated == pytest.approx(efficiency, rel=1e-12, abs=1e-15)
    closed = worst_case_user(measure, p, m, corpus_size=n, imputation="paper")
    assert closed == pytest.approx(efficiency, rel=1e-12, abs=1e-15)


@given(p=st.sets(st.integers(1, 20), max_size=6).map(sorted), missing=st.integers(0, 2), k=st.integers(1, 20))
@costly(150)
def test_all_is_the_success_of_the_worst_off_user(p: list[int], missing: int, k: int) -> None:
    """min over non-empty u of R of Success@k(u) = All@k(R), as TSE is the worst case of RR."""
    assume(p or missing)
    everything = [*p, *[math.inf] * missing]
    users = [u for size in range(1, len(everything) + 1) for u in combinations(everything, size)]
    found = ([int(place) for place in u if place < math.inf] for u in users)
    worst = min((SUCCESS @ k).of(places, len(u)) for places, u in zip(found, users, strict=True))
    assert worst == (ALL @ k).of(p, len(everything))


@every_exact
def test_worst_case_over_users_is_exactly_the_exposure_of_the_last_document(name: str) -> None:
    for p in placements(SMALL, range(1, 6)):
        assert min(EXACT[name].users(p)) == EXACT[name].e(p[-1])


@given(measure=top_heavy_measures(), p=st.sets(st.integers(1, 12), min_size=1, max_size=5).map(sorted))
@quick(80)
def test_worst_case_over_users_equals_total_search_efficiency_for_any_top_heavy_measure(
    measure: Exact, p: list[int]
) -> None:
    assert naive.is_top_heavy(measure.e, measure.z, placements(6, range(1, 6)))
    assert is_top_heavy(measure.in_floats())
    assert min(measure.users(tuple(p))) == measure.e(p[-1])
    assert worst_case_user(measure.in_floats(), p) == float(measure.e(p[-1]))


def test_without_top_heaviness_the_worst_case_can_lie_below_total_search_efficiency() -> None:
    fast = Exact(reciprocal, lambda _, m: Fraction(1, m**3))
    assert not naive.is_top_heavy(fast.e, fast.z, placements(4, [2]))
    assert min(fast.users((1, 2))) == Fraction(3, 16) < fast.e(2)


@given(e=falling_exposures(), p=st.sets(st.integers(1, 12), min_size=1, max_size=6).map(sorted))
@quick(200)
def test_worst_case_over_providers_equals_the_exposure_of_the_last_document(
    e: Callable[[int], Fraction], p: list[int]
) -> None:
    """min over non-empty v of R of η(v) = e(p_m), for any e that decreases strictly."""
    assert min(naive.providers(e, tuple(p))) == e(p[-1])

    def exposure(i: FloatArray) -> FloatArray:
        return elementwise(i, lambda position: e(int(position)))

    assert worst_case_provider(exposure, p) == float(e(p[-1]))
    assert provider_utilities(exposure, p).worst.utility == float(e(p[-1]))


# Leximin


def best_first(places: list[Placement], utilities: Callable[[Placement], list[Fraction]]) -> list[Placement]:
    """Sort by leximin; any two must differ, as a tie would leave the order open."""
    ascending = {placement: sorted(utilities(placement)) for placement in places}
    assert len({tuple(values) for values in ascending.values()}) == len(places)
    return sorted(places, key=ascending.__getitem__, reverse=True)


def by_lexirecall(places: list[Placement]) -> list[Placement]:
    return sorted(places, key=lambda placement: placement[::-1])


@every_exact
@pytest.mark.parametrize("m", range(1, 6))
def test_leximin_over_users_orders_all_rankings_as_lexirecall_does(name: str, m: int) -> None:
    """Of two sorts the pairs agree exactly if the results are equal; and no two different placements tie."""
    places = placements(SMALL, [m])
    assert best_first(places, EXACT[name].users) == by_lexirecall(places)


@given(measure=top_heavy_measures(first_counts=True, most=4), m=st.integers(1, 4))
@quick(30)
def test_leximin_over_users_orders_as_lexirecall_does_if_the_first_document_of_every_user_counts(
    measure: Exact, m: int
) -> None:
    """The condition is z(1, j) > 0 for every j."""
    places = placements(7, [m])
    assert best_first(places, measure.users) == by_lexirecall(places)


@given(e=falling_exposures(), m=st.integers(1, 4))
@quick(30)
def test_leximin_over_providers_orders_all_rankings_as_lexirecall_does(e: Callable[[int], Fraction], m: int) -> None:
    places = placements(8, [m])
    assert best_first(places, lambda placement: naive.providers(e, placement)) == by_lexirecall(places)


def test_top_heaviness_alone_does_not_make_leximin_over_users_lexirecall() -> None:
    """TSE, but for a little weight on the first of three documents or more: z(1, 2) = 0 and z(1, 3) > 0.

    Who wants all three is then the only user near the bottom to tell (2, 3, 5) from (1, 4, 5), and sees only p_1.
    """
    nearly = Exact(reciprocal, lambda i, m: Fraction(i == m) + (Fraction(1, 100) if m > 2 and i == 1 else 0))
    x, y = (2, 3, 5), (1, 4, 5)
    assert [nearly.z(i, 2) for i in (1, 2)] == [0, 1]
    assert naive.is_top_heavy(nearly.e, nearly.z, placements(SMALL, range(1, 6)))
    assert is_top_heavy(nearly.in_floats())
    assert min(nearly.users(x)) == min(nearly.users(y)) == Fraction(1, 5)
    assert LEXI_RECALL.of(x, y) == 1
    assert naive.leximin(nearly.users(x), nearly.users(y)) == -1
    users = [user_utilities(nearly.in_floats(), placement).utilities for placement in (x, y)]
    assert leximin(*users, tolerance=1e-12) == -1


@st.composite
def two_rankings(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    """Two rankings of one query, with documents that they did not retrieve; often alike at the end."""
    x, y, both = (draw(st.sets(st.integers(1, 25), max_size=3)) for _ in range(3))
    m = draw(st.integers(max(1, len(x | both), len(y | both)), 7))
    return sorted(x | both), sorted(y | both), m


@pytest.mark.parametrize("measure", [AP, RR, NDCG, RBP, TSE], ids=str)
@given(pair=two_rankings())
@quick(60)
def test_lexirecall_is_leximin_over_users_also_where_documents_were_not_retrieved(
    measure: Measure, pair: tuple[list[int], list[int], int]
) -> None:
    x, y, m = pair
    users = [user_utilities(measure, ranking, m).utilities for ranking in (x, y)]
    assert leximin(*users, tolerance=1e-12) == LEXI_RECALL.of(x, y, m)


@pytest.mark.parametrize("exposure", ["ap", "dcg", "rbp"])
@given(pair=two_rankings())
@quick(60)
def test_lexirecall_is_leximin_over_providers_also_where_documents_were_not_retrieved(
    exposure: str, pair: tuple[list[int], list[int], int]
) -> None:
    x, y, m = pair
    providers = [provider_utilities(exposure, ranking, m).utilities for ranking in (x, y)]
    assert leximin(*providers, tolerance=1e-12) == LEXI_RECALL.of(x, y, m)


# What the orders have in common


@pytest.mark.parametrize("exposure", ["ap", "dcg", "rbp"])
@given(pair=two_rankings())
@costly(100)
def test_lexirecall_refines_total_search_efficiency(exposure: str, pair: tuple[list[int], list[int], int]) -> None:
    x, y, m = pair
    preferred = np.sign(preference_of(TSE(e=exposure)).of(x, y, m))
    assert preferred in (0, LEXI_RECALL.of(x, y, m))


@pytest.mark.parametrize("name", ["LexiRecall", "LexiPrecision"])
@given(pair=two_rankings())
@quick(100)
def test_lexicographic_preferences_tie_exactly_where_all_positions_are_equal(
    name: str, pair: tuple[list[int], list[int], int]
) -> None:
    x, y, m = pair
    assert (PREFERENCES[name].of(x, y, m) == 0) == (x == y)
    assert PREFERENCES[name].of(x, x, m) == 0


@pytest.mark.parametrize(
    "name", ["MetricLexiRecall", "MetricLexiRecall(epsilon=0.9)", "LexiRecallPercentile", "LexiRecallBits"]
)
@given(pair=two_rankings(), n=st.sampled_from([32, 10**4, 10**7]))
@quick(60)
def test_exact_metrics_order_rankings_as_lexirecall_does_where_floats_cannot(
    name: str, pair: tuple[list[int], list[int], int], n: int
) -> None:
    x, y, m = pair
    assert np.sign(parse_preference(name).of(x, y, m, corpus_size=n)) == LEXI_RECALL.of(x, y, m)


def test_exact_metrics_tie_an_document_at_the_very_bottom_with_one_that_is_missing() -> None:
    """Their placements are the same, and so are their values; LexiRecall prefers what was found."""
    assert parse_preference("MetricLexiRecall").of([1, 9], [1], 2, corpus_size=9) == 0
    assert LEXI_RECALL.of([1, 9], [1], 2) == 1


def test_recall_paired_preference_has_a_cycle() -> None:
    cycle = [(1, 5, 6), (2, 3, 7), (3, 4, 5)]
    for x, y in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        assert PREFERENCES["RPP"].of(x, y) > 0
        assert PREFERENCES["RPP"].of(y, x) < 0


def test_a_metric_preference_ties_where_the_exact_values_tie() -> None:
    x, y = (1, 2, 4, 12), (1, 3, 4, 6)
    average_precision = EXACT["AP"]
    values = [naive.recall_level(average_precision.e, average_precision.z, p) for p in (x, y)]
    assert values[0] == values[1]
    assert AP.of(x) != AP.of(y)  # in the last digit
    assert preference_of(AP).of(x, y) == 0


@given(pair=two_rankings())
@quick(100)
def test_a_metric_preference_has_the_sign_of_the_exact_difference(pair: tuple[list[int], list[int], int]) -> None:
    x, y, m = pair
    exact = [
        naive.recall_level(reciprocal, lambda i, _: Fraction(i, m), tuple(ranking))  # over m, retrieved or not
        for ranking in (x, y)
    ]
    assert np.sign(preference_of(MEASURES["AP"]).of(x, y, m)) == np.sign(float(exact[0] - exact[1]))

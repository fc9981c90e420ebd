"""The exact place of a ranking among all placements, the keys that sort as it does, and the floats that do not."""

import doctest
import math
import random
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import project
from lexirecall.errors import UsageError
from lexirecall.exact import (
    Place,
    bits,
    colex_rank,
    colex_unrank,
    lex_rank,
    lex_unrank,
    percentile,
    place,
    sort_key,
    yager_float_limit,
    yager_lexirecall,
    yager_lexirecall_exact,
    yager_weights,
)
from lexirecall.exact.binomials import binomials, decomposed
from lexirecall.exact.colex import OrderName
from lexirecall.measures import MEASURES
from strategies import quick

DOCS = Path(__file__).parents[1] / "docs"
SIZES = [(m, n) for n in range(10) for m in range(n + 1)]
ORDERS: tuple[OrderName, ...] = ("recall", "precision")


def prefers(x: Sequence[float], y: Sequence[float]) -> bool:
    """LexiRecall: at the deepest level where they differ, x has its document higher."""
    differing = [i for i in range(len(x)) if x[i] != y[i]]
    return bool(differing) and x[differing[-1]] < y[differing[-1]]


@st.composite
def placements(draw: st.DrawFn, largest_n: int = 10**8, largest_m: int = 60) -> tuple[list[int], int]:
    """Positions and a corpus size; the corpus may be all but filled, and the documents dense at either end."""
    m = draw(st.integers(0, largest_m))
    n = m + draw(st.integers(0, 3) | st.integers(0, 300) | st.integers(0, largest_n - m))
    low = draw(st.integers(0, n - m))
    width = min(n - low, m + draw(st.integers(0, 5) | st.integers(0, n)))
    generator = draw(st.randoms(use_true_random=False))
    return sorted(generator.sample(range(low + 1, low + width + 1), m)), n


# Places and back


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_the_place_is_the_one_among_all_placements_sorted(m: int, n: int) -> None:
    for order in ORDERS:
        places = naive.places(m, n, order)
        assert {placement: place(placement, n, order=order).rank for placement in places} == places
        assert {place(placement, n, order=order).total for placement in places} == {len(places)}
    assert {placement: colex_rank(placement) for placement in naive.places(m, n)} == naive.places(m, n)
    assert {placement: lex_rank(placement, n) for placement in naive.places(m, n, "precision")} == naive.places(
        m, n, "precision"
    )


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_every_place_has_its_placement(m: int, n: int) -> None:
    assert [colex_unrank(rank, m, n) for rank in range(math.comb(n, m))] == list(naive.places(m, n))
    assert [lex_unrank(rank, m, n) for rank in range(math.comb(n, m))] == list(naive.places(m, n, "precision"))


@pytest.mark.parametrize(("m", "n"), [(m, n) for m, n in SIZES if n <= 7])
def test_a_lower_place_is_what_lexirecall_prefers(m: int, n: int) -> None:
    for x, y in product(combinations(range(1, n + 1), m), repeat=2):
        assert (colex_rank(x) < colex_rank(y)) == prefers(x, y)


@quick(200)
@given(placements())
def test_a_place_leads_back_to_its_placement(drawn: tuple[list[int], int]) -> None:
    positions, n = drawn
    m = len(positions)
    assert colex_rank(positions) == sum(math.comb(p - 1, i) for i, p in enumerate(positions, 1))
    assert list(colex_unrank(colex_rank(positions), m, n)) == positions
    assert list(colex_unrank(colex_rank(positions), m)) == positions
    assert list(lex_unrank(lex_rank(positions, n), m, n)) == positions


@quick(200)
@given(st.data())
def test_a_placement_leads_back_to_its_place(data: st.DataObject) -> None:
    m = data.draw(st.integers(1, 60))
    n = data.draw(st.integers(m, 10**8))
    rank = data.draw(st.integers(0, math.comb(n, m) - 1))
    assert place(colex_unrank(rank, m, n), n) == Place(rank, math.comb(n, m))
    assert place(lex_unrank(rank, m, n), n, order="precision") == Place(rank, math.comb(n, m))


@quick(60)
@given(placements(largest_n=2000, largest_m=500))
def test_many_dense_documents_have_their_exact_place(drawn: tuple[list[int], int]) -> None:
    """Here the coefficients are computed from their neighbours, up and down."""
    positions, n = drawn
    m = len(positions)
    worse = sum(math.comb(n - p, m - i + 1) for i, p in enumerate(positions, 1))
    assert place(positions, n, order="precision").worse == worse
    assert colex_rank(positions) == sum(math.comb(p - 1, i) for i, p in enumerate(positions, 1))
    assert list(colex_unrank(colex_rank(positions), m, n)) == positions


@quick(100)
@given(st.integers(0, 10**40) | st.integers(0, 100), st.integers(1, 12))
def test_every_number_is_one_sum_of_binomial_coefficients(number: int, k: int) -> None:
    tops = decomposed(number, k)
    assert all(a < b for a, b in pairwise([-1, *tops]))
    assert sum(binomials(tops)) == number == sum(math.comb(top, i) for i, top in enumerate(tops, 1))


def test_positions_beyond_floats_are_found_exactly() -> None:
    positions = (7, 10**350, 10**400 + 1)
    assert colex_unrank(colex_rank(positions), 3) == positions


def test_a_thousand_documents_in_a_hundred_million() -> None:
    n, m = 10**8, 1000
    positions = sorted(random.Random(0).sample(range(1, n + 1), m))  # noqa: S311
    ours = place(positions, n)
    assert colex_unrank(ours.rank, m, n) == tuple(positions)
    assert float(ours) == float(ours.percentile) == float(percentile(positions, n))
    assert repr(ours) == f"Place(rank=2**{math.log2(ours.rank):.2f}, total=2**{math.log2(ours.total):.2f})"
    assert bits(range(1, m + 1), n) == pytest.approx(math.log2(math.comb(n, m)), rel=1e-15)


# Percentile and bits


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("m", "n"), SIZES)
def test_the_percentile_is_the_share_of_the_other_placements_that_are_worse(m: int, n: int, order: OrderName) -> None:
    every = list(naive.places(m, n, order))
    shares = [percentile(placement, n, order=order) for placement in every]
    worse = range(len(every) - 1, -1, -1)
    assert shares == ([Fraction(number, len(every) - 1) for number in worse] if len(every) > 1 else [1])
    assert [float(place(placement, n, order=order)) for placement in every] == list(map(float, shares))


@quick(100)
@given(placements(), st.data(), st.sampled_from(ORDERS))
def test_documents_not_retrieved_are_at_the_bottom(
    drawn: tuple[list[int], int], data: st.DataObject, order: OrderName
) -> None:
    positions, n = drawn
    m = len(positions)
    found = positions[: data.draw(st.integers(0, m))]
    missing = m - len(found)
    filled = place([*found, *range(n - missing + 1, n + 1)], n, order=order)
    assert place(found, n, m, order=order) == place([*found, *[math.inf] * missing], n, order=order) == filled


@quick(100)
@given(placements(), st.sampled_from(ORDERS))
def test_the_best_placement_has_percentile_1_and_the_worst_0(drawn: tuple[list[int], int], order: OrderName) -> None:
    positions, n = drawn
    m = len(positions)
    total = math.comb(n, m)
    assert place(range(1, m + 1), n, order=order) == Place(0, total)
    assert place([], n, m, order=order) == Place(total - 1, total)
    assert 0 <= percentile(positions, n, order=order) <= 1
    assert bits([], n, m, order=order) == 0 <= bits(positions, n, order=order) <= bits(range(1, m + 1), n, order=order)


def test_one_document_of_seventy_missing_is_worse_than_nearly_all_placements() -> None:
    """However well the others are placed: only C(n-1, 69) of C(n, 70) placements end at n, 70 in n."""
    n = 528_155
    best = percentile(range(1, 70), n, num_relevant=70)
    assert best == Fraction(math.comb(n - 1, 69) - 1, math.comb(n, 70) - 1)
    assert 0.0001 < best < 0.0002


def test_seventy_documents_in_the_top_thousand_are_better_than_nearly_all_placements() -> None:
    """However badly they are placed there; as a float that is 1."""
    n = 528_155
    worst = percentile(range(931, 1001), n)
    assert worst == 1 - Fraction(math.comb(1000, 70) - 1, math.comb(n, 70) - 1)
    assert Fraction(15, 10) < (1 - worst) * 10**192 < Fraction(25, 10)
    assert float(worst) == 1.0


@quick(100)
@given(placements(), st.sampled_from(ORDERS), st.integers(0, 2))
def test_bits_are_the_logarithm_of_the_exact_ratio(
    drawn: tuple[list[int], int], order: OrderName, num_missing: int
) -> None:
    """Also where the ratio is so near 1 that a float would not hold the difference, and beyond the largest float."""
    positions, n = drawn
    ours = place(positions[: len(positions) - min(num_missing, len(positions))], n, len(positions), order=order)
    with localcontext(prec=1000):
        exact = (Decimal(ours.total) / Decimal(ours.rank + 1)).ln() / Decimal(2).ln()
        assert abs(Decimal(ours.bits) - exact) <= exact * Decimal("1e-14") + Decimal("1e-300")


def test_bits_count_the_halvings() -> None:
    assert [bits([p], 2**40) for p in (1, 2, 4, 2**39, 2**40)] == [40, 39, 38, 1, 0]


def test_the_rows_of_the_table_are_the_exact_numbers_as_floats() -> None:
    qrels = {"q": dict.fromkeys("abc", 1), "none": {"a": 0}, "all": {"a": 1, "b": 1}}
    runs = {"one": {"q": list("xaybz"), "all": ["a", "b"]}, "two": {"q": list("cab")}}
    positions = project(qrels, runs, corpus_size={"q": 50, "none": 50, "all": 2}).at_level(1)
    assert MEASURES["LexiRecallPercentile"].scores(positions).tolist() == [
        [float(percentile([2, 4], 50, 3)), 0, 1],
        [1, 0, 1],
    ]
    assert MEASURES["LexiRecallBits"].scores(positions).tolist() == [
        [bits([2, 4], 50, 3), 0, 0],
        [math.log2(math.comb(50, 3)), 0, 0],
    ]


# Sort keys


@pytest.mark.parametrize("m", range(4))
def test_sort_keys_compare_as_lexirecall_does_whatever_was_retrieved(m: int) -> None:
    """Positions around 256 and 65536, where a byte more is needed."""
    offered = (1, 2, 255, 256, 65536, 2**32 - 2)
    found = [list(positions) for r in range(m + 1) for positions in combinations(offered, r)]
    for x, y in product(found, repeat=2):
        vectors = [[*positions, *[math.inf] * (m - len(positions))] for positions in (x, y)]
        assert (sort_key(x, m) < sort_key(y, m)) == prefers(*vectors)
        assert sort_key(x, m) == sort_key(vectors[0])
        assert len(sort_key(x, m)) == 4 * m


@quick(100)
@given(st.data())
def test_sort_keys_order_as_places_do_where_everything_is_retrieved(data: st.DataObject) -> None:
    m = data.draw(st.integers(1, 30))
    n = data.draw(st.integers(m, 2**32 - 2))
    x, y = (colex_unrank(data.draw(st.integers(0, math.comb(n, m) - 1)), m, n) for _ in range(2))
    assert (sort_key(x) < sort_key(y)) == (colex_rank(x) < colex_rank(y))


def test_a_vector_of_a_projection_is_taken_as_it_is() -> None:
    positions = project({"q": dict.fromkeys("abc", 1)}, {"q": ["x", "a"]}, corpus_size=9)
    vector, imputed = (positions.at_level(1).vector(0, 0, imputed=bottom) for bottom in (False, True))
    assert vector.tolist() == [2, math.inf, math.inf]
    assert sort_key([2, 8, 9]) == sort_key(imputed) < sort_key(vector) == sort_key([2], 3)
    assert place(vector, 9) == place(imputed, 9) == place(np.array([2]), 9, 3)


# Yager's weights


def falls(values: Sequence[float | Fraction]) -> bool:
    return all(a > b for a, b in pairwise(values))


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000)])
@pytest.mark.parametrize("n", range(1, 9))
def test_yagers_exact_number_orders_all_placements_as_lexirecall_does(n: int, epsilon: Fraction) -> None:
    for m in range(1, n + 1):
        assert falls([yager_lexirecall_exact(placement, n, epsilon=epsilon) for placement in naive.places(m, n)])


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 10), (2, 10), (5, 1000), (70, 528_155)])
def test_yagers_weights_are_bottom_heavy_and_add_up_to_1(m: int, n: int) -> None:
    exact, floats = yager_weights(m, n, Fraction(1, 2)), yager_weights(m, n, 0.5)
    delta = 1 / (n + Fraction(1, 2))
    assert sum(exact) == 1
    assert exact[-1] == (1 / (1 + delta) if m > 1 else 1)
    assert falls(exact[::-1])
    assert floats == pytest.approx(list(map(float, exact)), rel=1e-12)
    if m > 2:
        assert [a / b for a, b in pairwise(exact[1:])] == [delta / (1 + delta)] * (m - 2)


@quick(60)
@given(placements(largest_n=10**6, largest_m=12), st.floats(0.01, 0.99))
def test_yagers_number_in_floats_is_near_the_exact_one(drawn: tuple[list[int], int], epsilon: float) -> None:
    positions, n = drawn
    exact = yager_lexirecall_exact(positions[:-1], n, len(positions), epsilon=epsilon)
    ours = yager_lexirecall(positions[:-1], n, len(positions), epsilon=epsilon)
    assert ours == pytest.approx(float(exact), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("m", "n"), [*((m, n) for n in range(1, 13) for m in range(1, n + 1)), (12, 17), (13, 15)])
def test_up_to_their_limit_floats_order_all_placements(m: int, n: int) -> None:
    assert n <= yager_float_limit(m) or math.comb(n, m) == 1
    assert falls([yager_lexirecall(placement, n) for placement in naive.places(m, n)])


def ties(m: int, n: int) -> Iterator[tuple[int, ...]]:
    """Search among the nearest values: those of good rankings that differ by 1 in p_1."""
    generator = random.Random(0)  # noqa: S311
    for _ in range(5000):
        first, *rest = sorted(generator.sample(range(2, n // 2 + 1), m))
        if yager_lexirecall([first - 1, *rest], n) == yager_lexirecall([first, *rest], n):
            yield first, *rest


@pytest.mark.parametrize("m", range(2, 12))
def test_within_a_hundredth_beyond_their_limit_floats_tie(m: int) -> None:
    n = math.ceil(1.01 * yager_float_limit(m)) + 1
    first, *rest = next(ties(m, n))
    assert yager_lexirecall_exact([first - 1, *rest], n) > yager_lexirecall_exact([first, *rest], n)


@pytest.mark.parametrize(("n", "most"), [(10**3, 5), (10**4, 3), (10**5, 3), (10**6, 2)])
def test_how_many_documents_floats_can_order_in_a_corpus(n: int, most: int) -> None:
    assert yager_float_limit(most) >= n
    assert next(ties(most + 1, n))


@pytest.mark.parametrize("m", [16, 20, 30])
def test_from_sixteen_documents_on_floats_never_order_all_placements(m: int) -> None:
    """Two rankings of all documents but one, which is the first or the second."""
    rest = range(3, m + 2)
    assert yager_lexirecall([1, *rest], m + 1) == yager_lexirecall([2, *rest], m + 1)


def test_with_five_documents_missing_floats_do_not_see_the_others() -> None:
    n, m = 528_155, 70
    assert yager_lexirecall(range(1, 66), n, m) == yager_lexirecall(range(901, 966), n, m)
    assert yager_lexirecall_exact(range(1, 66), n, m) > yager_lexirecall_exact(range(901, 966), n, m)
    assert place(range(1, 66), n, m).rank < place(range(901, 966), n, m).rank


# What is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: colex_rank([0, 1]), r"the positions are \(0, 1\), but must increase from 1 on"),
        (lambda: colex_rank([3, 3]), r"\(3, 3\), but must increase"),
        (lambda: colex_rank([*range(9), 1]), r"\(0, 1, 2, 3, 4, 5, 6, 7, …\)"),
        (lambda: sort_key([math.inf, 3]), r"\(inf, 3\), but must increase"),
        (lambda: colex_rank([1.5]), "must be whole numbers, or infinity"),
        (lambda: colex_rank([math.nan]), "must be whole numbers"),
        (lambda: colex_rank(np.array([-np.inf])), "must be whole numbers"),
        (lambda: colex_rank("12"), "must be whole numbers"),  # type: ignore[arg-type]
        (lambda: colex_rank([1, math.inf]), "a relevant document was not retrieved"),
        (lambda: sort_key([1, 2], 1), r"num_relevant is 1, but must be a whole number of at least 2, .* \(1, 2\)"),
        (lambda: sort_key([1, math.inf], 1), "num_relevant is 1, but"),
        (lambda: sort_key([1, 2], 2.5), "num_relevant is 2.5"),  # type: ignore[arg-type]
        (lambda: sort_key([1, 2**32 - 1]), "position 4294967295 does not fit in a key"),
        (
            lambda: place([1, 9], 10, 4),
            r"the corpus size is 10, but must be a whole number of at least 11\n"
            r" *4 relevant documents \(2 of them at \(1, 9\)\) cannot fit in less$",
        ),
        (lambda: place([], 3, 4), r"at least 4\n *4 relevant documents cannot fit in less$"),
        (lambda: place([1], 3.5), "the corpus size is 3.5"),  # type: ignore[arg-type]
        (lambda: place([1], 3, order="best"), "order is 'best', but must be one of recall, precision"),  # type: ignore[arg-type]
        (lambda: colex_unrank(-1, 2), "the rank is -1, but must be a whole number of at least 0"),
        (lambda: colex_unrank(6, 2, 4), r"the rank is 6, but must be below C\(4, 2\)"),
        (lambda: colex_unrank(1, 0), r"the rank is 1, but must be below C\(n, 0\)"),
        (lambda: colex_unrank(10**9999, 2, 4), r"the rank is 2\*\*33215.96, but"),
        (lambda: colex_unrank("1", 2), "the rank is 1, but must be a whole number"),  # type: ignore[arg-type]
        (lambda: colex_unrank(0, -1), "num_relevant is -1"),
        (lambda: lex_unrank(0, 5, 4), "the corpus size is 4, but must be a whole number of at least 5"),
        (lambda: lex_unrank(6, 2, 4), "below C"),
        (lambda: yager_weights(2, 10, 1.0), "epsilon is 1.0, but must be above 0 and below 1"),
        (lambda: yager_lexirecall([1], 10, epsilon=0), "epsilon is 0.0"),
        (lambda: yager_lexirecall([11], 10), "the corpus size is 10"),
        (lambda: yager_float_limit(0), "num_relevant is 0, but must be at least 1"),
        (lambda: yager_float_limit(2, epsilon=2), "epsilon is 2"),
    ],
)
def test_what_is_no_ranking_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def test_the_page_on_exact_places_prints_what_it_shows() -> None:
    result = doctest.testfile(str(DOCS / "exact.md"), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0

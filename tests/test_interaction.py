"""Whether a difference varies by group: the test is its definition, and is right where nothing varies."""

import math
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from lexirecall.judgments import IntArray
from lexirecall.statistics import interaction as module
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.interaction import Interaction, _all_ways, interactions, least_p, ways
from strategies import quick

Labelled = list[tuple[int, int]]
labelled = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=7)


@pytest.fixture(autouse=True, scope="module")
def small_groups_count() -> Iterator[None]:
    """Cases are small enough to try all ways; what FEWEST leaves out has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEWEST", 1)
        yield


def of_rows(rows: list[list[float]]) -> Differences:
    values = np.array(rows, float)
    first = np.zeros(len(rows), np.int64)
    return Differences(first, first + 1, values, np.ones(values.shape, bool))


def interaction_of(rows: list[list[float]], groups: list[int] | IntArray, **options: Any) -> Interaction:
    return interactions(of_rows(rows), np.array(groups), **options)


@given(labelled, st.integers(1, 3))
@example([(1, 0), (1, 1), (1, 1)], 1)
@quick(150)
def test_p_is_the_share_of_all_ways_to_hand_out_the_groups(chosen: Labelled, fewest: int) -> None:
    numbers, groups = map(list, zip(*chosen, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEWEST", fewest)
        found = interaction_of([[number / 7 for number in numbers]], groups)
    p = naive.interaction_pvalue(numbers, groups, fewest)
    kept = [(number, group) for number, group in zip(numbers, groups, strict=True) if groups.count(group) >= fewest]
    assert found.num_queries.item() == len(kept)
    assert found.num_groups.item() == len({group for _, group in kept})
    assert found.num_small.item() == len({*groups}) - found.num_groups.item()
    if p is None:
        assert all(np.isnan(column).all() for column in (found.pvalues, found.shares, found.leasts))
        return
    share = naive.share_between(*map(list, zip(*kept, strict=True)))
    assert found.pvalues.tolist() == pytest.approx([float(p)], rel=1e-15)
    assert found.shares.tolist() == pytest.approx([float(share or 0)], abs=1e-12)
    assert found.pvalues.item() >= found.leasts.item() - 1e-12


@given(st.lists(st.integers(-3, 3), min_size=11, max_size=11))
@quick(10)
def test_groups_of_fewer_than_five_queries_are_left_out(numbers: list[int]) -> None:
    groups = [0, 1] * 5 + [2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEWEST", 5)
        found = interaction_of([[float(number) for number in numbers]], groups)
        none = interaction_of([[float(number) for number in numbers]], [0, 1, 2] * 3 + [3, 0])
    p = naive.interaction_pvalue(numbers, groups)
    assert found.pvalues.tolist() == pytest.approx([math.nan if p is None else float(p)], rel=1e-15, nan_ok=True)
    assert (found.num_groups.item(), found.num_small.item(), found.num_queries.item()) == (2, 1, 10)
    assert np.isnan(none.pvalues).all()
    assert (none.num_groups.item(), none.num_small.item(), none.num_queries.item()) == (0, 4, 0)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3))
@quick(30)
def test_every_way_to_hand_out_the_groups_is_tried_once(sizes: list[int]) -> None:
    tried = [tuple(way) for block in _all_ways(sizes) for way in block.tolist()]
    ends = np.cumsum(sizes)
    split = {tuple(frozenset(part.tolist()) for part in np.split(np.array(way), ends[:-1])) for way in tried}
    assert len(tried) == len(split) == ways(sizes)
    assert all(sorted(way) == list(range(sum(sizes))) for way in tried)
    assert all(ways(sizes, most) == ways(sizes) or ways(sizes, most) > most for most in range(20))


def test_random_ways_come_near_to_all_of_them() -> None:
    numbers = [3.0, 1, 2, 4, -1, 0, 1, -2, 0, 1]
    groups = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    exact = interaction_of([numbers], groups)
    drawn = interaction_of([numbers], groups, num_resamples=ways([4, 3, 3]) - 1)
    assert (exact.num_resamples, drawn.num_resamples) == (4200, 4199)
    p = exact.pvalues.item()
    assert abs(drawn.pvalues.item() - p) < 5 * math.sqrt(p * (1 - p) / 4199)
    assert drawn.pvalues.item() == interaction_of([numbers], groups, num_resamples=4199).pvalues.item()
    assert drawn.pvalues.item() != interaction_of([numbers], groups, num_resamples=4199, seed=1).pvalues.item()


@given(labelled, st.sampled_from([1e-200, 0.1, 3.0, 1e200]))
@quick(60)
def test_neither_scale_nor_sign_nor_a_common_difference_counts(chosen: Labelled, scale: float) -> None:
    numbers, groups = map(list, zip(*chosen, strict=True))
    one = interaction_of([numbers], groups).pvalues
    np.testing.assert_array_equal(one, interaction_of([[-scale * number for number in numbers]], groups).pvalues)
    np.testing.assert_array_equal(one, interaction_of([[number + 8 for number in numbers]], groups).pvalues)


def test_equal_differences_are_not_tested() -> None:
    rows: list[list[float]] = [[0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2], [0, 0, 0, 0], [0, 0, 1, 2]]
    found = interaction_of(rows, [0, 0, 1, 1])
    for column in (found.pvalues, found.shares, found.leasts):
        assert np.isnan(column).tolist() == [True, True, False]


def test_a_small_group_with_a_large_spread_is_not_taken_for_one_with_another_mean() -> None:
    """Two far values on either side: their mean is away from 0 though nothing says that it is not 0."""
    wide = [-9.0, 14.0, -8.0, 13.0]
    narrow = [0.1 * (-1) ** i for i in range(30)]
    groups = [0] * 4 + [1] * 15 + [2] * 15
    assert interaction_of([wide + narrow], groups, num_resamples=999).pvalues.item() > 0.3
    assert interaction_of([[2.4, 2.6, 2.5, 2.5, *narrow]], groups, num_resamples=999).pvalues.item() == 0.001


def test_queries_that_are_not_compared_or_have_no_group_do_not_count() -> None:
    rows, groups = [[5.0, 1, 2, 9, 4, 3, 8]], [0, 0, 1, -1, 1, 0, -1]
    whole = interactions(of_rows(rows), np.array(groups))
    part = interaction_of([[5.0, 1, 2, 4, 3]], [0, 0, 1, 1, 0])
    assert whole.pvalues.item() == part.pvalues.item()
    differences = of_rows([[5.0, 1, 2, 0, 4, 3, 0], [5.0, 1, 2, 9, 4, 3, 0]])
    differences.counted[0, 3] = False
    both = interactions(differences, np.array([0, 0, 1, 1, 1, 0, -1]))
    assert both.pvalues.tolist() == [
        part.pvalues.item(),
        interaction_of([[5.0, 1, 2, 9, 4, 3]], [0, 0, 1, 1, 1, 0]).pvalues.item(),
    ]
    assert both.num_queries.tolist() == [5, 6]


def test_pairs_do_not_touch_each_other() -> None:
    draw = np.random.default_rng(5)
    rows, groups = draw.normal(size=(4, 30)), draw.integers(0, 3, 30)
    together = interaction_of(rows.tolist(), groups, num_resamples=200)
    assert together.pvalues.tolist() == [
        interaction_of([row], groups, num_resamples=200).pvalues.item() for row in rows.tolist()
    ]


def test_one_group_or_none_has_no_p() -> None:
    for groups in ([0, 0, 0], [-1, -1, -1], [-1, 2, -1]):
        found = interaction_of([[1.0, 2, 3]], groups)
        assert np.isnan(found.pvalues).all()
        assert found.num_resamples == 0


def test_the_least_p_counts_groups_that_may_change_places() -> None:
    assert least_p([2, 2], 100) == 2 / 6
    assert least_p([2, 2, 2], 100) == 6 / 90
    assert least_p([1, 3], 100) == 1 / 4
    assert interaction_of([[9.0, 9, 0, 0]], [0, 0, 1, 1]).pvalues.item() == 2 / 6
    leasts = [least_p([size, size], 10**6) for size in range(1, 9)]
    assert all(later < earlier for earlier, later in pairwise(leasts))


def test_additions_are_bounded_and_fewer_ways_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    rows, groups = rng.normal(size=(3, 60)).tolist(), [q % 6 for q in range(60)]
    whole = interaction_of(rows, groups, num_resamples=500)
    assert (whole.num_resamples, whole.is_bounded) == (500, False)
    monkeypatch.setattr(module, "MOST_ADDITIONS", 60 * 12 * 200)
    bounded = interaction_of(rows, groups, num_resamples=500)
    assert (bounded.num_resamples, bounded.is_bounded) == (200, True)
    assert bounded.leasts.tolist() == [1 / 201] * 3
    assert bounded.pvalues.tolist() == interaction_of(rows, groups, num_resamples=200).pvalues.tolist()
    few = interaction_of([[0.0, 1, 2, 5]], [0, 0, 1, 1], num_resamples=10**9)
    assert (few.num_resamples, few.is_bounded) == (6, False)


def test_a_group_for_each_query_costs_no_more_than_one_for_many() -> None:
    values = np.random.default_rng(5).normal(size=(1, 2000)).tolist()
    started = time.process_time()
    interaction_of(values, np.arange(2000) // 2, num_resamples=1000)
    assert time.process_time() - started < 10

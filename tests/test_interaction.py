"""Whether a difference varies by group: the test is its definition, and is right where nothing varies."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from lexirecall.judgments import IntArray
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.interaction import Interaction, _all_ways, interactions, least_p, ways
from strategies import quick

Labelled = list[tuple[int, int]]
labelled = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=7)


def of_rows(rows: list[list[float]]) -> Differences:
    values = np.array(rows, float)
    first = np.zeros(len(rows), np.int64)
    return Differences(first, first + 1, values, np.ones(values.shape, bool))


def interaction_of(rows: list[list[float]], groups: list[int] | IntArray, **options: Any) -> Interaction:
    return interactions(of_rows(rows), np.array(groups), **options)


@given(labelled)
@example([(1, 0), (1, 1), (1, 1)])
@quick(150)
def test_p_is_the_share_of_all_ways_to_hand_out_the_groups(chosen: Labelled) -> None:
    numbers, groups = map(list, zip(*chosen, strict=True))
    found = interaction_of([[number / 7 for number in numbers]], groups)
    share = naive.share_between(numbers, groups)
    if len({*groups}) < 2:
        assert np.isnan(found.pvalues).all()
        return
    assert found.pvalues.tolist() == pytest.approx([float(naive.interaction_pvalue(numbers, groups))], rel=1e-15)
    assert found.shares.tolist() == pytest.approx([math.nan if share is None else float(share)], abs=1e-12, nan_ok=True)
    assert (found.num_queries.item(), found.num_groups.item()) == (len(numbers), len({*groups}))
    assert found.pvalues.item() >= found.leasts.item() - 1e-12


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3))
@quick(30)
def test_every_way_to_hand_out_the_groups_is_tried_once(sizes: list[int]) -> None:
    tried = [tuple(way) for block in _all_ways(sizes) for way in block.tolist()]
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    assert len(tried) == len({*tried}) == ways(sizes)
    assert all(sorted(way) == groups for way in tried)


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


def test_equal_differences_vary_by_no_group() -> None:
    found = interaction_of([[0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2], [0, 0, 0, 0]], [0, 0, 1, 1])
    assert found.pvalues.tolist() == [1, 1]
    assert np.isnan(found.shares).all()


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

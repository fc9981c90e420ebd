"""One order of runs: every method is its definition, equal runs are equal, and nothing depends on names."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import optimize

import naive
from lexirecall import parse_preference
from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.positions import Projection
from lexirecall.preferences.pairs import SignArray
from lexirecall.results import Pairs
from lexirecall.statistics import kemeny
from lexirecall.statistics.aggregate import (
    Order,
    dominance_classes,
    from_pairs,
    majority,
    majority_cycles,
    order_runs,
    shared_ranks,
    stationary,
)
from lexirecall.statistics.kemeny import _best_orders, _Excess, mean_places
from strategies import costly, quick

EVERY = pytest.mark.parametrize("method", from_pairs())
Profile = tuple[int, list[naive.Vote]]
Grades = list[list[int]]


def pairs_of(profile: Profile) -> Pairs:
    size, votes = profile
    values = np.zeros((size, size, len(votes)), np.int8)
    taking_part = np.zeros((size, len(votes)), bool)
    for q, vote in enumerate(votes):
        taking_part[list(vote.present), q] = True
        values[:, :, q] = np.array(vote.signs) * np.outer(taking_part[:, q], taking_part[:, q])
    return named(values, taking_part)


def named(values: SignArray | FloatArray, taking_part: BoolArray | None = None) -> Pairs:
    size, _, num_queries = values.shape
    everyone = np.ones((size, num_queries), bool)
    names = tuple(f"s{s}" for s in range(size)), tuple(f"q{q}" for q in range(num_queries))
    return Pairs("any", *names, values, everyone if taking_part is None else taking_part)


def graded(grades: Grades) -> Pairs:
    """One row for each run, one column for each query; the higher grade is preferred."""
    array = np.array(grades)
    return named(np.sign(array[:, None] - array[None]).astype(np.int8))


def of_majority(signs: IntArray) -> Pairs:
    """One query that says what the majority says."""
    return named(signs[:, :, None].astype(np.int8))


def signs_of(values: list[int]) -> naive.Signs:
    return [[(x > y) - (x < y) for y in values] for x in values]


@st.composite
def votes(draw: st.DrawFn, size: int) -> naive.Vote:
    """A query on which all take part or some, in a weak order or in no order at all."""
    everyone = set(range(size))
    present = draw(st.sampled_from([everyone, everyone]) | st.sets(st.integers(0, size - 1)))
    if draw(st.booleans()):
        return naive.Vote(present, signs_of(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))))
    signs = [[0] * size for _ in range(size)]
    for a in range(size):
        for b in range(a):
            signs[a][b] = draw(st.sampled_from([-1, 0, 1]))
            signs[b][a] = -signs[a][b]
    return naive.Vote(present, signs)


@st.composite
def profiles(draw: st.DrawFn, most: int = 5) -> Profile:
    size = draw(st.integers(1, most))
    return size, draw(st.lists(votes(size), max_size=5))


def grade_tables(most: int = 5) -> st.SearchStrategy[Grades]:
    return st.tuples(st.integers(2, most), st.integers(1, 5)).flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(0, 3), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        )
    )


def assert_is(order: Order, scores: list[Fraction], ranks: list[int]) -> None:
    assert order.scores.tolist() == pytest.approx([float(score) for score in scores], rel=1e-12)
    assert order.ranks.tolist() == ranks


# The definitions


SCORES: dict[str, Callable[[int, list[naive.Vote]], list[Fraction]]] = {
    "winrate": naive.mean_win_rates,
    "borda": naive.borda_points,
    "copeland": lambda size, votes: naive.copeland_points(naive.majority_signs(size, votes)),
    "kemeny": naive.kemeny,
}


@pytest.mark.parametrize("method", SCORES)
@given(profile=profiles())
@costly(150)
def test_the_order_is_that_of_the_definition(method: str, profile: Profile) -> None:
    scores = SCORES[method](*profile)
    assert_is(order_runs(pairs_of(profile), method), scores, naive.run_ranks(scores))


@given(profile=profiles(6))
@quick(300)
def test_mc4_is_the_exact_chain_of_each_class_in_turn(profile: Profile) -> None:
    assert_is(order_runs(pairs_of(profile), "mc4"), *naive.mc4(naive.majority_signs(*profile)))


@given(grades=grade_tables())
@quick(100)
def test_borda_points_are_the_number_of_runs_less_the_average_ranks(grades: Grades) -> None:
    by_query = [naive.average_ranks(list(column)) for column in zip(*grades, strict=True)]
    points = [sum(len(grades) - ranks[s] for ranks in by_query) for s in range(len(grades))]
    assert order_runs(graded(grades), "borda").scores.tolist() == [float(point) for point in points]


@EVERY
@given(profile=profiles(), sizes=st.lists(st.floats(1e-9, 1e9), min_size=5, max_size=5))
@quick(40)
def test_only_the_sign_of_a_preference_counts(method: str, profile: Profile, sizes: list[float]) -> None:
    pairs = pairs_of(profile)
    sized = named(pairs.values * np.array(sizes[: len(pairs.queries)]), pairs.taking_part)
    assert order_runs(sized, method).scores.tolist() == order_runs(pairs, method).scores.tolist()


# What holds for all methods


@EVERY
@given(profile=profiles(), data=st.data())
@costly(100)
def test_another_order_of_the_runs_changes_nothing(method: str, profile: Profile, data: st.DataObject) -> None:
    pairs = pairs_of(profile)
    moved = data.draw(st.permutations(range(len(pairs.runs))))
    order = order_runs(pairs, method)
    other = order_runs(named(pairs.values[np.ix_(moved, moved)], pairs.taking_part[moved]), method)
    assert other.ranks.tolist() == order.ranks[moved].tolist()
    assert other.scores.tolist() == pytest.approx(order.scores[moved].tolist(), rel=1e-12)
    assert sorted(map(len, other.cycles)) == sorted(map(len, order.cycles))


@EVERY
@given(profile=profiles())
@costly(100)
def test_ranks_follow_the_scores(method: str, profile: Profile) -> None:
    order = order_runs(pairs_of(profile), method)
    for a, b in np.ndindex(len(order.ranks), len(order.ranks)):
        if order.ranks[a] < order.ranks[b]:
            assert order.scores[a] > order.scores[b]
        if order.ranks[a] == order.ranks[b]:
            assert order.scores[a] == pytest.approx(order.scores[b], rel=1e-12)
    assert order.ranks.tolist() == [1 + int((order.ranks < rank).sum()) for rank in order.ranks]


@EVERY
@given(grades=grade_tables(4), data=st.data())
@quick(60)
def test_runs_that_do_the_same_share_a_rank(method: str, grades: Grades, data: st.DataObject) -> None:
    twin = data.draw(st.integers(0, len(grades) - 1))
    place = data.draw(st.integers(0, len(grades)))
    ranks = order_runs(graded([*grades[:place], grades[twin], *grades[place:]]), method).ranks
    assert ranks[place] == ranks[twin + (twin >= place)]


@EVERY
@given(grades=grade_tables())
@quick(60)
def test_a_run_that_always_wins_against_another_comes_before_it(method: str, grades: Grades) -> None:
    better = [max(column) + 1 for column in zip(*grades, strict=True)]
    best = [grade + 1 for grade in better]
    ranks = order_runs(graded([*grades, better, best]), method).ranks
    assert ranks[-2:].tolist() == [2, 1]
    just_better = [grade + 1 for grade in grades[0]]
    ranks = order_runs(graded([*grades, just_better]), method).ranks
    assert ranks[-1] < ranks[0]


@EVERY
def test_a_tie_is_no_win_for_the_later_name(method: str) -> None:
    """aaa beats zzz on two of five queries and ties on three, whichever is given first."""
    aaa, zzz = [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]
    assert order_runs(graded([aaa, zzz]), method).ranks.tolist() == [1, 2]
    assert order_runs(graded([zzz, aaa]), method).ranks.tolist() == [2, 1]


@EVERY
@pytest.mark.parametrize("num_queries", [0, 3])
def test_where_nothing_is_told_apart_all_are_first(method: str, num_queries: int) -> None:
    order = order_runs(named(np.zeros((4, 4, num_queries), np.int8)), method)
    assert order.ranks.tolist() == [1, 1, 1, 1]
    assert len(set(order.scores.tolist())) == 1


def test_runs_that_the_majority_ranks_otherwise_than_the_mean() -> None:
    """3 × a > b > c > d and 2 × b > c > d > a: a beats each of the others 3:2, b has the higher mean."""
    pairs = graded([[3, 3, 3, 0, 0], [2, 2, 2, 3, 3], [1, 1, 1, 2, 2], [0, 0, 0, 1, 1]])
    scores = {
        "winrate": [3 / 5, 4 / 5, 7 / 15, 2 / 15],
        "borda": [9, 12, 7, 2],
        "copeland": [3, 2, 1, 0],
        "mc4": [4, 3, 2, 1],
        "kemeny": [-1, -2, -3, -4],
    }
    for method, expected in scores.items():
        order = order_runs(pairs, method)
        assert order.scores.tolist() == pytest.approx(expected, rel=1e-12)
        assert order.ranks.tolist() == ([2, 1, 3, 4] if method in ("winrate", "borda") else [1, 2, 3, 4])
        assert order.cycles == ()


def test_equal_ranks_are_the_best_of_those_they_take() -> None:
    assert shared_ranks(np.array([1, 3, 3, 2, 1, 0.1 + 0.2, 0.3])).tolist() == [4, 1, 1, 3, 4, 6, 6]


def test_numbers_that_only_look_equal_are_told_apart() -> None:
    assert shared_ranks(np.array([1e-30, 1e-30 * (1 + 1e-9), 0.0])).tolist() == [2, 1, 3]


# The majority


@pytest.mark.parametrize("method", ["copeland", "mc4", "kemeny"])
@given(profile=profiles(), data=st.data())
@quick(100)
def test_a_run_that_the_majority_prefers_to_every_other_is_first(
    method: str, profile: Profile, data: st.DataObject
) -> None:
    pairs = pairs_of(profile)
    winner = data.draw(st.integers(0, len(pairs.runs) - 1))
    losers = [s for s in range(len(pairs.runs)) if s != winner]
    values = np.repeat(pairs.values, 2, axis=2)
    wins = np.zeros((*values.shape[:2], 2 * len(pairs.queries) + 1), np.int8)  # enough to outvote all others
    wins[winner, losers], wins[losers, winner] = 1, -1
    everyone = np.ones((len(pairs.runs), wins.shape[2]), bool)
    taking_part = np.concatenate([np.repeat(pairs.taking_part, 2, axis=1), everyone], axis=1)
    order = order_runs(named(np.concatenate([values, wins], axis=2), taking_part), method)
    assert np.flatnonzero(order.ranks == 1).tolist() == [winner]


@given(profile=profiles(6))
@example(profile=(4, [naive.Vote({0, 1, 2, 3}, [[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])]))
@costly(300)
def test_every_circle_has_one_shortest_cycle_that_is_real(profile: Profile) -> None:
    signs = naive.majority_signs(*profile)
    cycles = order_runs(pairs_of(profile)).cycles
    circles = naive.circles(signs)
    assert len(cycles) == len(circles)
    for cycle in cycles:
        (members,) = [members for members in circles if members >= set(cycle)]
        assert len(cycle) == len(set(cycle)) == circles[members]
        assert all(signs[a][b] == 1 for a, b in zip(cycle, (*cycle[1:], cycle[0]), strict=True))


def test_recall_paired_preference_has_a_cycle_and_it_is_named() -> None:
    projection = Projection.of_vectors([[1, 5, 6], [2, 3, 7], [3, 4, 5]])
    for method in from_pairs():
        order = order_runs(parse_preference("RPP").pairs(projection), method)
        assert order.cycles == ((0, 1, 2),)
        assert order.ranks.tolist() == [1, 1, 1]
        assert order_runs(parse_preference("LexiRecall").pairs(projection), method).cycles == ()


def test_a_long_cycle_is_found_where_everything_else_ties() -> None:
    size = 30
    signs = np.zeros((size, size), np.int8)
    around = np.arange(size)
    signs[around, (around + 1) % size], signs[(around + 1) % size, around] = 1, -1
    assert majority_cycles(signs) == (tuple(range(size)),)


@given(profile=profiles())
@quick(60)
def test_the_majority_is_counted_over_common_queries(profile: Profile) -> None:
    assert majority(pairs_of(profile)).tolist() == naive.majority_signs(*profile)


# Runs that are compared on some queries only


def test_runs_without_a_common_query_are_tied() -> None:
    """a beats b on the first query; c is there on the second, on which it is alone."""
    values = np.zeros((3, 3, 2), np.int8)
    values[0, 1, 0], values[1, 0, 0] = 1, -1
    pairs = named(values, np.array([[True, False], [True, False], [False, True]]))
    scores = {
        "winrate": [1, 0, 0.5],
        "borda": [1.5, 0.5, 1],
        "copeland": [1.5, 0.5, 1],
        "mc4": [5 / 9, 1 / 9, 3 / 9],
        "kemeny": [-4 / 3, -8 / 3, -2],
    }
    for method, expected in scores.items():
        order = order_runs(pairs, method)
        assert order.scores.tolist() == pytest.approx(expected, rel=1e-12)
        assert order.ranks.tolist() == [1, 3, 2]


# MC4


def test_mc4_keeps_a_strict_order_down_to_the_last() -> None:
    size = 40
    given_as = np.random.default_rng(5).permutation(size)
    order = order_runs(graded([[int(grade)] for grade in given_as]), "mc4")
    assert order.ranks.tolist() == (size - given_as).tolist()
    assert order.scores.tolist() == (given_as + 1.0).tolist()


def ladder(size: int) -> IntArray:
    """Each run beats all that come after it, but for the next one, to which it loses."""
    signs = np.triu(np.ones((size, size), int), 1) - 2 * np.diag(np.ones(size - 1, int), 1)
    return np.asarray(signs - signs.T)


def test_mc4_tells_apart_what_is_next_to_never_visited() -> None:
    order = order_runs(of_majority(ladder(150)), "mc4")
    assert order.scores.min() < 1e-250
    assert sorted(order.ranks) == list(range(1, 151))
    assert_is(order_runs(of_majority(ladder(12)), "mc4"), *naive.mc4(ladder(12).tolist()))


@pytest.mark.parametrize("size", [7, 60])
def test_mc4_ties_what_has_the_same_share_however_many_there_are(size: int) -> None:
    """Every run of a random tournament is replaced by three that beat each other in a circle."""
    generator = np.random.default_rng(size)
    above = np.triu(generator.choice([-1, 1], (size, size)), 1)
    circle = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    signs = np.kron(above - above.T, np.ones((3, 3), int)) + np.kron(np.eye(size, dtype=int), circle)
    mixed = generator.permutation(3 * size)
    ranks = order_runs(of_majority(signs[np.ix_(mixed, mixed)]), "mc4").ranks[np.argsort(mixed)].reshape(size, 3)
    assert (ranks == ranks[:, :1]).all()
    assert len(np.unique(ranks[:, 0])) > size / 2


def test_the_classes_are_those_of_the_majority() -> None:
    signs = np.zeros((6, 6), int)
    order = [4, 0, 2, 5, 1, 3]
    for place, a in enumerate(order):
        signs[a, order[place + 1 :]], signs[order[place + 1 :], a] = 1, -1
    signs[0, 5], signs[5, 0] = -1, 1  # so that 0, 2 and 5 are in a circle
    signs[1, 3] = signs[3, 1] = 0
    assert [set(members.tolist()) for members in dominance_classes(signs.astype(np.int8))] == [{4}, {0, 2, 5}, {1, 3}]


@given(rates=st.integers(2, 5).flatmap(lambda n: st.lists(st.integers(1, 9), min_size=n * n, max_size=n * n)))
@quick(60)
def test_stationary_shares_are_exact(rates: list[int]) -> None:
    size = int(len(rates) ** 0.5)
    table = [[0 if i == j else rates[i * size + j] for j in range(size)] for i in range(size)]
    chain = [[Fraction(rate, 1000) for rate in row] for row in table]
    for i, row in enumerate(chain):
        row[i] = Fraction(1) - sum(row)
    expected = [float(share) for share in naive.long_run_shares(chain)]
    assert stationary(np.array(table)).tolist() == pytest.approx(expected, rel=1e-13)


# Kemeny


def test_the_search_of_kemeny_is_reported_as_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, reported: Callable[..., list[Any]]
) -> None:
    """Each search has its own bar, which comes to its end, also where sets are continued in blocks."""
    margins = np.array([[(j - i + 4) % 9 - 4 for j in range(9)] for i in range(9)])  # each beats the four after it
    expected = mean_places(margins)
    monkeypatch.setattr(kemeny, "_BLOCK", 1)
    reports = reported(kemeny)
    assert mean_places(margins).tolist() == expected.tolist()
    totals = [each for each in reports if isinstance(each, tuple)]
    assert set(totals) == {("searching orders", 18_000, False)}
    assert sum(each for each in reports if isinstance(each, int)) == 18_000 * len(totals)
    assert len(reports) > 19 * len(totals)


def test_kemeny_takes_thirty_runs_and_no_more() -> None:
    order = order_runs(graded([[grade, grade] for grade in range(30)]), "kemeny")
    assert order.ranks.tolist() == list(range(30, 0, -1))
    with pytest.raises(UsageError, match="is exact and takes at most 30 runs, but there are 31") as caught:
        order_runs(graded([[grade] for grade in range(31)]), "kemeny")
    assert caught.value.remedy == "choose winrate, borda, copeland or mc4"


def antisymmetric(size: int, above: list[int]) -> IntArray:
    margins = np.zeros((size, size), np.int64)
    margins[np.triu_indices(size, 1)] = above
    return np.asarray(margins - margins.T)


def margin_tables(most: int, largest: int) -> st.SearchStrategy[IntArray]:
    """How much each run beats each other, in no order whatever."""
    return st.integers(1, most).flatmap(
        lambda size: st.builds(
            antisymmetric,
            st.just(size),
            st.lists(st.integers(-largest, largest), min_size=size * (size - 1) // 2, max_size=size * (size - 1) // 2),
        )
    )


@given(margins=margin_tables(7, 3) | margin_tables(7, 1) | margin_tables(7, 1000))
@costly(200)
def test_the_search_finds_every_best_order(margins: IntArray) -> None:
    assert mean_places(margins).tolist() == pytest.approx(naive.mean_places_by_trial(margins.tolist()), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_every_best_order_of_more_runs_than_can_be_tried(seed: int) -> None:
    """Of twelve runs by the definition over sets; all majorities by one vote, or by up to five."""
    above = np.random.default_rng(seed).choice([-1, 1] if seed else [-5, -3, -1, 1, 3, 5], 66)
    margins = antisymmetric(12, above.tolist())
    assert mean_places(margins).tolist() == pytest.approx(naive.mean_places_by_sets(margins.tolist()), rel=1e-12)


def least_contradictions(margins: IntArray) -> int:
    """The cost of a best order, by integer programming: who comes first, with no circle of three."""
    size = len(margins)
    number = np.arange(size * size).reshape(size, size)
    a, b = np.triu_indices(size, 1)
    rows = [[(number[i, j], 1), (number[j, i], 1)] for i, j in zip(a, b, strict=True)]
    circles = [(i, j, k) for i, j, k in permutations(range(size), 3) if i == min(i, j, k)]
    rows += [[(number[i, j], 1), (number[j, k], 1), (number[k, i], 1)] for i, j, k in circles]
    matrix = np.zeros((len(rows), size * size))
    for row, entries in zip(matrix, rows, strict=True):
        row[[column for column, _ in entries]] = 1
    low = [1] * len(a) + [0] * len(circles)
    high = [1] * len(a) + [2] * len(circles)
    costs = np.maximum(-margins, 0).ravel()
    solved = optimize.milp(
        costs, constraints=optimize.LinearConstraint(matrix, low, high), integrality=np.ones(size**2), bounds=(0, 1)
    )
    return int(round(solved.fun))  # noqa: RUF046 - a float of numpy


def one_best_order(margins: IntArray) -> list[int]:
    layers = _best_orders(_Excess.of(margins, np.eye(len(margins), dtype=bool)))
    order, at = [], 0
    for layer in layers[:0:-1]:
        before, here, placed = layer.links
        link = int(np.flatnonzero(here == at)[0])
        order.append(int(placed[link]))
        at = int(before[link])
    return order[::-1]


@pytest.mark.parametrize(("num_queries", "num_grades"), [(50, 1000), (3, 1000), (4, 3), (6, 30)])
def test_the_order_is_as_good_as_that_of_integer_programming(num_queries: int, num_grades: int) -> None:
    grades = np.random.default_rng(num_queries).integers(0, num_grades, (16, num_queries))
    wins = graded(grades.tolist()).wins
    order = one_best_order(wins - wins.T)
    cost = sum(max(0, int((wins - wins.T)[b, a])) for a, b in combinations(order, 2))
    assert cost == least_contradictions(wins - wins.T)


@pytest.mark.parametrize(("num_queries", "num_grades"), [(50, 1000), (3, 1000), (4, 3), (6, 30)])
def test_thirty_random_runs_are_put_in_order(num_queries: int, num_grades: int) -> None:
    grades = np.random.default_rng(num_queries).integers(0, num_grades, (30, num_queries))
    places = -order_runs(graded(grades.tolist()), "kemeny").scores
    assert places.sum() == pytest.approx(30 * 31 / 2)
    assert places.min() >= 1
    assert places.max() <= 30


def test_equal_runs_need_not_be_tried_in_every_order() -> None:
    """Thirty runs of two kinds, of which all best orders would be too many to look at."""
    ranks = order_runs(graded([[1, 0, 1], [0, 1, 0]] * 15), "kemeny").ranks
    assert ranks.tolist() == [1, 16] * 15


def test_too_many_best_orders_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexirecall.statistics.kemeny.MOST_SETS", 10)
    with pytest.raises(UsageError, match="more than 10 sets of 5 runs") as caught:
        mean_places(antisymmetric(5, [1, 0, 0, 0, 0, 0, 0, 1, 0, 0]))
    assert caught.value.remedy == "leave out some runs, or choose another method"


def test_an_unknown_method_is_an_error_that_helps() -> None:
    with pytest.raises(UsageError, match="method is 'mc3', but must be one of winrate, borda, copeland, mc4, kemeny"):
        order_runs(graded([[1], [0]]), "mc3")


@given(grades=grade_tables())
@quick(60)
def test_kemeny_keeps_an_order_on_which_all_queries_agree(grades: Grades) -> None:
    column = [row[0] for row in grades]
    assume(len(set(column)) > 1)
    ranks = order_runs(graded([[grade] * 3 for grade in column]), "kemeny").ranks
    assert ranks.tolist() == [1 + sum(other > grade for other in column) for grade in column]

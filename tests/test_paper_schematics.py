"""The paper's schematics: the structures that they show, against their definitions, and the drawings themselves."""

import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, parse_measure
from lexirecall.errors import UsageError
from lexirecall.measures import TSE
from lexirecall.paper import EXHIBITS, dependence, domination, hasse, leximin, partial_order, partition, reproduce
from lexirecall.paper import orientation_schematic as schematic
from lexirecall.paper.drawing import Sheet
from lexirecall.paper.partial_order import ORDERS, covers, nonempty_sets
from lexirecall.plots import to_files
from lexirecall.theory import (
    is_top_heavy,
    precision_orientation,
    provider_utilities,
    recall_orientation,
    user_utilities,
    worst_case_user,
)
from lexirecall.theory import leximin as compare_leximin
from lexirecall.theory.orientation import values_of_complete
from strategies import quick

M = 5
SETS = nonempty_sets(M)
TOP_HEAVY = ("AP", "nDCG", "RR", "RBP", "RBP(p=0.5)", "TSE", "TSE(e='dcg')")
STRICT = ("AP", "nDCG", "RR", "RBP")
"""With z(1, j) > 0 for every j."""
EXPOSURES = ("ap", "dcg", "rbp")
SCHEMATICS = [
    "projection", "orientation-schematic", "users", "partial-order", "partition", "domination", "leximin", "dependence",
]  # fmt: skip

Levels = tuple[int, ...]
every_order = pytest.mark.parametrize("order", ORDERS)
placements = st.sets(st.integers(1, 40), min_size=M, max_size=M).map(sorted)


def mask_of(levels: Levels) -> int:
    return sum(1 << (level - 1) for level in levels)


def by_set(utilities: np.ndarray[Any, np.dtype[np.float64]]) -> dict[Levels, float]:
    return {levels: float(utilities[mask_of(levels) - 1]) for levels in SETS}


# The two orders


@every_order
@pytest.mark.parametrize("m", range(1, 7))
def test_the_order_is_what_single_steps_down_reach(order: str, m: int) -> None:
    for x in nonempty_sets(m):
        assert {y for y in nonempty_sets(m) if ORDERS[order](x, y)} == naive.all_below(x, m, order)


@every_order
@pytest.mark.parametrize("m", range(1, 6))
def test_the_sets_of_all_sizes_are_enumerated(order: str, m: int) -> None:
    assert sorted(nonempty_sets(m)) == sorted(naive.nonempty_sets(m))
    assert {levels for pair in covers(order, m) for levels in pair} == set(nonempty_sets(m)) - (
        {(1,)} if m == 1 else set()
    )


@every_order
@pytest.mark.parametrize("m", range(1, 6))
def test_the_transitive_closure_of_the_covers_is_the_order(order: str, m: int) -> None:
    closure = {(x, x) for x in nonempty_sets(m)}
    while new := {(x, z) for x, y in covers(order, m) for y2, z in closure if y == y2} - closure:
        closure |= new
    assert closure == {(x, y) for x, y in product(nonempty_sets(m), repeat=2) if ORDERS[order](x, y)}


@every_order
def test_no_cover_follows_from_others(order: str) -> None:
    strictly = {(x, y) for x, y in product(SETS, repeat=2) if x != y and ORDERS[order](x, y)}
    assert not any((x, z) in strictly and (z, y) in strictly for x, y in covers(order, M) for z in SETS)


@every_order
def test_it_is_a_partial_order(order: str) -> None:
    above = ORDERS[order]
    assert all(above(x, x) for x in SETS)
    assert not any(above(x, y) and above(y, x) for x, y in combinations(SETS, 2))
    assert all(above(x, z) for x, y, z in product(SETS, repeat=3) if above(x, y) and above(y, z))


@every_order
def test_the_last_document_alone_is_the_only_minimal_set(order: str) -> None:
    assert {x for x in SETS if x not in {above for above, _ in covers(order, M)}} == {(M,)}
    assert all(ORDERS[order](x, (M,)) for x in SETS)


def test_users_of_the_first_documents_have_nobody_above_and_one_provider_has_everybody_below() -> None:
    maximal = {order: {x for x in SETS if x not in {below for _, below in covers(order, M)}} for order in ORDERS}
    assert maximal["users"] == {tuple(range(1, size + 1)) for size in range(1, M + 1)}
    assert maximal["providers"] == {tuple(range(1, M + 1))}


@pytest.mark.parametrize("measure", TOP_HEAVY)
@given(placements)
@quick(40)
def test_who_is_above_is_no_worse_off_by_any_top_heavy_measure(measure: str, positions: list[int]) -> None:
    utility = by_set(user_utilities(measure, positions).utilities)
    for x, y in product(SETS, repeat=2):
        if partial_order.is_user_above(x, y):
            assert utility[x] >= utility[y] - 1e-12


@pytest.mark.parametrize("exposure", EXPOSURES)
@given(placements)
@quick(40)
def test_who_is_above_is_no_less_exposed(exposure: str, positions: list[int]) -> None:
    utility = by_set(provider_utilities(exposure, positions).utilities)
    for x, y in product(SETS, repeat=2):
        if partial_order.is_provider_above(x, y):
            assert utility[x] > utility[y] or x == y


def from_the_end(t: int) -> Measure:
    """A top-heavy measure that looks at one document only, the t-th from the end, or the first if there are fewer."""
    return Measure("FromEnd", "one item", lambda p: 1 / p, lambda i, m: np.equal(i, np.maximum(m - t, 1)))


def test_for_users_not_so_ordered_there_is_a_top_heavy_measure_that_says_otherwise() -> None:
    flat = Measure("Flat", "how many items, nearly", lambda p: 1 - p / 1000, lambda i: np.ones(i.shape))
    measures = [flat, *(from_the_end(t) for t in range(M))]
    assert all(is_top_heavy(measure) for measure in measures)
    utilities = [by_set(user_utilities(measure, range(1, M + 1)).utilities) for measure in measures]
    for x, y in product(SETS, repeat=2):
        assert partial_order.is_user_above(x, y) != any(utility[x] < utility[y] - 1e-9 for utility in utilities)


def test_for_providers_not_so_ordered_there_is_an_exposure_that_says_otherwise() -> None:
    def steep(t: int) -> Any:
        return lambda p: np.where(p <= t, 1.0, 0.0) + (100 - p) / 1e5

    utilities = [by_set(provider_utilities(steep(t), range(1, M + 1)).utilities) for t in range(1, M + 1)]
    for x, y in product(SETS, repeat=2):
        assert partial_order.is_provider_above(x, y) != any(utility[x] < utility[y] - 1e-9 for utility in utilities)


def test_reciprocal_rank_ties_users_that_the_order_parts() -> None:
    utility = by_set(user_utilities("RR", [1, 4, 6, 7, 9]).utilities)
    assert ((1, 2), (1, 3)) in covers("users", M)
    assert utility[1, 2] == utility[1, 3]


# How they are laid out


def clearance(line: tuple[Any, Any], node: Any) -> float:
    """How far a line stays away from the shape of a set, in the direction in which it is farther."""
    share = np.linspace(0, 1, 500)[:, None]
    points = np.array(line[0]) + share * (np.array(line[1]) - np.array(line[0]))
    return float(np.max(np.abs(points - np.array(node)) - np.array(hasse.NODE) / 2, axis=1).min())


@every_order
def test_every_set_has_a_place_and_room(order: str) -> None:
    at = hasse.places(order)
    assert sorted(at) == sorted(SETS)
    for (x, y), (x2, y2) in combinations(at.values(), 2):
        assert abs(x - x2) > hasse.NODE[0] + 3 or abs(y - y2) > hasse.NODE[1] + 3


@every_order
def test_every_line_goes_down_and_passes_behind_no_other_set(order: str) -> None:
    at = hasse.places(order)
    for above, below in covers(order, M):
        assert at[above][1] < at[below][1]
        others = [point for levels, point in at.items() if levels not in (above, below)]
        assert min(clearance((at[above], at[below]), point) for point in others) > 2


def test_a_provider_stands_as_many_rows_up_as_there_are_steps_to_the_bottom() -> None:
    assert all(row == 15 - sum(M + 1 - int(i) for i in name) for name, (_, row) in hasse.GRIDS["providers"].items())


# Partition and domination


@every_order
@pytest.mark.parametrize("k", range(1, M + 1))
def test_everyone_who_is_not_tied_is_above_one_who_decides(order: str, k: int) -> None:
    part = {levels: partition.PARTS[order](levels, k) for levels in SETS}
    for levels in SETS:
        below = partition.witness(order, levels, k)
        assert (below is None) == (part[levels] == partition.TIED) == all(level > k for level in levels)
        if below is not None:
            assert part[below] == partition.DECIDING
            assert ORDERS[order](levels, below)
            assert below == levels or part[levels] != partition.DECIDING


def test_the_parts_at_three_have_the_sizes_of_the_paper() -> None:
    parts = Counter(partition.part_of_user(levels, 3) for levels in SETS)
    assert parts == {
        partition.TIED: 3, partition.DECIDING: 4, partition.ENDING: 6, partition.WITH: 9, partition.WITHOUT: 9,
    }  # fmt: skip


def test_one_of_the_four_deciding_users_is_above_another() -> None:
    deciding = [levels for levels in SETS if partition.part_of_user(levels, 3) == partition.DECIDING]
    assert [(x, y) for x, y in product(deciding, repeat=2) if x != y and ORDERS["users"](x, y)] == [((3, 4), (3, 5))]


@st.composite
def last_differing(draw: st.DrawFn) -> tuple[int, list[int], list[int]]:
    """k, and two placements that agree below the k-th document, which is higher in the first."""
    k = draw(st.integers(1, M))
    tail = sorted(draw(st.sets(st.integers(21, 40), min_size=M - k, max_size=M - k)))
    high, low = sorted(draw(st.sets(st.integers(k, 20), min_size=2, max_size=2)))
    heads = [sorted(draw(st.permutations(range(1, at)))[: k - 1]) for at in (high, low)]
    return k, [*heads[0], high, *tail], [*heads[1], low, *tail]


@given(last_differing(), st.sampled_from(STRICT))
@quick(150)
def test_who_decides_is_better_off_and_who_is_tied_is_tied(pair: tuple[int, list[int], list[int]], name: str) -> None:
    k, first, second = pair
    x, y = (by_set(user_utilities(name, positions).utilities) for positions in (first, second))
    for levels in SETS:
        if (part := partition.part_of_user(levels, k)) == partition.DECIDING:
            assert x[levels] > y[levels]
        elif part == partition.TIED:
            assert x[levels] == y[levels]


@pytest.mark.parametrize("measure", STRICT)
def test_the_dominating_ranking_is_preferred_by_leximin_though_most_users_prefer_the_other(measure: str) -> None:
    rows = domination.compared(measure)
    assert [row["set"] for row in rows] == ["".join(map(str, levels)) for levels in SETS]
    assert compare_leximin([row["first"] for row in rows], [row["second"] for row in rows], tolerance=1e-12) == 1
    votes = Counter(row["preferred"] for row in rows)
    assert votes["tie"] == 3
    assert votes["π′"] > votes["π"]


def test_with_total_search_efficiency_only_the_user_of_one_document_decides() -> None:
    rows = [row for row in domination.compared("TSE") if row["part"] == partition.DECIDING]
    assert {row["set"]: row["preferred"] for row in rows} == {"3": "π", "34": "tie", "35": "tie", "345": "tie"}


# Leximin


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6))
@quick(200)
def test_the_topmost_comparison_that_is_made_is_that_of_leximin(pairs: list[tuple[int, int]]) -> None:
    x, y = ([Fraction(pair[side]) for pair in pairs] for side in (0, 1))
    signs = [row["sign"] for row in leximin.compared([*map(int, x)], [*map(int, y)])]
    made = [sign for sign in signs if sign]
    assert made[0] == leximin.SIGNS[naive.leximin(x, y)]
    assert all(sign == "=" for sign in made[1:])
    assert signs == [None] * (len(signs) - len(made)) + made


def test_the_example_is_decided_by_the_third_pair_from_the_bottom() -> None:
    rows = reproduce("leximin").rows
    assert [(row["x"], row["sign"], row["y"]) for row in rows[-3:]] == [
        (0.12, ">", 0.07),
        (0.04, "=", 0.04),
        (0.01, "=", 0.01),
    ]
    assert all(row["x"] < row["y"] and row["sign"] is None for row in rows[:-3])


# First and last position


@pytest.mark.parametrize(("m", "n"), [(2, 2), (2, 7), (3, 6), (4, 9), (5, 10)])
def test_first_and_last_position_are_distributed_as_over_all_placements(m: int, n: int) -> None:
    counts = Counter((positions[0], positions[-1]) for positions in naive.placements(m, n))
    assert dependence.joint(m, n) == {pair: Fraction(count, counts.total()) for pair, count in counts.items()}


@pytest.mark.parametrize(("m", "n"), [(2, 3), (3, 8), (5, 20), (7, 15)])
def test_the_correlation_of_first_and_last_position_is_one_over_m(m: int, n: int) -> None:
    joint = dependence.joint(m, n)
    assert dependence.squared_correlation(joint) == Fraction(1, m * m)
    vectors = np.array([[a, b] for a, b in joint]), np.array([float(weight) for weight in joint.values()])
    covariance = np.cov(vectors[0].T, aweights=vectors[1], ddof=0)
    assert covariance[0, 1] / sqrt(covariance[0, 0] * covariance[1, 1]) == pytest.approx(1 / m)


@pytest.mark.parametrize(("m", "n"), [(2, 5), (4, 9), (5, 20)])
def test_the_mean_of_the_last_position_grows_with_the_first(m: int, n: int) -> None:
    means = dependence.expected_last(dependence.joint(m, n))
    assert means == {first: first + Fraction((n - first + 1) * (m - 1), m) for first in range(1, n - m + 2)}
    assert all(a < b for a, b in pairwise(means.values()))


def test_one_document_is_its_own_first_and_last() -> None:
    with pytest.raises(UsageError, match="one relevant document is both the first and the last"):
        dependence.joint(1, 5)


# Projection, orientation, users


def test_the_projection_is_the_example_of_the_paper() -> None:
    rows = reproduce("projection").rows
    assert [row["position"] for row in rows] == [2, 3, 8, 998, 999, 1000]
    assert sorted(row["document"] for row in rows) == ["083", "107", "511", "668", "820", "977"]
    assert [row["is_retrieved"] for row in rows] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("measure", ["AP", "nDCG", "RR", "RBP", "R@5", "SL3"])
@given(st.integers(1, 6), st.integers(0, 6))
@quick(20)
def test_orientation_is_the_difference_of_the_drawn_placements(measure: str, m: int, others: int) -> None:
    placed, n = schematic.placements(m, m + others), m + others
    row = parse_measure(measure)
    for name, orientation in (("precision", precision_orientation), ("recall", recall_orientation)):
        better, worse = values_of_complete(row, np.array(placed[name]), n)
        assert orientation(measure, m, n) == pytest.approx(row.direction * (better - worse))


def test_the_two_rankings_of_a_panel_differ_in_one_document() -> None:
    for better, worse in schematic.placements(4, 10).values():
        assert len({*better} ^ {*worse}) == 2
        assert schematic.moved(better, worse) in {(1, 7), (4, 10)}


def test_the_users_are_all_sets_and_the_last_is_worst_off() -> None:
    rows = reproduce("users").rows
    assert {row["documents"] for row in rows} == {"".join(map(str, levels)) for levels in nonempty_sets(4)}
    assert all(a["AP"] >= b["AP"] for a, b in pairwise(rows))
    for measure in ("AP", "nDCG", "RR", "RBP"):
        lowest = min(row[measure] for row in rows)
        assert lowest == rows[-1][measure] == pytest.approx(worst_case_user(measure, [1, 3, 4, 7]), abs=1e-6)
    assert rows[-1]["AP"] == pytest.approx(TSE.of([1, 3, 4, 7]), abs=1e-6)


# The drawings

CHARTS = {
    "projection": ("projection", {"rect": 25, "text": 13 + 13 + 1 + 2 + 12 + 6 + 4, "rule": 8, "point": 6}),
    "orientation-schematic": ("orientation-schematic", {"rect": 40, "text": 18, "rule": 2, "point": 2}),
    "users": ("users", {"rect": 16 * 8 + 1, "text": 15 + 8 + 3}),
    "partial-order-users": ("partial-order", {"rect": 31, "text": 34, "rule": 47 + 3, "point": 1}),
    "partial-order-providers": ("partial-order", {"rect": 31, "text": 34, "rule": 47 + 3, "point": 1}),
    "partition-users": ("partition", {"rect": 31 + 4 + 5 + 1, "text": 31 + 8, "rule": 47 + 3, "point": 1}),
    "partition-providers": ("partition", {"rect": 31 + 1 + 2 + 1, "text": 31 + 5, "rule": 47 + 3, "point": 1}),
    "domination": ("domination", {"rule": 7, "point": 14}),
    "leximin": ("leximin", {"rect": 10, "text": 10 + 3 + 3, "rule": 1, "point": 1}),
    "dependence": ("dependence", {"rect": 136, "line": 1, "text": 2}),
}


def marks_of(svg: str) -> dict[str, int]:
    """Count the marks that show data, by kind."""
    kinds = re.findall(r'aria-roledescription="(\w+)(?: mark)?"', svg)
    return {kind: count for kind, count in Counter(kinds).items() if kind in {"rect", "text", "rule", "point", "line"}}


def test_every_drawing_is_counted() -> None:
    assert [name for schematic in SCHEMATICS for name in reproduce(schematic).charts] == list(CHARTS)


@pytest.mark.parametrize("name", CHARTS)
def test_a_drawing_becomes_files_that_hold_all_its_marks(name: str) -> None:
    exhibit, expected = CHARTS[name]
    files = to_files(reproduce(exhibit).charts[name](), name)
    assert {kind: content[:4] for kind, content in files.items()} == {
        f"{name}.svg": b"<svg", f"{name}.pdf": b"%PDF", f"{name}.png": b"\x89PNG",
    }  # fmt: skip
    assert marks_of(files[f"{name}.svg"].decode()) == expected


def placed_on(chart: dict[str, Any]) -> list[dict[str, float]]:
    rows = [row for layer in chart.get("layer", []) for row in placed_on(layer)]
    return rows + list(chart.get("data", {}).get("values", []))


@pytest.mark.parametrize("name", [name for name in CHARTS if name not in ("domination", "dependence")])
def test_nothing_lies_beyond_the_edge_of_the_sheet(name: str) -> None:
    chart = reproduce(CHARTS[name][0]).charts[name]().to_dict()
    rows = placed_on(chart)
    assert len(rows) > 10
    for row in rows:
        assert 0 <= row["x"] <= row.get("x2", row["x"]) <= chart["width"] or row["x2"] < row["x"]
        assert all(0 <= row[y] <= chart["height"] for y in ("y", "y2") if y in row)


@pytest.mark.parametrize("name", SCHEMATICS)
def test_a_schematic_has_rows_words_and_drawings(name: str) -> None:
    exhibit = reproduce(name)
    assert exhibit.name == name
    assert name in EXHIBITS
    assert all(set(row) == set(exhibit.columns) for row in exhibit.rows)
    assert exhibit.render("tsv").count("\n") == len(exhibit.rows)
    assert exhibit.remarks
    assert "None" not in exhibit.render()


def test_an_arrow_ends_where_its_head_is() -> None:
    sheet = Sheet(40, 40)
    chart = sheet.layered(sheet.arrows([(0, 20, 20, 20)])).to_dict()
    line, head = chart["layer"][0]["layer"]
    assert head["data"]["values"][0]["angle"] == 90
    assert line["data"]["values"][0]["x2"] == head["data"]["values"][0]["x"] == 17

"""The table of properties in the paper's appendix, cell by cell; and by name the cells in which it errs."""

from fractions import Fraction

import pytest

import naive
from lexirecall.measures import AP, NDCG, RBP, RR, TSE, Measure
from lexirecall.paper.properties import AT_ONE_LEVEL, TABLE
from lexirecall.paper.property_checks import (
    concave_at_one_level,
    concave_in_swap_depth,
    gain,
    imputed,
    localized,
    prefix_invariant,
    realizable,
    strictly_increasing_in_swapping_up,
    suffix_invariant,
)
from lexirecall.paper.property_methods import (
    COLUMNS,
    METRICS,
    SIZES,
    TOP_HEAVY,
    WITH_POSITIVE_WEIGHTS,
    EvaluationMethod,
    N,
    Placement,
    is_convex,
    lexirecall,
    metric,
    placements,
    reciprocal,
    value_of,
)
from lexirecall.preferences import PREFERENCES

ALL = {**TABLE, **AT_ONE_LEVEL}
CELLS = [(row, column) for row in ALL for column in COLUMNS]
LEXI_RECALL = COLUMNS["LexiRecall"][0]
EVERY_PLACEMENT = [p for m in SIZES for p in placements(m)]


# The cells


@pytest.mark.parametrize(("row", "column"), CELLS, ids=lambda name: name)
def test_a_cell_is_what_enumeration_finds(row: str, column: str) -> None:
    _, ours = ALL[row].cells()[column]
    holds, members = ALL[row].holds, [method for method in COLUMNS[column] if ALL[row].applies(method)]
    if ours == "NA":
        assert all(method.value is None for method in COLUMNS[column])
    elif holds is None:
        assert "by argument" in ALL[row].because
    else:
        assert members
        assert ours == ("yes" if all(map(holds, members)) else "no")


def test_the_cells_in_which_the_paper_errs_are_these() -> None:
    differing = {
        (row, column) for row in TABLE for column, (paper, ours) in TABLE[row].cells().items() if paper != ours
    }
    assert differing == {
        ("strictly increasing in swapping up", "LexiRecall"),
        ("concavity in contiguous swap depth", "top-heavy"),
        ("concavity in contiguous swap depth", "top-heavy, z > 0"),
        ("concavity in contiguous swap depth", "TSE"),
        ("strict concavity in contiguous swap depth", "top-heavy, z > 0"),
        ("boundedness", "TSE"),
    }
    assert all(TABLE[row].because for row, _ in differing)


@pytest.mark.parametrize(
    "row", ["strictly decreasing in nonrelevance", "suffix invariance", "prefix invariance", "localization"]
)
def test_a_row_without_any_mark_has_no_exception_among_the_members(row: str) -> None:
    """Elsewhere an empty cell says only that some member lacks the property."""
    holds = TABLE[row].holds
    applicable = [column for column, (paper, _) in TABLE[row].cells().items() if paper != "NA"]
    assert holds is not None
    assert not any(holds(method) for column in applicable for method in COLUMNS[column])


def test_enumeration_cannot_tell_boundedness_and_completeness() -> None:
    assert [row for row in TABLE if TABLE[row].holds is None] == ["boundedness", "completeness"]


# The cells in which it errs


def test_lexirecall_is_strictly_increasing_in_swapping_up_though_the_cell_is_empty() -> None:
    assert strictly_increasing_in_swapping_up(LEXI_RECALL)


def test_average_precision_is_not_concave_in_swap_depth() -> None:
    assert gain(METRICS["AP"], (6, 8), 6) == Fraction(1, 60)
    assert gain(METRICS["AP"], (6, 8), 8) == Fraction(1, 56)
    assert not concave_in_swap_depth(METRICS["AP"])


def test_total_search_efficiency_is_not_concave_in_swap_depth() -> None:
    tse = METRICS["TSE, reciprocal"]
    assert (gain(tse, (2, 4), 2), gain(tse, (2, 4), 4)) == (Fraction(0), Fraction(1, 12))
    assert not concave_in_swap_depth(tse)


def test_concavity_at_one_recall_level_needs_a_convex_exposure() -> None:
    for method in COLUMNS["top-heavy, z > 0"]:
        assert concave_at_one_level(method) == is_convex(method), method.name


@pytest.mark.parametrize("method", COLUMNS["TSE"], ids=lambda method: method.name)
def test_total_search_efficiency_is_bounded_by_0_and_the_exposure_of_the_first_position(
    method: EvaluationMethod,
) -> None:
    assert method.exposure is not None
    values = [value_of(method)(p) for p in EVERY_PLACEMENT]
    assert min(values) >= 0
    assert max(values) == method.exposure(1)


@pytest.mark.parametrize("doublings", range(8))
def test_a_top_heavy_metric_with_positive_weights_exceeds_every_bound(doublings: int) -> None:
    """The sum of 1/i over the first 2^k places is 1 + k/2 or more."""
    best = tuple(range(1, 2**doublings + 1))
    assert value_of(METRICS["sum of reciprocals"])(best) >= 1 + Fraction(doublings, 2)


# The assumption, and the other side of each property that no column has


def test_without_room_below_the_list_appending_a_relevant_document_changes_nothing() -> None:
    """With n - k = m the document stood there already, at the bottom."""
    assert imputed((False, False), m=2, n=4) == imputed((False, False, True), m=2, n=4) == (3, 4)


def test_recall_at_a_cutoff_is_suffix_invariant() -> None:
    recall_at_3 = metric("R@3", lambda p: Fraction(p <= 3), lambda _, m: Fraction(1, m))
    assert suffix_invariant(recall_at_3)
    assert not prefix_invariant(recall_at_3)
    assert not localized(recall_at_3)


def test_precision_at_a_cutoff_is_localized() -> None:
    assert localized(metric("P@3", lambda p: Fraction(p <= 3, 3), lambda *_: Fraction(1)))


def test_the_number_of_documents_near_the_bottom_is_prefix_invariant() -> None:
    near_bottom = metric("last three", lambda p: Fraction(-(p > N - 3)), lambda *_: Fraction(1))
    assert prefix_invariant(near_bottom)
    assert not suffix_invariant(near_bottom)


@pytest.mark.parametrize("name", ["AP", "nDCG", "RR"])
def test_some_top_heavy_metrics_are_realizable(name: str) -> None:
    assert realizable(METRICS[name])
    assert value_of(METRICS[name])((1, 2, 3)) == 1


# The methods are what they are called


@pytest.mark.parametrize("name", TOP_HEAVY)
def test_the_metrics_of_the_table_are_top_heavy(name: str) -> None:
    e, z = TOP_HEAVY[name]
    exposures = [e(p) for p in range(1, N + 1)]
    assert sorted(exposures, reverse=True) == exposures
    assert len(set(exposures)) == N
    assert naive.is_top_heavy(e, z, EVERY_PLACEMENT)
    weights = [z(i, m) for m in SIZES for i in range(1, m + 1)]
    assert (min(weights) > 0) == (name in WITH_POSITIVE_WEIGHTS)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("AP", AP),
        ("RR", RR),
        ("RBP", RBP(p=0.5)),
        ("nDCG", NDCG),
        ("TSE, reciprocal", TSE),
        ("TSE, geometric", TSE(e="rbp", p=0.5)),
        ("TSE, logarithmic", TSE(e="dcg")),
        ("TSE, linear", TSE(e="linear")),
    ],
)
def test_the_metrics_of_the_table_are_the_measures_of_the_package(name: str, measure: Measure) -> None:
    for p in EVERY_PLACEMENT:
        assert measure.of(p, corpus_size=N) == pytest.approx(float(value_of(METRICS[name])(p)))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_lexirecall_of_the_table_is_that_of_the_package(m: int) -> None:
    def of_package(x: Placement, y: Placement) -> float:
        return PREFERENCES["LexiRecall"].of(x, y)

    for x in placements(m)[::3]:
        for y in placements(m)[::2]:
            assert lexirecall(x, y) == of_package(x, y)


def test_convexity_is_told_from_the_exposures() -> None:
    strictly = {method.name for method in METRICS.values() if is_convex(method, strictly=True)}
    weakly = {method.name for method in METRICS.values() if is_convex(method)} - strictly
    assert weakly == {"mean linear exposure", "TSE, linear"}
    assert METRICS.keys() - strictly - weakly == {"mean parabolic exposure", "TSE, parabolic"}
    assert reciprocal(1) - reciprocal(2) > reciprocal(2) - reciprocal(3)

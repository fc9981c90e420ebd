"""Orientation: the definition over the whole table, values worked by hand, and the paper's words."""

import doctest
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, parse_measure
from lexirecall.errors import UsageError
from lexirecall.exposure import EXPOSURES
from lexirecall.judgments import FloatArray
from lexirecall.measures import MEASURES, TSE
from lexirecall.theory import precision_orientation, recall_orientation
from lexirecall.theory.orientation import is_row, values_of_complete
from strategies import quick
from table import all_measures

WITH_SETTINGS = [measure for measure in all_measures() if not measure.needs_judged and not measure.needs_providers]


@pytest.mark.parametrize("measure", [m for m in WITH_SETTINGS if not is_row(m, TSE)], ids=str)
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 6), (2, 6), (3, 6), (5, 6), (6, 6)])
def test_orientation_is_what_a_measure_loses_in_the_definition(measure: Measure, m: int, n: int) -> None:
    def value_of(case: naive.Case) -> float:
        return measure.direction * naive.value(measure.name, measure.settings, case)

    approx = partial(pytest.approx, abs=1e-15, nan_ok=True)  # of a ranking without a pair, Accuracy is undefined
    assert precision_orientation(measure, m, n) == approx(naive.precision_orientation(value_of, m, n))
    assert recall_orientation(measure, m, n) == approx(naive.recall_orientation(value_of, m, n))


@quick(50)
@given(e=st.sampled_from(list(EXPOSURES)), m=st.integers(1, 6), extra=st.integers(1, 6), cutoff=st.integers(1, 12))
def test_total_search_efficiency_is_scaled_by_its_bounds(e: str, m: int, extra: int, cutoff: int) -> None:
    n = m + extra
    measure = TSE(e=e) if cutoff == 12 else TSE(e=e) @ cutoff
    top, bottom = tuple(range(1, m + 1)), tuple(range(n - m + 1, n + 1))

    def value_of(case: naive.Case) -> float:
        return naive.value("TSE", measure.settings, case)

    bounds = value_of(naive.complete(top, n)) - value_of(naive.complete(bottom, n))
    for ours, definition in (
        (precision_orientation, naive.precision_orientation),
        (recall_orientation, naive.recall_orientation),
    ):
        assert ours(measure, m, n) == pytest.approx(definition(value_of, m, n) / bounds if bounds else 0)


@pytest.mark.parametrize("e", EXPOSURES)
@pytest.mark.parametrize("m", range(1, 16))
def test_total_search_efficiency_has_all_the_recall_orientation_whatever_the_exposure(e: str, m: int) -> None:
    assert recall_orientation(f"TSE(e={e})", m, 10**5) == 1
    assert precision_orientation(f"TSE(e={e})", m, 10**5) == (1 if m == 1 else 0)


def test_deep_in_the_corpus_total_search_efficiency_keeps_its_orientation_where_floats_underflow() -> None:
    assert TSE(e="rbp").of(range(1, 5001)) == 0
    assert recall_orientation(TSE(e="rbp"), 5000, 10**5) == 1


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("RR", 1 - 1 / 9997, 0),
        ("AP", (1 - 1 / 9997) / 4, (1 - 4 / 10_000) / 4),  # at the first level 1/9997, at the last 4/10,000
        ("R@1000", 1 / 4, 1 / 4),
        ("Rprec", 1 / 4, 1 / 4),
        ("RBP(p=0.5)", 1 / 2, 1 / 16),
        ("SL1", 9996, 0),
        ("SL3", 0, 9996),
        ("LastRel", 0, 9996),
        ("RE", 9996 / 4, 9996 / 4),
    ],
)
def test_four_documents_among_ten_thousand(name: str, precision: float, recall: float) -> None:
    assert precision_orientation(name, 4, 10_000) == pytest.approx(precision)
    assert recall_orientation(name, 4, 10_000) == pytest.approx(recall)


def test_ndcg_by_hand() -> None:
    ideal = 1 + 1 / math.log2(3)
    assert precision_orientation("nDCG", 2, 1000) == pytest.approx((1 - 1 / math.log2(1000)) / ideal)
    assert recall_orientation("nDCG", 2, 1000) == pytest.approx((1 / math.log2(3) - 1 / math.log2(1001)) / ideal)


@pytest.mark.parametrize("m", range(2, 16))
def test_the_measures_stand_in_the_order_that_the_paper_describes(m: int) -> None:
    """Precision: RR above nDCG above AP, R@1000 and Rprec. Recall: these three above nDCG; RR has none."""
    precision, recall = (
        {name: orientation(name, m, 10**5) for name in ("RR", "nDCG", "AP", "R@1000", "Rprec", "RBP(p=0.5)")}
        for orientation in (precision_orientation, recall_orientation)
    )
    assert precision["RR"] > precision["nDCG"] > precision["R@1000"] == precision["Rprec"]
    assert precision["AP"] == pytest.approx(precision["R@1000"], rel=2e-5)
    assert recall["R@1000"] == recall["Rprec"] > recall["nDCG"] > recall["RR"] == 0
    assert recall["AP"] == pytest.approx(recall["R@1000"], rel=2e-4)
    assert precision["RBP(p=0.5)"] == pytest.approx(0.5)
    assert recall["RBP(p=0.5)"] == pytest.approx(0.5**m)


def test_measures_of_ones_own_have_an_orientation() -> None:
    squared = Measure("Squared", "falls fast", exposure=lambda i: 1 / i**2, weight=lambda i, m: 0 * i + 1 / m)
    assert recall_orientation(squared, 2, 10) == pytest.approx((1 / 4 - 1 / 100) / 2)

    def spread_of(positions: FloatArray) -> float:
        return float(positions[-1] - positions[0])

    spread = Measure("Spread", "from the first to the last", of_positions=spread_of, direction=-1)
    assert recall_orientation(spread, 2, 10) == (10 - 1) - (2 - 1)
    assert precision_orientation(spread, 2, 10) == 1 - 9  # it is not a measure of precision at all


def test_a_measure_that_is_only_called_tse_is_not_scaled() -> None:
    own = Measure("TSE", "not the one in the table", of_positions=lambda p: float(1 / p[-1]))
    assert recall_orientation(own, 2, 10) == pytest.approx(1 / 2 - 1 / 10)


@pytest.mark.parametrize("orientation", [precision_orientation, recall_orientation])
def test_where_all_documents_are_relevant_nothing_can_be_lost(orientation: object) -> None:
    assert callable(orientation)
    assert [orientation(name, 5, 5) for name in ("AP", "TSE", "SL3", "R@3")] == [0, 0, 0, 0]


def test_a_complete_ranking_lists_the_whole_corpus() -> None:
    precision = values_of_complete(MEASURES["SetP"], np.array([[1, 2], [1, 9]]), 10)
    assert precision.tolist() == [0.2, 0.2]


@pytest.mark.parametrize(("m", "n"), [(0, 5), (6, 5), (1, 0), (-1, 5), (1.5, 5), (True, 5), ("1", 5)])
def test_relevant_documents_without_room_are_refused(m: int, n: int) -> None:
    with pytest.raises(UsageError, match=r"do not fit|whole number"):
        recall_orientation("AP", m, n)


@pytest.mark.parametrize("measure", [m for m in all_measures() if m.needs_judged], ids=str)
def test_measures_of_other_documents_have_no_orientation(measure: Measure) -> None:
    with pytest.raises(UsageError, match="judged non-relevant documents"):
        precision_orientation(measure, 2, 10)


@pytest.mark.parametrize("name", ["R", "LexiRecall", "unknown"])
def test_what_gives_a_ranking_no_value_has_no_orientation(name: str) -> None:
    with pytest.raises(UsageError):
        precision_orientation(name, 2, 10)


def test_names_and_measures_mean_the_same() -> None:
    assert recall_orientation("map", 3, 50) == recall_orientation(parse_measure("AP"), 3, 50)


def test_the_page_of_theory_prints_what_it_shows() -> None:
    page = Path(__file__).parents[1] / "docs" / "theory.md"
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.attempted > 5
    assert result.failed == 0

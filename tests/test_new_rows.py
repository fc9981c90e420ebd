"""What happens when somebody adds a row: a wrong one fails, one without a twin says what to add, a right one passes."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import naive
import table
import test_measures_against_naive
import test_preferences
import test_table_of_measures
from lexirecall import Measure, Preference, register
from lexirecall.judgments import IntArray
from lexirecall.measures import AP, MEASURES
from lexirecall.measures.ratio import Ratio
from lexirecall.preferences import PREFERENCES
from lexirecall.preferences.by_level import PairBlock
from lexirecall.results import Projection
from strategies import Collection, Ordering

SMALL = Collection({"q": {"a": 1.0, "b": 1.0}}, {"run": {"q": {"x": 3.0, "y": 2.0, "a": 1.0}}})


def once(test: Any) -> Callable[..., None]:
    """Return what a property asserts of one example, so that none is looked for."""
    inner: Callable[..., None] = test.hypothesis.inner_test
    return inner


def ahead_anywhere(projection: Projection) -> Iterator[PairBlock]:
    """Prefer the first run as soon as it is ahead at some recall level, whatever the others say."""
    num_runs, num_queries = projection.source.shape
    for q in range(num_queries):
        vectors = [projection.vector(s, q) for s in range(num_runs)]
        values = np.array([[float((x < y).any()) - float((x > y).all()) for y in vectors] for x in vectors])
        yield np.array([q]), values[:, :, None].astype(np.int8)


@pytest.fixture
def ahead() -> Iterator[str]:
    """Register a wrong preference, with a twin that makes the same mistake."""
    register(Preference("Ahead", "ahead anywhere", blocks=ahead_anywhere, formula="wrong", reference="DiazEM25"))
    naive.PREFERENCES["Ahead"] = lambda x, y: any(map(float.__lt__, x, y)) - all(map(float.__gt__, x, y))
    yield "Ahead"
    PREFERENCES.pop("Ahead")
    naive.PREFERENCES.pop("Ahead", None)


def test_a_wrong_preference_fails_though_its_twin_is_as_wrong(ahead: str) -> None:
    assert ahead in map(str, table.all_preferences())
    with pytest.raises(AssertionError):
        test_preferences.test_every_preference_is_antisymmetric(ahead, m=3)


def test_a_preference_without_a_twin_says_what_to_add(ahead: str) -> None:
    naive.PREFERENCES.pop(ahead)
    for test in (
        test_preferences.test_every_preference_has_a_twin_and_every_twin_a_row,
        lambda: once(test_preferences.test_a_preference_between_two_rankings_is_its_definition)(ahead, [1], [2]),
    ):
        with pytest.raises(AssertionError, match=r"PREFERENCES in tests/naive\.py"):
            test()


def squared_recall(case: naive.Case, cutoff: float = np.inf) -> float:
    return naive.ratio(sum(i * (p <= cutoff) for i, p in enumerate(case.found, 1)), case.m**2)


def level_over_m(i: IntArray, m: IntArray) -> Ratio:
    return Ratio(i, m**2)


@pytest.fixture
def right(monkeypatch: pytest.MonkeyPatch) -> Iterator[Measure]:
    """Register a right measure, with its twin; the properties over the table are tried on it alone."""
    row = Measure(
        "Squared", "recall, later items counting more", lambda i: i <= np.inf, level_over_m,
        formula="sum_i i/m^2", reference="DiazEM25", at="cutoff",
    )  # fmt: skip
    register(row)
    monkeypatch.setitem(naive.MEASURES, "Squared", squared_recall)
    monkeypatch.setattr(table, "MEASURES", {"Squared": row})
    monkeypatch.setattr(test_measures_against_naive, "TRIED", [])
    yield row
    MEASURES.pop("Squared")


def test_a_right_measure_passes_every_property(right: Measure) -> None:
    of_table, against = test_table_of_measures, test_measures_against_naive
    assert [*map(str, against.settings_tried())] == ["Squared", "Squared@1", "Squared@3"]
    of_table.test_every_row_says_what_it_is(right)
    of_table.test_no_two_rows_share_a_spelling()
    for corpus_size in (None, 30):
        of_table.test_moving_a_relevant_document_up_never_hurts(corpus_size=corpus_size)
    of_table.test_appending_an_unjudged_document_changes_only_what_counts_the_list()
    of_table.test_the_corpus_size_changes_only_measures_of_the_missing_documents()
    of_table.test_values_lie_within_the_limits_that_a_row_gives()
    against.test_every_row_of_the_table_has_a_twin_and_every_twin_a_row()
    for ties in ("trec", "worst"):
        against.test_every_measure_equals_its_twin(ties=ties)
    against.test_expected_value_is_the_mean_over_all_orders_of_tied_documents()
    test_preferences.test_every_preference_is_antisymmetric("Squared", m=3)
    test_preferences.test_a_preference_that_says_so_is_transitive("Squared", m=3)
    test_preferences.test_moving_a_relevant_document_up_is_never_worse("Squared", m=3)


def test_a_wrong_measure_fails(right: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one with the wrong direction, moving up hurts; of one with another formula, the twin differs."""
    wrong = Measure("Squared", right.title, right.exposure, right.weight, at="cutoff", direction=-1)
    monkeypatch.setattr(table, "MEASURES", {"Squared": wrong})
    with pytest.raises(AssertionError):
        once(test_table_of_measures.test_moving_a_relevant_document_up_never_hurts)(
            None, ([None, 1.0], [1.0, None]), []
        )
    monkeypatch.setattr(table, "MEASURES", {"Squared": Measure("Squared", "AP", AP.exposure, AP.weight, at="cutoff")})
    with pytest.raises(AssertionError, match="Squared of system 1, request q"):
        once(test_measures_against_naive.test_every_measure_equals_its_twin)("trec", SMALL, Ordering(), 1)


def test_a_measure_without_a_twin_says_what_to_add(right: Measure) -> None:
    naive.MEASURES.pop(right.name)
    with pytest.raises(AssertionError, match=r"MEASURES in tests/naive\.py"):
        test_measures_against_naive.test_every_row_of_the_table_has_a_twin_and_every_twin_a_row()
    with pytest.raises(AssertionError, match=r"Squared has no twin: add one to MEASURES in tests/naive\.py"):
        once(test_measures_against_naive.test_every_measure_equals_its_twin)("trec", SMALL, Ordering(), 1)

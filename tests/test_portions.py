"""Pairs in portions: how many are at hand at a time does not show, and only those that are asked for are compared."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lexirecall import compare, parse_preference, project
from lexirecall.measures import AP
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.preferences import Preference
from lexirecall.preferences.contrasts import Contrasts, PairPreferences, signs_of_ranks
from lexirecall.preferences.orders import lexirecall_ranks
from lexirecall.results import Comparison
from lexirecall.statistics import Differences
from lexirecall.statistics import bootstrap as bootstrap_module
from lexirecall.statistics import interaction as interaction_module
from lexirecall.statistics import portions as module
from lexirecall.statistics.aggregate import from_pairs, order_runs
from lexirecall.statistics.bootstrap import RESAMPLED, bootstrap_order
from lexirecall.statistics.portions import PortionedPairs, pairs_of
from strategies import Collection, collections, costly, quick

NAMES = (
    "LexiRecall", "LexiPrecision", "LexiPrecision(size='rr')", "RPP", "RPP(graded=True, weight='dcg')", "AP", "LastRel",
    "TSE", "nDCG",
)  # fmt: skip
ROWS: tuple[str | Evaluable, ...] = (
    *NAMES,
    Preference(  # gives its blocks once, and not by pair
        "Once", "", blocks=lambda projection: iter(list(signs_of_ranks(lexirecall_ranks(projection))))
    ),
)
TESTS = ("auto", "t", "wilcoxon", "sign", "randomization", "max-t", "hsd", "randomized-hsd")
SUMS = ("a", "b", "means", "wins", "ties", "losses", "deviations", "effective")
TESTED = ("effects", "pvalues", "lows", "highs", "corrected")
several = collections(max_runs=5, with_size=True)


def positions_of(collection: Collection) -> Positions:
    return project(collection.qrels, collection.runs, corpus_size=collection.corpus_size)


def contrasts_of(row: str | Evaluable, positions: Positions) -> Contrasts:
    preference = parse_preference(row)
    return preference.contrasts(positions.at_level(preference.level(1)), positions.answered)


def is_comparable(collection: Collection) -> bool:
    return len(collection.runs) > 1 and any(grade >= 1 for own in collection.qrels.values() for grade in own.values())


def numbers_of(comparison: Comparison) -> list[Any]:
    """Return all that is known of the pairs."""
    own = [[np.asarray(getattr(each, name)).tolist() for name in (*SUMS, *TESTED)] for each in comparison.measures]
    return [own, comparison.order.scores.tolist(), [note.text for note in comparison.notes]]


@pytest.mark.parametrize("row", ROWS, ids=str)
@costly(15)
@given(collection=several)
def test_any_pair_is_what_all_pairs_held_at_once_say(row: str | Evaluable, collection: Collection) -> None:
    contrasts = contrasts_of(row, positions_of(collection))
    held = contrasts.held()
    a, b = np.indices((len(held.runs),) * 2).reshape(2, -1)
    np.testing.assert_array_equal(contrasts.between(a, b), held.values[a, b])
    assert contrasts.between(a, b).dtype == held.values.dtype
    np.testing.assert_array_equal(contrasts.wins, held.wins)
    np.testing.assert_array_equal(contrasts.num_queries, held.num_queries)
    for s in range(len(held.runs)):
        np.testing.assert_array_equal(contrasts.against(s), held.against(s))


@pytest.mark.parametrize("row", ROWS, ids=str)
@costly(10)
@given(collection=several, data=st.data())
def test_some_queries_are_those_of_all(row: str | Evaluable, collection: Collection, data: st.DataObject) -> None:
    contrasts = contrasts_of(row, positions_of(collection))
    number = len(contrasts.queries)
    chosen = np.array(data.draw(st.lists(st.integers(0, number - 1), unique=True).map(sorted)), np.int64)
    some, held = contrasts.on(chosen), contrasts.held().on(chosen)
    a, b = pairs_of(len(held.runs))
    np.testing.assert_array_equal(some.between(a, b), held.values[a, b])
    np.testing.assert_array_equal(some.held().values, held.values)
    np.testing.assert_array_equal(some.taking_part, held.taking_part)
    assert some.queries == held.queries
    again = some.on(np.arange(len(chosen))[::2])
    np.testing.assert_array_equal(again.between(a, b), held.values[a, b][:, ::2])


@pytest.mark.parametrize("row", ROWS, ids=str)
@costly(10)
@given(collection=several, size=st.sampled_from([1, 7, 40]))
def test_portions_add_up_to_what_all_pairs_do(row: str | Evaluable, collection: Collection, size: int) -> None:
    contrasts = contrasts_of(row, positions_of(collection))
    held = Differences.of(contrasts.held())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PORTION", size)
        portioned = PortionedPairs.of(contrasts)
        for name in ("is_signs", "num_queries", *SUMS):
            np.testing.assert_array_equal(getattr(portioned, name), getattr(held, name))
        np.testing.assert_array_equal(portioned.compared, held.compared)
        if len(held.a) == 0:
            return
        is_even = np.arange(len(contrasts.queries)) % 2 == 0
        found = [[(p.tolist(), q.tolist()) for p, q in each.alike(is_even)] for each in (portioned, held)]
        assert sorted(found[0]) == sorted(found[1])


@pytest.mark.parametrize("test", TESTS)
@costly(8)
@given(collection=collections(max_runs=5), size=st.sampled_from([1, 5, 40]))
def test_no_comparison_shows_how_many_pairs_are_at_hand(test: str, collection: Collection, size: int) -> None:
    options: dict[str, Any] = {"measures": ["LexiRecall", "AP", "RPP"], "test": test, "num_resamples": 50}
    assume(is_comparable(collection))
    whole = compare(collection.qrels, collection.runs, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PORTION", size)
        portioned = compare(collection.qrels, collection.runs, **options)
    np.testing.assert_equal(numbers_of(portioned), numbers_of(whole))


@pytest.mark.parametrize("test", TESTS)
@costly(10)
@given(collection=collections(max_runs=5), data=st.data())
def test_a_baseline_leaves_the_pairs_with_it_as_they_are(
    test: str, collection: Collection, data: st.DataObject
) -> None:
    """All but what regards the number of pairs: the correction, and max-T."""
    assume(is_comparable(collection))
    options: dict[str, Any] = {"measures": ["LexiRecall", "AP"], "test": test, "num_resamples": 50}
    options["correction"] = "none"
    reference = data.draw(st.sampled_from(sorted(collection.runs)))
    every = compare(collection.qrels, collection.runs, **options)
    asked = compare(collection.qrels, collection.runs, baseline=reference, **options)
    at = every.runs.index(reference)
    for one, all_pairs in zip(asked.measures, every.measures, strict=True):
        is_asked = (all_pairs.a == at) | (all_pairs.b == at)
        names = ["a", "b", "means", "wins", "ties", "losses", "lows", "highs"]
        if test != "randomization":  # where the queries on which any pair is compared decide how signs are flipped
            names.append("pvalues")
        for name in names:
            np.testing.assert_array_equal(getattr(one, name), getattr(all_pairs, name)[is_asked])


@pytest.mark.parametrize("test", TESTS)
def test_with_a_baseline_only_its_pairs_are_compared(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(7)}
    runs = {name: {q: [*"xyz"[: k % 3], "a", "b"] for q in qrels} for k, name in enumerate("vwstu")}
    asked = []
    between = Contrasts.between

    def noting(self: Contrasts, a: Any, b: Any) -> Any:
        asked.append(set(zip(a.tolist(), b.tolist(), strict=True)))
        return between(self, a, b)

    monkeypatch.setattr(Contrasts, "between", noting)
    compare(qrels, runs, ["AP"], baseline="s", test=test, num_resamples=20)
    assert set.union(*asked) == {(0, 2), (1, 2), (2, 3), (2, 4)}


@pytest.mark.parametrize("method", from_pairs())
@quick(10)
@given(collection=several)
def test_an_order_does_not_need_all_pairs_at_once(method: str, collection: Collection) -> None:
    contrasts = contrasts_of("RPP", positions_of(collection))
    one, other = order_runs(contrasts, method), order_runs(contrasts.held(), method)
    np.testing.assert_array_equal(one.scores, other.scores)
    assert (one.ranks.tolist(), one.cycles) == (other.ranks.tolist(), other.cycles)


@pytest.mark.parametrize("method", RESAMPLED)
@quick(10)
@given(collection=several, size=st.sampled_from([1, 50]))
def test_nor_do_its_resamples(method: str, collection: Collection, size: int) -> None:
    contrasts = contrasts_of("RPP", positions_of(collection))
    whole = bootstrap_order(contrasts.held(), method, num_resamples=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap_module, "_BLOCK", size)
        made = bootstrap_order(contrasts, method, num_resamples=60)
    for each in fields(whole):
        np.testing.assert_array_equal(getattr(made, each.name), getattr(whole, each.name))


def test_nor_whether_differences_vary_by_group(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    qrels = {f"q{i:02}": {str(k): 1 for k in range(3)} for i in range(22)}
    runs = {
        name: {q: [str(k) for k in rng.permutation(9)] for q in list(qrels)[: 22 - s]} for s, name in enumerate("abcd")
    }
    groups = {q: f"g{i % 3}" for i, q in enumerate(qrels)}
    options: dict[str, Any] = {"by": groups, "queries": "intersection", "num_resamples": 200, "min_queries": 2}
    whole = compare(qrels, runs, ["AP", "LexiRecall"], **options)
    monkeypatch.setattr(module, "_PORTION", 1)
    monkeypatch.setattr(interaction_module, "_BLOCK", 1)
    portioned = compare(qrels, runs, ["AP", "LexiRecall"], **options)
    for one, other in zip(portioned.rows(), whole.rows(), strict=True):
        share, whole_share = one.pop("interaction"), other.pop("interaction")
        assert one == other
        assert share == whole_share or share == pytest.approx(whole_share, rel=1e-12)  # a product of matrices


@pytest.mark.parametrize("make", [lambda row: row.contrasts, lambda row: row.pairs])
def test_signs_are_signs_also_where_blocks_hold_floats(make: Callable[[Preference], Any]) -> None:
    """A row without sizes may give its signs in any type."""
    row = Preference("Floats", "", blocks=lambda projection: iter([(projection.num_relevant - 1, np.zeros((1, 1, 1)))]))
    made = make(row)(project({"q": {"a": 1}}, {"x": {"q": ["a"]}}).at_level(1))
    values = made.between(np.array([0]), np.array([0])) if isinstance(made, Contrasts) else made.values
    assert values.dtype == np.int8


def test_what_follows_from_values_is_computed_by_pair() -> None:
    positions = project({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}})
    kinds = [type(contrasts_of(row, positions).compared).__name__ for row in ROWS]
    assert kinds == ["RankSigns"] * 2 + ["LevelPreferences"] * 3 + ["ValueDifferences"] * 4 + ["_WholeBlocks"]
    assert all(isinstance(contrasts_of(row, positions).compared, PairPreferences) for row in (*ROWS, AP))

"""Whether a provider is placed like the others: the test is its definition, and finds nothing where nothing is."""

import importlib
import math
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import project
from lexirecall.judgments import BoolArray, IntArray, offsets_of
from lexirecall.measures.ownership import OwnedDocuments, owned_documents
from lexirecall.measures.providers import shares_of_providers
from lexirecall.statistics import Placements, permute_owners
from strategies import quick

module: Any = importlib.import_module("lexirecall.statistics.placements")
Queries = list[list[tuple[int, int, frozenset[int]]]]
documents = st.tuples(st.integers(0, 3), st.integers(1, 2), st.frozensets(st.integers(0, 2), max_size=2))
queries = st.lists(st.lists(documents, min_size=1, max_size=3), min_size=2, max_size=3)


def documents_of(chosen: Queries, *, exposures: Any = None) -> OwnedDocuments:
    flat = [(q, *document) for q, own in enumerate(chosen) for document in own]
    strata = sorted({(q, grade) for q, _, grade, _ in flat})
    given_here = np.array([[e for _, e, _, _ in flat]], float) if exposures is None else exposures
    return OwnedDocuments(
        np.array([q for q, *_ in flat]),
        np.array([strata.index((q, grade)) for q, _, grade, _ in flat]),
        given_here,
        offsets_of(np.array([len(owners) for *_, owners in flat])),
        np.array([owner for *_, owners in flat for owner in sorted(owners)], np.int64),
    )


def every(num_runs: int, num_queries: int) -> BoolArray:
    return np.ones((num_runs, num_queries), bool)


def all_orders(strata: IntArray, num_resamples: int, seed: int) -> Iterator[IntArray]:
    parts = [permutations(np.flatnonzero(strata == stratum).tolist()) for stratum in range(strata.max() + 1)]
    yield np.array([[place for part in way for place in part] for way in product(*parts)])


def number_of_orders(chosen: Queries) -> int:
    strata = [(q, grade) for q, own in enumerate(chosen) for _, grade, _ in own]
    return math.prod(math.factorial(strata.count(stratum)) for stratum in {*strata})


@given(queries)
@quick(150)
def test_p_is_the_share_of_the_ways_to_permute_owners_with_so_large_a_statistic(chosen: Queries) -> None:
    owners = sorted({owner for own in chosen for *_, each in own for owner in each})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEWEST", 2)
        patch.setattr(module, "_orders", all_orders)
        patch.setattr(module, "resamples_needed", lambda *_, **__: number_of_orders(chosen) + 1)
        made = permute_owners(documents_of(chosen), every(1, len(chosen)))
    assert made.pvalues.shape == (1, len(owners))
    for c, owner in enumerate(owners):
        differences = naive.placement_differences(chosen, owner)
        assert made.num_queries[0, c] == len(differences)
        if len(differences) < 2:
            assert np.isnan([made.pvalues[0, c], made.statistics[0, c], made.corrected[0, c]]).all()
            continue
        assert made.statistics[0, c] ** 2 == pytest.approx(
            float(naive.squared_placement(differences)), rel=1e-9, abs=1e-12
        )
        assert math.isclose(made.statistics[0, c], 0, abs_tol=1e-9) == (not sum(differences))
        assert made.statistics[0, c] * sum(differences) >= 0 or not sum(differences)
        assert made.pvalues[0, c] == pytest.approx(float(naive.placement_pvalue(chosen, owner)), rel=1e-12)


def test_orders_are_random_within_each_stratum_only() -> None:
    strata = np.array([0, 1, 1, 1, 2, 2])
    drawn = np.concatenate([*module._orders(strata, 6000, 3)])
    assert drawn.shape == (6000, 6)
    assert (strata[drawn] == strata).all()
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 12
    assert (np.abs(counts - 500) < 5 * math.sqrt(500)).all()
    assert (drawn != np.concatenate([*module._orders(strata, 6000, 4)])).any()


def drawn_queries(seed: int, number: int = 12, size: int = 6) -> Queries:
    rng = np.random.default_rng(seed)
    return [
        [(int(rng.integers(9)), int(rng.integers(1, 3)), frozenset({int(rng.integers(3))})) for _ in range(size)]
        for _ in range(number)
    ]


def same(one: Placements, other: Placements) -> None:
    for name in ("statistics", "pvalues", "corrected", "num_queries"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_neither_blocks_nor_other_runs_nor_the_order_of_documents_show(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = drawn_queries(0)
    exposures = np.random.default_rng(1).random((3, 72))
    made = permute_owners(documents_of(chosen, exposures=exposures), every(3, 12))
    alone = permute_owners(documents_of(chosen, exposures=exposures[1:2]), every(1, 12))
    assert made.pvalues[1].tolist() == alone.pvalues[0].tolist()
    monkeypatch.setattr(module, "_BLOCK", 500)
    same(permute_owners(documents_of(chosen, exposures=exposures), every(3, 12)), made)
    other = permute_owners(documents_of(chosen, exposures=exposures), every(3, 12), seed=1)
    assert other.pvalues.tolist() != made.pvalues.tolist()


def test_queries_that_do_not_count_for_a_run_do_not_count() -> None:
    chosen = drawn_queries(2)
    counts = every(1, 12)
    counts[0, 9:] = False
    part = permute_owners(documents_of(chosen), counts)
    few = permute_owners(documents_of(chosen[:9]), every(1, 9))
    np.testing.assert_allclose(part.statistics, few.statistics, rtol=1e-12)
    np.testing.assert_array_equal(part.num_queries, few.num_queries)
    assert np.abs(part.pvalues - few.pvalues).max() < 0.03  # other permutations


def test_a_provider_is_tested_on_five_queries_that_it_shares_with_others() -> None:
    shared = [(3, 1, frozenset({0})), (1, 1, frozenset({1}))]
    alone = [(2, 1, frozenset({1})), (1, 1, frozenset({1}))]
    for number, is_tested in ((4, False), (5, True)):
        made = permute_owners(documents_of([shared] * number + [alone] * 9), every(1, number + 9))
        assert made.num_queries.tolist() == [[number, number]]
        assert (~np.isnan(made.pvalues)).tolist() == [[is_tested] * 2]


def test_where_nothing_differs_nothing_is_found() -> None:
    level = [[(2, 1, frozenset({owner})) for owner in (0, 1, 0)] for _ in range(6)]
    made = permute_owners(documents_of(level), every(1, 6))
    assert made.pvalues.tolist() == [[1, 1]]
    assert made.statistics.tolist() == [[0, 0]]


def test_a_provider_whose_documents_have_lower_grades_is_not_held_to_be_placed_apart() -> None:
    by_grade = [
        [(9, 2, frozenset({0})), (8, 2, frozenset({q % 2})), (3, 1, frozenset({1})), (2, 1, frozenset({q % 2}))]
        for q in range(20)
    ]
    assert permute_owners(documents_of(by_grade), every(1, 20)).pvalues.min() > 0.05
    equal = [[(e, 1, owners) for e, _, owners in own] for own in by_grade]
    assert permute_owners(documents_of(equal), every(1, 20)).pvalues.max() < 0.001


def test_holm_is_over_the_providers_of_each_run_by_itself() -> None:
    chosen = drawn_queries(4, number=20)
    made = permute_owners(documents_of(chosen, exposures=np.random.default_rng(7).random((2, 120))), every(2, 20))
    for pvalues, corrected in zip(made.pvalues.tolist(), made.corrected.tolist(), strict=True):
        assert min(corrected) == min(1, 3 * min(pvalues))


def test_many_providers_need_more_permutations_and_these_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    many: Queries = [[(i % 5, 1, frozenset({i})) for i in range(300)] for _ in range(5)]
    monkeypatch.setattr(module, "MOST_ADDITIONS", 1500 * 10 * 100)
    made = permute_owners(documents_of(many), every(1, 5))
    assert (made.num_resamples, made.is_bounded) == (100, True)
    assert permute_owners(documents_of(many[:5]), every(1, 5), alpha=0.9).num_resamples == 100
    monkeypatch.undo()
    few = permute_owners(documents_of(drawn_queries(0)), every(1, 12))
    assert (few.num_resamples, few.is_bounded) == (9999, False)


@pytest.mark.parametrize("n", [None, 40])
def test_exposures_of_documents_add_up_to_those_of_providers(n: int | None) -> None:
    judged = {"q": {"a": 1, "b": 2, "c": 1, "d": 3}, "r": {"b": 1, "e": 1}}
    runs = {"x": {"q": ["z", "c", "a"], "r": ["b"]}, "y": {"q": ["b"], "r": ["y", "e", "b"]}}
    owners = {"a": ["Ada", "Ben"], "b": "Ben", "c": "Cy", "e": "Ada"}
    positions = project(judged, runs, providers=owners, corpus_size=n)
    for level in (1, 2):
        documents = owned_documents(positions.at_level(level), "dcg", 0.8)
        shares = shares_of_providers(positions.at_level(level), "dcg", 0.8)
        of_document = np.repeat(np.arange(len(documents.queries)), np.diff(documents.offsets))
        for pair, (query, provider) in enumerate(zip(shares.queries, shares.providers, strict=True)):
            own = of_document[(documents.queries[of_document] == query) & (documents.owners == provider)]
            np.testing.assert_allclose(documents.exposures[:, own].sum(axis=1), shares.exposures[:, pair], rtol=1e-12)

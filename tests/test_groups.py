"""Groups of runs that the tests do not tell apart, and their order."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from lexirecall import report, simulate_collection
from lexirecall.page.groups import maximal_groups
from lexirecall.page.limits import Limits
from strategies import Collection, collections, quick

DEMO = simulate_collection(0)


@st.composite
def relations(draw: st.DrawFn) -> list[list[bool]]:
    """Which of up to nine things differ from which."""
    size = draw(st.integers(1, 9))
    differing = draw(st.sets(st.sampled_from([*combinations(range(size), 2), (0, 0)])))
    return [[i != j and (min(i, j), max(i, j)) in differing for j in range(size)] for i in range(size)]


@quick(300)
@given(relations())
def test_groups_are_the_longest_intervals_of_which_no_two_differ(differs: list[list[bool]]) -> None:
    assert maximal_groups(np.array(differs)) == naive.maximal_groups(differs)


@quick(40)
@given(collections())
def test_the_payload_has_the_order_and_the_groups_of_its_own_pairs(collection: Collection) -> None:
    assume(len(collection.runs) > 1)
    assume(any(grade >= 1 for grades in collection.qrels.values() for grade in grades.values()))
    payload = report(collection.qrels, collection.runs, ["LexiRecall", "AP", "LastRel"], output=None).payload
    pairs = list(zip(payload["pairs"]["a"], payload["pairs"]["b"], strict=True))
    for k, measure in enumerate(payload["measures"]):
        order, pvalues = payload["group_order"][k], payload["pairs"]["by_measure"][k]["p"]
        sign = -1 if measure["better"] == "lower" else 1
        means = [payload["means"][s][k] for s in order]
        defined = [sign * mean for mean in means if mean is not None]
        assert means == [sign * mean for mean in sorted(defined, reverse=True)] + [None] * (len(means) - len(defined))
        assert sorted(order) == list(range(len(order)))
        differing = {frozenset(pair) for pair, p in zip(pairs, pvalues, strict=True) if p is not None and p < 0.05}
        differs = [[frozenset((s, t)) in differing for t in order] for s in order]
        tested = any(p is not None for p in pvalues)
        assert payload["groups"][k] == (naive.maximal_groups(differs) if tested else None)


def test_there_are_no_groups_of_one_run_nor_against_a_baseline() -> None:
    alone = report(DEMO.qrels, {"only": DEMO.runs["deep.run"]}, ["AP"], output=None).payload
    assert (alone["group_order"], alone["groups"]) == ([[0]], [None])
    against = report(DEMO.qrels, DEMO.runs, ["AP"], output=None, baseline="deep.run").payload
    assert against["groups"] == [None, None]


def test_groups_are_of_all_runs_where_the_page_holds_few_pairs() -> None:
    made = report(DEMO.qrels, DEMO.runs, output=None, limits=Limits(pair_values=60)).payload
    whole = report(DEMO.qrels, DEMO.runs, output=None).payload
    assert len(made["pairs"]["a"]) < len(whole["pairs"]["a"])
    assert made["groups"] == whole["groups"]


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_a_pair_has_its_p_before_and_after_the_correction(correction: str) -> None:
    made = report(DEMO.qrels, DEMO.runs, ["AP"], output=None, correction=correction)
    compared, places = made.findings.comparison, made.findings.places
    assert compared is not None
    columns = made.payload["pairs"]["by_measure"][0]
    rows = {frozenset((row["a"], row["b"])): row for row in compared.rows() if row["measure"] == "AP"}
    for i, (a, b) in enumerate(combinations(places, 2)):
        row = rows[frozenset((compared.runs[a], compared.runs[b]))]
        assert columns["p_raw"][i] == pytest.approx(row["p"], rel=1e-3)
        assert columns["p"][i] == pytest.approx(row["p_corrected"], rel=1e-3)

"""Pools hold what labels can change, and positions under a labelling are those of judgments that have these labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexirecall
from lexirecall.formats.listing import load_lists
from lexirecall.labels.pools import Labelling, pools_of
from lexirecall.manifest import Conventions

DOCUMENTS = "abcdefgh"
rankings = st.permutations(DOCUMENTS).flatmap(
    lambda documents: st.integers(0, len(documents)).map(lambda size: documents[:size])
)
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1, 0, 1, 2]), max_size=5)


@given(grades, rankings, rankings, st.sets(st.sampled_from(DOCUMENTS)))
def test_positions_under_a_labelling_are_those_of_judgments_with_these_labels(
    judged: dict[str, int], one: list[str], two: list[str], labelled: set[str]
) -> None:
    qrels = {"q": {"z": 1, **judged}, "other": {"z": 2}}
    runs: dict[str, Any] = {"one": {"q": one, "other": ["z"]}, "two": {"q": two}}
    pools = list(pools_of(load_lists(qrels, runs)))
    made = Labelling(("one", "two"), Conventions()).positions(
        pools, [np.array([[document.decode() in labelled for document in pool.documents]], bool) for pool in pools]
    )
    retrieved = {*one, *two}
    new = {document: 1 for document in labelled & retrieved if judged.get(document, -1) < 0}
    expected = lexirecall.project({"q": {**qrels["q"], **new}, "other": {"z": 2}}, runs)
    assert made.answered.tolist() == expected.answered.tolist()
    for level in (1, 2):
        measures = ["LexiRecall", "AP", "nDCG", "R@3", "SetP", f"AP(rel={level})"]
        assert lexirecall.evaluate(made, measures=measures, level=level).values == pytest.approx(
            lexirecall.evaluate(expected, measures=measures, level=level).values, nan_ok=True
        )


def test_a_pool_of_some_runs_keeps_what_they_retrieve() -> None:
    lists = load_lists({"q": {"a": 1, "b": 2}}, {"one": {"q": ["x", "a"]}, "two": {"q": ["y", "b"]}})
    pool = next(pools_of(lists)).of_runs([1])
    assert pool.documents == (b"y", b"b")
    assert pool.places.tolist() == [[1, 2]]
    assert pool.missed.tolist() == [1.0]
    assert pool.num_relevant(1) == 2


def test_documents_in_the_pool_that_were_not_judged_are_unjudged() -> None:
    pool = next(pools_of(load_lists({"q": {"a": 1, "b": -2, "c": 0}}, {"one": {"q": ["c", "b", "a", "d"]}})))
    assert dict(zip(pool.documents, pool.is_unjudged.tolist(), strict=True)) == {b"b": True, b"a": False, b"d": True}

"""Values of queries are the same however many queries are computed together."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import lexirecall
from lexirecall import Positions, positions, project
from lexirecall.judgments import counts_of
from lexirecall.measures import Measure
from table import all_measures, all_preferences, needs_size

SIZES = (1, 40)
"""How many documents found a portion has, about."""


def collection(**options: Any) -> Positions:
    """Return the positions of all judged documents in random runs with ties, some of them without an answer."""
    chance = random.Random(1)  # noqa: S311 - a collection is not a secret
    documents = [f"d{i}" for i in range(9)]
    qrels = {
        f"q{q}": {i: chance.choice([-1, 0, 1, 2, 0.5]) for i in chance.sample(documents, chance.randint(1, 7))}
        for q in range(20)
    }
    runs = {
        name: {
            q: {i: float(chance.randint(0, 4)) for i in chance.sample(documents, chance.randint(1, 9))}
            for q in qrels
            if chance.random() < 0.8
        }
        for name in ("one", "two", "three")
    }
    return project(qrels, runs, needs_judged=True, **options)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "options", [{}, {"ties": "expected"}, {"corpus_size": {f"q{q}": 30 + q for q in range(20)}}], ids=str
)
def test_values_are_the_same_in_portions(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], size: int) -> None:
    given = collection(**options)
    tried = [*(m for m in all_measures() if not m.needs_providers), *all_preferences()]
    rows = [row for row in tried if given.conventions.ties != "expected" or row.has_closed_form]
    names = [str(row) for row in rows if "corpus_size" in options or not (isinstance(row, Measure) and needs_size(row))]
    whole = lexirecall.evaluate(given, measures=names, queries="intersection")
    monkeypatch.setattr(positions, "_AT_ONCE", size)
    assert len([*given.portions()]) > 2
    cut = lexirecall.evaluate(given, measures=names, queries="intersection")
    np.testing.assert_array_equal(cut.values, whole.values)
    assert cut.manifest == whole.manifest
    np.testing.assert_array_equal(cut.num_due, whole.num_due)


@pytest.mark.parametrize("size", SIZES)
def test_comparisons_are_the_same_in_portions(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    given, names = collection(), ["LexiRecall", "RPP", "AP", "LastRel", "nDCG", "Bpref"]
    whole = lexirecall.compare(given, measures=names)
    monkeypatch.setattr(positions, "_AT_ONCE", size)
    assert [*lexirecall.compare(given, measures=names).rows()] == [*whole.rows()]


def test_what_several_queries_share_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "_AT_ONCE", 1)
    for options in (
        {"providers": {f"d{i}": f"P{i % 3}" for i in range(9)}},
        {"units": {f"d{i}": "U" for i in range(9)}},
    ):
        [(queries, part)] = collection(**options).portions()
        assert (queries, part.shape) == (slice(0, 20), (3, 20))


def test_what_is_under_a_mask_is_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    for size in (1, 7, 10**6):
        monkeypatch.setattr("lexirecall.judgments._AT_ONCE", size)
        sizes = rng.integers(0, 4, 50)
        offsets, mask = np.append(0, sizes.cumsum()), rng.random(sizes.sum()) < 0.5
        expected = [int(mask[a:b].sum()) for a, b in pairwise(offsets)]
        assert counts_of(mask, offsets).tolist() == expected

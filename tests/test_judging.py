"""What to judge next: what a label is worth, beside what it does under every labelling, and the list."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import evaluate
from lexirecall.formats.listing import load_lists
from lexirecall.judgments import FloatArray
from lexirecall.labels import judgingorder
from lexirecall.labels.forecasts import RunPairs, sample
from lexirecall.labels.judgingorder import Candidate, effects_of, label_weights, to_judge
from lexirecall.labels.pools import Labelling, LabelPool, pools_of
from lexirecall.labels.rates import Rates, stated_rate
from lexirecall.manifest import Conventions, Policies
from lexirecall.names import parse_names
from lexirecall.preferences import LEXI_RECALL
from strategies import quick

Runs = dict[str, dict[str, list[str]]]
QRELS = {"q": {"a": 1, "b": 1, "n": 0}, "r": {"a": 1, "n": 0}}
RUNS: Runs = {
    "bm25": {"q": ["a", "n", "x", "b"], "r": ["n", "a"]},
    "dense": {"q": ["a", "y", "x", "b"], "r": ["a", "n"]},
    "splade": {"q": ["x", "a", "b", "z", "y"], "r": ["a", "n"]},
}
PAIRS = np.array([0, 0, 1]), np.array([1, 2, 2])


def listed(
    num: int, measure: str = "LexiRecall", *, rates: Rates | None = None, pairs: RunPairs = PAIRS, runs: Runs = RUNS
) -> list[Candidate]:
    lists = load_lists(QRELS, runs)
    pools, labelling = list(pools_of(lists)), Labelling(tuple(runs), Conventions())
    rates = rates or stated_rate(0.2)
    (sampled,) = sample(pools, rates, parse_names(measure), labelling, Policies(), num_samples=200, seed=1)
    return to_judge(pools, rates, sampled, labelling, Policies(), num, pairs=pairs, judgments=lists.judgments)


effects = st.sampled_from([0.0, 1.0, 0.5, -0.25])


@quick(60)
@given(st.data(), st.integers(2, 4), st.integers(1, 6))
def test_weights_are_those_of_the_definition(data: st.DataObject, num_runs: int, num_documents: int) -> None:
    given_effects = [[data.draw(effects) for _ in range(num_documents)] for _ in range(num_runs)]
    chances = [data.draw(st.sampled_from([0.0, 0.01, 0.3, 0.5, 1.0])) for _ in range(num_documents)]
    pairs = [(a, b) for b in range(num_runs) for a in range(b)]
    shares = [data.draw(st.floats(0.001, 0.999)) for _ in pairs]
    wanted = naive.label_weights(given_effects, chances, shares, pairs)
    a, b = np.array(pairs).T
    made = label_weights(np.array(given_effects), np.array(chances), np.array(shares), (a, b))
    assert made == pytest.approx(wanted, abs=1e-12)


def test_portions_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = [listed(10, measure) for measure in ("LexiRecall", "AP")]
    monkeypatch.setattr(judgingorder, "_AT_A_TIME", 2)
    for whole, parts in zip(at_once, (listed(10, measure) for measure in ("LexiRecall", "AP")), strict=True):
        assert [each.document for each in whole] == [each.document for each in parts]
        assert [each.weight for each in whole] == pytest.approx([each.weight for each in parts])


def moved_exactly(pool: LabelPool, chances: FloatArray, pairs: RunPairs) -> FloatArray:
    """Return by how much each label is expected to move the chances of who is better, from every labelling."""
    documents = np.flatnonzero(pool.is_unjudged)
    labels = np.zeros((2 ** len(documents), len(pool.documents)), bool)
    labels[:, documents] = list(product((False, True), repeat=len(documents)))
    positions = Labelling(tuple(map(str, range(len(pool.lengths)))), Conventions()).positions([pool], [labels])
    signs = LEXI_RECALL.contrasts(positions.at_level(1)).between(*pairs)
    masses = np.where(labels, chances, 1 - chances)[:, documents].prod(axis=1)
    better = (1 + signs) / 2
    moved = np.zeros(len(documents))
    for k, document in enumerate(documents):
        for label in (False, True):
            own = labels[:, document] == label
            mass = masses[own].sum()
            moved[k] += mass * np.abs(better[:, own] @ masses[own] / mass - better @ masses).sum()
    return moved


@pytest.mark.parametrize("seed", range(8))
def test_weights_agree_with_every_labelling(seed: int) -> None:
    """Not to the digit, because M is not normal, and there are few documents here, but largely."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(11)]
    runs = {str(s): {"q": rng.permutation(names)[: rng.integers(4, 9)].tolist()} for s in range(4)}
    lists = load_lists({"q": {"d0": 1, "d1": 1, "z": 1}}, runs)
    (pool,) = pools_of(lists)
    pairs = np.triu_indices(4, 1)
    labelling, chances = Labelling(tuple(runs), Conventions()), rng.uniform(0.02, 0.5, len(pool.documents))
    rates = Given(chances)
    (sampled,) = sample([pool], rates, [LEXI_RECALL], labelling, Policies(), num_samples=2000, seed=seed)
    made = to_judge([pool], rates, sampled, labelling, Policies(), 99, pairs=pairs, judgments=lists.judgments)
    exact = dict(
        zip(np.array(pool.documents)[pool.is_unjudged].tolist(), moved_exactly(pool, chances, pairs), strict=True)
    )
    wanted = [exact[each.document.encode()] for each in made]
    assert len(made) == len(exact)
    assert np.corrcoef(wanted, [each.weight for each in made])[0, 1] > 0.75


class Given(Rates):
    """Chances of one pool."""

    def __init__(self, chances: FloatArray) -> None:
        self.given = chances

    def chances(self, pool: LabelPool) -> FloatArray:
        return np.where(pool.is_unjudged, self.given, 0.0)


def test_the_list_names_documents_with_runs_and_reasons() -> None:
    made = listed(10)
    assert {(each.query, each.document) for each in made} == {("q", "x"), ("q", "y"), ("q", "z")}
    assert [each.weight for each in made] == sorted((each.weight for each in made), reverse=True)
    by_name = {each.document: each for each in made}
    assert by_name["z"].runs == (("splade", 4),)
    assert by_name["z"].reason == (
        "only splade retrieves it, at 4; bm25 and dense miss it; its label bears on 2 of 3 pairs of runs"
    )
    assert by_name["x"].runs == (("splade", 1), ("bm25", 3), ("dense", 3))
    assert by_name["x"].reason.startswith("3 of 3 runs retrieve it, splade highest, at 1; its label")
    assert by_name["x"].weight < by_name["z"].weight  # all find it: only where matters
    assert listed(1) == made[:1]


def test_a_document_that_no_pair_asked_for_has_apart_is_worth_nothing() -> None:
    made = {each.document: each.weight for each in listed(10, pairs=(np.array([0]), np.array([1])))}
    assert made["z"] == 0
    assert made["y"] > 0


def test_chances_of_0_and_1_need_no_judging() -> None:
    assert {each.weight for rate in (0, 1) for each in listed(10, rates=stated_rate(rate))} == {0.0}


def test_rankings_of_the_same_documents_are_told_apart_by_position() -> None:
    runs: Runs = {"up": {"q": ["a", "x", "b", "y"]}, "down": {"q": ["a", "y", "b", "x"]}}
    made = listed(9, runs=runs, pairs=(np.array([0]), np.array([1])))
    assert {each.document for each in made if each.weight > 0} == {"x", "y"}


@pytest.mark.parametrize("measure", ["R@3", "AP", "nDCG", "RR"])
def test_what_a_label_does_to_a_measure_is_what_judging_does(measure: str) -> None:
    lists = load_lists(QRELS, RUNS)
    pool = next(pools_of(lists))
    (row,) = parse_names(measure)
    made = effects_of(pool, row, Labelling(tuple(RUNS), Conventions()), Policies())

    def values(judged: dict[str, int]) -> list[float]:
        scores = evaluate({"q": judged}, {name: {"q": run["q"]} for name, run in RUNS.items()}, [measure])
        return [float(each) for each in scores.values[:, 0, 0]]

    before = np.array(values(QRELS["q"]))
    unjudged = [
        document.decode() for document, is_open in zip(pool.documents, pool.is_unjudged, strict=True) if is_open
    ]
    wanted: Any = np.stack([np.array(values({**QRELS["q"], document: 1})) - before for document in unjudged], axis=1)
    assert made == pytest.approx(wanted)


@pytest.mark.parametrize("measure", ["LexiPrecision", "R@3", "AP"])
def test_other_measures_have_a_list_too(measure: str) -> None:
    made = listed(2, measure)
    assert len(made) == 2
    assert made[0].weight > 0


def test_where_everything_is_judged_there_is_nothing_to_judge() -> None:
    qrels = {"q": dict.fromkeys("ab", 1), "r": dict.fromkeys("abc", 0)}
    runs: Runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["b"], "r": ["c"]}}
    lists = load_lists(qrels, runs)
    pools, labelling = list(pools_of(lists)), Labelling(("one", "two"), Conventions())
    rates, pairs = stated_rate(0.1), (np.array([0]), np.array([1]))
    for measure in ("LexiRecall", "AP"):
        (sampled,) = sample(pools, rates, parse_names(measure), labelling, Policies(), num_samples=3, seed=1)
        assert to_judge(pools, rates, sampled, labelling, Policies(), 9, pairs=pairs, judgments=lists.judgments) == []

"""A flip number is that of the smallest of all labellings that turn a decision round."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, Preference, parse_measure, parse_preference
from lexirecall.errors import UsageError
from lexirecall.formats.listing import load_lists
from lexirecall.judgments import IntArray
from lexirecall.labels import flips as module
from lexirecall.labels.flips import RULES, Flips, flips_of, has_flips
from lexirecall.labels.pools import Labelling, pools_of
from lexirecall.manifest import Conventions, Policies
from lexirecall.measures import AP, MEASURES, R
from lexirecall.names import Evaluable, rows
from lexirecall.preferences import LEXI_PRECISION, LEXI_RECALL, PREFERENCES, preference_of
from lexirecall.progress import Progress
from strategies import LEVELS, costly
from table import needs_size, variants

DOCUMENTS = "abcdefg"
rankings = st.permutations(DOCUMENTS).flatmap(
    lambda documents: st.integers(0, len(documents)).map(lambda size: documents[:size])
)
grades = st.dictionaries(st.sampled_from([*DOCUMENTS, "missing"]), st.sampled_from([-1, 0, 1, 1, 2]), max_size=5)
sizes = st.sampled_from([None, len(DOCUMENTS) + 1, 20])
EVERY: list[Evaluable] = [
    *(row for name in RULES if name in MEASURES for row in variants(MEASURES[name])),
    *(row for name in RULES if name in PREFERENCES for row in variants(PREFERENCES[name])),
    LEXI_RECALL(rel=2),
    R(rel=2) @ 3,
]
FIRST_PAIR = np.array([0]), np.array([1])


def flips(
    qrels: Mapping[str, Any],
    runs: Mapping[str, Any],
    row: Evaluable,
    pairs: tuple[IntArray, IntArray] = FIRST_PAIR,
    corpus_size: int | None = None,
    policies: Policies | None = None,
) -> Flips:
    pools = list(pools_of(load_lists(qrels, runs)))
    size = None if corpus_size is None else np.full(len(pools), corpus_size)
    labelling = Labelling(tuple(runs), Conventions(), corpus_size=size)
    return flips_of(pools, row, policies or Policies(), pairs, labelling)


def number(
    judged: Mapping[str, float],
    x: Sequence[str],
    y: Sequence[str],
    row: Evaluable,
    *,
    corpus_size: int | None = None,
    level: float = 1,
) -> float:
    found = flips(
        {"q": {"other": 0, **judged}}, {"x": {"q": x}, "y": {"q": y}}, row, FIRST_PAIR, corpus_size, Policies(level)
    )
    return float(found.numbers[0, 0])


def sign_of(
    judged: Mapping[str, float], x: Sequence[str], y: Sequence[str], row: Evaluable, level: float, n: int | None
) -> int:
    """Tell the slow way which of two rankings is better."""
    size = None if isinstance(row, Preference) else n
    cases = [naive.Case(naive.grades_shown([*documents], judged), judged, level, size) for documents in (x, y)]
    if cases[0].m == 0:
        return 0
    if isinstance(row, Preference):
        return int(np.sign(naive.preference(row.name, row.settings, *cases)))
    return naive.better(row.direction, *(naive.value(row.name, row.settings, case) for case in cases))


def twin(
    judged: Mapping[str, float], x: Sequence[str], y: Sequence[str], row: Evaluable, level: float, n: int | None
) -> float:
    """Return the flip number that the slow way finds."""
    at = row.level(level)
    return naive.flip_number(judged, x, y, at, lambda then: sign_of(then, x, y, row, at, n))


def same(ours: float, theirs: float) -> bool:
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


@pytest.mark.parametrize("row", EVERY, ids=str)
@costly(150)
@given(judged=grades, x=rankings, y=rankings, level=st.sampled_from(LEVELS), corpus_size=sizes)
def test_the_flip_number_is_the_size_of_the_smallest_labelling_that_reverses(
    row: Evaluable, judged: dict[str, float], x: list[str], y: list[str], level: float, corpus_size: int | None
) -> None:
    n = 20 if isinstance(row, Measure) and needs_size(row) else corpus_size
    found = number(judged, x, y, row, corpus_size=n, level=level)
    assert same(found, twin(judged, x, y, row, level, n))


def drawn_case(random_: random.Random) -> tuple[dict[str, float], list[str], list[str]]:
    """Return judgments and two lists: of the same documents, as after reranking, or of others, or of other lengths."""
    documents = [*DOCUMENTS[: random_.randint(3, len(DOCUMENTS))]]
    judged = {
        document: random_.choice([-1.0, 0.0, 1.0, 1.0])
        for document in [*documents, "missing"]
        if random_.random() < 0.4
    }
    x = random_.sample(documents, random_.randint(1, len(documents)))
    y = (
        random_.sample(x, len(x))
        if random_.random() < 0.4
        else random_.sample(documents, random_.randint(1, len(documents)))
    )
    return judged, x, y


@pytest.mark.parametrize("row", [LEXI_RECALL, LEXI_PRECISION], ids=str)
def test_flip_numbers_of_many_small_cases(row: Preference) -> None:
    """Most are decided; in many the loser needs more than to find one document more, or can do with less."""
    random_ = random.Random(14)  # noqa: S311 - the same cases every day
    cases = [drawn_case(random_) for _ in range(1500)]
    found = [number(*case, row) for case in cases]
    assert all(same(ours, twin(*case, row, 1, None)) for ours, case in zip(found, cases, strict=True))
    assert sum(map(math.isfinite, found)) > 250
    assert {1.0, 2.0, 3.0} <= {*found}


@st.composite
def longer_lists(draw: st.DrawFn) -> tuple[set[str], set[str], list[str], list[str]]:
    """What is relevant, what is unjudged, and two lists of up to 30 documents; often the same ones in another order."""
    documents = [f"d{number}" for number in range(draw(st.integers(4, 30)))]
    x = draw(st.permutations(documents))[: draw(st.integers(2, len(documents)))]
    y = draw(st.permutations(x)) if draw(st.booleans()) else draw(st.permutations(documents))
    kinds = draw(st.lists(st.sampled_from("runu"), min_size=len(documents), max_size=len(documents)))
    relevant, unjudged = ({i for i, kind in zip(documents, kinds, strict=True) if kind == wanted} for wanted in "ru")
    return relevant, unjudged, x, y[: draw(st.integers(len(y) // 2, len(y)))]


@costly(400)
@given(longer_lists())
def test_flip_numbers_of_longer_lists_are_those_in_the_words_of_the_specification(
    case: tuple[set[str], set[str], list[str], list[str]],
) -> None:
    relevant, unjudged, x, y = case
    judged = {document: float(document in relevant) for document in {*x, *y} - unjudged}
    found = flips({"q": {"other": 0, **judged}}, {"x": {"q": x}, "y": {"q": y}}, LEXI_RECALL)
    if found.signs[0, 0]:
        winner, loser = (x, y) if found.signs[0, 0] > 0 else (y, x)
        assert found.numbers[0, 0] == naive.lexirecall_flip(relevant, unjudged, winner, loser)


def test_the_words_of_the_specification_agree_with_every_labelling() -> None:
    random_ = random.Random(3)  # noqa: S311 - the same cases every day
    cases = [drawn_case(random_) for _ in range(600)]
    expected = [twin(*case, LEXI_RECALL, 1, None) for case in cases]
    for (judged, x, y), number_of_labels in zip(cases, expected, strict=True):
        relevant = {document for document, grade in judged.items() if grade > 0}
        unjudged = {document for document in {*x, *y} if judged.get(document, -1) < 0}
        if not math.isnan(number_of_labels):
            winner, loser = (x, y) if sign_of(judged, x, y, LEXI_RECALL, 1, None) > 0 else (y, x)
            assert naive.lexirecall_flip(relevant, unjudged, winner, loser) == number_of_labels
    assert sum(map(math.isnan, expected)) < 400


# LexiRecall, by hand


def test_a_loser_that_finds_less_may_need_no_more_than_as_many() -> None:
    """Each finds b at the end. The winner has a too; the loser, with x, has as many, and x above a."""
    judged = {"a": 1, "b": 1, "n": 0}
    assert number(judged, ["n", "a", "b"], ["x", "n", "b"], LEXI_RECALL) == 1
    assert number(judged, ["a", "n", "b"], ["n", "x", "b"], LEXI_RECALL) == math.inf  # x would be below a


def test_a_loser_with_documents_of_its_own_needs_one_more_than_it_lacks() -> None:
    assert number({"a": 1, "b": 1, "c": 1}, [*"abc"], [*"xyzwc"], LEXI_RECALL) == 3


def test_after_reranking_the_labels_of_shared_documents_must_agree_below_the_place_that_decides() -> None:
    """With the same documents in both lists, neither finds more. In the last, x goes with a at 4, and y decides."""
    judged = {"a": 1, "n": 0}
    assert number(judged, ["a", "x", "y"], ["x", "a", "y"], LEXI_RECALL) == math.inf
    assert number(judged, ["a", "y", "x"], ["x", "a", "y"], LEXI_RECALL) == 1  # x is last for the winner, and first
    assert number(judged, ["n", "a", "y", "x"], ["y", "n", "x", "a"], LEXI_RECALL) == 2


def test_nothing_reverses_a_loser_that_retrieves_too_little() -> None:
    assert number({"a": 1, "b": 1, "c": 1}, [*"abcwv"], [*"cx"], LEXI_RECALL) == math.inf


# Which rows, pairs and queries


def test_the_rows_without_exact_flip_numbers_say_so() -> None:
    assert {str(row) for row in map(parse_measure, ["AP", "nDCG", "Rprec", "Reached@3"]) if has_flips(row)} == set()
    assert not has_flips(parse_preference("RPP"))
    assert has_flips(preference_of(R @ 5))
    with pytest.raises(UsageError, match=r"flip numbers of AP are not known.*\n  choose one of R, P, SetR"):
        number({"a": 1}, ["a"], ["x", "a"], AP)


def test_a_row_of_the_same_name_with_another_formula_has_no_rule() -> None:
    assert {*RULES} <= {*rows()}
    assert not has_flips(Measure("R", "another", lambda p: 1 / p, lambda _, m: 1 / m))


def test_a_measure_as_a_preference_has_the_flip_numbers_of_the_measure() -> None:
    judged, x, y = {"a": 1, "b": 1}, [*"abxy"], [*"wyza"]
    assert number(judged, x, y, preference_of(R @ 3)) == number(judged, x, y, R @ 3) == 3


@costly(60)
@given(st.lists(st.tuples(grades, rankings, rankings, rankings), min_size=1, max_size=3), st.integers(1, 40))
def test_all_pairs_and_queries_at_once_are_each_by_itself(
    queries: list[tuple[dict[str, float], list[str], list[str], list[str]]], at_a_time: int
) -> None:
    qrels = {f"q{i}": {"other": 0, **query[0]} for i, query in enumerate(queries)}
    runs = {f"r{s}": {f"q{i}": query[s + 1] for i, query in enumerate(queries)} for s in range(3)}
    a, b = np.array([0, 2, 1]), np.array([1, 0, 2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_A_TIME", at_a_time)
        for row in map(parse_preference, ["LexiRecall", "LexiPrecision", "R@2", "RR", "TSE", "All@3"]):
            found = flips(qrels, runs, row, (a, b))
            for p, q in np.ndindex(found.numbers.shape):
                x, y = queries[q][a[p] + 1], queries[q][b[p] + 1]
                alone = flips({"q": qrels[f"q{q}"]}, {"x": {"q": x}, "y": {"q": y}}, row)
                assert alone.signs[0, 0] == found.signs[p, q]
                assert same(float(alone.numbers[0, 0]), float(found.numbers[p, q]))
                unjudged = {document for document in {*x, *y} if queries[q][0].get(document, -1) < 0}
                assert found.unjudged[p, q] == alone.unjudged[0, 0] == len(unjudged)


def test_queries_that_do_not_count_have_no_flip_numbers() -> None:
    qrels = {"q": {"a": 1}, "none": {"a": 0}, "unanswered": {"a": 1}}
    runs = {"x": {"q": ["a"], "none": ["u"], "unanswered": ["a"]}, "y": {"q": ["u", "a"], "none": ["a"]}}
    for policies, expected in [
        (Policies(), [1, math.nan, math.inf]),
        (Policies(no_relevant="zero"), [1, math.nan, math.inf]),
        (Policies(queries="intersection"), [1, math.nan, math.nan]),
    ]:
        found = flips(qrels, runs, LEXI_RECALL, policies=policies)
        assert all(map(same, found.numbers[0].tolist(), expected))
        assert found.signs[0].tolist() == [int(not math.isnan(number)) for number in expected]


class Told(Progress):
    """Keeps what it is told."""

    def __init__(self, label: str, total: int, *, shown: bool) -> None:
        super().__init__(label, total, shown=shown)
        self.units: list[int] = []

    def advance(self, units: int) -> None:
        self.units.append(units)


def test_progress_is_told_of_each_query() -> None:
    progress = Told("flips", 2, shown=False)
    pools = list(pools_of(load_lists({"q": {"a": 1}, "r": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"r": ["a"]}})))
    found = flips_of(pools, LEXI_RECALL, Policies(), FIRST_PAIR, progress=progress)
    assert progress.units == [1, 1]
    assert found.signs.tolist() == [[1, -1]]

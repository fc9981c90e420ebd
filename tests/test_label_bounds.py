"""Bounds are the lowest and the highest of all values that labels of a run's unjudged documents can give."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, parse_preference
from lexirecall.errors import UsageError
from lexirecall.formats.listing import load_lists
from lexirecall.judgments import BoolArray, IntArray
from lexirecall.labels import bounds as module
from lexirecall.labels import ladders
from lexirecall.labels.bounds import Bounds, bounds_of, check_bounded
from lexirecall.labels.ladders import Ladder
from lexirecall.labels.pools import Labelling, LabelPool, pools_of
from lexirecall.manifest import Conventions, Policies
from lexirecall.measures import AP, DEPTH, INF_AP, LAST_REL, NDCG, SL1, R
from lexirecall.names import Evaluable, parse_measures
from lexirecall.progress import Progress
from lexirecall.verbs.evaluate import QueryValues
from strategies import LEVELS, costly
from table import needs_size
from test_measures_against_naive import settings_tried

DOCUMENTS = "abcdefg"
rankings = st.integers(0, len(DOCUMENTS)).map(lambda size: [*DOCUMENTS[:size]])
grades = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "missing", "lost"]), st.sampled_from([-1, 0, 0.5, 1, 1, 2, 3]), min_size=2, max_size=7
)
policies_drawn = st.builds(Policies, st.sampled_from(LEVELS), st.just("all"), st.sampled_from(["skip", "zero"]))
N = 12


def bounded(corpus_size: int | None) -> list[Measure]:
    """Return every row of the table that has bounds, with settings."""
    rows = [row for row in settings_tried() if not row.needs_judged and row.rewards_moving_up]
    check_bounded(rows)
    return [row for row in rows if corpus_size is not None or not needs_size(row)]


def labelling_of(runs: Mapping[str, Any], corpus_size: int | None, num_queries: int = 1, **options: Any) -> Labelling:
    sizes = None if corpus_size is None else np.full(num_queries, corpus_size)
    return Labelling(tuple(runs), Conventions(**options), corpus_size=sizes)


def bounds(
    judged: Mapping[str, float],
    documents: Sequence[str],
    rows: Sequence[Measure],
    policies: Policies = Policies(),  # noqa: B008 - it is frozen
    corpus_size: int | None = None,
    **options: Any,
) -> list[tuple[float, float]]:
    """Return the bounds of one ranking under each measure."""
    runs = {"run": {"q": documents}}
    pools = list(pools_of(load_lists({"q": {"other": 0, **judged}}, runs)))
    found = bounds_of(pools, rows, labelling_of(runs, corpus_size, **options), policies=policies)
    return [*zip(found.low[0, 0].tolist(), found.high[0, 0].tolist(), strict=True)]


def same(ours: float, theirs: float) -> bool:
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


def grade_of(row: Measure, policies: Policies) -> float:
    return policies.level if row.uses_grades else row.level(policies.level)


def twin(
    judged: Mapping[str, float], documents: Sequence[str], row: Measure, policies: Policies, n: int | None
) -> tuple[float, float]:
    """Return the bounds that the slow way finds; nan if the ranking has no value, or never has one."""

    def value(then: Mapping[str, float]) -> float:
        case = naive.Case(naive.grades_shown([*documents], then), then, row.level(policies.level), n)
        if case.m == 0 and not policies.counts_empty(row):
            return math.nan
        found = naive.value(row.name, row.settings, case)
        is_undefined = row.corpus == "if missing" and not math.isfinite(found)
        return math.inf if is_undefined else found

    if math.isnan(value(judged)):
        return math.nan, math.nan
    low, high = naive.value_range(judged, documents, grade_of(row, policies), value)
    return (math.nan, math.nan) if math.isinf(low) else (low, high)


@costly(160)
@given(judged=grades, documents=rankings, policies=policies_drawn, corpus_size=st.sampled_from([None, N]))
def test_bounds_of_every_measure_are_those_of_all_labellings(
    judged: dict[str, float], documents: list[str], policies: Policies, corpus_size: int | None
) -> None:
    rows = bounded(corpus_size)
    found = bounds(judged, documents, rows, policies, corpus_size)
    for row, ours in zip(rows, found, strict=True):
        theirs = twin(judged, documents, row, policies, corpus_size)
        assert all(map(same, ours, theirs)), f"{row}: {ours}, but the twin has {theirs}"


def every_labelling(pool: LabelPool) -> BoolArray:
    masks = np.arange(2 ** len(pool.documents))[:, None] >> np.arange(len(pool.documents)) & 1 == 1
    return np.asarray(masks[~masks[:, ~pool.is_unjudged].any(axis=1)])


@costly(100)
@given(judged=grades, documents=rankings, policies=policies_drawn)
def test_bounds_are_those_of_all_labellings_where_every_measure_sees_the_bottom_of_the_corpus(
    judged: dict[str, float], documents: list[str], policies: Policies
) -> None:
    rows = bounded(N)
    found = bounds(judged, documents, rows, policies, N, imputation="paper")
    pool = next(pools_of(load_lists({"q": {"other": 0, **judged}}, {"run": {"q": documents}})))
    for row, (low, high) in zip(rows, found, strict=True):
        labelling = Labelling(("run",), Conventions(imputation="paper"), grade_of(row, policies), np.array([N]))
        positions = labelling.positions([pool], [every_labelling(pool)])
        values = QueryValues.of(positions, [row], policies).placed[0, :, 0]
        if not math.isnan(values[0]):
            assert same(low, np.nanmin(values))
            assert same(high, np.nanmax(values))


# Short cuts


def long_case(random_: random.Random) -> tuple[dict[str, float], list[str]]:
    documents = [f"d{number}" for number in range(random_.randint(20, 60))]
    share = random_.choice([0.1, 0.5])
    judged = {document: random_.choice([0, 0.5, 1, 1, 2, 3]) for document in documents if random_.random() < share}
    return {
        **judged,
        **dict.fromkeys([f"m{i}" for i in range(random_.randint(0, 4))], random_.choice([0.5, 1, 2])),
    }, documents


def all_spans(self: Ladder, measure: Measure) -> IntArray:
    """Try the first and the last of any number, whatever the measure."""
    assert isinstance(measure, Measure)
    return np.concatenate([self.tops, self.bottoms[1:]])


@pytest.mark.parametrize("number", range(12))
def test_the_spans_chosen_by_short_cuts_hold_the_extremes(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random_ = random.Random(number)  # noqa: S311 - the same cases every day
    judged, documents = long_case(random_)
    policies = Policies(random_.choice(LEVELS), no_relevant="zero")
    corpus_size = random_.choice([70, None])
    rows = [row for row in bounded(corpus_size) if row.exposure is not None or row.function in ladders.SHORTENED]
    short = bounds(judged, documents, rows, policies, corpus_size)
    monkeypatch.setattr(ladders, "_CELLS", 100)
    monkeypatch.setattr(module, "_CELLS", 5000)
    in_parts = bounds(judged, documents, rows, policies, corpus_size)
    monkeypatch.setattr(Ladder, "spans_to_try", all_spans)
    plain = bounds(judged, documents, rows, policies, corpus_size)
    for row, one, other, slow in zip(rows, short, in_parts, plain, strict=True):
        assert all(map(same, one, slow)), f"{row}: {one}, but of all spans {slow}"
        assert all(map(same, other, slow)), row


def test_short_cuts_try_few_labellings_and_a_measure_without_one_tries_all() -> None:
    pool = next(pools_of(load_lists({"q": {"a": 1}}, {"run": {"q": [*"uvawxyz"]}})))
    ladder = Ladder.of(pool, 1, Labelling(("run",), Conventions()))
    tried = {str(row): len(ladder.spans_to_try(row)) for row in parse_measures("AP nDCG SetF ERR IPrec@0.5")}
    assert tried == {"AP": 3, "nDCG": 3, "SetF": 2, "ERR": 12, "IPrec@0.5": 12}


# Which measures, runs and queries


def test_measures_without_bounds_are_named_all_at_once_with_their_reasons() -> None:
    rows: list[Evaluable] = [*parse_measures("AP Bpref infAP Judged@3 WorstProvider StRecall@5")]
    rows.append(parse_preference("LexiRecall"))
    with pytest.raises(UsageError) as error:
        check_bounded(rows)
    assert str(error.value).splitlines() == [
        "no bounds of Bpref, infAP, Judged@3 (they look at judged documents that are not relevant); WorstProvider "
        "(they need a map of documents to providers); StRecall@5 (they need a map of documents to units); LexiRecall "
        "(they compare two runs)",
        "  leave them out",
    ]


def test_a_measure_that_may_fall_when_a_document_moves_up_has_no_bounds() -> None:
    odd = Measure("Odd", "one if p_1 is odd", of_positions=lambda p: p[0] % 2, rewards_moving_up=False)
    with pytest.raises(UsageError, match=r"Odd .they may fall when a relevant document moves up"):
        bounds({"a": 1}, ["x", "a"], [odd])
    assert not INF_AP.rewards_moving_up


def test_a_measure_without_its_cutoff_is_refused_as_in_any_evaluation() -> None:
    with pytest.raises(UsageError, match="R needs a cutoff: write it as R@10"):
        bounds({"a": 1}, ["x", "a"], [R])


def test_the_measure_of_a_user_has_bounds() -> None:
    mean = Measure("Mean", "mean of 1/p", of_positions=lambda p: float(np.mean(1 / p)))
    weighted = Measure("Weighted", "the same", lambda p: 1 / p, lambda _, m: 1 / m)
    expected = (1 / 2 + 1 / 3) / 2, (1 + 1 / 2) / 2
    assert bounds({"a": 1, "n": 0}, ["x", "a", "y"], [mean, weighted]) == [pytest.approx(expected)] * 2


def test_new_labels_have_the_level_of_the_measure_as_their_grade() -> None:
    """With the level 2, nDCG gains 2 for x; the best order is then x and a, or both of grade 2."""
    judged, documents = {"a": 1}, ["a", "x"]
    (low, high), cut = bounds(judged, documents, [NDCG, NDCG(rel=2)], Policies(2, no_relevant="zero"))
    assert [low, high] == pytest.approx([(1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)), 1])
    assert cut == pytest.approx((0, 1 / math.log2(3)))


def test_only_documents_that_the_run_retrieves_itself_are_labelled() -> None:
    runs = {"one": {"q": ["a"]}, "two": {"q": ["x", "y", "a"]}, "none": {"r": ["a"]}}
    pools = list(pools_of(load_lists({"q": {"a": 1}, "r": {"a": 0}}, runs)))
    found = bounds_of(pools, [AP], labelling_of(runs, None), policies=Policies())
    assert found.low[:, 0, 0].tolist() == [1, pytest.approx(1 / 3), 0]
    assert found.high[:, 0, 0].tolist() == [1, 1, 0]
    assert np.isnan([found.low[:, 1], found.high[:, 1]]).all()  # no document of r is known to be relevant
    assert np.isnan(
        bounds_of(pools, [AP], labelling_of(runs, None), policies=Policies(queries="intersection")).low[2, 0]
    )


def test_a_bound_is_infinite_if_some_labellings_leave_a_measure_undefined() -> None:
    """Half of the relevant documents must be found: b is missing, and so is c while nothing else is relevant."""
    judged, documents = {"b": 1, "c": 1}, ["n", "x", "y"]
    assert bounds({**judged, "n": 0}, documents, [DEPTH @ 0.5]) == [(3, math.inf)]
    assert bounds({**judged, "n": 0}, documents, [SL1]) == [(1, math.inf)]
    assert all(math.isnan(end) for end in bounds(judged, documents, [LAST_REL])[0])


def test_values_lie_within_their_bounds_to_the_last_digit() -> None:
    judged = {"a": 1, "d": 2, "g": 1}
    rows = bounded(N)
    runs = {"run": {"q": [*DOCUMENTS]}}
    pools = list(pools_of(load_lists({"q": judged}, runs)))
    labelling = labelling_of(runs, N)
    found = bounds_of(pools, rows, labelling, policies=Policies())
    positions = labelling.positions(pools, [np.zeros((1, len(DOCUMENTS)), bool)])
    values = QueryValues.of(positions, rows, Policies()).values
    assert not (values < found.low).any()
    assert not (values > found.high).any()
    assert (np.isnan(values) == np.isnan(found.low)).all()


def test_progress_is_told_of_every_run_query_and_measure() -> None:
    runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "a"], "r": ["z"]}}
    pools = list(pools_of(load_lists({"q": {"a": 1}, "r": {"b": 1}}, runs)))
    told: list[int] = []

    class Told(Progress):
        def advance(self, units: int) -> None:
            told.append(units)

    with Told("bounds", 8, shown=False) as progress:
        found = bounds_of(pools, [AP, R @ 1], labelling_of(runs, None, 2), policies=Policies(), progress=progress)
    assert sum(told) == 8
    assert isinstance(found, Bounds)
    assert found.low.shape == found.high.shape == (2, 2, 2)


def test_there_may_be_no_query_and_no_measure() -> None:
    none = bounds_of([], [AP], labelling_of({"run": {}}, None), policies=Policies())
    assert none.low.shape == (1, 0, 1)

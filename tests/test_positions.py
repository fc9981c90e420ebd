"""Positions and their projection: imputation, order, ties, cuts and levels; and defects of others that are not ours."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import Measure, Positions, parse_measure, project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.fields import choices_of
from lexirecall.manifest import Conventions
from lexirecall.measures import MEASURES
from lexirecall.positions import Projection
from strategies import DOCUMENTS, LEVELS, Collection, Ordering, collections, costly, orderings
from table import WITHOUT_INPUT_ORDER, all_measures, needs_size

SIX = dict.fromkeys(["a", "b", "c", "d", "e", "f"], 1)
TEN = ["x", "a", "b", "u", "v", "w", "y", "c", "z", "t"]  # finds a, b and c at 2, 3 and 8


def score(name: str, positions: Positions, level: float = 1) -> float:
    measure = parse_measure(name)
    return float(measure.scores(positions.at_level(measure.level(level)))[0, 0])


def computable(positions: Positions) -> list[Measure]:
    """Return the measures that these positions have a value of."""
    return [
        measure
        for measure in all_measures()
        if not measure.needs_providers
        and (positions.corpus_size is not None or not needs_size(measure))
        and (positions.conventions.ties != "expected" or measure.has_closed_form)
    ]


def same_scores(one: Positions, other: Positions, level: float) -> None:
    """Check that two projections are worth the same to every measure, and undefined to the same ones."""
    for measure in computable(one):
        values = (measure.scores(positions.at_level(measure.level(level))) for positions in (one, other))
        ours, theirs = (np.where(np.isfinite(value), value, np.nan) for value in values)
        np.testing.assert_allclose(ours, theirs, atol=1e-12, err_msg=str(measure))


# Imputation and the size of the corpus


def test_missing_documents_stand_at_the_very_bottom() -> None:
    """The paper's example: 2, 3, 8 of six gives 2, 3, 8, n-2, n-1, n."""
    projection = project({"q": SIX}, {"q": TEN}, corpus_size=1000).at_level(1)
    assert projection.vector(0, 0, imputed=True).tolist() == [2, 3, 8, 998, 999, 1000]
    assert projection.vector(0, 0).tolist() == [2, 3, 8, np.inf, np.inf, np.inf]


def test_missing_documents_stand_at_infinity_where_the_bottom_is_unknown() -> None:
    projection = project({"q": SIX}, {"q": TEN}).at_level(1)
    assert projection.vector(0, 0, imputed=True).tolist() == [2, 3, 8, np.inf, np.inf, np.inf]


def test_an_optimist_puts_missing_documents_right_below_the_list() -> None:
    positions = project({"q": {**SIX, "d": 2}}, {"q": TEN}, imputation="optimistic")
    assert positions.at_level(1).vector(0, 0).tolist() == [2, 3, 8, 11, 12, 13]
    assert positions.at_level(2).vector(0, 0).tolist() == [11]  # at each level the first missing one comes next


def test_the_corpus_size_may_differ_from_query_to_query() -> None:
    qrels = {7: {"a": 1}, "8": {"a": 1}}
    positions = project(qrels, {"7": [], "8": []}, corpus_size={"7": 10, 8: 20})
    assert MEASURES["LastRel"].scores(positions.at_level(1)).tolist() == [[10, 20]]
    with pytest.raises(DataError, match="no corpus size is given for 8"):
        project(qrels, {"7": []}, corpus_size={7: 10})


@pytest.mark.parametrize("imputation", choices_of(Conventions, "imputation"))
def test_a_corpus_that_is_too_small_is_refused_by_run_and_query(imputation: str) -> None:
    """Ten documents were retrieved and three relevant ones were not: 13 is enough, 12 is not."""
    qrels, runs = {"r0": {"z": 1}, "r1": SIX}, {"good": {"r0": ["z"], "r1": list(SIX)}, "deep": {"r1": TEN}}
    project(qrels, runs, corpus_size=13, imputation=imputation)
    with pytest.raises(DataError, match="the corpus size 12 is too small for query 'r1': deep") as caught:
        project(qrels, runs, corpus_size=12, imputation=imputation)
    assert "13" in str(caught.value)


@pytest.mark.parametrize("size", [0, -5])
def test_a_corpus_without_documents_is_refused(size: int) -> None:
    with pytest.raises((UsageError, DataError)):
        project({"q": {"a": 1}}, {"q": ["a"]}, corpus_size=size)


# Positions that are given


@pytest.mark.parametrize("positions", [[0, 1], [-3], [2, 2], [1.5], [1, float("inf")]])
def test_positions_that_no_ranking_has_are_refused(positions: list[Any]) -> None:
    with pytest.raises(UsageError):
        MEASURES["AP"].of(positions)


def test_positions_that_are_given_reach_down_to_the_last_of_them() -> None:
    projection = Projection.of_vectors([[], [2, 7]], num_relevant=3)
    assert projection.source.num_retrieved.tolist() == [[0], [7]]
    for name, values in {"NumRet": [0, 7], "SetF": [0, 2 * 2 / (7 + 3)]}.items():
        assert parse_measure(name).scores(projection).ravel().tolist() == values


def test_fewer_relevant_documents_than_positions_are_refused() -> None:
    with pytest.raises(UsageError, match="1 relevant documents cannot be at"):
        MEASURES["AP"].of([1, 2], num_relevant=1)


@pytest.mark.parametrize("measure", [m for m in all_measures() if not m.graded and not m.needs_providers], ids=str)
def test_the_level_does_not_matter_to_positions_that_are_given(measure: Measure) -> None:
    """`of` takes the positions of the relevant documents: from which grade on they are relevant has been decided."""
    at_level_2, at_any = (each.of([2, 3, 8], corpus_size=9) for each in (measure(rel=2), measure))
    assert at_level_2 == pytest.approx(at_any, abs=0, rel=0, nan_ok=True)


# Depth, levels and order


@pytest.mark.parametrize("ties", choices_of(Conventions, "ties"))
@costly(30)
@given(collection=collections(), depth=st.integers(1, 6), level=st.sampled_from(LEVELS))
def test_a_cut_equals_a_projection_of_that_depth(ties: str, collection: Collection, depth: int, level: float) -> None:
    given: dict[str, Any] = {"ties": ties, "needs_judged": True, **collection.given_size}
    cut = project(collection.qrels, collection.runs, **given).cut(depth)
    projected = project(collection.qrels, collection.runs, depth=depth, **given)
    same_scores(cut, projected, level)
    assert cut.conventions == projected.conventions


@pytest.mark.parametrize("given", [{"imputation": "optimistic"}, {"judged_only": True}], ids=str)
def test_a_cut_that_cannot_be_made_afterwards_is_refused_or_right(given: dict[str, Any]) -> None:
    """An optimist's missing documents follow the cut; the depth counts those taken out for want of a judgment."""
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["x", "a", "b"]}
    try:
        cut = project(qrels, run, **given).cut(2)
    except UsageError:
        return
    projected = project(qrels, run, depth=2, **given)
    assert cut.at_level(1).vector(0, 0).tolist() == projected.at_level(1).vector(0, 0).tolist()


def test_cutting_twice_is_cutting_once_at_the_smaller_depth() -> None:
    positions = project({"q": SIX}, {"q": TEN})
    assert positions.cut(5).cut(2).found.positions.tolist() == [2]
    assert positions.cut(2).cut(5).found.positions.tolist() == [2]
    assert positions.cut(2).cut(5).conventions.depth == 2


@costly(50)
@given(collections(), orderings(), st.sampled_from(LEVELS))
def test_a_level_is_a_mask_over_the_grades(collection: Collection, ordering: Ordering, level: float) -> None:
    """Seen from level l, judgments are those in which l and more is 1, and everything below that was judged is 0."""
    given = {
        "depth": ordering.depth,
        "judged_only": ordering.judged_only,
        "needs_judged": True,
        **collection.given_size,
    }
    binary = {
        query: {document: float(grade >= level) if grade >= 0 else grade for document, grade in judged.items()}
        for query, judged in collection.qrels.items()
    }
    graded = project(collection.qrels, collection.runs, **given)
    binarized = project(binary, collection.runs, **given)
    for measure in computable(graded):
        if not measure.graded:
            ours, theirs = measure.scores(graded.at_level(level)), measure.scores(binarized.at_level(1))
            np.testing.assert_array_equal(ours, theirs, err_msg=str(measure))


@pytest.mark.parametrize("level", [0, -1, float("nan")])
def test_a_level_at_which_what_is_not_relevant_would_be_is_refused(level: float) -> None:
    """A grade of 0 says not relevant, and the documents with such a grade are not among those found."""
    with pytest.raises(UsageError, match="level"):
        project({"q": {"a": 0, "b": 1}}, {"q": ["a", "b"]}).at_level(level)


def test_one_level_does_not_change_another() -> None:
    positions = project({"q": {"a": 2, "b": 1}}, {"q": ["x", "a", "b"]})
    first = [positions.at_level(level).vector(0, 0).tolist() for level in (1, 2, 1)]
    assert first == [[2, 3], [2], [2, 3]]


tied = collections(scores=(1.0, 1.0, 2.0), documents=DOCUMENTS[:7], max_runs=1)


@costly(50)
@given(tied, st.none() | st.integers(1, 5), st.sampled_from(LEVELS))
def test_the_mean_over_tied_orders_lies_between_worst_and_best(
    collection: Collection, depth: int | None, level: float
) -> None:
    """For all measures with a closed form but those of judged documents, to which relevance is not all that matters."""
    given = {"depth": depth, **collection.given_size}
    worst, mean, best = (
        project(collection.qrels, collection.runs, ties=t, **given) for t in ("worst", "expected", "best")
    )
    for measure in computable(mean):
        if not measure.needs_judged:
            low, middle, high = (
                measure.direction * measure.scores(positions.at_level(measure.level(level)))
                for positions in (worst, mean, best)
            )
            assert not (low > middle + 1e-12).any(), measure
            assert not (middle > high + 1e-12).any(), measure


@pytest.mark.parametrize("ties", WITHOUT_INPUT_ORDER)
@costly(25)
@given(collection=collections(), random=st.randoms(use_true_random=False), level=st.sampled_from(LEVELS))
def test_the_order_of_input_does_not_matter(ties: str, collection: Collection, random: Any, level: float) -> None:
    def shuffled(mapping: dict[str, Any], inner: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
        return {key: inner(mapping[key]) for key in random.sample(sorted(mapping), len(mapping))}

    given: dict[str, Any] = {"ties": ties, "needs_judged": True}
    qrels = {query: shuffled(judged) for query, judged in collection.qrels.items()}
    runs = {name: shuffled(run, shuffled) for name, run in collection.runs.items()}
    same_scores(project(collection.qrels, collection.runs, **given), project(qrels, runs, **given), level)


def test_tied_documents_stand_in_descending_order_of_their_bytes() -> None:
    """b > a > B, as trec_eval has it; é and 日 are two and three bytes, all greater than those of ASCII."""
    documents = ["B", "a", "b", "é", "日", "10", "9"]
    positions = project({"q": dict.fromkeys(documents, 1)}, {"q": dict.fromkeys(documents, 0.5)}, ties="trec")
    found = [positions.judgments.documents[document].decode() for document in positions.found.documents]
    assert found == ["日", "é", "b", "a", "B", "9", "10"]


# Defects of others, each as the answer that is right


def test_of_thirty_equal_scores_the_lowest_id_comes_last() -> None:
    """ranx puts d00 29th or 30th, by the order of input."""
    names = [f"d{number:02}" for number in range(30)]
    for order in (names, names[::-1]):
        assert score("RR", project({"q": {"d00": 1}}, {"q": dict.fromkeys(order, 1.0)})) == 1 / 30


def test_queries_are_matched_by_id() -> None:
    """ranx matches dicts by place and finds nothing here."""
    positions = project({"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": {"b": 1.0}, "q1": {"a": 1.0}})
    assert MEASURES["RR"].scores(positions.at_level(1)).tolist() == [[1, 1]]


def test_ids_are_matched_by_their_text() -> None:
    """pytrec_eval and ir_measures refuse integers; a number and its text are one id here, whoever writes it."""
    pairs: list[tuple[Any, Any]] = [
        ({1: {10: 1}}, {"1": {"10": 0.5}}),
        ({"1": {"10": 1}}, {1: {10: 0.5}}),
        ({1: {10: 1}}, {"1": [10]}),
        ({np.int64(1): {np.str_("10"): np.int8(1)}}, {1: {np.int32(10): np.float32(0.5)}}),
    ]
    assert [score("RR", project(qrels, run)) for qrels, run in pairs] == [1, 1, 1, 1]


def test_grades_are_not_cut_to_whole_numbers() -> None:
    """ranx and trec_eval take 0.9 for 0 and 1.9 for 1."""
    positions = project({"q": {"a": 0.9, "b": 1.9}}, {"q": ["a", "b"]})
    assert positions.at_level(0.5).vector(0, 0).tolist() == [1, 2]
    assert positions.at_level(1.5).vector(0, 0).tolist() == [2]
    ideal = 1.9 + 0.9 / np.log2(3)
    assert score("nDCG", positions) == pytest.approx((0.9 + 1.9 / np.log2(3)) / ideal)


@pytest.mark.parametrize("grade", [1, 2, 3, 4])
def test_rank_biased_precision_is_binary(grade: int) -> None:
    """ranx multiplies by the grade and gives 2.625 for three 3s; trec_eval 10 divides by the highest of the query."""
    positions = project({"q": {"a": grade, "b": grade, "c": 1}}, {"q": ["a", "b", "c"]})
    assert score("RBP(p=0.5)", positions) == 1 / 2 + 1 / 4 + 1 / 8
    assert score("RBP(p=0.5,rel=2)", positions) == (1 / 2 + 1 / 4 if grade >= 2 else 0)


def test_scores_are_told_apart_in_double_precision() -> None:
    """trec_eval 9 and pytrec_eval hold scores in single precision, in which these two are equal."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.50000000002, "b": 0.50000000001}}
    assert score("RR", project(qrels, run)) == 1
    assert score("RR", project(qrels, run, score_dtype="float32")) == 1 / 2


def test_one_order_holds_for_all_measures() -> None:
    """ir_measures breaks the tie of a and b one way for RR, another for RR@10 and a third for RBP."""
    for run in ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}):
        positions = project({"q": {"a": 1}}, {"q": run})
        assert [score(name, positions) for name in ("RR", "RR@10", "AP")] == [1 / 2] * 3
        assert score("RBP(p=0.5)", positions) == 1 / 4


def test_an_document_is_not_counted_twice() -> None:
    """LensKit finds a recall of 2 where a document is listed twice."""
    for run in ({"q": ["a", "a"]}, {"q": {7: 1.0, "7": 2.0}}):
        with pytest.raises(FormatError, match="listed twice"):
            project({"q": {"a": 1, "7": 1}}, run)
    assert score("R@2", project({"q": {"a": 1}}, {"q": ["a", "a"]}, duplicates="first")) == 1


def test_only_judged_queries_are_scored_and_all_of_them() -> None:
    """ir_measures averages over queries without judgments, and forgets what is relevant to those without an answer."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}, "negative": {"a": -1}}
    positions = project(qrels, {"q1": {"a": 1.0}, "unjudged": {"a": 1.0}, "negative": {}}, needs_judged=True)
    assert positions.queries == ("q1", "q2", "negative")
    assert positions.num_unjudged == (1,)
    assert positions.answered.tolist() == [[True, False, True]]
    assert MEASURES["NumRel"].scores(positions.at_level(1)).tolist() == [[1, 2, 0]]
    assert MEASURES["Bpref"].scores(positions.at_level(1)).tolist() == [[1, 0, 0]]
    assert np.isnan(parse_measure("Judged@10").scores(positions.at_level(1))).tolist() == [[False, True, True]]


def test_an_ideal_ranking_is_worth_1_however_few_documents_are_relevant() -> None:
    """rectools fills the ideal up to the cut-off and gives 0.469."""
    assert score("nDCG@3", project({"q": {"a": 1}}, {"q": ["a", "x", "y"]})) == 1


def test_two_runs_of_one_name_are_refused() -> None:
    """ranx shows one of them."""
    with pytest.raises(UsageError, match="two runs have the same name: '1'"):
        project({"q": {"a": 1}}, {1: {"q": {"a": 1.0}}, "1": {"q": {"b": 1.0}}})


@pytest.mark.parametrize("measure", [m for m in all_measures() if m.needs_judged], ids=str)
def test_measures_of_judged_documents_take_positions_alone_of_several_runs(measure: Measure) -> None:
    """Of vectors there is nothing that was judged and is not relevant, in any of the runs."""
    vectors = [[1, 3], [2], [1, 2, 3]]
    ranked = {"q": dict.fromkeys("012", 1)}
    runs = {str(n): {"q": [*(str(vector.index(p)) if p in vector else f"x{p}" for p in range(1, vector[-1] + 1))]}
            for n, vector in enumerate(vectors)}  # fmt: skip
    of_vectors = Projection.of_vectors(vectors, num_relevant=3)
    of_runs = project(ranked, runs, needs_judged=True).at_level(1)
    assert measure.scores(of_vectors).tolist() == measure.scores(of_runs).tolist()


def test_a_console_shows_how_much_there_is_and_not_all_of_it() -> None:
    positions = project({"q": {"a": 1, "b": 0}, "r": {"a": 1}}, {"q": ["a"], "r": ["b"]})
    assert repr(positions) == "<Positions: 1 run × 2 queries, 1 document of a positive grade found>"
    assert repr(positions.judgments) == "<Judgments: 2 queries, 3 judged documents of qrels>"

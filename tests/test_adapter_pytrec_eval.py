"""The drop-in for pytrec_eval, against pytrec_eval (package pytrec-eval-terrier), which bundles trec_eval 9.

It is never asked what makes it read beyond its buffers or leave the process: queries whose grades are all negative,
empty rankings, a cut-off of 0, parameters it cannot read.
"""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexirecall.adapters.pytrec_eval as ours
from lexirecall.errors import FormatError, LexirecallError, UnknownMeasure, UsageError
from strategies import SCORES, Collection, Qrels, Run, collections, costly, quick

theirs = pytest.importorskip("pytrec_eval", reason="package pytrec-eval-terrier")

INTEGER_GRADES = (-3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 5.0)
FLOAT32_SCORES = tuple(score for score in SCORES if abs(score) < 1e38)  # beyond is undefined in its C
EVERYTHING = {"all_trec"}
QRELS: Qrels = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 0, "d2": 0}, "unanswered": {"d2": 1}}
RUN: Run = {"q1": {"d1": 1.0, "d2": 0.5, "d3": 0.2, "d4": 0.1}, "q2": {"d1": 1.0, "d2": 1.5}, "unjudged": {"d1": 1.0}}


def whole(qrels: Qrels, run: Run, *, judged_only: bool) -> dict[str, dict[str, int]]:
    """Leave the queries that can be asked, and make the grades integers, as it wants them."""
    kept = {}
    for query, judged in qrels.items():
        with_judgment = {document for document, grade in judged.items() if grade >= 0}
        ranking = run.get(query, {})
        if query not in run or (with_judgment and (with_judgment & ranking.keys() if judged_only else ranking)):
            kept[query] = {document: int(grade) for document, grade in judged.items()}
    return kept


def assert_same(qrels: Qrels, run: Run, measures: set[str], level: int = 1, *, judged_only: bool = False) -> None:
    """Compare names, queries and values; scores are single precision there."""
    asked = whole(qrels, run, judged_only=judged_only)
    expected = theirs.RelevanceEvaluator(asked, measures, level, judged_only).evaluate(run)
    found = ours.RelevanceEvaluator(asked, measures, level, judged_only, score_dtype="float32").evaluate(run)
    assert found.keys() == expected.keys()
    for query, values in expected.items():
        assert found[query] == pytest.approx(values, rel=1e-9, abs=1e-9), query
        assert list(found[query]) == list(values)


drawn = collections(grades=INTEGER_GRADES, scores=FLOAT32_SCORES, max_runs=1, with_size=False)


@pytest.mark.parametrize("judged_only", [False, True])
@costly(150)
@given(drawn, st.sampled_from([1, 2, 3]))
def test_every_measure_of_trec_eval_equals_pytrec_eval(judged_only: bool, collection: Collection, level: int) -> None:
    assert_same(collection.qrels, collection.runs["system1"], EVERYTHING, level, judged_only=judged_only)


def large_collection(seed: int) -> tuple[Qrels, Run]:
    """Rankings of up to a thousand documents with rounded scores, so that about every second one is tied."""
    random_of = random.Random(seed)  # noqa: S311 - no secret
    documents = [f"D{number}" for number in range(2000)]
    qrels: Qrels = {}
    run: Run = {}
    for number in range(25):
        pool = random_of.sample(documents, random_of.choice([3, 50, 300]))
        grades = random_of.choice([INTEGER_GRADES, (0.0,), (1.0, 0.0)])
        qrels[f"r{number}"] = {document: float(random_of.choice(grades)) for document in pool}
        retrieved = random_of.sample(documents, random_of.choice([1, 400, 900])) + pool[::2]
        run[f"r{number}"] = {document: round(random_of.gauss(0, 1), 2) for document in retrieved}
    del run["r3"], qrels["r4"]
    return qrels, run


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2])
def test_a_large_collection_equals_pytrec_eval(level: int, judged_only: bool) -> None:
    assert_same(*large_collection(seed=level), EVERYTHING, level, judged_only=judged_only)


QUERIES = (
    {"official"}, {"set"}, {"P"}, {"map", "ndcg"}, {"P_3,1"}, {"P.3,1"}, {"P_3", "P.1"}, {"ndcg_cut_2", "ndcg_cut.1,3"},
    {"recall_2"}, {"map_cut.2"}, {"success"}, {"success_2"}, {"relative_P_2"}, {"iprec_at_recall_0.1,0.5"},
    {"iprec_at_recall.0.25"}, {"Rprec_mult_0.5,1.5"}, {"11pt_avg_0.2,0.5,0.8"}, {"set_F_0.5"}, {"set_F.2"},
    {"utility_1,2,3,4"}, {"relstring_3"}, {"runid", "num_q"},
)  # fmt: skip


@pytest.mark.parametrize("measures", QUERIES, ids=lambda measures: "+".join(sorted(measures)))
def test_measures_are_asked_for_and_named_as_in_pytrec_eval(measures: set[str]) -> None:
    assert_same(QRELS, RUN, measures)


FAMILIES = ("P", "recall", "ndcg_cut", "map_cut", "success", "relative_P")
ASKED = st.one_of(
    st.sampled_from(["official", "all_trec", "map", "ndcg", "iprec_at_recall.0.1,0.5", "iprec_at_recall", *FAMILIES]),
    st.builds(
        lambda family, mark, cutoffs: family + mark + ",".join(map(str, cutoffs)),
        st.sampled_from(FAMILIES),
        st.sampled_from("._"),
        st.lists(st.integers(1, 12), min_size=1, max_size=3),
    ),
)


@quick(200)
@given(st.sets(ASKED, min_size=1, max_size=5))
def test_a_family_and_some_of_its_cut_offs_are_these_cut_offs_only(measures: set[str]) -> None:
    """`{'ndcg_cut', 'ndcg_cut.1,4'}`, `{"P", "P_3"}`, `{"official", "P_3"}`: the same keys as pytrec_eval's."""
    assert_same(QRELS, RUN, measures)


def test_named_cut_offs_replace_the_usual_ones() -> None:
    found = ours.RelevanceEvaluator(QRELS, {"ndcg_cut", "ndcg_cut.1,4", "P", "P_3"}).evaluate(RUN)["q1"]
    assert list(found) == ["P_3", "ndcg_cut_1", "ndcg_cut_4"]


def test_the_same_measures_are_supported() -> None:
    assert ours.supported_measures == theirs.supported_measures
    for name, measures in ours.supported_nicknames.items():
        assert measures == theirs.supported_nicknames[name]
    assert ours.supported_nicknames.keys() == {"official", "set", "all_trec"}


def test_all_that_is_asked_for_is_answered() -> None:
    """Of these, pytrec_eval answers `P_3` and one of the two `set_F` only."""
    found = ours.RelevanceEvaluator(QRELS, {"P_3", "set_F_0.5", "set_F_2"}).evaluate(RUN)["q1"]
    assert found.keys() == {"P_3", "set_F_0.5", "set_F_2"}
    assert (found["P_3"], found["set_F_0.5"], found["set_F_2"]) == pytest.approx((2 / 3, 0.6, 0.75))


def test_our_own_measures_can_be_asked_for_too() -> None:
    found = ours.RelevanceEvaluator(QRELS, ["TSE", "map", "RBP(p=0.5)"]).evaluate(RUN)
    assert found["q1"] == pytest.approx({"map": 5 / 6, "TSE": 1 / 3, "RBP(p=0.5)": 0.5 + 0.125})
    assert found["q2"] == {"map": 0, "TSE": 0, "RBP(p=0.5)": 0}


@pytest.mark.parametrize(("dtype", "reciprocal_rank"), [("float64", 1.0), ("float32", 0.5)])
def test_near_ties_are_ties_in_single_precision_only(dtype: str, reciprocal_rank: float) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    found = ours.RelevanceEvaluator(qrels, {"recip_rank"}, score_dtype=dtype).evaluate(run)
    assert found == {"q": {"recip_rank": reciprocal_rank}}
    if dtype == "float32":
        assert found == theirs.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)


def test_double_precision_is_the_default() -> None:
    run = {"q": {"a": 16777217.0, "b": 16777216.0}}
    assert ours.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate(run) == {"q": {"recip_rank": 1.0}}


def test_numbers_may_be_of_numpy_and_ids_integers() -> None:
    """pytrec_eval refuses all of these."""
    evaluator = ours.RelevanceEvaluator({1: {10: np.int64(1), 20: np.int8(0)}, 2: {10: True}}, {"map", "num_ret"})
    found = evaluator.evaluate({1: {10: np.float32(0.5), 20: np.float64(0.75)}, np.int64(2): {10: 3}})
    assert found == {1: {"num_ret": 2, "map": 0.5}, 2: {"num_ret": 1, "map": 1}}
    assert {type(query) for query in found} == {int, np.int64}
    assert all(type(value) is float for values in found.values() for value in values.values())


class Tensor:
    """What a number of PyTorch, JAX or TensorFlow has: `document` and `__float__`, and nothing of Python's numbers."""

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def document(self) -> float:
        return self.value

    def __float__(self) -> float:
        return self.value


@pytest.mark.parametrize("number", [Tensor, np.float32, np.float64, np.float16, np.array, np.longdouble, Fraction])
def test_scores_and_grades_may_be_numbers_of_any_library(number: Any) -> None:
    evaluator = ours.RelevanceEvaluator({"q": {"a": number(1), "b": number(0)}}, {"map"})
    assert evaluator.evaluate({"q": {"a": number(0.5), "b": number(0.75)}}) == {"q": {"map": 0.5}}


def test_scores_may_be_tensors() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch")
    evaluator = ours.RelevanceEvaluator({"q": {"a": torch.tensor(1), "b": 0}}, {"map"})
    for scores in (torch.tensor([0.5, 0.75]), torch.tensor([1, 2]), torch.tensor([0.5, 0.75]).to(torch.bfloat16)):
        assert evaluator.evaluate({"q": dict(zip("ab", scores, strict=True))}) == {"q": {"map": 0.5}}


def test_grades_may_be_fractions() -> None:
    qrels = {"q": {"a": 0.5, "b": 1.5, "c": 2}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = ours.RelevanceEvaluator(qrels, {"ndcg", "map", "G"}, relevance_level=1.5).evaluate(run)["q"]
    gains = np.array([0.5, 1.5, 2])
    discounts = 1 / np.log2([2, 3, 4])
    assert found["ndcg"] == pytest.approx((gains @ discounts) / (gains[::-1] @ discounts))
    assert found["map"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    # the best order has gained 2, 3.5 and, a place counting 1 or more, 4.5 so far; this one 0.5, 2 and 4
    assert found["G"] == pytest.approx((0.5 / np.log2(3.5) + 1.5 / np.log2(3.5) + 2 / np.log2(2.5)) / 4)


def test_a_run_may_be_ranked_lists() -> None:
    assert ours.RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": ["x", "d1"]}) == {"q1": {"map": 0.25}}


def test_queries_that_crash_pytrec_eval_are_worth_nothing() -> None:
    qrels = {"negative": {"a": -1, "b": -3}, "empty": {"a": 1, "b": 0}, "unjudged": {}}
    run: dict[str, dict[str, float]] = {"negative": {"a": 1.0}, "empty": {}, "unjudged": {"a": 1.0}}
    found = ours.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run)
    assert found.keys() == {"negative", "empty"}
    for query, counts in {"negative": {"num_ret": 1, "utility": -1}, "empty": {"num_rel": 1}}.items():
        rest = {name: value for name, value in found[query].items() if value and not name.startswith("gm_")}
        assert rest == {"num_q": 1, **counts}
        assert found[query]["gm_map"] == found[query]["gm_bpref"] == np.log(1e-5)


@pytest.mark.parametrize(("qrels", "run"), [(QRELS, {}), (QRELS, {"other": {"d1": 1.0}}), ({}, RUN), ({"q1": {}}, RUN)])
def test_nothing_in_common_is_no_error(qrels: Any, run: Any) -> None:
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {}


def test_one_evaluator_serves_many_runs() -> None:
    evaluator = ours.RelevanceEvaluator(QRELS, {"map"})
    first = evaluator.evaluate(RUN)
    assert evaluator.evaluate({"q1": {"d9": 1.0}}) == {"q1": {"map": 0}}
    assert evaluator.evaluate(RUN) == first


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("P5", "unknown measure 'P5'"),
        ("recall_xx", "recall_xx: 'xx' is not a parameter of recall"),
        ("P_0", "P_0: '0' is not a parameter of P"),
        ("P_5.x", "P_5.x: '5.x' is not a parameter of P"),
        ("map_5", "did you mean map_cut_5"),
        ("ndcg_10", "did you mean ndcg_cut_10"),
        ("bpref_10", "bpref takes no cut-off"),
        ("ndcg_1=3,2=", "'' is not a parameter of ndcg"),
        ("utility_1,2", "utility takes four numbers"),
        ("iprec_at_recall_1.5", "'1.5' is not a parameter of iprec_at_recall"),
        ("iprec_at_recall_0.12,0.125", "both have the name iprec_at_recall_0.12"),
        ("prefs_simp", "is a measure of preference judgments, which stay with trec_eval"),
        ("qrels_jg", "is a measure of preference judgments, which stay with trec_eval"),
        ("P_avgjg", "is a measure of preference judgments, which stay with trec_eval"),
        ("LastRel", "cannot be a measure of trec_eval"),
        ("unj", "unj: trec_eval 9 does not have unj"),
    ],
)
def test_what_is_not_offered_is_refused_by_name(measure: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        ours.RelevanceEvaluator(QRELS, {"map", measure})
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    "arguments",
    [
        ([("q", "d", 1)], {"map"}),
        ({"q": {"d": "relevant"}}, {"map"}),
        ({"q": {"d": 1}}, {"map"}, 0),
    ],
    ids=["no mapping", "no number", "level 0"],
)
def test_bad_arguments_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(LexirecallError):
        ours.RelevanceEvaluator(*arguments)


NONSENSE: dict[str, tuple[tuple[Any, ...], Any]] = {
    "a list of values": (({"q": ["d"]}, {"map"}), None),
    "a number for values": (({"q": 5}, {"map"}), None),
    "an id that is None": (({"q": {None: 1}}, {"map"}), None),
    "an id that is a tuple": (({("q", 1): {"d": 1}}, {"map"}), None),
    "a grade that is text": (({"q": {"d": "1"}}, {"map"}), None),
    "a grade that is None": (({"q": {"d": None}}, {"map"}), None),
    "no measures": (({"q": {"d": 1}}, None), None),
    "a measure that is a number": (({"q": {"d": 1}}, {5}), None),
    "an unknown measure": (({"q": {"d": 1}}, {"maap"}), None),
    "level 0": (({"q": {"d": 1}}, {"map"}, 0), None),
    "a level that is text": (({"q": {"d": 1}}, {"map"}, "1"), None),
    "scores in a list": (({"q": {"d": 1}}, {"map"}), [("q", "d", 1.0)]),
    "scores in text": (({"q": {"d": 1}}, {"map"}), "scores"),
    "a number for a ranking": (({"q": {"d": 1}}, {"map"}), {"q": 5}),
    "None for a ranking": (({"q": {"d": 1}}, {"map"}), {"q": None}),
    "text for a ranking": (({"q": {"d": 1}}, {"map"}), {"q": "d"}),
    "a query that is None": (({"q": {"d": 1}}, {"map"}), {None: {"d": 1.0}}),
    "a document that is None": (({"q": {"d": 1}}, {"map"}), {"q": {None: 1.0}}),
    "a score that is text": (({"q": {"d": 1}}, {"map"}), {"q": {"d": "1"}}),
    "a score that is None": (({"q": {"d": 1}}, {"map"}), {"q": {"d": None}}),
    "a complex score": (({"q": {"d": 1}}, {"map"}), {"q": {"d": 1j}}),
    "a list for a score": (({"q": {"d": 1}}, {"map"}), {"q": {"d": [1.0]}}),
    "several numbers for a score": (({"q": {"d": 1}}, {"map"}), {"q": {"d": np.array([1.0, 2.0])}}),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_what_makes_no_sense_raises_what_pytrec_eval_raises(name: str) -> None:
    arguments, scores = NONSENSE[name]

    def raised(pytrec_eval: Any) -> Exception:
        with pytest.raises((TypeError, ValueError)) as error:
            pytrec_eval.RelevanceEvaluator(*arguments).evaluate(scores)
        return error.value

    found, expected = raised(ours), raised(theirs)
    assert isinstance(found, type(expected))
    assert isinstance(found, LexirecallError)


def test_lines_that_make_no_sense_are_value_errors_too() -> None:
    for pytrec_eval in (ours, theirs):
        with pytest.raises(ValueError, match=r"6 fields|expected 6"):
            pytrec_eval.parse_run(["q1 0 d1 1"])
        with pytest.raises(ValueError, match="high"):
            pytrec_eval.parse_qrel(["q1 0 d1 high"])


def test_an_unknown_precision_and_a_run_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match="score_dtype is 'float16'"):
        ours.RelevanceEvaluator(QRELS, {"map"}, score_dtype="float16")
    with pytest.raises(UsageError, match="scores is a list"):
        ours.RelevanceEvaluator(QRELS, {"map"}).evaluate([("q1", "d1", 1.0)])  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["map", "P_5", "num_ret", "num_q", "gm_map", "gm_bpref", "set_F"])
def test_values_are_put_together_as_in_pytrec_eval(measure: str) -> None:
    values = [-3.0, -0.25, 0.0, -7.5]
    expected = theirs.compute_aggregated_measure(measure, values)
    assert ours.compute_aggregated_measure(measure, values) == pytest.approx(expected, rel=1e-12)
    assert ours.compute_aggregated_measure(measure, np.array(values)) == pytest.approx(expected, rel=1e-12)  # type: ignore[arg-type]


# Reading

RUN_LINES = ["q1 Q0 d1 1 2.5 tag\n", "q1\tQ0\td2 2 1e-3 tag\n", "q2 Q0 d1 1 -7 tag"]
QREL_LINES = ["q1 0 d1 1\n", "q1\t0\td2 -2\n", "q2 0 d1 0"]


def test_lines_are_read_as_in_pytrec_eval() -> None:
    assert ours.parse_run(RUN_LINES) == theirs.parse_run(RUN_LINES)
    assert ours.parse_qrel(QREL_LINES) == theirs.parse_qrel(QREL_LINES)
    assert ours.parse_qrel([*QREL_LINES, "\n", "\n"]) == theirs.parse_qrel(QREL_LINES)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["q1 0 d1 1"], r"run:1: a line must have 6 fields \(query Q0 document rank score tag\), but this one has 4"),
        (["q1 Q0 d1 1 2.5 tag"] * 2, "run:2: document 'd1' of query 'q1' is listed twice"),
        (["q1 Q0 d1 1 high tag"], "run:1: the score is not a number: 'high'"),
        (["q1 Q0 d1 1 1_0 tag"], "run:1: the score is not a number: '1_0'"),
    ],
)
def test_lines_that_cannot_be_read_are_named(lines: list[str], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        ours.parse_run(lines)


@pytest.mark.parametrize("grade", ["0.5", "1_0", "\u0661"])
def test_a_grade_that_is_no_whole_number_is_named(grade: str) -> None:
    with pytest.raises(FormatError, match=f"qrel:1: the grade is not a whole number: '{grade}'"):
        ours.parse_qrel([f"q1 0 d1 {grade}"])


# What its documentation shows, with one line changed


def test_a_script_that_prints_as_trec_eval_does_prints_the_same(tmp_path: Any) -> None:
    """Files read by parse_qrel and parse_run, every supported measure, one line each, then the averages."""
    qrels, run = large_collection(seed=5)
    qrels = {q: {d: g for d, g in judged.items() if g >= 0} for q, judged in qrels.items()}
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g:.0f}\n" for q, row in qrels.items() for d, g in row.items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {s} tag\n" for q, row in run.items() for d, s in row.items()))

    def printed(pytrec_eval: Any, **options: str) -> list[str]:
        with (tmp_path / "qrels").open() as f_qrel, (tmp_path / "run").open() as f_run:
            qrel, run = pytrec_eval.parse_qrel(f_qrel), pytrec_eval.parse_run(f_run)
        results = pytrec_eval.RelevanceEvaluator(qrel, pytrec_eval.supported_measures, **options).evaluate(run)
        lines = [
            f"{measure:25s}{query:8s}{value + 1e-9:.4f}"  # a half in the fifth digit may round either way
            for query, values in sorted(results.items())
            for measure, value in sorted(values.items())
        ]
        for measure in sorted(values for values in next(iter(results.values()))):
            mean = pytrec_eval.compute_aggregated_measure(measure, [values[measure] for values in results.values()])
            lines.append(f"{measure:25s}{'all':8s}{mean + 1e-9:.4f}")
        return lines

    lines = printed(ours, score_dtype="float32")
    assert lines == printed(theirs)
    assert len(lines) > 2000


def test_a_t_test_between_two_runs_gives_the_same() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy")
    qrels, first = large_collection(seed=6)
    second = {query: dict(sorted(ranked.items())[::2]) for query, ranked in first.items()}
    asked = whole(qrels, second, judged_only=False)

    def tested(pytrec_eval: Any, **options: str) -> Any:
        evaluator = pytrec_eval.RelevanceEvaluator(asked, {"map"}, **options)
        results = [evaluator.evaluate(run) for run in (first, second)]
        queries = sorted(set(results[0]) & set(results[1]))
        return stats.ttest_rel(*[[result[query]["map"] for query in queries] for result in results])

    found, expected = tested(ours, score_dtype="float32"), tested(theirs)
    assert (found.statistic, found.pvalue) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_unknown_measures_have_their_own_error() -> None:
    with pytest.raises(UnknownMeasure):
        ours.RelevanceEvaluator(QRELS, {"maap"})

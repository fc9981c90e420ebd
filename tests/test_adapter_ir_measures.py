"""Inside ir_measures: our measures by its grammar, its own by our provider, against its other providers and ours."""

import importlib
import math
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexirecall
import strategies
from lexirecall import parse_measure
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.measures import MEASURES
from lexirecall.names import computed_by
from table import all_measures

ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
from ir_measures import AP, ERR, RBP, RR, Bpref, IPrec, Judged, Metric, NumRel, NumRet, P, Qrel, R, ScoredDoc, nDCG  # noqa: E402
from ir_measures.providers.base import NOT_PROVIDED  # noqa: E402

from lexirecall.adapters import ir_measures as adapter  # noqa: E402
from lexirecall.adapters.ir_measures_rows import SERVED  # noqa: E402

Grades = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

OURS = [name for name, measure in adapter.measures.items() if hasattr(measure, "row")]
"""What ir_measures lacks."""

QRELS: Grades = {"q1": {"a": 1, "b": 2, "x": 0}, "q2": {"c": 1}, "q3": {"x": 0}, "q4": {"d": 1}}
RUN: Run = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"a": 1.0}, "stranger": {"a": 1.0}}


def parse(name: str) -> Any:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of what it parses with, since 3.12
        return ir_measures.parse_measure(name)


def per_query(measure: Any, qrels: Any, run: Any, provider: Any = ir_measures) -> dict[Any, float]:
    """Return the value of each query; each comes once."""
    metrics = list(provider.iter_calc([measure], qrels, run))
    values = {metric.query_id: metric.value for metric in metrics}
    assert len(values) == len(metrics)
    return values


@st.composite
def collections(draw: st.DrawFn) -> tuple[Grades, Run]:
    """Judgments in whole grades, some negative, and a run without near ties; queries lack rankings, or judgments."""
    grades = draw(strategies.qrels(strategies.DOCUMENTS, (-1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0)))
    ranking = strategies.valued(strategies.DOCUMENTS, (0.0, 1.0, 1.0, 2.0, -3.5))
    run = draw(st.dictionaries(st.sampled_from([*strategies.QUERIES, "none"]), ranking, max_size=4))
    return {
        query: {document: int(grade) for document, grade in judged.items()} for query, judged in grades.items()
    }, run


# Names


@pytest.mark.parametrize("name", OURS)
def test_what_ir_measures_lacks_is_in_its_registry(name: str) -> None:
    assert ir_measures.measures.registry[name] is getattr(ir_measures, name) is adapter.measures[name]


@pytest.mark.parametrize(
    "name",
    ["TSE", "TSE@1000", "TSE(e='dcg')", "TSE(e='rbp',p=0.9)@10", "LastRel(n=1000)", "Depth@0.95", "WSS(n=1000)@0.95"],
)
def test_names_read_and_print_the_same(name: str) -> None:
    assert str(parse(name)) == name
    assert parse(name) == parse(str(parse(name)))


def test_defaults_are_not_printed() -> None:
    assert str(parse("TSE(e='ap',rel=1,judged_only=False)")) == "TSE"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("LastRel@10", "LastRel has no setting 'cutoff': it takes rel, judged_only, n"),
        ("TSE(e='cosine')", "TSE: e is 'cosine', but must be one of ap, dcg, rbp, linear"),
        ("TSE@1.5", "TSE: cutoff is 1.5, but must be a whole number of at least 1"),
        ("Depth", "Depth needs a recall: write it as Depth@0.95"),
        ("LexiRecallBits", "LexiRecallBits needs the corpus size\n  write it as LexiRecallBits(n=528155), for example"),
        ("LastRel(n=0)", "LastRel: n is 0, but must be a whole number of at least 1"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(name: str, problem: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(problem)}$"):
        ir_measures.calc_aggregate([parse(name)], QRELS, RUN)


def test_every_measure_of_the_table_is_served_but_those_of_providers_and_units() -> None:
    served = {row.name for row in MEASURES.values() if not (row.needs_providers or row.needs_units)}
    assert set(adapter.measures) == served


def test_a_measure_of_the_user_can_be_registered() -> None:
    half = lexirecall.Measure("Half", "halves every ten", lambda p: 0.5 ** (p / 10), lambda _, m: 1 / m)
    try:
        adapter.register(half)
        assert parse("Half(rel=2)").calc_aggregate({"q": {"a": 2}}, {"q": {"a": 1.0}}) == 0.5**0.1
        other = lexirecall.Measure("Half", "another", lambda p: 1 / p, lambda _, m: 1 / m)
        adapter.register(other)  # the name means the new one from now on
        assert parse("Half").calc_aggregate({"q": {"a": 2}}, {"q": {"a": 1.0}}) == 1
    finally:
        del ir_measures.measures.registry["Half"], ir_measures.Half, SERVED["Half"]


# Values


@pytest.mark.parametrize(
    "name", [*(str(m) for m in all_measures() if m.name in OURS and "%" not in str(m)), "TSE(rel=2)@2"]
)
@given(collection=collections(), judged_only=st.booleans())
@strategies.costly(15)
def test_values_are_those_of_evaluate(name: str, collection: tuple[Grades, Run], judged_only: bool) -> None:
    qrels, run = collection
    size = {"n": 1000} if "n" in parse(name).SUPPORTED_PARAMS else {}  # the others do not depend on it
    measure = parse(name)(judged_only=judged_only, **size)
    run = {**run, next(iter(qrels)): run.get(next(iter(qrels)), {"a": 1.0})}  # evaluate wants a common request
    level = parse_measure(name).level(1)
    if not any(grade >= level for judged in qrels.values() for grade in judged.values()):
        return  # and something relevant
    scores = lexirecall.evaluate(qrels, run, name, corpus_size=1000, judged_only=judged_only, no_relevant="zero")
    expected = {query: values[name] for query, values in scores.to_dict(per_query=True)["run"].items()}
    with warnings.catch_warnings(action="ignore"):
        values = per_query(measure, qrels, run)
        mean = measure.calc_aggregate(qrels, run)
    assert {query: None if math.isnan(value) else value for query, value in values.items()} == expected
    assert mean == pytest.approx(scores.means[0, 0], abs=0, rel=0, nan_ok=True)


SHARED = [
    *(AP, AP @ 3, AP(rel=2), RR, RR(rel=2), nDCG, nDCG @ 3, P @ 3, P(rel=2) @ 5, R @ 3, R(rel=2) @ 5),
    *(parse("Rprec"), parse("Rprec(rel=2)"), parse("Success@2"), parse("SetP"), parse("SetR(rel=2)"), parse("SetF")),
    *(parse("SetF(beta=2.0)"), Bpref, Bpref(rel=2), parse("infAP"), parse("infAP(rel=2)"), NumRet, NumRet(rel=2)),
    *(IPrec @ 0.5, IPrec @ 0.0, NumRel, nDCG(gains={0: 0, 1: 1, 2: 3}), nDCG(gains={1: 0, 2: 7}) @ 2),
    *(nDCG(gains={0: 1, 1: 4}), nDCG(gains={-1: 2, 2: 0}) @ 3, parse("SetAP"), parse("SetAP(rel=2)"), parse("NumQ")),
    *(parse("SetRelP"), parse("SetP(relative=True,rel=2)")),
]
JUDGED_ONLY = [measure(judged_only=True) for measure in SHARED if "judged_only" in measure.SUPPORTED_PARAMS]


@given(collections())
@strategies.costly(150)
def test_values_are_those_of_the_provider_pytrec_eval(collection: tuple[Grades, Run]) -> None:
    qrels, run = {query: judged for query, judged in collection[0].items() if judged}, collection[1]
    # it crashes or hangs where no judged document is retrieved
    run = {query: ranked for query, ranked in run.items() if any(qrels.get(query, {}).get(d, -1) >= 0 for d in ranked)}
    theirs: dict[tuple[str, str], float] = {}
    for measure in chain(SHARED, JUDGED_ONLY):  # one at a time, as it mixes up some measures of different levels
        for metric in ir_measures.pytrec_eval.iter_calc([measure], qrels, run):
            theirs[metric.query_id, str(metric.measure)] = metric.value
    ours = {
        (metric.query_id, str(metric.measure)): metric.value
        for metric in adapter.provider.iter_calc([*SHARED, *JUDGED_ONLY], qrels, run)
        # it counts no query and no relevant documents where a run has no ranking
        if metric.measure.NAME not in ("NumQ", "NumRel") or metric.query_id in run
    }
    assert ours == pytest.approx({key: theirs[key] for key in ours}, abs=1e-9)
    assert {query for query, _ in ours} <= set(qrels)


def test_a_query_without_an_answer_has_the_worst_value_and_one_without_judgments_none() -> None:
    assert per_query(parse("LastRel(n=100,rel=1)"), {"q1": {"a": 1, "b": 1}, "q4": {"d": 1}}, RUN) == {
        "q1": 3.0,
        "q4": 100.0,
    }
    assert per_query(parse("TSE"), QRELS, RUN) == {"q1": 1 / 3, "q2": 1, "q3": 0, "q4": 0}
    assert per_query(parse("TSE(n=50)"), QRELS, RUN)["q4"] == 1 / 50
    assert per_query(parse("SL3(n=50)"), {"q": {"a": 1, "b": 1}}, {}) == {"q": 48.0}


def test_counts_include_queries_without_an_answer() -> None:
    assert adapter.provider.calc_aggregate([NumRel, NumRet], QRELS, RUN) == {NumRel: 4, NumRet: 5}


def test_the_cut_off_of_total_search_efficiency_is_the_depth_of_the_ranking() -> None:
    assert [parse(f"TSE@{depth}").calc_aggregate({"q": {"b": 1}}, {"q": RUN["q1"]}) for depth in (2, 3)] == [0, 1 / 3]


def test_what_is_undefined_is_left_out_of_the_mean_with_a_warning() -> None:
    with pytest.warns(
        UserWarning, match=r"^LastRel has no value on 2 of 4 queries: .*; write it as LastRel\(n=528155\)"
    ):
        result = parse("LastRel").calc(QRELS, RUN)
    assert result.aggregated == 2.0
    assert [metric.query_id for metric in result.per_query if math.isnan(metric.value)] == ["q3", "q4"]


def test_with_a_corpus_size_only_queries_without_relevant_documents_are_undefined() -> None:
    with pytest.warns(UserWarning, match=r"^LastRel\(n=10\) has no value on 1 of 4 queries: [^;]*$"):
        assert parse("LastRel(n=10)").calc_aggregate(QRELS, RUN) == (3 + 1 + 10) / 3


def test_a_mean_over_nothing_is_not_a_number() -> None:
    assert math.isnan(parse("TSE").calc_aggregate({}, RUN))
    assert adapter.provider.calc([AP], {}, RUN).per_query == []


def test_a_corpus_that_is_too_small_is_an_error() -> None:
    with pytest.raises(DataError, match="the corpus size 2 is too small"):
        parse("LastRel(n=2)").calc_aggregate(QRELS, RUN)


def test_different_settings_go_together_in_one_call() -> None:
    names = ["TSE", "TSE(n=9)", "TSE(n=8)", "TSE(judged_only=True)", "TSE(rel=2)", "AP", "Judged@2", "NumQ"]
    measures = [parse(name) for name in names]
    together = ir_measures.calc_aggregate(measures, QRELS, RUN)
    assert together == {measure: measure.calc_aggregate(QRELS, RUN) for measure in measures}


def test_share_of_judged_documents_counts_negative_grades_as_no_judgment() -> None:
    qrels, run = {"q": {"a": 1, "b": -1, "c": 0}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "x": 1.0}}
    assert adapter.provider.calc_aggregate([Judged, Judged @ 2], qrels, run) == {Judged: 0.5, Judged @ 2: 0.5}
    assert adapter.provider.calc_aggregate([Judged @ 2], qrels, {"q": {}}) == {Judged @ 2: 0}


def test_what_no_other_provider_computes_is_computed() -> None:
    qrels, run = {"frage-ü": {"a": 2, "b": 1}}, {"frage-ü": {"x": 3.0, "a": 2.0, "b": 1.0}}
    values = adapter.provider.calc_aggregate([RBP(rel=1) @ 2, ERR, ERR @ 2, RR @ 1], qrels, run)
    expected = lexirecall.evaluate(qrels, run, ["RBP@2", "ERR", "ERR@2", "RR@1"]).means[0].tolist()
    assert list(values.values()) == expected


SCORES = st.permutations([-2.0, -1.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
COMPAT = [parse(name) for name in ("Compat", "Compat(p=0.5)", "Compat(p=0.8,normalize=False)")]
ACCURACY = [parse(name) for name in ("Accuracy", "Accuracy@2", "Accuracy(rel=2)@4")]


@given(collections(), SCORES)
@strategies.costly(150)
def test_values_are_those_of_the_providers_compat_and_accuracy(
    collection: tuple[Grades, Run], scores: list[float]
) -> None:
    """Their tie rules are others, so no scores are equal; and above 0, where compat has documents without a score."""
    qrels = collection[0]
    run = {q: dict(zip(ranked, scores, strict=False)) for q, ranked in collection[1].items() if ranked}
    above = {q: {d: 2.0**score for d, score in ranked.items()} for q, ranked in run.items()}
    for measure in COMPAT:
        theirs = per_query(measure, qrels, above, ir_measures.compat)
        assert per_query(measure, qrels, above, adapter.provider) == pytest.approx(theirs, rel=1e-12, abs=0)
    for measure in ACCURACY:
        ours = per_query(measure, qrels, run, adapter.provider)
        for query, value in ours.items():
            assert value == pytest.approx(per_query(measure, qrels, {query: run[query]}, ir_measures.accuracy)[query])
        for query in qrels.keys() & run.keys() - ours.keys():
            try:
                assert not per_query(measure, qrels, {query: run[query]}, ir_measures.accuracy)
            except ZeroDivisionError:
                continue  # nothing in the top is non-relevant


def test_accuracy_has_no_value_where_there_is_no_pair() -> None:
    accuracy = parse("Accuracy")
    qrels = {"perfect": {"a": 1}, "nothing": {"a": 1}, "pair": {"a": 1}, "unanswered": {"a": 1}}
    run = {"perfect": {"a": 1.0}, "nothing": {"x": 1.0}, "pair": {"x": 2.0, "a": 1.0}}
    assert per_query(accuracy, qrels, run, adapter.provider) == {"pair": 0.0}
    assert adapter.provider.calc_aggregate([accuracy], qrels, run) == {accuracy: 0.0}
    assert math.isnan(adapter.provider.calc_aggregate([accuracy], qrels, {})[accuracy])


def test_without_a_level_their_rbp_is_graded() -> None:
    qrels, run = {"q": {"a": 3, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    values = adapter.provider.calc_aggregate([RBP, RBP(p=0.5) @ 2, RBP(rel=1)], qrels, run)
    assert [*values.values()] == pytest.approx([0.2 * (3 * 0.8 + 0.8**2), 0.5 * 3 * 0.5, 0.2 * (0.8 + 0.8**2)])


def test_gains_of_documents_that_are_not_relevant_make_them_relevant() -> None:
    """Grade 0 gains 1 and grade 1 gains 4: 1 + 4/log2(3) over 4 + 1/log2(3)."""
    value = adapter.provider.calc_aggregate(
        [nDCG(gains={0: 1, 1: 4}), nDCG], {"q": {"a": 0, "b": 1}}, {"q": ["a", "b"]}
    )
    log3 = math.log2(3)
    assert [*value.values()] == pytest.approx([(1 + 4 / log3) / (4 + 1 / log3), 1 / log3])


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        *((name, "cwl-eval") for name in ("BPM(max_rel=1)@5", "INST(max_rel=1)", "NERR11(max_rel=1)")),
        *((name, "pyndeval") for name in ("alpha_nDCG@10", "ERR_IA@10", "P_IA@10", "NRBP")),
    ],
)
def test_what_is_not_ours_is_refused_with_who_computes_it(name: str, tool: str) -> None:
    measure = parse(name)
    assert not adapter.provider.supports(measure)
    problem = f"lexirecall does not compute {measure}\n  ir_measures computes {measure.NAME} with {tool}"
    with pytest.raises(UsageError, match=f"^{re.escape(problem)}$"):
        adapter.provider.calc_aggregate([AP, measure], QRELS, RUN)
    with pytest.raises(UsageError, match=f"^{re.escape(problem)}$"):
        adapter.row_of(measure)


def test_every_measure_of_ir_measures_is_ours_or_left_to_a_tool_by_name() -> None:
    for name, measure in ir_measures.measures.registry.items():
        assert (measure.NAME in SERVED) != bool(computed_by(measure.NAME)), name


def test_gains_that_we_do_not_compute_are_left_to_other_providers() -> None:
    measure = nDCG(gains={1: 2}, dcg="exp-log2")
    assert not adapter.provider.supports(measure)
    with pytest.raises(UsageError, match="exclude each other"):
        adapter.provider.calc_aggregate([measure], QRELS, RUN)


# Forms of input


def rows_of(nested: Any, row: Any) -> list[Any]:
    """Return rows with fields, those of a query not one behind the other."""
    rows = [row(query, document, number) for query, inner in nested.items() for document, number in inner.items()]
    return rows[::2] + rows[1::2]


def frame_of(nested: Any, row: Any) -> Any:
    return pd.DataFrame(rows_of(nested, row))


FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "dict": lambda nested, _: nested,
    "list": rows_of,
    "iterator": lambda nested, row: iter(rows_of(nested, row)),
    "pandas": frame_of,
    "pandas with other columns": lambda nested, row: frame_of(nested, row).assign(run="s", qid="1", rank=1),
    "polars": lambda nested, row: pl.from_pandas(frame_of(nested, row)),
}


@pytest.mark.parametrize("form_of_run", FORMS)
@pytest.mark.parametrize("form_of_qrels", FORMS)
def test_all_forms_of_judgments_and_runs_give_the_same(form_of_qrels: str, form_of_run: str) -> None:
    measures = [parse("TSE(n=100)"), parse("TSE(n=100,judged_only=True)"), AP, Judged @ 3]
    qrels, run = FORMS[form_of_qrels](QRELS, Qrel), FORMS[form_of_run](RUN, ScoredDoc)
    result = adapter.provider.calc(measures, qrels, run)
    assert set(result.per_query) == set(adapter.provider.calc(measures, QRELS, RUN).per_query)
    assert len(result.per_query) == len(measures) * len(QRELS)


def test_an_evaluator_serves_many_runs() -> None:
    evaluator = ir_measures.evaluator([parse("TSE"), AP], iter(rows_of(QRELS, Qrel)))
    other = {"q1": {"b": 2.0, "a": 1.0}}
    values = [evaluator.calc_aggregate(run)[parse("TSE")] for run in (RUN, other, RUN)]
    assert values == pytest.approx([(1 / 3 + 1) / 4, 0.5 / 4, (1 / 3 + 1) / 4])


@pytest.mark.parametrize("run", [{}, [], pd.DataFrame([], columns=["query_id", "doc_id", "score"])], ids=type)
def test_an_empty_run_retrieved_nothing(run: Any) -> None:
    assert ir_measures.calc_aggregate([parse("TSE(n=10)"), AP], QRELS, run) == {
        parse("TSE(n=10)"): pytest.approx(3 / 40),
        AP: 0,
    }


def test_ids_of_queries_come_back_as_they_were_given() -> None:
    qrels = pd.DataFrame({"query_id": [7, 8], "doc_id": [1, 2], "relevance": [1, 1]})
    run = pd.DataFrame({"query_id": [7], "doc_id": [1], "score": [1.0]})
    assert per_query(parse("TSE"), qrels, run, adapter.provider) == {7: 1.0, 8: 0.0}
    assert per_query(parse("TSE"), {7: {1: 1}, 8: {2: 1}}, {7: {1: 1.0}}, adapter.provider) == {7: 1.0, 8: 0.0}


def test_a_document_twice_in_a_ranking_is_an_error() -> None:
    row = ScoredDoc("q1", "a", 1.0)
    problem = "^the run: document 'a' of query 'q1' is listed twice"
    with pytest.raises(FormatError, match=problem):
        parse("TSE").calc_aggregate(QRELS, [row, row])
    with pytest.raises(FormatError, match=problem):
        adapter.provider.calc_aggregate([AP], QRELS, {"q1": ["a", "a"]})


def test_a_repeated_judgment_is_taken_once_and_a_contradiction_is_an_error() -> None:
    rows = [Qrel("q1", "a", 1), Qrel("q1", "a", 1)]
    assert parse("TSE").calc_aggregate(rows, RUN) == 1
    with pytest.raises(FormatError, match=r"^qrels: document 'a' of query 'q1' is listed twice"):
        parse("TSE").calc_aggregate([*rows, Qrel("q1", "a", 2)], RUN)


@pytest.mark.parametrize(
    ("run", "problem"),
    [("run.txt", "cannot be read"), (None, "cannot be read"), ([("q", "a")], "this row lacks a field:")],
)
def test_other_forms_are_refused(run: Any, problem: str) -> None:
    with pytest.raises(FormatError, match=f"^the run: {problem} .*\n  give a dict of dicts, a data frame, or rows"):
        adapter.provider.calc_aggregate([AP], QRELS, run)


# One tie rule, and the pipeline


def test_one_tie_rule_holds_for_all_measures() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert ir_measures.calc_aggregate([RR @ 10], qrels, run) == {RR @ 10: 1.0}  # another provider, another rule
    assert adapter.provider.calc_aggregate([RR, RR @ 10, parse("TSE")], qrels, run) == {
        RR: 0.5,
        RR @ 10: 0.5,
        parse("TSE"): 0.5,
    }
    best = adapter.LexirecallProvider(ties="best")
    assert best.calc_aggregate([RR, RR @ 10], qrels, run) == {RR: 1.0, RR @ 10: 1.0}


def test_scores_are_compared_as_float64_or_as_other_providers_do() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    single = adapter.LexirecallProvider(score_dtype="float32")
    assert adapter.provider.calc_aggregate([RR], qrels, run) == {RR: 1}
    assert single.calc_aggregate([RR], qrels, run) == ir_measures.calc_aggregate([RR], qrels, run) == {RR: 0.5}


def test_what_worked_before_works_as_before_unless_the_provider_is_preferred() -> None:
    pipeline = ir_measures.DefaultPipeline.providers
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert pipeline[-1] is adapter.provider
    try:
        adapter.prefer()
        adapter.prefer()
        assert [each.NAME for each in pipeline].count("lexirecall") == 1
        assert pipeline[0] is adapter.provider
        assert (RR @ 10).calc_aggregate(qrels, run) == 0.5
    finally:
        adapter.prefer(False)
    assert pipeline[-1] is adapter.provider
    assert (RR @ 10).calc_aggregate(qrels, run) == 1


def test_loading_the_module_again_changes_nothing() -> None:
    names, registry = [each.NAME for each in ir_measures.DefaultPipeline.providers], dict(ir_measures.measures.registry)
    against = adapter.LexiRecallAgainst({"q1": {"a": 1.0}})
    try:
        adapter.prefer()
        importlib.reload(adapter)
        assert ir_measures.DefaultPipeline.providers[0] is adapter.provider  # still preferred
    finally:
        adapter.prefer(False)
    assert [each.NAME for each in ir_measures.DefaultPipeline.providers] == names
    assert ir_measures.measures.registry == registry
    assert all(ir_measures.measures.registry[name] is registry[name] for name in OURS)
    assert ir_measures.providers.registry["lexirecall"] is adapter.provider
    assert against.calc_aggregate({"q1": {"a": 1}}, {"q1": {"x": 2.0, "a": 1.0}}) == -1


# Preferences


@given(collections(), collections())
@strategies.costly(40)
def test_preference_against_a_baseline_is_that_of_compare(
    collection: tuple[Grades, Run], other: tuple[Grades, Run]
) -> None:
    qrels, run, baseline = {**collection[0], "common": {"a": 2}}, collection[1], other[1]
    run, baseline = ({**each, "common": {"a": 1.0}} for each in (run, baseline))
    for preference in ("LexiRecall", "LexiRecall(rel=2)", "RPP", "AP"):
        measure = adapter.LexiRecallAgainst(baseline, preference=preference)
        values = per_query(measure, qrels, run)
        rows = lexirecall.compare(qrels, {"run": run, "baseline": baseline}, [preference], no_relevant="zero").rows()
        row = next(rows)
        signs = np.sign(list(values.values())).tolist()
        assert (signs.count(1), signs.count(0), signs.count(-1)) == (row["wins"], row["ties"], row["losses"])
        assert measure.calc_aggregate(qrels, run) == pytest.approx(row["mean"])


def test_a_run_is_neither_better_nor_worse_than_itself() -> None:
    against = adapter.LexiRecallAgainst(iter(rows_of(RUN, ScoredDoc)))
    assert set(per_query(against, QRELS, RUN).values()) == {0}
    assert set(per_query(against, QRELS, RUN).values()) == {0}  # the baseline was kept, though it came as an iterator


def test_a_preference_is_known_by_its_name_and_its_baseline() -> None:
    against = partial(adapter.LexiRecallAgainst, RUN)
    assert str(against(name="bm25")) == "LexiRecall against bm25"
    assert str(against(name="bm25")(rel=2)) == "LexiRecall(rel=2) against bm25"
    assert against() == against()
    assert against() != adapter.LexiRecallAgainst(dict(RUN))
    assert len({against(), against(), against(name="bm25")}) == 2
    with pytest.raises(UsageError, match="LexiRecall has no setting 'cutoff'"):
        against() @ 10


def test_preference_by_a_measure_without_a_value_is_undefined() -> None:
    against = adapter.LexiRecallAgainst({"q1": {"a": 1.0}}, preference="LastRel")
    values = per_query(against, {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}})
    assert values["q1"] == 0
    assert math.isnan(values["q2"])


# The command


def test_the_command_of_ir_measures_has_our_measures_and_the_provider(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 1\nq2 0 c 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 3 r\nq1 Q0 x 2 2 r\nq1 Q0 b 3 1 r\n")
    command = [sys.executable, "-m", "lexirecall.adapters.ir_measures", "qrels", "run", "TSE AP", "LastRel(n=9)"]
    done = subprocess.run(
        [*command, "--provider", "lexirecall"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["TSE\t0.1667", "AP\t0.4167", "LastRel(n=9)\t6.0000"]


def test_without_ir_measures_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['ir_measures'] = None; import lexirecall.adapters.ir_measures"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UsageError: ir_measures is not installed\n  pip install ir_measures" in done.stderr


def test_metrics_are_those_of_ir_measures() -> None:
    metric = next(iter(ir_measures.iter_calc([parse("TSE")], QRELS, RUN)))
    assert isinstance(metric, Metric)
    assert metric == Metric("q1", parse("TSE"), 1 / 3)


def test_what_is_not_set_has_the_same_default_there_and_here() -> None:
    for name, measure in adapter.measures.items():
        row = MEASURES[name]
        for setting, info in measure.SUPPORTED_PARAMS.items():
            default = row.offered[setting].default if setting in row.offered else None
            if default is not None:
                assert info.default == default, (name, setting)
            elif setting == "rel":
                assert info.default in (1, NOT_PROVIDED)

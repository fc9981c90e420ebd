"""Evaluate: policies, means, conversions and manifest; and, one by one, what other tools get wrong here."""

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lexirecall import (
    LexirecallError,
    Measure,
    compare,
    evaluate,
    parse_measure,
    project,
    rank,
    register,
    report,
    study,
)
from lexirecall.errors import FormatError, UnknownMeasure, UsageError
from lexirecall.measures import MEASURES

ROWS = [row for row in MEASURES.values() if not row.needs_units]
QRELS = {"q1": {"a": 1, "b": 2, "x": 0}, "q2": {"c": 1}, "q3": {"d": 0}, "q4": {"e": 1}}
EARLY = {"q1": {"a": 3.0, "y": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 1.0}, "q9": {"a": 1.0}}
LATE = {"q1": {"y": 3.0, "a": 2.0}, "q2": {"z": 2.0, "c": 1.0}, "q3": {"d": 1.0}, "q4": {"e": 1.0}}
RUNS = {"early": EARLY, "late": LATE}
PROVIDERS = {"a": ["Ada", "Ben"], "b": "Cy", "c": "Ben", "e": "Cy"}


def values(qrels: Any, run: Any, *measures: str, **conventions: Any) -> dict[str, Any]:
    """Return the means of a single run."""
    means = evaluate(qrels, {"run": run}, measures, **conventions).to_dict()["run"]
    assert isinstance(means, dict)
    return means


# Grades and the level

STARS = {"u1": {"a": 5, "b": 4, "c": 1, "d": 2}, "u2": {"a": 1, "e": 4}}
RANKED = {"best": {"u1": ["a", "b", "x", "c"], "u2": ["e", "a"]}, "other": {"u1": ["c", "b", "a"], "u2": ["a", "e"]}}


@pytest.mark.parametrize(
    "measure", ["nDCG(rel=4)", "nDCG(rel=level)", "nDCG(rel=4)@1", "nDCG(gains={1:0,2:0,4:1,5:1})"]
)
def test_a_binary_ndcg_is_1_where_all_relevant_documents_come_first(measure: str) -> None:
    assert evaluate(STARS, RANKED, ["nDCG", measure], level=4).to_dict()["best"][str(parse_measure(measure))] == 1
    assert evaluate(STARS, RANKED, ["nDCG"], level=4).to_dict()["best"]["nDCG"] < 1


def test_the_gain_of_an_document_below_the_level_counts_in_plain_ndcg_only() -> None:
    without = {
        user: {document: grade for document, grade in rated.items() if grade >= 4} for user, rated in STARS.items()
    }
    for run in RANKED.values():
        assert values(STARS, run, "nDCG(rel=4)") == values(without, run, "nDCG(rel=4)")
        assert values(STARS, run, "nDCG") != values(without, run, "nDCG")


def test_at_level_1_and_with_grades_of_1_both_are_the_same() -> None:
    means = values(
        {"q": {"a": 1, "b": 1, "x": 0}}, {"q": ["x", "b", "y", "a"]}, "nDCG", "nDCG(rel=1)", "nDCG(rel=level)"
    )
    assert len(set(means.values())) == 1


def test_gains_that_leave_nothing_to_gain_have_no_value() -> None:
    scores = evaluate({"q1": {"a": 1}, "q2": {"b": 2, "c": 1}}, {"q1": ["a"], "q2": ["b"]}, ["nDCG(gains={1:0})"])
    assert scores.to_dict() == {"run": {"nDCG(gains={1:0})": 1.0}}
    assert "undefined values, left out of the means: nDCG(gains={1:0}) (1 of 2: run 1)" in scores.notes[0].text


def noted(notes: Any) -> list[str]:
    return [note.text for note in notes if note.kind == "level"]


def test_a_note_says_which_measures_ignore_the_level() -> None:
    names = ["nDCG", "AP", "nDCG@10", "ERR(max_grade=5)", "nDCG(rel=4)", "RPP(graded=True)"]
    assert noted(evaluate(STARS, RANKED, names, level=4).notes) == [
        "computed from the grades, not from the level: nDCG, nDCG@10, ERR(max_grade=5), RPP(graded=True) "
        "(in nDCG(rel=4) every grade of 4 or more has the gain 1)"
    ]
    assert noted(evaluate(STARS, RANKED, ["ERR(max_grade=5)"], level=4.5).notes) == [
        "computed from the grades, not from the level: ERR(max_grade=5)"
    ]
    for level, measures in ((1, names), (0.5, names), (4, ["AP", "nDCG(rel=level)", "LexiRecall"])):
        assert not noted(evaluate(STARS, RANKED, measures, level=level).notes)


def test_every_verb_notes_that_a_measure_ignores_the_level() -> None:
    positions = project(STARS, RANKED)
    results: list[Any] = [
        compare(STARS, RANKED, ["nDCG"], level=4),
        rank(STARS, RANKED, "nDCG", level=4),
        study({"stars": positions}, measures=["nDCG"], level=4, num_samples=1),
        report(positions, measures=["nDCG"], output=None, level=4),
    ]
    for result in results:
        assert any("nDCG(rel=4)" in text for text in noted(result.notes)), type(result)


# Queries that are missing, or have nothing to find


def test_an_unanswered_query_counts_as_worst_case() -> None:
    per_query = evaluate(QRELS, EARLY, ["AP", "TSE", "NumRet"]).to_dict(per_query=True)["run"]
    assert per_query["q4"] == {"AP": 0.0, "TSE": 0.0, "NumRet": 0.0}
    assert values(QRELS, EARLY, "RR") == {"RR": pytest.approx(2 / 3)}


def test_the_intersection_leaves_unanswered_queries_out() -> None:
    scores = evaluate(QRELS, RUNS, ["RR", "NumRel"], queries="intersection")
    assert scores.to_dict() == {"early": {"RR": 1.0, "NumRel": 3.0}, "late": {"RR": 2 / 3, "NumRel": 4.0}}
    assert scores.to_dict(per_query=True)["early"]["q4"] == {"RR": None, "NumRel": None}


def test_a_query_without_relevant_documents_is_left_out_or_counts_as_zero() -> None:
    assert values(QRELS, LATE, "RR") == {"RR": pytest.approx((1 / 2 + 1 / 2 + 1) / 3)}
    assert values(QRELS, LATE, "RR", no_relevant="zero") == {"RR": pytest.approx((1 / 2 + 1 / 2 + 1) / 4)}


def test_where_lower_is_better_a_query_without_relevant_documents_stays_undefined() -> None:
    scores = evaluate(QRELS, LATE, ["SL1", "AP"], no_relevant="zero").to_dict(per_query=True)["run"]
    assert scores["q3"] == {"SL1": None, "AP": 0.0}
    assert values(QRELS, LATE, "SL1", no_relevant="zero") == {"SL1": pytest.approx(2 / 3)}


def test_an_undefined_value_is_left_out_of_the_mean_and_noted() -> None:
    scores = evaluate(QRELS, LATE, ["LastRel"])
    assert scores.to_dict() == {"run": {"LastRel": 1.5}}  # q1 misses b, q3 has nothing to find
    assert [note.count for note in scores.notes if note.kind == "undefined"] == [1]
    assert values(QRELS, LATE, "LastRel", corpus_size=100) == {"LastRel": pytest.approx((100 + 2 + 1) / 3)}


def test_a_measure_that_is_defined_nowhere_has_no_mean() -> None:
    scores = evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a"]}, ["LastRel"])
    assert scores.to_dict() == {"run": {"LastRel": None}}
    assert "-" in str(scores).splitlines()[1]


def test_counts_are_added_up() -> None:
    assert values(QRELS, LATE, "NumRel", "NumRet", "NumRelRet") == {"NumRel": 4, "NumRet": 5, "NumRelRet": 3}


def test_one_projection_serves_many_levels_and_policies() -> None:
    positions = project(project(QRELS, RUNS).judgments, RUNS)
    for options in ({}, {"level": 2}, {"queries": "intersection"}, {"no_relevant": "zero"}):
        once = evaluate(QRELS, RUNS, ["AP", "AP(rel=2)"], **options)
        np.testing.assert_equal(evaluate(positions, measures=["AP", "AP(rel=2)"], **options).values, once.values)


def test_at_least_one_measure_is_asked_for() -> None:
    nothing: tuple[Any, ...] = ([], (), "", " ")
    for measures in nothing:
        with pytest.raises(UsageError, match="measure"):
            evaluate(QRELS, EARLY, measures)


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        ({}, EARLY, "qrels: the judgments are empty"),
        ({1: {"a": 1}, "1": {"a": 1}}, EARLY, "qrels: two queries have the same text: '1'"),
        ({"q1": {1: 1, "1": 0}}, EARLY, "qrels: two documents of query 'q1' have the same text"),
        ({"q1": ["a"]}, EARLY, "qrels: the value of query 'q1' is not a mapping: .*'a'"),
        ({"q1": {"a": "1"}}, EARLY, "qrels: query 'q1', document 'a': the grade is not a number: .*'1'"),
        ([("q1", "a", 1)], EARLY, "qrels is of type list, but must be a path, a mapping or a data frame"),
        (QRELS, {1: {"a": 1}, "1": {"a": 1}}, "run: two queries have the same text: '1'"),
        (QRELS, {"q1": {"a": None}}, "run: query 'q1', document 'a': the score is not a number: .*None"),
        (QRELS, {"q1": {"a": math.nan}}, "run: query 'q1', document 'a': the score is NaN"),
        (QRELS, {"q1": "a b c"}, "no ranking|no such file"),
        (QRELS, {"q1": ["a"], "q2": 3}, "run: the value of query 'q2' is not a ranking: .*3"),
        (QRELS, {"q1": [("a", 1.0)]}, "run: query 'q1': .* is not a document id"),
        (QRELS, {"q1": {"a", "b"}}, "the value of query .q1. is not a ranking"),
        (QRELS, {"q9": ["a"]}, "no query in common with the judgments: run"),
        (QRELS, [], "no runs are given"),
        (QRELS, [3], "a run is of type int, but must be a path, a mapping or a data frame"),
        (QRELS, None, "no runs are given"),
    ],
)
def test_input_in_memory_that_means_nothing_is_refused(qrels: Any, run: Any, said: str) -> None:
    with pytest.raises(LexirecallError, match=said):
        evaluate(qrels, run)


@pytest.mark.parametrize(
    "size", [0, -1, 10.5, "nowhere.txt", 10**30, {"q1": 10}, {**dict.fromkeys(QRELS, 10), "q1": "x"}]
)
def test_a_corpus_size_that_means_nothing_is_refused(size: Any) -> None:
    with pytest.raises(LexirecallError):
        evaluate(QRELS, EARLY, corpus_size=size)


def test_a_query_has_one_corpus_size_however_its_id_is_written() -> None:
    qrels, run = {7: {"a": 1, "b": 1}}, {7: ["a"]}
    with pytest.raises(FormatError, match="corpus_size: query '7' has 200 here and 100 before"):
        evaluate(qrels, run, "LastRel", corpus_size={7: 100, "7": 200})
    assert evaluate(qrels, run, "LastRel", corpus_size={7.0: 100, "7": 100}).values.tolist() == [[[100.0]]]


# The result


def test_all_conversions_agree() -> None:
    scores = evaluate(QRELS, RUNS, ["AP", "LastRel", "NumRet"])
    rows = [(row["run"], row["query"], row["measure"], row["value"]) for row in scores.rows(per_query=True)]
    expected = [row for row in rows if row[1] != "all"]
    assert None in {value for *_, value in expected}
    frames = {
        "polars": scores.to_polars(per_query=True).rows(),
        "arrow": [tuple(row.values()) for row in scores.to_arrow(per_query=True).to_pylist()],
        "pandas": [
            (*names, None if math.isnan(value) else value)
            for *names, value in scores.to_pandas(per_query=True).itertuples(index=False)
        ],
    }
    assert frames == dict.fromkeys(frames, expected)
    by_name = scores.to_dict(per_query=True)
    assert [by_name[run][query][name] for run, query, name, _ in expected] == [
        None if math.isnan(value) else value for value in scores.to_numpy().ravel().tolist()
    ]
    means = [(run, name, value) for run, query, name, value in rows if query == "all"]
    assert means == [(run, name, value) for run, of in scores.to_dict().items() for name, value in of.items()]
    assert scores.to_polars().rows() == [tuple(row.values()) for row in scores.to_arrow().to_pylist()] == means
    assert list(scores.to_pandas().columns) == ["run", "measure", "value"]


@pytest.mark.parametrize("measures", [["AP"], ["AP", "RR", "LastRel"]])
def test_a_frame_of_queries_has_no_row_for_the_mean(measures: list[str]) -> None:
    scores = evaluate(QRELS, RUNS, measures)
    frame = scores.to_pandas(per_query=True)
    assert len(frame) == scores.values.size == len(scores.to_polars(per_query=True))
    by_run = frame[frame["measure"] == "AP"].groupby("run")["value"]
    for s, run in enumerate(scores.runs):
        column = scores.values[s, :, 0]
        assert by_run.mean()[run] == pytest.approx(scores.means[s, 0])
        assert by_run.std(ddof=0)[run] == pytest.approx(np.nanstd(column))


def test_a_conversion_is_a_copy() -> None:
    scores = evaluate(QRELS, EARLY, ["AP"])
    scores.to_numpy()[:] = 7
    assert np.nanmax(scores.values) <= 1


def test_a_query_may_be_called_all() -> None:
    scores = evaluate({"all": {"a": 1}, "q": {"a": 1}}, {"all": ["a"], "q": ["b", "a"]}, ["RR"])
    assert scores.to_dict(per_query=True) == {"run": {"all": {"RR": 1.0}, "q": {"RR": 0.5}}}
    assert scores.to_polars(per_query=True).rows() == [("run", "all", "RR", 1.0), ("run", "q", "RR", 0.5)]
    assert [row["value"] for row in scores.rows(per_query=True) if row["query"] == "all"] == [1.0, 0.75]
    assert [note.text for note in scores.notes if "the last 'all' of each run is its mean" in note.text]
    assert not [note for note in evaluate(QRELS, RUNS, ["RR"]).notes if note.kind == "query called all"]


def test_ids_that_are_not_utf_8_fit_into_frames() -> None:
    scores = evaluate({b"\xff": {"a": 1}}, {b"\xff": ["a"]}, ["RR"])
    assert len(scores.to_pandas(per_query=True)) == len(scores.to_polars(per_query=True)) == 1
    assert scores.to_arrow(per_query=True).num_rows == 1


def test_a_result_shows_itself_as_a_table_with_its_notes() -> None:
    lines = str(evaluate(QRELS, RUNS, ["AP"])).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["run", "early", "late"]
    assert len(lines) > 3
    assert all(line.startswith("note: ") for line in lines[3:])


def test_in_a_notebook_an_id_cannot_become_markup() -> None:
    hostile = "<script>alert('&')</script>"
    page = evaluate({hostile: {"a": 0}, "q": {"a": 1}}, {hostile: {"q": ["a"]}, "b": {"q": []}}, ["AP"])._repr_html_()
    assert "<script" not in page
    # the run in the table, as the chart's label and its tip, and the query without relevant documents
    assert page.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;") == 4
    assert "<strong>1.0000</strong>" in page


def test_the_order_of_runs_and_measures_is_kept() -> None:
    scores = evaluate(QRELS, {"z": EARLY, "a": LATE, "m": EARLY}, ["TSE", "AP", "R@5"])
    assert (scores.runs, tuple(map(str, scores.measures))) == (("z", "a", "m"), ("TSE", "AP", "R@5"))


def test_the_order_of_queries_documents_and_runs_does_not_matter() -> None:
    measures = [row @ 5 if row.at == "cutoff" else row @ 0.5 if row.at else row for row in ROWS]
    tied = {query: dict.fromkeys(scores, 1.0) for query, scores in LATE.items()}
    scores = evaluate(QRELS, {**RUNS, "tied": tied}, measures, corpus_size=50, providers=PROVIDERS)
    reversed_runs = {name: reversed_dict(run) for name, run in reversed({**RUNS, "tied": tied}.items())}
    again_by = dict(reversed(PROVIDERS.items()))
    again = evaluate(reversed_dict(QRELS), reversed_runs, measures, corpus_size=50, providers=again_by)
    for run, by_query in scores.to_dict(per_query=True).items():
        assert again.to_dict(per_query=True)[run] == by_query


def reversed_dict(nested: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {key: dict(reversed(inner.items())) for key, inner in reversed(nested.items())}


def test_the_manifest_names_every_convention_and_what_was_left_out() -> None:
    scores = evaluate(
        {**QRELS, "q5": {"f": 1}}, {"late": LATE | {"q1": {"y": 1, "a": 1}}}, ["AP", "TSE"],
        level=1, depth=2, corpus_size=100, queries="all", no_relevant="zero", ties="worst", judged_only=True,
        score_dtype="float32", duplicates="best",
    )  # fmt: skip
    manifest = json.loads(scores.manifest.to_json())
    assert manifest["conventions"] == {
        "ties": "worst", "score_dtype": "float32", "depth": 2, "judged_only": True, "duplicates": "best",
        "imputation": "pessimistic", "strict": False, "unit_rule": "any", "count": "documents", "judged": None,
        "unmapped": "none", "level": 1, "queries": "all", "no_relevant": "zero",
        "corpus_size": 100,
    }  # fmt: skip
    (run,) = manifest["runs"]
    assert run.items() >= {"name": "late", "answered": 4, "unanswered": 1, "without_judgments": 0}.items()
    assert (run["positive_retrieved"], run["positive_imputed"]) == (3, 2)
    assert [measure["name"] for measure in manifest["measures"]] == ["AP", "TSE"]
    assert {note["kind"] for note in manifest["notes"]} >= {"unanswered", "no relevant document"}
    assert set(manifest["versions"]) == {"lexirecall", "numpy", "python"}
    assert manifest["reader"]


def test_the_manifest_names_the_size_of_each_corpus() -> None:
    sizes = {"q1": 10, "q2": 20, "q3": 30, "q4": 40}
    assert (
        json.loads(evaluate(QRELS, LATE, corpus_size=sizes).manifest.to_json())["conventions"]["corpus_size"] == sizes
    )


# What other tools get wrong


def test_a_judged_query_that_is_not_answered_does_not_stop_the_evaluation() -> None:
    assert values({"q1": {"a": 1}, "q2": {"c": 1}}, {"q1": {"a": 1}}, "AP") == {"AP": 0.5}


def test_a_query_with_negative_grades_only_has_no_relevant_document() -> None:
    qrels = {"q1": {"a": -1, "b": -2}, "q2": {"c": 1}}
    scores = evaluate(qrels, {"q1": ["a"], "q2": ["c"]}, ["AP", "nDCG", "Bpref", "infAP", "Judged@5"])
    assert scores.to_dict(per_query=True)["run"]["q1"] == dict.fromkeys(map(str, scores.measures))
    assert [note.count for note in scores.notes if note.kind == "no relevant document"] == [1]


def test_queries_are_matched_by_id_and_not_by_place() -> None:
    assert values({"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": {"b": 1.0}, "q1": {"a": 1.0}}, "RR") == {"RR": 1.0}


def test_grades_are_not_cut_to_whole_numbers() -> None:
    qrels = {"q": {"a": 0.9, "b": 1.9}}
    assert values(qrels, {"q": ["b", "a"]}, "NumRel", "NumRel(rel=0.5)", "nDCG") == {
        "NumRel": 1, "NumRel(rel=0.5)": 2, "nDCG": 1,
    }  # fmt: skip
    assert values(qrels, {"q": ["a"]}, "nDCG")["nDCG"] == pytest.approx(0.9 / (1.9 + 0.9 / math.log2(3)))


def test_runs_of_one_name_are_refused_and_not_merged(tmp_path: Any) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 a 1 1 t\n")
    with pytest.raises(UsageError, match="two runs have the same name"):
        evaluate(QRELS, [tmp_path / "a.run", tmp_path / "a.run"])


def test_an_empty_ranking_is_a_ranking() -> None:
    measures = ["AP", "nDCG", "Bpref", "SetP", "SetF", "RBP(p=0.5)", "ERR@10", "infAP", "IPrec@0.5", "NumRet"]
    assert values({"q1": {"a": 1, "b": 0}}, {"q1": {}}, *measures) == dict.fromkeys(measures, 0.0)


def test_the_share_of_judged_documents_in_an_empty_ranking_is_undefined() -> None:
    scores = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {}, "q2": {"a": 1, "b": 0}}, ["Judged@10"])
    assert scores.to_dict(per_query=True)["run"] == {"q1": {"Judged@10": None}, "q2": {"Judged@10": 0.5}}
    assert scores.to_dict() == {"run": {"Judged@10": 0.5}}


def test_bpref_of_an_unanswered_query_is_zero() -> None:
    assert values({"q1": {"a": 1, "x": 0}, "q2": {"b": 1}}, {"q1": ["a"]}, "Bpref") == {"Bpref": 0.5}


def test_what_the_user_gave_is_not_changed() -> None:
    qrels, runs = copy.deepcopy(QRELS), copy.deepcopy(RUNS)
    ranked = {"q1": np.array(["y", "a"])}
    evaluate(qrels, {**runs, "ranked": ranked}, ["AP", "Bpref"], depth=1, judged_only=True, no_relevant="zero")
    assert (qrels, runs, ranked["q1"].tolist()) == (QRELS, RUNS, ["y", "a"])


def test_an_unknown_measure_is_never_a_value() -> None:
    for name in ("lexirecal", "TSEE", "xyzzy@10"):
        with pytest.raises(UnknownMeasure, match=name):
            evaluate(QRELS, EARLY, ["AP", name])


def test_a_name_with_a_colon_stays_whole() -> None:
    assert list(evaluate(QRELS, {"X:1": EARLY, "X:2": LATE}, ["AP"]).to_dict()) == ["X:1", "X:2"]


def test_one_tie_rule_holds_for_all_measures() -> None:
    measures = ["RR", "RR@10", "AP", "AP@10", "TSE"]
    for run in ({"a": 1, "b": 1}, {"b": 1, "a": 1}):
        assert values({"q": {"a": 1}}, {"q": run}, *measures) == dict.fromkeys(measures, 0.5)
        assert values({"q": {"a": 1}}, {"q": run}, "RBP") == {"RBP": pytest.approx(0.16)}
        assert values({"q": {"a": 1}}, {"q": run}, *measures, ties="best") == dict.fromkeys(measures, 1.0)


def test_counts_cover_the_queries_that_are_not_answered() -> None:
    assert values({"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}, {"q1": ["a"]}, "NumRel") == {"NumRel": 3}


def test_queries_need_no_numbers_and_measures_no_level() -> None:
    measures = ["ERR@10", "nDCG(dcg='exp-log2')", "RBP(rel=1)@10", "RBP(p=0.5)", "SetF(beta=0.5)", "SetF(beta=2)"]
    found = values({"q1": {"a": 1}}, {"q1": ["a"]}, *measures)
    assert found == {
        **dict.fromkeys(measures, 1.0),
        "ERR@10": 1 / 16,
        "RBP(rel=1)@10": pytest.approx(0.2),
        "RBP(p=0.5)": 0.5,
    }


def test_scores_are_compared_as_float64_unless_float32_is_asked_for() -> None:
    run = {"q": {"a": 0.50000000002, "b": 0.50000000001}}
    assert values({"q": {"a": 1}}, run, "RR") == {"RR": 1.0}
    assert values({"q": {"a": 1}}, run, "RR", score_dtype="float32") == {"RR": 0.5}


def test_a_document_listed_twice_is_not_counted_twice() -> None:
    with pytest.raises(FormatError, match="'a' of query 'q' is listed twice"):
        evaluate({"q": {"a": 1}}, {"q": ["a", "a"]})
    assert values({"q": {"a": 1}}, {"q": ["a", "a"]}, "R@5", "NumRet", duplicates="first") == {"R@5": 1, "NumRet": 1}


def test_a_query_without_judgments_changes_no_mean() -> None:
    measures = [row for row in ROWS if not row.needs_at]
    judged = {query: run for query, run in EARLY.items() if query in QRELS}
    known: dict[str, Any] = {"corpus_size": 50, "providers": PROVIDERS}
    with_extra = evaluate(QRELS, EARLY, measures, **known)
    np.testing.assert_equal(with_extra.means, evaluate(QRELS, judged, measures, **known).means)
    assert [note.count for note in with_extra.notes if note.kind == "without judgments"] == [1]


# A user's own measure


@pytest.fixture
def halving() -> Iterator[Measure]:
    measure = Measure("Halving", "exposure halves at each position", lambda p: 0.5**p, lambda i, m: i / m)
    yield measure
    MEASURES.pop("Halving", None)


def test_a_measure_of_ones_own_is_used_as_an_object(halving: Measure) -> None:
    last = Measure("Last", "the last position", of_positions=lambda p: p[-1], direction=-1)
    scores = evaluate(QRELS, RUNS, [halving, halving(rel=2), last, "AP"], corpus_size=10)
    assert scores.to_dict(per_query=True)["early"]["q1"] == {
        "Halving": pytest.approx(1 / 4 + 1 / 8), "Halving(rel=2)": 1 / 8, "Last": 3.0, "AP": pytest.approx(5 / 6),
    }  # fmt: skip
    assert scores.to_dict(per_query=True)["late"]["q1"]["Last"] == 10.0


def test_a_measure_of_ones_own_is_used_by_name_once_it_is_registered(halving: Measure) -> None:
    with pytest.raises(UnknownMeasure):
        evaluate(QRELS, RUNS, ["halving"])
    register(halving)
    assert evaluate(QRELS, RUNS, ["halving(rel=2)"]).to_dict() == evaluate(QRELS, RUNS, [halving(rel=2)]).to_dict()


RUNS_TO_SORT = {"b": {"q": ["a"], "r": ["x", "b"]}, "c": {"q": ["x", "a"], "r": ["b"]}, "a": {"q": ["x", "y", "a"]}}


@pytest.mark.parametrize(
    ("sort", "expected"), {"given": "bca", "name": "abc", "RR": "bca", "rr": "bca", "LastRel": "bca"}.items()
)
def test_runs_are_sorted_by_name_or_by_a_measure_the_best_first(sort: str, expected: str) -> None:
    scores = evaluate({"q": {"a": 1}, "r": {"b": 1}}, RUNS_TO_SORT, ["RR", "LastRel"])
    ordered = scores.sorted_by(sort)
    assert ordered.runs == tuple(expected)
    assert ordered.to_dict(per_query=True) == scores.to_dict(per_query=True)
    assert ordered.to_dict() == scores.to_dict()
    assert [row[0] for row in ordered.table().rows] == list(expected)


def test_what_was_not_computed_does_not_sort() -> None:
    scores = evaluate({"q": {"a": 1}}, RUNS_TO_SORT, ["RR", "AP"])
    for sort in ("nDCG", "RR AP"):
        with pytest.raises(UsageError, match="sort by given, name or a measure: RR, AP"):
            scores.sorted_by(sort)


def test_digits_are_those_asked_for_and_counts_stay_whole() -> None:
    scores = evaluate({"q": {"a": 1}, "r": {"b": 1}}, RUNS_TO_SORT, ["AP", "NumRet"]).with_digits(2)
    assert scores.table().rows[0] == ("b", "0.75", "3")
    assert scores.table(per_query=True).rows[1] == ("b", "r", "0.50", "2")

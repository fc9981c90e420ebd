"""The headline of a page: every sentence is made from the numbers, and says no more than they carry."""

from typing import Any

import pytest
from hypothesis import assume, given

from lexirecall import report, simulate_collection
from strategies import Collection, collections, quick

DEMO = simulate_collection(0)
QUERIES = tuple(f"q{i}" for i in range(8))
QRELS = {query: {"a": 1, "b": 1} for query in QUERIES}
BOTH, ONE, NONE = ["a", "b"], ["x", "a"], ["x", "y"]


def said(payload: dict[str, Any]) -> list[str]:
    """Return the sentences as a reader sees them."""
    names = {
        "run": payload["runs"],
        "query": payload["queries"],
        "measure": [measure["name"] for measure in payload["measures"]],
    }
    return [
        "".join(part["text"] if "text" in part else names[key][place] for part in parts for key, place in part.items())
        for parts in payload["headline"]
    ]


def sentences(runs: dict[str, Any], measures: Any = "LexiRecall", qrels: Any = None, **options: Any) -> list[str]:
    """Return the headline of runs; one that is a list gives this ranking for every query."""
    judged = QRELS if qrels is None else qrels
    given_runs = {name: dict.fromkeys(judged, run) if isinstance(run, list) else run for name, run in runs.items()}
    return said(report(judged, given_runs, measures, output=None, **options).payload)


def test_the_demo() -> None:
    relevant = {query: {document for document, grade in own.items() if grade >= 1} for query, own in DEMO.qrels.items()}
    found = {run: {query: relevant[query] & {*own[query]} for query in relevant} for run, own in DEMO.runs.items()}
    deep = found["deep.run"]
    num_relevant, num_found = (sum(map(len, each.values())) for each in (relevant, deep))
    num_complete = sum(deep[query] == own for query, own in relevant.items())
    num_missed = sum(len(own.difference(*(each[query] for each in found.values()))) for query, own in relevant.items())
    assert said(report(DEMO.qrels, DEMO.runs, output=None).payload) == [
        "deep.run has the highest win rate under LexiRecall, 0.9667, ahead of precise.run by 0.3000.",
        "It is significantly better than all 3 others (sign test, Holm's correction, p < 0.05).",
        f"deep.run finds {num_found} of {num_relevant} relevant documents ({100 * num_found / num_relevant:.1f} %), "
        f"and everything on {num_complete} of 30 queries; {num_missed} relevant documents are found by no run.",
    ]


def test_two_runs_that_differ() -> None:
    assert sentences({"good": BOTH, "bad": ONE}) == [
        "good has the highest win rate under LexiRecall, 1.0000, ahead of bad by 1.0000.",
        "The difference is significant (sign test, Holm's correction, p < 0.05).",
        "good finds all 16 relevant documents.",
    ]


def test_two_runs_that_do_not_differ() -> None:
    mixed = {query: BOTH if i % 2 else ONE for i, query in enumerate(QUERIES)}
    other = {query: ONE if i % 2 or i == 0 else BOTH for i, query in enumerate(QUERIES)}
    assert sentences({"mixed": mixed, "other": other})[:2] == [
        "mixed has the highest win rate under LexiRecall, 0.5625, ahead of other by 0.1250.",
        "The difference is not significant (sign test, Holm's correction, p < 0.05).",
    ]


def test_runs_of_which_no_two_differ() -> None:
    runs = {
        name: {query: BOTH if i % 3 == shift else ONE for i, query in enumerate(QUERIES)}
        for shift, name in enumerate("xyz")
    }
    assert (
        sentences(runs)[1]
        == "Under LexiRecall, no two runs differ significantly (sign test, Holm's correction, p < 0.05)."
    )


def test_a_measure_to_be_small_has_a_lowest_mean() -> None:
    first, second, *_ = sentences({"good": BOTH, "bad": ["x", "a", "b"], "worse": ["x", "y", "a", "b"]}, "LastRel")
    assert first == "good has the lowest mean LastRel, 2.0, ahead of bad by 1.0."
    assert second == "It is significantly better than both others (sign test, Holm's correction, p < 0.05)."


def test_some_of_the_others_are_worse() -> None:
    runs = {"x": BOTH, "y": {query: BOTH if i else ONE for i, query in enumerate(QUERIES)}, "z": NONE}
    assert sentences(runs)[1].startswith("It is significantly better than 1 of the 2 others (")


def test_the_best_mean_need_not_differ_where_others_do() -> None:
    lucky = {query: BOTH if i < 2 else NONE for i, query in enumerate(QUERIES)}
    made = sentences({"lucky": lucky, "even": [*"stuvwxyza"], "low": [*"stuvwxyzABCDEFGHa"]}, "AP")
    assert made[:2] == [
        "lucky has the highest mean AP, 0.2500, ahead of even by 0.1944.",
        "It is not significantly better than any other run, though some pairs of runs differ (sign test, Holm's "
        "correction, p < 0.05).",
    ]


def test_ties_at_the_top_are_shared() -> None:
    assert sentences({"x": BOTH, "y": BOTH, "z": NONE})[:2] == [
        "x and y share the highest win rate under LexiRecall, 0.7500.",
        "2 of the 3 pairs of runs differ significantly (sign test, Holm's correction, p < 0.05).",
    ]


def test_of_many_that_share_the_top_a_few_are_named() -> None:
    runs = {f"run{i}": BOTH for i in range(6)} | {"low": NONE}
    assert sentences(runs)[0].startswith("run0, run1, run2 and 3 more share the highest win rate under LexiRecall, ")
    assert sentences({"x": BOTH, "y": BOTH})[:2] == [
        "Both runs have the same win rate under LexiRecall, 0.5000.",
        "The difference is not significant (sign test, Holm's correction, p < 0.05).",
    ]


def test_a_test_that_cannot_reject_is_named_as_such() -> None:
    few = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    made = sentences({"good": BOTH, "bad": ["b"], "worse": NONE}, qrels=few)
    assert (
        made[1] == "Under LexiRecall, no difference can be significant: on 2 queries the p of the sign test, corrected "
        "for 3 pairs, is at least 1 (alpha 0.05); it takes 7 untied queries."
    )
    assert "the p of the sign test is at least 0.5 " in sentences({"good": BOTH, "bad": NONE}, qrels=few)[1]


@pytest.mark.parametrize(("num_queries", "is_possible"), [(5, False), (6, True)])
def test_the_least_p_of_the_sign_test_is_that_of_its_best_outcome(num_queries: int, is_possible: bool) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(num_queries)}
    made = sentences({"good": ["a"], "bad": ["x"]}, qrels=qrels)
    assert made[1].startswith(
        "The difference is significant" if is_possible else "Under LexiRecall, no difference can be significant"
    )


def test_one_query_shows_nothing() -> None:
    made = sentences({"good": ["a"], "bad": ["x"]}, "AP", qrels={"q": {"a": 1}})
    assert made[1].startswith("Under AP, no difference can be significant: on 1 query the p of the sign test is")


def test_a_baseline() -> None:
    runs = {"x": BOTH, "base": ONE, "y": ["a"], "z": NONE}
    assert sentences(runs, baseline="base")[1] == (
        "Compared with the baseline base, 2 of the 3 others are significantly better and 1 significantly worse "
        "(sign test, Holm's correction, p < 0.05)."
    )
    assert sentences({"x": BOTH, "base": ONE}, baseline="base")[1].startswith(
        "Compared with the baseline base, the other run is significantly better ("
    )
    alike = {"x": {query: BOTH if i == 0 else ONE for i, query in enumerate(QUERIES)}, "base": ONE}
    assert sentences(alike, baseline="base")[1].startswith(
        "Under LexiRecall, no run differs significantly from the baseline base ("
    )


def test_one_run() -> None:
    assert sentences({"only": ONE}, "AP") == [
        "only finds 8 of 16 relevant documents (50.0 %), and everything on none of the queries.",
        "There is only one run, so nothing is compared.",
    ]


def test_nothing_relevant_is_found() -> None:
    qrels = {query: {"a": 1, "b": 1, "x": 0} for query in QUERIES}
    assert sentences({"x": NONE, "y": ["x"]}, qrels=qrels) == [
        "Both runs have the same win rate under LexiRecall, 0.5000.",
        "The difference is not significant (sign test, Holm's correction, p < 0.05).",
        "No run finds any of the 16 relevant documents.",
    ]
    assert sentences({"x": NONE}, "AP", qrels=qrels)[0] == "x does not find any of the 16 relevant documents."


def test_a_share_short_of_all_is_not_rounded_to_all() -> None:
    documents = [f"d{i}" for i in range(3000)]
    qrels = {"q": dict.fromkeys(documents, 1)}
    assert "2,999 of 3,000 relevant documents (99.9 %)" in sentences({"x": documents[:-1]}, "AP", qrels=qrels)[0]
    assert "1 of 3,000 relevant documents (< 0.1 %)" in sentences({"x": documents[:1]}, "AP", qrels=qrels)[0]


def test_what_lies_below_the_depth_is_not_found() -> None:
    made = sentences({"x": ["u", "a", "b"], "y": NONE}, depth=2)
    assert made[2] == (
        "x finds 8 of 16 relevant documents (50.0 %) within its first 2 documents, and everything on none of the "
        "queries; 8 relevant documents are found by no run."
    )


def test_unanswered_queries_are_the_caveat_that_comes_first() -> None:
    partial = dict.fromkeys(QUERIES[:5], BOTH)
    assert sentences({"full": BOTH, "part": partial})[-1] == (
        "part does not answer 3 of 8 queries, which count as nothing found."
    )
    made = sentences({"full": ONE, "part": partial}, queries="intersection")
    assert made[-1] == "part does not answer 3 of 8 queries, which are left out of the means."
    assert "part finds all 10 relevant documents of the queries that it answers;" in made[2]


def test_runs_without_a_judged_document_are_the_gravest() -> None:
    runs = {"good": BOTH, "odd": dict.fromkeys(QUERIES[:5], NONE)}
    assert sentences(runs)[-1] == "odd retrieves no judged document: check that the ids are written the same way."


def test_a_leaderboard_in_another_order_is_explained() -> None:
    often = ["x", "a", "b"]
    rare = {query: ["a", "b"] if i < 3 else ["x", "y", "a", "b"] for i, query in enumerate(QUERIES)}
    made = sentences({"often": often, "rare": rare}, "AP")
    assert made[0].startswith("rare has the highest mean AP, ")
    assert (
        made[-1]
        == "often comes first on the leaderboard, because it wins the most comparisons under AP, query by query."
    )


def test_hundreds_of_runs() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(30)}
    runs = {f"run{i:03}": {query: ONE if (i + j) % 9 else BOTH for j, query in enumerate(qrels)} for i in range(200)}
    made = sentences(runs | {"best": ["b", "a"]}, qrels=qrels)
    assert made[0].startswith("best has the highest win rate under LexiRecall, 0.94")
    assert made[1] == "It is significantly better than all 200 others (sign test, Holm's correction, p < 0.05)."
    few = sentences({name: {query: own[query] for query in QUERIES} for name, own in runs.items()})
    assert few[1].endswith("corrected for 19,900 pairs, is at least 1 (alpha 0.05); it takes 20 untied queries.")


@quick(40)
@given(collections())
def test_a_headline_can_be_written_of_whatever_can_be_evaluated(collection: Collection) -> None:
    assume(any(grade >= 1 for grades in collection.qrels.values() for grade in grades.values()))
    made = sentences(collection.runs, ["AP", "LastRel"], collection.qrels, **collection.given_size)
    assert 2 <= len(made) <= 4
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in made)

"""pref_eval's JSON lines: its keys, its order, its names, and what its own reader makes of them."""

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies

import naive
from command import Command
from lexirecall import evaluate, project, rank
from lexirecall.adapters.pref_eval import aggregate, in_our_words, name_in_pref_eval, ordered_on_each, prefer
from lexirecall.errors import UsageError
from lexirecall.names import parse_names
from lexirecall.preferences import Pairs
from strategies import quick

QRELS = {"q1": {"a": 1, "b": 1}, "none": {"a": 0}, "q2": {"c": 2}}
RUNS = {"x": {"q1": ["a", "b"], "q2": ["z", "c"]}, "y": {"q1": ["a", "z", "b"], "q2": ["c"]}, "w": {"q1": ["a", "b"]}}
GOOD = {
    "qrels.txt": b"q1 0 a 1\nq1 0 b 1\n",
    "x.run": b"q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n",
    "y.run": b"q1 Q0 b 1 2 t\n",
}


def lines(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in str(prefer(*arguments, **options)).splitlines()]


def test_the_lines_have_the_keys_and_the_order_of_the_reference() -> None:
    found = lines(QRELS, {name: RUNS[name] for name in ("x", "y")}, ["lexirecall", "rpp", "rr"])
    head = {"runi": "x", "runj": "y", "sample": 0}
    assert found == [
        {"qid": "q1", **head, "type": "preference", "lexirecall": 1, "rpp": 0.5, "rr": 0.0},
        {"qid": "q1", "run": "x", "sample": 0, "type": "metric", "rr": 1.0},
        {"qid": "q1", "run": "y", "sample": 0, "type": "metric", "rr": 1.0},
        {"qid": "q2", **head, "type": "preference", "lexirecall": -1, "rpp": -1.0, "rr": -0.5},
        {"qid": "q2", "run": "x", "sample": 0, "type": "metric", "rr": 0.5},
        {"qid": "q2", "run": "y", "sample": 0, "type": "metric", "rr": 1.0},
        {"qid": "all", **head, "lexirecall": 0.0, "rpp": -0.25, "rr": -0.25},
    ]
    assert [list(line) for line in found[:2]] == [
        ["qid", "runi", "runj", "sample", "type", "lexirecall", "rpp", "rr"],
        ["qid", "run", "sample", "type", "rr"],
    ]


def test_within_a_query_a_run_is_compared_with_the_later_ones_and_then_has_its_own_line() -> None:
    found = [line for line in lines(QRELS, RUNS, ["lexirecall", "ap"]) if line["qid"] == "q1"]
    assert [line.get("run") or line["runi"] + line["runj"] for line in found] == ["xy", "xw", "x", "yw", "y", "w"]


def test_preferences_alone_have_no_lines_of_single_runs() -> None:
    assert {line.get("type") for line in lines(QRELS, RUNS, ["lexirecall", "dcgrpp"])} == {"preference", None}


def test_a_run_that_lacks_a_query_has_found_nothing() -> None:
    found = [line for line in lines(QRELS, RUNS, ["lexirecall", "ap"]) if line["qid"] == "q2"]
    assert [line["lexirecall"] for line in found if "runi" in line] == [-1, 1, 1]
    assert [line["ap"] for line in found if line.get("run") == "w"] == [0.0]


def test_queries_and_means_can_be_had_alone() -> None:
    preferences = prefer(QRELS, RUNS, ["ap"])
    assert {json.loads(line)["qid"] for line in preferences.to_text(per_query=False).splitlines()} == {"all"}
    assert {json.loads(line)["qid"] for line in preferences.to_text(summary=False).splitlines()} == {"q1", "q2"}
    assert preferences.to_text(per_query=False, summary=False) == ""


def test_measures_have_the_names_of_the_reference_where_it_has_them() -> None:
    names = "lexirecall lexiprecision rrlexiprecision rpp invrpp dcgrpp ap ap@5 rr rr@5 ndcg ndcg@5 p@1 r@10"
    assert [name_in_pref_eval(row) for row in parse_names(names)] == names.split()
    assert name_in_pref_eval(parse_names("Rprec")[0]) == "rp"


def test_its_rbp_has_another_persistence_so_that_ours_says_which() -> None:
    names = {"RBP(p=0.5)": "rbp", "RBP": "rbp@0.8", "RBP(p=0.5)@10": "rbp@0.5,10", "RBP(p=0.95)": "rbp@0.95"}
    assert {name: name_in_pref_eval(parse_names(name)[0]) for name in names} == names


def test_its_own_names_mean_what_they_mean_there() -> None:
    found = lines(QRELS, {"x": RUNS["x"], "y": RUNS["y"]}, ["rp", "rbp", "rbp@0.9,1", "rbp@0.9"])
    values = {name: value for name, value in found[1].items() if name.startswith("r") and name != "run"}
    assert values == pytest.approx({"rp": 1.0, "rbp": 0.75, "rbp@0.9,1": 0.1, "rbp@0.9": 0.19})
    assert set(found[-1]) == {"qid", "runi", "runj", "sample", "rp", "rbp", "rbp@0.9,1", "rbp@0.9"}


def test_ours_in_capitals_and_those_of_ranx_stay_what_they_are() -> None:
    names = ["RBP", "RBP@10", "RBP(p=0.5)@10", "rbp.95", "ap rr", "Rprec", parse_names("AP")[0]]
    assert in_our_words(names) == names
    assert in_our_words("rbp,rp rbp@0.5,3,rr") == ["RBP(p=0.5),Rprec RBP(p=0.5)@3,rr"]
    with pytest.raises(UsageError, match="RBP: p is 10"):
        prefer(QRELS, RUNS, ["rbp@10"])


def test_the_command_takes_its_names_too(command: Command) -> None:
    outcome = command("compare", "qrels.txt", "x.run", "y.run", "-m", "rbp", "-m", "rbp@0.9,10", "-f", "pref_eval")
    assert outcome.code == 0
    assert set(json.loads(outcome.out.splitlines()[-1])) >= {"rbp", "rbp@0.9,10"}


SIZES = strategies.fractions(-1, 1, max_denominator=4)


@strategies.composite
def sizes_of_preferences(draw: strategies.DrawFn) -> tuple[list[list[list[Fraction]]], list[set[int]]]:
    """Draw who prefers whom by how much, and who takes part, on each of some queries."""
    size, num_queries = draw(strategies.integers(2, 5)), draw(strategies.integers(1, 4))
    present = [draw(strategies.sets(strategies.integers(0, size - 1))) for _ in range(num_queries)]
    values = [[[Fraction(0)] * size for _ in range(size)] for _ in range(num_queries)]
    for q, members in enumerate(present):
        for a, b in combinations(sorted(members), 2):
            values[q][a][b] = draw(SIZES)
            values[q][b][a] = -values[q][a][b]
    return values, present


@quick(100)
@given(sizes_of_preferences())
def test_on_each_query_the_sums_of_preferences_decide(
    drawn: tuple[list[list[list[Fraction]]], list[set[int]]],
) -> None:
    values, present = drawn
    size = len(values[0])
    taking_part = np.array([[s in members for members in present] for s in range(size)])
    pairs = Pairs(
        "",
        (*"abcde"[:size],),
        (*map(str, range(len(values))),),
        np.moveaxis(np.array(values, float), 0, 2),
        taking_part,
    )
    expected = [naive.ordered_on_each(v, members) for v, members in zip(values, present, strict=True)]
    assert np.moveaxis(ordered_on_each(pairs).values, 2, 0).tolist() == expected


def points_from_lines(text: str, measure: str) -> dict[str, float]:
    """Add up the preferences of each run and query, as pref_aggregate.py does; half a point each for equal sums."""
    sums: dict[str, dict[str, float]] = {}
    for line in map(json.loads, text.splitlines()):
        if line["qid"] != "all":
            of_query = sums.setdefault(line["qid"], {})
            for name, sign in (("runi", 1), ("runj", -1)):
                of_query[line[name]] = of_query.get(line[name], 0) + sign * line[measure]
    points: dict[str, float] = {}
    for of_query in sums.values():
        rounded = {run: round(total, 9) for run, total in of_query.items()}
        for run, own in rounded.items():
            beaten = sum((own > other) + (own == other) / 2 for other in rounded.values()) - 0.5
            points[run] = points.get(run, 0) + beaten
    return points


@pytest.mark.parametrize("measure", ["rpp", "invrpp", "dcgrpp", "lexirecall"])
def test_points_are_those_of_the_orders_of_queries(measure: str) -> None:
    for seed in range(20):
        qrels, runs = judged_and_ranked(seed)
        qrels["q0"]["d0"] = 1
        ranking = aggregate(qrels, runs, measure, method="borda")
        expected = points_from_lines(prefer(qrels, runs, [measure]).to_text(), measure)
        assert {row["run"]: row["score"] for row in ranking.rows()} == expected


def test_ordering_first_can_change_the_order_of_rpp() -> None:
    changed = 0
    for seed in range(60):
        qrels, runs = judged_and_ranked(seed)
        qrels["q0"]["d0"] = 1
        changed += aggregate(qrels, runs, "rpp").to_dict() != rank(qrels, runs, "rpp", method="mc4").to_dict()
        assert aggregate(qrels, runs, "LexiRecall").to_dict() == rank(qrels, runs, method="mc4").to_dict()
    assert changed > 0


def test_what_cannot_be_ordered_first_is_refused() -> None:
    with pytest.raises(UsageError, match="AP has a value for each run"):
        aggregate(QRELS, RUNS, "AP")
    with pytest.raises(UsageError, match="method is 'leximin', but must be one of winrate, borda"):
        aggregate(QRELS, RUNS, method="leximin")
    with pytest.raises(UsageError, match="only one run"):
        aggregate(QRELS, {"x": RUNS["x"]})


def test_what_it_does_not_have_keeps_our_name() -> None:
    names = ["TSE", "AP(rel=2)", "nDCG(dcg='exp-log2')@10", "RPP(graded=True)", "LastRel", "RBP(rel=2,p=0.5)"]
    assert [name_in_pref_eval(row) for row in parse_names(names)] == [str(row) for row in parse_names(names)]


def test_lower_is_better_too_where_it_is_and_an_undefined_value_is_null() -> None:
    found = lines({"q": {"a": 1}, "r": {"b": 1}}, {"x": {"q": ["a"], "r": []}, "y": {"q": ["z", "a"]}}, ["LastRel"])
    assert [line["LastRel"] for line in found if line["qid"] == "q"] == [1.0, 1.0, 2.0]
    assert [line for line in found if line["qid"] == "r" and "run" in line] == []


def test_one_run_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(UsageError, match="only one run"):
        prefer(QRELS, {"x": RUNS["x"]}, ["AP"])


def test_names_with_a_colon_stay_whole() -> None:
    found = lines(QRELS, {"X:1": RUNS["x"], "Y:2": RUNS["y"]}, ["lexirecall"])
    assert {(line["runi"], line["runj"]) for line in found} == {("X:1", "Y:2")}


def test_an_unknown_measure_is_an_error_and_no_tie() -> None:
    with pytest.raises(UsageError, match="did you mean 'LexiRecall'"):
        prefer(QRELS, RUNS, ["lexirecal"])


def test_rr_with_a_cut_off_is_a_preference_like_any_other() -> None:
    found = lines({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["z", "a"]}}, ["rr@10"])
    assert [line["rr@10"] for line in found if "runi" in line] == [0.5, 0.5]


def test_graded_preferences_are_there_by_a_name_of_their_own() -> None:
    """The reference computes the binary value of this example, whatever the grades."""
    grades = {"q": {"a": 2, "b": 1, "c": 1}}
    runs = {"X": {"q": ["b", "c", "a", "n"]}, "Y": {"q": ["a", "n", "b", "c"]}}
    found = lines(grades, runs, ["rpp", "RPP(graded=True)"])[0]
    assert (round(found["rpp"], 3), round(found["RPP(graded=True)"], 3)) == (0.667, 0.25)


def judged_and_ranked(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]]]:
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    documents = [f"d{i}" for i in range(12)]
    qrels = {f"q{i}": {d: chance.choice((0, 0, 1, 2)) for d in documents[: chance.randint(1, 9)]} for i in range(5)}
    runs = {
        name: {q: chance.sample(documents, chance.randint(0, 12)) for q in qrels if chance.random() < 0.9}
        for name in "abc"
    }
    runs["a"]["q0"] = documents
    return qrels, {name: run or {"q0": []} for name, run in runs.items()}


@given(strategies.integers(0, 10_000))
def test_signs_and_means_are_those_of_the_definitions(seed: int) -> None:
    qrels, runs = judged_and_ranked(seed)
    qrels["q0"]["d0"] = 1
    found = [
        json.loads(line) for line in prefer(project(qrels, runs), measures=["lexirecall", "AP"]).to_text().split("\n")
    ]
    signs: dict[tuple[str, str], list[int]] = {}
    for qid, grades in qrels.items():
        relevant = [d for d, grade in grades.items() if grade > 0]
        for first, second in combinations(runs, 2) if relevant else ():
            vectors = [placed(runs[name].get(qid, []), relevant) for name in (first, second)]
            signs.setdefault((first, second), []).append(naive.lexirecall(*vectors))
    asked = {pair: [line for line in found if (line.get("runi"), line.get("runj")) == pair] for pair in signs}
    for pair, expected in signs.items():
        *queries, mean = asked[pair]
        assert [line["lexirecall"] for line in queries] == expected
        assert mean["qid"] == "all"
        assert mean["lexirecall"] == pytest.approx(sum(expected) / len(expected))
        assert mean["ap"] == pytest.approx(sum(line["ap"] for line in queries) / len(queries))


def placed(ranking: list[str], relevant: list[str]) -> list[float]:
    return sorted(ranking.index(d) + 1 if d in ranking else float("inf") for d in relevant)


def test_lines_of_single_runs_hold_the_values_of_evaluate() -> None:
    qrels, runs = judged_and_ranked(7)
    scores = evaluate(qrels, runs, ["AP", "nDCG"]).to_dict(per_query=True)
    found = [line for line in lines(qrels, runs, ["ap", "ndcg"]) if "run" in line]
    assert len(found) > 3
    assert all(scores[line["run"]][line["qid"]] == {"AP": line["ap"], "nDCG": line["ndcg"]} for line in found)


def read_as_its_aggregator_does(text: str, measure: str) -> Iterator[tuple[str, str, float]]:
    """What pref_aggregate.py takes from a file: lines of queries, preferences by pair and metrics by run."""
    for line in map(json.loads, text.splitlines()):
        if line["qid"] != "all" and line["sample"] == 0:
            wanted = "metric" if measure in ("ap", "rr") else "preference"
            if line["type"] == wanted:
                yield (
                    line["qid"],
                    line["run"] if wanted == "metric" else f"{line['runi']}:{line['runj']}",
                    line[measure],
                )


def test_the_lines_are_what_its_aggregator_reads() -> None:
    text = str(prefer(QRELS, RUNS, ["lexirecall", "ap"]))
    assert len(list(read_as_its_aggregator_does(text, "lexirecall"))) == 6
    assert len(list(read_as_its_aggregator_does(text, "ap"))) == 6


def test_the_command_writes_the_lines(command: Command, tmp_path: Path) -> None:
    outcome = command("compare", "qrels.txt", "x.run", "y.run", "-m", "LexiRecall", "-f", "pref_eval")
    assert outcome.code == 0
    assert [json.loads(line)["lexirecall"] for line in outcome.out.splitlines()] == [1, 1.0]
    command("compare", "qrels.txt", "x.run", "y.run", "-m", "LexiRecall", "-f", "pref_eval", "-o", "prefs.json")
    assert (tmp_path / "prefs.json").read_text() == outcome.out


@pytest.mark.parametrize("option", [("--baseline", "x.run"), ("--test", "t"), ("--show", "pairs"), ("--alpha", "0.05")])
def test_an_option_that_the_lines_have_no_place_for_is_an_error(option: tuple[str, str], command: Command) -> None:
    outcome = command("compare", "qrels.txt", "x.run", "y.run", "-f", "pref_eval", *option)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{option[0]} does not work with -f pref_eval" in outcome.err


def test_signs_of_a_preference_are_whole_numbers_and_its_means_are_not() -> None:
    *queries, mean = str(prefer(QRELS, {"x": RUNS["x"], "w": RUNS["w"]}, ["LexiRecall"])).splitlines()
    assert [line[-16:] for line in queries] == ['"lexirecall": 0}', '"lexirecall": 1}']
    assert mean.endswith('"lexirecall": 0.5}')

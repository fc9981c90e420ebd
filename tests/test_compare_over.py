"""Comparing runs in other numbers than the mean, and in groups of queries."""

import json
import math
from typing import Any

import numpy as np
import pytest

from command import Command
from lexirecall import compare, evaluate, project
from lexirecall.errors import UsageError
from lexirecall.results import Comparison
from lexirecall.statistics import correct
from lexirecall.statistics.queryaggregate import QueryAggregate, over_queries
from lexirecall.verbs.pairparts import TAIL_TEST

SIZE = 24
DRAW = np.random.Generator(np.random.PCG64(11))
QRELS = {f"q{q}": {f"d{i}": 1 for i in range(4)} for q in range(SIZE)}


def _ranking(skill: float) -> list[str]:
    found = [f"d{i}" for i in range(4) if DRAW.random() < skill]
    return ["x", *found] if DRAW.random() < 0.5 else [*found, "x"]


RUNS: dict[str, Any] = {
    name: {q: _ranking(skill) for q in QRELS} for name, skill in {"a": 0.9, "b": 0.6, "c": 0.5}.items()
}
BY = {query: ("first", "second", "third")[q % 3] for q, query in enumerate(QRELS)} | {"q0": "tiny"}
del BY["q1"]
GOOD = {
    "qrels": "".join(f"{q} 0 {d} 1\n" for q, judged in QRELS.items() for d in judged).encode(),
    "types": "".join(f"{query}\t{group}\n" for query, group in BY.items()).encode(),
    **{
        name: "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()
        for name, run in RUNS.items()
    },
}
FILES = ("qrels", "a", "b", "c")


def rows_of(comparison: Comparison, **wanted: object) -> list[dict[str, Any]]:
    return [row for row in comparison.rows() if all(row[name] == value for name, value in wanted.items())]


def kinds(comparison: Comparison) -> set[str]:
    return {note.kind for note in comparison.notes}


# Over


def test_without_over_and_by_nothing_changes() -> None:
    plain = list(compare(QRELS, RUNS, ["AP"]).rows())
    assert "over" not in plain[0]
    assert "difference" not in plain[0]
    with_mean = list(compare(QRELS, RUNS, ["AP"], over="mean").rows())
    assert [{name: row[name] for name in plain[0]} for row in with_mean] == plain
    assert all(row["difference"] == row["mean"] and row["over"] == "mean" for row in with_mean)


@pytest.mark.parametrize("over", ["median", "min", "quantile:0.25", "tail:0.1", "tail:0.90"])
@pytest.mark.parametrize(("measure", "direction"), [("AP", 1), ("LastRel", -1)])
def test_a_difference_is_that_of_the_numbers_that_eval_prints(over: str, measure: str, direction: int) -> None:
    rows = list(compare(QRELS, RUNS, [measure], over=[over], corpus_size=9).rows())
    numbers = evaluate(QRELS, RUNS, [measure], over=[over], corpus_size=9).to_dict()
    assert [(row["a"], row["b"]) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    for row in rows:
        expected = direction * (numbers[row["a"]][over][measure] - numbers[row["b"]][over][measure])
        assert row["difference"] == pytest.approx(expected, abs=1e-12)
        assert (row["over"], row["mean"], row["queries"]) == (over, None, SIZE)
        is_tested = over == "tail:0.90"  # 22 queries; 3 are too few
        assert {row[name] is not None for name in ("p", "p_corrected")} == {is_tested}
        assert not is_tested or (row["low"] <= row["difference"] <= row["high"] and row["p_corrected"] >= row["p"])
        assert {row[name] is not None for name in ("low", "high")} == {is_tested or over == "median"}
        assert (row["estimate"] is not None) == (over == "median")
        assert over != "median" or row["low"] <= row["estimate"] <= row["high"]


def test_over_replaces_the_mean_unless_it_is_named_and_keeps_the_order_asked_for() -> None:
    comparison = compare(QRELS, RUNS, ["AP"], over=["tail:0.1", "mean"])
    assert [row["over"] for row in rows_of(comparison, a="a", b="b")] == ["tail:0.1", "mean"]
    assert {row["over"] for row in compare(QRELS, RUNS, ["AP"], over=["min"]).rows()} == {"min"}


def test_a_test_of_tails_agrees_with_its_interval_and_regards_all_pairs() -> None:
    rows = list(compare(QRELS, RUNS, ["AP"], over="tail:0.5", alpha=0.05).rows())
    for row in rows:
        assert (row["p"] < 0.05) == (row["low"] > 0 or row["high"] < 0)
        assert (row["test"], row["correction"]) == (TAIL_TEST, "holm")
    assert [row["p_corrected"] for row in rows] == pytest.approx(correct([row["p"] for row in rows]).tolist())
    wide = list(compare(QRELS, RUNS, ["AP"], over="tail:0.5", alpha=0.01).rows())
    assert all(row["low"] < narrow["low"] for row, narrow in zip(wide, rows, strict=True))


def test_what_has_no_interval_is_told() -> None:
    notes = {
        note.kind: note.text for note in compare(QRELS, RUNS, ["AP"], over=["quantile:0.5", "min", "tail:0.1"]).notes
    }
    assert notes["differences without an interval"].startswith("differences in quantile:0.5, min have no interval")
    assert notes["few queries in the tail"] == (
        "no interval and no test of tails of fewer than 5 queries (tail:0.1 3): take a larger share"
    )


def test_resamples_have_no_place_beside_other_numbers() -> None:
    for options in ({"over": "median"}, {"by": BY}):
        with pytest.raises(UsageError, match="bootstrap adds intervals to the table of runs"):
            compare("gone.qrels", ["gone1", "gone2"], ["AP"], bootstrap=99, **options)


def test_a_baseline_leaves_the_pairs_with_it() -> None:
    comparison = compare(QRELS, RUNS, ["AP"], baseline="b", over=["tail:0.2"], by=BY)
    assert {(row["a"], row["b"]) for row in comparison.rows()} == {("a", "b"), ("b", "c")}


def test_each_pair_is_compared_on_the_queries_that_both_answer() -> None:
    runs = {**RUNS, "less": {query: RUNS["a"][query] for query in list(QRELS)[:9]}}
    comparison = compare(QRELS, runs, ["AP"], over="tail:0.2", queries="intersection")
    (row,) = rows_of(comparison, a="a", b="less")
    assert (row["difference"], row["low"], row["high"], row["queries"]) == (0, None, None, 9)
    assert {row["queries"] for row in rows_of(comparison, b="c")} == {SIZE}


def test_a_preference_has_no_worst_queries_of_its_own() -> None:
    comparison = compare(QRELS, RUNS, ["LexiRecall", "AP"], over=["mean", "tail:0.1"])
    assert {row["over"] for row in rows_of(comparison, measure="LexiRecall")} == {"mean"}
    assert "preferences over queries" in kinds(comparison)
    with pytest.raises(UsageError, match="LexiRecall compares two rankings of one query") as caught:
        compare("gone.qrels", ["gone1", "gone2"], ["LexiRecall"], over="tail:0.1")
    assert "-m R@1000" in caught.value.remedy


def test_numbers_that_fall_on_what_was_not_retrieved_are_undefined_and_told() -> None:
    comparison = compare(QRELS, RUNS, ["LastRel"], over=["tail:0.1", "min"])
    assert {row["difference"] for row in rows_of(comparison, over="tail:0.1")} == {None}
    assert None not in {row["difference"] for row in rows_of(comparison, over="min")}
    assert {"undefined differences", "differences without an interval", "infinitely deep"} <= kinds(comparison)


# Groups


def test_groups_have_their_mean_differences_with_intervals_the_lowest_first() -> None:
    comparison = compare(QRELS, RUNS, ["AP"], by=BY)
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        whole, *groups = rows_of(comparison, a=a, b=b)
        assert whole["group"] is None
        assert sorted(row["group"] for row in groups) == ["first", "second", "third"]
        assert [row["difference"] for row in groups] == sorted(row["difference"] for row in groups)
        for row in groups:
            own = {query: judged for query, judged in QRELS.items() if BY.get(query) == row["group"]}
            runs = {name: {query: RUNS[name][query] for query in own} for name in (a, b)}
            (alone,) = compare(own, runs, ["AP"]).rows()
            for name in ("mean", "wins", "ties", "losses", "queries", "low", "high"):
                assert row[name] == alone[name]
            assert (row["p"], row["p_corrected"], row["interaction_p"]) == (None, None, None)


def test_other_numbers_in_a_group_are_those_of_its_queries() -> None:
    comparison = compare(QRELS, RUNS, ["AP"], by=BY, over=["tail:0.3"])
    values = evaluate(QRELS, RUNS, ["AP"]).values
    of_group = [q for q, query in enumerate(QRELS) if BY.get(query) == "second"]
    tails = over_queries(values[:, of_group], QueryAggregate.parse("tail:0.3"))[:, 0]
    (row,) = rows_of(comparison, a="a", b="c", group="second")
    assert row["difference"] == pytest.approx(tails[0] - tails[2], abs=1e-12)
    assert row["queries"] == len(of_group)
    assert "interaction not tested" in kinds(comparison)


def test_small_groups_and_queries_without_one_are_counted() -> None:
    notes = {note.kind: note.count for note in compare(QRELS, RUNS, ["AP"], by=BY).notes}
    assert (notes["small groups"], notes["without group"]) == (1, 1)
    shown = {row["group"] for row in compare(QRELS, RUNS, ["AP"], by=BY, min_queries=1).rows()}
    assert shown == {None, "first", "second", "third", "tiny"}


def test_a_difference_that_depends_on_the_group_is_found() -> None:
    by = {query: "even" if q % 2 else "odd" for q, query in enumerate(QRELS)}
    good, bad = ["d0", "d1", "d2", "d3"], ["x", "d0"]
    one = {query: good if group == "even" else bad for query, group in by.items()}
    two = {query: bad if group == "even" else good for query, group in by.items()}
    (whole, *_) = compare(QRELS, {"one": one, "two": two, "three": RUNS["a"]}, ["AP", "LexiRecall"], by=by).rows()
    assert whole["mean"] == pytest.approx(0, abs=1e-12)
    assert whole["interaction"] == pytest.approx(1)
    assert whole["interaction_p"] == pytest.approx(1 / 10_001)
    assert whole["interaction_p_corrected"] == pytest.approx(3 / 10_001)


def test_the_number_of_ways_to_hand_out_groups_can_be_set() -> None:
    rows = list(compare(QRELS, RUNS, ["AP"], by=BY, num_resamples=19, correction="none").rows())
    found = [row["interaction_p"] for row in rows if row["interaction_p"] is not None]
    assert len(found) == 3
    assert all(math.isclose(20 * p, round(20 * p)) for p in found)


def test_too_few_resamples_for_any_interaction_are_told() -> None:
    comparison = compare(QRELS, RUNS, ["AP"], by=BY, num_resamples=50)
    assert "no interaction can be significant" in kinds(comparison)


def test_groups_and_pairs_that_are_not_tested_are_told() -> None:
    small = {query: QRELS[query] for query in list(QRELS)[:14]}
    by = dict(zip(small, "xxxxxxyyyyyzzz", strict=True))
    runs = {name: {query: run[query] for query in small} for name, run in RUNS.items()} | {"twin": RUNS["a"]}
    comparison = compare(small, runs, ["AP"], by=by, min_queries=2)
    said = {note.kind: note.text for note in comparison.notes}
    assert said["groups not tested"].startswith("groups in which a pair has fewer than 5 queries are left out")
    assert said["groups not tested"].endswith("(up to 1 group)")
    assert said["pairs without groups"] == "1 pair not tested for groups: 1 with equal differences"
    only = compare(small, RUNS, ["AP"], by=dict(zip(small, "xxxxyyyyzzzzww", strict=True)), min_queries=2)
    said = {note.kind: note.text for note in only.notes}
    assert said["groups not tested"].endswith("(up to 4 groups)")
    assert said["pairs without groups"] == "3 pairs not tested for groups: 3 without two groups of 5 queries"


def test_positions_and_frames_may_be_given() -> None:
    positions = project(QRELS, RUNS)
    rows = list(compare(positions, measures=["AP"], by=BY, over=["mean", "median"]).rows())
    assert rows == list(compare(QRELS, RUNS, ["AP"], by=BY, over=["mean", "median"]).rows())
    frame = compare(positions, measures=["AP"], by=BY, over=["mean", "median"]).to_pandas()
    assert list(frame.columns[:6]) == ["a", "b", "measure", "group", "over", "difference"]
    assert len(frame) == len(rows)


# What is printed


def test_the_table_lists_the_differences_and_whether_they_vary(command: Command) -> None:
    asked = ("-m", "AP", "--over", "mean", "--over", "tail:0.1", "--by", "types")
    outcome = command("compare", *FILES, *asked)
    assert outcome.code == 0
    header, *lines = outcome.out.splitlines()
    assert header.split() == [
        "a", "b", "measure", "group", "over", "queries", "difference", "low", "high", "p", "p_corrected",
    ]  # fmt: skip
    assert lines[0].split()[:7] == ["a", "b", "AP", "all", "queries", "mean", str(SIZE)]
    assert "does the difference vary by group?" in outcome.out
    assert str(compare(QRELS, RUNS, ["AP"], over=["mean", "tail:0.1"], by=BY)) == outcome.out.rstrip("\n")
    rows = [json.loads(line) for line in command("compare", *FILES, *asked, "-f", "jsonl").out.splitlines()]
    assert rows == list(compare(QRELS, RUNS, ["AP"], over=["mean", "tail:0.1"], by=BY).rows())
    assert command("compare", *FILES, *asked, "-f", "markdown").out.count("\n| --- |") == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--over", "tail:2"), "the share must be above 0 and at most 1"),
        (("--by", "types", "--show", "matrix"), "--show matrix is about mean differences"),
        (("--by", "types", "--show", "power"), "--show power is about mean differences"),
        (("--over", "median", "--bootstrap", "38"), "38 resamples are too few"),
        (("--over", "median", "--bootstrap", "99"), "bootstrap adds intervals to the table of runs"),
        (("--over", "median", "-f", "pref_eval"), "--over does not work with -f pref_eval"),
        (("--by", "types", "-o", "types"), "types"),
    ],
)
def test_what_is_asked_wrongly_is_refused(command: Command, asked: tuple[str, ...], message: str) -> None:
    outcome = command("compare", *FILES, "-m", "AP", *asked)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err

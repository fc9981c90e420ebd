"""Leximin over queries: the worst query decides, then the next, and runs with equal values share a rank."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import evaluate, rank
from lexirecall.errors import DataError, UsageError
from lexirecall.statistics import order_by_leximin
from lexirecall.statistics.leximin import deciding_query, worst_first
from strategies import Collection, collections, costly, quick

VALUES = (0.0, 0.1 + 0.2, 0.3, 0.5, 1.0, 7.0, math.inf)
DIRECTIONS = st.sampled_from([1, -1])
Table = list[list[float]]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Values of some runs on some queries, many of them equal, some only up to rounding."""
    size, num_queries = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    return draw(
        st.lists(st.lists(st.sampled_from(VALUES), min_size=num_queries, max_size=num_queries), min_size=size,
                 max_size=size)
    )  # fmt: skip


def ranks_of(table: Table, direction: int = 1) -> list[int]:
    return order_by_leximin(np.array(table), direction).ranks.tolist()  # type: ignore[no-any-return]


# The order


@given(table=tables(), direction=DIRECTIONS)
@quick(400)
def test_the_order_is_that_of_the_definition(table: Table, direction: int) -> None:
    assert ranks_of(table, direction) == naive.leximin_ranks(table, direction)


@given(table=tables(), direction=DIRECTIONS)
@quick(200)
def test_where_the_worst_values_differ_they_decide(table: Table, direction: int) -> None:
    order = order_by_leximin(np.array(table), direction)
    worst = np.nan_to_num(direction * order.scores, nan=-1e9)
    for s, t in np.argwhere(np.subtract.outer(worst, worst) > 1e-9).tolist():
        assert order.ranks[s] < order.ranks[t]


@given(table=tables(), direction=DIRECTIONS, times=st.integers(2, 4))
@quick(200)
def test_every_query_twice_or_more_changes_nothing(table: Table, direction: int, times: int) -> None:
    assert ranks_of([own * times for own in table], direction) == ranks_of(table, direction)


@given(table=tables(), direction=DIRECTIONS, data=st.data())
@quick(200)
def test_a_run_that_is_never_worse_and_once_better_is_above(table: Table, direction: int, data: st.DataObject) -> None:
    finite = [[value if math.isfinite(value) else 3.0 for value in own] for own in table]
    better = list(finite[0])
    better[data.draw(st.integers(0, len(better) - 1))] += 0.25 * direction
    ranks = ranks_of([*finite, better], direction)
    assert ranks[-1] < ranks[0]


@given(table=tables(), direction=DIRECTIONS, data=st.data())
@quick(200)
def test_neither_names_nor_the_order_of_queries_count(table: Table, direction: int, data: st.DataObject) -> None:
    mixed = [data.draw(st.permutations(own)) for own in table]
    moved = data.draw(st.permutations(range(len(table))))
    ranks = ranks_of(table, direction)
    assert ranks_of([mixed[s] for s in moved], direction) == [ranks[s] for s in moved]


@given(table=tables(), direction=DIRECTIONS)
@quick(200)
def test_the_order_is_complete_after_the_query_that_decides_last(table: Table, direction: int) -> None:
    places = worst_first(np.array(table), direction)
    last = deciding_query(places)
    different = [len({tuple(row[:k]) for row in places.tolist()}) for k in range(len(table[0]) + 1)]
    assert different[last] == different[-1]
    assert last == 0 or different[last - 1] < different[last]


def test_the_score_is_the_worst_value_and_nothing_if_that_is_infinite() -> None:
    order = order_by_leximin(np.array([[3.0, 9.0], [2.0, math.inf]]), -1)
    assert order.ranks.tolist() == [1, 2]
    assert order.scores[0] == 9
    assert np.isnan(order.scores[1])


def test_without_a_query_all_runs_are_equal() -> None:
    assert order_by_leximin(np.empty((3, 0))).ranks.tolist() == [1, 1, 1]


# The verb

QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(3)}
RUNS: dict[str, Any] = {
    "uneven": {"q0": ["a", "b"], "q1": ["a", "b"], "q2": ["x", "a", "b"]},  # the highest mean
    "even": {query: ["a", "x", "b"] for query in QRELS},
    "half": {"q0": ["a", "b"], "q1": ["a"], "q2": ["a", "b"]},
}

GOOD = {
    "qrels": "".join(f"{q} 0 {d} 1\n" for q, judged in QRELS.items() for d in judged).encode(),
    **{
        name: "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()
        for name, run in RUNS.items()
    },
}


@given(collection=collections(max_runs=4, with_size=True), name=st.sampled_from(["AP", "R@2", "LastRel", "TSE"]))
@costly(100)
def test_the_verb_orders_by_the_values_that_eval_prints(collection: Collection, name: str) -> None:
    try:
        scores = evaluate(collection.qrels, collection.runs, [name], **collection.given_size)
    except DataError:
        return
    if len(scores.runs) < 2:
        return
    values = scores.values[:, :, 0]
    due = ~np.isnan(evaluate(collection.qrels, collection.runs, ["AP"]).values).any(axis=(0, 2))
    table = np.where(np.isnan(values), np.inf, values)[
        :, due
    ].tolist()  # all queries are answered or count as the worst
    ranking = rank(collection.qrels, collection.runs, name, method="leximin", **collection.given_size)
    assert ranking.order.ranks.tolist() == naive.leximin_ranks(table, scores.measures[0].direction)


def test_the_worst_query_decides_and_not_the_mean() -> None:
    means = evaluate(QRELS, RUNS, ["AP"]).to_dict()
    assert means["uneven"]["AP"] > means["even"]["AP"]
    ranking = rank(QRELS, RUNS, "AP", method="leximin")
    assert [(row["run"], row["rank"], round(row["score"], 4)) for row in ranking.rows()] == [
        ("even", 1, 0.8333), ("uneven", 2, 0.5833), ("half", 3, 0.5),
    ]  # fmt: skip
    assert str(ranking).splitlines()[0].split() == ["run", "rank", "worst", "query"]


def test_what_was_not_retrieved_is_infinitely_deep() -> None:
    ranking = rank(QRELS, RUNS, "LastRel", method="leximin")
    assert [(row["run"], row["score"]) for row in ranking.rows()] == [("uneven", 3.0), ("even", 3.0), ("half", None)]
    assert "infinitely deep" in [note.kind for note in ranking.notes]
    assert str(ranking).splitlines()[3].split() == ["half", "3", "-"]


def test_queries_that_some_run_does_not_answer_are_left_out_if_they_do_not_count() -> None:
    runs = {**RUNS, "less": {"q0": ["x", "a", "b"], "q1": ["a", "b"]}}
    ranking = rank(QRELS, runs, "AP", method="leximin", queries="intersection")
    assert [row["run"] for row in ranking.rows()] == ["uneven", "even", "less", "half"]
    assert {note.kind: note.count for note in ranking.notes}["not common"] == 1
    assert [row["run"] for row in rank(QRELS, runs, "AP", method="leximin").rows()][-1] == "less"


def test_no_common_query_is_an_error() -> None:
    runs: dict[str, Any] = {"one": {"q0": ["a"]}, "two": {"q1": ["a"]}}
    with pytest.raises(DataError, match="no query has a value of AP for every run"):
        rank(QRELS, runs, "AP", method="leximin", queries="intersection")


def test_equal_worst_values_are_told() -> None:
    runs: dict[str, Any] = {
        name: {"q0": ["a", "b"], "q1": ["a"], "q2": own} for name, own in (("x", ["a", "b"]), ("y", ["b"]))
    }
    (note,) = (note for note in rank(QRELS, runs, "R@9", method="leximin").notes if note.kind == "equal worst")
    assert note.text == (
        "2 runs have the same worst value, and the next worst queries decide; the order is complete after the 2 worst "
        "of 3 queries"
    )


def test_what_has_no_values_or_cannot_be_resampled_is_refused_before_anything_is_read() -> None:
    for arguments, message in (
        ({}, "LexiRecall compares two rankings of one query\n  name a measure, such as -m R@1000"),
        ({"preference": "RPP"}, "RPP compares two rankings"),
        ({"preference": "AP", "bootstrap": 99}, "the bootstrap is not valid for leximin"),
    ):
        with pytest.raises(UsageError, match=message):
            rank("gone.qrels", ["gone1", "gone2"], method="leximin", **arguments)


def test_the_command_says_what_the_verb_says(command: Command) -> None:
    outcome = command("rank", "qrels", *RUNS, "-m", "AP", "--method", "leximin", "-f", "jsonl")
    assert [json.loads(line) for line in outcome.out.splitlines()] == [
        *rank(QRELS, RUNS, "AP", method="leximin").rows()
    ]
    refused = command("rank", "qrels", *RUNS, "--method", "leximin")
    assert (refused.code, refused.out) == (2, "")
    assert "-m R@1000" in refused.err

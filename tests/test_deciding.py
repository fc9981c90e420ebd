"""The queries that decide: the fewest that carry a mean difference, and those of the tails."""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Outcome
from lexirecall import explain
from lexirecall.errors import UsageError
from lexirecall.statistics.effectivequeries import deciding_queries, worst_queries
from lexirecall.statistics.queryaggregate import QueryAggregate
from strategies import quick

Command = Callable[..., Outcome]
DIFFERENCES = st.lists(st.sampled_from([0.0, 0.1, -0.1, 0.2, 0.3, -0.3, 1e-17, -1.0, 1.0]), max_size=9)

QRELS = {f"q{q}": {"a": 1} for q in range(10)}
NEW = {f"q{q}": ["a"] if q < 3 else ["x", "a"] for q in range(10)}
OLD = {f"q{q}": ["x", "y", "z", "a"] if q == 0 else ["x", "a"] for q in range(9)} | {"q9": ["a"]}
GOOD = {
    "qrels": "".join(f"{q} 0 a 1\n" for q in QRELS).encode(),
    **{
        name: "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()
        for name, run in (("new", NEW), ("old", OLD))
    },
}


@given(differences=DIFFERENCES)
@quick(300)
def test_no_fewer_queries_would_do(differences: list[float]) -> None:
    decisive = deciding_queries(np.array(differences)).tolist()
    assert len(decisive) == naive.fewest_deciding(differences)
    rest = math.fsum(d for q, d in enumerate(differences) if q not in decisive)
    assert rest * math.fsum(differences) <= 0
    assert len(set(decisive)) == len(decisive)


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=30), share=st.sampled_from(["0.1", "0.07", "1"]))
@quick(100)
def test_the_worst_share_has_the_lowest_values(values: list[float], share: str) -> None:
    worst = worst_queries(np.array(values), QueryAggregate.parse(f"tail:{share}"))
    assert [values[q] for q in worst] == naive.worst_share(values, share)


def test_queries_that_decide_are_listed_with_those_of_the_tails(command: Command) -> None:
    outcome = command("explain", "qrels", "new", "old", "-m", "RR")
    assert (
        outcome.out
        == """\
RR: 0.6500 for new and 0.5250 for old, as means over 10 queries. 2 queries decide: without them the mean difference \
would be 0 or reversed.

query     new     old  difference
q0     1.0000  0.2500     +0.7500
q1     1.0000  0.5000     +0.5000

Over its own worst 10 % of the queries (1 of 10), new has a mean of 0.5000 and old of 0.2500. The two tails have 0 \
queries in common.

6 more queries have the value 0.5000 in new, as the last of its tail has: the first ones in the order of the judgments \
are listed.

query     new     old  difference  among the worst of
q0     1.0000  0.2500     +0.7500  old
q3     0.5000  0.5000      0.0000  new
"""
    )


def test_rows_say_which_list_a_query_is_in(command: Command) -> None:
    printed = command("explain", "qrels", "new", "old", "-m", "RR", "-f", "jsonl").out
    rows = [json.loads(line) for line in printed.splitlines()]
    assert rows[0] == {
        "query": "q0", "value_a": 1.0, "value_b": 0.25, "difference": 0.75, "decides": True, "tail_a": False,
        "tail_b": True,
    }  # fmt: skip
    assert [row["query"] for row in rows if row["decides"]] == ["q0", "q1"]
    assert [abs(row["difference"]) for row in rows] == sorted((abs(row["difference"]) for row in rows), reverse=True)
    assert len(rows) == 10


def test_a_preference_has_no_tail_and_lower_is_better_where_it_is() -> None:
    runs = {"new": NEW, "old": OLD}
    by_sign = explain(QRELS, runs, measure="LexiRecall").deciding
    assert by_sign is not None
    assert [tail.tolist() for tail in by_sign.tails] == [[], []]
    assert "worst" not in str(by_sign)
    assert [by_sign.queries[q] for q in by_sign.decisive] == ["q0", "q1"]
    assert "the mean preference for new is 0.2000 over 10 queries. 2 queries decide" in by_sign.sentence()
    depths = explain(QRELS, runs, measure="SL1").deciding
    assert depths is not None
    assert depths.differences[0] == 3
    assert [depths.queries[depths.tails[s][0]] for s in (0, 1)] == ["q3", "q0"]


def test_queries_without_a_value_are_counted() -> None:
    runs = {"new": NEW, "lost": OLD | {"q5": ["x"]}}
    deciding = explain(QRELS, runs, measure="LastRel").deciding
    assert deciding is not None
    assert "over 9 queries. 1 query without a value: in no mean, and worse than all others. " in deciding.sentence()
    assert next(deciding.rows())["query"] == "q5"  # where one run alone has a value
    assert "q5" in [deciding.queries[q] for q in deciding.tails[1]]
    sized = explain(QRELS, runs, measure="LastRel", corpus_size=99).deciding
    assert sized is not None
    assert sized.num_undefined == 0


def test_equal_runs_are_decided_by_no_query() -> None:
    deciding = explain(QRELS, {"new": NEW, "same": NEW}, measure="AP").deciding
    assert deciding is not None
    assert deciding.decisive == []
    assert deciding.sentence().endswith("The mean difference is 0, so no query decides.")


def test_one_measure_is_explained_for_all_queries(command: Command) -> None:
    with pytest.raises(UsageError, match="there are 2 measures"):
        explain(QRELS, {"new": NEW, "old": OLD}, measure="AP RR")
    outcome = command("explain", "qrels", "new", "old", "-m", "RR", "--query", "q1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--query and -m are given together" in outcome.err

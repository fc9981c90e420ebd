"""Recorded stops: recall, cost and reliability, from depths in any of their forms."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import naive
from command import Command
from lexirecall import project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.labels.depths import load_depths
from lexirecall.labels.stops import Stops, evaluate_stops
from strategies import quick

DOCUMENTS = [f"d{i}" for i in range(8)]
QRELS = {"q1": {"d0": 1, "d3": 2, "d5": 0}, "q2": {"d1": 1, "d6": 1, "d7": 1}, "q3": {"d2": 0}}
RUNS = {
    "new": {"q1": ["d0", "d1", "d3", "d5"], "q2": ["d1", "d6", "d2", "d3", "d7"], "q3": ["d2"]},
    "old": {"q1": ["d5", "d3", "d0"], "q2": ["d7", "d0", "d1"]},
}
GOOD = {
    "qrels.txt": "".join(f"{q} 0 {d} {g}\n" for q, judged in QRELS.items() for d, g in judged.items()).encode(),
    **{
        f"{name}.run": "".join(
            f"{q} Q0 {d} {i} {-i} t\n" for q, documents in run.items() for i, d in enumerate(documents)
        ).encode()
        for name, run in RUNS.items()
    },
    "stops.txt": b"run query depth\nnew.run q1 3\nnew.run q2 2\nold.run q1 1\n",
}


rankings = st.permutations(DOCUMENTS).flatmap(lambda order: st.integers(1, 8).map(lambda size: list(order[:size])))


@quick(100)
@given(
    st.dictionaries(st.sampled_from(["q1", "q2", "q4"]), rankings, min_size=1),
    st.integers(0, 12),
    st.sampled_from([0.3, 0.5, 0.66, 2 / 3, 0.95, 1.0]),
)
def test_each_stop_is_as_its_definition_reads(run: Any, depth: int, wanted: float) -> None:
    qrels = QRELS | {"q4": dict.fromkeys(DOCUMENTS, 1)}
    made = evaluate_stops(qrels, run, stops=depth, wanted=wanted, corpus_size=12)
    assert [stop.query for stop in made.runs[0].stops] == [query for query in ("q1", "q2", "q4") if query in run]
    reached = []
    for stop in made.runs[0].stops:
        m, found, ideal = naive.stopped_at(run[stop.query], qrels[stop.query], depth, Fraction(repr(wanted)))
        assert (stop.relevant, stop.found, stop.ideal) == (m, found, ideal)
        assert stop.recall == found / m
        assert stop.saved == pytest.approx(found / m - depth / 12)
        assert stop.overshoot == (None if ideal is None else depth - ideal)
        reached.append(ideal is not None and depth >= ideal)
    assert made.runs[0].reached == sum(reached)
    low, high = made.runs[0].interval
    exact = stats.binomtest(sum(reached), len(reached)).proportion_ci(0.95)
    assert (low, high) == pytest.approx((exact.low, exact.high))


def as_rows(stops: Stops) -> list[dict[str, Any]]:
    return [*stops.rows()]


def test_depths_mean_the_same_in_every_form(tmp_path: Path) -> None:
    by_run = {"new": {"q1": 3, "q2": 3, "q3": 1}, "old": {"q1": 3, "q2": 3}}
    expected = as_rows(evaluate_stops(QRELS, RUNS, stops=by_run, wanted=0.6))
    assert as_rows(evaluate_stops(QRELS, RUNS, stops=3, wanted=0.6)) == expected
    assert as_rows(evaluate_stops(QRELS, RUNS, stops={"q1": 3, "q2": 3}, wanted=0.6)) == expected
    (tmp_path / "two.txt").write_text("# where they stopped\nq1 3\nq2 3\n")
    (tmp_path / "three.txt").write_text("run\tquery\tdepth\nnew\tq1\t3\nnew\tq2\t3\nold\tq1\t3\nold\tq2\t3\n")
    for name in ("two.txt", "three.txt"):
        assert as_rows(evaluate_stops(QRELS, RUNS, stops=tmp_path / name, wanted=0.6)) == expected
    assert as_rows(evaluate_stops(project(QRELS, RUNS), stops=3, wanted=0.6)) == expected
    (tmp_path / "cut").mkdir()
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} {i} {-i} t\n" for q, documents in run.items() for i, d in enumerate(documents[:3]))
        (tmp_path / "cut" / name).write_text("".join(lines))
    assert as_rows(evaluate_stops(QRELS, RUNS, stops=tmp_path / "cut", wanted=0.6)) == expected
    alone = evaluate_stops(QRELS, stops=tmp_path / "cut", wanted=0.6, corpus_size=8)
    whole = evaluate_stops(QRELS, RUNS, stops=3, wanted=0.6, corpus_size=8)
    keys = ("run", "recall", "reliability", "depth", "share", "saved")
    assert [[run.row()[key] for key in keys] for run in alone.runs] == [
        [run.row()[key] for key in keys] for run in whole.runs
    ]
    with pytest.raises(UsageError, match="the size of the corpus is not known"):
        evaluate_stops(QRELS, stops=tmp_path / "cut")


def test_a_run_is_summed_up() -> None:
    (new, old) = evaluate_stops(QRELS, RUNS, stops={"new": {"q1": 4, "q2": 2}, "old": {"q1": 3, "q2": 1}}).runs
    row = new.row()
    assert (row["recall"], row["recall_min"], row["worst_query"]) == (pytest.approx(5 / 6), pytest.approx(2 / 3), "q2")
    assert (row["reached"], row["reliability"], row["depth"]) == (1, 0.5, 3.0)
    assert row["share"] == pytest.approx((4 / 4 + 2 / 5) / 2)
    assert row["overshoot"] == 1  # of q1, which reaches everything at 3; q2 stops before
    assert [stop.overshoot for stop in old.stops] == [0, None]  # q2 never finds all


def test_what_is_left_out_is_counted() -> None:
    made = evaluate_stops(QRELS, RUNS, stops={"new": {"q1": 2, "zz": 9}, "other": {"q1": 3}})
    assert [run.run for run in made.runs] == ["new"]
    assert {note.kind: note.count for note in made.notes} == {
        "unknown stops": 2, "no relevant document": 1, "no stop": 3,
    }  # fmt: skip
    unanswered = evaluate_stops(QRELS, {"x": {"q1": ["d0"]}}, stops=1)
    assert [stop.query for stop in unanswered.runs[0].stops] == ["q1"]
    assert "unanswered" in [note.kind for note in unanswered.notes]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"stops": 6}, DataError, "4 stops below the end of the corpus"),
        ({"stops": {"zz": 1}}, DataError, "no ranking of a query with a relevant document has a stop"),
        ({"stops": 1.5}, UsageError, "stops: the depth is 1.5, but must be a whole number"),
        ({"stops": {"new": {"q1": -2}}}, UsageError, "stops: the depth of query 'q1' of run 'new' is -2"),
        ({"stops": {"new": {"q1": 2}, "old": 3}}, UsageError, "the depths of run 'old' are 3"),
        ({"stops": {7: 2, "7": 3}}, FormatError, "stops: query '7' has 3 here and 2 before"),
        ({"stops": {None: 2}}, FormatError, "stops: 'None' is not a query id"),
        ({"stops": {1: {"q1": 2}, "1": {"q1": 3}}}, UsageError, "stops: two runs have the same name"),
        ({"stops": 1, "ties": "expected"}, UsageError, "no single order to stop in"),
        ({"stops": 1, "depth": 2}, UsageError, "depth is given, but how much was read says nothing"),
        ({"stops": 1, "looks": 2}, UsageError, "looks cannot be used with stops"),
    ],
)
def test_stops_that_make_no_sense_are_refused(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        evaluate_stops(QRELS, RUNS, **options)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 3\nq2 x\n", r":2: the depth is not a whole number: 'x'"),
        ("q1 10.5\nq2 3\n", r":1: the depth is not a whole number: '10.5'"),
        ("q1 1O0\nq2 3\n", r":1: the depth is not a whole number: '1O0'"),
        ("q1 -3\n", r":1: the depth is not a whole number: '-3'"),
        ("q1 3\nnew q2 4\n", r":2: a line has 2 fields \(query depth\) or 3 \(run query depth\), found 3: 'new q2 4'"),
        ("a b c d\n", r":1: a line has 2 fields"),
        ("q1 3\nq1 4\n", r":2: query 'q1' has depth 4 here and 3 before"),
        ("q1 99999999999999999999999999\n", r":1: the depth is not a whole number"),
        (f"q1 {'0' * 20}{'9' * 5000}\n", r":1: the depth is not a whole number"),
    ],
)
def test_a_file_of_depths_that_is_wrong_says_where(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "stops.txt").write_text(text)
    with pytest.raises(FormatError, match=said):
        load_depths(tmp_path / "stops.txt")


def test_the_command_evaluates_recorded_stops(command: Command) -> None:
    outcome = command("certify", "qrels.txt", "new.run", "old.run", "--stops", "stops.txt", "-f", "jsonl")
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert [(row["kind"], row["run"]) for row in rows] == [
        ("stops", "new.run"), ("stops", "old.run"), ("stop", "new.run"), ("stop", "new.run"), ("stop", "old.run"),
    ]  # fmt: skip
    assert [row["recall"] for row in rows[2:]] == [1.0, pytest.approx(2 / 3), 0.0]
    assert "note: 1 ranking left out: no stop is recorded (old.run)" in outcome.err

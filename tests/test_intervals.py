"""Intervals of the numbers of one run: each by the method that holds, or none and a sentence that says why."""

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from command import Command
from lexirecall import evaluate
from lexirecall.aggregation import Certainty
from lexirecall.measures import AP, Measure
from lexirecall.results import Scores
from lexirecall.statistics import mean_intervals, quantile_intervals, studentized_intervals
from lexirecall.statistics.proportions import preference_interval
from lexirecall.statistics.queryaggregate import QueryAggregate
from lexirecall.verbs.intervals import Intervals

SIZE = 24
DRAW = np.random.Generator(np.random.PCG64(7))
QRELS = {f"q{q}": {f"d{i}": 1 for i in range(5)} for q in range(SIZE)}


def _ranking(skill: float) -> list[str]:
    found = [f"d{i}" if DRAW.random() < skill else f"x{i}" for i in range(5)]
    return [*found, *(f"d{i}" for i in range(5) if f"d{i}" not in found)]


RUNS: dict[str, Any] = {
    name: {q: _ranking(skill) for q in QRELS} for name, skill in {"a": 0.8, "b": 0.6, "c": 0.3}.items()
}


GOOD = {
    "qrels": "".join(f"{q} 0 {d} 1\n" for q, own in QRELS.items() for d in own).encode(),
    **{
        name: "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, own in run.items() for i, d in enumerate(own)).encode()
        for name, run in RUNS.items()
    },
}


def ends_of(scores: Scores, **wanted: object) -> list[tuple[float | None, float | None]]:
    rows = (row for row in scores.rows() if all(row[name] == value for name, value in wanted.items()))
    return [(row["low"], row["high"]) for row in rows]


def pairs(ends: Any) -> list[tuple[float, float]]:
    return list(zip(*(end.tolist() for end in ends), strict=True))


def notes_of(scores: Scores) -> set[str]:
    return {note.text for note in scores.notes if note.kind == "no interval"}


def test_without_asking_there_are_none() -> None:
    scores = evaluate(QRELS, RUNS, ["AP"])
    assert "low" not in next(scores.rows())
    assert "[" not in scores.render()


def test_a_mean_has_that_of_hall() -> None:
    scores = evaluate(QRELS, RUNS, ["AP", "nDCG"], interval=True)
    assert ends_of(scores, measure="AP") == pairs(mean_intervals(scores.values[:, :, 0].T))
    assert scores.to_pandas().columns.tolist() == ["run", "measure", "value", "low", "high"]
    assert scores.to_pandas(per_query=True).columns.tolist() == ["run", "query", "measure", "value"]
    low, high = ends_of(scores)[0]
    assert f"[{low:.4f}, {high:.4f}]" in scores.render()
    assert scores.render().endswith("[low, high]: 95 % interval of a mean, by Hall's transformation of t")
    assert scores.intervals()["a"]["AP"] == (low, high)
    assert scores.manifest.conventions["interval"] is True


def test_resamples_make_the_same_two_fields() -> None:
    scores = evaluate(QRELS, RUNS, ["AP"], bootstrap=199, seed=3)
    lows, highs = studentized_intervals(scores.values[:, :, 0].T, num_resamples=199, seed=3)
    assert ends_of(scores) == pairs((lows, np.minimum(highs, 1)))


def test_the_win_rate_against_one_run_has_that_of_tango_and_against_more_that_of_t() -> None:
    two = {name: RUNS[name] for name in "ab"}
    scores = evaluate(QRELS, two, ["LexiRecall"], interval=True)
    won = scores.values[:, :, 0]
    low, high = preference_interval((won == 1).sum(axis=1), (won == 0).sum(axis=1), np.full(2, SIZE))
    assert ends_of(scores) == pairs(((1 + low) / 2, (1 + high) / 2))
    assert "of a win rate, by Tango's score test" in scores.render()
    scores = evaluate(QRELS, RUNS, ["LexiRecall"], interval=True)
    for own, ends in zip(scores.values[:, :, 0], ends_of(scores), strict=True):
        expected = stats.t.interval(0.95, SIZE - 1, own.mean(), stats.sem(own))
        assert ends == pytest.approx((max(expected[0], 0), min(expected[1], 1)))
    assert "of a win rate, by t over the queries" in scores.render()


def test_medians_quantiles_and_tails_have_their_own() -> None:
    asked = ["median", "quantile:0.1", "quantile:0.9", "tail:0.5"]
    scores = evaluate(QRELS, RUNS, ["AP", "Depth@1"], over=asked, corpus_size=50, interval=True)
    for name in asked[:3]:
        lows, highs = quantile_intervals(scores.values[:, :, 0].T, QueryAggregate.parse(name))
        assert ends_of(scores, over=name, measure="AP") == pairs((np.maximum(lows, 0), np.minimum(highs, 1)))
    lows, highs = studentized_intervals(-scores.values[:, :, 1].T, QueryAggregate.parse("tail:0.5"))
    tails = [(max(-high, 1), None if math.isinf(low) else -low) for low, high in pairs((lows, highs))]
    assert ends_of(scores, over="tail:0.5", measure="Depth@1") == tails
    text = scores.render()
    assert "of a median, by order statistics; of a quantile, by order statistics; of a tail, by the studentized" in text
    assert "(9,999 resamples of the queries, seed 0)" in text


def test_an_end_that_nothing_limits_is_open() -> None:
    scores = evaluate(QRELS, RUNS, ["Depth@1"], over="quantile:0.95", corpus_size=50, interval=True)
    assert all(low is not None and high is None for low, high in ends_of(scores))
    assert ", open]" in scores.render()
    asked = Certainty(interval=True)
    assert np.isinf(
        Intervals.of(scores.values, scores.measures, asked, over=QueryAggregate.parse("quantile:0.95")).highs
    ).all()


def test_what_has_none_is_told_in_one_sentence_for_each_reason() -> None:
    scores = evaluate(QRELS, RUNS, ["AP", "TSE", "TSE(e='rbp')", "NumRet"], interval=True)
    assert {row["measure"] for row in scores.rows() if row["low"] is None} == {"TSE", "TSE(e='rbp')", "NumRet"}
    assert notes_of(scores) == {
        "no method gives this mean an interval that holds (--over median has one): TSE, TSE(e='rbp')",
        "a sum over queries has no interval: NumRet",
    }
    few = {q: QRELS[q] for q in list(QRELS)[:7]}
    assert notes_of(evaluate(few, RUNS, ["AP"], interval=True)) == {"no interval of a mean of fewer than 8 queries: AP"}
    equal = evaluate(QRELS, {"same": {q: ["d1"] for q in QRELS}}, ["RR"], interval=True)
    assert ends_of(equal) == [(None, None)]
    assert notes_of(equal) == {"no interval where the values that decide are all equal: RR"}


def test_tails_of_few_queries_and_minima_have_none() -> None:
    scores = evaluate(QRELS, RUNS, ["AP"], over=["tail:0.2", "min", "tail:0.25"], interval=True)
    assert {row["over"] for row in scores.rows() if row["low"] is None} == {"min"}
    scores = evaluate(QRELS, RUNS, ["AP"], over=["tail:0.1", "min"], interval=True)
    assert notes_of(scores) == {
        "no interval of a tail of fewer than 5 queries (a larger share has one): tail:0.1 AP",
        "a minimum has no interval: min AP",
    }


def test_groups_have_those_of_their_queries() -> None:
    by = {q: "even" if i % 2 else "odd" for i, q in enumerate(QRELS)}
    scores = evaluate(QRELS, RUNS, ["AP"], by=by, interval=True)
    values = scores.values[:, [i for i in range(SIZE) if i % 2], 0]
    assert ends_of(scores, group="even") == pairs(mean_intervals(values.T))


def test_ends_are_cut_to_what_the_measure_can_be() -> None:
    values = np.array([0.0] * 8 + [1.0]).reshape(1, 9, 1)
    made = Intervals.of(values, [AP], Certainty(interval=True))
    ((low,), (high,)) = mean_intervals(values[0])
    assert low < 0 < high < 1
    assert (made.lows.item(), made.highs.item()) == (0, high)
    own = Measure("Own", "a sum", of_positions=lambda positions: 10.0 * len(positions))
    assert Intervals.of(20 * values, [own], Certainty(interval=True)).highs.item() > 1  # as its values are


def test_values_over_all_orders_of_tied_documents_are_means() -> None:
    runs = {name: {q: dict.fromkeys(ranking, 1.0) for q, ranking in run.items()} for name, run in RUNS.items()}
    two = evaluate(QRELS, {"a": RUNS["a"], "tied": runs["b"]}, ["All@6", "AP"], ties="expected", interval=True)
    assert "Clopper" not in two.render()


def test_the_command_shows_what_python_has(command: Command) -> None:
    asked = ("eval", "qrels", "a", "b", "-m", "AP,R@3", "--interval")
    lines = command(*asked, "-f", "jsonl").out.splitlines()
    files = evaluate(QRELS, {name: RUNS[name] for name in "ab"}, ["AP", "R@3"], interval=True)
    assert [json.loads(line) for line in lines] == list(files.rows())
    assert command(*asked).out.rstrip() == files.render()
    for option, value in (("-f", "trec"), ("--show", "policies")):
        outcome = command(*asked, option, value)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"--interval does not work with {option} {value}")


def test_the_intervals_follow_their_runs() -> None:
    scores = evaluate(QRELS, RUNS, ["AP", "All@5"], interval=True)
    turned = evaluate(QRELS, dict(reversed(RUNS.items())), ["AP", "All@5"], interval=True).sorted_by("name")
    assert list(turned.rows()) == list(scores.rows())

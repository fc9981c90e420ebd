"""Planning: what these queries can detect, and what a difference that is named takes, by each pair's own test."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from command import Outcome
from lexirecall import compare, project, simulate_collection
from lexirecall.errors import UsageError
from lexirecall.statistics import queries_for_preference
from lexirecall.verbs.planning import plan_of, planning_rows, planning_table

Command = Callable[..., Outcome]
SIMULATED = simulate_collection(7, num_queries=24)
FILES = SIMULATED.to_trec()
GOOD = {name: text.encode() for name, text in FILES.items()}
RUNS = sorted(name for name in FILES if name.endswith(".run"))
NUM_PAIRS = len(RUNS) * (len(RUNS) - 1) // 2


@pytest.fixture(scope="module")
def positions() -> Any:
    return project(SIMULATED.qrels, SIMULATED.runs, corpus_size=SIMULATED.corpus_size)


@pytest.mark.parametrize(
    ("correction", "test", "alpha"),
    [("holm", "t", 0.05 / NUM_PAIRS), ("bonferroni", "t", 0.05 / NUM_PAIRS), ("bh", "t", 0.05), ("none", "t", 0.05),
     ("holm", "hsd", 0.05 / NUM_PAIRS), ("none", "max-t", 0.05 / NUM_PAIRS)],
)  # fmt: skip
def test_sizes_are_planned_by_the_power_of_t_with_the_spread_of_the_pair(
    positions: Any, correction: str, test: str, alpha: float
) -> None:
    power_of = pytest.importorskip("statsmodels.stats.power").TTestPower().power
    comparison = compare(positions, measures=["AP"], test=test, correction=correction, num_resamples=99)
    plan = plan_of(comparison.measures[0], 0.05, detect=0.05)
    values = comparison.scores.values[:, :, 0]
    for a, b, least, queries in zip(
        comparison.measures[0].a, comparison.measures[0].b, plan.detectable, plan.queries, strict=True
    ):
        spread = np.std(values[a] - values[b], ddof=1)
        assert power_of(least / spread, len(values[a]), alpha) == pytest.approx(0.8, abs=1e-6)
        assert power_of(0.05 / spread, queries, alpha) >= 0.8
        assert queries == 2 or power_of(0.05 / spread, queries - 1, alpha) < 0.8


def test_rows_hold_the_median_and_the_range_over_pairs(positions: Any) -> None:
    comparison = compare(positions, measures=["AP", "LexiRecall"])
    for row, compared in zip(planning_rows(comparison, 0.2), comparison.measures, strict=True):
        plan = plan_of(compared, 0.05, 0.2)
        assert row["detectable"] == np.median(plan.detectable)
        assert row["queries_for_detect"] == math.ceil(np.median(plan.queries))
        assert (row["queries_for_detect_low"], row["queries_for_detect_high"]) == (
            plan.queries.min(),
            plan.queries.max(),
        )
    assert [row["detectable_as"] for row in planning_rows(comparison)] == ["difference", "win share"]
    assert "queries_for_detect" not in next(planning_rows(comparison))


def test_preferences_are_planned_by_the_sign_test_with_the_ties_of_the_pair(positions: Any) -> None:
    (compared,) = compare(positions, measures=["LexiRecall"]).measures
    plan = plan_of(compared, 0.05, 0.3)
    untied = compared.wins + compared.losses
    expected = queries_for_preference(0.3, untied, compared.num_queries, alpha=0.05 / NUM_PAIRS)
    assert plan.queries.tolist() == expected.tolist()


@pytest.mark.parametrize("measure", ["AP", "LexiRecall"])
def test_the_observed_difference_does_not_matter(positions: Any, measure: str) -> None:
    (compared,) = compare(positions, measures=[measure]).measures
    untied = compared.wins + compared.losses
    other = replace(compared, means=compared.means + 1, effects=-compared.effects, wins=untied, losses=0 * untied)
    ours, theirs = plan_of(compared, 0.05, 0.1), plan_of(other, 0.05, 0.1)
    assert ours.detectable.tolist() == theirs.detectable.tolist()
    assert ours.queries.tolist() == theirs.queries.tolist()


def test_what_cannot_be_planned_is_said() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(5)}
    runs = {name: {query: ["a"] for query in qrels} for name in ("same", "equal")}
    comparison = compare(qrels, runs, ["AP", "LexiRecall"])
    ap, lexirecall = planning_rows(comparison, 0.1)
    assert ap["detectable"] is ap["queries_for_detect"] is lexirecall["detectable"] is None
    note = planning_table(comparison, 0.1).footnote
    assert "AP: the sign test ignores sizes" in note
    assert "LexiRecall: 1 pair with too few untied queries to detect anything" in note
    assert "LexiRecall: left out are 1 pair with too many ties for a preference of 0.1" in note
    assert "AP: the sign test ignores sizes" in planning_table(compare(qrels, runs, ["AP"], test="sign"), 0.1).footnote


def test_tests_of_all_pairs_have_a_stand_in(positions: Any) -> None:
    assert "cautious stand-in" in planning_table(compare(positions, measures=["AP"], test="hsd")).footnote
    assert "stand-in" not in planning_table(compare(positions, measures=["AP"])).footnote


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html", "jsonl", "tsv", "csv"])
def test_every_format_shows_the_plan(positions: Any, form: str) -> None:
    comparison = compare(positions, measures=["AP"])
    assert "detect" in comparison.render(form, view="power", detect=0.05)
    assert list(comparison.power_rows(0.05)) == list(planning_rows(comparison, 0.05))


@pytest.mark.parametrize("wrong", [0.0, -0.1, math.inf, math.nan])
def test_a_difference_to_detect_is_above_0(positions: Any, wrong: float) -> None:
    with pytest.raises(UsageError, match="must be above 0"):
        list(planning_rows(compare(positions, measures=["AP"]), wrong))


# The command


def test_the_command_plans(command: Command) -> None:
    plain = command("compare", "qrels.txt", *RUNS, "-m", "AP", "--show", "power", "-f", "jsonl")
    assert "queries_for_detect" not in json.loads(plain.out)
    named = command("compare", "qrels.txt", *RUNS, "-m", "AP", "--show", "power", "--detect", "0.05", "-f", "jsonl")
    row = json.loads(named.out)
    assert row["queries_for_detect_low"] <= row["queries_for_detect"] <= row["queries_for_detect_high"]
    assert (
        "queries for 0.05"
        in command("compare", "qrels.txt", *RUNS, "-m", "AP", "--show", "power", "--detect", "0.05").out
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--detect", "0.1"), "--detect 0.1 has no meaning with --show runs"),
        (("--detect", "0", "--show", "power"), "the difference to detect is 0, but must be above 0"),
    ],
)
def test_wrong_plans_are_refused_before_anything_is_read(
    command: Command, arguments: tuple[str, ...], message: str
) -> None:
    outcome = command("compare", "gone.txt", "a.run", "b.run", *arguments)
    assert outcome.code == 2
    assert message in outcome.err

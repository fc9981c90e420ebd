"""The gate: what fails, what passes, what was lost, and what is said about it."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import naive
from lexirecall import evaluate, gate, parse_measure, project
from lexirecall.errors import DataError, UsageError
from lexirecall.gates.comparing import Compared
from lexirecall.gates.decisions import decide, notes_on
from lexirecall.gates.requirements import parse_requirements
from lexirecall.statistics.gates import chance_of_losses, fewest_losses, level_of_build, noticed_share

DOCUMENTS = [f"d{i}" for i in range(8)]
QRELS = {f"q{i}": {"d0": 1, "d1": 2, "d2": 1, "d3": 0} for i in range(12)}
GOOD = ["d0", "d1", "d2", "d3"]
BAD = ["d0", "d3", "d4", "d5"]


def runs_of(rankings: list[list[str]]) -> dict[str, list[str]]:
    return dict(zip(QRELS, rankings, strict=True))


rankings = st.lists(
    st.permutations(DOCUMENTS).flatmap(lambda order: st.integers(0, 8).map(lambda size: list(order[:size]))),
    min_size=len(QRELS), max_size=len(QRELS),
).map(runs_of)  # fmt: skip


# What is decided


@given(rankings, rankings, st.floats(0.001, 0.4))
def test_it_fails_as_the_one_sided_sign_test_says(new: Any, old: Any, alpha: float) -> None:
    result = gate(QRELS, new, old, alpha=alpha)
    (decision,) = result.decisions
    own = decision.compared
    assert sum(count or 0 for count in (own.wins, own.ties, own.losses)) == len(QRELS)
    expected = naive.one_sided_sign_p(own.wins or 0, own.losses or 0)
    assert own.p == pytest.approx(float(expected))
    if abs(float(expected) - alpha) > 1e-9:
        assert decision.fails == (float(expected) < alpha)
    assert result.passed == (not decision.fails)


@given(rankings, rankings)
def test_it_fails_as_the_one_sided_t_test_says(new: Any, old: Any) -> None:
    decision = gate(QRELS, new, old, "AP").decisions[0]
    values = [_values(run) for run in (new, old)]
    differences = np.subtract(values[0], values[1])
    if np.ptp(differences) > 1e-9:
        expected = stats.ttest_rel(*values, alternative="less")
        assert decision.compared.p == pytest.approx(float(expected.pvalue), abs=1e-9)
        low = differences.mean() - stats.t.ppf(0.95, 11) * differences.std(ddof=1) / math.sqrt(12)
        assert decision.compared.low == pytest.approx(float(low))


def _values(run: Any) -> list[float]:
    values: list[float] = evaluate(QRELS, run, ["AP"]).values[0, :, 0].tolist()
    return values


@given(rankings, rankings, st.floats(0.01, 0.4))
def test_measures_are_corrected_by_holms_steps(new: Any, old: Any, alpha: float) -> None:
    decisions = gate(QRELS, new, old, ["LexiRecall", "AP", "RR"], alpha=alpha).decisions
    rejected = naive.holm_by_steps([each.compared.p for each in decisions], alpha)
    assert [each.p_corrected < alpha for each in decisions] == rejected
    assert [each.fails for each in decisions] == [
        no and each.compared.tested < 0 for no, each in zip(rejected, decisions, strict=True)
    ]


@given(rankings, st.floats(0, 1))
def test_identical_rankings_always_pass(run: Any, margin: float) -> None:
    for each in (None, margin, 0.0):
        result = gate(QRELS, run, dict(run), ["LexiRecall", "AP", "All@2", "bpref"], margin=each)
        assert result.passed
        assert not result.changes


@given(rankings, rankings, st.floats(0, 0.5))
def test_with_a_margin_it_passes_exactly_if_the_lower_end_is_above_it(new: Any, old: Any, margin: float) -> None:
    result = gate(QRELS, new, old, ["AP", "LexiRecall"], margin=margin)
    if not result.decisions[0].are_identical:
        assert [each.fails for each in result.decisions] == [
            not each.compared.low > -margin for each in result.decisions
        ]
    assert {each.level for each in result.decisions} == {0.025}


def test_a_share_of_queries_is_counted_as_wins_and_losses() -> None:
    new, old = runs_of([GOOD] * 11 + [BAD]), runs_of([GOOD] * 12)
    own = gate(QRELS, new, old, "All@3", margin=0.02).decisions[0].compared
    assert (own.wins, own.ties, own.losses, own.method) == (0, 11, 1, "sign test")
    assert own.low < -0.25  # Tango's interval; t would say -0.23


def test_a_run_with_other_places_of_equal_documents_is_not_identical() -> None:
    swapped = runs_of([["d1", "d0", "d2"]] * 12)  # the same vector of positions, other grades
    result = gate(QRELS, swapped, runs_of([["d0", "d1", "d2"]] * 12), ["nDCG"], margin=0)
    assert not result.decisions[0].are_identical


def test_tails_and_groups_have_their_share_of_alpha() -> None:
    groups = {query: "odd" if i % 2 else "even" for i, query in enumerate(QRELS)}
    new, old = runs_of([BAD, GOOD] * 6), runs_of([GOOD] * 12)
    result = gate(QRELS, new, old, ["R@10", "LexiRecall"], over=["mean", "tail:0.5"], by=groups)
    names = [each.name for each in result.decisions]
    assert names == [
        "R@10", "tail:0.5 of R@10", "R@10 in even", "tail:0.5 of R@10 in even", "R@10 in odd",
        "tail:0.5 of R@10 in odd", "LexiRecall", "LexiRecall in even", "LexiRecall in odd",
    ]  # fmt: skip
    assert {each.level for each in result.decisions} == {0.05 / 9}
    by_name = {each.name: each for each in result.decisions}
    assert by_name["tail:0.5 of R@10"].fails  # its worst half lost two thirds of what is relevant
    assert not by_name["LexiRecall in even"].can_fail
    assert not by_name["R@10 in odd"].fails
    assert math.isnan(by_name["tail:0.5 of R@10"].p_corrected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.integers(0, 3))
def test_what_has_a_p_and_what_has_an_interval_share_alpha(pvalues: list[float], num_resampled: int) -> None:
    row = parse_measure("AP")
    compared = [Compared(row, "mean", None, -1, -2, 0, 9, 1, 2, 6, "t", p, 1) for p in pvalues]
    resampled = Compared(row, "tail:0.1", None, -1, -2, -1, 9, None, None, None, "paired bootstrap", math.nan, math.nan)
    decisions = decide(compared + [resampled] * num_resampled, 0.05, None, are_identical=False)
    share = 0.05 * len(pvalues) / len(decisions)
    # all with a p together have their share of alpha, and the other intervals the rest
    assert [each.p_corrected < 0.05 for each in decisions[: len(pvalues)]] == naive.holm_by_steps(pvalues, share)
    assert sum(each.level for each in decisions[len(pvalues) :]) == pytest.approx(0.05 - share)


def test_there_are_always_enough_resamples_for_the_interval() -> None:
    new, old = runs_of([BAD, GOOD] * 6), runs_of([GOOD] * 12)
    for alpha, drawn in ((0.05, "10,000"), (0.001, "20,000")):
        (decision,) = gate(QRELS, new, old, "R@10", over=["median"], alpha=alpha, bootstrap=None).decisions
        assert decision.compared.method == f"paired bootstrap, {drawn} resamples"
    (decision,) = gate(QRELS, new, old, "R@10", over=["median"], bootstrap=3).decisions
    assert decision.compared.method == "paired bootstrap, 400 resamples"


def test_the_lowest_value_cannot_be_tested() -> None:
    with pytest.raises(UsageError, match="require it instead"):
        gate(QRELS, runs_of([GOOD] * 12), runs_of([BAD] * 12), "AP", over=["min"])


def test_too_few_queries_to_fail_are_said() -> None:
    few = dict(list(QRELS.items())[:4])
    result = gate(few, dict.fromkeys(few, BAD), dict.fromkeys(few, GOOD))
    assert result.passed
    (note,) = [note.text for note in result.notes if note.kind == "cannot fail"]
    assert note == (
        "LexiRecall: the gate could not have failed: it takes 5 queries at least (sign test, one-sided, at 0.05), and "
        "there are 4"
    )


@pytest.mark.parametrize(
    ("skewness", "margin", "is_said"),
    [(2, None, True), (-2, None, False), (2, 0.1, False), (-2, 0.1, True), (0, 0.1, False)],
)
def test_a_t_test_that_errs_too_often_is_said(skewness: float, margin: float | None, is_said: bool) -> None:
    own = Compared(parse_measure("AP"), "mean", None, -1, -2, 0, 50, 1, 2, 47, "paired t", 0.01, 1, skewness)
    notes = [note for note in notes_on(decide([own], 0.05, margin, are_identical=False)) if note.kind == "skewed"]
    assert ["with the chance 0.081, not 0.05" in note.text for note in notes] == [True] * is_said


@given(rankings, rankings)
def test_the_skewness_of_differences_is_that_of_their_values(new: Any, old: Any) -> None:
    own = gate(QRELS, new, old, "AP").decisions[0].compared
    differences = np.subtract(_values(new), _values(old))
    if differences.std() > 1e-9:
        assert own.skewness == pytest.approx(float(stats.skew(differences)))


@pytest.mark.parametrize("level", [0.05, 0.025, 0.5, 0.25, 0.001])
def test_the_fewest_losses_are_the_first_that_suffice(level: float) -> None:
    fewest = fewest_losses(level)
    assert chance_of_losses(0, fewest) < level <= chance_of_losses(0, fewest - 1)


@given(st.integers(5, 300), st.sampled_from([0.05, 0.01]))
def test_the_loss_that_is_noticed_is_noticed_with_this_power(num_queries: int, level: float) -> None:
    share = noticed_share(num_queries, level, 0.8)
    if math.isfinite(share):
        assert stats.binom.sf(fewest_losses(level) - 1, num_queries, share) == pytest.approx(0.8)


def test_all_builds_together_spend_alpha() -> None:
    levels = [level_of_build(0.05, build) for build in range(1, 10_001)]
    assert all(one > other for one, other in pairwise(levels))
    assert sum(levels) == pytest.approx(0.05, abs=1e-5)
    assert sum(levels) < 0.05


# What was lost


@given(rankings, rankings)
def test_every_lost_document_is_named_with_its_place(new: Any, old: Any) -> None:
    result = gate(QRELS, new, old, require="no query loses a relevant document")
    relevant = ["d0", "d1", "d2"]
    expected = {q: lost for q in QRELS if (lost := naive.lost_documents(relevant, old[q], new[q]))}
    found: dict[str, dict[str, Any]] = {}
    for change, moved in result.lost:
        assert moved.now is None
        found.setdefault(change.query, {})[moved.document] = moved.was
    assert found == expected
    assert result.checks[0].passed == (not expected)
    falls = [change.found_now - change.found_before for change in result.changes]
    assert falls == sorted(falls)  # the worst query first
    rows = [json.loads(line) for line in result.render("jsonl").split("\n")]
    assert [(row["query"], row["document"]) for row in rows if row["kind"] == "lost"] == [
        (change.query, moved.document) for change, moved in result.lost
    ]
    assert all("kind" in row for row in rows)
    assert rows[0]["kind"] == "verdict"
    assert rows[0]["passed"] == result.passed


@given(rankings, rankings, st.integers(1, 6))
def test_within_a_depth_what_sinks_is_lost(new: Any, old: Any, depth: int) -> None:
    result = gate(QRELS, new, old, require=f"no query loses a relevant document within the first {depth}")
    found = {each.query: {moved.document: moved.was for moved in each.documents} for each in result.checks[0].offences}
    relevant = ["d0", "d1", "d2"]
    expected = {q: lost for q in QRELS if (lost := naive.lost_documents(relevant, old[q], new[q], depth))}
    assert found == expected


@given(rankings, st.integers(1, 6))
def test_every_relevant_document_within_a_depth(new: Any, depth: int) -> None:
    result = gate(QRELS, new, require=f"every relevant document is found within the first {depth}")
    found = {(each.query, moved.document): moved.now for each in result.checks[0].offences for moved in each.documents}
    assert set(found) == {(q, d) for q in QRELS for d in ("d0", "d1", "d2") if d not in new[q][:depth]}
    assert all(now is None or new[q][now - 1] == d for (q, d), now in found.items())


def test_tables_list_twenty_documents_and_programs_get_all() -> None:
    qrels = {f"q{i}": {f"r{k}": 1 for k in range(3)} for i in range(12)}
    old, new = {key: ["r0", "r1", "r2"] for key in qrels}, {key: ["x"] for key in qrels}
    result = gate(qrels, new, old)
    assert result.to_text().count("  r") == 20
    assert "and 16 more: -f jsonl lists all" in result.to_text()
    assert result.render("jsonl").count('"kind": "lost"') == 36


# What is required


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("All@20>=0.9", "All@20 >= 0.9"),
        ("  min   of AP < .5 ", "min of AP < 0.5"),
        ("tail:0.1 of R@100 >= 0.5", "tail:0.1 of R@100 >= 0.5"),
        ("NO query  loses a relevant document", "no query loses a relevant document"),
        ("every relevant document is found within the first 50",) * 2,
    ],
)
def test_requirements_are_read(text: str, meant: str) -> None:
    assert [str(each) for each in parse_requirements([text])] == [meant]
    assert parse_requirements([meant]) == parse_requirements([text])


def test_all_requirements_that_cannot_be_read_are_named_at_once() -> None:
    wrong = ["All@20=1", "AP > much", "worst of AP > 1", "LexiRecall > 0.5", "Nonsense >= 1", "all is well"]
    with pytest.raises(UsageError) as caught:
        parse_requirements(["AP > 0", *wrong])
    assert all(repr(text) in str(caught.value) for text in wrong)
    assert "no query loses a relevant document" in str(caught.value)


@given(rankings, st.sampled_from(["mean", "median", "min", "tail:0.3", "quantile:0.2"]), st.floats(0, 1))
def test_a_limit_is_held_against_the_number_that_evaluate_gives(run: Any, over: str, limit: float) -> None:
    (row,) = [row for row in evaluate(QRELS, run, ["AP"], over=over).rows() if row["query"] == "all"]
    for sign, holds in ((">=", row["value"] >= limit), ("<", row["value"] < limit)):
        result = gate(QRELS, run, require=f"{over} of AP {sign} {limit!r}")
        assert result.passed == holds
        assert result.checks[0].value == row["value"]


def test_a_limit_holds_in_every_group_or_the_gate_fails() -> None:
    groups = {query: "odd" if i % 2 else "even" for i, query in enumerate(QRELS)}
    result = gate(QRELS, runs_of([BAD, GOOD] * 6), require="R@10 >= 0.5", by=groups)
    assert {each.group: each.passed for each in result.checks} == {None: True, "odd": True, "even": False}
    assert not result.passed


def test_an_undefined_number_does_not_hold() -> None:
    result = gate(QRELS, runs_of([BAD] * 12), require=["LastRel <= 100", "median of Depth@1 <= 100"])
    assert [each.passed for each in result.checks] == [False, False]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "nothing is required"),
        ({"require": "no query loses a relevant document"}, "needs a baseline"),
        ({"require": "AP > 0", "margin": 0.1}, "margin needs a baseline"),
        ({"require": "AP > 0", "ledger": "x"}, "ledger needs a baseline"),
        ({"require": "AP > 0", "measures": ["AP"]}, "measures needs a baseline"),
        ({"require": "every relevant document is found within the first 9", "depth": 5}, "cut at 5"),
        ({"require": "AP > 0", "ties": "expected"}, "no single order"),
        ({"require": "AP > 0", "alpha": 0.5}, "below 0.5"),
    ],
)
def test_what_makes_no_sense_is_refused(options: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        gate(QRELS, runs_of([GOOD] * 12), **options)


def test_positions_stand_in_the_place_of_both() -> None:
    runs = {"x": runs_of([GOOD] * 12), "old": runs_of([GOOD] * 12), "new": runs_of([BAD] * 12)}
    positions = project(QRELS, runs)
    assert not gate(positions, "new", "old").passed
    assert gate(positions, "old", "new").passed
    with pytest.raises(UsageError, match="no run is called 'nwe'"):
        gate(positions, "nwe", "old")


# Labels that rot


def test_relevant_documents_that_nothing_knows_are_listed(tmp_path: Path) -> None:
    qrels = {"q1": {"d0": 1, "gone": 1, "unfound": 1}, "q2": {"found": 1, "no": 0}}
    run = {"q1": ["d0"], "q2": ["found"]}
    ids = tmp_path / "ids.txt"
    ids.write_bytes(b"\xef\xbb\xbfd0\n\nunfound\nno\n")
    for given_ids in (str(ids), ids, ["d0", "unfound", "no"]):
        result = gate(qrels, run, require="AP > 0", corpus_ids=given_ids)
        assert [tuple(each) for each in result.unknown] == [("q1", "gone")]  # a run knows `found`
        assert "'gone'" in next(note.text for note in result.notes if note.kind == "unknown labels")
    note = next(note for note in gate(qrels, run, require="AP > 0").notes if note.kind == "found by no run")
    assert note.count == 2


def test_a_list_of_other_ids_is_an_error() -> None:
    with pytest.raises(DataError, match=r"corpus_ids: none of its 2 ids is a relevant document"):
        gate(QRELS, runs_of([GOOD] * 12), require="AP > 0", corpus_ids=["D0", "D1"])


def test_ids_of_documents_say_nothing_about_units() -> None:
    units = dict.fromkeys(DOCUMENTS, "unit")
    with pytest.raises(UsageError, match="units must be found"):
        gate(QRELS, runs_of([GOOD] * 12), require="R@3 > 0", units=units, corpus_ids=["d0"])

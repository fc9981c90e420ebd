"""The gate: what fails, what passes, what was lost, and what is said about it."""

import json
import math
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import naive
from lexirecall import LexirecallWarning, evaluate, gate, parse_measure, project
from lexirecall.errors import DataError, UsageError
from lexirecall.gates.baselinepairs import BaselineDifference
from lexirecall.gates.decisions import decide, notes_on
from lexirecall.gates.requirements import parse_requirements
from lexirecall.statistics.gates import chance_of_losses, fewest_losses, level_of_build, noticed_share
from lexirecall.statistics.proportions import preference_interval
from strategies import costly

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
    result = gate(QRELS, new, old, "LexiRecall", alpha=alpha)
    (decision,) = result.decisions
    own = decision.compared
    assert sum(count or 0 for count in (own.wins, own.ties, own.losses)) == len(QRELS)
    expected = naive.one_sided_sign_p(own.wins or 0, own.losses or 0)
    assert own.p == pytest.approx(float(expected))
    if abs(float(expected) - alpha) > 1e-9:
        assert decision.fails == (float(expected) < alpha)
    assert result.passed == (not decision.fails)


@given(rankings, rankings)
def test_the_number_found_counts_queries_and_lexirecall_is_beside_it(new: Any, old: Any) -> None:
    found, lexirecall = gate(QRELS, new, old).decisions
    differences = [_num_found(new[q]) - _num_found(old[q]) for q in QRELS]
    own = found.compared
    assert (own.wins, own.losses) == (sum(d > 0 for d in differences), sum(d < 0 for d in differences))
    assert own.p == pytest.approx(float(naive.one_sided_sign_p(own.wins or 0, own.losses or 0)))
    assert own.difference == pytest.approx(np.mean(np.sign(differences)))
    assert [found.name, lexirecall.name] == ["NumRelRet", "LexiRecall"]
    assert lexirecall.compared == gate(QRELS, new, old, ["LexiRecall", "R@9"]).decisions[0].compared


def _num_found(ranking: list[str]) -> int:
    return len({"d0", "d1", "d2"} & set(ranking))


@given(rankings, rankings)
def test_it_fails_as_the_larger_p_of_t_and_hall_says(new: Any, old: Any) -> None:
    own = gate(QRELS, new, old, "AP").decisions[0].compared
    differences = np.subtract(_values(new), _values(old))
    untied = differences[np.abs(differences) > 1e-9]
    if not len(untied):
        assert (own.p, own.low, own.high) == (0.5, 0, 0)
    elif _is_by_signs(untied):
        assert own.method == "sign test"
        assert own.p == pytest.approx(float(naive.one_sided_sign_p(own.wins or 0, own.losses or 0)))
    else:
        by_t = float(stats.ttest_1samp(differences, 0, alternative="less").pvalue)
        assert own.p == pytest.approx(max(by_t, _hall_p(differences.tolist())), abs=1e-9)
        low = differences.mean() - stats.t.ppf(0.95, 11) * differences.std(ddof=1) / math.sqrt(12)
        assert own.low == pytest.approx(min(low, naive.hall_limit(differences.tolist(), stats.t.ppf(0.95, 11))))


def _hall_p(differences: list[float]) -> float:
    mean, deviation, skewness = naive.sample_moments(differences)
    statistic = math.sqrt(12) * naive.hall_transform(mean / deviation, skewness, 12)
    return float(stats.t.cdf(statistic, 11))


def _is_by_signs(untied: Any) -> bool:
    effective = min(len(untied), 3 * (untied**2).sum() ** 2 / (untied**4).sum())
    return bool(np.ptp(np.abs(untied)) <= 1e-12 or effective < 8)


def _values(run: Any) -> list[float]:
    values: list[float] = evaluate(QRELS, run, ["AP"]).values[0, :, 0].tolist()
    return values


@given(rankings, rankings, st.floats(0.01, 0.4))
def test_measures_with_an_untied_query_are_corrected_by_holms_steps(new: Any, old: Any, alpha: float) -> None:
    decisions = gate(QRELS, new, old, ["LexiRecall", "AP", "RR", "NumRelRet"], alpha=alpha).decisions
    untied = [each for each in decisions if each.compared.num_untied]
    rejected = naive.holm_by_steps([each.compared.p for each in untied], alpha)
    assert [each.p_corrected < alpha for each in untied] == rejected
    assert [each.fails for each in untied] == [
        no and each.compared.tested < 0 and not each.is_open for no, each in zip(rejected, untied, strict=True)
    ]
    assert not any(each.fails for each in decisions if not each.compared.num_untied)


def test_a_few_queries_that_contradict_the_mean_decide_nothing() -> None:
    """One query gains a lot, six lose a little: the sign test would fail the run, which is better on average."""
    qrels = {f"q{i}": {"a": 1} for i in range(12)}
    ranks = {"first": ["a"], "last": [*"wxyzstuv", "a"], "ninth": [*"wxyzstu", "a"]}
    old = {q: ranks["last" if i == 6 else "ninth"] for i, q in enumerate(qrels)}
    new = {q: ranks["last"] if i < 6 else old[q] for i, q in enumerate(qrels)}
    for gained, is_open in ((new | {"q6": ranks["first"]}, True), (new, False)):
        (decision,) = gate(qrels, gained, old, "AP", alpha=0.4).decisions
        own = decision.compared
        assert own.method == "sign test"
        assert own.p < 0.4
        assert (decision.is_open, decision.fails, decision.row()["decided"]) == (is_open, not is_open, not is_open)
        assert (own.difference > 0) == is_open
        if is_open:
            assert decision.sentence() == (
                "AP: not decided, 1 better, 5 tied, 6 worse, but a mean difference of 0.0671: a few queries make the "
                "mean"
            )


def test_where_a_few_queries_make_the_mean_no_margin_is_shown_to_hold() -> None:
    new, old = runs_of([["d0", "d1", "x", "d2"], *[GOOD] * 11]), runs_of([["x", "d0", "d1", "d2"], *[GOOD] * 11])
    (one_size,) = gate(QRELS, new, old, "AP", margin=0.1).decisions
    assert one_size.compared.low == pytest.approx(one_size.compared.difference * 12 * _tango(1, 0, 12))
    old["q3"] = ["d1", "d2", "x", "d0"]
    (several,) = gate(QRELS, new, old, "AP", margin=0.1).decisions
    assert math.isnan(several.compared.low)
    assert several.fails
    assert "a few queries make it, so it is not shown to be above -0.1000" in several.sentence()


def _tango(wins: int, losses: int, n: int) -> float:
    return float(preference_interval(*(np.array([each]) for each in (wins, losses, n)), alpha=0.1)[0][0])


@given(rankings, st.floats(0, 1, exclude_max=True))
def test_identical_rankings_always_pass(run: Any, margin: float) -> None:
    for each in (None, margin, 0.0):
        result = gate(QRELS, run, dict(run), ["LexiRecall", "AP", "All@2", "bpref"], margin=each)
        assert result.passed
        assert not result.changes


@pytest.mark.parametrize("options", [{}, {"margin": 0.01}, {"over": "tail:0.5"}])
def test_longer_lists_are_not_identical_to_measures_that_see_their_length(options: Any) -> None:
    """Every judged document is where it was, and much that nobody judged is behind."""
    old = runs_of([["d0", "d1", "d2"]] * 12)
    new = {query: [*ranking, *(f"x{k}" for k in range(7))] for query, ranking in old.items()}
    assert not gate(QRELS, new, old, ["SetP"], **options).passed
    assert gate(QRELS, old, new, ["SetP"], **options).passed
    for name in ("LexiRecall", "AP", "P@3"):
        assert gate(QRELS, new, old, [name], **options).passed


@pytest.mark.parametrize("over", ["tail:0.5", "tail:1"])
@pytest.mark.parametrize("margin", [None, 0.1])
def test_a_run_without_a_value_is_infinitely_worse_over_queries_too(over: str, margin: float | None) -> None:
    """LastRel has none where a relevant document is missing and no corpus size is known."""
    whole, worse = runs_of([GOOD] * 12), runs_of([["d0"]] * 9 + [GOOD] * 3)
    failed = gate(QRELS, worse, whole, ["LastRel"], over=over, margin=margin)
    own = failed.decisions[0].compared
    assert (failed.passed, own.difference, own.high) == (False, -np.inf, -np.inf)
    assert "-inf" in str(failed)
    assert failed.decisions[0].row()["difference"] is None
    assert gate(QRELS, whole, worse, ["LastRel"], over=over, margin=margin).passed
    longer = {query: [*ranking, "x"] for query, ranking in worse.items()}
    assert gate(QRELS, longer, worse, ["LastRel"], over=over, margin=margin).passed


def test_a_mean_of_few_values_says_how_many_are_undefined() -> None:
    """Half of the queries lack a relevant document; the mean is over the others, and meets the limit."""
    half = runs_of([["d0"]] * 6 + [GOOD] * 6)
    with pytest.warns(LexirecallWarning, match=r"LastRel \(6 of 12: new 6\)"):
        result = gate(QRELS, half, require=["LastRel <= 5"])
    assert (result.passed, result.checks[0].value) == (True, 3.0)
    assert "undefined" in [note.kind for note in gate(QRELS, half, runs_of([GOOD] * 12), "LastRel").notes]


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
    result = gate(QRELS, new, old, ["R@10", "LexiRecall"], over=["mean", "tail:0.9"], by=groups)
    names = [each.name for each in result.decisions]
    assert names == [
        "R@10", "tail:0.9 of R@10", "R@10 in even", "tail:0.9 of R@10 in even", "R@10 in odd",
        "tail:0.9 of R@10 in odd", "LexiRecall", "LexiRecall in even", "LexiRecall in odd",
    ]  # fmt: skip
    assert {each.level for each in result.decisions} == {0.05 / 9}
    by_name = {each.name: each for each in result.decisions}
    assert by_name["tail:0.9 of R@10"].fails  # half of it lost two thirds of what is relevant
    assert not by_name["LexiRecall in even"].can_fail
    assert not by_name["R@10 in odd"].fails
    assert math.isnan(by_name["tail:0.9 of R@10"].p_corrected)


@given(st.lists(st.floats(0, 1) | st.floats(0, 0.06), min_size=1, max_size=5), st.integers(0, 3))
def test_what_has_a_p_and_what_has_an_interval_share_alpha(pvalues: list[float], num_resampled: int) -> None:
    row = parse_measure("AP")
    compared = [BaselineDifference(row, "mean", None, -1, -2, 0, 9, 1, 2, 6, "t", p, 1) for p in pvalues]
    resampled = BaselineDifference(row, "tail:0.1", None, -1, -2, -1, 9, None, None, None, "t", math.nan, math.nan)
    decisions = decide(compared + [resampled] * num_resampled, 0.05, None, are_identical=False)
    share = 0.05 * len(pvalues) / len(decisions)
    # all with a p together have their share of alpha, and the other intervals the rest
    assert [each.p_corrected < 0.05 for each in decisions[: len(pvalues)]] == naive.holm_by_steps(pvalues, share)
    assert sum(each.level for each in decisions[len(pvalues) :]) == pytest.approx(0.05 - share)


def test_a_tail_of_few_queries_is_refused_before_a_build_is_counted(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"tail:0\.1 of 12 queries is a tail of 2, and") as caught:
        gate(QRELS, runs_of([BAD] * 12), runs_of([GOOD] * 12), "R@10", over="tail:0.1", ledger=tmp_path / "ledger")
    assert "tail:0.42" in caught.value.remedy
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize("over", ["min", "median", "quantile:0.1"])
def test_what_has_no_interval_cannot_be_tested(over: str) -> None:
    with pytest.raises(UsageError, match="require it instead"):
        gate(QRELS, runs_of([GOOD] * 12), runs_of([BAD] * 12), "AP", over=[over])


def test_too_few_queries_to_fail_are_said() -> None:
    few = dict(list(QRELS.items())[:4])
    result = gate(few, dict.fromkeys(few, BAD), dict.fromkeys(few, GOOD), "LexiRecall")
    assert result.passed
    (note,) = [note.text for note in result.notes if note.kind == "cannot fail"]
    assert note == (
        "LexiRecall: the gate could not have failed: it takes 5 queries at least (sign test, one-sided, at 0.05), and "
        "there are 4"
    )


def test_a_share_of_queries_that_is_noticed_is_at_most_1_and_a_difference_is_not() -> None:
    few, turns = dict(list(QRELS.items())[:4]), [GOOD, BAD] * 2
    new, old = dict(zip(few, turns, strict=True)), dict(zip(few, turns[::-1], strict=True))
    assert [each.noticed for each in gate(few, new, old, margin=0.1).decisions] == [1, 1]
    late = {query: [f"x{i}" for i in range(90 * (at % 2))] + GOOD for at, query in enumerate(few)}
    (depth,) = gate(few, late, dict.fromkeys(few, GOOD), "Depth@0.1", margin=0.1).decisions
    assert depth.noticed > 1


def test_a_tail_that_may_be_above_0_is_not_shown_to_be_worse() -> None:
    old, mixed = runs_of([GOOD, BAD] * 6), runs_of([BAD, GOOD, BAD] * 4)
    for new, words in ((mixed, "not below 0: not shown to be worse"), (runs_of([BAD] * 12), ", below 0: worse")):
        (decision,) = gate(QRELS, new, old if new is mixed else runs_of([GOOD] * 12), "R@10", over="tail:0.9").decisions
        assert words in decision.sentence()
        assert decision.fails == (new is not mixed)


def test_queries_without_a_group_are_counted() -> None:
    groups = dict.fromkeys([*QRELS][:9], "some")
    notes = gate(QRELS, runs_of([BAD] * 12), runs_of([GOOD] * 12), by=groups).notes
    (text,) = [note.text for note in notes if note.kind == "without group"]
    assert text == "3 queries without a group: left out of the groups"


def test_what_would_be_noticed_is_said_with_what_moves_anyway() -> None:
    old, moved = runs_of([GOOD] * 12), runs_of([BAD] + [GOOD] * 11)
    moved["q5"], old["q5"] = GOOD, BAD
    still, moving = (gate(QRELS, new, old, "R@10").notes for new in (old, moved))
    texts = [note.text for notes in (still, moving) for note in notes if note.kind == "noticed"]
    assert texts == [
        "R@10: with 12 queries this gate has an 80 % chance of catching a change that breaks 57 % of them while 17 % "
        "get better or worse at random, as many as now"
    ]
    (found, _) = gate(QRELS, old, old).decisions
    assert [note.text for note in notes_on([found])] == [
        "NumRelRet: with 12 queries this gate has an 80 % chance of catching a change that breaks 58 % of them and "
        "fixes none"
    ]


@pytest.mark.parametrize("level", [0.05, 0.025, 0.5, 0.25, 0.001])
def test_the_fewest_losses_are_the_first_that_suffice(level: float) -> None:
    fewest = fewest_losses(level)
    assert chance_of_losses(0, fewest) < level <= chance_of_losses(0, fewest - 1)


@given(st.integers(1, 300), st.sampled_from([0.05, 0.01]))
def test_the_loss_that_is_noticed_if_nothing_else_moves_is_noticed_with_this_power(n: int, level: float) -> None:
    share = noticed_share(n, 0, level, 0.8)
    assert math.isfinite(share) == (n >= fewest_losses(level))
    if math.isfinite(share):
        assert stats.binom.sf(fewest_losses(level) - 1, n, share) == pytest.approx(0.8)


@costly(60)
@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    st.sampled_from([0.3, 0.05, 0.025, 0.004]),
    st.sampled_from([0.5, 0.8, 0.95]),
)
def test_the_share_made_worse_is_noticed_with_this_power_whatever_else_moves(
    counts: tuple[int, int], level: float, power: float
) -> None:
    n, untied = counts
    share = noticed_share(n, untied, level, power)
    if share == math.inf:
        assert naive.sign_gate_power(1.0, n, untied, level) == 0
    elif share > 1e-9:
        assert naive.sign_gate_power(share, n, untied, level) == pytest.approx(power, abs=1e-9)
    else:  # what moves anyway is taken for a loss so often
        assert naive.sign_gate_power(0.0, n, untied, level) >= power


@given(rankings, rankings)
def test_the_difference_that_a_t_test_notices_is_noticed_with_this_power(new: Any, old: Any) -> None:
    differences = np.subtract(_values(new), _values(old))
    decision = gate(QRELS, new, old, "AP").decisions[0]
    assume(differences.std() > 1e-9 and not decision.compared.counts)
    size = decision.noticed
    shift = size / differences.std(ddof=1) * math.sqrt(len(QRELS))
    assert stats.nct.sf(stats.t.isf(0.05, len(QRELS) - 1), len(QRELS) - 1, shift) == pytest.approx(0.8, abs=1e-3)


def test_all_builds_together_spend_alpha() -> None:
    assert sum(level_of_build(0.05, build, 7) for build in range(1, 8)) == pytest.approx(0.05)
    with pytest.raises(UsageError, match="counted from 1 to 7"):
        level_of_build(0.05, 8, 7)
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


def test_tables_list_what_offends_what_is_lost_and_what_is_gained() -> None:
    old, new = runs_of([["d0", "x", "d1"]] * 12), runs_of([["d0", "d1"]] * 12)
    new["q3"], old["q4"], new["q5"] = ["d0", "x", "y", "d2"], ["d0", "d2"], ["d0", "x", "y", "d1"]
    lost = "no query loses a relevant document"
    result = gate(QRELS, new, old, require=[lost, f"{lost} within the first 2"])
    tables = {table.header[1]: [row[:4] for row in table.rows] for table in result.tables()}
    assert [cells[1] for cells in tables["found"]] == [
        "2 relevant documents are lost, on 2 queries",
        "1 relevant document is lost within the first 2, on 1 query",
    ]
    assert tables[f"against {lost} within the first 2"] == [("q4", "d2", "2", "-")]
    assert tables["lost"] == [("q3", "d1", "3", "-"), ("q4", "d2", "2", "-")]
    assert [row[0] for row in tables["why"]] == ["q5"]  # of what is found later
    assert tables["gained"] == [("q3", "d2", "-", "4"), ("q4", "d1", "-", "2")]
    assert f"against {lost}" not in tables  # which is the list of what is lost


def test_programs_get_every_document_that_offends() -> None:
    deep = "every relevant document is found within the first 1"
    result = gate(QRELS, runs_of([GOOD] * 12), require=deep)
    rows = [row for row in map(json.loads, result.render("jsonl").split("\n")) if row["kind"] == "offence"]
    assert [(row["query"], row["document"]) for row in rows] == [(q, d) for q in QRELS for d in ("d1", "d2")]
    assert {row["requirement"] for row in rows} == {deep}


def test_changes_are_of_queries_on_which_something_is_elsewhere() -> None:
    new, old = runs_of([GOOD] * 12), runs_of([GOOD] * 12)
    new["q5"], old["q6"] = (["d0", "x", "d1", "d2"] for _ in range(2))
    assert {change.query: change.sign for change in gate(QRELS, new, old).changes} == {"q5": -1, "q6": 1}


def test_nothing_lost_is_said_in_words() -> None:
    result = gate(QRELS, runs_of([GOOD] * 12), runs_of([GOOD] * 12), require="no query loses a relevant document")
    assert result.checks[0].sentence == "no relevant document is lost"


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
        ("AT most  2 % of the queries  lose a relevant document", "at most 2% of queries lose a relevant document"),
        (
            "at most .5% of queries lose a relevant document within the first 100 with 99.90 % confidence",
            "at most 0.5% of queries lose a relevant document within the first 100 with 99.9% confidence",
        ),
    ],
)
def test_requirements_are_read(text: str, meant: str) -> None:
    assert [str(each) for each in parse_requirements([text])] == [meant]
    assert parse_requirements([meant]) == parse_requirements([text])


def test_all_requirements_that_cannot_be_read_are_named_at_once() -> None:
    wrong = ["All@20=1", "AP > much", "worst of AP > 1", "LexiRecall > 0.5", "Nonsense >= 1", "all is well"]
    shares = (
        "0",
        "0.0",
        "100",
        "100.1",
        "-1",
        "+1",
        "1e1",
        "nan",
        "inf",
        "1/2",
        "٢",
        "1_0",
        "2.",
        "x",
        "1,5",
        "1" * 5000,
    )
    lose = "% of queries lose a relevant document"
    wrong += [f"at most {each}{lose}" for each in shares if each != "2."]
    wrong += [f"at most 2{lose} with {each}% confidence" for each in ("0.95", "50", "100", "-95", "x")]
    wrong += [f"at most 2{lose} with 95% confidence within the first 9", f"at most 2{lose} within the first 0"]
    wrong += ["no query loses a relevant document within the first " + "9" * 5000]
    with pytest.raises(UsageError) as caught:
        parse_requirements(["AP > 0", *wrong])
    assert all(f"{text!r:.200}" in str(caught.value) for text in wrong)
    assert len(str(caught.value)) < 10_000
    assert "no query loses a relevant document" in str(caught.value)


@given(
    rankings, rankings, st.sampled_from([None, 1, 3]), st.integers(1, 999),
    st.sampled_from([None, "80", "95", "99.9"]), st.booleans(),
)  # fmt: skip
def test_at_most_a_share_of_queries_loses_something(
    new: Any, old: Any, depth: int | None, thousandths: int, confidence: str | None, is_at_edge: bool
) -> None:
    relevant = ["d0", "d1", "d2"]
    losing = [q for q in QRELS if naive.lost_documents(relevant, old[q], new[q], depth)]
    share = Fraction(max(len(losing), 1), len(QRELS)) if is_at_edge else Fraction(thousandths, 1000)
    text = f"at most {100 * float(share):.9f}% of queries lose a relevant document"
    share = Fraction(f"{100 * float(share):.9f}") / 100
    assume(share < 1)
    text += f" within the first {depth}" if depth else ""
    risk = None if confidence is None else 1 - Fraction(confidence) / 100
    text += f" with {confidence}% confidence" if confidence else ""
    if risk is not None and (1 - share) ** len(QRELS) > risk:
        with pytest.raises(UsageError, match=r"quer\w+ to show it if nothing is lost, and there are 12") as caught:
            gate(QRELS, new, old, require=text)
        needed = int(re.findall(r"takes ([\d,]+) quer", str(caught.value))[0].replace(",", ""))
        assert (1 - share) ** needed <= risk < (1 - share) ** (needed - 1) or needed > 1000
        return
    (checked,) = gate(QRELS, new, old, require=text).checks
    assert {offence.query for offence in checked.offences} == set(losing)
    assert checked.row()["limit"] == float(share)
    if risk is None:
        assert checked.passed == (Fraction(len(losing), len(QRELS)) <= share)
        assert checked.value == len(losing) / len(QRELS)
    else:  # shown: so few queries that lose would be unlikely if the share were larger
        assert checked.passed == (naive.binomial_at_most(len(losing), len(QRELS), share) <= risk)
        assert naive.binomial_at_most(len(losing), len(QRELS), Fraction(checked.value)) == pytest.approx(float(risk))


def test_a_share_of_queries_is_said_in_words_and_the_worst_query_comes_first() -> None:
    new, old = runs_of([BAD, ["d0", "d1", "d3"]] + [GOOD] * 10), runs_of([GOOD] * 12)
    texts = [f"at most {share}% of queries lose a relevant document" for share in ("10", "20", "50")]
    passing, more, surely = gate(
        QRELS, new, old, require=[texts[1], texts[0], f"{texts[2]} with 90% confidence"]
    ).checks
    assert [each.passed for each in (passing, more, surely)] == [True, False, True]
    assert more.sentence == "2 of 12 queries lose a relevant document (16.6667%), which is more than 10%"
    assert surely.sentence == (
        "2 of 12 queries lose a relevant document (16.6667%, with 90% confidence at most 38.5522%), which is not more "
        "than 50%"
    )
    assert [offence.query for offence in more.offences] == ["q0", "q1"]
    assert [len(offence.documents) for offence in more.offences] == [2, 1]
    assert more.is_of_any_loss


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
        ({"require": "at most 2% of queries lose a relevant document"}, "needs a baseline"),
    ],
)
def test_what_makes_no_sense_is_refused(options: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        gate(QRELS, runs_of([GOOD] * 12), **options)


@pytest.mark.parametrize(("measure", "margin"), [("NumRelRet", 1), ("LexiRecall", 2), ("All@3", 1.5), ("AP", math.inf)])
def test_a_margin_that_every_run_keeps_is_refused_before_anything_is_read(measure: str, margin: float) -> None:
    with pytest.raises(UsageError, match=f"no difference in {measure} is above 1|must be 0 or more"):
        gate("no qrels", "no run", "no baseline", ["LastRel", measure], margin=margin)


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


def test_a_run_that_has_no_value_on_some_queries_is_worse_there() -> None:
    """LastRel, without a corpus size: the new run is better by its mean, which leaves out what it does not find."""
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(12)}
    old = {query: [*"xyab"] for query in qrels}
    new = {query: [*"ab"] if i < 2 else ["a"] for i, query in enumerate(qrels)}
    failed = gate(qrels, new, old, "LastRel")
    assert not failed.passed
    [row] = [row for row in failed.rows() if row["kind"] == "measure"]
    assert (row["wins"], row["losses"], row["queries"], row["test"]) == (2, 10, 12, "sign test")
    assert row["p"] == pytest.approx(float(naive.one_sided_sign_p(2, 10)))
    assert gate(qrels, old, new, "LastRel").passed
    assert not gate(qrels, old, new, "LastRel", margin=1).passed  # no mean shows that the loss is below 1

"""Comparing runs: what is tested, corrected, marked and printed."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import naive
from command import Outcome
from lexirecall import compare, parse_preference, project, simulate_collection
from lexirecall.errors import UsageError
from lexirecall.fields import choices_of
from lexirecall.measures import LAST_REL
from lexirecall.preferences import orders
from lexirecall.preferences.preference import preference_of
from lexirecall.results import Comparison
from lexirecall.statistics.differences import Differences, of_pairs
from lexirecall.statistics.maxt import max_t
from lexirecall.verbs import subject as asked
from lexirecall.verbs.comparison import _labels, _ranges
from lexirecall.verbs.testing import Testing
from strategies import Collection, collections, costly

Command = Callable[..., Outcome]

SIMULATED = simulate_collection(7, num_queries=24)
FILES = SIMULATED.to_trec()
GOOD = {name: text.encode() for name, text in FILES.items()}
RUNS = sorted(name for name in FILES if name.endswith(".run"))
MEASURES = ["LexiRecall", "AP", "TSE", "LastRel", "RPP"]
UNDEFINED = ("LastRel",)
AT_ONCE = ("hsd", "randomized-hsd", "max-t")


@pytest.fixture(scope="module")
def positions() -> Any:
    return project(SIMULATED.qrels, SIMULATED.runs, corpus_size=SIMULATED.corpus_size)


def by_pair(comparison: Comparison) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["a"], row["b"], row["measure"]): row for row in comparison.rows()}


def note_of(comparison: Comparison, kind: str) -> str:
    """Return the text of the notes of one kind, empty if there is none."""
    return "\n".join(note.text for note in comparison.notes if note.kind == kind)


def constant(num_queries: int, num_runs: int = 2) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments, and runs of which each is better than the next on every query, by as much."""
    qrels = {f"q{i}": {"a": 1} for i in range(num_queries)}
    rankings = [[*(f"x{k}" for k in range(r)), "a"] for r in range(num_runs)]
    return qrels, {f"r{r}": dict.fromkeys(qrels, ranking) for r, ranking in enumerate(rankings)}


def at_depths(num_queries: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments, and two runs of which the first is better on every query, not by as much on each."""
    qrels = {f"q{i}": {"a": 1} for i in range(num_queries)}
    deep = {query: [*(f"x{k}" for k in range(1 + i % 7)), "a"] for i, query in enumerate(qrels)}
    return qrels, {"first": {query: ["a"] for query in qrels}, "deep": deep}


# The numbers


def test_every_pair_of_every_measure_is_compared_once(positions: Any) -> None:
    rows = by_pair(compare(positions, measures=MEASURES))
    names = positions.runs
    expected = {(a, b, m) for i, a in enumerate(names) for b in names[i + 1 :] for m in MEASURES}
    assert rows.keys() == expected


def test_the_default_tests_are_those_of_scipy(positions: Any) -> None:
    rows = by_pair(compare(positions, measures=["AP", "LexiRecall", "RPP"], correction="none"))
    values = {name: parse_preference(name).pairs(positions.at_level(1)).values for name in ("AP", "LexiRecall", "RPP")}
    for i, a in enumerate(positions.runs):
        for j, b in enumerate(positions.runs[i + 1 :], i + 1):
            for name in ("AP", "RPP"):
                theirs = stats.ttest_1samp(values[name][i, j], 0)
                low, high = theirs.confidence_interval(0.95)
                row = rows[a, b, name]
                assert (row["mean"], row["p"]) == pytest.approx((values[name][i, j].mean(), theirs.pvalue))
                assert (row["low"], row["high"]) == pytest.approx((low, high))
            signs = values["LexiRecall"][i, j]
            wins, losses = int((signs > 0).sum()), int((signs < 0).sum())
            row = rows[a, b, "LexiRecall"]
            expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1
            assert row["p"] == pytest.approx(expected)
            assert (row["wins"], row["losses"], row["test"]) == (wins, losses, "sign test")


def test_where_lower_is_better_the_lower_is_preferred(positions: Any) -> None:
    rows = by_pair(compare(positions, measures=["LastRel"]))
    means = LAST_REL.scores(positions.at_level(1)).mean(axis=1)
    mean = dict(zip(positions.runs, means, strict=True))
    for (a, b, _), row in rows.items():
        assert row["mean"] == pytest.approx(mean[b] - mean[a])


@pytest.mark.parametrize("test", choices_of(Testing, "test"))
def test_the_order_of_the_runs_changes_nothing(positions: Any, test: str) -> None:
    plan = Testing(test, num_resamples=500, seed=3)
    names = [*SIMULATED.runs]
    first = by_pair(compare(positions, measures=MEASURES, **asdict(plan)))
    turned = {name: SIMULATED.runs[name] for name in reversed(names)}
    other = project(SIMULATED.qrels, turned, corpus_size=SIMULATED.corpus_size)
    for (b, a, measure), row in by_pair(compare(other, measures=MEASURES, **asdict(plan))).items():
        twin = first[a, b, measure]
        assert row["mean"] == -twin["mean"]
        assert (row["wins"], row["ties"], row["losses"]) == (twin["losses"], twin["ties"], twin["wins"])
        assert (row["p"], row["p_corrected"], row["effective"]) == (twin["p"], twin["p_corrected"], twin["effective"])
        assert row["low"] == (None if twin["high"] is None else -twin["high"])
        if row["response"] is not None:
            assert (row["response"], row["response_low"]) == (-twin["response"], -twin["response_high"])


@pytest.mark.parametrize("test", choices_of(Testing, "test"))
def test_a_seed_gives_the_same_result_again(positions: Any, test: str) -> None:
    plan = Testing(test, num_resamples=200, seed=11)
    assert [*compare(positions, measures=["AP"], **asdict(plan)).rows()] == [
        *compare(positions, measures=["AP"], **asdict(plan)).rows()
    ]


def test_another_seed_gives_other_resamples(positions: Any) -> None:
    def pvalues(seed: int) -> list[float]:
        plan = Testing("randomization", num_resamples=100, seed=seed)
        return [row["p"] for row in compare(positions, measures=["AP"], **asdict(plan)).rows()]

    assert pvalues(1) != pvalues(2)


@pytest.mark.parametrize("test", choices_of(Testing, "test"))
def test_identical_runs_have_p_1(test: str) -> None:
    runs = {"x": SIMULATED.runs["deep.run"], "y": SIMULATED.runs["deep.run"], "z": SIMULATED.runs["random.run"]}
    rows = by_pair(compare(SIMULATED.qrels, runs, ["AP", "LexiRecall"], test=test, num_resamples=200))
    for measure in ("AP", "LexiRecall"):
        row = rows["x", "y", measure]
        is_outside = test == "max-t" and measure == "AP"  # of values: equal runs have no error to divide by
        assert (row["p"], row["p_corrected"], row["mean"]) == (1, None if is_outside else 1, 0)
        assert rows["x", "z", measure]["p"] < 0.05


@pytest.mark.parametrize("test", choices_of(Testing, "test"))
def test_a_single_query_is_no_evidence(test: str) -> None:
    runs = {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}
    comparison = compare({"q": {"a": 1}}, runs, ["AP"], test=test, num_resamples=50)
    (row,) = comparison.rows()
    assert row["mean"] == 0.5
    assert row["p"] in (None, 1)
    assert row["p_corrected"] in (None, 1)
    if row["p_corrected"] is None:
        left_out = "too few queries differ for max-t" if test == "max-t" else "without a p-value"
        assert left_out in " ".join(note.text for note in comparison.notes)


def test_the_response_of_a_preference_may_disagree_with_the_head_to_head_mean() -> None:
    """3 × a > b > c > d and 2 × b > c > d > a: a beats b 3 to 2, yet responds .2 against .6."""
    orders = ["abcd"] * 3 + ["bcda"] * 2
    qrels = {f"q{i}": {"rel": 1} for i in range(5)}
    runs = {
        run: {f"q{i}": [f"n{k}" for k in range(order.index(run))] + ["rel"] for i, order in enumerate(orders)}
        for run in "abcd"
    }
    comparison = compare(qrels, runs, ["LexiRecall"], test="hsd")
    row = by_pair(comparison)["a", "b", "LexiRecall"]
    assert row["mean"] == pytest.approx(0.2)
    assert row["response"] == pytest.approx(0.2 - 0.6)
    assert row["response_low"] < row["response"] < row["response_high"]
    assert row["low"] < row["mean"] < row["high"]
    note = note_of(comparison, "responses")
    assert "depends on which other runs are there" in note
    assert "contradicts the head-to-head mean in 1 pair (LexiRecall 1)" in note
    assert comparison.pairs_table().header[3:8] == ("mean", "low", "high", "p", "low_all")
    assert comparison.pairs_table().header[8:11] == ("high_all", "p_corrected", "response")
    matrix = comparison.matrix_table(comparison.measures[0])
    assert "0.2000 (-0.4000)" in {cell for cells in matrix.rows for cell in cells}


def test_a_baseline_is_compared_with_all_and_corrected_over_those_pairs_only(positions: Any) -> None:
    everything = by_pair(compare(positions, measures=["AP"], correction="bonferroni"))
    names = positions.runs
    against = by_pair(compare(positions, measures=["AP"], correction="bonferroni", baseline=names[1]))
    assert {(a, b) for a, b, _ in against} == {(a, b) for a, b, _ in everything if names[1] in (a, b)}
    for key, row in against.items():
        assert row["p"] == everything[key]["p"]
        assert row["p_corrected"] == pytest.approx(min(1, row["p"] * (len(names) - 1)))


def corrected_by_holm(pvalues: list[float]) -> list[float]:
    """The smallest times the number of p-values, the next times one less, …; none below an earlier one, or above 1."""
    corrected, before = [0.0] * len(pvalues), 0.0
    for step, i in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        corrected[i] = before = max(before, min(1.0, (len(pvalues) - step) * pvalues[i]))
    return corrected


@pytest.mark.parametrize("places", [(1, 0), (0, 3), (2, 1, 3), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("name", ["AP", "LexiRecall"])
def test_several_baselines_are_compared_with_all_and_with_each_other_once(
    positions: Any, places: tuple[int, ...], name: str
) -> None:
    names = positions.runs
    places = tuple(place for place in places if place < len(names))
    everything = by_pair(compare(positions, measures=[name]))
    against = by_pair(compare(positions, measures=[name], baseline=[names[place] for place in places]))
    asked = [(a, b) for i, a in enumerate(names) for j, b in enumerate(names) if i < j and {i, j} & {*places}]
    assert [(a, b) for a, b, _ in against] == asked
    for key, row in against.items():
        regards_all = ("p_corrected", "low_all", "high_all", "survives", "influence")
        same = {column: value for column, value in row.items() if column not in regards_all}
        assert same == {column: everything[key][column] for column in same}
    expected = corrected_by_holm([row["p"] for row in against.values()])
    assert [row["p_corrected"] for row in against.values()] == pytest.approx(expected)


def test_several_baselines_are_in_letters_and_one_in_a_list_is_one(positions: Any) -> None:
    names = positions.runs
    alone, listed = (compare(positions, measures=["AP"], baseline=each) for each in (names[1], [names[1], names[1]]))
    assert all(alone.render(view=view) == listed.render(view=view) for view in ("runs", "pairs", "matrix"))
    several = compare(positions, measures=["AP"], baseline=[names[1], names[0]])
    places = several.order.best_first
    better = several.measures[0].better(len(names), several.alpha)
    labels, table = _labels(len(names)), several.table()
    for r, s in enumerate(places):
        worse = sorted(places.index(t) for t in np.flatnonzero(better[s]).tolist())
        assert table.marks.get((r, 1), "") == _ranges(worse, labels)
    assert f"worse, only pairs with {names[1]} or {names[0]} being tested (paired t" in table.footnote
    assert several.tested_ranks is None


def test_unknown_baselines_name_the_runs(positions: Any) -> None:
    with pytest.raises(UsageError, match=r"no run is called 'bm25'.*\n.*deep"):
        compare(positions, measures=["AP"], baseline="bm25")
    with pytest.raises(UsageError, match=r"no run is called 'bm25', 'dph'\n"):
        compare(positions, measures=["AP"], baseline=["bm25", positions.runs[0], "dph"])


@given(collection=collections(max_runs=4), test=st.sampled_from(choices_of(Testing, "test")))
@costly(60)
def test_any_collection_can_be_compared(collection: Collection, test: str) -> None:
    positions = project(collection.qrels, collection.runs)
    if len(positions.runs) < 2 or not positions.judgments.num_relevant(1).any():
        return
    for queries in ("all", "intersection"):
        comparison = compare(positions, measures=MEASURES, test=test, num_resamples=20, queries=queries)
        for row in comparison.rows():
            num_compared = row["wins"] + row["ties"] + row["losses"]
            assert num_compared == row["queries"] or (row["measure"] in UNDEFINED and num_compared > row["queries"])
            assert row["p"] is None or 0 <= row["p"] <= 1
            if test not in AT_ONCE:
                assert row["p"] is None or row["p_corrected"] >= row["p"] - 1e-15
            assert row["p_corrected"] is None or 0 <= row["p_corrected"] <= 1
            centre = row["mean"] if row["estimate"] is None else row["estimate"]
            assert row["low"] is None or row["low"] <= centre + 1e-12 <= row["high"] + 2e-12
            assert row["response_low"] is None or row["response_low"] <= row["response"] <= row["response_high"]
            assert (row["response"] is not None) <= (test in ("hsd", "randomized-hsd"))
        for view in ("runs", "pairs", "matrix", "power"):
            for form in ("table", "markdown", "latex", "html", "jsonl", "tsv"):
                comparison.render(form, view=view)


TEN = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
FINDS_ALL = {query: [*"xyzab"] for query in TEN}
FINDS_HALF = {query: [*"ab"] if i < 3 else ["a"] for i, query in enumerate(TEN)}


@pytest.mark.parametrize("test", choices_of(Testing, "test"))
def test_a_run_without_a_value_on_some_queries_loses_them_and_the_sign_test_decides(test: str) -> None:
    """On the three queries on which both have a value the other run is better."""
    made = compare(TEN, {"all": FINDS_ALL, "half": FINDS_HALF}, ["LastRel"], test=test, num_resamples=50)
    [row] = made.rows()
    assert (row["wins"], row["ties"], row["losses"]) == (7, 0, 3)
    assert (row["queries"], row["mean"]) == (3, -3)
    assert row["p"] == pytest.approx(2 * float(naive.one_sided_sign_p(3, 7)))
    assert (row["p_corrected"] is None) == (test in AT_ONCE)
    assert row["low"] is row["high"] is None
    assert made.measures[0].tested[0] == pytest.approx(0.4) or test in AT_ONCE
    [note] = [note for note in made.notes if note.kind == "one-sided"]
    assert note.text.startswith("1 pair with queries on which only one of the two runs has a value (LastRel 1): it")
    assert "half 7" in next(note.text for note in made.notes if note.kind == "undefined")


def test_where_neither_run_has_a_value_they_tie_and_the_t_test_decides() -> None:
    late = {query: ["x", *found] for query, found in FINDS_HALF.items()}
    made = compare(TEN, {"late": late, "half": FINDS_HALF}, ["LastRel"])
    [row] = made.rows()
    assert (row["wins"], row["ties"], row["losses"], row["queries"], row["mean"]) == (0, 7, 3, 3, -1)
    assert row["p"] == 0.25  # of three equal differences, by flipping signs
    assert "one-sided" not in [note.kind for note in made.notes]


def test_empty_queries_are_ties_if_they_count() -> None:
    qrels = {"q": {"a": 1}, "none": {"a": 0}}
    runs = {"x": {"q": ["a"], "none": ["a"]}, "y": {"q": ["b", "a"], "none": ["b"]}}
    rows = by_pair(compare(qrels, runs, ["AP", "LexiRecall"], no_relevant="zero"))
    assert rows["x", "y", "AP"]["queries"] == rows["x", "y", "LexiRecall"]["queries"] == 2
    assert by_pair(compare(qrels, runs, ["AP"]))["x", "y", "AP"]["queries"] == 1


def test_a_preference_that_is_made_from_a_measure_counts_the_queries_that_the_measure_does() -> None:
    """LastRel is best at 0: there, a query with nothing to find is in no number, whichever verb makes it."""
    positions = project({"q": {"a": 1}, "r": {"a": 0}}, {"x": {"q": ["a"], "r": ["a"]}, "y": {"q": ["b", "a"]}})
    comparison = compare(positions, measures=[preference_of(LAST_REL)], no_relevant="zero")
    assert comparison.averages.counts.tolist() == [[1], [1]]
    assert [row["queries"] for row in comparison.rows()] == [1]


def test_differences_are_those_of_the_pairs(positions: Any) -> None:
    pairs = parse_preference("AP").pairs(positions.at_level(1))
    differences = Differences.of(pairs)
    for k, (a, b) in enumerate(zip(differences.a, differences.b, strict=True)):
        assert (differences.wins[k], differences.ties[k], differences.losses[k]) == (
            pairs.wins[a, b], pairs.ties[a, b], pairs.losses[a, b],
        )  # fmt: skip
        assert differences.means[k] == pytest.approx(pairs.means[a, b])
        assert differences.deviations[k] == pytest.approx(pairs.values[a, b].std(ddof=1))


def test_the_deviation_of_equal_differences_is_exactly_0() -> None:
    counted = np.array([[True, True, True, False], [True, False, False, False], [False] * 4])
    values = np.where(counted, -0.1, 0.0)
    differences = Differences(np.zeros(3, int), np.ones(3, int), values, counted)
    assert differences.deviations[0] == 0
    assert np.isnan(differences.deviations[1:]).all()
    assert np.isnan(differences.means[2])


# A pair by itself, and all pairs at once


@pytest.mark.parametrize("test", AT_ONCE)
def test_a_test_of_all_pairs_leaves_the_p_and_the_interval_of_each(positions: Any, test: str) -> None:
    measures = ["AP", "LexiRecall", "RPP"]
    alone = by_pair(compare(positions, measures=measures, correction="none"))
    for key, row in by_pair(compare(positions, measures=measures, test=test, num_resamples=200)).items():
        for name in ("mean", "p", "low", "high", "effect", "effective", "wins", "queries"):
            assert row[name] == alone[key][name]
        assert row["correction"] == "none"
        assert (row["response"] is None) == (test == "max-t")


def test_max_t_is_that_of_the_differences(positions: Any) -> None:
    rows = by_pair(compare(positions, measures=["AP", "LexiRecall"], test="max-t", num_resamples=300, seed=5))
    for name in ("AP", "LexiRecall"):
        differences = Differences.of(parse_preference(name).pairs(positions.at_level(1)))
        expected = max_t(differences, num_resamples=300, seed=5).pvalues.tolist()
        assert [row["p_corrected"] for (_, _, measure), row in rows.items() if measure == name] == expected


def test_max_t_against_a_baseline_regards_only_the_pairs_with_it(positions: Any) -> None:
    settings: dict[str, Any] = {"measures": ["AP"], "test": "max-t", "num_resamples": 300}
    everything = by_pair(compare(positions, **settings))
    against = by_pair(compare(positions, **settings, baseline=positions.runs[1]))
    pairs = Differences.of(parse_preference("AP").pairs(positions.at_level(1)))
    asked = of_pairs(pairs, (pairs.a == 1) | (pairs.b == 1))
    assert [row["p_corrected"] for row in against.values()] == max_t(asked, num_resamples=300).pvalues.tolist()
    assert all(row["p_corrected"] <= everything[key]["p_corrected"] for key, row in against.items())


@pytest.mark.parametrize("test", [name for name in choices_of(Testing, "test") if name not in AT_ONCE])
def test_a_baseline_changes_no_p_of_a_pair_by_itself(positions: Any, test: str) -> None:
    settings: dict[str, Any] = {"measures": MEASURES, "test": test, "num_resamples": 100}
    everything = by_pair(compare(positions, **settings))
    for key, row in by_pair(compare(positions, **settings, baseline=positions.runs[2])).items():
        same = ("mean", "p", "low", "high", "effect", "effective", "estimate", "wins")
        assert {name: row[name] for name in same} == {name: everything[key][name] for name in same}


def test_letters_follow_the_corrected_p(positions: Any) -> None:
    comparison = compare(positions, measures=["AP"], test="max-t")
    [compared] = comparison.measures
    better = compared.better(len(positions.runs), 0.05)
    for row in comparison.rows():
        a, b = (positions.runs.index(row[side]) for side in "ab")
        assert (better[a, b] or better[b, a]) == (row["p_corrected"] < 0.05)
        assert better[a, b] <= (row["mean"] > 0)


def test_the_matrix_marks_what_only_the_pair_by_itself_shows() -> None:
    """Six wins of six have p = 1/32, and three times that is not below .05."""
    comparison = compare(*constant(6, num_runs=3), ["LexiRecall"])
    matrix = comparison.matrix_table(comparison.measures[0])
    assert {*matrix.marks.values()} == {"(*)"}
    assert matrix.footnote == "row less column; *: p < 0.05, sign test after holm; (*): only by itself, sign test"


def test_wilcoxon_has_an_estimate_and_others_have_none(positions: Any) -> None:
    for test in choices_of(Testing, "test"):
        for row in compare(positions, measures=["AP", "LexiRecall"], test=test, num_resamples=50).rows():
            assert (row["estimate"] is not None) == (test == "wilcoxon" and row["measure"] == "AP")


def test_only_sign_tests_have_no_effective_number(positions: Any) -> None:
    for test in choices_of(Testing, "test"):
        for row in compare(positions, measures=["AP", "LexiRecall"], test=test, num_resamples=50).rows():
            is_sign_test = test == "sign" or (row["measure"] == "LexiRecall" and test in ("auto", *AT_ONCE))
            assert (row["effective"] is None) == is_sign_test
            assert row["effective"] is None or 0 < row["effective"] <= row["queries"]


# What may be concluded


@pytest.mark.parametrize(("num_runs", "enough"), [(3, 7), (8, 11)])
def test_a_note_says_that_nothing_can_be_significant_and_what_would_do(num_runs: int, enough: int) -> None:
    few = note_of(compare(*constant(enough - 1, num_runs), ["LexiRecall", "AP"]), "nothing can be significant")
    assert few.startswith(f"no difference can be significant: on {enough - 1} queries the p of the sign test")
    assert f"it takes {enough} untied queries (LexiRecall" in few
    comparison = compare(*constant(enough, num_runs), ["LexiRecall", "AP"])
    assert not note_of(comparison, "nothing can be significant")
    assert any(row["p_corrected"] < 0.05 for row in comparison.rows())


@pytest.mark.parametrize("test", ["max-t", "randomized-hsd", "randomization"])
def test_too_few_resamples_are_noted(test: str) -> None:
    qrels, runs = at_depths(30) if test == "max-t" else constant(30)
    few = compare(qrels, runs, ["AP"], test=test, num_resamples=19)
    assert next(few.rows())["p_corrected"] >= 0.05
    assert "19 resamples" in note_of(few, "nothing can be significant")
    assert "it takes 20 resamples" in note_of(few, "nothing can be significant")
    enough = compare(qrels, runs, ["AP"], test=test, num_resamples=20)
    assert next(enough.rows())["p_corrected"] == 1 / 21
    assert not note_of(enough, "nothing can be significant")


def test_the_number_of_resamples_is_noted(positions: Any) -> None:
    drawn = compare(positions, measures=["AP", "LexiRecall"], test="max-t", num_resamples=77, seed=3)
    assert note_of(drawn, "resamples") == "77 resamples; seed 3 (AP, LexiRecall)"
    enough = compare(positions, measures=["AP"], test="randomization")
    least = "10,000 resamples, so that the least corrected p is 0.0006"
    assert note_of(enough, "resamples") == f"{least}; seed 0 (AP)"
    tried = compare(*constant(6), ["LexiRecall"], test="max-t")
    assert note_of(tried, "resamples") == "all 64 sign patterns (LexiRecall)"
    assert not note_of(compare(positions, measures=["AP"], test="hsd"), "resamples")


@pytest.mark.parametrize(("test", "is_noted"), [("t", True), ("hsd", True), ("max-t", False), ("sign", False)])
def test_few_queries_that_decide_are_noted_for_t_and_hsd(test: str, is_noted: bool) -> None:
    """One query of twenty differs much, the others hardly: 3 (sum d²)²/sum d⁴ is 3."""
    qrels = {f"q{i}": {"a": 1} for i in range(20)}
    deep = [f"x{k}" for k in range(1000)]
    runs = {
        "x": {q: ["a"] if q == "q7" else [*deep, "a"] for q in qrels},
        "y": {q: [*deep, "y", "a"] for q in qrels},
        "z": {q: ["x0", "a"] if i % 2 else ["a"] for i, q in enumerate(qrels)},
    }
    note = note_of(compare(qrels, runs, ["AP"], test=test), "few queries decide")
    assert bool(note) == is_noted
    if is_noted:
        assert note.startswith("in 1 pair (AP 1) fewer than 8 queries make most of the difference")
        assert "no letter" in note


def test_an_interval_that_disagrees_with_p_is_noted() -> None:
    """9 wins and 2 losses: the score test has .035, the exact binomial test .065."""
    qrels = {f"q{i}": {"a": 1} for i in range(11)}
    wins = {name: [(i < 9) == is_first for i in range(11)] for name, is_first in (("x", True), ("y", False))}
    runs = {name: {f"q{i}": ["a"] if won else ["x", "a"] for i, won in enumerate(each)} for name, each in wins.items()}
    comparison = compare(qrels, runs, ["LexiRecall"])
    [row] = comparison.rows()
    assert row["p"] > 0.05
    assert row["low"] > 0
    assert "1 pair whose interval excludes 0 though p is not below 0.05" in note_of(comparison, "interval and p")


# Bad usage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"test": "anova"}, "test is 'anova', but must be one of auto, t"),
        ({"correction": "sidak"}, "correction is 'sidak'"),
        ({"alpha": 0}, "alpha is 0"),
        ({"alpha": 1.5}, "alpha is 1.5"),
        ({"num_resamples": 0}, "number of resamples is 0"),
        ({"test_ties": "half"}, "test_ties is 'half'"),
    ],
)
def test_bad_settings_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Testing(**arguments)


def test_one_run_is_nothing_to_compare() -> None:
    with pytest.raises(UsageError, match="only one run"):
        compare(SIMULATED.qrels, SIMULATED.runs["deep.run"], ["AP"])


# The command line


def test_the_table_marks_who_is_better_than_whom(command: Command) -> None:
    outcome = command("compare", "qrels.txt", *RUNS, "-m", "LexiRecall", "-m", "AP")
    lines = outcome.out.splitlines()
    assert (outcome.code, lines[0].split()) == (0, ["run", "LexiRecall", "(win", "rate)", "AP"])
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["a", "deep.run"], ["b", "precise.run"], ["c", "shallow.run"], ["d", "random.run"],
    ]  # fmt: skip
    assert lines[1].split()[3] == "b-d"
    assert lines[-1] == (
        "raised letters: runs that are significantly worse (sign test, paired t; holm, alpha 0.05, each measure by "
        "itself)"
    )


def test_marks_against_a_baseline(command: Command) -> None:
    outcome = command("compare", "qrels.txt", *RUNS, "-m", "LexiRecall", "--baseline", "precise.run")
    lines = outcome.out.splitlines()
    assert [line.split()[3:] for line in lines[1:5]] == [["+"], [], ["-"], ["-"]]
    assert "than precise.run (sign test" in lines[-1]
    by_path = command("compare", "qrels.txt", *RUNS, "-m", "LexiRecall", "--baseline", "./precise.run")
    assert by_path.out == outcome.out


def test_jsonl_holds_every_pair(command: Command) -> None:
    outcome = command("compare", "qrels.txt", *RUNS, "-m", "AP", "-f", "jsonl")
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert len(rows) == 6
    assert [*rows[0]][:9] == ["a", "b", "measure", "mean", "wins", "ties", "losses", "p", "p_corrected"]
    assert (rows[0]["a"], rows[0]["b"]) == ("deep.run", "precise.run")
    tsv = command("compare", "qrels.txt", *RUNS, "-m", "AP", "-f", "tsv").out.splitlines()
    assert len(tsv) == 7
    assert tsv[0].split("\t") == [*rows[0]]


@pytest.mark.parametrize(
    ("form", "pattern"),
    [("latex", r"$^{\mathrm{b-d}}$"), ("markdown", "<sup>b-d</sup>"), ("html", "<sup>b-d</sup>")],
)
def test_marks_in_every_layout(command: Command, form: str, pattern: str) -> None:
    assert pattern in command("compare", "qrels.txt", *RUNS, "-m", "LexiRecall", "-f", form).out


def test_pairs_matrix_and_power(command: Command) -> None:
    pairs = command("compare", "qrels.txt", *RUNS, "-m", "AP", "--show", "pairs").out.splitlines()
    assert pairs[0].split()[:4] == ["a", "b", "measure", "mean"]
    assert len(pairs) == 7 + 2
    assert pairs[-1].startswith(
        "low, high, p: of the pair by itself (95% interval, paired t); low_all, high_all, p_corrected: with"
    )
    matrix = command("compare", "qrels.txt", *RUNS, "-m", "AP", "-m", "RR", "--show", "matrix").out
    assert matrix.count("row less column") == 2
    power = command("compare", "qrels.txt", *RUNS, "-m", "AP", "-m", "R@1000", "--show", "power", "-f", "jsonl").out
    rows = [json.loads(line) for line in power.splitlines()]
    assert [row["measure"] for row in rows] == ["AP", "R@1000"]
    assert all(row["pairs"] == 6 and row["share"] == row["significant"] / 6 for row in rows)
    assert [*rows[0]] == [
        "measure",
        "test",
        "correction",
        "pairs",
        "significant",
        "share",
        "tied",
        "detectable",
        "detectable_as",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("qrels.txt", "deep.run"), 2, "two or more runs"),
        (("qrels.txt", "deep.run", "deep.run"), 2, "same name"),
        (("qrels.txt", *RUNS, "--baseline", "nobody"), 2, "no run is called 'nobody'"),
        (("qrels.txt", *RUNS, "--test", "anova"), 2, "anova"),
        (("qrels.txt", *RUNS, "--alpha", "2"), 2, "alpha is 2"),
        (("qrels.txt", "deep.run", "gone.run"), 1, "gone.run"),
    ],
)
def test_bad_usage_is_an_error_without_a_result(
    command: Command, arguments: tuple[str, ...], code: int, message: str
) -> None:
    outcome = command("compare", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


def test_more_than_26_runs_have_labels() -> None:
    runs = {f"r{i:02}": {"q": [f"x{k}" for k in range(i)] + ["a"]} for i in range(30)}
    comparison = compare({"q": {"a": 1}}, runs, ["RR"])
    assert str(comparison).splitlines()[30].split()[:2] == ["ad", "r29"]
    assert len(set(_labels(1000))) == 1000


def test_rows_become_frames(positions: Any) -> None:
    comparison = compare(positions, measures=["AP", "LexiRecall"])
    frame = comparison.to_pandas()
    assert frame.shape == (12, 24)
    assert comparison.to_polars().shape == (12, 24)
    assert "<table>" in comparison._repr_html_()


def test_a_comparison_is_sorted_and_rounded_as_asked() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in {"old": ["x", "a"], "new": ["a"]}.items()}
    comparison = compare(qrels, runs, ["RR"])
    assert [row[0] for row in comparison.table().rows] == ["a new", "b old"]
    given = comparison.sorted_by("given").with_digits(1)
    assert given.table().rows == (("a old", "0.5"), ("b new", "1.0"))
    assert given.table().marks == {(1, 1): "a"}
    assert list(given.rows()) == list(comparison.rows())
    assert given.pairs_table().rows[0][3] == "-0.5"
    assert given.matrix_table(given.measures[0]).rows == (("old", "", "-0.5"), ("new", "0.5", ""))


@pytest.mark.parametrize("options", [{}, {"over": ("mean", "tail:0.5")}, {"test": "hsd"}], ids=str)
def test_names_are_read_once_and_an_order_of_rankings_is_computed_once(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    calls: Counter[str] = Counter()
    for module, name in ((asked, "parse_names"), (orders, "_ranks")):

        def counting(function: Any, *arguments: Any) -> Any:
            calls[function.__name__] += 1
            return function(*arguments)

        monkeypatch.setattr(module, name, partial(counting, getattr(module, name)))
    runs = {"a": {"q": ["x", "y"], "r": ["x"]}, "b": {"q": ["y", "z", "x"], "r": ["z", "x"]}}
    compare({"q": {"x": 1, "y": 1}, "r": {"x": 1}}, runs, ["LexiRecall", "AP", "LexiPrecision"], **options)
    assert calls == {"parse_names": 1, "_ranks": 2}

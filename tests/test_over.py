"""What the values of many queries become as one number: by its definition, in any order, and in resamples."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

import naive
from lexirecall import evaluate
from lexirecall.errors import UsageError
from lexirecall.results import Scores
from lexirecall.statistics.queryaggregate import (
    QueryAggregate,
    over_queries,
    quantile_intervals,
    quantile_places,
    tail_influence,
)
from strategies import quick

NAMES = ("mean", "median", "min", "quantile:0.5", "quantile:0.07", "quantile:1", "tail:0.1", "tail:0.35", "tail:1")
VALUES = (0.0, 0.1, 0.2, 0.3, 1 / 3, 0.7, 1.0, 17.0, math.inf, math.nan)
names = st.sampled_from(NAMES)
lists = st.lists(st.sampled_from(VALUES), min_size=1, max_size=12)


def directed(values: list[float], direction: int) -> list[float]:
    """Return values that are infinite where that is worst."""
    return [-value if math.isinf(value) and direction > 0 else value for value in values]


def same(found: float, expected: Fraction | float) -> bool:
    """Tell whether a number is the float nearest to the exact one."""
    if isinstance(expected, float):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    return math.isclose(found, float(expected), rel_tol=3e-16)


def of(name: str, values: list[float], direction: int = 1, *, is_sum: bool = False) -> float:
    table = np.array(values, float).reshape(1, len(values), 1)
    made = over_queries(table, QueryAggregate.parse(name), directions=np.array([direction]), is_sum=np.array([is_sum]))
    return float(made.item())


# Numbers


@given(lists, names, st.sampled_from([1, -1]), st.booleans())
@example([math.nan], "tail:0.1", 1, False)
@example([math.inf, 1.0], "median", -1, False)
@quick(200)
def test_a_number_is_that_of_its_definition(values: list[float], name: str, direction: int, is_sum: bool) -> None:
    values = directed(values, direction)
    assert same(of(name, values, direction, is_sum=is_sum), naive.over_queries(name, values, direction, is_sum=is_sum))


@given(lists, names, st.randoms())
@quick(50)
def test_a_number_does_not_depend_on_the_order_of_queries(values: list[float], name: str, draw: object) -> None:
    shuffled = sorted(values, key=lambda _: draw.random())  # type: ignore[attr-defined]
    assert same(of(name, values, -1), of(name, shuffled, -1))


@given(lists, names)
@quick(50)
def test_runs_and_measures_do_not_touch_each_other(values: list[float], name: str) -> None:
    other = [1.0 - i for i in range(len(values))]
    table = np.array([[values, other], [other, values]], float).transpose(0, 2, 1)
    made = over_queries(table, QueryAggregate.parse(name), directions=np.array([-1, 1]))
    expected = [[of(name, values, -1), of(name, other)], [of(name, other, -1), of(name, values)]]
    np.testing.assert_array_equal(made, expected)


def test_the_share_is_taken_in_exact_decimals() -> None:
    values = [float(i) for i in range(1, 101)]
    assert of("quantile:0.07", values) == 7.0  # ceil(0.07 * 100) is 8 in floats
    assert of("tail:0.07", values) == 4.0
    assert of("tail:0.07", values, -1) == 97.0


def test_the_worst_of_a_measure_where_lower_is_better_are_the_highest() -> None:
    assert of("tail:0.5", [1.0, 2.0, 10.0, 20.0], -1) == 15.0
    assert of("min", [1.0, 2.0, 10.0, 20.0], -1) == 1.0  # the least, literally


def test_a_query_that_was_never_whole_counts_as_deepest() -> None:
    depths = [3.0, math.inf, 5.0, 4.0]
    assert of("quantile:0.75", depths, -1) == 5.0
    assert of("quantile:0.8", depths, -1) == math.inf
    assert of("mean", depths, -1) == 4.0
    assert of("tail:0.25", depths, -1) == math.inf


# Intervals


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0, math.inf]), min_size=1, max_size=30), st.integers(1, 20))
@quick(80)
def test_the_interval_of_a_quantile_is_between_ordered_values(column: list[float], twentieths: int) -> None:
    share = Fraction(twentieths, 20)
    low, high = quantile_intervals(
        np.array([*column, math.nan])[:, None], QueryAggregate.parse(f"quantile:{twentieths / 20}")
    )
    expected = naive.quantile_interval(column, share, Fraction(1, 20))
    is_none = expected == (-math.inf, math.inf) and naive.quantile_interval(
        list(range(len(column))), share, Fraction(1, 20)
    ) == (-math.inf, math.inf)
    assert np.isnan([low, high]).all() if is_none else (low.item(), high.item()) == expected


@pytest.mark.parametrize("n", [6, 11, 50])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_interval_of_a_quantile_holds_it_at_least_as_often_as_it_says(n: int, share: float) -> None:
    """Of values that are all different, the k-th is at most the quantile if k or more are."""
    low, high = quantile_places(n, share, 0.05)
    assert binom.cdf(high - 1, n, share) - binom.cdf(low - 1, n, share) >= 0.95


def test_a_tail_of_all_values_moves_as_their_mean() -> None:
    values = np.array([[0.5, 0.1], [0.25, 0.2], [1.0, 0.9]])
    np.testing.assert_allclose(np.ptp(tail_influence(values, 3), axis=0), np.ptp(values, axis=0))


# Names


@pytest.mark.parametrize("name", [*NAMES, "quantile:.5", "tail:1e-1"])
def test_a_name_is_printed_as_typed(name: str) -> None:
    assert str(QueryAggregate.parse(name)) == name


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["quantile:2"], "cannot read 'quantile:2' (the share must be above 0 and at most 1)"),
        (["tail:0"], "cannot read 'tail:0' (the share must be above 0 and at most 1)"),
        (["tail:nan"], "cannot read 'tail:nan' (the share must be above 0 and at most 1)"),
        (["tail:-0.1"], "cannot read 'tail:-0.1' (the share must be above 0 and at most 1)"),
        (["tail:x"], "cannot read 'tail:x' (the share is not a number)"),
        (["tail:"], "cannot read 'tail:' (the share is not a number)"),
        (["tail"], "cannot read 'tail' (write tail:0.1, for example)"),
        (["mean", "worst", "", "median:0.5"], "cannot read 'worst', '', 'median:0.5'"),
        (["quantile:Q"], "cannot read 'quantile:Q' (the share is not a number)"),
        (["median", "median"], "'median' is given twice"),
        (["tail:0.1", "tail:.10"], "'tail:0.1' and 'tail:.10' are the same"),
    ],
)
def test_nonsense_is_refused_all_at_once(names: list[str], problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        QueryAggregate.parse_all(names)
    assert raised.value.problem == f"over: {problem}"
    assert raised.value.remedy


# Evaluation

MEASURES = ("AP", "R@3", "Depth@1", "LastRel", "SL1", "NumRet", "LexiRecall")
DEEP = ("Depth@1", "LastRel", "SL1")
"""Those that are undefined where a document was not retrieved."""
QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(1, 11)} | {"q0": {"a": 0}}
RUNS: dict[str, Any] = {
    "deep": {q: [f"x{i}" for i in range(int(q[1:]))] + ["a", "b"] for q in QRELS},
    "flat": {q: ["a", "x", "b"] if q != "q7" else ["a"] for q in QRELS},
}


def value(scores: Scores, run: str, over: str, measure: str) -> float | None:
    found: dict[str, Any] = scores.to_dict()
    number: float | None = found[run][over][measure]
    return number


def test_the_mean_is_the_same_whether_it_is_named_or_not() -> None:
    plain, named = evaluate(QRELS, RUNS, MEASURES), evaluate(QRELS, RUNS, MEASURES, over="mean")
    assert {run: made["mean"] for run, made in named.to_dict().items()} == plain.to_dict()
    rows = [{key: cell for key, cell in row.items() if key != "over"} for row in named.rows()]
    assert rows == list(plain.rows())
    assert [row["over"] for row in named.rows()] == ["mean"] * len(rows)


def test_over_replaces_the_mean_unless_it_is_named_too() -> None:
    assert evaluate(QRELS, RUNS, ["AP"], over=["min"]).over == ("min",)
    assert evaluate(QRELS, RUNS, ["AP"], over=["min", "mean"]).over == ("min", "mean")
    assert evaluate(QRELS, RUNS, ["AP"]).over == ("mean",)


@pytest.mark.parametrize("over", ["median", "min", "quantile:0.3", "tail:0.25"])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_number_is_made_of_the_values_of_the_queries(over: str, measure: str) -> None:
    scores = evaluate(QRELS, RUNS, [measure], over=over)
    for s, run in enumerate(scores.runs):
        own = [
            math.inf if math.isnan(v) and measure in DEEP and q != "q0" else v
            for q, v in zip(scores.queries, scores.values[s, :, 0].tolist(), strict=True)
        ]
        expected = naive.over_queries(over, own, scores.measures[0].direction)
        found = value(scores, run, over, measure)
        assert same(math.inf if found is None else found, expected)


def test_the_depth_at_which_most_queries_are_whole() -> None:
    shares = ["quantile:0.5", "quantile:0.9", "quantile:0.95"]
    scores = evaluate(QRELS, RUNS, ["Depth@1"], over=shares)
    assert [value(scores, "deep", each, "Depth@1") for each in shares] == [7.0, 11.0, 12.0]
    # nine of ten are whole at 3, and one never is
    assert [value(scores, "flat", each, "Depth@1") for each in shares] == [3.0, 3.0, None]
    kinds = {note.kind: note.text for note in scores.notes}
    assert kinds["infinitely deep"] == (
        "values that are undefined because a document was not retrieved (Depth@1 1) count as infinitely deep in "
        "quantile:0.5, quantile:0.9, quantile:0.95"
    )
    assert kinds["undefined over queries"].endswith("not retrieved: quantile:0.95 Depth@1 (1)")
    assert " -" in str(scores)
    known = evaluate(QRELS, RUNS, ["Depth@1"], over=shares, corpus_size=100)
    assert value(known, "flat", "quantile:0.95", "Depth@1") == 100.0


def test_a_query_that_does_not_count_is_not_infinitely_deep() -> None:
    runs = {"a": {"q1": ["a", "b"], "q2": ["a", "b"]}, "b": RUNS["flat"]}
    scores = evaluate(QRELS, runs, ["LastRel"], over="quantile:1", queries="intersection")
    assert value(scores, "a", "quantile:1", "LastRel") == 2.0  # q3 … are not answered, q0 has nothing relevant
    scores = evaluate(QRELS, runs, ["LastRel"], over="quantile:1")
    assert value(scores, "a", "quantile:1", "LastRel") is None


def test_win_rates_are_aggregated_like_values() -> None:
    scores = evaluate(QRELS, RUNS, ["LexiRecall"], over=["mean", "tail:0.2"])
    own = [v for v in scores.values[0, :, 0].tolist() if not math.isnan(v)]
    assert value(scores, "deep", "tail:0.2", "LexiRecall") == sum(sorted(own)[:2]) / 2


def test_runs_are_sorted_by_what_is_asked_for_first() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"even": {"q1": ["x", "a"], "q2": ["x", "a"]}, "odd": {"q1": ["a"], "q2": ["x", "y", "z", "a"]}}
    assert evaluate(qrels, runs, ["RR"]).sorted_by("RR").runs == ("odd", "even")
    ordered = evaluate(qrels, runs, ["RR"], over="min").sorted_by("RR")
    assert ordered.runs == ("even", "odd")
    assert [row["run"] for row in ordered.rows()] == ["even", "odd"]
    assert [row["value"] for row in ordered.rows()] == [0.5, 0.25]


def test_counts_are_summed_only_by_the_mean() -> None:
    scores = evaluate(QRELS, RUNS, ["NumRelRet"], over=["mean", "median", "tail:0.1"])
    assert [value(scores, "flat", over, "NumRelRet") for over in scores.over] == [19.0, 2.0, 1.0]


def test_nonsense_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError, match="cannot read 'worst'"):
        evaluate("missing.txt", "missing.run", over="worst")


def test_trec_lines_have_no_place_for_it() -> None:
    with pytest.raises(UsageError, match="--over cannot be printed as trec"):
        evaluate(QRELS, RUNS, ["AP"], over="min").render("trec")


def test_frames_say_what_a_number_is_over() -> None:
    frame = evaluate(QRELS, RUNS, ["AP"], over=["mean", "min"]).to_polars()
    assert frame.columns == ["run", "over", "measure", "value"]
    assert frame["over"].to_list() == ["mean", "mean", "min", "min"]
    per_query = evaluate(QRELS, RUNS, ["AP"], over=["min"]).to_polars(per_query=True)
    assert per_query.columns == ["run", "query", "measure", "value"]


def test_the_manifest_says_what_was_asked_for() -> None:
    asked = evaluate(QRELS, RUNS, ["AP"], over=["tail:0.10"]).manifest.conventions
    assert asked["over"] == ["tail:0.10"]
    assert "over" not in evaluate(QRELS, RUNS, ["AP"]).manifest.conventions

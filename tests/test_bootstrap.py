"""Resampling the queries: draws are fair, intervals are those of the definition, and nothing else shows in them."""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import compare, evaluate, project, rank, report
from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray
from lexirecall.results import Pairs
from lexirecall.statistics import bootstrap, studentized_intervals
from lexirecall.statistics.aggregate import from_pairs, order_runs
from lexirecall.statistics.bootstrap import (
    RESAMPLED,
    bootstrap_order,
    draw_below,
    percentile_interval,
    resampled_counts,
    significant_ranks,
)
from strategies import quick
from test_aggregate import Profile, pairs_of, profiles, signs_of

ALPHA = Fraction(1, 10)
VALUES = (0.0, 0.1, 0.2, 0.3, 1 / 3, 0.7, 1.0, 17.0, float("nan"))
SCORES: dict[str, Callable[[int, list[naive.Vote]], list[Fraction]]] = {
    "winrate": naive.mean_win_rates,
    "borda": naive.borda_points,
    "copeland": lambda size, votes: naive.copeland_points(naive.majority_signs(size, votes)),
}
QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(24)}
RUNS: dict[str, Any] = {
    "good": {q: ["a", "b"] if i % 3 else ["x", "a", "b"] for i, q in enumerate(QRELS)},
    "poor": {q: ["x", "y", "a"] if i % 2 else ["a", "x", "b"] for i, q in enumerate(QRELS)},
}


def lines_of(run: dict[str, list[str]]) -> bytes:
    return "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()


GOOD = {"qrels": "".join(f"{q} 0 {d} 1\n" for q in QRELS for d in "ab").encode(), **{
    name: lines_of(run) for name, run in RUNS.items()
}}  # fmt: skip
FILES = ("qrels", "good", "poor")
FOOTNOTE = "[low, high]: 95 % interval of a mean, by the studentized bootstrap (200 resamples of the queries, seed 3)"


def words(seed: int) -> Iterator[int]:
    bits = np.random.PCG64(seed)
    while True:
        yield int(bits.random_raw())


def draws(num_queries: int, num_resamples: int, seed: int) -> list[list[int]]:
    """Return what each resample draws, by the definition."""
    stream = words(seed)
    return [naive.drawn_below(num_queries, num_queries, stream) for _ in range(num_resamples)]


def simulated(shape: tuple[int, ...], seed: int = 0) -> FloatArray:
    return np.random.Generator(np.random.PCG64(seed)).random(shape)


# Draws


@given(st.integers(1, 9), st.integers(1, 20), st.integers(0, 2**70), st.sampled_from([1, 7, 2**20]))
@quick(50)
def test_a_resample_counts_the_draws_of_the_stream_in_blocks_of_any_size(
    num_queries: int, num_resamples: int, seed: int, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "_BLOCK", block)
        counts = np.concatenate(list(resampled_counts(num_queries, num_resamples, seed)))
    expected = [[own.count(q) for q in range(num_queries)] for own in draws(num_queries, num_resamples, seed)]
    assert counts.tolist() == expected


@pytest.mark.parametrize("bound", [1, 3, 2**32, 2**62 + 1, 2**63 - 1])
def test_words_that_would_make_some_numbers_likelier_are_passed_over(bound: int) -> None:
    """For 2^62 + 1 that is a quarter of all words; the next ones of the stream take their places."""
    assert draw_below(bound, 50, np.random.PCG64(5)).tolist() == naive.drawn_below(bound, 50, words(5))


def test_the_last_word_that_counts_counts() -> None:
    """2^64 is 6 more than a multiple of 10, so the last six words are passed over."""

    class Given:
        left = [2**64 - 1, 2**64 - 6, 2**64 - 7, 3, 14]  # noqa: RUF012 - a test has one of it

        def random_raw(self, size: int) -> Any:
            return np.array([self.left.pop(0) for _ in range(size)], np.uint64)

    assert draw_below(10, 3, Given()).tolist() == [9, 3, 4]  # type: ignore[arg-type]


def test_every_query_is_drawn_equally_often() -> None:
    """Each of 7 cells has 70,000 expected draws with a standard deviation of about 245."""
    total = sum(block.sum(axis=0) for block in resampled_counts(7, 70_000, 1))
    assert np.abs(total - 70_000).max() < 4 * 245


# Intervals


@given(
    st.lists(st.lists(st.sampled_from(VALUES), min_size=45, max_size=45), min_size=1, max_size=3), st.integers(1, 19)
)
@quick(40)
def test_ends_are_the_kth_smallest_and_largest(rows: list[list[float]], twentieths: int) -> None:
    lows, highs = percentile_interval(np.array(rows), twentieths / 20)
    for low, high, row in zip(lows, highs, rows, strict=True):
        numbers = [None if np.isnan(value) else Fraction(value) for value in row]
        ends = naive.percentile_ends(numbers, Fraction(twentieths, 20))
        assert (low, high) == ends if ends else np.isnan([low, high]).all()


def test_k_is_exact_although_floats_are_not() -> None:
    """360 · 0.35/2 is 63, but 62.99… in floats."""
    ends = percentile_interval(np.arange(1.0, 360).reshape(1, 359), 0.35)
    assert [end.tolist() for end in ends] == [[63], [297]]


def test_ends_are_numpys_where_both_are_defined_alike() -> None:
    """(B + 1) alpha/2 is 50: Weibull's quantile is then a number of the sample."""
    resampled = simulated((3, 999))
    expected = np.quantile(resampled, [0.05, 0.95], axis=1, method="weibull")
    np.testing.assert_allclose(percentile_interval(resampled, 0.1), expected, rtol=1e-12)


# Orders


# equal sums of thirds, which are not equal in floats
THIRDS = 4, [naive.Vote({0, 1, 2, 3}, signs_of(grades)) for grades in ([3, 0, 0, 0], [2, 2, 2, 2], [1, 3, 1, 3])]


@given(profiles(most=4), st.sampled_from(list(RESAMPLED)), st.integers(0, 9))
@example(THIRDS, "winrate", 0)
@quick(80)
def test_runs_are_ordered_again_in_each_resample(profile: Profile, method: str, seed: int) -> None:
    size, votes = profile
    compared = [vote for vote in votes if len(vote.present) > 1]
    made = bootstrap_order(pairs_of(profile), method, num_resamples=29, seed=seed, alpha=float(ALPHA))
    drawn = draws(len(compared), 29, seed) if compared else [[]] * 29
    scores = [SCORES[method](size, [compared[q] for q in own]) for own in drawn]
    ranks = [naive.run_ranks(own) for own in scores]
    assert made.num_queries == len(compared)
    assert made.first.tolist() == pytest.approx(list(map(float, naive.shares_of_first(ranks))), abs=1e-12)
    for s in range(size):
        assert (made.rank_lows[s], made.rank_highs[s]) == naive.percentile_ends([Fraction(r[s]) for r in ranks], ALPHA)


@pytest.mark.parametrize("method", RESAMPLED)
def test_a_resample_of_one_query_is_the_order_on_it(method: str) -> None:
    grades = np.array([[1], [3], [3], [0]])
    pairs = Pairs("", (*"abcd",), ("q",), np.sign(grades[:, None] - grades), np.ones((4, 1), bool))
    made, order = bootstrap_order(pairs, method, num_resamples=50), order_runs(pairs, method)
    assert made.rank_lows.tolist() == made.rank_highs.tolist() == order.ranks.tolist()
    assert made.first.tolist() == [0, 0.5, 0.5, 0]


def test_tests_leave_a_range_of_ranks() -> None:
    """a is better than c and d, b than d."""
    better = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]], bool)
    lows, highs = significant_ranks(better)
    assert (lows.tolist(), highs.tolist()) == ([1, 1, 2, 3], [2, 3, 4, 4])


# What is asked wrongly


@pytest.mark.parametrize("method", sorted({*from_pairs()} - RESAMPLED.keys()))
def test_what_cannot_be_resampled_is_refused_before_anything_is_read(method: str) -> None:
    with pytest.raises(UsageError, match=f"would have to solve {method} anew in each resample"):
        rank("gone.qrels", ["gone1", "gone2"], method=method, bootstrap=100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": 38}, "38 resamples are too few for a 95 % interval\n  take 39 or more"),
        ({"bootstrap": 0}, "bootstrap is 0, but must be a whole number from 1 to 100000"),
        ({"bootstrap": 10**9}, "bootstrap is 1000000000, but"),
        ({"bootstrap": 99.5}, r"bootstrap is 99\.5, but"),
        ({"bootstrap": 99, "seed": -1}, "seed is -1, but must be a whole number of at least 0"),
    ],
)
def test_wrong_numbers_are_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    for verb in (evaluate, rank, compare, report):
        with pytest.raises(UsageError, match=message):
            verb("gone.qrels", ["gone1", "gone2"], **options)


def test_least_numbers_of_resamples_give_an_interval() -> None:
    for num_resamples, alpha in ((39, 0.05), (199, 0.01), (19, 0.1)):
        ends = studentized_intervals(simulated((9, 1)), num_resamples=num_resamples, alpha=alpha)
        assert np.isfinite(ends).all()
        with pytest.raises(UsageError, match=f"take {num_resamples} or more"):
            studentized_intervals(simulated((9, 1)), num_resamples=num_resamples - 1, alpha=alpha)


# The verbs


def test_rows_of_means_have_their_intervals() -> None:
    positions = project(QRELS, RUNS)
    scores = evaluate(positions, measures=["AP", "R@2"], bootstrap=200, seed=4)
    lows, highs = studentized_intervals(scores.values.transpose(1, 0, 2).reshape(24, 4), num_resamples=200, seed=4)
    rows = [row for row in scores.rows(per_query=True) if row["query"] == "all"]
    assert rows == list(scores.rows()) == list(scores.averages.rows())
    assert [row["low"] for row in rows] == [None if np.isnan(low) else low for low in lows]
    assert [row["high"] for row in rows] == [None if np.isnan(high) else min(high, 1.0) for high in highs]
    assert all(row["low"] is None or row["low"] <= row["value"] <= row["high"] for row in rows)
    single = next(scores.rows(per_query=True))
    assert (single["query"], single["low"], single["high"]) == ("q0", None, None)
    assert scores.to_dict() == evaluate(positions, measures=["AP", "R@2"]).to_dict()


def test_frames_of_means_have_the_ends_and_frames_of_queries_do_not() -> None:
    scores = evaluate(QRELS, RUNS, ["AP"], bootstrap=99)
    assert scores.to_pandas().columns.tolist() == ["run", "measure", "value", "low", "high"]
    assert scores.to_pandas(per_query=True).columns.tolist() == ["run", "query", "measure", "value"]
    assert evaluate(QRELS, RUNS, ["AP"]).to_pandas().columns.tolist() == ["run", "measure", "value"]


def test_the_intervals_follow_their_runs_and_digits() -> None:
    scores = evaluate(QRELS, RUNS, ["AP"], bootstrap=99)
    ends = {row["run"]: (row["low"], row["high"]) for row in scores.rows()}
    by_name = scores.sorted_by("name").with_digits(2)
    turned = evaluate(QRELS, dict(reversed(RUNS.items())), ["AP"], bootstrap=99).sorted_by("AP")
    for each in (by_name, turned):
        assert {row["run"]: (row["low"], row["high"]) for row in each.rows()} == ends
    low, high = ends["good"]
    assert f"[{low:.2f}, {high:.2f}]" in str(by_name)


def test_the_manifest_records_resamples_only_if_there_are_any() -> None:
    conventions = evaluate(QRELS, RUNS, ["AP"], bootstrap=99, seed=7).manifest.conventions
    assert (conventions["bootstrap"], conventions["seed"]) == (99, 7)
    assert not {"bootstrap", "seed"} & evaluate(QRELS, RUNS, ["AP"], seed=7).manifest.conventions.keys()


def test_a_seed_gives_the_same_and_another_seed_another_interval() -> None:
    def lows(seed: int) -> list[float]:
        return [row["low"] for row in evaluate(QRELS, RUNS, ["AP"], bootstrap=199, seed=seed).rows()]

    assert lows(1) == lows(1) != lows(2)


def test_a_minimum_is_not_resampled() -> None:
    scores = evaluate(QRELS, RUNS, providers={"a": "x", "b": "y"}, bootstrap=99)
    overall = [row for row in scores.rows() if row["measure"] == "WorstProviderOverall"]
    assert [(row["low"], row["high"]) for row in overall] == [(None, None)] * 2
    assert "a minimum has no interval: WorstProviderOverall" in {note.text for note in scores.notes}


@pytest.mark.parametrize("method", RESAMPLED)
def test_rows_of_an_order_have_what_became_of_it(method: str) -> None:
    ranking = rank(QRELS, RUNS, method=method, bootstrap=200, seed=4)
    rows = list(ranking.rows())
    ranks = ["first", "rank_low", "rank_high", "best_rank", "worst_rank"]
    assert list(rows[0]) == ["run", "rank", "score", "low", "high", *ranks]
    assert [row["run"] for row in rows] == ["good", "poor"]
    assert sum(row["first"] for row in rows) == pytest.approx(1)
    has_interval = method == "winrate"
    assert all((row["low"] is not None) == has_interval for row in rows)
    assert not has_interval or all(row["low"] <= row["score"] <= row["high"] for row in rows)
    assert [(row["best_rank"], row["worst_rank"]) for row in rows] == [(1, 1), (2, 2)]  # 16 wins, and no loss
    assert ranking.to_dict()["good"] == {name: value for name, value in rows[0].items() if name != "run"}
    assert ranking.to_pandas().columns.tolist() == list(rows[0])


def test_a_comparison_has_the_intervals_at_its_own_level() -> None:
    comparison = compare(QRELS, RUNS, ["AP", "LexiRecall"], bootstrap=200, seed=4, alpha=0.2)
    assert comparison.scores is not None
    found = comparison.averages.intervals
    assert found is not None
    lows, highs = studentized_intervals(comparison.scores.values[:, :, 0].T, num_resamples=200, seed=4, alpha=0.2)
    assert (found.lows[:, 0].tolist(), found.highs[:, 0].tolist()) == (lows.tolist(), np.minimum(highs, 1).tolist())
    assert f"; {found.footnote}; first: share" in comparison.table().footnote
    assert found.footnote == (
        "[low, high]: 80 % interval of a mean, by the studentized bootstrap (200 resamples of the queries, seed 4); "
        "of a win rate, by Tango's score test"
    )


def test_a_comparison_says_how_certain_the_places_are() -> None:
    """By resamples, as rank does, and by the tests of the first measure."""
    comparison = compare(QRELS, RUNS, ["LexiRecall", "AP"], bootstrap=200, seed=4)
    rows = list(rank(QRELS, RUNS, bootstrap=200, seed=4).rows())
    table, ranks = comparison.table(), comparison.tested_ranks
    assert table.header[-3:] == ("first", "resampling range", "ranks by tests")
    assert ranks is not None
    assert [row[0].split()[1] for row in table.rows] == [row["run"] for row in rows]
    for cells, row in zip(table.rows, rows, strict=True):
        low, high = (int(ends[comparison.runs.index(row["run"])]) for ends in ranks)
        assert cells[-3:] == (
            f"{row['first']:.3f}", f"{row['rank_low']} to {row['rank_high']}", f"{low} to {high}"
        )  # fmt: skip
    against = compare(QRELS, RUNS, ["LexiRecall"], bootstrap=200, baseline="good").table()
    assert against.header[-2:] == ("first", "resampling range")
    assert len({len(row) for row in (against.header, *against.rows)}) == 1


def test_a_page_says_how_certain_the_places_are() -> None:
    page = report(QRELS, RUNS, ["LexiRecall"], output=None, bootstrap=200, seed=4)
    rows = list(rank(QRELS, RUNS, bootstrap=200, seed=4).rows())
    shown, comparison = page.payload["certainty"], page.findings.comparison
    assert shown["first"] == pytest.approx([row["first"] for row in rows], abs=1e-5)
    assert shown["ranks"] == [[row["rank_low"], row["rank_high"]] for row in rows]
    assert comparison is not None
    assert comparison.tested_ranks is not None
    order = comparison.order.best_first
    assert shown["tested"] == [[int(ends[s]) for ends in comparison.tested_ranks] for s in order]
    against = report(QRELS, RUNS, ["LexiRecall"], output=None, bootstrap=200, baseline="good")
    assert "tested" not in against.payload["certainty"]
    assert "certainty" not in report(QRELS, RUNS, ["LexiRecall"], output=None).payload


@pytest.mark.parametrize("names", [["good", "poor"], ["poor"]])
def test_a_page_has_the_intervals_in_the_order_of_its_runs(names: list[str]) -> None:
    runs = {name: RUNS[name] for name in reversed(names)}
    page = report(QRELS, runs, ["AP"], output=None, bootstrap=200, seed=3)
    assert page.payload["runs"] == names
    rows = {row["run"]: row for row in evaluate(QRELS, runs, ["AP"], bootstrap=200, seed=3).rows()}
    shown = page.payload["intervals"]
    assert [row[0] for row in shown["low"]] == pytest.approx([rows[name]["low"] for name in names], rel=1e-9)
    assert [row[0] for row in shown["high"]] == pytest.approx([rows[name]["high"] for name in names], rel=1e-9)
    assert page.payload["manifest"]["conventions"]["bootstrap"] == 200
    assert FOOTNOTE in page.html()
    assert "intervals" not in report(QRELS, runs, ["AP"], output=None).payload


# The commands


def test_tables_say_what_the_brackets_are(command: Command) -> None:
    outcome = command("eval", *FILES, "-m", "AP", "--bootstrap", "200", "--seed", "3", "--digits", "2")
    assert (outcome.code, outcome.err) == (0, "")
    header, good, _, _, footnote = outcome.out.splitlines()
    low, high = (row[end] for end in ("low", "high") for row in [next(iter(resampled().rows()))])
    assert header.split() == ["run", "AP"]
    assert good == f"good  {0.8611:.2f} [{low:.2f}, {high:.2f}]"
    assert footnote == FOOTNOTE
    latex = command("eval", *FILES, "-m", "AP", "--bootstrap", "200", "--seed", "3", "-f", "latex").out
    assert "% [low, high]: 95 % interval of a mean, by the studentized bootstrap" in latex


def resampled() -> Any:
    return evaluate(QRELS, RUNS, ["AP"], bootstrap=200, seed=3)


def test_rows_for_programs_have_the_fields_of_python(command: Command) -> None:
    lines = command("eval", *FILES, "-m", "AP", "--bootstrap", "200", "--seed", "3", "-f", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == list(resampled().rows())
    header = command("eval", *FILES, "-q", "-m", "AP", "--bootstrap", "200", "-f", "tsv").out.splitlines()[0]
    assert header == "run\tquery\tmeasure\tvalue\tlow\thigh"
    header = command("rank", *FILES, "--bootstrap", "200", "-f", "csv").out.splitlines()[0]
    assert header == "run,rank,score,low,high,first,rank_low,rank_high,best_rank,worst_rank"


def test_what_has_no_place_for_intervals_is_refused(command: Command) -> None:
    outcome = command("eval", *FILES, "--bootstrap", "200", "-f", "trec")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("--bootstrap does not work with -f trec, which has no place for intervals")
    for option, value in (("-f", "jsonl"), ("--show", "pairs"), ("--show", "power")):
        outcome = command("compare", *FILES, "--bootstrap", "200", option, value)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"--bootstrap adds intervals to the table of runs, and {option} {value} does not")

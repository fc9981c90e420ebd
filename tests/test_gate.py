"""Gates: what fails, what passes, and what a failure says, in plain pytest too."""

import random
import warnings
from math import comb
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import gate
from lexirecall.adapters.gate import assert_all_found, assert_no_worse, assert_nothing_lost
from lexirecall.errors import UsageError

pytest_plugins = ["pytester"]

QRELS = {f"q{i}": {"a": 1, "b": 1, "c": 0} for i in range(10)}
BOTH = ["a", "b", "c"]
LATE = ["a", "c", "b"]
ONE = ["a", "c"]


def run(*rankings: list[str]) -> dict[str, list[str]]:
    return dict(zip(QRELS, rankings, strict=True))


def failure(*arguments: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_no_worse(*arguments, **options)
    return str(caught.value)


def test_a_run_that_is_better_or_the_same_passes() -> None:
    assert_no_worse(QRELS, run(*[BOTH] * 10), run(*[ONE] * 10))
    assert_no_worse(QRELS, run(*[BOTH] * 10), run(*[BOTH] * 10))


def test_a_run_that_is_worse_by_chance_passes() -> None:
    """Four losses against one win of ten: P(X <= 1 of 5) is 6/32."""
    assert_no_worse(QRELS, run(*[LATE] * 4, *[BOTH] * 6), run(*[BOTH] * 4, LATE, *[BOTH] * 5))


def test_a_run_that_is_significantly_worse_fails_and_says_where_and_why() -> None:
    new, baseline = run(*[LATE] * 4, *[ONE] * 2, *[BOTH] * 4), run(*[BOTH] * 10)
    assert failure(QRELS, new, baseline).splitlines() == [
        "the new run is worse than the baseline by LexiRecall: p = 0.0156 (sign test, one-sided; alpha 0.05)",
        "10 queries: 0 better, 4 tied, 6 worse",
        "",
        "q4: recall level 2 of 2 decides: baseline is preferred: it finds 2 of the 2 relevant documents, new 1; "
        "new lacks b.",
        "    lost: b (was at 2)",
        "q5: recall level 2 of 2 decides: baseline is preferred: it finds 2 of the 2 relevant documents, new 1; "
        "new lacks b.",
        "    lost: b (was at 2)",
        *(
            f"q{i}: recall level 2 of 2 decides: baseline is preferred: both find 2 of the 2 relevant documents and "
            "the last of them is at 2 in baseline (b) and at 3 in new (b)."
            for i in range(3)
        ),
        "and worse on 1 more query",
    ]


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=10, max_size=10), st.sampled_from([0.001, 0.01, 0.05, 0.3]))
def test_it_fails_exactly_if_so_few_wins_are_unlikely(signs: list[int], alpha: float) -> None:
    new = run(*({-1: LATE, 0: BOTH, 1: BOTH}[sign] for sign in signs))
    baseline = run(*({-1: BOTH, 0: BOTH, 1: LATE}[sign] for sign in signs))
    wins, trials = signs.count(1), 10 - signs.count(0)
    p = sum(comb(trials, k) for k in range(wins + 1)) / 2**trials
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if wins < trials - wins and p < alpha:
            assert f"p = {p:.3g} " in failure(QRELS, new, baseline, alpha=alpha)
        else:
            assert_no_worse(QRELS, new, baseline, alpha=alpha)
    assert bool(caught) == (alpha <= 2**-10)


@pytest.mark.parametrize("seed", range(8))
def test_measures_with_a_size_are_tested_as_the_gate_does(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    new, baseline = (run(*(chance.choices([BOTH, LATE, ["c", "a", "b"]], [w, 1, 1])[0] for _ in QRELS)) for w in (1, 9))
    own = gate(QRELS, new, baseline, "AP").decisions[0].compared
    if own.tested < 0 and own.p < 0.05:
        message = failure(QRELS, new, baseline, "AP")
        assert f"worse than the baseline by AP: p = {own.p:.3g} ({own.method}, one-sided; alpha 0.05)" in message
        assert f"; mean difference {own.difference:+.4f}" in message
        assert "AP is worse by " in message
    else:
        assert_no_worse(QRELS, new, baseline, "AP")


def test_queries_come_in_the_order_of_what_they_lose() -> None:
    new, baseline = run(*[LATE] * 5, ["c", "x"], *[LATE] * 4), run(*[BOTH] * 10)
    lines = failure(QRELS, new, baseline, "AP").splitlines()
    assert lines[3:6] == [
        "q5: AP is worse by 1.0000",
        "    lost: a (was at 1), b (was at 2)",
        "q0: AP is worse by 0.1667",
    ]
    assert lines[-1] == "and worse on 5 more queries"


def test_other_preferences_and_lower_is_better_are_gates_too() -> None:
    new, baseline = run(*[["c", "a", "b"]] * 10), run(*[BOTH] * 10)
    assert "q0: worse by LexiPrecision" in failure(QRELS, new, baseline, "LexiPrecision")
    assert "q0: RPP is worse by 1.0000" in failure(QRELS, new, baseline, "RPP")
    assert "q0: LastRel is worse by 1.0" in failure(QRELS, new, baseline, "LastRel")
    assert_no_worse(QRELS, baseline, new, "LastRel")


def test_the_level_of_a_measure_decides_which_documents_are_lost() -> None:
    graded = {query: {"a": 1, "b": 2, "x": 0} for query in QRELS}
    message = failure(graded, run(*[["x"]] * 10), run(*[BOTH] * 10), "LexiRecall(rel=2)")
    assert "lost: b (was at 2)" in message
    assert "a (was at" not in message


def test_a_gate_that_cannot_fail_says_so() -> None:
    four = {query: QRELS[query] for query in ("q0", "q1", "q2", "q3")}
    bad, good = dict.fromkeys(four, ONE), dict.fromkeys(four, BOTH)
    with pytest.warns(UserWarning, match=r"4 queries cannot show that a run is worse \(sign test, alpha 0.05\)"):
        assert_no_worse(four, bad, good)
    with pytest.warns(UserWarning, match=r"1 query cannot show that a run is worse \(sign test"):
        assert_no_worse({"q0": QRELS["q0"]}, {"q0": ONE}, {"q0": BOTH}, "AP")
    with pytest.warns(UserWarning, match="4 queries cannot show"):  # and too few for a test of the mean
        assert_no_worse(four, bad, {**good, "q0": ["a", "x", "b"]}, "AP")


def test_files_of_one_name_dicts_and_frames_are_runs(tmp_path: Path) -> None:
    frames = {}
    for name, ranking in (("new", ONE), ("old", BOTH)):
        rows = [(q, d, 9.0 - i) for q in QRELS for i, d in enumerate(ranking)]
        frames[name] = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
        (tmp_path / name).mkdir()
        (tmp_path / name / "bm25.run").write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows))
    messages = {
        failure(QRELS, frames["new"], frames["old"]),
        failure(QRELS, tmp_path / "new" / "bm25.run", tmp_path / "old" / "bm25.run"),
        failure(QRELS, run(*[ONE] * 10), run(*[BOTH] * 10)),
    }
    assert len(messages) == 1


def test_how_runs_are_read_can_be_said() -> None:
    assert_no_worse(QRELS, run(*[ONE] * 10), run(*[BOTH] * 10), depth=1)
    with pytest.raises(UsageError, match="no single order"):
        assert_no_worse(QRELS, run(*[ONE] * 10), run(*[BOTH] * 10), "AP", ties="expected")
    with pytest.raises(UsageError, match="names 2 measures"):
        assert_no_worse(QRELS, run(*[ONE] * 10), run(*[BOTH] * 10), "AP RR")


def test_ids_cannot_draw_on_the_terminal() -> None:
    qrels = {f"q{i}\x1b[31m": {"a\x1b": 1, "x": 0} for i in range(6)}
    assert "\x1b" not in failure(qrels, {q: ["x"] for q in qrels}, {q: ["a\x1b"] for q in qrels})


def lost(*arguments: Any, **options: Any) -> list[str]:
    with pytest.raises(AssertionError) as caught:
        assert_nothing_lost(*arguments, **options)
    return str(caught.value).splitlines()


def test_a_single_lost_document_is_enough() -> None:
    new, baseline = run(ONE, *[BOTH] * 9), run(*[BOTH] * 10)
    assert lost(QRELS, new, baseline) == [
        "the new run loses 1 relevant document that the baseline has, on 1 of 10 queries",
        "q0: b (was at 2, not retrieved)",
    ]
    assert_nothing_lost(QRELS, baseline, new)
    assert_nothing_lost(QRELS, run(LATE, *[BOTH] * 9), baseline)


def test_within_a_depth_a_document_that_sinks_is_lost_and_the_failure_says_how_deep() -> None:
    new, baseline = run(LATE, *[BOTH] * 9), run(*[BOTH] * 10)
    assert lost(QRELS, new, baseline, 2) == [
        "the new run loses 1 relevant document that the baseline has within the first 2, on 1 of 10 queries",
        "q0: b (was at 2, now at 3)",
    ]
    assert_nothing_lost(QRELS, new, baseline, depth=1)


def test_what_the_baseline_lacks_too_is_not_lost_and_other_grades_do_not_count() -> None:
    assert_nothing_lost(QRELS, run(*[["b"]] * 10), run(*[["b"]] * 10))
    assert_nothing_lost(QRELS, run(*[["a", "b"]] * 10), run(*[BOTH] * 10))
    assert_nothing_lost({"q": {"a": 1, "b": 2}}, {"q": ["b"]}, {"q": ["a", "b"]}, level=2)


def test_a_query_that_the_new_run_does_not_answer_loses_all() -> None:
    new = {query: ranking for query, ranking in run(*[BOTH] * 10).items() if query != "q7"}
    assert lost(QRELS, new, run(*[BOTH] * 10))[1:] == ["q7: a (was at 1, not retrieved), b (was at 2, not retrieved)"]


def test_only_the_first_few_queries_are_named() -> None:
    lines = lost(QRELS, run(*[ONE] * 9, ["c"]), run(*[BOTH] * 10))
    assert lines[0].startswith("the new run loses 11 relevant documents")
    assert [line.partition(":")[0] for line in lines[1:]] == ["q9", "q0", "q1", "q2", "q3", "and 5 more queries"]


def test_every_required_passage_must_be_within_the_depth() -> None:
    assert_all_found(QRELS, run(*[BOTH] * 10), depth=2)
    with pytest.raises(AssertionError) as caught:
        assert_all_found(QRELS, run(LATE, ONE, *[BOTH] * 8), depth=2)
    assert str(caught.value).splitlines() == [
        "2 of 20 relevant documents are not within the first 2, on 2 of 10 queries",
        "q0: b (now at 3)",
        "q1: b (not retrieved)",
    ]
    with pytest.raises(AssertionError, match="1 of 20 relevant documents are not retrieved, on 1 of 10 queries"):
        assert_all_found(QRELS, run(ONE, *[BOTH] * 9))


def test_plain_pytest_shows_the_message_and_none_of_our_code(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from lexirecall.adapters.gate import assert_all_found, assert_no_worse, assert_nothing_lost

        QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(8)}
        OLD, NEW = dict.fromkeys(QRELS, ["a", "b"]), dict.fromkeys(QRELS, ["a"])

        def test_retrieval_is_no_worse():
            assert_no_worse(QRELS, NEW, OLD)

        def test_nothing_is_lost():
            assert_nothing_lost(QRELS, NEW, OLD, depth=10)

        def test_all_is_found():
            assert_all_found(QRELS, NEW, depth=10)

        def test_the_other_way_round():
            assert_no_worse(QRELS, OLD, NEW)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines(
        [
            ">       assert_no_worse(QRELS, NEW, OLD)",
            "E       AssertionError: the new run is worse than the baseline by LexiRecall: p = 0.00391 (sign test, *",
            "E       8 queries: 0 better, 0 tied, 8 worse",
            "E           lost: b (was at 2)",
            "E       AssertionError: the new run loses 8 relevant documents that the baseline has within *",
            "E       AssertionError: 8 of 16 relevant documents are not within the first 10, on 8 of 8 queries",
        ]
    )
    result.stdout.no_fnmatch_line("*raise AssertionError*")
    result.stdout.no_fnmatch_line("*gate.py*")

"""Ranking runs: the verb says what the methods say, and the command says what the verb says."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import Command
from lexirecall import Preference, evaluate, parse_preference, project, rank
from lexirecall.errors import DataError, UsageError
from lexirecall.results import Ranking
from lexirecall.statistics.aggregate import from_pairs, order_runs
from strategies import LEVELS, Collection, collections, costly, quick

QRELS = {f"q{i}": {"a": 1, "b": 2, "n": 0} for i in range(1, 6)}
BEST, GOOD_ONE, POOR = ["a", "b"], ["a", "x", "b"], ["n", "a", "x", "b"]
RUNS: dict[str, Any] = {
    "poor": dict.fromkeys(QRELS, POOR),
    "zzz": dict.fromkeys(QRELS, GOOD_ONE),
    "aaa": {**dict.fromkeys(QRELS, GOOD_ONE), "q1": BEST, "q2": BEST},
}
CYCLE = {  # recall-paired preference: (1, 5, 6) > (2, 3, 7) > (3, 4, 5) > (1, 5, 6)
    "x": {"q": ["a", *"uvw", "b", "c"]}, "y": {"q": ["u", "a", "b", *"vwt", "c"]}, "z": {"q": [*"uv", "a", "b", "c"]},
}  # fmt: skip
CYCLE_QRELS = {"q": {"a": 1, "b": 1, "c": 1}}


def lines_of(run: dict[str, list[str]]) -> bytes:
    return "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()


def judgments_of(qrels: dict[str, dict[str, int]]) -> bytes:
    return "".join(f"{q} 0 {d} {g}\n" for q, judged in qrels.items() for d, g in judged.items()).encode()


GOOD = {
    "qrels": judgments_of(QRELS), **{name: lines_of(run) for name, run in RUNS.items()},
    "cycle.qrels": judgments_of(CYCLE_QRELS), **{name: lines_of(run) for name, run in CYCLE.items()},
}  # fmt: skip
FILES = ("qrels", "poor", "zzz", "aaa")
CYCLE_FILES = ("cycle.qrels", "x", "y", "z")


def ranks(ranking: Ranking) -> dict[str, int]:
    return {row["run"]: row["rank"] for row in ranking.rows()}


# The verb


@pytest.mark.parametrize("method", from_pairs())
def test_a_run_that_wins_twice_and_ties_three_times_is_first(method: str) -> None:
    ranking = rank(QRELS, RUNS, method=method)
    assert ranks(ranking) == {"aaa": 1, "zzz": 2, "poor": 3}
    assert (ranking.runs, ranking.preference, ranking.method) == (tuple(RUNS), "LexiRecall", method)
    assert ranking.notes == ()


@given(
    collection=collections(max_runs=4),
    level=st.sampled_from(LEVELS),
    queries=st.sampled_from(["all", "intersection"]),
    no_relevant=st.sampled_from(["skip", "zero"]),
    name=st.sampled_from(["LexiRecall", "LexiPrecision", "RPP(weight='inverse')", "RPP(graded=True)"]),
)
@costly(200)
def test_the_win_rate_is_the_one_that_eval_prints(
    collection: Collection, level: float, queries: str, no_relevant: str, name: str
) -> None:
    positions = project(collection.qrels, collection.runs)
    preference = parse_preference(name)
    has_relevant = positions.judgments.num_relevant(preference.level(level)).any()
    if len(positions.runs) < 2 or not has_relevant:
        return
    policies: dict[str, Any] = {"level": level, "queries": queries, "no_relevant": no_relevant}
    means = evaluate(collection.qrels, collection.runs, name, **policies).to_dict()
    ranking = rank(positions, preference=name, **policies).to_dict()
    for run, mean in means.items():
        value = mean[str(preference)]
        assert ranking[run]["score"] == pytest.approx(0.5 if value is None else value, rel=1e-12)


@given(collection=collections(max_runs=4, with_size=True), method=st.sampled_from(from_pairs()))
@quick(60)
def test_any_measure_ranks_runs_by_its_values(collection: Collection, method: str) -> None:
    positions = project(collection.qrels, collection.runs, corpus_size=collection.corpus_size)
    if len(positions.runs) < 2 or not positions.judgments.num_relevant(1).any():
        return
    values = evaluate(collection.qrels, collection.runs, ["AP", "LastRel"], **collection.given_size).values
    for c, (name, direction) in enumerate({"AP": 1, "LastRel": -1}.items()):
        differences = direction * (values[:, None, :, c] - values[None, :, :, c])
        signs = np.where(np.abs(differences) > 1e-12, np.sign(np.nan_to_num(differences)), 0).astype(np.int8)
        pairs = parse_preference(name).pairs(positions.at_level(1))
        assert (pairs.signs == signs).all()
        assert (
            rank(positions, preference=name, method=method).order.ranks.tolist()
            == order_runs(pairs, method).ranks.tolist()
        )


def test_where_lower_is_better_the_lower_value_comes_first() -> None:
    order = ["aaa", "zzz", "poor"]
    assert list(rank(QRELS, RUNS, "LastRel").to_dict()) == order
    assert list(rank(QRELS, RUNS, "AP").to_dict()) == order


def test_queries_without_relevant_documents_tie_if_they_count_and_higher_is_better() -> None:
    qrels = {**QRELS, "empty": {"a": 0}}
    for name, score in {"LexiRecall": (5 * 0.85 + 0.5) / 6, "AP": (5 * 0.85 + 0.5) / 6, "LastRel": 0.85}.items():
        ranking = rank(qrels, RUNS, name, no_relevant="zero")
        assert ranking.to_dict()["aaa"]["score"] == pytest.approx(score)
        assert rank(qrels, RUNS, name).to_dict()["aaa"]["score"] == pytest.approx(0.85)
        assert "no relevant document" in [note.kind for note in ranking.notes]


def test_a_measure_that_needs_judged_documents_gets_them() -> None:
    only_judged_below = {"late": {"q1": ["n", "a", "b"]}, "early": {"q1": ["a", "b", "n"]}}
    assert list(rank({"q1": QRELS["q1"]}, only_judged_below, "bpref").to_dict()) == ["early", "late"]


def test_a_measure_that_needs_providers_gets_them() -> None:
    owners = {"a": "x", "b": "y"}
    assert list(rank(QRELS, RUNS, "WorstProvider", providers=owners).to_dict()) == ["aaa", "zzz", "poor"]
    with pytest.raises(UsageError, match="WorstProvider needs a map of documents to providers"):
        rank(QRELS, RUNS, "WorstProvider")


def test_a_preference_may_be_given_as_an_object() -> None:
    own = Preference("Own", "as LexiRecall", blocks=parse_preference("LexiRecall").blocks)
    ranking = rank(QRELS, RUNS, own(rel=2))
    assert ranking.preference == "Own(rel=2)"
    assert ranking.to_dict() == rank(QRELS, RUNS, level=2).to_dict()


def test_the_conventions_reach_the_reader() -> None:
    runs = {"deep": {"q": ["x", "a", "b"]}, "top": {"q": ["a", "x"]}}
    qrels = {"q": {"a": 1, "b": 1}}
    assert list(rank(qrels, runs).to_dict()) == ["deep", "top"]
    assert list(rank(qrels, runs, depth=1).to_dict()) == ["top", "deep"]
    assert ranks(rank(qrels, runs, judged_only=True, depth=2)) == {"deep": 1, "top": 1}
    with pytest.raises(UsageError, match="queries is 'some'"):
        rank(qrels, runs, queries="some")


def test_runs_may_come_one_by_one() -> None:
    assert ranks(rank(QRELS, (run for run in RUNS.values()))) == {"run3": 1, "run2": 2, "run1": 3}  # type: ignore[arg-type]


def test_names_may_hold_any_sign() -> None:
    named = {"X:1": RUNS["aaa"], "X": RUNS["zzz"], "1 > 2, 3": RUNS["poor"]}
    assert [row["run"] for row in rank(QRELS, named).rows()] == ["X:1", "X", "1 > 2, 3"]


# Ties and cycles


def test_equal_runs_share_a_rank_and_stand_in_the_order_given() -> None:
    runs = {"late": RUNS["poor"], "z": RUNS["zzz"], "a": RUNS["zzz"], "b": RUNS["aaa"]}
    for method in from_pairs():
        rows = list(rank(QRELS, runs, method=method).rows())
        assert [(row["run"], row["rank"]) for row in rows] == [("b", 1), ("z", 2), ("a", 2), ("late", 4)]


@pytest.mark.parametrize("method", from_pairs())
def test_a_cycle_is_told_with_its_names_and_counts(method: str) -> None:
    ranking = rank(CYCLE_QRELS, CYCLE, "RPP", method=method)
    (note,) = ranking.notes
    assert (note.kind, note.count) == ("cycle", 1)
    assert note.text == "the majority has a cycle: x > y > z > x (1:0, 1:0, 1:0 queries)"
    assert set(ranks(ranking).values()) == {1}
    assert rank(CYCLE_QRELS, CYCLE, "LexiRecall", method=method).notes == ()


def test_two_cycles_are_told_in_one_note() -> None:
    """The same three once more, with nine documents before each, so that they lose to the first."""
    shifted = {name + "2": {"q": [*"123456789", *run["q"]]} for name, run in CYCLE.items()}
    (note,) = rank(CYCLE_QRELS, {**CYCLE, **shifted}, "RPP").notes
    assert note.count == 2
    assert note.text == (
        "the majority has 2 cycles: x > y > z > x (1:0, 1:0, 1:0 queries), x2 > y2 > z2 > x2 (1:0, 1:0, 1:0 queries)"
    )


def test_a_long_cycle_is_told_in_short() -> None:
    """Each run wins on a query of its own against the next one; the others do not answer it."""
    size = 9
    qrels = {f"q{s}": {"a": 1} for s in range(size)}
    runs: dict[str, Any] = {
        f"r{s}": {f"q{s}": ["a"], f"q{(s - 1) % size}": ["x", "a"]} for s in range(size)
    }  # r0 beats r1 on q0
    ranking = rank(qrels, runs, queries="intersection", method="mc4")
    cycle, apart = {note.kind: note for note in ranking.notes}["cycle"], ranking.notes[-2]
    assert cycle.text == (
        "the majority has a cycle: r0 > r1 > r2 > r3 > r4 > … > r0 (1:0, 1:0, 1:0, 1:0, 1:0 and 4 more queries)"
    )
    assert (apart.kind, apart.count) == ("not compared", 27)
    assert apart.text == (
        "27 pairs of runs without a common query (r0 and r2, r0 and r3, r0 and r4 and 24 more): counted as tied"
    )
    assert set(ranks(ranking).values()) == {1}


def test_what_is_undefined_is_told_and_counts_as_worse() -> None:
    runs = {"none": {"q": ["x"]}, "late": {"q": ["x", "a"]}, "early": {"q": ["a"]}}
    ranking = rank({"q": {"a": 1, "x": 0}}, runs, "LastRel")
    assert [note.kind for note in ranking.notes] == ["undefined"]
    assert "LastRel (1 of 3: none 1)" in ranking.notes[0].text
    assert "counts as worse than every other one" in ranking.notes[0].text
    assert ranking.to_dict() == {
        "early": {"rank": 1, "score": 1.0}, "late": {"rank": 2, "score": 0.5}, "none": {"rank": 3, "score": 0.0},
    }  # fmt: skip


# What cannot be ranked


def test_one_run_has_no_rank() -> None:
    for runs in ({"only": RUNS["aaa"]}, iter([RUNS["aaa"]]), RUNS["aaa"]):
        with pytest.raises(UsageError, match="only one run") as caught:
            rank(QRELS, runs)  # type: ignore[arg-type]
        assert caught.value.exit_code == 2


def test_what_is_asked_wrongly_is_said_before_anything_is_read() -> None:
    gone = [f"gone{i}" for i in range(31)]
    for arguments, message in (
        ({"method": "kemeny"}, "at most 30 runs, but there are 31"),
        ({"method": "best"}, "method is 'best'"),
        ({"preference": "LexiRecal"}, "did you mean 'LexiRecall'"),
        ({"preference": "AP RR"}, "names 2 preferences"),
        ({"preference": "P"}, "P needs a cutoff"),
    ):
        with pytest.raises(UsageError, match=message):
            rank("gone.qrels", gone, **arguments)


def test_nothing_relevant_is_an_error() -> None:
    with pytest.raises(DataError, match="no query has a relevant document"):
        rank(QRELS, RUNS, level=3)


def test_expected_ties_rank_by_what_has_a_closed_form() -> None:
    assert list(rank(QRELS, RUNS, "AP", ties="expected").to_dict()) == ["aaa", "zzz", "poor"]
    with pytest.raises(UsageError, match="LexiRecall over all orders of tied documents has no closed form"):
        rank(QRELS, RUNS, ties="expected")


# The result


def test_a_ranking_prints_itself_with_its_notes() -> None:
    assert str(rank(QRELS, RUNS, method="kemeny")) == (
        "run   rank  minus mean place\n"
        "aaa      1             -1.00\n"
        "zzz      2             -2.00\n"
        "poor     3             -3.00"
    )
    text = str(rank(CYCLE_QRELS, CYCLE, "RPP"))
    assert text.endswith("\nnote: the majority has a cycle: x > y > z > x (1:0, 1:0, 1:0 queries)")
    html = rank(CYCLE_QRELS, CYCLE, "RPP")._repr_html_()
    assert ">0.5000</td>" in html
    assert "x &gt; y &gt; z &gt; x" in html


def test_the_best_is_emphasized_unless_all_are() -> None:
    assert rank(QRELS, RUNS).render("markdown").count("**") == 2
    assert "**" not in rank(CYCLE_QRELS, CYCLE, "RPP").render("markdown")
    both = {"a": RUNS["aaa"], "b": RUNS["aaa"], "c": RUNS["poor"]}
    assert rank(QRELS, both).render("latex").count("textbf") == 2
    assert "\x1b[1m" in rank(QRELS, RUNS).render(bold=True)


def test_a_name_cannot_draw_on_the_terminal() -> None:
    evil = {f"\x1b[31m{name}": run for name, run in CYCLE.items()}
    ranking = rank(CYCLE_QRELS, evil, "RPP")
    assert "\x1b" not in str(ranking) + ranking._repr_html_()


# The command


@pytest.mark.parametrize("method", from_pairs())
def test_rows_for_programs_are_run_rank_and_score(command: Command, method: str) -> None:
    outcome = command("rank", *FILES, "--method", method, "-f", "jsonl")
    assert (outcome.code, outcome.err) == (0, "")
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert rows == list(rank(QRELS, RUNS, method=method).rows())
    assert all(list(row) == ["run", "rank", "score"] for row in rows)
    for form, delimiter in (("tsv", "\t"), ("csv", ",")):
        out = command("rank", *FILES, "--method", method, "-f", form).out
        read = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
        assert [(row["run"], int(row["rank"]), float(row["score"])) for row in read] == [
            tuple(row.values()) for row in rows
        ]


def test_the_table_is_for_people(command: Command) -> None:
    outcome = command("rank", *FILES)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "run   rank  mean win rate\n"
        "aaa      1         0.8500\n"
        "zzz      2         0.6500\n"
        "poor     3         0.0000\n"
    )  # fmt: skip
    assert "| aaa | 1 | **0.8500** |" in command("rank", *FILES, "-f", "markdown").out
    assert r"aaa & 1 & \textbf{0.8500} \\" in command("rank", *FILES, "-f", "latex").out
    assert command("rank", *FILES, "--method", "borda").out.splitlines()[1].split() == ["aaa", "1", "8.5"]


def test_notes_go_to_stderr_and_the_result_to_a_file(command: Command, tmp_path: Path) -> None:
    printed = command("rank", *CYCLE_FILES, "-m", "RPP", "-f", "jsonl")
    note = "note: the majority has a cycle: x > y > z > x (1:0, 1:0, 1:0 queries)\n"
    assert (printed.code, printed.err) == (0, note)
    written = command("rank", *CYCLE_FILES, "-m", "RPP", "-f", "jsonl", "-o", "order.jsonl")
    assert (written.code, written.out, written.err) == (0, "", note)
    assert (tmp_path / "order.jsonl").read_text() == printed.out


def test_unanswered_queries_are_told(command: Command) -> None:
    outcome = command("rank", "qrels", "poor", "less", less=lines_of({"q1": BEST}))
    assert outcome.out.splitlines()[1].split() == ["poor", "1", "0.8000"]
    assert re.match(r"note: judged queries that a run does not answer \(of 5: less 4\)", outcome.err)
    outcome = command("rank", "qrels", "poor", "less", "--queries", "intersection", less=lines_of({"q1": BEST}))
    assert outcome.out.splitlines()[1].split() == ["less", "1", "1.0000"]


def test_optimism_is_warned_of(command: Command) -> None:
    outcome = command("rank", *FILES, "--imputation", "optimistic")
    assert (outcome.code, outcome.err[:31]) == (0, "warning: optimistic imputation ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("qrels", "aaa"), 2, "there is only one run"),
        (("qrels",), 2, "no runs are given"),
        (("qrels", "aaa", "aaa"), 2, "two runs have the same name"),
        (("qrels", "aaa", "zzz", "--method", "mc3"), 2, "--method"),
        (("qrels", "aaa", "zzz", "-m", "lexirecal"), 2, "did you mean 'LexiRecall'"),
        (("qrels", "aaa", "zzz", "-m", "AP", "-m", "RR"), 2, "'AP RR' names 2 preferences"),
        (("qrels", "aaa", "zzz", "-m", ""), 2, "measure"),
        (("qrels", "aaa", "zzz", "-m", "TSE(e=linear)"), 2, "--corpus-size"),
        (("qrels", *map(str, range(31)), "--method", "kemeny"), 2, "at most 30 runs, but there are 31"),
        (("qrels", "-", "-"), 2, "only one file can be read from stdin"),
        (("qrels", "aaa", "gone"), 1, "gone: no such file"),
        (("qrels", "aaa", "zzz", "--level", "3"), 1, "no query has a relevant document"),
    ],
)
def test_bad_usage_is_an_error_without_a_result(
    command: Command, arguments: tuple[str, ...], code: int, message: str
) -> None:
    outcome = command("rank", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_neither_the_help_nor_ranking_needs_scipy(tmp_path: Path) -> None:
    for name, content in GOOD.items():
        (tmp_path / name).write_bytes(content)
    code = "import sys, atexit; atexit.register(lambda: print(*{'numpy', 'scipy'} & sys.modules.keys(), end='.'))\n"
    code += "from lexirecall.cli import main; main()"
    for arguments in (("--help",), (*FILES, "-o", "order")):
        words = [sys.executable, "-c", code, "rank", *arguments]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "numpy."

"""The ledger of a gate: which build it is, what is damaged, and what several builds at once do to it."""

import errno
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from lexirecall import gate
from lexirecall.errors import FormatError, LexirecallError, UsageError
from lexirecall.gates import ledger as ledger_module
from lexirecall.gates.baselinepairs import BaselinePair
from lexirecall.gates.ledger import BuildIdentity, Ledger
from lexirecall.statistics.gates import level_of_build

QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
GOOD, BAD = {key: ["a", "b"] for key in QRELS}, {key: ["a", "x"] for key in QRELS}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def identity(queries: Iterable[str], digest: str = "", name: str | None = None) -> BuildIdentity:
    return BuildIdentity(tuple(sorted(queries)), "asked", digest or secrets.token_hex(8), name)


def losing(number: int, total: int = 50) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return judgments, a run that loses a document on so many queries, and its baseline."""
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(total)}
    return (
        qrels,
        {q: ["a", "b"][: 1 if i < number else 2] for i, q in enumerate(qrels)},
        {q: ["a", "b"] for q in qrels},
    )


@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=12))
def test_a_build_counts_the_builds_that_share_a_query(tmp_path_factory: pytest.TempPathFactory, builds: Any) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "builds.jsonl")
    for at, queries in enumerate(builds):
        before = sum(bool(queries & earlier) for earlier in builds[:at])
        build = ledger.begin(identity(queries), 0.05)
        assert (build.number, build.level) == (before + 1, level_of_build(0.05, before + 1))


@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from("abcd"), min_size=1), st.sampled_from("xyz"), st.sampled_from([None, "n", "m"]),
            st.sampled_from([0.0, 0.01, math.inf]), st.sampled_from([None, True, False]),
        ),
        min_size=1, max_size=12,
    ),
    st.sampled_from([None, 3]),
)  # fmt: skip
@example(
    [({"a", "b"}, "x", "n", 0.0, None), ({"b"}, "x", None, 0.01, None), ({"a"}, "x", None, 0.0, None),
     ({"a", "b"}, "x", None, 0.0, None)], None,
)  # fmt: skip
def test_the_ledger_does_what_its_rules_say(
    tmp_path_factory: pytest.TempPathFactory, looks: Any, builds: int | None
) -> None:
    """Against a list of builds that is gone through for each: levels, numbers, verdicts and what spends."""
    ledger, twin = Ledger(tmp_path_factory.mktemp("ledger") / "builds.jsonl"), naive.Ledger(0.05, builds)
    for queries, letter, name, least_p, passed in looks:
        digest = f"{letter} of {sorted(queries)}"  # ids are a part of what a digest is made of
        expected = twin.begin(queries, digest, name, least_p)
        if expected is None:
            with pytest.raises(UsageError, match="all 3 builds of this ledger have been tested"):
                ledger.begin(identity(queries, digest, name), 0.05, builds, least_p=least_p)
            continue
        build = ledger.begin(identity(queries, digest, name), 0.05, builds, least_p=least_p)
        found = (build.number, build.level, build.spends, build.is_known, build.has_changed, build.passed)
        assert found == expected[:6]
        if passed is not None:
            twin.end(expected, passed=passed)
            assert ledger.end(build, passed=passed).passed == (passed if expected[5] is None else expected[5])


def test_a_failing_build_that_is_run_again_fails_again_at_its_own_level(tmp_path: Path) -> None:
    path, data = tmp_path / "builds.jsonl", losing(7)
    for at in range(3):
        result = gate(*data, ledger=path)
        assert result.build is not None
        assert (result.passed, result.build.number, result.level) == (False, 1, level_of_build(0.05, 1))
        assert (result.build.is_known, result.build.spends) == (at > 0, True)
    assert [row["kind"] for row in rows_of(path)] == ["queries", "build", "verdict"]
    assert gate(*losing(8), ledger=path).level == level_of_build(0.05, 2)


def test_builds_that_cannot_fail_spend_nothing(tmp_path: Path) -> None:
    path, (qrels, new, old) = tmp_path / "builds.jsonl", losing(14)
    for at in range(29):  # identical builds, and others of which a single untied query cannot be significant
        build = gate(qrels, old | ({f"q{at}": ["b"]} if at % 2 else {}), old, ledger=path).build
        assert build is not None
        assert (build.number, build.spends) == (1, False)
    assert [row["passed"] for row in rows_of(path) if row["kind"] == "verdict"] == [True] * (1 + 14)
    failed = gate(qrels, new, old, ledger=path)
    assert (failed.passed, failed.level) == (False, level_of_build(0.05, 1))


def test_each_new_build_that_could_fail_is_tested_at_its_share(tmp_path: Path) -> None:
    path, verdicts = tmp_path / "builds.jsonl", []
    for number in range(1, 6):
        result = gate(*losing(10 + number), ledger=path, builds=5)
        assert result.build is not None
        assert (result.build.number, result.level) == (number, 0.01)
        verdicts.append(result.passed)
    assert verdicts == [False] * 5
    assert gate(*losing(1), ledger=path, builds=5).passed  # it could not fail
    with pytest.raises(UsageError, match="all 5 builds of this ledger have been tested\n  begin a new ledger"):
        gate(*losing(9), ledger=path, builds=5)
    assert not gate(*losing(11), ledger=path, builds=5).passed  # it is known
    assert len(rows_of(path)) == 1 + 6 * 2


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ({}, {"alpha": 0.1}, "for alpha 0.05, not for 0.1\n  give --alpha 0.05, or begin a new ledger"),
        ({}, {"builds": 5}, "for any number of builds, not for 5 builds\n  leave --builds out"),
        ({"builds": 7}, {"builds": 5}, "for 7 builds, not for 5 builds\n  give --builds 7, or begin"),
        ({"builds": 7}, {}, "for 7 builds, not for any number of builds"),
    ],
)
def test_a_ledger_of_another_alpha_or_number_of_builds_is_refused(
    tmp_path: Path, first: Any, second: Any, problem: str
) -> None:
    path = tmp_path / "builds.jsonl"
    gate(QRELS, BAD, GOOD, ledger=path, **first)
    before = path.read_bytes()
    with pytest.raises(UsageError) as caught:
        gate(QRELS, BAD, GOOD, ledger=path, **second)
    assert problem in str(caught.value)
    assert path.read_bytes() == before
    others = {f"other {q}": documents for q, documents in QRELS.items()}
    gate(others, *({q: list(documents) for q in others} for documents in ("a", "ab")), ledger=path, **second)


def test_a_named_build_keeps_its_verdict_whatever_its_rankings_are_now(tmp_path: Path) -> None:
    path, (qrels, new, old) = tmp_path / "builds.jsonl", losing(20)
    assert not gate(qrels, new, old, ledger=path, build="abc").passed
    again = gate(qrels, old, old, ledger=path, build="abc")
    assert not again.passed
    assert again.decisions == ()
    assert (again.num_checks, again.num_failed) == (1, 1)
    (reason,) = again.failures
    assert re.fullmatch(
        r"build abc failed when it was first tested, on \d{4}-\d\d-\d\d, and keeps its verdict, though its rankings "
        "are others now", reason,
    )  # fmt: skip
    assert reason in again.to_text()
    assert f"- {reason}" in again.render("markdown")
    assert 'name="abc"' in again.render("junit")
    assert 'failures="1"' in again.render("junit")
    assert next(again.rows())["kept"]
    assert gate(qrels, new, old, ["AP"], ledger=path, build="abc").build.number == 2  # type: ignore[union-attr]
    assert gate(qrels, old, old, ledger=path, build="def").passed


def test_a_named_build_that_passed_passes_with_a_note(tmp_path: Path) -> None:
    path, (qrels, new, old) = tmp_path / "builds.jsonl", losing(20)
    assert gate(qrels, old | {"q1": ["a"]}, new, ledger=path, build="abc").passed
    again = gate(qrels, new, old, ledger=path, build="abc")
    assert again.passed
    assert "kept verdict" in [note.kind for note in again.notes]
    assert again.render("junit").count("<failure") == 0


def test_another_name_for_a_build_that_failed_is_another_look_and_a_note_says_so(tmp_path: Path) -> None:
    path, data = tmp_path / "builds.jsonl", losing(7)
    assert not gate(*data, ["LexiRecall"], ledger=path, build="abc").passed
    again, third = (gate(*data, ["LexiRecall"], ledger=path, build=name) for name in ("def", None))
    for each in (again, third):
        assert each.passed
        assert each.build.number == 2  # type: ignore[union-attr]
        (note,) = [note.text for note in each.notes if note.kind == "failed before"]
        assert re.fullmatch(
            r"build abc had the same rankings and failed on \d{4}-\d\d-\d\d; under another name this is another look, "
            "at a level of its own", note,
        )  # fmt: skip
    assert not [note for note in gate(*losing(9), ledger=path, build="ghi").notes if note.kind == "failed before"]


def test_a_name_under_which_nothing_could_fail_is_no_pass_for_other_rankings(tmp_path: Path) -> None:
    path, (qrels, new, old) = tmp_path / "builds.jsonl", losing(20)
    assert gate(qrels, old, old, ledger=path, build="main").passed
    for _ in range(2):
        assert not gate(qrels, new, old, ledger=path, build="main").passed
    assert gate(qrels, old, old, ledger=path, build="main").build.is_kept  # type: ignore[union-attr]


def test_a_build_that_breaks_off_has_spent_its_share_and_is_decided_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, data = tmp_path / "builds.jsonl", losing(20)

    def break_off(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(BaselinePair, "compared", break_off)
        with pytest.raises(KeyboardInterrupt):
            gate(*data, ledger=path)
    assert gate(*losing(21), ledger=path).build.number == 2  # type: ignore[union-attr]
    result = gate(*data, ledger=path)
    assert result.build is not None
    assert (result.build.number, result.level, result.passed) == (1, level_of_build(0.05, 1), False)
    assert [row["passed"] for row in rows_of(path) if row["kind"] == "verdict"] == [False, False]


def test_what_a_tested_measure_cannot_see_is_no_other_build(tmp_path: Path) -> None:
    path, (qrels, new, old) = tmp_path / "builds.jsonl", losing(20)

    def number(run: Any, measures: str, **options: Any) -> int:
        return gate(qrels, run, old, measures, ledger=path, **options).build.number  # type: ignore[union-attr]

    longer = {query: [*documents, "x", "y"] for query, documents in new.items()}
    later = new | {"q0": ["x", "a"]}
    assert [number(run, "LexiRecall") for run in (new, longer, later)] == [1, 1, 2]
    assert [number(run, "SetP") for run in (longer, {q: [*docs, "z"] for q, docs in longer.items()})] == [3, 4]
    judged = {query: {**documents, "x": 0} for query, documents in qrels.items()}
    assert gate(judged, new, old, "LexiRecall", ledger=path).build.number == 1  # type: ignore[union-attr]
    assert [gate(judged, run, old, "bpref", ledger=path).build.number for run in (new, longer)] == [5, 6]  # type: ignore[union-attr]
    settings: list[dict[str, Any]] = [
        {"margin": 0.1}, {"require": "All@9 > 0"}, {"level": 0.5}, {"no_relevant": "zero"},
        {"by": dict.fromkeys(qrels, "all")}, {"over": ["mean", "tail:1"]}, {"corpus_size": 99},
    ]  # fmt: skip
    assert [number(new, "R@9", **each) for each in settings] == list(range(7, 14))
    assert [number(new, "R@9", **each) for each in settings] == list(range(7, 14))


def test_a_verdict_that_would_not_be_reached_now_is_kept(tmp_path: Path) -> None:
    """As after a change of lexirecall: whatever it decides now, the build has its verdict."""
    path, data = tmp_path / "builds.jsonl", losing(20)
    gate(*data, ledger=path)
    path.write_text(path.read_text().replace('"passed": false', '"passed": true'))
    result = gate(*data, ledger=path)
    assert result.passed
    (note,) = [note.text for note in result.notes if note.kind == "kept verdict"]
    assert note.startswith("this build passed when it was first tested, on ")
    assert note.endswith(", and keeps its verdict, though it would be decided otherwise now")


def test_units_and_providers_are_part_of_what_a_build_is_known_by(tmp_path: Path) -> None:
    qrels, new, old = losing(20)
    new = new | {q: ["b", "a"] for q in ("q30", "q31", "q32")}

    def known(measure: str, **options: Any) -> bool:
        return gate(qrels, new, old, measure, ledger=tmp_path / "b.jsonl", **options).build.is_known  # type: ignore[union-attr]

    apart = {"units": {"a": "u", "b": "v"}}
    maps: list[dict[str, Any]] = [{"units": {"a": "u", "b": "u"}}, apart, apart | {"unit_rule": "all"}]
    found = [known("LexiRecall", **each) for each in maps]
    assert found == [False, False, True]  # the last two have all units at the same places
    owners = [{"a": "x", "b": "y"}, {"a": "y", "b": "x"}]
    assert [known("WorstProvider", providers=each) for each in owners * 2] == [False, False, True, True]
    assert [known("R@1", providers=each) for each in owners] == [False, True]  # a measure that does not see them


def test_a_build_is_entered_whenever_a_number_other_than_the_mean_differs(tmp_path: Path) -> None:
    path, (qrels, new, old) = tmp_path / "builds.jsonl", losing(1)
    options: dict[str, Any] = {"over": ["tail:0.2"], "ledger": path}
    same, other = (gate(qrels, run, old, "R@9", **options).build for run in (old, new))
    assert (same.spends, other.spends) == (False, True)  # type: ignore[union-attr]
    assert gate(qrels, new, old, "LexiRecall", margin=0.5, ledger=path).build.spends  # type: ignore[union-attr]
    assert not gate(qrels, old, old, "LexiRecall", margin=0.5, ledger=path).build.spends  # type: ignore[union-attr]


def test_names_of_builds_are_readable_text_and_there_must_be_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    for name in ("", " ", "a\nb", "\x1b[31m", "a\u202eb", "x" * 201, "\udce9", ["a"], 7):
        with pytest.raises(UsageError, match="build is "):
            gate(QRELS, BAD, GOOD, ledger=path, build=name)
    for builds in (0, -1, 1.5, math.nan, math.inf, 10**7):
        with pytest.raises(UsageError, match="builds is "):
            gate(QRELS, BAD, GOOD, ledger=path, builds=builds)
    for option in ({"build": "x"}, {"builds": 3}):
        with pytest.raises(UsageError, match="but there is no ledger\n  add --ledger FILE"):
            gate(QRELS, BAD, GOOD, **option)
    assert not path.exists()
    assert gate(QRELS, BAD, GOOD, ledger=path, builds=np.int64(3), alpha=np.float32(0.05)).build is not None
    gate(QRELS, BAD, GOOD, ledger=path, builds=3, alpha=float(np.float32(0.05)), build="é 日本 v1.2+x")


def test_rows_of_the_first_format_count_and_match_nothing(tmp_path: Path) -> None:
    old = Path(__file__).parent / "formats" / "ledger-1.jsonl"
    path = Path(shutil.copy(old, tmp_path / "builds.jsonl"))
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(4)}
    other = {f"new {query}": documents for query, documents in qrels.items()}
    both = qrels | other
    result = gate(both, *({q: list(documents) for q in both} for documents in ("a", "ab")), ledger=path)
    assert result.build is not None
    assert (result.build.number, result.build.is_known) == (2, False)
    with pytest.raises(UsageError, match="any number of builds"):
        gate(qrels, {q: ["a"] for q in qrels}, {q: ["a", "b"] for q in qrels}, ledger=path, builds=9)


def test_bad_data_and_bad_usage_spend_nothing(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    with pytest.raises(LexirecallError):
        gate(QRELS, str(tmp_path / "no.run"), GOOD, ledger=path)
    with pytest.raises(UsageError):
        gate(QRELS, BAD, GOOD, ledger=path, require="AP much")
    with pytest.raises(UsageError):
        gate(QRELS, BAD, GOOD, "AP", ledger=path, over=["min"])
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"_id": "a", "text": "whole"}\n{"_id": "b", "te')
    with pytest.raises(FormatError):
        gate(QRELS, BAD, GOOD, ledger=path, texts=[f"documents={texts}"])
    with pytest.raises(LexirecallError):
        gate(QRELS, BAD, GOOD, ledger=path, corpus_ids=["z"])
    assert not path.exists()


def damaged(text: str, tmp_path: Path) -> str:
    path = tmp_path / "builds.jsonl"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError) as caught:
        gate(QRELS, BAD, GOOD, ledger=path)
    assert path.read_bytes() == text.encode()
    return str(caught.value)


def test_a_damaged_ledger_is_an_error_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    gate(QRELS, GOOD, GOOD, ledger=path)
    whole = path.read_text()
    first, second, third = whole.splitlines(keepends=True)
    assert ":2: this row of the ledger is damaged: it is not JSON" in damaged(first + "x\n" + third, tmp_path)
    assert ":3: this row of the ledger is damaged: it breaks off" in damaged(first + second + "x" + third[:9], tmp_path)
    assert ":1: this row of the ledger is damaged: it is not JSON" in damaged(
        '{"kind": ' + "[" * 100_000 + "\n", tmp_path
    )
    assert ":2: " in damaged(first + '{"kind": "other"}\n', tmp_path)
    assert ":2: " in damaged(first + "[]\n", tmp_path)
    assert "no proper queries" in damaged(first + second.replace('"queries": "', '"other": "'), tmp_path)
    for was, now, field in (
        ('"spends": false', '"spends": 1', "spends"), ('"builds": null', '"builds": true', "builds"),
        ('"builds": null', '"builds": 3.0', "builds"), ('"builds": null', '"builds": 0', "builds"),
        ('"alpha": 0.05', '"alpha": 5.0', "alpha"),
        ('"name": null', '"name": 3', "name"), ('"settings": "', '"setting": "', "settings"),
    ):  # fmt: skip
        assert was in second
        assert f"no proper {field}" in damaged(first + second.replace(was, now), tmp_path)
    assert "in a newer format" in damaged(first + second.replace('"version": 2', '"version": 3'), tmp_path)
    assert "on no line before it" in damaged(second, tmp_path)
    assert "digest is not that of its ids" in damaged(first.replace('"q3"', '"q33"'), tmp_path)
    row = json.loads(first)
    row |= {"ids": [["q1"]], "digest": hashlib.sha256(b"[\"['q1']\"]").hexdigest()}
    assert "digest is not that of its ids" in damaged(json.dumps(row) + "\n", tmp_path)


@pytest.mark.parametrize("between", ["\r", " ", ""])
@pytest.mark.parametrize("cut", [0, 20], ids=["whole", "the last row broke off"])
def test_rows_without_line_ends_between_them_are_not_dropped(tmp_path: Path, between: str, cut: int) -> None:
    path = tmp_path / "builds.jsonl"
    gate(QRELS, GOOD, GOOD, ledger=path)
    text = path.read_text().replace("\n", between)
    assert ":1: this row of the ledger is damaged: other rows follow" in damaged(text[: len(text) - cut], tmp_path)


def test_a_row_of_something_else_is_not_dropped(tmp_path: Path) -> None:
    assert ":1: this row of the ledger is damaged: it breaks off" in damaged('{"kind": "note", "text": "mi', tmp_path)


def test_a_row_that_lacks_its_line_end_only_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    gate(QRELS, GOOD, GOOD, ledger=path)
    path.write_text(path.read_text().rstrip("\n"))
    result = gate(QRELS, GOOD, GOOD, ledger=path)
    assert result.build is not None
    assert result.build.is_known
    assert [row["kind"] for row in rows_of(path)] == ["queries", "build", "verdict"]
    assert "half row" not in [note.kind for note in result.notes]


def test_a_row_that_broke_off_anywhere_is_dropped_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    gate(QRELS, GOOD, GOOD, ledger=path)
    whole = path.read_text()
    last = whole.splitlines()[-1]
    for length in range(1, len(last)):
        path.write_text(whole + last[:length])
        result = gate(QRELS, GOOD, GOOD, ledger=path)
        assert [note.text for note in result.notes if note.kind == "half row"] == [
            "row 4 of the ledger broke off, as if its build was killed or the disk was full: dropped"
        ]
        assert [row["kind"] for row in rows_of(path)] == ["queries", "build", "verdict"]


def test_a_half_row_is_left_alone_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may just be writing it. Whole rows are counted as they are with a lock."""

    def fail(_file: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(ledger_module, "_try_lock", fail)
    path = tmp_path / "builds.jsonl"
    runs = BAD, BAD | {"q1": ["a", "y", "x", "b"]}
    assert [gate(QRELS, run, GOOD, ledger=path).build.number for run in runs] == [1, 2]  # type: ignore[union-attr]
    assert ":6: this row of the ledger is damaged: it breaks off" in damaged(path.read_text() + '{"kind', tmp_path)


def test_a_lock_that_is_not_given_back_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "builds.jsonl"
    monkeypatch.setattr(ledger_module, "_PATIENCE", 0.1)
    with Ledger(path)._opened(), pytest.raises(LexirecallError, match="has kept the ledger locked for 0 seconds"):
        begin(str(path))
    assert begin(str(path)) == 1


BREAKING_OFF = """
import os, resource, signal, sys
from lexirecall.gates import ledger as ledger_module
from lexirecall.gates.ledger import BuildIdentity, Ledger
path, kind, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
if kind == "killed":
    write = os.write
    def killed(file, data):
        write(file, data[:size])
        os.kill(os.getpid(), signal.SIGKILL)
    os.write = killed
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + size,) * 2)
Ledger(path).begin(BuildIdentity(("q1", "q2"), "asked", "other"), 0.05)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")
@pytest.mark.parametrize("size", [0, 1, 40, 90])
@pytest.mark.parametrize("kind", ["killed", "full"])
def test_what_breaks_off_in_a_row_does_not_stop_later_builds(tmp_path: Path, kind: str, size: int) -> None:
    """A process that is killed leaves half a row; where there is no room none is left."""
    path = tmp_path / "builds.jsonl"
    assert begin(str(path)) == 1
    before = path.read_bytes()
    words = [sys.executable, "-c", BREAKING_OFF, str(path), kind, str(size)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if kind == "killed":
        assert done.returncode == -signal.SIGKILL
        assert len(path.read_bytes()) == len(before) + size
    else:
        assert "the ledger cannot be written (" in done.stderr
        assert path.read_bytes() == before
    ledger = Ledger(path)
    assert ledger.begin(identity(["q1"]), 0.05).number == 2
    assert len(ledger.notes) == (kind == "killed" and size > 0)


@pytest.mark.skipif(sys.platform == "win32", reason="devices of POSIX")
@pytest.mark.parametrize("name", ["/dev/full", "/dev/zero", "/dev/null", "fifo"])
def test_what_is_not_a_plain_file_is_no_ledger(tmp_path: Path, name: str) -> None:
    if name == "fifo":
        name = str(tmp_path / name)
        os.mkfifo(name)
    with pytest.raises(LexirecallError, match=f"{name}: the ledger is not a plain file"):
        begin(name)


def begin(path: str) -> int:
    return Ledger(path).begin(identity(["q1", "q2"]), 0.05).number


def begin_the_same(path: str) -> tuple[int, bool, bool]:
    ledger = Ledger(path)
    build = ledger.begin(identity(["q1", "q2"], "same"), 0.05)
    return build.number, build.is_known, bool(ledger.end(build, passed=False).passed)


def test_builds_at_once_have_numbers_of_their_own(tmp_path: Path) -> None:
    path = str(tmp_path / "builds.jsonl")
    with ProcessPoolExecutor(4) as pool:
        numbers = list(pool.map(begin, [path] * 40))
    assert sorted(numbers) == list(range(1, 41))


def test_the_same_build_at_once_spends_once(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    with ProcessPoolExecutor(4) as pool:
        found = list(pool.map(begin_the_same, [str(path)] * 20))
    assert sorted(found) == [(1, False, False)] + [(1, True, False)] * 19
    assert [row["kind"] for row in rows_of(path)] == ["queries", "build", "verdict"]


def test_a_ledger_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(LexirecallError, match=re.escape(f"{tmp_path / 'no' / 'builds.jsonl'}: the ledger cannot be")):
        gate(QRELS, GOOD, GOOD, ledger=tmp_path / "no" / "builds.jsonl")
    with pytest.raises(LexirecallError, match="the ledger cannot be written"):
        gate(QRELS, GOOD, GOOD, ledger=tmp_path)

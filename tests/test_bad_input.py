"""Bad input: it stops with a message that says where, what and how to mend it, and leaves nothing behind."""

import bz2
import gc
import gzip
import lzma
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from command import Command, Outcome

GOOD = {
    "qrels.txt": b"q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n",
    "good.run": b"q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 x 1 1 t\nq2 Q0 c 2 0.5 t\n",
}
LONG_RUN = b"".join(b"q%d Q0 d%d 1 %d t\n" % (i % 7, i, random.Random(i).randrange(10**6)) for i in range(500))  # noqa: S311
LONG_PATH = "x" * 5000
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def assert_refused(outcome: Outcome, *said: str, code: int = 1) -> None:
    """Check the exit code, that nothing is printed, and that the message holds each of these patterns and a remedy."""
    assert (outcome.code, outcome.out) == (code, "")
    assert "Traceback" not in outcome.err
    assert len(outcome.err) < 1000
    for pattern in said:
        assert re.search(pattern, outcome.err), (pattern, outcome.err)
    assert re.search(r"\n  \S|\n\nError: ", outcome.err), f"no remedy: {outcome.err}"


# Lines that mean nothing


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"^bad: the file is empty"),
        (b"# only\n\n  # comments\n", r"^bad: the file has only empty lines"),
        (b"q1 0 a 1\n\n# x\nq1 0 b\n", r"^bad:4: a qrels line has 4 fields.*found 3: 'q1 0 b'"),
        (b"q1 0 a 1\nq1 0 the title 1\n", r"^bad:2: .*found 5: 'q1 0 the title 1'"),
        (b"q1 0 a b c d 1\n", r"^bad:1: .*found 7: 'q1 0 a b c d 1'"),
        (b"q1 0 a 1_0\n", r"^bad:1: the grade is not a number: '1_0'"),
        (b"q1 0 a 1\nq1 0 b yes\n", r"^bad:2: the grade is not a number: .*yes"),
        (b"q1 0 a 1\nq1 0 b nan\n", r"^bad:2: the grade is not finite: .*nan"),
        (b"q1 0 a -inf\n", r"^bad:1: the grade is not finite: .*inf"),
        (b"q1 0 a 1\nq2 0 b 1\nq1 0 a 2\n", r"^bad:3: document 'a' of query 'q1' has grade 2 here and 1 on line 1"),
        (b"q1 0 a 0.12345678\nq1 0 a 0.12345679\n", r"^bad:2: .* 0\.12345679 here and 0\.12345678 on line 1"),
        (b"q1 0 a 1\nq1 0 b\0 1\n", r"^bad:2: a NUL byte: 'q1 0 b\\x00 1'"),
        (b'{"q1": {"a": "high"}}', r"^bad: query 'q1', document 'a': the grade is not a number: .*high"),
        (b'{"q1": {"a": NaN}}', r"^bad: query 'q1', document 'a': the grade is not finite: nan"),
        (b'{"q1": 1}', r"^bad: the value of query 'q1' is not a mapping: '1'"),
        (b'{"q1": \n{"a"}}', r"^bad:2: not valid JSON"),
        (b'["q1"]', r"^bad: expected a JSON object, found a list"),
        (b'{"q1": {"\xff": 1}}', r"^bad: not UTF-8 text"),
        (b'{"q1": {"\\ud800": 1}}', r"^bad: .*d800"),
        (b"[" * 100_000, r"^bad: not valid JSON"),
        (b'{"q1": {"a": 1' + b"0" * 400 + b"}}", r"^bad: query 'q1', document 'a': the grade is not finite"),
        (b'{"q1": {"a": 1' + b"0" * 5000 + b"}}", r"^bad: "),
    ],
)
def test_judgments_that_mean_nothing_are_refused(command: Command, content: bytes, said: str) -> None:
    assert_refused(command("eval", "bad", "good.run", bad=content), said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"^bad: the file is empty"),
        (b"\n#\n", r"^bad: the file has only empty lines"),
        (b"# x\nq1 Q0 a\n", r"^bad:2: a run line has 6 fields.*found 3: 'q1 Q0 a'"),
        (b"q1 Q0 a 1 2 t\nq1 Q0 the title 1 2 t\n", r"^bad:2: .*found 7: 'q1 Q0 the title 1 2 t'"),
        (b"q1 Q0 a 1 2 t\nq1 Q0 b 2 high t\n", r"^bad:2: the score is not a number: .*high"),
        (b"q1 Q0 a 1 0x10 t\n", r"^bad:1: the score is not a number: .*0x10"),
        (b"q1 Q0 a 1 1_0 t\n", r"^bad:1: the score is not a number: '1_0'\n  write it without underscores, as in 10"),
        ("q1 Q0 a 1 \uff11 t\n".encode(), r"^bad:1: the score is not a number: '\uff11'"),
        (b"q1 Q0 a 1 2 t\nq1 Q0 b 2 NaN t\n", r"^bad:2: the score is NaN: 'q1 Q0 b 2 NaN t'"),
        (
            b"q1 Q0 a 1 2 t\nq2 Q0 b 1 1 t\nq1 Q0 a 3 1 t\n",
            r"^bad:3: document 'a' of query 'q1' .* line 1\n.*first.*best",
        ),
        (
            b"q1 Q0 a 1 2 t\nq1 Q0 a 3 1 t\nq2 Q0 b 1 1 t\nq2 Q0\n",
            r"^bad:2: document 'a' .* first on line 1|^bad:4: .*'q2 Q0'",
        ),
        (b"q1 Q0 a 1 2 t\nq1 Q0 b\0 1 1 t\n", r"^bad:2: a NUL byte: 'q1 Q0 b\\x00 1 1 t'"),
        (b"q9 Q0 a 1 2 t\n", r"no query in common with the judgments: bad\n.*'q1', 'q2'"),
        (b'{"q1": {"a": "high"}}', r"^bad: query 'q1', document 'a': the score is not a number: .*high"),
        (b'{"q1": {"a": NaN}}', r"^bad: query 'q1', document 'a': the score is NaN"),
        (b'{"q1": [["a", 1]]}', r"^bad: query 'q1': .*'a', 1.* is not a document id"),
        (
            b'{"q1": [null, true, 1.5]}',
            r"^bad: query 'q1': 'None' is not a document id\n  ids are text or whole numbers",
        ),
        (b'{"q1": [1, true]}', r"^bad: query 'q1': 'True' is not a document id"),
        (b'{"q1": ["a", "b", "a"]}', r"^bad: document 'a' of query 'q1' is listed twice"),
        (b"PK\x03\x04", r"^bad: is a zip archive\n.*unpack"),
    ],
)
def test_a_run_that_means_nothing_is_refused(command: Command, content: bytes, said: str) -> None:
    assert_refused(command("eval", "qrels.txt", "good.run", "bad", bad=content), said)


def test_swapped_judgments_and_runs_are_recognized(command: Command) -> None:
    order = r"\n.*Judgments come first, then runs: QRELS RUN"
    assert_refused(command("eval", "good.run", "qrels.txt"), r"^good\.run:1: .*'q1 Q0 a 1 3 t'" + order)
    assert_refused(command("eval", "qrels.txt", "qrels.txt"), r"^qrels\.txt:1: .*'q1 0 a 1'" + order)


# Files that are no text


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(command: Command, packing: str, share: float) -> None:
    packed = PACKERS[packing](LONG_RUN)
    cut = packed[: max(7, int(share * len(packed)))]
    assert_refused(command("eval", "qrels.txt", "bad", bad=cut), r"^bad: the compressed data is truncated")


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_corrupt_file_is_refused(command: Command, packing: str, place: float) -> None:
    packed = bytearray(PACKERS[packing](LONG_RUN))
    packed[int(place * len(packed))] ^= 0xFF
    assert_refused(command("eval", "qrels.txt", "bad", bad=bytes(packed)), r"^bad: the compressed data is corrupt")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("place", [0, 1])
def test_utf_16_is_refused(command: Command, encoding: str, place: int) -> None:
    names = list(GOOD)
    content = GOOD[names[place]].decode().encode(encoding)
    names[place] = "bad"
    assert_refused(command("eval", *names, bad=content), r"^bad:(1:)? ", "UTF-16")


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_are_refused(command: Command, seed: int) -> None:
    content = random.Random(seed).randbytes(3000)  # noqa: S311
    assert_refused(command("eval", "bad", "good.run", bad=content), r"^bad:\d+: ")
    assert_refused(command("eval", "qrels.txt", "bad", bad=content), r"^bad:\d+: ")


@pytest.mark.parametrize("content", [b"x" * 10**7, b"q1 0 a " + b"9x" * 10**6, "🙂".encode() * 10**5])
def test_a_long_line_does_not_flood_the_terminal(command: Command, content: bytes) -> None:
    assert_refused(command("eval", "bad", "good.run", bad=content), r"^bad:1: ", "…")


# Files that are not there


def test_a_missing_file_is_refused(command: Command) -> None:
    assert_refused(command("eval", "nowhere.txt", "good.run"), r"^nowhere\.txt: no such file")
    assert_refused(command("eval", "qrels.txt", "good.run", "no/where.run"), r"^no/where\.run: no such file")


def test_a_folder_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert_refused(command("eval", "folder", "good.run"), r"^folder: is a folder without")
    assert_refused(command("eval", "qrels.txt", "folder"), r"^folder: is a folder without")
    gc.collect()  # a file that was left open would be warned of here


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "secret.run").touch(mode=0o000)
    assert_refused(command("eval", "qrels.txt", "secret.run"), r"^secret\.run: permission denied")


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", LONG_PATH, "good.run"),
        ("eval", "qrels.txt", LONG_PATH),
        ("eval", "qrels.txt", LONG_PATH + "*"),
        ("eval", "qrels.txt", "good.run", "--corpus-size", LONG_PATH),
        ("eval", "qrels.txt", "good.run", "--providers", LONG_PATH),
        ("eval", "qrels.txt", "good.run", "-o", LONG_PATH),
        ("eval", "qrels.txt", "good.run", "--manifest", LONG_PATH),
        ("trec_eval", "qrels.txt", LONG_PATH),
        ("report", "qrels.txt", "good.run", "-o", LONG_PATH),
        ("study", "qrels.txt", "good.run", "other.run", "-o", LONG_PATH),
        ("study", "--collections", LONG_PATH),
        ("demo", "-o", LONG_PATH),
    ],
)
def test_a_path_that_is_too_long_is_refused(command: Command, arguments: tuple[str, ...]) -> None:
    outcome = command(*arguments, **{"other.run": GOOD["good.run"]})
    assert (outcome.code, "Traceback" in outcome.err) == (1, False)
    assert re.search(r"x\*?: .*(file name too long|no file matches)", outcome.err), outcome.err[-300:]


# Judgments and runs that do not fit together


def test_judgments_without_a_relevant_document_are_refused(command: Command) -> None:
    outcome = command("eval", "bad", "good.run", bad=b"q1 0 a 0\nq2 0 b -1\n")
    assert_refused(outcome, "no query has a relevant document", "highest grade is 0", r"\bbad\b")
    assert_refused(command("eval", "qrels.txt", "good.run", "--level", "2"), "highest grade is 1 and the level is 2")


def test_two_runs_of_one_name_are_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "good.run.gz").write_bytes(GOOD["good.run"])
    outcome = command("eval", "qrels.txt", "good.run", "other/good.run.gz")
    assert_refused(outcome, r"'good\.run' .*'good\.run' and 'other/good\.run\.gz'", code=2)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (b"q1 10\n", r"sizes.*q2|q2.*sizes"),
        (b"q1 10\nq2 many\n", r"^sizes:2: .*many"),
        (b"q1 10\nq2 0\n", r"^sizes:2: .*0"),
        (b"q1 10\nq2 10.5\n", r"^sizes:2: .*10\.5"),
        (b"q1 10\nq2\n", r"^sizes:2: .*found 1: 'q2'"),
        (b"q1 10\nq2 9\nq1 11\n", r"^sizes:3: .*'q1'.* line 1"),
        (b"q1 10\nq2 1\n", r"too small for query 'q2'(.|\n)*\b2\b"),
        (b"q1 10\nq2 99999999999999999999\n", r"^sizes:2: .*99999999999999999999"),
        (b"q1 10\nq2 " + b"9" * 9000 + b"\n", r"^sizes:2: the corpus size is not a whole number"),
        (b"q1 10\nq2 1_0\n", r"^sizes:2: .*1_0"),
        (b"", r"^sizes: the file is empty"),
    ],
)
def test_corpus_sizes_that_do_not_fit_are_refused(command: Command, sizes: bytes, said: str) -> None:
    assert_refused(command("eval", "qrels.txt", "good.run", "--corpus-size", "sizes", sizes=sizes), said)


def test_a_corpus_that_is_too_small_is_refused(command: Command) -> None:
    outcome = command("eval", "qrels.txt", "good.run", "--corpus-size", "1")
    assert_refused(
        outcome, r"the corpus size 1 is too small for query 'q1'", r"good\.run retrieved 2", r"needs 2 or more"
    )


# Usage


def test_all_unknown_measures_are_named_at_once(command: Command) -> None:
    outcome = command("eval", "qrels.txt", "good.run", "-m", "nDGC@10 AP", "-m", "tsee", "-m", "xyzzy")
    assert_refused(outcome, r"'nDGC@10': did you mean 'nDCG@10'", r"'tsee': did you mean 'TSE'", "'xyzzy'", code=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--depth", "-1"], "--depth.*-1"),
        (["--depth", "0"], "--depth.*0"),
        (["--depth", "99999999999999999999"], "--depth.*99999999999999999999"),
        (["--depth", "9" * 9000], "--depth.*999"),
        (["--depth", "1_0"], "--depth.*1_0"),
        (["--depth", "\uff11"], "--depth.*\uff11"),
        (["--level", "1_0"], "--level.*1_0"),
        (["--corpus-size", "1_000"], "--corpus-size.*1_000.*whole number"),
        (["--corpus-size", "9" * 9000], "--corpus-size.*whole number"),
        (["-m", "P@1_0"], "'1_0', but must be a number"),
        (["-m", "P@99999999999999999999"], "P: cutoff is 99999999999999999999"),
        (["-m", "P@" + "9" * 9000], "P: cutoff is "),
        (["--level", "0"], "level is 0"),
        (["--level", "-2"], "level is -2"),
        (["--level", "nan"], "level is nan"),
        (["--corpus-size", "0"], r"corpus.size is 0"),
        (["--corpus-size", "-5"], r"corpus.size is -5"),
        (["--corpus-size=--5"], r"--5"),
        (["--corpus-size", "99999999999999999999"], r"99999999999999999999"),
        (["-m", "P"], r"P needs a cutoff: write it as P@10"),
        (["-m", "P@-1"], r"P: cutoff is -1"),
        (["-m", "AP(x=1)"], r"AP has no setting 'x'"),
        (["-m", ""], r"measure"),
        (["-m", " "], r"measure"),
        (["-m", "TSE(e=linear)"], r"--corpus-size"),
        (["--ties", "expected", "-m", "infAP"], r"infAP.* no closed form"),
        (["--ties", "alphabetical"], r"--ties.*alphabetical"),
        (["--queries", "some"], r"--queries.*some"),
        (["-f", "xml"], r"--format.*xml"),
        (["--no-such-option"], r"--no-such-option"),
    ],
)
def test_an_option_that_is_not_offered_is_refused(command: Command, options: list[str], said: str) -> None:
    outcome = command("eval", "qrels.txt", "good.run", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err
    assert re.search(said, outcome.err), outcome.err


@pytest.mark.parametrize(
    "arguments",
    [("-", "-"), ("-", "good.run", "-"), ("qrels.txt", "-", "-"), ("-", "good.run", "--corpus-size", "-")],
)
def test_standard_input_is_read_once(command: Command, arguments: tuple[str, ...]) -> None:
    outcome = command("eval", *arguments, stdin=GOOD["qrels.txt"])
    assert (outcome.code, outcome.out) == (2, "")
    assert "stdin" in outcome.err


@pytest.mark.parametrize("arguments", [(), ("eval",), ("eval", "qrels.txt"), ("evaluate",), ("measures", "xyzzy")])
def test_a_command_that_lacks_something_is_refused(command: Command, arguments: tuple[str, ...]) -> None:
    outcome = command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err


# Nothing is left behind


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_failing_command_writes_no_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    assert command("eval", "qrels.txt", "nowhere", "-o", "old.txt").code == 1
    assert (tmp_path / "old.txt").read_text() == "old"
    outcome = command("eval", "qrels.txt", "bad", "-o", "out.txt", "--manifest", "m.json", bad=b"x\n")
    assert_refused(outcome, "^bad:1: ")
    assert files_in(tmp_path) == {"bad", "old.txt", *GOOD}


@pytest.mark.parametrize("options", [("-o", "no/out.txt", "--manifest", "m.json"), ("-o", "out", "--manifest", "no/m")])
def test_output_into_a_missing_folder_leaves_nothing_behind(
    command: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    outcome = command("eval", "qrels.txt", "good.run", *options)
    assert (outcome.code, outcome.out) == (1, "")
    assert re.search(r"(^|\n)no/\S+: cannot be written: no such file or directory", outcome.err)
    assert files_in(tmp_path) == {*GOOD}


# What goes on, with a note


def test_each_kind_of_note_is_said_once_with_counts(command: Command) -> None:
    qrels = GOOD["qrels.txt"] + b"q2 0 c 1.0\nq3 0 d 1\nq4 0 e 1\nq5 0 f 0\n"
    runs = {"good.run": GOOD["good.run"], "b.run": b"q1 Q0 a 1 3 t\nx Q0 a 1 3 t\ny Q0 a 1 3 t\nq5 Q0 f 1 1 t\n"}
    outcome = command("eval", "all.txt", *runs, "-m", "AP", **{"all.txt": qrels, **runs})
    notes = [line for line in outcome.err.splitlines() if line.startswith("note: ")]
    assert outcome.code == 0
    assert len(notes) == len(outcome.err.splitlines()) == 4
    for pattern in (
        r"does not answer.*good\.run [23], b\.run 3\b.*worst case.*--queries intersection",
        r"without judgments.*b\.run 2\b.*ignored",
        r"\b1 query without a relevant document \(q5\).*--no-relevant zero",
        r"\b1 judgment given more than once",
    ):
        assert len(re.findall(pattern, outcome.err)) == 1, (pattern, outcome.err)


@pytest.mark.parametrize(("rule", "value"), [("first", "0.5000"), ("best", "1.0000")])
def test_duplicates_are_left_out_and_counted_on_query(command: Command, rule: str, value: str) -> None:
    run = b"q1 Q0 a 1 1 t\nq1 Q0 b 2 2 t\nq1 Q0 a 3 3 t\nq1 Q0 b 4 1.5 t\nq2 Q0 c 1 1 t\n"
    outcome = command("eval", "q", "r.run", "-m", "AP", "--duplicates", rule, q=b"q1 0 a 1\n", **{"r.run": run})
    assert outcome.code == 0
    assert value in outcome.out
    assert re.search(rf"note: .*repeat.*r\.run 2\b.*{rule}", outcome.err)


# The real thing


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["qrels.txt", "nowhere.run"], 1), (["qrels.txt", "good.run", "-m", "xyzzy"], 2), (["qrels.txt", "good.run"], 0)],
)
def test_the_installed_command_leaves_with_the_exit_code(tmp_path: Path, arguments: list[str], code: int) -> None:
    for name, content in GOOD.items():
        (tmp_path / name).write_bytes(content)
    program = [sys.executable, "-c", "from lexirecall.cli import main; main()"]
    done = subprocess.run([*program, "eval", *arguments], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, bool(done.stdout)) == (code, code == 0)
    assert b"Traceback" not in done.stderr

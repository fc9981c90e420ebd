"""What is written: never over an input or another output, whole or not at all; and what is said where it cannot be."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import Command
from lexirecall import report
from lexirecall.cli import main
from lexirecall.errors import LexirecallError, UsageError
from lexirecall.output import check_outputs, write_files, write_folder

GOOD = {
    "qrels.txt": b"q1 0 a 1\nq1 0 b 1\nq2 0 c 1\n",
    "a.run": b"q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 c 1 1 t\n",
    "b.run": b"q1 Q0 b 1 2 t\nq2 Q0 x 1 2 t\nq2 Q0 c 2 1 t\n",
    "sizes.txt": b"q1 10\nq2 10\n",
    "owners.txt": b"a A\nb B\nc A\n",
    "c.toml": b'[[collection]]\nname = "c"\nqrels = "qrels.txt"\nruns = ["*.run"]\n',
    "summary.txt": b"q1 0 a 1\nq2 0 c 1\n",
}
PAIR = ("qrels.txt", "a.run", "b.run")


def refused(outcome: Any, folder: Path, *said: str) -> None:
    """Assert that a command ended as bad usage, without a result, and left every file as it was."""
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert all(text in outcome.err for text in said), outcome.err
    assert {name: (folder / name).read_bytes() for name in GOOD} == GOOD


@pytest.mark.parametrize("name", ["x", "./x", "sub/../x", "link", "hard"])
@pytest.mark.parametrize("exists", [True, False])
def test_two_outputs_that_are_one_file_are_refused(command: Command, tmp_path: Path, name: str, exists: bool) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "x")
    if exists or name == "hard":
        (tmp_path / "x").write_text("old")
        (tmp_path / "hard").hardlink_to(tmp_path / "x")
    outcome = command("eval", *PAIR, "-o", str(tmp_path / "x"), "--manifest", name)
    refused(outcome, tmp_path, f"--manifest '{name}' is the same file as -o", "name another file")
    assert not (tmp_path / "x").exists() or (tmp_path / "x").read_text() == "old"


OVERWRITING = {
    "the judgments": ("eval", *PAIR, "-o", "qrels.txt"),
    "a run": ("eval", *PAIR, "-o", "./a.run"),
    "the manifest": ("eval", *PAIR, "--manifest", "b.run"),
    "a pattern": ("eval", "qrels.txt", "*.run", "-o", "b.run"),
    "sizes": ("eval", *PAIR, "--corpus-size", "sizes.txt", "-o", "sizes.txt"),
    "owners": ("eval", *PAIR, "--providers", "owners.txt", "-o", "owners.txt"),
    "compare": ("compare", *PAIR, "-o", "a.run"),
    "rank": ("rank", *PAIR, "-o", "a.run"),
    "explain": ("explain", *PAIR, "-o", "b.run"),
    "report": ("report", *PAIR, "-o", "qrels.txt"),
    "study": ("study", "summary.txt", "a.run", "b.run", "-o", "."),
    "study of a list": ("study", "--collections", "c.toml", "-o", "."),
}


@pytest.mark.parametrize("arguments", OVERWRITING.values(), ids=OVERWRITING)
def test_an_output_that_is_an_input_is_refused(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = GOOD["c.toml"].replace(b"qrels.txt", b"summary.txt")
    monkeypatch.setitem(GOOD, "c.toml", listed)
    refused(command(*arguments), tmp_path, "is also an input")


def test_an_input_is_the_same_through_any_link(command: Command, tmp_path: Path) -> None:
    command("measures", "AP")  # which writes the files
    (tmp_path / "soft").symlink_to("a.run")
    (tmp_path / "hard").hardlink_to(tmp_path / "b.run")
    for name in ("soft", "hard", str(tmp_path / "a.run")):
        refused(command("eval", *PAIR, "-o", name), tmp_path, "is also an input")


@pytest.mark.parametrize(
    "options", [("-o", "runs/new.txt"), ("-o", "x", "--manifest", "./runs/deep/m.json")], ids=lambda o: o[-1]
)
def test_an_output_in_a_folder_of_input_is_refused(command: Command, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "runs" / "deep").mkdir(parents=True)
    refused(command("eval", "qrels.txt", "runs", *options), tmp_path, "is in an input folder: 'runs'")


def test_in_python_a_page_is_not_written_over_its_input(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(GOOD["a.run"])
    for runs in (tmp_path / "a.run", [tmp_path / "a.run"], {"a": tmp_path / "a.run"}):
        with pytest.raises(UsageError, match="is also an input"):
            report({"q1": {"a": 1}}, runs, output=tmp_path / "a.run")
    assert (tmp_path / "a.run").read_bytes() == GOOD["a.run"]


def test_what_is_no_plain_file_may_be_written_twice(command: Command) -> None:
    assert command("eval", *PAIR, "-o", "/dev/null", "--manifest", "/dev/null").code == 0
    both = command("eval", *PAIR, "-m", "AP", "-o", "-", "--manifest", "-")
    assert both.code == 0
    assert both.out.startswith("run")
    assert '"conventions"' in both.out


def test_files_of_one_call_must_differ(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is the same file as"):
        write_files({tmp_path / "x": b"1", tmp_path / "." / "sub" / ".." / "x": b"2"})
    assert list(tmp_path.iterdir()) == []


def test_ids_in_a_run_are_no_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("mine")
    check_outputs([("-o", "x")], [{"q": {"x": 1}}, [{"q": ["x"]}], {"run": {"q": ["x"]}}, 7, None])


# What fails while it is written


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("at", ["writing", "closing", "renaming"])
def test_nothing_stays_whatever_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, at: str
) -> None:
    (tmp_path / "b.txt").write_text("old")
    opened = Path.open

    def fail(*_: object, **__: object) -> None:
        raise failure

    def failing(path: Path, *arguments: Any, **options: Any) -> Any:
        stream = opened(path, *arguments, **options)
        if at == "writing":
            stream.write(b"half")
            fail()
        stream.close()
        return fail()

    if at == "renaming":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        monkeypatch.setattr(Path, "open", failing)
    with pytest.raises(LexirecallError if isinstance(failure, OSError) else KeyboardInterrupt) as raised:
        write_files({tmp_path / "a.txt": b"new", tmp_path / "b.txt": b"new"})
    monkeypatch.undo()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b.txt": "old"}
    if isinstance(failure, OSError):
        assert "a.txt: cannot be written: no space left on device\n  free some space" in str(raised.value)


def test_a_file_keeps_its_mode_and_its_long_name(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / ("n" * 255)
    old.write_text("old")
    old.chmod(0o640)
    write_folder(tmp_path, {old.name: b"1", new.name: b"2"})
    assert (old.stat().st_mode & 0o777, old.read_bytes(), new.read_bytes()) == (0o640, b"1", b"2")


needs_shell = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full and a shell")
NOT_WRITTEN = "standard output: cannot be written: "


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    for name, content in GOOD.items():
        (folder / name).write_bytes(content)
    line = line.replace("lexirecall", f"{sys.executable} -m lexirecall")
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


@needs_shell
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("lexirecall eval qrels.txt a.run > /dev/full", 1, NOT_WRITTEN + "no space left on device"),
        ("lexirecall eval qrels.txt a.run >&-", 1, NOT_WRITTEN + "it is closed"),
        ("lexirecall eval qrels.txt a.run -o result >&-", 0, ""),
        ("lexirecall eval qrels.txt a.run -o /dev/full", 1, "/dev/full: cannot be written: no space left"),
        ("lexirecall --version > /dev/full", 1, NOT_WRITTEN),
        ("lexirecall --version >&-", 1, NOT_WRITTEN),
        ("lexirecall eval --help > /dev/full", 1, NOT_WRITTEN),
        ("lexirecall demo -o demo > /dev/full", 1, NOT_WRITTEN),
        ("lexirecall eval - a.run <&-", 1, "standard input: the file is empty"),
        ("lexirecall eval qrels.txt a.run >> qrels.txt", 2, "standard output is also an input: 'qrels.txt'"),
        ("lexirecall eval - a.run -o qrels.txt < qrels.txt", 2, "-o 'qrels.txt' is also an input: '-'"),
        ("lexirecall eval qrels.txt a.run --manifest new > new", 2, "is the same file as standard output"),
        ("lexirecall eval qrels.txt a.run -o - --manifest - > new", 0, ""),
    ],
)
def test_streams_that_cannot_be_written_are_named(tmp_path: Path, line: str, code: int, said: str) -> None:
    done = shell(line, tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert (tmp_path / "qrels.txt").read_bytes() == GOOD["qrels.txt"]


@needs_shell
def test_without_stderr_the_result_is_the_same(tmp_path: Path) -> None:
    line = "lexirecall eval qrels.txt a.run"
    assert shell(f"{line} 2>&-", tmp_path).stdout == shell(line, tmp_path).stdout != ""
    assert shell(f"{line} missing.run 2>&-", tmp_path).returncode == 1
    assert shell(f"{line} 2>/dev/full", tmp_path).returncode == 1  # a note that nobody can read


@needs_shell
def test_a_stream_that_is_open_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    assert shell("lexirecall eval qrels.txt a.run -m AP -o /dev/stdout >> log", tmp_path).returncode == 0
    assert shell("lexirecall eval qrels.txt a.run -m AP -o /dev/fd/3 3>> log", tmp_path).returncode == 0
    assert (tmp_path / "log").read_text() == "before\n" + 2 * "run        AP\na.run  1.0000\n"


# What nobody foresaw


class Panic(BaseException):
    """What a library written in another language may raise."""


UNFORESEEN: dict[str, tuple[BaseException, str]] = {
    "a bug": (ZeroDivisionError("division by zero"), "lexirecall eval: ZeroDivisionError: division by zero\n  this is a bug in lexirecall; LEXIRECALL_TRACEBACK=1"),  # noqa: E501 - one line
    "a bug without words": (AssertionError(), "lexirecall eval: AssertionError\n  this is a bug"),
    "recursion": (RecursionError("maximum recursion depth exceeded"), "lexirecall eval: RecursionError: maximum"),
    "memory": (MemoryError(), "lexirecall eval: not enough memory\n  give fewer runs"),
    "a panic": (Panic("index out of bounds\nat line 7"), "lexirecall eval: Panic: index out of bounds\n  this"),
    "an id that draws": (KeyError("\x1b[31m"), "lexirecall eval: KeyError: '\\x1b[31m'"),
}  # fmt: skip


def raising(error: BaseException) -> Callable[..., None]:
    def project(*_: object, **__: object) -> None:
        raise error

    return project


@pytest.mark.parametrize(("error", "said"), UNFORESEEN.values(), ids=UNFORESEEN)
def test_an_unforeseen_error_is_a_message(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str
) -> None:
    monkeypatch.delenv("LEXIRECALL_TRACEBACK", raising=False)
    monkeypatch.setattr("lexirecall.verbs.subject.project", raising(error))
    outcome = command("eval", *PAIR)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(said)
    assert "Traceback" not in outcome.err


def test_the_traceback_is_shown_to_those_who_ask(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXIRECALL_TRACEBACK", "1")
    monkeypatch.setattr("lexirecall.verbs.subject.project", raising(ZeroDivisionError("division by zero")))
    outcome = command("eval", *PAIR)
    assert outcome.code == 1
    assert outcome.err.startswith("Traceback (most recent call last):\n")
    assert outcome.err.endswith("ZeroDivisionError: division by zero\n")


def test_a_reader_that_leaves_is_no_bug(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexirecall.verbs.subject.project", raising(BrokenPipeError()))
    outcome = command("eval", *PAIR)
    assert (outcome.code, outcome.err) == (141, "")


def test_an_error_while_runs_are_read_side_by_side_is_a_message(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexirecall.formats.read_form", raising(ZeroDivisionError("in a thread")))
    outcome = command("eval", *PAIR)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("lexirecall eval: ZeroDivisionError: in a thread\n")


def test_an_error_in_a_thread_that_nobody_waits_for_is_a_message() -> None:
    code = (
        "import sys, threading, lexirecall.cli as cli\n"
        "cli.main = lambda: threading.Thread(target=lambda: 1 / 0).start()\n"
        "sys.argv = ['lexirecall', 'eval']; cli.run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("lexirecall eval: ZeroDivisionError: division by zero\n  this is a bug")


def test_a_working_stream_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    before = (sys.stdin, sys.stdout, sys.stderr)
    monkeypatch.setattr(sys, "argv", ["lexirecall", "--version"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert (leaving.value.code, (sys.stdin, sys.stdout, sys.stderr)) == (0, before)
    assert os.fstat(1)

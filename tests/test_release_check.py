"""The account of what is run before a release: nothing that has not passed looks as if it had."""

import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
MADE_BY_HAND = {"install", "coverage", "docs", "docs-check", "try", "bench", "suites", "release-check"}
"""Targets that check nothing, that need something from outside, or that another one implies."""
MAKEFILE = """
good: ; @echo fine >> ran; test -z "$$PYTHONPATH"
bad: ; @echo bad >> ran; echo it is broken; exit 7
last: ; @echo last >> ran
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the script with targets that are not real ones."""
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    made = runpy.run_path(str(ROOT / "ci" / "release_check.py"))
    targets = {"good": (), "bad": (), "none": ("a-program-that-is-not-there",), "last": ()}
    monkeypatch.setitem(made["main"].__globals__, "TARGETS", targets)
    return made


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / ".gitignore").write_text("build/\nran\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    return subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "more")


def rows(folder: Path) -> dict[str, list[str]]:
    lines = (folder / "build" / "release-check.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["target", "result", "at", "seconds", "commit"]
    return {fields[0]: fields[1:] for fields in (line.split("\t") for line in lines[1:])}


def ran(folder: Path) -> list[str]:
    names = (folder / "ran").read_text().split() if (folder / "ran").exists() else []
    (folder / "ran").unlink(missing_ok=True)
    return names


def test_it_goes_on_after_a_failure_and_says_what_came_of_each(
    script: dict[str, Any], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script["main"]([], tree) == 1
    assert ran(tree) == ["fine", "bad", "last"]
    found = rows(tree)
    assert [found[name][0] for name in found] == [
        "passed",
        "failed: exit code 2, see build/release-check/bad.log",  # make's own
        "not run: a-program-that-is-not-there not installed",
        "passed",
    ]
    head = git(tree, "rev-parse", "HEAD").strip()
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d", row[1]) and row[3] == head for row in found.values())
    assert "it is broken" in (tree / "build" / "release-check" / "bad.log").read_text()
    assert capsys.readouterr().out.endswith((tree / "build" / "release-check.tsv").read_text())


def test_what_has_passed_for_this_commit_is_not_run_again_unless_it_is_named(
    script: dict[str, Any], tree: Path
) -> None:
    script["main"]([], tree)
    ran(tree)
    assert script["main"]([], tree) == 1
    assert ran(tree) == ["bad"]
    assert script["main"](["last", "good"], tree) == 0
    assert ran(tree) == ["fine", "last"]
    assert script["main"](["none"], tree) == 1
    (tree / "Makefile").write_text(MAKEFILE.replace("exit 7", "exit 0"))
    script["main"]([], tree)
    assert ran(tree) == ["fine", "bad", "last"]
    assert rows(tree)["bad"][3].endswith(" with changes")
    script["main"]([], tree)
    assert ran(tree) == ["fine", "bad", "last"], "what passed in a tree with changes says nothing of another"
    commit(tree)
    script["main"]([], tree)
    assert ran(tree) == ["fine", "bad", "last"]
    script["main"]([], tree)
    assert ran(tree) == []


def test_a_name_that_is_not_known_is_refused(
    script: dict[str, Any], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script["main"](["goood"], tree) == 2
    assert capsys.readouterr().err == "unknown: goood; choose from good, bad, none, last\n"
    assert not (tree / "build").exists()


def test_every_target_that_checks_something_is_run_by_one_of_the_two() -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    before_a_release = {*runpy.run_path(str(ROOT / "ci" / "release_check.py"))["TARGETS"]}
    assert before_a_release <= targets
    job = ROOT / ".ci" / "run"
    if job.exists():  # a source archive has none
        called = " ".join(re.findall(r"\bmake ([^\n]*)", job.read_text(encoding="utf-8"))).split()
        assert targets - before_a_release - MADE_BY_HAND - {"test"} <= {*called}

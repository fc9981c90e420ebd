"""Completion: what the shells offer after Tab, asked in the shells themselves where they are installed."""

import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from command import Command
from lexirecall.cli import COMMANDS, completion
from lexirecall.names import rows

GOOD: dict[str, bytes] = {}
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
needs_fish = pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with the program on the path, as whoever runs the tests has it."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)
    program = tmp_path / "bin" / "lexirecall"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lexirecall "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def printed(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def in_bash(script: str, *words: str) -> list[str]:
    """Return what bash would offer after these words."""
    asked = f"""{script}
    COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
    compopt() {{ COMPREPLY=("$2"); }}
    _lexirecall_completion lexirecall
    for each in "${{COMPREPLY[@]}}"; do printf '%s\\n' "$each"; done
    """
    return printed("bash", "--norc", "-c", asked).splitlines()


@needs_bash
@pytest.mark.usefixtures("home")
def test_bash_completes_commands_options_values_measures_and_files(command: Command) -> None:
    script = command("completion", "bash").out
    assert in_bash(script, "lexirecall", "") == list(COMMANDS)
    assert in_bash(script, "lexirecall", "eval", "--stdin") == ["--stdin-name"]
    assert in_bash(script, "lexirecall", "eval", "--format", "t") == ["table", "tsv", "trec"]
    assert in_bash(script, "lexirecall", "eval", "-m", "lexirecallb") == ["LexiRecallBits"]
    assert in_bash(script, "lexirecall", "eval", "-m", "AP,TS") == ["AP,TSE"]
    assert in_bash(script, "lexirecall", "measures", "") == list(rows())
    assert in_bash(script, "lexirecall", "eval", "--over", "m") == ["mean", "median", "min"]
    assert in_bash(script, "lexirecall", "eval", "qr") == ["default"]
    assert in_bash(script, "lexirecall", "eval", "qrels", "--by", "") == ["default"]
    assert in_bash(script, "lexirecall", "study", "-o", "") == ["dirnames"]
    assert in_bash(script, "lexirecall", "report", "--title", "") == []


@needs_fish
def test_fish_completes_after_installing(home: Path, command: Command) -> None:
    assert command("completion", "fish", "--install").code == 0
    asked = printed("fish", "-c", "complete -C 'lexirecall eval -m LexiRecallB'")
    assert asked.split() == ["LexiRecallBits"]
    assert (home / ".config" / "fish" / "completions" / "lexirecall.fish").exists()


@needs_zsh
def test_zsh_finds_what_was_installed(home: Path, command: Command) -> None:
    folder = home / ".local" / "share" / "zsh" / "site-functions"
    assert f"fpath+=({folder})" in command("completion", "zsh", "--install").out
    asked = f"fpath+=({folder}); autoload -Uz compinit; compinit -D; print -r -- $_comps[lexirecall]"
    assert printed("zsh", "-f", "-c", asked) == "_lexirecall\n"


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_installing_says_where_and_can_be_repeated(home: Path, command: Command, shell: str) -> None:
    first, again = (command("completion", shell, "--install") for _ in range(2))
    path = completion.SHELLS[shell].path()
    assert home in path.parents
    assert first == again
    assert first.out.startswith(f"completion for {shell} is in {path}\n")
    assert path.read_text() == command("completion", shell).out


@pytest.mark.usefixtures("home")
def test_the_file_of_somebody_else_is_left_alone(command: Command) -> None:
    path = completion.SHELLS["bash"].path()
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")
    done = command("completion", "bash", "--install")
    assert (done.code, done.out, path.read_text()) == (1, "", "mine\n")
    assert f"{path}: already exists, and was not written by lexirecall\n  move it away" in done.err


def test_a_folder_that_cannot_be_made_is_named(home: Path, command: Command) -> None:
    (home / ".config").write_text("a file")
    done = command("completion", "fish", "--install")
    assert (done.code, done.out) == (1, "")
    assert "not a directory" in done.err or "file exists" in done.err


def test_the_folders_of_the_environment_count(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASH_COMPLETION_USER_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for shell in completion.SHELLS:
        assert command("completion", shell, "--install").code == 0
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {
        "own/completions/lexirecall",
        "config/fish/completions/lexirecall.fish",
        "data/zsh/site-functions/_lexirecall",
    }


def test_the_shell_is_that_of_the_environment(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/local/bin/fish")
    assert command("completion") == command("completion", "fish")
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    done = command("completion")
    assert (done.code, done.out) == (2, "")
    assert "your shell is tcsh; there is completion for bash, zsh, fish\n  name one of them" in done.err
    monkeypatch.delenv("SHELL")
    assert "the environment variable SHELL does not say" in command("completion").err

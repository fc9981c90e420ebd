"""The manual page: current, complete, and readable by `man`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lexirecall.cli import COMMANDS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "man" / "lexirecall.1"


def test_the_page_is_current() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "manual.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_command_has_a_section() -> None:
    sections = re.findall(r'^\.SH "LEXIRECALL (.*)"$', PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sections == [name.upper() for name in COMMANDS]


def test_no_line_is_a_query_by_mistake() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    queries = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert queries == {'.\\"', ".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".nf", ".fi"}


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_mandoc_finds_nothing_wrong_but_the_date() -> None:
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", PAGE], capture_output=True, text=True, check=False)
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_man_shows_it(tmp_path: Path) -> None:
    place = tmp_path / "man1"
    place.mkdir()
    shutil.copy(PAGE, place)
    done = subprocess.run(
        ["man", "-M", str(tmp_path), "--warnings", "lexirecall"], capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "MANPAGER": "cat"},
    )  # fmt: skip
    if "has been minimized" in done.stdout + done.stderr:
        pytest.skip("man is not installed completely")
    assert (done.returncode, done.stderr) == (0, "")
    assert "evaluate rankings by whether everything relevant is found" in done.stdout

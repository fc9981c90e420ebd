"""The README says what is true: its commands exist, its examples print what it shows."""

import doctest
import re
from pathlib import Path

import pytest

from pages import commands, run_command

README = Path(__file__).parents[1] / "README.md"


def test_console_examples_print_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_command("lexirecall demo")
    shown = [(command, output) for command, output in commands(README) if output]
    assert len(shown) > 3
    for command, output in shown:
        code, printed = run_command(command)
        assert (code, re.sub(r"^note: .*\n", "", printed)) == (0, output)


def test_python_examples_print_what_the_readme_shows() -> None:
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_readme_opens_with_the_two_commands() -> None:
    text = README.read_text()
    assert "\npip install . && lexirecall demo\n" in text
    assert "\npip install '.[test]' && pytest -n auto\n" in text

"""The README says what is true: its commands exist, its examples print what it shows."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
CONSOLE = re.compile(r"```console\n\$ (?P<command>.+)\n(?P<output>(?:(?!```).*\n)+)```")


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    run("lexirecall demo", folder)
    return folder


def run(command: str, folder: Path) -> str:
    """Run a command of the README with this interpreter, patterns expanded as a shell would."""
    words = [sys.executable, "-c", "from lexirecall.cli import main; main()"]
    for word in shlex.split(command)[1:]:
        words += sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else [word]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("example", list(CONSOLE.finditer(README.read_text())), ids=lambda match: match["command"])
def test_console_examples_print_what_the_readme_shows(example: re.Match[str], demo_folder: Path) -> None:
    assert run(example["command"], demo_folder) == example["output"]


def test_python_examples_print_what_the_readme_shows() -> None:
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_readme_opens_with_the_two_commands() -> None:
    text = README.read_text()
    assert "\npip install . && lexirecall demo\n" in text
    assert "\npip install '.[test]' && pytest -n auto\n" in text

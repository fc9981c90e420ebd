"""Every command, with every option, prints what it printed before, to the last digit.

Where the arithmetic differs (another numpy or scipy, another kind of processor), numbers may differ in the last digits,
and digests are not compared; nor is what click says of a wrong option, which differs from version to version.
"""

import re
from pathlib import Path

import pytest

import golden
from lexirecall.cli import COMMANDS

_NUMBER = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?|-?\d+[eE][-+]?\d+")
_SAME_ARITHMETIC = (golden.FOLDER / "arithmetic").read_text() == golden.arithmetic()


def check(expected: str, made: str) -> None:
    """Compare to the bit where the arithmetic is the same, else texts to the letter and numbers nearly."""
    if _SAME_ARITHMETIC or expected == made:
        assert made == expected
        return
    if "sha256 " in expected or (_is_of_click(expected) and _is_of_click(made)):
        return
    assert _NUMBER.sub("#", made) == _NUMBER.sub("#", expected)
    numbers = [[float(number) for number in _NUMBER.findall(text)] for text in (made, expected)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-12)


def _is_of_click(text: str) -> bool:
    return "--- exit 2, " in text and "--- stderr\nUsage: " in text


def compare(name: str, folder: Path | None = None) -> None:
    kept = golden.read(name)
    assert list(kept) == golden.CASES[name], "python tests/golden.py writes the files anew"
    for made in golden.recorded(name, folder):
        check(f"$ {made.call}\n{kept[made.call]}", f"$ {made.call}\n{made}")


@pytest.mark.parametrize("name", [name for name in golden.CASES if name != "spark"])
def test_every_call_prints_what_it_printed_before(name: str) -> None:
    compare(name)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_call_has_every_option_and_every_choice(command: str) -> None:
    missing = [option for option in golden.options_of(command) if not golden.is_covered(option, command)]
    assert missing == []

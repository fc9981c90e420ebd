"""What a terminal is shown: no character of the data that it would obey, whatever command and format print it."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall.output import for_terminal

pty = pytest.importorskip("pty", reason="a terminal of POSIX")

HOSTILE = "d\x1b]0;owned\x07\x9b31m\u202eX\nmap\tall\t1.0\r\u2028\x1b[1m\u2066\x08\x7f"
OURS = re.compile("\x1b\\[[01]m|[\u2068\u2069\t\n]")
WITHOUT_A_BAR = "from lexirecall import cli, progress; progress.PATIENCE = 1e9; cli.run()"
"""The bar is ours, and a busy machine shows it where others do not."""
FORMS = ("table", "markdown", "latex", "html", "jsonl", "csv", "tsv", "trec", "junit")
FILES = ("q.json", f"x{HOSTILE}.json".replace("/", ""), "y.json")
COMMANDS = [
    ("eval", *FILES, "-q"),
    ("eval", *FILES, "--manifest", "-"),
    ("compare", *FILES),
    ("rank", *FILES),
    ("explain", *FILES),
    ("explain", *FILES, "-m", "AP"),
    ("explain", *FILES, "--query", f"q{HOSTILE}"),
    ("unjudged", *FILES, "-m", "R@2", "--rate", "0.3", "--judge", "3"),
    ("gate", FILES[0], FILES[2], "--baseline", FILES[1]),
    ("fuse", *FILES),
    ("trec_eval", *FILES[:2], "-q"),
    ("eval", FILES[0], f"missing{HOSTILE}.json"),
    ("eval", *FILES, "-m", f"AP{HOSTILE}"),
    (f"eval{HOSTILE}",),
    ("eval", *FILES, f"--{HOSTILE}"),
    ("completion", f"bash{HOSTILE}"),
    ("measures", f"AP{HOSTILE}"),
    ("demo", "-o", "demo\x1b]0;owned\x07\x9b31m"),
]


def visible_id(words: tuple[str, ...]) -> str:
    return " ".join(word for word in words if word.isprintable())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    ids = [f"{name}{HOSTILE}" for name in "abc"]
    queries = {f"q{HOSTILE}": dict.fromkeys(ids, 1), **{f"r{i}": {"c": 1} for i in range(3)}}
    runs = {q: ["z" + HOSTILE, *judged] for q, judged in queries.items()}
    fewer = {q: [*judged][:1] for q, judged in queries.items()}
    for name, content in zip(FILES, (queries, runs, fewer), strict=True):
        (made / name).write_text(json.dumps(content))
    return made


def shown(words: tuple[str, ...], folder: Path) -> str:
    """Return what a command prints to a terminal, results, notes and errors."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", WITHOUT_A_BAR, *words]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs):
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 2**16):
                parts.append(part)
        except OSError:  # nobody writes to it any more
            pass
    os.close(ours)
    return b"".join(parts).decode(errors="surrogateescape").replace("\r\n", "\n")


@pytest.mark.parametrize("words", COMMANDS, ids=visible_id)
def test_no_character_of_the_data_reaches_a_terminal(words: tuple[str, ...], folder: Path) -> None:
    for form in FORMS if words[0] in ("eval", "compare", "rank", "explain", "unjudged", "gate") else ("",):
        text = shown((*words, "-f", form) if form else words, folder)
        assert text
        assert "Traceback" not in text
        assert "Exception ignored" not in text
        assert OURS.sub("", text).isprintable(), (form, text)
        assert not re.search(r"^map\tall\t1.0", text, re.MULTILINE), (form, text)
        if form not in ("table", "") or words[0] == "trec_eval":
            assert "\x1b" not in text


def test_a_file_keeps_what_a_terminal_is_not_shown(folder: Path) -> None:
    command = [sys.executable, "-m", "lexirecall", "eval", *FILES, "-q", "-f", "csv"]
    assert HOSTILE.encode() in subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout


@given(st.text(), st.sampled_from(FORMS))
def test_a_terminal_has_no_control_characters_but_for_lines_and_tabs(text: str, form: str) -> None:
    shown_text = for_terminal(text, form)
    rest = re.sub("[\n\t]", "", OURS.sub("", shown_text) if form == "table" else shown_text)
    assert not {unicodedata.category(character) for character in rest} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert for_terminal(shown_text, form) == shown_text

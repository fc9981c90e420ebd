"""trec_eval's own tests: each line `./trec_eval ARGUMENTS | diff - FILE` of the target quicktest in its Makefile.

Belongs here: these lines, and what `lexirecall trec_eval` prints for each. The text must be the same to the last byte.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from suites.verdicts import DIFFERING, PASSED, REFUSED, Outcome

AS_VERSION = {"9": ("--compat", "9"), "10": ()}
"""The options that make `lexirecall trec_eval` behave as a version does."""
LINE = re.compile(r"\t\./trec_eval (?P<arguments>.*\S)\s*\|\s*diff - (?P<expected>\S+)")


def version_of(folder: Path) -> str:
    """Return the version of trec_eval in a folder: only since 10 it has the measure rbp."""
    return "10" if (folder / "m_rbp.c").exists() else "9"


def lines_of(makefile: Path) -> Iterator[tuple[str, str]]:
    """Give the arguments of each call in the target quicktest, and the file with what it prints."""
    text = makefile.read_text(encoding="utf-8")
    target = re.search(r"^quicktest:.*\n((?:\t.*\n?)*)", text, re.MULTILINE)
    for line in target[1].splitlines() if target else ():
        if match := LINE.fullmatch(line):
            yield match["arguments"], match["expected"]


def run_quicktest(folder: Path, version: str) -> list[Outcome]:
    """Run every line of quicktest."""
    return [_outcome(folder, version, *line) for line in lines_of(folder / "Makefile")]


def _outcome(folder: Path, version: str, arguments: str, expected: str) -> Outcome:
    words = [sys.executable, "-m", "lexirecall", "trec_eval", *AS_VERSION[version], *shlex.split(arguments)]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        return Outcome(arguments, REFUSED, " ".join(line.strip() for line in said[-2:]))
    theirs = (folder / expected).read_bytes()
    return Outcome(arguments, *((PASSED,) if done.stdout == theirs else (DIFFERING, _first(done.stdout, theirs))))


def _first(ours: bytes, theirs: bytes) -> str:
    """Show the first line that differs."""
    printed, wanted = (text.decode(errors="replace").splitlines() for text in (ours, theirs))
    differing = [(mine, other) for mine, other in zip(printed, wanted, strict=False) if mine != other]
    if len(printed) != len(wanted):
        return f"{len(printed)} lines instead of {len(wanted)}" + (f"; first {differing[0]}" if differing else "")
    return f"{len(differing)} of {len(wanted)} lines differ; first {differing[0]}"

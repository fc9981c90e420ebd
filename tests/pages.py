"""What a page of the documentation does when a reader copies its commands and its Python from top to bottom."""

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lexirecall.cli import main

DOCS = Path(__file__).parents[1] / "docs"
GENERATED: dict[str, Any] = runpy.run_path(str(DOCS / "generate.py"))
"""What writes the pages that follow from the code: `pages`, and the PUBLIC modules with their names."""
_BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```(console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"^(?:\$ )?(?P<command>(?:lexirecall|echo) .*)\n(?P<output>(?:(?!\$ |lexirecall ).*\n)*)", re.MULTILINE
)
_LEFT_OUT = "…\n"
"""Stands for lines that a page does not show."""


def blocks(page: Path) -> Iterator[tuple[int, str]]:
    """Give the blocks of Python on a page, each with the line on which it begins."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        yield text.count("\n", 0, match.start(1)), match[1]


def run_page(page: Path, names: dict[str, Any]) -> None:
    """Run the blocks one after another, each with what the ones before it have defined; examples must print the same.

    A function that is called test_… is a test, and is called too.
    """
    runner = doctest.DocTestRunner(verbose=False)
    for line, block in blocks(page):
        if ">>> " in block:
            examples = doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), line)
            examples.globs = names
            runner.run(examples, clear_globs=False)
            assert runner.summarize(verbose=False).failed == 0
        else:
            exec(compile("\n" * line + block, str(page), "exec"), names)  # noqa: S102 - our own page
            for name in re.findall(r"^def (test_\w+)\(\)", block, re.MULTILINE):
                names[name]()


def commands(page: Path) -> Iterator[tuple[str, str | None]]:
    """Give the commands of a page, each with the output that the page shows; None in a block `sh`."""
    for block in _CONSOLE.finditer(page.read_text(encoding="utf-8")):
        joined = re.sub(r" \\\n +", " ", block[2])  # a long command goes on in the next line
        for match in _COMMAND.finditer(joined):
            yield match["command"], match["output"] if block[1] == "console" else None


def run_commands(page: Path) -> None:
    """Run the commands of a page in the working directory; each must print what the page shows, notes included.

    Those of a block `sh` only run: the page does not show what they print.
    A command that fails must be followed by `echo $?`, or the page would show a reader something else.
    """
    code = 0
    for command, shown in commands(page):
        if command == "echo $?":
            assert shown == f"{code}\n"
            code = 0
            continue
        assert code == 0, f"the command before {command!r} leaves with {code}"
        code, printed = run_command(command)
        if shown is not None:
            pattern = ".*".join(map(re.escape, shown.split(_LEFT_OUT)))
            assert re.fullmatch(pattern, printed, re.DOTALL), f"{command}\nprints\n{printed}\nand not\n{shown}"
    assert code == 0


def run_command(command: str) -> tuple[int, str]:
    """Run a command line in this process, with patterns expanded as a shell would; return its code and all it says."""
    words = ["lexirecall"]
    for word in shlex.split(command)[1:]:
        words += sorted(map(str, Path().glob(word))) if "*" in word else [word]
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.ExitStack() as stack:
        for name, value in (("argv", words), ("stdin", io.StringIO()), ("stdout", stream), ("stderr", stream)):
            stack.enter_context(patch.object(sys, name, value))
        stack.enter_context(patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}))
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    return code, stream.buffer.getvalue().decode()

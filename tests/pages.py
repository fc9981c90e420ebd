"""What a page of the documentation does when a reader copies its Python from top to bottom."""

import doctest
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
GENERATED: dict[str, Any] = runpy.run_path(str(DOCS / "generate.py"))
"""What writes the pages that follow from the code: PAGES, and the PUBLIC modules with their names."""
_BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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

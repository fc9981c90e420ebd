"""The notebooks in examples/ run, and show what is stored in them."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notebooks import EXAMPLES, NAMES, normalized, shown

SCRIPT = Path(__file__).parent / "notebooks.py"


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == {*NAMES}


@pytest.mark.notebook
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_is_stored(name: str) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--check", name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_is_small_and_of_no_machine(name: str) -> None:
    text = (EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert normalized(notebook) == notebook
    assert len(text) < 250_000
    assert not re.search(r"/(home|root|tmp|Users)/|<script|0x[0-9a-f]{8}", text)
    assert not {"error", "stream"} & {output["kind"] for outputs in shown(notebook) for output in outputs}


BARS = """\
from concurrent.futures import ThreadPoolExecutor
from lexirecall import progress

progress.PATIENCE, progress._PAUSE = -1, 0
with progress.Progress("reading", 4, shown={shown}) as bar, ThreadPoolExecutor(1) as pool:
    pool.submit(bar.advance, 1).result()  # as runs are read
    bar.advance(1)
    {last}
"""
RUN = """\
import json, sys
from pathlib import Path
from typing import Any
import notebooks

print(json.dumps(notebooks.shown(notebooks.executed(Path(sys.argv[1])))))
"""


@pytest.mark.notebook
def test_a_real_cell_shows_progress_and_keeps_nothing_of_it(tmp_path: Path) -> None:
    stays = BARS.format(shown=None, last="bar._bar = None")  # as if it went on
    cells = [BARS.format(shown=None, last="bar.advance(2)"), BARS.format(shown=False, last="bar.advance(2)"), stays]
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    path = tmp_path / "bars.ipynb"
    path.write_text(
        json.dumps(
            {
                "cells": [code | {"id": f"cell-{i}", "source": text} for i, text in enumerate(cells)],
                "metadata": {},
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path)], capture_output=True, text=True, check=False, cwd=SCRIPT.parent
    )
    assert done.returncode == 0, done.stderr
    kind = "display_data"
    over, unwanted, going_on = json.loads(done.stdout)
    assert over == [{"kind": kind, "text": "", "forms": ["text/plain"]}]
    assert unwanted == []
    assert going_on == [{"kind": kind, "text": "reading 50 %", "forms": ["text/html", "text/plain"]}]


def test_another_output_is_noticed() -> None:
    notebook = json.loads((EXAMPLES / f"{NAMES[0]}.ipynb").read_text(encoding="utf-8"))
    before = shown(notebook)
    first = next(cell for cell in notebook["cells"] if cell.get("outputs"))
    first["outputs"][0]["data"]["text/plain"] = ["another"]
    assert shown(notebook) != before

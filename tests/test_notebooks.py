"""The notebooks in examples/ run, and show what is stored in them."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from notebooks import EXAMPLES, NAMES, normalized, shown

SCRIPT = Path(__file__).parent / "notebooks.py"


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_is_stored(name: str) -> None:
    if importlib.util.find_spec("nbclient") is None or importlib.util.find_spec("ipykernel") is None:
        pytest.skip("nbclient or ipykernel is not installed")
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


def test_another_output_is_noticed(tmp_path: Path) -> None:
    notebook = json.loads((EXAMPLES / f"{NAMES[0]}.ipynb").read_text(encoding="utf-8"))
    before = shown(notebook)
    first = next(cell for cell in notebook["cells"] if cell.get("outputs"))
    first["outputs"][0]["data"]["text/plain"] = ["another"]
    assert shown(notebook) != before

"""The notebooks in examples/, run and compared with what is stored in them.

`python tests/notebooks.py` runs them and stores what they show; edit them in Jupyter or as JSON, and run it after that.
`--check` runs them and says where they show something else: `test_notebooks.py` does that. Nothing is stored that
depends on the machine: no times, no paths, no version of Python.
"""

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = ("researcher", "rag_engineer", "auditor")
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def executed(path: Path) -> dict[str, Any]:
    """Run a notebook in an empty folder, in a kernel that knows no settings of its user."""
    nbformat: Any = import_module("nbformat")
    nbclient: Any = import_module("nbclient")
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as settings, tempfile.TemporaryDirectory() as folder:
        os.environ |= dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"), settings)
        client = nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": folder}})
        try:
            client.execute()
        except nbclient.exceptions.CellExecutionError as error:
            sys.exit(f"{path.name}: {error.ename}: {error.evalue}")
    made: dict[str, Any] = json.loads(nbformat.writes(notebook))
    return made


def normalized(notebook: dict[str, Any]) -> dict[str, Any]:
    """Leave out what depends on the machine and on the moment."""
    cells = [cell | {"id": f"cell-{i}", "metadata": {}} for i, cell in enumerate(notebook["cells"], 1)]
    return notebook | {"cells": cells, "metadata": _METADATA}


def shown(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return what each cell of code shows: its text, and in which other forms it is there."""
    return [[_said(output) for output in cell["outputs"]] for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _said(output: dict[str, Any]) -> dict[str, Any]:
    data = output.get("data", {})
    text = data.get("text/plain", output.get("text", output.get("evalue")))
    return {"kind": output["output_type"], "text": "".join(text or ""), "forms": sorted(data)}


def main() -> None:
    """Run the notebooks, and store what they show or compare it."""
    wanted = [name for name in sys.argv[1:] if name != "--check"] or NAMES
    for path in (EXAMPLES / f"{name}.ipynb" for name in wanted):
        made = normalized(executed(path))
        if "--check" not in sys.argv:
            path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            continue
        stored = json.loads(path.read_text(encoding="utf-8"))
        for i, (was, now) in enumerate(zip(shown(stored), shown(made), strict=True), 1):
            if was != now:
                sys.exit(f"{path.name}: cell {i} of code shows\n{now}\nand not\n{was}\nrun python tests/notebooks.py")


if __name__ == "__main__":
    main()

"""An option is one field: added to a record, it is in every command, verb, manifest and page."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lexirecall
from pages import DOCS

FIELD = '    min_relevant: int = field(default=1, metadata=option("Least number of them.", "whole", least=1))\n'
AFTER = "\n    def __post_init__(self) -> None:\n        check_choices(self)\n        check_level(self.level)"


def test_an_option_is_one_field(tmp_path: Path) -> None:
    source = Path(lexirecall.__file__).parent
    copied = shutil.copytree(source, tmp_path / "lexirecall", ignore=shutil.ignore_patterns("__pycache__"))
    manifest = copied / "manifest.py"
    text = manifest.read_text(encoding="utf-8")
    assert text.count(AFTER) == 1
    manifest.write_text(text.replace(AFTER, FIELD + AFTER), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("added_option.py"), DOCS], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

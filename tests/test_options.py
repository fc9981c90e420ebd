"""An option is a field and its rule: added to a record, it is in every command, verb, manifest and page, and acts."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lexirecall
from pages import DOCS

AFTER = "\n    def __post_init__(self) -> None:\n        check_choices(self)\n        check_level(self.level)"
ADDED = {
    AFTER: """    min_relevant: int = field(
        default=1, metadata=option("Fewest relevant documents of a query that counts.", "whole", least=1)
    )
"""
    + AFTER,
    "is_eligible = num_relevant > 0": "is_eligible = num_relevant >= self.min_relevant",
    'return "without a relevant document"': 'return f"with fewer than {self.min_relevant} relevant documents"',
}
"""The field, its rule and the words of its notes, each in the place of what there is now."""


def test_an_option_is_a_field_and_its_rule(tmp_path: Path) -> None:
    source = Path(lexirecall.__file__).parent
    copied = shutil.copytree(source, tmp_path / "lexirecall", ignore=shutil.ignore_patterns("__pycache__"))
    manifest = copied / "manifest.py"
    text = manifest.read_text(encoding="utf-8")
    for now, then in ADDED.items():
        assert text.count(now) == 1
        text = text.replace(now, then)
    manifest.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("added_option.py"), DOCS], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

"""Look for the option min_relevant, which test_options.py adds to a copy of the package, wherever an option must be.

The copy is what Python imports; the folder that it runs in is written to. The first argument is the folder of docs.
"""

import inspect
import runpy
import sys
from dataclasses import asdict
from pathlib import Path

import click
import pytest

import lexirecall
from lexirecall.cli import COMMANDS, group
from lexirecall.errors import FormatError
from lexirecall.meta import read_collections

VERBS = ("evaluate", "compare", "rank", "explain", "funnel", "gate", "unjudged", "certify", "fuse", "report", "study")
QRELS, RUNS = {"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b"]}}
TABLE = '[[collection]]\nname = "c"\nqrels = "qrels.txt"\nruns = ["*.run"]\nmin_relevant = '


def look_at_verbs() -> None:
    for verb in VERBS:
        parameter = inspect.signature(getattr(lexirecall, verb)).parameters["min_relevant"]
        assert (parameter.default, parameter.annotation) == (1, int), verb


def look_at_commands() -> None:
    for name, verb in COMMANDS.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None
        text = command.get_help(click.Context(command))
        assert ("--min-relevant" in text) == ("Least number of them." in text) == (verb in VERBS), name


def look_at_manifests() -> None:
    for number in (1, 3):
        scores = lexirecall.evaluate(QRELS, RUNS, ["AP"], min_relevant=number)
        assert scores.manifest.conventions["min_relevant"] == number
        studied = lexirecall.study(QRELS, RUNS, ["AP"], num_samples=1, min_relevant=number)
        [record] = studied.manifest.conventions["collections"].values()
        assert record["min_relevant"] == number
    assert lexirecall.evaluate(QRELS, RUNS, ["AP"]).manifest.conventions["min_relevant"] == 1


def look_at_file_of_collections() -> None:
    files = {"qrels.txt": "q 0 a 1", "x.run": "q Q0 a 1 1 x", "y.run": "q Q0 b 1 1 y"}
    files |= {"good.toml": TABLE + "2", "bad.toml": TABLE + '"many"'}
    for name, text in files.items():
        Path(name).write_text(text)
    [collection] = read_collections("good.toml", {})
    assert asdict(collection.read().policies)["min_relevant"] == 2
    with pytest.raises(FormatError, match="min_relevant is 'many', but must be a whole number"):
        read_collections("bad.toml", {})


def look_at_pages(docs: str) -> None:
    generate = runpy.run_path(f"{docs}/generate.py")
    line = "- `--min-relevant NUMBER`: Least number of them. (default: 1)\n"
    assert generate["command_line_page"]().count(line) == len(VERBS)
    row = "- **`min_relevant`**, `--min-relevant`: `NUMBER`; default `1`. Least number of them.\n"
    assert generate["options_page"]().count(row) == 1


if __name__ == "__main__":
    look_at_verbs()
    look_at_commands()
    look_at_manifests()
    look_at_file_of_collections()
    look_at_pages(sys.argv[1])

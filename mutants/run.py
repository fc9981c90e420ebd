"""Test mutants: put each into a copy of the tree, run the tests of its file, and say which ones no test notices.

    python mutants/run.py build/mutants/mutants.jsonl [FILE...]

Belongs here: which tests run for which file, running them, and the account. Not here: making mutants (generate.py).
Everything it writes is in the folder of the mutants: the copy, and results.jsonl, from which a stopped run continues.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import hypothesis  # noqa: F401 - imported once for all mutants, like the other large packages
import numpy as np  # noqa: F401
import pytest
import scipy.special
import scipy.stats  # noqa: F401

MOST_SECONDS = 120  # for all tests of a mutant; a mutant that takes longer counts as noticed
MOST_MEMORY = 8 << 30  # a faulty loop may ask for all the memory there is
EXTENSION = "src/lexirecall/_native.abi3.so"
FOLDERS = ("src", "native", "tests", "docs", "examples")
# The tests that run for a file, the most likely to notice first; a folder is for its files that are not named.
TESTS = {
    "src/lexirecall/exact/yager.py": "colex theorems measures_against_naive",
    "src/lexirecall/exact": "colex",
    "src/lexirecall/positions/file.py": "positions_files",
    "src/lexirecall/positions/__init__.py": "positions measures_against_naive evaluate meta",
    "src/lexirecall/measures/exact.py": "theorems colex measures_against_naive",
    "src/lexirecall/measures/parameter.py": "names table_of_measures evaluate",
    "src/lexirecall/measures/row.py": "names table_of_measures evaluate adapter_ir_measures",
    "src/lexirecall/measures/providers.py": "providers exposures",
    "src/lexirecall/measures": "measures_against_naive table_of_measures evaluate exactness theorems "
    "against_pytrec_eval",
    "src/lexirecall/preferences": "preferences compare batches names evaluate theorems",
    "src/lexirecall/statistics/aggregate.py": "aggregate rank",
    "src/lexirecall/statistics/attainable.py": "attainable gate",
    "src/lexirecall/statistics/bootstrap.py": "bootstrap",
    "src/lexirecall/statistics/over.py": "over",
    "src/lexirecall/statistics/binomial.py": "meta paired",
    "src/lexirecall/statistics/corrections.py": "corrections compare",
    "src/lexirecall/statistics/differences.py": "differences paired compare",
    "src/lexirecall/statistics/exposures.py": "exposures",
    "src/lexirecall/statistics/hsd.py": "hsd compare",
    "src/lexirecall/statistics/hypergeometric.py": "certify",
    "src/lexirecall/statistics/kemeny.py": "aggregate",
    "src/lexirecall/statistics/flips.py": "paired maxt",
    "src/lexirecall/statistics/maxt.py": "maxt compare",
    "src/lexirecall/statistics/paired.py": "paired compare gate attainable",
    "src/lexirecall/statistics/power.py": "power planning",
    "src/lexirecall/statistics/proportions.py": "paired",
    "src/lexirecall/statistics/signed_ranks.py": "paired",
    "src/lexirecall/statistics/studentized_range.py": "studentized_range hsd",
    "src/lexirecall/formats/arrays.py": "scores",
    "src/lexirecall/formats/counted.py": "scores",
    "src/lexirecall/formats/embeddings": "embeddings",
    "src/lexirecall/formats/marks.py": "scores",
    "src/lexirecall/formats/rowcounts.py": "scores",
    "src/lexirecall/formats/scores.py": "scores",
    "src/lexirecall/formats/assembly.py": "positions two_readers_on_rankings measures_against_naive reading",
    "src/lexirecall/formats/arrow.py": "arrow",
    "src/lexirecall/formats/sides.py": "query_rows one_open",
    "src/lexirecall/formats/rowforms.py": "query_rows",
    "src/lexirecall/formats/queryrows.py": "query_rows",
    "src/lexirecall/formats/queryids.py": "query_rows",
    "src/lexirecall/formats/jsontext.py": "query_rows reading hostile",
    "src/lexirecall/formats/jsontables.py": "query_rows every_input",
    "src/lexirecall/formats/jsonfiles.py": "query_rows",
    "src/lexirecall/formats/beirfolders.py": "query_rows",
    "src/lexirecall/formats/casts.py": "odd_columns plan duckdb",
    "src/lexirecall/formats/catalogue.py": "ir_datasets",
    "src/lexirecall/formats/cells.py": "table_files frames",
    "src/lexirecall/formats/columns.py": "table_files frames",
    "src/lexirecall/formats/duckdb": "engines_inputs duckdb odd_columns mismatch",
    "src/lexirecall/formats/enginefiles.py": "engines_inputs",
    "src/lexirecall/formats/folders.py": "table_files",
    "src/lexirecall/formats/frames.py": "frames table_files",
    "src/lexirecall/formats/grouping.py": "by",
    "src/lexirecall/formats/ids.py": "frames table_files",
    "src/lexirecall/formats/idtypes.py": "frames",
    "src/lexirecall/formats/kinds.py": "kinds table_files reading providers ir_datasets",
    "src/lexirecall/formats/labels.py": "providers frames table_files arrow",
    "src/lexirecall/formats/mismatch.py": "mismatch",
    "src/lexirecall/formats/dicts.py": "two_readers_on_dicts",
    "src/lexirecall/formats/native.py": "two_readers_on_rankings two_readers_on_units descending two_readers reading",
    "src/lexirecall/formats/parquetbatches.py": "arrow table_files",
    "src/lexirecall/formats/plan.py": "plan duckdb odd_columns",
    "src/lexirecall/formats/positionsrun.py": "positions_files",
    "src/lexirecall/formats/roletable.py": "frames table_files",
    "src/lexirecall/formats/rows.py": "frames table_files arrow",
    "src/lexirecall/formats/source.py": "reading hostile bad_input one_open",
    "src/lexirecall/formats/tablefiles.py": "table_files frames engines_inputs",
    "src/lexirecall/formats/tableruns.py": "frames table_files arrow",
    "src/lexirecall/formats/trec.py": "reading two_readers bad_input evaluate",
    "src/lexirecall/formats/values.py": "table_files frames",
    "src/lexirecall/formats": "reading bad_input two_readers_on_rankings two_readers evaluate mismatch hostile frames",
    "native/batches.c": "arrow",
    "native/columns.c": "arrow",
    "native/counts.c": "scores",
    "native/given.c": "two_readers_on_dicts arrow two_readers two_readers_on_units",
    "native/matrices.c": "scores",
    "native/ids.c": "two_readers_on_rankings two_readers reading hostile",
    "native/ranking.c": "two_readers_on_rankings two_readers reading hostile",
    "native/places.c": "two_readers_on_units two_readers_on_rankings arrow",
    "native/units.c": "two_readers_on_units",
    "native/judgmentrows.c": "arrow",
    "native/streams.c": "arrow",
    "native/tables.c": "arrow",
    "native/dicts.c": "two_readers_on_dicts",
    "native/judged_dicts.c": "two_readers_on_dicts",
    "native/plain.c": "two_readers_on_dicts",
    "native": "two_readers_on_rankings descending two_readers reading",
}


def tests_of(path: str) -> list[str]:
    """Return the tests of a file, with its doctests."""
    names = TESTS.get(path) or TESTS[str(Path(path).parent)]
    files = [f"tests/test_{name}.py" for name in names.split()]
    if not path.endswith(".py"):
        return files
    module = ".".join(Path(path).with_suffix("").parts[1:]).removesuffix(".__init__")
    return [f"tests/test_doctests.py::test_examples_print_what_they_say[{module}]", *files]


def copied(folder: Path) -> Path:
    """Copy what the tests need, without build outputs, to a separate folder."""
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    unwanted = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
    for name in FOLDERS:
        shutil.copytree(name, tree / name, ignore=unwanted)
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(name, tree)
    build(tree)
    return tree


def build(tree: Path) -> None:
    """Compile the reader of a tree."""
    sources = [str(path.relative_to(tree)) for path in sorted((tree / "native").glob("*.c"))]
    words = [
        "gcc",
        "-O1",
        "-w",
        "-shared",
        "-fPIC",
        "-DPy_LIMITED_API=0x030B0000",
        f"-I{sysconfig.get_path('include')}",
    ]
    subprocess.run([*words, *sources, "-o", EXTENSION], cwd=tree, check=True)


def outcome(tree: Path, tests: list[str], seconds: float = MOST_SECONDS) -> tuple[str, str]:
    """Run tests up to the first that fails; return what became of the mutant, and which test noticed it.

    They run in a fork of this process, which has already imported the large packages, without faults.
    """
    said = tree / "said.txt"
    running = get_context("fork").Process(target=_run, args=(tree, said.resolve(), tests))
    running.start()
    running.join(seconds)
    if running.exitcode is None:
        running.kill()
        running.join()
        return "killed", "by the time limit"
    lines = said.read_text(errors="replace").splitlines()
    noticed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return "killed" if running.exitcode else "survived", (noticed or [f"exit code {running.exitcode}"])[0]


def _run(tree: Path, said: Path, tests: list[str]) -> None:
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(Path("src").resolve())  # for the programs that tests start
    sys.path.insert(0, os.environ["PYTHONPATH"])
    with said.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", "--tb=no", "--time-limit=40"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # a plugin that this process has imported
    os._exit(pytest.main([*options, *tests]))  # skip the cleanup of the interpreter


def tested(tree: Path, mutant: dict[str, Any]) -> dict[str, Any]:
    """Put a mutant into the tree, test it, and restore the original."""
    target, is_python = tree / mutant["path"], mutant["path"].endswith(".py")
    shutil.copy2(target, tree / "original")
    target.write_text(mutant["text"], encoding="utf-8")
    start = time.monotonic()
    try:
        if not is_python:
            build(tree)
        state, by = outcome(tree, tests_of(mutant["path"]))
    finally:
        shutil.copy2(tree / "original", target)  # with its time, so that its compiled code is valid again
        if not is_python:
            build(tree)
    return {**mutant, "outcome": state, "by": by, "seconds": round(time.monotonic() - start, 1)}


def check_tree(tree: Path, paths: set[str]) -> None:
    """Stop unless the tests of these files pass without a fault."""
    needed = sorted({test for path in paths for test in tests_of(path)})
    state, by = outcome(tree, needed, MOST_SECONDS * len(needed))
    if state != "survived":
        sys.exit(f"the tests fail without a fault: {by}")


def equivalent() -> dict[tuple[str, str], str]:
    """Return the faults that change nothing, by file and fault, with the reason."""
    lines = Path(__file__).with_name("equivalent.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines[1:])
    return {(path, fault): reason for path, fault, reason in rows}


def account(results: list[dict[str, Any]]) -> str:
    """Return how many mutants of each file no test noticed, and those faults among them that change something."""
    harmless = equivalent()
    lived = [each for each in results if each["outcome"] == "survived"]
    unnoticed = [each for each in lived if (each["path"], each["fault"]) not in harmless]
    made, missed, idle = (Counter(each["path"] for each in group) for group in (results, unnoticed, lived))
    idle -= missed
    lines = [
        f"{made[path]:4} mutants, {idle[path]:3} equivalent, {missed[path]:3} unnoticed  {path}"
        for path in sorted(made)
    ]
    lines.append(f"{made.total():4} mutants, {idle.total():3} equivalent, {missed.total():3} unnoticed  in total")
    return "\n".join([*lines, *(f"{each['path']}:{each['line']}  {each['fault']}" for each in unnoticed)])


def main() -> None:
    """Test the mutants that have no result yet, and print the account."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("mutants", type=Path)
    parser.add_argument("files", nargs="*", help="test only mutants of files with a path that begins with this")
    parser.add_argument("--again", action="store_true", help="test again the mutants that no test noticed")
    options = parser.parse_args()
    mutants = [json.loads(line) for line in options.mutants.read_text().splitlines()]
    kept = options.mutants.with_name("results.jsonl")
    known = map(json.loads, kept.read_text().splitlines() if kept.exists() else [])
    results = {(each["path"], each["text"]): each for each in known}
    done = {key for key, each in results.items() if each["outcome"] == "killed" or not options.again}
    chosen = [each for each in mutants if each["path"].startswith(tuple(options.files) or "")]
    left = [each for each in chosen if (each["path"], each["text"]) not in done]
    if left:
        tree = copied(options.mutants.parent)
        check_tree(tree, {each["path"] for each in left})
        sys.dont_write_bytecode = True  # two mutants may have the same size and second, and so share bytecode
        for number, each in enumerate(left, 1):
            result = results[each["path"], each["text"]] = tested(tree, each)
            with kept.open("a") as file:
                file.write(json.dumps(result) + "\n")
            told = f"{result['outcome']} in {result['seconds']} s: {each['path']}:{each['line']}"
            print(f"{number}/{len(left)} {told}", flush=True)
    print(account([results[key] for each in chosen if (key := (each["path"], each["text"])) in results]))


if __name__ == "__main__":
    main()

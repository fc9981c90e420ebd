"""Test mutants: put each into a copy of the tree, run the tests of its file, and say which ones no test notices.

    python mutants/run.py build/mutants/mutants.jsonl [FILE...]

Belongs here: running tests without a fault and with one, and the account. Not here: making mutants (generate.py), which
tests run for which file (reach.py). Everything it writes is in the folder of the mutants: a copy of the tree for each
worker, what the tests reach, and results.jsonl, from which a stopped run continues.
"""

import argparse
import doctest
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from importlib.util import cache_from_source
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import hypothesis  # noqa: F401 - imported once for all mutants, like the other large packages
import numpy as np  # noqa: F401
import pytest
import scipy.special
import scipy.stats  # noqa: F401
from reach import MOST_SECONDS, Lines, Reach, in_order, module_of, nearest_tests, statement

MOST_CPU = 30 + 4 * int(MOST_SECONDS)  # of a mutant, which may hang
PATIENCE = 10  # a busy machine may take so many times as long
MOST_MEMORY = 8 << 30  # a faulty loop may ask for all the memory there is
EXTENSION = "src/lexirecall/_native.abi3.so"
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutants", "--tb=no"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # a plugin that this process has imported
DOCTESTS = "tests/test_doctests.py"  # the examples of one module run without collecting those of all


class Chosen:
    """A plugin: only these tests, in this order."""

    def __init__(self, tests: list[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sort the tests."""
        items[:] = sorted(
            (each for each in items if each.nodeid in self._places), key=lambda each: self._places[each.nodeid]
        )


class Measuring:
    """A plugin: what each test reaches, and its CPU seconds with those of the programs that it starts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self._coverage = coverage.Coverage(data_file=None, include=["src/*"], config_file=False)
        self._coverage.set_option("run:relative_files", True)
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test with what it sets up."""
        self._coverage.switch_context(item.nodeid)
        start = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = round(sum(os.times()[:4]) - start, 3)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the tests that fail without a fault."""
        if report.failed:
            self.failed.add(report.nodeid)

    def reached(self) -> list[Reach]:
        """Return what was measured, without the tests that fail."""
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, Lines] = {test: {} for test in self.seconds}
        for path in data.measured_files():
            for line, tests in sorted(data.contexts_by_lineno(path).items()):
                for test in filter(None, tests):
                    lines[test].setdefault(path, []).append(line)
        passed = {test: seconds for test, seconds in self.seconds.items() if test not in self.failed}
        return [Reach(test, seconds, lines[test]) for test, seconds in passed.items()]


class Running(NamedTuple):
    """A mutant whose tests run in a worker's tree."""

    process: BaseProcess
    tree: Path
    mutant: dict[str, Any]
    original: str
    start: float


def copied(tree: Path) -> Path:
    """Copy what belongs to the project to a separate folder, if it has changed, and compile the reader.

    What has not changed keeps its compiled code, without which every mutant would begin with compiling.
    """
    words = ["git", "ls-files", "-zco", "--exclude-standard"]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\0")
    names = set(filter(os.path.isfile, listed))
    for path in tree.rglob("*"):
        if path.is_file() and str(path.relative_to(tree)) not in names and path.suffix not in (".pyc", ".so"):
            path.unlink()
    for name in names:
        if not (tree / name).exists() or (tree / name).read_bytes() != Path(name).read_bytes():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, tree / name)
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
    if sources:
        subprocess.run([*words, *sources, "-o", EXTENSION], cwd=tree, check=True)


def started(run: Callable[..., None], tree: Path, *arguments: object) -> BaseProcess:
    """Run tests in a fork of this process, which has already imported the large packages."""
    process = get_context("fork").Process(target=_in_tree, args=(run, tree, *arguments))
    process.start()
    return process


def _in_tree(run: Callable[..., None], tree: Path, *arguments: object) -> None:
    os.setsid()  # what the tests start ends with them
    os.nice(max(0, 10 - os.nice(0)))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(Path("src").resolve())  # for the programs that tests start
    sys.path.insert(0, os.environ["PYTHONPATH"])
    with Path("said.txt").open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    run(*arguments)


def up_to_the_first_that_fails(module: str | None, tests: list[str], limit: int) -> None:
    """Run the examples of a module, and then these tests in this order, for so many CPU seconds at most."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    if module and _examples_fail(module):
        print(f"FAILED examples of {module}", flush=True)
        os._exit(pytest.ExitCode.TESTS_FAILED)
    files = filter(os.path.exists, dict.fromkeys(test.split("::")[0] for test in tests))
    options = [*OPTIONS, "-x", f"--time-limit={2 * limit}"]  # which also ends what waits
    os._exit(pytest.main([*options, *files], plugins=[Chosen(tests)]))  # without the interpreter's cleanup


def _examples_fail(module: str) -> bool:
    try:
        return doctest.testmod(import_module(module)).failed > 0
    except Exception:  # of what is not installed, or of the fault, which the tests then notice
        return False


def measuring(file: str, kept: Path) -> None:
    """Run a file of tests, and write down what each reaches."""
    plugin = Measuring()
    code = pytest.main([*OPTIONS, file], plugins=[plugin])
    kept.write_text(json.dumps([asdict(each) for each in plugin.reached()]))
    os._exit(code)


def outcome(process: BaseProcess, tree: Path) -> tuple[str, str]:
    """Return what became of a mutant whose tests have ended or have had all their time, and which test noticed it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    if (process.exitcode or 0) < 0:
        return "killed", "by the time limit"
    lines = (tree / "said.txt").read_text(errors="replace").splitlines()
    noticed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    nothing_ran = process.exitcode == pytest.ExitCode.NO_TESTS_COLLECTED
    state = "survived" if process.exitcode == 0 or nothing_ran else "killed"
    return state, (noticed or [f"exit code {process.exitcode}"])[0]


class Tests:
    """The tests of each file: which there are, what they reach and how long they take is measured once."""

    def __init__(self, tree: Path, folder: Path, most_seconds: float) -> None:
        self._tree, self._folder, self._most_seconds = tree, folder, most_seconds
        self._source = _digest(sorted((tree / "src").rglob("*.py")) + sorted((tree / "native").glob("*.[ch]")))
        self._known: dict[str, list[Reach]] = {}
        folder.mkdir(exist_ok=True)

    def measured(self, file: str) -> list[Reach]:
        """Return what the tests of a test file reach, without those that fail without a fault."""
        if file not in self._known:
            kept = self._folder / f"{Path(file).stem}-{self._source}-{_digest([self._tree / file])}.json"
            if not kept.exists():
                written = kept.with_suffix(".part").resolve()
                process = started(measuring, self._tree, file, written)
                process.join()
                state, by = outcome(process, self._tree)
                failing = f"; without a fault too, tests fail, which are left out: {by}" if state == "killed" else ""
                print(f"measured {file}{failing}", flush=True)
                if not written.exists():  # otherwise every fault would count as noticed
                    raise SystemExit(f"{file} cannot be run without a fault: {_last_line(self._tree)}")
                written.rename(kept)
            self._known[file] = Reach.read(kept)
        return self._known[file]

    def of(self, mutant: dict[str, Any]) -> list[str]:
        """Return the tests of a mutant, in order."""
        path = mutant["path"]
        measured = [
            each for file in nearest_tests(self._tree, path) if file != DOCTESTS for each in self.measured(file)
        ]
        is_python = path.endswith(".py")
        lines = statement((self._tree / path).read_text(encoding="utf-8"), mutant["line"]) if is_python else range(0)
        return in_order(measured, path, lines, self._most_seconds)


def _last_line(tree: Path) -> str:
    return ((tree / "said.txt").read_text(errors="replace").splitlines() or ["nothing was said"])[-1]


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def tested(trees: list[Path], tests: Tests, mutants: list[dict[str, Any]], limit: int) -> Iterator[dict[str, Any]]:
    """Put each mutant into a tree that is free, test it, restore the original, and give the mutant with its outcome."""
    orders = {(each["path"], each["text"]): tests.of(each) for each in mutants}  # before there are faults in the trees
    free, left, running = list(trees), list(mutants), list[Running]()
    while left or running:
        while free and left:
            tree, mutant = free.pop(), left.pop(0)
            original = (tree / mutant["path"]).read_text(encoding="utf-8")
            _write(tree, mutant["path"], mutant["text"])
            order = orders[mutant["path"], mutant["text"]]
            process = started(up_to_the_first_that_fails, tree, module_of(mutant["path"]), order, limit)
            running.append(Running(process, tree, mutant, original, time.monotonic()))
        last = min(each.start for each in running) + limit * PATIENCE
        wait([each.process.sentinel for each in running], max(0, last - time.monotonic()))
        now = time.monotonic()
        ended = [each for each in running if not each.process.is_alive() or now >= each.start + limit * PATIENCE]
        for each in ended:
            state, by = outcome(each.process, each.tree)
            _write(each.tree, each.mutant["path"], each.original)
            running.remove(each)
            free.append(each.tree)
            yield {**each.mutant, "outcome": state, "by": by, "seconds": round(now - each.start, 1)}


def _write(tree: Path, path: str, text: str) -> None:
    (tree / path).write_text(text, encoding="utf-8")
    if path.endswith(".py"):  # two mutants may have the same size and second, and so share compiled code
        Path(cache_from_source(tree / path)).unlink(missing_ok=True)
    else:
        build(tree)


def equivalent() -> dict[tuple[str, str], str]:
    """Return the faults that change nothing, by file and fault, with the reason."""
    lines = Path(__file__).with_name("equivalent.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines[1:])
    return {(path, fault): reason for path, fault, reason in rows}


def account(results: list[dict[str, Any]]) -> tuple[str, bool]:
    """Return how many mutants of each file no test noticed, with those that change something, and whether any does."""
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
    lines += [f"{each['path']}:{each['line']}  {each['fault']}" for each in unnoticed]
    return "\n".join(lines), bool(unnoticed)


def main() -> int:
    """Test the mutants that have no result yet, and print the account; return 1 if a fault changes something unseen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("mutants", type=Path)
    parser.add_argument("files", nargs="*", help="test only mutants of files with a path that begins with this")
    parser.add_argument("--again", action="store_true", help="test again the mutants that no test noticed")
    parser.add_argument("--workers", type=int, default=1, help="how many mutants are tested side by side (default 1)")
    seconds = "CPU seconds of tests for a mutant that none of them notices (default 30)"
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help=seconds)
    limit = f"CPU seconds after which a mutant hangs, and counts as noticed (default {MOST_CPU})"
    parser.add_argument("--limit", type=int, default=MOST_CPU, help=limit)
    options = parser.parse_args()
    mutants = [json.loads(line) for line in options.mutants.read_text().splitlines()]
    kept = options.mutants.with_name("results.jsonl")
    known = map(json.loads, kept.read_text().splitlines() if kept.exists() else [])
    results = {(each["path"], each["text"]): each for each in known}
    done = {key for key, each in results.items() if each["outcome"] == "killed" or not options.again}
    chosen = [each for each in mutants if each["path"].startswith(tuple(options.files) or "")]
    left = [each for each in chosen if (each["path"], each["text"]) not in done]
    if left:
        trees = [copied(options.mutants.parent / f"tree{number}") for number in range(options.workers)]
        tests = Tests(trees[0], options.mutants.with_name("reached"), options.seconds)
        for number, result in enumerate(tested(trees, tests, left, options.limit), 1):
            results[result["path"], result["text"]] = result
            with kept.open("a") as file:
                file.write(json.dumps(result) + "\n")
            told = f"{result['outcome']} in {result['seconds']} s: {result['path']}:{result['line']}"
            print(f"{number}/{len(left)} {told}", flush=True)
    text, is_any_unnoticed = account(
        [results[key] for each in chosen if (key := (each["path"], each["text"])) in results]
    )
    print(text)
    return int(is_any_unnoticed)


if __name__ == "__main__":
    sys.exit(main())

"""Tests of unittest and pytest, run in this process, and what became of each.

Belongs here: both runners. A test that fails in several parts counts once, by the first of them.
"""

import io
import unittest
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import pytest

from suites.verdicts import PASSED, SKIPPED, Outcome

Error: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]
)  # as unittest hands it over


class Recorder(unittest.TestResult):
    """Remembers what became of each test."""

    def __init__(self, without: str) -> None:
        super().__init__()
        self.without = f"{without}."
        self.found: dict[str, Outcome] = {}

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's names
        name = self._name(test)
        self.found.setdefault(name, Outcome(name, PASSED))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        name = self._name(test)
        self.found[name] = Outcome(name, SKIPPED, reason)

    def addError(self, test: unittest.TestCase, err: Error) -> None:  # noqa: N802
        if err[1] is not None:
            name = self._name(test)
            self.found.setdefault(name, Outcome.of_error(name, err[1]))

    addFailure = addError  # noqa: N815

    def addSubTest(  # noqa: N802
        self,
        test: unittest.TestCase,
        subtest: unittest.TestCase,  # noqa: ARG002 - it is the whole that counts
        err: Error | None,
    ) -> None:
        if err is not None:
            self.addError(test, err)

    def _name(self, test: unittest.TestCase) -> str:
        return test.id().removeprefix(self.without)


def run_unittest(cases: unittest.TestSuite, *, without: str) -> list[Outcome]:
    """Run tests of unittest; `without` is what all of their names begin with."""
    recorder = Recorder(without)
    with _quiet():
        cases.run(recorder)
    return list(recorder.found.values())


class Plugin:
    """Remembers what became of each test of pytest."""

    def __init__(self) -> None:
        self.found: dict[str, Outcome] = {}

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Take the error of a test itself, which reports only have as text."""
        if call.excinfo is not None:
            is_skipped = call.excinfo.errisinstance(pytest.skip.Exception)
            outcome = Outcome.of_error(item.nodeid, call.excinfo.value)
            self.found[item.nodeid] = Outcome(item.nodeid, SKIPPED, outcome.detail) if is_skipped else outcome
        elif call.when == "call":
            self.found[item.nodeid] = Outcome(item.nodeid, PASSED)

    def pytest_collectreport(self, report: Any) -> None:
        """Take files that cannot be imported as tests that fail."""
        if report.failed:
            self.found[report.nodeid] = Outcome.of_error(report.nodeid, RuntimeError(str(report.longrepr)))


def run_pytest(folder: Path, paths: Sequence[Path]) -> list[Outcome]:
    """Run tests of pytest, with none of our own settings; without paths there are none, not those of this folder."""
    plugin = Plugin()
    if not paths:
        return []
    settings = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(folder)]
    with _quiet():
        pytest.main([*settings, *map(str, paths)], plugins=[plugin])
    return list(plugin.found.values())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the tests print to themselves."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield

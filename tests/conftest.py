"""Fixtures that several test modules share."""

import io
import os

# Processes run side by side: numpy has one thread in each, so that none waits for another. ranx is not compiled.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from command import Command, Outcome
from lexirecall.cli import main
from lexirecall.progress import Progress
from strategies import ALL, EVERYDAY

pytest_plugins = ["time_limit", "needs"]

# Machines are shared, the first example pays for imports, and every run draws its own examples: neither a slow run nor
# an unlucky draw may fail. A property that finds no example at all still does.
settings.register_profile(
    "any", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.register_profile("unhurried", settings.get_profile("any"), max_examples=EVERYDAY)
settings.register_profile("long", settings.get_profile("any"), max_examples=ALL)
# for mutants/run.py: many faulty copies of the package meet the same examples, and it is enough that one fails
settings.register_profile(
    "mutants",
    settings.get_profile("any"),
    derandomize=True,
    max_examples=20,
    database=None,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("unhurried")


FIRST = ("test_golden.py", "test_documentation.py", "test_gates.py", "test_meta.py", "test_report_browser.py")
"""Files that take longest, after those of Spark."""
SHARED_OUT = ("test_golden.py", "test_report_browser.py")
"""Files whose tests any process may take: they share little."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, because of what they share."""
    from xdist.scheduler import LoadScopeScheduling

    from needs import OF_SPARK

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            if file.endswith(SHARED_OUT):
                return nodeid
            return OF_SPARK[0] if file.endswith(OF_SPARK) else file

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name packed bytes by what they are: gzip writes the time into them, and all processes need the same names."""
    return "gzip" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.fixture
def command(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Command:
    """Run the command line in a folder that holds the module's GOOD files; more are given by name and content."""
    monkeypatch.chdir(tmp_path)
    good: dict[str, bytes] = request.module.GOOD

    def run(*arguments: str, stdin: bytes = b"", **files: bytes) -> Outcome:
        for name, content in {**good, **files}.items():
            (tmp_path / name).write_bytes(content)
        monkeypatch.setattr(sys, "argv", ["lexirecall", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main()
        out, err = (text.decode(errors="surrogateescape") for text in capsysbinary.readouterr())
        return Outcome(int(leaving.value.code or 0), out, err)

    return run


Reports = list[tuple[str, int, bool | None] | int]


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Reports]:
    """Record what modules report of their progress: label, total and whether it is shown, and then every advance."""

    def record(*modules: ModuleType) -> Reports:
        reports: Reports = []

        class Reported(Progress):
            def __init__(self, label: str, total: int, *, shown: bool | None = None) -> None:
                reports.append((label, total, shown))
                super().__init__(label, total, shown=shown)

            def advance(self, units: int) -> None:
                reports.append(units)
                super().advance(units)

        for module in modules:
            monkeypatch.setattr(module, "Progress", Reported)
        return reports

    return record


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, where several processes run, so that none ends with it."""
    if hasattr(config, "workerinput"):
        from needs import OF_SPARK

        places = {name: place for place, name in enumerate((*OF_SPARK, *FIRST))}
        items.sort(key=lambda item: places.get(item.path.name, len(places)))

"""What some tests need and few machines have: Spark, ranx, a browser, a kernel for notebooks.

A test needs it if it has the mark, or the fixture, that is called so. Where it is not installed, these tests are
skipped. Where it does not start, or dies, one test fails, and those after it are skipped. The summary gives each reason
in one line.
"""

import contextlib
import importlib.util
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from time_limit import TimeLimitReached

EVERYTHING = "pip install '.[test-all]'"


class Need(NamedTuple):
    """What is needed, by its packages, and how to have it."""

    packages: tuple[str, ...]
    remedy: str


NEEDS = {
    "spark": Need(("pyspark",), f"{EVERYTHING}, and install Java 17 or later"),
    "ranx": Need(("ranx",), EVERYTHING),
    "browser": Need(("playwright",), f"{EVERYTHING} && playwright install chromium"),
    "notebook": Need(("nbclient", "ipykernel"), EVERYTHING),
}

OF_SPARK = (
    "test_spark.py", "test_spark_units.py", "test_engine.py", "test_engines_inputs.py", "test_odd_columns.py",
)  # fmt: skip
"""Files that one process takes all of, so that Spark starts once."""
SPARK_WARNS = (
    "ignore:PySpark does not yet fully support pandas:FutureWarning",
    "ignore::ResourceWarning:pyspark",
    # pyspark 4.0 leaves it to the garbage collector to close the sockets that results come through
    "ignore:unclosed <socket:ResourceWarning",
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
)


@dataclass
class Started:
    """What was started in this process, how to see that it lives, and why it cannot be used any more."""

    is_alive: dict[str, Callable[[], bool]] = field(default_factory=dict)
    suspected: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


_started = pytest.StashKey[Started]()


def why_not(name: str) -> str:
    """Return the reason for which tests are skipped where something is not installed."""
    return f"{name} is not installed: {NEEDS[name].remedy}"


@contextmanager
def starting(config: pytest.Config, name: str) -> Iterator[Started]:
    """Remember that something could not be started, so that nobody tries again."""
    started = config.stash[_started]
    try:
        yield started
    except pytest.skip.Exception:
        raise
    except BaseException as error:
        started.lost[name] = f"{name} did not start: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A browser for the tests of a module."""
    import browsing

    with starting(request.config, "browser") as started, browsing.opened() as found:
        started.is_alive["browser"] = found.is_connected
        yield found


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Spark's working folder: relative paths begin there, wherever Python is."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(spark_folder: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """One session for all tests, since it takes long to start."""
    from lexirecall.engines import spark as engine
    from lexirecall.engines import spark_session
    from lexirecall.errors import UsageError

    try:
        spark_session.check_java()
    except UsageError as error:
        pytest.skip(f"{why_not('spark')} ({str(error).partition(chr(10))[0]})")
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.codegen.wholeStage": "false",  # compiling would take longer than the few rows do
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        # on a busy machine everything takes longer; what hangs has a time limit
        "spark.network.timeout": "1h",
        "spark.executor.heartbeatInterval": "10min",
        "spark.python.authenticate.socketTimeout": "1h",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_AUTH_SOCKET_TIMEOUT", "3600")
        with contextlib.chdir(spark_folder), starting(request.config, "spark") as started:
            session = engine.session("local[2]", **settings)
        context: Any = session.sparkContext
        process, running = context._gateway.proc, context._jsc.sc()
        started.is_alive["spark"] = lambda: process.poll() is None and not running.isStopped()
        yield session
        if "spark" in started.lost:
            process.kill()  # it would not answer
        else:
            session.stop()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks."""
    config.stash[_started] = Started()
    for name, need in NEEDS.items():
        config.addinivalue_line("markers", f"{name}: needs {' and '.join(need.packages)}")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs something, and skip it where that is not installed; let Spark say what it says."""
    missing = {name for name, need in NEEDS.items() if not all(map(importlib.util.find_spec, need.packages))}
    for item in items:
        for name in NEEDS.keys() & {*getattr(item, "fixturenames", ())}:
            item.add_marker(name)
        for name in missing & {*_needs(item)}:
            item.add_marker(pytest.mark.skip(reason=why_not(name)))
    heard = {item.path for item in items if item.get_closest_marker("spark")}
    for item in items:  # it may be the garbage of one test that the next one hears of
        if item.path in heard:
            for warning in SPARK_WARNS:
                item.add_marker(pytest.mark.filterwarnings(warning))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs something that is lost. A test has failed before, which may be why."""
    started = item.config.stash[_started]
    for name in _needs(item):
        if (failed := started.suspected.pop(name, None)) and name not in started.lost:
            started.lost[name] = f"{name} died in {failed}"  # unless it answers
            if _answers(started.is_alive.get(name)):
                del started.lost[name]
        if reason := started.lost.get(name):
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Suspect that what a failed test needs has died; whoever was interrupted may still wait for its answer."""
    report = yield
    if call.excinfo and report.failed:
        started = item.config.stash[_started]
        for name in _needs(item):
            started.suspected[name] = item.nodeid
            if call.excinfo.errisinstance(TimeLimitReached):
                started.lost.setdefault(name, f"{name} did not answer in {item.nodeid}")
    return report


def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """Say each reason for which tests were skipped once."""
    reasons = Counter(each.longrepr[2].removeprefix("Skipped: ") for each in terminalreporter.stats.get("skipped", ()))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")


def _answers(is_alive: Callable[[], bool] | None) -> bool:
    try:
        return is_alive is None or is_alive()
    except Exception:
        return False


def _needs(item: pytest.Item) -> list[str]:
    return [name for name in NEEDS if item.get_closest_marker(name)]

"""Fixtures that several test modules share."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import Phase, settings

from command import Command, Outcome
from lexirecall.cli import main
from lexirecall.progress import Progress
from strategies import EVERYDAY

pytest_plugins = ["time_limit"]

# machines are shared, and the first example pays for imports
settings.register_profile("unhurried", deadline=None, max_examples=EVERYDAY)
settings.register_profile("long", deadline=None, max_examples=2 * EVERYDAY)  # with all examples of costly properties
# for mutants/run.py: many faulty copies of the package meet the same examples, and it is enough that one fails
settings.register_profile(
    "mutants", deadline=None, derandomize=True, max_examples=20, database=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("unhurried")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process: files share what takes long to start, such as Spark and a browser."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


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


SPARK_WARNS = (
    "ignore:PySpark does not yet fully support pandas:FutureWarning",
    "ignore::ResourceWarning:pyspark",
    # pyspark 4.0 leaves it to the garbage collector to close the sockets that results come through
    "ignore:unclosed <socket:ResourceWarning",
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Spark say what it says; it may be the garbage of one test that the next one hears of."""
    heard = {item.path for item in items if "spark" in getattr(item, "fixturenames", ())}
    for item in items:
        if item.path in heard:
            for warning in SPARK_WARNS:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Spark's working folder: relative paths begin there, wherever Python is."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(spark_folder: Path) -> Iterator[Any]:
    """One session for all tests, since it takes long to start."""
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install 'lexirecall[spark]'")
    from lexirecall.engines import spark as engine
    from lexirecall.engines import spark_session
    from lexirecall.errors import UsageError

    try:
        spark_session.check_java()
    except UsageError as error:
        pytest.skip(str(error))
    small = {
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.codegen.wholeStage": "false",  # compiling would take longer than the few rows do
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with contextlib.chdir(spark_folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = engine.session("local[2]", **small)
    yield session
    session.stop()

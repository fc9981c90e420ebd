"""Spark's session: that Java and pyspark are there, and that the workers run the Python of the driver.

Belongs here: starting Spark. Not here: what is computed with it (spark).
"""

import atexit
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexirecall.engines.spark_faults import explained, quietly
from lexirecall.errors import UsageError
from lexirecall.installing import how_to_install
from lexirecall.manifest import Sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
_JAVA_REMEDY = (
    f"Spark 4 needs Java {OLDEST_JAVA} or later: apt install openjdk-17-jre-headless, brew install openjdk@17 "
    "or conda install openjdk=17; if there are several, set JAVA_HOME to the folder of the right one"
)
_PYTHON = "PYSPARK_PYTHON"


def session(master: str | None = None, **config: Any) -> "SparkSession":
    """Start Spark, or take the active session: on all cores of this machine, or where `master` says.

    The workers run this Python, unless they are on other machines and PYSPARK_PYTHON names theirs. `config` are Spark's
    settings, with underscores for dots, as in `spark_driver_memory="8g"`.

    >>> session(spark_driver_memory="8g")  # doctest: +SKIP
    <pyspark.sql.session.SparkSession object at 0x7f2a>
    """
    spark_sql = pyspark("sql")
    if (active := spark_sql.SparkSession.getActiveSession()) is not None:
        return active  # type: ignore[no-any-return]
    check_java()
    master = master or os.environ.get("SPARK_MASTER") or "local[*]"
    builder = spark_sql.SparkSession.builder.appName("lexirecall").master(master)
    overrides = {name if "." in name else name.replace("_", "."): value for name, value in config.items()}
    settings = {**_defaults(master), **overrides}
    for name, value in settings.items():
        builder = builder.config(name, value)
    with explained(), _python_of_driver(is_local=is_local(master)):
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel(settings["spark.log.level"])
    return spark  # type: ignore[no-any-return]


def session_of(sources: Sources) -> "SparkSession":
    """Take the active session, or start one as the options of the engine say; it ends when Python does."""
    is_ours = pyspark("sql").SparkSession.getActiveSession() is None
    options = dict(sources.engine_options or {})
    spark = session(options.pop("master", None), **{"spark_log_level": "OFF", **options})  # errors say what failed
    if is_ours:
        atexit.register(_stop, spark)
    return spark


def check_settings(sources: Sources) -> None:
    """Raise if an option of the engine is not one of Spark's.

    >>> check_settings(Sources(engine="spark", engine_options={"memory": "1g"}))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: engine_options has 'memory', but settings of Spark begin with spark.
      as in spark.executor.memory; master is where it runs
    """
    for name in sources.engine_options or {}:
        if name != "master" and not name.startswith(("spark.", "spark_")):
            problem = f"engine_options has {name!r}, but settings of Spark begin with spark."
            raise UsageError(problem, remedy="as in spark.executor.memory; master is where it runs")


@quietly()
def _stop(spark: "SparkSession") -> None:
    spark.stop()


def pyspark(part: str) -> Any:
    """Import a part of pyspark, or say how to install it."""
    try:
        return import_module(f"pyspark.{part}")
    except ModuleNotFoundError:
        remedy = f"{how_to_install('spark')}, and install Java {OLDEST_JAVA}"
        raise UsageError("pyspark is not installed", remedy=remedy) from None


def is_local(master: str) -> bool:
    """Tell whether the workers are on this machine.

    >>> is_local("local[2]"), is_local("local-cluster[2,1,1024]"), is_local("spark://host:7077")
    (True, True, False)
    """
    return master.startswith("local")


def _defaults(master: str) -> dict[str, Any]:
    defaults = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.log.level": "ERROR",
        "spark.hadoop.parquet.page.verify-checksum.enabled": "true",  # where a file has them; Spark would not look
    }
    if is_local(master):
        # 200 shuffle partitions are for clusters; these are few enough for two cores, and small enough for 1 GB
        defaults |= {"spark.sql.shuffle.partitions": str(8 * (os.cpu_count() or 1))}
    return defaults


@contextmanager
def _python_of_driver(*, is_local: bool) -> Iterator[None]:
    """Let a context that starts here give its workers this Python; the variable is read when it starts."""
    before = os.environ.get(_PYTHON)
    if is_local or before is None:
        os.environ[_PYTHON] = sys.executable
    try:
        yield
    finally:
        os.environ.pop(_PYTHON) if before is None else os.environ.update({_PYTHON: before})


def check_libraries() -> None:
    """Raise unless the libraries are there that pyspark needs for Arrow batches, but does not install itself."""
    if missing := [name for name in ("pandas", "pyarrow") if find_spec(name) is None]:
        raise UsageError(
            f"pyspark cannot hand over batches: {' and '.join(missing)} not installed",
            remedy=how_to_install("spark"),
        )


def match_python(spark: "SparkSession") -> None:
    """Let the workers of a session on this machine run this Python, unless the user chose another.

    Without PYSPARK_PYTHON Spark takes the `python3` of the path, which may lack the package.
    """
    context = getattr(spark, "sparkContext", None) if _is_classic(spark) else None
    if context is not None and is_local(context.master) and _PYTHON not in os.environ:
        context.pythonExec = sys.executable


def _is_classic(spark: "SparkSession") -> bool:
    """Tell a session with a context of its own from one that is connected to a server."""
    return ".connect." not in type(spark).__module__


def check_java() -> None:
    """Raise unless there is a Java on which Spark runs."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        raise UsageError(f"Spark needs Java, and none was found{f' in {home}' if home else ''}", remedy=_JAVA_REMEDY)
    version = java_version(java)
    if version < OLDEST_JAVA:
        raise UsageError(f"{java} is Java {version}, which is too old for Spark", remedy=_JAVA_REMEDY)


def java_version(java: str) -> int:
    """Return the major version of a Java, 0 if it does not say."""
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    return major_version(output)


def major_version(output: str) -> int:
    """Read what `java -version` says; up to Java 8, the second number is the version.

    >>> major_version('openjdk version "17.0.15" 2025-04-15'), major_version('java version "1.8.0_292"')
    (17, 8)
    """
    numbers = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(numbers[1]) if numbers else 0

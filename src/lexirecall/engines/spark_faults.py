"""Spark's faults: what goes wrong on a cluster is an error of ours, and what would go wrong silently is refused.

Belongs here: errors for what Spark raises, and checks that all rows are read, and the same rows each time. Not here:
starting Spark (spark_session), what is wrong with the rows themselves (formats).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILE = r"while reading file (?P<file>\S.*?)[.]\s"
_LONGEST = 300  # characters of what Spark says
_LOSSES = {
    "ignoreCorruptFiles": ("true", "files that it cannot read"),
    "ignoreMissingFiles": ("true", "files that are gone"),
    "ignoreInvalidPartitionPaths": ("true", "folders with names other than column=value"),
    "mode": ("dropmalformed", "rows that it cannot read"),
}
"""Options of Spark's readers, some of them settings too, and the value that loses rows."""
_Files = dict[str, tuple[Any, int, int]]


@dataclass(frozen=True, slots=True)
class Fault:
    """What Spark says, as a pattern, and what we say instead; a pattern may find a `file`, which is then named."""

    pattern: str
    problem: str
    remedy: str
    error: type[LexirecallError] = DataError


FAULTS = (
    Fault(
        rf"FAILED_READ_FILE\.FILE_NOT_EXIST.*?{_FILE}",
        "the file was removed before Spark could read it",
        "read the table again when nobody is writing to it",
    ),
    Fault(rf"FAILED_READ_FILE.*?{_FILE}", "Spark cannot read it", "is it damaged, or another kind of file?"),
    Fault(
        "No space left on device|Disk quota exceeded|Failed to create local dir",
        "the disk on which Spark keeps temporary files is full",
        "free space there, or name a folder on a larger disk in spark.local.dir or SPARK_LOCAL_DIRS, and start again",
    ),
    Fault(
        r"ModuleNotFoundError: No module named '(?P<what>[\w.]+)'",
        "the Python of Spark's workers lacks the module '{what}'",
        "the workers need lexirecall[spark], and what your own measures import: before Spark starts, set "
        "PYSPARK_PYTHON to a Python that has both",
        UsageError,
    ),
    Fault(
        r'PYTHON_VERSION_MISMATCH.*?different version: (?P<what>\S+) than that in driver:? (?P<here>[\d.]*\d)',
        "Spark's workers run Python {what}, but the driver runs {here}",
        "before Spark starts, set PYSPARK_PYTHON to a Python of the same version",
        UsageError,
    ),
    Fault(
        r'Cannot run program "(?P<what>[^"]+)"',
        "Spark's workers cannot run '{what}'",
        "before Spark starts, set PYSPARK_PYTHON to a Python that they have, with lexirecall[spark]",
        UsageError,
    ),
    Fault(
        r"Could not parse Master URL: '(?P<what>[^']*)'",
        "Spark does not know the master '{what}'",
        "write it as local[4], spark://host:7077, yarn or k8s://host:443",
        UsageError,
    ),
    Fault(
        r"spark\.driver\.maxResultSize",
        "the results for the driver are larger than spark.driver.maxResultSize",
        "raise it, or evaluate fewer runs or measures at a time",
    ),
    Fault(
        r"Lost task.*(OutOfMemoryError|OUT_OF_MEMORY|UNABLE_TO_ACQUIRE_MEMORY|code 52\b)",
        "a Spark worker ran out of memory",
        "raise spark.executor.memory; or raise spark.sql.shuffle.partitions, to give each task less to do",
    ),
    Fault(
        r"Python worker exited unexpectedly|Python worker failed to connect back|\bMemoryError\b",
        "a Python process on a Spark worker died, or ran out of memory",
        "raise spark.executor.memoryOverhead; the log of the executor says more",
    ),
    Fault(
        "ExecutorLostFailure|SparkContext (was|has been) shut ?down|stopped SparkContext|Master removed our app",
        "Spark lost its executors and gave up",
        "they may have been killed for lack of memory: raise spark.executor.memory and spark.executor.memoryOverhead; "
        "the logs of the executors say more",
    ),
    Fault(
        "OutOfMemoryError",
        "Spark's driver ran out of memory",
        "raise spark.driver.memory before Spark starts: in Python with session(spark_driver_memory='8g'), elsewhere in "
        "SPARK_CONF_DIR/spark-defaults.conf",
    ),
    Fault(
        r"Answer from Java side is empty|^Error while (sending|receiving)|connect to the Java server|^\[Errno \d+\]",
        "the Spark process has ended",
        "it may have run out of memory: raise spark.driver.memory, and start again",
    ),
)  # fmt: skip


@contextmanager
def explained(source: str = "") -> Iterator[None]:
    """Turn what Spark raises into an error of ours; an unknown error is about the source, if there is one."""
    try:
        yield
    except Exception as error:
        if not _is_of_spark(error):
            raise
        raise fault_error(str(error), source) from None


@contextmanager
def quietly() -> Iterator[None]:
    """Ignore what Spark raises when something is let go: what failed before says more."""
    try:
        yield
    except Exception as error:
        if not _is_of_spark(error):
            raise


def _is_of_spark(error: Exception) -> bool:
    """Tell whether it comes from Spark, or from the way to it."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j") or isinstance(error, ConnectionError)


def fault_error(text: str, source: str = "") -> LexirecallError:
    """Return the error for what Spark says.

    >>> print(fault_error("java.io.IOException: No space left on device"))
    the disk on which Spark keeps temporary files is full
      free space there, or name a folder on a larger disk in spark.local.dir or SPARK_LOCAL_DIRS, and start again
    """
    for fault in FAULTS:
        if found := re.search(fault.pattern, text, re.DOTALL):
            named = found.groupdict()
            if "file" in named:
                name = re.sub("^file:/+", "/", unquote(named["file"]))
                return FormatError(name, None, fault.problem, remedy=fault.remedy)
            return fault.error(fault.problem.format(**named), remedy=fault.remedy)
    if source:
        remedy = "check the path; leave out what Spark does not know, or leave out the engine"
        return FormatError(source, None, f"Spark cannot read it: {first_words(text)}", remedy=remedy)
    return DataError(f"Spark failed: {first_words(text)}", remedy="the logs of Spark say more")


def first_words(text: str) -> str:
    r"""Return the line that says something, without the names of Java's classes; the last line of a Python traceback.

    >>> first_words("An error occurred while calling o1.x.\n: org.apache.spark.SparkException: Job aborted\n\tat y")
    'Job aborted'
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("An error occurred while")]
    if any(line.startswith("Traceback (most recent call last)") for line in lines):
        lines = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(: |$)", line)][-1:] or lines
    first = re.sub(r"^.* executor \S+\): ", "", lines[0] if lines else "it does not say why")
    return re.sub(r"^[:\s]*([a-z]\w*[.][\w.$]+: )?", "", first)[:_LONGEST].strip()


@contextmanager
def every_row(frame: "DataFrame") -> Iterator[None]:
    """Refuse what lets Spark leave out rows without a word, and raise if a file was changed while it was in use.

    Rows may be read again, for the part of an executor that was lost: half of them would be those of another file.
    """
    _check_settings(frame.sparkSession)
    relations = [*_relations(frame)]
    for relation in relations:
        _check_options(relation)
    listed = [files for relation in relations if (files := _listed(relation))]
    yield
    for files in listed:
        _check_unchanged(frame.sparkSession, files)


def _check_settings(spark: "SparkSession") -> None:
    for option, (value, what) in _LOSSES.items():
        for name in (f"spark.sql.files.{option}", f"spark.files.{option}"):
            if str(spark.conf.get(name, "false")).lower() == value:
                raise UsageError(
                    f"{name} is {value}: Spark would leave out {what} without a word",
                    remedy=f'turn it off: spark.conf.set("{name}", "false"), or do so where Spark is started',
                )


def _relations(frame: "DataFrame") -> "Iterator[Any]":
    """Give the tables of files that a frame reads, as Spark holds them in Java."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves() if hasattr(frame, "_jdf") else None
    for leaf in _iterated(leaves) if leaves is not None else ():
        if leaf.getClass().getSimpleName() == "LogicalRelation":
            relation = leaf.relation()
            if relation.getClass().getSimpleName() == "HadoopFsRelation":
                yield relation


def _iterated(collection: Any) -> "Iterator[Any]":
    """Iterate over a Scala collection."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()


def _check_options(relation: Any) -> None:
    losses = {option.lower(): (option, *loss) for option, loss in _LOSSES.items()}
    for pair in _iterated(relation.options()):
        option, value, what = losses.get(pair._1().lower(), ("", "", ""))
        if value and pair._2().lower() == value:
            raise UsageError(
                f"a table was read with the option {option} = {pair._2()}: Spark would leave out {what} without a word",
                remedy="read it without that option",
            )


def _listed(relation: Any) -> _Files:
    """Return the files of a table as Spark has listed them: path, size and time by name; none for other catalogs."""
    location = relation.location()
    if location.getClass().getSimpleName() != "InMemoryFileIndex":
        return {}
    return dict(map(_state, _iterated(location.allFiles())))


def _state(status: Any) -> tuple[str, tuple[Any, int, int]]:
    path = status.getPath()
    return str(path.toString()), (path, status.getLen(), status.getModificationTime())


def _check_unchanged(spark: "SparkSession", files: _Files) -> None:
    folders = {str(path.getParent()): path.getParent() for path, _, _ in files.values()}
    now: _Files = {}
    for folder in folders.values():
        run = folder.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        if run.exists(folder):
            now |= dict(map(_state, run.listStatus(folder)))
    for name, (_, *state) in files.items():
        if name not in now or state != [*now[name][1:]]:
            raise FormatError(
                re.sub("^file:/+", "/", name),
                None,
                f"the file was {'changed' if name in now else 'removed'} after Spark had listed it",
                remedy="read the table again when nobody is writing to it",
            )

"""Files for Spark: what the command line gives it, by path, pattern, folder or URL.

Belongs here: which files Spark reads and how, and which runs are in them. Not here: what is computed (spark). Imports
errors, formats, manifest, names, verbs and this package's plan, spark, spark_session and spark_tables.

Where a path is on this machine, its content says what it is, as everywhere; elsewhere (`hdfs://…`, `s3a://…`) its name.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexirecall.engines.plan import SPARK, Plan
from lexirecall.engines.spark import evaluate
from lexirecall.engines.spark_session import pyspark, session
from lexirecall.engines.spark_tables import Workspace, rows_of_frame
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.formats import load_judgments
from lexirecall.formats.cells import csv_header
from lexirecall.formats.columns import Given, check_given, find_columns
from lexirecall.formats.folders import PARQUET
from lexirecall.formats.naming import check_names, matching
from lexirecall.formats.source import Source
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.names import Names
from lexirecall.positions import Segments
from lexirecall.text import to_text
from lexirecall.verbs.averages import Averages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARQUET = ""
"""Stands, where a separator of CSV might stand, for Parquet."""
_STREAMING = "text and JSON are read line by line anyway, in little memory: leave out --engine"


def evaluate_files(
    qrels: str,
    runs: Sequence[str],
    measures: Names | None = None,
    *,
    master: str | None = None,
    columns: Given = None,
    corpus_size: Any = None,
    providers: Any = None,
    **keywords: Any,
) -> Averages:
    """Evaluate tables of runs, as the command line does: Parquet and CSV, files, folders, patterns or URLs.

    A table without a column of systems is one run, named by its file. Judgments may be anything that is read elsewhere.
    `keywords` are those of `lexirecall.engines.spark.evaluate`.

    >>> evaluate_files("qrels.parquet", ["runs/"], master="spark://host:7077")  # doctest: +SKIP
    """
    check_given(columns)
    if providers is not None:
        raise UsageError("Spark does not compute the exposure of providers", remedy="leave out --engine")
    if corpus_size is not None and not isinstance(corpus_size, int):
        raise UsageError(f"the corpus size is {corpus_size!r}, but for Spark must be one number for all requests")
    paths = [path for given in runs for path in _expanded(given)]
    separators = [_separator(path, "run", columns) for path in paths]
    is_ours = pyspark("sql").SparkSession.getActiveSession() is None
    spark = session(master)
    workspace = Workspace(spark)
    try:
        frames = [(path, _read(spark, path, each)) for path, each in zip(paths, separators, strict=True)]
        table = _one_table(workspace, frames, columns)
        judged, named = _judgments(spark, qrels, columns)
        with evaluate(spark, table, judged, measures, columns=named, corpus_size=corpus_size, **keywords) as scores:
            return scores.averages
    finally:
        workspace.release()
        if is_ours:
            spark.stop()


def _is_here(path: str) -> bool:
    return "://" not in path and Path(path).exists()


def _expanded(path: str) -> list[str]:
    """Return the files that a pattern stands for; what is elsewhere Spark looks for itself."""
    return [path] if "://" in path else matching(path)


def _separator(path: str, kind: str, columns: Given) -> str:
    """Return what separates the columns of CSV, or _PARQUET."""
    if not _is_here(path):
        suffixes = Path(path).suffixes
        return "\t" if ".tsv" in suffixes else "," if ".csv" in suffixes else _PARQUET
    source = Source(_first_file(path))
    with source.open() as stream:
        head = stream.read(1 << 16)
    if head.startswith(PARQUET):
        return _PARQUET
    header = csv_header(head, source, kind, columns)
    if header is None:
        problem = "is neither Parquet nor CSV with a first line that names columns of requests and items"
        raise FormatError(path, None, problem, remedy=_STREAMING)
    return header.separator


def _first_file(path: str) -> str:
    """Return a file of a folder, all of whose files are of one kind, or the file itself."""
    if not Path(path).is_dir():
        return path
    files = sorted(file for file in Path(path).rglob("*") if file.is_file() and file.name[0] not in "._")
    if not files:
        raise FormatError(path, None, "is a directory, without files", remedy="name a file, or a folder of Parquet")
    return str(files[0])


def _read(spark: "SparkSession", path: str, separator: str) -> "DataFrame":
    """Read a table; nothing but its columns is looked at yet."""
    try:
        if separator == _PARQUET:
            return spark.read.parquet(path)
        return spark.read.csv(path, header=True, sep=separator, quote='"', escape='"', multiLine=True)
    except pyspark("errors").PySparkException as error:
        reason = str(error).strip().splitlines()[0]
        raise DataError(f"{path}: Spark cannot read it: {reason}", remedy="check the path") from None


def _one_table(workspace: Workspace, frames: "Sequence[tuple[str, DataFrame]]", columns: Given) -> "DataFrame":
    """Put the tables together, with a column of systems."""
    plan, tables, names = Plan(Conventions(), SPARK), [], []
    for path, frame in frames:
        name = Source(path.rstrip("/")).run_name
        rows = rows_of_frame(workspace, frame, columns, plan, name)
        names += [(each, path) for each in _systems(rows, frame, columns, path, name)]
        tables.append(rows)
    check_names(names)
    return reduce(lambda x, y: x.unionAll(y), tables)


def _systems(rows: "DataFrame", frame: "DataFrame", columns: Given, path: str, name: str) -> Iterator[str]:
    """Give the names of the systems in a table; they need to be looked for only if a column says them."""
    if find_columns(frame.columns, "run", columns, source=path).system is None:
        yield name
    else:
        yield from (str(row.system) for row in rows.select("system").distinct().collect())


def _judgments(spark: "SparkSession", qrels: str, columns: Given) -> "tuple[DataFrame, Given]":
    """Read judgments where they are if they are a table, or else here; return also what is said of their columns."""
    try:
        separator = _separator(qrels, "qrels", columns)
    except FormatError:
        return _handed_over(spark, load_judgments(qrels, columns)), None
    return _read(spark, qrels, separator), _of_judgments(columns)


def _handed_over(spark: "SparkSession", judgments: Judgments) -> "DataFrame":
    import pyarrow as pa

    owners = Segments(judgments.offsets).owners
    requests = pa.array(judgments.requests, pa.string()).take(pa.array(owners))
    items = pa.array([to_text(item) for item in judgments.items], pa.string())
    return spark.createDataFrame(pa.table({"request": requests, "item": items, "grade": judgments.grades}))


def _of_judgments(columns: Given) -> Given:
    """Return what is said of the columns of judgments; those of runs have been found."""
    given = columns or {}
    named = {role: given.get(f"qrels.{role}") or given.get(role) for role in ("request", "item", "grade")}
    return {f"qrels.{role}": name for role, name in named.items() if name}

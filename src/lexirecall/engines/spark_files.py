"""Files for Spark: what the command line gives it, by path, pattern, folder or URL.

Belongs here: which files Spark reads and how, and which runs are in them. Not here: what is computed (spark).

Where a path is on this machine, its content says what it is, as everywhere; elsewhere (`hdfs://…`, `s3a://…`) its name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lexirecall.aggregation import Aggregation
from lexirecall.engines.spark import check_added_up, compare, evaluate
from lexirecall.engines.spark_faults import explained, quietly
from lexirecall.engines.spark_frames import rows_of_frame
from lexirecall.engines.spark_session import pyspark, session
from lexirecall.engines.spark_tables import RunRows
from lexirecall.engines.spark_units import is_subtopics
from lexirecall.engines.spark_workspace import Workspace
from lexirecall.errors import FormatError, UsageError, shown
from lexirecall.fields import among, names_of
from lexirecall.formats import load_judgments, load_subtopics
from lexirecall.formats.casts import SPARK, no_rows
from lexirecall.formats.cells import Header, check_rows
from lexirecall.formats.columns import CALLED, ROLES_OF, Given, check_given, find_columns
from lexirecall.formats.enginefiles import SPARK as FILES
from lexirecall.formats.folders import empty_file, is_part
from lexirecall.formats.kinds import table_files
from lexirecall.formats.naming import check_names
from lexirecall.formats.plan import Plan
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import TableFiles
from lexirecall.formats.values import BLANKS
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions, Sources
from lexirecall.names import Names
from lexirecall.paths import exists, matching
from lexirecall.segments import Segments
from lexirecall.statistics.over import overs_of
from lexirecall.text import to_text
from lexirecall.units.judged import Subtopics
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.testing import Testing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

_BROKEN = "lexirecall broken row"  # where Spark puts the text of a row that has too many or too few cells
_AS_TEXT = {"spark.sql.sources.partitionColumnTypeInference.enabled": "false"}  # takes the partition system=007 for 7
_EVERY_TYPE = {"spark.sql.legacy.parquet.nanosAsLong": "true", "spark.sql.timeType.enabled": "true"}
"""For types that Spark would refuse even if nobody uses the column; if it is used, its type has been checked."""


def evaluate_files(qrels: str, runs: Sequence[str], measures: Names | None = None, **keywords: Any) -> Averages:
    """Evaluate tables of runs, as the command line does: Parquet and CSV, files, folders, patterns or URLs.

    A table without a column of runs is one run, named by its file. Judgments may be anything that is read elsewhere.
    `master` is where Spark runs; the other `keywords` are those of `lexirecall.engines.spark.evaluate`.

    >>> evaluate_files("qrels.parquet", ["runs/"], master="spark://host:7077")  # doctest: +SKIP
    """
    overs_of(Aggregation(**among(Aggregation, keywords)).over)  # before Spark starts
    with _opened(qrels, runs, **keywords) as (frames, options), evaluate(*frames, measures, **options) as scores:
        return scores.averages


def compare_files(qrels: str, runs: Sequence[str], measures: Names | None = None, **keywords: Any) -> Comparison:
    """Compare tables of runs; the arguments are those of `evaluate_files` and `lexirecall.engines.spark.compare`."""
    check_added_up(Testing(**among(Testing, keywords)))  # before Spark starts
    with _opened(qrels, runs, **keywords) as (frames, options):
        return compare(*frames, measures, **options)


_BESIDE = ("providers", "units", "groups")  # what is read in addition to judgments and runs
_REMEDIES = {
    "engine_options": "put settings of Spark into its spark-defaults.conf",
    "stdin_name": "Spark reads files: write the run to one, which names it",
}


def _check_taken(options: dict[str, Any]) -> None:
    """Take away the options of other readers, and raise if one of them is given."""
    for name in set(names_of(Sources)) - {"corpus_size"}:
        if options.pop(name, None) not in (None, False):
            raise UsageError(f"--{name.replace('_', '-')} is not for Spark", remedy=_REMEDIES.get(name, "leave it out"))


@contextmanager
def _opened(
    qrels: str,
    runs: Sequence[str],
    *,
    master: str | None = None,
    columns: Given = None,
    providers: str | None = None,
    units: str | None = None,
    by: str | None = None,
    **options: Any,
) -> "Iterator[tuple[tuple[DataFrame, RunRows], dict[str, Any]]]":
    """Give judgments and runs as frames of a session, with the options that are left."""
    check_given(columns)
    _check_taken(options)
    conventions = Conventions(**among(Conventions, options))
    conventions.check_units(units, providers)
    plan = Plan(conventions, SPARK)
    if not runs:
        raise UsageError("no runs are given", remedy="name Parquet or CSV files, or folders of them")
    paths = [path for given in runs for path in _expanded(given)]
    found = [_table_files(path, "run", columns) for path in paths]  # before Spark starts
    is_ours = pyspark("sql").SparkSession.getActiveSession() is None
    spark = session(master, spark_log_level="OFF")  # errors say what failed without it
    workspace = Workspace(spark)
    try:
        with explained():
            table = _one_table(workspace, zip(paths, found, strict=True), columns, plan)
        judged, named = _judgments(spark, qrels, columns, conventions if is_subtopics(units) else None)
        for name, path in (("providers", providers), ("units", units), ("by", by)):
            if path is not None:
                options[name] = _read(spark, path, None)[0] if "://" in path else path
        if by is not None and "://" not in by:
            options["by"] = Path(by)  # never the name of a column
        said = {**(named or {}), **{k: v for kind in _BESIDE for k, v in _said_of(columns, kind).items()}}
        yield (judged, table), {**options, "columns": said}
    finally:
        workspace.release()
        if is_ours:
            with quietly():
                spark.stop()


def _is_here(path: str) -> bool:
    return path == "-" or ("://" not in path and exists(path))


def _expanded(path: str) -> list[str]:
    """Return the files that a pattern stands for; Spark itself looks for what is elsewhere."""
    return [path] if "://" in path else matching(path)


def _table_files(path: str, kind: str, columns: Given) -> TableFiles | None:
    """Return the files of a table on this machine; None for one elsewhere, because only its name is known."""
    return FILES.files(path, kind, columns) if _is_here(path) else None


def read_table(spark: "SparkSession", path: str, kind: str, columns: Given) -> "tuple[DataFrame, bool]":
    """Read a table of a `run` or of `qrels`, and tell whether it is CSV."""
    return _read(spark, path, _table_files(path, kind, columns))


def _read(spark: "SparkSession", path: str, files: TableFiles | None) -> "tuple[DataFrame, bool]":
    """Read a table, and tell whether it is CSV; only the columns of Parquet are looked at yet."""
    with explained(path), _set(spark, _AS_TEXT):
        if files is None:
            return _elsewhere(spark, path)
        if files.header is None:
            with _set(spark, _EVERY_TYPE):
                frame = _reader(spark, files).parquet(*map(_escaped, files.paths))
            _check_seen(frame, files)
            return frame, False
        for each in files.paths:
            check_rows(Source(each), files.header)  # Spark does not know on which line it is
        return _csv(spark, files, files.header), True


@contextmanager
def _set(spark: "SparkSession", settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session, and leave it as it was."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def _reader(spark: "SparkSession", files: TableFiles) -> "DataFrameReader":
    return spark.read if files.folder is None else spark.read.option("basePath", str(Path(files.folder).absolute()))


def _escaped(path: str) -> str:
    r"""Return a path that Spark takes for itself, not for a pattern, and that begins where Python is.

    >>> print(_escaped("/runs/[a]*.csv"))
    /runs/\[a\]\*.csv
    """
    return re.sub(r"([][{}*?\\])", r"\\\1", str(Path(path).absolute()))


def _check_seen(frame: "DataFrame", files: TableFiles) -> None:
    """Raise if Spark skips a file, as it does if the name begins with `_`."""
    seen = [Path(unquote(each)).name for each in frame.inputFiles()]
    if len(seen) < len(files.paths):
        name = next((path for path in files.paths if Path(path).name not in seen), files.name)
        raise FormatError(name, None, "Spark skips files with such names", remedy="rename it")


def _csv(spark: "SparkSession", files: TableFiles, header: Header) -> "DataFrame":
    """Read CSV: cells as they are, because Spark would fill up and cut off odd rows."""
    schema = ", ".join(f"c{place} STRING" for place in range(len(header.names)))
    paths = [path if "://" in path else _escaped(path) for path in files.paths]
    frame = _reader(spark, files).csv(
        paths, schema=f"{schema}, `{_BROKEN}` STRING", header=True, sep=header.separator, quote='"', escape='"',
        multiLine=True, columnNameOfCorruptRecord=_BROKEN,
    )  # fmt: skip
    _check_seen(frame, files)
    broken = frame.where(f"`{_BROKEN}` IS NOT NULL OR {_is_garbled(header)}").first()
    if broken is not None:
        text = broken[_BROKEN] or header.separator.join(cell or "" for cell in broken[: len(header.names)])
        problem = (
            f"a row is not UTF-8 text, or does not have the {len(header.names):,} cells of the header: {shown(text)}"
        )
        raise FormatError(files.name, None, problem, remedy="repair the row; quote each cell that holds the separator")
    return frame.drop(_BROKEN).toDF(*header.names, *files.keys)


def _is_garbled(header: Header) -> str:
    """Return the condition for cells with the sign that Spark puts in place of bytes that are not UTF-8."""
    return " OR ".join(f"contains(c{place}, chr(65533))" for place in range(len(header.names)))


def _elsewhere(spark: "SparkSession", path: str) -> "tuple[DataFrame, bool]":
    """Read a table that only Spark can see; its name says whether it is CSV, with the columns that Spark finds."""
    _check_sizes(spark, path)
    suffixes = Path(path).suffixes
    if not {".csv", ".tsv"} & {*suffixes}:
        return spark.read.option("mergeSchema", "true").parquet(path), False  # every file is asked for its columns
    separator = "\t" if ".tsv" in suffixes else ","
    names = spark.read.csv(path, header=True, sep=separator, quote='"', escape='"', multiLine=True).columns
    header = Header(separator, tuple(name.strip(BLANKS) for name in names))
    return _csv(spark, TableFiles(path, (path,), header), header), True


def _check_sizes(spark: "SparkSession", path: str) -> None:
    """Raise if a file of a folder is empty: Spark would skip it."""
    given = spark._jvm.org.apache.hadoop.fs.Path(path)  # type: ignore[union-attr]
    system = given.getFileSystem(spark._jsc.hadoopConfiguration())
    for status in system.globStatus(given) or ():
        root = str(status.getPath())
        files = system.listFiles(status.getPath(), True)
        while files.hasNext():
            file = files.next()
            name = str(file.getPath())
            if not file.getLen() and is_part(name.removeprefix(root)):
                raise empty_file(name)


def _one_table(
    workspace: Workspace, tables: "Iterable[tuple[str, TableFiles | None]]", columns: Given, plan: Plan
) -> RunRows:
    """Put the tables together, with a column of systems."""
    parts, names = [], []
    for path, files in tables:
        frame, are_cells = _read(workspace.spark, path, files)
        name = Source(path.rstrip("/")).run_name
        rows = rows_of_frame(workspace, frame, columns, plan, name, label=path, are_cells=are_cells)
        names += [(each, path) for each in _systems(rows, frame, columns, path, name)]
        parts.append(rows)
    check_names(names)
    return RunRows(reduce(lambda x, y: x.unionAll(y), parts))


def _systems(rows: "DataFrame", frame: "DataFrame", columns: Given, path: str, name: str) -> list[str]:
    """Return the names of the systems in a table; they are looked for only if a column names them."""
    found = []
    has_systems = find_columns(frame.columns, "run", columns, source=path).system is not None
    if has_systems:
        named = rows.select("system").distinct().where("system IS NOT NULL")
        found = [str(row.system) for row in named.collect()]
    if not found and rows.isEmpty():
        raise no_rows(path)
    return found if has_systems else [name]


def _judgments(
    spark: "SparkSession", qrels: str, columns: Given, subtopics: Conventions | None
) -> "tuple[DataFrame, Given]":
    """Read judgments where they are if they are a table, otherwise here; return also the columns given for them."""
    kind = "qrels" if subtopics is None else "subtopics"
    if not _is_here(qrels):
        return _read(spark, qrels, None)[0], _said_of(columns, kind)
    files = table_files(qrels, kind, columns)
    if files is None or files.header is not None or _is_packed(files):  # cells of CSV are stripped here as everywhere
        if subtopics is not None:
            return _handed_over_subtopics(spark, load_subtopics(qrels, subtopics, columns)[0]), None
        return _handed_over(spark, load_judgments(qrels, columns)), None
    FILES.check_parquet(files, kind, columns)
    return _read(spark, qrels, files)[0], _said_of(columns, kind)


def _is_packed(files: TableFiles) -> bool:
    with Source(files.paths[0]) as source:
        return bool(source.packing)


def _handed_over(spark: "SparkSession", judgments: Judgments) -> "DataFrame":
    import pyarrow as pa

    owners = Segments(judgments.offsets).owners
    requests = pa.array(judgments.requests, pa.string()).take(pa.array(owners))
    items = pa.array([to_text(item) for item in judgments.items], pa.string())
    return spark.createDataFrame(pa.table({"request": requests, "item": items, "grade": judgments.grades}))


def _handed_over_subtopics(spark: "SparkSession", given: Subtopics) -> "DataFrame":
    import pyarrow as pa

    ids = {"request": given.requests, "unit": given.units, "item": given.items}
    columns = {name: pa.array([to_text(text) for text in texts], pa.string()) for name, texts in ids.items()}
    return spark.createDataFrame(pa.table({**columns, "grade": pa.array(given.grades, pa.float64())}))


def _said_of(columns: Given, kind: str) -> dict[str, str]:
    """Return what is given for the columns of judgments or providers; those of runs have been found."""
    given = columns or {}
    named = {role: given.get(f"{kind}.{role}") or given.get(role) for role in map(CALLED.__getitem__, ROLES_OF[kind])}
    return {f"{kind}.{role}": name for role, name in named.items() if name}

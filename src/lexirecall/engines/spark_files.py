"""Files for Spark: tables of runs by path, folder or URL, and frames.

Belongs here: which files Spark reads and how. Not here: what becomes of their rows (spark_rows).

Where a path is on this machine, its content says what it is, as everywhere; elsewhere (`hdfs://…`, `s3a://…`) its name.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import unquote

from lexirecall.engines.spark_faults import every_row, explained
from lexirecall.engines.spark_session import pyspark, session_of
from lexirecall.errors import FormatError, shown
from lexirecall.formats.cells import Header, check_rows
from lexirecall.formats.columns import Given, find_columns
from lexirecall.formats.enginefiles import SPARK as FILES
from lexirecall.formats.enginefiles import FileEngine, check_outside, in_memory
from lexirecall.formats.folders import empty_file, is_part
from lexirecall.formats.frames import is_of_spark
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.roletable import used_columns
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import TableFiles
from lexirecall.formats.values import BLANKS
from lexirecall.manifest import Sources

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

_BROKEN = "lexirecall broken row"  # where Spark puts the text of a row that has too many or too few cells
_AS_TEXT = {"spark.sql.sources.partitionColumnTypeInference.enabled": "false"}  # takes the partition run=007 for 7
_EVERY_TYPE = {"spark.sql.legacy.parquet.nanosAsLong": "true", "spark.sql.timeType.enabled": "true"}
"""For types that Spark would refuse even if nobody uses the column; if it is used, its type has been checked."""


class SparkTable(NamedTuple):
    """A table that Spark reads."""

    frame: "DataFrame"
    num_cells: int = 0
    """How many of its first columns are cells of CSV."""
    paths: tuple[str, ...] | None = None
    """Its files, in the order in which they are one table; none if Spark lists them. None for a frame."""

    @property
    def is_parquet(self) -> bool:
        """Whether it is files, of which Spark knows in which row it is."""
        return self.paths is not None and not self.num_cells

    @property
    def files(self) -> dict[str, str]:
        """What its files are called, by their paths, in order."""
        return {str(Path(path).absolute()): path for path in self.paths or ()}


def _engine() -> FileEngine:
    """Return what Spark reads; the first version needs a library of the system for zst, and says of it nothing."""
    if find_spec("pyspark") is None:
        return FILES  # nobody is told to install Spark for a file that it would not read
    version = tuple(map(int, pyspark("version").__version__.split(".")[:2]))
    return FILES if version >= (4, 1) else replace(FILES, packings=("gz", "bz2"))


def open_table(run: NamedRun, sources: Sources) -> SparkTable:
    """Open a run that is a frame of Spark, or Parquet or CSV: a file, a folder or a URL."""
    if is_of_spark(run.run):
        return SparkTable(cast("DataFrame", run.run))
    if not isinstance(run.run, Source):
        check_outside(run)
        raise in_memory(run, f"a {type(run.run).__name__}, which is already in memory")
    path = run.run.path
    files = None if "://" in path else _engine().files(run.run, "run", sources.columns)  # before Spark starts
    return read_table(session_of(sources), path, files)


def frame_at(path: str, sources: Sources) -> "DataFrame":
    """Read a table that only Spark can see."""
    frame, num_cells, _ = read_table(session_of(sources), path, None)
    if not num_cells:
        return frame
    numbered = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    cells = [numbered[f"c{place}"] for place in range(num_cells)]
    return numbered.where(pyspark("sql.functions").coalesce(*cells).isNotNull()).toDF(*frame.columns)


def rows_in_memory(frame: "DataFrame", kind: str, named_columns: Given, name: str) -> "pa.Table":
    """Return the columns that are used of judgments, or of what else is not a run; found by their places."""
    used = used_columns(find_columns(frame.columns, kind, named_columns, source=name), kind)
    places = [f"c{frame.columns.index(column)}" for column in used]
    with explained(), every_row(frame):
        numbered = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
        return numbered.select(*places).toArrow().rename_columns(used)


def read_table(spark: "SparkSession", path: str, files: TableFiles | None) -> SparkTable:
    """Read a table in files; only the columns of Parquet are looked at yet."""
    with explained(path), _set(spark, _AS_TEXT):
        if files is None:
            return _elsewhere(spark, path)
        if files.header is None:
            with _set(spark, _EVERY_TYPE):
                frame = _reader(spark, files).parquet(*map(_escaped, files.paths))
            _check_seen(frame, files)
            return SparkTable(frame, 0, files.paths)
        for file in files.paths:
            check_rows(Source(file), files.header)  # Spark does not know on which line it is
        return _csv(spark, files, files.header)


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
    seen = [Path(unquote(uri)).name for uri in frame.inputFiles()]
    if len(seen) < len(files.paths):
        name = next((path for path in files.paths if Path(path).name not in seen), files.name)
        raise FormatError(name, None, "Spark skips files with such names", remedy="rename it")


def _csv(spark: "SparkSession", files: TableFiles, header: Header) -> SparkTable:
    """Read CSV: cells without blanks at their ends, of rows that are whole; Spark would fill up and cut off others."""
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
    functions = pyspark("sql.functions")
    trimmed = [functions.btrim(frame[f"c{place}"], functions.lit(BLANKS)) for place in range(len(header.names))]
    cells = [functions.nullif(cell, functions.lit("")) for cell in trimmed]
    whole = frame.select(*cells, *(frame[key] for key in files.keys)).toDF(*header.names, *files.keys)
    return SparkTable(whole, len(cells), files.paths)


def _is_garbled(header: Header) -> str:
    """Return the condition for cells with the sign that Spark puts in place of bytes that are not UTF-8."""
    return " OR ".join(f"contains(c{place}, chr(65533))" for place in range(len(header.names)))


def _elsewhere(spark: "SparkSession", path: str) -> SparkTable:
    """Read a table that only Spark can see; its name says whether it is CSV, with the columns that Spark finds."""
    _check_sizes(spark, path)
    suffixes = Path(path).suffixes
    if not {".csv", ".tsv"} & {*suffixes}:
        merged = spark.read.option("mergeSchema", "true")  # every file is asked for its columns
        return SparkTable(merged.parquet(path), 0, ())
    separator = "\t" if ".tsv" in suffixes else ","
    names = spark.read.csv(path, header=True, sep=separator, quote='"', escape='"', multiLine=True).columns
    header = Header(separator, tuple(name.strip(BLANKS) for name in names))
    return _csv(spark, TableFiles(path, (path,), header), header)._replace(paths=())


def _check_sizes(spark: "SparkSession", path: str) -> None:
    """Raise if a file of a folder is empty: Spark would skip it."""
    pattern = spark._jvm.org.apache.hadoop.fs.Path(path)  # type: ignore[union-attr]
    filesystem = pattern.getFileSystem(spark._jsc.hadoopConfiguration())
    for status in filesystem.globStatus(pattern) or ():
        root = str(status.getPath())
        files = filesystem.listFiles(status.getPath(), True)
        while files.hasNext():
            file = files.next()
            name = str(file.getPath())
            if not file.getLen() and is_part(name.removeprefix(root)):
                raise empty_file(name)

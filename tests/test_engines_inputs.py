"""Whatever memory reads as a table DuckDB and Spark read too, with the same positions; or the same is wrong with it.

One table of inputs for the three. Where an engine does not read what memory does, the case says what it says instead.
Spark takes seconds for every job, so that of the tables that it reads only the rows are looked at, as it reads them;
what it is to refuse, it is given as a whole.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from lexirecall import evaluate, project
from lexirecall.engines.spark import SparkRun
from lexirecall.errors import FormatError, LexirecallError
from lexirecall.formats.naming import name_runs
from lexirecall.manifest import Conventions, Sources
from test_every_input import INPUTS
from test_frames import MAKERS, database, seen
from test_frames import Make as MakeFrame
from test_odd_columns import said
from test_table_files import BAD_CSV, BOTH, PACKERS, QRELS, RUN, WRITERS, parquet, write, written

pytest.importorskip("duckdb")
nw = pytest.importorskip("narwhals")
pl = pytest.importorskip("polars")

Make = Callable[[Path], Any]
"""Returns runs, for which files may be written into a folder."""
TWINS = RUN.with_columns(Score=-pl.col("score"))
NAMED_FIRST = BOTH.filter(run="y").select("run", "score", "doc_id", "query_id")
NESTED = RUN.select(pl.struct("score", inner=pl.concat_list("score")).alias("nested"), pl.all())
BY_SCORE = {"columns": {"score": "score"}}
IS_SPARK_4_0 = find_spec("pyspark") is not None and version("pyspark").startswith("4.0.")
IS_POLARS_1 = pl.__version__.startswith("1.")


def file(content: bytes, name: str = "table") -> Make:
    return lambda folder: write(folder / name, content)


def files(contents: dict[str, bytes]) -> Make:
    def make(folder: Path) -> Any:
        for name, content in contents.items():
            write(folder / "runs" / name, content)
        return folder / "runs"

    return make


def partitions(*values: str, content: bytes = parquet(RUN)) -> Make:
    suffix = "parquet" if content.startswith(b"PAR1") else "csv"
    return files({f"run={value}/part-0.{suffix}": content for value in values})


def pattern(text: str, *names: str) -> Make:
    make = files({name: parquet(RUN) for name in names or ("a", "b")})
    return lambda folder: f"{make(folder)}/{text}"


def form_of(form: str) -> Make:
    return lambda folder: INPUTS[form]({"8": {"a": 0.5, "b": 1.0}}, "run", folder / "run")


def two(first: Any, second: Any) -> Make:
    """Two Parquet files of a folder."""
    return files({"a": parquet(first), "b": parquet(second)})


def named(make: Make) -> Make:
    return lambda folder: {"mine": make(folder)}


def frame(make: MakeFrame, table: Any = BOTH) -> Make:
    return lambda _: make(table.to_dict(as_series=False))


@dataclass(frozen=True)
class Case:
    """An input; what an engine says that does not read it as memory does, by the engine."""

    make: Make
    options: dict[str, Any] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def only_memory(make: Make, message: str, **options: Any) -> Case:
    return Case(make, options, {name: message.format(name) for name in ("DuckDB", "Spark")})


def but_spark(make: Make, message: str, **options: Any) -> Case:
    return Case(make, options, {"Spark": message})


def but_duckdb(make: Make, message: str, **options: Any) -> Case:
    return Case(make, options, {"DuckDB": message})


BLIND = "Spark cannot tell the columns '{}', .* apart: they differ only in case"
LOST = "DuckDB cannot find the column '{}'"
BY_NAME = "table: is packed as {}, but Spark goes by the name"
REFUSED = {"Spark": "is packed as zst, which Spark does not unpack"} if IS_SPARK_4_0 else {}
FIRST, REST = RUN[:2], RUN[2:]
NUMBERED = RUN.with_columns(doc_id=pl.Series([1, 2, 3, 4]))
READ: dict[str, Case] = {
    **{form: Case(file(write_as(BOTH))) for form, write_as in WRITERS.items()},
    **{
        f"{form}, {packing}": Case(
            file(PACKERS[packing](WRITERS[form](BOTH)), f"table.{packing}"), refused=REFUSED if packing == "zst" else {}
        )
        for form, packing in product(WRITERS, ("gz", "zst"))
        if form != "parquet"
    },
    **{
        f"a name that does not say {packing}": but_spark(file(PACKERS[packing](written(RUN))), message)
        for packing, message in (("gz", BY_NAME.format("gz")), ("zst", REFUSED.get("Spark", BY_NAME.format("zst"))))
    },
    "a name that says gz": but_spark(file(written(RUN), "table.gz"), "is not packed, but Spark goes by the name"),
    "a name that says lz4": but_spark(file(written(RUN), "table.lz4"), "is not packed, but Spark goes by the name"),
    "bz2": but_duckdb(file(PACKERS["bz2"](written(RUN)), "a.bz2"), "is packed as bz2, which DuckDB does not unpack"),
    "xz": only_memory(file(PACKERS["xz"](written(RUN))), "is packed as xz, which {} does not unpack"),
    **{
        f"Parquet, {packing}": only_memory(file(pack(parquet(RUN))), "is packed, and {} does not unpack Parquet")
        for packing, pack in PACKERS.items()
        if packing != "plain"
    },
    **{f"a frame, {library}": Case(frame(make)) for library, make in MAKERS.items()},
    **{f"a named frame, {library}": Case(named(frame(make, RUN))) for library, make in MAKERS.items()},
    "a folder": Case(files({"a": parquet(FIRST), "more/b": parquet(REST), "_SUCCESS": b""})),
    "a folder of CSV": Case(files({"a.csv": written(FIRST), "more/b.csv.gz": PACKERS["gz"](written(REST))})),
    "partitions": Case(partitions("007", "08", "a%20b")),
    "partitions of CSV": Case(partitions("007", "08", "a%20b", content=written(RUN))),
    "a column that is a partition too": Case(partitions("x", content=parquet(NAMED_FIRST))),
    "partitions of queries": Case(files({"query_id=8/part-0": parquet(RUN[2:3].drop("query_id"))})),
    "one column more in the first": Case(two(FIRST.with_columns(more=1), REST)),
    "another type of an unused column": Case(two(FIRST.with_columns(more=1), REST.with_columns(more=pl.lit("x")))),
    "another order of columns": Case(two(FIRST, REST.select(*reversed(RUN.columns)))),
    "a pattern": Case(pattern("*")),
    "a pattern of one": Case(pattern("run[[]1].parquet", "run[1].parquet", "run1.parquet")),
    **{
        f"{sign} in a name": Case(pattern(f"a{sign}b", f"a{sign}b", "axb", "a1b"))
        for sign in ("*", "?", "[1]", "{x,1}", "%20", " ", "#", "é")
    },
    "signs of patterns in the name of a folder": Case(
        lambda folder: partitions("x", "y")(write(folder / "[1]{x}" / "_", b"").parent)
    ),
    "a name that begins with a line": but_spark(file(parquet(RUN), "_run"), "_run: .*Spark"),
    "a name that begins with a line, CSV": but_spark(file(written(RUN), "_run"), "_run: Spark skips files"),
    "a name that is passed over in a folder": but_spark(
        files({"a": parquet(FIRST), "b._COPYING_": parquet(REST)}), "b._COPYING_: Spark skips files"
    ),
    "nested columns": Case(file(parquet(NESTED))),
    **{
        f"unused columns of {name}": Case(file(parquet(RUN.with_columns(more=pl.lit(value, kind)))))
        for name, value, kind in (
            ("timestamps", datetime(2020, 1, 2), pl.Datetime("ns")),
            *([("times", time(12), pl.Time)] if not IS_SPARK_4_0 else []),  # which it refuses, used or not
            ("durations", timedelta(1), pl.Duration("us")),
            ("nothing", None, pl.Null),
        )
    },
    "names that differ in case, unused": but_spark(
        file(parquet(RUN.with_columns(title=1, Title=2))), BLIND.format("Title")
    ),
    "the first of names that differ in case": but_spark(file(parquet(TWINS)), BLIND.format("Score"), **BY_SCORE),
    "the first of names that differ in case, CSV": Case(file(written(TWINS)), BY_SCORE),
    "the second of names that differ in case": Case(
        file(parquet(TWINS)),
        {"columns": {"score": "Score"}},
        {"DuckDB": LOST.format("Score"), "Spark": BLIND.format("Score")},
    ),
    "the second of names that differ in case, CSV": but_duckdb(
        file(written(TWINS)), LOST.format("Score"), columns={"score": "Score"}
    ),
    "a name that DuckDB gives to another": Case(
        file(parquet(TWINS.with_columns(score_1=pl.col("score")))),
        {"columns": {"score": "score_1"}},
        {"DuckDB": LOST.format("score_1"), "Spark": BLIND.format("Score")},
    ),
    "such names in another order": Case(
        two(TWINS[:2], TWINS[2:].select("Score", *RUN.columns)),
        BY_SCORE,
        {"DuckDB": f"runs/b: {LOST.format('score')}", "Spark": BLIND.format("Score")},
    ),
    "twice the same": Case(file(parquet(pl.concat([RUN, RUN]))), {"duplicates": "best"}),
    "scores of 32 bits": Case(
        file(parquet(RUN.with_columns(score=1 + pl.col("score") * 1e-9))), {"score_dtype": "float32"}
    ),
}
WRONG: dict[str, Case] = {
    **{f"bad CSV {i}": Case(file(content)) for i, (content, _) in enumerate(BAD_CSV)},
    "a partition without a value": Case(partitions("x", "__HIVE_DEFAULT_PARTITION__")),
    "a partition without a value, CSV": Case(partitions("x", "__HIVE_DEFAULT_PARTITION__", content=written(RUN))),
    "a column that is a partition too, CSV": Case(partitions("x", content=written(NAMED_FIRST))),
    "a pattern of nothing": Case(pattern("*.csv")),
    "a name for two files": Case(named(pattern("*"))),
    "a name for two systems": Case(named(frame(MAKERS["pyarrow"]))),
    "two of one name": Case(lambda folder: [file(parquet(BOTH))(folder)] * 2),
    "names that differ in case": Case(file(parquet(TWINS))),
    "names that differ in case, CSV": Case(file(written(TWINS))),
    "names that differ in case, in the second": Case(two(FIRST, REST.with_columns(Score=1.0))),
    "a column more in the second": Case(two(FIRST, REST.with_columns(more=1))),
    "a column of systems in the second": Case(two(FIRST, REST.with_columns(run=pl.lit("x")))),
    "no column of systems in the second": Case(two(FIRST.with_columns(run=pl.lit("x")), REST)),
    "another name in the second": Case(two(FIRST, REST.rename({"score": "Score"}))),
    **{
        f"another type in the second, {kind}": Case(
            two(NUMBERED[:2], NUMBERED[2:].with_columns(pl.col("doc_id").cast(kind)))
        )
        for kind in (pl.String, pl.Int32, pl.Float64)
    },
    "larger numbers in the second": Case(
        two(FIRST.with_columns(pl.col("score").cast(pl.Float32)), REST.with_columns(score=pl.Series([1e300, 0.1])))
    ),
    "nothing in the second": but_spark(
        two(FIRST, REST.with_columns(doc_id=pl.lit(None, pl.Null))), "runs/b: Spark cannot read it"
    ),
    "durations": Case(file(parquet(RUN.with_columns(score=pl.lit(timedelta(1)))))),
    "times": Case(file(parquet(RUN.with_columns(score=pl.lit(time(12)))))),
    "no rows": Case(file(parquet(RUN[:0]))),
    "no rows in one of two": Case(
        lambda folder: [file(parquet(RUN), "a")(folder), file(parquet(RUN[:0]), "b")(folder)]
    ),
    "no rows, systems": Case(lambda folder: [file(parquet(RUN), "a")(folder), file(parquet(BOTH[:0]), "b")(folder)]),
    "truncated": Case(file(parquet(RUN)[:-5])),
    "an empty folder": Case(files({"_SUCCESS": b""})),
    "no query in common": Case(file(parquet(RUN.with_columns(query_id=pl.lit("none"))))),
    "not there": Case(lambda folder: folder / "nowhere.parquet"),
    **{
        f"columns {columns}": Case(file(parquet(RUN)), {"columns": columns})
        for columns in ({"run.document": "nope"}, {"documents": "doc_id"})
    },
    **{
        f"{form} for an engine": only_memory(
            form_of(form),
            "run: is neither Parquet nor CSV .*\n.*leave out the engine: it reads only tables",
        )
        for form in ("json", "text")
    },
}
if IS_POLARS_1:
    del WRONG["nothing in the second"]  # which it calls a type that differs
EVERY = {**READ, **WRONG}


def outcome(read: Callable[[], Any]) -> Any:
    """Return all there is in positions, or what is wrong, less the rows and the other places that are named."""
    try:
        return seen(read())
    except LexirecallError as error:
        problem, is_repeated, _ = said(error).partition(" is listed ")  # and where, of which engines know less
        return type(error), problem, is_repeated or error.remedy


def in_memory(run: Any, options: Mapping[str, Any]) -> Any:
    return outcome(lambda: project(QRELS, run, **options))


def by_duckdb(run: Any, options: Mapping[str, Any]) -> Any:
    """Read a run with DuckDB, and relations in the connection that they are of."""
    runs = run.values() if isinstance(run, dict) else [run]
    lent = any(type(each).__name__ == "DuckDBPyRelation" for each in runs)
    settings = {"connection": database()} if lent else None
    return project(QRELS, run, engine="duckdb", engine_options=settings, **options)


def check_refused(message: str, read: Callable[[], Any]) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read()
    assert caught.value.remedy


@pytest.mark.parametrize("name", EVERY)
def test_an_input_is_the_same_to_duckdb(tmp_path: Path, name: str) -> None:
    case = EVERY[name]
    run = case.make(tmp_path)
    if message := case.refused.get("DuckDB"):
        check_refused(message, lambda: by_duckdb(run, case.options))
        return
    expected = in_memory(run, case.options)
    assert isinstance(expected, dict) == (name in READ)
    assert outcome(lambda: by_duckdb(run, case.options)) == expected


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "-"):
        with pytest.raises(FormatError, match=f"{path}: is not a file, and DuckDB reads a table more than once"):
            project(QRELS, path, engine="duckdb")
        with pytest.raises(FormatError, match=f"{path}: is not a file, and Spark reads a table more than once"):
            project(QRELS, path, engine="spark")


@pytest.mark.parametrize("form", INPUTS)
def test_duckdb_reads_each_form_that_is_a_table(tmp_path: Path, form: str) -> None:
    run = {"mine": INPUTS[form]({"8": {"a": 0.5, "b": 1.0}}, "run", tmp_path / "run")}
    found = outcome(lambda: by_duckdb(run, {}))
    if form in ("mapping", "rows", "json", "json lines", "text"):
        assert found[2].startswith("leave out the engine")
    else:
        assert found == in_memory(run, {})


# Spark


def as_frame(spark: Any, table: Any) -> Any:
    """Return a frame of any library as one of Spark."""
    return spark.createDataFrame(nw.from_native(table).lazy().collect("pyarrow").to_native())


def in_spark(spark: Any, run: Any) -> Any:
    """Return a run with the frames in it as those of Spark."""
    if isinstance(run, dict):
        return {name: in_spark(spark, each) for name, each in run.items()}
    return run if isinstance(run, (str, Path, list)) else as_frame(spark, run)


@pytest.mark.parametrize("name", [name for name in READ if "Spark" not in READ[name].refused])
def test_a_table_is_the_same_to_spark(spark: Any, tmp_path: Path, name: str) -> None:
    case = READ[name]
    run = case.make(tmp_path)
    columns = case.options.get("columns")
    conventions, sources = Conventions(), Sources(engine="spark", columns=columns)
    found: dict[str, Any] = {}
    for named_run in name_runs(in_spark(spark, run), columns):
        with SparkRun.opened(named_run, conventions, sources) as form:
            rows = form.rows.frame.toArrow()
        found |= {named_run.name: rows} if named_run.is_given else runs_in(rows, named_run.name)
    expected = in_memory(run, case.options)
    assert expected["runs"]
    found = {name: found[name] for name in expected["runs"]}  # Spark does not read files in their order
    assert in_memory(found, {**case.options, "columns": {"run.query": "query", "run.document": "document"}}) == expected


def runs_in(rows: Any, name: str) -> dict[str, Any]:
    """Return the rows of each run, or of the only one, which has this name."""
    table = pl.from_arrow(rows)
    if "run" not in table.columns:
        return {name: table}
    return {str(key): part for (key,), part in table.partition_by("run", maintain_order=True, as_dict=True).items()}


@pytest.mark.parametrize("name", [name for name in EVERY if name in WRONG or "Spark" in READ[name].refused])
def test_the_same_is_wrong_to_spark(spark: Any, tmp_path: Path, name: str) -> None:
    case = EVERY[name]
    run = case.make(tmp_path)
    given = in_spark(spark, run)
    if message := case.refused.get("Spark"):
        check_refused(message, lambda: project(QRELS, given, engine="spark", **case.options))
    else:
        found = outcome(lambda: project(QRELS, given, engine="spark", **case.options))
        assert found == in_memory(run, case.options)


@pytest.mark.parametrize("form", INPUTS)
def test_judgments_of_every_form_are_the_same_to_spark(spark: Any, tmp_path: Path, form: str) -> None:
    """And all that is said of several tables together: means, counts and notes."""
    assert spark is not None
    qrels = INPUTS[form]({"007": {"a": 1, "b": 2}, "8": {"a": 1}}, "qrels", tmp_path / f"qrels.{form}")
    runs = [str(partitions("007", "08")(tmp_path)), str(file(written(RUN), "c.csv")(tmp_path))]
    options: dict[str, Any] = {"measures": ["AP", "LexiRecall", "NumRet"], "level": 1}
    expected = evaluate(qrels, runs, **options)
    found = evaluate(qrels, runs, engine="spark", **options)
    assert found.to_dict() == expected.to_dict()
    assert (found.manifest.qrels, found.manifest.runs) == (expected.manifest.qrels, expected.manifest.runs)
    assert [(note.kind, note.count) for note in found.notes] == [(note.kind, note.count) for note in expected.notes]


def test_files_elsewhere_are_all_asked_for_their_columns(spark: Any, tmp_path: Path) -> None:
    """A column of runs that only the second file has would put several runs into one."""
    assert spark is not None
    for name in ("a column of systems in the second", "another type in the second, String"):
        folder = WRONG[name].make(tmp_path / name)
        with pytest.raises(FormatError, match=f"{name}/runs.*: (.*the run name is missing|Spark cannot read it)"):
            project(QRELS, f"file://{folder}", engine="spark")

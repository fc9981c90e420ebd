"""Whatever memory reads as a table DuckDB reads too, with the same positions, or the same is wrong with it."""

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from lexirecall import project
from lexirecall.errors import FormatError, LexirecallError
from test_every_input import INPUTS
from test_frames import MAKERS, database, seen
from test_frames import Make as MakeFrame
from test_odd_columns import said
from test_table_files import BAD_CSV, BOTH, PACKERS, QRELS, RUN, WRITERS, parquet, write, written

pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")

Make = Callable[[Path], Any]
"""Returns runs, for which files may be written into a folder."""
TWINS = RUN.with_columns(Score=-pl.col("score"))
NAMED_FIRST = BOTH.filter(system="y").select("system", "score", "doc_id", "query_id")
NESTED = RUN.select(pl.struct("score", inner=pl.concat_list("score")).alias("nested"), pl.all())
BY_SCORE = {"columns": {"score": "score"}}


def file(content: bytes) -> Make:
    return lambda folder: write(folder / "table", content)


def files(contents: dict[str, bytes]) -> Make:
    def make(folder: Path) -> Any:
        for name, content in contents.items():
            write(folder / "runs" / name, content)
        return folder / "runs"

    return make


def partitions(*values: str, content: bytes = parquet(RUN)) -> Make:
    suffix = "parquet" if content.startswith(b"PAR1") else "csv"
    return files({f"system={value}/part-0.{suffix}": content for value in values})


def pattern(text: str) -> Make:
    make = files({"a": parquet(RUN), "b": parquet(RUN)})
    return lambda folder: f"{make(folder)}/{text}"


def named(make: Make) -> Make:
    return lambda folder: {"mine": make(folder)}


def frame(make: MakeFrame, table: Any = BOTH) -> Make:
    return lambda _: make(table.to_dict(as_series=False))


TABLES: dict[str, Make] = {
    **{
        f"{form}, {packing}": file(PACKERS[packing](WRITERS[form](BOTH)))
        for form, packing in product(WRITERS, ("plain", "gz", "zst"))
        if form != "parquet" or packing == "plain"
    },
    **{f"a frame, {library}": frame(make) for library, make in MAKERS.items()},
    **{f"a named frame, {library}": named(frame(make, RUN)) for library, make in MAKERS.items()},
    "a folder": files({"a": parquet(RUN[:2]), "more/b": parquet(RUN[2:]), "_SUCCESS": b""}),
    "a folder of CSV": files({"a.csv": written(RUN[:2]), "b.csv": written(RUN[2:])}),
    "partitions": partitions("007", "08", "a%20b"),
    "partitions of CSV": partitions("007", "08", "a%20b", content=written(RUN)),
    "a column that is a partition too": partitions("x", content=parquet(NAMED_FIRST)),
    "partitions of queries": files({"query_id=8/part-0": parquet(RUN[2:3].drop("query_id"))}),
    "one column more in the first": files({"a": parquet(RUN[:2].with_columns(more=1)), "b": parquet(RUN[2:])}),
    "another order of columns": files({"a": parquet(RUN[:2]), "b": parquet(RUN[2:].select(*reversed(RUN.columns)))}),
    "a pattern": pattern("*"),
    "nested columns": file(parquet(NESTED)),
    "names that differ in case, unused": file(parquet(RUN.with_columns(title=1, Title=2))),
}
WITH_OPTIONS: dict[str, tuple[Make, dict[str, Any]]] = {
    "the first of names that differ in case": (file(parquet(TWINS)), BY_SCORE),
    "the first of names that differ in case, CSV": (file(written(TWINS)), BY_SCORE),
    "twice the same": (file(parquet(pl.concat([RUN, RUN]))), {"duplicates": "best"}),
}
WRONG: dict[str, Make] = {
    **{f"bad CSV {i}": file(content) for i, (content, _) in enumerate(BAD_CSV)},
    "a partition without a value": partitions("x", "__HIVE_DEFAULT_PARTITION__"),
    "a partition without a value, CSV": partitions("x", "__HIVE_DEFAULT_PARTITION__", content=written(RUN)),
    "a column that is a partition too, CSV": partitions("x", content=written(NAMED_FIRST)),
    "a pattern of nothing": pattern("*.csv"),
    "a name for two files": named(pattern("*")),
    "a name for two systems": named(file(parquet(BOTH))),
    "two of one name": lambda folder: [file(parquet(BOTH))(folder)] * 2,
    "names that differ in case": file(parquet(TWINS)),
    "names that differ in case, CSV": file(written(TWINS)),
    "no rows": file(parquet(RUN[:0])),
    "truncated": file(parquet(RUN)[:-5]),
    "not there": lambda folder: folder / "nowhere.parquet",
    "an empty folder": files({"_SUCCESS": b""}),
    "no query in common": file(parquet(RUN.with_columns(query_id=pl.lit("none")))),
}


def outcome(run: Any, **options: Any) -> Any:
    try:
        return seen(project(QRELS, run, **options))
    except LexirecallError as error:
        problem, is_repeated, _ = said(error).partition(" is listed ")  # and where, of which DuckDB knows less
        return type(error), problem, is_repeated or error.remedy


def by_duckdb(run: Any, **options: Any) -> Any:
    runs = run.values() if isinstance(run, dict) else [run]
    if any(type(each).__name__ == "DuckDBPyRelation" for each in runs):
        options["engine_options"] = {"connection": database()}
    return outcome(run, engine="duckdb", **options)


@pytest.mark.parametrize("name", [*TABLES, *WITH_OPTIONS])
def test_a_table_is_the_same_to_duckdb(tmp_path: Path, name: str) -> None:
    make, options = WITH_OPTIONS.get(name) or (TABLES[name], {})
    run = make(tmp_path)
    expected = outcome(run, **options)
    assert expected["systems"]
    assert by_duckdb(run, **options) == expected


@pytest.mark.parametrize("name", WRONG)
def test_the_same_is_wrong_to_duckdb(tmp_path: Path, name: str) -> None:
    run = WRONG[name](tmp_path)
    expected = outcome(run)
    assert issubclass(expected[0], LexirecallError)
    assert by_duckdb(run) == expected


@pytest.mark.parametrize("columns", [{"run.item": "nope"}, {"items": "doc_id"}], ids=str)
def test_columns_that_are_not_there_are_the_same_error(tmp_path: Path, columns: dict[str, str]) -> None:
    path = file(parquet(RUN))(tmp_path)
    assert by_duckdb(path, columns=columns) == outcome(path, columns=columns)


REFUSED: dict[str, tuple[Make, str, str | None]] = {
    **{
        f"CSV, {packing}": (file(PACKERS[packing](written(RUN))), "DuckDB does not unpack bz2 and xz", None)
        for packing in ("bz2", "xz")
    },
    **{
        f"Parquet, {packing}": (file(pack(parquet(RUN))), "is packed, and DuckDB does not unpack Parquet", None)
        for packing, pack in PACKERS.items()
        if packing != "plain"
    },
    "the second of names that differ in case": (file(parquet(TWINS)), "does not find the column 'Score'", "Score"),
    "the second of names that differ in case, CSV": (file(written(TWINS)), "does not find the column 'Score'", "Score"),
    "a name that DuckDB gives to another": (
        file(parquet(TWINS.with_columns(score_1=pl.col("score")))), "does not find the column 'score_1'", "score_1",
    ),
    "such names in a file of a folder": (
        files({"a": parquet(RUN[:2]), "b": parquet(TWINS[2:].select("Score", *RUN.columns))}),
        "runs/b: DuckDB does not find the column 'score'", None,
    ),
    "standard input": (lambda _: "-", "-: is not a file, and DuckDB reads a table more than once", None),
}  # fmt: skip
"""What memory may read and DuckDB does not: what it says, and the column of scores that is given."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_duckdb_does_not_read_it_refuses(tmp_path: Path, name: str) -> None:
    make, message, score = REFUSED[name]
    columns = {"score": score} if score else None
    with pytest.raises(FormatError, match=message) as caught:
        project(QRELS, make(tmp_path), engine="duckdb", columns=columns)
    assert caught.value.remedy


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match="pipe: is not a file, and DuckDB reads a table more than once"):
        project(QRELS, tmp_path / "pipe", engine="duckdb")


@pytest.mark.parametrize("form", INPUTS)
def test_duckdb_reads_each_form_that_is_a_table(tmp_path: Path, form: str) -> None:
    run = {"mine": INPUTS[form]({"8": {"a": 0.5, "b": 1.0}}, "run", tmp_path / "run")}
    if form in ("mapping", "json", "text"):
        assert by_duckdb(run)[2].endswith("leave out the engine")
    else:
        assert by_duckdb(run) == outcome(run)

"""Odd columns: every type and every value means the same, or is the same error, in memory, in DuckDB and in Spark.

Each case is a run of three rows with one odd column. What libraries cannot hold, they are not asked to: a case names
the ways in which it does not apply.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lexirecall.engines.spark import SparkRun
from lexirecall.errors import LexirecallError
from lexirecall.formats import project
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.source import Source
from lexirecall.manifest import Conventions, Sources

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")
pandas = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
ROLES = {"query": "qid", "document": "docno", "score": "score", "run": "run"}
NOUNS = {"query": "query id", "document": "document id", "score": "score", "run": "run name"}


@dataclass(frozen=True)
class Case:
    """A column, and what it means: the texts of ids, or the positions that scores give, or an error."""

    values: Any
    kind: Any
    means: list[str] | str
    roles: tuple[str, ...] = ("document",)
    without: tuple[str, ...] = field(default=())
    """Ways that cannot hold it, or hold something else; to Spark's own reader of Parquet durations are numbers."""

    def table(self, role: str) -> Any:
        columns = {
            "run": ["s"] * 3,
            "qid": ["q"] * 3,
            "docno": ["a", "b", "c"],
            "score": [3.0, 2.0, 1.0],
        }
        array = pa.array(self.values, self.kind) if not isinstance(self.values, pa.Array) else self.values
        return pa.table({**columns, ROLES[role]: array})


def whole(bits: int, *, is_signed: bool) -> Case:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
    values = [low, high, high // 2]
    kind = getattr(pa, f"{'' if is_signed else 'u'}int{bits}")()
    # Spark has no unsigned integers, and takes those of Parquet in the next larger type
    return Case(values, kind, [*map(str, values)])


def refused(values: Any, kind: Any, what: str, **more: Any) -> Case:
    return Case(values, kind, f"cannot use the column {{column!r}} as {{noun}}s: it holds {what}", **more)


EVERY_ID = ("document", "query", "run")
MISSING = "the {noun} is missing"
FRACTION = "the {noun} is not a whole number: 2.5"
DAY = dt.date(2020, 1, 2)
NOON = dt.datetime(2020, 1, 2, 12)
ALL_SCORES = ("score",)
CASES: dict[str, Case] = {
    **{
        f"{'u' * (not signed)}int{bits}": whole(bits, is_signed=signed)
        for bits in (8, 16, 32, 64)
        for signed in (True, False)
    },
    "small integers around zero": Case([-100, 100, 0], pa.int8(), ["-100", "100", "0"], EVERY_ID),
    "unsigned at the upper end": Case(
        [2**64 - 1, 2**64 - 2, 2**63], pa.uint64(), [str(2**64 - 1), str(2**64 - 2), str(2**63)]
    ),
    "whole floats": Case([7.0, -0.0, -3.0], pa.float64(), ["7", "0", "-3"]),
    "whole small floats": Case([7.0, 2.0**24 - 1, -3.0], pa.float32(), ["7", "16777215", "-3"]),
    "the largest exact float": Case([2.0**53 - 1, 1.0, 2.0], pa.float64(), ["9007199254740991", "1", "2"]),
    "a float beyond 53 bits": Case(
        [1.0, 2.0, 2.0**53], pa.float64(), "the {noun} is too large for its float type: 9007199254740992.0"
    ),
    "a float beyond 24 bits": Case(
        [1.0, 2.0, 2.0**24], pa.float32(), "the {noun} is too large for its float type: 16777216.0"
    ),
    "a huge float": Case([1.0, 2.0, 1e300], pa.float64(), "the {noun} is too large for its float type: 1e+300"),
    "an infinite float": Case([1.0, 2.0, float("inf")], pa.float64(), "the {noun} is not a whole number: inf"),
    "a fraction": Case([1.0, 2.5, 3.0], pa.float64(), FRACTION, EVERY_ID),
    "a small fraction": Case([1.0, 2.5, 3.0], pa.float32(), FRACTION),
    "a gap among floats": Case([1.0, None, 3.0], pa.float64(), MISSING, EVERY_ID),
    "NaN among floats": Case([1.0, float("nan"), 3.0], pa.float64(), MISSING, EVERY_ID),
    "a gap among integers": Case([1, None, 3], pa.int32(), MISSING),
    "a gap among texts": Case(["x", None, "z"], pa.string(), MISSING, EVERY_ID),
    "only gaps": Case([None, None, None], pa.null(), MISSING),
    "decimals": Case([Decimal("7.00"), Decimal("-0.00"), Decimal("12.00")], pa.decimal128(9, 2), ["7", "0", "12"]),
    "long decimals": Case(
        [Decimal(10**37 + 1), Decimal(-(10**37)), Decimal(0)],
        pa.decimal128(38, 0),
        [str(10**37 + 1), str(-(10**37)), "0"],
    ),
    "a fraction among decimals": Case([Decimal("7.00"), Decimal("2.50"), Decimal(1)], pa.decimal128(9, 2), FRACTION),
    "texts": Case(["é", "B", "日本"], pa.string(), ["é", "B", "日本"]),
    "large texts": Case(["é", "B", "日本"], pa.large_string(), ["é", "B", "日本"]),
    **(
        {
            "views of texts": Case(["é", "B" * 20, "日本"], pa.string_view(), ["é", "B" * 20, "日本"]),
            "views of bytes": Case(
                [b"x", "é".encode() * 9, b"z"],
                pa.binary_view(),
                ["x", "é" * 9, "z"],
                without=("polars", "parquet", "spark"),
            ),
            "categories of views": Case(
                pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["x", "y" * 20, "z"], pa.string_view())),
                None,
                ["x", "y" * 20, "z"],
                EVERY_ID,
                without=("parquet", "spark"),
            ),
        }
        if hasattr(pa, "string_view")  # since pyarrow 16
        else {}
    ),
    "texts of numbers": Case(["007", "7.0", "1e3"], pa.string(), ["007", "7.0", "1e3"]),
    "blanks around texts": Case([" x", "x ", "x"], pa.string(), [" x", "x ", "x"]),
    "categories": Case(pa.array(["x", "y", "z"]).dictionary_encode(), None, ["x", "y", "z"], EVERY_ID),
    "categories of integers": Case(pa.array([-7, 300, 0]).dictionary_encode(), None, ["-7", "300", "0"]),
    "categories of fractions": Case(pa.array([7.0, 2.5, 1.0]).dictionary_encode(), None, FRACTION),
    "a gap among categories": Case(pa.array(["x", None, "z"]).dictionary_encode(), None, MISSING),
    "bytes": Case([b"x", "é".encode(), b"z"], pa.binary(), ["x", "é", "z"], EVERY_ID),
    "large bytes": Case([b"x", "é".encode(), b"z"], pa.large_binary(), ["x", "é", "z"]),
    "bytes of one size": Case([b"xx", "é".encode(), b"zz"], pa.binary(2), ["xx", "é", "zz"]),
    "bytes that are not UTF-8": Case([b"x", b"\xff", b"z"], pa.binary(), "the {noun} is not UTF-8 text", EVERY_ID),
    "truth values": refused([True, False, True], pa.bool_(), "truth values"),
    "a gap among truth values": refused([True, None, True], pa.bool_(), "truth values"),
    "dates": refused([DAY] * 3, pa.date32(), "dates", roles=(*EVERY_ID, "score")),
    "times": refused(
        [NOON.time()] * 3, pa.time64("us"), "times of day", roles=("document", "score"), without=("spark",)
    ),
    "timestamps": refused([NOON] * 3, pa.timestamp("us"), "timestamps", roles=(*EVERY_ID, "score")),
    "timestamps of a zone": refused([NOON] * 3, pa.timestamp("us", "UTC"), "timestamps", roles=("document", "score")),
    "durations": refused(
        [dt.timedelta(1)] * 3, pa.duration("us"), "durations", roles=("document", "score"), without=("spark",)
    ),
    "lists": refused([["x"], [], ["y"]], pa.list_(pa.string()), "lists", roles=(*EVERY_ID, "score")),
    "lists of one number": refused([[3.0], [2.0], [1.0]], pa.list_(pa.float64()), "lists", roles=("score",)),
    "structs": refused([{"a": 1}] * 3, pa.struct({"a": pa.int64()}), "structs", roles=("document", "score")),
    "scores of every width": Case([3, -100, 100], pa.int8(), ["c", "a", "b"], ALL_SCORES),
    "large unsigned scores": Case([1, 2**64 - 1, 2**63], pa.uint64(), ["b", "c", "a"], ALL_SCORES),
    "decimal scores": Case(
        [Decimal("0.10"), Decimal("-7.5"), Decimal("0.20")], pa.decimal128(9, 2), ["c", "a", "b"], ALL_SCORES
    ),
    "truth values as scores": Case([False, True, False], pa.bool_(), ["b", "c", "a"], ALL_SCORES),
    "scores in texts": Case([" 2.5", "1e1", "-inf"], pa.string(), ["b", "a", "c"], ALL_SCORES),
    "scores in categories": Case(
        pa.array(["2.5", "1e1", "-inf"]).dictionary_encode(), None, ["b", "a", "c"], ALL_SCORES
    ),
    "scores in categories of numbers": Case(pa.array([2, 3, 1]).dictionary_encode(), None, ["b", "a", "c"], ALL_SCORES),
    "scores in bytes": Case([b"2.5", b"1e1", b"-inf"], pa.binary(), ["b", "a", "c"], ALL_SCORES),
    "more signs of numbers": Case(["+.5", "5.", "-Infinity"], pa.string(), ["b", "a", "c"], ALL_SCORES),
    "a score beyond all numbers": Case(["1e400", "1", "2"], pa.string(), ["a", "c", "b"], ALL_SCORES),
    "a gap among scores": Case([1.0, None, 3.0], pa.float64(), "the score is missing or NaN", ALL_SCORES),
    "NaN among scores": Case([1.0, float("nan"), 3.0], pa.float64(), "the score is missing or NaN", ALL_SCORES),
    "NaN in texts": Case(["1", "-nan", "3"], pa.string(), "the score is missing or NaN", ALL_SCORES),
    "only gaps as scores": Case([None] * 3, pa.null(), "the score is missing or NaN", ALL_SCORES),
    **{
        f"{text} is not a number": Case(
            ["1", text, "3"], pa.string(), f"the score is not a number: {text!r}", ALL_SCORES
        )
        for text in ("high", "1_0", "1d", "0x1p3", "1,5", "١", "")
    },
}

Way = Callable[[Any, Path], Any]


def in_parquet(table: Any, folder: Path) -> str:
    pq.write_table(table, folder / "run.parquet")
    return str(folder / "run.parquet")


@pytest.fixture(scope="module")
def database() -> Iterator[Any]:
    with duckdb.connect() as opened:
        yield opened


WAYS: dict[str, Way] = {
    "pyarrow": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(),
    "pandas of Arrow": lambda table, _: table.to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": lambda table, _: pl.from_arrow(table),
    "parquet": in_parquet,
}


def judgments_of(case: Case, role: str) -> dict[str, dict[str, int]]:
    if isinstance(case.means, list) and role == "document":
        return {"q": dict.fromkeys(case.means, 1)}
    if isinstance(case.means, list) and role == "query":
        return {text: {document: 1} for text, document in zip(case.means, "abc", strict=True)}
    return {"q": {"a": 1, "b": 1, "c": 1}}


def found_in(positions: Any, role: str) -> list[str]:
    """Return the runs, or the queries that were found, or else the documents in the order of the run."""
    if role == "run":
        return [*positions.runs]
    if role == "query":
        return [text for text, number in zip(positions.queries, positions.num_found[0], strict=True) if number]
    return [positions.judgments.documents[i].decode() for i in positions.found.documents.tolist()]


def outcome(read: Callable[..., Any], case: Case, role: str) -> Any:
    """Return what a case means when it is read so, or what is wrong with it."""
    try:
        found = found_in(read(judgments_of(case, role)), role)
    except LexirecallError as error:
        return said(error)
    return sorted(found) if role == "run" else found


def said(error: LexirecallError) -> str:
    """Return what an error says, less the source and the rows it speaks of."""
    where = r"row [0-9]+: |((run|query|document) '[^']*'(, )?)+: |in [0-9]+ of [0-9]+ rows?(, such as [^:]*)?: "
    return re.sub(rf"^.*?(:[0-9]+)?: ({where})?", "", error.problem)


def meaning(case: Case, role: str) -> Any:
    if isinstance(case.means, str):
        return case.means.format(noun=NOUNS[role], column=ROLES[role])
    return sorted(case.means) if role == "run" else case.means


EVERY = [(name, role) for name, case in CASES.items() for role in case.roles]


def each_case(ways: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test on every case, in each of these ways that can hold it."""
    cases = [(way, *each) for way in ways for each in EVERY if way not in CASES[each[0]].without]
    return pytest.mark.parametrize(("way", "name", "role"), cases, ids=lambda value: value)


@each_case(WAYS)
def test_a_column_means_the_same_in_every_library(tmp_path: Path, way: str, name: str, role: str) -> None:
    case = CASES[name]
    if way in ("polars", "parquet") and "categories of" in name and not hasattr(pl, "CompatLevel"):
        pytest.skip("this version of polars has only texts in dictionaries, and says so")
    run = WAYS[way](case.table(role), tmp_path)
    assert outcome(lambda judged: project(judged, run), case, role) == meaning(case, role)


@each_case(WAYS)
def test_a_run_without_a_judged_document_shows_its_ids_whatever_they_are(
    tmp_path: Path, way: str, name: str, role: str
) -> None:
    """Examples of ids are looked up in the table itself, which not every type of column could do."""
    case = CASES[name]
    run = WAYS[way](case.table(role), tmp_path)
    if isinstance(case.means, str):
        with pytest.raises(LexirecallError):
            project({"q": {"nothing": 1}}, run)
        return
    queries = {*case.means} if role == "query" else {"q"}
    mismatches = project({query: {"nothing": 1} for query in queries}, run).mismatches
    shown = {each for mismatch in mismatches for each in mismatch.retrieved}
    assert shown <= {*(case.means if role == "document" else "abc")}
    assert len(mismatches) == (len({*case.means}) if role == "run" else 1)
    assert shown


@each_case(["pyarrow", "parquet"])
def test_a_column_means_the_same_in_duckdb(database: Any, tmp_path: Path, way: str, name: str, role: str) -> None:
    case = CASES[name]
    run = WAYS[way](case.table(role), tmp_path)
    read = partial(project, runs=run, engine="duckdb", engine_options={"connection": database})
    assert outcome(read, case, role) == meaning(case, role)


OF_SPARK = [(name, role) for name, role in EVERY if not {"spark", "parquet"} & {*CASES[name].without}]


@pytest.fixture(scope="module")
def in_spark(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Any]:
    """Frames of the cases, which are columns of one file of Parquet."""
    columns = {f"{name} {role}": CASES[name].table(role)[ROLES[role]] for name, role in OF_SPARK}
    path = tmp_path_factory.mktemp("spark") / "cases.parquet"
    texts = CASES["texts"].table("run")
    pq.write_table(pa.table({**columns, **dict(zip(texts.column_names, texts.columns, strict=True))}), path)
    frame = spark.read.parquet(str(path))

    def frame_of(name: str, role: str) -> Any:
        roles = {each: column for each, column in ROLES.items() if each != "run" or role == "run"}
        given = (f"`{name} {role}` AS {column}" if each == role else column for each, column in roles.items())
        return frame.selectExpr(*given)

    return frame_of


@pytest.mark.parametrize(("name", "role"), OF_SPARK)
def test_a_column_means_the_same_in_spark(in_spark: Callable[[str, str], Any], name: str, role: str) -> None:
    case, frame = CASES[name], in_spark(name, role)

    def read(judged: Any) -> Any:
        with SparkRun.opened(NamedRun("run", frame), Conventions(), Sources()) as form:
            return project(judged, form.rows.frame.toArrow().rename_columns([ROLES[each] for each in form.rows.kinds]))

    assert outcome(read, case, role) == meaning(case, role)


def test_columns_mean_the_same_on_the_workers(in_spark: Callable[[str, str], Any]) -> None:
    """Those of each type once, in every role; errors are the same because the same reader finds them."""
    seen_types = set()
    for name, role in OF_SPARK:
        case, frame = CASES[name], in_spark(name, role)
        kind = role, frame.schema[ROLES[role]].dataType.simpleString()
        if isinstance(case.means, list) and kind not in seen_types:
            seen_types.add(kind)
            assert outcome(lambda judged, frame=frame: project(judged, frame), case, role) == meaning(case, role)
    assert len(seen_types) > 20


# CSV


CELLS: dict[str, tuple[bytes, list[str] | str]] = {
    "plain": (b"qid,docno,score\nq,a,2\nq,b,1\n", ["a", "b"]),
    "blanks": (b"qid , docno,\tscore\n q,a , 2\nq ,\tb\t,1 \n", ["a", "b"]),
    "blanks within quotes": (b'"qid","docno "," score"\n"q "," a","2 "\nq,b,1\n', ["a", "b"]),
    "CR": (b"qid,docno,score\rq,a,2\r\rq,b,1\r", ["a", "b"]),
    "CRLF": (b"qid,docno,score\r\nq,a,2\r\n\r\nq,b,1\r\n", ["a", "b"]),
    "byte order mark": (b"\xef\xbb\xbfqid,docno,score\nq,a,2\nq,b,1", ["a", "b"]),
    "tabs": (b"qid\tdocno\tscore\nq\ta,b\t2\n", ["a,b"]),
    "semicolons": (b"qid;docno;score\nq;a,b;2\n", ["a,b"]),
    "quotes": (b'qid,docno,score\nq,"say ""x"", y",2\nq,"new\nline",1\n', ['say "x", y', "new\nline"]),
    "rows of separators": (b"qid,docno,score\nq,a,2\n,,\n , ,\nq,b,1\n", ["a", "b"]),
    "unused columns of one name": (b"qid,docno,score,,\nq,a,2,x,\nq,b,1,,y\n", ["a", "b"]),
    "backslashes": (b'qid,docno,score\nq,a\\,2\nq,"b\\",1\n', ["a\\", "b\\"]),
    "a long cell": (b"qid,docno,score\nq,%s,2\n" % (b"a" * 200_000), ["a" * 200_000]),
    "numbers": (b"qid,docno,score\nq,007,2\nq,7.0,1e0\nq,7,+.5\n", ["007", "7.0", "7"]),
    "a header only": (b"qid,docno,score\n", "the table has no rows"),
    "an empty cell": (b"qid,docno,score\nq,,1\n", "the document id is missing"),
    "a quoted empty cell": (b'qid,docno,score\nq,"",1\n', "the document id is missing"),
    "a blank cell": (b"qid,docno,score\nq, ,1\n", "the document id is missing"),
    "a missing score": (b"qid,docno,score\nq,a,\n", "the score is missing or NaN"),
    "NaN": (b"qid,docno,score\nq,a,nan\n", "the score is missing or NaN"),
    "not a number": (b"qid,docno,score\nq,a,1_0\n", "the score is not a number: '1_0'"),
    "a score of long text": (b"qid,docno,score\nq,%s,x\n" % (b"a" * 200_000), "the score is not a number: 'x'"),
    "columns of one name": (b"qid,docno,score,score\nq,a,1,2\n", "2 columns are called 'score'"),
    "columns of nearly one name": (
        b"qid,docno,score,SCORE\nq,a,1,2\n",
        "the scores may be in the column 'score' or 'SCORE'",
    ),
    "too few cells": (b"qid,docno,score\nq,a,1\nq,b\n", "the row has 2 cells, but the header has 3: 'q,b'"),
    "too many cells": (b"qid,docno,score\nq,a,1,2\n", "the row has 4 cells, but the header has 3: 'q,a,1,2'"),
    "a line of blanks": (b"qid,docno,score\n  \nq,a,1\n", "the row has 1 cell, but the header has 3: '  '"),
    "a blank before quotes": (b'qid,docno,score\nq, "a",1\n', "a quotation mark is inside a cell: 'q, \"a\",1'"),
    "a blank after quotes": (b'qid,docno,score\nq,"a" ,1\n', "a quotation mark is inside a cell: 'q,\"a\" ,1'"),
    "quotes within a cell": (b'qid,docno,score\nq,a"b",1\n', "a quotation mark is inside a cell: 'q,a\"b\",1'"),
    "an open quote": (b'qid,docno,score\nq,a,1\nq,"b,1\n', "a quotation mark is never closed: 'q,\"b,1'"),
    "a carriage return": (
        b"qid,docno,score\nq,a\rb,1\n",
        "a line end of another kind is within the row: 'q,a\\rb,1'",
    ),
    "not UTF-8": (b"qid,docno,score\nq,\xff,1\n", "not UTF-8 text: b'q,\\xff,1'"),
}


def written(tmp_path: Path, name: str) -> Path:
    path = tmp_path / "run.csv"
    path.write_bytes(CELLS[name][0])
    return path


def cells_in(read: Callable[..., Any], name: str) -> Any:
    means = CELLS[name][1]
    try:
        return found_in(read({"q": dict.fromkeys(means if isinstance(means, list) else ["a"], 1)}), "document")
    except LexirecallError as error:
        return said(error)


@pytest.mark.parametrize("name", CELLS)
def test_cells_mean_the_same_in_memory_and_in_duckdb(database: Any, tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    assert cells_in(lambda judged: project(judged, path), name) == CELLS[name][1]
    by_duckdb = partial(project, runs=path, engine="duckdb", engine_options={"connection": database})
    assert cells_in(by_duckdb, name) == CELLS[name][1]


@pytest.mark.parametrize("name", CELLS)
def test_cells_mean_the_same_in_spark(spark: Any, tmp_path: Path, name: str) -> None:
    assert spark is not None
    path = str(written(tmp_path, name))

    def read(judged: Any) -> Any:
        with SparkRun.opened(NamedRun("run", Source(path)), Conventions(), Sources(engine="spark")) as form:
            return project(judged, form.rows.frame.toArrow().rename_columns(["qid", "docno", "score"]))

    assert cells_in(read, name) == CELLS[name][1]


def test_what_spark_finds_in_files_reaches_the_reader(spark: Any, tmp_path: Path) -> None:
    assert spark is not None
    for name in ("blanks", "a missing score", "NaN"):
        path = written(tmp_path, name)
        assert cells_in(lambda judged, path=path: project(judged, path, engine="spark"), name) == CELLS[name][1]

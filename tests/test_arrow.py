"""Tables as batches of Arrow: the compiled reader finds what the readable one finds, and leaves it the rest."""

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from lexirecall import LexirecallError, load_judgments, project
from lexirecall.fields import choices_of
from lexirecall.formats import arrow, labels, rows, tableruns
from lexirecall.formats.arrow import batches_of, judgments_in_batches, project_batches
from lexirecall.formats.columns import find_columns
from lexirecall.formats.labels import judgments_from_table, judgments_in_rows
from lexirecall.formats.roletable import open_frame
from lexirecall.formats.rows import project_rows
from lexirecall.judgments import PackedIds
from lexirecall.manifest import Conventions
from lexirecall.reader import is_built
from strategies import quick

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built: there was no C compiler")

LONG = "a document with more than twelve bytes"
QRELS: dict[str, dict[str, float]] = {
    "q1": {"a": 1, "b": 2, "c": 0, "d": -1, "é": 1, LONG: 1, "7": 3},
    "7": {"a": 1, "7": 1, "-12": 0.5, "18446744073709551615": 2},
    "-1": {"é": 2, "x": 1},
    "ü": {"7": 0},
}
JUDGMENTS = load_judgments(QRELS)

TEXTS = ("a", "b", "c", "d", "é", LONG, LONG + "s", "7", "x", "", "日本", "a\0b")
Make = Callable[[pl.DataFrame], Any]


def in_pyarrow(kind: Callable[[pa.DataType], pa.DataType]) -> Make:
    """Return what makes the columns of ids another type of pyarrow; numbers stay as they are."""

    def make(frame: pl.DataFrame) -> Any:
        table = frame.to_arrow()
        fields = [f.with_type(kind(f.type)) if pa.types.is_large_string(f.type) else f for f in table.schema]
        columns = [pa.array(table[f.name].to_pylist(), f.type) for f in fields]
        return pa.table(columns, schema=pa.schema(fields))

    return make


def in_pieces(frame: pl.DataFrame) -> Any:
    """Return a table in several chunks, none of which begins where its buffers do."""
    table = frame.to_arrow()
    starts = range(0, len(table), 2)
    return pa.concat_tables(
        [pa.concat_tables([table, table]).combine_chunks()[s : min(s + 2, len(table))] for s in starts]
    )


FRAMES: dict[str, Make] = {
    "polars": lambda frame: frame,
    "polars, categories": lambda frame: frame.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "pyarrow, string": in_pyarrow(lambda _: pa.string()),
    "pyarrow, large_string": in_pyarrow(lambda _: pa.large_string()),
    "pyarrow, dictionary": in_pyarrow(lambda _: pa.dictionary(pa.int8(), pa.string())),
    "pyarrow, in pieces": in_pieces,
    "pandas": lambda frame: frame.to_pandas(),
    "pandas, objects": lambda frame: frame.to_pandas().astype(object),
    "pandas, categories": lambda frame: frame.with_columns(pl.col(pl.String).cast(pl.Categorical)).to_pandas(),
    "pandas, pyarrow": lambda frame: frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype),
}  # fmt: skip
SCORES = st.sampled_from([0.0, -0.0, 1.0, 1.0, 2.0, -3.5, 0.50000000001, 0.50000000002, 16777217.0, 1e39, float("inf")])


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Make a table of runs: mostly with the rows of a ranking together; ids are text, or integers of any width."""
    is_text = draw(st.booleans())
    runs, queries = st.sampled_from(["bm25", "knn", "ü"]), st.sampled_from(["q1", "q1", "7", "-1", "ü", "q9", ""])
    documents = st.sampled_from(TEXTS)
    if not is_text:
        queries, documents = st.sampled_from([7, 7, -1, 5]), st.sampled_from([7, -12, 0, 120, -128, 127])
    given = draw(st.lists(st.tuples(runs, queries, documents, SCORES), min_size=1, max_size=40))
    if draw(st.integers(0, 4)):
        given = list({row[:3]: row for row in given}.values())
    if draw(st.integers(0, 4)):
        order = draw(st.sampled_from([(0, 1), (1, 0), (1, 0, 3)]))
        given.sort(key=lambda row: [str(row[place]) for place in order])
    names = {"run": pl.String, "query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    if not is_text:
        names["query_id"], names["doc_id"] = draw(st.sampled_from([pl.Int8, pl.Int32, pl.Int64])), pl.Int16
    frame = pl.DataFrame(given, names, orient="row")
    if draw(st.booleans()):
        frame = frame.drop("run")
    if draw(st.integers(0, 3)) == 0:
        return frame.with_columns(
            pl.Series("rank", range(len(frame)), draw(st.sampled_from([pl.UInt8, pl.Int64])))
        ).drop("score")
    return frame.with_columns(pl.col("score").cast(draw(st.sampled_from([pl.Float64, pl.Float64, pl.Float32]))))


CONVENTIONS = st.builds(
    Conventions,
    ties=st.sampled_from(choices_of(Conventions, "ties")),
    score_dtype=st.sampled_from(choices_of(Conventions, "score_dtype")),
    duplicates=st.sampled_from(choices_of(Conventions, "duplicates")),
).flatmap(  # both at once have no closed form under some rules
    lambda asked: st.sampled_from(
        [
            asked,
            dataclasses.replace(asked, depth=1),
            dataclasses.replace(asked, depth=3),
            dataclasses.replace(asked, judged_only=True),
        ]
    )
)


def plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, PackedIds):
        return list(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def outcome(read: Callable[[], Any]) -> Any:
    """Return what a reader gave, as plain values, or what it said."""
    try:
        return plain(read())
    except Exception as error:
        return type(error), str(error)


def compiled(frame: Any, conventions: Conventions | None = None, *, is_given: bool = False) -> Any:
    """Return what the compiled reader finds in a frame; None if it does not know it."""
    table = open_frame(frame, "run", name="run")
    if (batches := batches_of(table.frame)) is None:
        return None
    asked = conventions or Conventions()
    return project_batches(batches, table.columns, "mine", JUDGMENTS, asked, needs_judged=False, is_given=is_given)


def readable(frame: Any, conventions: Conventions | None = None, *, is_given: bool = False) -> Any:
    """Return what the readable one finds, or says."""
    table = open_frame(frame, "run", name="run")
    asked = conventions or Conventions()
    return project_rows(table, "mine", JUDGMENTS, asked, needs_judged=False, is_given=is_given)


SCATTERED = pl.DataFrame({"qid": ["q1", "7", "q1"], "docno": ["a", "a", "b"], "score": [1.0, 1.0, 1.0]})


@quick(300)
@given(tables(), st.sampled_from([*FRAMES]), CONVENTIONS, st.booleans(), st.booleans())
@example(SCATTERED, "polars", Conventions(), False, False)
def test_the_compiled_reader_finds_what_the_readable_one_finds(
    frame: pl.DataFrame, kind: str, conventions: Conventions, needs_judged: bool, is_given: bool
) -> None:
    table = open_frame(FRAMES[kind](frame), "run", name="run")
    rest: arrow.TableReading = {"needs_judged": needs_judged, "is_given": is_given}
    batches = batches_of(table.frame)
    assert batches is not None
    found = project_batches(batches, table.columns, "mine", JUDGMENTS, conventions, **rest)
    expected = outcome(lambda: project_rows(table, "mine", JUDGMENTS, conventions, **rest))
    assert found is None or plain(found) == expected
    assert outcome(lambda: rows.project_table(table, "mine", JUDGMENTS, conventions, **rest)) == expected
    if is_grouped(frame) and isinstance(expected, list) and not any(each["num_duplicates"] for each in expected):
        assert found is not None


def is_grouped(frame: pl.DataFrame) -> bool:
    """Tell whether the rows of every ranking of a judged query are together."""
    keys = [*frame.select(name for name in ("run", "qid", "query_id") if name in frame.columns).iter_rows()]
    starts = [key for place, key in enumerate(keys) if place == 0 or keys[place - 1] != key]
    return len(starts) == len({*starts})


GRADES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.0, -1.0, 0.5, 2.0**53, -1e300, float("inf"), float("nan")])


@st.composite
def judged_tables(draw: st.DrawFn) -> pl.DataFrame:
    """Make a table of judgments: mostly with the rows of a query together, and each document once."""
    frame = draw(tables()).select("query_id", "doc_id")
    if draw(st.integers(0, 4)):
        frame = frame.sort("query_id", maintain_order=True)
    if draw(st.integers(0, 3)) == 0:
        return frame
    grades = draw(st.lists(GRADES | st.sampled_from([1.0, 2.0]), min_size=len(frame), max_size=len(frame)))
    frame = frame.with_columns(pl.Series(draw(st.sampled_from(["rel", "score"])), grades))
    return frame.unique(["query_id", "doc_id"], maintain_order=True) if draw(st.booleans()) else frame


@quick(300)
@given(judged_tables(), st.sampled_from([*FRAMES]))
def test_it_finds_the_same_judgments(frame: pl.DataFrame, kind: str) -> None:
    table = open_frame(FRAMES[kind](frame), "qrels", name="qrels")
    batches = batches_of(table.frame)
    assert batches is not None
    found = judgments_in_batches(batches, table.columns, "qrels")
    expected = outcome(lambda: judgments_in_rows(table))
    if found is not None:
        assert plain(found) | {"query_type": None} == expected | {"query_type": None}
    assert outcome(lambda: judgments_from_table(table)) == expected
    starts = [*frame.select(pl.col("query_id").rle().struct.field("value")).to_series()]
    if isinstance(expected, dict) and len(starts) == len({*starts}):
        assert found is not None


@pytest.mark.parametrize("kind", FRAMES)
def test_judgments_of_every_library_go_through_the_compiled_reader(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "judgments_in_rows", None)
    frame = pl.DataFrame({"qid": ["q", "q", "r"], "docno": ["a", LONG, "é"], "rel": [0, 2, 1]})
    judgments = load_judgments(FRAMES[kind](frame))
    assert judgments.queries == ("q", "r")
    assert list(judgments.documents) == [LONG.encode(), b"a", "é".encode()]
    assert judgments.grades.tolist() == [2, 0, 1]
    assert load_judgments(frame.with_columns(qid=pl.Series([7, 7, 8]))).query_type == "int64"
    assert not load_judgments(frame.drop("rel")).has_grades


GROUPED = pl.DataFrame(
    {
        "run": ["knn", "knn", "knn", "bm25", "bm25", "bm25"],
        "qid": ["q1", "q1", "7", "q1", "7", "7"],
        "docno": ["a", LONG, "é", "b", "a", "x"],
        "score": [2.0, 1.0, 1.0, 0.5, 3.0, 4.0],
    }
)


@pytest.fixture
def only_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whatever the compiled reader does not know fail."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the compiled reader does not know this table")

    monkeypatch.setattr(rows, "project_rows", refuse)
    monkeypatch.setattr(tableruns, "project_rows", refuse)


@pytest.mark.usefixtures("only_compiled")
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_library_go_through_the_compiled_reader(kind: str) -> None:
    positions = project(QRELS, FRAMES[kind](GROUPED))
    assert positions.runs == ("knn", "bm25")


@pytest.mark.usefixtures("only_compiled")
def test_so_do_lazy_frames_and_relations() -> None:
    import duckdb

    runs = GROUPED.to_arrow()  # noqa: F841 - DuckDB finds it by its name
    relation = duckdb.connect().sql("SELECT * FROM runs")
    assert plain(project(QRELS, GROUPED.lazy()).found) == plain(project(QRELS, relation).found)


@pytest.mark.usefixtures("only_compiled")
def test_parquet_goes_through_it_without_being_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = project(QRELS, GROUPED)
    GROUPED.write_parquet(tmp_path / "runs.parquet")
    monkeypatch.setattr("lexirecall.formats.tablefiles.open_tables", None)
    assert plain(project(QRELS, tmp_path / "runs.parquet").found) == plain(expected.found)


@pytest.mark.usefixtures("only_compiled")
def test_so_do_folders_with_columns_in_their_names(tmp_path: Path) -> None:
    for name in ("knn", "bm25"):
        (tmp_path / "runs" / f"system={name}").mkdir(parents=True)
        rows = GROUPED.filter(pl.col("run") == name).drop("run")
        rows.write_parquet(tmp_path / "runs" / f"system={name}" / "part.parquet", row_group_size=2)
    positions = project(QRELS, tmp_path / "runs")
    assert plain(positions.found) == plain(project(QRELS, GROUPED.sort("run", maintain_order=True)).found)
    assert positions.runs == ("bm25", "knn")


def test_a_file_that_needs_more_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scattered = GROUPED.sort("docno")
    scattered.write_parquet(tmp_path / "runs.parquet")
    found = plain(project(QRELS, tmp_path / "runs.parquet"))
    monkeypatch.setenv("LEXIRECALL_READER", "python")
    assert found == plain(project(QRELS, tmp_path / "runs.parquet"))


def test_packed_parquet_and_that_of_a_stranger_is_read_as_ever(tmp_path: Path) -> None:
    import gzip

    GROUPED.write_parquet(content := io.BytesIO())
    (tmp_path / "runs.parquet.gz").write_bytes(gzip.compress(content.getvalue()))
    GROUPED.rename({"docno": "x", "qid": "y"}).write_parquet(tmp_path / "other.parquet")
    assert len(project(QRELS, tmp_path / "runs.parquet.gz").runs) == 2
    with pytest.raises(LexirecallError, match="found no column of query ids and document ids"):
        project(QRELS, tmp_path / "other.parquet")


ONE = pl.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "b"], "score": [2.0, 1.0]})
UNKNOWN: dict[str, Any] = {
    "a missing query": ONE.with_columns(qid=pl.Series(["q1", None])),
    "a missing document": ONE.with_columns(docno=pl.Series([None, "b"])),
    "a missing document of a query without judgments": ONE.with_columns(qid=pl.lit("q9"), docno=pl.Series(["a", None])),
    "a missing score": ONE.with_columns(score=pl.Series([1.0, None])),
    "NaN": ONE.with_columns(score=pl.Series([1.0, float("nan")])),
    "NaN for a query without judgments": ONE.with_columns(qid=pl.lit("q9"), score=pl.lit(float("nan"))),
    "a document twice": ONE.with_columns(docno=pl.lit("a")),
    "scattered rows": pl.concat([ONE, ONE.with_columns(qid=pl.lit("7")), ONE.with_columns(docno=pl.lit("é"))]),
    "scores as text": ONE.with_columns(score=pl.Series(["2", "1"])),
    "truth values as scores": ONE.with_columns(score=pl.Series([True, False])),
    "decimals as scores": ONE.with_columns(pl.col("score").cast(pl.Decimal(10, 2))),
    "floats as ids": ONE.with_columns(docno=pl.Series([7.0, 8.0])),
    "fractions as ids": ONE.with_columns(docno=pl.Series([7.0, 8.5])),
    "dates as ids": ONE.with_columns(docno=pl.Series([0, 1]).cast(pl.Date)),
    "bytes as ids": ONE.with_columns(docno=pl.Series([b"a", b"b"])),
    "a missing category": ONE.with_columns(qid=pl.Series(["q1", None], dtype=pl.Categorical)),
    "missing in a dictionary": pa.table(
        {"qid": ["q1"], "score": [1.0], "docno": pa.DictionaryArray.from_arrays([1], ["a", None])}
    ),
    "categories of numbers": ONE.to_pandas().assign(docno=pd.Series([7, 8], dtype="category")),
    "objects of several types": ONE.to_pandas().assign(docno=pd.Series(["a", 7], dtype=object)),
    "objects that are not ids": ONE.to_pandas().assign(docno=pd.Series(["a", 2.5], dtype=object)),
    "truth values among objects": ONE.to_pandas().assign(docno=pd.Series([7, True], dtype=object)),
    "half of a character": ONE.to_pandas().assign(docno=pd.Series(["a", "\ud800"], dtype=object)),
    "bytes among objects": ONE.to_pandas().assign(docno=pd.Series([b"a", b"b"], dtype=object)),
    "times": ONE.to_pandas().assign(docno=pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]))),
    "an odd name": ONE.rename({"docno": "doc_id"}).with_columns(pl.col("score").alias("a\0b")),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_whatever_it_does_not_know_is_left_to_the_readable_reader(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = UNKNOWN[kind]
    assert kind == "an odd name" or compiled(frame) is None
    with_both = outcome(lambda: project(QRELS, frame))
    monkeypatch.setenv("LEXIRECALL_READER", "python")
    assert with_both == outcome(lambda: project(QRELS, frame))


def test_a_name_is_for_one_run_only() -> None:
    assert compiled(GROUPED, is_given=True) is None
    (alone,) = compiled(GROUPED.filter(pl.col("run") == "knn"), is_given=True)
    assert alone.name == "mine"


def text_column(texts: list[bytes], kind: pa.DataType) -> Any:
    """Return a column of texts that nobody has checked."""
    return pa.array(texts, pa.large_binary() if kind == pa.large_string() else pa.binary()).view(kind)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("document", "is_known"),
    [
        ("é".encode(), True), ("日本".encode(), True), ("😀".encode(), True), ("\U0010ffff".encode(), True),
        (b"\xff", False), (b"\xc3", False), (b"\xc0\x80", False), (b"\xe0\x80\x80", False), (b"\xed\xa0\x80", False),
        (b"\xf4\x90\x80\x80", False), (b"\xf0\x80\x80\x80", False), (b"a\x80", False), (b"\xe6\x97", False),
    ],
)  # fmt: skip
def test_texts_must_be_utf8(kind: pa.DataType, document: bytes, is_known: bool) -> None:
    for texts in ([document, b"b"], [b"b", document + b" and more than twelve bytes"]):
        table = pa.table({"qid": ["q1", "q1"], "docno": text_column(texts, kind), "score": [2.0, 1.0]})
        assert (compiled(table) is not None) == is_known


def test_a_number_outside_a_dictionary_is_not_followed() -> None:
    for number in (2, 127, -1):
        numbers = pa.py_buffer(np.array([0, number], np.int8))
        indices = pa.Array.from_buffers(pa.int8(), 2, [None, numbers])
        column = pa.DictionaryArray.from_arrays(indices, ["a", "b"], safe=False)
        assert compiled_table(pa.table({"qid": ["q1", "q1"], "docno": column, "score": [2.0, 1.0]})) is None


def compiled_table(table: Any) -> Any:
    """Return what the compiled reader finds in something with a stream, without any look at it before."""
    columns = find_columns(["qid", "docno", "score"], "run", source="run")
    return project_batches([table], columns, "mine", JUDGMENTS, Conventions(), needs_judged=False, is_given=False)


@pytest.mark.skipif(not hasattr(pl, "CompatLevel"), reason="this version of polars gives no views")
def test_views_of_text_are_known_with_their_bytes_inside_and_outside() -> None:
    table = ONE.with_columns(docno=pl.Series(["twelve bytes", LONG])).to_arrow(compat_level=pl.CompatLevel.newest())
    assert str(table.schema.field("docno").type) == "string_view"
    (found,) = compiled_table(table)
    assert found.found.positions.tolist() == [2]


def test_types_that_mean_something_else_are_not_known() -> None:
    class Coloured(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(pa.string(), "tests.coloured")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

    column = pa.ExtensionArray.from_storage(Coloured(), pa.array(["a", "b"]))
    table = pa.table({"qid": ["q1", "q1"], "docno": column, "score": [2.0, 1.0]})
    assert compiled_table(table) is None
    noted = pa.field("docno", pa.string(), metadata={"ARROW": "a", "note": "ARROW:extension:name"})
    schema = pa.schema([("qid", pa.string()), noted, ("score", pa.float64())])
    assert compiled_table(pa.table({"qid": ["q1"], "docno": ["a"], "score": [1.0]}, schema=schema)) is not None


@pytest.mark.skipif(not hasattr(pa.ChunkedArray, "__arrow_c_stream__"), reason="a table is the only stream of pyarrow")
def test_a_struct_in_which_rows_are_missing_or_that_begins_later() -> None:
    struct = pa.array([{"qid": "q1", "docno": name, "score": 1.0} for name in ("x", "y", "a")])

    class Later:
        """The last rows of a struct, as libraries other than pyarrow hand them over."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return pa.chunked_array([struct[1:]]).__arrow_c_stream__()

    (found,) = compiled_table(Later())
    assert found.num_retrieved.tolist() == [2, 0, 0, 0]
    missing = pa.chunked_array([pa.array([None, *struct.to_pylist()], struct.type)])
    assert compiled_table(missing) is None
    assert compiled_table(pa.chunked_array([[1, 2]])) is None  # not a table


def test_columns_with_the_same_name_or_none_are_not_known() -> None:
    names = ["qid", "docno", "score", "score"]
    twice = pa.Table.from_arrays([pa.array(values) for values in (["q1"], ["a"], [1.0], [2.0])], names)
    assert compiled_table(twice) is None
    assert compiled_table(pa.table({"qid": ["q1"], "docno": ["a"]})) is None


def test_nothing_is_found_in_no_rows() -> None:
    assert compiled_table(pa.table({"qid": ["q1"], "docno": ["a"], "score": [1.0]})[:0]) is None


def test_a_stream_that_breaks_off_is_left_to_the_readable_reader() -> None:
    def batches() -> Any:
        yield ONE.to_arrow().to_batches()[0]
        raise OSError("the disk is gone")

    schema = ONE.to_arrow().schema
    assert compiled_table(pa.RecordBatchReader.from_batches(schema, batches())) is None


def test_memory_that_is_gone_is_said() -> None:
    class Large:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            raise MemoryError

    with pytest.raises(MemoryError):
        compiled_table(Large())


def new_table(**changed: Any) -> Any:
    """Return a reader of the module itself; arguments may be changed."""
    from lexirecall import _native

    arguments: dict[str, Any] = {
        "query_ids": b"q1", "query_borders": np.array([0, 2]), "offsets": np.array([0, 1]),
        "num_tracked": np.array([1]), "document_ids": b"a", "document_borders": np.array([0, 1]), "grades": np.ones(1),
        "units": None, "key": 1, "ties": 0, "float32": False, "is_rank": False, "run": None, "query": "qid",
        "document": "docno", "score": "score",
    }  # fmt: skip
    return _native.new_table(*(arguments | changed).values())


@pytest.mark.parametrize(
    "changed",
    [
        {"query_borders": np.array([0, 3])}, {"query_borders": np.array([0, 1, 2])},
        {"offsets": np.array([0, 2])}, {"offsets": np.array([1, 1])}, {"num_tracked": np.array([2])},
        {"num_tracked": np.array([-1])}, {"document_borders": np.array([0, -1])}, {"grades": np.ones(2)},
        {"num_tracked": np.array([1, 1])}, {"document_ids": b""}, {"offsets": b""},
    ],
)  # fmt: skip
def test_judgments_that_do_not_fit_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"of the judgments|whole words|tracked"):
        new_table(**changed)


def test_a_wrong_caller_gets_an_exception() -> None:
    from lexirecall import _native

    table, stream = new_table(), ONE.to_arrow().__arrow_c_stream__()
    assert _native.feed_table(table, stream) == 0
    for wrong in (table, b"", None):
        with pytest.raises((ValueError, TypeError)):
            _native.feed_table(table, wrong)
    with pytest.raises((ValueError, TypeError)):
        _native.feed_table(stream, stream)
    used = ONE.to_arrow().__arrow_c_stream__()
    pa.RecordBatchReader._import_from_c_capsule(used)
    with pytest.raises(ValueError, match="used up"):
        _native.feed_table(table, used)
    assert _native.finish_table(table) == 0
    assert _native.table(table)[-1] == 2
    with pytest.raises(TypeError, match="this is a table of runs"):
        _native.judgment_table(table)
    for ask in (_native.table, _native.repeated_rows, _native.forget_ranking):
        with pytest.raises(TypeError, match="this is a table of judgments"):
            ask(_native.new_judgment_table(1, False, "qid", "docno", None))
    with pytest.raises(TypeError):
        new_table(score=None)


def test_rankings_go_on_in_the_next_batch() -> None:
    whole = pl.DataFrame({"qid": ["q1"] * 5, "docno": [*"xyabc"], "score": [1.0, 5.0, 3.0, 3.0, 2.0]})
    table = open_frame(whole, "run", name="run")
    parts = [part.to_arrow() for part in (whole[:1], whole[1:4], whole[4:])]
    rest: arrow.TableReading = {"needs_judged": True, "is_given": False}
    in_parts = project_batches(parts, table.columns, "mine", JUDGMENTS, Conventions(), **rest)
    at_once = project_rows(table, "mine", JUDGMENTS, Conventions(), **rest)
    assert plain(in_parts) == plain(at_once)


def test_a_column_of_pandas_may_change_its_type_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "BATCH", 2)
    frame = pd.DataFrame(
        {"qid": ["q1"] * 4, "docno": pd.Series([7, 8, "a", "b"], dtype=object), "score": [4.0, 3, 2, 1]}
    )
    assert plain(compiled(frame)) == plain(readable(frame))


def test_without_pyarrow_pandas_is_read_by_the_readable_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = nw.from_native(ONE.to_pandas())
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert batches_of(frame) is None


def test_the_python_reader_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEXIRECALL_READER", "python")
    monkeypatch.setattr(rows, "project_batches", None)
    monkeypatch.setattr(tableruns, "project_batches", None)
    parquet.write_table(ONE.to_arrow(), tmp_path / "one.parquet")
    assert plain(project(QRELS, ONE).found) == plain(project(QRELS, tmp_path / "one.parquet").found)

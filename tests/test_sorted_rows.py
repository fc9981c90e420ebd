"""Sorted rows: what is streamed ranking by ranking is what the whole table gives, and so is what is said of it."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import LexirecallError, load_judgments
from lexirecall.fields import choices_of
from lexirecall.formats import sortedrows
from lexirecall.formats.assembly import SortedRankings, runs_of
from lexirecall.formats.columns import Columns, find_columns
from lexirecall.formats.roletable import open_frame
from lexirecall.formats.rows import project_rows, read_rows
from lexirecall.formats.sortedrows import read_sorted, whole_rankings
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.reader import READERS, VARIABLE, is_built
from lexirecall.units.unitmap import UnitMap
from strategies import quick
from test_arrow import SCORES, plain

LANES = READERS if is_built() else ("python",)
QUERIES, UNKNOWN = ("7", "-1", "300", "5"), ("8", "9")
DOCUMENTS = ("7", "-12", "0", "120", "127", "31", "32", "1")
JUDGMENTS = load_judgments(
    {
        "7": {"7": 1, "-12": 2, "0": 0, "120": -1, "1": 1},
        "300": {"7": 1, "31": 0.5},
        "-1": {"32": 2, "127": 1, "0": 1},
        "5": {"1": 0},
    }
)
PLACES: dict[str, Any] = {"place_of": lambda rows, row: ("run", f"row {rows.column('row')[row].as_py():,}")}

Cells = list[str]


def as_dictionary(cells: Cells) -> pa.Array:
    """Return categories, of which one is missing and is not used."""
    values = [*dict.fromkeys(cells), None]
    return pa.DictionaryArray.from_arrays(pa.array([values.index(cell) for cell in cells], pa.int8()), pa.array(values))


def typed(kind: pa.DataType, of: Callable[[str], Any]) -> Callable[[Cells], pa.Array]:
    return lambda cells: pa.array([of(cell) for cell in cells], kind)


OF_RUNS = ("text", "views", "categories", "categories with a missing one")
IDS: dict[str, Callable[[Cells], pa.Array]] = {
    "text": typed(pa.string(), str),
    "large text": typed(pa.large_string(), str),
    **({"views": typed(pa.string_view(), str)} if hasattr(pa, "string_view") else {}),  # since pyarrow 16
    "categories": lambda cells: pa.array(cells).dictionary_encode(),
    "categories with a missing one": as_dictionary,
    "integers": typed(pa.int64(), int),
    "small integers": typed(pa.int16(), int),
    "floats": typed(pa.float64(), float),
    "small floats": typed(pa.float32(), float),
    "decimals": typed(pa.decimal128(10, 2), Decimal),
    "bytes": typed(pa.binary(), str.encode),
}
NUMBERS: dict[str, Callable[[list[float]], pa.Array]] = {
    "floats": lambda scores: pa.array(scores, pa.float64()),
    "small floats": lambda scores: pa.array(pl.Series(scores).cast(pl.Float32).to_numpy()),
    "text": lambda scores: pa.array([f" {score!r}" for score in scores]),
    "categories": lambda scores: pa.array([repr(score) for score in scores]).dictionary_encode(),
    "truth values": lambda scores: pa.array([score > 0 for score in scores]),
    "integers": lambda scores: pa.array([int(max(min(score, 9), -9)) for score in scores], pa.int8()),
}
CONVENTIONS = st.builds(
    Conventions,
    ties=st.sampled_from(choices_of(Conventions, "ties")),
    score_dtype=st.sampled_from(choices_of(Conventions, "score_dtype")),
    duplicates=st.sampled_from(choices_of(Conventions, "duplicates")),
).flatmap(
    lambda asked: st.sampled_from(
        [
            asked,
            dataclasses.replace(asked, depth=1),
            dataclasses.replace(asked, depth=3),
            dataclasses.replace(asked, judged_only=True),
            dataclasses.replace(asked, imputation="optimistic", ties="trec"),
        ]
    )
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Make rows of runs, those of each ranking together, in columns of many types; and where each row is."""
    keys = st.tuples(st.sampled_from(["bm25", "knn", "2"]), st.sampled_from([*QUERIES, *UNKNOWN]))
    rankings = draw(st.lists(keys, min_size=1, max_size=8, unique=True))
    rows = st.lists(st.tuples(st.sampled_from(DOCUMENTS), SCORES), min_size=1, max_size=12)
    if draw(st.integers(0, 2)) == 0:
        rows = st.lists(
            st.tuples(st.sampled_from(DOCUMENTS), SCORES), min_size=1, max_size=12, unique_by=lambda row: row[0]
        )
    found = [(*key, *row) for key in rankings for row in draw(rows)]
    runs, queries, documents, scores = ([*column] for column in zip(*found, strict=True))
    kinds = st.sampled_from(["text", "text", *IDS])
    columns = {
        "run": IDS[draw(st.sampled_from([name for name in OF_RUNS if name in IDS]))](runs),
        "query_id": IDS[draw(kinds)](queries),
        "doc_id": IDS[draw(kinds)](documents),
        draw(st.sampled_from(["score", "score", "rank"])): NUMBERS[draw(st.sampled_from(["floats", *NUMBERS]))](scores),
        "row": pa.array(range(len(found))),
    }
    if len({run for run, _ in rankings}) == 1 and draw(st.booleans()):
        del columns["run"]
    return pa.table(columns)


@st.composite
def maps(draw: st.DrawFn) -> UnitMap | None:
    """Make a map of units, for all queries or for each; or none."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from("UVW")), max_size=12))
    if not pairs:
        return None
    named = st.sampled_from([query.encode() for query in QUERIES])
    queries = draw(st.none() | st.lists(named, min_size=len(pairs), max_size=len(pairs)))
    documents, units = ([pair[k].encode() for pair in pairs] for k in (0, 1))
    return UnitMap.of_columns(documents, units, queries)


@contextlib.contextmanager
def lane(reader: str) -> Iterator[None]:
    """Read with one of the readers only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, reader)
        yield


def columns_of(table: pa.Table) -> Columns:
    return find_columns(table.column_names, "run", source="run")


def streamed(
    table: pa.Table, reader: str = LANES[0], size: int = 3, conventions: Conventions | None = None,
    units: UnitMap | None = None, *, needs_judged: bool = True, is_given: bool = False, **more: Any,
) -> Any:  # fmt: skip
    """Return what a stream gives in batches of a size, as plain values, or what is said of it."""
    rest: Any = {"needs_judged": needs_judged}
    asked = conventions or Conventions()
    batches = table.to_batches(max_chunksize=size)
    try:
        with lane(reader):
            read = read_sorted(
                batches, columns_of(table), "mine", JUDGMENTS, asked, units, is_given=is_given, label="run",
                **rest, **more,
            )  # fmt: skip
        assert read.num_rows == len(table)
        return plain(runs_of(read, JUDGMENTS, asked, **rest))
    except LexirecallError as error:
        return str(error)


def held(
    table: pa.Table, conventions: Conventions | None = None, units: UnitMap | None = None, *,
    needs_judged: bool = True, is_given: bool = False,
) -> Any:  # fmt: skip
    """Return what the readable reader finds in the whole table, or says of it."""
    rest: Any = {"needs_judged": needs_judged, "is_given": is_given}
    try:
        frame = open_frame(table.drop_columns(["row"]), "run", name="run")
        return plain(project_rows(frame, "mine", JUDGMENTS, conventions or Conventions(), units, **rest))
    except LexirecallError as error:
        return str(error)


@pytest.mark.parametrize("reader", LANES)
@quick(200)
@given(tables(), CONVENTIONS, maps(), st.integers(1, 20), st.booleans(), st.booleans())
def test_a_stream_gives_what_the_whole_table_gives(
    reader: str, table: pa.Table, conventions: Conventions, units: UnitMap | None, size: int,
    needs_judged: bool, is_given: bool,
) -> None:  # fmt: skip
    rest: Any = {"needs_judged": needs_judged, "is_given": is_given}
    if units is not None and conventions.ties != "expected" and conventions.depth is None:
        conventions = dataclasses.replace(conventions, count="units")
    else:
        units = None
    found = streamed(table, reader, size, conventions, units, **rest, **PLACES)
    expected = held(table, conventions, units, **rest)
    if is_given and isinstance(expected, str) and "only one name" in expected:  # several runs: known only at the end
        assert isinstance(found, str)
    else:
        assert found == expected


FAULTS: dict[str, dict[str, Any]] = {
    "a query that is missing": {"query_id": None},
    "a document that is missing": {"doc_id": None},
    "a run that is missing": {"run": None},
    "a score that is missing": {"score": None},
    "a score that is NaN": {"score": float("nan")},
    "a query that is a fraction": {"query_id": 7.5},
    "a document that is too large for a float": {"doc_id": 2.0**60},
    "a document that is not UTF-8": {"doc_id": b"\xff"},
    "a score that is not a number": {"score": "3,5"},
}


def with_fault(table: pa.Table, at: int, fault: dict[str, Any]) -> pa.Table:
    """Return a table with something else in one cell, and in the others of its column what goes with that."""
    for name, value in fault.items():
        cells = table.column(name).to_pylist()
        conversions: dict[type, Callable[[Any], Any]] = {float: float, bytes: lambda cell: str(cell).encode(), str: str}
        like = conversions.get(type(value), lambda cell: cell)
        kind = None if value is not None else table.column(name).type
        column = pa.array([value if row == at else like(cell) for row, cell in enumerate(cells)], kind)
        table = table.set_column(table.column_names.index(name), name, column)
    return table


@pytest.mark.parametrize("reader", LANES)
@pytest.mark.parametrize("fault", FAULTS)
@quick(20)
@given(st.integers(0, 11), st.integers(1, 14))
def test_a_bad_cell_is_said_as_in_memory(reader: str, fault: str, at: int, size: int) -> None:
    queries, documents = ["7", "7", "9", "9", "-1", "-1"] * 2, ["7", "0", "7", "0", "31", "32"] * 2
    columns: dict[str, list[Any]] = {
        "run": ["a"] * 6 + ["b"] * 6,
        "query_id": queries,
        "doc_id": documents,
        "score": [1.0] * 12,
    }
    table = with_fault(pa.table({**columns, "row": range(12)}), at, FAULTS[fault])
    said = streamed(table, reader, size, **PLACES)
    assert said == held(table)
    assert f"run: row {at}: " in said
    unplaced = streamed(table, reader, size)
    ids = {"run": columns["run"][at], "query": columns["query_id"][at], "document": columns["doc_id"][at]}
    assert sum(f"{word} '{text}" in unplaced for word, text in ids.items()) >= 2, unplaced


@pytest.mark.parametrize("reader", LANES)
@pytest.mark.parametrize(
    ("name", "value"), [("query_id", True), ("doc_id", [1]), ("doc_id", {"a": 1}), ("score", [1.0])]
)
def test_a_type_that_cannot_serve_is_said_as_in_memory(reader: str, name: str, value: Any) -> None:
    table = pa.table({"query_id": ["7"], "doc_id": ["7"], "score": [1.0], "row": [0]})
    table = table.set_column(table.column_names.index(name), name, pa.array([value]))
    said = streamed(table, reader)
    assert said == held(table)
    assert said.startswith("run: cannot use the column ")


@pytest.mark.parametrize("reader", LANES)
def test_text_that_is_not_utf8_is_an_error(reader: str) -> None:
    documents = pa.array([b"7", b"\xff"]).view(pa.string())
    table = pa.table({"query_id": ["7", "7"], "doc_id": documents, "score": [1.0, 1.0], "row": [0, 1]})
    assert streamed(table, reader, **PLACES).startswith("run: row 1: the document id is not UTF-8 text\n")


@pytest.mark.parametrize("reader", LANES)
def test_a_document_that_is_listed_twice_is_said_with_both_places(reader: str) -> None:
    table = pa.table({"query_id": ["7"] * 3, "doc_id": ["a", "b", "a"], "score": [3.0, 2, 1], "row": [0, 1, 2]})
    said = streamed(table, reader, **PLACES)
    assert said == held(table)
    assert said.startswith("run: row 2: document 'a' of query '7' is listed twice, first in row 0\n")
    lines: dict[str, Any] = {"place_of": lambda rows, row: ("run.csv", rows.column("row")[row].as_py() + 2)}
    assert streamed(table, reader, **lines).startswith(
        "run.csv:4: document 'a' of query '7' is listed twice, first on line 2 of run.csv\n"
    )
    assert streamed(table, reader).startswith("run: document 'a' of query '7' is listed twice\n")


@pytest.mark.parametrize("reader", LANES)
@pytest.mark.parametrize("twice", [False, True])
def test_rows_of_a_query_that_are_not_together_are_an_error(reader: str, twice: bool) -> None:
    documents = ["a", "a" if twice else "b", "a", "c"]
    table = pa.table({"query_id": ["7", "7", "5", "7"], "doc_id": documents, "score": [4.0, 3, 2, 1]})
    said = streamed(table, reader, size=2, conventions=Conventions(duplicates="best"))
    assert said.startswith("run: the rows of a query of a run are not together\n")


@pytest.mark.parametrize("reader", LANES)
def test_a_name_that_is_given_is_for_one_run_only(reader: str) -> None:
    table = pa.table(
        {"run": ["a", "b"], "query_id": ["7", "7"], "doc_id": ["7", "7"], "score": [1.0, 2], "row": [0, 1]}
    )
    assert streamed(table, reader, is_given=True) == held(table, is_given=True)
    assert [run["name"] for run in streamed(table[:1], reader, is_given=True)] == ["mine"]


@pytest.mark.parametrize("reader", LANES)
@pytest.mark.parametrize("run", ["run", None])
def test_a_stream_may_be_empty(reader: str, run: str | None) -> None:
    columns = Columns(query="q", document="d", score="s", run=run)
    batch = pa.RecordBatch.from_pydict({name: pa.array([], pa.string()) for name in ("run", "q", "d", "s")})
    rest: Any = {"needs_judged": False, "is_given": False, "label": "run"}
    for batches in ([], [batch]):
        with lane(reader):
            read = read_sorted(batches, columns, "mine", JUDGMENTS, Conventions(), **rest)
        assert (read.runs, read.num_rows) == ([] if run else ["mine"], 0)
        assert (read.num_retrieved == -1).all()


@pytest.mark.parametrize("reader", LANES)
def test_there_may_be_no_judgments(reader: str) -> None:
    none = Judgments.from_grades({})
    batch = pa.RecordBatch.from_pydict({"q": ["1", "1", "2"], "d": ["a", "a", "b"], "s": [1.0, 2.0, 3.0]})
    rest: Any = {"needs_judged": True, "is_given": False, "label": "run"}
    with lane(reader):
        read = read_sorted([batch], Columns(query="q", document="d", score="s"), "r", none, Conventions(), **rest)
    assert (read.num_unjudged.tolist(), len(read.found), read.num_rows) == ([2], 0, 3)


@quick(100)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 9)), max_size=12), st.integers(1, 12))
def test_portions_hold_whole_rankings_and_no_more_than_they_must(given: list[tuple[str, int]], size: int) -> None:
    numbers = [number for number, (_, count) in enumerate(given) for _ in range(count)]
    runs = [run for run, count in given for _ in range(count)]
    table = pa.table({"run": pa.array(runs, pa.string()).dictionary_encode(), "q": pa.array(numbers, pa.int64())})
    portions = [*whole_rankings(table.to_batches(max_chunksize=size), Columns(query="q", document="", run="run"))]
    assert pa.concat_tables([table.schema.empty_table().select([0, 1]), *portions]).to_pylist() == table.to_pylist()
    ends = [{*portion.column("q").to_pylist()} for portion in portions]
    assert all(one.isdisjoint(other) for one, other in pairwise(ends))
    longest = max((count for _, count in given), default=0)
    assert all(len(portion) < size + longest + size for portion in portions)


@pytest.mark.parametrize("reader", LANES)
def test_only_the_judgments_of_queries_that_repeat_a_document_are_looked_at_again(
    reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[tuple[str, ...], int]] = []

    def watched(table: Any, name: str, judgments: Judgments, *given: Any, **options: Any) -> SortedRankings:
        seen.append((judgments.queries, len(table.frame)))
        return read_rows(table, name, judgments, *given, **options)

    monkeypatch.setattr(sortedrows, "read_rows", watched)
    queries = ["5", "7", "7", "300", "-1", "-1", "9", "9"]
    table = pl.DataFrame({"query_id": queries, "doc_id": ["a"] * 8, "score": [1.0] * 8, "row": range(8)}).to_arrow()
    found = streamed(table, reader, 100, Conventions(duplicates="first"))
    assert found[0]["num_duplicates"] == 2
    assert seen == ([(("7", "-1"), 4)] if reader == "native" else [(("7", "300", "-1", "5"), 6), ((), 2)])

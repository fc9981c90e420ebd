"""Frames: whatever library a table is of, it means what dicts of its rows mean."""

import dataclasses
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import LexirecallError, Positions, evaluate, project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.fields import choices_of
from lexirecall.formats import count_runs, load_judgments
from lexirecall.formats.frames import is_frame
from lexirecall.formats.values import BLANKS, NUMBER
from lexirecall.manifest import Conventions
from lexirecall.text import number_of
from strategies import GRADES, QUERIES, SCORES, UNJUDGED_QUERIES, costly, quick

Columns = dict[str, list[Any]]
Make = Callable[[Columns], Any]


def pandas_frame(columns: Columns) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_frame(columns: Columns) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def polars_lazy(columns: Columns) -> Any:
    return pytest.importorskip("polars").LazyFrame(columns)


def pyarrow_table(columns: Columns) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


@cache
def database() -> Any:
    return pytest.importorskip("duckdb").connect()


def duckdb_relation(columns: Columns) -> Any:
    return database().from_arrow(pyarrow_table(columns))


MAKERS: dict[str, Make] = {
    "pandas": pandas_frame,
    "polars": polars_frame,
    "polars lazy": polars_lazy,
    "pyarrow": pyarrow_table,
    "duckdb": duckdb_relation,
}
every_library = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))

DOCUMENTS = ("a", "B", "b", "A1", "a1", "é", "ß", "Ω-7", "日本", "\U0001f600", "\uffff", "d10", "d9")
NUMBERS: dict[str, int] = dict(
    zip((*DOCUMENTS, *QUERIES, *UNJUDGED_QUERIES), (-3, 9, 10, 7, 100, *range(0, 2**40, 2**36)), strict=False)
)
Row = tuple[str, str, str, float]


@dataclasses.dataclass(frozen=True)
class Rows:
    """The rows of judgments and of runs, in any order."""

    judged: list[tuple[str, str, float]]
    retrieved: list[Row]

    def renamed(self, name: Callable[[str], Any]) -> "Rows":
        judged: Any = [(name(q), name(d), grade) for q, d, grade in self.judged]
        retrieved: Any = [(run, name(q), name(d), score) for run, q, d, score in self.retrieved]
        return Rows(judged, retrieved)

    def frames(self, make: Make) -> tuple[Any, Any]:
        judged = dict(zip(("query_id", "doc_id", "rel"), map(list, zip(*self.judged, strict=True)), strict=True))
        names = ("run", "query_id", "doc_id", "score")
        return make(judged), make(dict(zip(names, map(list, zip(*self.retrieved, strict=True)), strict=True)))

    def dicts(self) -> tuple[Any, Any]:
        qrels: dict[str, dict[str, float]] = {}
        for q, d, grade in self.judged:
            qrels.setdefault(str(q), {})[str(d)] = grade
        runs: dict[str, dict[str, dict[str, float]]] = {}
        for run, q, d, score in self.retrieved:
            runs.setdefault(run, {}).setdefault(str(q), {})[str(d)] = score
        return qrels, runs


@st.composite
def rows(draw: st.DrawFn, *, repeats: bool = False) -> Rows:
    """Few ids and very few scores, so that much is tied, missing, judged by nobody or returned by several."""
    rng = draw(st.randoms(use_true_random=False))
    scores = draw(st.lists(st.sampled_from(SCORES), min_size=1, max_size=4))
    judged = {(rng.choice(QUERIES), rng.choice(DOCUMENTS)): rng.choice(GRADES) for _ in range(draw(st.integers(1, 30)))}
    first = next(iter(judged))[0]
    queries = [*QUERIES, *UNJUDGED_QUERIES]
    retrieved = [
        ((rng.choice(["s1", "s2", "ü"]), rng.choice(queries), rng.choice(DOCUMENTS)), rng.choice(scores))
        for _ in range(draw(st.integers(0, 90)))
    ]
    retrieved += [((run, first, "b"), scores[0]) for run in sorted({of[0] for of, _ in retrieved} or {"s1"})]
    retrieved = retrieved if repeats else list(dict(retrieved).items())
    if draw(st.booleans()):
        retrieved.sort(key=lambda row: (row[0][:2], -row[1]))  # as runs mostly come
    return Rows([(*pair, grade) for pair, grade in judged.items()], [(*triple, score) for triple, score in retrieved])


READING = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(choices_of(Conventions, "ties")),
        "score_dtype": st.sampled_from(choices_of(Conventions, "score_dtype")),
    },
    optional={"depth": st.integers(1, 6), "needs_judged": st.just(True)},
)


def seen(positions: Positions) -> Any:
    """Return all there is in positions as plain values, but for what they came in."""
    judgments = dataclasses.replace(positions.judgments, query_type="text")
    return plain(dataclasses.replace(positions, judgments=judgments, frame_library=""))


def plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hidden = ("_lookups", "_num_relevant", "name")
        fields = (field.name for field in dataclasses.fields(value) if field.name not in hidden)
        return {name: plain(getattr(value, name)) for name in fields}
    return value.tolist() if isinstance(value, np.ndarray) else value


def texts(name: str) -> str:
    return name


def integers(name: str) -> int:
    return NUMBERS[name]


def categories(frame: Any) -> Any:
    """Return the frame with ids as categories, where the library has them."""
    kind = type(frame).__module__.split(".")[0]
    if kind == "pandas":
        return frame.astype(dict.fromkeys(("query_id", "doc_id"), "category"))
    if kind == "polars":
        import polars as pl

        return frame.with_columns(pl.col("query_id", "doc_id").cast(pl.Categorical))
    if kind == "pyarrow":
        for place in (frame.column_names.index("query_id"), frame.column_names.index("doc_id")):
            frame = frame.set_column(place, frame.column_names[place], frame.column(place).dictionary_encode())
    return frame


@every_library
@costly(40)
@given(rows(), READING, st.sampled_from([texts, integers, "floats", "categories"]))
def test_a_frame_means_what_dicts_of_its_rows_mean(make: Make, some: Rows, reading: dict[str, Any], kind: Any) -> None:
    some = some if kind in (texts, "categories") else some.renamed(integers)
    given_rows = some.renamed(float) if kind == "floats" else some
    frames = given_rows.frames(make)
    if kind == "categories":
        frames = categories(frames[0]), categories(frames[1])
    assert seen(project(*frames, **reading)) == seen(project(*some.dicts(), **reading))


@every_library
@pytest.mark.parametrize("rule", choices_of(Conventions, "duplicates"))
@costly(20)
@given(some=rows(repeats=True), ties=st.sampled_from(choices_of(Conventions, "ties")))
def test_repeated_documents_of_a_frame_are_treated_as_those_of_a_file(
    tmp_path_factory: pytest.TempPathFactory, make: Make, rule: str, some: Rows, ties: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "repeats"
    folder.mkdir(exist_ok=True)
    names = list(dict.fromkeys(row[0] for row in some.retrieved))
    for run in names:
        lines = (f"{q} Q0 {d} 0 {score!r} t\n" for name, q, d, score in some.retrieved if name == run)
        (folder / run).write_text("".join(lines), encoding="utf-8")
    judged, frame = some.frames(make)

    def outcome(runs: Any) -> Any:
        try:
            return seen(project(judged, runs, duplicates=rule, ties=ties))
        except LexirecallError as error:
            return type(error)

    assert outcome(frame) == outcome([folder / name for name in names])


@every_library
@costly(10)
@given(some=rows())
def test_one_frame_for_each_run_is_the_same_as_one_for_all(make: Make, some: Rows) -> None:
    judged, frame = some.frames(make)
    runs = list(dict.fromkeys(row[0] for row in some.retrieved))
    parts = {run: Rows(some.judged, [row for row in some.retrieved if row[0] == run]).frames(make)[1] for run in runs}
    expected = seen(project(judged, frame))
    assert seen(project(judged, parts)) == expected
    assert seen(project(judged, list(parts.values()))) == expected


ITERATOR: Any = iter([])
QRELS: Columns = {"user": ["u1", "u1", "u2"], "item": ["a", "b", "a"], "rating": [5, 3, 4]}
RUN: Columns = {"user": ["u1", "u1", "u2"], "item": ["a", "x", "a"], "score": [1.0, 2.0, 0.5]}


@every_library
def test_results_know_what_came_in(make: Make) -> None:
    library = {"polars_lazy": "polars", "duckdb_relation": "duckdb"}.get(make.__name__, make.__name__.split("_")[0])
    judged = {**QRELS, "user": [1, 1, 2]}
    positions = project(make(judged), make({**RUN, "user": [1, 1, 2]}))
    assert (positions.frame_library, positions.judgments.query_type) == (library, "int64")
    assert project(make(QRELS), {"u1": ["a"]}).frame_library == library
    assert project(make(QRELS), make(RUN)).judgments.query_type == "text"
    assert project({"u1": {"a": 1}}, {"u1": ["a"]}).frame_library == ""


def numbers_in(library: str, dtype: str, values: list[int]) -> Any:
    """Return a column of numbers of a type, in a frame of judgments of one library."""
    array = np.array(values, dtype)
    columns: dict[str, Any] = {"user_id": array, "item_id": ["a"] * len(values), "rating": [1] * len(values)}
    return MAKERS[library](columns)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float64"])
@pytest.mark.parametrize("library", MAKERS)
def test_the_ids_of_queries_come_back_as_they_came_in(library: str, dtype: str) -> None:
    judged = numbers_in(library, dtype, [3, 100])
    scores = evaluate(judged, {"x": {"3": ["a"], "100": ["b", "a"]}}, ["RR"])
    assert scores.to_pandas(per_query=True)["query"].dtype == dtype
    assert str(scores.to_polars(per_query=True)["query"].dtype).lower() == dtype
    assert scores.to_arrow(per_query=True)["query"].to_numpy().dtype == dtype
    assert scores.to_dict(per_query=True) == {"x": {3: {"RR": 1.0}, 100: {"RR": 0.5}}}
    assert {type(query) for query in scores.to_dict(per_query=True)["x"]} == {float if dtype == "float64" else int}
    assert [row["query"] for row in scores.rows(per_query=True)] == ["3", "100", "all"]


@pytest.mark.parametrize("how", ["pandas", "polars", "parquet"])
def test_a_frame_of_queries_merges_with_a_table_of_users(how: str, tmp_path: Path) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    judged = polars.DataFrame({"user_id": [7, 8], "item_id": ["a", "a"], "rating": [1, 1]}).cast(
        {"user_id": polars.Int32}
    )
    users = polars.DataFrame({"query": [8, 7], "country": ["NO", "PT"]}).cast({"query": polars.Int32})
    judged.write_parquet(tmp_path / "judged.parquet")
    qrels = {"pandas": judged.to_pandas(), "polars": judged, "parquet": tmp_path / "judged.parquet"}[how]
    scores = evaluate(qrels, {7: ["a"], 8: ["x", "a"]}, ["RR"])
    merged = scores.to_polars(per_query=True).join(users, on="query")
    assert sorted(merged.select("country", "value").rows()) == [("NO", 0.5), ("PT", 1.0)]
    both = pandas.merge(scores.to_pandas(per_query=True), users.to_pandas(), on="query")
    assert dict(zip(both["country"], both["value"], strict=True)) == {"PT": 1.0, "NO": 0.5}


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        ([1, 2], "int64"), ([1, "2"], "text"), (["1", "2"], "text"), ([2**63, 1], "uint64"),
        ([2**64, 1], "text"), ([-1, 2**63], "text"), ([np.int8(1), np.uint64(2)], "int64"), ([1.0, 2.0], "float64"),
    ],
)  # fmt: skip
def test_keys_of_dicts_come_back_as_they_came_in(ids: list[Any], kind: str) -> None:
    judged: Any = {each: {"a": 1} for each in ids}
    run: Any = {each: ["a"] for each in ids}
    scores = evaluate(judged, run, ["RR"])
    assert scores.query_type == kind
    assert list(scores.to_dict(per_query=True)["run"]) == (ids if kind != "text" else [str(each) for each in ids])
    assert scores.to_pandas(per_query=True)["query"].tolist() == list(scores.to_dict(per_query=True)["run"])


def test_categories_and_objects_that_are_integers_come_back_as_integers() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    columns: dict[str, Any] = {"qid": [7, 8], "docno": ["a", "a"]}
    for qrels in (
        pandas.DataFrame(columns).astype({"qid": "category"}),
        pandas.DataFrame(columns).astype({"qid": object}),
        pandas.DataFrame(columns).astype({"qid": "Int64"}),
        pyarrow.table({**columns, "qid": pyarrow.array([7, 8]).dictionary_encode()}),
    ):
        assert load_judgments(qrels).query_type == "int64"
    for kind in ("category", object):
        texts_of_digits = pandas.DataFrame({**columns, "qid": ["7", "8"]}).astype({"qid": kind})
        assert load_judgments(texts_of_digits).query_type == "text"


def test_csv_and_json_have_ids_of_text(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("qid,docno,rel\n007,a,1\n")
    (tmp_path / "qrels.json").write_text('{"007": {"a": 1}}')
    for name in ("qrels.csv", "qrels.json"):
        scores = evaluate(tmp_path / name, {"007": ["a"]}, ["RR"])
        assert scores.to_polars(per_query=True).rows() == [("run", "007", "RR", 1.0)]


@every_library
def test_columns_may_be_given_by_role(make: Make) -> None:
    judged = make({"who": ["u"], "movie": ["a"], "stars": [4]})
    run = make({"person": ["u", "u"], "title": ["x", "a"], "place": [2, 1], "model": ["m", "m"]})
    columns = {
        "qrels.query": "who", "qrels.document": "movie", "grade": "stars",
        "run.query": "person", "run.document": "title", "rank": "place", "run": "model",
    }  # fmt: skip
    positions = project(judged, run, columns=columns)
    assert (positions.runs, positions.found.positions.tolist()) == (("m",), [1])


@pytest.mark.parametrize("reader", ["best", "python"])
@every_library
def test_without_scores_the_first_rank_is_the_highest(make: Make, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if reader == "python":
        monkeypatch.setenv("LEXIRECALL_READER", reader)
    run = make({"qid": ["q", "q"], "docno": ["a", "x"], "rank": [2, 1]})
    assert project({"q": {"a": 1}}, run).found.positions.tolist() == [2]


@every_library
def test_without_grades_every_judged_document_is_relevant_and_a_note_says_so(make: Make) -> None:
    judged = make({"qid": ["q", "q"], "docno": ["a", "b"]})
    assert load_judgments(judged).grades.tolist() == [1.0, 1.0]
    assert not load_judgments(judged).has_grades
    notes = evaluate(judged, {"q": ["a"]}, ["AP"]).notes
    assert [note.count for note in notes if note.kind == "no grades"] == [2]


@every_library
def test_a_judgment_given_twice_with_one_grade_is_counted(make: Make) -> None:
    judged = load_judgments(make({"qid": ["q", "r", "q"], "docno": ["a", "a", "a"], "rel": [1, 2, 1]}))
    assert (judged.num_repeated, judged.grades.tolist()) == (1, [1.0, 2.0])


@every_library
def test_providers_may_be_a_frame(make: Make) -> None:
    owners = make({"item_id": ["a", "a", "z"], "provider": ["Knopf", "Insel", "Reclam"]})
    found = project({"q": {"a": 1, "b": 1}}, {"q": ["a"]}, providers=owners).providers
    assert found is not None
    assert (found.names, found.offsets.tolist()) == (("Insel", "Knopf"), [0, 2, 2])


@every_library
@pytest.mark.parametrize("owner", ["", "  ", None])
def test_a_provider_has_a_name(make: Make, owner: str | None) -> None:
    owners = make({"item_id": ["a", "b"], "provider": ["Knopf", owner]})
    with pytest.raises(FormatError, match="providers: row 1: "):
        project({"q": {"a": 1}}, {"q": ["a"]}, providers=owners)


# Names


@every_library
def test_runs_are_named_by_their_column_or_by_their_place(make: Make) -> None:
    many = make({**RUN, "run": ["x", "y", "x"]})
    assert project(make(QRELS), many).runs == ("x", "y")
    assert project(make(QRELS), make(RUN)).runs == ("run",)
    assert project(make(QRELS), [make(RUN), many, {"u1": ["a"]}]).runs == ("run1", "x", "y", "run3")
    assert project(make(QRELS), {"mine": make({**RUN, "run": ["x"] * 3}), "other": make(RUN)}).runs == (
        "mine",
        "other",
    )


@every_library
def test_a_name_for_a_frame_of_several_runs_is_refused(make: Make) -> None:
    with pytest.raises(FormatError, match=r"run 'mine': the column 'run' has 2 runs.*\n.*by itself"):
        project(make(QRELS), {"mine": make({**RUN, "run": ["x", "y", "x"]})})


@every_library
def test_two_runs_of_one_name_are_refused(make: Make) -> None:
    frame = make({**RUN, "run": ["x"] * 3})
    with pytest.raises(UsageError, match="two runs have the same name: 'x' "):
        project(make(QRELS), [frame, frame])


@every_library
def test_how_many_runs_a_frame_holds_is_known_once_it_is_read(make: Make) -> None:
    assert count_runs(make(RUN)) is None
    assert (count_runs([{"q": ["a"]}, {"q": ["b"]}]), count_runs(ITERATOR)) == (2, None)


# Types


@every_library
@pytest.mark.parametrize("value", [b"7", 7, "7", 7.0])
def test_ids_are_compared_as_text(make: Make, value: Any) -> None:
    run = make({"qid": [value, value], "docno": [value, value * 2], "score": [1, 2]})
    assert project({"7": {"7": 1}}, run).found.positions.tolist() == [2]


def test_ids_may_be_any_python_objects() -> None:
    pandas = pytest.importorskip("pandas")
    ids = pandas.Series([7, "7", 7.0, Decimal(7), b"7", np.int64(7)], dtype=object)
    frame = pandas.DataFrame({"qid": ids, "docno": [*"abcdef"], "score": [6, 5, 4, 3, 2, 1]})
    assert project({"7": {"f": 1}}, frame).found.positions.tolist() == [6]
    ids = pandas.Series([1.0, 2.0, 1.0]).astype("category")
    frame = pandas.DataFrame({"qid": ids, "docno": [*"abc"], "score": [6, 5, 4]})
    assert project({"1": {"c": 1}}, frame).found.positions.tolist() == [2]


@pytest.mark.parametrize("dtype", ["object", "string[python]", "string[pyarrow]", "str"])
def test_every_kind_of_text_of_pandas_is_text(dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"qid": ["q", "q"], "docno": ["é", "x"], "score": [1, 1]})
    frame = frame.astype({"qid": dtype, "docno": dtype})
    assert project({"q": {"x": 1}}, frame).found.positions.tolist() == [2]
    assert load_judgments(frame).queries == ("q",)


def test_missing_values_of_pandas_make_floats_of_integers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": pandas.array([1, 2], "Int64"), "docno": [3.0, 4.0], "score": [1, 2]})
    assert project({"2": {"4": 1}}, frame).found.positions.tolist() == [1]


@every_library
@pytest.mark.parametrize("scores", [["2.5", "1e1"], [True, False], [1, 2], ["-inf", " 3 "]])
def test_scores_may_be_anything_that_is_a_number(make: Make, scores: list[Any]) -> None:
    run = make({"qid": ["q", "q"], "docno": ["a", "x"], "score": scores})
    expected = 1 if float(scores[0]) > float(scores[1]) else 2
    assert project({"q": {"a": 1}}, run).found.positions.tolist() == [expected]


@every_library
@quick(10)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True))
def test_integers_far_apart_are_ids_too(make: Make, ids: list[int]) -> None:
    run = make({"qid": [1] * len(ids), "docno": ids, "score": [0.0] * len(ids)})
    expected = sorted(map(str, ids), reverse=True).index(str(ids[0])) + 1
    assert project({"1": {str(ids[0]): 1}}, run).found.positions.tolist() == [expected]


INTEGER_TYPES = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]


@every_library
@quick(60)
@given(st.data(), st.sampled_from(INTEGER_TYPES), st.booleans())
def test_integers_of_every_width_are_their_text(make: Make, data: st.DataObject, dtype: Any, are_close: bool) -> None:
    """Near each other, at either end of what the type holds, or anywhere: an id is never taken for another one."""
    lowest, highest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    base = data.draw(st.sampled_from([lowest, highest, 0]) | st.integers(lowest, highest))
    reach = 200 if are_close else highest - lowest
    near = st.integers(max(lowest, base - reach), min(highest, base + reach))
    ids = data.draw(st.lists(near, min_size=1, max_size=8, unique=True))
    column: Any = np.array(ids, dtype)
    run = make({"qid": column, "docno": column, "score": [0.0] * len(ids)})
    found = project({str(each): {str(each): 1} for each in ids}, run)
    assert found.found.positions.tolist() == [1] * len(ids)


# What is wrong


def one(column: str, value: Any, *, row: int = 1) -> Columns:
    columns: Columns = {
        "qid": ["q", "q", "q"],
        "docno": ["a", "b", "c"],
        "score": [3.0, 2.0, 1.0],
        "run": ["s", "s", "s"],
    }
    columns[column] = [*columns[column][:row], value, *columns[column][row + 1 :]]
    return columns


@every_library
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (one("qid", None), r"row 1: the query id is missing"),
        (one("docno", None), r"row 1: the document id is missing"),
        (one("score", None), r"row 1: the score is missing or NaN"),
        (one("run", None), r"row 1: the run name is missing"),
        (one("score", float("nan")), r"row 1: the score is missing or NaN"),
        ({**one("qid", ""), "docno": [1.0, 2.5, 3.0]}, r"row 1: the document id is not a whole number: 2\.5"),
        (
            {**one("qid", ""), "docno": [1.0, 2.0, 1e300]},
            r"row 2: the document id is too large for its float type: 1e\+300",
        ),
        (
            {**one("qid", ""), "docno": [True, True, False]},
            r"cannot use the column 'docno' as document ids: it holds truth values",
        ),
        ({**one("qid", ""), "score": ["1", "2", "3,5"]}, r"row 2: the score is not a number: '3,5'\n.*3\.5"),
        ({**one("qid", ""), "score": ["1", "-0,5", "3"]}, r"row 1: .*: '-0,5'\n.*the decimal point as in -0\.5"),
        ({**one("qid", ""), "score": ["1", "1,000,5", "3"]}, r"row 1: .*: '1,000,5'\n.*write a plain number"),
        ({**one("qid", ""), "score": ["1", "high", "3"]}, r"row 1: the score is not a number: 'high'"),
        (
            one("docno", "a", row=2),
            r"row 2: document 'a' of query 'q' is listed twice, first in row 0\n.*duplicates=",
        ),
        ({"qid": ["q"], "docno": ["a"]}, r"found no column of scores or ranks among qid, docno"),
        (
            {"question": ["q"], "answer": ["a"], "score": [1]},
            r"found no column of query ids and document ids among question, ",
        ),
        ({"qid": [], "docno": [], "score": []}, r"the table has no rows"),
    ],
)
def test_a_frame_that_is_no_run_is_refused(make: Make, columns: Columns, said: str) -> None:
    with pytest.raises(FormatError, match=rf"^run 'bm25': {said}"):
        project({"q": {"a": 1}}, {"bm25": make(columns)})


@every_library
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({**QRELS, "rating": [1, None, 2]}, r"row 1: the grade is missing or NaN"),
        ({**QRELS, "rating": [1.0, 2.0, float("inf")]}, r"row 2: the grade is not finite: inf"),
        (
            {**QRELS, "user": ["u", "v", "u"], "item": ["a", "a", "a"]},
            r"row 2: document 'a' of query 'u' has grade 4 here and 5 in row 0",
        ),
        ({**QRELS, "item": ["a", None, "b"]}, r"row 1: the document id is missing"),
        ({"user": [], "item": [], "rating": []}, r"the table has no rows"),
        ({"rating": [1]}, r"found no column of query ids and document ids among rating\n.*columns="),
    ],
)
def test_a_frame_that_is_no_judgments_is_refused(make: Make, columns: Columns, said: str) -> None:
    with pytest.raises(FormatError, match=rf"^qrels: {said}"):
        project(make(columns), {"u1": ["a"]})


@every_library
def test_a_frame_with_no_query_in_common_is_refused(make: Make) -> None:
    with pytest.raises(DataError, match=r"no query in common with the judgments: run\n"):
        project({"q": {"a": 1}}, make(RUN))


def test_types_that_are_no_ids_and_no_numbers_are_refused() -> None:
    polars = pytest.importorskip("polars")
    good = {"qid": ["q"], "docno": ["a"], "score": [1.0]}
    for column, value, said in (
        ("docno", [["a"]], "cannot use the column 'docno' as document ids: it holds lists"),
        ("score", [["a"]], "cannot use the column 'score' as scores: it holds lists"),
        ("docno", [b"\xff"], "row 0: the document id is not UTF-8 text"),
        ("docno", [Decimal("1.5")], "row 0: the document id is not a whole number: 1.5"),
    ):
        with pytest.raises(FormatError, match=said):
            project({"q": {"a": 1}}, polars.DataFrame({**good, column: value}))


@pytest.mark.parametrize("value", [True, 1.5, ("a", "b"), "\ud800", 2.5])
def test_an_object_that_is_no_id_is_refused(value: Any) -> None:
    pandas = pytest.importorskip("pandas")
    ids = pandas.Series([1, value], dtype=object)
    frame = pandas.DataFrame({"qid": ["q", "q"], "docno": ids, "score": [1.0, 2.0]})
    with pytest.raises(
        FormatError, match=r"(row 1: the document id is not|cannot use the column 'docno' as document ids: it holds )"
    ):
        project({"q": {"1": 1}}, frame)
    with pytest.raises(FormatError, match=r"row 1: the score is (not a number|missing)"):
        project({"q": {"1": 1}}, frame.assign(docno=["1", "2"], score=pandas.Series([1, "x"], dtype=object)))


def test_a_frame_whose_columns_have_one_name_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["q", "a", "b", 1.0]], columns=["qid", "docno", "docno", "score"])
    with pytest.raises(FormatError, match=r"^run: 2 columns are called 'docno'"):
        project({"q": {"a": 1}}, frame)


def test_a_role_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown role 'item'"):
        project({"q": {"a": 1}}, {"q": ["a"]}, columns={"item": "doc"})


def test_what_is_no_frame_is_told_from_one() -> None:
    for value in ("runs", Path("runs"), {"columns": 1}, [1], None, np.zeros(3), 7):
        assert not is_frame(value)
    pandas = pytest.importorskip("pandas")
    assert not is_frame(pandas.Series([1]))


def test_judged_ids_that_are_no_text_are_in_no_frame(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    (tmp_path / "qrels").write_bytes(b"q 0 \xff 1\nq 0 a 1\n")
    frame = polars.DataFrame({"qid": ["q"], "docno": ["a"], "score": [1.0]})
    assert project(tmp_path / "qrels", frame).found.positions.tolist() == [1]


def test_whoever_has_text_and_dicts_does_not_wait_for_narwhals(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "bm25.run").write_text("q Q0 a 1 1 t\n")
    program = (
        "import sys; from lexirecall.cli import main\n"
        "try: main()\n"
        "finally: print([name for name in ('narwhals', 'pandas', 'polars', 'pyarrow') if name in sys.modules])"
    )
    words = [sys.executable, "-c", program, "eval", "qrels", "bm25.run", "-m", "AP"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    program = (
        "import sys, lexirecall; lexirecall.project({'q': {'a': 1}}, {'x': {'q': ['a']}})\n"
        "assert 'narwhals' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@given(st.from_regex(NUMBER, fullmatch=True) | st.text("0123456789.eE+-infatyINFATY_xd "))
@quick(300)
def test_the_pattern_of_engines_says_what_a_number_is_as_files_do(text: str) -> None:
    try:
        number_of(text)
    except ValueError:
        is_number = False
    else:
        is_number = True
    assert (re.fullmatch(NUMBER, text.strip(BLANKS)) is not None) == is_number


def test_a_null_among_the_values_of_a_dictionary_is_a_missing_id() -> None:
    pa = pytest.importorskip("pyarrow")
    documents = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", None]))
    run = pa.table({"query_id": ["q", "q"], "doc_id": documents, "score": [2.0, 1.0]})
    with pytest.raises(FormatError, match="row 1: the document id is missing"):
        project({"q": {"a": 1}}, run)


def test_a_lone_surrogate_in_objects_of_pandas_is_refused_by_its_row() -> None:
    pd = pytest.importorskip("pandas")
    documents = pd.Series(["a", "\ud800x"], dtype=object)
    run = pd.DataFrame({"query_id": ["q", "q"], "doc_id": documents, "score": [2.0, 1.0]})
    with pytest.raises(FormatError, match=r"row 1: the document id is not valid Unicode: '\\ud800x'"):
        project({"q": {"a": 1}}, run)


# Several runs in one table

SEVERAL: Columns = {
    "qid": ["q", "q", "q", "q", "r", "r"],
    "docid": ["a", "x", "b", "y", "c", "d"],
    "score": [3.0, 2.0, 3.0, 2.0, 1.0, 1.0],
}
WHOSE = ["m1", "m1", "m2", "m2", "m1", "m2"]
SOUGHT = {"q": {"a": 1, "b": 1}, "r": {"c": 1, "d": 1}}
APART = {"m1": {"AP": 0.5}, "m2": {"AP": 0.5}}
NAMED_SO = (
    "run", "Run Name", "runId", "system", "SYSTEM-NAME", "model", "Model_Name", "modelid", "Method", "algorithm",
    "algo-id", "recommender", "recommenderName", "Retriever", "retriever.id",
)  # fmt: skip


def ways_in(columns: Columns, folder: Path) -> dict[str, Any]:
    """Return the same rows in every form that has columns."""
    pl = pytest.importorskip("polars")
    made = {name: make(columns) for name, make in MAKERS.items()}
    frame = pl.DataFrame(columns)
    for write, ending in ((frame.write_parquet, "parquet"), (frame.write_csv, "csv"), (frame.write_ndjson, "jsonl")):
        made[ending] = folder / f"it.{ending}"
        write(made[ending])
    return made


@pytest.mark.parametrize("name", NAMED_SO)
def test_several_runs_are_found_under_every_usual_name(tmp_path: Path, name: str) -> None:
    for way, table in ways_in({**SEVERAL, name: WHOSE}, tmp_path).items():
        scores = evaluate(SOUGHT, table, "AP")
        assert scores.to_dict() == APART, way
        assert not scores.notes, way
    for ending in ("parquet", "csv"):
        assert evaluate(SOUGHT, tmp_path / f"it.{ending}", "AP", engine="duckdb").to_dict() == APART


@pytest.mark.parametrize(
    ("first", "second"),
    [("model", "method"), ("run", "system"), ("algorithm_id", "algo"), ("model-name", "Model Name")],
)
def test_two_names_of_runs_of_equal_standing_are_refused(tmp_path: Path, first: str, second: str) -> None:
    for table in ways_in({**SEVERAL, first: WHOSE, second: ["x"] * 6}, tmp_path).values():
        with pytest.raises(FormatError, match=f"the run names may be in the column '{first}' or '{second}'") as caught:
            evaluate(SOUGHT, table, "AP")
        assert f"--columns run={first}" in caught.value.remedy
        assert evaluate(SOUGHT, table, "AP", columns={"run": first}).to_dict() == APART


def test_what_says_run_names_runs_whatever_else_there_is(tmp_path: Path) -> None:
    """A model that goes with the run is no other run, and one run may have a constant model."""
    for table in ways_in({**SEVERAL, "model": [f"of {whose}" for whose in WHOSE], "run": WHOSE}, tmp_path).values():
        scores = evaluate(SOUGHT, table, "AP")
        assert (scores.to_dict(), scores.notes) == (APART, ())
    constant = pyarrow_table({**SEVERAL, "model": ["bm25"] * 6})
    assert [*evaluate(SOUGHT, constant, "AP").to_dict()] == ["bm25"]
    assert [*evaluate(SOUGHT, {"mine": constant}, "AP").to_dict()] == ["mine"]
    with pytest.raises(FormatError, match="the column 'model' has 2 runs, but only one name is given"):
        evaluate(SOUGHT, {"mine": pyarrow_table({**SEVERAL, "model": WHOSE})})


def test_a_model_among_judgments_says_nothing_of_runs() -> None:
    judged: Columns = {"qid": ["q", "q"], "docid": ["a", "b"], "rel": [1, 1], "model": ["x", "y"]}
    assert load_judgments(pyarrow_table(judged)).num_relevant(1).tolist() == [2]


LOOKED_AT = ("pandas", "polars", "pyarrow", "parquet", "csv", "jsonl")
UNUSED = "the column 'engine' is not used; if its 2 values are runs: columns={'run': 'engine'} or --columns run=engine"


def test_an_unused_column_that_may_name_runs_is_named_in_a_note(tmp_path: Path) -> None:
    for way, table in ways_in({**SEVERAL, "engine": WHOSE, "title": [*"uvwxyz"]}, tmp_path).items():
        notes = [note.text for note in evaluate(SOUGHT, table, "AP").notes]
        assert [note.partition(": ")[2] for note in notes] == [UNUSED] * (way in LOOKED_AT), way
        assert evaluate(SOUGHT, table, "AP", columns={"run": "engine"}).to_dict() == APART


def test_an_unused_column_that_may_name_runs_is_named_before_duplicates_are_left_out(tmp_path: Path) -> None:
    for way, table in ways_in({**SEVERAL, "docid": [*"axaycd"], "engine": WHOSE}, tmp_path).items():
        with pytest.raises(FormatError, match="listed twice") as caught:
            evaluate(SOUGHT, table, "AP")
        assert caught.value.remedy.startswith(f"{UNUSED}; otherwise remove one" if way in LOOKED_AT else "remove one")
        assert "duplicates='first'" in caught.value.remedy


@pytest.mark.parametrize(
    "values",
    [
        ["q1", "q1", "q1", "q1", "r1", "r1"],  # goes with the query
        ["1", "2", "1", "2", "1", "2"],  # numbers
        ["one"] * 6,
        ["m1", "m1", "m2", "m2", "m1", None],
        [1, 1, 2, 2, 1, 2],
    ],
    ids=["of a query", "numbers in text", "one value", "a gap", "numbers"],
)
def test_other_columns_are_not_taken_for_runs(tmp_path: Path, values: list[Any]) -> None:
    for way, table in ways_in({**SEVERAL, "engine": values}, tmp_path).items():
        assert not evaluate(SOUGHT, table, "AP").notes, way


@pytest.mark.parametrize("make", MAKERS.values(), ids=[*MAKERS])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_of_a_large_table_some_rows_are_looked_at(make: Make, is_sorted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexirecall.formats.roletable.LOOKED_AT", 100)
    order = [(engine, query, rank) for engine in "xy" for query in range(30) for rank in range(20)]
    order = order if is_sorted else sorted(order, key=lambda row: row[1:])
    columns: Columns = {
        "qid": [query for _, query, _ in order],
        "docid": [f"{engine}{rank}" for engine, _, rank in order],
        "score": [float(-rank) for *_, rank in order],
        "engine": [engine for engine, *_ in order],
        "text": [f"{row}" for row in order],
    }
    is_lazy = make in (polars_lazy, duckdb_relation)
    notes = evaluate({query: {"x1": 1} for query in range(30)}, make(columns), "AP").notes
    assert [UNUSED in note.text for note in notes] == [True] * (not is_lazy)

"""DuckDB gives the same positions, to the last one, as reading the same data any other way."""

import concurrent.futures
import csv
import gzip
import json
import math
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lexirecall
from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError
from lexirecall.exact import sort_key
from lexirecall.fields import choices_of
from lexirecall.formats.duckdb import sort_keys
from lexirecall.formats.duckdb.session import Session
from lexirecall.formats.duckdb.tables import open_table
from lexirecall.formats.naming import NamedRun
from lexirecall.installing import how_to_install
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.progress import Progress
from lexirecall.tracks import Tracks
from strategies import Collection, Ordering, Run, collections, costly, orderings, quick
from table import WITHOUT_INPUT_ORDER
from test_table_files import every_odd_file, folder_with

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
by_duckdb = partial(lexirecall.project, engine="duckdb")

DOCUMENTS = ("a", "B", "b", "d10", "d9", "é", "日本", "O'Neil", 'say "x"', "a,b", "new\nline", "{}", "\\")
QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"d": 1}}
RUNS = {
    "x": {"q1": {"a": 0.5, "z": 0.9, "b": 0.1}, "q2": {"d": 1.0}, "q9": {"d": 1.0}},
    "y": {"q1": {"c": 1, "b": 0.5}},
}


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    opened = duckdb.connect()
    yield opened
    opened.close()


def rows_of(runs: dict[str, Any]) -> dict[str, list[Any]]:
    """The columns of a table that holds all these runs."""
    rows = [(s, q, d, score) for s, run in runs.items() for q, scores in run.items() for d, score in scores.items()]
    return {name: [row[c] for row in rows] for c, name in enumerate(("run", "qid", "docno", "score"))}


def relation(connection: Any, columns: dict[str, list[Any]]) -> Any:
    """A relation with these columns, in an order of rows that means nothing."""
    order = np.random.default_rng(len(columns)).permutation(len(next(iter(columns.values()))))
    arrays = {
        name: np.array(values, object if isinstance(values[0], str) else None) for name, values in columns.items()
    }
    connection.register("given", {name: values[order] for name, values in arrays.items()})
    connection.execute("CREATE OR REPLACE TEMP TABLE given_rows AS FROM given")
    connection.unregister("given")
    return connection.table("given_rows")


def written(folder: Path, name: str, columns: dict[str, list[Any]]) -> Path:
    """A Parquet file with these columns."""
    with duckdb.connect() as opened:
        relation(opened, columns).write_parquet(str(folder / name))
    return folder / name


def write_csv(path: Path, columns: dict[str, list[Any]], separator: str = ",") -> Path:
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def tracks_of(tracks: Tracks | None) -> Any:
    if tracks is None:
        return None
    parts = (tracks.segments.offsets, tracks.positions, tracks.documents, tracks.block_starts, tracks.block_sizes)
    return [None if part is None else part.tolist() for part in parts]


def assert_same(ours: Positions, theirs: Positions) -> None:
    assert ours.runs == theirs.runs
    assert ours.queries == theirs.queries
    assert ours.conventions == theirs.conventions
    assert ours.answered.tolist() == theirs.answered.tolist()
    assert ours.num_retrieved.tolist() == theirs.num_retrieved.tolist()
    assert tracks_of(ours.found) == tracks_of(theirs.found)
    assert tracks_of(ours.others) == tracks_of(theirs.others)
    assert ours.num_unjudged == theirs.num_unjudged
    assert ours.num_duplicates == theirs.num_duplicates
    assert (ours.corpus_size is None) == (theirs.corpus_size is None)


def without_empty(runs: dict[str, Run]) -> dict[str, Run]:
    """A table has no row for a ranking without documents."""
    return {name: {query: scores for query, scores in run.items() if scores} for name, run in runs.items()}


def as_found(runs: dict[str, Run], ours: Positions) -> dict[str, Run]:
    """The runs in the order in which a table had their first rows."""
    assert {*ours.runs} == {*runs}
    return {name: runs[name] for name in ours.runs}


def usable(collection: Collection) -> dict[str, Run]:
    runs = without_empty(collection.runs)
    assume(all(run.keys() & collection.qrels.keys() for run in runs.values()))
    return runs


@costly(60)
@given(
    collections(max_runs=3, documents=DOCUMENTS),
    orderings(),
    st.sampled_from(WITHOUT_INPUT_ORDER),
    st.sampled_from(["error", "best"]),
    st.sampled_from(choices_of(Conventions, "imputation")),
    st.booleans(),
)
def test_positions_are_those_of_dicts(
    connection: Any,
    collection: Collection,
    ordering: Ordering,
    ties: str,
    duplicates: str,
    imputation: str,
    needs_judged: bool,
) -> None:
    runs = usable(collection)
    assume(ties != "expected" or (imputation != "optimistic" and not (ordering.depth and ordering.judged_only)))
    assume(imputation != "paper" or collection.corpus_size)
    options: dict[str, Any] = {
        "ties": ties,
        "duplicates": duplicates,
        "imputation": imputation,
        "needs_judged": needs_judged,
        "score_dtype": ordering.score_dtype,
        "depth": ordering.depth,
        "judged_only": ordering.judged_only,
        **collection.given_size,
    }
    table = relation(connection, rows_of(runs))
    ours = by_duckdb(collection.qrels, table, engine_options={"connection": connection}, **options)
    assert_same(ours, lexirecall.project(collection.qrels, as_found(runs, ours), **options))
    assert_same(ours, lexirecall.project(collection.qrels, table, **options))


@costly(40)
@given(
    collections(max_runs=3, documents=DOCUMENTS),
    st.sampled_from(["csv", "parquet", "folder", "folder of csv", "relation", "frame"]),
    st.sampled_from([("input", "error"), ("input", "first"), ("trec", "first"), ("expected", "first")]),
    st.data(),
)
def test_the_order_of_rows_counts_as_in_memory(
    connection: Any,
    tmp_path_factory: pytest.TempPathFactory,
    collection: Collection,
    form: str,
    rules: tuple[str, str],
    data: st.DataObject,
) -> None:
    rows = list(zip(*rows_of(usable(collection)).values(), strict=True))
    rows += data.draw(st.lists(st.sampled_from(rows), max_size=4 * (rules[1] == "first")))
    rows = data.draw(st.permutations(rows))
    frames = [
        pa.table({name: [row[c] for row in some] for c, name in enumerate(("run", "qid", "docno", "score"))})
        for some in (rows[: len(rows) // 2 + 1], rows[len(rows) // 2 + 1 :])
        if some
    ]
    run: Any = pa.concat_tables(frames)
    if form == "relation":
        connection.register("given", run)
        connection.execute("CREATE OR REPLACE TEMP TABLE given_rows AS FROM given")
        run = connection.table("given_rows")
    elif form != "frame":
        folder = tmp_path_factory.mktemp("rows")
        write = write_csv if "csv" in form else pq.write_table
        for number, frame in enumerate(frames if "folder" in form else [run]):
            write(*(folder / f"{number}.csv", frame.to_pydict()) if "csv" in form else (frame, folder / f"{number}"))
        run = folder if "folder" in form else next(folder.iterdir())
    options: dict[str, Any] = dict(zip(("ties", "duplicates"), rules, strict=True))
    given: dict[str, Any] = {"engine_options": {"connection": connection}} if form == "relation" else {}
    ours = by_duckdb(collection.qrels, run, **given, **options)
    assert_same(ours, lexirecall.project(collection.qrels, run, **options))


def test_a_connection_that_gave_up_the_order_of_rows_is_not_asked_for_it() -> None:
    with duckdb.connect() as lent:
        table = relation(lent, rows_of(RUNS))
        lent.execute("SET preserve_insertion_order = false")
        every: list[dict[str, Any]] = [{"ties": "input"}, {"duplicates": "first"}]
        for options in every:
            with pytest.raises(UsageError, match=r"go by the order of rows.*\n.*SET preserve_insertion_order"):
                by_duckdb(QRELS, table, engine_options={"connection": lent}, **options)
        assert {*by_duckdb(QRELS, table, engine_options={"connection": lent}).runs} == {"x", "y"}


@quick(15)
@given(collections(documents=tuple(map(str, range(8, 15)))), st.sampled_from([np.int32, np.int64, np.float64]))
def test_whole_numbers_are_their_decimal_text(connection: Any, collection: Collection, dtype: Any) -> None:
    """Ties are broken by text, in which 9 is above 10; so 10 and 9 must have become text before."""
    runs = usable(collection)
    columns = rows_of(runs)
    columns["docno"] = np.array(columns["docno"]).astype(int).astype(dtype)  # type: ignore[assignment]
    ours = by_duckdb(collection.qrels, relation(connection, columns), engine_options={"connection": connection})
    assert_same(ours, lexirecall.project(collection.qrels, as_found(runs, ours)))


@quick(15)
@given(collections(documents=DOCUMENTS), st.sampled_from("\t,;"), st.booleans())
def test_csv_gives_the_same(
    tmp_path_factory: pytest.TempPathFactory, collection: Collection, separator: str, packed: bool
) -> None:
    runs = usable(collection)
    path = tmp_path_factory.mktemp("csv") / ("runs.csv.gz" if packed else "runs.csv")
    write_csv(path, rows_of(runs), separator)
    assert_same(by_duckdb(collection.qrels, path), lexirecall.project(collection.qrels, runs))


@quick(20)
@given(collections(documents=DOCUMENTS), st.data())
def test_of_duplicates_the_best_score_counts(connection: Any, collection: Collection, data: st.DataObject) -> None:
    runs = usable(collection)
    columns = rows_of(runs)
    rows = list(zip(*columns.values(), strict=True))
    again = data.draw(st.lists(st.sampled_from(rows), max_size=5))
    lower = [(s, q, d, -math.inf) for s, q, d, _ in again]
    longer = {name: [row[c] for row in [*rows, *lower]] for c, name in enumerate(columns)}
    ours = by_duckdb(
        collection.qrels, relation(connection, longer), engine_options={"connection": connection}, duplicates="best"
    )
    theirs = lexirecall.project(collection.qrels, as_found(runs, ours), duplicates="best")
    left_out = tuple(sum(s == run and q in collection.qrels for s, q, *_ in again) for run in theirs.runs)
    assert_same(ours, replace(theirs, num_duplicates=left_out))


@costly(25)
@given(collections(max_runs=3, documents=DOCUMENTS), orderings(), st.sampled_from([1, 2, 0.5]))
def test_sort_keys_are_those_of_positions_and_compare_as_lexirecall_does(
    connection: Any, collection: Collection, ordering: Ordering, level: float
) -> None:
    runs = usable(collection)
    options: dict[str, Any] = {
        "score_dtype": ordering.score_dtype,
        "depth": ordering.depth,
        "judged_only": ordering.judged_only,
    }
    table = relation(connection, rows_of(runs))
    keys = sort_keys(connection, collection.qrels, table, level=level, **options).fetchall()
    projection = lexirecall.project(collection.qrels, runs, **options).at_level(level)
    names, queries = projection.source.runs, projection.source.queries
    vectors = {
        (run, query): projection.vector(s, q)
        for s, run in enumerate(names)
        for q, query in enumerate(queries)
        if projection.num_relevant[q]
    }
    assert {(run, query): key for run, query, key in keys} == {
        which: sort_key(vector) for which, vector in vectors.items()
    }
    found = {(run, query): key for run, query, key in keys}
    for query in {query for _, query in found}:
        for a, b in combinations(names, 2):
            x, y = vectors[a, query], vectors[b, query]
            differing = np.flatnonzero(x != y)
            preferred = bool(len(differing) and x[differing[-1]] < y[differing[-1]])
            assert (found[a, query] < found[b, query]) == preferred


def test_a_sort_key_is_compared_as_bytes_by_sql(connection: Any) -> None:
    table = relation(connection, rows_of(RUNS))
    sort_keys(connection, QRELS, table, name='my "keys"')
    wins = connection.sql(
        'SELECT a.run, b.run, count(*) FROM "my ""keys""" AS a JOIN "my ""keys""" AS b '
        "ON a.query = b.query AND a.sort_key < b.sort_key GROUP BY ALL"
    ).fetchall()
    assert wins == [("x", "y", 2)]


@pytest.mark.parametrize(
    ("cast", "kind"), [("SMALLINT", "SMALLINT"), ("UBIGINT", "UBIGINT"), ("DOUBLE", "DOUBLE"), ("VARCHAR", "VARCHAR")]
)
def test_sort_keys_have_the_ids_of_the_judgments(connection: Any, cast: str, kind: str) -> None:
    judged = connection.sql(f"SELECT CAST(7 AS {cast}) AS user_id, 'a' AS item_id, 1 AS rating")
    run = connection.sql("SELECT 7 AS user_id, 'a' AS item_id, 1.0 AS score")
    keys = sort_keys(connection, judged, {"knn": run})
    assert (keys.columns, [str(each) for each in keys.types]) == (
        ["run", "query", "sort_key"],
        ["VARCHAR", kind, "BLOB"],
    )
    assert keys.fetchall() == [("knn", "7" if kind == "VARCHAR" else 7, sort_key([1]))]


def test_sort_keys_of_several_tables_stand_in_one(connection: Any, tmp_path: Path) -> None:
    for name, run in RUNS.items():
        columns = rows_of({name: run})
        del columns["run"]
        written(tmp_path, name, columns)
    keys = sort_keys(connection, QRELS, [tmp_path / "x", tmp_path / "y"])
    assert sorted(run for run, *_ in keys.fetchall()) == ["x", "x", "y", "y"]


def test_scores_are_those_of_dicts(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.parquet", rows_of(RUNS))
    ours = lexirecall.evaluate(by_duckdb(QRELS, path), level=2)
    theirs = lexirecall.evaluate(QRELS, RUNS, level=2)
    assert ours.to_dict(per_query=True) == theirs.to_dict(per_query=True)
    assert ours.notes == theirs.notes


def test_measures_of_other_judged_documents_get_them(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.parquet", rows_of(RUNS))
    measures = ["Bpref", "infAP", "Judged@2"]
    positions = by_duckdb(QRELS, path, needs_judged=True)
    ours = lexirecall.evaluate(positions, measures=measures)
    assert ours.to_dict() == lexirecall.evaluate(QRELS, RUNS, measures).to_dict()


def test_optimism_is_warned_of(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.parquet", rows_of(RUNS))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lexirecall.evaluate(by_duckdb(QRELS, path, imputation="optimistic"), measures=["AP"])
    assert sum(str(each.message).startswith("optimistic imputation") for each in caught) == 1


def test_corpus_size_and_providers_go_with_the_positions(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.parquet", rows_of(RUNS))
    positions = by_duckdb(QRELS, path, corpus_size=100, providers={"a": "Knopf", "b": "Insel"})
    assert positions.corpus_size is not None
    assert positions.providers is not None
    assert positions.corpus_size.tolist() == [100, 100]
    assert positions.providers.names == ("Insel", "Knopf")


def plain(folder: Path, name: str) -> Path:
    columns = rows_of(RUNS)
    chosen = [row for row, run in enumerate(columns.pop("run")) if run == name]
    return written(folder, f"{name}.parquet", {c: [values[row] for row in chosen] for c, values in columns.items()})


def test_a_file_without_runs_is_named_by_its_name(tmp_path: Path) -> None:
    paths = [plain(tmp_path, "y"), plain(tmp_path, "x")]
    expected = lexirecall.project(QRELS, {"y.parquet": RUNS["y"], "x.parquet": RUNS["x"]})
    assert_same(by_duckdb(QRELS, paths), expected)
    assert_same(by_duckdb(QRELS, iter(paths)), expected)  # type: ignore[arg-type]


def test_a_pattern_stands_for_each_file(tmp_path: Path) -> None:
    plain(tmp_path, "y"), plain(tmp_path, "x")
    assert by_duckdb(QRELS, f"{tmp_path}/?.parquet").runs == ("x.parquet", "y.parquet")


def test_a_mapping_names_files_relations_and_frames(tmp_path: Path, connection: Any) -> None:
    polars = pytest.importorskip("polars")
    columns = rows_of({"x": RUNS["x"]})
    runs = {"file": plain(tmp_path, "y"), "relation": relation(connection, columns), "frame": polars.DataFrame(columns)}
    expected = lexirecall.project(QRELS, {"file": RUNS["y"], "relation": RUNS["x"], "frame": RUNS["x"]})
    assert_same(by_duckdb(QRELS, runs, engine_options={"connection": connection}), expected)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_folder_is_one_table_and_its_partitions_are_text(tmp_path: Path, kind: str) -> None:
    for run, name in (("x", "007"), ("y", "12")):
        folder = tmp_path / "runs" / f"system={name}"
        folder.mkdir(parents=True)
        columns = rows_of({name: RUNS[run]})
        del columns["run"]
        if kind == "csv":
            write_csv(folder / "part-0.csv", columns)
        else:
            written(folder, "part-0.parquet", columns)
        (folder / "_SUCCESS").write_bytes(b"")
    expected = lexirecall.project(QRELS, {"007": RUNS["x"], "12": RUNS["y"]})
    assert_same(by_duckdb(QRELS, tmp_path / "runs"), expected)


@every_odd_file
def test_a_file_of_a_folder_that_cannot_be_read_is_named(tmp_path: Path, odd: str) -> None:
    folder, said = folder_with(tmp_path, odd)
    said = said.replace("the table cannot be read", "DuckDB cannot read it")
    with pytest.raises(FormatError, match=said):
        by_duckdb({"007": {"a": 1}}, folder)


@pytest.mark.parametrize("ids", [[8.5], ["b"], [8.0]], ids=str)
def test_files_of_a_folder_hold_the_same_kinds_of_values(tmp_path: Path, ids: list[Any]) -> None:
    """DuckDB takes the types of the first file, and would make 8 of 8.5 in another."""
    for first, second in (([7], ids), (ids, [7])):
        (tmp_path / "runs").mkdir(exist_ok=True)
        written(tmp_path / "runs", "1.parquet", {"qid": ["q1"], "docno": first, "score": [2.0]})
        written(tmp_path / "runs", "2.parquet", {"qid": ["q1"], "docno": second, "score": [1.0]})
        for read in (by_duckdb, lexirecall.project):
            with pytest.raises(FormatError, match=r"docno"):
                read(QRELS, tmp_path / "runs")


def test_signs_of_patterns_in_the_name_of_a_file_mean_themselves(tmp_path: Path) -> None:
    written(tmp_path, "[a]*?'.parquet", rows_of({"x": RUNS["x"]}))
    written(tmp_path, "a.parquet", rows_of({"y": RUNS["y"]}))
    assert by_duckdb(QRELS, tmp_path / "[a]*?'.parquet").runs == ("x",)


def test_columns_may_have_any_name(tmp_path: Path) -> None:
    names = ["the system", 'a "user"', "movie'); --", "stars", "score"]
    columns = dict(zip(names, [*rows_of(RUNS).values(), rows_of(RUNS)["score"]], strict=True))
    columns["score"] = [0.0] * len(columns["score"])
    given_names = dict(zip(("run", "query", "document", "score"), names, strict=False))
    expected = lexirecall.project(QRELS, RUNS)
    assert_same(by_duckdb(QRELS, written(tmp_path, "p", columns), columns=given_names), expected)
    assert_same(by_duckdb(QRELS, write_csv(tmp_path / "c.csv", columns), columns=given_names), expected)


def test_ranks_serve_where_there_are_no_scores(tmp_path: Path) -> None:
    path = written(tmp_path, "x", {"qid": ["q1"] * 3, "docno": ["b", "z", "a"], "rank": [10, 9, 1]})
    assert by_duckdb(QRELS, path).found.positions.tolist() == [1, 3]


def test_infinite_and_huge_scores_have_their_place(tmp_path: Path) -> None:
    scores = {"a": math.inf, "b": 1e39, "c": 3.4028235677973362e38, "d": 1e-60, "e": -0.0, "f": 0.0, "g": -math.inf}
    judged, runs = {"q": dict.fromkeys(scores, 1)}, {"x": {"q": scores}}
    path = written(tmp_path, "x", rows_of(runs))
    for dtype in choices_of(Conventions, "score_dtype"):
        for ties in ("trec", "expected"):
            expected = lexirecall.project(judged, runs, score_dtype=dtype, ties=ties)
            assert_same(by_duckdb(judged, path, score_dtype=dtype, ties=ties), expected)


def test_judgments_that_are_not_utf8_are_never_found(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"q1 0 a 1\nq1 0 caf\xe9 1\ncaf\xe9 0 a 1\n")
    positions = by_duckdb(tmp_path / "qrels", written(tmp_path, "runs", rows_of(RUNS)))
    assert positions.found.positions.tolist() == [2]
    assert positions.num_unjudged == (2, 0)
    assert positions.judgments.num_positive.tolist() == [2, 1]


def spoiled(**changes: Any) -> dict[str, list[Any]]:
    return {**rows_of({"x": {"q1": {"a": 1.0, "b": 2.0}, "q2": {"d": 3.0}}}), **changes}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (spoiled(score=["1", "NaN", "-nan"]), "row [012]: the score is missing or NaN"),
        (spoiled(score=[1.0, math.nan, 2.0]), "row [012]: the score is missing or NaN"),
        (spoiled(score=["1", "1e400", "high"]), "row [012]: the score is not a number: 'high'"),
        (spoiled(docno=["a", None, "d"]), "row [012]: the document id is missing"),
        (spoiled(qid=["q1", None, "d"]), "row [012]: the query id is missing"),
        (spoiled(run=["x", None, "x"]), "row [012]: the run name is missing"),
        (spoiled(docno=[1.0, 2.5, 3.0]), "row [012]: the document id is not a whole number: 2.5"),
        (spoiled(docno=[1.0, math.inf, math.nan]), "row [012]: the document id is (missing|not a whole number: inf)"),
        (spoiled(docno=["a", "a", "d"]), "row [12]: document 'a' of query 'q1' is listed twice, first in row [01]"),
        (spoiled(qid=["7", "8", "9"]), "no query in common with the judgments: x"),
        (spoiled(docno=[True, False, True]), "cannot use the column 'docno' as document ids: it holds truth values"),
        ({"qid": ["q1"], "score": [1.0]}, "found no column of document ids among qid, score"),
        ({"qid": ["q1"], "docno": ["a"]}, "found no column of scores or ranks"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_and_nothing_is_left_behind(
    tmp_path: Path, columns: dict[str, list[Any]], message: str
) -> None:
    path = written(tmp_path, "bad.parquet", columns)
    folder = tmp_path / "spill"
    folder.mkdir()
    with pytest.raises(LexirecallError, match=message) as caught:
        by_duckdb(QRELS, path, engine_options={"temp_directory": folder})
    assert caught.value.remedy
    assert list(folder.iterdir()) == []
    if isinstance(caught.value, FormatError):
        assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("form", ["csv", "parquet", "relation"])
def test_an_unused_column_that_may_name_runs_is_named(form: str, tmp_path: Path, connection: Any) -> None:
    unused = "the column 'ranker' is not used; if its 2 values are runs: columns={'run': 'ranker'}"
    options: dict[str, Any] = {"engine": "duckdb", "engine_options": {"connection": connection}}
    for docnos in ("ab", "aa"):
        path = tmp_path / f"{docnos}.{form}"
        columns = f"unnest({[*docnos]}) AS docno, unnest([2, 1]) AS score, unnest(['x', 'y']) AS ranker"
        table = f"(SELECT 'q1' AS qid, {columns})"
        if form != "relation":
            connection.execute(f"COPY {table} TO '{path}'")
        run = connection.sql(f"FROM {table}") if form == "relation" else path
        if docnos == "ab":
            (note,) = lexirecall.evaluate({"q1": {"a": 1}}, run, "AP", **options).notes
            assert unused in note.text
            continue
        with pytest.raises(FormatError, match="listed twice") as caught:
            lexirecall.evaluate({"q1": {"a": 1}}, run, "AP", **options)
        assert caught.value.remedy.startswith(unused)


def test_duplicates_of_queries_that_nobody_judged_do_not_matter(tmp_path: Path) -> None:
    path = written(tmp_path, "x", spoiled(qid=["q9", "q9", "q2"], docno=["a", "a", "d"]))
    assert by_duckdb(QRELS, path).num_unjudged == (1,)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("qid,docno,score\n")
    with pytest.raises(FormatError, match=r"empty\.csv: the table has no rows"):
        by_duckdb(QRELS, tmp_path / "empty.csv")


def test_two_runs_of_one_name_are_refused(tmp_path: Path) -> None:
    first, second = (written(tmp_path, name, rows_of({"x": RUNS["x"]})) for name in ("first", "second"))
    with pytest.raises(UsageError, match=r"two runs have the same name: 'x' .*first.* and .*second"):
        by_duckdb(QRELS, [first, second])


def test_a_name_is_for_one_run_only(tmp_path: Path) -> None:
    path = written(tmp_path, "runs", rows_of(RUNS))
    with pytest.raises(FormatError, match="the column 'run' has 2 runs, but only one name is given"):
        by_duckdb(QRELS, {"bm25": path})
    assert by_duckdb(QRELS, {"bm25": written(tmp_path, "x", rows_of({"x": RUNS["x"]}))}).runs == ("bm25",)


@pytest.mark.parametrize("content", ["q1 Q0 a 1 0.5 x\n", json.dumps(RUNS["x"]), "", "a,b\n1,2\n"])
def test_text_needs_no_engine(tmp_path: Path, content: str) -> None:
    (tmp_path / "bm25.run").write_text(content)
    with pytest.raises(FormatError, match=r"bm25\.run: is neither Parquet nor CSV.*\n.*leave out the engine"):
        by_duckdb(QRELS, tmp_path / "bm25.run")


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a mapping, which is already in memory"):
        by_duckdb(QRELS, RUNS)
    with pytest.raises(FormatError, match="is a folder without Parquet or CSV files"):
        by_duckdb(QRELS, tmp_path)
    with pytest.raises(FormatError, match="no such file"):
        by_duckdb(QRELS, tmp_path / "nowhere.parquet")
    (tmp_path / "torn.parquet").write_bytes(plain(tmp_path, "x").read_bytes()[:-20])
    with pytest.raises(FormatError, match=r"torn\.parquet: the Parquet file is truncated"):
        by_duckdb(QRELS, tmp_path / "torn.parquet")
    (tmp_path / "x.csv").write_bytes(b"\xfd7zXZ\x00")
    with pytest.raises(FormatError):
        by_duckdb(QRELS, tmp_path / "x.csv")


def test_a_relation_needs_its_own_connection(connection: Any) -> None:
    table = relation(connection, rows_of(RUNS))
    with pytest.raises(UsageError, match="is a relation of another connection"):
        by_duckdb(QRELS, table)
    assert by_duckdb(QRELS, table, engine_options={"connection": connection}).runs == ("x", "y")


def test_a_result_that_is_not_fetched_is_not_lost() -> None:
    with duckdb.connect() as lent:
        table = relation(lent, rows_of(RUNS))
        lent.execute("SELECT 7")
        if duckdb.__version__ >= "2":  # earlier versions hold the whole result
            with pytest.raises(UsageError, match="has a result of which not all is fetched"):
                by_duckdb(QRELS, table, engine_options={"connection": lent})
        assert lent.fetchall() == [(7,)]


def test_what_duckdb_cannot_scan_is_refused(connection: Any) -> None:
    with pytest.raises(UsageError, match="run 'x' is of type object, which DuckDB cannot read"):
        open_table(Session(connection), NamedRun("x", object()), None)  # type: ignore[arg-type]


def test_more_queries_than_are_numbered_are_sorted_by_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexirecall.formats.duckdb._MOST_NUMBERED", 1)
    path = written(tmp_path, "runs", rows_of(RUNS))
    assert_same(by_duckdb(QRELS, path), lexirecall.project(QRELS, path))


def test_a_connection_is_left_as_it_was() -> None:
    with duckdb.connect() as lent:
        table = relation(lent, rows_of(RUNS))
        before = lent.sql("SELECT table_name FROM information_schema.tables ORDER BY ALL").fetchall()
        by_duckdb(QRELS, table, engine_options={"connection": lent})
        with pytest.raises(DataError):
            sort_keys(lent, {"none": {"a": 1}}, table)
        assert lent.sql("SELECT table_name FROM information_schema.tables ORDER BY ALL").fetchall() == before
        with pytest.raises(UsageError, match="do not apply to your own connection"):
            by_duckdb(QRELS, table, engine_options={"connection": lent, "threads": 1})


@pytest.mark.parametrize(
    "wrong",
    [
        *({"memory_limit": value} for value in ("much", "", 2)),
        *({"threads": value} for value in (-1, 0, 1.5, "1.5", True, "many")),
        {"temp_directory": "no-such-folder"},
        {"temp_directory": 3},
        {"connection": "x"},
    ],
    ids=str,
)
def test_settings_that_duckdb_does_not_take_are_named_before_anything_is_read(wrong: dict[str, Any]) -> None:
    [(name, value)] = wrong.items()
    with pytest.raises(UsageError, match=f"^{name} is {str(value)!r}|^{name} is {value!r}") as caught:
        by_duckdb("no-such-qrels", "no-such-run", engine_options=wrong)
    assert caught.value.remedy


def test_without_duckdb_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = written(tmp_path, "runs", rows_of(RUNS))
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(UsageError, match=re.escape(how_to_install("duckdb"))):
        by_duckdb(QRELS, path)


def large(folder: Path, queries: int = 400) -> tuple[dict[str, dict[str, int]], Path]:
    """Judgments, and a run with a thousand documents a query, shuffled; document i of a query is at position i + 1."""
    path = folder / "large.parquet"
    with duckdb.connect() as opened:
        opened.execute("SET VARIABLE requests = ?", [queries])
        opened.sql(
            "SELECT 'request ' || (i % getvariable('requests')) AS qid, -(i // getvariable('requests')) AS score, "
            "repeat('long', 99) || (i // getvariable('requests')) AS docno "
            "FROM range(1000 * getvariable('requests')) AS t(i) ORDER BY hash(i)"
        ).write_parquet(str(path))
    judged = {f"request {q}": {f"{'long' * 99}{q + k}": 1 for k in (0, 100, 500)} for q in range(queries)}
    return judged, path


def test_what_does_not_fit_into_memory_goes_to_disk_and_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, path = large(tmp_path)
    folder = tmp_path / "spill"
    folder.mkdir()
    spilled = []
    stream = Session.stream

    def watched(self: Session, query: str, **options: Any) -> Iterator[Any]:
        for batch in stream(self, query, **options):
            spilled.append(sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()))
            yield batch

    monkeypatch.setattr(Session, "stream", watched)
    positions = by_duckdb(
        judged, path, engine_options={"memory_limit": "128MB", "threads": 1, "temp_directory": folder}
    )
    assert positions.found.positions.tolist() == [q + k + 1 for q in range(400) for k in (0, 100, 500)]
    assert (positions.num_retrieved == 1000).all()
    assert list(folder.iterdir()) == []
    assert max(spilled) > 0


def test_too_little_memory_is_said(tmp_path: Path) -> None:
    judged, path = large(tmp_path, 50)
    with pytest.raises(DataError, match=r"the memory limit is too small.*\n.*raise memory_limit"):
        by_duckdb(judged, path, engine_options={"memory_limit": "1MB", "temp_directory": tmp_path})
    assert [each.name for each in tmp_path.iterdir()] == ["large.parquet"]


LONG = "SELECT count(*) AS num_rows FROM range(10000000000) AS t(i) WHERE i % 7 = 3"
INTERRUPTED = f"""
import concurrent.futures, faulthandler, signal, sys, threading
faulthandler.dump_traceback_later(3000, exit=True)
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it, as background jobs do
import duckdb
from lexirecall import project
from lexirecall.formats.duckdb import session

def stream(self, query, *, label, source, plain=session.Session.stream):
    is_long.set()
    return plain(self, {LONG!r}, label=label, source=source)

def begin(self, ask, *given, plain=session._WaitingThread.begin):
    def told():
        if is_long.is_set():
            has_begun.set()
        try:
            return ask(*given)
        except duckdb.InterruptException:
            print("stopped")
            raise
    return plain(self, told)

def wait(futures, timeout):
    if has_begun.is_set() and not is_said.is_set():
        is_said.set()
        print("runs", flush=True)
    return concurrent.futures.wait(futures, timeout)

is_long, has_begun, is_said = threading.Event(), threading.Event(), threading.Event()
session.Session.stream, session._WaitingThread.begin, session.wait = stream, begin, wait
runs, folder, is_own = sys.argv[1:]
try:
    with duckdb.connect() as lent:
        options = dict(temp_directory=folder) if is_own == "True" else dict(connection=lent)
        project({QRELS!r}, runs, engine="duckdb", engine_options=options)
except KeyboardInterrupt:
    print("interrupted", *(thread.name for thread in threading.enumerate()))
"""


@pytest.mark.parametrize("is_own", [True, False])
def test_an_interruption_stops_the_query(tmp_path: Path, is_own: bool) -> None:
    path = written(tmp_path, "runs", rows_of(RUNS))
    folder = tmp_path / "spill"
    folder.mkdir()
    words = [sys.executable, "-c", INTERRUPTED, str(path), str(folder), str(is_own)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout
        assert program.stdout.readline() == "runs\n"
        program.send_signal(signal.SIGINT)
        out, _ = program.communicate()
    assert out.splitlines() == ["stopped", "interrupted MainThread"]
    assert list(folder.iterdir()) == []


def test_an_interruption_is_not_lost_on_a_query_that_has_yet_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, stopped = threading.Event(), threading.Event()

    class Late:
        def __init__(self, connection: Any) -> None:
            self.connection = connection

        def execute(self, query: str) -> Any:
            asked.wait()
            try:
                return self.connection.execute(query)
            except duckdb.InterruptException:
                stopped.set()
                raise

        def interrupt(self) -> None:
            self.connection.interrupt()
            asked.set()

    def interrupted(futures: list[Any], timeout: float) -> Any:
        monkeypatch.setattr("lexirecall.formats.duckdb.session.wait", concurrent.futures.wait)
        raise KeyboardInterrupt

    monkeypatch.setattr("lexirecall.formats.duckdb.session.wait", interrupted)
    with duckdb.connect() as opened, pytest.raises(KeyboardInterrupt):
        Session(Late(opened)).make("numbers", LONG, label="counting", source="numbers")
    assert stopped.is_set()


def test_progress_follows_the_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, int] = {}

    class Watched(Progress):
        def __init__(self, label: str, total: int, *, shown: bool | None = None) -> None:
            self.label = label
            super().__init__(label, total, shown=shown)

        def advance(self, units: int) -> None:
            seen[self.label] = seen.get(self.label, 0) + units
            super().advance(units)

    monkeypatch.setattr("lexirecall.formats.duckdb.session.Progress", Watched)
    monkeypatch.setattr("lexirecall.formats.duckdb.session._PAUSE", 0.001)
    judged, path = large(tmp_path)
    by_duckdb(judged, path, engine_options={"threads": 1})
    assert 0 < seen[f"finding positions in {path}"] <= 1000


def test_nothing_is_said_about_leaks_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query_id,doc_id,grade\nq1,a,1\n")
    (tmp_path / "r.csv").write_text("query_id,doc_id,score\nq1,a,2\n")
    words = [sys.executable, "-m", "lexirecall", "eval", "q.csv", "r.csv", "-m", "AP", "--engine", "duckdb"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1].split() == ["r.csv", "1.0000"]
    assert "leak" not in done.stderr

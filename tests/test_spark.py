"""Spark gives the numbers of every other way, bit for bit; a real session on two cores."""

import gzip
import math
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lexirecall import compare, evaluate, project, rank, unjudged
from lexirecall.cli import main
from lexirecall.engines import spark as engine
from lexirecall.engines import spark_session
from lexirecall.engines.spark_faults import FAULTS, explained, fault_error
from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError
from lexirecall.exact import sort_key
from lexirecall.installing import how_to_install
from pages import DOCS, run_page
from test_frames import seen
from test_golden import compare as compare_golden
from test_table_files import every_odd_file, folder_with

MEASURES = [
    "LexiRecall", "LexiPrecision", "RPP", "TSE", "AP", "AP(rel=2)", "nDCG", "nDCG@3", "R@3", "Rprec", "RR", "P@2",
    "Bpref", "infAP", "Judged@3", "SetP", "ERR@5", "NumRet", "LastRel", "SL3",
]  # fmt: skip
ON_TWO: dict[str, Any] = {"engine": "spark", "engine_options": {"master": "local[2]"}}
Frame = Any
Qrels = Any
Runs = Any


def collection(seed: int, *, ids: type = str) -> tuple[Qrels, Runs]:
    """Make queries of many sorts: tied scores, no answer, no judgments, nothing relevant, grades of all kinds."""
    chance = random.Random(seed)  # noqa: S311 - a collection is not a secret
    documents = [f"d{i}" for i in range(12)] if ids is str else list(range(5, 17))
    queries = [f"q{i}" if ids is str else i for i in range(30)]
    grades = [-1, 0, 0, 1, 1, 2, 3, 0.5, 1.5]
    qrels = {q: {i: chance.choice(grades) for i in chance.sample(documents, chance.randint(1, 9))} for q in queries}
    qrels[queries[0]] = dict.fromkeys(documents[:3], 0)
    unjudged = ["unjudged" if ids is str else 99]
    runs: Runs = {}
    for name in ("Größe 'x' {y}", "bm25", "dense"):
        answered = [q for q in queries + unjudged if chance.random() < 0.8]
        runs[name] = {
            q: {
                i: chance.choice([0.0, -0.0, 1, 2, 2.5, -math.inf, 1e39])
                for i in chance.sample(documents, chance.randint(1, 12))
            }
            for q in answered
        }
    return qrels, runs


def as_frames(spark: Any, qrels: Qrels, runs: Runs, *, id_type: str = "string") -> tuple[Frame, Frame]:
    rows = [
        (name, q, i, float(x)) for name, run in runs.items() for q, ranked in run.items() for i, x in ranked.items()
    ]
    judged = [(q, i, float(grade)) for q, grades in qrels.items() for i, grade in grades.items()]
    rows, judged = rows[::-1], judged[::3] + judged[1::3] + judged[2::3]  # the order of rows says nothing
    ids = f"qid {id_type}, docno {id_type}"
    return (
        spark.createDataFrame(judged, f"{ids}, relevance double"),
        spark.createDataFrame(rows, f"run string, {ids}, score double"),
    )


def local(given: Any) -> Any:
    """Return the same rows in memory."""
    if isinstance(given, dict):
        return {name: local(each) for name, each in given.items()}
    return given.toArrow() if hasattr(given, "toArrow") else given


def check_same(qrels: Any, runs: Any, **options: Any) -> None:
    """All that is known of the rankings, from which everything else is computed."""
    assert seen(project(qrels, runs, **options)) == seen(project(local(qrels), local(runs), **options))


CONVENTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "sizes": {"corpus_size": {f"q{i}": 40 + i for i in range(30)}, "needs_judged": True},
    "worst": {"ties": "worst", "depth": 5},
    "best": {"ties": "best", "judged_only": True, "score_dtype": "float32"},
    "paper": {"imputation": "paper", "corpus_size": 40, "depth": 6},
    "expected": {"ties": "expected", "depth": 4, "needs_judged": True},
}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_positions_are_those_of_memory(spark: Any, convention: str) -> None:
    qrels, runs = collection(seed=list(CONVENTIONS).index(convention))
    check_same(*as_frames(spark, qrels, runs), **CONVENTIONS[convention])


def test_every_verb_takes_frames_of_spark(spark: Any) -> None:
    """Judgments, runs, providers and groups; in the tables of a result only what is there is read."""
    judged, ranked = as_frames(spark, *collection(seed=3))
    groups = [(f"q{n}", "odd" if n % 2 else "even") for n in range(30)]
    more = {
        "providers": spark.createDataFrame(
            [("d1", "Ada"), ("d2", "Ben"), ("d3", "Ada")], "docno string, provider string"
        ),
        "by": spark.createDataFrame(groups, "qid string, group string"),
        "bootstrap": 99,
    }
    for options in ({}, *({name: each} for name, each in more.items())):
        found = evaluate(judged, ranked, MEASURES, **options)
        expected = evaluate(local(judged), local(ranked), MEASURES, **local(options))
        assert found.to_dict(per_query=True) == expected.to_dict(per_query=True)
        assert [(note.kind, note.text) for note in found.notes] == [(note.kind, note.text) for note in expected.notes]
        assert found.manifest.runs == expected.manifest.runs
    here = local(judged), local(ranked)
    assert [*compare(judged, ranked, MEASURES).rows()] == [*compare(*here, MEASURES).rows()]
    assert rank(judged, ranked).to_dict() == rank(*here).to_dict()


COLUMNS = ["tinyint", "smallint", "int", "long", "float", "double", "decimal(4,0)", "decimal(9,2)", "string", "binary"]


@pytest.mark.parametrize("id_type", COLUMNS)
def test_ids_are_their_text_whatever_they_are_stored_as(spark: Any, id_type: str) -> None:
    """Judgments go where the rows of their queries are, which are sorted as what they are; -0.0 is 0 too."""
    qrels, runs = collection(seed=7, ids=int)
    strange = {query: {5: 1} for query in ("x1", "007", "1" * 50, "-0", "", "128", "40000", str(2**31), str(2**53))}
    _, rows = as_frames(spark, qrels, runs, id_type="long")
    for name in ("qid", "docno"):
        ids = rows[name].cast("string" if id_type == "binary" else id_type).cast(id_type)
        rows = rows.withColumn(name, ids)
    if id_type in ("float", "double"):
        rows = rows.selectExpr("run", "if(qid = 0 AND docno > 9, -qid, qid) AS qid", "docno", "score")
    check_same({**qrels, **strange}, rows)


def test_runs_are_in_the_order_in_which_they_appear(spark: Any, tmp_path: Path) -> None:
    """In a frame, and in files, which Spark reads the largest first."""
    rows = {"a": ["z", "b"], "b": ["c", "z", "a", *(f"{n:099}" for n in range(99))]}
    ordered = list(dict.fromkeys([*rows["a"], *rows["b"]]))
    qrels = {"q": {"a0": 1, "b0": 1}}
    parts = []
    for part, names in rows.items():
        cells = {"run": names, "qid": ["q"] * len(names), "docno": [f"{part}0"] * len(names)}
        parts.append(pa.table({**cells, "score": [1.0] * len(names)}))
        (tmp_path / "runs %20" / part).mkdir(parents=True)
        pq.write_table(parts[-1], tmp_path / "runs %20" / part / "0.parquet")
    frame = spark.createDataFrame(pa.concat_tables(parts)).repartition(1)
    assert project(qrels, frame).runs == tuple(ordered)
    assert project(qrels, tmp_path / "runs %20").runs == tuple(ordered)
    assert project(qrels, tmp_path / "runs %20", engine="spark").runs == tuple(ordered)


@pytest.mark.parametrize("keywords", [{}, {"depth": 1}])
def test_runs_without_judged_documents_are_pointed_out(spark: Any, keywords: dict[str, Any]) -> None:
    qrels = {"q1": {"D4": 1, "D2": 0, "D3": 1, "D1": -1}, "q2": {"D1": 1}}
    runs = {
        "lower": {"q2": {"d1": 1.0}, "q1": {"d9": 4.0, "d1": 3.0, "d3": 2.0, "d2": 1.0}},
        "none relevant": {"q1": {"x": 2.0, "D2": 1.0}},
        "prefixed": {"q2": {"doc:D1": 1.0}, "q7": {"D1": 1.0}},
        "good": {"q1": {"D4": 1.0}},
    }
    expected = evaluate(qrels, runs, ["AP"], **keywords).notes[0]
    assert "'d1', 'd2', 'd3' for query 'q1', the judgments have 'D1', 'D2', 'D3'" in expected.text
    ranked = as_frames(spark, qrels, runs)[1]
    frames = {name: ranked.where(ranked.run == name) for name in runs}
    for given in (frames, ranked.sort("run")):
        found = evaluate(qrels, given, ["AP"], **keywords).notes[0]
        assert (found.kind, found.count, found.text) == ("no judged document", 2, expected.text)


def test_optimism_is_warned_of_and_the_same(spark: Any) -> None:
    qrels, runs = collection(seed=8)
    frames = as_frames(spark, qrels, runs)
    with pytest.warns(UserWarning, match="optimistic imputation rewards returning nothing"):
        check_same(*frames, imputation="optimistic")


def test_frames_by_name_ranks_and_no_grades(spark: Any) -> None:
    """A frame of each run, ordered by rank; judgments without grades; two evaluations in one session."""
    ranked = {"second": {"q": ["x", "a"]}, "first": {"q": ["b", "a"], "r": ["c"]}}
    frames = {
        name: spark.createDataFrame(
            [(q, document, rank) for q, documents in run.items() for rank, document in enumerate(documents, 1)],
            "`query.id` string, `the {item}` string, rank int",
        )
        for name, run in ranked.items()
    }
    judged = spark.createDataFrame([("q", "a"), ("q", "b"), ("r", "c")], "qid string, docno string")
    columns = {"run.document": "the {item}"}
    check_same(judged, frames, columns=columns)
    only = evaluate(judged, {"first": frames["first"]}, ["AP", "LexiRecall"], columns=columns)
    assert only.to_dict() == {"first": {"AP": 1.0}}
    assert spark.catalog.listTables() == []
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_sort_keys_are_those_of_positions(spark: Any) -> None:
    qrels, runs = collection(seed=11)
    projection = project(qrels, runs, ties="worst").at_level(1)
    expected = {
        (name, q): sort_key([int(p) for p in vector if p < math.inf], len(vector))
        for s, name in enumerate(runs)
        for i, q in enumerate(qrels)
        if len(vector := projection.vector(s, i))
    }
    keys = engine.sort_keys(*as_frames(spark, qrels, runs), ties="worst").collect()
    assert {(row.run, row.query): bytes(row.sort_key) for row in keys} == expected


def test_repeated_rows_are_counted_and_the_best_is_kept(spark: Any) -> None:
    runs = spark.createDataFrame(
        [("s", "q", "a", 1.0), ("s", "q", "b", 2.0), ("s", "q", "a", 3.0), ("s", "r", "a", 1.0)],
        "system string, qid string, docid string, score double",
    )
    qrels = spark.createDataFrame([("q", "a", 1), ("q", "a", 1), ("q", "b", 0)], "qid string, docid string, rel int")
    with pytest.raises(FormatError, match=r"run: document 'a' of query 'q' is listed twice\n.*=.best. \(the highest"):
        evaluate(qrels, runs, ["RR"])
    scores = evaluate(qrels, runs, ["RR", "NumRet"], duplicates="best")
    assert scores.to_dict() == {"s": {"RR": 1.0, "NumRet": 2.0}}
    assert [note.kind for note in scores.notes] == ["without judgments", "duplicates", "repeated judgments"]


RUN = [("s", "q", "a", 1.0)]
QRELS = [("q", "a", 1.0)]
BAD: dict[str, tuple[Any, Any, dict[str, Any], type[Exception], str]] = {
    "null request": ([("s", None, "a", 1.0)], QRELS, {}, FormatError, "run 's', document 'a': the query id is missing"),
    "NaN score": ([*RUN, ("s", "q", "b", math.nan)], QRELS, {}, FormatError, "'b': the score is missing or NaN"),
    "null score": ([("s", "q", "b", None)], QRELS, {}, FormatError, "document 'b': the score is missing or NaN"),
    "null item": (RUN, [("q", None, 1.0)], {}, FormatError, "qrels: row 0: the document id is missing"),
    "infinite grade": (RUN, [("q", "a", math.inf)], {}, FormatError, "the grade is not finite: inf"),
    "two grades": (
        RUN, [*QRELS, ("q", "a", 2.0)], {}, FormatError, "'a' of query 'q' has grade 2 here and 1 in row 0"
    ),
    "no judgments": (RUN, [], {}, FormatError, "qrels: the table has no rows"),
    "no rows": ([], QRELS, {}, FormatError, "run: the table has no rows"),
    "strangers": ([("s", "z", "a", 1.0)], QRELS, {}, DataError, "no query in common with the judgments: s\n.*'q'"),
    "nothing relevant": (RUN, [("q", "a", 0.5)], {}, DataError, "the highest grade is 0.5 and the level is 1"),
    "small corpus": (RUN, [*QRELS, ("q", "b", 1.0)], {"corpus_size": 1}, DataError, "corpus size 1 is too small.*'q'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_data_is_named(spark: Any, case: str) -> None:
    rows, judged, keywords, error, message = BAD[case]
    runs = spark.createDataFrame(rows, "system string, qid string, docid string, score double")
    qrels = spark.createDataFrame(judged, "qid string, docid string, rel double")
    with pytest.raises(error, match=f"(?s){message}"):
        evaluate(qrels, runs, ["RR"], **keywords)
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_of_several_errors_it_is_always_the_same_one(spark: Any) -> None:
    """In whatever order the rows arrive."""
    rows = [(f"s{n % 3}", f"q{n % 7}", f"d{n}", math.nan if n % 5 == 0 else 1.0) for n in range(200)]
    said = set()
    for start in (0, 50, 100):
        runs = spark.createDataFrame(rows[start:] + rows[:start], "run string, qid string, docid string, score double")
        with pytest.raises(FormatError) as caught:
            project({"q1": {"a": 1}}, runs.repartition(1 + start // 20))
        said.add(str(caught.value))
    assert len(said) == 1


def test_a_bad_row_of_parquet_is_named_as_in_memory(spark: Any, tmp_path: Path) -> None:
    assert spark is not None
    rows = pa.table({"qid": ["q"] * 9, "docno": [*"abcdefghd"], "score": [*map(float, range(9))]})
    for name, table in (
        ("a b.parquet", rows.slice(0, 8).set_column(2, "score", pa.array([*range(5), None, 1, 2]))),
        ("twice.parquet", rows),
    ):
        pq.write_table(table, tmp_path / name)
        said = []
        for engine_name in (None, "spark"):
            with pytest.raises(FormatError) as caught:
                project({"q": {"a": 1}}, tmp_path / name, engine=engine_name)
            said.append(caught.value.problem)
        assert said[0] == said[1]
        assert "row 5" in said[0] or "row 8" in said[0]


def test_bad_usage_is_refused_before_anything_runs(spark: Any) -> None:
    runs = spark.createDataFrame(RUN, "system string, qid string, docid string, score double")
    qrels = spark.createDataFrame(QRELS, "qid string, docid string, rel double")
    for keywords, message in (
        ({"ties": "input"}, "goes by the order of rows"),
        ({"duplicates": "first"}, "goes by the order of rows"),
        ({"corpus_size": 1.5}, "corpus_size is of type float"),
        ({"engine": "spark", "engine_options": {"memory": "1g"}}, "has 'memory', but settings of Spark begin with"),
    ):
        with pytest.raises(UsageError, match=message):
            evaluate(qrels, runs, ["RR"], **keywords)
    with pytest.raises(UsageError, match=r"run 'x' is a mapping, which is already in memory\n.*leave out the engine"):
        project(qrels, {"x": {"q": {"a": 1}}}, engine="spark")
    with pytest.raises(UsageError, match="run 'x' is a Table, which is already in memory"):
        project(qrels, {"x": pa.table({"qid": ["q"], "docno": ["a"], "score": [1]})}, engine="spark")
    with pytest.raises(UsageError, match="whole lists are needed"):
        unjudged(qrels, {"a": runs, "b": runs})
    with pytest.raises(UsageError, match="single position"):
        engine.sort_keys(qrels, runs, ties="expected")


def test_a_heavy_query_and_many_relevant_documents_survive(spark: Any) -> None:
    """One query of 60,000 rows of which 2,000 are relevant, among small ones."""
    text = "SELECT 's' AS system, '{q}' AS qid, CAST(id AS STRING) AS docid, CAST(id % 997 AS DOUBLE) AS score "
    text += "FROM range({n})"
    sizes = {"heavy": 60_000, **{f"q{i}": 10 for i in range(5)}}
    runs = spark.sql(" UNION ALL ".join(text.format(q=q, n=n) for q, n in sizes.items()))
    qrels = {q: dict.fromkeys(range(0, n, 30), 1) for q, n in sizes.items()}
    judged = spark.createDataFrame(
        [(q, str(i), 1) for q, documents in qrels.items() for i in documents], "qid string, docid string, rel int"
    )
    check_same(judged, runs)


def test_files_are_read_by_the_session(spark: Any, tmp_path: Path) -> None:
    qrels, runs = collection(seed=12)
    judged, frame = as_frames(spark, qrels, runs)
    frame.write.parquet(str(tmp_path / "runs"))
    judged.write.csv(str(tmp_path / "qrels.csv"), header=True)
    expected = evaluate(qrels, runs, ["AP", "RR"]).to_dict()
    found = evaluate(tmp_path / "qrels.csv", tmp_path / "runs", ["AP", "RR"], **ON_TWO)
    assert found.to_dict() == expected
    frame.where("run = 'bm25'").drop("run").write.parquet(str(tmp_path / "parts" / "bm25.parquet"))
    frame.where("run <> 'bm25'").write.parquet(str(tmp_path / "parts" / "others"))
    found = evaluate(tmp_path / "qrels.csv", str(tmp_path / "parts" / "*"), ["AP", "RR"], **ON_TWO)
    assert {name.removesuffix(".parquet"): each for name, each in found.to_dict().items()} == expected
    for path in ("qrels.csv", "runs"):  # as if they were elsewhere
        given: dict[str, Any] = {"qrels": tmp_path / "qrels.csv", "runs": tmp_path / "runs"}
        given["qrels" if path == "qrels.csv" else "runs"] = f"file://{tmp_path / path}"
        assert evaluate(given["qrels"], given["runs"], ["AP", "RR"], **ON_TWO).to_dict() == expected


def test_files_that_are_no_tables_are_refused(spark: Any, tmp_path: Path) -> None:
    qrels, runs = collection(seed=12)
    judged, frame = as_frames(spark, qrels, runs)
    frame.write.parquet(str(tmp_path / "runs"))
    judged.write.parquet(str(tmp_path / "qrels"))
    (tmp_path / "bm25.run").write_text("q Q0 a 1 1.0 bm25\n")
    (tmp_path / "empty").mkdir()
    given = {name: str(tmp_path / name) for name in ("runs", "qrels", "bm25.run", "empty")}
    for (judgments, *ranked), message in (
        (("qrels", "bm25.run"), "neither Parquet nor CSV"),
        (("qrels", "empty"), "without Parquet or CSV files"),
        (("qrels", "runs", "runs"), "two runs have the same name"),
    ):
        with pytest.raises(LexirecallError, match=message):
            project(given[judgments], [given[name] for name in ranked], engine="spark")
    with pytest.raises(FormatError, match=r"none.parquet: Spark cannot read it"):
        project(given["qrels"], f"file://{tmp_path}/none.parquet", engine="spark")


@every_odd_file
def test_a_file_of_a_folder_that_cannot_be_read_is_named(spark: Any, tmp_path: Path, odd: str) -> None:
    folder, said = folder_with(tmp_path, odd)
    said = said.replace("the table cannot be read: ", "Spark cannot read it")
    (tmp_path / "qrels.txt").write_text("007 0 b 1\n")
    with pytest.raises(FormatError, match=said):
        project(tmp_path / "qrels.txt", folder, engine="spark")


def test_what_only_spark_sees_is_checked_too(spark: Any, tmp_path: Path) -> None:
    """A path with a scheme may be anywhere, so that Spark lists the files; it would pass over those without content."""
    folder, _ = folder_with(tmp_path, "zero bytes")
    (folder / "_SUCCESS").write_bytes(b"")
    (tmp_path / "qrels.txt").write_text("007 0 b 1\n")
    with pytest.raises(FormatError, match=r"system=y/2\.parquet: the file is empty"):
        project(tmp_path / "qrels.txt", f"file://{folder}", engine="spark")
    (folder / "system=y" / "2.parquet").write_bytes(b"garbage")
    with pytest.raises(FormatError, match=r"system=y/2\.parquet: Spark cannot read it"):
        project(tmp_path / "qrels.txt", f"file://{folder}", engine="spark")
    (tmp_path / "run.csv").write_bytes(b"qid,docno,score\n007,b\n")
    with pytest.raises(
        FormatError, match=r"run\.csv: a row is not UTF-8 text, or does not have the 3 cells .*: '007,b'"
    ):
        project(tmp_path / "qrels.txt", f"file://{tmp_path}/run.csv", engine="spark")


def test_partitions_are_texts(spark: Any, tmp_path: Path) -> None:
    folder, _ = folder_with(tmp_path, "garbage")
    (folder / "system=y" / "2.parquet").unlink()
    (folder / "system=y").rmdir()
    (folder / "system=x").rename(folder / "system=007")
    (tmp_path / "qrels.txt").write_text("007 0 b 1\n")
    assert evaluate(tmp_path / "qrels.txt", folder, ["AP"], engine="spark").to_dict() == {"007": {"AP": 0.5}}


def test_the_examples_of_the_page_run(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("a", 1, 10, 0.9), ("a", 1, 11, 0.8), ("b", 1, 11, 0.9), ("b", 1, 10, 0.1), ("b", 2, 12, 0.5)]
    ratings = [(1, 10, 5.0), (1, 11, 3.0), (2, 12, 4.5)]
    frames = {
        "recommendations": spark.createDataFrame(rows, "system string, user_id long, item_id long, score double"),
        "ratings": spark.createDataFrame(ratings, "user_id long, item_id long, rating double"),
    }
    for name, frame in frames.items():
        frame.write.parquet(f"{tmp_path}/{name}/")
    page = (Path(__file__).parents[1] / "docs" / "spark.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    for folder in (*frames, "values"):
        assert f'"{folder}/"' in code
        code = code.replace(f'"{folder}/"', f'"{tmp_path}/{folder}/"')
    exec(code, {})  # noqa: S102 - our own page
    said = capsys.readouterr().out
    assert said.startswith("run  LexiRecall (win rate)      AP  nDCG@10\n")
    assert "\na                   0.5000  0.5000" in said
    assert spark.read.parquet(f"{tmp_path}/values/").count() > 0


def test_a_session_that_is_there_is_taken_and_its_workers_run_this_python(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine.session() is spark
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "python3")
    spark_session.match_python(spark)
    assert spark.sparkContext.pythonExec == sys.executable


def test_the_code_of_the_page_runs(spark: Any, spark_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"run": "run", "qid": "user_id", "docno": "item_id", "relevance": "rating"}
    qrels, runs = collection(5)
    ratings = {q: {i: 2 * grade for i, grade in grades.items()} for q, grades in qrels.items()}
    for name, frame in zip(("ratings", "recommendations"), as_frames(spark, ratings, runs), strict=True):
        frame.withColumnsRenamed(columns).write.parquet(name)
    run_page(DOCS / "spark.md", {})
    assert "dense" in capsys.readouterr().out
    assert [*(spark_folder / "values").glob("*.parquet")]


def test_every_call_on_spark_prints_what_it_printed_before(spark: Any, spark_folder: Path) -> None:
    assert spark is not None
    compare_golden("spark", spark_folder)


def test_a_missing_or_old_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"(?s)Spark needs Java, and none was found in .*openjdk-17"):
        spark_session.check_java()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(UsageError, match="is Java 11, which is too old for Spark"):
        spark_session.check_java()


def test_missing_pandas_is_named_before_anything_runs(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyspark asks for it before it hands over Arrow batches."""
    monkeypatch.setattr(spark_session, "find_spec", lambda name: None if name == "pandas" else object())
    frame = spark.createDataFrame([("q", "a", 1.0)], "qid string, docid string, score double")
    with pytest.raises(UsageError, match=re.escape(f"pandas not installed\n  {how_to_install('spark')}")):
        project({"q": {"a": 1}}, frame)


def test_missing_pyspark_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(UsageError, match=re.escape(f"{how_to_install('spark')}, and install Java 17")):
        engine.session()


def lost(reason: str, *, task: str = "(TID 43) (127.0.0.1 executor 0)") -> str:
    """Return what Spark says when a task has failed too often, shortened to two lines of Java's stack."""
    return (
        "An error occurred while calling o110.collectToPython.\n"
        ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 28.0 failed 4 times, "
        f"most recent failure: Lost task 0.3 in stage 28.0 {task}: {reason}\n"
        "\tat java.base/sun.nio.ch.UnixFileDispatcherImpl.write0(Native Method)\n\nDriver stacktrace:\n"
        "\tat org.apache.spark.scheduler.DAGScheduler.$anonfun$abortStage$3(DAGScheduler.scala:3122)\n"
    )


def unread(kind: str, path: str, hint: str = "") -> str:
    return (
        "An error occurred while calling o1906.collectToPython.\n"
        f": org.apache.spark.SparkException: [FAILED_READ_FILE.{kind}] Encountered error while reading file {path}. "
        f"{hint} SQLSTATE: KD001\n\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError\n"
    )


def on_worker(error: str) -> str:
    return (
        "\n  An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        '  File "/opt/spark/python/lib/pyspark.zip/pyspark/serializers.py", line 483, in loads\n'
        "    return cloudpickle.loads(obj, encoding=encoding)\n"
        f"           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n{error}\n"
    )


NOT_THERE = "File does not exist. It is possible the underlying files have been updated.\nYou can explicitly invalidate"
CRASHED = (
    "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting "
    "'spark.sql.execution.pyspark.udf.faulthandler.enabled'"
)
SAID: dict[str, tuple[str, type[LexirecallError], str]] = {
    "damaged": (unread("NO_HINT", "file:///data/a%20b/1.csv"), FormatError, "/data/a b/1.csv: Spark cannot read"),
    "gone": (unread("FILE_NOT_EXIST", "s3a://x/1.csv", NOT_THERE), FormatError, "s3a://x/1.csv: the file was removed"),
    "full disk": (
        lost("java.io.IOException: No space left on device"), DataError, "the disk .* is full\n  .*spark.local.dir",
    ),
    "no package": (
        on_worker("ModuleNotFoundError: No module named 'lexirecall'"), UsageError, r"'lexirecall'\n.*PYSPARK_PYTHON",
    ),
    "executor's memory": (
        lost("java.lang.OutOfMemoryError: Java heap space"), DataError, "a Spark worker .*\n.*spark.executor.memory",
    ),
    "driver's memory": (
        "An error occurred while calling o114.persist.\n: java.lang.OutOfMemoryError: Java heap space\n",
        DataError, "Spark's driver ran out of memory\n  raise spark.driver.memory",
    ),
    "no executor": (
        lost("ExecutorLostFailure (executor 40 exited caused by one of the running tasks) Reason: Command exited"),
        DataError, "Spark lost its executors",
    ),
    "dead Python": (lost(CRASHED), DataError, "a Python process .* died"),
    "other Python": (
        "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different "
        "version: 3.9 than that in driver: 3.11, PySpark cannot run with different minor versions.\nPlease check",
        UsageError, "Spark's workers run Python 3.9, but the driver runs 3.11\n",
    ),
    "no Python": (
        lost('java.io.IOException: Cannot run program "/no/python": error=2, No such file or directory'),
        UsageError, "cannot run '/no/python'",
    ),
    "no master": (
        "org.apache.spark.SparkException: Could not parse Master URL: 'nonsense'", UsageError, "the master 'nonsense'",
    ),
    "large results": (
        "An error occurred while calling o41.collectToPython.\n: org.apache.spark.SparkException: Job aborted due to "
        "stage failure: Total size of serialized results of 1 tasks (52.5 KiB) is bigger than "
        "spark.driver.maxResultSize (1024.0 B)\n", DataError, "larger than spark.driver.maxResultSize\n",
    ),
    "no Java": ("Error while sending or receiving", DataError, "the Spark process has ended"),
    "own measure": (
        on_worker("IndexError: list index out of range"), DataError, "Spark failed: IndexError: list index",
    ),
    "unknown": (lost("java.lang.IllegalStateException: no such block"), DataError, "Spark failed: no such block\n"),
    "nothing": ("", DataError, "Spark failed: it does not say why"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_spark_says_is_an_error_with_a_remedy(case: str) -> None:
    text, error, said = SAID[case]
    found = fault_error(text)
    assert type(found) is error
    assert re.match(f"(?s).*{said}", str(found))
    assert found.remedy
    assert "org.apache" not in str(found)
    assert "\tat " not in str(found)


def test_every_fault_has_a_text_that_shows_it() -> None:
    first = {next((f for f in FAULTS if re.search(f.pattern, text, re.DOTALL)), None) for text, _, _ in SAID.values()}
    assert first == {*FAULTS, None}


def test_only_what_comes_from_spark_is_explained() -> None:
    with pytest.raises(ZeroDivisionError), explained():
        _ = 1 / 0
    with pytest.raises(DataError, match=r"the Spark process has ended\n.*spark.driver.memory"), explained():
        raise ConnectionRefusedError(111, "Connection refused")


def table_of(folder: Path, **keywords: Any) -> Path:
    """Write a run of forty queries as a folder of four files of Parquet."""
    folder.mkdir()
    for part in range(4):
        queries = [f"q{10 * part + i // 5}" for i in range(50)]
        documents = [f"d{i % 5}" for i in range(50)]
        rows = pa.table({"qid": queries, "docid": documents, "score": [(7 * i % 50) / 8 for i in range(50)]})
        pq.write_table(rows, folder / f"{part}.parquet", compression="none", use_dictionary=False, **keywords)
    return folder


def damage(path: Path, offset: int) -> None:
    """Turn bytes of the scores around, so many after their page begins: at 0 is what says how large it is."""
    begins = pq.ParquetFile(path).metadata.row_group(0).column(2).data_page_offset + offset
    content = bytearray(path.read_bytes())
    content[begins : begins + 8] = bytes(255 - byte for byte in content[begins : begins + 8])
    path.write_bytes(content)


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def replace_scores(path: Path) -> None:
    rows = pq.read_table(path)
    pq.write_table(rows.set_column(2, "score", pa.array([1.0] * rows.num_rows)), path)


FORTY = [(f"q{i}", "d1", 1) for i in range(40)]
HARMS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a page": (lambda path: damage(path, 0), "Spark cannot read it"),
    "the end": (shorten, "Spark cannot read it"),
    "a value": (lambda path: damage(path, 200), "Spark cannot read it"),
    "all": (Path.unlink, "the file was removed"),
    "other content": (replace_scores, "the file was changed after Spark had listed it"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_harm_to_one_file_after_planning_is_said_of_that_file(spark: Any, tmp_path: Path, harm: str) -> None:
    folder = table_of(tmp_path / "run", write_page_checksum=True)
    qrels, runs = {q: {document: grade} for q, document, grade in FORTY}, spark.read.parquet(str(folder))
    assert project(qrels, runs).runs == ("run",)
    do_harm, said = HARMS[harm]
    do_harm(folder / "2.parquet")
    calls: tuple[Callable[..., Any], ...] = (project, engine.sort_keys)
    for call in calls:
        with pytest.raises(FormatError, match=rf"run/2\.parquet: {said}"):
            call(qrels, runs)
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_a_damaged_file_ends_the_command_without_a_stack_or_output(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Broken gzip in one of the parts; the judgments are text."""
    (tmp_path / "runs").mkdir()
    for part in range(2):
        rows = "".join(f"q{part},d{i},{i / 8}\n" for i in range(5000))
        (tmp_path / "runs" / f"{part}.csv.gz").write_bytes(gzip.compress(f"qid,docid,score\n{rows}".encode()))
    shorten(tmp_path / "runs" / "1.csv.gz")
    damage(table_of(tmp_path / "parquet") / "3.parquet", 0)
    (tmp_path / "qrels.txt").write_text("q0 0 d1 1\n")
    monkeypatch.chdir(tmp_path)
    for given, named in (("runs", "1.csv.gz"), ("parquet", "3.parquet")):
        arguments = f"eval qrels.txt {tmp_path / given} --engine spark -f csv -o out.csv"
        monkeypatch.setattr(sys, "argv", ["lexirecall", *arguments.split()])
        with pytest.raises(SystemExit) as leaving:
            main()
        said = capfd.readouterr()
        assert leaving.value.code == 1
        assert named in said.err
        assert "Traceback" not in said.err
        assert "bug in lexirecall" not in said.err
        assert not Path("out.csv").exists()


@contextmanager
def set_to(spark: Any, **settings: str) -> Iterator[None]:
    """Set what is called so, with dots as double underscores, and set it back."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    before = {name: spark.conf.get(name, None) for name in named}
    try:
        for name, value in named.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


@pytest.mark.parametrize("setting", ["ignoreCorruptFiles", "ignoreMissingFiles", "ignoreInvalidPartitionPaths"])
def test_settings_that_lose_rows_are_refused(spark: Any, tmp_path: Path, setting: str) -> None:
    qrels, path = {"q1": {"d1": 1}}, str(table_of(tmp_path / "run"))
    plain = spark.read.parquet(path)
    said = f"spark.sql.files.{setting} is true: Spark would leave out"
    with set_to(spark, **{f"spark__sql__files__{setting}": "true"}), pytest.raises(UsageError, match=said):
        project(qrels, plain)
    lossy = spark.read.option(setting.lower(), "true").parquet(path)
    with pytest.raises(UsageError, match=f"read with the option {setting} = true"):
        project(qrels, {"plain": plain, "lossy": lossy.where("score > 1")})


def test_judgments_of_spark_are_all_there_and_found_by_the_places_of_their_columns(spark: Any) -> None:
    judged = spark.createDataFrame([("q", "a", "?", 1)], ["qid", "docno", "DOCNO ", "rel"]).toDF(
        "qid", "docno", "Docno", "rel"
    )
    run = {"q": ["x", "a"]}
    with pytest.raises(FormatError, match="the document ids may be in the column 'docno' or 'Docno'"):
        project(judged, run)
    assert project(judged, run, columns={"document": "docno"}).found.positions.tolist() == [2]
    with (
        set_to(spark, spark__sql__files__ignoreCorruptFiles="true"),
        pytest.raises(UsageError, match="would leave out"),
    ):
        project(judged, run, columns={"document": "docno"})


def test_readers_that_drop_rows_are_refused(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("q0,d1,1\nq0,d2,x\n")
    schema = "qid string, docid string, score double"
    runs = spark.read.csv(str(tmp_path / "run.csv"), schema=schema, mode="DropMalformed")
    with pytest.raises(UsageError, match=r"the option mode = DropMalformed.*rows that it cannot read"):
        project({"q1": {"d1": 1}}, runs)


SETTINGS = {
    "casts": {"spark__sql__ansi__enabled": "false", "spark__sql__legacy__exponentLiteralAsDecimal__enabled": "true"},
    "names": {
        "spark__sql__caseSensitive": "true",
        "spark__sql__ansi__enforceReservedKeywords": "true",
        "spark__sql__ansi__doubleQuotedIdentifiers": "true",
        "spark__sql__parser__escapedStringLiterals": "true",
        "spark__sql__groupByAliases": "false",
    },
    "batches": {
        "spark__sql__execution__arrow__maxRecordsPerBatch": "1",
        "spark__sql__execution__arrow__useLargeVarTypes": "true",
        "spark__sql__execution__arrow__pyspark__enabled": "false",
        "spark__sql__adaptive__enabled": "false",
        "spark__sql__session__timeZone": "Asia/Tokyo",
    },
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_of_the_session_do_not_change_a_number(spark: Any, settings: str) -> None:
    qrels, runs = collection(seed=13)
    frames = as_frames(spark, qrels, runs)
    with set_to(spark, **SETTINGS[settings]):
        for keywords in ({}, {"score_dtype": "float32", "ties": "worst", "duplicates": "best"}):
            check_same(*frames, needs_judged=True, **keywords)


def test_letters_differ_in_case_whatever_the_collation(spark: Any) -> None:
    qrels, runs = {"q": {"D1": 1, "d2": 1}}, {"s": {"q": {"d1": 3.0, "D1": 2.0, "d2": 1.0}}}
    judged, ranked = as_frames(spark, qrels, runs)
    blind = [
        frame.withColumns({name: frame[name].cast("string collate utf8_lcase") for name in ("qid", "docno")})
        for frame in (judged, ranked)
    ]
    assert seen(project(*blind)) == seen(project(local(judged), local(ranked)))


def test_an_unused_column_that_may_name_runs_is_named(spark: Any) -> None:
    unused = "the column 'ranker' is not used; if its 2 values are runs: columns={'run': 'ranker'}"
    schema = "qid string, docno string, score double, ranker string"
    run, twice = (
        spark.createDataFrame([("q1", first, 2.0, "x"), ("q1", second, 1.0, "y")], schema)
        for first, second in ("ab", "aa")
    )
    (note,) = evaluate({"q1": {"a": 1}}, run, "AP").notes
    assert unused in note.text
    with pytest.raises(FormatError, match="listed") as caught:
        evaluate({"q1": {"a": 1}}, twice, "AP")
    assert caught.value.remedy.startswith(unused)

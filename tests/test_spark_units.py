"""Units, numbers over queries and groups are the same with Spark as in memory."""

from pathlib import Path
from typing import Any

import pytest

import lexirecall
from lexirecall.engines import spark as engine
from lexirecall.engines import spark_groups
from lexirecall.engines.spark_files import evaluate_files
from lexirecall.errors import LexirecallError, UsageError
from test_engines_units import collection
from test_spark import as_frames, check_same
from test_spark import collection as of_documents

MEASURES = ["LexiRecall", "R@3", "RR", "LastRel", "TSE", "SL1", "R(rel=2)@3", "NumRet", "All@3", "StRecall@3"]
DIVERSITY = ["alpha_nDCG@3", "ERR_IA@3"]
CASES: dict[str, dict[str, Any]] = {
    "judged documents": {"judged": "items", "measures": [*MEASURES, *DIVERSITY]},
    "judged units": {"judged": "units", "unit_rule": "all", "corpus_size": 40},
    "places in units": {"judged": "items", "count": "units", "ties": "worst", "depth": 3},
    "units of their own": {"judged": "units", "count": "units", "unmapped": "itself", "no_relevant": "zero"},
}


@pytest.mark.parametrize("case", CASES)
def test_units_are_those_of_memory(spark: Any, case: str) -> None:
    by_request = case in ("judged units", "places in units")
    qrels, runs, units = collection(7, by_request=by_request, judged=CASES[case]["judged"])
    keywords = {"measures": MEASURES, "units": units, **CASES[case]}
    check_same(qrels, runs, as_frames(spark, qrels, runs), **keywords)


def as_map(spark: Any, rows: list[tuple[Any, ...]], columns: str = "docno string, unit string") -> Any:
    return spark.createDataFrame(rows, columns)


def test_a_map_may_be_a_frame_and_says_who_is_judged_and_needed(spark: Any) -> None:
    """The rules are in the map, and the ids tell that units are judged."""
    qrels = {"q": {"U": 1, "V": 1, "W": 0}, "r": {"U": 2}}
    runs = {"x": {"q": {"a": 3.0, "c": 2.0, "b": 1.0}, "r": {"b": 1.0}}, "y": {"q": {"c": 1.0}}}
    pairs = [("a", "U", "all"), ("b", "U", "all"), ("c", "V", "any"), ("a", "V", "any"), ("w", "W", "any")]
    pairs += pairs[:2]
    import polars as pl

    local = pl.DataFrame(pairs, schema=["docno", "unit", "rule"], orient="row")
    expected = lexirecall.evaluate(qrels, runs, MEASURES, units=local, corpus_size=9)
    units = as_map(spark, pairs, "docno string, unit string, rule string")
    frames = as_frames(spark, qrels, runs)
    with engine.evaluate(*frames, MEASURES, units=units, corpus_size=9) as scores:
        assert scores.averages.to_dict() == expected.to_dict()
        assert {**scores.averages.manifest.qrels, "unit_map": ""} == {**expected.manifest.qrels, "unit_map": ""}
    with pytest.raises(UsageError, match="a unit needs several together here"):
        engine.evaluate(*frames, DIVERSITY, units=units)
    compared = engine.compare(*frames, ["LexiRecall", "R@2"], units=units)
    assert list(compared.rows()) == list(lexirecall.compare(qrels, runs, ["LexiRecall", "R@2"], units=local).rows())


BAD: dict[str, tuple[Any, str, str]] = {
    "empty": ([], "", "the map is empty"),
    "null": ([("a", None)], "", "such as document 'a': the unit is missing"),
    "blank": ([("a", " ")], "", "' ' is not the name of a unit"),
    "no rule": ([("a", "U", "some")], ", rule string", "'some' is not the rule of a unit"),
    "two rules": ([("a", "U", "any"), ("b", "U", "all")], ", rule string", "unit 'U' is marked both any and all"),
    "circle": ([("a", "b"), ("b", "a")], "", "the names go round in a circle"),
    "strangers": ([("x", "U")], "", "none of the relevant ids is in the map: it has documents such as 'x'"),
    "both": ([("a", "U"), ("b", "a")], "", "the judged ids are both documents and units of the map, as 'a' is"),
    "some": ([("a", "U"), ("c", "b")], "", "of the 2 relevant ids in qrels, 1 is a document of the map, 1 is a unit"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_map_is_named(spark: Any, case: str) -> None:
    rows, more, message = BAD[case]
    judged = {"q": {"a": 1}} if case in ("both", "strangers", "circle") else {"q": {"a": 1, "b": 1}}
    frames = as_frames(spark, judged, {"x": {"q": {"a": 1.0}}})
    with pytest.raises(LexirecallError, match=message):
        engine.evaluate(*frames, ["R@3"], units=as_map(spark, rows, f"docno string, unit string{more}"))


def test_units_without_documents_are_named_and_only_the_relevant(spark: Any) -> None:
    qrels, runs = {"q": {"U": 1, "V": 1}, "r": {"V": 0}}, {"x": {"q": {"a": 1.0}}}
    frames = as_frames(spark, qrels, runs)
    with pytest.raises(LexirecallError, match=r"1 relevant unit without a document.*'V' of query 'q'"):
        engine.evaluate(*frames, ["R@3"], units={"a": "U"}, judged="units")
    del qrels["q"]["V"]
    check_same(qrels, runs, as_frames(spark, qrels, runs), measures=["R@3"], units={"a": "U"})


def test_subtopics_are_in_the_judgments(spark: Any, tmp_path: Path) -> None:
    graded = {"q": {"1": {"a": 1, "b": 0}, "2": {"b": 1, "c": 2}}, "r": {"1": {"d": 1}}}
    runs = {"x": {"q": {"b": 2.0, "a": 1.0}, "r": {"d": 1.0}}, "y": {"q": {"z": 4.0, "c": 3.0, "a": 2.0}}}
    rows = [(q, u, i, g) for q, units in graded.items() for u, items in units.items() for i, g in items.items()]
    names = ["LexiRecall", "R@2", "LastRel"]
    each: list[dict[str, Any]] = [{}, {"count": "units"}, {"unit_rule": "all"}]
    for options in each:
        expected = lexirecall.evaluate(graded, runs, names, units="@subtopics", **options)
        judged = spark.createDataFrame(rows, "qid string, subtopic string, docno string, rel int")
        frame = as_frames(spark, {"q": {"a": 1}}, runs)[1]
        with engine.evaluate(judged, frame, names, units="@subtopics", **options) as scores:
            assert scores.averages.to_dict() == expected.to_dict()
            assert scores.averages.manifest.qrels == expected.manifest.qrels
    (tmp_path / "qrels.txt").write_text("".join(f"{q} {u} {i} {g}\n" for q, u, i, g in rows))
    frame.write.parquet(str(tmp_path / "runs"))
    averages = evaluate_files(str(tmp_path / "qrels.txt"), [str(tmp_path / "runs")], names, units="@subtopics")
    assert averages.to_dict() == lexirecall.evaluate(graded, runs, names, units="@subtopics").to_dict()
    with pytest.raises(LexirecallError, match="unit"):
        engine.evaluate(judged.drop("subtopic"), frame, names, units="@subtopics")


def test_numbers_over_queries_and_groups_are_those_of_memory(spark: Any, tmp_path: Path) -> None:
    qrels, runs = of_documents(seed=3)
    frames = as_frames(spark, qrels, runs)
    groups = {q: "easy" if n % 3 else "hard" for n, q in enumerate(qrels) if n != 5} | {"q1": "rare", "zz": "rare"}
    names = ["LexiRecall", "AP", "LastRel", "NumRet", "All@3"]
    asked: dict[str, Any] = {"over": ("mean", "tail:0.1", "median", "quantile:0.9", "min"), "queries": "intersection"}
    expected = lexirecall.evaluate(qrels, runs, names, by=groups, **asked)
    given = spark.createDataFrame([*groups.items()], "qid string, group string")
    for by in (groups, given):
        with engine.evaluate(*frames, names, by=by, **asked) as scores:
            assert list(scores.averages.rows()) == list(expected.rows())
            assert scores.averages.render() == expected.render()
            assert scores.averages.columns == expected.averages.columns
            assert [note.kind for note in scores.averages.notes] == [note.kind for note in expected.notes]
    column = frames[0].join(given, "qid", "left").na.fill("none", ["group"])
    every = {q: groups.get(q, "none") for q in qrels}
    with engine.evaluate(column, frames[1], names, by="group", min_queries=1) as scores:
        expected = lexirecall.evaluate(qrels, runs, names, by=every, min_queries=1)
        rows = [sorted(map(str, each.rows())) for each in (scores.averages, expected)]
        assert rows[0] == rows[1]


def test_measures_that_need_different_positions_are_refused_before_the_workers_start(spark: Any) -> None:
    """One document serves two units of one query only."""
    qrels, runs = {"q": {"U": 1, "V": 1}, "r": {"U": 1}}, {"x": {"q": {"a": 1.0}, "r": {"b": 1.0}}}
    units = {"q": {"a": ["U", "V"]}, "r": {"b": "U"}}
    with pytest.raises(UsageError) as expected:
        lexirecall.evaluate(qrels, runs, ["AP"], units=units)
    with pytest.raises(UsageError) as found:
        engine.evaluate(*as_frames(spark, qrels, runs), ["AP"], units=units)
    assert str(found.value) == str(expected.value)


def test_too_many_values_do_not_come_to_the_driver(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_groups, "MOST_VALUES", 50)
    frames = as_frames(spark, *of_documents(seed=3))
    with pytest.raises(UsageError, match="over and by need every value on the driver: 90, and the limit is 50"):
        engine.evaluate(*frames, ["AP"], over="median")
    with pytest.raises(UsageError, match="cannot read 'worst'"):
        engine.evaluate(*frames, ["AP"], over="worst")

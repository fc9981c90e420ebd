"""Units, numbers over queries and groups are the same with Spark as in memory."""

from pathlib import Path
from typing import Any

import pytest

from lexirecall import evaluate, project
from test_engines_units import collection
from test_spark import as_frames, check_same, local

CASES: dict[str, dict[str, Any]] = {
    "judged documents": {"judged": "documents"},
    "judged units": {"judged": "units", "unit_rule": "all", "corpus_size": 40},
    "places in units": {"judged": "documents", "count": "units", "ties": "worst", "depth": 3},
    "units of their own": {"judged": "units", "count": "units", "unmapped": "itself"},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("by_query", [False, True])
def test_units_are_those_of_memory(spark: Any, case: str, by_query: bool) -> None:
    qrels, runs, units = collection(7, by_query=by_query, judged=CASES[case]["judged"])
    check_same(*as_frames(spark, qrels, runs), units=units, **CASES[case])


def test_a_map_may_be_a_frame_and_says_who_is_judged_and_needed(spark: Any) -> None:
    """The rules are in the map, and the ids tell that units are judged."""
    qrels = {"q": {"U": 1, "V": 1, "W": 0}, "r": {"U": 2}}
    runs = {"x": {"q": {"a": 3.0, "c": 2.0, "b": 1.0}, "r": {"b": 1.0}}, "y": {"q": {"c": 1.0}}}
    pairs = [("a", "U", "all"), ("b", "U", "all"), ("c", "V", "any"), ("a", "V", "any"), ("w", "W", "any")]
    units = spark.createDataFrame(pairs + pairs[:2], "docno string, unit string, rule string")
    frames = as_frames(spark, qrels, runs)
    here = local(frames[0]), local(frames[1])
    for options in ({}, {"count": "units"}):
        found = evaluate(*frames, ["LexiRecall", "R@3", "All@3"], units=units, **options)
        expected = evaluate(*here, ["LexiRecall", "R@3", "All@3"], units=local(units), **options)
        assert found.to_dict(per_query=True) == expected.to_dict(per_query=True)
        assert found.manifest.qrels == expected.manifest.qrels


def test_subtopics_are_in_the_judgments(spark: Any, tmp_path: Path) -> None:
    graded = {"q": {"1": {"a": 1, "b": 0}, "2": {"b": 1, "c": 2}}, "r": {"1": {"d": 1}}}
    runs = {"x": {"q": {"b": 2.0, "a": 1.0}, "r": {"d": 1.0}}, "y": {"q": {"z": 4.0, "c": 3.0, "a": 2.0}}}
    rows = [(q, u, i, g) for q, units in graded.items() for u, documents in units.items() for i, g in documents.items()]
    judged = spark.createDataFrame(rows, "qid string, subtopic string, docno string, rel int")
    frame = as_frames(spark, {"q": {"a": 1}}, runs)[1]
    for options in ({}, {"count": "units"}, {"unit_rule": "all"}):
        check_same(judged, frame, units="@subtopics", **options)
    (tmp_path / "qrels.txt").write_text("".join(f"{q} {u} {i} {g}\n" for q, u, i, g in rows))
    frame.write.parquet(str(tmp_path / "runs"))
    found = project(tmp_path / "qrels.txt", tmp_path / "runs", units="@subtopics", engine="spark")
    assert found.found.positions.tolist() == project(judged, frame, units="@subtopics").found.positions.tolist()


def test_groups_may_be_a_column_of_the_judgments(spark: Any) -> None:
    judged = spark.createDataFrame(
        [("q", "a", 1, "easy"), ("r", "b", 1, "hard"), ("r", "a", 0, "hard")],
        "qid string, docno string, rel int, kind string",
    )
    ranked = spark.createDataFrame([("q", "a", 1.0), ("r", "b", 0.5), ("r", "a", 1.0)], ["qid", "docno", "score"])
    found, expected = (
        evaluate(*frames, ["AP"], by="kind", over=["mean", "min"], min_queries=1)
        for frames in ((judged, ranked), (local(judged), local(ranked)))
    )
    assert found.to_dict() == expected.to_dict()
    assert str(found) == str(expected)

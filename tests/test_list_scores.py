"""Whole lists bring the scores along where they are asked for, and where there are any."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lexirecall.formats.listing import load_lists

QRELS = {"q": {"a": 1, "x": 0}, "r": {"b": 1}}
RUN = {"q": {"a": 0.5, "x": 2.0, "y": 0.5, "z": -1.0}, "r": {"b": 7.0}}
ROWS = [(q, d, s) for q, own in RUN.items() for d, s in own.items()]
FRAME = pl.DataFrame(ROWS, schema=["query_id", "doc_id", "score"], orient="row")
WANTED = {b"q": [2.0, 0.5, 0.5, -1.0], b"r": [7.0]}


def given_as(form: str, folder: Path) -> Any:
    """Return the run in one of its forms."""
    if form == "text":
        path = folder / "one.run"
        path.write_text("".join(f"{q} Q0 {d} 1 {s} one\n" for q, d, s in ROWS))
        return path
    if form == "parquet":
        FRAME.write_parquet(folder / "one.parquet")
        return folder / "one.parquet"
    if form == "json":
        (folder / "one.json").write_text(json.dumps(RUN))
        return folder / "one.json"
    return FRAME if form == "frame" else RUN


@pytest.mark.parametrize("form", ["text", "dict", "frame", "parquet", "json"])
def test_scores_are_in_the_order_of_the_documents(form: str, tmp_path: Path) -> None:
    run = given_as(form, tmp_path)
    [lists] = load_lists(QRELS, {"one": run}, needs_scores=True).runs
    assert lists.lists[b"q"] == [b"x", b"y", b"a", b"z"]
    assert {query: own.tolist() for query, own in lists.scores.items()} == WANTED
    [without] = load_lists(QRELS, {"one": run}).runs
    assert (without.lists, without.scores) == (lists.lists, {})


@pytest.mark.parametrize("run", [{"q": ["x", "a"], "r": ["b"]}, FRAME.with_columns(rank=pl.col("score")).drop("score")])
def test_lists_and_ranks_have_no_scores(run: Any) -> None:
    [lists] = load_lists(QRELS, {"one": run}, needs_scores=True).runs
    assert lists.scores == {}


def test_a_run_may_have_scores_for_some_queries_only() -> None:
    [lists] = load_lists(QRELS, {"one": {"q": RUN["q"], "r": ["b"]}}, needs_scores=True).runs
    assert list(lists.scores) == [b"q"]


@pytest.mark.parametrize(("options", "left"), [({"depth": 2}, [2.0, 0.5]), ({"judged_only": True}, [2.0, 0.5])])
def test_scores_are_cut_with_the_lists(options: dict[str, Any], left: list[float]) -> None:
    [lists] = load_lists(QRELS, {"one": RUN}, needs_scores=True, **options).runs
    assert lists.scores[b"q"].tolist() == left
    assert len(lists.lists[b"q"]) == len(left)


def test_scores_are_those_given_whatever_precision_they_are_compared_with() -> None:
    run = {"q": {"a": 1.0 + 1e-12, "x": 1.0}, "r": {"b": 1.0}}
    [lists] = load_lists(QRELS, {"one": run}, needs_scores=True, score_dtype="float32").runs
    assert np.array_equal(lists.scores[b"q"], [1.0, 1.0 + 1e-12])

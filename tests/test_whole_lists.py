"""Whole lists: every form of a run gives the same ids in the same order, and runs join to one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import evaluate, project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.formats.listing import load_lists
from lexirecall.formats.wholelists import JoinedRun
from strategies import SCORES, Collection, Ordering, collections, orderings, quick
from test_every_input import INPUTS

FINITE = tuple(score for score in SCORES if isfinite(score))
TIES = ("trec", "input", "worst", "best")
Run = Mapping[str, Mapping[str, float]]


def expected(qrels: Run, run: Run, ties: str, rules: Ordering) -> dict[bytes, list[bytes]]:
    lists: dict[bytes, list[bytes]] = {}
    for query, scores in run.items():
        if query in qrels:
            order = naive.ranked([*scores.items()], qrels[query], ties, rules.score_dtype)[: rules.depth]
            wanted = [document for document in order if not rules.judged_only or qrels[query].get(document, -1) >= 0]
            lists[query.encode()] = [document.encode() for document in wanted]
    return lists


@quick(30)
@given(collection=collections(scores=FINITE, max_runs=1), ties=st.sampled_from(TIES), rules=orderings())
def test_the_lists_of_every_form_are_in_the_order_of_the_conventions(
    collection: Collection, ties: str, rules: Ordering, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("lists")
    # neither a table nor a file of text has lines of a query without documents
    qrels, run = ({q: own for q, own in each.items() if own} for each in (collection.qrels, collection.runs["system1"]))
    if not qrels.keys() & run.keys():
        return
    for form, give in INPUTS.items():
        lists = load_lists(qrels, {"run": give(run, "run", base / f"run.{form}")}, ties=ties, **asdict(rules))
        assert [each.lists for each in lists.runs] == [expected(qrels, run, ties, rules)], form
        assert lists.runs[0].unjudged == {query.encode() for query in run.keys() - qrels.keys()}, form


@quick(40)
@given(collection=collections(max_runs=3), ties=st.sampled_from(TIES), rules=orderings())
def test_joined_runs_are_what_their_union_is_as_a_run(collection: Collection, ties: str, rules: Ordering) -> None:
    qrels, options = collection.qrels, {**asdict(rules), "ties": ties}
    calls = load_lists(qrels, collection.runs, **options)
    joined = JoinedRun("joined", calls)
    union: dict[str, list[str]] = {}
    num_read = dict.fromkeys(qrels, 0)
    for run in collection.runs.values():
        for query, documents in expected(qrels, run, ties, rules).items():
            own = union.setdefault(query.decode(), [])
            own += [document.decode() for document in documents if document.decode() not in own]
            num_read[query.decode()] += len(documents)
    made = project(qrels, {"joined": joined}, **options)
    plain = project(qrels, {"joined": union}, **{**options, "depth": None})
    assert made.found.positions.tolist() == plain.found.positions.tolist()
    assert made.found.documents.tolist() == plain.found.documents.tolist()
    assert made.num_retrieved.tolist() == plain.num_retrieved.tolist()
    repeats = [num_read[query] - len(union.get(query, ())) for query in qrels]
    assert joined.num_repeats.tolist() == repeats


QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
ONE, TWO = {"q1": ["x", "a"]}, {"q1": ["a", "b"], "q2": ["c"], "q3": ["z"]}


def joined(*runs: Any, **options: Any) -> JoinedRun:
    return JoinedRun("both", load_lists(QRELS, {f"call{i}": run for i, run in enumerate(runs)}, **options))


def test_a_joined_run_stands_where_a_run_may() -> None:
    scores = evaluate(QRELS, {"both": joined(ONE, TWO), "two": TWO}, ["R@2"])
    assert scores.means.tolist() == [[0.75], [1.0]]
    assert [note.kind for note in scores.notes] == ["without judgments"]


def test_a_query_counts_as_answered_if_any_run_answers_it() -> None:
    positions = project(QRELS, {"both": joined(ONE, TWO)})
    assert positions.answered.tolist() == [[True, True]]
    assert positions.num_retrieved.tolist() == [[3, 1]]


def test_what_was_left_out_of_the_runs_is_counted_over_all_of_them() -> None:
    repeated = {"q1": ["x", "a", "x"], "q3": ["y"]}
    [made] = joined(repeated, repeated, TWO, duplicates="first").runs(
        load_lists(QRELS, ONE).judgments, project(QRELS, ONE).conventions, None, needs_judged=False
    )
    assert (made.num_duplicates, made.num_unjudged) == (2, 1)


def test_a_run_that_finds_nothing_judged_is_noted_when_it_is_joined() -> None:
    strange = {"q1": ["D1", "D2"]}
    positions = project(QRELS, {"both": joined(strange, strange)})
    [mismatch] = positions.mismatches
    assert (mismatch.run, mismatch.retrieved) == ("both", ("D1", "D2"))


def test_units_are_found_in_joined_runs() -> None:
    options: dict[str, Any] = {"units": {"a": "U", "b": "U", "c": "V"}, "judged": "documents"}
    positions = project(QRELS, {"both": joined(ONE, TWO, **options)}, **options)
    assert positions.sought(1).found.positions.tolist() == [2, 1]
    counted = {**options, "count": "units"}
    positions = project(QRELS, {"both": joined(ONE, TWO, **counted)}, **counted)
    assert positions.num_retrieved.tolist() == [[2, 1]]


def written(folder: Path, lines: Sequence[str]) -> str:
    path = folder / "bad.run"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"engine": "duckdb"}, "engine is 'duckdb', which finds positions, but whole lists are needed"),
        ({"ties": "expected"}, "ties='expected' has no single order to list"),
        ({"units": {"a": "U"}, "count": "units", "depth": 3}, "the depth counts units, but whole lists"),
    ],
)
def test_what_lists_cannot_do_is_refused_before_anything_is_read(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        load_lists("no such file", "nor this", **options)


def test_a_positions_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    project(QRELS, {"kept": ONE}).save(tmp_path / "kept.parquet")
    with pytest.raises(FormatError, match=r"kept.parquet: a positions file holds where the judged documents are, but"):
        load_lists(QRELS, [ONE, tmp_path / "kept.parquet"])


@pytest.mark.parametrize("reads", [load_lists, project])
def test_lines_of_two_runs_in_one_file_are_told_from_a_line_that_is_there_twice(tmp_path: Path, reads: Any) -> None:
    """Who is told to go on with the first of two lines would merge the runs."""
    runs = written(tmp_path, ["q1 Q0 a 1 2 bm25", "q1 Q0 a 1 9 dense"])
    with pytest.raises(
        FormatError, match="on line 1\n  if 'bm25' and 'dense' are two runs, give each a file of its own;"
    ):
        reads(QRELS, runs)
    for lines in (["q1 Q0 a 1 2 t", "q1 Q0 a 1 9 t"], ["q1 Q0 a 1 2 t", "q1 Q0 a 1 9"]):
        with pytest.raises(FormatError, match="on line 1\n  remove one of them, or go on"):
            reads(QRELS, written(tmp_path, lines))


def test_an_document_that_is_listed_twice_is_an_error_as_everywhere(tmp_path: Path) -> None:
    lines = ["q1 Q0 a 1 2 t", "q2 Q0 c 1 1 t", "q1 Q0 a 2 1 t"]
    with pytest.raises(FormatError, match=r"bad.run:3: document 'a' of query 'q1' is listed twice, first on line 1"):
        load_lists(QRELS, written(tmp_path, lines))
    with pytest.raises(FormatError, match="run: document 'a' of query 'q1' is listed twice"):
        load_lists(QRELS, {"q1": ["a", "a"]})
    [run] = load_lists(QRELS, written(tmp_path, lines), duplicates="first").runs
    assert (run.lists, run.num_duplicates) == ({b"q1": [b"a"], b"q2": [b"c"]}, 1)


def test_a_line_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"bad.run:2: the score is not a number: 'high'"):
        load_lists(QRELS, written(tmp_path, ["q1 Q0 a 1 2 t", "q1 Q0 b 1 high t"]))


def test_a_run_without_any_judged_query_is_an_error() -> None:
    with pytest.raises(DataError, match="no query in common with the judgments: two"):
        load_lists(QRELS, {"one": ONE, "two": {"q9": ["a"]}})


def test_a_table_gives_the_lists_of_each_of_its_runs() -> None:
    pl = pytest.importorskip("polars")
    rows = [("one", "q1", "a", 1.0), ("two", "q1", "b", 2.0), ("one", "q1", "x", 3.0), ("two", "q3", "b", 2.0)]
    table = pl.DataFrame(rows, ("run", "qid", "docno", "score"), orient="row")
    lists = load_lists(QRELS, table)
    assert [(run.name, run.lists, run.unjudged) for run in lists.runs] == [
        ("one", {b"q1": [b"x", b"a"]}, frozenset()),
        ("two", {b"q1": [b"b"]}, frozenset({b"q3"})),
    ]

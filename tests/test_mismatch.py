"""A run that retrieves no judged document is pointed out, whatever form it came in and whoever asks."""

import csv
import gzip
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import LexirecallWarning, compare, evaluate, explain, project, rank, report, study
from lexirecall.adapters.gate import assert_all_found, assert_no_worse, assert_nothing_lost
from lexirecall.reader import VARIABLE, is_built
from lexirecall.tracks import Mismatch
from strategies import Collection, collections, costly, quick

QRELS = {"q0": {"D9": 1}, "q1": {"D1": 1, "D2": 0, "D3": 1, "D4": 1}}
RUN = {"q1": {"d2": 3.0, "d1": 2.0, "d4": 1.0, "d3": 0.5}, "q7": {"D1": 1.0}}
OTHER = {"q1": {"D1": 1.0}}
SAID = (
    "{} retrieves no judged document: it has documents such as 'd1', 'd2', 'd3' for query 'q1', "
    "the judgments have 'D1', 'D2', 'D3'; are the ids written the same way?"
)
Runs = dict[str, dict[str, float]]


def rows_of(run: Runs) -> list[tuple[str, str, float]]:
    return [(query, document, score) for query, scores in run.items() for document, score in scores.items()]


def columns_of(run: Runs) -> dict[str, list[Any]]:
    return {name: [row[c] for row in rows_of(run)] for c, name in enumerate(("qid", "docno", "score"))}


def text_of(run: Runs) -> str:
    return "".join(f"{query} Q0 {document} 1 {score!r} tag\n" for query, document, score in rows_of(run))


GOOD = {"qrels": json.dumps(QRELS).encode(), "x": text_of(RUN).encode(), "other": text_of(OTHER).encode()}


def as_text(run: Runs, folder: Path) -> Path:
    (folder / "x.run").write_text(text_of(run), encoding="utf-8")
    return folder / "x.run"


def as_packed(run: Runs, folder: Path) -> Path:
    (folder / "x.run.gz").write_bytes(gzip.compress(text_of(run).encode()))
    return folder / "x.run.gz"


def as_scattered(run: Runs, folder: Path) -> Path:
    lines = text_of(run).splitlines()
    (folder / "x.run").write_text("\n".join([*lines[::2], *lines[1::2]]) + "\n", encoding="utf-8")
    return folder / "x.run"


def as_json(run: Runs, folder: Path) -> Path:
    (folder / "x.json").write_text(json.dumps(run), encoding="utf-8")
    return folder / "x.json"


def as_dict(run: Runs, _folder: Path) -> Runs:
    return run


def as_lists(run: Runs, _folder: Path) -> dict[str, list[str]]:
    return {query: sorted(scores, key=lambda each: (scores[each], each), reverse=True) for query, scores in run.items()}


def as_pandas(run: Runs, _folder: Path) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns_of(run))


def as_polars(run: Runs, _folder: Path) -> Any:
    return pytest.importorskip("polars").DataFrame(columns_of(run))


def as_pyarrow(run: Runs, _folder: Path) -> Any:
    return pytest.importorskip("pyarrow").table(columns_of(run))


def as_parquet(run: Runs, folder: Path) -> Path:
    as_polars(run, folder).write_parquet(folder / "x.parquet")
    return folder / "x.parquet"


def as_csv(run: Runs, folder: Path) -> Path:
    with (folder / "x.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("qid", "docno", "score"), *rows_of(run)])
    return folder / "x.csv"


FORMS: dict[str, Callable[[Runs, Path], Any]] = {
    "text": as_text, "packed": as_packed, "scattered": as_scattered, "JSON": as_json, "dict": as_dict,
    "lists": as_lists, "pandas": as_pandas, "polars": as_polars, "pyarrow": as_pyarrow, "Parquet": as_parquet,
    "CSV": as_csv,
}  # fmt: skip
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))


@pytest.fixture(params=["native", "python"])
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "native" and not is_built():
        pytest.skip("the compiled reader was not built")
    monkeypatch.setenv(VARIABLE, request.param)


def said(result: Any) -> list[str]:
    return [note.text for note in result.notes if note.kind == "no judged document"]


# Which runs


@every_form
@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("options", [{}, {"depth": 1}, {"judged_only": True}, {"imputation": "optimistic"}], ids=str)
def test_a_run_without_judged_documents_is_pointed_out(form: Any, tmp_path: Path, options: Any) -> None:
    scores = evaluate(QRELS, {"x": form(RUN, tmp_path), "other": OTHER}, ["AP"], **options)
    assert said(scores) == [SAID.format("x")]
    assert scores.notes[0].kind == "no judged document"
    assert SAID.format("x") in json.loads(scores.manifest.to_json())["notes"][0]["text"]


@every_form
@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("judged", [{"q1": {"d4": 0}}, {"q1": {"d4": -1, "x": 1}}, {"q0": {"a": 1}, "q1": {"d3": 0}}])
def test_a_run_with_a_judged_document_is_not(form: Any, tmp_path: Path, judged: Any) -> None:
    """Not if it is not relevant, nor if it is below the depth."""
    positions = project({**judged, "q2": {"a": 1}}, {"x": form(RUN, tmp_path)}, depth=1)
    assert positions.mismatches == ()
    assert not positions.found.documents.size


@pytest.mark.parametrize("ids", ["D1 ", " D1", "d1", "doc-D1", "D01", 1])
def test_ids_that_are_written_otherwise_are_shown(ids: Any) -> None:
    (text,) = said(evaluate({"q1": {"D1": 1}}, {"q1": [ids]}, ["AP"]))
    assert f"documents such as {str(ids)!r} for query 'q1', the judgments have 'D1';" in text


def test_long_ids_are_cut() -> None:
    (text,) = said(evaluate({"q" * 999: {"D1": 1}}, {"q" * 999: ["x" * 9999]}, ["AP"]))
    assert len(text) < 500


def test_a_run_that_retrieves_nothing_is_another_matter() -> None:
    for judged, run in (({"q": {"a": 1}}, {"q": []}), ({"q": {"a": 1}, "r": {}}, {"q": [], "r": ["x"]})):
        assert project(judged, run).mismatches == ()


def test_an_iterator_that_is_used_up_means_nothing() -> None:
    assert project({"q": {"a": 1, "b": 0}}, {"q": iter(["b"])}).mismatches == ()


def test_several_runs_are_told_in_one_note() -> None:
    runs = {f"run{i}": {"q1": [f"d{i}"]} for i in range(6)} | {"good": OTHER}
    assert said(evaluate(QRELS, runs, ["AP"])) == [
        "run0, run1, run2, run3 and 2 more retrieve no judged document: run0 has documents such as 'd0' "
        "for query 'q1', the judgments have 'D1', 'D2', 'D3'; are the ids written the same way?"
    ]


@pytest.mark.parametrize("make", [as_pandas, as_polars, as_pyarrow])
def test_of_a_table_of_many_runs_the_right_one_is_named(make: Any, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    rows = [("a", "q1", "D1", 1.0), ("b", "q1", "x9", 2.0), ("b", "q7", "D1", 1.0), ("b", "q1", "x8", 1.0)]
    names = ("run", "qid", "docno", "score")
    frame = polars.DataFrame(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    table = {as_pandas: frame.to_pandas, as_pyarrow: frame.to_arrow}.get(make, lambda: frame)()
    expected = (Mismatch("b", "q1", ("x8", "x9"), ("D1", "D2", "D3")),)
    assert project(QRELS, table).mismatches == expected
    frame.write_parquet(tmp_path / "runs.parquet")
    assert project(QRELS, tmp_path / "runs.parquet").mismatches == expected


@quick(60)
@given(collections(max_runs=3), st.sampled_from([{}, {"depth": 2}, {"judged_only": True}, {"needs_judged": True}]))
def test_mismatches_are_those_of_the_definition(collection: Collection, options: Any) -> None:
    found = project(collection.qrels, collection.runs, **options).mismatches
    expected = [naive.mismatch(name, run, collection.qrels) for name, run in collection.runs.items()]
    assert [(each.run, each.query, each.retrieved, each.judged) for each in found] == [
        each for each in expected if each is not None
    ]


def test_nothing_is_read_again_where_something_relevant_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lexirecall.formats import forms

    calls = []
    read = forms.TextRun.runs

    def counted(self: Any, *arguments: Any, **keywords: Any) -> Any:
        calls.append(self.name)
        return read(self, *arguments, **keywords)

    monkeypatch.setattr(forms.TextRun, "runs", counted)
    project({"q1": {"d3": 1}}, as_text(RUN, tmp_path))
    assert calls == ["x.run"]
    project(QRELS, as_text(RUN, tmp_path))
    assert calls == ["x.run"] * 3


# Who says it


def test_every_verb_says_it() -> None:
    runs = {"x": RUN, "other": OTHER}
    expected = [SAID.format("x")]
    assert said(compare(QRELS, runs, ["AP"])) == expected
    assert said(rank(QRELS, runs)) == expected
    assert said(explain(QRELS, {"x": RUN, "other": OTHER})) == expected
    positions = project(QRELS, runs)
    assert said(study({"mine": positions}, measures=["RR"], num_samples=1)) == [f"mine: {expected[0]}"]
    assert said(report(QRELS, runs, output=None)) == expected


@pytest.mark.parametrize("verb", ["eval", "compare", "rank", "explain"])
def test_the_command_line_says_it(command: Command, verb: str) -> None:
    outcome = command(verb, "qrels", "x", "other")
    assert (outcome.code, outcome.err.count("retrieves no judged document")) == (0, 1)
    assert f"note: {SAID.format('x')}" in outcome.err


@pytest.mark.parametrize("content", [text_of(RUN), json.dumps(RUN), "qid,docno,score\nq1,d1,1\nq1,d2,2\nq1,d3,1\n"])
def test_a_pipe_is_looked_at_again(command: Command, content: str) -> None:
    outcome = command("eval", "qrels", "-", "-m", "AP", stdin=content.encode())
    assert f"note: {SAID.format('-')}" in outcome.err


def test_a_gate_warns_of_it() -> None:
    """Without a word a baseline of foreign ids would let any run pass."""
    for check in (assert_no_worse, assert_nothing_lost):
        with pytest.warns(UserWarning, match="baseline retrieves no judged document: .*'d1', 'd2', 'd3'") as caught:
            check({**QRELS, **{f"q{i}": {"D1": 1} for i in range(20, 27)}}, new=OTHER, baseline=RUN)
        assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="new retrieves no judged document"), pytest.raises(AssertionError):
        assert_all_found(QRELS, RUN)


def test_a_gate_warns_of_queries_that_were_not_answered_unless_that_was_asked_for() -> None:
    """A baseline that broke off would let any run pass."""
    qrels = {f"q{i}": {"a": 1} for i in range(10)}
    broken, whole = {"q0": ["a"]}, {query: ["a"] for query in qrels}
    for check in (assert_no_worse, assert_nothing_lost):
        with pytest.warns(LexirecallWarning, match=r"does not answer \(of 10: .*baseline 9\)") as caught:
            check(qrels, new=whole, baseline=broken)
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_no_worse(qrels, new=whole, baseline=broken, queries="all")


def test_trec_eval_says_it(command: Command) -> None:
    for options in ((), ("-c",)):
        outcome = command("trec_eval", *options, "qrels", "x")
        assert f"note: {SAID.format('x')}" in outcome.err


# The engines


def test_duckdb_says_the_same(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    by_duckdb = partial(project, engine="duckdb")
    path = as_parquet(RUN, tmp_path)
    for options in ({}, {"depth": 1}, {"judged_only": True}, {"needs_judged": True}):
        assert by_duckdb(QRELS, path, **options).mismatches == project(QRELS, path, **options).mismatches
        assert by_duckdb({"q1": {"d3": 0, "a": 1}}, path, **options).mismatches == ()
    assert said(evaluate(by_duckdb(QRELS, path), measures=["AP"])) == [SAID.format("x.parquet")]


@costly(25)
@given(collections(max_runs=3))
def test_mismatches_of_duckdb_are_those_of_the_definition(collection: Collection) -> None:
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    runs = {name: run for name, run in collection.runs.items() if any(run.get(query) for query in collection.qrels)}
    rows = [(name, *row) for name, run in sorted(runs.items()) for row in rows_of(run)]
    if rows:
        columns = dict(zip(("run", "qid", "docno", "score"), map(list, zip(*rows, strict=True)), strict=True))
        connection = duckdb.connect()
        relation = connection.from_arrow(polars.DataFrame(columns).to_arrow())
        expected = [naive.mismatch(name, run, collection.qrels) for name, run in sorted(runs.items())]
        found = project(
            collection.qrels, relation, engine="duckdb", engine_options={"connection": connection}
        ).mismatches
        assert [(each.run, each.query, each.retrieved, each.judged) for each in found] == [
            each for each in expected if each is not None
        ]

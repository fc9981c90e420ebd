"""Positions files: what is saved comes back to the bit, stands wherever a run may, or is refused with a reason."""

import io
import json
import sys
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import Positions, compare, evaluate, load_positions, project, project_embeddings, project_scores
from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError
from lexirecall.fields import choices_of
from lexirecall.formats.enginefiles import DUCKDB, SPARK, FileEngine
from lexirecall.installing import how_to_install
from lexirecall.manifest import Conventions
from lexirecall.measures import MEASURES
from lexirecall.positions.file import KEY, from_parquet, to_parquet
from lexirecall.preferences import PREFERENCES
from strategies import Collection, collections, costly, quick

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"d": 1}, "q3": {"e": 0}}
RUNS = {"x": {"q1": ["c", "y", "a"], "q2": ["d"]}, "y": {"q1": ["b"], "q9": ["d"]}}


def rules() -> st.SearchStrategy[dict[str, Any]]:
    """Draw every combination of conventions that can be."""
    drawn = st.fixed_dictionaries(
        {
            "ties": st.sampled_from(choices_of(Conventions, "ties")),
            "score_dtype": st.sampled_from(choices_of(Conventions, "score_dtype")),
            "depth": st.none() | st.integers(1, 6),
            "judged_only": st.booleans(),
            "imputation": st.sampled_from(choices_of(Conventions, "imputation")),
        }
    )
    return drawn.filter(_are_possible)


def _are_possible(options: dict[str, Any]) -> bool:
    try:
        Conventions(**options)
    except UsageError:
        return False
    return True


def projected(collection: Collection, options: dict[str, Any]) -> Positions:
    if collection.corpus_size is None and options["imputation"] == "paper":
        options = {**options, "imputation": "pessimistic"}
    return project(collection.qrels, collection.runs, needs_judged=True, **options, **collection.given_size)


def content(value: Any) -> Any:
    """Return what a record holds, arrays as lists, to be compared."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if hasattr(value, "__dataclass_fields__"):
        hidden = ("_lookups", "_num_relevant", "_orders", "_sought", "frame_library")
        return {each.name: content(getattr(value, each.name)) for each in fields(value) if each.name not in hidden}
    return value


@pytest.mark.filterwarnings("ignore:optimistic imputation")
@costly(200)
@given(collection=collections(max_runs=3), options=rules())
def test_what_is_saved_comes_back_to_the_bit(
    collection: Collection, options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    positions = projected(collection, options)
    path = tmp_path_factory.mktemp("saved") / "model.parquet"
    positions.save(path)
    assert content(load_positions(path)) == content(positions)


@pytest.mark.filterwarnings("ignore:optimistic imputation")
@quick(60)
@given(data=st.data(), options=rules(), seed=st.integers(0, 2**32 - 1))
def test_positions_of_scores_and_of_vectors_come_back_too(
    data: st.DataObject, options: dict[str, Any], seed: int
) -> None:
    rng, shape = np.random.default_rng(seed), (data.draw(st.integers(1, 3)), data.draw(st.integers(1, 9)))
    scores, grades = rng.integers(0, 4, shape).astype(np.float32), rng.integers(-1, 3, shape)
    is_out = (rng.random(shape) < 0.2) & (grades <= 0)
    qrels = {str(q): {str(i): int(grade) for i, grade in enumerate(row)} for q, row in enumerate(grades)}
    excluded = {str(q): [str(i) for i in np.flatnonzero(row)] for q, row in enumerate(is_out)}
    del options["score_dtype"]
    for positions in (
        project_scores(scores, grades, exclude=is_out, **options),
        project_embeddings(scores, np.eye(shape[1], dtype=np.float32), qrels, exclude=excluded, **options),
    ):
        assert content(from_parquet(io.BytesIO(to_parquet(positions)), "kept")) == content(positions)


@pytest.mark.filterwarnings("ignore:optimistic imputation")
@quick(30)
@given(collection=collections(max_runs=3), options=rules(), one=st.integers(0, 2))
def test_a_file_in_the_place_of_runs_gives_the_same_positions(
    collection: Collection, options: dict[str, Any], one: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("mixed")
    positions = projected(collection, options)
    options = {**options, "imputation": positions.conventions.imputation}
    names = list(collection.runs)
    kept = names[min(one, len(names) - 1)]
    given: dict[str, Any] = dict(collection.runs)
    project(collection.qrels, {kept: given[kept]}, needs_judged=True, **options, **collection.given_size).save(
        folder / "kept"
    )
    given[kept] = folder / "kept"
    turned = {query: collection.qrels[query] for query in reversed(collection.qrels)}
    for qrels in (collection.qrels, turned):
        again = project(qrels, given, needs_judged=True, **options, **collection.given_size)
        direct = project(qrels, collection.runs, needs_judged=True, **options, **collection.given_size)
        assert content(again) == content(direct)


def values(positions: Positions) -> list[Any]:
    names = [*MEASURES, *PREFERENCES]
    found: list[Any] = []
    for name in names:
        try:
            found.append(evaluate(positions, measures=[_with_cutoff(name)]).values.tolist())
        except LexirecallError as error:
            found.append(str(error))
    return found


def _with_cutoff(name: str) -> str:
    row = MEASURES.get(name)
    return f"{name}@{2 if row.at == 'cutoff' else 0.5}" if row is not None and row.needs_at else name


@pytest.mark.parametrize("ties", ["trec", "expected"])
@pytest.mark.parametrize("corpus_size", [None, 50])
def test_every_measure_and_preference_has_the_same_values(tmp_path: Path, ties: str, corpus_size: int | None) -> None:
    positions = project(QRELS, RUNS, ties=ties, corpus_size=corpus_size, needs_judged=True)
    positions.save(tmp_path / "model.parquet")
    expected, loaded = values(positions), values(load_positions(tmp_path / "model.parquet"))
    assert json.dumps(loaded) == json.dumps(expected)
    assert sum(isinstance(each, list) for each in expected) > 20


def test_a_file_is_one_row_for_each_run_query_and_judged_document(tmp_path: Path) -> None:
    project(QRELS, RUNS, needs_judged=True, corpus_size=9).save(tmp_path / "model.parquet")
    rows = parquet.read_table(tmp_path / "model.parquet").to_pylist()
    assert len(rows) == 2 * 5
    assert rows[0] == {
        "run": "x", "query": "q1", "document": "a", "grade": 1.0, "position": 3, "retrieved": 3, "corpus_size": 9
    }  # fmt: skip
    assert [row["position"] for row in rows] == [3, None, 1, 1, None, None, 1, None, None, None]
    assert [row["retrieved"] for row in rows] == [3, 3, 3, 1, None, 1, 1, 1, None, None]


def test_a_query_without_a_judged_document_has_a_row(tmp_path: Path) -> None:
    qrels: dict[str, dict[str, int]] = {"q0": {}, "q1": {"a": 1}, "q2": {}}
    positions = project(qrels, {"q0": ["a"], "q1": ["x", "a"]})
    positions.save(tmp_path / "model.parquet")
    loaded = load_positions(tmp_path / "model.parquet")
    assert content(loaded) == content(positions)
    assert loaded.answered.tolist() == [[True, True, False]]


def test_a_query_of_which_everything_is_excluded_comes_back(tmp_path: Path) -> None:
    positions = project_scores([[0.2, 0.1], [0.3, 0.4]], [[], [0]], exclude=[[0, 1], []])
    assert positions.corpus_size is not None
    assert positions.corpus_size.tolist() == [0, 2]
    positions.save(tmp_path / "model.parquet")
    assert content(load_positions(tmp_path / "model.parquet")) == content(positions)


def test_ids_that_are_not_utf_8_survive(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"caf\xe9 0 d\xff 1\ncaf\xe9 0 e 1\n")
    (tmp_path / "run").write_bytes(b"caf\xe9 Q0 d\xff 1 2 t\n")
    positions = project(tmp_path / "qrels", tmp_path / "run")
    positions.save(tmp_path / "model.parquet")
    assert content(load_positions(tmp_path / "model.parquet")) == content(positions)
    assert content(project(tmp_path / "qrels", tmp_path / "model.parquet")) == content(positions)


def test_query_ids_keep_their_type(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    qrels = pl.DataFrame({"qid": [7, 8], "docno": ["a", "b"], "rel": [1, 1]})
    positions = project(qrels, {"7": ["a"]})
    positions.save(tmp_path / "model.parquet")
    loaded = load_positions(tmp_path / "model.parquet")
    assert loaded.judgments.query_type == positions.judgments.query_type == "int64"


def test_a_file_may_have_any_name_and_may_be_packed(tmp_path: Path) -> None:
    import gzip

    data = to_parquet(project(QRELS, RUNS))
    (tmp_path / "a.run").write_bytes(data)
    (tmp_path / "b.gz").write_bytes(gzip.compress(data))
    for name in ("a.run", "b.gz"):
        assert project(QRELS, tmp_path / name).runs == ("x", "y")
        assert load_positions(tmp_path / name).runs == ("x", "y")


def test_files_and_runs_mix_and_names_count(tmp_path: Path) -> None:
    project(QRELS, RUNS).save(tmp_path / "both.parquet")
    project(QRELS, {"z": RUNS["x"]}).save(tmp_path / "z.parquet")
    (tmp_path / "t.run").write_text("q1 Q0 a 1 1 t\n")
    mixed = [tmp_path / "both.parquet", tmp_path / "t.run", tmp_path / "z.parquet"]
    assert project(QRELS, mixed).runs == ("x", "y", "t.run", "z")
    assert len(compare(QRELS, [tmp_path / "both.parquet"], ["AP"]).runs) == 2
    assert project(QRELS, {"new": tmp_path / "z.parquet"}).runs == ("new",)
    with pytest.raises(FormatError, match="has 2 runs, but only one name is given"):
        project(QRELS, {"new": tmp_path / "both.parquet"})
    with pytest.raises(UsageError, match="two runs have the same name: 'z'"):
        project(QRELS, [tmp_path / "z.parquet", tmp_path / "z.parquet"])


def values_of(qrels: Any, runs: Any, measures: list[str], **options: Any) -> str:
    """Return all values as text, in which one NaN is like another."""
    return str(evaluate(qrels, runs, measures, **options).values.tolist())


def test_a_file_can_be_its_own_judgments(tmp_path: Path) -> None:
    path, measures = tmp_path / "model.parquet", ["AP", "Bpref"]
    project(QRELS, RUNS, needs_judged=True).save(path)
    assert values_of(path, path, measures) == values_of(QRELS, RUNS, measures)


OTHER: dict[str, Any] = {
    "query 'q3' is judged only in the file": {"q1": QRELS["q1"], "q2": QRELS["q2"]},
    "query 'q4' is judged only in qrels (and 1 more)": {**QRELS, "q4": {"a": 1}, "q5": {"a": 1}},
    "query 'q2': document 'd' is judged only in the file": {**QRELS, "q2": {"D": 1}},
    "query 'q2': document 'D' is judged only in qrels": {**QRELS, "q2": {"d": 1, "D": 1}},
    "query 'q1': document 'b' has grade 2 in the file, but 1.5 in qrels": {**QRELS, "q1": {"a": 1, "b": 1.5, "c": 0}},
}


@pytest.mark.parametrize("problem", OTHER)
def test_other_judgments_are_refused_with_the_difference(tmp_path: Path, problem: str) -> None:
    project(QRELS, RUNS).save(tmp_path / "model.parquet")
    with pytest.raises(DataError) as error:
        project(OTHER[problem], tmp_path / "model.parquet")
    assert error.value.problem.endswith(f"model.parquet: the file was made with other judgments: {problem}")


def test_the_same_judgments_in_another_order_are_the_same(tmp_path: Path) -> None:
    project(QRELS, RUNS, needs_judged=True).save(tmp_path / "model.parquet")
    turned = {query: dict(reversed(judged.items())) for query, judged in reversed(QRELS.items())}
    direct = project(turned, RUNS, needs_judged=True)
    assert content(project(turned, tmp_path / "model.parquet", needs_judged=True)) == content(direct)


def test_other_conventions_are_refused_with_the_difference(tmp_path: Path) -> None:
    project(QRELS, RUNS, depth=2).save(tmp_path / "model.parquet")
    with pytest.raises(UsageError) as error:
        project(QRELS, tmp_path / "model.parquet", ties="best", judged_only=True)
    assert "made with ties='trec', not 'best'; depth=2, not None; judged_only=False, not True" in error.value.problem
    expected = "give --depth 2 and leave out --ties --judged-only, or project the runs again"
    assert error.value.remedy == expected
    with pytest.raises(UsageError, match="made with depth=2, not None"):
        project(QRELS, tmp_path / "model.parquet")
    project(QRELS, RUNS, judged_only=True).save(tmp_path / "judged.parquet")
    with pytest.raises(UsageError, match="give --judged-only, or project"):
        project(QRELS, tmp_path / "judged.parquet")
    assert project(QRELS, tmp_path / "model.parquet", depth=2).runs == ("x", "y")


def test_the_corpus_size_of_a_file_holds_for_all_and_must_agree(tmp_path: Path) -> None:
    path = tmp_path / "model.parquet"
    project(QRELS, {"x": RUNS["x"]}, corpus_size=50).save(path)
    project(QRELS, {"z": RUNS["x"]}, corpus_size=60).save(tmp_path / "other.parquet")
    together = project(QRELS, {"x": path, "y": RUNS["y"]})
    assert content(together) == content(project(QRELS, RUNS, corpus_size=50))
    with pytest.raises(DataError, match="corpus size of query 'q1' is 70, but 50 in the positions file of x"):
        project(QRELS, path, corpus_size=70)
    with pytest.raises(DataError, match="is 50 in the positions file of x, but 60 in the positions file of z"):
        project(QRELS, [path, tmp_path / "other.parquet"])


def test_the_corpus_size_of_a_file_is_enough_for_the_imputation_of_the_paper(tmp_path: Path) -> None:
    project(QRELS, RUNS, corpus_size=50, imputation="paper").save(tmp_path / "model.parquet")
    loaded = project(QRELS, tmp_path / "model.parquet", imputation="paper")
    assert content(loaded) == content(project(QRELS, RUNS, corpus_size=50, imputation="paper"))
    with pytest.raises(UsageError, match="needs the corpus size"):
        project(QRELS, RUNS, imputation="paper")


def test_measures_that_need_judged_documents_need_them_in_the_file(tmp_path: Path) -> None:
    project(QRELS, RUNS).save(tmp_path / "model.parquet")
    with pytest.raises(FormatError, match="holds only relevant documents"):
        evaluate(QRELS, tmp_path / "model.parquet", ["Bpref"])
    assert values_of(QRELS, tmp_path / "model.parquet", ["AP"]) == values_of(QRELS, RUNS, ["AP"])


def test_a_run_without_judged_documents_is_still_noted(tmp_path: Path) -> None:
    project(QRELS, {"x": {"q1": ["A", "B"]}}).save(tmp_path / "model.parquet")
    [mismatch] = project(QRELS, {"new": tmp_path / "model.parquet"}).mismatches
    assert (mismatch.run, mismatch.retrieved) == ("new", ("A", "B"))


def test_units_and_providers_are_given_with_the_file_and_not_kept_in_it(tmp_path: Path) -> None:
    for more, what in (({"units": {"a": "U", "b": "U"}}, "units"), ({"providers": {"a": "K"}}, "providers")):
        named: dict[str, Any] = more
        positions = project(QRELS, RUNS, **named)
        with pytest.raises(UsageError, match=f"{what} are not kept in a positions file"):
            positions.save(tmp_path / "model.parquet")
    with pytest.raises(UsageError, match="units are not kept"):
        project(QRELS, RUNS, units={"a": "U", "b": "U"}).sought(1).save(tmp_path / "model.parquet")
    assert list(tmp_path.iterdir()) == []
    project(QRELS, RUNS).save(tmp_path / "model.parquet")
    for options in ({"units": {"a": "U", "b": "U"}, "unit_rule": "all"}, {"providers": {"a": "K", "d": "L"}}):
        measures = ["R@2"] if "units" in options else ["WorstProvider"]
        given = values_of(QRELS, tmp_path / "model.parquet", measures, **options)
        assert given == values_of(QRELS, RUNS, measures, **options)
    with pytest.raises(UsageError, match="positions in units cannot be counted from a positions file"):
        evaluate(QRELS, tmp_path / "model.parquet", ["R@2"], units={"a": "U", "b": "U"}, count="units")


def test_two_runs_of_one_name_cannot_be_saved(tmp_path: Path) -> None:
    positions = replace(project(QRELS, RUNS), runs=("x", "x"))
    with pytest.raises(UsageError, match="two runs have the same name"):
        positions.save(tmp_path / "model.parquet")


def changed(table: Any, **facts: Any) -> Any:
    own = json.loads(table.schema.metadata[KEY])
    return table.replace_schema_metadata({KEY: json.dumps({**own, **facts})})


def with_positions(table: Any, *first: int) -> Any:
    return table.set_column(4, "position", pa.array([*first, *table["position"].to_pylist()[len(first) :]]))


CHANGES = {
    "rows are missing": lambda table: table.slice(1),
    "the runs are not x, y": lambda table: changed(table.slice(0, 4).take([0, 1, 2, 3, 0, 1, 2, 3])),
    "rows are not in order": lambda table: table.take([0, 5, 1, 6, 2, 7, 3, 8, 4, 9]),
    "the judgments of y differ": lambda table: table.take([0, 1, 2, 3, 4, 5, 7, 6, 8, 9]),
    "a document has two rows": lambda table: table.take([0, 0, 2, 3, 4, 5, 5, 7, 8, 9]),
    "'conventions' is missing": lambda table: table.replace_schema_metadata({KEY: b'{"format": 1}'}),
    "Expecting value": lambda table: table.replace_schema_metadata({KEY: b"nothing"}),
    "ties is 'odd'": lambda table: changed(table, conventions={"ties": "odd"}),
    "the column 'position' is missing": lambda table: table.drop_columns(["position"]),
    "its conventions have no names": lambda table: changed(table, conventions=["ties"]),
    "its metadata is not a JSON object": lambda table: table.replace_schema_metadata({KEY: b"[1]"}),
    "its format is not a number": lambda table: changed(table, format="1"),
    "its runs are not a list of names": lambda table: changed(table, runs=2),
    "a run has no count of its own": lambda table: changed(table, without_judgments="ab"),
    "two documents have the same position": lambda table: with_positions(table, 1, 1),
    "a position is below the end of its ranking": lambda table: with_positions(table, 3, 4),
    "a grade is not finite": lambda table: table.set_column(3, "grade", pa.array([float("inf")] * 10)),
    "its judgments have no name": lambda table: changed(table, qrels={"name": 1, "query_type": "text"}),
    "its ids have no type": lambda table: changed(table, qrels={"name": "", "query_type": "bool"}),
    "a corpus size is missing": lambda table: table.append_column("corpus_size", pa.array([None] * 10, "int64")),
    "the corpus size 3 is too small": lambda table: table.append_column("corpus_size", pa.array([3] * 10)),
    "a position is not counted from 1": lambda table: table.set_column(4, "position", pa.array([0] * 10)),
    "the rows of a query differ in 'retrieved'": lambda table: table.set_column(5, "retrieved", pa.array([*range(10)])),
}


@pytest.mark.parametrize("problem", CHANGES)
def test_a_file_that_was_changed_is_refused(tmp_path: Path, problem: str) -> None:
    table = parquet.read_table(io.BytesIO(to_parquet(project(QRELS, RUNS))))
    parquet.write_table(CHANGES[problem](table), tmp_path / "model.parquet")
    with pytest.raises(FormatError, match=r"model\.parquet: is not as lexirecall wrote it: ") as error:
        load_positions(tmp_path / "model.parquet")
    assert problem in str(error.value)


GROUPED = project(
    QRELS, {"x": {"q1": {"a": 1.0, "y": 1.0, "c": 0.5, "b": 0.5}, "q2": {"d": 1.0}}}, ties="expected", needs_judged=True
)

EMPTY = project({"q0": {}, "q1": {"a": 1}}, {"x": {"q0": ["a"], "q1": ["a"]}}, needs_judged=True)


def without(table: Any, name: str) -> Any:
    return table.drop_columns([name])


def with_column(table: Any, name: str, values: list[Any], kind: Any = None) -> Any:
    return table.set_column(
        table.schema.names.index(name), name, pa.array(values, kind or table.schema.field(name).type)
    )


def edited(name: str, row: int, value: Any) -> Any:
    """Return what puts one value in its place."""

    def change(table: Any) -> Any:
        values = table[name].to_pylist()
        values[row] = value
        return with_column(table, name, values)

    return change


def of_qrels(table: Any, **about: Any) -> Any:
    return changed(table, qrels={**json.loads(table.schema.metadata[KEY])["qrels"], **about})


ONE = '{"run": "%s", "query": "q1", "retrieved": ["A"], "judged": ["a"]}'
MORE_CHANGES: dict[str, list[Any]] = {
    "one of the columns tie_start and tie_size is missing": [
        (GROUPED, lambda table: without(table, "tie_start")), (GROUPED, lambda table: without(table, "tie_size"))],
    "groups of equal scores do not go with its ties": [
        (GROUPED, lambda table: without(without(table, "tie_start"), "tie_size")),
        (GROUPED, lambda table: changed(table, conventions={"ties": "worst"}))],
    "a group of equal scores is missing": [(GROUPED, edited("tie_start", 0, None)), (GROUPED, edited("tie_size", 4, 1)),
                                           (GROUPED, edited("tie_size", 1, None))],
    "a group of equal scores does not hold": [(GROUPED, edited("tie_start", 0, 3)),
                                              (GROUPED, edited("tie_size", 0, 0))],
    "a group of equal scores is longer": [(GROUPED, edited("tie_size", 0, 9))],
    "two groups of equal scores overlap": [(GROUPED, edited("tie_size", 0, 3)), (GROUPED, edited("tie_size", 2, 1))],
    "'position' is out of range": [(None, edited("position", 0, -5)), (None, edited("position", 0, 2**62))],
    "'retrieved' is out of range": [(None, lambda table: with_column(table, "retrieved", [2**62] * 10)),
                                    (None, lambda table: with_column(table, "retrieved", [-1] * 10))],
    "a position is not one of a document": [(EMPTY, edited("position", 0, 1))],
    "a document has no grade, or a grade no document": [
        (None, lambda table: with_column(table, "grade", [None, *table["grade"].to_pylist()[1:5]] * 2)),
        (None, lambda table: with_column(table, "document", [*table["document"].to_pylist()[:4], None] * 2)),
        (GROUPED, edited("grade", 3, None)), (EMPTY, edited("grade", 0, 1.0))],
    "a row has no document": [(GROUPED, edited("document", 0, None))],
    "a grade is not finite": [(GROUPED, edited("grade", 0, float("nan"))), (GROUPED, edited("grade", 4, -1e400))],
    "rows are not in order": [(None, lambda table: with_column(table, "grade", [0.0, 2.0, 0.0, 1.0, 0.0] * 2))],
    "the column 'position' is of type": [
        (None, lambda table: with_column(table, "position", [3.0] * 10, "float64")),
        (None, lambda table: with_column(table, "position", [True] * 10, "bool")),
        (None, lambda table: with_column(table, "position", [3] * 10, "uint64"))],
    "the column 'query' is of type": [(None, lambda table: with_column(table, "query", [1] * 10, "int64"))],
    "there are two columns 'grade'": [(None, lambda table: table.append_column("grade", table["grade"]))],
    "a ranking is longer than the depth": [(None, lambda table: changed(table, conventions={"depth": 2}))],
    "the corpus size is missing": [(None, lambda table: changed(table, conventions={"imputation": "paper"}))],
    "a relevant document has no position": [
        (None, lambda table: changed(table, conventions={"imputation": "optimistic"}))],
    "a document without a judgment is in its ranking": [
        (None, lambda table: changed(table, conventions={"judged_only": True}))],
    "a document that is not relevant has a position": [(None, lambda table: changed(table, nonrelevant=False))],
    "it does not say what it keeps": [(None, lambda table: changed(table, nonrelevant="no"))],
    "one of its rules is neither true nor false": [
        (None, lambda table: changed(table, conventions={"judged_only": "no"})),
        (None, lambda table: changed(table, conventions={"strict": 1}))],
    "its depth is not a number": [(None, lambda table: changed(table, conventions={"depth": "9"})),
                                  (None, lambda table: changed(table, conventions={"depth": True}))],
    "depth is inf|not finite": [(None, lambda table: changed(table, conventions={"depth": float("inf")}))],
    "its format is not a number": [(None, partial(changed, format=number)) for number in (0, -1, True, 1.0)],
    "a run has no count of its own": [(None, lambda table: changed(table, duplicates_left_out=[0, -1])),
                                      (None, lambda table: changed(table, extra_fields=[True, 0])),
                                      (None, lambda table: changed(table, extra_fields=[1]))],
    "its judgments are not described|not finite": [(None, lambda table: of_qrels(table, repeated=-1)),
                                        (None, lambda table: of_qrels(table, repeated=1e400)),
                                        (None, lambda table: of_qrels(table, has_grades=1))],
    "could not convert|invalid literal": [(None, lambda table: of_qrels(table, query_type="int64"))],
    "rows are missing": [(None, partial(of_qrels, queries=4)), (None, partial(of_qrels, judged=3))],
    "a run that finds nothing judged finds something": [
        (None, partial(changed, mismatches=[json.loads(ONE % name)])) for name in "xyz"],
    "an example of an id is not text": [
        (None, lambda table: changed(table, mismatches=[{**json.loads(ONE % "x"), "judged": [1]}]))],
    "its metadata|nested|recursion": [(None, lambda table: table.replace_schema_metadata({KEY: b"[" * 100_000}))],
    "the rows of a query differ in 'corpus_size'": [
        (None, lambda table: table.append_column("corpus_size", pa.array([9, 9, 8, 9, 9] * 2)))],
}  # fmt: skip


@pytest.mark.parametrize("problem", MORE_CHANGES)
def test_positions_that_no_run_has_are_refused(tmp_path: Path, problem: str) -> None:
    for own, change in MORE_CHANGES[problem]:
        positions = project(QRELS, RUNS, needs_judged=True) if own is None else own
        table = parquet.read_table(io.BytesIO(to_parquet(positions)))
        parquet.write_table(change(table), tmp_path / "model.parquet")
        with pytest.raises(FormatError, match=rf"model\.parquet: is not as lexirecall wrote it: .*({problem})"):
            load_positions(tmp_path / "model.parquet")


def naively(table: Any) -> Any:
    """Read a positions file as its page describes it, row by row."""
    facts = json.loads(table.schema.metadata[KEY])
    rankings: dict[Any, Any] = {}
    for row in table.to_pylist():
        own = rankings.setdefault((row["run"], row["query"]), {"retrieved": row["retrieved"], "judged": {}})
        own["corpus_size"] = row.get("corpus_size")
        if row["document"] is not None:
            place = row["position"], row.get("tie_start"), row.get("tie_size")
            own["judged"][row["document"]] = row["grade"], None if place[0] is None else place
    return facts["runs"], facts["conventions"]["depth"], facts["nonrelevant"], rankings


def as_read(positions: Positions) -> Any:
    """Return the same of positions."""
    rankings: dict[Any, Any] = {}
    judgments, ids = positions.judgments, [each.decode() for each in positions.judgments.documents]
    places: dict[tuple[int, int], Any] = {}
    for tracks in filter(None, (positions.found, positions.others)):
        none = [None] * len(tracks.documents)
        starts = none if tracks.block_starts is None else tracks.block_starts.tolist()
        sizes = none if tracks.block_sizes is None else tracks.block_sizes.tolist()
        for owner, document, *place in zip(
            tracks.segments.owners.tolist(),
            tracks.documents.tolist(),
            tracks.positions.tolist(),
            starts,
            sizes,
            strict=True,
        ):
            places[owner, document] = tuple(place)
    for s, run in enumerate(positions.runs):
        for q, query in enumerate(positions.queries):
            judged = range(judgments.offsets[q], judgments.offsets[q + 1])
            n = None if positions.corpus_size is None else int(positions.corpus_size[q])
            rankings[run, query] = {
                "retrieved": int(positions.num_retrieved[s, q]) if positions.answered[s, q] else None,
                "judged": {
                    ids[document]: (judgments.grades[document], places.get((s * len(positions.queries) + q, document)))
                    for document in judged
                },
                "corpus_size": n,
            }
    return list(positions.runs), positions.conventions.depth, positions.others is not None, rankings


CELLS: dict[str, list[Any]] = {
    "int64": [None, -(2**62), -5, -1, *range(8), 50, 2**53, 2**53 + 1, 2**62],
    "double": [None, -1.0, 0.0, 0.5, 1.0, 2.0, float("nan"), float("inf"), 1e308],
    "large_string": [None, "", "a", "b", "0", "1", "z"],
}
FACTS: list[Any] = [None, True, False, -1, 0, 1, 2, 3, 1.5, 1e400, "", "text", "int64", [], ["x"], [0], [1, 2], {}]


@pytest.mark.filterwarnings("ignore:optimistic imputation")
@costly(400)
@given(collection=collections(max_runs=2), options=rules(), is_whole=st.booleans(), data=st.data())
def test_a_file_with_another_value_is_refused_or_read_as_it_says(
    collection: Collection, options: dict[str, Any], is_whole: bool, data: st.DataObject
) -> None:
    if collection.corpus_size is None and options["imputation"] == "paper":
        options = {**options, "imputation": "pessimistic"}
    positions = project(collection.qrels, collection.runs, needs_judged=is_whole, **options, **collection.given_size)
    table = parquet.read_table(io.BytesIO(to_parquet(positions)))
    assert as_read(positions) == naively(table)
    if len(table) and data.draw(st.integers(0, 3)):
        name = data.draw(st.sampled_from(table.schema.names))
        values = table[name].to_pylist()
        value = data.draw(st.sampled_from(CELLS[str(table.schema.field(name).type)]))
        row = data.draw(st.integers(0, len(values) - 1))
        query = [(each["run"], each["query"]) for each in table.to_pylist()]
        scope = data.draw(st.sampled_from(["cell", "query", "column"]))
        values = [
            value if at == row or scope == "column" or (scope == "query" and query[at] == query[row]) else each
            for at, each in enumerate(values)
        ]
        table = with_column(table, name, values)
    else:
        facts = json.loads(table.schema.metadata[KEY])
        inner = data.draw(st.sampled_from([facts, facts["conventions"], facts["qrels"]]))
        inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(st.sampled_from(FACTS))
        table = table.replace_schema_metadata({KEY: json.dumps(facts)})
    file = io.BytesIO()
    parquet.write_table(table, file, row_group_size=data.draw(st.sampled_from([1, 3, 1000])))
    try:
        loaded = from_parquet(io.BytesIO(file.getvalue()), "kept")
    except FormatError:
        return
    assert as_read(loaded) == naively(table)
    assert content(from_parquet(io.BytesIO(to_parquet(loaded)), "again")) == content(loaded)


@pytest.mark.parametrize("facts", [{"format": 3}, {"conventions": {"colour": "red"}}])
def test_a_newer_format_is_refused(tmp_path: Path, facts: dict[str, Any]) -> None:
    table = parquet.read_table(io.BytesIO(to_parquet(project(QRELS, RUNS))))
    parquet.write_table(changed(table, lexirecall="9.0", **facts), tmp_path / "model.parquet")
    with pytest.raises(FormatError, match=r"was written by lexirecall 9\.0, in a newer format"):
        project(QRELS, tmp_path / "model.parquet")


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    data = to_parquet(project(QRELS, RUNS))
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    (tmp_path / "bad").write_bytes(data[:40] + b"\xff" * 80 + data[120:])
    (tmp_path / "text").write_text("q1 Q0 a 1 1 t\n")
    parquet.write_table(pa.table({"qid": ["q1"], "docno": ["a"], "score": [1.0]}), tmp_path / "table")
    for name, problem in (
        ("cut", "cannot be read"), ("bad", "cannot be read|is not as"), ("text", "is not a positions file"),
        ("table", "is Parquet, but not a positions file"), ("none", "no such file"),
    ):  # fmt: skip
        with pytest.raises(FormatError, match=f"{name}: .*({problem})"):
            load_positions(tmp_path / name)
    with pytest.raises(FormatError, match="truncated"):
        project(QRELS, tmp_path / "cut")
    assert project(QRELS, tmp_path / "table").runs == ("table",)


@quick(40)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_says_the_same(data: st.DataObject) -> None:
    positions = project(QRELS, RUNS, needs_judged=True, corpus_size=9)
    kept = bytearray(to_parquet(positions))
    kept[data.draw(st.integers(0, len(kept) - 1))] ^= data.draw(st.integers(1, 255))
    end = data.draw(st.sampled_from([len(kept), len(kept), len(kept) // 3]))
    try:
        loaded = from_parquet(io.BytesIO(bytes(kept[:end])), "kept")
    except FormatError:
        return
    assert content(loaded.found) == content(positions.found)
    assert content(loaded.others) == content(positions.others)


def test_the_folders_around_a_file_say_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run=9" / "step=7"
    folder.mkdir(parents=True)
    positions = project(QRELS, RUNS)
    positions.save(folder / "model.parquet")
    assert content(load_positions(folder / "model.parquet")) == content(positions)


def test_a_folder_of_positions_files_is_not_one_table(tmp_path: Path) -> None:
    project(QRELS, RUNS).save(tmp_path / "model.parquet")
    with pytest.raises(FormatError, match="is a positions file, but a folder is one table"):
        project(QRELS, tmp_path)
    assert project(QRELS, f"{tmp_path}/*.parquet").runs == ("x", "y")


@pytest.mark.parametrize("engine", [DUCKDB, SPARK], ids=lambda engine: engine.name)
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_an_engine_does_not_read_a_positions_file(tmp_path: Path, engine: FileEngine, role: str) -> None:
    project(QRELS, RUNS).save(tmp_path / "model.parquet")
    with pytest.raises(FormatError, match=f"is a positions file, which {engine.name} does not read"):
        engine.files(tmp_path / "model.parquet", role, None)


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = project(QRELS, RUNS)
    positions.save(tmp_path / "model.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for act in (lambda: positions.save(tmp_path / "new"), lambda: project(QRELS, tmp_path / "model.parquet")):
        with pytest.raises(UsageError, match="needs pyarrow, which is not installed") as error:
            act()
        assert how_to_install("frames") in error.value.remedy


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(LexirecallError, match="cannot be written"):
        project(QRELS, RUNS).save(tmp_path / "nowhere" / "model.parquet")
    (tmp_path / "model.parquet").write_text("before")
    with pytest.raises(UsageError):
        project(QRELS, RUNS, units={"a": "U", "b": "U"}).save(tmp_path / "model.parquet")
    assert (tmp_path / "model.parquet").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["model.parquet"]

"""The same judgments and the same run mean the same in every form in which they can be given, each with each other."""

import json
from collections.abc import Callable
from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from lexirecall import project
from lexirecall.formats.jsontext import rows_of
from lexirecall.formats.kinds import FORM, KINDS, POSITIONS_FILE, REVIEW, Input, Kind, kind_of
from lexirecall.formats.queryrows import QueryRows
from lexirecall.formats.source import Source
from strategies import SCORES, Collection, collections, quick
from test_frames import seen

pl = pytest.importorskip("polars")

Values = dict[str, dict[str, float]]
"""Grades or scores of the documents of each query."""
COLUMNS = {"qrels": ("qid", "docno", "rel"), "run": ("qid", "docno", "score")}
TEXT = {"qrels": "{} 0 {} {!r}\n", "run": "{} Q0 {} 0 {!r} tag\n"}


def rows(values: Values) -> list[tuple[str, str, float]]:
    return [(query, document, value) for query, own in values.items() for document, value in own.items()]


def frame(values: Values, role: str) -> Any:
    return pl.DataFrame(rows(values), COLUMNS[role], orient="row")


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def parquet(values: Values, role: str, path: Path) -> Path:
    frame(values, role).write_parquet(path)
    return path


def folder(values: Values, role: str, path: Path) -> Path:
    path.mkdir(exist_ok=True)
    frame(values, role).write_parquet(path / "part-0.parquet")
    return path


def query_rows(values: Values, role: str) -> QueryRows:
    key = "expected_ids" if role == "qrels" else "retrieved_ids"
    return QueryRows.of(rows_of([{"query_id": query, key: own} for query, own in values.items()], "rows"), role)


INPUTS: dict[str, Callable[[Values, str, Path], Any]] = {
    "mapping": lambda values, _, __: values,
    "frame": lambda values, role, _: frame(values, role),
    "folder": folder,
    "parquet": parquet,
    "csv": lambda values, role, path: written(path, frame(values, role).write_csv()),
    "rows": lambda values, role, _: query_rows(values, role),
    "json lines": lambda values, role, path: written(
        path, "".join(f"{json.dumps(dict(zip(COLUMNS[role], row, strict=True)))}\n" for row in rows(values))
    ),
    "json": lambda values, _, path: written(path, json.dumps(values)),
    "text": lambda values, role, path: written(path, "".join(TEXT[role].format(*row) for row in rows(values))),
}
"""How values are given in each form that serves judgments and runs; a new form is one more row."""


finite = collections(scores=tuple(score for score in SCORES if isfinite(score)), max_runs=1)


@quick(8)
@given(collection=finite)
def test_every_form_means_what_a_mapping_means(
    collection: Collection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("forms")
    # a table has no rows of a query without documents
    qrels, run = ({q: own for q, own in each.items() if own} for each in (collection.qrels, collection.runs["system1"]))
    if not qrels.keys() & run.keys():
        return
    expected = seen(project(qrels, {"run": run}))
    given = {
        role: {form: give(values, role, base / f"{role}.{form}") for form, give in INPUTS.items()}
        for role, values in (("qrels", qrels), ("run", run))
    }
    for of_qrels, of_run in product(INPUTS, repeat=2):
        assert seen(project(given["qrels"][of_qrels], {"run": given["run"][of_run]})) == expected, (of_qrels, of_run)


def kind_of_input(given: Any) -> Kind | None:
    if not isinstance(given, Path):
        return kind_of(Input(given, "run"))
    with Source(given) as source:
        return kind_of(Input(source, "run"))


def test_a_row_of_the_table_of_kinds_without_a_form_here_fails(tmp_path: Path) -> None:
    tried = [kind_of_input(give({"q": {"a": 1.0}}, "run", tmp_path / form)) for form, give in INPUTS.items()]
    # are made from judgments and runs together: test_positions_files.py, test_whole_lists.py, test_asreview.py
    elsewhere = [POSITIONS_FILE, FORM, REVIEW]
    missing = [kind for kind in KINDS if "run" in kind.roles and kind not in [*tried, *elsewhere]]
    assert missing == [], "add to INPUTS how values are given in the new form"

"""Both readers on places counted in units: the same for every form of a run, under every rule."""

import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import evaluate, project
from lexirecall.fields import choices_of
from lexirecall.formats import dicts, native, parts, rows
from lexirecall.formats.source import Source
from lexirecall.formats.trec import project_text
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.reader import is_built
from lexirecall.units.unitmap import UnitMap
from strategies import quick
from test_two_readers import plain
from test_two_readers_on_rankings import DOCUMENTS, JUDGMENTS, QUERIES, runs

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")

UNITS = (b"U", b"V", b"W", b"", DOCUMENTS[0])
TEXTS = ("a", "b", "17", "-3", "é", "x", "long" * 30)
CONVENTIONS = [
    Conventions(ties=ties, score_dtype=dtype, depth=depth, duplicates=duplicates, count="units")
    for ties, dtype, depth, duplicates in product(
        ("trec", "input", "worst", "best"),
        choices_of(Conventions, "score_dtype"),
        (None, 1, 4),
        choices_of(Conventions, "duplicates"),
    )
]


@st.composite
def maps(draw: st.DrawFn) -> UnitMap:
    """Make a map, for all queries or for each; now and then one in which no two documents share a unit."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(UNITS)), min_size=1, max_size=20))
    if draw(st.integers(0, 4)) == 0:
        pairs = [(document, b"the unit of " + document) for document, _ in pairs]
    documents, units = ([pair[k] for pair in pairs] for k in (0, 1))
    named = st.sampled_from([*QUERIES, b"q4"])
    queries = draw(st.none() | st.lists(named, min_size=len(documents), max_size=len(documents)))
    # the circles of names that UnitMap refuses cannot arise: of the units, only one is a document too
    return UnitMap.of_columns(documents, units, queries)


@pytest.mark.parametrize("needs_judged", [False, True])
@quick(300)
@given(st.sampled_from(CONVENTIONS), maps(), st.data(), st.sampled_from([1, 7, 64, 1 << 20]))
def test_both_readers_count_the_same_places_in_text(
    tmp_path_factory: pytest.TempPathFactory,
    needs_judged: bool,
    conventions: Conventions,
    units: UnitMap,
    data: st.DataObject,
    block: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "units.run"
    path.write_bytes(data.draw(runs(conventions.duplicates)))
    readable = project_text(Source(path), "r", JUDGMENTS, conventions, units, needs_judged=needs_judged)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "_BLOCK", block)
        if conventions.duplicates == "error":  # lines without a fault are read in C, and not left to the other reader
            patch.setattr(native, "project_text", None)
        compiled = native.project_native(Source(path), "r", JUDGMENTS, conventions, units, needs_judged=needs_judged)
    assert plain(compiled) == plain(readable)


@st.composite
def content(draw: st.DrawFn) -> dict[str, Any]:
    """Make judgments, a run as a dict, and a map of units."""
    queries = st.sampled_from(["q1", "q2", "q3"])
    scores = st.dictionaries(st.sampled_from(TEXTS), st.sampled_from([1.0, 2.0, 2.0, 0.5]), min_size=1)
    unit = st.sampled_from(["U", "V", "W"])
    by_document = st.dictionaries(st.sampled_from(TEXTS), st.lists(unit, min_size=1, max_size=3), min_size=1)
    return {
        "run": draw(st.dictionaries(queries, scores, min_size=1)),
        "units": draw(by_document | st.dictionaries(queries, by_document, min_size=1)),
        "ties": draw(st.sampled_from(["trec", "input", "worst", "best"])),
        "depth": draw(st.none() | st.integers(1, 4)),
        "unit_rule": draw(st.sampled_from(choices_of(Conventions, "unit_rule"))),
        "unmapped": draw(st.sampled_from(choices_of(Conventions, "unmapped"))),
        "needs_judged": draw(st.booleans()),
    }


def as_frame(run: dict[str, dict[str, float]]) -> pl.DataFrame:
    cells = [(q, d, score) for q, scores in run.items() for d, score in scores.items()]
    return pl.DataFrame(cells, {"qid": pl.String, "docno": pl.String, "score": pl.Float64}, orient="row")


@pytest.mark.parametrize("form", ["scores", "lists", "frame", "parquet"])
@quick(150)
@given(content())
def test_both_readers_count_the_same_places_in_objects(
    tmp_path_factory: pytest.TempPathFactory, form: str, given: dict[str, Any]
) -> None:
    run = given.pop("run")
    judged = {q: {"a": 1, "b": 2, "17": 0, "é": 1, "-3": -1} for q in ("q1", "q2", "q3")}
    path = tmp_path_factory.getbasetemp() / "units.parquet"
    if form == "parquet":
        as_frame(run).write_parquet(path)
    forms = {"scores": run, "lists": {q: [*scores] for q, scores in run.items()}, "frame": as_frame(run)}
    found = []
    for reader in ("python", "native"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LEXIRECALL_READER", reader)
            if reader == "native":
                patch.setattr(dicts, "project_rankings", None)
                patch.setattr(rows, "project_rows", None)
            made = project(judged, forms.get(form, path), **given, judged="documents", count="units")
            found.append([plain(each) for each in (made.found, made.others, made.num_retrieved, made.answered)])
    assert found[0] == found[1]


def test_a_file_in_parts_counts_the_same_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a file are read at once, and look at one table of units."""
    rng = np.random.default_rng(3)
    path = tmp_path / "large.run"
    path.write_text("".join(f"q{q} Q0 d{d} 1 {-i} t\n" for q in range(40) for i, d in enumerate(rng.permutation(60))))
    judgments = Judgments.from_grades({b"q%d" % q: {b"d%d" % d: 1.0 for d in range(q % 7, 60, 9)} for q in range(40)})
    units = UnitMap.of_columns([b"d%d" % d for d in range(50)], [b"U%d" % (d // 4) for d in range(50)])
    conventions = Conventions(count="units")
    monkeypatch.setattr(parts, "_LEAST", 1 << 10)
    monkeypatch.setattr(parts, "_STEP", 64)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert len(parts.parts_of(Source(path), 4, 40)) == 4
    compiled = native.project_native(Source(path), "r", judgments, conventions, units, needs_judged=False)
    assert plain(compiled) == plain(project_text(Source(path), "r", judgments, conventions, units, needs_judged=False))


def test_a_map_of_units_is_prepared_once_for_all_runs() -> None:
    units = UnitMap.of_columns([b"a", b"b", b"c"], [b"U", b"U", b"V"])
    conventions = Conventions(count="units")
    tables = [native.arrays_of(JUDGMENTS, conventions, units, needs_judged=each).units for each in (False, True)]
    assert tables[0] is not None
    assert tables[0] is tables[1]


def test_without_units_in_common_places_are_those_of_documents() -> None:
    """Then the compiled reader need not look at the map."""
    units = UnitMap.of_columns([b"a", b"a", b"b"], [b"U", b"V", b"W"])
    assert native.arrays_of(JUDGMENTS, Conventions(count="units"), units, needs_judged=False).units is None
    by_query = UnitMap.of_columns([b"a", b"a"], [b"U", b"U"], [b"q1", b"q2"])
    assert native.arrays_of(JUDGMENTS, Conventions(count="units"), by_query, needs_judged=False).units is None


def test_an_document_that_takes_a_place_brings_all_its_units() -> None:
    """The first document has a unit of its own, and one that it shares with the second."""
    run = {"q": ["both", "second", "third"]}
    units = {"both": ["own", "shared"], "second": "shared", "third": "other"}
    scores = evaluate({"q": {"third": 1}}, run, ["LastRel"], units=units, count="units")
    assert scores.to_dict()["run"] == {"LastRel": 2.0}


# Callers that are wrong


def new_units(**changed: Any) -> Any:
    from lexirecall import _native

    arguments: dict[str, Any] = {
        "query_ids": b"q1q2", "query_borders": np.array([0, 2, 4]), "document_ids": b"aba",
        "document_borders": np.array([0, 1, 2, 3]), "queries": np.array([0, 0, 1]), "offsets": np.array([0, 1, 2, 4]),
        "units": np.array([0, 0, 0, 1]), "key": 1,
    }  # fmt: skip
    return _native.new_units(*(arguments | changed).values())


@pytest.mark.parametrize(
    "changed",
    [
        {"query_borders": np.array([0, 2, 5])}, {"query_borders": np.zeros(0, np.int64)},
        {"query_borders": np.array([2, 0, 4])}, {"document_borders": np.array([0, 1, 2, 4])},
        {"document_borders": np.array([0, 1, 2])}, {"queries": np.array([0, 0])}, {"offsets": np.array([0, 1, 2])},
        {"offsets": np.array([0, 1, 2, 5])}, {"offsets": np.array([-1, 1, 2, 4])}, {"units": np.array([0])},
        {"units": bytes(9)}, {"queries": memoryview(bytes(25))[1:]}, {"document_ids": b"aaa"}, {"query_ids": b"q1q1"},
    ],
)  # fmt: skip
def test_maps_that_do_not_fit_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"of the map|in the map twice|whole words"):
        new_units(**changed)


@pytest.mark.parametrize("wrong", ["units", b"", object()])
def test_only_a_table_of_units_counts(wrong: Any) -> None:
    from lexirecall import _native

    arrays = native.arrays_of(JUDGMENTS, Conventions(), needs_judged=False)
    with pytest.raises((ValueError, TypeError)):
        _native.run_of_dict({}, dicts._PLAIN, *arrays._replace(units=wrong), 1, 0, False)
    with pytest.raises(TypeError):
        new_units(units=None)
    assert new_units() is not None

"""Units are the same for every reader: with DuckDB as in their definition and as in memory."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lexirecall
import naive
from lexirecall.positions import Positions

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

DOCUMENTS = [f"d{i}" for i in range(12)]


@pytest.mark.parametrize("by_query", [False, True], ids=["one map", "a map of each query"])
@pytest.mark.parametrize("seed", range(5))
def test_an_document_takes_a_place_if_it_brings_a_unit_or_is_of_none(seed: int, by_query: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 - a collection is not a secret
    queries = ["q", "r"]
    maps = {q: {i: chance.sample("uvwxy", chance.choice([0, 1, 1, 2, 3])) for i in DOCUMENTS} for q in queries}
    if not by_query:
        maps["r"] = maps["q"]
    maps = {q: {i: mapped for i, mapped in each.items() if mapped} for q, each in maps.items()}
    ranked = {(s, q): chance.sample(DOCUMENTS, chance.randint(1, 12)) for s in ("a", "b") for q in queries}
    rows = [(*key, document, -float(n)) for key, documents in ranked.items() for n, document in enumerate(documents)]
    columns = dict(zip(("run", "qid", "docno", "score"), map(list, zip(*rows, strict=True)), strict=True))
    depth = chance.choice([None, 3])
    options: dict[str, Any] = {"units": maps if by_query else maps["q"], "count": "units", "depth": depth}
    judged = {q: dict.fromkeys(DOCUMENTS, 1) for q in queries}
    found = lexirecall.project(judged, pa.table(columns), engine="duckdb", **options)
    for number, (run, query) in enumerate(ranked):
        documents = ranked[run, query]
        places = naive.places_in_units(documents, maps[query])
        own = slice(*found.found.segments.offsets[number : number + 2])
        positions = {
            found.judgments.documents[document].decode(): position
            for document, position in zip(
                found.found.documents[own].tolist(), found.found.positions[own].tolist(), strict=True
            )
        }
        wanted = dict(zip(documents, places, strict=True))
        assert positions == {document: place for document, place in wanted.items() if depth is None or place <= depth}
        assert found.num_retrieved.ravel()[number] == min(places[-1], depth or places[-1])


def collection(seed: int, *, by_query: bool, judged: str) -> tuple[Any, Any, Any]:
    """Return judgments, runs and a map of units; some documents have several units, and some have none."""
    chance = random.Random(seed)  # noqa: S311
    queries, names = ["q1", "q2", "é q3"], ["U", "V", "W", "Größe", "Y"]

    def one_map() -> dict[str, list[str]]:
        return {i: chance.sample(names, chance.choice([1, 1, 1, 2])) for i in DOCUMENTS if chance.random() < 0.8}

    units: Any = {q: one_map() for q in queries} if by_query else one_map()
    maps = {q: units[q] if by_query else units for q in queries}
    known = {q: sorted({u for mapped in maps[q].values() for u in mapped}) for q in queries}
    ids = {q: known[q] if judged == "units" else DOCUMENTS for q in queries}
    qrels = {
        q: {i: chance.choice([-1, 0, 1, 1, 2, 0.5]) for i in chance.sample(ids[q], min(4, len(ids[q])))}
        for q in queries
    }
    qrels["q1"][ids["q1"][0]] = 2
    runs = {
        name: {
            q: {i: float(chance.randint(0, 5)) for i in chance.sample(DOCUMENTS, chance.randint(3, 12))}
            for q in [*queries, "unjudged"]
            if q == "q1" or chance.random() < 0.8
        }
        for name in ("a", "b")
    }
    return qrels, runs, units


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with duckdb.connect() as opened:
        yield opened


def relation(connection: Any, runs: Any, *, repeated: int = 0) -> Any:
    rows = [(s, q, i, x) for s, run in runs.items() for q, scores in run.items() for i, x in scores.items()]
    rows += [(s, q, i, x - 1) for s, q, i, x in rows[:repeated]]
    rows = [*reversed(rows)]
    rows.sort(key=lambda row: [*runs].index(row[0]))
    columns = dict(zip(("run", "qid", "docno", "score"), map(list, zip(*rows, strict=True)), strict=True))
    connection.register("given", pa.table(columns))
    return connection.table("given")


CASES: list[dict[str, Any]] = [
    {"judged": judged, "by_query": by_query, "count": count, **others}
    for judged in ("documents", "units")
    for by_query in (False, True)
    for count, others in (
        ("documents", {"unit_rule": "all"}),
        ("units", {}),
        ("units", {"ties": "worst", "depth": 3}),
        ("units", {"ties": "best", "unmapped": "itself", "unit_rule": "all"}),
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_units_by_duckdb_are_those_of_memory(connection: Any, case: dict[str, Any], seed: int) -> None:
    options = {name: value for name, value in case.items() if name != "by_query"}
    qrels, runs, units = collection(seed, by_query=case["by_query"], judged=case["judged"])
    expected = lexirecall.project(qrels, runs, units=units, needs_judged=True, **options)
    given = {"engine": "duckdb", "engine_options": {"connection": connection}}
    found = lexirecall.project(qrels, relation(connection, runs), units=units, needs_judged=True, **given, **options)
    assert_same(found, expected)
    for level in (0.5, 1, 2):
        assert_same(found.sought(level), expected.sought(level))
        served, wanted = found.sought(level).served, expected.sought(level).served
        assert served is not None
        assert wanted is not None
        assert served.documents.tolist() == wanted.documents.tolist()


def test_repeated_rows_take_no_place_and_are_counted(connection: Any) -> None:
    qrels, runs, units = collection(0, by_query=False, judged="units")
    repeated = relation(connection, runs, repeated=5)
    options: dict[str, Any] = {"units": units, "count": "units", "judged": "units"}
    given: dict[str, Any] = {"engine": "duckdb", "engine_options": {"connection": connection}, "duplicates": "best"}
    found = lexirecall.project(qrels, repeated, **given, **options)
    expected = lexirecall.project(qrels, runs, **options)
    assert found.num_retrieved.tolist() == expected.num_retrieved.tolist()
    assert found.found.positions.tolist() == expected.found.positions.tolist()
    assert sum(found.num_duplicates) == 5


def assert_same(ours: Positions, theirs: Positions) -> None:
    assert (ours.runs, ours.queries) == (theirs.runs, theirs.queries)
    assert ours.num_unjudged == theirs.num_unjudged
    np.testing.assert_array_equal(ours.answered, theirs.answered)
    np.testing.assert_array_equal(ours.num_retrieved, theirs.num_retrieved)
    for mine, other in ((ours.found, theirs.found), (ours.others, theirs.others)):
        assert (mine is None) == (other is None)
        if mine is not None and other is not None:
            np.testing.assert_array_equal(mine.segments.offsets, other.segments.offsets)
            np.testing.assert_array_equal(mine.positions, other.positions)
            np.testing.assert_array_equal(mine.documents, other.documents)

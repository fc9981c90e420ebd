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

ITEMS = [f"d{i}" for i in range(12)]


@pytest.mark.parametrize("by_request", [False, True], ids=["one map", "a map of each query"])
@pytest.mark.parametrize("seed", range(5))
def test_an_item_takes_a_place_if_it_brings_a_unit_or_is_of_none(seed: int, by_request: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 - a collection is not a secret
    requests = ["q", "r"]
    maps = {q: {i: chance.sample("uvwxy", chance.choice([0, 1, 1, 2, 3])) for i in ITEMS} for q in requests}
    if not by_request:
        maps["r"] = maps["q"]
    maps = {q: {i: mapped for i, mapped in each.items() if mapped} for q, each in maps.items()}
    ranked = {(s, q): chance.sample(ITEMS, chance.randint(1, 12)) for s in ("a", "b") for q in requests}
    rows = [(*key, item, -float(n)) for key, items in ranked.items() for n, item in enumerate(items)]
    columns = dict(zip(("run", "qid", "docno", "score"), map(list, zip(*rows, strict=True)), strict=True))
    depth = chance.choice([None, 3])
    options: dict[str, Any] = {"units": maps if by_request else maps["q"], "count": "units", "depth": depth}
    judged = {q: dict.fromkeys(ITEMS, 1) for q in requests}
    found = lexirecall.project(judged, pa.table(columns), engine="duckdb", **options)
    for number, (system, request) in enumerate(ranked):
        items = ranked[system, request]
        places = naive.places_in_units(items, maps[request])
        own = slice(*found.found.segments.offsets[number : number + 2])
        positions = {
            found.judgments.items[item].decode(): position
            for item, position in zip(found.found.items[own].tolist(), found.found.positions[own].tolist(), strict=True)
        }
        wanted = dict(zip(items, places, strict=True))
        assert positions == {item: place for item, place in wanted.items() if depth is None or place <= depth}
        assert found.num_retrieved.ravel()[number] == min(places[-1], depth or places[-1])


def collection(seed: int, *, by_request: bool, judged: str) -> tuple[Any, Any, Any]:
    """Return judgments, runs and a map of units; some items have several units, and some have none."""
    chance = random.Random(seed)  # noqa: S311
    requests, names = ["q1", "q2", "é q3"], ["U", "V", "W", "Größe", "Y"]

    def one_map() -> dict[str, list[str]]:
        return {i: chance.sample(names, chance.choice([1, 1, 1, 2])) for i in ITEMS if chance.random() < 0.8}

    units: Any = {q: one_map() for q in requests} if by_request else one_map()
    maps = {q: units[q] if by_request else units for q in requests}
    known = {q: sorted({u for mapped in maps[q].values() for u in mapped}) for q in requests}
    ids = {q: known[q] if judged == "units" else ITEMS for q in requests}
    qrels = {
        q: {i: chance.choice([-1, 0, 1, 1, 2, 0.5]) for i in chance.sample(ids[q], min(4, len(ids[q])))}
        for q in requests
    }
    qrels["q1"][ids["q1"][0]] = 2
    runs = {
        name: {
            q: {i: float(chance.randint(0, 5)) for i in chance.sample(ITEMS, chance.randint(3, 12))}
            for q in [*requests, "unjudged"]
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
    {"judged": judged, "by_request": by_request, "count": count, **others}
    for judged in ("items", "units")
    for by_request in (False, True)
    for count, others in (
        ("items", {"unit_rule": "all"}),
        ("units", {}),
        ("units", {"ties": "worst", "depth": 3}),
        ("units", {"ties": "best", "unmapped": "itself", "unit_rule": "all"}),
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_units_by_duckdb_are_those_of_memory(connection: Any, case: dict[str, Any], seed: int) -> None:
    options = {name: value for name, value in case.items() if name != "by_request"}
    qrels, runs, units = collection(seed, by_request=case["by_request"], judged=case["judged"])
    expected = lexirecall.project(qrels, runs, units=units, needs_judged=True, **options)
    given = {"engine": "duckdb", "engine_options": {"connection": connection}}
    found = lexirecall.project(qrels, relation(connection, runs), units=units, needs_judged=True, **given, **options)
    assert_same(found, expected)
    for level in (0.5, 1, 2):
        assert_same(found.sought(level), expected.sought(level))
        served, wanted = found.sought(level).served, expected.sought(level).served
        assert served is not None
        assert wanted is not None
        assert served.items.tolist() == wanted.items.tolist()


def test_repeated_rows_take_no_place_and_are_counted(connection: Any) -> None:
    qrels, runs, units = collection(0, by_request=False, judged="units")
    repeated = relation(connection, runs, repeated=5)
    options: dict[str, Any] = {"units": units, "count": "units", "judged": "units"}
    given: dict[str, Any] = {"engine": "duckdb", "engine_options": {"connection": connection}, "duplicates": "best"}
    found = lexirecall.project(qrels, repeated, **given, **options)
    expected = lexirecall.project(qrels, runs, **options)
    assert found.num_retrieved.tolist() == expected.num_retrieved.tolist()
    assert found.found.positions.tolist() == expected.found.positions.tolist()
    assert sum(found.num_duplicates) == 5


def assert_same(ours: Positions, theirs: Positions) -> None:
    assert (ours.systems, ours.requests) == (theirs.systems, theirs.requests)
    assert ours.num_unjudged == theirs.num_unjudged
    np.testing.assert_array_equal(ours.answered, theirs.answered)
    np.testing.assert_array_equal(ours.num_retrieved, theirs.num_retrieved)
    for mine, other in ((ours.found, theirs.found), (ours.others, theirs.others)):
        assert (mine is None) == (other is None)
        if mine is not None and other is not None:
            np.testing.assert_array_equal(mine.segments.offsets, other.segments.offsets)
            np.testing.assert_array_equal(mine.positions, other.positions)
            np.testing.assert_array_equal(mine.items, other.items)

"""Places counted in units are the same in SQL as in their definition."""

import random
from typing import Any

import pytest

import naive
from lexirecall.formats.casts import DUCKDB
from lexirecall.formats.plan import JUDGMENTS, RUNS, UNITS, Plan
from lexirecall.manifest import Conventions

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

ITEMS = [f"d{i}" for i in range(12)]


def answers(plan: Plan, runs: Any, judged: Any, units: Any) -> tuple[dict[Any, int], dict[Any, int]]:
    """Return the positions of judged items, and the lengths of rankings, of views that hold these rows."""
    with duckdb.connect() as connection:
        for name, columns, rows in (
            (RUNS, ("system", "request", "item", "score"), runs),
            (JUDGMENTS, ("request", "item", "grade", "place"), judged),
            (UNITS, ("request", "item", "unit"), units),
        ):
            connection.register(name, pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))))
        found = connection.sql(plan.positions()).select("system, request, place, position").fetchall()
        lengths = connection.sql(plan.lengths()).select("system, request, num_retrieved").fetchall()
    return {tuple(key): position for *key, position in found}, {tuple(key): number for *key, number in lengths}


@pytest.mark.parametrize("keys", [("item",), ("request", "item")], ids=["one map", "a map of each query"])
@pytest.mark.parametrize("seed", range(5))
def test_an_item_takes_a_place_if_it_brings_a_unit_or_is_of_none(seed: int, keys: tuple[str, ...]) -> None:
    chance = random.Random(seed)  # noqa: S311 - a collection is not a secret
    requests = ["q", "r"]
    maps = {q: {i: chance.sample("uvwxy", chance.choice([0, 1, 1, 2, 3])) for i in ITEMS} for q in requests}
    if keys == ("item",):
        maps["r"] = maps["q"]
    ranked = {(s, q): chance.sample(ITEMS, chance.randint(1, 12)) for s in ("a", "b") for q in requests}
    runs = [(*key, item, -float(n)) for key, items in ranked.items() for n, item in enumerate(items)]
    judged = [(q, item, 1.0, n) for q in requests for n, item in enumerate(ITEMS)]
    units = [(q, i, u) for q in requests[: len(keys)] for i, mapped in maps[q].items() for u in mapped]
    depth = chance.choice([None, 3])
    positions, lengths = answers(Plan(Conventions(depth=depth), DUCKDB, unit_keys=keys), runs, judged, units)
    counted = {key: naive.places_in_units(items, maps[key[1]]) for key, items in ranked.items()}
    assert lengths == {key: places[-1] for key, places in counted.items()}
    assert positions == {
        (*key, ITEMS.index(item)): place
        for key, places in counted.items()
        for item, place in zip(ranked[key], places, strict=True)
        if depth is None or place <= depth
    }

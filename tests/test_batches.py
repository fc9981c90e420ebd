"""What the workers of an engine do, without the engine: rows in Arrow, portions of them, and what they add up to."""

import random
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import lexirecall
from lexirecall import project
from lexirecall.engines import batches
from lexirecall.engines.batches import Layout, UnitsOfBatches
from lexirecall.engines.kernels import Asked, Kernel, RowKernel, total_of
from lexirecall.manifest import Conventions, Policies
from lexirecall.names import parse_names
from lexirecall.positions import Positions
from lexirecall.statistics.paired import ADDED_UP
from lexirecall.text import to_text
from lexirecall.tracks import Tracks
from lexirecall.units import WholeMap
from lexirecall.verbs.compare import conclude
from lexirecall.verbs.evaluate import Valued
from lexirecall.verbs.testing import Testing
from table import all_measures, all_preferences, needs_size

pa = pytest.importorskip("pyarrow")

SYSTEMS = ("one", "two", "three")


def collection(seed: int, ties: str = "trec", **options: Any) -> Positions:
    """Return the positions of all judged items in random runs with ties, some of them without an answer."""
    chance = random.Random(seed)  # noqa: S311 - a collection is not a secret
    items = [f"d{i}" for i in range(9)]
    qrels = {
        f"q{q}": {i: chance.choice([-1, 0, 1, 2, 0.5]) for i in chance.sample(items, chance.randint(1, 7))}
        for q in range(20)
    }
    runs = {
        name: {
            q: {i: float(chance.randint(0, 4)) for i in chance.sample(items, chance.randint(1, 9))}
            for q in qrels
            if chance.random() < 0.8
        }
        for name in SYSTEMS
    }
    return project(qrels, runs, ties=ties, needs_judged=True, **options)


def found_by(tracks: Tracks, segment: int, first: int) -> list[dict[str, int]]:
    start, stop = tracks.segments.offsets[segment : segment + 2]
    columns = {"position": tracks.positions, "place": tracks.items - first + 1}
    if tracks.block_starts is not None and tracks.block_sizes is not None:
        columns |= {"block_start": tracks.block_starts, "block_size": tracks.block_sizes}
    return [{name: int(values[k]) for name, values in columns.items()} for k in range(start, stop)]


def units_of(positions: Positions, item: int) -> list[dict[str, Any]]:
    """Return the units of a judged item as an engine would give them."""
    if (units := positions.units) is None:
        return []
    start, stop = units.offsets[item : item + 2]
    return [
        {
            "unit": to_text(units.judgments.items[units.units[k]]),
            "grade": float(units.grades[k]),
            "needs_all": bool(units.needs_all[units.units[k]]),
        }
        for k in range(start, stop)
    ]


def as_batch(positions: Positions, seed: int) -> Any:
    """Write positions as an engine would, in any order; what is missing is null."""
    chance = random.Random(seed)  # noqa: S311
    rows = []
    judgments, num_requests = positions.judgments, len(positions.requests)
    assert positions.others is not None
    for q, (start, stop) in enumerate(pairwise(judgments.offsets.tolist())):
        judged = [
            {"place": k - start + 1, "grade": float(judgments.grades[k]), "units": units_of(positions, k)}
            for k in range(start, stop)
        ]
        rankings = []
        for s, name in enumerate(SYSTEMS):
            if positions.answered[s, q]:
                segment = s * num_requests + q
                found = found_by(positions.found, segment, start) + found_by(positions.others, segment, start)
                chance.shuffle(found)
                count = int(positions.num_retrieved[s, q])
                rankings.append({"system": name, "num_retrieved": count, "found": found or None})
        chance.shuffle(judged)
        chance.shuffle(rankings)
        rows.append({"request": positions.requests[q], "judged": judged, "rankings": rankings or None})
    return pa.RecordBatch.from_pylist(rows)


def total(kernel: Kernel, *parts: Any) -> tuple[Any, ...]:
    """Return what the workers add up to; each has a part of the rows."""
    states = [state for part in parts for state in kernel.states(iter([part]))]
    shortage, *counted = total_of(state["state"][0].as_py() for state in states)
    assert shortage is None
    return tuple(counted)


@pytest.fixture(params=[1, 40, batches.BUDGET])
def _portions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BUDGET", request.param)


@pytest.mark.usefixtures("_portions")
@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_values_and_sums_are_those_of_the_positions_however_they_are_cut(ties: str) -> None:
    positions = collection(1, ties)
    tried = [*(m for m in all_measures() if not m.needs_providers and not needs_size(m)), *all_preferences()]
    names = [str(row) for row in tried if ties != "expected" or row.has_closed_form]
    asked = Asked(tuple(parse_names(names)), Policies(queries="intersection"))
    scores = lexirecall.evaluate(positions, measures=names, queries="intersection")
    layout = Layout(SYSTEMS, Conventions(ties=ties), needs_judged=True)
    batch = as_batch(positions, seed=2)
    kernel = RowKernel(layout, asked)
    rows = [row for part in kernel.rows(iter([batch.slice(0, 7), batch.slice(7)])) for row in part.to_pylist()]
    values = {(row["run"], row["query"], row["measure"]): row["value"] for row in rows}
    expected = scores.to_dict(per_query=True)
    assert values == {(s, q, m): expected[s][q][m] for s in expected for q in expected[s] for m in expected[s][q]}
    (tally,) = total(Kernel(layout, asked.values), batch.slice(9), batch.slice(0, 9), batch.slice(0, 0))
    averages = tally.averages(*asked)
    np.testing.assert_array_equal(averages.means, scores.means)
    assert averages.num_due.tolist() == scores.num_due.tolist()
    told = [note for note in scores.notes if note.kind != "no relevant document"]  # names queries, in another order
    assert [note for note in averages.notes if note.kind != "no relevant document"] == told


UNITS: dict[str, dict[str, Any]] = {
    "one each": {"units": {f"d{i}": f"U{i % 4}" for i in range(9)}},
    "several": {"units": {f"d{i}": [f"U{i % 4}", f"U{i % 3}"] for i in range(7)}},
    "all needed": {"units": {f"d{i}": f"U{i % 4}" for i in range(9)}, "unit_rule": "all", "count": "units"},
    "identity": {"units": {f"d{i}": f"d{i}" for i in range(9)}, "judged": "items"},
}


@pytest.mark.usefixtures("_portions")
@pytest.mark.parametrize("case", UNITS)
def test_units_are_those_of_the_positions_however_they_are_cut(case: str) -> None:
    options = {"judged": "items", **UNITS[case]}
    positions = collection(1, corpus_size=50, **options)
    assert positions.units is not None
    names = ["LexiRecall", "R@3", "RR", "LastRel", "TSE", "SL1", "R(rel=2)@3"]
    scores = lexirecall.evaluate(positions, measures=names)
    shared = max((level for level in (0.5, 1, 2) if positions.units.can_coincide(level)), default=-np.inf)
    whole = WholeMap(positions.units.is_one_to_one, shared)
    units = UnitsOfBatches("units", "items", whole)
    layout = Layout(SYSTEMS, positions.conventions, 50, needs_judged=True, units=units)
    batch, asked = as_batch(positions, seed=2), Asked(tuple(parse_names(names)), Policies())
    tally, collected = total(Kernel(layout, asked.every_value), batch.slice(9), batch.slice(0, 9))
    queries, valued = collected.in_order(asked.measures)
    np.testing.assert_array_equal(valued.values, scores.values[:, [scores.queries.index(query) for query in queries]])
    averages = tally.averages(*asked)
    assert [(note.kind, note.count) for note in averages.notes] == [(note.kind, note.count) for note in scores.notes]
    assert averages.manifest.qrels == scores.manifest.qrels
    assert averages.manifest.runs == scores.manifest.runs


@pytest.mark.usefixtures("_portions")
def test_values_that_are_collected_are_those_of_the_positions_in_the_order_of_the_queries() -> None:
    positions, batch = collection(7), as_batch(collection(7), seed=8)
    asked = Asked(tuple(parse_names(["LexiRecall", "AP", "LastRel"])), Policies(queries="intersection"))
    kernel = Kernel(Layout(SYSTEMS, needs_judged=True), asked.every_value)
    tally, collected = total(kernel, batch.slice(12), batch.slice(0, 12))
    requests, valued = collected.in_order(asked.measures)
    scores = lexirecall.evaluate(positions, measures=list(asked.measures), queries="intersection")
    order = np.argsort(scores.queries)
    assert list(requests) == sorted(scores.queries)
    np.testing.assert_array_equal(valued.values, scores.values[:, order])
    expected = Valued.of(positions, *asked)
    np.testing.assert_array_equal(valued.is_due, expected.is_due[:, order])
    np.testing.assert_array_equal(valued.placed, expected.placed[:, order])
    np.testing.assert_array_equal(tally.averages(*asked).means, scores.means)


@pytest.mark.usefixtures("_portions")
def test_comparisons_are_those_of_the_positions_however_they_are_cut() -> None:
    positions, batch = collection(3), as_batch(collection(3), seed=4)
    asked = Asked(tuple(parse_names(["LexiRecall", "RPP", "AP", "LastRel"])), Policies(queries="intersection"))
    layout, parts = Layout(SYSTEMS, needs_judged=True), (batch.slice(11), batch.slice(0, 11))
    tally, pairs = total(Kernel(layout, asked.pairs), *parts)
    means = [totals.means for totals in pairs.totals]
    squares = total(Kernel(layout, partial(asked.squares, means)), *parts)
    expected = lexirecall.compare(positions, measures=list(asked.measures), queries="intersection")
    for test in ADDED_UP:
        summaries = [totals.with_squares(each) for totals, each in zip(pairs.totals, squares, strict=True)]
        found = conclude(tally.averages(*asked), summaries, pairs.order(), Testing(test=test))
        expected = lexirecall.compare(positions, measures=list(asked.measures), queries="intersection", test=test)
        assert list(found.rows()) == list(expected.rows())
        assert found.render() == expected.render()
        np.testing.assert_array_equal(found.order.scores, expected.order.scores)


def test_a_corpus_that_is_too_small_is_found_wherever_it_is() -> None:
    positions, batch = collection(1), as_batch(collection(1), seed=2)
    asked = Asked(tuple(parse_names(["Linear"])), Policies())
    kernel = Kernel(Layout(SYSTEMS, corpus_size=5, needs_judged=True), asked.values)
    parts = [batch.slice(at, 1) for at in range(batch.num_rows)]
    shortage, _ = total_of(state["state"][0].as_py() for part in parts for state in kernel.states(iter([part])))
    expected = positions.shortage(np.full(len(positions.requests), 5))
    assert expected is not None
    assert shortage.request == min(expected.requests)
    assert (shortage.needed_by_all, {*shortage.requests}) == (expected.needed_by_all, {*expected.requests})


def test_portions_hold_all_rows_and_keep_to_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BUDGET", 60)
    batch = as_batch(collection(5), seed=6)
    layout = Layout(SYSTEMS)
    portions = list(layout.portions(batch))
    assert [q for portion in portions for q in portion["request"].to_pylist()] == batch["request"].to_pylist()
    assert len(portions) > 2
    for portion in portions:
        numbers = sum(
            9 + len(row["judged"]) + sum(len(r["found"] or ()) for r in row["rankings"] or ())
            for row in portion.to_pylist()
        )
        assert numbers <= 60 or portion.num_rows == 1
    assert list(layout.portions(batch.slice(0, 0))) == []

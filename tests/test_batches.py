"""What the workers of an engine do, without the engine: rows in Arrow, portions of them, and what they add up to."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import lexirecall
from lexirecall import parse_preference, project
from lexirecall.engines import batches
from lexirecall.engines.batches import Layout
from lexirecall.engines.kernels import Kernel, PairKernel, total_of
from lexirecall.engines.tallies import PairTally, Tally, Task
from lexirecall.manifest import Conventions, Policies
from lexirecall.names import parse_names
from lexirecall.positions import Positions, Tracks
from lexirecall.verbs.rank import compared_pairs
from table import all_measures, all_preferences, needs_size

pa = pytest.importorskip("pyarrow")

SYSTEMS = ("one", "two", "three")


def collection(seed: int, ties: str = "trec") -> Positions:
    """Return the positions of all judged items in random runs with ties, some of them without an answer."""
    chance = random.Random(seed)  # noqa: S311 - a collection is no secret
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
    return project(qrels, runs, ties=ties, needs_judged=True)


def found_by(tracks: Tracks, segment: int, first: int) -> list[dict[str, int]]:
    start, stop = tracks.segments.offsets[segment : segment + 2]
    columns = {"position": tracks.positions, "place": tracks.items - first + 1}
    if tracks.block_starts is not None and tracks.block_sizes is not None:
        columns |= {"block_start": tracks.block_starts, "block_size": tracks.block_sizes}
    return [{name: int(values[k]) for name, values in columns.items()} for k in range(start, stop)]


def as_batch(positions: Positions, seed: int) -> Any:
    """Write positions as an engine would, in any order; what is missing is null."""
    chance = random.Random(seed)  # noqa: S311
    rows = []
    judgments, num_requests = positions.judgments, len(positions.requests)
    assert positions.others is not None
    for q, (start, stop) in enumerate(pairwise(judgments.offsets.tolist())):
        judged = [{"place": k - start + 1, "grade": float(judgments.grades[k])} for k in range(start, stop)]
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


def task_of(*names: str, **policies: Any) -> Task:
    return Task(tuple(parse_names(names)), Policies(**policies))


@pytest.fixture(params=[1, 40, batches.BUDGET])
def _portions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BUDGET", request.param)


@pytest.mark.usefixtures("_portions")
@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_values_and_sums_are_those_of_the_positions_however_they_are_cut(ties: str) -> None:
    positions = collection(1, ties)
    tried = [*(m for m in all_measures() if not m.needs_providers and not needs_size(m)), *all_preferences()]
    names = [str(row) for row in tried if ties != "expected" or row.has_closed_form]
    task = task_of(*names, queries="intersection")
    scores = lexirecall.evaluate(positions, measures=names, queries="intersection")
    kernel = Kernel(Layout(SYSTEMS, Conventions(ties=ties), needs_judged=True), task)
    batch = as_batch(positions, seed=2)
    rows = [row for part in kernel.rows(iter([batch.slice(0, 7), batch.slice(7)])) for row in part.to_pylist()]
    values = {(row["run"], row["query"], row["measure"]): row["value"] for row in rows}
    expected = scores.to_dict(per_request=True)
    assert values == {(s, q, m): expected[s][q][m] for s in expected for q in expected[s] for m in expected[s][q]}
    states = [state for part in (batch.slice(9), batch.slice(0, 9)) for state in kernel.tallies(iter([part]))]
    tally = total_of((state["state"][0].as_py() for state in states), Tally())
    np.testing.assert_array_equal(tally.means(task.measures), scores.means)
    assert tally.numbers["num_due"].tolist() == scores.num_due.tolist()


@pytest.mark.usefixtures("_portions")
def test_pairs_are_those_of_the_positions_however_they_are_cut() -> None:
    positions = collection(3)
    preferences = tuple(parse_preference(name) for name in ("LexiRecall", "RPP"))
    kernel = PairKernel(Layout(SYSTEMS, needs_judged=True), Task(preferences), preferences)
    states = [state["state"][0].as_py() for state in kernel.tallies(iter([as_batch(positions, seed=4)]))]
    rows = list(total_of(iter(states), PairTally()).rows(SYSTEMS, preferences))
    assert len(rows) == 6
    for row in rows:
        pairs = compared_pairs(positions, parse_preference(row["measure"]), Policies())
        a, b = SYSTEMS.index(row["a"]), SYSTEMS.index(row["b"])
        assert (row["wins"], row["losses"]) == (pairs.wins[a, b], pairs.wins[b, a])
        assert (row["ties"], row["requests"]) == (pairs.ties[a, b], pairs.num_requests[a, b])
        assert row["mean"] == pytest.approx(pairs.means[a, b], rel=1e-15)


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


def test_a_corpus_that_is_too_small_is_remembered_and_nothing_is_computed() -> None:
    positions = collection(7)
    layout = Layout(SYSTEMS, corpus_size=2, needs_judged=True)
    tally = Tally.of(layout.positions(as_batch(positions, seed=8)), task_of("AP"))
    missing = positions.judgments.num_positive - positions.num_found
    assert tally.largest[0] == (positions.num_retrieved + missing).max()
    assert "counts" not in tally.numbers

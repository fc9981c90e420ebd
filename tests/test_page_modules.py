"""The page's JavaScript beside the Python that it repeats for pairs which the reader chooses."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive
from lexirecall import explain, project, simulate_collection
from lexirecall.page import report

ASSETS = Path(__file__).parents[1] / "src" / "lexirecall" / "page" / "assets"
NAMES = ("LexiRecall", "LexiPrecision", "RPP")
# Gives, for each measure, pair and query, the difference; and for each pair and query what decides it.
PROGRAM = """
const { setData, difference, decide, indices } = await import(process.argv[1]);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const payload = JSON.parse(Buffer.concat(chunks).toString());
setData(payload);
const pairs = payload.pairs.a.map((a, i) => [a, payload.pairs.b[i]]);
const queries = indices(payload.queries.length);
const told = ({ level, sign, reason }) => [level, sign, reason];
console.log(JSON.stringify({
  differences: payload.measures.map((_, k) => pairs.map(([a, b]) => queries.map((q) => difference(k, a, b, q)))),
  decided: pairs.map(([a, b]) => queries.map((q) => told(decide(a, b, q)))),
}));
"""


@pytest.fixture(scope="module", params=[0, 1, 2])
def computed(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    """A payload, what the page computes from it, and the positions from which it was made."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    collection = simulate_collection(request.param, num_queries=15)
    positions = project(collection.qrels, collection.runs)
    payload = report(positions, measures=[*NAMES, "AP"], output=None).payload
    command = [node, "--input-type=module", "-e", PROGRAM, (ASSETS / "data.js").as_uri()]
    given = json.dumps(payload)
    made = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return payload, json.loads(made.stdout), positions


def test_preferences_are_those_of_python(computed: tuple[Any, Any, Any]) -> None:
    payload, page, positions = computed
    projection = positions.at_level(1)
    for k, name in enumerate(NAMES):
        for place, (a, b) in enumerate(zip(payload["pairs"]["a"], payload["pairs"]["b"], strict=True)):
            for q, query in enumerate(payload["queries"]):
                where = positions.queries.index(query)
                runs = [positions.runs.index(payload["runs"][s]) for s in (a, b)]
                sides = [projection.vector(s, where).tolist() for s in runs]
                expected = naive.PREFERENCES[name](*sides)
                assert page["differences"][k][place][q] == pytest.approx(expected)


def test_differences_of_values_are_those_of_the_payload(computed: tuple[Any, Any, Any]) -> None:
    payload, page, _ = computed
    values = np.array(payload["values"][len(NAMES)])
    expected = values[payload["pairs"]["a"]] - values[payload["pairs"]["b"]]
    assert np.array(page["differences"][len(NAMES)]) == pytest.approx(expected)


def test_what_decides_is_what_explain_says(computed: tuple[Any, Any, Any]) -> None:
    payload, page, positions = computed
    for place, (a, b) in enumerate(zip(payload["pairs"]["a"], payload["pairs"]["b"], strict=True)):
        names = payload["runs"][a], payload["runs"][b]
        explanation = explain(positions, pair=names)
        for q, query in enumerate(payload["queries"]):
            level, sign, _ = page["decided"][place][q]
            explained = explanation.query(query)
            assert level == (explained.level or 0)
            assert {1: names[0], -1: names[1], 0: None}[sign] == explained.preferred

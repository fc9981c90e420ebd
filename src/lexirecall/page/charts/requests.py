"""Charts of requests: by how much two systems differ on each, and where all of them have what is relevant.

Belongs here: drawings of positions, request by request.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, listed, shown
from lexirecall.manifest import Policies
from lexirecall.names import parse_preference
from lexirecall.plots import COLORS, altair, data, label
from lexirecall.positions import Positions
from lexirecall.preferences import deciding_level
from lexirecall.text import visible
from lexirecall.verbs.rank import compared_pairs

ROW = 22
"""Pixels from one system to the next."""


def request_differences(
    positions: Positions, a: str, b: str, measure: str = "AP", *, policies: Policies | None = None
) -> Any:
    """Draw by how much one system is better than another on each request, sorted; of LexiRecall 1, 0 or -1.

    >>> from lexirecall import project
    >>> runs = {"x": {"q": ["a"], "r": ["b", "a"]}, "y": {"q": ["b", "a"], "r": ["a"]}}
    >>> chart = request_differences(project({"q": {"a": 1}, "r": {"a": 1}}, runs), "x", "y")
    >>> chart.to_dict()["mark"]["type"]
    'bar'
    """
    alt = altair()
    rows = request_difference_rows(positions, a, b, measure, policies=policies)
    order = [row["request"] for row in rows]
    title = f"{parse_preference(measure)}: {visible(a)} less {visible(b)}"
    step = 14 if len(order) <= 60 else max(800 // max(len(order), 1), 1)
    names = alt.Axis(labelAngle=-90) if len(order) <= 60 else None
    sign = alt.condition("datum.difference > 0", alt.value(COLORS[0]), alt.value(COLORS[1]))
    return (
        alt.Chart(data(rows), width=max(step * len(order), 80), height=200)
        .mark_bar()
        .encode(
            x=alt.X("request:N", sort=order, title=None if names else f"{len(order):,} requests", axis=names),
            y=alt.Y("difference:Q", title=title),
            color=sign,
        )
    )


def request_difference_rows(
    positions: Positions, a: str, b: str, measure: str, *, policies: Policies | None = None
) -> list[dict[str, Any]]:
    """Give one row for each request on which the two are compared, the best for the first system first."""
    policies = policies or Policies()
    pairs = compared_pairs(positions, parse_preference(measure), policies)
    first, second = (system_index(positions, name) for name in (a, b))
    requests = np.flatnonzero(pairs.taking_part[first] & pairs.taking_part[second])
    values = pairs.values[first, second, requests].astype(float)
    ordered = np.argsort(-values, kind="stable").tolist()
    return [{"request": label(pairs.requests[requests[i]]), "difference": float(values[i])} for i in ordered]


def request_strips(
    positions: Positions, request: str, systems: Sequence[str] | None = None, *, level: float = 1
) -> Any:
    """Draw where each system has the relevant documents of a request, on a logarithmic axis, and how many it lacks.

    The line is the list that a system returned. Of two systems the items at the recall level that decides between them
    are marked.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> [layer["mark"]["type"] for layer in request_strips(positions, "q").to_dict()["layer"]]
    ['rule', 'tick', 'point', 'text']
    """
    alt = altair()
    lists, items = strip_rows(positions, request, systems, level=level)
    order = [row["run"] for row in lists]
    deepest = max(2, *(row["retrieved"] for row in lists))
    across = alt.Scale(type="log", domain=[1, deepest], nice=False)
    base = alt.Chart(data(lists)).encode(y=alt.Y("run:N", sort=order, title=None, axis=alt.Axis(labelLimit=240)))
    listed_part = base.transform_filter("datum.retrieved > 0").mark_rule(color="#BBBBBB").encode(
        x=alt.X("first:Q", scale=across, title=f"position, request {visible(request)}"), x2="retrieved:Q"
    )  # fmt: skip
    decides = alt.condition("datum.decides", alt.value(COLORS[1]), alt.value(COLORS[0]))
    found = alt.Chart(data(items)).encode(x=alt.X("position:Q", scale=across), y=alt.Y("run:N", sort=order))
    ticks = found.mark_tick(height=14, opacity=1).encode(color=decides)
    pointers = found.transform_filter("datum.decides").mark_point(
        shape="triangle-up", filled=True, opacity=1, color=COLORS[1], yOffset=10
    )
    missing = base.mark_text(align="left", dx=6, fontSize=10).encode(x=alt.value(480), text="missing:N")
    return alt.layer(listed_part, ticks, pointers, missing).properties(width=480, height=ROW * len(order))


def strip_rows(
    positions: Positions, request: str, systems: Sequence[str] | None = None, *, level: float = 1
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Give one row for each system, with the length of its list and what it lacks; and one for each item found."""
    projection = positions.at_level(level)
    q = _request_index(positions, request)
    names = positions.systems if systems is None else systems
    vectors = {name: projection.vector(system_index(positions, name), q) for name in names}
    deciding = deciding_level(*vectors.values()) if len(vectors) == 2 else None
    lists, items = [], []
    for name, vector in vectors.items():
        lacks = int(np.isinf(vector).sum())
        retrieved = int(positions.num_retrieved[system_index(positions, name), q])
        run = {"run": label(name)}
        lists.append({**run, "first": 1, "retrieved": retrieved, "missing": f"{lacks:,} missing" if lacks else ""})
        places = enumerate(vector[np.isfinite(vector)].tolist(), 1)
        items += [{**run, "position": int(place), "decides": i == deciding} for i, place in places]
    return lists, items


def system_index(positions: Positions, name: str) -> int:
    """Return which system is called so."""
    if name not in positions.systems:
        raise UsageError(f"no run is called {name!r}", remedy=f"choose from {listed(positions.systems, 9)}")
    return positions.systems.index(name)


def _request_index(positions: Positions, name: str) -> int:
    if name not in positions.requests:
        raise UsageError(f"there is no request {shown(name)}", remedy=f"there are {listed(positions.requests, 3)}")
    return positions.requests.index(name)

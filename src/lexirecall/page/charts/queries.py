"""Charts of queries: by how much two runs differ on each, and where each run ranks what is relevant.

Belongs here: drawings of positions, query by query.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, listed, shown
from lexirecall.manifest import Policies
from lexirecall.names import parse_preference
from lexirecall.page.charts.bars import ROW
from lexirecall.page.charts.chart import Chart, of_comparison
from lexirecall.page.findings import Findings
from lexirecall.positions import Positions
from lexirecall.preferences import Preference, deciding_level
from lexirecall.svg import COLORS, Drawing, Element, bar, of_run, point, rule, text, text_width
from lexirecall.svg.axes import (
    BELOW,
    LABEL_LIMIT,
    TITLE,
    Area,
    axis_below,
    axis_beside,
    brief,
    end_of,
    names_beside,
    room_beside,
    room_for,
)
from lexirecall.svg.scales import Bands, Linear, Logarithmic
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.explain import explain
from lexirecall.verbs.rank import contrasted

MOST_NAMED = 60
"""The most queries that are each named below their bars."""


def query_differences(
    positions: Positions, a: str, b: str, measure: str = "AP", *, policies: Policies | None = None
) -> Drawing:
    """Draw by how much one run is better than another on each query, sorted; for LexiRecall that is 1, 0 or -1.

    >>> from lexirecall import project
    >>> runs = {"x": {"q": ["a"], "r": ["b", "a"]}, "y": {"q": ["b", "a"], "r": ["a"]}}
    >>> query_differences(project({"q": {"a": 1}, "r": {"a": 1}}, runs), "x", "y").label
    'AP: x less y, on 2 queries. Above 0 on 1, below on 1'
    """
    rows = query_difference_rows(positions, a, b, measure, policies=policies)
    values = [row["difference"] for row in rows]
    is_named = len(rows) <= MOST_NAMED
    step = 14 if is_named else max(800 // len(rows), 1)
    y = Linear.over(values, 228, 28)
    frame = Area(room_beside(y, ""), 28, max(step * len(rows), 80), 200)
    bands = Bands(len(rows), frame.left, step)
    zero, thick = y(0), step - 1 if step > 2 else step
    drawn = [
        bar(bands(i) - thick / 2, zero, thick, y(value) - zero, "side-a" if value > 0 else "side-b")
        for i, value in enumerate(values)
    ]
    title = f"{parse_preference(measure)}: {brief(a)} less {brief(b)}"
    axes = text(6, 8, title, size=TITLE), *axis_beside(frame, y), rule(frame.left, zero, frame.right, zero, "muted")
    number = f"{len(rows):,} queries"
    names = (
        [_upright(bands(i), frame.bottom + 6, row["query"]) for i, row in enumerate(rows)]
        if is_named
        else [text(frame.middle, frame.bottom + 14, number, anchor="middle", size=TITLE)]
    )
    below = 12 + (room_for(row["query"] for row in rows) if is_named else 14)
    label = f"{title}, on {number}. Above 0 on {sum(v > 0 for v in values):,}, below on {sum(v < 0 for v in values):,}"
    width = max(frame.right + 12, text_width(title, TITLE) + 12)
    return Drawing(width, frame.bottom + below, (*axes, *drawn, *names), label)


def _upright(x: float, y: float, name: str) -> Element:
    return text(x, y, name, anchor="end", angle=-90, limit=LABEL_LIMIT)


def query_difference_rows(
    positions: Positions, a: str, b: str, measure: str, *, policies: Policies | None = None
) -> list[dict[str, Any]]:
    """Give one row for each query on which the two are compared, from the best for the first run on."""
    policies = policies or Policies()
    pairs = contrasted(positions, parse_preference(measure), policies)
    first, second = (run_index(positions, name) for name in (a, b))
    queries = np.flatnonzero(pairs.has_size[first] & pairs.has_size[second])
    values = pairs.between(np.array([first]), np.array([second]))[0, queries].astype(float)
    ordered = np.argsort(-values, kind="stable").tolist()
    return [{"query": pairs.queries[queries[i]], "difference": float(values[i])} for i in ordered]


def query_strips(positions: Positions, query: str, runs: Sequence[str] | None = None, *, level: float = 1) -> Drawing:
    """Draw where each run ranks the relevant documents of a query, on a logarithmic axis, and how many it misses.

    The line is the list that a run returned. With two runs, the documents at the recall level that decides between them
    are marked.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> query_strips(positions, "q").label
    'Positions of the relevant documents of query q. x: 2 found; y: 2 found'
    """
    return draw_strips(*strip_rows(positions, query, runs, level=level), query)


def draw_strips(lists: Sequence[dict[str, Any]], documents: Sequence[dict[str, Any]], query: str) -> Drawing:
    """Draw a strip for each list, with its documents."""
    names = [row["run"] for row in lists]
    frame = Area(room_for(names) + 12, 4, 480, ROW * len(names))
    x = Logarithmic(max(2, *(row["retrieved"] for row in lists)), frame.left, frame.right)
    bands = Bands(len(names), frame.top, ROW)
    by_run = [[document for document in documents if document["run"] == name] for name in names]
    drawn = [
        of_run(i, *_strip(row, by_run[i], x, bands(i)), text(frame.right + 8, bands(i), row["missing"]))
        for i, row in enumerate(lists)
    ]
    summary = "; ".join(
        f"{brief(row['run'])}: {len(found):,} found{row['missing'] and ', '}{row['missing']}"
        for row, found in zip(lists, by_run, strict=True)
    )
    title = f"position, query {brief(query)}"
    label = f"Positions of the relevant documents of query {brief(query)}. {summary}"
    around = *axis_below(frame, x, title), *names_beside(frame, bands, names)
    room = max(text_width(row["missing"]) for row in lists) + 16
    return Drawing(end_of(frame, title, max(room, 24)), frame.bottom + BELOW, (*around, *drawn), label)


def _strip(row: dict[str, Any], documents: Sequence[dict[str, Any]], x: Logarithmic, y: float) -> Iterator[Element]:
    """Give the list of one run, its relevant documents, and pointers to those that decide."""
    if row["retrieved"]:
        yield rule(x(1), y, x(row["retrieved"]), y, "muted")
    for document in documents:
        at, ink = x(document["position"]), "side-b" if document["decides"] else "side-a"
        yield bar(at - 0.75, y - 7, 1.5, 14, ink)
        if document["decides"]:
            yield point(at, y + 10, "triangle-up", ink, radius=3)


def strip_rows(
    positions: Positions, query: str, runs: Sequence[str] | None = None, *, level: float = 1
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Give one row for each run, with the length of its list and what it misses, and one for each document found."""
    projection = positions.at_level(level)
    q = _query_index(positions, query)
    names = positions.runs if runs is None else runs
    vectors = {name: projection.vector(run_index(positions, name), q) for name in names}
    deciding = deciding_level(*vectors.values()) if len(vectors) == 2 else None
    lists, documents = [], []
    for name, vector in vectors.items():
        lacks = int(np.isinf(vector).sum())
        retrieved = int(positions.num_retrieved[run_index(positions, name), q])
        run = {"run": name}
        lists.append({**run, "first": 1, "retrieved": retrieved, "missing": f"{lacks:,} missing" if lacks else ""})
        places = enumerate(vector[np.isfinite(vector)].tolist(), 1)
        documents += [{**run, "position": int(place), "decides": i == deciding} for i, place in places]
    return lists, documents


def run_index(positions: Positions, name: str) -> int:
    """Return the index of the run with this name."""
    if name not in positions.runs:
        raise UsageError(f"no run is called {name!r}", remedy=f"choose from {listed(positions.runs, 9)}")
    return positions.runs.index(name)


def _query_index(positions: Positions, name: str) -> int:
    if name not in positions.queries:
        raise UsageError(f"there is no query {shown(name)}", remedy=f"the queries are {listed(positions.queries, 3)}")
    return positions.queries.index(name)


def _differences(findings: Findings, _comparison: Comparison) -> Drawing:
    """Draw how the two best runs differ under the first measure that has a value for one ranking."""
    with_values = [row for row in findings.scores.measures if not isinstance(row, Preference)]
    measure = str((with_values or findings.scores.measures)[0])
    a, b = findings.best_first[:2]
    return query_differences(findings.positions, a, b, measure, policies=findings.policies)


def _strips(findings: Findings) -> Drawing:
    """Draw the query that tells the two best runs apart."""
    runs, query = findings.best_first[: len(COLORS)], _telling_query(findings)
    return query_strips(findings.positions, query, runs, level=findings.policies.level)


def _telling_query(findings: Findings) -> str:
    """Return the query that tells the two best runs apart most clearly, or the first if none does."""
    a, b = (findings.best_first * 2)[:2]
    explained = explain(findings.positions, pair=(a, b), **asdict(replace(findings.policies, no_relevant="skip")))
    if explained.queries:
        return explained.queries[0].id
    return findings.positions.queries[int(np.flatnonzero(findings.eligible)[0])]


CHARTS = (Chart("differences", of_comparison(_differences)), Chart("query", _strips))
"""The charts of queries."""

"""Serving: which documents serve the units of a page, and which others would have.

Belongs here: their compact form. Not here: how it is found (verbs.serving), where units are (rankings).
"""

from typing import Any

from lexirecall.judgments import IntArray
from lexirecall.page.findings import Findings
from lexirecall.page.limits import Cutter
from lexirecall.text import to_text
from lexirecall.verbs.serving import documents_of_units

MOST_NAMED = 4
"""How many documents of a unit are named on the page; the others are counted."""


def serving_columns(findings: Findings, runs: list[int], queries: IntArray, cut: Cutter) -> dict[str, Any]:
    """Return the documents that serve units, by query, and by whom each unit is served; nothing without units.

    `documents` has the names of a query. `units` has, for each of its units in the order of `relevant`, how many
    documents count for it, whether it needs all of them, and the first few as indices of names. `by` has, by run and
    query, the document of each unit found, as an index too.

    >>> from lexirecall import report
    >>> units = {"a": "U", "b": "U", "c": "V"}
    >>> page = report({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["b"]}, "RR", output=None, units=units)
    >>> page.payload["serving"]["documents"], page.payload["serving"]["units"], page.payload["serving"]["by"]
    ([['a', 'b', 'c']], [[[2, 0, 0, 1], [1, 0, 2]]], [[[1]]])
    """
    projection = findings.projection
    served = projection.source.served
    if served is None or served.origin.units is None or projection.served_by is None:
        return {}
    origin, needs_all = served.origin, served.origin.units.needs_all
    documents: list[list[str]] = []
    units: list[list[list[int]]] = []
    by: list[list[list[int]]] = [[] for _ in runs]
    is_relevant = projection.source.judgments.grades >= projection.level
    offsets, num_queries = projection.found.segments.offsets, len(findings.positions.queries)
    for q in queries.tolist():
        names: dict[int, int] = {}
        of_unit = documents_of_units(projection, q)
        units.append(
            [
                [
                    len(served_by),
                    int(needs_all[unit]),
                    *(names.setdefault(document, len(names)) for document in served_by[:MOST_NAMED]),
                ]
                for unit, served_by in sorted(of_unit.items())
                if is_relevant[unit]
            ]
        )
        for of_run, s in zip(by, runs, strict=True):
            start, stop = offsets[s * num_queries + q :][:2]
            serving = projection.served_by[start:stop].tolist()
            of_run.append([names.setdefault(document, len(names)) for document in serving])
        documents.append([cut(to_text(origin.judgments.documents[document])) for document in names])
    return {"serving": {"documents": documents, "units": units, "by": by}}

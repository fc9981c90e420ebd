"""Rankings: the relevant documents of each query, and where each run ranks them, as a page carries them.

Belongs here: the compact form of positions.
"""

from itertools import compress

import numpy as np

from lexirecall.judgments import IntArray, offsets_of
from lexirecall.page.findings import Findings
from lexirecall.page.limits import Cutter
from lexirecall.positions import Projection
from lexirecall.text import to_text


def relevant_documents(projection: Projection, queries: IntArray, cut: Cutter) -> list[list[str]]:
    """Return the ids of the relevant documents of each query, in the order of the judgments.

    >>> from lexirecall import project
    >>> projection = project({"q": {"a": 1, "b": 0, "c": 2}}, {"q": ["c"]}).at_level(1)
    >>> relevant_documents(projection, np.array([0]), Cutter(200))
    [['a', 'c']]
    """
    judgments = projection.source.judgments
    is_relevant = (judgments.grades >= projection.level).tolist()
    borders = judgments.offsets.tolist()
    lists = []
    for q in queries.tolist():
        start, stop = borders[q : q + 2]
        chosen = compress(judgments.documents.slice(start, stop), is_relevant[start:stop])
        lists.append([cut(to_text(document)) for document in chosen])
    return lists


def lengths_of_relevant(projection: Projection) -> IntArray:
    """Add up the bytes of the relevant ids of each query, [Q]."""
    judgments = projection.source.judgments
    lengths = np.where(judgments.grades >= projection.level, np.diff(judgments.documents.offsets), 0)
    return np.diff(offsets_of(lengths)[judgments.offsets])


def found_documents(findings: Findings, runs: list[int], queries: IntArray) -> list[list[list[int]]]:
    """Return, for each run and query, [p_1, d_1, p_2 - p_1, d_2, p_3 - p_2, d_3, …].

    d is the index of the document among the relevant ones of the query; documents not retrieved are left out.
    """
    projection = findings.projection
    found, num_queries = projection.found, len(findings.positions.queries)
    steps = np.diff(found.positions, prepend=0)
    firsts = found.segments.offsets[:-1][found.segments.sizes > 0]
    steps[firsts] = found.positions[firsts]
    flat = np.column_stack([steps, _places_among_relevant(projection)[found.documents]]).ravel().tolist()
    borders = (2 * found.segments.offsets).tolist()
    chosen = queries.tolist()
    return [[flat[borders[k] : borders[k + 1]] for k in (s * num_queries + q for q in chosen)] for s in runs]


def _places_among_relevant(projection: Projection) -> IntArray:
    """Return, for each relevant document, how many relevant documents of its query come before it."""
    judgments = projection.source.judgments
    before = offsets_of((judgments.grades >= projection.level).astype(np.int64))
    return before[:-1] - np.repeat(before[judgments.offsets[:-1]], np.diff(judgments.offsets))

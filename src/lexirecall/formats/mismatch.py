"""Mismatch: a run that retrieves no judged document at all, perhaps because ids are written differently.

Belongs here: recognizing such a run, and ids of both sides as examples. Not here: how runs are read (forms), what a
reader is told (verbs).

The examples are the least ids by their bytes, of the first judged query that the run answers: every way of
reading gives the same ones.
"""

from collections.abc import Callable, Iterable
from heapq import nsmallest

import numpy as np

from lexirecall.judgments import IntArray, Judgments
from lexirecall.text import to_text
from lexirecall.tracks import Mismatch, RunPositions

EXAMPLES = 3
"""How many ids of each side are shown."""


def finds_judged(run: RunPositions) -> bool:
    """Tell whether a run is known to retrieve a judged document; imputed ones are below its lists."""
    others = 0 if run.others is None else len(run.others.documents)
    lengths = np.repeat(run.num_retrieved, run.found.segments.sizes)
    return others > 0 or bool((run.found.positions <= lengths).any())


def mismatch_of(
    run: str, lengths: IntArray, judgments: Judgments, documents_of: Callable[[int], Iterable[bytes]]
) -> Mismatch | None:
    """Return examples for a run that retrieves nothing judged; None if nothing could have been found.

    `lengths` are those of its whole rankings, [Q]; `documents_of` gives what it retrieves for a query.
    """
    comparable = np.flatnonzero((lengths > 0) & (np.diff(judgments.offsets) > 0))
    if not len(comparable):
        return None
    query = int(comparable[0])
    judged = judgments.documents.slice(*judgments.offsets[query : query + 2].tolist())
    sides = (set(documents_of(query)), judged)
    if not all(sides):  # a ranking that could be read once only
        return None
    return Mismatch(run, judgments.queries[query], *(_examples(ids) for ids in sides))


def _examples(ids: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(map(to_text, nsmallest(EXAMPLES, ids)))

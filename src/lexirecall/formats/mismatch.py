"""Mismatch: a system that retrieves no judged item at all, perhaps because ids are written differently.

Belongs here: recognizing such a system, and ids of both sides as examples. Not here: how runs are read (forms), what a
reader is told (verbs).

The examples are the least ids by their bytes, of the first judged request that the system answers: every way of
reading gives the same ones.
"""

from collections.abc import Callable, Iterable
from heapq import nsmallest

import numpy as np

from lexirecall.judgments import IntArray, Judgments
from lexirecall.text import to_text
from lexirecall.tracks import Mismatch, SystemPositions

EXAMPLES = 3
"""How many ids of each side are shown."""


def finds_judged(system: SystemPositions) -> bool:
    """Tell whether a system is known to retrieve a judged item; imputed ones are below its lists."""
    others = 0 if system.others is None else len(system.others.items)
    lengths = np.repeat(system.num_retrieved, system.found.segments.sizes)
    return others > 0 or bool((system.found.positions <= lengths).any())


def mismatch_of(
    system: str, lengths: IntArray, judgments: Judgments, items_of: Callable[[int], Iterable[bytes]]
) -> Mismatch | None:
    """Return examples for a system that retrieves nothing judged; None if nothing could have been found.

    `lengths` are those of its whole rankings, [Q]; `items_of` gives what it retrieves for a request.
    """
    comparable = np.flatnonzero((lengths > 0) & (np.diff(judgments.offsets) > 0))
    if not len(comparable):
        return None
    request = int(comparable[0])
    judged = judgments.items.slice(*judgments.offsets[request : request + 2].tolist())
    sides = (set(items_of(request)), judged)
    if not all(sides):  # a ranking that could be read once only
        return None
    return Mismatch(system, judgments.requests[request], *(_examples(ids) for ids in sides))


def _examples(ids: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(map(to_text, nsmallest(EXAMPLES, ids)))

"""One ranking: from items and scores to the positions of the judged items.

Belongs here: the order of a ranking, tie rules and duplicates. Not here: where rankings come from (trec, memory), what
is left of them (assembly).

The order is score descending, then, where scores are equal, as the tie rule says; file order and ranks do not matter.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lexirecall.errors import WayOn
from lexirecall.formats.assembly import assemble
from lexirecall.judgments import FloatArray, IntArray, Judgments, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import SystemPositions, Tracks
from lexirecall.segments import Segments


@dataclass(slots=True)
class Ranking:
    """What a system returned for one request; without scores, the order given is the order meant."""

    request: bytes
    items: list[bytes]
    scores: list[float] | None
    num_extra: int = 0
    """Lines with more fields than a line has."""


class DuplicateItem(Exception):  # noqa: N818 - the reader that catches it knows file and lines, and raises the error
    """An item stands twice in one ranking."""

    def __init__(self, request: bytes, item: bytes) -> None:
        super().__init__(request, item)
        self.request, self.item = request, item


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the judged items of one ranking stand."""

    num_retrieved: int
    """-1 if there is no ranking."""
    positions: IntArray
    items: IntArray
    block_starts: IntArray
    block_sizes: IntArray


LEAVE_ONE = WayOn("duplicates", {"first": "the first line", "best": "the highest score"})
"""What can be done about an item that is listed twice, beside removing it."""
_NONE = np.zeros(0, np.int64)
_NOTHING = Placed(-1, _NONE, _NONE, _NONE, _NONE)


def project_rankings(
    name: str, rankings: Iterable[Ranking], judgments: Judgments, conventions: Conventions, *, needs_judged: bool
) -> SystemPositions:
    """Turn one system's rankings into positions; each request comes at most once."""
    index = judgments.index
    placed: list[Placed] = [_NOTHING] * len(index)
    unjudged: set[bytes] = set()
    num_duplicates = num_extra = 0
    for ranking in rankings:
        num_extra += ranking.num_extra
        request = index.get(ranking.request)
        if request is None:
            unjudged.add(ranking.request)
            continue
        unique = without_duplicates(ranking, conventions.duplicates)
        num_duplicates += len(ranking.items) - len(unique.items)
        placed[request] = place(unique, request, judgments, conventions)
    return assemble(
        name,
        judgments,
        conventions,
        _tracks(placed),
        np.array([place.num_retrieved for place in placed], np.int64),
        needs_judged=needs_judged,
        num_unjudged=len(unjudged),
        num_duplicates=num_duplicates,
        num_extra=num_extra,
    )


def without_duplicates(ranking: Ranking, rule: str) -> Ranking:
    """Keep the first line of each item, or the one with the best score, or refuse.

    >>> without_duplicates(Ranking(b"q", [b"a", b"b", b"a"], [1.0, 2.0, 3.0]), "best")
    Ranking(request=b'q', items=[b'b', b'a'], scores=[2.0, 3.0], num_extra=0)
    """
    items = ranking.items
    if len(set(items)) == len(items):
        return ranking
    kept: dict[bytes, int] = {}
    for i, item in enumerate(items):
        if item in kept and rule == "error":
            raise DuplicateItem(ranking.request, item)
        better = rule == "best" and ranking.scores is not None and item in kept
        if item not in kept or (
            better and ranking.scores is not None and ranking.scores[i] > ranking.scores[kept[item]]
        ):
            kept[item] = i
    lines = sorted(kept.values())
    scores = None if ranking.scores is None else [ranking.scores[i] for i in lines]
    return Ranking(ranking.request, [items[i] for i in lines], scores)


def place(ranking: Ranking, request: int, judgments: Judgments, conventions: Conventions) -> Placed:
    """Find the positions of the judged items, ascending."""
    lookup = judgments.lookup(request)
    judged = np.fromiter((lookup.get(item, -1) for item in ranking.items), np.int64, len(ranking.items))
    order, borders = _order(ranking, judged, judgments.grades, conventions)
    judged = judged[order]
    at = np.flatnonzero(judged >= 0)
    blocks = np.searchsorted(borders, at, side="right") - 1
    return Placed(len(judged), at + 1, judged[at], borders[blocks], np.diff(borders)[blocks])


def _order(
    ranking: Ranking, judged: IntArray, grades: FloatArray, conventions: Conventions
) -> tuple[IntArray, IntArray]:
    """Return the order of the lines, and the borders between blocks of equal scores."""
    if ranking.scores is None:
        return np.arange(len(judged)), np.arange(len(judged) + 1)
    with np.errstate(over="ignore"):  # beyond float32 is infinity, as a cast in C has it
        scores = np.array(ranking.scores, np.float64).astype(conventions.score_dtype)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    borders = np.concatenate([[0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1, [len(ranked)]])
    if conventions.ties != "input" and len(ranked) and len(borders) <= len(ranked):
        _break_ties(order, borders, ranking.items, _gains(judged, grades), conventions.ties)
    return order, borders if len(ranked) else borders[:1]


def _gains(judged: IntArray, grades: FloatArray) -> FloatArray:
    gains = np.zeros(len(judged))
    gains[judged >= 0] = np.maximum(grades[judged[judged >= 0]], 0)
    return gains


def _break_ties(order: IntArray, borders: IntArray, items: Sequence[bytes], gains: FloatArray, rule: str) -> None:
    """Put each block of equal scores into the order of the rule, in place."""
    for start, stop in pairwise(borders.tolist()):
        if stop - start > 1:
            block = sorted(order[start:stop].tolist(), key=items.__getitem__, reverse=True)
            # sorting by grade serves every level at once: what is relevant to any of them comes last, or first
            if rule in ("worst", "best"):
                block.sort(key=gains.__getitem__, reverse=rule == "best")
            order[start:stop] = block


def _tracks(placed: Sequence[Placed]) -> Tracks:
    """Lay the judged items of all requests one behind the other."""
    return Tracks(
        Segments(offsets_of(np.array([len(place.items) for place in placed]))),
        np.concatenate([place.positions for place in placed]),
        np.concatenate([place.items for place in placed]),
        np.concatenate([place.block_starts for place in placed]),
        np.concatenate([place.block_sizes for place in placed]),
    )

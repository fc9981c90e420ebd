"""Assembly: from the places of the judged documents in whole rankings to the positions that count.

Belongs here: depth cut, judged-only, imputation that depends on the list; the same for every reader.
Not here: how rankings are read and ordered.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexirecall.judgments import BoolArray, IntArray, Judgments, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.segments import Segments
from lexirecall.tracks import RunPositions, Tracks, reachable

_AT_ONCE = 2**18


def assemble(
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    judged: Tracks,
    num_retrieved: IntArray,
    *,
    needs_judged: bool,
    num_unjudged: int,
    num_duplicates: int = 0,
    num_extra: int = 0,
) -> RunPositions:
    """Apply the conventions to one run's rankings, given the places of their judged documents and their lengths.

    `judged` may lack documents that no convention and no measure asks for; `num_retrieved` is -1 for unanswered
    queries.
    """
    lengths = np.maximum(num_retrieved, 0)
    if conventions.ties != "expected":
        judged = replace(judged, block_starts=None, block_sizes=None)
    if conventions.depth is not None:
        judged = judged.filter(reachable(judged, conventions.depth))
        lengths = np.minimum(lengths, conventions.depth)
    if conventions.judged_only:
        judged = _close_gaps(judged.filter(judgments.grades[judged.documents] >= 0))
        lengths = judged.segments.sizes
    # judgments have positive grades first, so the index alone tells, and no grade is looked up
    is_positive = _are_below(judged, judgments.offsets[:-1] + judgments.num_positive)
    found = judged.filter(is_positive)
    return RunPositions(
        name=name,
        answered=num_retrieved >= 0,
        num_retrieved=lengths,
        found=_optimistic(found, lengths.tolist(), judgments) if conventions.imputation == "optimistic" else found,
        others=judged.filter(~is_positive) if needs_judged else None,
        num_unjudged=num_unjudged,
        num_duplicates=num_duplicates,
        num_extra=num_extra,
    )


class SortedRankings(NamedTuple):
    """Rows of runs, read and sorted into rankings, which are numbered run · Q + query; plain arrays and lists."""

    runs: list[str]
    """In the order of rows, or the one name that was given."""
    found: IntArray
    """The judged documents: ranking, position, document, and start and size of its block of equal scores, [n, 5].

    Rankings come in any order, the positions of each ascending."""
    num_retrieved: IntArray
    """The length of each ranking, [S · Q], -1 where there is none."""
    num_unjudged: IntArray
    """Queries without judgments, [S]."""
    num_duplicates: IntArray
    """Rows left out, [S]."""
    num_rows: int


def runs_of(
    read: SortedRankings,
    judgments: Judgments,
    conventions: Conventions,
    *,
    needs_judged: bool,
) -> list[RunPositions]:
    """Apply the conventions to each run."""
    width = len(judgments.queries)
    tracks = tracks_of(read.found, len(read.num_retrieved), has_blocks=conventions.ties == "expected")
    return [
        assemble(
            name,
            judgments,
            conventions,
            tracks.between(s * width, (s + 1) * width),
            read.num_retrieved[s * width : (s + 1) * width],
            needs_judged=needs_judged,
            num_unjudged=int(read.num_unjudged[s]),
            num_duplicates=int(read.num_duplicates[s]),
        )
        for s, name in enumerate(read.runs)
    ]


def tracks_of(found: IntArray, num_rankings: int, *, has_blocks: bool = True) -> Tracks:
    """Put rankings one after the other; rows are as in SortedRankings. Nothing of these is kept.

    >>> tracks = tracks_of(np.array([[2, 1, 7, 0, 1], [0, 3, 5, 2, 1], [2, 4, 6, 3, 2]]), 3)
    >>> tracks.segments.sizes.tolist(), tracks.positions.tolist(), tracks.documents.tolist()
    ([1, 0, 2], [3, 1, 4], [5, 7, 6])
    """
    rankings = found[:, 0]
    order = None if (rankings[1:] >= rankings[:-1]).all() else np.argsort(rankings, kind="stable")
    taken = range(1, 5 if has_blocks else 3)
    columns = (found[:, column].copy() if order is None else found[order, column] for column in taken)
    return Tracks(Segments(offsets_of(np.bincount(rankings, minlength=num_rankings))), *columns)


def _are_below(tracks: Tracks, limits: IntArray) -> BoolArray:
    """Tell which documents are below the limit of their ranking, some rankings at a time to save memory."""
    offsets, below = tracks.segments.offsets, np.empty(len(tracks.documents), bool)
    width = max(1, len(limits) * _AT_ONCE // max(1, len(tracks.documents)))
    for start in range(0, len(limits), width):
        borders = offsets[start : start + width + 1]
        here = slice(borders[0], borders[-1])
        below[here] = tracks.documents[here] < np.repeat(limits[start : start + width], np.diff(borders))
    return below


def _close_gaps(tracks: Tracks) -> Tracks:
    """Count the documents anew, as if nothing else were between them; tied blocks shrink to what is left."""
    ordinals = tracks.segments.ordinals
    if tracks.block_starts is None or not len(ordinals):
        return replace(tracks, positions=ordinals)
    new_block = (np.diff(tracks.segments.owners, prepend=-1) != 0) | (np.diff(tracks.block_starts, prepend=-1) != 0)
    blocks = np.cumsum(new_block) - 1
    return replace(
        tracks,
        positions=ordinals,
        block_starts=ordinals[new_block][blocks] - 1,
        block_sizes=np.bincount(blocks)[blocks],
    )


def _optimistic(found: Tracks, lengths: Sequence[int], judgments: Judgments) -> Tracks:
    """Put the missing documents right below each list, the highest grades first: the best order for every level."""
    positions, documents = [], []
    for query, (start, stop) in enumerate(pairwise(found.segments.offsets)):
        first = judgments.offsets[query]
        positive = np.arange(first, first + judgments.num_positive[query])
        missing = positive[~np.isin(positive, found.documents[start:stop])]
        missing = missing[np.argsort(-judgments.grades[missing], kind="stable")]
        positions += [found.positions[start:stop], lengths[query] + np.arange(1, len(missing) + 1)]
        documents += [found.documents[start:stop], missing]
    segments = Segments(offsets_of(judgments.num_positive))
    return Tracks(segments, np.concatenate(positions), np.concatenate(documents))

"""Assembly: from the places of the judged items in whole rankings to the positions that count.

Belongs here: depth cut, judged-only, imputation that depends on the list; the same for every reader.
Not here: how rankings are read and ordered.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.segments import Segments
from lexirecall.tracks import SystemPositions, Tracks, reachable


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
) -> SystemPositions:
    """Apply the conventions to one system's rankings, given the places of their judged items and their lengths.

    `judged` may lack items that no convention and no measure asks for; `num_retrieved` is -1 for unanswered requests.
    """
    lengths = np.maximum(num_retrieved, 0)
    if conventions.ties != "expected":
        judged = replace(judged, block_starts=None, block_sizes=None)
    if conventions.depth is not None:
        judged = judged.filter(reachable(judged, conventions.depth))
        lengths = np.minimum(lengths, conventions.depth)
    if conventions.judged_only:
        judged = _close_gaps(judged.filter(judgments.grades[judged.items] >= 0))
        lengths = judged.segments.sizes
    first_other = judgments.offsets[:-1] + judgments.num_positive
    is_positive = judged.items < first_other[judged.segments.owners]
    found = judged.filter(is_positive)
    return SystemPositions(
        name=name,
        answered=num_retrieved >= 0,
        num_retrieved=lengths,
        found=_optimistic(found, lengths.tolist(), judgments) if conventions.imputation == "optimistic" else found,
        others=judged.filter(~is_positive) if needs_judged else None,
        num_unjudged=num_unjudged,
        num_duplicates=num_duplicates,
        num_extra=num_extra,
    )


def assemble_each(
    names: Sequence[str],
    judgments: Judgments,
    conventions: Conventions,
    judged: Tracks,
    num_retrieved: IntArray,
    *,
    needs_judged: bool,
    num_unjudged: IntArray,
    num_duplicates: IntArray | None = None,
) -> list[SystemPositions]:
    """Do the same for several systems, whose rankings follow each other; the counts are one for each system."""
    width = len(judgments.requests)
    return [
        assemble(
            name,
            judgments,
            conventions,
            _part(judged, s * width, (s + 1) * width),
            num_retrieved[s * width : (s + 1) * width],
            needs_judged=needs_judged,
            num_unjudged=int(num_unjudged[s]),
            num_duplicates=0 if num_duplicates is None else int(num_duplicates[s]),
        )
        for s, name in enumerate(names)
    ]


def _part(tracks: Tracks, start: int, stop: int) -> Tracks:
    """Return some of the rankings."""
    offsets = tracks.segments.offsets[start : stop + 1]
    here = slice(offsets[0], offsets[-1])
    columns = (tracks.positions, tracks.items, tracks.block_starts, tracks.block_sizes)
    parts = (column[here] for column in columns if column is not None)
    return Tracks(Segments(offsets - offsets[0]), *parts)


def tracks_of(found: IntArray, num_rankings: int) -> Tracks:
    """Put rankings one after the other; rows, [n, 5], are ranking, position, item, and start and size of its block.

    Rankings come in any order, the positions of each ascending.

    >>> tracks = tracks_of(np.array([[2, 1, 7, 0, 1], [0, 3, 5, 2, 1], [2, 4, 6, 3, 2]]), 3)
    >>> tracks.segments.sizes.tolist(), tracks.positions.tolist(), tracks.items.tolist()
    ([1, 0, 2], [3, 1, 4], [5, 7, 6])
    """
    rankings, *columns = found[np.argsort(found[:, 0], kind="stable")].T
    return Tracks(Segments(offsets_of(np.bincount(rankings, minlength=num_rankings))), *columns)


def _close_gaps(tracks: Tracks) -> Tracks:
    """Count the items anew, as if nothing else were between them; tied blocks shrink to the items that are left."""
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
    """Put the missing items right below each list, the highest grades first: the best order for every level."""
    positions, items = [], []
    for request, (start, stop) in enumerate(pairwise(found.segments.offsets)):
        first = judgments.offsets[request]
        positive = np.arange(first, first + judgments.num_positive[request])
        missing = positive[~np.isin(positive, found.items[start:stop])]
        missing = missing[np.argsort(-judgments.grades[missing], kind="stable")]
        positions += [found.positions[start:stop], lengths[request] + np.arange(1, len(missing) + 1)]
        items += [found.items[start:stop], missing]
    segments = Segments(offsets_of(judgments.num_positive))
    return Tracks(segments, np.concatenate(positions), np.concatenate(items))

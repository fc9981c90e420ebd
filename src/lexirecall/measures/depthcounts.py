"""Counts of documents down to a depth, also in the mean over the orders of tied documents.

Belongs here: how many documents of each ranking are above a border. Not here: other means over orders (tieexpectation).
"""

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.ratio import Ratio
from lexirecall.segments import sums_of
from lexirecall.tracks import Tracks


def count_within(tracks: Tracks, depth: IntArray) -> Ratio:
    """Count the documents of each ranking down to its `depth`, [S, Q], in the mean over all orders of tied documents.

    At most one block lies across the depth: if j of its b places are above the depth, its c documents count c j/b.
    """
    if tracks.block_starts is None or tracks.block_sizes is None:
        owners = tracks.segments.owners
        within = tracks.positions <= depth.ravel()[owners]
        return Ratio(sums_of(within, owners, depth.size).reshape(depth.shape), 1)
    whole, c, j, b = _across(tracks, depth)
    return Ratio(whole * b + c * j, b)


def square_within(tracks: Tracks, depth: IntArray) -> Ratio:
    """Return the mean of the square of the same count, [S, Q], over all orders of tied documents.

    Two different documents of the block are both above the depth with probability j (j-1) / (b (b-1)).
    """
    whole, c, j, b = _across(tracks, depth)
    pairs = np.maximum(b * (b - 1), 1)
    both = c * (c - 1) * j * (j - 1)
    return Ratio((whole * whole * b + (2 * whole + 1) * c * j) * pairs + both * b, b * pairs)


def _across(tracks: Tracks, depth: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Count the documents of each ranking in blocks that end above the depth, and c, j and b of the block across it.

    Where no block lies across the depth, b is 1, and c and j are 0.
    """
    owners = tracks.segments.owners
    assert tracks.block_starts is not None and tracks.block_sizes is not None  # noqa: S101, PT018 - of tied documents
    starts, sizes, deepest = tracks.block_starts, tracks.block_sizes, depth.ravel()[owners]
    across = (starts < deepest) & (deepest < starts + sizes)
    c, whole = (sums_of(which, owners, depth.size) for which in (across, starts + sizes <= deepest))
    j, b = np.zeros(depth.size), np.ones(depth.size)
    j[owners[across]], b[owners[across]] = (deepest - starts)[across], sizes[across]
    shaped = [counts.reshape(depth.shape) for counts in (whole, c, j, b)]
    return shaped[0], shaped[1], shaped[2], shaped[3]

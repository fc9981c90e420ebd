"""Counts of items down to a depth, also in the mean over the orders of tied items.

Belongs here: how many items of each ranking are above a border. Not here: other means over orders (expected).
"""

import numpy as np

from lexirecall.judgments import IntArray
from lexirecall.measures.ratio import Ratio
from lexirecall.segments import sums_of
from lexirecall.tracks import Tracks


def count_within(tracks: Tracks, depth: IntArray) -> Ratio:
    """Count the items of each ranking down to its `depth`, [S, Q], in the mean over all orders of tied items.

    At most one block lies across the depth: if j of its b places are above the depth, its c items count c j/b.
    """
    owners = tracks.segments.owners
    deepest = depth.ravel()[owners]
    if tracks.block_starts is None or tracks.block_sizes is None:
        return Ratio(sums_of(tracks.positions <= deepest, owners, depth.size).reshape(depth.shape), 1)
    starts, sizes = tracks.block_starts, tracks.block_sizes
    across = (starts < deepest) & (deepest < starts + sizes)
    size = np.ones(depth.size)
    size[owners[across]] = sizes[across]
    whole = sums_of(starts + sizes <= deepest, owners, depth.size)
    part = sums_of(across * (deepest - starts), owners, depth.size)
    return Ratio((whole * size + part).reshape(depth.shape), size.reshape(depth.shape))

"""Recall: how much of what is relevant is found down to each depth, and how deep one must read to find a share of it.

Belongs here: the numbers behind recall curves. Not here: drawing them.
"""

from collections.abc import Sequence
from itertools import cycle

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.measures.recall_level import needed_for_recall
from lexirecall.positions import Projection

RECALLS = (0.75, 0.95, 1.0)
"""The shares of what is relevant that a reader may want to find."""


def depths_to(deepest: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, … up to the first that is at least the deepest.

    >>> depths_to(60)
    [1, 2, 5, 10, 20, 50, 100]
    """
    depths, factors = [1], cycle((2, 2.5, 2))
    while depths[-1] < deepest:
        depths.append(int(depths[-1] * next(factors)))
    return depths


def mean_recall(projection: Projection, depths: Sequence[int], counted: BoolArray) -> FloatArray:
    """Return the mean share of the relevant items within each depth, [S, depths], over the rankings `counted`, [S, Q].

    nan for a system without a ranking that counts.

    >>> from lexirecall import project
    >>> projection = project({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}).at_level(1)
    >>> mean_recall(projection, [1, 2, 5], np.array([[True]])).tolist()
    [[0.5, 0.5, 1.0]]
    """
    num_systems, num_requests = projection.source.shape
    ranking = projection.found.segments.owners
    shares = counted.ravel()[ranking] / projection.num_relevant_of_item
    within = np.searchsorted(depths, projection.found.positions)  # the first depth that reaches the item
    cells = (ranking // num_requests) * (len(depths) + 1) + within
    found = np.bincount(cells, shares, minlength=num_systems * (len(depths) + 1)).reshape(num_systems, -1)
    with np.errstate(invalid="ignore"):
        return np.asarray(found[:, :-1].cumsum(axis=1) / counted.sum(axis=1, keepdims=True))


def depth_needed(projection: Projection, recall: float) -> FloatArray:
    """Return how deep one must read to find this share of the relevant items, [S, Q]: p_c, c = ceil(r m).

    Infinity if a list ends before that, whatever the size of the corpus; nan if nothing is relevant.

    >>> from lexirecall import project
    >>> projection = project({"q": dict.fromkeys("abcd", 1)}, {"x": {"q": [*"azbc"]}, "y": {"q": ["a"]}}).at_level(1)
    >>> depth_needed(projection, 0.75).ravel().tolist()
    [4.0, inf]
    """
    segments, num_systems = projection.found.segments, projection.source.shape[0]
    needed = np.tile(needed_for_recall(recall, projection.num_relevant), num_systems)
    reached = (segments.sizes >= needed) & (needed > 0)
    depths = np.where(needed > 0, np.inf, np.nan)
    depths[reached] = projection.found.positions[(segments.offsets[:-1] + needed - 1)[reached]]
    return depths.reshape(projection.source.shape)


def median_depths(projection: Projection, recall: float, counted: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the median depth needed, and the share of rankings that reach the recall, for each system, [S] both.

    Rankings that do not reach it count as infinitely deep, so the median may be infinite. nan if no ranking counts.
    """
    depths = depth_needed(projection, recall)
    medians, shares = np.full((2, len(depths)), np.nan)
    for s, mask in enumerate(counted):
        if mask.any():
            own = depths[s, mask]
            medians[s], shares[s] = np.median(own), np.isfinite(own).mean()
    return medians, shares

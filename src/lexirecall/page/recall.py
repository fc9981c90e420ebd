"""Recall: how much of what is relevant is found down to each depth, and how deep one must read to find a share of it.

Belongs here: the numbers behind recall curves. Not here: drawing them.
"""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.parameter import Share
from lexirecall.measures.recall_level import needed_for_recall
from lexirecall.positions import Projection

RECALLS = (0.75, 0.95, 1.0)
"""The shares of what is relevant that a reader may want to find."""
SHARES = tuple(Share(percent) for percent in (1, 2, *range(5, 101, 5)))
"""The shares of the corpus at which curves are drawn."""


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
    """Return the mean share of relevant documents within each depth, [S, depths], over rankings `counted`, [S, Q].

    nan for a run without a ranking that counts.

    >>> from lexirecall import project
    >>> projection = project({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}).at_level(1)
    >>> mean_recall(projection, [1, 2, 5], np.array([[True]])).tolist()
    [[0.5, 0.5, 1.0]]
    """
    within = np.searchsorted(depths, projection.found.positions)  # the first depth that reaches the document
    return _means(projection, within, len(depths), counted)


def mean_recall_at_shares(
    projection: Projection, sizes: IntArray, shares: Sequence[Share], counted: BoolArray
) -> FloatArray:
    """Return the same at shares of the corpus, whose size is n of each query, [Q].

    >>> from lexirecall import project
    >>> projection = project({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}).at_level(1)
    >>> mean_recall_at_shares(projection, np.array([10]), (Share(10), Share(30)), np.array([[True]])).tolist()
    [[0.5, 1.0]]
    """
    n, positions = projection.per_document_of_query(sizes), projection.found.positions
    within = np.zeros(len(positions), np.int64)
    for size in np.unique(sizes):
        is_of_size = n == size
        within[is_of_size] = np.searchsorted([int(share.of(size)) for share in shares], positions[is_of_size])
    return _means(projection, within, len(shares), counted)


def _means(projection: Projection, within: IntArray, num_depths: int, counted: BoolArray) -> FloatArray:
    """Return the mean recall at each depth, [S, depths], from the first depth that reaches each document."""
    num_runs, num_queries = projection.source.shape
    ranking = projection.found.segments.owners
    shares = counted.ravel()[ranking] / projection.num_relevant_of_document
    cells = (ranking // num_queries) * (num_depths + 1) + within
    found = np.bincount(cells, shares, minlength=num_runs * (num_depths + 1)).reshape(num_runs, -1)
    with np.errstate(invalid="ignore"):
        return np.asarray(found[:, :-1].cumsum(axis=1) / counted.sum(axis=1, keepdims=True))


def ideal_recall(num_relevant: IntArray, depths: IntArray) -> FloatArray:
    """Return the mean recall of rankings with everything relevant on top, at depths of each query, [depths, Q].

    >>> ideal_recall(np.array([1, 4]), np.array([[1, 1], [2, 2]])).tolist()
    [0.625, 0.75]
    """
    return np.asarray((np.minimum(depths, num_relevant) / num_relevant).mean(axis=1))


def random_recall(sizes: IntArray, depths: IntArray) -> FloatArray:
    """Return the mean recall that is expected of a random order of the corpus: k/n at depth k.

    >>> random_recall(np.array([10, 20]), np.array([[5, 5], [20, 20]])).tolist()
    [0.375, 1.0]
    """
    return np.asarray((np.minimum(depths, sizes) / sizes).mean(axis=1))


def recall_columns(projection: Projection, places: Sequence[int], counted: BoolArray) -> dict[str, Any]:
    """Return the curves of the runs at `places`, by depth and, if the corpus size is known, by its shares.

    Beside them is the ideal curve and, with the corpus size, that of a random order, over all queries that count.

    >>> from lexirecall import project
    >>> projection = project({"q": {"a": 1}}, {"q": ["x", "a"]}, corpus_size=4).at_level(1)
    >>> curves = recall_columns(projection, [0], np.array([[True]]))
    >>> curves["depths"], curves["mean"], curves["ideal"], curves["random"]
    ([1, 2], [[0.0, 1.0]], [1.0, 1.0], [0.25, 0.5])
    """
    sizes, asked = projection.source.corpus_size, counted.any(axis=0)
    depths = depths_to(int(projection.source.num_retrieved.max(initial=1)))
    every, m = np.repeat(np.array(depths)[:, None], asked.sum(), axis=1), projection.num_relevant[asked]
    curves = {
        "depths": depths,
        "mean": mean_recall(projection, depths, counted)[places].tolist(),
        "ideal": ideal_recall(m, every).tolist() if asked.any() else None,
    }
    if sizes is None or not asked.any():
        return curves
    shared = np.array([share.of(sizes[asked]) for share in SHARES])
    by_share = {
        "shares": [share.fraction for share in SHARES],
        "mean": mean_recall_at_shares(projection, sizes, SHARES, counted)[places].tolist(),
        "ideal": ideal_recall(m, shared).tolist(),
        "random": random_recall(sizes[asked], shared).tolist(),
    }
    return {**curves, "random": random_recall(sizes[asked], every).tolist(), "by_share": by_share}


def depth_needed(projection: Projection, recall: float) -> FloatArray:
    """Return how deep one must read to find this share of the relevant documents, [S, Q]: p_c, c = ceil(r m).

    Infinity if a list ends before that, whatever the size of the corpus; nan if nothing is relevant.

    >>> from lexirecall import project
    >>> projection = project({"q": dict.fromkeys("abcd", 1)}, {"x": {"q": [*"azbc"]}, "y": {"q": ["a"]}}).at_level(1)
    >>> depth_needed(projection, 0.75).ravel().tolist()
    [4.0, inf]
    """
    segments, num_runs = projection.found.segments, projection.source.shape[0]
    needed = np.tile(needed_for_recall(recall, projection.num_relevant), num_runs)
    reached = (segments.sizes >= needed) & (needed > 0)
    depths = np.where(needed > 0, np.inf, np.nan)
    depths[reached] = projection.found.positions[(segments.offsets[:-1] + needed - 1)[reached]]
    return depths.reshape(projection.source.shape)


def median_depths(projection: Projection, recall: float, counted: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the median depth needed, and the share of rankings that reach the recall, for each run, [S] both.

    Rankings that do not reach it count as infinitely deep, so the median may be infinite. nan if no ranking counts.
    """
    depths = depth_needed(projection, recall)
    medians, shares = np.full((2, len(depths)), np.nan)
    for s, mask in enumerate(counted):
        if mask.any():
            needed = depths[s, mask]
            medians[s], shares[s] = np.median(needed), np.isfinite(needed).mean()
    return medians, shares

"""Baselines: ways to fuse runs without learning.

Belongs here: their formulas. Not here: the fusion that is learnt (featureweights), which single run is best
(modelchoice).
"""

from collections.abc import Callable, Mapping

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.learn.features import CONSTANT
from lexirecall.learn.rankings import DECIMALS

BEST_RUN = "best run"
"""What the single run is called that was best on other queries."""
RRF_DECIMALS = DECIMALS + 3
"""Of sums of reciprocal ranks, which are small. A written run has as many, or it would tie where RRF does not."""


def reciprocal_rank_fusion(places: IntArray, _shares: FloatArray) -> FloatArray:
    """Add up 1/(60 + rank) over the runs that retrieve a document.

    >>> reciprocal_rank_fusion(np.array([[1, 2], [2, 0]]), np.zeros((2, 2))).round(4).tolist()
    [0.0325, 0.0161]
    """
    return np.asarray(np.where(places > 0, 1 / (CONSTANT + places), 0.0).sum(axis=0).round(RRF_DECIMALS))


def comb_sum(_places: IntArray, shares: FloatArray) -> FloatArray:
    """Add up the scores, which go from 0 for the lowest of a list to 1 for the highest.

    >>> comb_sum(np.zeros((2, 2), int), np.array([[1.0, 0.0], [0.5, 0.25]])).tolist()
    [1.5, 0.25]
    """
    return np.asarray(shares.sum(axis=0).round(DECIMALS))


def borda(places: IntArray, _shares: FloatArray) -> FloatArray:
    """Add up points: as many as there are candidates for the first, one less for the next.

    What a run does not retrieve shares the points that are left.

    >>> borda(np.array([[1, 0, 0]]), np.zeros((1, 3))).tolist()  # 3 for the first; the others share 2 + 1
    [3.0, 1.5, 1.5]
    """
    num_candidates = places.shape[1]
    left = (num_candidates - (places > 0).sum(axis=1, keepdims=True) + 1) / 2
    return np.asarray(np.where(places > 0, num_candidates - places + 1, left).sum(axis=0))


BASELINES: Mapping[str, Callable[[IntArray, FloatArray], FloatArray]] = {
    "RRF": reciprocal_rank_fusion,
    "CombSUM": comb_sum,
    "Borda": borda,
}
"""From the places of documents in each run, 0 where they are not retrieved, and their scores from 0 to 1, [S, I]."""

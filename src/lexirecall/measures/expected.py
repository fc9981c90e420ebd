"""Tied scores: the mean over all orders of the tied items, where it has a closed form.

Belongs here: expectations over tie blocks. Not here: the tie rules that choose one order (formats.ranking).
Imports numpy, judgments and positions.

A block of b tied items that stands below a others and holds c relevant ones puts its j-th relevant item at a + k with
probability C(k-1, j-1) C(b-k, c-j) / C(b, c), in all orders alike. So for every measure sum_i e(p_i) z(i, m) the mean
is sum_i E[e(p_i)] z(i, m): the recall level i is fixed, and only the exposure is averaged (McSherry and Najork 2008
give the case of average precision).
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.positions import Projection, Tracks


def place_probabilities(size: int, relevant: int, which: int) -> FloatArray:
    """Return, for k = 1 … size, how likely the `which`-th of `relevant` items is k-th in a block of `size`.

    >>> place_probabilities(3, 2, 1).round(4).tolist()
    [0.6667, 0.3333, 0.0]
    """
    probabilities = np.zeros(size)
    k = np.arange(which, size - relevant + which)  # the last place is one further
    # P(k+1) / P(k), from the binomials of the module's formula; in logarithms, since P can be very small
    ratios = np.log(k / (k - which + 1.0)) + np.log((size - k - (relevant - which)) / (size - k))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    weights = np.exp(logs - logs.max())
    probabilities[which - 1 : size - relevant + which] = weights / weights.sum()
    return probabilities


def within(tracks: Tracks, depth: int | IntArray) -> FloatArray:
    """Return, for each item, the probability that it is among the first `depth`."""
    if tracks.block_starts is None or tracks.block_sizes is None:
        return (tracks.positions <= depth).astype(float)
    return np.clip((depth - tracks.block_starts) / tracks.block_sizes, 0.0, 1.0)


def expected_exposures(
    exposure: Callable[[FloatArray, Any, Any], FloatArray],
    projection: Projection,
    n: FloatArray,
    bottom: Callable[[int, int, float], float],
) -> FloatArray:
    """Return E[e(p_i)] for each retrieved relevant item, over all orders of the items it is tied with.

    `bottom` gives the exposure of a recall level that falls below the depth cut.
    """
    tracks, m_of_request = projection.found, projection.num_relevant
    starts, sizes = _blocks(tracks)
    depth = projection.source.conventions.depth or np.inf
    levels, rankings = projection.recall_levels, tracks.segments.owners
    m_of_item = projection.per_item_of_request(m_of_request)
    expected = exposure((starts + 1).astype(float), m_of_item, projection.per_item_of_request(n)) + np.zeros(
        len(starts)
    )
    new_block = np.flatnonzero((np.diff(rankings, prepend=-1) != 0) | (np.diff(starts, prepend=-1) != 0))
    borders = np.append(new_block, len(starts))
    for first, last in pairwise(borders):
        if sizes[first] == 1:
            continue
        request = rankings[first] % len(m_of_request)
        m = int(m_of_request[request])
        places = starts[first] + np.arange(1.0, sizes[first] + 1)
        exposures = np.broadcast_to(exposure(places, m, n[request : request + 1]), places.shape)
        for item in range(first, last):
            seen = np.where(places <= depth, exposures, bottom(int(levels[item]), m, float(n[request])))
            chances = place_probabilities(len(places), int(last - first), int(item - first + 1))
            expected[item] = np.where(chances > 0, chances * seen, 0.0).sum()  # what never happens may be infinite
    return expected


def mean_exposures(exposure: Callable[[FloatArray], FloatArray], tracks: Tracks, depth: float) -> FloatArray:
    """Return, for each item, the mean exposure of the places of its block, 0 below the depth."""
    starts, sizes = _blocks(tracks)
    means = np.where(starts < depth, exposure((starts + 1).astype(float)), 0.0)
    for item in np.flatnonzero(sizes > 1):
        places = starts[item] + np.arange(1.0, sizes[item] + 1)
        means[item] = np.where(places <= depth, exposure(places), 0.0).mean()
    return means


def _blocks(tracks: Tracks) -> tuple[IntArray, IntArray]:
    if tracks.block_starts is None or tracks.block_sizes is None:
        raise AssertionError('ties="expected" carries the tie blocks')
    return tracks.block_starts, tracks.block_sizes

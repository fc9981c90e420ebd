"""Reversals: how likely unjudged documents turn a decision of R@k round, exactly.

Belongs here: the chance for every pair of runs on one query. Not here: other measures, which are sampled
(forecasts), the chance that a document is relevant (rates).

The loser finds D relevant documents fewer within k. What one run has within k and the other has not counts for one of
them only; what both have within k, or neither, changes nothing, and m changes for both alike. So with X new relevant
documents for the loser alone and Y for the winner alone, the sign is reversed exactly if X - Y > D.
"""

import math

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.labels.pools import LabelPool

_AT_A_TIME = 2**20  # documents of pairs that are looked at together
_NEGLIGIBLE = math.log(1e-16)


def recall_reversals(
    pool: LabelPool, chances: FloatArray, cutoff: int, level: float, pairs: tuple[IntArray, IntArray]
) -> FloatArray:
    """Return the chance that labels turn the sign of R@k strictly round, [P]; nan where it is 0 now.

    `chances` say how likely each document of the pool is relevant, [I], if it is unjudged.

    >>> from lexirecall.formats.listing import load_lists
    >>> from lexirecall.labels.pools import pools_of
    >>> lists = load_lists({"q": {"a": 1}}, {"one": {"q": ["a", "b"]}, "two": {"q": ["x", "y"]}})
    >>> [pool] = pools_of(lists)
    >>> recall_reversals(pool, np.full(4, 0.5), 2, 1, (np.array([0]), np.array([1]))).round(4).tolist()  # x, y, not b
    [0.125]
    """
    a, b = pairs
    within = (pool.places > 0) & (pool.places <= cutoff)
    found = (within & pool.is_relevant(level)).sum(axis=1)
    signs = np.sign(found[a] - found[b])
    winners, losers = np.where(signs > 0, a, b), np.where(signs > 0, b, a)
    asked = np.flatnonzero(pool.is_unjudged & within.any(axis=0))
    asked = asked[np.argsort(chances[asked], kind="stable")]
    distinct, starts = np.unique(chances[asked], return_index=True)
    here, reversals = within[:, asked], np.full(len(a), np.nan)
    decided = np.flatnonzero(signs)
    size = max(1, _AT_A_TIME // max(1, len(asked)))
    for rows in (decided[start : start + size] for start in range(0, len(decided), size)):
        winner, loser = winners[rows], losers[rows]
        up, down = (_counts(here[x] & ~here[y], starts) for x, y in ((loser, winner), (winner, loser)))
        reversals[rows] = chance_of_more(up, down, distinct, found[winner] - found[loser])
    return reversals


def _counts(chosen: BoolArray, starts: IntArray) -> FloatArray:
    """Count the chosen documents of each chance, [P, U], those of one chance being next to each other in [P, I]."""
    if not len(starts):
        return np.zeros((len(chosen), 0))
    return np.asarray(np.add.reduceat(chosen, starts, axis=1, dtype=float))


def chance_of_more(up: FloatArray, down: FloatArray, chances: FloatArray, limits: IntArray) -> FloatArray:
    """Return P(X - Y > limit), [P], X and Y sums of independent documents: `up` and `down` of each chance, [P, U].

    The distribution of X - Y is the Fourier transform of its characteristic function, the product of
    (1 - p + p w)^up (1 - p + p/w)^down over the chances p, at N roots of unity w. N is large enough for all but 1e-16
    of the distribution, and odd: so w is never -1, where the factor of p = 1/2 would be 0.

    >>> chance_of_more(np.array([[2.0]]), np.array([[1.0]]), np.array([0.5]), np.array([0])).round(4).tolist()
    [0.5]
    """
    most_up, most_down = (_most(counts, chances) for counts in (up, down))
    size = (most_up + most_down + 1) | 1
    roots = np.exp(2j * np.pi * np.arange(size // 2 + 1) / size)
    logs = np.log(1 - chances[:, None] + chances[:, None] * roots)
    # The factor of 1/w has the conjugate logarithm. The sign before it is that of numpy's forward transform.
    characteristic = np.exp((up + down) @ logs.real - 1j * ((up - down) @ logs.imag))
    # Without `size`, irfft would return an even number of masses.
    masses = np.fft.irfft(characteristic, size, axis=1)
    differences = np.arange(size)
    # Masses are periodic: those above the largest difference belong to the negative ones.
    differences[differences > most_up] -= size
    chance = (masses * (differences > limits[:, None])).sum(axis=1)
    return np.where(up.sum(axis=1) > limits, np.clip(chance, 0.0, 1.0), 0.0)


def _most(counts: FloatArray, chances: FloatArray) -> int:
    """Return a number that none of the sums of documents exceeds, but with a chance below 1e-16.

    A sum of mean u reaches k > u with a chance of at most exp(k - u) (u/k)^k (Chernoff).
    """
    highest, mean = int(counts.sum(axis=1).max(initial=0)), float((counts @ chances).max(initial=0.0))
    most = np.arange(math.ceil(mean) + 1, highest + 1)
    with np.errstate(divide="ignore"):
        bounds = most - mean + most * (np.log(mean) - np.log(most))
    is_enough = np.flatnonzero(bounds < _NEGLIGIBLE)
    return int(most[is_enough[0]]) if len(is_enough) else highest

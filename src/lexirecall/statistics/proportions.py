"""Proportions: how far apart the chances of winning and of losing may be, given wins, losses and ties.

Belongs here: the confidence interval of a mean preference. Not here: tests of it (`paired`).

Each query is won, lost or tied, with the chances p, q and 1 - p - q, and the mean preference (w - l)/n estimates p - q.
Tango's interval (1998) holds every Δ = p - q for which the score statistic is at most z in size:

    (w - l - nΔ)² <= z² n (2q + Δ - Δ²),   q = (sqrt(B² - 4AC) - B)/2A,
    A = 2n,   B = -w - l + (2n - w + l)Δ,   C = -lΔ(1 - Δ),

where q is the most likely chance of a loss if p - q is Δ. The number of ties is as random as that of wins. At Δ = 0 the
statistic is McNemar's, (w - l)²/(w + l).
"""

import math

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.statistics.tails import normal_quantile

_HALVINGS = 64  # of an interval of length 2 at most, until its ends are neighbouring floats


def preference_interval(
    wins: IntArray, losses: IntArray, num_queries: IntArray, *, alpha: float = 0.05
) -> tuple[FloatArray, FloatArray]:
    """Return where Tango's interval of each mean preference (w - l)/n begins and ends, within -1 and 1; nan if n is 0.

    >>> low, high = preference_interval(np.array([25, 0]), np.array([0, 0]), np.array([50, 50]))
    >>> low.round(4).tolist(), high.round(4).tolist()  # without a win or a loss: ± z²/(n + z²)
    ([0.3664, -0.0713], [0.6336, 0.0713])
    """
    counts, which = np.unique(np.stack([wins, losses, num_queries]), axis=1, return_inverse=True)
    won, lost, n = counts.astype(float)
    z = -normal_quantile(alpha / 2)
    # One end is the other as the other run sees it: if the runs change places, the interval is mirrored exactly.
    ends = _lowest(won, lost, n, z), -_lowest(lost, won, n, z) + 0.0
    low, high = (np.where(n > 0, end, np.nan)[which.reshape(-1)] for end in ends)
    return low, high


def _lowest(wins: FloatArray, losses: FloatArray, n: FloatArray, z: float) -> FloatArray:
    """Return the least Δ in the interval: the score statistic falls from infinity at -1 to 0 at the estimate."""
    estimate = (wins - losses) / np.maximum(n, 1)
    outside, inside = np.full(len(n), -1.0), estimate
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        is_outside = n * (estimate - middle) ** 2 > z**2 * _variance(middle, wins, losses, n)
        outside, inside = np.where(is_outside, middle, outside), np.where(is_outside, inside, middle)
    return inside + 0.0  # -0.0 + 0.0 is 0.0


def _variance(delta: FloatArray, wins: FloatArray, losses: FloatArray, n: FloatArray) -> FloatArray:
    """Return the most likely variance of a preference, p + q - (p - q)², if p - q is delta."""
    a, b, c = 2 * n, (2 * n - wins + losses) * delta - wins - losses, -losses * delta * (1 - delta)
    lost = (np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0)) - b) / np.maximum(2 * a, 1)
    return np.maximum(2 * lost + delta - delta**2, 0.0)


def score_pvalues(wins: IntArray, losses: IntArray, num_queries: IntArray, margin: float) -> FloatArray:
    """Return how likely so many wins, less losses, are at most if p - q is -margin, by Tango's score; nan if n is 0.

    >>> score_pvalues(np.array([10, 5]), np.array([10, 15]), np.array([100, 100]), 0.2).round(4).tolist()
    [0.0001, 0.0176]
    """
    won, lost, n = (counts.astype(float) for counts in (wins, losses, num_queries))
    spread = np.sqrt(n * _variance(np.full(len(n), -margin), won, lost, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(n > 0, (won - lost + n * margin) / spread, np.nan)
    return np.array([math.erfc(score / math.sqrt(2)) / 2 for score in z.tolist()])

"""Shares: the exact intervals of means that are shares of queries, and what is said about them.

Belongs here: their ends and the footnote. Not here: the interval itself (statistics.shares), which means are shares
(averages, intervals).
"""

from collections.abc import Iterable

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.verbs.resamples import percent

SHARE = "of a share of queries, exact (Clopper and Pearson)"
"""What a footnote calls it."""


def share_ends(
    means: FloatArray, counts: IntArray, is_share: BoolArray, *, alpha: float = 0.05
) -> tuple[FloatArray, FloatArray]:
    """Return where the intervals of means over so many queries begin and end, in their shape; nan if not of a share.

    >>> share_ends(np.array([0.5, 0.5]), np.array([2, 2]), np.array([True, False]))[0].round(4).tolist()
    [0.0126, nan]
    """
    lows, highs = np.full(means.shape, np.nan), np.full(means.shape, np.nan)
    is_share = np.broadcast_to(is_share, means.shape) & (counts > 0)
    if is_share.any():
        from lexirecall.statistics.shares import share_interval  # imports scipy, which few evaluations need

        trials = counts[is_share]
        successes = np.rint(means[is_share] * trials).astype(np.int64)
        lows[is_share], highs[is_share] = share_interval(successes, trials, alpha=alpha)
    return lows, highs


def footnote_of(phrases: Iterable[str], alpha: float = 0.05) -> str:
    """Say what the brackets of a table mean, from the phrases of the methods; nothing if there are none.

    >>> footnote_of([SHARE, SHARE])
    '[low, high]: 95 % interval of a share of queries, exact (Clopper and Pearson)'
    """
    distinct = list(dict.fromkeys(phrases))
    return f"[low, high]: {percent(alpha)} interval {'; '.join(distinct)}" if distinct else ""

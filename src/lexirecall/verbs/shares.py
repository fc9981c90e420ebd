"""Shares: the exact intervals of means that are shares of queries, and what is said about them.

Belongs here: which means are shares, their ends and their columns. Not here: the interval itself (statistics.shares),
the means (averages, breakdown).
"""

from collections.abc import Sequence

import numpy as np

from lexirecall.errors import listed
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.names import Evaluable
from lexirecall.verbs.bootstrapped import percent

SHARE_ENDS = ("low", "high")
"""The columns of an exact interval."""


def has_shares(measures: Sequence[Evaluable]) -> bool:
    """Tell whether some measure is 1 or 0 for every query."""
    return any(row.is_share for row in measures)


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


def on_shares(measures: Sequence[Evaluable], lows: FloatArray, resampled: str, *, alpha: float = 0.05) -> str:
    """Say what the brackets of a table mean: those of shares, and of other means if `resampled` says so.

    >>> from lexirecall.measures import ALL, AP
    >>> on_shares([AP, ALL @ 5], np.array([np.nan, 0.2]), "")
    '[low, high]: exact 95 % interval (Clopper and Pearson) of a share of queries'
    """
    shown = (~np.isnan(lows)).reshape(-1, len(measures)).any(axis=0)
    shares = [str(measures[c]) for c in np.flatnonzero(shown)]
    if not shares:
        return resampled
    exact = f"exact {percent(alpha)} interval (Clopper and Pearson) of a share of queries"
    return f"{resampled}; {listed(shares, 9)}: {exact}" if resampled else f"[low, high]: {exact}"

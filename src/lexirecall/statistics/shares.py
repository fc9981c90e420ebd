"""Shares: how large the share of all queries may be, given how many of those that were seen succeed.

Belongs here: the exact confidence interval of one share. Not here: differences between chances (`proportions`).

Of n queries x succeed, each with the chance p. Clopper and Pearson's interval (1934) holds every p for which neither
so many successes nor so few are less likely than alpha/2:

    P(X >= x; low) = alpha/2 = P(X <= x; high),   low = 0 if x = 0,   high = 1 if x = n.

Both ends are quantiles of beta distributions. It covers p at least as often as it says, whatever n and p are.
"""

import numpy as np

from lexirecall.judgments import FloatArray, IntArray


def share_interval(successes: IntArray, trials: IntArray, *, alpha: float = 0.05) -> tuple[FloatArray, FloatArray]:
    """Return where the exact interval of each share x/n begins and ends; nan if n is 0.

    >>> low, high = share_interval(np.array([85, 0, 1]), np.array([100, 100, 1]))
    >>> low.round(4).tolist(), high.round(4).tolist()  # without a success: 1 - (alpha/2)^(1/n)
    ([0.7647, 0.0, 0.025], [0.9135, 0.0362, 1.0])
    """
    from scipy.special import betaincinv

    x, n = np.asarray(successes, float), np.asarray(trials, float)
    failures = n - x
    low = np.where(x > 0, betaincinv(np.maximum(x, 1), failures + 1, alpha / 2), 0.0)
    high = np.where(failures > 0, betaincinv(x + 1, np.maximum(failures, 1), 1 - alpha / 2), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)

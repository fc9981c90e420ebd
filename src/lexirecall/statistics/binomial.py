"""Binomial: the chance of so few losses, or wins, if both are as likely.

Belongs here: p of the sign test from counts alone, for any number of pairs and samples at once. Not here: which queries
are counted, and intervals (`paired`).
"""

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.statistics.tails import binomial_chances


def sign_pvalues(wins: IntArray, losses: IntArray) -> FloatArray:
    """Return p = min(1, 2 P(X <= min(w, l))), X binomial with w + l trials and chance 1/2, in the shape given.

    Equal counts are computed once: there are few of them among thousands of pairs.

    >>> sign_pvalues(np.array([6, 9, 0]), np.array([0, 2, 0])).round(4).tolist()
    [0.0312, 0.0654, 1.0]
    """
    span = int((wins + losses).max(initial=0)) + 1
    codes, at = np.unique(np.minimum(wins, losses) * span + wins + losses, return_inverse=True)
    fewer, untied = codes // span, codes % span
    pvalues = np.minimum(1.0, 2 * binomial_chances(fewer, untied))
    return np.asarray(pvalues[at].reshape(wins.shape))

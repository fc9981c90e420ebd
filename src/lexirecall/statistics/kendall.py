"""Kendall: how alike two orders of runs are.

Belongs here: tau. Not here: which orders are compared (meta.correlation, labels.forecasts).
"""

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.measures.measure import TOLERANCE


def kendall_tau(means: FloatArray) -> FloatArray:
    """Return Kendall's tau-b between each pair of M orders of S runs, given as means, [M, S]: [M, M].

    tau-b = (concordant - discordant)/sqrt((pairs untied in one)(pairs untied in the other)), nan if an order ties all.
    Means within 1e-12 of the larger one are tied.

    >>> kendall_tau(np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.5, 0.5, 0.9]])).round(4).tolist()
    [[1.0, 0.3333, 0.8165], [0.3333, 1.0, 0.8165], [0.8165, 0.8165, 1.0]]
    """
    a, b = np.triu_indices(means.shape[1], 1)
    x, y = means[:, a], means[:, b]
    with np.errstate(invalid="ignore"):
        is_tied = np.abs(x - y) <= TOLERANCE * np.maximum(np.abs(x), np.abs(y))
    signs = np.where(is_tied | np.isnan(x - y), 0.0, np.sign(x - y))
    balance = signs @ signs.T
    untied = np.diagonal(balance)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(balance / np.sqrt(untied[:, None] * untied))

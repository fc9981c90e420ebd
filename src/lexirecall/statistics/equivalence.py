"""Equivalence: whether two runs differ by less than a margin, which is not the same as no significant difference.

Belongs here: p of two one-sided tests. Not here: corrections, verdicts (verbs).

Two runs are equivalent within d if both "the difference is -d or less" and "it is d or more" are rejected (Schuirmann,
A comparison of the two one-sided tests procedure, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). So they
are at the level alpha exactly if the 1 - 2 alpha interval of the difference lies within ± d.
"""

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.statistics.differences import Differences  # noqa: F401 - in the examples
from lexirecall.statistics.maxt import stand_outside
from lexirecall.statistics.portions import PairDifferences
from lexirecall.statistics.proportions import score_pvalues
from lexirecall.statistics.tails import t_pvalues


def equivalence_pvalues(differences: PairDifferences, margin: float) -> FloatArray:
    """Return the larger of the two one-sided p, [P]: by t of values, by Tango's score of wins minus losses of signs.

    It is nan for values whose mean no test holds for: those of few effective queries, and equal ones.

    >>> values = np.array([[0.01, -0.02, 0.01, 0.02, -0.01, 0.0, 0.01, -0.01, 0.02, -0.02]])
    >>> one = Differences(np.array([0]), np.array([1]), values, np.ones((1, 10), bool))
    >>> equivalence_pvalues(one, 0.02).round(4).tolist(), equivalence_pvalues(one, 0.005).round(4).tolist()
    ([0.0017], [0.214])
    """
    if differences.is_signs:
        counts = differences.wins, differences.losses
        ends = (score_pvalues(*pair, differences.num_queries, margin) for pair in (counts, counts[::-1]))
        return np.asarray(np.maximum(*ends))
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = differences.deviations / np.sqrt(differences.num_queries)
        nearest = (margin - np.abs(differences.means)) / errors
    nearest[stand_outside(differences)] = np.nan
    halves = t_pvalues(np.abs(nearest), differences.num_queries - 1) / 2
    return np.where(nearest >= 0, halves, 1 - halves)

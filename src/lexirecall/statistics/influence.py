"""Influence: whether a conclusion about two runs survives without any one query.

Belongs here: t and sign tests again without each query in turn, in closed form. Not here: who has a letter (verbs).
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.statistics.binomial import sign_pvalues
from lexirecall.statistics.differences import Differences, of_pairs
from lexirecall.statistics.flips import slices
from lexirecall.statistics.portions import PairDifferences
from lexirecall.statistics.tails import t_pvalues

_AT_ONCE = 2**18  # differences


@dataclass(frozen=True, slots=True)
class Influence:
    """What becomes of P pairs without a query."""

    is_asked: BoolArray
    """Which pairs are meant: those of which something is concluded, [P]."""
    worst: IntArray
    """The query without which p is largest, [P]."""
    num_turning: IntArray
    """Without how many queries, one at a time, p is too large or the direction turns, [P]."""


def leave_one_out(
    differences: PairDifferences, by_signs: BoolArray, limits: FloatArray, is_asked: BoolArray, *, ties: str = "drop"
) -> Influence:
    """Test some pairs without each of their queries in turn, by the sign test where `by_signs` says so, otherwise by t.

    A query counts if p is not below the limit of the pair without it, or if the other run is better then.

    >>> one = Differences(np.array([0]), np.array([1]), np.array([[0.9] + [0.1, 0.2] * 6]), np.ones((1, 13), bool))
    >>> found = leave_one_out(one, np.array([False]), np.array([0.04]), np.array([True]))
    >>> found.worst.tolist(), found.num_turning.tolist()
    ([2], [0])
    """
    worst, num_turning = np.zeros((2, len(is_asked)), np.int64)
    asked = np.flatnonzero(is_asked)
    for part in slices(len(asked), differences.total_queries, _AT_ONCE):
        pairs = asked[part]
        some = differences.at(pairs)
        pvalues, is_turned = np.empty((2, *some.values.shape))
        for which, test in ((by_signs[pairs], _by_signs), (~by_signs[pairs], _by_t)):
            if which.any():
                pvalues[which], is_turned[which] = test(of_pairs(some, which), ties)
        is_counted = some.counted if some.unsized is None else some.counted | ~np.isnan(some.unsized)
        # A reversal counts whatever its p, so it gets 2, beyond every limit; with -1 no uncounted query is the worst.
        pvalues = np.where(is_turned > 0, 2.0, np.where(np.isnan(pvalues), 1.0, pvalues))
        pvalues[~is_counted] = -1.0
        worst[pairs] = pvalues.argmax(axis=1)
        num_turning[pairs] = (pvalues >= limits[pairs, None]).sum(axis=1)
    return Influence(is_asked, worst, num_turning)


def _by_t(differences: Differences, ties: str) -> tuple[FloatArray, BoolArray]:  # noqa: ARG001 - as of signs
    """Return p without each query, [P, Q], and where the other run has the better mean."""
    n, means = differences.num_queries[:, None], differences.means[:, None]
    off = differences.values - means
    rest = means - off / np.maximum(n - 1, 1)
    # The squares without query q follow from all of them, SS - n/(n-1) (d_q - mean)²: no second pass for each query.
    squares = (n - 1) * differences.deviations[:, None] ** 2 - off**2 * n / np.maximum(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(rest) * np.sqrt((n - 1) * (n - 2) / np.maximum(squares, 0.0))
    df = np.broadcast_to(n - 2, t.shape)
    pvalues = t_pvalues(t.ravel(), df.ravel()).reshape(t.shape)
    return pvalues, np.asarray(np.sign(rest) != np.sign(means))


def _by_signs(differences: Differences, ties: str) -> tuple[FloatArray, BoolArray]:
    """Return p without each query, [P, Q], and where the other run wins more often, or neither."""
    signs = np.sign(differences.values)
    if differences.unsized is not None:
        signs = np.where(np.isnan(differences.unsized), signs, differences.unsized)
    wins = differences.wins[:, None] - (signs > 0)
    losses = differences.losses[:, None] - (signs < 0)
    halves = (differences.num_compared[:, None] - 1 - wins - losses) // 2 if ties == "split" else 0
    is_turned = np.sign(wins - losses) != np.sign(differences.wins - differences.losses)[:, None]
    return sign_pvalues(wins + halves, losses + halves), is_turned

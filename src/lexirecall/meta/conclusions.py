"""Conclusions: which of two runs a measure calls better over some of the queries, and whether significantly.

Belongs here: the sign of the mean difference, and the sign test with Holm's correction, of all pairs on many samples of
queries at once. Not here: the samples (`halves`, `resampling`), the tests by themselves (statistics).

A sample is a row of weights: how often each query counts. The test sees nothing but who wins each query, so it is
the same for all measures, and what differs between them cannot come from their tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.measures.measure import TOLERANCE
from lexirecall.meta.decisions import Decisions
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.statistics.binomial import sign_pvalues
from lexirecall.statistics.corrections import holm
from lexirecall.verbs.rank import contrasted

_BLOCK = 2**21  # pairs and samples at once


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What one measure says of S runs on Q queries: who wins, and by how much."""

    decisions: Decisions
    values: FloatArray | None = None
    """The value of each run, [S, Q], more being better; 0 where it has none. None for signs."""
    has_value: BoolArray | None = None
    """Where it has one, [S, Q]."""
    sizes: FloatArray | None = None
    """By how much the first of each pair is better, [P, Q], if a preference has sizes."""

    @classmethod
    def of(cls, row: Evaluable, decisions: Decisions, positions: Positions, policies: Policies) -> "Outcomes":
        """Take the values of a measure, or the sizes of a preference that has any."""
        if isinstance(row, Measure):
            projection = positions.at_level(row.level(policies.level))
            values = row.direction * row.scores(projection, policies.counted(positions, row))
            has_value = decisions.taking_part & np.isfinite(values)
            return cls(decisions, np.where(has_value, values, 0.0), has_value)
        if row.is_sized:
            pairs = contrasted(positions, row, policies).held()
            return cls(decisions, sizes=pairs.values[np.triu_indices(len(pairs.runs), 1)].astype(float))
        return cls(decisions)

    def averages(self) -> tuple[FloatArray, BoolArray]:
        """Return what the runs are put in order by, and where it is defined, [S, Q].

        Of a measure it is the value, of a preference the mean preference against the other runs.
        """
        if self.values is not None and self.has_value is not None:
            return self.values, self.has_value
        balances = self.decisions.balances
        is_defined = ~np.isnan(balances)
        return np.where(is_defined, balances, 0.0), is_defined


@dataclass(frozen=True, eq=False)
class Conclusions:
    """What a measure concludes of P pairs of runs on K samples of queries."""

    directions: IntArray
    """The sign of the mean difference, [P, K]: 1 if the first is better."""
    balances: IntArray
    """Wins minus losses, [P, K]."""
    pvalues: FloatArray
    """p of the sign test, [P, K]; nan where nothing is compared."""
    order: IntArray
    """What sorts them, for each sample, [P, K]."""

    @property
    def corrected(self) -> FloatArray:
        """The same p after Holm's correction over the pairs."""
        corrected = np.empty_like(self.pvalues)
        np.put_along_axis(corrected, self.order, np.minimum(self._holm(self._counts(1.0)), 1.0), axis=0)
        return corrected

    def _counts(self, drawn: npt.ArrayLike) -> FloatArray:
        """Return how often each pair is there, 0 where nothing is compared, in the order of p."""
        return np.take_along_axis(np.where(np.isnan(self.pvalues), 0.0, drawn), self.order, axis=0)

    def _holm(self, counts: FloatArray) -> FloatArray:
        return holm(np.take_along_axis(self.pvalues, self.order, axis=0), counts)

    def is_significant(self, alpha: float) -> BoolArray:
        """Tell which pairs differ, [P, K]."""
        return np.asarray(self.corrected < alpha)

    def powers(self, alpha: float, drawn: npt.ArrayLike = 1.0) -> FloatArray:
        """Return the share of pairs that differ significantly among those that are compared, [K].

        `drawn` is how often each pair is there, [P, K]; the correction is over all that are.
        """
        counts = self._counts(drawn)
        with np.errstate(invalid="ignore"):
            return np.asarray((counts * (self._holm(counts) < alpha)).sum(axis=0) / counts.sum(axis=0))


def blocks_of_samples(num_samples: int, num_runs: int) -> Iterator[slice]:
    """Cut samples into blocks for which all pairs fit into tens of megabytes."""
    size = max(1, _BLOCK // max(1, num_runs * (num_runs - 1) // 2))
    return (slice(start, start + size) for start in range(0, num_samples, size))


def conclude(outcomes: Outcomes, weights: FloatArray) -> Conclusions:
    """Conclude from samples of queries, [K, Q].

    >>> ranks = np.array([[0] * 8 + [1], [1] * 8 + [0]], np.int16)
    >>> outcomes = Outcomes(Decisions(np.ones((2, 9), bool), ranks=ranks))
    >>> made = conclude(outcomes, np.ones((1, 9)))
    >>> made.directions.tolist(), made.balances.tolist(), made.corrected.round(4).tolist()
    ([[1]], [[7]], [[0.0391]])
    """
    wins, losses, compared = _won_and_lost(outcomes.decisions, weights)
    balances = wins - losses
    pvalues = np.where(compared > 0, sign_pvalues(wins, losses), np.nan)
    return Conclusions(_directions(outcomes, weights, balances), balances, pvalues, np.argsort(pvalues, axis=0))


def _won_and_lost(decisions: Decisions, weights: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Count wins, losses and comparisons of each pair in each sample, [P, K] each."""
    by_query = weights.T.astype(np.float32)  # sums of up to 2^24 comparisons are exact
    among, drawn = decisions.taking_part, by_query.sum(axis=0)
    everywhere = among.all()
    parts = []
    for s, signs in decisions.rows():
        sizes = signs.astype(np.float32)
        balance, decided = sizes @ by_query, np.abs(sizes) @ by_query
        compared = np.broadcast_to(drawn, decided.shape)
        if not everywhere:
            compared = (among[s] & among[s + 1 :]).astype(np.float32) @ by_query
        parts.append(np.stack([(decided + balance) / 2, (decided - balance) / 2, compared]))
    wins, losses, compared = np.concatenate(parts, axis=1).astype(np.int64)
    return wins, losses, compared


def _directions(outcomes: Outcomes, weights: FloatArray, balances: IntArray) -> IntArray:
    """Return the sign of the mean difference of each pair in each sample, [P, K]."""
    if outcomes.sizes is not None:
        return _signs(outcomes.sizes @ weights.T, np.abs(outcomes.sizes) @ weights.T)
    if outcomes.values is None or outcomes.has_value is None:
        return np.sign(balances)
    values, among = outcomes.values, outcomes.has_value
    a, b = np.triu_indices(len(values), 1)
    if (among == among[0]).all():
        sums = values @ weights.T
        return _signs(sums[a] - sums[b], np.maximum(np.abs(sums[a]), np.abs(sums[b])))
    columns = []
    for sample in weights:  # means of a pair are over the queries on which both take part
        sums = (values * sample) @ among.T.astype(float)
        columns.append(_signs(sums[a, b] - sums[b, a], np.maximum(np.abs(sums[a, b]), np.abs(sums[b, a]))))
    return np.stack(columns, axis=1)


def _signs(differences: FloatArray, sizes: FloatArray) -> IntArray:
    """Return signs; a difference that rounding may have made is 0."""
    return np.where(np.abs(differences) <= TOLERANCE * sizes, 0, np.sign(differences)).astype(np.int64)

"""Forecasts: what becomes of decisions, tests and the order of the runs if unjudged documents have sampled labels.

Belongs here: drawing labels, and what is concluded from each labelling. Not here: how likely a document is relevant
(rates), what no labelling can change (flips), chances that need no samples (reversals).

In a sample each unjudged document of each pool is relevant with its own chance, independently of the others, and all
queries together are evaluated and tested as `compare` does it. A share p of B samples has the standard error
sqrt(p (1 - p)/B).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.equality import FieldEquality
from lexirecall.judgments import SMALLEST_GRADE, BoolArray, FloatArray, IntArray
from lexirecall.labels.pools import Labelling, LabelPool
from lexirecall.labels.rates import Rates
from lexirecall.labels.reversals import recall_reversals
from lexirecall.manifest import Policies
from lexirecall.measures import Measure, R
from lexirecall.measures.measure import TOLERANCE
from lexirecall.measures.parameter import Share
from lexirecall.names import Evaluable
from lexirecall.preferences.contrasts import Contrasts
from lexirecall.preferences.pairs import SignArray
from lexirecall.progress import Progress
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.flips import slices
from lexirecall.statistics.kendall import kendall_tau
from lexirecall.verbs.evaluate import QueryValues
from lexirecall.verbs.measurecomparison import MeasureComparison
from lexirecall.verbs.rank import contrasted
from lexirecall.verbs.testing import Testing, run_test

_DIFFERENCES = 2**21  # differences that are tested together

RunPairs = tuple[IntArray, IntArray]
"""Both runs of each pair."""


@dataclass(frozen=True, slots=True, eq=False)
class PairForecast(FieldEquality):
    """What becomes of the P pairs of runs under one measure."""

    reversals: FloatArray
    """The chance that each decision is reversed, [P, Q]; nan where there is none."""
    is_exact: bool
    """Whether these chances are computed rather than sampled."""
    same_order: FloatArray
    """The share of labellings in which the better run of the pair is still the better one, [P]; nan if none is."""
    significant: FloatArray
    """The share in which that run is significantly better, [P]."""
    turned: FloatArray
    """The share in which the other one is significantly better, [P]; either of them, if none is better now."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderForecast(FieldEquality):
    """What becomes of the order of S runs by their means, or by their win rates."""

    now: FloatArray
    """What each run has now, more being better, [S]."""
    taus: FloatArray
    """Kendall's tau between the order now and that of each labelling, [B]; nan where either ties all."""
    stays_best: float
    """The share of labellings in which no run is better than the one that is best now."""

    @property
    def best(self) -> int:
        """The run that is best now, the first of equal ones."""
        return int(np.nanargmax(self.now))


def standard_error(share: float, num_samples: int) -> float:
    """Return the standard error of a share of samples.

    >>> standard_error(0.5, 100)
    0.05
    """
    return float(np.sqrt(share * (1 - share) / num_samples))


def grade_of(row: Evaluable, level: float) -> float:
    """Return the grade of new labels for a measure: its own level, or that of all if it uses the grades themselves."""
    own_level = row.level(level)
    return level if own_level == SMALLEST_GRADE else own_level


@dataclass(frozen=True, eq=False)
class LabellingSamples:
    """One measure or preference on every query under B labellings."""

    row: Evaluable
    contrasts: tuple[Contrasts, ...]
    """Of each query, the preferences under each labelling."""
    means: FloatArray
    """The mean of each run under each labelling, [S, B], more being better; of a preference, its win rate."""

    @property
    def num_samples(self) -> int:
        """B."""
        return int(self.means.shape[1])

    def between(self, a: IntArray, b: IntArray) -> tuple[npt.NDArray[Any], BoolArray, BoolArray]:
        """Compare runs a with runs b: preferences, where there are any, and where they have a size, [P, B, Q]."""
        parts = [(part.between(a, b), part.counted(a, b), part.measured(a, b)) for part in self.contrasts]
        values, counted, measured = (np.stack(arrays, axis=-1) for arrays in zip(*parts, strict=True))
        return values, counted, measured


def sample(
    pools: Sequence[LabelPool],
    rates: Rates,
    rows: Sequence[Evaluable],
    labelling: Labelling,
    policies: Policies,
    *,
    num_samples: int,
    seed: int,
    show_progress: bool | None = False,
) -> list[LabellingSamples]:
    """Draw labellings of every pool, and compare the runs under each; all measures see the same labels."""
    by_grade: dict[float, list[int]] = {}
    for c, row in enumerate(rows):
        by_grade.setdefault(grade_of(row, policies.level), []).append(c)
    contrasts: list[list[Contrasts]] = [[] for _ in rows]
    sums, counts = np.zeros((2, len(rows), len(labelling.runs), num_samples))
    with Progress("sampling labels", len(pools), shown=show_progress) as progress:
        for pool in pools:
            labels = rates.draw(pool, num_samples, seed)
            for grade, columns in by_grade.items():
                drawn = _compared(replace(labelling, grade=grade), pool, labels, [rows[c] for c in columns], policies)
                for c, (of_pool, values) in zip(columns, drawn, strict=True):
                    contrasts[c].append(of_pool)
                    sums[c] += np.nan_to_num(values)
                    counts[c] += np.isfinite(values)
            progress.advance(1)
    with np.errstate(invalid="ignore"):
        means = sums / counts
    return [LabellingSamples(row, tuple(contrasts[c]), row.direction * means[c]) for c, row in enumerate(rows)]


def _compared(
    labelling: Labelling, pool: LabelPool, labels: BoolArray, rows: Sequence[Evaluable], policies: Policies
) -> list[tuple[Contrasts, FloatArray]]:
    """Return the preferences under each labelling of one pool, and the values of each run, [S, B]."""
    positions = labelling.positions([pool], [labels])
    values = QueryValues.of(positions, rows, policies).values
    return [(contrasted(positions, row, policies), values[:, :, c]) for c, row in enumerate(rows)]


def forecast_pairs(
    sampled: LabellingSamples,
    now: MeasureComparison,
    signs: SignArray,
    testing: Testing,
    exact: FloatArray | None = None,
) -> PairForecast:
    """Say how often the pairs of a comparison keep their order, and how often they differ significantly.

    `signs` are the decisions now, [P, Q]; `exact` are the chances that they are reversed, where these are known.
    """
    num_pairs, num_samples = len(now.a), sampled.num_samples
    reversals = np.full(signs.shape, np.nan)
    orders, pvalues = np.zeros((num_pairs, num_samples)), np.full((num_pairs, num_samples), np.nan)
    for pairs in slices(num_pairs, num_samples * signs.shape[1], _DIFFERENCES):
        drawn_pairs = sampled.between(now.a[pairs], now.b[pairs])
        reversals[pairs] = (np.sign(drawn_pairs[0]) == -signs[pairs, None]).mean(axis=1)
        orders[pairs], pvalues[pairs] = _tested(*drawn_pairs, testing, sampled.contrasts[0])
    reversals[signs == 0] = np.nan
    better = np.sign(np.nan_to_num(now.tested))[:, None]
    corrected = np.array([correct(column, testing.correction) for column in pvalues.T]).T
    is_significant, is_same = corrected < testing.alpha, (orders == better) & (better != 0)
    return PairForecast(
        reversals if exact is None else exact,
        exact is not None,
        np.where(better[:, 0] == 0, np.nan, is_same.mean(axis=1)),
        (is_significant & is_same).mean(axis=1),
        (is_significant & ~is_same).mean(axis=1),
    )


def _tested(
    values: npt.NDArray[Any], counted: BoolArray, measured: BoolArray, testing: Testing, of: Contrasts
) -> tuple[FloatArray, FloatArray]:
    """Return which of two is better, and the p of each pair by itself, under each labelling, [P, B] of [P, B, Q]."""
    shape, num_queries = values.shape[:2], values.shape[2]
    flat = values.reshape(-1, num_queries).astype(float)
    where = counted.reshape(-1, num_queries), measured.reshape(-1, num_queries)
    every = np.arange(len(flat))
    differences = Differences.compared_in(every, every, flat, *where, is_signs=not of.is_sized, is_steady=of.is_steady)
    test = run_test(testing, differences)
    better = np.sign(np.where(test.by_signs, differences.wins - differences.losses, np.nan_to_num(differences.means)))
    return better.reshape(shape), test.pvalues.reshape(shape)


def exact_reversals(
    pools: Sequence[LabelPool], rates: Rates, row: Evaluable, policies: Policies, pairs: RunPairs, signs: SignArray
) -> FloatArray | None:
    """Return the chance that each decision is reversed, [P, Q], nan where there is none; None if it must be sampled."""
    if not (isinstance(row, Measure) and row.name == R.name) or isinstance(row.settings["cutoff"], Share):
        return None
    level, cutoff = row.level(policies.level), row.settings["cutoff"]
    chances = np.full(signs.shape, np.nan)
    for q, pool in enumerate(pools):
        chances[:, q] = recall_reversals(pool, rates.chances(pool), cutoff, level, pairs)
    chances[signs == 0] = np.nan
    return chances


def forecast_order(sampled: LabellingSamples, now: FloatArray) -> OrderForecast:
    """Compare the order of the runs now with that under each labelling; `now` are their means, more being better, [S].

    >>> sampled = LabellingSamples(R @ 10, (), np.array([[0.5, 0.1], [0.4, 0.4], [0.3, 0.0]]))
    >>> made = forecast_order(sampled, np.array([0.3, 0.2, 0.1]))
    >>> made.best, made.taus.round(4).tolist(), made.stays_best
    (0, [1.0, 0.3333], 0.5)
    """
    taus = np.array([kendall_tau(np.stack([now, means]))[0, 1] for means in sampled.means.T])
    known = np.where(np.isnan(sampled.means), -np.inf, sampled.means)
    highest = known.max(axis=0)
    with np.errstate(invalid="ignore"):
        is_best = (known[np.nanargmax(now)] >= highest - TOLERANCE * np.abs(highest)) | np.isinf(highest)
    return OrderForecast(now, taus, float(is_best.mean()))

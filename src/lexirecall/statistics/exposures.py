"""Exposures: how much the exposure of providers depends on which queries happened to be there.

Belongs here: the intervals of the exposure of each provider, and of its ratio to what is due. Not here: how resamples
become intervals (`studentized`), exposure (measures), names and tables.

A ratio of sums R = sum η / sum due is moved by each query as the mean of R + (η - R due)/mean(due) is, up to terms that
vanish as queries become more. So both numbers are means over the queries of a provider, and have the interval of means.
A provider has a relevant document on few of the queries, and only a part of the providers is laid out at a time.
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.errors import check_count
from lexirecall.judgments import BoolArray, FloatArray, offsets_of
from lexirecall.measures.providers import Shares
from lexirecall.statistics.bootstrap import check_resamples
from lexirecall.statistics.flips import slices
from lexirecall.statistics.studentized import studentized_intervals

_BLOCK = 2**22  # numbers that are laid out at a time: 32 MB


@dataclass(frozen=True, slots=True, eq=False)
class ResampledExposures:
    """Intervals of mean exposure and ratio, of P providers in S runs; nan where there is none."""

    lows: FloatArray
    """[S, P], as are all arrays."""
    highs: FloatArray
    ratio_lows: FloatArray
    ratio_highs: FloatArray
    num_resamples: int
    seed: int
    alpha: float


def bootstrap_exposures(
    shares: Shares,
    counts: BoolArray,
    chosen: BoolArray,
    *,
    num_resamples: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = False,
) -> ResampledExposures:
    """Return the intervals of the mean exposure of the `chosen` providers, [S, P], and of their ratios.

    P is the number of different providers in the shares, in their order. `counts` says which pairs of a query and a
    provider count for which run, [S, C]. Of each provider its own queries are drawn. There is no interval with fewer
    than 8 of them, and where all are alike.

    >>> exposures = np.array([[0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0]])
    >>> shares = Shares(np.arange(8), np.zeros(8, int), np.ones(8, int), exposures)
    >>> made = bootstrap_exposures(shares, np.ones((1, 8), bool), np.array([[True]]), num_resamples=999)
    >>> made.lows.round(4).tolist(), made.highs.round(4).tolist(), made.ratio_lows.tolist()  # alone, it has all
    ([[0.1864]], [[0.8182]], [[nan]])
    """
    check_resamples(num_resamples, alpha)
    check_count("seed", seed, 0)
    _, column = np.unique(shares.providers, return_inverse=True)
    pairs, starts = np.argsort(column, kind="stable"), offsets_of(np.bincount(column, minlength=chosen.shape[1]))
    _, places = np.unique(shares.queries, return_inverse=True)
    num_queries = int(places.max(initial=-1)) + 1
    due, ends = shares.due, np.full((4, *chosen.shape), np.nan)
    runs, providers = np.nonzero(chosen)
    for part in slices(len(runs), 2 * max(num_queries, 1), _BLOCK):
        cells = runs[part], providers[part]
        values = np.full((num_queries, 2, len(cells[0])), np.nan)
        for k, (s, c) in enumerate(zip(*cells, strict=True)):
            entries = pairs[starts[c] : starts[c + 1]]
            entries = entries[counts[s, entries]]
            values[places[entries], 0, k] = shares.exposures[s, entries]
            values[places[entries], 1, k] = _linear(shares.exposures[s, entries], due[s, entries])
        found = studentized_intervals(
            values.reshape(num_queries, -1), num_resamples=num_resamples, seed=seed, alpha=alpha,
            show_progress=show_progress,
        )  # fmt: skip
        lows, highs = (np.maximum(end, 0.0).reshape(2, -1) for end in found)  # exposure is not negative
        for k, end in enumerate((lows[0], highs[0], lows[1], highs[1])):
            ends[(k, *cells)] = end
    lows, highs, ratio_lows, ratio_highs = ends
    return ResampledExposures(
        lows=lows, highs=highs, ratio_lows=ratio_lows, ratio_highs=ratio_highs, num_resamples=num_resamples, seed=seed,
        alpha=alpha,
    )  # fmt: skip


def _linear(exposures: FloatArray, due: FloatArray) -> FloatArray:
    """Return what has the ratio as its mean, and moves as it does; nan where nothing is due."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = exposures.sum() / due.sum()
        return np.asarray(ratio + (exposures - ratio * due) / due.mean()) if len(due) else due

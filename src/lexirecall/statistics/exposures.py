"""Exposures: how much the exposure of providers depends on which queries happened to be there.

Belongs here: the exposure of each provider, and its ratio to what is due, in resamples of the queries. Not here: the
resamples themselves (`bootstrap`), exposure (measures), names and tables.

A provider has a relevant item on few of the queries. So the sums of a resample are products with sparse matrices, and
time and memory follow the pairs of a query and a provider. Only a part of the providers is resampled at a time.
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of
from lexirecall.measures.providers import Shares
from lexirecall.progress import Progress
from lexirecall.providers import members
from lexirecall.statistics.bootstrap import (
    Resampled,
    check_resamples,
    on_grid,
    percentile_interval,
    resampled_counts,
)
from lexirecall.statistics.paired import check_count

_KEPT = 2**23  # resampled numbers that are kept at a time: 64 MB


@dataclass(frozen=True, slots=True, eq=False)
class ResampledExposures:
    """Percentile intervals of mean exposure and ratio, of P providers in S runs; nan where there is none."""

    lows: FloatArray
    """[S, P], as are all arrays."""
    highs: FloatArray
    ratio_lows: FloatArray
    ratio_highs: FloatArray
    num_resamples: int
    seed: int
    alpha: float


@dataclass(frozen=True, slots=True, eq=False)
class _ByProvider:
    """The pairs of a request and a provider, ordered by provider."""

    requests: IntArray
    """Numbered among those that are drawn."""
    offsets: IntArray
    """Where the pairs of each provider begin."""
    exposures: FloatArray
    """[S, C], as is what is due; 0 where the request does not count."""
    due: FloatArray
    counts: BoolArray
    num_requests: int

    @property
    def has_requests(self) -> BoolArray:
        """Whether a request of the provider counts for the system, [S, P]."""
        return np.asarray(np.logical_or.reduceat(self.counts, self.offsets[:-1], axis=1))


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
    """Return the percentile intervals of the mean exposure of the `chosen` providers, [S, P], and of their ratios.

    P is the number of different providers in the shares, in their order. `counts` says which pairs of a query and a
    provider count for which run, [S, C]. The queries drawn are those that count with any provider, for any run.

    >>> shares = Shares(np.arange(6), np.zeros(6, int), np.ones(6, int), np.array([[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]]))
    >>> made = bootstrap_exposures(shares, np.ones((1, 6), bool), np.array([[True]]), num_resamples=999)
    >>> made.lows.round(4).tolist(), made.highs.round(4).tolist(), made.ratio_lows.tolist()
    ([[0.2333]], [[0.8]], [[1.0]])
    """
    check_resamples(num_resamples, alpha)
    check_count("seed", seed, 0)
    pairs = _pairs(shares, counts)
    ends = np.full((4, *chosen.shape), np.nan)
    systems, providers = np.nonzero(chosen & pairs.has_requests)
    width = max(1, _KEPT // (2 * num_resamples))
    parts = [slice(start, start + width) for start in range(0, len(systems), width)]
    with Progress("resampling", num_resamples * len(parts), shown=show_progress) as progress:
        for part in parts:
            numbers = _numbers(pairs, systems[part], providers[part])
            kept = []
            for block in resampled_counts(pairs.num_requests, num_resamples, seed):
                kept.append(numbers(block))
                progress.advance(len(block))
            means, ratios = np.concatenate(kept, axis=2)
            for k, resampled in ((0, means), (2, ratios)):
                ends[k : k + 2, systems[part], providers[part]] = percentile_interval(resampled, alpha)
    lows, highs, ratio_lows, ratio_highs = ends
    return ResampledExposures(lows, highs, ratio_lows, ratio_highs, num_resamples, seed, alpha)


def _pairs(shares: Shares, counts: BoolArray) -> _ByProvider:
    drawn, requests = np.unique(shares.requests[counts.any(axis=0)]), shares.requests
    _, column = np.unique(shares.providers, return_inverse=True)
    order = np.argsort(column, kind="stable")
    return _ByProvider(
        np.searchsorted(drawn, requests[order]),
        offsets_of(np.bincount(column)),
        np.where(counts, shares.exposures, 0.0)[:, order],
        np.where(counts, shares.due, 0.0)[:, order],
        counts[:, order],
        len(drawn),
    )


def _numbers(pairs: _ByProvider, systems: IntArray, providers: IntArray) -> Resampled:
    """Return what gives the mean exposures and the ratios of some providers in some resamples, [2, cells, B]."""
    from scipy.sparse import csr_array  # not on top: few evaluations resample providers

    at = members(pairs.offsets, providers)
    sizes = np.diff(pairs.offsets)[providers]
    cell = np.repeat(systems, sizes), at
    used = pairs.counts[cell]  # a request that counts for no system is not drawn, and has no number
    requests = pairs.requests[at[used]]
    offsets = offsets_of(np.add.reduceat(used.astype(np.int64), offsets_of(sizes)[:-1]))
    shape = len(systems), pairs.num_requests

    def table(values: FloatArray) -> "csr_array":
        return csr_array((values, requests, offsets), shape=shape)

    numbers = table(np.ones(len(requests)))
    exposures, due = (
        [table(part) for part in _exact_parts(values[cell][used], offsets, pairs.num_requests)]
        for values in (pairs.exposures, pairs.due)
    )

    def resampled(counts: FloatArray) -> FloatArray:
        drawn = np.ascontiguousarray(counts.T)
        made = np.empty((2, len(systems), len(counts)))
        sums = exposures[0] @ drawn + exposures[1] @ drawn
        with np.errstate(invalid="ignore"):  # 0/0 is nan: without a request, or where nobody has exposure
            np.divide(sums, numbers @ drawn, out=made[0])
            np.divide(sums, due[0] @ drawn + due[1] @ drawn, out=made[1])
        return made

    return resampled


def _exact_parts(values: FloatArray, offsets: IntArray, num_requests: int) -> list[FloatArray]:
    """Return two lists of numbers that add up to the values, and whose sums in any resample are exact."""
    parts, sizes = [], np.diff(offsets)
    for _ in range(2):
        largest = np.maximum.reduceat(np.abs(values), offsets[:-1])
        parts.append(on_grid(values, np.repeat(num_requests * largest, sizes)))
        values = values - parts[-1]
    return parts

"""Placements: whether a provider's relevant items are placed like the other relevant items of the same requests.

Belongs here: the permutation test of all providers in all systems. Not here: exposure (measures), intervals of it
(`exposures`), names and tables.

On a request with items of the provider and of others, D_q is the exposure of its items less what as many of the others
and its own have on average; T = mean(D)/(sd(D)/√Q') over these Q' requests. If owners did not matter, each item might
as well be another's. So the owners are permuted among the relevant items of each request, and p is the share of the
ways in which |T| is as large. An item of a higher grade merits a better place: items are compared with those of the
same grade only. T² is (Q'-1) r/(Q'-r) for r = (sum D)²/sum D², which is bounded and has the same order: r is counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.errors import check_count
from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of
from lexirecall.measures.measure import TOLERANCE
from lexirecall.measures.owned import OwnedItems
from lexirecall.progress import Progress
from lexirecall.statistics.attainable import resamples_needed
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.flips import slices

FEWEST = 5
"""On how many requests a provider needs items beside those of others to be tested."""
MOST_ADDITIONS = 10**10
"""How many exposures are added up for all providers and systems: a minute or so."""
_OF_DRAWING = 9  # additions that take as long as drawing the place of one item
_BLOCK = 2**20  # places of items at a time


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """P providers in S systems; the reader, not the test, draws the line."""

    statistics: FloatArray
    """T, positive if the provider has more exposure than the others, [S, P], as are all arrays; nan if not tested."""
    pvalues: FloatArray
    """How likely so large a |T| is if it does not matter whose an item is; nan on fewer than FEWEST requests."""
    corrected: FloatArray
    """By Holm's method, over the providers of each system."""
    num_requests: IntArray
    """Q'."""
    num_resamples: int
    seed: int
    is_bounded: bool
    """Whether these are fewer than Holm's method needs, because of MOST_ADDITIONS."""


@dataclass(frozen=True, slots=True, eq=False)
class _Claims:
    """Which items are whose, by provider, and for each provider by request; only where it and others have items."""

    items: IntArray
    starts: IntArray
    """Where the claims of each pair of a provider and a request begin, [C]."""
    requests: IntArray
    """The request of each pair, [C]."""
    providers: IntArray
    """[C]."""


def permute_owners(
    items: OwnedItems, counts: BoolArray, *, alpha: float = 0.05, seed: int = 0, show_progress: bool | None = False
) -> Placements:
    """Test whether each provider is placed like the others; `counts` says which requests count for a system, [S, Q].

    p = (b + 1)/(B + 1) if b of B random permutations have a |T| as large; B is 9,999, or what Holm's method needs for a
    p below alpha. The same permutations serve all systems. P are the providers with a relevant item, in their order.

    >>> from lexirecall import project
    >>> from lexirecall.measures.owned import owned_items
    >>> judged = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(9)}
    >>> positions = project(judged, {q: ["b", "c", "a"] for q in judged}, providers={"a": "Ada", "b": "Ben"})
    >>> made = permute_owners(owned_items(positions.at_level(1), "ap", 0.8), np.ones((1, 9), bool))
    >>> made.statistics.tolist(), made.pvalues.round(3).tolist(), made.num_resamples
    ([[-inf, inf]], [[0.0, 0.0]], 9999)
    """
    check_count("seed", seed, 0)
    items = items.by_stratum()
    claims = _claims(items)
    which = np.unique(items.owners)
    shape = len(counts), len(which)
    num_requests = np.zeros(shape, np.int64)
    at = np.searchsorted(which, claims.providers)
    np.add.at(num_requests.T, at, counts[:, claims.requests].T)
    is_tested = num_requests >= FEWEST
    claims = _of_providers(claims, np.asarray(is_tested.any(axis=0))[at])
    columns, starts = np.unique(np.searchsorted(which, claims.providers), return_index=True)
    wanted = resamples_needed(len(columns), correction="holm", alpha=alpha) - 1
    cost = len(claims.items) * len(counts) + _OF_DRAWING * len(items.requests)
    num_resamples = min(wanted, max(1, MOST_ADDITIONS // max(cost, 1)))
    statistics, pvalues = np.full(shape, np.nan), np.full(shape, np.nan)
    if len(columns):
        exposures = _centred(items, counts)
        observed, as_large = _counted(exposures, claims, starts, items.strata, num_resamples, seed, show_progress)
        statistics[:, columns] = _t(*observed, num_requests[:, columns])
        pvalues[:, columns] = (as_large + 1) / (num_resamples + 1)
    statistics[~is_tested] = pvalues[~is_tested] = np.nan
    corrected = np.array([correct(row) for row in pvalues]).reshape(shape)
    return Placements(statistics, pvalues, corrected, num_requests, num_resamples, seed, num_resamples < wanted)


def _claims(items: OwnedItems) -> _Claims:
    """Order what is claimed, without the strata of which a provider has all items: nothing can change there."""
    of_item = np.repeat(np.arange(len(items.requests)), np.diff(items.offsets))
    stratum, provider = items.strata[of_item], items.owners
    order = np.lexsort((of_item, provider))
    of_item, stratum, provider = of_item[order], stratum[order], provider[order]
    _, same, sizes = np.unique(np.stack([provider, stratum]), axis=1, return_inverse=True, return_counts=True)
    may_change = sizes[same.reshape(-1)] < np.bincount(items.strata)[stratum]
    of_item, provider = of_item[may_change], provider[may_change]
    requests = items.requests[of_item]
    is_first = (np.diff(provider, prepend=-1) != 0) | (np.diff(requests, prepend=-1) != 0)
    starts = np.flatnonzero(is_first)
    return _Claims(of_item, starts, requests[starts], provider[starts])


def _of_providers(claims: _Claims, chosen: BoolArray) -> _Claims:
    """Return the claims of some pairs, [C]."""
    sizes = np.diff(claims.starts, append=len(claims.items))
    items = claims.items[np.repeat(chosen, sizes)]
    return _Claims(items, offsets_of(sizes[chosen])[:-1], claims.requests[chosen], claims.providers[chosen])


def _centred(items: OwnedItems, counts: BoolArray) -> FloatArray:
    """Return exposures less the mean of the stratum, [S, N], as a share of the largest; 0 where they do not count."""
    starts = np.flatnonzero(np.diff(items.strata, prepend=-1))
    means = np.add.reduceat(items.exposures, starts, axis=1) / np.bincount(items.strata)
    centred = np.where(counts[:, items.requests], items.exposures - means[:, items.strata], 0.0)
    largest = items.exposures.max(axis=1, initial=0.0, keepdims=True)
    centred /= np.where(largest > 0, largest, 1.0)
    return np.where(np.abs(centred) <= TOLERANCE, 0.0, centred)


Sums = tuple[FloatArray, FloatArray]


def _counted(
    exposures: FloatArray,
    claims: _Claims,
    starts: IntArray,
    strata: IntArray,
    num_resamples: int,
    seed: int,
    show_progress: bool | None,
) -> tuple[Sums, IntArray]:
    """Return the sums of D and of D², both [S, P], and how many permutations have an r as large."""

    def sums(own: FloatArray, places: IntArray) -> Sums:
        differences = np.add.reduceat(own[places], claims.starts, axis=1)
        added = np.add.reduceat(differences, starts, axis=1)
        return added, np.add.reduceat(np.square(differences, out=differences), starts, axis=1)

    each = [sums(own, claims.items[None, :]) for own in exposures]
    observed = np.concatenate([one for one, _ in each]), np.concatenate([two for _, two in each])
    least = _r(*observed) * (1 - 1e-9) - TOLERANCE
    as_large = np.zeros(least.shape, np.int64)
    with Progress("permuting providers", num_resamples, shown=show_progress) as progress:
        for orders in _orders(strata, num_resamples, seed):
            for rows in slices(len(orders), len(claims.items), _BLOCK):
                places = orders[rows][:, claims.items]
                for s, own in enumerate(exposures):
                    as_large[s] += (_r(*sums(own, places)) >= least[s]).sum(axis=0)
            progress.advance(len(orders))
    return observed, as_large


def _r(added: FloatArray, squares: FloatArray) -> FloatArray:
    return np.divide(added**2, squares, out=np.zeros_like(added), where=squares > TOLERANCE**2)


def _t(added: FloatArray, squares: FloatArray, numbers: IntArray) -> FloatArray:
    """Return T from the sums of D and of D²; infinite if all D are equal, 0 if all are 0."""
    r = _r(added, squares)
    rest = np.where(numbers - r <= TOLERANCE * numbers, 0.0, numbers - r)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(r > 0, np.sign(added) * np.sqrt((numbers - 1) * r / rest), 0.0)


def _orders(strata: IntArray, num_resamples: int, seed: int) -> Iterator[IntArray]:
    """Give orders of the items at random within each stratum, in blocks [B, N], whatever their size.

    A word has the stratum in its highest bits, the place within it in its lowest, and the raw bits of a named
    generator, which numpy promises never to change, between: sorted, it tells the order.
    """
    bits = np.random.PCG64(seed)
    starts = np.flatnonzero(np.diff(strata, prepend=-1))
    within = np.arange(len(strata)) - starts[strata]
    low, high = int(within.max(initial=0)).bit_length(), int(len(starts) - 1).bit_length()
    fixed = (strata.astype(np.uint64) << np.uint64(64 - high)) if high else np.zeros(len(strata), np.uint64)
    fixed |= within.astype(np.uint64)
    mask = np.uint64((2 ** (64 - high) - 1) & ~(2**low - 1))
    for rows in slices(num_resamples, len(strata), _BLOCK):
        number = min(rows.stop, num_resamples) - rows.start
        words = bits.random_raw(number * len(strata)).reshape(number, len(strata)) & mask | fixed
        words.sort(axis=1)
        yield (words & np.uint64(2**low - 1)).astype(np.int64) + starts[strata]

"""Placements: whether a provider's relevant documents are placed like the other relevant documents of the same queries.

Belongs here: the permutation test of all providers in all runs. Not here: exposure (measures), intervals of it
(`exposures`), names and tables.

On a query with documents of the provider and of others, D_q is the exposure of its documents less what as many of the
others and its own have on average; T = mean(D)/(sd(D)/√Q') over these Q' queries. If owners did not matter, each
document might as well be another's. So the owners are permuted among the relevant documents of each query, and p is the
share of the ways in which |T| is as large. A document of a higher grade merits a better place: documents are compared
with those of the same grade only. T² is (Q'-1) r/(Q'-r) for r = (sum D)²/sum D², which is bounded and has the same
order: r is counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.errors import check_count
from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of
from lexirecall.measures.measure import TOLERANCE
from lexirecall.measures.ownership import OwnedDocuments
from lexirecall.progress import Progress
from lexirecall.statistics.attainable import resamples_needed
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.flips import slices

FEWEST = 5
"""On how many queries a provider needs documents beside those of others to be tested."""
MOST_ADDITIONS = 10**10
"""How many exposures are added up for all providers and runs: a minute or so."""
_OF_DRAWING = 9  # additions that take as long as drawing the place of one document
_BLOCK = 2**20  # places of documents at a time


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """P providers in S runs; the reader, not the test, draws the line."""

    statistics: FloatArray
    """T, positive if the provider has more exposure than the others, [S, P], as are all arrays; nan if not tested."""
    pvalues: FloatArray
    """How likely so large a |T| is if it does not matter whose a document is; nan on fewer than FEWEST queries."""
    corrected: FloatArray
    """By Holm's method, over the providers of each run."""
    num_queries: IntArray
    """Q'."""
    num_resamples: int
    seed: int
    is_bounded: bool
    """Whether these are fewer than Holm's method needs, because of MOST_ADDITIONS."""


@dataclass(frozen=True, slots=True, eq=False)
class _Claims:
    """Which documents are whose, by provider, and for each provider by query; only where others have some too."""

    documents: IntArray
    starts: IntArray
    """Where the claims of each pair of a provider and a query begin, [C]."""
    queries: IntArray
    """The query of each pair, [C]."""
    providers: IntArray
    """[C]."""


def permute_owners(
    documents: OwnedDocuments,
    counts: BoolArray,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    show_progress: bool | None = False,
) -> Placements:
    """Test whether each provider is placed like the others; `counts` says which queries count for a run, [S, Q].

    p = (b + 1)/(B + 1) if b of B random permutations have a |T| as large; B is 9,999, or what Holm's method needs for a
    p below alpha. The same permutations serve all runs. P are the providers with a relevant document, in their order.

    >>> from lexirecall import project
    >>> from lexirecall.measures.ownership import owned_documents
    >>> judged = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(9)}
    >>> positions = project(judged, {q: ["b", "c", "a"] for q in judged}, providers={"a": "Ada", "b": "Ben"})
    >>> made = permute_owners(owned_documents(positions.at_level(1), "ap", 0.8), np.ones((1, 9), bool))
    >>> made.statistics.tolist(), made.pvalues.round(3).tolist(), made.num_resamples
    ([[-inf, inf]], [[0.0, 0.0]], 9999)
    """
    check_count("seed", seed, 0)
    documents = documents.by_stratum()
    claims = _claims(documents)
    which = np.unique(documents.owners)
    shape = len(counts), len(which)
    num_queries = np.zeros(shape, np.int64)
    at = np.searchsorted(which, claims.providers)
    np.add.at(num_queries.T, at, counts[:, claims.queries].T)
    is_tested = num_queries >= FEWEST
    claims = _of_providers(claims, np.asarray(is_tested.any(axis=0))[at])
    columns, starts = np.unique(np.searchsorted(which, claims.providers), return_index=True)
    wanted = resamples_needed(len(columns), correction="holm", alpha=alpha) - 1
    cost = len(claims.documents) * len(counts) + _OF_DRAWING * len(documents.queries)
    num_resamples = min(wanted, max(1, MOST_ADDITIONS // max(cost, 1)))
    statistics, pvalues = np.full(shape, np.nan), np.full(shape, np.nan)
    if len(columns):
        exposures = _centred(documents, counts)
        observed, as_large = _counted(exposures, claims, starts, documents.strata, num_resamples, seed, show_progress)
        statistics[:, columns] = _t(*observed, num_queries[:, columns])
        pvalues[:, columns] = (as_large + 1) / (num_resamples + 1)
    statistics[~is_tested] = pvalues[~is_tested] = np.nan
    corrected = np.array([correct(row) for row in pvalues]).reshape(shape)
    return Placements(
        statistics=statistics, pvalues=pvalues, corrected=corrected, num_queries=num_queries,
        num_resamples=num_resamples, seed=seed, is_bounded=num_resamples < wanted,
    )  # fmt: skip


def _claims(documents: OwnedDocuments) -> _Claims:
    """Order what is claimed, without the strata of which a provider has all documents: nothing can change there."""
    of_document = np.repeat(np.arange(len(documents.queries)), np.diff(documents.offsets))
    stratum, provider = documents.strata[of_document], documents.owners
    order = np.lexsort((of_document, provider))
    of_document, stratum, provider = of_document[order], stratum[order], provider[order]
    _, same, sizes = np.unique(np.stack([provider, stratum]), axis=1, return_inverse=True, return_counts=True)
    may_change = sizes[same.reshape(-1)] < np.bincount(documents.strata)[stratum]
    of_document, provider = of_document[may_change], provider[may_change]
    queries = documents.queries[of_document]
    is_first = (np.diff(provider, prepend=-1) != 0) | (np.diff(queries, prepend=-1) != 0)
    starts = np.flatnonzero(is_first)
    return _Claims(of_document, starts, queries[starts], provider[starts])


def _of_providers(claims: _Claims, chosen: BoolArray) -> _Claims:
    """Return the claims of some pairs, [C]."""
    sizes = np.diff(claims.starts, append=len(claims.documents))
    documents = claims.documents[np.repeat(chosen, sizes)]
    return _Claims(documents, offsets_of(sizes[chosen])[:-1], claims.queries[chosen], claims.providers[chosen])


def _centred(documents: OwnedDocuments, counts: BoolArray) -> FloatArray:
    """Return exposures less the mean of the stratum, [S, N], as a share of the largest; 0 where they do not count."""
    starts = np.flatnonzero(np.diff(documents.strata, prepend=-1))
    means = np.add.reduceat(documents.exposures, starts, axis=1) / np.bincount(documents.strata)
    centred = np.where(counts[:, documents.queries], documents.exposures - means[:, documents.strata], 0.0)
    largest = documents.exposures.max(axis=1, initial=0.0, keepdims=True)
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

    def sums(exposure: FloatArray, places: IntArray) -> Sums:
        differences = np.add.reduceat(exposure[places], claims.starts, axis=1)
        added = np.add.reduceat(differences, starts, axis=1)
        return added, np.add.reduceat(np.square(differences, out=differences), starts, axis=1)

    by_run = [sums(exposure, claims.documents[None, :]) for exposure in exposures]
    observed = np.concatenate([one for one, _ in by_run]), np.concatenate([two for _, two in by_run])
    least = _r(*observed) * (1 - 1e-9) - TOLERANCE
    as_large = np.zeros(least.shape, np.int64)
    with Progress("permuting providers", num_resamples, shown=show_progress) as progress:
        for orders in _orders(strata, num_resamples, seed):
            for rows in slices(len(orders), len(claims.documents), _BLOCK):
                places = orders[rows][:, claims.documents]
                for s, exposure in enumerate(exposures):
                    as_large[s] += (_r(*sums(exposure, places)) >= least[s]).sum(axis=0)
            progress.advance(len(orders))
    return observed, as_large


def _r(added: FloatArray, squares: FloatArray) -> FloatArray:
    # T² = (Q - 1) r / (Q - r) grows with r: compare r, which stays finite where all D are equal.
    return np.divide(added**2, squares, out=np.zeros_like(added), where=squares > TOLERANCE**2)


def _t(added: FloatArray, squares: FloatArray, numbers: IntArray) -> FloatArray:
    """Return T from the sums of D and of D²; infinite if all D are equal, 0 if all are 0."""
    r = _r(added, squares)
    rest = np.where(numbers - r <= TOLERANCE * numbers, 0.0, numbers - r)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(r > 0, np.sign(added) * np.sqrt((numbers - 1) * r / rest), 0.0)


def _orders(strata: IntArray, num_resamples: int, seed: int) -> Iterator[IntArray]:
    """Give orders of the documents at random within each stratum, in blocks [B, N], whatever their size.

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

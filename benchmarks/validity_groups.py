"""Counts what is found on real values where nothing is to be found: equal means of groups, providers treated alike.

Belongs here: drawing from real values so that the truth is known, and counting. Not here: simulated values
(validity_over), batches, and how counts are kept (validity).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from validity_real import COLLECTIONS, as_pairs, values_of

from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.measures.ownership import OwnedDocuments, owned_documents
from lexirecall.measures.providers import Shares
from lexirecall.statistics import bootstrap_exposures, interactions, permute_owners

ALPHA = 0.05
RESAMPLES = 999
SIZES = ((20, 20, 20), (10, 20, 90), (90, 20, 10))
SPREADS = (1, 3)
"""By what the differences of the first group are multiplied."""
MEASURES = ("AP", "R@1000", "RR")
QUERIES = (10, 20, 50, 100)
OWNED = (0.4, 0.25, 0.15, 0.1, 0.06, 0.04)
"""What share of the documents each provider has, whatever their places."""
FEWEST = (5, 50)
"""Intervals of ratios are counted of providers with so many queries: what was shown before, and what is shown now."""


@dataclass(frozen=True)
class RealGrouped:
    """Groups of queries whose differences are those of two pairs of runs, less their means."""

    collection: str
    measure: str
    sizes: tuple[int, ...]
    """Of the groups."""
    spread: int


@dataclass(frozen=True)
class Provided:
    """A run and some queries, whose relevant documents are handed out to providers at random."""

    collection: str
    num_queries: int


def real_groups() -> Iterator[RealGrouped]:
    for each in product(COLLECTIONS, MEASURES, SIZES, SPREADS):
        yield RealGrouped(*each)


def provided() -> Iterator[Provided]:
    for name in COLLECTIONS:
        available = len(np.unique(documents_of(name).queries))
        yield from (Provided(name, number) for number in QUERIES if number <= available)


@lru_cache(maxsize=8)
def documents_of(collection: str) -> OwnedDocuments:
    """Return the relevant documents of every query, and where each run has them."""
    return owned_documents(COLLECTIONS[collection].positions.at_level(1), "ap", 0.8)


def centred_differences(values: FloatArray) -> FloatArray:
    """Return the differences of every pair of runs, less their mean, [P, Q]."""
    first, second = np.triu_indices(len(values), 1)
    differences = values[first] - values[second]
    varying = differences[np.count_nonzero(differences, axis=1) >= 8]
    return np.asarray(varying - varying.mean(axis=1, keepdims=True))


def vary_really(grouped: RealGrouped, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Draw the first group from the differences of one pair and the others from those of another: all means are 0."""
    differences, sizes = centred_differences(values_of(grouped.collection, grouped.measure)), grouped.sizes
    labels = np.repeat(np.arange(len(sizes)), sizes)
    pvalues = np.empty(num_sets)
    for k in range(num_sets):  # each with its own permutations: the error of all would hang on a few extreme ones
        one, other = rng.choice(len(differences), 2, replace=False)
        pools = [grouped.spread * differences[one], *[differences[other]] * (len(sizes) - 1)]
        drawn = np.concatenate([rng.choice(pool, n) for pool, n in zip(pools, sizes, strict=True)])
        test = interactions(as_pairs(drawn[None]), labels, num_resamples=RESAMPLES, seed=int(rng.integers(2**31)))
        pvalues[k] = test.pvalues[0]
    return {"sets": num_sets, "tested": int((~np.isnan(pvalues)).sum()), "found": int((pvalues < ALPHA).sum())}


def drawn_documents(documents: OwnedDocuments, num_queries: int, rng: np.random.Generator) -> OwnedDocuments:
    """Draw queries and a run, and hand the documents out to providers at random."""
    chosen = rng.choice(np.unique(documents.queries), num_queries, replace=False)
    kept = np.isin(documents.queries, chosen)
    number = int(kept.sum())
    queries = np.unique(documents.queries[kept], return_inverse=True)[1]
    strata = np.unique(documents.strata[kept], return_inverse=True)[1]
    exposures = documents.exposures[rng.integers(len(documents.exposures))][None, kept]
    owners = rng.choice(len(OWNED), number, p=OWNED)
    return OwnedDocuments(queries, strata, exposures, offsets_of(np.ones(number, np.int64)), owners)


def shares_of(documents: OwnedDocuments) -> Shares:
    """Add up the exposures of documents with one owner each."""
    keys, pair = np.unique(documents.queries * len(OWNED) + documents.owners, return_inverse=True)
    exposures = np.bincount(pair, documents.exposures[0]).astype(float)[None, :]
    return Shares(keys // len(OWNED), keys % len(OWNED), np.bincount(pair), exposures)


def single_out(documents: OwnedDocuments, rng: np.random.Generator) -> dict[str, float]:
    """Count whether any provider is found to be placed apart, and the intervals of ratios that leave 1 out."""
    num_queries, seed = int(documents.queries.max()) + 1, int(rng.integers(2**31))
    tested = permute_owners(documents, np.ones((1, num_queries), bool), seed=seed)
    shares = shares_of(documents)
    pairs: IntArray = np.bincount(shares.providers, minlength=len(OWNED))[np.unique(shares.providers)]
    made = bootstrap_exposures(
        shares, np.ones((1, len(shares.queries)), bool), np.ones((1, len(pairs)), bool), num_resamples=RESAMPLES
    )
    leaves_out = (made.ratio_lows[0] > 1) | (made.ratio_highs[0] < 1)
    intervals = {f"intervals {fewest}": int((pairs >= fewest).sum()) for fewest in FEWEST}
    wrong = {f"wrong {fewest}": int(leaves_out[pairs >= fewest].sum()) for fewest in FEWEST}
    return {"sets": 1, "found": int((tested.corrected < ALPHA).any()), **intervals, **wrong}


def single_them_out(provided: Provided, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count in many draws."""
    documents = documents_of(provided.collection)
    found = [single_out(drawn_documents(documents, provided.num_queries, rng), rng) for _ in range(num_sets)]
    return {each: sum(own[each] for own in found) for each in found[0]}

"""Counts how often tests of all pairs of runs find differences that are not there: of simulated and of real runs.

Belongs here: drawing runs of which some are equally good, and counting. Not here: the tests themselves
(lexirecall.statistics), batches, and how counts are kept (validity).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtr
from validity_real import COLLECTIONS, LEXI_RECALL, as_pairs, differing, values_of

from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.preferences import LEXI_RECALL as LEXI_RECALL_OF_RANKINGS
from lexirecall.segments import Segments
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.hsd import randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.maxt import max_t
from lexirecall.statistics.paired import paired_t, randomization, sign_test, wilcoxon
from lexirecall.tracks import RunPositions, Tracks

ALPHA = 0.05


# Runs that are simulated


@dataclass(frozen=True)
class Family:
    """All pairs of some runs, compared on n queries."""

    response: str
    """One of POWERS, or "preference"."""
    effects: str
    """One of EFFECTS."""
    num_runs: int
    num_queries: int
    num_resamples: int = 999
    """Of randomization, max-T and the randomized HSD."""


POWERS = {"measure": 3, "sparse": 30}
"""A measure is a standard normal variable's chance to the power k: skewed between 0 and 1, and sparse for a large k."""
EFFECTS = ("none", "better", "variants")
"""No run differs; the second half is better; or the last quarter is better, and the rest are variants of one run."""
SHARED = 0.9  # share of the queries on which a variant ranks as the run that it was made of
RANDOMIZED = 4999  # resamples for randomization: with 999 no p corrected for 20 runs could be below .05
FAMILIES = [
    Family(*kind, *size)
    for size in ((8, 50), (5, 20), (20, 50), (8, 200))
    for kind in product((*POWERS, "preference"), EFFECTS)
]
RELEVANT, DEPTH = 3, 100  # relevant documents of a query, and documents that a run returns


def groups(family: Family) -> IntArray:
    """Return the group of each run, [S]: runs of one group are equally good."""
    shares = {"none": 1.0, "better": 0.5, "variants": 0.75}
    return np.array(np.arange(family.num_runs) >= shares[family.effects] * family.num_runs, np.int64)


def draw_noise(family: Family, num_sets: int, depth: int, rng: np.random.Generator) -> FloatArray:
    """Draw what a run makes of each query, without the effect of the query, [S, R, n, depth]."""
    shape = num_sets, family.num_queries
    noise = rng.normal(size=(family.num_runs, *shape, depth))
    if family.effects == "variants":
        members = np.flatnonzero(groups(family) == 0)
        is_shared = rng.random((len(members), *shape, 1)) < SHARED
        noise[members] = np.where(is_shared, rng.normal(size=(*shape, depth)), noise[members])
    return np.asarray(noise + 0.5 * groups(family)[:, None, None, None])


def draw_measure(family: Family, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw the values of a measure, [S, R, n]: half of what makes them vary is the query, as for all runs."""
    queries = rng.normal(size=(num_sets, family.num_queries))
    latent = (queries + draw_noise(family, num_sets, 1, rng)[..., 0]) / np.sqrt(2)
    return np.asarray(ndtr(latent) ** POWERS[family.response])


def draw_preferences(family: Family, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw rankings, and return LexiRecall between each pair of runs, [S, S, R, n]."""
    queries = rng.normal(size=(num_sets, family.num_queries, 1))
    depths = np.exp(3.5 + 1.5 * queries - draw_noise(family, num_sets, RELEVANT, rng))
    places = np.sort(depths, axis=-1).astype(np.int64) + np.arange(1, RELEVANT + 1)
    num_queries = num_sets * family.num_queries
    judgments = Judgments.from_grades(
        {str(q).encode(): {str(i).encode(): 1.0 for i in range(RELEVANT)} for q in range(num_queries)}
    )
    runs = [as_run(str(s), each.reshape(num_queries, RELEVANT)) for s, each in enumerate(places)]
    pairs = LEXI_RECALL_OF_RANKINGS.pairs(Positions.stack(judgments, runs, Conventions()).at_level(1))
    return pairs.values.reshape(*pairs.values.shape[:2], num_sets, family.num_queries).astype(float)


def as_run(name: str, places: IntArray) -> RunPositions:
    """Return a run that has the relevant documents of each query at these places, [Q, m], as far as it goes."""
    is_found = places <= DEPTH
    all_of_them = Tracks(Segments(np.arange(len(places) + 1) * places.shape[1]), places.ravel(), np.arange(places.size))
    answered, retrieved = np.ones(len(places), bool), np.full(len(places), DEPTH)
    return RunPositions(name, answered, retrieved, all_of_them.filter(is_found.ravel()), None)


def err(family: Family, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count in how many data sets each test finds a difference between equally good runs."""
    a, b = np.triu_indices(family.num_runs, 1)
    if family.response == "preference":
        preferences = draw_preferences(family, num_sets, rng)
        values, responses = preferences[a, b], preferences.sum(axis=1) / (family.num_runs - 1)
    else:
        responses = draw_measure(family, num_sets, rng)
        values = responses[a] - responses[b]
    values, responses = values.swapaxes(0, 1), responses.swapaxes(0, 1)  # [R, P, n] and [R, S, n]
    is_null = groups(family)[a] == groups(family)[b]
    effective = as_pairs(values[:, is_null].reshape(-1, family.num_queries)).effective
    found = {
        test: int((pvalues[:, is_null] < ALPHA).any(axis=1).sum())
        for test, pvalues in corrected_pvalues(
            values, responses, rng, is_signs=family.response == "preference", num_resamples=family.num_resamples
        )
    }
    return {"sets": num_sets, "effective": float(np.nanmedian(effective)) * num_sets, **found}


def corrected_pvalues(
    values: FloatArray, responses: FloatArray, rng: np.random.Generator, *, is_signs: bool, num_resamples: int
) -> Iterator[tuple[str, FloatArray]]:
    """Give the p of all pairs with regard to all of them, [R, P], by test; from differences and values of runs."""
    num_sets, num_pairs, num_queries = values.shape
    together = as_pairs(values.reshape(-1, num_queries), is_signs=is_signs)
    yield "t", holm(paired_t(together).pvalues, num_pairs)
    yield "sign", holm(sign_test(together).pvalues, num_pairs)
    # Only p is wanted, which is the same for signs, and signs have no pseudomedian, which takes most of the time.
    yield "wilcoxon", holm(wilcoxon(replace(together, is_signs=True)).pvalues, num_pairs)
    # Each data set has its own flips: the error of all would hang on a few extreme ones.
    seeds = rng.integers(2**31, size=(num_sets,)).tolist()
    apart = [as_pairs(each, is_signs=is_signs) for each in values]
    num_flips = RANDOMIZED if num_pairs > 100 else num_resamples
    flipped = [randomization(d, num_resamples=num_flips, seed=s).pvalues for d, s in zip(apart, seeds, strict=True)]
    yield "randomization", holm(np.concatenate(flipped), num_pairs)
    settings: dict[str, Any] = {"num_resamples": num_resamples, "show_progress": False}
    largest = [max_t(d, seed=s, **settings).pvalues for d, s in zip(apart, seeds, strict=True)]
    yield "max-t", np.stack(largest)
    yield "hsd", np.stack([tukey_hsd(each).pvalues for each in responses])
    names = [f"{s:03}" for s in range(responses.shape[1])]
    permuted = randomized_tukey_hsd(list(responses), names=names, seed=seeds[0], **settings)
    yield "randomized-hsd", np.stack([each.pvalues for each in permuted])


def holm(pvalues: FloatArray, num_pairs: int) -> FloatArray:
    """Correct the p of each data set by itself, [R, P]."""
    return np.stack([correct(each, "holm") for each in pvalues.reshape(-1, num_pairs)])


# Real runs


@dataclass(frozen=True)
class RealFamily:
    """All pairs of some real runs, compared on a sample of the queries."""

    collection: str
    null: str
    """One of NULLS."""
    measure: str
    num_runs: int
    num_queries: int


VALUES = ("AP", "nDCG@10", "RR", "R@1000", "TSE")
RESAMPLES = 999


def permuted(
    values: FloatArray, num_runs: int, queries: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return values of some runs, of which the first half are handed out among each other anew on each query, [S, Q].

    These do not differ, whatever their values are; the others are left as they are. Nothing is to be taken off, [S].
    """
    drawn = values[rng.permutation(len(values))[:num_runs]][:, queries]
    half = num_runs // 2
    drawn[:half] = rng.permuted(drawn[:half], axis=0)
    return drawn, np.zeros(num_runs)


def centred(
    values: FloatArray, num_runs: int, queries: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return values of some runs, [S, Q], and their means over all queries, [S]: less these no mean differs."""
    runs = rng.permutation(len(values))[:num_runs]
    return values[runs][:, queries], values[runs].mean(axis=1)


NULLS = {"permuted": permuted, "centred": centred}
_FEW_RUNS, _MANY_RUNS = (8, (10, 20, 50)), (16, (50,))


def real_families() -> Iterator[RealFamily]:
    for collection, (runs, sizes) in product(COLLECTIONS, (_FEW_RUNS, _MANY_RUNS)):
        for size, null, measure in product(sizes, NULLS, (*VALUES, LEXI_RECALL)):
            if (null, measure) != ("centred", LEXI_RECALL):  # a sign has no mean that could be taken away
                yield RealFamily(collection, null, measure, runs, size)


def count_real(family: RealFamily, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count in how many samples each test finds any difference between runs that do not differ.

    Centred runs no longer tie where they did, and nearly all queries of two that hardly differ seem to. So pairs that
    the sample says to rest on few queries are left as they are, and what is found of them is not counted: they have no
    letter about their means.
    """
    values, is_signs = values_of(family.collection, family.measure), family.measure == LEXI_RECALL
    queries = rng.integers(values.shape[1], size=(num_sets, family.num_queries))
    made = (NULLS[family.null](values, family.num_runs, own, rng) for own in queries)
    drawn, means = (np.stack(each) for each in zip(*made, strict=True))
    a, b = np.triu_indices(family.num_runs, 1)
    seen = differing(drawn[:, a], drawn[:, b], family.measure)
    as_seen = as_pairs(seen.reshape(-1, family.num_queries), is_signs=is_signs)
    by_signs = as_seen.is_by_signs.reshape(num_sets, -1)
    shifted = drawn - means[..., None]
    differences = np.where(by_signs[..., None], seen, differing(shifted[:, a], shifted[:, b], family.measure))
    if is_signs:  # the response of a preference is its mean against the other runs
        shifted = np.sign(drawn[:, :, None] - drawn[:, None]).sum(axis=2) / (family.num_runs - 1)
    tests = dict(corrected_pvalues(differences, shifted, rng, is_signs=is_signs, num_resamples=RESAMPLES))
    together = as_pairs(differences.reshape(-1, family.num_queries), is_signs=is_signs)
    chosen = np.where(by_signs.ravel(), sign_test(as_seen).pvalues, paired_t(together).pvalues)
    tests["auto"] = holm(chosen, len(a))
    is_null = ~by_signs if family.null == "centred" else np.broadcast_to(b < family.num_runs // 2, by_signs.shape)
    found: dict[str, float] = {test: int((is_null & (p < ALPHA)).any(axis=1).sum()) for test, p in tests.items()}
    return {"sets": num_sets, **found}

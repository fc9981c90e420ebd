"""Counts how often a gate raises a false alarm, notices a loss, and lets a loss as large as its margin pass.

Belongs here: drawing differences between a new run and its baseline of which the truth is known, simulated or from
real runs, and counting what the gate decides. Not here: batches, and how counts are kept (validity).
"""

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations, product
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from validity_real import COLLECTIONS, LEXI_RECALL, differing, drawn_pairs, sizes_of, values_of

from lexirecall.gates.baselinepairs import BaselineDifference, compared_by
from lexirecall.gates.decisions import Decision, decide
from lexirecall.gates.ledger import BuildIdentity, Ledger
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.names import parse_measure, parse_preference
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.gates import level_of_build

ALPHA = 0.05
BUILDS = 20
KEPT = 0.9  # share of the queries on which a build ranks as the one before it
DRAWN = 0.8  # share of the queries on which a build is tested, if they differ
MARGINS = {"LexiRecall": 0.1, "measure": 0.02, "gains": 0.2, "losses": 0.2}
"""Of preferences a share of the queries, of measures on their scale; that of skewed ones has the deviation 1."""


@dataclass(frozen=True)
class Gated:
    """A new run that is as good as its baseline, or worse by what the gate says that it notices."""

    response: str
    """One of MARGINS, or "three": LexiRecall and two measures."""
    num_queries: int
    ties: float
    """The chance that a query is tied."""


@dataclass(frozen=True)
class Ledgered:
    """Builds on the same queries, all as good as the baseline."""

    response: str
    builds: str
    """One of SEQUENCES."""
    num_queries: int


@dataclass(frozen=True)
class Margined:
    """A new run that is worse by exactly the margin, or as good as its baseline."""

    response: str
    num_queries: int
    ties: float


SEQUENCES = ("apart", "variants", "sampled")
"""Each build is made anew; or it changes a tenth of the queries; or it changes as many, and is tested on a sample."""
GATED = [Gated(*each) for each in product((*MARGINS, "three"), (20, 50, 200), (0.2, 0.5, 0.8))]
LEDGERED = [Ledgered(*each) for each in product(("LexiRecall", "measure"), SEQUENCES, (50, 200))]
MARGINED = [Margined(*each) for each in product(MARGINS, (50, 200), (0.0, 0.5, 0.8))]


# Drawing


def draw_sizes(response: str, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw differences with the mean 0 before ties.

    Those of a measure are differences between two values Φ(z)^3, where half of the variance of z is that of the query.
    Of gains, a few are large and most queries lose a little; losses are the other way round.
    """
    if response == "LexiRecall":
        return np.where(rng.random(shape) < 0.5, 1.0, -1.0)
    if response == "measure":
        queries = rng.normal(size=shape)
        new, old = (ndtr((queries + rng.normal(size=shape)) / np.sqrt(2)) ** 3 for _ in range(2))
        return np.asarray(new - old)
    skewed = rng.exponential(size=shape) - 1
    return np.asarray(skewed if response == "gains" else -skewed)


def draw_tied(response: str, shape: tuple[int, ...], ties: float, rng: np.random.Generator) -> FloatArray:
    """Draw differences of which some are 0."""
    return np.asarray(draw_sizes(response, shape, rng) * (rng.random(shape) >= ties))


@lru_cache(maxsize=8)
def deviation_of(response: str) -> float:
    """Return the standard deviation of differences without ties.

    >>> deviation_of("LexiRecall"), round(deviation_of("measure"), 2)
    (1.0, 0.3)
    """
    if response != "measure":
        return 1.0
    return float(draw_sizes(response, (4_000_000,), np.random.default_rng(0)).std())


def draw_builds(ledgered: Ledgered, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw what each build makes of each query less what the baseline does, [R, builds, n]; a sign for LexiRecall.

    A query that a build is not tested on is nan.
    """
    shape = num_sets, BUILDS, ledgered.num_queries
    own = rng.normal(size=shape)
    if ledgered.builds != "apart":
        is_kept = rng.random(shape) < KEPT
        for build in range(1, BUILDS):
            own[:, build] = np.where(is_kept[:, build], own[:, build - 1], own[:, build])
    queries, baseline = (rng.normal(size=(num_sets, 1, ledgered.num_queries)) for _ in range(2))
    new, old = (ndtr((queries + each) / np.sqrt(2)) ** 3 for each in (own, baseline))
    differences = np.sign(new - old) if ledgered.response == "LexiRecall" else new - old
    is_drawn = rng.random(shape) < (DRAWN if ledgered.builds == "sampled" else 1.0)
    return np.where(is_drawn, differences, np.nan)


# Deciding


def compared(values: FloatArray, level: float, *, is_signs: bool) -> list[BaselineDifference]:
    """Compare a new run with its baseline on each row of differences, [R, n], as the gate does; nan is not compared."""
    counted: BoolArray = ~np.isnan(values)
    first = np.zeros(len(values), np.int64)
    pairs = Differences(first, first + 1, np.where(counted, values, 0.0), counted, is_signs=is_signs)
    if not is_signs:
        return [compared_by(parse_measure("AP"), pairs.at(slice(r, r + 1)), level) for r in range(len(values))]
    # whatever has as many wins and losses is compared alike, and there are few such numbers
    counts = np.stack([pairs.wins, pairs.losses, pairs.num_compared])
    _, first_of, which = np.unique(counts, axis=1, return_index=True, return_inverse=True)
    row = parse_preference("LexiRecall")
    made = [compared_by(row, pairs.at(slice(r, r + 1)), level) for r in first_of.tolist()]
    return [made[k] for k in which.ravel().tolist()]


def decided(values: FloatArray, alpha: float, margin: float | None, *, is_signs: bool) -> list[Decision]:
    """Decide on each row by itself."""
    rows = compared(values, alpha, is_signs=is_signs)
    return [decide([each], alpha, margin, are_identical=False)[0] for each in rows]


def num_failed(values: FloatArray, alpha: float, margin: float | None, *, is_signs: bool) -> int:
    """Count the rows on which the gate fails."""
    return sum(each.fails for each in decided(values, alpha, margin, is_signs=is_signs))


def noticed(response: str, num_queries: int, ties: float, margin: float | None) -> float:
    """Return the loss that the gate says that it notices, or the margin with which it says that a good run passes.

    >>> [round(noticed("LexiRecall", 50, ties, None), 4) for ties in (1.0, 0.8, 0.2)]
    [0.1308, 0.2224, 0.337]
    >>> round(noticed("measure", 50, 0.0, None), 3)
    0.106
    """
    is_signs = response == "LexiRecall"
    (one,) = compared(np.zeros((1, num_queries)), ALPHA, is_signs=is_signs)
    if is_signs:
        moving = round((1 - ties) * num_queries)
        one = replace(one, wins=moving // 2, losses=moving - moving // 2, ties=num_queries - moving)
    known = replace(one, deviation=deviation_of(response) * math.sqrt(1 - ties))
    return decide([known], ALPHA, margin, are_identical=False)[0].noticed


# Counting


def count_gated(gated: Gated, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count false alarms, and the losses that are noticed."""
    shape = num_sets, gated.num_queries
    if gated.response == "three":
        return {"sets": num_sets, "alarms": _alarms_of_three(shape, gated.ties, rng)}
    is_signs = gated.response == "LexiRecall"
    equal = draw_tied(gated.response, shape, gated.ties, rng)
    loss = noticed(gated.response, gated.num_queries, gated.ties, None)
    worse = np.where(rng.random(shape) < loss, -1.0, equal) if is_signs else equal - loss
    return {
        "sets": num_sets,
        "alarms": num_failed(equal, ALPHA, None, is_signs=is_signs),
        "noticed": num_failed(worse, ALPHA, None, is_signs=is_signs),
    }


def _alarms_of_three(shape: tuple[int, int], ties: float, rng: np.random.Generator) -> int:
    """Count the sets in which the gate fails by LexiRecall or one of two measures that are half alike."""
    first, second = (draw_sizes("measure", shape, rng) for _ in range(2))
    untied = rng.random(shape) >= ties
    first, second = first * untied, (first + second) / 2 * untied
    each = [
        compared(values, ALPHA / 3, is_signs=is_signs)
        for values, is_signs in ((np.sign(first), True), (first, False), (second, False))
    ]
    together = (decide(three, ALPHA, None, are_identical=False) for three in zip(*each, strict=True))
    return sum(any(decision.fails for decision in decisions) for decisions in together)


def numbers_of_builds(queries: FloatArray) -> list[int]:
    """Return the number that the ledger gives to each build, tested on the queries that are not nan, [builds, n]."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "builds.jsonl")
        ids = [[str(q) for q in np.flatnonzero(~np.isnan(build))] for build in queries]
        looks = (BuildIdentity(tuple(each), "", str(build)) for build, each in enumerate(ids))
        return [ledger.begin(look, ALPHA).number for look in looks]


def count_ledgered(ledgered: Ledgered, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count the sequences of builds in which the gate raises any alarm, with a ledger and without one."""
    builds = draw_builds(ledgered, num_sets, rng)
    is_signs = ledgered.response == "LexiRecall"
    numbers = numbers_of_builds(builds[0])
    alarms = {name: np.zeros(num_sets, bool) for name in ("with", "without")}
    for build, number in enumerate(numbers):
        rows = compared(builds[:, build], ALPHA, is_signs=is_signs)
        for name, level in (("with", level_of_build(ALPHA, number)), ("without", ALPHA)):
            alarms[name] |= [decide([row], level, None, are_identical=False)[0].fails for row in rows]
    return {"sets": num_sets, **{name: int(each.sum()) for name, each in alarms.items()}}


def count_margined(margined: Margined, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count the losses of exactly the margin that pass, and the equally good runs that do."""
    shape = num_sets, margined.num_queries
    is_signs, margin = margined.response == "LexiRecall", MARGINS[margined.response]
    equal = draw_tied(margined.response, shape, margined.ties, rng)
    worse = draw_worse_signs(shape, margined.ties, margin, rng) if is_signs else equal - margin
    wide = noticed(margined.response, margined.num_queries, margined.ties, 0.0)
    return {
        "sets": num_sets,
        "let through": num_sets - num_failed(worse, ALPHA, margin, is_signs=is_signs),
        "passed": num_sets - num_failed(equal, ALPHA, wide, is_signs=is_signs),
    }


def draw_worse_signs(shape: tuple[int, int], ties: float, margin: float, rng: np.random.Generator) -> FloatArray:
    """Draw signs whose mean is -margin, with so many ties."""
    drawn = rng.random(shape)
    lost = (1 - ties + margin) / 2
    return np.where(drawn < lost, -1.0, np.where(drawn < 1 - ties, 1.0, 0.0))


# Real runs


@dataclass(frozen=True)
class RealAlarm:
    """A new run that is as good as its baseline: two real runs."""

    collection: str
    null: str
    """swapped: their labels are exchanged on a random half of the queries; tilted: queries are not equally likely."""
    measure: str
    """Or "default": the number found, and LexiRecall."""
    num_queries: int


@dataclass(frozen=True)
class Breaking:
    """A change that loses a document on some queries, while others move at random."""

    collection: str
    moves: str
    """What moves on the others: the order alone, or also which documents are found."""
    moving: float
    """On what share of the others."""
    num_queries: int


DEFAULT, FOUND = "default", "NumRelRet"
REAL_VALUES = ("AP", "nDCG@10", "RR", "R@100")
MOVING = (0.2, 0.5, 0.8)
MOVES = ("order", "order and finds")
BROKEN = 0.16  # of the queries, beside what the gate says that it notices


def real_alarms() -> Iterator[RealAlarm]:
    for collection, null in product(COLLECTIONS, ("swapped", "tilted")):
        for measure, size in product((DEFAULT, *REAL_VALUES), sizes_of(collection)):
            if (null, measure) != ("tilted", DEFAULT):
                yield RealAlarm(collection, null, measure, size)


def breakings() -> Iterator[Breaking]:
    for collection in COLLECTIONS:
        for moves, moving, size in product(MOVES, MOVING, sizes_of(collection)):
            yield Breaking(collection, moves, moving, size)


def drawn_differences(collection: str, measure: str, queries: IntArray, pairs: tuple[IntArray, IntArray]) -> FloatArray:
    """Return by how much the first run of each pair is better on these queries, [R, n]."""
    values, (first, second) = values_of(collection, measure), pairs
    return differing(values[first[:, None], queries], values[second[:, None], queries], measure)


def default_gate(*found_and_preferred: FloatArray) -> list[tuple[Decision, ...]]:
    """Decide by the number found and by LexiRecall, as the gate does if no measure is named."""
    both = [compared(np.sign(each), ALPHA / 2, is_signs=True) for each in found_and_preferred]
    return [decide(each, ALPHA, None, are_identical=False) for each in zip(*both, strict=True)]


def tilted(differences: FloatArray) -> FloatArray:
    """Return chances of the queries, ∝ exp(c d), with which the mean difference is 0: ties stay, and so does the skew.

    >>> tilted(np.array([0.0, 1.0, -1.0, -1.0])).round(3).tolist()
    [0.261, 0.369, 0.185, 0.185]
    """
    scaled = differences / np.abs(differences).max()

    def weights(c: float) -> FloatArray:
        return np.asarray(np.exp(c * scaled - abs(c)))

    c = brentq(lambda c: float(weights(c) @ scaled), -500, 500)
    return np.asarray(weights(c) / weights(c).sum())


@lru_cache(maxsize=16)
def tilted_pairs(collection: str, measure: str) -> list[tuple[FloatArray, FloatArray]]:
    """Return the differences of each pair of runs, either way round, and the chances of the queries."""
    values = values_of(collection, measure)
    pairs = (differing(values[a], values[b], measure) for a, b in permutations(range(len(values)), 2))
    return [(each, tilted(each)) for each in pairs if each.min() < 0 < each.max()]


def count_real_alarms(asked: RealAlarm, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count how often the gate fails a run that is as good as its baseline."""
    shape = num_sets, asked.num_queries
    if asked.null == "tilted":
        pairs = tilted_pairs(asked.collection, asked.measure)
        chosen = (pairs[k] for k in rng.integers(len(pairs), size=num_sets))
        drawn = np.stack([rng.choice(own, asked.num_queries, p=chances) for own, chances in chosen])
        return {"sets": num_sets, "alarms": num_failed(drawn, ALPHA, None, is_signs=False)}
    names = (FOUND, LEXI_RECALL) if asked.measure == DEFAULT else (asked.measure,)
    values = values_of(asked.collection, names[0])
    both, queries = drawn_pairs(len(values), num_sets, rng), rng.integers(values.shape[1], size=shape)
    signs = np.where(rng.random(shape) < 0.5, 1.0, -1.0)
    swapped = [signs * drawn_differences(asked.collection, name, queries, both) for name in names]
    if asked.measure == DEFAULT:
        alarms = sum(any(each.fails for each in decisions) for decisions in default_gate(*swapped))
    else:
        alarms = num_failed(swapped[0], ALPHA, None, is_signs=False)
    return {"sets": num_sets, "alarms": alarms}


@lru_cache(maxsize=1024)
def _said(num_queries: int, num_untied: int) -> float:
    """Return the share of broken queries that the default gate says it notices by the number found."""
    signs = np.where(np.arange(num_queries) < num_untied, 1.0, 0.0)[None]
    ((decision, _),) = default_gate(signs, signs)
    return min(decision.noticed, 1.0)


def count_breaking(asked: Breaking, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count how often the gate notices that as many queries as it says, and some others, lose a document.

    Where a query moves, two real runs are exchanged or not, at random; elsewhere both are the same. A query that loses
    a document is worse by the number found and by LexiRecall, whatever else moves.
    """
    values = values_of(asked.collection, FOUND)
    pairs, shape = drawn_pairs(len(values), num_sets, rng), (num_sets, asked.num_queries)
    queries = rng.integers(values.shape[1], size=shape)
    signs = np.where(rng.random(shape) < asked.moving, np.where(rng.random(shape) < 0.5, 1.0, -1.0), 0.0)
    found, preferred = (
        signs * drawn_differences(asked.collection, name, queries, pairs) for name in (FOUND, LEXI_RECALL)
    )
    if asked.moves == "order":
        found = np.zeros(shape)
    counts = {"sets": num_sets, "said": 0.0, "noticed": 0, "broken": 0, "broken by LexiRecall": 0}
    chances = rng.random(shape)
    said = np.array([_said(asked.num_queries, moved) for moved in np.count_nonzero(found, axis=1).tolist()])
    lost, broken = chances < said[:, None], chances < BROKEN
    counts["said"] = float(said.sum())
    for what, is_lost in (("noticed", lost), ("broken", broken)):
        worse = (np.where(is_lost, -1.0, own) for own in (found, preferred))
        counts[what] = sum(any(each.fails for each in decisions) for decisions in default_gate(*worse))
    counts["broken by LexiRecall"] = num_failed(np.where(broken, -1.0, np.sign(preferred)), ALPHA, None, is_signs=True)
    return counts

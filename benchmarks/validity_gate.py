"""Simulates how often a gate raises a false alarm, notices a loss, and lets a loss as large as its margin pass.

Belongs here: drawing differences between a new run and its baseline of which the truth is known, and counting what the
gate decides. Not here: batches, and how counts are kept (validity), the page (validity_page).
"""

import math
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from lexirecall.gates.comparing import Compared
from lexirecall.gates.decisions import Decision, decide
from lexirecall.gates.ledger import Ledger
from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.names import parse_measure, parse_preference
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.gates import chance_of_losses, chance_of_worse, level_of_build
from lexirecall.statistics.paired import paired_t, sign_test
from lexirecall.statistics.proportions import preference_interval

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
    num_requests: int
    ties: float
    """The chance that a query is tied."""


@dataclass(frozen=True)
class Ledgered:
    """Builds on the same queries, all as good as the baseline."""

    response: str
    builds: str
    """One of SEQUENCES."""
    num_requests: int


@dataclass(frozen=True)
class Margined:
    """A new run that is worse by exactly the margin, or as good as its baseline."""

    response: str
    num_requests: int
    ties: float


SEQUENCES = ("apart", "variants", "sampled")
"""Each build is made anew; or it changes a tenth of the queries; or it changes as many, and is tested on a sample."""
GATED = [Gated(*each) for each in product((*MARGINS, "three"), (20, 50, 200), (0.0, 0.5, 0.8))]
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
    shape = num_sets, BUILDS, ledgered.num_requests
    own = rng.normal(size=shape)
    if ledgered.builds != "apart":
        is_kept = rng.random(shape) < KEPT
        for build in range(1, BUILDS):
            own[:, build] = np.where(is_kept[:, build], own[:, build - 1], own[:, build])
    queries, baseline = (rng.normal(size=(num_sets, 1, ledgered.num_requests)) for _ in range(2))
    new, old = (ndtr((queries + each) / np.sqrt(2)) ** 3 for each in (own, baseline))
    differences = np.sign(new - old) if ledgered.response == "LexiRecall" else new - old
    is_drawn = rng.random(shape) < (DRAWN if ledgered.builds == "sampled" else 1.0)
    return np.where(is_drawn, differences, np.nan)


# Deciding


def compared(values: FloatArray, level: float, *, is_signs: bool) -> list[Compared]:
    """Compare a new run with its baseline on each row of differences, [R, n], as the gate does; nan is not compared."""
    counted: BoolArray = ~np.isnan(values)
    first = np.zeros(len(values), np.int64)
    pairs = Differences(first, first + 1, np.where(counted, values, 0.0), counted, is_signs=is_signs)
    test = (sign_test if is_signs else paired_t)(pairs, alpha=2 * level)
    lows, highs = test.lows, test.highs
    if is_signs:
        lows, highs = preference_interval(pairs.wins, pairs.losses, pairs.num_requests, alpha=2 * level)
    row = parse_preference("LexiRecall") if is_signs else parse_measure("AP")
    counts = [each.tolist() for each in (pairs.num_requests, pairs.wins, pairs.ties, pairs.losses)]
    numbers = [each.tolist() for each in (pairs.means, lows, highs, test.pvalues, pairs.deviations)]
    return [
        Compared(
            row, "mean", None, mean, low, high, n, wins, ties, losses, test.method,
            chance_of_losses(wins, losses) if is_signs else chance_of_worse(two_sided, mean), deviation,
        )
        for n, wins, ties, losses, mean, low, high, two_sided, deviation in zip(*counts, *numbers, strict=True)
    ]  # fmt: skip


def decided(values: FloatArray, alpha: float, margin: float | None, *, is_signs: bool) -> list[Decision]:
    """Decide on each row by itself."""
    rows = compared(values, alpha, is_signs=is_signs)
    return [decide([each], alpha, margin, are_identical=False)[0] for each in rows]


def num_failed(values: FloatArray, alpha: float, margin: float | None, *, is_signs: bool) -> int:
    """Count the rows on which the gate fails."""
    return sum(each.fails for each in decided(values, alpha, margin, is_signs=is_signs))


def noticed(response: str, num_requests: int, ties: float, margin: float | None) -> float:
    """Return the loss that the gate says that it notices, or the margin with which it says that a good run passes.

    >>> round(noticed("LexiRecall", 50, 0.0, None), 4), round(noticed("measure", 50, 0.0, None), 3)
    (0.1308, 0.106)
    """
    is_signs = response == "LexiRecall"
    (one,) = compared(np.zeros((1, num_requests)), ALPHA, is_signs=is_signs)
    known = Compared(
        one.measure, one.over, None, 0.0, one.low, one.high, num_requests, 0, num_requests, 0, one.method, 1.0,
        deviation_of(response) * math.sqrt(1 - ties),
    )  # fmt: skip
    return decide([known], ALPHA, margin, are_identical=False)[0].noticed


# Counting


def count_gated(gated: Gated, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count false alarms, and the losses that are noticed."""
    shape = num_sets, gated.num_requests
    if gated.response == "three":
        return {"sets": num_sets, "alarms": _alarms_of_three(shape, gated.ties, rng)}
    is_signs = gated.response == "LexiRecall"
    equal = draw_tied(gated.response, shape, gated.ties, rng)
    loss = noticed(gated.response, gated.num_requests, gated.ties, None)
    worse = -(rng.random(shape) < loss).astype(float) if is_signs else equal - loss
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
        return [ledger.begin(each, ALPHA).number for each in ids]


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
    shape = num_sets, margined.num_requests
    is_signs, margin = margined.response == "LexiRecall", MARGINS[margined.response]
    equal = draw_tied(margined.response, shape, margined.ties, rng)
    worse = draw_worse_signs(shape, margined.ties, margin, rng) if is_signs else equal - margin
    wide = noticed(margined.response, margined.num_requests, margined.ties, 0.0)
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

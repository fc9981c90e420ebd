"""Counts how often intervals hold what they say: of differences that are simulated, and of values of real runs.

Belongs here: drawing, of which the truth is known, and counting. Not here: the intervals (lexirecall.verbs.intervals,
lexirecall.statistics), differences of simulated tails (validity_over), batches, and how counts are kept (validity).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import multinomial
from validity_real import (
    COLLECTIONS,
    KNOWN_DOCUMENT,
    LEXI_RECALL,
    SIGNS,
    as_pairs,
    differing,
    drawn_pairs,
    sizes_of,
    values_of,
)

from lexirecall.aggregation import Certainty
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.names import parse_names
from lexirecall.statistics.overpairs import compare_over
from lexirecall.statistics.paired import paired_t, wilcoxon
from lexirecall.statistics.proportions import preference_interval
from lexirecall.statistics.queryaggregate import QueryAggregate, over_queries
from lexirecall.verbs.intervals import Intervals
from lexirecall.verbs.testing import Testing, run_test

ALPHA = 0.05


# Differences that are simulated


@dataclass(frozen=True)
class Pair:
    """Two runs, compared on n queries."""

    sizes: str
    """How large differences are: one of SIZES, or "signs"."""
    num_queries: int
    ties: float
    """The chance that a query is tied."""
    effect: float
    """What the first run wins minus what it loses, as a share of the untied queries; a shift of normal sizes."""


SIZES = {"normal": 0, "skewed": 2, "few decide": 20}
"""The size of an untied difference is U^k for a uniform U; k = 0 marks a normal difference, shifted by the effect."""
PAIRS = [
    Pair(*each) for each in product(("signs", *SIZES), (20, 50, 200), (0.0, 0.2, 0.5, 0.8), (0.0, 0.25, 0.5, 0.75, 1.0))
]


def coverage_of_signs(pair: Pair) -> float:
    """Return the chance that Tango's interval holds the true mean preference: all outcomes are few, so it is exact."""
    n, untied = pair.num_queries, 1 - pair.ties
    wins, losses = (each[np.add.outer(range(n + 1), range(n + 1)) <= n] for each in np.indices((n + 1, n + 1)))
    lows, highs = preference_interval(wins, losses, np.full(len(wins), n), alpha=ALPHA)
    won, lost = untied * (1 + pair.effect) / 2, untied * (1 - pair.effect) / 2
    chances = multinomial.pmf(np.stack([wins, losses, n - wins - losses], axis=1), n, [won, lost, pair.ties])
    true = untied * pair.effect
    # An end that is the true value up to rounding holds it.
    return float(chances[(lows <= true + 1e-12) & (highs >= true - 1e-12)].sum())


def draw_differences(pair: Pair, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw data sets of n differences each, [R, n]."""
    shape = num_sets, pair.num_queries
    is_untied = rng.random(shape) >= pair.ties
    if pair.sizes == "normal":
        return np.asarray(is_untied * (rng.normal(size=shape) + pair.effect))
    signs = np.where(rng.random(shape) < (1 + pair.effect) / 2, 1.0, -1.0)
    return np.asarray(is_untied * signs * rng.random(shape) ** SIZES[pair.sizes])


def true_mean(pair: Pair) -> float:
    """Return the mean of what `draw_differences` draws; that of U^k is 1/(k + 1), and k = 0 gives the shift.

    >>> true_mean(Pair("skewed", 50, ties=0.5, effect=0.75))
    0.125
    """
    return (1 - pair.ties) * pair.effect / (SIZES[pair.sizes] + 1)


@lru_cache(maxsize=100)
def true_pseudomedian(sizes: str, effect: float) -> float:
    """Return the median of (D + D')/2 for independent untied differences D and D'.

    >>> true_pseudomedian("skewed", 0.0), round(true_pseudomedian("skewed", 1.0), 3)
    (0.0, 0.318)
    """
    if sizes == "normal" or effect == 0:
        return effect
    lost, power = (1 - effect) / 2, SIZES[sizes]
    chances = (np.arange(20_000) + 0.5) / 20_000
    is_lost = chances < lost
    shares = np.where(is_lost, 1 - chances / max(lost, 1e-9), (chances - lost) / (1 - lost))
    values = np.where(is_lost, -1, 1) * np.clip(shares, 0, 1) ** power

    def excess(middle: float) -> float:
        others = 2 * middle - values
        roots = np.minimum(np.abs(others), 1) ** (1 / power)
        return float(np.where(others < 0, lost * (1 - roots), lost + (1 - lost) * roots).mean() - 0.5)

    return float(brentq(excess, -1, 1, xtol=1e-14))


def cover(pair: Pair, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count how many intervals hold the true value, and how many there are, by interval."""
    if pair.sizes == "signs":
        return {"sets": 0, "tango": coverage_of_signs(pair)}
    differences = as_pairs(draw_differences(pair, num_sets, rng))
    t, signed = paired_t(differences, alpha=ALPHA), wilcoxon(differences, alpha=ALPHA)
    mean, middle = true_mean(pair), true_pseudomedian(pair.sizes, pair.effect)
    return {
        "sets": num_sets,
        "t": int(((t.lows <= mean) & (t.highs >= mean)).sum()),
        "t given": int((~np.isnan(t.lows)).sum()),
        "wilcoxon": int(((signed.lows <= middle) & (signed.highs >= middle)).sum()),
        "wilcoxon given": int((~np.isnan(signed.lows)).sum()),
    }


# Numbers of real runs


@dataclass(frozen=True)
class Estimated:
    """A number of a run, estimated from a sample of the queries."""

    collection: str
    number: str
    """mean, another number over queries, or a win rate."""
    method: str
    measure: str
    num_queries: int


@dataclass(frozen=True)
class Differing:
    """A difference between two runs, estimated from a sample of the queries."""

    collection: str
    number: str
    """mean, a tail, or the median of the differences on each query."""
    measure: str
    num_queries: int


MEASURES = ("AP", "nDCG@10", "RR", "R@100", "P@10")
WITH_SHARES = (*MEASURES, "Success@10")
WITH_TSE = (*MEASURES, "TSE")
RESAMPLES = 999
NUMBERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("mean", "Hall"): MEASURES,
    ("mean", "studentized bootstrap"): MEASURES,
    ("share of queries", "exact"): ("Success@10",),
    ("median", "order statistics"): WITH_TSE,
    ("quantile:0.1", "order statistics"): WITH_TSE,
    ("quantile:0.9", "order statistics"): WITH_TSE,
    ("tail:0.1", "studentized bootstrap"): WITH_TSE,
    ("tail:0.2", "studentized bootstrap"): WITH_TSE,
    ("tail:0.5", "studentized bootstrap"): WITH_TSE,
    ("win rate against one run", "Tango"): (LEXI_RECALL,),
    ("win rate against four runs", "t"): (LEXI_RECALL,),
}
"""What one run has an interval of, by which method, under which measures."""
DIFFERENCES: dict[str, tuple[str, ...]] = {
    "mean": (*WITH_TSE, *SIGNS, KNOWN_DOCUMENT),
    "tail:0.1": WITH_TSE, "tail:0.2": WITH_TSE, "tail:0.5": WITH_TSE,
    "median of the differences": WITH_TSE,
}  # fmt: skip


def estimated() -> Iterator[Estimated]:
    for collection in COLLECTIONS:
        for (number, method), measures in NUMBERS.items():
            for measure, size in product(measures, sizes_of(collection)):
                yield Estimated(collection, number, method, measure, size)


def differences() -> Iterator[Differing]:
    for collection in COLLECTIONS:
        for number, measures in DIFFERENCES.items():
            for measure, size in product(measures, sizes_of(collection)):
                yield Differing(collection, number, measure, size)


def count_estimated(asked: Estimated, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count the samples, those that show an interval, and the intervals that hold the number of all queries."""
    values = values_of(asked.collection, asked.measure)
    queries = rng.integers(values.shape[1], size=(num_sets, asked.num_queries))
    if asked.number.startswith("win rate"):
        return _counted(*np.array([_of_win_rate(asked, values, own, rng) for own in queries]).T)
    (row,) = parse_names(asked.measure)
    over = QueryAggregate.parse("mean" if asked.number == "share of queries" else asked.number)
    runs = rng.integers(len(values), size=num_sets)
    truths = over_queries(values[:, :, None], over, directions=np.array([row.direction]))[runs, 0]
    resamples = RESAMPLES if asked.method == "studentized bootstrap" else None
    certainty = Certainty(interval=True, bootstrap=resamples, seed=int(rng.integers(2**31)))
    samples = values[runs[:, None], queries]
    made = Intervals.of(samples[:, :, None], [row], certainty, over=over)
    return _counted(made.lows[:, 0], made.highs[:, 0], truths)


def _of_win_rate(
    asked: Estimated, values: FloatArray, queries: IntArray, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the ends of the interval of the first of some runs, drawn at random, and its true win rate."""
    number = 2 if asked.method == "Tango" else 5
    group = values[rng.permutation(len(values))[:number]]
    rates = np.array([(np.sign(own - np.delete(group, s, 0)) + 1).mean(axis=0) / 2 for s, own in enumerate(group)])
    made = Intervals.of(rates[:, queries][:, :, None], parse_names(asked.measure), Certainty(interval=True))
    return float(made.lows[0, 0]), float(made.highs[0, 0]), float(rates[0].mean())


def count_differing(asked: Differing, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count as for one run; means have an interval by t or by Tango, as `compare` chooses."""
    values = values_of(asked.collection, asked.measure)
    a, b = drawn_pairs(len(values), num_sets, rng)
    queries = rng.integers(values.shape[1], size=(num_sets, asked.num_queries))
    if asked.number == "mean":
        is_signs = asked.measure in SIGNS
        truths = differing(values[a], values[b], asked.measure).mean(axis=1)
        sample = differing(values[a[:, None], queries], values[b[:, None], queries], asked.measure)
        made = run_test(Testing(), as_pairs(sample, is_signs=is_signs))
        by_wins: BoolArray = np.broadcast_to(made.by_signs, truths.shape)
        found: dict[str, float] = {"sets": num_sets}
        for kind, which in {"t": ~by_wins, "Tango": by_wins}.items():
            counts = _counted(np.where(which, made.lows, np.nan), made.highs, truths)
            found |= {f"{kind} shown": counts["shown"], kind: counts["held"]}
        return found
    over = QueryAggregate.parse("median" if asked.number.startswith("median") else asked.number)
    (row,) = parse_names(asked.measure)
    first, second = np.arange(num_sets), np.arange(num_sets) + num_sets
    whole = compare_over(values, over, a, b, direction=row.direction)
    samples = np.concatenate([values[a[:, None], queries], values[b[:, None], queries]])
    over_pairs = compare_over(samples, over, first, second, direction=row.direction)
    truths = whole.estimates if over.kind == "median" else whole.differences
    return _counted(over_pairs.lows, over_pairs.highs, truths)


def _counted(lows: FloatArray, highs: FloatArray, truths: FloatArray) -> dict[str, float]:
    is_shown: BoolArray = ~np.isnan(lows)
    is_held = (lows <= truths + 1e-12) & (highs >= truths - 1e-12)
    return {"sets": len(is_shown), "shown": int(is_shown.sum()), "held": int((is_held & is_shown).sum())}

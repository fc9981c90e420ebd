"""Simulates whether the interval of a difference of tails holds what it says, and the test of groups.

Belongs here: drawing data of which the truth is known, and counting, for what `compare --over` and `--by` print. Not
here: batches, and how counts are kept (validity), the page (validity_page).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.interaction import interactions
from lexirecall.statistics.overpairs import compare_over
from lexirecall.statistics.queryaggregate import QueryAggregate

ALPHA = 0.05
RESAMPLES = 999


@dataclass(frozen=True)
class TailPair:
    """Two runs, compared by the mean of their own worst queries."""

    response: str
    """One of POWERS."""
    over: str
    num_queries: int
    effect: float
    """What is added to the normal part of the first run."""


POWERS = {"measure": 3.0, "high": 1 / 3}
"""A measure is a standard normal variable's chance to the power k: many low values for k = 3, few for 1/3."""
TAILS = [TailPair(*each) for each in product(POWERS, ("tail:0.1", "tail:0.5"), (50, 200), (0.0, 0.5, 2.0))]


@dataclass(frozen=True)
class Grouped:
    """A pair of runs whose mean difference is 0 in each group of queries."""

    sizes: tuple[int, ...]
    """Of the groups."""
    spread: float
    """How many times as far apart differences are in the first group as in the others."""
    shape: str
    """normal, or skewed: exponential, less its mean."""


GROUPED = [
    Grouped(sizes, spread, shape)
    for sizes in ((20, 20, 20), (10, 20, 90), (90, 20, 10))
    for spread, shape in product((1.0, 3.0), ("normal", "skewed"))
]


def draw_values(pair: TailPair, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw the values of both runs, [R, 2, n]: half of what makes them vary is the query."""
    queries = rng.normal(size=(num_sets, 1, pair.num_queries))
    own = rng.normal(size=(num_sets, 2, pair.num_queries)) + np.array([pair.effect, 0.0])[:, None]
    return np.asarray(ndtr((queries + own) / np.sqrt(2)) ** POWERS[pair.response])


@lru_cache(maxsize=64)
def true_number(response: str, over: str, effect: float) -> float:
    """Return the number of infinitely many queries: the mean of the values below a quantile."""
    chances = QueryAggregate.parse(over).share * (np.arange(200_000) + 0.5) / 200_000
    return float((ndtr(ndtri(chances) + effect / np.sqrt(2)) ** POWERS[response]).mean())


def cover_tail(pair: TailPair, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count in how many data sets the interval holds the true difference."""
    truth = true_number(pair.response, pair.over, pair.effect) - true_number(pair.response, pair.over, 0.0)
    first, held = np.zeros(1, np.int64), 0
    for values in draw_values(pair, num_sets, rng):
        made = compare_over(values, QueryAggregate.parse(pair.over), first, first + 1)
        held += int(made.lows[0] <= truth <= made.highs[0])
    return {"sets": num_sets, "held": held}


def labels_of(grouped: Grouped) -> IntArray:
    """Return the group of each query."""
    return np.repeat(np.arange(len(grouped.sizes)), grouped.sizes)


def draw_grouped(grouped: Grouped, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw differences, [R, n], with the mean 0."""
    shape = num_sets, sum(grouped.sizes)
    drawn = rng.normal(size=shape) if grouped.shape == "normal" else rng.exponential(size=shape) - 1
    return np.asarray(drawn * np.where(labels_of(grouped) == 0, grouped.spread, 1.0))


def vary(grouped: Grouped, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count in how many data sets the difference is found to vary by group."""
    values = draw_grouped(grouped, num_sets, rng)
    first = np.zeros(num_sets, np.int64)
    differences = Differences(first, first + 1, values, np.ones(values.shape, bool))
    seed = int(rng.integers(2**31))
    test = interactions(differences, labels_of(grouped), num_resamples=RESAMPLES, seed=seed)
    return {"sets": num_sets, "found": int((test.pvalues < ALPHA).sum())}

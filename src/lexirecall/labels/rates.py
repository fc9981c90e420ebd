"""Rates: how likely each unjudged item is to be relevant.

Belongs here: a stated rate, and one that is estimated from judged items around the same depth. Not here: what follows
from the chances (forecasts), which labels would help (judging).

Several runs may have an item, each at its own depth. Its joint depth is the depth at which a single run would have to
have it, for the same weight:

    d = (sum_s 1/sqrt(p_s))^-2,   the position in a single run; p/n^2 for an item that n runs have at p.

Among the judged items that any run retrieves, the chance of being relevant falls with ln d; some runs find more of them
than others, and some requests have more. So for request q

    odds = f_q exp(a + b ln d + sum_s u_s w_s),   b <= 0,   w_s = sqrt(d/p_s),   f_q = (R_q + 3)/(E_q + 3).

The weights w_s of the runs that have an item add up to 1, so u_s is how much run s differs from the others. a, b and u
are those of a logistic regression with a standard normal prior on b and on each u. R_q is the number of relevant judged
items of the request, and E_q how many the regression expects. Where nearly everything was judged, judged items are like
the others. Where little was, most were judged because runs that are not here rank them high, and they are better than
the others. So an item counts in the regression as much as the share that was judged, of what the runs retrieve for its
request around its depth.

docs/validity.md has how this was chosen, and how well such forecasts agree with what is found.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lexirecall.errors import DataError, UsageError
from lexirecall.formats.wholelists import Lists
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.labels.pools import LabelPool
from lexirecall.manifest import Policies

_KNOWN = 3.0  # relevant items that a request is taken to have, and to be expected to have, before any is seen
_DEPTHS = (10, 100, 1000, 10_000)
_BORDERS = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, np.inf)


class Rates(ABC):
    """The chance that an item that nobody has judged is relevant."""

    @abstractmethod
    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the chance of each item of a pool, [I]; 0 if it is judged."""

    @abstractmethod
    def describe(self) -> str:
        """Say in a sentence what the chances are, and where they come from."""


@dataclass(frozen=True, slots=True)
class StatedRate(Rates):
    """One chance for every document."""

    rate: float

    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the rate for each unjudged item, [I]."""
        return np.where(pool.is_unjudged, self.rate, 0.0)

    def describe(self) -> str:
        """Say what was stated."""
        return f"each unjudged document is taken to be relevant with the stated chance of {_percent(self.rate)}"


class RateRow(NamedTuple):
    """The documents that runs retrieve between two joint depths."""

    above: float
    up_to: float
    judged: int
    relevant: int
    """How many of the judged ones are relevant."""
    unjudged: int


@dataclass(frozen=True, slots=True)
class EstimatedRates(Rates):
    """Chances that fall with the joint depth, with a level for each run and a factor for each query.

    >>> from lexirecall.formats.listing import load_lists
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}, "r": {"e": 0, "f": 0}}
    >>> run = {"q": ["a", "x", "b", "c", "d", "y"], "r": ["z", "e", "f"]}
    >>> rates = estimated_rates(load_lists(qrels, {"bm25": run}), Policies())
    >>> from lexirecall.labels.pools import pools_of
    >>> [rates.chances(pool).round(2).tolist() for pool in pools_of(load_lists(qrels, {"bm25": run}))]
    [[0.0, 0.42, 0.0, 0.31], [0.42]]
    """

    intercept: float
    slope: float
    """Of the logarithm of the joint depth."""
    levels: FloatArray
    """By how much the log odds of what each run retrieves differ, [S]."""
    factors: FloatArray
    """What multiplies the odds of each request, [Q]."""
    rows: tuple[RateRow, ...] = field(repr=False)

    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the chance of each unjudged item, [I]."""
        weights = _weights(pool.places)
        depths = weights.sum(axis=0) ** -2.0
        chances = _chances(self.intercept + self.slope * np.log(depths) + self.levels @ (weights * np.sqrt(depths)))
        return np.where(pool.is_unjudged, _raised(chances, self.factors[pool.request]), 0.0)

    def at_depth(self, depth: float) -> float:
        """Return the chance of a document at a joint depth, for a run and a query like most."""
        return float(_chances(self.intercept + self.slope * np.log(np.array([depth])))[0])

    @property
    def num_judged(self) -> int:
        """How many judged documents it was estimated from."""
        return sum(row.judged for row in self.rows)

    @property
    def num_relevant(self) -> int:
        """How many of them are relevant."""
        return sum(row.relevant for row in self.rows)

    def describe(self) -> str:
        """Say what the chances are at some depths, and from how many documents they were estimated."""
        deepest = max(row.above for row in self.rows)
        at = [f"{_percent(self.at_depth(depth))} at {depth:,}" for depth in _DEPTHS if depth <= max(deepest, 10)]
        return (
            f"the chance that an unjudged document is relevant is estimated at {', '.join(at)} if one run has it "
            f"there, and more if several do; from {self.num_judged:,} judged documents that runs retrieve, of which "
            f"{self.num_relevant:,} are relevant; it is a guess, too high if judged documents are better than others"
        )

    def table(self) -> tuple[RateRow, ...]:
        """Return what was judged, and how much of it is relevant, by joint depth."""
        return self.rows


def stated_rate(rate: float) -> Rates:
    """Return one chance for every unjudged document.

    >>> stated_rate(1.5)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: rate is 1.5, but must be between 0 and 1
      give the chance that an unjudged document is relevant, such as 0.02
    """
    if not 0 <= rate <= 1:
        problem = f"rate is {rate}, but must be between 0 and 1"
        raise UsageError(problem, remedy="give the chance that an unjudged document is relevant, such as 0.02")
    return StatedRate(float(rate))


def estimated_rates(lists: Lists, policies: Policies) -> EstimatedRates:
    """Estimate the chance of being relevant from the judged items that any run retrieves."""
    made = [_retrieved(lists.judgments, q, of_runs, policies.level) for q, (_, of_runs) in enumerate(lists)]
    retrieved = Retrieved(*(np.concatenate(each, axis=-1) for each in zip(*made, strict=True)))
    is_judged, is_relevant = retrieved.is_judged, retrieved.is_relevant
    if is_relevant[is_judged].all():
        raise DataError(
            "no run retrieves a document that was judged and is not relevant, so the chance that an unjudged one is "
            "relevant cannot be estimated",
            remedy="state it with rate, such as 0.02",
        )
    depths = np.log(retrieved.depths[is_judged])
    features = np.vstack([np.ones(len(depths)), depths, retrieved.weights])
    precisions = np.append(0.0, np.ones(len(features) - 1))
    shares = _shares_judged(retrieved)[is_judged]
    fit = fitted(features, is_relevant[is_judged], shares, precisions)
    if fit[1] > 0:
        features[1] = 0.0
        fit = fitted(features, is_relevant[is_judged], shares, precisions)
        fit[1] = 0.0  # up to rounding it is
    outcomes = is_relevant[is_judged], _chances(fit @ features)
    found, expected = (np.bincount(retrieved.requests[is_judged], each, len(made)) for each in outcomes)
    factors = (found + _KNOWN) / (expected + _KNOWN)
    return EstimatedRates(float(fit[0]), float(fit[1]), fit[2:], factors, _rows(retrieved))


def joint_depths(places: IntArray) -> FloatArray:
    """Return the joint depth of items, given where each run has them, 0 if it does not, [S, I].

    >>> joint_depths(np.array([[9, 16, 100], [0, 16, 25]])).round(2).tolist()
    [9.0, 4.0, 11.11]
    """
    return np.asarray(_weights(places).sum(axis=0) ** -2.0)


def _weights(places: IntArray) -> FloatArray:
    """Return 1/sqrt(p), or 0 if an item is not retrieved."""
    is_retrieved = places > 0
    return np.where(is_retrieved, 1 / np.sqrt(np.where(is_retrieved, places, 1)), 0.0)


def fitted(features: FloatArray, is_relevant: BoolArray, weights: FloatArray, precisions: FloatArray) -> FloatArray:
    """Return the coefficients of a logistic regression on K features, [K], of N weighted items, [K, N].

    Each coefficient has a normal prior with mean 0 and this precision. So that few items do not decide too much, half
    an item of each kind is added at the mean of the features. Newton's method, with half a step where a whole one
    leads down.

    >>> x, is_relevant = np.tile([0.0, 1.0], 500), np.arange(1000) % 10 < np.tile([6, 2], 500)
    >>> fit = fitted(np.stack([np.ones(1000), x]), is_relevant, np.ones(1000), np.zeros(2))
    >>> _chances(fit @ [[1, 1], [0, 1]]).round(2).tolist()
    [0.6, 0.2]
    """
    middle = np.average(features, axis=1, weights=weights)[:, None]
    items = _Items(
        np.hstack([features, middle, middle]),
        np.append(is_relevant, [1.0, 0.0]),
        np.append(weights, [0.5, 0.5]),
        precisions,
    )
    point = np.zeros(len(features))
    best = items.fit(point)
    for _ in range(100):
        step = items.step(point)
        while items.fit(point + step) < best and np.abs(step).max() > 1e-12:
            step = step / 2
        point, best = point + step, items.fit(point + step)
        if np.abs(step).max() < 1e-9:
            break
    return point


class _Items(NamedTuple):
    """What a regression is made from."""

    features: FloatArray
    wanted: FloatArray
    weights: FloatArray
    precisions: FloatArray

    def fit(self, point: FloatArray) -> float:
        """Return the log likelihood of the coefficients, with their prior."""
        logits = point @ self.features
        likelihood = self.weights * (self.wanted * logits - np.logaddexp(0, logits))
        return float(likelihood.sum() - (self.precisions * point**2).sum() / 2)

    def step(self, point: FloatArray) -> FloatArray:
        """Return Newton's step."""
        chances = _chances(point @ self.features)
        upwards = self.features @ (self.weights * (self.wanted - chances)) - self.precisions * point
        curvature = (self.features * (self.weights * chances * (1 - chances))) @ self.features.T
        return np.asarray(np.linalg.lstsq(curvature + np.diag(self.precisions), upwards, rcond=None)[0])


def _chances(logits: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-logits)))


def _raised(chances: FloatArray, factors: FloatArray) -> FloatArray:
    """Multiply the odds."""
    raised = chances * factors
    return np.asarray(raised / (1 - chances + raised))


class Retrieved(NamedTuple):
    """What runs retrieve, item by item."""

    requests: IntArray
    depths: FloatArray
    """Joint depths."""
    weights: FloatArray
    """Of each run, for the judged items only, [S, judged]; those of an item add up to 1."""
    is_judged: BoolArray
    is_relevant: BoolArray


def _retrieved(
    judgments: Judgments, request: int, of_runs: Sequence[Sequence[bytes] | None], level: float
) -> Retrieved:
    numbers: dict[bytes, int] = {}
    rows = [[numbers.setdefault(item, len(numbers)) for item in ranking or ()] for ranking in of_runs]
    places = np.zeros((len(rows), len(numbers)), np.int64)
    for own, row in zip(places, rows, strict=True):
        own[row] = np.arange(1, len(row) + 1)
    weights = _weights(places)
    depths = weights.sum(axis=0) ** -2.0
    lookup, known = judgments.lookup(request), judgments.grades
    grades = np.array([known[lookup[item]] if item in lookup else -1 for item in numbers], float)
    is_judged = grades >= 0
    of_judged = weights[:, is_judged] * np.sqrt(depths[is_judged])
    return Retrieved(np.full(len(numbers), request), depths, of_judged, is_judged, grades >= level)


def _shares_judged(retrieved: Retrieved) -> FloatArray:
    """Return the share that was judged of what is retrieved for the same request in the same half decade of depths."""
    decades = np.floor(2 * np.log10(retrieved.depths)).astype(np.int64)
    keys = retrieved.requests * (1 + np.ptp(decades)) + decades - decades.min()
    _, groups = np.unique(keys, return_inverse=True)
    return np.asarray((np.bincount(groups, retrieved.is_judged) / np.bincount(groups))[groups])


def _rows(retrieved: Retrieved) -> tuple[RateRow, ...]:
    bins = np.searchsorted(_BORDERS, retrieved.depths) - 1
    kinds = retrieved.is_judged, retrieved.is_relevant, ~retrieved.is_judged
    counts = (np.bincount(bins[each], minlength=len(_BORDERS) - 1).tolist() for each in kinds)
    rows = (RateRow(*of_bin) for of_bin in zip(_BORDERS[:-1], _BORDERS[1:], *counts, strict=True))
    return tuple(row for row in rows if row.judged or row.unjudged)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"

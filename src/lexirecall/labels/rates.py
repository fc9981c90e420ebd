"""Rates: how likely each unjudged document is to be relevant.

Belongs here: a stated rate, and one that is estimated from judged documents around the same depth. Not here: what
follows from a stated one (forecasts), which labels would help (judgingorder).

The estimate only orders what to judge next: it tells likely documents from unlikely ones, but what follows from its
chances does not agree with what is found, as docs/unjudged.md says.

Several runs may have a document, each at its own depth. Its joint depth is the depth at which a single run would have
to have it, for the same weight:

    d = (sum_s 1/sqrt(p_s))^-2,   the position in a single run; p/n^2 for a document that n runs have at p.

Among the judged documents that any run retrieves, the chance of being relevant falls with ln d; some runs find more of
them than others, and some queries have more. So for query q

    odds = f_q exp(a + b ln d + sum_s u_s w_s),   b <= 0,   w_s = sqrt(d/p_s),   f_q = (R_q + 3)/(E_q + 3).

The weights w_s of the runs that have a document add up to 1, so u_s is how much run s differs from the others. a, b and
u are those of a logistic regression with a standard normal prior on b and on each u. R_q is the number of relevant
judged documents of the query, and E_q how many the regression expects. Where nearly everything was judged, judged
documents are like the others. Where little was, most were judged because runs that are not here rank them high, and
they are better than the others. So a document counts in the regression as much as the share that was judged, of what
the runs retrieve for its query around its depth.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lexirecall.errors import DataError, UsageError
from lexirecall.formats.wholelists import Lists
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.labels.pools import LabelPool

_KNOWN = 3.0  # relevant documents that a query is taken to have, and to be expected to have, before any is seen


class Rates(ABC):
    """The chance that a document that nobody has judged is relevant, independently of others."""

    @abstractmethod
    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the chance of each document of a pool, [I]; those of judged documents are not looked at."""

    def draw(self, pool: LabelPool, num_samples: int, seed: int) -> BoolArray:
        """Draw labels of a pool, [B, I]; those of a query depend on nothing but the seed and its own documents.

        >>> pool = LabelPool(0, (b"x", b"a"), np.array([[1, 2]]), np.array([np.nan, 1]), *np.zeros((3, 0)))
        >>> stated_rate(1).draw(pool, 2, seed=0).tolist()  # `a` is judged: it has no label to draw
        [[True, False], [True, False]]
        """
        # Draws are from [0, 1): with `<`, a chance of 1 always labels and a chance of 0 never does.
        draws = np.random.default_rng([seed, pool.query]).random((num_samples, len(pool.documents)), np.float32)
        return np.asarray((draws < self.chances(pool)) & pool.is_unjudged)


@dataclass(frozen=True, slots=True)
class StatedRate(Rates):
    """One chance for every document."""

    rate: float

    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the rate for each unjudged document, [I]."""
        return np.where(pool.is_unjudged, self.rate, 0.0)

    def number(self, num_documents: int) -> tuple[float, int, int]:
        """Return how many of some documents are expected to be relevant, and where the middle 95 % of that number end.

        >>> stated_rate(0.5).number(100), stated_rate(0).number(100)
        ((50.0, 40, 60), (0.0, 0, 0))
        """
        from scipy.stats import binom  # not on top: it takes long to import

        low, high = binom.ppf((0.025, 0.975), num_documents, self.rate)
        return num_documents * self.rate, int(max(low, 0)), int(high)


@dataclass(frozen=True, slots=True)
class EstimatedRates(Rates):
    """Chances that fall with the joint depth, with a level for each run and a factor for each query.

    >>> from lexirecall.formats.listing import load_lists
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}, "r": {"e": 0, "f": 0}}
    >>> run = {"q": ["a", "x", "b", "c", "d", "y"], "r": ["z", "e", "f"]}
    >>> rates = estimated_rates(load_lists(qrels, {"bm25": run}), 1)
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
    """What multiplies the odds of each query, [Q]."""

    @classmethod
    def of(cls, point: FloatArray, factors: FloatArray) -> "EstimatedRates":
        """Take the coefficients of the regression, and the factors."""
        return cls(float(point[0]), float(point[1]), point[2:], factors)

    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the chance of each unjudged document, [I]."""
        weights = _weights(pool.places)
        depths = weights.sum(axis=0) ** -2.0
        chances = logistic(self.intercept + self.slope * np.log(depths) + self.levels @ (weights * np.sqrt(depths)))
        return np.where(pool.is_unjudged, raised(chances, self.factors[pool.query]), 0.0)


def stated_rate(rate: float) -> StatedRate:
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


def estimated_rates(lists: Lists, level: float) -> EstimatedRates:
    """Estimate the chance of being relevant from the judged documents that any run retrieves."""
    retrieved = retrieved_by(lists, level)
    return EstimatedRates.of(*fit(retrieved, retrieved.is_judged, len(lists.judgments.queries)))


def retrieved_by(lists: Lists, level: float) -> "RetrievedDocuments":
    """Return what runs retrieve, or raise if no judged document of that is not relevant."""
    by_query = [_retrieved(lists.judgments, q, of_runs, level) for q, (_, of_runs) in enumerate(lists)]
    retrieved = RetrievedDocuments(*(np.concatenate(arrays, axis=-1) for arrays in zip(*by_query, strict=True)))
    if retrieved.is_relevant[retrieved.is_judged].all():
        raise DataError(
            "no run retrieves a document that was judged and is not relevant, so nothing says which unjudged ones are "
            "likely relevant",
            remedy="state one chance for all with --rate 0.02, or rate=0.02 in Python",
        )
    return retrieved


def fit(retrieved: "RetrievedDocuments", is_known: BoolArray, num_queries: int) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of the regression on the documents whose labels are known, and the factors of queries."""
    features, of_known = retrieved.features, is_known[retrieved.is_judged]
    known, is_relevant = features[:, of_known], retrieved.is_relevant[is_known]
    precisions = np.append(0.0, np.ones(len(features) - 1))
    shares = _shares_judged(retrieved, is_known)[is_known]
    point = fitted(known, is_relevant, shares, precisions)
    # b must not be above 0. The likelihood is concave, so if its maximum lies beyond, the best allowed b is 0.
    if point[1] > 0:
        flat = known.copy()
        flat[1] = 0.0
        point = fitted(flat, is_relevant, shares, precisions)
        point[1] = 0.0  # up to rounding it is
    outcomes = is_relevant, logistic(point @ known)
    found, expected = (np.bincount(retrieved.queries[is_known], outcome, num_queries) for outcome in outcomes)
    return point, (found + _KNOWN) / (expected + _KNOWN)


def joint_depths(places: IntArray) -> FloatArray:
    """Return the joint depth of documents, given where each run has them, 0 if it does not, [S, I].

    >>> joint_depths(np.array([[9, 16, 100], [0, 16, 25]])).round(2).tolist()
    [9.0, 4.0, 11.11]
    """
    return np.asarray(_weights(places).sum(axis=0) ** -2.0)


def _weights(places: IntArray) -> FloatArray:
    """Return 1/sqrt(p), or 0 if a document is not retrieved."""
    is_retrieved = places > 0
    return np.where(is_retrieved, 1 / np.sqrt(np.where(is_retrieved, places, 1)), 0.0)


def fitted(features: FloatArray, is_relevant: BoolArray, weights: FloatArray, precisions: FloatArray) -> FloatArray:
    """Return the coefficients of a logistic regression on K features, [K], of N weighted documents, [K, N].

    Each coefficient has a normal prior with mean 0 and this precision. So that few documents do not decide too much,
    half a document of each kind is added at the mean of the features. Newton's method, with half a step where a whole
    one leads down.

    >>> x, is_relevant = np.tile([0.0, 1.0], 500), np.arange(1000) % 10 < np.tile([6, 2], 500)
    >>> fit = fitted(np.stack([np.ones(1000), x]), is_relevant, np.ones(1000), np.zeros(2))
    >>> logistic(fit @ [[1, 1], [0, 1]]).round(2).tolist()
    [0.6, 0.2]
    """
    middle = np.average(features, axis=1, weights=weights)[:, None]
    documents = _Documents(
        np.hstack([features, middle, middle]),
        np.append(is_relevant, [1.0, 0.0]),
        np.append(weights, [0.5, 0.5]),
        precisions,
    )
    point = np.zeros(len(features))
    best = documents.fit(point)
    for _ in range(100):
        step = documents.step(point)
        while documents.fit(point + step) < best and np.abs(step).max() > 1e-12:
            step = step / 2
        point, best = point + step, documents.fit(point + step)
        if np.abs(step).max() < 1e-9:
            break
    return point


class _Documents(NamedTuple):
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
        chances = logistic(point @ self.features)
        upwards = self.features @ (self.weights * (self.wanted - chances)) - self.precisions * point
        curvature = (self.features * (self.weights * chances * (1 - chances))) @ self.features.T
        return np.asarray(np.linalg.lstsq(curvature + np.diag(self.precisions), upwards, rcond=None)[0])


def logistic(logits: FloatArray) -> FloatArray:
    """Return the chances of log odds."""
    return np.asarray(1 / (1 + np.exp(-logits)))


def raised(chances: FloatArray, factors: FloatArray) -> FloatArray:
    """Multiply the odds."""
    odds = chances * factors
    return np.asarray(odds / (1 - chances + odds))


class RetrievedDocuments(NamedTuple):
    """What runs retrieve, document by document."""

    queries: IntArray
    depths: FloatArray
    """Joint depths."""
    weights: FloatArray
    """Of each run, for the judged documents only, [S, judged]; those of a document add up to 1."""
    is_judged: BoolArray
    is_relevant: BoolArray

    @property
    def features(self) -> FloatArray:
        """What the regression knows of each judged document, [K, judged]."""
        depths = np.log(self.depths[self.is_judged])
        return np.vstack([np.ones(len(depths)), depths, self.weights])


def _retrieved(
    judgments: Judgments, query: int, of_runs: Sequence[Sequence[bytes] | None], level: float
) -> RetrievedDocuments:
    numbers: dict[bytes, int] = {}
    rows = [[numbers.setdefault(document, len(numbers)) for document in ranking or ()] for ranking in of_runs]
    places = np.zeros((len(rows), len(numbers)), np.int64)
    for run_places, row in zip(places, rows, strict=True):
        run_places[row] = np.arange(1, len(row) + 1)
    weights = _weights(places)
    depths = weights.sum(axis=0) ** -2.0
    lookup, known = judgments.lookup(query), judgments.grades
    grades = np.array([known[lookup[document]] if document in lookup else -1 for document in numbers], float)
    is_judged = grades >= 0
    of_judged = weights[:, is_judged] * np.sqrt(depths[is_judged])
    return RetrievedDocuments(np.full(len(numbers), query), depths, of_judged, is_judged, grades >= level)


def _shares_judged(retrieved: RetrievedDocuments, is_known: BoolArray) -> FloatArray:
    """Return the share that was judged of what is retrieved for the same query in the same half decade of depths."""
    decades = np.floor(2 * np.log10(retrieved.depths)).astype(np.int64)
    keys = retrieved.queries * (1 + np.ptp(decades)) + decades - decades.min()
    _, groups = np.unique(keys, return_inverse=True)
    return np.asarray((np.bincount(groups, is_known) / np.bincount(groups))[groups])

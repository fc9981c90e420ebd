"""Choice of models: which settings, and which single run, are best on queries that are not the ones to be ranked.

Belongs here: folds of queries, folds within folds, and what is chosen by them. Not here: fitting one model
(featureweights), what rankings are worth (evaluation verbs).

The queries are cut into folds. Those of one fold are ranked by a model that never saw them: its weights are fitted on
the other folds, and its settings are chosen within these, by folds again. There it must gain over reciprocal rank
fusion (RRF), too; else RRF ranks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.learn.featureweights import ScoreLoss, TrainingQuery, fit
from lexirecall.manifest import Policies
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.progress import Progress
from lexirecall.verbs.evaluate import QueryValues

DISCOUNTS = (0.9, 0.5, 1.0)
REGULARIZATIONS = (0.1, 0.01, 0.001, 0.0001)
"""What is tried, unless a value is given; of equally good ones the first is taken."""
INNER = 4
"""How many folds there are within the training queries, unless these are 3 to 5 outer folds already."""
LEAST_QUERIES = 4
"""Of fewer, none could be left to choose by."""


class Tuning(NamedTuple):
    """What is chosen before weights are fitted."""

    discount: float
    regularization: float


def settings_to_try(discount: float | None, regularization: float | None) -> list[Tuning]:
    """Return every pair of what is tried.

    >>> settings_to_try(0.9, None)[:2]
    [Tuning(discount=0.9, regularization=0.1), Tuning(discount=0.9, regularization=0.01)]
    """
    discounts = DISCOUNTS if discount is None else (discount,)
    regularizations = REGULARIZATIONS if regularization is None else (regularization,)
    return [Tuning(*pair) for pair in product(discounts, regularizations)]


def folds_of(queries: IntArray, folds: int, seed: int) -> list[IntArray]:
    """Deal queries into folds at random, as evenly as possible.

    >>> [fold.tolist() for fold in folds_of(np.array([2, 3, 5, 7, 11]), 2, seed=0)]
    [[5, 7, 11], [2, 3]]
    """
    shuffled = np.random.default_rng(seed).permutation(queries)
    return [np.sort(fold) for fold in np.array_split(shuffled, folds)]


def inner_folds(folds: Sequence[IntArray], held_out: int | None) -> list[IntArray]:
    """Return folds of the training queries: the other folds, if these are 3 to 5, or else INNER new ones.

    >>> folds = [np.array([q]) for q in range(8)]
    >>> [fold.tolist() for fold in inner_folds(folds[:4], 0)], [fold.tolist() for fold in inner_folds(folds, 0)]
    ([[1], [2], [3]], [[1, 5], [2, 6], [3, 7], [4]])
    """
    others = [fold for number, fold in enumerate(folds) if number != held_out]
    if 3 <= len(others) <= 5:
        return others
    queries = np.concatenate(others)
    return [np.sort(queries[start::INNER]) for start in range(min(INNER, len(queries)))]


def mean_values(positions: Positions, row: Evaluable, policies: Policies, queries: IntArray) -> FloatArray:
    """Return the mean of a measure over some queries, [S], more being better; queries that some run lacks do not count.

    Of a preference it is the win rate against the other runs, and also of a measure that is undefined somewhere because
    a document was not retrieved: that is worse than every value.
    """
    values = row.direction * QueryValues.of(positions, [row], policies).placed[:, queries, 0]
    kept = values[:, ~np.isnan(values).any(axis=0)]
    if not kept.size:
        return np.zeros(len(values))
    if not np.isfinite(kept).all():
        kept = np.stack([((run > kept).sum(axis=0) + (run == kept).sum(axis=0) / 2) / len(kept) for run in kept])
    return np.asarray(kept.mean(axis=1))


def best_of(positions: Positions, row: Evaluable, policies: Policies, queries: IntArray) -> int:
    """Return which run is best on some queries; of equal ones the first."""
    # rounded, so that the order in which values are added up does not choose between equal runs
    return int(np.argmax(mean_values(positions, row, policies, queries).round(12)))


@dataclass(slots=True)
class Learner:
    """Fits models for sets of queries and settings, each once."""

    learnables: dict[int, TrainingQuery]
    """What is learnt from each query that has a relevant candidate."""
    losses: Callable[[float], ScoreLoss]
    """The loss of a discount."""
    settings: Sequence[Tuning]
    allow_negative: bool
    progress: Progress
    _fitted: dict[tuple[int, ...], dict[Tuning, FloatArray]] = field(default_factory=dict)

    def models(self, queries: IntArray) -> dict[Tuning, FloatArray]:
        """Return the weights under all settings, fitted on some queries.

        The search with little regularization starts from what it found with more, on the same queries.
        """
        key = tuple(queries.tolist())
        if key not in self._fitted:
            self._fitted[key] = dict(self._paths([self.learnables[query] for query in key]))
        return self._fitted[key]

    def _paths(self, queries: Sequence[TrainingQuery]) -> Iterator[tuple[Tuning, FloatArray]]:
        descending = sorted(self.settings, key=lambda tuning: -tuning.regularization)
        for discount in dict.fromkeys(tuning.discount for tuning in self.settings):
            weights: FloatArray | None = None
            for tuning in descending:
                if tuning.discount == discount:
                    loss = self.losses(discount)
                    weights = fit(
                        queries, loss, tuning.regularization, start=weights, allow_negative=self.allow_negative
                    )
                    self.progress.advance(1)
                    yield tuning, weights


def num_fits(folds: Sequence[IntArray], num_settings: int) -> int:
    """Return how many models are fitted, if all settings are tried."""
    sets = {tuple(_without(folds, None).tolist())}
    for held_out in (*range(len(folds)), None):
        training = _without(folds, held_out)
        sets.add(tuple(training.tolist()))
        sets |= {tuple(np.setdiff1d(training, inner).tolist()) for inner in inner_folds(folds, held_out)}
    return len(sets) * num_settings


def _without(folds: Sequence[IntArray], held_out: int | None) -> IntArray:
    return np.sort(np.concatenate([fold for number, fold in enumerate(folds) if number != held_out]))


class ChosenModel(NamedTuple):
    """A model, and how it came about."""

    settings: Tuning
    weights: FloatArray | None
    """None for RRF, over which these settings show no gain."""
    num_queries: int
    """On how many queries it was fitted."""


Judge = Callable[[dict[int, list[FloatArray]], IntArray], tuple[int, bool]]
"""Takes the weights under each of the settings that rank each query.

Returns which settings rank queries best, and whether they gain over RRF there.
"""


def choose(learner: Learner, folds: Sequence[IntArray], held_out: int | None, judge: Judge) -> ChosenModel:
    """Choose settings and fit weights without looking at one fold, or by looking at all queries."""
    training = _without(folds, held_out)
    ranked_by: dict[int, list[FloatArray]] = {}
    for inner in inner_folds(folds, held_out):
        models = learner.models(np.setdiff1d(training, inner))
        ranked_by |= {query: [models[tuning] for tuning in learner.settings] for query in inner.tolist()}
    best, gains = judge(ranked_by, training)
    settings = learner.settings[best]
    weights = learner.models(training)[settings]
    return ChosenModel(settings, weights if gains else None, len(training))

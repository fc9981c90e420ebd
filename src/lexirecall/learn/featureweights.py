"""Feature weights: those of features that make a loss small.

Belongs here: what is learnt from, and minimising any loss over it. Not here: the losses (orderedobjective), where
features come from (candidates), which settings are best (modelchoice).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from lexirecall.judgments import FloatArray

MOST_STEPS = 100
"""Iterations of the search. More change the weights, but hardly the rankings."""
SPREAD = 10.0
"""The sum of the weights that the search starts from: far enough from 0 that sigmoids tell documents apart."""
_TOLERANCE = 1e-7  # of the loss, relative: features are in single precision


class ScoreLoss(Protocol):
    """A loss of the scores of one query."""

    def value_and_gradient(
        self, relevant: FloatArray, others: FloatArray, counts: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss, and its derivatives by the scores of relevant documents and of the others.

        `counts` says how many documents each of the others stands for.
        """


class TrainingQuery(NamedTuple):
    """What is learnt from one query: documents with F features, the relevant ones first."""

    features: Any
    """[I, F], in single precision."""
    num_relevant: int
    counts: Any
    """How many documents each of those that are not relevant stands for."""


def fit(
    queries: Sequence[TrainingQuery],
    loss: ScoreLoss,
    regularization: float,
    *,
    start: FloatArray | None = None,
    allow_negative: bool = False,
) -> FloatArray:
    """Return the weights that minimise the mean loss plus λ/2 times their squares, [F].

    They are 0 or above unless `allow_negative`. The search starts from equal weights, or from `start`.

    >>> from lexirecall.learn.orderedobjective import OrderedObjective
    >>> features = np.array([[1, 0], [0.2, 1], [0.1, 0.9]], np.float32)  # the first feature finds what is relevant
    >>> fit([TrainingQuery(features, 1, np.ones(2, np.float32))], OrderedObjective(), 0.01).round(1).tolist()
    [4.2, 0.0]
    """
    from scipy.optimize import minimize  # not on top: it takes long to import

    num_features = queries[0].features.shape[1]
    start = np.full(num_features, SPREAD / num_features) if start is None else start

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        total, gradient = _mean_loss(queries, loss, weights)
        return total + regularization / 2 * float(weights @ weights), gradient + regularization * weights

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=None if allow_negative else [(0, None)] * num_features,
        options={"maxiter": MOST_STEPS, "ftol": _TOLERANCE},
    )
    return np.asarray(found.x, float)


def _mean_loss(queries: Sequence[TrainingQuery], loss: ScoreLoss, weights: FloatArray) -> tuple[float, FloatArray]:
    total, gradient = 0.0, np.zeros(len(weights))
    # A product of float32 and float64 would first copy the features as float64, for every query in every step.
    single = weights.astype(np.float32)
    for features, m, counts in queries:
        scores = features @ single
        value, by_relevant, by_others = loss.value_and_gradient(scores[:m], scores[m:], counts)
        total += value
        gradient += np.concatenate([by_relevant, by_others]).astype(np.float32) @ features
    return total / len(queries), gradient / len(queries)

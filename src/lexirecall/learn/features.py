"""Features: what one run says about a document that it retrieves, as a number from 0 to 1.

Belongs here: the formulas. Not here: the documents of all runs together (candidates).

Each feature is the higher the better the run thinks of the document, and 0 for a document that it does not retrieve.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lexirecall.errors import UsageError, hint_at
from lexirecall.judgments import FloatArray, IntArray

CONSTANT = 60
"""k of reciprocal rank fusion, as its authors chose it."""


def shares_of_scores(scores: FloatArray) -> FloatArray:
    """Return the scores of one list, from 0 for the lowest to 1 for the highest; all 1 if they are equal.

    Infinite scores count as the highest or the lowest of the finite ones.

    >>> shares_of_scores(np.array([4.0, 3.0, 2.0])).tolist(), shares_of_scores(np.array([7.0, 7.0])).tolist()
    ([1.0, 0.5, 0.0], [1.0, 1.0])
    >>> shares_of_scores(np.array([np.inf, 2.0, 1.0, -np.inf])).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return np.asarray((scores == scores.max(initial=-np.inf)).astype(float))
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return np.asarray((scores >= low).astype(float))
    spread = high / 2 - low / 2  # halves, because the difference of two finite numbers may be infinite
    return np.asarray((np.clip(scores, low, high) / 2 - low / 2) / spread)


def _reciprocal(places: IntArray, _shares: FloatArray, _depth: int) -> FloatArray:
    """1 at the top, and in proportion to 1/(60 + rank): equal weights are reciprocal rank fusion."""
    return np.asarray((CONSTANT + 1) / (CONSTANT + places))


def _log(places: IntArray, _shares: FloatArray, depth: int) -> FloatArray:
    """1 at the top, falling with the logarithm of the rank to 0 just below the longest list of the run."""
    return np.asarray(1 - np.log(places) / np.log(depth + 1))


FEATURES: Mapping[str, Callable[[IntArray, FloatArray, int], FloatArray]] = {
    "score": lambda _places, shares, _depth: shares,
    "reciprocal": _reciprocal,
    "log": _log,
    "retrieved": lambda places, _shares, _depth: np.ones(len(places)),
}
"""From the places of documents, counted from 1, their scores from 0 to 1, and the length of the run's longest list."""


def parse_features(features: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the features that are asked for, each once, in the order of FEATURES; all of them for None.

    >>> parse_features("retrieved,log"), parse_features(None)
    (('log', 'retrieved'), ('score', 'reciprocal', 'log', 'retrieved'))
    >>> parse_features(["score", "rank", "depth"])
    Traceback (most recent call last):
    lexirecall.errors.UsageError: unknown features 'rank', 'depth'
      choose from score, reciprocal, log, retrieved
    """
    if features is None:
        return tuple(FEATURES)
    names = [
        name.strip()
        for part in ([features] if isinstance(features, str) else features)
        for name in str(part).split(",")
    ]
    if not names:
        raise UsageError("no features are given", remedy=f"choose from {', '.join(FEATURES)}")
    if unknown := [name for name in dict.fromkeys(names) if name not in FEATURES]:
        what = "unknown feature" if len(unknown) == 1 else "unknown features"
        remedy = hint_at(unknown[0], FEATURES) if len(unknown) == 1 else f"choose from {', '.join(FEATURES)}"
        raise UsageError(f"{what} {', '.join(map(repr, unknown))}", remedy=remedy)
    return tuple(name for name in FEATURES if name in names)

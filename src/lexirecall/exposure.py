"""Exposure e(i): how likely a user is to see what is at position i.

Belongs here: the exposure functions of the paper, each one formula.

Every e decreases strictly and e(infinity) = 0, so a document that was not retrieved needs no special case. `linear` is
the exception: it reaches 0 at the end of the corpus and so needs its size n.
"""

from typing import Any

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray


def ap(i: FloatArray) -> FloatArray:
    """Exposure of average precision and reciprocal rank.

    >>> ap(np.array([1, 4, np.inf])).tolist()
    [1.0, 0.25, 0.0]
    """
    return 1 / i


def dcg(i: FloatArray) -> FloatArray:
    """Exposure of discounted cumulative gain.

    >>> dcg(np.array([1, 3, np.inf])).tolist()
    [1.0, 0.5, 0.0]
    """
    return 1 / np.log2(i + 1)


def rbp(i: FloatArray, p: float) -> FloatArray:
    """Exposure of rank-biased precision, for a user who goes on to the next document with probability p.

    >>> rbp(np.array([1, 2, np.inf]), p=0.5).tolist()
    [0.5, 0.25, 0.0]
    """
    return (1 - p) * p ** (i - 1.0)


def linear(i: FloatArray, n: FloatArray) -> FloatArray:
    """Exposure that falls evenly to the end of the corpus.

    >>> linear(np.array([1, 10]), n=np.array([10.0])).tolist()
    [0.9, 0.0]
    """
    if np.isnan(n).any():
        raise UsageError("linear exposure 1 - i/n needs the corpus size n", remedy="give --corpus-size N or FILE")
    return 1 - i / n


EXPOSURES: dict[str, Any] = {"ap": ap, "dcg": dcg, "rbp": rbp, "linear": linear}

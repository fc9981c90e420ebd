"""Wide: a numpy whose indices have 32 bits, as in a browser, made to take and to count as one with 64 bits does.

Belongs here: the few functions of numpy that lexirecall calls with whole numbers of 64 bits, and that would refuse them
or answer with fewer bits. On a machine with 64 bits nothing is changed.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def widen() -> None:
    """Let numpy count as it does where indices have 64 bits.

    >>> widen()
    >>> np.arange(3).dtype, np.bincount(np.array([0, 2])).tolist()
    (dtype('int64'), [1, 0, 1])
    """
    if np.dtype(np.intp).itemsize >= 8:
        return
    np.bincount = _counting(np.bincount)
    np.repeat = _repeating(np.repeat)
    np.arange = _numbering(np.arange)


def _counting(bincount: Callable[..., Any]) -> Callable[..., Any]:
    """Take indices of 64 bits: there are never so many bins that 32 do not suffice."""

    @wraps(bincount)
    def widened(x: Any, weights: Any = None, minlength: int = 0) -> Any:
        counts = bincount(np.asarray(x).astype(np.intp), weights, minlength)
        return counts.astype(np.int64) if weights is None else counts

    return widened


def _repeating(repeat: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(repeat)
    def widened(a: Any, repeats: Any, axis: int | None = None) -> Any:
        return repeat(a, np.asarray(repeats).astype(np.intp), axis)

    return widened


def _numbering(arange: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(arange)
    def widened(*limits: Any, dtype: Any = None, **options: Any) -> Any:
        numbers = arange(*limits, dtype=dtype, **options)
        return numbers.astype(np.int64) if dtype is None and numbers.dtype == np.intp else numbers

    return widened

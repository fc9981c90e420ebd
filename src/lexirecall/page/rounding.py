"""Rounding: numbers written as short as possible.

Belongs here: from arrays to lists for JSON.
"""

import math
from typing import Any

import numpy as np


def rounded(values: Any, digits: int) -> list[Any]:
    """Return an array as lists of numbers with this many significant digits; None for what is not finite.

    >>> rounded(np.array([[0.123456, 2.0], [np.nan, 1234.5]]), 3)
    [[0.123, 2], [None, 1230]]
    """
    if np.ndim(values) > 1:
        return [rounded(part, digits) for part in values]
    return [shortest(value, digits) for value in np.asarray(values, float).tolist()]


def shortest(value: float, digits: int) -> float | None:
    """Return a number with this many significant digits, as an integer if it is whole; None if it is not finite.

    >>> shortest(0.1 + 0.2, 5), shortest(-0.0, 5), shortest(math.inf, 5)
    (0.3, 0, None)
    """
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    # Below 2^53 every whole number is exact, in JavaScript too.
    return int(short) if short.is_integer() and abs(short) < 2**53 else short

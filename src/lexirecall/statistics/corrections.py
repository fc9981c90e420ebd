"""Corrections: the p-values of many pairs, adjusted for their number.

Belongs here: adjusted p-values.

A procedure at the level α declares a pair different exactly if its adjusted p-value is below α. A p-value that is not
defined (nan) stays nan and is not counted, because nothing was tested there.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from lexirecall.errors import UsageError, choice, plain
from lexirecall.judgments import FloatArray


def holm(ascending: FloatArray, counts: FloatArray | None = None) -> FloatArray:
    """Return max_{j <= i} (m + 1 - j) p_j: the chance of any false alarm is at most α, for tests of any dependence.

    Each p may stand for several tests, as many as `counts` says.

    >>> holm(np.array([0.01, 0.02, 0.03])).round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    left = np.arange(len(ascending), 0, -1) if counts is None else counts[::-1].cumsum(axis=0)[::-1]
    return np.maximum.accumulate(left * ascending)


def bonferroni(ascending: FloatArray) -> FloatArray:
    """Return m p_i: it promises what `holm` does, and is never smaller.

    >>> bonferroni(np.array([0.01, 0.02, 0.03])).round(4).tolist()
    [0.03, 0.06, 0.09]
    """
    return np.asarray(len(ascending) * ascending)


def benjamini_hochberg(ascending: FloatArray) -> FloatArray:
    """Return min_{j >= i} p_j m/j: of all alarms, the expected share of false ones is at most α.

    This is proved for tests that are independent or depend positively on each other.

    >>> benjamini_hochberg(np.array([0.01, 0.02, 0.03])).round(4).tolist()
    [0.03, 0.03, 0.03]
    """
    scaled = len(ascending) * ascending / np.arange(1, len(ascending) + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]


CORRECTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "none": np.copy,
}
"""From p-values in ascending order to adjusted ones, before they are cut off at 1."""


def correct(pvalues: npt.ArrayLike, method: str = "holm") -> FloatArray:
    """Return the adjusted p-values, in the order and the shape given: between p and 1, and nan where p is.

    >>> correct([0.03, float("nan"), 0.01, 0.02], "bonferroni").round(4).tolist()
    [0.09, nan, 0.03, 0.06]
    >>> correct([0.03, 0.9, 0.01], "holm").round(4).tolist()
    [0.06, 0.9, 0.03]
    """
    choice("correction", method, CORRECTIONS)
    adjusted = np.array(pvalues, dtype=float)
    defined = np.flatnonzero(~np.isnan(adjusted))
    family = adjusted.ravel()[defined]
    if (wrong := family[(family < 0) | (family > 1)]).size:
        raise UsageError(f"{plain(wrong[0])} is not a p-value", remedy="give numbers from 0 to 1, or nan")
    order = np.argsort(family, kind="stable")
    # m p/m may be a float below p
    adjusted.flat[defined[order]] = np.clip(CORRECTIONS[method](family[order]), family[order], 1.0)
    return adjusted

"""A quotient that is not divided yet: a formula divides once, at the end.

Belongs here: that quotient, and e times z. Not here: the one division (measure, tieexpectation).

In floats seven times 1/7 is less than 1. A formula that gives `Ratio(1, m)` instead of `1 / m` has its numerators
added up, and their sum divided by m. Seven of seven are then exactly 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two numbers or arrays, one over the other; numpy sees an array of quotients.

    >>> ratio = Ratio(np.array([1, 2]), 4)
    >>> np.asarray(ratio).tolist(), (ratio * np.array([2, 2])).tolist()
    ([0.25, 0.5], [0.5, 1.0])
    """

    over: Any
    under: Any

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(np.true_divide(self.over, self.under), dtype)  # new, whatever numpy says of copies


def product(exposures: Any, weights: Any) -> FloatArray:
    """Multiply e by z, and only then divide: 49 times 1/49 is 1. Where z is 0, the position does not matter.

    >>> product(Ratio(1, np.array([49, 2])), np.array([49, 1])).tolist(), 1 / 49 * 49
    ([1.0, 0.5], 0.9999999999999999)
    >>> product(np.array([np.inf, 3]), np.array([False, True])).tolist()
    [0.0, 3.0]
    """
    with np.errstate(invalid="ignore"):
        if isinstance(exposures, Ratio):
            over = weights if np.isscalar(exposures.over) and exposures.over == 1 else exposures.over * weights
            products = np.asarray(over / exposures.under, float)
        else:
            products = np.asarray(exposures * weights, float)
    if np.isnan(products).any():
        products[np.broadcast_to(np.equal(weights, 0), products.shape)] = 0.0
    return products

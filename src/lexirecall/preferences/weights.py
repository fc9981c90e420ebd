"""The weights of recall levels, for the preference that compares rankings at each of them.

Belongs here: the table of weights. Not here: the preference (by_level).
"""

from collections.abc import Callable

import numpy as np

from lexirecall.judgments import FloatArray, IntArray

WEIGHTS: dict[str, Callable[[IntArray], FloatArray]] = {
    "uniform": lambda i: np.ones(len(i)),
    "inverse": lambda i: 1 / i,
    "dcg": lambda i: 1 / np.log2(i + 1),
}

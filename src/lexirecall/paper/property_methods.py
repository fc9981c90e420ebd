"""Ways to evaluate rankings, in fractions: their properties can be decided by trying every ranking of a small corpus.

Belongs here: the methods in the columns of the table of properties. Not here: the properties (`property_checks`).

A column is a class of methods. Its members here are those that people use, and some made up to tell properties apart.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

Placement = tuple[int, ...]
ExactExposure = Callable[[int], Fraction]
Weight = Callable[[int, int], Fraction]
N, SIZES = 9, (1, 2, 3, 4)
"""Documents of the corpus, and how many of them may be relevant."""


@dataclass(frozen=True)
class EvaluationMethod:
    """A way to evaluate rankings: a preference between two, which a metric derives from their values."""

    name: str
    prefers: Callable[[Placement, Placement], int]
    """1 if the first ranking is better, -1 if the second is, 0 if they tie."""
    value: Callable[[Placement], Fraction] | None = None
    exposure: ExactExposure | None = None


def metric(name: str, exposure: ExactExposure, weight: Weight) -> EvaluationMethod:
    """Return the recall-level metric sum_i e(p_i) z(i, m).

    >>> metric("AP", reciprocal, Fraction).value((1, 3))  # Fraction(i, m) is its weight
    Fraction(5, 6)
    """

    @cache
    def value(placement: Placement) -> Fraction:
        m = len(placement)
        return sum((exposure(p) * weight(i, m) for i, p in enumerate(placement, 1)), Fraction())

    return EvaluationMethod(name, lambda x, y: (value(x) > value(y)) - (value(x) < value(y)), value, exposure)


def lexirecall(x: Placement, y: Placement) -> int:
    """Prefer by the last position in which two rankings differ.

    >>> lexirecall((2, 4, 9), (1, 5, 9))
    1
    """
    return (x[::-1] < y[::-1]) - (x[::-1] > y[::-1])


def reciprocal(p: int) -> Fraction:
    """Exposure 1/p."""
    return Fraction(1, p)


def geometric(p: int) -> Fraction:
    """Exposure 1/2^p."""
    return Fraction(1, 2**p)


@cache
def logarithmic(p: int) -> Fraction:
    """Exposure 1/log2(p + 1), rounded to a float and then taken exactly."""
    return Fraction(1 / math.log2(p + 1))


def linear(p: int) -> Fraction:
    """Exposure 1 - p/n."""
    return 1 - Fraction(p, N)


def parabolic(p: int) -> Fraction:
    """Exposure that falls ever faster, so it is not convex."""
    return 1 - Fraction(p, N + 1) ** 2


def first(i: int, _m: int) -> Fraction:
    """Weight of the first relevant document only."""
    return Fraction(i == 1)


def last(i: int, m: int) -> Fraction:
    """Weight of the last relevant document only."""
    return Fraction(i == m)


def constant(_i: int, _m: int) -> Fraction:
    """Weight 1."""
    return Fraction(1)


def share(_i: int, m: int) -> Fraction:
    """Weight 1/m."""
    return Fraction(1, m)


def share_of_ideal(_i: int, m: int) -> Fraction:
    """Weight 1 over the sum of the first m exposures of nDCG."""
    return 1 / sum(map(logarithmic, range(1, m + 1)), Fraction())


WITH_POSITIVE_WEIGHTS: dict[str, tuple[ExactExposure, Weight]] = {
    "AP": (reciprocal, Fraction),
    "RBP": (geometric, constant),
    "nDCG": (logarithmic, share_of_ideal),
    "mean linear exposure": (linear, share),
    "mean parabolic exposure": (parabolic, share),
    "sum of reciprocals": (reciprocal, constant),
}
TOTAL_SEARCH_EFFICIENCY: dict[str, tuple[ExactExposure, Weight]] = {
    f"TSE, {e.__name__}": (e, last) for e in (reciprocal, geometric, logarithmic, linear, parabolic)
}
TOP_HEAVY: dict[str, tuple[ExactExposure, Weight]] = {
    **WITH_POSITIVE_WEIGHTS, "RR": (reciprocal, first), **TOTAL_SEARCH_EFFICIENCY
}  # fmt: skip
METRICS = {name: metric(name, e, z) for name, (e, z) in TOP_HEAVY.items()}
COLUMNS: dict[str, list[EvaluationMethod]] = {
    "top-heavy": [*METRICS.values()],
    "top-heavy, z > 0": [METRICS[name] for name in WITH_POSITIVE_WEIGHTS],
    "TSE": [METRICS[name] for name in TOTAL_SEARCH_EFFICIENCY],
    "LexiRecall": [EvaluationMethod("LexiRecall", lexirecall)],
}
"""The methods of each column of the table."""


def value_of(method: EvaluationMethod) -> Callable[[Placement], Fraction]:
    """Return what a metric computes; a preference has no values.

    >>> value_of(METRICS["RR"])((2, 5))
    Fraction(1, 2)
    """
    if method.value is None:
        raise TypeError(f"{method.name} has no values")
    return method.value


def is_convex(method: EvaluationMethod, *, strictly: bool = False) -> bool:
    """Tell whether each step down costs less exposure than the one before it, or no more.

    >>> is_convex(METRICS["TSE, linear"]), is_convex(METRICS["TSE, linear"], strictly=True)
    (True, False)
    """
    if method.exposure is None:
        return False
    steps = [method.exposure(p) - method.exposure(p + 1) for p in range(1, N)]
    return all(a > b if strictly else a >= b for a, b in pairwise(steps))


def placements(m: int) -> list[Placement]:
    """Return all positions that m relevant documents may have in the corpus, in ascending order.

    >>> len(placements(2)), placements(2)[0]
    (36, (1, 2))
    """
    return list(combinations(range(1, N + 1), m))

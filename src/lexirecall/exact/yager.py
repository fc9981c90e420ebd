"""The paper's metric lexirecall: Yager's leximin weights on the positions.

Belongs here: the weights and the weighted sum as the paper writes them, in floats and in exact fractions, and where
floats fail.

The allocations x_i = (n - p_i)/n fall with i, so the last is the worst-off and has the largest weight: about n times
that of the one before. The exact sum orders rankings as LexiRecall does. In floats it does so only while n^m is below
about 2^53; beyond that, different rankings become equal. `colex` has no such limit.

The weights are from: Yager. On the analytic representation of the leximin ordering and its application to flexible
constraint propagation. European Journal of Operational Research 102(1), 1997.
"""

import math
from bisect import bisect_left
from fractions import Fraction
from typing import TypeVar

from lexirecall.errors import UsageError
from lexirecall.exact.colex import Vector, checked

Real = TypeVar("Real", float, Fraction)


def yager_weights(num_relevant: int, corpus_size: int, epsilon: Real) -> tuple[Real, ...]:
    """Return the weights w_1 … w_m, which grow steeply and add up to 1: floats, or fractions if ε is a fraction.

    w_i = Δ^(m-i) / (1+Δ)^(m+1-i) for i > 1, w_1 = Δ^(m-1) / (1+Δ)^(m-1), Δ = 1/(n + ε), with ε between 0 and 1.
    A weight that is too small for a float is 0.

    >>> [f"{w:.4f}" for w in yager_weights(3, 10, epsilon=0.5)]
    ['0.0076', '0.0794', '0.9130']
    >>> sum(yager_weights(3, 10, epsilon=Fraction(1, 2)))
    Fraction(1, 1)

    Reference: DiazEM25, recovering an evaluation metric.
    """
    _, m = checked([], num_relevant, corpus_size)
    _check_epsilon(epsilon)
    delta = 1 / (int(corpus_size) + epsilon)
    # the first has one factor 1 + Δ less: then they add up to 1
    return tuple(delta ** (m - i) / (1 + delta) ** (m + 1 - max(i, 2)) for i in range(1, m + 1))


def _check_epsilon(epsilon: Fraction | float) -> None:
    if not 0 < epsilon < 1:
        raise UsageError(f"epsilon is {epsilon}, but must be above 0 and below 1")


def yager_lexirecall(
    positions: Vector, corpus_size: int, num_relevant: int | None = None, *, epsilon: float = 0.5
) -> float:
    """Return metric lexirecall in floats: sum_i w_i (n - p_i)/n, higher is better, 0 if nothing is relevant.

    Documents that were not retrieved are at the bottom of the corpus. Different rankings are sure to have different
    values only up to `yager_float_limit`.

    >>> round(yager_lexirecall([2, 3, 8], corpus_size=10), 4)
    0.2442
    >>> yager_lexirecall([2, 3, 8], corpus_size=10**6) == yager_lexirecall([1, 3, 8], corpus_size=10**6)
    True

    Reference: DiazEM25, recovering an evaluation metric.
    """
    found, m = checked(positions, num_relevant, corpus_size)
    n = int(corpus_size)
    weights = yager_weights(m, n, float(epsilon))
    return math.fsum(w * ((n - p) / n) for w, p in zip(weights, _all(found, m, n), strict=True))


def yager_lexirecall_exact(
    positions: Vector, corpus_size: int, num_relevant: int | None = None, *, epsilon: Fraction | float = Fraction(1, 2)
) -> Fraction:
    """Return metric lexirecall exactly; its order is LexiRecall's for every n and m.

    With Δ < 1/n, one position at level k outweighs everything that can be gained above it: the weights w_1 … w_(k-1)
    add up to Δ w_k.

    >>> yager_lexirecall_exact([2, 3, 8], corpus_size=10)
    Fraction(646, 2645)
    >>> yager_lexirecall_exact([2, 3, 8], corpus_size=10**6) < yager_lexirecall_exact([1, 3, 8], corpus_size=10**6)
    True

    Reference: DiazEM25, recovering an evaluation metric.
    """
    found, m = checked(positions, num_relevant, corpus_size)
    _check_epsilon(epsilon)
    return Fraction(*yager_ratio(found, m, int(corpus_size), epsilon)) if m else Fraction(0)


def yager_ratio(found: list[int], m: int, n: int, epsilon: Fraction | float) -> tuple[int, int]:
    """Return metric lexirecall as one whole number over another, which depends on m, n and ε only; m is above 0.

    With N = n + ε = a/b and N + 1 = c/b the weights are w_1 = (b/c)^(m-1) and w_i = a/b (b/c)^(m+1-i). So the sum of
    w_i x_i, x_i = n - p_i, is that of a x_i b^(m-i) c^(i-2) over c^(m-1), and x_1 b^(m-1); by Horner's rule in c.
    Positions are in order, as `checked` gives them; a decimal ε is taken as it is written.

    >>> yager_ratio([2, 3, 8], 3, 10, 0.5)
    (1292, 5290)
    """
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(str(epsilon))
    b = exact.denominator
    a = n * b + exact.numerator
    c = a + b
    placed = _all(found, m, n)
    total, power = 0, 1
    for p in placed[:0:-1]:  # from the last to the second
        total = total * c + a * (n - p) * power
        power *= b
    return total + (n - placed[0]) * power, c ** (m - 1) * n


def _all(found: list[int], m: int, n: int) -> list[int]:
    return [*found, *range(n - m + len(found) + 1, n + 1)]


def yager_float_limit(num_relevant: int, epsilon: float = 0.5) -> int:
    """Return the largest n for which `yager_lexirecall` is sure to tell any two rankings apart; below m, it never is.

    The nearest values are those of two rankings that differ by 1 in p_1: w_1/n apart. Values are below 1, where floats
    are 2^-53 apart. So it is enough that n/w_1 = n (n + 1 + ε)^(m-1) is below 2^53; rounding the terms takes a share of
    at most n 2^-51 from that.

    >>> [yager_float_limit(m) for m in range(3, 8)]
    [208062, 9740, 1550, 454, 188]
    """
    _, m = checked([], num_relevant)
    _check_epsilon(epsilon)
    if m == 0:
        raise UsageError("num_relevant is 0, but must be at least 1")
    return bisect_left(range(2**51), True, lo=1, key=lambda n: not _is_sure(n, m, Fraction(epsilon))) - 1


def _is_sure(n: int, m: int, epsilon: Fraction) -> bool:
    return n * (n + 1 + epsilon) ** (m - 1) <= 2**53 * (1 - Fraction(n, 2**51))

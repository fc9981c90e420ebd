"""Sums of binomial coefficients, exactly: C(t_1, 1) + C(t_2, 2) + … + C(t_k, k), and the way back.

Belongs here: the numbers behind the place of a ranking. Not here: anything about rankings.

For every k, each number from 0 on is such a sum in exactly one way: the combinatorial number run. If a thousand
documents are relevant, a coefficient has thousands of digits. Computing one takes k multiplications. From a neighbour
it takes as many as they are apart, which is faster if they are near.
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np

_NEAR = 4
"""A neighbour is near if it is fewer than k / _NEAR apart; measured."""


def binomials(tops: Iterable[int], first: int = 1) -> Iterator[int]:
    """Give C(t, k) for each t of an ascending row, where k counts up from first.

    >>> list(binomials([3, 4, 7]))
    [3, 6, 35]
    """
    last, value = 0, 0
    for k, top in enumerate(tops, first):
        gap = top - last
        if value and _NEAR * gap < k:
            value = value * math.perm(top, gap) // (k * math.perm(top - k, gap - 1))
        else:
            value = math.comb(top, k)
        last = top
        yield value


def decomposed(number: int, k: int) -> tuple[int, ...]:
    """Return the row t_1 < … < t_k with C(t_i, i) that add up to a number, for k from 1 on.

    From the last one back, each is the largest that leaves nothing negative. Where nothing is left, t_i = i - 1.

    >>> decomposed(44, 3)  # 3 + 6 + 35
    (3, 4, 7)
    """
    tops: list[int] = []
    last, value = 0, 0
    while k and number:
        last, value = _largest(number, k, last, value)
        tops.append(last)
        number, k = number - value, k - 1
    return (*range(k), *reversed(tops))


def _largest(number: int, k: int, last: int, value: int) -> tuple[int, int]:
    """Return the largest t with C(t, k) <= number, and this coefficient; value is C(last, k + 1), or 0 at first."""
    top = _guess(number, k)
    gap = last - top
    if value and 0 < _NEAR * gap < k:
        value = value * (k + 1) * math.perm(last - k - 1, gap - 1) // math.perm(last, gap)
    else:
        value = math.comb(top, k)
    # Newton's steps, exact, until the guess is right: C(t + 1, k) is larger than C(t, k) by C(t, k - 1)
    while steps := (number - value) // (value * k // (top - k + 1)):
        top += steps
        value = math.comb(top, k)
    return top, value


def _guess(number: int, k: int) -> int:
    """Solve C(t, k) = number in floats, for numbers from 1 on.

    k! C(t, k) is the product of y - (k-1)/2, …, y + (k-1)/2 for y = t - (k-1)/2. It is at most y^k, which gives a y
    that is too small. Its logarithm is concave in log y, so Newton's method rises to the solution.
    """
    if k == 1:
        return number
    target = math.log(number) + math.lgamma(k + 1)
    if target / k > 700:  # beyond floats: the exact steps find it
        return 1 << int(target / k / math.log(2))
    offsets = np.arange(k) - (k - 1) / 2
    y, change = max((k + 1) / 2, math.exp(target / k)), 1.0
    while change > 1e-13:
        factors = y + offsets
        change = (target - float(np.log(factors).sum())) / (y * float((1 / factors).sum()))
        y *= math.exp(change)
    return max(k, int(y + (k - 1) / 2))

"""Hypergeometric: how many of a population may be relevant, given how many of a random sample of it are.

Belongs here: the chance of so few in a sample, the exact bounds of the number in the population, and the size that a
sample needs for a bound. Not here: what the population is.

Of M documents T are relevant, and s of them are drawn without replacement. Then X of these are relevant, with

    P(X = i; T) = C(T, i) C(M - T, s - i) / C(M, s).

The more are relevant, the less likely are few in the sample: P(X <= x; T) falls with T. So the values of T that x does
not speak against at level alpha, those with P(X <= x; T) > alpha, end at one number, the upper bound. It is below T
in at most alpha of all samples, whatever T is.

Chances are computed as floats, by Loader's expansion (2000), to about 1e-13 of their size. If a chance is so close to
alpha that this might decide wrongly, it is computed in whole numbers; if those would be too long, T is kept.
"""

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache

_CLOSE = 1e-10  # relative difference between a chance and alpha below which floats do not decide
_MOST_BITS = 4_000_000  # of C(M, s), up to which whole numbers decide
_NEGLIGIBLE = 1e-18  # part of a sum below which terms that fall fast change nothing
_TABLED = 16  # below it Stirling's error is computed from the factorial
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""Coefficients of 1/n, 1/n³, 1/n⁵ … of Stirling's error."""


def exact_share(share: float) -> Fraction:
    """Return a share as it is written: 0.95 is 19/20, which no float is.

    >>> 1 - exact_share(0.95)
    Fraction(1, 20)
    """
    return Fraction(repr(float(share)))


def chance_of_at_most(population: int, relevant: int, sample: int, found: int) -> float:
    """Return P(X <= found), the chance of so few relevant ones in a sample.

    >>> round(chance_of_at_most(1000, 30, 100, 0), 6)
    0.04035
    """
    least, most = max(0, sample + relevant - population), min(sample, relevant)
    if found < least:
        return 0.0
    if found >= most:
        return 1.0
    if found * population < sample * relevant:  # below the mean: this tail is the smaller one
        return min(1.0, _tail(population, relevant, sample, found, least))
    # what is above: the same distribution seen from the other side
    return max(0.0, 1.0 - _tail(population, population - relevant, sample, sample - found - 1, sample - most))


def _tail(population: int, relevant: int, sample: int, found: int, least: int) -> float:
    """Add up the chances of found, found - 1, …, least; they fall from the first on."""
    term = total = 1.0
    for i in range(found, least, -1):
        term *= i / (relevant - i + 1) * (population - relevant - sample + i) / (sample - i + 1)
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return math.exp(_log_chance(population, relevant, sample, found)) * total


def _log_chance(population: int, relevant: int, sample: int, found: int) -> float:
    """Return log P(X = found) by binomial chances at p = s/M: these are moderate, so that little cancels."""
    return (
        _log_binomial(found, relevant, sample, population)
        + _log_binomial(sample - found, population - relevant, sample, population)
        - _log_binomial(sample, population, sample, population)
    )


def _log_binomial(x: int, n: int, sample: int, population: int) -> float:
    """Return the log of C(n, x) p^x (1 - p)^(n - x), where p = sample/population is neither 0 nor 1."""
    if x == 0:
        return n * math.log1p(-sample / population)
    if x == n:
        return n * math.log(sample / population)
    p, q = sample / population, (population - sample) / population
    errors = _stirling_error(n) - _stirling_error(x) - _stirling_error(n - x)
    return errors - _deviance(x, n * p) - _deviance(n - x, n * q) + 0.5 * math.log(n / (2 * math.pi * x * (n - x)))


@lru_cache(maxsize=256)
def _stirling_error(n: int) -> float:
    """Return log n! - log(sqrt(2πn) (n/e)^n) for n > 0."""
    if n < _TABLED:
        return math.log(math.factorial(n)) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    return math.fsum(coefficient / float(n) ** (2 * k + 1) for k, coefficient in enumerate(_SERIES))


def _deviance(x: float, mean: float) -> float:
    """Return x log(x/mean) + mean - x, as a series where the two are close and would cancel."""
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * math.log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total, power, k = (x - mean) * v, 2 * x * v, 1
    while True:
        power *= v * v
        bigger = total + power / (2 * k + 1)
        if bigger == total:
            return total
        total, k = bigger, k + 1


def is_at_most(population: int, relevant: int, sample: int, found: int, alpha: Fraction) -> bool:
    """Tell whether P(X <= found) <= alpha; if it cannot be told, no.

    >>> is_at_most(20, 19, 1, 0, Fraction(1, 20))  # P is 1/20
    True
    """
    ratio = chance_of_at_most(population, relevant, sample, found) / float(alpha)
    if abs(ratio - 1) > _CLOSE:
        return ratio < 1
    drawn = min(sample, population - sample)
    if drawn * math.log2(math.e * population / max(drawn, 1)) > _MOST_BITS:
        return False
    ways = sum(
        math.comb(relevant, i) * math.comb(population - relevant, sample - i)
        for i in range(max(0, sample + relevant - population), found + 1)
    )
    return ways * alpha.denominator <= alpha.numerator * math.comb(population, sample)


@lru_cache(maxsize=65536)
def most_relevant(population: int, sample: int, found: int, alpha: Fraction) -> int:
    """Return the upper bound of the number in the population: the largest T with P(X <= found; T) > alpha.

    >>> most_relevant(1000, 100, 0, Fraction(1, 20)), most_relevant(1000, 0, 0, Fraction(1, 20))
    (28, 1000)
    """
    possible = range(found + 1, population - sample + found + 1)  # more than the finds, and not the rest of the sample
    return found + bisect_left(possible, True, key=lambda t: is_at_most(population, t, sample, found, alpha))


def fewest_relevant(population: int, sample: int, found: int, alpha: Fraction) -> int:
    """Return the lower bound of the number in the population: the smallest T with P(X >= found; T) > alpha.

    It is what is left if as many as possible are not relevant.

    >>> fewest_relevant(1000, 100, 5, Fraction(1, 40)), fewest_relevant(1000, 100, 0, Fraction(1, 40))
    (18, 0)
    """
    return population - most_relevant(population, sample, sample - found, alpha)


def sample_needed(population: int, found: int, most: int, alpha: Fraction) -> int | None:
    """Return the smallest sample that bounds the number in the population by `most` if so many are found in it.

    None if no sample does: the finds alone are more.

    >>> sample_needed(1000, 0, 10, Fraction(1, 20)), sample_needed(1000, 2, 10, Fraction(1, 20))
    (238, 469)
    >>> sample_needed(1000, 11, 10, Fraction(1, 20))
    """
    if found > most:
        return None
    most = min(most, population)
    sizes = range(found, population - max(0, most - found))  # beyond them nothing else can be relevant
    return found + bisect_left(sizes, True, key=lambda size: is_at_most(population, most + 1, size, found, alpha))

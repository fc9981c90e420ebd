"""Tails: the chances and limits of the normal, the t and the binomial distribution that small comparisons need.

Belongs here: special functions of few lines, for the numbers of queries that small comparisons have. scipy has them
all, but importing it takes longer than a small comparison. Beyond these numbers scipy is asked; in a browser, where it
may be missing, all is computed here up to many more.
"""

import math
from functools import cache, lru_cache
from importlib.util import find_spec

import numpy as np

from lexirecall.judgments import FloatArray, IntArray

MOST_DEGREES = 200
"""Up to so many degrees of freedom t is computed here."""
MOST_TRIALS = 200
"""Up to so many trials the binomial distribution is computed here, in whole numbers."""
MOST_WITHOUT_SCIPY = 10_000
"""Up to so many degrees and trials both are computed here if scipy is not installed."""
_NEAR = 1.75  # below it the chance is found as what is missing to 1
_STEPS = 80  # of a continued fraction, which has settled after 50 where it is used
_MORE_STEPS = 600  # the same for more degrees than MOST_DEGREES, where it has settled after 400


@cache
def _has_scipy() -> bool:
    return find_spec("scipy") is not None


def _most_here(most: int) -> int:
    """Return up to how many degrees or trials there is no need to ask scipy: `most` where it can be asked."""
    return most if _has_scipy() else MOST_WITHOUT_SCIPY


@lru_cache(maxsize=64)
def normal_quantile(chance: float) -> float:
    """Return the z below which a normal number is with this chance, by Newton's steps from where the tail would be.

    >>> round(normal_quantile(0.025), 6), normal_quantile(0.5)
    (-1.959964, 0.0)
    """
    if chance > 0.5:
        return -normal_quantile(1 - chance)
    z = -math.sqrt(max(-2 * math.log(2 * chance), 0.0))  # Φ(z) <= exp(-z²/2)/2: the steps go up from here
    for _ in range(60):
        ratio = math.erfc(-z / math.sqrt(2)) / 2 / chance
        step = math.log(ratio) * math.erfc(-z / math.sqrt(2)) * math.sqrt(math.pi / 2) * math.exp(z * z / 2)
        if abs(step) <= 1e-16 * abs(z):
            break
        z -= step
    return z + 0.0


def t_pvalues(t: FloatArray, df: IntArray) -> FloatArray:
    """Return P(|T| > t) for t >= 0 and these degrees of freedom; nan where there are none, or t is not known.

    P = I_x(df/2, 1/2), x = df/(df + t²), the regularized incomplete beta function.

    >>> t_pvalues(np.array([2.0, 0.0, np.nan]), np.array([10, 3, 4])).round(6).tolist()
    [0.073388, 1.0, nan]
    """
    pvalues = np.full(len(t), np.nan)
    is_known = (df > 0) & ~np.isnan(t)
    is_many, is_near = df > _most_here(MOST_DEGREES), t < _NEAR
    if (many := is_known & is_many).any():
        from scipy.special import stdtr

        pvalues[many] = 2 * stdtr(df[many], -t[many])
    is_few = is_known & (df <= MOST_DEGREES)
    for mine, steps in ((is_few, _STEPS), (is_known & ~is_few & ~is_many, _MORE_STEPS)):
        for which, tail in ((mine & ~is_near, _far_tail), (mine & is_near, _near_tail)):
            if which.any():
                pvalues[which] = tail(df[which] / 2, t[which] ** 2, steps)
    return pvalues


def _far_tail(halves: FloatArray, squares: FloatArray, steps: int) -> FloatArray:
    """Return I_x(df/2, 1/2), from df/2 and t²."""
    return _front(halves, squares) / halves * _fraction(halves, 0.5, 1 / (1 + squares / (2 * halves)), steps)


def _near_tail(halves: FloatArray, squares: FloatArray, steps: int) -> FloatArray:
    """Return 1 - I_{1-x}(1/2, df/2), whose fraction settles sooner where t is small."""
    share = squares / (2 * halves + squares)
    return 1 - _front(halves, squares) / 0.5 * _fraction(np.full(len(halves), 0.5), halves, share, steps)


def _front(halves: FloatArray, squares: FloatArray) -> FloatArray:
    """Return x^(df/2) (1 - x)^(1/2) / B(df/2, 1/2)."""
    ratio = squares / (2 * halves)  # x = 1/(1 + ratio)
    with np.errstate(divide="ignore", over="ignore"):  # of t = 0 it is 0
        return np.asarray(np.exp(-halves * np.log1p(ratio)) / (np.sqrt(1 + 1 / ratio) * _betas(halves)))


def _betas(halves: FloatArray) -> FloatArray:
    """Return B(a, 1/2) for halves a: B(1/2, 1/2) = π, B(1, 1/2) = 2, B(a + 1, 1/2) = B(a, 1/2) a/(a + 1/2)."""
    degrees = np.rint(2 * halves).astype(int)
    known = [math.nan, math.pi, 2.0]
    for twice in range(1, int(degrees.max(initial=0)) - 1):
        known.append(known[twice] * (twice / (twice + 1)))
    return np.asarray(np.array(known)[degrees])


def _fraction(a: FloatArray, b: FloatArray | float, x: FloatArray, steps: int) -> FloatArray:
    """Return 1/(1 + d1/(1 + d2/(1 + …))), which times x^a (1 - x)^b / (a B(a, b)) is I_x(a, b).

    d_{2m+1} = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)), d_{2m} = m (b - m) x / ((a + 2m - 1)(a + 2m)) (Abramowitz
    and Stegun, Handbook of Mathematical Functions, 1964, 26.5.8). How many steps a number takes, from the last to the
    first, does not depend on those beside it.
    """
    value = np.ones(len(a))
    for step in range(steps, 0, -1):
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        value = 1 + d / value
    return 1 / value


@lru_cache(maxsize=256)
def t_limit(chance: float, df: int) -> float:
    """Return the t that |T| exceeds with this chance; nan without degrees of freedom.

    >>> round(t_limit(0.05, 10), 6)
    2.228139
    """
    if df > _most_here(MOST_DEGREES):
        from scipy.special import stdtrit

        return -float(stdtrit(df, chance / 2))
    if df < 1:
        return math.nan
    low, high = 0.0, 1.0
    while _t_pvalue(high, df) > chance:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _t_pvalue(middle, df) > chance else (low, middle)
    return high


def _t_pvalue(t: float, df: int) -> float:
    return float(t_pvalues(np.array([t]), np.array([df]))[0])


def binomial_chances(most: IntArray, trials: IntArray) -> FloatArray:
    """Return P(X <= k) for k <= n/2, X binomial with n trials and chance 1/2; of few trials, rounded once.

    >>> binomial_chances(np.array([0, 1, 2]), np.array([3, 3, 11])).tolist()
    [0.125, 0.5, 0.03271484375]
    """
    chances = np.empty(len(trials))
    is_many = trials > _most_here(MOST_TRIALS)
    if is_many.any():
        from scipy.special import bdtr

        chances[is_many] = bdtr(most[is_many].astype(float), trials[is_many], 0.5)
    for at in np.flatnonzero(~is_many).tolist():
        chances[at] = _at_most(int(trials[at]))[most[at]]
    return chances


@lru_cache(maxsize=256)
def _at_most(trials: int) -> tuple[float, ...]:
    """Return P(X <= k) for k = 0 … n/2, from whole numbers."""
    ways, total, chances = 1, 0, []
    for k in range(trials // 2 + 1):
        total += ways
        # Python divides whole numbers of any size and rounds once: neither need fit in a float.
        chances.append(total / 2**trials)
        ways = ways * (trials - k) // (k + 1)
    return tuple(chances)

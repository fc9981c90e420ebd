"""Power: how many differences a measure shows, and how many queries it would take to show them.

Belongs here: discriminative power, and the number of queries needed.

For every number of queries there is a least effect that the test detects with the desired power. A table of these, made
once, answers for all pairs: the number needed is the first with a least effect not larger than the observed one.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.statistics.differences import Summarized
from lexirecall.statistics.paired import check_chance, effect_sizes

LONGEST = 1000  # up to so many requests power is exact, beyond that by the normal distribution
NODES = 64  # of the quadrature: twice as many change nothing beyond rounding


def discriminative_power(pvalues: npt.ArrayLike, alpha: float = 0.05) -> float:
    """Return the share of pairs with p < alpha among those with a defined p; nan without any.

    >>> discriminative_power([0.01, 0.2, float("nan"), 0.049], 0.05)
    0.6666666666666666
    """
    check_chance("alpha", alpha)
    given = np.asarray(pvalues, dtype=float)
    defined = given[~np.isnan(given)]
    return float(np.mean(defined < alpha)) if defined.size else np.nan


def requests_needed(differences: Summarized, *, alpha: float = 0.05, power: float = 0.8) -> FloatArray:
    """Return how many queries it would take to detect each observed difference by the default test, [P].

    That is the least number with which the test has p < alpha with the probability `power`, if the observed effect is
    the true one. It says what to plan, not how sure the observation is. It is at least 2. It is infinite without an
    effect (or with one below 1e-12, which is rounding), and nan where it is not known: without queries, and below two
    for sizes.

    Sizes are tested by the paired t test, with d_z = mean/sd. Signs are tested by the exact binomial test on wins and
    losses with the observed share of wins. Their number is then multiplied by the number of queries per untied one and
    rounded up. The power of that test rises and falls as queries are added one by one; the first number that reaches it
    is taken.

    The number is exact up to 1000 (untied) queries. Beyond that it comes from the normal distribution. If it takes a
    mean of s standard errors, it is (s/d)² + z²/2 for t with the critical value z, off by one at most (Guenther 1981).
    For signs with the share π of wins it is (s/(2π - 1))², off by 2% at most where alpha <= .05 and power >= .5.

    >>> values = np.array([[0.1, 0.3, 0.2, 0.0], [0.1, -0.1, 0.2, -0.1]])
    >>> from lexirecall.statistics import Differences
    >>> both = Differences(np.array([0, 0]), np.array([1, 2]), values, np.ones((2, 4), bool))
    >>> effect_sizes(both).round(2).tolist(), requests_needed(both).tolist()
    ([1.16, 0.17], [8.0, 285.0])
    """
    check_chance("alpha", alpha)
    check_chance("power", power)
    if differences.is_signs:
        return _by_sign_test(differences, alpha, power)
    effects = np.abs(effect_sizes(differences))
    needed = _by_t_test(np.maximum(effects, TOLERANCE), alpha, power)
    return np.where(effects <= TOLERANCE, np.inf, needed)


def _by_t_test(effects: FloatArray, alpha: float, power: float) -> FloatArray:
    """Return the number of requests for effects d_z > 0, nan for nan."""
    with np.errstate(invalid="ignore"):
        bounded = np.where(np.isinf(effects), 1.0, effects / (1 + effects))
    tested, least = _least_effects_of_t(alpha, power)
    z, shift = _least_shift_of_normal(alpha, power)
    return _looked_up(bounded, tested, least, (shift / effects) ** 2 + z**2 / 2)


def _by_sign_test(differences: Summarized, alpha: float, power: float) -> FloatArray:
    wins, losses, untied = differences.wins, differences.losses, differences.wins + differences.losses
    with np.errstate(divide="ignore", invalid="ignore"):
        balance = np.abs(wins - losses) / untied  # 2π - 1
        tested, least = _least_effects_of_signs(alpha, power)
        _, shift = _least_shift_of_normal(alpha, power)
        needed = _looked_up(balance, tested, least, (shift / balance) ** 2) * differences.num_requests / untied
    needed[wins == losses] = np.inf
    needed[differences.num_requests == 0] = np.nan
    return np.ceil(needed)


def _looked_up(effects: FloatArray, tested: IntArray, least: FloatArray, beyond: FloatArray) -> FloatArray:
    """Return the first number tested with a least effect that is not larger, or else what lies beyond."""
    first = np.searchsorted(-np.minimum.accumulate(least), -effects)
    within = np.append(tested, 0)[np.minimum(first, len(tested))]
    return np.where(first < len(tested), within, np.maximum(np.ceil(beyond), LONGEST + 1.0))


def _least_shift_of_normal(alpha: float, power: float) -> tuple[float, float]:
    """Return the critical value z, and by how much a mean must differ from 0 in standard errors to be detected."""
    from scipy.special import ndtr, ndtri

    z = -float(ndtri(alpha / 2))
    bounded = _least(lambda s: ndtr(s / (1 - s) - z) + ndtr(-s / (1 - s) - z), power, 1)
    return z, float(bounded[0] / (1 - bounded[0]))


@lru_cache(maxsize=32)
def _least_effects_of_t(alpha: float, power: float) -> tuple[IntArray, FloatArray]:
    """Return 2, 3, … requests, and d/(1 + d) for the least effect d that the t test detects with each."""
    from scipy.special import stdtrit

    tested = np.arange(2, LONGEST + 1)
    critical = -stdtrit(tested - 1, alpha / 2)

    def power_at(effects: FloatArray) -> FloatArray:
        return _beyond_critical_t(effects / (1 - effects) * np.sqrt(tested), tested - 1, critical)

    return tested, _least(power_at, power, len(tested))


def _beyond_critical_t(shift: FloatArray, df: IntArray, critical: FloatArray) -> FloatArray:
    """Return P(|T| > t) for noncentral T = (Z + shift)/V: the integral of P(|Z + shift| > t v) over V = sqrt(χ²/df).

    By quadrature, to 1e-12, where the chance is neither 0 nor 1 and V is possible. scipy's nctdtr would do, but some
    versions of it give nan here and there.
    """
    from scipy.special import gammainc, gammaln, ndtr

    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    reach = 9 / np.sqrt(df)  # V is farther from 1 than this with a probability below exp(-9²/2) on either side
    low, high = (np.clip((shift + side) / critical, np.maximum(0, 1 - reach), 1 + reach) for side in (-8, 8))
    v = low[:, None] + (high - low)[:, None] * (1 + nodes) / 2
    half, t, shift = df[:, None] / 2, critical[:, None], shift[:, None]
    log_density = np.log(2) + half * np.log(half) - gammaln(half) + (2 * half - 1) * np.log(v) - half * v**2
    integrand = np.exp(log_density) * (ndtr(shift - t * v) + ndtr(-shift - t * v))
    return np.asarray(gammainc(df / 2, df / 2 * low**2) + (high - low) / 2 * (integrand @ weights))


@lru_cache(maxsize=32)
def _least_effects_of_signs(alpha: float, power: float) -> tuple[IntArray, FloatArray]:
    """Return numbers of untied requests, and 2π - 1 for the least share π of wins that the sign test detects with each.

    Only numbers that allow one more loss: if the losses allowed stay the same, more requests have less power.
    """
    from scipy.special import bdtr

    tested = np.arange(1, LONGEST + 1)
    allowed = _losses_allowed(tested, alpha)
    is_gain = np.diff(allowed, prepend=-1) > 0
    tested, allowed = tested[is_gain], allowed[is_gain].astype(float)

    def power_at(effects: FloatArray) -> FloatArray:
        share = (1 + effects) / 2
        return np.asarray(bdtr(allowed, tested, share) + bdtr(allowed, tested, 1 - share))

    return tested, _least(power_at, power, len(tested))


def _losses_allowed(untied: IntArray, alpha: float) -> IntArray:
    """Return how many losses the sign test may have with p < alpha; -1 if not even none.

    >>> _losses_allowed(np.array([5, 6, 9, 20]), 0.05).tolist()
    [-1, 0, 1, 5]
    """
    from scipy.special import bdtr

    losses = np.arange(LONGEST // 2 + 1)
    pvalues = 2 * bdtr(losses.astype(float), untied[:, None], 0.5)
    return np.asarray(np.count_nonzero((pvalues < alpha) & (losses < untied[:, None] / 2), axis=1) - 1)


def _least(power_at: Callable[[FloatArray], FloatArray], power: float, size: int) -> FloatArray:
    """Return the least effects in [0, 1] with this power, which grows with the effect and is 1 at 1, by bisection."""
    low, high = np.zeros(size), np.ones(size)
    for _ in range(50):
        middle = (low + high) / 2
        is_enough = power_at(middle) >= power
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return high

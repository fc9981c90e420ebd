"""Power: how many differences a measure shows, what these queries can show, and how many queries it would take.

Belongs here: discriminative power, and planning: the least effect that can be detected, and the number of queries
needed for an effect that is named. Not here: power computed from the observed effect, which repeats its p-value.

For every number of queries there is a least effect that the test detects with the desired power. A table of these, made
once, answers for all pairs: the number needed is the first with a least effect not larger than the one named.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.statistics.paired import check_chance

LONGEST = 1000  # up to so many queries power is exact, beyond that by the normal distribution
NODES = 64  # of the quadrature: twice as many change nothing beyond rounding


def discriminative_power(pvalues: npt.ArrayLike, alpha: float = 0.05) -> float:
    """Return the share of pairs with p < alpha among those with a defined p; nan without any.

    >>> discriminative_power([0.01, 0.2, float("nan"), 0.049], 0.05)
    0.6666666666666666
    """
    check_chance("alpha", alpha)
    values = np.asarray(pvalues, dtype=float)
    defined = values[~np.isnan(values)]
    return float(np.mean(defined < alpha)) if defined.size else np.nan


def share_of_alpha(alpha: float, correction: str, num_pairs: int) -> float:
    """Return the level at which one of many pairs is planned for: alpha/pairs for Holm and Bonferroni, else alpha.

    A pair with p below alpha/pairs is significant whatever the others are. With Benjamini and Hochberg's correction the
    level depends on how many other pairs differ, and alpha is its upper end.

    >>> share_of_alpha(0.05, "holm", 10), share_of_alpha(0.05, "bh", 10)
    (0.005, 0.05)
    """
    check_chance("alpha", alpha)
    return alpha / max(num_pairs, 1) if correction in ("holm", "bonferroni") else alpha


def detectable_effects(num_queries: IntArray, *, alpha: float = 0.05, power: float = 0.8) -> FloatArray:
    """Return the least effect d_z = mean/sd that the paired t test detects with so many queries, [P].

    That is the least effect with which p < alpha has the probability `power`, for normal differences; nan below two
    queries. It is exact up to 1000 queries, and from the normal distribution beyond. Times the standard deviation it is
    the least difference that can be detected.

    >>> detectable_effects(np.array([1, 10, 34, 50])).round(3).tolist()
    [nan, 0.996, 0.495, 0.404]
    """
    _check(alpha, power)
    n = np.asarray(num_queries)
    _, bounded = _least_effects_of_t(alpha, power)
    z, shift = _least_shift_of_normal(alpha, power)
    within = bounded[np.clip(n, 2, LONGEST) - 2]
    with np.errstate(divide="ignore"):
        effects = np.where(n <= LONGEST, within / (1 - within), shift / np.sqrt(np.maximum(n - z**2 / 2, 1)))
    return np.where(n < 2, np.nan, effects)


def detectable_shares(num_untied: IntArray, *, alpha: float = 0.05, power: float = 0.8) -> FloatArray:
    """Return the least share of wins among so many untied queries that the sign test detects, [P].

    That is the least share with which p < alpha has the probability `power`. It is infinite if p cannot be below alpha,
    even if every query is won. It is exact up to 1000 queries, and from the normal distribution beyond.

    >>> detectable_shares(np.array([5, 6, 49, 50])).round(3).tolist()
    [inf, 0.963, 0.698, 0.704]
    """
    _check(alpha, power)
    n = np.asarray(num_untied)
    _, shift = _least_shift_of_normal(alpha, power)
    sizes, number = np.unique(np.minimum(n, LONGEST), return_inverse=True)
    allowed = _losses_allowed(sizes, alpha)
    balances = np.full(len(sizes), np.inf)
    balances[allowed >= 0] = _least_balances(sizes[allowed >= 0], allowed[allowed >= 0], power)
    beyond = shift / np.sqrt(np.maximum(n, 1))
    return np.asarray((1 + np.where(n <= LONGEST, balances[number.ravel()].reshape(n.shape), beyond)) / 2)


def queries_for_effects(effects: FloatArray, *, alpha: float = 0.05, power: float = 0.8) -> FloatArray:
    """Return how many queries the paired t test needs to detect effects d_z = difference/sd, [P].

    That is the least number, and at least 2, with which p < alpha has the probability `power`. The difference is one
    that you want to detect. An observed one says nothing new: its power is a function of its p-value (Hoenig and Heisey
    2001). The number is infinite without an effect (or with one below 1e-12, which is rounding), and nan for nan.

    It is exact up to 1000 queries. Beyond that it comes from the normal distribution. If it takes a mean of s standard
    errors, it is (s/d)² + z²/2 with the critical value z, off by one at most (Guenther 1981).

    >>> queries_for_effects(np.array([0.2, -0.5, 0.8, 0.0])).tolist()
    [199.0, 34.0, 15.0, inf]
    """
    _check(alpha, power)
    sizes = np.abs(effects)
    needed = _by_t_test(np.maximum(sizes, TOLERANCE), alpha, power)
    return np.where(sizes <= TOLERANCE, np.inf, needed)


def queries_for_preference(
    preference: float, num_untied: IntArray, num_queries: IntArray, *, alpha: float = 0.05, power: float = 0.8
) -> FloatArray:
    """Return how many queries the sign test needs to detect a mean preference, (wins - losses)/n, [P].

    The share of ties is that of the queries at hand. It leaves no room for a mean preference above the share of untied
    queries, so the number is infinite there; it is nan without queries. The power of the test rises and falls as
    untied queries are added one by one; the first number that reaches it is taken. It is exact up to 1000 untied
    queries. Beyond that it comes from the normal distribution, (s/b)² for b = wins - losses per untied query, off by 2%
    at most where alpha <= .05 and power >= .5.

    >>> queries_for_preference(0.4, np.array([10, 5, 3]), np.array([10, 10, 10])).tolist()
    [49.0, 24.0, inf]
    """
    _check(alpha, power)
    with np.errstate(divide="ignore", invalid="ignore"):
        balances = abs(preference) * num_queries / num_untied
        tested, least = _least_effects_of_signs(alpha, power)
        _, shift = _least_shift_of_normal(alpha, power)
        needed = _looked_up(np.minimum(balances, 1), tested, least, (shift / balances) ** 2) * num_queries / num_untied
    needed = np.where((balances > 1 + TOLERANCE) | (balances == 0) | (num_untied == 0), np.inf, needed)
    return np.where(num_queries == 0, np.nan, np.ceil(needed))


def _check(alpha: float, power: float) -> None:
    check_chance("alpha", alpha)
    check_chance("power", power)


def _by_t_test(effects: FloatArray, alpha: float, power: float) -> FloatArray:
    """Return the number of queries for effects d_z > 0, nan for nan."""
    with np.errstate(invalid="ignore"):
        bounded = np.where(np.isinf(effects), 1.0, effects / (1 + effects))
    tested, least = _least_effects_of_t(alpha, power)
    z, shift = _least_shift_of_normal(alpha, power)
    needed = _looked_up(bounded, tested, least, (shift / effects) ** 2 + z**2 / 2)
    return np.where(np.isnan(effects), np.nan, needed)


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
    """Return 2, 3, … queries, and d/(1 + d) for the least effect d that the t test detects with each."""
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

    nodes, weights = _quadrature()
    reach = 9 / np.sqrt(df)  # V is farther from 1 than this with a probability below exp(-9²/2) on either side
    low, high = (np.clip((shift + side) / critical, np.maximum(0, 1 - reach), 1 + reach) for side in (-8, 8))
    v = low[:, None] + (high - low)[:, None] * (1 + nodes) / 2
    half, t, shift = df[:, None] / 2, critical[:, None], shift[:, None]
    log_density = np.log(2) + half * np.log(half) - gammaln(half) + (2 * half - 1) * np.log(v) - half * v**2
    integrand = np.exp(log_density) * (ndtr(shift - t * v) + ndtr(-shift - t * v))
    return np.asarray(gammainc(df / 2, df / 2 * low**2) + (high - low) / 2 * (integrand @ weights))


@lru_cache(maxsize=1)
def _quadrature() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


@lru_cache(maxsize=32)
def _least_effects_of_signs(alpha: float, power: float) -> tuple[IntArray, FloatArray]:
    """Return numbers of untied queries, and 2π - 1 for the least share π of wins that the sign test detects with each.

    Only numbers that allow one more loss: if the losses allowed stay the same, more queries have less power.
    """
    tested = np.arange(1, LONGEST + 1)
    allowed = _losses_allowed(tested, alpha)
    is_gain = np.diff(allowed, prepend=-1) > 0
    return tested[is_gain], _least_balances(tested[is_gain], allowed[is_gain], power)


def _least_balances(untied: IntArray, allowed: IntArray, power: float) -> FloatArray:
    """Return 2π - 1 for the least share π of wins with which no more losses than allowed have this power."""
    from scipy.special import bdtr

    losses = allowed.astype(float)

    def power_at(effects: FloatArray) -> FloatArray:
        share = (1 + effects) / 2
        return np.asarray(bdtr(losses, untied, share) + bdtr(losses, untied, 1 - share))

    return _least(power_at, power, len(untied))


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

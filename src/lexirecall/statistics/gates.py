"""Gates: what a build among many on the same queries may spend of alpha, one-sided p, and what can be noticed.

Belongs here: the arithmetic of one decision among several. Not here: the tests of pairs (paired), what is decided (the
room `gates`).
"""

import math

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.paired import check_chance
from lexirecall.statistics.tails import binomial_chances, normal_quantile


def level_of_build(alpha: float, build: int) -> float:
    """Return 6 alpha/(pi² t²), the level at which build t is tested: over all builds these levels add up to alpha.

    Looking at the same queries again is not fresh data. So that any number of builds together raise a false alarm with
    the chance alpha at most, whatever they have in common, each has a share of it.

    >>> [round(level_of_build(0.05, build), 5) for build in (1, 2, 10)]
    [0.0304, 0.0076, 0.0003]
    >>> round(sum(level_of_build(0.05, build) for build in range(1, 100_000)), 4)
    0.05
    """
    check_chance("alpha", alpha)
    if build < 1:
        raise UsageError(f"build {build} cannot be: builds are counted from 1")
    return 6 * alpha / (math.pi * build) ** 2


def chance_of_losses(wins: int, losses: int) -> float:
    """Return P(X <= wins), X binomial with wins + losses trials and chance 1/2: the one-sided p of the sign test.

    >>> chance_of_losses(0, 6), chance_of_losses(2, 1), chance_of_losses(0, 0)
    (0.015625, 0.875, 1.0)
    """
    if wins <= losses:
        return _at_most(wins, wins + losses)
    return 1 - _at_most(losses - 1, wins + losses) if losses else 1.0


def _at_most(number: int, trials: int) -> float:
    return float(binomial_chances(np.array([number]), np.array([trials]))[0])


def chance_of_worse(two_sided: float, difference: float) -> float:
    """Return the one-sided p of a test with a symmetric distribution; small if the difference is surely below 0.

    >>> chance_of_worse(0.04, -0.1), chance_of_worse(0.04, 0.1)
    (0.02, 0.98)
    """
    return two_sided / 2 if difference < 0 else 1 - two_sided / 2


def fewest_losses(level: float) -> int:
    """Return how many queries must be lost, and none won, for the one-sided sign test to have p < level.

    >>> fewest_losses(0.05), fewest_losses(0.025), fewest_losses(0.5)
    (5, 6, 2)
    """
    check_chance("level", level)
    needed = least_attainable("sign", 0, alpha=2 * level).needed_requests  # of a one-sided p, twice is two-sided
    assert needed is not None  # noqa: S101 - no query is never enough
    return needed


def noticed_share(num_queries: int, level: float, power: float = 0.8) -> float:
    """Return the least share of queries lost, and none won, that the sign test notices with this power.

    Each query is lost with this chance. The test notices it if at least `fewest_losses` of the queries are lost. It is
    infinite if there are fewer queries than that.

    >>> round(noticed_share(50, 0.05), 4), noticed_share(4, 0.05)
    (0.1308, inf)
    """
    check_chance("power", power)
    fewest = fewest_losses(level)
    if num_queries < fewest:
        return math.inf
    from scipy.special import betaincinv

    return float(betaincinv(fewest, num_queries - fewest + 1, power))  # P(X >= k) = I_p(k, n - k + 1)


def skewness_of(differences: FloatArray) -> float:
    """Return the mean of ((d - mean)/sd)³; 0 if all differences are equal.

    >>> skewness_of(np.array([0.0, 0.0, 0.0, 1.0])) > 1, skewness_of(np.ones(3)), skewness_of(np.array([]))
    (True, 0.0, 0.0)
    """
    if not len(differences):
        return 0.0
    deviations = differences - differences.mean()
    spread = float(np.sqrt(np.mean(deviations**2)))
    return float(np.mean((deviations / spread) ** 3)) if spread > TOLERANCE else 0.0


def level_with_skew(level: float, skewness: float, num_queries: int) -> float:
    """Return about how often the one-sided t test has p < level if the mean difference is 0 and differences are skewed.

    It is level + γ (2z² + 1) φ(z)/(6 sqrt(n)), the first term of Edgeworth's expansion, where z is the normal quantile
    of 1 - level: few large gains (γ > 0) make the other queries look like losses.

    >>> round(level_with_skew(0.05, 0.0, 50), 4), round(level_with_skew(0.05, 2.0, 50), 4)
    (0.05, 0.0812)
    """
    z = normal_quantile(level)
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return min(max(level + skewness * (2 * z * z + 1) * density / (6 * math.sqrt(num_queries)), 0.0), 1.0)

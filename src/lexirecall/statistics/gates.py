"""Gates: what a build among many on the same queries may spend of alpha, one-sided p, and what can be noticed.

Belongs here: the arithmetic of one decision among several. Not here: the tests of pairs (paired), what is decided (the
room `gates`).
"""

import math

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.hall import chance_of_worse
from lexirecall.statistics.paired import check_chance
from lexirecall.statistics.tails import binomial_chances

_HALVINGS = 40


def level_of_build(alpha: float, build: int, builds: int | None = None) -> float:
    """Return the level at which build t is tested: 6 alpha/(pi² t²), or alpha/N if N builds are planned.

    Looking at the same queries again is not fresh data. So that all builds together raise a false alarm with the chance
    alpha at most, whatever they have in common, each has a share of it: over any number of builds these add up to
    alpha.

    >>> [round(level_of_build(0.05, build), 5) for build in (1, 2, 10)], level_of_build(0.05, 10, 20)
    ([0.0304, 0.0076, 0.0003], 0.0025)
    >>> round(sum(level_of_build(0.05, build) for build in range(1, 100_000)), 4)
    0.05
    """
    check_chance("alpha", alpha)
    if build < 1 or (builds is not None and build > builds):
        raise UsageError(f"build {build} cannot be: builds are counted from 1{f' to {builds}' if builds else ''}")
    return 6 * alpha / (math.pi * build) ** 2 if builds is None else alpha / builds


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


def chance_of_lower_mean(two_sided: float, difference: float, differences: FloatArray) -> float:
    """Return the one-sided p that a mean difference is below 0: the larger of those of the t test and of Hall's.

    `two_sided` is the p of the t test. If a few queries gain much and the others lose little, t alone fails a run that
    is no worse too often; if a few lose much, Hall's p alone would.

    >>> few_large_gains = np.array([-0.1] * 18 + [0.5, 0.5])  # two-sided p of t: 0.345
    >>> round(chance_of_lower_mean(0.345, -0.04, few_large_gains), 3)
    0.254
    >>> round(chance_of_lower_mean(0.345, 0.04, -few_large_gains), 3)
    0.828
    """
    by_t = two_sided / 2 if difference < 0 else 1 - two_sided / 2
    return float(np.fmax(by_t, chance_of_worse(differences)))  # Hall's p is nan where t has none to mend


def fewest_losses(level: float) -> int:
    """Return how many queries must be lost, and none won, for the one-sided sign test to have p < level.

    >>> fewest_losses(0.05), fewest_losses(0.025), fewest_losses(0.5)
    (5, 6, 2)
    """
    check_chance("level", level)
    needed = least_attainable("sign", 0, alpha=2 * level).needed_queries  # of a one-sided p, twice is two-sided
    assert needed is not None  # noqa: S101 - no query is never enough
    return needed


def noticed_share(num_queries: int, num_untied: int, level: float, power: float = 0.8) -> float:
    """Return the least share of queries made worse that the one-sided sign test notices with this power.

    Each query is made worse with this chance. If not, it moves as the queries do now, either way by chance: it is won
    with the chance u/2n, and lost with the same one. It is infinite if even all queries lost would not be noticed.

    >>> [round(noticed_share(50, untied, 0.05), 4) for untied in (0, 10, 40)], noticed_share(4, 0, 0.05)
    ([0.1308, 0.2224, 0.337], inf)
    """
    check_chance("power", power)
    if num_queries < fewest_losses(level):
        return math.inf
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):  # each query made worse adds a loss, or takes away a win: power grows with the share
        share = (low + high) / 2
        if _power(share, num_queries, num_untied, level) < power:
            low = share
        else:
            high = share
    return high


def _power(share: float, num_queries: int, num_untied: int, level: float) -> float:
    """Return the chance that the sign test has p < level if this share of the queries is made worse.

    Of n queries u move, with the chance u/n each, and of these some are won: both numbers are binomial. The first is
    summed over where all but 1e-15 of its chance is.
    """
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    won = (1 - share) * num_untied / num_queries / 2
    moving = min(share + 2 * won, 1.0)
    mean, reach = num_queries * moving, 8 * math.sqrt(num_queries * moving * (1 - moving)) + 30
    u = np.arange(max(0, math.floor(mean - reach)), min(num_queries, math.ceil(mean + reach)) + 1)
    ways = gammaln(num_queries + 1) - gammaln(u + 1) - gammaln(num_queries - u + 1)
    chances = np.exp(ways + xlogy(u, moving) + xlog1py(num_queries - u, -moving))
    allowed = _wins_allowed(u, level)
    noticed = np.where(allowed < 0, 0.0, bdtr(np.maximum(allowed, 0).astype(float), u, won / moving))
    return float(chances @ noticed)


def _wins_allowed(untied: IntArray, level: float) -> IntArray:
    """Return with how many wins, at most, the one-sided p of so many untied queries is below the level; -1 if none.

    >>> _wins_allowed(np.array([4, 5, 8, 100]), 0.05).tolist()
    [-1, 0, 1, 41]
    """
    low, high = np.full(len(untied), -1), untied // 2 + 1  # half of the wins have p above 1/2
    while (is_open := high - low > 1).any():
        middle = (low + high) // 2
        is_below = np.zeros(len(untied), bool)
        is_below[is_open] = binomial_chances(middle[is_open], untied[is_open]) < level
        low, high = np.where(is_open & is_below, middle, low), np.where(is_open & ~is_below, middle, high)
    return low

"""The studentized range: how far apart the best and the worst of k equal groups are by chance.

Belongs here: its upper tail and its critical values. Not here: what the groups are (`hsd`).

W is the range of k independent standard normal variables, S² is an independent χ² divided by its ν degrees of freedom,
and the studentized range is W/S. Its upper tail is an integral over t = log s,

    P(W > qS) = ∫ f(t) G(q e^t) dt,   f(t) ∝ exp(νt - ν e^{2t}/2),
    G(w) = P(W > w) = k ∫ φ(z) [Φ(z)^{k-1} - (Φ(z) - Φ(z-w))^{k-1}] dz.

The bracket is Φ(z)^{k-1} (1 - (1-r)^{k-1}), r = Φ(z-w)/Φ(z), which expm1 and log1p compute without cancellation. Both
integrands are analytic and vanish at both ends, so the trapezoid rule converges exponentially. The steps below leave a
relative error of less than 1e-11 for k up to 2,000, any ν from 1 on, and any chance above 1e-100.
"""

from functools import lru_cache

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray
from lexirecall.statistics.paired import check_chance

LEAST_ALPHA = 1e-100
"""The smallest chance for which a critical value is given."""

_SMALLEST = 40.0  # what is left out of the integral over t is e^-40 of its peak
_WIDEST = 40  # G is 1e-170 there, and taken as 0 beyond
_DEGREE = 19  # of the polynomial that replaces G between two whole numbers
_BLOCK = 2**15  # values of G at once, few enough for the cache


def sf(q: FloatArray, k: int, df: float) -> FloatArray:
    """Return the chance that the studentized range of k groups exceeds q, for 1 to infinitely many degrees of freedom.

    P(W > qS), as at the top of this module; 1 for q <= 0. For two groups it is the two-sided p of t = q/√2.

    >>> sf(np.array([0.0, 3.5, 25.0]), 3, 10)
    array([1.00000000e+00, 7.71033108e-02, 1.96108175e-08])
    """
    _check(k, df)
    q = np.asarray(q, float)
    chances = np.where(np.isnan(q), np.nan, (q <= 0).astype(float))
    is_inside = (q > 0) & np.isfinite(q)
    chances[is_inside] = np.minimum(_integrate(q[is_inside], k, df), 1.0)
    return chances


def critical_value(alpha: float, k: int, df: float) -> float:
    """Return the q that the studentized range exceeds with the chance alpha: sf(q) = alpha, to about twelve digits.

    >>> round(critical_value(0.05, 3, 10), 6)
    3.876777
    """
    _check(k, df)
    check_chance("alpha", alpha)
    if alpha < LEAST_ALPHA:
        raise UsageError(f"alpha is {alpha!r}, but must be at least {LEAST_ALPHA} to have a critical value")
    return _critical_value(float(alpha), int(k), float(df))


@lru_cache(maxsize=256)
def _critical_value(alpha: float, k: int, df: float) -> float:
    low, high = 0.0, 36.0  # log sf is below log(LEAST_ALPHA) there: 36²/4 = 324, less 2 log k
    for _ in range(9):  # 64^9 parts
        grid = np.linspace(low, high, 65)
        passed = int(np.count_nonzero(sf(_unbent(grid[1:-1], df), k, df) > alpha))
        low, high = grid[passed], grid[passed + 1]
    return float(_unbent(np.array(low + high) / 2, df))


def _check(k: int, df: float) -> None:
    if not (isinstance(k, (int, np.integer)) and k >= 2):
        raise UsageError(f"k is {k!r}, but must be a whole number of groups, at least 2")
    if not df >= 1:
        raise UsageError(f"df is {df!r}, but must be at least 1; infinity is allowed")


def _unbent(y: FloatArray, df: float) -> FloatArray:
    """Return the q of y = √(2ν log(1 + q²/2ν)), in which log sf falls like -y²/4 for every ν."""
    return y if np.isinf(df) else np.sqrt(2 * df * np.expm1(y**2 / (2 * df)))


# The integral over t = log s


def _integrate(q: FloatArray, k: int, df: float) -> FloatArray:
    """Return P(W > qS) for 0 < q < infinity."""
    if np.isinf(df):
        return _weighed(q, np.zeros_like(q), k)
    step, below, above = _steps(k, df)
    nodes = step * np.arange(-below, above + 1, dtype=float)
    log_total = np.log(np.exp(_log_density(nodes, df)).sum())
    size = max(1, _BLOCK // len(nodes))
    chances = np.empty_like(q)
    for start in range(0, len(q), size):
        part = q[start : start + size, None]
        t = nodes - np.log(np.hypot(1.0, part / np.sqrt(2 * df)))
        chances[start : start + size] = _weighed(part * np.exp(t), _log_density(t, df) - log_total, k).sum(axis=1)
    return chances


def _steps(k: int, df: float) -> tuple[float, int, int]:
    """Return the step of the rule, and how many steps it goes below and above the middle.

    f is about normal with deviation 1/√(2ν), and falls like e^{νt} on the left. G falls like e^{-w²/4}, so the product
    has about the shape of f, with its middle at t = -log(1 + q²/2ν)/2. But with many groups G stays near 1 for longer
    and then falls as extreme values do, more steeply with more groups. So the steps shrink with log k.
    """
    step = min(0.15 / (1 + np.log(k)), 0.42 / np.sqrt(df))
    room = _SMALLEST / df
    return float(step), int(np.ceil((np.sqrt(room) + room) / step)), int(np.ceil(np.sqrt(room) / step))


def _log_density(t: FloatArray, df: float) -> FloatArray:
    """Return log f(t) - log f(0); the constant comes from the rule itself, to more digits than the Γ function has."""
    return df * (t - np.expm1(2 * t) / 2)


# G, the range of k normal variables


def _weighed(w: FloatArray, log_weights: FloatArray, k: int) -> FloatArray:
    """Return exp(log_weights) G(w), from the polynomials for G(w) exp(w²/4)."""
    from numpy.polynomial.chebyshev import chebval

    is_known = w < _WIDEST
    w = np.where(is_known, w, 0.0)
    piece = w.astype(int)
    scaled = chebval(2 * (w - piece) - 1, _pieces(k)[:, piece], tensor=False)
    return np.where(is_known, np.exp(log_weights - w**2 / 4) * scaled, 0.0)


@lru_cache(maxsize=16)
def _pieces(k: int) -> FloatArray:
    """Return the coefficients of Chebyshev's polynomials for G(w) exp(w²/4) between w = 0, 1, 2 …, [degree, piece]."""
    from numpy.polynomial.chebyshev import chebpts1, chebvander

    nodes = chebpts1(_DEGREE + 1)
    w = np.arange(_WIDEST) + (nodes[:, None] + 1) / 2
    coefficients = chebvander(nodes, _DEGREE).T @ (_range_tail(w, k) * np.exp(w**2 / 4)) * (2 / (_DEGREE + 1))
    coefficients[0] /= 2
    return np.asarray(coefficients)


def _range_tail(w: FloatArray, k: int) -> FloatArray:
    """Return G(w) by the trapezoid rule in z - w/2: for wide ranges the largest and the smallest are near ±w/2."""
    from scipy.special import log_ndtr, ndtr

    step = 0.1
    w = w[..., None]
    z = w / 2 + np.arange(-9.5, 9.5 + step / 2, step)
    r = np.minimum(ndtr(z - w) / ndtr(z), 1.0)
    with np.errstate(divide="ignore"):  # log 0 where z is so large that r is 1 in floats
        log_within = (k - 1) * np.log1p(-r)
    density = np.exp((k - 1) * log_ndtr(z) - z**2 / 2) / np.sqrt(2 * np.pi)
    return np.asarray(k * step * (density * -np.expm1(log_within)).sum(axis=-1))

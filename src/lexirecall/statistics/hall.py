"""Hall: what can be said of the mean of values that are skewed, without resampling.

Belongs here: Hall's transformation of the t statistic, the interval of a mean that follows from it, and one-sided p.
Not here: which measures and how many queries have an interval (verbs), differences of pairs (`paired`).

With few large values the distribution of T = sqrt(n) (mean - μ)/s is skewed itself, and t limits miss on one side. With
W = (mean - μ)/s and the skewness c, sqrt(n) (W + c W²/3 + c² W³/27 + c/(6n)) is nearly symmetric. It is a cubic that
grows everywhere, so it has an inverse, and limits of t become limits of the mean (P. Hall, On the removal of skewness
by transformation, Journal of the Royal Statistical Society B 54, 1992).
"""

import math
from collections.abc import Iterator

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.statistics.tails import t_limit, t_pvalues

FEWEST = 8
"""With fewer values no interval of a mean holds what it says."""
_STRAIGHT = 1e-6  # below this skewness the cubic is a line up to rounding, and its inverse would divide by nearly 0


def mean_intervals(values: FloatArray, *, alpha: float = 0.05, is_skewed: bool = True) -> tuple[FloatArray, FloatArray]:
    """Return where the interval of the mean of each column of values, [n, C], begins and ends, [C].

    A value of nan is left out. There is no interval, but nan, where there are fewer than FEWEST values, and where all
    are equal. Unless the values are taken as skewed, it is that of Student's t.

    >>> one = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.3, 0.9])[:, None]
    >>> [end.round(4).tolist() for end in mean_intervals(one)]  # by t: -0.0528 to 0.4528
    [[0.0353], [1.0184]]
    """
    lows, highs = np.full((2, values.shape[1]), np.nan)
    for columns, rows in of_each_number(values):
        if (n := rows.shape[1]) < FEWEST:
            continue
        means, spreads, skewness = _moments(rows)
        skewness = skewness if is_skewed else np.zeros_like(skewness)
        reach = t_limit(alpha, n - 1) / math.sqrt(n)
        with np.errstate(invalid="ignore"):
            lows[columns] = means - spreads * _inverse(np.full(len(columns), reach), skewness, n)
            highs[columns] = means - spreads * _inverse(np.full(len(columns), -reach), skewness, n)
    return lows, highs


def of_each_number(values: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
    """Give the columns, [n, C], with equally many values that are not nan, and these values, [columns, number].

    >>> [(columns.tolist(), rows.tolist()) for columns, rows in of_each_number(np.array([[1.0, np.nan], [2.0, 3.0]]))]
    [([1], [[3.0]]), ([0], [[1.0, 2.0]])]
    """
    is_there = ~np.isnan(values)
    numbers = is_there.sum(axis=0)
    for n in np.unique(numbers[numbers > 0]).tolist():
        columns = np.flatnonzero(numbers == n)
        yield columns, values.T[columns][is_there.T[columns]].reshape(-1, n)


def chance_of_worse(differences: FloatArray) -> float:
    """Return the one-sided p that the mean of these differences is below 0, without the skewness; nan below 3 of them.

    It is P(t <= sqrt(n) h(W)) with n - 1 degrees of freedom, W = mean/s. If all are equal it is nan: t says nothing.

    >>> few_large_gains = np.array([-0.1] * 18 + [0.5, 0.5])  # by t: 0.172
    >>> round(chance_of_worse(few_large_gains), 3), round(chance_of_worse(-few_large_gains), 3)
    (0.254, 0.746)
    """
    n = len(differences)
    if n < 3:
        return math.nan
    (mean,), (spread,), (c,) = _moments(differences[None, :])
    w = float(mean / spread)
    statistic = math.sqrt(n) * (w + c * w**2 / 3 + c**2 * w**3 / 27 + c / (6 * n))
    half = float(t_pvalues(np.array([abs(statistic)]), np.array([n - 1]))[0]) / 2
    return half if statistic <= 0 else 1 - half


def _moments(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, sample deviation and skewness, n²/((n - 1)(n - 2)) mean(((x - mean)/s)³), of each row, [P, n].

    The last two are nan where all values are equal.
    """
    n = values.shape[1]
    means = values.mean(axis=1)
    centred = values - means[:, None]
    spreads = np.sqrt((centred**2).sum(axis=1) / (n - 1))
    spreads[np.ptp(values, axis=1) <= TOLERANCE * np.abs(values).max(axis=1)] = np.nan
    skewness = n**2 / ((n - 1) * (n - 2)) * np.mean((centred / spreads[:, None]) ** 3, axis=1)
    return means, spreads, skewness


def _inverse(y: FloatArray, skewness: FloatArray, n: int) -> FloatArray:
    """Return the W whose transform is y."""
    c = np.where(np.abs(skewness) < _STRAIGHT, 1.0, skewness)
    return np.where(np.abs(skewness) < _STRAIGHT, y, 3 / c * (np.cbrt(1 + c * (y - c / (6 * n))) - 1))

"""Shares: what part of the comparisons has a property, with its interval over the queries.

Belongs here: shares of pooled counts, their intervals, and the differences between the shares of two measures. Not
here: what is counted (`ties`, `agreement`, `degradation`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import FloatArray
from lexirecall.meta.resampling import Bootstrap
from lexirecall.tables import defined

CONTRAST_COLUMNS = ("collection", "task", "label", "quantity", "a", "b", "difference", "low", "high", "over", "queries")


@dataclass(frozen=True, eq=False)
class PooledShares:
    """Several shares, each the sum of its parts over the queries divided by that of its wholes.

    >>> share = PooledShares(np.array([[1.0], [3.0]]), np.array([[2.0], [4.0]]))
    >>> share.values.round(4).tolist()
    [0.6667]
    """

    parts: FloatArray
    """Whole numbers, [Q, shares]."""
    wholes: FloatArray

    @classmethod
    def of(cls, columns: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]]) -> "PooledShares":
        """Take the parts and the wholes of each share, [Q] each."""
        parts, wholes = (np.stack([np.asarray(pair[i], float) for pair in columns], axis=1) for i in (0, 1))
        return cls(parts, wholes)

    @property
    def values(self) -> FloatArray:
        """The shares; nan where the whole is empty."""
        return _divided(self.parts.sum(axis=0), self.wholes.sum(axis=0))

    def resampled(self, bootstrap: Bootstrap) -> FloatArray:
        """Return the shares in each resample, [resamples, shares]; the share itself where a resample has no whole."""
        shares = _divided(*np.hsplit(bootstrap.sums(np.hstack([self.parts, self.wholes])), 2))
        return np.where(np.isnan(shares), self.values, shares)


def _divided(parts: FloatArray, wholes: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(parts / wholes)


def bounded(name: str, value: float, low: float, high: float) -> dict[str, float | None]:
    """Return a number with its interval as columns of a row.

    >>> bounded("ties", 0.5, 0.25, float("nan"))
    {'ties': 0.5, 'ties_low': 0.25, 'ties_high': None}
    """
    return {name: defined(value), f"{name}_low": defined(low), f"{name}_high": defined(high)}


def contrasts(quantity: str, counts: Mapping[str, npt.NDArray[Any]], bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    """Give the difference between the shares of each pair of measures, from their parts and wholes, [2, P, Q]."""
    sums = np.array([count.sum(axis=(1, 2)) for count in counts.values()], float)
    drawn = bootstrap.pooled([one for count in counts.values() for one in count])
    values, resampled = _divided(*sums.T), _divided(drawn[:, ::2], drawn[:, 1::2])
    yield from differences(quantity, list(counts), values, np.where(np.isnan(resampled), values, resampled), bootstrap)


def differences(
    quantity: str, names: Sequence[str], values: FloatArray, resampled: FloatArray, bootstrap: Bootstrap
) -> Iterator[dict[str, Any]]:
    """Give the difference between each pair of measures, ± z deviations of what the same resamples give for both.

    A resample that repeats queries or runs may be biased, as its middle would be, but it has the right spread.
    """
    for a, b in combinations(range(len(names)), 2):
        difference, reach = values[a] - values[b], float(bootstrap.reach(resampled[:, a] - resampled[:, b]))
        ends = {"low": defined(difference - reach), "high": defined(difference + reach)}
        named = {"quantity": quantity, "a": names[a], "b": names[b], "difference": defined(difference)}
        yield {**named, **ends, "over": bootstrap.over, "queries": bootstrap.num_queries}

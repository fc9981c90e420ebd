"""Resamples: what is said wherever queries are resampled.

Belongs here: checks, sentences and the names of columns. Not here: resampling (statistics), the numbers.
"""

from collections.abc import Mapping
from typing import Any

from lexirecall.aggregation import Resampling

ENDS = ("low", "high")
"""The columns of an interval."""
FEW = 20
"""With fewer queries than this, a percentile interval is clearly too narrow."""


def check_bootstrap(resampling: Resampling, alpha: float = 0.05) -> None:
    """Raise before anything is read if there are too few resamples for an interval."""
    if resampling.bootstrap is not None:
        from lexirecall.statistics.bootstrap import check_resamples

        check_resamples(resampling.bootstrap, alpha)


def conventions_of(resampling: Resampling) -> Mapping[str, Any]:
    """Return what a manifest records of intervals: nothing if there are none."""
    if not resampling.has_intervals:
        return {}
    how = {"interval": True} if resampling.bootstrap is None else {"bootstrap": resampling.bootstrap}
    return {**how, "seed": resampling.seed}


def percent(alpha: float) -> str:
    """Return how much an interval covers.

    >>> percent(0.05), percent(0.001)
    ('95 %', '99.9 %')
    """
    return f"{100 * (1 - alpha):g} %"


def resamples(number: int, seed: int) -> str:
    """Say how many resamples there were.

    >>> resamples(10_000, 3)
    '(10,000 resamples of the queries, seed 3)'
    """
    return f"({number:,} resamples of the queries, seed {seed})"


def on_order(alpha: float) -> str:
    """Say what the columns `first` and `resampling range` are."""
    return (
        "first: share of the resamples in which the run is first; resampling range: its ranks in the middle "
        f"{percent(alpha)} of the resamples, not a confidence interval of its rank"
    )

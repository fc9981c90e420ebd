"""Aggregation: how values over queries become numbers, and how uncertain these are.

Belongs here: the options of it, with their defaults, help and checks. Not here: how rankings become positions and how
queries count (manifest), the numbers themselves (statistics).
"""

from dataclasses import dataclass, field
from typing import Any

from lexirecall.errors import UsageError, names_in
from lexirecall.fields import option

MOST_BOOTSTRAPS = 10**5  # all are kept, and more would not move an interval
MIN_QUERIES = 5
"""Groups and providers with fewer queries are not shown: one lucky or unlucky ranking would make them first or last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How uncertain means, win rates and ranks are.

    >>> Resampling(bootstrap=0)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: bootstrap is 0, but must be a whole number from 1 to 100000
    """

    bootstrap: int | None = field(
        default=None,
        metadata=option(
            "Resample the queries N times, and print intervals of means and win rates; 10,000 are usual.",
            "whole",
            least=1,
            most=MOST_BOOTSTRAPS,
            metavar="N",
        ),
    )
    """None: no resamples, and no intervals."""
    seed: int = field(default=0, metadata=option("Seed of the random resamples.", "whole"))

    def __post_init__(self) -> None:
        if self.bootstrap is not None and not (1 <= self.bootstrap <= MOST_BOOTSTRAPS and self.bootstrap % 1 == 0):
            raise UsageError(f"bootstrap is {self.bootstrap}, but must be a whole number from 1 to {MOST_BOOTSTRAPS}")
        if not (self.seed >= 0 and self.seed % 1 == 0):
            raise UsageError(f"seed is {self.seed}, but must be a whole number of at least 0")

    @property
    def has_intervals(self) -> bool:
        """Whether intervals of means are asked for."""
        return self.bootstrap is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Certainty(Resampling):
    """How uncertain the numbers of each run are.

    >>> Certainty(interval=True).has_intervals, Certainty(bootstrap=99).has_intervals, Certainty().has_intervals
    (True, True, False)
    """

    interval: bool = field(
        default=False,
        metadata=option("Print the 95 % interval of each mean, win rate, median, quantile and tail.", "flag"),
    )

    @property
    def has_intervals(self) -> bool:
        """Whether intervals are asked for; resamples are, to have intervals."""
        return bool(self.interval) or self.bootstrap is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """How the values of many queries become one number.

    >>> Aggregation(over="median").over
    ('median',)
    >>> Aggregation(min_queries=0)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: min_queries is 0, but must be a whole number of at least 1
    """

    over: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "What to print instead of the mean over queries: median, min (the lowest value), quantile:Q (such as "
            "quantile:0.9), tail:Q (the mean of the worst share Q of the queries), or mean. Can be repeated.",
            "several",
            metavar="mean|median|min|quantile:Q|tail:Q",
        ),
    )
    """In Python also one text; none of them means the mean."""
    by: Any = field(
        default=None,
        metadata=option(
            "Also print the numbers of each group of queries, the worst group first: a file with lines `query group`.",
            "file",
            metavar="FILE",
        ),
    )
    """A file, {query: group}, a table, or the name of a column in frames of judgments."""
    min_queries: int = field(
        default=MIN_QUERIES,
        metadata=option(
            "Fewest queries of a group, or of a provider, that is shown. Smaller ones are counted, not shown.",
            "whole",
            least=1,
            metavar="N",
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "over", names_in("over", self.over))
        if not (self.min_queries >= 1 and self.min_queries % 1 == 0):
            raise UsageError(f"min_queries is {self.min_queries}, but must be a whole number of at least 1")

    @property
    def is_asked(self) -> bool:
        """Whether anything but the mean over all queries is asked for."""
        return bool(self.over) or self.by is not None

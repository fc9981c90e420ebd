"""Bootstrapped: the intervals of means, win rates and other numbers when the queries are resampled.

Belongs here: the intervals of an evaluation, and what is said about them. Not here: resampling (statistics.bootstrap),
the means that they belong to (averages).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.aggregation import Resampling
from lexirecall.errors import counted, listed
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Note
from lexirecall.measures import Measure
from lexirecall.measures.providers import WORST_PROVIDER_OVERALL
from lexirecall.names import Evaluable

if TYPE_CHECKING:
    from lexirecall.statistics.over import Over

ENDS = ("boot_low", "boot_high")
"""The columns of an interval."""
FEW = 20
"""With fewer queries than this, a percentile interval is clearly too narrow."""


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrapped:
    """Percentile intervals of the means of S runs × M measures."""

    lows: FloatArray
    """[S, M]; nan where there is no interval."""
    highs: FloatArray
    num_resamples: int
    seed: int
    alpha: float
    notes: tuple[Note, ...]

    @classmethod
    def of(
        cls,
        values: FloatArray,
        measures: Sequence[Evaluable],
        resampling: Resampling,
        *,
        over: "Over | None" = None,
        alpha: float = 0.05,
        show_progress: bool | None = False,
    ) -> "Bootstrapped":
        """Resample the queries of values, [S, Q, M]; of their means if nothing is given that they are `over`.

        >>> from lexirecall.measures import AP
        >>> made = Bootstrapped.of(np.array([[[0.1], [0.5], [0.9]]]), [AP], Resampling(bootstrap=99))
        >>> made.footnote
        '[low, high]: 95 % bootstrap interval (99 resamples of the queries, seed 0)'
        """
        from lexirecall.statistics.over import Over, bootstrap_over  # not on top: most evaluations do without it

        num_resamples = resampling.bootstrap or 0
        is_left_out = np.array([_is_minimum(row) for row in measures])
        resampled = bootstrap_over(
            np.where(is_left_out, np.nan, values),
            over or Over.parse("mean"),
            directions=np.array([row.direction for row in measures]),
            is_sum=np.array([row.total == "sum" for row in measures]),
            num_resamples=num_resamples,
            seed=resampling.seed,
            alpha=alpha,
            show_progress=show_progress,
        )
        notes = (
            *few_queries(resampled.num_queries),
            *_without_value(resampled.num_left_out, measures, num_resamples),
            *_not_resampled(measures, is_left_out),
        )
        return cls(resampled.lows, resampled.highs, num_resamples, resampling.seed, alpha, notes)

    def in_order(self, order: IntArray) -> "Bootstrapped":
        """Return the intervals with the runs in another order."""
        return replace(self, lows=self.lows[order], highs=self.highs[order])

    @property
    def footnote(self) -> str:
        """What the brackets of a table mean."""
        return f"[low, high]: {percent(self.alpha)} bootstrap interval {resamples(self.num_resamples, self.seed)}"


def check_bootstrap(resampling: Resampling, alpha: float = 0.05) -> None:
    """Raise before anything is read if there are too few resamples for an interval."""
    if resampling.bootstrap is not None:
        from lexirecall.statistics.bootstrap import check_resamples

        check_resamples(resampling.bootstrap, alpha)


def conventions_of(resampling: Resampling) -> Mapping[str, Any]:
    """Return what a manifest records of resamples: nothing if there are none."""
    return {} if resampling.bootstrap is None else {"bootstrap": resampling.bootstrap, "seed": resampling.seed}


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


def few_queries(number: int) -> Iterator[Note]:
    """Warn of intervals from few queries."""
    if 0 < number < FEW:
        text = f"the bootstrap resamples {counted(number, 'query')}: below {FEW} its intervals are too narrow"
        yield Note("few queries resampled", text, number)


def _is_minimum(row: Evaluable) -> bool:
    """Tell whether a value is that of the worst-off provider: a minimum, for which resampling is not valid."""
    return isinstance(row, Measure) and row.formulas == WORST_PROVIDER_OVERALL.formulas


def _without_value(num_left_out: IntArray, measures: Sequence[Evaluable], num_resamples: int) -> Iterator[Note]:
    some = np.where(num_left_out < num_resamples, num_left_out, 0).max(axis=0)  # without any value there is no mean
    most = {str(row): int(count) for row, count in zip(measures, some, strict=True) if count}
    if most:
        which = listed((f"{name} up to {count:,} of {num_resamples:,}" for name, count in most.items()), 9)
        text = f"resamples in which a run has no value are left out of its bootstrap interval ({which})"
        yield Note("resamples without a value", text, max(most.values()))


def _not_resampled(measures: Sequence[Evaluable], is_left_out: BoolArray) -> Iterator[Note]:
    names = [str(row) for row, is_out in zip(measures, is_left_out, strict=True) if is_out]
    if names:
        text = f"{listed(names, 9)} has no bootstrap interval: it is a minimum, for which resampling is not valid"
        yield Note("not resampled", text, len(names))

"""Comparing: the new run and the baseline under each measure, in each number and group that is asked for.

Belongs here: the one-sided tests and intervals of one pair. Not here: what is decided from them (decisions), the tests
themselves (statistics).

A share of queries, such as All@20, is 1 or 0 on each query. Its differences are -1, 0 and 1, and wins and losses are
counted as for a preference: the t interval of so few distinct values would be too short.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lexirecall.aggregation import Resampling
from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Note, Policies
from lexirecall.names import Evaluable, parse_preference
from lexirecall.positions import Positions
from lexirecall.statistics.gates import chance_of_losses, chance_of_worse, skewness_of
from lexirecall.statistics.over import Over
from lexirecall.statistics.overpairs import compare_over
from lexirecall.statistics.paired import TESTS, default_test
from lexirecall.statistics.portions import PortionedPairs
from lexirecall.statistics.proportions import preference_interval
from lexirecall.verbs.breakdown import EVERY
from lexirecall.verbs.breakdown_notes import few_at_the_end
from lexirecall.verbs.evaluate import Valued
from lexirecall.verbs.pairparts import NUM_RESAMPLES, own_overs
from lexirecall.verbs.rank import contrasted

_OUTSIDE = 20  # resamples beyond the end of an interval, at least


@dataclass(frozen=True, slots=True)
class Compared:
    """The new run and the baseline under one measure, in one number over all queries or over those of a group."""

    measure: Evaluable
    over: str
    """mean, or another number over queries, as typed."""
    group: str | None
    """None for all queries."""
    difference: float
    """Of new - baseline, or the mean preference; positive if the new run is better, whatever the direction."""
    low: float
    """The lower end of its one-sided interval."""
    high: float
    """The upper end of its one-sided interval."""
    num_queries: int
    wins: int | None
    """None for numbers other than the mean."""
    ties: int | None
    losses: int | None
    method: str
    """The test, in words."""
    p: float
    """One-sided: the chance of such losses if the new run is no worse; nan where an interval decides."""
    deviation: float
    """Standard deviation of the differences; nan where it is not known."""
    skewness: float = 0.0
    """Of the differences, positive with few large gains; 0 where it does not matter."""

    @property
    def is_resampled(self) -> bool:
        """Whether an interval from resamples decides."""
        return self.wins is None

    @property
    def counts(self) -> bool:
        """Whether wins and losses are counted, and sizes are not."""
        return self.method.startswith("sign test")

    @property
    def tested(self) -> float:
        """The difference whose sign the test is about."""
        if self.counts and self.wins is not None and self.losses is not None:
            return self.wins - self.losses
        return self.difference


class _Case(NamedTuple):
    """What is to be compared."""

    row: Evaluable
    over: Over
    group: str | None
    queries: IntArray | None
    """None for all of them."""


@dataclass(frozen=True)
class Comparing:
    """Two runs, the new one first, and what they are to be compared in."""

    positions: Positions
    pair: tuple[str, str]
    """The names of the new run and of the baseline."""
    policies: Policies
    rows: Sequence[Evaluable]
    overs: Sequence[Over]
    groups: Mapping[str, IntArray] = field(default_factory=dict)
    """The queries of each group that is large enough."""

    def __post_init__(self) -> None:
        if any(over.kind == "min" for over in self.overs):
            raise UsageError(
                "the lowest value of a run has no interval, and cannot be tested",
                remedy="require it instead: --require 'min of R@100 >= 0.5'",
            )

    @property
    def cases(self) -> list[_Case]:
        """What is compared: for each measure all queries, then the groups."""
        parts: list[tuple[str | None, IntArray | None]] = [(None, None), *self.groups.items()]
        return [
            _Case(row, over, group, queries)
            for row in self.rows
            for group, queries in parts
            for over in own_overs(row, self.overs)
        ]

    def notes(self, compared: Sequence[Compared]) -> Iterator[Note]:
        """Warn of tails and quantiles that rest on few queries, of all and of each group."""
        for over in self.overs:
            sizes = {each.group or EVERY: each.num_queries for each in compared if each.over == str(over)}
            yield from few_at_the_end([over], sizes)

    @property
    def _places(self) -> tuple[IntArray, IntArray]:
        """The places of the new run and of the baseline among the runs."""
        new, baseline = (np.array([self.positions.systems.index(name)]) for name in self.pair)
        return new, baseline

    def compared(self, alpha: float, resampling: Resampling, *, show_progress: bool | None = False) -> list[Compared]:
        """Compare in each case, with a one-sided interval at its share of alpha."""
        cases = self.cases
        level = alpha / max(len(cases), 1)
        return [
            self._means(case, level)
            if case.over.kind == "mean"
            else self._resampled(case, level, resampling, show_progress=show_progress)
            for case in cases
        ]

    def _means(self, case: _Case, level: float) -> Compared:
        contrasts = contrasted(self.positions, parse_preference(case.row), self.policies)
        pair = PortionedPairs(contrasts, *self._places)
        own = pair if case.queries is None else pair.on(case.queries)
        name = "sign" if case.row.is_share else default_test(own)
        two_sided = 2 * level  # either end of such an interval is a one-sided one
        test = TESTS[name](own, alpha=two_sided)
        wins, ties, losses = int(own.wins[0]), int(own.ties[0]), int(own.losses[0])
        if name == "sign":
            p, skewness = chance_of_losses(wins, losses), 0.0
            low, high = preference_interval(own.wins, own.losses, own.num_requests, alpha=two_sided)
        else:
            p = chance_of_worse(float(test.pvalues[0]), float(own.means[0]))
            low, high, skewness = test.lows, test.highs, skewness_of(_values(own))
        return Compared(
            case.row, str(case.over), case.group, float(own.means[0]), float(low[0]), float(high[0]),
            int(own.num_requests[0]), wins, ties, losses, test.method, p, float(own.deviations[0]),
            skewness,
        )  # fmt: skip

    def _resampled(self, case: _Case, level: float, resampling: Resampling, *, show_progress: bool | None) -> Compared:
        values = Valued.of(self.positions, [case.row], self.policies).placed[:, :, 0]
        # never too few for the interval: builds late in a ledger have little of alpha
        num_resamples = max(resampling.bootstrap or NUM_RESAMPLES, int(np.ceil(_OUTSIDE / level)))
        made = compare_over(
            values if case.queries is None else values[:, case.queries], case.over, *self._places,
            direction=case.row.direction, num_resamples=num_resamples, seed=resampling.seed, alpha=2 * level,
            show_progress=show_progress,
        )  # fmt: skip
        return Compared(
            case.row, str(case.over), case.group, float(made.differences[0]), float(made.lows[0]),
            float(made.highs[0]), int(made.num_queries[0]), None, None, None,
            f"paired bootstrap, {num_resamples:,} resamples", np.nan, np.nan,
        )  # fmt: skip


def _values(pair: PortionedPairs) -> FloatArray:
    """Return the differences on the queries that are compared."""
    held = pair.at(slice(0, 1))
    return np.asarray(held.values[0, held.counted[0]])

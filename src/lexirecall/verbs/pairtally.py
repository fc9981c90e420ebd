"""Pair tally: how the differences between each pair of runs add up over requests, in portions on a cluster.

Belongs here: what the tests of sums and counts need, and the order of the runs, of all measures at once. Not here: the
tests (statistics), what is concluded from them (compare).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.names import Evaluable, parse_preference
from lexirecall.positions import Positions
from lexirecall.preferences.contrasts import Contrasts
from lexirecall.statistics.aggregate import Order, by_sums_of_rates, sums_of_rates
from lexirecall.statistics.differences import Totals
from lexirecall.statistics.portions import PortionedPairs
from lexirecall.sums import ExactSums
from lexirecall.verbs.rank import contrasted


@dataclass(frozen=True, slots=True)
class PairTally:
    """What is known of each pair of runs before the means are; tallies of different requests can be added."""

    totals: tuple[Totals, ...]
    """Under each measure."""
    rates: ExactSums
    """Of each run's win rates under the first measure, [S]."""
    num_rates: IntArray

    @classmethod
    def of(cls, positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> "PairTally":
        """Compare each pair of runs on some requests."""
        every = _pairs(positions, measures, policies)
        first = next(every)
        totals = tuple(PortionedPairs.of(each).totals for each in chain([first], every))
        return cls(totals, *sums_of_rates(first))

    def __add__(self, other: "PairTally") -> "PairTally":
        totals = tuple(x + y for x, y in zip(self.totals, other.totals, strict=True))
        return PairTally(totals, self.rates + other.rates, self.num_rates + other.num_rates)

    def order(self) -> Order:
        """Return the order of the runs by their mean win rate under the first measure."""
        wins, first = np.zeros((len(self.num_rates), len(self.num_rates)), np.int64), self.totals[0]
        wins[first.a, first.b], wins[first.b, first.a] = first.wins, first.losses
        return Order.of("winrate", by_sums_of_rates(self.rates, self.num_rates), wins)


def squares_about(
    means: Sequence[FloatArray], positions: Positions, measures: Sequence[Evaluable], policies: Policies
) -> tuple[ExactSums, ...]:
    """Return, for each measure, the squares of the differences on some requests less their mean on all."""
    every = zip(_pairs(positions, measures, policies), means, strict=True)
    return tuple(PortionedPairs.of(pairs).squares(mean) for pairs, mean in every)


def _pairs(positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> Iterator[Contrasts]:
    return (contrasted(positions, parse_preference(row), policies) for row in measures)

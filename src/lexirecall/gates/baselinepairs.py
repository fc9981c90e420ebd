"""Baseline pairs: the new run and the baseline under each measure, in each number and group that is asked for.

Belongs here: the one-sided tests and intervals of one pair. Not here: what is decided from them (decisions), the tests
themselves (statistics).

Preferences such as LexiRecall are decided by wins and losses. So are shares of queries, such as All@20, and the number
of documents found (`says_signs`): their differences are small whole numbers, for which t intervals are too short. Other
measures have a size, and the mean difference is tested; if it rests on too few queries, the sign test takes its place.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lexirecall.errors import DataError, UsageError, counted
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures.sets import NUM_REL_RET
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.statistics.gates import chance_of_losses, chance_of_lower_mean
from lexirecall.statistics.hall import mean_intervals
from lexirecall.statistics.overpairs import compare_over
from lexirecall.statistics.paired import paired_t
from lexirecall.statistics.portions import PairDifferences, PortionedPairs
from lexirecall.statistics.proportions import preference_interval
from lexirecall.statistics.queryaggregate import FEWEST_IN_TAIL, QueryAggregate
from lexirecall.verbs.evaluate import QueryValues
from lexirecall.verbs.pairparts import TAIL_TEST, own_overs
from lexirecall.verbs.rank import contrasted

_FAR = 2.0**20  # times the largest value: far beyond any sum of the others, and floats still tell these apart


@dataclass(frozen=True, slots=True)
class BaselineDifference:
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
    differs: bool = True
    """Whether any query has another value, or another winner, than a tie."""
    says_signs: bool = False
    """Whether only wins and losses matter under the measure, whatever their sizes."""
    is_contradicted: bool = False
    """Whether the sign test took the place of a test of the mean, and points the other way: nothing is decided."""

    @property
    def num_untied(self) -> int:
        """On how many queries either is better."""
        return (self.wins or 0) + (self.losses or 0)

    @property
    def is_of_tails(self) -> bool:
        """Whether the interval of a difference of tails decides."""
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
    over: QueryAggregate
    group: str | None
    queries: IntArray | None
    """None for all of them."""


@dataclass(frozen=True)
class BaselinePair:
    """Two runs, the new one first, and what they are to be compared in."""

    positions: Positions
    pair: tuple[str, str]
    """The names of the new run and of the baseline."""
    policies: Policies
    rows: Sequence[Evaluable]
    overs: Sequence[QueryAggregate]
    groups: Mapping[str, IntArray] = field(default_factory=dict)
    """The queries of each group that is large enough."""

    def __post_init__(self) -> None:
        if others := [over for over in self.overs if over.kind not in ("mean", "tail")]:
            raise UsageError(
                f"a difference in {others[0]} has no interval that holds, and cannot be tested",
                remedy=f"require it instead: --require '{others[0]} of R@100 >= 0.5'; or take a tail: --over tail:0.25",
            )

    def check_tails(self) -> None:
        """Raise if a tail is of too few queries to be tested, before a build is counted."""
        for case in self.cases:
            if case.over.kind == "tail":
                self._tail(case, 0.25)

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

    @property
    def _places(self) -> tuple[IntArray, IntArray]:
        """The places of the new run and of the baseline among the runs."""
        new, baseline = (np.array([self.positions.runs.index(name)]) for name in self.pair)
        return new, baseline

    @cached_property
    def _pairs(self) -> list[PortionedPairs | None]:
        """The differences of each case, summed up when they are needed; None for numbers other than the mean."""
        whole = {
            row: PortionedPairs(contrasted(self.positions, row, self.policies), *self._places) for row in self.rows
        }
        return [
            None if case.over.kind != "mean"
            else whole[case.row] if case.queries is None else whole[case.row].on(case.queries)
            for case in self.cases
        ]  # fmt: skip

    def _values(self, case: _Case) -> FloatArray:
        """Return the values of a case, [S, Q]."""
        values = QueryValues.of(self.positions, [case.row], self.policies).placed[:, :, 0]
        return values if case.queries is None else values[:, case.queries]

    def _differs(self, case: _Case, pair: PortionedPairs | None) -> bool:
        if pair is not None:
            return bool(pair.wins[0] + pair.losses[0])
        new, baseline = (self._values(case)[place[0]] for place in self._places)
        return not np.array_equal(new, baseline, equal_nan=True)

    def least_p(self, margin: float | None) -> float:
        """Return the least corrected p that the gate could come to, given how many queries tie under each measure.

        That is known without looking at which run is better, so a build that cannot fail need not have a share of
        alpha. It is 0 where p is not counted or may be anything, and infinite if both runs tie everywhere.
        """
        differing = [
            (case.row, pair) for case, pair in zip(self.cases, self._pairs, strict=True) if self._differs(case, pair)
        ]
        if margin is not None and differing:
            return 0.0
        return min(
            (
                len(differing) * chance_of_losses(0, int(pair.wins[0] + pair.losses[0]))
                if pair is not None and test_of(row, pair) == "sign" else 0.0
                for row, pair in differing
            ),
            default=math.inf,
        )  # fmt: skip

    def compared(self, alpha: float) -> list[BaselineDifference]:
        """Compare in each case, with a one-sided interval at its share of alpha."""
        level = alpha / max(len(self.cases), 1)
        return [
            self._tail(case, level) if pair is None else compared_by(case.row, pair, level, group=case.group)
            for case, pair in zip(self.cases, self._pairs, strict=True)
        ]

    def _tail(self, case: _Case, level: float) -> BaselineDifference:
        values, largest = _bounded(self._values(case))
        intervals = compare_over(values, case.over, *self._places, direction=case.row.direction, alpha=2 * level)
        n = int(intervals.num_queries[0])
        if 0 < (k := case.over.num_of(n)) < FEWEST_IN_TAIL:
            where = "" if case.group is None else f" in {case.group}"
            remedy = f"take a larger share, such as tail:{min(1.0, math.ceil(100 * FEWEST_IN_TAIL / n) / 100):g}"
            if n < FEWEST_IN_TAIL:
                remedy = "leave the tail out" if case.group is None else f"give --min-queries {FEWEST_IN_TAIL}"
            problem = f"{case.over} of {counted(n, 'query')}{where} is a tail of {k}"
            raise DataError(
                f"{problem}, and a tail of fewer than {FEWEST_IN_TAIL} queries has no interval", remedy=remedy
            )
        numbers = np.concatenate([intervals.differences, intervals.lows, intervals.highs])
        numbers[np.isnan(numbers)] = intervals.differences  # where every query moves both tails alike, nothing varies
        # Tails of finite values differ by 2 largest at most: a number far beyond that counts as infinite again.
        difference, low, high = np.where(np.abs(numbers) > 4 * largest, np.copysign(np.inf, numbers), numbers).tolist()
        return BaselineDifference(
            measure=case.row, over=str(case.over), group=case.group, difference=difference, low=low, high=high,
            num_queries=n, wins=None, ties=None, losses=None, method=TAIL_TEST, p=np.nan, deviation=np.nan,
            differs=self._differs(case, None),
        )  # fmt: skip


def _bounded(values: FloatArray) -> tuple[FloatArray, float]:
    """Return values with a bound in place of infinite ones, and the largest of the others.

    Undefined values are infinitely bad, and as bad as each other. An interval needs their differences, which infinite
    numbers do not have. So they get a number that is so large that others cannot make up for it.
    """
    is_infinite = np.isinf(values)
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
    return np.where(is_infinite, np.copysign(_FAR * largest, values), values), largest


def says_signs(row: Evaluable, pair: PairDifferences) -> bool:
    """Tell whether a gate asks on how many queries the new run is better and worse, whatever the sizes."""
    return pair.is_signs or row.is_share or row.name == NUM_REL_RET.name


def test_of(row: Evaluable, pair: PairDifferences) -> str:
    """Return the name of the test of a mean: of its sign, if nothing else is known, tells more, or holds."""
    differs = pair.wins[0] + pair.losses[0] > 0  # with no difference there is nothing that t could get wrong
    return "sign" if says_signs(row, pair) or (differs and pair.is_by_signs[0]) else "t"


def compared_by(row: Evaluable, pair: PairDifferences, level: float, *, group: str | None = None) -> BaselineDifference:
    """Compare one pair of runs in the mean, with a one-sided interval at a level."""
    counts = pair.wins, pair.ties, pair.losses, pair.num_compared
    wins, ties, losses, num_queries = (int(count[0]) for count in counts)
    is_of_signs, by_signs = says_signs(row, pair), test_of(row, pair) == "sign"
    mean, deviation, is_contradicted = float(pair.means[0]), float(pair.deviations[0]), False
    if by_signs:
        p, method = chance_of_losses(wins, losses), "sign test"
        size = 1.0 if is_of_signs else _size(pair)  # nan if differences have many: then no interval holds
        ends = [end * size for end in preference_interval(pair.wins, pair.losses, pair.num_compared, alpha=2 * level)]
        if is_of_signs:
            mean, deviation = _moments_of_signs(wins, losses, num_queries)
        elif not pair.num_one_sided[0]:  # of a run that misses queries the mean leaves out just these
            is_contradicted = (wins - losses) * mean < 0
    else:
        values, test = _values(pair), paired_t(pair, alpha=2 * level)  # either end of it is a one-sided one
        p, method = chance_of_lower_mean(float(test.pvalues[0]), mean, values), "paired t and Hall"
        lows, highs = mean_intervals(values[:, None], alpha=2 * level)
        ends = [np.fmin(test.lows, lows), np.fmax(test.highs, highs)]  # Hall's are nan if there are too few queries
    low, high = (float(end[0]) for end in ends)
    return BaselineDifference(
        measure=row, over="mean", group=group, difference=mean, low=low, high=high, num_queries=num_queries, wins=wins,
        ties=ties, losses=losses, method=method, p=p, deviation=deviation, differs=wins + losses > 0,
        says_signs=is_of_signs, is_contradicted=is_contradicted,
    )  # fmt: skip


def _values(pair: PairDifferences) -> FloatArray:
    """Return the differences on the queries that are compared."""
    held = pair.at(slice(0, 1))
    return np.asarray(held.values[0, held.counted[0]])


def _size(pair: PairDifferences) -> float:
    """Return the size of all differences other than 0; nan if they have several, or one has none."""
    has_one = pair.have_one_size[0] and not pair.num_one_sided[0]
    return float(pair.totals.smallest[0]) if has_one else np.nan


def _moments_of_signs(wins: int, losses: int, num_queries: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of wins, 1, losses, -1, and ties, 0."""
    mean = (wins - losses) / num_queries if num_queries else np.nan
    squares = wins + losses - num_queries * mean**2
    return mean, float(np.sqrt(max(squares, 0.0) / (num_queries - 1))) if num_queries > 1 else np.nan

"""Breakdown: the numbers of each run over all queries, and over each group of them.

Belongs here: how values per query become these numbers, which groups are shown and in which order, and their layout.
Not here: the numbers themselves (statistics.queryaggregate), the values (evaluate), what is said about them
(breakdown_notes).

Whoever has the values can have a breakdown, also where they were computed elsewhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation, Resampling
from lexirecall.groups import Groups
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.names import Evaluable
from lexirecall.preferences import Preference
from lexirecall.statistics.queryaggregate import QueryAggregate, over_queries, overs_of
from lexirecall.tables import Table, number
from lexirecall.verbs.averages import end_of, end_text, headings, named, on_win_rates, with_interval
from lexirecall.verbs.intervals import Intervals
from lexirecall.verbs.resamples import ENDS
from lexirecall.verbs.shares import footnote_of

EVERY = "all queries"
"""What a table calls them."""


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """The numbers of all queries, or of those in one group: O ways of aggregating × S runs × M measures."""

    group: str | None
    """None for all queries."""
    num_queries: int
    """How many of them count, for any run and measure."""
    numbers: FloatArray
    """[O, S, M]; nan where there is no value, infinite where it falls on a document that was not retrieved."""
    counts: IntArray
    """How many queries have a place in each number, [O, S, M]."""
    num_due: IntArray
    """How many should have one, [S, M]."""
    intervals: tuple[Intervals, ...]
    """Those of each way of aggregating, [O]."""

    def in_order(self, order: IntArray) -> "Portion":
        """Return the numbers with the runs in another order."""
        intervals = tuple(ends.in_order(order) for ends in self.intervals)
        numbers, counts = self.numbers[:, order], self.counts[:, order]
        return replace(self, numbers=numbers, counts=counts, num_due=self.num_due[order], intervals=intervals)

    def finite(self, o: int) -> FloatArray:
        """Return the numbers of one way of aggregating, [S, M]; nan where undefined."""
        return np.where(np.isfinite(self.numbers[o]), self.numbers[o], np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Breakdown:
    """The numbers of S runs × M measures, over all queries and then over each group, the worst group first."""

    runs: tuple[str, ...]
    measures: tuple[Evaluable, ...]
    overs: tuple[QueryAggregate, ...]
    parts: tuple[Portion, ...]
    """All queries first."""
    says_over: bool = True
    """Whether rows say what they are over: not if only groups are asked for."""
    groups: Groups | None = None
    has_intervals: bool = False
    """Whether rows have the ends of intervals."""
    withheld: tuple[tuple[str, int], ...] = ()
    """Groups that are too small to be shown, with the number of their queries."""
    num_without: int = 0
    """Queries that count and have no group."""
    endless: tuple[tuple[str, int], ...] = ()
    """Measures with values that count as infinitely deep, and how many."""
    alpha: float = 0.05
    """1 less what an interval covers."""

    @property
    def whole(self) -> Portion:
        """The numbers of all queries."""
        return self.parts[0]

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that say what a number is over."""
        return (*(("group", "queries") if self.groups is not None else ()), *(("over",) if self.says_over else ()))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        return ("run", "query", *self.keys, "measure", "value", *(ENDS if self.has_intervals else ()))

    def in_order(self, order: IntArray) -> "Breakdown":
        """Return the numbers with the runs in another order."""
        runs = tuple(self.runs[s] for s in order.tolist())
        return replace(self, runs=runs, parts=tuple(part.in_order(order) for part in self.parts))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each number: run, query ("all"), what it is over, measure, value (None if undefined)."""
        for part, o, s in self._cells():
            intervals = part.intervals[o]
            ends = dict(zip(ENDS, (intervals.lows[s], intervals.highs[s]), strict=True)) if self.has_intervals else {}
            for c, (measure, value) in enumerate(named(self.measures, part.finite(o)[s]).items()):
                yield {
                    "run": self.runs[s], "query": "all", **self._said_of(part, o), "measure": measure, "value": value,
                    **{name: end_of(float(values[c])) for name, values in ends.items()},
                }  # fmt: skip

    def said_of_query(self, q: int) -> dict[str, Any]:
        """Return what the row of one query says in the columns of `keys`: its group, if it has one."""
        group = None if self.groups is None else self.groups.name_of(q)
        return {**dict.fromkeys(self.keys), **({"group": group} if self.groups is not None else {})}

    def _said_of(self, part: Portion, o: int) -> dict[str, Any]:
        labels = {"group": part.group, "queries": part.num_queries, "over": str(self.overs[o])}
        return {key: labels[key] for key in self.keys}

    def _cells(self) -> Iterator[tuple[Portion, int, int]]:
        """Give where the rows are, in their order: by part, then by way of aggregating, then by run."""
        for part in self.parts:
            for o in range(len(self.overs)):
                for s in range(len(self.runs)):
                    yield part, o, s

    def to_dict(self) -> dict[str, Any]:
        """Return {run: {group: {over: {measure: number}}}}, without the levels that were not asked for."""

        def of_part(part: Portion, s: int) -> dict[str, Any]:
            by_over = {str(over): named(self.measures, part.finite(o)[s]) for o, over in enumerate(self.overs)}
            return by_over if self.says_over else next(iter(by_over.values()))

        if self.groups is None:
            return {run: of_part(self.whole, s) for s, run in enumerate(self.runs)}
        return {run: {part.group: of_part(part, s) for part in self.parts} for s, run in enumerate(self.runs)}

    def table(self, digits: int | None = None) -> Table:
        """Lay the numbers out, one row for each run in each part."""
        header = ("run", *self.keys, *headings(self.measures))
        places = [c for c, key in enumerate(header) if key in ("group", "over") and c <= len(self.keys)]
        return Table(
            header,
            tuple(self.table_rows(digits)),
            best=frozenset((r, c + 1 + len(self.keys)) for r, c in self._best()),
            texts=frozenset(places),
            footnote=self.footnote,
        )

    def table_rows(self, digits: int | None) -> Iterator[tuple[str, ...]]:
        """Give the rows of a table: the run, what the numbers are over, and the numbers."""
        for part, o, s in self._cells():
            labels = self._said_of(part, o) | ({"group": EVERY} if part.group is None else {})
            yield self.runs[s], *(_text(labels[key]) for key in self.keys), *self._shown(part, o, s, digits)

    def _shown(self, part: Portion, o: int, s: int, digits: int | None) -> Iterator[str]:
        lows, highs = part.intervals[o].lows[s], part.intervals[o].highs[s]
        columns = zip(self.measures, part.finite(o)[s], lows, highs, part.counts[o, s], part.num_due[s], strict=True)
        for row, value, low, high, count, due in columns:
            decimals = _decimals(row, self.overs[o], digits)
            ends = (end_text(float(end), decimals) for end in (low, high))
            text = with_interval(number(float(value), decimals), *ends)
            yield text if count in (0, due) else f"{text} ({count:,})"

    def _best(self) -> Iterator[tuple[int, int]]:
        """Give the cells that are the best of their part, equal ones too, where there is something to choose."""
        for k, (part, o) in enumerate((part, o) for part in self.parts for o in range(len(self.overs))):
            is_complete = (part.counts[o] == part.num_due) & np.isfinite(part.numbers[o])
            for c, measure in enumerate(self.measures):
                worth = np.where(is_complete[:, c], measure.direction * part.numbers[o, :, c], -np.inf)
                if worth.min() < worth.max():
                    yield from ((k * len(self.runs) + int(s), c) for s in np.flatnonzero(worth >= worth.max() - 1e-12))

    @property
    def footnote(self) -> str:
        """What is written below a table."""
        order = "" if len(self.parts) < 3 else f"groups: {self._on_order()}"
        shown = (phrase for part in self.parts for intervals in part.intervals for phrase in intervals.phrases)
        ends = footnote_of(shown, self.alpha)
        return "; ".join(filter(None, (on_win_rates(self.measures, len(self.runs)), order, ends)))

    def _on_order(self) -> str:
        column = leading(self.measures)
        if column is None:
            return "in the order of the map, because win rates do not tell which is worse"
        runs = "" if len(self.runs) == 1 else f", averaged over the {len(self.runs):,} runs"
        return f"the worst first, by {self.overs[0]} {self.measures[column]}{runs}"


def breakdown_of(
    runs: Sequence[str],
    measures: Sequence[Evaluable],
    values: FloatArray,
    is_due: BoolArray,
    asked: Aggregation,
    groups: Groups | None = None,
    *,
    resampling: Resampling = Resampling(),  # noqa: B008 - a frozen record
    alpha: float = 0.05,
    show_progress: bool | None = False,
) -> Breakdown:
    """Aggregate values, [S, Q, M], over all queries and over each group.

    A value is nan where there is none, and infinite where a document was not retrieved at any known depth. `is_due`
    says which values there should be, [S, Q, M].

    >>> from lexirecall.measures import AP
    >>> values = np.array([0.1, 0.3, 0.8, 1.0]).reshape(1, 4, 1)
    >>> groups = Groups.from_map({b"1": b"easy", b"2": b"hard", b"3": b"easy", b"4": b"easy"}, "1234")
    >>> asked = Aggregation(over=("mean", "min"), min_queries=1)
    >>> made = breakdown_of(["run"], [AP], values, np.ones((1, 4, 1), bool), asked, groups)
    >>> print(made.table().to_text())
    run  group        queries  over      AP
    run  all queries        4  mean  0.5500
    run  all queries        4  min   0.1000
    run  hard               1  mean  0.3000
    run  hard               1  min   0.3000
    run  easy               3  mean  0.6333
    run  easy               3  min   0.1000
    <BLANKLINE>
    groups: the worst first, by mean AP
    """
    overs = overs_of(asked.over)
    taking_part: BoolArray = np.asarray(is_due.any(axis=(0, 2)))

    def part_of(group: str | None, which: IntArray) -> Portion:
        group_values = values[:, which]
        numbers = np.array([_numbers(group_values, over, measures) for over in overs])
        counts = np.array([_counts(group_values, over) for over in overs])
        intervals = [
            Intervals.of(group_values, measures, resampling, over=over, alpha=alpha, show_progress=show_progress)
            for over in overs
        ]
        num_queries = int(taking_part[which].sum())
        return Portion(
            group=group, num_queries=num_queries, numbers=numbers, counts=counts, num_due=is_due[:, which].sum(axis=1),
            intervals=tuple(intervals),
        )  # fmt: skip

    members = (
        [] if groups is None else [(name, which, int(taking_part[which].sum())) for name, which in groups.members()]
    )
    shown = [part_of(name, which) for name, which, size in members if size >= asked.min_queries]
    return Breakdown(
        runs=tuple(runs),
        measures=tuple(measures),
        overs=overs,
        parts=(part_of(None, np.arange(values.shape[1])), *worst_first(shown, measures)),
        says_over=bool(asked.over),
        groups=groups,
        has_intervals=resampling.has_intervals,
        withheld=tuple((name, size) for name, _, size in members if size < asked.min_queries),
        num_without=0 if groups is None else int((taking_part & (groups.of_query < 0)).sum()),
        endless=tuple(
            (str(row), n) for row, n in zip(measures, np.isinf(values).sum(axis=(0, 1)).tolist(), strict=True) if n
        ),
        alpha=alpha,
    )


def _numbers(values: FloatArray, over: QueryAggregate, measures: Sequence[Evaluable]) -> FloatArray:
    directions = np.array([row.direction for row in measures])
    return over_queries(values, over, directions=directions, is_sum=np.array([row.total == "sum" for row in measures]))


def _counts(values: FloatArray, over: QueryAggregate) -> IntArray:
    return np.asarray((np.isfinite(values) if over.kind == "mean" else ~np.isnan(values)).sum(axis=1))


def leading(measures: Sequence[Evaluable]) -> int | None:
    """Return which measure decides on the order of groups: the first that is not a win rate; None if all are.

    The win rates of all runs add up to the same in every group.
    """
    return next((c for c, row in enumerate(measures) if not isinstance(row, Preference)), None)


def worst_first(parts: Sequence[Portion], measures: Sequence[Evaluable]) -> list[Portion]:
    """Return the groups in order: by the mean over the runs of the first number of the leading measure.

    Groups that are equal stay in the order of the map; those without any value come last.
    """
    column = leading(measures)
    return list(parts) if column is None else sorted(parts, key=lambda part: worth(part, measures[column], 0, column))


def worth(part: Portion, measure: Evaluable, o: int, column: int) -> float:
    """Return how good the runs are in a part, as the mean of one number over them: higher is better."""
    numbers = part.numbers[o, :, column]
    there = measure.direction * numbers[~np.isnan(numbers)]
    return float(there.mean()) if len(there) else np.inf


def _decimals(row: Evaluable, over: QueryAggregate, digits: int | None) -> int:
    """Return how many decimals a table shows; a count has none, but its median and its tail may be fractions."""
    is_count = row.decimals == 0
    if is_count and over.kind in ("median", "tail"):
        return 1 if digits is None else digits
    return row.decimals if digits is None or is_count else digits


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)

"""Averages: the mean of each measure for each run, which prints and converts itself.

Belongs here: means and their table. Not here: values per query (scores), layout (tables).

A mean is the exact sum of its values, rounded once, over their number: it does not depend on the order of queries.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.errors import UsageError, listed
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Manifest, Note
from lexirecall.measures.providers import ProviderExposure
from lexirecall.names import Evaluable, parse_names
from lexirecall.preferences import Preference
from lexirecall.tables import Table, number
from lexirecall.verbs.printable import Printable
from lexirecall.verbs.resamples import ENDS
from lexirecall.verbs.shares import SHARE, footnote_of, share_ends

if TYPE_CHECKING:
    from lexirecall.verbs.breakdown import Breakdown
    from lexirecall.verbs.intervals import Intervals

COLUMNS = ("run", "query", "measure", "value")


def means_of(sums: FloatArray, counts: IntArray, measures: Sequence[Evaluable]) -> FloatArray:
    """Return the means of values that were added up, [S, M], or their sums for counts; nan where there are none."""
    divisors = np.where([measure.total == "sum" for measure in measures], 1, counts)
    return np.where(counts > 0, sums / np.maximum(divisors, 1), np.nan)


@dataclass(frozen=True, slots=True)
class Averages(Printable):
    """Means of S runs × M measures."""

    runs: tuple[str, ...]
    measures: tuple[Evaluable, ...]
    means: FloatArray
    """The mean over queries, or the sum for counts, [S, M]; nan where no query has a value."""
    counts: IntArray
    """How many queries have a value, [S, M]."""
    num_due: IntArray
    """How many should have one, [S, M]."""
    manifest: Manifest
    digits: int | None = None
    """Decimals in tables; those of each measure if None."""
    intervals: "Intervals | None" = None
    """The intervals of the means, if they are asked for."""
    exposures: ProviderExposure | None = None
    """What providers get, if there is a map of them and tied documents have an order."""
    breakdown: "Breakdown | None" = None
    """What is shown instead of the means, if other numbers over queries, or groups of them, are asked for."""

    @property
    def leading(self) -> FloatArray:
        """The means, or what is asked for first instead of them, [S, M]."""
        return self.means if self.breakdown is None else self.breakdown.whole.finite(0)

    def order_of(self, sort: str) -> IntArray:
        """Return the runs in the order `given`, by `name`, or by one of the measures, the best first.

        Runs that are equal stay in the order given; those without a value come last.
        """
        if sort == "given":
            return np.arange(len(self.runs))
        if sort == "name":
            return np.array(sorted(range(len(self.runs)), key=lambda s: self.runs[s]), np.int64)
        rows = parse_names(sort)
        if len(rows) != 1 or rows[0] not in self.measures:
            computed = listed(map(str, self.measures), 20)
            raise UsageError(f"cannot sort by {sort!r}", remedy=f"sort by given, name or a measure: {computed}")
        return order_by_mean(rows[0], self.leading[:, self.measures.index(rows[0])])

    def with_digits(self, digits: int) -> "Averages":
        """Return the means with so many decimals in tables."""
        return replace(self, digits=digits)

    def sorted_by(self, sort: str) -> "Averages":
        """Return the means with the runs in another order: `given`, by `name`, or by a measure, the best first."""
        order = self.order_of(sort)
        return replace(
            self,
            runs=tuple(self.runs[s] for s in order.tolist()),
            means=self.means[order],
            counts=self.counts[order],
            num_due=self.num_due[order],
            intervals=None if self.intervals is None else self.intervals.in_order(order),
            exposures=None if self.exposures is None else self.exposures.in_order(order),
            breakdown=None if self.breakdown is None else self.breakdown.in_order(order),
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.manifest.notes

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each mean: run, query ("all"), measure, value (None if undefined).

        If intervals are asked for, also low and high (None without an interval, and for an end that is open).
        Numbers other than the mean have `over`, and with groups each row has `group` (None for all queries) and
        `queries`, the number of them.
        """
        if self.breakdown is not None:
            yield from self.breakdown.rows()
            return
        for s in range(len(self.runs)):
            yield from self.rows_of_run(s)

    def rows_of_run(self, s: int) -> Iterator[dict[str, Any]]:
        """Give the rows of one run."""
        rows = rows_of(self.runs[s], "all", self.measures, self.means[s])
        ends = zip(*self.ends(s), strict=True)
        for row, pair in zip(rows, ends, strict=True):
            yield row if self.intervals is None else row | dict(zip(ENDS, map(end_of, pair), strict=True))

    def ends(self, s: int) -> tuple[FloatArray, FloatArray]:
        """Return where the intervals of one run begin and end, [M]; nan without one, infinite if it has no end.

        If none are asked for, means of measures that are 1 or 0 for every query have their exact intervals. Over all
        orders of tied documents, such a measure has values between 0 and 1, and no interval.
        """
        if self.intervals is not None:
            return self.intervals.lows[s], self.intervals.highs[s]
        is_averaged = self.manifest.conventions.get("ties") == "expected"
        is_share = np.array([row.is_share and not is_averaged for row in self.measures], bool)
        return share_ends(self.means[s], self.counts[s], is_share)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        if self.breakdown is not None:
            return self.breakdown.columns
        return COLUMNS if self.intervals is None else (*COLUMNS, *ENDS)

    def to_dict(self) -> dict[str, Any]:
        """Return {run: {measure: mean}}; None where undefined. Groups and other numbers are levels between these."""
        if self.breakdown is not None:
            return self.breakdown.to_dict()
        return {run: named(self.measures, means) for run, means in zip(self.runs, self.means, strict=True)}

    def table(self) -> Table:
        """Lay the means out, one row a run.

        A mean over fewer queries than it should have is followed by their number in brackets, and is never the best. If
        it has an interval, that follows it too.
        """
        if self.breakdown is not None:
            return self.breakdown.table(self.digits)
        header = ("run", *headings(self.measures))
        rows = tuple((run, *self._shown(s)) for s, run in enumerate(self.runs))
        best = frozenset((s, c + 1) for s, c in self._best())
        return Table(header, rows, best=best, footnote=self.footnote)

    @property
    def footnote(self) -> str:
        """What is written below a table of the means."""
        if self.breakdown is not None:
            return self.breakdown.footnote
        return "; ".join(filter(None, (on_win_rates(self.measures, len(self.runs)), self.on_intervals)))

    @property
    def on_intervals(self) -> str:
        """What the brackets of a table mean, if it has any."""
        if self.intervals is not None:
            return self.intervals.footnote
        has_shares = any(not np.isnan(self.ends(s)[0]).all() for s in range(len(self.runs)))
        return footnote_of([SHARE] if has_shares else [])

    def _shown(self, s: int) -> tuple[str, ...]:
        triples = zip(self.cells(s), self.counts[s], self.num_due[s], strict=True)
        return tuple(text if count in (0, due) else f"{text} ({count:,})" for text, count, due in triples)

    def cells(self, s: int) -> tuple[str, ...]:
        """Return the means of one run as a table shows them, with their intervals if there are any."""
        shown = (numbers(self.measures, values, self.digits) for values in (self.means[s], *self.ends(s)))
        return tuple(map(with_interval, *shown))

    def _best(self) -> Iterator[tuple[int, int]]:
        """Give the cells with the best mean of each measure, equal ones too, where there is something to choose."""
        complete: BoolArray = self.counts == self.num_due
        for c, measure in enumerate(self.measures):
            column = np.where(complete[:, c], measure.direction * self.means[:, c], -np.inf)
            if column.min() < column.max():
                yield from ((int(s), c) for s in np.flatnonzero(column >= column.max() - 1e-12))


def headings(measures: Sequence[Evaluable]) -> list[str]:
    """Return the heading of the values of each measure; a preference has a win rate."""
    return [f"{row} (win rate)" if isinstance(row, Preference) else str(row) for row in measures]


def on_win_rates(measures: Sequence[Evaluable], num_runs: int) -> str:
    """Return the footnote of a table that holds win rates, which depend on the other runs."""
    if not any(isinstance(row, Preference) for row in measures):
        return ""
    others = "other run" if num_runs == 2 else f"{num_runs - 1:,} other runs"
    return f"win rate: against the {others} of this table"


def order_by_mean(measure: Evaluable, means: FloatArray) -> IntArray:
    """Return which mean is the best, the second best and so on; equal ones in the order given, undefined ones last."""
    return np.argsort(-measure.direction * means, kind="stable")


def with_interval(value: str, low: str, high: str) -> str:
    """Write an interval after a value, if there is one.

    >>> with_interval("0.39", "0.33", "0.44"), with_interval("0.39", "-", "-")
    ('0.39 [0.33, 0.44]', '0.39')
    """
    return value if low == "-" else f"{value} [{low}, {high}]"


def end_of(value: float) -> float | None:
    """Return the end of an interval, None if it is open."""
    return value if math.isfinite(value) else None


def end_text(value: float, decimals: int) -> str:
    """Return the end of an interval as a table shows it.

    >>> end_text(0.25, 2), end_text(np.inf, 2)
    ('0.25', 'open')
    """
    return "open" if math.isinf(value) else number(value, decimals)


def rows_of(run: str, query: str, measures: Sequence[Evaluable], values: FloatArray) -> Iterator[dict[str, Any]]:
    """Give one row for each value of one run: run, query, measure, value."""
    for measure, value in named(measures, values).items():
        yield {"run": run, "query": query, "measure": measure, "value": value}


def named(measures: Sequence[Evaluable], values: FloatArray) -> dict[str, float | None]:
    """Return {measure: value}; None where undefined."""
    return {str(measure): defined(value) for measure, value in zip(measures, values.tolist(), strict=True)}


def defined(value: float) -> float | None:
    """Return a number, None if it is undefined."""
    return None if math.isnan(value) else value


def numbers(measures: Sequence[Evaluable], values: FloatArray, digits: int | None = None) -> tuple[str, ...]:
    """Return values as a table shows them, with so many decimals if they are given; counts have none."""
    shown = [row.decimals if digits is None or row.decimals == 0 else digits for row in measures]
    return tuple(end_text(value, decimals) for decimals, value in zip(shown, values.tolist(), strict=True))

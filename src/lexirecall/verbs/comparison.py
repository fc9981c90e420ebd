"""Comparison: the result of comparing, which prints and converts itself.

Belongs here: rows, tables and marks of significance. Not here: how they come about (compare), layout (tables).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import choice
from lexirecall.judgments import BoolArray, IntArray
from lexirecall.manifest import Note
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.statistics.aggregate import Order
from lexirecall.statistics.bootstrap import ResampledOrder, significant_ranks
from lexirecall.tables import FOR_PEOPLE, Table, number, render
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.measurecomparison import MeasureComparison
from lexirecall.verbs.pairparts import PairParts
from lexirecall.verbs.resamples import on_order
from lexirecall.verbs.scores import Scores

VIEWS = ("runs", "pairs", "matrix", "power")
_COLUMNS = (
    "a", "b", "measure", "mean", "wins", "ties", "losses", "p", "p_corrected", "queries", "low", "high", "effect",
    "response", "response_low", "response_high", "effective", "estimate", "low_all", "high_all", "survives",
    "influence", "test", "correction",
)  # fmt: skip
_MARGIN = ("p_eq", "p_eq_corrected", "verdict")
CERTAINTY = ("first", "resampling range", "ranks by tests")
"""Columns that say how certain the place of a run is, if the queries were resampled."""
_SAFE = ("decided", "safe")
_OPTIONAL = ("estimate", "response", "response_low", "response_high", "effective")
"""Columns of the table of pairs that are left out if no pair has a value."""


@dataclass(frozen=True, slots=True, eq=False)
class SafeDecisions(FieldEquality):
    """On how many queries one run of a pair is better, whatever documents without a judgment may turn out to be."""

    decided: IntArray
    """On how many it is better by the judgments that there are, [P]."""
    safe: IntArray | None
    """On how many no further label of a document can reverse that, [P]; None if it is not known for the measure."""


@dataclass(frozen=True, eq=False)
class Comparison(DisplayedResult, Convertible):
    """Every pair of runs under every measure.

    >>> from lexirecall import compare
    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(8)}
    >>> runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in {"new": ["a", "b"], "old": ["x", "a"]}.items()}
    >>> print(compare(qrels, runs, ["LexiRecall", "AP"]))
    run    LexiRecall (win rate)        AP
    a new                 1.0000 b  1.0000 b
    b old                 0.0000    0.2500
    <BLANKLINE>
    raised letters: runs that are significantly worse (sign test; holm, alpha 0.05, each measure by itself)
    """

    averages: Averages
    measures: tuple[MeasureComparison, ...]
    order: Order
    """The order of the runs by their mean win rate under the first measure."""
    baselines: tuple[int, ...]
    """The runs that the others are compared with; none if each pair is compared."""
    alpha: float
    notes: tuple[Note, ...]
    scores: Scores
    """The values of each query."""
    resampled: ResampledOrder | None = None
    """What becomes of the order in resamples of the queries, if they were resampled."""
    parts: PairParts | None = None
    """The differences in other numbers than the mean and in groups of queries, if these are asked for."""
    places: tuple[int, ...] | None = None
    """The runs in the order of tables, if another one is asked for than the best first."""
    safe: tuple[SafeDecisions | None, ...] | None = None
    """For each measure, the decisions that no label can reverse, if they are asked for."""

    @property
    def _decimals(self) -> int:
        return 4 if self.averages.digits is None else self.averages.digits

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, in the order given."""
        return self.averages.runs

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each pair and measure; positive mean and wins say that a is better. None if undefined.

        If other numbers than the mean or groups are asked for, there is a row for each of these, with `difference`.
        """
        if self.parts is not None:
            yield from self.parts.rows()
            return
        for c, compared in enumerate(self.measures):
            columns, ends = compared.columns() | self._safe_columns(c), {"correction": compared.correction}
            columns |= compared.equivalences(self.alpha)
            pairs = zip(compared.a.tolist(), compared.b.tolist(), *columns.values(), strict=True)
            for a, b, *values in pairs:
                names = {"a": self.runs[a], "b": self.runs[b], "measure": str(compared.measure)}
                yield {**names, **dict(zip(columns, values, strict=True)), **ends}

    def _safe_columns(self, c: int) -> dict[str, list[Any]]:
        """Return how many decisions there are, and how many are safe, for each pair under one measure; if asked for."""
        if self.safe is None:
            return {}
        none: list[Any] = [None] * len(self.measures[c].a)
        counts = (None, None) if (safe := self.safe[c]) is None else (safe.decided, safe.safe)
        return {name: none if column is None else column.tolist() for name, column in zip(_SAFE, counts, strict=True)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        if self.parts is not None:
            return self.parts.columns(_COLUMNS)
        return (*_COLUMNS, *(_SAFE if self.safe is not None else ()), *(_MARGIN if self._has_margin else ()))

    @property
    def _has_margin(self) -> bool:
        return any(compared.equivalence is not None for compared in self.measures)

    def _conversion(self) -> tuple[ColumnValues, str]:
        return columns_of(self.rows(), self.columns), self.scores.frame_library

    def table(self) -> Table:
        """Lay out the runs, best first, with the runs that each is significantly better than in raised letters.

        If other numbers than the mean or groups are asked for, lay out their differences instead.
        """
        if self.parts is not None:
            return self.parts.tables(self._decimals)[0]
        places, labels, plain = self._places, _labels(len(self.runs)), self.averages.table()
        rows = tuple((f"{label} {self.runs[s]}", *plain.rows[s][1:]) for label, s in zip(labels, places, strict=True))
        best = frozenset((places.index(s), c) for s, c in plain.best)
        marks: dict[tuple[int, int], str] = {}
        for c, compared in enumerate(self.measures, 1):
            better = compared.better(len(places), self.alpha)[np.ix_(places, places)]
            marks |= {(r, c): mark for r in range(len(places)) if (mark := self._mark(better, r, labels))}
        beside, says = self._certainty()
        rows = tuple((*row, *beside[s]) for row, s in zip(rows, places, strict=True))
        footnote = "; ".join(filter(None, (self._footnote(), self.averages.on_intervals, says)))
        header = (*plain.header, *CERTAINTY[: len(beside[0])])
        return Table(header, rows, best=best, marks=marks, footnote=footnote)

    @property
    def tested_ranks(self) -> tuple[IntArray, IntArray] | None:
        """The best and the worst rank that the tests of the first measure leave to each run; None with a baseline."""
        if self.baselines:
            return None
        return significant_ranks(self.measures[0].better(len(self.runs), self.alpha))

    def _certainty(self) -> tuple[list[tuple[str, ...]], str]:
        """Return how certain the place of each run is, in cells for each of CERTAINTY, and what they mean."""
        order, tested = self.resampled, self.tested_ranks
        if order is None:
            return [()] * len(self.runs), ""
        columns = [[number(share, 3) for share in order.first.tolist()], _ranges_of(order.rank_lows, order.rank_highs)]
        says = f"{on_order(order.alpha)}, by win rate under {self.measures[0].measure}"
        if tested is not None:
            columns.append(_ranges_of(*tested))
            says += "; ranks by tests: 1 + the runs that are significantly better, to all but those that are worse"
        return list(zip(*columns, strict=True)), says

    def sorted_by(self, sort: str) -> "Comparison":
        """Return the comparison with the runs in another order: `given`, by `name`, or by a measure, the best first."""
        return replace(self, places=tuple(self.averages.order_of(sort).tolist()))

    def with_digits(self, digits: int) -> "Comparison":
        """Return the comparison with so many decimals in tables."""
        return replace(self, averages=replace(self.averages, digits=digits))

    @property
    def _places(self) -> list[int]:
        """The runs, best first unless another order is asked for; equal ones in the order given."""
        return self.order.best_first if self.places is None else list(self.places)

    def _mark(self, better: BoolArray, r: int, labels: list[str]) -> str:
        """Return the letters of the runs that the r-th is better than; against a single baseline, + or -."""
        if len(self.baselines) != 1:
            return _ranges(np.flatnonzero(better[r]).tolist(), labels)
        at = self._places.index(self.baselines[0])
        return "+" if better[r, at] else "-" if better[at, r] else ""

    def _how(self) -> str:
        """Say how it is decided who is better."""
        methods = ", ".join(dict.fromkeys(name for compared in self.measures for name in compared.methods))
        return "; ".join(filter(None, (methods, ", ".join(self._regards()))))

    def _regards(self, *more: str) -> Iterator[str]:
        """Give how p is corrected, and over what where there are several measures."""
        corrections = dict.fromkeys(compared.correction for compared in self.measures)
        yield from (name for name in corrections if name != "none")
        yield from more
        if len(self.measures) > 1:
            yield from dict.fromkeys(compared.family.scope for compared in self.measures if compared.family.scope)

    def _footnote(self) -> str:
        methods = ", ".join(dict.fromkeys(name for compared in self.measures for name in compared.methods))
        how = f"({methods}; {', '.join(self._regards(f'alpha {self.alpha:g}'))})"
        names = [self.runs[s] for s in self.baselines]
        if len(names) == 1:
            return f"+ and -: significantly better and worse than {names[0]} {how}"
        tested = f", only pairs with {' or '.join(names)} being tested" if names else ""
        return f"raised letters: runs that are significantly worse{tested} {how}"

    def pairs_table(self) -> Table:
        """Lay out every pair and measure: both p beside the pair's own interval, the responses of HSD beside its p."""
        listed = list(self.rows())
        columns = (
            "mean", "estimate", "low", "high", "p", "low_all", "high_all", "p_corrected", "response", "response_low",
            "response_high", "effect", "effective", "wins", "ties", "losses", "queries",
            *(_SAFE if self.safe is not None else ()), *(_MARGIN[1:] if self._has_margin else ()),
        )  # fmt: skip
        shown = [c for c in columns if c not in _OPTIONAL or any(row[c] is not None for row in listed)]
        decimals = {c: 1 if c == "effective" else self._decimals for c in shown}
        rows = tuple(
            (row["a"], row["b"], row["measure"], *(_shown(row[c], decimals[c]) for c in shown)) for row in listed
        )
        return Table(("a", "b", "measure", *shown), rows, numbers_from=3, footnote=self._note_on_pairs())

    def _note_on_pairs(self) -> str:
        tests = ", ".join(dict.fromkeys(name for compared in self.measures for name in compared.own_tests))
        says = [f"low, high, p: of the pair by itself ({100 * (1 - self.alpha):g}% interval, {tests})"]
        if any(np.isfinite(compared.own.estimates).any() for compared in self.measures):
            says.append("estimate: pseudomedian of the differences other than 0, to which the interval belongs")
        says.append(f"low_all, high_all, p_corrected: with regard to all pairs ({self._how()})")
        if any(compared.family.layout for compared in self.measures):
            says.append("response: what HSD compares, with an interval that regards all pairs")
        if self._has_margin:
            says.append("p_eq_corrected: that the runs differ by the margin or more, with regard to all pairs")
            says.append("verdict: on a if the mean is positive, otherwise on b")
        if self.safe is not None:
            says.append("decided, safe: queries on which one run is better, and those that no label can reverse")
        return "; ".join(says)

    def matrix_table(self, compared: MeasureComparison) -> Table:
        """Lay out the mean difference of each pair of runs, row minus column, best first; * where it is significant.

        With HSD the difference of responses follows, because it is the one that is significant or not. (*) marks a
        pair whose own p is below alpha, but not the p that regards all pairs.
        """
        places, cells = self._places, {(s, t): (text, mark) for s, t, text, mark in self._cells(compared)}
        rows = tuple((self.runs[s], *(cells.get((s, t), ("", ""))[0] for t in places)) for s in places)
        marks = {(r, c): cells.get((s, t), ("", ""))[1] for r, s in enumerate(places) for c, t in enumerate(places, 1)}
        marks = {cell: mark for cell, mark in marks.items() if mark}
        header = (str(compared.measure), *(self.runs[s] for s in places))
        return Table(header, rows, marks=marks, footnote=self._note_on_matrix(compared, set(marks.values())))

    def _cells(self, compared: MeasureComparison) -> Iterator[tuple[int, int, str, str]]:
        """Give row, column, text and mark of each cell of the matrix."""
        layout, significant = compared.family.layout, compared.is_significant(self.alpha)
        is_alone = (compared.pvalues < self.alpha) & ~compared.withheld
        marks = np.where(significant, "*", np.where(is_alone, "(*)", "")).tolist()
        numbers = [compared.means] if layout is None else [compared.means, layout.differences]
        pairs = zip(compared.a.tolist(), compared.b.tolist(), np.column_stack(numbers).tolist(), marks, strict=True)
        for a, b, (mean, *response), mark in pairs:
            for s, t, sign in ((a, b, 1), (b, a, -1)):
                beside = "".join(f" ({number(sign * value, self._decimals)})" for value in response)
                yield s, t, "" if np.isnan(mean) else number(sign * mean, self._decimals) + beside, mark

    def _note_on_matrix(self, compared: MeasureComparison, marks: set[str]) -> str:
        how = compared.method if compared.correction == "none" else f"{compared.method} after {compared.correction}"
        responses = "" if compared.family.layout is None else " (in parentheses that of responses)"
        alone = f"; (*): only by itself, {compared.own.method}" if "(*)" in marks else ""
        return f"row less column{responses}; *: p < {self.alpha:g}, {how}{alone}"

    def power_rows(self, detect: float | None = None) -> Iterator[dict[str, Any]]:
        """Give one row for each measure: how many pairs it tells apart, and what these queries could tell apart.

        With `detect`, also how many queries it takes to detect a difference of that size.
        """
        from lexirecall.verbs.planning import planning_rows  # not on top: it plans for comparisons

        return planning_rows(self, detect)

    def power_table(self, detect: float | None = None) -> Table:
        """Lay out what `power_rows` gives."""
        from lexirecall.verbs.planning import planning_table

        return planning_table(self, detect)

    def render(
        self,
        form: str = "table",
        *,
        view: str = "runs",
        detect: float | None = None,
        bold: bool = False,
        raw: bool = False,
    ) -> str:
        """Return one of VIEWS in one of the formats of the command line; for programs, always rows.

        `detect` is the difference to plan for, in the view of power.
        """
        choice("view", view, VIEWS)
        if view == "power":
            planned = list(self.power_rows(detect))
            return render(form, self.power_table(detect), planned, tuple(planned[0]), bold=bold, raw=raw)
        tables = self._tables(view) if form in FOR_PEOPLE else [Table((), ())]  # programs get the rows
        return "\n\n".join(render(form, table, self.rows(), self.columns, bold=bold, raw=raw) for table in tables)

    def _tables(self, view: str) -> Sequence[Table]:
        if view == "matrix":
            return [self.matrix_table(compared) for compared in self.measures]
        if self.parts is not None:
            return self.parts.tables(self._decimals)
        return [self.table()] if view == "runs" else [self.pairs_table()]

    def __str__(self) -> str:
        return "\n\n".join(table.to_text() for table in self._tables(VIEWS[0]))

    def _parts(self) -> Iterable[CellPart]:
        return self._tables(VIEWS[0])

    def _pictured(self) -> object:
        return self


def _ranges_of(lows: IntArray, highs: IntArray) -> list[str]:
    return [f"{low} to {high}" for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]


def _shown(value: Any, decimals: int = 4) -> str:
    return "-" if value is None else number(value, decimals) if isinstance(value, float) else str(value)


def _labels(count: int) -> list[str]:
    """Name the runs a, b, … z, aa, ab, …, however many.

    >>> _labels(28)[-3:]
    ['z', 'aa', 'ab']
    """
    labels = []
    for index in range(count):
        label, rest = "", index
        while rest >= 0:
            label, rest = ascii_lowercase[rest % 26] + label, rest // 26 - 1
        labels.append(label)
    return labels


def _ranges(chosen: list[int], labels: list[str]) -> str:
    """Write labels, three and more neighbours as a range.

    >>> _ranges([0, 2, 3, 4, 6], list("abcdefg"))
    'a,c-e,g'
    >>> _ranges([0, 2], list("abc"))
    'ac'
    """
    groups: list[list[int]] = []
    for index in chosen:
        if groups and groups[-1][-1] == index - 1:
            groups[-1].append(index)
        else:
            groups.append([index])
    parts = []
    for group in groups:
        names = [labels[index] for index in group]
        parts += [f"{names[0]}-{names[-1]}"] if len(names) > 2 else names
    return ("" if all(len(part) == 1 for part in parts) else ",").join(parts)

"""Comparison: the result of comparing, which prints and converts itself.

Belongs here: rows, tables and marks of significance. Not here: how they come about (compare), layout (tables).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any

import numpy as np

from lexirecall.errors import choice
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Note
from lexirecall.names import Evaluable
from lexirecall.statistics.aggregate import Order
from lexirecall.statistics.power import discriminative_power
from lexirecall.tables import FOR_PEOPLE, Table, number, render
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.scores import Scores

VIEWS = ("runs", "pairs", "matrix", "power")
_COLUMNS = (
    "a", "b", "measure", "mean", "wins", "ties", "losses", "p", "p_corrected", "queries", "low", "high", "effect",
    "response", "queries_needed", "test", "correction",
)  # fmt: skip
_POWER_COLUMNS = ("measure", "test", "correction", "pairs", "significant", "share", "tied", "queries_needed")


@dataclass(frozen=True, eq=False)
class MeasureComparison:
    """Every pair of runs under one measure or preference; the arrays have one entry for each pair."""

    measure: Evaluable
    a: IntArray
    """Index of the first run."""
    b: IntArray
    """Index of the second, which comes after it."""
    means: FloatArray
    """Mean difference, or mean preference; positive if the first is better, whatever the direction of the measure."""
    wins: IntArray
    ties: IntArray
    losses: IntArray
    num_queries: IntArray
    effects: FloatArray
    """d_z = mean / standard deviation, or for signs the probability of superiority (wins + ties/2)/n."""
    lows: FloatArray
    """Lower end of the confidence interval of the difference that was tested."""
    highs: FloatArray
    pvalues: FloatArray
    corrected: FloatArray
    needed: FloatArray
    """How many queries it would take to detect the observed difference with 80 % power."""
    responses: FloatArray
    """The difference that was tested: of responses with HSD, (wins - losses)/n with the sign test, else the mean."""
    method: str
    correction: str
    num_left_out: int = 0

    def is_significant(self, alpha: float) -> BoolArray:
        """Tell which pairs differ, [P]."""
        return np.asarray(self.corrected < alpha)

    def better(self, num_systems: int, alpha: float) -> BoolArray:
        """Tell which run is significantly better than which, [S, S]."""
        better = np.zeros((num_systems, num_systems), bool)
        significant = self.is_significant(alpha)
        better[self.a, self.b] = significant & (self.responses > 0)
        better[self.b, self.a] = significant & (self.responses < 0)
        return better


@dataclass(frozen=True, eq=False)
class Comparison(Convertible):
    """Every pair of runs under every measure.

    >>> from lexirecall import compare
    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(8)}
    >>> runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in {"new": ["a", "b"], "old": ["x", "a"]}.items()}
    >>> print(compare(qrels, runs, ["LexiRecall", "AP"]))
    run    LexiRecall (win rate)        AP
    a new                 1.0000 b  1.0000 b
    b old                 0.0000    0.2500
    <BLANKLINE>
    raised letters: runs that are significantly worse (sign test, paired t; holm, alpha 0.05)
    """

    averages: Averages
    measures: tuple[MeasureComparison, ...]
    order: Order
    """The order of the runs by their mean win rate under the first measure."""
    baseline: int | None
    alpha: float
    notes: tuple[Note, ...]
    scores: Scores | None = None
    """The values of each query; None where they are on a cluster."""
    places: tuple[int, ...] | None = None
    """The runs in the order of tables, if another one is asked for than the best first."""

    @property
    def _decimals(self) -> int:
        return 4 if self.averages.digits is None else self.averages.digits

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, in the order given."""
        return self.averages.runs

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each pair and measure; positive mean and wins say that a is better. None if undefined."""
        for compared in self.measures:
            columns = (
                compared.means, compared.wins, compared.ties, compared.losses, compared.pvalues, compared.corrected,
                compared.num_queries, compared.lows, compared.highs, compared.effects, compared.responses,
            )  # fmt: skip
            lists = [column.tolist() for column in (compared.a, compared.b, compared.needed, *columns)]
            for a, b, needed, *values in zip(*lists, strict=True):
                names = self.runs[a], self.runs[b], str(compared.measure)
                ends = int(needed) if np.isfinite(needed) else None, compared.method, compared.correction
                yield dict(zip(_COLUMNS, (*names, *map(_defined, values), *ends), strict=True))

    def _conversion(self) -> tuple[ColumnValues, str]:
        return columns_of(self.rows(), _COLUMNS), self.scores.frame_library if self.scores else ""

    def table(self) -> Table:
        """Lay out the runs, best first, with the runs that each is significantly better than in raised letters."""
        places, labels, plain = self._places, _labels(len(self.runs)), self.averages.table()
        rows = tuple((f"{label} {self.runs[s]}", *plain.rows[s][1:]) for label, s in zip(labels, places, strict=True))
        best = frozenset((places.index(s), c) for s, c in plain.best)
        marks: dict[tuple[int, int], str] = {}
        for c, compared in enumerate(self.measures, 1):
            better = compared.better(len(places), self.alpha)[np.ix_(places, places)]
            marks |= {(r, c): mark for r in range(len(places)) if (mark := self._mark(better, r, labels))}
        footnote = "; ".join(filter(None, (self._footnote(), self.averages.on_intervals)))
        return Table(plain.header, rows, best=best, marks=marks, footnote=footnote)

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
        """Return the letters of the runs that the r-th is better than; against a baseline, + or -."""
        if self.baseline is None:
            return _ranges(np.flatnonzero(better[r]).tolist(), labels)
        at = self._places.index(self.baseline)
        return "+" if better[r, at] else "-" if better[at, r] else ""

    def _footnote(self) -> str:
        methods = ", ".join(dict.fromkeys(compared.method for compared in self.measures))
        correction = self.measures[0].correction
        how = f"({methods}; {'' if correction == 'none' else f'{correction}, '}alpha {self.alpha:g})"
        if self.baseline is None:
            return f"raised letters: runs that are significantly worse {how}"
        return f"+ and -: significantly better and worse than {self.runs[self.baseline]} {how}"

    def pairs_table(self) -> Table:
        """Lay out every pair and measure."""
        shown = ("mean", "low", "high", "effect", "wins", "ties", "losses", "queries", "p", "p_corrected")
        rows = tuple(
            (row["a"], row["b"], row["measure"], *(_shown(row[column], self._decimals) for column in shown))
            for row in self.rows()
        )
        return Table(("a", "b", "measure", *shown), rows, numbers_from=3)

    def matrix_table(self, compared: MeasureComparison) -> Table:
        """Lay out the mean difference of each pair of runs, row minus column, best first; * where it is significant."""
        places, size = self._places, len(self.runs)
        means, better = np.full((size, size), np.nan), compared.better(size, self.alpha)
        means[compared.a, compared.b], means[compared.b, compared.a] = compared.responses, -compared.responses
        marked = better | better.T
        rows = tuple(
            (
                self.runs[s],
                *("" if s == t or np.isnan(means[s, t]) else number(means[s, t], self._decimals) for t in places),
            )
            for s in places
        )
        marks = {(r, c + 1): "*" for r, s in enumerate(places) for c, t in enumerate(places) if marked[s, t]}
        header = (str(compared.measure), *(self.runs[s] for s in places))
        note = f"row less column; *: {compared.method}, p < {self.alpha:g}"
        return Table(
            header,
            rows,
            marks=marks,
            footnote=note if compared.correction == "none" else f"{note} after {compared.correction}",
        )

    def power_rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each measure: how many pairs it tells apart, and what it would take for the others."""
        for compared in self.measures:
            finite = compared.needed[np.isfinite(compared.needed)]
            values = (
                str(compared.measure),
                compared.method,
                compared.correction,
                int((~np.isnan(compared.corrected)).sum()),
                int(compared.is_significant(self.alpha).sum()),
                _defined(discriminative_power(compared.corrected, self.alpha)),
                _defined(float(compared.ties.sum() / max(compared.num_queries.sum(), 1))),
                int(np.ceil(np.median(finite))) if len(finite) else None,
            )
            yield dict(zip(_POWER_COLUMNS, values, strict=True))

    def power_table(self) -> Table:
        """Lay out the discriminative power of the measures."""
        header = ("measure", "test", "correction", "pairs", "significant", "share", "tied queries", "queries needed")
        rows = tuple(
            (*(row[c] for c in _POWER_COLUMNS[:3]), *(_shown(row[c]) for c in _POWER_COLUMNS[3:]))
            for row in self.power_rows()
        )
        note = f"share of the pairs with p < {self.alpha:g}; queries needed: the median over pairs, for 80 % power"
        return Table(header, rows, numbers_from=3, footnote=note)

    def render(self, form: str = "table", *, view: str = "runs", bold: bool = False, raw: bool = False) -> str:
        """Return one of VIEWS in one of the formats of the command line; for programs, always rows."""
        choice("view", view, VIEWS)
        if view == "power":
            return render(form, self.power_table(), self.power_rows(), _POWER_COLUMNS, bold=bold, raw=raw)
        tables: Sequence[Table] = [self.table()] if view == "runs" else [self.pairs_table()]
        if view == "matrix" and form in FOR_PEOPLE:
            tables = [self.matrix_table(compared) for compared in self.measures]
        return "\n\n".join(render(form, table, self.rows(), _COLUMNS, bold=bold, raw=raw) for table in tables)

    def __str__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()


def _defined(value: float) -> float | None:
    return None if isinstance(value, float) and not np.isfinite(value) else value


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

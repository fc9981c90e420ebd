"""Missing result: what depends on documents that nobody has judged.

Belongs here: the result and what it holds, and how it prints and converts itself. Not here: how it comes about
(missing), rows and tables (missingtables), sentences (missingwords).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import UsageError, choice, counted
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.labels.forecasts import OrderForecast, PairForecast
from lexirecall.labels.hindsight import Hindsight
from lexirecall.labels.judgingorder import Candidate
from lexirecall.labels.unjudgedoptions import VIEWS, check_view
from lexirecall.labels.wholeruns import KnownDecisions
from lexirecall.manifest import Note
from lexirecall.names import Evaluable
from lexirecall.notebook import CellPart, DisplayedResult, TitledTable
from lexirecall.preferences.pairs import SignArray
from lexirecall.tables import FORMATS, Table, to_delimited
from lexirecall.text import visible
from lexirecall.texts import Texts
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.measurecomparison import MeasureComparison

KINDS = {
    "summary": ("run", "bound", "labels", "pair", "order"),
    "runs": ("run", "bound"),
    "pairs": ("pair", "order"),
    "queries": ("query",),
    "judge": ("judge",),
    "hindsight": ("hindsight",),
}
"""The kinds of rows that each view has."""


class RunLabels(NamedTuple):
    """How much of a run is judged, over all judged queries."""

    run: str
    retrieved: int
    unjudged: int
    """How many of the documents that it retrieves nobody has judged."""
    judged: Mapping[int | None, float]
    """The share of its documents that is judged, within each depth, and in the whole list (None)."""


class RunBound(NamedTuple):
    """The mean of a measure for one run, and the least and the most that labels of its documents can make of it."""

    run: str
    measure: str
    value: float
    low: float
    high: float
    queries: int


@dataclass(frozen=True, eq=False)
class PairLabels(FieldEquality):
    """The P pairs of runs under one measure, on Q queries."""

    compared: MeasureComparison
    """What is concluded now."""
    known: KnownDecisions
    forecast: PairForecast | None
    """None without chances."""
    order: OrderForecast | None

    @property
    def measure(self) -> Evaluable:
        """The measure or preference."""
        return self.compared.measure

    @property
    def signs(self) -> SignArray:
        """Which run is better, [P, Q]: 1 the first, -1 the second, 0 neither."""
        return self.known.signs

    @property
    def decided(self) -> IntArray:
        """On how many queries one of the two runs is better, [P]."""
        return self.known.safe_decisions.decided

    @property
    def safe(self) -> IntArray | None:
        """How many of these decisions no label can reverse, [P]; None if it is not known."""
        return self.known.safe_decisions.safe

    @property
    def expected(self) -> FloatArray | None:
        """How many of these decisions are expected to be reversed, [P]."""
        return None if self.forecast is None else np.asarray(np.nansum(self.forecast.reversals, axis=1))

    def median_flip(self, pair: int | slice) -> tuple[float, float]:
        """Return the median flip number of some decisions, and that of the unjudged documents; nan if not known."""
        numbers, unjudged = self.known.numbers, self.known.unjudged
        is_decided = self.known.signs[pair] != 0
        if not is_decided.any():
            return np.nan, np.nan
        flip = np.nan if numbers is None else float(np.median(numbers[pair][is_decided]))
        return flip, float(np.median(unjudged[pair][is_decided]))


@dataclass(frozen=True, eq=False)
class Unjudged(DisplayedResult, Convertible):
    """What depends on unjudged documents, and what does not.

    >>> from lexirecall import unjudged
    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(3)}
    >>> runs = {"one": dict.fromkeys(qrels, ["a", "b", "x"]), "two": dict.fromkeys(qrels, ["y", "a"])}
    >>> made = unjudged(qrels, runs, ["LexiRecall", "R@2"], rate=0.1)
    >>> made
    <Unjudged: 2 runs, 1 pair, 6 of 15 retrieved documents unjudged>
    >>> [(row["measure"], row["decided"], row["safe"]) for row in made.rows() if row["kind"] == "pair"]
    [('LexiRecall', 3, 3), ('R@2', 3, 3)]
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    labels: tuple[RunLabels, ...]
    bounds: tuple[RunBound, ...]
    pairs: tuple[PairLabels, ...]
    """For each measure; none if there is one run only."""
    to_judge: tuple[Candidate, ...] | None
    """What to judge next; None if that was not asked for."""
    hindsight: tuple[Hindsight, ...]
    """For each measure, how the forecasts compare with judgments made since, if there are any."""
    num_unjudged: int
    """How many documents that any run retrieves nobody has judged, query by query."""
    rate: float | None
    """The chance that was stated."""
    num_samples: int
    alpha: float
    notes: tuple[Note, ...]
    texts: Texts | None = None
    frame_library: str = ""

    def __repr__(self) -> str:
        retrieved, missing = (sum(getattr(run, name) for run in self.labels) for name in ("retrieved", "unjudged"))
        num_pairs = len(self.pairs[0].compared.a) if self.pairs else 0
        share = f"{missing:,} of {counted(retrieved, 'retrieved document')} unjudged"
        return f"<Unjudged: {counted(len(self.runs), 'run')}, {counted(num_pairs, 'pair')}, {share}>"

    def beside(self, comparison: Comparison) -> Comparison:
        """Return a comparison of the same runs with the number of decisions that no label can reverse."""
        known = {pairs.measure: pairs for pairs in self.pairs}
        if self.runs != comparison.runs:
            raise UsageError("the comparison has other runs", remedy="compare the same runs, in the same order")
        counts = []
        for compared in comparison.measures:
            pairs = known.get(compared.measure)
            if pairs is not None and not np.array_equal(pairs.compared.a, compared.a):
                raise UsageError("the comparison has other pairs", remedy="give both the same baseline, or none")
            counts.append(None if pairs is None else pairs.known.safe_decisions)
        return replace(comparison, safe=tuple(counts))

    def view_of(self) -> str:
        """Return what is shown if nothing else is asked for."""
        return "judge" if self.to_judge is not None else "hindsight" if self.hindsight else "summary"

    def rows(self, view: str | None = None) -> Iterator[dict[str, Any]]:
        """Give a row for each run, bound, pair, query and so on, as `kind` says; those of one view, if it is named."""
        from lexirecall.labels.missingtables import rows_of  # not on top: it lays out what is here

        kinds = [kind for of_view in (KINDS.values() if view is None else [KINDS[view]]) for kind in of_view]
        return rows_of(self, tuple(dict.fromkeys(kinds)))

    def sentences(self, view: str = "summary") -> list[str]:
        """Return what a reader concludes from a view."""
        from lexirecall.labels.missingwords import SENTENCES

        return list(SENTENCES[view](self)) if view in SENTENCES else []

    def tables(self, view: str = "summary") -> dict[str, Table]:
        """Lay out a view, by title."""
        from lexirecall.labels.missingtables import tables_of

        return tables_of(self, view)

    def render(self, form: str = "table", *, view: str | None = None, bold: bool = False, raw: bool = False) -> str:
        """Return one of VIEWS in one of the formats of the command line; for programs, its rows."""
        view = self.view_of() if view is None else view
        choice("view", view, VIEWS)
        choice("format", form, FORMATS)
        check_view(view, judge=self.to_judge is not None, judged_with=bool(self.hindsight))
        chosen = FORMATS[form]
        if chosen.of_table:
            tables = self.tables(view).items()
            if form != "table":
                return "\n\n".join(chosen.of_table(table, bold) for _, table in tables)
            paragraphs = ["\n".join(sentences)] if (sentences := self.sentences(view)) else []
            return "\n\n".join([*paragraphs, *(f"{title}\n\n{table.to_text(bold=bold)}" for title, table in tables)])
        if chosen.of_rows:
            return chosen.of_rows(self.rows(view))
        from lexirecall.labels.missingtables import columns_of_kinds

        columns = columns_of_kinds(KINDS[view], has_texts=self.texts is not None)
        rows = ({name: row.get(name) for name in columns} for row in self.rows(view))
        return to_delimited(rows, columns, chosen.delimiter, raw=raw)

    def __str__(self) -> str:
        return "\n".join([self.render(), *(f"note: {visible(note.text)}" for note in self.notes)])

    def _parts(self) -> Iterator[CellPart]:
        yield from self.sentences(self.view_of())
        yield from (TitledTable(title, table) for title, table in self.tables(self.view_of()).items())

    def _conversion(self) -> tuple[ColumnValues, str]:
        from lexirecall.labels.missingtables import columns_of_kinds

        kinds = tuple(dict.fromkeys(kind for of_view in KINDS.values() for kind in of_view))
        columns = columns_of_kinds(kinds, has_texts=self.texts is not None)
        rows = ({name: row.get(name) for name in columns} for row in self.rows())
        return columns_of(rows, columns), self.frame_library

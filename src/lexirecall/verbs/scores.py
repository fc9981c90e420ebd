"""Scores: the result of evaluating, which prints and converts itself.

Belongs here: means, tables and conversions of values. Not here: how they are computed (evaluate), layout (tables).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.aggregation import MIN_QUERIES, Resampling
from lexirecall.errors import UsageError
from lexirecall.fields import taken, takes
from lexirecall.formats.idtypes import as_given, column_as_given
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Manifest, Note, Policies
from lexirecall.names import Evaluable
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.positions import Positions
from lexirecall.tables import Table, number, render
from lexirecall.text import visible
from lexirecall.verbs.averages import COLUMNS, Averages, headings, named, numbers, rows_of
from lexirecall.verbs.conversion import ColumnValues, columns_of, to_arrow, to_library, to_pandas, to_polars

if TYPE_CHECKING:
    from lexirecall.groups import Groups
    from lexirecall.verbs.breakdown import Breakdown
    from lexirecall.verbs.exposures import Exposures


@dataclass(frozen=True, slots=True)
class Scores(DisplayedResult):
    """Values of S runs × Q queries × M measures; nan where undefined, and then left out of the means."""

    averages: Averages
    """The means over queries, with what they are means of."""
    queries: tuple[str, ...]
    values: FloatArray
    frame_library: str = ""
    """What the runs were frames of, if they were frames."""
    query_type: str = "text"
    """What the ids of the queries were in the judgments, and are in frames of the result."""
    origin: tuple[Positions, Policies] | None = None
    """What the values were computed from, if there is a map of providers: their exposures can be resampled."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, in the order given."""
        return self.averages.runs

    @property
    def measures(self) -> tuple[Evaluable, ...]:
        """The measures, in the order asked for."""
        return self.averages.measures

    @property
    def means(self) -> FloatArray:
        """The mean over queries, or the sum for counts, [S, M]; nan where no query has a value."""
        return self.averages.means

    @property
    def num_due(self) -> IntArray:
        """For each run and measure, how many queries should have a value, [S, M]."""
        return self.averages.num_due

    @property
    def manifest(self) -> Manifest:
        """What was computed, and how."""
        return self.averages.manifest

    @property
    def over(self) -> tuple[str, ...]:
        """What the numbers of all queries are: "mean", or what is asked for instead."""
        breakdown = self.averages.breakdown
        return ("mean",) if breakdown is None else tuple(map(str, breakdown.overs))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of queries that are shown, the worst first; none if there are none."""
        breakdown = self.averages.breakdown
        return () if breakdown is None else tuple(part.group for part in breakdown.parts if part.group is not None)

    @property
    def groups_of_queries(self) -> "Groups | None":
        """Which group each query is in, if groups are asked for."""
        return None if self.averages.breakdown is None else self.averages.breakdown.groups

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.averages.notes

    def sorted_by(self, sort: str) -> "Scores":
        """Return the scores with the runs in another order: `given`, by `name`, or by a measure, the best first.

        >>> from lexirecall import evaluate
        >>> runs = {"late": {"q": ["x", "a"]}, "early": {"q": ["a"]}}
        >>> evaluate({"q": {"a": 1}}, runs, ["RR"]).sorted_by("RR").runs
        ('early', 'late')
        """
        order = self.averages.order_of(sort)
        return replace(self, averages=self.averages.sorted_by(sort), values=self.values[order])

    def with_digits(self, digits: int) -> "Scores":
        """Return the scores with so many decimals in tables."""
        return replace(self, averages=replace(self.averages, digits=digits))

    def rows(self, *, per_query: bool = False) -> Iterator[dict[str, Any]]:
        """Give one row for each value: run, query ("all" for the mean), measure, value (None if undefined).

        If intervals are asked for, also low and high, which are None for a single query. With `over` or groups, the
        rows of queries come first, and say in which group a query is.
        """
        if self.averages.breakdown is not None:
            yield from self._placed_rows() if per_query else ()
            yield from self.averages.rows()
            return
        absent = dict.fromkeys(self.averages.columns[len(COLUMNS) :])
        for s in range(len(self.runs)):
            yield from (row | absent for row in self._query_rows(s)) if per_query else ()
            yield from self.averages.rows_of_run(s)

    def _placed_rows(self) -> Iterator[dict[str, Any]]:
        """Give the rows of queries in the columns that a breakdown has."""
        breakdown = self.averages.breakdown
        assert breakdown is not None  # noqa: S101 - callers have seen to it
        for row, q in self._numbered_rows():
            yield {**dict.fromkeys(breakdown.columns), **breakdown.said_of_query(q), **row}

    def _numbered_rows(self) -> Iterator[tuple[dict[str, Any], int]]:
        for s in range(len(self.runs)):
            numbers = (q for q in range(len(self.queries)) for _ in self.measures)
            yield from zip(self._query_rows(s), numbers, strict=True)

    def _query_rows(self, s: int) -> Iterator[dict[str, Any]]:
        for query, values in zip(self.queries, self.values[s], strict=True):
            yield from rows_of(self.runs[s], query, self.measures, values)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return {run: {measure: mean}}, or {run: {query: {measure: value}}}; None where undefined.

        Queries are keys of the type that they have in the judgments: 7, not "7", where those have integers.

        >>> from lexirecall import evaluate
        >>> scores = evaluate({"q": {"a": 1}}, {"bm25": {"q": {"b": 2.0, "a": 1.0}}}, ["RR", "P@1"])
        >>> scores.to_dict()
        {'bm25': {'RR': 0.5, 'P@1': 0.0}}
        >>> scores.to_dict(per_query=True)
        {'bm25': {'q': {'RR': 0.5, 'P@1': 0.0}}}

        If `over` or groups are asked for, they are levels of their own: {run: {group: {over: {measure: number}}}}. The
        group of all queries is None.

        >>> evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, ["RR"], over=["mean", "min"]).to_dict()
        {'bm25': {'mean': {'RR': 0.5}, 'min': {'RR': 0.5}}}
        """
        if not per_query:
            return dict(self.averages.to_dict())
        queries = as_given(self.queries, self.query_type)
        return {
            run: {query: named(self.measures, values) for query, values in zip(queries, ranked, strict=True)}
            for run, ranked in zip(self.runs, self.values, strict=True)
        }

    def intervals(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Return {run: {measure: (low, high)}}, the 95 % interval of each mean that has one; an open end is infinite.

        Those of means that are shares of queries (All, Reached and Success) are there always, others with `interval`.

        >>> from lexirecall import evaluate
        >>> evaluate({"q": {"a": 1}}, {"bm25": {"q": ["a"]}}, ["RR", "All@1"]).intervals()
        {'bm25': {'All@1': (0.025, 1.0)}}
        """
        pairs = {run: zip(*self.averages.ends(s), strict=True) for s, run in enumerate(self.runs)}
        return {
            run: {
                str(row): (float(low), float(high))
                for row, (low, high) in zip(self.measures, ends, strict=True)
                if not np.isnan(low)
            }
            for run, ends in pairs.items()
        }

    def to_numpy(self) -> FloatArray:
        """Return the values as an array [runs, queries, measures], nan where undefined."""
        return self.values.copy()

    def _columns(self, *, per_query: bool) -> ColumnValues:
        if not per_query:
            return columns_of(self.averages.rows(), [name for name in self.averages.columns if name != "query"])
        if self.groups_of_queries is None:
            columns = columns_of((row for s in range(len(self.runs)) for row in self._query_rows(s)), COLUMNS)
        else:
            columns = columns_of(self._placed_rows(), ("run", "query", "group", "measure", "value"))
        return {**columns, "query": column_as_given(columns["query"], self.query_type)}

    def to_pandas(self, *, per_query: bool = False) -> Any:
        """Return a pandas data frame of means: run, measure, value; or of each query: run, query, measure, value.

        With `per_query` there is a row for each query and none for the mean. Means with intervals also have the columns
        low and high, numbers other than the mean the column over, and groups the columns group and queries, the number
        of them. The ids of queries have the type that
        they have in the judgments, so that a table of queries or users can be merged; undefined is NaN.

        >>> from lexirecall import evaluate
        >>> scores = evaluate({7: {"a": 1}, 8: {"b": 1}}, {7: ["a"], 8: ["x", "b"]}, ["RR"])
        >>> scores.to_pandas(per_query=True).groupby("run")["value"].mean().to_dict(), scores.to_dict()
        ({'run': 0.75}, {'run': {'RR': 0.75}})
        >>> scores.to_pandas(per_query=True)["query"].tolist()
        [7, 8]
        """
        return to_pandas(self._columns(per_query=per_query))

    def to_polars(self, *, per_query: bool = False) -> Any:
        """Return a polars data frame, of means or of each query as `to_pandas` does; undefined is null."""
        return to_polars(self._columns(per_query=per_query))

    def to_arrow(self, *, per_query: bool = False) -> Any:
        """Return an Arrow table, of means or of each query as `to_pandas` does; undefined is null."""
        return to_arrow(self._columns(per_query=per_query))

    def to_frame(self, *, per_query: bool = False) -> Any:
        """Return a frame of the library that the runs came in, of means or of each query as `to_pandas` does.

        >>> import polars
        >>> from lexirecall import evaluate
        >>> qrels = polars.DataFrame({"user_id": [7], "document_id": [1], "rating": [5]})
        >>> run = polars.DataFrame({"user_id": [7, 7], "document_id": [2, 1], "score": [0.9, 0.4]})
        >>> evaluate(qrels, run, ["RR"], level=4).to_frame(per_query=True).rows()
        [('run', 7, 'RR', 0.5)]
        """
        return to_library(self.frame_library, self._columns(per_query=per_query))

    def table(self, *, per_query: bool = False) -> Table:
        """Lay the means out, one row a run; or one row for each query of each run."""
        if not per_query:
            return self.averages.table()
        if (breakdown := self.averages.breakdown) is not None:
            return self._table_with(breakdown)
        rows: list[tuple[str, ...]] = []
        for s, run in enumerate(self.runs):
            cells = (numbers(self.measures, values, self.averages.digits) for values in self.values[s])
            rows += [(run, query, *row) for query, row in zip(self.queries, cells, strict=True)]
            rows.append((run, "all", *self.averages.cells(s)))
        header = ("run", "query", *headings(self.measures))
        return Table(header, tuple(rows), numbers_from=2, footnote=self.averages.footnote)

    def _table_with(self, breakdown: "Breakdown") -> Table:
        """Lay the values of each query out, and below them the numbers over all queries and over groups."""
        rows: list[tuple[str, ...]] = []
        for s, run in enumerate(self.runs):
            cells = (numbers(self.measures, values, self.averages.digits) for values in self.values[s])
            for q, row in enumerate(cells):
                labels = breakdown.said_of_query(q)
                rows.append((run, self.queries[q], *(labels[key] or "-" for key in breakdown.keys), *row))
        rows += [(run, "all", *cells) for run, *cells in breakdown.table_rows(self.averages.digits)]
        below = breakdown.table()
        texts = frozenset(c + 1 for c in below.texts)
        header = ("run", "query", *below.header[1:])
        return Table(header, tuple(rows), numbers_from=2, texts=texts, footnote=below.footnote)

    def render(self, form: str = "table", *, per_query: bool = False, bold: bool = False, raw: bool = False) -> str:
        """Return the result in one of the formats of the command line."""
        if form == "trec":
            averages = replace(self.averages, runs=tuple(map(visible, self.runs)))
            # on a terminal a line end within an id would begin a line that nobody computed
            shown = replace(self, queries=tuple(map(visible, self.queries)), averages=averages) if bold else self
            return shown.to_trec(per_query=per_query)
        table, rows = self.table(per_query=per_query), self.rows(per_query=per_query)
        return render(form, table, rows, self.averages.columns, bold=bold, raw=raw)

    @takes(Resampling)
    def providers(
        self, *, min_queries: int = MIN_QUERIES, show_progress: bool | None = False, **options: Any
    ) -> "Exposures":
        """Return exposure, merit and ratio of every provider with so many queries or more, the least p first.

        p says whether a provider is placed like the other relevant documents of the same queries, by permutations from
        `seed`. `bootstrap` is how often to resample the queries, for the 95 % interval of each exposure and ratio of a
        provider with 50 queries or more.

        >>> from lexirecall import evaluate
        >>> judged = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}}
        >>> scores = evaluate(judged, {"q1": ["a", "x", "b"], "q2": ["b"]}, providers={"a": "Ada", "b": "Ben"})
        >>> rows = scores.providers(min_queries=2).rows()
        >>> [(row["provider"], round(row["exposure"], 4), round(row["ratio"], 4)) for row in rows]
        [('Ada', 0.5, 0.8571), ('Ben', 0.6667, 1.1429)]
        """
        from lexirecall.verbs.exposures import Exposures  # not on top: few runs have a map of providers

        exposures = Exposures.of(self.averages, min_queries=min_queries, frame_library=self.frame_library)
        if self.origin is None:
            return exposures
        return exposures.with_evidence(*self.origin, taken(Resampling, options), show_progress=show_progress)

    def to_trec(self, *, per_query: bool = False) -> str:
        """Return lines as trec_eval prints them: name, query, value; with its names where it has them."""
        breakdown = self.averages.breakdown
        check_trec(breakdown is not None and breakdown.says_over, self.groups_of_queries is not None)
        lines = []
        for s, run in enumerate(self.runs):
            if per_query:
                for query, values in zip(self.queries, self.values[s], strict=True):
                    lines += self._trec_lines(query, values)
            counted = int((~np.isnan(self.values[s])).any(axis=1).sum())
            lines += [
                f"{'runid':<22}\tall\t{run}",
                f"{'num_q':<22}\tall\t{counted}",
                *self._trec_lines("all", self.means[s]),
            ]
        return "\n".join(lines)

    def _trec_lines(self, query: str, values: FloatArray) -> list[str]:
        pairs = zip(self.measures, values.tolist(), strict=True)
        numbers = [
            (trec_name(measure), number(value, 4 if measure.decimals else 0, mark="")) for measure, value in pairs
        ]
        # the number of queries is in the summary, whether it is asked for or not
        asked = [(name, text) for name, text in numbers if name != "num_q"]
        return [f"{name:<22}\t{query}\t{'nan' if text == '-' else text}" for name, text in asked]

    def __str__(self) -> str:
        return str(self.averages)

    def _parts(self) -> Iterable[CellPart]:
        return [self.table()]

    def _pictured(self) -> object:
        return self


def check_trec(has_over: bool, has_groups: bool) -> None:
    """Raise if what is asked for has no place in the lines that trec_eval prints."""
    names = [name for name, is_asked in (("--over", has_over), ("--by", has_groups)) if is_asked]
    if names:
        raise UsageError(
            f"{' and '.join(names)} cannot be printed as trec: its lines have a place for one number over all queries",
            remedy="choose another format, such as -f tsv",
        )


def trec_name(measure: Evaluable) -> str:
    """Return trec_eval's name of a measure, or ours where it has none.

    >>> from lexirecall.names import parse_measures
    >>> [trec_name(measure) for measure in parse_measures("AP nDCG@10 IPrec@0.1 RR@10 TSE P(rel=2)@5")]
    ['map', 'ndcg_cut_10', 'iprec_at_recall_0.10', 'RR@10', 'TSE', 'P(rel=2)@5']
    """
    at = measure.settings.get(measure.at)
    plain = not (measure.settings.keys() - {measure.at})
    if plain and at is None and measure.trec and measure.trec[0]:
        return measure.trec[0]
    if plain and at is not None and len(measure.trec) > 1:
        return f"{measure.trec[1]}_{at:.2f}" if measure.at == "recall" else f"{measure.trec[1]}_{at}"
    return str(measure)

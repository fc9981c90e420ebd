"""Scores: the result of evaluating, which prints and converts itself.

Belongs here: means, tables and conversions of values. Not here: how they are computed (evaluate), layout (tables).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Manifest, Note
from lexirecall.names import Evaluable
from lexirecall.tables import Table, number, render
from lexirecall.text import to_valid_text

_COLUMNS = ("run", "query", "measure", "value")


@dataclass(frozen=True, slots=True)
class Scores:
    """Values of S runs × Q requests × M measures; nan where undefined, and then left out of the means."""

    systems: tuple[str, ...]
    requests: tuple[str, ...]
    measures: tuple[Evaluable, ...]
    values: FloatArray
    num_due: IntArray
    """For each run and measure, how many requests should have a value, [S, M]."""
    manifest: Manifest

    @property
    def means(self) -> FloatArray:
        """The mean over requests, or the sum for counts, [S, M]; nan where no request has a value."""
        defined = ~np.isnan(self.values)
        sums, counts = np.where(defined, self.values, 0.0).sum(axis=1), defined.sum(axis=1)
        divisors = np.where([measure.total == "sum" for measure in self.measures], 1, counts)
        return np.where(counts > 0, sums / np.maximum(divisors, 1), np.nan)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.manifest.notes

    def rows(self, *, per_request: bool = False) -> Iterator[dict[str, Any]]:
        """Give one row for each value: run, query ("all" for the mean), measure, value (None if undefined)."""
        means = self.means
        for s, run in enumerate(self.systems):
            for q, query in enumerate(self.requests if per_request else ()):
                yield from self._row(run, query, self.values[s, q])
            yield from self._row(run, "all", means[s])

    def _row(self, run: str, query: str, values: FloatArray) -> Iterator[dict[str, Any]]:
        for measure, value in self._named(values).items():
            yield {"run": run, "query": query, "measure": measure, "value": value}

    def to_dict(self, *, per_request: bool = False) -> dict[str, Any]:
        """Return {run: {measure: mean}}, or {run: {request: {measure: value}}}; None where undefined.

        >>> from lexirecall import evaluate
        >>> scores = evaluate({"q": {"a": 1}}, {"bm25": {"q": {"b": 2.0, "a": 1.0}}}, ["RR", "P@1"])
        >>> scores.to_dict()
        {'bm25': {'RR': 0.5, 'P@1': 0.0}}
        >>> scores.to_dict(per_request=True)
        {'bm25': {'q': {'RR': 0.5, 'P@1': 0.0}}}
        """
        if not per_request:
            return {run: self._named(means) for run, means in zip(self.systems, self.means, strict=True)}
        return {
            run: {query: self._named(values) for query, values in zip(self.requests, ranked, strict=True)}
            for run, ranked in zip(self.systems, self.values, strict=True)
        }

    def _named(self, values: FloatArray) -> dict[str, float | None]:
        pairs = zip(self.measures, values.tolist(), strict=True)
        return {str(measure): None if np.isnan(value) else value for measure, value in pairs}

    def to_numpy(self) -> FloatArray:
        """Return the values as an array [runs, requests, measures], nan where undefined."""
        return self.values.copy()

    def _columns(self, *, per_request: bool) -> dict[str, list[Any]]:
        rows = list(self.rows(per_request=per_request))
        columns: dict[str, list[Any]] = {name: [to_valid_text(row[name]) for row in rows] for name in _COLUMNS[:-1]}
        return {**columns, "value": [row["value"] for row in rows]}

    def to_pandas(self, *, per_request: bool = False) -> Any:
        """Return a pandas data frame with the columns run, query, measure, value."""
        frame = library("pandas").DataFrame(self._columns(per_request=per_request))
        return frame.astype({"value": float})

    def to_polars(self, *, per_request: bool = False) -> Any:
        """Return a polars data frame with the columns run, query, measure, value; undefined is null."""
        polars = library("polars")
        return polars.DataFrame(self._columns(per_request=per_request), schema_overrides={"value": polars.Float64})

    def to_arrow(self, *, per_request: bool = False) -> Any:
        """Return an Arrow table with the columns run, query, measure, value; undefined is null."""
        columns = self._columns(per_request=per_request)
        pyarrow = library("pyarrow")
        return pyarrow.table({**columns, "value": pyarrow.array(columns["value"], pyarrow.float64())})

    def table(self, *, per_request: bool = False) -> Table:
        """Lay the means out, one row a run; or one row for each request of each run.

        A mean over fewer requests than it should have is followed by their number in brackets, and is never the best.
        """
        means, names = self.means, tuple(map(str, self.measures))
        if not per_request:
            overall = tuple((run, *self._means_shown(s, means[s])) for s, run in enumerate(self.systems))
            return Table(("run", *names), overall, best=frozenset((s, c + 1) for s, c in self._best(means)))
        rows = [
            (run, query, *self._numbers(values))
            for s, run in enumerate(self.systems)
            for query, values in zip((*self.requests, "all"), (*self.values[s], means[s]), strict=True)
        ]
        return Table(("run", "query", *names), tuple(rows), numbers_from=2)

    def _numbers(self, values: FloatArray) -> tuple[str, ...]:
        pairs = zip(self.measures, values.tolist(), strict=True)
        return tuple(number(value, measure.decimals) for measure, value in pairs)

    def _means_shown(self, s: int, means: FloatArray) -> tuple[str, ...]:
        counts = (~np.isnan(self.values[s])).sum(axis=0)
        triples = zip(self._numbers(means), counts, self.num_due[s], strict=True)
        return tuple(text if count in (0, due) else f"{text} ({count})" for text, count, due in triples)

    @property
    def _complete(self) -> BoolArray:
        """Whether a mean covers all the requests that it should, [S, M]."""
        complete: BoolArray = (~np.isnan(self.values)).sum(axis=1) == self.num_due
        return complete

    def _best(self, means: FloatArray) -> Iterator[tuple[int, int]]:
        """Give the cells with the best mean of each measure, equal ones too, where there is something to choose."""
        for c, measure in enumerate(self.measures):
            column = np.where(self._complete[:, c], measure.direction * means[:, c], -np.inf)
            if column.min() < column.max():
                yield from ((int(s), c) for s in np.flatnonzero(column >= column.max() - 1e-12))

    def render(self, form: str = "table", *, per_request: bool = False, bold: bool = False) -> str:
        """Return the result in one of the formats of the command line."""
        if form == "trec":
            return self.to_trec(per_request=per_request)
        return render(
            form, self.table(per_request=per_request), self.rows(per_request=per_request), _COLUMNS, bold=bold
        )

    def to_trec(self, *, per_request: bool = False) -> str:
        """Return lines as trec_eval prints them: name, request, value; with its names where it has them."""
        lines, means = [], self.means
        for s, run in enumerate(self.systems):
            if per_request:
                for query, values in zip(self.requests, self.values[s], strict=True):
                    lines += self._trec_lines(query, values)
            counted = int((~np.isnan(self.values[s])).any(axis=1).sum())
            lines += [
                f"{'runid':<22}\tall\t{run}",
                f"{'num_q':<22}\tall\t{counted}",
                *self._trec_lines("all", means[s]),
            ]
        return "\n".join(lines)

    def _trec_lines(self, query: str, values: FloatArray) -> list[str]:
        pairs = zip(self.measures, values.tolist(), strict=True)
        numbers = [(trec_name(measure), number(value, 4 if measure.decimals else 0)) for measure, value in pairs]
        return [f"{name:<22}\t{query}\t{'nan' if text == '-' else text}" for name, text in numbers]

    def __str__(self) -> str:
        return "\n".join([self.table().to_text(), *(f"note: {note.text}" for note in self.notes)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p><small>{escape(note.text)}</small></p>" for note in self.notes)
        return self.table().to_html() + notes


def trec_name(measure: Evaluable) -> str:
    """Return trec_eval's name of a measure, or ours where it has none.

    >>> from lexirecall import parse_measures
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


def library(name: str) -> Any:
    """Import an optional library, or say how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise UsageError(f"{name} is not installed", remedy="pip install 'lexirecall[frames]'") from None

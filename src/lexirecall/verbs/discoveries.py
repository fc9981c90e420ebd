"""Discoveries: when each relevant document is found, over runs.

Belongs here: the time to discovery of single documents, and how it prints and converts itself. Not here: its mean over
the documents of a run (the measure ATD).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, counted
from lexirecall.judgments import FloatArray
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.positions import Positions
from lexirecall.tables import Table, number, percent, render, whole
from lexirecall.text import to_text
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of

COLUMNS = ("query", "document", "run", "position", "share", "mean", "mean_share", "missed")
"""A row for programs: one document in one run, with what holds for the document over all runs."""


@dataclass(frozen=True, eq=False)
class Discoveries(DisplayedResult, Convertible):
    """Where each relevant document is in each run; those that are found last come first.

    >>> from lexirecall import project
    >>> runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["x", "a"]}}
    >>> print(Discoveries.of(project({"q": {"a": 1, "b": 1}}, runs, corpus_size=20)))
    query  document  mean   share  missed  one  two
    q      b          2.0  10.0 %       1    2    -
    q      a          1.5   7.5 %       0    1    2
    <BLANKLINE>
    mean: of the positions in the runs that have the document; missed: runs that do not; share: of the corpus, the mean
    """

    runs: tuple[str, ...]
    documents: tuple[tuple[str, str], ...]
    """Query and document, N of them."""
    positions: FloatArray
    """[N, S], infinite where a run does not have the document."""
    sizes: FloatArray
    """The corpus size of the query of each document, [N], nan where it is unknown."""
    noun: str = "document"
    frame_library: str = ""

    @classmethod
    def of(cls, positions: Positions, level: float = 1) -> "Discoveries":
        """Find every relevant document in every run."""
        if positions.conventions.ties == "expected":
            problem = "the time to discovery of a document needs one order of tied documents"
            raise UsageError(problem, remedy="choose another tie rule: trec, input, worst or best")
        projection, judgments = positions.at_level(level), positions.targets
        found, num_queries = projection.found, len(positions.queries)
        relevant = np.flatnonzero(judgments.grades >= projection.level)
        places = np.full((len(judgments.grades), len(positions.runs)), np.inf)
        places[found.documents, found.segments.owners // num_queries] = found.positions
        query = np.searchsorted(judgments.offsets, relevant, side="right") - 1
        n = np.full(num_queries, np.nan) if positions.corpus_size is None else positions.corpus_size.astype(float)
        named = [
            (positions.queries[q], to_text(judgments.documents[i]))
            for q, i in zip(query.tolist(), relevant.tolist(), strict=True)
        ]
        missed, means = np.isinf(places[relevant]).sum(axis=1), _means(places[relevant])
        order = np.lexsort((-np.nan_to_num(means, nan=np.inf), -missed, query))
        return cls(
            runs=positions.runs,
            documents=tuple(named[k] for k in order.tolist()),
            positions=places[relevant][order],
            sizes=n[query][order],
            noun="document" if positions.units is None else "unit",
            frame_library=positions.frame_library,
        )

    def __repr__(self) -> str:
        return f"<Discoveries: {counted(len(self.documents), self.noun)} in {counted(len(self.runs), 'run')}>"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each document in each run; the position is None where the run does not have it."""
        means = _means(self.positions)
        for k, (query, document) in enumerate(self.documents):
            over_runs = {
                "mean": _known(means[k]),
                "mean_share": _known(means[k] / self.sizes[k]),
                "missed": int(np.isinf(self.positions[k]).sum()),
            }
            for run, position in zip(self.runs, self.positions[k].tolist(), strict=True):
                place = None if np.isinf(position) else int(position)
                share = None if place is None else _known(place / self.sizes[k])
                yield {"query": query, "document": document, "run": run, "position": place, "share": share, **over_runs}

    def table(self) -> Table:
        """Lay the documents out, one row for each, with its position in each run."""
        has_sizes = not np.isnan(self.sizes).all()
        header = ("query", self.noun, "mean", *(["share"] if has_sizes else []), "missed", *self.runs)
        rows = []
        for (query, document), places, mean, n in zip(
            self.documents, self.positions, _means(self.positions), self.sizes, strict=True
        ):
            shares = [percent(_known(mean / n))] if has_sizes else []
            shown = (whole(None if np.isinf(place) else int(place)) for place in places.tolist())
            rows.append((query, document, _number(mean), *shares, whole(int(np.isinf(places).sum())), *shown))
        footnote = f"mean: of the positions in the runs that have the {self.noun}; missed: runs that do not"
        if has_sizes:
            footnote += "; share: of the corpus, the mean"
        return Table(header, tuple(rows), numbers_from=2, footnote=footnote if rows else "")

    def render(self, form: str = "table", *, bold: bool = False, raw: bool = False) -> str:
        """Return the documents in one of the formats of the command line."""
        return render(form, self.table(), self.rows(), COLUMNS, bold=bold, raw=raw)

    def __str__(self) -> str:
        return self.table().to_text()

    def _parts(self) -> Iterable[CellPart]:
        return [self.table()]

    def _conversion(self) -> tuple[ColumnValues, str]:
        return columns_of(self.rows(), COLUMNS), self.frame_library


def _means(places: FloatArray) -> FloatArray:
    """Return the mean position of each document over the runs that have it, nan if none has."""
    is_found = np.isfinite(places)
    counts = is_found.sum(axis=1)
    return np.where(counts > 0, np.where(is_found, places, 0).sum(axis=1) / np.maximum(counts, 1), np.nan)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _number(mean: float) -> str:
    return number(mean, 1) if np.isfinite(mean) else "-"

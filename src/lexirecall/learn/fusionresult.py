"""Fused result: the fused run, what it is worth, and the weights that made it.

Belongs here: the result and what it holds, and how it prints and converts itself. Not here: how it comes about
(fusion), rows and tables (fusiontables), sentences (fusionwords).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lexirecall.errors import DataError, choice, counted, shown
from lexirecall.judgments import FloatArray
from lexirecall.learn.baselines import RRF_DECIMALS
from lexirecall.learn.candidates import Candidates
from lexirecall.learn.modelchoice import Tuning
from lexirecall.learn.weightsfile import FusionWeights
from lexirecall.manifest import Note
from lexirecall.notebook import CellPart, DisplayedResult, TitledTable
from lexirecall.output import FilePath, write
from lexirecall.tables import FORMATS, Table, to_delimited
from lexirecall.text import to_text, visible
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.scores import Scores

FUSED = "fused"
"""What the fused run is called."""
_RENAME = "rename it, or take the run from Python: fuse(...).to_dict()"


class FoldModel(NamedTuple):
    """Queries that were ranked in the same way, which was learnt and chosen on others."""

    number: int | None
    """Which fold, counted from 1; None for queries that are in none."""
    queries: tuple[int, ...]
    """Index in the judgments."""
    settings: Tuning | None
    """What was chosen; None if nothing was learnt, and for RRF."""
    best_run: str | None
    """The single run that was best on the other queries."""
    is_rrf: bool
    """Whether RRF ranks them."""


@dataclass(frozen=True, eq=False)
class FusedRun(DisplayedResult, Convertible):
    """A run made of several, what it is worth beside other ways to fuse them, and its weights.

    >>> from lexirecall import fuse
    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> runs = {"one": dict.fromkeys(qrels, ["a", "x", "b"]), "two": dict.fromkeys(qrels, ["b", "x", "y"])}
    >>> made = fuse(qrels, runs, ["LexiRecall", "AP"], folds=3)
    >>> made
    <FusedRun: 2 runs, 6 queries, 24 documents; learnt in 3 folds>
    >>> [row["value"] for row in made.rows("runs") if row["kind"] == "mean" and row["run"] == "fused"]
    [1.0, 1.0]
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    candidates: tuple[Candidates, ...]
    """What the runs retrieve for each query."""
    fused: tuple[FloatArray, ...]
    """The score of each of these documents."""
    scores: Scores
    """The fused run, the others ways to fuse, and each run, under every measure."""
    comparison: Comparison
    """The fused run beside each other way to fuse, and the best single run."""
    weights: FusionWeights
    """For use elsewhere: fitted on all queries, or as they were given."""
    folds: tuple[FoldModel, ...]
    is_learnt: bool
    """Whether weights were learnt here; else they were given."""
    notes: tuple[Note, ...]
    frame_library: str = ""

    def __repr__(self) -> str:
        number = sum(len(candidates.documents) for candidates in self.candidates)
        size = f"{counted(len(self.runs), 'run')}, {counted(len(self.queries), 'query')}, {counted(number, 'document')}"
        by_rrf = f", RRF in {self.num_rrf}" if self.num_rrf else ""
        how = f"learnt in {self.num_folds - self.num_rrf} folds{by_rrf}" if self.is_learnt else "with given weights"
        return f"<FusedRun: {size}; {how}>"

    @property
    def num_folds(self) -> int:
        """How many folds there were; 0 with given weights."""
        return sum(fold.number is not None for fold in self.folds)

    @property
    def num_rrf(self) -> int:
        """In how many of the folds the fused run is RRF."""
        return sum(fold.is_rrf for fold in self.folds if fold.number is not None)

    def rankings(self) -> Iterator[tuple[bytes, list[tuple[bytes, float]]]]:
        """Give the fused ranking of each query that any run answers: documents with their scores, the best first."""
        for candidates, scores in zip(self.candidates, self.fused, strict=True):
            if candidates.documents:
                order = np.argsort(-scores, kind="stable")  # candidates are by id already, the highest first
                pairs = zip(order.tolist(), scores[order].tolist(), strict=True)
                yield self.query_id(candidates.query), [(candidates.documents[at], score) for at, score in pairs]

    def query_id(self, query: int) -> bytes:
        """Return the id of a query as it was read."""
        return self.queries[query].encode(errors="surrogateescape")

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return {query: {document: score}}, the best document first: a run like any other."""
        return {
            to_text(query): {to_text(document): score for document, score in ranking}
            for query, ranking in self.rankings()
        }

    def to_trec(self) -> str:
        """Return the fused run as TREC text: every document of any run."""
        lines = []
        for query, ranking in self.rankings():
            if broken := next(
                (text for text in (query, *(document for document, _ in ranking)) if len(text.split()) != 1), None
            ):
                problem = f"the id {shown(broken)} holds a blank, which a run in TREC text cannot hold"
                raise DataError(problem, remedy=_RENAME)
            if query.startswith(b"#"):
                problem = f"the query {shown(query)} begins with #, as a comment does in TREC text"
                raise DataError(problem, remedy=_RENAME)
            name = to_text(query)
            lines += [
                f"{name} Q0 {to_text(document)} {rank} {score:.{RRF_DECIMALS}f} {FUSED}\n"
                for rank, (document, score) in enumerate(ranking, 1)
            ]
        return "".join(lines)

    def save(self, path: FilePath) -> None:
        """Write the fused run as TREC text."""
        write(self.to_trec(), path)

    def rows(self, view: str | None = None) -> Iterator[dict[str, Any]]:
        """Give a row for each mean, pair, fold and weight, as `kind` says; those of one view, if it is named."""
        from lexirecall.learn.fusiontables import KINDS, rows_of  # not on top: it lays out what is here

        return rows_of(self, tuple(KINDS) if view is None else KINDS_OF[view])

    def sentences(self) -> list[str]:
        """Return what a reader concludes."""
        from lexirecall.learn.fusionwords import sentences_on

        return list(sentences_on(self))

    def tables(self) -> Mapping[str, Table]:
        """Lay everything out, by title."""
        from lexirecall.learn.fusiontables import tables_of

        return tables_of(self)

    def render(self, form: str = "table", *, bold: bool = False, raw: bool = False) -> str:
        """Return the report in one of the formats of the command line; for programs, its rows."""
        choice("format", form, FORMATS)
        chosen = FORMATS[form]
        if chosen.of_table:
            tables = self.tables().items()
            if form != "table":
                return "\n\n".join(chosen.of_table(table, bold) for _, table in tables)
            laid = (f"{title}\n\n{table.to_text(bold=bold)}" for title, table in tables)
            return "\n\n".join(["\n".join(self.sentences()), *laid])
        if chosen.of_rows:
            return chosen.of_rows(self.rows())
        columns, _ = self._conversion()
        return to_delimited(self._filled(tuple(columns)), tuple(columns), chosen.delimiter, raw=raw)

    def __str__(self) -> str:
        return "\n".join([self.render(), *(f"note: {visible(note.text)}" for note in self.notes)])

    def _parts(self) -> Iterator[CellPart]:
        yield from self.sentences()
        yield from (TitledTable(title, table) for title, table in self.tables().items())

    def _pictured(self) -> object:
        return self.comparison

    def _filled(self, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        return ({name: row.get(name) for name in columns} for row in self.rows())

    def _conversion(self) -> tuple[ColumnValues, str]:
        from lexirecall.learn.fusiontables import COLUMNS

        names = ("kind", *dict.fromkeys(name for columns in COLUMNS.values() for name in columns))
        return columns_of(self._filled(names), names), self.frame_library


KINDS_OF = {"runs": ("mean",), "pairs": ("pair",), "folds": ("fold",), "weights": ("weight",)}
"""The kinds of rows that each view has."""

"""Funnel result: what each stage could still reach, and where each relevant document was lost.

Belongs here: the result, its rows and its tables. Not here: how it comes about (funnels).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lexirecall.errors import choice, counted
from lexirecall.gates.funnelfates import LOSSES
from lexirecall.manifest import Note
from lexirecall.notebook import CellPart, DisplayedResult, TitledTable
from lexirecall.tables import FORMATS, Table, number, to_delimited, whole
from lexirecall.text import visible
from lexirecall.texts import Texts, shortened, texts_beside

SHOWN = 20
"""Lost documents that tables list."""
_WIDTHS = {"query_text": 40, "document_text": 60}  # characters of texts in tables
_COLUMNS = (
    "kind", "stage", "depth", "queries", "relevant", "found", "R", "All", "LexiRecall", "better", "worse", *LOSSES,
    "entered", "read", "distinct", "handed_on", "query", "document", "loss", "position", "positions",
)  # fmt: skip


class Stage(NamedTuple):
    """One stage: numbers over the queries that count, of the documents that it hands on."""

    name: str
    depth: int | None
    """How many documents of its list it hands on; None if it hands on all."""
    found: int
    """How many relevant documents it hands on."""
    recall: float
    """The mean R of what it hands on: no later stage that only reorders and drops can have more."""
    all: float
    """The share of queries for which it hands on every relevant document."""
    better: int | None
    """Queries on which LexiRecall prefers it to the stage before, each in a perfect order; None for the first stage."""
    worse: int | None
    """Queries on which LexiRecall prefers the stage before."""
    lost: dict[str, int]
    """By kind of loss, the relevant documents that are lost here for good."""
    entered: int
    """Relevant documents in its list that the stage before did not hand on."""
    read: float
    """Documents that its searches return, repeats included: the mean over queries."""
    distinct: float
    """The same without repeats."""
    handed_on: float
    """Documents that it hands on: the mean over queries."""


class Loss(NamedTuple):
    """A relevant document that the last stage does not hand on."""

    query: str
    document: str
    kind: str
    """never, cut, pushed_down or dropped."""
    stage: str | None
    """The stage that loses it; None if it was never retrieved."""
    position: int | None
    """Where it was seen last."""
    positions: tuple[int | None, ...]
    """Where it is in the list of each stage."""


class Arrival(NamedTuple):
    """A relevant document in the list of a stage that the stage before did not hand on."""

    query: str
    document: str
    stage: str
    position: int
    positions: tuple[int | None, ...]
    """Where it is in the list of each stage."""


@dataclass(frozen=True, eq=False)
class Funnel(DisplayedResult):
    """What the stages of a search hand on, and where each relevant document is lost."""

    stages: tuple[Stage, ...]
    losses: tuple[Loss, ...]
    """The query of which the last stage finds the least share comes first."""
    arrivals: tuple[Arrival, ...]
    """Relevant documents that came in from elsewhere, in the order of the stages."""
    num_queries: int
    num_relevant: int
    noun: str
    """What must be found: a document, or a unit."""
    notes: tuple[Note, ...]
    texts: Texts | None = None

    def __repr__(self) -> str:
        lost = f"{len(self.losses):,} of {counted(self.num_relevant, f'relevant {self.noun}')}"
        return f"<Funnel: {counted(len(self.stages), 'stage')}, {lost} lost>"

    def preference(self, stage: int) -> float | None:
        """Return the mean preference of LexiRecall for a stage over the one before, each in a perfect order."""
        here = self.stages[stage]
        return None if here.better is None or here.worse is None else (here.better - here.worse) / self.num_queries

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each stage, for each lost document and for each that came in from elsewhere; `kind` tells."""
        for number_of, stage in enumerate(self.stages):
            yield {
                "kind": "stage",
                "stage": stage.name,
                "depth": stage.depth,
                "queries": self.num_queries,
                "relevant": self.num_relevant,
                "found": stage.found,
                "R": stage.recall,
                "All": stage.all,
                "LexiRecall": self.preference(number_of),
                "better": stage.better,
                "worse": stage.worse,
                **stage.lost,
                "entered": stage.entered,
                "read": stage.read,
                "distinct": stage.distinct,
                "handed_on": stage.handed_on,
            }
        yield from ({"kind": "loss", **self._document(loss, loss=loss.kind)} for loss in self.losses)
        yield from ({"kind": "entry", **self._document(arrival)} for arrival in self.arrivals)

    def _document(self, row: Loss | Arrival, **how: str) -> dict[str, Any]:
        return {
            "query": row.query, "document": row.document, **how, "stage": row.stage, "position": row.position,
            "positions": list(row.positions), **self._texts_of(row),
        }  # fmt: skip

    def _texts_of(self, row: Loss | Arrival) -> dict[str, str | None]:
        return texts_beside(self.texts, row.query, row.document)

    def ceilings(self) -> Table:
        """Lay out what a perfect later stage could still reach, and what each stage costs."""
        header = ("stage", "R", "All", "LexiRecall", "better", "worse", "read", "distinct", "handed on")
        rows = [
            (
                stage.name,
                number(stage.recall),
                number(stage.all),
                *("-" if value is None else f"{value:+.4f}" for value in [self.preference(place)]),
                *map(whole, (stage.better, stage.worse)),
                *(f"{value:,.1f}" for value in (stage.read, stage.distinct, stage.handed_on)),
            )
            for place, stage in enumerate(self.stages)
        ]
        return Table(header, tuple(rows))

    def lost_by_stage(self) -> Table:
        """Lay out how many relevant documents each stage loses for good, and in which way."""
        header = ("stage", *LOSSES.values(), "left", "from elsewhere")
        rows = [
            (stage.name, *(f"{stage.lost[kind]:,}" for kind in LOSSES), f"{stage.found:,}", f"{stage.entered:,}")
            for stage in self.stages
        ]
        return Table(header, tuple(rows))

    def lost(self, limit: int = 0) -> Table:
        """Lay out the lost documents, the worst query first; at most `limit` of them (0 for all)."""
        losses = self.losses[:limit] if limit else self.losses
        return self._documents(losses, "lost", [(LOSSES[loss.kind], loss.stage or "-") for loss in losses])

    def came_in(self, limit: int = 0) -> Table:
        """Lay out the relevant documents that came in from elsewhere; at most `limit` of them (0 for all)."""
        arrivals = self.arrivals[:limit] if limit else self.arrivals
        return self._documents(arrivals, "came in", [("from elsewhere", arrival.stage) for arrival in arrivals])

    def _documents(self, rows: Sequence[Loss | Arrival], verb: str, how: Sequence[tuple[str, str]]) -> Table:
        """Lay out documents with their places in the list of each stage, and with their texts if there are any."""
        first = 4
        places = tuple(f"in {stage.name}" for stage in self.stages)
        header = ("query", self.noun, verb, "at", *places, *(heading for heading, _ in self._shown_texts))
        cells = tuple(
            (
                row.query,
                row.document,
                *says,
                *map(whole, row.positions),
                *(shortened(self._texts_of(row)[key] or "-", _WIDTHS[key]) for _, key in self._shown_texts),
            )
            for row, says in zip(rows, how, strict=True)
        )
        texts = frozenset(range(first + len(places), len(header)))
        return Table(header, cells, numbers_from=first, texts=texts)

    @property
    def _shown_texts(self) -> list[tuple[str, str]]:
        """The headings of the texts that tables show, each with its key."""
        has = (False, False) if self.texts is None else (self.texts.has_queries, self.texts.has_documents)
        headings = ("text of query", f"text of {self.noun}")
        return [(heading, key) for heading, key, there in zip(headings, _WIDTHS, has, strict=True) if there]

    def to_text(self, *, limit: int = SHOWN, bold: bool = False) -> str:
        """Lay out everything for a terminal, at most `limit` documents (0 for all)."""
        ceilings, lost_by_stage, lost, came_in = self._titled(limit)
        parts = [part for title, table in (ceilings, lost_by_stage) for part in (title, table.to_text(bold=bold))]
        return "\n\n".join(
            [*parts, *self._listing(lost, len(self.losses)), *self._listing(came_in, len(self.arrivals))]
        )

    def _titled(self, limit: int = 0) -> list[TitledTable]:
        things = f"relevant {self.noun}"
        reach = f"{counted(self.num_queries, 'query')}, {counted(self.num_relevant, things)}"
        return [
            TitledTable(f"What a perfect later stage could still reach: {reach}", self.ceilings()),
            TitledTable(f"Where {things}s are lost", self.lost_by_stage()),
            TitledTable(f"Lost {things}s, the worst query first", self.lost(limit)),
            TitledTable(f"{things.capitalize()}s from elsewhere", self.came_in(limit)),
        ]

    def _listing(self, listed: TitledTable, total: int) -> Iterator[str]:
        if total:
            yield listed.title
            more = total - len(listed.table.rows)
            hint = f"\n({counted(more, f'more {self.noun}')}: --limit 0 shows all)" if more else ""
            yield listed.table.to_text() + hint

    def _parts(self) -> Iterator[CellPart]:
        return (part for part in self._titled() if part.table.rows)

    def render(self, form: str = "table", *, limit: int = SHOWN, bold: bool = False, raw: bool = False) -> str:
        """Return it in one of the formats of the command line; those for programs hold every lost document."""
        choice("format", form, FORMATS)
        if form == "table":
            return self.to_text(limit=limit, bold=bold)
        chosen = FORMATS[form]
        if chosen.of_table:
            tables = [self.ceilings(), self.lost_by_stage(), self.lost(limit), self.came_in(limit)]
            return "\n\n".join(chosen.of_table(table, bold) for table in tables if table.rows)
        if chosen.of_rows:
            return chosen.of_rows(self.rows())
        columns = _COLUMNS if self.texts is None else (*_COLUMNS, *_WIDTHS)
        rows = ({name: _field(row.get(name)) for name in columns} for row in self.rows())
        return to_delimited(rows, columns, chosen.delimiter, raw=raw)

    def __str__(self) -> str:
        return "\n".join([self.to_text(), *(f"note: {visible(note.text)}" for note in self.notes)])


def _field(value: Any) -> Any:
    """Return a value for one field of a delimited file: the places in several lists are separated by blanks."""
    return " ".join("none" if place is None else str(place) for place in value) if isinstance(value, list) else value

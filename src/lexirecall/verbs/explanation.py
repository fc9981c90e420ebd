"""Explanations: why LexiRecall prefers one of two rankings, in words, numbers and a drawing.

Belongs here: one query, explained. Not here: reading and the page of all queries (explain), drawing (strip).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import counted, listed
from lexirecall.judgments import FloatArray, Judgments
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.preferences import deciding_level
from lexirecall.strip import Strip
from lexirecall.tables import Table, render
from lexirecall.text import isolated, visible
from lexirecall.texts import Texts, shortened
from lexirecall.verbs.serving import ServedUnit

REASONS = {
    "found": "how many are found",
    "last": "the last one found",
    "earlier": "an earlier one",
    "tie": "nothing: they tie",
}
"""What decides, the weightiest first."""


@dataclass(frozen=True, slots=True)
class Side(FieldEquality):
    """One run's ranking of a query, as far as relevant documents are concerned."""

    run: str
    positions: FloatArray
    """p_1 … p_m, missing ones at infinity."""
    documents: tuple[str, ...]
    """The documents at these positions; the missing ones follow in the order of the judgments."""
    num_retrieved: int
    servings: tuple[ServedUnit, ...] = ()
    """If these documents are units: how each is served."""

    @property
    def num_found(self) -> int:
        """How many relevant documents the ranking has."""
        return int(np.isfinite(self.positions).sum())

    @property
    def found(self) -> dict[str, int]:
        """The relevant documents retrieved, with their positions."""
        return {document: int(p) for document, p in zip(self.documents, self.positions, strict=True) if np.isfinite(p)}

    @property
    def missing(self) -> tuple[str, ...]:
        """The relevant documents that were not retrieved."""
        return self.documents[self.num_found :]

    @property
    def spoken_for(self) -> dict[str, str]:
        """The document whose text is shown for each: the one itself or, for a unit, the one that serves it here."""
        by = [serving.by for serving in self.servings] or [None] * len(self.documents)
        return {document: substitute or document for document, substitute in zip(self.documents, by, strict=True)}

    def at(self, level: int) -> str:
        """Return the document at a recall level, and what serves it if it is a unit."""
        document = self.documents[level - 1]
        return f"{document}, served by {self.servings[level - 1].by}" if self.servings else document


@dataclass(frozen=True)
class QueryExplanation(DisplayedResult):
    """Why one of two rankings of a query is preferred."""

    id: str
    a: Side
    b: Side
    texts: Texts | None = None
    """The texts of the query and its documents, if there are any."""

    def with_texts(self, texts: Texts, judgments: Judgments | None = None) -> "QueryExplanation":
        """Return the same with the texts of the query and of its relevant documents, which are read now."""
        documents = {*self.a.spoken_for.values(), *self.b.spoken_for.values()}
        return replace(self, texts=texts.wanted([self.id], documents, judgments=judgments))

    @property
    def text(self) -> str | None:
        """The text of the query, None if there is none."""
        return None if self.texts is None else self.texts.of_query(self.id)

    def text_in(self, run: str, document: str) -> str | None:
        """Return the text of a document or, for a unit, of the document that serves it in a run."""
        return None if self.texts is None else self.texts.of_document(self._spoken_for[run][document])

    @cached_property
    def _spoken_for(self) -> dict[str, dict[str, str]]:
        return {side.run: side.spoken_for for side in (self.a, self.b)}

    @property
    def num_relevant(self) -> int:
        """How many relevant documents the query has."""
        return len(self.a.positions)

    @property
    def noun(self) -> str:
        """What must be found: a document, or a unit."""
        return "unit" if self.a.servings else "document"

    @cached_property
    def level(self) -> int | None:
        """The recall level that decides, None if the rankings tie."""
        return deciding_level(self.a.positions, self.b.positions)

    @property
    def sign(self) -> int:
        """1 if the first ranking is preferred, -1 if the second is, 0 if they tie."""
        if self.level is None:
            return 0
        return 1 if self.a.positions[self.level - 1] < self.b.positions[self.level - 1] else -1

    @property
    def preferred(self) -> str | None:
        """The run that is preferred, None if they tie."""
        return {1: self.a.run, -1: self.b.run, 0: None}[self.sign]

    @property
    def reason(self) -> str:
        """What decides: "found", "last", "earlier" or "tie", the keys of REASONS."""
        if self.level is None:
            return "tie"
        if self.a.num_found != self.b.num_found:
            return "found"
        return "last" if self.level == self.a.num_found else "earlier"

    @property
    def weight(self) -> tuple[int, float]:
        """What to sort queries by: the reason, then by how much."""
        order = [*REASONS].index(self.reason)
        if self.level is None:
            return order, 0.0
        if self.reason == "found":
            return order, -abs(self.a.num_found - self.b.num_found)
        at = self.level - 1
        return order, -abs(float(np.log(self.a.positions[at] / self.b.positions[at])))

    @property
    def only_a(self) -> dict[str, int]:
        """The relevant documents that only the first run finds, with their positions."""
        return _only(self.a, self.b)

    @property
    def only_b(self) -> dict[str, int]:
        """The relevant documents that only the second run finds, with their positions."""
        return _only(self.b, self.a)

    @property
    def found_by_one(self) -> dict[str, tuple[str, ...]]:
        """For each run, the relevant documents that only it finds."""
        return {self.a.run: (*self.only_a,), self.b.run: (*self.only_b,)}

    @property
    def spoken_for_one(self) -> set[str]:
        """The documents whose texts are shown for those that only one run finds."""
        return {self._spoken_for[run][document] for run, only in self.found_by_one.items() for document in only}

    @property
    def found_by_neither(self) -> tuple[str, ...]:
        """The relevant documents that neither run finds."""
        missing = set(self.b.missing)
        return tuple(document for document in self.a.missing if document in missing)

    def sentence(self) -> str:
        """Say in words what decides.

        What a run lacks is what the other one has, the deepest first: recall levels are compared from the last one up.
        """
        a, b, m = self.a, self.b, counted(self.num_relevant, f"relevant {self.noun}")
        if self.level is None:
            where = (
                f"have {a.num_found:,} of the {m}, at the same positions" if a.num_found else f"find none of the {m}"
            )
            return f"A tie: both runs {where}."
        better, worse = (a, b) if self.sign > 0 else (b, a)
        if self.reason == "found":
            found = f"it finds {better.num_found:,} of the {m}, {worse.run} {worse.num_found:,}"
            lacked = reversed(_only(better, worse))
            return f"{better.run} is preferred: {found}; {worse.run} lacks {listed(lacked, most=3)}."
        at, same = self.level - 1, a.num_found - self.level
        places = [f"at {side.positions[at]:,.0f} in {side.run} ({side.at(self.level)})" for side in (better, worse)]
        which = "the last of them" if not same else f"the last {same:,} at the same positions; the one before"
        joint = ", " if same else " and "
        return (
            f"{better.run} is preferred: both find {a.num_found:,} of the {m}{joint}{which} is {places[0]} "
            f"and {places[1]}."
        )

    def drawing(self, width: int = 72) -> str:
        """Draw both rankings' relevant documents on a logarithmic axis, and point at what decides."""
        sides = (self.a, self.b)
        margin = max(len(text) for text in ("position", *(visible(side.run) for side in sides))) + 2
        deepest = max(*(side.num_retrieved for side in sides), *(max(side.found.values(), default=1) for side in sides))
        strip = Strip(deepest, max(width - margin - len("  999 missing"), 20))
        lines = ["position".ljust(margin) + strip.axis()]
        for side in sides:
            missing = f"{len(side.missing):,} missing" if side.missing else ""
            drawn = strip.draw(side.positions, side.num_retrieved).ljust(strip.width)
            lines.append(f"{visible(side.run).ljust(margin)}{drawn}  {missing}")
            pointer = "" if self.level is None else strip.pointer(side.positions[self.level - 1])
            lines.append(" " * margin + pointer if pointer else "")
        return "\n".join(line.rstrip() for line in lines).rstrip("\n")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows; with units, also what serves each and the documents that would have."""
        served, texts = (
            ("served_by", "alternatives") if self.a.servings else (),
            () if self.texts is None else ("text",),
        )
        more = ("position", "document", *served, *texts)
        return ("query", "level", *(f"{column}_{letter}" for letter in "ab" for column in more), "decides")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each recall level, the last first: both positions and documents; None where missing."""
        for level in range(self.num_relevant, 0, -1):
            row: dict[str, Any] = {"query": self.id, "level": level}
            for letter, side in (("a", self.a), ("b", self.b)):
                position = side.positions[level - 1]
                is_found = bool(np.isfinite(position))
                row[f"position_{letter}"] = int(position) if is_found else None
                row[f"document_{letter}"] = side.documents[level - 1] if is_found else None
                row |= _served(side, level, letter, is_found=is_found)
                if self.texts is not None:
                    row[f"text_{letter}"] = self.text_in(side.run, side.documents[level - 1]) if is_found else None
            yield {**row, "decides": level == self.level}

    def table(self, limit: int = 0, *, with_texts: bool = True) -> Table:
        """Lay out the recall levels, the last first; at most `limit` of them (0 for all), the deciding one included."""
        rows = list(self.rows())
        if limit and len(rows) > limit:
            deciding = self.num_relevant - (self.level or self.num_relevant)
            start = max(0, min(deciding - limit // 2, len(rows) - limit))
            rows = rows[start : start + limit]
        has_texts = with_texts and self.texts is not None and self.texts.has_documents
        left_out = ("alternatives",) if has_texts else ("alternatives", "text")
        columns = [column for column in self.columns[1:] if not column.startswith(left_out)]
        cells = tuple(tuple(_cell(row[column]) for column in columns) for row in map(with_short_texts, rows))
        best = frozenset((r, c) for r, row in enumerate(rows) for c in range(len(columns)) if row["decides"])
        places = {"level": "level", "position_a": self.a.run, "position_b": self.b.run}
        more = {"served_by_a": "served by", "served_by_b": "served by", "text_a": "text", "text_b": "text"}
        header = tuple((places | more).get(column, "") for column in columns)
        texts = frozenset(c for c, column in enumerate(columns) if column not in places)
        return Table(header, cells, best=best, numbers_from=0, texts=texts)

    def to_text(self, *, width: int = 72, limit: int = 20, bold: bool = False) -> str:
        """Lay out the whole explanation for a terminal."""
        shown = self.table(limit, with_texts=False)
        more = self.num_relevant - len(shown.rows)
        parts = [
            f"Query {visible(self.id)}" + (f": {isolated(shortened(self.text))}" if self.text else ""),
            visible(self.sentence()),
            self.drawing(width),
            shown.to_text(bold=bold) + (f"\n({counted(more, 'more level')}: --limit 0 shows all)" if more else ""),
            *self._differences(limit),
            *self._documents(limit),
        ]
        return "\n\n".join(parts)

    def _documents(self, limit: int) -> Iterator[str]:
        """List the texts of the relevant documents: what only one run finds, what neither does, and then the others."""
        if self.texts is None:
            return
        differing = [(run, document) for run, documents in self.found_by_one.items() for document in documents]
        lacking = [(self.a.run, document) for document in self.found_by_neither]
        others = [(side.run, document) for side in (self.a, self.b) for document in reversed(side.documents)]
        documents = dict.fromkeys(self._spoken_for[run][document] for run, document in (*differing, *lacking, *others))
        texts = ((document, self.texts.of_document(document)) for document in documents)
        rows = [(document, shortened(text)) for document, text in texts if text]
        if rows:
            more = len(rows) - limit if limit else 0
            hint = f"\n({counted(more, 'more text')}: --limit 0 shows all)" if more > 0 else ""
            yield Table(("document", "text"), tuple(rows[: limit or None]), numbers_from=2).to_text() + hint

    def _differences(self, limit: int) -> Iterator[str]:
        most = limit or self.num_relevant
        for mine, other, documents in ((self.a, self.b, self.only_a), (self.b, self.a, self.only_b)):
            if documents:
                places = (f"{document} ({position:,})" for document, position in documents.items())
                yield visible(f"{mine.run} finds, and {other.run} does not: {listed(places, most)}")
        if self.found_by_neither:
            served = dict(zip(self.a.documents, self.a.servings, strict=False))
            missing = (f"{name} ({served[name].wanted})" if served else name for name in self.found_by_neither)
            yield visible(f"neither finds: {listed(missing, most)}")
        yield from map(visible, self._served_otherwise(limit))

    def _served_otherwise(self, limit: int) -> Iterator[str]:
        """Say what else would have served the units that are found, or is needed for them."""
        for side in (self.a, self.b):
            found = zip(side.documents, side.servings[: side.num_found], strict=False)
            told = [f"{unit} by {serving}" for unit, serving in found if serving.others]
            if told:
                yield f"served in {side.run}: {listed(told, limit or len(told))}"

    def render(
        self, form: str = "table", *, width: int = 72, limit: int = 20, bold: bool = False, raw: bool = False
    ) -> str:
        """Return the explanation in one of the formats of the command line."""
        if form == "table":
            return self.to_text(width=width, limit=limit, bold=bold)
        rows = self.rows() if form == "jsonl" else map(joined, self.rows())
        return render(form, self.table(), rows, self.columns, raw=raw)

    def __str__(self) -> str:
        return self.to_text()

    def _parts(self) -> Iterator[CellPart]:
        yield f"Query {self.id}" + (f": {shortened(self.text)}" if self.text else "")
        yield self.sentence()
        shown = self.table(20)
        more = self.num_relevant - len(shown.rows)
        yield replace(shown, footnote=counted(more, "more level")) if more else shown
        yield from self._differences(0)

    def _pictured(self) -> object:
        return self


def joined(row: dict[str, Any]) -> dict[str, Any]:
    """Put lists into one field of a delimited file, separated by blanks, and texts into one line; lists of texts go."""
    fields = {key: value for key, value in row.items() if not key.startswith("texts_")}
    return with_short_texts(
        {key: " ".join(value) if isinstance(value, list) else value for key, value in fields.items()}
    )


def with_short_texts(row: dict[str, Any]) -> dict[str, Any]:
    """Shorten the texts of a row, for a table that people read."""
    return {key: shortened(value) if key.startswith("text") and value else value for key, value in row.items()}


def _served(side: Side, level: int, letter: str, *, is_found: bool) -> dict[str, Any]:
    """Return what the row of a recall level says of the documents that serve its unit; nothing without units."""
    if not side.servings:
        return {}
    serving = side.servings[level - 1]
    known = {"served_by": serving.by, "alternatives": [] if serving.needs_all else list(serving.others)}
    return {f"{key}_{letter}": value if is_found else None for key, value in known.items()}


def _only(mine: Side, other: Side) -> dict[str, int]:
    """Return the relevant documents that one run finds and the other does not, with their positions, ascending."""
    missing = set(other.missing)
    return {document: p for document, p in mine.found.items() if document in missing}


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "decides" if value else ""
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

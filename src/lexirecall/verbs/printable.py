"""Printable: a result of rows as a table with notes below it.

Belongs here: what results that are one table have in common. Not here: layout (tables), frames (conversion).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from lexirecall.manifest import Note
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.tables import Table, render
from lexirecall.text import visible


class _TableResult(Protocol):
    """A result that has one table."""

    @property
    def columns(self) -> Sequence[str]: ...

    @property
    def notes(self) -> Sequence[Note]: ...

    def rows(self) -> Iterator[dict[str, Any]]: ...

    def table(self) -> Table: ...


class Printable(DisplayedResult):
    """A result that prints itself: its table, and its notes."""

    __slots__ = ()

    def render(self: _TableResult, form: str = "table", *, bold: bool = False, raw: bool = False) -> str:
        """Return it in one of the formats of the command line."""
        return render(form, self.table(), self.rows(), self.columns, bold=bold, raw=raw)

    def __str__(self: _TableResult) -> str:
        return "\n".join([self.table().to_text(), *(f"note: {visible(note.text)}" for note in self.notes)])

    def _parts(self: _TableResult) -> Iterable[CellPart]:
        return [self.table()]

"""Forms: a run as text, as a mapping or as a table, each of which can be read more than once.

Belongs here: the forms of a run, and reading one. Not here: which form a run has (kinds), what its lines, keys and rows
mean (trec, memory, rows).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from lexirecall.errors import FormatError, shown
from lexirecall.formats.arrow import ReadWith, project_batches
from lexirecall.formats.dicts import project_mapping
from lexirecall.formats.frames import RoleTable
from lexirecall.formats.lists import LEAVE_ONE, DuplicateItem
from lexirecall.formats.memory import rankings_from_mapping
from lexirecall.formats.mismatch import finds_judged, mismatch_of
from lexirecall.formats.native import project_native
from lexirecall.formats.parquetbatches import batches_of_files
from lexirecall.formats.positionsrun import PositionsRun
from lexirecall.formats.rows import project_rows, project_table
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import UnopenedTable, advance_whole
from lexirecall.formats.trec import project_text, run_lines
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.reader import reader_in_use
from lexirecall.tracks import SystemPositions
from lexirecall.units.unitmap import UnitMap


class Form(Protocol):
    """A run that can be read as a whole, or one ranking at a time."""

    def systems(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[SystemPositions]:
        """Find where the judged items are in the rankings of each system, places counted in `units` if given."""

    def items(self, system: str, request: bytes) -> Iterable[bytes]:
        """Give what a system retrieves for a request, in any order."""


def read_form(
    form: Form, judgments: Judgments, conventions: Conventions, units: UnitMap | None = None, *, needs_judged: bool
) -> list[SystemPositions]:
    """Read a run; a system for which nothing was found is looked at again, for any judged item at any depth."""
    systems = form.systems(judgments, conventions, units, needs_judged=needs_judged)
    if isinstance(form, PositionsRun) or all(map(finds_judged, systems)):  # a file knows what was found out about a run
        return systems
    uncut = replace(conventions, depth=None, judged_only=False, imputation="pessimistic")
    whole = form.systems(judgments, uncut, units, needs_judged=True)
    return [
        system if finds_judged(system) or finds_judged(each) else _marked(form, system, each, judgments)
        for system, each in zip(systems, whole, strict=True)
    ]


def _marked(form: Form, system: SystemPositions, whole: SystemPositions, judgments: Judgments) -> SystemPositions:
    def items_of(request: int) -> Iterable[bytes]:
        return form.items(system.name, judgments.request_ids[request])

    return replace(system, mismatch=mismatch_of(system.name, whole.num_retrieved, judgments, items_of))


@dataclass(frozen=True, slots=True)
class TextRun:
    """The lines of a file."""

    source: Source
    name: str

    def systems(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[SystemPositions]:
        """Read the lines with the reader in use."""
        read = project_native if reader_in_use() == "native" else project_text
        return [read(self.source, self.name, judgments, conventions, units, needs_judged=needs_judged)]

    def items(self, _system: str, request: bytes) -> Iterable[bytes]:
        """Give the items on the lines of a request."""
        return (item for of, item, *_ in run_lines(self.source) if of == request)


@dataclass(frozen=True, slots=True)
class MappingRun:
    """{request: {item: score}} or {request: [item, …]}."""

    content: Mapping[Any, Any]
    name: str
    label: str
    """What messages call it."""

    def systems(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[SystemPositions]:
        """Read all rankings."""
        run, name, label = self.content, self.name, self.label
        try:
            return [project_mapping(run, name, label, judgments, conventions, units, needs_judged=needs_judged)]
        except DuplicateItem as error:
            problem = f"document {shown(error.item)} of query {shown(error.request)} is listed twice"
            raise FormatError(self.label, None, problem, remedy="remove one of them", way_on=LEAVE_ONE) from None

    def items(self, _system: str, request: bytes) -> Iterable[bytes]:
        """Give the items of one ranking."""
        rankings = rankings_from_mapping(self.content, self.label)
        return next((ranking.items for ranking in rankings if ranking.request == request), ())


@dataclass(frozen=True, slots=True)
class TableRun:
    """Rows of one system or of many."""

    table: RoleTable
    name: str
    """For a table that names no systems."""
    is_given: bool
    """Whether that name takes precedence over those in the table."""

    def systems(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[SystemPositions]:
        """Read all rows."""
        return project_table(
            self.table, self.name, judgments, conventions, units, needs_judged=needs_judged, is_given=self.is_given
        )

    def items(self, system: str, request: bytes) -> Iterable[bytes]:
        """Give the items in the rows of one system and request."""
        wanted = {"request": request.decode()}
        if self.table.columns.system is not None and not self.is_given:
            wanted["system"] = system
        columns = {role: self.table.ids(role) for role in wanted}
        are_wanted = [ids.codes == ids.find([wanted[role]]) for role, ids in columns.items()]
        items = self.table.ids("item", np.flatnonzero(np.logical_and.reduce(are_wanted)))
        texts = items.texts()
        return (texts[code].encode() for code in np.unique(items.codes).tolist())


@dataclass(frozen=True, slots=True)
class TableFileRun:
    """Rows of one system or of many in files, which are held in memory only if they must be."""

    unopened: UnopenedTable
    name: str
    is_given: bool
    """As in TableRun."""

    def systems(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[SystemPositions]:
        """Read all rows, in batches if the compiled reader knows them."""
        whole = self.unopened
        if (batches := batches_of_files(whole.files, whole.source, whole.given)) is None:
            return self._table.systems(judgments, conventions, units, needs_judged=needs_judged)
        columns, rows = batches
        rest: ReadWith = {"needs_judged": needs_judged, "is_given": self.is_given}
        systems = project_batches(rows, columns, self.name, judgments, conventions, units, **rest)
        if systems is None:
            return project_rows(whole.table, self.name, judgments, conventions, units, **rest)
        advance_whole(whole.source)
        return systems

    def items(self, system: str, request: bytes) -> Iterable[bytes]:
        """Give the items in the rows of one system and request."""
        return self._table.items(system, request)

    @property
    def _table(self) -> TableRun:
        return TableRun(self.unopened.table, self.name, self.is_given)

"""Tables in the place of runs: frames in memory, and files of Parquet or CSV.

Belongs here: a table as a form of runs. Not here: what its rows mean (rows), the files themselves (tablefiles).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lexirecall.formats.arrow import TableReading, project_batches
from lexirecall.formats.parquetbatches import batches_of_files
from lexirecall.formats.roletable import RoleTable
from lexirecall.formats.rows import lists_of_rows, noted, project_rows, project_table
from lexirecall.formats.tablefiles import UnopenedTable, advance_whole
from lexirecall.formats.wholelists import RunLists
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap


@dataclass(frozen=True, slots=True)
class TableRun:
    """Rows of one run or of many."""

    table: RoleTable
    name: str
    """For a table that names no runs."""
    is_given: bool
    """Whether that name takes precedence over those in the table."""

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[RunPositions]:
        """Read all rows."""
        return project_table(
            self.table, self.name, judgments, conventions, units, needs_judged=needs_judged, is_given=self.is_given
        )

    def documents(self, run: str, query: bytes) -> Iterable[bytes]:
        """Give the documents in the rows of one run and query."""
        wanted = {"query": query.decode()}
        if self.table.columns.run is not None and not self.is_given:
            wanted["run"] = run
        columns = {role: self.table.ids(role) for role in wanted}
        are_wanted = [ids.codes == ids.find([wanted[role]]) for role, ids in columns.items()]
        documents = self.table.ids("document", np.flatnonzero(np.logical_and.reduce(are_wanted)))
        texts = documents.texts()
        return (texts[code].encode() for code in np.unique(documents.codes).tolist())

    def lists(self, judgments: Judgments, conventions: Conventions, *, needs_scores: bool = False) -> list[RunLists]:
        """Put all rows into the order of their rankings."""
        return lists_of_rows(
            self.table, self.name, judgments, conventions, is_given=self.is_given, needs_scores=needs_scores
        )


@dataclass(frozen=True, slots=True)
class TableFileRun:
    """Rows of one run or of many in files, which are held in memory only if they must be."""

    unopened: UnopenedTable
    name: str
    is_given: bool
    """As in TableRun."""

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[RunPositions]:
        """Read all rows, in batches if the compiled reader knows them."""
        whole = self.unopened
        if (batches := batches_of_files(whole.files, whole.source, whole.named_columns)) is None:
            return self._table.runs(judgments, conventions, units, needs_judged=needs_judged)
        columns, rows = batches
        rest: TableReading = {"needs_judged": needs_judged, "is_given": self.is_given}
        runs = project_batches(rows, columns, self.name, judgments, conventions, units, **rest)
        if runs is None:
            return project_rows(whole.table, self.name, judgments, conventions, units, **rest)
        advance_whole(whole.source)
        return noted(runs, whole.splits(columns))

    def documents(self, run: str, query: bytes) -> Iterable[bytes]:
        """Give the documents in the rows of one run and query."""
        return self._table.documents(run, query)

    def lists(self, judgments: Judgments, conventions: Conventions, *, needs_scores: bool = False) -> list[RunLists]:
        """Put all rows into the order of their rankings."""
        return self._table.lists(judgments, conventions, needs_scores=needs_scores)

    @property
    def _table(self) -> TableRun:
        return TableRun(self.unopened.table, self.name, self.is_given)

"""Mappings in the place of runs: dicts of Python, and JSON.

Belongs here: a mapping as a form of a run. Not here: what its keys mean (memory), the compiled reader of it (dicts).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lexirecall.errors import FormatError, shown
from lexirecall.formats.dicts import project_mapping
from lexirecall.formats.lists import order_rankings
from lexirecall.formats.memory import rankings_from_mapping
from lexirecall.formats.rankedlist import LEAVE_ONE, DuplicateDocument
from lexirecall.formats.wholelists import RunLists
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap


@dataclass(frozen=True, slots=True)
class MappingRun:
    """{query: {document: score}} or {query: [document, …]}."""

    content: Mapping[Any, Any]
    name: str
    label: str
    """What messages call it."""

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
    ) -> list[RunPositions]:
        """Read all rankings."""
        run, name, label = self.content, self.name, self.label
        try:
            return [project_mapping(run, name, label, judgments, conventions, units, needs_judged=needs_judged)]
        except DuplicateDocument as error:
            raise self._listed_twice(error) from None

    def documents(self, _run: str, query: bytes) -> Iterable[bytes]:
        """Give the documents of one ranking."""
        rankings = rankings_from_mapping(self.content, self.label)
        return next((ranking.documents for ranking in rankings if ranking.query == query), ())

    def lists(self, judgments: Judgments, conventions: Conventions, *, needs_scores: bool = False) -> list[RunLists]:
        """Put all rankings into order."""
        rankings = rankings_from_mapping(self.content, self.label)
        try:
            return [order_rankings(self.name, rankings, judgments, conventions, needs_scores=needs_scores)]
        except DuplicateDocument as error:
            raise self._listed_twice(error) from None

    def _listed_twice(self, error: DuplicateDocument) -> FormatError:
        problem = f"document {shown(error.document)} of query {shown(error.query)} is listed twice"
        return FormatError(self.label, None, problem, remedy="remove one of them", way_on=LEAVE_ONE)

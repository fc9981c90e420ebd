"""Changes: what a new run lost and gained, query by query, the worst first.

Belongs here: which relevant documents moved out of reach and into it. Not here: why a ranking is preferred
(verbs.explanation), what is decided (decisions).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lexirecall.verbs.explanation import QueryExplanation


class DocumentMove(NamedTuple):
    """A relevant document of a query, or a unit: where it was and where it is."""

    document: str
    was: int | None
    """Its position in the baseline; None if it is not there, or beyond the depth."""
    now: int | None
    """Its position in the new run, likewise."""


@dataclass(frozen=True, slots=True)
class Change:
    """A query on which the two rankings differ in what is relevant."""

    query: str
    num_relevant: int
    found_before: int
    """How many relevant documents the baseline finds."""
    found_now: int
    lost: tuple[DocumentMove, ...]
    """What only the baseline finds, the first position first."""
    gained: tuple[DocumentMove, ...]
    """What only the new run finds."""
    sign: int
    """-1 if LexiRecall prefers the baseline, 1 if it prefers the new run, 0 if another document took the place of a
    lost one."""
    sentence: str
    """What decides, in words."""

    @property
    def is_worse(self) -> bool:
        """Whether something is lost, or found later."""
        return bool(self.lost) or self.sign < 0


def changes_of(queries: Iterable[QueryExplanation]) -> tuple[Change, ...]:
    """Return what changed, from explanations of the baseline, first, and the new run.

    The query whose number of relevant documents found falls most comes first; of equal ones the one that loses most,
    then those on which LexiRecall prefers the baseline, and then as the explanations are ordered.
    """
    changed = [query for query in queries if query.sign != 0 or query.only_a or query.only_b]
    changed.sort(key=lambda query: (len(query.only_b) - len(query.only_a), -len(query.only_a), query.sign < 0))
    return tuple(_change(query) for query in changed)


def _change(query: QueryExplanation) -> Change:
    lost = tuple(DocumentMove(document, was, None) for document, was in query.only_a.items())
    gained = tuple(DocumentMove(document, None, now) for document, now in query.only_b.items())
    return Change(
        query=query.id, num_relevant=query.num_relevant, found_before=query.a.num_found, found_now=query.b.num_found,
        lost=lost, gained=gained, sign=-query.sign, sentence=query.sentence(),
    )  # fmt: skip

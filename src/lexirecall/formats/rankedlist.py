"""Ranked lists: a ranking as Python objects, before anything is known of its order.

Belongs here: what a run returned for one query, and a document that it returned twice. Not here: positions (lists),
where rankings come from (trec, memory).
"""

from dataclasses import dataclass

from lexirecall.errors import FallbackOption

LEAVE_ONE = FallbackOption("duplicates", {"first": "the first line", "best": "the highest score"})
"""What can be done about a document that is listed twice, besides removing it."""


@dataclass(slots=True)
class RankedList:
    """What a run returned for one query; without scores, the order given is the order meant."""

    query: bytes
    documents: list[bytes]
    scores: list[float] | None
    num_extra: int = 0
    """Lines with more fields than a line needs."""


class DuplicateDocument(Exception):  # noqa: N818 - the reader that catches it knows file and lines, and raises the error
    """A document is listed twice in one ranking."""

    def __init__(self, query: bytes, document: bytes) -> None:
        super().__init__(query, document)
        self.query, self.document = query, document

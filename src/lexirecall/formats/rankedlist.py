"""Ranked lists: a ranking as Python objects, before anything is known of its order.

Belongs here: what a system returned for one request, and an item that it returned twice. Not here: positions (lists),
where rankings come from (trec, memory).
"""

from dataclasses import dataclass

from lexirecall.errors import WayOn

LEAVE_ONE = WayOn("duplicates", {"first": "the first line", "best": "the highest score"})
"""What can be done about an item that is listed twice, besides removing it."""


@dataclass(slots=True)
class RankedList:
    """What a system returned for one request; without scores, the order given is the order meant."""

    request: bytes
    items: list[bytes]
    scores: list[float] | None
    num_extra: int = 0
    """Lines with more fields than a line needs."""


class DuplicateItem(Exception):  # noqa: N818 - the reader that catches it knows file and lines, and raises the error
    """An item is listed twice in one ranking."""

    def __init__(self, request: bytes, item: bytes) -> None:
        super().__init__(request, item)
        self.request, self.item = request, item

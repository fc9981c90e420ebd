"""Shortage: what is said of a corpus that is too small.

Belongs here: the one error about it, whoever found it. Not here: how large it must be (positions).
"""

from dataclasses import dataclass, replace

from lexirecall.errors import DataError, counted, listed


@dataclass(frozen=True, slots=True)
class Shortage:
    """A corpus that is too small for what was retrieved of it, and what is relevant but missing."""

    request: str
    system: str
    corpus_size: int
    num_retrieved: int
    num_missing: int
    needed: int
    """How large it must be for this request, and for all of them."""
    needed_by_all: int
    requests: tuple[str, ...]
    """Every request for which it is too small."""

    def __add__(self, other: "Shortage") -> "Shortage":
        """Tell of the requests of both, the first by name at length."""
        return replace(
            min(self, other, key=lambda shortage: shortage.request),
            needed_by_all=max(self.needed_by_all, other.needed_by_all),
            requests=tuple(sorted([*self.requests, *other.requests])),
        )

    def error(self) -> DataError:
        """Return what is said of it."""
        return DataError(
            f"the corpus size {self.corpus_size:,} is too small for request {self.request!r}: "
            f"{self.system} retrieved {counted(self.num_retrieved, 'item')}, "
            f"without {counted(self.num_missing, 'relevant item')}",
            remedy=f"it needs {self.needed:,} or more, one number for all {self.needed_by_all:,} or more; "
            f"too small for {listed(self.requests)}",
        )

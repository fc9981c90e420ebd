"""Tracks: the positions of the retrieved judged items of many rankings, one ranking after the other.

Belongs here: these arrays and their cuts, and one system's as a reader hands them over. Not here: all systems of a
collection (positions), what items serve (units).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import BoolArray, IntArray, offsets_of
from lexirecall.providers import members
from lexirecall.segments import Segments


@dataclass(frozen=True, slots=True)
class Tracks:
    """Retrieved items of K rankings: their positions, ascending within each ranking, and which items they are."""

    segments: Segments
    positions: IntArray
    items: IntArray
    """Index into the grades and ids of the judgments."""
    block_starts: IntArray | None = None
    """With ties="expected": how many items are above the item's block of tied items."""
    block_sizes: IntArray | None = None

    def filter(self, mask: BoolArray) -> "Tracks":
        """Keep only the items under the mask."""
        if mask.all():
            return self
        return Tracks(
            self.segments.filter(mask),
            self.positions[mask],
            self.items[mask],
            None if self.block_starts is None else self.block_starts[mask],
            None if self.block_sizes is None else self.block_sizes[mask],
        )

    def of_rankings(self, rankings: IntArray, numbers: IntArray) -> "Tracks":
        """Return some rankings, in the order given, with other numbers for their items.

        >>> tracks = Tracks(Segments(np.array([0, 1, 3])), np.array([4, 1, 9]), np.array([0, 2, 1]))
        >>> chosen = tracks.of_rankings(np.array([1]), np.array([-1, 0, 1]))
        >>> chosen.positions.tolist(), chosen.items.tolist()
        ([1, 9], [1, 0])
        """
        at = members(self.segments.offsets, rankings)
        return Tracks(
            Segments(offsets_of(self.segments.sizes[rankings])),
            self.positions[at],
            numbers[self.items[at]],
            None if self.block_starts is None else self.block_starts[at],
            None if self.block_sizes is None else self.block_sizes[at],
        )

    def between(self, start: int, stop: int, first: int = 0) -> "Tracks":
        """Return the rankings from start up to stop; items are counted from the `first`."""
        borders = self.segments.offsets[start : stop + 1]
        here = slice(borders[0], borders[-1])
        items = self.items[here]
        return Tracks(
            Segments(borders - borders[0]),
            self.positions[here],
            items - first if first else items,
            None if self.block_starts is None else self.block_starts[here],
            None if self.block_sizes is None else self.block_sizes[here],
        )

    def merged(self, other: "Tracks") -> "Tracks":
        """Put the items of both together, ranking by ranking, in the order of their positions; blocks are left out.

        >>> segments = Segments(np.array([0, 1, 2]))
        >>> one, other = (Tracks(segments, np.array(p), np.array(i)) for p, i in (([2, 1], [5, 6]), ([1, 3], [7, 8])))
        >>> one.merged(other).items.tolist()
        [7, 5, 6, 8]
        """
        owners = np.concatenate([self.segments.owners, other.segments.owners])
        positions = np.concatenate([self.positions, other.positions])
        order = np.lexsort((positions, owners))
        items = np.concatenate([self.items, other.items])[order]
        return Tracks(Segments(self.segments.offsets + other.segments.offsets), positions[order], items)

    @classmethod
    def concatenate(cls, parts: Sequence["Tracks"]) -> "Tracks":
        """Put the rankings of several tracks one after the other."""
        if len(parts) == 1:
            return parts[0]
        blocks = [part for part in parts if part.block_starts is not None]
        return cls(
            Segments(offsets_of(np.concatenate([part.segments.sizes for part in parts]))),
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.items for part in parts]),
            np.concatenate([part.block_starts for part in blocks if part.block_starts is not None]) if blocks else None,
            np.concatenate([part.block_sizes for part in blocks if part.block_sizes is not None]) if blocks else None,
        )


def reachable(tracks: Tracks, depth: int | IntArray) -> BoolArray:
    """Tell which items can be among the first `depth`; with ties="expected" one may be if its block begins above.

    The depth is one for all items, or one for each.
    """
    return tracks.positions <= depth if tracks.block_starts is None else tracks.block_starts < depth


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Ids of one request, for a system that retrieves no judged item of any request."""

    system: str
    request: str
    retrieved: tuple[str, ...]
    judged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemPositions:
    """One system's rankings of the judged requests, as a reader hands them over."""

    name: str
    answered: BoolArray
    num_retrieved: IntArray
    found: Tracks
    """Retrieved items with a positive grade."""
    others: Tracks | None
    """Retrieved items with a judgment that is not positive, where a measure asks for them."""
    num_unjudged: int = 0
    """Requests of the run for which there are no judgments."""
    num_duplicates: int = 0
    """Lines left out because they repeat an item."""
    num_extra: int = 0
    """Lines with fields after the tag, which are ignored."""
    mismatch: Mismatch | None = None
    """If no judged item was retrieved, at any depth: examples of ids."""
    corpus_size: IntArray | None = None
    """n of each request, [Q], if what the system was read from knows it."""
    remark: str = ""
    """On how it was read."""

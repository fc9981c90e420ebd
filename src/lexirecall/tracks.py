"""Tracks: the positions of the retrieved judged documents of many rankings, one ranking after the other.

Belongs here: these arrays and their cuts, and one run's as a reader hands them over. Not here: all runs of a
collection (positions), what documents serve (units).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import BoolArray, IntArray, offsets_of
from lexirecall.providers import members
from lexirecall.segments import Segments


@dataclass(frozen=True, slots=True)
class Tracks:
    """Retrieved documents of K rankings: their positions, ascending within each ranking, and which they are."""

    segments: Segments
    positions: IntArray
    documents: IntArray
    """Index into the grades and ids of the judgments."""
    block_starts: IntArray | None = None
    """With ties="expected": how many documents are above the document's block of tied documents."""
    block_sizes: IntArray | None = None

    def filter(self, mask: BoolArray) -> "Tracks":
        """Keep only the documents under the mask."""
        if mask.all():
            return self
        return Tracks(
            self.segments.filter(mask),
            self.positions[mask],
            self.documents[mask],
            None if self.block_starts is None else self.block_starts[mask],
            None if self.block_sizes is None else self.block_sizes[mask],
        )

    def of_rankings(self, rankings: IntArray, numbers: IntArray) -> "Tracks":
        """Return some rankings, in the order given, with other numbers for their documents.

        >>> tracks = Tracks(Segments(np.array([0, 1, 3])), np.array([4, 1, 9]), np.array([0, 2, 1]))
        >>> chosen = tracks.of_rankings(np.array([1]), np.array([-1, 0, 1]))
        >>> chosen.positions.tolist(), chosen.documents.tolist()
        ([1, 9], [1, 0])
        """
        at = members(self.segments.offsets, rankings)
        return Tracks(
            Segments(offsets_of(self.segments.sizes[rankings])),
            self.positions[at],
            numbers[self.documents[at]],
            None if self.block_starts is None else self.block_starts[at],
            None if self.block_sizes is None else self.block_sizes[at],
        )

    def between(self, start: int, stop: int, first: int = 0) -> "Tracks":
        """Return the rankings from start up to stop; documents are counted from the `first`."""
        borders = self.segments.offsets[start : stop + 1]
        here = slice(borders[0], borders[-1])
        documents = self.documents[here]
        return Tracks(
            Segments(borders - borders[0]),
            self.positions[here],
            documents - first if first else documents,
            None if self.block_starts is None else self.block_starts[here],
            None if self.block_sizes is None else self.block_sizes[here],
        )

    def merged(self, other: "Tracks") -> "Tracks":
        """Put the documents of both together, ranking by ranking, in the order of their positions; blocks are left out.

        >>> segments = Segments(np.array([0, 1, 2]))
        >>> one, other = (Tracks(segments, np.array(p), np.array(i)) for p, i in (([2, 1], [5, 6]), ([1, 3], [7, 8])))
        >>> one.merged(other).documents.tolist()
        [7, 5, 6, 8]
        """
        owners = np.concatenate([self.segments.owners, other.segments.owners])
        positions = np.concatenate([self.positions, other.positions])
        order = np.lexsort((positions, owners))
        documents = np.concatenate([self.documents, other.documents])[order]
        return Tracks(Segments(self.segments.offsets + other.segments.offsets), positions[order], documents)

    @classmethod
    def concatenate(cls, parts: Sequence["Tracks"]) -> "Tracks":
        """Put the rankings of several tracks one after the other."""
        if len(parts) == 1:
            return parts[0]
        blocks = [part for part in parts if part.block_starts is not None]
        return cls(
            Segments(offsets_of(np.concatenate([part.segments.sizes for part in parts]))),
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.documents for part in parts]),
            np.concatenate([part.block_starts for part in blocks if part.block_starts is not None]) if blocks else None,
            np.concatenate([part.block_sizes for part in blocks if part.block_sizes is not None]) if blocks else None,
        )


def reachable(tracks: Tracks, depth: int | IntArray) -> BoolArray:
    """Tell which documents can be among the first `depth`; with ties="expected" one may be if its block begins above.

    The depth is one for all documents, or one for each.
    """
    return tracks.positions <= depth if tracks.block_starts is None else tracks.block_starts < depth


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Ids of one query, for a run that retrieves no judged document of any query."""

    run: str
    query: str
    retrieved: tuple[str, ...]
    judged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunPositions:
    """One run's rankings of the judged queries, as a reader hands them over."""

    name: str
    answered: BoolArray
    num_retrieved: IntArray
    found: Tracks
    """Retrieved documents with a positive grade."""
    others: Tracks | None
    """Retrieved documents with a judgment that is not positive, where a measure asks for them."""
    num_unjudged: int = 0
    """Queries of the run for which there are no judgments."""
    num_duplicates: int = 0
    """Lines left out because they repeat a document."""
    num_extra: int = 0
    """Lines with fields after the tag, which are ignored."""
    mismatch: Mismatch | None = None
    """If no judged document was retrieved, at any depth: examples of ids."""
    corpus_size: IntArray | None = None
    """n of each query, [Q], if what the run was read from knows it."""
    remark: str = ""
    """On how it was read."""

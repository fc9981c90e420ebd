"""Rankings: from scores of candidates to the positions of the judged ones, as a run would have them.

Belongs here: the order of candidates, and positions of rankings that were never written. Not here: where scores come
from (baselines, featureweights).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexirecall.formats.assembly import assemble, tracks_of
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.learn.candidates import Candidates
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.tracks import RunPositions

DECIMALS = 9
"""Of fused scores. What differs by less is a tie, whatever the order in which runs are added up."""


def places_by(scores: FloatArray) -> IntArray:
    """Return the place of each candidate, counted from 1, by score; equal scores by id, as everywhere.

    >>> places_by(np.array([0.5, 2.0, 0.5])).tolist()
    [2, 1, 3]
    """
    places = np.empty(len(scores), np.int64)
    places[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return places


@dataclass(frozen=True, slots=True)
class RankingField:
    """The candidates of all judged queries, in the order of the judgments, and how their rankings are evaluated."""

    candidates: tuple[Candidates, ...]
    judgments: Judgments
    conventions: Conventions
    """Without a depth: that is of what was read."""
    corpus_size: IntArray | None
    needs_judged: bool
    """Whether a measure asks for judged documents that are not relevant."""

    def run(self, name: str, places: Sequence[IntArray | None]) -> RunPositions:
        """Return a run, given the place of each candidate for each query: 0 if it is not retrieved, None if nothing."""
        rows, lengths = [np.zeros((0, 5), np.int64)], np.full(len(places), -1, np.int64)
        for candidates, at in zip(self.candidates, places, strict=True):
            if at is None:
                continue
            lengths[candidates.query] = int(at.max(initial=0))
            found = np.flatnonzero((candidates.judged >= 0) & (at > 0))
            found = found[np.argsort(at[found])]
            rows.append(np.zeros((len(found), 5), np.int64))
            rows[-1][:, 0], rows[-1][:, 1], rows[-1][:, 2] = candidates.query, at[found], candidates.judged[found]
        tracks = tracks_of(np.concatenate(rows), len(self.candidates))
        return assemble(
            name, self.judgments, replace(self.conventions, depth=None), tracks, lengths,
            needs_judged=self.needs_judged, num_unjudged=0,
        )  # fmt: skip

    def scored(self, name: str, scores: Sequence[FloatArray | None]) -> RunPositions:
        """Return a run that ranks all candidates of a query by their scores; None if it does not answer."""
        return self.run(name, [None if values is None or not len(values) else places_by(values) for values in scores])

    def single(self, name: str, run: int) -> RunPositions:
        """Return one of the runs as it is."""
        return self.run(
            name, [candidates.places[run] if candidates.answered[run] else None for candidates in self.candidates]
        )

    def positions(self, runs: Sequence[RunPositions]) -> Positions:
        """Put runs together."""
        return Positions.stack(self.judgments, runs, self.conventions, self.corpus_size)

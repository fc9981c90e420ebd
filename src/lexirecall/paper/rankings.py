"""Random rankings of a whole corpus, as many and for as many queries as a simulation needs.

Belongs here: drawing the positions of the relevant documents. Not here: what is computed from them (the exhibits).
"""

import numpy as np

from lexirecall.judgments import IntArray, Judgments, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.tracks import Tracks


def random_placements(rng: np.random.Generator, num_rankings: int, num_relevant: int, corpus_size: int) -> IntArray:
    """Draw the positions of m relevant documents in random rankings of n, ascending, [K, m], all equally likely.

    If m² is not far above n, positions are drawn one by one, and drawn again in rankings where two are the same.
    Otherwise whole rankings are shuffled.

    >>> random_placements(np.random.default_rng(1), 2, 3, 1000).tolist()
    [[474, 512, 756], [35, 145, 951]]
    """
    if num_relevant**2 > 4 * corpus_size:
        documents = np.tile(np.arange(1, corpus_size + 1), (num_rankings, 1))
        return np.sort(rng.permuted(documents, axis=1)[:, :num_relevant], axis=1)

    def drawn(count: int) -> IntArray:
        return np.sort(rng.integers(1, corpus_size, (count, num_relevant), endpoint=True), axis=1)

    placements = drawn(num_rankings)
    while len(again := np.flatnonzero((np.diff(placements) == 0).any(axis=1))):
        placements[again] = drawn(len(again))
    return placements


def random_positions(rng: np.random.Generator, num_runs: int, num_relevant: IntArray, corpus_size: int) -> Positions:
    """Draw complete rankings by S runs, for queries with the given numbers of relevant documents, [Q].

    >>> positions = random_positions(np.random.default_rng(1), 2, np.array([3, 1]), 1000)
    >>> positions.at_level(1).vector(1, 0).tolist(), positions.num_retrieved.tolist()
    ([35.0, 145.0, 951.0], [[1000, 1000], [1000, 1000]])
    """
    offsets = offsets_of(np.tile(num_relevant, num_runs))
    starts = offsets[:-1].reshape(num_runs, -1)
    places = np.empty(offsets[-1], np.int64)
    for m in np.unique(num_relevant)[::-1].tolist():
        first = starts[:, num_relevant == m].ravel()
        places[first[:, None] + np.arange(m)] = random_placements(rng, len(first), m, corpus_size)
    shape = num_runs, len(num_relevant)
    return Positions(
        runs=tuple(map(str, range(num_runs))),
        judgments=_judgments(num_relevant),
        conventions=Conventions(),
        answered=np.ones(shape, bool),
        num_retrieved=np.full(shape, corpus_size),
        found=Tracks(Segments(offsets), places, np.tile(np.arange(num_relevant.sum()), num_runs)),
        others=None,
        corpus_size=np.full(len(num_relevant), corpus_size),
    )


def _judgments(num_relevant: IntArray) -> Judgments:
    """Return queries with the given numbers of relevant documents; their names do not matter."""
    relevant = {m: {str(document).encode(): 1.0 for document in range(m)} for m in set(num_relevant.tolist())}
    return Judgments.from_grades({str(q).encode(): relevant[m] for q, m in enumerate(num_relevant.tolist())})

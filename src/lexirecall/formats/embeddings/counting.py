"""Counting: how many documents of a corpus come before each judged one, block by block.

Belongs here: the first pass, which finds the scores of what is sought, the second, which counts, and counts that add
up. Not here: products (backends), adding counts over processes (processes).

Two documents with the same vector have the same score. Products do not see to that: in some libraries a sum depends, in
its last bits, on the place of a vector in its block. So the score of a sought document holds for every copy of its
vector.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, shown
from lexirecall.formats.embeddings.backends import Backend, Equal, KnownScores, NotFinite
from lexirecall.formats.embeddings.copies import digests_of, samples_of
from lexirecall.formats.embeddings.ids import IdMatches, RepeatWatch, WantedIds
from lexirecall.formats.embeddings.shards import Corpus, Shard
from lexirecall.formats.embeddings.soughtpairs import SoughtPairs
from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.text import to_text

_WAITING = 2**14  # vectors of sought documents that are kept before their scores are computed


@dataclass(frozen=True, slots=True)
class CorpusPlaces:
    """Where the sought documents are in the corpus, and their scores."""

    indices: IntArray
    """Of each pair's document in the corpus; -1 if it is not there."""
    thresholds: FloatArray
    """The score of each pair."""
    samples: npt.NDArray[np.uint64]
    """Of each pair's vector: a number that is the same for copies; 0 if the backend scores copies alike anyway."""
    digests: npt.NDArray[np.uint8]
    """The same, for certain, [pairs, 16]."""

    @classmethod
    def nothing(cls, number: int) -> "CorpusPlaces":
        """Return what is known before the first block."""
        digests = np.zeros((number, 16), np.uint8)
        return cls(np.full(number, -1), np.zeros(number), np.zeros(number, np.uint64), digests)

    def levelled(self, rows: IntArray) -> "CorpusPlaces":
        """Give sought documents of a query that have the same vector one score, that of the first."""
        at, first = np.arange(len(rows)), dict[tuple[int, bytes], int]()
        # zeros are no digest: the document is not in the corpus, or its copies score alike anyway
        for pair in np.flatnonzero(self.digests.any(axis=1)).tolist():
            at[pair] = first.setdefault((int(rows[pair]), bytes(self.digests[pair])), pair)
        return replace(self, thresholds=self.thresholds[at])

    def pairs_by_digest(self) -> dict[bytes, list[int]]:
        """Return the pairs of each sought vector that is in the corpus."""
        pairs: dict[bytes, list[int]] = {}
        for pair in np.flatnonzero(self.digests.any(axis=1)).tolist():
            pairs.setdefault(bytes(self.digests[pair]), []).append(pair)
        return pairs


# The first pass: scores of what is sought


def locate(corpus: Corpus, sought: SoughtPairs, backend: Backend) -> tuple[CorpusPlaces, int]:
    """Find the sought documents in the corpus and compute their scores; return also the size of the corpus."""
    wanted, twice, waiting, size = WantedIds(sought.ids), RepeatWatch(), list[tuple[Shard, IdMatches]](), 0
    located = CorpusPlaces.nothing(len(sought.rows))
    for shard in corpus.shards():
        found = shard.ids.search(wanted)
        twice.watch(found.hashes)
        if len(found.places):
            waiting.append((shard.pick(found.places.tolist()), found))
        size = shard.start + len(shard.ids)
        if sum(len(matches.places) for _, matches in waiting) >= _WAITING:
            _score(waiting, located, sought.rows, backend)
            waiting = []
    if waiting:
        _score(waiting, located, sought.rows, backend)
    twice.check(lambda: (shard.ids for shard in corpus.shards()), "the corpus")
    if len(bad := np.flatnonzero(~np.isfinite(located.thresholds))):
        raise _not_finite(sought, int(sought.rows[bad[0]]), sought.ids[bad[0]])
    return located, size


def _score(picked: Sequence[tuple[Shard, IdMatches]], located: CorpusPlaces, rows: IntArray, backend: Backend) -> None:
    """Compute the scores of sought documents, and what their copies are known by.

    The shards have these documents only. What was found says where they were in the whole ones, and which pairs want
    them.
    """
    shards, found = zip(*picked, strict=True)
    whole, sizes = Shard.joined(shards), [len(matches.places) for matches in found]
    places = np.concatenate([matches.places for matches in found])  # blocks begin where a shard does
    indices = np.repeat([shard.start for shard in shards], sizes) + places
    at = np.concatenate([matches.pairs for matches in found])
    starts = offsets_of(np.array(sizes))[:-1].tolist()
    documents = np.concatenate([start + matches.documents for start, matches in zip(starts, found, strict=True)])
    located.thresholds[at] = backend.own(whole, places, rows[at], documents)
    located.indices[at] = indices[documents]
    if not backend.scores_copies_alike:
        located.samples[at] = samples_of(whole)[documents]
        located.digests[at] = digests_of(whole, range(len(indices)))[documents]


# The second pass: how many come before


class Counter:
    """Counts, over blocks of a corpus, what comes before the judged documents; also what is excluded, as yet."""

    def __init__(
        self, sought: SoughtPairs, located: CorpusPlaces, backend: Backend, ties: str, offset: int = 0
    ) -> None:
        """Take how many documents of the corpus come before those of this process as the offset."""
        self.sought, self.located, self.backend, self.ties, self.offset = sought, located, backend, ties, offset
        self._pairs_by_digest = located.pairs_by_digest()
        self._pairs = np.flatnonzero((located.indices >= 0) & sought.is_judged)
        self._rows, self._thresholds = sought.rows[self._pairs], located.thresholds[self._pairs]

    def count(self, block: Shard) -> IntArray:
        """Count over one block, [3, pairs]; counts of disjoint parts of a corpus add up.

        The rows are documents with a higher score, those with the same, itself among them, and of these those that come
        before it by the rule of ties.
        """
        loaded, size, known = self.backend.load(block.vectors, block.scales), len(block.ids), self._known(block)
        counts = np.zeros((3, len(self.sought.rows)), np.int64)
        try:
            above, tied = self.backend.count(loaded, size, known, self._rows, self._thresholds)
        except NotFinite as error:
            row, column = error.args
            raise _not_finite(self.sought, row, block.ids.pick([column])[0]) from None
        counts[:2, self._pairs] = above, tied
        indices = self.located.indices[self._pairs] - self.offset - block.start
        others = np.flatnonzero(tied > ((indices >= 0) & (indices < size)))  # which tie with more than themselves
        if len(others):
            equal = self.backend.equal(loaded, size, known, self._rows[others], self._thresholds[others])
            counts[2, self._pairs[others]] = self._before(block, others, equal)
        return counts

    def _known(self, block: Shard) -> KnownScores:
        """Return the scores of the sought documents of a block, and of copies of sought documents."""
        if self.backend.scores_copies_alike:
            return KnownScores(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        candidates = np.flatnonzero(np.isin(samples_of(block), self.located.samples)).tolist()
        pairs, columns = list[int](), list[int]()
        for column, digest in zip(candidates, map(bytes, digests_of(block, candidates)), strict=True):
            copied_pairs = self._pairs_by_digest.get(digest, [])
            pairs += copied_pairs
            columns += [column] * len(copied_pairs)
        at = np.array(pairs, np.int64)
        return KnownScores(self.sought.rows[at], np.array(columns, np.int64), self.located.thresholds[at])

    def _before(self, block: Shard, some: IntArray, equal: Iterator[Equal]) -> IntArray:
        """Count the documents of a block that have the same score as some pairs and come before them."""
        pairs, before = self._pairs[some], np.zeros(len(some), np.int64)
        indices = self.located.indices[pairs] - self.offset - block.start
        is_larger = block.ids.larger_than([self.sought.ids[pair] for pair in pairs.tolist()])
        for at, columns in equal:
            is_first = columns < indices[at] if self.ties == "input" else is_larger(at, columns)
            before += np.bincount(at[is_first], minlength=len(before))
        return before


def _not_finite(sought: SoughtPairs, row: int, document: bytes) -> DataError:
    query = sought.judgments.queries[sought.queries[row]]
    return DataError(
        f"the score of query {shown(query)} and document {shown(to_text(document))} is not a finite number",
        remedy="are there NaN, infinite or very large values in their vectors?",
    )

"""Counting: how many items of a corpus come before each judged one, block by block.

Belongs here: the first pass, which finds the scores of what is sought, the second, which counts, and counts that add
up. Not here: products (backends), keeping counts in a file (checkpoint), adding them over processes (processes).

Two items with the same vector have the same score. Products do not see to that: in some libraries a sum depends, in its
last bits, on the place of a vector in its block. So the score of a sought item holds for every copy of its vector.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, shown
from lexirecall.formats.embeddings.backends import Backend, Equal, Known, NotANumber
from lexirecall.formats.embeddings.copies import digests_of, samples_of
from lexirecall.formats.embeddings.ids import Twice, Wanted
from lexirecall.formats.embeddings.shards import Corpus, Shard
from lexirecall.formats.embeddings.sought import Sought
from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.text import to_text

_WAITING = 2**14  # vectors of sought items that are kept before their scores are computed


@dataclass(frozen=True, slots=True)
class Located:
    """Where the sought items are in the corpus, and their scores."""

    indices: IntArray
    """Of each pair's item in the corpus; -1 if it is not there."""
    thresholds: FloatArray
    """The score of each pair."""
    samples: npt.NDArray[np.uint64]
    """Of each pair's vector: a number that is the same for copies; 0 if the backend scores copies alike anyway."""
    digests: npt.NDArray[np.uint8]
    """The same, for certain, [pairs, 16]."""

    @classmethod
    def nothing(cls, number: int) -> "Located":
        """Return what is known before the first block."""
        digests = np.zeros((number, 16), np.uint8)
        return cls(np.full(number, -1), np.zeros(number), np.zeros(number, np.uint64), digests)

    def levelled(self, rows: IntArray) -> "Located":
        """Give sought items of a query that have the same vector one score, that of the first."""
        at, first = np.arange(len(rows)), dict[tuple[int, bytes], int]()
        for pair in np.flatnonzero(self.digests.any(axis=1)).tolist():
            at[pair] = first.setdefault((int(rows[pair]), bytes(self.digests[pair])), pair)
        return replace(self, thresholds=self.thresholds[at])

    def pairs_by_digest(self) -> dict[bytes, list[int]]:
        """Return the pairs of each sought vector that is in the corpus."""
        pairs: dict[bytes, list[int]] = {}
        for pair in np.flatnonzero(self.digests.any(axis=1)).tolist():
            pairs.setdefault(bytes(self.digests[pair]), []).append(pair)
        return pairs


@dataclass(frozen=True, slots=True)
class CountState:
    """Counts over a part of the corpus; those of disjoint parts add up.

    >>> state = CountState.nothing(1) + CountState(9, np.array([3]), np.array([1]), np.array([0]))
    >>> (state + state).num_items, (state + state).above.tolist()
    (18, [6])
    """

    num_items: int
    above: IntArray
    """For each pair: items with a higher score."""
    tied: IntArray
    """Items with the same score, itself among them."""
    before: IntArray
    """Of these, those that come before it by the rule of ties."""

    @classmethod
    def nothing(cls, number: int) -> "CountState":
        """Return the counts over no items."""
        return cls(0, *(np.zeros(number, np.int64) for _ in range(3)))

    def __add__(self, other: "CountState") -> "CountState":
        return CountState(
            self.num_items + other.num_items,
            self.above + other.above,
            self.tied + other.tied,
            self.before + other.before,
        )


# The first pass: scores of what is sought


def locate(corpus: Corpus, sought: Sought, backend: Backend) -> tuple[Located, int]:
    """Find the sought items in the corpus and compute their scores; return also the size of the corpus."""
    wanted, twice, waiting, size = Wanted.of(sought.ids), Twice(), list[_Picked](), 0
    located = Located.nothing(len(sought.rows))
    for shard in corpus.shards():
        found = shard.ids.search(wanted)
        twice.watch(found.hashes)
        if len(found.places):
            waiting.append(_Picked(shard.pick(found.places.tolist()), found.places, *wanted.pairs_of(found.numbers)))
        size = shard.start + len(shard.ids)
        if sum(len(each.places) for each in waiting) >= _WAITING:
            _score(waiting, located, sought.rows, backend)
            waiting = []
    if waiting:
        _score(waiting, located, sought.rows, backend)
    twice.check(lambda: (shard.ids for shard in corpus.shards()), "the corpus")
    return located, size


@dataclass(frozen=True, slots=True)
class _Picked:
    """The sought items of a shard."""

    shard: Shard
    """Of these items only."""
    places: IntArray
    """Where they were in the whole one."""
    pairs: IntArray
    items: IntArray
    """Of each pair, which of these items it has."""


def _score(picked: Sequence[_Picked], located: Located, rows: IntArray, backend: Backend) -> None:
    """Compute the scores of sought items, and what their copies are known by."""
    whole, sizes = Shard.joined([each.shard for each in picked]), [len(each.places) for each in picked]
    places = np.concatenate([each.places for each in picked])  # blocks begin where a shard does
    indices = np.repeat([each.shard.start for each in picked], sizes) + places
    at = np.concatenate([each.pairs for each in picked])
    starts = offsets_of(np.array(sizes))[:-1].tolist()
    items = np.concatenate([start + each.items for start, each in zip(starts, picked, strict=True)])
    located.thresholds[at] = backend.own(whole, places, rows[at], items)
    located.indices[at] = indices[items]
    if not backend.scores_copies_alike:
        located.samples[at] = samples_of(whole)[items]
        located.digests[at] = digests_of(whole, range(len(indices)))[items]


# The second pass: how many come before


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts, over blocks of a corpus, what comes before the judged items; also what is excluded, as yet."""

    sought: Sought
    located: Located
    backend: Backend
    ties: str
    offset: int = 0
    """How many items of the corpus come before those of this process."""
    _pairs_by_digest: dict[bytes, list[int]] = field(init=False)
    _pairs: IntArray = field(init=False)
    """Those that are judged and in the corpus."""
    _rows: IntArray = field(init=False)
    _thresholds: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        pairs = np.flatnonzero((self.located.indices >= 0) & self.sought.is_judged)
        object.__setattr__(self, "_pairs_by_digest", self.located.pairs_by_digest())
        object.__setattr__(self, "_pairs", pairs)
        object.__setattr__(self, "_rows", self.sought.rows[pairs])
        object.__setattr__(self, "_thresholds", self.located.thresholds[pairs])

    def count(self, block: Shard) -> CountState:
        """Count over one block."""
        loaded, size, known = self.backend.load(block.vectors, block.scales), len(block.ids), self._known(block)
        state = CountState.nothing(len(self.sought.rows))
        try:
            above, tied = self.backend.count(loaded, size, known, self._rows, self._thresholds)
        except NotANumber as error:
            raise self._not_a_number(block, *error.args) from None
        state.above[self._pairs], state.tied[self._pairs] = above, tied
        indices = self.located.indices[self._pairs] - self.offset - block.start
        others = np.flatnonzero(tied > ((indices >= 0) & (indices < size)))  # which tie with more than themselves
        if len(others) and self.ties != "expected":
            equal = self.backend.equal(loaded, size, known, self._rows[others], self._thresholds[others])
            state.before[self._pairs[others]] = self._before(block, others, equal)
        return replace(state, num_items=size)

    def _known(self, block: Shard) -> Known:
        """Return the scores of the sought items of a block, and of copies of sought items."""
        if self.backend.scores_copies_alike:
            return Known(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        candidates = np.flatnonzero(np.isin(samples_of(block), self.located.samples)).tolist()
        pairs, columns = list[int](), list[int]()
        for column, digest in zip(candidates, map(bytes, digests_of(block, candidates)), strict=True):
            own = self._pairs_by_digest.get(digest, [])
            pairs += own
            columns += [column] * len(own)
        at = np.array(pairs, np.int64)
        return Known(self.sought.rows[at], np.array(columns, np.int64), self.located.thresholds[at])

    def _before(self, block: Shard, some: IntArray, equal: Iterator[Equal]) -> IntArray:
        """Count the items of a block that have the same score as some pairs and come before them."""
        pairs, before = self._pairs[some], np.zeros(len(some), np.int64)
        indices = self.located.indices[pairs] - self.offset - block.start
        ids = [self.sought.ids[pair] for pair in pairs.tolist()]
        for at, columns in equal:
            is_first = columns < indices[at] if self.ties == "input" else block.ids.are_larger(ids, at, columns)
            before += np.bincount(at[is_first], minlength=len(before))
        return before

    def _not_a_number(self, block: Shard, row: int, column: int) -> DataError:
        query = self.sought.judgments.requests[self.sought.requests[row]]
        (item,) = block.ids.pick([column])
        return DataError(
            f"the score of query {shown(query)} and document {shown(to_text(item))} is not a number",
            remedy="are there NaN or infinite values in their vectors?",
        )

"""Counting: how many items of a corpus come before each judged one, block by block.

Belongs here: what is sought, the first pass that finds its scores, the second that counts, and counts that add up. Not
here: products (backends), keeping counts in a file (checkpoint), adding them over processes (processes).

Two items with the same vector have the same score. Products do not see to that: in some libraries a sum depends, in its
last bits, on the place of a vector in its block. So the score of a judged item holds for every copy of its vector.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, shown
from lexirecall.formats.counted import id_ranks
from lexirecall.formats.embeddings.backends import Backend, Known, NotANumber
from lexirecall.formats.embeddings.copies import digests_of, samples_of
from lexirecall.formats.embeddings.shards import Corpus, Shard, Twice
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.text import to_text

_FULL = 4  # blocks of judged items that are kept before their scores are computed


@dataclass(frozen=True, slots=True)
class Sought:
    """The judged items of the requests that have a vector; a pair is a request and one of its judged items."""

    judgments: Judgments
    requests: IntArray
    """Of each row of the query vectors, its request; ascending."""
    rows: IntArray
    """Of each pair, ascending."""
    items: IntArray
    """Of each pair, index into the grades and ids of the judgments."""

    @classmethod
    def of(cls, judgments: Judgments, requests: IntArray) -> "Sought":
        """Return what is sought for some requests."""
        owners = np.repeat(np.arange(len(judgments.requests)), np.diff(judgments.offsets))
        items = np.flatnonzero(np.isin(owners, requests))
        return cls(judgments, requests, np.searchsorted(requests, owners[items]), items)

    def pairs_by_id(self) -> dict[bytes, list[int]]:
        """Return the pairs of each judged id."""
        pairs: dict[bytes, list[int]] = {}
        ids = list(self.judgments.items)
        for pair, item in enumerate(self.items.tolist()):
            pairs.setdefault(ids[item], []).append(pair)
        return pairs


@dataclass(frozen=True, slots=True)
class Located:
    """Where the judged items are in the corpus, and their scores."""

    indices: IntArray
    """Of each pair's item in the corpus; -1 if it is not there."""
    thresholds: FloatArray
    """The score of each pair."""
    samples: npt.NDArray[np.uint64]
    """Of each pair's vector: a number that is the same for copies."""
    digests: npt.NDArray[np.uint8]
    """The same, for certain, [pairs, 16]."""

    @classmethod
    def nothing(cls, number: int) -> "Located":
        """Return what is known before the first block."""
        digests = np.zeros((number, 16), np.uint8)
        return cls(np.full(number, -1), np.zeros(number), np.zeros(number, np.uint64), digests)

    def levelled(self, rows: IntArray) -> "Located":
        """Give judged items of a query that have the same vector one score, that of the first."""
        first: dict[tuple[int, bytes], int] = {}
        keys = zip(rows.tolist(), map(bytes, self.digests), strict=True)
        at = np.array([first.setdefault(key, pair) for pair, key in enumerate(keys)], np.int64)
        return replace(self, thresholds=self.thresholds[at])

    def pairs_by_digest(self) -> dict[bytes, list[int]]:
        """Return the pairs of each judged vector that is in the corpus."""
        pairs: dict[bytes, list[int]] = {}
        for pair in np.flatnonzero(self.indices >= 0).tolist():
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


# The first pass: scores of the judged items


def locate(corpus: Corpus, sought: Sought, backend: Backend, block: int) -> tuple[Located, int]:
    """Find the judged items in the corpus and compute their scores; return also the size of the corpus."""
    pairs_by_id, twice, waiting, size = sought.pairs_by_id(), Twice(), list[_Picked](), 0
    located = Located.nothing(len(sought.rows))
    for shard in corpus.shards():
        twice.watch(shard.ids)
        at = [index for index, each in enumerate(shard.ids) if each in pairs_by_id]
        if at:
            waiting.append(_Picked(shard.pick(at), np.array(at), [pairs_by_id[shard.ids[index]] for index in at]))
        size = shard.start + len(shard.ids)
        if sum(len(each.at) for each in waiting) >= _FULL * block:
            _score(waiting, located, sought.rows, backend, block)
            waiting = []
    if waiting:
        _score(waiting, located, sought.rows, backend, block)
    twice.check(lambda: (shard.ids for shard in corpus.shards()), "the corpus")
    return located, size


@dataclass(frozen=True, slots=True)
class _Picked:
    """The judged items of a shard."""

    shard: Shard
    """Of these items only."""
    at: IntArray
    """Where they were in the whole one."""
    pairs: list[list[int]]


def _score(picked: Sequence[_Picked], located: Located, rows: IntArray, backend: Backend, block: int) -> None:
    """Compute the scores of judged items: each at the place that it has in its own block, many blocks in one product.

    That is the same sum as in the product of its own block, because that depends on shape and place only.
    """
    whole = Shard.joined([each.shard for each in picked])
    pairs = [of_item for each in picked for of_item in each.pairs]
    columns = np.concatenate([each.at for each in picked]) % block
    starts = np.repeat([each.shard.start for each in picked], [len(each.at) for each in picked])
    indices = starts + np.concatenate([each.at for each in picked])
    samples, digests = samples_of(whole), digests_of(whole, range(len(indices)))
    for layer in _layers(columns):
        loaded = backend.load(*whole.spread(layer, columns[layer], block))
        chosen = np.array([(pair, item) for item in layer.tolist() for pair in pairs[item]], np.int64)
        at, item = chosen[np.argsort(chosen[:, 0])].T
        located.thresholds[at] = backend.own(loaded, rows[at], columns[item])
        located.indices[at], located.samples[at] = indices[item], samples[item]
        located.digests[at] = digests[item]


def _layers(columns: IntArray) -> Iterator[IntArray]:
    """Give items in groups of which each has every column at most once."""
    order = np.argsort(columns, kind="stable")
    ordinals = np.empty(len(columns), np.int64)
    ordinals[order] = np.arange(len(columns)) - np.searchsorted(columns[order], columns[order])
    for ordinal in range(int(ordinals.max()) + 1):
        yield np.flatnonzero(ordinals == ordinal)


# The second pass: how many come before


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts, over blocks of a corpus, what comes before the judged items."""

    sought: Sought
    located: Located
    backend: Backend
    ties: str
    offset: int = 0
    """How many items of the corpus come before those of this process."""
    _pairs_by_digest: dict[bytes, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pairs_by_digest", self.located.pairs_by_digest())

    def count(self, block: Shard) -> CountState:
        """Count over one block."""
        present = np.flatnonzero(self.located.indices >= 0)
        rows, thresholds = self.sought.rows[present], self.located.thresholds[present]
        loaded, size, known = self.backend.load(block.vectors, block.scales), len(block.ids), self._known(block)
        state = CountState.nothing(len(self.sought.rows))
        try:
            state.above[present], state.tied[present] = self.backend.count(loaded, size, known, rows, thresholds)
        except NotANumber as error:
            raise self._not_a_number(block, *error.args) from None
        start = self.offset + block.start
        is_own = (self.located.indices >= start) & (self.located.indices < start + size)
        pairs = np.flatnonzero(state.tied > is_own)
        if len(pairs) and self.ties != "expected":
            equal = self.backend.equal(loaded, size, known, self.sought.rows[pairs], self.located.thresholds[pairs])
            state.before[pairs] = self._before(block, pairs, equal)
        return replace(state, num_items=size)

    def _known(self, block: Shard) -> Known:
        """Return the scores of the judged items of a block, and of copies of judged items."""
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

    def _before(self, block: Shard, pairs: IntArray, equal: Iterator[IntArray]) -> IntArray:
        """Count the items of a block that come before pairs of the same score."""
        if self.ties == "input":
            own = self.located.indices[pairs] - self.offset - block.start
            return np.array([np.count_nonzero(at < index) for index, at in zip(own, equal, strict=True)], np.int64)
        ranks, ascending = id_ranks(block.ids, len(block.ids)), sorted(block.ids)
        ids = self.sought.judgments.items
        smaller = [bisect_right(ascending, ids[item]) for item in self.sought.items[pairs].tolist()]
        return np.array([np.count_nonzero(ranks[at] >= n) for n, at in zip(smaller, equal, strict=True)], np.int64)

    def _not_a_number(self, block: Shard, row: int, column: int) -> DataError:
        query = self.sought.judgments.requests[self.sought.requests[row]]
        return DataError(
            f"the score of query {shown(query)} and document {shown(to_text(block.ids[column]))} is not a number",
            remedy="are there NaN or infinite values in their vectors?",
        )

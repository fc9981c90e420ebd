"""Shards: the vectors of a corpus, some at a time, with the ids of their items.

Belongs here: the forms in which a corpus and its ids are given, and going through them as often as it takes. Not here:
what is computed from vectors (backends), what is counted (counting).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.judgments import IntArray
from lexirecall.text import id_of

BLOCKS = 64  # of an array that make a shard
_IDS_REMEDY = 'ids are text or whole numbers, such as "FR94-1" or 17'


@dataclass(frozen=True, slots=True)
class Shard:
    """Some items that follow each other in the corpus."""

    start: int
    """How many items come before, in the shards of this process."""
    ids: list[bytes]
    vectors: Any
    """[n, d], of numpy or torch."""
    scales: Any
    """Of int8: what each vector is multiplied by, [n], or one number; None for other types."""

    def blocks(self, size: int) -> Iterator["Shard"]:
        """Give parts of at most this many items."""
        for first in range(0, len(self.ids), size):
            yield self[first : first + size]

    def __getitem__(self, at: slice) -> "Shard":
        return Shard(self.start + at.start, self.ids[at], self.vectors[at], _chosen(self.scales, at))

    def pick(self, at: list[int]) -> "Shard":
        """Return some items; it starts where the whole one does."""
        return Shard(self.start, [self.ids[index] for index in at], self.vectors[at], _chosen(self.scales, at))

    @classmethod
    def joined(cls, shards: "Sequence[Shard]") -> "Shard":
        """Put shards together; it starts where the first one does."""
        ids = [each for shard in shards for each in shard.ids]
        vectors = [shard.vectors for shard in shards]
        if is_tensor(vectors[0]):
            import torch

            joined = torch.cat(vectors)
        else:
            joined = np.concatenate(vectors)
        scales = shards[0].scales
        if np.ndim(scales):
            scales = np.concatenate([shard.scales for shard in shards])
        return cls(shards[0].start, ids, joined, scales)

    def spread(self, items: IntArray, columns: IntArray, size: int) -> tuple[Any, Any]:
        """Return vectors of zeros with those of some items at their columns, and the scales."""
        shape, scales = (size, self.vectors.shape[1]), self.scales
        spread = self.vectors.new_zeros(shape) if is_tensor(self.vectors) else np.zeros(shape, self.vectors.dtype)
        spread[columns] = self.vectors[items]
        if np.ndim(scales):
            scales = np.ones(size)
            scales[columns] = self.scales[items]
        return spread, scales


def _chosen(scales: Any, at: Any) -> Any:
    return scales if np.ndim(scales) == 0 else scales[at]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus that can be gone through more than once."""

    parts: Callable[[], Iterator[tuple[Any, Any]]]
    """Gives ids, None for indices, and vectors."""
    width: int
    scales: Any = None

    def shards(self) -> Iterator[Shard]:
        """Go through the corpus from the start."""
        start = 0
        for number, (ids, vectors) in enumerate(self.parts()):
            what = f"block {number} of the corpus"
            check_vectors(vectors, what, self.width)
            texts = ids_of(ids, len(vectors), what, start)
            yield Shard(start, texts, vectors, scales_of(self.scales, vectors, what, start))
            start += len(vectors)
        if not start:
            raise DataError("the corpus is empty", remedy="give at least one vector")
        if np.ndim(self.scales) and len(self.scales) != start:
            problem = f"corpus_scale has {counted(len(self.scales), 'number')}, but the corpus has {start:,} vectors"
            raise UsageError(problem, remedy="give one number for all vectors, or one for each")


def corpus_of(given: Any, ids: Any, width: int, block: int, scales: Any = None) -> Corpus:
    """Take a corpus in any of its forms.

    >>> corpus = corpus_of(np.zeros((3, 2), np.float32), ["a", "b", "c"], 2, block=1)
    >>> [(shard.start, shard.ids) for shard in corpus.shards()]
    [(0, [b'a', b'b', b'c'])]
    >>> corpus = corpus_of([(["a"], np.zeros((1, 2))), (["b"], np.zeros((1, 2)))], None, 2, block=1)
    >>> [(shard.start, shard.ids) for shard in corpus.shards()]
    [(0, [b'a']), (1, [b'b'])]
    """
    if hasattr(given, "shape"):
        check_vectors(given, "the corpus", width)
        if ids is not None and len(ids) != len(given):
            _refuse_lengths("corpus_ids", ids, len(given), "the corpus")
        return Corpus(lambda: _slices(given, ids, BLOCKS * block), width, scales)
    if ids is not None:
        raise UsageError(
            "corpus_ids are given, but blocks have their own", remedy="give blocks as pairs of ids, vectors"
        )
    if callable(given):
        return Corpus(lambda: _pairs(given()), width, scales)
    if not isinstance(given, Iterable):
        raise UsageError(
            f"the corpus is of type {type(given).__name__}", remedy="give an array, or pairs of ids, vectors"
        )
    if iter(given) is given:
        raise UsageError(
            "the corpus is an iterator, but it must be read twice: first for the scores of relevant documents",
            remedy="give a list of pairs of ids and vectors, or a function that returns a new iterator",
        )
    return Corpus(lambda: _pairs(given), width, scales)


def _slices(array: Any, ids: Any, size: int) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(array), size):
        yield None if ids is None else ids[start : start + size], array[start : start + size]


def _pairs(given: Any) -> Iterator[tuple[Any, Any]]:
    for number, pair in enumerate(given):
        if not (isinstance(pair, Sequence) and len(pair) == 2):
            raise UsageError(f"block {number} of the corpus is not a pair", remedy="give pairs of ids and vectors")
        if len(pair[1]):
            yield pair[0], pair[1]


def is_tensor(vectors: Any) -> bool:
    """Tell whether vectors are a tensor of torch, without importing it."""
    return type(vectors).__module__.split(".")[0] == "torch"


def check_vectors(vectors: Any, what: str, width: int | None = None) -> None:
    """Raise unless these are vectors, of a width if one is given.

    >>> check_vectors(np.zeros(3), "queries")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: queries: expected an array of two dimensions, found the shape (3,)
    """
    if len(shape := tuple(getattr(vectors, "shape", ()))) != 2:
        found = f"the shape {shape}" if hasattr(vectors, "shape") else f"a {type(vectors).__name__}"
        raise UsageError(f"{what}: expected an array of two dimensions, found {found}")
    if width is not None and shape[1] != width:
        raise UsageError(f"{what}: vectors have {shape[1]} dimensions, but those of queries have {width}")


def scales_of(scales: Any, vectors: Any, what: str, start: int = 0) -> Any:
    """Return the scales of these vectors; raise unless they are given just where they are needed."""
    is_int8 = str(vectors.dtype).endswith("int8") and not str(vectors.dtype).endswith("uint8")
    if is_int8 and scales is None:
        raise UsageError(f"{what}: vectors are int8, but there is no scale", remedy="give query_scale and corpus_scale")
    if not is_int8 and scales is not None:
        raise UsageError(f"{what}: a scale is given, but vectors are {vectors.dtype}", remedy="only int8 has scales")
    if scales is None:
        return None
    numbers = np.asarray(scales.cpu() if is_tensor(scales) else scales, np.float64)
    some = numbers if numbers.ndim == 0 else numbers[start : start + len(vectors)]
    if some.shape not in ((), (len(vectors),)):
        problem = f"{what}: {counted(len(vectors), 'vector')}, but scales of the shape {some.shape}"
        raise UsageError(problem, remedy="give one number for all vectors, or one for each")
    return some


def ids_of(ids: Any, number: int, what: str, start: int = 0) -> list[bytes]:
    """Return ids as bytes; those of indices from `start` if none are given.

    >>> ids_of(None, 2, "queries", 8), ids_of(["q1", 7], 2, "queries")
    ([b'8', b'9'], [b'q1', b'7'])
    """
    if ids is None:
        return list(np.arange(start, start + number).astype(np.bytes_).tolist())
    if len(ids) != number:
        _refuse_lengths("ids", ids, number, what)
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return list(ids.astype(np.bytes_).tolist())
    try:
        return [id_of(each) for each in (ids.tolist() if hasattr(ids, "tolist") else ids)]
    except TypeError as error:
        raise UsageError(f"{what}: {error}", remedy=_IDS_REMEDY) from None


def _refuse_lengths(name: str, ids: Any, number: int, what: str) -> None:
    raise UsageError(f"{what}: {counted(number, 'vector')}, but {name} has {len(ids):,}", remedy="give one id for each")


class Twice:
    """Watches for ids that come twice; it keeps eight bytes of each.

    >>> twice = Twice()
    >>> twice.watch([b"a", b"b"]); twice.watch([b"c", b"a"])
    >>> twice.check(lambda: iter([[b"a", b"b"], [b"c", b"a"]]), "the corpus")
    Traceback (most recent call last):
    lexirecall.errors.DataError: the corpus has ids that occur twice: 'a'
      give each document one id of its own
    """

    def __init__(self) -> None:
        self._hashes: list[IntArray] = []

    def watch(self, ids: Sequence[bytes]) -> None:
        """Take note of some ids."""
        self._hashes.append(np.fromiter(map(hash, ids), np.int64, len(ids)))

    def check(self, ids_again: Callable[[], Iterator[Sequence[bytes]]], what: str) -> None:
        """Raise if an id came twice; the ids are gone through again only if two have the same hash."""
        hashes = np.sort(np.concatenate(self._hashes))
        suspects = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if not suspects:
            return
        seen: set[bytes] = set()
        twice: dict[bytes, None] = {}
        for each in (each for ids in ids_again() for each in ids if hash(each) in suspects):
            (twice.setdefault(each) if each in seen else seen.add(each))
        if twice:
            problem = f"{what} has ids that occur twice: {listed(map(shown, twice))}"
            raise DataError(problem, remedy="give each document one id of its own")

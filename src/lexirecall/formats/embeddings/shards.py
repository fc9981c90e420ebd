"""Shards: the vectors of a corpus, some at a time, with the ids of their documents.

Belongs here: the forms in which a corpus is given, and going through it as often as it takes. Not here: ids (ids), what
is computed from vectors (backends), what is counted (counting).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, shown
from lexirecall.formats.arrays import check_plain, on_host
from lexirecall.formats.embeddings.ids import Indices, VectorIds, as_many, ids_of
from lexirecall.judgments import IntArray

KINDS = ("float32", "float16", "bfloat16", "float64", "int8")
"""Types of vectors."""
_SCALES = "give one number for all vectors, or one for each"


@dataclass(frozen=True, slots=True)
class Shard:
    """Some documents that follow each other in the corpus."""

    start: int
    """How many documents come before, in the shards of this process."""
    ids: VectorIds
    vectors: Any
    """[n, d], of numpy or torch."""
    scales: Any
    """Of int8: what each vector is multiplied by, [n], or one number; None for other types."""

    def blocks(self, size: int) -> Iterator["Shard"]:
        """Give parts of at most this many documents."""
        for first in range(0, len(self.ids), size):
            yield self[first : first + size]

    def __getitem__(self, at: slice) -> "Shard":
        return Shard(self.start + at.start, self.ids[at], self.vectors[at], _chosen(self.scales, at))

    def pick(self, at: list[int]) -> "Shard":
        """Return some documents, without their ids; it starts where the whole one does."""
        return Shard(self.start, Indices(0, len(at)), self.vectors[at], _chosen(self.scales, at))

    @classmethod
    def joined(cls, shards: "Sequence[Shard]") -> "Shard":
        """Put documents together, without their ids; it starts where the first one does."""
        vectors = [shard.vectors for shard in shards]
        if is_tensor(vectors[0]):
            import torch

            joined = torch.cat(vectors)
        else:
            joined = np.concatenate(vectors)
        scales = shards[0].scales
        if np.ndim(scales):
            scales = np.concatenate([shard.scales for shard in shards])
        return cls(shards[0].start, Indices(0, len(joined)), joined, scales)

    def spread(self, documents: IntArray, columns: IntArray, size: int) -> tuple[Any, Any]:
        """Return vectors of zeros with those of some documents at their columns, and the scales."""
        shape, scales = (size, self.vectors.shape[1]), self.scales
        spread = self.vectors.new_zeros(shape) if is_tensor(self.vectors) else np.zeros(shape, self.vectors.dtype)
        spread[columns] = self.vectors[documents]
        if np.ndim(scales):
            scales = np.ones(size)
            scales[columns] = self.scales[documents]
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
    needs_ids: bool = False
    """Whether it is a part of a corpus, so that indices would not tell its documents from others."""

    def shards(self) -> Iterator[Shard]:
        """Go through the corpus from the start."""
        start, kinds = 0, set[type]()
        for number, (ids, block) in enumerate(self.parts()):
            what = f"block {number} of the corpus"
            check_vectors(block, what, self.width)
            vectors = plain_vectors(block)
            named = ids_of(ids, len(vectors), what, start)
            kinds.add(type(named))
            if len(kinds) > 1:
                problem = "some blocks of the corpus have ids, and some have none"
                raise UsageError(problem, remedy="give ids to all of them, or to none")
            if self.needs_ids and Indices in kinds:
                problem = "the documents of this process have no ids, and indices are the same in every process"
                raise UsageError(problem, remedy="give corpus_ids")
            yield Shard(start, named, vectors, scales_of(self.scales, vectors, what, start))
            start += len(vectors)
        if not start:
            raise DataError("the corpus is empty", remedy="give at least one vector")
        if np.ndim(self.scales) and len(self.scales) != start:
            problem = f"corpus_scale has {counted(len(self.scales), 'number')}, but the corpus has {start:,} vectors"
            raise UsageError(problem, remedy=_SCALES)


def corpus_of(
    corpus: Any, ids: Any, width: int, scales: Any = None, *, size: int = 2**18, is_part: bool = False
) -> Corpus:
    """Take a corpus in any of its forms; an array gives shards of a size.

    >>> corpus = corpus_of(np.zeros((3, 2), np.float32), ["a", "b", "c"], 2)
    >>> [(shard.start, shard.ids.texts()) for shard in corpus.shards()]
    [(0, [b'a', b'b', b'c'])]
    >>> corpus = corpus_of([(["a"], np.zeros((1, 2))), (["b"], np.zeros((1, 2)))], None, 2)
    >>> [(shard.start, shard.ids.texts()) for shard in corpus.shards()]
    [(0, [b'a']), (1, [b'b'])]
    """
    if hasattr(corpus, "shape"):
        check_vectors(corpus, "the corpus", width)
        plain_ids = None if ids is None else as_many(ids, len(corpus), "the corpus", "corpus_ids")
        return Corpus(lambda: _slices(corpus, plain_ids, size), width, scales, is_part)
    if ids is not None:
        raise UsageError(
            "corpus_ids are given, but blocks have their own", remedy="give blocks as pairs of ids, vectors"
        )
    if callable(corpus):
        return Corpus(lambda: _pairs(corpus()), width, scales, is_part)
    if not isinstance(corpus, Iterable):
        raise UsageError(
            f"the corpus is of type {type(corpus).__name__}", remedy="give an array, or pairs of ids, vectors"
        )
    if iter(corpus) is corpus:
        raise UsageError(
            "the corpus is an iterator, but it must be read twice: first for the scores of relevant documents",
            remedy="give a list of pairs of ids and vectors, or a function that returns a new iterator",
        )
    return Corpus(lambda: _pairs(corpus), width, scales, is_part)


def _slices(array: Any, ids: Any, size: int) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(array), size):
        yield None if ids is None else ids[start : start + size], array[start : start + size]


def _pairs(blocks: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(blocks, Iterable):
        problem = f"the function that gives the corpus returned a {type(blocks).__name__}"
        raise UsageError(problem, remedy="let it return an iterator of pairs of ids and vectors")
    for number, pair in enumerate(blocks):
        if isinstance(pair, (str, bytes)) or not (isinstance(pair, Sequence) and len(pair) == 2):
            raise UsageError(f"block {number} of the corpus is not a pair", remedy="give pairs of ids and vectors")
        if tuple(getattr(pair[1], "shape", ()))[:1] != (0,):
            yield pair[0], pair[1]


def is_tensor(vectors: Any) -> bool:
    """Tell whether vectors are a tensor of torch, without importing it."""
    return type(vectors).__module__.split(".")[0] == "torch"


def check_vectors(vectors: Any, what: str, width: int | None = None) -> None:
    """Raise unless these are vectors that can be multiplied, of a width if one is given.

    >>> check_vectors(np.zeros(3), "queries")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: queries: expected an array of two dimensions, found the shape (3,)
    """
    check_plain(vectors, what)
    if len(shape := tuple(getattr(vectors, "shape", ()))) != 2:
        found = f"the shape {shape}" if hasattr(vectors, "shape") else f"a {type(vectors).__name__}"
        raise UsageError(f"{what}: expected an array of two dimensions, found {found}")
    kind = str(getattr(vectors, "dtype", "of an unknown type")).removeprefix("torch.")
    if kind not in KINDS:
        problem = f"{what}: vectors are {shown(kind)}, but must be {', '.join(KINDS[:-1])} or {KINDS[-1]}"
        raise UsageError(problem, remedy="convert them")
    if not shape[1]:
        raise UsageError(f"{what}: vectors have no dimensions", remedy="give at least one")
    if width is not None and shape[1] != width:
        raise UsageError(f"{what}: vectors have {shape[1]} dimensions, but those of queries have {width}")


def plain_vectors(vectors: Any) -> Any:
    """Return vectors as a plain array of numpy, if they are not a tensor of torch."""
    return vectors if is_tensor(vectors) else on_host(vectors)


def scales_of(scales: Any, vectors: Any, what: str, start: int = 0) -> Any:
    """Return the scales of these vectors; raise unless they are given just where they are needed."""
    is_int8 = str(vectors.dtype).endswith("int8") and not str(vectors.dtype).endswith("uint8")
    if is_int8 and scales is None:
        raise UsageError(f"{what}: vectors are int8, but there is no scale", remedy="give query_scale and corpus_scale")
    if not is_int8 and scales is not None:
        raise UsageError(f"{what}: a scale is given, but vectors are {vectors.dtype}", remedy="only int8 has scales")
    if scales is None:
        return None
    try:
        numbers = np.asarray(scales.cpu() if is_tensor(scales) else scales, np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{what}: a scale is not a number", remedy=_SCALES) from None
    some = numbers if numbers.ndim == 0 else numbers[start : start + len(vectors)]
    if some.shape not in ((), (len(vectors),)):
        problem = f"{what}: {counted(len(vectors), 'vector')}, but scales of the shape {some.shape}"
        raise UsageError(problem, remedy=_SCALES)
    return some

"""Ids: the names of vectors, made when somebody asks for them.

Belongs here: the forms in which ids are given, finding some among many, ids that come twice. Not here: what they name
(shards, counting).

A corpus of ten million documents has ten million ids, and hardly any is ever looked at: those of indices are not made
at all, and texts become bytes in the first pass only.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.formats.counted import id_ranks, text_order
from lexirecall.judgments import BoolArray, IntArray, offsets_of
from lexirecall.text import id_of

_IDS_REMEDY = 'ids are text or whole numbers, such as "FR94-1" or 17'


@dataclass(frozen=True, slots=True)
class Wanted:
    """Ids that are wanted by pairs, which may share them.

    >>> wanted = Wanted.of([b"a", b"b", b"a"])
    >>> [each.tolist() for each in wanted.pairs_of(np.array([1, 0]))]
    [[1, 0, 2], [0, 1, 1]]
    """

    numbers: Mapping[bytes, int]
    """A number for each id."""
    offsets: IntArray
    pairs: IntArray
    """Those of id number i lie at offsets[i]:offsets[i + 1]."""

    @classmethod
    def of(cls, ids: Iterable[bytes]) -> "Wanted":
        """Return the ids of pairs."""
        numbers: dict[bytes, int] = {}
        of_pairs = np.array([numbers.setdefault(each, len(numbers)) for each in ids], np.int64)
        offsets = offsets_of(np.bincount(of_pairs, minlength=len(numbers)))
        return cls(numbers, offsets, np.argsort(of_pairs, kind="stable"))

    def pairs_of(self, found: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of some ids, given their numbers, and which one of these it is that each pair has."""
        sizes = np.diff(self.offsets)[found]
        which = np.repeat(np.arange(len(found)), sizes)
        within = np.arange(len(which)) - np.repeat(offsets_of(sizes)[:-1], sizes)
        return self.pairs[self.offsets[found][which] + within], which

    def indices(self) -> tuple[IntArray, IntArray]:
        """Return the ids that are indices as text, ascending, and their numbers."""
        plain = {int(each): number for each, number in self.numbers.items() if each.isdigit() and len(each) < 18}
        indices = np.array([index for index in plain if str(index).encode() in self.numbers], np.int64)
        indices.sort()
        return indices, np.array([self.numbers[str(index).encode()] for index in indices.tolist()], np.int64)


class Found(NamedTuple):
    """What a search found."""

    places: IntArray
    """Where ids are that are wanted."""
    numbers: IntArray
    """Which ones these are."""
    hashes: IntArray
    """Of all ids, to tell whether one comes twice; of none if none can."""


@dataclass(frozen=True, slots=True)
class Indices:
    """Ids that are not given: the indices from `start`, as text.

    >>> indices = Indices(8, 3)
    >>> indices.texts(), indices[1:].pick([1]), indices.search(Wanted.of([b"09", b"9"])).places.tolist()
    ([b'8', b'9', b'10'], [b'10'], [1])
    """

    start: int
    number: int

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, at: slice) -> "Indices":
        some = range(self.start, self.start + self.number)[at]
        return Indices(some.start, len(some))

    def pick(self, at: Sequence[int]) -> list[bytes]:
        """Return some ids."""
        return [str(self.start + index).encode() for index in at]

    def texts(self) -> list[bytes]:
        """Return all ids."""
        return self.pick(range(self.number))

    def parts(self) -> tuple[bytes, ...]:
        """Return bytes that tell these ids from others."""
        return str(self).encode(), b""

    def search(self, wanted: Wanted) -> Found:
        """Look for ids that are wanted; no two indices are the same."""
        indices, numbers = wanted.indices()
        first, last = np.searchsorted(indices, (self.start, self.start + self.number))
        return Found(indices[first:last] - self.start, numbers[first:last], np.zeros(0, np.int64))

    def are_larger(self, own: Sequence[bytes], at: IntArray, columns: IntArray) -> BoolArray:
        """Tell whether ids in some columns are larger than own[at], which is an index too, by their bytes."""
        numbers = np.array([int(each) for each in own], np.int64)
        (digits, length), (own_digits, own_length) = map(text_order, (self.start + columns, numbers[at]))
        return np.asarray((digits > own_digits) | ((digits == own_digits) & (length > own_length)))


@dataclass(frozen=True, slots=True)
class Texts:
    """Ids as they are given.

    >>> Texts(["b", 7, "a"]).texts(), Texts(["b", 7, "a"]).search(Wanted.of([b"z", b"7"])).places.tolist()
    ([b'b', b'7', b'a'], [1])
    """

    given: Any
    what: str = "the corpus"

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, at: slice) -> "Texts":
        return Texts(self.given[at], self.what)

    def pick(self, at: Sequence[int]) -> list[bytes]:
        """Return some ids."""
        return Texts([self.given[index] for index in at], self.what).texts()

    def texts(self) -> list[bytes]:
        """Return all ids; raise if something is not an id."""
        if isinstance(self.given, np.ndarray) and self.given.dtype.kind in "iu":
            return list(self.given.astype(np.bytes_).tolist())
        plain = self.given.tolist() if hasattr(self.given, "tolist") else self.given
        kinds = set(map(type, plain))
        if kinds <= {bytes}:
            return list(plain)
        try:
            return (kinds == {str} and _encoded(plain)) or [id_of(each) for each in plain]
        except TypeError as error:
            raise UsageError(f"{self.what}: {error}", remedy=_IDS_REMEDY) from None

    def parts(self) -> tuple[bytes, ...]:
        """Return bytes that tell these ids from others."""
        texts = self.texts()
        return np.fromiter(map(len, texts), np.int64, len(texts)).tobytes(), b"".join(texts)

    def search(self, wanted: Wanted) -> Found:
        """Look for ids that are wanted."""
        texts = self.texts()
        places = [place for place, each in enumerate(texts) if each in wanted.numbers]
        numbers = [wanted.numbers[texts[place]] for place in places]
        hashes = np.fromiter(map(hash, texts), np.int64, len(texts))
        return Found(np.array(places, np.int64), np.array(numbers, np.int64), hashes)

    def are_larger(self, own: Sequence[bytes], at: IntArray, columns: IntArray) -> BoolArray:
        """Tell whether ids in some columns are larger than own[at], by their bytes.

        Few of them are compared as text; many by their ranks, which takes a sort of all.
        """
        if len(columns) < len(self):
            texts = zip(self.pick(columns.tolist()), at.tolist(), strict=True)
            return np.fromiter((each > own[pair] for each, pair in texts), bool, len(at))
        texts_of_all = self.texts()
        ascending = sorted(texts_of_all)
        smaller = np.array([bisect_right(ascending, each) for each in own], np.int64)
        return id_ranks(texts_of_all, len(texts_of_all))[columns] >= smaller[at]


VectorIds = Indices | Texts


def _encoded(texts: Sequence[str]) -> list[bytes]:
    """Return the bytes of many texts at once; nothing if one has a line break."""
    found = "\n".join(texts).encode(errors="surrogateescape").split(b"\n")
    return found if len(found) == len(texts) else []


def ids_of(ids: Any, number: int, what: str, start: int = 0) -> VectorIds:
    """Take ids in any of their forms; those of indices from `start` if none are given.

    >>> ids_of(None, 2, "queries", 8).texts(), ids_of(["q1", 7], 2, "queries").texts()
    ([b'8', b'9'], [b'q1', b'7'])
    """
    if ids is None:
        return Indices(start, number)
    if len(ids) != number:
        refuse_lengths("ids", ids, number, what)
    return Texts(ids if hasattr(ids, "tolist") or isinstance(ids, Sequence) else list(ids), what)


def refuse_lengths(name: str, ids: Any, number: int, what: str) -> None:
    """Raise because there are not as many ids as vectors."""
    raise UsageError(f"{what}: {counted(number, 'vector')}, but {name} has {len(ids):,}", remedy="give one id for each")


class Twice:
    """Watches for ids that come twice; it keeps eight bytes of each.

    >>> twice, ids = Twice(), [Texts(["a", "b"]), Texts(["c", "a"])]
    >>> for some in ids: twice.watch(some.search(Wanted.of([])).hashes)
    >>> twice.check(lambda: iter(ids), "the corpus")
    Traceback (most recent call last):
    lexirecall.errors.DataError: the corpus has ids that occur twice: 'a'
      give each document one id of its own
    """

    def __init__(self) -> None:
        self._hashes = [np.zeros(0, np.int64)]

    def watch(self, hashes: IntArray) -> None:
        """Take note of the hashes of some ids."""
        self._hashes.append(hashes)

    def check(self, ids_again: Callable[[], Iterator[VectorIds]], what: str) -> None:
        """Raise if an id came twice; the ids are gone through again only if two have the same hash."""
        hashes = np.sort(np.concatenate(self._hashes))
        suspects = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if not suspects:
            return
        seen: set[bytes] = set()
        twice: dict[bytes, None] = {}
        for each in (each for ids in ids_again() for each in ids.texts() if hash(each) in suspects):
            (twice.setdefault(each) if each in seen else seen.add(each))
        if twice:
            problem = f"{what} has ids that occur twice: {listed(map(shown, twice))}"
            raise DataError(problem, remedy="give each document one id of its own")

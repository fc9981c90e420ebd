"""Ids: the names of vectors, made when somebody asks for them.

Belongs here: the forms in which ids are given, finding some among many, ids that come twice. Not here: what they name
(shards, counting).

A corpus of ten million documents has ten million ids, and hardly any is ever looked at: those of indices are not made
at all, and texts become bytes in the first pass only.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.formats.counted import id_ranks
from lexirecall.judgments import IntArray
from lexirecall.text import id_of

_IDS_REMEDY = 'ids are text or whole numbers, such as "FR94-1" or 17'


@dataclass(frozen=True, slots=True)
class Wanted:
    """Some ids, and the pairs that each of them belongs to."""

    pairs: Mapping[bytes, list[int]]
    numbers: IntArray = field(init=False)
    """Those that are indices as text, ascending."""

    def __post_init__(self) -> None:
        plain = (int(each) for each in self.pairs if each.isdigit() and len(each) < 19)
        numbers = [number for number in plain if str(number).encode() in self.pairs]
        object.__setattr__(self, "numbers", np.unique(np.array(numbers, np.int64)))


@dataclass(frozen=True, slots=True)
class Indices:
    """Ids that are not given: the indices from `start`, as text.

    >>> Indices(8, 3).texts(), Indices(8, 3)[1:].pick([1]), Indices(8, 3).search(Wanted({b"9": [0], b"09": [1]}))[0]
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

    def search(self, wanted: Wanted) -> tuple[list[int], IntArray]:
        """Return where ids are that are wanted; and no hashes, because two indices are never the same."""
        first, last = np.searchsorted(wanted.numbers, (self.start, self.start + self.number))
        return (wanted.numbers[first:last] - self.start).tolist(), np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Texts:
    """Ids as they are given.

    >>> Texts(["b", 7, "a"]).texts(), Texts(["b", 7, "a"]).search(Wanted({b"7": [0], b"z": [1]}))[0]
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
        try:
            return _encoded(plain) or [id_of(each) for each in plain]
        except TypeError as error:
            raise UsageError(f"{self.what}: {error}", remedy=_IDS_REMEDY) from None

    def parts(self) -> tuple[bytes, ...]:
        """Return bytes that tell these ids from others."""
        texts = self.texts()
        return np.fromiter(map(len, texts), np.int64, len(texts)).tobytes(), b"".join(texts)

    def search(self, wanted: Wanted) -> tuple[list[int], IntArray]:
        """Return where ids are that are wanted; and a hash of each id, to tell whether one comes twice."""
        texts = self.texts()
        hashes = np.fromiter(map(hash, texts), np.int64, len(texts))
        return [index for index, each in enumerate(texts) if each in wanted.pairs], hashes


Ids = Indices | Texts


def _encoded(plain: Any) -> list[bytes] | None:
    """Return the bytes of many texts at once; None if they are not a list of plain texts."""
    try:
        joined = "\n".join(plain)
    except TypeError:
        return None
    found = joined.encode(errors="surrogateescape").split(b"\n")
    return found if len(found) == len(plain) else None


def ids_of(ids: Any, number: int, what: str, start: int = 0) -> Ids:
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


def num_larger(ids: Ids, own: Sequence[bytes], equal: Iterator[IntArray], num_equal: int) -> IntArray:
    """Count, for each own id, the ids at some places that are larger, by their bytes.

    Few are compared as text. Many are compared by their ranks, which take a sort of all.

    >>> num_larger(Texts(["b", "a", "c"]), [b"a", b"bb"], iter([np.array([0, 1]), np.array([2])]), 3).tolist()
    [1, 1]
    """
    if num_equal < len(ids):
        few = (sum(each > one for each in ids.pick(at.tolist())) for one, at in zip(own, equal, strict=True))
        return np.fromiter(few, np.int64, len(own))
    texts = ids.texts()
    ranks, ascending = id_ranks(texts, len(texts)), sorted(texts)
    smaller = (bisect_right(ascending, one) for one in own)
    many = (np.count_nonzero(ranks[at] >= least) for least, at in zip(smaller, equal, strict=True))
    return np.fromiter(many, np.int64, len(own))


class Twice:
    """Watches for ids that come twice; it keeps eight bytes of each.

    >>> twice, ids = Twice(), [Texts(["a", "b"]), Texts(["c", "a"])]
    >>> for some in ids: twice.watch(some.search(Wanted({}))[1])
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

    def check(self, ids_again: Callable[[], Iterator[Ids]], what: str) -> None:
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

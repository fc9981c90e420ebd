"""Ids: the names of vectors, made when somebody asks for them.

Belongs here: the forms in which ids are given, finding some among many, ids that come twice. Not here: what they name
(shards, counting).

A corpus of ten million documents has ten million ids, and hardly any is ever looked at: those of indices are not made
at all, and texts become bytes in the first pass only.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.formats.arrays import listed_ids
from lexirecall.formats.scorecounts import id_ranks, text_order
from lexirecall.judgments import BoolArray, IntArray, offsets_of
from lexirecall.segments import Segments
from lexirecall.text import id_of

_DIGITS = 18  # of indices, at most
_IDS_REMEDY = 'ids are text or whole numbers, such as "FR94-1" or 17'


IsLarger = Callable[[IntArray, IntArray], BoolArray]


class IdMatches(NamedTuple):
    """What a search found."""

    places: IntArray
    """Where ids are that are wanted."""
    pairs: IntArray
    """Those that want them."""
    documents: IntArray
    """Of each pair, which of these places it is."""
    hashes: IntArray
    """Of all ids, to tell whether one comes twice; of none if none can."""


@dataclass(frozen=True)
class WantedIds:
    """Ids that are wanted by pairs, which may share them."""

    ids: Sequence[bytes]
    """Of each pair."""

    @cached_property
    def by_text(self) -> tuple[dict[bytes, int], Segments, IntArray]:
        """A number for each id; where its pairs are; and the pairs."""
        numbers: dict[bytes, int] = {}
        of_pairs = np.array([numbers.setdefault(text, len(numbers)) for text in self.ids], np.int64)
        sizes = np.bincount(of_pairs, minlength=len(numbers))
        return numbers, Segments(offsets_of(sizes)), np.argsort(of_pairs, kind="stable")

    @cached_property
    def by_index(self) -> tuple[IntArray, IntArray]:
        """The ids that are indices as text, ascending, and their pairs."""
        # numpy drops NUL from the end of bytes, and would take b"7\0" for 7
        texts = np.array(
            [text if len(text) < _DIGITS and b"\0" not in text else b"" for text in self.ids], f"S{_DIGITS}"
        )
        pairs = np.flatnonzero(np.char.isdigit(texts))
        values = texts[pairs].astype(np.int64)
        is_plain = values.astype(texts.dtype) == texts[pairs]  # 07 is another id than 7
        order = np.argsort(values[is_plain], kind="stable")
        return values[is_plain][order], pairs[is_plain][order]


@dataclass(frozen=True, slots=True)
class Indices:
    """Ids that are not given: the indices from `start`, as text.

    >>> indices = Indices(8, 3)
    >>> indices.texts(), indices[1:].pick([1]), indices.search(WantedIds([b"09", b"9"])).places.tolist()
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

    def search(self, wanted: WantedIds) -> IdMatches:
        """Look for ids that are wanted; no two indices are the same."""
        indices, pairs = wanted.by_index
        here = slice(*np.searchsorted(indices, (self.start, self.start + self.number)))
        places, documents = np.unique(indices[here] - self.start, return_inverse=True)
        return IdMatches(places, pairs[here], documents, np.zeros(0, np.int64))

    def larger_than(self, others: Sequence[bytes]) -> IsLarger:
        """Return a function that tells whether ids in columns are larger than others[at], which are indices too."""
        other_digits, other_length = text_order(np.array([int(text) for text in others], np.int64))

        def compared(at: IntArray, columns: IntArray) -> BoolArray:
            digits, length = text_order(self.start + columns)
            return np.where(digits == other_digits[at], length > other_length[at], digits > other_digits[at])

        return compared


@dataclass(frozen=True, slots=True)
class TextIds:
    """Ids as they are given.

    >>> TextIds(["b", 7, "a"]).texts(), TextIds(["b", 7, "a"]).search(WantedIds([b"z", b"7"])).places.tolist()
    ([b'b', b'7', b'a'], [1])
    """

    ids: Any
    what: str = "the corpus"

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, at: slice) -> "TextIds":
        return TextIds(self.ids[at], self.what)

    def pick(self, at: Sequence[int]) -> list[bytes]:
        """Return some ids."""
        return TextIds([self.ids[index] for index in at], self.what).texts()

    def texts(self) -> list[bytes]:
        """Return all ids; raise if something is not an id."""
        if isinstance(self.ids, np.ndarray) and self.ids.dtype.kind in "iu":
            return list(self.ids.astype(np.bytes_).tolist())
        plain = self.ids.tolist() if hasattr(self.ids, "tolist") else self.ids
        kinds = set(map(type, plain))
        if kinds <= {bytes}:
            return list(plain)
        try:
            return (kinds == {str} and _encoded(plain)) or [id_of(value) for value in plain]
        except (TypeError, ValueError) as error:
            problem = "an id is not valid Unicode" if isinstance(error, UnicodeError) else error
            raise UsageError(f"{self.what}: {problem}", remedy=_IDS_REMEDY) from None

    def search(self, wanted: WantedIds) -> IdMatches:
        """Look for ids that are wanted."""
        texts, (numbers, segments, pairs) = self.texts(), wanted.by_text
        places = [place for place, text in enumerate(texts) if text in numbers]
        found = np.array([numbers[texts[place]] for place in places], np.int64)
        of_places = Segments(offsets_of(segments.sizes[found]))
        at = np.repeat(segments.offsets[found], of_places.sizes) + of_places.ordinals - 1
        # Python's hash of bytes differs from process to process: it must not be sent to another
        hashes = np.fromiter(map(hash, texts), np.int64, len(texts))
        return IdMatches(np.array(places, np.int64), pairs[at], of_places.owners, hashes)

    def larger_than(self, others: Sequence[bytes]) -> IsLarger:
        """Return a function that tells whether ids in columns are larger than others[at], by their bytes.

        Few of them are compared as text; many by their ranks, which takes a sort of all.
        """

        def compared(at: IntArray, columns: IntArray) -> BoolArray:
            if len(columns) >= len(self):
                ranks, smaller = self._ranks(others)
                return ranks[columns] >= smaller[at]
            texts = zip(self.pick(columns.tolist()), at.tolist(), strict=True)
            return np.fromiter((text > others[pair] for text, pair in texts), bool, len(at))

        return compared

    def _ranks(self, others: Sequence[bytes]) -> tuple[IntArray, IntArray]:
        """Return the rank of each id, and how many ids are smaller than each of the others, or the same."""
        texts = self.texts()
        ascending = sorted(texts)
        return id_ranks(texts, len(texts)), np.array([bisect_right(ascending, text) for text in others], np.int64)


VectorIds = Indices | TextIds


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
    return TextIds(as_many(ids, number, what, "ids"), what)


def as_many(ids: Any, number: int, what: str, name: str) -> Any:
    """Return ids as a list or an array of numpy, by their places; raise unless there are as many as vectors."""
    is_plain = isinstance(ids, (list, tuple)) or (isinstance(ids, np.ndarray) and ids.ndim == 1)
    plain_ids = ids if is_plain else listed_ids(ids, f"{what}: {name}")
    if len(plain_ids) != number:
        problem = f"{what}: {counted(number, 'vector')}, but {name} has {len(plain_ids):,}"
        raise UsageError(problem, remedy="give one id for each")
    return plain_ids


class RepeatWatch:
    """Watches for ids that come twice; it keeps eight bytes of each.

    >>> twice, ids = RepeatWatch(), [TextIds(["a", "b"]), TextIds(["c", "a"])]
    >>> for some in ids: twice.watch(some.search(WantedIds([])).hashes)
    >>> twice.check(lambda: iter(ids), "the corpus")
    Traceback (most recent call last):
    lexirecall.errors.DataError: the corpus has ids that occur twice: 'a'
      give each one an id of its own
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
        for text in (text for ids in ids_again() for text in ids.texts() if hash(text) in suspects):
            (twice.setdefault(text) if text in seen else seen.add(text))
        if twice:
            problem = f"{what} has ids that occur twice: {listed(map(shown, twice))}"
            raise DataError(problem, remedy="give each one an id of its own")

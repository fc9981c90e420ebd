"""Providers: who the documents belong to.

Belongs here: the map from judged documents to those who sell, wrote or publish them, as arrays. Not here: reading it
(formats), exposure (measures).

A document may have several providers, and each of them is credited with all of it. Only documents with a positive grade
are kept, because no other is relevant at any level.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice

import numpy as np

from lexirecall.errors import DataError, FormatError, listed, shown
from lexirecall.judgments import BoolArray, IntArray, Judgments, offsets_of
from lexirecall.text import to_text

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Providers:
    """The providers of the judged documents; those of document i are indices[offsets[i] : offsets[i + 1]]."""

    names: tuple[str, ...]
    """In the order of their bytes."""
    offsets: IntArray
    indices: IntArray
    name: str = "providers"
    """What messages call the map."""

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[bytes, bytes]], judgments: Judgments, *, name: str = "providers"
    ) -> "Providers":
        """Build the arrays from pairs of document and provider; documents that nobody judged are skipped.

        >>> judgments = Judgments.from_grades({b"q": {b"a": 1, b"b": 1, b"c": 0}, b"r": {b"b": 2}})
        >>> pairs = [(b"b", b"Reclam"), (b"a", b"Knopf"), (b"b", b"Knopf"), (b"c", b"Insel"), (b"z", b"Insel")]
        >>> providers = Providers.from_pairs(pairs, judgments)
        >>> providers.names, providers.offsets.tolist(), providers.indices.tolist()
        (('Knopf', 'Reclam'), [0, 1, 3, 3, 5], [0, 0, 1, 0, 1])
        """
        is_positive = judgments.grades > 0
        numbers: dict[bytes, int] = {}
        relevant = compress(judgments.documents, is_positive.tolist())
        which = np.array([numbers.setdefault(document, len(numbers)) for document in relevant], np.int64)
        claims = _claims(pairs, numbers, name)
        names = sorted({provider for _, provider in claims})
        index = {provider: number for number, provider in enumerate(names)}
        documents = np.array([number for number, _ in claims], np.int64)
        indices = np.array([index[provider] for _, provider in claims], np.int64)
        sizes = np.bincount(documents, minlength=len(numbers))
        sizes_of_judged = np.zeros(len(is_positive), np.int64)
        sizes_of_judged[is_positive] = sizes[which]
        laid_out = indices[members(offsets_of(sizes), which)]
        return cls(tuple(map(to_text, names)), offsets_of(sizes_of_judged), laid_out, name)

    def without(self, judgments: Judgments, level: float) -> IntArray:
        """Return which judged documents are relevant but have no provider.

        >>> judgments = Judgments.from_grades({b"q": {b"a": 1, b"b": 1, b"c": 0}})
        >>> Providers.from_pairs([(b"a", b"Knopf")], judgments).without(judgments, 1).tolist()
        [1]
        """
        return np.flatnonzero((judgments.grades >= level) & (np.diff(self.offsets) == 0))

    def reach(self, judgments: Judgments, level: float) -> BoolArray:
        """Tell which queries have a relevant document with a provider, [Q].

        >>> judgments = Judgments.from_grades({b"q": {b"a": 1, b"b": 1}, b"r": {b"b": 1}})
        >>> Providers.from_pairs([(b"a", b"Knopf")], judgments).reach(judgments, 1).tolist()
        [True, False]
        """
        credited = np.flatnonzero((judgments.grades >= level) & (np.diff(self.offsets) > 0))
        return np.diff(np.searchsorted(credited, judgments.offsets)) > 0


def members(offsets: IntArray, which: IntArray) -> IntArray:
    """Return where the values of the chosen segments lie, one segment after the other.

    >>> members(np.array([0, 2, 2, 5]), np.array([2, 0, 1])).tolist()
    [2, 3, 4, 0, 1]
    """
    sizes = offsets[which + 1] - offsets[which]
    return np.arange(sizes.sum()) + np.repeat(offsets[which] - offsets_of(sizes)[:-1], sizes)


def _claims(pairs: Iterable[tuple[bytes, bytes]], numbers: dict[bytes, int], name: str) -> list[tuple[int, bytes]]:
    """Return each pair of a relevant document's number and a provider once, in order; raise if there are none."""
    pairs = iter(pairs)
    first = list(islice(pairs, EXAMPLES))
    if not first:
        raise empty_map(name)
    claims = {(numbers[document], provider) for document, provider in chain(first, pairs) if document in numbers}
    if not claims and numbers:
        raise strange_map(name, list(dict(first)), list(islice(numbers, EXAMPLES)))
    return sorted(claims)


def empty_map(name: str) -> FormatError:
    """Return the error about an empty map."""
    return FormatError(name, None, "the map is empty", remedy="it maps each document to its provider")


def strange_map(name: str, theirs: Sequence[str | bytes], ours: Sequence[str | bytes]) -> DataError:
    """Return the error about a map with no provider for any relevant document, with documents of both sides."""
    in_map, judged = (listed(map(shown, ids), EXAMPLES) for ids in (theirs, ours))
    return DataError(
        f"{name}: the map does not have a provider for any relevant document: "
        f"it has documents such as {in_map}, the judgments have {judged}",
        remedy="are the ids written the same way, and is it the right file?",
    )

"""Exact metric lexirecall: the place of a ranking among all placements of its relevant documents.

Belongs here: placements as numbers, exactly, and back; keys that sort as LexiRecall does. Not here: the measures made
from them (measures.exact), and the paper's own number (yager).

m relevant documents can be placed in a corpus of n in C(n, m) ways. LexiRecall compares two placements at the deepest
difference, which is the colexicographic order of the m-subsets of {1, …, n}. LexiPrecision compares them at the first
difference, which is the lexicographic order. So a ranking has an exact place in either order, counted from 0, the best.
Everything is in integers: C(528155, 70) has 301 digits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lexirecall.errors import UsageError, choice, counted
from lexirecall.exact.binomials import binomials, decomposed
from lexirecall.judgments import FloatArray, IntArray, PackedIds

if TYPE_CHECKING:
    from lexirecall.positions import Projection

Vector = Sequence[float] | IntArray | FloatArray
OrderName = Literal["recall", "precision"]
NOT_RETRIEVED = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a ranking among all placements of its relevant documents: `rank` of them are better.

    Its `float` is its percentile, correctly rounded.

    >>> place([1, 4], corpus_size=4)
    Place(rank=3, total=6)
    >>> place([1, 4], corpus_size=4).percentile, float(place([1, 4], corpus_size=4))
    (Fraction(2, 5), 0.4)
    """

    rank: int
    total: int

    def __repr__(self) -> str:
        return f"Place(rank={_brief(self.rank)}, total={_brief(self.total)})"

    @property
    def worse(self) -> int:
        """How many placements are worse."""
        return self.total - 1 - self.rank

    @property
    def percentile(self) -> Fraction:
        """The share of the other placements that are worse; 1 if this is the only one."""
        return Fraction(self.worse, self.total - 1) if self.total > 1 else Fraction(1)

    def __float__(self) -> float:
        # dividing two integers of any size is correctly rounded, without a common divisor
        return self.worse / (self.total - 1) if self.total > 1 else 1.0

    @property
    def bits(self) -> float:
        """The binary logarithm of total / (rank + 1)."""
        as_good = self.rank + 1
        if self.total.bit_length() - as_good.bit_length() > 1000:  # more than a float can hold
            return math.log2(self.total) - math.log2(as_good)
        if self.total < 2 * as_good:  # near 1 the quotient would lose the digits that matter
            return math.log1p(self.worse / as_good) / math.log(2)
        return math.log2(self.total / as_good)


def checked(
    positions: Vector, num_relevant: int | None = None, corpus_size: int | None = None
) -> tuple[list[int], int]:
    """Return the positions of the documents retrieved, and m; or raise.

    Documents that are not retrieved are at infinity, or left out if m is given. Without m, it is the number of
    positions.

    >>> checked([2, 3, math.inf]), checked([2, 3], num_relevant=3)
    (([2, 3], 3), ([2, 3], 3))
    """
    values: list[Any] = list(positions)
    found = [p for p in values if not _is_infinite(p)]
    if not all(map(_is_whole, found)):
        raise UsageError(f"the positions are {_shown(values)}, but must be whole numbers, or infinity if not retrieved")
    if any(a >= b and not _is_infinite(b) for a, b in pairwise([0, *values])):
        raise UsageError(f"the positions are {_shown(values)}, but must increase from 1 on")
    m = len(values) if num_relevant is None else num_relevant
    if not _is_whole(m) or m < len(values):
        at_least = f"a whole number of at least {len(values)}"
        raise UsageError(f"num_relevant is {m}, but must be {at_least}, because the positions are {_shown(values)}")
    if corpus_size is not None:
        _check_size(found, m, corpus_size)
    return list(map(int, found)), int(m)


def _is_infinite(number: Any) -> bool:
    return isinstance(number, (float, np.floating)) and number == math.inf


def _is_whole(number: Any) -> bool:
    if isinstance(number, (float, np.floating)):
        return float(number).is_integer()
    return isinstance(number, (int, np.integer))


def _shown(positions: list[Any]) -> str:
    head = ", ".join(f"{p}" for p in positions[:8])
    return f"({head}, …)" if len(positions) > 8 else f"({head})"


def _brief(number: int) -> str:
    """Return an integer for a message; a large one as a power of two, because Python refuses to write it out."""
    return str(number) if not _is_whole(number) or number < 2**128 else f"2**{math.log2(number):.2f}"


def _check_size(found: list[int], m: int, n: int) -> None:
    """Raise unless what is retrieved and what is missing fits in the corpus."""
    needed = max(m, found[-1] + m - len(found) if found else 0)
    if not _is_whole(n) or n < needed:
        which = f" ({len(found)} of them at {_shown(found)})" if found else ""
        raise UsageError(
            f"the corpus size is {n}, but must be a whole number of at least {needed}",
            remedy=f"{counted(m, 'relevant document')}{which} cannot fit in less",
        )


def place(
    positions: Vector, corpus_size: int, num_relevant: int | None = None, *, order: OrderName = "recall"
) -> Place:
    """Return the exact place of a ranking, by LexiRecall or, with order="precision", by LexiPrecision.

    Documents that were not retrieved are at the bottom of the corpus: the i-th of m at n - m + i.

    >>> place([2, 3, 8], corpus_size=1000, num_relevant=6).rank  # the paper's example: 2, 3, 8, 998, 999, 1000
    1368173134317047

    Reference: DiazEM25, for the order; its combinatorial number is classic.
    """
    choice("order", order, ("recall", "precision"))
    found, m = checked(positions, num_relevant, corpus_size)
    return place_of(found, m, int(corpus_size), order)


def place_of(found: list[int], m: int, n: int, order: OrderName = "recall") -> Place:
    """Return the place of a ranking that finds its first documents at these positions, unchecked.

    By LexiRecall, C(n-m+r, r) - 1 - sum_i C(p_i - 1, i) over the r documents retrieved are worse: all placements that
    leave the same m - r documents at the bottom, except itself and those that are better. By LexiPrecision it is
    sum_i C(n - p_i, m - i + 1), which is 0 for the documents at the bottom.

    >>> place_of([1], 2, 4), place_of([1], 2, 4, "precision")
    (Place(rank=3, total=6), Place(rank=2, total=6))
    """
    r, total = len(found), math.comb(n, m)
    if order == "recall":
        worse = math.comb(n - m + r, r) - 1 - sum(binomials(p - 1 for p in found))
    else:
        worse = sum(binomials((n - p for p in reversed(found)), first=m - r + 1))
    return Place(total - 1 - worse, total)


def percentile(
    positions: Vector, corpus_size: int, num_relevant: int | None = None, *, order: OrderName = "recall"
) -> Fraction:
    """Return the exact share of the other placements that are worse, 1 - rank/(C(n, m) - 1), from 0 to 1.

    It is 1 if there is only one placement. Its `float` is correctly rounded.

    >>> percentile([1, 3], corpus_size=4)  # better: (1, 2); worse: (2, 3), (1, 4), (2, 4), (3, 4)
    Fraction(4, 5)
    >>> float(percentile([1, 3], corpus_size=1000, num_relevant=3))
    0.0029999879819698734
    """
    return place(positions, corpus_size, num_relevant, order=order).percentile


def bits(positions: Vector, corpus_size: int, num_relevant: int | None = None, *, order: OrderName = "recall") -> float:
    """Return log2(C(n, m) / (rank + 1)): how many bits of luck it takes to place as well at random.

    It goes from 0, the worst, to log2 C(n, m). One more bit means that half as many placements are as good.

    >>> bits([1], corpus_size=1024), bits([2], corpus_size=1024), bits([1024], corpus_size=1024)
    (10.0, 9.0, 0.0)
    """
    return place(positions, corpus_size, num_relevant, order=order).bits


def colex_rank(positions: Vector) -> int:
    """Return how many placements are better by LexiRecall, sum_i C(p_i - 1, i); it does not depend on n.

    >>> [colex_rank(p) for p in ([1, 2], [1, 3], [2, 3], [1, 4])]
    [0, 1, 2, 3]
    """
    found, m = checked(positions)
    if len(found) < m:
        problem = "a relevant document was not retrieved, so its position is unknown"
        raise UsageError(problem, remedy="use place(), with a corpus size")
    return sum(binomials(p - 1 for p in found))


def colex_unrank(rank: int, num_relevant: int, corpus_size: int | None = None) -> tuple[int, ...]:
    """Return the positions with this place by LexiRecall, counted from 0, the best.

    With a corpus size, a rank beyond the last placement is an error.

    >>> colex_unrank(3, num_relevant=2), colex_unrank(10**30, num_relevant=6)
    ((1, 4), (15105, 38174, 87286, 119567, 131834, 299383))
    """
    _check_rank(rank, num_relevant, corpus_size)
    return tuple(top + 1 for top in decomposed(int(rank), int(num_relevant)))


def lex_rank(positions: Vector, corpus_size: int) -> int:
    """Return how many placements are better by LexiPrecision, C(n, m) - 1 - sum_i C(n - p_i, m - i + 1).

    >>> [lex_rank(p, corpus_size=4) for p in ([1, 2], [1, 3], [1, 4], [2, 3])]
    [0, 1, 2, 3]
    """
    return place(positions, corpus_size, order="precision").rank


def lex_unrank(rank: int, num_relevant: int, corpus_size: int) -> tuple[int, ...]:
    """Return the positions with this place by LexiPrecision, counted from 0, the best.

    The lexicographic order is the colexicographic one of the corpus read from its end, reversed.

    >>> lex_unrank(2, num_relevant=2, corpus_size=4)
    (1, 4)
    """
    _check_rank(rank, num_relevant, corpus_size)
    n = int(corpus_size)
    mirrored = colex_unrank(math.comb(n, int(num_relevant)) - 1 - int(rank), num_relevant)
    return tuple(n + 1 - p for p in reversed(mirrored))


def _check_rank(rank: int, m: int, n: int | None) -> None:
    if not _is_whole(m) or m < 0:
        raise UsageError(f"num_relevant is {m}, but must be a whole number of at least 0")
    if n is not None:
        _check_size([], m, n)
    if not _is_whole(rank) or rank < 0:
        raise UsageError(f"the rank is {_brief(rank)}, but must be a whole number of at least 0")
    if rank and (m == 0 or (n is not None and rank >= math.comb(int(n), int(m)))):
        raise UsageError(
            f"the rank is {_brief(rank)}, but must be below C({'n' if n is None else n}, {m})",
            remedy="ranks count from 0, the best",
        )


def sort_key(positions: Vector, num_relevant: int | None = None) -> bytes:
    """Return bytes that sort as LexiRecall does, the best first: p_m, …, p_1 as four bytes each, high byte first.

    A document that was not retrieved is ff ff ff ff, below every position, and no corpus size is needed. Compare only
    keys of the same query, with the same m.

    >>> sort_key([2, 258], num_relevant=3).hex(" ", 4)
    'ffffffff 00000102 00000002'
    >>> sort_key([4, 9], 2) < sort_key([1, 10], 2) < sort_key([1], 2)
    True
    """
    found, m = checked(positions, num_relevant)
    if found and found[-1] >= NOT_RETRIEVED:
        raise UsageError(f"position {found[-1]} does not fit in a key", remedy=f"the highest is {NOT_RETRIEVED - 1}")
    # Big-endian on every machine: then bytes compare as the numbers do.
    key = np.full(m, NOT_RETRIEVED, dtype=">u4")
    key[: len(found)] = found
    return key[::-1].tobytes()


def sort_keys(projection: "Projection") -> PackedIds:
    """Return the key of every ranking, that of run s for query q at s · Q + q; empty where nothing is relevant.

    >>> from lexirecall import project
    >>> keys = sort_keys(project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["b", "a"]}, "y": {"q": ["c", "a"]}}).at_level(1))
    >>> [key.hex(" ", 4) for key in keys]
    ['00000002 00000001', 'ffffffff 00000002']
    """
    found, sizes = projection.found, np.tile(projection.num_relevant, projection.source.shape[0])
    if (last := int(found.positions.max(initial=0))) >= NOT_RETRIEVED:
        raise UsageError(f"position {last} does not fit in a key", remedy=f"the highest is {NOT_RETRIEVED - 1}")
    borders = np.append(0, np.cumsum(sizes))
    keys = np.full(borders[-1], NOT_RETRIEVED, dtype=">u4")
    # Counted back from the end of the key, because p_m comes first and missing documents before it.
    keys[borders[1:][found.segments.owners] - found.segments.ordinals] = found.positions
    return PackedIds(keys.tobytes(), 4 * borders)

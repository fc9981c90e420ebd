"""Portions: the differences of every pair of runs, a bounded number of pairs at a time.

Belongs here: pairs whose differences are computed when they are needed, and forgotten again. Not here: the tests that
go through them, and pairs that are held (`differences`).

Five hundred runs have 124,750 pairs. Their differences on a thousand queries take a gigabyte, and what is concluded
from them, a few numbers for each pair, takes little. No result shows how many pairs were at hand at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.preferences.contrasts import Contrasts
from lexirecall.statistics.differences import Differences, SummedPairs, Totals, joined, of_same_queries
from lexirecall.statistics.flips import slices

_PORTION = 2**19  # differences that are held at once: 4 MB, and a few times that for what is made of them


@dataclass(frozen=True, eq=False)
class PortionedPairs(SummedPairs):
    """P pairs of runs × Q queries, of which a portion is held at a time.

    >>> from lexirecall import parse_preference, project
    >>> runs = {"x": {"q": ["a"]}, "y": {"q": ["z", "a"]}, "z": {"q": ["a"]}}
    >>> contrasts = parse_preference("RR").contrasts(project({"q": {"a": 1}}, runs).at_level(1))
    >>> PortionedPairs.of(contrasts).means.tolist(), PortionedPairs.of(contrasts, [1]).means.tolist()
    ([0.5, 0.0, -0.5], [0.5, -0.5])
    """

    contrasts: Contrasts
    a: IntArray
    b: IntArray

    @classmethod
    def of(cls, contrasts: Contrasts, references: Sequence[int] = ()) -> "PortionedPairs":
        """Take each pair once, the earlier run first; with references, only the pairs with any of them."""
        a, b = pairs_of(len(contrasts.runs), references)
        return cls(contrasts, a, b)

    @property
    def is_signs(self) -> bool:
        """Whether the differences are signs: -1, 0 and 1 only."""
        return not self.contrasts.is_sized

    @property
    def total_queries(self) -> int:
        """Q."""
        return len(self.contrasts.queries)

    @cached_property
    def totals(self) -> Totals:
        """What they add up to."""
        return joined([portion.totals for _, portion in portions_of(self)])

    @cached_property
    def compared(self) -> BoolArray:
        """On which queries any pair is compared, [Q]."""
        compared = np.zeros(self.total_queries, bool)
        for pairs in slices(len(self.a), len(compared), _PORTION):
            compared |= self.contrasts.measured(self.a[pairs], self.b[pairs]).any(axis=0)
        return compared

    def at(self, pairs: slice | IntArray) -> Differences:
        """Return some of the pairs, with their differences."""
        a, b = self.a[pairs], self.b[pairs]
        values: FloatArray = self.contrasts.between(a, b).astype(float, copy=False)
        where = self.contrasts.counted(a, b), self.contrasts.measured(a, b)
        return Differences.compared_in(a, b, values, *where, is_signs=self.is_signs, is_steady=self.contrasts.is_steady)

    def on(self, queries: IntArray) -> "PortionedPairs":
        """Return the same pairs on some of the queries."""
        return replace(self, contrasts=self.contrasts.on(queries))

    def alike(self, queries: BoolArray) -> Iterator[tuple[IntArray, BoolArray]]:
        """Give the pairs that are compared on the same queries among these, with those, [Q]."""
        return of_same_queries(self.contrasts.has_size & queries, self.a, self.b)


PairDifferences = Differences | PortionedPairs
"""What the tests of pairs take."""


def pairs_of(num_runs: int, references: Sequence[int] = ()) -> tuple[IntArray, IntArray]:
    """Return both runs of each pair, the earlier one first; with references, of the pairs with any of them.

    >>> [runs.tolist() for runs in pairs_of(3)], [runs.tolist() for runs in pairs_of(3, [1])]
    ([[0, 0, 1], [1, 2, 2]], [[0, 1], [1, 2]])
    """
    a, b = np.triu_indices(num_runs, 1)
    asked = are_asked(a, b, references)
    return a[asked], b[asked]


def are_asked(a: IntArray, b: IntArray, references: Sequence[int]) -> BoolArray:
    """Tell which pairs are compared: those with a reference, or all if there is none.

    >>> are_asked(np.array([0, 0, 1]), np.array([1, 2, 2]), [1]).tolist()
    [True, False, True]
    """
    return np.isin(a, references) | np.isin(b, references) if references else np.ones(len(a), bool)


def portions_of(differences: PairDifferences) -> Iterator[tuple[slice, Differences]]:
    """Give the pairs in portions of bounded size, and at least one portion."""
    for pairs in slices(max(len(differences.a), 1), differences.total_queries, _PORTION):
        yield pairs, differences.at(pairs)

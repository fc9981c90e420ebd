"""Differences: every pair of runs, query by query, as the tests take them.

Belongs here: the one input of all tests of pairs, and its plain statistics, which add up over portions of the queries.

Means and deviations come from exact sums, so they do not depend on the order of the queries or on who added them up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.preferences import Pairs
from lexirecall.sums import ExactSums

_BLOCK = 2**15  # differences whose powers are held at once, few enough for the cache
_LEAST_EXPONENT = -1100  # below that of any float: where all differences are 0, those of other queries set the scale

_WHOLE_SCALES = 1000  # 2 to a smaller power, of either sign, is a float of full precision


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of squares and of fourth powers of the differences of P pairs; those of different queries can be added.

    Each pair is scaled by a power of two, which loses nothing: the fourth power of 1e-100 would be 0.
    """

    exponents: IntArray
    """The differences are divided by 2 to this power, [P]."""
    squares: ExactSums
    fourths: ExactSums

    @classmethod
    def of(cls, values: FloatArray) -> "Moments":
        """Add up over the queries, [P, Q]."""
        largest = np.abs(values).max(axis=1, initial=0.0)
        exponents = np.where(largest > 0, np.frexp(largest)[1], _LEAST_EXPONENT).astype(np.int64)
        size = max(1, _BLOCK // max(1, values.shape[1]))
        parts = [slice(start, start + size) for start in range(0, max(1, len(values)), size)]
        blocks = [cls._of_block(values[part], exponents[part]) for part in parts]
        return cls(exponents, *(ExactSums.joined(sums) for sums in zip(*blocks, strict=True)))

    @staticmethod
    def _of_block(values: FloatArray, exponents: IntArray) -> tuple[ExactSums, ExactSums]:
        powers = np.where(exponents == _LEAST_EXPONENT, 0, -exponents)  # 0 is 0 on any scale
        if np.abs(powers).max(initial=0) < _WHOLE_SCALES:
            squares = (values * np.ldexp(1.0, powers)[:, None]).T ** 2  # a product is as exact, and takes less time
        else:
            squares = np.ldexp(values, powers[:, None]).T ** 2
        return ExactSums.of(squares), ExactSums.of(squares**2)

    def __add__(self, other: "Moments") -> "Moments":
        exponents = np.maximum(self.exponents, other.exponents)
        one, two = self._scaled(exponents), other._scaled(exponents)
        return Moments(exponents, one.squares + two.squares, one.fourths + two.fourths)

    def _scaled(self, exponents: IntArray) -> "Moments":
        by = self.exponents - exponents
        squares, fourths = np.ldexp(self.squares.parts, 2 * by), np.ldexp(self.fourths.parts, 4 * by)
        return Moments(exponents, ExactSums(squares), ExactSums(fourths))

    @property
    def concentration(self) -> FloatArray:
        """(sum d²)² / sum d⁴, [P]: the number of differences if all have one size; nan if all are 0."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.squares.rounded() ** 2 / self.fourths.rounded())


@dataclass(frozen=True)
class Totals:
    """What is known of P pairs of runs before their means are; totals of different queries can be added."""

    a: IntArray
    """The first run of each pair, [P]."""
    b: IntArray
    """The second, which comes after it."""
    is_signs: bool
    """Whether the differences are signs: -1, 0 and 1 only."""
    num_requests: IntArray
    """On how many queries each pair is compared, [P]."""
    wins: IntArray
    """On how many queries the first is better, [P]."""
    losses: IntArray
    """On how many queries the second is better, [P]."""
    sums: ExactSums
    """Of the differences, [P]."""
    lowest: FloatArray
    """The lowest difference, [P]; infinite where nothing is compared."""
    highest: FloatArray
    moments: Moments

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.a,
            self.b,
            self.is_signs,
            self.num_requests + other.num_requests,
            self.wins + other.wins,
            self.losses + other.losses,
            self.sums + other.sums,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.moments + other.moments,
        )

    @cached_property
    def means(self) -> FloatArray:
        """The mean difference, [P]; nan where nothing is compared."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums.rounded() / self.num_requests)

    @property
    def ties(self) -> IntArray:
        """On how many queries neither is better, [P]."""
        return self.num_requests - self.wins - self.losses

    @cached_property
    def effective(self) -> FloatArray:
        """On how many queries a test of the mean rests, [P]: min(n, 3 (sum d²)² / sum d⁴); nan without a difference.

        It is about n if the differences are normal, of which 3 is the kurtosis, and 3 if one query decides. The t test
        needs about eight to be what it says.
        """
        return np.asarray(np.minimum(self.num_requests, 3 * self.moments.concentration))

    def with_squares(self, squares: ExactSums) -> "Summary":
        """Add the squares of the differences minus these means, [P]."""
        return Summary(**{each.name: getattr(self, each.name) for each in fields(Totals)}, squares=squares)


@dataclass(frozen=True)
class Summary(Totals):
    """What the t and the sign test need to know of P pairs of runs."""

    squares: ExactSums
    """Of the differences minus their mean, [P]."""

    @cached_property
    def deviations(self) -> FloatArray:
        """The sample standard deviation of the differences, [P]; nan below two queries, 0 if all are equal."""
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations = np.sqrt(self.squares.rounded() / (self.num_requests - 1))
        deviations[self.num_requests < 2] = np.nan
        return np.where((self.lowest == self.highest) & (self.num_requests >= 2), 0.0, deviations)


class AddedUp:
    """Pairs whose differences are known: what they add up to."""

    @property
    def summary(self) -> Summary:
        """Everything that can be added up."""
        raise NotImplementedError

    @property
    def totals(self) -> Totals:
        """What can be added up before the mean is known."""
        return self.summary

    @property
    def num_requests(self) -> IntArray:
        """On how many queries each pair is compared, [P]."""
        return self.totals.num_requests

    @property
    def means(self) -> FloatArray:
        """The mean difference, [P]; nan where nothing is compared."""
        return self.totals.means

    @property
    def deviations(self) -> FloatArray:
        """The sample standard deviation of the differences, [P]; nan below two queries, 0 if all are equal."""
        return self.summary.deviations

    @property
    def effective(self) -> FloatArray:
        """On how many queries a test of the mean rests, [P]: min(n, 3 (sum d²)² / sum d⁴); nan without a difference."""
        return self.totals.effective

    @property
    def wins(self) -> IntArray:
        """On how many queries the first is better, [P]."""
        return self.totals.wins

    @property
    def losses(self) -> IntArray:
        """On how many queries the second is better, [P]."""
        return self.totals.losses

    @property
    def ties(self) -> IntArray:
        """On how many queries neither is better, [P]."""
        return self.totals.ties


@dataclass(frozen=True)
class Differences(AddedUp):
    """P pairs of runs × Q queries.

    >>> from lexirecall import parse_preference, project
    >>> runs = {"x": {"q": ["a", "b"], "r": ["a"]}, "y": {"q": ["b", "z", "a"], "r": ["z", "a"]}}
    >>> positions = project({"q": {"a": 1, "b": 1}, "r": {"a": 1}}, runs)
    >>> differences = Differences.of(parse_preference("LastRel").pairs(positions.at_level(1)))
    >>> differences.values.tolist(), differences.means.tolist(), differences.wins.tolist()
    ([[1.0, 1.0]], [1.0], [2])
    """

    a: IntArray
    b: IntArray
    values: FloatArray
    """By how much the first is better on each query, [P, Q]; exactly 0 for a tie and where nothing is compared."""
    counted: BoolArray
    """Which queries are compared, [P, Q]."""
    is_signs: bool = False

    @classmethod
    def of(cls, pairs: Pairs) -> "Differences":
        """Take each pair once, the earlier run first."""
        a, b = np.triu_indices(len(pairs.systems), 1)
        counted = pairs.taking_part[a] & pairs.taking_part[b]
        return cls(a, b, pairs.values[a, b].astype(float), counted, is_signs=pairs.values.dtype == np.int8)

    @cached_property
    def totals(self) -> Totals:
        """What can be added up before the mean is known."""
        return Totals(
            self.a,
            self.b,
            self.is_signs,
            num_requests=self.counted.sum(axis=1),
            wins=(self.values > 0).sum(axis=1),
            losses=(self.values < 0).sum(axis=1),
            sums=ExactSums.of(self.values.T),
            lowest=np.min(self.values, axis=1, where=self.counted, initial=np.inf),
            highest=np.max(self.values, axis=1, where=self.counted, initial=-np.inf),
            moments=Moments.of(self.values),
        )

    def squares(self, means: FloatArray) -> ExactSums:
        """Add up the squares of the differences minus these means, [P]."""
        return ExactSums.of((np.where(self.counted, self.values - means[:, None], 0.0) ** 2).T)

    @cached_property
    def summary(self) -> Summary:
        """Everything that can be added up."""
        return self.totals.with_squares(self.squares(self.totals.means))

    @property
    def num_queries(self) -> int:
        """Q."""
        return int(self.values.shape[1])

    @property
    def compared(self) -> BoolArray:
        """On which queries any pair is compared, [Q]."""
        return np.asarray(self.counted.any(axis=0))

    def at(self, pairs: slice | IntArray) -> "Differences":
        """Return some of the pairs."""
        return of_pairs(self, pairs)

    def on(self, queries: IntArray) -> "Differences":
        """Return the differences on some of the queries."""
        return replace(self, values=self.values[:, queries], counted=self.counted[:, queries])

    def alike(self, queries: BoolArray) -> Iterator[tuple[IntArray, BoolArray]]:
        """Give the pairs that are compared on the same queries among these, with those, [Q]."""
        every = np.arange(len(self.a))
        return of_same_queries(self.counted & queries, every, every)


T = TypeVar("T")


def of_pairs(known: T, pairs: BoolArray | IntArray | slice) -> T:
    """Return what is known of some of the P pairs: of a record, the rows of all that it holds of pairs.

    >>> three = Differences(np.array([0, 0, 1]), np.array([1, 2, 2]), np.eye(3), np.ones((3, 3), bool))
    >>> of_pairs(three, np.array([True, False, True])).b.tolist()
    [1, 2]
    """
    found: T = _rows(known, pairs)
    return found


def _rows(known: Any, pairs: BoolArray | IntArray | slice) -> Any:
    if isinstance(known, np.ndarray):
        return known[pairs]
    if isinstance(known, ExactSums):
        return ExactSums(known.parts[:, pairs])
    if not is_dataclass(known) or isinstance(known, type):
        return known
    return replace(known, **{each.name: _rows(getattr(known, each.name), pairs) for each in fields(known)})


def joined(portions: Sequence[T]) -> T:
    """Put together what is known of portions of the pairs, the reverse of `of_pairs`.

    >>> three = Differences(np.array([0, 0, 1]), np.array([1, 2, 2]), np.eye(3), np.ones((3, 3), bool))
    >>> joined([of_pairs(three, slice(0, 1)), of_pairs(three, slice(1, 3))]).b.tolist()
    [1, 2, 2]
    """
    found: T = _joined(portions)
    return found


def _joined(portions: Sequence[Any]) -> Any:
    first = portions[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(portions)
    if isinstance(first, ExactSums):
        return ExactSums.joined(portions)
    if not is_dataclass(first) or isinstance(first, type):
        return first
    columns = {each.name: [getattr(portion, each.name) for portion in portions] for each in fields(first)}
    return replace(first, **{name: _joined(column) for name, column in columns.items()})


def of_same_queries(is_defined: BoolArray, a: IntArray, b: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Give the pairs that are compared on the same queries, with these, [Q]; `is_defined` is [S, Q].

    >>> is_defined = np.array([[True, True], [True, True], [True, False]])
    >>> for pairs, queries in of_same_queries(is_defined, np.array([0, 0, 1]), np.array([1, 2, 2])):
    ...     print(pairs.tolist(), queries.tolist())
    [1, 2] [True, False]
    [0] [True, True]
    """
    if (is_defined == is_defined[:1]).all():
        yield np.arange(len(a)), is_defined[0]
        return
    packed = np.packbits(is_defined, axis=1)
    patterns, pattern_of = np.unique(packed[a] & packed[b], axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        queries = np.unpackbits(pattern, count=is_defined.shape[1]).astype(bool)
        yield np.flatnonzero(pattern_of.reshape(-1) == number), queries

"""Differences: every pair of runs, query by query, as the tests take them.

Belongs here: the one input of all tests of pairs, and its plain statistics.

Means and deviations come from exact sums, so they do not depend on the order of the queries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.preferences import Pairs
from lexirecall.statistics.flips import slices
from lexirecall.sums import ExactSums

_BLOCK = 2**15  # differences whose powers are held at once, few enough for the cache
FEWEST_EFFECTIVE = 8
"""With fewer effective queries than this, no test of a mean is what it says."""
_LEAST_EXPONENT = -1100  # below that of any float: where all differences are 0, those of other queries set the scale

_WHOLE_SCALES = 1000  # 2 to a smaller power, of either sign, is a float of full precision


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of squares and of fourth powers of the differences of P pairs.

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
        parts = slices(max(1, len(values)), values.shape[1], _BLOCK)
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

    @property
    def concentration(self) -> FloatArray:
        """(sum d²)² / sum d⁴, [P]: the number of differences if all have one size; nan if all are 0."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.squares.rounded() ** 2 / self.fourths.rounded())


@dataclass(frozen=True)
class Totals:
    """What the t and the sign test need to know of P pairs of runs."""

    a: IntArray
    """The first run of each pair, [P]."""
    b: IntArray
    """The second, which comes after it."""
    is_signs: bool
    """Whether the differences are signs: -1, 0 and 1 only."""
    num_queries: IntArray
    """On how many queries the difference has a size, [P]: these make the mean."""
    wins: IntArray
    """On how many queries the first is better, [P]."""
    losses: IntArray
    """On how many queries the second is better, [P]."""
    means: FloatArray
    """The mean difference, [P]; nan where nothing is compared."""
    squares: ExactSums
    """Of the differences minus their mean, [P]."""
    lowest: FloatArray
    """The lowest difference, [P]; infinite where nothing is compared."""
    highest: FloatArray
    smallest: FloatArray
    """The size of the smallest difference other than 0, [P]; infinite if there is none."""
    moments: Moments
    num_one_sided: IntArray
    """On how many more queries only one of the two has a value, and wins, [P]."""
    num_without: IntArray
    """On how many more queries neither has a value, and they tie, [P]."""
    is_steady: bool = field(default=True, kw_only=True)
    """Whether tests and intervals suit the means of this measure."""

    @property
    def ties(self) -> IntArray:
        """On how many queries neither is better, [P]."""
        return self.num_compared - self.wins - self.losses

    @property
    def num_compared(self) -> IntArray:
        """On how many queries it is known which of the two is better, or that they tie, [P]."""
        return self.num_queries + self.num_one_sided + self.num_without

    @cached_property
    def effective(self) -> FloatArray:
        """On how many queries a test of the mean rests, [P]: min(u, 3 (sum d²)² / sum d⁴); nan without a difference.

        u is the number of queries that do not tie. It is about u if the differences are normal, of which 3 is the
        kurtosis, and 3 at most if one query decides.
        """
        untied = self.wins + self.losses - self.num_one_sided
        return np.asarray(np.minimum(untied, 3 * self.moments.concentration))

    @property
    def largest(self) -> FloatArray:
        """The size of the largest difference, [P]; 0 where nothing is compared."""
        return np.where(self.num_queries > 0, np.maximum(np.abs(self.lowest), np.abs(self.highest)), 0.0)

    @property
    def have_one_size(self) -> BoolArray:
        """Whether all differences of a pair other than 0 are equally large, up to rounding, [P]."""
        return np.asarray(np.isfinite(self.smallest) & (self.largest - self.smallest <= TOLERANCE * self.largest))

    @property
    def is_by_signs(self) -> BoolArray:
        """Whether the sign test suits a pair, and no test of its mean does, [P].

        So it is if only wins and losses are known, if they tell all because every difference has one size, and if no
        test suits the mean. The sizes of differences alone tell that, whichever way they point: the sign test stays
        what it says where it is chosen so.
        """
        tell_all = self.is_signs | self.have_one_size | (self.num_one_sided > 0)
        return np.asarray(tell_all | ~self.has_steady_mean)

    @property
    def has_steady_mean(self) -> BoolArray:
        """Whether a test suits the mean of a pair: it rests on enough queries, as far as the measure lets it, [P]."""
        return np.asarray((self.effective >= FEWEST_EFFECTIVE) & self.is_steady)

    @cached_property
    def deviations(self) -> FloatArray:
        """The sample standard deviation of the differences, [P]; nan below two queries, 0 if all are equal."""
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations = np.sqrt(self.squares.rounded() / (self.num_queries - 1))
        deviations[self.num_queries < 2] = np.nan
        # The mean of equal differences is rounded (of three .1 it is .10000000000000002) and leaves a deviation.
        return np.where((self.lowest == self.highest) & (self.num_queries >= 2), 0.0, deviations)


def _of_totals(name: str) -> Any:
    return property(lambda known: getattr(known.totals, name))


class SummedPairs:
    """Pairs whose differences are known: what they add up to."""

    @property
    def totals(self) -> Totals:
        """All of it."""
        raise NotImplementedError

    num_queries: IntArray = _of_totals("num_queries")
    """On how many queries the difference has a size, [P]: these make the mean."""
    num_compared: IntArray = _of_totals("num_compared")
    """On how many queries it is known which of the two is better, or that they tie, [P]."""
    num_one_sided: IntArray = _of_totals("num_one_sided")
    """On how many of these only one of the two has a value, and wins, [P]."""
    means: FloatArray = _of_totals("means")
    """The mean difference, [P]; nan where nothing is compared."""
    effective: FloatArray = _of_totals("effective")
    """On how many queries a test of the mean rests, [P]: min(u, 3 (sum d²)² / sum d⁴); nan without a difference."""
    largest: FloatArray = _of_totals("largest")
    """The size of the largest difference, [P]; 0 where nothing is compared."""
    have_one_size: BoolArray = _of_totals("have_one_size")
    """Whether all differences of a pair other than 0 are equally large, up to rounding, [P]."""
    has_steady_mean: BoolArray = _of_totals("has_steady_mean")
    """Whether a test suits the mean of a pair: it rests on enough queries, as far as the measure lets it, [P]."""
    is_by_signs: BoolArray = _of_totals("is_by_signs")
    """Whether the sign test suits a pair, and no test of its mean does, [P]."""
    wins: IntArray = _of_totals("wins")
    """On how many queries the first is better, [P]."""
    losses: IntArray = _of_totals("losses")
    """On how many queries the second is better, [P]."""
    ties: IntArray = _of_totals("ties")
    """On how many queries neither is better, [P]."""
    deviations: FloatArray = _of_totals("deviations")
    """The sample standard deviation of the differences, [P]; nan below two queries, 0 if all are equal."""


@dataclass(frozen=True)
class Differences(SummedPairs):
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
    unsized: FloatArray | None = None
    """Where a run has no value: which of the two is better, 1, -1 or 0, [P, Q], nan elsewhere. None if all have."""
    is_steady: bool = True
    """Whether tests and intervals suit the means of this measure."""

    @classmethod
    def compared_in(
        cls,
        a: IntArray,
        b: IntArray,
        values: FloatArray,
        counted: BoolArray,
        measured: BoolArray,
        *,
        is_signs: bool,
        is_steady: bool = True,
    ) -> "Differences":
        """Take differences where they are counted; without a size, where they are not measured, only their signs."""
        if not (counted & ~measured).any():
            return cls(a=a, b=b, values=values, counted=counted, is_signs=is_signs, unsized=None, is_steady=is_steady)
        unsized = np.where(counted & ~measured, np.sign(values), np.nan)
        return cls(
            a=a, b=b, values=np.where(measured, values, 0.0), counted=measured, is_signs=is_signs, unsized=unsized,
            is_steady=is_steady,
        )  # fmt: skip

    @classmethod
    def of(cls, pairs: Pairs) -> "Differences":
        """Take each pair once, the earlier run first."""
        a, b = np.triu_indices(len(pairs.runs), 1)
        has_size = pairs.taking_part if pairs.has_size is None else pairs.has_size
        counted, measured = (marks[a] & marks[b] for marks in (pairs.taking_part, has_size))
        values, is_signs = pairs.values[a, b].astype(float), pairs.values.dtype == np.int8
        return cls.compared_in(a, b, values, counted, measured, is_signs=is_signs)

    @cached_property
    def totals(self) -> Totals:
        """What they add up to."""
        unsized = np.full((len(self.a), 1), np.nan) if self.unsized is None else self.unsized
        won, lost = (unsized > 0).sum(axis=1), (unsized < 0).sum(axis=1)
        num_queries = self.counted.sum(axis=1)
        with np.errstate(invalid="ignore"):
            means = np.asarray(ExactSums.of(self.values.T).rounded() / num_queries)
        deviations = np.where(self.counted, self.values - means[:, None], 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # a measure of one's own may have any size
            squares = ExactSums.of((deviations**2).T)
        return Totals(
            self.a,
            self.b,
            self.is_signs,
            num_queries=num_queries,
            wins=(self.values > 0).sum(axis=1) + won,
            losses=(self.values < 0).sum(axis=1) + lost,
            means=means,
            squares=squares,
            lowest=np.min(self.values, axis=1, where=self.counted, initial=np.inf),
            highest=np.max(self.values, axis=1, where=self.counted, initial=-np.inf),
            smallest=np.min(np.abs(self.values), axis=1, where=self.values != 0, initial=np.inf),
            moments=Moments.of(self.values),
            num_one_sided=won + lost,
            num_without=(unsized == 0).sum(axis=1),
            is_steady=self.is_steady,
        )

    @property
    def total_queries(self) -> int:
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
        unsized = self.unsized if self.unsized is None else self.unsized[:, queries]
        return replace(self, values=self.values[:, queries], counted=self.counted[:, queries], unsized=unsized)

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
    return replace(known, **{part.name: _rows(getattr(known, part.name), pairs) for part in fields(known)})


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
    columns = {part.name: [getattr(portion, part.name) for portion in portions] for part in fields(first)}
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

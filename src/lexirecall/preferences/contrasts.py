"""Contrasts: how any two runs compare on every query, computed for the pairs that are asked for.

Belongs here: comparing some pairs at a time, or some queries at a time, without holding every pair on every query.
Not here: how rankings are compared (`orders`, `by_level`), all pairs held at once (`pairs`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import is_equal
from lexirecall.preferences.by_level import PairBlock, blocks_of_queries
from lexirecall.preferences.pairs import Pairs, SignArray

Blocks = Iterable[PairBlock]

_AT_A_TIME = 2**14  # differences that are computed together, few enough for the cache

SMALLEST = 5e-324
"""The smallest positive float: the size of a difference that is not 0 but smaller than any float."""


@runtime_checkable
class PairPreferences(Protocol):
    """Preferences that can be computed for some pairs as well as, again and again, in blocks of queries."""

    def __iter__(self) -> Iterator[PairBlock]: ...

    def between(self, a: IntArray, b: IntArray) -> Any:
        """Compare the runs a with the runs b, [P, Q]."""


@dataclass(frozen=True, slots=True)
class RankSigns:
    """The preferences that follow from what runs are worth on each query, [S, Q]."""

    worth: npt.NDArray[np.int32]

    def __iter__(self) -> Iterator[PairBlock]:
        for queries in _blocks(self.worth):
            worth = self.worth[:, queries]
            yield queries, _signs(worth[:, None], worth[None, :])

    def between(self, a: IntArray, b: IntArray) -> SignArray:
        """Compare the runs a with the runs b, [P, Q]."""
        return _signs(self.worth[a], self.worth[b])


def signs_of_ranks(ranks: IntArray) -> RankSigns:
    """Give the preferences that follow from a total order; the smaller rank is better.

    >>> signs_of_ranks(np.array([[0, 1], [1, 1]])).between(np.array([0]), np.array([1])).tolist()
    [[1, 0]]
    """
    return RankSigns(-ranks.astype(np.int32))


@dataclass(frozen=True)
class ValueDifferences:
    """Values of a measure less those of other runs, where more is better; infinite if one is undefined."""

    values: FloatArray
    """[S, Q]; -inf where undefined."""
    order: FloatArray | None
    """What tells values apart that floats cannot, [S, Q]; None if nothing does."""

    @cached_property
    def _is_finer(self) -> BoolArray:
        """On which queries the order tells more runs apart than the values do, [Q]."""
        if self.order is None:
            return np.zeros(self.values.shape[1], bool)
        return np.asarray(_num_different(self.order) > _num_different(self.values))

    def __iter__(self) -> Iterator[PairBlock]:
        for queries in _blocks(self.values):
            values, order = self.values[:, queries], None if self.order is None else self.order[:, queries]
            signs = None if order is None else lambda order=order: _signs(order[:, None], order[None, :])
            yield queries, _less(values[:, None], values[None, :], signs, self._is_finer[queries])

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Compare the runs a with the runs b, [P, Q]."""
        differences, order = np.empty((len(a), self.values.shape[1])), self.order
        size = max(1, _AT_A_TIME // max(1, self.values.shape[1]))
        for start in range(0, len(a), size):
            x, y = a[start : start + size], b[start : start + size]
            signs = None if order is None else lambda x=x, y=y, order=order: _signs(order[x], order[y])
            differences[start : start + size] = _less(self.values[x], self.values[y], signs, self._is_finer)
        return differences


def _less(x: FloatArray, y: FloatArray, order: Callable[[], SignArray] | None, is_finer: BoolArray) -> FloatArray:
    """Return x - y, 0 where they count as equal, or the smallest float where only their order tells them apart."""
    with np.errstate(invalid="ignore"):  # both are infinite, and equal
        differences = np.asarray(x - y)
    differences[is_equal(x, y)] = 0
    if order is not None and is_finer.any():
        signs = order()
        np.copyto(differences, np.copysign(SMALLEST, signs), where=(differences == 0) & (signs != 0) & is_finer)
    return differences


def _num_different(values: FloatArray) -> IntArray:
    """Count the different values of each query, [Q]; values that count as equal are one."""
    ascending = np.sort(values, axis=0)
    return np.asarray(np.count_nonzero(~is_equal(ascending[1:], ascending[:-1]), axis=0))


def _signs(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> SignArray:
    """Tell which of two is worth more: 1 the first, -1 the second, 0 neither."""
    return np.asarray(np.greater(x, y).view(np.int8) - np.less(x, y).view(np.int8))


def _blocks(table: npt.NDArray[Any]) -> Iterator[IntArray]:
    num_runs, num_queries = table.shape
    return blocks_of_queries(num_runs, np.ones(num_queries, np.int64))


@dataclass(frozen=True, slots=True)
class _WholeBlocks:
    """The preferences of a row that gives its blocks once: every pair on every query."""

    values: npt.NDArray[Any]
    """[S, S, Q]."""

    def __iter__(self) -> Iterator[PairBlock]:
        yield from ((queries, self.values[:, :, queries]) for queries in _blocks(self.values[:, 0]))

    def between(self, a: IntArray, b: IntArray) -> npt.NDArray[Any]:
        return np.asarray(self.values[a, b])


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Preferences between S runs on Q queries; what `Pairs` holds, a part at a time.

    >>> from lexirecall import project, parse_preference
    >>> runs = {"x": {"q": ["a", "b"], "r": ["a"]}, "y": {"q": ["b", "z", "a"], "r": ["a"]}}
    >>> positions = project({"q": {"a": 1, "b": 1}, "r": {"a": 1}}, runs)
    >>> contrasts = parse_preference("LexiRecall").contrasts(positions.at_level(1))
    >>> contrasts.between(np.array([0, 1]), np.array([1, 0])).tolist(), contrasts.wins.tolist()
    ([[1, 0], [-1, 0]], [[0, 1], [0, 0]])
    """

    preference: str
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    compared: PairPreferences
    taking_part: BoolArray
    """Which runs are compared on which queries, [S, Q]; the others have the value 0 and are not counted."""
    is_sized: bool
    chosen: IntArray
    """Which of the queries that `compared` knows these are, [Q]."""
    num_known: int
    """How many it knows."""
    has_size: BoolArray
    """Which runs have a value, so that the size of a difference means something, [S, Q]; of signs, all."""
    is_steady: bool = True
    """Whether tests and intervals suit the mean of sizes."""

    @classmethod
    def of(
        cls,
        preference: str,
        runs: tuple[str, ...],
        queries: tuple[str, ...],
        compared: Blocks,
        taking_part: BoolArray,
        *,
        is_sized: bool,
        has_size: BoolArray | None = None,
        is_steady: bool = True,
    ) -> "Contrasts":
        """Take preferences in blocks of queries; those that are not also given by pair are kept."""
        if not isinstance(compared, PairPreferences):
            num_runs, num_queries = taking_part.shape
            values = np.zeros((num_runs, num_runs, num_queries), np.float64 if is_sized else np.int8)
            for these, block in compared:
                values[:, :, these] = block
            compared = _WholeBlocks(values)
        every = np.arange(len(queries))
        has_size = taking_part if has_size is None else has_size & taking_part
        return cls(
            preference=preference, runs=runs, queries=queries, compared=compared, taking_part=taking_part,
            is_sized=is_sized, chosen=every, num_known=len(every), has_size=has_size, is_steady=is_steady,
        )  # fmt: skip

    @property
    def dtype(self) -> type:
        """Of the preferences: signs, or sizes."""
        return np.float64 if self.is_sized else np.int8

    @cached_property
    def _places(self) -> IntArray:
        """Where each of the queries that `compared` knows is among these; -1 if it is not."""
        places = np.full(self.num_known, -1)
        places[self.chosen] = np.arange(len(self.chosen))
        return places

    def on(self, queries: IntArray) -> "Contrasts":
        """Return the preferences on some of the queries."""
        names = tuple(self.queries[q] for q in queries.tolist())
        among, has_size = self.taking_part[:, queries], self.has_size[:, queries]
        return replace(self, queries=names, taking_part=among, chosen=self.chosen[queries], has_size=has_size)

    def counted(self, a: IntArray, b: IntArray) -> BoolArray:
        """Tell on which queries the runs a are compared with the runs b, [P, Q]."""
        return self.taking_part[a] & self.taking_part[b]

    def measured(self, a: IntArray, b: IntArray) -> BoolArray:
        """Tell on which queries the difference of the runs a and b has a size, [P, Q]."""
        return self.has_size[a] & self.has_size[b]

    def between(self, a: IntArray, b: IntArray) -> npt.NDArray[Any]:
        """Compare the runs a with the runs b, [P, Q]: positive where a is preferred; infinite without a size."""
        values = self.compared.between(a, b)
        if len(self.chosen) != self.num_known:
            values = values[:, self.chosen]
        return np.where(self.counted(a, b), values, 0).astype(self.dtype, copy=False)

    def against(self, run: int) -> npt.NDArray[Any]:
        """Return the preferences for one run over each of the others, [S, Q]."""
        others = np.arange(len(self.runs))
        return self.between(np.full(len(others), run), others)

    def blocks(self) -> Iterator[PairBlock]:
        """Compare every pair, [S, S, queries], some queries at a time."""
        for queries, block in self.compared:
            at = self._places[queries]
            is_chosen = at >= 0
            these, values = at[is_chosen], block if is_chosen.all() else block[:, :, is_chosen]
            both = self.taking_part[:, None, these] & self.taking_part[None, :, these]
            yield these, np.where(both, values, 0)

    def held(self) -> Pairs:
        """Compare every pair on every query, and hold all that comes out, [S, S, Q]."""
        num_runs, num_queries = self.taking_part.shape
        values: npt.NDArray[Any] = np.zeros((num_runs, num_runs, num_queries), self.dtype)
        for queries, block in self.blocks():
            values[:, :, queries] = block
        return Pairs(
            preference=self.preference, runs=self.runs, queries=self.queries, values=values,
            taking_part=self.taking_part, has_size=self.has_size,
        )  # fmt: skip

    @property
    def num_queries(self) -> IntArray:
        """On how many queries two runs are compared, [S, S]."""
        both = self.taking_part.astype(np.int64)
        return np.asarray(both @ both.T)

    @cached_property
    def wins(self) -> IntArray:
        """On how many queries the first run is preferred, [S, S]."""
        wins = np.zeros((len(self.runs), len(self.runs)), np.int64)
        for _, block in self.blocks():
            wins += np.count_nonzero(block > 0, axis=2)
        return wins

"""Pairs: the result of comparing each pair of runs on every query.

Belongs here: counting and averaging preferences. Not here: how rankings are compared.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lexirecall.equality import FieldEquality
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.preferences.by_level import PairBlock, blocks_of_queries
from lexirecall.sums import ExactSums

SignArray = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Pairs(FieldEquality):
    """Preferences of S runs × S runs × Q queries.

    >>> from lexirecall import project, parse_preference
    >>> runs = {"x": {"q": ["a", "b"], "r": ["a"]}, "y": {"q": ["b", "z", "a"], "r": ["a"]}}
    >>> positions = project({"q": {"a": 1, "b": 1}, "r": {"a": 1}}, runs)
    >>> pairs = parse_preference("LexiRecall").pairs(positions.at_level(1))
    >>> pairs.values[0, 1].tolist(), int(pairs.wins[0, 1]), int(pairs.ties[0, 1]), int(pairs.losses[0, 1])
    ([1, 0], 1, 1, 0)
    """

    preference: str
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    values: npt.NDArray[np.int8] | FloatArray
    """Positive where the first run is preferred: signs, or sizes where the preference has them."""
    taking_part: BoolArray
    """Which runs are compared on which queries, [S, Q]; the others have the value 0 and are not counted."""
    has_size: BoolArray | None = None
    """Which runs have a value, [S, Q]; without one, sizes are infinite and left out of means. None if all have."""

    def blocks(self) -> Iterator[PairBlock]:
        """Give every pair, [S, S, queries], some queries at a time."""
        num_runs, num_queries = self.taking_part.shape
        for queries in blocks_of_queries(num_runs, np.ones(num_queries, np.int64)):
            yield queries, self.values[:, :, queries]

    def against(self, run: int) -> npt.NDArray[np.int8] | FloatArray:
        """Return the preferences for one run over each of the others, [S, Q]."""
        return np.asarray(self.values[run])

    def on(self, queries: IntArray) -> "Pairs":
        """Return the preferences on some of the queries."""
        names = tuple(self.queries[q] for q in queries.tolist())
        among, has_size = self.taking_part[:, queries], None if self.has_size is None else self.has_size[:, queries]
        return replace(self, queries=names, values=self.values[:, :, queries], taking_part=among, has_size=has_size)

    @property
    def signs(self) -> SignArray:
        """Which run is preferred, [S, S, Q]: 1 the first, -1 the second, 0 neither."""
        return np.sign(self.values).astype(np.int8)

    @property
    def num_queries(self) -> IntArray:
        """On how many queries two runs are compared, [S, S]."""
        both = self.taking_part.astype(np.int64)
        return np.asarray(both @ both.T)

    @property
    def wins(self) -> IntArray:
        """On how many queries the first run is preferred, [S, S]."""
        return np.asarray(np.count_nonzero(self.values > 0, axis=2))

    @property
    def losses(self) -> IntArray:
        """On how many queries the second run is preferred, [S, S]."""
        return self.wins.T

    @property
    def ties(self) -> IntArray:
        """On how many queries neither run is preferred, [S, S]."""
        wins = self.wins
        return self.num_queries - wins - wins.T

    @property
    def means(self) -> FloatArray:
        """The mean preference for the first run, [S, S]; nan where two runs are compared on no query."""
        has_size = self.taking_part if self.has_size is None else self.has_size
        sizes = np.where(has_size[:, None] & has_size[None, :], self.values, 0).astype(float)
        numbers = has_size.astype(np.int64) @ has_size.T.astype(np.int64)
        with np.errstate(invalid="ignore"):
            return np.asarray(ExactSums.of(sizes.transpose(2, 0, 1)).rounded() / numbers)


def win_rates(blocks: Iterable[PairBlock], taking_part: BoolArray) -> FloatArray:
    """Return (wins + ties/2)/(S - 1) of each run on each query, [S, Q], over the runs that take part.

    nan where a run does not take part, or no other run does. On a query in no block all runs tie.
    """
    num_others = taking_part.sum(axis=0) - 1
    balance = np.zeros(taking_part.shape)
    for queries, values in blocks:
        both = taking_part[:, None, queries] & taking_part[None, :, queries]
        balance[:, queries] = (np.sign(values) * both).sum(axis=1)
    counted = taking_part & (num_others > 0)
    return np.where(counted, 0.5 + balance / (2 * np.maximum(num_others, 1)), np.nan)

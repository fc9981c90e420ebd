"""Resampling: other samples of the queries and runs, and how far a number moves from one to the other.

Belongs here: the samples of one collection, with and without replacement, the sums over them, and intervals of what
they give. Not here: how queries are drawn with replacement (statistics.bootstrap), what is summed.

Runs are drawn by teams, because those of one team are alike. A run that is drawn twice makes no pair with its copy.

Random numbers come from the raw bits of a named generator, which numpy promises never to change. What is summed for
counts are whole numbers, so the sums are exact in floats and the same for blocks of any size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.meta.conclusions import blocks_of_samples
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.bootstrap import percentile_interval, resampled_counts

NUM_RESAMPLES = 1000
FEWEST_TEAMS = 8
"""With fewer, runs stay as they are, and what is said is about these runs."""
_STREAM = 7  # keeps the drawn queries apart from the labels that are removed with the same seed


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Resamples of queries with replacement, the same ones for everything that is asked of a collection."""

    queries: BoolArray
    """The queries to draw from, [Q]."""
    seed: int = 0
    alpha: float = 0.05
    num_resamples: int = NUM_RESAMPLES
    teams: IntArray | None = None
    """The team of each run, as a number from 0 on, [S]."""

    @property
    def over(self) -> str:
        """What is drawn for a contrast between measures.

        >>> [Bootstrap(np.ones(9, bool), teams=np.arange(9) // size).over for size in (1, 2)]
        ['queries and runs', 'queries']
        """
        if self.teams is None or self.teams.max() + 1 < FEWEST_TEAMS:
            return "queries"
        return f"queries and {'runs' if self.teams.max() + 1 == len(self.teams) else 'teams'}"

    @property
    def num_queries(self) -> int:
        """How many queries are drawn in each resample."""
        return int(np.count_nonzero(self.queries))

    @property
    def is_possible(self) -> bool:
        """Whether there are enough queries for an interval: with fewer, not even the sign test could reject.

        >>> [Bootstrap(np.ones(n, bool)).is_possible for n in (1, 5, 6)]
        [False, False, True]
        """
        return least_attainable("sign", self.num_queries, alpha=self.alpha).is_possible

    def blocks(self) -> Iterator[FloatArray]:
        """Give how often each query is drawn, [resamples of a block, queries to draw from]."""
        return resampled_counts(self.num_queries, self.num_resamples, (self.seed, _STREAM))

    def sums(self, numbers: FloatArray) -> FloatArray:
        """Add up each column over the queries of each resample, from [Q, columns] to [resamples, columns].

        >>> made = Bootstrap(np.array([True, False]), num_resamples=3)
        >>> made.sums(np.array([[2.0], [5.0]])).ravel().tolist()
        [2.0, 2.0, 2.0]
        """
        among = numbers[self.queries]
        return np.concatenate([counts @ among for counts in self.blocks()])

    def runs(self) -> npt.NDArray[np.float32] | None:
        """Return how often each run is drawn in each resample, [S, resamples]; None if runs are not drawn."""
        if self.teams is None or self.over == "queries":
            return None
        drawn = resampled_counts(int(self.teams.max()) + 1, self.num_resamples, (self.seed, _STREAM + 2))
        return np.concatenate([*drawn])[:, self.teams].T.astype(np.float32)

    def pooled(self, counts: Sequence[npt.NDArray[Any]]) -> FloatArray:
        """Add up numbers of each pair of runs on each query, [P, Q] each, over what is drawn: [resamples, counts].

        >>> made = Bootstrap(np.ones(6, bool), num_resamples=2, teams=np.arange(8))
        >>> (made.pooled([np.ones((28, 6))])[:, 0] / 6).tolist() == [pairs_of(each).sum() for each in made.runs().T]
        True
        """
        runs = self.runs()
        drawn = np.concatenate([block.T.astype(np.float32) for block in self.blocks()], axis=1)
        sums = np.empty((self.num_resamples, len(counts)))
        for block in blocks_of_samples(self.num_resamples, 0 if runs is None else len(runs)):
            pairs = np.float32(1) if runs is None else pairs_of(runs[:, block])
            for i, count in enumerate(counts):  # whole and small numbers: their sums are exact
                of_pairs = count[:, self.queries].astype(np.float32) @ drawn[:, block] * pairs
                sums[block, i] = of_pairs.sum(axis=0, dtype=float)
        return sums

    def reach(self, values: FloatArray) -> FloatArray:
        """Return how far the interval of a number reaches if resamples are biased but have the right spread: z sd.

        >>> Bootstrap(np.ones(9, bool)).reach(np.array([[0.1], [0.3]])).round(4).tolist()
        [0.2772]
        """
        from scipy.special import ndtri

        if not self.is_possible:
            return np.full(values.shape[1:], np.nan)
        return np.asarray(-ndtri(self.alpha / 2) * values.std(axis=0, ddof=1))

    def intervals(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the percentile intervals of what the resamples give, along the first axis; nan if undefined.

        >>> low, high = Bootstrap(np.ones(9, bool)).intervals(np.arange(1.0, 100)[:, None])
        >>> low.tolist(), high.tolist()
        ([2.0], [98.0])
        """
        if not self.is_possible:
            nothing = np.full(values.shape[1:], np.nan)
            return nothing, nothing
        low, high = percentile_interval(values.reshape(len(values), -1).T, self.alpha)
        return low.reshape(values.shape[1:]), high.reshape(values.shape[1:])


def pairs_of(runs: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return how often each pair of runs is drawn, from how often each run is.

    >>> pairs_of(np.array([2.0, 1, 0])).tolist()
    [2.0, 0.0, 0.0]
    """
    # Without the diagonal: two copies of one run tie whatever the measure, and say nothing of it.
    a, b = np.triu_indices(len(runs), 1)
    return np.asarray(runs[a] * runs[b])


def query_orders(num_queries: int, num_samples: int, seed: int) -> IntArray:
    """Draw random orders of the queries, [samples, queries]: the first of them are a sample without replacement.

    >>> query_orders(4, 2, 0).tolist()
    [[3, 2, 0, 1], [0, 1, 3, 2]]
    """
    bits = np.random.PCG64([seed, _STREAM + 1])
    return np.argsort(bits.random_raw(num_samples * num_queries).reshape(num_samples, num_queries), axis=1)

"""Resampling: other samples of the requests, and how far a number moves from one to the other.

Belongs here: the samples of one collection, with and without replacement, the sums over them, and intervals of what
they give. Not here: how requests are drawn with replacement (statistics.bootstrap), what is summed.

Random numbers come from the raw bits of a named generator, which numpy promises never to change. What is summed for
counts are whole numbers, so the sums are exact in floats and the same for blocks of any size.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.bootstrap import percentile_interval, resampled_counts

NUM_RESAMPLES = 1000
_STREAM = 7  # keeps the drawn requests apart from the labels that are removed with the same seed


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Resamples of requests with replacement, the same ones for everything that is asked of a collection."""

    requests: BoolArray
    """The requests to draw from, [Q]."""
    seed: int = 0
    alpha: float = 0.05
    num_resamples: int = NUM_RESAMPLES

    @property
    def num_requests(self) -> int:
        """How many requests are drawn in each resample."""
        return int(np.count_nonzero(self.requests))

    @property
    def is_possible(self) -> bool:
        """Whether there are enough requests for an interval: with fewer, not even the sign test could reject.

        >>> [Bootstrap(np.ones(n, bool)).is_possible for n in (1, 5, 6)]
        [False, False, True]
        """
        return least_attainable("sign", self.num_requests, alpha=self.alpha).is_possible

    def blocks(self) -> Iterator[FloatArray]:
        """Give how often each request is drawn, [resamples of a block, requests to draw from]."""
        return resampled_counts(self.num_requests, self.num_resamples, (self.seed, _STREAM))

    def sums(self, numbers: FloatArray) -> FloatArray:
        """Add up each column over the requests of each resample, from [Q, columns] to [resamples, columns].

        >>> made = Bootstrap(np.array([True, False]), num_resamples=3)
        >>> made.sums(np.array([[2.0], [5.0]])).ravel().tolist()
        [2.0, 2.0, 2.0]
        """
        among = numbers[self.requests]
        return np.concatenate([counts @ among for counts in self.blocks()])

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


def request_orders(num_requests: int, num_samples: int, seed: int) -> IntArray:
    """Draw random orders of the requests, [samples, requests]: the first of them are a sample without replacement.

    >>> request_orders(4, 2, 0).tolist()
    [[3, 2, 0, 1], [0, 1, 3, 2]]
    """
    bits = np.random.PCG64([seed, _STREAM + 1])
    return np.argsort(bits.random_raw(num_samples * num_requests).reshape(num_samples, num_requests), axis=1)

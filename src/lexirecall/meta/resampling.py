"""Resampling: other samples of the requests, and how far a number moves from one to the other.

Belongs here: drawing requests with and without replacement, the sums over them, and intervals of what they give. Not
here: what is summed.

Random numbers come from the raw bits of a named generator, which numpy promises never to change. What is summed for
counts are whole numbers, so the sums are exact in floats and the same for blocks of any size.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray

NUM_RESAMPLES = 1000
_BLOCK = 2**22  # numbers drawn at once
_STREAM = 7  # keeps the drawn requests apart from the labels that are removed with the same seed


def can_differ(num_requests: int, alpha: float) -> bool:
    """Tell whether so many requests can show a difference: whether it is beyond chance that all point the same way.

    That chance is 2^(1 - n). A bootstrap of fewer requests would give an interval that is too short.

    >>> [can_differ(n, 0.05) for n in (1, 5, 6)]
    [False, False, True]
    """
    return 2.0 ** (1 - num_requests) < alpha


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
        """Whether there are enough requests for an interval."""
        return can_differ(self.num_requests, self.alpha)

    def blocks(self) -> Iterator[FloatArray]:
        """Give how often each request is drawn, [resamples of a block, requests to draw from]."""
        number = self.num_requests
        bits = np.random.PCG64([self.seed, _STREAM])
        size = max(1, _BLOCK // max(number, 1))
        for start in range(0, self.num_resamples, size):
            num_rows = min(size, self.num_resamples - start)
            raw = bits.random_raw(num_rows * number) >> np.uint64(32)
            # raw n / 2^32 favours some requests by n / 2^32 at most, which 1000 resamples cannot show
            drawn = (raw * np.uint64(number) >> np.uint64(32)).astype(np.int64)
            cells = drawn + number * np.repeat(np.arange(num_rows), number)
            yield np.bincount(cells, minlength=num_rows * number).reshape(num_rows, number).astype(float)

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
        """Return where the middle 1 - alpha of the resamples begins and ends, along the first axis; nan if undefined.

        >>> low, high = Bootstrap(np.ones(9, bool)).intervals(np.arange(101.0)[:, None])
        >>> low.tolist(), high.tolist()
        ([2.5], [97.5])
        """
        if not self.is_possible:
            nothing = np.full(values.shape[1:], np.nan)
            return nothing, nothing
        low, high = np.quantile(values, [self.alpha / 2, 1 - self.alpha / 2], axis=0)
        return low, high


def request_orders(num_requests: int, num_samples: int, seed: int) -> IntArray:
    """Draw random orders of the requests, [samples, requests]: the first of them are a sample without replacement.

    >>> request_orders(4, 2, 0).tolist()
    [[3, 2, 0, 1], [0, 1, 3, 2]]
    """
    bits = np.random.PCG64([seed, _STREAM + 1])
    return np.argsort(bits.random_raw(num_samples * num_requests).reshape(num_samples, num_requests), axis=1)

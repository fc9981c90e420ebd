"""Differences: every pair of systems, request by request, as the tests want them.

Belongs here: the one input of all tests of pairs, and its plain statistics.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.preferences import Pairs


@dataclass(frozen=True)
class Differences:
    """P pairs of systems × Q requests.

    >>> from lexirecall import parse_preference, project
    >>> runs = {"x": {"q": ["a", "b"], "r": ["a"]}, "y": {"q": ["b", "z", "a"], "r": ["z", "a"]}}
    >>> positions = project({"q": {"a": 1, "b": 1}, "r": {"a": 1}}, runs)
    >>> differences = Differences.of(parse_preference("LastRel").pairs(positions.at_level(1)))
    >>> differences.values.tolist(), differences.means.tolist(), differences.wins.tolist()
    ([[1.0, 1.0]], [1.0], [2])
    """

    a: IntArray
    """The first system of each pair, [P]."""
    b: IntArray
    """The second, which comes after it."""
    values: FloatArray
    """By how much the first is better on each request, [P, Q]; exactly 0 for a tie and where nothing is compared."""
    counted: BoolArray
    """Which requests are compared, [P, Q]."""
    is_signs: bool = False
    """Whether the values are -1, 0 and 1 only, by their nature."""

    @classmethod
    def of(cls, pairs: Pairs) -> "Differences":
        """Take each pair once, the earlier system first."""
        a, b = np.triu_indices(len(pairs.systems), 1)
        counted = pairs.taking_part[a] & pairs.taking_part[b]
        return cls(a, b, pairs.values[a, b].astype(float), counted, is_signs=pairs.values.dtype == np.int8)

    @cached_property
    def num_requests(self) -> IntArray:
        """On how many requests each pair is compared, [P]."""
        return np.asarray(self.counted.sum(axis=1))

    @cached_property
    def means(self) -> FloatArray:
        """The mean difference, [P]; nan where nothing is compared."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.values.sum(axis=1) / self.num_requests)

    @cached_property
    def deviations(self) -> FloatArray:
        """The sample standard deviation of the differences, [P]; nan below two requests, 0 if all are equal."""
        centered = np.where(self.counted, self.values - self.means[:, None], 0.0)
        highest = np.where(self.counted, self.values, -np.inf).max(axis=1, initial=-np.inf)
        is_constant = highest == np.where(self.counted, self.values, np.inf).min(axis=1, initial=np.inf)
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations = np.sqrt((centered**2).sum(axis=1) / (self.num_requests - 1))
        deviations[self.num_requests < 2] = np.nan
        return np.where(is_constant & (self.num_requests >= 2), 0.0, deviations)

    @cached_property
    def wins(self) -> IntArray:
        """On how many requests the first is better, [P]."""
        return np.asarray((self.values > 0).sum(axis=1))

    @cached_property
    def losses(self) -> IntArray:
        """On how many requests the second is better, [P]."""
        return np.asarray((self.values < 0).sum(axis=1))

    @cached_property
    def ties(self) -> IntArray:
        """On how many requests neither is better, [P]."""
        return self.num_requests - self.wins - self.losses

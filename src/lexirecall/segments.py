"""Segments: values of many rankings, or of many queries, in one array.

Belongs here: sums and counts within segments. Not here: what the values are (positions, measures).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray, counts_of, offsets_of


@dataclass(frozen=True, slots=True)
class Segments:
    """Values laid one segment behind the other; segment k lies at offsets[k]:offsets[k + 1]."""

    offsets: IntArray

    @property
    def sizes(self) -> IntArray:
        """How many values each segment has."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> IntArray:
        """For each value, the segment it belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.sizes)

    @property
    def ordinals(self) -> IntArray:
        """For each value, its place 1, 2, … within its segment.

        >>> Segments(np.array([0, 2, 2, 5])).ordinals.tolist()
        [1, 2, 1, 2, 3]
        """
        return np.arange(1, self.offsets[-1] + 1) - np.repeat(self.offsets[:-1], self.sizes)

    def sum(self, values: FloatArray | BoolArray) -> FloatArray:
        """Add up the values of each segment, one after the other as a loop would; an empty one gives 0.

        >>> Segments(np.array([0, 2, 2, 5])).sum(np.array([1.0, 2, 3, 4, 5])).tolist()
        [3.0, 0.0, 12.0]
        """
        return sums_of(values, self.owners, len(self.offsets) - 1)

    def accumulate(self, operation: np.ufunc, values: FloatArray) -> FloatArray:
        """Return, for each value, what the operation makes of those of its segment down to it, one after the other.

        >>> Segments(np.array([0, 3, 4])).accumulate(np.add, np.array([1.0, 2, 3, 4])).tolist()
        [1.0, 3.0, 6.0, 4.0]
        """
        ordinals = self.ordinals
        by_ordinal = np.argsort(ordinals, kind="stable")
        borders = np.searchsorted(ordinals[by_ordinal], np.arange(2, ordinals.max(initial=0) + 2))
        results = values.copy()
        for start, stop in pairwise(borders):
            at = by_ordinal[start:stop]
            results[at] = operation(results[at - 1], values[at])
        return results

    def filter(self, mask: BoolArray) -> "Segments":
        """Return the segments that remain when only the values under the mask are kept."""
        return Segments(offsets_of(counts_of(mask, self.offsets)))


def sums_of(values: FloatArray | IntArray | BoolArray, owners: IntArray, num_owners: int) -> FloatArray:
    """Add up the values of each owner in the order in which they come, so that the sums are those of a plain loop."""
    return np.asarray(np.bincount(owners, values, num_owners), float)


def occurrences(keys: IntArray) -> IntArray:
    """Count, for each key, how often it occurred before.

    >>> occurrences(np.array([7, 5, 7, 7, 5])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys))
    is_first = np.diff(keys[order], prepend=-1) != 0
    before = np.empty(len(keys), np.int64)
    before[order] = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return before

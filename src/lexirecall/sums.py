"""Sums: exact, in any order of the numbers.

Belongs here: adding up floats without loss. Not here: what is added up, and what the sums are divided by.

A rounded sum depends on the order of its terms. An exact one does not. It is held as a few floats, its parts, and
rounded once, at the end.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.reader import reader_in_use

_BLOCK = 2**16  # numbers at a time, few enough for the cache of a processor
_MANY = 2**10  # numbers from which the compiled kernel is worth its call
_NUM_PARTS = 4  # that it gives


@dataclass(frozen=True, slots=True, eq=False)
class ExactSums:
    """Exact sums, one for each cell of a table.

    >>> ExactSums.of(np.array([[1e16], [1.0], [1.0], [-1e16]])).rounded().tolist()
    [2.0]
    """

    parts: FloatArray
    """Floats that add up exactly to the sums, along the first axis, [K, …]; none if every sum is 0."""

    @classmethod
    def of(cls, numbers: FloatArray) -> "ExactSums":
        """Add up along the first axis."""
        cells = numbers.shape[1:]
        table = numbers.reshape(len(numbers), math.prod(cells))
        width = max(1, _BLOCK // max(1, len(numbers)))
        parts = np.zeros((0, table.shape[1]))
        for start in range(0, table.shape[1], width):
            for k, part in enumerate(_parts(table[:, start : start + width])):
                if k == len(parts):
                    parts = np.concatenate([parts, np.zeros((1, table.shape[1]))])
                parts[k, start : start + width] = part
        return cls(parts.reshape(len(parts), *cells))

    @classmethod
    def grouped(cls, numbers: FloatArray, groups: IntArray, num_groups: int) -> "ExactSums":
        """Add up the numbers of each group along the first axis, [num_groups, …].

        >>> ExactSums.grouped(np.array([0.5, 1.0, 2.0]), np.array([1, 0, 1]), 3).rounded().tolist()
        [1.0, 2.5, 0.0]
        """
        parts, rest = [], np.array(numbers, float)
        while rest.any():
            # What rounding took comes back out of order, and only neighbours of one group are added.
            order = np.argsort(groups, kind="stable")
            sums, which, rest, groups = _added_by_group(rest[order], groups[order])
            parts.append(np.zeros((num_groups, *numbers.shape[1:])))
            parts[-1][which] = sums
            # What an infinite sum lost is nan (inf - inf), which would make the sum nan too.
            rest[~np.isfinite(parts[-1][groups])] = 0.0
        return cls(np.array(parts).reshape(len(parts), num_groups, *numbers.shape[1:]))

    @classmethod
    def joined(cls, tables: Sequence["ExactSums"]) -> "ExactSums":
        """Put the cells of tables one after another, along the first axis of the cells.

        >>> ExactSums.joined([ExactSums.of(np.array([[1.0], [2.0]])), ExactSums.of(np.array([[4.0]]))]).rounded()
        array([3., 4.])
        """
        parts = np.zeros((max(len(table.parts) for table in tables), sum(table.parts.shape[1] for table in tables)))
        start = 0
        for table in tables:
            parts[: len(table.parts), start : start + table.parts.shape[1]] = table.parts
            start += table.parts.shape[1]
        return cls(parts)

    def rounded(self) -> FloatArray:
        """Return the float that is nearest to each sum."""
        if len(self.parts) <= 2:  # one rounding
            return np.asarray(self.parts.sum(axis=0))
        sums = np.asarray(self.parts[:2].sum(axis=0))
        for cell in np.argwhere(self.parts[2:].any(axis=0)):
            sums[tuple(cell)] = math.fsum(self.parts[:, *cell])
        return sums


def _parts(numbers: FloatArray) -> Iterator[FloatArray]:
    """Give floats with the same exact sums along the first axis; the first are nearly the sums, and so on."""
    if numbers.size >= _MANY and (known := _native_parts(numbers)) is not None:
        yield from known
        return
    rest = np.array(numbers, float)  # a copy in one piece
    while rest.any():
        sums, rest = _added(rest)
        rest[:, ~np.isfinite(sums)] = 0.0  # a sum that is too large for a float is infinite
        yield sums


def _native_parts(numbers: FloatArray) -> FloatArray | None:
    """Return the same from the compiled kernel; None without it, or if the numbers differ too much in size for it."""
    if reader_in_use() != "native":
        return None
    from lexirecall import _native

    rows = np.ascontiguousarray(numbers.T, float)
    parts = np.empty((_NUM_PARTS, len(rows)))
    if not _native.exact_sums(rows, len(rows), parts):
        return None
    return parts[: 1 + max(np.flatnonzero(parts.any(axis=1)), default=-1)]


def _added_by_group(numbers: FloatArray, groups: IntArray) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """Add neighbours of one group until there are none; return the sums, and what they lost, by group."""
    lost, groups_of_lost = [numbers[:0]], [groups[:0]]
    while len(left := _first_of_two(groups)):
        sums, error = _two_sum(numbers[left], numbers[left + 1])
        lost.append(error)
        groups_of_lost.append(groups[left])
        numbers[left] = sums
        is_kept = np.ones(len(groups), bool)
        is_kept[left + 1] = False
        numbers, groups = numbers[is_kept], groups[is_kept]
    return numbers, groups, np.concatenate(lost), np.concatenate(groups_of_lost)


def _first_of_two(groups: IntArray) -> IntArray:
    """Return the first, third, … of each group, unless it is the last: those with a next neighbour to add."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    places = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    is_first = (places % 2 == 0) & (np.append(groups[1:], -1) == groups)
    return np.flatnonzero(is_first)


def _added(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add one half to the other until one number is left; return the sums, and what rounding took from them."""
    lost, num_lost = np.empty((len(numbers) - 1, *numbers.shape[1:])), 0
    while len(numbers) > 1:
        half = len(numbers) // 2
        sums, error = _two_sum(numbers[:half], numbers[half : 2 * half])
        numbers = np.concatenate([sums, numbers[2 * half :]])
        lost[num_lost : num_lost + half] = error
        num_lost += half
    return numbers[0], lost


def _two_sum(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sums, and what rounding took from them.

    What it takes is a float (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B), and no more than a part in
    2^53 of the sum. So the sums of what it takes are soon 0.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        sums = x + y
        of_y = sums - x
        error = (x - (sums - of_y)) + (y - of_y)
    return sums, error

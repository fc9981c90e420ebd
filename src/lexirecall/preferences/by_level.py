"""Preferences that look at every pair: recall-paired preference, and lexicographic precision with a size.

Belongs here: comparing rankings level by level, in blocks of requests that bound the memory for any number of systems
and relevant items.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.positions import Projection
from lexirecall.preferences.orders import UNRETRIEVED
from lexirecall.preferences.weights import WEIGHTS

PairBlock = tuple[IntArray, FloatArray | npt.NDArray[np.int8]]
"""Some requests, and the preferences on them, [S, S, requests]: positive where the first system is preferred."""

SomePairs = tuple[IntArray, IntArray] | None
"""The pairs of systems to compare, [P] each; None for every pair, [S, S]."""

BUDGET = 2**21
"""How many numbers a block may hold."""


def blocks_of_requests(num_systems: int, num_levels: IntArray) -> Iterator[IntArray]:
    """Give the requests in blocks, few levels first, each with systems × requests × levels within bounds.

    >>> [block.tolist() for block in blocks_of_requests(1024, np.array([1, 2048, 1, 1]))]
    [[0, 2], [3], [1]]
    """
    order = np.argsort(num_levels, kind="stable")
    start = 0
    for stop in range(1, len(order) + 1):
        full = stop == len(order)
        width = max(num_systems, int(num_levels[order[stop]]) if not full else 0)
        if full or num_systems * width * (stop + 1 - start) > BUDGET:
            yield order[start:stop]
            start = stop


@dataclass(frozen=True, slots=True)
class ByLevel:
    """Preferences that are computed anew for the pairs that are asked for."""

    compare: Callable[[SomePairs], Iterator[PairBlock]]
    """From pairs to their preferences in blocks of requests, [P, requests], or [S, S, requests] of every pair."""
    num_requests: int

    def __iter__(self) -> Iterator[PairBlock]:
        return self.compare(None)

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Compare the systems a with the systems b, [P, Q]."""
        values = np.zeros((len(a), self.num_requests))
        for requests, block in self.compare((a, b)):
            values[:, requests] = block
        return values


def rpp(projection: Projection, weight: str, graded: bool) -> ByLevel:
    """Compare by recall-paired preference: sum_i w_i sign(q_i - p_i); the weights w of the m levels add up to 1.

    A level whose item neither ranking retrieved counts 0. Graded, it is the mean over the grades g of the request as
    thresholds, weighted by the number m_g of items that reach each.
    """
    compare = partial(_graded, projection, weight) if graded else partial(_at_levels, projection, weight)
    return ByLevel(compare, projection.source.shape[1])


def _at_levels(projection: Projection, weight: str, asked: SomePairs) -> Iterator[PairBlock]:
    return _pairwise(projection, weight, np.flatnonzero(projection.num_relevant), asked)


def _graded(projection: Projection, weight: str, asked: SomePairs) -> Iterator[PairBlock]:
    source = projection.source
    grades = source.judgments.grades
    request_of_item = np.repeat(np.arange(len(source.requests)), np.diff(source.judgments.offsets))
    num_systems, num_requests = source.shape
    cells = (num_systems, num_systems) if asked is None else (len(asked[0]),)
    sums, totals = np.zeros((*cells, num_requests)), np.zeros(num_requests)
    for grade in np.unique(grades[grades > 0]):
        at_grade = source.at_level(grade)
        having = np.unique(request_of_item[grades == grade])
        totals[having] += at_grade.num_relevant[having]
        for requests, values in _pairwise(at_grade, weight, having, asked):
            sums[..., requests] += at_grade.num_relevant[requests] * values
    requests = np.flatnonzero(totals)
    yield requests, _without_noise(sums[..., requests] / totals[requests])


def _pairwise(projection: Projection, weight: str, requests: IntArray, asked: SomePairs) -> Iterator[PairBlock]:
    for block in _padded_blocks(projection, requests):
        levels = np.arange(1, block.positions.shape[2] + 1)
        terms = WEIGHTS[weight](levels)
        totals = np.cumsum(WEIGHTS[weight](np.arange(1, block.num_relevant.max() + 1)))
        weights = terms * (levels <= block.num_relevant[:, None]) / totals[block.num_relevant - 1, None]

        def compare(x: IntArray, others: IntArray, weights: FloatArray = weights) -> FloatArray:
            signs = np.less(x, others).view(np.int8) - np.greater(x, others).view(np.int8)
            return np.asarray(np.einsum("bqi,qi->bq", signs, weights))

        yield block.requests, _without_noise(_compared(block.positions, compare, asked))


def sized_lexiprecision(projection: Projection) -> ByLevel:
    """Compare by 1/p_i - 1/q_i at the first level i where the rankings differ; 1/p is 0 for a missing item."""
    return ByLevel(partial(_at_first_difference, projection), projection.source.shape[1])


def _at_first_difference(projection: Projection, asked: SomePairs) -> Iterator[PairBlock]:
    for block in _padded_blocks(projection, np.flatnonzero(projection.num_relevant)):

        def compare(x: IntArray, others: IntArray) -> FloatArray:
            first = np.argmax(x != others, axis=2)[:, :, None]
            mine = np.take_along_axis(np.broadcast_to(x, others.shape), first, axis=2)[:, :, 0]
            return _reciprocal(mine) - _reciprocal(np.take_along_axis(others, first, axis=2)[:, :, 0])

        yield block.requests, _compared(block.positions, compare, asked)


def _reciprocal(positions: IntArray) -> FloatArray:
    return np.where(positions == UNRETRIEVED, 0.0, 1 / positions)


def _without_noise(values: FloatArray) -> FloatArray:
    """Make exact ties 0: weights such as 1/2 and 1/3 + 1/6 are equal, but their floats may not be."""
    values[np.abs(values) <= TOLERANCE] = 0
    return values


def _compared(positions: IntArray, compare: Callable[[IntArray, IntArray], FloatArray], asked: SomePairs) -> FloatArray:
    """Compare the pairs that are asked for, [P, requests], or every pair, [S, S, requests]."""
    if asked is None:
        return _antisymmetric(positions, compare)
    (a, b), (_, num_requests, num_levels) = asked, positions.shape
    values = np.zeros((len(a), num_requests))
    size = max(1, BUDGET // max(1, num_requests * num_levels))
    for start in range(0, len(a), size):
        part = slice(start, start + size)
        values[part] = compare(positions[a[part]], positions[b[part]])
    return values


def _antisymmetric(positions: IntArray, compare: Callable[[IntArray, IntArray], FloatArray]) -> FloatArray:
    """Compare each system with those after it, [S, S, requests]; p(y, x) = -p(x, y)."""
    num_systems, num_requests, _ = positions.shape
    values = np.zeros((num_systems, num_systems, num_requests))
    for s in range(num_systems - 1):
        values[s, s + 1 :] = compare(positions[s], positions[s + 1 :])
        values[s + 1 :, s] = -values[s, s + 1 :]
    return values


@dataclass(frozen=True, slots=True)
class _PaddedBlock:
    """Some requests' positions, [S, requests, levels], padded with UNRETRIEVED to one length."""

    requests: IntArray
    num_relevant: IntArray
    positions: IntArray


def _padded_blocks(projection: Projection, requests: IntArray) -> Iterator[_PaddedBlock]:
    """Lay out positions down to the last level that any system reaches."""
    num_systems, num_requests = projection.source.shape
    sizes = projection.found.segments.sizes.reshape(num_systems, num_requests)
    num_levels = np.maximum(sizes.max(axis=0), 1)
    starts = projection.found.segments.offsets[:-1].reshape(num_systems, num_requests)
    for chosen in blocks_of_requests(num_systems, num_levels[requests]):
        block = requests[chosen]
        levels = np.arange(num_levels[block].max())
        is_found = levels < sizes[:, block, None]
        positions = np.full(is_found.shape, UNRETRIEVED)
        positions[is_found] = projection.found.positions[(starts[:, block, None] + levels)[is_found]]
        yield _PaddedBlock(block, projection.num_relevant[block], positions)

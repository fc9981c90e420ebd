"""Preferences that look at every pair: recall-paired preference, and lexicographic precision with a size.

Belongs here: comparing rankings level by level, in blocks of queries that bound the memory for any number of runs
and relevant documents.
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
"""Some queries, and the preferences on them, [S, S, queries]: positive where the first run is preferred."""

SomePairs = tuple[IntArray, IntArray] | None
"""The pairs of runs to compare, [P] each; None for every pair, [S, S]."""

BUDGET = 2**21
"""How many numbers a block may hold."""


def blocks_of_queries(num_runs: int, num_levels: IntArray) -> Iterator[IntArray]:
    """Give the queries in blocks, few levels first, each with runs × queries × levels within bounds.

    >>> [block.tolist() for block in blocks_of_queries(1024, np.array([1, 2048, 1, 1]))]
    [[0, 2], [3], [1]]
    """
    order = np.argsort(num_levels, kind="stable")
    start = 0
    for stop in range(1, len(order) + 1):
        full = stop == len(order)
        width = max(num_runs, int(num_levels[order[stop]]) if not full else 0)
        if full or num_runs * width * (stop + 1 - start) > BUDGET:
            yield order[start:stop]
            start = stop


@dataclass(frozen=True, slots=True)
class LevelPreferences:
    """Preferences that are computed anew for the pairs that are asked for."""

    compare: Callable[[SomePairs], Iterator[PairBlock]]
    """From pairs to their preferences in blocks of queries, [P, queries], or [S, S, queries] of every pair."""
    num_queries: int

    def __iter__(self) -> Iterator[PairBlock]:
        return self.compare(None)

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Compare the runs a with the runs b, [P, Q]."""
        values = np.zeros((len(a), self.num_queries))
        for queries, block in self.compare((a, b)):
            values[:, queries] = block
        return values


def rpp(projection: Projection, weight: str, graded: bool) -> LevelPreferences:
    """Compare by recall-paired preference: sum_i w_i sign(q_i - p_i); the weights w of the m levels add up to 1.

    A level whose document neither ranking retrieved counts 0. Graded, it is the mean over the grades g of the query as
    thresholds, weighted by the number m_g of documents that reach each.
    """
    compare = partial(_graded, projection, weight) if graded else partial(_at_levels, projection, weight)
    return LevelPreferences(compare, projection.source.shape[1])


def _at_levels(projection: Projection, weight: str, asked: SomePairs) -> Iterator[PairBlock]:
    return _pairwise(projection, weight, np.flatnonzero(projection.num_relevant), asked)


def _graded(projection: Projection, weight: str, asked: SomePairs) -> Iterator[PairBlock]:
    source = projection.source
    grades = source.judgments.grades
    query_of_document = np.repeat(np.arange(len(source.queries)), np.diff(source.judgments.offsets))
    num_runs, num_queries = source.shape
    cells = (num_runs, num_runs) if asked is None else (len(asked[0]),)
    sums, totals = np.zeros((*cells, num_queries)), np.zeros(num_queries)
    for grade in np.unique(grades[grades > 0]):
        at_grade = source.at_level(grade)
        having = np.unique(query_of_document[grades == grade])
        totals[having] += at_grade.num_relevant[having]
        for queries, values in _pairwise(at_grade, weight, having, asked):
            sums[..., queries] += at_grade.num_relevant[queries] * values
    queries = np.flatnonzero(totals)
    yield queries, _without_noise(sums[..., queries] / totals[queries])


def _pairwise(projection: Projection, weight: str, queries: IntArray, asked: SomePairs) -> Iterator[PairBlock]:
    for block in _padded_blocks(projection, queries):
        levels = np.arange(1, block.positions.shape[2] + 1)
        terms = WEIGHTS[weight](levels)
        # Levels that no run reaches tie and are not laid out, but weights add up to 1 over all m levels.
        totals = np.cumsum(WEIGHTS[weight](np.arange(1, block.num_relevant.max() + 1)))
        weights = terms * (levels <= block.num_relevant[:, None]) / totals[block.num_relevant - 1, None]

        def compare(x: IntArray, others: IntArray, weights: FloatArray = weights) -> FloatArray:
            signs = np.less(x, others).view(np.int8) - np.greater(x, others).view(np.int8)
            return np.asarray(np.einsum("bqi,qi->bq", signs, weights))

        yield block.queries, _without_noise(_compared(block.positions, compare, asked))


def sized_lexiprecision(projection: Projection) -> LevelPreferences:
    """Compare by 1/p_i - 1/q_i at the first level i where the rankings differ; 1/p is 0 for a missing document."""
    return LevelPreferences(partial(_at_first_difference, projection), projection.source.shape[1])


def _at_first_difference(projection: Projection, asked: SomePairs) -> Iterator[PairBlock]:
    for block in _padded_blocks(projection, np.flatnonzero(projection.num_relevant)):

        def compare(x: IntArray, others: IntArray) -> FloatArray:
            first = np.argmax(x != others, axis=2)[:, :, None]
            mine = np.take_along_axis(np.broadcast_to(x, others.shape), first, axis=2)[:, :, 0]
            return _reciprocal(mine) - _reciprocal(np.take_along_axis(others, first, axis=2)[:, :, 0])

        yield block.queries, _compared(block.positions, compare, asked)


def _reciprocal(positions: IntArray) -> FloatArray:
    return np.where(positions == UNRETRIEVED, 0.0, 1 / positions)


def _without_noise(values: FloatArray) -> FloatArray:
    """Make exact ties 0: weights such as 1/2 and 1/3 + 1/6 are equal, but their floats may not be."""
    values[np.abs(values) <= TOLERANCE] = 0
    return values


def _compared(positions: IntArray, compare: Callable[[IntArray, IntArray], FloatArray], asked: SomePairs) -> FloatArray:
    """Compare the pairs that are asked for, [P, queries], or every pair, [S, S, queries]."""
    if asked is None:
        return _antisymmetric(positions, compare)
    (a, b), (_, num_queries, num_levels) = asked, positions.shape
    values = np.zeros((len(a), num_queries))
    size = max(1, BUDGET // max(1, num_queries * num_levels))
    for start in range(0, len(a), size):
        part = slice(start, start + size)
        values[part] = compare(positions[a[part]], positions[b[part]])
    return values


def _antisymmetric(positions: IntArray, compare: Callable[[IntArray, IntArray], FloatArray]) -> FloatArray:
    """Compare each run with those after it, [S, S, queries]; p(y, x) = -p(x, y)."""
    num_runs, num_queries, _ = positions.shape
    values = np.zeros((num_runs, num_runs, num_queries))
    for s in range(num_runs - 1):
        values[s, s + 1 :] = compare(positions[s], positions[s + 1 :])
        values[s + 1 :, s] = -values[s, s + 1 :]
    return values


@dataclass(frozen=True, slots=True)
class _PaddedBlock:
    """Some queries' positions, [S, queries, levels], padded with UNRETRIEVED to one length."""

    queries: IntArray
    num_relevant: IntArray
    positions: IntArray


def _padded_blocks(projection: Projection, queries: IntArray) -> Iterator[_PaddedBlock]:
    """Lay out positions down to the last level that any run reaches."""
    num_runs, num_queries = projection.source.shape
    sizes = projection.found.segments.sizes.reshape(num_runs, num_queries)
    num_levels = np.maximum(sizes.max(axis=0), 1)
    starts = projection.found.segments.offsets[:-1].reshape(num_runs, num_queries)
    for chosen in blocks_of_queries(num_runs, num_levels[queries]):
        block = queries[chosen]
        levels = np.arange(num_levels[block].max())
        is_found = levels < sizes[:, block, None]
        positions = np.full(is_found.shape, UNRETRIEVED)
        positions[is_found] = projection.found.positions[(starts[:, block, None] + levels)[is_found]]
        yield _PaddedBlock(block, projection.num_relevant[block], positions)

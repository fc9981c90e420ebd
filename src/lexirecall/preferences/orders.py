"""Total orders of rankings: lexicographic comparison of positions, from the last relevant document or from the first.

Belongs here: putting all rankings of all queries in order at once.

The rankings of a query that are equal so far form a group. A step sorts every group by the next position and splits
it. A ranking that is alone in its group is done; most are after two or three steps. So there are far fewer than
runs² comparisons. Equal rankings stay together: ties are ties.
"""

from collections.abc import Iterator

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.positions import Projection, kept_order

UNRETRIEVED = np.iinfo(np.int64).max
"""The position of what was not retrieved: below everything that was."""


@kept_order
def lexirecall_ranks(projection: Projection) -> IntArray:
    """Rank the runs on each query by LexiRecall, [S, Q]: how many are strictly better.

    The number of relevant documents retrieved decides first. Where it is the same, the deepest position that differs
    does.

    >>> lexirecall_ranks(Projection.of_vectors([[2, 4, 9], [1, 5, 9], [1, 2], [2, 4, 9]])).ravel().tolist()
    [0, 2, 3, 0]
    """
    num_found = projection.found.segments.sizes

    def steps() -> Iterator[tuple[IntArray, BoolArray]]:
        yield -num_found, num_found > 0
        last = projection.found.segments.offsets[1:] - 1
        for above in range(int(num_found.max(initial=0))):
            has_position = num_found > above
            yield _at(projection, last - above, has_position), num_found > above + 1

    return _ranks(projection, steps())


@kept_order
def lexiprecision_ranks(projection: Projection) -> IntArray:
    """Rank the runs on each query by LexiPrecision, [S, Q]: the first position that differs decides.

    >>> lexiprecision_ranks(Projection.of_vectors([[2, 4, 9], [1, 5, 9], [1, 2], [1, 5]])).ravel().tolist()
    [3, 1, 0, 2]
    """
    num_found = projection.found.segments.sizes

    def steps() -> Iterator[tuple[IntArray, BoolArray]]:
        first = projection.found.segments.offsets[:-1]
        for above in range(int(num_found.max(initial=0))):
            yield _at(projection, first + above, num_found > above), num_found > above

    return _ranks(projection, steps())


def deciding_level(x: FloatArray | IntArray, y: FloatArray | IntArray) -> int | None:
    """Return the recall level that decides between two position vectors under LexiRecall, max {j : x_j != y_j}.

    Missing documents are at infinity. The result is None if the vectors are equal.

    >>> deciding_level(np.array([2, 4, 9]), np.array([1, 5, 9]))  # 9 ties, so 4 < 5 decides
    2
    """
    differing = np.flatnonzero(x != y)
    return int(differing[-1]) + 1 if len(differing) else None


def _at(projection: Projection, index: IntArray, has_position: BoolArray) -> IntArray:
    """Return the position at an index for each ranking that has one there."""
    positions = np.full(len(index), UNRETRIEVED)
    positions[has_position] = projection.found.positions[index[has_position]]
    return positions


def _ranks(projection: Projection, steps: Iterator[tuple[IntArray, BoolArray]]) -> IntArray:
    """Split the rankings of each query by one key after the other; a step also says which rankings have another."""
    num_runs, num_queries = projection.source.shape
    first_place = np.tile(np.arange(num_queries) * num_runs, num_runs)
    places = first_place.copy()  # a group is named by the place of its first ranking, with all rankings end to end
    active = np.arange(len(places)) if num_runs > 1 else np.array([], np.int64)
    for keys, has_next in steps:
        if not len(active):
            break
        places[active] = _split(places[active], keys[active])
        active = active[has_next[active]]
        # Alone in its group, a ranking keeps its place for good: deeper positions cannot move it out of the group.
        active = active[np.bincount(places[active], minlength=1)[places[active]] > 1]
    return (places - first_place).reshape(num_runs, num_queries)


def _split(groups: IntArray, keys: IntArray) -> IntArray:
    """Return the groups that remain when each is sorted by a key: its number, plus how many have a smaller key."""
    order = np.lexsort((keys, groups))
    groups, keys = groups[order], keys[order]
    starts_group = np.concatenate([[True], groups[1:] != groups[:-1]])
    starts_part = starts_group | np.concatenate([[True], keys[1:] != keys[:-1]])
    index = np.arange(len(order))
    begin_of_group = np.maximum.accumulate(np.where(starts_group, index, 0))
    begin_of_part = np.maximum.accumulate(np.where(starts_part, index, 0))
    split = np.empty_like(groups)
    split[order] = groups + begin_of_part - begin_of_group
    return split

"""Corpus sizes: how many documents there are, for each query.

Belongs here: sizes that are given as numbers, and that all who give one agree. Not here: files of sizes (trec).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, shown
from lexirecall.judgments import IntArray, Judgments
from lexirecall.manifest import MOST_DOCUMENTS
from lexirecall.tracks import RunPositions


def sizes_from_mapping(sizes: Mapping[Any, Any]) -> dict[bytes, int]:
    """Take corpus sizes from {query: size}."""
    from lexirecall.formats.memory import numbers_from_mapping  # not on top: most sizes are one number

    return numbers_from_mapping(sizes, "corpus_size", lambda _, size: checked_size(size))


def checked_size(size: Any) -> int:
    """Return a corpus size; raise if it is not one."""
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 0 < size < MOST_DOCUMENTS:
        raise UsageError(f"the corpus size is {size!r}, but must be a whole number above 0")
    return int(size)


def with_own_sizes(corpus_size: IntArray | None, judgments: Judgments) -> IntArray | None:
    """Return n of each query: as given, or as the judgments have it; raise if these differ.

    >>> judgments = Judgments.from_grades({b"q": {b"a": 1}})
    >>> with_own_sizes(None, judgments) is None
    True
    """
    judged_sizes = judgments.corpus_size
    if corpus_size is None or judged_sizes is None:
        return judged_sizes if corpus_size is None else corpus_size
    if (differing := np.flatnonzero(corpus_size != judged_sizes)).size:
        q = int(differing[0])
        problem = f"the corpus size of query {shown(judgments.queries[q])} is {corpus_size[q]}, but {judged_sizes[q]}"
        raise DataError(f"{problem} in {judgments.name}", remedy="leave out the corpus size")
    return corpus_size


def agreed_sizes(corpus_size: IntArray | None, runs: Sequence[RunPositions], queries: Sequence[str]) -> IntArray | None:
    """Return n of each query: as given, or as positions files have it; raise if these differ.

    >>> from lexirecall.segments import Segments
    >>> from lexirecall.tracks import Tracks
    >>> nothing = Tracks(Segments(np.array([0, 0])), np.array([], np.int64), np.array([], np.int64))
    >>> run = RunPositions("a", np.array([True]), np.array([3]), nothing, None, corpus_size=np.array([90]))
    >>> agreed_sizes(None, [run], ["q"]).tolist()
    [90]
    >>> agreed_sizes(np.array([100]), [run], ["q"])
    Traceback (most recent call last):
    lexirecall.errors.DataError: the corpus size of query 'q' is 100, but 90 in the positions file of a
      leave out the corpus size, or project the runs again with the same one
    """
    sizes, giver = corpus_size, ""
    for run in runs:
        run_sizes = run.corpus_size
        if run_sizes is None:
            continue
        if sizes is None:
            sizes, giver = run_sizes, f" in the positions file of {run.name}"
        elif (differing := np.flatnonzero(sizes != run_sizes)).size:
            q = int(differing[0])
            problem = f"the corpus size of query {shown(queries[q])} is {sizes[q]}{giver}, but {run_sizes[q]}"
            raise DataError(
                f"{problem} in the positions file of {run.name}",
                remedy="leave out the corpus size, or project the runs again with the same one",
            )
    return sizes

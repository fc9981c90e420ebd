"""The bottom of the corpus: where the relevant documents are that were not retrieved.

Belongs here: the places n-(m-r)+1 … n of the missing documents, and sums over them.

Nobody knows which of the missing documents has which of these places; the i-th relevant document, if missing, is at n -
m + i. Missing units are all at n, because one document may serve several of them.
"""

from collections.abc import Callable

import numpy as np

from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.positions import Projection
from lexirecall.segments import Segments

Terms = Callable[[FloatArray, IntArray, IntArray, FloatArray], FloatArray]
"""From places, recall levels, m and n of all relevant documents of all queries to what each contributes if missing."""


def corpus_size_of(projection: Projection) -> FloatArray:
    """Return n of each query, nan where it is unknown."""
    n = projection.source.corpus_size
    return np.full(len(projection.num_relevant), np.nan) if n is None else n.astype(float)


def num_missing(projection: Projection) -> IntArray:
    """Return how many relevant documents each ranking lacks, m - r, [S, Q]."""
    found = projection.found.segments.sizes.reshape(projection.source.shape)
    return np.asarray(projection.num_relevant - found)


def sum_over_missing(projection: Projection, terms: Terms) -> FloatArray:
    """Add up what the missing documents of each ranking contribute from the bottom of the corpus, [S, Q].

    Where n is unknown, the bottom is at infinity.

    >>> vectors = Projection.of_vectors([[2, 3, 8], [1, 2, 3, 4, 5, 6]], num_relevant=6, corpus_size=20)
    >>> sum_over_missing(vectors, lambda places, levels, m, n: places).tolist()  # 18 + 19 + 20, and nothing
    [[57.0], [0.0]]
    """
    queries = Segments(offsets_of(projection.num_relevant))
    levels, owners = queries.ordinals, queries.owners
    m, n = projection.num_relevant[owners], corpus_size_of(projection)[owners]
    above = 0 if projection.source.shares_bottom else m - levels
    values = terms(np.where(np.isnan(n), np.inf, n - above), levels, m, n)
    counts = values != 0  # in most measures that use n, a single level of each query
    queries, levels, owners, values = queries.filter(counts), levels[counts], owners[counts], values[counts]
    num_found = projection.num_relevant - num_missing(projection)
    return np.array([queries.sum(np.where(levels > found[owners], values, 0.0)) for found in num_found])

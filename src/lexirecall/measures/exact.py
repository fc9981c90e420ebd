"""Exact metric lexirecall: a ranking's place among all possible placements of its relevant documents.

Belongs here: the rows that write LexiRecall as a float, each computed in whole numbers and rounded once.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.positions import Projection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lexirecall.exact import Place


def _rankings(projection: Projection) -> "Iterator[tuple[int, list[int], int, int]]":
    """Give every ranking of a query with relevant documents: its number, the positions found, m and n."""
    sizes = projection.source.corpus_size
    assert sizes is not None  # noqa: S101 - the rows require it
    found, offsets = projection.found.positions.tolist(), projection.found.segments.offsets.tolist()
    queries = list(zip(projection.num_relevant.tolist(), sizes.tolist(), strict=True))
    for ranking, (start, stop) in enumerate(pairwise(offsets)):
        m, n = queries[ranking % len(queries)]
        if m:
            yield ranking, found[start:stop], m, n


def _of_places(projection: Projection, number: "Callable[[Place], float]") -> FloatArray:
    """Return a number of the place of every ranking, [S, Q]."""
    from lexirecall.exact.colex import place_of

    values = np.zeros(projection.source.shape)
    for ranking, found, m, n in _rankings(projection):
        values.flat[ranking] = number(place_of(found, m, n))
    return values


def _percentile(projection: Projection) -> FloatArray:
    return _of_places(projection, float)


def _bits(projection: Projection) -> FloatArray:
    return _of_places(projection, lambda place: place.bits)


def _weighted(projection: Projection, epsilon: float) -> FloatArray:
    """Divide whole numbers, which Python rounds correctly, however large they are."""
    from lexirecall.exact.yager import yager_ratio

    values = np.zeros(projection.source.shape)
    for ranking, found, m, n in _rankings(projection):
        over, under = yager_ratio(found, m, n, epsilon)
        values.flat[ranking] = over / under
    return values


def _order(projection: Projection) -> FloatArray:
    """Return numbers that order the runs on each query, [S, Q], the higher the better, where floats cannot.

    All three rows order placements as LexiRecall does, from the last position up.
    """
    placed: dict[int, dict[int, list[int]]] = {}
    num_runs, num_queries = projection.source.shape
    for ranking, found, m, n in _rankings(projection):
        run, query = divmod(ranking, num_queries)
        placed.setdefault(query, {})[run] = [*range(n, n - m + len(found), -1), *reversed(found)]
    order = np.zeros((num_runs, num_queries))
    for query, vectors in placed.items():
        ranks = {tuple(vector): rank for rank, vector in enumerate(sorted(vectors.values(), reverse=True))}
        for run, vector in vectors.items():
            order[run, query] = ranks[tuple(vector)]
    return order


LEXIRECALL_PERCENTILE = Measure(
    "LexiRecallPercentile",
    "share of the other possible placements of the relevant documents that LexiRecall finds worse",
    function=_percentile,
    compared_by=_order,
    formula="1 - (sum_i C(p_i - 1, i)) / (C(n, m) - 1); 1 if n = m",
    reference="DiazEM25",
    history="Defined by this library, for the preference of Diaz, Ekstrand and Mitra (2025).",
    use="Use it where a single run needs a value between 0 and 1 that orders rankings as LexiRecall does.",
    misses="With many relevant documents, nearly all values are close to 0 or to 1. LexiRecallBits shows their "
    "differences.",
    corpus="required",
    needs_distinct=True,
)
LEXIRECALL_BITS = Measure(
    "LexiRecallBits",
    "bits of luck it would take to place the relevant documents as well at random, by LexiRecall",
    function=_bits,
    compared_by=_order,
    formula="log2(C(n, m) / (1 + sum_i C(p_i - 1, i)))",
    reference="DiazEM25",
    history="Defined by this library, for the preference of Diaz, Ekstrand and Mitra (2025).",
    use="Use it where LexiRecallPercentile is too close to 0 or to 1 to be read.",
    misses="Its highest value depends on the corpus size and the number of relevant documents, so queries do not "
    "weigh the same in the mean.",
    limits=(0, np.inf),
    corpus="required",
    decimals=1,
    needs_distinct=True,
)
METRIC_LEXIRECALL = Measure(
    "MetricLexiRecall",
    "the paper's metric of LexiRecall: linear exposure, weighted so steeply that the last relevant document decides",
    function=_weighted,
    compared_by=_order,
    formula="sum_i w_i (n - p_i)/n, w_i = D^(m-i)/(1+D)^(m+1-i), w_1 = D^(m-1)/(1+D)^(m-1), D = 1/(n + epsilon)",
    reference="DiazEM25",
    history="Introduced by Diaz, Ekstrand and Mitra in 2025, with Yager's weights for leximin.",
    use="Use it to reproduce the number that the paper gives to LexiRecall.",
    misses="Nearly all its weight is on the last relevant document, so values can look equal where LexiRecall prefers "
    "one ranking.",
    defaults="epsilon may be anything between 0 and 1, and 0.5 is halfway. All give the same order of rankings.",
    corpus="required",
    parameters={"epsilon": Parameter(0.5, above=0, below=1)},
    needs_distinct=True,
)
TITLE = "Exact metric lexirecall"
ROWS = (LEXIRECALL_PERCENTILE, LEXIRECALL_BITS, METRIC_LEXIRECALL)

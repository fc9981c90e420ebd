"""Exact metric lexirecall: a ranking's place among all the placements that its relevant items could have.

Belongs here: the two rows, each a way to write that place as a float. Imports numpy, `measure` and, when a value is
asked for, colex.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.measures.measure import Measure
from lexirecall.positions import Projection

if TYPE_CHECKING:
    from collections.abc import Callable

    from lexirecall.colex import Place


def _of_places(projection: Projection, number: "Callable[[Place], float]") -> FloatArray:
    """Return a number of the place of every ranking, [S, Q]."""
    from lexirecall.colex import place_of

    sizes = projection.source.corpus_size
    assert sizes is not None  # noqa: S101 - the rows require it
    found, offsets = projection.found.positions.tolist(), projection.found.segments.offsets.tolist()
    requests = list(zip(projection.num_relevant.tolist(), sizes.tolist(), strict=True))
    values = np.zeros(len(offsets) - 1)
    for ranking, (start, stop) in enumerate(pairwise(offsets)):
        m, n = requests[ranking % len(requests)]
        if m:
            values[ranking] = number(place_of(found[start:stop], m, n))
    return values.reshape(projection.source.shape)


def _percentile(projection: Projection) -> FloatArray:
    return _of_places(projection, float)


def _bits(projection: Projection) -> FloatArray:
    return _of_places(projection, lambda place: place.bits)


LEXIRECALL_PERCENTILE = Measure(
    "LexiRecallPercentile",
    "share of the other possible placements of the relevant items that LexiRecall finds worse",
    function=_percentile,
    formula="1 - (sum_i C(p_i - 1, i)) / (C(n, m) - 1); 1 if n = m",
    reference="DiazEM25",
    corpus="required",
)
LEXIRECALL_BITS = Measure(
    "LexiRecallBits",
    "bits of luck it would take to place the relevant items as well at random, by LexiRecall",
    function=_bits,
    formula="log2(C(n, m) / (1 + sum_i C(p_i - 1, i)))",
    reference="DiazEM25",
    corpus="required",
    decimals=1,
)
ROWS = (LEXIRECALL_PERCENTILE, LEXIRECALL_BITS)

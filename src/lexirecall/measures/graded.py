"""Measures of grades: nDCG and ERR. They use the grades as gains, so that the relevance level does not apply.

Belongs here: one row for each such measure. Imports numpy, errors, exposure and `measure`.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from lexirecall.errors import DataError
from lexirecall.exposure import dcg as discount
from lexirecall.judgments import FloatArray
from lexirecall.measures.expected import mean_exposures
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.positions import Projection, Segments

GAINS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "log2": lambda grade: grade,
    "exp-log2": lambda grade: 2**grade - 1,
}


def _ndcg(projection: Projection, dcg: str, cutoff: int | None) -> FloatArray:
    return _normalized(projection, _discounts(projection.positions, cutoff), dcg, cutoff)


def _expected_ndcg(projection: Projection, dcg: str, cutoff: int | None) -> FloatArray:
    depth = min(cutoff or np.inf, projection.source.conventions.depth or np.inf)
    return _normalized(projection, mean_exposures(discount, projection.found, depth), dcg, cutoff)


def _discounts(positions: FloatArray, cutoff: int | None) -> FloatArray:
    discounts = discount(positions)
    return discounts if cutoff is None else np.where(positions <= cutoff, discounts, 0.0)


def _normalized(projection: Projection, seen: FloatArray, dcg: str, cutoff: int | None) -> FloatArray:
    """Return the sum of gain times exposure, over the same sum of the best order of all judged items."""
    grades = projection.source.judgments.grades
    gained = projection.sum(GAINS[dcg](grades[projection.found.items]) * seen)
    relevant, ideal_grades = _best_order(projection)
    ideal = relevant.sum(GAINS[dcg](ideal_grades) * _discounts(relevant.ordinals.astype(float), cutoff))
    return np.where(ideal > 0, gained / ideal, 0.0)


def _best_order(projection: Projection) -> tuple[Segments, FloatArray]:
    """Return the positive grades of each request, highest first."""
    judgments = projection.source.judgments
    judged = Segments(judgments.offsets)
    positive = judgments.grades > 0
    grades = judgments.grades[positive]
    return judged.filter(positive), grades[np.lexsort((-grades, judged.owners[positive]))]


NDCG = Measure(
    "nDCG",
    "normalized discounted cumulative gain",
    function=_ndcg,
    expected=_expected_ndcg,
    formula="sum_i g_i/log2(p_i + 1) over the same sum of the best order; dcg='exp-log2' takes 2^g - 1 for g",
    reference="JarvelinK02",
    at="cutoff",
    parameters={"dcg": Parameter("log2", options=tuple(GAINS))},
    graded=True,
    trec=("ndcg", "ndcg_cut"),
)


def _err(projection: Projection, max_grade: int, cutoff: int | None) -> FloatArray:
    grades = projection.source.judgments.grades
    if grades.size and grades.max() > max_grade:
        raise DataError(
            f"ERR assumes grades up to {max_grade}, but the judgments go up to {grades.max():g}",
            remedy=f"name the highest grade of the scale: ERR(max_grade={int(np.ceil(grades.max()))})",
        )
    found = projection.found
    stops = (2 ** grades[found.items] - 1) / 2**max_grade  # the probability that the user is satisfied here
    reaches = _running_product(1 - stops, found.segments)
    seen = found.positions <= (cutoff or np.inf)
    return projection.sum(np.where(seen, stops * reaches / found.positions, 0.0))


def _running_product(values: FloatArray, segments: Segments) -> FloatArray:
    """Return, for each value, the product of those before it in its segment.

    >>> _running_product(np.array([0.5, 0.5, 0.5, 0.1]), Segments(np.array([0, 3, 4]))).tolist()
    [1.0, 0.5, 0.25, 1.0]
    """
    ordinals = segments.ordinals
    by_ordinal = np.argsort(ordinals, kind="stable")
    borders = np.searchsorted(ordinals[by_ordinal], np.arange(2, ordinals.max(initial=0) + 2))
    products = np.ones(len(values))
    for start, stop in pairwise(borders):
        at = by_ordinal[start:stop]
        products[at] = products[at - 1] * values[at - 1]
    return products


ERR = Measure(
    "ERR",
    "expected reciprocal rank, for a user who stops where satisfied",
    function=_err,
    formula="sum_i s_i/p_i prod_(j<i) (1 - s_j), s = (2^g - 1)/2^max_grade, max_grade = 4 by default",
    reference="ChapelleMZG09",
    at="cutoff",
    parameters={"max_grade": Parameter(4, kind=int, low=1, high=1000)},
    graded=True,
)
ROWS = (NDCG, ERR)

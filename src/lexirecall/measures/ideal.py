"""Measures of how near a ranking is to an ideal order: the documents that both have on top, and pairs in their order.

Belongs here: one row for each such measure, under the name that ir_measures has for it.
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.positions import Projection
from lexirecall.segments import Segments, occurrences


def _compat(projection: Projection, p: float, normalize: bool) -> FloatArray:
    """Add up, over what was found, the weights of all depths at which both the list and the ideal order have it."""
    m, k = projection.num_relevant, projection.source.num_retrieved
    overlaps = _Overlaps.to_depths(np.maximum(k, m), p)
    below = np.maximum(projection.found.positions, _ideal_places(projection))
    is_listed = projection.found.positions <= projection.per_document(k.ravel())  # imputed positions lie below the list
    reached = np.where(is_listed, overlaps.from_place(projection, below), 0.0)
    whole = overlaps.of_ideal(m) if normalize else overlaps.of_any()
    return np.where(m > 0, projection.sum(reached) / whole, 0.0)


def _ideal_places(projection: Projection) -> IntArray:
    """Return the place of each retrieved document in the ideal order that is nearest to its ranking.

    Higher grades come first. Of one grade, the documents come in the order of the ranking, and those it lacks come
    last.
    """
    grades = projection.source.judgments.grades
    different, index = np.unique(grades, return_inverse=True)
    rankings, documents = projection.found.segments.owners, projection.found.documents
    before = occurrences(rankings * len(different) + index[documents])
    return 1 + _num_higher(grades, projection.source.judgments.offsets)[documents] + before


def _num_higher(grades: FloatArray, offsets: IntArray) -> IntArray:
    """Count, for each judged document, how many of its query have a higher grade.

    >>> _num_higher(np.array([1.0, 3, 1, 2]), np.array([0, 3, 4])).tolist()
    [1, 0, 1, 0]
    """
    judged = Segments(offsets)
    order = np.lexsort((-grades, judged.owners))
    # nan differs from every grade, so the first document always starts a block.
    starts = (np.diff(judged.owners, prepend=-1) != 0) | (np.diff(grades[order], prepend=np.nan) != 0)
    places = np.arange(len(grades))
    higher = np.empty(len(grades), np.int64)
    higher[order] = judged.ordinals[np.maximum.accumulate(np.where(starts, places, 0))] - 1
    return higher


@dataclass(frozen=True, slots=True)
class _Overlaps:
    """Sums of w_i/i with w_i = p^(i-1), for rankings that are compared down to their depths.

    They are summed up for each depth by itself, so that the value of a ranking does not depend on the others.
    """

    starts: IntArray
    """Where the sums of each ranking begin, [S, Q]."""
    tails: FloatArray
    """For each depth D and place j <= D, sum_(i=j..D) w_i/i: what a document adds that both have from place j on."""
    ideals: FloatArray
    """For each D and m <= D, what m documents add if they are the first m of both."""
    depths: IntArray
    """[S, Q]."""
    weights: FloatArray
    """The sums of the first 0, 1, 2 … w_i."""

    @classmethod
    def to_depths(cls, depths: IntArray, p: float) -> "_Overlaps":
        different, which = np.unique(depths, return_inverse=True)
        i = np.arange(1.0, different.max(initial=0) + 1)
        weights = p ** (i - 1)
        tails = [np.cumsum((weights / i)[:depth][::-1])[::-1] for depth in different]
        starts = offsets_of(different.astype(np.int64))[:-1][which.reshape(depths.shape)]
        ideals = [np.cumsum(tail) for tail in tails]
        return cls(starts, _joined(tails), _joined(ideals), depths, np.append(0.0, np.cumsum(weights)))

    def from_place(self, projection: Projection, places: IntArray) -> FloatArray:
        """Return what each retrieved document adds, if both have it from this place on."""
        depths, starts = (projection.per_document(values.ravel()) for values in (self.depths, self.starts))
        return np.asarray(self.tails[starts + np.minimum(places, depths) - 1])

    def of_ideal(self, m: IntArray) -> FloatArray:
        """Return what an ideal order of m documents adds, [S, Q]; 1 where there are none."""
        return np.where(m > 0, np.append(self.ideals, 1.0)[self.starts + np.maximum(m, 1) - 1], 1.0)

    def of_any(self) -> FloatArray:
        """Return the weight of all depths, [S, Q]: two equal lists would add that much."""
        return np.asarray(np.where(self.depths > 0, self.weights[self.depths], 1.0))


def _joined(parts: list[FloatArray]) -> FloatArray:
    return np.concatenate([*parts, np.empty(0)])


def _accuracy(projection: Projection, cutoff: int | None) -> FloatArray:
    """Divide the pairs in the right order by all; the i-th relevant document has p_i - i non-relevant ones above."""
    k = projection.source.num_retrieved
    shown = k if cutoff is None else np.minimum(cutoff, k)
    within = projection.found.positions <= projection.per_document(shown.ravel())
    r = projection.sum(within)
    pairs = r * (shown - r)
    wrong = projection.sum(np.where(within, projection.positions - projection.recall_levels, 0.0))
    return np.where(pairs > 0, (pairs - wrong) / pairs, np.nan)


COMPAT = Measure(
    "Compat",
    "compatibility: rank-biased overlap of the list with the ideal order that is nearest to it",
    function=_compat,
    counts_list=True,
    formula="sum_(i<=D) p^(i-1) o_i/i over the same sum for the ideal order, o_i documents that both have in their top "
    "i, D = max(k, m); over sum_(i<=D) p^(i-1) with normalize=False",
    reference="ClarkeVS21",
    history="Introduced by Clarke, Vtyurina and Smucker in 2021, on the rank-biased overlap of Webber and others.",
    use="Use it where the judgments are an order of preference, with few documents at each grade.",
    misses="Grades are an order here, so it does not matter how much better one is. What is missed at a low grade "
    "costs little.",
    defaults="p is 0.95 and normalize is True, as in ir_measures. Without normalize, even the best list has a value "
    "below 1 if its ideal order is short.",
    parameters={"p": Parameter(0.95, above=0, high=1), "normalize": Parameter(True, kind=bool)},
    graded=True,
    needs_distinct=True,
)
ACCURACY = Measure(
    "Accuracy",
    "share of the pairs of a relevant and a non-relevant document in the list that are in this order",
    function=_accuracy,
    counts_list=True,
    formula="1 - sum_i (p_i - i) / (r (k - r)) over the r relevant documents among the k of the list, or of its top; "
    "undefined if there is no pair",
    reference="MacAvaneyMO22",
    history="A measure of ir_measures (MacAvaney, Macdonald and Ounis 2022), to compare training and test data.",
    use="Use it to diagnose a ranker: it is the chance that it puts a relevant document above another one it returns.",
    misses="What was not retrieved does not count, and a list of relevant documents only has no value. Documents "
    "without a judgment count as non-relevant.",
    rewards_moving_up=False,  # what moves up into the top may be the lowest there
    at="cutoff",
    sparse=True,
    needs_distinct=True,
)
TITLE = "Nearness to an ideal order"
ROWS = (COMPAT, ACCURACY)

"""Measures that trec_eval has and our table lacks, each built on the table and on positions.

Belongs here: such measures, in trec_eval 9's definition. Not here: their names and cut-offs (trec_names).

A request without relevant items is worth 0 under all of them; the logarithms of `gm_map` and `gm_bpref` have a floor.
"""

import math

import numpy as np

from lexirecall.judgments import SMALLEST_GRADE, FloatArray, IntArray
from lexirecall.measures import AP, BPREF, IPREC, NUM_REL, NUM_REL_RET, NUM_RET, Measure
from lexirecall.measures.graded import discounted
from lexirecall.positions import Projection
from lexirecall.segments import Segments

FLOOR = 0.00001
"""The smallest value that enters a geometric mean, which a single 0 would make 0."""
LOG_FLOOR = math.log(FLOOR)


def _logarithm_of(measure: Measure) -> Measure:
    def logarithm(projection: Projection) -> FloatArray:
        return np.log(np.maximum(measure.scores(projection), FLOOR))

    title = f"logarithm of {measure}: exp of its mean is the geometric mean"
    return Measure(f"log{measure.name}", title, function=logarithm, needs_judged=measure.needs_judged)


def _num_q(projection: Projection) -> FloatArray:
    return np.ones(projection.source.shape)


def _no_number(projection: Projection) -> FloatArray:
    """Give 0 for what is text, `runid` and `relstring`, as pytrec_eval does."""
    return np.zeros(projection.source.shape)


def _num_nonrel_judged_ret(projection: Projection) -> FloatArray:
    """Count the retrieved items that are judged and not relevant: grade 0, or positive and below the level."""
    source = projection.source
    lower = source.found.segments.sizes - projection.found.segments.sizes
    assert source.others is not None  # noqa: S101 - positions are made with what needs_judged says
    zero = source.others.filter(source.judgments.grades[source.others.items] >= 0).segments.sizes
    return (lower + zero).reshape(source.shape).astype(float)


def _set_map(projection: Projection) -> FloatArray:
    k, m, r = (row.scores(projection) for row in (NUM_RET, NUM_REL, NUM_REL_RET))
    return _ratio(r * r, k * m)


def _set_relative_p(projection: Projection) -> FloatArray:
    most = np.minimum(NUM_RET.scores(projection), NUM_REL.scores(projection))
    return _ratio(NUM_REL_RET.scores(projection), most)


def _bin_g(projection: Projection) -> FloatArray:
    nonrelevant_above = projection.positions - projection.recall_levels
    return _ratio(projection.sum(1 / np.log2(2 + nonrelevant_above)), projection.num_relevant)


def _ratio(part: FloatArray, whole: FloatArray | IntArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, 0.0)


def relative_p(cutoff: int) -> Measure:
    """Return precision at k over the best possible, #{i : p_i <= k} / min(k, m).

    >>> relative_p(10).of([1, 3], num_relevant=4)
    0.5
    """

    def relative(projection: Projection) -> FloatArray:
        found = projection.sum(projection.positions <= cutoff)
        return _ratio(found, np.minimum(cutoff, projection.num_relevant))

    return Measure("RelativeP", "precision at k over the best possible", function=relative)


def rprec_mult(multiple: float) -> Measure:
    """Return precision at c = int(multiple · m + 0.9), where m items are relevant; 0 where c is 0.

    >>> rprec_mult(0.5).of([1, 3], num_relevant=4)  # one of the first two
    0.5
    """

    def at_multiple(projection: Projection) -> FloatArray:
        cutoff = (multiple * projection.num_relevant + 0.9).astype(np.int64)
        found = projection.sum(projection.positions <= projection.per_item_of_request(cutoff))
        return _ratio(found, cutoff)

    return Measure("RprecMult", "precision at a multiple of m", function=at_multiple)


def mean_interpolated_precision(*recalls: float) -> Measure:
    """Return the mean of interpolated precision over levels of recall: `11pt_avg`.

    >>> round(mean_interpolated_precision(0, 0.5, 1).of([1, 3]), 4)  # 1, 1 and 2/3
    0.8889
    """

    def mean(projection: Projection) -> FloatArray:
        # from the highest recall down, as trec_eval goes through a list from its end
        return np.asarray(sum((IPREC @ recall).scores(projection) for recall in sorted(recalls)[::-1]) / len(recalls))

    return Measure("MeanIPrec", "mean interpolated precision", function=mean)


def utility(*weights: float) -> Measure:
    """Return a·r + b·(k - r) + c·(m - r) + d·(n + r - k - m), where k items are retrieved and r of m relevant ones.

    n is the corpus size, 0 where it is not known.

    >>> utility(1, -1, 0, 0).of([1, 4])  # two are relevant, two are not
    0.0
    """

    def weighted(projection: Projection) -> FloatArray:
        k, m, r = (row.scores(projection) for row in (NUM_RET, NUM_REL, NUM_REL_RET))
        n = 0 if projection.source.corpus_size is None else projection.source.corpus_size
        parts = zip(weights, (r, k - r, m - r, n + r - k - m), strict=True)
        return np.asarray(sum(weight * part for weight, part in parts))

    return Measure("Utility", "weighted sum of what was retrieved and what was not", function=weighted)


class _Ideal:
    """The best order of each request's items of positive grade, and sums over its first places."""

    def __init__(self, projection: Projection) -> None:
        judgments = projection.source.judgments
        positive = judgments.grades > 0
        owners = Segments(judgments.offsets).owners[positive]
        grades = judgments.grades[positive]
        self.segments = Segments(judgments.offsets).filter(positive)
        self.grades: FloatArray = grades[np.lexsort((-grades, owners))]
        self.places = self.segments.ordinals

    def sum(self, values: FloatArray) -> FloatArray:
        return self.segments.sum(values)

    def sum_to(self, values: FloatArray, projection: Projection) -> FloatArray:
        """For each retrieved item, add up the values of the best order down to its position."""
        requests = np.tile(np.arange(len(self.segments.sizes)), projection.source.shape[0])
        request = projection.per_item(requests)
        start = self.segments.offsets[request]
        depth = np.minimum(projection.found.positions, self.segments.sizes[request])
        return self.segments.accumulate(np.add, values)[start + depth - 1]


def _gains(projection: Projection) -> FloatArray:
    return projection.source.judgments.grades[projection.found.items]


def _g(projection: Projection) -> FloatArray:
    """Discount each gain by how much more the best order would have gained so far, a place counting 1 or more."""
    ideal, gains, positions = _Ideal(projection), _gains(projection), projection.positions
    sizes = projection.per_item_of_request(ideal.segments.sizes)
    cost = ideal.sum_to(np.maximum(ideal.grades, 1), projection) + np.maximum(positions - sizes, 0)
    gained = projection.found.segments.accumulate(np.add, gains)
    return _ratio(projection.sum(gains / np.log2(2 + cost - gained)), ideal.sum(ideal.grades))


def _ndcg_rel(projection: Projection) -> FloatArray:
    """Average nDCG over the relevant items, at the position of each, and at the end of the list for the missing."""
    ideal, found = _Ideal(projection), projection.found
    terms = discounted(_gains(projection), projection.positions)
    best = discounted(ideal.grades, ideal.places.astype(float))
    at_each = projection.sum(found.segments.accumulate(np.add, terms) / ideal.sum_to(best, projection))
    num_missing = ideal.segments.sizes - found.segments.sizes.reshape(projection.source.shape)
    at_the_end = _ratio(num_missing * projection.sum(terms), ideal.sum(best))
    return _ratio(at_each + at_the_end, ideal.segments.sizes)


def _rndcg(projection: Projection) -> FloatArray:
    """Average nDCG over the depths at which the best order turns to a lower grade, and the end of a longer list."""
    graded = projection.source.at_level(SMALLEST_GRADE)
    ideal = _Ideal(graded)
    terms = discounted(_gains(graded), graded.positions)
    best = discounted(ideal.grades, ideal.places.astype(float))
    sizes = ideal.segments.sizes
    num_retrieved = projection.source.num_retrieved
    is_longer = num_retrieved > sizes + 1  # trec_eval ignores a single extra item
    total, count = np.zeros(num_retrieved.shape), is_longer.astype(float)
    for depth in _turns(ideal):
        gained = graded.sum(np.where(graded.positions <= graded.per_item_of_request(depth), terms, 0.0))
        total += _ratio(gained, ideal.sum(np.where(ideal.places <= np.repeat(depth, sizes), best, 0.0)))
        count += depth > 0
    total += np.where(is_longer, _ratio(graded.sum(terms), ideal.sum(best)), 0.0)
    return np.where(projection.num_relevant > 0, _ratio(total, count), 0.0)


def _turns(ideal: _Ideal) -> list[IntArray]:
    """Return where each request's best order turns for the first time, for the second, …; 0 where it does not."""
    owners = ideal.segments.owners
    ends = np.diff(owners, append=-1) != 0
    turns = ends | (np.diff(ideal.grades, append=0) != 0)
    of_request = ideal.segments.filter(turns)
    depths = []
    for number in range(1, of_request.sizes.max(initial=0) + 1):
        here = np.flatnonzero(turns)[of_request.ordinals == number]
        depth = np.zeros(len(ideal.segments.sizes), np.int64)
        depth[owners[here]] = ideal.places[here]
        depths.append(depth)
    return depths


GM_MAP = _logarithm_of(AP)
GM_BPREF = _logarithm_of(BPREF)
NUM_Q = Measure("NumQ", "1 for each query", function=_num_q)
NO_NUMBER = Measure("NoNumber", "0, in place of a text", function=_no_number)
NUM_NONREL_JUDGED_RET = Measure(
    "NumNonrelJudgedRet", "judged non-relevant documents retrieved", function=_num_nonrel_judged_ret, needs_judged=True
)
SET_MAP = Measure("SetAP", "SetP · SetR", function=_set_map)
SET_RELATIVE_P = Measure("SetRelP", "precision of the list over the best possible", function=_set_relative_p)
BIN_G = Measure("BinG", "discounts by the non-relevant documents above", function=_bin_g)
G = Measure("G", "normalized gain", function=_g, graded=True)
NDCG_REL = Measure("nDCGRel", "nDCG averaged over the relevant documents", function=_ndcg_rel, graded=True)
RNDCG = Measure("RnDCG", "nDCG averaged over the depths at which the ideal gain changes", function=_rndcg)

"""Measures that trec_eval has and our table lacks, each built on the table and on positions.

Belongs here: such measures, in trec_eval's definition. Not here: measures of gains (trec_gains) and of
what is unjudged (trec_unjudged), names and cut-offs (trec_names).

A query without relevant documents is worth 0 under all of them; the logarithms of `gm_map` and `gm_bpref` have a floor.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from lexirecall.adapters.trec_unjudged import judged_tracks
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures import AP, BPREF, NUM_REL, NUM_REL_RET, NUM_RET, Measure
from lexirecall.measures.judged import highest_precision, nearly_rounded_up
from lexirecall.positions import Projection

FLOOR = 0.00001
"""The smallest value that enters a geometric mean, which a single 0 would make 0."""
LOG_FLOOR = math.log(FLOOR)


def _logarithm_of(measure: Measure) -> Measure:
    def logarithm(projection: Projection) -> FloatArray:
        return np.log(np.maximum(measure.scores(projection), FLOOR))

    return Measure(
        f"log{measure.name}",
        f"geometric mean of {measure}",
        formula=f"exp of the mean of log max({measure}, {FLOOR:.5f})",
        function=logarithm,
        needs_judged=measure.needs_judged,
    )


def _no_number(projection: Projection) -> FloatArray:
    """Give 0 for what is text, `runid` and `relstring`, as pytrec_eval does."""
    return np.zeros(projection.source.shape)


def _num_nonrel_judged_ret(projection: Projection) -> FloatArray:
    """Count the retrieved documents that are judged and not relevant: grade 0, or positive and below the level."""
    source = projection.source
    num_judged = judged_tracks(source).segments.sizes
    return (num_judged - projection.found.segments.sizes).reshape(source.shape).astype(float)


def _bin_g(projection: Projection) -> FloatArray:
    nonrelevant_above = projection.positions - projection.recall_levels
    return ratio(projection.sum(1 / np.log2(2 + nonrelevant_above)), projection.num_relevant)


def ratio(part: FloatArray, whole: FloatArray | IntArray) -> FloatArray:
    """Return part/whole, 0 where there is nothing to divide by.

    >>> ratio(np.array([1.0, 2.0]), np.array([4, 0])).tolist()
    [0.25, 0.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, 0.0)


def relative_p(cutoff: int) -> Measure:
    """Return precision at k over the best possible, #{i : p_i <= k} / min(k, m).

    >>> relative_p(10).of([1, 3], num_relevant=4)
    0.5
    """

    def relative(projection: Projection) -> FloatArray:
        found = projection.sum(projection.positions <= cutoff)
        return ratio(found, np.minimum(cutoff, projection.num_relevant))

    return Measure(
        "RelativeP", "precision at k over the best possible", formula="#{i : p_i <= k} / min(k, m)", function=relative
    )


def rprec_mult(multiple: float) -> Measure:
    """Return precision at c = int(multiple · m + 0.9), where m documents are relevant; 0 where c is 0.

    >>> rprec_mult(0.5).of([1, 3], num_relevant=4)  # one of the first two
    0.5
    """

    def at_multiple(projection: Projection) -> FloatArray:
        cutoff = nearly_rounded_up(np.float64(multiple) * projection.num_relevant)
        found = projection.sum(projection.positions <= projection.per_document_of_query(cutoff))
        return ratio(found, cutoff)

    formula = "#{i : p_i <= c} / c, c = int(multiple m + 0.9)"
    return Measure("RprecMult", "precision at a multiple of m", formula=formula, function=at_multiple)


def _round(x: FloatArray) -> IntArray:
    """Round to the nearest whole number, halves up, as C's `lround` does."""
    # np.round takes halves to the even number, and floor(x + 0.5) makes 0.49999999999999994 into 1.
    whole = np.floor(x)
    return (whole + (x - whole >= 0.5)).astype(np.int64)


def rounded_iprec(recall: float) -> Measure:
    """Return interpolated precision of trec_eval 10, which takes round(r·m) documents for the recall r.

    >>> rounded_iprec(0.6).of([1, 4, 9])  # two of the three; IPrec takes int(0.6 · 3 + 0.9) of them, also two
    0.5
    >>> rounded_iprec(0.4).of([1, 4, 9])  # one of the three, where IPrec takes two
    1.0
    """
    return Measure(
        "RoundedIPrec",
        "interpolated precision at recall r: the highest precision at this recall or beyond",
        formula="max of i/p_i over i >= round(r m)",
        function=lambda projection: highest_precision(projection, _round(recall * projection.num_relevant)),
    )


def mean_iprec(*recalls: float) -> Measure:
    """Return the mean of interpolated precision over levels of recall: `11pt_avg` of trec_eval 9.

    >>> round(mean_iprec(0, 0.5, 1).of([1, 3]), 4)  # 1, 1 and 2/3
    0.8889
    """
    return _mean_of_levels("MeanIPrec", "int(r m + 0.9)", nearly_rounded_up, recalls)


def rounded_mean_iprec(*recalls: float) -> Measure:
    """Return the mean of interpolated precision over levels of recall: `11pt_avg` of trec_eval 10.

    >>> round(rounded_mean_iprec(0, 0.3, 1).of([2, 3, 4]), 4)  # 3/4 three times
    0.75
    """
    return _mean_of_levels("RoundedMeanIPrec", "round(r m)", _round, recalls)


def _mean_of_levels(
    name: str, needed: str, rounded: Callable[[FloatArray], IntArray], recalls: Sequence[float]
) -> Measure:
    def mean(projection: Projection) -> FloatArray:
        # from the highest recall down, as trec_eval goes through a list from its end
        needs = (rounded(np.float64(recall) * projection.num_relevant) for recall in sorted(recalls)[::-1])
        return np.asarray(sum(highest_precision(projection, need) for need in needs) / len(recalls))

    formula = f"mean over the recalls r of max of i/p_i, i >= {needed}"
    return Measure(name, "mean interpolated precision", formula=formula, function=mean)


def utility(*weights: float) -> Measure:
    """Return a·r + b·(k - r) + c·(m - r) + d·(n + r - k - m), where k documents are retrieved and r of m relevant ones.

    n is the corpus size, 0 where it is not known. A query that is not in the run is worth 0.

    >>> utility(1, -1, 0, 0).of([1, 4])  # two are relevant, two are not
    0.0
    """

    def weighted(projection: Projection) -> FloatArray:
        k, m, r = (row.scores(projection) for row in (NUM_RET, NUM_REL, NUM_REL_RET))
        n = 0 if projection.source.corpus_size is None else projection.source.corpus_size
        parts = zip(weights, (r, k - r, m - r, n + r - k - m), strict=True)
        return np.where(projection.source.answered, sum(weight * part for weight, part in parts), 0.0)

    return Measure(
        "Utility",
        "weighted sum of what was retrieved and what was not",
        formula="a r + b (k - r) + c (m - r) + d (n + r - k - m)",
        function=weighted,
    )


def _yaap(projection: Projection) -> FloatArray:
    expected = projection.sum(projection.recall_levels / projection.positions)
    return np.asarray(np.log((1 + expected) / (1 + projection.num_relevant - expected)))


GM_MAP = _logarithm_of(AP)
GM_BPREF = _logarithm_of(BPREF)
RUNID = Measure("RunId", "tag of the run, in its last line", function=_no_number)
RELSTRING = Measure(
    "RelString",
    "grades of the first documents, one sign for each",
    formula="0 to 9; > above 9; - not in the judgments; . below 0, in the pool and not judged",
    function=_no_number,
    needs_judged=True,
)
NUM_NONREL_JUDGED_RET = Measure(
    "NumNonrelJudgedRet",
    "judged non-relevant documents retrieved",
    formula="number of retrieved documents with a grade from 0 up to the level",
    function=_num_nonrel_judged_ret,
    needs_judged=True,
)
BIN_G = Measure(
    "BinG",
    "discounts by the non-relevant documents above",
    formula="(1/m) sum_i 1/log2(2 + p_i - i)",
    function=_bin_g,
)
YAAP = Measure(
    "YAAP",
    "logarithm of the odds of average precision, smoothed",
    formula="log((1 + s)/(1 + m - s)), s = sum_i i/p_i",
    function=_yaap,
    limits=(-math.inf, math.inf),
)

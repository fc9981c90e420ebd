"""Measures that also look at the judged non-relevant documents, and precision over recall.

Belongs here: bpref, infAP, Judged@k and interpolated precision, in trec_eval 9's definition.

A document with a grade from 0 up to the level is judged and not relevant. One with a negative grade was in the pool but
not judged. One without a grade was not in the pool.
"""

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.bottom import corpus_size_of, num_missing
from lexirecall.measures.depthcounts import count_within
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.positions import Projection
from lexirecall.tracks import Tracks


def _others(projection: Projection) -> Tracks:
    if projection.source.others is None:
        problem = "the positions lack the judged non-relevant documents that this measure needs"
        raise UsageError(problem, remedy="make them with project(..., needs_judged=True), or use evaluate()")
    return projection.source.others


def _above(projection: Projection, tracks: Tracks, mask: BoolArray) -> IntArray:
    """For each retrieved relevant document, count the documents of `tracks` under the mask that are above it."""
    found = projection.found
    span = 1 + max(found.positions.max(initial=0), tracks.positions.max(initial=0))
    keys = (tracks.segments.owners * span + tracks.positions)[mask]  # ascending: by ranking, then by position
    rankings = found.segments.owners
    above: IntArray = np.searchsorted(keys, rankings * span + found.positions) - np.searchsorted(keys, rankings * span)
    return above


def _nonrelevant_above(projection: Projection) -> IntArray:
    """Count the judged non-relevant documents above each relevant one: grade 0, or positive and below the level."""
    others, judged = _others(projection), projection.source.judgments
    lower = projection.source.found
    return _above(projection, others, judged.grades[others.documents] >= 0) + _above(
        projection, lower, judged.grades[lower.documents] < projection.level
    )


def _bpref(projection: Projection) -> FloatArray:
    judgments = projection.source.judgments
    m = projection.num_relevant
    num_nonrelevant = judgments.num_relevant(0) - m  # judged at all, less the relevant ones
    most = projection.per_document_of_query(np.minimum(m, num_nonrelevant))
    above = np.minimum(_nonrelevant_above(projection), projection.per_document_of_query(m))
    preferred = 1 - np.where(above > 0, above / most, 0.0)
    return np.where(m > 0, projection.sum(preferred) / m, 0.0)


def _inf_ap(projection: Projection) -> FloatArray:
    epsilon = 0.00001  # trec_eval's smoothing of the estimated precision
    others = _others(projection)
    unjudged = _above(projection, others, projection.source.judgments.grades[others.documents] < 0)
    above = projection.found.positions - 1.0
    relevant = projection.recall_levels - 1.0
    nonrelevant = _nonrelevant_above(projection)
    in_pool = (relevant + nonrelevant + unjudged) / above
    precision = (relevant + epsilon) / (relevant + nonrelevant + 2 * epsilon)
    # expected precision at this position: itself, and what is above it; in the order of trec_eval
    terms = np.where(above > 0, 1 / (above + 1) + above / (above + 1) * in_pool * precision, 1.0)
    return np.where(projection.num_relevant > 0, projection.sum(terms) / projection.num_relevant, 0.0)


def _judged(projection: Projection, cutoff: int) -> FloatArray:
    source, others = projection.source, _others(projection)
    nonrelevant = others.filter(source.judgments.grades[others.documents] >= 0)
    # never more than the list holds: what is imputed was not shown
    shown = np.minimum(cutoff, source.num_retrieved)
    x, y = (count_within(tracks, shown) for tracks in (source.found, nonrelevant))
    whole = x.under * y.under * np.where(shown > 0, shown, np.nan)
    return np.asarray((x.over * y.under + y.over * x.under) / whole)


def _iprec(projection: Projection, recall: float) -> FloatArray:
    """Return the highest precision at this recall or beyond; trec_eval 9 takes int(r·m + 0.9) documents for r."""
    return highest_precision(projection, nearly_rounded_up(np.float64(recall) * projection.num_relevant))


def nearly_rounded_up(x: FloatArray) -> IntArray:
    """Return int(x + 0.9), which is x rounded up unless it is less than a tenth above a whole number.

    >>> nearly_rounded_up(np.array([1.0, 1.05, 1.2])).tolist()
    [1, 1, 2]
    """
    return (x + 0.9).astype(np.int64)


def highest_precision(projection: Projection, needed: IntArray) -> FloatArray:
    """Return the highest precision at the relevant documents from the `needed`-th on, one number for each query.

    >>> highest_precision(Projection.of_vectors([[2, 3, 9]]), np.array([2])).tolist()
    [[0.6666666666666666]]
    """
    found = projection.found
    precision = projection.recall_levels / found.positions
    reached = projection.recall_levels >= projection.per_document_of_query(needed)
    highest = np.zeros(len(found.segments.sizes))
    np.maximum.at(highest, found.segments.owners[reached], precision[reached])
    precisions: FloatArray = highest.reshape(projection.source.shape)
    if not projection.sees_bottom:
        return precisions
    # the last missing document has the highest precision: i/(n - m + i) grows with i
    at_end = projection.num_relevant / corpus_size_of(projection)
    return np.where(num_missing(projection) > 0, np.maximum(precisions, at_end), precisions)


BPREF = Measure(
    "Bpref",
    "binary preference: how rarely judged non-relevant documents are ranked above relevant ones",
    function=_bpref,
    formula="(1/m) sum_i 1 - min(N_i, m)/min(N, m), N_i of the N judged non-relevant documents above p_i",
    reference="BuckleyV04",
    history="Introduced by Buckley and Voorhees in 2004.",
    use="Use it where many documents have no judgment: it skips them and does not count them as non-relevant.",
    misses="It looks at the order of the judged documents and not at their positions, so unjudged ones above them "
    "cost nothing.",
    needs_judged=True,
    trec=("bpref",),
)
INF_AP = Measure(
    "infAP",
    "inferred average precision, estimated from a sample of judgments",
    function=_inf_ap,
    formula="(1/m) sum_i 1/p_i + (p_i - 1)/p_i · (share in the pool above p_i) · (share relevant of those judged)",
    reference="YilmazA06",
    history="Introduced by Yilmaz and Aslam in 2006.",
    use="Use it to estimate AP where only a random sample of the pool was judged.",
    misses="It is an estimate that varies with the sample, and it can mislead if the sample was not drawn at random.",
    rewards_moving_up=False,  # what was in the pool and not judged counts as half relevant to what is below it
    needs_judged=True,
    trec=("infAP",),
)
JUDGED = Measure(
    "Judged",
    "share of the top k, or of a shorter list, that has a judgment; undefined for an empty list",
    function=_judged,
    expected="same",
    counts_list=True,
    formula="judged documents in the top k, over min(k, retrieved)",
    reference="MacAvaneyMO22",
    history="A measure of ir_measures (MacAvaney, Macdonald and Ounis 2022).",
    use="Use it beside other measures, to see how much of the top k the judgments cover.",
    misses="It says nothing about relevance: a list of documents that were judged non-relevant has the value 1.",
    at="cutoff",
    needs_at=True,
    graded=True,
    needs_judged=True,
)
IPREC = Measure(
    "IPrec",
    "interpolated precision at recall r: the highest precision at this recall or beyond",
    function=_iprec,
    formula="max of i/p_i over i >= int(r m + 0.9)",
    reference="BuckleyV05",
    history="The points of the recall-precision curves of TREC, described by Buckley and Voorhees (2005).",
    use="Use it to draw precision over recall.",
    misses="It takes the best precision at recall r or beyond, so it can be higher than what a user meets at r.",
    at="recall",
    at_range=Parameter(low=0, high=1),
    needs_at=True,
    trec=("", "iprec_at_recall"),
)
TITLE = "Measures of judged documents, and precision over recall"
ROWS = (BPREF, INF_AP, JUDGED, IPREC)

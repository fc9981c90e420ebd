"""Measures of reviews: what a reader who screens a whole corpus in order finds, and when.

Belongs here: one row for each such measure, and what ASReview Insights computes where it differs. Not here: recall at
a share of the corpus, R@10%, and WSS (recall_level).

A share r of a corpus is at most floor(r n) records. ASReview Insights counts in whole records where ours are exact:
what a random order finds by record k is m k/n, and there it is m (k-1)/(n-1), rounded to the nearest even record.
"""

from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.bottom import corpus_size_of
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Share
from lexirecall.measures.ratio import Ratio
from lexirecall.measures.recall_level import RE, R, at_recall, needed_for_recall
from lexirecall.positions import Projection


def _recall_at(projection: Projection, share: float) -> FloatArray:
    return R(cutoff=Share.of_fraction(share)).scores(projection)


def _recall_beyond_chance(projection: Projection, share: float) -> FloatArray:
    n = corpus_size_of(projection)
    by_chance = np.where(projection.num_relevant > 0, Share.of_fraction(share).of(n) / n, 0.0)
    return _recall_at(projection, share) - by_chance


def _others(m: Any, n: Any) -> Any:
    """Return how many documents are not relevant; 1 if none is, for a division of 0."""
    return np.maximum(n - m, 1)


def _share_of_others_unread(i: IntArray, m: Any, n: Any, recall: float) -> Ratio:
    below = m - needed_for_recall(recall, np.asarray(m))  # the relevant ones after the c-th
    return Ratio(np.maximum(n - i - below, 0), _others(m, n))  # missing units may all be at n


def _area(projection: Projection) -> FloatArray:
    others = _others(projection.num_relevant, corpus_size_of(projection))
    return np.asarray(np.minimum(RE.scores(projection) / others, 1))  # missing units may all be at n


RRF = Measure(
    "RRF",
    "relevant references found after the share r of the corpus: recall at floor(r n)",
    function=_recall_at,
    expected="same",
    formula="#{i : p_i <= k} / m, k = floor(r n)",
    reference="VanDeSchoot21",
    history="Known from studies of screening tools such as ASReview (van de Schoot and others 2021). RRF@0.1 is R@10%.",
    use="Use it to say what a reviewer has found after a tenth of the screening.",
    misses="It ignores the order within that share and everything after it.",
    corpus="required",
    at="share",
    needs_at=True,
    cuts=True,
    coincides=True,
)
ERF = Measure(
    "ERF",
    "extra relevant references found: recall at floor(r n), beyond that of a random order",
    function=_recall_beyond_chance,
    expected="same",
    formula="#{i : p_i <= k} / m - k/n, k = floor(r n)",
    reference="VanDeSchoot21",
    history="Reported by ASReview Insights, which rounds what a random order finds. AsreviewERF is that number.",
    use="Use it to say how much sooner a ranking finds relevant records than screening in random order.",
    misses="It ignores the order within that share and everything after it.",
    limits=(-1, 1),
    corpus="required",
    at="share",
    needs_at=True,
    cuts=True,
)
ATD = Measure(
    "ATD",
    "average time to discovery: the mean position of the relevant documents",
    exposure=lambda i: i,
    weight=lambda i, m: Ratio(1, m),
    formula="(1/m) sum_i p_i",
    reference="FerdinandsSBBOTTS23",
    history="Introduced by Ferdinands and others in 2023. As a share of the corpus it is 1 - Linear.",
    use="Use it to say after how many records a relevant one is found, on average. It needs no recall to aim at.",
    misses="One very deep document can outweigh all the others, and a corpus with more relevant documents has a higher "
    "lowest value.",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
    coincides=True,
)
LOSS = Measure(
    "Loss",
    "the area between the recall curve and the ideal one, as a share of the largest possible area",
    function=_area,
    expected="same",
    formula="(mean(p) - (m+1)/2) / (n - m), which is RE / (n - m)",
    reference="Rocchio64",
    history="It is 1 minus the normalized recall of Rocchio (1964). ASReview reports it as the loss of a simulation.",
    use="Use it to compare whole recall curves by one number, also between corpora of different sizes.",
    misses="In a large corpus all good rankings have values close to 0, so differences near the top hardly show.",
    direction=-1,
    corpus="required",
)
TNR = Measure(
    "TNR",
    "true negative rate at recall r: the share of the non-relevant documents that are left unread",
    exposure=_share_of_others_unread,
    weight=at_recall,
    formula="(n - m - (p_c - c)) / (n - m), c = ceil(r m)",
    reference="KusaLKH23",
    history="Kusa and others (2023) show that it is WSS, normalized so that the best ranking has 1 and the worst 0.",
    use="Use it instead of WSS where reviews with different shares of relevant records are compared or averaged.",
    misses="It looks only at the document that reaches the recall, and ignores the relevant ones that come later.",
    corpus="required",
    at="recall",
    needs_at=True,
)


def _found_of(recall: float, m: Any) -> IntArray:
    """Return the last relevant document within a recall, floor(recall · m); 0 if even the first one is beyond it."""
    return Share.of_fraction(recall).of(m)


def _at_recall_or_before(i: IntArray, m: IntArray, recall: float) -> BoolArray:
    return np.equal(i, _found_of(recall, m))


def _found_by_chance(k: Any, m: Any, n: Any) -> FloatArray:
    """Return what ASReview Insights takes a random order to find by record k: from 0 at the first to m at the last."""
    return np.asarray(np.round((k - 1) * (m / np.maximum(n - 1, 1))))


def _records_by_chance(found: Any, m: Any, n: Any) -> FloatArray:
    """Return after how many records that random order finds so many, not counting the one that it finds last."""
    before = np.maximum(np.floor((found - 0.5) * (np.maximum(n - 1, 1) / m)) - 1, 0)
    for _ in range(3):  # the division may be off by one, and exact halves are rounded to even
        before = before + (_found_by_chance(before + 1, m, n) < found)
    return np.asarray(before)


def _work_saved_in_asreview(i: IntArray, m: Any, n: Any, recall: float) -> Ratio:
    found = _found_of(recall, m)
    return Ratio(_records_by_chance(found, m, n) - (i - 1), n)


def _recall_beyond_chance_in_asreview(projection: Projection, share: float) -> FloatArray:
    n, m = corpus_size_of(projection), np.maximum(projection.num_relevant, 1)
    k = Share.of_fraction(share).of(n)
    by_chance = np.where(k > 0, _found_by_chance(k, projection.num_relevant, n), 0)
    return _recall_at(projection, share) - by_chance / m


def _rate_in_asreview(i: IntArray, m: Any, n: Any, recall: float) -> FloatArray:
    below = m - _found_of(recall, m)
    return np.asarray(np.round(np.maximum(n - i - below, 0) / _others(m, n), 6))


ASREVIEW_WSS = Measure(
    "AsreviewWSS",
    "work saved over sampling as ASReview Insights computes it",
    exposure=_work_saved_in_asreview,
    weight=_at_recall_or_before,
    formula="(w - (p_c - 1)) / n, c = floor(r m), w the first j with round(j m/(n-1)) >= c",
    reference="VanDeSchoot21",
    history="The number of ASReview Insights 1.6. It stops at or before recall r, where WSS stops at or after it.",
    use="Use it to compare with numbers that ASReview Insights reported; use WSS otherwise.",
    misses="It may stop short of recall r. If even the first document is beyond r, it is 0.",
    limits=(-1, 1),
    corpus="required",
    at="recall",
    needs_at=True,
)
ASREVIEW_ERF = Measure(
    "AsreviewERF",
    "extra relevant references found as ASReview Insights computes them",
    function=_recall_beyond_chance_in_asreview,
    expected="same",
    formula="(#{i : p_i <= k} - round((k-1) m/(n-1))) / m, k = floor(r n)",
    reference="VanDeSchoot21",
    history="The number of ASReview Insights 1.6, which rounds what a random order finds to whole records.",
    use="Use it to compare with numbers that ASReview Insights reported; use ERF otherwise.",
    misses="With few relevant documents the rounding outweighs the difference between rankings.",
    limits=(-1, 1),
    corpus="required",
    at="share",
    needs_at=True,
    cuts=True,
)
ASREVIEW_TNR = Measure(
    "AsreviewTNR",
    "true negative rate as ASReview Insights computes it",
    exposure=_rate_in_asreview,
    weight=_at_recall_or_before,
    formula="(n - m - (p_c - c)) / (n - m) in six decimals, c = floor(r m)",
    reference="VanDeSchoot21",
    history="The number of ASReview Insights 1.6. It stops at or before recall r, where TNR stops at or after it.",
    use="Use it to compare with numbers that ASReview Insights reported; use TNR otherwise.",
    misses="It may stop short of recall r. If even the first document is beyond r, it is 0.",
    corpus="required",
    at="recall",
    needs_at=True,
)
TITLE = "Measures of reviews"
ROWS = (RRF, ERF, ATD, LOSS, TNR, ASREVIEW_WSS, ASREVIEW_ERF, ASREVIEW_TNR)

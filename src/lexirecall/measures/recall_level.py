"""Recall-level measures: sum over the relevant documents of exposure times weight, sum_i e(p_i) z(i, m).

Belongs here: one row for each measure of this form, as the paper writes it; `Ratio(i, m)` is i/m.
"""

from typing import Any

import numpy as np

from lexirecall.exposure import EXPOSURES, ap, linear, rbp
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import Measure, ask
from lexirecall.measures.parameter import Parameter
from lexirecall.measures.ratio import Ratio
from lexirecall.positions import Projection

PATIENCE = Parameter(0.8, above=0, below=1)


def _first(i: IntArray) -> BoolArray:
    return np.equal(i, 1)


def _last(i: IntArray, m: IntArray) -> BoolArray:
    return np.equal(i, m)


AP = Measure(
    "AP",
    "average precision",
    exposure=lambda i: Ratio(1, i),  # e(i) = 1/i
    weight=lambda i, m: Ratio(i, m),  # noqa: PLW0108 - arguments are asked for by their names
    formula="(1/m) sum_i i/p_i; with @k only the relevant documents in the top k count",
    reference="Harman92",
    history="A standard measure of TREC since the 1990s (Harman 1992, Buckley and Voorhees 2005).",
    use="Use it to compare whole rankings by one number that rewards precision and recall together.",
    misses="A document that is very deep or missing costs little if many others come early, so it says little about "
    "completeness.",
    at="cutoff",
    trec=("map", "map_cut"),
    aliases=("average_precision",),
)
RR = Measure(
    "RR",
    "reciprocal rank of the first relevant document",
    exposure=ap,
    weight=_first,
    formula="1/p_1; with @k, 0 if p_1 > k",
    reference="KantorV00",
    history="Used in the TREC-5 confusion track (Kantor and Voorhees 2000) and made popular by the question answering "
    "track of TREC-8 (Voorhees 1999).",
    use="Use it where one answer is enough, as in known-item search and question answering.",
    misses="It ignores every relevant document after the first.",
    at="cutoff",
    trec=("recip_rank",),
    aliases=("mrr",),
    coincides=True,
)
RBP = Measure(
    "RBP",
    "rank-biased precision, for a user who goes on to the next document with probability p",
    exposure=rbp,  # e(i) = (1-p) p^(i-1)
    weight=np.ones_like,
    formula="(1-p) sum_i p^(p_i - 1), p = 0.8 by default",
    reference="MoffatZ08",
    history="Introduced by Moffat and Zobel in 2008.",
    use="Use it to model a user who reads from the top and gives up sooner or later, however many relevant documents "
    "there are.",
    misses="It does not depend on the number of relevant documents, so it cannot tell whether all of them were found.",
    defaults="p is 0.8, as in ir_measures: such a user reads five documents on average. Take 0.95 for a patient user.",
    at="cutoff",
    parameters={"p": PATIENCE},
)
R = Measure(
    "R",
    "recall at k: the share of the relevant documents in the top k",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=lambda i, m: Ratio(1, m),
    formula="#{i : p_i <= k} / m; k = floor(0.1 n) for @10%",
    reference="DiazEM25",
    history="Recall is as old as retrieval experiments; trec_eval computes it at cut-offs.",
    use="Use it where exactly k documents are read, or passed on to a second stage. R@10% cuts at a tenth of the "
    "corpus of each query.",
    misses="It ignores the order of the top k and everything below it, so many rankings tie.",
    at="cutoff",
    needs_at=True,
    takes_share=True,
    trec=("", "recall"),
    aliases=("recall",),
    coincides=True,
)
P = Measure(
    "P",
    "precision at k: the share of the top k that is relevant, even where the list is shorter",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=lambda i, cutoff: Ratio(1, cutoff),
    formula="#{i : p_i <= k} / k",
    reference="Rijsbergen79",
    history="Precision is as old as retrieval experiments; TREC has reported it at cut-offs since its early years.",
    use="Use it for a page of k results that all count the same.",
    misses="It ignores the order of the top k and how much was missed. A query with fewer than k relevant documents "
    "cannot reach 1.",
    at="cutoff",
    needs_at=True,
    trec=("", "P"),
    aliases=("precision",),
)
SUCCESS = Measure(
    "Success",
    "whether the top k hold a relevant document",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=_first,
    formula="1 if p_1 <= k, else 0",
    reference="BuckleyV05",
    history="Known as success in trec_eval and as hit rate in research on recommender systems.",
    use="Use it where one relevant document among the first k is all that a user wants.",
    misses="It ignores where in the top k that document is, and every other relevant document.",
    at="cutoff",
    needs_at=True,
    takes_share=True,
    trec=("", "success"),
    aliases=("hit_rate", "recall_any"),
    is_share=True,
    coincides=True,
)
ALL = Measure(
    "All",
    "whether the top k hold every relevant document",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=_last,
    formula="1 if p_m <= k, else 0",
    reference="WuWYZCY25",
    history="LongMemEval (Wu and others 2025) reports it as recall_all; others call it perfect or full recall.",
    use="Use it where an answer needs all of the evidence, and whoever reads it sees exactly k documents. It is the "
    "Success of the worst-off user.",
    misses="It does not tell a query that lacks one document from a query that lacks all of them.",
    at="cutoff",
    needs_at=True,
    takes_share=True,
    aliases=("recall_all", "full_recall", "perfect_recall", "AllRel", "PerfRecall"),
    is_share=True,
    coincides=True,
)
RPREC = Measure(
    "Rprec",
    "R-precision: precision at m, the number of relevant documents",
    exposure=lambda i, m: i <= m,
    weight=lambda i, m: Ratio(1, m),
    formula="#{i : p_i <= m} / m",
    reference="BuckleyV05",
    history="Reported by TREC since its early years and described by Buckley and Voorhees (2005).",
    use="Use it where the number of relevant documents differs much between queries: each has its own cut-off.",
    misses="It ignores the order of the top m, and a relevant document just below counts no more than a missing one.",
    trec=("Rprec",),
    cuts=True,
    aliases=("r-precision", "r_precision"),
    coincides=True,
)


LINEAR = Measure(
    "Linear",
    "mean exposure of the relevant documents if exposure falls evenly to the end of the corpus",
    exposure=linear,  # e(i) = 1 - i/n
    weight=lambda i, m: Ratio(1, m),
    formula="(1/m) sum_i (1 - p_i/n)",
    reference="DiazEM25",
    history="Linear discounting is an example of a top-heavy recall-level measure in Diaz, Ekstrand and Mitra (2025).",
    use="Use it where each further document costs the same effort, at the top and far down.",
    misses="In a large corpus all good rankings have values close to 1, so differences near the top hardly show.",
    corpus="required",
    coincides=True,
)


def _exposure_of_name(i: FloatArray, e: str, p: float, n: FloatArray) -> Any:
    return ask(EXPOSURES[e], i, {"p": p, "n": n})


def _by_last_position(projection: Projection, cutoff: int | None) -> FloatArray:
    """Order by p_m for every e: e falls strictly, but in floats it reaches 0. Beyond the cut-off all are equal."""
    size, found = projection.source.corpus_size, projection.found
    beyond = float(np.iinfo(np.int64).max)
    last = np.empty(projection.source.shape)
    last[:] = beyond if size is None else size
    has_all = (found.segments.sizes > 0) & (found.segments.sizes == np.tile(projection.num_relevant, len(last)))
    last.ravel()[has_all] = found.positions[found.segments.offsets[1:][has_all] - 1]
    return -(last if cutoff is None else np.where(last <= cutoff, last, beyond))


TSE = Measure(
    "TSE",
    "total search efficiency: the exposure of the last relevant document, and so the utility of the worst-off user",
    exposure=_exposure_of_name,
    weight=_last,
    compared_by=_by_last_position,
    formula="e(p_m), e(i) = 1/i by default, 1/log2(i+1) for e='dcg', (1-p) p^(i-1) for 'rbp', 1 - i/n for 'linear'",
    reference="DiazEM25",
    history="Introduced by Diaz, Ekstrand and Mitra in 2025, inspired by Cooper's search length of type 3 (1968).",
    use="Use it where everything relevant must be found, or where the worst-off user counts.",
    misses="It looks at the last relevant document only, so many rankings tie. LexiRecall breaks these ties.",
    defaults="With e='ap', e(i) = 1/i, it is the worst case of AP and of RR if nothing is missing. Only e='rbp' uses "
    "p, which is 0.8 as for RBP.",
    corpus="optional",
    at="cutoff",
    parameters={"e": Parameter("ap", options=tuple(EXPOSURES)), "p": PATIENCE},
    coincides=True,
    is_steady=False,
)
SL1 = Measure(
    "SL1",
    "search length to the first relevant document: how many non-relevant documents are above it",
    exposure=lambda i: i - 1,
    weight=_first,
    formula="p_1 - 1",
    reference="Cooper68",
    history="Search length was introduced by Cooper in 1968; this is the case of a user who wants one document.",
    use="Use it to count the documents that are read in vain before the first relevant one.",
    misses="It ignores every relevant document after the first, and one very deep document can dominate the mean over "
    "queries.",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
    coincides=True,
)
SL3 = Measure(
    "SL3",
    "search length of type 3: how many non-relevant documents are above the last relevant one",
    exposure=lambda i, m: i - m,
    weight=_last,
    formula="p_m - m",
    reference="Cooper68",
    history="Introduced by Cooper in 1968, for a user who wants every relevant document.",
    use="Use it to count the documents that are read in vain until everything is found.",
    misses="It looks at the last relevant document only, and one very deep document can dominate the mean over "
    "queries.",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
)
LAST_REL = Measure(
    "LastRel",
    "position of the last relevant document",
    exposure=lambda i: i,
    weight=_last,
    formula="p_m",
    reference="ZouLK18",
    history="Used by Zou, Li and Kanoulas in 2018 to evaluate technology-assisted reviews.",
    use="Use it to say how many documents must be read to find everything.",
    misses="It ignores every relevant document except the last, and one very deep document can dominate the mean over "
    "queries.",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
    coincides=True,
)
RE = Measure(
    "RE",
    "recall error: how much deeper the relevant documents are, on average, than if they were all at the top",
    exposure=lambda i, m: i - (m + 1) / 2,
    weight=lambda i, m: Ratio(1, m),
    formula="mean(p) - (m+1)/2",
    reference="Rocchio64",
    history="Introduced by Rocchio in 1964.",
    use="Use it to say how far the relevant documents are from the top, each counting the same.",
    misses="It is sensitive to outliers: one very deep relevant document can outweigh all the others.",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
)


def needed_for_recall(recall: float, m: IntArray) -> IntArray:
    """Return how many of m relevant documents make up a share, ceil(recall · m), without errors of binary fractions.

    >>> needed_for_recall(0.07, np.array([100])), int(np.ceil(0.07 * 100))
    (array([7]), 8)
    """
    from fractions import Fraction  # not on top: only these measures need it

    exact = Fraction(str(recall))
    sizes, where = np.unique(m, return_inverse=True)
    needed = [-(-int(size) * exact.numerator // exact.denominator) for size in sizes]
    return np.array(needed, np.int64)[where].reshape(m.shape)


def at_recall(i: IntArray, m: IntArray, recall: float) -> BoolArray:
    """Tell which relevant document is the one that reaches the recall, the c-th, c = ceil(recall · m).

    >>> at_recall(np.array([1, 2, 3]), np.array([3, 3, 3]), 0.5).tolist()
    [False, True, False]
    """
    return np.equal(i, needed_for_recall(recall, np.asarray(m)))


DEPTH = Measure(
    "Depth",
    "how deep one must read to find the share r of the relevant documents",
    exposure=lambda i: i,
    weight=at_recall,
    formula="p_c, c = ceil(r m)",
    reference="CormackG14",
    history="Effort at a given recall is a common measure in technology-assisted review, as in Cormack and Grossman "
    "(2014).",
    use="Use it to plan a review: it says how many documents to read for the recall that you need.",
    misses="It looks only at the document that reaches the recall, and ignores the relevant ones that come later.",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
    at="recall",
    needs_at=True,
    coincides=True,
)
WSS = Measure(
    "WSS",
    "work saved over sampling: the share of the corpus left unread at recall r, beyond what random order would leave",
    exposure=lambda i, n, recall: recall - i / n,
    weight=at_recall,
    formula="(n - p_c)/n - (1 - r), c = ceil(r m)",
    reference="CohenHPY06",
    history="Introduced by Cohen, Hersh, Peterson and Yen in 2006 for systematic reviews.",
    use="Use it to say how much screening a ranking saves in a systematic review.",
    misses="It ignores relevant documents beyond recall r. Its highest value depends on the share of the corpus that "
    "is relevant, so compare it on one corpus only.",
    limits=(-1, 1),
    corpus="required",
    at="recall",
    needs_at=True,
    coincides=True,
)
REACHED = Measure(
    "Reached",
    "whether the top k hold the share r of the relevant documents",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=lambda i, m, r: at_recall(i, m, r),  # noqa: PLW0108 - arguments are asked for by their names
    formula="1 if p_c <= k, else 0; c = ceil(r m), r = 0.9 by default",
    reference="CormackG16",
    history="Cormack and Grossman (2016) call the share of reviews that reach a recall their reliability. With r = 1 "
    "it is All.",
    use="Use it to say for how many queries a list of k documents reaches the recall that you need.",
    misses="It ignores the relevant documents beyond recall r, and how far a query that fails was from it.",
    defaults="r is 0.9, so a query may miss one in ten of its relevant documents. With fewer than ten it must find "
    "all of them.",
    at="cutoff",
    needs_at=True,
    takes_share=True,
    parameters={"r": Parameter(0.9, above=0, high=1)},
    is_share=True,
    coincides=True,
)
TITLE = "Recall-level measures"
ROWS = (AP, RR, RBP, LINEAR, R, P, SUCCESS, ALL, REACHED, RPREC, TSE, SL1, SL3, LAST_REL, RE, DEPTH, WSS)

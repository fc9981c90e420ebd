"""Recall-level measures: sum over the relevant items of exposure times weight, sum_i e(p_i) z(i, m).

Belongs here: one row for each measure of this form, as the paper writes it; `Ratio(i, m)` is i/m.
"""

from fractions import Fraction
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
    formula="(1/m) sum_i i/p_i; with @k only the relevant items in the top k count",
    reference="Harman92",
    at="cutoff",
    trec=("map", "map_cut"),
    aliases=("average_precision",),
)
RR = Measure(
    "RR",
    "reciprocal rank of the first relevant item",
    exposure=ap,
    weight=_first,
    formula="1/p_1; with @k, 0 if p_1 > k",
    reference="KantorV00",
    at="cutoff",
    trec=("recip_rank",),
    aliases=("mrr",),
)
RBP = Measure(
    "RBP",
    "rank-biased precision, for a user who goes on to the next item with probability p",
    exposure=rbp,  # e(i) = (1-p) p^(i-1)
    weight=np.ones_like,
    formula="(1-p) sum_i p^(p_i - 1), p = 0.8 by default",
    reference="MoffatZ08",
    at="cutoff",
    parameters={"p": PATIENCE},
)
R = Measure(
    "R",
    "recall at k: the share of the relevant items that is in the top k",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=lambda i, m: Ratio(1, m),
    formula="#{i : p_i <= k} / m",
    reference="DiazEM25",
    at="cutoff",
    needs_at=True,
    trec=("", "recall"),
    aliases=("recall",),
)
P = Measure(
    "P",
    "precision at k: the share of the top k that is relevant, even where the list is shorter",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=lambda i, cutoff: Ratio(1, cutoff),
    formula="#{i : p_i <= k} / k",
    reference="Rijsbergen79",
    at="cutoff",
    needs_at=True,
    trec=("", "P"),
    aliases=("precision",),
)
SUCCESS = Measure(
    "Success",
    "whether the top k hold a relevant item",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=_first,
    formula="1 if p_1 <= k, else 0",
    reference="BuckleyV05",
    at="cutoff",
    needs_at=True,
    trec=("", "success"),
    aliases=("hit_rate",),
)
RPREC = Measure(
    "Rprec",
    "R-precision: precision at m, the number of relevant items",
    exposure=lambda i, m: i <= m,
    weight=lambda i, m: Ratio(1, m),
    formula="#{i : p_i <= m} / m",
    reference="BuckleyV05",
    trec=("Rprec",),
    cuts=True,
    aliases=("r-precision", "r_precision"),
)


LINEAR = Measure(
    "Linear",
    "mean exposure of the relevant items if exposure falls evenly to the end of the corpus",
    exposure=linear,  # e(i) = 1 - i/n
    weight=lambda i, m: Ratio(1, m),
    formula="(1/m) sum_i (1 - p_i/n)",
    reference="DiazEM25",
    corpus="required",
)


def _exposure_of_name(i: FloatArray, e: str, p: float, n: FloatArray) -> Any:
    return ask(EXPOSURES[e], i, {"p": p, "n": n})


def _by_last_position(projection: Projection, cutoff: int | None) -> FloatArray:
    """Order by p_m, whatever e is: e falls strictly, but in floats it reaches 0. Beyond the cut-off all are equal."""
    size, found = projection.source.corpus_size, projection.found
    beyond = float(np.iinfo(np.int64).max)
    last = np.empty(projection.source.shape)
    last[:] = beyond if size is None else size
    has_all = (found.segments.sizes > 0) & (found.segments.sizes == np.tile(projection.num_relevant, len(last)))
    last.ravel()[has_all] = found.positions[found.segments.offsets[1:][has_all] - 1]
    return -(last if cutoff is None else np.where(last <= cutoff, last, beyond))


TSE = Measure(
    "TSE",
    "total search efficiency: the exposure of the last relevant item, and so the utility of the worst-off user",
    exposure=_exposure_of_name,
    weight=_last,
    compared_by=_by_last_position,
    formula="e(p_m), e(i) = 1/i by default, 1/log2(i+1) for e='dcg', (1-p) p^(i-1) for 'rbp', 1 - i/n for 'linear'",
    reference="DiazEM25",
    corpus="optional",
    at="cutoff",
    parameters={"e": Parameter("ap", options=tuple(EXPOSURES)), "p": PATIENCE},
)
SL1 = Measure(
    "SL1",
    "search length to the first relevant item: how many non-relevant items stand above it",
    exposure=lambda i: i - 1,
    weight=_first,
    formula="p_1 - 1",
    reference="Cooper68",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
)
SL3 = Measure(
    "SL3",
    "search length of type 3: how many non-relevant items stand above the last relevant one",
    exposure=lambda i, m: i - m,
    weight=_last,
    formula="p_m - m",
    reference="Cooper68",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
)
LAST_REL = Measure(
    "LastRel",
    "position of the last relevant item",
    exposure=lambda i: i,
    weight=_last,
    formula="p_m",
    reference="ZouLK18",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
)
RE = Measure(
    "RE",
    "recall error: how much deeper the relevant items stand, on average, than if they were all at the top",
    exposure=lambda i, m: i - (m + 1) / 2,
    weight=lambda i, m: Ratio(1, m),
    formula="mean(p) - (m+1)/2",
    reference="Rocchio64",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
)


def needed_for_recall(recall: float, m: IntArray) -> IntArray:
    """Return how many of m relevant items make up a share, ceil(recall · m), without the errors of binary fractions.

    >>> needed_for_recall(0.07, np.array([100])), int(np.ceil(0.07 * 100))
    (array([7]), 8)
    """
    exact = Fraction(str(recall))
    sizes, where = np.unique(m, return_inverse=True)
    needed = [-(-int(size) * exact.numerator // exact.denominator) for size in sizes]
    return np.array(needed, np.int64)[where]


def _at_recall(i: IntArray, m: IntArray, recall: float) -> BoolArray:
    return np.equal(i, needed_for_recall(recall, np.broadcast_to(m, i.shape)))


DEPTH = Measure(
    "Depth",
    "how deep one must read to find the share r of the relevant items",
    exposure=lambda i: i,
    weight=_at_recall,
    formula="p_c, c = ceil(r m)",
    reference="CormackG14",
    direction=-1,
    limits=(0, np.inf),
    corpus="if missing",
    decimals=1,
    at="recall",
    needs_at=True,
)
WSS = Measure(
    "WSS",
    "work saved over sampling: the share of the corpus left unread at recall r, beyond what random order would leave",
    exposure=lambda i, n, recall: recall - i / n,
    weight=_at_recall,
    formula="(n - p_c)/n - (1 - r), c = ceil(r m)",
    reference="CohenHPY06",
    limits=(-1, 1),
    corpus="required",
    at="recall",
    needs_at=True,
)
TITLE = "Recall-level measures"
ROWS = (AP, RR, RBP, LINEAR, R, P, SUCCESS, RPREC, TSE, SL1, SL3, LAST_REL, RE, DEPTH, WSS)

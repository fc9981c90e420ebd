"""Counts and measures of sets: what was retrieved, in any order.

Belongs here: one row for each such measure, in trec_eval's definition.
"""

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.measures.depthcounts import count_within, square_within
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.positions import Projection


def _num_ret(projection: Projection) -> FloatArray:
    return projection.source.num_retrieved.astype(float)


def _num_rel(projection: Projection) -> FloatArray:
    return np.broadcast_to(projection.num_relevant.astype(float), projection.source.shape)


def _num_rel_ret(projection: Projection) -> FloatArray:
    return _share(projection, np.ones(projection.source.shape))


def _num_q(projection: Projection) -> FloatArray:
    return np.ones(projection.source.shape)


def _set_p(projection: Projection, relative: bool) -> FloatArray:
    k = _num_ret(projection)
    return _share(projection, np.minimum(k, _num_rel(projection)) if relative else k)


def _set_r(projection: Projection) -> FloatArray:
    return _share(projection, _num_rel(projection))


def _set_f(projection: Projection, beta: float) -> FloatArray:
    p, r = _set_p(projection, relative=False), _set_r(projection)
    return np.where(r > 0, (beta + 1) * p * r / (beta * p + r), 0.0)  # in the order of trec_eval


def _set_ap(projection: Projection) -> FloatArray:
    found = count_within(projection.found, projection.source.num_retrieved)  # whole numbers: nothing is tied
    return _quotient(found.over * found.over, _num_ret(projection) * _num_rel(projection))


def _expected_set_ap(projection: Projection) -> FloatArray:
    """Take the mean of r^2: how many of the tied documents at the end of a cut list are relevant is hypergeometric."""
    found = square_within(projection.found, projection.source.num_retrieved)
    return _quotient(found.over, found.under * _num_ret(projection) * _num_rel(projection))


def _share(projection: Projection, whole: FloatArray) -> FloatArray:
    """Divide the number of relevant documents in the list. Imputed positions lie below it; tied ones may be cut off."""
    part = count_within(projection.found, projection.source.num_retrieved)
    return _quotient(part.over, part.under * whole)


def _quotient(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole > 0, part / whole, 0.0)


NUM_Q = Measure(
    "NumQ",
    "number of queries",
    function=_num_q,
    expected="same",
    formula="1",
    reference="BuckleyV05",
    history="Part of the standard output of trec_eval, as num_q.",
    use="Use it to see how many queries a mean is over.",
    misses="It is 1 for every query that counts, whatever a run retrieved.",
    total="sum",
    decimals=0,
    trec=("num_q",),
    coincides=True,
)
NUM_RET = Measure(
    "NumRet",
    "number of documents retrieved",
    function=_num_ret,
    expected="same",
    counts_list=True,
    formula="k",
    reference="BuckleyV05",
    history="Part of the standard output of trec_eval, as num_ret.",
    use="Use it to check that a run is as long as you expect.",
    misses="It says nothing about relevance.",
    limits=(0, np.inf),
    total="sum",
    decimals=0,
    trec=("num_ret",),
    coincides=True,
)
NUM_REL = Measure(
    "NumRel",
    "number of relevant documents",
    function=_num_rel,
    expected="same",
    formula="m",
    reference="BuckleyV05",
    history="Part of the standard output of trec_eval, as num_rel.",
    use="Use it to see how many documents there are to find.",
    misses="It depends on the judgments alone and says nothing about a run.",
    limits=(0, np.inf),
    total="sum",
    decimals=0,
    trec=("num_rel",),
    coincides=True,
)
NUM_REL_RET = Measure(
    "NumRelRet",
    "number of relevant documents retrieved",
    function=_num_rel_ret,
    expected="same",
    formula="r",
    reference="BuckleyV05",
    history="Part of the standard output of trec_eval, as num_rel_ret.",
    use="Use it to count what a run found, at any depth.",
    misses="It ignores the order and the length of the list, and queries with many relevant documents dominate the "
    "sum.",
    limits=(0, np.inf),
    total="sum",
    decimals=0,
    trec=("num_rel_ret",),
    coincides=True,
)
SET_P = Measure(
    "SetP",
    "precision of the whole list",
    function=_set_p,
    expected="same",
    counts_list=True,
    formula="r / k; r / min(k, m) with relative=True",
    reference="Rijsbergen79",
    history="Precision is as old as retrieval experiments; van Rijsbergen (1979) treats it at length.",
    use="Use it for results without an order, such as those of a Boolean query.",
    misses="It ignores the order of the list and what was missed: a list of one relevant document has the value 1.",
    defaults="relative is False, which is trec_eval's set_P. With relative=True, its set_relative_P, the value is over "
    "the best that a list of this length can have.",
    parameters={"relative": Parameter(False, kind=bool)},
    trec=("set_P",),
)
SET_R = Measure(
    "SetR",
    "recall of the whole list",
    function=_set_r,
    expected="same",
    formula="r / m",
    reference="Rijsbergen79",
    history="Recall is as old as retrieval experiments; van Rijsbergen (1979) treats it at length.",
    use="Use it for results without an order, or to see what a run finds at all.",
    misses="It ignores the order of the list and its length: a list of the whole corpus has the value 1.",
    trec=("set_recall",),
    coincides=True,
)
SET_F = Measure(
    "SetF",
    "weighted harmonic mean of SetP and SetR",
    function=_set_f,
    expected="same",
    counts_list=True,
    formula="(1 + beta) SetP SetR / (SetR + beta SetP) = (1 + beta) r / (k + beta m), beta = 1 by default",
    reference="Rijsbergen79",
    history="F is 1 - E, where E is the effectiveness measure of van Rijsbergen (1979).",
    use="Use it to sum up the precision and the recall of results without an order.",
    misses="It ignores the order of the list, and a value can mean high precision with low recall, or the reverse.",
    defaults="beta is 1, as in trec_eval, so precision and recall count the same. As there, beta is not squared in "
    "the formula.",
    parameters={"beta": Parameter(1, low=0, high=1e15)},
    trec=("set_F",),
    trec_parameter="beta",
    aliases=("f1",),
)
SET_AP = Measure(
    "SetAP",
    "SetP times SetR",
    function=_set_ap,
    expected=_expected_set_ap,
    counts_list=True,
    formula="r^2 / (k m)",
    reference="BuckleyV05",
    history="A measure of trec_eval, as set_map: average precision of a list whose documents are in no order.",
    use="Use it to sum up the precision and the recall of results without an order, beside AP of those with one.",
    misses="It ignores the order of the list, and it is low as soon as one of precision and recall is.",
    trec=("set_map",),
)
TITLE = "Counts and sets"
ROWS = (NUM_Q, NUM_RET, NUM_REL, NUM_REL_RET, SET_P, SET_R, SET_F, SET_AP)

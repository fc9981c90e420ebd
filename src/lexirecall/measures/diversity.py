"""Measures of diversity: how early a ranking covers the units of a query, such as the subtopics of an ambiguous one.

Belongs here: one row for each such measure, under the name that ir_measures has for it and in ndeval's definition.

A unit that was served before is worth less: the c-th document that serves it gains (1 - alpha)^(c-1). So these measures
look at all documents that serve a unit, and not only at the first, which is where the unit is found.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.graded import discounted
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.measures.ratio import Ratio
from lexirecall.positions import Positions, Projection
from lexirecall.providers import members
from lexirecall.segments import occurrences, sums_of

if TYPE_CHECKING:
    from lexirecall.units import Units

ALPHA = 0.5
GREEDY_LIMIT = np.e / (np.e - 1)
"""How much better than the greedy choice any ranking can be, since gains are submodular (Nemhauser and others 1978)."""


def _units_of(projection: Projection) -> "tuple[Positions, Units]":
    """Return the positions of documents and what they serve, or raise if a document may count less than once."""
    served, conventions = projection.source.served, projection.source.conventions
    assert served is not None  # noqa: S101 - Measure.scores has seen to it
    assert served.origin.units is not None  # noqa: S101 - they are what is served
    if conventions.count == "units":
        problem = "alpha_nDCG and ERR_IA count documents that serve a unit again, which take no place here"
        raise UsageError(problem, remedy="leave --count units out, or these measures")
    if served.origin.units.needs_all.any():
        problem = "alpha_nDCG and ERR_IA count each document that serves a unit, but a unit needs several together here"
        raise UsageError(problem, remedy="leave the rule `all` out, or these measures; StRecall takes it")
    return served.origin, served.origin.units


def _gains(projection: Projection, alpha: float) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the ranking, the position and the gain of each document and unit that it serves, in the order of lists."""
    origin, units = _units_of(projection)
    found = origin.found
    pairs = members(units.offsets, found.documents)
    rows = np.repeat(np.arange(len(found.documents)), np.diff(units.offsets)[found.documents])
    serves = _serves(units, projection.level)[pairs]
    pairs, rows = pairs[serves], rows[serves]
    rankings = found.segments.owners[rows]
    earlier = occurrences(rankings * len(units.judgments.grades) + units.units[pairs])
    return rankings, found.positions[rows].astype(float), np.power(1 - alpha, earlier, dtype=np.float64)


def _serves(units: "Units", level: float) -> BoolArray:
    """Tell which pairs of document and unit count: the unit is relevant, and the document serves it at the level."""
    return np.asarray(np.minimum(units.grades, units.judgments.grades[units.units]) >= level)


def _alpha_ndcg(projection: Projection, alpha: float, cutoff: int) -> FloatArray:
    rankings, positions, gains = _gains(projection, alpha)
    shape = projection.source.shape
    gained = sums_of(discounted(gains, positions, cutoff), rankings, shape[0] * shape[1]).reshape(shape)
    ideal = np.array([_ideal(covered, alpha, cutoff) for covered in _coverage(projection)])
    return np.where(ideal > 0, gained / np.where(ideal > 0, ideal, 1.0), 0.0)


def _coverage(projection: Projection) -> Iterator[BoolArray]:
    """Give, for each query, which judged documents serve which relevant units, the highest id first, as a matrix."""
    origin, units = _units_of(projection)
    judgments, serves = origin.judgments, _serves(units, projection.level)
    serving = np.repeat(np.arange(len(judgments.grades)), np.diff(units.offsets))[serves]
    served = units.units[serves]
    for start, stop in zip(judgments.offsets[:-1], judgments.offsets[1:], strict=True):
        here = slice(*np.searchsorted(serving, [start, stop]))
        documents, which = np.unique(serving[here], return_inverse=True)
        names, columns = np.unique(served[here], return_inverse=True)
        covered = np.zeros((len(documents), len(names)), bool)
        covered[which, columns] = True
        ids = [judgments.documents[int(document)] for document in documents]
        yield covered[sorted(range(len(ids)), key=ids.__getitem__, reverse=True)]


def _ideal(covered: BoolArray, alpha: float, cutoff: int) -> float:
    """Return what the greedy choice gains: each place has the document that gains most there, as in ndeval.

    Of equal ones it is the document with the highest id. Sums of equal gains may differ in the last digits.

    >>> _ideal(np.array([[True, True, False], [False, True, True]]), 0.5, 1)
    2.0
    """
    worth, gains, covered = np.ones(covered.shape[1]), [], covered.copy()
    for _ in range(min(len(covered), cutoff)):
        values = np.where(covered, worth, 0.0).sum(axis=1).round(12)
        best = int(values.argmax())
        gains.append(worth[covered[best]].sum())
        worth = np.where(covered[best], worth * (1 - alpha), worth)
        covered[best] = False
    return float(discounted(np.array(gains), np.arange(1.0, len(gains) + 1)).sum())


def _err_ia(projection: Projection, cutoff: int) -> FloatArray:
    """Divide by what a list gains of which each document serves every unit: it would have the value 1."""
    rankings, positions, gains = _gains(projection, ALPHA)
    shape, places = projection.source.shape, np.arange(1.0, min(cutoff, 1000) + 1)  # 0.5^1000 adds nothing
    terms = np.where(positions <= cutoff, gains / positions, 0.0)
    highest = ((1 - ALPHA) ** (places - 1) / places).sum() * np.maximum(projection.num_relevant, 1)
    return np.asarray(sums_of(terms, rankings, shape[0] * shape[1]).reshape(shape) / highest)


ST_RECALL = Measure(
    "StRecall",
    "subtopic recall: the share of the units that the top k cover",
    exposure=lambda i, cutoff: i <= cutoff,
    weight=lambda i, m: Ratio(1, m),
    formula="#{i : p_i <= k} / m, p_i of units",
    reference="ZhaiCL03",
    history="Introduced by Zhai, Cohen and Lafferty in 2003. ndeval reports it as strec.",
    use="Use it to see how many of the aspects of a query the top k touch. It is R@k of units.",
    misses="It ignores the order of the top k, and whether a unit is served once or often.",
    at="cutoff",
    needs_at=True,
    needs_units=True,
    coincides=True,
    aliases=("strec",),
)
ALPHA_NDCG = Measure(
    "alpha_nDCG",
    "nDCG in which a unit that was served before is worth less",
    function=_alpha_ndcg,
    formula="sum over documents d at p and their units u of (1-alpha)^(c-1)/log2(p + 1), d the c-th that serves u; "
    "over the same sum for the greedy best order",
    reference="ClarkeKCVABM08",
    history="Introduced by Clarke and others in 2008, and used in the diversity task of the TREC Web track.",
    use="Use it where documents that repeat each other are of little use, and the top of the ranking matters most.",
    misses="A unit that nothing serves costs little if others are served early. The best order is found greedily, so "
    "a value can be slightly above 1.",
    defaults="alpha is 0.5, as in ndeval: each further document that serves a unit gains half as much.",
    at="cutoff",
    needs_at=True,
    parameters={"alpha": Parameter(ALPHA, low=0, high=1)},
    needs_units=True,
    coincides=True,
    limits=(0, GREEDY_LIMIT),
    aliases=("alpha-ndcg",),
)
ERR_IA = Measure(
    "ERR_IA",
    "intent-aware expected reciprocal rank: ERR of each unit, averaged",
    function=_err_ia,
    formula="sum over documents d at p <= k and their units u of 0.5^(c-1)/p, d the c-th that serves u; over "
    "m sum_(i<=k) 0.5^(i-1)/i",
    reference="ChapelleMZG09",
    history="Follows ERR (Chapelle and others 2009); ndeval made it a measure of the TREC Web track.",
    use="Use it for a user who stops once satisfied, if different users want different units.",
    misses="It nearly ignores what comes after the first documents, and what is never served.",
    at="cutoff",
    needs_at=True,
    needs_units=True,
    coincides=True,
    aliases=("err-ia",),
)
TITLE = "Diversity: measures of units"
ROWS = (ST_RECALL, ALPHA_NDCG, ERR_IA)

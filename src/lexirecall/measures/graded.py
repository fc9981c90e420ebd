"""Measures of grades: nDCG, ERR and graded RBP. They use the grades and ignore the level, unless nDCG is given one.

Belongs here: one row for each such measure.
"""

from collections.abc import Callable
from functools import partial
from math import comb
from typing import Any

import numpy as np

from lexirecall.errors import DataError
from lexirecall.exposure import rbp
from lexirecall.judgments import FloatArray
from lexirecall.measures.bottom import corpus_size_of, num_missing, sum_over_missing
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import OWN_LEVEL, GainMap, Gains, Parameter
from lexirecall.measures.recall_level import PATIENCE
from lexirecall.positions import Projection
from lexirecall.segments import Segments, sums_of

Gain = Callable[[FloatArray], FloatArray]
Discount = Callable[[FloatArray], FloatArray]
"""From positions to what a gain of 1 is worth there."""
GAINS: dict[str, Gain] = {
    "log2": lambda grade: grade,
    "exp-log2": lambda grade: 2**grade - 1,
}


def _ndcg(projection: Projection, dcg: str, gains: Gains | None, rel: Any, cutoff: int | None) -> FloatArray:
    gain = gain_of(projection.level, dcg, gains, rel)
    terms = discounted(gain(_grades(projection)), projection.positions, cutoff)
    gained = projection.sum(terms)
    if projection.sees_bottom and cutoff is None:
        gained += _gained_at_bottom(projection, gain, dcg_discount)
    return _normalized(projection, gained, gain, cutoff)


def _expected_ndcg(projection: Projection, dcg: str, gains: Gains | None, rel: Any, cutoff: int | None) -> FloatArray:
    """Let every place of a block of tied documents hold the mean gain of the block."""
    from lexirecall.measures.tieexpectation import mean_at_places

    depth = min(cutoff or np.inf, projection.source.conventions.depth or np.inf)
    gain = gain_of(projection.level, dcg, gains, rel)
    places, rankings, means = mean_at_places(gain(_grades(projection)), projection.found, depth)
    sums = sums_of(discounted(means, places, cutoff), rankings, len(projection.found.segments.sizes))
    gained = sums.reshape(projection.source.shape)
    if projection.sees_bottom and cutoff is None:
        gained += _expected_at_bottom(projection, gain, dcg_discount)
    return _normalized(projection, gained, gain, cutoff)


def _gained_at_bottom(projection: Projection, gain: Gain, discount: Discount) -> FloatArray:
    """Return what the missing documents gain at the bottom of the corpus, [S, Q], as a mean over their orders.

    Nobody knows which of them has which place, so every place has their mean gain.
    """
    discounts = sum_over_missing(projection, lambda places, levels, m, n: discount(places))
    return _missing_gains(projection, gain) / np.maximum(num_missing(projection), 1) * discounts


def _missing_gains(projection: Projection, gain: Gain) -> FloatArray:
    """Add up the gains of the missing documents, [S, Q]."""
    relevant, gains = _best_order(projection, gain)
    return np.asarray(relevant.sum(gains) - projection.sum(gain(_grades(projection))))


def _expected_at_bottom(projection: Projection, gain: Gain, discount: Discount) -> FloatArray:
    """Return the mean of `_gained_at_bottom` over all orders of tied documents; the depth may cut some of them off.

    A block has b documents, c of them relevant, and t of its places are shown. How many of the c are shown is
    hypergeometric, and each of the c is as likely to be hidden as any other.
    """
    from lexirecall.measures.tieexpectation import tied_blocks

    gained = _gained_at_bottom(projection, gain, discount)
    depth, n = projection.source.conventions.depth or np.inf, corpus_size_of(projection)
    gains, missing, hidden = gain(_grades(projection)), num_missing(projection), _missing_gains(projection, gain)
    for block in tied_blocks(projection.found):
        b, c, t = len(block.places), len(block.documents), int((block.places <= depth).sum())
        if t == b:
            continue
        s, q = np.unravel_index(block.ranking, gained.shape)
        k, block_gain = int(missing[s, q]), gains[block.documents].sum()
        bottom = np.cumsum(discount(n[q] - np.arange(k + c)))  # of the last 1, 2, … places
        gained[s, q] = 0.0
        for shown in range(max(0, t - (b - c)), min(c, t) + 1):
            if (lacking := k + c - shown) > 0:
                chance = comb(c, shown) * comb(b - c, t - shown) / comb(b, t)
                mean = (hidden[s, q] + block_gain * (c - shown) / c) / lacking
                gained[s, q] += chance * mean * bottom[lacking - 1]
    return gained


def _grades(projection: Projection) -> FloatArray:
    return projection.source.judgments.grades[projection.found.documents]


def gain_of(level: float, dcg: str, gains: Gains | None, rel: Any) -> Gain:
    """Return how grades become gains: one of the three settings says so, or the grades are the gains.

    >>> gain_of(1, "exp-log2", None, None)(np.array([1.0, 2])).tolist()
    [1.0, 3.0]
    """
    if rel is not None:
        return lambda grades: (grades >= level).astype(float)  # the level is that of `rel`
    return GAINS[dcg] if gains is None else partial(_mapped, gains)


def _mapped(gains: Gains, grades: FloatArray) -> FloatArray:
    """Return the gains of grades; a grade that is not in the map is its own gain.

    >>> _mapped(Gains({1: 0, 2: 3}), np.array([2.0, 1.0, 4.0])).tolist()
    [3.0, 0.0, 4.0]
    """
    different, where = np.unique(grades, return_inverse=True)
    return np.array([gains.get(grade, grade) for grade in different.tolist()], float)[where]


def discounted(gains: FloatArray, positions: FloatArray, cutoff: int | None = None) -> FloatArray:
    """Divide each gain by log2(p + 1), as trec_eval does; beyond a cut-off it is 0.

    >>> discounted(np.array([1.0, 3]), np.array([1.0, 7])).tolist()
    [1.0, 1.0]
    """
    quotients = positions + 1
    np.divide(gains, np.log2(quotients, out=quotients), out=quotients)
    if cutoff is not None:
        quotients[positions > cutoff] = 0.0
    return quotients


def dcg_discount(positions: FloatArray) -> FloatArray:
    """Return 1/log2(p + 1).

    >>> dcg_discount(np.array([1.0, 3])).tolist()
    [1.0, 0.5]
    """
    return discounted(np.ones(len(positions)), positions)


def _normalized(projection: Projection, gained: FloatArray, gain: Gain, cutoff: int | None) -> FloatArray:
    """Divide what was gained by what the best order of all relevant documents gains.

    It is undefined where there are relevant documents, but a map of gains gives none of them a gain.
    """
    relevant, gains = _best_order(projection, gain)
    ideal = relevant.sum(discounted(gains, relevant.ordinals.astype(float), cutoff))
    return np.where(ideal > 0, gained / ideal, np.where(projection.num_relevant > 0, np.nan, 0.0))


def _best_order(projection: Projection, gain: Gain) -> tuple[Segments, FloatArray]:
    """Return the gains of the relevant documents of each query, highest first."""
    judgments = projection.source.judgments
    judged = Segments(judgments.offsets)
    relevant = judgments.grades >= projection.level
    gains = gain(judgments.grades[relevant])
    return judged.filter(relevant), gains[np.lexsort((-gains, judged.owners[relevant]))]


NDCG = Measure(
    "nDCG",
    "normalized discounted cumulative gain",
    function=_ndcg,
    expected=_expected_ndcg,
    formula="sum_i g_i/log2(p_i + 1) over the same sum for the best order; the gain g_i is the grade, 2^grade - 1 with "
    "dcg='exp-log2', 1 from grade r on with rel=r, or 3 for grade 2 with gains={2:3}",
    reference="JarvelinK02",
    history="Introduced by Järvelin and Kekäläinen in 2002.",
    use="Use it where relevance has grades and the top of the ranking matters most.",
    misses="A missing document costs little if many others come early, and the values depend on what each grade is "
    "worth.",
    defaults="With dcg='log2' the gain is the grade, as in trec_eval; with 'exp-log2' high grades count much more.",
    at="cutoff",
    parameters={"dcg": Parameter("log2", options=tuple(GAINS)), "gains": GainMap(), "rel": OWN_LEVEL},
    exclusive={("dcg", "gains", "rel"): "each says what the gains are"},
    graded=True,
    trec=("ndcg", "ndcg_cut"),
)


def _err(projection: Projection, max_grade: int, cutoff: int | None) -> FloatArray:
    _check_scale("ERR", projection, max_grade)
    grades, found = projection.source.judgments.grades, projection.found
    stops = _stops(grades[found.documents], max_grade)
    goes_on = found.segments.accumulate(np.multiply, 1 - stops)
    reaches = np.where(projection.recall_levels == 1, 1.0, np.concatenate([[1.0], goes_on[:-1]]))
    seen = found.positions <= (cutoff or np.inf)
    values = projection.sum(np.where(seen, stops * reaches / found.positions, 0.0))
    if projection.sees_bottom and cutoff is None:
        values += _satisfied_at_bottom(projection, max_grade)
    return values


def _check_scale(name: str, projection: Projection, max_grade: int) -> None:
    """Raise if a grade is above the highest one of the scale."""
    grades = projection.source.judgments.grades
    if grades.size and grades.max() > max_grade:
        raise DataError(
            f"{name} expects grades up to {max_grade}, but the judgments go up to {grades.max():g}",
            remedy=f"give the highest grade of the scale: {name}(max_grade={int(np.ceil(grades.max()))})",
        )


def _stops(grades: FloatArray, max_grade: int) -> FloatArray:
    """Return the probability that a document of this grade satisfies the user."""
    return np.asarray((2**grades - 1) / 2**max_grade)


def _satisfied_at_bottom(projection: Projection, max_grade: int) -> FloatArray:
    """Return what the missing documents add to ERR at the bottom of the corpus, [S, Q], as a mean over their orders.

    The j-th of k satisfies a user whom the j-1 above it did not: E_(j-1) - E_j, where E_j is the mean, over all sets of
    j missing documents, of the product of 1 - s. It is built up document by document, like the coefficients of a
    polynomial.
    """
    grades, found = projection.source.judgments.grades, projection.found
    offsets, n = projection.source.judgments.offsets, corpus_size_of(projection)
    values = np.zeros(projection.source.shape)
    for s, q in np.argwhere(num_missing(projection) > 0).tolist():
        start, stop = found.segments.offsets[s * len(n) + q :][:2]
        relevant = np.flatnonzero(grades[offsets[q] : offsets[q + 1]] >= projection.level) + offsets[q]
        # in order, so that the order of the judgments does not show in the last digit
        goes_on = np.sort(1 - _stops(grades[np.setdiff1d(relevant, found.documents[start:stop])], max_grade))
        reaches = np.prod(1 - _stops(grades[found.documents[start:stop]], max_grade))
        k = len(goes_on)
        means = np.append(1.0, np.zeros(k))
        for size, chance in enumerate(goes_on.tolist(), 1):
            share = np.arange(1, size + 1) / size  # of the sets of j that hold this one
            means[1 : size + 1] = share * chance * means[:size] + (1 - share) * means[1 : size + 1]
        values[s, q] = reaches * ((means[:-1] - means[1:]) / (n[q] - k + np.arange(1, k + 1))).sum()
    return values


ERR = Measure(
    "ERR",
    "expected reciprocal rank, for a user who stops once satisfied",
    function=_err,
    formula="sum_i s_i/p_i prod_(j<i) (1 - s_j), s = (2^g - 1)/2^max_grade, max_grade = 4 by default",
    reference="ChapelleMZG09",
    history="Introduced by Chapelle, Metzler, Zhang and Grinspan in 2009.",
    use="Use it for graded relevance where a very good document makes the user stop.",
    misses="It nearly ignores what comes after a document of a high grade, so it says little about completeness.",
    defaults="max_grade is 4, as in gdeval. Give the highest grade of your own scale: judgments above max_grade are an "
    "error.",
    at="cutoff",
    parameters={"max_grade": Parameter(4, kind=int, low=1, high=1000)},
    graded=True,
)


def _graded_rbp(projection: Projection, p: float, max_grade: int | None, cutoff: int | None) -> FloatArray:
    terms = _grades(projection) * _patience(p, cutoff)(projection.positions)
    gained = projection.sum(terms)
    if projection.sees_bottom and cutoff is None:
        gained += _gained_at_bottom(projection, GAINS["log2"], _patience(p))
    return _on_scale(projection, gained, max_grade)


def _expected_graded_rbp(projection: Projection, p: float, max_grade: int | None, cutoff: int | None) -> FloatArray:
    """Let every place of a block of tied documents hold the mean grade of the block."""
    from lexirecall.measures.tieexpectation import mean_at_places

    depth = projection.source.conventions.depth or np.inf
    places, rankings, means = mean_at_places(_grades(projection), projection.found, depth)
    sums = sums_of(means * _patience(p, cutoff)(places), rankings, len(projection.found.segments.sizes))
    gained = sums.reshape(projection.source.shape)
    if projection.sees_bottom and cutoff is None:
        gained += _expected_at_bottom(projection, GAINS["log2"], _patience(p))
    return _on_scale(projection, gained, max_grade)


def _patience(p: float, cutoff: int | None = None) -> Discount:
    return lambda positions: np.where(positions <= (cutoff or np.inf), rbp(positions, p), 0.0)


def _on_scale(projection: Projection, gained: FloatArray, max_grade: int | None) -> FloatArray:
    if max_grade is None:
        return gained
    _check_scale("GradedRBP", projection, max_grade)
    return gained / max_grade


GRADED_RBP = Measure(
    "GradedRBP",
    "rank-biased precision in which a document gains its grade, not 1",
    function=_graded_rbp,
    expected=_expected_graded_rbp,
    formula="(1-p) sum_i g_i p^(p_i - 1), p = 0.8 by default; g_i is the grade, over max_grade if that is given",
    reference="MoffatZ08",
    history="Moffat and Zobel (2008) allow any gain from 0 to 1. In ir_measures it is RBP without rel.",
    use="Use it where relevance has grades, for a user who reads from the top and gives up sooner or later.",
    misses="It does not depend on the number of relevant documents. Without max_grade, values of collections with "
    "different scales cannot be compared.",
    defaults="p is 0.8, as for RBP. The gain is the grade itself, as for nDCG, so that a value can be above 1.",
    at="cutoff",
    parameters={"p": PATIENCE, "max_grade": Parameter(None, kind=int, low=1, high=1000)},
    graded=True,
    limits=(0, np.inf),
)
TITLE = "Measures of grades"
ROWS = (NDCG, ERR, GRADED_RBP)

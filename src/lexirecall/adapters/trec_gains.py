"""Measures of trec_eval that weigh grades by gains, which a parameter may set: G, dcg, ndcg, ndcg_rel, Rndcg and rbp.

Belongs here: these measures, in trec_eval's definition, for any map of grades to gains. Not here: other measures of
trec_eval (trec_formulas), names and parameters (trec_names).

A grade that is not in the map is its own gain. Grade 0 may have a gain, and gains may be negative. What was not judged
gains nothing.
"""

from collections.abc import Callable, Mapping

import numpy as np

from lexirecall.adapters.trec_formulas import ratio
from lexirecall.adapters.trec_unjudged import judged_tracks, powers
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures import Measure
from lexirecall.measures.graded import discounted, gain_of
from lexirecall.measures.parameter import Gains
from lexirecall.positions import Positions, Projection
from lexirecall.segments import Segments, sums_of

GainsOf = Mapping[float, float]
"""From grades to gains, as far as they differ."""
PERSISTENCE = 0.9
"""p of rbp and rbp_resid, if it is not set."""
NO_GAINS: GainsOf = {}


class _RankingGains:
    """What each ranking gains, document by document, and what the best order of the judged documents would gain."""

    def __init__(self, source: Positions, gains: GainsOf) -> None:
        gain = gain_of(1, "log2", Gains(gains) if gains else None, None)
        judgments = source.judgments
        tracks = judged_tracks(source) if 0 in gains else source.found
        values = gain(judgments.grades[tracks.documents])
        self.shape = source.shape
        self.tracks = tracks.filter(values != 0) if gains else tracks
        self.gains = values[values != 0] if gains else values
        self.places: FloatArray = self.tracks.positions.astype(float)

        best = gain(judgments.grades)
        counts = (best > 0) & (judgments.grades >= 0)
        judged = Segments(judgments.offsets)
        self.best_segments = judged.filter(counts)
        self.best: FloatArray = best[counts][np.lexsort((-best[counts], judged.owners[counts]))]
        self.best_places = self.best_segments.ordinals

    @property
    def num_best(self) -> IntArray:
        """How many documents of each query have a positive gain."""
        return self.best_segments.sizes

    @property
    def dcg(self) -> FloatArray:
        """The discounted gains of each ranking, [S, Q]."""
        return self.sum(self.terms)

    @property
    def terms(self) -> FloatArray:
        return discounted(self.gains, self.places)

    @property
    def best_terms(self) -> FloatArray:
        return discounted(self.best, self.best_places.astype(float))

    @property
    def ideal_dcg(self) -> FloatArray:
        """The discounted gains of the best order of each query, [Q]."""
        return self.best_segments.sum(self.best_terms)

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up values of the documents of each ranking, [S, Q]."""
        return sums_of(values, self.tracks.segments.owners, len(self.tracks.segments.sizes)).reshape(self.shape)

    def per_document(self, per_query: IntArray) -> IntArray:
        """Repeat a number of each query for the documents of its rankings."""
        return np.repeat(np.tile(per_query, self.shape[0]), self.tracks.segments.sizes)

    def best_sum_to(self, values: FloatArray) -> FloatArray:
        """For each document of a ranking, add up values of the best order down to its position."""
        depth = np.minimum(self.tracks.positions, self.per_document(self.num_best))
        sums = np.append(self.best_segments.accumulate(np.add, values), 0.0)
        at = self.per_document(self.best_segments.offsets[:-1]) + depth - 1
        return np.where(depth > 0, sums[at], 0.0)


def _measure(
    name: str, title: str, formula: str, function: Callable[..., FloatArray], gains: GainsOf, *, graded: bool = True
) -> Measure:
    return Measure(
        name,
        title,
        formula=formula,
        function=lambda projection: function(projection, gains),
        graded=graded,
        needs_judged=bool(gains),
    )


def g(gains: GainsOf = NO_GAINS) -> Measure:
    """Return normalized gain, which discounts each gain by how much more the best order would have gained so far.

    >>> round(g().of([2]), 4), g().of([1])  # 1/log2(3): the best order would have gained 1 more
    (0.6309, 1.0)
    """
    formula = "sum_i g_i/log2(2 + C_i - G_i) / sum of all gains; G_i is gained down to p_i, C_i by the best order, at "
    return _measure("G", "normalized gain", formula + "least 1 at each place", _g, gains)


def _g(projection: Projection, gains: GainsOf) -> FloatArray:
    gained = _RankingGains(projection.source, gains)
    beyond = np.maximum(gained.tracks.positions - gained.per_document(gained.num_best), 0)
    cost = gained.best_sum_to(np.maximum(gained.best, 1)) + beyond
    so_far = gained.tracks.segments.accumulate(np.add, gained.gains)
    return ratio(gained.sum(gained.gains / np.log2(2 + cost - so_far)), gained.best_segments.sum(gained.best))


def dcg(gains: GainsOf = NO_GAINS) -> Measure:
    """Return discounted cumulative gain.

    >>> dcg().of([1, 3])
    1.5
    """
    formula = "sum_i g_i/log2(p_i + 1)"
    return _measure(
        "DCG", "discounted cumulative gain", formula, lambda p, gains: _RankingGains(p.source, gains).dcg, gains
    )


def ideal_dcg(gains: GainsOf = NO_GAINS) -> Measure:
    """Return the discounted cumulative gain of the best order, whatever the ranking.

    >>> ideal_dcg({1: 3}).of([5])
    3.0
    """
    title = "discounted cumulative gain of the best order"
    return _measure("IdealDCG", title, "sum_i g_i/log2(i + 1), the highest gains first", _ideal_dcg, gains)


def _ideal_dcg(projection: Projection, gains: GainsOf) -> FloatArray:
    return np.broadcast_to(_RankingGains(projection.source, gains).ideal_dcg, projection.source.shape)


def ndcg(gains: GainsOf) -> Measure:
    """Return nDCG for any gains; the row nDCG takes gains of 0 and more, for grades above 0.

    >>> round(ndcg({1: 3}).of([2]), 4)
    0.6309
    """
    title, formula = "normalized discounted cumulative gain", "dcg/ideal_dcg"
    return _measure("nDCGGains", title, formula, _ndcg, gains)


def _ndcg(projection: Projection, gains: GainsOf) -> FloatArray:
    gained = _RankingGains(projection.source, gains)
    return ratio(gained.dcg, gained.ideal_dcg)


def ndcg_rel(gains: GainsOf = NO_GAINS) -> Measure:
    """Return nDCG averaged over the relevant documents, at the position of each, and at the end of the list if missing.

    >>> round(ndcg_rel().of([2]), 4)
    0.6309
    """
    title, formula = "nDCG averaged over the relevant documents", "mean of nDCG@p_i; of the whole list, where missing"
    return _measure("nDCGRel", title, formula, _ndcg_rel, gains)


def _ndcg_rel(projection: Projection, gains: GainsOf) -> FloatArray:
    gained = _RankingGains(projection.source, gains)
    is_gain = gained.gains > 0
    so_far, best = gained.tracks.segments.accumulate(np.add, gained.terms), gained.best_terms
    at_each = gained.sum(np.where(is_gain, ratio(so_far, gained.best_sum_to(best)), 0.0))
    num_missing = gained.num_best - gained.sum(is_gain.astype(float))
    at_the_end = ratio(num_missing * gained.dcg, gained.ideal_dcg)
    return np.maximum(ratio(at_each + at_the_end, gained.num_best), 0.0)


def rndcg(gains: GainsOf = NO_GAINS) -> Measure:
    """Return nDCG averaged over the depths at which the best order turns to a lower gain, and a longer list's end.

    >>> round(rndcg().of([2, 3]), 4)  # at depth 2; the list ends with the document after it, which is not seen
    0.3869
    """
    title = "nDCG averaged over the depths at which the ideal gain changes"
    formula = "mean of nDCG@k over each such k, and over the whole list if it is longer by two or more"
    return _measure("RnDCG", title, formula, _rndcg, gains, graded=False)


def _rndcg(projection: Projection, gains: GainsOf) -> FloatArray:
    gained = _RankingGains(projection.source, gains)
    terms, best, sizes = gained.terms, gained.best_terms, gained.num_best
    is_longer = (projection.source.num_retrieved > sizes + 1) & (sizes > 0)  # trec_eval ignores a single extra document
    total, count = np.zeros(gained.shape), is_longer.astype(float)
    for depth in _turns(gained):
        so_far = gained.sum(np.where(gained.places <= gained.per_document(depth), terms, 0.0))
        ideal = gained.best_segments.sum(np.where(gained.best_places <= np.repeat(depth, sizes), best, 0.0))
        total += ratio(so_far, ideal)
        count += depth > 0
    total += np.where(is_longer, ratio(gained.dcg, gained.ideal_dcg), 0.0)
    return np.where(projection.num_relevant > 0, ratio(total, count), 0.0)


def _turns(gained: _RankingGains) -> list[IntArray]:
    """Return where each query's best order turns for the first time, for the second, …; 0 where it does not."""
    owners = gained.best_segments.owners
    ends = np.diff(owners, append=-1) != 0
    turns = ends | (np.diff(gained.best, append=0) != 0)
    of_query = gained.best_segments.filter(turns)
    depths = []
    for number in range(1, of_query.sizes.max(initial=0) + 1):
        here = np.flatnonzero(turns)[of_query.ordinals == number]
        depth = np.zeros(len(gained.num_best), np.int64)
        depth[owners[here]] = gained.best_places[here]
        depths.append(depth)
    return depths


def rbp(gains: GainsOf = NO_GAINS, p: float = PERSISTENCE) -> Measure:
    """Return rank-biased precision of gains; if any lies outside 0 to 1, they are scaled to that range, by query.

    >>> rbp(p=0.5).of([1, 3])
    0.625
    """
    return Measure(
        "RBPGains",
        "rank-biased precision of gains from 0 to 1",
        formula=f"(1 - p) sum_i g_i p^(p_i - 1), p = {p}; gains outside 0 to 1 are scaled to that range, by topic",
        function=lambda projection: _rbp(projection, gains, p),
        graded=True,
        needs_judged=bool(gains),
    )


def _rbp(projection: Projection, gains: GainsOf, p: float) -> FloatArray:
    source = projection.source
    gain = gain_of(1, "log2", Gains(gains) if gains else None, None)
    tracks = judged_tracks(source) if gains else source.found
    # 0.0 stands there twice because min of a single number fails, and there may be no gains.
    lowest, highest = min(0.0, *gains.values(), 0.0), _highest_gains(source, gains)
    scale = np.where((lowest < 0) | (highest > 1), highest - lowest, 1.0)
    values = gain(source.judgments.grades[tracks.documents]) - lowest
    values /= np.repeat(np.tile(scale, source.shape[0]), tracks.segments.sizes)
    terms = values * powers(p, source)[tracks.positions - 1]
    return (1 - p) * sums_of(terms, tracks.segments.owners, source.num_retrieved.size).reshape(source.shape)


def _highest_gains(source: Positions, gains: GainsOf) -> FloatArray:
    """Return the highest gain of each query, [Q]: of the map, or of a grade up to its highest that is not in it."""
    judgments = source.judgments
    highest = np.zeros(len(judgments.offsets) - 1)
    np.maximum.at(highest, Segments(judgments.offsets).owners, judgments.grades)
    # From the top down: where the grade below is in the map too, the next round moves on from it.
    for grade in sorted(gains, reverse=True):
        highest[highest == grade] = grade - 1
    return np.maximum(highest, max(0.0, *gains.values(), 0.0))

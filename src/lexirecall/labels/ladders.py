"""Ladders: the unjudged documents of one ranking from the first to the last, and the labellings that could be extreme.

Belongs here: spans of unjudged documents, made relevant, and the values that they give, where these have a short cut.
Not here: bounds, which are computed from the labellings chosen here as any evaluation is (bounds).

A span holds the unjudged documents after the one with the rank `start`, down to the rank `stop`: the first j documents
are (0, j), the last j of u are (u - j, u).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.labels.pools import Labelling, LabelPool
from lexirecall.measures import NDCG, Measure, sets
from lexirecall.measures.graded import discounted, gain_of

_CELLS = 2**20  # terms of sums that are computed together, few enough for the cache

_OF_SETS = {row.function for row in sets.ROWS}
SHORTENED = {NDCG.function, *_OF_SETS}
"""The functions of measures that have a short cut of their own; sums over recall levels have one too."""


@dataclass(frozen=True)
class Ladder:
    """What labels could change about one run's ranking of one query."""

    pool: LabelPool
    """Of one run."""
    level: float
    grade: float
    """Of new labels."""
    corpus_size: float
    """nan if it is unknown."""
    sees_bottom: bool
    """Whether every measure without a cut-off sees the missing documents at the bottom of the corpus."""

    @classmethod
    def of(cls, pool: LabelPool, level: float, labelling: Labelling) -> "Ladder":
        """Take the pool of one run."""
        size = np.nan if labelling.corpus_size is None else float(labelling.corpus_size[pool.query])
        return cls(pool, level, labelling.grade, size, labelling.conventions.imputation == "paper")

    @cached_property
    def ranks(self) -> IntArray:
        """Which unjudged document each one is, counted from the top of the ranking; 0 if it is judged, [I]."""
        places = np.where(self.pool.is_unjudged, self.pool.places[0], 0)
        ranks = np.zeros(len(places), np.int64)
        order = np.argsort(places)[np.count_nonzero(places == 0) :]
        ranks[order] = np.arange(1, len(order) + 1)
        return ranks

    @property
    def num_unjudged(self) -> int:
        """How many documents are unjudged."""
        return int(self.ranks.max(initial=0))

    @property
    def tops(self) -> IntArray:
        """The spans from the first document on: none, one, two and so on, [u + 1, 2]."""
        stops = np.arange(self.num_unjudged + 1)
        return np.stack([np.zeros_like(stops), stops], axis=1)

    @property
    def bottoms(self) -> IntArray:
        """The spans down to the last document: all, all but one and so on, [u, 2]."""
        starts = np.arange(self.num_unjudged)
        return np.stack([starts, np.full_like(starts, self.num_unjudged)], axis=1)

    def labels(self, spans: IntArray) -> BoolArray:
        """Return the labels of the documents of the pool, [L, I].

        >>> pool = LabelPool(0, (b"a", b"b"), np.array([[2, 1]]), np.array([np.nan] * 2), *(np.array([]),) * 3)
        >>> ladder = Ladder(pool, 1, 1, np.nan, False)
        >>> ladder.labels(ladder.tops).tolist()
        [[False, False], [False, True], [True, True]]
        """
        return np.asarray((self.ranks > spans[:, :1]) & (self.ranks <= spans[:, 1:]))

    def spans_to_try(self, measure: Measure) -> IntArray:
        """Return spans among which are the best and the worst one, [L, 2]; the first is empty."""
        tops, bottoms = self.tops, self.bottoms
        if not len(bottoms):
            return tops
        if measure.function in _OF_SETS:
            return tops[[0, -1]]  # each of them grows with the number of new labels, wherever they are
        if measure.exposure is not None:
            best, worst = self._sums(measure, tops), self._sums(measure, bottoms)
        elif measure.function is NDCG.function and not self.sees_bottom:
            best, worst = self._ndcg(measure, tops), self._ndcg(measure, bottoms)
        else:
            return np.concatenate([tops, bottoms[1:]])
        best_top, worst_bottom = _highest(measure.direction * best), _highest(-measure.direction * worst)
        return np.unique([tops[0], tops[best_top], bottoms[worst_bottom]], axis=0)

    def _sums(self, measure: Measure, spans: IntArray) -> FloatArray:
        """Return the values of sum_i e(p_i) z(i, m), [L]."""
        kept = np.flatnonzero(self.pool.is_unjudged | self.pool.is_relevant(self.level))
        kept = kept[np.argsort(self.pool.places[0, kept])]
        num_missing = int((self.pool.missed >= self.level).sum())
        sees_missing = measure.sees_missing(sees_bottom=self.sees_bottom)
        bottom = np.arange(1.0 - num_missing, 1) if sees_missing else np.array([])
        size = np.inf if np.isnan(self.corpus_size) else self.corpus_size
        places = np.concatenate([self.pool.places[0, kept], size + bottom])
        ranks = np.concatenate([self.ranks[kept], np.zeros(len(bottom), np.int64)])
        cutoff = measure.cutoff_in(self.corpus_size)
        seen = places <= (np.inf if cutoff is None else cutoff)  # what is below neither counts nor changes levels
        table = _Rungs(places[seen], ranks[seen], self.pool.num_relevant(self.level), self.corpus_size)
        step = max(1, _CELLS // max(1, len(places)))
        parts = [spans[start : start + step] for start in range(0, len(spans), step)]
        return np.concatenate([table.values(measure, part) for part in parts])

    def _ndcg(self, measure: Measure, spans: IntArray) -> FloatArray:
        """Return the values of nDCG, [L]: what is gained over what the best order gains, from sums down to each rank.

        In the best order the new documents come after those of the same gain, and move those of a lower one down.
        """
        settings, pool = {name: measure.values[name] for name in ("dcg", "gains", "rel")}, self.pool
        gain, cutoff = gain_of(self.level, **settings), measure.values["cutoff"]
        new = float(gain(np.array([self.grade]))[0])
        is_relevant = pool.is_relevant(self.level)
        gains = gain(pool.grades[is_relevant])
        gained = discounted(gains, pool.places[0, is_relevant].astype(float), cutoff).sum()
        unjudged = np.sort(pool.places[0, pool.is_unjudged]).astype(float)
        by_rank = new * np.append(0.0, discounted(np.ones(len(unjudged)), unjudged, cutoff).cumsum())
        known = np.sort(np.concatenate([gains, gain(pool.missed[pool.missed >= self.level])]))[::-1]
        places = np.arange(1.0, len(known) + len(unjudged) + 1)
        discounts = discounted(np.ones(len(places)), places, cutoff)
        to_place, numbers = np.append(0.0, discounts.cumsum()), spans[:, 1] - spans[:, 0]
        above = np.count_nonzero(known >= new)
        ideal = known[:above] @ discounts[:above] + new * (to_place[above + numbers] - to_place[above])
        ideal += discounts[numbers[:, None] + np.arange(above, len(known))] @ known[above:]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((gained + by_rank[spans[:, 1]] - by_rank[spans[:, 0]]) / ideal)


@dataclass(frozen=True, slots=True)
class _Rungs:
    """Relevant and unjudged documents of one ranking, in its order; what is missing comes last."""

    places: FloatArray
    ranks: IntArray
    """Of the unjudged ones; 0 if a document is relevant."""
    num_relevant: int
    corpus_size: float

    def values(self, measure: Measure, spans: IntArray) -> FloatArray:
        """Return sum_i e(p_i) z(i, m) for each span of new labels, [L]."""
        is_relevant = self.ranks == 0
        start, stop = spans[:, :1], spans[:, 1:]
        counts = is_relevant | ((self.ranks > start) & (self.ranks <= stop))
        m = self.num_relevant + (stop - start)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return measure.sums_over(self.places, counts.cumsum(axis=1), counts, m, self.corpus_size)


def _highest(values: FloatArray) -> int:
    return int(np.where(np.isnan(values), -np.inf, values).argmax())

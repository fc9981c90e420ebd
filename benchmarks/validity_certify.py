"""Counts how often certificates of recall hold, by drawing samples from rankings of which everything is known.

Belongs here: rankings of whole corpora, samples of what is below a depth, and counting what their certificates say. Not
here: batches, and how counts are kept (validity), the page (validity_page).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom
from validity_real import COLLECTIONS

from lexirecall.judgments import BoolArray, IntArray
from lexirecall.labels.certificates import Certificate, ReviewCounts, SampleCount
from lexirecall.labels.sampleplans import plan
from lexirecall.positions import Positions
from lexirecall.statistics.hypergeometric import exact_share, fewest_relevant, most_relevant

WANTED = 0.9
"""The recall that a planned sample should show, and at which a review with two looks stops sampling."""
WHOLE = 0.01  # by which share a ranking may be shorter or longer than the judged corpus


class Ranked(NamedTuple):
    """A ranking of a whole corpus."""

    corpus_size: int
    places: IntArray
    """Where the relevant documents are, counted from 1."""


@dataclass(frozen=True)
class Certified:
    """Rankings that are read to a depth, and one sample of the rest."""

    rankings: str
    """Which ones: "simulated", or the name of a collection."""
    read: float
    """The share of the corpus that is read."""
    sample: int
    confidence: float


@dataclass(frozen=True)
class Looked:
    """The same with a second sample, if the first does not show what is wanted; it is twice as large after a find."""

    rankings: str
    read: float
    sample: int
    confidence: float


@dataclass(frozen=True)
class Bounded:
    """Documents that were not read, of which any number may be relevant, and a sample of them."""

    unread: int
    sample: int
    confidence: float


BOUNDED = [Bounded(*each) for each in product((500, 5000), (50, 200), (0.9, 0.95))]
READ, SAMPLES, CONFIDENCES = (0.1, 0.3, 0.6), (50, 200, 800), (0.9, 0.95)
CERTIFIED = [Certified("simulated", *each) for each in product(READ, SAMPLES, CONFIDENCES)]
LOOKED = [Looked("simulated", *each) for each in product(READ, SAMPLES, CONFIDENCES)]


@lru_cache(maxsize=1)
def simulated(number: int = 150) -> list[Ranked]:
    """Return rankings by a score that is normal, and higher by 1 to 3 if a document is relevant.

    >>> rankings = simulated()
    >>> len(rankings), min(ranked.corpus_size for ranked in rankings) >= 300
    (150, True)
    """
    rng = np.random.default_rng(2017)
    made = []
    for _ in range(number):
        size = int(np.exp(rng.uniform(np.log(300), np.log(10_000))))
        relevant = max(2, int(size * np.exp(rng.uniform(np.log(0.003), np.log(0.1)))))
        scores = rng.normal(size=size) + np.where(np.arange(size) < relevant, rng.uniform(1, 3), 0)
        made.append(Ranked(size, np.flatnonzero(np.argsort(-scores) < relevant) + 1))
    return made


@lru_cache(maxsize=8)
def rankings_of(name: str) -> list[Ranked]:
    return simulated() if name == "simulated" else whole_rankings(COLLECTIONS[name].positions)


def whole_rankings(positions: Positions) -> list[Ranked]:
    """Return the rankings that hold the whole corpus of a query, all of which is judged."""
    projection = positions.at_level(1)
    judged = np.diff(positions.judgments.offsets)
    made = []
    for s, q in np.ndindex(positions.shape):
        places, size = projection.vector(s, q), int(positions.num_retrieved[s, q])
        if len(places) and np.isfinite(places).all() and abs(size - judged[q]) <= WHOLE * judged[q]:
            made.append(Ranked(size, places.astype(np.int64)))
    return made


class Drawing(NamedTuple):
    """A ranking that was read to a depth, and documents of the rest in the order in which they were drawn."""

    corpus_size: int
    depth: int
    found: int
    is_relevant: BoolArray

    def counts(self, *sizes: int) -> ReviewCounts:
        """Return the counts if these samples are taken, one after the other."""
        ends = np.minimum(np.cumsum([0, *sizes]), len(self.is_relevant)).tolist()
        samples = (SampleCount(b - a, int(self.is_relevant[a:b].sum())) for a, b in pairwise(ends))
        return ReviewCounts(self.corpus_size, self.depth, self.found, tuple(samples))


def drawn(ranked: Ranked, read: float, rng: np.random.Generator, most: int) -> Drawing:
    """Read to a depth, and draw at most so many documents of what was not read, without replacement."""
    depth = int(read * ranked.corpus_size)
    unread = ranked.corpus_size - depth
    order = depth + 1 + rng.choice(unread, min(most, unread), replace=False)
    found = int((ranked.places <= depth).sum())
    return Drawing(ranked.corpus_size, depth, found, np.isin(order, ranked.places))


def holds(certificate: Certificate, missed: int) -> dict[str, bool]:
    """Say which bounds of recall hold, given how many relevant documents were not read.

    >>> certificate = Certificate(ReviewCounts(100, 60, 19, (SampleCount(40, 1),)))
    >>> set(holds(certificate, 1).values()), set(holds(certificate, 2).values())
    ({True}, {False})
    """
    found, relevant = certificate.counts.found, certificate.counts.relevant
    held = {}
    for name, number, own in (("", found, certificate.bounds), ("added ", found + relevant, certificate.bounds_added)):
        true = number / (found + missed)  # bounds are quotients too: the same one is the same float
        held[f"{name}low"] = own.recall_low is not None and own.recall_low <= true
        held[f"{name}interval"] = own.low is not None and own.high is not None and own.low <= true <= own.high
    return held


def chosen(name: str, num_sets: int, rng: np.random.Generator) -> list[Ranked]:
    rankings = rankings_of(name)
    return [rankings[at] for at in rng.integers(len(rankings), size=num_sets)]


def count_certified(certified: Certified, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count the bounds that hold, and the planned samples that show what they should."""
    names = ("low", "interval", "added low", "added interval")
    found = dict.fromkeys((*names, "recall", "bound", "planned", "shown"), 0.0)
    for ranked in chosen(certified.rankings, num_sets, rng):
        counts = drawn(ranked, certified.read, rng, certified.sample).counts(certified.sample)
        certificate = Certificate(counts, certified.confidence)
        missed = len(ranked.places) - counts.found
        held = holds(certificate, missed)
        for name in names:
            found[name] += held[name]
        found["recall"] += counts.found / len(ranked.places)
        found["bound"] += certificate.bounds.recall_low or 0.0
        planned = plan(Certificate(replace(counts, samples=()), certified.confidence), WANTED, missed)
        if planned.sample_needed:
            found["planned"] += 1
            size = planned.sample_needed
            again = drawn(ranked, certified.read, rng, size).counts(size)
            found["shown"] += Certificate(again, certified.confidence).shows(WANTED)
    return {"sets": num_sets, **found}


def cover_bounds(bounded: Bounded) -> dict[str, float]:
    """Return how often the bounds of T hold, for each T from 0 to all: the least and the mean, without drawing any."""
    sizes, missed = np.arange(bounded.sample + 1), np.arange(bounded.unread + 1)
    alpha = 1 - exact_share(bounded.confidence)
    mosts, highs = (
        np.array([most_relevant(bounded.unread, bounded.sample, x, level) for x in sizes.tolist()])
        for level in (alpha, alpha / 2)
    )
    lows = np.array([fewest_relevant(bounded.unread, bounded.sample, x, alpha / 2) for x in sizes.tolist()])
    chances = hypergeom.pmf(sizes, bounded.unread, missed[:, None], bounded.sample)
    one_sided = (chances * (missed[:, None] <= mosts)).sum(axis=1)
    interval = (chances * ((lows <= missed[:, None]) & (missed[:, None] <= highs))).sum(axis=1)
    return {
        "sets": 0, "low": one_sided.min(), "mean low": one_sided.mean(), "interval": interval.min(),
        "mean interval": interval.mean(),
    }  # fmt: skip


def count_looked(looked: Looked, rng: np.random.Generator, num_sets: int) -> dict[str, float]:
    """Count the reviews of which every certificate holds: with two looks planned, and with all of alpha for each."""
    found = dict.fromkeys(("with", "without", "second"), 0.0)
    for ranked in chosen(looked.rankings, num_sets, rng):
        drawing = drawn(ranked, looked.read, rng, 3 * looked.sample)
        missed = len(ranked.places) - drawing.found
        first = drawing.counts(looked.sample)
        size = looked.sample * (2 if first.relevant else 1)
        both = drawing.counts(looked.sample, size)
        one, two = (Certificate(each, looked.confidence, looks=2) for each in (first, both))
        is_done = one.shows(WANTED)
        found["with"] += (one if is_done else two).missed.most >= missed <= one.missed.most
        alone = Certificate(first, looked.confidence)
        later = ReviewCounts(
            both.corpus_size, both.read + looked.sample, both.found + first.relevant, both.samples[1:]
        ) if len(drawing.is_relevant) > looked.sample else None  # fmt: skip
        is_right = missed <= alone.missed.most
        if later is not None and not alone.shows(WANTED):
            is_right &= missed - first.relevant <= Certificate(later, looked.confidence).missed.most
            found["second"] += 1
        found["without"] += is_right
    return {"sets": num_sets, **found}

"""Tied scores: the mean over all orders of the tied documents, where it has a closed form.

Belongs here: expectations over tie blocks. Not here: the tie rules that choose one order (formats.ranking).

A block of b tied documents, c of them relevant, that comes after a other documents has its j-th relevant document at a
+ k with probability C(k-1, j-1) C(b-k, c-j) / C(b, c) if all orders are equally likely. So for every measure
sum_i e(p_i) z(i, m) the mean is sum_i E[e(p_i)] z(i, m): the recall level i is fixed, and only the exposure is averaged
(McSherry and Najork 2008 give the case of average precision).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of
from lexirecall.measures.ratio import product
from lexirecall.positions import Projection
from lexirecall.segments import Segments, sums_of
from lexirecall.tracks import Tracks


def place_probabilities(size: int, relevant: int, which: int) -> FloatArray:
    """Return, for k = 1 … size, how likely the `which`-th of `relevant` documents is k-th in a block of `size`.

    >>> place_probabilities(3, 2, 1).round(4).tolist()
    [0.6667, 0.3333, 0.0]
    """
    probabilities = np.zeros(size)
    k = np.arange(which, size - relevant + which)  # the last place is one further
    # P(k+1) / P(k), from the binomials of the module's formula; in logarithms, because P can be very small
    ratios = np.log(k / (k - which + 1.0)) + np.log((size - k - (relevant - which)) / (size - k))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    # Only ratios are known: with the largest as 1 nothing overflows, and the sum below makes them chances.
    weights = np.exp(logs - logs.max())
    probabilities[which - 1 : size - relevant + which] = weights / weights.sum()
    return probabilities


@dataclass(frozen=True, slots=True)
class Block:
    """Two or more tied documents of one ranking, with the relevant ones among them."""

    ranking: int
    documents: range
    """Where the relevant ones lie in the tracks."""
    places: FloatArray
    """The places that the block takes."""


def tied_blocks(tracks: Tracks) -> Iterator[Block]:
    """Give the blocks of tied documents that hold a relevant one."""
    starts, sizes = _blocks(tracks)
    rankings = tracks.segments.owners
    for first, last in pairwise([*_first_documents(tracks).tolist(), len(starts)]):
        if sizes[first] > 1:
            places = starts[first] + np.arange(1.0, sizes[first] + 1)
            yield Block(int(rankings[first]), range(first, last), places)


@dataclass(frozen=True, slots=True)
class TieExpectation:
    """The mean of sum_i e(p_i) w_i over all orders of tied documents, for every ranking."""

    projection: Projection
    n: FloatArray
    exposure: Callable[[FloatArray, Any, Any], Any]
    weights: Any

    @property
    def are_counts(self) -> bool:
        """Whether e only tells seen places from unseen ones, and w are whole numbers: then the mean is a fraction."""
        seen = self.exposure(np.ones(1), np.ones(1, np.int64), np.ones(1))
        return np.asarray(seen).dtype == bool and np.asarray(self.weights).dtype.kind in "bi"

    @property
    def _depth(self) -> float:
        return self.projection.source.conventions.depth or np.inf

    def _at_starts(self) -> FloatArray:
        """Return e(p_i) w_i as if each document were the first of its block, as it is where nothing is tied."""
        projection, (starts, _) = self.projection, _blocks(self.projection.found)
        m, n = projection.num_relevant_of_document, projection.per_document_of_query(self.n)
        terms = product(self.exposure((starts + 1).astype(float), m, n), self.weights)
        return np.array(np.broadcast_to(terms, starts.shape))

    def _seen(self, block: Block) -> Any:
        query = block.ranking % len(self.n)
        return self.exposure(block.places, self.projection.num_relevant[query], self.n[query : query + 1])

    def terms(self, bottom: Callable[[int, int, float], float]) -> FloatArray:
        """Return E[e(p_i)] w_i for each retrieved relevant document.

        `bottom` gives the exposure of a recall level that falls below the depth cut.
        """
        projection = self.projection
        weights = np.broadcast_to(self.weights, projection.recall_levels.shape)
        terms = self._at_starts()
        for block in tied_blocks(projection.found):
            query = block.ranking % len(self.n)
            exposures = self._seen(block)
            for number, document in enumerate(block.documents, 1):
                if weights[document] == 0:
                    continue
                below = bottom(
                    int(projection.recall_levels[document]), int(projection.num_relevant[query]), self.n[query]
                )
                at_place = np.where(
                    block.places <= self._depth, product(exposures, weights[document]), below * weights[document]
                )
                chances = place_probabilities(len(block.places), len(block.documents), number)
                terms[document] = np.where(
                    chances > 0, chances * at_place, 0.0
                ).sum()  # what never happens may be infinite
        return terms

    def quotients(self, divisors: Any) -> FloatArray:
        """Return the mean over the divisors, [S, Q], for counts: one quotient of whole numbers for each ranking."""
        projection, terms = self.projection, self._at_starts()
        weights = np.broadcast_to(self.weights, terms.shape).astype(int)
        parts: dict[int, Fraction] = {}
        for block in tied_blocks(projection.found):
            is_seen = np.broadcast_to(self._seen(block), block.places.shape) & (block.places <= self._depth)
            terms[block.documents] = weights[block.documents] * is_seen.all()
            if is_seen.any() and not is_seen.all():
                part = _mean_count(is_seen, weights[block.documents].tolist())
                parts[block.ranking] = parts.get(block.ranking, Fraction()) + part
        sums = projection.sum(terms)
        divisors = np.broadcast_to(divisors, sums.shape)
        values: FloatArray = sums / divisors
        for ranking, part in parts.items():
            values.flat[ranking] = float((int(sums.flat[ranking]) + part) / Fraction(divisors.flat[ranking].item()))
        return values


def _mean_count(is_seen: BoolArray, weights: list[int]) -> Fraction:
    """Return the mean weight of what is at the seen places of a block, over all orders of its documents.

    >>> _mean_count(np.array([True, True, False]), [1, 1]), _mean_count(np.array([True, True, False]), [1, 0])
    (Fraction(4, 3), Fraction(1, 1))
    """
    size, relevant = len(is_seen), len(weights)
    if len(set(weights)) == 1:  # which of the relevant documents it is does not matter
        return Fraction(weights[0] * relevant * int(is_seen.sum()), size)
    # the fewer places to count, seen or unseen
    rare = is_seen if 2 * is_seen.sum() <= size else ~is_seen
    places = (np.flatnonzero(rare) + 1).tolist()
    mean = Fraction()
    for which, weight in enumerate(weights, 1):
        if weight:
            orders = sum(comb(k - 1, which - 1) * comb(size - k, relevant - which) for k in places)
            chance = Fraction(orders, comb(size, relevant))
            mean += weight * (chance if rare is is_seen else 1 - chance)
    return mean


def mean_at_places(values: FloatArray, tracks: Tracks, depth: float) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return every place down to the depth that a document may take, its ranking, and the mean value of what is there.

    A document's value does not depend on its place, and each of b tied documents is as likely at each of their b
    places.
    """
    starts, sizes = _blocks(tracks)
    rankings = tracks.segments.owners
    first = _first_documents(tracks)
    blocks = Segments(offsets_of(np.clip(depth - starts[first], 0, sizes[first]).astype(np.int64)))
    means = sums_of(values, np.repeat(np.arange(len(first)), np.diff(first, append=len(starts))), len(first))
    return (
        np.repeat(starts[first], blocks.sizes) + blocks.ordinals.astype(float),
        np.repeat(rankings[first], blocks.sizes),
        np.repeat(means / sizes[first], blocks.sizes),
    )


def _blocks(tracks: Tracks) -> tuple[IntArray, IntArray]:
    if tracks.block_starts is None or tracks.block_sizes is None:
        raise AssertionError('ties="expected" carries the tie blocks')
    return tracks.block_starts, tracks.block_sizes


def _first_documents(tracks: Tracks) -> IntArray:
    """Return the first relevant document of each block."""
    starts, _ = _blocks(tracks)
    return np.flatnonzero((np.diff(tracks.segments.owners, prepend=-1) != 0) | (np.diff(starts, prepend=-1) != 0))

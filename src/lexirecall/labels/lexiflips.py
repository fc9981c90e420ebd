"""Flip numbers of LexiRecall and LexiPrecision: how few new labels make the loser of a query its winner.

Belongs here: these two, one pool at a time. Not here: measures, and which run is the winner (flips).

Two rankings are compared place by place. The deepest place where one has a relevant document and the other has not
decides LexiRecall, if both find as many, and the first such place decides LexiPrecision. At all places beyond it, in
the order in which they are looked at, the labels must be equal. So the two documents at such a place are tied together:
both are relevant, or neither is. As a document may be in both rankings, ties make chains; a chain with a relevant
document must be relevant as a whole.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.labels.pools import LabelPool
from lexirecall.preferences.orders import deciding_level

_NEVER, _OPEN, _RELEVANT = -1, 0, 1
"""What is known of a document: that it is not relevant, nothing, or that it is."""


class UnsharedCounts(NamedTuple):
    """Of each pair of runs, how many unjudged documents only the first retrieves; counted for all pairs at once."""

    unjudged: BoolArray
    """Which unjudged documents each run retrieves, [S, I]."""
    counts: IntArray
    """[S, S]."""


def alone_of(retrieved: BoolArray, is_unjudged: BoolArray) -> UnsharedCounts:
    """Count, for each pair of runs, the unjudged documents that only the first has.

    >>> alone_of(np.array([[True, True], [False, True]]), np.array([True, True])).counts.tolist()
    [[0, 1], [0, 0]]
    """
    unjudged = retrieved & is_unjudged
    as_numbers = unjudged.astype(np.float32)  # exact up to 2^24 documents, and floats have a fast product
    return UnsharedCounts(unjudged, (unjudged.sum(axis=1)[:, None] - as_numbers @ as_numbers.T).astype(np.int64))


def lexirecall_flips(pool: LabelPool, level: float, winners: IntArray, losers: IntArray) -> FloatArray:
    """Return the flip number of each decided pair under LexiRecall; infinite if no labelling turns it, [P].

    If the winner finds D documents more, the loser needs D labels that count for it alone. If it retrieves fewer such
    documents, nothing turns the decision. If it retrieves more, D + 1 are enough, since it then finds more. D are, if
    the loser is better with as many found: its D highest documents make the most of it. If it retrieves exactly D, all
    of them are needed, and what else may help are labels of documents in both rankings, which leave the numbers equal.
    """
    retrieved, is_relevant = pool.places > 0, pool.is_relevant(level)
    found = (retrieved & is_relevant).sum(axis=1)
    unjudged, alone = alone_of(retrieved, pool.is_unjudged)
    lacking, unshared = found[winners] - found[losers], alone[losers, winners]
    numbers = np.where(unshared > lacking, lacking + 1.0, np.inf)
    for at in np.flatnonzero((unshared > lacking) & (lacking > 0)).tolist():
        winner, loser = winners[at], losers[at]
        labelled = _highest(pool.places[loser], unjudged[loser] & ~retrieved[winner], lacking[at])
        mine, theirs = np.flatnonzero(is_relevant & retrieved[loser]), np.flatnonzero(is_relevant & retrieved[winner])
        x = np.sort(pool.places[loser, np.concatenate([mine, labelled])])
        numbers[at] -= _is_better(x, np.sort(pool.places[winner, theirs]))
    for at in np.flatnonzero(unshared == lacking).tolist():
        winner, loser = winners[at], losers[at]
        is_open = unjudged[winner] & unjudged[loser]
        states = np.where(is_open, _OPEN, np.where(is_relevant | (unjudged[loser] & ~is_open), _RELEVANT, _NEVER))
        more = _fewest(_steps(pool, winner, loser, from_top=False), states.tolist(), least=int(lacking[at] == 0))
        numbers[at] = lacking[at] + more
    return numbers


def _highest(places: IntArray, among: BoolArray, number: int) -> IntArray:
    """Return the documents that stand highest, as many as asked for."""
    documents = np.flatnonzero(among)
    return documents[np.argsort(places[documents])[:number]]


def _is_better(x: IntArray, y: IntArray) -> bool:
    """Tell whether LexiRecall prefers positions to as many others."""
    level = deciding_level(x, y)
    return level is not None and bool(x[level - 1] < y[level - 1])


def lexiprecision_flips(pool: LabelPool, level: float, winners: IntArray, losers: IntArray) -> FloatArray:
    """Return the flip number of each decided pair under LexiPrecision; infinite if no labelling turns it, [P].

    At the first place that differs, the loser must have a relevant document, and the winner none.
    """
    states = np.where(pool.is_unjudged, _OPEN, np.where(pool.is_relevant(level), _RELEVANT, _NEVER)).tolist()
    pairs = zip(winners.tolist(), losers.tolist(), strict=True)
    return np.array([_fewest(_steps(pool, loser, winner, from_top=True), states, least=1) for winner, loser in pairs])


def _steps(pool: LabelPool, x: int, y: int, *, from_top: bool) -> Iterable[tuple[int, int]]:
    """Give the documents of two rankings, place by place; -1 where a ranking has none that is relevant or unjudged.

    Places where both have the same document, or both have none, tie nothing and decide nothing.
    """
    depth = int(pool.lengths[[x, y]].max())
    documents = np.full((2, depth + 1), -1)
    for row, places in zip(documents, pool.places[[x, y]], strict=True):
        retrieved = np.flatnonzero(places)
        row[places[retrieved]] = retrieved
    documents = documents[:, documents[0] != documents[1]]
    return zip(*(documents if from_top else documents[:, ::-1]).tolist(), strict=True)


def _fewest(steps: Iterable[tuple[int, int]], states: Sequence[int], *, least: int) -> float:
    """Return how few open documents must be relevant so that the first step that differs has x relevant, and y not.

    Each step holds the documents x and y, and -1 is one that never is relevant. What the steps so far demand only
    grows, so that nothing further on is cheaper than `demanded`, or than `least`. An open chain counts as one label,
    however long it is: where two open documents meet, labelling one of them decides, and so two are never needed after
    that.

    >>> _fewest([(0, 1), (1, 2), (3, -1)], [0, 0, 1, 1], least=1)  # label 0 at once; or both, as 1 goes with 2
    1
    >>> _fewest([(0, 1), (1, 2), (3, -1)], [-1, 0, 0, 1], least=0)  # as 0 is not, neither are 1 and 2: 3 decides
    0
    """
    chains = _Chains([*states, _NEVER])
    best, demanded = np.inf, 0
    for of_x, of_y in ((chains.find(x), chains.find(y)) for x, y in steps):
        if of_x == of_y:
            continue
        state_x, state_y = chains.states[of_x], chains.states[of_y]
        if state_x != _NEVER and state_y != _RELEVANT:
            best = min(best, demanded + (state_x == _OPEN))
        if state_x * state_y < 0:  # they cannot be equal
            break
        demanded += state_x + state_y == _RELEVANT  # one of them is relevant, and the other open
        if best <= max(demanded, least):
            break
        chains.join(of_x, of_y)
    return best


class _Chains:
    """Documents that are tied together; each chain is known by one of its documents."""

    def __init__(self, states: list[int]) -> None:
        self.states = states
        self._next = list(range(len(states)))

    def find(self, document: int) -> int:
        """Return the document by which its chain is known; -1 is the last of the list."""
        document %= len(self._next)
        while self._next[document] != document:
            # Path halving. Python assigns from left to right, so the link that changes is that of the old document.
            self._next[document] = document = self._next[self._next[document]]
        return document

    def join(self, x: int, y: int) -> None:
        """Tie two chains together, of which not one is relevant and the other never is."""
        self._next[y] = x
        # _OPEN is 0, so what is known of either chain holds for both.
        self.states[x] = self.states[x] or self.states[y]

"""Aggregate: one order of runs, from the preferences between each pair of them on every query.

Belongs here: the methods, one function each, the ranks that equal runs share, and the cycles of the majority.

The majority prefers a to b if a wins on more queries than b. Two runs without a query in common are tied. Nothing
depends on names or on the order in which runs are given: runs that a method cannot tell apart share a rank.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import UsageError, choice
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import ask, is_equal
from lexirecall.preferences import Pairs
from lexirecall.preferences.contrasts import Contrasts
from lexirecall.preferences.pairs import SignArray, win_rates
from lexirecall.statistics.kemeny import mean_places
from lexirecall.sums import ExactSums

AllPairs = Pairs | Contrasts
"""Every pair of runs, held or not."""
Ranked = tuple[FloatArray, IntArray]
"""Scores, where higher is better, and ranks."""


@dataclass(frozen=True, slots=True)
class Order(FieldEquality):
    """An order of S runs."""

    method: str
    scores: FloatArray
    """Higher is better, [S]; what they mean depends on the method."""
    ranks: IntArray
    """1 is the best, [S]; equal runs share a rank, as in 1, 1, 3."""
    cycles: tuple[tuple[int, ...], ...] = ()
    """Runs a, b, c, … where the majority prefers each to the next, and the last to the first."""

    @classmethod
    def of(cls, method: str, ranked: Ranked, wins: IntArray) -> "Order":
        """Add the cycles to scores and ranks; `wins` says on how many queries one run beats another, [S, S]."""
        return cls(method, *ranked, majority_cycles(_majority(wins)))

    @property
    def best_first(self) -> list[int]:
        """The runs, best first; equal ones in the order given."""
        return np.argsort(self.ranks, kind="stable").tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the table of methods."""

    name: str
    title: str
    """What its scores are."""
    rank: Callable[..., Ranked] | None
    """None where the order does not follow from pairs: leximin takes the values of a measure."""
    decimals: int = 4
    most_runs: int | None = None


def order_runs(pairs: AllPairs, method: str = "winrate", *, show_progress: bool | None = False) -> Order:
    """Put runs in one order, by one of METHODS that takes pairs; each also names the cycles of the majority.

    >>> grades = np.array([[3, 3, 3, 0, 0], [2, 2, 2, 3, 3], [1, 1, 1, 2, 2], [0, 0, 0, 1, 1]])
    >>> pairs = Pairs("", (*"abcd",), (*"12345",), np.sign(grades[:, None] - grades), np.ones((4, 5), bool))
    >>> for method in from_pairs():  # three times a > b > c > d, twice b > c > d > a
    ...     print(method, order_runs(pairs, method).ranks)
    winrate [2 1 3 4]
    borda [2 1 3 4]
    copeland [1 2 3 4]
    mc4 [1 2 3 4]
    kemeny [1 2 3 4]
    """
    check_method(method, len(pairs.runs))
    if (rank := METHODS[method].rank) is None:
        raise UsageError(f"{method} orders runs by values, not by pairs", remedy="use order_by_leximin")
    return Order.of(method, ask(rank, pairs, {"show_progress": show_progress}), pairs.wins)


def from_pairs() -> tuple[str, ...]:
    """Return the methods that order runs by the preferences between each pair of them."""
    return tuple(name for name, row in METHODS.items() if row.rank is not None)


def most_runs(method: str) -> int | None:
    """Return how many runs a method takes; None for any number.

    >>> most_runs("kemeny"), most_runs("borda")
    (30, None)
    """
    choice("method", method, METHODS)
    return METHODS[method].most_runs


def check_method(method: str, num_runs: int) -> None:
    """Raise unless there is such a method, and it takes so many runs.

    >>> check_method("kemeny", 31)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: kemeny is exact and takes at most 30 runs, but there are 31; more would take too long
      choose winrate, borda, copeland or mc4
    """
    most = most_runs(method)
    if most is not None and num_runs > most:
        *others, last = (name for name in from_pairs() if METHODS[name].most_runs is None)
        raise UsageError(
            f"{method} is exact and takes at most {most} runs, but there are {num_runs:,}; more would take too long",
            remedy=f"choose {', '.join(others)} or {last}",
        )


def shared_ranks(scores: FloatArray) -> IntArray:
    """Rank by score, the highest first; scores that are equal up to rounding share the best of their ranks.

    >>> shared_ranks(np.array([0.3, 0.7, 0.1 + 0.2, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    best_first = np.argsort(-scores, kind="stable")
    in_order = scores[best_first]
    # Cut to length: without scores even the leading True is one too many.
    is_first = np.concatenate([[True], ~is_equal(in_order[1:], in_order[:-1])])[: len(scores)]
    ranks = np.empty(len(scores), np.int64)
    ranks[best_first] = np.maximum.accumulate(np.where(is_first, np.arange(1, len(scores) + 1), 1))
    return ranks


def majority(pairs: AllPairs) -> SignArray:
    """Return which of two runs wins on more queries, [S, S]: 1 the first, -1 the second, 0 neither.

    >>> values = np.array([[[0, 0], [1, 0]], [[-1, 0], [0, 0]]])
    >>> majority(Pairs("", ("a", "b"), ("1", "2"), values, np.ones((2, 2), bool))).tolist()
    [[0, 1], [-1, 0]]
    """
    return _majority(pairs.wins)


def _majority(wins: IntArray) -> SignArray:
    return np.asarray(np.sign(wins - wins.T), np.int8)


def by_winrate(pairs: AllPairs) -> Ranked:
    """Rank by the mean over queries of (wins + ties/2)/(number of other runs), as `evaluate` prints it.

    A run that is never compared has 1/2.

    >>> values = np.array([[[0, 0], [1, 0]], [[-1, 0], [0, 0]]])
    >>> by_winrate(Pairs("", ("a", "b"), ("1", "2"), values, np.ones((2, 2), bool)))[0].tolist()
    [0.75, 0.25]
    """
    rates = win_rates(pairs.blocks(), pairs.taking_part)
    is_compared = ~np.isnan(rates)
    sums, counts = ExactSums.of(np.where(is_compared, rates, 0.0).T), is_compared.sum(axis=1)
    scores = np.where(counts > 0, sums.rounded() / np.maximum(counts, 1), 0.5)
    return scores, shared_ranks(scores)


def by_borda(pairs: AllPairs) -> Ranked:
    """Rank by Borda's points: on each query, one point for each run that it beats and half a point for each tie.

    That is S minus the rank, where tied runs have the mean of their ranks. Two runs that are not both compared on a
    query get half a point each there, so a query that a run lacks moves it neither up nor down. Queries on which no two
    runs are compared give no points.

    >>> grades = np.array([[2, 1], [1, 1], [0, 0]])
    >>> by_borda(Pairs("", (*"abc",), ("1", "2"), np.sign(grades[:, None] - grades), np.ones((3, 2), bool)))[0].tolist()
    [3.5, 2.5, 0.0]
    """
    wins = pairs.wins
    num_queries = int((pairs.taking_part.sum(axis=0) > 1).sum())
    scores = borda_points(wins.sum(axis=1) - wins.sum(axis=0), num_queries)
    return scores, shared_ranks(scores)


def borda_points(balance: IntArray, num_queries: int) -> FloatArray:
    """Return the points of S runs on so many queries, from wins less losses against the others, [S, …].

    >>> borda_points(np.array([2, 0, -2]), 1).tolist()
    [2.0, 1.0, 0.0]
    """
    return np.asarray((balance + num_queries * (len(balance) - 1)) / 2)


def by_copeland(pairs: AllPairs) -> Ranked:
    """Rank by the number of runs that a run beats by majority, plus half the number of those that it ties with.

    >>> grades = np.array([[2, 1], [1, 1], [0, 0]])
    >>> by_copeland(Pairs("", (*"abc",), ("1", "2"), np.sign(grades[:, None] - grades), np.ones((3, 2), bool)))[1]
    array([1, 2, 3])
    """
    scores = _twice_copeland(majority(pairs)) / 2
    return scores, shared_ranks(scores)


def _twice_copeland(signs: SignArray) -> IntArray:
    """Return 2 · won + tied, which is won - lost + S - 1."""
    return np.asarray(signs.sum(axis=1, dtype=np.int64) + len(signs) - 1)


def by_mc4(pairs: AllPairs) -> Ranked:
    """Rank by the Markov chain MC4: from a run, draw another at random and move there if the majority prefers it.

    Where the majority is tied, the chain moves half of the time. After many steps it stays among the runs that beat all
    others, and their shares of the time put them in order. Then they are removed, and the next ones are found in the
    same way. The score is the number of such classes below, plus the share within the class. A run that loses to all
    others has 1, one that beats all others has the number of classes.

    >>> grades = np.array([[4, 2, 3], [3, 4, 2], [2, 3, 4], [1, 1, 1]])  # a > b > c > a, and all of them beat d
    >>> scores, ranks = by_mc4(Pairs("", (*"abcd",), (*"123",), np.sign(grades[:, None] - grades), grades > 0))
    >>> scores.round(4).tolist(), ranks.tolist()
    ([1.3333, 1.3333, 1.3333, 1.0], [1, 1, 1, 4])

    Reference: Dwork, Kumar, Naor and Sivakumar, Rank aggregation methods for the web, WWW 2001.
    """
    signs = majority(pairs)
    moves = (1.0 - signs) / 2  # from row to column, without the factor 1/S
    scores, ranks = np.empty(len(signs)), np.empty(len(signs), np.int64)
    classes, num_above = dominance_classes(signs), 0
    for num_below, members in zip(range(len(classes) - 1, -1, -1), classes, strict=True):
        shares = stationary(moves[np.ix_(members, members)])
        scores[members] = num_below + shares
        ranks[members] = num_above + shared_ranks(shares)
        num_above += len(members)
    return scores, ranks


def dominance_classes(signs: SignArray) -> list[IntArray]:
    """Split runs into classes, best first: each class beats all later ones, and none can be split.

    The k best by Copeland's score beat all others exactly if their scores add up to C(k, 2) + k (S - k), the highest
    possible sum. No other k runs could.

    >>> [members.tolist() for members in dominance_classes(np.array([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]]))]
    [[0], [1, 2]]
    """
    twice = _twice_copeland(signs)
    best_first = np.argsort(-twice, kind="stable")
    k = np.arange(1, len(signs) + 1)
    is_end = np.cumsum(twice[best_first]) == k * (k - 1) + 2 * k * (len(signs) - k)
    return np.split(best_first, k[is_end][:-1])


def stationary(rates: FloatArray) -> FloatArray:
    """Return the stationary distribution of an irreducible Markov chain, from its rates between states.

    States are eliminated one by one, the last first, and nothing is ever subtracted. So even the smallest probabilities
    have nearly all their digits (Grassmann, Taksar and Heyman 1985); below 1e-308 they are 0.

    >>> stationary(np.array([[0, 1, 0], [0, 0, 1], [0.5, 0, 0]])).tolist()
    [0.25, 0.25, 0.5]
    """
    left = rates.astype(float)
    # The diagonal is never read: staying put cancels out of the balance between states.
    for k in range(len(left) - 1, 0, -1):
        left[:k, k] /= left[k, :k].sum()
        left[:k, :k] += np.outer(left[:k, k], left[k, :k])
    shares = np.ones(len(left))
    for k in range(1, len(left)):
        shares[k] = shares[:k] @ left[:k, k]
    return np.asarray(shares / shares.sum())


def by_kemeny(pairs: AllPairs, *, show_progress: bool | None = False) -> Ranked:
    """Rank by the order that the fewest preferences contradict, counted over all pairs and queries.

    The score is minus the mean place over all best orders. Runs that these do not separate are tied.

    >>> grades = np.array([[2, 1], [1, 2], [0, 0]])  # a and b win once each
    >>> by_kemeny(Pairs("", (*"abc",), ("1", "2"), np.sign(grades[:, None] - grades), np.ones((3, 2), bool)))
    (array([-1.5, -1.5, -3. ]), array([1, 1, 3]))
    """
    margins = pairs.wins - pairs.wins.T
    places, num_above = np.empty(len(margins)), 0
    for members in dominance_classes(_majority(pairs.wins)):  # every best order keeps to these classes
        among = margins[np.ix_(members, members)]
        places[members] = num_above + mean_places(among, show_progress=show_progress)
        num_above += len(members)
    return -places, shared_ranks(-places)


METHODS: dict[str, Method] = {
    row.name: row
    for row in (
        Method("winrate", "mean win rate", by_winrate),
        Method("borda", "Borda points", by_borda, decimals=1),
        Method("copeland", "pairs won", by_copeland, decimals=1),
        Method("mc4", "MC4", by_mc4),
        Method("kemeny", "minus mean place", by_kemeny, decimals=2, most_runs=30),
        Method("leximin", "worst query", None),
    )
}
"""Every way to order runs, by its name."""


def majority_cycles(signs: SignArray) -> tuple[tuple[int, ...], ...]:
    """Return one cycle for each set of runs that beat each other in a circle, by strict majority.

    There may be more cycles in a set: this is a shortest one, and among those the one with the smallest index.

    >>> majority_cycles(np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]))
    ((0, 1, 2),)
    """
    beats = np.asarray(signs > 0)
    reach = _closure(beats)
    is_mutual = reach & reach.T
    in_circles = np.flatnonzero(is_mutual.diagonal())
    firsts = np.unique(is_mutual[in_circles].argmax(axis=1)) if len(in_circles) else in_circles
    return tuple(_shortest_cycle(beats, np.flatnonzero(is_mutual[first])) for first in firsts)


def _closure(beats: BoolArray) -> BoolArray:
    """Tell who beats whom, directly or through others."""
    reach = beats
    while True:
        steps = reach.astype(np.float32)  # which has fast products
        further = reach | (steps @ steps > 0)
        if (further == reach).all():
            return np.asarray(reach)
        reach = further


def _shortest_cycle(beats: BoolArray, members: IntArray) -> tuple[int, ...]:
    within = beats[np.ix_(members, members)]
    shortest: list[int] = []
    for start in range(len(members)):
        cycle = _cycle_through(within, start)
        shortest = cycle if not shortest or len(cycle) < len(shortest) else shortest
        if len(shortest) == 3:  # two cannot beat each other
            break
    return tuple(members[shortest].tolist())


def _cycle_through(beats: BoolArray, start: int) -> list[int]:
    """Follow who beats whom in all directions at once, until someone beats the start."""
    previous = np.full(len(beats), -1)
    frontier = np.array([start])
    while not (closing := frontier[beats[frontier, start]]).size:
        reached = beats[frontier].any(axis=0) & (previous < 0)
        previous[reached] = frontier[beats[np.ix_(frontier, reached)].argmax(axis=0)]
        frontier = np.flatnonzero(reached)
    cycle = [int(closing[0])]
    while cycle[-1] != start:
        cycle.append(int(previous[cycle[-1]]))
    return cycle[::-1]

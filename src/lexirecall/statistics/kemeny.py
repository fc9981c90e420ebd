"""Kemeny: all orders of runs that the fewest preferences contradict, and the mean place of each run in them.

Belongs here: the search for these orders, which is exact.

Runs are placed one by one. What the next one costs depends on the set of those before it, not on their order, so the
search goes over sets, from none to all, and leaves out those that no best order begins with. For that it needs a lower
bound. If majorities prefer a to b, b to c and c to a, every order contradicts one of the three, or two. A linear
program says how much of each contradiction to charge to which of these cycles; the charges add up to the bound. What an
order costs beyond the bound, its excess, is a sum of terms that are never negative: one for each pair, and one for each
cycle of which it contradicts two. Poor charges make the search longer, but never wrong. All costs are whole numbers, so
equal ones are equal.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.progress import Progress

MOST_SETS = 3_000_000  # that a search keeps: up to a minute, and 1.6 GB
_BLOCK = 2**14  # sets that are continued at a time
_FRACTION = 2**16  # a charge is a multiple of 1/65,536
_VIOLATED = 1e-6
_STEPS = 1000  # of progress, for the sets of one size


def mean_places(margins: IntArray, *, show_progress: bool | None = False) -> FloatArray:
    """Return the mean place of each run over all best orders, [S]; margins are wins minus losses, [S, S].

    Equal runs, which tie and have the same margins against all others, can change places in every order. So only orders
    with equal runs in the order given are counted, and each of them has the mean of their places.

    >>> mean_places(np.array([[0, 2, -1, 1], [-2, 0, 3, 1], [1, -3, 0, 1], [-1, -1, -1, 0]])).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    is_equal = np.asarray((margins[:, None] == margins).all(axis=2))
    places = _mean_places(_best_orders(_Excess.of(margins, is_equal), show_progress=show_progress))
    return np.asarray(is_equal @ places / is_equal.sum(axis=1))


class Layer(NamedTuple):
    """The sets of k runs with which an order may begin."""

    sets: IntArray
    """Bit s is set if run s is in the set; ascending."""
    excess: FloatArray
    """The least that it takes to place these first."""
    links: tuple[IntArray, IntArray, IntArray]
    """The cheapest ways to each set: index in the layer before, index in this one, and the run placed last."""


def _mean_places(layers: list[Layer]) -> FloatArray:
    """Count the orders along the links from both ends; the number may be as large as 30!, so in floats."""
    ways: list[FloatArray] = [np.ones(1)]
    for layer in layers[1:]:
        before, here, _ = layer.links
        ways.append(np.bincount(here, ways[-1][before], len(layer.sets)).astype(float))
    places, ways_on = np.zeros(len(layers) - 1), np.ones(1)
    for place in range(len(layers) - 1, 0, -1):
        before, here, placed = layers[place].links
        through = ways[place - 1][before] * ways_on[here] / ways[-1]
        places += place * np.bincount(placed, through, len(places))
        ways_on = np.bincount(before, ways_on[here], len(ways[place - 1])).astype(float)
    return places


@dataclass(frozen=True)
class _Excess:
    """What an order costs beyond the bound: pairs[a, b] for a before b, cycles[a, b, c] for a before b before c."""

    bound: float
    unit: float
    """What one contradiction costs."""
    pairs: FloatArray
    cycles: FloatArray
    required: IntArray
    """The runs that must come before each, as a set."""

    @classmethod
    def of(cls, margins: IntArray, is_equal: BoolArray) -> "_Excess":
        """Charge as much as possible to cycles; of equal runs the earlier comes first."""
        size = len(margins)
        contradicted = np.maximum(-margins, 0) // max(1, int(np.gcd.reduce(margins, axis=None)))
        unit = float(
            min(_FRACTION, 2 ** max(0, 46 - int(contradicted.sum()).bit_length()))
        )  # sums below 2^53 are exact
        (p, q, r), charges = _charges(contradicted.T - contradicted)
        charges = np.floor(unit * charges)
        costs, cycles = unit * contradicted, np.zeros((size, size, size))
        for a, b, c in ((r, q, p), (q, p, r), (p, r, q)):  # the three orders that contradict two
            np.subtract.at(costs, (a, b), charges)
            np.add.at(cycles, (a, b, c), charges)
        least = np.minimum(costs, costs.T)
        required = np.tril(is_equal, -1) @ (1 << np.arange(size))
        return cls(float(charges.sum() + np.triu(least, 1).sum()), unit, costs - least, cycles, required)

    @property
    def backwards(self) -> "_Excess":
        """The same for orders that are read from their end."""
        size = len(self.pairs)
        is_required = self.required[:, None] >> np.arange(size) & 1
        return _Excess(self.bound, self.unit, self.pairs.T, self.cycles.T, is_required.T @ (1 << np.arange(size)))

    def of_next(self, sets: IntArray, spent: FloatArray, budget: float) -> FloatArray:
        """Return what has been spent if each run comes next after each set, [N, S]; infinite if it may not."""
        bits = 1 << np.arange(len(self.pairs))
        placed = (sets[:, None] & bits != 0).astype(float)
        total = spent[:, None] + (1 - placed) @ self.pairs.T
        total[(placed > 0) | (self.required & ~sets[:, None] != 0)] = np.inf
        for s in np.flatnonzero(self.cycles.any(axis=(0, 2))):
            some = np.flatnonzero(total[:, s] <= budget)
            total[some, s] += ((placed[some] @ self.cycles[:, s]) * (1 - placed[some])).sum(axis=1)
        return np.asarray(total)


def _charges(margins: IntArray) -> tuple[IntArray, FloatArray]:
    """Return cycles [3, C], and what is charged to each, [C]: the dual values of the relaxed problem.

    The variables say for a < b whether a comes first. A cycle becomes a constraint when a solution goes round it.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    size = len(margins)
    rising = np.array([*combinations(range(size), 3)], np.int64).reshape(-1, 3).T
    cycles = np.concatenate([rising, rising[::-1]], axis=1)
    ends = np.roll(cycles, -1, axis=0)
    variable, is_rising = np.zeros((size, size), np.int64), cycles < ends
    variable[np.triu_indices(size, 1)] = np.arange(size * (size - 1) // 2)
    variable += variable.T
    is_first, is_constraint = (np.sign(margins) + 1) / 2, np.zeros(cycles.shape[1], bool)
    charges = np.zeros(cycles.shape[1])
    while (is_new := (is_first[cycles, ends].sum(axis=0) > 2 + _VIOLATED) & ~is_constraint).any():
        is_constraint |= is_new
        signs, columns = np.where(is_rising, 1.0, -1.0)[:, is_constraint], variable[cycles, ends][:, is_constraint]
        rows = np.broadcast_to(np.arange(columns.shape[1]), columns.shape)
        solved = linprog(
            -margins[np.triu_indices(size, 1)].astype(float),
            A_ub=coo_array((signs.ravel(), (rows.ravel(), columns.ravel())), (columns.shape[1], variable.max() + 1)),
            b_ub=2.0 - (~is_rising)[:, is_constraint].sum(axis=0),
            bounds=(0, 1),
        )
        if not solved.success:  # pragma: no cover - then the charges found so far serve
            break
        charges[is_constraint] = np.maximum(0.0, -solved.ineqlin.marginals)
        is_first[np.triu_indices(size, 1)] = solved.x
        is_first.T[np.triu_indices(size, 1)] = 1 - solved.x
    return cycles[:, charges > 0], charges[charges > 0]


def _best_orders(excess: _Excess, *, show_progress: bool | None = False) -> list[Layer]:
    """Search with more and more contradictions, until there is an order.

    Half of what may be spent is spent before some place or after it. So the search from the end needs half the budget,
    and the search from the beginning knows what the rest takes, or that it takes more than half.
    """
    most = np.ceil(excess.bound / excess.unit)
    while True:
        budget = float(most * excess.unit - excess.bound)
        # Nobody knows how many searches it takes: each has a bar of its own.
        with Progress("searching orders", 2 * len(excess.pairs) * _STEPS, shown=show_progress) as progress:
            endings = _search(excess.backwards, budget / 2, [], progress)
            layers = _search(excess, budget, endings, progress)
        if len(layers[-1].sets):
            return layers
        most += max(1, (most - excess.bound / excess.unit) // 4)


def _search(excess: _Excess, budget: float, endings: list[Layer], progress: Progress) -> list[Layer]:
    """Return the sets, layer by layer, that an order within the budget may begin with."""
    size, nothing = len(excess.pairs), np.zeros(0, np.int64)
    layers = [Layer(np.zeros(1, np.int64), np.zeros(1), (nothing, nothing, nothing))]
    for number in range(1, size + 1):
        layers.append(_next_layer(excess, budget, layers[-1], endings[size - number] if endings else None, progress))
        if sum(len(layer.sets) for layer in layers) > MOST_SETS:
            raise UsageError(
                f"kemeny would have to look at more than {MOST_SETS:,} sets of {size} runs, because too many orders "
                "are equally good or nearly so",
                remedy="leave out some runs, or choose another method",
            )
    return layers


def _next_layer(excess: _Excess, budget: float, last: Layer, ending: Layer | None, progress: Progress) -> Layer:
    starts, parts = range(0, max(1, len(last.sets)), _BLOCK), []
    for number, start in enumerate(starts):
        parts.append(_continued(excess, budget, last, slice(start, start + _BLOCK), ending))
        progress.advance((number + 1) * _STEPS // len(starts) - number * _STEPS // len(starts))
    sets, spent, before, placed = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((spent, sets))
    sets, spent, before, placed = sets[order], spent[order], before[order], placed[order]
    is_first = np.diff(sets, prepend=-1) > 0
    here = np.cumsum(is_first) - 1
    is_cheapest = spent == spent[is_first][here]
    return Layer(sets[is_first], spent[is_first], (before[is_cheapest], here[is_cheapest], placed[is_cheapest]))


def _continued(
    excess: _Excess, budget: float, last: Layer, some: slice, ending: Layer | None
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """Place one more run after some sets: the larger sets, what they take, whence they come, and the run."""
    total = excess.of_next(last.sets[some], last.excess[some], budget)
    before, placed = np.nonzero(total <= budget)
    sets, spent = last.sets[some][before] | (1 << placed), total[before, placed]
    if ending is not None:
        is_within = spent + _needed(sets, len(excess.pairs), ending, budget) <= budget
        sets, spent, before, placed = sets[is_within], spent[is_within], before[is_within], placed[is_within]
    return sets, spent, before + some.start, placed


def _needed(sets: IntArray, size: int, ending: Layer, budget: float) -> FloatArray:
    """Return what the rest takes, or, where that is more than half of the budget, the least whole number above."""
    rest, more = (1 << size) - 1 - sets, np.floor(budget / 2) + 1
    known = np.append(ending.sets, 1 << size)  # which is none of them
    at = np.searchsorted(known, rest)
    return np.where(known[at] == rest, np.append(ending.excess, more)[at], more)

"""Decisions: what a measure says of each pair of systems on every request, and how far two measures say the same.

Belongs here: all pairs as compact orders, and counting over them. Not here: what the counts are for (the other modules
of this package).

A measure orders the systems on each request, so S small integers per request hold all its S(S-1)/2 decisions. Signs of
pairs are made from them row by row and never kept. A preference that is not an order, such as RPP, keeps its signs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.measures.measure import is_equal
from lexirecall.names import Evaluable
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import LEXI_PRECISION, LEXI_RECALL
from lexirecall.preferences.orders import lexiprecision_ranks, lexirecall_ranks
from lexirecall.preferences.pairs import SignArray

Ranks = npt.NDArray[np.signedinteger[Any]]
"""Small integers."""

_ORDERS: dict[tuple[object, ...], Callable[[Projection], IntArray]] = {
    LEXI_RECALL.formulas: lexirecall_ranks,
    LEXI_PRECISION.formulas: lexiprecision_ranks,  # with a size too: it has the sign of the order
}


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of one measure between each pair of S systems on each of Q requests."""

    taking_part: BoolArray
    """Which systems are compared on which requests, [S, Q]."""
    ranks: Ranks | None = None
    """The place of each system on each request, [S, Q], the smaller the better; equal where the measure ties."""
    signs: SignArray | None = None
    """Which of two systems is preferred, [S, S, Q], if the preference is not an order."""

    @property
    def num_compared(self) -> int:
        """How many pairs are compared, over all requests."""
        number = self.taking_part.sum(axis=0)
        return int((number * (number - 1) // 2).sum())

    @property
    def num_tied(self) -> int:
        """How many of them are tied.

        >>> Decisions(np.ones((3, 2), bool), ranks=np.array([[0, 0], [0, 1], [2, 2]], np.int16)).num_tied
        1
        """
        if self.ranks is None:
            return self.num_compared - self._num_decided()
        span = int(self.ranks.max(initial=0)) + 1
        groups = np.arange(self.ranks.shape[1]) * span + self.ranks
        sizes = np.bincount(groups[self.taking_part], minlength=1)
        return int((sizes * (sizes - 1) // 2).sum())

    def _num_decided(self) -> int:
        among = self.taking_part
        rows = ((self.against_later(s) != 0) & among[s] & among[s + 1 :] for s in range(len(among) - 1))
        return sum(int(np.count_nonzero(row)) for row in rows)

    def against_later(self, system: int) -> SignArray:
        """Compare a system with those after it, [S - 1 - system, Q]: 1 where it is preferred, -1 where the other is.

        >>> Decisions(np.ones((3, 1), bool), ranks=np.array([[1], [0], [1]], np.int16)).against_later(0).tolist()
        [[-1], [0]]
        """
        if self.ranks is None:
            assert self.signs is not None  # noqa: S101 - one of the two is given
            return self.signs[system, system + 1 :]
        mine, others = self.ranks[system], self.ranks[system + 1 :]
        return np.asarray(np.less(mine, others).view(np.int8) - np.greater(mine, others).view(np.int8))

    def on(self, requests: BoolArray) -> "Decisions":
        """Return the decisions on some requests only."""
        ranks = None if self.ranks is None else self.ranks[:, requests]
        signs = None if self.signs is None else self.signs[:, :, requests]
        return Decisions(self.taking_part[:, requests], ranks, signs)


@dataclass(frozen=True, slots=True)
class Concordance:
    """How often two measures say the same of a pair of systems on a request."""

    num_compared: int
    """Pairs that both compare."""
    num_same: int
    """Pairs that both decide, in the same way."""
    num_decided: int
    """Pairs that the second decides."""
    num_tied: int
    """Pairs that both tie."""


def concordance(x: Decisions, y: Decisions) -> Concordance:
    """Count where two measures decide the same, over all pairs and requests that both compare.

    >>> everyone = np.ones((3, 1), bool)
    >>> x = Decisions(everyone, ranks=np.array([[0], [1], [2]], np.int16))
    >>> y = Decisions(everyone, ranks=np.array([[1], [0], [2]], np.int16))
    >>> concordance(x, y)
    Concordance(num_compared=3, num_same=2, num_decided=3, num_tied=0)
    """
    common = x.taking_part & y.taking_part
    if not (requests := np.asarray(common.any(axis=0))).all():
        x, y, common = x.on(requests), y.on(requests), common[:, requests]
    compared = None if common.all() else common  # nearly always all systems take part
    num_same = num_decided = num_either = 0
    for s in range(len(common) - 1):
        mine, theirs = x.against_later(s), y.against_later(s)
        if compared is not None:
            both = compared[s] & compared[s + 1 :]
            mine, theirs = mine * both, theirs * both
        num_same += int(np.count_nonzero(mine * theirs > 0))
        num_decided += int(np.count_nonzero(theirs))
        num_either += int(np.count_nonzero(mine | theirs))
    num_compared = Decisions(common).num_compared
    return Concordance(num_compared, num_same, num_decided, num_compared - num_either)


def decide(row: Evaluable, positions: Positions, policies: Policies) -> Decisions:
    """Compare each pair of systems on every request by a measure or preference, with the decisions of `compare`.

    >>> from lexirecall import parse_measure, project
    >>> positions = project({"q": {"a": 1}}, {"x": {"q": ["b", "a"]}, "y": {"q": ["a"]}, "z": {"q": ["c", "a"]}})
    >>> decide(parse_measure("RR"), positions, Policies()).ranks.tolist()
    [[1], [0], [1]]
    """
    return decide_all([row], positions, policies)[0]


def decide_all(rows: Sequence[Evaluable], positions: Positions, policies: Policies) -> list[Decisions]:
    """Return the decisions of several measures, as `decide` does for one; each level is projected once."""
    levels = {row.level(policies.level) for row in rows}
    projections = {level: positions.at_level(level) for level in levels}
    return [_decide(row, projections[row.level(policies.level)], policies) for row in rows]


def _decide(row: Evaluable, projection: Projection, policies: Policies) -> Decisions:
    taking_part = among = policies.among(projection.source.answered)
    if not policies.counts_empty(row):
        taking_part = taking_part & (projection.num_relevant > 0)
    if isinstance(row, Measure):
        values = row.direction * row.scores(projection, among)
        defined = np.isfinite(values)
        keys = row.order(projection)
        return Decisions(taking_part & defined, dense_ranks(np.where(defined, values if keys is None else keys, 0.0)))
    if order := _ORDERS.get(row.formulas):
        return Decisions(taking_part, ranks=_small(order(projection)))
    return Decisions(taking_part, signs=row.pairs(projection, among).signs)


def dense_ranks(values: FloatArray) -> Ranks:
    """Rank the systems on each request by their values, [S, Q]: how many different values are higher.

    Values that count as equal share a rank. If the first of three values equals the second and the second the third,
    all three share a rank, even if the first does not equal the third. That takes two differences of a trillionth.

    >>> dense_ranks(np.array([[0.1 + 0.2], [0.5], [0.3], [0.1]])).ravel().tolist()
    [1, 0, 1, 2]
    """
    by_request = np.ascontiguousarray(-values.T)
    order = np.argsort(by_request, axis=1)
    ascending = np.take_along_axis(by_request, order, axis=1)
    is_new = np.zeros(by_request.shape, np.int16 if len(values) < 2**15 else np.int32)
    is_new[:, 1:] = ~is_equal(ascending[:, 1:], ascending[:, :-1])
    ranks = np.empty_like(is_new)
    np.put_along_axis(ranks, order, np.cumsum(is_new, axis=1, dtype=is_new.dtype), axis=1)
    return np.ascontiguousarray(ranks.T)


def _small(ranks: IntArray) -> Ranks:
    return ranks.astype(np.int16 if len(ranks) < 2**15 else np.int32)

"""Decisions: what a measure says of each pair of runs on every query, and how far two measures say the same.

Belongs here: all pairs as compact orders, and counting over them. Not here: what the counts are for (the other modules
of this package).

A measure orders the runs on each query, so S small integers per query hold all its S(S-1)/2 decisions. Signs of
pairs are made from them row by row and never kept. A preference that is not an order, such as RPP, keeps its signs.
"""

from collections.abc import Callable, Iterator, Sequence
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
    """The decisions of one measure between each pair of S runs on each of Q queries."""

    taking_part: BoolArray
    """Which runs are compared on which queries, [S, Q]."""
    ranks: Ranks | None = None
    """The place of each run on each query, [S, Q], the smaller the better; equal where the measure ties."""
    signs: SignArray | None = None
    """Which of two runs is preferred, [S, S, Q], if the preference is not an order."""

    @property
    def num_compared(self) -> int:
        """How many pairs are compared, over all queries."""
        return int(self.compared.sum())

    @property
    def num_tied(self) -> int:
        """How many of them are tied.

        >>> Decisions(np.ones((3, 2), bool), ranks=np.array([[0, 0], [0, 1], [2, 2]], np.int16)).num_tied
        1
        """
        return int(self.tied.sum())

    @property
    def compared(self) -> IntArray:
        """How many pairs are compared on each query, [Q]."""
        return _num_pairs(self.taking_part.sum(axis=0))

    @property
    def tied(self) -> IntArray:
        """How many pairs are tied on each query, [Q]."""
        if self.ranks is None:
            decided = np.zeros(self.taking_part.shape[1], np.int64)
            for _, signs in self.rows():
                decided += _added(np.abs(signs))
            return self.compared - decided
        return np.asarray(_num_pairs(self._sizes()).sum(axis=1))

    def _sizes(self) -> IntArray:
        """Count the runs that share each rank, [Q, ranks]."""
        assert self.ranks is not None  # noqa: S101 - an order is asked for
        span, num_queries = int(self.ranks.max(initial=0)) + 1, self.ranks.shape[1]
        groups = np.arange(num_queries) * span + self.ranks
        return np.bincount(groups[self.taking_part], minlength=num_queries * span).reshape(num_queries, span)

    def rows(self) -> Iterator[tuple[int, SignArray]]:
        """Give each run but the last, and how it compares with those after it; 0 where it is not compared."""
        among = None if self.taking_part.all() else self.taking_part
        for s in range(len(self.taking_part) - 1):
            signs = self.against_later(s)
            yield s, signs if among is None else signs * (among[s] & among[s + 1 :])

    @property
    def balances(self) -> FloatArray:
        """The mean preference of each run against the others that take part, [S, Q]; nan where there is none.

        >>> Decisions(np.ones((3, 1), bool), ranks=np.array([[0], [1], [1]], np.int16)).balances.ravel().tolist()
        [1.0, -0.5, -0.5]
        """
        num_others = self.taking_part.sum(axis=0) - 1
        is_compared = self.taking_part & (num_others > 0)
        return np.where(is_compared, self._won_less_lost() / np.maximum(num_others, 1), np.nan)

    def _won_less_lost(self) -> IntArray:
        if self.ranks is None:
            assert self.signs is not None  # noqa: S101 - one of the two is given
            return np.asarray(np.einsum("abq,bq->aq", self.signs, self.taking_part, dtype=np.int64))
        up_to = np.cumsum(self._sizes(), axis=1)
        queries = np.arange(self.ranks.shape[1])
        not_worse = up_to[queries, self.ranks]
        better = not_worse - self._sizes()[queries, self.ranks]
        return np.asarray(up_to[:, -1] - not_worse - better)

    def against_later(self, run: int) -> SignArray:
        """Compare a run with those after it, [S - 1 - run, Q]: 1 where it is preferred, -1 where the other is.

        >>> Decisions(np.ones((3, 1), bool), ranks=np.array([[1], [0], [1]], np.int16)).against_later(0).tolist()
        [[-1], [0]]
        """
        if self.ranks is None:
            assert self.signs is not None  # noqa: S101 - one of the two is given
            return self.signs[run, run + 1 :]
        mine, others = self.ranks[run], self.ranks[run + 1 :]
        return np.asarray(np.less(mine, others).view(np.int8) - np.greater(mine, others).view(np.int8))

    def on(self, queries: BoolArray) -> "Decisions":
        """Return the decisions on some queries only."""
        ranks = None if self.ranks is None else self.ranks[:, queries]
        signs = None if self.signs is None else self.signs[:, :, queries]
        return Decisions(self.taking_part[:, queries], ranks, signs)


@dataclass(frozen=True, slots=True, eq=False)
class Concordance:
    """How often two measures say the same of a pair of runs, on each of Q queries."""

    compared: IntArray
    """Pairs that both compare, [Q]."""
    same: IntArray
    """Pairs that both decide, in the same way, [Q]."""
    decided: IntArray
    """Pairs that the second decides, [Q]."""
    tied: IntArray
    """Pairs that both tie, [Q]."""

    @property
    def num_compared(self) -> int:
        """Pairs that both compare, over all queries."""
        return int(self.compared.sum())

    @property
    def num_same(self) -> int:
        """Pairs that both decide in the same way, over all queries."""
        return int(self.same.sum())

    @property
    def num_decided(self) -> int:
        """Pairs that the second decides, over all queries."""
        return int(self.decided.sum())

    @property
    def num_tied(self) -> int:
        """Pairs that both tie, over all queries."""
        return int(self.tied.sum())


def concordance(x: Decisions, y: Decisions) -> Concordance:
    """Count where two measures decide the same, over all pairs that both compare on each query.

    >>> everyone = np.ones((3, 1), bool)
    >>> x = Decisions(everyone, ranks=np.array([[0], [1], [2]], np.int16))
    >>> y = Decisions(everyone, ranks=np.array([[1], [0], [2]], np.int16))
    >>> counts = concordance(x, y)
    >>> counts.num_compared, counts.num_same, counts.num_decided, counts.num_tied
    (3, 2, 3, 0)
    """
    common = x.taking_part & y.taking_part
    x, y = Decisions(common, x.ranks, x.signs), Decisions(common, y.ranks, y.signs)
    counts = np.zeros((2, common.shape[1]), np.int64)
    queries = np.asarray(common.any(axis=0))
    counts[:, queries] = _counted(*((x, y) if queries.all() else (x.on(queries), y.on(queries))))
    compared, decided = x.compared, y.compared - y.tied
    balance, equal = counts
    # With C pairs decided the same way, D decided the opposite way and T tied by both: balance = C - D, equal = C + T,
    # and those that x decides plus those that y does, less all that are compared, are C + D - T. Their sum is 3 C.
    same = (balance + equal + decided - x.tied) // 3
    return Concordance(compared, same, decided, equal - same)


def _counted(x: Decisions, y: Decisions) -> IntArray:
    """Count the pairs decided the same way less those decided the opposite way, and those with equal signs, [2, Q]."""
    common = x.taking_part
    compared = None if common.all() else common  # nearly always all runs take part
    counts = np.zeros((2, common.shape[1]), np.int64)
    for s in range(len(common) - 1):
        mine, theirs = x.against_later(s), y.against_later(s)
        products, equal = mine * theirs, mine == theirs
        if compared is not None:
            both = compared[s] & compared[s + 1 :]
            products, equal = products * both, equal & both
        counts[0] += _added(products)
        counts[1] += _added(equal.view(np.int8))
    return counts


def by_pair(x: Decisions, y: Decisions) -> BoolArray:
    """Tell, of each pair on each query, whether both decide it in the same way, the second does, and both compare it.

    >>> everyone = np.ones((2, 2), bool)
    >>> x = Decisions(everyone, ranks=np.array([[0, 0], [1, 0]], np.int16))
    >>> by_pair(x, x).astype(int).tolist()
    [[[1, 0]], [[1, 0]], [[1, 1]]]
    """
    common, rows = x.taking_part & y.taking_part, []
    for s in range(len(common) - 1):
        theirs, both = y.against_later(s), common[s] & common[s + 1 :]
        decided = both & (theirs != 0)
        rows.append(np.stack([decided & (x.against_later(s) == theirs), decided, both]))
    return np.concatenate(rows, axis=1)


def _added(signs: SignArray) -> IntArray:
    """Add up rows of -1, 0 and 1, [Q], in bytes while they cannot overflow: that is many times faster."""
    if len(signs) < 128:
        return np.asarray(np.add.reduce(signs, axis=0, dtype=np.int8).astype(np.int64))
    return _added(signs[:127]) + _added(signs[127:])


def _num_pairs(number: IntArray) -> IntArray:
    return np.asarray(number * (number - 1) // 2)


def decide(row: Evaluable, positions: Positions, policies: Policies) -> Decisions:
    """Compare each pair of runs on every query by a measure or preference, with the decisions of `compare`.

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
    taking_part = policies.counted(projection.source, row)
    if isinstance(row, Measure):
        worth, keys = row.worth(row.scores(projection, taking_part)), row.order(projection)
        has_worth = ~np.isnan(worth)
        return Decisions(taking_part & has_worth, dense_ranks(np.where(has_worth, worth if keys is None else keys, 0)))
    if order := _ORDERS.get(row.formulas):
        return Decisions(taking_part, ranks=_small(order(projection)))
    return Decisions(taking_part, signs=row.pairs(projection, taking_part).signs)


def dense_ranks(values: FloatArray) -> Ranks:
    """Rank the runs on each query by their values, [S, Q]: how many different values are higher.

    Values that count as equal share a rank. If the first of three values equals the second and the second the third,
    all three share a rank, even if the first does not equal the third. That takes two differences of a trillionth.

    >>> dense_ranks(np.array([[0.1 + 0.2], [0.5], [0.3], [0.1]])).ravel().tolist()
    [1, 0, 1, 2]
    """
    by_query = np.ascontiguousarray(-values.T)
    order = np.argsort(by_query, axis=1)
    ascending = np.take_along_axis(by_query, order, axis=1)
    is_new = np.zeros(by_query.shape, np.int16 if len(values) < 2**15 else np.int32)
    is_new[:, 1:] = ~is_equal(ascending[:, 1:], ascending[:, :-1])
    ranks = np.empty_like(is_new)
    np.put_along_axis(ranks, order, np.cumsum(is_new, axis=1, dtype=is_new.dtype), axis=1)
    return np.ascontiguousarray(ranks.T)


def _small(ranks: IntArray) -> Ranks:
    return ranks.astype(np.int16 if len(ranks) < 2**15 else np.int32)

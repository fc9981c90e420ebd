"""Flips: how few unjudged documents, if they were relevant, would reverse who is better on a query.

Belongs here: flip numbers of all pairs and queries, and those of measures. Not here: LexiRecall and LexiPrecision
(lexiflips), how likely a reversal is.

A decision is reversed if the other run is strictly better; a tie does not count. Labels count for both runs, and also
for the number of relevant documents. Any unjudged document that one of the two retrieves may be labelled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.labels.lexiflips import alone_of, lexiprecision_flips, lexirecall_flips
from lexirecall.labels.pools import Labelling, LabelPool
from lexirecall.manifest import Conventions, Policies
from lexirecall.measures import MEASURES
from lexirecall.names import Evaluable
from lexirecall.preferences import PREFERENCES, Preference
from lexirecall.progress import Progress
from lexirecall.verbs.rank import contrasted

_AT_A_TIME = 2**22  # comparisons of documents that are made together


class Flips(NamedTuple):
    """What it takes to reverse each decision, of P pairs of runs on Q queries."""

    a: IntArray
    """Index of the first run, [P]."""
    b: IntArray
    """Index of the second, [P]."""
    signs: IntArray
    """1 if the first run is better, -1 if the second is, 0 for a tie, [P, Q]."""
    numbers: FloatArray
    """How many labels reverse it; infinite if none do; nan for ties, and where the two are not compared, [P, Q]."""
    unjudged: IntArray
    """How many unjudged documents either run retrieves, [P, Q]."""


@dataclass(frozen=True, slots=True)
class Ground:
    """One pool, as a rule for flip numbers sees it."""

    pool: LabelPool
    level: float
    bottom: float
    """Where the documents are that a run does not retrieve: n or infinity."""
    cutoff: float
    """Infinite if there is none."""

    @property
    def is_relevant(self) -> BoolArray:
        """Which documents are known to be relevant, [I]."""
        return self.pool.is_relevant(self.level)

    def placed(self, elsewhere: float) -> FloatArray:
        """Return where each run has each document, or `elsewhere`, [S, I]; beyond the cut-off that is at infinity."""
        places = np.where(self.pool.places > 0, self.pool.places, elsewhere)
        return np.where(places > self.cutoff, np.inf, places)


Rule = Callable[[Ground, IntArray, IntArray], FloatArray]
"""From a pool, and the winner and the loser of each decided pair, to the flip numbers, [P]."""


def _by_count(ground: Ground, winners: IntArray, losers: IntArray) -> FloatArray:
    """Count what is above the cut-off: with D documents less, the loser needs D + 1 labels that count for it alone."""
    is_within = np.isfinite(ground.placed(np.inf))
    counts = (is_within & ground.is_relevant).sum(axis=1)
    lacking = counts[winners] - counts[losers]
    unshared = alone_of(is_within, ground.pool.is_unjudged).counts[losers, winners]
    return np.where(unshared > lacking, lacking + 1.0, np.inf)


def _by_first(ground: Ground, winners: IntArray, losers: IntArray) -> FloatArray:
    """Look at the first relevant document: one label is enough if the loser has it above both of the winner's.

    If several labels reverse a decision, that which the loser then has first does so alone.
    """
    places = ground.placed(np.inf)
    first = np.where(ground.is_relevant, places, np.inf).min(axis=1, initial=np.inf)
    return _one_or_none(ground, winners, losers, lambda winner, _, x, y: y < np.minimum(first[winner, None], x), places)


def _by_last(ground: Ground, winners: IntArray, losers: IntArray) -> FloatArray:
    """Look at the last relevant document: one label is enough if the winner has it below both of the loser's.

    If several labels reverse a decision, that which the winner then has last does so alone. A relevant document that no
    run retrieves is last for both, so that nothing is decided.
    """
    places = ground.placed(ground.bottom)
    last = np.where(ground.is_relevant, places, 0.0).max(axis=1, initial=0.0)
    return _one_or_none(ground, winners, losers, lambda _, loser, x, y: x > np.maximum(last[loser, None], y), places)


def _one_or_none(
    ground: Ground,
    winners: IntArray,
    losers: IntArray,
    is_turned: Callable[[IntArray, IntArray, FloatArray, FloatArray], BoolArray],
    places: FloatArray,
) -> FloatArray:
    """Return 1 where an unjudged document turns the decision, given its places in both rankings, and else infinity."""
    unjudged = places[:, ground.pool.is_unjudged]
    size = max(1, _AT_A_TIME // max(1, unjudged.shape[1]))
    numbers = np.full(len(winners), np.inf)
    for start in range(0, len(winners), size):
        these = slice(start, start + size)
        winner, loser = winners[these], losers[these]
        turned = is_turned(winner, loser, unjudged[winner], unjudged[loser]).any(axis=1)
        numbers[these] = np.where(turned, 1.0, np.inf)
    return numbers


def _never(_: Ground, winners: IntArray, __: IntArray) -> FloatArray:
    """All@k of the loser stays 0, since labels are only added; Success@k of the winner stays 1 for that reason."""
    return np.full(len(winners), np.inf)


def _of_pool(flips: Callable[[LabelPool, float, IntArray, IntArray], FloatArray]) -> Rule:
    return lambda ground, winners, losers: flips(ground.pool, ground.level, winners, losers)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("R", "P", "SetR", "NumRelRet"), _by_count),
    **dict.fromkeys(("RR", "SL1"), _by_first),
    **dict.fromkeys(("TSE", "LastRel", "SL3"), _by_last),
    **dict.fromkeys(("All", "Success"), _never),
    "LexiRecall": _of_pool(lexirecall_flips),
    "LexiPrecision": _of_pool(lexiprecision_flips),
}
"""The measures and preferences that have exact flip numbers."""


def has_flips(row: Evaluable) -> bool:
    """Tell whether the flip numbers of a measure or preference are known exactly.

    >>> from lexirecall.names import parse_measure, parse_preference
    >>> has_flips(parse_measure("R@100")), has_flips(parse_measure("AP")), has_flips(parse_preference("LexiRecall"))
    (True, False, True)
    """
    measure = _own(row)
    # A rule holds for one formula: a measure of the user may have the same name and another formula.
    known = MEASURES.get(measure.name) or PREFERENCES.get(measure.name)
    return measure.name in RULES and known is not None and known.formulas == measure.formulas


def _own(row: Evaluable) -> Evaluable:
    """Return the measure that a preference is made from, or the row itself."""
    return row.measure if isinstance(row, Preference) and row.measure is not None else row


def flips_of(
    pools: Sequence[LabelPool],
    row: Evaluable,
    policies: Policies,
    pairs: tuple[IntArray, IntArray],
    labelling: Labelling | None = None,
    *,
    progress: Progress | None = None,
) -> Flips:
    """Return who is better in each pair on each query, and how few new labels would reverse that.

    `labelling` says how rankings become positions, and n; its grade is not looked at. `progress` is told of each pool.

    >>> from lexirecall.formats.listing import load_lists
    >>> from lexirecall.labels.pools import pools_of
    >>> from lexirecall.names import parse_preference
    >>> lists = load_lists({"q": {"a": 1, "b": 1}}, {"one": {"q": ["a", "b", "x"]}, "two": {"q": ["y", "z", "b"]}})
    >>> pairs = np.array([0]), np.array([1])
    >>> flips = flips_of(list(pools_of(lists)), parse_preference("LexiRecall"), Policies(), pairs)
    >>> flips.signs.tolist(), flips.numbers.tolist(), flips.unjudged.tolist()  # y and z, which "one" does not find
    ([[1]], [[2.0]], [[3]])
    """
    if not has_flips(row):
        raise UsageError(
            f"the flip numbers of {row} are not known: there is no exact rule for it",
            remedy=f"choose one of {', '.join(RULES)}",
        )
    a, b = (np.asarray(side, np.int64) for side in pairs)
    labelling = labelling or Labelling(tuple(map(str, range(_num_runs(pools)))), Conventions())
    signs = _signs(pools, row, policies, (a, b), labelling)
    numbers, unjudged = np.full(signs.shape, np.nan), np.zeros(signs.shape, np.int64)
    for q, pool in enumerate(pools):
        decided = np.flatnonzero(signs[:, q])
        is_first = signs[decided, q] > 0
        winners, losers = np.where(is_first, a[decided], b[decided]), np.where(is_first, b[decided], a[decided])
        ground = _ground(pool, _own(row), policies, labelling)
        numbers[decided, q] = RULES[_own(row).name](ground, winners, losers)
        unshared = alone_of(pool.places > 0, pool.is_unjudged)
        unjudged[:, q] = unshared.counts[a, b] + unshared.unjudged.sum(axis=1)[b]
        if progress is not None:
            progress.advance(1)
    return Flips(a, b, signs, numbers, unjudged)


def _num_runs(pools: Sequence[LabelPool]) -> int:
    return len(pools[0].lengths) if pools else 0


def _signs(
    pools: Sequence[LabelPool],
    row: Evaluable,
    policies: Policies,
    pairs: tuple[IntArray, IntArray],
    labelling: Labelling,
) -> IntArray:
    """Return who is better with the labels there are, [P, Q]; 0 also where two runs are not compared."""
    positions = labelling.positions(pools, [np.zeros((1, len(pool.documents)), bool) for pool in pools])
    return np.asarray(np.sign(contrasted(positions, row, policies).between(*pairs)), np.int64)


def _ground(pool: LabelPool, row: Evaluable, policies: Policies, labelling: Labelling) -> Ground:
    bottom = np.inf if labelling.corpus_size is None else float(labelling.corpus_size[pool.query])
    cutoff = row.cutoff_in(bottom)  # a share of the corpus may be no document at all
    return Ground(pool, row.level(policies.level), bottom, np.inf if cutoff is None else float(cutoff))

"""Attainable: the least p that a test can have, corrected, and what it would take to have less.

Belongs here: the arithmetic behind "no difference can be significant", and how many resamples a test needs. Not here:
the tests (`paired`, `hsd`), and where it is said (verbs).

A test whose least p, corrected for all pairs, is not below alpha cannot find anything, whatever the runs do. All
queries of a pair count, also those on which it ties: a tie is an outcome, and the question is what these queries could
show.
"""

import math
from dataclasses import dataclass, replace
from itertools import count

from lexirecall.errors import choice, counted
from lexirecall.statistics.differences import FEWEST_EFFECTIVE
from lexirecall.statistics.signed_ranks import MOST_EXACT_RANKS

FEWEST_RESAMPLES = 10_000
"""What a test by resampling takes at least, unless the user sets the number."""
ENOUGH_RESAMPLES = 2_000_000
"""What it takes at most, unless the user sets the number."""
_FLIPPING = ("randomization", "max-t")  # all 2^n sign patterns if they are fewer than the resamples
MAX_T_OF_VALUES = "max-t of values"
_RESAMPLING = (*_FLIPPING, "randomized-hsd", MAX_T_OF_VALUES)
_COUNTING = ("sign", "wilcoxon", *_FLIPPING)  # p is at least 2^(1-n) on n queries
_ALL_PAIRS_AT_ONCE = ("hsd", "randomized-hsd", "max-t", MAX_T_OF_VALUES)
_TESTS = ("t", "hsd", *_COUNTING, "randomized-hsd", MAX_T_OF_VALUES)
_TITLES = {
    "t": "the paired t test", "wilcoxon": "the Wilcoxon test", "sign": "the sign test", "hsd": "Tukey's HSD",
    "randomization": "randomization", "randomized-hsd": "the randomized HSD", "max-t": "max-T",
    MAX_T_OF_VALUES: "max-T",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attainable:
    """How small the corrected p of a test can be."""

    test: str
    num_queries: int
    num_pairs: int
    """How many pairs the p is corrected for; 1 if it is not."""
    num_resamples: int
    """How many resamples were drawn; 0 if the test draws none, or tries all sign patterns."""
    alpha: float
    least: float
    """The least corrected p; nan if the test has none on so few queries."""
    needed_queries: int | None = None
    """With how many queries it would be below alpha, where there are too few."""
    needed_resamples: int | None = None
    """With how many resamples it would be, where there are too few."""

    @property
    def is_possible(self) -> bool:
        """Whether any difference can be significant."""
        return self.least < self.alpha

    @property
    def note(self) -> str:
        """Why no difference can be significant, and what would do; empty if one can."""
        return "" if self.is_possible else f"no difference can be significant: {self._reason}; {self._remedy}"

    @property
    def _reason(self) -> str:
        title, queries = _TITLES[self.test], counted(self.num_queries, "query")
        if math.isnan(self.least):
            return f"{title} has no p on {queries}"
        drawn = f" and {counted(self.num_resamples, 'resample')}" if self.num_resamples else ""
        pairs = f", corrected for {counted(self.num_pairs, 'pair')}," if self.num_pairs > 1 else ""
        return f"on {queries}{drawn} the p of {title}{pairs} is at least {self.least:.3g} (alpha {self.alpha:g})"

    @property
    def _remedy(self) -> str:
        untied = "untied " if self.test in _COUNTING else ""
        needed = (self.needed_queries, f"{untied}query"), (self.needed_resamples, "resample")
        return f"it takes {' and '.join(counted(number, noun) for number, noun in needed if number)}"


def least_attainable(
    test: str,
    num_queries: int,
    num_pairs: int = 1,
    *,
    correction: str = "none",
    alpha: float = 0.05,
    num_resamples: int = 0,
) -> Attainable:
    """Return the least p that a test of pairs can have on so many queries, corrected for so many pairs.

    `test` is t, wilcoxon, sign, randomization, hsd, randomized-hsd, max-t or "max-t of values". On n queries the sign
    test, Wilcoxon's and the one that tries all sign patterns have p >= 2^(1-n), which all queries won by one run have.
    B resamples have p >= 1/(B + 1). The others can come near 0 from two queries on, or from eight. Holm's and
    Bonferroni's corrections multiply the least p by the number of pairs, BH does not. The tests of all pairs at once
    are not corrected.

    >>> for num_runs in (3, 8, 126):
    ...     found = least_attainable("sign", 6, num_runs * (num_runs - 1) // 2, correction="holm")
    ...     print(found.is_possible, found.needed_queries)
    False 7
    False 11
    False 19
    >>> for part in least_attainable("sign", 10, 28, correction="holm").note.split(", "):
    ...     print(part)
    no difference can be significant: on 10 queries the p of the sign test
    corrected for 28 pairs
    is at least 0.0547 (alpha 0.05); it takes 11 untied queries
    >>> least_attainable("randomization", 50, 7875, correction="holm", num_resamples=10_000).needed_resamples
    157500
    """
    choice("test", test, _TESTS)
    factor = 1 if test in _ALL_PAIRS_AT_ONCE else _factor(num_pairs, correction)
    tries_all = test in _FLIPPING and num_queries < 64 and 2**num_queries <= num_resamples
    drawn = num_resamples if test in _RESAMPLING and not tries_all else 0
    least = min(factor * _least(test, num_queries, drawn), 1.0)
    found = Attainable(
        test=test, num_queries=num_queries, num_pairs=factor, num_resamples=drawn, alpha=alpha, least=least
    )
    if found.is_possible:
        return found
    needed = _needed_queries(test, num_queries, factor, alpha), _needed_resamples(test, num_resamples, factor, alpha)
    return replace(found, needed_queries=needed[0], needed_resamples=needed[1])


def resamples_needed(num_pairs: int, *, correction: str = "none", alpha: float = 0.05) -> int:
    """Return how many resamples let the least corrected p be at most alpha/2: 10,000 or more, 2,000,000 at most.

    >>> resamples_needed(7875, correction="holm"), resamples_needed(7875, correction="bh")
    (315000, 10000)
    """
    wanted = math.ceil(round(2 * _factor(num_pairs, correction) / alpha, 6))
    return min(max(wanted, FEWEST_RESAMPLES), ENOUGH_RESAMPLES)


def resampling_note(num_resamples: int, num_pairs: int, *, correction: str = "none", alpha: float = 0.05) -> str:
    """Say how many resamples were taken, and whether they are enough for the correction.

    >>> resampling_note(315_000, 7875, correction="holm")
    '315,000 resamples, so that the least corrected p is 0.025'
    >>> resampling_note(2_000_000, 124_750, correction="holm")
    '2,000,000 resamples, so that the least corrected p is 0.0624; set the number yourself to take more'
    """
    least = min(1.0, _factor(num_pairs, correction) / (num_resamples + 1))
    more = "; set the number yourself to take more" if least > alpha / 2 else ""
    return f"{counted(num_resamples, 'resample')}, so that the least corrected p is {least:.3g}{more}"


def _factor(num_pairs: int, correction: str) -> int:
    """Return by what the correction multiplies the least of the p-values."""
    return max(num_pairs, 1) if correction in ("holm", "bonferroni") else 1


def _least(test: str, n: int, num_drawn: int) -> float:
    """Return the least p on n queries; nan if there is none."""
    fewest = {MAX_T_OF_VALUES: FEWEST_EFFECTIVE, "t": 2, "hsd": 2}.get(test, 1)
    if n < fewest:
        return math.nan
    if num_drawn:
        return 1 / (num_drawn + 1)
    if test not in _COUNTING:
        return 0.0
    if test == "wilcoxon" and n > MOST_EXACT_RANKS:
        return math.erfc(math.sqrt(n / 2))  # 2 Φ(-sqrt(n)), of sizes that are all equal
    return min(1.0, math.ldexp(1.0, 1 - n))


def _needed_queries(test: str, n: int, factor: int, alpha: float) -> int | None:
    """Return how many queries it takes if all sign patterns are tried; None if there are as many."""
    if factor * _least(test, n, 0) < alpha:
        return None
    return next(more for more in count(max(n, 1)) if factor * _least(test, more, 0) < alpha)


def _needed_resamples(test: str, num_resamples: int, factor: int, alpha: float) -> int | None:
    """Return how many resamples it takes: the least B with factor/(B + 1) < alpha; None if there are as many."""
    if test not in _RESAMPLING or factor * (1 / (num_resamples + 1)) < alpha:  # rounded as p and its correction are
        return None
    about = math.floor(factor / alpha)
    return next(more for more in count(max(about - 1, 1)) if factor * (1 / (more + 1)) < alpha)

"""Paired tests: whether one run is better than another, query by query.

Belongs here: tests of each pair of runs by itself, with a confidence interval, and sizes of effects. Not here: what to
do about testing many pairs (`corrections`, `hsd`).

All tests are two-sided. Without queries p is nan. Runs that tie on every query have p = 1. With a single query p is 1,
or nan under t, which needs a variance. If the runs of a pair change places, p stays exactly the same and the interval
is mirrored.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.errors import UsageError, check_count, choice
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.progress import Progress
from lexirecall.statistics.attainable import resamples_needed
from lexirecall.statistics.binomial import sign_pvalues
from lexirecall.statistics.differences import Differences  # noqa: F401 - in the examples
from lexirecall.statistics.flips import all_flips, random_flips, slices
from lexirecall.statistics.portions import PairDifferences, portions_of
from lexirecall.statistics.proportions import preference_interval
from lexirecall.statistics.signed_ranks import MOST_EXACT_RANKS, pseudomedians, rank_sum_chances
from lexirecall.statistics.tails import t_limit, t_pvalues

MOST_TIED_RANKS = 13  # up to so many queries rank sums are exact where sizes are tied: each pair has its own
SIGN_TEST = "sign test"
"""Its name in rows and tables."""
_RANKED = 2**15  # differences that are ranked together, few enough for the cache


@dataclass(frozen=True)
class PairedTests:
    """One test of P pairs of runs; the reader, not the test, draws the line."""

    pvalues: FloatArray
    """How likely a difference at least as large is if neither run is better, [P]; nan where it is not defined."""
    lows: FloatArray
    """Where the confidence interval of the mean difference or preference begins, [P]; of Wilcoxon's estimate if any."""
    highs: FloatArray
    """Where it ends, [P]."""
    num_resamples: int
    """How many sign patterns were tried, all of them or a sample; 0 if none."""
    method: str
    """The test, in words."""
    estimates: FloatArray
    """The pseudomedian of the differences other than 0, which Wilcoxon's test is about, [P]; nan for other tests."""
    by_signs: BoolArray
    """For which pairs the sign test decides, [P]: wins against losses, whatever the mean."""

    def disagrees(self, alpha: float) -> BoolArray:
        """Tell for which pairs the interval excludes 0 though p is not below alpha, or the other way round, [P].

        >>> wins = np.array([[1.0] * 9 + [-1.0] * 2])  # score test .035, exact binomial test .065
        >>> one = Differences(np.array([0]), np.array([1]), wins, np.ones((1, 11), bool), is_signs=True)
        >>> sign_test(one).disagrees(0.05).tolist()
        [True]
        """
        is_known = ~np.isnan(self.pvalues) & ~np.isnan(self.lows)
        return np.asarray(is_known & (((self.lows > 0) | (self.highs < 0)) != (self.pvalues < alpha)))


def paired_t(differences: PairDifferences, *, alpha: float = 0.05) -> PairedTests:
    """Test whether the mean difference is 0 by the paired t test; the interval is mean ± t sd/sqrt(n).

    p = 2 P(T > |mean| sqrt(n)/sd) with n - 1 degrees of freedom. It is nan below two queries. If all differences are
    equal and not 0, t says nothing, and p is that of flipping their signs: 2^(1-n). The interval of signs is Tango's.

    >>> one = Differences(np.array([0]), np.array([1]), np.array([[0.1, 0.3, 0.2, 0.0]]), np.ones((1, 4), bool))
    >>> test = paired_t(one)
    >>> test.pvalues.round(4).tolist(), test.lows.round(4).tolist(), test.highs.round(4).tolist()
    ([0.1027], [-0.0554], [0.3554])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences.means) * np.sqrt(differences.num_queries) / differences.deviations
    pvalues = t_pvalues(t, differences.num_queries - 1)
    is_constant = differences.deviations == 0
    pvalues[is_constant] = _pvalues_of_constants(differences)[is_constant]
    return _with_intervals("t", differences, pvalues, alpha, "paired t")


def wilcoxon(differences: PairDifferences, *, alpha: float = 0.05, show_progress: bool | None = False) -> PairedTests:
    """Test whether differences are symmetric about 0 by Wilcoxon's signed ranks; estimate their pseudomedian.

    Zeros are left out, and equal sizes share the mean of their ranks. The distribution of the rank sum is exact up to
    50 queries without equal sizes and up to 13 with them. Beyond that it is normal, corrected for equal sizes but not
    for continuity, as in scipy once zeros are removed. Sizes within 1e-12 of the pair's largest one are equal, because
    .3 - .2 and .2 - .1 are not the same float. With a single query p is 1.

    The pseudomedian of the differences other than 0 is the median of their Walsh averages (d_i + d_j)/2, and the
    interval is that of it, as `signed_ranks` has it. Without equal sizes it excludes 0 exactly if p < alpha. With
    equal sizes the two may differ near the limit, because the interval does not correct for them. Where there are too
    few differences for any p below alpha there is no interval. Signs have no pseudomedian, and Tango's interval.

    >>> one = Differences(np.array([0]), np.array([1]), np.array([[0.1, 0.3, 0.2, 0.0]]), np.ones((1, 4), bool))
    >>> test = wilcoxon(one)
    >>> test.pvalues.tolist(), test.estimates.round(4).tolist()  # three of one sign: 2 / 2^3
    ([0.25], [0.2])
    """
    check_chance("alpha", alpha)
    pvalues = np.full(len(differences.a), np.nan)
    for pairs, portion in portions_of(differences):
        for rows in slices(len(portion.values), portion.values.shape[1], _RANKED):
            pvalues[pairs][rows] = _signed_rank_pvalues(*_signed_ranks(portion.values[rows]))
    pvalues[differences.num_queries == 0] = np.nan
    return _with_intervals(
        "wilcoxon", differences, pvalues, alpha, "Wilcoxon signed rank", show_progress=show_progress
    )  # fmt: skip


def sign_test(differences: PairDifferences, *, alpha: float = 0.05, ties: str = "drop") -> PairedTests:
    """Test whether wins are as likely as losses by the exact binomial test.

    p = min(1, 2 P(X <= min(w, l))), X binomial with w + l trials and chance 1/2. Ties are left out ("drop"), or each
    side gets half of them and an odd one is left out ("split"), which makes p larger. A single win has p = 1.

    The interval of signs is Tango's for (w - l)/n, whatever is done about ties: it takes their number as random too.
    Near the limit it can exclude 0 though p >= alpha, because its score test is not exact; `disagrees` tells where.
    That of sizes is Tango's times the size where all that are not 0 have one; otherwise that of their mean by t, and
    none where the mean rests on fewer than 8 effective queries, because no interval of it holds there.

    >>> one = Differences(np.array([0]), np.array([1]), np.array([[1.0, 1, 1, 1, 1, 1, 0, 0]]), np.ones((1, 8), bool))
    >>> sign_test(one).pvalues.tolist(), sign_test(one, ties="split").pvalues.tolist()  # 6 of 6, 7 of 8
    ([0.03125], [0.0703125])
    """
    choice("ties", ties, SIGN_TEST_TIES)
    halves = differences.ties // 2 if ties == "split" else 0
    wins, losses = differences.wins + halves, differences.losses + halves
    pvalues = sign_pvalues(wins, losses)
    pvalues[differences.num_compared == 0] = np.nan
    return _with_intervals("sign", differences, pvalues, alpha, SIGN_TEST)


def randomization(
    differences: PairDifferences,
    *,
    alpha: float = 0.05,
    num_resamples: int | None = None,
    seed: int = 0,
    correction: str = "none",
    num_tests: int | None = None,
    show_progress: bool | None = False,
) -> PairedTests:
    """Test whether two runs are interchangeable by flipping signs; the interval is that of the sign test.

    If nothing distinguishes them, each difference might as well have the other sign: p is the share of sign patterns
    with |sum| as large as observed. Q is the number of queries on which any pair is compared. If there are at most
    `num_resamples` patterns, all 2^Q are tried. Otherwise that many are sampled, the same for every pair and every
    measure, and p = (b + 1)/(B + 1), because the observed pattern is one of them (Phipson & Smyth 2010). So p is never
    0. If no number is given, it is as large as the correction needs (`resamples_needed`): over all pairs, or over
    `num_tests` if these are of several measures.

    A sum within 1e-12 sum|d| of the observed one is as large: equal sums of Q terms differ by up to about Q 1e-16 of
    that when added in another order, and a smaller difference cannot be told from rounding.

    >>> one = Differences(np.array([0]), np.array([1]), np.array([[0.1, 0.3, 0.2, 0.0]]), np.ones((1, 4), bool))
    >>> test = randomization(one)
    >>> test.pvalues.tolist(), test.num_resamples, test.method
    ([0.25], 16, 'sign-flip randomization, exact')
    >>> randomization(one, num_resamples=10).method
    'sign-flip randomization, 10 samples'
    """
    check_chance("alpha", alpha)
    if num_resamples is None:
        num_resamples = resamples_needed(num_tests or len(differences.a), correction=correction, alpha=alpha)
    check_count("num_resamples", num_resamples, 1)
    check_count("seed", seed, 0)
    compared = differences.compared
    num_patterns = 2 ** int(compared.sum())
    is_exact = num_patterns <= num_resamples
    tried, way = (num_patterns, "exact") if is_exact else (num_resamples, f"{num_resamples:,} samples")
    queries = np.flatnonzero(compared) if is_exact else np.arange(len(compared))
    flips = all_flips(int(compared.sum())) if is_exact else random_flips(len(compared), num_resamples, seed)
    with Progress("flipping signs", tried, shown=show_progress) as progress:
        num_extreme = _count_extreme_of(differences, queries, flips, progress)
    pvalues = num_extreme / tried if is_exact else (num_extreme + 1) / (tried + 1)
    pvalues[differences.num_queries == 0] = np.nan
    return _with_intervals("randomization", differences, pvalues, alpha, f"sign-flip randomization, {way}", tried)


SIGN_TEST_TIES = ("drop", "split")
TESTS: dict[str, Callable[..., PairedTests]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "sign": sign_test,
    "randomization": randomization,
}
"""Every test of pairs, by its name."""
ADDED_UP = ("t", "sign")
"""Those that need only sums and counts, which add up over portions of the queries."""


def default_test(differences: PairDifferences) -> str:
    """Return the name of the test that suits the differences: sign for signs, t for sizes.

    Of sizes it suits only the pairs that are not `is_by_signs`.

    >>> default_test(Differences(np.array([0]), np.array([1]), np.ones((1, 3)), np.ones((1, 3), bool), is_signs=True))
    'sign'
    """
    return "sign" if differences.is_signs else "t"


def effect_sizes(differences: PairDifferences) -> FloatArray:
    """Return how large each difference is in units of its spread, or for signs how often the first is better, [P].

    For sizes it is d_z = mean/sd: nan below two queries, 0 if all are 0, infinite if all are equal and not 0. For signs
    it is the probability of superiority, (wins + ties/2)/n.

    >>> values = np.array([[1.0, 1, 0, -1], [0, 0, 0, 0]])
    >>> signs = Differences(np.array([0, 0]), np.array([1, 2]), values, np.ones((2, 4), bool), is_signs=True)
    >>> effect_sizes(signs).tolist()
    [0.625, 0.5]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if differences.is_signs:
            return np.asarray((differences.wins + differences.ties / 2) / differences.num_queries)
        is_zero = (differences.means == 0) & (differences.deviations == 0)
        return np.where(is_zero, 0.0, differences.means / differences.deviations)


def check_chance(name: str, value: float) -> None:
    """Raise unless the value is above 0 and below 1.

    >>> check_chance("alpha", 5)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: alpha is 5, but must be above 0 and below 1
    """
    if not 0 < value < 1:
        raise UsageError(f"{name} is {value!r}, but must be above 0 and below 1")


def intervals(
    test: str, differences: PairDifferences, *, alpha: float = 0.05, show_progress: bool | None = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the interval of each pair that belongs to a test: what it is about, if not the mean, and its ends, [P].

    >>> one = Differences(np.array([0]), np.array([1]), np.array([[0.5] * 9 + [-0.5] * 2]), np.ones((1, 11), bool))
    >>> [end.round(4).tolist() for end in intervals("sign", one)[1:]]  # half of that of nine wins and two losses
    [[0.023], [0.4486]]
    """
    check_chance("alpha", alpha)
    none = np.full(len(differences.a), np.nan)
    if test == "wilcoxon" and not differences.is_signs:
        return _pseudomedians(differences, alpha, show_progress=show_progress)
    if test == "t" and not differences.is_signs:
        return none, *_interval_of_mean(differences, alpha)
    counts = differences.wins, differences.losses, differences.num_queries
    lows, highs = preference_interval(*counts, alpha=alpha)
    if differences.is_signs:
        return none, lows, highs
    # Two or three differences may have one size by chance, and nothing says then how large others are.
    is_one, has_none = differences.have_one_size & differences.has_steady_mean, differences.is_by_signs
    lows, highs = (
        np.where(is_one, differences.largest * by_wins, np.where(has_none, np.nan, by_mean))
        for by_wins, by_mean in zip((lows, highs), _interval_of_mean(differences, alpha), strict=True)
    )
    return none, lows, highs


def _pseudomedians(
    differences: PairDifferences, alpha: float, *, show_progress: bool | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    middles = np.full((3, len(differences.a)), np.nan)
    with Progress("averaging", len(differences.a), shown=show_progress) as progress:
        for pairs, portion in portions_of(differences):
            middles[:, pairs] = pseudomedians(portion.values, alpha=alpha, progress=progress)
    middles[:, differences.num_queries == 0] = np.nan
    return middles[0], middles[1], middles[2]


def _with_intervals(
    test: str,
    differences: PairDifferences,
    pvalues: FloatArray,
    alpha: float,
    method: str,
    num_resamples: int = 0,
    *,
    show_progress: bool | None = False,
) -> PairedTests:
    """Add the interval of each pair that belongs to a test."""
    estimates, lows, highs = intervals(test, differences, alpha=alpha, show_progress=show_progress)
    by_signs = np.full(len(pvalues), test == "sign")
    return PairedTests(
        pvalues=pvalues, lows=lows, highs=highs, num_resamples=num_resamples, method=method, estimates=estimates,
        by_signs=by_signs,
    )  # fmt: skip


def _interval_of_mean(differences: PairDifferences, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Return mean ± t sd/sqrt(n); nan below two queries, and if all differences are equal but p is not below alpha."""
    sizes, number = np.unique(differences.num_queries, return_inverse=True)  # limits are slow, and sizes are few
    limits = np.array([t_limit(alpha, size - 1) for size in sizes.tolist()])
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = limits[number] * differences.deviations / np.sqrt(differences.num_queries)
    is_unknown = (
        (differences.deviations == 0) & (differences.means != 0) & (_pvalues_of_constants(differences) >= alpha)
    )
    reach[is_unknown] = np.nan
    return differences.means - reach, differences.means + reach


def _pvalues_of_constants(differences: PairDifferences) -> FloatArray:
    """Return p if all differences are equal: of the 2^n ways to flip signs two are as extreme, unless they are 0."""
    return np.where(differences.means == 0, 1.0, np.ldexp(1.0, 1 - differences.num_queries))


# Ranks


def _signed_ranks(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rank of each size with the sign of its value, by size, [P, Q], and sum(t³ - t) over equal sizes, [P].

    Zeros come last, with the rank 0.
    """
    num_pairs, num_queries = values.shape
    sizes = np.where(values == 0, np.inf, np.abs(values))
    order = np.argsort(sizes, axis=1)
    sizes, signs = np.take_along_axis(sizes, order, axis=1), np.sign(np.take_along_axis(values, order, axis=1))
    is_new = np.ones(values.shape, bool)
    nearest = TOLERANCE * np.abs(values).max(axis=1, initial=0.0)
    with np.errstate(invalid="ignore"):  # infinity minus infinity, among the zeros
        is_new[:, 1:] = np.diff(sizes, axis=1) > nearest[:, None]
    starts = np.flatnonzero(is_new)
    lengths = np.diff(starts, append=values.size)
    mean_ranks = starts % max(num_queries, 1) + (lengths + 1) / 2
    tied = np.where(signs.ravel()[starts] == 0, 0.0, lengths**3 - lengths)
    ties = np.bincount(starts // max(num_queries, 1), tied, num_pairs).astype(float)
    return np.repeat(mean_ranks, lengths).reshape(values.shape) * signs, ties


def _signed_rank_pvalues(ranks: FloatArray, ties: FloatArray) -> FloatArray:
    """Return p of the signed ranks, as exact as the numbers of ranks and ties allow, [P]."""
    from scipy.special import ndtr

    n = np.count_nonzero(ranks, axis=1)
    lesser = (n * (n + 1) / 2 - np.abs(ranks.sum(axis=1))) / 2  # the lesser of the two rank sums
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    z = (lesser - n * (n + 1) / 4) / np.sqrt(np.maximum(variance, 1 / 4))  # 1/4 is that of one rank; of none, z is 0
    pvalues = 2 * ndtr(z)
    is_untied = (ties == 0) & (n <= MOST_EXACT_RANKS)
    pvalues[is_untied] = np.minimum(1, 2 * rank_sum_chances()[n[is_untied], lesser[is_untied].astype(int)])
    is_tied = (ties > 0) & (n <= MOST_TIED_RANKS)
    if is_tied.any():
        # Zeros come last and have the rank 0: the cut loses no rank, and those left double both counts alike.
        few = ranks[is_tied, :MOST_TIED_RANKS]
        num_extreme = sum(_count_extreme(few, block) for block in all_flips(few.shape[1]))
        pvalues[is_tied] = num_extreme / 2 ** few.shape[1]
    return np.asarray(pvalues)


# Flips


def _count_extreme_of(
    differences: PairDifferences, queries: IntArray, flips: Iterator[FloatArray], progress: Progress
) -> IntArray:
    """Count the extreme sign patterns, given in blocks [B, Q], over all portions of the pairs, [P]."""
    counts = np.zeros(len(differences.a), np.int64)
    for block in flips:
        for pairs, portion in portions_of(differences):
            counts[pairs] += _count_extreme(portion.values[:, queries], block)
        progress.advance(len(block))
    return counts


def _count_extreme(values: FloatArray, flips: FloatArray) -> IntArray:
    """Count the sign patterns, [B, Q], whose |sum| is as large as without any flip, [P]."""
    least = np.abs(values.sum(axis=1)) - TOLERANCE * np.abs(values).sum(axis=1)
    counts = np.zeros(len(values), np.int64)
    for rows in slices(len(values), len(flips)):
        sums = values[rows] @ flips.T
        counts[rows] = np.count_nonzero(np.abs(sums, out=sums) >= least[rows, None], axis=1)
    return counts

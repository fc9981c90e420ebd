"""Bootstrap: how much the order of runs depends on which queries happened to be there.

Belongs here: resamples of the queries, and what ranks become in them. Not here: intervals of means (`studentized`),
tests of pairs (`paired`), the methods that order runs (`aggregate`), names of runs, and tables.

A resample has as many queries as count, drawn with replacement, the same ones for every run. The range of a rank is
that of B resampled ranks from the k-th smallest to the k-th largest, where k is (B + 1) alpha/2, rounded down.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexirecall.errors import UsageError, check_count
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.preferences.pairs import win_rates
from lexirecall.progress import Progress
from lexirecall.statistics.aggregate import AllPairs, borda_points, from_pairs, most_runs
from lexirecall.statistics.flips import slices
from lexirecall.statistics.paired import check_chance

_BLOCK = 2**20  # draws per block, which take tens of megabytes
_EXACT = 52  # bits of a float that sums of rounded values may fill, with one to spare for what rounding adds

Resampled = Callable[[FloatArray], FloatArray]
"""From how often each query is drawn, [B, Q], to the numbers of each resample, [B, …]."""


@dataclass(frozen=True, slots=True, eq=False)
class ResampledOrder:
    """What becomes of an order of S runs in resamples of the queries; all arrays are [S]."""

    first: FloatArray
    """Share of the resamples in which the run comes first; runs that are first together share one equally."""
    rank_lows: IntArray
    """Where the resampling range of the rank begins: its k-th smallest. It is not a confidence interval of a rank."""
    rank_highs: IntArray
    num_queries: int
    """How many queries were resampled: those on which at least two runs are compared."""
    num_resamples: int
    seed: int
    alpha: float


def bootstrap_order(
    pairs: AllPairs,
    method: str = "winrate",
    *,
    num_resamples: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    show_progress: bool | None = False,
) -> ResampledOrder:
    """Order the runs again in each resample of the queries, by winrate, borda or copeland.

    >>> from lexirecall.preferences import Pairs
    >>> grades = np.array([[3, 3, 3, 0, 0], [2, 2, 2, 3, 3], [1, 1, 1, 2, 2], [0, 0, 0, 1, 1]])
    >>> pairs = Pairs("", (*"abcd",), (*"12345",), np.sign(grades[:, None] - grades), np.ones((4, 5), bool))
    >>> order = bootstrap_order(pairs, num_resamples=999)
    >>> order.first.round(3).tolist(), order.rank_lows.tolist(), order.rank_highs.tolist()
    ([0.331, 0.669, 0.0, 0.0], [1, 1, 2, 3], [4, 2, 3, 4])
    """
    check_resampled(method)
    check_resamples(num_resamples, alpha)
    check_count("seed", seed, 0)
    compared = _compared(pairs)
    score, tolerance = RESAMPLED[method](compared)
    num_queries = len(compared.queries)
    with Progress("resampling", num_resamples, shown=show_progress) as progress:
        scores = collected(score, resampled_counts(num_queries, num_resamples, seed), progress)
    ranks = _ranks(scores, tolerance)
    num_best = np.count_nonzero(ranks == 1, axis=0)
    first = np.empty(len(scores))
    rank_lows, rank_highs = (np.empty(len(scores), np.int64) for _ in range(2))
    for part in slices(len(scores), num_resamples, _BLOCK):
        rank_lows[part], rank_highs[part] = percentile_interval(ranks[part].astype(float), alpha)
        first[part] = ((ranks[part] == 1) / num_best).mean(axis=1)
    return ResampledOrder(
        first=first, rank_lows=rank_lows, rank_highs=rank_highs, num_queries=num_queries, num_resamples=num_resamples,
        seed=seed, alpha=alpha,
    )  # fmt: skip


def significant_ranks(better: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the best and the worst rank that tests of all pairs leave to each run, [S].

    They are 1 + the number of runs that are significantly better, and S - the number of runs that are significantly
    worse. `better` says which run, the row, is significantly better than which, the column, [S, S].

    >>> significant_ranks(np.array([[False, False, True], [False, False, False], [False, False, False]]))
    (array([1, 1, 2]), array([2, 3, 3]))
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def check_resamples(num_resamples: int, alpha: float) -> None:
    """Raise if there are too few resamples for an interval.

    >>> check_resamples(20, 0.05)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: 20 resamples are too few for a 95 % interval
      take 39 or more; 10,000 are usual
    """
    check_chance("alpha", alpha)
    check_count("bootstrap", num_resamples, 1)
    if _num_outside(np.array(num_resamples), alpha) < 1:
        raise UsageError(
            f"{num_resamples:,} resamples are too few for a {100 * (1 - alpha):g} % interval",
            remedy=f"take {int(np.ceil(2 / alpha)) - 1:,} or more; 10,000 are usual",
        )


def check_resampled(method: str) -> None:
    """Raise unless a method that orders runs can be repeated in thousands of resamples.

    >>> check_resampled("mc4")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: the bootstrap would have to solve mc4 anew in each resample, which takes too long
      choose winrate, borda or copeland, or leave the bootstrap out
    """
    most_runs(method)  # raises if there is no such method
    if method not in RESAMPLED:
        *others, last = RESAMPLED
        why = (
            f"the bootstrap would have to solve {method} anew in each resample, which takes too long"
            if method in from_pairs()
            else f"the bootstrap is not valid for {method}: no resample has a query that is worse than the worst"
        )
        raise UsageError(why, remedy=f"choose {', '.join(others)} or {last}, or leave the bootstrap out")


# Intervals


def percentile_interval(resampled: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Return the k-th smallest and the k-th largest of each row of resampled numbers, [C, B]; nan is left out.

    k is (n + 1) alpha/2, rounded down, where n numbers of a row are not nan. Where k is 0, both ends are nan.

    >>> percentile_interval(np.array([[3.0, 1, 2, 5, 4, 7, 6], [1, 2, 3, np.nan, np.nan, np.nan, np.nan]]), 0.5)
    (array([2., 1.]), array([6., 3.]))
    """
    numbers = np.count_nonzero(~np.isnan(resampled), axis=1)
    k = _num_outside(numbers, alpha)
    low_at, high_at = np.where(k > 0, k - 1, 0), np.where(k > 0, numbers - k, 0)
    ascending = np.partition(resampled, np.unique([low_at, high_at]), axis=1)  # nan is last
    row = np.arange(len(resampled))
    return np.where(k > 0, ascending[row, low_at], np.nan), np.where(k > 0, ascending[row, high_at], np.nan)


def _num_outside(numbers: IntArray, alpha: float) -> IntArray:
    """Return k; (B + 1) alpha/2 is a whole number if it is one up to rounding, as 360 · 0.35/2 is."""
    return np.asarray(np.floor((numbers + 1) * alpha / 2 + 1e-9), np.int64)


# Resamples


def resampled_counts(num_queries: int, num_resamples: int, seed: int | Sequence[int]) -> Iterator[FloatArray]:
    """Give how often each query is drawn in each resample, in blocks [B, Q]; the same for blocks of any size.

    They come from the raw bits of a named generator: numpy promises never to change these, but not what it makes of
    them.
    """
    bits = np.random.PCG64(seed)
    size = max(1, _BLOCK // max(num_queries, 1))
    for start in range(0, num_resamples, size):
        num_rows = min(size, num_resamples - start)
        drawn = draw_below(num_queries, num_rows * num_queries, bits).reshape(num_rows, num_queries)
        cells = drawn + num_queries * np.arange(num_rows)[:, None]
        counts = np.bincount(cells.ravel(), minlength=cells.size)
        yield counts.reshape(cells.shape).astype(float)


def draw_below(bound: int, number: int, bits: "np.random.PCG64") -> IntArray:
    """Draw whole numbers below a bound, all equally likely.

    A word of 64 bits gives its remainder. The highest words, which are too few to give every remainder once more, are
    passed over.
    """
    last = np.uint64(2**64 - 1 - 2**64 % max(bound, 1))
    words = bits.random_raw(number)
    while len(words := words[words <= last]) < number:
        words = np.concatenate([words, bits.random_raw(number - len(words))])
    return (words % np.uint64(max(bound, 1))).astype(np.int64)


def collected(resampled: Resampled, blocks: Iterator[FloatArray], progress: Progress) -> FloatArray:
    """Return the numbers of all resamples, [C, B], each a row of what is resampled."""
    collected = []
    for block in blocks:
        collected.append(np.ascontiguousarray(resampled(block).T))
        progress.advance(len(block))
    return np.concatenate(collected, axis=1)


def resampled_means(values: FloatArray) -> Resampled:
    """Return what gives the mean of each column of values, [Q, C], in each resample; nan without any."""
    is_defined = ~np.isnan(values)
    terms = np.where(is_defined, values, 0.0)
    coarse = on_grid(terms)
    fine = on_grid(terms - coarse)
    weights = None if is_defined.all() else is_defined.astype(float)

    def means(counts: FloatArray) -> FloatArray:
        numbers = np.full((1, 1), float(len(values))) if weights is None else counts @ weights
        return np.where(numbers > 0, (counts @ coarse + counts @ fine) / np.maximum(numbers, 1.0), np.nan)

    return means


def on_grid(values: FloatArray, bounds: FloatArray | None = None) -> FloatArray:
    """Round values, [Q, C], so slightly that all sums of Q of them are exact, whoever adds them in whatever order.

    Q times the largest value of a column, or another bound of the sums, fills 52 bits. What rounding takes away is
    rounded, and added up, in the same way. So neither the size of a block nor the machine shows in a mean.
    """
    _, exponents = np.frexp(len(values) * np.abs(values).max(axis=0, initial=0.0) if bounds is None else bounds)
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, _EXACT - exponents)), exponents - _EXACT))


# Orders


def _compared(pairs: AllPairs) -> AllPairs:
    """Return the pairs on the queries on which at least two runs are compared."""
    return pairs.on(np.flatnonzero(pairs.taking_part.sum(axis=0) > 1))


def _resampled_winrate(pairs: AllPairs) -> tuple[Resampled, float]:
    """Resample the win rates, which are 1/2 without a query."""
    rates = win_rates(pairs.blocks(), pairs.taking_part).T
    means = resampled_means(rates)
    return lambda counts: np.nan_to_num(means(counts), nan=0.5), TOLERANCE


def _resampled_borda(pairs: AllPairs) -> tuple[Resampled, float]:
    """Resample Borda's points, which add up over queries and are halves, so that sums are exact."""
    balance = np.zeros(pairs.taking_part.shape, np.int64)
    for queries, block in pairs.blocks():
        balance[:, queries] = np.sign(block).sum(axis=1)
    table = borda_points(balance, 1).T
    return lambda counts: counts @ table, 0.0


def _resampled_copeland(pairs: AllPairs) -> tuple[Resampled, float]:
    """Resample the majority of each pair: (won - lost + S - 1)/2, as in `by_copeland`."""
    num_runs = len(pairs.runs)

    def scores(counts: FloatArray) -> FloatArray:
        drawn = counts.astype(np.float32)  # whole numbers, and exact up to 2^24 queries
        outcomes = (np.sign(pairs.against(s)).astype(np.float32) for s in range(num_runs))
        won_less_lost = [np.sign(drawn @ signs.T).sum(axis=1) for signs in outcomes]
        return (np.array(won_less_lost, float).T + num_runs - 1) / 2

    return scores, 0.0


RESAMPLED: dict[str, Callable[[AllPairs], tuple[Resampled, float]]] = {
    "winrate": _resampled_winrate,
    "borda": _resampled_borda,
    "copeland": _resampled_copeland,
}
"""The methods that can be resampled: what gives the scores, and how far equal scores may be apart."""


def _ranks(scores: FloatArray, tolerance: float) -> npt.NDArray[np.int32]:
    """Rank the runs in each resample, [S, B], the highest score first; equal ones share the best of their ranks."""
    ranks = np.empty(scores.shape, np.int32)
    for part in slices(scores.shape[1], len(scores), _BLOCK):
        some = scores[:, part]
        best_first = np.argsort(-some, axis=0, kind="stable")
        in_order = np.take_along_axis(some, best_first, axis=0)
        places = np.broadcast_to(np.arange(1, len(some) + 1, dtype=np.int32)[:, None], some.shape).copy()
        # A run that ties with the one above gives up its place: the running maximum below hands it that of the first.
        places[1:][in_order[:-1] - in_order[1:] <= tolerance] = 1
        np.put_along_axis(ranks[:, part], best_first, np.maximum.accumulate(places, axis=0), axis=0)
    return ranks

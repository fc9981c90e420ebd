"""Ties by chance: how likely two independent, uniformly random rankings of a whole corpus are tied.

Belongs here: tie probabilities, in closed form if there is one, otherwise enumerated or sampled. Not here: counting
ties between given rankings (preferences).

In a random ranking all C(n, m) placements of the m relevant documents are equally likely. So a tie probability is the
number of ordered pairs of placements that tie, over C(n, m)². A measure that looks at p_i only ties with probability

    sum_p C(p-1, i-1)² C(n-p, m-i)² / C(n, m)²,

a sum over the corpus. C(x, a)² = sum_k C(a, k)² C(x+a-k, 2a) and Vandermonde's convolution turn it into a sum of at
most m terms,

    sum_s W_s C(n+m-1-s, 2m-1) / C(n, m)²,   W_s = sum_{k+l=s} C(i-1, k)² C(m-i, l)²,

which integers hold exactly for a corpus of any size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain, combinations
from math import comb, sqrt
from typing import Literal

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures import DEPTH, LAST_REL, RPREC, RR, SL1, SL3, SUCCESS, TSE, WSS, Measure, P, R
from lexirecall.measures.measure import is_equal
from lexirecall.measures.recall_level import needed_for_recall
from lexirecall.names import parse_preference
from lexirecall.preferences import Preference
from lexirecall.theory.orientation import is_row, placed, values_of_complete

TOTAL_ORDERS = ("LexiRecall", "LexiPrecision", "LexiRecallPercentile", "LexiRecallBits", "MetricLexiRecall")
"""Preferences and measures that tie only equal placements."""
MOST_POSITIONS = 2_000_000
"""How many positions are held at once; all placements are enumerated if they have no more."""


@dataclass(frozen=True, slots=True)
class TieProbability:
    """How likely a tie is, and how it was computed."""

    value: float
    method: Literal["closed form", "enumerated", "sampled"]
    error: float = 0.0
    """How far from the value the 95% confidence interval reaches; 0 unless sampled."""
    num_pairs: int = 0
    """How many pairs of rankings were sampled."""


def tie_probability(
    measure: Measure | Preference | str,
    num_relevant: int,
    corpus_size: int,
    *,
    num_pairs: int = 10_000,
    rng: np.random.Generator | int = 0,
) -> TieProbability:
    """Return the probability that two random rankings of the corpus tie.

    There is a closed form for measures of one position (TSE, RR, LastRel, Depth@r …), measures of a count in the top k
    (R@k, P@k, Rprec, Success@k) and lexicographic preferences. Otherwise the placements are enumerated if they are few.
    If not, `num_pairs` pairs of rankings are sampled, the same for the same seed. Grades are 1; values within 1e-12 of
    the larger one are equal.

    >>> tie_probability("R@1000", 10, 10_000)
    TieProbability(value=0.31266750093090656, method='closed form', error=0.0, num_pairs=0)
    >>> tie_probability("AP", 4, 12).method, tie_probability("AP", 10, 10_000).method
    ('enumerated', 'sampled')

    Reference: DiazEM25, number of ties.
    """
    m, n = placed(num_relevant, corpus_size)
    row = _read(measure)
    if isinstance(row, Measure) and (cutoff := _cutoff_of_count(row, m, n)):
        return TieProbability(tie_probability_recall(cutoff, m, n), "closed form")
    if (tied := _tied_pairs(row, m, n)) is not None:
        return TieProbability(tied / comb(n, m) ** 2, "closed form")
    assert isinstance(row, Measure)  # noqa: S101 - every preference that is read has a closed form
    if comb(n, m) * m <= MOST_POSITIONS:
        return TieProbability(_enumerated(row, m, n) / comb(n, m) ** 2, "enumerated")
    return _sampled(row, m, n, num_pairs, np.random.default_rng(rng))


def exact_tie_probability(measure: Measure | Preference | str, num_relevant: int, corpus_size: int) -> Fraction:
    """Return the probability that two random rankings of the corpus tie, as a fraction.

    It uses the closed form, or enumerates the placements if they are few. Other cases are refused.

    >>> exact_tie_probability("TSE", 2, 4), exact_tie_probability("LexiRecall", 2, 4)
    (Fraction(7, 18), Fraction(1, 6))

    Reference: DiazEM25, number of ties.
    """
    m, n = placed(num_relevant, corpus_size)
    row = _read(measure)
    tied = _tied_pairs(row, m, n)
    if tied is None and isinstance(row, Measure) and comb(n, m) * m <= MOST_POSITIONS:
        tied = _enumerated(row, m, n)
    if tied is None:
        problem = f"the ties of {row} have no closed form, and {m} of {n} documents have too many placements"
        raise UsageError(problem, remedy="use tie_probability(), which samples them")
    return Fraction(tied, comb(n, m) ** 2)


def tie_probability_at_level(level: int, num_relevant: int, corpus_size: int) -> float:
    """Return the probability that two random rankings have their `level`-th relevant document at the same position.

    sum_p C(p-1, i-1)² C(n-p, m-i)² / C(n, m)², rounded once. It is the same if levels are counted from the bottom.

    >>> tie_probability_at_level(1, 3, 100) == tie_probability_at_level(3, 3, 100)
    True
    """
    m, n = placed(num_relevant, corpus_size)
    if not 1 <= level <= m:
        raise UsageError(f"level is {level!r}, but must be a whole number from 1 to {m}")
    return _tied_at_level(level - 1, m - level, n) / comb(n, m) ** 2


def tie_probability_tse(num_relevant: int, corpus_size: int) -> float:
    """Return the probability that two random rankings have their last relevant document at the same position.

    sum_p C(p-1, m-1)² / C(n, m)²; 1 if all documents are relevant.

    >>> round(tie_probability_tse(10, 1000), 3), tie_probability_tse(5, 5)
    (0.005, 1.0)

    Reference: DiazEM25, number of ties.
    """
    return tie_probability_at_level(num_relevant, num_relevant, corpus_size)


def tie_probability_recall(cutoff: int, num_relevant: int, corpus_size: int) -> float:
    """Return the probability that two random rankings have equally many relevant documents in their top k.

    sum_i (C(k, i) C(n-k, m-i) / C(n, m))²; 1 if k >= n.

    >>> round(tie_probability_recall(1000, 10, 100_000), 3), tie_probability_recall(1000, 10, 1000)
    (0.826, 1.0)

    Reference: DiazEM25, number of ties.
    """
    m, n = placed(num_relevant, corpus_size)
    return float((hypergeometric(min(cutoff, n), m, n) ** 2).sum())


def hypergeometric(cutoff: int, num_relevant: int, corpus_size: int) -> FloatArray:
    """Return, for i = 0 … m, how likely i of the relevant documents are in the top k of a random ranking.

    C(k, i) C(n-k, m-i) / C(n, m), by ratios of neighbours from the likeliest i on, so nothing overflows.

    >>> hypergeometric(2, 2, 4).round(4).tolist()
    [0.1667, 0.6667, 0.1667]
    """
    m, n = placed(num_relevant, corpus_size)
    k, _ = placed(cutoff, corpus_size)
    lowest, highest = max(0, m - (n - k)), min(k, m)
    i = np.arange(lowest, highest, dtype=float)
    ratios = (k - i) / (i + 1) * ((m - i) / (n - k - m + i + 1))  # P(i+1) / P(i)
    likeliest = min(max((k + 1) * (m + 1) // (n + 2), lowest), highest) - lowest
    below = np.cumprod(1 / ratios[:likeliest][::-1])[::-1]
    weights = np.concatenate([below, [1.0], np.cumprod(ratios[likeliest:])])
    probabilities = np.zeros(m + 1)
    probabilities[lowest : highest + 1] = weights / weights.sum()
    return probabilities


def tie_probability_lexirecall(num_relevant: int, corpus_size: int) -> float:
    """Return the probability that LexiRecall, or any other total order, ties two random rankings, 1/C(n, m).

    Below 2^-1074 it is 0 as a float; use `log2_tie_probability_lexirecall` there.

    >>> tie_probability_lexirecall(2, 5), tie_probability_lexirecall(100, 1_000_000)
    (0.1, 0.0)

    Reference: DiazEM25, number of ties.
    """
    m, n = placed(num_relevant, corpus_size)
    return 1 / comb(n, m)


def log2_tie_probability_lexirecall(num_relevant: int, corpus_size: int) -> float:
    """Return the binary logarithm of the probability that LexiRecall ties two random rankings, -log2 C(n, m).

    >>> round(log2_tie_probability_lexirecall(100, 1_000_000), 6)
    -1468.384722
    """
    m, n = placed(num_relevant, corpus_size)
    i = np.arange(1.0, min(m, n - m) + 1)
    return -float(np.log2((n - len(i) + i) / i).sum()) + 0.0


def _read(measure: Measure | Preference | str) -> Measure | Preference:
    """Return the measure, or the preference if it is a total order of the placements."""
    preference = parse_preference(measure)
    row = preference.measure or preference
    if isinstance(row, Preference) and row.name not in TOTAL_ORDERS:
        raise UsageError(
            f"the tie probability of {row} is not available", remedy="choose a measure, LexiRecall or LexiPrecision"
        )
    return row


def _tied_pairs(row: Measure | Preference, m: int, n: int) -> int | None:
    """Count the ordered pairs of placements that tie, by the closed form if there is one."""
    if row.name in TOTAL_ORDERS:
        return comb(n, m)
    assert isinstance(row, Measure)  # noqa: S101 - no other preference is read
    if (k := _cutoff_of_count(row, m, n)) is not None:
        k = min(k, n)
        return sum((comb(k, i) * comb(n - k, m - i)) ** 2 for i in range(min(k, m) + 1))
    k = n if (cutoff := row.cutoff_in(n)) is None else min(int(cutoff), n)
    if is_row(row, SUCCESS):
        return comb(n - k, m) ** 2 + (comb(n, m) - comb(n - k, m)) ** 2
    level = _deciding_level(row, m)
    return None if level is None else _tied_in_top(k, level, m, n)


def _cutoff_of_count(row: Measure, m: int, n: int) -> int | None:
    """Return k if the measure counts relevant documents in the top k; a small share of a small corpus may be none."""
    if is_row(row, RPREC):
        return m
    return int(row.cutoff_in(n)) if is_row(row, R) or is_row(row, P) else None


def _deciding_level(row: Measure, m: int) -> int | None:
    """Return i if the measure is a strictly monotone function of p_i."""
    if any(is_row(row, first) for first in (RR, SL1)):
        return 1
    if any(is_row(row, last) for last in (TSE, SL3, LAST_REL)):
        return m
    if is_row(row, DEPTH) or is_row(row, WSS):
        return int(needed_for_recall(row.settings["recall"], np.array([m]))[0])
    return None


def _tied_in_top(k: int, level: int, m: int, n: int) -> int:
    """Count the pairs that agree on the position of a document, or have it below k (then the first or the last one)."""
    if k == n:
        return _tied_at_level(level - 1, m - level, n)
    if level == m:
        return _tied_at_level(m - 1, 0, k) + (comb(n, m) - comb(k, m)) ** 2
    return _tied_at_level(0, m - 1, n) - _tied_at_level(0, m - 1, n - k) + comb(n - k, m) ** 2


def _tied_at_level(above: int, below: int, n: int) -> int:
    """Return sum_p C(p-1, a)² C(n-p, b)², for a document with a relevant ones above it and b below."""
    x, size = n + above + below, 2 * (above + below) + 1
    term = comb(x, size)
    total = 0
    for weight in _convolved(_squared_binomials(above), _squared_binomials(below)):
        total += weight * term
        term = term * (x - size) // x  # C(x-1, size)
        x -= 1
    return total


def _squared_binomials(a: int) -> list[int]:
    """Return C(a, k)² for k = 0 … a.

    >>> _squared_binomials(4)
    [1, 16, 36, 16, 1]
    """
    binomials = accumulate(range(a), lambda binomial, k: binomial * (a - k) // (k + 1), initial=1)
    return [binomial**2 for binomial in binomials]


def _convolved(x: list[int], y: list[int]) -> Iterator[int]:
    for s in range(len(x) + len(y) - 1):
        yield sum(x[k] * y[s - k] for k in range(max(0, s - len(y) + 1), min(s + 1, len(x))))


def _enumerated(measure: Measure, m: int, n: int) -> int:
    """Count the ordered pairs of placements that tie, by the values of all placements."""
    num_placements = comb(n, m)
    flat = chain.from_iterable(combinations(range(1, n + 1), m))
    placements = np.fromiter(flat, np.int64, num_placements * m).reshape(num_placements, m)
    values = np.sort(_values(measure, placements, n))
    is_new = ~is_equal(values[1:], values[:-1])
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], is_new, [True]])))
    return sum(int(size) ** 2 for size in sizes)


def _sampled(measure: Measure, m: int, n: int, num_pairs: int, rng: np.random.Generator) -> TieProbability:
    """Count the ties of random pairs; the interval is Wilson's, which has a width even if none or all of them tie."""
    if num_pairs < 1:
        raise UsageError(f"num_pairs is {num_pairs}, but must be at least 1")
    ties, left = 0, num_pairs
    while left:
        now = min(left, max(1, MOST_POSITIONS // (2 * m)))
        rankings = [rng.choice(n, m, replace=False, shuffle=False) for _ in range(2 * now)]
        values = _values(measure, np.sort(rankings, axis=1) + 1, n)
        ties += int(is_equal(values[:now], values[now:]).sum())
        left -= now
    share, z2 = ties / num_pairs, 1.959964**2
    center = (share + z2 / (2 * num_pairs)) / (1 + z2 / num_pairs)
    half = sqrt(z2 * (share * (1 - share) / num_pairs + z2 / (4 * num_pairs**2))) / (1 + z2 / num_pairs)
    return TieProbability(share, "sampled", abs(center - share) + half, num_pairs)


def _values(measure: Measure, placements: IntArray, n: int) -> FloatArray:
    values = values_of_complete(measure, placements, n)
    if not np.isfinite(values).all():
        where = placements[~np.isfinite(values)][0].tolist()
        raise UsageError(f"{measure} has no finite value for the positions {where} of {n}")
    return values

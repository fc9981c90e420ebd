"""The properties of evaluation methods in the paper's appendix, each decided by trying every ranking.

Belongs here: one function for each property. Not here: the table of them (`properties`).

The corpus has n = 9 documents, 1 to 4 of them relevant. A list of k documents is completed by putting the missing
relevant documents at the bottom, under the paper's assumption that n - k > m.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from lexirecall.paper.property_methods import (
    METRICS,  # noqa: F401 - for the examples
    SIZES,
    EvaluationMethod,
    N,
    Placement,
    placements,
    value_of,
)


def imputed(relevant: tuple[bool, ...], m: int, n: int = N) -> Placement:
    """Return the positions of the m relevant documents, from a list that says which retrieved documents are relevant.

    >>> imputed((False, True), m=3)
    (2, 8, 9)
    """
    found = tuple(p for p, is_relevant in enumerate(relevant, 1) if is_relevant)
    return (*found, *range(n - (m - len(found)) + 1, n + 1))


def lists(m: int) -> Iterator[tuple[bool, ...]]:
    """Give every list that leaves more documents unretrieved than are relevant.

    >>> len(list(lists(4)))  # of at most four documents
    31
    """
    for k in range(N - m):
        yield from (relevant for relevant in product((False, True), repeat=k) if sum(relevant) <= m)


def appended(*, relevant: bool) -> Iterator[tuple[Placement, Placement]]:
    """Give every ranking before and after it retrieves one more document.

    >>> next(appended(relevant=True))
    ((9,), (1,))
    """
    for m in SIZES:
        for before in lists(m):
            if not relevant or sum(before) < m:
                yield imputed(before, m), imputed((*before, relevant), m)


def swapped_up() -> Iterator[tuple[Placement, Placement]]:
    """Give every ranking before and after a relevant document changes places with a non-relevant one above it.

    >>> next(swapped_up())
    ((2,), (1,))
    """
    for m in SIZES:
        for p in placements(m):
            for lower in p:
                yield from ((p, moved(p, lower, upper)) for upper in range(1, lower) if upper not in p)


def moved(p: Placement, lower: int, upper: int) -> Placement:
    """Return a ranking with the relevant document at one position moved up to another.

    >>> moved((2, 5), 5, 1)
    (1, 2)
    """
    return tuple(sorted({*p, upper} - {lower}))


# The properties


def increasing_in_retrieval_size(method: EvaluationMethod) -> bool:
    """Whether one more document, relevant or not, never makes a list worse.

    >>> increasing_in_retrieval_size(METRICS["AP"])
    True
    """
    return all(method.prefers(y, x) >= 0 for kind in (False, True) for x, y in appended(relevant=kind))


def decreasing_in_nonrelevance(method: EvaluationMethod) -> bool:
    """Whether one more non-relevant document never makes a list better.

    >>> decreasing_in_nonrelevance(METRICS["AP"])
    True
    """
    return all(method.prefers(y, x) <= 0 for x, y in appended(relevant=False))


def strictly_decreasing_in_nonrelevance(method: EvaluationMethod) -> bool:
    """Whether one more non-relevant document always makes a list worse.

    >>> strictly_decreasing_in_nonrelevance(METRICS["AP"])
    False
    """
    return all(method.prefers(y, x) < 0 for x, y in appended(relevant=False))


def increasing_in_relevance(method: EvaluationMethod) -> bool:
    """Whether one more relevant document never makes a list worse.

    >>> increasing_in_relevance(METRICS["RR"])
    True
    """
    return all(method.prefers(y, x) >= 0 for x, y in appended(relevant=True))


def strictly_increasing_in_relevance(method: EvaluationMethod) -> bool:
    """Whether one more relevant document always makes a list better.

    >>> strictly_increasing_in_relevance(METRICS["RR"])
    False
    """
    return all(method.prefers(y, x) > 0 for x, y in appended(relevant=True))


def increasing_in_swapping_up(method: EvaluationMethod) -> bool:
    """Whether moving a relevant document up never makes a ranking worse.

    >>> increasing_in_swapping_up(METRICS["RR"])
    True
    """
    return all(method.prefers(y, x) >= 0 for x, y in swapped_up())


def strictly_increasing_in_swapping_up(method: EvaluationMethod) -> bool:
    """Whether moving a relevant document up always makes a ranking better.

    >>> strictly_increasing_in_swapping_up(METRICS["RR"])
    False
    """
    return all(method.prefers(y, x) > 0 for x, y in swapped_up())


def gain(method: EvaluationMethod, p: Placement, lower: int) -> Fraction:
    """Return the gain from moving the relevant document at a position up by one.

    >>> gain(METRICS["AP"], (6, 8), 6), gain(METRICS["AP"], (6, 8), 8)
    (Fraction(1, 60), Fraction(1, 56))
    """
    return value_of(method)(moved(p, lower, lower - 1)) - value_of(method)(p)


def gains_by_depth(method: EvaluationMethod) -> Iterator[tuple[Fraction, Fraction]]:
    """Give the gains of an upper and of a lower contiguous swap in the same ranking, as the property is defined.

    >>> next(gains_by_depth(METRICS["AP"]))  # of (2, 4)
    (Fraction(1, 4), Fraction(1, 12))
    """
    for m in SIZES:
        for p in placements(m):
            movable = [lower for lower in p if lower > 1 and lower - 1 not in p]
            yield from ((gain(method, p, i), gain(method, p, j)) for i, j in combinations(movable, 2))


def gains_at_one_level(method: EvaluationMethod) -> Iterator[tuple[Fraction, Fraction]]:
    """Give the gains of the i-th relevant document at a higher and at a lower position, with all others the same.

    >>> next(gains_at_one_level(METRICS["AP"]))  # of (2,) and (3,)
    (Fraction(1, 2), Fraction(1, 6))
    """
    for m in SIZES:
        of_others = defaultdict(list)
        for p in placements(m):
            for i, lower in enumerate(p):
                if lower > 1 and lower - 1 not in p:
                    of_others[i, p[:i], p[i + 1 :]].append(gain(method, p, lower))
        for gains in of_others.values():
            yield from combinations(gains, 2)  # placements come in ascending order


def concave_in_swap_depth(method: EvaluationMethod) -> bool:
    """Whether an upper swap never gains less than a lower one.

    >>> concave_in_swap_depth(METRICS["RR"])
    True
    """
    return all(upper >= lower for upper, lower in gains_by_depth(method))


def strictly_concave_in_swap_depth(method: EvaluationMethod) -> bool:
    """Whether an upper swap always gains more than a lower one.

    >>> strictly_concave_in_swap_depth(METRICS["RBP"])
    True
    """
    return all(upper > lower for upper, lower in gains_by_depth(method))


def concave_at_one_level(method: EvaluationMethod) -> bool:
    """Whether a swap of the i-th relevant document never gains less where it is higher.

    >>> concave_at_one_level(METRICS["AP"])
    True
    """
    return all(upper >= lower for upper, lower in gains_at_one_level(method))


def strictly_concave_at_one_level(method: EvaluationMethod) -> bool:
    """Whether a swap of the i-th relevant document always gains more where it is higher.

    >>> strictly_concave_at_one_level(METRICS["mean linear exposure"])
    False
    """
    return all(upper > lower for upper, lower in gains_at_one_level(method))


def ties_within(method: EvaluationMethod, groups: dict[Placement, list[Placement]]) -> bool:
    """Whether all rankings of each group tie.

    >>> ties_within(METRICS["RR"], by_prefix(2, 3)), ties_within(METRICS["RR"], {(1,): [(1, 5), (1, 6)]})
    (False, True)
    """
    return all(method.prefers(group[0], other) == 0 for group in groups.values() for other in group)


def suffix_invariant(method: EvaluationMethod) -> bool:
    """Whether there is a depth k, n - k > m, below which it does not matter where the relevant documents are.

    >>> suffix_invariant(METRICS["AP"])
    False
    """
    return all(any(ties_within(method, by_prefix(m, k)) for k in range(1, N - m)) for m in SIZES)


def by_prefix(m: int, k: int) -> dict[Placement, list[Placement]]:
    """Group the rankings by where relevant documents are down to depth k.

    >>> len(by_prefix(1, 3))
    4
    """
    groups = defaultdict(list)
    for p in placements(m):
        groups[tuple(position for position in p if position <= k)].append(p)
    return groups


def prefix_invariant(method: EvaluationMethod) -> bool:
    """Whether there is a depth k > m, above which it does not matter where the relevant documents are.

    >>> prefix_invariant(METRICS["AP"])
    False
    """
    return all(any(ties_within(method, by_suffix(m, k)) for k in range(m + 1, N)) for m in SIZES)


def by_suffix(m: int, k: int) -> dict[Placement, list[Placement]]:
    """Group the rankings by where relevant documents are below depth k.

    >>> len(by_suffix(1, 3))
    7
    """
    groups = defaultdict(list)
    for p in placements(m):
        groups[tuple(position for position in p if position > k)].append(p)
    return groups


def localized(method: EvaluationMethod) -> bool:
    """Whether for some depth k the list down to k decides the value, however many documents it lacks.

    >>> localized(METRICS["AP"])
    False
    """
    return any(decided_by_prefix(method, k) for k in range(1, N - max(SIZES)))


def decided_by_prefix(method: EvaluationMethod, k: int) -> bool:
    """Whether the list down to depth k decides the value.

    >>> decided_by_prefix(METRICS["AP"], 3)
    False
    """
    values: dict[Placement, set[Fraction]] = defaultdict(set)
    for m in SIZES:
        for prefix, group in by_prefix(m, k).items():
            values[prefix].update(map(value_of(method), group))
    return all(len(different) == 1 for different in values.values())


def realizable(method: EvaluationMethod) -> bool:
    """Whether the best value is the same for every number of relevant documents, so a bound can be attained.

    >>> realizable(METRICS["AP"]), realizable(METRICS["RBP"])
    (True, False)
    """
    return len({max(map(value_of(method), placements(m))) for m in SIZES}) == 1

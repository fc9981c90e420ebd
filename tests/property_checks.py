"""The properties of evaluation methods in the paper's appendix, each decided by enumeration, and the table of them.

Belongs here: methods in fractions, one function for each property, and what each cell of the table should be. Imports
nothing of the package.

Every ranking of a small corpus is tried: n = 9 items, 1 to 4 of them relevant. A list of k items is completed by
putting the missing relevant items at the bottom, under the paper's assumption that n - k > m. A cell of the table
speaks of a class of methods: "yes" if all members have the property, "no" if one has not.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

Placement = tuple[int, ...]
Exposure = Callable[[int], Fraction]
Weight = Callable[[int, int], Fraction]
N, SIZES = 9, (1, 2, 3, 4)


@dataclass(frozen=True)
class Method:
    """A way to evaluate rankings: a preference between two, which a metric derives from their values."""

    name: str
    prefers: Callable[[Placement, Placement], int]
    """1 if the first ranking is better, -1 if the second is, 0 if they tie."""
    value: Callable[[Placement], Fraction] | None = None
    exposure: Exposure | None = None


def metric(name: str, exposure: Exposure, weight: Weight) -> Method:
    """Return the recall-level metric sum_i e(p_i) z(i, m)."""

    @cache
    def value(placement: Placement) -> Fraction:
        m = len(placement)
        return sum((exposure(p) * weight(i, m) for i, p in enumerate(placement, 1)), Fraction())

    return Method(name, lambda x, y: (value(x) > value(y)) - (value(x) < value(y)), value, exposure)


def lexirecall(x: Placement, y: Placement) -> int:
    """The last position in which two rankings differ decides."""
    return (x[::-1] < y[::-1]) - (x[::-1] > y[::-1])


# The methods


def reciprocal(p: int) -> Fraction:
    return Fraction(1, p)


def geometric(p: int) -> Fraction:
    return Fraction(1, 2**p)


@cache
def logarithmic(p: int) -> Fraction:
    """1/log2(p + 1), rounded to a float and then taken exactly."""
    return Fraction(1 / math.log2(p + 1))


def linear(p: int) -> Fraction:
    return 1 - Fraction(p, N)


def parabolic(p: int) -> Fraction:
    """Falls ever faster, so that it is not convex."""
    return 1 - Fraction(p, N + 1) ** 2


def first(i: int, _m: int) -> Fraction:
    return Fraction(i == 1)


def last(i: int, m: int) -> Fraction:
    return Fraction(i == m)


def constant(_i: int, _m: int) -> Fraction:
    return Fraction(1)


def share(_i: int, m: int) -> Fraction:
    return Fraction(1, m)


def share_of_ideal(_i: int, m: int) -> Fraction:
    return 1 / sum(map(logarithmic, range(1, m + 1)), Fraction())


WITH_POSITIVE_WEIGHTS: dict[str, tuple[Exposure, Weight]] = {
    "AP": (reciprocal, Fraction),
    "RBP": (geometric, constant),
    "nDCG": (logarithmic, share_of_ideal),
    "mean linear exposure": (linear, share),
    "mean parabolic exposure": (parabolic, share),
    "sum of reciprocals": (reciprocal, constant),
}
TOTAL_SEARCH_EFFICIENCY: dict[str, tuple[Exposure, Weight]] = {
    f"TSE, {e.__name__}": (e, last) for e in (reciprocal, geometric, logarithmic, linear, parabolic)
}
TOP_HEAVY: dict[str, tuple[Exposure, Weight]] = {
    **WITH_POSITIVE_WEIGHTS, "RR": (reciprocal, first), **TOTAL_SEARCH_EFFICIENCY
}  # fmt: skip
METRICS = {name: metric(name, e, z) for name, (e, z) in TOP_HEAVY.items()}
COLUMNS: dict[str, list[Method]] = {
    "top-heavy": [*METRICS.values()],
    "top-heavy, z > 0": [METRICS[name] for name in WITH_POSITIVE_WEIGHTS],
    "TSE": [METRICS[name] for name in TOTAL_SEARCH_EFFICIENCY],
    "LexiRecall": [Method("LexiRecall", lexirecall)],
}


def value_of(method: Method) -> Callable[[Placement], Fraction]:
    """Return what a metric computes; to a preference the question does not apply."""
    if method.value is None:
        raise TypeError(f"{method.name} gives no values")
    return method.value


def is_convex(method: Method, *, strictly: bool = False) -> bool:
    """Whether each step down costs less exposure than the one before it, or no more."""
    if method.exposure is None:
        return False
    steps = [method.exposure(p) - method.exposure(p + 1) for p in range(1, N)]
    return all(a > b if strictly else a >= b for a, b in pairwise(steps))


# Rankings


def placements(m: int) -> list[Placement]:
    return list(combinations(range(1, N + 1), m))


def imputed(relevant: tuple[bool, ...], m: int, n: int = N) -> Placement:
    """Return the positions of the m relevant items, from a list that says of each item retrieved if it is one."""
    found = tuple(p for p, is_relevant in enumerate(relevant, 1) if is_relevant)
    return (*found, *range(n - (m - len(found)) + 1, n + 1))


def lists(m: int) -> Iterator[tuple[bool, ...]]:
    """Give every list under the assumption that more items are not retrieved than are relevant."""
    for k in range(N - m):
        yield from (relevant for relevant in product((False, True), repeat=k) if sum(relevant) <= m)


def appended(*, relevant: bool) -> Iterator[tuple[Placement, Placement]]:
    """Give every ranking before and after one more item was retrieved."""
    for m in SIZES:
        for before in lists(m):
            if not relevant or sum(before) < m:
                yield imputed(before, m), imputed((*before, relevant), m)


def swapped_up() -> Iterator[tuple[Placement, Placement]]:
    """Give every ranking before and after a relevant item changed places with a non-relevant one above it."""
    for m in SIZES:
        for p in placements(m):
            for lower in p:
                yield from ((p, moved(p, lower, upper)) for upper in range(1, lower) if upper not in p)


def moved(p: Placement, lower: int, upper: int) -> Placement:
    return tuple(sorted({*p, upper} - {lower}))


# The properties


def increasing_in_retrieval_size(method: Method) -> bool:
    return all(method.prefers(y, x) >= 0 for kind in (False, True) for x, y in appended(relevant=kind))


def decreasing_in_nonrelevance(method: Method) -> bool:
    return all(method.prefers(y, x) <= 0 for x, y in appended(relevant=False))


def strictly_decreasing_in_nonrelevance(method: Method) -> bool:
    return all(method.prefers(y, x) < 0 for x, y in appended(relevant=False))


def increasing_in_relevance(method: Method) -> bool:
    return all(method.prefers(y, x) >= 0 for x, y in appended(relevant=True))


def strictly_increasing_in_relevance(method: Method) -> bool:
    return all(method.prefers(y, x) > 0 for x, y in appended(relevant=True))


def increasing_in_swapping_up(method: Method) -> bool:
    return all(method.prefers(y, x) >= 0 for x, y in swapped_up())


def strictly_increasing_in_swapping_up(method: Method) -> bool:
    return all(method.prefers(y, x) > 0 for x, y in swapped_up())


def gain(method: Method, p: Placement, lower: int) -> Fraction:
    """Return what it brings to move the relevant item at a position up by one."""
    return value_of(method)(moved(p, lower, lower - 1)) - value_of(method)(p)


def gains_by_depth(method: Method) -> Iterator[tuple[Fraction, Fraction]]:
    """Give the gains of an upper and of a lower contiguous swap in the same ranking, as the property is defined."""
    for m in SIZES:
        for p in placements(m):
            movable = [lower for lower in p if lower > 1 and lower - 1 not in p]
            yield from ((gain(method, p, i), gain(method, p, j)) for i, j in combinations(movable, 2))


def gains_at_one_level(method: Method) -> Iterator[tuple[Fraction, Fraction]]:
    """Give the gains of the i-th relevant item where it is higher and lower, all others being the same."""
    for m in SIZES:
        of_others = defaultdict(list)
        for p in placements(m):
            for i, lower in enumerate(p):
                if lower > 1 and lower - 1 not in p:
                    of_others[i, p[:i], p[i + 1 :]].append(gain(method, p, lower))
        for gains in of_others.values():
            yield from combinations(gains, 2)  # placements come in ascending order


def concave_in_swap_depth(method: Method) -> bool:
    return all(upper >= lower for upper, lower in gains_by_depth(method))


def strictly_concave_in_swap_depth(method: Method) -> bool:
    return all(upper > lower for upper, lower in gains_by_depth(method))


def concave_at_one_level(method: Method) -> bool:
    return all(upper >= lower for upper, lower in gains_at_one_level(method))


def strictly_concave_at_one_level(method: Method) -> bool:
    return all(upper > lower for upper, lower in gains_at_one_level(method))


def ties_within(method: Method, groups: dict[Placement, list[Placement]]) -> bool:
    return all(method.prefers(group[0], other) == 0 for group in groups.values() for other in group)


def suffix_invariant(method: Method) -> bool:
    """Whether there is a depth k, n - k > m, below which it does not matter where the relevant items are."""
    return all(any(ties_within(method, by_prefix(m, k)) for k in range(1, N - m)) for m in SIZES)


def by_prefix(m: int, k: int) -> dict[Placement, list[Placement]]:
    groups = defaultdict(list)
    for p in placements(m):
        groups[tuple(position for position in p if position <= k)].append(p)
    return groups


def prefix_invariant(method: Method) -> bool:
    """Whether there is a depth k > m, above which it does not matter where the relevant items are."""
    return all(any(ties_within(method, by_suffix(m, k)) for k in range(m + 1, N)) for m in SIZES)


def by_suffix(m: int, k: int) -> dict[Placement, list[Placement]]:
    groups = defaultdict(list)
    for p in placements(m):
        groups[tuple(position for position in p if position > k)].append(p)
    return groups


def localized(method: Method) -> bool:
    """Whether there is a depth k so that the list down to it decides the value, however many items it lacks."""
    return any(decided_by_prefix(method, k) for k in range(1, N - max(SIZES)))


def decided_by_prefix(method: Method, k: int) -> bool:
    values: dict[Placement, set[Fraction]] = defaultdict(set)
    for m in SIZES:
        for prefix, group in by_prefix(m, k).items():
            values[prefix].update(map(value_of(method), group))
    return all(len(different) == 1 for different in values.values())


def realizable(method: Method) -> bool:
    """Whether the best value is the same for every number of relevant items, so that a bound can be attained."""
    return len({max(map(value_of(method), placements(m))) for m in SIZES}) == 1


# The table


@dataclass(frozen=True)
class Property:
    """A row of the paper's table: its cells in the order of COLUMNS, and ours where they differ."""

    holds: Callable[[Method], bool] | None
    """None where enumeration cannot tell, and `because` argues."""
    paper: str
    ours: str = ""
    because: str = ""
    applies: Callable[[Method], bool] = lambda _: True
    """The condition of a footnote."""

    def cells(self) -> dict[str, tuple[str, str]]:
        """Return for each column what the paper says and what we say."""
        paper, ours = self.paper.split(), (self.ours or self.paper).split()
        return dict(zip(COLUMNS, zip(paper, ours, strict=True), strict=True))


TABLE = {
    "increasing in retrieval size": Property(increasing_in_retrieval_size, "yes yes yes yes"),
    "decreasing in nonrelevance": Property(decreasing_in_nonrelevance, "yes yes yes yes"),
    "strictly decreasing in nonrelevance": Property(strictly_decreasing_in_nonrelevance, "no no no no"),
    "increasing in relevance": Property(increasing_in_relevance, "yes yes yes yes"),
    "strictly increasing in relevance": Property(strictly_increasing_in_relevance, "no yes no yes"),
    "increasing in swapping up": Property(increasing_in_swapping_up, "yes yes yes yes"),
    "strictly increasing in swapping up": Property(
        strictly_increasing_in_swapping_up,
        paper="no yes no no",
        ours="no yes no yes",
        because="the paper's own proof is strict: the item moved up is better placed, and none below it has moved",
    ),
    "concavity in contiguous swap depth": Property(
        concave_in_swap_depth,
        paper="yes yes yes NA",
        ours="no no no NA",
        because="two swaps in one ranking are at different recall levels, and the lower one may weigh more: "
        "AP at (6, 8) gains 1/60 above and 1/56 below, TSE at (2, 4) 0 and 1/12",
    ),
    "strict concavity in contiguous swap depth": Property(
        strictly_concave_in_swap_depth,
        paper="no yes no NA",
        ours="no no no NA",
        because="as above, though e is strictly convex",
        applies=lambda method: is_convex(method, strictly=True),
    ),
    "suffix invariance": Property(suffix_invariant, "no no no no"),
    "prefix invariance": Property(prefix_invariant, "no no no no"),
    "boundedness": Property(
        None,
        paper="no no no NA",
        ours="no no yes NA",
        because="over all corpora, by argument: the sum of 1/i over the first m places has no bound, "
        "while 0 <= e(p_m) <= e(1) for every e",
    ),
    "localization": Property(localized, "no no no NA"),
    "completeness": Property(
        None,
        paper="yes yes yes NA",
        because="by argument, if z(i, 0) is defined: no ranking without relevant items can tell",
    ),
    "realizability": Property(realizable, "no no no NA"),
}
"""The paper's table."""

AT_ONE_LEVEL = {
    "concavity at one recall level": Property(
        concave_at_one_level, "yes yes yes NA", because="e is convex", applies=is_convex
    ),
    "strict concavity at one recall level": Property(
        strictly_concave_at_one_level,
        "no yes no NA",
        because="e is strictly convex",
        applies=lambda method: is_convex(method, strictly=True),
    ),
}
"""What the paper's proof of concavity shows, under its condition."""

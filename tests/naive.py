"""Slow twins of the fast code: pure Python, one ranking at a time, each written as its definition reads.

Belongs here: how a ranking becomes a list of grades, and every measure of the table as a function of that list and the
judgments. Imports nothing of the package, so that it cannot share a mistake with it.
"""

import ctypes
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, permutations, product
from statistics import fmean

Grade = float | None
"""The grade of an item, None if it has no judgment."""
Lines = list[tuple[str, float]]
"""Items and scores, as a run lists them."""


# From a run to a ranked list of grades


def as_float32(score: float) -> float:
    return ctypes.c_float(score).value


def without_duplicates(lines: Lines, rule: str) -> Lines:
    """Keep one line of each item: the first, or the one with the highest score, the first of several such."""
    kept: Lines = []
    for number, (item, score) in enumerate(lines):
        others = [line for i, line in enumerate(lines) if line[0] == item and i != number]
        earlier = [line for line in lines[:number] if line[0] == item]
        if rule == "first" and earlier:
            continue
        if rule == "best" and (any(s > score for _, s in others) or any(s == score for _, s in earlier)):
            continue
        kept.append((item, score))
    return kept


def tie_blocks(lines: Lines, score_dtype: str = "float64") -> list[list[str]]:
    """Return the items in blocks of equal score, highest score first, each block in input order."""
    rounded = [(item, as_float32(score) if score_dtype == "float32" else score) for item, score in lines]
    levels = sorted({score for _, score in rounded}, reverse=True)
    return [[item for item, score in rounded if score == level] for level in levels]


def ranked(lines: Lines, judged: Mapping[str, float], ties: str = "trec", score_dtype: str = "float64") -> list[str]:
    """Return the items in the order of their scores, and of the tie rule where those are equal."""

    def gain(item: str) -> float:
        return max(judged.get(item, 0), 0)

    order: list[str] = []
    for block in tie_blocks(lines, score_dtype):
        by_id = sorted(block, key=str.encode, reverse=True)
        order += {
            "input": block,
            "trec": by_id,
            "worst": sorted(by_id, key=gain),
            "best": sorted(by_id, key=lambda item: -gain(item)),
        }[ties]
    return order


def grades_shown(
    order: list[str], judged: Mapping[str, float], depth: int | None = None, *, judged_only: bool = False
) -> list[Grade]:
    """Return the grade of each item down to the depth, or of those among them that were judged."""
    grades = [judged.get(item) for item in order[:depth]]
    return [grade for grade in grades if grade is not None and grade >= 0] if judged_only else grades


# From a ranked list of grades to positions


@dataclass(frozen=True)
class Case:
    """One ranking as a measure sees it."""

    shown: list[Grade]
    judged: Mapping[str, float]
    level: float = 1
    corpus_size: int | None = None
    imputation: str = "pessimistic"

    @property
    def m(self) -> int:
        return sum(grade >= self.level for grade in self.judged.values())

    @property
    def num_found(self) -> int:
        return len([grade for grade in self.shown if grade is not None and grade >= self.level])

    @property
    def listed(self) -> list[Grade]:
        """The grades shown; an optimist lets those that are missing follow at once, the highest first."""
        if self.imputation == "pessimistic":
            return self.shown
        missing = Counter(grade for grade in self.judged.values() if grade > 0)
        missing -= Counter(grade for grade in self.shown if grade is not None)
        return [*self.shown, *sorted(missing.elements(), reverse=True)]

    @property
    def found(self) -> list[int]:
        """The positions of the relevant items in the list."""
        return [p for p, grade in enumerate(self.listed, 1) if grade is not None and grade >= self.level]

    @property
    def positions(self) -> list[float]:
        """p_1 … p_m; what is not in the list is at the very bottom, or at infinity where that is unknown."""
        m, n = self.m, self.corpus_size
        return [*self.found, *(math.inf if n is None else n - m + i for i in range(len(self.found) + 1, m + 1))]


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


# Measures of what was found


def ap(case: Case, cutoff: float = math.inf) -> float:
    return ratio(sum(i / p for i, p in enumerate(case.found, 1) if p <= cutoff), case.m)


def rr(case: Case, cutoff: float = math.inf) -> float:
    return next((1 / p for p in case.found if p <= cutoff), 0.0)


def rbp(case: Case, p: float = 0.8, cutoff: float = math.inf) -> float:
    return sum((1 - p) * p ** (i - 1) for i in case.found if i <= cutoff)


def recall(case: Case, cutoff: int) -> float:
    return ratio(sum(p <= cutoff for p in case.found), case.m)


def precision(case: Case, cutoff: int) -> float:
    return sum(p <= cutoff for p in case.found) / cutoff


def success(case: Case, cutoff: int) -> float:
    return float(any(p <= cutoff for p in case.found))


def r_precision(case: Case) -> float:
    return recall(case, case.m)


def iprec(case: Case, recall: float) -> float:
    """Interpolated precision, where trec_eval 9 takes int(r·m + 0.9) items to make up the recall r."""
    needed = int(recall * case.m + 0.9)
    return max((i / p for i, p in enumerate(case.found, 1) if i >= needed), default=0.0)


# Measures of where the missing items are, too


def tse(case: Case, e: str = "ap", p: float = 0.8, cutoff: float = math.inf) -> float:
    if not case.m or case.positions[-1] > cutoff:
        return 0.0
    last = case.positions[-1]
    if e == "linear":
        assert case.corpus_size is not None
        return 1 - last / case.corpus_size
    if e == "rbp":
        return (1 - p) * math.pow(p, last - 1)
    return {"ap": 1 / last, "dcg": 1 / math.log2(last + 1)}[e]


def sl1(case: Case) -> float:
    return case.positions[0] - 1 if case.m else 0.0


def sl3(case: Case) -> float:
    return case.positions[-1] - case.m if case.m else 0.0


def last_rel(case: Case) -> float:
    return case.positions[-1] if case.m else 0.0


def recall_error(case: Case) -> float:
    return sum(case.positions) / case.m - (case.m + 1) / 2 if case.m else 0.0


def depth_at_recall(case: Case, recall: float) -> float:
    needed = math.ceil(Fraction(str(recall)) * case.m)
    return case.positions[needed - 1] if case.m else 0.0


def wss(case: Case, recall: float) -> float:
    if not case.m:
        return 0.0
    n = math.nan if case.corpus_size is None else case.corpus_size
    return (n - depth_at_recall(case, recall)) / n - (1 - recall)


# Measures of grades


def dcg(grades: list[float], gain: str, cutoff: float) -> float:
    gains = [2**grade - 1 if gain == "exp-log2" else grade for grade in grades]
    return sum(g / math.log2(p + 1) for p, g in enumerate(gains, 1) if p <= cutoff)


def ndcg(case: Case, dcg_: str = "log2", cutoff: float = math.inf) -> float:
    best = sorted((max(grade, 0) for grade in case.judged.values()), reverse=True)
    return ratio(dcg([max(grade or 0, 0) for grade in case.listed], dcg_, cutoff), dcg(best, dcg_, cutoff))


def err(case: Case, max_grade: int = 4, cutoff: float = math.inf) -> float:
    value, reaches = 0.0, 1.0
    for p, grade in enumerate(case.listed, 1):
        stops = (2 ** max(grade or 0, 0) - 1) / 2**max_grade
        value += reaches * stops / p if p <= cutoff else 0.0
        reaches *= 1 - stops
    return value


# Measures of sets, and of the judged items that are not relevant


def num_ret(case: Case) -> float:
    return len(case.shown)


def set_p(case: Case) -> float:
    return ratio(case.num_found, len(case.shown))


def set_r(case: Case) -> float:
    return ratio(case.num_found, case.m)


def set_f(case: Case, beta: float = 1) -> float:
    p, r = set_p(case), set_r(case)
    return ratio((1 + beta) * p * r, r + beta * p)


def judged_at(case: Case, cutoff: int) -> float:
    top = case.shown[:cutoff]
    return sum(grade is not None and grade >= 0 for grade in top) / len(top) if top else math.nan


def bpref(case: Case) -> float:
    value = 0.0
    num_nonrelevant = sum(0 <= grade < case.level for grade in case.judged.values())
    for p in case.found:
        above = sum(grade is not None and 0 <= grade < case.level for grade in case.listed[: p - 1])
        value += 1 - ratio(min(above, case.m), min(case.m, num_nonrelevant))
    return ratio(value, case.m)


def inf_ap(case: Case, epsilon: float = 0.00001) -> float:
    value = 0.0
    for p in case.found:
        above = [grade for grade in case.listed[: p - 1] if grade is not None]  # those in the pool
        relevant = sum(grade >= case.level for grade in above)
        judged = sum(grade >= 0 for grade in above)
        value += 1 / p + ratio(p - 1, p) * ratio(len(above), p - 1) * (relevant + epsilon) / (judged + 2 * epsilon)
    return ratio(value, case.m)


TWINS: dict[str, Callable[..., float]] = {
    "AP": ap, "RR": rr, "RBP": rbp, "R": recall, "P": precision, "Success": success, "Rprec": r_precision,
    "TSE": tse, "SL1": sl1, "SL3": sl3, "LastRel": last_rel, "RE": recall_error, "Depth": depth_at_recall, "WSS": wss,
    "nDCG": lambda case, dcg="log2", cutoff=math.inf: ndcg(case, dcg, cutoff), "ERR": err,
    "NumRet": num_ret, "NumRel": lambda case: case.m, "NumRelRet": lambda case: case.num_found,
    "SetP": set_p, "SetR": set_r, "SetF": set_f,
    "Bpref": bpref, "infAP": inf_ap, "Judged": judged_at, "IPrec": iprec,
}  # fmt: skip


def value(name: str, settings: Mapping[str, float | str], case: Case) -> float:
    """Return the value of a measure; its relevance level is the one of the case."""
    return TWINS[name](case, **{key: setting for key, setting in settings.items() if key != "rel"})


# All orders of the tied items


def orders(lines: Lines, score_dtype: str = "float64") -> Iterator[list[str]]:
    blocks = (permutations(block) for block in tie_blocks(lines, score_dtype))
    return (list(chain(*arranged)) for arranged in product(*blocks))


def expected(lines: Lines, score_dtype: str, of_order: Callable[[list[str]], float]) -> float:
    """Return the mean over all orders of tied items; it is undefined as soon as one of them is."""
    return fmean(of_order(order) for order in orders(lines, score_dtype))


# Preferences between two position vectors; what is missing is at infinity


def lexirecall(x: list[float], y: list[float]) -> int:
    """The last difference decides."""
    for p, q in zip(reversed(x), reversed(y), strict=True):
        if p != q:
            return 1 if p < q else -1
    return 0


def lexiprecision(x: list[float], y: list[float]) -> int:
    """The first difference decides."""
    for p, q in zip(x, y, strict=True):
        if p != q:
            return 1 if p < q else -1
    return 0


def sized_lexiprecision(x: list[float], y: list[float]) -> float:
    for p, q in zip(x, y, strict=True):
        if p != q:
            return 1 / p - 1 / q
    return 0


def rpp(x: list[float], y: list[float], weight: str = "uniform") -> float:
    """The weighted mean of the signs at all recall levels."""
    weights = [{"uniform": 1, "inverse": 1 / i, "dcg": 1 / math.log2(i + 1)}[weight] for i in range(1, len(x) + 1)]
    signs = [(p < q) - (p > q) for p, q in zip(x, y, strict=True)]
    return sum(w * sign for w, sign in zip(weights, signs, strict=True)) / sum(weights)


PREFERENCES: dict[str, Callable[..., float]] = {
    "LexiRecall": lexirecall,
    "LexiPrecision": lexiprecision,
    "LexiPrecision(size='rr')": sized_lexiprecision,
    "RPP": rpp,
    "RPP(weight='inverse')": lambda x, y: rpp(x, y, "inverse"),
    "RPP(weight='dcg')": lambda x, y: rpp(x, y, "dcg"),
}


def graded_rpp(x: Case, y: Case) -> float:
    """The mean over the grades of the request, each as a level, weighted by how many items reach it."""
    levels = {grade for grade in x.judged.values() if grade > 0}
    total = value = 0.0
    for level in levels:
        at = [replace(case, level=level) for case in (x, y)]
        value += at[0].m * rpp(at[0].positions, at[1].positions)
        total += at[0].m
    return ratio(value, total)


# Possible users and providers; fractions, so that equal is equal


def nonempty_sets(m: int) -> list[tuple[int, ...]]:
    """All sets of the first m recall levels, in the order of their bit masks; level 1 is the lowest bit."""
    return [tuple(i for i in range(1, m + 1) if mask >> (i - 1) & 1) for mask in range(1, 2**m)]


def case_of_user(wanted: tuple[float, ...], corpus_size: int | None = None) -> Case:
    """The ranking to someone who wants what is at these positions; what is at infinity was not retrieved."""
    depth = max((int(p) for p in wanted if p < math.inf), default=0)
    shown = [1.0 if p in wanted else None for p in range(1, depth + 1)]
    return Case(shown, {str(i): 1.0 for i in range(len(wanted))}, corpus_size=corpus_size)


Exposure = Callable[[int], Fraction]
Weight = Callable[[int, int], Fraction]


def recall_level(e: Exposure, z: Weight, positions: tuple[int, ...]) -> Fraction:
    """sum_i e(p_i) z(i, m)."""
    return sum((e(p) * z(i, len(positions)) for i, p in enumerate(positions, 1)), Fraction())


def users(e: Exposure, z: Weight, positions: tuple[int, ...]) -> list[Fraction]:
    """The utilities of all possible users."""
    sets = nonempty_sets(len(positions))
    return [recall_level(e, z, tuple(positions[i - 1] for i in levels)) for levels in sets]


def providers(e: Exposure, positions: tuple[int, ...]) -> list[Fraction]:
    """The exposures of all possible providers."""
    sets = nonempty_sets(len(positions))
    return [sum((e(positions[i - 1]) for i in levels), Fraction()) for levels in sets]


def is_top_heavy(e: Exposure, z: Weight, placements: list[tuple[int, ...]]) -> bool:
    """Whether no placement has less value than what is left of it without its first j items."""
    return all(recall_level(e, z, p) >= recall_level(e, z, p[j:]) for p in placements for j in range(len(p)))


def leximin(x: list[Fraction], y: list[Fraction]) -> int:
    """The worst-off who is not equally well off in both decides."""
    for a, b in zip(sorted(x), sorted(y), strict=True):
        if a != b:
            return 1 if a > b else -1
    return 0


# Exact metric lexirecall: the place of a ranking, found by sorting all placements


@lru_cache(maxsize=64)
def places(m: int, n: int, order: str = "recall") -> dict[tuple[int, ...], int]:
    """Return the place of every placement of m items in a corpus of n, 0 the best, by its deepest or first items."""
    placements = list(combinations(range(1, n + 1), m))
    placements.sort(key=lambda placement: placement[::-1] if order == "recall" else placement)
    return {placement: place for place, placement in enumerate(placements)}


def lexirecall_place(case: Case) -> tuple[int, int]:
    """Return the place of a ranking, and how many there are."""
    assert case.corpus_size is not None
    all_places = places(case.m, case.corpus_size)
    return all_places[tuple(int(p) for p in case.positions)], len(all_places)


def lexirecall_percentile(case: Case) -> float:
    if not case.m:
        return 0.0
    place, total = lexirecall_place(case)
    return 1 - place / (total - 1) if total > 1 else 1.0


def lexirecall_bits(case: Case) -> float:
    if not case.m:
        return 0.0
    place, total = lexirecall_place(case)
    return math.log2(total / (place + 1))


TWINS |= {"LexiRecallPercentile": lexirecall_percentile, "LexiRecallBits": lexirecall_bits}


# Rankings of a whole corpus: orientation, and ties by chance


def placements(m: int, n: int) -> list[tuple[int, ...]]:
    """All positions that m relevant items can have among n."""
    if m == 0:
        return [()]
    return [(*above, last) for last in range(m, n + 1) for above in placements(m - 1, last - 1)]


def complete(positions: tuple[int, ...], n: int) -> Case:
    """The ranking of a whole corpus that has its relevant items there."""
    shown: list[Grade] = [1.0 if place in positions else None for place in range(1, n + 1)]
    return Case(shown, {f"d{place}": 1.0 for place in positions}, corpus_size=n)


def precision_orientation(value_of: Callable[[Case], float], m: int, n: int) -> float:
    bottom = tuple(range(n - m + 1, n + 1))
    return value_of(complete((1, *bottom[1:]), n)) - value_of(complete(bottom, n))


def recall_orientation(value_of: Callable[[Case], float], m: int, n: int) -> float:
    top = tuple(range(1, m + 1))
    return value_of(complete(top, n)) - value_of(complete((*top[:-1], n), n))


def tie_probability(tied_by: Callable[[tuple[int, ...]], object], m: int, n: int) -> Fraction:
    """The share of all pairs of placements that look the same."""
    looks = [tied_by(positions) for positions in placements(m, n)]
    return Fraction(sum(x == y for x in looks for y in looks), len(looks) ** 2)


# Users of an optimal ranker; the items 0 … m-1 are relevant, and stand at the top in any order


def position_probability(i: int, j: int, k: int, m: int) -> Fraction:
    """How often the i-th of the items 0 … j-1 stands at k, over all orders of m items."""
    places = [sorted(order.index(item) + 1 for item in range(j)) for order in permutations(range(m))]
    return Fraction(sum(wanted[i - 1] == k for wanted in places), len(places))


def utility(places: list[int], e: Callable[[int], float], z: Callable[[int, int], float]) -> float:
    return sum(e(p) * z(i, len(places)) for i, p in enumerate(sorted(places), 1))


def expected_utility(e: Callable[[int], float], z: Callable[[int, int], float], j: int, m: int) -> float:
    """The mean utility of a user who wants the items 0 … j-1, over all orders of m items."""
    return fmean(utility([order.index(item) + 1 for item in range(j)], e, z) for order in permutations(range(m)))


def worst_case(e: Callable[[int], float], z: Callable[[int, int], float], m: int) -> float:
    """The lowest utility of all users, who want any of the items, in one order of them."""
    return min(utility(list(wanted), e, z) for j in range(1, m + 1) for wanted in placements(j, m))


def expected_exposures(
    rankings: list[list[str]], relevant: list[str], e: Callable[[float], float], n: int | None = None
) -> list[float]:
    """The mean exposure of each item; what is missing takes the last places of the corpus, each of them alike."""
    sums = dict.fromkeys(relevant, 0.0)
    for ranking in rankings:
        missing = [item for item in relevant if item not in ranking]
        for item in relevant:
            if item in ranking:
                sums[item] += e(ranking.index(item) + 1)
            elif n is not None:
                sums[item] += sum(e(place) for place in range(n - len(missing) + 1, n + 1)) / len(missing)
    return [sums[item] / len(rankings) for item in relevant]


# Known providers; items keep their names here


def items_shown(
    order: list[str], judged: Mapping[str, float], depth: int | None = None, *, judged_only: bool = False
) -> list[str]:
    """Return the items down to the depth, or those among them that were judged."""
    return [item for item in order[:depth] if not judged_only or judged.get(item, -1) >= 0]


def provider_shares(
    shown: list[str], judged: Mapping[str, float], owners: Mapping[str, list[str]], level: float,
    e: Callable[[float], float], n: int | None = None,
) -> dict[str, float]:  # fmt: skip
    """The exposure of each provider with a relevant item; what is missing stands at the very bottom, or nowhere."""
    shares: dict[str, float] = {}
    for item, grade in judged.items():
        if grade >= level:
            place = shown.index(item) + 1 if item in shown else n
            for owner in set(owners.get(item, [])):
                shares[owner] = shares.get(owner, 0.0) + (0.0 if place is None else e(place))
    return shares


def provider_means(shares: list[dict[str, float]]) -> dict[str, float]:
    """The mean exposure of each provider over the requests for which it has a relevant item."""
    return {owner: fmean(share[owner] for share in shares if owner in share) for owner in set().union(*shares)}

"""Slow twins of the fast code: pure Python, one ranking at a time, each written as its definition reads.

Belongs here: how a ranking becomes a list of grades, and every measure of the table as a function of that list and the
judgments. Imports nothing of the package, so that it cannot share a mistake with it.
"""

import ctypes
import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, permutations, product
from statistics import NormalDist, fmean, median
from typing import Any

Grade = float | None
"""The grade of a document, None if it has no judgment."""
Lines = list[tuple[str, float]]
"""Documents and scores, as a run lists them."""


# From vectors to scores


def similarity_of(query: Sequence[float], document: Sequence[float], similarity: str) -> float:
    dot = math.fsum(x * y for x, y in zip(query, document, strict=True))
    if similarity == "l2":
        return -math.fsum((x - y) ** 2 for x, y in zip(query, document, strict=True))
    if similarity == "cosine":
        lengths = math.hypot(*query) * math.hypot(*document)
        return dot / lengths if lengths else 0.0
    return dot


# From a run to a ranked list of grades


def as_float32(score: float) -> float:
    return ctypes.c_float(score).value


def without_duplicates(lines: Lines, rule: str) -> Lines:
    """Keep one line of each document: the first, or the one with the highest score, the first of several such."""
    kept: Lines = []
    for number, (document, score) in enumerate(lines):
        others = [line for i, line in enumerate(lines) if line[0] == document and i != number]
        earlier = [line for line in lines[:number] if line[0] == document]
        if rule == "first" and earlier:
            continue
        if rule == "best" and (any(s > score for _, s in others) or any(s == score for _, s in earlier)):
            continue
        kept.append((document, score))
    return kept


def tie_blocks(lines: Lines, score_dtype: str = "float64") -> list[list[str]]:
    """Return the documents in blocks of equal score, highest score first, each block in input order."""
    rounded = [(document, as_float32(score) if score_dtype == "float32" else score) for document, score in lines]
    levels = sorted({score for _, score in rounded}, reverse=True)
    return [[document for document, score in rounded if score == level] for level in levels]


def ranked(lines: Lines, judged: Mapping[str, float], ties: str = "trec", score_dtype: str = "float64") -> list[str]:
    """Return the documents in the order of their scores, and of the tie rule where those are equal."""

    def gain(document: str) -> float:
        return max(judged.get(document, 0), 0)

    order: list[str] = []
    for block in tie_blocks(lines, score_dtype):
        by_id = sorted(block, key=str.encode, reverse=True)
        order += {
            "input": block,
            "trec": by_id,
            "worst": sorted(by_id, key=gain),
            "best": sorted(by_id, key=lambda document: -gain(document)),
        }[ties]
    return order


def grades_shown(
    order: list[str], judged: Mapping[str, float], depth: int | None = None, *, judged_only: bool = False
) -> list[Grade]:
    """Return the grade of each document down to the depth, or of those among them that were judged."""
    grades = [judged.get(document) for document in order[:depth]]
    return [grade for grade in grades if grade is not None and grade >= 0] if judged_only else grades


def places_in_units(documents: Sequence[str], units: Mapping[str, Sequence[str]]) -> list[int]:
    """Return the place of each document: a new one if it brings a unit that has not appeared, or is of none."""
    places, seen = [0], set[str]()
    for document in documents:
        mapped = units.get(document) or ()
        places.append(places[-1] + (not mapped or not seen.issuperset(mapped)))
        seen.update(mapped)
    return places[1:]


# From a ranked list of grades to positions


@dataclass(frozen=True)
class Case:
    """One ranking as a measure sees it."""

    shown: list[Grade]
    judged: Mapping[str, float]
    level: float = 1
    corpus_size: int | None = None
    imputation: str = "pessimistic"
    bottom: tuple[Grade, ...] = ()
    """What follows the list where the whole corpus is ranked, beyond what was retrieved."""

    @property
    def m(self) -> int:
        return sum(grade >= self.level for grade in self.judged.values())

    @property
    def num_found(self) -> int:
        return len([grade for grade in self.shown if grade is not None and grade >= self.level])

    @property
    def listed(self) -> list[Grade]:
        """The grades shown; an optimist lets those that are missing follow at once, the highest first."""
        if self.imputation != "optimistic":
            return [*self.shown, *self.bottom]
        missing = Counter(grade for grade in self.judged.values() if grade > 0)
        missing -= Counter(grade for grade in self.shown if grade is not None)
        return [*self.shown, *sorted(missing.elements(), reverse=True)]

    @property
    def found(self) -> list[int]:
        """The positions of the relevant documents in the list."""
        return [p for p, grade in enumerate(self.listed, 1) if grade is not None and grade >= self.level]

    @property
    def positions(self) -> list[float]:
        """p_1 … p_m; what is not in the list is at the very bottom, or at infinity where that is unknown."""
        m, n = self.m, self.corpus_size
        return [*self.found, *(math.inf if n is None else n - m + i for i in range(len(self.found) + 1, m + 1))]


# What counts as found


def serving(
    judged: Mapping[str, float],
    units_of: Mapping[str, Sequence[str]],
    *,
    judged_as: str = "documents",
    unmapped: str = "none",
) -> dict[str, dict[str, float]]:
    """Return, for each unit, the documents that may serve it and the grade with which each does."""
    served: dict[str, dict[str, float]] = {}
    if judged_as == "documents":
        for document, grade in judged.items():
            for unit in units_of.get(document, [document] if unmapped == "itself" else []):
                served.setdefault(unit, {})[document] = grade
        return served
    for unit, grade in judged.items():
        documents = [document for document, units in units_of.items() if unit in units]
        if not documents and unmapped == "itself":
            documents = [unit]
        if documents:
            served[unit] = dict.fromkeys(documents, grade)
    return served


def places_of(order: Sequence[str], units_of: Mapping[str, Sequence[str]], count: str = "documents") -> list[int]:
    """Return the place of each document of a list: its number, or how many down to it brought something new."""
    if count == "documents":
        return list(range(1, len(order) + 1))
    seen: set[str] = set()
    places, place = [], 0
    for document in order:
        units = set(units_of.get(document, ()))
        if not units or units - seen:
            place += 1
        seen |= units
        places.append(place)
    return places


def unit_positions(
    order: Sequence[str],
    served: Mapping[str, Mapping[str, float]],
    places: Sequence[int],
    needs_all: Callable[[str], bool],
    level: float = 1,
    depth: int | None = None,
) -> list[float]:
    """Return p_1 … p_m of the units that are relevant at a level; missing ones are at infinity."""
    at = {document: place for document, place in zip(order, places, strict=True) if depth is None or place <= depth}
    positions = []
    for unit, documents in served.items():
        if max(documents.values()) >= level:
            found = [at.get(document, math.inf) for document, grade in documents.items() if grade >= level]
            positions.append(max(found) if needs_all(unit) else min(found))
    return sorted(positions)


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


def all_found(case: Case, cutoff: int) -> float:
    return float(case.m > 0 and sum(p <= cutoff for p in case.found) == case.m)


def reached(case: Case, cutoff: int, r: float = 0.9) -> float:
    """Whether so many are found that their share is r or more, in exact decimals."""
    found = sum(p <= cutoff for p in case.found)
    return float(case.m > 0 and found >= Fraction(str(r)) * case.m)


def r_precision(case: Case) -> float:
    return recall(case, case.m)


def iprec(case: Case, recall: float) -> float:
    """Interpolated precision, where trec_eval 9 takes int(r·m + 0.9) documents to make up the recall r."""
    needed = int(recall * case.m + 0.9)
    return max((i / p for i, p in enumerate(case.found, 1) if i >= needed), default=0.0)


# Measures of where the missing documents are, too


EXPOSURES: dict[str, Callable[..., float]] = {
    "ap": lambda i, **_: 1 / i,
    "dcg": lambda i, **_: 1 / math.log2(i + 1),
    "rbp": lambda i, p, **_: (1 - p) * math.pow(p, i - 1),
    "linear": lambda i, n, **_: 1 - i / (n or math.nan),
}
"""Of every exposure a function of the position, and of the patience p and the corpus size n, None if unknown."""


def tse(case: Case, e: str = "ap", p: float = 0.8, cutoff: float = math.inf) -> float:
    if not case.m or case.positions[-1] > cutoff:
        return 0.0
    return EXPOSURES[e](case.positions[-1], p=p, n=case.corpus_size)


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


# Measures of reviews


def at_share(case: Case, share: float) -> int:
    """How many records a share of the corpus is at most."""
    return math.floor(Fraction(str(share)) * (case.corpus_size or 0))


def rrf(case: Case, share: float) -> float:
    return recall(case, at_share(case, share))


def erf(case: Case, share: float) -> float:
    """Screened at random, k of n records hold k/n of the relevant ones on average."""
    return rrf(case, share) - at_share(case, share) / (case.corpus_size or 0) if case.m else 0.0


def atd(case: Case) -> float:
    return ratio(sum(case.positions), case.m)


def loss(case: Case) -> float:
    """The area between the ideal curve of records found and the curve, of what there is between ideal and worst."""
    n, m = case.corpus_size or 0, case.m

    def area(positions: Iterable[float]) -> float:
        return sum(n - p + 1 for p in positions)  # each counts from where it is found to the end

    if m == 0:
        return 0.0
    best, worst = area(range(1, m + 1)), area(range(n - m + 1, n + 1))
    return ratio(best - area(case.positions), best - worst)


def tnr(case: Case, recall: float) -> float:
    """Of the records that are not relevant, those that come after the one by which the recall is reached."""
    n, m = case.corpus_size or 0, case.m
    if m == 0:
        return 0.0
    others = sorted({*range(1, n + 1)} - {*map(int, case.positions)})
    last = depth_at_recall(case, recall)
    return ratio(sum(p > last for p in others), len(others))


def found_by_chance(m: int, n: int) -> list[int]:
    """What ASReview Insights takes a random order to find by each record, in whole records."""
    return [round(m * k / (n - 1)) if n > 1 else 0 for k in range(n)]


def asreview_wss(case: Case, recall: float) -> float:
    n, m = case.corpus_size or 0, case.m
    found = math.floor(Fraction(str(recall)) * m)
    if not found:
        return 0.0
    chance = [*(k for k, number in enumerate(found_by_chance(m, n)) if number >= found), n]
    return (chance[0] - (case.positions[found - 1] - 1)) / n


def asreview_erf(case: Case, share: float) -> float:
    k = at_share(case, share)
    chance = found_by_chance(case.m, case.corpus_size or 0)
    return rrf(case, share) - (chance[k - 1] / case.m if k else 0) if case.m else 0.0


def asreview_tnr(case: Case, recall: float) -> float:
    n, m = case.corpus_size or 0, case.m
    found = math.floor(Fraction(str(recall)) * m)
    if not found:
        return 0.0
    return round(ratio(n - m - (case.positions[found - 1] - found), n - m), 6)


# Measures of grades


def discounted(gains: list[float], cutoff: float) -> float:
    return sum(g / math.log2(p + 1) for p, g in enumerate(gains, 1) if p <= cutoff)


def gain_of(grade: Grade, dcg: str, gains: Mapping[float, float] | None, level: float | None) -> float:
    """The gain of a grade: 1 from the level on; what the map says; 2^grade - 1; or the grade."""
    if grade is None or grade <= 0:
        return 0.0
    if level is not None:
        return float(grade >= level)
    return (gains or {}).get(grade, grade) if dcg == "log2" else 2**grade - 1


def ndcg(
    case: Case, dcg: str = "log2", gains: Mapping[float, float] | None = None, rel: float | str | None = None,
    cutoff: float = math.inf,
) -> float:  # fmt: skip
    """The discounted gains over those of the best order; undefined where nothing that is relevant has a gain."""
    level = None if rel is None else case.level
    ours, best = (
        [gain_of(grade, dcg, gains, level) for grade in grades] for grades in (case.listed, case.judged.values())
    )
    if case.m and not any(best):
        return math.nan
    return ratio(discounted(ours, cutoff), discounted(sorted(best, reverse=True), cutoff))


def err(case: Case, max_grade: int = 4, cutoff: float = math.inf) -> float:
    value, reaches = 0.0, 1.0
    for p, grade in enumerate(case.listed, 1):
        stops = (2 ** max(grade or 0, 0) - 1) / 2**max_grade
        value += reaches * stops / p if p <= cutoff else 0.0
        reaches *= 1 - stops
    return value


def graded_rbp(case: Case, p: float = 0.8, max_grade: int = 1, cutoff: float = math.inf) -> float:
    gained = [max(grade or 0, 0) * p ** (place - 1) for place, grade in enumerate(case.listed, 1) if place <= cutoff]
    return (1 - p) * sum(gained) / max_grade


# Nearness to an ideal order


def overlap(x: Sequence[object], y: Sequence[object], p: float, depth: int) -> float:
    """Rank-biased overlap down to a depth: the documents that the tops of both share, at 1, 2, … places."""
    shared = [len({*x[:i]} & {*y[:i]}) / i for i in range(1, depth + 1)]
    return ratio(sum(p**i * share for i, share in enumerate(shared)), sum(p**i for i in range(depth)))


def compat(case: Case, p: float = 0.95, normalize: bool = True) -> float:
    """Try every ideal order, the higher grade first, and take the most similar one."""
    graded = [(place, grade) for place, grade in enumerate(case.shown) if grade is not None and grade > 0]
    missing = Counter(grade for grade in case.judged.values() if grade > 0)
    missing -= Counter(grade for _, grade in graded)
    ideals = {grade: [place for place, each in graded if each == grade] for _, grade in graded}
    for number, grade in enumerate(missing.elements()):
        ideals.setdefault(grade, []).append(-1 - number)
    best, depth = 0.0, max(len(case.shown), case.m)
    for arranged in product(*(permutations(ideals[grade]) for grade in sorted(ideals, reverse=True))):
        ideal = list(chain(*arranged))
        whole = overlap(ideal, ideal, p, depth) if normalize else 1.0
        best = max(best, ratio(overlap(range(len(case.shown)), ideal, p, depth), whole))
    return best


def accuracy(case: Case, cutoff: float = math.inf) -> float:
    top = [grade is not None and grade >= case.level for place, grade in enumerate(case.shown, 1) if place <= cutoff]
    pairs = [(x, y) for x, y in combinations(top, 2) if x != y]
    return sum(x for x, _ in pairs) / len(pairs) if pairs else math.nan


# Measures of sets, and of the judged documents that are not relevant


def num_ret(case: Case) -> float:
    return len(case.shown)


def set_p(case: Case, relative: bool = False) -> float:
    return ratio(case.num_found, min(len(case.shown), case.m) if relative else len(case.shown))


def set_r(case: Case) -> float:
    return ratio(case.num_found, case.m)


def set_f(case: Case, beta: float = 1) -> float:
    p, r = set_p(case), set_r(case)
    return ratio((1 + beta) * p * r, r + beta * p)


def set_ap(case: Case) -> float:
    return set_p(case) * set_r(case)


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


# Exact metric lexirecall: the place of a ranking, found by sorting all placements


@lru_cache(maxsize=64)
def places(m: int, n: int, order: str = "recall") -> dict[tuple[int, ...], int]:
    """Return the place of every placement of m documents in a corpus of n, 0 the best, by its deepest or first ones."""
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


# The paper's metric lexirecall, and the mean of linear exposure


def yager_weights(m: int, n: int, epsilon: Fraction) -> list[Fraction]:
    """w_1 … w_m as the paper writes them."""
    d = 1 / (n + epsilon)
    return [d ** (m - 1) / (1 + d) ** (m - 1), *(d ** (m - i) / (1 + d) ** (m + 1 - i) for i in range(2, m + 1))]


def metric_lexirecall(case: Case, epsilon: float = 0.5) -> float:
    n = case.corpus_size or 0
    weights = yager_weights(case.m, n, Fraction(str(epsilon))) if case.m else []
    return float(sum((w * Fraction(n - int(p), n) for w, p in zip(weights, case.positions, strict=True)), Fraction()))


def linear_exposure(case: Case) -> float:
    n = math.nan if case.corpus_size is None else case.corpus_size
    return ratio(sum(1 - p / n for p in case.positions), case.m)


# The table of twins


MEASURES: dict[str, Callable[..., float]] = {
    "AP": ap, "RR": rr, "RBP": rbp, "R": recall, "P": precision, "Success": success, "Rprec": r_precision,
    "All": all_found, "Reached": reached, "TSE": tse, "SL1": sl1, "SL3": sl3, "LastRel": last_rel, "RE": recall_error,
    "Depth": depth_at_recall, "WSS": wss, "RRF": rrf, "ERF": erf, "ATD": atd, "Loss": loss, "TNR": tnr,
    "AsreviewWSS": asreview_wss, "AsreviewERF": asreview_erf, "AsreviewTNR": asreview_tnr,
    "Linear": linear_exposure, "nDCG": ndcg, "ERR": err, "GradedRBP": graded_rbp, "Compat": compat,
    "Accuracy": accuracy, "NumQ": lambda _: 1, "NumRet": num_ret, "NumRel": lambda case: case.m,
    "NumRelRet": lambda case: case.num_found,
    "SetP": set_p, "SetR": set_r, "SetF": set_f, "SetAP": set_ap,
    "Bpref": bpref, "infAP": inf_ap, "Judged": judged_at, "IPrec": iprec,
    "LexiRecallPercentile": lexirecall_percentile, "LexiRecallBits": lexirecall_bits,
    "MetricLexiRecall": metric_lexirecall,
}  # fmt: skip
"""Of every measure a function of one ranking and the settings; those of providers are in PROVIDER_MEASURES, those of
units in DIVERSITY_MEASURES."""


def value(name: str, settings: Mapping[str, Any], case: Case) -> float:
    """Return the value of a measure; its relevance level is the one of the case."""
    assert name in MEASURES, f"{name} has no twin: add one to MEASURES in tests/naive.py"
    twin = MEASURES[name]
    takes_level = "rel" in inspect.signature(twin).parameters
    kept = {key: setting for key, setting in settings.items() if key != "rel" or takes_level}
    if str(cutoff := kept.get("cutoff")).endswith("%"):
        kept["cutoff"] = at_share(case, float(Fraction(str(cutoff)[:-1]) / 100))
    return twin(case, **kept)


def better(direction: int, x: float, y: float) -> int:
    """Tell which of two values is better; what is undefined is worse than everything else, and equal to itself."""
    worth = [direction * each if math.isfinite(each) else -math.inf for each in (x, y)]
    if worth[0] == worth[1] or (math.isfinite(sum(worth)) and math.isclose(*worth, rel_tol=1e-12)):
        return 0
    return 1 if worth[0] > worth[1] else -1


def completed(case: Case) -> list[Case]:
    """The rankings of the whole corpus that a list may be the top of, if what is relevant and missing comes last.

    This is the imputation of the paper: the value is the mean over them.
    """
    missing = Counter(grade for grade in case.judged.values() if grade >= case.level)
    missing -= Counter(grade for grade in case.shown if grade is not None)
    tails = sorted(set(permutations(missing.elements())))
    gap = [None] * ((case.corpus_size or 0) - len(case.shown) - len(tails[0]))
    return [replace(case, bottom=(*gap, *tail)) for tail in tails]


# All orders of the tied documents


def orders(lines: Lines, score_dtype: str = "float64") -> Iterator[list[str]]:
    blocks = (permutations(block) for block in tie_blocks(lines, score_dtype))
    return (list(chain(*arranged)) for arranged in product(*blocks))


def expected(lines: Lines, score_dtype: str, of_order: Callable[[list[str]], float]) -> float:
    """Return the mean over all orders of tied documents; it is undefined as soon as one of them is."""
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


def by_last_position(x: list[float], y: list[float], cutoff: float = math.inf) -> int:
    """How total search efficiency orders rankings, whatever its exposure: beyond the cut-off all are equal."""
    p, q = (vector[-1] if vector[-1] <= cutoff else math.inf for vector in (x, y))
    return (p < q) - (p > q)


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
    "LexiPrecision": lambda x, y, size="sign": sized_lexiprecision(x, y) if size == "rr" else lexiprecision(x, y),
    "RPP": rpp,
}
"""Of every preference a function of two position vectors and the settings."""


def preference(name: str, settings: Mapping[str, float | str], x: Case, y: Case) -> float:
    """Compare two rankings of a query that has relevant documents; the relevance level is the one of the cases."""
    assert name in PREFERENCES, f"{name} has no twin: add one to PREFERENCES in tests/naive.py"
    chosen = {key: setting for key, setting in settings.items() if key not in ("rel", "graded")}
    if not settings.get("graded"):
        return PREFERENCES[name](x.positions, y.positions, **chosen)
    # the mean over the grades of the query, each as a level, weighted by how many documents reach it
    total = value = 0.0
    for level in {grade for grade in x.judged.values() if grade > 0}:
        at = [replace(case, level=level) for case in (x, y)]
        value += at[0].m * PREFERENCES[name](at[0].positions, at[1].positions, **chosen)
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
    """Whether no placement has less value than what is left of it without its first j documents."""
    return all(recall_level(e, z, p) >= recall_level(e, z, p[j:]) for p in placements for j in range(len(p)))


def leximin(x: list[Fraction], y: list[Fraction]) -> int:
    """The worst-off who is not equally well off in both decides."""
    for a, b in zip(sorted(x), sorted(y), strict=True):
        if a != b:
            return 1 if a > b else -1
    return 0


# Rankings of a whole corpus: orientation, and ties by chance


def placements(m: int, n: int) -> list[tuple[int, ...]]:
    """All positions that m relevant documents can have among n."""
    if m == 0:
        return [()]
    return [(*above, last) for last in range(m, n + 1) for above in placements(m - 1, last - 1)]


def complete(positions: tuple[int, ...], n: int) -> Case:
    """The ranking of a whole corpus that has its relevant documents there."""
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


# Users of an optimal ranker; the documents 0 … m-1 are relevant, and are at the top in any order


def position_probability(i: int, j: int, k: int, m: int) -> Fraction:
    """How often the i-th of the documents 0 … j-1 is at k, over all orders of m documents."""
    places = [sorted(order.index(document) + 1 for document in range(j)) for order in permutations(range(m))]
    return Fraction(sum(wanted[i - 1] == k for wanted in places), len(places))


def utility(places: list[int], e: Callable[[int], float], z: Callable[[int, int], float]) -> float:
    return sum(e(p) * z(i, len(places)) for i, p in enumerate(sorted(places), 1))


def expected_utility(e: Callable[[int], float], z: Callable[[int, int], float], j: int, m: int) -> float:
    """The mean utility of a user who wants the documents 0 … j-1, over all orders of m documents."""
    return fmean(
        utility([order.index(document) + 1 for document in range(j)], e, z) for order in permutations(range(m))
    )


def worst_case(e: Callable[[int], float], z: Callable[[int, int], float], m: int) -> float:
    """The lowest utility of all users, who want any of the documents, in one order of them."""
    return min(utility(list(wanted), e, z) for j in range(1, m + 1) for wanted in placements(j, m))


def expected_exposures(
    rankings: list[list[str]], relevant: list[str], e: Callable[[float], float], n: int | None = None
) -> list[float]:
    """The mean exposure of each document; what is missing takes the last places of the corpus, each of them alike."""
    sums = dict.fromkeys(relevant, 0.0)
    for ranking in rankings:
        missing = [document for document in relevant if document not in ranking]
        for document in relevant:
            if document in ranking:
                sums[document] += e(ranking.index(document) + 1)
            elif n is not None:
                sums[document] += sum(e(place) for place in range(n - len(missing) + 1, n + 1)) / len(missing)
    return [sums[document] / len(rankings) for document in relevant]


# Known providers; documents keep their names here


def documents_shown(
    order: list[str], judged: Mapping[str, float], depth: int | None = None, *, judged_only: bool = False
) -> list[str]:
    """Return the documents down to the depth, or those among them that were judged."""
    return [document for document in order[:depth] if not judged_only or judged.get(document, -1) >= 0]


def provider_shares(
    shown: list[str], judged: Mapping[str, float], owners: Mapping[str, list[str]], level: float,
    e: Callable[[float], float], n: int | None = None,
) -> dict[str, float]:  # fmt: skip
    """The exposure of each provider with a relevant document; what is missing shares the last places, or has none."""
    relevant = [document for document, grade in judged.items() if grade >= level]
    missing = len(set(relevant) - set(shown))
    last = [] if n is None else [e(place) for place in range(n - missing + 1, n + 1)]
    shares: dict[str, float] = {}
    for document in relevant:
        seen = e(shown.index(document) + 1) if document in shown else fmean(last or [0.0])
        for owner in set(owners.get(document, [])):
            shares[owner] = shares.get(owner, 0.0) + seen
    return shares


def provider_means(shares: list[dict[str, float]]) -> dict[str, float]:
    """The mean exposure of each provider over the queries for which it has a relevant document."""
    return {owner: fmean(share[owner] for share in shares if owner in share) for owner in set().union(*shares)}


def provider_merits(judged: Mapping[str, float], owners: Mapping[str, list[str]], level: float) -> dict[str, int]:
    """How many relevant documents each provider has."""
    relevant = [document for document, grade in judged.items() if grade >= level]
    return dict(Counter(owner for document in relevant for owner in set(owners.get(document, []))))


def provider_ratio(shares: list[dict[str, Any]], merits: list[dict[str, int]], owner: str) -> Any:
    """A provider's exposure over what it is due: of each query's exposure, what its merit is of all merit there."""
    both = [(share, merit) for share, merit in zip(shares, merits, strict=True) if owner in merit]
    due = sum(sum(share.values()) * Fraction(merit[owner], sum(merit.values())) for share, merit in both)
    return sum(share[owner] for share, _ in both) / due if due else None


def worst_provider(shares: list[dict[str, float]]) -> list[list[float]]:
    """The lowest exposure for each query."""
    return [[min(share.values(), default=math.nan) for share in shares]]


def worst_provider_overall(shares: list[dict[str, float]]) -> list[list[float]]:
    """The exposures of the provider with the lowest mean; of each of them, where several have it."""
    means = provider_means(shares)
    lowest = min(means.values(), default=math.nan)
    worst = [owner for owner, mean in means.items() if math.isclose(mean, lowest, rel_tol=1e-9, abs_tol=1e-15)]
    return [[share.get(owner, math.nan) for share in shares] for owner in worst or [""]]


PROVIDER_MEASURES = {"WorstProvider": worst_provider, "WorstProviderOverall": worst_provider_overall}
"""Of every measure of providers a function of their exposures for each query: the lists of values that are right."""


# Diversity: what each document of a list covers, as a set of units


def novel_gains(covered: Sequence[set[str]], alpha: float) -> list[float]:
    """What each document gains: a unit that c documents above it cover is worth (1 - alpha)^c."""
    return [
        sum((1 - alpha) ** sum(unit in above for above in covered[:place]) for unit in units)
        for place, units in enumerate(covered)
    ]


def greedy_order(covers: Mapping[str, set[str]], alpha: float) -> list[set[str]]:
    """Put the document that gains most at each place; of equal ones the one with the highest id."""
    chosen: list[str] = []
    while len(chosen) < len(covers):
        above = [covers[document] for document in chosen]
        gains = {
            document: novel_gains([*above, covers[document]], alpha)[-1]
            for document in covers
            if document not in chosen
        }
        most = max(gains.values())
        chosen.append(max((document for document in gains if gains[document] > most - 1e-9), key=str.encode))
    return [covers[document] for document in chosen]


def subtopic_recall(covered: Sequence[set[str]], covers: Mapping[str, set[str]], cutoff: int) -> float:
    return ratio(len(set().union(*covered[:cutoff])), len(set().union(*covers.values())))


def alpha_ndcg(covered: Sequence[set[str]], covers: Mapping[str, set[str]], cutoff: int, alpha: float = 0.5) -> float:
    gained, ideal = (discounted(novel_gains(order, alpha), cutoff) for order in (covered, greedy_order(covers, alpha)))
    return ratio(gained, ideal)


def err_ia(covered: Sequence[set[str]], covers: Mapping[str, set[str]], cutoff: int) -> float:
    gained = sum(gain / place for place, gain in enumerate(novel_gains(covered, 0.5), 1) if place <= cutoff)
    num_units = len(set().union(*covers.values()))
    return ratio(gained, num_units * sum(0.5 ** (place - 1) / place for place in range(1, cutoff + 1)))


DIVERSITY_MEASURES = {"StRecall": subtopic_recall, "alpha_nDCG": alpha_ndcg, "ERR_IA": err_ia}
"""Of every measure of units a function of what a list covers, what each relevant document covers, and the settings."""


# One order of runs; a profile says of each query who takes part, and whom each prefers to whom

Signs = list[list[int]]
"""1 where the run of the row is preferred to that of the column, -1 where it is the other way, else 0."""


@dataclass(frozen=True)
class Vote:
    """One query: the runs that take part, and the preferences between all."""

    present: set[int]
    signs: Signs

    def points(self, s: int) -> Fraction:
        """One for each other run that is beaten, half of one for each that is tied; among those that take part."""
        others = self.present - {s}
        beaten, tied = (sum(self.signs[s][t] == sign for t in others) for sign in (1, 0))
        return beaten + Fraction(tied, 2)


def run_ranks(scores: list[Fraction]) -> list[int]:
    """The rank of each score: one more than there are better ones."""
    return [1 + sum(other > score for other in scores) for score in scores]


def mean_win_rates(num_runs: int, votes: list[Vote]) -> list[Fraction]:
    rates = [
        [vote.points(s) / (len(vote.present) - 1) for vote in votes if s in vote.present and len(vote.present) > 1]
        for s in range(num_runs)
    ]
    return [sum(own, Fraction(0)) / len(own) if own else Fraction(1, 2) for own in rates]


def borda_points(num_runs: int, votes: list[Vote]) -> list[Fraction]:
    """Points over all queries on which any two are compared; those who are not compared have half of one each."""
    points = [Fraction(0)] * num_runs
    for vote in votes:
        if len(vote.present) > 1:
            for s in range(num_runs):
                num_absent = num_runs - len(vote.present | {s})
                points[s] += (
                    vote.points(s) + Fraction(num_absent, 2) if s in vote.present else Fraction(num_runs - 1, 2)
                )
    return points


def average_ranks(values: list[int]) -> list[Fraction]:
    """The rank of each value, the highest first, those of equal ones being averaged."""
    in_order = sorted(values, reverse=True)
    ranks = {value: [i for i, other in enumerate(in_order, 1) if other == value] for value in values}
    return [Fraction(sum(ranks[value]), len(ranks[value])) for value in values]


def majority_signs(num_runs: int, votes: list[Vote]) -> Signs:
    """Who wins on more queries."""

    def sign(a: int, b: int) -> int:
        balance = sum(vote.signs[a][b] for vote in votes if {a, b} <= vote.present)
        return (balance > 0) - (balance < 0)

    return [[sign(a, b) for b in range(num_runs)] for a in range(num_runs)]


def copeland_points(signs: Signs) -> list[Fraction]:
    return [row.count(1) + Fraction(row.count(0) - 1, 2) for row in signs]


def reachable(start: int, follow: Callable[[int, int], bool], among: list[int]) -> set[int]:
    """Where one step after the other may lead."""
    found: set[int] = set()
    fresh = {start}
    while fresh:
        fresh = {there for here in fresh for there in among if follow(here, there)} - found
        found |= fresh
    return found


def long_run_shares(moves: list[list[Fraction]]) -> list[Fraction]:
    """Solve x = x P, sum x = 1, for a chain whose states all lead to each other, by elimination in rationals."""
    size = len(moves)
    rows = [[moves[i][j] - (i == j) for i in range(size)] + [Fraction(0)] for j in range(size - 1)]
    rows.append([Fraction(1)] * (size + 1))
    for c in range(size):
        pivot = next(r for r in range(c, size) if rows[r][c])
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [value / rows[c][c] for value in rows[c]]
        for r in range(size):
            if r != c:
                rows[r] = [value - rows[r][c] * own for value, own in zip(rows[r], rows[c], strict=True)]
    return [row[-1] for row in rows]


def mc4(signs: Signs) -> tuple[list[Fraction], list[int]]:
    """The classes in which the chain ends, one after the other, and the shares of the time within; scores and ranks."""

    def move(a: int, b: int, size: int) -> Fraction:
        return Fraction({1: 0, 0: 1, -1: 2}[signs[a][b]], 2 * size)

    left, found = list(range(len(signs))), []
    while left:
        leads_to = {s: reachable(s, lambda a, b: signs[a][b] <= 0, left) | {s} for s in left}
        last = [s for s in left if all(s in leads_to[t] for t in left)]
        chain = [[move(a, b, len(last)) if a != b else Fraction(0) for b in last] for a in last]
        for i, row in enumerate(chain):
            row[i] = Fraction(1) - sum(row)
        found.append(dict(zip(last, long_run_shares(chain), strict=True)))
        left = [s for s in left if s not in last]
    scores, ranks = [Fraction(0)] * len(signs), [0] * len(signs)
    for number, shares in enumerate(found):
        num_above = sum(map(len, found[:number]))
        for s, rank in zip(shares, run_ranks(list(shares.values())), strict=True):
            scores[s], ranks[s] = len(found) - number - 1 + shares[s], num_above + rank
    return scores, ranks


def kemeny(num_runs: int, votes: list[Vote]) -> list[Fraction]:
    """Minus the mean place in all the orders that contradict the fewest preferences."""

    def contradictions(order: tuple[int, ...]) -> int:
        return sum(vote.signs[b][a] > 0 and {a, b} <= vote.present for a, b in combinations(order, 2) for vote in votes)

    costs = {order: contradictions(order) for order in permutations(range(num_runs))}
    best = [order for order, cost in costs.items() if cost == min(costs.values())]
    return [-Fraction(sum(order.index(s) + 1 for order in best), len(best)) for s in range(num_runs)]


def mean_places_by_trial(margins: list[list[int]]) -> list[Fraction]:
    """The mean place in all orders with the least sum of margins against them, which are all tried."""
    runs = range(len(margins))
    costs = {order: sum(max(0, margins[b][a]) for a, b in combinations(order, 2)) for order in permutations(runs)}
    least = min(costs.values())
    best = [order for order, cost in costs.items() if cost == least]
    return [Fraction(sum(order.index(s) + 1 for order in best), len(best)) for s in runs]


def mean_places_by_sets(margins: list[list[int]]) -> list[Fraction]:
    """The same, from the least cost and the number of the best orders of every set, all of them."""
    size = len(margins)

    def costs_of_last(s: int, members: int) -> int:
        return sum(max(0, margins[s][t]) for t in range(size) if members >> t & 1)

    found: dict[int, tuple[int, int, list[int]]] = {0: (0, 1, [0] * size)}  # cost, orders, sums of places
    for members in range(1, 2**size):
        ways = []
        for s in (s for s in range(size) if members >> s & 1):
            cost, orders, sums = found[members ^ 1 << s]
            place = [orders * members.bit_count() if t == s else sums[t] for t in range(size)]
            ways.append((cost + costs_of_last(s, members), orders, place))
        least = min(cost for cost, _, _ in ways)
        best = [(orders, sums) for cost, orders, sums in ways if cost == least]
        found[members] = (
            least,
            sum(orders for orders, _ in best),
            [sum(each) for each in zip(*(places for _, places in best), strict=True)],
        )
    _, orders, sums = found[2**size - 1]
    return [Fraction(total, orders) for total in sums]


def leximin_ranks(values: list[list[float]], direction: int) -> list[int]:
    """One more than there are runs whose worst query that is not equally bad is better; infinity is the worst."""

    def worst_first(own: list[float]) -> list[float]:
        return sorted(direction * value if math.isfinite(value) else -math.inf for value in own)

    def is_better(x: list[float], y: list[float]) -> bool:
        for a, b in zip(worst_first(x), worst_first(y), strict=True):
            if a != b and not (math.isfinite(a) and math.isclose(a, b, rel_tol=1e-12)):
                return a > b
        return False

    return [1 + sum(is_better(other, own) for other in values) for own in values]


def circles(signs: Signs) -> dict[frozenset[int], int]:
    """The sets of runs that beat each other in circles, and the length of the shortest circle in each."""

    def beats(a: int, b: int) -> bool:
        return signs[a][b] > 0

    everyone = list(range(len(signs)))
    ahead_of = {s: reachable(s, beats, everyone) for s in everyone}
    found = {frozenset(t for t in ahead_of[s] if s in ahead_of[t]) for s in everyone if s in ahead_of[s]}
    return {
        members: min(
            size
            for size in range(3, len(members) + 1)
            for cycle in permutations(members, size)
            if all(beats(a, b) for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))
        )
        for members in found
    }


# All runs at once; a layout holds the responses of each run to each query

Layout = list[list[float]]


def two_way(layout: Layout) -> tuple[list[Fraction], Fraction]:
    """The mean of each run, and the mean square of what neither run nor query explains, in rationals."""
    x = [[Fraction(value) for value in row] for row in layout]
    num_runs, num_queries = len(x), len(x[0])
    of_run = [sum(row, Fraction(0)) / num_queries for row in x]
    of_query = [sum(column, Fraction(0)) / num_runs for column in zip(*x, strict=True)]
    grand = sum(of_run, Fraction(0)) / num_runs
    squares = [(x[s][q] - of_run[s] - of_query[q] + grand) ** 2 for s in range(num_runs) for q in range(num_queries)]
    return of_run, sum(squares, Fraction(0)) / ((num_runs - 1) * (num_queries - 1))


def simpson(f: Callable[[float], float], low: float, high: float, num_steps: int) -> float:
    step = (high - low) / num_steps
    weights = [1] + [4, 2] * (num_steps // 2 - 1) + [4, 1]
    return step / 3 * sum(weight * f(low + i * step) for i, weight in enumerate(weights))


def normal_range_tail(w: float, k: int) -> float:
    """How often k normal values spread over more than w: not all the others are within w below the largest."""

    def largest_at(z: float) -> float:
        others = (math.erfc(-z / math.sqrt(2)) - math.erfc((w - z) / math.sqrt(2))) / 2
        return k * math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * others ** (k - 1)

    return 1 - simpson(largest_at, -8, 8, 160)


def studentized_range_tail(q: float, k: int, df: int) -> float:
    """How often the range exceeds q estimated deviations s, where df s² has a χ² distribution."""

    def estimated_as(s: float) -> float:
        log_density = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2) - df * s**2 / 2
        return s ** (df - 1) * math.exp(log_density) * normal_range_tail(q * s, k)

    reach = 7 / math.sqrt(df)
    return simpson(estimated_as, max(0.0, 1 - reach), 1 + reach, 300)


def spread(layout: Layout) -> float:
    """How far the best mean is from the worst."""
    means = [fmean(row) for row in layout]
    return max(means) - min(means)


def permuted(layout: Layout, orders: Iterable[Iterable[int]]) -> Layout:
    """The layout after the responses to each query have been given to the runs in its order."""
    columns = zip(*layout, strict=True)
    given = [[column[s] for s in order] for column, order in zip(columns, orders, strict=True)]
    return [list(row) for row in zip(*given, strict=True)]


def num_as_spread(layout: Layout, difference: float, draws: Iterable[Iterable[Iterable[int]]]) -> int:
    """How many of the permutations spread the means as far as the difference, up to rounding."""
    rounding = 1e-12 * max(abs(value) for row in layout for value in row)
    return sum(spread(permuted(layout, orders)) >= abs(difference) - rounding for orders in draws)


def all_permutations_within(num_queries: int, num_runs: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    return product(permutations(range(num_runs)), repeat=num_queries)


# Paired tests of one pair of runs, from differences in whole numbers, so that sums are exact


# Over queries


def over_queries(name: str, values: list[float], direction: int = 1, *, is_sum: bool = False) -> Fraction | float:
    """One number of the values of many queries, by its definition; nan is left out, and the mean of nothing is nan.

    An infinite value is left out of the mean of all, and where the number falls on one, it is infinite itself.
    """
    there = sorted(value for value in values if not math.isnan(value))
    kind, _, share = name.partition(":")
    if kind == "mean":
        there = [value for value in there if not math.isinf(value)]
    if not there:
        return math.nan
    taken = math.ceil(Fraction(share or "1") * len(there))
    chosen = {
        "mean": there,
        "median": there[(len(there) - 1) // 2 : len(there) // 2 + 1],
        "min": there[:1],
        "quantile": there[taken - 1 : taken],
        "tail": there[:taken] if direction > 0 else there[-taken:],
    }[kind]
    if endless := [value for value in chosen if math.isinf(value)]:
        return endless[0]
    return sum(map(Fraction, chosen), Fraction(0)) / (1 if kind == "mean" and is_sum else len(chosen))


# Resamples


def drawn_below(bound: int, number: int, words: Iterator[int]) -> list[int]:
    """Remainders of random words of 64 bits; words from the highest multiple of the bound on are passed over."""
    accepted = (word for word in words if word < 2**64 // bound * bound)
    return [next(accepted) % bound for _ in range(number)]


def tail_and_error(values: list[float], k: int) -> tuple[float, float]:
    """The mean of the k lowest values, and its standard error: of all values, where k is their number."""
    n, ascending = len(values), sorted(values)
    limit = ascending[min(k, n - 1)]
    moves = [min(Fraction(value) - Fraction(limit), Fraction(0)) for value in values]
    centre = sum(moves) / n
    variance = sum((move - centre) ** 2 for move in moves) / (n - 1)
    return float(sum(map(Fraction, ascending[:k])) / k), math.sqrt(variance) / (k / n * math.sqrt(n))


def studentized_interval(values: list[float], k: int, drawn: list[list[int]], alpha: Fraction) -> tuple[float, float]:
    """The bootstrap-t interval of the mean of the k lowest; one of equal values is infinitely far off."""
    tail, error = tail_and_error(values, k)
    statistics = []
    for places in drawn:
        own, its_error = tail_and_error([values[q] for q in places], k)
        moved = 0.0 if math.isclose(own, tail, rel_tol=1e-9) else own - tail
        statistics.append(moved / its_error if its_error else math.copysign(math.inf, moved) if moved else 0.0)
    j = math.floor((len(drawn) + 1) * alpha / 2)
    ascending = sorted(statistics)
    return tail - ascending[-j] * error, tail - ascending[j - 1] * error


def quantile_interval(values: list[float], share: Fraction, alpha: Fraction) -> tuple[float, float]:
    """From one ordered value to another: how many lie below the quantile is binomial. Endless where there is none."""
    n, ascending = len(values), sorted(values)

    def at_most(x: int) -> Fraction:
        return sum((math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(x + 1)), Fraction(0))

    low = max(place for place in range(n + 2) if at_most(place - 1) <= alpha / 2)
    high = min(place for place in range(n + 2) if at_most(min(place - 1, n)) >= 1 - alpha / 2)
    return (-math.inf if low < 1 else ascending[low - 1]), (math.inf if high > n else ascending[high - 1])


def tail_difference_error(x: list[float], y: list[float], k: int) -> float:
    """The standard error of the difference of the means of the k lowest of each of two runs, on the same queries."""
    n = len(x)
    moves = []
    for own in (x, y):
        limit = sorted(own)[min(k, n - 1)]
        moves.append([min(value - limit, 0.0) * n / k for value in own])
    apart = [p - q for p, q in zip(*moves, strict=True)]
    centre = math.fsum(apart) / n
    return math.sqrt(math.fsum((each - centre) ** 2 for each in apart) / (n - 1) / n)


def percentile_ends(numbers: Iterable[Fraction | None], alpha: Fraction) -> tuple[Fraction, Fraction] | None:
    """The k-th smallest and the k-th largest number, k being (n + 1) alpha/2 rounded down; None where that is 0."""
    ascending = sorted(number for number in numbers if number is not None)
    k = math.floor((len(ascending) + 1) * alpha / 2)
    return (ascending[k - 1], ascending[-k]) if k else None


def shares_of_first(ranks: list[list[int]]) -> list[Fraction]:
    """How often each run is first, given its rank in each resample; those who are first together share one."""
    shares = [[Fraction(rank == 1, own.count(1)) for rank in own] for own in ranks]
    return [sum(column, Fraction(0)) / len(ranks) for column in zip(*shares, strict=True)]


def share_of_flips(numbers: list[int]) -> Fraction:
    """The share of all ways to flip signs that give a sum as far from 0."""
    ways = product((1, -1), repeat=len(numbers))
    sums = [sum(sign * number for sign, number in zip(signs, numbers, strict=True)) for signs in ways]
    return Fraction(sum(abs(one) >= abs(sum(numbers)) for one in sums), len(sums))


def max_t_counts(rows: list[list[int]], patterns: list[tuple[int, ...]]) -> list[int]:
    """For each pair: how many patterns have a maximum, over it and the pairs with no larger statistic, as large.

    Squared statistics, (sum d)² / sum d², are fractions. Pairs with equal ones are compared with the same maxima.
    """

    def squared(row: list[int], signs: Iterable[int]) -> Fraction:
        return Fraction(sum(sign * d for sign, d in zip(signs, row, strict=True)) ** 2, sum(d * d for d in row) or 1)

    observed = [squared(row, [1] * len(row)) for row in rows]
    remaining = [[row for row, other in zip(rows, observed, strict=True) if other <= one] for one in observed]
    return [
        sum(max(squared(row, signs) for row in others) >= one for signs in patterns)
        for one, others in zip(observed, remaining, strict=True)
    ]


def studentized_counts(rows: list[list[int | None]], draws: list[list[int]]) -> list[int]:
    """How many samples of the queries have a maximum as large, over each pair and those with smaller statistics.

    The statistic is the square of mean / standard error; None is a query on which the pair is not compared.
    """

    def squared(values: Sequence[Fraction], *, is_sample: bool) -> Fraction | float:
        if len(values) < 2:
            return 0 if not any(values) else math.inf
        mean = sum(values, Fraction()) / len(values)
        error = sum((d - mean) ** 2 for d in values) / (len(values) * (len(values) - 1))
        if not error:
            return math.inf if mean and is_sample else Fraction(0)
        return mean**2 / error

    present = [[Fraction(d) for d in row if d is not None] for row in rows]
    means = [sum(each, Fraction()) / len(each) for each in present]
    observed = [squared(each, is_sample=False) for each in present]
    counts = [0] * len(rows)
    for drawn in draws:
        centred = [
            [Fraction(d) - mean for d in map(row.__getitem__, drawn) if d is not None]
            for row, mean in zip(rows, means, strict=True)
        ]
        resampled = [squared(each, is_sample=True) for each in centred]
        for k, t in enumerate(observed):
            counts[k] += max(r for r, other in zip(resampled, observed, strict=True) if other <= t) >= t
    return counts


def step_down(pvalues: list[Fraction], statistics: list[float]) -> list[Fraction]:
    """The largest p of the pairs whose statistic is as large."""
    return [max(p for p, other in zip(pvalues, statistics, strict=True) if other >= one - 1e-9) for one in statistics]


def share_between(numbers: list[int], groups: Sequence[int]) -> Fraction | None:
    """The squares between groups as a share of all squares; None if all numbers are equal."""

    def mean(chosen: list[int]) -> Fraction:
        return Fraction(sum(chosen), len(chosen))

    total = sum((number - mean(numbers)) ** 2 for number in numbers)
    parts = [[number for number, own in zip(numbers, groups, strict=True) if own == group] for group in {*groups}]
    return sum(len(part) * (mean(part) - mean(numbers)) ** 2 for part in parts) / total if total else None


def variance(numbers: Sequence[int]) -> Fraction:
    """Squares about the mean over how many numbers there are but one; 0 of a single number."""
    mean = Fraction(sum(numbers), len(numbers))
    return sum(((number - mean) ** 2 for number in numbers), Fraction(0)) / max(len(numbers) - 1, 1)


def welch_james(numbers: Sequence[int], groups: Sequence[int]) -> Fraction:
    """sum_g w_g (m_g - m_w)², w_g = n_g / max(s_g², s²/100)."""
    parts = [[number for number, own in zip(numbers, groups, strict=True) if own == group] for group in {*groups}]
    means = [Fraction(sum(part), len(part)) for part in parts]
    weights = [Fraction(len(part)) / max(variance(part), variance(numbers) / 100) for part in parts]
    middle = sum((w * m for w, m in zip(weights, means, strict=True)), Fraction(0)) / sum(weights)
    return sum((w * (m - middle) ** 2 for w, m in zip(weights, means, strict=True)), Fraction(0))


def ways_to_hand_out(sizes: Mapping[int, int]) -> Iterator[tuple[int, ...]]:
    """Every different way to hand out as many labels of each kind."""
    if not any(sizes.values()):
        yield ()
    for label, number in sizes.items():
        if number:
            yield from ((label, *way) for way in ways_to_hand_out({**sizes, label: number - 1}))


def interaction_pvalue(numbers: list[int], groups: list[int], fewest: int = 5) -> Fraction | None:
    """The share of all ways to hand out the groups that are large enough with a statistic at least as large."""
    kept = [(x, group) for x, group in zip(numbers, groups, strict=True) if groups.count(group) >= fewest]
    values, own = [x for x, _ in kept], [group for _, group in kept]
    if len({*own}) < 2 or len({*values}) < 2:
        return None
    statistics = [welch_james(values, way) for way in ways_to_hand_out(Counter(own))]
    return Fraction(sum(statistic >= welch_james(values, own) for statistic in statistics), len(statistics))


OwnedDocument = tuple[int, int, Set[int]]
"""Exposure and grade of a document, and its providers."""


def placement_differences(queries: Sequence[Sequence[OwnedDocument]], provider: int) -> list[Fraction]:
    """D of each query on which the provider and others have documents of one grade."""
    found = []
    for documents in queries:
        difference, is_shared = Fraction(0), False
        for grade in {grade for _, grade, _ in documents}:
            same = [e for e, other, _ in documents if other == grade]
            own = [e for e, other, owners in documents if other == grade and provider in owners]
            is_shared |= 0 < len(own) < len(same)
            difference += sum(own) - len(own) * Fraction(sum(same), len(same))
        if is_shared:
            found.append(difference)
    return found


def squared_placement(differences: Sequence[Fraction]) -> Fraction | float:
    """T² of mean(D)/(sd(D)/√Q')."""
    n, mean = len(differences), sum(differences) / len(differences)
    squares = sum(((one - mean) ** 2 for one in differences), Fraction(0))
    if not squares:
        return math.inf if mean else Fraction(0)
    return mean**2 * n * (n - 1) / squares


def ways_to_permute_owners(documents: Sequence[OwnedDocument]) -> list[list[OwnedDocument]]:
    """The documents of a query with their owners permuted among those of the same grade, in every way."""
    ways: list[list[OwnedDocument]] = [[]]
    for grade in sorted({grade for _, grade, _ in documents}):
        same = [document for document in documents if document[1] == grade]
        permuted = [
            [(e, grade, owners) for (e, _, _), owners in zip(same, order, strict=True)]
            for order in permutations([owners for _, _, owners in same])
        ]
        ways = [way + more for way in ways for more in permuted]
    return ways


def placement_pvalue(queries: Sequence[Sequence[OwnedDocument]], provider: int) -> Fraction:
    """(1 + #)/(B + 1), where # counts the ways to permute the owners with so large a |T|, of all B."""
    observed = squared_placement(placement_differences(queries, provider))
    ways = [*product(*map(ways_to_permute_owners, queries))]
    as_large = sum(squared_placement(placement_differences(way, provider)) >= observed for way in ways)
    return Fraction(as_large + 1, len(ways) + 1)


def doubled_ranks(sizes: list[int]) -> list[int]:
    """Twice the rank of each size, equal ones sharing the mean of their ranks."""
    return [sum(2 * (other < size) + (other == size) for other in sizes) + 1 for size in sizes]


def signed_rank_pvalue(numbers: list[int]) -> Fraction:
    """Wilcoxon's test by its definition: zeros left out, all signs of the ranks equally likely."""
    untied = [number for number in numbers if number]
    ranks = doubled_ranks([abs(number) for number in untied])
    return share_of_flips([rank if number > 0 else -rank for rank, number in zip(ranks, untied, strict=True)])


def walsh_averages(numbers: list[float]) -> list[float]:
    """The averages of every two of the numbers that are not 0, and of each with itself, in ascending order."""
    untied = [number for number in numbers if number]
    return sorted((x + y) / 2 for place, x in enumerate(untied) for y in untied[place:])


def pseudomedian(numbers: list[float]) -> float:
    """Hodges and Lehmann's estimate."""
    return median(walsh_averages(numbers) or [0.0])


def middles_not_rejected(numbers: list[int], alpha: float) -> tuple[float, float] | None:
    """The least and the greatest average that, as the middle, the signed ranks do not reject; None if they never do.

    A middle beside an average, not on it, so that no difference is 0.
    """
    averages = walsh_averages([*map(float, numbers)])
    beside = [(average, average + shift) for average in averages for shift in (-1e-6, 1e-6)]
    total = 2 ** len(numbers)
    rejected = {}
    for _, middle in [*beside, (0, averages[0] - 1), (0, averages[-1] + 1)]:
        sizes = sorted((number - middle for number in numbers), key=abs)
        below = sum(rank for rank, size in enumerate(sizes, 1) if size < 0)
        lesser = min(below, len(numbers) * (len(numbers) + 1) // 2 - below)
        ways = sum(sum(ranks) <= lesser for ranks in subsets([*range(1, len(numbers) + 1)]))
        rejected[middle] = 2 * Fraction(ways, total) < alpha
    if not rejected[averages[0] - 1]:
        return None
    kept = [average for average, middle in beside if not rejected[middle]]
    return min(kept), max(kept)


def subsets(ranks: list[int]) -> Iterator[list[int]]:
    """All subsets."""
    return ([rank for place, rank in enumerate(ranks) if number >> place & 1] for number in range(2 ** len(ranks)))


def joint_depth(places: Iterable[int]) -> float:
    """Return the depth at which one run would have to have a document that several have at these places."""
    return sum(1 / math.sqrt(place) for place in places) ** -2


def rate_documents(
    qrels: Mapping[str, Mapping[str, float]], runs: Sequence[Mapping[str, Sequence[str]]], level: float
) -> list[tuple[str, str, float, list[float], bool | None]]:
    """List what is retrieved: query, document, joint depth, weights of the runs, whether it is relevant if judged."""
    found = []
    for query, judged in qrels.items():
        rankings = [run.get(query, []) for run in runs]
        for document in dict.fromkeys(document for ranking in rankings for document in ranking):
            places = [ranking.index(document) + 1 if document in ranking else None for ranking in rankings]
            depth = joint_depth(place for place in places if place)
            weights = [math.sqrt(depth / place) if place else 0.0 for place in places]
            grade = judged.get(document, -1)
            found.append((query, document, depth, weights, None if grade < 0 else grade >= level))
    return found


def rate_likelihood(
    documents: list[tuple[str, str, float, list[float], bool | None]],
    intercept: float,
    slope: float,
    levels: Sequence[float],
) -> float:
    """Return the log likelihood that the estimate of rates maximizes, with its prior and its half documents."""

    def half_decade(depth: float) -> int:
        return math.floor(2 * math.log10(depth))

    judged = []
    for query, _, depth, weights, relevant in documents:
        if relevant is not None:
            near = [each[4] for each in documents if each[0] == query and half_decade(each[2]) == half_decade(depth)]
            share = sum(each is not None for each in near) / len(near)
            judged.append((share, [1.0, math.log(depth), *weights], relevant))
    total = sum(share for share, _, _ in judged)
    size = len(judged[0][1])
    middle = [sum(share * features[k] for share, features, _ in judged) / total for k in range(size)]
    point = [intercept, slope, *levels]
    likelihood = -sum(each**2 for each in point[1:]) / 2
    for weight, features, relevant in [*judged, (0.5, middle, True), (0.5, middle, False)]:
        logit = sum(a * b for a, b in zip(point, features, strict=True))
        likelihood += weight * (relevant * logit - math.log1p(math.exp(logit)))
    return likelihood


def label_weights(
    effects: Sequence[Sequence[float]],
    chances: Sequence[float],
    shares: Sequence[float],
    pairs: Sequence[tuple[int, int]],
) -> list[float]:
    """Return by how much each label is expected to move the chances of who is better, added up over pairs."""
    totals = [0.0] * len(chances)
    for (a, b), share in zip(pairs, shares, strict=True):
        moves = [abs(x - y) for x, y in zip(effects[a], effects[b], strict=True)]
        deviation = math.sqrt(sum(c * (1 - c) * move**2 for c, move in zip(chances, moves, strict=True)))
        if deviation > 0:
            normal = NormalDist()
            density = normal.pdf(normal.inv_cdf(share))
            for i, (c, move) in enumerate(zip(chances, moves, strict=True)):
                totals[i] += 2 * c * (1 - c) * move * density / deviation
    return totals


def shared_chance(centre: float, spread: float) -> float:
    """Return the mean of logistic(centre + z) over normal z of this deviation, by the midpoint rule."""
    steps = [-9 + 18 * (k + 0.5) / 4000 for k in range(4000)]
    mass = sum(math.exp(-z * z / 2) for z in steps)
    return sum(math.exp(-z * z / 2) / (1 + math.exp(-centre - spread * z)) for z in steps) / mass


def shared_likelihood(cells: Sequence[Sequence[tuple[float, float, bool]]]) -> float:
    """Return the log likelihood of documents' labels, centre, deviation and label, that share one z in each cell."""
    steps = [-9 + 18 * (k + 0.5) / 4000 for k in range(4000)]
    mass = sum(math.exp(-z * z / 2) for z in steps)
    total = 0.0
    for cell in cells:
        labels = [[1 / (1 + math.exp(-(c + s * z) * (1 if x else -1))) for c, s, x in cell] for z in steps]
        parts = zip(steps, labels, strict=True)
        total += math.log(sum(math.exp(-z * z / 2) * math.prod(each) for z, each in parts) / mass)
    return total


def number_chances(chances: Sequence[float]) -> list[float]:
    """Return the chance of each number of successes, from all outcomes."""
    totals = [0.0] * (len(chances) + 1)
    for outcome in product((0, 1), repeat=len(chances)):
        totals[sum(outcome)] += math.prod(c if x else 1 - c for c, x in zip(chances, outcome, strict=True))
    return totals


def tango(wins: int, losses: int, n: int, z: float) -> tuple[float, float]:
    """Tango's interval: where the score of wins minus losses is z or -z, with the chance of a loss by brute force.

    The likelihood of w wins, l losses and the rest ties is greatest at the root of its derivative, which falls.
    """

    def score(delta: float) -> float:
        low, high = max(0.0, -delta), (1 - delta) / 2
        for _ in range(200):
            middle = (low + high) / 2
            slope = sum(
                sign * number / chance
                for sign, number, chance in (
                    (1, wins, middle + delta), (1, losses, middle), (-2, n - wins - losses, 1 - 2 * middle - delta),
                )
                if number
            )  # fmt: skip
            low, high = (middle, high) if slope > 0 else (low, middle)
        variance = n * (2 * high + delta - delta**2)
        return (wins - losses - n * delta) / math.sqrt(variance) if variance > 0 else math.inf

    def lowest(level: float) -> float:
        low, high = -1.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if score(middle) > level else (low, middle)
        return high

    return (-1.0 if losses == n else lowest(z)), (1.0 if wins == n else lowest(-z))


def sign_test_pvalue(wins: int, losses: int, ties: int = 0) -> Fraction:
    """Twice the chance of so few, of a coin; ties are split, and an odd one is left out."""
    few, many = sorted((wins + ties // 2, losses + ties // 2))
    return min(Fraction(1), 2 * Fraction(sum(math.comb(few + many, x) for x in range(few + 1)), 2 ** (few + many)))


def effective_queries(numbers: list[int]) -> Fraction | None:
    """On how many queries the mean rests: 3 (sum d²)² / sum d⁴, at most those that do not tie; None if all do."""
    untied = len([d for d in numbers if d])
    if not untied:
        return None
    return min(Fraction(untied), Fraction(3 * sum(d**2 for d in numbers) ** 2, sum(d**4 for d in numbers)))


def sign_test_power(untied: int, share: float, alpha: float) -> float:
    """How likely p < alpha is, if each of the queries is won with this chance."""
    return sum(
        math.comb(untied, wins) * share**wins * (1 - share) ** (untied - wins)
        for wins in range(untied + 1)
        if sign_test_pvalue(wins, untied - wins) < alpha
    )


def detectable_share(untied: int, alpha: float, power: float) -> float:
    """The least share of wins with this power, by bisection; infinite if winning all is not enough."""
    if sign_test_power(untied, 1.0, alpha) < power:
        return math.inf
    low, high = 0.5, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if sign_test_power(untied, middle, alpha) >= power else (middle, high)
    return high


# Adjusted p-values: the least level at which the procedure would still reject


def rejected_by_holm(pvalues: list[float], alpha: float) -> list[bool]:
    """Step down from the smallest; stop at the first that is too large."""
    rejected = [False] * len(pvalues)
    for step, index in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        if pvalues[index] > alpha / (len(pvalues) - step):
            break
        rejected[index] = True
    return rejected


def rejected_by_bh(pvalues: list[float], alpha: float) -> list[bool]:
    """Reject all up to the largest p that is within its rank's share of alpha."""
    ascending = sorted(pvalues)
    within = [p for rank, p in enumerate(ascending, 1) if p <= alpha * rank / len(pvalues)]
    return [p <= max(within, default=-1.0) for p in pvalues]


# Pairs of random rankings, each the positions of its relevant documents


def agreement_with_worst_case(
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]], value: Callable[[tuple[int, ...]], Fraction]
) -> Fraction:
    """How often a measure prefers the ranking whose last relevant document is higher, among pairs where one is."""
    separated = [(x, y) if x[-1] < y[-1] else (y, x) for x, y in pairs if x[-1] != y[-1]]
    return Fraction(sum(value(better) > value(worse) for better, worse in separated), len(separated))


# A study; what a measure decides is {(query, first run, second run): sign}, for the pairs that it compares

Decided = Mapping[tuple[str, str, str], int]


def share_tied(decided: Decided) -> Fraction | None:
    return Fraction(sum(sign == 0 for sign in decided.values()), len(decided)) if decided else None


def share_siding(reference: Decided, measure: Decided) -> Fraction | None:
    """Of the pairs that a measure separates, those on which the reference has the same sign; a tie has another."""
    separated = [pair for pair, sign in measure.items() if sign != 0 and pair in reference]
    same = [pair for pair in separated if reference[pair] == measure[pair]]
    return Fraction(len(same), len(separated)) if separated else None


def share_unchanged(now: Decided, full: Decided, *, untied: bool) -> Fraction | None:
    """Of all pairs, or of those that are untied with all labels, those of the same sign now; a tie equals a tie."""
    pairs = [pair for pair in now if pair in full and not (untied and full[pair] == 0)]
    return Fraction(sum(now[pair] == full[pair] for pair in pairs), len(pairs)) if pairs else None


def labels_left(m: int, removed: Fraction) -> int:
    """max(1, round(m (1 - f))), with halves rounded up; 0 if m is 0."""
    return max(1, math.floor(m * (1 - removed) + Fraction(1, 2))) if m else 0


def chance_of_sample(weights: list[int], sample: Iterable[int]) -> Fraction:
    """How likely these documents are drawn one by one, each from what is left in proportion to its weight."""
    chance = Fraction(0)
    for order in permutations(sample):
        left, one = sum(weights), Fraction(1)
        for document in order:
            one *= Fraction(weights[document], left)
            left -= weights[document]
        chance += one
    return chance


# Ids that never meet


def mismatch(
    name: str, run: Mapping[str, Mapping[str, float]], judged: Mapping[str, Mapping[str, float]]
) -> tuple[str, str, tuple[str, ...], tuple[str, ...]] | None:
    """Examples of a run that retrieves no judged document: three ids of each side, for the first query with both."""
    both = [query for query in judged if judged[query] and run.get(query)]
    if not both or any(document in judged[query] for query in both for document in run[query]):
        return None
    retrieved, known = (sorted(side[both[0]], key=str.encode)[:3] for side in (run, judged))
    return name, both[0], tuple(retrieved), tuple(known)


# Who is never worse off than whom: what single steps down reach


def steps_down(levels: tuple[int, ...], m: int, kind: str) -> list[tuple[int, ...]]:
    """Sets that cannot be better off: a document sinks by one level; a user wants the first no more, a provider any."""
    sunk = [
        tuple(level + (i == k) for i, level in enumerate(levels))
        for k, sinking in enumerate(levels)
        if sinking < m and sinking + 1 not in levels
    ]
    dropped = levels[:1] if kind == "users" else levels
    return sunk + [tuple(level for level in levels if level != gone) for gone in dropped if len(levels) > 1]


@lru_cache(maxsize=1024)
def all_below(levels: tuple[int, ...], m: int, kind: str) -> set[tuple[int, ...]]:
    """A set itself and all that steps down lead to."""
    return {levels}.union(*(all_below(below, m, kind) for below in steps_down(levels, m, kind)))


# Groups of a page


def maximal_groups(differs: list[list[bool]]) -> list[list[int]]:
    """Of all intervals without two members that differ, those that are in no other."""
    places = range(len(differs))
    alike = [
        (first, last)
        for first in places
        for last in places[first:]
        if not any(differs[i][j] for i, j in combinations(range(first, last + 1), 2))
    ]
    return [
        [first, last]
        for first, last in alike
        if not any(f <= first and last <= g and (f, g) != (first, last) for f, g in alike)
    ]


def round_numbers(low: float, high: float, count: int) -> list[float]:
    """Give multiples of the least of …, 0.1, 0.2, 0.5, 1, 2, 5, … that gets from low to high in `count` steps."""
    span = Fraction(high) - Fraction(low)
    slack = 1 - Fraction(1, 10**9)
    for exponent in range(-30, 30):
        for factor in (1, 2, 5):
            step = factor * Fraction(10) ** exponent
            if step * count >= span * slack:
                near = 1e-9  # in floats, as a scale has them: what is as near as that must be so for both
                first, last = math.ceil(low / float(step) - near), math.floor(high / float(step) + near)
                return [float(i * step) for i in range(first, last + 1)]
    raise AssertionError("a span that no step covers")


def one_two_five(high: float) -> list[int]:
    """Give the numbers up to high that are a 1, a 2 or a 5 followed by zeros."""
    return [
        int(f"{digit}{'0' * zeros}") for zeros in range(20) for digit in "125" if int(f"{digit}{'0' * zeros}") <= high
    ]


def share_drawn(counts: Sequence[tuple[int, int]], drawn: Sequence[int]) -> Fraction:
    """Return the share of parts in wholes, each query counted as often as it is drawn."""
    parts = sum(part * times for (part, _), times in zip(counts, drawn, strict=True))
    return Fraction(parts, sum(whole * times for (_, whole), times in zip(counts, drawn, strict=True)))


def kendall_tau(x: Sequence[float], y: Sequence[float]) -> float:
    """Return tau-b: concordant less discordant pairs, over the root of the pairs untied in each; nan without any."""
    balance = untied_x = untied_y = 0
    for i, j in combinations(range(len(x)), 2):
        sign_x, sign_y = (x[i] > x[j]) - (x[i] < x[j]), (y[i] > y[j]) - (y[i] < y[j])
        balance += sign_x * sign_y
        untied_x += sign_x != 0
        untied_y += sign_y != 0
    return balance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else math.nan


def fewest_deciding(differences: Sequence[float]) -> int:
    """Return how many differences, at least, must go until the sum of the rest is 0 or has the other sign."""
    total = sum(map(Fraction, differences))
    sign = (total > 0) - (total < 0)
    for size in range(len(differences) + 1):
        for kept in combinations(differences, len(differences) - size):
            if sign * sum(map(Fraction, kept)) <= 0:
                return size
    raise AssertionError("a sum of nothing is 0")


def worst_share(values: Sequence[float], share: str) -> list[float]:
    """Return the lowest values, as many as the share of all, rounded up."""
    return sorted(values)[: math.ceil(Fraction(share) * len(values))]


def counts_above_and_tied(
    scores: Sequence[Sequence[float]], thresholds: Sequence[Sequence[float]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Count for each threshold of each row the scores above it, and those equal to it."""
    rows = list(zip(scores, thresholds, strict=True))
    above = [[sum(score > limit for score in row) for limit in limits] for row, limits in rows]
    tied = [[sum(score == limit for score in row) for limit in limits] for row, limits in rows]
    return above, tied


def one_sided_sign_p(wins: int, losses: int) -> Fraction:
    """Return the chance of so few wins, or fewer, among the queries that do not tie."""
    trials = wins + losses
    return Fraction(sum(math.comb(trials, k) for k in range(wins + 1)), 2**trials)


def binomial_at_most(successes: int, trials: int, chance: Fraction) -> Fraction:
    """P(X <= successes), by adding up."""
    terms = (math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(successes + 1))
    return sum(terms, Fraction(0))


def sign_gate_power(share: float, n: int, untied: int, level: float) -> float:
    """The chance that a one-sided sign test fails a run if this share of n queries is lost, and others move as now.

    A query that is not lost is won or lost with the chance untied/2n each. Every number of wins and losses is gone
    through.
    """
    won = (1 - share) * untied / n / 2
    lost = share + won
    power = 0.0
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            ties = n - wins - losses
            if losses > wins and one_sided_sign_p(wins, losses) < level:
                ways = math.comb(n, wins) * math.comb(n - wins, losses)
                power += ways * won**wins * lost**losses * max(1 - won - lost, 0.0) ** ties
    return power


class Ledger:
    """What the ledger of a gate does, on a list of builds that is gone through for each."""

    def __init__(self, alpha: float, builds: int | None) -> None:
        self.alpha, self.builds = alpha, builds
        self.rows: list[dict[str, Any]] = []

    def begin(self, queries: set[str], digest: str, name: str | None, least_p: float) -> Any:
        """Return number, level, what spends, is known, and has changed, the verdict, and the row; None if refused."""
        related = [row for row in self.rows if row["queries"] & queries]
        named = [row for row in related if row["name"] == name]
        same = [row for row in named if row["digest"] == digest]
        same = [row for row in (same if name is None else named) if row["spends"]] or same
        if same:
            row = same[0]
            return (*row["given"], True, row["digest"] != digest, row["passed"], row)
        number = 1 + sum(row["spends"] for row in related)
        level = 6 * self.alpha / (math.pi * number) ** 2 if self.builds is None else self.alpha / self.builds
        spends = least_p < level
        if spends and self.builds is not None and number > self.builds:
            return None
        row = {"queries": queries, "digest": digest, "name": name, "spends": spends, "passed": None}
        row["given"] = number, level, spends
        self.rows.append(row)
        return (number, level, spends, False, False, None, row)

    def end(self, build: Any, *, passed: bool) -> None:
        """The first verdict is the one that stays."""
        row = build[-1]
        row["passed"] = passed if row["passed"] is None else row["passed"]


def hall_transform(deviation: float, skewness: float, n: int) -> float:
    """Hall's cubic, which makes the t statistic of skewed values nearly symmetric."""
    w, c = deviation, skewness
    return w + c * w**2 / 3 + c**2 * w**3 / 27 + c / (6 * n)


def sample_moments(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean, sample deviation and skewness, corrected for the number of values."""
    n, mean = len(values), math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / (n - 1))
    cubes = math.fsum(((x - mean) / deviation) ** 3 for x in values) / n
    return mean, deviation, n**2 / ((n - 1) * (n - 2)) * cubes


def hall_limit(values: Sequence[float], limit: float) -> float:
    """The mean at which the transformed statistic of these values is a limit of t, found by halving."""
    n, (mean, deviation, skewness) = len(values), sample_moments(values)
    low, high = -1e6, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        if math.sqrt(n) * hall_transform(middle, skewness, n) < limit:
            low = middle
        else:
            high = middle
    return mean - deviation * low


def holm_by_steps(pvalues: Sequence[float], alpha: float) -> list[bool]:
    """Reject the smallest p below alpha/m, then the next below alpha/(m - 1), and stop at the first that is not."""
    rejected = [False] * len(pvalues)
    for step, index in enumerate(sorted(range(len(pvalues)), key=lambda k: pvalues[k])):
        if not pvalues[index] < alpha / (len(pvalues) - step):
            break
        rejected[index] = True
    return rejected


def lost_documents(
    relevant: Iterable[str], old: Sequence[str], new: Sequence[str], depth: int | None = None
) -> dict[str, int]:
    """Return the relevant documents of the old list that are not in the new one, with their old places."""
    return {
        document: old.index(document) + 1
        for document in relevant
        if document in old[:depth] and document not in new[:depth]
    }


# Labels that are missing


def likely_labellings(chances: Mapping[str, float]) -> Iterator[tuple[set[str], float]]:
    """Give every choice of relevant ones among unjudged documents, with its chance if each has its own."""
    for chosen in product([False, True], repeat=len(chances)):
        labels = {document for document, is_relevant in zip(chances, chosen, strict=True) if is_relevant}
        yield labels, math.prod(chance if document in labels else 1 - chance for document, chance in chances.items())


def reversal_chance(
    sign: Callable[[set[str], Sequence[str], Sequence[str]], int],
    relevant: set[str],
    x: Sequence[str],
    y: Sequence[str],
    chances: Mapping[str, float],
) -> float:
    """Return the chance that labels turn the sign between two rankings round; `sign` takes what is relevant."""
    now = sign(relevant, x, y)
    return sum(chance for labels, chance in likely_labellings(chances) if sign(relevant | labels, x, y) == -now)


def recall_sign(cutoff: int) -> Callable[[set[str], Sequence[str], Sequence[str]], int]:
    """Compare how many relevant documents two rankings have within a cut-off."""

    def sign(relevant: set[str], x: Sequence[str], y: Sequence[str]) -> int:
        difference = len(relevant & set(x[:cutoff])) - len(relevant & set(y[:cutoff]))
        return (difference > 0) - (difference < 0)

    return sign


def value_sign(name: str, direction: int) -> Callable[[set[str], Sequence[str], Sequence[str]], int]:
    """Compare the values of a measure, of which the undefined are the worst."""

    def sign(relevant: set[str], x: Sequence[str], y: Sequence[str]) -> int:
        judged = dict.fromkeys(relevant, 1.0)
        return better(
            direction, *(value(name, {}, Case(grades_shown([*documents], judged), judged)) for documents in (x, y))
        )

    return sign


def lexirecall_sign(relevant: set[str], x: Sequence[str], y: Sequence[str]) -> int:
    """Compare two rankings by LexiRecall; a document that is not retrieved is at infinity."""
    places = [
        sorted(ranking.index(document) if document in ranking else math.inf for document in relevant)
        for ranking in (x, y)
    ]
    for mine, theirs in zip(*map(reversed, places), strict=True):
        if mine != theirs:
            return 1 if mine < theirs else -1
    return 0


# Through the stages of a funnel


def fate(document: str, lists: Sequence[Sequence[str]], depths: Sequence[int | None]) -> tuple[str, int | None]:
    """Say what became of a relevant document, and which stage lost it."""
    handed_on = [set(documents[:depth]) for documents, depth in zip(lists, depths, strict=True)]
    seen = [stage for stage, documents in enumerate(lists) if document in set(documents)]
    if document in handed_on[-1]:
        return "kept", None
    if not seen:
        return "never", None
    stage = seen[-1]
    if document in handed_on[stage]:
        return "dropped", stage + 1
    if stage > 0 and document in handed_on[stage - 1] & set(lists[stage - 1][: depths[stage]]):
        return "pushed_down", stage
    return "cut", stage


def from_elsewhere(relevant: set[str], lists: Sequence[Sequence[str]], depths: Sequence[int | None]) -> list[set[str]]:
    """Return, for each stage, the relevant documents of its list that the stage before did not hand on."""
    before = [set(documents[:depth]) for documents, depth in zip(lists, depths, strict=True)]
    return [set(), *(relevant & set(documents) - given for documents, given in zip(lists[1:], before, strict=False))]


# What nobody has judged


def labellings(
    judged: Mapping[str, float], lists: Iterable[Sequence[str]], grade: float
) -> Iterator[tuple[int, dict[str, float]]]:
    """Give every way to make unjudged documents of the lists relevant: how many they are, and the judgments then."""
    unjudged = sorted({document for documents in lists for document in documents if judged.get(document, -1) < 0})
    for number in range(len(unjudged) + 1):
        for chosen in combinations(unjudged, number):
            yield number, {**judged, **dict.fromkeys(chosen, grade)}


def flip_number(
    judged: Mapping[str, float],
    x: Sequence[str],
    y: Sequence[str],
    grade: float,
    sign: Callable[[Mapping[str, float]], int],
) -> float:
    """Return the size of the smallest labelling that turns the sign round; infinite if none does, nan for a tie."""
    now = sign(judged)
    if now == 0:
        return math.nan
    return min((number for number, then in labellings(judged, [x, y], grade) if sign(then) == -now), default=math.inf)


def value_range(
    judged: Mapping[str, float], documents: Sequence[str], grade: float, value: Callable[[Mapping[str, float]], float]
) -> tuple[float, float]:
    """Return the lowest and the highest value over all labellings of a ranking; what is undefined is left out."""
    values = [value(then) for _, then in labellings(judged, [documents], grade)]
    return min(v for v in values if not math.isnan(v)), max(v for v in values if not math.isnan(v))


def lexirecall_flip(relevant: set[str], unjudged: set[str], winner: Sequence[str], loser: Sequence[str]) -> float:
    """Return the flip number in the words of the specification, without trying every labelling.

    The loser finds one document more than the winner; or it finds as many, and a place decides for it below which the
    labels of both rankings are equal.
    """
    lacking = len(relevant & {*winner}) - len(relevant & {*loser})
    costs = [lacking + 1.0] if len(unjudged & {*loser} - {*winner}) > lacking else []
    places = range(1, max(len(winner), len(loser)) + 1)
    costs += [_cost_of_deciding_at(place, relevant, unjudged, winner, loser, lacking) for place in places]
    return min(costs, default=math.inf)


def _cost_of_deciding_at(
    place: int, relevant: set[str], unjudged: set[str], winner: Sequence[str], loser: Sequence[str], lacking: int
) -> float:
    rows = [dict(enumerate(documents, 1)) for documents in (winner, loser)]
    groups = [{document} for document in {*winner, *loser, ""}]  # "" is what a list holds beyond its end
    for p in range(place + 1, max(len(winner), len(loser)) + 1):
        tied = [group for group in groups if {row.get(p, "") for row in rows} & group]
        groups = [group for group in groups if group not in tied] + [set().union(*tied)]
    labelled = next(group for group in groups if rows[0].get(place, "") in group)
    refused = next(group for group in groups if rows[1].get(place, "") in group)
    needed = [group for group in groups if group & relevant or group == labelled]
    if any(group - relevant - unjudged or group == refused for group in needed):
        return math.inf

    def moves(group: set[str]) -> int:
        """How many more documents the winner finds, if the group is labelled."""
        return len(group & unjudged & {*winner}) - len(group & unjudged & {*loser})

    ahead = lacking + sum(map(moves, needed))
    free = [group for group in groups if group <= unjudged and group not in (*needed, refused)]
    helpful = sorted(len(group) for group in free if moves(group) * ahead < 0)
    if len(helpful) < abs(ahead):
        return math.inf
    return sum(len(group & unjudged) for group in needed) + sum(helpful[: abs(ahead)])


# Samples of what was not read: every sample is as likely as any other


@lru_cache(maxsize=4096)
def chance_of_finds(population: int, relevant: int, size: int) -> tuple[Fraction, ...]:
    """Return the chance of 0, 1, … relevant ones in a sample, by looking at every sample; the first are relevant."""
    counts = Counter(
        sum(document < relevant for document in sample) for sample in combinations(range(population), size)
    )
    total = sum(counts.values())
    return tuple(Fraction(counts[number], total) for number in range(size + 1))


def possible_numbers(population: int, size: int, found: int, alpha: Fraction, *, below: bool) -> list[int]:
    """Return the numbers of relevant ones that do not make so few (or so many) finds less likely than alpha."""
    kept = []
    for relevant in range(population + 1):
        chances = chance_of_finds(population, relevant, size)
        if sum(chances[: found + 1] if below else chances[found:]) > alpha and chances[found] > 0:
            kept.append(relevant)
    return kept


def stopped_at(
    ranking: Sequence[str], grades: Mapping[str, float], depth: int, wanted: Fraction
) -> tuple[int, int, int | None]:
    """Return how many relevant documents there are and were found, and the least depth that finds enough of them."""
    relevant = {document for document, grade in grades.items() if grade >= 1}
    found_at = [len(relevant & {*ranking[:k]}) for k in range(len(ranking) + 1)]
    ideal = [k for k, found in enumerate(found_at) if Fraction(found, len(relevant)) >= wanted]
    return len(relevant), found_at[min(depth, len(ranking))], ideal[0] if ideal else None


# Learning to find everything: the ordered loss, and ways to fuse runs


def soft_position(score: float, others: Sequence[float], counts: Sequence[float], temperature: float) -> float:
    """Return 1 plus how much each document that is not relevant is above this one, as often as it counts."""

    def share(distance: float) -> float:
        """Return the sigmoid, without the exp of a large number."""
        return 1 / (1 + math.exp(-distance)) if distance > 0 else math.exp(distance) / (1 + math.exp(distance))

    distances = ((other - score) / temperature for other in others)
    return 1 + math.fsum(count * share(distance) for distance, count in zip(distances, counts, strict=True))


def ordered_loss(
    relevant: Sequence[float],
    others: Sequence[float],
    counts: Sequence[float],
    discount: float,
    temperature: float = 1.0,
) -> float:
    """Return the weighted mean of the log soft positions, the last one first: weights 1, d, d^2, …, normalised."""
    positions = sorted((soft_position(score, others, counts, temperature) for score in relevant), reverse=True)
    weights = [discount**k for k in range(len(positions))]
    terms = [weight * math.log(position) for weight, position in zip(weights, positions, strict=True)]
    return math.fsum(terms) / math.fsum(weights) if positions else 0.0


def ordered_loss_of_list(
    scores: Sequence[float],
    relevant: Set[int],
    discount: float,
    temperature: float,
    absent: Set[int] = frozenset(),
    stands_for: Sequence[float] | None = None,
) -> float:
    """Return the same for a list of scores, of which some are of relevant documents and some of none."""
    others = [j for j in range(len(scores)) if j not in relevant and j not in absent]
    counts = [1.0 if stands_for is None else stands_for[j] for j in others]
    return ordered_loss([scores[i] for i in relevant], [scores[j] for j in others], counts, discount, temperature)


def fused_scores(rankings: Sequence[Mapping[str, float]], method: str) -> dict[str, float]:
    """Fuse runs, each {document: score}, without learning; equal scores are ordered by id, the highest first."""
    lists = [sorted(run, key=lambda document: (run[document], document), reverse=True) for run in rankings]
    union = {document for run in lists for document in run}
    made = dict.fromkeys(union, 0.0)
    for documents, run in zip(lists, rankings, strict=True):
        low, high = min(run.values(), default=0.0), max(run.values(), default=0.0)
        for document in union:
            if method == "RRF":
                made[document] += 1 / (60 + documents.index(document) + 1) if document in run else 0.0
            elif method == "CombSUM":
                share = 1.0 if low == high else (run.get(document, low) - low) / (high - low)
                made[document] += share if document in run else 0.0
            else:
                points = list(range(len(union), 0, -1))
                left = points[len(documents) :]
                made[document] += points[documents.index(document)] if document in run else sum(left) / len(left)
    return made


# Policies: rankers that draw each ranking by lot; every ranking is looked at, with how likely it is


def plackett_luce(scores: Mapping[str, float], temperature: float = 1) -> dict[tuple[str, ...], float]:
    """How likely each ranking is: the first is drawn by its strength, then the next among those that are left."""
    strengths = {document: math.exp(score / temperature) for document, score in scores.items()}
    chances: dict[tuple[str, ...], float] = {}
    for order in permutations(scores):
        left = [sum(strengths[document] for document in order[i:]) for i in range(len(order))]
        chances[order] = math.prod((strengths[document] / left[i] for i, document in enumerate(order)), start=1.0)
    return chances


def places_in(ranking: Sequence[str], documents: Sequence[str]) -> tuple[float, ...]:
    """Where the documents are; what the ranking lacks is at infinity."""
    return tuple(ranking.index(document) + 1.0 if document in ranking else math.inf for document in documents)


def user_expectations(
    chances: Sequence[tuple[Sequence[str], float]],
    relevant: Sequence[str],
    value_of: Callable[[Case], float],
    n: Any = None,
) -> list[float]:
    """What each user can expect, in the order of the bit masks: what each ranking is worth to it, times its chance."""
    users = [[relevant[i - 1] for i in levels] for levels in nonempty_sets(len(relevant))]
    return [sum(p * value_of(case_of_user(places_in(r, wanted), n)) for r, p in chances) for wanted in users]


def expected_sign(
    a: Sequence[tuple[Sequence[str], float]],
    b: Sequence[tuple[Sequence[str], float]],
    relevant: Sequence[str],
    compare: Callable[[list[float], list[float]], float],
) -> tuple[float, float]:
    """How likely a ranking of a is preferred to one of b, and the other way round."""
    wins = losses = 0.0
    for (x, p), (y, q) in product(a, b):
        preferred = compare(sorted(places_in(x, relevant)), sorted(places_in(y, relevant)))
        wins, losses = wins + p * q * (preferred > 0), losses + p * q * (preferred < 0)
    return wins, losses


def tried_on_the_other_half(
    rankings: Sequence[Sequence[str]], relevant: Sequence[str], value_of: Callable[[Case], float], n: Any = None
) -> float:
    """Choose the user with the lowest mean over the 1st, 3rd, … ranking, and return its mean over the 2nd, 4th, …."""
    chosen, tried = ([(r, 1 / len(half)) for r in half] for half in (rankings[0::2], rankings[1::2] or rankings))
    means = user_expectations(chosen, relevant, value_of, n)
    return user_expectations(tried, relevant, value_of, n)[means.index(min(means))]


# pref_eval's way to one order of runs


def ordered_on_each(values: list[list[Fraction]], present: set[int]) -> Signs:
    """Order those who take part by the sum of their preferences over the others, and compare them by that."""
    sums = {s: sum((values[s][t] for t in present if t != s), Fraction(0)) for s in present}

    def sign(a: int, b: int) -> int:
        return (sums[a] > sums[b]) - (sums[a] < sums[b]) if {a, b} <= present else 0

    return [[sign(a, b) for b in range(len(values))] for a in range(len(values))]

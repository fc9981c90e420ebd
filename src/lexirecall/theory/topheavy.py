"""Top-heaviness: whether a measure's value can only fall when relevant documents are left out from the top.

Belongs here: the definition, checked on all small cases, and what follows for the worst case. Not here: the worst case
itself (population).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.measures import Measure
from lexirecall.measures.form import exposures_at, recall_level_form, weights_of
from lexirecall.measures.measure import TOLERANCE
from lexirecall.names import parse_measure


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Where a measure breaks the definition of a top-heavy recall-level measure."""

    problem: str
    """What is wrong, in words."""
    positions: tuple[int, ...] = ()
    """p_1 … p_m, or the positions at which e is wrong."""
    dropped: int = 0
    """j, the number of relevant documents left out from the top."""


def is_top_heavy(measure: Measure | str, *, max_relevant: int = 5, corpus_size: int = 12) -> bool:
    """Tell whether a measure is a top-heavy recall-level measure, by trying all small cases.

    Recall-level: e decreases strictly, is not negative and does not depend on m; z is not negative. Top-heavy: the
    value does not rise when the first j relevant documents no longer count as relevant, for every m up to
    `max_relevant`, every placement p_1 < … < p_m in a corpus of n = `corpus_size`, and every j in 0 … m-1:
    sum_(i<=m) e(p_i) z(i, m) >= sum_(j<i<=m) e(p_i) z(i-j, m-j), up to 1e-12 of the right side. For e(i) = 1 - i/n, n
    is this corpus size. So False is proved, and True is not: a larger case may still fail.

    >>> [is_top_heavy(name) for name in ("AP", "RR", "nDCG", "RBP", "TSE(e=linear)", "Rprec", "R@5", "SL3")]
    [True, True, True, True, True, False, False, False]

    Reference: DiazEM25, Definition 2.
    """
    return top_heavy_counterexample(measure, max_relevant=max_relevant, corpus_size=corpus_size) is None


def top_heavy_counterexample(
    measure: Measure | str, *, max_relevant: int = 5, corpus_size: int = 12
) -> Counterexample | None:
    """Return a case in which a measure is not top-heavy, with few relevant documents; None if no small case fails.

    >>> cubic = Measure("Cubic", "a weight that falls too fast", exposure=lambda i: 1 / i, weight=lambda i, m: 1 / m**3)
    >>> print(top_heavy_counterexample(cubic).problem)
    the positions (1, 2) have the value 0.1875, but 0.5 without the first 1
    """
    if not 1 <= max_relevant <= corpus_size:
        raise UsageError(f"{max_relevant:,} relevant documents do not fit in a corpus of {corpus_size:,}")
    measure = recall_level_form(parse_measure(measure), corpus_size)
    if measure.direction == -1:
        return Counterexample("lower values are better")
    return _counterexample(measure, max_relevant, corpus_size)


@lru_cache(maxsize=256)
def _counterexample(measure: Measure, max_relevant: int, n: int) -> Counterexample | None:
    problem = _exposure_problem(measure, max_relevant, n) or _weight_problem(measure, max_relevant, n)
    return problem or next(filter(None, (_rise(measure, m, n) for m in range(2, max_relevant + 1))), None)


def _exposure_problem(measure: Measure, max_relevant: int, n: int) -> Counterexample | None:
    cutoff = int(measure.cutoff_in(n) or 0)
    positions = np.array([*range(1, n + 1), *range(max(cutoff, n) + 1, cutoff + 3)], float)  # and two beyond a cut-off
    of_m = [exposures_at(measure, positions, m, n) for m in range(1, max_relevant + 1)]
    for i, j, e_i, e_j in zip(positions, positions[1:], of_m[0], of_m[0][1:], strict=False):
        if not e_i > e_j:
            return Counterexample(f"e({i:g}) = {e_i:g} is not above e({j:g}) = {e_j:g}", (int(i), int(j)))
    if of_m[0][-1] < 0:
        return Counterexample(f"e({n}) = {of_m[0][-1]:g} is negative", (n,))
    is_same = all(np.array_equal(exposures, of_m[0]) for exposures in of_m)
    return None if is_same else Counterexample("e depends on m, the number of relevant documents")


def _weight_problem(measure: Measure, max_relevant: int, n: int) -> Counterexample | None:
    for m in range(1, max_relevant + 1):
        for i, weight in enumerate(weights_of(measure, m, n), 1):
            if not weight >= 0:
                return Counterexample(f"z({i}, {m}) = {weight:g} is not 0 or more")
    return None


def _rise(measure: Measure, m: int, n: int) -> Counterexample | None:
    """Find a placement of m documents with a value that rises when the first j are left out."""
    placements = np.array(list(combinations(range(1, n + 1), m)))
    exposures = exposures_at(measure, placements.astype(float), m, n)
    values = exposures @ weights_of(measure, m, n)
    for j in range(1, m):
        without = exposures[:, j:] @ weights_of(measure, m - j, n)
        if (worse := np.flatnonzero(values < without * (1 - TOLERANCE))).size:
            at = worse[0]
            where = tuple(placements[at].tolist())
            problem = f"the positions {where} have the value {values[at]:g}, but {without[at]:g} without the first {j}"
            return Counterexample(problem, where, j)
    return None


def closed_form_problem(measure: Measure) -> str:
    """Say why e(p_m) may not be the utility of the worst-off user; empty if it is.

    >>> from lexirecall.measures import AP, RBP
    >>> closed_form_problem(AP), closed_form_problem(Measure("Half", "of it", lambda p: 1 / p, lambda i: i / 2))
    ('', 'z(1, 1) = 0.5 is not 1')
    """
    if (found := top_heavy_counterexample(measure)) is not None:
        return found.problem
    first = weights_of(measure, 1, None)[0]
    return "" if abs(first - 1) <= TOLERANCE else f"z(1, 1) = {first:g} is not 1"

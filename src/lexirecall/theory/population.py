"""Robustness: the possible users and providers of one ranking, the worst-off among them, and leximin.

Belongs here: utilities of all non-empty sets of the relevant documents, by enumeration; the worst case in closed form.
Not here: for which measures that holds (topheavy), providers known by name (measures.providers).

Each of the 2^m - 1 non-empty sets of relevant documents is a possible user, who wants only these from the unchanged
ranking. It is also a possible provider, who gains their exposure. Documents that were not retrieved have the same place
for all users: the bottom of the corpus if its size n is given and the measure uses n (TSE), and infinity otherwise.
There AP, nDCG, RR and RBP see nothing, with or without n, unless imputation="paper" lets them see the bottom too.
For providers, missing documents are exposed at the bottom if n is given, and not at all otherwise.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lexirecall.errors import UsageError, choice, counted
from lexirecall.exposure import EXPOSURES
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Conventions
from lexirecall.measures import TSE, Measure
from lexirecall.measures.form import exposures_at, recall_level_form, weights_of
from lexirecall.names import parse_measure
from lexirecall.theory.topheavy import closed_form_problem

MAX_ENUMERATED = 20
"""How many relevant documents there may be for all their sets to be enumerated."""

Where = Sequence[int] | IntArray
Exposure = str | Measure | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One possible user or provider."""

    levels: tuple[int, ...]
    """Which of the relevant documents, counted from the top: i for the one at p_i."""
    positions: tuple[float, ...]
    utility: float


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The utilities of all possible users, or providers, of one ranking.

    >>> users = user_utilities("AP", [1, 3, 7])
    >>> len(users), users.worst
    (7, Member(levels=(3,), positions=(7.0,), utility=0.14285714285714285))
    >>> users.member(0b101)  # who wants the first and the third document
    Member(levels=(1, 3), positions=(1.0, 7.0), utility=0.6428571428571428)
    """

    positions: FloatArray
    """p_1 … p_m; what was not retrieved is at the bottom of the corpus, or at infinity."""
    utilities: FloatArray
    """Of the sets with bit mask 1, 2, … 2^m - 1; bit i - 1 is the document at p_i."""
    direction: Literal[1, -1] = 1
    """-1 if lower is better: then the worst-off has the highest value."""

    def __len__(self) -> int:
        return len(self.utilities)

    @property
    def masks(self) -> IntArray:
        """The bit masks of the sets, in the order of the utilities."""
        return np.arange(1, len(self) + 1)

    def member(self, mask: int) -> Member:
        """Return the member that wants the documents of a bit mask."""
        if not 1 <= mask <= len(self):
            raise UsageError(f"the mask is {mask}, but must be from 1 to {len(self)}")
        levels = tuple(i for i in range(1, len(self.positions) + 1) if mask >> (i - 1) & 1)
        positions = tuple(float(self.positions[i - 1]) for i in levels)
        return Member(levels, positions, float(self.utilities[mask - 1]))

    @property
    def worst(self) -> Member:
        """The worst-off; if several tie, the one with the lowest mask."""
        return self.member(int(np.argmin(self.direction * self.utilities)) + 1)

    @property
    def best(self) -> Member:
        """The best-off; if several tie, the one with the lowest mask."""
        return self.member(int(np.argmax(self.direction * self.utilities)) + 1)


def user_utilities(
    measure: Measure | str,
    positions: Where,
    num_relevant: int | None = None,
    *,
    corpus_size: int | None = None,
    imputation: str = "pessimistic",
) -> Population:
    """Return the utilities of all possible users of a ranking: μ(π, u) for every non-empty u ⊆ R.

    This is the definition. It takes any measure given by exposure and weight or by `of_positions`, top-heavy or not,
    and nDCG with every grade 1. The cost grows as m 2^m; m is at most 20, which takes half a second and 130 MB.

    >>> user_utilities("Rprec", [1, 2, 3]).worst.utility, user_utilities("AP", [1, 2, 3]).worst.utility
    (0.0, 0.3333333333333333)

    Reference: DiazEM25, possible information needs.
    """
    measure = parse_measure(measure)
    if not (is_function := measure.of_positions is not None):
        measure = recall_level_form(measure, corpus_size)
    at_bottom = is_function or _sees_bottom(measure, corpus_size, imputation)
    placed = _placed(positions, num_relevant, corpus_size, at_bottom=at_bottom)
    utilities = np.empty(2 ** _enumerable(len(placed)) - 1)
    for where, members in sets_by_size(len(placed)):
        utilities[where] = _values(measure, placed, members, corpus_size)
    return Population(placed, utilities, measure.direction)


def provider_utilities(
    exposure: Exposure, positions: Where, num_relevant: int | None = None, *, corpus_size: int | None = None
) -> Population:
    """Return the exposures of all possible providers of a ranking: η(π, R, v) = sum of e(p_i) over v, for every v ⊆ R.

    The exposure is a name (`"ap"`, `"dcg"`, `"rbp"`, `"linear"`), a measure that has it, such as `RBP(p=0.5)`, or a
    function from an array of positions to their exposures. The cost grows as 2^m; m is at most 20.

    >>> provider_utilities("ap", [1, 2, 4]).utilities.tolist()
    [1.0, 0.5, 1.5, 0.25, 1.25, 0.75, 1.75]

    Reference: DiazEM25, possible provider preferences.
    """
    placed = _placed(positions, num_relevant, corpus_size)
    sums = np.zeros(1)
    for seen in exposures_at(_exposure(exposure, corpus_size), placed, _enumerable(len(placed)), corpus_size):
        sums = np.concatenate([sums, sums + seen])
    return Population(placed, sums[1:])


def worst_case_user(
    measure: Measure | str,
    positions: Where,
    num_relevant: int | None = None,
    *,
    corpus_size: int | None = None,
    imputation: str = "pessimistic",
) -> float:
    """Return the utility of the worst-off possible user in closed form: e(p_m), which is TSE with the measure's e.

    That is the minimum over all users if the measure is top-heavy with z(1, 1) = 1. Any other measure is refused: use
    `user_utilities(…).worst`. If a document was not retrieved, the worst case of AP, nDCG, RR and RBP is 0, with or
    without n. That of TSE is e(n) if n is given, and with imputation="paper" so is that of the others.

    >>> worst_case_user("AP", [2, 3, 8]), worst_case_user("AP", [2, 3, 8], num_relevant=6, corpus_size=1000)
    (0.125, 0.0)
    >>> worst_case_user("TSE", [2, 3, 8], num_relevant=6, corpus_size=1000)
    0.001
    >>> worst_case_user("AP", [2, 3, 8], num_relevant=6, corpus_size=1000, imputation="paper")
    0.001
    >>> worst_case_user("Rprec", [1, 2])
    Traceback (most recent call last):
    lexirecall.errors.UsageError: the closed form e(p_m) does not hold for Rprec: e(2) = 0 is not above e(3) = 0
      user_utilities(…).worst finds the worst case, for up to 20 relevant documents

    Reference: DiazEM25, worst case and total search efficiency.
    """
    measure = recall_level_form(parse_measure(measure), corpus_size)
    if problem := closed_form_problem(measure):
        remedy = f"user_utilities(…).worst finds the worst case, for up to {MAX_ENUMERATED} relevant documents"
        raise UsageError(f"the closed form e(p_m) does not hold for {measure}: {problem}", remedy=remedy)
    at_bottom = _sees_bottom(measure, corpus_size, imputation)
    placed = _placed(positions, num_relevant, corpus_size, at_bottom=at_bottom)
    return float(exposures_at(measure, placed[-1:], 1, corpus_size)[0])


def worst_case_provider(
    exposure: Exposure, positions: Where, num_relevant: int | None = None, *, corpus_size: int | None = None
) -> float:
    """Return the exposure of the worst-off possible provider in closed form: e(p_m), for any e that decreases.

    >>> worst_case_provider("ap", [2, 3, 8]), worst_case_provider("ap", [2, 3, 8], num_relevant=6, corpus_size=1000)
    (0.125, 0.001)

    Reference: DiazEM25, worst case and total search efficiency.
    """
    placed = _placed(positions, num_relevant, corpus_size)
    seen = exposures_at(_exposure(exposure, corpus_size), placed, len(placed), corpus_size)
    if not (np.all(seen[1:] <= seen[:-1]) and seen[-1] >= 0):
        remedy = f"provider_utilities(…).worst takes any exposure, for up to {MAX_ENUMERATED} relevant documents"
        problem = f"is {seen.tolist()} at the positions {placed.tolist()}"
        raise UsageError(f"exposure must not grow with depth or be negative, but {problem}", remedy=remedy)
    return float(seen[-1])


def leximin(x: Iterable[Any], y: Iterable[Any], *, tolerance: float = 0) -> int:
    """Compare two vectors of utilities from the worst-off up: 1 if x is preferred, -1 if y is, 0 if they tie.

    Both are sorted, and the first difference decides. Numbers are compared as they are, so integers and fractions are
    exact. Sums of floats are not: give a tolerance, such as 1e-12, up to which two of them count as equal.

    >>> leximin([0.04, 0.01, 0.12], [0.01, 0.07, 0.04])  # .01 and .04 tie, so .12 > .07 decides
    1

    Reference: DiazEM25, lexicographic recall.
    """
    lowest_x, lowest_y = sorted(x), sorted(y)
    if len(lowest_x) != len(lowest_y):
        raise UsageError(
            f"leximin compares vectors of equal length, not of lengths {len(lowest_x)} and {len(lowest_y)}"
        )
    if any(value != value for value in (*lowest_x, *lowest_y)):  # noqa: PLR0124 - only nan differs from itself
        raise UsageError("leximin needs every utility, but some are undefined (nan)")
    for a, b in zip(lowest_x, lowest_y, strict=True):
        if a != b and abs(a - b) > tolerance:
            return 1 if a > b else -1
    return 0


def _sees_bottom(measure: Measure, corpus_size: int | None, imputation: str) -> bool:
    """Tell whether the measure sees what was not retrieved at the bottom of the corpus."""
    choice("imputation", imputation, ("pessimistic", "paper"))
    Conventions(imputation=imputation).require_corpus_size(corpus_size)
    return measure.corpus != "ignored" or (imputation == "paper" and not measure.is_cut)


def _exposure(exposure: Exposure, corpus_size: int | None) -> Measure:
    """Return a measure with this exposure; a missing document has none unless it is placed at the bottom."""
    if isinstance(exposure, str):
        choice("exposure", exposure, EXPOSURES)
        exposure = TSE(e=exposure)
    if isinstance(exposure, Measure):
        return replace(recall_level_form(exposure, corpus_size), corpus="ignored")
    return Measure("exposure", "a provider's own exposure", exposure, np.ones_like)


def _values(measure: Measure, placed: FloatArray, members: IntArray, n: int | None) -> FloatArray:
    """Return the value of each set of documents, one row each, all of the same size."""
    if measure.of_positions is not None:
        return np.array([measure.of_positions(placed[row]) for row in members])
    size = members.shape[1]
    weights = weights_of(measure, size, n)
    counts = weights != 0  # where the weight is 0, the position does not matter, even at infinity
    exposures = exposures_at(measure, placed, size, n)[members[:, counts]]
    return np.asarray((exposures * weights[counts]).sum(axis=1))


def sets_by_size(m: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Give, for each size, where the sets of this size are in the order of the masks, and their documents, ascending.

    >>> [(where.tolist(), members.tolist()) for where, members in sets_by_size(2)]
    [([0, 1], [[0], [1]]), ([2], [[0, 1]])]
    """
    masks = np.arange(1, 2**m)
    sizes = sum(masks >> bit & 1 for bit in range(m))
    for size in range(1, m + 1):
        where = np.flatnonzero(sizes == size)
        yield where, np.nonzero(masks[where, None] >> np.arange(m) & 1)[1].reshape(-1, size)


def _enumerable(m: int) -> int:
    if m > MAX_ENUMERATED:
        problem = f"{m} relevant documents have 2^{m} - 1 sets: enumeration stops at {MAX_ENUMERATED} documents"
        raise UsageError(problem, remedy="use worst_case_user or worst_case_provider, which do not enumerate")
    return m


def _placed(positions: Where, num_relevant: int | None, n: int | None, *, at_bottom: bool = True) -> FloatArray:
    """Return p_1 … p_m; what was not retrieved is at the bottom of the corpus if that is known and wanted."""
    found = sorted(float(p) for p in positions)
    m = len(found) if num_relevant is None else num_relevant
    if not all(p >= 1 and p.is_integer() for p in found) or not m >= len(set(found)) == len(found) or m < 1:
        remedy = "give one or more relevant documents, at different positions 1, 2, …"
        raise UsageError(
            f"{counted(m, 'relevant document')} cannot be at the positions {list(positions)}", remedy=remedy
        )
    missing = m - len(found)
    if n is not None and max(found, default=0) + missing > n:
        problem = f"{counted(m, 'relevant document')} (retrieved at {list(positions)}) cannot fit in a corpus of {n:,}"
        raise UsageError(problem)
    tail = range(n - missing + 1, n + 1) if n is not None and at_bottom else [np.inf] * missing
    return np.array([*found, *tail])

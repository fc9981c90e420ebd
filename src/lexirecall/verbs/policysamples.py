"""Policy samples: runs that are samples of policies, and what they say about users and about pairs of policies.

Belongs here: which runs belong to which policy, the worst-off user of each query, and how often one policy is preferred
to another. Not here: who can be worst off (theory.expectations), how that is shown (policyscores).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import UsageError, listed, shown
from lexirecall.judgments import SMALLEST_GRADE, BoolArray, FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.measures.form import recall_level_form
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import Preference
from lexirecall.theory.expectations import MAX_WANTED, Utility, chosen_and_tried, standard_error
from lexirecall.verbs.rank import contrasted

if TYPE_CHECKING:
    from lexirecall.preferences.contrasts import Contrasts


def samples_of(runs: Sequence[str]) -> dict[str, IntArray]:
    """Return the policies, each with the numbers of the runs that are its samples, in the order given.

    >>> {policy: runs.tolist() for policy, runs in samples_of(["a#1.run", "b#1.run", "a#2.run"]).items()}
    {'a': [0, 2], 'b': [1]}
    """
    if unnamed := [run for run in runs if not run.rpartition("#")[0]]:
        raise UsageError(
            f"not named as samples of a policy: {listed(map(shown, unnamed))}",
            remedy="name the samples of a policy alike before a #, such as policy#1.run policy#2.run",
        )
    numbers: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        numbers.setdefault(run.rpartition("#")[0], []).append(number)
    return {policy: np.array(indices) for policy, indices in numbers.items()}


@dataclass(frozen=True, slots=True, eq=False)
class WorstOff(FieldEquality):
    """What the worst-off users of one policy can expect, by one measure."""

    values: FloatArray
    """Of each query, [Q]; nan where there are none, or they are not known."""
    error: float
    """The standard error of their mean, over samples."""
    num_large: int = 0
    """How many queries have too many relevant documents for all users to be looked at."""
    num_undefined: int = 0
    """How many have a worst-off user whose utility is undefined."""

    @property
    def mean(self) -> float:
        """The mean over queries, nan if there are none."""
        return mean_of(self.values)


def mean_of(values: FloatArray) -> float:
    """Return the mean of the values that are defined, nan if none is.

    >>> mean_of(np.array([1.0, np.nan, 2.0]))
    1.5
    """
    known = _known(values)
    return float(known.mean()) if len(known) else float("nan")


def has_users(measure: Measure, positions: Positions, level: float) -> bool:
    """Tell whether a measure has a value for each possible user: if it is a sum over recall levels.

    nDCG is one if every relevant document has grade 1, or with rel=.
    """
    if measure.exposure is not None:
        return True
    grades = positions.targets.grades
    is_graded = measure.level(level) == SMALLEST_GRADE and bool((grades[grades > 0] != 1).any())
    try:
        recall_level_form(measure, None if positions.corpus_size is None else 1)
    except UsageError:
        return False
    return not is_graded


class RelevantPlaces:
    """Where each relevant document is in each run, at one level."""

    def __init__(self, projection: Projection) -> None:
        source, found = projection.source, projection.found
        self.projection = projection
        self.offsets, num_queries = source.judgments.offsets, source.shape[1]
        self.is_relevant = source.judgments.grades >= projection.level
        self.places = np.full((source.shape[0], len(self.is_relevant)), np.inf)
        self.places[found.segments.owners // max(num_queries, 1), found.documents] = found.positions

    def of_query(self, query: int, runs: IntArray) -> FloatArray:
        """Return the positions of the relevant documents of a query in some runs, [K, m]."""
        span = slice(*self.offsets[query : query + 2])
        return self.places[runs, span][:, self.is_relevant[span]]

    def utility(self, form: Measure, query: int) -> Utility:
        """Return what rankings of a query are worth to users."""
        source = self.projection.source
        n = None if source.corpus_size is None else int(source.corpus_size[query])
        return Utility.of(form, n, sees_bottom=self.projection.sees_bottom, shares_bottom=source.shares_bottom)


def worst_off(measure: Measure, located: RelevantPlaces, runs: IntArray, counted: BoolArray) -> WorstOff:
    """Find the worst-off user of each query on every other sample of a policy, and return what the others show.

    `counted` says which rankings count, [S, Q]: those of a query without relevant documents as 0.
    """
    num_queries, num_large = counted.shape[1], 0
    tried = np.full((len(runs), num_queries), np.nan)
    form = recall_level_form(measure, None if located.projection.source.corpus_size is None else 1)
    for q, m in enumerate(located.projection.num_relevant.tolist()):
        there = np.flatnonzero(counted[runs, q])
        if m == 0 or not len(there):
            tried[there, q] = 0.0
            continue
        utility, places = located.utility(form, q), located.of_query(q, runs[there])
        if m > MAX_WANTED and utility.worst(places) == "any":
            num_large += 1
            continue
        # The user is chosen on some samples and tried on the others: a minimum of noisy means would be too low.
        _, tried[there, q] = chosen_and_tried(utility, places)
    is_undefined = np.isinf(tried).any(axis=0)
    tried[:, is_undefined] = np.nan
    values = np.array([mean_of(column) for column in tried.T])
    return WorstOff(values, error_over_samples(tried), num_large, int(is_undefined.sum()))


def error_over_samples(tried: FloatArray) -> float:
    """Return the standard error of the mean over queries of the means over samples, [K, Q]; nan is not counted.

    What a sample adds to the mean is summed over queries first, so that the queries of a sample need not be
    independent. If a query has one value only, the error is unknown. If every query has all values, this is the
    standard error of the means of samples.

    >>> round(error_over_samples(np.array([[1.0, 3.0], [3.0, 7.0]])), 9), round(standard_error(np.array([2.0, 5.0])), 9)
    (1.5, 1.5)
    """
    tried = tried[:, ~np.isnan(tried).all(axis=0)]
    counts = (~np.isnan(tried)).sum(axis=0)
    if not len(counts) or counts.min() < 2:
        return float("nan")
    apart = np.nan_to_num(tried - np.nansum(tried, axis=0) / counts)
    parts = (apart * np.sqrt(counts / (counts - 1)) / counts).sum(axis=1) / len(counts)
    return float(np.sqrt((parts**2).sum()))


@dataclass(frozen=True, slots=True)
class PolicyPair:
    """How often a sample of one policy is preferred to a sample of another, over all pairs of samples and queries."""

    a: str
    b: str
    preference: str
    mean: float
    """The expected sign: wins less losses; nan if no query compares them."""
    error: float
    """The standard error of the mean over samples, by the jackknife; nan if a policy has one sample only."""
    wins: float
    losses: float
    queries: int


def policy_pairs(
    preference: Preference, positions: Positions, policies: Policies, samples: dict[str, IntArray]
) -> Iterator[PolicyPair]:
    """Compare each sample of each policy with each sample of the policies after it."""
    contrasts = contrasted(positions, preference, policies)
    for (a, first), (b, second) in combinations(samples.items(), 2):
        yield PolicyPair(a, b, str(preference), *_duel(contrasts, first, second))


def _duel(contrasts: "Contrasts", first: IntArray, second: IntArray) -> tuple[float, float, float, float, int]:
    """Return mean, error, wins, losses and queries of two policies: over pairs of samples, and then over queries."""
    wins, losses, counts = (np.zeros((len(second), len(contrasts.queries)), np.int64) for _ in range(3))
    of_first = []
    for run in first.tolist():
        alone = np.full(len(second), run)
        values, is_counted = contrasts.between(alone, second), contrasts.counted(alone, second)
        wins, losses, counts = wins + (values > 0), losses + (values < 0), counts + is_counted
        signs = np.sign(values).sum(axis=0, dtype=np.int64)
        of_first.append(mean_of(_shares(signs, is_counted.sum(axis=0))))
    of_second = [mean_of(row) for row in _shares(wins - losses, counts)]
    won, lost, total = (numbers.sum(axis=0) for numbers in (wins, losses, counts))
    # Samples of two policies are independent, so their variances add up.
    error = math.hypot(*(standard_error(_known(np.array(means))) for means in (of_first, of_second)))
    mean, *shares = (mean_of(_shares(sums, total)) for sums in (won - lost, won, lost))
    return mean, error, shares[0], shares[1], int((total > 0).sum())


def _shares(sums: IntArray, counts: IntArray) -> FloatArray:
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]

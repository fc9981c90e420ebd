"""Expectations: what every possible user can expect of a policy, and who is worst off.

Belongs here: the expected utility of users over rankings, exact or sampled, and the worst-off user: the minimum over
users of the expectation, which is not the expectation of the minimum. Not here: policies (policies), one ranking
(population), optimal rankers (stochastic).

A user wants a non-empty set of the m relevant documents. Documents that a ranking lacks are in the last places of the
corpus for each user, as far as the measure sees them: the i-th of the j that a user wants, if missing, is at n - j + i.

Most measures need no enumeration to find the worst-off user of any policy. Let e not depend on m, be 0 or more and not
grow with depth.

- If z(1, j) + … + z(k, j) >= z(1, 1) k/j for every k <= j <= m (AP, nDCG, RR, RBP, R@k), it is a user of one document.
  Then sum_i e(p_i) z(i, j) >= z(1, 1) mean_i e(p_i) in each ranking, by summation by parts. So the expectation of any
  user is at least the mean, and the minimum, of the expectations of those who want one of its documents.
- If z(i, j) = z(1, 1) for i = j and 0 otherwise (TSE, and LastRel where lower is better), it is the user who wants all
  of them: in each ranking, more documents can only move the last one down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray
from lexirecall.measures import Measure
from lexirecall.measures.form import exposures_at, recall_level_form, weights_of
from lexirecall.measures.measure import TOLERANCE
from lexirecall.names import parse_measure
from lexirecall.theory.policies import NUM_SAMPLES, Policy, PolicyDraws, Seed, draws_of
from lexirecall.theory.population import sets_by_size

MAX_WANTED = 12
"""How many relevant documents there may be for all their users to be enumerated over many rankings."""
_AT_A_TIME = 2**22  # utilities that are held together

Worst = Literal["one", "all", "any"]
"""Who can be the worst-off user of any policy: one who wants one document, who wants all of them, or anyone."""


@dataclass(frozen=True, slots=True)
class Utility:
    """What rankings are worth to users: a measure of the form sum_i e(p_i) z(i, j), and where missing documents are."""

    measure: Measure
    n: int | None = None
    sees_bottom: bool = False
    """Whether missing documents are at the bottom of the corpus, and not at infinity."""
    shares_bottom: bool = False
    """Whether all of them are at n."""

    @classmethod
    def of(
        cls,
        measure: Measure | str,
        corpus_size: int | None = None,
        *,
        sees_bottom: bool = False,
        shares_bottom: bool = False,
    ) -> "Utility":
        """Return the utility by a measure; `sees_bottom` lets measures that ignore n see the bottom too."""
        form = recall_level_form(parse_measure(measure), corpus_size)
        is_seen = corpus_size is not None and form.sees_missing(sees_bottom=sees_bottom)
        return cls(form, corpus_size, is_seen, shares_bottom)

    def of_everything(self, places: FloatArray) -> FloatArray:
        """Return what rankings are worth to the user who wants all j documents at the places, [K, j] -> [K].

        >>> Utility.of("AP").of_everything(np.array([[1.0, 2.0], [4.0, np.inf]])).tolist()
        [1.0, 0.125]
        """
        j = places.shape[1]
        weights = weights_of(self.measure, j, self.n)
        counts = weights != 0  # where the weight is 0, the position does not matter, even at infinity
        ordered = np.sort(places, axis=1)
        at = np.where(np.isinf(ordered), self._bottom(j), ordered)[:, counts]
        return np.asarray((exposures_at(self.measure, at, j, self.n) * weights[counts]).sum(axis=1))

    def of_one(self, places: FloatArray) -> FloatArray:
        """Return what rankings are worth to the users who want one document each, [K, m] -> [K, m]."""
        return self.of_everything(places.reshape(-1, 1)).reshape(places.shape)

    def of_anyone(self, places: FloatArray) -> FloatArray:
        """Return what rankings are worth to every user, in the order of their bit masks, [K, m] -> [K, 2^m - 1].

        >>> Utility.of("AP").of_anyone(np.array([[4.0, 1.0]])).tolist()
        [[0.25, 1.0, 0.75]]
        """
        m = places.shape[1]
        order = np.argsort(places, axis=1, kind="stable")
        by_level = self._by_level(np.take_along_axis(places, order, axis=1))
        bits = (np.arange(1, 2**m)[:, None] >> np.arange(m) & 1).astype(float)
        # the documents of a user, as bits in the order of this ranking; sums of powers of 2 are exact in floats
        levels = (2.0 ** np.argsort(order, axis=1)) @ bits.T
        return np.take_along_axis(by_level, levels.astype(np.int64) - 1, axis=1)

    def _by_level(self, ordered: FloatArray) -> FloatArray:
        """Return the utilities of users whose bits say which documents they want, counted from the top."""
        is_missing, m = np.isinf(ordered), ordered.shape[1]
        found = np.where(is_missing, 1.0, ordered)
        utilities = np.empty((len(ordered), 2**m - 1))
        for where, members in sets_by_size(m):
            j = members.shape[1]
            weights = weights_of(self.measure, j, self.n)
            counts = weights != 0
            wanted = members[:, counts]
            seen = exposures_at(self.measure, found, j, self.n)[:, wanted]
            bottom = exposures_at(self.measure, self._bottom(j), j, self.n)[counts]
            utilities[:, where] = np.where(is_missing[:, wanted], bottom, seen) @ weights[counts]
        return utilities

    def _bottom(self, j: int) -> FloatArray:
        """Return where each of the j documents that a user wants is, if a ranking lacks it."""
        if not self.sees_bottom or self.n is None:
            return np.full(j, np.inf)
        return np.full(j, float(self.n)) if self.shares_bottom else np.arange(1.0, j + 1) + (self.n - j)

    def worst(self, places: FloatArray) -> Worst:
        """Tell who can be the worst-off user of rankings with these places, [K, m]: see the first lines of the module.

        >>> places = np.array([[1.0, 3.0, 4.0]])
        >>> [Utility.of(name).worst(places) for name in ("AP", "TSE", "LastRel", "Rprec")]
        ['one', 'all', 'all', 'any']
        """
        m = places.shape[1]
        at = np.unique(np.concatenate([places[np.isfinite(places)], self._bottom(m)]))
        sizes = {*range(1, min(m, MAX_WANTED) + 1), m}
        by_size = [exposures_at(self.measure, at, j, self.n) for j in sorted(sizes)]
        good = self.measure.direction * by_size[0]
        if not all(np.array_equal(exposures, by_size[0]) for exposures in by_size) or (good[1:] > good[:-1]).any():
            return "any"
        weighted = _worst_by_weights(self.measure, m, self.n)
        is_possible = weighted == "all" or (self.measure.direction > 0 and good.min() >= 0)
        return weighted if is_possible else "any"

    def of_worst(self, worst: Worst, places: FloatArray) -> FloatArray:
        """Return what rankings are worth to each user who can be worst off: [K, m], [K, 1] or [K, 2^m - 1]."""
        if worst == "one":
            return self.of_one(places)
        return self.of_everything(places)[:, None] if worst == "all" else self.of_anyone(places)


@lru_cache(maxsize=4096)
def _worst_by_weights(measure: Measure, m: int, n: int | None) -> Worst:
    """Tell who can be worst off as far as the weights say."""
    first = float(weights_of(measure, 1, n)[0])
    weights = [weights_of(measure, j, n) for j in range(1, m + 1)]
    if first >= 0 and all(z[-1] == first and not z[:-1].any() for z in weights):
        return "all"
    shares = (first * np.arange(1, len(z) + 1) / len(z) - TOLERANCE * abs(first) for z in weights)
    is_spread = all((np.cumsum(z) >= share).all() for z, share in zip(weights, shares, strict=True))
    return "one" if is_spread else "any"


def members_of(worst: Worst, number: int, m: int) -> tuple[int, ...]:
    """Return which of m documents a user wants, given its number among those who can be worst off.

    >>> members_of("one", 2, 3), members_of("all", 0, 3), members_of("any", 4, 3)
    ((2,), (0, 1, 2), (0, 2))
    """
    mask = {"one": 1 << number, "all": (1 << m) - 1, "any": number + 1}[worst]
    return tuple(i for i in range(m) if mask >> i & 1)


def require_enumerable(measure: Measure, m: int) -> None:
    """Raise if there are too many users to look at each."""
    if m > MAX_WANTED:
        problem = f"{m} relevant documents have 2^{m} - 1 users: enumeration stops at {MAX_WANTED} documents"
        remedy = f"worst_off_user does without it for measures such as AP, nDCG, RR, RBP and TSE, but not for {measure}"
        raise UsageError(problem, remedy=remedy)


def chosen_and_tried(utility: Utility, places: FloatArray) -> tuple[tuple[int, ...], FloatArray]:
    """Choose the worst-off user on every other ranking, and return who that is and its utility on those between.

    Which documents the user wants, and the utility in each ranking, nan in those that were used for the choice. A
    single ranking serves for both, and so do all of them where nobody else can be worst off.

    >>> chosen_and_tried(Utility.of("AP"), np.array([[1.0, 2.0], [4.0, 1.0], [3.0, 5.0]]))
    ((1,), array([nan,  1., nan]))
    >>> chosen_and_tried(Utility.of("TSE"), np.array([[1.0, 2.0], [4.0, 1.0]]))
    ((0, 1), array([0.5 , 0.25]))
    """
    is_endless = np.isinf(utility.of_one(places)).any(axis=0)
    if is_endless.any():  # a document that one ranking lacks is infinitely far for who wants it, however often
        return (int(np.argmax(is_endless)),), np.full(len(places), -utility.measure.direction * np.inf)
    worst, m = utility.worst(places), places.shape[1]
    if worst == "any":
        require_enumerable(utility.measure, m)
    means, _ = _moments(utility, worst, places[0::2], None)
    members = members_of(worst, int(np.argmin(utility.measure.direction * means)), m)
    values = utility.of_everything(places[:, members])
    if len(means) > 1 and len(places) > 1:
        values[0::2] = np.nan
    return members, values


def standard_error(values: FloatArray) -> float:
    """Return the standard error of the mean of independent values, nan if there is one only, or one is infinite.

    >>> standard_error(np.array([1.0, 3.0])), standard_error(np.array([1.0]))
    (1.0, nan)
    """
    is_known = len(values) > 1 and bool(np.isfinite(values).all())
    return float(values.std(ddof=1) / np.sqrt(len(values))) if is_known else float("nan")


def _moments(
    utility: Utility, worst: Worst, places: FloatArray, chances: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of each user's utility, and its standard error; that is 0 where all rankings are known."""
    num, size = len(places), max(1, _AT_A_TIME // (places.shape[1] << min(places.shape[1], MAX_WANTED)))
    shares = np.full(num, 1 / num) if chances is None else chances
    first = utility.of_worst(worst, places[:1])[0]
    means, shifted, squares = (np.zeros(len(first)) for _ in range(3))
    for start in range(0, num, size):
        values, share = utility.of_worst(worst, places[start : start + size]), shares[start : start + size]
        means += share @ values
        with np.errstate(invalid="ignore"):  # what is infinite has no error
            # Take squares around the first value: those of the values themselves cancel if they differ little.
            apart = values - first
            shifted, squares = shifted + share @ apart, squares + share @ apart**2
    if chances is not None:
        return means, np.zeros(len(first))
    with np.errstate(invalid="ignore", divide="ignore"):
        return means, np.sqrt(np.maximum(squares - shifted**2, 0) / np.array(num - 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class UserExpectations:
    """What each of the 2^m - 1 possible users can expect of a policy."""

    documents: tuple[str, ...]
    """The relevant documents, in the order given."""
    means: FloatArray
    """The expected utility of the users with bit mask 1, 2, … 2^m - 1; bit i is the i-th of the documents."""
    errors: FloatArray
    """The standard error of each mean: 0 if it is exact, nan if there is one sample only."""
    num_samples: int
    is_exact: bool
    """Whether all rankings were enumerated; otherwise they are samples."""

    def __len__(self) -> int:
        return len(self.means)

    def documents_of(self, mask: int) -> tuple[str, ...]:
        """Return the documents that the user with a bit mask wants."""
        if not 1 <= mask <= len(self):
            raise UsageError(f"the mask is {mask}, but must be from 1 to {len(self)}")
        return tuple(document for i, document in enumerate(self.documents) if mask >> i & 1)


def expected_user_utilities(
    policy: Policy,
    relevant: Sequence[Any],
    measure: Measure | str = "AP",
    *,
    num_samples: int = NUM_SAMPLES,
    seed: Seed = 0,
    corpus_size: int | None = None,
) -> UserExpectations:
    """Return what every possible user can expect of a policy: E[μ(π, u)] for every non-empty u ⊆ R.

    `policy` is a `PlackettLuce`, or rankings that any stochastic ranker drew for one query, each a list of documents.
    With at most 8 documents, every ranking is enumerated and the result is exact. Of more, `num_samples` are drawn.
    The last user wants every document, and its mean is the expected value of the measure. m is at most 12.

    >>> from lexirecall.theory import PlackettLuce
    >>> users = expected_user_utilities(PlackettLuce([2.0, 1.0, 0.0], ["a", "b", "x"]), ["a", "b"])
    >>> [(users.documents_of(mask), round(float(users.means[mask - 1]), 4)) for mask in (1, 2, 3)]
    [(('a',), 0.8237), (('b',), 0.5816), (('a', 'b'), 0.9278)]

    Reference: DiazEM25, robustness of optimal rankings.
    """
    utility = Utility.of(measure, corpus_size)
    draws = draws_of(policy, relevant, num_samples=num_samples, seed=seed, corpus_size=corpus_size)
    require_enumerable(utility.measure, len(draws.documents))
    means, errors = _moments(utility, "any", draws.places, draws.chances)
    return UserExpectations(draws.documents, means, errors, len(draws.places), draws.is_exact)


@dataclass(frozen=True, slots=True)
class WorstUser:
    """Who is worst off, and what that user can expect."""

    value: float
    error: float
    """The standard error of the value: 0 if it is exact, nan if it comes from one ranking."""
    users: tuple[tuple[str, ...], ...]
    """The documents that the user wants; if the value is exact, of all users that tie."""
    is_exact: bool


def worst_off_user(
    policy: Policy,
    relevant: Sequence[Any],
    measure: Measure | str = "AP",
    *,
    num_samples: int = NUM_SAMPLES,
    seed: Seed = 0,
    corpus_size: int | None = None,
) -> WorstUser:
    """Return the user who can expect least of a policy: min over users of E[μ(π, u)], not E[min over users].

    The arguments are those of `expected_user_utilities`. With more than 8 documents, or with rankings that were drawn,
    the user is chosen on the first, third, … ranking, and its expectation is estimated on the second, fourth, …. So the
    value is unbiased for that user; the lowest of many means would be too low. As the user chosen need not be the worst
    off, the value is on average not below the true one. Where nobody else can be worst off, as by TSE, all rankings are
    used. Where lower is better, the worst off has the highest value.

    Users are enumerated up to m = 12. For AP, nDCG, RR, RBP, R@k and TSE that is not needed, and m is not limited.

    >>> from lexirecall.theory import PlackettLuce
    >>> worst = worst_off_user(PlackettLuce([2.0, 1.0, 0.0], ["a", "b", "x"]), ["a", "b"])
    >>> round(worst.value, 4), worst.users, worst.is_exact
    (0.5816, (('b',),), True)
    >>> worst_off_user([["a", "b"], ["b", "a"], ["a", "x", "b"], ["a", "b"]], ["a", "b"])
    WorstUser(value=0.75, error=0.25, users=(('b',),), is_exact=False)

    Reference: DiazEM25, robustness of optimal rankings.
    """
    utility = Utility.of(measure, corpus_size)
    draws = draws_of(policy, relevant, num_samples=num_samples, seed=seed, corpus_size=corpus_size)
    if draws.is_exact:
        return _exact_worst(utility, draws)
    members, values = chosen_and_tried(utility, draws.places)
    users, values = (tuple(draws.documents[i] for i in members),), values[~np.isnan(values)]
    return WorstUser(float(values.mean()), standard_error(values), users, is_exact=False)


def _exact_worst(utility: Utility, draws: PolicyDraws) -> WorstUser:
    means, _ = _moments(utility, "any", draws.places, draws.chances)
    good, m = utility.measure.direction * means, len(draws.documents)
    ties = np.flatnonzero(good - good.min() <= TOLERANCE * abs(good.min()))
    users = tuple(tuple(draws.documents[i] for i in members_of("any", number, m)) for number in ties.tolist())
    return WorstUser(float(means[ties[0]]), 0.0, users, is_exact=True)

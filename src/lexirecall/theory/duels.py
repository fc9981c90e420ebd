"""Duels: which of two policies is preferred, each drawing rankings independently of the other.

Belongs here: the expected preference between two policies, and its standard error. Not here: preferences between two
rankings (preferences), what users can expect of one policy (expectations).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import DataError
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.names import Evaluable, parse_preference
from lexirecall.positions import Projection
from lexirecall.preferences import Preference
from lexirecall.theory.policies import NUM_SAMPLES, Policy, PolicyDraws, draws_of


@dataclass(frozen=True, slots=True)
class ExpectedPreference:
    """How often the ranking of one policy is preferred to the ranking of another."""

    value: float
    """The expected sign: wins less losses."""
    error: float
    """The standard error of the value: 0 if it is exact, nan if one of the policies gave one sample only."""
    wins: float
    """How likely the first is preferred."""
    losses: float
    """How likely the second is preferred."""
    is_exact: bool


def expected_preference(
    a: Policy,
    b: Policy,
    relevant: Sequence[Any],
    preference: Evaluable | str = "LexiRecall",
    *,
    num_samples: int = NUM_SAMPLES,
    seed: int = 0,
    corpus_size: int | None = None,
) -> ExpectedPreference:
    """Return E[sign of the preference for a over b], for independent draws of two policies on one query.

    A policy is a `PlackettLuce`, or rankings that were drawn. With at most 8 documents all rankings are enumerated. Of
    more, `num_samples` are drawn from each, and each of one is compared with each of the other. The standard error of
    this mean over pairs is that of the jackknife over both samples. Any preference or measure may be named.

    >>> from lexirecall.theory import PlackettLuce
    >>> good, even = (PlackettLuce(scores, ["a", "b", "x"]) for scores in ([2.0, 2.0, 0.0], [0.0, 0.0, 0.0]))
    >>> result = expected_preference(good, even, ["a", "b"])
    >>> round(result.value, 4), round(result.wins, 4), round(result.losses, 4), result.is_exact
    (0.5077, 0.5872, 0.0795, True)
    >>> expected_preference([["a", "b"], ["a", "x", "b"]], [["x", "a", "b"]], ["a", "b"]).wins
    1.0
    """
    row = parse_preference(preference)
    rngs = np.random.default_rng(seed).spawn(2)  # the draws of one do not depend on those of the other
    first, second = (
        draws_of(policy, relevant, num_samples=num_samples, seed=rng, corpus_size=corpus_size)
        for policy, rng in zip((a, b), rngs, strict=True)
    )
    vectors, numbers = np.unique(
        np.sort(np.concatenate([first.places, second.places]), axis=1), axis=0, return_inverse=True
    )
    numbers, split = numbers.ravel(), len(first.places)
    of_a, of_b = _shares(first, numbers[:split]), _shares(second, numbers[split:])
    signs = _signs(row, vectors, of_a[0], of_b[0], corpus_size)
    (_, p, num_a), (_, q, num_b) = of_a, of_b
    error = np.sqrt(_variance(signs @ q, p, num_a) + _variance(p @ signs, q, num_b))
    wins, losses = (float(p @ (signs == sign) @ q) for sign in (1, -1))
    is_exact = first.is_exact and second.is_exact
    return ExpectedPreference(float(p @ signs @ q), float(error), wins, losses, is_exact)


def _shares(draws: PolicyDraws, numbers: IntArray) -> tuple[IntArray, FloatArray, int | None]:
    """Return the different rankings of a policy, how likely each is, and how many samples say so; None if exact."""
    shares = np.full(len(numbers), 1 / len(numbers)) if draws.chances is None else draws.chances
    totals: FloatArray = np.asarray(np.bincount(numbers, shares), float)
    there = np.unique(numbers)
    return there, totals[there], None if draws.is_exact else len(numbers)


def _variance(means: FloatArray, shares: FloatArray, num_samples: int | None) -> float:
    """Return the part of the variance that the samples of one policy have, from the mean sign of each ranking.

    Leaving each sample out in turn gives the variance of these means over the number of samples.
    """
    if num_samples is None:
        return 0.0
    if num_samples == 1:
        return np.nan
    return float(shares @ (means - shares @ means) ** 2 / (num_samples - 1))


def _signs(row: Preference, vectors: FloatArray, a: IntArray, b: IntArray, corpus_size: int | None) -> FloatArray:
    """Compare each ranking of a with each of b: 1, 0 or -1, [a, b]."""
    found = [vector[np.isfinite(vector)].astype(np.int64) for vector in vectors]
    projection = Projection.of_vectors(found, vectors.shape[1], level=row.level(1), corpus_size=corpus_size)
    contrasts = row.contrasts(projection)
    if not contrasts.taking_part.all():
        raise DataError(
            f"{row} cannot compare some of these rankings", remedy="is the size of the corpus needed? corpus_size=n"
        )
    return np.stack([np.sign(contrasts.between(np.full(len(b), i), b)[:, 0]).astype(float) for i in a.tolist()])

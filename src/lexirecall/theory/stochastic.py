"""Stochastic rankers: what users can expect of a ranker that answers a query with a random ranking.

Belongs here: the worst-off user of optimal rankers, and the expected exposure of documents over sampled rankings. Not
here: the worst-off user of a given ranking (population).

An optimal ranker puts the m relevant documents R above all others. A deterministic one always uses the same order: a
user who wants only the last document always finds it at m. A stochastic one uses every order equally often. A user
wants j of the documents in R. With a stochastic ranker all users with the same j can expect the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, UsageError, check_count, choice, counted
from lexirecall.exposure import EXPOSURES
from lexirecall.judgments import FloatArray
from lexirecall.measures import Measure
from lexirecall.measures.form import exposures_at, recall_level_form, weights_of
from lexirecall.measures.measure import TOLERANCE, ask
from lexirecall.measures.tieexpectation import place_probabilities
from lexirecall.names import parse_measure
from lexirecall.text import to_bytes, to_text
from lexirecall.theory.orientation import placed


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The utility of the worst-off users, and how many documents they want: all numbers that tie."""

    value: float
    sizes: tuple[int, ...]


def worst_case_deterministic(measure: Measure | str, num_relevant: int, *, corpus_size: int | None = None) -> WorstCase:
    """Return the utility of the worst-off user of an optimal deterministic ranker.

    min_j sum_i e(m-j+i) z(i, j): of the users who want j documents, the worst-off wants the last j. For a top-heavy
    measure with z(1, 1) = 1 it is e(m), the utility of a user who wants only the last document. Where lower is better,
    it is the highest value.

    >>> worst_case_deterministic("AP", 4)
    WorstCase(value=0.25, sizes=(1,))
    >>> worst_case_deterministic("TSE", 4)  # all who want the last document, with or without others
    WorstCase(value=0.25, sizes=(1, 2, 3, 4))

    Reference: DiazEM25, robustness of optimal rankings.
    """
    formula, m, n = _checked(measure, num_relevant, corpus_size)
    utilities = [float(weights @ exposures[m - j :]) for j, exposures, weights in _users(formula, m, n)]
    return _worst(formula, utilities)


def worst_case_stochastic(measure: Measure | str, num_relevant: int, *, corpus_size: int | None = None) -> WorstCase:
    """Return the expected utility of the worst-off user of the optimal stochastic ranker.

    min_j E[μ of a user who wants j documents]: not worse than with a deterministic ranker. Where lower is better, it is
    the highest value.

    >>> worst_case_stochastic("AP", 4)  # (1 + 1/2 + 1/3 + 1/4)/4
    WorstCase(value=0.5208333333333333, sizes=(1,))

    Reference: DiazEM25, robustness of optimal rankings.
    """
    formula, m, n = _checked(measure, num_relevant, corpus_size)
    utilities, before, expected = [], np.array([]), np.array([])
    for j, exposures, weights in _users(formula, m, n):
        if not np.array_equal(exposures, before):  # at first, and where e depends on the number of documents wanted
            before = expected = exposures
        while len(expected) > j:
            expected = _without_one(expected)
        utilities.append(float(weights @ expected))
    return _worst(formula, utilities)


def expected_utility(
    measure: Measure | str, num_wanted: int, num_relevant: int, *, corpus_size: int | None = None
) -> float:
    """Return what a user who wants j of the m relevant documents can expect of the optimal stochastic ranker.

    sum_i sum_k P(i-th of j at k) e(k) z(i, j). A user who wants all of them gets the best possible value.

    >>> expected_utility("RR", 1, 2), expected_utility("RR", 2, 2)
    (0.75, 1.0)

    Reference: DiazEM25, robustness of optimal rankings.
    """
    formula, m, n = _checked(measure, num_relevant, corpus_size)
    chances = position_probabilities(num_wanted, num_relevant)
    exposures, weights = _formulas(formula, len(chances), m, n)
    return float(weights @ (chances @ exposures))


def position_probabilities(num_wanted: int, num_relevant: int) -> FloatArray:
    """Return how likely the i-th of the j documents that a user wants is at position k, [j, m].

    C(k-1, i-1) C(m-k, j-i) / C(m, j): i - 1 of the places above k hold wanted documents, and j - i of those below.

    >>> position_probabilities(2, 3).round(4).tolist()
    [[0.6667, 0.3333, 0.0], [0.0, 0.3333, 0.6667]]
    """
    check_count("num_wanted", num_wanted, 1, num_relevant)
    return np.stack([place_probabilities(num_relevant, num_wanted, i) for i in range(1, num_wanted + 1)])


def _without_one(expected: FloatArray) -> FloatArray:
    """Return the expectations at each recall level for a user who wants one document less.

    That is a user who wanted j documents and gave up one of them at random: what is now the i-th was the (i+1)-th with
    probability i/j, and the i-th otherwise. So all j - 1 levels follow from those of j, without binomials.

    >>> _without_one(np.array([1.0, 0.5]))  # one of two documents that are certainly at 1 and 2
    array([0.75])
    """
    share = np.arange(1, len(expected)) / len(expected)  # it was the i-th or one above it
    return (1 - share) * expected[:-1] + share * expected[1:]


def _users(measure: Measure, m: int, n: int | None) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Give e(1) … e(m) and z(1, j) … z(j, j) for users who want j documents, for j = m … 1."""
    for j in range(m, 0, -1):
        exposures, weights = _formulas(measure, j, m, n)
        if (measure.direction * np.diff(exposures) > 0).any() or (weights < 0).any():
            raise UsageError(
                f"{measure}: the worst-off user is only known if exposure falls with depth and no weight is negative"
            )
        yield j, exposures, weights


def _formulas(measure: Measure, j: int, m: int, n: int | None) -> tuple[FloatArray, FloatArray]:
    return exposures_at(measure, np.arange(1.0, m + 1), j, n), weights_of(measure, j, n)


def _worst(measure: Measure, utilities: Sequence[float]) -> WorstCase:
    """Find the worst of the utilities of users who want m, m - 1, … 1 documents."""
    good = measure.direction * np.array(utilities[::-1])
    lowest = good.min()
    sizes = np.flatnonzero(good - lowest <= TOLERANCE * abs(lowest)) + 1
    return WorstCase(float(measure.direction * lowest), tuple(sizes.tolist()))


def _checked(measure: Measure | str, num_relevant: int, corpus_size: int | None) -> tuple[Measure, int, int | None]:
    """Return the measure as exposure and weight, m and n."""
    m, n = placed(num_relevant, num_relevant if corpus_size is None else corpus_size)
    formula = recall_level_form(parse_measure(measure), corpus_size)
    return formula, m, None if corpus_size is None else n


@dataclass(frozen=True, slots=True)
class ExpectedExposure:
    """How much exposure each relevant document gets on average, and which get the least: all that tie."""

    documents: tuple[str, ...]
    exposures: tuple[float, ...]
    worst: float
    worst_off: tuple[str, ...]
    num_samples: int


def expected_exposure(
    rankings: Sequence[Sequence[Any] | npt.NDArray[Any]],
    relevant: Sequence[Any],
    exposure: str | Callable[..., Any] = "ap",
    *,
    p: float = 0.8,
    corpus_size: int | None = None,
) -> ExpectedExposure:
    """Return the mean exposure of each relevant document over sampled rankings of one query, each a list of documents.

    E[e(position of the document)]; e is ap, dcg, rbp (with p), linear (which needs the corpus size), or a function of
    positions. A document that a ranking lacks has exposure 0 there. If the corpus size is given, it shares the last
    places of the corpus with the others that are missing, in any order.

    >>> expected_exposure([["a", "b", "x"], ["b", "a"], ["a", "x", "b"], ["x", "a"]], ["a", "b"])
    ExpectedExposure(documents=('a', 'b'), exposures=(0.75, 0.4583333333333333), worst=0.4583333333333333, \
worst_off=('b',), num_samples=4)
    """
    documents, positions = places_of(rankings, relevant, corpus_size)
    return expected_exposure_of_positions(positions, documents, exposure, p=p, corpus_size=corpus_size)


def expected_exposure_of_positions(
    positions: Sequence[Sequence[float]] | FloatArray,
    relevant: Sequence[Any],
    exposure: str | Callable[..., Any] = "ap",
    *,
    p: float = 0.8,
    corpus_size: int | None = None,
) -> ExpectedExposure:
    """Return the mean exposure of each relevant document over sampled rankings, from its positions, [samples, m].

    Like `expected_exposure`. Positions are in the order of the documents; infinity is a document that a ranking lacks.

    >>> expected_exposure_of_positions([[1, 2], [2, float("inf")]], ["a", "b"]).exposures
    (0.75, 0.25)
    """
    documents = texts_of(relevant, "the relevant documents")
    places = np.asarray(positions, dtype=float)
    if not documents or places.ndim != 2 or places.shape[1] != len(documents) or not len(places):
        raise UsageError(
            f"positions have the shape {places.shape} for {counted(len(documents), 'relevant document')}",
            remedy="give one or more rankings and relevant documents, and each document's position in each ranking",
        )
    for number, row in enumerate(places):
        _check_positions(number, row)
        _check_room(number, int(row[np.isfinite(row)].max(initial=0)), row, corpus_size)
    seen = _exposures(places, exposure, p, corpus_size).mean(axis=0)
    worst_off = np.flatnonzero(seen - seen.min() <= TOLERANCE * seen.max())
    return ExpectedExposure(
        documents,
        tuple(seen.tolist()),
        float(seen.min()),
        tuple(documents[document] for document in worst_off),
        len(places),
    )


def _exposures(places: FloatArray, exposure: str | Callable[..., Any], p: float, n: int | None) -> FloatArray:
    """Return the exposure of each place; those at infinity get 0, or the mean of as many places at the bottom."""
    if isinstance(exposure, str):
        choice("exposure", exposure, EXPOSURES)
    formula = EXPOSURES[exposure] if isinstance(exposure, str) else exposure

    def at(positions: FloatArray) -> FloatArray:
        known = {"p": p, "n": np.full(positions.shape, np.nan if n is None else float(n))}
        return np.broadcast_to(np.asarray(ask(formula, positions, known), dtype=float), positions.shape)

    is_missing = np.isinf(places)
    bottom = np.zeros(len(places))
    if n is not None:
        for num_missing in set(is_missing.sum(axis=1).tolist()) - {0}:
            bottom[is_missing.sum(axis=1) == num_missing] = at(np.arange(n - num_missing + 1.0, n + 1)).mean()
    return np.where(is_missing, bottom[:, None], at(np.where(is_missing, 1.0, places)))


def places_of(
    rankings: Sequence[Sequence[Any] | npt.NDArray[Any]], relevant: Sequence[Any], corpus_size: int | None = None
) -> tuple[tuple[str, ...], FloatArray]:
    """Return the relevant documents, and the position of each in each ranking, [K, m]; infinity if a ranking lacks it.

    >>> places_of([["a", "b", "x"], ["b", "y"]], ["a", "b"])[1].tolist()
    [[1.0, 2.0], [inf, 1.0]]
    """
    documents = texts_of(relevant, "the relevant documents")
    positions = np.full((len(rankings), len(documents)), np.inf)
    for number, ranking in enumerate(rankings):
        places = {document: place for place, document in enumerate(texts_of(ranking, f"ranking {number + 1}"), 1)}
        positions[number] = [places.get(document, np.inf) for document in documents]
        _check_room(number, len(places), positions[number], corpus_size)
    return documents, positions


def texts_of(ids: Sequence[Any] | npt.NDArray[Any], what: str) -> tuple[str, ...]:
    """Return ids as text, or raise if they are not a list of different ones.

    >>> texts_of([7, "b"], "the relevant documents")
    ('7', 'b')
    """
    if isinstance(ids, (str, bytes, Mapping, Set)):
        raise UsageError(f"{what}: {ids!r} is not a list of documents", remedy="give a list of document ids")
    texts = tuple(to_text(to_bytes(document)) for document in ids)
    if len(set(texts)) < len(texts):
        twice = next(document for place, document in enumerate(texts) if document in texts[:place])
        raise DataError(f"{what}: {twice!r} is listed twice", remedy="keep one of them: ids are compared as text")
    return texts


def _check_positions(number: int, row: FloatArray) -> None:
    found = row[~np.isposinf(row)]
    if not (found >= 1).all() or (found % 1).any() or len(set(found.tolist())) < len(found):
        raise DataError(
            f"ranking {number + 1}: relevant documents cannot be at the positions {row.tolist()}",
            remedy="give different whole numbers, counted from 1, and infinity for a missing document",
        )


def _check_room(number: int, length: int, row: FloatArray, corpus_size: int | None) -> None:
    needed = length + int(np.isinf(row).sum())
    if corpus_size is not None and needed > corpus_size:
        raise DataError(
            f"ranking {number + 1}: the corpus size {corpus_size:,} is too small for its {counted(length, 'document')} "
            f"and {counted(needed - length, 'relevant document')} that it lacks",
            remedy=f"give a corpus size of at least {needed:,}",
        )

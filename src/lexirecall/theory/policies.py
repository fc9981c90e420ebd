"""Policies: rankers that draw each ranking by lot, and where their draws put the relevant documents.

Belongs here: the Plackett-Luce policy, and the positions of relevant documents in the rankings of any policy, all of
them or a sample. Not here: what users can expect of these rankings (expectations), which of two policies is preferred
(duels), optimal rankers (stochastic).

A Plackett-Luce policy draws the first document with probability proportional to exp(s/τ) of its score s, then the next
among those that are left, and so on. The same happens if noise of a Gumbel distribution is added to each s/τ and the
documents are sorted by the sums, which is how rankings are drawn here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, UsageError, check_count, counted, listed, shown
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.theory.stochastic import places_of, texts_of

MAX_RANKED = 8
"""How many documents there may be for all their rankings to be enumerated: 8! = 40,320."""
NUM_SAMPLES = 1000
"""How many rankings are drawn where they are not enumerated, unless a caller says otherwise."""
_AT_A_TIME = 2**21  # numbers of noise that are drawn together

DrawnRankings = Sequence[Sequence[Any]] | Sequence[npt.NDArray[Any]] | npt.NDArray[Any]
Seed = int | np.random.Generator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlackettLuce:
    """A policy that draws rankings of documents by their scores; the higher the temperature, the more by chance.

    Documents are named by `document_ids`, or by their numbers 0, 1, … in the order of the scores. At temperature 0 the
    ranking would be the one of descending scores; an infinite temperature makes every ranking equally likely.

    >>> import math
    >>> policy = PlackettLuce([math.log(2), 0.0], ["a", "b"])  # a comes first twice as often
    >>> policy.rankings().tolist(), policy.probabilities().round(4).tolist()
    ([['a', 'b'], ['b', 'a']], [0.6667, 0.3333])
    >>> policy.sample(2, seed=1).tolist()
    [['a', 'b'], ['a', 'b']]
    """

    scores: Sequence[float] | FloatArray
    document_ids: Sequence[Any] | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        scores = np.array(self.scores, dtype=float)
        if scores.ndim != 1 or not len(scores) or not np.isfinite(scores).all():
            problem = f"the scores are {_brief(self.scores)}, but must be one or more finite numbers"
            raise UsageError(problem, remedy="give one list of scores, one for each document")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}, but must be above 0")
        with np.errstate(over="ignore"):
            if not np.isfinite((scores - scores.max()) / self.temperature).all():
                problem = f"the scores are too far apart for the temperature {self.temperature}"
                raise UsageError(problem, remedy="give a higher temperature")
        if self.document_ids is not None and len(texts_of(self.document_ids, "document_ids")) != len(scores):
            problem = f"there are {counted(len(self.document_ids), 'id')} for {counted(len(scores), 'score')}"
            raise UsageError(problem, remedy="give one id for each score")
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    def __repr__(self) -> str:
        return f"<PlackettLuce: {counted(len(self), 'document')}, temperature {self.temperature:g}>"

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def documents(self) -> tuple[str, ...]:
        """The ids of the documents, as text, in the order of the scores."""
        return (
            tuple(map(str, range(len(self))))
            if self.document_ids is None
            else texts_of(self.document_ids, "document_ids")
        )

    @property
    def log_strengths(self) -> FloatArray:
        """What the draws depend on: s/τ, 0 for the highest score."""
        scores = np.asarray(self.scores)
        return np.asarray((scores - scores.max()) / self.temperature)

    def sample(self, num: int, seed: Seed = 0) -> npt.NDArray[Any]:
        """Draw rankings, [num, n]: ids, the first document first. `seed` may be a generator of numpy.

        >>> PlackettLuce([5.0, 0.0, 4.0]).sample(2).tolist()
        [[2, 0, 1], [0, 2, 1]]
        """
        return self._named(np.concatenate(list(self.sampled_orders(num, seed))))

    def sampled_orders(self, num: int, seed: Seed = 0) -> Iterator[IntArray]:
        """Draw rankings some at a time: the numbers of the documents, the first document first."""
        check_count("the number of samples", num, 1)
        rng, strengths = np.random.default_rng(seed), self.log_strengths
        size = max(1, _AT_A_TIME // len(self))
        for start in range(0, num, size):
            noise = rng.gumbel(size=(min(size, num - start), len(self)))
            yield np.argsort(-(strengths + noise), axis=1, kind="stable")

    def log_probability(self, ranking: Sequence[Any] | npt.NDArray[Any]) -> float:
        """Return the logarithm of the probability of a ranking, or of all rankings that begin so if it is shorter.

        sum_i (s_i/τ - log sum_{j >= i} exp(s_j/τ)), with the inner sums taken from the end.

        >>> import math
        >>> round(math.exp(PlackettLuce([1.0, 1.0, 1.0]).log_probability([2, 0, 1])), 4)
        0.1667
        >>> round(math.exp(PlackettLuce([1.0, 1.0, 1.0]).log_probability([2])), 4)
        0.3333
        """
        places = {document: number for number, document in enumerate(self.documents)}
        texts = texts_of(ranking, "the ranking")
        if unknown := [document for document in texts if document not in places]:
            raise self._unknown(unknown)
        ranked = [places[document] for document in texts]
        rest = sorted(set(places.values()) - set(ranked))
        terms = self._log_terms(np.array([[*ranked, *rest]]))
        return float(terms[0, : len(ranked)].sum())

    def rankings(self) -> npt.NDArray[Any]:
        """Return every ranking, [n!, n], of at most 8 documents: ids, the first document first."""
        return self._named(self.orders())

    def probabilities(self) -> FloatArray:
        """Return how likely each of the `rankings` is, [n!].

        >>> PlackettLuce([3.0, 1.0, 2.0], temperature=float("inf")).probabilities().round(4).tolist()
        [0.1667, 0.1667, 0.1667, 0.1667, 0.1667, 0.1667]
        """
        return np.asarray(np.exp(self._log_terms(self.orders()).sum(axis=1)))

    def orders(self) -> IntArray:
        """Return every ranking, [n!, n]: the numbers of the documents, the first document first."""
        if len(self) > MAX_RANKED:
            problem = f"{len(self)} documents have {len(self)}! rankings: enumeration stops at {MAX_RANKED} documents"
            raise UsageError(problem, remedy="draw some of them with sample(num)")
        return _every_order(len(self))

    def _log_terms(self, orders: IntArray) -> FloatArray:
        """Return the logarithm of the probability of each choice, given those before it, [K, n]."""
        strengths = self.log_strengths[orders]
        left = np.logaddexp.accumulate(strengths[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(strengths - left)

    def _named(self, orders: IntArray) -> npt.NDArray[Any]:
        return orders if self.document_ids is None else np.asarray(self.document_ids)[orders]

    def numbers_of(self, documents: Sequence[str]) -> IntArray:
        """Return the numbers of documents; raise if the policy does not rank one of them."""
        places = {document: number for number, document in enumerate(self.documents)}
        if unknown := [document for document in documents if document not in places]:
            raise self._unknown(unknown)
        return np.array([places[document] for document in documents])

    def _unknown(self, documents: Sequence[str]) -> DataError:
        return DataError(
            f"the policy does not rank {listed(map(shown, documents))}",
            remedy=f"name its documents ({listed(map(shown, self.documents), 3)})",
        )


Policy = PlackettLuce | DrawnRankings
"""What draws rankings, or rankings that were drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class PolicyDraws:
    """Where the relevant documents are in rankings that were drawn, or in all that there are."""

    documents: tuple[str, ...]
    places: FloatArray
    """[K, m], infinite where a ranking lacks a document."""
    chances: FloatArray | None
    """How likely each of all rankings is, [K]; None if these are samples."""

    @property
    def is_exact(self) -> bool:
        """Whether these are all rankings, with their probabilities."""
        return self.chances is not None


def draws_of(
    policy: Policy,
    relevant: Sequence[Any],
    *,
    num_samples: int = NUM_SAMPLES,
    seed: Seed = 0,
    corpus_size: int | None = None,
) -> PolicyDraws:
    """Return where a policy puts the relevant documents: in all rankings of at most 8 documents, in a sample of more.

    Rankings that were drawn by anything else are taken as they are.

    >>> draws_of(PlackettLuce([0.0, 0.0]), [1]).places.tolist(), draws_of([["a", "b"], ["x"]], ["b"]).places.tolist()
    ([[2.0], [1.0]], [[2.0], [inf]])
    """
    if not isinstance(policy, PlackettLuce):
        if isinstance(policy, (str, bytes)) or not hasattr(policy, "__len__") or not len(policy):
            problem = f"a policy is a PlackettLuce, or one or more rankings that it drew, not {_brief(policy)}"
            raise UsageError(problem, remedy="give a list of rankings, each a list of document ids")
        documents, places = places_of(list(policy), _some(relevant), corpus_size)
        return PolicyDraws(documents, places, None)
    documents = texts_of(_some(relevant), "the relevant documents")
    numbers = policy.numbers_of(documents)
    if corpus_size is not None and corpus_size < len(policy):
        raise DataError(f"the corpus size {corpus_size:,} is too small for {counted(len(policy), 'document')}")
    if len(policy) <= MAX_RANKED:
        return PolicyDraws(documents, _places_in(policy.orders(), numbers), policy.probabilities())
    blocks = [_places_in(orders, numbers) for orders in policy.sampled_orders(num_samples, seed)]
    return PolicyDraws(documents, np.concatenate(blocks), None)


def _places_in(orders: IntArray, numbers: IntArray) -> FloatArray:
    return np.argsort(orders, axis=1)[:, numbers].astype(float) + 1


def _some(relevant: Sequence[Any]) -> Sequence[Any]:
    if not len(relevant):
        raise UsageError("there are no relevant documents, so there are no users", remedy="give one or more")
    return relevant


@lru_cache(maxsize=MAX_RANKED)
def _every_order(n: int) -> IntArray:
    orders = np.array(list(permutations(range(n))), dtype=np.int64)
    orders.flags.writeable = False
    return orders


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"

"""Candidates: the documents that any run retrieves for a query, and where each run has them.

Belongs here: these documents with their features, and the sample that is learnt from. Not here: the formulas of
features (features), what is learnt (featureweights), positions (rankings).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.formats.wholelists import Lists
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.learn.features import FEATURES, shares_of_scores
from lexirecall.learn.featureweights import TrainingQuery

MOST_TOP = 500
"""How many of the documents that are not relevant are all learnt from: the highest by reciprocal rank fusion."""
MOST_SAMPLED = 500
"""How many of the others are drawn, each of which stands for as many as it was drawn from."""


@dataclass(frozen=True, slots=True)
class Candidates(FieldEquality):
    """What S runs retrieve for one query: I documents, by id from the highest, so that a stable sort breaks ties.

    >>> from lexirecall.formats.listing import load_lists
    >>> runs = {"one": {"q": {"a": 3.0, "x": 1.0}}, "two": {"q": ["x"]}}
    >>> [made] = candidates_of(load_lists({"q": {"a": 1}}, runs, needs_scores=True))
    >>> made.documents, made.places.tolist(), made.shares.tolist()
    ((b'x', b'a'), [[2, 1], [1, 0]], [[0.0, 1.0], [1.0, 0.0]])
    >>> made.features(("reciprocal", "retrieved"), np.array([2, 1])).round(2).tolist()
    [[0.98, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]]
    """

    query: int
    """Index in the judgments."""
    documents: tuple[bytes, ...]
    places: IntArray
    """Where each run has each document, counted from 1; 0 if it does not retrieve it, [S, I]."""
    shares: FloatArray
    """The score of each document in each run, from 0 for the lowest to 1; of ranks, if there are no scores, [S, I]."""
    judged: IntArray
    """Where each document is in the judgments; -1 if it is not there, [I]."""
    grades: FloatArray
    """nan without a judgment, [I]."""
    lengths: IntArray
    """How many documents each run retrieves, [S]."""
    answered: BoolArray
    """Which runs answer the query, [S]."""

    def is_relevant(self, level: float) -> BoolArray:
        """Which documents are known to be relevant, [I]; those without a judgment are not."""
        return self.grades >= level

    def features(self, names: Sequence[str], depths: IntArray) -> FloatArray:
        """Return the features of all runs, [I, S · F], run by run; `depths` are their longest lists."""
        features = np.zeros((len(self.documents), len(self.places), len(names)))
        for run, (places, shares, depth) in enumerate(zip(self.places, self.shares, depths.tolist(), strict=True)):
            at = np.flatnonzero(places)
            for f, name in enumerate(names):
                features[at, run, f] = FEATURES[name](places[at], shares[at], depth)
        return features.reshape(len(self.documents), -1)

    def sampled(
        self, level: float, fused: FloatArray, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the relevant documents, some of the others, and how many each of these stands for.

        Of the others, the top ones by `fused` are all there. The rest is cut into equal portions in that order, and
        one is drawn from each: the same ones whatever documents are called, and in whichever order runs are given.
        """
        is_relevant = self.is_relevant(level)
        order = np.lexsort((np.where(self.places > 0, self.places, np.inf).min(axis=0), -fused))
        others = order[~is_relevant[order]]
        top, rest = others[:MOST_TOP], others[MOST_TOP:]
        borders = np.linspace(0, len(rest), min(MOST_SAMPLED, len(rest)) + 1).round().astype(np.int64)
        sizes = np.diff(borders)
        drawn = rest[borders[:-1] + np.floor(rng.random(len(sizes)) * sizes).astype(np.int64)]
        counts = np.concatenate([np.ones(len(top)), sizes])
        return np.flatnonzero(is_relevant), np.concatenate([top, drawn]), counts


def candidates_of(lists: Lists) -> Iterator[Candidates]:
    """Give the candidates of each judged query, in the order of the judgments."""
    for q, (query, of_runs) in enumerate(lists):
        scores = [run.scores.get(query) for run in lists.runs]
        yield _candidates(lists.judgments, q, of_runs, scores)


def _candidates(
    judgments: Judgments,
    query: int,
    of_runs: Sequence[Sequence[bytes] | None],
    scores: Sequence[FloatArray | None],
) -> Candidates:
    documents = sorted({document for ranking in of_runs for document in ranking or ()}, reverse=True)
    number = {document: i for i, document in enumerate(documents)}
    places = np.zeros((len(of_runs), len(documents)), np.int64)
    shares = np.zeros((len(of_runs), len(documents)))
    for s, (ranking, values) in enumerate(zip(of_runs, scores, strict=True)):
        at = [number[document] for document in ranking or ()]
        places[s, at] = np.arange(1, len(at) + 1)
        shares[s, at] = shares_of_scores(-np.arange(len(at), dtype=float) if values is None else values)
    lookup = judgments.lookup(query)
    judged = np.array([lookup.get(document, -1) for document in documents], np.int64)
    grades = np.append(judgments.grades, np.nan)[judged]  # -1, without a judgment, takes the nan at the end
    return Candidates(
        query=query, documents=tuple(documents), places=places, shares=shares, judged=judged,
        grades=np.where(grades < 0, np.nan, grades),
        lengths=np.array([len(ranking or ()) for ranking in of_runs], np.int64),
        answered=np.array([ranking is not None for ranking in of_runs], bool),
    )  # fmt: skip


def learnable(
    candidates: Candidates, names: Sequence[str], depths: IntArray, level: float, fused: FloatArray, seed: int
) -> TrainingQuery:
    """Return what can be learnt from the documents of one query."""
    relevant, others, counts = candidates.sampled(level, fused, np.random.default_rng([seed, candidates.query]))
    features = candidates.features(names, depths).astype(np.float32)
    return TrainingQuery(features[np.concatenate([relevant, others])], len(relevant), counts.astype(np.float32))

"""Counted: positions from counts. A position is 1 + the number of documents before; no list is needed, no sort.

Belongs here: what is counted for each judged document, the rules of ties over counts, the options that make sense where
the whole corpus is scored, and the step to Positions. Not here: counting itself (scores, embeddings).

All counts are sums over disjoint parts of the corpus: blocks, devices and machines count their own documents, and add
up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, hint_at
from lexirecall.fields import among, names_of
from lexirecall.formats.assembly import assemble
from lexirecall.judgments import IntArray, Judgments
from lexirecall.manifest import OF_UNITS, READING, Conventions
from lexirecall.positions import Positions
from lexirecall.segments import Segments, sums_of
from lexirecall.tracks import RunPositions, Tracks

ACCEPTED = ("ties", "depth", "judged_only", "imputation")
"""The conventions that make sense where every document has a score."""
_READ_A_RUN = "write the scores as a run, and give it to project"
_REFUSED = {
    **dict.fromkeys(OF_UNITS, ("units are not counted from scores", _READ_A_RUN)),
    "units": ("units are not counted from scores", _READ_A_RUN),
    "providers": ("providers are read together with a run only", _READ_A_RUN),
    "score_dtype": ("scores are compared in the type that they have", "convert the scores before"),
    "duplicates": ("each document has one score", "leave it out"),
    "strict": ("there are no lines to be strict about", "leave it out"),
    "corpus_size": ("every document has a score, so its size is known", "leave it out"),
}


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """What one run's scores say about the judged documents that are in the corpus, query after query."""

    judgments: Judgments
    segments: Segments
    """The documents of each query; of those that are in the corpus, all must be here."""
    documents: IntArray
    """Index into the grades and ids of the judgments."""
    above: IntArray
    """How many documents of the corpus have a higher score."""
    tied: IntArray
    """How many documents of the corpus have the same score, the document itself among them."""
    before: IntArray | None
    """Of these, how many come before it: those with a larger id, by bytes; under ties="input", those with a lower
    index. Rules that go by grade follow from that. None if every document is alone with its score."""
    num_documents: IntArray
    """How many documents the corpus has for each query, [Q]: those that are excluded are not in it."""


def positions_of(
    counted: ScoreCounts | Mapping[str, ScoreCounts], conventions: Conventions, name: str = "run"
) -> Positions:
    """Return the positions of one run, or of several by name.

    What is relevant and not in the corpus is missing: it is imputed at the end, so n grows by the number of such
    documents.

    >>> judgments = Judgments.from_grades({b"q": {b"a": 1, b"b": 1}})
    >>> above, tied, n = np.array([4, 2]), np.array([1, 1]), np.array([9])
    >>> counted = ScoreCounts(judgments, Segments(np.array([0, 2])), np.array([0, 1]), above, tied, None, n)
    >>> positions = positions_of(counted, Conventions())
    >>> positions.found.positions.tolist(), positions.found.documents.tolist(), positions.corpus_size.tolist()
    ([3, 5], [1, 0], [9])
    """
    by_name = counted if isinstance(counted, Mapping) else {name: counted}
    first = next(iter(by_name.values()))
    runs = [run_of(counts, conventions, label) for label, counts in by_name.items()]
    is_positive = first.judgments.grades[first.documents] > 0
    missing = first.judgments.num_positive - first.segments.filter(is_positive).sizes
    return Positions.stack(first.judgments, runs, conventions, first.num_documents + missing)


def run_of(counted: ScoreCounts, conventions: Conventions, name: str) -> RunPositions:
    """Return one run's positions under the conventions."""
    positions = 1 + counted.above + _before(counted, conventions.ties)
    least = counted.segments.owners * (counted.num_documents.max(initial=0) + 1)
    order = np.argsort(least + positions)  # one key is sorted faster than two
    tracks = Tracks(
        counted.segments, positions[order], counted.documents[order], counted.above[order], counted.tied[order]
    )
    return assemble(
        name, counted.judgments, conventions, tracks, counted.num_documents, needs_judged=True, num_unjudged=0
    )


def _before(counted: ScoreCounts, ties: str) -> IntArray:
    """Return how many of the documents with the same score come before each document, by the rule."""
    if not (counted.tied > 1).any():
        return np.zeros(len(counted.documents), np.int64)
    if counted.before is None:
        raise ValueError("some documents are tied, but those that come before them were not counted")
    return _by_grade(counted, counted.before, ties) if ties in ("worst", "best") else counted.before


def _by_grade(counted: ScoreCounts, before: IntArray, ties: str) -> IntArray:
    """Count anew with relevant documents last, or first: by grade, then by id, descending, as in a ranking.

    Documents without a judgment are like those of grade 0. So what is relevant only moves over the other documents of
    its block, and these only lose, or gain, what is relevant.
    """
    gains = np.maximum(counted.judgments.grades[counted.documents], 0)
    is_positive = gains > 0
    keys = np.column_stack(
        [counted.segments.owners, counted.above]
    )  # what has the same score has as many documents above
    # numpy 2.0.0 gives the inverse two dimensions where there is an axis
    block = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    num_positive = sums_of(is_positive, block, len(block)).astype(np.int64)[block]
    rank = _places(np.lexsort((before, gains if ties == "worst" else -gains, ~is_positive, block)), block)
    by_id = np.lexsort((before, block))
    passed = np.empty(len(block), np.int64)
    passed[by_id] = np.cumsum(is_positive[by_id]) - is_positive[by_id]
    passed -= passed[by_id][np.searchsorted(block[by_id], block)]  # those of earlier blocks
    if ties == "worst":
        return np.where(is_positive, counted.tied - num_positive + rank, before - passed)
    return np.where(is_positive, rank, before - passed + num_positive)


def _places(order: IntArray, block: IntArray) -> IntArray:
    """Return the place of each document within its block, from 0, given the order of all."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - np.searchsorted(block[order], block[order])
    return places


def id_ranks(document_ids: Sequence[bytes] | None, num_documents: int) -> IntArray:
    r"""Return the rank of each document in the order of the bytes of its id, from 0; without ids, of its index as text.

    >>> id_ranks([b"b", b"\xc3\xa9", b"B"], 3).tolist(), id_ranks(None, 12).tolist()
    ([1, 2, 0], [0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 2, 3])
    """
    if document_ids is None:
        ascending = np.lexsort(text_order(np.arange(num_documents))[::-1])
    else:
        ascending = np.array(sorted(range(num_documents), key=document_ids.__getitem__), np.int64)
    ranks = np.empty(num_documents, np.int64)
    ranks[ascending] = np.arange(num_documents)
    return ranks


def text_order(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return what numbers below 10^18 are sorted by as text: first by digits from the left, then by their length.

    >>> [each.tolist() for each in text_order(np.array([9, 10, 100]))]
    [[900000000000000000, 100000000000000000, 100000000000000000], [1, 2, 3]]
    """
    lengths = 1 + np.searchsorted(10 ** np.arange(1, 18), numbers, side="right")
    return numbers * 10 ** (18 - lengths), lengths


def tie_order(ties: str, document_ids: Sequence[bytes] | None, num_documents: int) -> Callable[[], IntArray]:
    """Return a function that numbers documents: of those with the same score, the one with the larger number is first.

    It is a function because most scores have no ties, and ids are then never sorted.

    >>> tie_order("input", None, 3)().tolist(), tie_order("trec", [b"x", b"z", b"y"], 3)().tolist()
    ([2, 1, 0], [0, 2, 1])
    """
    if ties == "input":
        return lambda: np.arange(num_documents - 1, -1, -1)
    return lambda: id_ranks(document_ids, num_documents)


def conventions_of(function: str, options: Mapping[str, Any]) -> Conventions:
    """Return the conventions among the options of a function; raise if one does not make sense for scores.

    >>> conventions_of("project_scores", {"depth": 10}).depth
    10
    >>> conventions_of("project_scores", {"corpus_size": 10})
    Traceback (most recent call last):
    lexirecall.errors.UsageError: corpus_size is given, but every document has a score, so its size is known
      leave it out
    """
    for name in options:
        if name in names_of(*READING) and name not in ACCEPTED:
            why, remedy = _REFUSED.get(name, ("nothing is read from files or tables", "leave it out"))
            raise UsageError(f"{name} is given, but {why}", remedy=remedy)
        if name not in ACCEPTED:
            raise TypeError(f"{function}() has no keyword {name!r}: {hint_at(name, ACCEPTED)}")
    conventions = Conventions(**among(Conventions, options))
    conventions.warn_of_optimism()
    return conventions

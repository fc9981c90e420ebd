"""Rankings: from documents and scores to the positions of the judged documents.

Belongs here: the order of rankings, tie rules and duplicates, over arrays of many rankings at once. Not here: where
rankings come from and how their documents are looked up (lists, rows), what is left of them (assembly).

The order is score descending, then, where scores are equal, as the tie rule says; file order and ranks do not matter.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lexirecall.formats.ids import changes, first_rows
from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of
from lexirecall.providers import members


@dataclass(frozen=True, slots=True)
class RankedLines:
    """The lines of many rankings, those of each in the order in which they were given."""

    rankings: IntArray
    """Which ranking each line is of."""
    scores: FloatArray
    judged: IntArray
    """Where its document is in the judgments, -1 if it is not there."""
    ranks: Callable[[IntArray, IntArray], IntArray]
    """Gives lines of blocks of equal scores, and the borders of the blocks, numbers from 0 that ascend, within a block,
    as the bytes of their ids do."""


def place(lines: RankedLines, grades: FloatArray, ties: str) -> IntArray:
    """Find the judged documents: ranking, position, document, and start and size of its block of equal scores, [n, 5].

    Positions ascend within a ranking.

    >>> rankings, scores, judged = np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 5.0, 5.0]), np.array([0, -1, -1, 1])
    >>> place(RankedLines(rankings, scores, judged, lambda lines, borders: lines), np.ones(2), "trec").tolist()
    [[0, 2, 0, 1, 1], [1, 1, 1, 0, 2]]
    """
    rankings, scores, judged = lines.rankings, lines.scores, lines.judged
    if (order := _order(rankings, scores)) is not None:
        rankings, scores, judged = rankings[order], scores[order], judged[order]
    is_first = changes(rankings)
    starts, blocks = np.flatnonzero(is_first), np.flatnonzero(is_first | changes(scores))
    borders = np.append(blocks, len(rankings))
    at = np.flatnonzero(judged >= 0)
    found, block = judged[at], np.searchsorted(blocks, at, side="right") - 1
    sizes = np.diff(borders)[block]
    if ties != "input" and (is_tied := sizes > 1).any():
        chosen = np.unique(block[is_tied])
        lengths, tied = np.diff(borders)[chosen], members(borders, chosen)
        ranks = lines.ranks(tied if order is None else order[tied], offsets_of(lengths))
        moved = np.empty(len(tied), np.int64)
        moved[_tie_order(np.repeat(chosen, lengths), ranks, judged[tied], grades, ties)] = tied
        at[is_tied] = moved[np.searchsorted(tied, at[is_tied])]
    first = blocks[block]
    start = starts[np.searchsorted(starts, first, side="right") - 1]
    rows = np.column_stack([rankings[first], at - start + 1, found, first - start, sizes])
    return rows[np.argsort(at, kind="stable")]


def place_all(lines: RankedLines, grades: FloatArray, ties: str) -> IntArray:
    """Find every document as `place` finds the judged ones; the third column says on which line each is.

    >>> lines = RankedLines(np.zeros(3, int), np.array([1.0, 3, 2]), np.array([-1, -1, 0]), lambda lines, _: lines)
    >>> place_all(lines, np.ones(1), "trec")[:, 2].tolist()
    [1, 2, 0]
    """
    gains = np.where(lines.judged >= 0, np.append(grades, 0.0)[lines.judged], 0.0)
    return place(replace(lines, judged=np.arange(len(lines.judged))), gains, ties)


def _order(rankings: IntArray, scores: FloatArray) -> IntArray | None:
    """Return the order by ranking, then by score descending, or None if the lines of each are already in it."""
    is_first = changes(rankings)
    heads = rankings[is_first]
    is_sorted = bool((is_first[1:] | (scores[1:] <= scores[:-1])).all()) and len(np.unique(heads)) == len(heads)
    # lexsort is stable, so equal scores stay in the order of the input, as ties="input" wants it
    return None if is_sorted else np.lexsort((-scores, rankings))


def _tie_order(blocks: IntArray, ranks: IntArray, judged: IntArray, grades: FloatArray, ties: str) -> IntArray:
    """Return the order of lines within their blocks: by id, descending, under some rules after the grade."""
    if ties not in ("worst", "best"):
        return np.argsort(blocks * len(ranks) - ranks)  # one key is sorted faster than two
    # sorting by grade serves every level at once: what is relevant to any of them comes last, or first
    gains = np.where(judged >= 0, np.maximum(grades[judged], 0), 0)
    return np.lexsort((-ranks, gains if ties == "worst" else -gains, blocks))


def rounded(scores: FloatArray, dtype: str) -> FloatArray:
    """Return scores as they are compared."""
    with np.errstate(over="ignore"):  # beyond float32 is infinity, as a cast in C has it
        return scores.astype(dtype, copy=False)


def repeated(documents: IntArray, scores: FloatArray | None, duplicates: str) -> tuple[BoolArray, IntArray]:
    """Tell which lines are left out, because another line of the same document is kept; return also which one.

    `documents` are numbers that lines share if they name the same document in the same ranking. The first line is kept,
    or that with the best score.

    >>> is_left_out, kept = repeated(np.array([7, 8, 7]), np.array([1.0, 2.0, 3.0]), "best")
    >>> is_left_out.tolist(), kept.tolist()
    ([True, False, False], [2, 1, 2])
    """
    kept = first_rows(documents, -scores if duplicates == "best" and scores is not None else None)
    return kept != np.arange(len(kept)), kept

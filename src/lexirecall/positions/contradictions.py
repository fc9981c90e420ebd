"""Contradictions: what the positions of no run can be.

Belongs here: what must hold between positions, lengths, corpus sizes, grades and conventions, in one place. Not here:
how a file says these (file), where positions come from (formats).
"""

import numpy as np

from lexirecall.judgments import BoolArray, IntArray, Judgments
from lexirecall.manifest import MOST_DOCUMENTS, Conventions
from lexirecall.tracks import Tracks


def contradiction(
    judged: Tracks,
    lengths: IntArray,
    corpus_size: IntArray | None,
    judgments: Judgments,
    rules: Conventions,
    *,
    is_whole: bool,
) -> str:
    """Return the first rule that is broken, or an empty text.

    `judged` are all judged documents that have a position, and `lengths` those of the rankings, -1 if unanswered; both
    for one run after the other, as is `corpus_size`. It is whole if judged documents that are not relevant are kept.

    >>> from lexirecall.segments import Segments
    >>> judgments = Judgments.from_grades({b"q": {b"a": 1, b"b": 1}})
    >>> judged = Tracks(Segments(np.array([0, 2])), np.array([3, 5]), np.array([0, 1]))
    >>> contradiction(judged, np.array([4]), None, judgments, Conventions(), is_whole=True)
    'a position is below the end of its ranking'
    """
    owners, places, grades = judged.segments.owners, judged.positions, judgments.grades[judged.documents]
    ends = np.maximum(lengths, 0)[owners]
    follows = np.append(False, owners[1:] == owners[:-1])[: len(owners)]
    is_imputed = (places > ends) & (rules.imputation == "optimistic")
    checks = {
        "a position is not counted from 1": places < 1,
        "two documents have the same position": follows & (np.diff(places, prepend=0) <= 0),
        "a ranking is longer than the depth": rules.depth is not None and lengths > rules.depth,
        "a ranking is longer than the corpus": corpus_size is not None and lengths > corpus_size,
        "the corpus size is missing": rules.imputation == "paper" and corpus_size is None,
        "a document that is not relevant has a position": not is_whole and grades <= 0,
    }
    if rules.imputation == "optimistic":
        num_placed = np.bincount(owners[grades > 0], minlength=len(lengths))
        is_second = follows & np.append(False, is_imputed)[: len(owners)]
        before = np.where(is_second, np.append(0, places)[: len(owners)], ends)
        checks |= {
            # np.resize repeats the counts, once for each run
            "a relevant document has no position": num_placed != np.resize(judgments.num_positive, len(lengths)),
            "what is missing does not follow its ranking": is_imputed & ((places != before + 1) | (grades <= 0)),
            "what is missing is not in the order of its grades": is_second & (np.diff(grades, prepend=0) > 0),
        }
    elif judged.block_starts is None or judged.block_sizes is None:
        checks["a position is below the end of its ranking"] = places > ends
    else:
        most = np.where(ends == rules.depth, MOST_DOCUMENTS, ends)  # at the cut a group may go on below
        most = most if corpus_size is None else np.minimum(most, corpus_size[owners])
        stops = judged.block_starts + judged.block_sizes
        checks["a position is below the end of its ranking"] = judged.block_starts >= ends
        checks |= _of_groups(places, judged.block_starts, stops, most, follows)
    if rules.judged_only:
        num_listed = np.bincount(owners[~is_imputed], minlength=len(lengths))
        checks |= {
            "a document without a judgment is in its ranking": is_whole and num_listed != np.maximum(lengths, 0),
            "a document of a negative grade is in its ranking": ~is_imputed & (grades < 0),
        }
    return next((rule for rule, is_broken in checks.items() if np.any(is_broken)), "")


def _of_groups(
    places: IntArray, starts: IntArray, stops: IntArray, most: IntArray, follows: BoolArray
) -> dict[str, BoolArray]:
    """Check groups of equal scores; each document's goes from its start to its stop, which is `most` at the most."""
    is_same = np.diff(starts, prepend=-1) == 0
    is_apart = np.append(0, stops)[: len(stops)] <= starts
    return {
        "a group of equal scores does not hold its document": (places <= starts) | (places > stops),
        "a group of equal scores is longer than its ranking": stops > most,
        "two groups of equal scores overlap": follows & ~np.where(is_same, np.diff(stops, prepend=0) == 0, is_apart),
    }

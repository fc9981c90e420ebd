"""Checkpoints: the same queries, ranked by the model that it is now and by the one that it was.

Belongs here: positions of several checkpoints side by side, and the win rate of one against another. Not here: which
checkpoint is kept as the best (evaluator), the preference itself (preferences).
"""

from dataclasses import replace
from itertools import chain

import numpy as np

from lexirecall.errors import DataError
from lexirecall.judgments import Judgments
from lexirecall.positions import Positions
from lexirecall.tracks import Tracks
from lexirecall.verbs.evaluate import evaluate

MEASURES = ("TSE", "LastRel", "All@100", "R@100", "AP", "nDCG@10", "RR@10")
"""What is computed at a checkpoint if nothing else is asked for."""


def side_by_side(*checkpoints: Positions) -> Positions:
    """Return the runs of several positions of the same judgments as one, in the order given.

    >>> from lexirecall import project
    >>> now, then = (project({"q": {"a": 1}}, {name: {"q": ["x", "a"]}}) for name in ("now", "then"))
    >>> side_by_side(now, then).systems
    ('now', 'then')
    """
    first = checkpoints[0]
    for other in checkpoints[1:]:
        if not _are_equal(first.judgments, other.judgments):
            raise DataError(
                f"{other.systems[0]} was evaluated with other relevant documents than {first.systems[0]}",
                remedy="evaluate both with the same ones, in the same order",
            )
        if first.conventions != other.conventions:
            raise DataError(
                f"{other.systems[0]} was evaluated with {other.conventions}, but {first.systems[0]} with "
                f"{first.conventions}",
                remedy="evaluate both in the same way",
            )
    others = [each.others for each in checkpoints if each.others is not None]
    return replace(
        first,
        systems=tuple(chain.from_iterable(each.systems for each in checkpoints)),
        answered=np.concatenate([each.answered for each in checkpoints]),
        num_retrieved=np.concatenate([each.num_retrieved for each in checkpoints]),
        found=Tracks.concatenate([each.found for each in checkpoints]),
        others=Tracks.concatenate(others) if len(others) == len(checkpoints) else None,
        num_unjudged=tuple(chain.from_iterable(each.num_unjudged for each in checkpoints)),
        num_duplicates=tuple(chain.from_iterable(each.num_duplicates for each in checkpoints)),
        num_extra=tuple(chain.from_iterable(each.num_extra for each in checkpoints)),
        mismatches=tuple(chain.from_iterable(each.mismatches for each in checkpoints)),
    )


def win_rate(now: Positions, then: Positions, preference: str = "LexiRecall", level: float = 1) -> float:
    """Return the share of queries that a checkpoint wins against another one; a tie counts as half.

    >>> from lexirecall import project
    >>> qrels = {"q": {"a": 1}, "r": {"b": 1}}
    >>> now, then = project(qrels, {"q": ["a"], "r": ["b"]}), project(qrels, {"q": ["x", "a"], "r": ["b"]})
    >>> win_rate(now, then)
    0.75
    """
    return float(evaluate(side_by_side(now, then), measures=[preference], level=level).means[0, 0])


def _are_equal(one: Judgments, other: Judgments) -> bool:
    def content(judgments: Judgments) -> tuple[object, ...]:
        arrays = judgments.items.offsets, judgments.offsets, judgments.grades
        return judgments.requests, judgments.items.buffer, *(array.tolist() for array in arrays)

    return one is other or content(one) == content(other)

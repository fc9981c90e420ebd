"""Checkpoints: the same queries, ranked by the model that it is now and by another one, such as the one that it was.

Belongs here: positions of two checkpoints side by side, and the win rate of one against the other. Not here: which
checkpoint is kept as the best (evaluator), the preference itself (preferences).
"""

import os
from dataclasses import replace

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, shown
from lexirecall.formats import load_positions
from lexirecall.formats.positionsrun import PositionsRun
from lexirecall.judgments import IntArray, PackedIds, offsets_of
from lexirecall.positions import Positions
from lexirecall.providers import members
from lexirecall.verbs.evaluate import evaluate

MEASURES = ("TSE", "LastRel", "All@100", "R@100", "AP", "nDCG@10", "RR@10")
"""What is computed at a checkpoint if nothing else is asked for."""
Baseline = Positions | str | os.PathLike[str]
"""Positions of one run, or the positions file that keeps them."""


def baseline_of(given: Baseline) -> Positions:
    """Return the positions of a baseline, which must be one run.

    >>> from lexirecall import project
    >>> baseline_of(project({"q": {"a": 1}}, {"one": {"q": ["a"]}, "other": {"q": ["a"]}}))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: the baseline has 2 runs (one, other), but must be one
      save the positions of one run, or project it alone
    """
    positions = given if isinstance(given, Positions) else load_positions(given)
    if len(positions.systems) != 1:
        raise UsageError(
            f"the baseline has {counted(len(positions.systems), 'run')} ({listed(positions.systems)}), but must be one",
            remedy="save the positions of one run, or project it alone",
        )
    return positions


def win_rate(now: Positions, then: Positions, preference: str = "LexiRecall", level: float = 1) -> float:
    """Return the share of queries that a checkpoint wins against another one; a tie counts as half.

    >>> from lexirecall import project
    >>> qrels = {"q": {"a": 1}, "r": {"b": 1}}
    >>> now, then = project(qrels, {"q": ["a"], "r": ["b"]}), project(qrels, {"q": ["x", "a"], "r": ["b"]})
    >>> win_rate(now, then)
    0.75
    """
    return float(evaluate(side_by_side(now, then), measures=[preference], level=level).means[0, 0])


def side_by_side(now: Positions, then: Positions) -> Positions:
    """Return two runs as one, with the queries of the first; the other may have more of them, in any order.

    >>> from lexirecall import project
    >>> now = project({"q": {"a": 1}}, {"now": {"q": ["x", "a"]}})
    >>> then = project({"p": {"b": 1}, "q": {"a": 1}}, {"then": {"p": ["b"], "q": ["a"]}})
    >>> side_by_side(now, then).found.positions.tolist()
    [2, 1]
    """
    same = _of_requests(then, now)
    if (differing := np.flatnonzero(_sizes(now) != _sizes(same))).size:
        of_now, of_then = (int(_sizes(each)[differing[0]]) for each in (now, same))
        size = "an unknown number of" if of_then < 0 else f"{of_then:,}"
        raise DataError(
            f"{then.systems[0]} ranked a corpus of {size} documents, but {now.systems[0]} one of {of_now:,}",
            remedy="compare models on the same corpus, with the same documents excluded",
        )
    has_others = now.others is not None and same.others is not None
    systems = [
        system
        for each in (now, same)
        for system in PositionsRun(each, each.systems[0], is_given=True, label=each.systems[0]).systems(
            now.judgments, now.conventions, None, needs_judged=has_others
        )
    ]
    return Positions.stack(now.judgments, systems, now.conventions, now.corpus_size)


def _sizes(positions: Positions) -> IntArray:
    """Return n of each query; -1 where it is not known."""
    return np.full(positions.shape[1], -1) if positions.corpus_size is None else positions.corpus_size


def _of_requests(positions: Positions, other: Positions) -> Positions:
    """Return the positions of the queries that another one has."""
    judgments, place = positions.judgments, positions.judgments.index
    if missing := [request for request in other.judgments.request_ids if request not in place]:
        raise DataError(
            f"{positions.systems[0]} has no positions of query {listed(map(shown, missing), most=3)}",
            remedy="compare it on the queries that it was evaluated with, under the same ids",
        )
    rows = np.array([place[request] for request in other.judgments.request_ids], np.int64)
    chosen = members(judgments.offsets, rows)
    numbers = np.full(len(judgments.grades), -1)
    numbers[chosen] = np.arange(len(chosen))
    ids = list(judgments.items)
    kept = replace(
        judgments,
        requests=other.requests,
        request_ids=other.judgments.request_ids,
        offsets=offsets_of(np.diff(judgments.offsets)[rows]),
        items=PackedIds.pack([ids[item] for item in chosen.tolist()]),
        grades=judgments.grades[chosen],
        num_positive=judgments.num_positive[rows],
        _lookups={},
    )
    return replace(
        positions,
        judgments=kept,
        answered=positions.answered[:, rows],
        num_retrieved=positions.num_retrieved[:, rows],
        found=positions.found.of_rankings(rows, numbers),
        others=None if positions.others is None else positions.others.of_rankings(rows, numbers),
        corpus_size=None if positions.corpus_size is None else positions.corpus_size[rows],
    )

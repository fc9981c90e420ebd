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
from lexirecall.judgments import IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.providers import members
from lexirecall.tracks import RunPositions
from lexirecall.verbs.evaluate import evaluate

MEASURES = ("TSE", "LastRel", "All@100", "R@100", "AP", "nDCG@10", "RR@10")
"""What is computed at a checkpoint if nothing else is asked for."""
Baseline = Positions | str | os.PathLike[str]
"""Positions of one run, or the positions file that keeps them."""


def baseline_of(baseline: Baseline) -> Positions:
    """Return the positions of a baseline, which must be one run.

    >>> from lexirecall import project
    >>> baseline_of(project({"q": {"a": 1}}, {"one": {"q": ["a"]}, "other": {"q": ["a"]}}))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: the baseline has 2 runs (one, other), but must be one
      save the positions of one run, or project it alone
    """
    positions = baseline if isinstance(baseline, Positions) else load_positions(baseline)
    if len(positions.runs) != 1:
        raise UsageError(
            f"the baseline has {counted(len(positions.runs), 'run')} ({listed(positions.runs)}), but must be one",
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
    needs_judged = now.others is not None and then.others is not None
    runs = [
        fitting(positions, now.judgments, now.conventions, now.corpus_size, needs_judged=needs_judged)
        for positions in (now, then)
    ]
    return Positions.stack(now.judgments, runs, now.conventions, now.corpus_size)


def fitting(
    then: Positions,
    judgments: Judgments,
    conventions: Conventions,
    sizes: IntArray | None,
    *,
    needs_judged: bool = False,
) -> RunPositions:
    """Return a run's positions of the queries of the judgments; raise unless they can be compared with others of these.

    >>> from lexirecall import project
    >>> then = project({"q": {"a": 1}}, {"then": {"q": ["a"]}}, corpus_size=7)
    >>> fitting(then, then.judgments, then.conventions, np.array([9]))
    Traceback (most recent call last):
    lexirecall.errors.DataError: then ranked a corpus of 7 documents for query 'q', but the corpus has 9 now
      compare models on the same corpus, with the same documents excluded
    """
    name, same = then.runs[0], _of_queries(then, judgments)
    sizes_then, sizes_now = (np.full(len(judgments.queries), -1) if n is None else n for n in (same.corpus_size, sizes))
    if (differing := np.flatnonzero(sizes_then != sizes_now)).size:
        q = int(differing[0])
        size, now = ("an unknown number of" if n < 0 else f"{n:,}" for n in (int(sizes_then[q]), int(sizes_now[q])))
        query = shown(judgments.queries[q])
        raise DataError(
            f"{name} ranked a corpus of {size} documents for query {query}, but the corpus has {now} now",
            remedy="compare models on the same corpus, with the same documents excluded",
        )
    run = PositionsRun(same, name, is_given=True, label=name)
    return run.runs(judgments, conventions, None, needs_judged=needs_judged)[0]


def _of_queries(positions: Positions, others: Judgments) -> Positions:
    """Return the positions of the queries that other judgments have."""
    judgments, place = positions.judgments, positions.judgments.index
    if missing := [query for query in others.query_ids if query not in place]:
        raise DataError(
            f"{positions.runs[0]} has no positions of query {listed(map(shown, missing), most=3)}",
            remedy="compare it on the queries that it was evaluated with, under the same ids",
        )
    rows = np.array([place[query] for query in others.query_ids], np.int64)
    chosen = members(judgments.offsets, rows)
    numbers = np.full(len(judgments.grades), -1)
    numbers[chosen] = np.arange(len(chosen))
    texts = np.frombuffer(judgments.documents.buffer, np.uint8)[members(judgments.documents.offsets, chosen)]
    kept = replace(
        judgments,
        queries=others.queries,
        query_ids=others.query_ids,
        offsets=offsets_of(np.diff(judgments.offsets)[rows]),
        documents=PackedIds(texts.tobytes(), offsets_of(np.diff(judgments.documents.offsets)[chosen])),
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

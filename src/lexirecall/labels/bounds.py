"""Bounds: the lowest and the highest value that a measure could have if the unjudged documents of a run were judged.

Belongs here: which measures have bounds, and the bounds of each run by itself. Not here: which labellings are tried
(ladders), two runs under one labelling (flips).

A run's own unjudged documents may be relevant or not, in all combinations, and there is no need to try all of these. If
a measure never gets worse when a relevant document moves up, the best of all labellings with j new relevant documents
makes the first j relevant, and the worst one the last j. The number of relevant documents is the same in both. So the
best of the first 0, 1, 2, … and the worst of the last 0, 1, 2, … are the bounds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lexirecall.errors import UsageError, listed
from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.labels.ladders import Ladder
from lexirecall.labels.pools import Labelling, LabelPool
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.names import Evaluable
from lexirecall.preferences import Preference
from lexirecall.progress import Progress
from lexirecall.verbs.evaluate import QueryValues

_CELLS = 2**21  # labels of documents that are tried together; a hundred megabytes at most


class Bounds(NamedTuple):
    """The bounds of S runs on Q queries under C measures, on the scale of each measure, so that low <= high.

    They are nan where the run has no value: on queries that do not count, and where all labellings leave the measure
    undefined. A bound is infinite if only some labellings do: Depth@0.5 has no value while too few documents are found.
    """

    low: FloatArray
    """[S, Q, C]."""
    high: FloatArray
    """[S, Q, C]."""


def check_bounded(rows: Sequence[Evaluable]) -> None:
    """Raise if there are no bounds of a row, with the names and the reasons of all such.

    >>> from lexirecall.names import parse_measures
    >>> check_bounded(parse_measures("AP Bpref Judged@10"))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: no bounds of Bpref, Judged@10 (they look at judged documents that are not relevant)
      leave them out
    """
    without: dict[str, list[str]] = {}
    for row in rows:
        if (reason := _unbounded(row)) is not None:
            without.setdefault(reason, []).append(str(row))
    if without:
        names = "; ".join(f"{listed(names, 20)} ({reason})" for reason, names in without.items())
        raise UsageError(f"no bounds of {names}", remedy="leave them out")


def _unbounded(row: Evaluable) -> str | None:
    """Say why the first or the last documents are not extreme, or why a run has no value; None if there are bounds."""
    if isinstance(row, Preference):
        return "they compare two runs"
    reasons = {
        "they look at judged documents that are not relevant": row.needs_judged,
        "they need a map of documents to providers": row.needs_providers,
        "they need a map of documents to units": row.needs_units,
        "they may fall when a relevant document moves up": not row.rewards_moving_up,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def bounds_of(
    pools: Sequence[LabelPool],
    rows: Sequence[Measure],
    labelling: Labelling,
    *,
    policies: Policies,
    progress: Progress | None = None,
) -> Bounds:
    """Return the bounds of each run on the query of each pool under each measure.

    Labels are those of documents that the run itself retrieves. A new relevant document has the lowest grade that the
    measure takes as relevant, or the level of the policies if it uses grades; the grade of `labelling` is not looked
    at. `progress` is told of each run, query and measure.

    >>> from lexirecall.formats.listing import load_lists
    >>> from lexirecall.labels.pools import pools_of
    >>> from lexirecall.manifest import Conventions
    >>> from lexirecall.measures import AP, R
    >>> pools = list(pools_of(load_lists({"q": {"a": 1}}, {"one": {"q": ["x", "a", "y"]}})))
    >>> bounds = bounds_of(pools, [AP, R @ 2], Labelling(("one",), Conventions()), policies=Policies())
    >>> bounds.low.tolist(), bounds.high.tolist()
    ([[[0.5, 0.5]]], [[[1.0, 1.0]]])
    """
    check_bounded(rows)
    ends = np.full((2, len(labelling.runs), len(pools), len(rows)), np.nan)
    for s, name in enumerate(labelling.runs):
        run_pools = [pool.of_runs([s]) for pool in pools]
        for c, row in enumerate(row.require_settings() for row in rows):
            grade = policies.level if row.uses_grades else row.level(policies.level)
            of_run = replace(labelling, runs=(name,), grade=grade)
            ends[:, s, :, c] = _of_run(run_pools, row, of_run, policies, progress)
    return Bounds(*ends)


def _of_run(
    pools: Sequence[LabelPool], row: Measure, labelling: Labelling, policies: Policies, progress: Progress | None
) -> FloatArray:
    """Return the lowest and the highest value on each query, [2, Q]."""
    low, high, now = np.full((3, len(pools)), np.nan)
    for batch in filter(None, _batches(pools, row, labelling, policies)):
        tried = [labels for _, labels in batch]
        positions = labelling.positions([pools[q] for q, _ in batch], tried)
        values = QueryValues.of(positions, [row], policies).placed[0, :, 0]
        queries = np.repeat([q for q, _ in batch], [len(labels) for labels in tried])
        # A query has many labellings, of which plain indexing would keep the last. fmin passes over the first nan.
        np.fmin.at(low, queries, values)
        np.fmax.at(high, queries, values)
        is_now = ~np.concatenate([labels.any(axis=1) for labels in tried])
        now[queries[is_now]] = values[is_now]
        if progress is not None:
            progress.advance(int(is_now.sum()))
    is_undefined = np.isnan(now) | (np.isinf(low) & np.isinf(high))
    return np.where(is_undefined, np.nan, [low, high])


Tried = list[tuple[int, BoolArray]]
"""Some labellings of some pools: the number of each pool, and its labels, [L, I]."""


def _batches(pools: Sequence[LabelPool], row: Measure, labelling: Labelling, policies: Policies) -> Iterator[Tried]:
    """Give the labellings that hold the extremes, so many at a time that memory is bounded."""
    batch: Tried = []
    num_cells = 0
    for q, pool in enumerate(pools):
        ladder = Ladder.of(pool, row.level(policies.level), labelling)
        spans = ladder.spans_to_try(row)
        size = max(1, _CELLS // max(1, len(pool.documents)))
        for start in range(0, len(spans), size):
            labels = ladder.labels(spans[start : start + size])
            if num_cells + labels.size > _CELLS:
                yield batch
                batch, num_cells = [], 0
            batch.append((q, labels))
            num_cells += labels.size
    yield batch

"""Orientation: how much of a measure's range depends on the first relevant document, and how much on the last.

Belongs here: precision and recall orientation, and the values of rankings of the whole corpus that they compare.
Not here: how often two such rankings tie (chance).

Two rankings of a corpus of n documents that differ in one place are compared. For precision the first relevant document
is at 1 or down with the others, n - m + 1 … n. For recall the last one is at m, right below the others, or at n.
"""

from typing import Any

import numpy as np

from lexirecall.errors import UsageError, check_count
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.measures import TSE, Measure
from lexirecall.names import parse_measure
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.tracks import Tracks


def precision_orientation(measure: Measure | str, num_relevant: int, corpus_size: int) -> float:
    """Return what a measure loses if the first relevant document sinks from the top to the others at the bottom.

    direction · (μ(1, n-m+2, …, n) - μ(n-m+1, …, n)). TSE is scaled to its bounds e(n) and e(m), so every exposure gives
    the same. It is 0 if m = n, where there is only one placement.

    >>> precision_orientation("RR", 10, 100_000) > 0.9999, precision_orientation("TSE", 10, 100_000)
    (True, 0.0)

    Reference: DiazEM25, metric orientation.
    """
    measure, m, n = _checked(measure, num_relevant, corpus_size)
    bottom = np.arange(n - m + 1, n + 1)
    return _change(measure, np.concatenate([[1], bottom[1:]]), bottom, n)


def recall_orientation(measure: Measure | str, num_relevant: int, corpus_size: int) -> float:
    """Return what a measure loses if the last relevant document sinks from right below the others to the bottom.

    direction · (μ(1, …, m) - μ(1, …, m-1, n)). TSE is scaled to its bounds e(n) and e(m), so every exposure gives the
    same. It is 0 if m = n, where there is only one placement.

    >>> recall_orientation("R@1000", 4, 100_000), recall_orientation("TSE(e='dcg')", 4, 100_000)
    (0.25, 1.0)

    Reference: DiazEM25, metric orientation.
    """
    measure, m, n = _checked(measure, num_relevant, corpus_size)
    top = np.arange(1, m + 1)
    return _change(measure, top, np.concatenate([top[:-1], [n]]), n)


def _change(measure: Measure, better: IntArray, worse: IntArray, n: int) -> float:
    if is_row(measure, TSE):
        measure = measure(e="ap")  # when scaled, all exposures agree, and this one never underflows
    first, second = measure.direction * values_of_complete(measure, np.stack([better, worse]), n)
    return float(first - second) / (_range(measure, len(better), n) if is_row(measure, TSE) else 1)


def _range(measure: Measure, m: int, n: int) -> float:
    """Return e(m) - e(n) of TSE, or 1 if a cut-off above m, or m = n, leaves no range to scale."""
    top = np.arange(1, m + 1)
    best, worst = values_of_complete(measure, np.stack([top, top + (n - m)]), n)
    return float(best - worst) or 1.0


def is_row(measure: Measure, row: Measure) -> bool:
    """Tell whether a measure is this row of the table, with any settings.

    >>> is_row(TSE(e="dcg"), TSE), is_row(Measure("TSE", "another", of_positions=max), TSE)
    (True, False)
    """
    return measure.name == row.name and measure.formulas == row.formulas


def values_of_complete(measure: Measure, positions: IntArray, corpus_size: int) -> FloatArray:
    """Return the values of K rankings of the whole corpus, from the ascending positions of their documents, [K, m].

    Nothing is missing, so nothing is imputed, and every list has the length n. Grades are 1.

    >>> from lexirecall.measures import LAST_REL, SET_P
    >>> [values_of_complete(measure, np.array([[1, 2], [1, 5]]), 10).tolist() for measure in (LAST_REL, SET_P)]
    [[2.0, 5.0], [0.2, 0.2]]
    """
    if measure.needs_judged:
        raise UsageError(
            f"{measure} also depends on the judged non-relevant documents",
            remedy="choose a measure of the positions of the relevant documents",
        )
    num_rankings, m = positions.shape
    level = measure.level(1)
    grades = {str(document).encode(): max(level, 1.0) for document in range(m)}
    source = Positions(
        runs=("",) * num_rankings,
        judgments=Judgments.from_grades({b"": grades}),
        conventions=Conventions(),
        answered=np.ones((num_rankings, 1), bool),
        num_retrieved=np.full((num_rankings, 1), corpus_size),
        found=Tracks(Segments(np.arange(num_rankings + 1) * m), positions.ravel(), np.tile(np.arange(m), num_rankings)),
        others=None,
        corpus_size=np.array([corpus_size]),
    )
    return measure.scores(source.at_level(level))[:, 0]


def _checked(measure: Measure | str, num_relevant: Any, corpus_size: Any) -> tuple[Measure, int, int]:
    m, n = placed(num_relevant, corpus_size)
    return parse_measure(measure), m, n


def placed(num_relevant: Any, corpus_size: Any) -> tuple[int, int]:
    """Return m and n, or raise unless m relevant documents, one or more, fit in a corpus of n.

    >>> placed(11, 10)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: 11 relevant documents do not fit in a corpus of 10
    """
    for name, number in (("num_relevant", num_relevant), ("corpus_size", corpus_size)):
        check_count(name, number, 1)
    if num_relevant > corpus_size:
        raise UsageError(f"{num_relevant:,} relevant documents do not fit in a corpus of {corpus_size:,}")
    return int(num_relevant), int(corpus_size)

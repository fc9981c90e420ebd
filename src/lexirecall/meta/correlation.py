"""Correlation: how alike the orders are in which two measures put the runs.

Belongs here: Kendall's tau between the orders of runs by their means, with an interval over queries. Not here: tau
itself (statistics.kendall).
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.meta.conclusions import Outcomes
from lexirecall.meta.resampling import Bootstrap
from lexirecall.meta.shares import bounded
from lexirecall.statistics.kendall import kendall_tau

COLUMNS = ("collection", "task", "label", "a", "b", "tau", "tau_low", "tau_high", "runs", "pairs", "queries")


def tau_rows(outcomes: Mapping[str, Outcomes], bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Return tau between each pair of measures, with its interval.

    The runs are put in order by their mean value, or for a preference by their mean preference against the others.
    """
    names, averages = list(outcomes), [outcome.averages() for outcome in outcomes.values()]
    if len(names) < 2:
        return []
    taus = kendall_tau(np.stack([_means(values.sum(axis=1), part.sum(axis=1)) for values, part in averages]))
    lows, highs = _intervals(averages, bootstrap, len(names))
    num_runs = averages[0][0].shape[0]
    counts = {"runs": num_runs, "pairs": num_runs * (num_runs - 1) // 2, "queries": bootstrap.num_queries}
    return [
        {"a": names[i], "b": names[j], **bounded("tau", taus[i, j], lows[i, j], highs[i, j]), **counts}
        for i, j in combinations(range(len(names)), 2)
    ]


def _intervals(averages: list[Any], bootstrap: Bootstrap, num_measures: int) -> tuple[FloatArray, FloatArray]:
    if not bootstrap.is_possible:
        return (np.full((num_measures, num_measures), np.nan),) * 2
    means = np.stack(
        [_means(bootstrap.sums(values.T), bootstrap.sums(part.T.astype(float))) for values, part in averages], axis=1
    )  # [resamples, measures, runs]
    return bootstrap.intervals(np.stack([kendall_tau(resample) for resample in means]))


def _means(sums: FloatArray, counts: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts)

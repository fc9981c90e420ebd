"""Correlation: how alike the orders are in which two measures put the systems.

Belongs here: Kendall's tau between the orders of systems by their means, with an interval over requests.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.measures.measure import TOLERANCE
from lexirecall.meta.conclusions import Outcomes
from lexirecall.meta.resampling import Bootstrap
from lexirecall.meta.shares import bounded

COLUMNS = ("collection", "task", "label", "a", "b", "tau", "tau_low", "tau_high", "runs", "pairs", "queries")


def kendall_tau(means: FloatArray) -> FloatArray:
    """Return Kendall's tau-b between each pair of M orders of S systems, given as means, [M, S]: [M, M].

    tau-b = (concordant - discordant)/sqrt((pairs untied in one)(pairs untied in the other)), nan if an order ties all.
    Means within 1e-12 of the larger one are tied.

    >>> kendall_tau(np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.5, 0.5, 0.9]])).round(4).tolist()
    [[1.0, 0.3333, 0.8165], [0.3333, 1.0, 0.8165], [0.8165, 0.8165, 1.0]]
    """
    a, b = np.triu_indices(means.shape[1], 1)
    x, y = means[:, a], means[:, b]
    with np.errstate(invalid="ignore"):
        is_tied = np.abs(x - y) <= TOLERANCE * np.maximum(np.abs(x), np.abs(y))
    signs = np.where(is_tied | np.isnan(x - y), 0.0, np.sign(x - y))
    balance = signs @ signs.T
    untied = np.diagonal(balance)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(balance / np.sqrt(untied[:, None] * untied))


def tau_rows(outcomes: Mapping[str, Outcomes], bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Return tau between each pair of measures, with its interval.

    The systems are put in order by their mean value, or for a preference by their mean preference against the others.
    """
    names, averages = list(outcomes), [each.averages() for each in outcomes.values()]
    if len(names) < 2:
        return []
    taus = kendall_tau(np.stack([_means(values.sum(axis=1), part.sum(axis=1)) for values, part in averages]))
    lows, highs = _intervals(averages, bootstrap, len(names))
    num_systems = averages[0][0].shape[0]
    counts = {"runs": num_systems, "pairs": num_systems * (num_systems - 1) // 2, "queries": bootstrap.num_requests}
    return [
        {"a": names[i], "b": names[j], **bounded("tau", taus[i, j], lows[i, j], highs[i, j]), **counts}
        for i, j in combinations(range(len(names)), 2)
    ]


def _intervals(averages: list[Any], bootstrap: Bootstrap, num_measures: int) -> tuple[FloatArray, FloatArray]:
    if not bootstrap.is_possible:
        return (np.full((num_measures, num_measures), np.nan),) * 2
    means = np.stack(
        [_means(bootstrap.sums(values.T), bootstrap.sums(part.T.astype(float))) for values, part in averages], axis=1
    )  # [resamples, measures, systems]
    return bootstrap.intervals(np.stack([kendall_tau(each) for each in means]))


def _means(sums: FloatArray, counts: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts)

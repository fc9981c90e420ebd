"""Groups: neighbours in the order of a measure that the tests do not tell apart.

Belongs here: that order, and the bars of a critical-difference diagram. Not here: the tests (statistics), the drawing
(assets).
"""

from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray
from lexirecall.page.findings import Findings
from lexirecall.verbs.averages import order_by_mean


def group_columns(findings: Findings) -> dict[str, Any]:
    """Return the runs under each measure, best first, and the groups as pairs of first and last places among them.

    Runs are known by their place on the page. A measure has None instead of groups if there is a single run, if
    nothing was tested, or if there is a baseline: only some pairs are tested then.
    """
    orders = [order_under(findings, k) for k in range(len(findings.scores.measures))]
    return {"group_order": orders, "groups": [_groups(findings, k, order) for k, order in enumerate(orders)]}


def order_under(findings: Findings, k: int) -> list[int]:
    """Return the runs, as places on the page, best mean first; equal ones in page order, undefined ones last."""
    means = findings.scores.means[findings.places, k]
    return order_by_mean(findings.scores.measures[k], means).tolist()  # type: ignore[no-any-return]


def _groups(findings: Findings, k: int, order: list[int]) -> list[list[int]] | None:
    comparison = findings.comparison
    if comparison is None or comparison.baselines:
        return None
    compared = comparison.measures[k]
    if np.isnan(compared.corrected).all():
        return None
    better = compared.better(len(order), comparison.alpha)
    chosen = [findings.places[place] for place in order]
    return maximal_groups((better | better.T)[np.ix_(chosen, chosen)])


def maximal_groups(differs: BoolArray) -> list[list[int]]:
    """Return the longest intervals in which no two members differ, as [first, last]; `differs` is symmetric, [S, S].

    Every member is in at least one interval, if only its own. No interval contains another.

    >>> differs = np.zeros((4, 4), bool)
    >>> differs[0, 2] = differs[2, 0] = differs[1, 3] = differs[3, 1] = True
    >>> maximal_groups(differs)
    [[0, 1], [1, 2], [2, 3]]
    """
    size = len(differs)
    later = np.triu(differs, 1)
    nearest = np.where(later.any(axis=1), later.argmax(axis=1), size)  # the next one that differs
    lasts = np.minimum.accumulate(nearest[::-1])[::-1] - 1  # from which none from here on differs
    is_longest = np.diff(lasts, prepend=-1) > 0
    firsts = np.flatnonzero(is_longest)
    return np.column_stack([firsts, lasts[firsts]]).tolist()  # type: ignore[no-any-return]

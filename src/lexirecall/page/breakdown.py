"""Breakdown: the numbers over queries that are asked for, as a page carries them.

Belongs here: their layout, and the order of the groups under each measure. Not here: the numbers (verbs.breakdown), the
tables that show them (assets).
"""

from typing import Any

import numpy as np

from lexirecall.page.findings import Findings
from lexirecall.page.limits import Cutter
from lexirecall.page.rounding import rounded
from lexirecall.preferences import Preference
from lexirecall.verbs.breakdown import Breakdown, Portion, worth

_DIGITS = 17


def breakdown_columns(findings: Findings, cut: Cutter) -> dict[str, Any]:
    """Return the numbers of all queries and of each group; nothing if only the means are asked for.

    >>> from lexirecall import report
    >>> qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": ["x", "a"], "r": ["a"]}
    >>> by = {"q": "odd", "r": "even"}
    >>> page = report(qrels, run, "RR", output=None, over="min", by=by, min_queries=1)
    >>> [(part["group"], part["numbers"]) for part in page.payload["breakdown"]["parts"]]
    [(None, [[[0.5]]]), ('odd', [[[0.5]]]), ('even', [[[1]]])]
    """
    breakdown = findings.breakdown
    if breakdown is None:
        return {}
    by = None if breakdown.groups is None else cut(breakdown.groups.name)
    withheld = {"groups": len(breakdown.withheld), "queries": sum(size for _, size in breakdown.withheld)}
    overs, columns = range(len(breakdown.overs)), range(len(breakdown.measures))
    return {
        "breakdown": {
            "by": by,
            "overs": [str(over) for over in breakdown.overs],
            "min_queries": findings.aggregation.min_queries,
            "parts": [_columns(part, cut) for part in breakdown.parts],
            "orders": [[order_of(breakdown, o, k) for k in columns] for o in overs],
            "withheld": withheld,
            "without": breakdown.num_without,
        }
    }


def _columns(part: Portion, cut: Cutter) -> dict[str, Any]:
    ends = [(interval.lows, interval.highs) for interval in part.intervals]
    names = ("low", "high") if np.isfinite(ends).any() else ()
    resampled = {name: [rounded(pair[i], _DIGITS) for pair in ends] for i, name in enumerate(names)}
    group = None if part.group is None else cut(part.group)
    return {"group": group, "queries": part.num_queries, "numbers": rounded(part.numbers, _DIGITS), **resampled}


def order_of(breakdown: Breakdown, o: int, k: int) -> list[int]:
    """Return the groups, as places among the parts, the worst first: by the mean over the runs of one number.

    Equal ones are in the order of the parts, and those without a value are last. Win rates add up to the same in every
    group, so they leave the order as it is.
    """
    row, places = breakdown.measures[k], range(1, len(breakdown.parts))
    if isinstance(row, Preference):
        return [*places]
    return sorted(places, key=lambda place: worth(breakdown.parts[place], row, o, k))

"""Ties: how often a measure cannot tell two rankings of a query apart.

Belongs here: the share of ties.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lexirecall.meta.decisions import Decisions, by_pair
from lexirecall.meta.resampling import Bootstrap
from lexirecall.meta.shares import PooledShares, bounded, contrasts

COLUMNS = ("collection", "task", "label", "measure", "ties", "ties_low", "ties_high", "compared", "pairs", "queries")


def share_of_ties(decisions: Decisions) -> float | None:
    """Return the share of ties among all pairs of runs on all queries, pooled; None if nothing is compared.

    >>> import numpy as np
    >>> share_of_ties(Decisions(np.ones((3, 1), bool), ranks=np.array([[0], [1], [1]], np.int16)))
    0.3333333333333333
    """
    compared = decisions.num_compared
    return decisions.num_tied / compared if compared else None


def tie_rows(
    measures: Mapping[str, Decisions], bootstrap: Bootstrap
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return for each measure the share of ties with its interval and what it is a share of; and the contrasts."""
    shares = PooledShares.of([(decisions.tied, decisions.compared) for decisions in measures.values()])
    values, (lows, highs) = shares.values, bootstrap.intervals(shares.resampled(bootstrap))
    rows = [
        {"measure": name, **bounded("ties", values[i], lows[i], highs[i]), **denominators(decisions)}
        for i, (name, decisions) in enumerate(measures.items())
    ]
    counts = {name: by_pair(decisions, decisions) for name, decisions in measures.items()}
    tied = {name: np.stack([compared & ~decided, compared]) for name, (_, decided, compared) in counts.items()}
    return rows, list(contrasts("ties", tied, bootstrap))


def denominators(decisions: Decisions) -> dict[str, int]:
    """Return how many comparisons there are, of how many pairs of runs, on how many queries.

    >>> import numpy as np
    >>> denominators(Decisions(np.ones((3, 2), bool), ranks=np.zeros((3, 2), np.int16)))
    {'compared': 6, 'pairs': 3, 'queries': 2}
    """
    num_runs, compared = len(decisions.taking_part), decisions.compared
    return {
        "compared": int(compared.sum()),
        "pairs": num_runs * (num_runs - 1) // 2,
        "queries": int((compared > 0).sum()),
    }

"""Agreement: whether a measure that separates two rankings prefers the one that finds everything sooner.

Belongs here: agreement of LexiRecall with each measure.
"""

from collections.abc import Mapping
from typing import Any

from lexirecall.meta.decisions import Decisions, concordance
from lexirecall.meta.resampling import Bootstrap
from lexirecall.meta.shares import PooledShares, bounded, contrasts
from lexirecall.meta.ties import denominators

COLUMNS = (
    "collection", "task", "label", "measure", "agreement", "agreement_low", "agreement_high", "separated", "compared",
    "pairs", "queries",
)  # fmt: skip


def agreement(reference: Decisions, decisions: Decisions) -> tuple[float | None, int]:
    """Return how often the reference takes the side of a measure, and how many decisions of the measure there are.

    The share is over all pairs of systems and all requests, pooled, that the measure separates. The reference agrees if
    it has the same sign; where it ties, it disagrees. The share is None if the measure separates nothing.

    >>> import numpy as np
    >>> everyone = np.ones((3, 1), bool)
    >>> lexirecall = Decisions(everyone, ranks=np.array([[0], [1], [1]], np.int16))
    >>> measure = Decisions(everyone, ranks=np.array([[0], [1], [2]], np.int16))
    >>> agreement(lexirecall, measure)
    (0.6666666666666666, 3)

    Reference: DiazEM25, agreement with existing metrics.
    """
    counts = concordance(reference, decisions)
    return (counts.num_same / counts.num_decided if counts.num_decided else None), counts.num_decided


def agreement_rows(
    reference: Decisions, measures: Mapping[str, Decisions], bootstrap: Bootstrap
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return agreement with its interval and the number of decisions behind it, for each measure; and the contrasts."""
    if not measures:
        return [], []
    counts = {name: concordance(reference, decisions) for name, decisions in measures.items()}
    shares = PooledShares.of([(each.same, each.decided) for each in counts.values()])
    values, resampled = shares.values, shares.resampled(bootstrap)
    lows, highs = bootstrap.intervals(resampled)
    rows = [
        {"measure": name, **bounded("agreement", values[i], lows[i], highs[i]), "separated": counts[name].num_decided}
        | denominators(decisions)
        for i, (name, decisions) in enumerate(measures.items())
    ]
    return rows, list(contrasts("agreement", list(measures), values, resampled, bootstrap))

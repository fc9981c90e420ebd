"""Agreement: whether a measure that separates two rankings prefers the one that finds everything sooner.

Belongs here: agreement of LexiRecall with each measure.
"""

from collections.abc import Mapping
from typing import Any

from lexirecall.meta.decisions import Decisions, concordance

COLUMNS = ("collection", "label", "measure", "agreement", "separated")


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


def agreement_rows(reference: Decisions, measures: Mapping[str, Decisions]) -> list[dict[str, Any]]:
    """Return agreement and the number of decisions behind it, for each measure."""
    rows = []
    for name, decisions in measures.items():
        share, separated = agreement(reference, decisions)
        rows.append({"measure": name, "agreement": share, "separated": separated})
    return rows

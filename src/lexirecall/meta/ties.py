"""Ties: how often a measure cannot tell two rankings of a request apart.

Belongs here: the share of ties.
"""

from collections.abc import Mapping
from typing import Any

from lexirecall.meta.decisions import Decisions

COLUMNS = ("collection", "label", "measure", "ties", "compared")


def share_of_ties(decisions: Decisions) -> float | None:
    """Return the share of ties among all pairs of systems on all requests, pooled; None if nothing is compared.

    >>> import numpy as np
    >>> share_of_ties(Decisions(np.ones((3, 1), bool), ranks=np.array([[0], [1], [1]], np.int16)))
    0.3333333333333333
    """
    compared = decisions.num_compared
    return decisions.num_tied / compared if compared else None


def tie_rows(measures: Mapping[str, Decisions]) -> list[dict[str, Any]]:
    """Return for each measure the share of ties, and how many pairs are compared over all requests."""
    return [
        {"measure": name, "ties": share_of_ties(decisions), "compared": decisions.num_compared}
        for name, decisions in measures.items()
    ]

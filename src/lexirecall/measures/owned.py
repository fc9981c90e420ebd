"""Owned items: the exposure of each relevant item, and whose it is.

Belongs here: exposures item by item, for tests that hand the owners out anew. Not here: what exposure is, and that of
providers (`providers`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.measures.providers import exposure_of, mean_at_bottom, n_of_found, owners_of
from lexirecall.positions import Projection
from lexirecall.providers import members


@dataclass(frozen=True, slots=True, eq=False)
class OwnedItems:
    """The N relevant items of all requests, their exposure in S systems, and whose they are."""

    requests: IntArray
    strata: IntArray
    """The items of a request with the same grade have the same number; from 0 on, without a gap."""
    exposures: FloatArray
    """e(p) of each item, [S, N]; of missing ones, the mean of the last places."""
    offsets: IntArray
    owners: IntArray
    """The providers of item i are owners[offsets[i] : offsets[i + 1]]."""

    def by_stratum(self) -> "OwnedItems":
        """Return the items in the order of their strata."""
        order = np.argsort(self.strata, kind="stable")
        owners = self.owners[members(self.offsets, order)]
        offsets = offsets_of(np.diff(self.offsets)[order])
        return OwnedItems(self.requests[order], self.strata[order], self.exposures[:, order], offsets, owners)

    def of_systems(self, order: IntArray) -> "OwnedItems":
        """Return the items with the systems in another order."""
        return replace(self, exposures=self.exposures[order])


def owned_items(projection: Projection, e: str, p: float) -> OwnedItems:
    """Compute the exposure of each relevant item, also of those without a provider.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 2}}, {"q": ["x", "a"]}, providers={"a": "Ada", "b": ["Ada", "Ben"]})
    >>> items = owned_items(positions.at_level(1), "ap", 0.8)
    >>> items.exposures.tolist(), items.strata.tolist(), items.owners.tolist()
    ([[0.5, 0.0]], [0, 1], [0, 0, 1])
    """
    source, found = projection.source, projection.found
    settings: dict[str, Any] = {"e": e, "p": p}
    judgments, owners, num_requests = source.judgments, owners_of(source), source.shape[1]
    relevant = np.flatnonzero(judgments.grades >= projection.level)
    requests = np.searchsorted(judgments.offsets, relevant, side="right") - 1
    strata = np.unique(np.stack([requests, judgments.grades[relevant]]), axis=1, return_inverse=True)[1].reshape(-1)
    exposures = np.zeros((source.shape[0], len(relevant)))
    if (bottom := mean_at_bottom(projection, settings)) is not None:
        exposures[:] = bottom[:, requests]
    at = found.segments.owners // num_requests, np.searchsorted(relevant, found.items)
    exposures[at] = exposure_of(projection.positions, n_of_found(projection), **settings)
    return OwnedItems(
        requests,
        strata,
        exposures,
        offsets_of(np.diff(owners.offsets)[relevant]),
        owners.indices[members(owners.offsets, relevant)],
    )

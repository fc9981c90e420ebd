"""Owned documents: the exposure of each relevant document, and whose it is.

Belongs here: exposures document by document, for tests that hand the owners out anew. Not here: what exposure is, and
that of providers (`providers`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray, IntArray, offsets_of
from lexirecall.measures.providers import exposure_of, mean_at_bottom, n_of_found, owners_of
from lexirecall.positions import Projection
from lexirecall.providers import members


@dataclass(frozen=True, slots=True, eq=False)
class OwnedDocuments:
    """The N relevant documents of all queries, their exposure in S runs, and whose they are."""

    queries: IntArray
    strata: IntArray
    """The documents of a query with the same grade have the same number; from 0 on, without a gap."""
    exposures: FloatArray
    """e(p) of each document, [S, N]; of missing ones, the mean of the last places."""
    offsets: IntArray
    owners: IntArray
    """The providers of document i are owners[offsets[i] : offsets[i + 1]]."""

    def by_stratum(self) -> "OwnedDocuments":
        """Return the documents in the order of their strata."""
        order = np.argsort(self.strata, kind="stable")
        owners = self.owners[members(self.offsets, order)]
        offsets = offsets_of(np.diff(self.offsets)[order])
        return OwnedDocuments(self.queries[order], self.strata[order], self.exposures[:, order], offsets, owners)

    def of_runs(self, order: IntArray) -> "OwnedDocuments":
        """Return the documents with the runs in another order."""
        return replace(self, exposures=self.exposures[order])


def owned_documents(projection: Projection, e: str, p: float) -> OwnedDocuments:
    """Compute the exposure of each relevant document, also of those without a provider.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 2}}, {"q": ["x", "a"]}, providers={"a": "Ada", "b": ["Ada", "Ben"]})
    >>> documents = owned_documents(positions.at_level(1), "ap", 0.8)
    >>> documents.exposures.tolist(), documents.strata.tolist(), documents.owners.tolist()
    ([[0.5, 0.0]], [0, 1], [0, 0, 1])
    """
    source, found = projection.source, projection.found
    settings: dict[str, Any] = {"e": e, "p": p}
    judgments, owners, num_queries = source.judgments, owners_of(source), source.shape[1]
    relevant = np.flatnonzero(judgments.grades >= projection.level)
    queries = np.searchsorted(judgments.offsets, relevant, side="right") - 1
    strata = np.unique(np.stack([queries, judgments.grades[relevant]]), axis=1, return_inverse=True)[1].reshape(-1)
    exposures = np.zeros((source.shape[0], len(relevant)))
    if (bottom := mean_at_bottom(projection, settings)) is not None:
        exposures[:] = bottom[:, queries]
    at = found.segments.owners // num_queries, np.searchsorted(relevant, found.documents)
    exposures[at] = exposure_of(projection.positions, n_of_found(projection), **settings)
    return OwnedDocuments(
        queries,
        strata,
        exposures,
        offsets_of(np.diff(owners.offsets)[relevant]),
        owners.indices[members(owners.offsets, relevant)],
    )

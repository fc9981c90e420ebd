"""Owners: providers in numbers, which is all that a manifest and its notes say of them.

Belongs here: how many relevant documents have a provider, and what the exposures of all providers add up to. Not here:
the counts of queries and runs (census), exposure itself (measures).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.judgments import SMALLEST_GRADE, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.measures.providers import WORST_PROVIDER_OVERALL, ProviderExposure, audit_by
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.providers import EXAMPLES


@dataclass(frozen=True, slots=True)
class Owners:
    """What there is of providers."""

    name: str
    """What messages call the map."""
    providers: frozenset[str]
    """Those with a document of a positive grade."""
    num_without: int
    """Documents of a positive grade without a provider."""
    at_level: IntArray
    """At the lowest level that a measure of providers asks for: relevant documents; those without one; and queries
    that have such documents only."""
    without: tuple[int, Sequence[str | bytes]]
    """How many different documents those are, and the first of them."""
    rows: tuple[Measure, ...]
    """The measures of exposures, empty where tied documents have no order."""
    audits: tuple[ProviderExposure, ...]
    """The exposures, for each of these."""

    @classmethod
    def of(cls, positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> "Owners":
        """Count providers of positions with a map of them."""
        providers = positions.providers
        assert providers is not None  # noqa: S101 - whoever asks has looked
        judgments, level = positions.judgments, level_of_providers(measures, policies)
        num_relevant, without = judgments.num_relevant(level), providers.without(judgments, level)
        num_empty = (replace(policies, level=level).eligible(judgments) & ~providers.reach(judgments, level)).sum()
        documents = dict.fromkeys(judgments.documents[document] for document in without.tolist())
        rows = () if positions.conventions.ties == "expected" else overall_rows(measures)
        return cls(
            name=providers.name,
            providers=frozenset(providers.names),
            num_without=len(providers.without(judgments, SMALLEST_GRADE)),
            at_level=np.array([num_relevant.sum(), len(without), num_empty], np.int64),
            without=(len(documents), list(documents)[:EXAMPLES]),
            rows=rows,
            audits=tuple(audit_by(positions, row, policies) for row in rows),
        )

    def record(self) -> dict[str, Any]:
        """Return what a manifest says of the map."""
        return {"provider_map": self.name, "providers": len(self.providers), "without_provider": self.num_without}


def level_of_providers(measures: Sequence[Evaluable], policies: Policies) -> float:
    """Return the lowest level that a measure of providers asks for."""
    asked = (measure.level(policies.level) for measure in measures if measure.needs_providers)
    return min(asked, default=policies.level)


def overall_rows(measures: Sequence[Evaluable]) -> tuple[Measure, ...]:
    """Return the measures of the worst-off provider over all queries, or the default one if none is asked for."""
    rows = [row for row in measures if isinstance(row, Measure) and row.formulas == WORST_PROVIDER_OVERALL.formulas]
    return tuple(rows) or (WORST_PROVIDER_OVERALL,)

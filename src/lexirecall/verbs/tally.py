"""Tally: what the values of many requests add up to, here or in portions on a cluster.

Belongs here: sums and counts over requests, exact, so that neither their order nor the portions show; and the means,
checks, notes and manifest that follow from them, whoever counted. Not here: the values (evaluate), how often one run is
better than another (pairtally).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Note, Policies
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.sums import ExactSums
from lexirecall.verbs.averages import Averages, means_of
from lexirecall.verbs.census import Census
from lexirecall.verbs.notes import notes_on, notes_on_providers

if TYPE_CHECKING:
    from lexirecall.verbs.owners import Owners


@dataclass(frozen=True, slots=True)
class Tally:
    """What S runs × M measures add up to over some requests; tallies of different requests can be added."""

    census: Census
    owners: "Owners | None"
    sums: ExactSums
    """Of the values, [S, M]."""
    counts: IntArray
    """How many requests have a value, [S, M]."""
    num_due: IntArray
    """How many should have one, [S, M]."""
    undefined: IntArray
    """For each measure, how many values are undefined, and how many there should be, [M, 2]."""

    @classmethod
    def of(
        cls,
        positions: Positions,
        measures: Sequence[Evaluable],
        policies: Policies,
        values: FloatArray,
        num_due: IntArray,
    ) -> "Tally":
        """Count requests and add up their values, [S, Q, M]."""
        is_defined = ~np.isnan(values)
        return cls(
            Census.of(positions, {row.level(policies.level) for row in measures}),
            _owners_of(positions, measures, policies),
            ExactSums.of(np.where(is_defined, values, 0.0).transpose(1, 0, 2)),
            is_defined.sum(axis=1),
            num_due,
            _undefined(positions, measures, policies, ~is_defined),
        )

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.census + other.census,
            None if self.owners is None or other.owners is None else self.owners + other.owners,
            self.sums + other.sums,
            self.counts + other.counts,
            self.num_due + other.num_due,
            self.undefined + other.undefined,
        )

    def averages(
        self,
        measures: Sequence[Evaluable],
        policies: Policies,
        *,
        left_out: Iterable[Note] = (),
        **engine: Any,
    ) -> Averages:
        """Return the means with their record, or raise if there is nothing to measure.

        The notes begin with what was `left_out` of the measures. An `engine` gives its own reader and versions.
        """
        self.census.check_relevant(measures, policies.level)
        notes, owners, record = [*left_out, *notes_on(self.census, measures, self.undefined, policies)], self.owners, {}
        systems, audits = self.census.systems, [] if owners is None else owners.audits(self.census.systems)
        if owners is not None:
            notes += notes_on_providers(owners, audits)
            record = owners.record()
        manifest = self.census.manifest(measures, policies, notes, record, **engine)
        means, exposures = means_of(self.sums, self.counts, measures), next(iter(audits), None)
        return Averages(systems, tuple(measures), means, self.counts, self.num_due, manifest, exposures=exposures)


def _owners_of(positions: Positions, measures: Sequence[Evaluable], policies: Policies) -> "Owners | None":
    if positions.providers is None:
        return None
    from lexirecall.verbs.owners import Owners  # not on top: few runs have a map of providers

    return Owners.of(positions, measures, policies)


def _undefined(
    positions: Positions, measures: Sequence[Evaluable], policies: Policies, is_undefined: BoolArray
) -> IntArray:
    """Count, for each measure, the values that are undefined, and how many there should be, [M, 2].

    A value should be there if the request has relevant items and is answered or imputed.
    """
    counts = []
    for c, measure in enumerate(measures):
        due = measure.due(positions, policies.level) & policies.among(positions.answered)
        missing = 0 if measure.sparse else int((is_undefined[:, :, c] & due).sum())
        counts.append((missing, int(due.sum())))
    return np.array(counts, np.int64).reshape(-1, 2)

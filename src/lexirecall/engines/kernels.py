"""Kernels: what the workers of an engine do with batches of requests.

Belongs here: functions from Arrow batches to Arrow batches. Not here: what is counted (verbs), the engine that calls
them.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from lexirecall.engines.batches import Batch, Layout
from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.manifest import Policies
from lexirecall.measures.providers import ExposureTally, tally_exposures
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.sums import ExactSums
from lexirecall.verbs.evaluate import Valued, values_of
from lexirecall.verbs.owners import overall_rows
from lexirecall.verbs.pairtally import PairTally, squares_about
from lexirecall.verbs.tally import Tally

ROWS = "run string, query string, measure string, value double"
STATE = "state binary"
"""What the kernels give, as Spark writes a schema."""
Addends = tuple[Any, ...]
"""Things that can be added up over requests, or None."""


@dataclass(frozen=True, slots=True)
class Collected:
    """The values of some requests, for what cannot be added up; those of different requests can be put together."""

    parts: tuple[tuple[tuple[str, ...], FloatArray, BoolArray, BoolArray], ...]
    """Requests, and of their values the arrays without the measures, which need not be picklable. Whatever is put
    together is copied once, at the end."""

    @classmethod
    def of(cls, requests: tuple[str, ...], valued: Valued) -> "Collected":
        """Keep the values of some requests."""
        return cls(((requests, valued.values, valued.is_due, valued.among),))

    def __add__(self, other: "Collected") -> "Collected":
        return Collected(self.parts + other.parts)

    def in_order(self, measures: tuple[Evaluable, ...]) -> tuple[tuple[str, ...], Valued]:
        """Return all requests, in the order of their texts, and their values."""
        names, *arrays = zip(*self.parts, strict=True)
        requests = [request for part in names for request in part]
        order = sorted(range(len(requests)), key=requests.__getitem__)
        joined = (np.concatenate(parts, axis=1)[:, order] for parts in arrays)
        return tuple(requests[q] for q in order), Valued(measures, *joined)


class Asked(NamedTuple):
    """What is counted of some requests."""

    measures: tuple[Evaluable, ...]
    policies: Policies

    def values(self, positions: Positions) -> tuple[Tally]:
        """Evaluate them."""
        values, num_due = values_of(positions, *self)
        return (Tally.of(positions, *self, values, num_due),)

    def every_value(self, positions: Positions) -> tuple[Tally, Collected]:
        """Evaluate them, and keep the value of each request."""
        valued = Valued.of(positions, *self)
        tally = Tally.of(positions, *self, valued.values, valued.num_due)
        return tally, Collected.of(positions.requests, valued)

    def pairs(self, positions: Positions) -> tuple[Tally, PairTally]:
        """Evaluate them, and compare each pair of systems."""
        return *self.values(positions), PairTally.of(positions, *self)

    def exposures(self, positions: Positions) -> tuple[ExposureTally, ...]:
        """Add up the exposures of providers, which tell who is worst off over all requests."""
        return tuple(tally_exposures(positions, row, self.policies) for row in overall_rows(self.measures))

    def squares(self, means: Sequence[FloatArray], positions: Positions) -> tuple[ExactSums, ...]:
        """Square the deviations of the differences of each pair of systems from their means."""
        return squares_about(means, positions, *self)


@dataclass(frozen=True, slots=True)
class Kernel:
    """What the workers count of each portion of the requests."""

    layout: Layout
    count: Callable[[Positions], Addends]

    def try_out(self, grade: float) -> None:
        """Find out here, not on the workers after an hour, what a measure lacks: every system finds one item."""
        import pyarrow as pa

        found = [{"position": 1, "place": 1, "block_start": 0, "block_size": 1}]
        rankings = [{"system": name, "num_retrieved": 1, "found": found} for name in self.layout.systems]
        needs_all = self.layout.units is not None and self.layout.units.needs_all
        units = [{"unit": "", "grade": grade, "needs_all": needs_all}]
        judged = [{"place": 1, "grade": grade, "owners": [""], "units": units}]
        row = {"request": "", "judged": judged, "rankings": rankings}
        layout = replace(self.layout, corpus_size=None if self.layout.corpus_size is None else 1)
        self.count(layout.positions(pa.RecordBatch.from_pylist([row])))

    def states(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Give what the requests of a partition add up to, if there are any."""
        import pyarrow as pa

        portions = (self.layout.positions(portion) for batch in batches for portion in self.layout.portions(batch))
        counted = map(self._counted, portions)
        if (first := next(counted, None)) is not None:
            yield pa.RecordBatch.from_pydict({"state": [pickle.dumps(reduce(_added, counted, first))]})

    def _counted(self, positions: Positions) -> Addends:
        """Count, and tell whether a corpus is too small; if so, count as if it were larger: nobody uses the result."""
        if (n := positions.corpus_size) is None:
            return None, *self.count(positions)
        enough = np.maximum(n, positions.num_needed.max(axis=0))
        return positions.shortage(n), *self.count(replace(positions, corpus_size=enough))


def total_of(states: Iterable[bytes]) -> Addends:
    """Put together what the partitions add up to; the first entry tells whether a corpus is too small."""
    return reduce(_added, map(pickle.loads, states))  # our own workers made them


def _added(one: Addends, other: Addends) -> Addends:
    return tuple(y if x is None else x if y is None else x + y for x, y in zip(one, other, strict=True))


@dataclass(frozen=True, slots=True)
class RowKernel:
    """What gives the value of each run, query and measure."""

    layout: Layout
    asked: Asked

    def rows(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Evaluate the requests of a partition."""
        for batch in batches:
            for portion in self.layout.portions(batch):
                yield self._rows(self.layout.positions(portion))

    def _rows(self, positions: Positions) -> Batch:
        import pyarrow as pa

        values, _ = values_of(positions, *self.asked)
        num_systems, num_requests, num_measures = values.shape
        flat = values.ravel()
        return pa.RecordBatch.from_pydict(
            {
                "run": _taken(self.layout.systems, num_requests * num_measures, 1),
                "query": _taken(positions.requests, num_measures, num_systems),
                "measure": _taken([str(row) for row in self.asked.measures], 1, num_systems * num_requests),
                "value": pa.array(flat, mask=np.isnan(flat)),
            }
        )


def _taken(names: Sequence[str], each: int, times: int) -> Any:
    """Return an Arrow array that repeats each name `each` times, and all of that `times` times."""
    import pyarrow as pa

    return pa.array(list(names), pa.string()).take(np.tile(np.repeat(np.arange(len(names)), each), times))

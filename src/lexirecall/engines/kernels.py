"""Kernels: what the workers of an engine do with batches of requests.

Belongs here: functions from Arrow batches to Arrow batches. Not here: the engine that calls them.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from lexirecall.engines.batches import Batch, Layout
from lexirecall.engines.tallies import PairTally, Tally, Task
from lexirecall.positions import Positions
from lexirecall.preferences import Preference

ROWS = "run string, query string, measure string, value double"
STATE = "state binary"
"""What the kernels give, as Spark writes a schema."""
Sum = TypeVar("Sum", Tally, PairTally)


@dataclass(frozen=True, slots=True)
class Kernel:
    """What the workers do with batches of requests."""

    layout: Layout
    task: Task

    def try_out(self) -> None:
        """Find out here, and not on the workers after an hour, what a measure lacks: every system finds one item."""
        import pyarrow as pa

        found = [{"position": 1, "place": 1, "block_start": 0, "block_size": 1}]
        rankings = [{"system": name, "num_retrieved": 1, "found": found} for name in self.layout.systems]
        row = {"request": "", "judged": [{"place": 1, "grade": max(1.0, *self.task.levels)}], "rankings": rankings}
        for _ in self.tallies(iter([pa.RecordBatch.from_pylist([row])])):
            pass

    def tallies(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Add up the values of all requests of a partition."""
        return _added_up(self.layout, batches, lambda positions: Tally.of(positions, self.task), Tally())

    def rows(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Give the value of each run, query and measure."""
        import pyarrow as pa

        names = [str(measure) for measure in self.task.measures]
        for batch in batches:
            for portion in self.layout.portions(batch):
                positions = self.layout.positions(portion)
                values, _ = self.task.values(positions)
                num_systems, num_requests, num_measures = values.shape
                flat = values.ravel()
                yield pa.RecordBatch.from_pydict(
                    {
                        "run": _taken(self.layout.systems, num_requests * num_measures, 1),
                        "query": _taken(positions.requests, num_measures, num_systems),
                        "measure": _taken(names, 1, num_systems * num_requests),
                        "value": pa.array(flat, mask=np.isnan(flat)),
                    }
                )


@dataclass(frozen=True, slots=True)
class PairKernel(Kernel):
    """The same for pairs of systems."""

    preferences: tuple[Preference, ...] = ()

    def tallies(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Count the preferences on all requests of a partition."""
        return _added_up(
            self.layout, batches, lambda positions: PairTally.of(positions, self.preferences, self.task), PairTally()
        )


def _taken(names: Sequence[str], each: int, times: int) -> Any:
    """Return an Arrow array in which each name comes so often, and all of them so many times over."""
    import pyarrow as pa

    return pa.array(list(names), pa.string()).take(np.tile(np.repeat(np.arange(len(names)), each), times))


def _added_up(
    layout: Layout, batches: Iterator[Batch], count: Callable[[Positions], Sum], total: Sum
) -> Iterator[Batch]:
    import pyarrow as pa

    for batch in batches:
        for portion in layout.portions(batch):
            total.merge(count(layout.positions(portion)))
    yield pa.RecordBatch.from_pydict({"state": [pickle.dumps(total)]})


def total_of(states: Iterator[bytes], total: Sum) -> Sum:
    """Put together what the partitions added up."""
    for state in states:
        total.merge(pickle.loads(state))  # noqa: S301 - our own workers made it
    return total

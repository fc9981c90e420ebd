"""Batches: from the rows that an engine gathers, one for each judged request, to Positions.

Belongs here: the layout of these rows in Arrow, and portions of them that fit into memory. Not here: the engine that
gathers them.

A row has `request`; `judged`, a list of (place, grade), in which places count from 1, positive grades first, with a
list of `owners` where there is a map of providers, or a list of `units` (unit, grade, needs_all) where there is one of
units; and `rankings`, a list of (system, num_retrieved, found) of the systems that answered, where `found` is a list of
(position, place) of judged items, with (block_start, block_size) where ties have no order, and `line` where several
items may be at one position. The order within lists does not matter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lexirecall.formats.assembly import assemble
from lexirecall.judgments import FloatArray, IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.providers import Providers, members
from lexirecall.segments import Segments
from lexirecall.text import to_bytes
from lexirecall.tracks import SystemPositions, Tracks
from lexirecall.units import Pairing, Units, WholeMap

BUDGET = 2**20
"""How many numbers a portion may hold, unless a single request has more."""

Batch = Any
"""A pyarrow.RecordBatch."""


@dataclass(frozen=True, slots=True)
class UnitsOfBatches:
    """What holds for the units of all batches."""

    name: str
    """What messages call the map."""
    judged: str
    """Whether items or units are judged."""
    whole: WholeMap
    needs_all: bool = False
    """Whether any unit needs all its items."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What holds for all batches of an evaluation."""

    systems: tuple[str, ...]
    conventions: Conventions = field(default_factory=Conventions)
    corpus_size: int | Mapping[str, int] | None = None
    """One for all requests, or of each."""
    needs_judged: bool = False
    provider_map: str | None = None
    """What messages call the map of providers, if there is one."""
    worst_off: Mapping[Any, tuple[str, ...]] = field(default_factory=dict)
    units: UnitsOfBatches | None = None

    def portions(self, batch: Batch) -> Iterator[Batch]:
        """Cut a batch into pieces small enough to compare all pairs of systems on their requests in memory."""
        weights = len(self.systems) ** 2 + _sizes(batch["judged"]) + _num_found(batch["rankings"])
        start = 0
        total = np.concatenate([[0], np.cumsum(weights)])
        while start < batch.num_rows:
            stop = int(np.searchsorted(total, total[start] + BUDGET, side="right")) - 1
            stop = max(stop, start + 1)
            yield batch.slice(start, stop - start)
            start = stop

    def positions(self, batch: Batch) -> Positions:
        """Return where the judged items of these requests are in every system's ranking.

        Whether a corpus is large enough is not checked here, because the message would know only this batch.
        """
        judgments = _judgments(batch)
        rankings = _Rankings.of(batch["rankings"], self.systems)
        systems = [self._system(s, rankings, judgments) for s in range(len(self.systems))]
        providers = None if self.provider_map is None else self._providers(batch["judged"], judgments)
        units = None if self.units is None else _units(batch["judged"], judgments, self.units)
        positions = Positions.stack(judgments, systems, self.conventions, providers=providers, units=units)
        return replace(positions, corpus_size=self._sizes(judgments.requests))

    def _providers(self, judged: Any, judgments: Judgments) -> Providers:
        owners = _by_place(judged, judgments, "owners")
        named = owners.flatten().to_pylist()
        names = sorted({*named}, key=to_bytes)
        index = {name: number for number, name in enumerate(names)}
        indices = np.array([index[name] for name in named], np.int64)
        return Providers(tuple(names), offsets_of(_sizes(owners)), indices, self.provider_map or "", self.worst_off)

    def _sizes(self, requests: tuple[str, ...]) -> IntArray | None:
        if isinstance(self.corpus_size, Mapping):
            return np.array([self.corpus_size[request] for request in requests], np.int64)
        return None if self.corpus_size is None else np.full(len(requests), self.corpus_size, np.int64)

    def _system(self, s: int, rankings: "_Rankings", judgments: Judgments) -> SystemPositions:
        chosen = np.flatnonzero(rankings.systems == s)
        requests = rankings.requests[chosen]
        num_retrieved = np.full(len(judgments.requests), -1, np.int64)
        num_retrieved[requests] = rankings.num_retrieved[chosen]
        sizes = np.zeros(len(judgments.requests), np.int64)
        sizes[requests] = np.diff(rankings.offsets)[chosen]
        at = members(rankings.offsets, chosen)
        found = {name: values[at] for name, values in rankings.found.items()}
        items = np.repeat(judgments.offsets[:-1], sizes) + found.pop("place") - 1
        return assemble(
            self.systems[s],
            judgments,
            self.conventions,
            Tracks(Segments(offsets_of(sizes)), found["position"], items, *_blocks(found)),
            num_retrieved,
            needs_judged=self.needs_judged,
            num_unjudged=0,
        )


@dataclass(frozen=True, slots=True)
class _Rankings:
    """The rankings of a batch, in the order of requests; the items found for the k-th are at offsets[k]:[k + 1]."""

    systems: IntArray
    requests: IntArray
    num_retrieved: IntArray
    offsets: IntArray
    found: dict[str, IntArray]
    """The numbers of each item, by the name of their column; positions ascend within a ranking."""

    @classmethod
    def of(cls, column: Any, systems: tuple[str, ...]) -> "_Rankings":
        requests = np.repeat(np.arange(len(column)), _sizes(column))
        rankings = column.flatten()
        known = {name: s for s, name in enumerate(systems)}
        found = rankings.field("found")
        sizes = _sizes(found)
        numbers = {name: _integers(values) for name, values in _fields(found.flatten())}
        lines = numbers.pop("line", numbers["position"])
        order = np.lexsort((lines, np.repeat(np.arange(len(sizes)), sizes)))
        return cls(
            np.array([known[name] for name in rankings.field("system").to_pylist()], np.int64),
            requests,
            _integers(rankings.field("num_retrieved")),
            offsets_of(sizes),
            {name: values[order] for name, values in numbers.items()},
        )


def _judgments(batch: Batch) -> Judgments:
    judged = batch["judged"]
    requests = batch["request"].to_pylist()
    offsets = offsets_of(_sizes(judged))
    columns = dict(_fields(judged.flatten()))
    owners = np.repeat(offsets[:-1], np.diff(offsets))
    grades: FloatArray = np.zeros(offsets[-1])
    grades[owners + _integers(columns["place"]) - 1] = _floats(columns["grade"])
    return Judgments(
        requests=tuple(requests),
        request_ids=PackedIds.pack([to_bytes(request) for request in requests]),
        offsets=offsets,
        items=PackedIds(b"", np.zeros(len(grades) + 1, np.int64)),  # nobody asks for their names any more
        grades=grades,
        num_positive=np.diff(np.searchsorted(np.flatnonzero(grades > 0), offsets)),
    )


def _units(judged: Any, items: Judgments, of: UnitsOfBatches) -> Units:
    """Return the units of the judged items of a batch."""
    lists = _by_place(judged, items, "units")
    columns, sizes = dict(_fields(lists.flatten())), _sizes(lists)
    texts = [to_bytes(name) for name in columns["unit"].to_pylist()]
    names = sorted({*texts})
    numbers = {name: number for number, name in enumerate(names)}
    units = np.array([numbers[text] for text in texts], np.int64)
    serving, grades = np.repeat(np.arange(len(sizes)), sizes), _floats(columns["grade"])
    order = np.lexsort((units, serving))  # the order of lists means nothing
    owners = Segments(items.offsets).owners[serving]
    marked = np.flatnonzero(columns["needs_all"].to_numpy(zero_copy_only=False)).tolist()
    needed = {(items.request_ids[int(owners[pair])], texts[pair]) for pair in marked}
    pairs = Pairing(serving[order], units[order], grades[order], names)
    made = Units.of_pairs(items, pairs, lambda *pair: pair in needed, name=of.name, judged=of.judged)
    return replace(made, whole=of.whole)


def _by_place(judged: Any, judgments: Judgments, name: str) -> Any:
    """Return a column of lists of the judged items, in the order of the judgments."""
    columns = dict(_fields(judged.flatten()))
    places = np.repeat(judgments.offsets[:-1], np.diff(judgments.offsets)) + _integers(columns["place"]) - 1
    return columns[name].take(np.argsort(places))


def _fields(structs: Any) -> Iterator[tuple[str, Any]]:
    return zip((part.name for part in structs.type), structs.flatten(), strict=True)


def _blocks(found: dict[str, IntArray]) -> tuple[IntArray, IntArray] | tuple[()]:
    return (found["block_start"], found["block_size"]) if "block_start" in found else ()


def _floats(values: Any) -> FloatArray:
    return np.asarray(values.to_numpy(zero_copy_only=False), np.float64)


def _integers(values: Any) -> IntArray:
    return np.asarray(values.to_numpy(zero_copy_only=False)).astype(np.int64)


def _sizes(lists: Any) -> IntArray:
    """Return how long each list is; a missing list is empty."""
    return _integers(lists.value_lengths().fill_null(0))


def _num_found(rankings: Any) -> IntArray:
    """Return how many items all systems together found for each request."""
    sizes = _sizes(rankings.flatten().field("found"))
    return np.asarray(np.diff(offsets_of(sizes)[offsets_of(_sizes(rankings))]))

"""Processes: one corpus over several processes, each with a part of it.

Belongs here: adding up what the processes know, by torch.distributed. Not here: what is added (counting).

Each process has its own shards, and all have the same queries and judgments. Everything is added up twice: after the
first pass where the judged documents are and their scores, after the second the counts. A process that fails says so in
the sum, so that no other waits for it.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from lexirecall.errors import DataError, LexirecallError, UsageError, listed, shown
from lexirecall.formats.embeddings.counting import CorpusPlaces
from lexirecall.formats.embeddings.soughtpairs import SoughtPairs
from lexirecall.installing import how_to_install
from lexirecall.judgments import IntArray, offsets_of
from lexirecall.text import to_text


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes that have parts of a corpus: this one alone, or those of torch.distributed."""

    rank: int = 0
    number: int = 1
    device: Any = None

    @classmethod
    def joined(cls, device: Any) -> "Processes":
        """Return the processes of torch.distributed, which must be there."""
        try:
            import torch.distributed as dist
        except ModuleNotFoundError:
            problem = "distributed is True, but torch is not installed"
            raise UsageError(problem, remedy=how_to_install("torch")) from None
        if not (dist.is_available() and dist.is_initialized()):
            problem = "distributed is True, but the processes have not been joined"
            raise UsageError(problem, remedy="call torch.distributed.init_process_group first")
        where = (device or "cuda") if dist.get_backend() == "nccl" else "cpu"
        return cls(dist.get_rank(), dist.get_world_size(), where)

    def add(self, values: IntArray, error: LexirecallError | None) -> IntArray:
        """Add up numbers over all processes; raise in each if one of them failed."""
        if self.number == 1:
            if error is not None:
                raise error
            return values
        import torch
        import torch.distributed as dist

        tensor = torch.from_numpy(np.append(values, int(error is not None))).to(self.device)
        dist.all_reduce(tensor)
        total: IntArray = tensor.cpu().numpy()
        if error is not None:
            raise error
        if total[-1]:
            raise DataError("another process failed", remedy="its own message says why")
        return total[:-1]


def share_located(
    processes: Processes, sought: SoughtPairs, located: CorpusPlaces, size: int, error: LexirecallError | None
) -> tuple[CorpusPlaces, int, int]:
    """Return where judged documents are in the whole corpus, how many come before this process, and how many it has.

    A pair is known to one process at most, so sums of the bits of its numbers are these bits.
    """
    pairs = len(sought.rows)
    is_here = located.indices >= 0
    known = (is_here, located.indices, np.full(pairs, processes.rank))
    bits = [values.view(np.int64) for values in (located.thresholds, located.samples, located.digests)]
    numbers = np.where(is_here[:, None], np.column_stack([*known, *bits]), 0).astype(np.int64)
    sizes = np.zeros(processes.number, np.int64)
    sizes[processes.rank] = size
    total = processes.add(np.concatenate([numbers.ravel(), sizes]), error)
    whole, starts = total[: numbers.size].reshape(numbers.shape), offsets_of(total[numbers.size :])
    if (twice := np.flatnonzero(whole[:, 0] > 1)).size:
        ids = sorted({sought.ids[pair] for pair in twice.tolist()})
        problem = f"the corpus has ids that occur in two processes: {listed(shown(to_text(text)) for text in ids)}"
        raise DataError(problem, remedy="give each document to one process")
    found = CorpusPlaces(
        np.where(whole[:, 0] > 0, whole[:, 1] + starts[whole[:, 2]], -1),
        np.ascontiguousarray(whole[:, 3]).view(np.float64),
        np.ascontiguousarray(whole[:, 4]).view(np.uint64),
        np.ascontiguousarray(whole[:, 5:7]).view(np.uint8),
    )
    return found.levelled(sought.rows), int(starts[processes.rank]), int(starts[-1])


def share_counts(processes: Processes, counts: IntArray, kind: str | None, error: LexirecallError | None) -> IntArray:
    """Return the counts over the whole corpus; raise if processes computed scores of two kinds; None: not any."""
    kinds = np.zeros(processes.number, np.int64)
    if kind is not None:
        # 7 bytes, because 8 may not fit into int64
        kinds[processes.rank] = int.from_bytes(blake2b(kind.encode(), digest_size=7).digest(), "little")
    total = processes.add(np.concatenate([counts.ravel(), kinds]), error)
    if len(set(total[counts.size :].tolist()) - {0}) > 1:
        problem = f"the scores of the processes cannot be compared to the bit; here they are {kind}"
        raise DataError(problem, remedy="give each process vectors of one type, the same block, and the same device")
    return total[: counts.size].reshape(counts.shape)

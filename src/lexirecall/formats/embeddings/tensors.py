"""Tensors: products by torch, and who computes the products of a job.

Belongs here: the backend of torch, its devices, and the choice of a backend. Not here: what all backends do (backends).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.errors import UsageError
from lexirecall.formats.embeddings.backends import (
    BLOCK,
    FEW,
    Backend,
    LoadedBlock,
    NumpyBackend,
    ordinals_of,
)
from lexirecall.formats.embeddings.shards import is_tensor
from lexirecall.installing import how_to_install
from lexirecall.judgments import FloatArray, IntArray


class TorchBackend(NumpyBackend):
    """Products by torch, on any of its devices."""

    def __init__(self, queries: Any, scales: Any, similarity: str, block: int, device: Any) -> None:
        self.device = device
        super().__init__(queries, scales, similarity, block)

    @property
    def kind(self) -> str:
        """What scores depend on, beside the vectors."""
        return f"{self.dtype} by torch on {self.device.type}, {self.block} at a time"

    def wide(self, vectors: Any) -> Any:
        """Return the type of products."""
        import torch

        return torch.float64 if str(vectors.dtype).endswith("float64") else torch.float32

    def lift(self, array: npt.NDArray[Any]) -> Any:
        """Take an array of numpy to where products are computed."""
        import torch

        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def lower(self, array: Any) -> Any:
        """Take an array back to numpy."""
        return array.cpu().numpy()

    def zeros(self, rows: int, width: int) -> Any:
        """Return vectors of zeros."""
        import torch

        return torch.zeros((rows, width), dtype=self.dtype, device=self.device)

    def converted(self, vectors: Any) -> Any:
        """Return vectors in the type of products."""
        import torch

        tensor = vectors.detach() if is_tensor(vectors) else torch.from_numpy(np.array(vectors))
        return tensor.to(self.device).to(self.dtype)

    def make_room(self) -> None:
        """Leave memory to torch, which keeps what it has allocated."""

    def products(self, block: LoadedBlock, first: int) -> Any:
        """Return the scores of the tile of queries that begins with a row, against the whole block."""
        scores = self.queries[first : first + self.tile] @ block.vectors.T
        return scores if block.penalties is None else scores - block.penalties

    def compared(self, scores: Any, rows: IntArray, thresholds: FloatArray) -> tuple[IntArray, IntArray]:
        """Count scores above each threshold, and equal to it."""
        import torch

        ordinals = ordinals_of(rows)
        places = self.lift(rows), self.lift(ordinals)
        limits = torch.full((len(scores), int(ordinals.max(initial=0)) + 1), torch.inf, dtype=self.dtype)
        limits = limits.to(self.device)
        limits[places] = self.lift(thresholds).to(self.dtype)
        if limits.shape[1] > FEW:
            ascending = scores.sort(dim=1).values
            right = torch.searchsorted(ascending, limits, right=True)
            above, tied = scores.shape[1] - right, right - torch.searchsorted(ascending, limits)
        else:
            above = torch.stack([(scores > limit[:, None]).sum(1) for limit in limits.T], dim=1)
            tied = torch.stack([(scores == limit[:, None]).sum(1) for limit in limits.T], dim=1)
        return self.lower(above[places]), self.lower(tied[places])


def backend_of(
    queries: Any, scales: Any, similarity: str, block: int | None, device: Any, corpus_dtype: Any
) -> Backend:
    """Return who computes products: numpy, or torch if vectors are its tensors, or if a device asks for it.

    The type of a corpus that comes in blocks is not known yet, and is None.
    """
    if not is_tensor(queries) and device in (None, "cpu"):
        return NumpyBackend(queries, scales, similarity, block or BLOCK)
    place = torch_device(queries.device if device is None else device)
    from lexirecall.formats.embeddings.gpu import FusedBackend, can_fuse  # which is a backend of torch

    if scales is None and can_fuse(queries, corpus_dtype, place):
        return FusedBackend(queries, similarity, block, place, is_certain=corpus_dtype is not None)
    return TorchBackend(queries, scales, similarity, block or BLOCK, place)


def torch_device(device: Any) -> Any:
    """Return a device of torch; raise if it is not there."""
    try:
        import torch
    except ModuleNotFoundError:
        problem = f"device is {str(device)!r}, but torch is not installed"
        raise UsageError(problem, remedy=how_to_install("torch")) from None
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = (str(error).splitlines() or ["unknown"])[0]
        raise UsageError(
            f"device is {str(device)!r}, but torch cannot use it: {reason}", remedy="leave it out, or give 'cpu'"
        ) from None

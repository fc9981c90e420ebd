"""GPU: vectors of half precision on an NVIDIA GPU, multiplied and compared in one pass.

Belongs here: the fused kernels as a backend, and when they can be used. Not here: the kernels (fusedkernels).

Scores are sums in float32 of products of the vectors as they are, as in the other backends. Cosines are not divided by
the length of the query, which changes no order.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.formats.embeddings.backends import TILE, Equal, KnownScores, ordinals_of
from lexirecall.formats.embeddings.shards import Shard
from lexirecall.formats.embeddings.tensors import TorchBackend
from lexirecall.judgments import FloatArray, IntArray

BLOCK = 2**20  # vectors that are counted at a time: they lie on the device already, and nothing is written
UNKNOWN_BLOCK = 2**18  # the same if they may turn out to have another type, and are then converted


def can_fuse(queries: Any, corpus_dtype: Any, device: Any) -> bool:
    """Tell whether there are kernels for these vectors, and a device that runs them; a type may be unknown yet."""
    from importlib.util import find_spec

    import torch

    if _named(queries.dtype) not in ("float16", "bfloat16") or queries.shape[1] % 8:
        return False  # rows must start at multiples of 16 bytes
    if corpus_dtype is not None and _named(corpus_dtype) != _named(queries.dtype):
        return False
    if device.type != "cuda" or torch.version.cuda is None or find_spec("triton") is None:
        return False
    if find_spec("triton.tools.tensor_descriptor") is None:  # before Triton 3.4
        return False
    return bool(torch.cuda.get_device_capability(device) >= (9, 0))  # tiles are copied by a unit that came with Hopper


class FusedBackend(TorchBackend):
    """Products and comparisons in one pass, if the corpus has the type of the queries; otherwise as torch does them.

    A fused score does not depend on the place of a vector, so none must be known.
    """

    def __init__(self, queries: Any, similarity: str, block: int | None, device: Any, *, is_certain: bool) -> None:
        super().__init__(queries, None, similarity, block or (BLOCK if is_certain else UNKNOWN_BLOCK), device)
        self.fuses: bool | None = None  # the first block decides
        self.kept: tuple[Any, Any, Any] | None = None
        half = self.half(queries)
        self.halves = half.new_zeros(self.queries.shape)
        self.halves[: len(half)] = half

    def tallest(self) -> int:
        """Return how many queries are multiplied at a time, at most, where scores are written."""
        return int(min(TILE, max(1, _fused().WRITTEN // self.block)))

    @property
    def kind(self) -> str:
        """What scores depend on, beside the vectors."""
        return f"{self.halves.dtype} in one pass" if self.fuses else super().kind

    @property
    def scores_copies_alike(self) -> bool:  # type: ignore[override]
        """Whether a score never depends on the place of a vector."""
        return bool(self.fuses)

    def half(self, vectors: Any) -> Any:
        """Take vectors to the device as they are."""
        import torch

        tensor = vectors.detach() if isinstance(vectors, torch.Tensor) else torch.from_numpy(np.array(vectors))
        return tensor.to(self.device).contiguous()

    def load(self, vectors: Any, scales: Any) -> Any:
        """Take the vectors of a block to where products are computed."""
        if self._decides_on(vectors):
            self.has_scored = True
            return _fused().HalfBlock.of(self.half(vectors), self.similarity)
        return super().load(vectors, scales)

    def _decides_on(self, vectors: Any) -> bool:
        """Tell whether vectors are of the type of the queries; raise if those before were not the same."""
        fuses = _named(vectors.dtype) == _named(self.halves.dtype)
        if self.fuses not in (None, fuses):  # scores of two kernels cannot be compared to the bit
            problem = f"blocks of the corpus have different types, one of them {vectors.dtype}"
            raise UsageError(problem, remedy="convert them to one type")
        self.fuses = fuses
        return fuses

    def products(self, block: Any, first: int) -> Any:
        """Return the scores of the tile of queries that begins with a row, against the whole block."""
        if not self.fuses:
            return super().products(block, first)
        return _fused().scores(self.halves[first : first + self.tile], block)

    def own(self, picked: Shard, places: IntArray, rows: IntArray, documents: IntArray) -> FloatArray:
        """Return the scores of pairs of a row and a picked document, wherever that is in its block."""
        if not self._decides_on(picked.vectors):
            return super().own(picked, places, rows, documents)
        block = self.load(picked.vectors, picked.scales)
        scores = _fused().pairs(self.halves, block, self.lift(rows), self.lift(documents))
        return np.asarray(self.lower(scores), np.float64)

    def count(
        self, block: Any, size: int, known: KnownScores, rows: IntArray, thresholds: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Count, for each threshold of a row, how many of the first `size` columns are above it, and how many equal."""
        if not (self.fuses and len(rows) and _fused().is_bounded(self.halves, block)):
            return super().count(block, size, known, rows, thresholds)  # which looks for NaN
        places, limits = self._limits(rows, thresholds)
        above, tied = _fused().count(self.halves, block[:size], limits)
        return self.lower(above[places]), self.lower(tied[places])

    def _limits(self, rows: IntArray, thresholds: FloatArray) -> tuple[Any, Any]:
        """Return thresholds as the kernels take them, and where each one is; those of the last call are kept."""
        import torch

        if self.kept is None or self.kept[0] is not thresholds:
            places = self.lift(rows), self.lift(ordinals_of(rows))
            limits = torch.full((len(self.halves), int(places[1].max()) + 1), torch.inf, device=self.device)
            limits[places] = self.lift(thresholds).to(torch.float32)
            self.kept = thresholds, places, limits
        return self.kept[1:]

    def equal(
        self, block: Any, size: int, known: KnownScores, rows: IntArray, thresholds: FloatArray
    ) -> Iterator[Equal]:
        """Give thresholds of rows, by their numbers, and columns that are equal to them; only these are computed."""
        if not self.fuses:
            yield from super().equal(block, size, known, rows, thresholds)
            return
        step = max(1, _fused().WRITTEN // max(size, 1))
        for start in range(0, len(rows), step):
            at = slice(start, start + step)
            scores = _fused().scores(self.halves[self.lift(rows[at])], block[:size])
            limits = self.lift(thresholds[at]).to(scores.dtype)
            which, columns = self.lower((scores == limits[:, None]).nonzero()).T
            yield start + which, columns


def _named(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _fused() -> Any:
    """Return the kernels, which import Triton."""
    from lexirecall.formats.embeddings import fusedkernels

    return fusedkernels

"""Copies: which vectors are the same, byte for byte.

Belongs here: numbers and digests that copies share. Not here: what becomes of them (counting).
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.formats.embeddings.shards import Shard, is_tensor

_SAMPLED = 8  # dimensions that are compared first
# Processes compare these numbers, so the seed is fixed. Factors are odd: modulo 2**64, a difference in one byte is
# never lost.
_FACTORS = np.random.default_rng(0).integers(0, 2**64, 8 * _SAMPLED, np.uint64) | np.uint64(1)


def samples_of(shard: Shard) -> npt.NDArray[np.uint64]:
    """Return a number for each vector, from some of its dimensions: copies have the same, and hardly any others.

    >>> from lexirecall.formats.embeddings.ids import Indices
    >>> samples = samples_of(Shard(0, Indices(0, 3), np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]), None))
    >>> bool(samples[0] == samples[2]), bool(samples[0] == samples[1])
    (True, False)
    """
    width = shard.vectors.shape[1]
    some = np.unique(np.linspace(0, width - 1, _SAMPLED).astype(np.int64))
    found = _bytes_of(shard.vectors[:, some]).astype(np.uint64)
    return np.asarray(found @ _FACTORS[: found.shape[1]], np.uint64)


def digests_of(shard: Shard, at: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return 16 bytes for some of the vectors: the same for copies, and for nothing else."""
    digests = np.zeros((len(at), 16), np.uint8)
    if len(at):
        vectors = _bytes_of(shard.vectors[list(at)])
        scales = np.asarray(1 if shard.scales is None else shard.scales, np.float64)
        picked = np.broadcast_to(scales, len(shard.ids))[list(at)]
        for row, (vector, scale) in enumerate(zip(vectors, picked, strict=True)):
            digests[row] = np.frombuffer(blake2b(vector.tobytes() + scale.tobytes(), digest_size=16).digest(), np.uint8)
    return digests


def _bytes_of(vectors: Any) -> npt.NDArray[np.uint8]:
    if not is_tensor(vectors):
        return np.ascontiguousarray(vectors).view(np.uint8)
    import torch

    return np.asarray(vectors.detach().cpu().contiguous().view(torch.uint8).numpy(), np.uint8)

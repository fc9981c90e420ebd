"""Tensors: PyTorch for the modules that compute with it, or how to install it.

Belongs here: the one import of torch for the loss, and in which precision it is computed. Not here: formulas.
"""

from typing import Any

from lexirecall.errors import UsageError
from lexirecall.installing import how_to_install

try:
    import torch
except ImportError:
    raise UsageError("OrderedLoss and OrderedRankingLoss need torch", remedy=how_to_install("torch")) from None

__all__ = ["Tensor", "torch", "widened"]

Tensor = Any
"""A tensor; torch itself may be missing where types are checked."""


def widened(scores: Tensor) -> Tensor:
    """Return scores in float32, or in float64 if they have it; the gradient returns in their own type.

    >>> widened(torch.ones(2, dtype=torch.bfloat16)).dtype, widened(torch.ones(2, dtype=torch.float64)).dtype
    (torch.float32, torch.float64)
    """
    return scores.to(torch.promote_types(scores.dtype, torch.float32))

"""Torch: exact positions while a model is trained, and a loss that trains it to find everything.

Belongs here: the names for users, each imported when it is first used: what one of them needs, the others do not. Not
here: positions from scores and embeddings, which take tensors like other arrays (formats).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexirecall.torch.evaluator import LexirecallEvaluator
    from lexirecall.torch.metric import PositionsMetric
    from lexirecall.torch.orderedloss import OrderedLoss
    from lexirecall.torch.texttraining import OrderedRankingLoss

_HOME = {
    "LexirecallEvaluator": "evaluator",
    "OrderedLoss": "orderedloss",
    "OrderedRankingLoss": "texttraining",
    "PositionsMetric": "metric",
}

__all__ = ["LexirecallEvaluator", "OrderedLoss", "OrderedRankingLoss", "PositionsMetric"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lexirecall.torch' has no attribute {name!r}")
    value = getattr(import_module(f"lexirecall.torch.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]

"""Torch: exact positions while a model is trained, in plain PyTorch, in Lightning and in sentence-transformers.

Belongs here: the names for users, each imported when it is first used: what one of them needs, the others do not. Not
here: positions from scores and embeddings, which take tensors like other arrays (formats).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexirecall.torch.evaluator import LexirecallEvaluator
    from lexirecall.torch.metric import PositionsMetric

_HOME = {"LexirecallEvaluator": "evaluator", "PositionsMetric": "metric"}

__all__ = ["LexirecallEvaluator", "PositionsMetric"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lexirecall.torch' has no attribute {name!r}")
    value = getattr(import_module(f"lexirecall.torch.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]

"""Settings of measures: their defaults and what is allowed.

Belongs here: checking one value. Imports numpy and errors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import UsageError


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting that a measure offers: its default, and what is allowed."""

    default: Any = None
    kind: type = float
    above: float = -np.inf
    low: float = -np.inf
    high: float = np.inf
    below: float = np.inf
    options: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its proper type, or raise with what is allowed."""
        if self.options:
            if str(value).lower() in self.options:
                return str(value).lower()
            raise UsageError(f"{name} is {value!r}, but must be one of {', '.join(self.options)}")
        if self.kind is bool:
            if str(value).lower() in ("true", "false"):
                return str(value).lower() == "true"
            raise UsageError(f"{name} is {value!r}, but must be True or False")
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise UsageError(f"{name} is {value!r}, but must be a number")
        if not (self.low <= value <= self.high and self.above < value < self.below) or value != self.kind(value):
            raise UsageError(f"{name} is {value!r}, but must be {self._range()}")
        return int(value) if float(value).is_integer() else float(value)

    def _range(self) -> str:
        noun = "a whole number" if self.kind is int else "a number"
        bounds = {"above": self.above, "at least": self.low, "at most": self.high, "below": self.below}
        words = [f"{word} {bound:g}" for word, bound in bounds.items() if abs(bound) < 1e18]
        return f"{noun} {' and '.join(words)}".strip()


CUTOFF = Parameter(kind=int, low=1, below=2**62)
RECALL = Parameter(above=0, high=1)
LEVEL = Parameter(above=0, high=1e15)

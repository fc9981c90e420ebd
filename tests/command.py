"""What a call of the command line is, to a test."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What a command left with, printed and said."""

    code: int
    out: str
    err: str


Command = Callable[..., Outcome]

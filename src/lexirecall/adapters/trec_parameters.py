"""What follows the name of a measure of trec_eval: cut-offs, levels of recall, weights and gains.

Belongs here: reading such parameters, and the name of each column as C prints it. Not here: the measures (trec_names).
"""

import re
from collections.abc import Callable
from typing import Any, Literal

from lexirecall.errors import UnknownMeasure, UsageError

Parameters = tuple[Any, ...]
"""What a measure is made from: one cut-off, the numbers of a list, or a map of gains, with p in second place."""
Named = tuple[str, Parameters]
"""The name of a column, and its parameters."""
Takes = Literal[
    "nothing", "cutoffs", "recalls", "multiples", "numbers", "lengths", "weights", "levels", "gains", "persistence"
]
COLUMNS_EACH = ("cutoffs", "recalls", "multiples")
"""Parameters that make a column each, in ascending order; the others are part of one name."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NUM_WEIGHTS = 4
_Problem = Callable[[str, str], UsageError]
"""From a part of the text and what would be right to the error."""


def default_columns(family: str, takes: Takes, defaults: Parameters) -> list[Named]:
    """Return the columns of a family that is asked for as a whole.

    >>> default_columns("P", "cutoffs", (5, 10)), default_columns("set_F", "numbers", (1,))
    ([('P_5', (5,)), ('P_10', (10,))], [('set_F', (1,))])
    """
    if takes in COLUMNS_EACH:
        return [(_name(family, takes, value), (value,)) for value in defaults]
    return [(family, defaults)]


def read_parameters(family: str, takes: Takes, name: str) -> list[Named]:
    """Read the parameters in a name that begins with a family: the name of each column, with what makes it.

    C reads 23.4 as the cut-off 23, prints recall with two decimals, and everything else as it was written.

    >>> read_parameters("ndcg_cut", "cutoffs", "ndcg_cut.10,23.4")
    [('ndcg_cut_10', (10,)), ('ndcg_cut_23', (23,))]
    >>> read_parameters("Rprec_mult", "multiples", "Rprec_mult..5"), read_parameters("G", "gains", "G.1=3,2=4.5")
    ([('Rprec_mult_0.50', (0.5,))], [('G_1=3,2=4.5', ({1: 3.0, 2: 4.5},))])
    """

    def problem(part: str, right: str) -> UsageError:
        return UnknownMeasure(f"{name}: {part!r} is not a parameter of {family}", remedy=f"it takes {right}")

    text = name[len(family) + 1 :]
    parts = text.split(",")
    if takes in ("gains", "persistence"):
        return [(f"{family}_{text}", _pairs(parts, problem, takes))]
    if takes in COLUMNS_EACH:
        read = _cutoff if takes == "cutoffs" else _recall if takes == "recalls" else _multiple
        return [(_name(family, takes, value), (value,)) for value in (read(part, problem) for part in parts)]
    if takes in ("numbers", "lengths"):
        one = _cutoff if takes == "lengths" else _multiple
        return [(f"{family}_{part}", (one(part, problem),)) for part in parts]
    if takes == "weights" and len(parts) != _NUM_WEIGHTS:
        raise UsageError(f"{name}: {family} takes four numbers, as in {family}.1,-1,0,0")
    parse = _number if takes == "weights" else _recall
    return [(f"{family}_{text}", tuple(parse(part, problem) for part in parts))]


def _name(family: str, takes: Takes, value: float) -> str:
    return f"{family}_{value}" if takes == "cutoffs" else f"{family}_{value:.2f}"


def _cutoff(part: str, problem: _Problem) -> int:
    """Return a whole number; what follows its point does not count, as for C's `atol`."""
    digits, _, rest = part.partition(".")
    if not re.fullmatch(r"\d+", digits, re.ASCII) or not re.fullmatch(r"\d*", rest, re.ASCII) or int(digits) == 0:
        raise problem(part, "whole numbers above 0")
    return int(digits)


def _number(part: str, problem: _Problem) -> float:
    if not _NUMBER.fullmatch(part):
        raise problem(part, "numbers")
    return float(part)


def _multiple(part: str, problem: _Problem) -> float:
    value = _number(part, problem)
    if value < 0:
        raise problem(part, "numbers from 0 on")
    return value


def _recall(part: str, problem: _Problem) -> float:
    value = _number(part, problem)
    if not 0 <= value <= 1:
        raise problem(part, "numbers from 0 to 1")
    return value


def _pairs(parts: list[str], problem: _Problem, takes: Takes) -> Parameters:
    """Return the gains, and p where it is set."""
    gains: dict[float, float] = {}
    persistence: list[float] = []
    right = "grade=gain, as in 1=3,2=4.5" + (", and p=0.8" if takes == "persistence" else "")
    for part in parts:
        name, equals, value = part.partition("=")
        if takes == "persistence" and name == "p" and not persistence:
            persistence.append(_recall(value, problem))
        elif equals and re.fullmatch(r"\d+", name, re.ASCII) and int(name) not in gains:
            gains[int(name)] = _number(value, problem)
        else:
            raise problem(part, f"{right}; each grade once, from 0 on")
    return (gains, *persistence)

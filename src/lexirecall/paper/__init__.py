"""The paper, reproduced: one module for each table or figure, and the list of them.

Belongs here: the list. A new exhibit is a module with `exhibit(seed: int) -> Exhibit` and an entry here.
"""

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from lexirecall.errors import UsageError

if TYPE_CHECKING:
    from lexirecall.paper.exhibit import Exhibit

EXHIBITS = {
    "worst-case-agreement": "worst_case_agreement",
    "ties-by-corpus": "ties_by_corpus",
    "ties-by-relevant": "ties_by_relevant",
    "properties": "properties",
    "recsys": "recsys",
    "datasets": "datasets",
    "orientation": "orientation",
    "ties-by-depth": "ties_by_depth",
    "stochastic": "stochastic",
    "projection": "projection",
    "orientation-schematic": "orientation_schematic",
    "users": "users",
    "partial-order": "partial_order",
    "partition": "partition",
    "domination": "domination",
    "leximin": "leximin",
    "dependence": "dependence",
}
"""The modules by their names on the command line: first the tables, then the figures, then the schematics."""


def reproduce(name: str, seed: int = 2025) -> "Exhibit":
    """Compute one table or figure of the paper.

    >>> print(reproduce("recsys").title)
    RecSys papers that measure recall, 2007-2024
    """
    if name not in EXHIBITS:
        near = difflib.get_close_matches(name, EXHIBITS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(EXHIBITS)}"
        raise UsageError(f"there is no table or figure {name!r}: {hint}")
    exhibit: Exhibit = import_module(f"lexirecall.paper.{EXHIBITS[name]}").exhibit(seed)
    return exhibit

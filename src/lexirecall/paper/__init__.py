"""The paper, reproduced: one module for each table or figure, and the list of them.

Belongs here: the list. A new exhibit is a module with `exhibit(seed: int) -> Exhibit` and an entry here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from lexirecall.errors import UsageError, hint_at

if TYPE_CHECKING:
    from lexirecall.paper.exhibit import Exhibit


class Entry(NamedTuple):
    """A table or figure in the list."""

    module: str
    caption: str


EXHIBITS = {
    "worst-case-agreement": Entry(
        "worst_case_agreement", "How often measures agree with the worst case on random rankings"
    ),
    "ties-by-corpus": Entry("ties_by_corpus", "How likely two random rankings tie, by the size of the corpus"),
    "ties-by-relevant": Entry(
        "ties_by_relevant", "How likely two random rankings tie, by the number of relevant documents"
    ),
    "properties": Entry("properties", "Properties of measures, each cell checked by enumeration"),
    "recsys": Entry("recsys", "RecSys papers that measure recall, 2007-2024"),
    "datasets": Entry("datasets", "The data sets of the paper, and how to obtain them"),
    "orientation": Entry("orientation", "Precision and recall orientation of measures"),
    "ties-by-depth": Entry("ties_by_depth", "Share of tied rankings by retrieval depth"),
    "stochastic": Entry("stochastic", "Worst case of optimal deterministic and stochastic rankers"),
    "projection": Entry("projection", "Relevance projection of a ranking, with imputation"),
    "orientation-schematic": Entry("orientation_schematic", "The rankings that orientation compares"),
    "users": Entry("users", "The population of possible users"),
    "partial-order": Entry("partial_order", "Partial order of possible users and of providers"),
    "partition": Entry("partition", "The partial order, cut at a depth"),
    "domination": Entry("domination", "Domination between sets of users"),
    "leximin": Entry("leximin", "Leximin over users, step by step"),
    "dependence": Entry("dependence", "Dependence of the first and the last position"),
}
"""Modules and captions by their names on the command line: first the tables, then the figures, then the schematics."""


def reproduce(name: str, seed: int = 2025) -> "Exhibit":
    """Compute one table or figure of the paper.

    >>> print(reproduce("recsys").title)
    RecSys papers that measure recall, 2007-2024
    """
    if name not in EXHIBITS:
        raise UsageError(f"there is no table or figure {name!r}: {hint_at(name, EXHIBITS)}")
    exhibit: Exhibit = import_module(f"lexirecall.paper.{EXHIBITS[name].module}").exhibit(seed)
    return exhibit

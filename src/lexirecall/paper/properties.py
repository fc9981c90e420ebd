"""The table of properties in the paper's appendix, with every cell decided anew.

Belongs here: the rows, what the paper says in each cell, and why we differ. Not here: how a property is decided
(`property_checks`), and for which methods (`property_methods`).

A cell is about a class of methods: "yes" if all members have the property, "no" if one does not. So the members tried
here prove a "no"; a "yes" holds for them and for every ranking of a small corpus.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lexirecall.paper.exhibit import Exhibit
from lexirecall.paper.property_checks import (
    concave_at_one_level,
    concave_in_swap_depth,
    decreasing_in_nonrelevance,
    increasing_in_relevance,
    increasing_in_retrieval_size,
    increasing_in_swapping_up,
    localized,
    prefix_invariant,
    realizable,
    strictly_concave_at_one_level,
    strictly_concave_in_swap_depth,
    strictly_decreasing_in_nonrelevance,
    strictly_increasing_in_relevance,
    strictly_increasing_in_swapping_up,
    suffix_invariant,
)
from lexirecall.paper.property_methods import COLUMNS, SIZES, EvaluationMethod, N, is_convex
from lexirecall.tables import Table


@dataclass(frozen=True)
class Property:
    """A row of the paper's table: its cells in the order of COLUMNS, and ours where they differ."""

    holds: Callable[[EvaluationMethod], bool] | None
    """None if enumeration cannot decide; then `because` gives the argument."""
    paper: str
    ours: str = ""
    because: str = ""
    applies: Callable[[EvaluationMethod], bool] = lambda _: True
    """The condition of a footnote."""

    def cells(self) -> dict[str, tuple[str, str]]:
        """Return what the paper says and what we say, for each column."""
        paper, ours = self.paper.split(), (self.ours or self.paper).split()
        return dict(zip(COLUMNS, zip(paper, ours, strict=True), strict=True))

    def found(self, column: str) -> str:
        """Decide a cell by enumeration, or else by argument: yes, no, or NA if the methods have no values.

        >>> TABLE["strictly increasing in swapping up"].found("LexiRecall"), TABLE["boundedness"].found("TSE")
        ('yes', 'yes')
        """
        _, ours = self.cells()[column]
        if ours == "NA" or self.holds is None:
            return ours
        return "yes" if all(self.holds(method) for method in COLUMNS[column] if self.applies(method)) else "no"


TABLE = {
    "increasing in retrieval size": Property(increasing_in_retrieval_size, "yes yes yes yes"),
    "decreasing in nonrelevance": Property(decreasing_in_nonrelevance, "yes yes yes yes"),
    "strictly decreasing in nonrelevance": Property(strictly_decreasing_in_nonrelevance, "no no no no"),
    "increasing in relevance": Property(increasing_in_relevance, "yes yes yes yes"),
    "strictly increasing in relevance": Property(strictly_increasing_in_relevance, "no yes no yes"),
    "increasing in swapping up": Property(increasing_in_swapping_up, "yes yes yes yes"),
    "strictly increasing in swapping up": Property(
        strictly_increasing_in_swapping_up,
        paper="no yes no no",
        ours="no yes no yes",
        because="the paper's own proof is strict: the document that moves up is better placed, and none below it moves",
    ),
    "concavity in contiguous swap depth": Property(
        concave_in_swap_depth,
        paper="yes yes yes NA",
        ours="no no no NA",
        because="two swaps in one ranking are at different recall levels, and the lower one may weigh more: "
        "AP at (6, 8) gains 1/60 above and 1/56 below, TSE at (2, 4) gains 0 and 1/12",
    ),
    "strict concavity in contiguous swap depth": Property(
        strictly_concave_in_swap_depth,
        paper="no yes no NA",
        ours="no no no NA",
        because="as above, even if e is strictly convex",
        applies=lambda method: is_convex(method, strictly=True),
    ),
    "suffix invariance": Property(suffix_invariant, "no no no no"),
    "prefix invariance": Property(prefix_invariant, "no no no no"),
    "boundedness": Property(
        None,
        paper="no no no NA",
        ours="no no yes NA",
        because="by argument, over all corpora: the sum of 1/i over the first m places has no bound, "
        "but 0 <= e(p_m) <= e(1) for every e",
    ),
    "localization": Property(localized, "no no no NA"),
    "completeness": Property(
        None,
        paper="yes yes yes NA",
        because="by argument, if z(i, 0) is defined: trying rankings without relevant documents cannot decide it",
    ),
    "realizability": Property(realizable, "no no no NA"),
}
"""The paper's table."""

AT_ONE_LEVEL = {
    "concavity at one recall level": Property(
        concave_at_one_level, "yes yes yes NA", because="e is convex", applies=is_convex
    ),
    "strict concavity at one recall level": Property(
        strictly_concave_at_one_level,
        "no yes no NA",
        because="e is strictly convex",
        applies=lambda method: is_convex(method, strictly=True),
    ),
}
"""What the paper's proof of concavity shows, under its condition."""

NOTES = {
    "strict concavity in contiguous swap depth": "(1)",
    "completeness": "(2)",
    "concavity at one recall level": "(3)",
    "strict concavity at one recall level": "(4)",
}
"""The conditions, as the table marks them."""


def exhibit(_seed: int) -> Exhibit:
    """Decide every cell."""
    rows = tuple(_row(name, column) for name in (*TABLE, *AT_ONE_LEVEL) for column in COLUMNS)
    return Exhibit(
        "properties",
        "Properties of evaluation methods, cell by cell",
        ("property", "methods", "holds", "paper", "how", "because"),
        rows,
        _table(rows),
        remarks=(
            f"Every ranking of n = {N} documents was tried, with {SIZES[0]} to {SIZES[-1]} of them relevant, and with "
            "more documents left unretrieved than are relevant. yes: all methods of the column that were tried; no: "
            "not all of them; NA: the property needs values.",
            "(1) if the exposure is strictly convex. (2) if z is defined for m = 0. (3) not in the paper's table: what "
            "its proof of concavity shows, if the exposure is convex. (4) the same, if it is strictly convex.",
            *(f"{name}: {row.because}." for name, row in TABLE.items() if row.ours or row.holds is None),
        ),
    )  # fmt: skip


def _row(name: str, column: str) -> dict[str, Any]:
    row = TABLE.get(name) or AT_ONE_LEVEL[name]
    holds, (printed, _) = row.found(column), row.cells()[column]
    how = "not applicable" if holds == "NA" else "argued" if row.holds is None else "enumerated"
    return {
        "property": name,
        "methods": column,
        "holds": holds,
        "paper": printed if name in TABLE else None,
        "how": how,
        "because": row.because if row.holds is None or printed != holds else "",
    }


def _table(rows: tuple[dict[str, Any], ...]) -> Table:
    names = list(dict.fromkeys(row["property"] for row in rows))
    cells = {name: [_cell(row) for row in rows if row["property"] == name] for name in names}
    lined = [(f"{name} {NOTES[name]}" if name in NOTES else name, *cells[name]) for name in names]
    return Table(("property", *COLUMNS), tuple(lined), texts=frozenset(range(1, len(COLUMNS) + 1)))


def _cell(row: dict[str, Any]) -> str:
    verdict = row["holds"] + (", by argument" if row["how"] == "argued" else "")
    return verdict if row["paper"] in (None, row["holds"]) else f"{verdict} (paper {row['paper']})"

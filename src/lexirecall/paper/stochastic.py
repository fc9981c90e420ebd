"""The worst-off user of optimal deterministic and stochastic rankers, by the number of relevant documents.

Belongs here: the figure and its numbers. Not here: what the rankers are (lexirecall.theory.stochastic).
"""

from typing import Any

from lexirecall.paper.exhibit import Exhibit
from lexirecall.plots import altair, lines
from lexirecall.tables import Table, number
from lexirecall.theory import worst_case_deterministic, worst_case_stochastic

MOST_RELEVANT = 25
MEASURES = ("AP", "RR", "nDCG", "RBP(p=0.5)", "TSE")
PANELS = {"AP": "AP and RR", "nDCG": "nDCG", "RBP(p=0.5)": "RBP(p=0.5)"}
"""What is drawn; RR is the same as AP, and TSE is the same for both rankers."""
RANKERS = {"deterministic": worst_case_deterministic, "stochastic": worst_case_stochastic}


def exhibit(_seed: int) -> Exhibit:
    """Compute the worst case of both rankers for m = 1 … 25."""
    rows = tuple(
        {"m": m, "measure": name, "ranker": ranker, "worst": function(name, m).value}
        for name in MEASURES
        for m in range(1, MOST_RELEVANT + 1)
        for ranker, function in RANKERS.items()
    )
    return Exhibit(
        name="stochastic",
        title=f"Worst case over users of optimal deterministic and stochastic rankers, for m = 1 … {MOST_RELEVANT}",
        columns=("m", "measure", "ranker", "worst"),
        rows=rows,
        table=_table(rows),
        charts={"stochastic": lambda: _chart(rows)},
        remarks=(
            "For the stochastic ranker, it is the worst expected utility. Columns: d deterministic, s stochastic.",
            "Users who want one document are worst off: with AP and RR they get 1/m from the deterministic ranker, and "
            "(1 + 1/2 + … + 1/m)/m from the stochastic one.",
            "With TSE nothing is gained: a user who wants all documents finds the last of them at m in either case.",
            "The paper does not name the measures of its figure, nor the p of RBP.",
        ),
    )


def _table(rows: tuple[dict[str, Any], ...]) -> Table:
    values = {(row["m"], row["measure"], row["ranker"]): row["worst"] for row in rows}
    lined = [
        (str(m), *(number(values[m, name, ranker]) for name in MEASURES for ranker in RANKERS))
        for m in range(1, MOST_RELEVANT + 1)
    ]
    header = ("m", *(f"{name}, {ranker[0]}" for name in MEASURES for ranker in RANKERS))
    return Table(header, tuple(lined), numbers_from=0)


def _chart(rows: tuple[dict[str, Any], ...]) -> Any:
    panels = [
        lines(
            [row for row in rows if row["measure"] == name],
            x="m",
            y="worst",
            series="ranker",
            names=list(RANKERS),
            x_title="number of relevant documents m",
            y_title="utility of the worst-off user" if name == "AP" else "",
            title=title,
            ticks=(1, 5, 10, 15, 20, 25),
            size=(200, 200),
        )
        for name, title in PANELS.items()
    ]
    return altair().hconcat(*panels)

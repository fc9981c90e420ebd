"""How much measures depend on the first and the last relevant document, by the number of relevant documents.

Belongs here: the two figures and their numbers. Not here: what orientation is (lexirecall.theory.orientation).
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lexirecall.paper.exhibit import Exhibit
from lexirecall.paper.sharedlines import coinciding
from lexirecall.plots import lines
from lexirecall.tables import Table, number
from lexirecall.theory import precision_orientation, recall_orientation

CORPUS_SIZE = 100_000
MOST_RELEVANT = 15
MEASURES = ("RR", "nDCG", "AP", "R@1000", "Rprec", "RBP(p=0.5)", "TSE")
ORIENTATIONS: Mapping[str, Callable[[str, int, int], float]] = {
    "precision": precision_orientation,
    "recall": recall_orientation,
}


def exhibit(_seed: int) -> Exhibit:
    """Compute the orientation of every measure for m = 1 … 15."""
    rows = tuple(
        {"orientation": kind, "m": m, "measure": name, "value": function(name, m, CORPUS_SIZE)}
        for kind, function in ORIENTATIONS.items()
        for m in range(1, MOST_RELEVANT + 1)
        for name in MEASURES
    )
    return Exhibit(
        name="orientation",
        title=f"Precision and recall orientation of measures, for n = {CORPUS_SIZE:,} and m = 1 … {MOST_RELEVANT}",
        columns=("orientation", "m", "measure", "value"),
        rows=rows,
        table=_table(rows),
        charts={f"orientation-{kind}": partial(_chart, rows, kind) for kind in ORIENTATIONS},
        remarks=(
            "Precision: the first relevant document moves from the top to the others at the bottom of the corpus. "
            "Recall: the last one moves from right below the others to the bottom.",
            "TSE is scaled to its bounds e(m) and e(n), so it is the same for every exposure.",
            "The paper does not say which p RBP has; here it is .5. RBP then exceeds nDCG in precision from m = 3 on.",
            "For m = 1, nDCG is below AP, R@1000 and Rprec in precision too: the bottom still has an exposure of .060.",
            "Lines that coincide are drawn as one: AP, R@1000 and Rprec are 1/m in both, AP to within about 1/n.",
        ),
    )


def _table(rows: tuple[dict[str, Any], ...]) -> Table:
    values = {(row["orientation"], row["m"], row["measure"]): row["value"] for row in rows}
    lined = [
        (kind, str(m), *(number(values[kind, m, name], 3) for name in MEASURES))
        for kind in ORIENTATIONS
        for m in range(1, MOST_RELEVANT + 1)
    ]
    return Table(("orientation", "m", *MEASURES), tuple(lined))


def _chart(rows: tuple[dict[str, Any], ...], kind: str) -> Any:
    drawn, names = coinciding([row for row in rows if row["orientation"] == kind], "value", MEASURES)
    return lines(
        drawn,
        x="m",
        y="value",
        series="measure",
        names=names,
        x_title="number of relevant documents m",
        y_title=f"{kind} orientation",
        ticks=range(1, 16, 2),
    )

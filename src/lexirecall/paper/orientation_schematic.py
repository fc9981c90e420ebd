"""Figure: what metric orientation compares: two rankings that place one relevant document differently.

Belongs here: the four placements and their drawing.
"""

from typing import Any

import numpy as np

from lexirecall.names import parse_measure
from lexirecall.paper.drawing import Sheet, column, ranking
from lexirecall.paper.exhibit import Exhibit
from lexirecall.theory import precision_orientation, recall_orientation
from lexirecall.theory.orientation import values_of_complete

NUM_RELEVANT, CORPUS_SIZE = 4, 10
MEASURES = ("RR", "nDCG", "AP", "TSE")
ORIENTATIONS = {"precision": precision_orientation, "recall": recall_orientation}
HIGH, WIDE, TOP = 20, 30, 62
COLUMNS = {"precision": (50, 126), "recall": (210, 286)}
"""Where the two rankings of a panel are."""


def placements(m: int, n: int) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the positions of the relevant documents in the better and in the worse ranking, for each orientation.

    Precision: the first is at 1, or with the others at the bottom. Recall: the last is at m, right below the others at
    the top, or at n.

    >>> placements(3, 10)
    {'precision': ((1, 9, 10), (8, 9, 10)), 'recall': ((1, 2, 3), (1, 2, 10))}

    Reference: DiazEM25, metric orientation.
    """
    top, bottom = tuple(range(1, m + 1)), tuple(range(n - m + 1, n + 1))
    return {"precision": ((1, *bottom[1:]), bottom), "recall": (top, (*top[:-1], n))}


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Place the documents, and compute each measure.

    >>> [(row["orientation"], row["better"], row["worse"]) for row in exhibit(0).rows if row["measure"] == "RR"]
    [('precision', '1 8 9 10', '7 8 9 10'), ('recall', '1 2 3 4', '1 2 3 10')]

    Reference: DiazEM25, metric orientation.
    """
    rows = [
        _row(name, measure, better, worse)
        for name, (better, worse) in placements(NUM_RELEVANT, CORPUS_SIZE).items()
        for measure in MEASURES
    ]
    return Exhibit(
        "orientation-schematic",
        "what metric orientation compares",
        ("orientation", "better", "worse", "measure", "of_better", "of_worse", "orientation_of_measure"),
        tuple(rows),
        charts={"orientation-schematic": chart},
        remarks=(
            f"{NUM_RELEVANT} relevant documents of {CORPUS_SIZE}. Precision: the first sinks from the top to the "
            "others at the bottom. Recall: the last sinks from right below the others to the bottom.",
            "Orientation is the difference between the two values; for TSE it is scaled to the range of its values.",
        ),
    )


def _row(name: str, measure: str, better: tuple[int, ...], worse: tuple[int, ...]) -> dict[str, Any]:
    values = values_of_complete(parse_measure(measure), np.array([better, worse]), CORPUS_SIZE).tolist()
    return {
        "orientation": name,
        "better": " ".join(map(str, better)),
        "worse": " ".join(map(str, worse)),
        "measure": measure,
        "of_better": round(values[0], 6),
        "of_worse": round(values[1], 6),
        "orientation_of_measure": round(ORIENTATIONS[name](measure, NUM_RELEVANT, CORPUS_SIZE), 6),
    }


def chart() -> Any:
    """Draw two columns of cells for each orientation, and an arrow from the document's old place to its new one.

    >>> len(chart().to_dict()["layer"])
    4
    """
    sheet = Sheet(316, TOP + HIGH * CORPUS_SIZE + 22)
    ys = [TOP + HIGH * k for k in range(CORPUS_SIZE)]
    boxes, texts, arrows = [], column(20, ys, range(1, CORPUS_SIZE + 1)), []
    for name, pair in placements(NUM_RELEVANT, CORPUS_SIZE).items():
        left, right = COLUMNS[name]
        was, now = moved(*pair)
        boxes += ranking(left, ys, pair[0], was) + ranking(right, ys, pair[1], now)
        texts += [(left, TOP - 22, "π"), (right, TOP - 22, "π′"), ((left + right) / 2, ys[-1] + 24, "μ(π) − μ(π′)")]
        arrows += [(left + WIDE / 2 + 2, ys[was - 1], right - WIDE / 2 - 2, ys[now - 1])]
    return sheet.layered(
        sheet.boxes(boxes, (WIDE, HIGH)),
        sheet.texts(texts),
        sheet.texts([(sum(xs) / 2, 10, name) for name, xs in COLUMNS.items()], fontWeight="bold"),
        sheet.arrows(arrows, strokeWidth=1.5),
    )


def moved(better: tuple[int, ...], worse: tuple[int, ...]) -> tuple[int, int]:
    """Return the old and the new place of the document that the two rankings place differently.

    >>> moved((1, 9, 10), (8, 9, 10))
    (1, 8)
    """
    return next(iter({*better} - {*worse})), next(iter({*worse} - {*better}))

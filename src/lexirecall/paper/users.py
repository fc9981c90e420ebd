"""Figure: the population of possible users of one ranking: every non-empty set of its relevant documents.

Belongs here: the example and its drawing.
"""

from typing import Any

from lexirecall.paper.drawing import INK, WHITE, Sheet, column, named, ranking
from lexirecall.paper.exhibit import Exhibit
from lexirecall.tables import Table
from lexirecall.theory import user_utilities

POSITIONS, DEPTH = (1, 3, 4, 7), 8
MEASURES = ("AP", "nDCG", "RR", "RBP")
HIGH, WIDE, STEP, TOP = 17, 16, 20, 34
RANKING, FIRST = 22, 60
"""Where the ranking is, and the first of the users."""


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Enumerate the users, the best off by AP first.

    >>> rows = exhibit(0).rows
    >>> len(rows), rows[-1]["documents"], rows[-1]["AP"]
    (15, '4', 0.142857)

    Reference: DiazEM25, possible information needs.
    """
    rows = population()
    return Exhibit(
        "users",
        "population of possible users of a ranking",
        ("documents", "positions", *MEASURES),
        tuple(rows),
        Table(("documents", "positions", *MEASURES), tuple(tuple(map(str, row.values())) for row in rows)),
        charts={"users": lambda: chart(rows)},
        remarks=(
            f"The {len(POSITIONS)} relevant documents of the ranking, at {_listed(POSITIONS)}, make {len(rows)} "
            "possible users: each wants some of them, in the same ranking. By AP, the worst-off user wants the last "
            "one alone; that user's AP is TSE.",
        ),
    )


def _listed(positions: tuple[float, ...] | tuple[int, ...]) -> str:
    return " ".join(f"{position:.0f}" for position in positions)


def population() -> list[dict[str, Any]]:
    """Return every user with the utilities, in descending order of AP.

    >>> population()[0]["documents"]
    '1'
    """
    utilities = {measure: user_utilities(measure, POSITIONS) for measure in MEASURES}
    users = utilities["AP"]
    members = [users.member(int(mask)) for mask in users.masks]
    rows = [
        {"documents": named(member.levels), "positions": _listed(member.positions)}
        | {measure: round(float(utilities[measure].utilities[k]), 6) for measure in MEASURES}
        for k, member in enumerate(members)
    ]
    return sorted(rows, key=lambda row: (-row["AP"], row["documents"]))


def chart(rows: list[dict[str, Any]]) -> Any:
    """Draw the ranking and, to its right, what each user wants.

    >>> len(chart(population()).to_dict()["layer"])
    4
    """
    sheet = Sheet(FIRST + STEP * len(rows) - 4, TOP + HIGH * DEPTH + 14)
    wanted = [POSITIONS, *(tuple(map(int, row["positions"].split())) for row in rows)]
    xs = [RANKING, *(FIRST + STEP * k for k in range(len(rows)))]
    ys = [TOP + HIGH * k for k in range(DEPTH)]
    boxes = [box for x, places in zip(xs, wanted, strict=True) for box in ranking(x, ys, places)]
    end = ys[-1] + HIGH
    values = [
        (x, end + 6, f"{row['AP']:.2f}".lstrip("0").removesuffix(".00")) for x, row in zip(xs[1:], rows, strict=True)
    ]
    heads = [
        (RANKING, 10, "π"), ((xs[1] + xs[-1]) / 2, 10, f"the {len(rows)} possible users"), (RANKING, end + 6, "AP"),
    ]  # fmt: skip
    worst = (xs[-1], (ys[0] + ys[-1]) / 2, WHITE)
    return sheet.layered(
        sheet.boxes(boxes, (WIDE, HIGH)),
        sheet.boxes([worst], (WIDE + 4, HIGH * DEPTH + 4), fillOpacity=0, stroke=INK, strokeWidth=2),
        sheet.texts(heads),
        sheet.texts([*values, *column(7, ys, range(1, DEPTH + 1))], fontSize=10.5),
    )

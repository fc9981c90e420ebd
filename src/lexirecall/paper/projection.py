"""Figure: relevance projection with imputation, from a ranking of ten documents to the positions of six.

Belongs here: the paper's example and its drawing.
"""

from typing import Any

from lexirecall.formats import project
from lexirecall.paper.drawing import INK, PALE, RELEVANT, Sheet, column, letters, ranking
from lexirecall.paper.exhibit import Exhibit
from lexirecall.tables import Table

RELEVANT_DOCUMENTS = ("083", "107", "511", "668", "820", "977")
RETURNED = ("342", "668", "107", "915", "026", "751", "480", "977", "233", "604")
"""The paper gives the relevant documents and the positions 2, 3 and 8; which three, and the rest, we chose."""
CORPUS_SIZE = 1000
"""The documents are 000 … 999."""
HIGH, WIDE = 20, 46
TOP = 36
"""Where the first cell of the ranking is."""
RANKING, LEVEL, POSITION, DOCUMENT = 93, 191, 224, 284
"""Where the columns are."""
HEADS = {LEVEL: "i", POSITION: "position", DOCUMENT: "document"}


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Project the example.

    >>> [row["position"] for row in exhibit(0).rows]
    [2, 3, 8, 998, 999, 1000]

    Reference: DiazEM25, permutation imputation.
    """
    rows = projected()
    return Exhibit(
        "projection",
        "relevance projection with imputation",
        ("level", "document", "position", "is_retrieved"),
        tuple(rows),
        Table(("level", "document", "position", "is_retrieved"), tuple(tuple(map(str, row.values())) for row in rows)),
        charts={"projection": lambda: chart(rows)},
        remarks=(
            f"The ranking returns {len(RETURNED)} documents, three of the {len(RELEVANT_DOCUMENTS)} relevant ones "
            f"among them. The other three are placed at the very bottom of the corpus (n = {CORPUS_SIZE} in the rows).",
            "The order of the missing documents is unknown and does not matter: they are sorted by name.",
        ),
    )


def projected() -> list[dict[str, Any]]:
    """Return the document and the position at each recall level."""
    positions = project({"q": dict.fromkeys(RELEVANT_DOCUMENTS, 1)}, {"q": list(RETURNED)}, corpus_size=CORPUS_SIZE)
    vector = positions.at_level(1).vector(0, 0, imputed=True)
    found = [document for document in RETURNED if document in RELEVANT_DOCUMENTS]
    documents = [*found, *sorted({*RELEVANT_DOCUMENTS}.difference(found))]
    return [
        {"level": level, "document": document, "position": int(position), "is_retrieved": level <= len(found)}
        for level, (document, position) in enumerate(zip(documents, vector, strict=True), 1)
    ]


def shown(position: int) -> str:
    """Return a position as the drawing writes it: an imputed one is counted from the bottom.

    >>> shown(8), shown(998), shown(1000)
    ('8', 'n−2', 'n')
    """
    if position <= len(RETURNED):
        return str(position)
    return f"n−{CORPUS_SIZE - position}" if position < CORPUS_SIZE else "n"


def chart(rows: list[dict[str, Any]]) -> Any:
    """Draw the ranking on the left, with a gap above the imputed documents, and the two vectors on the right.

    >>> len(chart(projected()).to_dict()["layer"])
    9
    """
    sheet = Sheet(316, TOP + HIGH * (len(RETURNED) + 4) - 6)
    found, missing = ([row for row in rows if row["is_retrieved"] is side] for side in (True, False))
    ys = [TOP + HIGH * k for k in range(len(RETURNED) + 1 + len(missing))]
    gap = ys.pop(len(RETURNED))
    places = [*range(1, len(RETURNED) + 1), *(row["position"] for row in missing)]
    returned = ranking(RANKING, ys[: len(RETURNED)], [row["position"] for row in found])
    imputed = column(RANKING, ys[len(RETURNED) :], [PALE] * len(missing))
    return sheet.layered(
        sheet.boxes(returned, (WIDE, HIGH)),
        sheet.boxes(imputed, (WIDE, HIGH), strokeDash=[3, 2], stroke=INK),
        sheet.texts(letters([*returned, *imputed], [*RETURNED, *(row["document"] for row in missing)])),
        sheet.texts(column(RANKING - 30, ys, map(shown, places)), align="right"),
        sheet.texts([(RANKING, gap, "⋮")]),
        *_extents(sheet, gap),
        *_vectors(sheet, rows, dict(zip(places, ys, strict=True))),
    )


def _extents(sheet: Sheet, gap: float) -> list[Any]:
    """Say which part of the ranking was returned, and which was not."""
    spans = [(TOP - HIGH / 2, gap - HIGH / 2, "returned"), (gap + HIGH / 2, sheet.height - 4, "imputed")]
    return [
        sheet.lines([(24, start + 2, 24, stop - 2) for start, stop, _ in spans], strokeWidth=2),
        sheet.texts([(12, (start + stop) / 2, name) for start, stop, name in spans], angle=270),
    ]


def _vectors(sheet: Sheet, rows: list[dict[str, Any]], lines: dict[int, int]) -> list[Any]:
    """Draw the position and the document at each level, and where it comes from."""
    middle = (min(lines.values()) + max(lines.values())) / 2
    ys = [middle + (row["level"] - (len(rows) + 1) / 2) * (HIGH + 4) for row in rows]
    fills = [RELEVANT if row["is_retrieved"] else PALE for row in rows]
    vectors = [*column(POSITION, ys, fills), *column(DOCUMENT, ys, fills)]
    written = [shown(row["position"]) for row in rows] + [row["document"] for row in rows]
    starts = [lines[row["position"]] for row in rows]
    heads = [(RANKING, TOP - HIGH, "ranking π"), *((x, ys[0] - HIGH, text) for x, text in HEADS.items())]
    return [
        sheet.arrows([(RANKING + WIDE / 2 + 3, start, LEVEL - 8, y) for start, y in zip(starts, ys, strict=True)]),
        sheet.boxes(vectors, (WIDE, HIGH + 4))
        + sheet.texts(letters(vectors, written))
        + sheet.texts([*column(LEVEL, ys, range(1, len(rows) + 1)), *heads]),
    ]

"""Figure: domination: what decides between two rankings that differ last at their third relevant document.

Belongs here: two such rankings, the utilities of their users, and the drawing.
"""

from typing import Any

from lexirecall.errors import listed
from lexirecall.measures.measure import TOLERANCE
from lexirecall.paper.drawing import INK, named
from lexirecall.paper.exhibit import Exhibit
from lexirecall.paper.partial_order import nonempty_sets
from lexirecall.paper.partition import DECIDING, TIED, part_of_user
from lexirecall.plots import altair, data, series_scales
from lexirecall.tables import Table, number
from lexirecall.theory import leximin, user_utilities

FIRST, SECOND = (2, 3, 4, 9, 12), (1, 2, 8, 9, 12)
"""The second finds the first two relevant documents sooner, the first finds the third sooner; below they agree."""
K = 3
OUTCOMES = {1: "π", 0: "tie", -1: "π′"}
MEASURES = ("AP", "nDCG", "RR", "RBP")
FIELDS = {"π": "first", "π′": "second"}
PANELS = {DECIDING: f"document {K}, else only below it", TIED: f"only documents below {K}"}


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Compute the utilities of all users in both rankings.

    >>> rows = exhibit(0).rows
    >>> {row["preferred"] for row in rows if row["part"] == "deciding"}, len({row["preferred"] for row in rows})
    ({'π'}, 3)

    Reference: DiazEM25, theorem on leximin of users.
    """
    rows = compared("AP")
    behind = sum(row["preferred"] == "π′" for row in rows)
    verdict = OUTCOMES[leximin([row["first"] for row in rows], [row["second"] for row in rows], tolerance=TOLERANCE)]
    first, second = (listed(map(str, positions)) for positions in (FIRST, SECOND))
    return Exhibit(
        name="domination",
        title=f"domination among the users who want document {K} and otherwise only documents below it",
        columns=("set", "part", "measure", "first", "second", "preferred"),
        rows=tuple(row for measure in MEASURES for row in compared(measure)),
        table=_table(rows),
        charts={"domination": lambda: chart(rows)},
        remarks=(
            f"π has its relevant documents at {first}, π′ at {second}. Users who want document {K}, and otherwise "
            f"only documents below it, are better off in π. Users who want only documents below {K} are tied. This "
            f"holds for {listed(MEASURES)}; the table and the drawing show AP.",
            f"Leximin prefers {verdict}, though {behind} of the {len(rows)} users have a higher AP in π′.",
            f"With TSE, only the user who wants document {K} alone is better off. The other deciding users are tied: "
            "the strict inequality of the paper's proof needs z(1, j) > 0.",
        ),
    )


def _table(rows: list[dict[str, Any]]) -> Table:
    lines = [(row["set"], row["part"], number(row["first"]), number(row["second"]), row["preferred"]) for row in rows]
    return Table(("set", "part", "π", "π′", "preferred"), tuple(lines), texts=frozenset({1, 4}))


def compared(measure: str) -> list[dict[str, Any]]:
    """Return every user's utilities in the two rankings, and which is preferred.

    >>> compared("AP")[2]
    {'set': '3', 'part': 'deciding', 'measure': 'AP', 'first': 0.25, 'second': 0.125, 'preferred': 'π'}
    """
    sides = [user_utilities(measure, positions) for positions in (FIRST, SECOND)]
    rows = []
    for levels in nonempty_sets(len(FIRST)):
        mask = sum(1 << (level - 1) for level in levels)
        first, second = (side.member(mask).utility for side in sides)
        preferred = OUTCOMES[leximin([first], [second], tolerance=TOLERANCE)]
        rows.append(
            {"set": named(levels), "part": part_of_user(levels, K), "measure": measure}
            | {"first": first, "second": second, "preferred": preferred}
        )
    return rows


def chart(rows: list[dict[str, Any]]) -> Any:
    """Draw the utilities of the users who decide, and below them those of the users who are tied.

    >>> len(chart(compared("AP")).to_dict()["vconcat"])
    2
    """
    panels = [_panel([row for row in rows if row["part"] == part], title) for part, title in PANELS.items()]
    return altair().vconcat(*panels, spacing=6).resolve_scale(x="shared")


def _panel(rows: list[dict[str, Any]], title: str) -> Any:
    alt = altair()
    is_last = rows[0]["part"] == TIED
    names = sorted((row["set"] for row in rows), key=lambda name: (-len(name), name))
    drawn = dict.fromkeys(("labels", "ticks", "domain"), is_last)
    axis = alt.Axis(title="utility (AP)" if is_last else None, tickCount=6, labelFlush=False, **drawn)
    x = {"scale": alt.Scale(domain=[0, 0.3], nice=False), "axis": axis}
    y = alt.Y("set:N", sort=names, title=None, axis=alt.Axis(labelFontSize=12, ticks=False, domain=False))
    lines = alt.Chart(data(rows)).mark_rule(color=INK).encode(alt.X("first:Q", **x), y, x2="second:Q")
    marks = [_marks(rows, side, field).encode(alt.X(f"{field}:Q", **x), y) for side, field in FIELDS.items()]
    heading = alt.Title(title, fontSize=12, fontWeight="normal", frame="group")
    return (lines + marks[1] + marks[0]).properties(width=230, height=22 * len(rows), title=heading)


def _marks(rows: list[dict[str, Any]], side: str, field: str) -> Any:
    """Return the marks of one ranking: circles, or squares that are wide enough to be seen behind a circle."""
    alt, scales = altair(), series_scales(list(FIELDS))
    shown = [{"set": row["set"], field: row[field], "side": side} for row in rows]
    size = 60 if side == "π" else 150
    base = alt.Chart(data(shown)).mark_point(size=size, fill="white", strokeWidth=2, opacity=1)
    return base.encode(
        shape=alt.Shape("side:N", scale=scales["shape"], title=None),
        stroke=alt.Stroke("side:N", scale=scales["color"], title=None),
    )

"""Figure: how the positions of the first and the last relevant document depend on each other, by chance.

Belongs here: their joint distribution and its drawing.

If all C(n, m) placements of m documents among n are equally likely, C(b - a - 1, m - 2) of them have p_1 = a and p_m =
b: the other relevant documents are between the two.
"""

import math
from fractions import Fraction
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.paper.drawing import INK
from lexirecall.paper.exhibit import Exhibit
from lexirecall.plots import altair, data
from lexirecall.svg import COLORS
from lexirecall.tables import Table, number
from lexirecall.theory.orientation import placed

NUM_RELEVANT, CORPUS_SIZE = 5, 20
Joint = dict[tuple[int, int], Fraction]


def joint(m: int, n: int) -> Joint:
    """Return the probability of every possible pair (p_1, p_m), for m from 2 on.

    >>> {pair: str(probability) for pair, probability in joint(2, 3).items()}
    {(1, 2): '1/3', (1, 3): '1/3', (2, 3): '1/3'}

    Reference: DiazEM25, robustness and existing metrics.
    """
    m, n = placed(m, n)
    if m == 1:
        raise UsageError("one relevant document is both the first and the last", remedy="give two or more")
    return {
        (first, last): Fraction(math.comb(last - first - 1, m - 2), math.comb(n, m))
        for first in range(1, n - m + 2)
        for last in range(first + m - 1, n + 1)
    }


def expected_last(distribution: Joint) -> dict[int, Fraction]:
    """Return the mean of p_m for each p_1; it is p_1 + (n - p_1 + 1)(m - 1)/m.

    >>> {first: str(mean) for first, mean in expected_last(joint(2, 3)).items()}
    {1: '5/2', 2: '3'}
    """
    mass: dict[int, Fraction] = {}
    total: dict[int, Fraction] = {}
    for (first, last), probability in distribution.items():
        mass[first] = mass.get(first, Fraction()) + probability
        total[first] = total.get(first, Fraction()) + probability * last
    return {first: total[first] / mass[first] for first in mass}


def squared_correlation(distribution: Joint) -> Fraction:
    """Return the square of the correlation of p_1 and p_m, exactly; it is 1/m², whatever n > m.

    >>> str(squared_correlation(joint(5, 20)))
    '1/25'
    """

    def mean(power: int, other: int) -> Fraction:
        return sum((weight * a**power * b**other for (a, b), weight in distribution.items()), Fraction())

    covariance = mean(1, 1) - mean(1, 0) * mean(0, 1)
    return covariance**2 / ((mean(2, 0) - mean(1, 0) ** 2) * (mean(0, 2) - mean(0, 1) ** 2))


def exhibit(seed: int) -> Exhibit:  # noqa: ARG001 - nothing is sampled
    """Compute the joint distribution for a small corpus.

    >>> len(exhibit(0).rows)
    136

    Reference: DiazEM25, robustness and existing metrics.
    """
    m, n = NUM_RELEVANT, CORPUS_SIZE
    distribution = joint(m, n)
    rows = [
        {"first": first, "last": last, "placements": math.comb(last - first - 1, m - 2), "probability": float(weight)}
        for (first, last), weight in distribution.items()
    ]
    return Exhibit(
        name="dependence",
        title=f"dependence of the first and the last position, p_1 and p_m, for m = {m} and n = {n}",
        columns=("first", "last", "placements", "probability"),
        rows=tuple(rows),
        table=_table(distribution),
        charts={"dependence": lambda: chart(rows, expected_last(distribution))},
        remarks=(
            "Only p_m >= p_1 + m - 1 is possible. The deeper the first document is, the deeper the last one: their "
            f"correlation over all placements is 1/m, here {math.sqrt(squared_correlation(distribution)):.2f}.",
        ),
    )


def _table(distribution: Joint) -> Table:
    """Lay out, for each p_1, how likely it is and what it says about p_m."""
    means = expected_last(distribution)
    lines = []
    for first, mean in means.items():
        mass = sum(float(weight) for (a, _), weight in distribution.items() if a == first)
        lowest = min(last for a, last in distribution if a == first)
        lines.append((str(first), number(mass), str(lowest), number(float(mean), 2)))
    return Table(("p_1", "probability", "least p_m", "mean p_m"), tuple(lines), numbers_from=0)


def chart(rows: list[dict[str, Any]], means: dict[int, Fraction]) -> Any:
    """Draw how likely each pair is, and as a line the mean of p_m given p_1; a pair without a cell is impossible.

    >>> [layer["mark"]["type"] for layer in chart([], {1: Fraction(5)}).to_dict()["layer"]]
    ['rect', 'line', 'text']
    """
    alt = altair()
    m, n = NUM_RELEVANT, CORPUS_SIZE
    scale = alt.Scale(domain=[0.5, n + 0.5], nice=False, zero=False)
    x = _axis("position of the first relevant document", {1: "1", n - m + 1: "n−m+1", n: "n"})
    y = _axis("position of the last relevant document", {1: "1", m: "m", n: "n"})
    halves = [
        {"x": row["first"] - 0.5, "x2": row["first"] + 0.5, "y": row["last"] - 0.5, "y2": row["last"] + 0.5} | row
        for row in rows
    ]
    line = [{"x": first, "y": float(mean)} for first, mean in means.items()]
    notes = [{"x": 0.62 * n, "y": 0.32 * n, "text": "impossible"}, {"x": n - m + 1.6, "y": n, "text": "mean"}]
    fill = alt.Fill(
        "probability:Q",
        scale=alt.Scale(domainMin=0, range=["#E2E2E2", "#08306B"]),
        legend=alt.Legend(format=".0%", title="probability", tickCount=5, titleFontWeight="normal"),
    )

    def at(values: list[dict[str, Any]]) -> Any:
        place = alt.X("x:Q", scale=scale, axis=x), alt.Y("y:Q", scale=scale, axis=y)
        return alt.Chart(data(values)).encode(*place)

    cells = at(halves).mark_rect(stroke="white", strokeWidth=1).encode(fill, x2="x2:Q", y2="y2:Q")
    mean = at(line).mark_line(color=COLORS[4], strokeWidth=2.5)
    words = at(notes).mark_text(fontSize=12, color=INK, align="left").encode(text="text:N")
    return (cells + mean + words).properties(width=230, height=230)


def _axis(title: str, names: dict[int, str]) -> Any:
    """Return an axis that names a few of its places."""
    named = " : ".join(f"datum.value == {place} ? '{name}'" for place, name in names.items())
    return altair().Axis(title=title, values=list(names), labelExpr=f"{named} : ''", grid=False, zindex=1)

"""How many papers of the ACM Conference on Recommender Systems measure recall.

Belongs here: the counts of the paper's appendix, their shares and the figure.
"""

from typing import Any

from lexirecall.paper.exhibit import Exhibit
from lexirecall.plots import altair, data
from lexirecall.svg import COLORS
from lexirecall.tables import Table, number, whole

COUNTS = {
    2007: (16, 3), 2008: (20, 3), 2009: (25, 4), 2010: (25, 8), 2011: (22, 5), 2012: (24, 11), 2013: (32, 11),
    2014: (35, 8), 2015: (28, 7), 2016: (29, 12), 2017: (26, 6), 2018: (32, 11), 2019: (36, 11), 2020: (39, 12),
    2021: (49, 19), 2022: (39, 13), 2023: (47, 21), 2024: (58, 24),
}  # fmt: skip
"""By year: the number of full papers, and how many of them measure recall."""


def exhibit(_seed: int) -> Exhibit:
    """Compute the share of each year, and their mean."""
    rows = tuple({"year": year, "papers": n, "recall": k, "share": k / n} for year, (n, k) in COUNTS.items())
    return Exhibit(
        name="recsys",
        title="RecSys papers that measure recall, 2007-2024",
        columns=("year", "papers", "recall", "share"),
        rows=rows,
        table=_table(rows),
        charts={"recsys": lambda: _chart(rows)},
        remarks=(
            "The counts are the paper's; for every year they match the number of papers that it lists.",
            f"The mean over the years is {mean_of_years():.3f}; the paper's text says a third. "
            f"Over all papers together, the share is {share_of_all():.3f}.",
        ),
    )


def mean_of_years() -> float:
    """Return the mean of the shares; every year counts the same.

    >>> round(mean_of_years(), 3)
    0.306
    """
    return sum(k / n for n, k in COUNTS.values()) / len(COUNTS)


def share_of_all() -> float:
    """Return the share among the papers of all years; every paper counts the same.

    >>> round(share_of_all(), 3)
    0.325
    """
    return sum(k for _, k in COUNTS.values()) / sum(n for n, _ in COUNTS.values())


def _table(rows: tuple[dict[str, Any], ...]) -> Table:
    lined = [(str(row["year"]), whole(row["papers"]), whole(row["recall"]), number(row["share"], 3)) for row in rows]
    papers, recall = (whole(sum(counts)) for counts in zip(*COUNTS.values(), strict=True))
    lined.append(("all", papers, recall, number(share_of_all(), 3)))
    lined.append(("mean of years", "", "", number(mean_of_years(), 3)))
    return Table(("year", "papers", "recall", "share"), tuple(lined))


def _chart(rows: tuple[dict[str, Any], ...]) -> Any:
    alt = altair()
    mean = mean_of_years()
    bars = (
        alt.Chart(data(rows), width=400, height=200)
        .mark_bar(color=COLORS[5], size=14)
        .encode(
            x=alt.X("year:O", title="year", axis=alt.Axis(labelAngle=-45)),
            y=alt.Y("share:Q", title="share of full papers", axis=alt.Axis(format="%")),
        )
    )
    line = alt.Chart(data([{"mean": mean, "label": f"mean {mean:.1%}"}])).encode(y="mean:Q")
    text = line.mark_text(align="left", baseline="bottom", dx=4, dy=-2).encode(x=alt.value(0), text="label:N")
    return bars + line.mark_rule(strokeDash=[6, 3], color="black") + text

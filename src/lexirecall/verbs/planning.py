"""Planning: what the queries of a comparison can show, and how many queries it would take to show more.

Belongs here: rows and table of the power of each measure. Not here: the arithmetic of power (statistics).

A pair is planned for by its own test: the sign test if it decides about all pairs, or else the t test with the pair's
standard deviation, which also takes the place of the Wilcoxon test and of randomization. Tests of all pairs at once are
planned for at alpha/pairs, which they need at most. No power is computed from an observed difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.errors import UsageError, counted, listed
from lexirecall.judgments import FloatArray
from lexirecall.measures import Measure
from lexirecall.statistics.power import (
    detectable_effects,
    detectable_shares,
    discriminative_power,
    queries_for_effects,
    queries_for_preference,
    share_of_alpha,
)
from lexirecall.tables import Table, defined, number, whole
from lexirecall.verbs.measurecomparison import MeasureComparison

if TYPE_CHECKING:
    from lexirecall.verbs.comparison import Comparison

POWER = 0.8
_PLANNED = ("detectable", "detectable_as")
_DETECTED = ("queries_for_detect", "queries_for_detect_low", "queries_for_detect_high")


@dataclass(frozen=True, eq=False)
class PairPlans:
    """What can be planned for one measure; the arrays have one entry for each pair."""

    alpha: float
    """The level for each pair."""
    detectable: FloatArray
    """The least difference, or share of wins; infinite if there is none, nan if it is not known."""
    is_share: bool
    """Whether it is a share of wins among untied queries, as the sign test has it."""
    queries: FloatArray
    """How many queries the difference that is named takes; infinite if it is impossible, nan if it is not known."""


def plan_of(compared: MeasureComparison, alpha: float, detect: float | None = None) -> PairPlans:
    """Plan for each pair by its own test, at the level that the correction leaves it."""
    is_family = compared.method != compared.own.method
    num_pairs = int(np.count_nonzero(~np.isnan(compared.corrected)))
    level = share_of_alpha(alpha, "bonferroni" if is_family else compared.correction, num_pairs)
    untied, nothing = compared.wins + compared.losses, np.full(len(compared.a), np.nan)
    if compared.own.by_signs.all():
        shares = detectable_shares(untied, alpha=level, power=POWER)
        if detect is None or _has_size(compared):
            return PairPlans(level, shares, True, nothing)
        needed = queries_for_preference(detect, untied, compared.num_compared, alpha=level, power=POWER)
        return PairPlans(level, shares, True, needed)
    # Equal runs say nothing about spread, and where the sign test decides no difference of means is detected.
    spreads = np.where((compared.deviations > 0) & ~compared.own.by_signs, compared.deviations, np.nan)
    least = detectable_effects(compared.num_queries, alpha=level, power=POWER) * spreads
    needed = nothing if detect is None else queries_for_effects(detect / spreads, alpha=level, power=POWER)
    return PairPlans(level, least, False, needed)


def _has_size(compared: MeasureComparison) -> bool:
    return isinstance(compared.measure, Measure) and not compared.measure.is_share


def planning_rows(comparison: "Comparison", detect: float | None = None) -> Iterator[dict[str, Any]]:
    """Give one row for each measure: how many pairs it tells apart, and what could be told apart.

    `detectable` is the least difference, or share of wins among untied queries (`detectable_as` says which), that these
    queries detect with 80 % power: the median over pairs. `queries_for_detect` is how many queries it would take to
    detect the difference `detect`, on the scale of the measure: the median over pairs, the lowest and the highest.

    >>> from lexirecall import compare
    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(8)}
    >>> old = {query: [*"xyz"[: 1 + i % 3], "a", "b"] for i, query in enumerate(qrels)}
    >>> runs = {"new": dict.fromkeys(qrels, ["a", "b"]), "old": old}
    >>> (row,) = planning_rows(compare(qrels, runs, ["AP"]), detect=0.1)
    >>> round(row["detectable"], 4), row["queries_for_detect"]
    (0.1293, 12)
    """
    check_detect(detect)
    for compared, plan in zip(comparison.measures, _plans(comparison, detect), strict=True):
        known = plan.detectable[~np.isnan(plan.detectable)]
        least = float(np.median(known)) if len(known) else np.nan
        planned = (least if np.isfinite(least) else None, "win share" if plan.is_share else "difference")
        possible = plan.queries[np.isfinite(plan.queries)]
        ends = (np.ceil(np.median(possible)), possible.min(), possible.max()) if len(possible) else ()
        needed = tuple(map(int, ends)) or (None,) * len(_DETECTED)
        yield (
            _shown_by(compared, comparison.alpha)
            | dict(zip(_PLANNED, planned, strict=True))
            | ({} if detect is None else dict(zip(_DETECTED, needed, strict=True)))
        )


def _shown_by(compared: MeasureComparison, alpha: float) -> dict[str, Any]:
    """Return how many pairs a measure tells apart, and on what share of queries pairs tie."""
    return {
        "measure": str(compared.measure),
        "test": ", ".join(compared.methods),
        "correction": compared.correction,
        "pairs": int((~np.isnan(compared.corrected)).sum()),
        "significant": int(compared.is_significant(alpha).sum()),
        "share": defined(discriminative_power(compared.corrected, alpha)),
        "tied": defined(float(compared.ties.sum() / max(compared.num_compared.sum(), 1))),
    }


def planning_table(comparison: "Comparison", detect: float | None = None) -> Table:
    """Lay out the power of each measure."""
    header = (
        "measure", "test", "correction", "pairs", "significant", "share", "tied queries", "detectable",
        *(() if detect is None else (f"queries for {detect:g}",)),
    )  # fmt: skip
    cells = tuple(
        (
            row["measure"], row["test"], row["correction"], whole(row["pairs"]), whole(row["significant"]),
            *("-" if row[column] is None else number(row[column]) for column in ("share", "tied")),
            _least(row), *(() if detect is None else (_needed(row),)),
        )
        for row in planning_rows(comparison, detect)
    )  # fmt: skip
    says = f"share of the pairs with p < {comparison.alpha:g} under the test of each measure"
    note = "; ".join((says, *_footnotes(comparison, list(_plans(comparison, detect)), detect)))
    return Table(header, cells, numbers_from=3, footnote=note)


def check_detect(detect: float | None) -> None:
    """Raise unless the difference to detect, if one is named, is a size."""
    if detect is not None and not 0 < detect < np.inf:
        raise UsageError(
            f"the difference to detect is {detect:g}, but must be above 0", remedy="give a difference, as in 0.05"
        )


def _plans(comparison: "Comparison", detect: float | None) -> Iterator[PairPlans]:
    return (plan_of(compared, comparison.alpha, detect) for compared in comparison.measures)


def _least(row: dict[str, Any]) -> str:
    if row["detectable"] is None:
        return "-"
    return number(row["detectable"]) + (" wins" if row["detectable_as"] == "win share" else "")


def _needed(row: dict[str, Any]) -> str:
    median, low, high = (row[column] for column in _DETECTED)
    return "-" if median is None else f"{median:,}" if low == high else f"{median:,} ({low:,} to {high:,})"


def _footnotes(comparison: "Comparison", plans: list[PairPlans], detect: float | None) -> Iterator[str]:
    """Explain the columns, and name what is left out of them."""
    levels = listed(dict.fromkeys(f"{plan.alpha:.2g}" for plan in plans))
    what = [
        *(["the least difference"] if not all(plan.is_share for plan in plans) else []),
        *(["the least share of wins among untied queries"] if any(plan.is_share for plan in plans) else []),
    ]
    yield f"detectable: {' or '.join(what)} found with {POWER:.0%} power at alpha {levels} for each pair (median)"
    if any(compared.method != compared.own.method for compared in comparison.measures):
        yield "this is the alpha divided by the pairs, a cautious stand-in for a test of all pairs at once"
    if detect is not None:
        yield f"queries for {detect:g}: how many it takes to detect such a difference (median, and range over pairs)"
    for compared, plan in zip(comparison.measures, plans, strict=True):
        yield from _left_out(compared, plan, detect)


def _left_out(compared: MeasureComparison, plan: PairPlans, detect: float | None) -> Iterator[str]:
    name, by_signs = compared.measure, int((compared.own.by_signs & ~plan.is_share).sum())
    if by_signs:
        yield f"{name}: left out are {counted(by_signs, 'pair')} in which the sign test decides"
    if unknown := int(np.isnan(plan.detectable).sum()) - by_signs:
        yield f"{name}: left out are {counted(unknown, 'pair')} whose differences do not vary"
    if powerless := int(np.isinf(plan.detectable).sum()):
        yield f"{name}: {counted(powerless, 'pair')} with too few untied queries to detect anything"
    if detect is not None and plan.is_share and _has_size(compared):
        yield f"{name}: the sign test ignores sizes, so no number of queries follows from {detect:g}"
    if impossible := int(np.isinf(plan.queries).sum()):
        yield f"{name}: left out are {counted(impossible, 'pair')} with too many ties for a preference of {detect:g}"

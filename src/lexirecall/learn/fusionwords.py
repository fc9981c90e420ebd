"""Fused words: what a reader concludes from a fusion.

Belongs here: the sentences, each made from the numbers, with their uncertainty. Not here: the numbers (fusionresult),
rows and tables (fusiontables).
"""

from collections.abc import Iterator
from typing import Any

from lexirecall.errors import counted
from lexirecall.learn.baselines import BEST_RUN
from lexirecall.learn.fusionresult import FusedRun
from lexirecall.tables import number


def sentences_on(fused: FusedRun) -> Iterator[str]:
    """Say how queries were ranked, and what is gained or lost."""
    yield _on_learning(fused)
    directions = {str(compared.measure): compared.measure.direction for compared in fused.comparison.measures}
    rows = [{**row, "direction": directions[row["measure"]]} for row in fused.comparison.rows()]
    for other in dict.fromkeys(row["b"] for row in rows):
        name = f"the {other}" if other == BEST_RUN else other
        yield _on_pair(name, [row for row in rows if row["b"] == other], fused.comparison.alpha)


def _on_learning(fused: FusedRun) -> str:
    weights = fused.weights
    if not fused.is_learnt:
        learnt = f"weights that were learnt on {counted(weights.num_queries, 'query')}"
        way = f"RRF, which is what {learnt} come to" if weights.is_rrf else learnt
        return f"{counted(len(fused.queries), 'query')} ranked by {way}; nothing was learnt here."
    folds = [fold for fold in fused.folds if fold.number is not None]
    queries = counted(sum(len(fold.queries) for fold in folds), "query")
    learnt = "ranked by weights that were learnt on the other folds: every number below is of queries that the weights"
    if not fused.num_rrf:
        return f"{queries} in {len(folds)} folds, each {learnt} never saw."
    why = f"on the other folds, learnt weights show no gain over it in {fused.comparison.measures[0].measure}"
    if fused.num_rrf == len(folds):
        return f"The fused run is RRF, in all {len(folds)} folds ({queries}): {why}."
    by_rrf = sum(len(fold.queries) for fold in folds if fold.is_rrf)
    where = f"in {fused.num_rrf} of {len(folds)} folds ({by_rrf:,} of {queries})"
    return f"The fused run is RRF {where}: {why}. The rest is {learnt} never saw."


def _on_pair(other: str, rows: list[dict[str, Any]], alpha: float) -> str:
    """Say under which measures the fused run is significantly better or worse than another."""
    decided = [row for row in rows if row["p_corrected"] is not None and row["p_corrected"] < alpha]
    better = [row for row in decided if row["mean"] > 0]
    worse = [row for row in decided if row["mean"] < 0]
    rest = [row for row in rows if row not in decided]
    if not decided:
        names = [_with_numbers(rows[0]), *(row["measure"] for row in rows[1:])]
        return f"Nothing is gained over {other}: no difference is significant in {', '.join(names)}."
    says = [f"better than {other} in {_together(better)}"] if better else []
    says += [f"worse than {other} in {_together(worse)}"] if worse else []
    also = f"; not significantly different in {', '.join(row['measure'] for row in rest)}" if rest else ""
    return f"The fused run is {', and '.join(says)}{also}."


def _together(rows: list[dict[str, Any]]) -> str:
    return ", ".join(map(_with_numbers, rows))


def _with_numbers(row: dict[str, Any]) -> str:
    """Write a difference with its interval and both p.

    >>> numbers = {"mean": -12.5, "low": -20.0, "high": -5.0, "p": 0.01, "p_corrected": 0.03, "test": "paired t"}
    >>> print(_with_numbers({"measure": "Depth@0.95", "direction": -1, "wins": 2, "losses": 5, **numbers}))
    Depth@0.95 (12.50 more, 95 % interval 5.000 to 20.00, p 0.0100, corrected 0.0300)
    """
    if row["mean"] is None:
        return f"{row['measure']} (no query has a value for both)"
    p, corrected = (("-" if row[name] is None else number(row[name])) for name in ("p", "p_corrected"))
    if row["test"].startswith("sign"):
        what, ends = (
            f"{row['wins']}:{row['losses']} queries, mean preference {_signed(row['mean'])}",
            (1, "low", "high"),
        )
    else:
        is_more = row["mean"] * row["direction"] >= 0
        what = f"{_signed(abs(row['mean']))} {'more' if is_more else 'less'}"
        ends = (1, "low", "high") if row["mean"] >= 0 else (-1, "high", "low")
    sign, low, high = ends
    interval = (
        "" if row["low"] is None else f", 95 % interval {_signed(sign * row[low])} to {_signed(sign * row[high])}"
    )
    return f"{row['measure']} ({what}{interval}, p {p}, corrected {corrected})"


def _signed(value: float) -> str:
    """Write a difference with four digits that say something.

    >>> _signed(0.02567), _signed(193.04), _signed(-5.0), _signed(0.0)
    ('0.0257', '193.0', '-5.000', '0.0000')
    """
    whole_digits = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return number(value, max(4 - whole_digits, 0))

"""Fused tables: what a fusion is worth, as rows and tables.

Belongs here: rows of each kind, and their tables. Not here: the numbers (fusionresult), sentences (fusionwords).
"""

from collections.abc import Callable, Iterator
from typing import Any

from lexirecall.learn.baselines import BASELINES, BEST_RUN
from lexirecall.learn.fusionresult import FUSED, FusedRun
from lexirecall.tables import Table, defined, number, whole

COLUMNS = {
    "mean": ("run", "role", "measure", "value", "queries"),
    "pair": (
        "a", "b", "measure", "mean", "low", "high", "p", "p_corrected", "effect", "wins", "ties", "losses", "queries",
    ),
    "fold": ("fold", "queries", "way", "discount", "regularization", "best_run"),
    "weight": ("run", "feature", "weight"),
}  # fmt: skip
"""The columns of each kind of row, after `kind`."""


def rows_of(fused: FusedRun, kinds: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Give the rows of some kinds."""
    for kind in kinds:
        for row in KINDS[kind](fused):
            yield {"kind": kind, **row}


def role_of(run: str) -> str:
    """Return what a row of the table of runs is: fused, a baseline, or one of the runs that were given."""
    return "fused" if run == FUSED else "baseline" if run in (*BASELINES, BEST_RUN) else "run"


def _mean_rows(fused: FusedRun) -> Iterator[dict[str, Any]]:
    averages = fused.scores.averages
    for s, run in enumerate(averages.runs):
        for c, measure in enumerate(averages.measures):
            value, queries = float(averages.means[s, c]), int(averages.counts[s, c])
            yield {
                "run": run,
                "role": role_of(run),
                "measure": str(measure),
                "value": defined(value),
                "queries": queries,
            }


def _pair_rows(fused: FusedRun) -> Iterator[dict[str, Any]]:
    for row in fused.comparison.rows():
        yield {name: row[name] for name in COLUMNS["pair"]}


def _fold_rows(fused: FusedRun) -> Iterator[dict[str, Any]]:
    for fold in fused.folds:
        discount, regularization = (None, None) if fold.settings is None else fold.settings
        yield {
            "fold": fold.number,
            "queries": len(fold.queries),
            "way": "RRF" if fold.is_rrf else "learnt",
            "discount": discount,
            "regularization": regularization,
            "best_run": fold.best_run,
        }


def _weight_rows(fused: FusedRun) -> Iterator[dict[str, Any]]:
    for run in fused.runs:
        for feature in fused.weights.features:
            yield {"run": run, "feature": feature, "weight": fused.weights.runs[run][feature]}


KINDS: dict[str, Callable[[FusedRun], Iterator[dict[str, Any]]]] = {
    "mean": _mean_rows, "pair": _pair_rows, "fold": _fold_rows, "weight": _weight_rows,
}  # fmt: skip
"""The rows of each kind."""


def tables_of(fused: FusedRun) -> dict[str, Table]:
    """Lay out means, pairs, folds and weights, by title."""
    tables = {
        "Runs": fused.scores.averages.table(),
        "Fused beside each other way": fused.comparison.pairs_table(),
        "Folds": _folds(fused),
        "Weights": _weights(fused),
    }
    return {title: table for title, table in tables.items() if table.rows}


def _folds(fused: FusedRun) -> Table:
    if not fused.is_learnt:
        return Table((), ())
    rows = tuple(
        (
            "none" if row["fold"] is None else str(row["fold"]),
            whole(row["queries"]),
            row["way"],
            *("-" if row[name] is None else f"{row[name]:g}" for name in ("discount", "regularization")),
            row["best_run"] or "-",
        )
        for row in _fold_rows(fused)
    )
    footnote = "chosen on the queries of the other folds; none: queries without a relevant document in any run"
    columns = ("fold", "queries", "way", "discount", "regularization", BEST_RUN)
    return Table(columns, rows, texts=frozenset({2, 5}), footnote=footnote)


def _weights(fused: FusedRun) -> Table:
    weights = fused.weights
    order = sorted(fused.runs, key=lambda run: -sum(weights.runs[run].values()))
    rows = tuple(
        (
            run,
            *(number(weights.runs[run][name], 3) for name in weights.features),
            number(sum(weights.runs[run].values()), 3),
        )
        for run in order
    )
    queries = f"{weights.num_queries:,} queries"
    how = f"fitted on {queries} with discount {weights.discount:g}, regularization {weights.regularization:g}"
    how = f"equal weights of reciprocal ranks, which are RRF, from {queries}" if weights.is_rrf else how
    return Table(("run", *weights.features, "sum"), rows, footnote=how)

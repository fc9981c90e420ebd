"""Halves: whether other queries would say the same.

Belongs here: two halves of the queries that share none, and how far they agree; beside it how far a half agrees with
all queries. Not here: how a conclusion is made (`conclusions`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.meta.conclusions import Conclusions, Outcomes, blocks_of_samples, conclude
from lexirecall.meta.resampling import query_orders
from lexirecall.meta.shares import bounded
from lexirecall.progress import Progress

NUM_SPLITS = 200
QUANTITIES = ("same_direction", "both_significant", "opposite", "significant", "with_whole")
COLUMNS = (
    "collection", "task", "label", "measure", *(f"{name}{end}" for name in QUANTITIES for end in ("", "_low", "_high")),
    "splits", "queries", "pairs",
)  # fmt: skip


def halves_rows(
    outcomes: Mapping[str, Outcomes],
    queries: BoolArray,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Return how far two disjoint halves of floor(Q/2) queries agree, for each measure; none for a single query.

    `same_direction`: of the pairs whose means differ in a half, the share with the same sign in both. Of all pairs:
    `both_significant` differ significantly in both, in the same direction; `opposite` in both, in opposite directions;
    `significant` in one half. `with_whole`: of the pairs whose means differ on all queries, the share with the same
    sign in a half. As the half is a part of what it is compared with, this understates how much other queries would
    change. Each is the mean over the splits, and the middle 1 - alpha of them is from `_low` to `_high`.
    """
    orders = query_orders(int(queries.sum()), NUM_SPLITS, seed)
    size = orders.shape[1] // 2
    if not size:
        return []
    halves = _weights(orders[:, :size], queries), _weights(orders[:, size : 2 * size], queries)
    rows = []
    for name, outcome in outcomes.items():
        full = conclude(outcome, queries[None].astype(float))
        blocks = blocks_of_samples(NUM_SPLITS, len(outcome.decisions.taking_part))
        split = [_agreement(full, [conclude(outcome, half[block]) for half in halves], alpha) for block in blocks]
        spread = (_spread(quantity, np.concatenate([one[quantity] for one in split]), alpha) for quantity in QUANTITIES)
        shares = {key: value for one in spread for key, value in one.items()}
        rows.append({"measure": name, **shares, "splits": NUM_SPLITS, "queries": size, "pairs": len(full.directions)})
        if progress is not None:
            progress.advance(1)
    return rows


def _weights(drawn: Any, queries: BoolArray) -> FloatArray:
    """Return the samples as weights of all queries, [samples, Q]."""
    weights = np.zeros((len(drawn), len(queries)))
    np.put_along_axis(weights, np.flatnonzero(queries)[drawn], 1.0, axis=1)
    return weights


def _agreement(full: Conclusions, halves: Sequence[Conclusions], alpha: float) -> dict[str, FloatArray]:
    """Return the quantities of each split; nan where no means differ."""
    one, other = halves
    significant = np.stack([half.is_significant(alpha) for half in halves])
    sides = one.balances * other.balances
    has_side = (one.directions != 0) | (other.directions != 0)
    kept = sum(((half.directions * full.directions) > 0).sum(axis=0) for half in halves)
    # 0/0 is meant; numpy 1 also warns of the 1/0 with which it fills up a register before it divides by one number
    with np.errstate(divide="ignore", invalid="ignore"):
        same = (one.directions * other.directions > 0).sum(axis=0) / has_side.sum(axis=0)
        with_whole = kept / (2 * np.count_nonzero(full.directions))
    return {
        "same_direction": same,
        "both_significant": (significant.all(axis=0) & (sides > 0)).mean(axis=0),
        "opposite": (significant.all(axis=0) & (sides < 0)).mean(axis=0),
        "significant": significant.mean(axis=(0, 1)),
        "with_whole": np.asarray(with_whole),
    }


def _spread(name: str, splits: FloatArray, alpha: float) -> dict[str, float | None]:
    """Return the mean of the splits, and where the middle of them begins and ends."""
    values = splits[~np.isnan(splits)]
    if not len(values):
        return bounded(name, np.nan, np.nan, np.nan)
    return bounded(name, float(values.mean()), *np.quantile(values, [alpha / 2, 1 - alpha / 2]))

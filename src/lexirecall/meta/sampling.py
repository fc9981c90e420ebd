"""Sampling: whether the conclusions hold on fewer requests.

Belongs here: samples of the requests, and how much of what all of them say is left. Not here: how a conclusion is made
(`conclusions`).

Each sample is a random order of the requests, of which a share comes first; so a smaller share is part of a larger one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.meta.conclusions import Conclusions, Outcomes, blocks_of_samples, conclude
from lexirecall.meta.resampling import request_orders
from lexirecall.meta.shares import bounded
from lexirecall.progress import Progress
from lexirecall.tables import defined

TENTHS = tuple(range(1, 10))
"""The shares of the requests, in tenths."""
QUANTITIES = ("direction", "significance", "reversed", "power")
COLUMNS = (
    "collection", "task", "label", "share", "queries", "measure",
    *(f"{name}{end}" for name in QUANTITIES for end in ("", "_sd", "_low", "_high")),
    "samples", "directed", "significant", "pairs",
)  # fmt: skip


def num_drawn(num_requests: int, tenths: int) -> int:
    """Return how many requests a share of them is, halves rounded up, and at least one.

    >>> [num_drawn(25, tenths) for tenths in (1, 5, 9)], num_drawn(2, 1)
    ([3, 13, 23], 1)
    """
    return max(1, (num_requests * tenths + 5) // 10)


def sampling_rows(
    outcomes: Mapping[str, Outcomes],
    requests: BoolArray,
    *,
    alpha: float = 0.05,
    num_samples: int = 30,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Return, for each share of the requests and each measure, how much of the conclusions is kept.

    `direction`: of the pairs whose means differ on all requests, the share with the same sign in the sample.
    `significance`: of the pairs that differ significantly on all requests, the share that does so in the sample, in the
    same direction. `reversed`: of all pairs, the share that differs significantly in the direction opposed to the mean
    over all requests. `power`: the share of pairs that differ significantly. Each is the mean over the samples; `_sd`
    is the deviation between them, and the middle 1 - alpha of them is from `_low` to `_high`.
    """
    orders = request_orders(int(requests.sum()), num_samples, seed)
    numbers = [num_drawn(orders.shape[1], tenths) for tenths in TENTHS]
    weights = np.concatenate([_weights(orders[:, :number], requests) for number in numbers])
    by_measure = {}
    for name, each in outcomes.items():
        full = conclude(each, requests[None].astype(float))
        by_measure[name] = _kept_on(each, full, weights, alpha), _denominators(full, alpha)
        if progress is not None:
            progress.advance(1)
    return [
        {"share": tenths / 10, "queries": number, "measure": name}
        | {key: value for quantity in QUANTITIES for key, value in _spread(quantity, kept[quantity][i], alpha).items()}
        | {"samples": num_samples, **counts}
        for i, (tenths, number) in enumerate(zip(TENTHS, numbers, strict=True))
        for name, (kept, counts) in by_measure.items()
    ]


def _kept_on(outcomes: Outcomes, full: Conclusions, weights: FloatArray, alpha: float) -> dict[str, FloatArray]:
    """Return the quantities of each share and sample."""
    blocks = blocks_of_samples(len(weights), len(outcomes.decisions.taking_part))
    kept = [_kept(full, conclude(outcomes, weights[block]), alpha) for block in blocks]
    return {name: np.concatenate([each[name] for each in kept]).reshape(len(TENTHS), -1) for name in QUANTITIES}


def _weights(drawn: Any, requests: BoolArray) -> FloatArray:
    """Return the samples as weights of all requests, [samples, Q]."""
    weights = np.zeros((len(drawn), len(requests)))
    np.put_along_axis(weights, np.flatnonzero(requests)[drawn], 1.0, axis=1)
    return weights


def _kept(full: Conclusions, sampled: Conclusions, alpha: float) -> dict[str, FloatArray]:
    """Return the quantities of each sample; nan where there is nothing to keep."""
    is_significant, was_significant = sampled.is_significant(alpha), full.is_significant(alpha)
    same_side = sampled.balances * full.balances > 0
    with np.errstate(invalid="ignore"):
        directed = ((sampled.directions * full.directions) > 0).sum(axis=0) / np.count_nonzero(full.directions)
        significant = (is_significant & was_significant & same_side).sum(axis=0) / was_significant.sum()
        turned = (is_significant & (sampled.balances * full.directions < 0)).mean(axis=0)
    return dict(zip(QUANTITIES, (directed, significant, turned, sampled.powers(alpha)), strict=True))


def _spread(name: str, samples: FloatArray, alpha: float) -> dict[str, float | None]:
    """Return the mean of the samples, their deviation, and where the middle of them begins and ends."""
    values = samples[~np.isnan(samples)]
    mean = float(values.mean()) if len(values) else np.nan
    deviation, low, high = np.nan, np.nan, np.nan
    if len(values) > 1:
        deviation = float(values.std(ddof=1))
        low, high = np.quantile(values, [alpha / 2, 1 - alpha / 2])
    return {**bounded(name, mean, low, high), f"{name}_sd": defined(deviation)}


def _denominators(full: Conclusions, alpha: float) -> dict[str, int]:
    return {
        "directed": int(np.count_nonzero(full.directions)),
        "significant": int(full.is_significant(alpha).sum()),
        "pairs": len(full.directions),
    }

"""Sensitivity: how many pairs of runs a measure shows to be different.

Belongs here: discriminative power under several tests. Not here: the tests (statistics) and how they are run (verbs).

Measures can be compared only under a test that sees the same of all of them. The sign test and HSD on signs see who
wins each query; the measure's own tests, which see sizes where there are any, are beside them.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.meta.collection import Collection
from lexirecall.meta.conclusions import Outcomes, blocks_of_samples, conclude
from lexirecall.meta.resampling import Bootstrap, pairs_of
from lexirecall.meta.shares import bounded, differences
from lexirecall.meta.ties import denominators
from lexirecall.names import Evaluable, parse_preference
from lexirecall.statistics.hsd import tukey_hsd
from lexirecall.statistics.power import discriminative_power
from lexirecall.tables import defined
from lexirecall.verbs.compare import compare

COLUMNS = (
    "collection", "task", "label", "measure", "sign", "sign_low", "sign_high", "hsd_signs", "test", "paired", "hsd",
    "t", "compared", "pairs", "queries",
)  # fmt: skip

NUM_RESAMPLES = 200
"""Enough for a spread; each needs all the tests again."""


def power_row(row: Evaluable, outcomes: Outcomes, collection: Collection, *, alpha: float = 0.05) -> dict[str, Any]:
    """Return the share of pairs of runs with p < alpha for one measure.

    Comparable between measures: `sign`, by the sign test with Holm's correction over all pairs, and `hsd_signs`, by
    Tukey's honestly significant difference on the mean preference of each run against the others, which depends on
    who the others are. The measure's own: `paired`, by the test that suits it (`test`: the sign test for lexicographic
    preferences, the t test for sizes), with Holm's correction; `hsd`, the paper's, on its values, and on the mean
    preference of a preference; `t`, by the t test whether it suits or not. A share is None if there is no p-value.

    >>> from lexirecall import parse_measure, project
    >>> from lexirecall.meta.decisions import decide
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> runs = {"good": {q: ["a"] for q in qrels}, "bad": {q: ["x", "a"] for q in qrels}}
    >>> mine, rr = Collection("mine", project(qrels, runs)), parse_measure("RR")
    >>> outcomes = Outcomes.of(rr, decide(rr, mine.positions, mine.policies), mine.positions, mine.policies)
    >>> found = power_row(rr, outcomes, mine)
    >>> found["sign"], found["hsd_signs"], found["test"], found["paired"], found["pairs"], found["queries"]
    (1.0, 1.0, 't', 1.0, 1, 9)

    Reference: DiazEM25, statistical sensitivity.
    """
    powers = {test: _power(row, collection, test, alpha) for test in ("hsd", "t")}
    sign = defined(_sign_power(outcomes, alpha))
    preference = parse_preference(row)
    is_steady = preference.measure is None or preference.measure.is_steady
    test = "t" if preference.is_sized and is_steady else "sign"
    return {
        "measure": str(row),
        "sign": sign,
        "hsd_signs": _share(tukey_hsd(outcomes.decisions.balances, alpha=alpha).pvalues, alpha),
        "test": test,
        "paired": powers["t"] if test == "t" else sign,
        **powers,
        **denominators(outcomes.decisions),
    }


def with_intervals(
    rows: Sequence[dict[str, Any]], outcomes: Sequence[Outcomes], bootstrap: Bootstrap
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Add the interval of `sign` to each row, and return the contrasts between measures under that same test.

    A resample repeats some queries, which makes differences look more certain: its power is too high. But the spread
    between resamples is that between samples of queries. So an interval is the number ± z times that spread. For
    contrasts runs are drawn too, and the correction is over the pairs that are.
    """
    fewer = replace(bootstrap, num_resamples=NUM_RESAMPLES)
    resampled, with_runs = np.stack([_resampled(outcome, fewer) for outcome in outcomes], axis=2)
    values = np.array([np.nan if row["sign"] is None else row["sign"] for row in rows])
    reach = fewer.reach(resampled)
    lows, highs = np.maximum(values - reach, 0.0), np.minimum(values + reach, 1.0)
    bound = [row | bounded("sign", *bounds) for row, *bounds in zip(rows, values, lows, highs, strict=True)]
    return bound, list(differences("power", [row["measure"] for row in rows], values, with_runs, fewer))


def _resampled(outcomes: Outcomes, bootstrap: Bootstrap) -> FloatArray:
    """Return the power by the sign test in each resample of the queries, and of queries and runs, [2, resamples]."""
    powers, runs = [np.zeros((2, 0))], bootstrap.runs()
    weights = np.zeros((bootstrap.num_resamples, len(bootstrap.queries)))
    weights[:, bootstrap.queries] = np.concatenate([*bootstrap.blocks()])
    blocks = blocks_of_samples(len(weights), len(outcomes.decisions.taking_part)) if bootstrap.is_possible else ()
    for block in blocks:
        conclusions = conclude(outcomes, weights[block])
        drawn = 1.0 if runs is None else pairs_of(runs[:, block])
        powers.append(np.stack([conclusions.powers(bootstrap.alpha), conclusions.powers(bootstrap.alpha, drawn)]))
    return np.concatenate(powers, axis=1)


def _sign_power(outcomes: Outcomes, alpha: float) -> float:
    everything = np.ones((1, outcomes.decisions.taking_part.shape[1]))
    return float(conclude(outcomes, everything).powers(alpha)[0])


def _power(row: Evaluable, collection: Collection, test: str, alpha: float) -> float | None:
    options = asdict(collection.policies)
    comparison = compare(collection.positions, measures=[row], test=test, alpha=alpha, **options)
    return _share(comparison.measures[0].corrected, alpha)


def _share(pvalues: Any, alpha: float) -> float | None:
    return defined(discriminative_power(pvalues, alpha))

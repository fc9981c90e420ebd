"""What trials of learning show: differences between losses over several seeds, with intervals and corrected p.

Belongs here: from positions of several models on the same queries to rows. Not here: training (learning_intents,
learning_recommender, learning_fusion), words (learning_page).

A difference is a mean over queries and seeds. If every seed has the same queries, the values of a query are averaged
over the seeds, and queries are what the interval is about. If every seed draws its own, the seeds are: five of them
make a wide interval, as they should.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lexirecall import Positions, evaluate, parse_preference
from lexirecall.judgments import FloatArray
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.paired import paired_t


def differences(positions: Positions, pairs: Sequence[tuple[str, str]], measure: str) -> FloatArray:
    """Return by how much the first of each pair is better on each query, [P, Q]; under a preference its sign.

    It is nan where one of the two has no value, such as a depth that is not reached.

    >>> from lexirecall import project
    >>> positions = project({"q": {"x": 1}}, {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}})
    >>> [differences(positions, [("a", "b")], measure).tolist() for measure in ("AP", "LastRel")]
    [[[0.5]], [[1.0]]]
    """
    made = parse_preference(measure).pairs(positions.at_level(1))
    a, b = (np.array([positions.runs.index(pair[side]) for pair in pairs]) for side in (0, 1))
    return np.where(made.taking_part[a] & made.taking_part[b], made.values[a, b].astype(float), np.nan)


def outcomes(
    trials: Sequence[Positions], pairs: Sequence[tuple[str, str]], measures: Sequence[str], *, by_seed: bool
) -> list[dict[str, Any]]:
    """Return a row for each pair of models and measure, the p of all of them corrected together (Holm).

    Every trial has the same models as runs, and is of one seed.
    """
    rows = list(_rows(trials, pairs, measures, by_seed=by_seed))
    corrected = correct(np.array([row["p"] for row in rows]), "holm")
    return [row | {"p_corrected": float(p)} for row, p in zip(rows, corrected, strict=True)]


def _rows(
    trials: Sequence[Positions], pairs: Sequence[tuple[str, str]], measures: Sequence[str], *, by_seed: bool
) -> Iterator[dict[str, Any]]:
    for measure in measures:
        signed = [differences(trial, pairs, measure) for trial in trials]
        by_trial = [np.where(np.isfinite(each), each, np.nan) for each in signed]  # where only one has a value: no size
        for p, (name, other) in enumerate(pairs):
            of_seeds = np.array([np.nanmean(each[p]) for each in by_trial])
            of_units = of_seeds if by_seed else np.mean([each[p] for each in by_trial], axis=0)
            of_units = of_units[~np.isnan(of_units)]  # queries with a value under every seed
            one = np.array([0]), np.array([1])
            test = paired_t(Differences(*one, of_units[None], np.ones((1, len(of_units)), bool)))
            yield {
                "model": name, "other": other, "measure": measure, "difference": float(of_units.mean()),
                "low": float(test.lows[0]), "high": float(test.highs[0]), "p": float(test.pvalues[0]),
                "seeds": of_seeds.tolist(), "units": len(of_units),
            }  # fmt: skip


def means(trials: Sequence[Positions], measures: Sequence[str]) -> list[dict[str, Any]]:
    """Return the mean of each measure for each model, over queries and seeds.

    It is None for a model that has no value on a query on which another one has: such means are not of the same.
    """
    made = [evaluate(trial, measures=list(measures)) for trial in trials]
    values = np.mean([each.means for each in made], axis=0)
    counts = np.min([each.averages.counts for each in made], axis=0)
    is_whole = counts == np.max([each.averages.counts for each in made], axis=(0, 1))
    return [
        {"model": name, "measure": measure, "mean": float(values[s, c]) if is_whole[s, c] else None}
        for s, name in enumerate(trials[0].runs)
        for c, measure in enumerate(measures)
    ]

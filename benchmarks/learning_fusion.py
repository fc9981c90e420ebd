"""Fuses runs by weights learnt with several losses, under the same folds, and compares them on held-out queries.

Usage: python benchmarks/learning_fusion.py --name NAME --qrels QRELS --runs RUN... [--seeds 3] > rows.jsonl

Belongs here: the losses that the ordered loss is compared with, and the comparison. Not here: the ordered loss itself,
folds and baselines (lexirecall.learn).

All losses see the same features, samples and folds, and their penalty is chosen by the same inner folds; of the ordered
loss the discount too.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.learn.features import FEATURES
from lexirecall.learn.fitting import ScoreLoss
from lexirecall.learn.fusing import DEFAULT_MEASURES, Fusion, read_fusion
from lexirecall.learn.ordered import OrderedObjective
from lexirecall.learn.recipe import Recipe
from lexirecall.manifest import Policies
from lexirecall.names import parse_names
from lexirecall.verbs.compare import compare_scores
from lexirecall.verbs.evaluate import evaluate
from lexirecall.verbs.testing import Testing

Gradient = tuple[float, FloatArray, FloatArray]


@dataclass(frozen=True)
class RankNet:
    """The logistic loss of each pair of a relevant document and one that is not, on average."""

    def value_and_gradient(self, relevant: FloatArray, others: FloatArray, counts: FloatArray) -> Gradient:
        """Return the loss, and its derivatives by the scores.

        >>> RankNet().value_and_gradient(np.array([0.0]), np.array([0.0]), np.ones(1))[1:]
        (array([-0.5]), array([0.5]))
        """
        margins = np.subtract.outer(relevant, others)
        share = counts / max(float(counts.sum()) * len(relevant), 1.0)
        above = 1 / (1 + np.exp(np.clip(margins, -80, 80)))
        value = float((np.logaddexp(0, -margins) @ share).sum())
        return value, -(above @ share), above.sum(axis=0) * share


@dataclass(frozen=True)
class ListNet:
    """How far a softmax of the scores is from one that is uniform over the relevant documents: the cross entropy."""

    def value_and_gradient(self, relevant: FloatArray, others: FloatArray, counts: FloatArray) -> Gradient:
        """Return the loss, and its derivatives by the scores.

        >>> value, by_relevant, by_others = ListNet().value_and_gradient(np.zeros(1), np.zeros(1), np.array([3.0]))
        >>> bool(np.isclose(value, np.log(4))), by_relevant.tolist(), by_others.tolist()
        (True, [-0.75], [0.75])
        """
        most = max(float(relevant.max()), float(others.max(initial=-np.inf)))
        of_relevant, of_others = np.exp(relevant - most), np.exp(others - most) * counts
        total = float(of_relevant.sum() + of_others.sum())
        value = most + float(np.log(total)) - float(relevant.mean())
        return value, of_relevant / total - 1 / len(relevant), of_others / total


LOSSES: dict[str, tuple[Callable[[float], ScoreLoss], float | None]] = {
    "ordered": (OrderedObjective, None),
    "RankNet": (lambda _discount: RankNet(), 1.0),
    "ListNet": (lambda _discount: ListNet(), 1.0),
}
"""The loss of a discount, and the discount where there is none to choose."""


def run(
    qrels: Any,
    runs: Any,
    seed: int = 0,
    *,
    name: str = "collection",
    measures: Sequence[str] = DEFAULT_MEASURES,
    folds: int = 5,
    discount: float | None = None,
) -> list[dict[str, Any]]:
    """Return rows of means, and of pairs of the ordered loss with each other way, on held-out queries.

    `discount` is that of the ordered loss, if it is not to be chosen.
    """
    rows, policies = tuple(parse_names(measures)), Policies()
    fusion = read_fusion(qrels, runs, Recipe(folds=folds, seed=seed), policies, rows, {})
    fusion.check_number()
    return [{"collection": name, "seed": seed, **row} for row in _rows(fusion, discount)]


def _rows(fusion: Fusion, discount: float | None) -> Iterator[dict[str, Any]]:
    systems, scores = [], None
    for loss, (losses, fixed) in LOSSES.items():
        recipe = replace(fusion.recipe, discount=discount if fixed is None else fixed)
        began = time.process_time()
        made, models, _ = replace(fusion, recipe=recipe, losses=losses).learnt(tuple(FEATURES))
        scores = made if scores is None else scores
        systems.append(fusion.field.scored(loss, made))
        settings = [[*own.settings] for own in models if own.settings is not None]
        yield {"kind": "fit", "run": loss, "cpu_s": round(time.process_time() - began, 1), "settings": settings}
    assert scores is not None  # noqa: S101 - there is more than one loss
    systems += fusion.compared(scores)[0][1:]
    positions = fusion.field.positions(systems)
    evaluated = evaluate(positions, measures=fusion.rows, **asdict(fusion.policies))
    for row in evaluated.rows():
        yield {"kind": "mean", **row}
    compared = compare_scores(positions, evaluated, Testing(), fusion.policies, reference=0)
    kept = ("a", "b", "measure", "mean", "low", "high", "p", "p_corrected", "wins", "ties", "losses", "queries")
    for row in compared.rows():
        yield {"kind": "pair", **{key: row[key] for key in kept}}


def main() -> None:
    """Print the rows of each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--qrels", required=True)
    parser.add_argument("--runs", nargs="+", required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--discount", type=float)
    given = parser.parse_args()
    for seed in range(given.seeds):
        for row in run(given.qrels, given.runs, seed, name=given.name, discount=given.discount):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

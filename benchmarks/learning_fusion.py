"""Fuses runs by weights learnt with several losses, under the same folds, and compares them on held-out queries.

Belongs here: the losses that the ordered loss is compared with, and the positions that each gives. Not here: the
ordered loss itself, folds and baselines (lexirecall.learn), what is concluded (learning).

All losses see the same features, samples and folds, and their penalty is chosen by the same inner folds; of the ordered
loss the discount too.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from lexirecall import Positions
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.learn.features import FEATURES
from lexirecall.learn.featureweights import ScoreLoss
from lexirecall.learn.fusion import Fusion, read_fusion
from lexirecall.learn.modelchoice import Tuning
from lexirecall.learn.orderedobjective import OrderedObjective
from lexirecall.learn.recipe import Recipe
from lexirecall.manifest import Policies
from lexirecall.names import parse_names
from lexirecall.tracks import RunPositions

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


class Learnt(Fusion):
    """A fusion by weights also where they show no gain over RRF: the losses are compared, not what `fuse` does."""

    def gains(self, learnt: RunPositions, queries: IntArray) -> bool:  # noqa: ARG002 - the signature of Fusion
        """Take what was learnt."""
        return True


def held_out(
    qrels: Any, runs: Any, seed: int = 0, *, folds: int = 5, discount: float | None = None
) -> tuple[Positions, dict[str, str]]:
    """Return the positions of each way to fuse, on queries that it has not seen, and what each loss has chosen.

    `discount` is that of the ordered loss, if it is not to be chosen.
    """
    read = read_fusion(qrels, runs, Recipe(folds=folds, seed=seed), Policies(), tuple(parse_names("LexiRecall")), {})
    fusion = Learnt(**{each.name: getattr(read, each.name) for each in fields(read)})
    fusion.check_number()
    fused, chosen, of_first = [], {}, None
    for loss, (losses, fixed) in LOSSES.items():
        recipe = replace(fusion.recipe, discount=discount if fixed is None else fixed)
        scores, models, _ = replace(fusion, recipe=recipe, losses=losses).learnt(tuple(FEATURES))
        of_first = scores if of_first is None else of_first
        fused.append(fusion.field.scored(loss, scores))
        chosen[loss] = ", ".join(_chosen(own.settings, fixed) for own in models if own.settings is not None)
    assert of_first is not None  # noqa: S101 - there is more than one loss
    return fusion.field.positions([*fused, *fusion.compared(of_first)[0][1:]]), chosen


def _chosen(settings: Tuning, fixed: float | None) -> str:
    penalty = f"λ {settings.regularization:g}"
    return penalty if fixed is not None else f"δ {settings.discount:g} {penalty}"

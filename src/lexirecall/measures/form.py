"""A measure as exposure and weight, for what is computed from e and z rather than from rankings.

Belongs here: nDCG in that form, and e and z as arrays.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.exposure import dcg
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures.graded import NDCG
from lexirecall.measures.measure import Measure, ask


def _share_of_ideal(i: IntArray, m: IntArray, cutoff: int | None) -> FloatArray:
    return np.full(i.shape, 1 / dcg(np.arange(1.0, min(m[0], cutoff or m[0]) + 1)).sum())


def recall_level_form(measure: Measure, corpus_size: int | None) -> Measure:
    """Return the measure in the form sum_i e(p_i) z(i, m), or raise if it has none or lacks the corpus size.

    >>> from lexirecall.measures import NDCG
    >>> recall_level_form(NDCG, None).exposure.__name__
    'dcg'
    """
    measure.require_settings()
    if measure.needs_size and corpus_size is None:
        raise UsageError(f"{measure} needs the corpus size", remedy="give corpus_size=n")
    if measure.exposure is not None:
        return measure
    if measure.function is not NDCG.function:
        remedy = "define it by exposure and weight; the users of one with of_positions can be enumerated"
        raise UsageError(
            f"{measure} has no exposure e and weight z, and is not of the form sum_i e(p_i) z(i, m)", remedy=remedy
        )
    if measure.values["gains"] and not measure.values["gains"].get(1, 1):
        raise UsageError(f"{measure} gives grade 1 no gain, and here every relevant document has grade 1")
    # if every grade is 1, nDCG is a recall-level measure
    return replace(measure, function=None, expected=None, exposure=dcg, weight=_share_of_ideal)


def exposures_at(measure: Measure, positions: FloatArray, m: int, n: int | None) -> FloatArray:
    """Return e of each position: 0 below a cut-off, and at infinity unless the measure uses n.

    >>> from lexirecall.measures import AP
    >>> exposures_at(AP @ 3, np.array([1.0, 2, 4, np.inf]), 4, None).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    exposures = _computed(measure, measure.exposure, positions, m, n)
    cutoff = measure.cutoff_in(n)
    is_unseen = positions > (np.inf if cutoff is None else cutoff)
    if measure.corpus == "ignored":
        is_unseen |= np.isinf(positions)
    return np.where(is_unseen, 0.0, exposures)


def weights_of(measure: Measure, m: int, n: int | None) -> FloatArray:
    """Return z(1, m) … z(m, m).

    >>> from lexirecall.measures import AP
    >>> weights_of(AP, 2, None).tolist()
    [0.5, 1.0]
    """
    return _computed(measure, measure.weight, np.arange(1, m + 1), m, n)


def _computed(measure: Measure, formula: Any, first: Any, m: int, n: int | None) -> FloatArray:
    """Call e or z with what it asks for; m and n have the shape of the first argument, as in `Measure.scores`."""
    sizes = {"m": np.full(first.shape, m), "n": np.full(first.shape, np.nan if n is None else float(n))}
    with np.errstate(divide="ignore", invalid="ignore"):
        available = {**measure.values, "cutoff": measure.cutoff_in(n), **sizes}
        return np.broadcast_to(np.asarray(ask(formula, first, available), float), first.shape)

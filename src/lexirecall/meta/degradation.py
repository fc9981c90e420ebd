"""Degradation: what is left of a measure's decisions when labels are missing.

Belongs here: choosing the labels to remove, and what the measures then say.

Positions are read once; removing a label is a mask over them. In each sample the relevant items of a request are put in
a random order, and for every share the first of them keep their labels. So what is left for a larger share is part of
what is left for a smaller one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of
from lexirecall.meta.collection import Collection
from lexirecall.meta.decisions import Decisions, concordance, decide_all
from lexirecall.meta.ties import share_of_ties
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.progress import Progress

COLUMNS = (
    "collection", "label", "removal", "removed", "measure", "ties", "agreement", "agreement_untied", "labels",
    "samples",
)  # fmt: skip
REMOVALS = ("uniform", "frequency")
TENTHS = tuple(range(10))
"""The shares of labels that are removed, in tenths."""
QUANTITIES = ("ties", "agreement", "agreement_untied")


def num_kept(num_relevant: IntArray, tenths: int) -> IntArray:
    """Return how many of m labels are left if a share f is removed: max(1, round(m(1 - f))), and 0 of 0.

    Halves are rounded up, to keep one more label. Shares are whole tenths: no binary fraction decides.

    >>> num_kept(np.array([0, 1, 3, 5, 70]), 5).tolist()  # half of them
    [0, 1, 2, 3, 35]
    """
    return np.minimum(num_relevant, np.maximum(1, (num_relevant * (10 - tenths) + 5) // 10))


def random_places(weights: FloatArray, offsets: IntArray, bits: np.random.PCG64) -> IntArray:
    """Put the items of each request in a random order, and return the place of each, counted from 0.

    The first k are a weighted sample without replacement: each next item is drawn from the rest with a probability
    proportional to its weight. It is enough to sort by E/w with an exponentially distributed E (Efraimidis & Spirakis
    2006). They come from the raw bits of a named generator, which numpy promises never to change.

    >>> random_places(np.ones(5), np.array([0, 3, 5]), np.random.PCG64(1)).tolist()
    [1, 0, 2, 0, 1]
    """
    uniform = ((bits.random_raw(len(weights)) >> np.uint64(11)) + 0.5) * 2.0**-53
    sizes = np.diff(offsets)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-np.log(uniform) / weights, owners))
    places = np.empty(len(weights), np.int64)
    places[order] = np.arange(len(weights)) - np.repeat(offsets[:-1], sizes)
    return places


def kept_labels(positions: Positions, level: float, removal: str, bits: np.random.PCG64) -> Iterator[BoolArray]:
    """Draw one sample: for each share of labels removed, from .1 to .9, which judged items keep theirs.

    Only relevant items lose their labels. With `uniform` all are equally likely to. With `frequency` an item is kept
    with a weight of 1 + the number of runs that retrieve it. So items that few systems find are more likely to lose
    theirs, as in shallow pools.
    """
    relevant = np.flatnonzero(positions.judgments.grades >= level)
    num_relevant = positions.judgments.num_relevant(level)
    weights = np.ones(len(relevant))
    if removal == "frequency":
        weights += np.bincount(positions.found.items, minlength=len(positions.judgments.grades))[relevant]
    places = random_places(weights, offsets_of(num_relevant), bits)
    for tenths in TENTHS[1:]:
        kept = np.ones(len(positions.judgments.grades), bool)
        kept[relevant] = places < np.repeat(num_kept(num_relevant, tenths), num_relevant)
        yield kept


def degradation_rows(
    collection: Collection,
    measures: Sequence[Evaluable],
    full: Sequence[Decisions],
    *,
    num_samples: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Return, for each way and share of removal and each measure, the means over the samples.

    `full` are the decisions with all labels. `ties`: the share of tied pairs. `agreement`: the share of pairs that are
    decided as with all labels, where a tie agrees with a tie. `agreement_untied`: the same over the pairs that are not
    tied with all labels. `labels`: the mean number of relevant items left per request. Without removal one sample is
    enough.

    Reference: DiazEM25, label degradation.
    """
    num_relevant = collection.positions.judgments.num_relevant(collection.policies.level)
    num_relevant = num_relevant[num_relevant > 0]
    unchanged = np.array([[_quantities(each, each) for each in full]])
    rows = []
    for number, removal in enumerate(REMOVALS):
        bits = np.random.PCG64([seed, number])
        samples = [_sample(collection, measures, full, removal, bits, progress) for _ in range(num_samples)]
        for tenths in TENTHS:
            values = unchanged if tenths == 0 else np.array([sample[tenths - 1] for sample in samples])
            labels = float(num_kept(num_relevant, tenths).mean())
            for measure, means in zip(measures, _means(values), strict=True):
                rows.append(
                    {"removal": removal, "removed": tenths / 10, "measure": str(measure), **means}
                    | {"labels": labels, "samples": len(values)}
                )
    return rows


def num_steps(num_samples: int) -> int:
    """Return how often progress is reported."""
    return len(REMOVALS) * num_samples * (len(TENTHS) - 1)


def _sample(
    collection: Collection,
    measures: Sequence[Evaluable],
    full: Sequence[Decisions],
    removal: str,
    bits: np.random.PCG64,
    progress: Progress | None,
) -> list[list[tuple[float, ...]]]:
    """Return the quantities of each share and measure."""
    left = collection.positions
    sample = []
    for kept in kept_labels(collection.positions, collection.policies.level, removal, bits):
        left = left.with_labels(kept)  # from what was left before: less to look through
        decisions = decide_all(measures, left, collection.policies)
        sample.append([_quantities(now, then) for now, then in zip(decisions, full, strict=True)])
        if progress is not None:
            progress.advance(1)
    return sample


def _quantities(now: Decisions, full: Decisions) -> tuple[float, ...]:
    """Return ties, agreement with the full labels, and agreement over what they separate; nan if undefined."""
    counts = concordance(now, full)
    ties = share_of_ties(now)
    with np.errstate(invalid="ignore"):
        agreement = np.divide(counts.num_same + counts.num_tied, counts.num_compared)
        untied = np.divide(counts.num_same, counts.num_decided)
    return (np.nan if ties is None else ties), float(agreement), float(untied)


def _means(values: FloatArray) -> Iterator[dict[str, float | None]]:
    """Give each measure's means over the samples, [samples, measures, quantities]."""
    for of_measure in values.swapaxes(0, 1):
        defined = ~np.isnan(of_measure)
        sums, counts = np.where(defined, of_measure, 0.0).sum(axis=0), defined.sum(axis=0)
        yield {
            name: float(total / count) if count else None
            for name, total, count in zip(QUANTITIES, sums.tolist(), counts.tolist(), strict=True)
        }

"""Degradation: what is left of a measure's decisions when labels are missing.

Belongs here: choosing the labels to remove, and what the measures then say.

Positions are read once; removing a label is a mask over them. In each sample the relevant documents of a query are put
in a random order, and for every share the first of them keep their labels. So what is left for a larger share is part
of what is left for a smaller one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.judgments import BoolArray, FloatArray, IntArray, offsets_of
from lexirecall.meta.collection import Collection
from lexirecall.meta.decisions import Decisions, by_pair, concordance, decide_all
from lexirecall.meta.resampling import Bootstrap
from lexirecall.meta.shares import PooledShares, bounded, contrasts
from lexirecall.meta.ties import denominators
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.progress import Progress

QUANTITIES = ("ties", "agreement", "agreement_untied")
COLUMNS = (
    "collection", "task", "label", "removal", "removed", "measure",
    *(f"{name}{end}" for name in QUANTITIES for end in ("", "_sd", "_low", "_high")),
    "labels", "samples", "compared", "separated", "pairs", "queries",
)  # fmt: skip
REMOVALS = ("uniform", "frequency")
TENTHS = tuple(range(10))
"""The shares of labels that are removed, in tenths."""
HALF = 5
"""The tenths at which measures are compared."""


def num_kept(num_relevant: IntArray, tenths: int) -> IntArray:
    """Return how many of m labels are left if a share f is removed: max(1, round(m(1 - f))), and 0 of 0.

    Halves are rounded up, to keep one more label. Shares are whole tenths: no binary fraction decides.

    >>> num_kept(np.array([0, 1, 3, 5, 70]), 5).tolist()  # half of them
    [0, 1, 2, 3, 35]
    """
    return np.minimum(num_relevant, np.maximum(1, (num_relevant * (10 - tenths) + 5) // 10))


def random_places(weights: FloatArray, offsets: IntArray, bits: np.random.PCG64) -> IntArray:
    """Put the documents of each query in a random order, and return the place of each, counted from 0.

    The first k are a weighted sample without replacement: each next document is drawn from the rest with a probability
    proportional to its weight. It is enough to sort by E/w with an exponentially distributed E (Efraimidis & Spirakis
    2006). They come from the raw bits of a named generator, which numpy promises never to change.

    >>> random_places(np.ones(5), np.array([0, 3, 5]), np.random.PCG64(1)).tolist()
    [1, 0, 2, 0, 1]
    """
    # 53 bits are all that a float holds; the half keeps 0 away, whose logarithm is infinite.
    uniform = ((bits.random_raw(len(weights)) >> np.uint64(11)) + 0.5) * 2.0**-53
    sizes = np.diff(offsets)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-np.log(uniform) / weights, owners))
    places = np.empty(len(weights), np.int64)
    places[order] = np.arange(len(weights)) - np.repeat(offsets[:-1], sizes)
    return places


def kept_labels(positions: Positions, level: float, removal: str, bits: np.random.PCG64) -> Iterator[BoolArray]:
    """Draw one sample: for each share of labels removed, from .1 to .9, which judged documents keep theirs.

    Only relevant documents lose their labels. With `uniform` all are equally likely to. With `frequency` a document is
    kept with a weight of 1 + the number of runs that retrieve it. So documents that few runs find are more likely to
    lose theirs, as in shallow pools.
    """
    relevant = np.flatnonzero(positions.judgments.grades >= level)
    num_relevant = positions.judgments.num_relevant(level)
    weights = np.ones(len(relevant))
    if removal == "frequency":
        weights += np.bincount(positions.found.documents, minlength=len(positions.judgments.grades))[relevant]
    places = random_places(weights, offsets_of(num_relevant), bits)
    # Places are drawn once, so samples are nested: what a larger share spares, all smaller ones spare.
    for tenths in TENTHS[1:]:
        kept = np.ones(len(positions.judgments.grades), bool)
        kept[relevant] = places < np.repeat(num_kept(num_relevant, tenths), num_relevant)
        yield kept


Counts = npt.NDArray[np.int32]
"""How often both decide the same way, and the full labels decide, of each pair on each query, [2, P, Q]."""


@dataclass(frozen=True, slots=True)
class DegradationCounts:
    """The counts behind one row, on each query, added up over the samples; and what each sample gives alone."""

    counts: IntArray
    """Parts and wholes of the QUANTITIES, [3, 2, Q]."""
    by_sample: FloatArray
    """The quantities of each sample, [samples, 3]; nan where they are not defined."""


def degradation_rows(
    collection: Collection,
    measures: Sequence[Evaluable],
    full: Sequence[Decisions],
    bootstrap: Bootstrap,
    *,
    num_samples: int = 30,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return, for each way and share of removal and each measure, the shares over all samples; and the contrasts.

    `full` are the decisions with all labels. `ties`: the share of tied pairs. `agreement`: the share of pairs that are
    decided as with all labels, where a tie agrees with a tie. `agreement_untied`: the same over the pairs that are not
    tied with all labels. `_sd` is the deviation between the samples: how far one loss of labels may be from the mean.
    `_low` and `_high` are the interval over queries. `labels`: the mean number of relevant documents left per query.
    Without removal one sample is enough.

    Reference: DiazEM25, label degradation.
    """
    positions, policies = collection.positions, collection.policies
    num_relevant = positions.num_relevant(policies.level)[policies.eligible(positions)]
    names = [str(measure) for measure in measures]
    rows: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    for number, removal in enumerate(REMOVALS):
        bits = np.random.PCG64([seed, number])
        degraded, halved = _degraded(collection, measures, full, removal, bits, num_samples, progress)
        shares = PooledShares.of([counts for of_measures in degraded for one in of_measures for counts in one.counts])
        shape = len(TENTHS), len(names), len(QUANTITIES)
        values = shares.values.reshape(shape)
        lows, highs = bootstrap.intervals(shares.resampled(bootstrap).reshape(-1, *shape))
        for tenths, of_measures in zip(TENTHS, degraded, strict=True):
            labels = float(num_kept(num_relevant, tenths).mean())
            for m, name in enumerate(names):
                row = {"removal": removal, "removed": tenths / 10, "measure": name}
                for i, quantity in enumerate(QUANTITIES):
                    row |= bounded(quantity, values[tenths, m, i], lows[tenths, m, i], highs[tenths, m, i])
                    row[f"{quantity}_sd"] = _deviation(of_measures[m].by_sample[:, i])
                separated = full[m].num_compared - full[m].num_tied
                row |= {"labels": labels, "samples": len(of_measures[m].by_sample), "separated": separated}
                rows.append(row | denominators(full[m]))
        differences += contrasts(f"kept_{removal}", dict(zip(names, halved, strict=True)), bootstrap)
    return rows, differences


def num_steps(num_samples: int) -> int:
    """Return how often progress is reported."""
    return len(REMOVALS) * num_samples * (len(TENTHS) - 1)


def _degraded(
    collection: Collection,
    measures: Sequence[Evaluable],
    full: Sequence[Decisions],
    removal: str,
    bits: np.random.PCG64,
    num_samples: int,
    progress: Progress | None,
) -> tuple[list[list[DegradationCounts]], list[Counts]]:
    """Return what is counted for each share and measure; and with half of the labels, of each pair on each query."""
    unchanged = [_counts(then, then) for then in full]
    counts = np.zeros((len(TENTHS), len(full), *unchanged[0].shape), np.int64)
    by_sample = np.zeros((len(TENTHS), len(full), num_samples, len(QUANTITIES)))
    num_runs, num_queries = full[0].taking_part.shape
    halved = [np.zeros((2, num_runs * (num_runs - 1) // 2, num_queries), np.int32) for _ in full]
    for sample in range(num_samples):
        left = collection.positions
        kept_by_share = kept_labels(collection.positions, collection.policies.level, removal, bits)
        for tenths, kept in enumerate(kept_by_share, 1):
            left = left.with_labels(kept)  # from what was left before: less to look through
            decisions = decide_all(measures, left, collection.policies)
            for m, (now, then) in enumerate(zip(decisions, full, strict=True)):
                count = _counts(now, then)
                counts[tenths, m] += count
                by_sample[tenths, m, sample] = _quantities(count)
                if tenths == HALF:
                    halved[m] += by_pair(now, then)[:2]
            if progress is not None:
                progress.advance(1)
    whole = [DegradationCounts(count, _quantities(count)[None]) for count in unchanged]
    some = ([DegradationCounts(c, b) for c, b in zip(counts[t], by_sample[t], strict=True)] for t in TENTHS[1:])
    return [whole, *some], halved


def _counts(now: Decisions, full: Decisions) -> IntArray:
    """Count ties, agreement with the full labels, and agreement over what they separate, [3, 2, Q]."""
    counts = concordance(now, full)
    return np.array([
        [now.tied, now.compared], [counts.same + counts.tied, counts.compared], [counts.same, counts.decided],
    ])  # fmt: skip


def _quantities(counts: IntArray) -> FloatArray:
    sums = counts.sum(axis=2)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])


def _deviation(values: FloatArray) -> float | None:
    """Return the deviation between samples, of those that are defined; None below two."""
    kept = values[~np.isnan(values)]
    return float(kept.std(ddof=1)) if len(kept) > 1 else None

"""Judging order: which unjudged documents would change most decisions if their labels were known.

Belongs here: what a label is worth, and the list of documents to judge next. Not here: how likely they are relevant
(rates), drawing labels (forecasts).

On one query a pair (a, b) of runs is decided by M = sum_i e_i L_i plus what is known already, L_i being 1 if the
unjudged document i is relevant, with the chance c_i, and e_i = v_a(i) - v_b(i) what its label does for a and not for b.
If M is about normal with the deviation σ, the chance that a is better is Φ(z), and the label of document i moves it by
|e_i| φ(z)/σ times 1 - c_i or c_i: it is relevant, or not. So a label is expected to move the chances of all pairs by

    w_i = sum_(a,b) 2 c_i (1 - c_i) |e_i| φ(z)/σ,   σ^2 = sum_j c_j (1 - c_j) e_j^2.

Φ(z) is taken from sampled labellings: the share in which a is better, ties being shared.

Under LexiRecall the number of documents found comes first, so v is 1 for a run that retrieves the document. Where two
runs retrieve the same documents, the deepest decide, so v falls a little with the position. Under a measure, v is what
the label adds to it by itself; under another preference, 1/position.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lexirecall.errors import counted
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.labels.forecasts import LabellingSamples, RunPairs, grade_of
from lexirecall.labels.pools import Labelling, LabelPool
from lexirecall.labels.rates import Rates
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.names import Evaluable
from lexirecall.preferences import LEXI_RECALL
from lexirecall.progress import Progress
from lexirecall.statistics.flips import slices
from lexirecall.text import to_text

_OF_PLACE = 1e-3  # how much the position counts beside the number of documents found
_AT_A_TIME = 2**22  # labels, or effects, that are laid out together


class Candidate(NamedTuple):
    """A document to judge, and what its label would be good for."""

    query: str
    document: str
    weight: float
    """By how much its label is expected to move the chance of who is better, added up over the pairs."""
    runs: tuple[tuple[str, int], ...]
    """The runs that retrieve it, each with its position there, the highest first."""
    reason: str


def to_judge(
    pools: Sequence[LabelPool],
    rates: Rates,
    sampled: LabellingSamples,
    labelling: Labelling,
    policies: Policies,
    num: int,
    *,
    pairs: RunPairs,
    judgments: Judgments,
    show_progress: bool | None = False,
) -> list[Candidate]:
    """Return the documents whose labels would change most decisions of these pairs, at most `num`, the best first.

    Equal ones are in the order of their chances, of the queries and of the rankings.
    """
    parts = []
    with Progress("weighing labels", len(pools), shown=show_progress) as progress:
        for q, pool in enumerate(pools):
            parts.append(_weighed(pool, rates, sampled, labelling, policies, pairs, q))
            progress.advance(1)
    queries = np.repeat(np.arange(len(pools)), [len(part.documents) for part in parts])
    documents, chances, weights, bearing = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.lexsort((-chances, -weights))[:num]
    return [
        _candidate(pools[queries[at]], int(documents[at]), float(weights[at]), int(bearing[at]),
                   len(pairs[0]), labelling.runs, judgments)
        for at in order.tolist()
    ]  # fmt: skip


class _PoolWorth(NamedTuple):
    """The unjudged documents of one pool, each with what its label is worth."""

    documents: IntArray
    """Indices in the pool."""
    chances: FloatArray
    weights: FloatArray
    bearing: IntArray
    """On how many pairs each bears."""


def _weighed(
    pool: LabelPool,
    rates: Rates,
    sampled: LabellingSamples,
    labelling: Labelling,
    policies: Policies,
    pairs: RunPairs,
    query: int,
) -> _PoolWorth:
    documents = np.flatnonzero(pool.is_unjudged)
    chances = rates.chances(pool)[documents]
    contrasts = sampled.contrasts[query]
    signs = np.sign(contrasts.between(*pairs)).astype(float)
    # Half a sample more of each kind: what no sample changed may still be changed by labels that were not drawn.
    shares = ((1 + signs).sum(axis=1) / 2 + 0.5) / (1 + signs.shape[1])
    effects = effects_of(pool, sampled.row, labelling, policies)
    weights = label_weights(effects, chances, np.where(contrasts.counted(*pairs).any(axis=1), shares, 1.0), pairs)
    return _PoolWorth(documents, chances, weights, _bearing(effects, pairs))


def label_weights(effects: FloatArray, chances: FloatArray, shares: FloatArray, pairs: RunPairs) -> FloatArray:
    """Return by how much each of I labels is expected to move the chances that a is better, of P pairs in all, [I].

    >>> effects = np.array([[1.0, 1, 0], [1, 0, 0]])  # the runs share the first document, and the last is in neither
    >>> pair = np.array([0]), np.array([1])
    >>> label_weights(effects, np.array([0.5, 0.1, 0.5]), np.array([0.5]), pair).round(4).tolist()  # 2 (.3) φ(0)
    [0.0, 0.2394, 0.0]
    """
    from scipy.special import ndtri  # not on top: it takes long to import

    spread = chances * (1 - chances)
    densities = np.exp(-(ndtri(shares) ** 2) / 2) / np.sqrt(2 * np.pi)
    weights = np.zeros(len(chances))
    for these in slices(len(shares), len(chances), _AT_A_TIME):
        differences = np.abs(_differences(effects, pairs, these))
        deviations = np.sqrt(differences**2 @ spread)
        # The chance that a is better is taken as Φ(z): a label's effect d moves it by φ(z) d/deviation, to first order.
        weights += (densities[these] / np.where(deviations > 0, deviations, np.inf)) @ differences
    # A label that is 1 with the chance p is at a mean distance of 2 p (1 - p) from p.
    return np.asarray(2 * spread * weights)


def _bearing(effects: FloatArray, pairs: RunPairs) -> IntArray:
    """Count the pairs for which each label does not do the same, [I]."""
    parts = slices(len(pairs[0]), effects.shape[1], _AT_A_TIME)
    return sum(((_differences(effects, pairs, these) != 0).sum(axis=0) for these in parts), start=np.zeros(1, int))


def _differences(effects: FloatArray, pairs: RunPairs, these: slice) -> FloatArray:
    return np.asarray(effects[pairs[0][these]] - effects[pairs[1][these]])


def effects_of(pool: LabelPool, row: Evaluable, labelling: Labelling, policies: Policies) -> FloatArray:
    """Return what the label of each unjudged document alone does for each run, [S, I]; 0 where that is not defined."""
    documents = np.flatnonzero(pool.is_unjudged)
    places = pool.places[:, documents]
    if row.name == LEXI_RECALL.name:
        return np.where(places > 0, 1 + _OF_PLACE * (1 - places / max(1, int(pool.lengths.max()))), 0.0)
    if not isinstance(row, Measure):
        return np.where(places > 0, 1 / np.where(places > 0, places, 1), 0.0)
    none = np.zeros((1, len(pool.documents)), bool)
    of_row = Labelling(labelling.runs, labelling.conventions, grade_of(row, policies.level), labelling.corpus_size)
    level = row.level(policies.level)

    def values(labels: BoolArray) -> FloatArray:
        return row.scores(of_row.positions([pool], [labels]).at_level(level))

    before = values(none)
    after = [values(block) for block in _one_by_one(documents, len(pool.documents))]
    with np.errstate(invalid="ignore"):
        changes = np.concatenate(after, axis=1) - before if after else np.zeros((len(places), 0))
    return np.nan_to_num(changes, posinf=0.0, neginf=0.0)


def _one_by_one(documents: IntArray, num_documents: int) -> Iterator[BoolArray]:
    """Give the labellings that make one of the documents relevant, some at a time."""
    size = max(1, _AT_A_TIME // max(1, num_documents))
    for start in range(0, len(documents), size):
        these = documents[start : start + size]
        labels = np.zeros((len(these), num_documents), bool)
        labels[np.arange(len(these)), these] = True
        yield labels


def _candidate(
    pool: LabelPool,
    document: int,
    weight: float,
    bearing: int,
    num_pairs: int,
    names: Sequence[str],
    judgments: Judgments,
) -> Candidate:
    places = pool.places[:, document]
    retrieving = sorted((int(places[s]), s) for s in np.flatnonzero(places).tolist())
    runs = tuple((names[s], place) for place, s in retrieving)
    effect = f"its label bears on {bearing:,} of {counted(num_pairs, 'pair')} of runs"
    return Candidate(
        judgments.queries[pool.query],
        to_text(pool.documents[document]),
        weight,
        runs,
        f"{_retrieved_by(runs, names)}; {effect}",
    )


def _retrieved_by(runs: Sequence[tuple[str, int]], names: Sequence[str]) -> str:
    """Say which runs retrieve a document.

    >>> _retrieved_by([("dense", 12)], ["bm25", "dense", "splade"])
    'only dense retrieves it, at 12; bm25 and splade miss it'
    >>> _retrieved_by([("splade", 3), ("bm25", 7)], ["bm25", "dense", "splade"])
    'splade retrieves it at 3 and bm25 at 7; dense misses it'
    >>> _retrieved_by([("d", 3), ("b", 7), ("c", 7), ("a", 9)], list("abcdefgh"))
    '4 of 8 runs retrieve it, d highest, at 3'
    """
    (first, place), *rest = runs
    missing = [name for name in names if name not in dict(runs)]
    if len(runs) > 2:
        found = f"{len(runs):,} of {len(names):,} runs retrieve it, {first} highest, at {place:,}"
    elif rest:
        found = f"{first} retrieves it at {place:,} and {rest[0][0]} at {rest[0][1]:,}"
    else:
        found = f"only {first} retrieves it, at {place:,}"
    if not missing or len(missing) > 2:
        return found
    return f"{found}; {' and '.join(missing)} {'misses' if len(missing) == 1 else 'miss'} it"

"""Agreement: whether a measure that separates two rankings prefers the one that finds everything sooner.

Belongs here: agreement of LexiRecall with each measure.
"""

from collections.abc import Container, Mapping
from typing import Any

from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.meta.decisions import Decisions, by_pair, concordance
from lexirecall.meta.resampling import Bootstrap
from lexirecall.meta.shares import PooledShares, bounded, contrasts
from lexirecall.meta.ties import denominators
from lexirecall.names import Evaluable
from lexirecall.positions import Positions

COLUMNS = (
    "collection", "task", "label", "measure", "agreement", "agreement_low", "agreement_high", "by_definition",
    "separated", "compared", "pairs", "queries",
)  # fmt: skip
_BY_LAST, _BY_PLACE = ("TSE", "LastRel", "All"), ("LexiRecallPercentile", "LexiRecallBits", "MetricLexiRecall")
_BY_NUMBER, _BY_NUMBER_WITHIN = ("NumRelRet", "SetR"), ("R", "P", "Success", "Reached")


def agreement(reference: Decisions, decisions: Decisions) -> tuple[float | None, int]:
    """Return how often the reference takes the side of a measure, and how many decisions of the measure there are.

    The share is over all pairs of runs and all queries, pooled, that the measure separates. The reference agrees if
    it has the same sign; where it ties, it disagrees. The share is None if the measure separates nothing.

    >>> import numpy as np
    >>> everyone = np.ones((3, 1), bool)
    >>> lexirecall = Decisions(everyone, ranks=np.array([[0], [1], [1]], np.int16))
    >>> measure = Decisions(everyone, ranks=np.array([[0], [1], [2]], np.int16))
    >>> agreement(lexirecall, measure)
    (0.6666666666666666, 3)

    Reference: DiazEM25, agreement with existing metrics.
    """
    counts = concordance(reference, decisions)
    return (counts.num_same / counts.num_decided if counts.num_decided else None), counts.num_decided


def agreement_rows(
    reference: Decisions, measures: Mapping[str, Decisions], certain: Container[str], bootstrap: Bootstrap
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return agreement with its interval and the number of decisions behind it, for each measure; and the contrasts.

    `certain` are the measures with which the reference agrees by definition.
    """
    if not measures:
        return [], []
    counts = {name: concordance(reference, decisions) for name, decisions in measures.items()}
    shares = PooledShares.of([(count.same, count.decided) for count in counts.values()])
    values, (lows, highs) = shares.values, bootstrap.intervals(shares.resampled(bootstrap))
    rows = [
        {"measure": name, **bounded("agreement", values[i], lows[i], highs[i]), "separated": counts[name].num_decided}
        | {"by_definition": name in certain, **denominators(decisions)}
        for i, (name, decisions) in enumerate(measures.items())
    ]
    agreed = {name: by_pair(reference, decisions)[:2] for name, decisions in measures.items()}
    return rows, list(contrasts("agreement", agreed, bootstrap))


def is_by_definition(row: Evaluable, positions: Positions, policies: Policies) -> bool:
    """Tell whether LexiRecall cannot but take the side of a measure that separates two rankings.

    It cannot if the measure is about the last position alone, or about how many relevant documents are found, which
    LexiRecall asks first; measures with a cut-off are, if every list has ended there. What was not retrieved must be
    below all that was: the optimistic rule puts it elsewhere.

    >>> from lexirecall import parse_measure, project
    >>> positions = project({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}})
    >>> [is_by_definition(parse_measure(name), positions, Policies()) for name in ("R@1", "R@2", "TSE", "AP")]
    [False, True, True, False]
    """
    if not isinstance(row, Measure) or row.level(policies.level) != policies.level:
        return False
    cutoff = row.settings.get("cutoff")
    if row.name in _BY_PLACE:  # a document found at the very bottom is where a missing one is imputed
        return positions.corpus_size is not None and bool((positions.num_retrieved < positions.corpus_size).all())
    is_whole = isinstance(cutoff, int) and cutoff >= int(positions.num_retrieved.max(initial=0))
    counts_all = row.name in _BY_NUMBER or (row.name in _BY_NUMBER_WITHIN and is_whole)
    return row.name in _BY_LAST or (counts_all and positions.conventions.imputation != "optimistic")

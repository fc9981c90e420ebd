"""Measures of trec_eval 10 that ask which retrieved documents have a judgment: rbp_resid and unj.

Belongs here: these measures, and which places of a ranking are judged. Not here: their names (trec_names).

A document with a negative grade was in the pool but not judged; like one that is not in the judgments, it is unjudged.
"""

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, offsets_of
from lexirecall.measures import Measure
from lexirecall.positions import Positions, Projection
from lexirecall.segments import sums_of
from lexirecall.tracks import Tracks


def judged_tracks(source: Positions) -> Tracks:
    """Return the retrieved documents with a judgment, of any grade from 0 on, in the order of their positions.

    >>> from lexirecall import project
    >>> judged = {"q": {"a": 1, "b": 0, "c": -1}}
    >>> judged_tracks(project(judged, {"q": ["c", "b", "x", "a"]}, needs_judged=True)).positions.tolist()
    [2, 4]
    """
    assert source.others is not None  # noqa: S101 - positions are made with what needs_judged says
    return source.found.merged(source.others.filter(source.judgments.grades[source.others.documents] >= 0))


def powers(p: float, source: Positions) -> FloatArray:
    """Return p^0, p^1, …, multiplied one after the other, for every place of the longest ranking and the next one.

    >>> from lexirecall import project
    >>> powers(0.5, project({"q": {"a": 1}}, {"q": ["a", "b"]})).tolist()
    [1.0, 0.5, 0.25]
    """
    factors = np.full(source.num_retrieved.max(initial=0) + 1, p)
    factors[0] = 1.0
    return np.asarray(np.multiply.accumulate(factors))


def rbp_resid(p: float) -> Measure:
    """Return how much higher `rbp` could be if every unjudged document had the gain 1, also all below the list.

    It is 0 where the whole list is judged.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1}}, {"q": ["x", "a"]}, needs_judged=True)
    >>> rbp_resid(0.5).scores(positions.at_level(1)).tolist()
    [[0.75]]
    """

    def residual(projection: Projection) -> FloatArray:
        source = projection.source
        lengths, unjudged = source.num_retrieved.ravel(), ~_is_judged(source)
        offsets = offsets_of(lengths)
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        owners = np.repeat(np.arange(len(lengths)), lengths)[unjudged]
        weights = powers(p, source)
        sums = sums_of(weights[places[unjudged]], owners, len(lengths))
        return np.where(sums > 0, weights[lengths] + (1 - p) * sums, 0.0).reshape(source.shape)

    return Measure(
        "RBPResidual",
        "how much higher rbp could be, had every unjudged document the gain 1",
        formula=f"p^k + (1 - p) sum of p^(i - 1) over the unjudged places i of k, p = {p}; 0 if there is none",
        function=residual,
        graded=True,
        needs_judged=True,
    )


def _is_judged(source: Positions) -> BoolArray:
    """Tell for every place of every ranking, one ranking after the other, whether its document has a judgment."""
    offsets, judged = offsets_of(source.num_retrieved.ravel()), judged_tracks(source)
    marks = np.zeros(offsets[-1], bool)
    marks[np.repeat(offsets[:-1], judged.segments.sizes) + judged.positions - 1] = True
    return marks


def unjudged_at(cutoff: int) -> Measure:
    """Return the share of the first k places that hold an unjudged document; a place below the list holds none.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1}}, {"q": ["x", "a"]}, needs_judged=True)
    >>> unjudged_at(4).scores(positions.at_level(1)).tolist()
    [[0.25]]
    """

    def unjudged(projection: Projection) -> FloatArray:
        source, judged = projection.source, judged_tracks(projection.source)
        num_judged = sums_of(judged.positions <= cutoff, judged.segments.owners, source.num_retrieved.size)
        return (np.minimum(source.num_retrieved, cutoff) - num_judged.reshape(source.shape)) / cutoff

    return Measure(
        "Unjudged",
        "share of the top k that has no judgment",
        formula="#unjudged in the top k / k",
        function=unjudged,
        graded=True,
        needs_judged=True,
    )

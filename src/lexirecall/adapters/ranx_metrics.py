"""ranx's metrics: how their names are read, and those that our table lacks.

Belongs here: hits, hit_rate and f1@k, dcg and dcg_burges, in ranx's definition, and its way to write levels. Not here:
its objects and arrays (ranx, ranx_input), any other measure (measures).

They are no rows of the table, because each says the same as a row. hits@k is k · P@k, f1@k is 2h/(k + m) for h hits,
and dcg orders the runs of a query as nDCG does. But their means over queries differ: queries with many relevant
documents count more.
"""

import re
from collections.abc import Callable

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray
from lexirecall.measures import Measure
from lexirecall.measures.graded import GAINS, discounted
from lexirecall.names import Evaluable, at_level, parse_names
from lexirecall.positions import Projection

_WHOLE_LIST = {"precision": "SetP", "recall": "SetR"}
_RBP_AT = "the number is p in ranx, and a cut-off elsewhere: write rbp.10, or RBP(p=0.8)@10"
_LEVEL = re.compile(r"(?P<name>.+)-l(?P<level>\d+)")
_CUT = re.compile(r"(?P<name>\w+)@(?P<cutoff>\d+)")


def _gained(dcg: str) -> Callable[..., FloatArray]:
    """Return the sum of g_i/log2(p_i + 1) over the relevant documents: unlike in nDCG, the level counts."""

    def gained(projection: Projection, cutoff: int | None) -> FloatArray:
        gains = GAINS[dcg](projection.source.judgments.grades[projection.found.documents])
        return projection.sum(discounted(gains, projection.positions, cutoff))

    return gained


HITS = Measure(
    "Hits",
    "number of relevant documents in the top k, or in the whole list",
    exposure=np.ones_like,
    weight=np.ones_like,
    formula="#{i : p_i <= k}",
    at="cutoff",
    cuts=True,
    limits=(0, np.inf),
)
HIT_RATE = Measure(
    "HitRate",
    "whether the list holds a relevant document",
    exposure=np.ones_like,
    weight=lambda i: i == 1,
    formula="1 if r > 0, else 0",
    cuts=True,
    is_share=True,
)
F1 = Measure(
    "F1",
    "harmonic mean of P@k and R@k",
    exposure=np.ones_like,
    weight=lambda i, m, cutoff: 2 / (cutoff + m),  # noqa: ARG005 - the first argument is the recall level
    formula="2 #{i : p_i <= k} / (k + m)",
    at="cutoff",
    needs_at=True,
)
DCG = Measure(
    "DCG",
    "discounted cumulative gain",
    function=_gained("log2"),
    formula="sum_i g_i/log2(p_i + 1); the gain g_i is the grade",
    at="cutoff",
    limits=(0, np.inf),
)
DCG_BURGES = Measure(
    "DCGBurges",
    "discounted cumulative gain, where high grades count much more",
    function=_gained("exp-log2"),
    formula="sum_i (2^grade_i - 1)/log2(p_i + 1)",
    at="cutoff",
    limits=(0, np.inf),
)
_ONLY_RANX = {"hits": HITS, "hit_rate": HIT_RATE, "dcg": DCG, "dcg_burges": DCG_BURGES}
_ONLY_RANX_AT = {"hits": HITS, "f1": F1, "dcg": DCG, "dcg_burges": DCG_BURGES}
"""Those of ranx without a cut-off, and with one; all others are rows of the table."""


def read_metric(name: str) -> Evaluable:
    """Read a metric as ranx writes it, or a measure as lexirecall does; the level may come at the end.

    >>> [read_metric(name) for name in ("ndcg@10", "precision@5-l2", "recall", "rbp.95", "TSE(e=dcg)")]
    [nDCG@10, P(rel=2)@5, SetR, RBP(p=0.95), TSE(e='dcg')]
    >>> [read_metric(name) for name in ("hits", "hits@10-l2", "f1", "f1@5", "dcg@10", "dcg_burges-l2")]
    [Hits, Hits(rel=2)@10, SetF, F1@5, DCG@10, DCGBurges(rel=2)]
    """
    leveled = _LEVEL.fullmatch(name)
    base = leveled["name"] if leveled else name
    if base.startswith("rbp@"):
        raise UsageError(f"{name!r} of ranx is not offered", remedy=_RBP_AT)
    row = _only_ranx(base) or _row(base, name)
    return row(rel=at_level(row, int(leveled["level"]))) if leveled else row


def _row(base: str, name: str) -> Evaluable:
    rows = parse_names(_WHOLE_LIST.get(base, base))
    if len(rows) != 1:
        raise UsageError(f"{name!r} names {len(rows)} metrics, but must name one")
    return rows[0]


def _only_ranx(name: str) -> Measure | None:
    """Find a metric that our table lacks."""
    if cut := _CUT.fullmatch(name):
        row = _ONLY_RANX_AT.get(cut["name"])
        return None if row is None else row @ int(cut["cutoff"])
    return _ONLY_RANX.get(name)

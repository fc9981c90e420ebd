"""The table of preferences: one row each, from two position vectors to a sign. The command line and tests read it.

Belongs here: the table. A new preference is one row here. What compares rankings is imported when two of them are
compared.

>>> sorted(PREFERENCES)[:2]
['LexiPrecision', 'LexiRecall']
"""

from typing import TYPE_CHECKING, Any

from lexirecall.judgments import IntArray
from lexirecall.measures.parameter import Parameter
from lexirecall.positions import Projection
from lexirecall.preferences.orders import deciding_level, lexiprecision_ranks, lexirecall_ranks
from lexirecall.preferences.preference import Preference, preference_of
from lexirecall.preferences.weights import WEIGHTS

if TYPE_CHECKING:
    from lexirecall.preferences.contrasts import Blocks
    from lexirecall.preferences.pairs import Pairs

__all__ = [
    "LEXI_PRECISION", "LEXI_RECALL", "PREFERENCES", "RPP", "Pairs", "Preference", "deciding_level", "preference_of",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name != "Pairs":
        raise AttributeError(f"module 'lexirecall.preferences' has no attribute {name!r}")
    from lexirecall.preferences.pairs import Pairs

    return Pairs


def _by_ranks(ranks: IntArray) -> "Blocks":
    from lexirecall.preferences.contrasts import signs_of_ranks

    return signs_of_ranks(ranks)


LEXI_RECALL = Preference(
    "LexiRecall",
    "lexicographic recall: which ranking finds its last relevant document sooner; on a tie the one before, and so on",
    blocks=lambda projection: _by_ranks(lexirecall_ranks(projection)),
    formula="sign(q_i - p_i), i = max{j : p_j != q_j}; documents not retrieved are below all others",
    reference="DiazEM25",
    history="Introduced by Diaz, Ekstrand and Mitra in 2025.",
    use="Use it to compare runs where everything relevant must be found, or where the worst-off user counts.",
    misses="It says which run is better but not by how much, and ignores all documents above the one that decides.",
    coincides=True,
)


def _lexiprecision(projection: Projection, size: str) -> "Blocks":
    if size == "rr":
        from lexirecall.preferences.by_level import sized_lexiprecision

        return sized_lexiprecision(projection)
    return _by_ranks(lexiprecision_ranks(projection))


def _rpp(projection: Projection, weight: str, graded: bool) -> "Blocks":
    from lexirecall.preferences.by_level import rpp

    return rpp(projection, weight, graded)


LEXI_PRECISION = Preference(
    "LexiPrecision",
    "lexicographic precision: which ranking finds its first relevant document sooner; on a tie the next, and so on",
    blocks=_lexiprecision,
    formula="sign(q_i - p_i), i = min{j : p_j != q_j}; 1/p_i - 1/q_i for size='rr'",
    reference="Diaz23",
    history="Introduced by Diaz in 2023.",
    use="Use it to compare runs where the first relevant document matters most and RR ties too often.",
    misses="It ignores all documents below the one that decides, even those that a run misses.",
    coincides=True,
    defaults="With size='sign' every query counts the same, as for LexiRecall. With 'rr' it counts by the difference "
    "in reciprocal rank.",
    parameters={"size": Parameter("sign", options=("sign", "rr"))},
)
RPP = Preference(
    "RPP",
    "recall-paired preference: the share of recall levels where one ranking is ahead, minus that where it is behind",
    blocks=_rpp,
    formula="sum_i w_i sign(q_i - p_i), sum_i w_i = 1; w_i = 1/m, or ~ 1/i for 'inverse', ~ 1/log2(i+1) for 'dcg'",
    reference="DiazF22",
    history="Introduced by Diaz and Ferraro in 2022.",
    use="Use it to compare runs at every recall level, from the first relevant document to the last.",
    misses="It ignores how far apart two positions are. It is not transitive: three runs can beat each other in a "
    "circle.",
    coincides=True,
    defaults="weight='uniform' favours no recall level. With graded=False a document is relevant from the level on, as "
    "for LexiRecall.",
    sized=True,
    transitive=False,
    parameters={"weight": Parameter("uniform", options=tuple(WEIGHTS)), "graded": Parameter(default=False, kind=bool)},
    exclusive={("graded", "rel"): "with graded=True every grade is a level"},
)
PREFERENCES: dict[str, Preference] = {row.name: row for row in (LEXI_RECALL, LEXI_PRECISION, RPP)}
"""Every preference, by its name."""
Preference._table = PREFERENCES

"""The table of measures: one row each, in groups. The command line, the documentation and the tests read it.

Belongs here: the table. A new measure is one row in one of the modules of this package, with an entry in its ROWS.
A new module of measures has ROWS and a TITLE, and an entry in GROUPS.

>>> sorted(MEASURES)[:4]
['AP', 'ATD', 'Accuracy', 'All']
"""

from lexirecall.measures import diversity, exact, graded, ideal, judged, providers, recall_level, reviews, sets
from lexirecall.measures.diversity import ALPHA_NDCG, ERR_IA, ST_RECALL
from lexirecall.measures.exact import LEXIRECALL_BITS, LEXIRECALL_PERCENTILE, METRIC_LEXIRECALL
from lexirecall.measures.graded import ERR, GRADED_RBP, NDCG
from lexirecall.measures.ideal import ACCURACY, COMPAT
from lexirecall.measures.judged import BPREF, INF_AP, IPREC, JUDGED
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.measures.providers import WORST_PROVIDER, WORST_PROVIDER_OVERALL, provider_exposure
from lexirecall.measures.ratio import Ratio
from lexirecall.measures.recall_level import (
    ALL,
    AP,
    DEPTH,
    LAST_REL,
    LINEAR,
    RBP,
    RE,
    REACHED,
    RPREC,
    RR,
    SL1,
    SL3,
    SUCCESS,
    TSE,
    WSS,
    P,
    R,
)
from lexirecall.measures.reviews import ASREVIEW_ERF, ASREVIEW_TNR, ASREVIEW_WSS, ATD, ERF, LOSS, RRF, TNR
from lexirecall.measures.sets import NUM_Q, NUM_REL, NUM_REL_RET, NUM_RET, SET_AP, SET_F, SET_P, SET_R

__all__ = [
    "ACCURACY", "ALL", "ALPHA_NDCG", "AP", "ASREVIEW_ERF", "ASREVIEW_TNR", "ASREVIEW_WSS", "ATD", "BPREF", "COMPAT",
    "DEPTH", "ERF", "ERR", "ERR_IA", "GRADED_RBP", "INF_AP", "IPREC", "JUDGED", "LAST_REL", "LEXIRECALL_BITS",
    "LEXIRECALL_PERCENTILE", "LINEAR", "LOSS", "MEASURES", "METRIC_LEXIRECALL", "NDCG", "NUM_Q", "NUM_REL",
    "NUM_REL_RET", "NUM_RET", "RBP", "RE", "REACHED", "RPREC", "RR", "RRF", "SET_AP", "SET_F", "SET_P", "SET_R", "SL1",
    "SL3", "ST_RECALL", "SUCCESS", "TNR", "TSE", "WORST_PROVIDER", "WORST_PROVIDER_OVERALL", "WSS", "Measure", "P",
    "Parameter", "R", "Ratio", "provider_exposure",
]  # fmt: skip

GROUPS = (recall_level, reviews, graded, ideal, diversity, sets, judged, exact, providers)
"""The modules of measures; each has a TITLE and ROWS."""
MEASURES: dict[str, Measure] = {row.name: row for group in GROUPS for row in group.ROWS}
"""Every measure, by its name."""
Measure._table = MEASURES

"""The table of measures: one row each, grouped by kin. Command line, documentation and tests read it.

Belongs here: the table. A new measure is one row in one of the modules of this package, and its entry in their ROWS.

>>> sorted(MEASURES)[:4]
['AP', 'Bpref', 'Depth', 'ERR']
"""

import re

from lexirecall.errors import UsageError
from lexirecall.measures import graded, judged, recall_level, sets
from lexirecall.measures.graded import ERR, NDCG
from lexirecall.measures.judged import BPREF, INF_AP, IPREC, JUDGED
from lexirecall.measures.measure import Measure
from lexirecall.measures.parameter import Parameter
from lexirecall.measures.recall_level import AP, DEPTH, LAST_REL, RBP, RE, RPREC, RR, SL1, SL3, SUCCESS, TSE, WSS, P, R
from lexirecall.measures.sets import NUM_REL, NUM_REL_RET, NUM_RET, SET_F, SET_P, SET_R

__all__ = [
    "AP", "BPREF", "DEPTH", "ERR", "INF_AP", "IPREC", "JUDGED", "LAST_REL", "MEASURES", "NDCG", "NUM_REL",
    "NUM_REL_RET", "NUM_RET", "RBP", "RE", "RPREC", "RR", "SET_F", "SET_P", "SET_R", "SL1", "SL3", "SUCCESS", "TSE",
    "WSS", "Measure", "P", "Parameter", "R", "register",
]  # fmt: skip

MEASURES: dict[str, Measure] = {row.name: row for group in (recall_level, graded, sets, judged) for row in group.ROWS}


def register(measure: Measure) -> Measure:
    """Add a measure to the table, so that its name is understood wherever measures are named.

    >>> from lexirecall.names import parse_measure
    >>> half = register(Measure("Half", "halves every ten", lambda p: 0.5 ** (p / 10), lambda i, m: 1 / m))
    >>> parse_measure("half(rel=2)")
    Half(rel=2)
    >>> _ = MEASURES.pop("Half")
    """
    if not re.fullmatch(r"[A-Za-z]\w*", measure.name):
        raise UsageError(f"{measure.name!r} is no name for a measure", remedy="a letter, then letters, digits and _")
    others = (row for row in MEASURES.values() if row != measure)
    taken = {name.lower() for row in others for name in (row.name, *row.trec, *row.aliases)}
    if measure.name.lower() in taken:
        raise UsageError(f"there is already a measure that is called {measure.name!r}")
    MEASURES[measure.name] = measure
    return measure

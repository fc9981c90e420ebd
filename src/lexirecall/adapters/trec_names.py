"""trec_eval's measures by its names: families, cut-offs, sets of measures, and how each is averaged.

Belongs here: the table of trec_eval's measures in its order, for its versions 9 and 10, and what each is computed by.
Where our table has the measure, its row has trec_eval's name, and the family takes it from there. Not here: parameters
and columns (trec_parameters, trec_columns), formulas (measures, trec_formulas, trec_gains, trec_unjudged).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from lexirecall.adapters import trec_formulas as more
from lexirecall.adapters import trec_gains as gained
from lexirecall.adapters import trec_unjudged as unjudged
from lexirecall.adapters.trec_parameters import Parameters, Takes
from lexirecall.measures import (
    AP,
    BPREF,
    INF_AP,
    IPREC,
    NDCG,
    NUM_Q,
    NUM_REL,
    NUM_REL_RET,
    NUM_RET,
    RPREC,
    RR,
    SET_AP,
    SET_F,
    SET_P,
    SET_R,
    SUCCESS,
    Measure,
    P,
    R,
)

Compat = Literal[9, 10]
"""Whose rules hold: those of trec_eval 9, or of 10."""
VERSIONS: tuple[Compat, Compat] = (9, 10)
Total = Literal["mean", "sum", "geometric", "topics", "relevant"]
"""How the summary is made: `topics` is how many there are, and `relevant` a sum, with -c over all grades above 0."""
Make = Callable[..., Measure]

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
ELEVEN = tuple(tenth / 10 for tenth in range(11))
MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))

ALL = ("all_trec",)
OFFICIAL = ("official", *ALL)
SET = ("set", *ALL)
EVERY = ("official", *SET)


@dataclass(frozen=True, slots=True)
class Family:
    """A measure of trec_eval, or one for each of its cut-offs."""

    name: str
    make: Make
    """From a parameter to the measure; from all parameters at once if they are one list."""
    takes: Takes = "nothing"
    defaults: Parameters = ()
    total: Total = "mean"
    shown: Literal["always", "topics", "summary"] = "always"
    """Where trec_eval prints it: for each topic, in the summary, or in both."""
    is_count: bool = False
    is_text: bool = False
    sets: tuple[str, ...] = ALL
    """The sets of measures that it belongs to."""
    since: Compat = 9
    make_10: Make | None = None
    """Where version 10 computes something else."""

    def of(self, compat: Compat) -> "Family":
        """Return the family of this version."""
        return self if compat == 9 or self.make_10 is None else replace(self, make=self.make_10)


def _always(measure: Measure) -> Make:
    return lambda: measure


def _of(row: Measure, sets: tuple[str, ...] = ALL, total: Total | None = None) -> Family:
    """Return the family of a row of our table, by the name that it has there."""
    is_count = row.decimals == 0
    return Family(row.trec[0], _always(row), total=total or row.total, is_count=is_count, sets=sets)


def _at(row: Measure, defaults: Parameters = CUTOFFS, sets: tuple[str, ...] = ALL) -> Family:
    """Return the family of a row at its cut-offs."""
    return Family(row.trec[1], row.__matmul__, "cutoffs", defaults, sets=sets)


def _ndcg(gains: gained.GainsOf = gained.NO_GAINS) -> Measure:
    return gained.ndcg(gains) if gains else NDCG


def _rbp_resid(_gains: gained.GainsOf = gained.NO_GAINS, p: float = gained.PERSISTENCE) -> Measure:
    return unjudged.rbp_resid(p)  # what a grade gains does not matter to it


_TABLE = (
    Family("runid", _always(more.RUNID), shown="summary", is_text=True, sets=EVERY),
    Family(NUM_Q.trec[0], _always(NUM_Q), total="topics", shown="summary", is_count=True, sets=EVERY),
    _of(NUM_RET, EVERY),
    _of(NUM_REL, EVERY, total="relevant"),
    _of(NUM_REL_RET, EVERY),
    _of(AP, OFFICIAL),
    Family("gm_map", _always(more.GM_MAP), total="geometric", shown="summary", sets=OFFICIAL),
    _of(RPREC, OFFICIAL),
    _of(BPREF, OFFICIAL),
    _of(RR, OFFICIAL),
    Family(IPREC.trec[1], IPREC.__matmul__, "recalls", ELEVEN, sets=OFFICIAL, make_10=more.rounded_iprec),
    _at(P, sets=OFFICIAL),
    Family("relstring", lambda _length: more.RELSTRING, "lengths", (10,), shown="topics", is_text=True),
    _at(R),
    _of(INF_AP),
    Family("gm_bpref", _always(more.GM_BPREF), total="geometric", shown="summary"),
    Family("Rprec_mult", more.rprec_mult, "multiples", MULTIPLES),
    Family("utility", more.utility, "weights", (1, -1, 0, 0), sets=SET),
    Family("11pt_avg", more.mean_iprec, "levels", ELEVEN, make_10=more.rounded_mean_iprec),
    Family("binG", _always(more.BIN_G)),
    Family("G", gained.g, "gains"),
    Family("dcg", gained.dcg, "gains", sets=(), since=10),
    Family("ideal_dcg", gained.ideal_dcg, "gains", sets=(), since=10),
    Family(NDCG.trec[0], _ndcg, "gains"),
    Family("ndcg_rel", gained.ndcg_rel, "gains"),
    Family("Rndcg", gained.rndcg, "gains"),
    _at(NDCG),
    _at(AP),
    Family("relative_P", more.relative_p, "cutoffs", CUTOFFS),
    _at(SUCCESS, (1, 5, 10)),
    _of(SET_P, SET),
    Family("set_relative_P", _always(SET_P(relative=True)), sets=SET),
    _of(SET_R, SET),
    _of(SET_AP, SET),
    Family(SET_F.trec[0], lambda beta: SET_F(beta=beta), "numbers", (1,), sets=SET),
    Family("num_nonrel_judged_ret", _always(more.NUM_NONREL_JUDGED_RET), total="sum", is_count=True),
    Family("yaap", _always(more.YAAP), sets=()),
    Family("rbp", gained.rbp, "persistence", since=10),
    Family("rbp_resid", _rbp_resid, "persistence", since=10),
    Family("unj", unjudged.unjudged_at, "cutoffs", (5, 10, 20), since=10),
)
FAMILIES: dict[Compat, dict[str, Family]] = {
    compat: {family.name: family.of(compat) for family in _TABLE if family.since <= compat} for compat in VERSIONS
}
"""For each version, in the order in which it prints them."""
NICKNAMES: dict[Compat, dict[str, frozenset[str]]] = {
    compat: {
        nickname: frozenset(name for name, family in FAMILIES[compat].items() if nickname in family.sets)
        for nickname in EVERY
    }
    for compat in VERSIONS
}

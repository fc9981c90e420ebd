"""trec_eval's measures by its names: families, cut-offs, sets of measures, and how each is averaged.

Belongs here: the table of trec_eval 9's measures in its order, what each is computed by, and the reading of names such
as `P.5,10` or `ndcg_cut_10`. Not here: formulas (measures, trec_formulas), printing (trec_eval).
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lexirecall.adapters import trec_formulas as more
from lexirecall.errors import UnknownMeasure, UsageError, hint_at
from lexirecall.judgments import FloatArray
from lexirecall.manifest import Policies
from lexirecall.measures import (
    AP,
    BPREF,
    INF_AP,
    IPREC,
    NDCG,
    NUM_REL,
    NUM_REL_RET,
    NUM_RET,
    RPREC,
    RR,
    SET_F,
    SET_P,
    SET_R,
    SUCCESS,
    Measure,
    P,
    R,
)
from lexirecall.names import parse_measure
from lexirecall.positions import Positions
from lexirecall.verbs.evaluate import values_of

Total = Literal["mean", "sum", "geometric"]
Parameters = tuple[float, ...]
Named = tuple[str, Parameters]
"""The name of a column, and its parameters."""
Takes = Literal["nothing", "cutoffs", "fractions", "numbers", "one list", "gains"]

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
ELEVEN = tuple(tenth / 10 for tenth in range(11))
MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))


@dataclass(frozen=True, slots=True)
class Family:
    """A measure of trec_eval, or one for each of its cut-offs."""

    name: str
    make: Callable[..., Measure]
    """From a parameter to the measure; from all parameters at once if they are one list."""
    takes: Takes = "nothing"
    defaults: Parameters = ()
    total: Total = "mean"
    shown: Literal["always", "topics", "summary"] = "always"
    """Where trec_eval prints it: for each topic, in the summary, or in both."""
    is_count: bool = False


def _always(measure: Measure) -> Callable[..., Measure]:
    return lambda: measure


_ROWS = (
    Family("runid", _always(more.NO_NUMBER), shown="summary"),
    Family("num_q", _always(more.NUM_Q), total="sum", shown="summary", is_count=True),
    Family("num_ret", _always(NUM_RET), total="sum", is_count=True),
    Family("num_rel", _always(NUM_REL), total="sum", is_count=True),
    Family("num_rel_ret", _always(NUM_REL_RET), total="sum", is_count=True),
    Family("map", _always(AP)),
    Family("gm_map", _always(more.GM_MAP), total="geometric", shown="summary"),
    Family("Rprec", _always(RPREC)),
    Family("bpref", _always(BPREF)),
    Family("recip_rank", _always(RR)),
    Family("iprec_at_recall", IPREC.__matmul__, "fractions", ELEVEN),
    Family("P", P.__matmul__, "cutoffs", CUTOFFS),
    Family("relstring", lambda _length: more.NO_NUMBER, "numbers", (10,), shown="topics"),
    Family("recall", R.__matmul__, "cutoffs", CUTOFFS),
    Family("infAP", _always(INF_AP)),
    Family("gm_bpref", _always(more.GM_BPREF), total="geometric", shown="summary"),
    Family("Rprec_mult", more.rprec_mult, "fractions", MULTIPLES),
    Family("utility", more.utility, "one list", (1, -1, 0, 0)),
    Family("11pt_avg", more.mean_interpolated_precision, "one list", ELEVEN),
    Family("binG", _always(more.BIN_G)),
    Family("G", _always(more.G), "gains"),
    Family("ndcg", _always(NDCG), "gains"),
    Family("ndcg_rel", _always(more.NDCG_REL), "gains"),
    Family("Rndcg", _always(more.RNDCG), "gains"),
    Family("ndcg_cut", NDCG.__matmul__, "cutoffs", CUTOFFS),
    Family("map_cut", AP.__matmul__, "cutoffs", CUTOFFS),
    Family("relative_P", more.relative_p, "cutoffs", CUTOFFS),
    Family("success", SUCCESS.__matmul__, "cutoffs", (1, 5, 10)),
    Family("set_P", _always(SET_P)),
    Family("set_relative_P", _always(more.SET_RELATIVE_P)),
    Family("set_recall", _always(SET_R)),
    Family("set_map", _always(more.SET_MAP)),
    Family("set_F", lambda beta: SET_F(beta=beta), "numbers", (1,)),
    Family("num_nonrel_judged_ret", _always(more.NUM_NONREL_JUDGED_RET), total="sum", is_count=True),
)
FAMILIES = {family.name: family for family in _ROWS}
"""In the order in which trec_eval prints them."""
_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
NICKNAMES: dict[str, frozenset[str]] = {
    "official": frozenset((*_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")),
    "set": frozenset((*_COUNTS, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")),
    "all_trec": frozenset(FAMILIES),
}


@dataclass(frozen=True, slots=True)
class TrecColumn:
    """One measure that was asked for: its name as trec_eval prints it, and what computes it."""

    name: str
    family: Family
    measure: Measure
    parameters: Parameters = ()


def columns(names: Iterable[str]) -> list[TrecColumn]:
    """Read names of measures; the columns come in trec_eval's order, each once, and ours, such as TSE, come last.

    If you ask for a family both as a whole and with parameters, trec_eval computes only these parameters, and so does
    pytrec_eval.

    >>> [column.name for column in columns(["map", "P.10,5", "num_q"])]
    ['num_q', 'map', 'P_5', 'P_10']
    >>> [column.name for column in columns(["success", "success_3", "TSE", "success.2"])]
    ['success_2', 'success_3', 'TSE']
    """
    wholes: set[str] = set()
    given: dict[str, list[Named]] = {}
    ours: dict[str, TrecColumn] = {}
    for name in names:
        if name in NICKNAMES or name in FAMILIES:
            wholes |= NICKNAMES.get(name, {name})
        elif family := _family_of(name):
            given.setdefault(family.name, []).extend(_parameters(family, name))
        else:
            measure = _our_measure(name)
            ours[str(measure)] = TrecColumn(str(measure), Family(str(measure), _always(measure)), measure)
    found = []
    for family in FAMILIES.values():
        usual = _default_parameters(family) if family.name in wholes else []
        found += _columns_of(family, given.get(family.name) or usual)
    return [*found, *ours.values()]


def values(positions: Positions, asked: Sequence[TrecColumn], level: float) -> FloatArray:
    """Compute the columns for every judged request of one system, [Q, columns]; an undefined value is 0.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}, "r": {"c": 0}}, {"q": ["x", "a"], "r": ["c"]})
    >>> values(positions, columns(["map", "P_2"]), 1).tolist()
    [[0.25, 0.5], [0.0, 0.0]]
    """
    measures = [column.measure for column in asked]
    found, _ = values_of(positions, measures, Policies(level, no_relevant="zero"))
    return np.asarray(np.nan_to_num(found[0]))


def needs_judged(asked: Iterable[TrecColumn]) -> bool:
    """Tell whether a column needs the judged non-relevant items, which positions may hold.

    >>> needs_judged(columns(["bpref"])), needs_judged(columns(["map"]))
    (True, False)
    """
    return any(column.measure.needs_judged or column.family.name == "relstring" for column in asked)


def aggregate(total: Total, numbers: Sequence[float], num_missing: int = 0) -> float:
    """Aggregate the values of topics: their mean, their sum, or exp of the mean of logarithms; nan without any.

    They are added one after the other, as trec_eval does: an exact sum can print another last digit. A mean counts
    `num_missing` more topics as 0.

    >>> aggregate("mean", [1, 0]), aggregate("sum", [1, 2]), round(aggregate("geometric", [more.LOG_FLOOR, 0]), 6)
    (0.5, 3.0, 0.003162)
    """
    added = 0.0
    for number in numbers:
        added += number
    count = len(numbers) + num_missing
    if total == "sum" or not count:
        return added if count else math.nan
    return math.exp((added + num_missing * more.LOG_FLOOR) / count) if total == "geometric" else added / count


def _columns_of(family: Family, asked: list[Named]) -> list[TrecColumn]:
    found: dict[str, Parameters] = {}
    for name, parameters in asked:
        if found.setdefault(name, parameters) != parameters:
            alike = f"{found[name][0]} and {parameters[0]}"
            raise UsageError(f"{alike} both have the name {name}", remedy="ask for one of them")
    in_order = sorted(found, key=found.__getitem__) if family.takes in ("cutoffs", "fractions") else found
    return [TrecColumn(name, family, family.make(*found[name]), found[name]) for name in in_order]


def _default_parameters(family: Family) -> list[Named]:
    if family.takes in ("cutoffs", "fractions"):
        return [(_name(family, value), (value,)) for value in family.defaults]
    return [(family.name, family.defaults)]


def _name(family: Family, value: float) -> str:
    return f"{family.name}_{value:.2f}" if family.takes == "fractions" else f"{family.name}_{value}"


def _family_of(name: str) -> Family | None:
    """Find the family whose parameters follow a dot or an underscore; the longest name wins."""
    starts = [family for family in FAMILIES if name.startswith(family) and name[len(family)] in "._"]
    if "prefs" in name or name.endswith("jg"):
        raise UsageError(
            f"{name} needs judgments of another kind than qrels (-R prefs, -R qrels_jg), which cannot be read",
            remedy=f"choose from {', '.join((*NICKNAMES, *FAMILIES))}",
        )
    return FAMILIES[max(starts, key=len)] if starts else None


def _parameters(family: Family, name: str) -> list[Named]:
    """Read what follows the name of a family: the name of each column, with its parameters."""
    text = name[len(family.name) + 1 :]
    if family.takes == "nothing" or (family.takes == "gains" and "=" not in text):
        cut = f"{family.name}_cut"
        remedy = f"did you mean {cut}_{text}?" if cut in FAMILIES else f"write {family.name}"
        raise UnknownMeasure(f"{name}: {family.name} takes no cut-off", remedy=remedy)
    if family.takes == "gains":
        raise UsageError(f"{name}: gains cannot be set: they are the grades", remedy="write the gains into the qrels")
    numbers = [_number(part, family, name) for part in text.split(",")]
    if family.takes == "one list":
        if family.name == "utility" and len(numbers) != len(family.defaults):
            raise UsageError(f"{name}: utility takes four numbers, as in utility.1,-1,0,0")
        return [(f"{family.name}_{text}", tuple(numbers))]
    if family.takes == "numbers":
        return [(f"{family.name}_{part}", (number,)) for part, number in zip(text.split(","), numbers, strict=True)]
    return [(_name(family, number), (number,)) for number in numbers]


def _number(text: str, family: Family, name: str) -> float:
    is_whole = family.takes == "cutoffs" or family.name == "relstring"
    pattern = r"\d+" if is_whole else r"-?(\d+\.?\d*|\.\d+)" if family.name == "utility" else r"\d+\.?\d*|\.\d+"
    if not re.fullmatch(pattern, text, re.ASCII) or (is_whole and int(text) == 0):
        what = "whole numbers above 0" if is_whole else "numbers"
        raise UnknownMeasure(f"{name}: {text!r} is not a parameter of {family.name}", remedy=f"it takes {what}")
    return int(text) if is_whole else float(text)


def _our_measure(name: str) -> Measure:
    """Read a name of ours; refuse a measure that is better when lower, or that needs more than qrels and a run."""
    try:
        measure = parse_measure(name)
    except UnknownMeasure:
        raise UnknownMeasure(f"unknown measure {name!r}: {hint_at(name, (*NICKNAMES, *FAMILIES))}") from None
    needs_more = measure.needs_size or measure.needs_providers or measure.needs_units
    if measure.direction < 0 or needs_more:
        raise UsageError(
            f"{measure} cannot be a measure of trec_eval, which counts a topic without an answer as 0",
            remedy="compute it with lexirecall eval, or with lexirecall.evaluate in Python",
        )
    return measure

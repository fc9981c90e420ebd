"""The columns of trec_eval's table: the measures that are asked for by name, their values and what becomes of them.

Belongs here: reading names such as `P.5,10` or `ndcg_cut_10`, values of topics, and means. Not here: the table of
measures (trec_names), printing (trec_eval).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.adapters.trec_formulas import LOG_FLOOR
from lexirecall.adapters.trec_names import EVERY, FAMILIES, NICKNAMES, Compat, Family, Total
from lexirecall.adapters.trec_parameters import COLUMNS_EACH, Named, Parameters, default_columns, read_parameters
from lexirecall.errors import UnknownMeasure, UsageError, hint_at
from lexirecall.judgments import FloatArray
from lexirecall.manifest import Policies
from lexirecall.measures import Measure
from lexirecall.names import parse_measure
from lexirecall.positions import Positions
from lexirecall.verbs.evaluate import QueryValues

PREFERENCES = ("prefs", "_avgjg", "qrels_jg")
"""What the names of measures of preference judgments have in them."""


@dataclass(frozen=True, slots=True)
class TrecColumn:
    """One measure that was asked for: its name as trec_eval prints it, and what computes it."""

    name: str
    family: Family
    measure: Measure
    parameters: Parameters = ()


def columns(names: Iterable[str], compat: Compat) -> list[TrecColumn]:
    """Read names of measures; the columns come in trec_eval's order, each once, and ours, such as TSE, come last.

    If you ask for a family both as a whole and with parameters, trec_eval computes only these parameters, and so does
    pytrec_eval.

    >>> [column.name for column in columns(["map", "P.10,5", "num_q"], 9)]
    ['num_q', 'map', 'P_5', 'P_10']
    >>> [column.name for column in columns(["success", "success_3", "TSE", "success.2"], 10)]
    ['success_2', 'success_3', 'TSE']
    """
    families, nicknames = FAMILIES[compat], NICKNAMES[compat]
    wholes: set[str] = set()
    by_family: dict[str, list[Named]] = {}
    ours: dict[str, TrecColumn] = {}
    for name in names:
        _refuse_preferences(name)
        if name in nicknames or name in families:
            wholes |= nicknames.get(name, {name})
        elif family := _family_of(name, compat):
            by_family.setdefault(family.name, []).extend(_parameters(family, name, families))
        else:
            column = _our_column(name, (*nicknames, *families))
            ours[column.name] = column
    found = []
    for family in families.values():
        usual = default_columns(family.name, family.takes, family.defaults) if family.name in wholes else []
        found += _columns_of(family, by_family.get(family.name) or usual)
    return [*found, *ours.values()]


def values(positions: Positions, asked: Sequence[TrecColumn], level: float) -> FloatArray:
    """Compute the columns for every judged query of one run, [Q, columns]; an undefined value is 0.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}, "r": {"c": 0}}, {"q": ["x", "a"], "r": ["c"]})
    >>> values(positions, columns(["map", "P_2"], 10), 1).tolist()
    [[0.25, 0.5], [0.0, 0.0]]
    """
    measures = [column.measure for column in asked]
    found = QueryValues.of(positions, measures, Policies(level, no_relevant="zero")).values
    return np.asarray(np.nan_to_num(found[0]))


def needs_judged(asked: Iterable[TrecColumn]) -> bool:
    """Tell whether a column needs the judged non-relevant documents, which positions may hold.

    >>> needs_judged(columns(["bpref"], 10)), needs_judged(columns(["map"], 10))
    (True, False)
    """
    return any(column.measure.needs_judged for column in asked)


def aggregate(total: Total, numbers: Sequence[float], num_missing: int = 0) -> float:
    """Aggregate the values of topics: their mean, their sum, or exp of the mean of logarithms; nan without any.

    They are added one after the other, as trec_eval does: an exact sum can print another last digit. A mean counts
    `num_missing` more topics as 0.

    >>> aggregate("mean", [1, 0]), aggregate("sum", [1, 2]), round(aggregate("geometric", [LOG_FLOOR, 0]), 6)
    (0.5, 3.0, 0.003162)
    """
    added = 0.0
    for number in numbers:
        added += number
    count = len(numbers) + num_missing
    if total == "topics":
        return count
    if total in ("sum", "relevant") or not count:
        return added if count else math.nan
    return math.exp((added + num_missing * LOG_FLOOR) / count) if total == "geometric" else added / count


def explained(names: Iterable[str], compat: Compat) -> str:
    """Return the title and the formula of each measure, in trec_eval's order.

    >>> print(explained(["num_rel_ret"], 10))
    num_rel_ret
      number of relevant documents retrieved
      r
    """
    first = {column.family.name: column for column in reversed(columns(names, compat))}
    return "\n".join(
        "\n  ".join(filter(None, (name, column.measure.title, column.measure.formula)))
        for name, column in reversed(first.items())
    )


def _columns_of(family: Family, asked: list[Named]) -> list[TrecColumn]:
    found: dict[str, Parameters] = {}
    for name, parameters in asked:
        if found.setdefault(name, parameters) != parameters:
            alike = f"{found[name][0]} and {parameters[0]}"
            raise UsageError(f"{alike} both have the name {name}", remedy="ask for one of them")
    in_order = sorted(found, key=found.__getitem__) if family.takes in COLUMNS_EACH else found
    return [TrecColumn(name, family, family.make(*found[name]), found[name]) for name in in_order]


def _refuse_preferences(name: str) -> None:
    if any(part in name for part in PREFERENCES):
        raise UsageError(
            f"{name} is a measure of preference judgments, which stay with trec_eval",
            remedy=f"the sets of measures here are {', '.join(EVERY)}; lexirecall compare has our own preferences",
        )


def _family_of(name: str, compat: Compat) -> Family | None:
    """Find the family whose parameters follow a dot or an underscore; the longest name wins."""
    every = FAMILIES[10]
    starts = [family for family in every if name == family or (name.startswith(family) and name[len(family)] in "._")]
    if not starts:
        return None
    family = every[max(starts, key=len)]
    if family.since > compat:
        raise UnknownMeasure(f"{name}: trec_eval {compat} does not have {family.name}", remedy="version 10 has it")
    return FAMILIES[compat][family.name]


def _parameters(family: Family, name: str, families: Mapping[str, Family]) -> list[Named]:
    """Read what follows the name of a family: the name of each column, with its parameters."""
    text = name[len(family.name) + 1 :]
    if family.takes == "nothing" or (family.takes == "gains" and "=" not in text):
        cut = f"{family.name}_cut"
        remedy = f"did you mean {cut}_{text}?" if cut in families else f"write {family.name}"
        raise UnknownMeasure(f"{name}: {family.name} takes no cut-off", remedy=remedy)
    return read_parameters(family.name, family.takes, name)


def _our_column(name: str, theirs: Sequence[str]) -> TrecColumn:
    measure = _our_measure(name, theirs)
    return TrecColumn(str(measure), Family(str(measure), lambda: measure), measure)


def _our_measure(name: str, theirs: Sequence[str]) -> Measure:
    """Read a name of ours; refuse a measure that is better when lower, or that needs more than qrels and a run."""
    try:
        measure = parse_measure(name)
    except UnknownMeasure:
        raise UnknownMeasure(f"unknown measure {name!r}: {hint_at(name, theirs)}") from None
    needs_more = measure.needs_size or measure.needs_providers or measure.needs_units
    if measure.direction < 0 or needs_more:
        raise UsageError(
            f"{measure} cannot be a measure of trec_eval, which counts a topic without an answer as 0",
            remedy="compute it with lexirecall eval, or with lexirecall.evaluate in Python",
        )
    return measure

"""Measures of ir_measures and rows of our table: each stands for the other.

Belongs here: the way from a measure of ir_measures to a row and back, and what of its measures we compute. Not here:
the provider (ir_measures).
"""

# ir_measures says that it is typed, but most of its constructors are not:
# mypy: disallow-untyped-calls=False

import math
from typing import Any

from lexirecall.errors import UsageError, listed
from lexirecall.measures import GRADED_RBP, MEASURES, Measure, Parameter
from lexirecall.names import computed_by

try:
    import ir_measures
    from ir_measures.measures.base import Agg
    from ir_measures.providers.base import NOT_PROVIDED, Choices
    from ir_measures.providers.base import Any as Anything
except ModuleNotFoundError as error:
    raise UsageError("ir_measures is not installed", remedy="pip install ir_measures") from error

_WHOLE_LIST = 2**62 - 1
_SIZE = Parameter(kind=int, low=1, below=2**62)
_DESCRIPTIONS = {
    "cutoff": "ranking cutoff threshold",
    "rel": "minimum relevance score to be considered relevant (inclusive)",
    "recall": "share of the relevant documents",
    "share": "share of the corpus",
    "p": "persistence",
    "e": "exposure of a position",
    "max_grade": "highest grade of the scale",
}


class LexirecallMeasure(ir_measures.Measure):
    """A row of our table as a measure of ir_measures; its settings are checked by the row."""

    row: Measure

    def validate_params(self) -> None:
        """Raise unless the measure takes these settings and can be computed with them."""
        if unknown := [name for name in self.params if name not in self.SUPPORTED_PARAMS]:
            what = ", ".join(self.SUPPORTED_PARAMS)
            raise UsageError(f"{self.NAME} has no setting {listed(map(repr, unknown))}: it takes {what}")
        if "n" in self.params:
            _SIZE.check(f"{self.NAME}: n", self.params["n"])
        elif self.row.corpus == "required":
            raise UsageError(f"{self} needs the corpus size", remedy=f"write it as {self(n=528155)}, for example")
        row_of(self).require_settings()

    def aggregator(self) -> Agg:
        """Return an aggregator that takes the mean over the queries that have a value."""
        return DefinedMean(self.row.total)


class DefinedMean(Agg):
    """The mean of the values that are defined, or their sum for counts; nan if none is."""

    def __init__(self, total: str = "mean") -> None:
        self.total = total
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Take one more value."""
        if not math.isnan(value):
            self.values.append(value)

    def result(self) -> float:
        """Return the mean."""
        if not self.values:
            return math.nan
        return math.fsum(self.values) / (1 if self.total == "sum" else len(self.values))


SERVED: dict[str, ir_measures.Measure] = {}
"""Of each measure that we compute, with which settings."""


def register(row: Measure) -> ir_measures.Measure:
    """Make a measure of ours known to ir_measures, and return it as a measure of ir_measures.

    A measure that ir_measures has itself is left alone. Importing this module registers our whole table, except for the
    measures that need a map of providers. Call this for a measure that `lexirecall.register` adds later.

    >>> register(MEASURES["TSE"])(e="rbp", p=0.9) @ 100
    TSE(e='rbp',p=0.9)@100
    """
    registry = ir_measures.measures.registry
    measure = registry.get(row.name)
    if measure is None or getattr(measure, "row", row) != row:
        measure = registry[row.name] = _class_of(row)()
        setattr(ir_measures, row.name, measure)
    SERVED[row.name] = _served(row, measure)
    return measure


def _class_of(row: Measure) -> type[LexirecallMeasure]:
    """Return the class of a measure; its instances are the measure with some settings."""
    info = ir_measures.ParamInfo
    params = {name: _param_info(row, name, parameter) for name, parameter in row.offered.items()}
    params["judged_only"] = info(dtype=bool, default=False, desc="ignore returned documents without judgments")
    if row.corpus != "ignored":
        params["n"] = info(dtype=int, required=row.corpus == "required", desc="number of documents in the corpus")
    content = {
        "__doc__": f"{row.title[:1].upper()}{row.title[1:]}: {row.formula}. Reference: {row.reference}.",
        "__name__": row.name,
        "NAME": row.name,
        "PRETTY_NAME": row.title,
        "SHORT_DESC": row.title,
        "AT_PARAM": row.at or "cutoff",
        "SUPPORTED_PARAMS": params,
        "DEFAULT": 0.0 if row.direction > 0 else math.nan,
        "row": row,
    }
    return type(f"_{row.name}", (LexirecallMeasure,), content)


def _param_info(row: Measure, name: str, parameter: Parameter) -> ir_measures.ParamInfo:
    kind: Any = str if parameter.options else parameter.kind if parameter.kind is not float else (int, float)
    default = 1 if name == "rel" else NOT_PROVIDED if parameter.default is None else parameter.default
    choices = list(parameter.options) if parameter.options else NOT_PROVIDED
    is_required = row.needs_at and name == row.at
    return ir_measures.ParamInfo(kind, is_required, choices, default, _DESCRIPTIONS.get(name))


def _served(row: Measure, measure: ir_measures.Measure) -> ir_measures.Measure:
    """Return which settings of a measure are served: what is not a setting of ours must be at its default."""
    ours = {*row.offered, "judged_only", "n"}
    specs: dict[str, Any] = {}
    for name, info in measure.SUPPORTED_PARAMS.items():
        specs[name] = Anything(required=info.required) if name in ours else Choices(info.default)
    return type(measure)(**specs)


def row_of(measure: ir_measures.Measure) -> Measure:
    """Return the row of our table, with its settings, that a measure of ir_measures means.

    With a level, its NumRet counts what our NumRelRet counts. Without one, its RBP is graded, as our GradedRBP is.

    >>> row_of(ir_measures.AP(rel=2) @ 10), row_of(ir_measures.NumRet(rel=1)), row_of(ir_measures.RBP(p=0.5))
    (AP(rel=2)@10, NumRelRet(rel=1), GradedRBP(p=0.5))
    """
    row = getattr(measure, "row", None) or MEASURES.get(_name_of(measure))
    if row is None or row.needs_units:
        raise unserved([measure])
    settings = {name: value for name, value in measure.params.items() if name in row.offered}
    if row.name == "Judged":
        settings = {"cutoff": _WHOLE_LIST, **settings}
    elif row.name == "nDCG" and raised_grades(measure):
        settings.pop("gains")  # they are in the judgments
    return row(**settings)


def _name_of(measure: ir_measures.Measure) -> str:
    has_level = "rel" in measure.SUPPORTED_PARAMS and measure["rel"] is not NOT_PROVIDED
    other = {"NumRet": "NumRelRet" if has_level else "NumRet", "RBP": "RBP" if has_level else GRADED_RBP.name}
    name = str(measure.NAME)
    return other.get(name, name)


def raised_grades(measure: ir_measures.Measure) -> dict[float, float]:
    """Return the gains of nDCG if they give one to a grade of 0 or below; such documents count as relevant then.

    >>> raised_grades(ir_measures.nDCG(gains={0: 1, 1: 4})), raised_grades(ir_measures.nDCG(gains={1: 4}))
    ({0: 1, 1: 4}, {})
    """
    gains = measure.params.get("gains") or {}
    return gains if any(grade <= 0 < gain for grade, gain in gains.items()) else {}


def is_sparse(measure: ir_measures.Measure) -> bool:
    """Tell whether a measure of ir_measures has no value for some queries, and gives none, as its Accuracy does."""
    return not hasattr(measure, "row") and measure.NAME in MEASURES and MEASURES[measure.NAME].sparse


def unserved(measures: list[ir_measures.Measure]) -> UsageError:
    """Return the error of measures that are not ours, with who computes them.

    >>> print(unserved([ir_measures.BPM(max_rel=1) @ 10]))
    lexirecall does not compute BPM(max_rel=1)@10
      ir_measures computes BPM with cwl-eval
    """
    tools = {name: tool for name in (str(measure.NAME) for measure in measures) if (tool := computed_by(name))}
    names = [f"{name} with {tool}" for name, tool in tools.items()]
    served = sorted(set(SERVED) - tools.keys())
    remedy = f"ir_measures computes {listed(names, 20)}" if tools else f"choose from {listed(served, 99)}"
    return UsageError(f"lexirecall does not compute {listed(map(str, measures))}", remedy=remedy)


def is_read(measure: ir_measures.Measure) -> bool:
    """Tell whether our row takes these settings; some of them exclude each other."""
    try:
        return bool(row_of(measure))
    except UsageError:
        return False

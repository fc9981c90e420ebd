"""ir_measures: our measures under its names, and a provider that computes them and many of its own.

Belongs here: the way from a measure of ir_measures to a row of our table and back, and the provider. Not here: formulas
(measures), its forms of judgments and runs (ir_measures_input).

Importing this module is all it takes; ir_measures does not find packages by entry points. Measures that ir_measures
lacks join its registry. They have the settings that they have here and `judged_only`, and those that can use the size
of the corpus have `n`. The provider `lexirecall` comes last in the default pipeline, so nothing that worked before
changes.

>>> import ir_measures
>>> qrels, run = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}, {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}}
>>> tse, last = ir_measures.parse_measure("TSE") @ 10, ir_measures.LastRel(n=1000)
>>> ir_measures.calc_aggregate([tse, last, ir_measures.AP], qrels, run)[last]  # q2 has no answer: as if at the bottom
501.5
"""

# ir_measures says that it is typed, but most of its constructors are not:
# mypy: disallow-untyped-calls=False

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from lexirecall.adapters.ir_measures_input import Content, content_of, judgments_of, project_run
from lexirecall.errors import UsageError, listed, warn
from lexirecall.judgments import FloatArray, Judgments
from lexirecall.manifest import Conventions, Policies
from lexirecall.measures import MEASURES, Measure, Parameter
from lexirecall.names import Evaluable, parse_preference
from lexirecall.positions import Positions
from lexirecall.verbs.evaluate import values_of

try:
    import ir_measures
    from ir_measures.measures.base import Agg
    from ir_measures.providers.base import NOT_PROVIDED, Choices
    from ir_measures.providers.base import Any as Anything
except ModuleNotFoundError as error:
    raise UsageError("ir_measures is not installed", remedy="pip install ir_measures") from error

__all__ = ["LexiRecallAgainst", "LexirecallProvider", "measures", "prefer", "provider", "register", "row_of"]

NAME = "lexirecall"
_WHOLE_LIST = 2**62 - 1
_SIZE = Parameter(kind=int, low=1, below=2**62)
_DESCRIPTIONS = {
    "cutoff": "ranking cutoff threshold",
    "rel": "minimum relevance score to be considered relevant (inclusive)",
    "recall": "share of the relevant documents",
    "share": "share of the corpus",
    "p": "persistence",
    "e": "exposure of a position",
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


class LexiRecallAgainst(ir_measures.Measure):
    """Whether LexiRecall prefers a run to a baseline: 1 if it does, -1 if it prefers the baseline, 0 if neither.

    The mean is (wins - losses)/queries. A query that a run does not answer counts as if nothing was retrieved, and a
    query without relevant documents as a tie. `preference` may be another preference, or a measure; for a measure the
    value is the difference. ir_measures knows a measure by its name, so two baselines need two names.

    >>> baseline = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 1.0}}
    >>> measure = LexiRecallAgainst(baseline, name="bm25")
    >>> run = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q3": {"c": 1.0}}
    >>> list(measure.iter_calc({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}, run))[1]
    Metric(query_id='q2', measure=LexiRecall against bm25, value=-1.0)
    >>> measure.calc_aggregate({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}, run)  # better, worse, better
    0.3333333333333333

    Reference: DiazEM25.
    """

    NAME = __name__ = "LexiRecallAgainst"
    PRETTY_NAME = "Lexicographic recall against a baseline"
    SHORT_DESC = "Whether the run is preferred to the baseline: 1, 0 or -1."

    def __init__(self, baseline: Any, *, name: str = "baseline", preference: str | Evaluable = "LexiRecall") -> None:
        super().__init__()
        self.baseline = content_of(baseline, "score")
        self.name = name
        self.preference = parse_preference(preference)

    def __call__(self, **settings: Any) -> "LexiRecallAgainst":
        """Return the measure with other settings of its preference, such as `rel`."""
        return type(self)(self.baseline, name=self.name, preference=self.preference(**settings))

    def __repr__(self) -> str:
        return f"{self.preference} against {self.name}"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.baseline is getattr(other, "baseline", None)

    def __hash__(self) -> int:
        return hash(repr(self))

    def aggregator(self) -> Agg:
        """Return an aggregator that takes the mean over queries."""
        return DefinedMean()


# Names and settings


_SERVED: dict[str, ir_measures.Measure] = {}


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
    _SERVED[row.name] = _served(row, measure)
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
    ours = {*row.offered, "judged_only", "n"} - ({"rel"} if row.name == "NumRet" else set())
    specs: dict[str, Any] = {}
    for name, info in measure.SUPPORTED_PARAMS.items():
        # without a level their RBP is graded, and ours is not; with one their NumRet counts what NumRelRet counts
        is_needed = info.required or (name == "rel" and info.default is NOT_PROVIDED)
        specs[name] = Anything(required=is_needed) if name in ours else Choices(info.default)
    return type(measure)(**specs)


def row_of(measure: ir_measures.Measure) -> Measure:
    """Return the row of our table, with its settings, that a measure of ir_measures means.

    >>> row_of(ir_measures.AP(rel=2) @ 10), row_of(ir_measures.NumRet(rel=1)), row_of(ir_measures.nDCG(gains={1: 0}))
    (AP(rel=2)@10, NumRelRet(rel=1), nDCG(gains={1:0}))
    """
    name = str(measure.NAME)
    if name == "NumRet" and measure["rel"] is not NOT_PROVIDED:
        name = "NumRelRet"
    row = getattr(measure, "row", None) or MEASURES.get(name)
    if row is None:
        raise UsageError(f"{measure} is not a measure of lexirecall", remedy=f"choose from {listed(_SERVED, 99)}")
    settings = {name: value for name, value in measure.params.items() if name in row.offered}
    if name == "Judged":
        settings = {"cutoff": _WHOLE_LIST, **settings}
    return row(**settings)


def _is_read(measure: ir_measures.Measure) -> bool:
    """Tell whether our row takes these settings; some of them exclude each other."""
    try:
        return bool(row_of(measure))
    except UsageError:
        return False


# The provider


class IrMeasuresEvaluator(ir_measures.Evaluator):
    """Evaluates any number of runs against judgments that are read once."""

    def __init__(self, measures: Iterable[ir_measures.Measure], qrels: Any, conventions: Conventions) -> None:
        self.judgments, self.queries = judgments_of(qrels)
        self.conventions = conventions
        super().__init__(list(measures), set(self.queries))

    def iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        """Give a value of each measure for each judged query, and for no other query.

        If a run does not answer a query, the value is that of a run that retrieved nothing. An undefined value is nan,
        with a warning. For a measure that ir_measures has itself, it is the default of that measure.
        """
        measures = list(self.measures)
        for query, row in self._rows(measures, run):
            for measure, value in zip(measures, row, strict=True):
                yield ir_measures.Metric(query, measure, value)

    def calc_aggregate(self, run: Any) -> dict[ir_measures.Measure, float | int]:
        """Return the aggregate of each measure: what its aggregator makes of the values that `iter_calc` gives."""
        measures = list(self.measures)
        aggregators = {measure: measure.aggregator() for measure in measures}
        in_order = [aggregators[measure] for measure in measures]  # looked up once: ir_measures hashes by the name
        for _, row in self._rows(measures, run):
            for aggregator, value in zip(in_order, row, strict=True):
                aggregator.add(value)
        return {measure: aggregator.result() for measure, aggregator in aggregators.items()}

    def _rows(self, measures: list[ir_measures.Measure], run: Any) -> Iterable[tuple[Any, list[float]]]:
        """Return each judged query with its values."""
        if self.judgments is None:
            return ()
        values = self._values(measures, content_of(run, "score"), self.judgments)
        return zip(self.queries, values.tolist(), strict=True)

    def _values(self, measures: list[ir_measures.Measure], run: Content, judgments: Judgments) -> FloatArray:
        """Return the values, [Q, M]; those that need the same positions are computed in one go."""
        groups: dict[tuple[bool, int | None], list[int]] = {}
        against = [c for c, measure in enumerate(measures) if _is_against(measure)]
        for c, measure in enumerate(measures):
            if c not in against:
                is_set = "judged_only" in measure.SUPPORTED_PARAMS and bool(measure["judged_only"])
                groups.setdefault((is_set, measure.params.get("n")), []).append(c)
        rows = {c: row_of(measures[c]) for group in groups.values() for c in group}
        needs_judged = any(row.needs_judged for row in rows.values())
        rules = {judged_only: replace(self.conventions, judged_only=judged_only) for judged_only in (False, True)}
        projected = {
            judged_only: project_run(run, "the run", judgments, rules[judged_only], needs_judged=needs_judged)
            for judged_only in {judged_only for judged_only, _ in groups}
        }
        values = np.empty((len(judgments.requests), len(measures)))
        for (judged_only, n), group in groups.items():
            sizes = None if n is None else np.full(len(judgments.requests), n, np.int64)
            positions = Positions.stack(judgments, [projected[judged_only]], rules[judged_only], sizes)
            values[:, group] = _computed([rows[c] for c in group], [measures[c] for c in group], positions)
        for c in against:
            values[:, c] = _preferences(measures[c], run, judgments, rules[False])
        return values


def _computed(rows: list[Measure], measures: list[ir_measures.Measure], positions: Positions) -> FloatArray:
    """Return the values of measures, [Q, M]; queries without relevant documents count as trec_eval counts them."""
    values: FloatArray = values_of(positions, rows, Policies(no_relevant="zero"))[0][0]
    for c, measure in enumerate(measures):
        is_undefined = np.isnan(values[:, c])
        if not hasattr(measure, "row"):
            values[is_undefined, c] = measure.DEFAULT
        elif is_undefined.any():
            why = "they have no relevant document, or one was not retrieved and the corpus size is not known"
            remedy = "" if "n" in measure.params else f"; write it as {measure(n=528155)}, for example"
            count = f"{is_undefined.sum():,} of {len(is_undefined):,} queries"
            warn(f"{measure} has no value on {count}: {why}{remedy}")
    return values


def _preferences(measure: Any, run: Content, judgments: Judgments, rules: Conventions) -> FloatArray:
    """Return the preference for a run over the baseline, [Q]; nan where it comes from a measure without a value."""
    preference = measure.preference
    systems = [
        project_run(content, name, judgments, rules, needs_judged=preference.needs_judged)
        for name, content in (("the run", run), ("the baseline", measure.baseline))
    ]
    positions = Positions.stack(judgments, systems, rules)
    pairs = preference.pairs(positions.at_level(preference.level(1)), with_empty=True)
    return np.where(pairs.taking_part.all(axis=0), pairs.values[0, 1].astype(float), np.nan)


def _is_against(measure: ir_measures.Measure) -> bool:
    """Tell whether a measure is a preference, even one made before this module was reloaded."""
    return measure.NAME == LexiRecallAgainst.NAME


class LexirecallProvider(ir_measures.Provider):
    """Serves our measures, and those of ir_measures that are in our table, with one tie rule for all.

    Equal scores go by document id, descending, as in trec_eval; scores are float64. Set `ties` and `score_dtype` to
    change that: pytrec_eval, and so ir_measures by default, compares scores as float32.

    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.50000000002, "b": 0.50000000001}}
    >>> provider.calc_aggregate([ir_measures.RR, ir_measures.RR @ 10], qrels, run)
    {RR: 1.0, RR@10: 1.0}
    >>> LexirecallProvider(score_dtype="float32").calc_aggregate([ir_measures.RR], qrels, run)
    {RR: 0.5}
    """

    NAME = NAME

    def __init__(self, *, ties: str = "trec", score_dtype: str = "float64") -> None:
        super().__init__()
        self.conventions = Conventions(ties=ties, score_dtype=score_dtype)

    @property
    def SUPPORTED_MEASURES(self) -> list[ir_measures.Measure]:  # type: ignore[override]  # noqa: N802
        """Which measures are served, and with which settings."""
        return [*_SERVED.values()]

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Tell whether a measure, with its settings, is served."""
        return _is_against(measure) or (bool(super().supports(measure)) and _is_read(measure))

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> IrMeasuresEvaluator:
        asked = list(measures)
        if wrong := [str(measure) for measure in asked if not self.supports(measure)]:
            for measure in filter(super().supports, asked):
                row_of(measure)  # this raises with a better reason, if there is one
            remedy = f"choose from {listed(_SERVED, 99)}"
            raise UsageError(f"{NAME} does not compute {listed(wrong)} with these settings", remedy=remedy)
        return IrMeasuresEvaluator(asked, qrels, self.conventions)


def prefer(is_first: bool = True) -> None:
    """Put this provider first in the default pipeline, so that it computes all it can; or put it last again.

    >>> prefer()
    >>> (ir_measures.RR @ 10).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}})
    0.5
    >>> prefer(False)
    >>> (ir_measures.RR @ 10).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}})  # ids ascending, unlike RR
    1.0
    """
    pipeline = ir_measures.DefaultPipeline.providers
    others = [each for each in pipeline if each.NAME != NAME]
    pipeline[:] = [provider, *others] if is_first else [*others, provider]


provider = LexirecallProvider()
measures = {row.name: register(row) for row in MEASURES.values() if not (row.needs_providers or row.needs_units)}
"""Our measures as measures of ir_measures, by name; some of these are its own."""

ir_measures.providers.register(provider)
prefer(getattr(ir_measures.DefaultPipeline.providers[0], "NAME", "") == NAME)  # where an earlier import left it

if __name__ == "__main__":
    from ir_measures.__main__ import main_cli

    main_cli()

"""ir_measures: our measures under its names, and a provider that computes them and many of its own.

Belongs here: the provider. Not here: formulas (measures), which row a measure of ir_measures is (ir_measures_rows), and
its forms of judgments and runs (ir_measures_input).

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

from lexirecall.adapters.ir_measures_input import Content, content_of, judgments_of, project_run, regraded
from lexirecall.adapters.ir_measures_rows import (
    SERVED,
    DefinedMean,
    is_read,
    is_sparse,
    raised_grades,
    register,
    row_of,
    unserved,
)
from lexirecall.errors import UsageError, warn
from lexirecall.judgments import FloatArray, Judgments
from lexirecall.manifest import Conventions, Policies
from lexirecall.measures import MEASURES, Measure
from lexirecall.names import Evaluable, parse_preference
from lexirecall.positions import Positions
from lexirecall.verbs.evaluate import QueryValues

try:
    import ir_measures
    from ir_measures.measures.base import Agg
except ModuleNotFoundError as error:
    raise UsageError("ir_measures is not installed", remedy="pip install ir_measures") from error

__all__ = ["LexiRecallAgainst", "LexirecallProvider", "measures", "prefer", "provider", "register", "row_of"]

NAME = "lexirecall"


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
        with a warning. For a measure that ir_measures has itself, it is the default of that measure; Accuracy has none.
        """
        measures = list(self.measures)
        sparse = [is_sparse(measure) for measure in measures]
        for query, row in self._rows(measures, run):
            for measure, value, may_lack in zip(measures, row, sparse, strict=True):
                if not (may_lack and math.isnan(value)):
                    yield ir_measures.Metric(query, measure, value)

    def calc_aggregate(self, run: Any) -> dict[ir_measures.Measure, float | int]:
        """Return the aggregate of each measure: what its aggregator makes of the values that `iter_calc` gives."""
        measures = list(self.measures)
        aggregators = {measure: measure.aggregator() for measure in measures}
        # looked up once: ir_measures hashes by the name
        in_order = [(aggregators[measure], is_sparse(measure)) for measure in measures]
        for _, row in self._rows(measures, run):
            for (aggregator, may_lack), value in zip(in_order, row, strict=True):
                if not (may_lack and math.isnan(value)):
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
        values = np.empty((len(judgments.queries), len(measures)))
        groups: dict[tuple[str, bool], list[int]] = {}
        for c, measure in enumerate(measures):
            if _is_against(measure):
                values[:, c] = _preferences(measure, run, judgments, self._rules(measure))
            else:
                key = (repr(raised_grades(measure)), self._rules(measure).judged_only)
                groups.setdefault(key, []).append(c)
        for group in groups.values():
            values[:, group] = self._of_group([measures[c] for c in group], run, judgments)
        return values

    def _rules(self, measure: ir_measures.Measure) -> Conventions:
        """Return how a measure wants a run to be read."""
        is_set = "judged_only" in measure.SUPPORTED_PARAMS and bool(measure["judged_only"])
        return replace(self.conventions, judged_only=is_set)

    def _of_group(self, measures: list[ir_measures.Measure], run: Content, judgments: Judgments) -> FloatArray:
        """Return the values of measures that want the same positions, but perhaps different sizes of the corpus."""
        rows, rules, judged = [row_of(measure) for measure in measures], self._rules(measures[0]), judgments
        if gains := raised_grades(measures[0]):
            judged = regraded(judgments, gains)
        projected = project_run(run, "the run", judged, rules, needs_judged=any(row.needs_judged for row in rows))
        values = np.empty((len(judgments.queries), len(measures)))
        numbers = [measure.params.get("n") for measure in measures]
        for n in dict.fromkeys(numbers):
            group = [c for c, number in enumerate(numbers) if number == n]
            sizes = None if n is None else np.full(len(judgments.queries), n, np.int64)
            positions = Positions.stack(judged, [projected], rules, sizes)
            values[:, group] = _computed([rows[c] for c in group], [measures[c] for c in group], positions)
        return values


def _computed(rows: list[Measure], measures: list[ir_measures.Measure], positions: Positions) -> FloatArray:
    """Return the values of measures, [Q, M]; queries without relevant documents count as trec_eval counts them."""
    values: FloatArray = QueryValues.of(positions, rows, Policies(no_relevant="zero")).values[0]
    for c, measure in enumerate(measures):
        is_undefined = np.isnan(values[:, c])
        if not hasattr(measure, "row"):
            values[is_undefined, c] = math.nan if is_sparse(measure) else measure.DEFAULT
        elif is_undefined.any():
            why = "they have no relevant document, or one was not retrieved and the corpus size is not known"
            remedy = "" if "n" in measure.params else f"; write it as {measure(n=528155)}, for example"
            count = f"{is_undefined.sum():,} of {len(is_undefined):,} queries"
            warn(f"{measure} has no value on {count}: {why}{remedy}")
    return values


def _preferences(measure: Any, run: Content, judgments: Judgments, rules: Conventions) -> FloatArray:
    """Return the preference for a run over the baseline, [Q]; nan where it comes from a measure without a value."""
    preference = measure.preference
    runs = [
        project_run(content, name, judgments, rules, needs_judged=preference.needs_judged)
        for name, content in (("the run", run), ("the baseline", measure.baseline))
    ]
    positions = Positions.stack(judgments, runs, rules)
    pairs = preference.pairs(positions.at_level(preference.level(1)), with_empty=True)
    has_size = pairs.taking_part if pairs.has_size is None else pairs.has_size
    return np.where(has_size.all(axis=0), pairs.values[0, 1].astype(float), np.nan)


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
        return [*SERVED.values()]

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Tell whether a measure, with its settings, is served."""
        return _is_against(measure) or (bool(super().supports(measure)) and is_read(measure))

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> IrMeasuresEvaluator:
        asked = list(measures)
        if wrong := [measure for measure in asked if not self.supports(measure)]:
            for measure in filter(super().supports, wrong):
                row_of(measure)  # this raises with a better reason, if there is one
            raise unserved(wrong)
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
    others = [other for other in pipeline if other.NAME != NAME]
    pipeline[:] = [provider, *others] if is_first else [*others, provider]


provider = LexirecallProvider()
measures = {row.name: register(row) for row in MEASURES.values() if not (row.needs_providers or row.needs_units)}
"""Our measures as measures of ir_measures, by name; some of these are its own."""

ir_measures.providers.register(provider)
prefer(getattr(ir_measures.DefaultPipeline.providers[0], "NAME", "") == NAME)  # where an earlier import left it

if __name__ == "__main__":
    from ir_measures.__main__ import main_cli

    main_cli()

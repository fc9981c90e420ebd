"""LensKit: our measures as its list metrics, and what it cannot do yet: comparing runs by preference.

Belongs here: metrics for LensKit, and the verbs on its collections. Not here: formulas (measures), tests and orders of
runs (verbs), its item lists (lenskit_input).

A run is an ItemListCollection, and a query is one of its keys. An ordered list is a ranking as it is; a list that is
not ordered is ranked by its scores. Users of the test data to whom a run recommends nothing count as the worst case. An
item listed twice in one list is an error.

>>> from lenskit.data import ItemList, ItemListCollection
>>> from lenskit.metrics import RunAnalysis
>>> outputs = ItemListCollection.from_dict({7: ItemList(["x", "a", "b"], ordered=True)}, "user_id")
>>> test = ItemListCollection.from_dict({7: ItemList(["a", "b", "c"])}, "user_id")
>>> analysis = RunAnalysis(TSE(), RecallAtK(2), LexirecallMetric("LastRel", corpus_size=1000))
>>> analysis.measure(outputs, test).list_metrics().loc[7].to_dict()
{'TSE': 0.0, 'R@2': 0.3333333333333333, 'LastRel': 1000.0}
"""

# if LensKit is not installed, its classes have the type Any:
# mypy: disallow-subclassing-any=False

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from lexirecall import formats
from lexirecall.adapters.lenskit_input import (
    judgments_of,
    key_fields_of,
    lists_of,
    project_list,
    refuse_duplicates,
    table_of,
    text_of,
    type_of_users,
)
from lexirecall.errors import FormatError, UsageError
from lexirecall.fields import takes
from lexirecall.manifest import READING, Policies, check_level
from lexirecall.measures import MEASURES, Measure
from lexirecall.names import parse_measure
from lexirecall.positions import Positions
from lexirecall.verbs.evaluate import QueryValues

try:
    from lenskit import metrics
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import ListMetric
except ModuleNotFoundError as error:
    raise UsageError(f"{error.name} is not installed", remedy="pip install lenskit") from error

__all__ = [
    "TSE",
    "LexiRecallPercentile",
    "LexirecallMetric",
    "RecallAtK",
    "project",
]

Outputs = Mapping[str, ItemListCollection]
"""Runs by name."""
_WITH_PROVIDERS = "use project(..., providers=...) and lexirecall.evaluate"


# Metrics for RunAnalysis and MeasurementCollector


class LexirecallMetric(ListMetric):
    """Any measure of our table as a list metric of LensKit.

    `measure` is a name such as "AP", "nDCG@10" or "RBP(p=0.5)". An item is relevant if its grade is at least `level`.
    The grade is the field `rating` or `gain` of the test list, or the one named by `field`; without such a field every
    item is relevant. Measures that depend on the positions of missing items take `corpus_size`, the number of items. A
    list without relevant items has the value nan, and means leave it out.

    The label of the metric is `label`, or else the canonical name of the measure. If LensKit has a metric of the same
    name, the settings are written out: LensKit's RBP has p = 0.85, and ours is RBP(p=0.8).

    >>> output, test = ItemList(["x", "a", "b"], ordered=True), ItemList(["a", "b"], rating=[5.0, 3.0])
    >>> metric = LexirecallMetric("ap", level=4)
    >>> metric.label, metric.measure_list(output, test)
    ('AP(rel=4)', 0.5)
    >>> LexirecallMetric("RBP").label, LexirecallMetric("RBP", label="patient").label
    ('RBP(p=0.8)', 'patient')
    >>> LexirecallMetric("AP").measure_list(ItemList(["a", "b", "a"], ordered=True), test)
    Traceback (most recent call last):
    lexirecall.errors.DataError: item 'a' is listed twice in one list
      keep one of them
    """

    default: ClassVar[float | None] = None  # LensKit would fill in 0 for users without relevant items
    _latest: ClassVar[tuple[ItemList, ItemList, tuple[str | None, float], Positions] | None] = None

    def __init__(
        self,
        measure: str | Measure,
        *,
        level: float = 1,
        field: str | None = None,
        corpus_size: int | None = None,
        label: str | None = None,
    ) -> None:
        row = parse_measure(measure)
        check_level(level)
        if row.needs_providers:
            raise UsageError(f"{row} needs a map of items to providers", remedy=_WITH_PROVIDERS)
        if row.needs_size and corpus_size is None:
            raise UsageError(f"{row} needs the number of items", remedy="give corpus_size=")
        if corpus_size is not None and not (corpus_size >= 1 and float(corpus_size).is_integer()):
            raise UsageError(f"corpus_size is {corpus_size}, but must be a whole number, 1 or more")
        if label is not None and not (isinstance(label, str) and label):
            raise UsageError(f"label is {label!r}, but must be text", remedy='name the metric: label="our RBP"')
        has_own_level = row.uses_grades or row.settings.get("rel", "level") != "level"
        self.measure: Measure = row if has_own_level or level == 1 else row(rel=level)
        self.field = field
        self.corpus_size = corpus_size
        self._label = label

    @property
    def label(self) -> str:
        """The name of the metric in LensKit's results."""
        return _label(self.measure) if self._label is None else self._label

    def measure_list(self, output: ItemList, test: ItemList, /) -> float:
        """Return the value of one list, or nan if nothing in the test list is relevant."""
        if not len(test):
            return float("nan")
        found = self._projected(output, test, self.field, max(self.measure.level(1), 1.0))
        if self.corpus_size is not None:
            sizes = np.array([self.corpus_size])
            found.check_corpus_size(sizes)
            found = replace(found, corpus_size=sizes)
        values = QueryValues.of(found, [self.measure], Policies()).values
        return float(values[0, 0, 0])

    @staticmethod
    def _projected(output: ItemList, test: ItemList, field: str | None, level: float) -> Positions:
        """Return the positions of one list; LensKit gives the same two lists to one metric after the other."""
        latest, settings = LexirecallMetric._latest, (field, level)
        if latest and latest[0] is output and latest[1] is test and latest[2] == settings:
            return latest[3]
        found = project_list(output, test, level, field)
        LexirecallMetric._latest = (output, test, settings, found)
        return found

    def summarize(self, values: Any, /) -> dict[str, float | None]:
        """Return mean, median and deviation over the lists that have a value; LensKit 2026 does this itself."""
        listed = values.to_pylist() if hasattr(values, "to_pylist") else values
        kept = [value for value in listed if value is not None and not np.isnan(value)]
        summary: dict[str, float | None] = super().summarize(kept)
        return summary


class TSE(LexirecallMetric):
    """Total search efficiency: e(p_m), the exposure of the last relevant item, so the utility of the worst-off user.

    `e` chooses the exposure: ap (1/i), dcg, rbp or linear. Items that are not among the first `n` have exposure 0. So
    do items that are missing from the list, unless `corpus_size` says where the bottom is.

    >>> output, test = ItemList(["x", "a", "y", "b"], ordered=True), ItemList(["a", "b"])
    >>> TSE().measure_list(output, test), TSE(3).measure_list(output, test), TSE(3).label
    (0.25, 0.0, 'TSE@3')

    Reference: DiazEM25.
    """

    def __init__(
        self,
        n: int | None = None,
        *,
        e: str = "ap",
        level: float = 1,
        field: str | None = None,
        corpus_size: int | None = None,
        label: str | None = None,
    ) -> None:
        row = MEASURES["TSE"](e=e) if n is None else MEASURES["TSE"](e=e) @ n
        super().__init__(row, level=level, field=field, corpus_size=corpus_size, label=label)


class LexiRecallPercentile(LexirecallMetric):
    """Metric lexirecall, exactly: the share of the other possible placements of the relevant items that are worse.

    It is 1 - rank/(C(n, m) - 1), where rank is the place of the list, in the order of LexiRecall, among all C(n, m)
    ways to place m relevant items among n. 1 is the best, 0 the worst.

    >>> metric = LexiRecallPercentile(4)  # 2 of 4 items: (1,2) (1,3) (2,3) (1,4) (2,4) (3,4)
    >>> metric.measure_list(ItemList(["x", "a", "b"], ordered=True), ItemList(["a", "b"]))
    0.6

    Reference: DiazEM25.
    """

    def __init__(
        self, corpus_size: int, *, level: float = 1, field: str | None = None, label: str | None = None
    ) -> None:
        row = MEASURES["LexiRecallPercentile"]
        super().__init__(row, level=level, field=field, corpus_size=corpus_size, label=label)


class RecallAtK(LexirecallMetric):
    """R@k: the share of all relevant items that are among the first n.

    It is hits/m for any n, whereas LensKit's Recall is hits/min(n, m).

    >>> output, test = ItemList(["a", "x", "b"], ordered=True), ItemList(["a", "b", "c", "d"])
    >>> RecallAtK(2).label, RecallAtK(2).measure_list(output, test)
    ('R@2', 0.25)
    """

    def __init__(self, n: int, *, level: float = 1, field: str | None = None, label: str | None = None) -> None:
        super().__init__(MEASURES["R"] @ n, level=level, field=field, label=label)


def _label(row: Measure) -> str:
    """Return the canonical name of a measure, with every setting written out if LensKit has a metric of its name."""
    if not hasattr(metrics, row.name):
        return str(row)
    defaults = {name: parameter.default for name, parameter in row.parameters.items()}
    return str(replace(row, settings={**defaults, **row.settings}))


# Runs


@takes(*READING)
def project(
    outputs: Outputs,
    test: ItemListCollection,
    /,
    *,
    level: float = 1,
    field: str | None = None,
    needs_judged: bool = False,
    **options: Any,
) -> Positions:
    """Find the positions of the test items in every list, for `evaluate`, `compare`, `rank` and the other verbs.

    `outputs` are the runs by name. Keys are matched as text, by the fields of the test data's keys; several fields are
    joined by `|`. `needs_judged` also keeps items that are judged but not relevant. `level` matters only if there are
    no grades: then all items have this grade, or 1 if that is more. `options` are those of `lexirecall.project`.

    >>> test = ItemListCollection.from_dict({7: ItemList(["a", "b"])}, "user_id")
    >>> run = ItemListCollection.from_dict({7: ItemList(["b", "x", "a"], scores=[0.1, 0.9, 0.5])}, "user_id")
    >>> positions = project({"run": run}, test)
    >>> positions.at_level(1).vector(0, 0).tolist()
    [2.0, 3.0]
    >>> from lexirecall import evaluate
    >>> evaluate(positions, measures=["RR"]).to_dict()
    {'run': {'RR': 0.5}}
    """
    if not isinstance(outputs, Mapping) or not outputs:
        raise UsageError("outputs must be runs by name: {name: ItemListCollection}")
    check_level(level)
    key_fields = key_fields_of(test, "the test data")
    judgments = judgments_of(lists_of(test, key_fields, "the test data"), level, field)
    judgments = replace(judgments, query_type=type_of_users(test))
    runs = {name: table_of(lists, name, key_fields) for name, lists in outputs.items()}
    if isinstance(sizes := options.get("corpus_size"), Mapping):
        options["corpus_size"] = {text_of(key): size for key, size in sizes.items()}
    tables = {name: run.table for name, run in runs.items()}
    try:
        found = formats.project(judgments, tables, needs_judged=needs_judged, **options)
    except FormatError:
        for name, lists in outputs.items():
            refuse_duplicates(lists, name, key_fields)
        raise
    return replace(
        found,  # a table has no rows for users who get an empty list
        answered=np.array([[query in run.queries for query in found.queries] for run in runs.values()]),
        num_unjudged=tuple(len(run.queries.difference(found.queries)) for run in runs.values()),
        frame_library="pandas",
    )

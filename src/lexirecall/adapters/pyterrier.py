"""PyTerrier: measures and significance tests for pt.Experiment, and what it cannot do: comparing by preference.

Belongs here: what PyTerrier takes and gives. Not here: the measures (ir_measures), tests (statistics), the comparison
itself (verbs). PyTerrier is never imported, so nothing here needs Java or starts it.

Importing this module makes our measures known to ir_measures, and so to pt.Experiment. They are in `pt.measures` too,
whichever of the two you import first, and in this module by their names.

>>> from lexirecall.adapters.pyterrier import TSE, LastRel
>>> TSE @ 1000, LastRel(n=528155)
(TSE@1000, LastRel(n=528155))
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np

from lexirecall.adapters import ir_measures as adapter
from lexirecall.adapters.ir_measures import LexiRecallAgainst, row_of
from lexirecall.aggregation import Aggregation
from lexirecall.errors import DataError, UsageError
from lexirecall.fields import takes
from lexirecall.formats.frames import Frame, is_frame
from lexirecall.formats.naming import check_names
from lexirecall.judgments import FloatArray
from lexirecall.manifest import READING, Policies
from lexirecall.measures.measure import is_equal
from lexirecall.names import Evaluable
from lexirecall.statistics import paired
from lexirecall.statistics.differences import Differences
from lexirecall.verbs.compare import compare as compare_runs
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.testing import Testing

__all__ = ["LexiRecallAgainst", "compare", "randomization", "sign_test"]

Values = Sequence[float] | FloatArray
PairedTest = Callable[[Values, Values], tuple[float, float]]
Retriever = Any
"""A transformer, or the data frame of its results."""


def __getattr__(name: str) -> ir_measures.Measure:
    if name in adapter.measures:
        return adapter.measures[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Tests for pt.Experiment(..., test=...)


def randomization(*, seed: int = 0, num_resamples: int = 10_000) -> PairedTest:
    """Return a randomization test for `pt.Experiment(..., test=...)`: from two arrays to mean difference and p.

    It flips the signs of the differences: in all patterns if there are few queries, otherwise in `num_resamples`
    patterns drawn from the seed. The same data have the same p, and p is never 0. Queries on which either value is nan
    are left out.

    >>> randomization()([0.5, 0.7, 0.4, 0.9], [0.4, 0.4, 0.2, 0.9])[1]
    0.25
    """

    def test(values: Values, baseline: Values) -> tuple[float, float]:
        differences = _differences(values, baseline)
        tested = paired.randomization(differences, seed=seed, num_resamples=num_resamples)
        return float(differences.means[0]), float(tested.pvalues[0])

    return test


def sign_test(values: Values, baseline: Values, *, ties: str = "drop") -> tuple[float, float]:
    """Test whether wins are as likely as losses, for `pt.Experiment(..., test=sign_test)`.

    The result is (wins - losses)/queries, and p of the exact binomial test. Use it for measures whose values are signs,
    such as LexiRecallAgainst. Ties are left out; `functools.partial(sign_test, ties="split")` splits them. Queries on
    which either value is nan are left out.

    >>> sign_test([1, 1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0])
    (0.75, 0.03125)
    """
    differences = _differences(values, baseline)
    tested = paired.sign_test(differences, ties=ties)
    with np.errstate(invalid="ignore"):
        balance = (differences.wins - differences.losses) / differences.num_queries
    return float(balance[0]), float(tested.pvalues[0])


def _differences(values: Values, baseline: Values) -> Differences:
    """Return the differences of one pair of runs; values that differ by rounding only are equal."""
    x, y = np.asarray(values, float), np.asarray(baseline, float)
    if x.shape != y.shape or x.ndim != 1:
        raise UsageError(f"a paired test needs two lists of the same length, but these are {x.shape} and {y.shape}")
    counted = ~(np.isnan(x) | np.isnan(y))
    differences = np.where(counted & ~is_equal(x, y), x - y, 0.0)
    return Differences(np.array([0]), np.array([1]), differences[None], counted[None])


# Comparing


@takes(Testing, Aggregation, Policies, *READING)
def compare(
    runs: Sequence[Retriever] | Mapping[str, Retriever],
    topics: Any,
    qrels: Frame,
    measures: Iterable[str | Evaluable | ir_measures.Measure] | None = None,
    *,
    names: Sequence[str] | None = None,
    baseline: int | str | Sequence[int | str] | None = None,
    filter_by_topics: bool = True,
    **options: Any,
) -> Comparison:
    """Compare each pair of runs, or each with one or more baselines, by preferences and measures, with tests.

    `runs`, `topics`, `qrels`, `names`, `baseline` and `filter_by_topics` are those of pt.Experiment. `runs` is a
    list, or a dict by name, of transformers and data frames of results. If all are frames, `topics` may be None; then
    all judged queries count. `baseline` is a place or a name, or a list of these: then each run is compared with each
    of them, and p is corrected over all these pairs. `measures` are names of ours, such as LexiRecall, or measures of
    ir_measures. `options` are those of `lexirecall.compare`: test, correction, alpha, corpus_size and so on.

    >>> import pandas as pd
    >>> qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": [1, 1]})
    >>> early = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "score": [1.0, 1.0], "rank": [0, 0]})
    >>> late = pd.concat([early, pd.DataFrame({"qid": ["1"], "docno": ["x"], "score": [2.0], "rank": [0]})])
    >>> comparison = compare({"early": early, "late": late}, None, qrels, ["LexiRecall", "RR"])
    >>> [(row["measure"], row["mean"], row["wins"], row["ties"]) for row in comparison.rows()]
    [('LexiRecall', 0.5, 1, 1), ('RR', 0.25, 1, 1)]
    """
    named = _named(runs, names)
    chosen = _baselines(baseline, list(named))
    judged = _of_topics(qrels, topics) if filter_by_topics and topics is not None else qrels
    results = {name: _results(run, name, topics) for name, run in named.items()}
    rows = None if measures is None else [_row(measure) for measure in measures]
    return compare_runs(judged, results, rows, baseline=chosen, **options)


def _named(runs: Sequence[Retriever] | Mapping[str, Retriever], names: Sequence[str] | None) -> dict[str, Retriever]:
    """Return the runs by name: the given one, or the text of a transformer, or the place of a data frame."""
    if isinstance(runs, Mapping):
        return {str(name): run for name, run in runs.items()}
    if names is None:
        names = [f"run{place}" if is_frame(run) else str(run) for place, run in enumerate(runs, 1)]
    if len(names) != len(runs):
        raise UsageError(f"there are {len(runs)} transformers or data frames, but {len(names)} names")
    check_names((name, f"number {place}") for place, name in enumerate(names, 1))
    return dict(zip(names, runs, strict=True))


def _baselines(baseline: int | str | Sequence[int | str] | None, names: Sequence[str]) -> list[str]:
    """Return the names of the baselines, each given by its place or its name."""
    asked = [] if baseline is None else [baseline] if isinstance(baseline, (int, str)) else baseline
    return [_name_at(choice, names) if isinstance(choice, int) else choice for choice in asked]


def _name_at(place: int, names: Sequence[str]) -> str:
    if not 0 <= place < len(names):
        raise UsageError(f"baseline is {place}, but must be from 0 to {len(names) - 1}, or a name")
    return names[place]


def _of_topics(qrels: Any, topics: Any) -> Any:
    """Leave out the judgments of queries that are not among the topics, as pt.Experiment does."""
    if not all(is_frame(frame) and "qid" in frame.columns for frame in (qrels, topics)):
        raise UsageError(
            "topics and qrels are not data frames with a column 'qid'",
            remedy="give them as PyTerrier does, or set topics=None and give frames of results",
        )
    judged = qrels[qrels["qid"].astype(str).isin(set(topics["qid"].astype(str)))]
    if not len(judged):
        raise DataError("no query is both among the topics and judged", remedy="are the ids written the same way?")
    return judged


def _results(run: Retriever, name: str, topics: Any) -> Frame:
    """Return the results of a run: itself, if it is a data frame already."""
    if is_frame(run):
        return run
    if not hasattr(run, "transform"):
        raise UsageError(f"{name!r} is a {type(run).__name__}, but must be a transformer or a data frame of results")
    if topics is None:
        raise UsageError(f"{name!r} is a transformer, which needs topics")
    results: Frame = run.transform(topics)
    return results


def _row(measure: str | Evaluable | ir_measures.Measure) -> str | Evaluable:
    """Return a measure of ir_measures as ours; refuse settings that hold for all measures here."""
    if not isinstance(measure, ir_measures.Measure):
        return measure
    if isinstance(measure, LexiRecallAgainst):
        raise UsageError(f"{measure}: each pair of runs is compared anyway", remedy=f"write '{measure.preference}'")
    if set_here := {"n", "judged_only"} & measure.params.keys():
        remedy = "give corpus_size= or judged_only= for all measures"
        raise UsageError(f"{measure} sets {', '.join(sorted(set_here))} for one measure only", remedy=remedy)
    return row_of(measure)


def _join_pyterrier() -> None:
    """Add our measures to `pt.measures` if PyTerrier has already copied the registry; if not, it will find them."""
    if (module := sys.modules.get("pyterrier.measures")) is not None:
        for name, measure in adapter.measures.items():
            if not hasattr(module, name):
                setattr(module, name, measure)


_join_pyterrier()

"""ranx's interface: `Qrels` and `Run` objects in and out, and `evaluate` and `compare` as it has them.

Belongs here: what takes and gives ranx's objects and reports. Not here: its metrics (ranx_metrics), its arrays
(ranx_input), measures, tests.

Judgments and runs are matched by query id, and nothing that you pass in is changed.

>>> qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": {"b": 1.0}, "q1": {"x": 2.0, "a": 1.0}}
>>> evaluate(qrels, run, "mrr")
0.75
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.adapters.ranx_input import are_arrays, from_arrays
from lexirecall.adapters.ranx_metrics import read_metric
from lexirecall.errors import DataError, UsageError, choice, counted, listed
from lexirecall.fields import choices_of, takes
from lexirecall.formats import load_judgments
from lexirecall.formats.memory import RUN_SHAPE, rankings_from_mapping
from lexirecall.formats.naming import check_names
from lexirecall.manifest import READING, Note, Policies
from lexirecall.measures import Measure
from lexirecall.names import Evaluable
from lexirecall.text import to_text
from lexirecall.verbs.compare import compare as compare_runs
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.conversion import columns_of, to_pandas
from lexirecall.verbs.evaluate import evaluate as evaluate_runs
from lexirecall.verbs.testing import Testing

__all__ = ["RanxReport", "compare", "evaluate", "from_ranx", "to_ranx_qrels", "to_ranx_run"]

TESTS = {"student": "t", "fisher": "randomization", "tukey": "hsd"}
"""ranx's tests, and their names here."""
_OURS = choices_of(Testing, "test")
_AS_RANX = {"no_relevant": "zero"}
_ONLY_IN = {"unanswered": "judgments", "without judgments": "runs"}
"""Notes on queries that are not in both."""
_LABELS = {
    "student": "paired Student's t-test",
    "fisher": "Fisher's randomization test",
    "tukey": "Tukey's HSD test",
}


def from_ranx(given: Any) -> Any:
    """Turn a Qrels or Run of ranx into {query: {document: number}}; return anything else as it is.

    >>> from_ranx({"q": {"a": 1}})
    {'q': {'a': 1}}
    """
    if type(given).__module__.partition(".")[0] != "ranx":
        return given
    return {
        str(query): {str(document): value for document, value in values.items()}
        for query, values in given.to_dict().items()
    }


def to_ranx_qrels(qrels: Any, name: str | None = None) -> Any:
    """Make a Qrels of ranx from judgments in any form that lexirecall reads: a file, a dict, a frame.

    ranx silently cuts a grade of 1.9 down to 1. So here a fractional grade is an error.

    >>> to_ranx_qrels("qrels.txt.gz")  # doctest: +SKIP
    """
    judgments = load_judgments(from_ranx(qrels))
    if (fractions := judgments.grades % 1 != 0).any():
        problem = f"{judgments.name}: the grade {judgments.grades[fractions][0]} is a fraction, which ranx cuts off"
        raise DataError(problem, remedy="multiply the grades, or round them yourself")
    grades = {
        query: {to_text(document): int(judgments.grades[i]) for document, i in judgments.lookup(q).items()}
        for q, query in enumerate(judgments.queries)
    }
    return _ranx().Qrels(_not_empty(grades, "judgments"), name=name)


def to_ranx_run(run: Any, name: str | None = None) -> Any:
    """Make a Run of ranx from {query: {document: score}}, or from ranked lists, which get the scores n, n - 1, … 1.

    ranx orders equal scores in its own way, which is not one of lexirecall's tie rules.

    >>> to_ranx_run({"q": ["a", "b"]}, name="bm25")  # doctest: +SKIP
    """
    run = from_ranx(run)
    if not isinstance(run, Mapping):
        remedy = f"{RUN_SHAPE}; ranx.Run.from_file and ranx.Run.from_df read files and frames"
        raise UsageError(f"the run is a {type(run).__name__}, but must be a mapping", remedy=remedy)
    scores = {}
    for ranking in rankings_from_mapping(run, name or "run"):
        numbers = range(len(ranking.documents), 0, -1) if ranking.scores is None else ranking.scores
        scores[to_text(ranking.query)] = {
            to_text(document): float(score) for document, score in zip(ranking.documents, numbers, strict=True)
        }
    return _ranx().Run(_not_empty(scores, "run"), name=name)


@takes(Policies, *READING)
def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Sequence[str],
    *,
    return_mean: bool = True,
    return_std: bool = False,
    save_results_in_run: bool = False,
    make_comparable: bool = True,
    threads: int = 0,  # noqa: ARG001 - there is nothing to set
    **options: Any,
) -> Any:
    """Evaluate a run as ranx's function of this name does: a number for one metric, {metric: number} for several.

    With `return_mean=False`, the result is the values of the queries in the order of the judgments; with `return_std`,
    it is {"mean", "std"}. Queries that the run does not answer count as if nothing was retrieved. With
    `make_comparable=False` they are an error, and so are queries without judgments. Queries without relevant documents
    count as 0, as in ranx; `no_relevant="skip"` leaves them out. Both may be arrays of pairs, `[[[id, number], …], …]`,
    or lists of such arrays, as in ranx: then queries are matched by place, and a run is in the order given.

    >>> evaluate({"q": {"a": 2, "b": 1}}, {"q": {"b": 0.9, "a": 0.1}}, ["map", "mrr-l2", "rbp.50", "TSE"])
    {'map': 1.0, 'mrr-l2': 0.5, 'rbp.50': 0.75, 'TSE': 0.5}
    """
    names = _names(metrics)
    rows = [read_metric(name) for name in names]
    if preferences := [name for name, row in zip(names, rows, strict=True) if not isinstance(row, Measure)]:
        problem = f"a preference compares runs, so a single run has no value: {listed(preferences)}"
        raise UsageError(problem, remedy="use compare")
    is_by_place = are_arrays(qrels) or are_arrays(run)
    judged, ranked = from_arrays(qrels, run) if is_by_place else (from_ranx(qrels), from_ranx(run))
    if not make_comparable:
        _check_comparable(judged, ranked)
    scores = evaluate_runs(judged, {"run": ranked}, rows, **{**_AS_RANX, **options})
    if not make_comparable:
        _check_counts(scores.notes)
    columns = {name: scores.values[0, :, scores.measures.index(row)] for name, row in zip(names, rows, strict=True)}
    if save_results_in_run:
        for name, column in columns.items():
            run.mean_scores[name] = _mean(column)
            run.scores[name] = dict(zip(scores.queries, column.tolist(), strict=True))
    results = {name: _result(column, return_mean, return_std) for name, column in columns.items()}
    return results if len(names) > 1 else results[names[0]]


@takes(Policies, *READING)
def compare(
    qrels: Any,
    runs: Iterable[Any] | Mapping[str, Any],
    metrics: str | Sequence[str],
    *,
    stat_test: str = "student",
    max_p: float = 0.01,
    n_permutations: int = 10_000,
    random_seed: int = 42,
    make_comparable: bool = True,
    threads: int = 0,  # noqa: ARG001 - there is nothing to set
    correction: str = "none",
    **options: Any,
) -> "RanxReport":
    """Compare runs as ranx's function of this name does; metrics may also be preferences such as LexiRecall.

    `stat_test` is student (the paired t test), fisher (sign-flip randomization), tukey (HSD with the effect of queries
    removed), or a test of `lexirecall.compare`, such as auto, which counts wins where that suits better. `correction`
    corrects for many pairs: none (which is what ranx does), holm, bonferroni or bh. Runs go by their `name`, or else
    run_1, run_2, …

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(8)}
    >>> runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in {"new": ["a", "b"], "old": ["x", "a"]}.items()}
    >>> print(compare(qrels, runs, ["map", "LexiRecall"]))
    run        AP    LexiRecall (win rate)
    a new  1.0000 b                 1.0000 b
    b old  0.2500                   0.0000
    <BLANKLINE>
    raised letters: runs that are significantly worse (paired t; alpha 0.01, each measure by itself)
    """
    names = _names(metrics)
    rows = [read_metric(name) for name in names]
    choice("stat_test", stat_test, (*TESTS, *_OURS))
    judged, named = from_ranx(qrels), _named(runs)
    if not make_comparable:
        for run in named.values():
            _check_comparable(judged, run)
    comparison = compare_runs(
        judged,
        named,
        rows,
        test=TESTS.get(stat_test, stat_test),
        correction=correction,
        alpha=max_p,
        seed=random_seed,
        num_resamples=n_permutations,
        **{**_AS_RANX, **options},
    )
    if not make_comparable:
        _check_counts(comparison.notes)
    return RanxReport(comparison, dict(zip(names, rows, strict=True)), stat_test, max_p)


@dataclass(frozen=True, eq=False)
class RanxReport:
    """A comparison with the methods of ranx's reports; `comparison` also has intervals, effects and notes."""

    comparison: Comparison
    rows: dict[str, Evaluable]
    """The measure of each metric, as it was asked for."""
    stat_test: str
    max_p: float

    @property
    def metrics(self) -> list[str]:
        """The metrics as they were asked for."""
        return list(self.rows)

    @property
    def model_names(self) -> list[str]:
        """The names of the runs, in the order given."""
        return list(self.comparison.runs)

    @property
    def results(self) -> dict[str, dict[str, float | None]]:
        """{run: {metric: mean}}; None where no query has a value."""
        means = self.comparison.averages.means
        columns = {name: means[:, self._index(name)].tolist() for name in self.rows}
        return {
            model: {name: None if np.isnan(column[s]) else column[s] for name, column in columns.items()}
            for s, model in enumerate(self.model_names)
        }

    def _index(self, metric: str) -> int:
        return self.comparison.averages.measures.index(self.rows[metric])

    def to_dict(self) -> dict[str, Any]:
        """Return scores, p-values and wins, ties and losses, {"stat_test", "metrics", "model_names", run: {…}, …}."""
        models: dict[str, dict[str, Any]] = {
            model: {"scores": scores, "comparisons": {}, "win_tie_loss": {}} for model, scores in self.results.items()
        }
        for metric in self.rows:
            compared = self.comparison.measures[self._index(metric)]
            lists = (compared.a, compared.b, compared.corrected, compared.wins, compared.ties, compared.losses)
            for a, b, p, wins, ties, losses in zip(*(column.tolist() for column in lists), strict=True):
                for first, second, won, lost in ((a, b, wins, losses), (b, a, losses, wins)):
                    mine, other = models[self.model_names[first]], self.model_names[second]
                    mine["comparisons"].setdefault(other, {})[metric] = p if np.isfinite(p) else None
                    mine["win_tie_loss"].setdefault(other, {})[metric] = {"W": won, "T": ties, "L": lost}
        return {"stat_test": self.stat_test, "metrics": self.metrics, "model_names": self.model_names, **models}

    def get_stat_test_label(self, stat_test: str) -> str:
        """Return what ranx calls a test in its captions; a test that it does not have goes by our name."""
        choice("stat_test", stat_test, (*TESTS, *_OURS))
        return _LABELS.get(stat_test, stat_test)

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with the column model_names and one of means for each metric."""
        rows = ({"model_names": model, **scores} for model, scores in self.results.items())
        return to_pandas(columns_of(rows, ("model_names", *self.rows)))

    def to_latex(self) -> str:
        """Return the table as LaTeX; a comment at its end has ranx's label of the test that was asked for."""
        return f"{self.comparison.render('latex')}\n% stat_test: {self.get_stat_test_label(self.stat_test)}"

    def save(self, path: str | Path) -> None:
        """Write `to_dict` to a JSON file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=4) + "\n", encoding="utf-8")

    def __str__(self) -> str:
        return str(self.comparison)

    def _repr_html_(self) -> str:
        return self.comparison._repr_html_()


def _names(metrics: str | Sequence[str]) -> list[str]:
    if not metrics:
        raise UsageError("no metric is given", remedy='name one, such as "map" or "TSE"')
    return [metrics] if isinstance(metrics, str) else list(metrics)


def _named(runs: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(runs, Mapping):
        return {name: from_ranx(run) for name, run in runs.items()}
    run_list = list(runs)
    names = [getattr(run, "name", None) or f"run_{number}" for number, run in enumerate(run_list, 1)]
    check_names((name, f"number {number}") for number, name in enumerate(names, 1))
    return {name: from_ranx(run) for name, run in zip(names, run_list, strict=True)}


def _check_comparable(qrels: Any, run: Any) -> None:
    """Raise with the names of queries that only one has, if both are in memory; `_check_counts` looks at the others."""
    if isinstance(qrels, Mapping) and isinstance(run, Mapping) and qrels.keys() != run.keys():
        different = sorted(map(str, qrels.keys() ^ run.keys()))
        raise _not_comparable(f"only one of them has {listed(different)}")


def _check_counts(notes: Iterable[Note]) -> None:
    counts = {note.kind: counted(note.count, "query") for note in notes}
    only = [f"{counts[kind]} only in the {where}" for kind, where in _ONLY_IN.items() if kind in counts]
    if only:
        raise _not_comparable(" and ".join(only))


def _not_comparable(why: str) -> DataError:
    problem = f"judgments and run do not have the same queries: {why}"
    return DataError(problem, remedy="make_comparable=True counts a missing query as if nothing was retrieved")


def _result(column: Any, return_mean: bool, return_std: bool) -> Any:
    if not return_mean:
        return column.copy()
    return {"mean": _mean(column), "std": float(np.nanstd(column))} if return_std else _mean(column)


def _mean(column: Any) -> float:
    defined = column[~np.isnan(column)].tolist()
    return fsum(defined) / len(defined) if defined else float("nan")


def _not_empty(values: dict[str, dict[str, Any]], what: str) -> dict[str, dict[str, Any]]:
    if not any(values.values()):
        raise DataError(f"there is no document in the {what}, and ranx has no object for that")
    return values


def _ranx() -> Any:
    try:
        return import_module("ranx")
    except ModuleNotFoundError:
        raise UsageError("ranx is not installed", remedy="pip install ranx") from None

"""Compare: every pair of runs under every measure, with tests, intervals and corrections.

Belongs here: the verb. Not here: its result (comparison), the tests themselves (statistics), layout (tables).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, listed
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.formats.source import Source
from lexirecall.judgments import FloatArray
from lexirecall.manifest import READING, Note, Policies
from lexirecall.measures import Measure
from lexirecall.measures.measure import ask
from lexirecall.names import Evaluable, Names, parse_preference
from lexirecall.positions import Positions
from lexirecall.preferences import Pairs
from lexirecall.statistics.aggregate import Order, order_systems
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.differences import Differences, Summarized
from lexirecall.statistics.hsd import HSD, SIMULTANEOUS
from lexirecall.statistics.paired import TESTS, PairedTests, default_test, effect_sizes
from lexirecall.statistics.power import requests_needed
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.bootstrapped import check_bootstrap
from lexirecall.verbs.comparison import Comparison, MeasureComparison
from lexirecall.verbs.evaluate import evaluate, with_intervals
from lexirecall.verbs.given import asked_of, num_given, positions_of
from lexirecall.verbs.rank import compared_pairs
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.testing import Testing

Tested = tuple[Summarized, PairedTests | HSD]
"""The pairs of systems under one measure, and their test."""


@takes(Testing, Policies, *READING)
def compare(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    measures: Names | None = None,
    *,
    baseline: str | None = None,
    **options: Any,
) -> Comparison:
    """Compare each pair of runs, or each run with a baseline.

    `test` is auto (the sign test for LexiRecall and LexiPrecision, the paired t test for what has a size), t,
    wilcoxon, sign, randomization, hsd or randomized-hsd; `correction` is holm, bonferroni, bh or none, over all pairs
    of one measure, or over the pairs with the baseline. The other arguments are those of `evaluate`.

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> good, bad = {q: ["a", "b", "x"] for q in qrels}, {q: ["x", "a", "b"] for q in qrels}
    >>> comparison = compare(qrels, {"good": good, "bad": bad}, ["LexiRecall"])
    >>> next(comparison.rows())["p"]  # six wins of six: 2 / 2^6
    0.03125
    """
    testing, policies = taken(Testing, options), taken(Policies, options)
    check_bootstrap(testing, testing.alpha)
    rows = asked_of(qrels, measures, options)
    check_number(num_given(qrels, runs, options))
    positions = positions_of(qrels, runs, rows, options)
    check_number(len(positions.systems))
    reference = index_of(baseline, positions.systems)
    show_progress = options.get("show_progress", False)
    scores = evaluate(positions, measures=None if measures is None else rows, **asdict(policies))
    scores = with_intervals(scores, testing, alpha=testing.alpha, show_progress=show_progress)
    return compare_scores(positions, scores, testing, policies, reference=reference, show_progress=show_progress)


def compare_scores(
    positions: Positions,
    scores: Scores,
    testing: Testing,
    policies: Policies,
    *,
    reference: int | None = None,
    show_progress: bool | None = False,
) -> Comparison:
    """Compare runs that have been evaluated, or all of them with the one that is the reference."""
    pairs = [compared_pairs(positions, parse_preference(row), policies) for row in scores.measures]
    tested: Iterable[Tested]
    if testing.is_simultaneous:
        results = _simultaneous(scores, pairs, testing, show_progress=show_progress)
        tested = ((Differences.of(each), result) for each, result in zip(pairs, results, strict=True))
    else:
        tested = ((differences, run_test(testing, differences)) for differences in map(Differences.of, pairs))
    order = order_systems(pairs[0], "winrate")
    return conclude(scores.averages, tested, order, testing, reference=reference, scores=scores)


def conclude(
    averages: Averages,
    tested: Iterable[Tested],
    order: Order,
    testing: Testing,
    *,
    reference: int | None = None,
    scores: Scores | None = None,
) -> Comparison:
    """Put means and the tests of each measure together, however their differences were added up."""
    compared = tuple(
        _compared(row, differences, result, testing, reference)
        for row, (differences, result) in zip(averages.measures, tested, strict=True)
    )
    notes = (*averages.notes, *_notes(compared))
    return Comparison(averages, compared, order, reference, testing.alpha, notes, scores)


def check_number(num_runs: int | None) -> None:
    """Raise if it is known that there is one run only."""
    if num_runs is not None and num_runs < 2:
        raise UsageError("there is only one run, and nothing to compare it with", remedy="give two or more runs")


def index_of(baseline: str | None, systems: Sequence[str]) -> int | None:
    """Return which run is the baseline, named as in the results or as on the command line; None if there is none."""
    if baseline is None:
        return None
    names = [name for name in (baseline, Source(baseline).run_name) if name in systems]
    if not names:
        raise UsageError(f"no run is called {baseline!r}", remedy=f"the baseline is one of {listed(systems, 9)}")
    return systems.index(names[0])


def run_test(testing: Testing, differences: Summarized) -> PairedTests:
    """Test each pair by itself, by the test that is asked for or the one that suits the differences."""
    name = default_test(differences) if testing.test == "auto" else testing.test
    result: PairedTests = ask(TESTS[name], differences, {**asdict(testing), "ties": testing.test_ties})
    return result


def _simultaneous(scores: Scores, pairs: Sequence[Pairs], testing: Testing, *, show_progress: bool | None) -> list[HSD]:
    responses = [
        _responses(row, each, scores.values[:, :, c])
        for c, (row, each) in enumerate(zip(scores.measures, pairs, strict=True))
    ]
    available = {**asdict(testing), "names": scores.runs, "show_progress": show_progress}
    results: list[HSD] = ask(SIMULTANEOUS[testing.test], responses, available)
    return results


def _responses(row: Evaluable, pairs: Pairs, values: FloatArray) -> FloatArray:
    """Return what the layout of systems and requests holds, [S, Q], more being better.

    Of a measure its value; of a preference the mean preference against the other systems.
    """
    if isinstance(row, Measure):
        return row.direction * values
    num_others = pairs.taking_part.sum(axis=0) - 1
    mean = pairs.values.sum(axis=1, dtype=float) / np.maximum(num_others, 1)
    return np.where(pairs.taking_part & (num_others > 0), mean, np.nan)


def _compared(
    row: Evaluable, differences: Summarized, result: PairedTests | HSD, testing: Testing, reference: int | None
) -> MeasureComparison:
    is_asked = np.ones(len(differences.a), bool)
    if reference is not None:
        is_asked = (differences.a == reference) | (differences.b == reference)
    corrected = np.full(len(is_asked), np.nan)
    correction = "none" if testing.is_simultaneous else testing.correction
    corrected[is_asked] = correct(result.pvalues[is_asked], correction)
    needed = requests_needed(differences, alpha=testing.alpha)
    columns = {
        "a": differences.a,
        "b": differences.b,
        "means": differences.means,
        "wins": differences.wins,
        "ties": differences.ties,
        "losses": differences.losses,
        "num_queries": differences.num_requests,
        "effects": effect_sizes(differences),
        "lows": result.lows,
        "highs": result.highs,
        "pvalues": result.pvalues,
        "corrected": corrected,
        "needed": needed,
        "responses": _tested_differences(differences, result),
    }
    return MeasureComparison(
        row,
        **{name: column[is_asked] for name, column in columns.items()},
        method=result.method,
        correction=correction,
        num_left_out=result.num_left_out if isinstance(result, HSD) else 0,
    )


def _tested_differences(differences: Summarized, result: PairedTests | HSD) -> FloatArray:
    """Return what p and the interval are about: difference of responses, balance of wins and losses, or mean."""
    if isinstance(result, HSD):
        return result.differences
    if result.method.startswith("sign test"):
        with np.errstate(invalid="ignore"):
            return np.asarray((differences.wins - differences.losses) / differences.num_requests)
    return differences.means


def _notes(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    undefined = {str(each.measure): int(np.isnan(each.pvalues).sum()) for each in compared}
    if total := sum(undefined.values()):
        which = listed((f"{name} {count:,}" for name, count in undefined.items() if count), 9)
        text = f"pairs without a p-value because they have too few common queries ({which}): left out of the correction"
        yield Note("pairs without p", text, total)
    left_out = {str(each.measure): each.num_left_out for each in compared if each.num_left_out}
    if left_out:
        which = listed((f"{name} {count:,}" for name, count in left_out.items()), 9)
        text = f"queries on which some run has no value ({which}) are left out of the layout"
        yield Note("layout", text, max(left_out.values()))

"""Compare: every pair of runs under every measure, with tests, intervals and corrections.

Belongs here: the verb. Not here: its result (comparison), the tests themselves (statistics), layout (tables).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from itertools import repeat
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation, Resampling
from lexirecall.errors import UsageError, listed
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.formats.source import Source
from lexirecall.groups import Groups
from lexirecall.judgments import FloatArray
from lexirecall.manifest import READING, Policies
from lexirecall.measures import Measure
from lexirecall.measures.measure import ask
from lexirecall.names import Evaluable, Names, parse_preference
from lexirecall.positions import Positions
from lexirecall.preferences.contrasts import Contrasts
from lexirecall.statistics.aggregate import Order, order_systems
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.bootstrap import bootstrap_order
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.differences import Summary, of_pairs
from lexirecall.statistics.hsd import HSD, LAYOUTS
from lexirecall.statistics.maxt import MAX_T, MaxT, max_t
from lexirecall.statistics.paired import PairedTests, effect_sizes
from lexirecall.statistics.portions import PortionedPairs, Summarized, are_asked
from lexirecall.sums import ExactSums
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.bootstrapped import check_bootstrap
from lexirecall.verbs.cautions import cautions
from lexirecall.verbs.compared import FamilyTest, MeasureComparison
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.evaluate import Valued, evaluate, groups_of, read_aggregation, with_breakdown, with_intervals
from lexirecall.verbs.given import asked_of, num_given, positions_of
from lexirecall.verbs.pairparts import PairData, check_over, parts_of
from lexirecall.verbs.partnotes import notes_on_parts
from lexirecall.verbs.rank import contrasted
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.testing import Testing, run_test


@takes(Testing, Aggregation, Policies, *READING)
def compare(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    measures: Names | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    **options: Any,
) -> Comparison:
    """Compare each pair of runs, or each run with a baseline, or with several.

    `test` is auto (the sign test for LexiRecall and LexiPrecision, the paired t test for what has a size), t,
    wilcoxon, sign, randomization, hsd, randomized-hsd or max-t; `correction` is holm, bonferroni, bh or none, over all
    pairs of one measure, or over the pairs with a baseline; a pair of two baselines is one of these. The last three
    tests regard all pairs at once and are not corrected; the p of each pair by itself is then that of auto. `over`
    compares other numbers than the mean, such as "tail:0.1", by a paired bootstrap, 10,000 resamples unless `bootstrap`
    says otherwise. `by` compares the runs in each group of queries too, and tests whether the mean difference varies by
    group. The other arguments are those of `evaluate`.

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> good, bad = {q: ["a", "b", "x"] for q in qrels}, {q: ["x", "a", "b"] for q in qrels}
    >>> comparison = compare(qrels, {"good": good, "bad": bad}, ["LexiRecall"])
    >>> next(comparison.rows())["p"]  # six wins of six: 2 / 2^6
    0.03125
    """
    testing, policies, aggregation = taken(Testing, options), taken(Policies, options), taken(Aggregation, options)
    check_bootstrap(testing, testing.alpha)
    group_map = read_aggregation(aggregation, qrels, options)
    rows = asked_of(qrels, measures, options)
    check_over(aggregation, testing, rows)
    check_number(num_given(qrels, runs, options))
    positions = positions_of(qrels, runs, rows, options)
    check_number(len(positions.systems))
    references = indices_of(baseline, positions.systems)
    show_progress = options.get("show_progress", False)
    scores = evaluate(positions, measures=None if measures is None else rows, **asdict(policies))
    scores = with_intervals(scores, testing, alpha=testing.alpha, show_progress=show_progress)
    comparison = compare_scores(
        positions, scores, testing, policies, references=references, show_progress=show_progress
    )
    if not aggregation.is_asked:
        return comparison
    groups = groups_of(group_map, positions.requests)
    return with_parts(comparison, positions, testing, policies, aggregation, groups, show_progress=show_progress)


def compare_scores(
    positions: Positions,
    scores: Scores,
    testing: Testing,
    policies: Policies,
    *,
    references: Sequence[int] = (),
    show_progress: bool | None = False,
) -> Comparison:
    """Compare runs that have been evaluated, or all of them with those that are references."""

    def compared(row: Evaluable) -> Contrasts:
        return contrasted(positions, parse_preference(row), policies)

    layouts = _layouts(scores, compared, testing, show_progress=show_progress) if testing.has_layout else None
    differences = (PortionedPairs.of(compared(row), references) for row in scores.measures)
    first = compared(scores.measures[0])
    comparison = conclude(
        scores.averages, differences, order_systems(first, "winrate"), testing, references=references,
        scores=scores, layouts=layouts, show_progress=show_progress,
    )  # fmt: skip
    if testing.bootstrap is None:
        return comparison
    resampled = bootstrap_order(
        first, num_resamples=testing.bootstrap, seed=testing.seed, alpha=testing.alpha, show_progress=show_progress
    )
    return replace(comparison, resampled=resampled)


def with_parts(
    comparison: Comparison,
    positions: Positions,
    testing: Testing,
    policies: Policies,
    asked: Aggregation,
    groups: Groups | None,
    *,
    show_progress: bool | None = False,
) -> Comparison:
    """Return a comparison with the differences in other numbers than the mean, and in groups, that are asked for."""
    valued = Valued.of(positions, comparison.averages.measures, policies)
    averages = with_breakdown(comparison.averages, valued, asked, groups, Resampling())
    assert averages.breakdown is not None  # noqa: S101 - it was just made
    data, placed = [], valued.placed
    for c, compared in enumerate(comparison.measures):
        contrasts = contrasted(positions, parse_preference(compared.measure), policies)
        data.append(PairData(compared, placed[:, :, c], PortionedPairs.of(contrasts, comparison.baselines)))
    parts = parts_of(data, comparison.runs, averages.breakdown, asked, testing, show_progress=show_progress)
    shows_means = any(over.kind == "mean" for over in parts.overs)
    notes = (
        *averages.notes,
        *(comparison.notes[len(comparison.averages.notes) :] if shows_means else ()),
        *notes_on_parts(parts),
    )
    return replace(comparison, averages=replace(averages, breakdown=None), parts=parts, notes=notes)


def conclude(
    averages: Averages,
    differences: Iterable[Summarized],
    order: Order,
    testing: Testing,
    *,
    references: Sequence[int] = (),
    scores: Scores | None = None,
    layouts: Sequence[HSD] | None = None,
    show_progress: bool | None = False,
) -> Comparison:
    """Test the pairs of each measure, however their differences were added up; with references, their pairs."""
    families = layouts or repeat(None, len(averages.measures))
    compared = tuple(
        _compared(row, *_asked(own, layout, references), testing, show_progress=show_progress)
        for row, own, layout in zip(averages.measures, differences, families, strict=True)
    )
    notes = *averages.notes, *cautions(compared, averages.runs, testing)
    return Comparison(averages, compared, order, tuple(references), testing.alpha, notes, scores)


def _asked(differences: Summarized, layout: HSD | None, references: Sequence[int]) -> tuple[Summarized, HSD | None]:
    """Return the pairs with a reference, if there are any; portions are of these pairs only."""
    if not references:
        return differences, layout
    if isinstance(differences, Summary):
        differences = of_pairs(differences, are_asked(differences.a, differences.b, references))
    return differences, layout and of_pairs(layout, are_asked(layout.a, layout.b, references))


def check_number(num_runs: int | None) -> None:
    """Raise if it is known that there is one run only."""
    if num_runs is not None and num_runs < 2:
        raise UsageError("there is only one run, and nothing to compare it with", remedy="give two or more runs")


def indices_of(baseline: str | Sequence[str] | None, systems: Sequence[str]) -> tuple[int, ...]:
    """Return which runs are baselines, named as in the results or as on the command line; none if none is named."""
    asked = (baseline,) if isinstance(baseline, str) else tuple(baseline or ())
    found = {name: [each for each in (name, Source(name).run_name) if each in systems] for name in asked}
    if unknown := [repr(name) for name, names in found.items() if not names]:
        raise UsageError(f"no run is called {listed(unknown)}", remedy=f"the baseline is one of {listed(systems, 9)}")
    return tuple(dict.fromkeys(systems.index(names[0]) for names in found.values()))


def _layouts(
    scores: Scores, compared: Callable[[Evaluable], Contrasts], testing: Testing, *, show_progress: bool | None
) -> list[HSD]:
    responses = [_responses(row, compared, scores.values[:, :, c]) for c, row in enumerate(scores.measures)]
    available = {**testing.settings, "names": scores.runs, "show_progress": show_progress}
    results: list[HSD] = ask(LAYOUTS[testing.test], responses, available)
    return results


def _responses(row: Evaluable, compared: Callable[[Evaluable], Contrasts], values: FloatArray) -> FloatArray:
    """Return what the layout of systems and requests holds, [S, Q], more being better.

    Of a measure its value; of a preference the mean preference against the other systems.
    """
    if isinstance(row, Measure):
        return row.direction * values
    pairs = compared(row)
    num_others = pairs.taking_part.sum(axis=0) - 1
    # Exact sums, one system at a time: the order of the systems does not show.
    sums = np.array([ExactSums.of(pairs.against(s).astype(float)).rounded() for s in range(len(values))])
    return np.where(pairs.taking_part & (num_others > 0), sums / np.maximum(num_others, 1), np.nan)


def _compared(
    row: Evaluable, differences: Summarized, layout: HSD | None, testing: Testing, *, show_progress: bool | None
) -> MeasureComparison:
    own = run_test(testing, differences, show_progress=show_progress)
    family = _family(differences, own, layout, testing, show_progress=show_progress)
    is_sign_test = testing.of_pair(differences) == "sign"
    return MeasureComparison(
        row, differences.a, differences.b, differences.means, differences.wins, differences.ties, differences.losses,
        differences.num_requests, effect_sizes(differences),
        np.full(len(differences.a), np.nan) if is_sign_test else differences.effective, differences.deviations,
        own, family,
    )  # fmt: skip


def _family(
    differences: Summarized, own: PairedTests, layout: HSD | None, testing: Testing, *, show_progress: bool | None
) -> FamilyTest:
    """Decide with regard to all pairs, by a test of all of them at once or by correcting the p of each."""
    test: HSD | MaxT | PairedTests = own
    if layout is not None:
        test = layout
    elif testing.test == MAX_T:
        test = ask(max_t, differences, {**testing.settings, "show_progress": show_progress})
    correction = "none" if testing.is_simultaneous else testing.correction
    corrected = correct(test.pvalues, correction)
    least = least_attainable(
        testing.test if testing.is_simultaneous else testing.of_pair(differences),
        int(differences.num_requests.max(initial=0)) if layout is None else layout.num_requests,
        int(np.count_nonzero(~np.isnan(corrected))),
        correction=correction,
        alpha=testing.alpha,
        num_resamples=test.num_resamples,
    )
    return FamilyTest(corrected, test.method, correction, least, test.num_resamples, layout)

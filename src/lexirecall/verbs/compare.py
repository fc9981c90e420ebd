"""Compare: every pair of runs under every measure, with tests, intervals and corrections.

Belongs here: the verb. Not here: its result (comparison), the tests themselves (statistics), layout (tables).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation, Resampling
from lexirecall.errors import UsageError, listed, names_in
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.formats.source import Source
from lexirecall.groups import Groups
from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.manifest import READING, Policies
from lexirecall.measures import Measure
from lexirecall.measures.measure import ask
from lexirecall.names import Evaluable, Names
from lexirecall.positions import Positions
from lexirecall.preferences.contrasts import Contrasts
from lexirecall.statistics.aggregate import order_runs
from lexirecall.statistics.bootstrap import bootstrap_order
from lexirecall.statistics.differences import of_pairs
from lexirecall.statistics.equivalence import equivalence_pvalues
from lexirecall.statistics.hsd import HSD, LAYOUTS
from lexirecall.statistics.influence import leave_one_out
from lexirecall.statistics.paired import ADDED_UP, PairedTests, effect_sizes
from lexirecall.statistics.portions import PairDifferences, PortionedPairs, are_asked
from lexirecall.sums import ExactSums
from lexirecall.verbs.cautions import cautions
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.evaluate import (
    QueryValues,
    groups_of,
    read_aggregation,
    scores_of,
    with_breakdown,
    with_intervals,
)
from lexirecall.verbs.families import check_family, corrected_together, decide, primary_of
from lexirecall.verbs.measurecomparison import Equivalence, FamilyTest, MeasureComparison
from lexirecall.verbs.pairparts import PairData, check_over, parts_of
from lexirecall.verbs.partnotes import notes_on_parts
from lexirecall.verbs.rank import contrasted
from lexirecall.verbs.resamples import check_bootstrap
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.subject import asked_of, num_given, positions_of
from lexirecall.verbs.testing import Testing, run_test


@takes(Testing, Aggregation, Policies, *READING, warns=True)
def compare(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    measures: Names | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    **options: Any,
) -> Comparison:
    """Compare each pair of runs, or each run with a baseline, or with several.

    `test` is auto (the paired t test; the sign test for LexiRecall, LexiPrecision, shares of queries, and pairs that
    few queries tell apart), t, wilcoxon, sign, randomization, hsd, randomized-hsd or max-t; `correction` is holm,
    bonferroni, bh or none, over all pairs of one measure, or over the pairs with a baseline; a pair of two baselines is
    one of these. The last three tests regard all pairs at once and are not corrected; the p of each pair by itself is
    then that of auto. `family="measures"` corrects over pairs and measures together, and `primary` names the one
    measure that is decided about. `margin` is the largest difference that does not matter. `over` compares other
    numbers than the mean, of which tails such as "tail:0.25" have an interval and a test. `by` compares the runs in
    each group of queries too, and tests whether the mean difference varies by group. The other arguments are those of
    `evaluate`.

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
    check_family(testing, rows)
    check_number(num_given(qrels, runs, options))
    positions = positions_of(qrels, runs, rows, options)
    check_number(len(positions.runs))
    references = indices_of(baseline, positions.runs)
    show_progress = options.get("show_progress", False)
    scores, valued = scores_of(positions, rows, policies, is_default=measures is None)
    scores = with_intervals(scores, testing, alpha=testing.alpha, show_progress=show_progress)
    pairs = pairs_under(scores.measures, positions, policies, references)
    comparison = compare_scores(scores, pairs, testing, references=references, show_progress=show_progress)
    if not aggregation.is_asked:
        return comparison
    groups = groups_of(group_map, positions.queries)
    return with_parts(comparison, pairs, valued, testing, aggregation, groups, show_progress=show_progress)


def pairs_under(
    rows: Sequence[Evaluable], positions: Positions, policies: Policies, references: Sequence[int] = ()
) -> list[PortionedPairs]:
    """Return the differences of the pairs of runs under each measure: of all pairs, or those with references.

    >>> from lexirecall import project
    >>> from lexirecall.names import parse_measures
    >>> positions = project({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["z", "a"]}})
    >>> [pairs.means.tolist() for pairs in pairs_under(parse_measures("RR P@2"), positions, Policies())]
    [[0.5], [0.0]]
    """
    return [PortionedPairs.of(contrasted(positions, row, policies), references) for row in rows]


def compare_scores(
    scores: Scores,
    pairs: Sequence[PortionedPairs],
    testing: Testing,
    *,
    references: Sequence[int] = (),
    show_progress: bool | None = False,
) -> Comparison:
    """Compare runs that have been evaluated, by the pairs under each measure; some may be references."""
    averages, responses = scores.averages, None
    if testing.has_layout:
        layouts = _layouts(scores, pairs, testing, show_progress=show_progress)
        responses = [of_pairs(layout, are_asked(layout.a, layout.b, references)) for layout in layouts]
    num_tests = sum(len(differences.a) for differences in pairs) if testing.family == "measures" else None
    tests = [run_test(testing, differences, num_tests=num_tests, show_progress=show_progress) for differences in pairs]
    families = decide(testing, averages.measures, pairs, tests, responses, show_progress=show_progress)
    equivalences = _equivalences(testing, averages.measures, pairs)
    concluded = tuple(
        _compared(*row, testing) for row in zip(averages.measures, pairs, tests, families, equivalences, strict=True)
    )
    notes = *averages.notes, *cautions(concluded, averages.runs, testing)
    first = pairs[0].contrasts
    order = order_runs(first, "winrate")
    comparison = Comparison(
        averages=averages, measures=concluded, order=order, baselines=tuple(references), alpha=testing.alpha,
        notes=notes, scores=scores,
    )  # fmt: skip
    if testing.bootstrap is None:
        return comparison
    resampled = bootstrap_order(
        first, num_resamples=testing.bootstrap, seed=testing.seed, alpha=testing.alpha, show_progress=show_progress
    )
    return replace(comparison, resampled=resampled)


def with_parts(
    comparison: Comparison,
    pairs: Sequence[PortionedPairs],
    valued: QueryValues,
    testing: Testing,
    asked: Aggregation,
    groups: Groups | None,
    *,
    show_progress: bool | None = False,
) -> Comparison:
    """Return a comparison with the differences in other numbers than the mean, and in groups, that are asked for."""
    averages = with_breakdown(comparison.averages, valued, asked, groups, Resampling())
    assert averages.breakdown is not None  # noqa: S101 - it was just made
    placed = np.moveaxis(valued.placed, 2, 0)
    data = [PairData(*fields) for fields in zip(comparison.measures, placed, pairs, strict=True)]
    parts = parts_of(data, comparison.runs, averages.breakdown, asked, testing, show_progress=show_progress)
    shows_means = any(over.kind == "mean" for over in parts.overs)
    notes = (
        *averages.notes,
        *(comparison.notes[len(comparison.averages.notes) :] if shows_means else ()),
        *notes_on_parts(parts),
    )
    return replace(comparison, averages=replace(averages, breakdown=None), parts=parts, notes=notes)


def check_number(num_runs: int | None) -> None:
    """Raise if it is known that there is one run only."""
    if num_runs is not None and num_runs < 2:
        raise UsageError("there is only one run, and nothing to compare it with", remedy="give two or more runs")


def indices_of(baseline: str | Sequence[str] | None, runs: Sequence[str]) -> tuple[int, ...]:
    """Return which runs are baselines, named as in the results or as on the command line; none if none is named."""
    asked = names_in("baseline", baseline)
    found = {name: [run for run in (name, Source(name).run_name) if run in runs] for name in asked}
    if unknown := [repr(name) for name, names in found.items() if not names]:
        raise UsageError(f"no run is called {listed(unknown)}", remedy=f"the baseline is one of {listed(runs, 9)}")
    return tuple(dict.fromkeys(runs.index(names[0]) for names in found.values()))


def _layouts(
    scores: Scores, pairs: Sequence[PortionedPairs], testing: Testing, *, show_progress: bool | None
) -> list[HSD]:
    responses = [_responses(row, pairs[c].contrasts, scores.values[:, :, c]) for c, row in enumerate(scores.measures)]
    available = {**testing.settings, "names": scores.runs, "show_progress": show_progress}
    results: list[HSD] = ask(LAYOUTS[testing.test], responses, available)
    return results


def _responses(row: Evaluable, pairs: Contrasts, values: FloatArray) -> FloatArray:
    """Return what the layout of runs and queries holds, [S, Q], more being better.

    Of a measure its value; of a preference the mean preference against the other runs.
    """
    if isinstance(row, Measure):
        return row.direction * values
    num_others = pairs.taking_part.sum(axis=0) - 1
    # Exact sums, one run at a time: the order of the runs does not show.
    sums = np.array([ExactSums.of(pairs.against(s).astype(float)).rounded() for s in range(len(values))])
    return np.where(pairs.taking_part & (num_others > 0), sums / np.maximum(num_others, 1), np.nan)


def _compared(
    row: Evaluable,
    differences: PortionedPairs,
    tests: PairedTests,
    family: FamilyTest,
    equivalence: Equivalence | None,
    testing: Testing,
) -> MeasureComparison:
    is_sign_test = testing.of_pair(differences) == "sign"
    compared = MeasureComparison(
        measure=row, a=differences.a, b=differences.b, means=differences.means, wins=differences.wins,
        ties=differences.ties, losses=differences.losses, num_queries=differences.num_queries,
        effects=effect_sizes(differences),
        effective=np.full(len(differences.a), np.nan) if is_sign_test else differences.effective,
        deviations=differences.deviations, num_one_sided=differences.num_one_sided, own=tests, family=family,
        withheld=_withheld(differences, tests, testing), equivalence=equivalence,
    )  # fmt: skip
    if testing.of_pair(differences) not in ADDED_UP:
        return compared
    with np.errstate(divide="ignore", invalid="ignore"):
        limits = testing.alpha * tests.pvalues / family.corrected  # what the correction leaves to this pair
    limits[family.corrected == 0] = testing.alpha / len(limits)
    has_letter = compared.is_significant(testing.alpha)
    influence = leave_one_out(differences, tests.by_signs, limits, has_letter, ties=testing.test_ties)
    return replace(compared, influence=influence, queries=differences.contrasts.queries)


def _equivalences(
    testing: Testing, rows: Sequence[Evaluable], differences: Sequence[PairDifferences]
) -> list[Equivalence | None]:
    """Return whether runs differ by less than the margin, corrected as their differences are."""
    if testing.margin is None:
        return [None] * len(rows)
    pvalues = [equivalence_pvalues(pairs, testing.margin) for pairs in differences]
    plain = replace(testing, test="auto")
    corrected, _ = corrected_together(plain, pvalues, differences, primary_of(testing, rows))
    return [Equivalence(testing.margin, *values) for values in zip(pvalues, corrected, strict=True)]


def _withheld(differences: PairDifferences, tests: PairedTests, testing: Testing) -> BoolArray:
    """Tell which pairs get no letter: their means rest on too few queries for the test, or wins contradict them, [P].

    If a run wins more queries and the other has the better mean, neither is plainly better. A mean over fewer queries
    than wins are counted on cannot contradict them. Nor is either better if the pseudomedian contradicts the mean.
    """
    if testing.is_of_means:
        # Flipping signs counts wins where all sizes are equal, and that is right however few there are.
        counts = (testing.test == "randomization") & (differences.is_signs | differences.have_one_size)
        return np.asarray(~differences.has_steady_mean & (differences.num_one_sided == 0) & ~counts)
    if not testing.suits_pairs:
        return np.asarray(tests.estimates * differences.means < 0)
    balance = np.sign(differences.wins - differences.losses)
    return np.asarray(tests.by_signs & (differences.num_one_sided == 0) & (np.sign(differences.means) != balance))

"""Compare: every pair of runs under every measure, with tests, intervals and corrections.

Belongs here: the verb. Not here: its result (comparison), the tests themselves (statistics), layout (tables).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from lexirecall.errors import UsageError, choice, listed
from lexirecall.formats import Qrels, Reading, Runs, count_runs, project
from lexirecall.formats.source import Source
from lexirecall.judgments import FloatArray
from lexirecall.manifest import Note
from lexirecall.measures import Measure
from lexirecall.names import Evaluable, Names, parse_preference
from lexirecall.positions import Positions
from lexirecall.preferences import Pairs
from lexirecall.statistics.aggregate import order_systems
from lexirecall.statistics.corrections import CORRECTIONS, correct
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.hsd import HSD, randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.paired import TESTS, PairedTests, default_test, effect_sizes, randomization, sign_test
from lexirecall.statistics.power import requests_needed
from lexirecall.verbs.comparison import Comparison, MeasureComparison
from lexirecall.verbs.evaluate import asked_measures, score
from lexirecall.verbs.notes import warn_of_optimism
from lexirecall.verbs.rank import compared_pairs
from lexirecall.verbs.scores import Scores

ALL_TESTS = ("auto", *TESTS, "hsd", "randomized-hsd")
TIE_POLICIES = ("drop", "split")


@dataclass(frozen=True, slots=True)
class Plan:
    """How to test."""

    test: str = "auto"
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 0
    num_resamples: int = 10_000
    test_ties: str = "drop"
    """What the sign test does with ties: leave them out, or give each side half of them."""

    def __post_init__(self) -> None:
        choice("test", self.test, ALL_TESTS)
        choice("correction", self.correction, CORRECTIONS)
        choice("test_ties", self.test_ties, TIE_POLICIES)
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha}, but must be above 0 and below 1")
        if self.num_resamples < 1:
            raise UsageError(f"the number of resamples is {self.num_resamples}, but must be 1 or more")

    @property
    def is_simultaneous(self) -> bool:
        """Whether the test looks at all systems at once, and so needs no correction."""
        return self.test in ("hsd", "randomized-hsd")


def compare(
    qrels: Qrels,
    runs: Runs,
    measures: Names | None = None,
    *,
    baseline: str | None = None,
    test: str = "auto",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    num_resamples: int = 10_000,
    test_ties: str = "drop",
    level: float = 1,
    queries: str = "all",
    no_relevant: str = "skip",
    **reading: Unpack[Reading],
) -> Comparison:
    """Compare every two runs, or every run with a baseline.

    `test` is auto (the sign test for LexiRecall and LexiPrecision, the paired t test for what has a size), t,
    wilcoxon, sign, randomization, hsd or randomized-hsd; `correction` is holm, bonferroni, bh or none, over all pairs
    of one measure, or over the pairs with the baseline. The other arguments are those of `evaluate`.

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> good, bad = {q: ["a", "b", "x"] for q in qrels}, {q: ["x", "a", "b"] for q in qrels}
    >>> comparison = compare(qrels, {"good": good, "bad": bad}, ["LexiRecall"])
    >>> next(comparison.rows())["p"]  # six wins of six: 2 / 2^6
    0.03125
    """
    rows = asked_measures(measures, has_providers=reading.get("providers") is not None)
    plan = Plan(test, correction, alpha, seed, num_resamples, test_ties)
    if (num_runs := count_runs(runs)) is not None:
        _check_number(num_runs)
    warn_of_optimism(reading)
    positions = project(qrels, runs, needs_judged=any(row.needs_judged for row in rows), **reading)
    return compare_positions(
        positions,
        None if measures is None else rows,
        plan,
        baseline=baseline,
        level=level,
        queries=queries,
        no_relevant=no_relevant,
        show_progress=reading.get("show_progress", False),
    )


def compare_positions(
    positions: Positions,
    measures: Names | None = None,
    plan: Plan | None = None,
    *,
    baseline: str | None = None,
    level: float = 1,
    queries: str = "all",
    no_relevant: str = "skip",
    show_progress: bool | None = False,
) -> Comparison:
    """Compare systems from positions, as `compare` does from files; one projection serves many calls.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}})
    >>> [row["mean"] for row in compare_positions(positions, ["RR"]).rows()]
    [0.5]
    """
    plan = plan or Plan()
    _check_number(len(positions.systems))
    reference = None if baseline is None else _index(baseline, positions.systems)
    scores = score(positions, measures, level=level, queries=queries, no_relevant=no_relevant)
    pairs = [
        compared_pairs(positions, parse_preference(row), level=level, queries=queries, no_relevant=no_relevant)
        for row in scores.measures
    ]
    results: Iterable[PairedTests | HSD] = (
        _simultaneous(scores, pairs, plan, show_progress=show_progress)
        if plan.is_simultaneous
        else (_tested(Differences.of(each), plan) for each in pairs)
    )
    compared = tuple(
        _compared(row, Differences.of(each), result, plan, reference)
        for row, each, result in zip(scores.measures, pairs, results, strict=True)
    )
    notes = (*scores.notes, *_notes(compared))
    return Comparison(scores, compared, order_systems(pairs[0], "winrate"), reference, plan.alpha, notes)


def _check_number(num_runs: int) -> None:
    if num_runs < 2:
        raise UsageError("there is one run only, and nothing to compare it with", remedy="give two or more runs")


def _index(baseline: str, systems: Sequence[str]) -> int:
    """Return which run is the baseline, named as in the results or as on the command line."""
    names = [name for name in (baseline, Source(baseline).run_name) if name in systems]
    if not names:
        raise UsageError(f"no run is called {baseline!r}", remedy=f"the baseline is one of {listed(systems, 9)}")
    return systems.index(names[0])


def _tested(differences: Differences, plan: Plan) -> PairedTests:
    name = default_test(differences) if plan.test == "auto" else plan.test
    if name == "sign":
        return sign_test(differences, alpha=plan.alpha, ties=plan.test_ties)
    if name == "randomization":
        return randomization(differences, alpha=plan.alpha, num_resamples=plan.num_resamples, seed=plan.seed)
    return TESTS[name](differences, alpha=plan.alpha)


def _simultaneous(scores: Scores, pairs: Sequence[Pairs], plan: Plan, *, show_progress: bool | None) -> list[HSD]:
    responses = [
        _responses(row, each, scores.values[:, :, c])
        for c, (row, each) in enumerate(zip(scores.measures, pairs, strict=True))
    ]
    if plan.test == "hsd":
        return [tukey_hsd(response, alpha=plan.alpha) for response in responses]
    return randomized_tukey_hsd(
        responses,
        names=scores.systems,
        num_resamples=plan.num_resamples,
        seed=plan.seed,
        alpha=plan.alpha,
        show_progress=show_progress,
    )


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
    row: Evaluable, differences: Differences, result: PairedTests | HSD, plan: Plan, reference: int | None
) -> MeasureComparison:
    is_asked = np.ones(len(differences.a), bool)
    if reference is not None:
        is_asked = (differences.a == reference) | (differences.b == reference)
    corrected = np.full(len(is_asked), np.nan)
    correction = "none" if plan.is_simultaneous else plan.correction
    corrected[is_asked] = correct(result.pvalues[is_asked], correction)
    needed = requests_needed(differences, alpha=plan.alpha)
    columns = {
        "a": differences.a,
        "b": differences.b,
        "means": differences.means,
        "wins": differences.wins,
        "ties": differences.ties,
        "losses": differences.losses,
        "num_requests": differences.num_requests,
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


def _tested_differences(differences: Differences, result: PairedTests | HSD) -> FloatArray:
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
        text = f"pairs without a p-value, for too few common requests ({which}): left out of the correction"
        yield Note("pairs without p", text, total)
    left_out = {str(each.measure): each.num_left_out for each in compared if each.num_left_out}
    if left_out:
        which = listed((f"{name} {count:,}" for name, count in left_out.items()), 9)
        text = f"requests on which not every run has a value ({which}) are left out of the layout"
        yield Note("layout", text, max(left_out.values()))

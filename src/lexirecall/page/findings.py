"""Findings: what a page shows, in the order in which it shows it.

Belongs here: positions, scores and comparison of one collection side by side, for one run or many. Not here: what
becomes of them (payload, charts, html).
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation
from lexirecall.errors import UsageError, listed
from lexirecall.formats.source import Source
from lexirecall.groups import Groups
from lexirecall.judgments import BoolArray
from lexirecall.manifest import Manifest, Note, Policies
from lexirecall.meta.agreement import agreement
from lexirecall.meta.decisions import decide_all
from lexirecall.meta.ties import share_of_ties
from lexirecall.names import Evaluable, Names
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import LEXI_RECALL
from lexirecall.tables import Table
from lexirecall.verbs.breakdown import Breakdown, breakdown_of
from lexirecall.verbs.breakdown_notes import notes_on_breakdown, recorded
from lexirecall.verbs.census import Census
from lexirecall.verbs.compare import compare_scores, indices_of, pairs_under
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.evaluate import QueryValues, scores_of, with_intervals
from lexirecall.verbs.explain import check_single_order
from lexirecall.verbs.exposures import Exposures
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.subject import asked_measures
from lexirecall.verbs.testing import Testing


@dataclass(frozen=True, eq=False)
class Findings:
    """One collection, scored and, if it has two runs or more, compared."""

    positions: Positions
    scores: Scores
    comparison: Comparison | None
    """None for a single run."""
    testing: Testing
    policies: Policies
    aggregation: Aggregation = field(default_factory=Aggregation)
    groups: Groups | None = None
    show_progress: bool | None = False

    @classmethod
    def of(
        cls,
        positions: Positions,
        measures: Names | None,
        testing: Testing,
        policies: Policies,
        *,
        baseline: str | Sequence[str] | None = None,
        aggregation: Aggregation | None = None,
        groups: Groups | None = None,
        show_progress: bool | None = False,
    ) -> "Findings":
        """Score and compare.

        >>> from lexirecall import project
        >>> findings = Findings.of(project({"q": {"a": 1}}, {"q": ["a"]}), "RR", Testing(), Policies())
        >>> print(findings.leaderboard.to_text())
        run        RR
        a run  1.0000
        """
        check_single_order(asdict(positions.conventions))
        Census.of(positions, policies).check_relevant([LEXI_RECALL], policies.level)
        rows = asked_measures(measures, has_providers=positions.providers is not None)
        found = partial(
            cls, positions, testing=testing, policies=policies, aggregation=aggregation or Aggregation(), groups=groups,
            show_progress=show_progress,
        )  # fmt: skip
        if len(positions.runs) == 1:
            if baseline:
                name = baseline if isinstance(baseline, str) else listed(baseline)
                problem = f"the baseline is {name!r}, but there is only one run, so there is nothing to compare"
                raise UsageError(problem, remedy="give two or more runs, or leave the baseline out")
            scores, _ = scores_of(positions, rows, policies, is_default=measures is None)
            scores = with_intervals(scores, testing, alpha=testing.alpha, show_progress=show_progress)
            return found(scores=scores, comparison=None)
        references = indices_of(baseline, positions.runs)
        _check_single(references, positions.runs)
        scores, _ = scores_of(positions, with_lexirecall(rows), policies, is_default=measures is None)
        scores = with_intervals(scores, testing, alpha=testing.alpha, show_progress=show_progress)
        pairs = pairs_under(scores.measures, positions, policies, references)
        comparison = compare_scores(scores, pairs, testing, references=references, show_progress=show_progress)
        return found(scores=scores, comparison=comparison)

    @property
    def name(self) -> str:
        """What the collection is called: the file of its judgments, without its folder."""
        return Source(self.positions.judgments.name).run_name

    @property
    def noun(self) -> str:
        """What must be found: a document, or a unit."""
        return "document" if self.positions.units is None else "unit"

    @property
    def notes(self) -> tuple[Note, ...]:
        """What readers of the numbers should know."""
        notes = self.scores.notes if self.comparison is None else self.comparison.notes
        return notes if self.breakdown is None else (*notes, *notes_on_breakdown(self.breakdown, self.aggregation))

    @property
    def manifest(self) -> Manifest:
        """How the numbers were made."""
        manifest = self.scores.manifest
        return manifest if self.breakdown is None else recorded(manifest, self.breakdown, self.aggregation)

    @cached_property
    def valued(self) -> QueryValues:
        """The values again, with those that count as infinitely deep."""
        return QueryValues.of(self.positions, self.scores.measures, self.policies)

    @cached_property
    def breakdown(self) -> Breakdown | None:
        """The numbers over queries that are asked for, of all of them and of each group; None for only the means."""
        if not self.aggregation.is_asked:
            return None
        scores, valued, testing = self.scores, self.valued, self.testing
        return breakdown_of(
            scores.runs, scores.measures, valued.placed, valued.is_due, self.aggregation, self.groups,
            resampling=testing, alpha=testing.alpha, show_progress=self.show_progress,
        ).in_order(np.array(self.places))  # fmt: skip

    @cached_property
    def places(self) -> list[int]:
        """The runs, best first, as in the table of `compare`; equal runs are in the order given."""
        if self.comparison is None:
            return [0]
        return self.comparison.order.best_first

    @cached_property
    def best_first(self) -> list[str]:
        """The names of the runs in the order of their places."""
        return [self.positions.runs[s] for s in self.places]

    @cached_property
    def leaderboard(self) -> Table:
        """The means of each run, best first, with its letter and marks of significance."""
        if self.comparison is not None:
            return self.comparison.table()
        table = self.scores.table()
        rows = tuple((f"a {run}", *means) for run, *means in table.rows)
        return Table(table.header, rows, footnote=self.scores.averages.on_intervals)

    @cached_property
    def projection(self) -> Projection:
        """The positions of what is relevant at the level of the page."""
        return self.positions.at_level(self.policies.level)

    def exposures(self, most: int) -> Exposures | None:
        """Return the providers of each run with the least p, so many at most; None without a map of them."""
        if (averages := self.scores.averages).exposures is None:
            return None
        first = replace(Exposures.of(averages, min_queries=self.aggregation.min_queries), most=most)
        alpha, shown = self.testing.alpha, self.show_progress
        return first.with_evidence(self.positions, self.policies, self.testing, alpha=alpha, show_progress=shown)

    @property
    def eligible(self) -> BoolArray:
        """Which queries the page is about, [Q]."""
        return self.policies.eligible(self.positions)

    @property
    def counted(self) -> BoolArray:
        """Which rankings of these count, [S, Q]: only answered ones if so asked."""
        return self.policies.counted(self.positions)


def _check_single(references: Sequence[int], runs: Sequence[str]) -> None:
    """Raise if the runs are to be compared with several: the marks and sentences of the page are about one."""
    if len(references) > 1:
        named = listed([runs[s] for s in references])
        remedy = "name one baseline, or leave it out to compare each pair; lexirecall compare takes several"
        raise UsageError(f"the page shows one baseline, but {len(references)} are named: {named}", remedy=remedy)


def agreements(positions: Positions, rows: Sequence[Evaluable], policies: Policies) -> Iterator[dict[str, Any]]:
    """Give, for each measure, its agreement with LexiRecall (itself one of them) and its share of ties.

    >>> from lexirecall import parse_measure, project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "z", "b"]}, "y": {"q": ["z", "a", "b"]}})
    >>> next(agreements(positions, [parse_measure("RR"), LEXI_RECALL], Policies()))
    {'measure': 'RR', 'agreement': 1.0, 'tied': 0.0}
    """
    decisions = dict(zip(rows, decide_all(list(rows), positions, policies), strict=True))
    for row in rows:
        agreed = None if row == LEXI_RECALL else agreement(decisions[LEXI_RECALL], decisions[row])[0]
        yield {"measure": str(row), "agreement": agreed, "tied": share_of_ties(decisions[row])}


def with_lexirecall(rows: Sequence[Evaluable]) -> list[Evaluable]:
    """Return the measures, with LexiRecall added if it is missing: it explains every pair and query.

    >>> from lexirecall.measures import AP
    >>> with_lexirecall([AP])
    [AP, LexiRecall]
    """
    return list(dict.fromkeys([*rows, LEXI_RECALL]))

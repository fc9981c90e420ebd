"""Findings: what a page shows, in the order in which it shows it.

Belongs here: positions, scores and comparison of one collection side by side, for one run or many. Not here: what
becomes of them (payload, charts, html).
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.formats.source import Source
from lexirecall.judgments import BoolArray
from lexirecall.manifest import Note, Policies
from lexirecall.meta.agreement import agreement
from lexirecall.meta.decisions import decide_all
from lexirecall.meta.ties import share_of_ties
from lexirecall.names import Evaluable, Names
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import LEXI_RECALL
from lexirecall.tables import Table
from lexirecall.verbs.census import Census
from lexirecall.verbs.compare import compare_scores, index_of
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.evaluate import evaluate, with_intervals
from lexirecall.verbs.explain import check_single_order
from lexirecall.verbs.exposures import Exposures
from lexirecall.verbs.given import asked_measures
from lexirecall.verbs.scores import Scores
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

    @classmethod
    def of(
        cls,
        positions: Positions,
        measures: Names | None,
        testing: Testing,
        policies: Policies,
        *,
        baseline: str | None = None,
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
        Census.of(positions, [policies.level]).check_relevant([LEXI_RECALL], policies.level)
        rows = asked_measures(measures, has_providers=positions.providers is not None)
        if len(positions.systems) == 1:
            if baseline is not None:
                problem = f"the baseline is {baseline!r}, but there is only one run, so there is nothing to compare"
                raise UsageError(problem, remedy="give two or more runs, or leave the baseline out")
            scores = evaluate(positions, measures=rows, **asdict(policies))
            scores = with_intervals(scores, testing, alpha=testing.alpha, show_progress=show_progress)
            return cls(positions, scores, None, testing, policies)
        reference = index_of(baseline, positions.systems)
        scores = evaluate(positions, measures=with_lexirecall(rows), **asdict(policies))
        scores = with_intervals(scores, testing, alpha=testing.alpha, show_progress=show_progress)
        comparison = compare_scores(
            positions, scores, testing, policies, reference=reference, show_progress=show_progress
        )
        return cls(positions, scores, comparison, testing, policies)

    @property
    def name(self) -> str:
        """What the collection is called: the file of its judgments, without its folder."""
        return Source(self.positions.judgments.name).run_name

    @property
    def notes(self) -> tuple[Note, ...]:
        """What readers of the numbers should know."""
        return self.scores.notes if self.comparison is None else self.comparison.notes

    @cached_property
    def places(self) -> list[int]:
        """The systems, best first, as in the table of `compare`; equal systems are in the order given."""
        if self.comparison is None:
            return [0]
        return self.comparison.order.best_first

    @cached_property
    def best_first(self) -> list[str]:
        """The names of the systems in the order of their places."""
        return [self.positions.systems[s] for s in self.places]

    @cached_property
    def leaderboard(self) -> Table:
        """The means of each system, best first, with its letter and marks of significance."""
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
        """Return the providers of each system with the lowest ratios, so many at most; None without a map of them."""
        if (averages := self.scores.averages).exposures is None:
            return None
        lowest = replace(Exposures.of(averages), most=most)
        return lowest.with_intervals(self.positions, self.policies, self.testing, alpha=self.testing.alpha)

    @property
    def counted(self) -> BoolArray:
        """Which rankings count, [S, Q]: those of requests with a relevant item, and only answered ones if so asked."""
        return self.positions.counted(self.policies)


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
    """Return the measures, with LexiRecall added if it is missing: it explains every pair and request.

    >>> from lexirecall.measures import AP
    >>> with_lexirecall([AP])
    [AP, LexiRecall]
    """
    return list(dict.fromkeys([*rows, LEXI_RECALL]))

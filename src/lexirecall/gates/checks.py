"""Checks: whether a run does what is required of it.

Belongs here: requirements held against values and positions. Not here: how requirements are written (requirements).
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation
from lexirecall.errors import UsageError, counted
from lexirecall.gates.changes import DocumentMove
from lexirecall.gates.requirements import Limit, Requirement, Statement, percent
from lexirecall.manifest import Policies
from lexirecall.measures.measure import TOLERANCE
from lexirecall.positions import Positions
from lexirecall.statistics.shares import share_interval
from lexirecall.tables import defined, number
from lexirecall.verbs.breakdown import Breakdown
from lexirecall.verbs.evaluate import evaluate
from lexirecall.verbs.explanation import QueryExplanation


@dataclass(frozen=True, slots=True)
class Offence:
    """A query with the documents on which a requirement fails."""

    query: str
    documents: tuple[DocumentMove, ...]


@dataclass(frozen=True, slots=True)
class RequirementCheck:
    """A requirement, and whether it holds."""

    requirement: Requirement
    group: str | None
    """None for all queries."""
    passed: bool
    value: float
    """The number that is required to be on one side of the limit; or how many documents offend, or the largest share
    of queries that the requirement allows for. nan if undefined."""
    sentence: str
    """What was found, in words."""
    offences: tuple[Offence, ...] = ()
    """The worst query first."""

    @property
    def name(self) -> str:
        """The requirement, with the group that it is checked in."""
        return f"{self.requirement}" + ("" if self.group is None else f" in {self.group}")

    @property
    def is_of_any_loss(self) -> bool:
        """Whether its offences are the documents that are lost, which are listed in any case."""
        return (
            isinstance(self.requirement, Statement) and self.requirement.kind == "lost" and not self.requirement.depth
        )

    def row(self) -> dict[str, Any]:
        """Return it as a row for programs."""
        return {
            "kind": "requirement", "requirement": str(self.requirement), "group": self.group, "passed": self.passed,
            "value": defined(self.value), "limit": self.requirement.limit,
        }  # fmt: skip


def check(
    requirements: Sequence[Requirement],
    positions: Positions,
    new: str,
    queries: Sequence[QueryExplanation],
    policies: Policies,
    aggregation: Aggregation,
) -> tuple[RequirementCheck, ...]:
    """Check each requirement, limits also in each group; `queries` explain the baseline, first, and the new run."""
    limits = [requirement for requirement in requirements if isinstance(requirement, Limit)]
    found = _numbers(limits, positions, policies, aggregation) if limits else None
    checks: list[RequirementCheck] = []
    for requirement in requirements:
        if isinstance(requirement, Limit) and found is not None:
            checks += _limit_in(requirement, found, positions.runs.index(new))
        elif isinstance(requirement, Statement):
            check_depth(requirement, positions.conventions.depth)
            checks.append(_said(requirement, queries))
    return tuple(checks)


def check_depth(sentence: Statement, depth: int | None) -> None:
    """Raise if rankings are cut before what a requirement is about."""
    if depth is not None and sentence.depth is not None and depth < sentence.depth:
        raise UsageError(
            f"{str(sentence)!r} is required, but rankings are cut at {depth}",
            remedy=f"leave --depth out, or require it within the first {depth}",
        )


def check_confidence(sentence: Statement, num_queries: int) -> None:
    """Raise if there are too few queries for a requirement to hold, even if nothing is lost."""
    if num_queries < sentence.fewest:
        have = "there is" if num_queries == 1 else "there are"
        raise UsageError(
            f"{str(sentence)!r} is required, but it takes {counted(sentence.fewest, 'query')} to show it if nothing is "
            f"lost, and {have} {num_queries:,}",
            remedy="give more queries, allow a larger share, or leave the confidence out",
        )


def _numbers(limits: Sequence[Limit], positions: Positions, policies: Policies, aggregation: Aggregation) -> Breakdown:
    """Compute every number that has a limit, over all queries and in each group."""
    overs = {limit.over.meaning: limit.over.text for limit in limits}
    measures = list(dict.fromkeys(limit.measure for limit in limits))
    scores = evaluate(
        positions, measures=measures, over=tuple(overs.values()), by=aggregation.by,
        min_queries=aggregation.min_queries, **asdict(policies),
    )  # fmt: skip
    assert scores.averages.breakdown is not None  # noqa: S101 - it is asked for
    return scores.averages.breakdown


def _limit_in(limit: Limit, found: Breakdown, new: int) -> Iterator[RequirementCheck]:
    o = [over.meaning for over in found.overs].index(limit.over.meaning)
    c = found.measures.index(limit.measure)
    for part in found.parts:
        value = float(part.numbers[o, new, c])
        passed = limit.holds(value)
        where = "" if part.group is None else f" in {part.group}"
        verb = "is" if passed else "is not"
        sentence = f"{limit.subject}{where} is {told(value, limit)}, which {verb} {limit.sign} {limit.limit:.10g}"
        yield RequirementCheck(limit, part.group, passed, value, sentence)


def told(value: float, limit: Limit) -> str:
    """Write a number with as many decimals as it takes to see on which side of the limit it is.

    >>> told(0.89999, Limit.parse("All@20 >= 0.9")), told(0.5, Limit.parse("All@20 >= 0.9"))
    ('0.89999', '0.5000')
    """
    text = number(value)
    if text == "-":
        return "undefined"
    seen = float(number(value, mark=""))
    return text if limit.holds(seen) == limit.holds(value) else f"{value:.10g}"


def _said(sentence: Statement, queries: Sequence[QueryExplanation]) -> RequirementCheck:
    """Check a requirement about every relevant document."""
    offences, num_documents = [], 0
    for query in queries:
        documents = tuple(_offending(sentence, query))
        if documents:
            offences.append(Offence(query.id, documents))
            num_documents += len(documents)
    offences.sort(key=lambda offence: -len(offence.documents))  # a stable sort: equal ones keep their order
    if sentence.share:
        passed, value, text = _held(sentence, len(offences), len(queries))
        return RequirementCheck(
            requirement=sentence, group=None, passed=passed, value=value, sentence=text, offences=tuple(offences)
        )
    what = {"lost": "lost", "found": "not found"}[sentence.kind] + sentence.within
    how_many = f"{counted(num_documents, 'relevant document')} {'is' if num_documents == 1 else 'are'} {what}"
    text = f"{how_many}, on {counted(len(offences), 'query')}" if offences else f"no relevant document is {what}"
    return RequirementCheck(
        requirement=sentence, group=None, passed=not offences, value=num_documents, sentence=text,
        offences=tuple(offences),
    )  # fmt: skip


def _held(sentence: Statement, num_losing: int, num_queries: int) -> tuple[bool, float, str]:
    """Hold the share of queries that lose something against the limit; return it, or its upper bound, and say so."""
    share = Fraction(num_losing, max(num_queries, 1))
    passed, value, sure = share <= sentence.share, float(share), ""
    if sentence.confidence is not None:
        counts = np.array([num_losing]), np.array([num_queries])
        value = float(share_interval(*counts, alpha=2 * sentence.risk)[1][0])
        passed = value <= sentence.limit + TOLERANCE
        sure = f", with {percent(sentence.confidence)} confidence at most {percent(round(value, 6))}"
    verb, how = "loses" if num_losing == 1 else "lose", "not more" if passed else "more"
    number_of = f"{num_losing:,} of {counted(num_queries, 'query')} {verb} a relevant document{sentence.within}"
    plain = f" ({percent(round(float(share), 6))}{sure})"
    return passed, value, f"{number_of}{plain}, which is {how} than {percent(sentence.share)}"


def _offending(sentence: Statement, query: QueryExplanation) -> Iterator[DocumentMove]:
    now = query.b.found
    before = {} if query.a.run == query.b.run else query.a.found  # without a baseline nothing was anywhere
    relevant = before if sentence.kind == "lost" else query.b.documents
    for document in relevant:
        moved = DocumentMove(document, before.get(document), now.get(document))
        had = sentence.kind == "found" or sentence.reaches(moved.was)
        if had and not sentence.reaches(moved.now):
            yield moved

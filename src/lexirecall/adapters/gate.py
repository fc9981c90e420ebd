"""Gates for pytest and any other test runner: a run that got worse fails, and the failure says where and why.

Belongs here: assertions about a new run and a baseline. Not here: tests of significance (statistics), sentences about a
query (verbs). The assertions raise AssertionError and hide their own frames from pytest's traceback; they do not need
pytest.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from lexirecall.errors import UsageError, counted, listed, warn
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Run, Runs, project
from lexirecall.gates.checks import Offence
from lexirecall.gates.decisions import Decision
from lexirecall.gates.gate import gate
from lexirecall.gates.requirements import Statement
from lexirecall.gates.result import GateResult
from lexirecall.manifest import READING, Policies
from lexirecall.measures import Measure
from lexirecall.names import Evaluable, parse_names
from lexirecall.notices import warn_of
from lexirecall.positions import Positions
from lexirecall.tables import number
from lexirecall.text import visible
from lexirecall.verbs.explain import check_single_order, explain
from lexirecall.verbs.explanation import QueryExplanation
from lexirecall.verbs.rank import contrasted

__all__ = ["assert_all_found", "assert_no_worse", "assert_nothing_lost"]

_NEW, _BASELINE = 0, 1
_SHOWN = 5  # queries, and documents of each, that a failure names


@takes(Policies, *READING)
def assert_no_worse(
    qrels: Qrels,
    new: Run,
    baseline: Run,
    preference: str | Evaluable = "LexiRecall",
    alpha: float = 0.05,
    **options: Any,
) -> None:
    """Fail if the new run is significantly worse than the baseline; pass if it is better, or cannot be told apart.

    The test is one-sided. Preferences without a size, such as LexiRecall, are tested by the sign test: P(X <= wins),
    where X is binomial with wins + losses trials and chance 1/2; ties are left out. So are shares of queries, such as
    All@20, and the number of documents found. Other measures, and preferences with a size, are tested in the mean: p is
    the larger of those of the paired t test and of Hall's, or that of the sign test if a few queries make the mean. The
    gate fails if p < alpha. So a run that is no worse fails by chance in about that share of cases at most. Runs are
    files, dicts or frames; the other arguments are those of `lexirecall.evaluate`. If there are too few queries for any
    outcome to be significant, a warning says so.

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> baseline, new = dict.fromkeys(qrels, ["a", "b"]), dict.fromkeys(qrels, ["a", "x"])
    >>> assert_no_worse(qrels, new=baseline, baseline=new)
    >>> assert_no_worse(qrels, new, baseline)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: the new run is worse than the baseline by LexiRecall: p = 0.0156 (sign test, one-sided; alpha 0.05)
    6 queries: 0 better, 0 tied, 6 worse
    <BLANKLINE>
    q0: recall level 2 of 2 decides: baseline is preferred: it finds 2 of the 2 relevant documents, new 1; new lacks b.
        lost: b (was at 2)
    ...
    """
    __tracebackhide__ = True
    asked, row, policies = {*options}, _single(preference), taken(Policies, options)
    positions = _read(qrels, {"new": new, "baseline": baseline}, options, needs_judged=row.needs_judged)
    result = gate(positions, "new", "baseline", [row], alpha=alpha, **asdict(policies))
    warn_of(result.notes, asked)
    decision = result.decisions[0]
    _warn_if_nothing_can_fail(decision)
    if decision.fails:
        raise AssertionError(_worse(positions, decision, policies))


@takes(*READING)
def assert_nothing_lost(
    qrels: Qrels,
    new: Run,
    baseline: Run,
    depth: int | None = None,
    *,
    level: float = 1,
    **options: Any,
) -> None:
    """Fail if the new run lacks a relevant document that the baseline has within the first `depth`, on any query.

    This is not a significance test: one lost document is enough. `options` are the keywords of `lexirecall.project`.

    >>> assert_nothing_lost({"q": {"a": 1}}, new={"q": ["x", "a"]}, baseline={"q": ["a"]})
    >>> assert_nothing_lost({"q": {"a": 1}}, new={"q": ["x", "a"]}, baseline={"q": ["a"]}, depth=1)
    Traceback (most recent call last):
    AssertionError: the new run loses 1 relevant document that the baseline has within the first 1, on 1 of 1 query
    q: a (was at 1, now at 2)
    """
    __tracebackhide__ = True
    required = Statement("lost", depth)
    result = _held_to(required, _read(qrels, {"new": new, "baseline": baseline}, options), level, options)
    if not result.passed:
        offences = result.checks[0].offences
        total = counted(sum(len(offence.documents) for offence in offences), "relevant document")
        on = f"on {len(offences):,} of {counted(result.num_queries, 'query')}"
        first = f"the new run loses {total} that the baseline has{required.within}, {on}"
        raise AssertionError("\n".join([first, *_listed_documents(offences)]))


@takes(*READING)
def assert_all_found(
    qrels: Qrels,
    run: Run,
    depth: int | None = None,
    *,
    level: float = 1,
    **options: Any,
) -> None:
    """Fail if any relevant document of a query is not within the first `depth`: every required passage must be there.

    >>> assert_all_found({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, depth=3)
    >>> assert_all_found({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, depth=2)
    Traceback (most recent call last):
    AssertionError: 1 of 2 relevant documents are not within the first 2, on 1 of 1 query
    q: b (now at 3)
    """
    __tracebackhide__ = True
    required = Statement("found", depth)
    result = _held_to(required, _read(qrels, {"new": run}, options), level, options)
    if not result.passed:
        offences = result.checks[0].offences
        missing = sum(len(offence.documents) for offence in offences)
        where = required.within.strip() or "retrieved"
        of_all = counted(result.num_relevant, "relevant document")
        on = f"on {len(offences):,} of {counted(result.num_queries, 'query')}"
        raise AssertionError("\n".join([f"{missing} of {of_all} are not {where}, {on}", *_listed_documents(offences)]))


def _held_to(required: Statement, positions: Positions, level: float, asked: Container[str]) -> GateResult:
    baseline = "baseline" if "baseline" in positions.runs else None
    result = gate(positions, "new", baseline, require=[str(required)], level=level)
    warn_of(result.notes, asked)
    return result


def _read(qrels: Qrels, runs: Runs, options: dict[str, Any], *, needs_judged: bool = False) -> Positions:
    """Read what is to be compared."""
    check_single_order(options)
    return project(qrels, runs, needs_judged=needs_judged, **options)


def _single(preference: str | Evaluable) -> Evaluable:
    rows = parse_names(preference)
    if len(rows) != 1:
        raise UsageError(f"{preference!r} names {len(rows)} measures, but a gate takes one")
    return rows[0]


def _warn_if_nothing_can_fail(decision: Decision) -> None:
    """Warn of a gate that is always open."""
    if not decision.can_fail:
        compared = decision.compared
        warn(
            f"{counted(compared.num_queries, 'query')} cannot show that a run is worse ({compared.method}, alpha "
            f"{decision.alpha:g}): the gate cannot fail; give more queries, or use assert_nothing_lost"
        )


def _worse(positions: Positions, decision: Decision, policies: Policies) -> str:
    """Say that the new run is worse, by how much, and on which queries; the greatest losses come first."""
    compared, losses = decision.compared, decision.compared.losses or 0
    p = f"p = {compared.p:.3g} ({compared.method}, one-sided; alpha {decision.alpha:g})"
    first = f"the new run is worse than the baseline by {compared.measure}: {p}"
    queries = counted(compared.num_queries, "query")
    balance = f"{queries}: {compared.wins:,} better, {compared.ties:,} tied, {losses:,} worse"
    if isinstance(compared.measure, Measure) and not compared.says_signs:
        balance += f"; mean difference {compared.difference:+.4f}"
    more = [f"and worse on {counted(losses - _SHOWN, 'more query')}"] if losses > _SHOWN else []
    return "\n".join([first, balance, "", *_worse_queries(positions, compared.measure, policies), *more])


def _worse_queries(positions: Positions, row: Evaluable, policies: Policies) -> Iterator[str]:
    """Give a few lines on each query on which the new run is worse."""
    values = contrasted(positions, row, policies).held().values[_NEW, _BASELINE]
    at_level = replace(policies, level=row.level(policies.level))
    explained = explain(positions, pair=("baseline", "new"), **asdict(at_level))
    sizes = {query: -value for query, value in zip(positions.queries, values.tolist(), strict=True) if value < 0}
    worse = [query for query in explained.queries if query.id in sizes]
    if row.name != "LexiRecall":
        worse.sort(key=lambda query: -sizes[query.id])  # a stable sort: equal ones keep their order
    for query in worse[:_SHOWN]:
        yield visible(f"{query.id}: {_why(query, row, sizes[query.id])}")
        if query.only_a:
            places = (f"{document} (was at {position:,})" for document, position in query.only_a.items())
            yield visible(f"    lost: {listed(places, _SHOWN)}")


def _why(query: QueryExplanation, row: Evaluable, size: float) -> str:
    if row.name == "LexiRecall":
        return f"recall level {query.level:,} of {query.num_relevant:,} decides: {query.sentence()}"
    return f"worse by {row}" if isinstance(size, int) else f"{row} is worse by {number(size)}"


def _listed_documents(offences: Sequence[Offence]) -> Iterator[str]:
    """Give a line for each query: its documents, where they were and where they are now; the longest list first."""
    for offence in offences[:_SHOWN]:
        which = (f"{entry.document} ({_was(entry.was)}{_now(entry.now)})" for entry in offence.documents)
        yield visible(f"{offence.query}: {listed(which, _SHOWN)}")
    if len(offences) > _SHOWN:
        yield f"and {counted(len(offences) - _SHOWN, 'more query')}"


def _was(position: int | None) -> str:
    return "" if position is None else f"was at {position:,}, "


def _now(position: int | None) -> str:
    return "not retrieved" if position is None else f"now at {position:,}"

"""Headline: what readers should know, in a few sentences made from the numbers.

Belongs here: the sentences, as parts that name runs and measures by their place on the page. Not here: the numbers
themselves (findings), and details about the data (notes).

A sentence is a list of parts: {"text": …}, {"run": place}, {"query": place} or {"measure": place}.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.judgments import BoolArray, IntArray
from lexirecall.measures.measure import is_equal
from lexirecall.page.findings import Findings
from lexirecall.page.groups import order_under
from lexirecall.preferences import Preference
from lexirecall.tables import number
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.measurecomparison import MeasureComparison

Part = dict[str, Any]
Sentence = list[Part]
MOST_NAMED = 3
_LEADING = 0
"""The measure by which the page orders runs: the first."""
_CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
}


def headline(findings: Findings) -> list[Sentence]:
    """Return the sentences: which run leads and how surely, how much is found, and what to be careful about.

    >>> from lexirecall import project
    >>> from lexirecall.manifest import Policies
    >>> from lexirecall.verbs.testing import Testing
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["z", "a"]}, "y": {"q": ["b", "z", "a"]}})
    >>> for sentence in headline(Findings.of(positions, "LexiRecall", Testing(), Policies())):
    ...     print("".join(str(part.get("text", part)) for part in sentence))
    {'run': 0} has the highest win rate under {'measure': 0}, 1.0000, ahead of {'run': 1} by 1.0000.
    Under {'measure': 0}, no difference can be significant: on 1 query the p of the sign test is at least 1 (alpha \
0.05); it takes 6 untied queries.
    {'run': 0} finds both relevant documents.
    """
    sentences: list[Sentence] = []
    leaders = _leaders(findings)
    if findings.comparison is not None:
        sentences.append(_who_leads(findings, leaders))
        sentences.append(_how_surely(findings, findings.comparison, leaders))
    sentences.append(_how_much(findings, leaders[0] if leaders else 0))
    return [*sentences, *_caution(findings, leaders)]


def _text(text: str) -> Part:
    return {"text": text}


def _named(runs: Sequence[int]) -> Sentence:
    """Name a few runs, or the first of many and the number of others."""
    most = MOST_NAMED if len(runs) > MOST_NAMED + 1 else len(runs)
    parts: Sentence = []
    for i, run in enumerate(runs[:most]):
        is_last = i == len(runs) - 1
        parts += [_text(" and " if is_last else ", ")] * (i > 0) + [{"run": run}]
    return parts if most == len(runs) else [*parts, _text(f" and {len(runs) - most:,} more")]


# Who leads


def _leaders(findings: Findings) -> list[int]:
    """Return the places of the runs with the best mean, among those with a value wherever they should have one."""
    averages = findings.scores.averages
    is_complete = (averages.counts == averages.num_due)[findings.places, _LEADING]
    means = findings.scores.means[findings.places, _LEADING]
    order = [s for s in order_under(findings, _LEADING) if is_complete[s] and not np.isnan(means[s])]
    return [s for s in order if s == order[0] or is_equal(means[s], means[order[0]])]


def _who_leads(findings: Findings, leaders: list[int]) -> Sentence:
    row, means = findings.scores.measures[_LEADING], findings.scores.means[findings.places, _LEADING]
    measure: Sentence = [{"measure": _LEADING}]
    if not leaders:
        return [_text("No run leads under "), *measure, _text(": none has a value on every query that counts.")]
    kind = "win rate under " if isinstance(row, Preference) else "total of " if row.total == "sum" else "mean "
    value = number(float(means[leaders[0]]), row.decimals)
    if len(leaders) == len(means):
        return [_text(f"{_all(len(means))} have the same {kind}"), *measure, _text(f", {value}.")]
    best = f"{'highest' if row.direction > 0 else 'lowest'} {kind}"
    if len(leaders) > 1:
        return [*_named(leaders), _text(f" share the {best}"), *measure, _text(f", {value}.")]
    parts = [*_named(leaders), _text(f" has the {best}"), *measure, _text(f", {value}")]
    following = [s for s in order_under(findings, _LEADING) if s != leaders[0] and not np.isnan(means[s])][:1]
    if not following:
        return [*parts, _text("; the other runs have no value.")]
    gap = float(row.direction * (means[leaders[0]] - means[following[0]]))
    if gap <= 0:  # the next one has a better mean, but not over every query
        return [*parts, _text(", among the runs with a value on every query.")]
    return [*parts, _text(", ahead of "), *_named(following), _text(f" by {number(gap, row.decimals)}.")]


def _all(number_of_runs: int) -> str:
    return "Both runs" if number_of_runs == 2 else f"All {counted(number_of_runs, 'run')}"


# How surely


def _how_surely(findings: Findings, comparison: Comparison, leaders: list[int]) -> Sentence:
    compared = comparison.measures[_LEADING]
    better = compared.better(len(findings.places), comparison.alpha)[np.ix_(findings.places, findings.places)]
    if np.isnan(compared.corrected).all():
        return [_text("No two runs could be tested: they have too few queries in common.")]
    if not better.any():
        return _nothing_differs(findings, comparison, compared)
    how = f" ({_how(compared, comparison.alpha)})."
    if comparison.baselines:
        return _against_baseline(findings.places.index(comparison.baselines[0]), better, how)
    if len(leaders) != 1:
        return _how_many_differ(compared, better, how)
    return [_text(_than_others(better[leaders[0]], len(findings.places) - 1) + how)]


def _than_others(worse: BoolArray, num_others: int) -> str:
    """Say how many others the leader is better than."""
    num_worse = int(worse.sum())
    if num_worse == 0:
        return "It is not significantly better than any other run, though some pairs of runs differ"
    if num_others == 1:
        return "The difference is significant"
    if num_worse == num_others:
        return f"It is significantly better than {'both' if num_others == 2 else f'all {num_others:,}'} others"
    return f"It is significantly better than {num_worse:,} of the {num_others:,} others"


def _how_many_differ(compared: MeasureComparison, better: BoolArray, how: str) -> Sentence:
    num_tested = int((~np.isnan(compared.corrected)).sum())
    num_differing = int(better.sum())
    verb = "differs" if num_differing == 1 else "differ"
    return [_text(f"{num_differing:,} of the {counted(num_tested, 'pair')} of runs {verb} significantly{how}")]


def _against_baseline(baseline: int, better: BoolArray, how: str) -> Sentence:
    num_better, num_worse = int(better[:, baseline].sum()), int(better[baseline].sum())
    num_others = len(better) - 1
    if num_others == 1:
        verdict = f"the other run is significantly {'better' if num_better else 'worse'}"
    else:
        verdict = f"{_number_of(num_better)} of the {num_others:,} others {_are(num_better)} significantly better and "
        verdict += f"{_number_of(num_worse)} significantly worse"
    return [_text("Compared with the baseline "), {"run": baseline}, _text(f", {verdict}{how}")]


def _nothing_differs(findings: Findings, comparison: Comparison, compared: MeasureComparison) -> Sentence:
    under: Sentence = [_text("Under "), {"measure": _LEADING}, _text(", ")]  # others may tell runs apart
    is_tested = ~np.isnan(compared.corrected)
    num_pairs = int(is_tested.sum())
    if not compared.family.attainable.is_possible:
        return [*under, _text(f"{compared.family.attainable.note}.")]
    how = _how(compared, comparison.alpha)
    if comparison.baselines:
        baseline = {"run": findings.places.index(comparison.baselines[0])}
        return [*under, _text("no run differs significantly from the baseline "), baseline, _text(f" ({how}).")]
    if num_pairs == 1:
        return [_text(f"The difference is not significant ({how}).")]
    return [*under, _text(f"no two runs differ significantly ({how}).")]


def _how(compared: MeasureComparison, alpha: float) -> str:
    correction = _CORRECTIONS.get(compared.correction)
    return ", ".join(filter(None, [*compared.methods, correction, f"p < {alpha:g}"]))


def _number_of(count: int) -> str:
    return f"{count:,}" if count else "none"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


# How much is found


def _how_much(findings: Findings, leader: int) -> Sentence:
    """Say what share of the relevant documents the leader finds, where it finds all, and what no run finds."""
    projection, shape, eligible = findings.projection, findings.positions.shape, findings.eligible
    found, num_relevant = projection.found.segments.sizes.reshape(shape), projection.num_relevant[eligible].sum()
    is_counted = findings.counted[findings.places[leader]]
    num_found, relevant = found[findings.places[leader], is_counted], projection.num_relevant[is_counted]
    if not found[:, eligible].any():
        who = [{"run": leader}, _text(" does not find")] if shape[0] == 1 else [_text("No run finds")]
        total = counted(int(num_relevant), f"relevant {findings.noun}")
        return [*who, _text(f" any of the {total}{_within(findings)}.")]
    where = f"{_answered(findings, is_counted)}{_within(findings)}"
    if num_found.sum() == relevant.sum():
        finds = f" finds {_every(int(relevant.sum()), findings.noun)}{where}"
    else:
        total, share = counted(int(relevant.sum()), f"relevant {findings.noun}"), _percent(num_found, relevant)
        finds = f" finds {num_found.sum():,} of {total} ({share}){where}, {_complete(num_found, relevant)}"
    is_all = num_found.sum() == num_relevant
    return [{"run": leader}, _text(finds + ("." if is_all else _found_by_none(findings)))]


def _every(num_relevant: int, noun: str) -> str:
    few = {1: f"the only relevant {noun}", 2: f"both relevant {noun}s"}
    return few.get(num_relevant, f"all {num_relevant:,} relevant {noun}s")


def _percent(num_found: IntArray, relevant: IntArray) -> str:
    """Return a share in percent that never rounds up to all: 99.99 % is not 100 %."""
    share = 100 * num_found.sum() / max(int(relevant.sum()), 1)
    return f"{min(share, 99.9):.1f} %" if share == 0 or share >= 0.05 else "< 0.1 %"


def _complete(num_found: IntArray, relevant: IntArray) -> str:
    num_complete = int((num_found == relevant).sum())
    if not num_complete:
        return "and everything on none of the queries" if len(num_found) > 1 else "and not everything on its only query"
    return f"and everything on {num_complete:,} of {counted(len(num_found), 'query')}"


def _answered(findings: Findings, is_counted: BoolArray) -> str:
    """Say so if queries that the leader does not answer are left out."""
    return "" if is_counted[findings.eligible].all() else " of the queries that it answers"


def _within(findings: Findings) -> str:
    depth = findings.positions.conventions.depth
    if depth is None:
        return ""
    place = "unit" if findings.positions.conventions.count == "units" else "document"
    return f" as its first {place}" if depth == 1 else f" within its first {depth:,} {place}s"


def _found_by_none(findings: Findings) -> str:
    """Say how many relevant documents no run finds, if there are several runs."""
    projection, eligible = findings.projection, findings.eligible
    if findings.positions.shape[0] == 1:
        return "."
    counts = np.repeat(eligible, np.diff(projection.source.judgments.offsets))
    num_missed = int(projection.num_relevant[eligible].sum() - counts[np.unique(projection.found.documents)].sum())
    if not num_missed:
        return f"; every relevant {findings.noun} is found by at least one run."
    return f"; {counted(num_missed, f'relevant {findings.noun}')} {_are(num_missed)} found by no run."


# What to be careful about


def _caution(findings: Findings, leaders: list[int]) -> Iterator[Sentence]:
    """Give the most important caveat, if any."""
    candidates = (_without_judged(findings), _unanswered(findings), _other_order(findings, leaders), _alone(findings))
    yield from [sentence for sentence in candidates if sentence][:1]


def _without_judged(findings: Findings) -> Sentence:
    names = {mismatch.run for mismatch in findings.positions.mismatches}
    runs = [place for place, s in enumerate(findings.places) if findings.positions.runs[s] in names]
    if not runs:
        return []
    verb = "retrieves" if len(runs) == 1 else "retrieve"
    return [*_named(runs), _text(f" {verb} no judged document: check that the ids are written the same way.")]


def _unanswered(findings: Findings) -> Sentence:
    unanswered = (~findings.positions.answered[findings.places])[:, findings.eligible].sum(axis=1)
    runs = np.flatnonzero(unanswered).tolist()
    if not runs:
        return []
    num_due, most = int(findings.eligible.sum()), int(unanswered.max())
    number_of = f"{most:,} of {counted(num_due, 'query')}"
    verb = f" does not answer {number_of}" if len(runs) == 1 else f" do not answer up to {number_of}"
    policy = "which count as nothing found" if findings.policies.keeps_unanswered else "which are left out of the means"
    return [*_named(runs), _text(f"{verb}, {policy}.")]


def _other_order(findings: Findings, leaders: list[int]) -> Sentence:
    """Say so if the run that wins the most comparisons does not have the best mean."""
    if findings.comparison is None or not leaders or 0 in leaders:
        return []
    why = _text(" comes first on the leaderboard, because it wins the most comparisons under ")
    return [{"run": 0}, why, {"measure": _LEADING}, _text(", query by query.")]


def _alone(findings: Findings) -> Sentence:
    return [] if findings.comparison is not None else [_text("There is only one run, so nothing is compared.")]

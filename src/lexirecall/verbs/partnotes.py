"""Notes on pair parts: what has no difference or no interval, and what the test of groups can show.

Belongs here: the sentences. Not here: the differences (pairparts), the notes on groups themselves (breakdown_notes).
"""

from collections.abc import Iterator

import numpy as np

from lexirecall.errors import counted, listed
from lexirecall.manifest import Note
from lexirecall.preferences import Preference
from lexirecall.statistics.interaction import FEWEST, MOST_ADDITIONS
from lexirecall.statistics.queryaggregate import FEWEST_IN_TAIL
from lexirecall.verbs.pairparts import MeasureParts, PairPart, PairParts


def notes_on_parts(pairs: PairParts) -> Iterator[Note]:
    """Give what a reader of differences in parts should know."""
    yield from _without_own(pairs)
    yield from _undefined(pairs)
    yield from _without_interval(pairs)
    yield from _groups(pairs)


def _every_part(pairs: PairParts) -> list[tuple[MeasureParts, PairPart]]:
    return [(parts, part) for parts in pairs.measures for part in parts.parts]


def _without_own(pairs: PairParts) -> Iterator[Note]:
    others = [str(over) for over in pairs.overs if over.kind != "mean"]
    names = [str(parts.compared.measure) for parts in pairs.measures if isinstance(parts.compared.measure, Preference)]
    if others and names:
        text = (
            f"{listed(names, 9)} compares two rankings of one query, and a run has no value of its own: no difference "
            f"in {listed(others, 9)}"
        )
        yield Note("preferences over queries", text, len(names))


def _undefined(pairs: PairParts) -> Iterator[Note]:
    counts: dict[str, int] = {}
    for parts, part in _every_part(pairs):
        if number := int((~np.isfinite(part.differences) & (part.num_queries > 0)).sum()):
            name = f"{part.over} {parts.compared.measure}"
            counts[name] = counts.get(name, 0) + number
    if counts:
        which = listed((f"{name} {number:,}" for name, number in counts.items()), 9)
        text = f"differences that are undefined because a number falls on documents that were not retrieved: {which}"
        yield Note("undefined differences", text, sum(counts.values()))


def _without_interval(pairs: PairParts) -> Iterator[Note]:
    """Say which differences have no interval, and why."""
    if names := listed([str(over) for over in pairs.overs if over.kind in ("quantile", "min")]):
        text = f"differences in {names} have no interval and no test: no method holds (tails have: --over tail:0.25)"
        yield Note("differences without an interval", text, 1)
    parts = [(part, part.columns["low"]) for _, part in _every_part(pairs) if part.over.kind == "tail"]
    few: dict[str, int] = {}
    for part, lows in parts:
        least = int(part.num_queries.min())
        if None in lows and 0 < (k := part.over.num_of(least)) < FEWEST_IN_TAIL:
            few[f"{part.over}{'' if part.group is None else f' in {part.group}'}"] = k
    if few:
        which = listed((f"{name} {k}" for name, k in few.items()), 9)
        text = f"no interval and no test of tails of fewer than {FEWEST_IN_TAIL} queries ({which}): take a larger share"
        yield Note("few queries in the tail", text, len(few))


def _groups(pairs: PairParts) -> Iterator[Note]:
    if not pairs.has_groups:
        return
    tested = [parts for parts in pairs.measures if parts.interaction is not None]
    if not tested:
        text = "whether differences vary by group is tested for means only: add --over mean"
        yield Note("interaction not tested", text, len(pairs.measures))
        return
    tests = [parts.interaction for parts in tested if parts.interaction is not None]
    if number := max(int(test.num_small.max(initial=0)) for test in tests):
        text = (
            f"groups in which a pair has fewer than {FEWEST} queries are left out of the test of groups "
            f"(up to {counted(number, 'group')})"
        )
        yield Note("groups not tested", text, number)
    if number := sum(int(np.isnan(test.pvalues).sum()) for test in tests):
        alone = sum(int((test.num_groups < 2).sum()) for test in tests)
        reasons = {f"without two groups of {FEWEST} queries": alone, "with equal differences": number - alone}
        which = listed((f"{count:,} {reason}" for reason, count in reasons.items() if count), 2)
        yield Note("pairs without groups", f"{counted(number, 'pair')} not tested for groups: {which}", number)
    if bounded := [test.num_resamples for test in tests if test.is_bounded]:
        text = (
            f"groups are handed out {min(bounded):,} times, fewer than asked for: more would take over "
            f"{MOST_ADDITIONS:,} additions (compare fewer runs, or give --baseline)"
        )
        yield Note("fewer permutations", text, min(bounded))
    yield from _no_interaction(pairs, tested)


def _no_interaction(pairs: PairParts, tested: list[MeasureParts]) -> Iterator[Note]:
    """Say under which measures no pair could be found to vary by group."""
    names, least = [], 1.0
    for parts in tested:
        leasts = parts.interaction.leasts if parts.interaction is not None else np.array([])
        there = leasts[~np.isnan(leasts)]
        factor = len(there) if pairs.testing.correction in ("holm", "bonferroni") else 1
        if len(there) and (lowest := min(1.0, factor * float(there.min()))) >= pairs.testing.alpha:
            names.append(str(parts.compared.measure))
            least = min(least, lowest)
    if names:
        text = (
            f"no difference can be found to vary by group ({listed(names, 9)}): the corrected p is at least "
            f"{least:.3g} (alpha {pairs.testing.alpha:g}); it takes more queries in each group, or more resamples"
        )
        yield Note("no interaction can be significant", text, len(names))

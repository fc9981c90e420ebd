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


def notes_on_parts(made: PairParts) -> Iterator[Note]:
    """Give what a reader of differences in parts should know."""
    yield from _without_own(made)
    yield from _undefined(made)
    yield from _without_interval(made)
    yield from _groups(made)


def _every_part(made: PairParts) -> list[tuple[MeasureParts, PairPart]]:
    return [(own, part) for own in made.measures for part in own.parts]


def _without_own(made: PairParts) -> Iterator[Note]:
    others = [str(over) for over in made.overs if over.kind != "mean"]
    names = [str(each.compared.measure) for each in made.measures if isinstance(each.compared.measure, Preference)]
    if others and names:
        text = (
            f"{listed(names, 9)} compares two rankings of one query, and a run has no value of its own: no difference "
            f"in {listed(others, 9)}"
        )
        yield Note("preferences over queries", text, len(names))


def _undefined(made: PairParts) -> Iterator[Note]:
    counts: dict[str, int] = {}
    for own, part in _every_part(made):
        if number := int((~np.isfinite(part.differences) & (part.num_queries > 0)).sum()):
            name = f"{part.over} {own.compared.measure}"
            counts[name] = counts.get(name, 0) + number
    if counts:
        which = listed((f"{name} {number:,}" for name, number in counts.items()), 9)
        text = f"differences that are undefined because a number falls on documents that were not retrieved: {which}"
        yield Note("undefined differences", text, sum(counts.values()))


def _without_interval(made: PairParts) -> Iterator[Note]:
    """Say which differences have no interval, and why."""
    if names := listed([str(over) for over in made.overs if over.kind in ("quantile", "min")]):
        text = f"differences in {names} have no interval and no test: no method holds (tails have: --over tail:0.25)"
        yield Note("differences without an interval", text, 1)
    parts = [(part, part.columns["low"]) for _, part in _every_part(made) if part.over.kind == "tail"]
    few: dict[str, int] = {}
    for part, lows in parts:
        least = int(part.num_queries.min())
        if None in lows and 0 < (k := part.over.num_of(least)) < FEWEST_IN_TAIL:
            few[f"{part.over}{'' if part.group is None else f' in {part.group}'}"] = k
    if few:
        which = listed((f"{name} {k}" for name, k in few.items()), 9)
        text = f"no interval and no test of tails of fewer than {FEWEST_IN_TAIL} queries ({which}): take a larger share"
        yield Note("few queries in the tail", text, len(few))


def _groups(made: PairParts) -> Iterator[Note]:
    if not made.has_groups:
        return
    tested = [own for own in made.measures if own.interaction is not None]
    if not tested:
        text = "whether differences vary by group is tested for means only: add --over mean"
        yield Note("interaction not tested", text, len(made.measures))
        return
    tests = [own.interaction for own in tested if own.interaction is not None]
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
    yield from _no_interaction(made, tested)


def _no_interaction(made: PairParts, tested: list[MeasureParts]) -> Iterator[Note]:
    """Say under which measures no pair could be found to vary by group."""
    names, least = [], 1.0
    for own in tested:
        leasts = own.interaction.leasts if own.interaction is not None else np.array([])
        there = leasts[~np.isnan(leasts)]
        factor = len(there) if made.testing.correction in ("holm", "bonferroni") else 1
        if len(there) and (lowest := min(1.0, factor * float(there.min()))) >= made.testing.alpha:
            names.append(str(own.compared.measure))
            least = min(least, lowest)
    if names:
        text = (
            f"no difference can be found to vary by group ({listed(names, 9)}): the corrected p is at least "
            f"{least:.3g} (alpha {made.testing.alpha:g}); it takes more queries in each group, or more resamples"
        )
        yield Note("no interaction can be significant", text, len(names))

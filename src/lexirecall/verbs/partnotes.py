"""Notes on pair parts: what has no difference or no interval, and what the test of groups can show.

Belongs here: the sentences. Not here: the differences (pairparts), the notes on groups themselves (breakdown_notes).
"""

from collections.abc import Iterator

import numpy as np

from lexirecall.errors import counted, listed
from lexirecall.judgments import BoolArray
from lexirecall.manifest import Note
from lexirecall.preferences import Preference
from lexirecall.verbs.bootstrapped import FEW
from lexirecall.verbs.breakdown_notes import few_at_the_end
from lexirecall.verbs.pairparts import MeasureParts, PairPart, PairParts


def notes_on_parts(made: PairParts) -> Iterator[Note]:
    """Give what a reader of differences in parts should know."""
    yield from _without_own(made)
    yield from _undefined(made)
    yield from _resamples(made)
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


def _resamples(made: PairParts) -> Iterator[Note]:
    resampled = [part for _, part in _every_part(made) if part.is_resampled]
    if resampled:
        names = listed(dict.fromkeys(str(part.over) for part in resampled), 9)
        drawn = f"{made.num_resamples:,} resamples of the queries, the same for both runs; seed {made.testing.seed}"
        yield Note("paired bootstrap", f"intervals of differences in {names}: {drawn}", made.num_resamples)
        sizes = {part.group or "all queries": int(part.num_queries.max(initial=0)) for part in resampled}
        few = {name: size for name, size in sizes.items() if 0 < size < FEW}
        if few:
            where = listed((f"{name} {size:,}" for name, size in few.items()), 9)
            text = f"the bootstrap resamples few queries ({where}): below {FEW} its intervals are too narrow"
            yield Note("few queries resampled", text, len(few))
        yield from few_at_the_end((over for over in made.overs if over.is_resampled), sizes)
    if number := sum(int(_is_open(part).sum()) for part in resampled):
        text = (
            f"{counted(number, 'interval')} without an end because resamples fall on documents that were not retrieved"
        )
        yield Note("open intervals", text, number)
    if any(over.kind == "min" for over in made.overs):
        text = "differences of minima have no interval: resampling is not valid for a minimum"
        yield Note("minimum not resampled", text, 1)


def _is_open(part: PairPart) -> BoolArray:
    """Tell which pairs have a difference, but not both ends of its interval."""
    has_ends = [
        low is not None and high is not None
        for low, high in zip(part.columns["low"], part.columns["high"], strict=True)
    ]
    return np.asarray(np.isfinite(part.differences) & ~np.array(has_ends, bool))


def _groups(made: PairParts) -> Iterator[Note]:
    if not made.has_groups:
        return
    tested = [own for own in made.measures if own.interaction is not None]
    if not tested:
        text = "whether differences vary by group is tested for means only: add --over mean"
        yield Note("interaction not tested", text, len(made.measures))
        return
    if number := sum(int(np.isnan(own.interaction.pvalues).sum()) for own in tested if own.interaction is not None):
        text = f"{counted(number, 'pair')} with queries in fewer than two groups that are shown: not tested for groups"
        yield Note("pairs without groups", text, number)
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

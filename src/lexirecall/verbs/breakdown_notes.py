"""Notes on a breakdown: which groups and queries are not shown, and what has no number or no interval.

Belongs here: the sentences, and what a manifest records. Not here: the numbers (breakdown).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation
from lexirecall.errors import counted, listed
from lexirecall.groups import Groups
from lexirecall.manifest import Manifest, Note
from lexirecall.statistics.over import Over
from lexirecall.verbs.bootstrapped import FEW, Bootstrapped
from lexirecall.verbs.breakdown import Breakdown

FEWEST = {"tail": FEW, "quantile": 5}
"""A number that rests on fewer queries has an interval that is clearly too narrow (docs/over-queries.md)."""


def recorded(manifest: Manifest, made: Breakdown, asked: Aggregation) -> Manifest:
    """Return a manifest with the record of a breakdown, and with its notes."""
    conventions: dict[str, Any] = {"over": list(asked.over)} if asked.over else {}
    qrels: dict[str, Any] = {}
    if made.groups is not None:
        conventions |= {"by": made.groups.name, "min_queries": asked.min_queries}
        sizes = {part.group: part.num_queries for part in made.parts if part.group is not None} | dict(made.withheld)
        qrels = {"groups": {name: sizes[name] for name in made.groups.names}, "without_group": made.num_without}
    return replace(
        manifest,
        conventions={**manifest.conventions, **conventions},
        qrels={**manifest.qrels, **qrels},
        notes=(*manifest.notes, *notes_on_breakdown(made, asked)),
    )


def notes_on_breakdown(made: Breakdown, asked: Aggregation) -> Iterator[Note]:
    """Give what a reader of a breakdown should know."""
    yield from _endless(made)
    yield from _undefined(made)
    if made.groups is not None:
        yield from notes_on_groups(made.groups, made.num_without, made.withheld, asked.min_queries)
    yield from _resamples(made)


def _endless(made: Breakdown) -> Iterator[Note]:
    others = [str(over) for over in made.overs if over.kind != "mean"]
    if made.endless and others:
        which = listed((f"{name} {count:,}" for name, count in made.endless), 9)
        text = (
            f"values that are undefined because a document was not retrieved ({which}) count as infinitely deep in "
            f"{listed(others, 9)}"
        )
        yield Note("infinitely deep", text, sum(count for _, count in made.endless))


def _undefined(made: Breakdown) -> Iterator[Note]:
    """Say which numbers fall on a document that was not retrieved."""
    which: dict[str, int] = {}
    for part in made.parts:
        for o, c in np.argwhere(np.isinf(part.numbers).any(axis=1)).tolist():
            name = f"{made.overs[o]} {made.measures[c]}"
            which[name] = which.get(name, 0) + int(np.isinf(part.numbers[o, :, c]).sum())
    if which:
        parts = listed((f"{name} ({count:,})" for name, count in which.items()), 9)
        text = f"undefined numbers, because they fall on documents that were not retrieved: {parts}"
        yield Note("undefined over queries", text, sum(which.values()))


def notes_on_groups(
    groups: Groups, num_without: int, withheld: Sequence[tuple[str, int]], min_queries: int
) -> Iterator[Note]:
    """Say which queries have no group, and which groups are too small to be shown."""
    if number := num_without:
        yield Note("without group", f"{counted(number, 'query')} without a group: left out of the groups", number)
    if number := groups.num_strange:
        text = f"{counted(number, 'query')} of {groups.name} without judgments: ignored"
        yield Note("groups without judgments", text, number)
    if withheld:
        which = listed((f"{name} {size:,}" for name, size in withheld), 9)
        text = (
            f"{counted(len(withheld), 'group')} with fewer than {counted(min_queries, 'query')} that count "
            f"({which}): not shown, but included in all queries (--min-queries shows smaller groups)"
        )
        yield Note("small groups", text, len(withheld))


def _intervals(made: Breakdown) -> list[Bootstrapped]:
    return [each for part in made.parts for each in part.bootstrapped if each is not None]


def few_at_the_end(overs: Iterable[Over], sizes: Mapping[str, int]) -> Iterator[Note]:
    """Warn of quantiles and tails that rest on few of so many queries, in all and in each group."""
    for over in overs:
        limit = FEWEST.get(over.kind, 0)
        resting = {name: over.num_resting(size) for name, size in sizes.items()}
        if few := [f"{name} {number:,}" for name, number in resting.items() if 0 < number < limit]:
            text = (
                f"{over} rests on few queries ({listed(few, 9)}): below {limit} its bootstrap intervals are too narrow"
            )
            yield Note(f"few queries at {over}", text, len(few))


def _resamples(made: Breakdown) -> Iterator[Note]:
    """Say what is unusual about intervals, each kind once."""
    if not made.is_resampled:
        return
    few = [(part.group, part.num_queries) for part in made.parts if 0 < part.num_queries < FEW]
    if few:
        where = listed((f"{group or 'all queries'} {number:,}" for group, number in few), 9)
        text = f"the bootstrap resamples few queries ({where}): below {FEW} its intervals are too narrow"
        yield Note("few queries resampled", text, len(few))
    yield from few_at_the_end(made.overs, {part.group or "all queries": part.num_queries for part in made.parts})
    others: dict[str, Note] = {}
    for note in (note for each in _intervals(made) for note in each.notes):
        if note.kind != "few queries resampled" and note.count > others.get(note.kind, Note("", "")).count:
            others[note.kind] = note
    yield from others.values()
    if open_ends := sum(int(np.isinf([each.lows, each.highs]).sum()) for each in _intervals(made)):
        text = (
            f"{counted(open_ends, 'end')} of bootstrap intervals fall on documents that were not retrieved: undefined"
        )
        yield Note("open intervals", text, open_ends)
    if least := [str(over) for over in made.overs if not over.is_resampled]:
        text = f"{listed(least)} has no bootstrap interval: resampling is not valid for a minimum"
        yield Note("minimum not resampled", text, len(least))

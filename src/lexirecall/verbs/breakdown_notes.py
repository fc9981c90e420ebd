"""Notes on a breakdown: which groups and queries are not shown, and what has no number or no interval.

Belongs here: the sentences, and what a manifest records. Not here: the numbers (breakdown).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation
from lexirecall.errors import counted, listed
from lexirecall.groups import Groups
from lexirecall.manifest import Manifest, Note
from lexirecall.verbs.breakdown import Breakdown


def recorded(manifest: Manifest, breakdown: Breakdown, asked: Aggregation) -> Manifest:
    """Return a manifest with the record of a breakdown, and with its notes."""
    conventions: dict[str, Any] = {"over": list(asked.over)} if asked.over else {}
    qrels: dict[str, Any] = {}
    if (groups := breakdown.groups) is not None:
        conventions |= {"by": groups.name, "min_queries": asked.min_queries}
        shown = {part.group: part.num_queries for part in breakdown.parts if part.group is not None}
        sizes = shown | dict(breakdown.withheld)
        qrels = {"groups": {name: sizes[name] for name in groups.names}, "without_group": breakdown.num_without}
    return replace(
        manifest,
        conventions={**manifest.conventions, **conventions},
        qrels={**manifest.qrels, **qrels},
        notes=(*manifest.notes, *notes_on_breakdown(breakdown, asked)),
    )


def notes_on_breakdown(breakdown: Breakdown, asked: Aggregation) -> Iterator[Note]:
    """Give what a reader of a breakdown should know."""
    yield from _endless(breakdown)
    yield from _undefined(breakdown)
    if breakdown.groups is not None:
        yield from notes_on_groups(breakdown.groups, breakdown.num_without, breakdown.withheld, asked.min_queries)
    notes = (note for part in breakdown.parts for intervals in part.intervals for note in intervals.notes)
    yield from {note.text: note for note in notes}.values()  # groups have the same reasons


def _endless(breakdown: Breakdown) -> Iterator[Note]:
    others = [str(over) for over in breakdown.overs if over.kind != "mean"]
    if breakdown.endless and others:
        which = listed((f"{name} {count:,}" for name, count in breakdown.endless), 9)
        text = (
            f"values that are undefined because a document was not retrieved ({which}) count as infinitely deep in "
            f"{listed(others, 9)}"
        )
        yield Note("infinitely deep", text, sum(count for _, count in breakdown.endless))


def _undefined(breakdown: Breakdown) -> Iterator[Note]:
    """Say which numbers fall on a document that was not retrieved."""
    which: dict[str, int] = {}
    for part in breakdown.parts:
        for o, c in np.argwhere(np.isinf(part.numbers).any(axis=1)).tolist():
            name = f"{breakdown.overs[o]} {breakdown.measures[c]}"
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

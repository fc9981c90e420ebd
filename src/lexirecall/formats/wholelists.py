"""Whole lists: the ids of every ranking, in order, for what needs more of a run than the positions of judged documents.

Belongs here: the lists of several runs, all runs of one query at a time, and several runs joined to one. Not here:
reading them (listing), their order (ranking).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from lexirecall.formats.rankedlist import RankedList
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.tracks import RunPositions

if TYPE_CHECKING:
    from lexirecall.units.unitmap import UnitMap


@dataclass(frozen=True, slots=True)
class RunLists:
    """The rankings of one run for judged queries."""

    name: str
    lists: Mapping[bytes, Sequence[bytes]]
    """For each judged query that it answers, the ids of its documents, the first one first."""
    unjudged: frozenset[bytes] = frozenset()
    """The queries without judgments."""
    num_duplicates: int = 0
    num_extra: int = 0
    scores: Mapping[bytes, FloatArray] = field(default_factory=dict)
    """The scores in the same order, if they are asked for; queries whose list is given without scores are left out."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The rankings of several runs, all runs of one query at a time.

    >>> judgments = Judgments.from_grades({b"q": {b"a": 1}, b"r": {b"b": 1}})
    >>> lists = Lists(judgments, (RunLists("one", {b"q": [b"x", b"a"]}), RunLists("two", {b"q": [b"a"], b"r": []})))
    >>> for query, of_runs in lists:
    ...     print(query, of_runs)
    b'q' [[b'x', b'a'], [b'a']]
    b'r' [None, []]
    """

    judgments: Judgments
    runs: tuple[RunLists, ...]
    frame_library: str = ""
    """The library of the frames that they come from; empty if they do not."""

    def __iter__(self) -> Iterator[tuple[bytes, list[Sequence[bytes] | None]]]:
        for query in self.judgments.query_ids:
            yield query, [run.lists.get(query) for run in self.runs]


@dataclass(frozen=True, slots=True)
class JoinedRun:
    """Several runs as one: for each query their union, in the order of first appearance, run by run.

    >>> judgments = Judgments.from_grades({b"q": {b"a": 1}})
    >>> calls = Lists(judgments, (RunLists("one", {b"q": [b"x", b"a"]}), RunLists("two", {b"q": [b"a", b"y"]})))
    >>> JoinedRun("both", calls).joined, JoinedRun("both", calls).num_repeats.tolist()
    ({b'q': [b'x', b'a', b'y']}, [1])
    """

    name: str
    calls: Lists
    """Cut at the depth already."""
    joined: Mapping[bytes, Sequence[bytes]] = field(init=False)
    """For each query that any of them answers, the ids in order."""

    def __post_init__(self) -> None:
        answered = ((query, [ids for ids in lists if ids is not None]) for query, lists in self.calls)
        joined = {query: _union(lists) for query, lists in answered if lists}
        object.__setattr__(self, "joined", joined)

    @property
    def num_repeats(self) -> IntArray:
        """How many documents of each judged query were there before, in an earlier run, [Q]."""
        sizes = [sum(len(ids or ()) for ids in lists) - len(self.joined.get(q, ())) for q, lists in self.calls]
        return np.array(sizes, np.int64)

    def runs(
        self, judgments: Judgments, conventions: Conventions, units: "UnitMap | None", *, needs_judged: bool
    ) -> list[RunPositions]:
        """Find where the judged documents are in the joined rankings."""
        from lexirecall.formats.lists import project_rankings  # not on top: few runs are joined

        rankings = (RankedList(query, list(documents), None) for query, documents in self.joined.items())
        uncut = replace(conventions, depth=None)
        positions = project_rankings(self.name, rankings, judgments, uncut, units, needs_judged=needs_judged)
        runs = self.calls.runs
        return [
            replace(
                positions,
                num_unjudged=len(frozenset().union(*(run.unjudged for run in runs))),
                num_duplicates=sum(run.num_duplicates for run in runs),
                num_extra=sum(run.num_extra for run in runs),
            )
        ]

    def documents(self, _run: str, query: bytes) -> Iterable[bytes]:
        """Give the documents of one joined ranking."""
        return self.joined.get(query, ())

    def lists(
        self, _judgments: Judgments, _conventions: Conventions, *, needs_scores: bool = False,  # noqa: ARG002 - a form's
    ) -> list[RunLists]:  # fmt: skip
        """Give the joined rankings; they have no scores of their own."""
        return [RunLists(self.name, self.joined)]


def _union(lists: Iterable[Sequence[bytes]]) -> list[bytes]:
    return list(dict.fromkeys(document for documents in lists for document in documents))

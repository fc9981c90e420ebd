"""Pools: of each query, what the runs retrieve that is relevant, or that nobody has judged.

Belongs here: these documents, where every run has them, and the positions under any labelling of the unjudged ones. Not
here: which labellings matter (bounds, flips), how likely they are (rates).

A document is unjudged if it has no grade, or a negative one. Documents that were judged and have no positive grade are
left out: no label changes them. A labelling makes some of the unjudged documents relevant, with one grade, and all
others not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.formats.wholelists import Lists
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.tracks import RunPositions, Tracks


@dataclass(frozen=True, slots=True)
class LabelPool:
    """What S runs retrieve for one query: I documents that are relevant or unjudged.

    >>> from lexirecall.formats.listing import load_lists
    >>> lists = load_lists({"q": {"a": 1, "b": 0, "c": 2}}, {"one": {"q": ["x", "a", "b"]}, "two": {"q": ["a"]}})
    >>> pool = next(pools_of(lists))
    >>> pool.documents, pool.places.tolist(), pool.is_unjudged.tolist(), pool.num_relevant(1)
    ((b'x', b'a'), [[1, 2], [0, 1]], [True, False], 2)
    """

    query: int
    """Index in the judgments."""
    documents: tuple[bytes, ...]
    """In the order of the runs, and of each run's ranking."""
    places: IntArray
    """Where each run has each document, counted from 1; 0 if it does not retrieve it, [S, I]."""
    grades: FloatArray
    """Of each document; nan if it is unjudged, [I]."""
    missed: FloatArray
    """The positive grades of the documents that no run retrieves."""
    lengths: IntArray
    """How many documents each run retrieves, [S]."""
    answered: BoolArray
    """Which runs answer the query, [S]."""

    @property
    def is_unjudged(self) -> BoolArray:
        """Which documents nobody has judged, [I]."""
        return np.isnan(self.grades)

    def is_relevant(self, level: float) -> BoolArray:
        """Which documents are known to be relevant, [I]."""
        return self.grades >= level

    def num_relevant(self, level: float) -> int:
        """How many documents are known to be relevant, retrieved or not."""
        return int(np.count_nonzero(self.is_relevant(level)) + np.count_nonzero(self.missed >= level))

    def of_runs(self, runs: Sequence[int] | IntArray) -> "LabelPool":
        """Return what some of the runs retrieve; what no other run retrieves is gone, or missed."""
        places = self.places[np.asarray(runs, np.int64)]
        is_kept: BoolArray = np.asarray((places > 0).any(axis=0))
        kept = np.flatnonzero(is_kept)
        return LabelPool(
            query=self.query,
            documents=tuple(self.documents[at] for at in kept),
            places=places[:, kept],
            grades=self.grades[kept],
            missed=np.concatenate([self.missed, self.grades[~is_kept & ~self.is_unjudged]]),
            lengths=self.lengths[runs],
            answered=self.answered[runs],
        )


def pools_of(lists: Lists) -> Iterator[LabelPool]:
    """Give the pool of each judged query, in the order of the judgments."""
    for query, (_, of_runs) in enumerate(lists):
        yield _pool(lists.judgments, query, of_runs)


def _pool(judgments: Judgments, query: int, of_runs: Sequence[Sequence[bytes] | None]) -> LabelPool:
    lookup, grades = judgments.lookup(query), judgments.grades
    known = {document: grade for document, at in lookup.items() if (grade := float(grades[at])) >= 0}
    numbers: dict[bytes, int] = {}
    rows: list[tuple[list[int], list[int]]] = []
    for ranking in of_runs:
        wanted = [(place, document) for place, document in enumerate(ranking or (), 1) if known.get(document, 1) > 0]
        rows.append(
            ([numbers.setdefault(document, len(numbers)) for _, document in wanted], [place for place, _ in wanted])
        )
    places = np.zeros((len(rows), len(numbers)), np.int64)
    for row, (documents, ranks) in zip(places, rows, strict=True):
        row[documents] = ranks
    return LabelPool(
        query=query,
        documents=tuple(numbers),
        places=places,
        grades=np.array([known.get(document, np.nan) for document in numbers], float),
        missed=np.array([grade for document, grade in known.items() if grade > 0 and document not in numbers], float),
        lengths=np.array([len(ranking or ()) for ranking in of_runs], np.int64),
        answered=np.array([ranking is not None for ranking in of_runs], bool),
    )


@dataclass(frozen=True, slots=True)
class Labelling:
    """What becomes of the runs if documents of a pool are labelled: each labelling of each pool is a query of its own.

    >>> from lexirecall.formats.listing import load_lists
    >>> lists = load_lists({"q": {"a": 1}}, {"one": {"q": ["x", "a"]}, "two": {"q": ["a", "y"]}})
    >>> pools = list(pools_of(lists))
    >>> nothing, only_x = np.zeros((1, 3), bool), np.array([[True, False, False]])
    >>> positions = Labelling(("one", "two"), Conventions()).positions([*pools, *pools], [nothing, only_x])
    >>> positions.shape, positions.found.positions.tolist(), positions.num_relevant(1).tolist()
    ((2, 2), [2, 1, 2, 1, 1], [1, 2])
    """

    runs: tuple[str, ...]
    conventions: Conventions
    grade: float = 1
    """The grade of new labels: the level from which a grade counts as relevant."""
    corpus_size: IntArray | None = None
    """n of each judged query, [Q]."""

    def positions(self, pools: Sequence[LabelPool], labels: Sequence[BoolArray]) -> Positions:
        """Return the positions under each labelling of each pool, `labels[p]` being [L_p, I_p]; pool by pool.

        Labels of documents that are judged are not looked at.
        """
        laid = [_laid(pool, rows, self.grade) for pool, rows in zip(pools, labels, strict=True)]
        counts = [len(rows) for rows in labels]
        sizes = np.concatenate([block.sizes for block in laid])
        starts = np.split(offsets_of(sizes)[:-1], np.cumsum(counts)[:-1])
        queries = np.repeat([pool.query for pool in pools], counts)
        judgments = Judgments(
            queries=tuple(map(str, range(len(queries)))),
            query_ids=PackedIds.pack([str(number).encode() for number in range(len(queries))]),
            offsets=offsets_of(sizes),
            documents=PackedIds(b"", np.zeros(sizes.sum() + 1, np.int64)),
            grades=np.concatenate([block.grades for block in laid]),
            num_positive=sizes,
        )
        runs = [
            RunPositions(
                name,
                np.repeat([pool.answered[s] for pool in pools], counts),
                np.repeat([pool.lengths[s] for pool in pools], counts),
                Tracks.concatenate(
                    [block.tracks(pool, s, at) for block, pool, at in zip(laid, pools, starts, strict=True)]
                ),
                None,
            )
            for s, name in enumerate(self.runs)
        ]
        size = None if self.corpus_size is None else self.corpus_size[queries]
        return Positions.stack(judgments, runs, self.conventions, size)


@dataclass(frozen=True, slots=True)
class _PoolLabellings:
    """The labellings of one pool."""

    is_positive: BoolArray
    """Which documents have a positive grade, [L, I]."""
    numbers: IntArray
    """Which document of its labelling each of these is, [L, I]."""
    sizes: IntArray
    """How many documents have a positive grade, retrieved or not, [L]."""
    grades: FloatArray

    def tracks(self, pool: LabelPool, run: int, starts: IntArray) -> Tracks:
        """Return the rankings of one run under each labelling; documents begin at `starts` in the judgments."""
        retrieved = np.flatnonzero(pool.places[run])
        order = retrieved[np.argsort(pool.places[run, retrieved])]
        labellings, columns = np.nonzero(self.is_positive[:, order])
        chosen = order[columns]
        counts = np.bincount(labellings, minlength=len(self.sizes))
        return Tracks(
            Segments(offsets_of(counts)),
            pool.places[run, chosen],
            starts[labellings] + self.numbers[labellings, chosen],
        )


def _laid(pool: LabelPool, labels: BoolArray, grade: float) -> _PoolLabellings:
    is_positive = np.where(pool.is_unjudged, labels, pool.grades > 0)
    with_missed = np.pad(is_positive, ((0, 0), (0, len(pool.missed))), constant_values=True)
    all_grades = np.concatenate([np.where(pool.is_unjudged, grade, pool.grades), pool.missed])
    return _PoolLabellings(
        is_positive,
        is_positive.cumsum(axis=1) - 1,
        with_missed.sum(axis=1),
        np.broadcast_to(all_grades, with_missed.shape)[with_missed],
    )

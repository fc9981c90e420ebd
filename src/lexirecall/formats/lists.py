"""Lists: rankings as Python objects, one query at a time, to positions.

Belongs here: rankings that come one by one, from text or from mappings. Not here: what lines and keys mean (trec,
memory), the order of a ranking (ranking).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat

import numpy as np

from lexirecall.formats.assembly import assemble, tracks_of
from lexirecall.formats.counting import place_by_units
from lexirecall.formats.rankedlist import DuplicateDocument, RankedList
from lexirecall.formats.ranking import RankedLines, place, place_all, repeated, rounded
from lexirecall.formats.wholelists import RunLists
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap

_BATCH = 1 << 12  # lines that are ordered together: memory depends on this, or on one query, not on the run


def project_rankings(
    name: str,
    rankings: Iterable[RankedList],
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None = None,
    *,
    needs_judged: bool,
) -> RunPositions:
    """Turn one run's rankings into positions, counted in `units` if given; each query comes at most once."""
    taken = _RankingCollector(judgments, conventions, units)
    found = [np.zeros((0, 5), np.int64)]
    found += taken.placed(rankings)
    return assemble(
        name,
        judgments,
        conventions,
        tracks_of(np.concatenate(found), len(judgments.queries)),
        taken.num_retrieved,
        needs_judged=needs_judged,
        num_unjudged=len(taken.unjudged),
        num_duplicates=taken.num_duplicates,
        num_extra=taken.num_extra,
    )


def order_rankings(
    name: str,
    rankings: Iterable[RankedList],
    judgments: Judgments,
    conventions: Conventions,
    *,
    needs_scores: bool = False,
) -> RunLists:
    """Put the documents of one run's rankings into order, whole; each query comes at most once.

    >>> judgments = Judgments.from_grades({b"q": {b"a": 1}})
    >>> order_rankings("bm25", [RankedList(b"q", [b"a", b"b"], [1.0, 2.0])], judgments, Conventions()).lists
    {b'q': [b'b', b'a']}
    """
    taken = _RankingCollector(judgments, conventions, None)
    lists: dict[bytes, list[bytes]] = {}
    scores: dict[bytes, FloatArray] = {}
    for ranking, lines in taken.ordered(rankings):
        lists[ranking.query] = [ranking.documents[line] for line in lines.tolist()]
        if needs_scores and ranking.scores is not None:
            scores[ranking.query] = np.array(ranking.scores, np.float64)[lines]
    return RunLists(
        name=name, lists=lists, unjudged=frozenset(taken.unjudged), num_duplicates=taken.num_duplicates,
        num_extra=taken.num_extra, scores=scores,
    )  # fmt: skip


@dataclass(slots=True)
class _RankingCollector:
    """Rankings of judged queries, taken one by one, and what was met on the way."""

    judgments: Judgments
    conventions: Conventions
    units: UnitMap | None
    num_retrieved: IntArray = field(init=False)
    unjudged: set[bytes] = field(default_factory=set)
    num_duplicates: int = 0
    num_extra: int = 0

    def __post_init__(self) -> None:
        self.num_retrieved = np.full(len(self.judgments.queries), -1, np.int64)

    def placed(self, rankings: Iterable[RankedList]) -> Iterator[IntArray]:
        """Give the places of the judged documents, of some rankings at a time."""
        grades, ties = self.judgments.grades, self.conventions.ties
        for lines, slots in self._batches(rankings):
            if self.units is None or slots is None:
                yield place(lines, grades, ties)
            else:
                rows, queries, num_places = place_by_units(lines, slots, self.units, grades, ties)
                self.num_retrieved[queries] = num_places
                yield rows

    def ordered(self, rankings: Iterable[RankedList]) -> Iterator[tuple[RankedList, IntArray]]:
        """Give each ranking of a judged query with the order of its lines."""
        for query, ranking in self._judged(rankings):
            every = place_all(self._lines([query], [ranking]), self.judgments.grades, self.conventions.ties)
            yield ranking, every[:, 2]

    def _batches(self, rankings: Iterable[RankedList]) -> Iterator[tuple[RankedLines, IntArray | None]]:
        queries: list[int] = []
        batch: list[RankedList] = []
        size = 0
        for query, ranking in self._judged(rankings):
            queries.append(query)
            batch.append(ranking)
            size += len(ranking.documents)
            if size >= _BATCH:
                yield self._lines(queries, batch), self._slots(batch)
                queries, batch, size = [], [], 0
        if batch:
            yield self._lines(queries, batch), self._slots(batch)

    def _slots(self, batch: Sequence[RankedList]) -> IntArray | None:
        if (units := self.units) is None:
            return None
        return np.concatenate([units.slots_of(ranking.query, ranking.documents) for ranking in batch])

    def _judged(self, rankings: Iterable[RankedList]) -> Iterator[tuple[int, RankedList]]:
        """Give the rankings of judged queries, in which each document is listed once."""
        index = self.judgments.index
        for ranking in rankings:
            self.num_extra += ranking.num_extra
            query = index.get(ranking.query)
            if query is None:
                self.unjudged.add(ranking.query)
                continue
            unique = without_duplicates(ranking, self.conventions.duplicates)
            self.num_duplicates += len(ranking.documents) - len(unique.documents)
            self.num_retrieved[query] = len(unique.documents)
            yield query, unique

    def _lines(self, queries: Sequence[int], batch: Sequence[RankedList]) -> RankedLines:
        documents = list(chain.from_iterable(ranking.documents for ranking in batch))
        lookups = (
            map(self.judgments.lookup(query).get, ranking.documents, repeat(-1))
            for query, ranking in zip(queries, batch, strict=True)
        )

        def ranks(lines: IntArray, borders: IntArray) -> IntArray:
            ids = [documents[line] for line in lines.tolist()]
            blocks = (sorted(range(*block), key=ids.__getitem__) for block in pairwise(borders.tolist()))
            ranks = np.empty(len(ids), np.int64)
            ranks[list(chain.from_iterable(blocks))] = np.arange(len(ids))
            return ranks

        return RankedLines(
            rankings=np.repeat(queries, [len(ranking.documents) for ranking in batch]),
            scores=np.concatenate([self._scores(ranking) for ranking in batch]),
            judged=np.fromiter(chain.from_iterable(lookups), np.int64, len(documents)),
            ranks=ranks,
        )

    def _scores(self, ranking: RankedList) -> FloatArray:
        """Return the scores as they are compared; a list without scores has no ties."""
        if ranking.scores is None:
            return -np.arange(len(ranking.documents), dtype=np.float64)
        return rounded(np.array(ranking.scores, np.float64), self.conventions.score_dtype)


def without_duplicates(ranking: RankedList, duplicates: str) -> RankedList:
    """Keep the first line of each document, or the one with the best score, or refuse.

    >>> without_duplicates(RankedList(b"q", [b"a", b"b", b"a"], [1.0, 2.0, 3.0]), "best")
    RankedList(query=b'q', documents=[b'b', b'a'], scores=[2.0, 3.0], num_extra=0)
    """
    documents, scores = ranking.documents, ranking.scores
    if len(set(documents)) == len(documents):
        return ranking
    numbers: dict[bytes, int] = {}
    codes = np.array([numbers.setdefault(document, len(numbers)) for document in documents])
    is_left_out, _ = repeated(codes, None if scores is None else np.array(scores), duplicates)
    if duplicates == "error":
        raise DuplicateDocument(ranking.query, documents[int(np.argmax(is_left_out))])
    kept = np.flatnonzero(~is_left_out).tolist()
    return RankedList(
        ranking.query, [documents[i] for i in kept], None if scores is None else [scores[i] for i in kept]
    )

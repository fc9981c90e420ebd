"""Sought: the documents whose scores must be known: those that are judged, and those that are excluded.

Belongs here: pairs of a query and such a document, and counts without what is excluded. Not here: finding them in the
corpus (counting).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, listed, shown
from lexirecall.formats.embeddings.ids import TextIds
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.text import to_text


@dataclass(frozen=True, slots=True)
class SoughtPairs:
    """What is sought of the queries that have a vector; a pair is a query and one of these documents."""

    judgments: Judgments
    queries: IntArray
    """Of each row of the query vectors, its query; ascending."""
    rows: IntArray
    """Of each pair, ascending."""
    documents: IntArray
    """Of each pair, index into the grades and ids of the judgments; -1 if it is excluded."""
    ids: list[bytes]
    """Of each pair."""

    @classmethod
    def of(cls, judgments: Judgments, queries: IntArray, excluded: Mapping[bytes, set[bytes]]) -> "SoughtPairs":
        """Return what is sought for some queries; raise if a relevant document is excluded."""
        owners = np.repeat(np.arange(len(judgments.queries)), np.diff(judgments.offsets))
        documents = np.flatnonzero(np.isin(owners, queries))
        rows, all_ids = np.searchsorted(queries, owners[documents]), list(judgments.documents)
        whole = cls(judgments, queries, rows, documents, [all_ids[document] for document in documents.tolist()])
        return whole._with(excluded) if excluded else whole

    def _with(self, excluded: Mapping[bytes, set[bytes]]) -> "SoughtPairs":
        """Put in what is excluded; what is judged, and is excluded too, is not sought any more."""
        query_ids = list(self.judgments.query_ids)
        out = [excluded.get(query_ids[query], set()) for query in self.queries.tolist()]
        both = np.array(
            [document in out[row] for row, document in zip(self.rows.tolist(), self.ids, strict=True)], bool
        )
        self._check_apart(np.flatnonzero(both))
        rows = np.concatenate([self.rows[~both], np.repeat(np.arange(len(out)), [len(documents) for documents in out])])
        documents = np.concatenate([self.documents[~both], np.full(len(rows) - np.count_nonzero(~both), -1)])
        kept = [self.ids[pair] for pair in np.flatnonzero(~both).tolist()]
        ids = kept + [document for of_row in out for document in sorted(of_row)]
        order = np.argsort(rows, kind="stable")  # the pairs of a row are found by bisection: they must be side by side
        return replace(self, rows=rows[order], documents=documents[order], ids=[ids[pair] for pair in order.tolist()])

    def _check_apart(self, both: IntArray) -> None:
        relevant = both[self.judgments.grades[self.documents[both]] > 0]
        if len(relevant):
            query = self.judgments.queries[self.queries[self.rows[relevant[0]]]]
            same = relevant[self.rows[relevant] == self.rows[relevant[0]]].tolist()
            ids = listed(shown(to_text(self.ids[pair])) for pair in same)
            raise DataError(
                f"query {shown(query)}: both relevant and excluded: {ids}",
                remedy="leave it out of one of them: what is excluded is not in the corpus",
            )

    @property
    def is_judged(self) -> BoolArray:
        """Whether each pair is judged; the others are excluded."""
        return self.documents >= 0


def exclusions_of(exclude: Any, query_ids: Iterable[bytes]) -> dict[bytes, set[bytes]]:
    """Take what is excluded: for each query, ids of documents.

    >>> exclusions_of({"q": ["a", 7]}, [b"q"]) == {b"q": {b"a", b"7"}}
    True
    """
    if exclude is None:
        return {}
    if not isinstance(exclude, Mapping):
        problem = f"exclude is of type {type(exclude).__name__}"
        raise UsageError(problem, remedy='give ids of documents for each query, such as {"q1": ["d3", "d8"]}')
    excluded: dict[bytes, set[bytes]] = {}
    for query, ids in exclude.items():
        what = f"exclude: {shown(str(query))}"
        if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
            raise UsageError(f"{what} has a {type(ids).__name__} instead of a list", remedy="give a list of ids")
        (query_id,) = TextIds([query], "exclude").texts()
        excluded.setdefault(query_id, set()).update(TextIds(list(ids), what).texts())  # 1 and "1" are one query
    if excluded and not excluded.keys() & set(query_ids):
        raise UsageError(
            f"exclude: no query has a vector ({listed(map(shown, exclude), most=3)})",
            remedy="check that ids are written the same way",
        )
    return excluded


def excluded_counts(
    sought: SoughtPairs, indices: IntArray, thresholds: FloatArray, ties: str
) -> tuple[IntArray, IntArray]:
    """Return what excluded documents add to the counts of each pair, to be taken off, and how many each row has.

    An index of -1 says that a document is not in the corpus.
    """
    above, tied, before = counts = np.zeros((3, len(sought.rows)), np.int64)
    is_out = (indices >= 0) & ~sought.is_judged
    for row in np.unique(sought.rows[is_out]).tolist():
        pairs = np.arange(*np.searchsorted(sought.rows, (row, row + 1)))
        judged, out = pairs[sought.is_judged[pairs]], pairs[is_out[pairs]]
        scores, others = thresholds[judged][:, None], thresholds[out]
        above[judged], tied[judged] = (others > scores).sum(1), (others == scores).sum(1)
        for pair in judged[tied[judged] > 0].tolist():
            same = out[thresholds[out] == thresholds[pair]].tolist()
            before[pair] = sum(_is_first(sought, indices, one, pair, ties) for one in same)
    return counts, np.bincount(sought.rows[is_out], minlength=len(sought.queries))


def _is_first(sought: SoughtPairs, indices: IntArray, one: int, other: int, ties: str) -> bool:
    """Tell whether one of two pairs with the same score comes first."""
    if ties == "input":
        return bool(indices[one] < indices[other])
    return sought.ids[one] > sought.ids[other]

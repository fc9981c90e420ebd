"""Sought: the items whose scores must be known: those that are judged, and those that are excluded.

Belongs here: pairs of a request and such an item, and counts without what is excluded. Not here: finding them in the
corpus (counting).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, listed, shown
from lexirecall.formats.embeddings.ids import Texts
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.text import id_of, to_text


@dataclass(frozen=True, slots=True)
class Sought:
    """What is sought of the requests that have a vector; a pair is a request and one of these items."""

    judgments: Judgments
    requests: IntArray
    """Of each row of the query vectors, its request; ascending."""
    rows: IntArray
    """Of each pair, ascending."""
    items: IntArray
    """Of each pair, index into the grades and ids of the judgments; -1 if it is excluded."""
    ids: list[bytes]
    """Of each pair."""

    @classmethod
    def of(cls, judgments: Judgments, requests: IntArray, excluded: Mapping[bytes, set[bytes]]) -> "Sought":
        """Return what is sought for some requests; raise if a relevant item is excluded."""
        rows, items, ids = list[int](), list[int](), list[bytes]()
        all_ids, request_ids = list(judgments.items), list(judgments.request_ids)
        for row, request in enumerate(requests.tolist()):
            out = excluded.get(request_ids[request], set())
            judged = list(range(*judgments.offsets[request : request + 2].tolist()))
            if out:
                _check_apart(judgments, request, [item for item in judged if all_ids[item] in out])
                judged = [item for item in judged if all_ids[item] not in out]
            items += [*judged, *[-1] * len(out)]
            ids += [*(all_ids[item] for item in judged), *sorted(out)]
            rows += [row] * (len(judged) + len(out))
        return cls(judgments, requests, np.array(rows, np.int64), np.array(items, np.int64), ids)

    @property
    def is_judged(self) -> BoolArray:
        """Whether each pair is judged; the others are excluded."""
        return self.items >= 0

    def pairs_by_id(self) -> dict[bytes, list[int]]:
        """Return the pairs of each id."""
        pairs: dict[bytes, list[int]] = {}
        for pair, each in enumerate(self.ids):
            pairs.setdefault(each, []).append(pair)
        return pairs


def _check_apart(judgments: Judgments, request: int, both: list[int]) -> None:
    relevant = [judgments.items[item] for item in both if judgments.grades[item] > 0]
    if relevant:
        query, ids = judgments.requests[request], listed(shown(to_text(each)) for each in relevant)
        raise DataError(
            f"query {shown(query)}: both relevant and excluded: {ids}",
            remedy="leave it out of one of them: what is excluded is not in the corpus",
        )


def exclusions_of(given: Any, query_ids: Iterable[bytes]) -> dict[bytes, set[bytes]]:
    """Take what is excluded: for each query, ids of documents.

    >>> exclusions_of({"q": ["a", 7]}, [b"q"]) == {b"q": {b"a", b"7"}}
    True
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        problem = f"exclude is of type {type(given).__name__}"
        raise UsageError(problem, remedy='give ids of documents for each query, such as {"q1": ["d3", "d8"]}')
    excluded = {}
    for query, ids in given.items():
        if isinstance(ids, (str, bytes)):
            raise UsageError(f"exclude: {shown(str(query))} has a text instead of a list", remedy="give a list of ids")
        excluded[id_of(query)] = set(Texts(list(ids), f"exclude: {shown(str(query))}").texts())
    if excluded and not excluded.keys() & set(query_ids):
        raise UsageError(
            f"exclude: no query has a vector ({listed(map(shown, given), most=3)})",
            remedy="check that ids are written the same way",
        )
    return excluded


@dataclass(frozen=True, slots=True)
class Excluded:
    """What the items that are excluded add to the counts of each pair, to be taken off."""

    above: IntArray
    tied: IntArray
    before: IntArray
    num_items: IntArray
    """Of each row."""

    @classmethod
    def of(cls, sought: Sought, indices: IntArray, thresholds: FloatArray, ties: str) -> "Excluded":
        """Compare the scores of each row's judged and excluded items, as they are in the corpus; -1 is not there."""
        above, tied, before = (np.zeros(len(sought.rows), np.int64) for _ in range(3))
        is_out = (indices >= 0) & ~sought.is_judged
        for row in np.unique(sought.rows[is_out]).tolist():
            pairs = np.arange(*np.searchsorted(sought.rows, (row, row + 1)))
            judged, out = pairs[sought.is_judged[pairs]], pairs[is_out[pairs]]
            own, others = thresholds[judged][:, None], thresholds[out]
            above[judged], tied[judged] = (others > own).sum(1), (others == own).sum(1)
            for pair in judged[tied[judged] > 0].tolist():
                same = out[thresholds[out] == thresholds[pair]].tolist()
                before[pair] = sum(_is_first(sought, indices, one, pair, ties) for one in same)
        return cls(above, tied, before, np.bincount(sought.rows[is_out], minlength=len(sought.requests)))


def _is_first(sought: Sought, indices: IntArray, one: int, other: int, ties: str) -> bool:
    """Tell whether one of two pairs with the same score comes first."""
    if ties == "input":
        return bool(indices[one] < indices[other])
    return sought.ids[one] > sought.ids[other]

"""Groups: which queries belong together, so that numbers can be given for each group.

Belongs here: the map from judged queries to groups, as an array. Not here: reading it (formats), numbers (verbs).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from lexirecall.errors import DataError, FormatError, listed, shown
from lexirecall.judgments import IntArray
from lexirecall.text import to_bytes, to_text

EXAMPLES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The group of each of Q queries."""

    names: tuple[str, ...]
    """Those of a judged query, in the order of the map."""
    of_query: IntArray
    """The group of each query, as its place in `names`, [Q]; -1 without a group."""
    name: str = "groups"
    """What messages call the map."""
    num_strange: int = 0
    """Queries of the map without judgments."""

    @classmethod
    def from_map(cls, group_of: Mapping[bytes, bytes], queries: Sequence[str], *, name: str = "groups") -> "Groups":
        """Look the judged queries up.

        >>> groups = Groups.from_map({b"q2": b"hard", b"q1": b"easy", b"q9": b"odd"}, ["q1", "q2", "q3"])
        >>> groups.names, groups.of_query.tolist(), groups.num_strange
        (('hard', 'easy'), [1, 0, -1], 1)
        """
        if not group_of:
            raise FormatError(name, None, "the map is empty", remedy="it maps each query to its group")
        ids = [to_bytes(query) for query in queries]
        judged = set(ids)
        known = {query: group for query, group in group_of.items() if query in judged}
        if not known:
            raise _nothing_in_common(name, list(islice(group_of, EXAMPLES)), ids[:EXAMPLES])
        names = {group: number for number, group in enumerate(dict.fromkeys(known.values()))}
        of_query = np.array([names[known[query]] if query in known else -1 for query in ids], np.int64)
        return cls(tuple(map(to_text, names)), of_query, name, len(group_of) - len(known))

    def members(self) -> Iterator[tuple[str, IntArray]]:
        """Give each group with its queries, in the order of the map."""
        for number, name in enumerate(self.names):
            yield name, np.flatnonzero(self.of_query == number)

    def name_of(self, q: int) -> str | None:
        """Return the group of a query, None without one."""
        number = int(self.of_query[q])
        return self.names[number] if number >= 0 else None


def _nothing_in_common(name: str, theirs: Sequence[bytes], ours: Sequence[bytes]) -> DataError:
    in_map, judged = (listed(map(shown, ids), EXAMPLES) for ids in (theirs, ours))
    return DataError(
        f"{name}: no judged query has a group: the map has queries such as {in_map}, the judgments have {judged}",
        remedy="are the ids written the same way, and is it the right file?",
    )

"""Groups: which requests belong together, so that numbers can be given for each group.

Belongs here: the map from judged requests to groups, as an array. Not here: reading it (formats), numbers (verbs).
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
    """The group of each of Q requests."""

    names: tuple[str, ...]
    """Those of a judged request, in the order of the map."""
    of_request: IntArray
    """The group of each request, as its place in `names`, [Q]; -1 without a group."""
    name: str = "groups"
    """What messages call the map."""
    num_strange: int = 0
    """Requests of the map without judgments."""

    @classmethod
    def from_map(cls, group_of: Mapping[bytes, bytes], requests: Sequence[str], *, name: str = "groups") -> "Groups":
        """Look the judged requests up.

        >>> groups = Groups.from_map({b"q2": b"hard", b"q1": b"easy", b"q9": b"odd"}, ["q1", "q2", "q3"])
        >>> groups.names, groups.of_request.tolist(), groups.num_strange
        (('hard', 'easy'), [1, 0, -1], 1)
        """
        if not group_of:
            raise FormatError(name, None, "the map is empty", remedy="it maps each query to its group")
        ids = [to_bytes(request) for request in requests]
        judged = set(ids)
        known = {request: group for request, group in group_of.items() if request in judged}
        if not known:
            raise _nothing_in_common(name, list(islice(group_of, EXAMPLES)), ids[:EXAMPLES])
        names = {group: number for number, group in enumerate(dict.fromkeys(known.values()))}
        of_request = np.array([names[known[request]] if request in known else -1 for request in ids], np.int64)
        return cls(tuple(map(to_text, names)), of_request, name, len(group_of) - len(known))

    def members(self) -> Iterator[tuple[str, IntArray]]:
        """Give each group with its requests, in the order of the map."""
        for number, name in enumerate(self.names):
            yield name, np.flatnonzero(self.of_request == number)

    def name_of(self, q: int) -> str | None:
        """Return the group of a request, None without one."""
        number = int(self.of_request[q])
        return self.names[number] if number >= 0 else None


def _nothing_in_common(name: str, theirs: Sequence[bytes], ours: Sequence[bytes]) -> DataError:
    in_map, judged = (listed(map(shown, ids), EXAMPLES) for ids in (theirs, ours))
    return DataError(
        f"{name}: no judged query has a group: the map has queries such as {in_map}, the judgments have {judged}",
        remedy="are the ids written the same way, and is it the right file?",
    )

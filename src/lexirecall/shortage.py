"""Shortage: the error about a corpus that is too small.

Belongs here: the one error about it, whichever part finds it. Not here: how large it must be (positions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.errors import DataError, counted, listed
from lexirecall.judgments import IntArray


@dataclass(frozen=True, slots=True)
class Shortage:
    """A corpus that is too small for what was retrieved from it and what is relevant but missing."""

    query: str
    run: str
    corpus_size: int
    num_retrieved: int
    num_missing: int
    needed: int
    """How large it must be for this query; `needed_by_all` is the same for all queries."""
    needed_by_all: int
    queries: tuple[str, ...]
    """Every query for which it is too small."""

    @classmethod
    def of(
        cls,
        queries: Sequence[str],
        runs: Sequence[str],
        corpus_size: IntArray,
        num_retrieved: IntArray,
        needed: IntArray,
    ) -> "Shortage | None":
        """Return the first query, [S, Q], for which a corpus is too small, with the names of all; None if none is.

        >>> Shortage.of(["q", "r"], ["bm25"], np.array([9, 9]), np.array([[7, 8]]), np.array([[9, 10]])).query
        'r'
        """
        wrong = np.argwhere(needed > corpus_size)
        if not len(wrong):
            return None
        s, q = wrong[0].tolist()
        return cls(
            query=queries[q],
            run=runs[s],
            corpus_size=int(corpus_size[q]),
            num_retrieved=int(num_retrieved[s, q]),
            num_missing=int(needed[s, q] - num_retrieved[s, q]),
            needed=int(needed[:, q].max()),
            needed_by_all=int(needed.max()),
            queries=tuple(queries[q] for q in dict.fromkeys(wrong[:, 1].tolist())),
        )

    def error(self) -> DataError:
        """Return the error."""
        return DataError(
            f"the corpus size {self.corpus_size:,} is too small for query {self.query!r}: "
            f"{self.run} retrieved {counted(self.num_retrieved, 'document')} "
            f"and missed {counted(self.num_missing, 'relevant document')}",
            remedy=f"this query needs {self.needed:,} or more; a single size for all queries must be "
            f"{self.needed_by_all:,} or more; it is too small for {listed(self.queries)}",
        )

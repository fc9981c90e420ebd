"""Sort keys: those of all runs and queries in one table, which the engines keep.

Belongs here: the keys of whole positions. Not here: what a key is (exact), the tables of engines (duckdb, engines).
"""

from typing import TYPE_CHECKING

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.exact.colex import sort_keys
from lexirecall.formats.idtypes import TEXT, column_as_given
from lexirecall.manifest import Conventions

if TYPE_CHECKING:
    import pyarrow as pa

    from lexirecall.positions import Positions


def check_single(conventions: Conventions) -> None:
    """Raise if documents do not have a single position each, or if units are counted.

    >>> check_single(Conventions(ties="expected"))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: ties='expected' does not give a single position, which a sort key needs
    """
    for option, value in (("ties", "expected"), ("imputation", "optimistic")):
        if getattr(conventions, option) == value:
            raise UsageError(f"{option}={value!r} does not give a single position, which a sort key needs")
    conventions.check_units(None)


def keys_of(positions: "Positions", level: float) -> "pa.Table":
    """Return the columns run, query and sort_key, with a row for each run and query that has something to find.

    The keys are those of `lexirecall.exact.sort_key`; queries have their type in the judgments.
    """
    import pyarrow as pa

    keys = sort_keys(positions.at_level(level))
    judgments = positions.judgments
    ids = column_as_given(judgments.queries, judgments.query_type)
    queries = pa.array(ids, pa.string() if judgments.query_type == TEXT else None)
    rankings = np.flatnonzero(np.diff(keys.offsets))
    run, query = (pa.array(numbers) for numbers in np.divmod(rankings, len(judgments.queries)))
    return pa.table({
        "run": pa.array(positions.runs, pa.string()).take(run),
        "query": queries.take(query),
        "sort_key": pa.array([keys[ranking] for ranking in rankings.tolist()], pa.binary()),
    })  # fmt: skip

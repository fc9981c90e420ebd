"""Arrow: runs and judgments in a table, batch by batch through the compiled reader.

Belongs here: handing batches to lexirecall._native and taking arrays back, and the batches of frames. Not here: what
rows mean (rows, labels), the batches of files (parquetbatches).

The compiled reader needs the rows of each ranking together, ids that are text, integers or categories of text, and
plain numbers as scores and grades. For everything else, and for every table in which something is wrong, there is no
answer, and `rows` or `labels` read the table.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypedDict

import numpy as np

from lexirecall.formats.assembly import SortedRankings, runs_of
from lexirecall.formats.columns import Columns
from lexirecall.formats.native import arrays_of, judgments_from, rules_of, secret
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.reader import reader_in_use
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap


class TableReading(TypedDict):
    """What the readers of tables are told beside the conventions."""

    needs_judged: bool
    is_given: bool


BATCH = 1 << 16
"""Rows that are looked at together, if the table can be divided."""


def project_batches(
    batches: Iterable[Any],
    columns: Columns,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None = None,
    *,
    needs_judged: bool,
    is_given: bool,
) -> list[RunPositions] | None:
    """Turn rows into positions, as `project_table` does; None if that must be done there.

    Each of the batches is anything with a stream of Arrow, such as a table of pyarrow or a frame of polars.
    """
    from lexirecall import _native

    table = new_table(columns, judgments, conventions, units, needs_judged=needs_judged)
    if not _are_known(_native, table, batches) or _native.repeated_rows(table):
        return None
    read = read_in(table, columns, name)
    if not read.num_rows or (is_given and len(read.runs) > 1):
        return None
    read = read._replace(runs=[name]) if is_given else read
    return runs_of(read, judgments, conventions, needs_judged=needs_judged)


def new_table(
    columns: Columns, judgments: Judgments, conventions: Conventions, units: UnitMap | None, *, needs_judged: bool
) -> Any:
    """Return a compiled reader of the runs in tables with these columns."""
    from lexirecall import _native

    roles = columns.score is None, columns.run, columns.query, columns.document, columns.order
    arrays = arrays_of(judgments, conventions, units, needs_judged=needs_judged)
    return _native.new_table(*arrays, *rules_of(conventions), *roles)


def read_in(table: Any, columns: Columns, name: str) -> SortedRankings:
    """Return what such a reader has found; `name` is for a table that names no runs."""
    from lexirecall import _native

    runs, *found, num_rows = _native.table(table)
    found, num_retrieved, num_unjudged = (np.frombuffer(buffer, np.int64) for buffer in found)
    names = [name] if columns.run is None else runs
    none = np.zeros(len(names), np.int64)
    return SortedRankings(
        runs=names, found=found.reshape(-1, 5), num_retrieved=num_retrieved, num_unjudged=num_unjudged,
        num_duplicates=none, num_rows=num_rows,
    )  # fmt: skip


def judgments_in_batches(batches: Iterable[Any], columns: Columns, name: str) -> Judgments | None:
    """Take judgments from rows, as `judgments_in_rows` does; None if that must be done there."""
    from lexirecall import _native

    table = _native.new_judgment_table(
        secret(), columns.is_score_graded, columns.query, columns.document, columns.grade
    )
    if not _are_known(_native, table, batches):
        return None
    *arrays, num_repeated, num_rows = _native.judgment_table(table)
    if not num_rows:
        return None
    return judgments_from(arrays, name, num_repeated=num_repeated, has_grades=columns.grade is not None)


def _are_known(native: Any, table: Any, batches: Iterable[Any]) -> bool:
    """Feed the batches; tell whether the compiled reader knows them all."""
    try:
        is_known = all(native.feed_table(table, batch.__arrow_c_stream__()) == 0 for batch in batches)
    except MemoryError:
        raise
    except Exception:  # a library cannot give its table as Arrow, for a reason of its own
        return False
    return is_known and native.finish_table(table) == 0


def batches_of(frame: Any) -> Iterator[Any] | None:
    """Give a frame, of narwhals, as parts with a stream of Arrow; None if it must be read in another way.

    >>> import narwhals, polars
    >>> [len(part) for part in batches_of(narwhals.from_native(polars.DataFrame({"qid": ["1", "2"]}))) or ()]
    [2]
    """
    if reader_in_use() != "native" or any("\0" in name for name in frame.columns):
        return None
    import narwhals as nw

    native = frame.to_native()
    if frame.implementation.is_pandas():
        return _batches_of_pandas(frame)
    if frame.implementation.is_polars() and nw.Object in frame.schema.values():
        return None  # Arrow has no such type, and the first versions of polars wait forever instead of saying so
    return iter([native]) if hasattr(native, "__arrow_c_stream__") else None


def _batches_of_pandas(frame: Any) -> Iterator[Any] | None:
    """Give parts as pyarrow has them; a column of any objects may be of another type in each part."""
    import narwhals as nw

    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        return None
    known = (nw.String, nw.Object, nw.Categorical, nw.Enum)
    if not all(kind in known or kind.is_numeric() for kind in frame.schema.values()):
        return None
    native = frame.to_native()
    parts = (native.iloc[start : start + BATCH] for start in range(0, len(native), BATCH))
    return (pa.RecordBatch.from_pandas(part, preserve_index=False, nthreads=1) for part in parts)

"""Spark's rows: those of runs and the judgments in one frame, sorted so that a worker can read them once.

Belongs here: which columns there are, and what is done to them in Spark. Not here: who reads them (spark_worker), files
(spark_files).

Spark only sorts. The rows of a query and its judgments go to one partition, in which the judgments come first, and the
rows of each ranking together. Nothing is changed but what must be equal to be together: -0.0 becomes 0.0, and text
loses its collation. What values mean is found out by the reader.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lexirecall.engines.spark_session import pyspark
from lexirecall.engines.spark_worker import PLACE
from lexirecall.formats.columns import Columns, Given, find_columns
from lexirecall.formats.values import LARGEST, check_kind, kind_of
from lexirecall.judgments import IntArray, Judgments

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

_MOST_JUDGMENTS = 32 << 20
"""Bytes of judgments for one worker; in Python they take twice that, and once more while they are put together."""
_PIECE = 200_000  # judged documents in a row, because Spark sends no more than 128 MB in one message
_SLICE = 8 << 20  # bytes of judgments that go to Spark together, for the same reason
_ORDER = "at"  # the column by which rows are sorted first: -1 for judgments, otherwise a hash of run and query


class SparkRows(NamedTuple):
    """The rows of a table of runs, with columns that are called by their roles."""

    frame: "DataFrame"
    columns: Columns
    """The same names."""
    kinds: dict[str, str]
    """What each of them holds."""
    names: dict[str, str]
    """What it is called in the table."""

    @classmethod
    def of(
        cls, frame: "DataFrame", named_columns: Given, label: str, *, num_cells: int = 0, has_places: bool = False
    ) -> "SparkRows":
        """Take the columns that are needed; the first `num_cells` of all are cells of CSV.

        If it `has_places`, each row comes with the file of Parquet that it is in, and its number there. Spark takes
        names that differ only in case for the same, so that columns are found by their places.
        """
        found = find_columns(frame.columns, "run", named_columns, source=label).roles("run")
        kinds: dict[str, str] = {}
        columns, cells = [], []
        numbered = [f"c{place}" for place in range(len(frame.columns))]
        if has_places:
            renamed = frame.select("*", frame.metadataColumn("_metadata")).toDF(*numbered, "metadata")
            columns.append(renamed["metadata"].alias(PLACE))
        else:
            renamed = frame.toDF(*numbered)
        for role, name in found.items():
            if name is None:
                continue
            place = frame.columns.index(name)
            kinds[role] = kind_of(frame.dtypes[place][1])
            check_kind(kinds[role], role, name, label)
            columns.append(_sortable(renamed[f"c{place}"], kinds[role]).alias(role))
            cells += [pyspark("sql.functions").col(role)] if place < num_cells else []
        rows = renamed.select(*columns)
        if cells:  # a row in which all are missing is an empty line
            rows = rows.where(pyspark("sql.functions").coalesce(*cells).isNotNull())
        names = {role: name for role, name in found.items() if name is not None}
        return cls(rows, columns_of(names), kinds, names)

    @property
    def keys(self) -> list[str]:
        """The columns of which a ranking has one value each."""
        return [role for role in ("run", "query") if role in self.kinds]

    def sorted_with(self, judgments: Judgments, *, in_full: bool = False) -> "DataFrame":
        """Return the rows of each ranking together, in each partition below the judgments of its queries.

        Otherwise they are in the order in which they arrive, unless they are to be sorted `in_full`.
        """
        functions = pyspark("sql.functions")
        # shifted, so that no hash is below 0: judgments, at -1, come first
        rank = functions.lit(0) if in_full else functions.shiftrightunsigned(functions.xxhash64(*self.keys), 1)
        rows = self.frame.withColumn(_ORDER, rank.cast("bigint"))
        judged = self._judged(judgments).withColumn(_ORDER, functions.lit(-1).cast("bigint"))
        both = judged.unionByName(rows, allowMissingColumns=True)
        order = [*self.keys, *(role for role in self.kinds if role not in self.keys)] if in_full else self.keys
        return self._divided(both, judgments).sortWithinPartitions(_ORDER, *order)

    def _divided(self, frame: "DataFrame", judgments: Judgments) -> "DataFrame":
        """Divide a frame by queries, into so many parts that the judgments of each fit into a worker."""
        size = len(judgments.documents.buffer) + 12 * len(judgments.grades)
        if size <= _MOST_JUDGMENTS:
            return frame.repartition("query")  # without a number Spark puts small partitions together
        usual = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
        return frame.repartition(max(usual, -(-size // _MOST_JUDGMENTS)), "query")

    def _judged(self, judgments: Judgments) -> "DataFrame":
        """Hand the judgments over: rows of `JUDGED`, and the id of the query as the column of queries would hold it."""
        import pyarrow as pa

        kind = self.frame.schema["query"].dataType
        ids = [_value_of(query, self.kinds["query"], kind) for query in judgments.query_ids]
        table = _pieces(judgments, pa.array(ids, pyspark("sql.pandas.types").to_arrow_type(kind)))
        return self.frame.sparkSession.createDataFrame(table)

    def of_ranking(self, run: str | None, query: bytes) -> "DataFrame":
        """Return the rows of one ranking, of the only run there is if none is named."""
        functions = pyspark("sql.functions")
        rows = self.frame
        for role, text in (("query", query), ("run", None if run is None else run.encode())):
            if text is not None and role in self.kinds:
                kind = rows.schema[role].dataType
                value = functions.lit(_value_of(text, self.kinds[role], kind)).cast(kind)
                rows = rows.where(rows[role] == value)
        return rows


def columns_of(roles: Iterable[str]) -> Columns:
    """Return columns that are called by their roles."""
    named: dict[str, Any] = {role: role for role in roles}
    return Columns(**named)


def _sortable(column: "Column", kind: str) -> "Column":
    if kind in LARGEST:
        nothing: Column = pyspark("sql.functions").lit(0).cast("float" if kind == "float32" else "double")
        return column + nothing
    return column.cast("string") if kind == "text" else column


def _value_of(text: bytes, kind: str, of: Any) -> Any:
    """Return an id as a column of this kind holds it, and of this type of Spark; None if it cannot hold it."""
    if kind in ("text", "bytes"):
        try:
            return text.decode() if kind == "text" else text.decode().encode()
        except UnicodeDecodeError:
            return None
    if not re.fullmatch(rb"0|-?[1-9][0-9]{0,39}", text):  # as the text of a number is written
        return None
    number = int(text)
    if kind == "decimal":
        return Decimal(number) if abs(number) < 10 ** (of.precision - of.scale) else None
    if kind in LARGEST:
        return float(number) if abs(number) < LARGEST[kind] else None
    bits = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}.get(of.simpleString(), 0)
    return number if bits and -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None


def _pieces(judgments: Judgments, keys: "pa.Array") -> "pa.Table":
    """Return the judgments of each query as one row, or several if they are many, with the key of the query.

    What Spark is sent at once is a chunk of the table. Queries without a key cannot be in the rows of runs.
    """
    import pyarrow as pa

    offsets = judgments.offsets
    cuts = np.setdiff1d(np.arange(0, offsets[-1], _PIECE), offsets)
    starts = np.concatenate([offsets[:-1], cuts])
    owners = np.concatenate([np.arange(len(offsets) - 1), np.searchsorted(offsets, cuts, side="right") - 1])
    order = np.lexsort((starts, owners))
    starts, owners = starts[order], owners[order]
    borders = np.append(starts, offsets[-1])

    def binary(buffer: Any, borders: IntArray) -> pa.Array:
        buffers = [None, pa.py_buffer(borders.astype(np.int64)), pa.py_buffer(buffer)]
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(borders) - 1, buffers)

    document_borders = judgments.documents.offsets
    columns = {
        "number": pa.array(owners, pa.int32()),
        "first": pa.array(starts - offsets[owners], pa.int32()),
        "id": binary(judgments.query_ids.buffer, judgments.query_ids.offsets).take(pa.array(owners)),
        "documents": binary(judgments.documents.buffer, document_borders[borders]),
        "sizes": binary(np.diff(document_borders).astype(np.int32), 4 * borders),
        "grades": binary(judgments.grades, 8 * borders),
        "query": keys.take(pa.array(owners)),
    }
    table = pa.table(columns)
    rows = np.flatnonzero(np.diff((document_borders[borders[:-1]] + 12 * borders[:-1]) // _SLICE, prepend=-1))
    chunks = [table.slice(row, stop - row) for row, stop in zip(rows, [*rows[1:], len(starts)], strict=True)]
    return pa.concat_tables(chunk.filter(chunk.column("query").is_valid()) for chunk in chunks)
